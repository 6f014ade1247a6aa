"""Predictions that the tests of engines and streams count, and when counts are the same."""

import numpy as np
import pandas as pd
from pandas.testing import assert_index_equal

N = 60
GENERATOR = np.random.default_rng(7)
TRUTH, GUESS = GENERATOR.integers(0, 3, (2, N))
FRAME = pd.DataFrame(
    {
        "y_true": np.array([*"abc"], dtype=object)[TRUTH],
        "y_pred": np.array([*"abc"], dtype=object)[GUESS],
        "other": np.array([*"abc"], dtype=object)[GENERATOR.integers(0, 3, N)],
        "segment": np.array(["x", "y", None], dtype=object)[GENERATOR.integers(0, 3, N)],
        "year": GENERATOR.integers(2020, 2023, N),
        "share": np.array([0.5, np.nan, -0.0, 0.0])[GENERATOR.integers(0, 4, N)],
        "name": np.array(["logit", "forest"], dtype=object)[np.arange(N) % 2],
        "w": GENERATOR.gamma(1.0, 2.0, N).round(3),
        "yes": TRUTH == 1,
        "p": GENERATOR.random(N).round(2),
        "q": GENERATOR.random(N).round(2),
    }
)
HOLED = FRAME.assign(
    y_true=FRAME["y_true"].where(np.arange(N) % 11 > 0, None),
    y_pred=FRAME["y_pred"].where(np.arange(N) % 7 > 0, None),
    w=FRAME["w"].where(np.arange(N) % 13 > 0),
    p=FRAME["p"].where(np.arange(N) % 5 > 0),
)


def assert_same(found, expected):
    """Equal counts; the dtype that holds a level is the engine's own."""
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.is_class.tolist() == expected.is_class.tolist()
    assert (found.pos_label, found.model, found.declared) == (
        expected.pos_label,
        expected.model,
        expected.declared,
    )
    assert_index_equal(found.groups, expected.groups, exact=False)
    assert found.n_missing == expected.n_missing
    assert found.missing_by_column == expected.missing_by_column
    for mine, theirs in zip(found.stored.planes, expected.stored.planes, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
