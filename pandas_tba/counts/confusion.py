"""ConfusionCounts: how many rows of each group have which true and which predicted label."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.groups import Groups, place_of
from pandas_tba.counts.metadata import read_metadata
from pandas_tba.counts.storage import (
    MOST_ROWS,
    ROWS,
    SQUARES,
    WEIGHT,
    Cells,
    Entries,
    Shape,
    check_total,
    gathered,
)
from pandas_tba.counts.tables import (
    aligned_matrix,
    check_one_table,
    check_sums,
    groups_of_columns,
    groups_of_table,
    key_columns,
    occurring,
    sums_of_weights,
    table_of,
    weight_columns,
    whole_numbers,
    with_unseen,
)
from pandas_tba.errors import InputError, check_flag, counted, listed, shown
from pandas_tba.frames.labels import (
    LabelRules,
    LabelSet,
    Observed,
    joined_labels,
    label_list,
    label_rules,
    label_set,
    warn_predicted_only,
)
from pandas_tba.frames.lookup import check_no_models
from pandas_tba.frames.values import columns_of_keys, plain_index, positions

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionCounts:
    """Counts of rows by group, true label and predicted label: all that the metrics need.

    Made by `count`, `df.tba.counts`, `from_matrix` or `from_table`; not by its constructor. Counts
    of shards, days or machines add up with ``+`` or `sum`: labels and groups are aligned.

    Attributes
    ----------
    cells : ndarray of int64, shape (G, L, L)
        Rows by group, true label, predicted label; their weight, as float64, where rows are
        weighted. Read-only. InputError above 2**26 cells: `to_table` then lists those with rows.
    labels : Index, shape (L,)
        Labels, in the order of all tables.
    is_class : ndarray of bool, shape (L,)
        Whether a label is a class. The others were only predicted, or are labels to abstain.
    declared : bool
        Whether the classes were declared with ``labels=``.
    groups : Index or MultiIndex, shape (G,)
        Keys of the groups, the model first where models were named. A RangeIndex of one when
        neither groups nor models were named.
    model : str or None
        Name of the level that holds the models.
    pos_label : label or None
        The positive class of a binary problem.
    n_missing : int
        Rows that were left out since a label was missing; `missing_by_column` has them by column
        (a row may miss several).
    hits, support, predicted : ndarray, shape (G, L)
        Rows that are predicted right, that truly have, and that are predicted to have a label; or
        their weight.
    rows, weight : ndarray, shape (G,)
        Rows of each group, and their weight (the same without weights).
    is_weighted : bool
        Whether the rows are weighted.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> morning = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> evening = tba.ConfusionCounts.from_matrix([[90, 0], [9, 1]])
    >>> tba.score(morning + evening, t=[0, 1])
    t
    0.0    0.65
    1.0    0.81
    Name: tba, dtype: float64
    """

    stored: Cells
    label_set: LabelSet
    key_groups: Groups = field(default_factory=Groups)
    n_missing: int = 0
    missing_by_column: Mapping[Hashable, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for held in (*self.stored.quantities, self.label_set.is_class):
            held.flags.writeable = False
        if self._total >= MOST_ROWS:
            check_total(self._total)

    def __reduce__(self) -> tuple[Any, ...]:
        # by the constructor: arrays come back from a pickle writable
        held = (self.stored, self.label_set, self.key_groups, self.n_missing)
        return type(self), (*held, self.missing_by_column)

    @property
    def _total(self) -> float:
        return float(self.stored.quantities[ROWS].sum(dtype=np.float64))

    @property
    def labels(self) -> pd.Index:
        """Labels, in the order of all tables."""
        return plain_index(self.label_set.values)

    @property
    def is_class(self) -> npt.NDArray[np.bool_]:
        """Whether each label is a class."""
        return self.label_set.is_class

    @property
    def declared(self) -> bool:
        """Whether the classes were declared with ``labels=``."""
        return self.label_set.rules.labels is not None

    @property
    def pos_label(self) -> Hashable | None:
        """The positive class of a binary problem, or None."""
        return self.label_set.pos_label

    @property
    def groups(self) -> pd.Index:
        """Keys of the groups."""
        return self._index.view()  # of which the name may be changed

    @cached_property
    def _index(self) -> pd.Index:
        return self.key_groups.index()

    @property
    def model(self) -> Hashable | None:
        """Name of the level that holds the models, or None."""
        return self.key_groups.names[0] if self.key_groups.has_model else None

    @property
    def is_weighted(self) -> bool:
        """Whether the rows are weighted."""
        return self.stored.is_weighted

    @cached_property
    def _quantity(self) -> int:
        return WEIGHT if len(self.stored.quantities) > 1 else ROWS

    @cached_property
    def cells(self) -> Array:
        """Rows, or their weight, by group, true label, predicted label."""
        cells = self.stored.dense(self._quantity)
        cells.flags.writeable = False
        return cells

    @cached_property
    def hits(self) -> Array:
        """Rows predicted right, or their weight, by group and label."""
        return self.stored.hits(self._quantity)

    @cached_property
    def support(self) -> Array:
        """Rows that truly have the label, or their weight, by group and label."""
        return self.stored.support(self._quantity)

    @cached_property
    def predicted(self) -> Array:
        """Rows predicted to have the label, or their weight, by group and label."""
        return self.stored.predicted(self._quantity)

    @cached_property
    def class_rows(self) -> Array:
        """Rows that truly have the label, whatever their weight, by group and label."""
        return self.stored.support(ROWS) if self.is_weighted else self.support

    @cached_property
    def rows(self) -> Array:
        """Rows of each group."""
        return _read_only(self.stored.rows_of_groups())

    @cached_property
    def weight(self) -> Array:
        """Rows of each group, or their weight."""
        return _read_only(self.support.sum(axis=1))

    @cached_property
    def squared_hits(self) -> Array | None:
        """Sums of squared weights of rows predicted right, by group and label; None without weights."""
        return self.stored.hits(SQUARES) if self.is_weighted else None

    @cached_property
    def squared_support(self) -> Array | None:
        """Sums of squared weights of rows of the label, by group and label; None without weights."""
        return self.stored.support(SQUARES) if self.is_weighted else None

    def __len__(self) -> int:
        return len(self.key_groups)

    def __repr__(self) -> str:
        by = (
            f", {counted(len(self), 'group')} by {listed(self.key_groups.names)}"
            if self.key_groups.names
            else ""
        )
        classes = self.label_set.classes
        kind = "class" if len(classes) == 1 else "classes"
        return (
            f"<ConfusionCounts: {counted(int(self.rows.sum()), 'row')}{by}, {len(classes)} {kind}"
            f"{': ' if classes else ''}{listed(classes)}>"
        )

    def __add__(self, other: ConfusionCounts) -> ConfusionCounts:
        if not isinstance(other, ConfusionCounts):
            return NotImplemented
        _check_same_kind(self, other)
        check_total(self._total + other._total)
        groups, place = self.key_groups.join(other.key_groups).in_order()
        if not self.key_groups.names:
            groups, place = self.key_groups, np.zeros(2, dtype=np.intp)
        labels = joined_labels(self.label_set, other.label_set)
        shape = (len(groups), len(labels.values), len(labels.values))
        mine = _move_cells(self, labels, place[: len(self)], shape)
        cells = mine + _move_cells(other, labels, place[len(self) :], shape)
        columns = {**self.missing_by_column, **other.missing_by_column}
        missing = {
            name: self.missing_by_column.get(name, 0) + other.missing_by_column.get(name, 0)
            for name in columns
        }
        return ConfusionCounts(cells, labels, groups, self.n_missing + other.n_missing, missing)

    def __radd__(self, other: object) -> ConfusionCounts:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def pooled(self) -> ConfusionCounts:
        """Counts of all groups together; models stay apart.

        Returns
        -------
        ConfusionCounts
            With one group, or one for each model, and the same labels and classes.
        """
        return self._regrouped([0] if self.key_groups.has_model else [])

    def rollup(self, levels: Hashable | list[Hashable]) -> ConfusionCounts:
        """Counts summed over all keys but some; models stay apart.

        Parameters
        ----------
        levels : name, or list of names
            Keys to keep, in the order wanted, by name or by number.

        Returns
        -------
        ConfusionCounts
            Groups of these keys, with the same labels and classes.

        Raises
        ------
        ColumnError
            If a key is not there.
        """
        named = levels if isinstance(levels, list) else [levels]
        keys = [self.key_groups.place_of(level) for level in named]
        if self.key_groups.has_model:
            keys = [0, *(key for key in keys if key != 0)]
        return self._regrouped(list(dict.fromkeys(keys)))

    def _regrouped(self, keys: list[int]) -> ConfusionCounts:
        groups, place = self.key_groups.keep(keys).in_order()
        if not keys:
            groups, place = Groups(), np.zeros(len(self), dtype=np.intp)
        every = np.arange(len(self.label_set.values))
        cells = self.stored.moved(place, every, every, (len(groups), len(every), len(every)))
        return ConfusionCounts(
            cells, self.label_set, groups, self.n_missing, self.missing_by_column
        )

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike | pd.DataFrame,
        *,
        labels: Iterable[Hashable] | None = None,
        groups: pd.Index | Sequence[Hashable] | None = None,
        model: Hashable | None = None,
        abstain: Iterable[Hashable] = (),
        pos_label: Hashable | None = None,
    ) -> ConfusionCounts:
        """Counts from confusion matrices: rows true, columns predicted.

        Parameters
        ----------
        matrix : array_like, shape (L, L) or (G, L, L), or DataFrame
            Rows of the data, whole numbers. A DataFrame is aligned by its labels, so that the
            result of ``pd.crosstab`` can be used whatever the order of its columns.
        labels : list, optional
            The classes, then come those of `abstain`. Taken from a DataFrame, else 0, 1, ...
        groups : Index or list, optional
            Keys of the G matrices.
        model : name or number, optional
            The level of `groups` that holds the models; 0 where it is a list of models.
        abstain : list, optional
            Labels that may be predicted and are no class.
        pos_label : label, optional
            The positive one of two classes; inferred for False/True, 0/1 and -1/1.

        Returns
        -------
        ConfusionCounts
            All labels but those to abstain are classes, with rows or without.

        Raises
        ------
        InputError
            If the shapes do not fit, or a cell is negative, infinite, missing or a fraction.
        ColumnError
            If `groups` have no such level for the models.

        Examples
        --------
        >>> import pandas_tba as tba
        >>> tba.score(tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]]), t=0)
        0.75
        """
        abstain = label_list("abstain", abstain)
        labels = None if labels is None else label_list("labels", labels)
        if isinstance(matrix, pd.DataFrame):
            matrix, labels = aligned_matrix(matrix, labels, abstain)
        cells = whole_numbers("matrix", matrix)
        cells = cells[None] if cells.ndim == 2 else cells
        if cells.ndim != 3 or cells.shape[1] != cells.shape[2]:
            raise InputError(
                f"`matrix` must have the shape (L, L), or (G, L, L) for groups; got {np.shape(matrix)}."
            )
        declared = range(cells.shape[1] - len(abstain)) if labels is None else labels
        rules = label_rules(list(declared), abstain, pos_label)
        known = label_set(rules, Observed("y_true", (), ()), [])
        if len(known.values) != cells.shape[1]:
            raise InputError(
                f"`matrix` has {cells.shape[1]} labels, but `labels` and `abstain` name "
                f"{len(known.values)}: {listed(known.values)}."
            )
        keys, place = _groups_of_matrices(groups, model, len(cells))
        every = np.arange(cells.shape[1])
        moved = Cells(cells.shape, (cells,)).moved(
            place, every, every, (len(keys), *cells.shape[1:])
        )
        return cls(moved, known, keys)

    @classmethod
    def from_table(
        cls,
        table: pd.DataFrame,
        *,
        y_true: Hashable = "y_true",
        y_pred: Hashable = "y_pred",
        n: Hashable = "n",
        weight: Hashable | None = None,
        weight_squared: Hashable | None = None,
        by: Hashable | list[Hashable] | None = None,
        model: Hashable | None = None,
        labels: Iterable[Hashable] | None = None,
        abstain: Iterable[Hashable] = (),
        pos_label: Hashable | None = None,
    ) -> ConfusionCounts:
        """Counts from a table of combinations, as a SQL GROUP BY gives it.

        Parameters
        ----------
        table : DataFrame
            One row for each combination of labels and keys; a combination may stand in several. Or
            what `to_table` made, also in text.
        y_true, y_pred, n : column names
            True label, predicted label and number of rows.
        weight, weight_squared : column names, optional
            Sums of the weights of these rows, and of their squares; both or neither. Columns of
            these names are taken for them.
        by : column name, or list of them, optional
            Keys of the groups; all other columns by default.
        model : column name, optional
            The key that holds the model.
        labels, abstain, pos_label
            As in `count`. Without `labels` the classes are the labels of y_true that have rows.
            Where none is given, or no model: what `to_table` says of them.

        Returns
        -------
        ConfusionCounts

        Raises
        ------
        ColumnError
            If a column is missing.
        InputError
            If a number of rows is negative, infinite, missing or a fraction, or a label missing; if
            sums of weights do not go together; if a table in text is not whole.
        KindError
            If `table` is no DataFrame, or labels are of kinds that never match.

        Warns
        -----
        InputWarning
            If a label is predicted and never true, unless `to_table` made the table.

        Examples
        --------
        >>> import pandas as pd, pandas_tba as tba
        >>> table = pd.DataFrame({"y_true": ["a", "b"], "y_pred": ["a", "a"], "n": [3, 1]})
        >>> tba.score(tba.ConfusionCounts.from_table(table), t=1)
        0.75
        """
        table, metadata = read_metadata(table, label_rules(labels, abstain, pos_label), model)
        weights = weight_columns(table, weight, weight_squared, metadata, has_keys=by is not None)
        parts = (
            y_true,
            y_pred,
            n,
            *weights,
            *(() if metadata.model is None else (metadata.model,)),
        )
        keys = key_columns(table, by, parts, metadata)
        groups, place = groups_of_table(table, keys, metadata)
        numbers = whole_numbers("n", table[n].to_numpy(dtype=object))
        check_one_table(metadata, numbers)
        has_rows = numbers > 0
        table, numbers, place = table[has_rows], numbers[has_rows], place[has_rows]
        sums = [sums_of_weights(str(name), table[name]) for name in weights]
        check_sums(numbers, sums)
        sides = [occurring(table[name], numbers, name) for name in (y_true, y_pred)]
        (truth, truth_codes), (prediction, predicted_codes) = sides
        observed = [
            with_unseen(side, unseen)
            for side, unseen in zip((truth, prediction), metadata.seen, strict=True)
        ]
        known = label_set(label_rules(*metadata.rules), observed[0], observed[1:])
        known = known._replace(scored=metadata.scored)
        if not metadata.columns:  # else whoever counted the rows was warned
            warn_predicted_only(known, observed[1:])
        at_true = positions(truth.values, known.values)[truth_codes]
        at_predicted = positions(prediction.values, known.values)[predicted_codes]
        shape = (len(groups), len(known.values), len(known.values))
        entries = Entries(place, at_true, at_predicted, (numbers, *sums))
        return cls(gathered(shape, entries), known, groups, metadata.n_missing, metadata.missing)

    def to_table(self, *, text: bool = False) -> pd.DataFrame:
        """One row for each combination of group, true and predicted label that has rows.

        `from_table` makes the same counts of it, also after a way through Parquet; with
        ``text=True`` through CSV, JSON or a database.

        Parameters
        ----------
        text : bool, optional
            Whether every value is written as text that no reader takes for anything else, after a
            line of metadata. Write it as ``table.to_csv(path, index=False)``. Keys whose names a
            reader might change have columns group_0, group_1, ...

        Returns
        -------
        DataFrame
            A column for each key, then y_true, y_pred and n, the number of rows; where rows are
            weighted also weight and weight_squared, the sums of their weights and of the squares.
            A group without rows has one line, in which n is 0. The rest are metadata: declared
            labels, declared orders, the model's column, names, rows left out, and the version. They
            are in ``attrs["tba"]``, or in the first line of a column tba.

        Raises
        ------
        InputError
            If a key bears the name of one of these columns; or, with ``text=True``, if a label or key
            is none of text, numbers, dates, times, periods, intervals, bytes or tuples. Without, an
            InputWarning says what attrs cannot hold.

        Examples
        --------
        >>> import pandas_tba as tba
        >>> counts = tba.ConfusionCounts.from_matrix([[3, 0], [1, 2]], labels=["no", "yes"])
        >>> table = counts.to_table(text=True)
        >>> table["y_true"].tolist()
        ['', '["no"]', '["yes"]', '["yes"]']
        >>> tba.ConfusionCounts.from_table(table)
        <ConfusionCounts: 6 rows, 2 classes: 'no', 'yes'>
        """
        check_flag("text", text)
        return table_of(
            self.stored,
            self.label_set,
            self.key_groups,
            self.n_missing,
            self.missing_by_column,
            text=text,
        )


def _groups_of_matrices(
    groups: object, model: Hashable | None, number: int
) -> tuple[Groups, Codes]:
    """The groups of so many matrices, in order, and the group of each."""
    if groups is None and number != 1:
        raise InputError(f"`groups` must name the {number} matrices.")
    if groups is None and model is None:
        return Groups(), np.zeros(1, dtype=np.intp)
    groups = () if groups is None else groups
    if isinstance(groups, (str, bytes, set, frozenset)) or not isinstance(groups, Iterable):
        raise InputError(f"`groups` must be a list of keys, or an Index; got {shown(groups)}.")
    names, columns = columns_of_keys(groups)
    if len(columns[0]) != number:
        raise InputError(
            f"`groups` names {counted(len(columns[0]), 'group')}, but `matrix` holds {number}."
        )
    if model is None:
        return groups_of_columns(names, columns)
    at = place_of("model", model, names)
    columns.insert(0, columns.pop(at))
    names.pop(at)
    check_no_models("groups", names, None)
    return groups_of_columns(["model", *names], columns, has_model=True)


def _check_same_kind(first: ConfusionCounts, second: ConfusionCounts) -> None:
    """InputError unless both counts have the same keys, rules and weights."""
    keys, others = first.key_groups, second.key_groups
    if keys.names == others.names and keys.has_model != others.has_model:
        raise InputError(
            f"Counts can be added only when both have models or none; {shown(keys.names[0])} holds models "
            "in one of them, and is an ordinary key in the other. Tell from_table(..., model="
            f"{shown(keys.names[0])})."
        )
    if keys.names != others.names or keys.has_model != others.has_model:
        raise InputError(
            f"Counts can be added only when their groups have the same keys; got {listed(keys.names) or 'none'} "
            f"and {listed(others.names) or 'none'}."
        )
    if first.is_weighted != second.is_weighted:
        raise InputError(
            "Counts can be added only when both are weighted or both are not; count both with, or "
            "both without sample_weight=."
        )
    rules, other_rules = first.label_set.rules, second.label_set.rules
    if rules != other_rules:
        raise InputError(
            "Counts can be added only when labels=, abstain= and pos_label= were the same; got "
            f"{_declaration(rules)} and {_declaration(other_rules)}."
        )


def _declaration(rules: LabelRules) -> str:
    """What was declared of the labels, in words."""
    labels = "no labels" if rules.labels is None else f"labels {listed(rules.labels)}"
    abstain = f", abstain {listed(rules.abstain)}" if rules.abstain else ""
    return (
        labels
        + abstain
        + (f", pos_label {shown(rules.pos_label)}" if rules.pos_label is not None else "")
    )


def _move_cells(part: ConfusionCounts, labels: LabelSet, place: Codes, shape: Shape) -> Cells:
    """The cells of one part where its groups and labels stand in the whole."""
    # a label that a pair 0/1 had implied, and that never occurs, may be gone: its place is -1
    own = part.label_set
    at = positions(own.values, labels.values)
    predicted_at = positions(own.as_predicted(own.values, labels), labels.values)
    return part.stored.moved(place, at, predicted_at, shape)


def _read_only(held: Array) -> Array:
    """The array, which can no longer be written to."""
    held.flags.writeable = False
    return held
