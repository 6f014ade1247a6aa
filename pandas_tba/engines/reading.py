"""Columns that lie in memory, as pandas or Arrow holds them -> Combinations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.cells import Cells
from pandas_tba.encoding import Slots, StoredSlots, encode, narrowest, normal, of_all_rows, scored
from pandas_tba.engines.combining import Combinations, Levels, Lines, Question, Tables
from pandas_tba.grouping import group_keys
from pandas_tba.levels import factorized, plain_index
from pandas_tba.pairing import Beside, Faults, Models, numbered_values
from pandas_tba.tallying import PairSlots, tally
from pandas_tba.validation import as_numbers, check_not_mixed, is_weight, number_error

FloatArray = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]


class Reader(Protocol):
    """How columns of one library are read."""

    def encode(self, column: Any) -> Slots:
        """Slots of the values."""

    def numbers(self, argument: str, name: Hashable, column: Any) -> FloatArray:
        """Values as float, missing ones NaN; KindError for what is no number."""

    def kept(self, column: Any, rows: Mask) -> Any:
        """Only some of the rows."""


class PandasReader:
    """Reader of Series, and of arrays of keys."""

    encode = staticmethod(encode)
    numbers = staticmethod(as_numbers)

    @staticmethod
    def kept(column: Any, rows: Mask) -> Any:
        """Only some of the rows."""
        return column[rows]


class ArrowReader:
    """Reader of Arrow arrays, each with its name; `declared` ones are dictionaries by their type.

    Other dictionaries only save memory, and their order says nothing.  Levels of the last
    dictionary are remembered, since batch after batch has the same.
    """

    def __init__(self, declared: set[Hashable]) -> None:
        self._declared = declared
        self._known: dict[Hashable, tuple[Any, pd.Index, npt.NDArray[np.intp] | None]] = {}

    def encode(self, column: Any) -> Slots:
        """Slots of the values."""
        import pyarrow as pa

        name, array = column
        if not pa.types.is_dictionary(array.type):
            return arrow_slots(name, array)
        if name not in self._known or not self._known[name][0].equals(array.dictionary):
            self._known[name] = (array.dictionary, *_levels(array.dictionary))
        return _dictionary_slots(array, *self._known[name][1:], is_declared=name in self._declared)

    def numbers(self, argument: str, name: Hashable, column: Any) -> FloatArray:
        """Values as float, missing ones NaN; KindError for what is no number."""
        return _arrow_numbers(argument, name, column[1])

    def kept(self, column: Any, rows: Mask) -> Any:
        """Only some of the rows."""
        import pyarrow as pa

        return column[0], column[1].filter(pa.array(rows))


class Rows(NamedTuple):
    """The columns of a question, a value for each of `n_rows` rows."""

    keys: Sequence[Any]
    truth: Any
    predictions: Sequence[Any]
    weights: Any
    n_rows: int


def combinations_of_pandas(frame: pd.DataFrame, question: Question) -> Combinations:
    """Combinations of a part of the data that is a pandas frame."""
    return combinations_of_rows(_rows_of_pandas(frame, question), question, PandasReader())


def cases_of_pandas(
    frame: pd.DataFrame, question: Question, models: Models, cases: Question
) -> tuple[Combinations, Faults]:
    """Combinations of cases whose rows are all in this part, and what is wrong with the rows.

    The question is about rows: its first key is the model, its last one says which case they are.
    """
    rows = _complete(_rows_of_pandas(frame, question), question, PandasReader())
    case, _ = numbered_values(rows.keys[-1])
    known = case >= 0
    model, *keys, row = (key[known] for key in rows.keys)
    truth, predicted = (_stored(part, rows.n_rows, known) for part in rows.slots)
    codes, found = numbered_values(model)
    beside = Beside.of(row, case[known], models.places(found)[codes])
    n_cases, n_known = int(beside.is_first.sum()), len(row)
    faults = beside.faults([truth.block(0, n_known), *keys], models)
    dtype = np.dtype(narrowest(predicted.size + 1))
    scored = predicted.block(0, n_known).astype(dtype)
    levels, order = predicted.levels(), predicted.order
    predictions = [
        StoredSlots(codes, levels, has_missing=True, order=order)
        for codes in beside.table(scored, len(models.values), np.iinfo(dtype).max)
    ]
    first = beside.is_first
    slots = [_stored(truth, n_known, first), *predictions]
    key_slots = [encode(key[first]) for key in keys]
    of_all, lines = _tallied(key_slots, slots, cases.tables, n_cases)
    return Combinations(of_all, lines, n_cases, {}), faults._replace(no_row=int((~known).sum()))


def _rows_of_pandas(frame: pd.DataFrame, question: Question) -> Rows:
    named = [(name, normal(frame[name])) for name, _ in question.bound.labelled()]
    for at, (name, column) in enumerate(named):
        if at == 0 or question.columns.y_score is None:
            check_not_mixed("y_pred" if at else "y_true", name, column)
    keys = [key.values for key in group_keys(frame, question.by)]
    if question.columns.model is not None:
        keys.insert(0, frame[question.columns.model])
    weights = question.bound.weights
    return Rows(
        keys,
        named[0][1],
        [column for _, column in named[1:]],
        None if weights is None else frame[weights[0]],
        len(frame),
    )


class _Complete(NamedTuple):
    """The rows that have every label, score and weight; and which rows lack one, by column."""

    keys: Sequence[Any]
    slots: list[Slots]
    weights: FloatArray | None
    n_rows: int
    missing: dict[Hashable, Mask]


def combinations_of_rows(rows: Rows, question: Question, reader: Reader) -> Combinations:
    """Combinations of the rows that have every label, score and weight."""
    keys, slots, weights, n_rows, missing = _complete(rows, question, reader)
    weights, bad = (None, (0, ())) if weights is None else _valid(weights)
    key_slots = [reader.encode(key) for key in keys]
    levels, lines = _tallied(key_slots, slots, question.tables, n_rows, weights)
    n_missing = {name: int(lacks.sum()) for name, lacks in missing.items()}
    return Combinations(levels, lines, rows.n_rows, n_missing, bad)


def _complete(rows: Rows, question: Question, reader: Reader) -> _Complete:
    named = [name for name, _ in question.bound.labelled()]
    slots = [reader.encode(rows.truth), *_predicted(rows, question, reader)]
    weights = None
    if rows.weights is not None:
        weights = reader.numbers("sample_weight", question.columns.sample_weight, rows.weights)
    missing: dict[Hashable, Mask] = {}
    for at, (name, part) in enumerate(zip(named, slots, strict=True)):
        if part.has_missing:
            slots[at], codes = of_all_rows(part, rows.n_rows)
            missing[name] = codes == 0
    if weights is not None and np.isnan(weights).any():
        missing[question.columns.sample_weight] = np.isnan(weights)
    keys, n_rows = rows.keys, rows.n_rows
    if missing:
        kept = ~np.logical_or.reduce([*missing.values()])
        slots = [_stored(part, n_rows, kept) for part in slots]
        keys = [reader.kept(key, kept) for key in keys]
        weights, n_rows = None if weights is None else weights[kept], int(kept.sum())
    return _Complete(keys, slots, weights, n_rows, missing)


def _tallied(
    keys: Sequence[Slots],
    slots: Sequence[Slots],
    tables: Tables,
    n_rows: int,
    weights: FloatArray | None = None,
) -> tuple[tuple[Levels, ...], tuple[Lines, ...]]:
    """Levels of keys, truth and predictions, and the lines of each table."""
    truth, *predictions = slots
    is_paired = any(len(table) > 1 for table in tables)
    if is_paired:
        predictions = [_stored(part, n_rows) for part in predictions]
    sides = [[predictions[at] for at in table] for table in tables]
    asked = [part[0] if len(part) == 1 else PairSlots(part, n_rows) for part in sides]
    found, used = tally(keys, truth, asked, n_rows, weights)
    shared, counted = used[: len(keys) + 1], used[len(keys) + 1 :]
    groups = found.groups - np.array([part.has_missing for part in shared[:-1]], dtype=np.intp)
    lines = tuple(
        _lines(cells, groups, part, pair)
        for cells, part, pair in zip(found.tables, sides, counted, strict=True)
    )
    held = [*shared, *(predictions if is_paired else counted)]
    return tuple(Levels(part.levels(), part.declared()) for part in held), lines


def _lines(cells: Cells, groups: Codes, sides: Sequence[Slots], counted: Slots) -> Lines:
    """The cells one by one; where two sides were counted as one they are taken apart."""
    group, truth, predicted, planes = cells.entries()
    columns = [predicted]
    if len(sides) == 2:
        columns = [*np.divmod(np.asarray(counted.levels())[predicted], sides[1].size)]
    codes = [column - side.has_missing for column, side in zip(columns, sides, strict=True)]
    return Lines(np.column_stack([groups[group], truth, *codes]), planes)


def _predicted(rows: Rows, question: Question, reader: Reader) -> list[Slots]:
    columns = question.columns
    if columns.y_score is None:
        return [reader.encode(column) for column in rows.predictions]
    return [
        scored(reader.numbers("y_score", name, column), columns.threshold)
        for name, column in zip(columns.predictions, rows.predictions, strict=True)
    ]


def _stored(part: Slots, n_rows: int, rows: Any = slice(None)) -> Slots:
    """Slots of some rows that miss nothing, in memory; levels of the others stay known."""
    if isinstance(part, StoredSlots) and isinstance(rows, slice):
        return part
    part, codes = of_all_rows(part, n_rows)
    codes = codes[rows] - codes.dtype.type(part.has_missing)
    levels = part.levels()
    order = levels if part.order is not None else None
    return StoredSlots(codes, levels, has_missing=False, order=order)


def _valid(weights: FloatArray) -> tuple[FloatArray, tuple[int, tuple[float, ...]]]:
    """Weights with 0 for what is none, and how many these are with the first three."""
    bad = weights[~is_weight(weights)]
    if not len(bad):
        return weights, (0, ())
    return np.where(is_weight(weights), weights, 0.0), (len(bad), tuple(bad[:3].tolist()))


def combinations_of_batch(batch: Any, question: Question, reader: ArrowReader) -> Combinations:
    """Combinations of an Arrow record batch."""

    def column(name: Hashable) -> tuple[Hashable, Any]:
        return name, batch.column(name)

    named = [column(name) for name, _ in question.bound.labelled()]
    weights = question.bound.weights
    rows = Rows(
        [column(question.column_of_key(key)) for key in question.bound.keys],
        named[0],
        named[1:],
        None if weights is None else column(weights[0]),
        batch.num_rows,
    )
    return combinations_of_rows(rows, question, reader)


def joined(chunks: Any) -> Any:
    """One Arrow array of several chunks, dictionaries over one."""
    return chunks.unify_dictionaries().combine_chunks()


def arrow_slots(name: Hashable, array: Any) -> Slots:
    """Slots of an Arrow array; missing are nulls and NaN."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_nested(kind):
        return encode(pd.Series(array.to_pylist(), name=name, dtype=object))
    if pa.types.is_boolean(kind):
        codes = array.cast(pa.uint8()).fill_null(255).to_numpy()
        return StoredSlots(codes, [False, True], has_missing=array.null_count > 0)
    if pa.types.is_integer(kind) and not array.null_count:
        return encode(array.to_numpy())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return encode(pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))))
    if not pa.types.is_dictionary(kind):
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:  # periods, intervals, small floats and decimals
            return encode(array.to_pandas())
    return _dictionary_slots(array, *_levels(array.dictionary))


def _levels(dictionary: Any) -> tuple[pd.Index, npt.NDArray[np.intp] | None]:
    """Levels of a dictionary, and the place of its entries among them unless they are the same.

    NaN may stand beside null in a dictionary, and -0.0 beside 0.0.
    """
    entries = plain_index(dictionary.to_pandas())
    place, found = factorized(entries)
    same = len(found) == len(entries)
    return (entries, None) if same else (plain_index(found), np.append(place, -1))


def _dictionary_slots(
    array: Any,
    levels: pd.Index,
    place: npt.NDArray[np.intp] | None,
    *,
    is_declared: bool = False,
) -> Slots:
    indices = array.indices.fill_null(-1) if array.null_count else array.indices
    codes = indices.to_numpy()
    if place is not None:
        codes = place[codes]
    return StoredSlots(
        codes.astype(narrowest(len(levels) + 1)),
        levels,
        has_missing=bool(len(codes) and codes.min() < 0),
        order=levels if is_declared else None,
    )


def _arrow_numbers(argument: str, name: Hashable, array: Any) -> FloatArray:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        raise number_error(argument, name, array.slice(0, 0).to_pandas().dtype)
    return np.asarray(array.cast(pa.float64()).fill_null(np.nan))
