"""Gradients, variances and limits by influence: golden values, differences, closed forms, extremes."""

import dataclasses
import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

import pandas_tba as tba
from pandas_tba.inference.influence import (
    clopper_pearson,
    critical_value,
    effective_rows,
    evaluate_cells,
    gradient,
    influence_of_rows,
    mover_difference,
    smoothed_shares,
    smoothed_weighted,
    variance,
    wilson_limits,
)
from pandas_tba.inference.intervals import INTERVALS, recalls_of
from pandas_tba.inference.limits import Matrices, koopman_limits, metric_limits

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "golden-influence.json").read_text(encoding="utf-8")
)
INPUTS, VALUES = GOLDEN["inputs"], GOLDEN["values"]
METRICS = {metric.name: metric for metric in [*tba.METRICS, tba.f_beta(2), tba.tempered(-0.5)]}
SOME = settings().max_examples // 4
EXACT = {"rel": 1e-10, "abs": 1e-10}
RULES = {
    "F1 by J": ("f1", "f1", None),
    "LR+ Koopman": ("lr_plus", "lr_plus", None),
    "LR- Koopman": ("lr_minus", "lr_minus", None),
    "odds ratio MOVER logit": ("odds_ratio", "odds_ratio", None),
    "min_recall": ("min_recall", "min_recall", None),
    "majority t=1": ("majority", "majority", 1.0),
    "tba_slope t=0.5": ("tba_slope", "tba_slope", 0.5),
    "tba_slope t=0.0": ("tba_slope", "tba_slope", 0.0),
    "f1_weighted (least n_eff)": ("f1_weighted", "least", None),
}
Z = stats.norm.ppf(0.975)


def rule_in(text):
    """Metric, rule and t of a golden name."""
    if text in RULES:
        return RULES[text]
    name, _, rule = text.partition(" (")
    return name, rule.rstrip(")"), 0.5 if name == "tba" else None


def limits(metric, cells, t=None, **quantities):
    """Estimate of one table; of the last class for metrics of one class."""
    cells = np.array(cells)[None]
    label = cells.shape[1] - 1 if metric.kind == "class" else None
    t = t if metric.takes_t else None
    is_class = quantities.pop("is_class", np.ones(cells.shape[1], dtype=bool))
    found = metric_limits(
        metric, Matrices(cells, np.array(is_class), **quantities), 0.95, t=t, label=label
    )
    return {name: part.item() for name, part in found._asdict().items()}


SINGLE = [name for name in VALUES if name[:2] in ("A ", "E ", "B ") and "LR+ MOVER" not in name]


@pytest.mark.parametrize("key", SINGLE)
def test_golden_limits(key):
    matrix, text = key.split(" ", maxsplit=1)
    name, rule, t = rule_in(text)
    found = limits(dataclasses.replace(METRICS[name], limits=rule), INPUTS[matrix], t)
    _, low, high = map(float, VALUES[key])
    assert [found["low"], found["high"]] == pytest.approx([low, high], **EXACT)
    chosen = METRICS[name].limits
    assert chosen == rule or chosen is None or name in ("f1", "f1_macro", "f1_weighted")


def test_every_rule_has_a_golden_value():
    ruled = {metric.limits for metric in tba.METRICS} - {None}
    assert ruled == {rule_in(key.split(" ", maxsplit=1)[1])[1] for key in SINGLE} | {"jaccard"}


tables = st.integers(2, 5).flatmap(
    lambda n: st.lists(st.integers(1, 400), min_size=n * n, max_size=n * n).map(
        lambda cells: np.reshape(cells, (1, n, n))
    )
)


def is_smooth(name, cells):
    """Whether no two classes tie for the extreme that a metric is."""
    support = cells.sum(axis=2)[0]
    values = {"majority": support, "min_recall": np.diag(cells[0]) / support}.get(name)
    return values is None or np.diff(np.sort(values)).min() > 1e-4 * values.max()


@settings(max_examples=SOME)
@pytest.mark.parametrize("name", METRICS)
@given(tables, st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]))
def test_gradients_are_central_differences_by_cell_and_by_sum(name, cells, t):
    metric = METRICS[name]
    t = t if metric.takes_t else None
    label = 1 if metric.kind == "class" else None
    is_class = np.ones(cells.shape[1], dtype=bool)
    shares = smoothed_shares(cells)
    if not is_smooth(name, shares):
        return
    found = gradient(metric, shares, is_class, t=t, label=label)
    by_sum = gradient(
        dataclasses.replace(metric, gradient=None), shares, is_class, t=t, label=label
    )
    scale = max(1.0, np.abs(found).max())
    assert by_sum == pytest.approx(found, rel=1e-6, abs=1e-6 * scale)
    step = 1e-4 * shares.min()
    by_cell = np.empty_like(shares)
    for place in np.ndindex(shares.shape):
        ends = []
        for sign in (1, -1):
            moved = shares.copy()
            moved[place] += sign * step
            ends.append(evaluate_cells(metric, moved, is_class, t=t, label=label).item())
        by_cell[place] = (ends[0] - ends[1]) / (2 * step)
    assert by_cell == pytest.approx(found, rel=1e-6, abs=1e-6 * scale)


@given(tables)
def test_metrics_do_not_change_with_the_number_of_rows(cells):
    for name in ("mcc", "f1_macro", "g_mean", "precision_weighted"):
        shares = smoothed_shares(cells)
        slopes = gradient(METRICS[name], shares, np.ones(cells.shape[1], dtype=bool))
        assert (shares * slopes).sum() == pytest.approx(0, abs=1e-9)


def test_gradient_of_rows_is_that_of_shares_by_row():
    cells, is_class = np.array([[[8, 3], [2, 7]]]), np.array([True, True])
    by_row = gradient(METRICS["mcc"], cells, is_class)
    assert by_row * 20 == pytest.approx(gradient(METRICS["mcc"], cells / 20, is_class), **EXACT)


def test_smoothing_keeps_the_shares_of_classes():
    cells = np.array([[[9, 1, 0], [0, 4, 0], [0, 0, 0]]])
    shares = smoothed_shares(cells)
    # one hit and one miss in each class that the group has, none in a label that it lacks
    expected = [
        [10 / 12 * 10 / 14, 2 / 12 * 10 / 14, 0],
        [1 / 6 * 4 / 14, 5 / 6 * 4 / 14, 0],
        [0] * 3,
    ]
    assert shares[0] == pytest.approx(np.array(expected), **EXACT)
    by_column = smoothed_shares(cells, by="cols")
    flipped = smoothed_shares(cells.transpose(0, 2, 1)).transpose(0, 2, 1)
    assert by_column == pytest.approx(flipped, **EXACT)
    assert by_column.sum(axis=1)[0] == pytest.approx(cells.sum(axis=1)[0] / 14, **EXACT)


def test_smoothing_of_labels_that_are_no_classes():
    cells = np.array([[[9, 1, 2], [1, 4, 1], [0, 0, 0]]])  # the last label is only predicted
    is_class = np.array([True, True, False])
    rows = smoothed_shares(cells, is_class=is_class)
    assert rows[0, 0] == pytest.approx(np.array([10, 1.5, 2.5]) / 14 * 12 / 18, **EXACT)
    assert rows[0, 2].tolist() == [0, 0, 0]
    columns = smoothed_shares(cells, by="cols", is_class=is_class)
    assert columns[0, 2].tolist() == [0, 0, 0]
    assert columns[0, :, 2] == pytest.approx(np.array([3, 2, 0]) / 5 * 3 / 18, **EXACT)


def test_a_single_label_is_smoothed_with_a_label_that_is_never_seen():
    shares = smoothed_shares(np.array([[[30, 0], [0, 0]]]))
    assert shares[0] == pytest.approx(np.array([[31, 1], [0, 0]]) / 32, **EXACT)
    f1_macro = limits(METRICS["f1_macro"], [[30]])
    assert 0.8 < f1_macro["low"] < f1_macro["high"] == 1


@given(
    st.lists(st.integers(0, 40), min_size=9, max_size=9),
    st.sampled_from([-1.0, 0.0, 0.5, 1.0]),
)
def test_means_of_recalls_are_those_of_the_formula(cells, t):
    cells = np.reshape(cells, (1, 3, 3)).astype(float)
    cells[:, [0, 1, 2], [0, 1, 2]] += 1
    hits, support = np.einsum("gll->gl", cells), cells.sum(axis=2)
    metric = dataclasses.replace(METRICS["tba"], limits="rows")
    found = limits(metric, cells[0], t)
    expected = INTERVALS[0].limits(recalls_of(hits, support, support, reference=support), t, 0.95)
    assert [found["low"], found["high"]] == pytest.approx(
        [part.item() for part in expected], abs=1e-9
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from([-1.0, 0.0, 0.5, 1.0]))
def test_weighted_means_of_recalls_are_those_of_the_formula(seed, t):
    random = np.random.default_rng(seed)
    rows = random.integers(1, 30, (1, 3, 3))
    cells, squares = np.zeros((2, 1, 3, 3))
    for place in np.ndindex(rows.shape):
        weights = random.lognormal(0, 1, rows[place])
        cells[place], squares[place] = weights.sum(), (weights**2).sum()
    metric = dataclasses.replace(METRICS["tba"], limits="rows")
    found = limits(metric, cells[0], t, squares=squares, rows=rows)
    hits, of_hits = (np.einsum("gll->gl", part) for part in (cells, squares))
    support, of_support = (part.sum(axis=2) for part in (cells, squares))
    squared, numbers = (of_hits, of_support, of_support), rows.sum(axis=2)
    recalls = recalls_of(
        hits, support, support, reference=support, squared=squared, numbers=numbers
    )
    expected = INTERVALS[0].limits(recalls, t, 0.95)
    assert [found["low"], found["high"]] == pytest.approx(
        [part.item() for part in expected], abs=1e-9
    )


WEIGHTED = [[60, 12, 3], [5, 40, 6], [1, 4, 30]]


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("unit", [1.0, 2.0, 1e-100, 1e100])
def test_equal_weights_are_rows(name, unit):
    metric = METRICS[name]
    metric = dataclasses.replace(metric, limits=metric.limits or "rows")
    cells = np.array(WEIGHTED if metric.kind == "overall" else INPUTS["A"])
    weighted = limits(metric, cells * unit, 0.5, squares=cells[None] * unit**2, rows=cells[None])
    assert weighted == pytest.approx(limits(metric, cells, 0.5), rel=1e-9, nan_ok=True)


def test_unequal_weights_leave_fewer_rows_and_take_students_quantile():
    cells = np.array([[20.0, 2], [1, 6]])
    squares, rows = np.array([[[60.0, 6], [3, 14]]]), np.array([[[10, 1], [1, 4]]])
    found = limits(METRICS["mcc"], cells, squares=squares, rows=rows)
    # the same variance, but as if weights did not differ
    equal = limits(METRICS["mcc"], cells, squares=squares, rows=np.zeros_like(rows))
    assert found["n_eff"] == equal["n_eff"]
    assert found["n_eff"] < limits(METRICS["mcc"], rows[0])["n_eff"]
    assert found["low"] < equal["low"] < equal["high"] < found["high"]


def test_quantiles():
    assert critical_value(0.025).item() == pytest.approx(Z, rel=1e-14)
    found = critical_value(0.025, np.array([0.5, 2, 10, 29.9, 30, np.inf]))
    expected = [*stats.t.ppf(0.975, [1, 1, 9, 28.9]), Z, Z]
    assert found.tolist() == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize(
    ("hits", "rows"), [(0, 9), (9, 9), (3, 11), (399, 400), (1, 4_000_000_000)]
)
def test_limits_of_a_proportion(hits, rows):
    share, of = np.array(hits / rows), np.array(float(rows))
    wilson = proportion_confint(hits, rows, method="wilson")
    found = [part.item() for part in wilson_limits(share, of, Z)]
    assert found == pytest.approx(list(wilson), abs=1e-12)
    if rows < 1e9:
        exact = proportion_confint(hits, rows, method="beta")
        found = [part.item() for part in clopper_pearson(share, of, 0.95)]
        assert found == pytest.approx(list(exact), abs=1e-12)


def test_difference_of_two_proportions():  # Newcombe 1998, 56/70 and 48/80, method 10
    first, second = np.array(56 / 70), np.array(48 / 80)
    sides = (wilson_limits(first, np.array(70.0), Z), wilson_limits(second, np.array(80.0), Z))
    low, high = mover_difference(first, second, *sides)
    assert [low.item(), high.item()] == pytest.approx([0.0524, 0.3339], abs=5e-5)
    closer = mover_difference(first, second, *sides, rho=0.5)
    assert low < closer[0] < closer[1] < high


@pytest.mark.parametrize(
    ("first", "second"),
    [((36, 40), (16, 80)), ((5, 9), (0, 30)), ((0, 30), (4, 20)), ((7, 7), (9, 9))],
)
def test_ratio_of_two_proportions(first, second):
    from statsmodels.stats.proportion import confint_proportions_2indep

    values = (first[0] / first[1], first[1], second[0] / second[1], second[1], Z)
    low, high = koopman_limits(*(np.array([float(value)]) for value in values))
    if 0 not in (first[0], second[0]) and first != (7, 7):
        witness = confint_proportions_2indep(
            *first, *second, method="score", compare="ratio", correction=False
        )
        assert [low[0], high[0]] == pytest.approx(witness, rel=1e-6)
    assert (low[0] == 0) == (first[0] == 0)
    assert (high[0] == np.inf) == (second[0] == 0)
    swapped = koopman_limits(*(np.array([float(values[at])]) for at in (2, 3, 0, 1, 4)))
    expected = [1 / high[0], 1 / low[0] if low[0] else math.inf]
    assert [swapped[0][0], swapped[1][0]] == pytest.approx(expected, rel=1e-9)


def test_closed_forms():
    cells, hits, union = [[85, 5], [3, 7]], 7, 15
    low, high = proportion_confint(hits, union, method="wilson")
    jaccard, f1 = (limits(METRICS[name], cells) for name in ("jaccard", "f1"))
    assert [jaccard["low"], jaccard["high"], jaccard["n_eff"]] == pytest.approx([low, high, union])
    expected = [2 * low / (1 + low), 2 * high / (1 + high), union]
    assert [f1["low"], f1["high"], f1["n_eff"]] == pytest.approx(expected)
    assert limits(tba.f_beta(1), cells) == f1
    informedness, balanced = (
        limits(dataclasses.replace(METRICS[name], limits="rows"), cells)
        for name in ("informedness", "balanced_accuracy")
    )
    assert informedness["se"] == pytest.approx(2 * balanced["se"])
    kappa = {name: limits(METRICS[name], np.transpose(cells)) for name in ("cohen_kappa", "mcc")}
    for name, found in kappa.items():  # unchanged in value and bounds when truth and answer swap
        assert -1 <= found["low"] < found["high"] <= 1, name


@pytest.mark.parametrize("t", [-1.0, 0.5, 2.0])
def test_variance_of_the_weight_of_a_class(t):
    # the least and the greatest weight of two classes add up to 1
    low, high = (limits(METRICS["majority"], [[60, 5], [3, 20]], sign * t) for sign in (1, -1))
    shares = smoothed_shares(np.array([[[60, 5], [3, 20]]]))
    slopes = gradient(METRICS["majority"], shares, np.array([True, True]), t=t)
    by_influence = variance(shares, slopes, shares / 88)
    share = 65 / 88
    weight = share**t / (share**t + (1 - share) ** t)
    # for two classes w is a function of one share: delta method
    slope = t * weight * (1 - weight) / (share * (1 - share))
    assert by_influence.item() == pytest.approx(slope**2 * share * (1 - share) / 88, rel=1e-9)
    for found, sign in ((low, t), (high, -t)):
        value = share**sign / (share**sign + (1 - share) ** sign)
        assert (0.5 <= found["low"] < value) if sign > 0 else (value < found["high"] <= 0.5)


@pytest.mark.parametrize(("t", "n_classes"), [(0.0, 3), (2.0, 1)])
def test_a_majority_that_no_row_can_change_is_known(t, n_classes):
    found = limits(METRICS["majority"], np.eye(n_classes) * 9, t)
    assert [found["low"], found["high"]] == [1 / n_classes] * 2


RULED = [name for name, metric in METRICS.items() if metric.limits is not None]


@pytest.mark.parametrize("name", RULED)
@pytest.mark.parametrize(
    "cells",
    [
        np.eye(2) * 50,
        np.eye(2)[::-1] * 50,
        [[90, 0], [0, 10]],
        [[0, 90], [0, 10]],
        [[99, 0], [1, 0]],
        [[0, 0], [3, 5]],
        [[0, 0], [0, 9]],
        [[0, 0], [0, 0]],
        [[0, 7], [0, 9]],
        [[1, 0], [0, 0]],
    ],
)
@pytest.mark.parametrize("t", [-1.0, 0.5, math.inf])
def test_extreme_tables(name, cells, t):
    metric = METRICS[name]
    found = limits(metric, cells, t)
    least, most = metric.bounds
    value = evaluate_cells(
        metric,
        np.array(cells, dtype=float)[None],
        np.array([True, True]),
        t=t if metric.takes_t else None,
        label=1 if metric.kind == "class" else None,
    ).item()
    if math.isnan(value):
        assert [found["low"], found["high"]] == [least, most]
        assert math.isnan(found["se"])
    elif not math.isnan(found["low"]):
        assert least <= found["low"] <= value + 1e-12
        assert value - 1e-12 <= found["high"] <= most
        assert found["low"] < found["high"]
    else:
        assert math.isnan(found["high"])
        assert name in ("tba_slope", "majority", "cohen_kappa", "precision_weighted")


@pytest.mark.parametrize("name", METRICS)
def test_huge_counts(name):
    metric = METRICS[name]
    cells = np.array([[3, 1], [1, 2]], dtype=np.int64) * 4_000_000_000
    found = limits(metric, cells, 0.5)
    value = evaluate_cells(
        metric,
        cells[None],
        np.array([True, True]),
        t=0.5 if metric.takes_t else None,
        label=1 if metric.kind == "class" else None,
    ).item()
    assert found["low"] < value < found["high"]
    assert found["high"] - found["low"] < 1e-3 * max(1, value)


def test_an_empty_class_changes_nothing_where_the_metric_has_a_value():
    cells = np.array(INPUTS["A"])
    for name in ("mcc", "cohen_kappa", "f1_weighted", "precision_weighted"):
        wider = np.pad(cells, (0, 1))
        assert limits(METRICS[name], wider) == pytest.approx(limits(METRICS[name], cells), **EXACT)
    undefined = limits(METRICS["f1_macro"], np.pad(cells, (0, 1)))
    assert [undefined["low"], undefined["high"]] == [0, 1]


def test_a_label_that_is_never_predicted_takes_rows():
    cells = [[30, 2, 0], [3, 20, 0], [1, 3, 0]]
    found = limits(METRICS["f1_macro"], cells)
    by_rows = limits(dataclasses.replace(METRICS["f1_macro"], limits="rows"), cells)
    assert found == by_rows


def test_labels_that_are_no_classes_are_only_columns():
    cells, is_class = [[30, 2, 4], [3, 20, 1], [0, 0, 0]], [True, True, False]
    for name in ("f1_macro", "precision_macro", "mcc", "g_mean", "f1_weighted", "min_recall"):
        found = limits(METRICS[name], cells, is_class=is_class)
        assert 0 < found["low"] < found["high"] < 1
    accuracy = dataclasses.replace(METRICS["accuracy"], limits="rows")
    wilson = proportion_confint(50, 60, method="wilson")
    found = limits(accuracy, cells, is_class=is_class)
    assert [found["low"], found["high"], found["n_eff"]] == pytest.approx([*wilson, 60])


def test_class_sizes_that_were_given_leave_their_part_out():
    cells = np.array([INPUTS["B"]])
    shares, spread = smoothed_weighted(cells)
    slopes = gradient(METRICS["accuracy"], shares, np.ones(3, dtype=bool))
    share = shares.sum(axis=2)[0]
    recall = np.einsum("gll->gl", shares)[0] / share
    expected = (share * recall * (1 - recall)).sum() / 50
    assert variance(shares, slopes, spread, fixed=True).item() == pytest.approx(expected)
    within = influence_of_rows(shares, slopes, fixed=True)
    assert (shares * within).sum(axis=2) == pytest.approx(np.zeros((1, 3)), abs=1e-15)


def test_no_variance_is_no_knowledge():
    found = effective_rows(np.array([1.0, 0.5, 0.5]), np.array([0.1, 0.0, 0.01]))
    assert np.isnan(found).tolist() == [True, True, False]
    constant = tba.Metric("constant", "overall", lambda h, s, q, n, k: n[:, 0] * 0 + 0.5)
    found = limits(constant, INPUTS["A"])
    assert np.isnan([found["low"], found["high"]]).all()


def lift(hits, support, predicted, total):
    return hits * total / (support * predicted)


def test_metrics_of_the_user_by_their_bounds():
    share = tba.Metric("share", "overall", lambda h, s, q, n, k: (h / s).mean(axis=1))
    least = limits(dataclasses.replace(METRICS["balanced_accuracy"], limits="least"), INPUTS["B"])
    assert limits(share, INPUTS["B"]) == pytest.approx(least, rel=1e-8)
    positive = tba.Metric("lift", "class", lift, bounds=(0, math.inf))
    found = limits(positive, INPUTS["A"])
    half = np.array(INPUTS["A"]) + 0.5
    centre = half[1, 1] * half.sum() / (half[1].sum() * half[:, 1].sum())
    assert found["low"] * found["high"] == pytest.approx(centre**2, rel=1e-9)
    assert limits(positive, [[90, 2], [8, 0]])["low"] == 0
    scaled = tba.Metric(
        "twice",
        "overall",
        lambda h, s, q, n, k: 2 * h.sum(axis=1) / n[:, 0],
        bounds=(-math.inf, math.inf),
    )
    found = limits(scaled, INPUTS["A"])
    assert found["high"] - 1.9 == pytest.approx(Z * found["se"])
    assert 1.9 - found["low"] == pytest.approx(Z * found["se"])
    cut = limits(dataclasses.replace(scaled, bounds=(-math.inf, 1.92)), INPUTS["A"])
    assert [cut["low"], cut["high"]] == [found["low"], 1.92]


def test_metrics_can_be_sent_to_other_processes():
    sent = pickle.loads(pickle.dumps(METRICS["mcc"]))
    assert limits(sent, INPUTS["A"]) == limits(METRICS["mcc"], INPUTS["A"])
    assert pickle.loads(pickle.dumps(tba.METRICS))[0].name == "accuracy"


def test_an_unknown_rule_is_an_error():
    with pytest.raises(tba.InputError) as caught:
        limits(dataclasses.replace(METRICS["mcc"], limits="row"), INPUTS["A"])
    assert str(caught.value) == (
        "`limits` must be one of 'rows', 'cols', 'least', 'f1', 'jaccard', 'lr_plus', 'lr_minus', "
        "'odds_ratio', 'min_recall', 'majority', 'tba_slope', 'log', 'normal'; got 'row'. Did you mean "
        "'rows'?"
    )


def test_groups_do_not_depend_on_blocks(monkeypatch):
    random = np.random.default_rng(2)
    matrices = Matrices(random.integers(0, 30, (7, 3, 3)), np.ones(3, dtype=bool))
    whole = metric_limits(METRICS["f1_macro"], matrices, 0.9)
    monkeypatch.setattr("pandas_tba.inference.limits._CELLS_AT_A_TIME", 20)
    blocks = metric_limits(METRICS["f1_macro"], matrices, 0.9)
    for one, other in zip(whole, blocks, strict=True):
        assert one.tolist() == other.tolist()
