"""Differences of tempered means between independent rows: arrays in, limits and p-values out.

The limits combine those of both sides, as Newcombe's hybrid does for two proportions: each side
is one proportion at its effective rows, and the distances to its limits add up like standard
errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pandas_tba.inference.intervals import Recalls, effective_rows, moments, recalls_of
from pandas_tba.inference.recall_means import Sums
from pandas_tba.scoring.metrics import ratio
from pandas_tba.scoring.tempering import class_weights, tempered_mean

FloatArray = npt.NDArray[np.float64]

_FARTHEST = 38.0  # standard errors; beyond it a p-value is below the smallest float


@dataclass(frozen=True)
class Difference:
    """Differences (G,), and each side as one proportion: its mean and effective rows.

    `scales` are how much of each side counts, `shared` the variance of class weights that both have
    from the same rows.
    """

    estimate: FloatArray
    means: tuple[FloatArray, FloatArray]
    rows: tuple[FloatArray, FloatArray]
    scales: tuple[FloatArray, FloatArray]
    shared: FloatArray

    def limits(self, z: float) -> tuple[FloatArray, FloatArray]:
        """Low and high limit, z standard errors from the estimate were all normal."""
        below, above = self._distances(np.asarray(z))
        return (
            np.maximum(self.estimate - below, -1.0),
            np.minimum(self.estimate + above, 1.0),
        )

    def p_values(self) -> FloatArray:
        """Two-sided: one less the level at which the interval just excludes 0."""
        size = np.abs(self.estimate)
        is_above = self.estimate > 0
        low, high = np.zeros_like(size), np.full_like(size, _FARTHEST)
        for _ in range(45):
            middle = (low + high) / 2
            below, above = self._distances(middle)
            excludes = size > np.where(is_above, below, above)
            low, high = np.where(excludes, middle, low), np.where(excludes, high, middle)
        tails = np.array([math.erfc(z / math.sqrt(2)) for z in low.tolist()])
        return np.where(np.isnan(size), np.nan, np.where(size == 0, 1.0, tails))

    def _distances(self, z: FloatArray) -> tuple[FloatArray, FloatArray]:
        (below_a, above_a), (below_b, above_b) = (
            tuple(
                np.where(scale > 0, (scale * distance) ** 2, 0.0)
                for distance in _distances(mean, rows, z)
            )
            for mean, rows, scale in zip(self.means, self.rows, self.scales, strict=True)
        )
        of_weights = z**2 * self.shared
        return np.sqrt(below_a + above_b + of_weights), np.sqrt(above_a + below_b + of_weights)


def _distances(mean: FloatArray, rows: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Distances from a proportion to its Wilson limits, without cancellation."""
    pull = np.minimum(ratio(z**2, rows), 1e100)
    root = np.sqrt(pull * mean * (1.0 - mean) + pull**2 / 4.0)
    below = mean * (pull / 2.0 + root) / (mean + pull / 2.0 + root + 1e-300)
    rest = 1.0 - mean
    return below, rest * (pull / 2.0 + root) / (rest + pull / 2.0 + root + 1e-300)


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
    sides = [_recalls(side, counting, is_own=False) for side in (first, second)]
    scale = counting.sum(axis=1)
    return Difference(
        estimate,
        *_as_proportions(sides, 1.0),
        (scale, scale),
        _weight_variance(by_class, estimate, weights, prevalence, t, counted_on),
    )


def own_difference(first: Sums, second: Sums, t: float, *, from_both: bool = False) -> Difference:
    """Difference of two sides, each under its own class weights; or of the first from both."""
    other = second
    if from_both:
        other = Sums.of([a + b for a, b in zip(first.parts(), second.parts(), strict=True)])
    scores = [tempered_mean(side.recall(), side.support, t) for side in (first, other)]
    sides = [_recalls(side, side.support, is_own=True) for side in (first, second)]
    nothing = np.zeros(len(scores[0]))
    scales = _overlap_scales(sides, (first.support, second.support), t)
    return Difference(
        scores[0] - scores[1],
        *_as_proportions(sides, t),
        scales if from_both else (nothing + 1.0, nothing + 1.0),
        nothing,
    )


def _recalls(sums: Sums, prevalence: FloatArray, *, is_own: bool) -> Recalls:
    """What the interval formulas need; own prevalence was counted on the same rows."""
    squared = None if sums.squared is None else (*sums.squared, sums.squared[1])
    reference = sums.support if is_own else None
    return recalls_of(sums.hits, sums.support, prevalence, reference=reference, squared=squared)


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
    within = (rows * (factor**2 * recall * (1.0 - recall) + drift**2)).sum(axis=1)
    centre = (rows * drift).sum(axis=1) ** 2 / np.maximum(rows.sum(axis=1), 1e-300)
    return np.asarray(np.maximum(within - centre, 0.0))


def _as_proportions(
    sides: list[Recalls], t: float
) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
    means = [moments(side, t)[0].clip(0.0, 1.0) for side in sides]
    rows = [effective_rows(side, t) for side in sides]
    return (means[0], means[1]), (rows[0], rows[1])


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
