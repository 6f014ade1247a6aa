"""Weights and scores: what `sample_weight`, `y_score` and `threshold` make of the rows."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal
from sklearn.metrics import balanced_accuracy_score
from sklearn.metrics import confusion_matrix as witness

import pandas_tba as tba

GENERATOR = np.random.default_rng(5)
N = 3_000
FRAME = pd.DataFrame(
    {
        "y_true": GENERATOR.choice([*"abc"], N, p=[0.7, 0.2, 0.1]),
        "y_pred": GENERATOR.choice([*"abc"], N),
        "segment": GENERATOR.choice([*"xyz"], N),
        "w": GENERATOR.gamma(1.0, 2.0, N).round(3),
    }
)


@pytest.mark.parametrize("dtype", ["float64", "float32", "Float64", "double[pyarrow]"])
def test_weighted_cells_are_sums_of_weights(dtype):
    frame = FRAME.assign(w=FRAME["w"].astype(dtype))
    counts = frame.tba(sample_weight="w").counts(by="segment")
    assert counts.is_weighted
    for group, (_, rows) in zip(counts.cells, FRAME.groupby("segment"), strict=True):
        expected = witness(rows["y_true"], rows["y_pred"], sample_weight=rows["w"])
        np.testing.assert_allclose(group, expected, rtol=1e-6)
    squares = FRAME["w"].pow(2).groupby([FRAME["segment"], FRAME["y_true"]]).sum()
    np.testing.assert_allclose(counts.squared_support.ravel(), squares, rtol=1e-6)
    assert counts.rows.tolist() == FRAME.groupby("segment").size().tolist()


@pytest.mark.parametrize("dtype", ["int64", "UInt8", "object"])
def test_whole_weights_equal_repeated_rows(dtype):
    times = np.arange(N) % 4
    weighted = FRAME.assign(w=pd.Series(times).astype(dtype)).tba(sample_weight="w")
    repeated = FRAME.loc[FRAME.index.repeat(times)].tba
    assert_frame_equal(
        weighted.score(by="segment", t=[-1, 0, 0.5, 1]),
        repeated.score(by="segment", t=[-1, 0, 0.5, 1]),
    )
    sizes = ["n", "weight", "min_support"]
    assert_frame_equal(
        weighted.metrics(by="segment").drop(columns=sizes),
        repeated.metrics(by="segment").drop(columns=sizes[::2]),
    )


def test_weighted_balanced_accuracy_is_the_one_of_scikit_learn():
    expected = balanced_accuracy_score(FRAME["y_true"], FRAME["y_pred"], sample_weight=FRAME["w"])
    assert FRAME.tba(sample_weight="w").score(t=0) == pytest.approx(expected, abs=1e-12)


def test_arrays_take_weights_too():
    columns = [FRAME[name].to_numpy() for name in ("y_true", "y_pred")]
    expected = FRAME.tba(sample_weight="w").score(t=0.3)
    found = tba.tempered_balanced_accuracy_score(*columns, t=0.3, sample_weight=[*FRAME["w"]])
    assert found == pytest.approx(expected, abs=1e-12)
    with pytest.raises(tba.InputError, match="must be of one length; got 3,000 and 2"):
        tba.tempered_balanced_accuracy_score(*columns, sample_weight=[1, 2])


def test_three_weights_worked_by_hand():
    frame = pd.DataFrame({"y_true": [1, 1, 0, 0], "y_pred": [1, 0, 0, 0], "w": [3, 1, 1, 1]})
    weighted = frame.tba(sample_weight="w")
    assert weighted.metrics(metrics="recall")["recall"].item() == 0.75
    expected = [0.875, 0.8535533905932737, 0.8333333333333334]
    assert weighted.score(t=[0, 0.5, 1]).tolist() == pytest.approx(expected, abs=1e-15)


def test_a_class_without_weight_is_absent():
    frame = pd.DataFrame({"y_true": [1, 1, 0, 0], "y_pred": [1, 0, 0, 0], "w": [0, 0, 1, 2]})
    weighted = frame.tba(sample_weight="w")
    with pytest.warns(tba.UndefinedWarning, match=r"no rows of 1"):
        assert np.isnan(weighted.score(t=0))
    table = weighted.bounds(t=0)
    assert table.loc[0].to_dict() == {
        "n": 4, "weight": 3, "min_support": 0, "n_absent": 1, "low": 0.5, "high": 1
    }  # fmt: skip


def test_weighted_shards_add_up_and_survive_a_table():
    whole = FRAME.tba(sample_weight="w").counts(by="segment")
    shards = [
        FRAME.iloc[start::3].tba(sample_weight="w").counts(by="segment") for start in range(3)
    ]
    assert_frame_equal(sum(shards).to_table(), whole.to_table())
    back = tba.ConfusionCounts.from_table(whole.to_table())
    assert_frame_equal(back.to_table(), whole.to_table())
    assert_frame_equal(whole.pooled().to_table(), FRAME.tba(sample_weight="w").counts().to_table())


def test_missing_weights_are_dropped_with_their_rows():
    frame = FRAME.assign(w=FRAME["w"].mask(FRAME.index < 10))
    counts = frame.tba(sample_weight="w", missing="drop").counts()
    assert (counts.n_missing, counts.missing_by_column) == (10, {"w": 10})
    assert_frame_equal(
        counts.to_table(), FRAME.iloc[10:].tba(sample_weight="w").counts().to_table()
    )


SCORES = GENERATOR.random(N).round(2)
LABELS = {
    "boolean": (np.array([False, True]), None),
    "0/1": (np.array([0, 1]), None),
    "-1/1": (np.array([-1, 1]), None),
    "0/1, positive 0": (np.array([1, 0]), 0),
    "text": (np.array(["no", "yes"], dtype=object), "yes"),
    "text, positive first": (np.array(["yes", "no"], dtype=object), "no"),
}


@pytest.mark.parametrize("dtype", ["float64", "Float64", "float32", "double[pyarrow]"])
@pytest.mark.parametrize(("pair", "pos_label"), LABELS.values(), ids=LABELS)
def test_scores_reach_the_threshold(pair, pos_label, dtype):
    frame = FRAME.assign(y_true=pair[GENERATOR.integers(0, 2, N)], p=pd.Series(SCORES, dtype=dtype))
    frame["guess"] = pair[(frame["p"].to_numpy(dtype=float) >= frame["p"].iloc[0]).astype(int)]
    scored = frame.tba(
        y_true="y_true", y_score="p", threshold=frame["p"].iloc[0], pos_label=pos_label
    )
    labelled = frame.tba(y_true="y_true", y_pred="guess", pos_label=pos_label)
    assert_frame_equal(scored.metrics(by="segment"), labelled.metrics(by="segment"))
    assert_frame_equal(scored.confusion_matrix(), labelled.confusion_matrix())


def test_several_scores_are_several_models():
    frame = FRAME.assign(y_true=SCORES > 0.3, p=SCORES, q=1 - SCORES)
    both = frame.tba(y_score=["p", "q"], threshold=0.4).score(t=[0, 1])
    for name in ("p", "q"):
        single = frame.tba(y_score=name, threshold=0.4).score(t=[0, 1])
        assert_series_equal(both.loc[name], single, check_names=False)


def test_missing_scores_are_dropped_and_infinite_ones_compared():
    frame = pd.DataFrame({"y_true": [1, 0, 1, 0], "p": [np.inf, -np.inf, np.nan, 0.5]})
    counts = frame.tba(y_score="p", missing="drop").counts()
    assert counts.cells.tolist() == [[[1, 1], [0, 1]]]
    assert counts.n_missing == 1


def test_scores_of_one_class_need_the_other_declared():
    frame = pd.DataFrame({"y_true": ["no", "no"], "p": [0.1, 0.9]})
    assert frame.tba(y_score="p", pos_label="yes").counts().cells.tolist() == [[[1, 1], [0, 0]]]
    declared = frame.tba(y_score="p", labels=["yes", "no"], pos_label="yes")
    assert declared.confusion_matrix().to_numpy().tolist() == [[0, 0], [1, 1]]


def test_scores_of_no_rows():
    frame = pd.DataFrame({"y_true": pd.Series([], dtype=object), "p": pd.Series([], dtype=float)})
    assert len(frame.tba(y_score="p", pos_label="yes").counts().to_table()) == 0


def test_the_limits_of_a_weight_are_weights():
    frame = pd.DataFrame({"y_true": [0, 1], "y_pred": [0, 1], "w": [1e-150, 1e150]})
    assert frame.tba(sample_weight="w").score(t=0) == 1.0


def test_a_threshold_may_be_a_decimal():
    frame = pd.DataFrame({"y_true": [0, 1, 1], "p": [0.7, 0.6999, 0.7]})
    cells = frame.tba(y_score="p", threshold=Decimal("0.7")).counts().cells
    assert cells.tolist() == [[[0, 1], [1, 1]]]
