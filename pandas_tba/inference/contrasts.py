"""Differences of tempered means between independent rows: arrays in, limits and p-values out.

The limits combine those of both sides, as Newcombe's hybrid does for two proportions: each side
is one proportion at its effective rows, and the distances to its limits add up like standard
errors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.inference.influence import (
    Limits,
    OfShare,
    critical_value,
    wilson_limits,
)
from pandas_tba.inference.intervals import (
    Recalls,
    effective_rows_of_mean,
    freedom_of_mean,
    moments,
    recalls_of,
)
from pandas_tba.inference.recall_means import Sums
from pandas_tba.scoring.tempering import class_weights, ratio, tempered_mean, tempered_slope

FloatArray = npt.NDArray[np.float64]

_FARTHEST = 8.0  # standard errors; beyond it a p-value is below 2e-15
_STEPS = 30  # halvings, of a distance between 0 and the farthest


class Proportion(NamedTuple):
    """A mean (G,) as one proportion: its effective rows, and degrees of freedom + 1 where weights differ."""

    share: FloatArray
    rows: FloatArray
    freedom: FloatArray | None

    @classmethod
    def of(cls, recalls: Recalls, t: float) -> Proportion:
        """That of a tempered mean over the classes that are present."""
        share = moments(recalls, t)[0].clip(0.0, 1.0)
        return cls(share, effective_rows_of_mean(recalls, t), freedom_of_mean(recalls, t))

    def limits(self, tail: FloatArray | float, of_share: OfShare = wilson_limits) -> Limits:
        """Low and high limit, beyond each of which a tail lies."""
        quantile = critical_value(tail, self.freedom)
        return of_share(self.share, self.rows, quantile)


class Difference(NamedTuple):
    """Differences (G,), and each side as one proportion.

    `scales` are how much of each side counts, `shared` the variance of class weights that both have
    from the same rows.
    """

    estimate: FloatArray
    sides: tuple[Proportion, Proportion]
    scales: tuple[FloatArray, FloatArray]
    shared: FloatArray

    def limits(self, level: float, of_share: OfShare = wilson_limits) -> Limits:
        """Low and high limit; with `clopper_pearson_at` many of them together hold their level."""
        below, above = self._distances((1.0 - level) / 2.0, of_share)
        return (
            np.maximum(self.estimate - below, -1.0),
            np.minimum(self.estimate + above, 1.0),
        )

    def p_values(self, of_share: OfShare = wilson_limits) -> FloatArray:
        """Two-sided: one less the level at which the interval just excludes 0."""
        from scipy.special import ndtr

        size = np.abs(self.estimate)
        is_above = self.estimate > 0
        low, high = np.zeros_like(size), np.full_like(size, _FARTHEST)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            below, above = self._distances(ndtr(-middle), of_share)
            excludes = size > np.where(is_above, below, above)
            low, high = np.where(excludes, middle, low), np.where(excludes, high, middle)
        return np.where(np.isnan(size), np.nan, np.where(size == 0, 1.0, 2.0 * ndtr(-low)))

    def _distances(
        self, tail: FloatArray | float, of_share: OfShare
    ) -> tuple[FloatArray, FloatArray]:
        """Distances from the estimate to its limits."""
        from scipy.special import ndtri

        (below_a, above_a), (below_b, above_b) = (
            tuple(
                np.where(scale > 0, (scale * (limit - side.share)) ** 2, 0.0)
                for limit in side.limits(tail, of_share)
            )
            for side, scale in zip(self.sides, self.scales, strict=True)
        )
        of_weights = ndtri(tail) ** 2 * self.shared
        return np.sqrt(below_a + above_b + of_weights), np.sqrt(above_a + below_b + of_weights)


def equality_coefficients(
    sums: Sums, total: Sums, weights: FloatArray, *, is_whole: bool
) -> FloatArray:
    """Coefficients (G, K) of hits less those expected, whose sum is the difference from the rest.

    Of class k, w (h / n - (H - h) / (N - n)) is w N / (n (N - n)) times (h - n H / N); from the whole,
    it is w / n.
    """
    rows, rest = sums.support, total.support - sums.support
    per_row = weights / np.where(rows > 0, rows, np.nan)
    if not is_whole:
        per_row = per_row * total.support / np.where(rest > 0, rest, np.nan)
    return np.where(weights > 0, per_row, 0.0)


def common_difference(
    first: Sums,
    second: Sums,
    prevalence: FloatArray,
    t: float,
    *,
    kept: FloatArray | None = None,
    counted_on: FloatArray | None = None,
) -> Difference:
    """Difference of two sides under the same class weights.

    `kept` (G, K) is the part of each class' difference that counts: the share of the second side
    in both together where the first is compared with both. `counted_on` (G,) are the rows that
    the prevalence was estimated from; None where it was given.
    """
    weights = np.broadcast_to(class_weights(prevalence, t=t), first.support.shape)
    by_class = first.recall() - second.recall()
    if kept is not None:
        by_class = np.where(kept > 0, kept * by_class, 0.0)
    estimate = tempered_mean(by_class, prevalence, t)
    counting = weights if kept is None else weights * kept
    sides = [recalls_under(side, counting) for side in (first, second)]
    scale = counting.sum(axis=1)
    return Difference(
        estimate,
        _as_proportions(sides, 1.0),
        (scale, scale),
        _weight_variance(by_class, estimate, weights, prevalence, t, counted_on),
    )


def own_difference(first: Sums, second: Sums, t: float, *, from_both: bool = False) -> Difference:
    """Difference of two sides, each under its own class weights; or of the first from both."""
    other = second
    if from_both:
        other = Sums.of([a + b for a, b in zip(first.parts(), second.parts(), strict=True)])
    scores = [tempered_mean(side.recall(), side.support, t) for side in (first, other)]
    sides = [recalls_under(side, side.support, side) for side in (first, second)]
    nothing = np.zeros(len(scores[0]))
    scales = _overlap_scales(sides, (first.support, second.support), t)
    return Difference(
        scores[0] - scores[1],
        _as_proportions(sides, t),
        scales if from_both else (nothing + 1.0, nothing + 1.0),
        nothing,
    )


def recalls_under(sums: Sums, prevalence: FloatArray, reference: Sums | None = None) -> Recalls:
    """What the interval formulas need; the prevalence was given, or counted on a reference."""
    squared, counted = None, None if reference is None else reference.support
    if sums.squared is not None:
        of_counted = sums.support if reference is None else reference.squared[1]  # type: ignore[index]
        squared = (*sums.squared[:2], of_counted)
    numbers = None if sums.squared is None else sums.squared[2]
    return recalls_of(
        sums.hits, sums.support, prevalence, reference=counted, squared=squared, numbers=numbers
    )


def _overlap_scales(
    sides: list[Recalls], rows: tuple[FloatArray, FloatArray], t: float
) -> tuple[FloatArray, FloatArray]:
    """How much of the error of each side is left in the first side less both together.

    From the influence of a row of class k: w_k / n_k times [(c - r_k) + t (r_k - score)].
    """
    pull = 0.0 if math.isinf(t) else t
    recalls = [side.smoothed().recall for side in sides]
    total = rows[0] + rows[1]
    recall = ratio(rows[0] * recalls[0] + rows[1] * recalls[1], np.maximum(total, 1e-300))
    factor, drift = _influence(recall, total, t, pull)
    scales = []
    for part, own, held in zip((1.0, 0.0), recalls, rows, strict=True):
        own_factor, own_drift = _influence(own, held, t, pull)
        left = part * own_factor - factor
        moved = part * own_drift - factor * (own - recall) - drift
        of_net = _influence_variance(left, moved, own, held)
        of_own = _influence_variance(own_factor, own_drift, own, held)
        scales.append(np.sqrt(np.where(of_own > 0, ratio(of_net, of_own), 0.0)))
    return scales[0], scales[1]


def _influence(
    recall: FloatArray, rows: FloatArray, t: float, pull: float
) -> tuple[FloatArray, FloatArray]:
    """What a right answer adds to the score (G, K), and what a row of the class does."""
    weights = class_weights(rows, t=t, among=rows > 0)
    factor = np.where(rows > 0, ratio(weights, rows), 0.0)
    mean = np.where(rows > 0, weights * recall, 0.0).sum(axis=1, keepdims=True)
    return factor, pull * factor * (recall - mean)


def _influence_variance(
    factor: FloatArray, drift: FloatArray, recall: FloatArray, rows: FloatArray
) -> FloatArray:
    """Variance of a score whose rows add this to it."""
    within = (rows * (factor**2 * recall * (1.0 - recall) + drift**2)).sum(axis=1)
    centre = (rows * drift).sum(axis=1) ** 2 / np.maximum(rows.sum(axis=1), 1e-300)
    return np.asarray(np.maximum(within - centre, 0.0))


def _as_proportions(sides: list[Recalls], t: float) -> tuple[Proportion, Proportion]:
    """Either side as one proportion."""
    first, second = (Proportion.of(side, t) for side in sides)
    return first, second


def _weight_variance(
    by_class: FloatArray,
    estimate: FloatArray,
    weights: FloatArray,
    prevalence: FloatArray,
    t: float,
    counted_on: FloatArray | None,
) -> FloatArray:
    """Variance that a difference has since the common class weights were estimated."""
    if counted_on is None or t == 0 or math.isinf(t):
        return np.zeros(len(estimate))
    share = ratio(prevalence, prevalence.sum(axis=1, keepdims=True))
    centred = np.where(weights > 0, by_class - estimate[:, None], 0.0)
    with np.errstate(over="ignore"):
        shift = (t * weights * centred) ** 2 / np.where(share > 0, share, np.inf)
    return np.asarray(ratio(shift.sum(axis=1), counted_on))


def slope_limits(hits: FloatArray, support: FloatArray, t: float, level: float) -> Limits:
    """Limits (G,) of the slope of the tempered mean by t, under own class weights.

    The slope is sum c_k r_k, where the c_k add up to 0: distances to the Wilson limits of each recall,
    combined like standard errors, with the variance that counted class shares add.
    """
    recall, rows = ratio(hits, support), np.maximum(support, 1.0)
    slope = tempered_slope(recall, support, t)
    weights = class_weights(support, t=t)
    log_share = np.log(rows / rows.sum(axis=1, keepdims=True))
    pull = weights * (log_share - (weights * log_share).sum(axis=1, keepdims=True))
    quantile = critical_value((1.0 - level) / 2.0)
    low, high = wilson_limits(recall, rows, quantile)
    moved = _slope_by_log_share((hits + 1.0) / (rows + 2.0), weights, log_share, t)
    of_shares = quantile**2 * (moved**2 / rows).sum(axis=1)
    towards = (
        np.where(pull > 0, recall - low, high - recall),
        np.where(pull > 0, high - recall, recall - low),
    )
    below, above = (np.sqrt(((pull * part) ** 2).sum(axis=1) + of_shares) for part in towards)
    return slope - below, slope + above


def _slope_by_log_share(
    recall: FloatArray, weights: FloatArray, log_share: FloatArray, t: float
) -> FloatArray:
    """Derivatives (G, K) of the slope by the logarithm of each class share."""
    if math.isinf(t):
        return np.zeros_like(recall)
    of_recall = recall - (weights * recall).sum(axis=1, keepdims=True)
    of_share = log_share - (weights * log_share).sum(axis=1, keepdims=True)
    slope = (weights * of_share * of_recall).sum(axis=1, keepdims=True)
    return weights * (of_recall + t * (of_share * of_recall - slope))
