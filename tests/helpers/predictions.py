"""Predictions that the tests of engines and streams count, and when counts and errors are the same."""

import itertools
from functools import cache

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_index_equal

import pandas_tba as tba

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


TEXT = pd.Index(["a"]).dtype
SOUND = FRAME.astype(dict.fromkeys(["y_true", "y_pred", "other", "segment", "name"], TEXT)).assign(
    number=TRUTH, guess=GUESS, is_one=(TRUTH == 1).astype(int)
)
LABELS = {"labels": [*"abc"], "y_pred": ["y_pred", "other"], "sample_weight": "w"}
NUMBERS = {"labels": [0, 1, 2], "y_true": "number", "y_pred": "guess", "sample_weight": "w"}
SCORES = {"labels": [0, 1], "y_true": "is_one", "y_score": ["p", "q"], "sample_weight": "w"}


def hit(column, every, *values):
    """A fault: a function that puts the values into every so many rows of a column, in turn."""

    def broken(frame):
        held = frame[column]
        for at, value in enumerate(values):
            held = held.mask(np.arange(len(frame)) % every == at, value)
        return frame.assign(**{column: held})

    return broken


def text_in(column):
    """A fault: a function that makes text of a column."""

    def broken(frame):
        held = frame[column]
        return frame.assign(**{column: held.map("{:g}".format).where(held.notna()).astype(TEXT)})

    return broken


# faults of a question that can meet in one frame; those that replace a column stand first
FAULTS_OF = {
    "labels": (
        LABELS,
        {
            "numbers as labels": lambda frame: frame.assign(other=frame["year"]),
            "labels not declared": lambda frame: hit("y_true", 7, "zz")(hit("y_pred", 9, "A", "z")(frame)),
            "bad weights": hit("w", 5, -1.5, np.inf, -np.inf),
            "missing labels": lambda frame: hit("y_true", 11, None)(hit("other", 8, None)(frame)),
            "missing weights": hit("w", 13, np.nan),
            "weights of text": text_in("w"),
        },
    ),
    "numbers": (
        NUMBERS,
        {
            "scores as labels": lambda frame: frame.assign(guess=frame["p"]),
            "text as labels": text_in("number"),
            "bad weights": hit("w", 5, 1e200, -2.0, 1e200),
            "missing predictions": hit("guess", 8, np.nan),
            "weights of booleans": lambda frame: hit("w", 13, None)(frame.assign(w=frame["yes"].astype(object))),
        },
    ),
    "scores": (
        SCORES,
        {
            "labels not declared": hit("is_one", 7, 7, -1),
            "bad weights": hit("w", 5, -1e-200),
            "missing scores": hit("q", 11, np.nan),
            "missing labels": hit("is_one", 9, np.nan),
            "scores of text": text_in("p"),
        },
    ),
}  # fmt: skip


SEVERAL = [
    (of, names, missing)
    for of, (_, faults) in FAULTS_OF.items()
    for number, modes in ((2, ("raise", "drop")), (3, ("raise",)))
    for names in itertools.combinations(faults, number)
    for missing in modes
    if missing == "raise" or not all(name.startswith("missing") for name in names)
]


def error_of(count, *frames, **question):
    """Class and text of an error, and its table of faults."""
    with pytest.raises((tba.InputError, tba.KindError, tba.ColumnError)) as raised:
        count(*frames, **question)
    cases = getattr(raised.value, "failure_cases", None)
    if cases is not None:
        assert cases.columns.tolist() == ["column", "check", "failure_case", "rows"]
        cases = cases.astype(object).to_numpy().tolist()
    return type(raised.value), str(raised.value), cases


@cache
def faulty(of, names, missing):
    """A frame with several faults, the question it is faulty for, and what pandas says of it."""
    question, faults = FAULTS_OF[of]
    frame = SOUND
    for name in names:
        frame = faults[name](frame)
    question = {**question, "missing": missing}
    return frame, question, error_of(tba.count, frame, **question)


def assert_same(found, expected):
    """Equal counts; the dtype that holds a level is the engine's own."""
    assert found.labels.tolist() == expected.labels.tolist()
    assert found.is_class.tolist() == expected.is_class.tolist()
    assert (found.pos_label, found.model, found.declared) == (
        expected.pos_label,
        expected.model,
        expected.declared,
    )
    sides = [found.groups, expected.groups]
    if isinstance(
        expected.groups.dtype, pd.DatetimeTZDtype
    ):  # whose unit, and name of UTC, is an engine's own
        sides = [side.astype(object) for side in sides]
    assert_index_equal(*sides, exact=False)
    assert found.n_missing == expected.n_missing
    assert found.missing_by_column == expected.missing_by_column
    for mine, theirs in zip(found.stored.quantities, expected.stored.quantities, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
