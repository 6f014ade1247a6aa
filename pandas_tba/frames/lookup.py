"""Names of roles and keys -> the columns of a frame that they lead to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

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
from pandas_tba.frames.codes import ColumnCodes, normal, plain
from pandas_tba.frames.columns import Roles
from pandas_tba.frames.values import pandas_column

MANY_NUMBERS = 1000
_DEFAULTS = {"y_true": "y_true", "y_pred": "y_pred"}
_NATIVE = (np.dtype(np.int64), np.dtype(object), np.dtype(np.float64), np.dtype(np.bool_))
COUNTS = "tba"  # entry of attrs, or column, that marks a table of counts


class Key(NamedTuple):
    """One key of the groups: its name, and its value in each row."""

    name: Hashable
    values: Any


class Bound(NamedTuple):
    """The columns of one question, and how many rows they have.

    ``predictions`` hold labels, or codes False and True where scores were compared with a
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


def bound_columns(frame: pd.DataFrame, columns: Roles, by: Any) -> Bound:
    """The columns that are named, each looked for, their values not looked at."""
    check_frame(frame)
    truth = _as(normal, column_of(frame, "y_true", columns.y_true))
    form = plain if columns.has_scores else normal
    predictions = {
        name: _as(form, column_of(frame, columns.argument, name)) for name in columns.predictions
    }
    keys = [key._replace(values=_as(normal, key.values)) for key in group_keys(frame, by)]
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


def _as(form: Callable[[Any], Any], column: Any) -> Any:
    """The column in a form that can be hashed or compared; most dtypes are that already."""
    return column if column.dtype in _NATIVE else form(column)


def check_frame(frame: object) -> pd.DataFrame:
    """The frame itself; KindError unless it is a pandas DataFrame, InputError for a table of counts."""
    if isinstance(frame, pd.DataFrame):
        if frame.attrs or COUNTS in frame.columns:
            _check_not_counts(frame)
        return frame
    kind = type(frame)
    raise KindError(
        f"`frame` must be a pandas DataFrame; got {kind.__module__}.{kind.__qualname__}. "
        "Convert it first, for example with to_pandas()."
    )


def _check_not_counts(frame: pd.DataFrame) -> None:
    """Raise InputError for a table of counts where rows are to be counted."""
    metadata = frame.attrs.get(COUNTS)
    is_marked = isinstance(metadata, Mapping) and isinstance(metadata.get("counts"), Mapping)
    if (is_marked and "n" in frame.columns) or (
        COUNTS in frame.columns and _starts_with_metadata(frame[COUNTS])
    ):
        raise InputError(
            "The frame is a table of counts, as to_table() writes it. ConfusionCounts.from_table(frame) "
            "reads it, and its functions are asked for the rest: tba.score(counts, t=0.5)."
        )


def _starts_with_metadata(column: Any) -> bool:
    """Whether a column begins with the metadata of a table of counts."""
    first = column.head(1).tolist() if isinstance(column, pd.Series) else []
    return bool(first) and isinstance(first[0], str) and first[0].startswith('{"format"')


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
    """The error text for a column that is not there."""
    columns = list(frame.columns)
    there = f"Columns: {listed(columns)}." if columns else "The frame has no columns."
    if _DEFAULTS.get(argument) == name:
        return f"no column {shown(name)}. Name yours: df.tba(y_true='y', y_pred='p').score(t=0.5). {there}"
    return f"`{argument}` must name a column of the frame; got {shown(name)}.{nearest(name, columns)} {there}"


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
    """The key that one item of `by` names or holds."""
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
    """The values of a column or index level of that name."""
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
    """The error text for a key that is not there."""
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
    """The values, one for each row; InputError otherwise."""
    if np.ndim(values) != 1 or len(values) != len(frame):
        raise InputError(
            f"`by` holds an array of shape {np.shape(values)}; it needs one value for each of the "
            f"{len(frame):,} rows."
        )
    return values


def _key_of_grouper(frame: pd.DataFrame, grouper: pd.Grouper) -> Key:
    """The key that a Grouper makes."""
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


def warn_many_numbers(key: Key, encoded: ColumnCodes) -> None:
    """Point to binning where a group key holds very many different fractions."""
    levels = encoded.size - encoded.has_missing
    dtype = getattr(key.values, "dtype", None)
    if levels < MANY_NUMBERS or dtype is None or not pd.api.types.is_float_dtype(dtype):
        return
    column = f"df[{key.name!r}]"
    warn(
        f"`by`: {shown(key.name)} holds {levels:,} different numbers, each a group of its own. "
        f"To group by ranges: by=pd.cut({column}, 10), or pd.qcut({column}, 10) for equal sizes.",
        InputWarning,
    )


def check_no_models(argument: str, names: Sequence[Hashable], model: Hashable | None) -> None:
    """InputError where a key is that of the models, or has the name of their level."""
    taken = [name for name in names if name is not None and name in ("model", model)]
    if taken:
        raise InputError(
            f"`{argument}`: {shown(taken[0])} is the models' own level here; leave it out of "
            f"`{argument}`, or rename it."
        )
