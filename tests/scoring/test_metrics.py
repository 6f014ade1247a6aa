"""The metrics: each against a slow loop, scikit-learn, its own row in METRICS, and cases by hand."""

import functools
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as sk
from slow_metrics import OF_CLASS, OVERALL, slow

import pandas_tba as tba
from pandas_tba.scoring.metrics import METRICS, evaluate, f_beta, one_against_rest, tempered

EXACT = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}
SOME = settings().max_examples // 4  # for bodies that run for many metrics
T = 0.5
ALL = {
    metric.name: metric
    for metric in (*METRICS, f_beta(2), f_beta(0.5), tempered(-1), tempered(1.5))
}
GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "golden-metrics.json").read_text(encoding="utf-8")
)["cases"]

every = pytest.mark.parametrize("metric", ALL.values(), ids=ALL)
ignored = pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
matrix_of = tba.ConfusionCounts.from_matrix


@st.composite
def matrices(draw, least=0, most=9, largest=4):
    size = draw(st.integers(2, largest))
    row = st.lists(st.integers(least, most), min_size=size, max_size=size)
    cells = np.array(draw(st.lists(row, min_size=size, max_size=size)))
    # whole rows and columns without anything, which is where metrics are undefined
    keep = st.lists(st.booleans(), min_size=size, max_size=size)
    return cells * draw(keep) * np.array(draw(keep))[:, None] if draw(st.booleans()) else cells


@st.composite
def labelled_rows(draw):
    """True label, predicted label and weight of some rows."""
    label = st.integers(0, 2)
    weight = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1, 3.0])
    return draw(st.lists(st.tuples(label, label, weight), min_size=1, max_size=15))


def arrays_of(matrix, dtype=float):
    """Hits, support, predicted and total of one group."""
    matrix = np.asarray(matrix, dtype=dtype)[None]
    support, predicted = matrix.sum(axis=2), matrix.sum(axis=1)
    return np.diagonal(matrix, axis1=1, axis2=2), support, predicted, matrix.sum((1, 2))[:, None]


def value(metric, matrix, t=T):
    """Value of an overall metric, or values of one of a class, with all labels as classes."""
    is_class = np.ones(len(matrix), dtype=bool)
    return evaluate(metric, arrays_of(matrix), is_class, t)[0].tolist()


@every
@settings(max_examples=SOME)
@given(matrix=matrices())
def test_equals_a_slow_loop(metric, matrix):
    assert value(metric, matrix) == pytest.approx(slow(metric.name, matrix.tolist()), **EXACT)


def test_every_metric_has_a_slow_loop():
    assert sorted(ALL) == sorted([*OF_CLASS, *OVERALL])
    assert [OF_CLASS.keys() >= {metric.name} for metric in METRICS] == [
        metric.kind == "class" for metric in METRICS
    ]


@every
@settings(max_examples=SOME)
@given(matrix=matrices(), t=st.sampled_from([-2.0, -math.inf, 0.0, 0.5, 1.0, math.inf]))
def test_is_nan_exactly_where_its_row_says(metric, matrix, t):
    cells = one_against_rest(*arrays_of(matrix))
    lacking = np.array([zero.holds(cells)[0] for zero in metric.undefined_where]).any(axis=0)
    if metric.takes_t and t > 0:
        lacking = False  # an absent class has no weight
    expected = lacking | (matrix.sum() == 0)
    found = np.isnan(value(metric, matrix, t))
    assert np.all(found == (expected if metric.kind == "class" else np.any(expected)))


@every
@settings(max_examples=SOME)
@given(matrix=matrices(), t=st.floats(-5, 5), weight=st.floats(1e-3, 1e3))
def test_keeps_its_bounds(metric, matrix, t, weight):
    found = np.ravel(value(metric, matrix * weight, t))
    low, high = metric.bounds
    held = found[~np.isnan(found)]
    assert ((held >= low - 1e-12) & (held <= high + 1e-12)).all()


@every
@settings(max_examples=SOME)
@given(sizes=st.lists(st.sampled_from([1, 2, 0.1, 0.7]), min_size=2, max_size=5))
def test_is_best_on_a_diagonal(metric, sizes):
    if metric.greater_is_better is None:
        assert metric.name in {"tba_slope", "majority", "prevalence", "selection_rate"}
        return
    best = metric.bounds[1 if metric.greater_is_better else 0]
    assert np.ravel(value(metric, np.diag(sizes))) == pytest.approx(best, **EXACT)


@every
@settings(max_examples=SOME)
@given(matrix=matrices(), factor=st.sampled_from([7, 1e6, 1e15, 0.1, 1e-9]))
def test_scale_of_counts_does_not_matter(metric, matrix, factor):
    expected = value(metric, matrix)
    assert value(metric, matrix * factor) == pytest.approx(expected, **EXACT)


@every
@settings(max_examples=SOME)
@given(matrix=matrices(), random=st.randoms(use_true_random=False))
def test_order_of_classes_does_not_matter(metric, matrix, random):
    order = random.sample(range(len(matrix)), len(matrix))
    expected = value(metric, matrix)
    if metric.kind == "class":
        expected = [expected[k] for k in order]
    assert value(metric, matrix[np.ix_(order, order)]) == pytest.approx(expected, **EXACT)


def binary(function, *, rest=False, **options):
    """A function of scikit-learn for each label against the rest, or for the rest."""

    def of_labels(y_true, y_pred, sample_weight):
        return [
            function(
                (y_true == k) != rest, (y_pred == k) != rest, sample_weight=sample_weight, **options
            )
            for k in range(3)
        ]

    return of_labels


def less(function):
    return lambda *rows, **options: 1 - np.asarray(function(*rows, **options))


def over_classes(function, **options):
    return lambda y_true, y_pred, sample_weight: function(
        y_true, y_pred, labels=np.unique(y_true), sample_weight=sample_weight, **options
    )


def likelihood_ratio(at):
    def ratio(*rows, **options):
        return sk.class_likelihood_ratios(*rows, labels=[False, True], **options)[at]

    return binary(ratio)


RECALL, PRECISION = binary(sk.recall_score), binary(sk.precision_score)
SPECIFICITY = binary(sk.recall_score, rest=True)
NPV = binary(sk.precision_score, rest=True)
WITNESSES = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "recall": RECALL,
    "specificity": SPECIFICITY,
    "precision": PRECISION,
    "npv": NPV,
    "fpr": less(SPECIFICITY),
    "fnr": less(RECALL),
    "fdr": less(PRECISION),
    "false_omission_rate": less(NPV),
    "f1": binary(sk.f1_score),
    "f2": binary(sk.fbeta_score, beta=2),
    "f0.5": binary(sk.fbeta_score, beta=0.5),
    "jaccard": binary(sk.jaccard_score),
    "recall_macro": over_classes(sk.recall_score, average="macro"),
    "precision_macro": over_classes(sk.precision_score, average="macro"),
    "f1_macro": over_classes(sk.f1_score, average="macro"),
    "precision_weighted": over_classes(sk.precision_score, average="weighted"),
    "f1_weighted": over_classes(sk.f1_score, average="weighted"),
    "mcc": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
    "informedness": binary(functools.partial(sk.balanced_accuracy_score, adjusted=True)),
    "lr_plus": likelihood_ratio(0),
    "lr_minus": likelihood_ratio(1),
}


@pytest.mark.parametrize("name", WITNESSES)
@settings(max_examples=SOME)
@given(rows=labelled_rows())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:(y_pred contains|A single label):UserWarning")
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value):RuntimeWarning")
def test_scikit_learn_agrees_wherever_the_value_is_defined(name, rows):
    y_true, y_pred, weight = (np.array(part) for part in zip(*rows, strict=True))
    matrix = np.zeros((3, 3))
    np.add.at(matrix, (y_true, y_pred), weight)
    is_class = matrix.any(axis=1)
    found = evaluate(ALL[name], arrays_of(matrix), is_class)[0]
    expected = np.asarray(WITNESSES[name](y_true, y_pred, sample_weight=weight))
    defined = np.isfinite(found)
    assert found[defined] == pytest.approx(expected[defined], **EXACT)


@every
@settings(max_examples=SOME)
@given(rows=labelled_rows(), random=st.randoms(use_true_random=False))
def test_rounding_of_weights_makes_no_number_of_nothing(metric, rows, random):
    """Sums of weights in any order are NaN and infinite exactly where sums of rows are."""
    whole, weighted = np.zeros((3, 3)), np.zeros((3, 3))
    for i, j, weight in rows:
        whole[i, j] += 1
        weighted[i, j] += weight
    hits, support, predicted, _ = arrays_of(weighted)
    total = sum(random.sample([weight for *_, weight in rows], len(rows)))
    arrays, is_class = (hits, support, predicted, np.array([[total]])), np.ones(3, dtype=bool)
    found, expected = (
        evaluate(metric, arrays, is_class, T),
        evaluate(metric, arrays_of(whole), is_class, T),
    )
    assert np.isnan(found).tolist() == np.isnan(expected).tolist()
    assert np.isinf(found).tolist() == np.isinf(expected).tolist()
    low, high = metric.bounds
    held = found[~np.isnan(found)]
    assert ((held >= low - 1e-12) & (held <= high + 1e-12)).all()


@every
@pytest.mark.parametrize(
    "matrix", [np.zeros((2, 2)), np.diag([0, 3]), [[0, 2], [0, 0]], [[2, 0], [3, 0]]], ids=str
)
def test_no_warning_of_numpy_on_zeros(metric, matrix):
    of_all = () if metric.kind == "class" else (np.ones(2, dtype=bool),)
    with np.errstate(all="raise"):
        found = metric.function(*arrays_of(matrix), *of_all, **({"t": T} if metric.takes_t else {}))
    assert found.shape == ((1, 2) if metric.kind == "class" else (1,))


@every
def test_without_classes_or_groups(metric):
    for shape in ((1, 0), (0, 3)):
        arrays = (*(np.zeros(shape),) * 3, np.zeros((shape[0], 1)))
        found = evaluate(metric, arrays, np.ones(shape[1], dtype=bool), T)
        assert found.shape == (shape if metric.kind == "class" else shape[:1])
        assert np.isnan(found).all()


@every
def test_travels_to_other_processes(metric):
    copy = pickle.loads(pickle.dumps(metric))
    matrix = np.array([[5, 2], [1, 4]])
    assert copy.name == metric.name
    assert value(copy, matrix) == value(metric, matrix)


INFINITE = {
    "no false alarm": ([[5, 0], [2, 3]], "lr_plus", 1, math.inf),
    "no false alarm, no hit": ([[5, 0], [2, 0]], "lr_plus", 1, math.nan),
    "no hit": ([[5, 1], [2, 0]], "lr_plus", 1, 0),
    "always predicted": ([[0, 5], [0, 3]], "lr_minus", 1, math.nan),
    "no correct rejection": ([[0, 5], [1, 3]], "lr_minus", 1, math.inf),
    "no miss": ([[4, 1], [0, 3]], "lr_minus", 1, 0),
    "no error": ([[5, 0], [0, 3]], "odds_ratio", 1, math.inf),
    "no error one way": ([[5, 1], [0, 3]], "odds_ratio", 1, math.inf),
    "all errors": ([[0, 5], [3, 0]], "odds_ratio", 1, 0),
    "no miss and no rejection": ([[0, 5], [0, 3]], "odds_ratio", 1, math.nan),
}


@pytest.mark.parametrize(("matrix", "name", "k", "expected"), INFINITE.values(), ids=INFINITE)
def test_limits_of_odds(matrix, name, k, expected):
    assert value(ALL[name], matrix)[k] == pytest.approx(expected, **EXACT)


@given(matrices(least=1, largest=2))
def test_mcc_is_the_mean_of_informedness_and_markedness(matrix):
    both = value(ALL["informedness"], matrix)[1] * value(ALL["markedness"], matrix)[1]
    assert value(ALL["mcc"], matrix) ** 2 == pytest.approx(both, **EXACT)
    odds = value(ALL["lr_plus"], matrix)[1] / value(ALL["lr_minus"], matrix)[1]
    assert value(ALL["odds_ratio"], matrix)[1] == pytest.approx(odds, **EXACT)


@ignored
@pytest.mark.parametrize("case", GOLDEN.values(), ids=GOLDEN)
def test_golden_cases_of_the_others(case):
    counts = matrix_of(case["confusion_matrix_rows_true_cols_pred"], labels=case["labels"])
    expected, of_class = case["metrics"], tba.per_class(counts)
    found = tba.metrics(counts).iloc[0]
    assert found["g_mean"] == pytest.approx(expected["g_mean"], **EXACT)
    assert found["min_recall"] == pytest.approx(min(expected["recall"]), **EXACT)
    informedness = of_class["informedness"]
    assert informedness.tolist() == pytest.approx(expected["informedness_per_class"], **EXACT)
    assert informedness.mean() == pytest.approx(expected["informedness_macro"], **EXACT)
    if "binary_pos1" in expected:
        assert found["informedness"] == pytest.approx(expected["informedness_binary"], **EXACT)
        assert found["npv"] == pytest.approx(expected["binary_pos1"]["npv"], **EXACT)


LARGE = {
    "21": ([[60000, 20000], [20000, 60000]], "mcc", 0.5),
    "21 kappa": ([[60000, 20000], [20000, 60000]], "cohen_kappa", 0.5),
    "22": ([[1e18, 1e18], [1e18, 2]], "mcc", -0.5),
    "22 kappa": ([[1e18, 1e18], [1e18, 2]], "cohen_kappa", -0.5),
    "22 informedness": ([[1e18, 1e18], [1e18, 2]], "informedness", [-0.5, -0.5]),
    "22 odds": ([[1e18, 1e18], [1e18, 1e18]], "odds_ratio", [1, 1]),
    "23": ([[0, 51], [2e15, 0]], "mcc", -1),
    "23 specificity": ([[0, 51], [2e15, 0]], "specificity", [0, 0]),
    "a rare class": ([[1e15, 1], [1, 1]], "mcc", 0.5),
    "a rare class, kappa": ([[1e15, 1], [1, 1]], "cohen_kappa", 0.5),
    "24": ([[4]], "mcc", math.nan),
    "24 kappa": ([[4]], "cohen_kappa", math.nan),
    "24 accuracy": ([[4]], "accuracy", 1),
    "25": ([[1, 0, 1], [0, 1, 0], [0, 0, 0]], "f1", [2 / 3, 1, 0]),
    "25 declared": ([[2, 0, 0], [0, 1, 0], [0, 0, 0]], "f1", [1, 1, math.nan]),
    "25 jaccard": ([[1, 0, 1], [0, 1, 0], [0, 0, 0]], "jaccard", [0.5, 1, 0]),
    "20": ([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "balanced_accuracy", 0.5),
}


@pytest.mark.parametrize(("matrix", "name", "expected"), LARGE.values(), ids=LARGE)
def test_large_and_odd_counts(matrix, name, expected):
    with np.errstate(over="raise"):
        found = value(ALL[name], np.array(matrix, dtype=float))
    assert found == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(("row", "expected"), [([1, 1], 0.5), ([2, 1], 2 / 3)], ids=["10", "19"])
@pytest.mark.parametrize("name", ["balanced_accuracy", "recall_macro", "min_recall", "g_mean"])
def test_a_label_that_is_only_predicted_is_no_class(row, expected, name):
    found = evaluate(ALL[name], arrays_of([row, [0, 0]]), np.array([True, False]))
    assert found.tolist() == pytest.approx([expected], **EXACT)


NAMES = [
    (f_beta, 2, "f2"),
    (f_beta, 0.5, "f0.5"),
    (f_beta, np.float32(2), "f2"),
    (f_beta, 1e-5, "f1e-05"),
    (f_beta, 0.1 + 0.2, "f0.30000000000000004"),
    (tempered, 0.5, "tba_0.5"),
    (tempered, -1, "tba_-1"),
    (tempered, math.inf, "tba_inf"),
]


@pytest.mark.parametrize(("make", "number", "name"), NAMES, ids=[name for *_, name in NAMES])
def test_names_of_metrics_with_parameters(make, number, name):
    assert make(number).name == name
    same = ALL["f1" if make is f_beta else "accuracy" if number > 0 else "balanced_accuracy"]
    assert make(number).undefined == same.undefined


@given(matrices(), st.floats(1e-3, 1e3))
def test_f_beta_is_between_precision_and_recall(matrix, beta):
    names = ["precision", "recall"]
    limits = np.array([value(ALL[name], matrix) for name in names])
    found = np.array(value(f_beta(beta), matrix))
    held = ~np.isnan(limits).any(axis=0)
    assert (found[held] >= limits.min(axis=0)[held] - 1e-12).all()
    assert (found[held] <= limits.max(axis=0)[held] + 1e-12).all()
    assert value(f_beta(1), matrix) == pytest.approx(value(ALL["f1"], matrix), **EXACT)


@pytest.mark.parametrize("beta", [1e-150, 1e150], ids=str)
def test_f_beta_near_its_limits(beta):
    matrix = [[3, 2], [1, 4]]
    limit = ALL["recall" if beta > 1 else "precision"]
    assert value(f_beta(beta), matrix) == pytest.approx(value(limit, matrix), **EXACT)
    assert value(f_beta(beta), [[3, 0], [1, 0]])[1] == 0


@ignored
@given(matrices(), st.floats(-5, 5))
def test_tempered_is_tba_at_its_t(matrix, t):
    counts = matrix_of(matrix)
    found = tba.metrics(counts, metrics=[tempered(t), "tba"], t=t).iloc[0, 3:].tolist()
    assert found[0] == pytest.approx(found[1], **EXACT)


MATRIX = [[63, 27], [2, 8]]
WRONG = {
    "beta 0": (
        lambda: f_beta(0),
        tba.InputError,
        (
            "`beta` must be a positive, finite number; got 0. Below 1 precision weighs more, above 1 "
            "recall; the limits at 0 and infinity are the metrics precision and recall."
        ),
    ),
    "beta text": (
        lambda: f_beta("2"),
        tba.InputError,
        (
            "`beta` must be a positive, finite number; got '2'. Below 1 precision weighs more, above 1 "
            "recall; the limits at 0 and infinity are the metrics precision and recall."
        ),
    ),
    "t": (
        lambda: tempered(None),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got None. 1 is "
            "accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "kind": (
        lambda: tba.Metric("mine", "clas", len),
        tba.InputError,
        "`kind` must be one of 'class', 'overall'; got 'clas'. Did you mean 'class'?",
    ),
    "function": (
        lambda: tba.Metric("mine", "class", "recall"),
        tba.KindError,
        "`function` must be a function; got 'recall'.",
    ),
    "shape": (
        lambda: tba.metrics(matrix_of(MATRIX), metrics=mine("overall", lambda h, *_: h)),
        tba.InputError,
        (
            "`metrics`: the function of 'mine', of kind 'overall', must return one float for each "
            "group, an array of shape (1,); got the shape (1, 2)."
        ),
    ),
    "shape of class": (
        lambda: tba.per_class(matrix_of(MATRIX), metrics=mine("class", lambda *_: 0.5)),
        tba.InputError,
        (
            "`metrics`: the function of 'mine', of kind 'class', must return one float for each "
            "group and label, an array of shape (1, 2); got the shape ()."
        ),
    ),
    "text": (
        lambda: tba.metrics(matrix_of(MATRIX), metrics=mine("overall", lambda *_: "good")),
        tba.InputError,
        (
            "`metrics`: the function of 'mine', of kind 'overall', must return one float for each "
            "group, an array of shape (1,); got 'good'."
        ),
    ),
    "name of a column": (
        lambda: tba.metrics(matrix_of(MATRIX), metrics=tba.Metric("n", "overall", len)),
        tba.InputError,
        "`metrics`: 'n' is the name of another column; give the Metric another name.",
    ),
    "twice": (
        lambda: tba.metrics(matrix_of(MATRIX), metrics=["f1", f_beta(1)]),
        tba.InputError,
        "`metrics` holds 'f1' more than once.",
    ),
    "number": (
        lambda: tba.metrics(matrix_of(MATRIX), metrics=5),
        tba.KindError,
        "`metrics` must hold names or Metrics; got 5.",
    ),
}


def mine(kind, function):
    return tba.Metric("mine", kind, function)


@pytest.mark.parametrize(("ask", "kind", "text"), WRONG.values(), ids=WRONG)
def test_errors(ask, kind, text):
    with pytest.raises(kind) as raised:
        ask()
    assert str(raised.value) == text


def test_a_metric_of_the_user():
    misses = mine("class", lambda hits, support, predicted, total: 1 - hits / support)
    with pytest.warns(tba.UndefinedWarning) as warned:
        found = tba.metrics(matrix_of([[3, 1], [0, 0]]), metrics=[misses, "accuracy"])
    assert found.iloc[0, 3:].tolist() == pytest.approx([math.nan, 0.75], **EXACT)
    assert [str(one.message) for one in warned] == ["Undefined, hence NaN: mine. no rows of 1."]
    whole = mine("overall", lambda hits, support, predicted, total, is_class: total[:, 0] > 3)
    assert tba.metrics(matrix_of(MATRIX), metrics=whole).at[0, "mine"] == 1.0


def test_a_function_that_works_in_place_spoils_nothing():
    def greedy(hits, support, predicted, total):
        hits /= support
        return hits

    with pytest.raises(ValueError, match="read-only"):
        tba.metrics(matrix_of(MATRIX), metrics=[mine("class", greedy), "accuracy"])


@pytest.mark.parametrize(
    ("alias", "metric"),
    [(alias, metric.name) for metric in tba.METRICS for alias in metric.aliases],
)
def test_an_alias_gives_the_values_of_its_metric_under_its_own_name(alias, metric):
    counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]], pos_label=1)
    found = tba.metrics(counts, metrics=[alias])
    expected = tba.metrics(counts, metrics=[metric])
    pd.testing.assert_frame_equal(found, expected.rename(columns={metric: alias}))


def test_no_alias_is_the_name_of_another_metric():
    names = [name for metric in tba.METRICS for name in (metric.name, *metric.aliases)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("alias", "value"), [("tpr", 0.8), ("tnr", 0.7), ("ppv", 8 / 35), ("youden_j", 0.5)]
)
def test_rates_by_the_names_of_other_fields(alias, value):
    counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]], pos_label=1)
    assert tba.metrics(counts, metrics=alias)[alias].item() == pytest.approx(value, abs=1e-15)
