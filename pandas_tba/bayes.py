"""Exact posterior of a weighted mean of independent recalls: arrays in, numbers out.

The posterior of each recall is a Beta distribution.  That of their mean has no closed form; its
distribution function is computed on a lattice without sampling: masses that keep the mean of each
class, one Fourier transform for the sum, and the lattice halved until the answer stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import InputError, check_choice, is_real, listed, shown

FloatArray = npt.NDArray[np.float64]

_MOST_ROWS = 1e10  # beyond, the quantiles of Beta lose their digits
Shares: TypeAlias = tuple[float, float, float]

_PRIORS = {"uniform": (1.0, 1.0), "jeffreys": (0.5, 0.5)}
_NO_WEIGHT = 1e-12  # moves no digit that is promised
_TAIL = 1e-13  # probability beyond the lattice, on either side of each class
_TOLERANCE = 1e-9
_FIRST_POWER, _LAST_POWER = 12, 18  # cells of the lattice, as powers of 2


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


def check_above(above: object) -> None:
    """Raise InputError unless the threshold is a number, or None."""
    is_number = is_real(above)
    if above is not None and not (is_number and math.isfinite(above)):  # type: ignore[arg-type]
        raise InputError(f"`above` must be a finite number, or None for 1/K; got {shown(above)}.")


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
    coarse = _lattice(first, second, weights, 2 ** (_FIRST_POWER - 1))
    found = np.full(4, np.inf)
    for power in range(_FIRST_POWER, _LAST_POWER + 1):
        fine = _lattice(first, second, weights, 2**power)
        both = _extrapolated(coarse, fine)
        before, coarse = found, fine
        found = np.array([*map(both.quantile, shares), 1.0 - both.probability(above)])
        if np.abs(found - before).max() < _TOLERANCE:
            break
    return found


@dataclass(frozen=True)
class _Distribution:
    """Distribution function at ``start + step * j``."""

    start: float
    step: float
    cumulative: FloatArray

    def quantile(self, share: float) -> float:
        """Value below which this share of the probability lies."""
        from scipy.optimize import brentq

        after = int(np.searchsorted(self.cumulative, share).clip(1, len(self.cumulative) - 1))
        curve = self._curve(after)
        left, right = self.start + self.step * (after - 1), self.start + self.step * after
        if not curve(left) < share < curve(right):  # half of a mass at an end, on a coarse lattice
            return left if curve(left) >= share else right
        return float(brentq(lambda at: curve(at) - share, left, right, xtol=1e-15))

    def probability(self, value: float) -> float:
        """Probability of no more than this value."""
        after = (value - self.start) / self.step
        if after <= 0.0:
            return 0.0
        if after >= len(self.cumulative) - 1:
            return 1.0
        return float(self._curve(int(np.ceil(after)))(value).clip(0.0, 1.0))

    def _curve(self, after: int) -> Any:
        """Smooth curve through the nodes around the one at this place."""
        from scipy.interpolate import CubicSpline

        near = slice(max(after - 8, 0), after + 8)
        at = self.start + self.step * np.arange(len(self.cumulative))[near]
        return CubicSpline(at, self.cumulative[near])


def _extrapolated(coarse: _Distribution, fine: _Distribution) -> _Distribution:
    """The limit of ever finer lattices, whose error shrinks fourfold when they are halved."""
    shared = fine.cumulative[::2]
    n_nodes = min(len(coarse.cumulative), len(shared))
    cumulative = (4.0 * shared[:n_nodes] - coarse.cumulative[:n_nodes]) / 3.0
    return _Distribution(coarse.start, coarse.step, cumulative)


def _lattice(
    first: FloatArray, second: FloatArray, weights: FloatArray, n_cells: int
) -> _Distribution:
    """Distribution of the sum from the masses of its classes on one lattice."""
    from scipy.fft import irfft, next_fast_len, rfft
    from scipy.special import betaincinv

    low = betaincinv(first, second, _TAIL)
    high = 1.0 - betaincinv(second, first, _TAIL)
    widths = weights * (high - low)
    step = float(widths.sum()) / n_cells
    cells = np.ceil(widths / step).astype(int) + 2
    n_nodes = int(cells.sum()) + 1
    length = next_fast_len(n_nodes, real=True)
    transform = np.ones(length // 2 + 1, dtype=np.complex128)
    for k, n in enumerate(cells):
        transform *= rfft(_masses(first[k], second[k], low[k], step / weights[k], n), length)
    masses = irfft(transform, length)[:n_nodes]
    cumulative = np.cumsum(masses) - masses / 2.0  # a mass lies on both sides of its node
    return _Distribution(float((weights * low).sum()), step, cumulative)


def _masses(first: float, second: float, low: float, step: float, n_cells: int) -> FloatArray:
    """Probability at nodes ``low + step * j``, each cell split between its ends at its own mean."""
    from scipy.special import betainc

    nodes = low + step * np.arange(n_cells + 1)
    inside = np.minimum(nodes, 1.0)
    below = betainc(first, second, inside)
    moment = first / (first + second) * betainc(first + 1.0, second, inside)
    below[0] = moment[0] = 0.0
    below[-1], moment[-1] = 1.0, first / (first + second)
    in_cell = np.diff(below)
    to_right = (np.diff(moment) - in_cell * nodes[:-1]) / step
    masses = np.zeros(n_cells + 1)
    masses[:-1] += in_cell - to_right
    masses[1:] += to_right
    return masses
