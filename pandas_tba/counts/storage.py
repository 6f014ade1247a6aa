"""How many rows each cell of a table of counts holds: dense, or sparse where most cells are empty.

A cell is a group, a true and a predicted label.  A *quantity* is one number for each cell: rows
first, and where rows are weighted the sum of their weights, then that of the squared weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import InputError

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.intp]
Shape = tuple[int, int, int]

ROWS, WEIGHT, SQUARES = 0, 1, 2

DENSE_CELLS = 1 << 20  # always dense up to here
_MOST_CELLS = 1 << 26  # that are ever given out as an array
_MOST_SUMS = 1 << 28
MOST_ROWS = 2.0**63


class Entries(NamedTuple):
    """Cells one by one: their group, true and predicted label, and their number in each quantity."""

    group: Codes
    truth: Codes
    predicted: Codes
    quantities: tuple[Array, ...]

    def among(self, kept: npt.NDArray[np.bool_]) -> Entries:
        """Only some of the cells."""
        group, truth, predicted, quantities = self
        kept_quantities = tuple(quantity[kept] for quantity in quantities)
        return Entries(group[kept], truth[kept], predicted[kept], kept_quantities)


def join_entries(parts: Sequence[Entries]) -> Entries:
    """One after the other."""
    group, truth, predicted = (np.concatenate([part[axis] for part in parts]) for axis in range(3))
    together = zip(*(part.quantities for part in parts), strict=True)
    return Entries(group, truth, predicted, tuple(np.concatenate(pieces) for pieces in together))


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """G groups by T true by P predicted labels.

    ``quantities`` are (G, T, P); with ``keys`` they are (N,), one number for each of the N cells that
    are not empty, and the keys are the places of these cells in the flat table, in order.
    """

    shape: Shape
    quantities: tuple[Array, ...]
    keys: Array | None = None

    @property
    def is_weighted(self) -> bool:
        """Whether there are sums of weights beside the rows."""
        return len(self.quantities) > 1

    def dense(self, quantity: int) -> Array:
        """One quantity as an array (G, T, P)."""
        if self.keys is None:
            return self.quantities[quantity]
        if math.prod(self.shape) > _MOST_CELLS:
            raise InputError(
                f"{self.shape[0]:,} groups of {self.shape[1]:,} x {self.shape[2]:,} labels are more "
                f"than {_MOST_CELLS:,} cells, too many for one array. to_table() lists those that "
                "hold rows; hits, support and predicted have the sums."
            )
        held = np.zeros(self.shape, dtype=self.quantities[quantity].dtype)
        held.reshape(-1)[self.keys] = self.quantities[quantity]
        return held

    def entries(self) -> Entries:
        """The cells that are not empty."""
        keys, quantities = self.keys, self.quantities
        if keys is None:
            keys = np.flatnonzero(quantities[ROWS])
            quantities = tuple(quantity.reshape(-1)[keys] for quantity in quantities)
        before, predicted = np.divmod(keys, max(self.shape[2], 1))
        group, truth = np.divmod(before, max(self.shape[1], 1))
        return Entries(group, truth, predicted, quantities)

    def hits(self, quantity: int) -> Array:
        """Sums over cells predicted right, (G, T): both axes must have the same labels."""
        if self.keys is None:
            return _class_major(np.einsum("gll->lg", self.quantities[quantity]))
        entries = self.entries()
        right = entries.truth == entries.predicted
        numbers = entries.quantities[quantity][right]
        return self._summed(entries.group[right], entries.truth[right], numbers, self.shape[1])

    def support(self, quantity: int) -> Array:
        """Sums over the predicted labels, (G, T)."""
        if self.keys is None:
            return _summed_last(self.quantities[quantity])
        entries = self.entries()
        return self._summed(
            entries.group, entries.truth, entries.quantities[quantity], self.shape[1]
        )

    def predicted(self, quantity: int) -> Array:
        """Sums over the true labels, (G, P)."""
        if self.keys is None:
            return _summed_last(self.quantities[quantity].transpose(0, 2, 1))
        entries = self.entries()
        return self._summed(
            entries.group, entries.predicted, entries.quantities[quantity], self.shape[2]
        )

    def _summed(self, group: Codes, label: Codes, numbers: Array, n_labels: int) -> Array:
        n_groups = self.shape[0]
        if n_groups * n_labels > _MOST_SUMS:
            raise InputError(
                f"{n_groups:,} groups of {n_labels:,} labels are too many for one table. Group by "
                "fewer keys, or make one label of rare ones."
            )
        held = np.zeros(n_labels * n_groups, dtype=numbers.dtype)
        np.add.at(held, label * n_groups + group, numbers)
        return _class_major(held.reshape(n_labels, n_groups))

    def rows_of_groups(self) -> Array:
        """Rows of each group, (G,)."""
        if self.keys is None:
            return np.asarray(self.quantities[ROWS].sum(axis=(1, 2)))
        return _totals(self.entries().group, self.quantities[ROWS], self.shape[0])

    def rows_of_true(self) -> Array:
        """Rows of each true label, (T,)."""
        if self.keys is None:
            return np.asarray(self.quantities[ROWS].sum(axis=(0, 2)))
        return _totals(self.entries().truth, self.quantities[ROWS], self.shape[1])

    def rows_of_predicted(self) -> Array:
        """Rows of each predicted label, (P,)."""
        if self.keys is None:
            return np.asarray(self.quantities[ROWS].sum(axis=(0, 1)))
        return _totals(self.entries().predicted, self.quantities[ROWS], self.shape[2])

    def moved(self, group: Codes, truth: Codes, predicted: Codes, shape: Shape) -> Cells:
        """Cells where their groups and labels stand in another table; those at -1 are left out.

        Groups that meet are added up. Labels never meet.
        """
        if self.shape == shape and all(map(_is_identity, (group, truth, predicted))):
            return self
        if self.keys is None and math.prod(shape) <= max(DENSE_CELLS, 2 * self.quantities[0].size):
            quantities = (
                _relabelled(quantity, truth, predicted, shape) for quantity in self.quantities
            )
            return Cells(
                shape, tuple(_regrouped(quantity, group, shape[0]) for quantity in quantities)
            )
        found = self.entries()
        at = Entries(
            group[found.group], truth[found.truth], predicted[found.predicted], found.quantities
        )
        kept = (at.group >= 0) & (at.truth >= 0) & (at.predicted >= 0)
        return gathered(shape, at if kept.all() else at.among(kept))

    def __add__(self, other: Cells) -> Cells:
        """Cell by cell; both must have one shape."""
        if self.keys is None and other.keys is None:
            pairs = zip(self.quantities, other.quantities, strict=True)
            return Cells(self.shape, tuple(mine + theirs for mine, theirs in pairs))
        return gathered(self.shape, join_entries([self.entries(), other.entries()]))


def check_total(rows: float) -> None:
    """Raise InputError for more rows than counts can hold."""
    if rows >= MOST_ROWS:
        raise InputError(f"{rows:.3g} rows in all are more than counts can hold: 2**63.")


def _totals(place: Codes, numbers: Array, n_places: int) -> Array:
    """Sums of numbers that share a place."""
    total = np.zeros(n_places, dtype=numbers.dtype)
    np.add.at(total, place, numbers)
    return total


def _relabelled(quantity: Array, truth: Codes, predicted: Codes, shape: Shape) -> Array:
    """One array of cells with its labels at other places."""
    if quantity.shape[1:] == shape[1:] and _is_identity(truth) and _is_identity(predicted):
        return quantity
    if truth.min(initial=0) < 0 or predicted.min(initial=0) < 0:
        quantity = quantity[:, truth >= 0][:, :, predicted >= 0]
        truth, predicted = truth[truth >= 0], predicted[predicted >= 0]
    whole = np.zeros((len(quantity), *shape[1:]), dtype=quantity.dtype)
    whole[:, truth[:, None], predicted] = quantity
    return whole


def _regrouped(quantity: Array, group: Codes, n_groups: int) -> Array:
    """One array of cells with its groups at other places; groups that meet are added up."""
    if len(quantity) == n_groups and _is_identity(group):
        return quantity
    if group.min(initial=0) < 0:
        quantity, group = quantity[group >= 0], group[group >= 0]
    if n_groups == 1:
        return np.asarray(quantity.sum(axis=0, keepdims=True))
    whole = np.zeros((n_groups, *quantity.shape[1:]), dtype=quantity.dtype)
    if len(group) <= n_groups and (group[1:] > group[:-1]).all():
        whole[group] = quantity
    else:
        np.add.at(whole, group, quantity)
    return whole


def _is_identity(places: Codes) -> bool:
    """Whether everything stays where it is."""
    return bool((places == np.arange(len(places))).all())


def gathered(shape: Shape, entries: Entries) -> Cells:
    """Cells from entries in any order; those of one cell are added up."""
    n_cells = math.prod(shape)
    if n_cells >= 1 << 63:  # a key could not be one number
        raise InputError(
            f"{shape[0]:,} groups of {shape[1]:,} true and {shape[2]:,} predicted labels, or pairs of "
            "them, are too many for one table. Make one label of rare ones."
        )
    keys = (entries.group.astype(np.int64) * shape[1] + entries.truth) * shape[2]
    keys += entries.predicted
    if n_cells <= max(DENSE_CELLS, 4 * len(keys)):
        dense = []
        for quantity in entries.quantities:
            total = np.zeros(n_cells, dtype=quantity.dtype)
            np.add.at(total, keys, quantity)
            dense.append(total.reshape(shape))
        return Cells(shape, tuple(dense))
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.append(keys[:1] == keys[:1], keys[1:] != keys[:-1]))
    if not len(keys):
        return Cells(shape, entries.quantities, keys)
    sums = tuple(np.add.reduceat(quantity[order], starts) for quantity in entries.quantities)
    return Cells(shape, sums, keys[starts])


def stacked(parts: Sequence[Cells]) -> Cells:
    """The groups of several tables of the same labels, one table below the other."""
    if len(parts) == 1:
        return parts[0]
    shape = (sum(part.shape[0] for part in parts), *parts[0].shape[1:])
    if all(part.keys is None for part in parts):
        together = zip(*(part.quantities for part in parts), strict=True)
        return Cells(shape, tuple(np.concatenate(quantities) for quantities in together))
    found, start = [], 0
    for part in parts:
        entries = part.entries()
        found.append(entries._replace(group=entries.group + start))
        start += part.shape[0]
    return gathered(shape, join_entries(found))


def _summed_last(cells: Array) -> Array:
    """Sum over the last axis; a short one by whole slices, which numpy adds several times faster."""
    if cells.shape[2] > 16:
        return _class_major(cells.sum(axis=2).T)
    total = np.zeros(cells.shape[1::-1], dtype=cells.dtype)
    for column in range(cells.shape[2]):
        total += cells[:, :, column].T
    return _class_major(total)


def _class_major(by_class: Array) -> Array:
    """(L, G) -> (G, L) that lies class by class in memory, so that work over groups is contiguous."""
    held = np.array(by_class, order="C").T
    held.flags.writeable = False
    return held
