"""How far one more row moves a metric, and the variance and limits that follow from that.

Arrays in, arrays out. Cells are (G, L, L): group, true label, predicted label, in rows or in sums of
weights. A metric is a function of the shares of the cells; its gradient, centred, is what a row of
each cell adds to it. The variance is taken at smoothed shares, since at a recall of 1 the observed
ones have none; its divisor stays the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.gradients import Partials
from pandas_tba.scoring.metrics import evaluate
from pandas_tba.scoring.tempering import ratio

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Limits: TypeAlias = tuple[FloatArray, FloatArray]
OfShare: TypeAlias = Callable[[FloatArray, FloatArray, FloatArray], Limits]
Sums: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

_STEP = 6e-6  # of central differences: the cube root of the rounding of floats
_OF_CELL = 3e-4  # of the smallest cell that a difference moves
_MANY_ROWS = 30  # effective ones, from which the normal quantile holds with weights


def evaluate_cells(
    metric: Metric,
    cells: npt.NDArray[np.number],
    is_class: BoolArray,
    *,
    t: float | None = None,
    label: int | None = None,
) -> FloatArray:
    """Values (G,) of a metric; of kind "class" those of the label at this place."""
    sums = _sums_of(cells.astype(np.float64))
    if metric.kind == "class":
        return evaluate(metric, _sums_of_label(sums, label), is_class, t)[:, 0]
    return evaluate(metric, sums, is_class, t)


def gradient(
    metric: Metric,
    cells: npt.NDArray[np.number],
    is_class: BoolArray,
    *,
    t: float | None = None,
    label: int | None = None,
) -> FloatArray:
    """Derivatives (G, L, L) of a metric by each cell; 0 in rows and columns that hold nothing.

    By the derivatives beside the metric's formula, else by central differences in its sums.
    """
    total = cells.sum(axis=(1, 2), keepdims=True, dtype=np.float64)
    shares = quotient_or_zero(cells, total)
    sums = _sums_of(shares)
    places: npt.NDArray[np.intp] = np.arange(cells.shape[1])
    if metric.kind == "class":
        sums, places = _sums_of_label(sums, label), places[label : label + 1]  # type: ignore[operator]
    by_hits, by_support, by_predicted, by_total = _partials(metric, sums, is_class, t)
    found = np.zeros(shares.shape) + by_total[:, :, None]
    found[:, places, :] += by_support[:, :, None]
    found[:, :, places] += by_predicted[:, None, :]
    found[:, places, places] += by_hits
    holds = (shares.sum(axis=2) > 0)[:, :, None] & (shares.sum(axis=1) > 0)[:, None, :]
    return quotient_or_zero(np.where(holds, found, 0.0), total)


def quotient_or_zero(part: npt.NDArray[np.number], whole: FloatArray) -> FloatArray:
    """Quotient; 0 where there is nothing to divide by."""
    return np.where(whole > 0, ratio(part, whole), 0.0)


def _sums_of(cells: FloatArray) -> Sums:
    """Hits, support, predicted (G, L) and total (G, 1)."""
    support = cells.sum(axis=2)
    hits = np.einsum("gll->gl", cells)
    return hits, support, cells.sum(axis=1), support.sum(axis=1, keepdims=True)


def _sums_of_label(sums: Sums, label: int | None) -> Sums:
    """The same of one label, (G, 1)."""
    if label is None:
        raise TypeError("a metric of kind 'class' needs the place of a label")
    hits, support, predicted, total = sums
    at = [label]
    return hits[:, at], support[:, at], predicted[:, at], total


def _partials(metric: Metric, sums: Sums, is_class: BoolArray, t: float | None) -> Partials:
    """Derivatives by hits, support, predicted and total."""
    if metric.gradient is None:
        return _central_differences(metric, sums, is_class, t)
    of_all = () if metric.kind == "class" else (is_class,)
    options = {"t": t} if metric.takes_t else {}
    with np.errstate(all="ignore"):
        return metric.gradient(*sums, *of_all, **options)


def _central_differences(
    metric: Metric, sums: Sums, is_class: BoolArray, t: float | None
) -> Partials:
    """Derivatives by central differences in each of the 3 L + 1 sums."""
    steps = _steps(sums)
    found = []
    for at, part in enumerate(sums):
        by_part = np.zeros_like(part)
        for place in range(part.shape[1]):
            step = steps.min(axis=1) if at == 3 else steps[:, place]
            ends = []
            for sign in (1.0, -1.0):
                moved = list(sums)
                moved[at] = part.copy()
                moved[at][:, place] += sign * step
                values = evaluate(metric, (moved[0], moved[1], moved[2], moved[3]), is_class, t)
                ends.append(values[:, 0] if metric.kind == "class" else values)
            by_part[:, place] = ratio(ends[0] - ends[1], 2.0 * step)
        found.append(by_part)
    return found[0], found[1], found[2], found[3]


def _steps(sums: Sums) -> FloatArray:
    """Steps (G, L) so small that no cell of a class against the rest becomes negative."""
    hits, support, predicted, total = sums
    rest = total - support - predicted + hits
    four = np.stack([hits, support - hits, predicted - hits, rest])
    smallest = np.where(four > 1e-15, four, 1.0).min(axis=0)
    return np.minimum(_STEP, _OF_CELL * smallest)


def smoothed_shares(
    cells: npt.NDArray[np.number],
    added: float = 1.0,
    by: Literal["rows", "cols"] = "rows",
    *,
    is_class: BoolArray | None = None,
) -> FloatArray:
    """Shares (G, L, L) with `added` hits and misses more in each true class; its share stays.

    Misses are spread over the other labels that the group has. ``by="cols"`` adds to each predicted
    label instead, with false positives among the classes that the group has.
    """
    return smoothed_weighted(cells, None, added, by, is_class=is_class)[0]


def smoothed_weighted(
    cells: npt.NDArray[np.number],
    squares: FloatArray | None = None,
    added: float = 1.0,
    by: Literal["rows", "cols"] = "rows",
    *,
    is_class: BoolArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Smoothed shares (G, L, L), and the variance that a unit of squared influence has in each cell.

    ``squares`` are the sums of squared weights of the cells, None for rows. Rows are added as such
    to the effective rows (Kish) of a class: (sum of weights)**2 / sum of squared weights.
    """
    if by == "cols":
        flipped = None if squares is None else squares.transpose(0, 2, 1)
        parts = _smoothed(cells.transpose(0, 2, 1), flipped, added, is_class)
        return parts[0].transpose(0, 2, 1), parts[1].transpose(0, 2, 1)
    return _smoothed(cells, squares, added, None)


def _smoothed(
    cells: npt.NDArray[np.number],
    squares: FloatArray | None,
    added: float,
    allowed: BoolArray | None,
) -> tuple[FloatArray, FloatArray]:
    """Smoothed shares, and the spread of their weights."""
    # p = (x_k / x) (x_kj n0_k / x_k + a_kj) / (n0_k + 2 a), with n0_k the effective rows, and
    # s_k q_kj / x**2 with q_kj the same of squared weights
    total = cells.sum(axis=(1, 2), keepdims=True, dtype=np.float64)
    shares = quotient_or_zero(cells, total)
    # squared weights in units of the total squared; of rows, each is one
    of_squares = quotient_or_zero(
        shares if squares is None else quotient_or_zero(squares, total), total
    )
    of_class, squares_of_class = (part.sum(axis=2, keepdims=True) for part in (shares, of_squares))
    rows = quotient_or_zero(of_class, squares_of_class) * of_class
    extra = _rows_to_add(cells, added, allowed)
    smoothed, spread = (
        whole * (quotient_or_zero(part, whole) * rows + extra) / (rows + 2.0 * added)
        for part, whole in ((shares, of_class), (of_squares, squares_of_class))
    )
    return smoothed, spread


def _rows_to_add(
    cells: npt.NDArray[np.number], added: float, allowed: BoolArray | None
) -> FloatArray:
    """Rows (G, L, L) to add: hits, and misses spread over the labels that the group has."""
    n_labels = cells.shape[1]
    has: BoolArray = cells.sum(axis=1) + cells.sum(axis=2) > 0
    if allowed is not None:
        has = has & allowed
    if allowed is None or allowed.sum() < 2:
        allowed = np.ones(n_labels, dtype=np.bool_)
    has[has.sum(axis=1) < 2] = allowed  # a single label: misses go to labels that are empty
    is_own = np.eye(n_labels, dtype=np.bool_)
    hits = np.where(has, added, 0.0)[:, :, None]  # none for a label that no row can have
    others = has.sum(axis=1)[:, None, None] - has[:, :, None]
    misses = has[:, None, :] * (2.0 * added - hits) / np.maximum(others, 1)
    return np.where(is_own, hits, misses)


def influence_of_rows(shares: FloatArray, slopes: FloatArray, *, fixed: bool = False) -> FloatArray:
    """What a row of each cell (G, L, L) adds to a metric, from its gradient at these shares.

    Of mean 0 over the shares; within each true class where ``fixed``: class sizes were given.
    """
    held = np.where(shares > 0, shares * slopes, 0.0)
    if fixed:
        mean = ratio(held.sum(axis=2), shares.sum(axis=2))[:, :, None]
    else:
        mean = held.sum(axis=(1, 2))[:, None, None]
    return np.where(shares > 0, slopes - mean, 0.0)


def variance(
    shares: FloatArray, slopes: FloatArray, spread: FloatArray, *, fixed: bool = False
) -> FloatArray:
    """Variance (G,) of a metric with this gradient; shares and spread as `smoothed_weighted` gives."""
    return np.asarray(
        (spread * influence_of_rows(shares, slopes, fixed=fixed) ** 2).sum(axis=(1, 2))
    )


def effective_rows(
    value: FloatArray, variance: FloatArray, bounds: tuple[float, float] = (0.0, 1.0)
) -> FloatArray:
    """Rows of one proportion that is as uncertain, on the scale from least to greatest value.

    NaN where there is no variance: then nothing is known, not everything.
    """
    width = bounds[1] - bounds[0]
    share = (value - bounds[0]) / width
    spread = share * (1.0 - share) * width**2
    return np.where((variance > 0) & (spread > 0), ratio(spread, variance), np.nan)


def critical_value(tail: FloatArray | float, rows: FloatArray | None = None) -> FloatArray:
    """Quantile beyond which a tail lies: Student's below 30 effective rows, else the normal one.

    ``rows`` are degrees of freedom + 1; None, or infinite, where rows count alike.
    """
    differs = rows is not None and bool((rows < _MANY_ROWS).any())
    if isinstance(tail, float) and not differs:  # without the time that scipy takes to load
        return np.asarray(-NormalDist().inv_cdf(tail))
    from scipy.special import ndtri, stdtrit

    normal = np.asarray(-ndtri(tail))
    if rows is None or not differs:
        return normal
    student = stdtrit(np.maximum(rows - 1.0, 1.0), 1.0 - np.asarray(tail))
    return np.where(rows < _MANY_ROWS, student, normal)


def upper_tail(distance: FloatArray, rows: FloatArray) -> FloatArray:
    """Probability beyond so many standard errors, by the distribution of `critical_value`."""
    from scipy.special import ndtr, stdtr

    normal = ndtr(-distance)
    if not (rows < _MANY_ROWS).any():
        return np.asarray(normal)
    return np.where(rows < _MANY_ROWS, stdtr(np.maximum(rows - 1.0, 1.0), -distance), normal)


def satterthwaite_rows(terms: FloatArray, rows: FloatArray, differ: BoolArray) -> FloatArray:
    """Degrees of freedom + 1 (G,) of a sum of variances (G, K); infinite unless weights differ.

    Satterthwaite 1946, doi:10.2307/3002019.
    """
    squares = (terms**2 / np.maximum(rows - 1.0, 1.0)).sum(axis=-1)
    return np.where(differ.any(axis=-1), ratio(terms.sum(axis=-1) ** 2, squares) + 1.0, np.inf)


def wilson_limits(share: FloatArray, rows: FloatArray, z: FloatArray | float) -> Limits:
    """Score interval of a proportion."""
    pull = np.asarray(z) ** 2 / np.maximum(rows, 1e-100)
    root = np.sqrt(pull * share * (1.0 - share) + pull**2 / 4.0)
    # roots as quotients: neither end cancels, and a share of 0 or 1 is a limit exactly
    low = share**2 / (share + pull / 2.0 + root)
    return low, 1.0 - (1.0 - share) ** 2 / (1.0 - share + pull / 2.0 + root)


def clopper_pearson(share: FloatArray, rows: FloatArray, level: FloatArray | float) -> Limits:
    """Exact interval of a proportion, of two tails that make up 1 - level."""
    return _beta_limits(share, rows, level, (0.0, 1.0))


def clopper_pearson_at(share: FloatArray, rows: FloatArray, z: FloatArray) -> Limits:
    """The same for the tails beyond a normal quantile."""
    from scipy.special import erf

    return clopper_pearson(share, rows, erf(z / np.sqrt(2.0)))


def jeffreys_limits(share: FloatArray, rows: FloatArray, level: FloatArray | float) -> Limits:
    """Central interval of a proportion under Jeffreys' prior; 0 is the low limit of 0, 1 the high one of 1."""
    return _beta_limits(share, rows, level, (0.5, 0.5))


def _beta_limits(
    share: FloatArray, rows: FloatArray, level: FloatArray | float, added: tuple[float, float]
) -> Limits:
    """Beta quantiles with rows added to hits and misses for the low end, and swapped for the high.

    None right has the low limit 0, all right the high limit 1.
    """
    from scipy.special import betaincinv

    tail, (first, second) = (1.0 - level) / 2.0, added
    finite = np.minimum(rows, 1e10)  # scipy 1.12 finds no quantile at 1e12, 1.17 none at 1e18
    hits, misses = share * finite, (1.0 - share) * finite
    low = betaincinv(hits + first, misses + second, tail)
    high = 1.0 - betaincinv(misses + first, hits + second, tail)
    return np.where(share > 0.0, low, 0.0), np.where(share < 1.0, high, 1.0)


def mover_difference(
    first: FloatArray,
    second: FloatArray,
    limits_first: Limits,
    limits_second: Limits,
    rho: FloatArray | float = 0.0,
) -> Limits:
    """Limits of first - second from the limits of either and their correlation.

    Newcombe 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I, method 10.
    """
    below_first, above_first = first - limits_first[0], limits_first[1] - first
    below_second, above_second = second - limits_second[0], limits_second[1] - second
    below = below_first**2 + above_second**2 - 2.0 * rho * below_first * above_second
    above = above_first**2 + below_second**2 - 2.0 * rho * above_first * below_second
    difference = first - second
    return difference - np.sqrt(np.maximum(below, 0.0)), difference + np.sqrt(
        np.maximum(above, 0.0)
    )
