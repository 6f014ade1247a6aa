"""Draws of equal groups, exact p-values of pairs, and limits of extremes, against slow or outside witnesses."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import pandas_tba as tba
from pandas_tba.inference.permutations import (
    Contrasts,
    drawn_hits,
    n_draws,
    permutation_p_values,
    seed_of,
)
from pandas_tba.inference.pvalues import equality_mid_p
from pandas_tba.inference.recall_means import measure_of
from pandas_tba.inference.spreads import spread_limits
from pandas_tba.scoring.metrics import find_metrics

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "golden" / "golden-influence.json").read_text("utf-8")
)
HITS = np.array([[18.0, 2.0], [15.0, 1.0], [20.0, 2.0], [12.0, 0.0]])
SUPPORT = np.array([[20.0, 2.0], [20.0, 3.0], [22.0, 2.0], [18.0, 1.0]])
WEIGHTS = np.array([0.75, 0.25])


def contrasts(hits=HITS, support=SUPPORT, weights=WEIGHTS):
    rest = support.sum(axis=0) - support
    return Contrasts(hits, support, (weights * support.sum(axis=0) / support / rest)[:, None])


def sizes_of(found):
    return np.concatenate(list(found), axis=2)


@pytest.mark.parametrize("n_groups", [4, 400], ids=["by their distribution", "row by row"])
def test_draws_have_the_totals_and_the_variance(n_groups):
    support = np.resize(SUPPORT, (n_groups, 2)) * (50 if n_groups == 4 else 1)
    hits = np.floor(support * 0.8)
    drawn = sizes_of(drawn_hits(hits, support, 1000, 0))
    assert drawn.shape == (2, n_groups, 1000)
    assert (drawn.sum(axis=1) == hits.sum(axis=0)[:, None]).all()
    assert (drawn <= support.T[:, :, None]).all()
    for k in range(2):
        total, right, own = (int(x) for x in (support[:, k].sum(), hits[:, k].sum(), support[0, k]))
        law = stats.hypergeom(total, right, own)
        assert drawn[k, 0].mean() == pytest.approx(law.mean(), abs=4 * law.std() / 1000**0.5)
        assert drawn[k, 0].std() == pytest.approx(law.std(), rel=0.1)


def test_distances_are_standard_deviations_under_equality():
    hits, support, weights, expected = (
        np.array((GOLDEN["inputs"] | GOLDEN["values"])[name])
        for name in (
            "z of 4 groups: hits[group][class]",
            "z of 4 groups: rows[group][class]",
            "z of 4 groups: common weights",
            "z of 4 groups against the rest, w=(.75,.25)",
        )
    )
    part = contrasts(hits.astype(float), support.astype(float), weights)
    found = part.distances(hits.T[:, :, None])[0]
    assert found == pytest.approx(np.abs(expected), rel=1e-10)


def test_p_values_by_an_obvious_loop():
    part = contrasts()
    found, adjusted = permutation_p_values([part], 500, 3)
    drawn = sizes_of(drawn_hits(HITS, SUPPORT, 500, 3))
    seen = part.distances(HITS.T[:, :, None])[0]
    others = part.distances(drawn)
    order = np.argsort(-seen)
    last = 0.0
    for place, row in enumerate(order):
        above = (others[:, row] > seen[row] + 1e-9).sum()
        ties = (np.abs(others[:, row] - seen[row]) <= 1e-9).sum()
        assert found[row] == pytest.approx((above + (ties + 1) / 2) / 501)
        largest = others[:, order[place:]].max(axis=1)
        last = max(last, ((largest >= seen[row] - 1e-9).sum() + 1) / 501)
        assert adjusted[row] == pytest.approx(max(last, found[row]))


def test_nothing_that_can_vary_has_a_p_value_of_one():
    every = contrasts(hits=SUPPORT)
    assert [part.tolist() for part in permutation_p_values([every], 20, 0)] == [[1.0] * 4] * 2


def test_rows_that_are_not_compared_stay_out():
    part = contrasts()
    part.coefficients[1] = np.nan
    found, adjusted = permutation_p_values([part], 200, 0)
    assert np.isnan([found[1], adjusted[1]]).all()
    assert np.isfinite(np.delete(adjusted, 1)).all()


def test_parts_have_the_p_values_they_have_alone():
    alone = permutation_p_values([contrasts()], 300, 0)
    both = permutation_p_values([contrasts(), contrasts()], 300, 0)
    assert both[0].tolist() == [*alone[0], *alone[0]]
    assert (both[1][:4] >= alone[1]).all()  # as of eight tests, not of the same four
    assert both[1].max() > alone[1].min()


@pytest.mark.parametrize(
    ("asked", "n_cells", "expected"),
    [(None, 10, 2000), (None, 100_000, 400), (None, 10**9, 200), (70, 10**9, 70)],
)
def test_number_of_draws(asked, n_cells, expected):
    assert n_draws(asked, n_cells) == expected


def test_seeds():
    assert [seed_of(None), seed_of(7), seed_of(np.int64(7))] == [0, 7, 7]
    assert seed_of(np.random.default_rng(1)) == seed_of(np.random.default_rng(1))
    with pytest.raises(tba.KindError, match="`generator` must be a numpy Generator or a seed"):
        seed_of("seven")


@pytest.mark.parametrize("hits", range(11))
def test_mid_p_of_one_class_is_that_of_fisher(hits):
    # ten rows of a group and thirty others, 25 hits in all
    law = stats.hypergeom(40, 25, 10)
    values = np.arange(11)
    distance = np.abs(values - law.mean())
    seen = abs(hits - law.mean())
    expected = (
        law.pmf(values[distance > seen + 1e-9]).sum()
        + law.pmf(values[np.abs(distance - seen) < 1e-9]).sum() / 2
    )
    held = (np.array([x]) for x in (0.1, float(hits), 10.0, 25.0, 40.0))
    assert equality_mid_p(*held) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 8])
def test_mid_p_of_several_classes_by_draws(n_classes):
    random = np.random.default_rng(n_classes)
    rows = random.integers(5, 40, n_classes).astype(float)
    all_rows = rows + random.integers(50, 400, n_classes)
    all_hits = np.floor(all_rows * random.uniform(0.6, 0.95, n_classes))
    factor = random.uniform(0.5, 1, n_classes) / rows
    expected = rows * all_hits / all_rows
    drawn = random.hypergeometric(
        all_hits.astype(int),
        (all_rows - all_hits).astype(int),
        rows.astype(int),
        (40_000, n_classes),
    )
    values = np.abs(((drawn - expected) * factor).sum(axis=1))
    for hits in drawn[:3].astype(float):
        value = abs(float(((hits - expected) * factor).sum()))
        share = ((values > value + 1e-9).mean() + (values > value - 1e-9).mean()) / 2
        found = equality_mid_p(factor, hits, rows, all_hits, all_rows)
        assert found == pytest.approx(share, abs=0.012)


def test_mid_p_of_what_cannot_vary():
    full = np.array([5.0, 5.0])
    assert equality_mid_p(np.ones(2), full, full, full * 2, full * 2) == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_limits_of_a_gap_are_those_of_all_pairs(seed):
    random = np.random.default_rng(seed)
    n = random.integers(6, 200, 12)
    cells = [
        [[1, 0], [rows - hits, hits]] for rows, hits in zip(n, random.binomial(n, 0.8), strict=True)
    ]
    counts = tba.ConfusionCounts.from_matrix(cells, groups=pd.Index(range(12)), pos_label=1)
    measure = measure_of(counts, find_metrics("recall")[0], "pooled", [0.5])
    found = spread_limits(measure, np.arange(12), 0.0, 0.95)
    quantile = stats.studentized_range.ppf(0.975, 12, 1e7) / math.sqrt(2)
    exact = 2 * stats.norm.cdf(quantile) - 1
    x = measure.sums.hits[:, 0] / n
    one, every = (
        np.array(
            [
                stats.binomtest(round(s * m), m).proportion_ci(level, method)
                for s, m in zip(x, n, strict=True)
            ]
        )
        for level, method in ((0.95, "wilson"), (exact, "exact"))
    )
    pairs = [(i, j) for i in range(12) for j in range(12) if i != j]
    high = max(x[i] - x[j] + math.hypot(one[i, 1] - x[i], x[j] - one[j, 0]) for i, j in pairs)
    low = max(x[i] - x[j] - math.hypot(x[i] - every[i, 0], every[j, 1] - x[j]) for i, j in pairs)
    assert found[:2] == pytest.approx([max(low, 0), min(high, 1)], abs=1e-6)

    # at a limit of the ratio, first less limit times second has the limit 0
    def below(limit):
        return min(
            x[i] - limit * x[j] - math.hypot(x[i] - one[i, 0], limit * (one[j, 1] - x[j]))
            for i, j in pairs
        )

    def above(limit):
        return min(
            x[i] - limit * x[j] + math.hypot(every[i, 1] - x[i], limit * (x[j] - every[j, 0]))
            for i, j in pairs
        )

    assert below(found.ratio_low) == pytest.approx(0, abs=1e-6)
    assert found.ratio_high == 1 or above(found.ratio_high) == pytest.approx(0, abs=1e-5)
