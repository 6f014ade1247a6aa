"""Columns that lie in memory, as pandas or Arrow holds them -> Combinations."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.storage import Cells
from pandas_tba.engines.combinations import Combinations, Levels, Lines, Question, Tables
from pandas_tba.engines.kernel import PairCodes, tally
from pandas_tba.engines.pandas_pairs import Faults, Models, Pivot, numbered_values
from pandas_tba.errors import KindError, shown
from pandas_tba.frames.checks import (
    NO_BAD_WEIGHTS,
    BadWeights,
    bad_weights,
    is_weight,
    own_scores,
)
from pandas_tba.frames.codes import (
    ColumnCodes,
    StoredCodes,
    check_years,
    codes_of_indices,
    encode,
    encode_labels,
    narrowest,
    normal,
    of_all_rows,
    plain,
    scored,
)
from pandas_tba.frames.lookup import group_keys
from pandas_tba.frames.values import factorized, plain_index, positive_zero

FloatArray = npt.NDArray[np.floating]
Mask = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]


class Reader(Protocol):
    """How columns of one library are read."""

    def encode(self, column: Any) -> ColumnCodes:
        """Codes of the values, which are keys."""

    def labels(self, column: Any) -> ColumnCodes:
        """Codes of the values, which are labels."""

    def numbers(self, column: Any) -> FloatArray | None:
        """Values as float of their precision, missing ones NaN; None where they are no numbers."""

    def is_missing_in(self, column: Any) -> Mask:
        """Whether each value is missing."""

    def kept(self, column: Any, rows: Mask) -> Any:
        """Only some of the rows."""


class PandasReader:
    """Reader of Series, and of arrays of keys."""

    encode = staticmethod(encode)
    labels = staticmethod(encode_labels)

    @staticmethod
    def numbers(column: Any) -> FloatArray | None:
        """Values as float of their precision, missing ones NaN; None where they are no numbers."""
        try:
            return own_scores(column.name, column)
        except KindError:
            return None

    @staticmethod
    def is_missing_in(column: Any) -> Mask:
        """Whether each value is missing."""
        return np.asarray(column.isna())

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

    def encode(self, column: Any) -> ColumnCodes:
        """Codes of the values."""
        import pyarrow as pa

        name, array = column
        if not pa.types.is_dictionary(array.type):
            return arrow_codes(name, array)
        if name not in self._known or not self._known[name][0].equals(array.dictionary):
            self._known[name] = (array.dictionary, *_levels(array.dictionary))
        return _codes_of_dictionary(
            array, *self._known[name][1:], is_declared=name in self._declared
        )

    labels = encode

    def numbers(self, column: Any) -> FloatArray | None:
        """Values as float of their precision, missing ones NaN; None where they are no numbers."""
        return _arrow_numbers(column[1])

    def is_missing_in(self, column: Any) -> Mask:
        """Whether each value is missing."""
        import pyarrow as pa

        values = None if pa.types.is_integer(column[1].type) else self.numbers(column)
        if values is None:
            return np.asarray(column[1].is_null().to_numpy(zero_copy_only=False))
        return np.isnan(values)

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
    rows, reader = _rows_of_pandas(frame, question), PandasReader()
    all_encoded, is_missing_in = _missing_in(
        rows, _label_codes(rows, question, reader, set()), question, reader
    )
    rows, all_encoded = _keep_complete(rows, all_encoded, is_missing_in, reader)
    case, _ = numbered_values(rows.keys[-1])
    known = case >= 0
    model, *keys, row = (key[known] for key in rows.keys)
    truth, predicted = (_stored(part, rows.n_rows, known) for part in all_encoded)
    codes, found = numbered_values(model)
    pivot = Pivot.of(row, case[known], models.places(found)[codes])
    n_cases, n_known = int(pivot.is_first.sum()), len(row)
    constant, weights = [truth.block(0, n_known), *keys], None
    if rows.weights is not None:
        of_rows = rows.weights.to_numpy(dtype=np.float64)[known]
        constant.append(of_rows)
        weights = of_rows[pivot.is_first]
    faults = pivot.faults(constant, models)
    dtype = np.dtype(narrowest(predicted.size + 1))
    scored = predicted.block(0, n_known).astype(dtype)
    levels, order = predicted.levels(), predicted.order
    predictions = [
        StoredCodes(codes, levels, has_missing=True, order=order)
        for codes in pivot.table(scored, len(models.values), np.iinfo(dtype).max)
    ]
    first = pivot.is_first
    encoded = [_stored(truth, n_known, first), *predictions]
    encoded_keys = [encode(key[first]) for key in keys]
    of_all, lines = _tallied(encoded_keys, encoded, cases.tables, n_cases, weights)
    return Combinations(of_all, lines, n_cases, {}), faults._replace(no_row=int((~known).sum()))


def _rows_of_pandas(frame: pd.DataFrame, question: Question) -> Rows:
    """The columns of a question in a pandas frame."""
    form = plain if question.columns.has_scores else normal
    keys = [key.values for key in group_keys(frame, question.by)]
    if question.columns.model is not None:
        keys.insert(0, frame[question.columns.model])
    weights = question.bound.weights
    return Rows(
        keys,
        normal(frame[question.columns.y_true]),
        [form(frame[name]) for name in question.bound.predictions],
        None if weights is None else normal(frame[weights[0]]),
        len(frame),
    )


def combinations_of_rows(rows: Rows, question: Question, reader: Reader) -> Combinations:
    """Combinations of the rows that have every label, score and weight."""
    columns, no_numbers = question.columns, set[Hashable]()
    encoded = _label_codes(rows, question, reader, no_numbers)
    encoded, is_missing_in = _missing_in(rows, encoded, question, reader)
    is_error = bool(is_missing_in) and columns.missing == "raise"
    counted, encoded = (
        (rows, encoded) if is_error else _keep_complete(rows, encoded, is_missing_in, reader)
    )
    weights, bad = None, NO_BAD_WEIGHTS
    if counted.weights is not None:
        weights = _note_numbers(columns.sample_weight, counted.weights, reader, no_numbers)
        weights, bad = _valid(weights)
    uncounted: tuple[Codes, ...] = ()
    if is_error:
        levels, lines, uncounted = _count_labels_alone(encoded, question, rows.n_rows)
    else:
        keys = [reader.encode(key) for key in counted.keys]
        levels, lines = _tallied(keys, encoded, question.tables, counted.n_rows, weights)
    n_missing = {name: int(lacking.sum()) for name, lacking in is_missing_in.items()}
    return Combinations(
        levels, lines, rows.n_rows, n_missing, bad, frozenset(no_numbers), uncounted
    )


def _label_codes(
    rows: Rows, question: Question, reader: Reader, no_numbers: set[Hashable]
) -> list[ColumnCodes]:
    """Codes of truth and predictions."""
    columns, encoded = question.columns, [reader.labels(rows.truth)]
    for name, column in zip(columns.predictions, rows.predictions, strict=True):
        if not columns.has_scores:
            encoded.append(reader.labels(column))
        else:
            values = _note_numbers(name, column, reader, no_numbers)
            encoded.append(scored(values, columns.threshold))
    return encoded


def _note_numbers(
    name: Hashable, column: Any, reader: Reader, no_numbers: set[Hashable]
) -> FloatArray:
    """Values as float, missing ones NaN; 0 in place of what is no number, and the name noted."""
    values = reader.numbers(column)
    if values is None:
        no_numbers.add(name)
        values = np.where(reader.is_missing_in(column), np.nan, 0.0)
    return values


def _missing_in(
    rows: Rows, encoded: list[ColumnCodes], question: Question, reader: Reader
) -> tuple[list[ColumnCodes], dict[Hashable, Mask]]:
    """The codes, looked through where values are missing, and which rows lack them by column."""
    is_missing_in, encoded = {}, [*encoded]
    for at, (name, _) in enumerate(question.bound.labelled()):
        if encoded[at].has_missing:
            encoded[at], codes = of_all_rows(encoded[at], rows.n_rows)
            is_missing_in[name] = codes == 0
    if rows.weights is not None and (missing := reader.is_missing_in(rows.weights)).any():
        is_missing_in[question.columns.sample_weight] = missing
    return encoded, is_missing_in


def _keep_complete(
    rows: Rows, encoded: list[ColumnCodes], is_missing_in: dict[Hashable, Mask], reader: Reader
) -> tuple[Rows, list[ColumnCodes]]:
    """Keys, weights and codes of the rows that lack nothing; the labels of all."""
    if not is_missing_in:
        return rows, encoded
    kept = ~np.logical_or.reduce([*is_missing_in.values()])
    complete = rows._replace(
        keys=[reader.kept(key, kept) for key in rows.keys],
        weights=None if rows.weights is None else reader.kept(rows.weights, kept),
        n_rows=int(kept.sum()),
    )
    return complete, [_stored(part, rows.n_rows, kept) for part in encoded]


def _tallied(
    keys: Sequence[ColumnCodes],
    encoded: Sequence[ColumnCodes],
    tables: Tables,
    n_rows: int,
    weights: FloatArray | None = None,
) -> tuple[tuple[Levels, ...], tuple[Lines, ...]]:
    """Levels of keys, truth and predictions, and the lines of each table."""
    truth, *predictions = encoded
    is_paired = any(len(table) > 1 for table in tables)
    if is_paired:
        predictions = [_stored(part, n_rows) for part in predictions]
    sides = [[predictions[at] for at in table] for table in tables]
    asked = [part[0] if len(part) == 1 else PairCodes(part, n_rows) for part in sides]
    found, used = tally(keys, truth, asked, n_rows, weights)
    shared, counted = used[: len(keys) + 1], used[len(keys) + 1 :]
    groups = found.groups - np.array([part.has_missing for part in shared[:-1]], dtype=np.intp)
    lines = tuple(
        _lines_of_cells(cells, groups, part, pair)
        for cells, part, pair in zip(found.tables, sides, counted, strict=True)
    )
    held = [*shared, *(predictions if is_paired else counted)]
    return tuple(Levels(part.levels(), part.declared()) for part in held), lines


def _lines_of_cells(
    cells: Cells, groups: Codes, sides: Sequence[ColumnCodes], counted: ColumnCodes
) -> Lines:
    """The cells one by one; where two sides were counted as one they are taken apart."""
    group, truth, predicted, quantities = cells.entries()
    columns = [predicted]
    if len(sides) == 2:
        # as wide integers: the levels may be unsigned, and a missing one is -1 below
        pair = np.asarray(counted.levels(), dtype=np.intp)[predicted]
        columns = [*np.divmod(pair, sides[1].size)]
    codes = [column - side.has_missing for column, side in zip(columns, sides, strict=True)]
    return Lines(np.column_stack([groups[group], truth, *codes]), quantities)


def _count_labels_alone(
    encoded: list[ColumnCodes], question: Question, n_rows: int
) -> tuple[tuple[Levels, ...], tuple[Lines, ...], tuple[Codes, ...]]:
    """No lines, but the rows of each label: all that is asked where missing values are an error."""
    n_keys = len(question.bound.keys)
    levels, uncounted = [Levels(pd.Index([]), None)] * n_keys, []
    for part, codes in (of_all_rows(part, n_rows) for part in encoded):
        rows = np.bincount(codes.astype(np.intp), minlength=part.size)
        levels.append(Levels(part.levels(), part.declared()))
        uncounted.append(rows[part.has_missing :])
    dtypes = [np.intp] if question.bound.weights is None else [np.intp, np.float64, np.float64]
    quantities = tuple(np.zeros(0, dtype=dtype) for dtype in dtypes)
    lines = tuple(
        Lines(np.zeros((0, n_keys + 1 + len(table)), dtype=np.intp), quantities)
        for table in question.tables
    )
    return tuple(levels), lines, tuple(uncounted)


def _stored(part: ColumnCodes, n_rows: int, rows: Any = slice(None)) -> ColumnCodes:
    """Codes of some rows that miss nothing, in memory; levels of the others stay known."""
    if isinstance(part, StoredCodes) and isinstance(rows, slice):
        return part
    part, codes = of_all_rows(part, n_rows)
    codes = codes[rows] - codes.dtype.type(part.has_missing)
    levels = part.levels()
    order = levels if part.order is not None else None
    return StoredCodes(codes, levels, has_missing=False, order=order)


def _valid(weights: FloatArray) -> tuple[FloatArray, BadWeights]:
    """Weights with 0 for what is none, and what that was."""
    held = weights.astype(np.float64, copy=False)
    bad = bad_weights(held)
    return (np.where(is_weight(held), held, 0.0) if bad.n_rows else held), bad


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


def join_chunks(chunks: Any) -> Any:
    """One Arrow array of several chunks, dictionaries over one."""
    return chunks.unify_dictionaries().combine_chunks()


def arrow_codes(name: Hashable, array: Any) -> ColumnCodes:
    """Codes of an Arrow array; missing are nulls and NaN."""
    import pyarrow as pa

    kind = array.type
    if pa.types.is_nested(kind):
        return encode(pd.Series(array.to_pylist(), name=name, dtype=object))
    if pa.types.is_boolean(kind):
        codes = array.cast(pa.uint8()).fill_null(255).to_numpy()
        return StoredCodes(codes, [False, True], has_missing=array.null_count > 0)
    if pa.types.is_integer(kind) and not array.null_count:
        return encode(array.to_numpy())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.time64("ns"):
        held = pd.arrays.ArrowExtensionArray(pa.chunked_array([array]))
        return encode(pd.Series(held, name=name))
    if kind == pa.month_day_nano_interval():
        array = _durations(name, array)
    if not pa.types.is_dictionary(kind):
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:  # periods, intervals, small floats and decimals
            return encode(array.to_pandas())
        if pa.types.is_date(kind) or getattr(kind, "tz", None):
            check_years(name, pd.Index(pd.arrays.ArrowExtensionArray(array.dictionary)))
    return _codes_of_dictionary(array, *_levels(array.dictionary))


def _durations(name: Hashable, array: Any) -> Any:
    """Durations of what DuckDB calls INTERVAL; KindError for months, whose length is not fixed."""
    import pyarrow as pa

    parts = array.to_pylist()
    with_months = [part for part in parts if part is not None and part.months]
    if with_months:
        raise KindError(
            f"Column {shown(name)} holds intervals of months, such as {shown(with_months[0])}, which "
            "have no fixed length. Convert them to days, dates or text."
        )
    unit, size = (
        ("ns", 1) if any(part and part.nanoseconds % 1000 for part in parts) else ("us", 1000)
    )
    lengths = [
        None if part is None else (part.days * 86_400 * 10**9 + part.nanoseconds) // size
        for part in parts
    ]
    return pa.array(lengths, pa.duration(unit))


def _levels(dictionary: Any) -> tuple[pd.Index, npt.NDArray[np.intp] | None]:
    """Levels of a dictionary, and the place of its entries among them unless they are the same.

    Null may stand in a dictionary, NaN beside it, and -0.0 beside 0.0.
    """
    entries = positive_zero(plain_index(dictionary.to_pandas(integer_object_nulls=True)))
    place, found = factorized(entries)
    same = len(found) == len(entries)
    return (entries, None) if same else (plain_index(found), np.append(place, -1))


def _codes_of_dictionary(
    array: Any,
    levels: pd.Index,
    place: npt.NDArray[np.intp] | None,
    *,
    is_declared: bool = False,
) -> ColumnCodes:
    """Codes of an Arrow dictionary over levels known before."""
    codes = codes_of_indices(array.indices)
    if place is not None:
        codes = place[codes]
    return StoredCodes(
        codes.astype(narrowest(len(levels) + 1)),
        levels,
        has_missing=bool(len(codes) and codes.min() < 0),
        order=levels if is_declared else None,
    )


def _arrow_numbers(array: Any) -> FloatArray | None:
    """An Arrow array as floats, or None where it holds no numbers."""
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    is_number = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_null)
    if not any(holds(array.type) for holds in is_number):
        return None
    kind = array.type if pa.types.is_floating(array.type) else pa.float64()
    return np.asarray(array.cast(kind).to_numpy(zero_copy_only=False))
