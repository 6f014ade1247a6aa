"""Checks of a frame before anything is counted, and the short errors they make."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from pandas_tba.columns import Columns
from pandas_tba.errors import ColumnError, InputError, KindError, counted, listed, nearest, shown
from pandas_tba.levels import kinds_of

_DEFAULTS = {"y_true": "y_true", "y_pred": "y_pred"}


def check_frame(frame: object) -> pd.DataFrame:
    """The frame itself; KindError unless it is a pandas DataFrame."""
    if isinstance(frame, pd.DataFrame):
        return frame
    kind = type(frame)
    raise KindError(
        f"`frame` must be a pandas DataFrame; got {kind.__module__}.{kind.__qualname__}. "
        "Convert it first, for example with to_pandas()."
    )


def column_of(frame: pd.DataFrame, argument: str, name: Hashable) -> pd.Series:
    """The one column of that name."""
    try:
        column = frame[name]
    except (KeyError, TypeError, ValueError):
        raise ColumnError(_no_column(frame, argument, name)) from None
    if isinstance(column, pd.DataFrame):
        raise ColumnError(
            f"`{argument}` must name one column; {shown(name)} names {column.shape[1]}. "
            "Rename them, or select the right one with df.loc[:, mask]."
        )
    return column


def _no_column(frame: pd.DataFrame, argument: str, name: Hashable) -> str:
    columns = list(frame.columns)
    there = f"Columns: {listed(columns)}." if columns else "The frame has no columns."
    if _DEFAULTS.get(argument) == name:
        return f"no column {shown(name)}. Name yours: df.tba(y_true='y', y_pred='p').score(t=0.5). {there}"
    return f"`{argument}` must name a column of the frame; got {shown(name)}.{nearest(name, columns)} {there}"


def check_not_scores(truth: pd.Series, predictions: dict[Hashable, pd.Series]) -> None:
    """Refuse predictions with fractions where y_true has none: these are scores, not labels."""
    for name, column in predictions.items():
        if _has_fractions(column) and not _has_fractions(truth):
            raise InputError(
                f"`y_pred` column {shown(name)} holds scores, not labels: numbers with fractions, "
                "while y_true has none. Turn them into labels first: "
                f"df.assign(y_pred=df[{name!r}] >= 0.5).tba.score(t=0.5)."
            )


def check_not_mixed(argument: str, name: Hashable, column: pd.Series) -> None:
    """Refuse booleans beside numbers in one object column: hashing would merge True and 1."""
    if column.dtype != object or not pd.api.types.infer_dtype(column).startswith("mixed"):
        return
    kinds = kinds_of(column.dropna())
    if kinds >= {"boolean", "number"}:
        raise KindError(
            f"`{argument}` column {shown(name)} holds both booleans and numbers, such as True and 1, "
            "which would be one label. Convert it, for example with astype(int)."
        )


def _has_fractions(column: pd.Series) -> bool:
    dtype = column.dtype
    if not pd.api.types.is_float_dtype(dtype):
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if _any_fraction(values[:1000]):
        return True
    return _any_fraction(values)


def _any_fraction(values: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    finite = values[np.isfinite(values)]
    return bool((finite != np.floor(finite)).any())


def missing_error(missing: dict[Hashable, int], n_rows: int, columns: Columns) -> InputError:
    """The error for labels that are missing."""
    faults = [
        f"{shown(name)} ({number:,} of {counted(n_rows, 'row')})"
        for name, number in missing.items()
    ]
    more = f" and {len(faults) - 3:,} more columns" if len(faults) > 3 else ""
    predicted = [name for name in missing if name in columns.predictions]
    fill = (
        f", or give missing predictions a label of their own: df[{predicted[0]!r}].fillna('abstain') "
        "with abstain=['abstain']"
        if predicted
        else ""
    )
    return InputError(
        f"Missing labels in {', '.join(faults[:3])}{more}. Leave these rows out with "
        f"df.tba(missing='drop'){fill}."
    )
