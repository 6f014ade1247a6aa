"""How far groups lie apart: the gap between the extremes, their ratio, and limits of both.

The extremes are chosen by the data, so their own limits do not hold. What bounds every pair does: the
truly extreme pair is one of them, so the greatest upper limit holds without an adjustment, and the
greatest lower limit where the limits of all pairs hold together. Arrays in, arrays out.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.inference.contrasts import Proportion, recalls_under
from pandas_tba.inference.influence import clopper_pearson_at
from pandas_tba.inference.recall_means import Measure
from pandas_tba.scoring.tempering import ratio

FloatArray = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


class Spread(NamedTuple):
    """How far groups of one model lie apart: what is known, and what the data allow."""

    gap: float
    bound_low: float
    bound_high: float
    best: int
    worst: int
    ratio: float
    n_undetermined: int


class SpreadLimits(NamedTuple):
    """Confidence limits of the gap and of the least score over the greatest."""

    low: float
    high: float
    ratio_low: float
    ratio_high: float


def spread_of(measure: Measure, groups: Codes, t: float) -> Spread:
    """The spread of some groups; without two of them there is none."""
    score = measure.score(measure.sums, t)[groups]
    low, high = (bound[groups] for bound in measure.bounds(t))
    known = np.flatnonzero(~np.isnan(score))
    n_undetermined = len(groups) - len(known)
    if len(groups) < 2:
        return Spread(math.nan, math.nan, math.nan, -1, -1, math.nan, n_undetermined)
    top, bottom = np.argsort(-high)[:2], np.argsort(low)[:2]
    widest = max(high[i] - low[j] for i in top for j in bottom if i != j)
    is_known = n_undetermined == 0
    ends = [-1, -1]  # a group whose value is not known may be the best, or the worst
    if is_known:
        ends = [groups[known[score[known].argmax()]], groups[known[score[known].argmin()]]]
    best, worst = ends[::-1] if measure.metric.greater_is_better is False else ends
    return Spread(
        float(score.max() - score.min()) if is_known else math.nan,
        max(0.0, float(low.max() - high.min())),
        max(0.0, float(widest)),
        int(best),
        int(worst),
        float(ratio(score.min(), score.max())) if is_known else math.nan,
        n_undetermined,
    )


class _Scores(NamedTuple):
    """Least and greatest value of each group, and how far limits lie below and above them, (G,) each."""

    least: FloatArray
    most: FloatArray
    below: FloatArray
    above: FloatArray


def spread_limits(measure: Measure, groups: Codes, t: float, level: float) -> SpreadLimits:
    """Limits of the spread of some groups, whatever the recall of absent classes is.

    The class weights are taken as given, or as each group's own. Gap: Zou and Donner 2008,
    doi:10.1002/sim.3095; ratio: Donner and Zou 2012, doi:10.1177/0962280210383082; all pairs together:
    Tukey's range of normal values in place of the normal quantile.
    """
    if len(groups) < 2:
        return SpreadLimits(*[math.nan] * 4)
    tail = (1.0 - level) / 2.0
    one = _pair_scores(measure, groups, t, tail, is_exact=False)
    every = _pair_scores(measure, groups, t, _tail_of_range(len(groups), tail), is_exact=True)
    outer = _outermost(one.most, one.above), _outermost(-one.least, one.below)
    inner = _outermost(every.least, -every.below), _outermost(-every.most, -every.above)
    high = _most_of_pairs(one.most, one.above, one.least, one.below, *outer, sign=1.0)
    low = _most_of_pairs(every.least, every.below, every.most, every.above, *inner, sign=-1.0)
    lowest = _least_ratio(one.least, one.below, one.most, one.above, *outer[::-1], is_low=True)
    highest = _least_ratio(
        every.most, every.above, every.least, every.below, *inner[::-1], is_low=False
    )
    return SpreadLimits(max(0.0, low), min(1.0, high), max(0.0, lowest), min(1.0, highest))


def _pair_scores(
    measure: Measure, groups: Codes, t: float, tail: float, *, is_exact: bool
) -> _Scores:
    """What pairs of groups are made of."""
    part = measure.at(groups)
    recalls = recalls_under(
        part.sums, part.shares(part.sums), part.sums if part.prevalence is None else None
    )
    absent, shares = recalls.absent_weight(t), Proportion.of(recalls, t)
    limits = shares.limits(tail, clopper_pearson_at) if is_exact else shares.limits(tail)
    is_empty = ~recalls.present.any(axis=1)
    below, above = (
        np.where(is_empty, 0.0, (1.0 - absent) * np.abs(limit - shares.share)) for limit in limits
    )
    least = np.where(is_empty, 0.0, (1.0 - absent) * shares.share)
    return _Scores(least, np.where(is_empty, 1.0, least + absent), below, above)


def _outermost(value: FloatArray, distance: FloatArray) -> Codes:
    """Groups that no two others surpass in both value and distance."""
    order = np.lexsort((-distance, -value))
    found = []
    for _ in range(2):
        held = distance[order]
        before = np.maximum.accumulate(np.append(-np.inf, held))[:-1]
        found.append(order[held > before])
        order = order[held <= before]
    return np.concatenate(found)


def _most_of_pairs(
    first: FloatArray,
    of_first: FloatArray,
    second: FloatArray,
    of_second: FloatArray,
    rows: Codes,
    columns: Codes,
    *,
    sign: float,
) -> float:
    """Greatest limit of a difference of two groups, plus or minus their joint distance."""
    distance = np.hypot(of_first[rows, None], of_second[columns])
    found = first[rows, None] - second[columns] + sign * distance
    return float(found[rows[:, None] != columns].max())


def _least_ratio(
    first: FloatArray,
    of_first: FloatArray,
    second: FloatArray,
    of_second: FloatArray,
    rows: Codes,
    columns: Codes,
    *,
    is_low: bool,
) -> float:
    """Least low or high limit of the ratio of two groups, a root of the quadratic of a pair."""
    x, y = first[rows, None], second[columns]
    a = (x - of_first[rows, None]) * (x + of_first[rows, None])
    c = (y - of_second[columns]) * (y + of_second[columns])
    root = np.sqrt(np.maximum((x * y) ** 2 - a * c, 0.0))
    found = ratio(a, x * y + root) if is_low else ratio(x * y + root, c)
    found = np.where(np.isnan(found), 0.0 if is_low else np.inf, found)
    return float(found[rows[:, None] != columns].min())


@lru_cache(maxsize=256)
def _tail_of_range(n_groups: int, tail: float) -> float:
    """Tail of a normal value at which all pairs of independent groups together leave out `tail`.

    The quantile of the range of normal values over the square root of 2 (Tukey).
    """
    from scipy.special import ndtr

    top = np.linspace(-9.0, 20.0, 5801)  # the greatest of the values
    density = n_groups * np.exp(-(top**2) / 2.0) / math.sqrt(2.0 * math.pi) * (top[1] - top[0])
    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2.0
        within = ndtr(top) - ndtr(top - middle)
        is_less = float((density * within ** (n_groups - 1)).sum()) < 1.0 - tail
        low, high = (middle, high) if is_less else (low, middle)
    return float(ndtr(-high / math.sqrt(2.0)))
