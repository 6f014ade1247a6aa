"""A pandas frame -> ConfusionCounts."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.columns import Columns
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.encoding import Slots, encode
from pandas_tba.errors import InputError, shown
from pandas_tba.grouping import Key, group_keys, warn_many_numbers
from pandas_tba.groups import Groups, sorted_groups
from pandas_tba.labelling import (
    LabelRules,
    LabelSet,
    Observed,
    label_rules,
    label_set,
    warn_predicted_only,
)
from pandas_tba.levels import positions
from pandas_tba.tallying import tally
from pandas_tba.validation import (
    check_frame,
    check_not_mixed,
    check_not_scores,
    column_of,
    missing_error,
)

Counts = npt.NDArray[np.intp]


class _Bound(NamedTuple):
    """The columns of one question: truth and predictions by name, keys, and how many rows they have."""

    truth: tuple[Hashable, Any]
    predictions: dict[Hashable, Any]
    keys: list[Key]
    n_rows: int

    def labelled(self) -> list[tuple[Hashable, Any]]:
        """Truth and predictions with their names."""
        return [self.truth, *self.predictions.items()]

    def at(self, rows: npt.NDArray[np.bool_]) -> _Bound:
        """Only some of the rows."""
        return _Bound(
            (self.truth[0], self.truth[1][rows]),
            {name: column[rows] for name, column in self.predictions.items()},
            [Key(key.name, key.values[rows]) for key in self.keys],
            int(rows.sum()),
        )


def count_frame(
    frame: pd.DataFrame,
    columns: Columns,
    *,
    by: Any = None,
    dropna: bool = False,
    observed: bool = True,
) -> ConfusionCounts:
    """Counts of the frame's rows by model, keys, true and predicted label."""
    columns.check()
    rules = label_rules(columns.labels, columns.abstain, columns.pos_label)
    bound = _bound(check_frame(frame), columns, by)
    slots = [encode(column) for _, column in bound.labelled()]
    missing = _missing(bound, slots)
    n_rows = bound.n_rows
    if missing:
        bound, slots = _complete(bound, missing, columns)
    groups, cells, slots = _tallied(bound, slots, columns, dropna=dropna, observed=observed)
    labels, whole = _labelled(bound, slots, cells, rules)
    return ConfusionCounts(whole, labels, groups, n_rows - bound.n_rows, missing)


def count_arrays(y_true: Any, y_pred: Any, *, labels: Any = None) -> ConfusionCounts:
    """Counts of two columns of labels, taken by position."""
    columns = {}
    for name, values in (("y_true", y_true), ("y_pred", y_pred)):
        column = pd.Series(values)
        if np.ndim(values) != 1:
            raise InputError(
                f"`{name}` must be one column of labels; got shape {np.shape(values)}."
            )
        columns[name] = column.reset_index(drop=True)
    if len(columns["y_true"]) != len(columns["y_pred"]):
        raise InputError(
            f"`y_true` and `y_pred` must be of one length; got {len(columns['y_true']):,} and "
            f"{len(columns['y_pred']):,}."
        )
    return count_frame(pd.DataFrame(columns), Columns(labels=labels))


def _bound(frame: pd.DataFrame, columns: Columns, by: Any) -> _Bound:
    truth = column_of(frame, "y_true", columns.y_true)
    predictions = {name: column_of(frame, "y_pred", name) for name in columns.predictions}
    check_not_scores(truth, predictions)
    check_not_mixed("y_true", columns.y_true, truth)
    for name, column in predictions.items():
        check_not_mixed("y_pred", name, column)
    keys = group_keys(frame, by)
    has_model = columns.is_wide or columns.model is not None
    hit = [key.name for key in keys if key.name == "model" or key.name == columns.model is not None]
    if has_model and hit:
        raise InputError(
            f"`by`: {shown(hit[0])} is the models' own level here; leave it out of `by`, or rename "
            "the column."
        )
    if columns.model is not None:
        keys = [Key("model", column_of(frame, "model", columns.model)), *keys]
    return _Bound((columns.y_true, truth), predictions, keys, len(frame))


def _missing(bound: _Bound, slots: Sequence[Slots]) -> dict[Hashable, int]:
    """Rows without a label, for each column that has such rows."""
    return {
        name: int(column.isna().sum())
        for (name, column), part in zip(bound.labelled(), slots, strict=True)
        if part.has_missing
    }


def _complete(
    bound: _Bound, missing: dict[Hashable, int], columns: Columns
) -> tuple[_Bound, list[Slots]]:
    """Only the rows that have every label, so that models stay comparable."""
    if columns.missing == "raise":
        raise missing_error(missing, bound.n_rows, columns)
    lacks = [column.isna().to_numpy() for name, column in bound.labelled() if name in missing]
    bound = bound.at(~np.logical_or.reduce(lacks))
    return bound, [encode(column) for _, column in bound.labelled()]


def _tallied(
    bound: _Bound, slots: list[Slots], columns: Columns, *, dropna: bool, observed: bool
) -> tuple[Groups, list[Counts], list[Slots]]:
    """Groups in order, the counts of each column of predictions over them, and the label slots."""
    key_slots = [encode(key.values) for key in bound.keys]
    for key, part in zip(bound.keys, key_slots, strict=True):
        warn_many_numbers(key, part)
    found, used = tally(key_slots, slots[0], slots[1:], bound.n_rows)
    key_slots, slots = used[: len(key_slots)], used[len(key_slots) :]
    cells = list(found.cells)
    if not bound.keys:
        return _with_models(Groups(), columns), cells, slots
    codes = found.groups - [part.has_missing for part in key_slots]
    if dropna:
        complete = (codes >= 0).all(axis=1)
        codes, cells = codes[complete], [table[complete] for table in cells]
    levels = [(part.levels(), part.order is not None) for part in key_slots]
    groups = sorted_groups(
        [key.name for key in bound.keys], levels, codes, has_model=columns.model is not None
    )
    wanted, place = groups.in_order() if observed else _all_groups(groups)
    cells = [_moved(table, place, len(wanted)) for table in cells]
    return _with_models(wanted, columns), cells, slots


def _all_groups(groups: Groups) -> tuple[Groups, Counts]:
    """Every combination of the levels, with rows or without, and the place of each group in them."""
    choices = [
        [*range(len(level)), *([-1] if (column < 0).any() else [])]
        for level, column in zip(groups.levels, groups.codes.T, strict=True)
    ]
    every = np.array(list(itertools.product(*choices)), dtype=np.intp).reshape(-1, len(choices))
    stacked = groups.with_codes(np.concatenate([every, groups.codes]))
    wanted, place = stacked.in_order()
    return wanted, place[len(every) :]


def _moved(table: Counts, place: Counts, n_groups: int) -> Counts:
    if len(table) == n_groups and (place[1:] > place[:-1]).all():
        return table
    moved = np.zeros((n_groups, *table.shape[1:]), dtype=table.dtype)
    moved[place] = table
    return moved


def _with_models(groups: Groups, columns: Columns) -> Groups:
    """The groups once for each column of predictions, the model in front."""
    if not columns.is_wide:
        return groups
    models = columns.predictions
    held = np.empty(len(models), dtype=object)
    held[:] = models
    model = np.repeat(np.arange(len(models)), len(groups))
    return replace(
        groups,
        names=("model", *groups.names),
        levels=(pd.Index(models, tupleize_cols=False), *groups.levels),
        codes=np.column_stack([model, np.tile(groups.codes, (len(models), 1))]),
        declared=(True, *groups.declared),
        has_model=True,
    )


def _labelled(
    bound: _Bound, slots: Sequence[Slots], cells: list[Counts], rules: LabelRules
) -> tuple[LabelSet, Counts]:
    """The label set, and the counts over it: permuted here, so that no row is touched for it."""
    rows = [cells[0].sum(axis=(0, 2)), *(table.sum(axis=(0, 1)) for table in cells)]
    at = [np.flatnonzero(total) for total in rows]
    observed = [
        Observed(name, part.values(places), total[places].tolist(), part.declared())
        for (name, _), places, total, part in zip(bound.labelled(), at, rows, slots, strict=True)
    ]
    labels = label_set(rules, observed[0], observed[1:])
    warn_predicted_only(labels, observed[1:])
    n_labels = len(labels.values)
    whole = np.zeros((sum(len(table) for table in cells), n_labels, n_labels), dtype=np.int64)
    start = 0
    true_at = positions(observed[0].values, labels.values)
    for table, places, column in zip(cells, at[1:], observed[1:], strict=True):
        part = whole[start : start + len(table)]
        part[:, true_at[:, None], positions(column.values, labels.values)] = table[:, at[0]][
            :, :, places
        ]
        start += len(table)
    return labels, whole
