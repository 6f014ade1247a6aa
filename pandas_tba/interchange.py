"""Tables of counts as they come and go: their columns of weights, and what their attrs say.

Remarks in the attrs are JSON, so that Parquet keeps them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import InputError, listed, shown
from pandas_tba.levels import plain_index, positions, union


class Remarks(NamedTuple):
    """What was declared of labels (labels, abstain, pos_label), the model's column, rows left out."""

    rules: tuple[Any, Any, Any]
    model: Hashable | None
    n_missing: int = 0
    missing: Mapping[Hashable, int] = {}


def with_remarks(table: pd.DataFrame, **remarks: Any) -> pd.DataFrame:
    """The table with remarks in its attrs; empty ones, and those that JSON cannot say, are left out."""
    held = {name: _as_json(value) for name, value in remarks.items()}
    told = {name: part for name, part in held.items() if part is not None and part not in ([], {})}
    table.attrs["tba"] = {"counts": told}
    return table


def recalled(
    table: pd.DataFrame, rules: tuple[Any, Any, Any], model: Hashable | None
) -> tuple[pd.DataFrame, Remarks]:
    """The table with its categories in order again, and remarks where nothing else is given."""
    told: Any = table.attrs.get("tba")
    told = told.get("counts") if isinstance(told, Mapping) else None
    told = told if isinstance(told, Mapping) else {}
    if rules == (None, (), None):
        rules = (told.get("labels"), told.get("abstain", ()), told.get("pos_label"))
    if model is None and told.get("model") in table.columns:
        model = told["model"]
    ordered = {
        name: pd.Categorical(table[name], categories=plain_index(order))
        for name, order in told.get("orders", {}).items()
        if name in table.columns and table[name].dropna().isin(order).all()
    }
    remarks = Remarks(rules, model, told.get("n_missing", 0), told.get("missing", {}))
    return table.assign(**ordered), remarks


def _as_json(value: Any) -> Any:
    """The same in text, numbers, lists and dicts; None where it holds anything else."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Mapping):
        held = {name: _as_json(item) for name, item in value.items() if isinstance(name, str)}
        return {name: item for name, item in held.items() if item is not None}
    if isinstance(value, (list, tuple)):
        items = [_as_json(item) for item in value]
        return None if any(item is None for item in items) else items
    return value if type(value) in (str, bool, int, float) else None


def weight_columns(
    table: pd.DataFrame, weight: Hashable | None, weight_squared: Hashable | None
) -> tuple[Hashable, ...]:
    """Names of the columns that hold sums of weights and of their squares, if any do."""
    if weight is None and weight_squared is None:
        default = ("weight", "weight_squared")
        return default if all(name in table.columns for name in default) else ()
    if weight is None or weight_squared is None:
        raise InputError(
            "`weight` and `weight_squared` go together: intervals need the sum of squared weights, "
            "in SQL sum(w * w), beside the sum of weights."
        )
    return (weight, weight_squared)


def sums_of_weights(name: str, column: pd.Series) -> npt.NDArray[np.float64]:
    """Sums of weights as float; InputError for what is none."""
    try:
        held = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(f"{shown(name)} must hold sums of weights; got {column.dtype}.") from None
    if not (np.isfinite(held) & (held >= 0)).all():
        bad = held[~(np.isfinite(held) & (held >= 0))]
        raise InputError(
            f"{shown(name)} must hold finite sums of weights, not negative; got "
            f"{listed(bad.tolist(), 3)}."
        )
    return held


def whole_numbers(argument: str, values: Any) -> npt.NDArray[np.int64]:
    """A fresh int64 array; InputError for what is not a whole number of rows."""
    try:
        held = np.array(values)
        if held.dtype.kind == "c":
            raise TypeError
        if held.dtype == object:
            held = np.array(
                [int(value) if value == int(value) else np.nan for value in held.ravel()]
            ).reshape(held.shape)
        exact = held if held.dtype.kind in "iu" else held.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"`{argument}` must hold whole numbers of rows; got {shown(values)}."
        ) from None
    whole = np.isfinite(exact) & (exact >= 0) & (exact == np.floor(exact)) & (exact < 2**63)
    if not whole.all():
        bad = exact[~whole]
        raise InputError(
            f"`{argument}` must hold whole numbers of rows, not negative, finite and below 2**63; got "
            f"{listed(bad.tolist(), 3)}."
        )
    return exact.astype(np.int64)


def aligned_matrix(
    matrix: pd.DataFrame, labels: Iterable[Hashable] | None, abstain: tuple[Hashable, ...]
) -> tuple[npt.NDArray[Any], Iterable[Hashable]]:
    """Square cells over the labels, whatever the order of rows and columns, and the classes."""
    rows, columns = matrix.index.tolist(), matrix.columns.tolist()
    if labels is None:
        labels = [label for label in union([rows, columns], [None])[0] if label not in abstain]
    known = [*labels, *abstain]
    unknown = [label for label in (*rows, *columns) if label not in known]
    if unknown or len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
        raise InputError(
            f"`matrix` must name each label once, all of them among {listed(known)}; rows "
            f"{listed(rows)}, columns {listed(columns)}."
        )
    cells = np.zeros((len(known), len(known)), dtype=object)
    cells[np.ix_(positions(rows, known), positions(columns, known))] = matrix.to_numpy(dtype=object)
    return cells, labels
