"""Standard errors, intervals and the bootstrap: values to 15 digits, witnesses, properties."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from pandas_tba import InputError, KindError
from pandas_tba.inference import intervals
from pandas_tba.inference.intervals import (
    INTERVALS,
    check_level,
    check_replicates,
    effective_rows_of_mean,
    generator_of,
    moments,
    percentiles,
    recalls_of,
    replicated_means,
    resampled,
    resampled_cells,
    standard_error,
    within_bounds,
)
from pandas_tba.scoring.tempering import tempered_mean

GOLDEN = Path(__file__).parents[1] / "golden"
TEMPERED = json.loads((GOLDEN / "golden-tba.json").read_text(encoding="utf-8"))
METRICS = json.loads((GOLDEN / "golden-metrics.json").read_text(encoding="utf-8"))
CASES = TEMPERED["cases"]
PROPORTIONS = METRICS["proportion_ci95"]["cases"]
EXACT = {"rel": 1e-10, "abs": 1e-10}
KINDS = ["fixed", "multinomial"]
FORMULAS = {way.name: way.limits for way in INTERVALS if way.limits is not None}

sizes = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=6)
exponents = st.one_of(st.floats(-6, 6), st.sampled_from([0.0, 1.0, math.inf, -math.inf]))


def recalls_from(hits, support, kind="multinomial"):
    hits, support = (np.array([values], dtype=float) for values in (hits, support))
    return recalls_of(hits, support, support, reference=support if kind == "multinomial" else None)


def recalls_in_case(name, kind):
    case = CASES[name]
    if "confusion" not in case:
        return recalls_from(case["hits"], case["support"], kind)
    matrix = np.array(case["confusion"])
    return recalls_from(np.diag(matrix), matrix.sum(axis=1), kind)


def limits(method, recalls, t, level=0.95):
    low, high = within_bounds(FORMULAS[method](recalls, t, level), recalls, t)
    return [low.item(), high.item()]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in CASES if "se_fixed" in CASES[name]])
def test_standard_error(name, kind):
    recalls = recalls_in_case(name, kind)
    for t, expected in CASES[name][f"se_{kind}"].items():
        assert standard_error(recalls, float(t)).item() == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TEMPERED["wilson_neff_95"])
def test_wilson(name, kind):
    recalls = recalls_in_case(name, kind)
    for t, expected in TEMPERED["wilson_neff_95"][name][kind].items():
        found = [
            effective_rows_of_mean(recalls, float(t)).item(),
            *limits("wilson", recalls, float(t)),
        ]
        assert found == pytest.approx(list(expected.values()), **EXACT)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TEMPERED["mover_95"])
def test_mover(name, kind):
    recalls = recalls_in_case(name, kind)
    for t, expected in TEMPERED["mover_95"][name]["jeffreys"][kind].items():
        assert limits("mover", recalls, float(t)) == pytest.approx(expected, **EXACT)


@pytest.mark.parametrize("t", [-1, 0, 0.5, 1, math.inf])
@pytest.mark.parametrize("name", TEMPERED["class_limits_95"])
def test_a_single_class_has_the_interval_of_one_proportion(name, t):
    hits, support = (int(text) for text in name.split("/"))
    expected = TEMPERED["class_limits_95"][name]
    recalls = recalls_from([hits], [support])
    assert limits("mover", recalls, t) == pytest.approx(expected["jeffreys"], **EXACT)
    assert limits("wilson", recalls, t) == pytest.approx(expected["wilson"], **EXACT)


@pytest.mark.parametrize("name", PROPORTIONS)
def test_stored_proportions(name):
    hits, support = (int(text) for text in name.split("/"))
    expected = PROPORTIONS[name]
    recalls = recalls_from([hits], [support])
    assert limits("wilson", recalls, 0.0) == pytest.approx(expected["wilson"], **EXACT)
    assert limits("conservative", recalls, 0.0) == pytest.approx(expected["beta"], **EXACT)
    if 0 < hits < support:
        assert limits("mover", recalls, 0.0) == pytest.approx(expected["jeffreys"], **EXACT)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
@pytest.mark.parametrize(
    ("hits", "support"), [([63, 8], [90, 10]), ([0, 3, 5], [4, 3, 9]), ([7, 7], [7, 7])]
)
def test_accuracy_has_the_intervals_of_scipy_and_statsmodels(hits, support, level):
    recalls, right, n = recalls_from(hits, support), sum(hits), sum(support)
    scipy = stats.binomtest(right, n)
    for method, named in [("wilson", "wilson"), ("conservative", "exact")]:
        expected = list(scipy.proportion_ci(level, named))
        assert limits(method, recalls, 1.0, level) == pytest.approx(expected, **EXACT)
    for method, named in [("wilson", "wilson"), ("conservative", "beta")]:
        expected = list(proportion_confint(right, n, 1 - level, named))
        assert limits(method, recalls, 1.0, level) == pytest.approx(expected, **EXACT)


@given(sizes, st.sampled_from(list(FORMULAS)), exponents)
def test_limits_hold_the_mean_and_mirror_when_right_and_wrong_change_places(classes, method, t):
    hits, misses = np.array(classes).T
    recalls = recalls_from(hits, hits + misses)
    low, high = limits(method, recalls, t)
    assert 0.0 <= low < high <= 1.0
    mean = tempered_mean(recalls.recall, recalls.prevalence, t).item()
    assert low - 1e-12 <= mean + recalls.absent_weight(t).item()
    assert mean <= high + 1e-12
    mirrored = limits(method, recalls_from(misses, hits + misses), t)
    assert mirrored == pytest.approx([1.0 - high, 1.0 - low], abs=1e-9)


@given(sizes, st.sampled_from(list(FORMULAS)), exponents)
def test_a_higher_level_is_wider(classes, method, t):
    hits, misses = np.array(classes).T
    recalls = recalls_from(hits, hits + misses)
    narrow, wide = (limits(method, recalls, t, level) for level in (0.8, 0.99))
    assert wide[0] <= narrow[0] + 1e-12
    assert narrow[1] <= wide[1] + 1e-12


@pytest.mark.parametrize(
    ("hits", "support", "t", "lowest", "highest"),
    [
        ([60, 0], [63, 0], 0.0, 0.0, 1.0),  # half of the weight is unknown
        ([60, 0], [63, 0], -1.0, 0.0, 1.0),  # all of it
        ([0, 0], [0, 0], 0.5, 0.0, 1.0),
        ([3, 0], [3, 0], 1.0, 0.0, 1.0),  # none
    ],
)
@pytest.mark.parametrize("method", FORMULAS)
def test_absent_classes_widen_to_their_bounds(method, hits, support, t, lowest, highest):
    recalls = recalls_from(hits, support)
    absent = recalls.absent_weight(t).item()
    inner = limits(method, recalls_from(hits[:1], support[:1]), t) if hits[0] else [0.0, 1.0]
    expected = [(1 - absent) * inner[0], (1 - absent) * inner[1] + absent]
    assert limits(method, recalls, t) == pytest.approx(expected, abs=1e-12)
    assert lowest <= expected[0] <= expected[1] <= highest


@pytest.mark.parametrize("method", FORMULAS)
def test_no_classes_have_no_limits(method):
    assert np.isnan(limits(method, recalls_from([], []), 0.5)).all()


@pytest.mark.parametrize("rows", [10**6, 10**12, 10**17])
@pytest.mark.parametrize("method", FORMULAS)
def test_limits_of_very_many_rows(method, rows):
    found = limits(method, recalls_from([rows * 9 // 10, rows], [rows, rows]), 0.5)
    assert found == pytest.approx([0.95, 0.95], abs=3.0 / math.sqrt(min(rows, 1e10)))
    low, high = limits(method, recalls_from([rows], [rows]), 0.5)
    assert low <= high == 1.0


@pytest.mark.parametrize("t", [1e3, -1e3, 1e200, -1e200, math.inf, -math.inf])
def test_extreme_exponents_leave_one_class(t):
    recalls = recalls_from([3, 2], [6, 4])
    alone = recalls_from([3], [6]) if t > 0 else recalls_from([2], [4])
    for method in FORMULAS:
        assert limits(method, recalls, t) == pytest.approx(limits(method, alone, t), **EXACT)


def slow_variance(rows, t, own):
    """Sum of squared influences, row by row: group 0 scored, its shares from all or its own rows."""
    counted = [row for row in rows if row[0] == 0] if own else rows
    classes = sorted({row[1] for row in rows})
    share = {k: sum(w for _, c, _, w in counted if c == k) for k in classes}
    total = sum(share.values())
    weight = {k: (share[k] / total) ** t for k in classes}
    weight = {k: value / sum(weight.values()) for k, value in weight.items()}
    support = {k: sum(w for g, c, _, w in rows if g == 0 and c == k) for k in classes}
    recall = {
        k: sum(w for g, c, right, w in rows if g == 0 and c == k and right) / support[k]
        for k in classes
    }
    score = sum(weight[k] * recall[k] for k in classes)
    influences = [
        w * weight[k] * ((g == 0) * (right - recall[k]) / support[k])
        + w * weight[k] * t * (recall[k] - score) / share[k] * (not own or g == 0)
        for g, k, right, w in rows
    ]
    return sum(value**2 for value in influences)


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("t", [-1.0, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("is_weighted", [True, False])
def test_variance_is_the_sum_of_squared_influences(is_weighted, t, own):
    random = np.random.default_rng(3)
    rows = [
        (g, k, int(random.random() < 0.7), float(random.integers(1, 6)) if is_weighted else 1.0)
        for g in range(2)
        for k in range(3)
        for _ in range(9 + 4 * k + g)
    ]
    group, label, right, weight = np.array(rows).T

    def summed(values):
        found = np.zeros((2, 3))
        np.add.at(found, (group.astype(int), label.astype(int)), values)
        return found

    support = summed(weight)
    reference = support if own else support.sum(axis=0, keepdims=True)
    of_support = summed(weight**2)
    squared = (
        summed(right * weight**2),
        of_support,
        of_support if own else of_support.sum(axis=0, keepdims=True),
    )
    recalls = recalls_of(
        summed(right * weight),
        support,
        reference,
        reference=reference,
        squared=squared if is_weighted else None,
    )
    expected = slow_variance(rows, t, own)
    assert moments(recalls, t)[1][0] == pytest.approx(expected, rel=1e-12)


def test_equal_weights_change_nothing_but_the_scale():
    hits, support = np.array([[63.0, 8.0]]), np.array([[90.0, 10.0]])
    plain = recalls_of(hits, support, support, reference=support)
    squared = (9 * hits, 9 * support, 9 * support)
    tripled = recalls_of(3 * hits, 3 * support, support, reference=3 * support, squared=squared)
    for method in ("wilson", "conservative"):
        assert limits(method, tripled, 0.5) == pytest.approx(limits(method, plain, 0.5), **EXACT)


def test_resampling_keeps_rows_and_means():
    hits, support = np.array([[8, 63], [5, 0]]), np.array([[10, 90], [5, 0]])
    chunks = list(resampled(hits, support, n_replicates=4000, generator=5))
    drawn_hits, drawn_support = (np.concatenate(part) for part in zip(*chunks, strict=True))
    assert drawn_hits.shape == drawn_support.shape == (4000, 2, 2)
    assert (drawn_support.sum(axis=2) == support.sum(axis=1)).all()
    assert (drawn_hits <= drawn_support).all()
    assert drawn_hits.mean(axis=0) == pytest.approx(hits, abs=0.4)
    assert drawn_support.std(axis=0) == pytest.approx(np.array([[3, 3], [0, 0]]), abs=0.1)


def test_resampling_from_counts_is_resampling_of_rows():
    label, right = (
        np.repeat([0, 0, 1, 1], [56, 24, 13, 7]),
        np.repeat([1, 0, 1, 0], [56, 24, 13, 7]),
    )
    random = np.random.default_rng(11)
    drawn = random.integers(0, 100, (10_000, 100))
    of_rows = np.zeros((10_000, 2, 2))
    np.add.at(of_rows, (np.arange(10_000)[:, None], label[drawn], right[drawn]), 1)
    support, hits = of_rows.sum(axis=2), of_rows[:, :, 1]
    expected = tempered_mean(hits / support, support, 0.5)
    shares = np.array([[80.0, 20.0]])
    chunks = replicated_means(
        np.array([[56.0, 13.0]]), shares, shares, [0.5], 10_000, random, was_counted=True
    )
    found = np.concatenate(list(chunks))[:, 0, 0]
    assert stats.ks_2samp(found, expected).statistic < 0.025  # exceeded in 4 of 1,000 draws
    assert found.std() == pytest.approx(
        standard_error(recalls_from([56, 13], [80, 20]), 0.5), rel=0.05
    )


def test_memory_bounds_the_chunks_and_not_the_result(monkeypatch):
    cells = np.array([[3, 4, 5], [0, 0, 0]])
    whole = list(resampled_cells(cells, n_replicates=50, generator=1))
    monkeypatch.setattr(intervals, "_CELLS_AT_A_TIME", 20)
    parts = list(resampled_cells(cells, n_replicates=50, generator=1))
    assert [len(part) for part in parts] == [3] * 16 + [2]
    assert np.concatenate(parts).tolist() == np.concatenate(whole).tolist()


@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0, 0)])
def test_resampling_nothing(shape):
    (chunk,) = resampled_cells(np.zeros(shape, dtype=np.int64), n_replicates=3)
    assert chunk.shape == (3, *shape)


@pytest.mark.parametrize(
    ("values", "low", "high", "deviation", "undefined"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], 1.0, 5.0, math.sqrt(2.5), 0),
        ([1.0, math.nan, 3.0], 1.0, 3.0, math.sqrt(2.0), 1),
        ([math.nan, math.nan], math.nan, math.nan, math.nan, 2),
        ([1.0, math.inf, math.inf], 1.0, math.inf, math.nan, 0),
        (list(range(101)), 2.0, 98.0, math.sqrt(101 * 102 / 12), 0),
    ],
)
def test_percentiles(values, low, high, deviation, undefined):
    found = [part.item() for part in percentiles(np.array(values)[:, None], 0.95)]
    assert found == pytest.approx([low, high, deviation, undefined], nan_ok=True)


@pytest.mark.parametrize(
    ("check", "value", "error", "text"),
    [
        (
            check_level,
            95,
            InputError,
            "`level` must be a number between 0 and 1, such as 0.95; got 95.",
        ),
        (
            check_level,
            "high",
            InputError,
            "`level` must be a number between 0 and 1, such as 0.95; got 'high'.",
        ),
        (
            check_replicates,
            0,
            InputError,
            "`n_replicates` must be a whole number of draws, 1 to 1,000,000; got 0.",
        ),
        (
            generator_of,
            "seed",
            KindError,
            (
                "`generator` must be a numpy Generator or a seed, as in numpy.random.default_rng(0); "
                "got 'seed'."
            ),
        ),
    ],
)
def test_errors(check, value, error, text):
    with pytest.raises(error) as caught:
        check(value)
    assert str(caught.value) == text


def test_seeds_and_generators():
    assert generator_of(3).integers(1000) == np.random.default_rng(3).integers(1000)
    generator = np.random.default_rng(1)
    assert generator_of(generator) is generator
