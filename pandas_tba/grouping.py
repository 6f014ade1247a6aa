"""`by` in all its forms -> one column of keys for each level of the groups."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pandas_tba.encoding import Slots
from pandas_tba.errors import (
    ColumnError,
    InputError,
    InputWarning,
    KindError,
    listed,
    nearest,
    shown,
    warn,
)
from pandas_tba.levels import pandas_column

_MANY_NUMBERS = 1000


class Key(NamedTuple):
    """One key of the groups: its name, and its value in each row."""

    name: Hashable
    values: Any


def group_keys(frame: pd.DataFrame, by: Any) -> list[Key]:
    """Keys that `by` names or holds, aligned with the rows of the frame.

    A key is a column or index level; a Series, Index or array is taken as it is; a Grouper is
    asked for its groups.  A list is a list of these, a tuple is one key.
    """
    if by is None:
        return []
    items = by if isinstance(by, list) else [by]
    if not items:
        raise InputError("`by` is an empty list; name at least one key, or leave it out.")
    keys = [_key(frame, item) for item in items]
    names = [key.name for key in keys if key.name is not None]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"`by` names {shown(repeated[0])} more than once; rename one of the keys.")
    return keys


def _key(frame: pd.DataFrame, item: Any) -> Key:
    if isinstance(item, pd.Series):
        return Key(item.name, _aligned(frame, item))
    column = pandas_column(item)
    if column is not item:  # of another library, which knows no index
        return Key(column.name, _of_same_length(frame, column.array))
    if isinstance(item, pd.MultiIndex):
        raise KindError(
            "`by` must not hold a MultiIndex; pass its levels: by=['level_a', 'level_b']."
        )
    if isinstance(item, (pd.Index, pd.api.extensions.ExtensionArray, np.ndarray)):
        return Key(getattr(item, "name", None), _of_same_length(frame, item))
    if isinstance(item, pd.Grouper):
        return _key_of_grouper(frame, item)
    if isinstance(item, (list, set, dict, pd.DataFrame)) or callable(item):
        raise KindError(
            f"`by` must hold names of columns or index levels, Series, arrays or Groupers; got "
            f"{type(item).__name__}. A list of values must be made an array or a Series."
        )
    return Key(item, _column_or_level(frame, item))


def _column_or_level(frame: pd.DataFrame, name: Hashable) -> Any:
    try:
        is_column = name in frame.columns
    except TypeError:
        is_column = False
    is_level = name is not None and name in frame.index.names
    if is_column and is_level:
        raise ColumnError(
            f"`by`: {shown(name)} is both a column and an index level. Rename one of them: "
            f"df.rename_axis(index={{{name!r}: 'other'}})."
        )
    if is_level:
        return frame.index.get_level_values(name)  # type: ignore[arg-type]
    if not is_column:
        raise ColumnError(_no_key(frame, name))
    column = frame[name]
    if isinstance(column, pd.DataFrame):
        raise ColumnError(
            f"`by` must name one column; {shown(name)} names {column.shape[1]}. Rename them."
        )
    return column


def _no_key(frame: pd.DataFrame, name: Hashable) -> str:
    levels = [level for level in frame.index.names if level is not None]
    also = f" Index levels: {listed(levels)}." if levels else ""
    hint = " The exponent has a name of its own: t=0.5." if isinstance(name, (int, float)) else ""
    return (
        f"`by` must name columns of the frame; got {shown(name)}.{hint}"
        f"{nearest(name, [*frame.columns, *levels])} Columns: {listed(frame.columns)}.{also}"
    )


def _aligned(frame: pd.DataFrame, series: pd.Series) -> pd.Series:
    """By position where the index is identical, else by label: unique, and no row left without."""
    if series.index is frame.index or series.index.equals(frame.index):
        return series
    what = f"`by`: the Series {shown(series.name)}"
    advice = "Pass an array (series.to_numpy()) to go by position."
    if not series.index.is_unique:
        raise InputError(f"{what} has another index than the frame, with repeated labels. {advice}")
    try:
        places = series.index.get_indexer(frame.index)
    except pd.errors.InvalidIndexError:
        raise InputError(
            f"{what} has another index than the frame, of intervals that overlap. {advice}"
        ) from None
    without = int((places < 0).sum())
    if without:
        raise InputError(
            f"{what} has another index than the frame, and no value for {without:,} of "
            f"{len(frame):,} rows. {advice}"
        )
    return series.iloc[places]


def _of_same_length(frame: pd.DataFrame, values: Any) -> Any:
    if np.ndim(values) != 1 or len(values) != len(frame):
        raise InputError(
            f"`by` holds an array of shape {np.shape(values)}; it needs one value for each of the "
            f"{len(frame):,} rows."
        )
    return values


def _key_of_grouper(frame: pd.DataFrame, grouper: pd.Grouper) -> Key:
    if getattr(grouper, "freq", None) is None:
        name: Any = grouper.key if grouper.key is not None else grouper.level
        if grouper.key is None and isinstance(name, int) and name not in frame.index.names:
            return Key(frame.index.names[name], frame.index.get_level_values(name))
        return Key(name, _column_or_level(frame, name))
    if grouper.key is not None:
        _column_or_level(frame, grouper.key)
    try:
        times = _times_of(frame, grouper)
        if times.dtype.kind in "mM" and len(times) and times.isna().all():  # pandas 2.2 fails
            return _key_of_bins(np.full(len(times), -1), times[:0])
        grouped = frame.groupby(grouper)
    except (TypeError, KeyError, ValueError, NotImplementedError) as fault:
        raise KindError(
            f"`by` holds a Grouper that pandas cannot use here: {fault}. Group by "
            "a column of dates, or without freq=."
        ) from None
    bins = grouped.size().index
    return _key_of_bins(grouped.ngroup().fillna(-1).astype(int), bins)


def _key_of_bins(codes: Any, bins: pd.Index) -> Key:
    """Key that is a bin, in order of time, in each row; -1 for none."""
    return Key(bins.name, pd.Categorical.from_codes(codes, categories=bins, ordered=True))


def _times_of(frame: pd.DataFrame, grouper: pd.Grouper) -> pd.Index:
    """What a Grouper with a frequency divides: a column, an index level, or the index."""
    if grouper.key is not None:
        return pd.Index(frame[grouper.key])
    level = grouper.level
    return frame.index if level is None else frame.index.get_level_values(level)  # type: ignore[arg-type]


def warn_many_numbers(key: Key, slots: Slots) -> None:
    """Point to binning where a group key holds very many different fractions."""
    levels = slots.size - slots.has_missing
    dtype = getattr(key.values, "dtype", None)
    if levels < _MANY_NUMBERS or dtype is None or not pd.api.types.is_float_dtype(dtype):
        return
    column = f"df[{key.name!r}]"
    warn(
        f"`by`: {shown(key.name)} holds {levels:,} different numbers, each a group of its own. "
        f"To group by ranges: by=pd.cut({column}, 10), or pd.qcut({column}, 10) for equal sizes.",
        InputWarning,
    )
