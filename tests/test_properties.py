"""What holds for every frame of predictions."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal, assert_series_equal
from sklearn.metrics import accuracy_score, recall_score

import pandas_tba as tba

pytestmark = pytest.mark.filterwarnings(
    "ignore::pandas_tba.UndefinedWarning", "ignore::pandas_tba.InputWarning"
)

EXACT = {"rel": 1e-9, "abs": 1e-12, "nan_ok": True}
exponents = st.floats(-8, 8)
labels = st.sampled_from(["ant", "bee", "cat", "dog"])
groups = st.sampled_from(["x", "y", None])
rows = st.lists(st.tuples(labels, labels, labels, groups), max_size=25)
SOME = settings().max_examples // 4  # for bodies that run for many parameters
FEW = settings().max_examples // 10  # for very many
METRIC_NAMES = [metric.name for metric in tba.METRICS]


def frame_of(rows, *, as_category=False):
    frame = pd.DataFrame(rows, columns=["y_true", "y_pred", "second", "group"])
    frame = frame.astype({"y_true": object, "y_pred": object, "second": object, "group": object})
    return frame.astype("category") if as_category else frame


@st.composite
def matrices(draw, least=0, most=40):
    size = draw(st.integers(2, 5))
    cell = st.integers(least, most)
    row = st.lists(cell, min_size=size, max_size=size)
    return np.array(draw(st.lists(row, min_size=size, max_size=size)))


def assert_same_counts(one, other):
    assert_frame_equal(one.to_table(), other.to_table())
    assert one.groups.equals(other.groups)
    assert one.labels.equals(other.labels)
    assert one.is_class.tolist() == other.is_class.tolist()
    assert (one.model, one.pos_label) == (other.model, other.pos_label)
    assert (one.n_missing, one.missing_by_column) == (other.n_missing, other.missing_by_column)


@given(rows.filter(bool))
def test_t_1_is_accuracy_and_t_0_is_balanced_accuracy(rows):
    frame = frame_of(rows)
    found = frame.tba.score(t=[0, 1])
    assert found[1] == pytest.approx(accuracy_score(frame["y_true"], frame["y_pred"]), **EXACT)
    # not balanced_accuracy_score, which warns of labels that are only predicted
    options = {"labels": frame["y_true"].unique().tolist(), "average": "macro"}
    expected = recall_score(frame["y_true"], frame["y_pred"], **options)
    assert found[0] == pytest.approx(expected, **EXACT)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6), exponents)
def test_a_uniform_guesser_scores_one_over_k(sizes, t):
    matrix = np.repeat(np.array(sizes)[:, None], len(sizes), axis=1)
    counts = tba.ConfusionCounts.from_matrix(matrix)
    assert tba.score(counts, t=t) == pytest.approx(1 / len(sizes), **EXACT)
    assert tba.score(counts, t=t, adjusted=True) == pytest.approx(0, abs=1e-12)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=6), exponents, exponents)
def test_the_majority_classifier_has_the_largest_weight_rising_in_t(sizes, t, other):
    matrix = np.zeros((len(sizes), len(sizes)), dtype=int)
    matrix[:, int(np.argmax(sizes))] = sizes
    counts = tba.ConfusionCounts.from_matrix(matrix)
    low, high = sorted([t, other])
    found = tba.metrics(counts, metrics=["tba", "majority"], t=[low, high])
    assert found["tba"].tolist() == pytest.approx(found["majority"].tolist(), **EXACT)
    weight = tba.class_weights(sizes, t=low)[int(np.argmax(sizes))]
    assert found["majority"].iloc[0] == pytest.approx(weight, **EXACT)
    assert found["majority"].iloc[1] >= found["majority"].iloc[0] - 1e-12


@given(matrices(least=1), st.floats(-3, 3))
def test_slope_is_the_derivative(matrix, t):
    counts, step = tba.ConfusionCounts.from_matrix(matrix), 1e-5
    low, high = tba.score(counts, t=[t - step, t + step])
    slope = tba.metrics(counts, metrics="tba_slope", t=t).at[0, "tba_slope"]
    assert slope == pytest.approx((high - low) / (2 * step), rel=1e-5, abs=1e-8)


@given(matrices())
def test_limits_are_the_largest_and_the_rarest_class(matrix):
    found = tba.score(tba.ConfusionCounts.from_matrix(matrix), t=[math.inf, -math.inf])
    support = matrix.sum(axis=1)
    for limit, size in zip(found, (support.max(), support.min()), strict=True):
        chosen = support == size
        expected = (np.diag(matrix)[chosen] / size).mean() if size else math.nan
        assert limit == pytest.approx(expected, **EXACT)


@given(matrices(least=1), st.sampled_from([1e4, -1e4]))
def test_large_t_comes_near_the_limit(matrix, t):
    counts = tba.ConfusionCounts.from_matrix(matrix)
    near, limit = tba.score(counts, t=[t, math.copysign(math.inf, t)])
    assert near == pytest.approx(limit, abs=1e-9)


@given(matrices(), exponents)
def test_scores_are_shares_within_the_bounds(matrix, t):
    counts = tba.ConfusionCounts.from_matrix(matrix)
    found = tba.score(counts, t=t)
    low, high = tba.bounds(counts, t=t)[["low", "high"]].iloc[0]
    assert 0 <= low <= high <= 1 + 1e-12
    assert math.isnan(found) or low - 1e-12 <= found <= high + 1e-12
    assert 0 <= tba.score(counts, t=t, smoothing=1) <= 1


@given(matrices(), exponents, st.randoms(use_true_random=False))
def test_order_of_classes_does_not_matter(matrix, t, random):
    order = list(range(len(matrix)))
    random.shuffle(order)
    names = [f"class {place}" for place in order]
    counts = tba.ConfusionCounts.from_matrix(matrix, labels=[*"abcde"[: len(matrix)]])
    moved = tba.ConfusionCounts.from_matrix(matrix[np.ix_(order, order)], labels=names)
    assert tba.score(moved, t=t) == pytest.approx(tba.score(counts, t=t), **EXACT)
    overall = [metric.name for metric in tba.METRICS if metric.kind == "overall"]
    found = tba.metrics(moved, metrics=overall, t=t).iloc[0].tolist()
    expected = tba.metrics(counts, metrics=overall, t=t).iloc[0].tolist()
    assert found == pytest.approx(expected, **EXACT)


@given(matrices(), st.integers(2, 1000), exponents)
def test_scale_of_counts_does_not_matter(matrix, factor, t):
    one, many = (tba.ConfusionCounts.from_matrix(cells) for cells in (matrix, factor * matrix))
    columns = [metric.name for metric in tba.METRICS if metric.kind == "overall"]
    found = tba.metrics(many, metrics=columns, t=t)[columns].iloc[0].tolist()
    expected = tba.metrics(one, metrics=columns, t=t)[columns].iloc[0].tolist()
    assert found == pytest.approx(expected, **EXACT)
    of_class = tba.per_class(many).iloc[:, 4:].to_numpy()
    assert of_class == pytest.approx(tba.per_class(one).iloc[:, 4:].to_numpy(), **EXACT)


@pytest.mark.parametrize("metric", tba.METRICS, ids=METRIC_NAMES)
@settings(max_examples=SOME)
@given(matrix=matrices(), t=exponents)
def test_metrics_keep_their_bounds(metric, matrix, t):
    counts = tba.ConfusionCounts.from_matrix(matrix)
    if metric.kind == "class":
        found = tba.per_class(counts, metrics=metric)[metric.name].to_numpy()
    else:
        found = tba.metrics(counts, metrics=metric, t=t)[metric.name].to_numpy()
    low, high = metric.bounds
    held = found[~np.isnan(found)]
    assert ((held >= low - 1e-12) & (held <= high + 1e-12)).all()


@pytest.mark.parametrize("metric", tba.METRICS, ids=METRIC_NAMES)
@settings(max_examples=SOME)
@given(sizes=st.lists(st.integers(1, 9), min_size=2, max_size=5))
def test_metrics_are_best_on_a_diagonal(metric, sizes):
    counts = tba.ConfusionCounts.from_matrix(np.diag(sizes))
    table = tba.per_class(counts) if metric.kind == "class" else tba.metrics(counts)
    if metric.greater_is_better:
        assert table[metric.name].tolist() == pytest.approx([metric.bounds[1]] * len(table))


@given(rows, st.randoms(use_true_random=False))
def test_order_of_rows_does_not_matter(rows, random):
    shuffled = list(rows)
    random.shuffle(shuffled)
    one, other = (frame_of(part).tba.counts(by="group") for part in (rows, shuffled))
    assert_same_counts(one, other)


@pytest.mark.parametrize("as_category", [False, True])
@pytest.mark.parametrize("y_pred", ["y_pred", ["y_pred", "second"]], ids=["one", "wide"])
@pytest.mark.parametrize("by", [None, "group", ["group", "second"]], ids=str)
@pytest.mark.parametrize("missing", ["raise", "drop"])
@settings(max_examples=FEW)
@given(rows=rows, cuts=st.lists(st.integers(0, 25), max_size=3))
def test_shards_add_up(as_category, y_pred, by, missing, rows, cuts):
    frame = frame_of(rows, as_category=as_category)
    if missing == "drop" and not as_category:
        frame["second"] = frame["second"].replace({"dog": None})
    edges = [0, *sorted(cuts), 25]
    shards = [frame.iloc[start:stop] for start, stop in itertools.pairwise(edges)]
    options = {"y_pred": y_pred, "by": by, "missing": missing}
    whole = tba.count(frame, **options)
    assert_same_counts(sum(tba.count(shard, **options) for shard in shards), whole)
    assert_same_counts(sum(tba.count(shard, **options) for shard in shards[::-1]), whole)


@given(rows, st.integers(0, 25))
def test_shards_with_categories_of_their_own_add_up(rows, cut):
    """Each shard infers its categories, as when files are read one by one."""
    frame = frame_of(rows)
    shards = [part.astype("category") for part in (frame.iloc[:cut], frame.iloc[cut:])]
    found = sum(shard.tba.counts(by="group") for shard in shards)
    assert_frame_equal(
        tba.per_class(found).reset_index(),
        tba.per_class(frame.tba.counts(by="group")).reset_index(),
        check_categorical=False,
        check_dtype=False,
    )


@given(rows)
def test_binary_shards_add_up(rows):
    frame = pd.DataFrame([(a < "c", b < "c") for a, b, *_ in rows], columns=["y_true", "y_pred"])
    frame = frame.astype(int)
    found = sum(frame.iloc[at : at + 2].tba.counts() for at in range(0, max(len(frame), 1), 2))
    assert_same_counts(found, frame.tba.counts())


@given(rows)
def test_addition_is_commutative_and_associative(rows):
    frame = frame_of(rows)
    a, b, c = (frame.iloc[at::3].tba.counts(by="group") for at in range(3))
    assert_same_counts(a + b, b + a)
    assert_same_counts((a + b) + c, a + (b + c))


@given(rows)
def test_counts_add_up_to_the_rows(rows):
    frame = frame_of(rows)
    counts = frame.tba.counts(by=["group", "second"])
    assert counts.cells.sum() == counts.support.sum() == counts.predicted.sum() == len(frame)
    assert counts.rows.tolist() == frame.groupby(["group", "second"], dropna=False).size().tolist()
    for part in (counts.pooled(), counts.rollup("group")):
        assert part.cells.sum() == len(frame)
    assert_same_counts(counts.rollup("group"), frame.tba.counts(by="group"))
    assert_same_counts(counts.pooled(), frame.tba.counts())


@given(rows, exponents)
def test_names_of_labels_do_not_matter(rows, t):
    frame = frame_of(rows)
    names = {"ant": 30, "bee": 20, "cat": 10, "dog": 0}
    numbers = frame.assign(y_true=frame["y_true"].map(names), y_pred=frame["y_pred"].map(names))
    found = numbers.tba(labels=list(names.values())).score(by="group", t=t)
    expected = frame.tba(labels=list(names)).score(by="group", t=t)
    assert_series_equal(found, expected, rtol=1e-9)


@settings(max_examples=SOME)
@given(rows, exponents)
def test_methods_are_functions_over_counts(rows, t):
    door = frame_of(rows).tba
    counts = door.counts(by="group")
    assert_series_equal(door.score(by="group", t=t), tba.score(counts, t=t))
    for name, options in {
        "metrics": {"t": [t, 1]},
        "bounds": {"t": t, "prevalence": "pooled"},
        "per_class": {"metrics": "f1"},
        "confusion_matrix": {"normalize": "true"},
    }.items():
        expected = getattr(tba, name)(counts, **options)
        assert_frame_equal(getattr(door, name)(by="group", **options), expected)


@given(rows)
def test_a_table_of_counts_leads_back(rows):
    frame = frame_of(rows)
    counts = frame.tba.counts(by="group")
    assert_same_counts(tba.ConfusionCounts.from_table(counts.to_table(), by=["group"]), counts)
