"""Two models on the same rows: differences of a metric, their variance, and p-values.

Arrays in, arrays out. What a row adds to m(a) - m(b) is the gradient of the metric at the cells of a,
at the row's true label and the prediction of a, less that of b: the variance of a difference follows
from the joint cells. Only cells that hold rows are looked at one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.counts.paired import JointCells
from pandas_tba.counts.storage import ROWS, SQUARES, WEIGHT
from pandas_tba.inference.influence import (
    critical_value,
    evaluate_cells,
    gradient,
    quotient_or_zero,
    satterthwaite_rows,
    upper_tail,
)
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.tempering import class_weights, ratio, tempered_mean

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_CELLS_AT_A_TIME = 1 << 18  # of the confusion matrices of either model: 2 MB an array
_NOTHING = 1e-20  # of a variance: what rounding leaves where the two gradients are the same


class Difference(NamedTuple):
    """Differences (G,), their variance, and the rows (degrees of freedom + 1) of its quantile."""

    value: FloatArray
    variance: FloatArray
    rows: FloatArray

    def limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Standard errors on either side that the level asks for."""
        reach = critical_value((1.0 - level) / 2.0, self.rows) * np.sqrt(self.variance)
        return self.value - reach, self.value + reach

    def p_above(self, bound: float) -> FloatArray:
        """One-sided p-value (G,) of "the difference is at most so much"."""
        return upper_tail(ratio(self.value - bound, np.sqrt(self.variance)), self.rows)

    def p_below(self, bound: float) -> FloatArray:
        """One-sided p-value (G,) of "the difference is at least so much"."""
        return upper_tail(ratio(bound - self.value, np.sqrt(self.variance)), self.rows)

    def p_zero(self) -> FloatArray:
        """Two-sided p-value (G,) of "the difference is 0"."""
        distance = np.abs(ratio(self.value, np.sqrt(self.variance)))
        return 2.0 * upper_tail(distance, self.rows)


@dataclass(frozen=True)
class Outcomes:
    """Rows, or weights, by class and which of two models is right (G, K, 2, 2).

    With weights also the sums of their squares, and the rows of each class. `reference` are the
    rows of each class from which its share was counted, or their weight and squared weight; None
    where shares are given.
    """

    cells: FloatArray
    prevalence: FloatArray
    reference: tuple[FloatArray, FloatArray] | None
    squares: FloatArray | None = None
    rows: npt.NDArray[np.number] | None = None

    @property
    def support(self) -> FloatArray:
        """Rows of each class, or their weight."""
        return np.asarray(self.cells.sum(axis=(2, 3)))

    @property
    def only_one(self) -> tuple[FloatArray, FloatArray]:
        """Rows that the first model alone gets right, and that the second does."""
        return self.cells[:, :, 1, 0], self.cells[:, :, 0, 1]

    def weights(self, t: float) -> FloatArray:
        """Weights of the classes (G, K)."""
        return np.broadcast_to(class_weights(self.prevalence, t=t), self.support.shape)


def scaled(weights: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums of weights and of squares in units of the largest, so that no product of them overflows."""
    unit = float(weights.max(initial=0.0)) or 1.0
    return weights / unit, squares / unit / unit


def tempered_difference(outcomes: Outcomes, t: float) -> Difference:
    """Difference of tempered balanced accuracy, its classes smoothed for the variance alone."""
    support, weights = outcomes.support, outcomes.weights(t)
    only_a, only_b = outcomes.only_one
    value = tempered_mean(ratio(only_a - only_b, support), outcomes.prevalence, t)
    squares = outcomes.cells if outcomes.squares is None else outcomes.squares
    of_squares = squares.sum(axis=(2, 3))
    rows = quotient_or_zero(support, quotient_or_zero(of_squares, support))  # effective ones (Kish)
    # 1 / K rows more in either discordant count of a class: without them there would be no variance
    # where no row is discordant, and with half a row the power would fall as K grows
    added = 2.0 * _rows_for_outcomes(support)
    smoothed = rows + added
    mean = quotient_or_zero(only_a - only_b, support) * rows / smoothed
    of_a, of_b = (
        quotient_or_zero(part, of_squares) * rows
        for part in (squares[:, :, 1, 0], squares[:, :, 0, 1])
    )
    heavy = (of_a - of_b) / smoothed  # the mean by squared weights
    spread = (of_a + of_b + added) / smoothed - 2.0 * mean * heavy + mean**2
    terms = weights**2 * spread / smoothed
    if t != 0 and not math.isinf(t) and outcomes.reference is not None:
        centred = mean - (weights * mean).sum(axis=1, keepdims=True)
        counted, counted_squares = outcomes.reference
        with np.errstate(over="ignore"):
            shift = t * weights * centred
            terms = terms + shift**2 * quotient_or_zero(
                quotient_or_zero(counted_squares, counted), counted
            )
            overlap = quotient_or_zero(support, counted)
            terms = terms + 2.0 * weights * shift * (heavy - mean) * overlap / smoothed
    degrees = np.full(len(value), np.inf)
    if outcomes.rows is not None:
        one = only_a + only_b
        moving = quotient_or_zero(
            one, quotient_or_zero(squares[:, :, 1, 0] + squares[:, :, 0, 1], one)
        )
        of_added = weights**2 * added / smoothed**2
        degrees = _degrees((terms - of_added, of_added), (moving, rows), outcomes.rows)
    return Difference(value, np.where(np.isnan(value), np.nan, terms.sum(axis=1)), degrees)


def _rows_for_outcomes(support: FloatArray) -> FloatArray:
    """Rows (G, 1) to add for each class and outcome: 1 / K, of the classes that a group has."""
    return 1.0 / np.maximum((support > 0).sum(axis=1, keepdims=True), 2)


def _degrees(
    terms: tuple[FloatArray, FloatArray],
    effective: tuple[FloatArray, FloatArray],
    rows: npt.NDArray[np.number],
) -> FloatArray:
    """Degrees of freedom + 1 of a sum of variances (G, K); infinite where weights do not differ.

    The first terms come from the rows that move the difference, often few of a class; the second
    from rows added to the class, of which the effective rows come second, too.
    """
    differ = effective[1] < rows * (1.0 - 1e-9)
    return satterthwaite_rows(np.hstack(terms), np.hstack(effective), np.hstack([differ, differ]))


@dataclass(frozen=True)
class PairedCells:
    """Joint cells of G groups that hold rows, in the order of their groups, and L labels."""

    joint: JointCells
    n_groups: int
    is_class: BoolArray

    @classmethod
    def of(cls, joint: JointCells, n_groups: int, is_class: BoolArray) -> PairedCells:
        """The cells of a table of pairs, weights in units of the largest."""
        if len(joint.quantities) > 1:
            rows, *weighted = joint.quantities
            joint = joint._replace(quantities=(rows, *scaled(*weighted)))
        return cls(joint, n_groups, is_class)

    @property
    def is_weighted(self) -> bool:
        """Whether there are sums of weights beside the rows."""
        return len(self.joint.quantities) > 1

    @property
    def numbers(self) -> FloatArray:
        """Rows of each cell, or their weight."""
        return self.joint.quantities[WEIGHT if self.is_weighted else ROWS].astype(np.float64)

    @property
    def squares(self) -> FloatArray:
        """Squared weights of each cell; the rows, where they count alike."""
        return (
            self.joint.quantities[SQUARES].astype(np.float64) if self.is_weighted else self.numbers
        )

    def of_label(self, label: int) -> PairedCells:
        """One label against the rest, at place 1 of two classes."""
        group, *labels, quantities = self.joint
        truth, first, second = ((part == label).astype(np.intp) for part in labels)
        both = np.ones(2, dtype=np.bool_)
        return replace(
            self, joint=JointCells(group, truth, first, second, quantities), is_class=both
        )

    def padded(self) -> PairedCells:
        """The same with a label that is never seen, where there is only one."""
        if len(self.is_class) != 1:
            return self
        return replace(self, is_class=np.array([True, False]))

    def blocks(self) -> Iterator[PairedCells]:
        """Some groups at a time; one block without groups where there are none."""
        step = max(1, _CELLS_AT_A_TIME // max(len(self.is_class) ** 2, 1))
        for start in range(0, max(self.n_groups, 1), step):
            stop = min(start + step, self.n_groups)
            held = slice(*np.searchsorted(self.joint.group, [start, stop]))
            group, truth, first, second, quantities = self.joint
            yield replace(
                self,
                n_groups=stop - start,
                joint=JointCells(
                    group[held] - start,
                    truth[held],
                    first[held],
                    second[held],
                    tuple(quantity[held] for quantity in quantities),
                ),
            )

    def matrix(self, predicted: npt.NDArray[np.intp]) -> FloatArray:
        """Confusion matrices (G, L, L) of one model."""
        n_labels = len(self.is_class)
        shape = (self.n_groups, n_labels, n_labels)
        return _summed(shape, (self.joint.group, self.joint.truth, predicted), self.numbers)

    def by_class(self, numbers: FloatArray) -> FloatArray:
        """Sums of numbers of the cells by group and true label (G, L)."""
        shape = (self.n_groups, len(self.is_class))
        return _summed(shape, (self.joint.group, self.joint.truth), numbers)


def _summed(
    shape: tuple[int, ...], places: tuple[npt.NDArray[np.intp], ...], numbers: FloatArray
) -> FloatArray:
    """Sums of the numbers that share a place."""
    flat = np.ravel_multi_index(places, shape) if numbers.size else places[0]
    sums = np.bincount(flat, weights=numbers, minlength=math.prod(shape)).astype(np.float64)
    return sums.reshape(shape)


def metric_difference(
    metric: Metric, cells: PairedCells, *, t: float | None = None, label: int | None = None
) -> Difference:
    """Difference of any metric, of the label at this place for one of kind "class"."""
    cells = cells.padded() if label is None else cells.of_label(label)
    place = None if label is None else 1
    with np.errstate(all="ignore"):
        parts = [_influence_difference(metric, block, t, place) for block in cells.blocks()]
    return Difference(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _influence_difference(
    metric: Metric, cells: PairedCells, t: float | None, label: int | None
) -> Difference:
    """Difference of one metric and its standard error."""
    sides = [cells.matrix(predicted) for predicted in (cells.joint.first, cells.joint.second)]
    options: dict[str, Any] = {"t": t, "label": label}
    first, second = (evaluate_cells(metric, side, cells.is_class, **options) for side in sides)
    smoothing = _Smoothing.of(cells, sides)
    shares = [smoothing.shares(side) for side in sides]
    slopes = [gradient(metric, share, cells.is_class, **options) for share in shares]
    terms, moving = smoothing.terms(cells, shares, slopes)
    variance, value = np.sum(terms, axis=(0, 2)), first - second
    scale = np.max([np.abs(slope).max(axis=(1, 2), initial=0.0) for slope in slopes], axis=0)
    has_variance = variance > _NOTHING * scale**2 * smoothing.unit.sum(axis=1)
    variance = np.where(np.isfinite(value) & has_variance, variance, np.nan)
    degrees = np.full(len(value), np.inf)
    if cells.is_weighted:
        rows = cells.by_class(cells.joint.quantities[ROWS].astype(np.float64))
        degrees = _degrees(terms, (moving, smoothing.rows), rows)
    return Difference(value, variance, degrees)


@dataclass(frozen=True)
class _Smoothing:
    """Rows added to each true class (G, L) for each of: both right, only one of them, none.

    p_kab = (x_k / x) (x_kab n_k / x_k + c_kab) / (n_k + 4 c): the n_k effective rows of a class keep
    their share, and c = 1 / K rows of each outcome spread evenly over its cells. `unit` is
    s_k / x**2, the variance of a row of the class that moves the metric by 1; s are squared weights.
    """

    support: FloatArray
    rows: FloatArray
    unit: FloatArray
    added: FloatArray
    has: BoolArray

    @classmethod
    def of(cls, cells: PairedCells, sides: list[FloatArray]) -> _Smoothing:
        """From the cells, and the confusion matrices of both models."""
        support = sides[0].sum(axis=2)
        squares = cells.by_class(cells.squares)
        has: BoolArray = (support > 0) | (sum(side.sum(axis=1) for side in sides) > 0)
        has[has.sum(axis=1) < 2] = True  # a single label: misses go to labels that are empty
        total = support.sum(axis=1, keepdims=True)
        rows = quotient_or_zero(support, quotient_or_zero(squares, support))
        unit = quotient_or_zero(quotient_or_zero(squares, total), total)
        return cls(support, rows, unit, _rows_for_outcomes(support), has)

    @property
    def _others(self) -> FloatArray:
        """Labels (G, 1) that a row of a class can be mistaken for."""
        return self.has.sum(axis=1, keepdims=True) - 1.0

    def shares(self, side: FloatArray) -> FloatArray:
        """Smoothed shares (G, L, L) of the cells of one model."""
        is_own = np.eye(side.shape[1], dtype=np.bool_)
        wrong = (self.has / self._others)[:, None, :]
        extra = 2.0 * self.added[:, :, None] * np.where(is_own, 1.0, wrong)
        held = quotient_or_zero(side, self.support[:, :, None]) * self.rows[:, :, None] + extra
        share = quotient_or_zero(self.support, self.support.sum(axis=1, keepdims=True))
        return (share / (self.rows + 4.0 * self.added))[:, :, None] * held

    def terms(
        self, cells: PairedCells, shares: list[FloatArray], slopes: list[FloatArray]
    ) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
        """What seen and added rows of each true class add to the variance, and the rows that move.

        All are (G, L); the last are effective rows, weighted by how far they move the difference.
        """
        first, second = slopes
        means = (
            (share * slope).sum(axis=(1, 2)) for share, slope in zip(shares, slopes, strict=True)
        )
        centre = np.subtract(*means)
        group, truth, *predicted, _ = cells.joint
        moves = first[group, truth, predicted[0]] - second[group, truth, predicted[1]]
        moved = cells.squares * (moves - centre[group]) ** 2
        total = cells.by_class(moved)
        effective = cells.numbers**2 / cells.squares
        moving = quotient_or_zero(
            total, quotient_or_zero(cells.by_class(moved**2 / effective), total)
        )
        outcomes = np.zeros_like(total)
        for right_a, spread_a in self._moments(first):
            for right_b, spread_b in self._moments(second):
                outcomes += (right_a - right_b - centre[:, None]) ** 2 + spread_a + spread_b
        unit = np.where(self.support > 0, self.unit / (self.rows + 4.0 * self.added), 0.0)
        seen = unit * quotient_or_zero(total, cells.by_class(cells.squares)) * self.rows
        return (seen, unit * self.added * outcomes), moving

    def _moments(self, slopes: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Mean and variance (G, L) of a gradient where the model is right, and where it is wrong."""
        right = np.einsum("gll->gl", slopes)
        is_wrong = self.has[:, None, :] & ~np.eye(slopes.shape[1], dtype=np.bool_)
        mean = np.where(is_wrong, slopes, 0.0).sum(axis=2) / self._others
        far = np.where(is_wrong, slopes - mean[:, :, None], 0.0)
        return [(right, np.zeros_like(right)), (mean, (far**2).sum(axis=2) / self._others)]
