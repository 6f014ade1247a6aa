"""One column -> narrow unsigned codes, block by block, and the values the codes stand for.

Where the dtype allows it nothing is hashed and nothing is kept per row: categories and booleans
are viewed, integers of a small range are shifted, Arrow text is looked up in a dictionary.  The
range or dictionary is guessed from a sample; a block that holds more raises `Unforeseen`, and the
caller starts again with `widened()`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import KindError, shown
from pandas_tba.frames.values import (
    as_python,
    factorized,
    is_missing,
    kind_of,
    kinds_of,
    plain_index,
    positive_zero,
)

if TYPE_CHECKING:
    import pyarrow as pa

Array = npt.NDArray[Any]

_SAMPLE = 1 << 14  # rows; up to this many are looked at whole
_CHUNK = 1 << 15  # rows of int64 that stay in the cache between range check and shift
_SPAN = 1 << 16  # largest integer range that is shifted and not hashed
_VIEWS = {"string_view": "large_string", "binary_view": "large_binary"}  # what Arrow can hash


class Unforeseen(Exception):  # noqa: N818  a signal between files, never seen by users
    """A block holds a value that the sample did not show."""

    def __init__(self, encoded: ColumnCodes) -> None:
        super().__init__()
        self.encoded = encoded


class ColumnCodes(ABC):
    """Codes of one column: `size` of them, 0 for missing if `has_missing`, then the levels."""

    size: int
    is_plain: bool = False  # by its dtype: text, booleans or whole numbers, nothing else beside
    has_missing: bool = False
    order: pd.Index | None = None

    @abstractmethod
    def block(self, start: int, stop: int) -> Array:
        """Codes of some rows, unsigned."""

    def declared(self) -> tuple[Hashable, ...] | None:
        """Values in the order that the column declares, or None where it declares none."""
        return None if self.order is None else tuple(self.order.tolist())

    @abstractmethod
    def levels(self) -> pd.Index:
        """Values of the codes after the missing one; some may not occur."""

    def values(self, places: Array) -> list[Hashable]:
        """Python values of some of the levels."""
        held: list[Hashable] = self.levels().take(places).tolist()
        return held

    def observed(self, places: Array) -> tuple[list[Hashable], tuple[Hashable, ...] | None]:
        """Python values of some of the levels, and the order that the column declares."""
        return self.values(places), None if self.order is None else self.declared()

    def widened(self) -> ColumnCodes:
        """Codes that foresee every value."""
        return self

    def compacted(self) -> ColumnCodes:
        """Codes with one level for each value that occurs, where that is fewer."""
        return self


class StoredCodes(ColumnCodes):
    """Codes that lie in memory, less one where a value may be missing."""

    def __init__(
        self,
        codes: Array,
        levels: Any,
        *,
        has_missing: bool,
        order: pd.Index | None = None,
    ) -> None:
        self._codes, self._levels = codes, levels
        self.size = len(levels) + has_missing
        self.has_missing = has_missing
        self.order = order

    def block(self, start: int, stop: int) -> Array:
        codes = self._codes[start:stop]
        if not self.has_missing:
            return codes
        return np.add(codes, codes.dtype.type(1))  # -1, seen unsigned, wraps to 0

    def levels(self) -> pd.Index:
        return plain_index(self._levels)

    def values(self, places: Array) -> list[Hashable]:
        if isinstance(self._levels, list):
            return [self._levels[place] for place in places.tolist()]
        held: list[Hashable] = self._levels.take(places).tolist()
        return held

    def compacted(self) -> ColumnCodes:
        found, codes = np.unique(self._codes, return_inverse=True)
        if len(found) >= len(self._levels) or self.has_missing:
            return self
        levels = plain_index(self._levels).take(found.astype(np.intp))
        return StoredCodes(
            codes.reshape(-1).astype(narrowest(len(found))),
            levels,
            has_missing=False,
            order=self.order,
        )


class IntegerCodes(ColumnCodes):
    """Integers less the lowest one."""

    is_plain = True

    def __init__(self, values: Array, low: int, high: int, *, is_sampled: bool) -> None:
        self._values, self._low, self._high = values, low, high
        self._is_sampled = is_sampled
        self.size = high - low + 1
        self._dtype = narrowest(self.size)

    def block(self, start: int, stop: int) -> Array:
        out = np.empty(stop - start, dtype=self._dtype)
        low = self._values.dtype.type(self._low)
        for at in range(start, stop, _CHUNK):
            chunk = self._values[at : min(at + _CHUNK, stop)]
            if self._is_sampled and (chunk.min() < self._low or chunk.max() > self._high):
                raise Unforeseen(self)
            np.subtract(chunk, low, out=out[at - start : at - start + len(chunk)], casting="unsafe")
        return out

    def levels(self) -> pd.Index:
        # no RangeIndex, whose end and step may lie beyond int64 once it is joined with others
        return pd.Index(np.arange(self.size) + self._low)

    def values(self, places: Array) -> list[Hashable]:
        return [self._low + place for place in places.tolist()]

    def widened(self) -> ColumnCodes:
        return _integer_codes(self._values, is_sampled=False)

    def compacted(self) -> ColumnCodes:
        return hashed(self._values)


class TextCodes(ColumnCodes):
    """Arrow text looked up in a dictionary; missing values are its first entry."""

    def __init__(self, chunks: pa.ChunkedArray, dictionary: pa.Array) -> None:
        import pyarrow as pa

        self._chunks = chunks
        self.has_missing = chunks.null_count > 0
        self._dictionary = dictionary
        if self.has_missing:
            self._dictionary = pa.concat_arrays([pa.nulls(1, dictionary.type), dictionary])
        self.size = len(self._dictionary)

    def block(self, start: int, stop: int) -> Array:
        import pyarrow.compute as pc

        rows = self._chunks.slice(start, stop - start)
        found = pc.index_in(rows, value_set=self._dictionary)
        if found.null_count:
            raise Unforeseen(self)
        return found.to_numpy().view(np.uint32)

    def levels(self) -> pd.Index:
        return plain_index(self._dictionary.to_pylist()[self.has_missing :])

    def widened(self) -> ColumnCodes:
        return _dictionary_codes(self._chunks)


def narrowest(size: int) -> npt.DTypeLike:
    """Smallest unsigned dtype with that many values."""
    for dtype, bits in ((np.uint8, 8), (np.uint16, 16), (np.uint32, 32)):
        if size <= 1 << bits:
            return dtype
    return np.uint64


def normal(column: Any) -> Any:
    """The column in a dtype that pandas can hash, and in which NaN is missing, as NA is."""
    column = plain(column)
    is_half = isinstance(column.dtype, np.dtype) and column.dtype == np.float16
    return column.astype(np.float32) if is_half else column


def plain(column: Any) -> Any:
    """The column as numpy has it where that holds all of it, in the precision that it has."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):
        return column if dtype.isnative else column.astype(dtype.newbyteorder("="))
    if isinstance(dtype, pd.ArrowDtype):
        held = dtype.pyarrow_dtype
        if str(held) in _VIEWS:
            return _cast(column, _VIEWS[str(held)])
        if str(held).startswith("dictionary"):
            return plain(_cast(column, held.value_type))  # pandas hashes not all indices and nulls
    is_plain = hasattr(dtype, "numpy_dtype")
    if is_plain and dtype.kind == "f":
        held = column.to_numpy(dtype=dtype.numpy_dtype, na_value=np.nan)
    elif is_plain and dtype.kind in "biu" and not column.isna().any():
        held = column.to_numpy(dtype=dtype.numpy_dtype)
    else:
        return column
    is_series = isinstance(column, pd.Series)
    return pd.Series(held, column.index, name=column.name, copy=False) if is_series else held


def _cast(column: Any, to: Any) -> Any:
    """A column of Arrow's as one of another type of the same values."""
    chunks = getattr(column, "array", column).__arrow_array__()
    held = pd.arrays.ArrowExtensionArray(chunks.cast(to))
    is_series = isinstance(column, pd.Series)
    return pd.Series(held, column.index, name=column.name, copy=False) if is_series else held


def encode(column: Any) -> ColumnCodes:
    """Codes of a Series, Index or array of any dtype; KindError for values that are no keys."""
    return _encode_normal(normal(column))


def _encode_normal(column: Any) -> ColumnCodes:
    """Codes of a column in normal form."""
    try:
        encoded = _codes(column)
        if not isinstance(column.dtype, np.dtype) and _may_be_beyond(column.dtype):
            check_years(getattr(column, "name", None), encoded.levels())
        return encoded
    except TypeError as fault:
        if "hash" not in str(fault):
            raise
    except NotImplementedError:  # by Arrow, for lists and structures; below, for times of day
        pass
    name = getattr(column, "name", None)
    bad = next((value for value in column if not _is_hashable(value)), None)
    what = column.dtype if bad is None else f"a {type(bad).__name__} ({shown(bad)})"
    raise KindError(
        f"{_title(name)} holds {what}, which is neither a "
        "label nor a key. Convert it, for example with astype(str)."
    )


def encode_all(columns: Iterable[Any]) -> list[ColumnCodes]:
    """Codes of each column, all in the form that `normal` gives."""
    return [_encode_normal(column) for column in columns]


def _title(name: Hashable | None) -> str:
    """The column of that name, as errors begin."""
    return "An array" if name is None else f"Column {shown(name)}"


def encode_labels(column: Any) -> ColumnCodes:
    """Codes as of `encode`, but True and 1 apart in a column that holds both; booleans come first."""
    encoded = encode(column)
    if not is_mixed(column):
        return encoded
    pairs = np.empty(len(column), dtype=object)
    pairs[:] = [
        None if is_missing(value) else (kind_of(value) == "boolean", value) for value in column
    ]
    codes, found = factorized(pairs)
    order = sorted(range(len(found)), key=lambda at: not found[at][0])
    place = np.append(np.argsort(order), -1).astype(narrowest(len(found) + 1))
    return StoredCodes(
        place[codes], [found[at][1] for at in order], has_missing=encoded.has_missing
    )


def is_mixed(column: Any) -> bool:
    """Whether booleans stand beside numbers in one object column: hashing would merge True and 1."""
    if column.dtype != object or not pd.api.types.infer_dtype(column).startswith("mixed"):
        return False
    return kinds_of(column.dropna()) >= {"boolean", "number"}


def _is_hashable(value: Any) -> bool:
    """Whether a value can be a key."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _codes(column: Any) -> ColumnCodes:
    """Codes by the way that suits the dtype."""
    dtype = column.dtype
    if isinstance(dtype, np.dtype):  # of a Series .array would hide that it is numpy's
        # asarray would first ask a Series for two attributes that it looks for among its labels
        values = column.to_numpy() if hasattr(column, "to_numpy") else column
        return _numpy_codes(values, dtype)
    values = getattr(column, "array", column)
    if isinstance(values, pd.arrays.NumpyExtensionArray):
        return _numpy_codes(values.to_numpy(), values.to_numpy().dtype)
    if isinstance(dtype, pd.SparseDtype):
        return _numpy_codes(np.asarray(values), dtype.subtype)
    if isinstance(dtype, pd.CategoricalDtype):
        return _category_codes(values)
    if isinstance(dtype, pd.StringDtype) or _is_arrow_text(dtype):
        return _text_codes(values)
    if str(dtype) == "time64[ns][pyarrow]":
        _check_microseconds(values)
    return hashed(values)


def _check_microseconds(values: Any) -> None:
    """NotImplementedError for times of day that Python's, which know no nanoseconds, would merge."""
    import pyarrow as pa

    try:
        values.__arrow_array__().cast("time64[us]")
    except pa.ArrowInvalid as fault:
        raise NotImplementedError from fault


def _may_be_beyond(dtype: Any) -> bool:
    """Whether Python's own times stand for those of the dtype: Arrow's, and those with a zone."""
    dtype = dtype.categories.dtype if isinstance(dtype, pd.CategoricalDtype) else dtype
    if isinstance(dtype, pd.ArrowDtype):
        return str(dtype).startswith(("date", "timestamp"))
    return isinstance(dtype, pd.DatetimeTZDtype)


def check_years(name: Hashable | None, times: pd.Index) -> None:
    """KindError for times whose year Python cannot hold."""
    try:
        shown(times.min()), shown(times.max())
    except (NotImplementedError, OverflowError, ValueError):
        raise KindError(
            f"{_title(name)} holds times beyond the years 1 to 9999, which Python cannot hold in "
            f"{times.dtype}. Convert it to datetime64[s] without a zone."
        ) from None


def of_all_rows(encoded: ColumnCodes, n_rows: int) -> tuple[ColumnCodes, Array]:
    """Codes that foresee every value, and the code of each row."""
    try:
        return encoded, encoded.block(0, n_rows)
    except Unforeseen:
        encoded = encoded.widened()
        return encoded, encoded.block(0, n_rows)


def scored(scores: npt.NDArray[np.floating], threshold: float) -> ColumnCodes:
    """Codes False and True: whether a score reaches the threshold, in the precision of the scores."""
    missing = np.isnan(scores)
    codes = (scores >= rounded(threshold, scores.dtype)).view(np.uint8)
    codes[missing] = 255  # the -1 of one byte
    return StoredCodes(codes, [False, True], has_missing=bool(missing.any()))


def rounded(threshold: float, dtype: npt.DTypeLike) -> Any:
    """The threshold in a precision: 0.7 in float32 is less than 0.7, and so is a score of 0.7."""
    with np.errstate(over="ignore"):  # beyond the range no score is, but those that are infinite
        return np.asarray(float(threshold)).astype(dtype)[()]


def _numpy_codes(values: Array, dtype: np.dtype[Any]) -> ColumnCodes:
    """Codes of an array of numpy."""
    if dtype.kind == "b":
        return StoredCodes(values.view(np.uint8), [False, True], has_missing=False)
    if dtype.kind in "iu":
        return _integer_codes(values)
    return hashed(values)


def _category_codes(values: pd.Categorical) -> ColumnCodes:
    """Codes of categories, which are viewed."""
    codes, categories = values.codes, positive_zero(values.categories)
    return StoredCodes(
        codes.view(f"u{codes.dtype.itemsize}"),
        categories,
        has_missing=bool(len(codes) and codes.min() < 0),
        order=categories,
    )


def _integer_codes(values: Array, *, is_sampled: bool = True) -> ColumnCodes:
    """Codes by range, guessed from a sample of many rows, where it is small."""
    n = len(values)
    is_sampled = is_sampled and n > _SAMPLE
    if not is_sampled:
        samples = [values] if n else []
    else:
        samples = [values[:_CHUNK], values[:: n // _SAMPLE], values[-_CHUNK:]]
    low = min((int(sample.min()) for sample in samples), default=0)
    high = max((int(sample.max()) for sample in samples), default=-1)
    if not _is_range(low, high):
        return hashed(values)
    return IntegerCodes(values, low, high, is_sampled=is_sampled)


def _is_range(low: int, high: int) -> bool:
    """Whether the numbers are few enough to be shifted, and int64 can hold them."""
    return high - low < _SPAN and high < 1 << 63


def _is_arrow_text(dtype: Any) -> bool:
    """Whether a dtype is text of Arrow."""
    return isinstance(dtype, pd.ArrowDtype) and str(dtype.pyarrow_dtype) in {
        "string",
        "large_string",
    }


def _text_codes(values: Any) -> ColumnCodes:
    """Codes of text, by a dictionary that a sample gives."""
    if (
        not hasattr(values, "__arrow_array__")
        or getattr(values.dtype, "storage", "pyarrow") == "python"
    ):
        return hashed(values)
    chunks = values.__arrow_array__()
    if len(chunks) <= _SAMPLE:
        return _dictionary_codes(chunks)
    import pyarrow as pa

    step = _SAMPLE // 4
    starts = np.linspace(0, len(chunks) - step, 4).astype(int).tolist()
    pieces = [piece for start in starts for piece in chunks.slice(start, step).chunks]
    return TextCodes(chunks, pa.chunked_array(pieces, type=chunks.type).unique().drop_null())


def _dictionary_codes(chunks: pa.ChunkedArray) -> ColumnCodes:
    """Codes of Arrow text by the dictionary of all values."""
    encoded = chunks.dictionary_encode().chunks  # all over one dictionary
    words = encoded[0].dictionary.to_pylist() if encoded else []
    has_missing = chunks.null_count > 0
    codes = np.concatenate(
        [np.empty(0, dtype=np.int32), *(codes_of_indices(chunk.indices) for chunk in encoded)]
    )
    return StoredCodes(codes.astype(narrowest(len(words) + 1)), words, has_missing=has_missing)


def codes_of_indices(indices: pa.Array) -> npt.NDArray[np.integer]:
    """Places in an Arrow dictionary, -1 where a value is missing."""
    if not indices.null_count:
        return indices.to_numpy()
    if str(indices.type).startswith("uint"):  # as Polars has them
        indices = indices.cast("int64")
    return indices.fill_null(-1).to_numpy()


def hashed(values: Any) -> ColumnCodes:
    """Codes of any values by hashing them, in the order in which they occur."""
    codes, found = factorized(values)
    has_missing = bool(len(codes) and codes.min() < 0)
    levels = positive_zero(pd.Index(found, dtype=found.dtype, tupleize_cols=False))
    if levels.dtype == object:
        levels = _one_form(levels, values)
    return StoredCodes(codes.astype(narrowest(len(levels) + 1)), levels, has_missing=has_missing)


def _one_form(levels: pd.Index, values: Any) -> pd.Index:
    """Python values; whole numbers as int where 1, 1.0 and True, merged by hashing, stand in one column."""
    levels = pd.Index([as_python(value) for value in levels], dtype=object, tupleize_cols=False)
    if not kinds_of(levels) & {"boolean", "number"}:
        return levels
    if not pd.api.types.infer_dtype(values, skipna=True).startswith("mixed"):
        return levels
    if "number" not in kinds_of(value for value in values if not is_missing(value)):
        return levels
    return pd.Index([_as_int(value) for value in levels], dtype=object, tupleize_cols=False)


def _as_int(value: Any) -> Any:
    """Whole numbers as int."""
    is_whole = isinstance(value, (bool, float)) and value == value // 1
    return int(value) if is_whole else value
