"""Tests of hypotheses: arrays in, p-values out."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import InputError, listed, shown

FloatArray = npt.NDArray[np.float64]

ADJUSTMENTS = ("max_t", "holm", "fdr_bh")
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
    """P-values adjusted to bound the share of false ones among those called; NaN stay out of the count.

    Benjamini and Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.
    """
    flat = p_values.reshape(-1)
    order = np.argsort(flat)[: int(np.isfinite(flat).sum())]
    steps = flat[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted = np.full(flat.shape, np.nan)
    adjusted[order] = np.minimum(np.minimum.accumulate(steps[::-1])[::-1], 1.0)
    return adjusted.reshape(p_values.shape)


def check_adjust(adjust: object) -> None:
    """Raise InputError unless it is a way to adjust p-values."""
    if adjust is not None and not (isinstance(adjust, str) and adjust in ADJUSTMENTS):
        choices = f"{listed(ADJUSTMENTS)} or None"
        raise InputError(f"`adjust` must be one of {choices}; got {shown(adjust)}.")


def adjusted_one_by_one(p_values: FloatArray, adjust: str | None) -> FloatArray:
    """P-values adjusted without their joint distribution; Holm's in place of one that needs it."""
    if adjust is None:
        return p_values.copy()
    return benjamini_hochberg(p_values) if adjust == "fdr_bh" else holm(p_values)


def equality_mid_p(
    coefficients: FloatArray,
    hits: FloatArray,
    rows: FloatArray,
    all_hits: FloatArray,
    all_rows: FloatArray,
) -> float:
    """Two-sided mid-p of sum a_k (h_k - n_k R_k) where a group's rows are a random part of all rows.

    All arrays are (K,). Given the totals the hits of a class are hypergeometric (Fisher). The
    distribution is exact while either half of the classes has at most 2**15 sums; beyond that the sum is
    put on a lattice, and p is off by 0.001 at most.
    """
    held = (coefficients != 0) & (all_hits > 0) & (all_hits < all_rows)
    parts, value = [], 0.0
    for a, own, n, total, everyone in zip(
        *(x[held].tolist() for x in (coefficients, hits, rows, all_hits, all_rows)), strict=True
    ):
        expected = n * total / everyone
        value += a * (own - expected)
        counts, mass = _hypergeometric(int(n), int(total), int(everyone))
        parts.append((a * (counts - expected), mass))
    if not parts:
        return 1.0
    parts.sort(key=lambda part: -len(part[0]))
    sigma = math.sqrt(sum(float((mass * values**2).sum()) for values, mass in parts))
    tolerance = _TIE * sigma
    tails = [_upper_tails(parts, sign, abs(value), tolerance, sigma) for sign in (1.0, -1.0)]
    above = tails[0][0] + tails[1][0]
    tie = sum(not_below - beyond for beyond, not_below in tails)
    return min(1.0, above + (tie if abs(value) > tolerance else tie / 2) / 2)


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


def _hypergeometric(rows: int, hits: int, all_rows: int) -> tuple[FloatArray, FloatArray]:
    """Numbers of hits among a part of all rows, and probabilities, but for those below 1e-30."""
    least, most = max(0, hits - (all_rows - rows)), min(rows, hits)
    share = hits / all_rows
    spread = math.sqrt(rows * share * (1 - share) * (all_rows - rows) / max(all_rows - 1, 1))
    reach = _REACH * spread + 2 * _REACH**2
    least = max(least, math.floor(rows * share - reach))
    counts = np.arange(least, min(most, math.ceil(rows * share + reach)) + 1, dtype=np.float64)
    odds = (rows - counts[:-1]) * (hits - counts[:-1])
    odds = odds / ((counts[1:]) * (all_rows - rows - hits + counts[1:]))
    log_mass = np.append(0.0, np.log(odds).cumsum())
    mass = np.exp(log_mass - log_mass.max())
    kept = mass > mass.max() * 1e-30
    return counts[kept], mass[kept] / mass[kept].sum()


def _upper_tails(
    parts: list[tuple[FloatArray, FloatArray]],
    sign: float,
    value: float,
    tolerance: float,
    sigma: float,
) -> tuple[float, float]:
    """Probabilities that a sum, times a sign, is above a value, and that it is not below it."""
    halves = [(np.zeros(1), np.ones(1)), (np.zeros(1), np.ones(1))]
    for values, mass in parts:
        smaller = int(len(halves[1][0]) < len(halves[0][0]))
        if len(halves[smaller][0]) * len(values) > _MOST_ATOMS:
            return _lattice_tails(parts, sign, value, sigma)
        sums, shares = halves[smaller]
        sums = np.add.outer(sums, sign * values).reshape(-1)
        halves[smaller] = (sums, np.multiply.outer(shares, mass).reshape(-1))
    return _tails(halves[0], halves[1], value, tolerance)


def _lattice_tails(
    parts: list[tuple[FloatArray, FloatArray]], sign: float, value: float, sigma: float
) -> tuple[float, float]:
    """The same by convolution on a ring of points, one of which is the value."""
    width = 2 * _REACH * sigma / _POINTS
    # a quarter of the ring lies above the value: what is below it needs the rest, lest it comes round
    spectrum, start = np.ones(_POINTS // 2 + 1, dtype=np.complex128), min(value, 10 * sigma)
    for values, mass in parts:
        spectrum *= np.fft.rfft(_on_lattice((sign * values - start) / width, mass))
        start = 0.0
    mass = np.fft.irfft(spectrum, _POINTS)[: _POINTS // 4]
    above = max(0.0, float(mass[1:].sum()))
    return above, above + max(0.0, float(mass[0]))


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
