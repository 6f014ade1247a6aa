"""Limits of metrics that are no means of recall: one rule for each kind of metric, arrays in, arrays out.

Most metrics are one proportion at as many rows as the variance by influence says. Where the metric
is a function of proportions, their own limits are combined.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import check_choice
from pandas_tba.inference.influence import (
    Limits,
    OfShare,
    critical_value,
    effective_rows,
    evaluate_cells,
    gradient,
    influence_of_rows,
    jeffreys_limits,
    satterthwaite_rows,
    smoothed_weighted,
    variance,
    wilson_limits,
)
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.tempering import class_weights, ratio

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_CELLS_AT_A_TIME = 1 << 18  # 2 MB an array
_BISECTIONS, _FARTHEST = 60, 25.0  # of the logarithm of a ratio, and how far from it limits may lie


@dataclass(frozen=True)
class Matrices:
    """Confusion matrices (G, L, L) in rows or sums of weights, and which of the labels are classes.

    With weights also the sums of their squares, and the numbers of rows.
    """

    cells: npt.NDArray[np.number]
    is_class: BoolArray
    squares: FloatArray | None = None
    rows: npt.NDArray[np.number] | None = None

    def changed(
        self,
        change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
        is_class: BoolArray | None = None,
    ) -> Matrices:
        """The same change in the cells, the squares and the numbers of rows."""
        squares, rows = (None if p is None else change(p) for p in (self.squares, self.rows))
        labels = self.is_class if is_class is None else is_class
        return Matrices(change(self.cells), labels, squares, rows)

    def padded(self) -> Matrices:
        """The same with a label that is never seen, where there is only one."""
        if len(self.is_class) != 1:
            return self
        wider = [(0, 0), (0, 1), (0, 1)]
        return self.changed(lambda quantity: np.pad(quantity, wider), np.array([True, False]))

    def effective(self, axis: int) -> tuple[FloatArray, BoolArray]:
        """Rows (G, L) of true (2) or predicted (1) labels, and whether their weights differ."""
        total = self.cells.sum(axis=axis).astype(np.float64)
        if self.squares is None or self.rows is None:
            return total, np.zeros(total.shape, dtype=np.bool_)
        kish = np.where(total > 0, total * ratio(total, self.squares.sum(axis=axis)), 0.0)
        return kish, kish < self.rows.sum(axis=axis) * (1.0 - 1e-9)


class Estimate(NamedTuple):
    """Limits (G,) of a metric, its standard error and the rows of one proportion as uncertain."""

    low: FloatArray
    high: FloatArray
    se: FloatArray
    n_eff: FloatArray


@dataclass(frozen=True)
class _Asked:
    """The metric and the limits that are asked for; `tail` is the probability beyond either limit."""

    metric: Metric
    matrices: Matrices
    t: float | None
    label: int | None
    tail: float
    of_share: OfShare

    def value(self, cells: npt.NDArray[np.number]) -> FloatArray:
        """Values (G,) of the metric."""
        is_class = self.matrices.is_class
        return evaluate_cells(self.metric, cells, is_class, t=self.t, label=self.label)

    def gradient(self, cells: FloatArray) -> FloatArray:
        """Its gradient (G, L, L)."""
        is_class = self.matrices.is_class
        return gradient(self.metric, cells, is_class, t=self.t, label=self.label)


def metric_limits(
    metric: Metric,
    matrices: Matrices,
    level: float,
    *,
    t: float | None = None,
    label: int | None = None,
    of_share: OfShare = wilson_limits,
) -> Estimate:
    """Limits of a metric, some groups at a time; its bounds where it is undefined.

    Matrices of a metric of kind "class" are two by two, with the class at the place `label`.
    ``of_share`` gives the limits of a proportion from its value, rows and a normal quantile.
    """
    matrices = matrices.padded()
    n_groups, n_labels = matrices.cells.shape[:2]
    step = max(1, _CELLS_AT_A_TIME // max(n_labels**2, 1))
    asked = _Asked(metric, matrices, t, label, (1.0 - level) / 2.0, of_share)
    parts = []
    for start in range(0, max(n_groups, 1), step):
        block = slice(start, start + step)
        with np.errstate(all="ignore"):
            parts.append(
                _limits_of_block(replace(asked, matrices=matrices.changed(itemgetter(block))))
            )
    return Estimate(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def has_finite_bounds(metric: Metric) -> bool:
    """Whether the metric lies between two finite values."""
    return bool(np.isfinite(metric.bounds).all())


def rule_of(metric: Metric) -> str:
    """Name of the rule by which the limits of a metric are made."""
    if metric.limits is not None:
        check_choice("limits", metric.limits, _RULES)
        return metric.limits
    if has_finite_bounds(metric):
        return "least"
    return "log" if metric.bounds == (0.0, np.inf) else "normal"


def has_normal_limits(metric: Metric) -> bool:
    """Whether limits rest on nothing better than a normal approximation."""
    is_other = metric.exponent is None and metric.share_of is None
    return is_other and rule_of(metric) in ("log", "normal")


def _limits_of_block(asked: _Asked) -> Estimate:
    """The same of one block."""
    found = _RULES[rule_of(asked.metric)](asked)
    unknown = np.isnan(asked.value(asked.matrices.cells))
    unlimited = np.isnan(found.low) | np.isnan(found.high)  # no variance: never a width of 0
    low, high = (
        np.where(unknown, bound, np.where(unlimited, np.nan, limit))
        for bound, limit in zip(asked.metric.bounds, found[:2], strict=True)
    )
    without = unknown | unlimited
    return Estimate(low, high, *(np.where(without, np.nan, part) for part in found[2:]))


class _Moments(NamedTuple):
    """Of a metric at smoothed cells, (G,): value, variance, effective rows, rows of the quantile."""

    value: FloatArray
    variance: FloatArray
    n_eff: FloatArray
    rows: FloatArray


def _moments(asked: _Asked, by: Literal["rows", "cols"]) -> _Moments:
    """Value and variance at cells smoothed by rows or by columns."""
    matrices = asked.matrices
    shares, spread = smoothed_weighted(
        matrices.cells, matrices.squares, by=by, is_class=matrices.is_class
    )
    axis = 2 if by == "rows" else 1
    terms = (spread * influence_of_rows(shares, asked.gradient(shares)) ** 2).sum(axis=axis)
    value, total = asked.value(shares), terms.sum(axis=1)
    return _Moments(
        value,
        total,
        effective_rows(value, total, asked.metric.bounds),
        satterthwaite_rows(terms, *matrices.effective(axis)),
    )


def _as_share(asked: _Asked, found: _Moments) -> Estimate:
    """Limits of one proportion at the effective rows, on the scale between the bounds."""
    least, most = asked.metric.bounds
    width = most - least
    share = ((asked.value(asked.matrices.cells) - least) / width).clip(0.0, 1.0)
    low, high = asked.of_share(share, found.n_eff, critical_value(asked.tail, found.rows))
    return Estimate(least + width * low, least + width * high, np.sqrt(found.variance), found.n_eff)


def _by_rows(asked: _Asked) -> Estimate:
    """One proportion, with the variance at cells smoothed by rows."""
    return _as_share(asked, _moments(asked, "rows"))


def _by_columns(asked: _Asked) -> Estimate:
    """One proportion, by columns; by rows in groups in which a label is never predicted."""
    found, other = _moments(asked, "cols"), _moments(asked, "rows")
    return _as_share(asked, _chosen(~_has_empty_column(asked), found, other))


def _by_least_rows(asked: _Asked) -> Estimate:
    """One proportion, by rows or by columns, whichever has the fewer effective rows."""
    rows, columns = _moments(asked, "rows"), _moments(asked, "cols")
    is_fewer = (columns.n_eff < rows.n_eff) & ~_has_empty_column(asked)
    return _as_share(asked, _chosen(is_fewer, columns, rows))


def _chosen(condition: BoolArray, first: _Moments, second: _Moments) -> _Moments:
    """The first where the condition holds, else the second."""
    pairs = zip(first, second, strict=True)
    return _Moments(*(np.where(condition, one, other) for one, other in pairs))


def _has_empty_column(asked: _Asked) -> BoolArray:
    """Groups in which a label has rows and is never predicted."""
    cells = asked.matrices.cells
    return np.asarray(((cells.sum(axis=2) > 0) & (cells.sum(axis=1) == 0)).any(axis=1))


class _Recalls(NamedTuple):
    """Of each true label, (G, L): recall, effective rows, and rows of the quantile."""

    recall: FloatArray
    n_eff: FloatArray
    rows: FloatArray


def _recalls_of(matrices: Matrices) -> _Recalls:
    """The recall of each label, as one proportion each."""
    cells = matrices.cells
    shares, spread = smoothed_weighted(cells, matrices.squares)
    of_class = shares.sum(axis=2)
    smoothed = ratio(np.einsum("gll->gl", shares), of_class)
    right = np.eye(cells.shape[1])
    terms = spread * (right - smoothed[:, :, None]) ** 2
    n_eff = ratio(smoothed * (1.0 - smoothed) * of_class**2, terms.sum(axis=2))
    kish, differ = matrices.effective(2)
    recall = ratio(np.einsum("gll->gl", cells), cells.sum(axis=2))
    if matrices.squares is None:
        n_eff = kish  # the same but for rounding
    return _Recalls(recall, n_eff, np.where(differ, kish, np.inf))


def _jaccard(asked: _Asked) -> Estimate:
    """The share of hits among rows that are of the class or predicted so: binomial given these."""
    union = asked.matrices.changed(partial(_hits_and_rest, label=asked.label or 0))
    share, n_eff, rows = (part[:, 0] for part in _recalls_of(union))
    low, high = asked.of_share(share, n_eff, critical_value(asked.tail, rows))
    return Estimate(low, high, _standard_error(asked), n_eff)


def _hits_and_rest(quantity: npt.NDArray[np.number], label: int) -> npt.NDArray[np.number]:
    """Hits, and the other rows of the union, as the first row of two by two cells."""
    other = 1 - label
    rest = quantity[:, label, other] + quantity[:, other, label]
    nothing = np.zeros_like(rest)
    cells = np.stack([quantity[:, label, label], rest, nothing, nothing], axis=1)
    return cells.reshape(-1, 2, 2)


def _standard_error(asked: _Asked) -> FloatArray:
    """By influence at cells smoothed by rows."""
    return np.sqrt(_moments(asked, "rows").variance)


def _f1(asked: _Asked) -> Estimate:
    """F1 = 2 J / (1 + J), with J the jaccard index."""
    found = _jaccard(asked)
    low, high = (2.0 * limit / (1.0 + limit) for limit in found[:2])
    return found._replace(low=low, high=high)


def _likelihood_ratio(asked: _Asked, *, of_misses: bool) -> Estimate:
    """Koopman's score limits of recall over false positive rate, or of what is left of either."""
    at = asked.label or 0
    recalls = _recalls_of(asked.matrices)
    right, n_eff, rows = (part[:, [at, 1 - at]] for part in recalls)
    above, below = (
        (1.0 - right[:, 0], right[:, 1]) if of_misses else (right[:, 0], 1.0 - right[:, 1])
    )
    z = critical_value(asked.tail, rows.min(axis=1))
    low, high = koopman_limits(above, n_eff[:, 0], below, n_eff[:, 1], z)
    return Estimate(low, high, _standard_error(asked), np.full(len(low), np.nan))


def koopman_limits(
    first: FloatArray, n_first: FloatArray, second: FloatArray, n_second: FloatArray, z: FloatArray
) -> Limits:
    """Score limits of the ratio of two independent proportions, by bisection of its logarithm.

    Koopman 1984, doi:10.2307/2531405. The proportion below the line is, where the ratio is phi,
    the smaller root of n phi p**2 - b p + (hits of both) = 0, written so that nothing cancels.
    """
    hits_first, hits_second = first * n_first, second * n_second
    rows, hits = n_first + n_second, hits_first + hits_second

    def is_within(log_ratio: FloatArray) -> BoolArray:
        phi = np.exp(log_ratio)
        b = n_first * phi + hits_first + n_second + hits_second * phi
        below = 2.0 * hits / (b + np.sqrt(np.maximum(b**2 - 4.0 * rows * phi * hits, 0.0)))
        above = np.minimum(phi * below, 1.0)
        spread = above * (1.0 - above) / n_first + phi**2 * below * (1.0 - below) / n_second
        return ~(ratio((first - phi * second) ** 2, spread) > z**2)

    estimate = np.log((hits_first + 0.5) / (n_first + 0.5) * (n_second + 0.5) / (hits_second + 0.5))
    both = (first > 0) & (second > 0)
    estimate = np.where(
        both, np.log(np.where(both, first, 1) / np.where(both, second, 1)), estimate
    )
    # where one has no hits the estimate is 0 or infinite: the search starts at that end
    lowest, highest = estimate - _FARTHEST, estimate + _FARTHEST
    low = _boundary(is_within, np.where(second > 0, estimate, highest), lowest)
    high = _boundary(is_within, np.where(first > 0, estimate, lowest), highest)
    return np.where(first > 0, low, 0.0), np.where(second > 0, high, np.inf)


def _boundary(
    is_within: Callable[[FloatArray], BoolArray], inside: FloatArray, outside: FloatArray
) -> FloatArray:
    """The exponential of where `is_within` ends."""
    for _ in range(_BISECTIONS):
        middle = (inside + outside) / 2.0
        within = is_within(middle)
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    return np.exp(inside)


def _odds_ratio(asked: _Asked) -> Estimate:
    """Distances on the scale of logits from recall and specificity to their Jeffreys limits, combined."""
    from scipy.special import erf, logit

    recall, n_eff, rows = _recalls_of(asked.matrices)
    level = erf(critical_value(asked.tail, rows) / np.sqrt(2.0))
    low, high = jeffreys_limits(recall, n_eff, level)
    centre = logit((recall * n_eff + 0.5) / (n_eff + 1.0))
    below = np.maximum(centre - logit(low), 0.0) ** 2
    above = np.maximum(logit(high) - centre, 0.0) ** 2
    middle, below, above = (part.sum(axis=1) for part in (centre, below, above))
    return Estimate(
        np.exp(middle - np.sqrt(below)),
        np.exp(middle + np.sqrt(above)),
        _standard_error(asked),
        np.full(len(middle), np.nan),
    )


def _least_of(asked: _Asked, shares: _Recalls) -> Limits:
    """Limits of the least of several proportions (G, K).

    The plain lower limits hold, as the one that is truly least has its own; the upper ones only
    together, at Sidak's level.
    """
    recall, n_eff, rows = shares
    low, _ = asked.of_share(recall, n_eff, critical_value(asked.tail, rows))
    _, high = asked.of_share(recall, n_eff, critical_value(_tail_of_all(asked, recall), rows))
    return np.fmin.reduce(low, axis=1), np.fmin.reduce(high, axis=1)


def _greatest_of(asked: _Asked, shares: _Recalls) -> Limits:
    """Limits of the greatest of several proportions (G, K): the mirror image."""
    recall, n_eff, rows = shares
    low, _ = asked.of_share(recall, n_eff, critical_value(_tail_of_all(asked, recall), rows))
    _, high = asked.of_share(recall, n_eff, critical_value(asked.tail, rows))
    return np.fmax.reduce(low, axis=1), np.fmax.reduce(high, axis=1)


def _tail_of_all(asked: _Asked, shares: FloatArray) -> FloatArray:
    """Tail (G, 1) of each of several independent limits that hold together, after Sidak."""
    n_shares = np.maximum((~np.isnan(shares)).sum(axis=1, keepdims=True), 1)
    return np.asarray(-np.expm1(np.log1p(-asked.tail) / n_shares))


def _min_recall(asked: _Asked) -> Estimate:
    """The least recall of a class."""
    is_class = asked.matrices.is_class
    low, high = _least_of(asked, _Recalls(*(p[:, is_class] for p in _recalls_of(asked.matrices))))
    nothing = np.full(len(low), np.nan)
    return Estimate(low, high, nothing, nothing)


def _majority(asked: _Asked) -> Estimate:
    """Of the class weights, the greatest for t > 0 and the least for t < 0; 1 / K exactly at t = 0."""
    matrices, t = asked.matrices, float(asked.t or 0.0)
    is_class = matrices.is_class
    even = 1.0 / max(int(is_class.sum()), 1)
    nothing = np.full(len(matrices.cells), np.nan)
    if t == 0.0 or even == 1.0:
        known = np.full(len(nothing), even)
        return Estimate(known, known, np.zeros_like(known), nothing)
    weights = _class_weights(matrices, t)
    low, high = (_greatest_of if t > 0 else _least_of)(asked, weights)
    low, high = (np.maximum(low, even), high) if t > 0 else (low, np.minimum(high, even))
    return Estimate(low, high, nothing, nothing)


def _class_weights(matrices: Matrices, t: float) -> _Recalls:
    """Weights of the classes, each as a proportion at its effective rows; NaN without rows.

    The variance of w_k is t**2 w_k**2 sum_j (1 - w_j where j = k, else w_j)**2 / n_j.
    """
    is_class = matrices.is_class
    support = matrices.cells.sum(axis=2)[:, is_class].astype(np.float64)
    rows, differ = (part[:, is_class] for part in matrices.effective(2))
    weights = class_weights(support, t=t, among=support > 0)
    others = np.where(rows > 0, ratio(weights**2, rows), 0.0)
    own = np.where(rows > 0, ratio((1.0 - weights) ** 2, rows), 0.0)
    total = others.sum(axis=1, keepdims=True) - others + own
    n_eff = effective_rows(weights, (t * weights) ** 2 * total)
    shown = np.where(support > 0, weights, np.nan)
    return _Recalls(shown, n_eff, np.where(differ, rows, np.inf))


def _slope(asked: _Asked) -> Estimate:
    """Distances from each recall to its limits, combined, and the variance of counted class weights.

    The slope is sum c_k r_k with c_k = w_k (ln p_k - sum_j w_j ln p_j).
    """
    matrices = asked.matrices
    is_class = matrices.is_class
    recall, n_eff, rows = (part[:, is_class] for part in _recalls_of(matrices))
    support = matrices.cells.sum(axis=2)[:, is_class].astype(np.float64)
    weights = class_weights(support, t=asked.t or 0.0, among=support > 0)
    logs = np.where(support > 0, np.log(support), 0.0)
    factors = weights * (logs - (weights * logs).sum(axis=1, keepdims=True))
    z = critical_value(asked.tail, rows)
    low, high = wilson_limits(recall, n_eff, z)
    is_up = factors > 0
    below, above = (
        np.where(factors != 0, (factors * np.where(is_up, one, other)) ** 2, 0.0).sum(axis=1)
        for one, other in ((recall - low, high - recall), (high - recall, recall - low))
    )
    drawn, within = _variances(asked)
    of_weights = np.max(z, axis=-1) ** 2 * np.maximum(drawn - within, 0.0)
    value = asked.value(matrices.cells)
    is_known = below + above + of_weights > 0
    return Estimate(
        np.where(is_known, value - np.sqrt(below + of_weights), np.nan),
        np.where(is_known, value + np.sqrt(above + of_weights), np.nan),
        np.sqrt(drawn),
        np.full(len(value), np.nan),
    )


def _variances(asked: _Asked) -> tuple[FloatArray, FloatArray]:
    """Variance by influence with class sizes drawn, and with class sizes given."""
    shares, spread = smoothed_weighted(asked.matrices.cells, asked.matrices.squares)
    slopes = asked.gradient(shares)
    return variance(shares, slopes, spread), variance(shares, slopes, spread, fixed=True)


def _log(asked: _Asked) -> Estimate:
    """Normal limits of the logarithm, with half a row more in each cell that can hold any."""
    matrices = asked.matrices
    cells, squares = matrices.cells.astype(np.float64), matrices.squares
    if squares is not None:  # in units in which the weights add up to the effective rows
        unit = ratio(cells.sum(axis=(1, 2)), squares.sum(axis=(1, 2)))[:, None, None]
        cells, squares = cells * unit, squares * unit**2
    half = np.where(matrices.is_class[:, None], 0.5, 0.0)
    cells, squares = cells + half, None if squares is None else squares + half
    total = cells.sum(axis=(1, 2), keepdims=True)
    shares, spread = cells / total, (cells if squares is None else squares) / total**2
    centre, value = asked.value(cells), asked.value(matrices.cells)
    terms = (
        spread * influence_of_rows(shares, asked.gradient(shares) / centre[:, None, None]) ** 2
    ).sum(axis=2)
    z = critical_value(asked.tail, satterthwaite_rows(terms, *matrices.effective(2)))
    se = np.sqrt(terms.sum(axis=1))
    low, high = np.log(centre) - z * se, np.log(centre) + z * se
    return Estimate(
        np.where(value == 0, 0.0, np.exp(low)),
        np.where(np.isposinf(value), np.inf, np.exp(high)),
        centre * se,
        np.full(len(value), np.nan),
    )


def _normal(asked: _Asked) -> Estimate:
    """Normal limits, cut at the bounds."""
    found = _moments(asked, "rows")
    value, se = asked.value(asked.matrices.cells), np.sqrt(found.variance)
    se = np.where(se > 0, se, np.nan)
    reach = critical_value(asked.tail, found.rows) * se
    least, most = asked.metric.bounds
    low, high = np.maximum(value - reach, least), np.minimum(value + reach, most)
    return Estimate(low, high, se, np.full(len(value), np.nan))


_RULES: dict[str, Callable[[_Asked], Estimate]] = {
    "rows": _by_rows,
    "cols": _by_columns,
    "least": _by_least_rows,
    "f1": _f1,
    "jaccard": _jaccard,
    "lr_plus": partial(_likelihood_ratio, of_misses=False),
    "lr_minus": partial(_likelihood_ratio, of_misses=True),
    "odds_ratio": _odds_ratio,
    "min_recall": _min_recall,
    "majority": _majority,
    "tba_slope": _slope,
    "log": _log,
    "normal": _normal,
}
