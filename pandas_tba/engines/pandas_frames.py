"""A pandas frame -> ConfusionCounts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.groups import Groups, grouped_keys
from pandas_tba.counts.storage import stacked
from pandas_tba.engines.kernel import Tally, tally
from pandas_tba.errors import InputError, KindError, check_flag, shown
from pandas_tba.frames.checks import check_labels, missing_error, own_scores, weight_values
from pandas_tba.frames.codes import ColumnCodes, encode, encode_all, scored
from pandas_tba.frames.columns import Columns, Roles
from pandas_tba.frames.labels import (
    LabelSet,
    Observed,
    label_set,
    scored_pair,
    warn_predicted_only,
)
from pandas_tba.frames.lookup import (
    MANY_NUMBERS,
    Bound,
    bound_columns,
    warn_many_numbers,
)
from pandas_tba.frames.schema import check_schema, faults_of, with_all_faults
from pandas_tba.frames.values import all_positions, pandas_column, plain_index, plain_series

Codes = npt.NDArray[np.intp]


def count_frame(
    frame: pd.DataFrame,
    columns: Columns,
    *,
    by: Any = None,
    dropna: bool = False,
    observed: bool = True,
) -> ConfusionCounts:
    """Counts of the frame's rows by model, keys, true and predicted label."""
    roles = columns.roles
    if dropna is not False or observed is not True:
        check_flag("dropna", dropna)
        check_flag("observed", observed)
    if roles.schema is not None:
        check_schema(frame, roles)
    try:
        return _count_checked(frame, roles, by=by, dropna=dropna, observed=observed)
    except (InputError, KindError) as error:
        if not error.check:
            raise
        fault = with_all_faults(error, faults_of(frame, roles))
    raise fault


def _count_checked(
    frame: pd.DataFrame, columns: Roles, *, by: Any, dropna: bool, observed: bool
) -> ConfusionCounts:
    """Counts of a frame whose arguments were checked."""
    bound, encoded, missing = complete_rows(frame, columns, by)
    weights = None if bound.weights is None else weight_values(*bound.weights)
    encoded_keys = encode_all([key.values for key in bound.keys])
    for key, part in zip(bound.keys, encoded_keys, strict=True):
        if part.size > MANY_NUMBERS:
            warn_many_numbers(key, part)
    found, used = tally(encoded_keys, encoded[0], encoded[1:], bound.n_rows, weights)
    encoded_keys, encoded = used[: len(encoded_keys)], used[len(encoded_keys) :]
    groups, place = grouped_keys(
        [key.name for key in bound.keys],
        found.groups,
        encoded_keys,
        has_model=columns.model is not None,
        dropna=dropna,
        observed=observed,
    )
    labels, true_at, predicted_at = label_places(bound, found, encoded, columns)
    shape = (len(groups.codes), len(labels.values), len(labels.values))
    parts = [
        table.moved(place, true_at, at, shape)
        for table, at in zip(found.tables, predicted_at, strict=True)
    ]
    return ConfusionCounts(
        parts[0] if len(parts) == 1 else stacked(parts),
        labels,
        _add_models(groups, columns),
        len(frame) - bound.n_rows,
        missing,
    )


def count_arrays(
    y_true: Any, y_pred: Any, *, sample_weight: Any = None, labels: Any = None
) -> ConfusionCounts:
    """Counts of two columns of labels, taken by position."""
    columns = {"y_true": _array_column("y_true", y_true), "y_pred": _array_column("y_pred", y_pred)}
    if sample_weight is not None:
        columns["sample_weight"] = _array_column("sample_weight", sample_weight)
    for name, column in columns.items():
        if len(column) != len(columns["y_true"]):
            raise InputError(
                f"`y_true` and `{name}` must be of one length; got {len(columns['y_true']):,} and "
                f"{len(column):,}."
            )
    weights = None if sample_weight is None else "sample_weight"
    return count_frame(pd.DataFrame(columns), Columns(labels=labels, sample_weight=weights))


def _array_column(name: str, values: Any) -> pd.Series:
    """One column of an array or list; InputError for anything else."""
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
    """The shape of what is no column, in words."""
    try:
        return f"shape {np.shape(values)}"
    except ValueError:  # of lists of several lengths
        return shown(values)


def complete_rows(
    frame: pd.DataFrame, columns: Roles, by: Any
) -> tuple[Bound, list[ColumnCodes], dict[Hashable, int]]:
    """The bound columns of rows that have every value, their codes, and what was missing."""
    bound = bound_columns(frame, columns, by)
    encoded = _codes_of_labels(
        bound, columns
    )  # refuses what is no label, before labels are looked at
    if not all(part.is_plain for part in encoded):
        check_labels(columns, bound.truth[1], bound.predictions)
    missing = _count_missing(bound, encoded)
    if missing:
        bound, encoded = _drop_incomplete(bound, missing, columns)
    return bound, encoded, missing


def _codes_of_labels(bound: Bound, columns: Roles) -> list[ColumnCodes]:
    """Codes of truth and predictions."""
    if not columns.has_scores:
        return encode_all([bound.truth[1], *bound.predictions.values()])
    return [
        encode(bound.truth[1]),
        *(
            scored(own_scores(name, column), columns.threshold)
            for name, column in bound.predictions.items()
        ),
    ]


def _count_missing(bound: Bound, encoded: Sequence[ColumnCodes]) -> dict[Hashable, int]:
    """Rows without a label, score or weight, for each column that has such rows."""
    missing = (
        {
            name: int(column.isna().sum())
            for (name, column), part in zip(bound.labelled(), encoded, strict=True)
            if part.has_missing
        }
        if any(part.has_missing for part in encoded)
        else {}
    )
    if bound.weights is not None and bound.weights[1].isna().any():
        missing[bound.weights[0]] = int(bound.weights[1].isna().sum())
    return missing


def _drop_incomplete(
    bound: Bound, missing: dict[Hashable, int], columns: Roles
) -> tuple[Bound, list[ColumnCodes]]:
    """Only the rows that have every value, so that models stay comparable."""
    if columns.missing == "raise":
        raise missing_error(missing, bound.n_rows, columns, dict(bound.labelled()))
    named = [*bound.labelled(), *([] if bound.weights is None else [bound.weights])]
    is_missing = [column.isna().to_numpy() for name, column in named if name in missing]
    bound = bound.at(~np.logical_or.reduce(is_missing))
    return bound, _codes_of_labels(bound, columns)


def _add_models(groups: Groups, columns: Roles) -> Groups:
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
    bound: Bound, found: Tally, encoded: Sequence[ColumnCodes], columns: Roles
) -> tuple[LabelSet, Codes, list[Codes]]:
    """The label set, and where the codes of truth and of each prediction stand in it.

    Counts are permuted so that two columns with different levels agree, never the rows.
    """
    tables = found.tables
    rows = [
        tables[0].rows_of_true(),
        *(table.rows_of_predicted() for table in tables),
    ]
    at = [np.flatnonzero(total) for total in rows]
    held = [part.observed(places) for part, places in zip(encoded, at, strict=True)]
    observed = [
        Observed(name, values, total[places].tolist(), order)
        for name, places, total, (values, order) in zip(
            [bound.truth[0], *bound.predictions], at, rows, held, strict=True
        )
    ]
    pair = scored_pair(columns.rules, observed[0]) if columns.has_scores else None
    if pair is not None:
        observed[1:] = [
            column._replace(values=[pair[place] for place in places])
            for column, places in zip(observed[1:], at[1:], strict=True)
        ]
    labels = label_set(columns.rules, observed[0], observed[1:])._replace(scored=pair)
    warn_predicted_only(labels, observed[1:])
    stand = [np.full(len(total), -1, dtype=np.intp) for total in rows]
    for part, places, found_at in zip(
        stand, at, all_positions([column.values for column in observed], labels.values), strict=True
    ):
        part[places] = found_at
    return labels, stand[0], stand[1:]
