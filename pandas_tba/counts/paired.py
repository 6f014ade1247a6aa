"""Two models on the same rows: rows by true label and by what either model predicted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.groups import Groups
from pandas_tba.counts.storage import ROWS, SQUARES, WEIGHT, Cells, Entries, gathered
from pandas_tba.errors import InputError, counted, listed
from pandas_tba.frames.labels import LabelSet, joined_labels
from pandas_tba.frames.values import positions

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]


class JointCells(NamedTuple):
    """Cells that hold rows, one by one (N,): their labels, and their number in each quantity."""

    group: Codes
    truth: Codes
    first: Codes
    second: Codes
    quantities: tuple[Array, ...]

    def among(self, kept: npt.NDArray[np.bool_]) -> JointCells:
        """Only some of the cells."""
        *places, quantities = self
        group, truth, first, second = (place[kept] for place in places)
        return JointCells(
            group, truth, first, second, tuple(quantity[kept] for quantity in quantities)
        )

    def gather(self, n_groups: int, n_labels: int) -> Cells:
        """Cells (G, L, L * L) whose last axis is a pair of predictions, the second running faster."""
        predicted = self.first * n_labels + self.second
        entries = Entries(self.group, self.truth, predicted, self.quantities)
        return gathered((n_groups, n_labels, n_labels**2), entries)


def no_cells(like: Cells) -> JointCells:
    """No cell, with the quantities that others have."""
    nothing = np.zeros(0, dtype=np.intp)
    quantities = tuple(np.zeros(0, dtype=quantity.dtype) for quantity in like.quantities)
    return JointCells(nothing, nothing, nothing, nothing, quantities)


def joined_cells(parts: Sequence[JointCells]) -> JointCells:
    """One after the other."""
    group, truth, first, second = (
        np.concatenate([part[axis] for part in parts]) for axis in range(4)
    )
    together = zip(*(part.quantities for part in parts), strict=True)
    quantities = tuple(np.concatenate(pieces) for pieces in together)
    return JointCells(group, truth, first, second, quantities)


@dataclass(frozen=True, eq=False, repr=False)
class PairedCounts:
    """Counts of rows by pair of models and group, true label, and the labels that both predicted.

    Made by `count_pairs`; not by its constructor. Counts of shards, days or machines add up with
    ``+`` or `sum`: models, labels and groups are aligned.

    Attributes
    ----------
    cells : ndarray of int64, shape (G, K, 2, 2)
        Rows by pair and group, class, whether the first model is right, and whether the second
        is; their weight, as float64, where rows are weighted. Read-only.
    joint : tuple of ndarray
        The cells that hold rows: group, true label, label that the first and that the second model
        predicted, and the rows (then the sums of weights and of squared weights) of each.
    support : ndarray, shape (G, K)
        Rows of each class that both models have scored, or their weight.
    rows, weight : ndarray, shape (G,)
        Rows that both models have scored, and their weight (the same without weights).
    unpaired : ndarray of int64, shape (G,)
        Rows left out since only one of the two models has scored them.
    is_weighted : bool
        Whether the rows are weighted.
    label_set : LabelSet
        L labels, and which of them are the K classes.
    groups : MultiIndex, shape (G,)
        model_a, model_b, then the keys.
    n_missing : int
        Rows that were left out since a label was missing.
    """

    stored: Cells
    unpaired: Counts
    label_set: LabelSet
    key_groups: Groups
    n_missing: int = 0

    def __post_init__(self) -> None:
        n_groups, n_labels = len(self.key_groups), len(self.label_set.values)
        shape = (n_groups, n_labels, n_labels**2)
        if self.stored.shape != shape or self.unpaired.shape != shape[:1]:
            raise InputError(
                f"`stored` must have the shape {shape}, `unpaired` {shape[:1]}; got "
                f"{self.stored.shape} and {self.unpaired.shape}."
            )
        for held in (*self.stored.quantities, self.unpaired, self.label_set.is_class):
            held.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # by the constructor: arrays come back from a pickle writable
        held = (self.stored, self.unpaired, self.label_set, self.key_groups, self.n_missing)
        return type(self), held

    @property
    def groups(self) -> pd.Index:
        """The two models and the keys of each group."""
        return self.key_groups.index()

    @property
    def pairs(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """The pairs of models, each once."""
        first, second = (level.tolist() for level in self.key_groups.levels[:2])
        codes = dict.fromkeys(map(tuple, self.key_groups.codes[:, :2].tolist()))
        return tuple((first[a], second[b]) for a, b in codes)

    @property
    def is_class(self) -> npt.NDArray[np.bool_]:
        """Whether each label is a class."""
        return self.label_set.is_class

    @property
    def pos_label(self) -> Hashable | None:
        """The positive class of a binary problem, or None."""
        return self.label_set.pos_label

    @property
    def is_weighted(self) -> bool:
        """Whether the rows are weighted."""
        return self.stored.is_weighted

    @property
    def _quantity(self) -> int:
        return WEIGHT if self.is_weighted else ROWS

    @cached_property
    def joint(self) -> JointCells:
        """The cells that hold rows, one by one."""
        group, truth, predicted, quantities = self.stored.entries()
        first, second = np.divmod(predicted, max(len(self.label_set.values), 1))
        return JointCells(group, truth, first, second, quantities)

    @cached_property
    def cells(self) -> Array:
        """Rows, or their weight, by group, class, and which of the two is right."""
        return self._outcomes(self._quantity)

    @cached_property
    def squares(self) -> Array | None:
        """Sums of squared weights by group, class, and which of the two is right; None without."""
        return self._outcomes(SQUARES) if self.is_weighted else None

    @cached_property
    def discordant(self) -> Counts:
        """Rows of each group that only one of the two gets right, whatever their weight."""
        outcomes = self._outcomes(ROWS)
        return np.asarray((outcomes[:, :, 0, 1] + outcomes[:, :, 1, 0]).sum(axis=1))

    @property
    def support(self) -> Array:
        """Rows of each class that both models have scored, or their weight, (G, K)."""
        return np.asarray(self.cells.sum(axis=(2, 3)))

    @property
    def class_rows(self) -> Counts:
        """Rows of each label that both models have scored, whatever their weight, (G, L)."""
        return self.stored.support(ROWS)

    @property
    def rows(self) -> Counts:
        """Rows of each group that both models have scored."""
        return np.asarray(self.stored.rows_of_groups())

    @property
    def weight(self) -> Array:
        """Rows of each group that both models have scored, or their weight."""
        return np.asarray(self.support.sum(axis=1))

    def of_model(self, side: int) -> ConfusionCounts:
        """Counts of the first (0) or second (1) model of each pair, on the rows of both.

        Returns
        -------
        ConfusionCounts
            With the groups of the pairs, and the same labels and classes.
        """
        group, truth, *predicted, quantities = self.joint
        n_labels = len(self.label_set.values)
        entries = Entries(group, truth, predicted[side], quantities)
        cells = gathered((len(self), n_labels, n_labels), entries)
        return ConfusionCounts(cells, self.label_set, self.key_groups, self.n_missing)

    def _outcomes(self, quantity: int) -> Array:
        """One quantity by group, class, and which of the two is right, (G, K, 2, 2)."""
        group, truth, first, second, quantities = self.joint
        shape = (len(self), len(self.label_set.classes), 2, 2)
        held = np.zeros(shape, dtype=quantities[quantity].dtype)
        class_of = np.cumsum(self.is_class) - 1
        places = group * shape[1] + class_of[truth]
        for predicted in (first, second):
            places = 2 * places + (predicted == truth)
        np.add.at(held.reshape(-1), places, quantities[quantity])
        held.flags.writeable = False
        return held

    def __len__(self) -> int:
        return len(self.key_groups)

    def __repr__(self) -> str:
        keys = self.key_groups.names[2:]
        by = f" by {listed(keys)}" if keys else ""
        classes = self.label_set.classes
        return (
            f"<PairedCounts: {counted(len(self.pairs), 'pair')} of models{by}, {len(classes)} "
            f"{'class' if len(classes) == 1 else 'classes'}: {listed(classes)}>"
        )

    def __add__(self, other: PairedCounts) -> PairedCounts:
        if not isinstance(other, PairedCounts):
            return NotImplemented
        _check_addable(self, other)
        groups, place = self.key_groups.join(other.key_groups).in_order()
        labels = joined_labels(self.label_set, other.label_set)
        places = place[: len(self)], place[len(self) :]
        parts = [
            part._moved(labels, at, len(groups))
            for part, at in zip((self, other), places, strict=True)
        ]
        unpaired = np.zeros(len(groups), dtype=np.int64)
        for part, at in zip((self, other), places, strict=True):
            np.add.at(unpaired, at, part.unpaired)
        n_missing = self.n_missing + other.n_missing
        return PairedCounts(parts[0] + parts[1], unpaired, labels, groups, n_missing)

    def __radd__(self, other: object) -> PairedCounts:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def pooled(self) -> PairedCounts:
        """Counts of all groups together; pairs of models stay apart.

        Returns
        -------
        PairedCounts
            With one group for each pair, and the same classes.
        """
        groups, place = self.key_groups.keep([0, 1]).in_order()
        unpaired = np.zeros(len(groups), dtype=np.int64)
        np.add.at(unpaired, place, self.unpaired)
        cells = self._moved(self.label_set, place, len(groups))
        return PairedCounts(cells, unpaired, self.label_set, groups, self.n_missing)

    def _moved(self, labels: LabelSet, place: Codes, n_groups: int) -> Cells:
        """The cells where their groups and labels stand in another table."""
        # of a label that a pair 0/1 had implied, and that is gone, there are no rows
        own = self.label_set
        at = positions(own.values, labels.values)
        said = positions(own.as_predicted(own.values, labels), labels.values)
        group, truth, first, second, quantities = self.joint
        moved = JointCells(place[group], at[truth], said[first], said[second], quantities)
        return moved.gather(n_groups, len(labels.values))


def _check_addable(first: PairedCounts, second: PairedCounts) -> None:
    """InputError unless both counts have the same keys, rules, weights and order of models."""
    if first.key_groups.names != second.key_groups.names:
        raise InputError(
            "Counts can be added only when their groups have the same keys; got "
            f"{listed(first.key_groups.names[2:]) or 'none'} and "
            f"{listed(second.key_groups.names[2:]) or 'none'}."
        )
    if first.is_weighted != second.is_weighted:
        raise InputError(
            "Counts can be added only when both are weighted or both are not; count both with, or "
            "both without sample_weight=."
        )
    if first.label_set.rules != second.label_set.rules:
        raise InputError(
            "Counts can be added only when labels=, abstain= and pos_label= were the same; got "
            f"classes {listed(first.label_set.classes)} and {listed(second.label_set.classes)}."
        )
    turned = [pair for pair in first.pairs if pair[::-1] in second.pairs]
    if turned:
        raise InputError(
            "Counts can be added only when their models stand in one order; got "
            f"{listed(turned[0])} and {listed(turned[0][::-1])}."
        )
