"""A pandas frame -> ConfusionCounts."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.cells import stacked
from pandas_tba.columns import Columns
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.encoding import Slots, encode, normal, scored
from pandas_tba.errors import InputError, KindError, check_flag, shown
from pandas_tba.grouping import Key, group_keys, warn_many_numbers
from pandas_tba.groups import Groups, check_no_models, sorted_groups
from pandas_tba.labelling import (
    LabelRules,
    LabelSet,
    Observed,
    label_rules,
    label_set,
    scored_pair,
    warn_predicted_only,
)
from pandas_tba.levels import pandas_column, plain_index, plain_series, positions
from pandas_tba.remarks import check_not_counts
from pandas_tba.specification import check_schema, faults_of, with_all_faults
from pandas_tba.tallying import Tally, tally
from pandas_tba.validation import (
    check_frame,
    check_labels,
    column_of,
    missing_error,
    score_values,
    weight_values,
)

Codes = npt.NDArray[np.intp]


class Bound(NamedTuple):
    """The columns of one question, and how many rows they have.

    ``predictions`` hold labels, or slots False and True where scores were compared with a
    threshold.
    """

    truth: tuple[Hashable, Any]
    predictions: dict[Hashable, Any]
    keys: list[Key]
    weights: tuple[Hashable, Any] | None
    n_rows: int

    def labelled(self) -> list[tuple[Hashable, Any]]:
        """Truth and predictions with their names."""
        return [self.truth, *self.predictions.items()]

    def at(self, rows: npt.NDArray[np.bool_]) -> Bound:
        """Only some of the rows."""
        return Bound(
            (self.truth[0], self.truth[1][rows]),
            {name: column[rows] for name, column in self.predictions.items()},
            [Key(key.name, key.values[rows]) for key in self.keys],
            None if self.weights is None else (self.weights[0], self.weights[1][rows]),
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
    check_frame(frame)
    check_flag("dropna", dropna)
    check_flag("observed", observed)
    if columns.schema is not None:
        check_schema(frame, columns, columns.schema)
    try:
        return _counted(frame, columns, by=by, dropna=dropna, observed=observed)
    except (InputError, KindError) as error:
        if not error.check:
            raise
        fault = with_all_faults(error, faults_of(frame, columns))
    raise fault


def _counted(
    frame: pd.DataFrame, columns: Columns, *, by: Any, dropna: bool, observed: bool
) -> ConfusionCounts:
    rules = label_rules(columns.labels, columns.abstain, columns.pos_label)
    bound, slots, missing = complete_rows(frame, columns, by)
    weights = None if bound.weights is None else weight_values(*bound.weights)
    key_slots = [encode(key.values) for key in bound.keys]
    for key, part in zip(bound.keys, key_slots, strict=True):
        warn_many_numbers(key, part)
    found, used = tally(key_slots, slots[0], slots[1:], bound.n_rows, weights)
    key_slots, slots = used[: len(key_slots)], used[len(key_slots) :]
    groups, place = grouped_keys(bound, found, key_slots, columns, dropna=dropna, observed=observed)
    labels, true_at, predicted_at = label_places(bound, found, slots, rules, columns)
    shape = (len(groups), len(labels.values), len(labels.values))
    parts = [
        table.moved(place, true_at, at, shape)
        for table, at in zip(found.tables, predicted_at, strict=True)
    ]
    return ConfusionCounts(
        stacked(parts), labels, _with_models(groups, columns), len(frame) - bound.n_rows, missing
    )


def count_arrays(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, labels: Any = None
) -> ConfusionCounts:
    """Counts of two columns of labels, taken by position."""
    columns = {"y_true": _column("y_true", y_true), "y_pred": _column("y_pred", y_pred)}
    if sample_weight is not None:
        columns["sample_weight"] = _column("sample_weight", sample_weight)
    for name, column in columns.items():
        if len(column) != len(columns["y_true"]):
            raise InputError(
                f"`y_true` and `{name}` must be of one length; got {len(columns['y_true']):,} and "
                f"{len(column):,}."
            )
    weights = None if sample_weight is None else "sample_weight"
    return count_frame(pd.DataFrame(columns), Columns(labels=labels, sample_weight=weights))


def _column(name: str, values: Any) -> pd.Series:
    values = pandas_column(values)
    try:
        column = plain_series(values)
    except (TypeError, ValueError):
        raise InputError(
            f"`{name}` must be one column of values; got a {type(values).__name__}."
        ) from None
    axes = getattr(values, "ndim", 1 if isinstance(values, (list, tuple, range)) else 0)
    if axes != 1 or any(isinstance(value, (list, tuple)) for value in column[:1]):
        raise InputError(f"`{name}` must be one column of values; got {_shape_of(values)}.")
    return column.reset_index(drop=True)


def _shape_of(values: Any) -> str:
    try:
        return f"shape {np.shape(values)}"
    except ValueError:  # of lists of several lengths
        return shown(values)


def complete_rows(
    frame: pd.DataFrame, columns: Columns, by: Any
) -> tuple[Bound, list[Slots], dict[Hashable, int]]:
    """The bound columns of rows that have every value, their slots, and what was missing."""
    bound = bound_columns(frame, columns, by)
    slots = _encoded(bound, columns)  # refuses what is no label, before labels are looked at
    check_labels(columns, bound.truth[1], bound.predictions)
    missing = _missing(bound, slots)
    if missing:
        bound, slots = _complete(bound, missing, columns)
    return bound, slots, missing


def bound_columns(frame: pd.DataFrame, columns: Columns, by: Any) -> Bound:
    """The columns that are named, each looked for, their values not looked at."""
    check_not_counts(frame)
    argument = "y_pred" if columns.y_score is None else "y_score"
    truth = normal(column_of(frame, "y_true", columns.y_true))
    predictions = {name: normal(column_of(frame, argument, name)) for name in columns.predictions}
    keys = [key._replace(values=normal(key.values)) for key in group_keys(frame, by)]
    if columns.has_models:
        check_no_models("by", [key.name for key in keys], columns.model)
    if columns.model is not None:
        keys = [Key("model", normal(column_of(frame, "model", columns.model))), *keys]
    weights = columns.sample_weight
    return Bound(
        (columns.y_true, truth),
        predictions,
        keys,
        None if weights is None else (weights, normal(column_of(frame, "sample_weight", weights))),
        len(frame),
    )


def _encoded(bound: Bound, columns: Columns) -> list[Slots]:
    """Slots of truth and predictions."""
    truth = encode(bound.truth[1])
    if columns.y_score is None:
        return [truth, *(encode(column) for column in bound.predictions.values())]
    return [
        truth,
        *(
            scored(score_values(name, column), columns.threshold)
            for name, column in bound.predictions.items()
        ),
    ]


def _missing(bound: Bound, slots: Sequence[Slots]) -> dict[Hashable, int]:
    """Rows without a label, score or weight, for each column that has such rows."""
    missing = {
        name: int(column.isna().sum())
        for (name, column), part in zip(bound.labelled(), slots, strict=True)
        if part.has_missing
    }
    if bound.weights is not None and bound.weights[1].isna().any():
        missing[bound.weights[0]] = int(bound.weights[1].isna().sum())
    return missing


def _complete(
    bound: Bound, missing: dict[Hashable, int], columns: Columns
) -> tuple[Bound, list[Slots]]:
    """Only the rows that have every value, so that models stay comparable."""
    if columns.missing == "raise":
        raise missing_error(missing, bound.n_rows, columns, dict(bound.labelled()))
    named = [*bound.labelled(), *([] if bound.weights is None else [bound.weights])]
    lacks = [column.isna().to_numpy() for name, column in named if name in missing]
    bound = bound.at(~np.logical_or.reduce(lacks))
    return bound, _encoded(bound, columns)


def grouped_keys(
    bound: Bound,
    found: Tally,
    slots: Sequence[Slots],
    columns: Columns,
    *,
    dropna: bool,
    observed: bool,
) -> tuple[Groups, Codes]:
    """The groups in order, and the place among them of each group counted; -1 is left out."""
    if not bound.keys:
        return Groups(), np.zeros(1, dtype=np.intp)
    codes = found.groups - [part.has_missing for part in slots]
    place = np.arange(len(codes))
    if dropna:
        complete = (codes >= 0).all(axis=1)
        codes, place = codes[complete], np.where(complete, complete.cumsum() - 1, -1)
    levels = [(part.levels(), part.order is not None) for part in slots]
    groups = sorted_groups(
        [key.name for key in bound.keys], levels, codes, has_model=columns.model is not None
    )
    wanted, moved = groups.in_order() if observed else _all_groups(groups)
    return wanted, np.append(moved, -1)[place]


def _all_groups(groups: Groups) -> tuple[Groups, Codes]:
    """Every combination of the levels, with rows or without, and the place of each group in them."""
    choices = [
        [*range(len(level)), *([-1] if (column < 0).any() else [])]
        for level, column in zip(groups.levels, groups.codes.T, strict=True)
    ]
    every = np.array(list(itertools.product(*choices)), dtype=np.intp).reshape(-1, len(choices))
    stacked = groups.with_codes(np.concatenate([every, groups.codes]))
    wanted, place = stacked.in_order()
    return wanted, place[len(every) :]


def _with_models(groups: Groups, columns: Columns) -> Groups:
    """The groups once for each column of predictions, the model in front."""
    if not columns.is_wide:
        return groups
    models = columns.predictions
    model = np.repeat(np.arange(len(models)), len(groups))
    return replace(
        groups,
        names=("model", *groups.names),
        levels=(plain_index(models), *groups.levels),
        codes=np.column_stack([model, np.tile(groups.codes, (len(models), 1))]),
        declared=(True, *groups.declared),
        has_model=True,
    )


def label_places(
    bound: Bound, found: Tally, slots: Sequence[Slots], rules: LabelRules, columns: Columns
) -> tuple[LabelSet, Codes, list[Codes]]:
    """The label set, and where the slots of truth and of each prediction stand in it.

    Counts are permuted so that two columns with different levels agree, never the rows.
    """
    tables = found.tables
    rows = [
        tables[0].rows_of_true(),
        *(table.rows_of_predicted() for table in tables),
    ]
    at = [np.flatnonzero(total) for total in rows]
    observed = [
        Observed(name, part.values(places), total[places].tolist(), part.declared())
        for (name, _), places, total, part in zip(bound.labelled(), at, rows, slots, strict=True)
    ]
    if columns.y_score is not None:
        pair = scored_pair(rules, observed[0])
        observed[1:] = [
            column._replace(values=[pair[place] for place in places])
            for column, places in zip(observed[1:], at[1:], strict=True)
        ]
    labels = label_set(rules, observed[0], observed[1:])
    warn_predicted_only(labels, observed[1:])
    stand = []
    for column, places, total in zip(observed, at, rows, strict=True):
        places_of = np.full(len(total), -1, dtype=np.intp)
        places_of[places] = positions(column.values, labels.values)
        stand.append(places_of)
    return labels, stand[0], stand[1:]
