"""Where sums of exponentials are zero: all real t with sum_k coefficient_k * base_k**t = 0.

Divided by its negative terms and in logarithms a sum is h = plus - minus, a difference of two
convex functions with the same roots.  Convexity bounds h and its slope between two points, so an
interval is proved to hold no root, or exactly one, or it is halved.  Many sums are worked on at
once; each interval knows whose it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Signs = npt.NDArray[np.int_]
Places = npt.NDArray[np.intp]

_EPSILON = float(np.finfo(np.float64).eps)
_SAME_BASE = 1e-12  # relative: bases this close are one base that was rounded
_NOISE = 1e-14  # rounding of plus, minus and their slopes, relative to their size
_FLAT = 1e-3  # widest interval that is not halved where h is zero to rounding at both ends
_NARROW = 1e-9  # intervals are not halved below this width
_NEAR = 1e-6  # unresolved intervals this close are one root
_TERMS_AT_A_TIME = 2**16  # of all sums together, so that what is made of them stays in the cache


class Roots(NamedTuple):
    """R roots, ascending; a touch is a root at which the sum does not change its sign.

    ``signs`` (R + 1) are those of the sum below the first root, between roots, and above the
    last; a single 0 where the sum is zero everywhere.
    """

    at: FloatArray
    is_touch: BoolArray
    signs: Signs


class RootsOfEach(NamedTuple):
    """R roots of N sums, those of one sum together and ascending; ``of`` is the place of its sum.

    ``first_sign`` (N) is the sign of each sum below its first root, 0 where it is zero everywhere.
    """

    of: Places
    at: FloatArray
    is_touch: BoolArray
    first_sign: Signs

    @property
    def signs_below(self) -> Signs:
        """Sign of its sum just below each root."""
        is_cross = ~self.is_touch
        before: Signs = np.cumsum(is_cross) - is_cross
        before -= before[np.searchsorted(self.of, self.of)]  # those of earlier sums
        return np.asarray(self.first_sign[self.of] * (1 - 2 * (before % 2)))


class _Points(NamedTuple):
    """M places, each on the h of one sum, with values and slopes of both its convex parts."""

    of: Places
    t: FloatArray
    plus: FloatArray
    plus_slope: FloatArray
    minus: FloatArray
    minus_slope: FloatArray

    @property
    def h(self) -> FloatArray:
        return self.plus - self.minus

    @property
    def slope(self) -> FloatArray:
        return self.plus_slope - self.minus_slope

    @property
    def is_positive(self) -> BoolArray:
        # zero counts as positive, on both sides of a shared end, so that no root counts twice
        return self.h >= 0

    @property
    def noise(self) -> FloatArray:
        return _NOISE * (1 + np.abs(self.plus) + np.abs(self.minus))

    def negated(self) -> _Points:
        return _Points(self.of, self.t, self.minus, self.minus_slope, self.plus, self.plus_slope)

    def where(self, chosen: BoolArray) -> _Points:
        parts: Any = self
        return _Points(*(part[chosen] for part in parts))

    def joined(self, other: _Points) -> _Points:
        pairs: Any = zip(self, other, strict=True)
        return _Points(*(np.append(mine, its) for mine, its in pairs))

    def replaced(self, chosen: BoolArray, other: _Points) -> _Points:
        """The other points where they are chosen, else these."""
        pairs: Any = zip(self, other, strict=True)
        return _Points(*(np.where(chosen, its, mine) for mine, its in pairs))


class _Differences(NamedTuple):
    """The functions h of N sums: logarithms of coefficients, -inf where there is none, and of bases.

    All are (N, K).
    """

    plus: FloatArray
    minus: FloatArray
    bases: FloatArray

    def at(self, of: Places, t: FloatArray) -> _Points:
        bases = self.bases[of]
        plus, minus = (_evaluate_log_sums(part[of], bases, t) for part in (self.plus, self.minus))
        return _Points(of, t, *plus, *minus)

    def slope_noise(self, of: Places) -> FloatArray:
        return 10 * _NOISE * np.abs(self.bases[of]).max(axis=1)


def _evaluate_log_sums(
    coefficients: FloatArray, bases: FloatArray, t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Logarithm of the sum of the terms, and its derivative by t."""
    exponents = coefficients + t[:, None] * bases
    top = exponents.max(axis=1)
    shares = np.exp(exponents - top[:, None])
    total = shares.sum(axis=1)
    return top + np.log(total), (shares * bases).sum(axis=1) / total


def real_roots(coefficients: FloatArray, bases: FloatArray) -> Roots:
    """All real roots of the sum over k of coefficients_k * bases_k**t; bases are positive.

    There are at most as many, counted with multiplicity, as sign changes of the coefficients in
    the order of the bases.
    """
    found = roots_of_each(coefficients[None], bases[None])
    signs = np.cumprod([*found.first_sign, *np.where(found.is_touch, 1, -1)])
    return Roots(found.at, found.is_touch, signs.astype(np.int_))


def roots_of_each(coefficients: FloatArray, bases: FloatArray) -> RootsOfEach:
    """All real roots of N sums, (N, K), as `real_roots` finds those of one."""
    n_sums, n_terms = coefficients.shape
    if n_terms < 2:
        none = np.zeros(0)
        signs = np.sign(coefficients.sum(axis=1)).astype(np.int_)
        return RootsOfEach(none.astype(np.intp), none, none.astype(np.bool_), signs)
    step = max(1, _TERMS_AT_A_TIME // n_terms)
    found = []
    for start in range(0, max(1, n_sums), step):
        block = slice(start, start + step)
        part = _roots_of_block(coefficients[block], bases[block])
        found.append(part._replace(of=part.of + start))
    return RootsOfEach(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _roots_of_block(coefficients: FloatArray, bases: FloatArray) -> RootsOfEach:
    """All real roots of as many sums as are looked at together."""
    logs, terms = _merge_bases(coefficients, bases)
    number = (terms != 0).sum(axis=1)
    first_sign = np.sign(terms[:, :1].sum(axis=1)).astype(np.int_)
    has_roots = (terms > 0).any(axis=1) & (terms < 0).any(axis=1)
    two, more = (np.flatnonzero(has_roots & chosen) for chosen in (number == 2, number > 2))
    of_two = np.log(-terms[two, 0] / terms[two, 1]) / (logs[two, 1] - logs[two, 0])
    of_more, at, is_touch = _roots_of_many_terms(logs[more], terms[more], number[more])
    of, at = np.append(two, more[of_more]), np.append(of_two, at)
    is_touch = np.append(np.zeros(len(two), dtype=np.bool_), is_touch)
    order = np.lexsort((at, of))
    return RootsOfEach(of[order], at[order], is_touch[order], first_sign)


def _merge_bases(coefficients: FloatArray, bases: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Logarithms of the different bases, ascending, and their coefficients; zeros at the end."""
    order = np.argsort(bases, axis=1, kind="stable")
    ordered, terms = (np.take_along_axis(part, order, axis=1) for part in (bases, coefficients))
    is_new = np.ones(terms.shape, dtype=np.bool_)
    is_new[:, 1:] = np.diff(ordered) > _SAME_BASE * ordered[:, 1:]
    place = (np.arange(len(terms))[:, None], is_new.cumsum(axis=1) - 1)
    total, size = np.zeros((2, *terms.shape))
    np.add.at(total, place, terms)
    np.add.at(size, place, np.abs(terms))
    # one common factor of the bases moves no root; about zero the logarithms lose least
    logs = np.log(ordered)
    logs = logs - logs.mean(axis=1, keepdims=True, where=is_new)
    at_start = np.argsort(~is_new, axis=1, kind="stable")
    logs = np.take_along_axis(logs, at_start, axis=1)
    kept = np.abs(total) > 4 * _EPSILON * size
    first = np.argsort(~kept, axis=1, kind="stable")
    logs, total = (
        np.take_along_axis(np.where(kept, part, 0.0), first, axis=1) for part in (logs, total)
    )
    return logs, total


def _roots_of_many_terms(
    logs: FloatArray, terms: FloatArray, number: Places
) -> tuple[Places, FloatArray, BoolArray]:
    """Whose root, its place, and whether it touches, of sums with more than two terms."""
    with np.errstate(divide="ignore"):
        h = _Differences(np.log(np.maximum(terms, 0.0)), np.log(np.maximum(-terms, 0.0)), logs)
    left, right, unresolved = _isolate_roots(h, *_outer_bounds(logs, terms, number))
    at = _refine_roots(h, left, right)
    whose, low, high = _join_clusters(unresolved)
    alone = _outside(left.of, at, whose, low, high)
    places, is_touch = _multiple_roots(h, whose, low, high)
    of = np.append(left.of[alone], whose)
    is_touch = np.append(np.zeros(alone.sum(), dtype=np.bool_), is_touch)
    return of, np.append(at[alone], places), is_touch


def _outer_bounds(
    logs: FloatArray, terms: FloatArray, number: Places
) -> tuple[FloatArray, FloatArray]:
    """Beyond these the term of the smallest, or largest, base outweighs all others together."""
    every, sizes = np.arange(len(terms)), np.abs(terms)
    last = number - 1
    largest = sizes[every, last]
    below_largest = sizes.copy()
    below_largest[every, last] = 0.0
    low = -np.log(sizes[:, 1:].sum(axis=1) / sizes[:, 0]) / (logs[:, 1] - logs[:, 0])
    gap = logs[every, last] - logs[every, last - 1]
    high = np.log(below_largest.sum(axis=1) / largest) / gap
    margin = 1e-6
    return (
        np.minimum(0.0, low) * (1 + margin) - margin,
        np.maximum(0.0, high) * (1 + margin) + margin,
    )


def _isolate_roots(
    h: _Differences, low: FloatArray, high: FloatArray
) -> tuple[_Points, _Points, list[tuple[int, float, float]]]:
    """Ends of intervals that hold exactly one simple root; those in which h is zero to rounding."""
    every = np.arange(len(low))
    left, right = h.at(every, low), h.at(every, high)
    none = np.zeros(len(low), dtype=np.bool_)
    starts, ends = left.where(none), right.where(none)
    unresolved: list[tuple[int, float, float]] = []
    while len(left.t):
        monotone = _is_monotone(h, left, right)
        changes = monotone & (left.is_positive != right.is_positive)
        starts, ends = starts.joined(left.where(changes)), ends.joined(right.where(changes))
        small = ~monotone & _is_unresolved(left, right)
        parts = (left.of[small], left.t[small], right.t[small])
        unresolved += zip(*(part.tolist() for part in parts), strict=True)
        open_ = ~monotone & ~small & ~_is_excluded(left, right)
        left, right = left.where(open_), right.where(open_)
        middle = h.at(left.of, (left.t + right.t) / 2)
        left, right = left.joined(middle), middle.joined(right)
    return starts, ends, unresolved


def _is_monotone(h: _Differences, left: _Points, right: _Points) -> BoolArray:
    """Whether the slope of h, between its bounds from convexity, has one sign."""
    noise = h.slope_noise(left.of)
    lowest = left.plus_slope - right.minus_slope
    highest = right.plus_slope - left.minus_slope
    return np.asarray((lowest > noise) | (highest < -noise))


def _is_unresolved(left: _Points, right: _Points) -> BoolArray:
    """Whether h is zero to rounding, or the interval too narrow to halve."""
    width = (right.t - left.t) / np.maximum(1.0, np.abs(left.t))
    is_zero = (np.abs(left.h) <= left.noise) & (np.abs(right.h) <= right.noise)
    return np.asarray(is_zero & (width < _FLAT)) | (width < _NARROW)


def _is_excluded(left: _Points, right: _Points) -> BoolArray:
    """Whether h is surely above zero, or surely below, all the way."""
    noise = np.maximum(left.noise, right.noise)
    above = _lower_bound(left, right) > noise
    return np.asarray(above | (_lower_bound(left.negated(), right.negated()) > noise))


def _lower_bound(left: _Points, right: _Points) -> FloatArray:
    """Bound of h from below: the tangents of plus, less the chord of minus."""
    width = right.t - left.t
    curvature = np.maximum(right.plus_slope - left.plus_slope, np.finfo(np.float64).tiny)
    fall = left.plus - right.plus + right.plus_slope * width
    meeting = np.clip(fall / curvature, 0.0, width)
    tangent = np.maximum(
        left.plus + left.plus_slope * meeting, right.plus + right.plus_slope * (meeting - width)
    )
    chord = left.minus + (right.minus - left.minus) * meeting / width
    # the bound is linear on both sides of the place where the tangents meet
    return np.minimum(np.minimum(left.h, right.h), tangent - chord)


def _refine_roots(h: _Differences, left: _Points, right: _Points) -> FloatArray:
    """The root in each interval: Newton's steps, halving where these do not gain enough."""
    best = right.replaced(np.abs(left.h) < np.abs(right.h), left)
    gains = np.ones(len(best.t), dtype=np.bool_)
    found, open_ = best.t.copy(), np.arange(len(best.t))
    for _ in range(200):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            newton = best.t - best.h / best.slope
        is_inside = gains & (best.slope != 0) & (left.t <= newton) & (newton <= right.t)
        t = np.where(is_inside, newton, (left.t + right.t) / 2)
        moves = (np.abs(t - best.t) > 2 * _EPSILON * np.abs(t)) & (best.h != 0)
        open_, t = open_[moves], t[moves]
        if not len(open_):
            break
        left, right, best = (points.where(moves) for points in (left, right, best))
        point = h.at(left.of, t)
        gains = np.abs(point.h) < np.abs(best.h) / 2
        is_left = point.is_positive == left.is_positive
        left, right = left.replaced(is_left, point), right.replaced(~is_left, point)
        best = point
        found[open_] = t
    return found


def _join_clusters(
    intervals: list[tuple[int, float, float]],
) -> tuple[Places, FloatArray, FloatArray]:
    """Neighbouring intervals as one, widened to where the sign of h is beyond rounding."""
    clusters: list[tuple[int, float, float]] = []
    for of, low, high in sorted(intervals):
        gap = max(_NEAR * max(1.0, abs(low)), high - low)
        if clusters and clusters[-1][0] == of and low - gap <= clusters[-1][2]:
            clusters[-1] = (of, clusters[-1][1], max(clusters[-1][2], high + gap))
        else:
            clusters.append((of, low - gap, high + gap))
    whose, lowest, highest = np.array(clusters).reshape(-1, 3).T
    return whose.astype(np.intp), lowest, highest


def _outside(
    of: Places, at: FloatArray, whose: Places, low: FloatArray, high: FloatArray
) -> BoolArray:
    """Whether a root is in no cluster of its own sum."""
    outside = np.ones(len(of), dtype=np.bool_)
    for root in np.flatnonzero(np.isin(of, whose)):
        start, stop = np.searchsorted(whose, [of[root], of[root] + 1])
        inside = (low[start:stop] <= at[root]) & (at[root] <= high[start:stop])
        outside[root] = not inside.any()
    return outside


def _multiple_roots(
    h: _Differences, of: Places, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Place of the root, or of the roots nearer to each other than rounding, and if it touches."""
    left, right = h.at(of, low), h.at(of, high)
    is_touch = left.is_positive == right.is_positive
    # at a touch h is too flat to locate the root, but its slope changes sign there
    rises = left.slope > 0
    for _ in range(60):
        middle = h.at(of, (low + high) / 2)
        is_left = (middle.slope > 0) == rises
        low = np.where(is_touch & is_left, middle.t, low)
        high = np.where(is_touch & ~is_left, middle.t, high)
    return (low + high) / 2, is_touch
