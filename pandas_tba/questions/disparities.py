"""Groups against each other: differences from a reference, and the gap between them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError, listed, nearest, shown
from pandas_tba.inference.contrasts import Difference, common_difference, own_difference
from pandas_tba.inference.group_tests import (
    Adjustment,
    GroupTests,
    draw_from_rest,
    p_values_of,
    pairwise_p_values,
)
from pandas_tba.inference.intervals import check_level
from pandas_tba.inference.permutations import (
    check_draws,
    drawn_hits,
    n_draws,
    seed_of,
)
from pandas_tba.inference.pvalues import check_adjust
from pandas_tba.inference.recall_means import (
    Measure,
    Sums,
    check_min_support,
    comparable_metrics,
    group_names,
    measure_of,
    models_of,
    undefined_groups,
)
from pandas_tba.inference.spreads import spread_limits, spread_of
from pandas_tba.questions.intervals import with_axes
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.results import (
    Exponent,
    Prevalence,
    check_names,
    described,
    exponents_of,
    of_classes,
    size_names,
    sizes,
)
from pandas_tba.scoring.tempering import class_weights, ratio, tempered_mean

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

_KEYWORDS = ("pooled", "largest", "rest")
_DISPARITY = ("score", "difference", "low", "high", "ratio", "p_value", "p_adjusted",
              "own_difference", "rate_part", "mix_part", "reason")  # fmt: skip
_GAP = ("gap", "low", "high", "gap_corrected", "expected_if_equal", "p_value", "best", "worst",
        "ratio", "ratio_low", "ratio_high", "bound_low", "bound_high", "n_groups", "n_undetermined",
        "left_out", "reason")  # fmt: skip
_NOISE = 1e-9  # gaps this close are equal but for rounding


def disparity(
    counts: ConfusionCounts,
    *,
    t: Exponent = 0.5,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    reference: Hashable = "pooled",
    prevalence: Prevalence = "pooled",
    min_support: int = 0,
    level: float = 0.95,
    adjust: Adjustment = "max_t",
    n_replicates: int | None = None,
    generator: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Differences of each group from a reference, with limits and p-values.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows by groups, as `count` gives them.
    t : float, or list of float, default 0.5
        Exponent of tba, as in `score`. A list adds the last level ``t`` to the index.
    metrics : name, Metric, or list of these, optional
        tba by default. Means of recall (tba, accuracy, balanced_accuracy, recall_macro) and shares
        of the positive class: recall for equal opportunity, recall and fpr for equalised odds,
        selection_rate for demographic parity. A list adds the level ``metric``.
    reference : {"pooled", "largest", "rest"} or a group, default "pooled"
        All groups together, the group with most rows, all other groups, or one group by its key.
    prevalence : {"pooled", "own"}, mapping or Series, default "pooled"
        Whose class shares give the weights of tba. With ``"own"`` a difference mixes error rates
        with the mix of classes.
    min_support : int, default 0
        Groups with fewer rows of a class are not compared; their rows stay in the reference.
    level : float, default 0.95
        Confidence level of low and high, for each row by itself.
    adjust : {"max_t", "holm", "fdr_bh", None}, default "max_t"
        How p_adjusted allows for the number of tests: step-down max-T (Westfall and Young) and Holm
        bound the probability of any false one, fdr_bh (Benjamini and Hochberg) the share of false
        ones among those called; None leaves them as they are. Holm takes the place of max-T where
        nothing can be drawn, see below; ``attrs["tba"]["adjust"]`` has the one that was used.
    n_replicates : int, optional
        Draws of equal groups: by default 2,000, fewer (200 at least) of more than 20,000 counts.
    generator : numpy Generator or int, optional
        Source of the draws, or a seed. Without one all questions share a seed, so that one
        question has one answer.

    Returns
    -------
    DataFrame
        Columns n, min_support, n_absent; score; difference (score less that of the reference) and
        its limits low and high; ratio (score over that of the reference); p_value, p_adjusted for
        all tests of the table; own_difference (the difference under each side's own class
        shares), which is the sum of rate_part (recalls differ) and mix_part (class shares differ);
        reason (why a value is NaN, else empty). Weighted counts have a column weight.

    Raises
    ------
    InputError
        If the counts have no groups, the reference is none of them, or an argument has a value
        that cannot be used.

    Notes
    -----
    The limits join the Wilson limits of both sides at their effective rows. Rows count as
    independent.

    The p-value is the test; near 0.05 limits and p-value may disagree. It tests that each class has
    one recall in all groups (for shares such as precision: that all have the same share of their own
    denominators), by draws in which the hits of each class are shared out by lot among its rows, the
    totals being given: the mid-p of a difference as large, never below 1 / (2 (n_replicates + 1)).
    p_adjusted of max-T is the probability that any difference of the table, in standard errors, is
    as large, those that are larger left out step by step; never below 1 / (n_replicates + 1).
    Groups of one model are drawn together; models and metrics are taken as independent, which is
    the careful side. Against one group (or ``"largest"``) nothing is drawn: each group has the exact
    mid-p among its rows and those of the reference, and p_adjusted is Holm's.

    Weighted rows, and tba under own weights (but for t = 0 and 1), cannot be drawn. There p_value is
    one less the level at which the limits exclude 0, and p_adjusted by Holm is made from the wider
    Clopper-Pearson limits. That is an approximation, and too bold for groups that have less than
    five rows of a class.

    Under common class weights w_k the difference is D = sum w_k d_k, where d_k is the recall of
    the group less that of the reference. Each side is a share of n_eff rows as in `interval`, with
    Wilson limits around its own mean; n_eff takes the weights as given. That they were counted, on
    N rows and with shares p_k, is a term that both sides have in common: M = (t^2 / N)
    sum w_k^2 / p_k (d_k - D)^2, 0 for given shares and an infinite t. low is D less
    sqrt(a^2 + b^2 + z^2 M), where a is the distance from the group's mean to its lower limit and b
    that from the reference's mean to its upper one; high has the other two distances.

    All groups together hold the group itself, so with ``reference="pooled"`` it is compared with
    the rest class by class: d_k = (n_rest,k / n_k) (r_k - r_rest,k), n_k being the rows of all.
    Each side then is the mean of its recalls under the weights w_k n_rest,k / n_k, made to add up
    to 1, and both distances are multiplied by the sum of these weights.

    With ``prevalence="own"`` each side has its own weights, its n_eff says that they were counted,
    and M is 0. Against ``"pooled"`` the distances of the group and of the rest are multiplied by
    the part of their standard errors that is left where the pooled score is subtracted.

    rate_part is the sum over classes of the mean of both weights times the difference of the
    recalls, and mix_part that of the mean of both recalls times the difference of the weights
    (Kitagawa). Here the weights are those of each side's own class shares, and the reference is
    all groups with ``"pooled"``.

    References
    ----------
    Newcombe 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I (limits);
    Westfall and Young 1993, ISBN 0-471-55761-7 (max-T);
    Kitagawa 1955, doi:10.1080/01621459.1955.10501299 (parts).

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.count(tba.load_income(), y_pred="forest", by="sex")
    >>> tba.disparity(counts, t=0, reference="rest")[["score", "difference"]].round(3)
            score  difference
    sex
    Female  0.752      -0.007
    Male    0.758       0.007
    """
    exponents, is_list = exponents_of(t)
    chosen, is_several = comparable_metrics(counts, metrics)
    level = check_level(level)
    check_adjust(adjust)
    check_draws(n_replicates)
    at = _reference(counts, reference)
    check_min_support(min_support)
    names = [*size_names(counts), *_DISPARITY]
    check_names(counts, (*names, *["metric"] * is_several, *["t"] * is_list))
    start = sizes(counts, of_classes(counts, counts.support))
    columns = {
        name: np.repeat(column, len(chosen) * len(exponents)) for name, column in start.items()
    }
    parts, tests = [], []
    for metric in chosen:
        measure = measure_of(counts, metric, prevalence, exponents)
        sides = _sides(counts, measure, at, min_support, is_whole=reference == "pooled")
        found = [_difference_from(sides, value) for value in measure.exponents]
        parts.append([_compare_groups(counts, sides, one, value, level)
                      for one, value in zip(found, measure.exponents, strict=True)])  # fmt: skip
        tests.append(_tests(counts, sides, found, at))
    shape = (len(counts), len(exponents))
    for name in parts[0][0]:
        by_metric = [np.stack([found[name] for found in part], axis=1) for part in parts]
        columns[name] = _in_rows(by_metric, shape)
    tested = p_values_of(tests, adjust, n_replicates, seed_of(generator))
    columns["p_value"] = _in_rows(tested.p_values, shape)
    columns["p_adjusted"] = _in_rows(tested.adjusted, shape)
    columns["reason"] = pd.Series(columns["reason"], dtype="str").array
    axes = _axes(chosen, exponents, is_several=is_several, is_list=is_list)
    table = pd.DataFrame({name: columns[name] for name in names}, index=with_axes(counts, axes))
    described(table, counts, t, prevalence).attrs["tba"] |= {
        "level": level,
        "reference": str(reference),
        "adjust": str(tested.adjust),
    }
    return table


def _in_rows(by_metric: list[npt.NDArray[Any]], shape: tuple[int, int]) -> npt.NDArray[Any]:
    """Values (G, T) of each metric, in the order of the rows of the table."""
    return np.stack([np.broadcast_to(held, shape) for held in by_metric], axis=1).reshape(-1)


def _tests(
    counts: ConfusionCounts, sides: _Sides, differences: list[Difference], at: Codes | None
) -> GroupTests:
    """What the p-values of one metric are made from."""
    is_asked = ~(sides.left_out | sides.is_reference)
    known = [is_asked & ~np.isnan(found.estimate) for found in differences]
    compared, equal = np.stack(known, axis=1), sides.measure.under_equality()
    if at is not None:
        return GroupTests(differences, compared, pairwise_p_values(equal, compared, at), [])
    drawn = draw_from_rest(equal, compared, models_of(counts), is_whole=sides.is_whole)
    return GroupTests(differences, compared, np.full(compared.shape, np.nan), drawn)


def _axes(
    chosen: list[Metric], exponents: list[float], *, is_several: bool, is_list: bool
) -> list[pd.Index]:
    """Levels that come after the groups."""
    axes: list[Any] = []
    if is_several:
        axes.append(pd.Index([metric.name for metric in chosen], name="metric"))
    if is_list:
        axes.append(pd.Index(exponents, name="t", dtype=np.float64))
    return axes


def _reference(counts: ConfusionCounts, reference: Hashable) -> Codes | None:
    """The group (G,) that each group is compared with, -1 where there is none; None for many."""
    if isinstance(reference, str) and reference in ("pooled", "rest"):
        return None
    if not isinstance(reference, Hashable):
        raise InputError(f"`reference` must be one group; got {shown(reference)}.")
    place, n_models = models_of(counts)
    found = np.full(n_models, -1, dtype=np.intp)
    if isinstance(reference, str) and reference == "largest":
        ascending = np.lexsort((-np.arange(len(counts)), counts.rows))  # of equal ones the first
        for group in ascending.tolist():
            found[place[group]] = group
        return found[place]
    names = group_names(counts, range(len(counts)))
    is_missing = reference is None or reference is pd.NA or reference != reference
    for group, name in enumerate(names):
        is_same = isinstance(name, tuple) == isinstance(reference, tuple) and name == reference
        if is_same or (is_missing and name != name):
            found[place[group]] = group
    if (found < 0).all():
        raise InputError(
            f"`reference` must be one of {listed(_KEYWORDS)}, or a group; got {shown(reference)}."
            f"{nearest(reference, [*_KEYWORDS, *names])} Groups: {listed(dict.fromkeys(names))}."
        )
    return found[place]


class _Sides(NamedTuple):
    """A measure of groups, the reference, and the rows outside the group that inform about it."""

    measure: Measure
    reference: Sums
    others: Sums
    is_reference: BoolArray
    left_out: BoolArray
    is_whole: bool


def _sides(
    counts: ConfusionCounts, measure: Measure, at: Codes | None, min_support: int, *, is_whole: bool
) -> _Sides:
    """Each group and what it is compared with."""
    is_reference = np.zeros(len(counts), dtype=np.bool_)
    if at is None:
        place, n_models = models_of(counts)
        total = measure.sums.totals(place, n_models).at(place)
        others = total.without(measure.sums)
        reference = total if is_whole else others
    else:
        reference = others = measure.sums.at(at)
        is_reference[at[at >= 0]] = True
    left_out = measure.is_small(min_support) & ~is_reference
    return _Sides(measure, reference, others, is_reference, left_out, is_whole)


def _compare_groups(
    counts: ConfusionCounts, sides: _Sides, found: Difference, t: float, level: float
) -> dict[str, npt.NDArray[Any]]:
    """Columns of one metric at one t, each (G,)."""
    measure, reference, _, is_reference, left_out, _ = sides
    low, high = found.limits(level)
    score, of_reference = measure.score(measure.sums, t), measure.score(reference, t)
    own = [tempered_mean(side.recall(), side.support, t) for side in (measure.sums, reference)]
    rate, mix = _parts(measure.sums, reference, t)
    columns = {
        "difference": found.estimate,
        "low": np.where(is_reference, found.estimate, low),
        "high": np.where(is_reference, found.estimate, high),
        "ratio": ratio(score, of_reference),
        "own_difference": own[0] - own[1],
        "rate_part": rate,
        "mix_part": mix,
    }
    reasons = _reasons_of_groups(counts, measure, columns, score, of_reference)
    reasons[left_out] = "fewer rows than min_support"
    reasons[is_reference & (reasons == "")] = "the reference"
    columns = {name: np.where(left_out, np.nan, column) for name, column in columns.items()}
    return {"score": score, **columns, "reason": reasons}


def _difference_from(sides: _Sides, t: float) -> Difference:
    """Difference from the reference, by way of other rows than the group's own."""
    measure, reference, others = sides.measure, sides.reference, sides.others
    sums, overlaps = measure.sums, others is not reference
    if measure.prevalence is None:
        return own_difference(sums, others, t, from_both=overlaps)
    kept = None
    if overlaps:  # a class without any row keeps all, so that it stays undefined
        kept = np.where(reference.support > 0, ratio(others.support, reference.support), 1.0)
    return common_difference(
        sums, others, measure.prevalence, t, kept=kept, counted_on=measure.counted_on
    )


def _parts(first: Sums, second: Sums, t: float) -> tuple[FloatArray, FloatArray]:
    """Parts of a difference under own class shares: recalls differ, and class shares differ."""
    weights, others = (class_weights(side.support, t=t) for side in (first, second))
    recall, other = first.recall(), second.recall()
    matters = (weights > 0) | (others > 0)
    rate = np.where(matters, (weights + others) / 2 * (recall - other), 0.0).sum(axis=1)
    mix = np.where(matters, (weights - others) * (recall + other) / 2, 0.0).sum(axis=1)
    nothing = np.isnan(rate) | np.isnan(mix) | ~matters.any(axis=1)
    return np.where(nothing, np.nan, rate), np.where(nothing, np.nan, mix)


def _reasons_of_groups(
    counts: ConfusionCounts,
    measure: Measure,
    columns: dict[str, FloatArray],
    score: FloatArray,
    other: FloatArray,
) -> npt.NDArray[Any]:
    """Why differences or ratios are NaN."""
    reasons = np.full(len(counts), "", dtype=object)
    for group in np.flatnonzero(np.isnan(columns["rate_part"])).tolist():
        reasons[group] = f"{measure.reason(counts, group)}, so the own difference has no parts"
    reasons[np.isnan(columns["ratio"])] = "both scores are 0"
    reasons[np.isnan(columns["difference"])] = "the other rows lack a class"
    reasons[np.isnan(other)] = "the reference has no value"
    for group in np.flatnonzero(np.isnan(score)).tolist():
        reasons[group] = measure.reason(counts, group)
    return reasons


def gap(
    counts: ConfusionCounts,
    *,
    t: Exponent = 0.5,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    prevalence: Prevalence = "pooled",
    min_support: int = 0,
    level: float = 0.95,
    n_replicates: int | None = None,
    generator: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Distance between the best and the worst group, and what chance alone would give.

    Parameters
    ----------
    counts, t, metrics, prevalence
        As in `disparity`.
    min_support : int, default 0
        Groups with fewer rows of a class are left out, and named.
    level : float, default 0.95
        Confidence level of the limits.
    n_replicates, generator
        As in `disparity`.

    Returns
    -------
    DataFrame
        A row for all groups, or for each model, metric and t: gap and its confidence limits low
        and high; gap_corrected, an estimate less what chance adds; expected_if_equal (mean gap of
        groups of these sizes that have equal recalls), p_value (probability of a gap as large among
        such groups); best, worst (groups); ratio (least score over the greatest) and its limits
        ratio_low and ratio_high; bound_low and bound_high, what the gap can be at least and at most
        whatever the recall of absent classes; n_groups, n_undetermined (groups whose score is
        undefined: then gap and ratio are NaN, and all limits allow for any recall of the absent
        classes); left_out (groups with little support); reason (why a value is NaN, else empty).

    Raises
    ------
    InputError
        As in `disparity`.

    Notes
    -----
    Even equal groups show a gap, which grows with their number and shrinks with their size:
    compare it with expected_if_equal. The draws are those of `disparity`. p_value is (k + 1) / (n_replicates + 1),
    where k draws have a gap as large, so it is never below 1 / (n_replicates + 1). With 2,000
    draws expected_if_equal is good to about two digits. Weighted rows cannot be drawn, and neither
    can equal groups under own weights, but for t = 0 and 1.

    gap_corrected is the root of gap**2 - expected_if_equal**2, 0 where that is negative. Part of
    the bias stays where groups are equal; with two groups, or a single small one that deviates, it
    corrects too much.

    The limits are those of all pairs of groups: high is the greatest upper limit of a difference, at
    the plain level since the pair that lies furthest apart is one of them; low is the greatest lower
    limit, all pairs together having the level (Clopper-Pearson limits at Tukey's quantile). They are
    careful, and wide with many groups. The ratio has the same limits of quotients. The
    class weights are taken as given.

    References
    ----------
    Zou and Donner 2008, doi:10.1002/sim.3095 (limits); Donner and Zou 2012,
    doi:10.1177/0962280210383082 (ratio).

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.count(tba.load_income(), y_pred="forest", by="sex")
    >>> tba.gap(counts, t=0)[["gap", "best", "worst", "expected_if_equal"]].round(2)
        gap  best   worst  expected_if_equal
    0  0.01  Male  Female               0.02
    """
    exponents, is_list = exponents_of(t)
    chosen, is_several = comparable_metrics(counts, metrics)
    check_min_support(min_support)
    level = check_level(level)
    check_draws(n_replicates)
    seed = seed_of(generator)
    place, n_models = models_of(counts)
    measures = [measure_of(counts, metric, prevalence, exponents) for metric in chosen]
    rows = []
    for model in range(n_models):
        for measure in measures:
            among, left_out = measure.parted(place == model, min_support)
            drawn = _drawn_gaps(measure.at(among), n_replicates, seed)
            found = [
                _gap_row(counts, measure, among, left_out, value, level, drawn.get(at))
                for at, value in enumerate(measure.exponents)
            ]
            rows += found * (1 if len(found) == len(exponents) else len(exponents))
    pooled = counts.pooled()
    axes = _axes(chosen, exponents, is_several=is_several, is_list=is_list)
    table = pd.DataFrame(_gap_columns(rows)).set_axis(with_axes(pooled, axes))
    described(table, counts, t, prevalence).attrs["tba"] |= {"level": level}
    return table


def _gap_row(
    counts: ConfusionCounts,
    measure: Measure,
    among: Codes,
    left_out: Codes,
    t: float,
    level: float,
    drawn: FloatArray | None,
) -> tuple[Any, ...]:
    """Values of the columns of `gap` for one metric at one t."""
    spread, limits = spread_of(measure, among, t), spread_limits(measure, among, t, level)
    expected = p_value = corrected = math.nan
    reason = ""
    if len(among) < 2:
        reason = "fewer than two groups"
    elif spread.n_undetermined:
        reason = undefined_groups(counts, measure, among, t)
    elif drawn is None:
        reason = _no_draws(measure)
    else:
        expected = float(drawn.mean())
        corrected = math.sqrt(max(0.0, spread.gap**2 - expected**2))
        p_value = float(((drawn >= spread.gap - _NOISE).sum() + 1) / (len(drawn) + 1))
    best, worst = group_names(counts, (spread.best, spread.worst))
    return (spread.gap, limits.low, limits.high, corrected, expected, p_value, best, worst,
            spread.ratio, limits.ratio_low, limits.ratio_high, spread.bound_low, spread.bound_high,
            len(among), spread.n_undetermined, listed(group_names(counts, left_out)),
            reason)  # fmt: skip


def _no_draws(measure: Measure) -> str:
    """Why equal groups cannot be drawn."""
    if measure.sums.squared is not None:
        return "weighted rows cannot be drawn"
    if measure.prevalence is None:
        return "own weights differ, so groups of equal recalls have unequal scores"
    return "a class has a billion rows or more, too many to draw"


def _drawn_gaps(measure: Measure, n_replicates: int | None, seed: int) -> dict[int, FloatArray]:
    """Gaps of equal groups of these sizes, by the place of the exponent where they can be drawn."""
    found: dict[int, FloatArray] = {}
    for means in measure.under_equality():
        hits, support = means.sums.parts()
        if len(support) < 2:
            continue
        size = n_draws(n_replicates, hits.size)
        per_row = [weights / np.maximum(support, 1.0) for weights in means.weights]
        gaps: list[list[FloatArray]] = [[] for _ in per_row]
        for drawn in drawn_hits(hits, support, size, seed):
            for held, factor in zip(gaps, per_row, strict=True):
                held.append(np.ptp(np.einsum("kgb,gk->gb", drawn, factor), axis=0))
        found |= {at: np.concatenate(held) for at, held in zip(means.places, gaps, strict=True)}
    return found


def _gap_columns(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Columns of `gap` from its rows."""
    kinds: dict[str, Any] = {"best": object, "worst": object, "left_out": "str", "reason": "str"}
    kinds |= {"n_groups": np.int64, "n_undetermined": np.int64}
    columns = {}
    for at, name in enumerate(_GAP):
        held = np.empty(len(rows), dtype=object)
        held[:] = [row[at] for row in rows]  # a group may be a tuple
        columns[name] = pd.Series(held, dtype=kinds.get(name, np.float64))
    return columns
