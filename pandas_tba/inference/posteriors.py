"""Exact posterior of a weighted mean of independent recalls: arrays in, numbers out.

The posterior of each recall is a Beta distribution.  That of their mean has no closed form; its
distribution function is computed on a lattice without sampling: masses that keep the mean of each
class, one Fourier transform for the sum, and the lattice halved until the answer stands.  Each
lattice has the nodes of the one before it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import InputError, check_choice, is_real, listed, shown

FloatArray = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]

_MOST_ROWS = 1e10  # beyond, the quantiles of Beta lose their digits
Shares: TypeAlias = tuple[float, float, float]
Cubic: TypeAlias = tuple[float, float, float, float]

_PRIORS = {"uniform": (1.0, 1.0), "jeffreys": (0.5, 0.5)}
_NO_WEIGHT = 1e-12  # moves no digit that is promised
_TAIL = 1e-13  # probability beyond the lattice, on either side of each class
_TOLERANCE = 1e-9
_FIRST_POWER, _LAST_POWER = 7, 18  # cells of the lattice, as powers of 2
_NEAR = 16  # nodes around a place, through which a smooth curve is drawn


class Posterior(NamedTuple):
    """What is told of one posterior: shares, and the probability above a threshold."""

    mean: float
    median: float
    low: float
    high: float
    p_above: float


def prior_rows(prior: object) -> tuple[float, float]:
    """Parameters of the prior: hits and misses that count before any row."""
    if isinstance(prior, str):
        check_choice("prior", prior, _PRIORS)
        return _PRIORS[prior]
    try:
        first, second = (float(value) for value in prior)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        first = second = math.nan
    if not (0 < first < math.inf and 0 < second < math.inf):
        raise InputError(
            f"`prior` must be one of {listed(_PRIORS)}, or two positive numbers, the parameters of a "
            f"Beta distribution; got {shown(prior)}."
        )
    return first, second


def check_above(above: object) -> float | None:
    """The threshold as a float, or None; InputError unless it is a number."""
    if above is None:
        return None
    if not (is_real(above) and math.isfinite(float(above))):  # type: ignore[arg-type]
        raise InputError(f"`above` must be a finite number, or None for 1/K; got {shown(above)}.")
    return float(above)  # type: ignore[arg-type]


def weighted_beta(
    first: FloatArray, second: FloatArray, weights: FloatArray, *, level: float, above: float
) -> Posterior:
    """Posterior of sum w_k Beta(first_k, second_k), all arrays of shape (K,), to 1e-9."""
    if max(first.max(initial=0), second.max(initial=0)) > _MOST_ROWS:
        raise InputError(
            f"A posterior is exact up to {_MOST_ROWS:g} rows of a class; with more, it and the limits "
            "of interval() are the same. Ask interval()."
        )
    means = first / (first + second)
    has_weight = weights > _NO_WEIGHT
    shift = float((weights * means)[~has_weight].sum())
    classes = (first[has_weight], second[has_weight], weights[has_weight])
    tail = (1.0 - level) / 2.0
    summary = _of_one if has_weight.sum() == 1 else _of_several
    found = summary(*classes, (0.5, tail, 1.0 - tail), above - shift)
    median, low, high = (found[:3] + shift).tolist()
    return Posterior(float((weights * means).sum()), median, low, high, float(found[3]))


def _of_one(
    first: FloatArray, second: FloatArray, weights: FloatArray, shares: Shares, above: float
) -> FloatArray:
    """Quantiles, and the probability above, of a single class."""
    from scipy.special import betainc, betaincinv

    quantiles = weights * betaincinv(first, second, shares)
    return np.append(quantiles, betainc(second, first, 1.0 - np.clip(above / weights, 0.0, 1.0)))


def _of_several(
    first: FloatArray, second: FloatArray, weights: FloatArray, shares: Shares, above: float
) -> FloatArray:
    """Quantiles, and the probability above, on finer lattices until they stand."""
    from scipy.special import betaincinv

    low: Any = betaincinv(first, second, _TAIL)
    widths = weights * (1.0 - betaincinv(second, first, _TAIL) - low)
    classes = _Classes(first, second, weights, low, widths, _bend_at_mean(first, second))
    start, step = float(weights @ low), float(widths.sum()) / 2**_FIRST_POWER
    nodes, coarse = _lattice(classes, step, None)
    found = sharper = np.full(4, np.nan)
    moved = math.nan
    for _ in range(_FIRST_POWER, _LAST_POWER):
        nodes, fine = _lattice(classes, step / 2.0, nodes)
        both = _Distribution(start, step, _extrapolated(coarse, fine))
        step, coarse = step / 2.0, fine
        values = [*map(both.quantile, shares), 1.0 - both.probability(above)]
        before, found = found, np.array(values)
        # what is left falls sixteenfold with each halving, where the densities are smooth
        last, sharper = sharper, found + (found - before) / 15.0
        moved_before, moved = moved, float(np.abs(sharper - last).max())
        if moved < _TOLERANCE and moved_before < 8.0 * _TOLERANCE:  # once may be chance
            break
    return sharper


def _extrapolated(coarse: FloatArray, fine: FloatArray) -> FloatArray:
    """The limit of ever finer lattices, whose error shrinks fourfold when they are halved."""
    shared = fine[::2]
    n_nodes = min(len(coarse), len(shared))
    return np.asarray((4.0 * shared[:n_nodes] - coarse[:n_nodes]) / 3.0)


@dataclass(frozen=True)
class _Distribution:
    """Distribution function at ``start + step * j``."""

    start: float
    step: float
    cumulative: FloatArray

    def quantile(self, share: float) -> float:
        """Value below which this share of the probability lies."""
        from scipy.optimize import brentq

        found = int(np.searchsorted(self.cumulative, share))
        after = min(max(found, 1), len(self.cumulative) - 1)
        cubic = self._cubic(after)
        if not _value(cubic, 0.0) < share < _value(cubic, 1.0):
            # half of a mass at an end, on a coarse lattice
            part = 0.0 if _value(cubic, 0.0) >= share else 1.0
        else:
            part = brentq(lambda at: _value(cubic, at) - share, 0.0, 1.0, xtol=1e-15)
        return self.start + self.step * (after - 1 + part)

    def probability(self, value: float) -> float:
        """Probability of no more than this value."""
        place = (value - self.start) / self.step
        if place <= 0.0:
            return 0.0
        if place >= len(self.cumulative) - 1:
            return 1.0
        after = math.ceil(place)
        return min(max(_value(self._cubic(after), place - (after - 1)), 0.0), 1.0)

    def _cubic(self, after: int) -> Cubic:
        """The smooth curve between the node at this place and the one before it."""
        first = min(max(after - _NEAR // 2, 0), len(self.cumulative) - _NEAR)
        near = self.cumulative[first : first + _NEAR]
        cubed, squared, single, fixed = (_splines()[:, after - 1 - first] @ near).tolist()
        return cubed, squared, single, fixed


def _value(cubic: Cubic, at: float) -> float:
    """Value of a cubic."""
    cubed, squared, single, fixed = cubic
    return ((cubed * at + squared) * at + single) * at + fixed


@cache
def _splines() -> FloatArray:
    """What each of neighbouring nodes adds to the cubics between them, (4, nodes - 1, nodes)."""
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(np.arange(_NEAR), np.eye(_NEAR)).c)


class _Classes(NamedTuple):
    """K classes: the parameters of each, where it begins, and how much of the sum it takes up.

    ``bend_at_mean``: logarithm of x^a (1 - x)^b / ((a + b) B(a, b)), the bend, at the mean.
    """

    first: FloatArray
    second: FloatArray
    weights: FloatArray
    low: FloatArray
    widths: FloatArray
    bend_at_mean: FloatArray


class _Nodes(NamedTuple):
    """Nodes of K classes one after the other: the class of each, its recall, and what is known there.

    ``starts`` (K + 1) says where those of each class begin; ``below`` is the distribution function,
    the derivative of ``bend`` is (mean - recall) times the density.
    """

    starts: Places
    of: Places
    recall: FloatArray
    below: FloatArray
    bend: FloatArray


def _lattice(
    classes: _Classes, step: float, every_other: _Nodes | None
) -> tuple[_Nodes, FloatArray]:
    """Nodes of the classes, of which half may be known, and the distribution of their sum."""
    from scipy.fft import irfft, next_fast_len, rfft

    nodes = _nodes(classes, step, every_other)
    masses = _masses(classes, step, nodes)
    n_nodes = len(masses) - len(classes.first) + 1
    length = next_fast_len(n_nodes, real=True)
    transform = np.ones(length // 2 + 1, dtype=np.complex128)
    for part in np.split(masses, nodes.starts[1:-1]):
        transform *= rfft(part, length)
    of_sum = irfft(transform, length)[:n_nodes]
    return nodes, np.cumsum(of_sum) - of_sum / 2.0  # a mass lies on both sides of its node


def _nodes(classes: _Classes, step: float, every_other: _Nodes | None) -> _Nodes:
    """Nodes of the lattice of each class, every other one known from the coarser lattice."""
    number = np.ceil(classes.widths / step).astype(np.intp) + 3
    starts = np.append(0, number.cumsum())
    of = np.repeat(np.arange(len(number)), number)
    at = np.arange(starts[-1]) - starts[of]
    recall = classes.low[of] + (step / classes.weights)[of] * at
    below, bend = np.empty((2, len(at)))
    is_new = np.full(len(at), every_other is None)
    if every_other is not None:
        is_new = at % 2 == 1
        known = (every_other.starts[of] + at // 2)[~is_new]
        below[~is_new], bend[~is_new] = every_other.below[known], every_other.bend[known]
    new = np.minimum(recall[is_new], 1.0)
    below[is_new], bend[is_new] = _functions(classes, of[is_new], new)
    return _Nodes(starts, of, recall, below, bend)


def _functions(classes: _Classes, of: Places, recall: FloatArray) -> tuple[Any, FloatArray]:
    """Distribution function and bend of a class at each recall."""
    from scipy.special import betainc

    a, b = classes.first, classes.second
    mean, rest = a / (a + b), b / (a + b)
    with np.errstate(divide="ignore"):  # at 0 and 1 it is 0
        # taken from the mean, the large terms cancel before they are rounded
        from_mean = recall - mean[of]
        right = a[of] * _log_ratio(recall, mean[of], from_mean)
        wrong = b[of] * _log_ratio(1.0 - recall, rest[of], -from_mean)
    return betainc(a[of], b[of], recall), np.exp(classes.bend_at_mean[of] + right + wrong)


def _masses(classes: _Classes, step: float, nodes: _Nodes) -> FloatArray:
    """Probability at the nodes, each cell split between its ends at its own mean."""
    below, bend = nodes.below.copy(), nodes.bend.copy()
    begin, end = nodes.starts[:-1], nodes.starts[1:] - 1
    below[begin], below[end], bend[begin], bend[end] = 0.0, 1.0, 0.0, 0.0
    in_cell = np.diff(below)
    in_cell[end[:-1]] = 0.0  # from one class to the next
    mean = classes.first / (classes.first + classes.second)
    from_left = in_cell * (mean[nodes.of] - nodes.recall)[:-1] - np.diff(bend)
    to_right = from_left * (classes.weights / step)[nodes.of[:-1]]
    masses = np.zeros(len(below))
    masses[:-1] += in_cell - to_right
    masses[1:] += to_right
    return masses


def _bend_at_mean(a: FloatArray, b: FloatArray) -> FloatArray:
    """Logarithm of the bend at the mean, from which Stirling's formula has cancelled large terms."""
    with np.errstate(divide="ignore"):
        leading = np.log(a / (a + b) * (b / (a + b)) / (2.0 * np.pi * (a + b))) / 2.0
    return leading + _beyond_stirling(a + b) - _beyond_stirling(a) - _beyond_stirling(b)


def _beyond_stirling(x: FloatArray) -> FloatArray:
    """Logarithm of gamma less (x - 1/2) log x - x + log(2 pi) / 2, all digits of a small number."""
    from scipy.special import gammaln

    large = np.maximum(x, 15.0) ** -2
    series = ((-large / 1680.0 + 1.0 / 1260.0) * large - 1.0 / 360.0) * large + 1.0 / 12.0
    direct = gammaln(x) - (x - 0.5) * np.log(x) + x - math.log(2.0 * math.pi) / 2.0
    return np.where(x > 15.0, series / np.maximum(x, 15.0), direct)


def _log_ratio(values: FloatArray, reference: FloatArray, difference: FloatArray) -> FloatArray:
    """Logarithm of values / reference, by their difference where that is small."""
    part = difference / reference
    return np.where(part > -0.5, np.log1p(np.maximum(part, -0.5)), np.log(values / reference))
