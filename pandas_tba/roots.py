"""Where a sum of exponentials is zero: all real t with sum_k coefficient_k * base_k**t = 0.

Divided by its negative terms and in logarithms the sum is h = plus - minus, a difference of two
convex functions with the same roots.  Convexity bounds h and its slope between two points, so an
interval is proved to hold no root, or exactly one, or it is halved.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_EPSILON = float(np.finfo(np.float64).eps)
_SAME_BASE = 1e-12  # relative: bases this close are one base that was rounded
_NOISE = 1e-14  # rounding of plus, minus and their slopes, relative to their size
_FLAT = 1e-3  # widest interval that is not halved where h is zero to rounding at both ends
_NARROW = 1e-9  # intervals are not halved below this width
_NEAR = 1e-6  # unresolved intervals this close are one root


class Roots(NamedTuple):
    """R roots, ascending; a touch is a root at which the sum does not change its sign.

    ``signs`` (R + 1) are those of the sum below the first root, between roots, and above the
    last; a single 0 where the sum is zero everywhere.
    """

    at: FloatArray
    is_touch: BoolArray
    signs: npt.NDArray[np.int_]


class _Terms(NamedTuple):
    """Logarithms of coefficients and bases of the terms of one sign."""

    coefficients: FloatArray
    bases: FloatArray

    def evaluated(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Logarithm of the sum of the terms, and its derivative by t."""
        exponents = self.coefficients + t[:, None] * self.bases
        top = exponents.max(axis=1)
        shares = np.exp(exponents - top[:, None])
        total = shares.sum(axis=1)
        return top + np.log(total), shares @ self.bases / total


class _Points(NamedTuple):
    """M places with the values and slopes of both convex parts of h."""

    t: FloatArray
    plus: FloatArray
    plus_slope: FloatArray
    minus: FloatArray
    minus_slope: FloatArray

    @property
    def h(self) -> FloatArray:
        return self.plus - self.minus

    @property
    def is_positive(self) -> BoolArray:
        # zero counts as positive, on both sides of a shared end, so that no root counts twice
        return self.h >= 0

    @property
    def noise(self) -> FloatArray:
        return _NOISE * (1 + np.abs(self.plus) + np.abs(self.minus))

    def negated(self) -> _Points:
        return _Points(self.t, self.minus, self.minus_slope, self.plus, self.plus_slope)

    def where(self, chosen: BoolArray | list[int]) -> _Points:
        return _Points(*(part[chosen] for part in self))

    def joined(self, other: _Points) -> _Points:
        return _Points(*(np.append(mine, its) for mine, its in zip(self, other, strict=True)))


class _Difference(NamedTuple):
    """The function h."""

    plus: _Terms
    minus: _Terms

    def at(self, t: npt.ArrayLike) -> _Points:
        places = np.atleast_1d(np.asarray(t, dtype=np.float64))
        return _Points(places, *self.plus.evaluated(places), *self.minus.evaluated(places))

    @property
    def slope_noise(self) -> float:
        return 10 * _NOISE * float(max(np.abs(part.bases).max() for part in self))


def real_roots(coefficients: FloatArray, bases: FloatArray) -> Roots:
    """All real roots of the sum over k of coefficients_k * bases_k**t; bases are positive.

    There are at most as many, counted with multiplicity, as sign changes of the coefficients in
    the order of the bases.
    """
    logs, terms = _merged(coefficients, bases)
    signs = np.sign(terms).astype(np.int_)
    if len(terms) == 0 or (signs == signs[0]).all():
        return _found([], [], int(signs[0]) if len(signs) else 0)
    if len(terms) == 2:
        return _found([np.log(-terms[0] / terms[1]) / (logs[1] - logs[0])], [False], int(signs[0]))
    positive = terms > 0
    h = _Difference(
        _Terms(np.log(terms[positive]), logs[positive]),
        _Terms(np.log(-terms[~positive]), logs[~positive]),
    )
    brackets, unresolved = _isolated(h, *_outer_bounds(logs, terms))
    simple = [_refined(h, *bracket) for bracket in brackets]
    clusters = _clustered(h, unresolved)
    roots = [(t, False) for t in simple if not any(low <= t <= high for low, high in clusters)]
    roots += [_multiple_root(h, low, high) for low, high in clusters]
    roots.sort()
    return _found([t for t, _ in roots], [touch for _, touch in roots], int(signs[0]))


def _found(at: list[float], is_touch: list[bool], first_sign: int) -> Roots:
    touches = np.array(is_touch, dtype=np.bool_)
    signs = np.cumprod([first_sign, *np.where(touches, 1, -1)])
    return Roots(np.array(at, dtype=np.float64), touches, signs.astype(np.int_))


def _merged(coefficients: FloatArray, bases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithms of the different bases, ascending, and their coefficients, without zeros."""
    order = np.argsort(bases, kind="stable")
    ordered, terms = bases[order], coefficients[order]
    is_new = np.append(True, np.diff(ordered) > _SAME_BASE * ordered[1:])[: len(ordered)]
    starts = np.flatnonzero(is_new)
    total = np.add.reduceat(terms, starts) if len(starts) else terms
    size = np.add.reduceat(np.abs(terms), starts) if len(starts) else terms
    kept = np.abs(total) > 4 * _EPSILON * size
    logs = np.log(ordered[starts])
    # one common factor of the bases moves no root; about zero the logarithms lose least
    return logs[kept] - (logs.mean() if len(logs) else 0.0), total[kept]


def _outer_bounds(logs: FloatArray, terms: FloatArray) -> tuple[float, float]:
    """Beyond these the term of the smallest, or largest, base outweighs all others together."""
    sizes = np.abs(terms)
    low = -np.log(sizes[1:].sum() / sizes[0]) / (logs[1] - logs[0])
    high = np.log(sizes[:-1].sum() / sizes[-1]) / (logs[-1] - logs[-2])
    margin = 1e-6
    return min(0.0, low) * (1 + margin) - margin, max(0.0, high) * (1 + margin) + margin


def _isolated(
    h: _Difference, low: float, high: float
) -> tuple[list[tuple[_Points, _Points]], list[tuple[float, float]]]:
    """Intervals that hold exactly one simple root, and those in which h is zero to rounding."""
    brackets: list[tuple[_Points, _Points]] = []
    unresolved: list[tuple[float, float]] = []
    left, right = h.at(low), h.at(high)
    while len(left.t):
        monotone = _is_monotone(h, left, right)
        changes = np.flatnonzero(monotone & (left.is_positive != right.is_positive)).tolist()
        brackets += [(left.where([at]), right.where([at])) for at in changes]
        small = ~monotone & _is_unresolved(left, right)
        unresolved += zip(left.t[small].tolist(), right.t[small].tolist(), strict=True)
        open_ = ~monotone & ~small & ~_is_excluded(left, right)
        left, right = left.where(open_), right.where(open_)
        if len(left.t):
            middle = h.at((left.t + right.t) / 2)
            left, right = left.joined(middle), middle.joined(right)
    return brackets, unresolved


def _is_monotone(h: _Difference, left: _Points, right: _Points) -> BoolArray:
    """Whether the slope of h, between its bounds from convexity, has one sign."""
    lowest = left.plus_slope - right.minus_slope
    highest = right.plus_slope - left.minus_slope
    return np.asarray((lowest > h.slope_noise) | (highest < -h.slope_noise))


def _is_unresolved(left: _Points, right: _Points) -> BoolArray:
    width = (right.t - left.t) / np.maximum(1.0, np.abs(left.t))
    is_zero = (np.abs(left.h) <= left.noise) & (np.abs(right.h) <= right.noise)
    return np.asarray(is_zero & (width < _FLAT)) | (width < _NARROW)


def _is_excluded(left: _Points, right: _Points) -> BoolArray:
    """Whether h is surely above zero, or surely below, all the way."""
    noise = np.maximum(left.noise, right.noise)
    above = _lowest(left, right) > noise
    return np.asarray(above | (_lowest(left.negated(), right.negated()) > noise))


def _lowest(left: _Points, right: _Points) -> FloatArray:
    """Bound of h from below: the tangents of plus, less the chord of minus."""
    width = right.t - left.t
    bend = np.maximum(right.plus_slope - left.plus_slope, np.finfo(np.float64).tiny)
    fall = left.plus - right.plus + right.plus_slope * width
    meeting = np.clip(fall / bend, 0.0, width)
    tangent = np.maximum(
        left.plus + left.plus_slope * meeting, right.plus + right.plus_slope * (meeting - width)
    )
    chord = left.minus + (right.minus - left.minus) * meeting / width
    # the bound is linear on both sides of the place where the tangents meet
    return np.minimum(np.minimum(left.h, right.h), tangent - chord)


def _refined(h: _Difference, left: _Points, right: _Points) -> float:
    """The root between two points: Newton's steps, halving where these do not gain enough."""
    best = left if abs(left.h[0]) < abs(right.h[0]) else right
    gains = True
    for _ in range(200):
        t = (left.t[0] + right.t[0]) / 2
        slope = best.plus_slope[0] - best.minus_slope[0]
        if gains and slope and left.t[0] <= best.t[0] - best.h[0] / slope <= right.t[0]:
            t = best.t[0] - best.h[0] / slope
        if abs(t - best.t[0]) <= 2 * _EPSILON * abs(t) or best.h[0] == 0:
            break
        point = h.at(t)
        gains = abs(point.h[0]) < abs(best.h[0]) / 2
        if point.is_positive[0] == left.is_positive[0]:
            left = point
        else:
            right = point
        best = point
    return float(best.t[0])


def _clustered(h: _Difference, intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Neighbouring intervals as one, widened to where the sign of h is beyond rounding."""
    clusters: list[tuple[float, float]] = []
    for low, high in sorted(intervals):
        gap = max(_NEAR * max(1.0, abs(low)), high - low)
        if clusters and low - gap <= clusters[-1][1]:
            clusters[-1] = (clusters[-1][0], max(clusters[-1][1], high + gap))
        else:
            clusters.append((low - gap, high + gap))
    return clusters


def _multiple_root(h: _Difference, low: float, high: float) -> tuple[float, bool]:
    """Place of the root, or of the roots nearer to each other than rounding, and if it touches."""
    left, right = h.at(low), h.at(high)
    if left.is_positive[0] != right.is_positive[0]:
        return (low + high) / 2, False
    # at a touch h is too flat to tell the place, but its slope changes sign there
    rises = left.plus_slope[0] > left.minus_slope[0]
    for _ in range(60):
        middle = h.at((low + high) / 2)
        if (middle.plus_slope[0] > middle.minus_slope[0]) == rises:
            low = float(middle.t[0])
        else:
            high = float(middle.t[0])
    return (low + high) / 2, True
