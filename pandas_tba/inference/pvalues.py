"""Tests of hypotheses: arrays in, p-values out."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]

_MOST_ATOMS = 1 << 15  # of either half of a sum: sorted in about 3 ms
_POINTS, _REACH = 1 << 15, 12.0  # points of the lattice, and standard deviations to either side
_TIE = 1e-9


def normal_limit(level: float) -> float:
    """Standard errors on either side of an estimate for a confidence level."""
    return NormalDist().inv_cdf((1 + level) / 2)


def holm(p_values: FloatArray) -> FloatArray:
    """P-values adjusted for how many there are, by Holm's step-down; NaN stay out of the count."""
    flat = p_values.reshape(-1)
    order = np.argsort(flat)[: int(np.isfinite(flat).sum())]  # NaN are sorted last
    steps = flat[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted.reshape(p_values.shape)


def benjamini_hochberg(p_values: FloatArray) -> FloatArray:
    """P-values adjusted to keep the false discovery rate; NaN stay out of the count.

    Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.
    """
    flat = p_values.reshape(-1)
    order = np.argsort(flat)[: int(np.isfinite(flat).sum())]  # NaN are sorted last
    steps = flat[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum.accumulate(steps[::-1])[::-1]
    return adjusted.reshape(p_values.shape)


ADJUSTMENTS = {"holm": holm, "fdr_bh": benjamini_hochberg}


def paired_mid_p(weights: FloatArray, first: FloatArray, second: FloatArray) -> float:
    """Two-sided mid-p of sum w_k (first_k - second_k), where every discordant row is a fair coin.

    All arrays are (K,): what a row of the class weighs, and how many rows the first or the second
    model alone gets right. The distribution is exact while either half of the classes has at most
    2**15 sums, which two classes have up to about 1.8 million discordant rows each. Beyond that
    the sum is put on a lattice: relative error below 1e-3 down to p = 1e-4, 2e-2 down to 1e-9.
    """
    held = (first + second > 0) & (weights > 0)
    if not held.any():
        return 1.0
    order = np.argsort(weights[held])
    step = weights[held][order]
    is_new = np.append(True, step[1:] > step[:-1] * (1 + _TIE))
    starts = np.flatnonzero(is_new)  # classes of one weight count as one
    step = step[starts]
    first, second = (np.add.reduceat(rows[held][order], starts) for rows in (first, second))
    value = abs(float((step * (first - second)).sum()))
    halves = _halves((first + second).astype(np.int64))
    if halves is None:
        return _lattice_p(step, first + second, value)
    tolerance = _TIE * (value + step[-1])
    one, other = (_sums(step[half], (first + second)[half]) for half in halves)
    above, below = _tails(one, other, value, tolerance)
    tie = below - above
    return min(1.0, 2 * above + (tie if value > tolerance else tie / 2))


def _n_atoms(number: Any) -> Any:
    """Sums of so many signs that are not too rare to matter."""
    return 2 * np.minimum(number // 2, 12 * np.sqrt(number) + 12).astype(np.int64) + 1 + number % 2


def _halves(numbers: npt.NDArray[np.int64]) -> tuple[list[int], list[int]] | None:
    """Two parts of the classes with about as many sums each; None where these are too many."""
    parts: tuple[list[int], list[int]] = ([], [])
    sizes = [1, 1]
    n_atoms = _n_atoms(numbers)
    for at in np.argsort(-n_atoms):
        smaller = int(sizes[1] < sizes[0])
        parts[smaller].append(int(at))
        sizes[smaller] *= int(n_atoms[at])
        if sizes[smaller] > _MOST_ATOMS:
            return None
    return parts


def _signs(number: int) -> tuple[FloatArray, FloatArray]:
    """Values and probabilities of the sum of so many fair signs, but for those below 1e-120."""
    reach = int(_n_atoms(np.int64(number))) // 2 - number % 2
    start = number - number // 2
    at = np.arange(start, start + reach, dtype=np.float64)
    upper = np.exp(np.append(0.0, np.log((number - at) / (at + 1)).cumsum()))
    values = 2.0 * np.arange(start, start + reach + 1) - number
    lower = slice(None, 0 if number % 2 == 0 else None, -1)  # a sum of 0 has no mirror image
    mass = np.append(upper[lower], upper)
    return np.append(-values[lower], values), mass / mass.sum()


def _sums(step: FloatArray, numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Values and probabilities of the weighted sum over some classes."""
    values, mass = np.zeros(1), np.ones(1)
    for weight, number in zip(step, numbers, strict=True):
        signs, share = _signs(int(number))
        values = np.add.outer(values, weight * signs).reshape(-1)
        mass = np.multiply.outer(mass, share).reshape(-1)
    return values, mass


def _tails(
    first: tuple[FloatArray, FloatArray],
    second: tuple[FloatArray, FloatArray],
    value: float,
    tolerance: float,
) -> tuple[float, float]:
    """Probabilities that the sum of both halves is above a value, and that it is not below it."""
    order = np.argsort(second[0])
    ordered = second[0][order]
    tail = np.append(second[1][order][::-1].cumsum()[::-1], 0.0)
    needed = value - first[0]
    above = tail[np.searchsorted(ordered, needed + tolerance, side="right")]
    not_below = tail[np.searchsorted(ordered, needed - tolerance, side="left")]
    return float((first[1] * above).sum()), float((first[1] * not_below).sum())


def _lattice_p(step: FloatArray, numbers: FloatArray, value: float) -> float:
    """Two-sided mid-p of a weighted sum of signs, its values split over a lattice that holds `value`.

    The signs are tilted, so that `value` is their mean and the tail has no cancellation.
    """
    if value >= (step * numbers).sum() * (1 - _TIE):  # every sign points one way
        return math.exp(-float(numbers.sum()) * math.log(2))
    tilt = _tilt(step, numbers, value)
    sigma = math.sqrt(float((numbers * (step / np.cosh(step * tilt)) ** 2).sum()))
    width = 2 * _REACH * sigma / _POINTS
    width = 2 * step[0] / math.ceil(2 * step[0] / width)  # multiples of the least step lie on it
    spectrum, start = np.ones(_POINTS // 2 + 1, dtype=np.complex128), value
    for weight, number in zip(step, numbers, strict=True):
        signs, share = _signs(int(number))
        values, start = weight * signs - start, 0.0
        share = share * np.exp(weight * tilt * (signs - signs[-1]))
        spectrum *= np.fft.rfft(_on_lattice(values / width, share / share.sum()))
    mass = np.fft.irfft(spectrum, _POINTS)[: _POINTS // 2]
    beyond = mass * np.exp(-tilt * width * np.arange(len(mass)))
    log_cosh = np.logaddexp(step * tilt, -step * tilt) - math.log(2)
    log_factor = float((numbers * log_cosh).sum()) - tilt * value
    tail = float(beyond[1:].sum() + beyond[0] / 2)
    return min(1.0, 2 * math.exp(log_factor) * tail)


def _on_lattice(places: FloatArray, mass: FloatArray) -> FloatArray:
    """Mass at the points of a ring, that of a place between two points split to keep the mean."""
    below = np.floor(places)
    above = mass * (places - below)
    at = below.astype(np.int64) % _POINTS
    held = [np.bincount(at, weights=part, minlength=_POINTS) for part in (mass - above, above)]
    return np.asarray(held[0] + np.roll(held[1], 1), dtype=np.float64)


def _tilt(step: FloatArray, numbers: FloatArray, value: float) -> float:
    """Where the slope of the cumulant generating function is the value, by bisection."""
    low, high = 0.0, 1.0 / float(step.max())
    while float((numbers * step * np.tanh(step * high)).sum()) < value:
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        if float((numbers * step * np.tanh(step * middle)).sum()) < value:
            low = middle
        else:
            high = middle
    return (low + high) / 2
