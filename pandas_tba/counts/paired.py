"""Two models on the same rows: how many rows both get right, one of them, or none."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.groups import Groups
from pandas_tba.errors import InputError, counted, listed
from pandas_tba.frames.labels import LabelSet, joined_labels
from pandas_tba.frames.values import positions

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class PairedCounts:
    """Counts of rows by pair of models, group and class, and by which of the two is right.

    Made by `count_pairs`; not by its constructor. Counts of shards, days or machines add up with
    ``+`` or `sum`: models, classes and groups are aligned.

    Attributes
    ----------
    cells : ndarray of int64, shape (G, K, 2, 2)
        Rows by pair and group, class, whether the first model is right, and whether the second
        is. Read-only.
    unpaired : ndarray of int64, shape (G,)
        Rows left out since only one of the two models has scored them.
    label_set : LabelSet
        Labels, and which of them are the K classes.
    groups : MultiIndex, shape (G,)
        model_a, model_b, then the keys.
    n_missing : int
        Rows that were left out since a label was missing.
    """

    cells: Counts
    unpaired: Counts
    label_set: LabelSet
    key_groups: Groups
    n_missing: int = 0

    def __post_init__(self) -> None:
        shape = (len(self.key_groups), len(self.label_set.classes), 2, 2)
        if self.cells.shape != shape or self.unpaired.shape != shape[:1]:
            raise InputError(
                f"`cells` must have the shape {shape}, `unpaired` {shape[:1]}; got "
                f"{self.cells.shape} and {self.unpaired.shape}."
            )
        self.cells.flags.writeable = False
        self.unpaired.flags.writeable = False

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
    def support(self) -> Counts:
        """Rows of each class that both models have scored, (G, K)."""
        return np.asarray(self.cells.sum(axis=(2, 3)))

    @property
    def rows(self) -> Counts:
        """Rows of each group that both models have scored."""
        return np.asarray(self.cells.sum(axis=(1, 2, 3)))

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
        _check_same_kind(self, other)
        groups, place = self.key_groups.join(other.key_groups).in_order()
        labels = joined_labels(self.label_set, other.label_set)
        cells = np.zeros((len(groups), len(labels.classes), 2, 2), dtype=np.int64)
        unpaired = np.zeros(len(groups), dtype=np.int64)
        for part, at in ((self, place[: len(self)]), (other, place[len(self) :])):
            classes = positions(part.label_set.classes, labels.classes)
            kept = classes >= 0  # a class that a pair 0/1 had implied may be gone
            cells[np.ix_(at, classes[kept])] += part.cells[:, kept]
            unpaired[at] += part.unpaired
        return PairedCounts(cells, unpaired, labels, groups, self.n_missing + other.n_missing)

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
        cells = np.zeros((len(groups), *self.cells.shape[1:]), dtype=np.int64)
        unpaired = np.zeros(len(groups), dtype=np.int64)
        np.add.at(cells, place, self.cells)
        np.add.at(unpaired, place, self.unpaired)
        return PairedCounts(cells, unpaired, self.label_set, groups, self.n_missing)


def _check_same_kind(first: PairedCounts, second: PairedCounts) -> None:
    if first.key_groups.names != second.key_groups.names:
        raise InputError(
            "Counts can be added only when their groups have the same keys; got "
            f"{listed(first.key_groups.names[2:]) or 'none'} and "
            f"{listed(second.key_groups.names[2:]) or 'none'}."
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
