"""Values of labels and group keys: their kinds, which are the same value, and their order.

Values are compared as Python objects, so that 1, 1.0 and True are one label whatever dtype
stores them, and 2**53 + 1 is not 2.0**53.
"""

from __future__ import annotations

import datetime
import decimal
import numbers
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from itertools import pairwise, zip_longest
from typing import Any

import numpy as np
import pandas as pd

Value = Hashable

_NULLABLE = {"i": "Int64", "u": "UInt64", "b": "boolean"}  # by kind of numpy's dtype
_LIBRARIES = ("narwhals", "polars", "pyarrow")  # whose columns pandas does not know
# asked first, since isinstance with an abstract class takes ten times as long
_COMMON_KINDS: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "text"}


def kind_of(value: object) -> str:
    """``boolean``, ``number``, ``text``, or the name of the type."""
    kind = _COMMON_KINDS.get(type(value))
    if kind is not None:
        return kind
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, (datetime.timedelta, np.timedelta64)):  # numpy's is an integer, too
        return "timedelta"
    if isinstance(value, (numbers.Real, decimal.Decimal)):
        return "number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (datetime.datetime, np.datetime64)):
        return "datetime" if getattr(value, "tzinfo", None) is None else "datetime with zone"
    return type(value).__name__


def as_python(value: Any) -> Any:
    """Python's own value for one of numpy's, which compares neither with a Decimal nor with 2**64.

    Zero has no sign, as in `positive_zero`.
    """
    if isinstance(value, np.timedelta64):
        return pd.Timedelta(value)
    if isinstance(value, np.generic) and value.dtype.kind in "biufcSU":
        value = value.item()
    is_zero = isinstance(value, (float, decimal.Decimal)) and not value
    return abs(value) if is_zero else value


def positive_zero(level: pd.Index) -> pd.Index:
    """The values with 0.0 for -0.0: they are one value, and rows must not decide which is shown."""
    return level + 0.0 if level.dtype.kind == "f" else level


def is_missing(value: object) -> bool:
    """Whether one value is a marker of a missing one: None, NaN, NA or NaT."""
    return value is None or value is pd.NA or bool(value != value)


def kinds_of(values: Iterable[object]) -> set[str]:
    """Kinds that occur among the values."""
    # without a call for most values
    return {_COMMON_KINDS.get(type(value)) or kind_of(value) for value in values}


def by_kind(values: Iterable[Value]) -> dict[str, list[Value]]:
    """The values of each kind, in order."""
    found: dict[str, list[Value]] = {}
    for value in in_order(values):
        found.setdefault(kind_of(value), []).append(value)
    return dict(sorted(found.items()))


def lookalikes(values: Iterable[Value]) -> dict[str, list[Value]]:
    """Values by their kinds that are written as one of another kind is: 1 and '1', a day and its text."""
    values = list(values)
    if len(kinds_of(values)) < 2:
        return {}
    alike: dict[Value, dict[str, Value]] = {}
    for value in values:
        alike.setdefault(_as_read(value), {})[kind_of(value)] = value
    return by_kind(value for same in alike.values() if len(same) > 1 for value in same.values())


def _as_read(value: Any) -> Value:
    """What a reader that guesses types makes of the text of a value; days are their midnight."""
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    if not isinstance(value, str):
        return as_python(value)
    for read in (int, float, datetime.datetime.fromisoformat):
        try:
            return read(value)
        except ValueError:
            continue
    return value.strip().title() if value.strip().lower() in ("true", "false") else value


def in_order(values: Iterable[Value]) -> list[Value]:
    """Values sorted; those that do not compare, by name of the kind and text."""
    values = list(values)
    return [values[at] for at in places_in_order(values)]


def places_in_order(values: Sequence[Value]) -> list[int]:
    """Where the values stand, sorted as by `in_order`."""
    places = range(len(values))
    try:
        found = sorted(places, key=values.__getitem__)  # type: ignore[arg-type]
        if _is_chain([values[at] for at in found]):
            return found
    except (TypeError, ValueError):  # pandas 2.2 has the latter for periods of several lengths
        pass
    return sorted(places, key=lambda at: (kind_of(values[at]), _text_of(values[at])))


def _is_chain(values: Sequence[Any]) -> bool:
    """Whether each value is below the next: sets, and tuples that hold NaN, may be neither."""
    return all(low < high or low == high for low, high in pairwise(values))


def _text_of(value: object, text: Callable[[object], str] = str) -> str:
    """Text of a value; that of a set does not depend on how it was made."""
    if isinstance(value, frozenset):
        return ", ".join(sorted(_text_of(part, repr) for part in value))
    if isinstance(value, tuple):
        return ", ".join(_text_of(part, repr) for part in value)
    return text(value)


def order_of(level: pd.Index) -> np.ndarray:
    """Places of the values of a level, sorted as by `in_order`."""
    if level.dtype != object:
        return np.asarray(level.argsort())
    return np.array(places_in_order(level.tolist()), dtype=np.intp)


def union(
    parts: Sequence[Sequence[Value]], declared: Sequence[Sequence[Value] | None]
) -> tuple[list[Value], bool]:
    """Every value of the parts once, in order, and whether a declared order gave it.

    A declared order (the categories of a column) holds only where every part declares the same
    one: then the result does not depend on which part comes first.
    """
    merged: dict[Value, None] = {}
    for part in parts:
        merged.update(dict.fromkeys(part))
    first = declared[0] if declared else None
    if first is not None and all(
        order is not None and list(order) == list(first) for order in declared
    ):
        return [value for value in first if value in merged], True
    return in_order(merged), False


def plain_index(values: Sequence[Value] | pd.Index, name: Hashable = None) -> pd.Index:
    """Index of the values whose dtype does not depend on how a column stored them."""
    if isinstance(values, pd.CategoricalIndex):
        values = values.categories
    if isinstance(values, pd.Index) and not _stores_text(values):
        return values.rename(name)
    values = list(values)
    if any(isinstance(value, tuple) for value in values):
        held = np.empty(len(values), dtype=object)
        held[:] = values  # pd.Index would make a MultiIndex of tuples
        return pd.Index(held, name=name, tupleize_cols=False)
    if len(kinds_of(values)) > 1:
        return pd.Index(values, dtype=object, name=name)
    if {int, float} <= {*map(type, values)}:
        values, dtype = _whole_or_objects(values)
        return pd.Index(values, dtype=dtype, name=name)
    try:
        return pd.Index(values, name=name)
    except (NotImplementedError, TypeError, ValueError):
        # a lone surrogate, which Arrow cannot hold; periods of several lengths; small floats
        return pd.Index(values, dtype=object, name=name)


def _whole_or_objects(values: list[Any]) -> tuple[list[Any], Any]:
    """Numbers of both types as whole ones, where they are; 2**53 + 1 beside a fraction as it is."""
    if all(type(value) is int or _is_whole(value) for value in values):
        return [*map(int, values)], None
    is_beyond = any(isinstance(value, int) and abs(value) > 2**53 for value in values)
    return values, object if is_beyond else None


def _is_whole(value: Any) -> bool:
    """Whether a float is a whole number that int64 holds."""
    return isinstance(value, float) and value.is_integer() and abs(value) < 2**63


def alike(parts: Sequence[Sequence[Value]]) -> list[list[Value]]:
    """The parts, in all of which equal numbers have one type: whole ones are int, booleans too."""
    types = {type(value) for part in parts for value in part}
    if len(types & {bool, int, float}) < 2:
        return [[*part] for part in parts]
    return [[_as_whole(value) for value in part] for part in parts]


def _as_whole(value: Any) -> Value:
    """Booleans and whole floats as int."""
    return int(value) if isinstance(value, bool) or _is_whole(value) else value


def nullable(column: Any, kind: str) -> Any:
    """Whole numbers or booleans beside missing values, in a dtype that keeps them what they are."""
    is_object = column.dtype == object and kind in _NULLABLE
    return column.astype(_NULLABLE[kind]) if is_object and column.isna().any() else column


def beside_missing(level: pd.Index) -> pd.Index:
    """The level in a dtype that holds missing values too: a MultiIndex would make floats of int64."""
    is_plain = isinstance(level.dtype, np.dtype) and level.dtype.kind in _NULLABLE
    return level.astype(_NULLABLE[level.dtype.kind]) if is_plain else level


def columns_of_keys(keys: Iterable[Value]) -> tuple[list[Hashable], list[Any]]:
    """Names of the levels, and the values of each, as `pandas.Index` makes them of a list."""
    if isinstance(keys, pd.Index):
        levels = range(keys.nlevels)
        return list(keys.names), [keys.get_level_values(level) for level in levels]
    held: list[Any] = list(keys)
    are_tuples = bool(held) and all(isinstance(key, tuple) for key in held)
    # no MultiIndex is made: it hashes texts as `factorized` must not
    parts = zip_longest(*held) if are_tuples else [held]
    columns = [plain_series(list(part)) for part in parts]
    return [None] * len(columns), columns


def pandas_column(values: Any) -> Any:
    """A column of Polars, Arrow or narwhals as one of pandas, no digit lost; else the values themselves."""
    if type(values).__module__.partition(".")[0] not in _LIBRARIES:
        return values
    name = getattr(values, "name", None)
    if str(getattr(values, "dtype", "")) == "Object":  # Arrow would hold addresses
        return pd.Series(values.to_list(), dtype=object, name=name)
    import pyarrow as pa

    held = values.to_arrow() if hasattr(values, "to_arrow") else values
    chunks = pa.chunked_array([held]) if isinstance(held, pa.Array) else held
    if not isinstance(chunks, pa.ChunkedArray):
        return values
    return pd.Series(pd.arrays.ArrowExtensionArray(chunks), name=name, copy=False)


def plain_series(values: Any, dtype: Any = None) -> pd.Series:
    """Column of the values, in which text that Arrow cannot hold stays as it is."""
    try:
        return pd.Series(values, dtype=dtype)
    except UnicodeEncodeError:
        return pd.Series(values, dtype=object)


def factorized(values: Any) -> tuple[np.ndarray, Any]:
    """Code of each value, -1 where it is missing, and the distinct values as they occur."""
    if isinstance(values.dtype, pd.StringDtype) and values.dtype.storage == "python":
        codes, found = factorized(values.to_numpy(dtype=object))
        return codes, pd.array(found, dtype=values.dtype)
    if values.dtype != object:
        return pd.factorize(values)
    # pandas 2.2 hashes an array of text alone as C strings: they end at a NUL, and all that hold
    # a lone surrogate are one
    codes, found = pd.factorize(np.append(values, np.array([None])))
    return codes[:-1], found


@cache
def _text_dtype() -> Any:
    """Dtype that pandas gives to text: object in pandas 2, str in pandas 3."""
    return pd.Index(["text"]).dtype  # not at import: it loads a part of pyarrow, 3 ms


def _stores_text(values: pd.Index) -> bool:
    """Whether an index may hold text in another dtype than pandas gives it."""
    if isinstance(values.dtype, pd.StringDtype):
        return values.dtype != _text_dtype()
    return values.dtype == object or values.dtype.kind == "O"


def all_positions(parts: Iterable[Iterable[Value]], among: Sequence[Value]) -> list[np.ndarray]:
    """Place of each value of each part among the others, -1 where it is not there."""
    place = {value: at for at, value in enumerate(among)}
    return [np.array([place.get(value, -1) for value in part], dtype=np.intp) for part in parts]


def positions(values: Iterable[Value], among: Sequence[Value]) -> np.ndarray:
    """Place of each value among the others, -1 where it is not there."""
    return all_positions([values], among)[0]
