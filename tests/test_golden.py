"""Values to 15 digits that were worked out in exact or 25-digit arithmetic."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pandas_tba as tba

GOLDEN = Path(__file__).parent / "golden"
TEMPERED = json.loads((GOLDEN / "golden-tba.json").read_text(encoding="utf-8"))
METRICS = json.loads((GOLDEN / "golden-metrics.json").read_text(encoding="utf-8"))["cases"]
CASES = TEMPERED["cases"]
EXACT = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}

OVERALL = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "macro_f1": "f1_macro",
    "weighted_f1": "f1_weighted",
    "macro_precision": "precision_macro",
    "weighted_precision": "precision_weighted",
    "mcc": "mcc",
    "cohen_kappa": "cohen_kappa",
}
OF_CLASS = ["recall", "precision", "f1", "specificity"]
POSITIVE = {
    "sensitivity": "recall",
    "specificity": "specificity",
    "precision": "precision",
    "f1": "f1",
}


def matrix_of(case):
    """The matrix of a case; where only support and hits are known all misses go to the next class."""
    if "confusion" in case:
        return case["confusion"]
    support, hits = np.array(case["support"]), np.array(case["hits"])
    matrix = np.diag(hits)
    matrix[np.arange(len(hits)), np.roll(np.arange(len(hits)), -1)] = support - hits
    return matrix


def counts_of(case):
    return tba.ConfusionCounts.from_matrix(matrix_of(case))


def by_t(case, name):
    exponents = [float(t) for t in case[name]]
    return exponents, list(case[name].values())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize(
    ("name", "options"),
    [("tba", {}), ("tba_adjusted", {"adjusted": True}), ("tba_smooth_a1", {"smoothing": 1})],
)
def test_score(case, name, options):
    if name not in case:
        pytest.skip("the case states no such value")
    exponents, expected = by_t(case, name)
    found = tba.score(counts_of(case), t=exponents, **options)
    assert found.tolist() == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize(
    ("name", "metric"), [("slope", "tba_slope"), ("majority_score", "majority"), ("tba", "tba")]
)
def test_metrics_over_t(case, name, metric):
    exponents, expected = by_t(case, name)
    found = tba.metrics(counts_of(case), metrics=metric, t=exponents)[metric]
    assert found.tolist() == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_weights_and_limits(case):
    for t, expected in case["weights"].items():
        assert tba.class_weights(case["p"], t=float(t)) == pytest.approx(expected, **EXACT)
    found = tba.score(counts_of(case), t=[math.inf, -math.inf]).tolist()
    assert found == pytest.approx([case["limit_plus_inf"], case["limit_minus_inf"]], **EXACT)


@pytest.mark.parametrize("row", TEMPERED["weights_extreme"], ids=lambda r: f"{r['p']}-{r['t']}")
def test_extreme_weights(row):
    assert tba.class_weights(row["p"], t=row["t"]) == pytest.approx(row["w"], rel=1e-12, abs=1e-320)


def test_absent_class():
    case = TEMPERED["absent_class"]
    counts, expected = counts_of(case), case["t0"]
    assert tba.score(counts, t=0, absent="exclude") == pytest.approx(expected["exclude"], **EXACT)
    assert tba.score(counts, t=0, smoothing=1) == pytest.approx(expected["smooth_a1"], **EXACT)
    limits = tba.bounds(counts, t=0)[["low", "high"]].iloc[0].tolist()
    assert limits == pytest.approx(expected["bounds"], **EXACT)
    for row in case["sklearn_adjusted_present_K"]:
        frame = pd.DataFrame({"y_true": row["y_true"], "y_pred": row["y_pred"]})
        declared = frame.tba(labels=[0, 1, 2])
        scores = declared.score(t=0, absent="exclude", adjusted=True)
        assert scores == pytest.approx(row["declared_K3"], **EXACT)


@pytest.mark.parametrize("row", TEMPERED["group_flip"]["rows"], ids=lambda row: str(row["t"]))
def test_group_flip(row):
    case = TEMPERED["group_flip"]
    counts = tba.ConfusionCounts.from_matrix([case["A"], case["B"]], groups=["A", "B"])
    own = tba.score(counts, t=row["t"])
    common = tba.score(counts, t=row["t"], prevalence=dict(enumerate(case["ref"])))
    found = [own["A"], own["B"], common["A"], common["B"]]
    expected = [row["A_own"], row["B_own"], row["A_ref"], row["B_ref"]]
    assert found == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(("name", "per"), [("class_weight", "class"), ("per_object", "error")])
def test_t_from_cost_ratio(name, per):
    row = TEMPERED["cost_to_t"][f"cost_{name}"]
    found = tba.t_from_cost_ratio(row["c"], row["p_k"], row["p_j"], per=per)
    assert found == pytest.approx(row["t"], **EXACT)


@pytest.mark.parametrize("row", TEMPERED["effective_classes"], ids=lambda row: str(row["p"]))
def test_t_from_entropy(row):
    assert tba.t_from_entropy(row["p"]) == pytest.approx(row["t_log_shannon"], **EXACT)


@pytest.mark.parametrize("case", METRICS.values(), ids=METRICS)
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_catalogue(case):
    expected = case["metrics"]
    matrix = case["confusion_matrix_rows_true_cols_pred"]
    counts = tba.ConfusionCounts.from_matrix(matrix, labels=case["labels"])
    found = tba.metrics(counts)
    for name, metric in OVERALL.items():
        assert found.at[0, metric] == pytest.approx(value(expected[name]), **EXACT), name
    of_class = tba.per_class(counts)
    for name in OF_CLASS:
        wanted = [value(item) for item in expected[name]]
        assert of_class[name].tolist() == pytest.approx(wanted, **EXACT), name
    for name, metric in POSITIVE.items():
        if "binary_pos1" in expected:
            assert found.at[0, metric] == pytest.approx(expected["binary_pos1"][name], **EXACT)
    exponents, scores = by_t(expected, "tba")
    assert tba.score(counts, t=exponents).tolist() == pytest.approx(scores, **EXACT)
    adjusted = tba.score(counts, t=0, adjusted=True)
    assert adjusted == pytest.approx(expected["adjusted_balanced_accuracy"], **EXACT)


def value(stored):
    return math.nan if stored is None else stored
