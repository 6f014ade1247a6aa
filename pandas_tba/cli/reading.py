"""A file of predictions -> a frame of the columns that are needed, for the command line."""

from __future__ import annotations

import csv
import json
import re
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.cli.progress import Bar
from pandas_tba.errors import ColumnError, InputError, KindError, listed, nearest, shown

_PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_LINES = (".jsonl", ".ndjson", ".json")
PARQUET, FEATHER = (".parquet", ".pq"), (".feather", ".arrow")
_ROWS_AT_A_TIME = 250_000
# the other parsers of pandas miss the nearest float of one number in three; from 3.1 on there is one
_EXACT: dict[str, Any] = (
    {"float_precision": "round_trip"} if pd.__version__.startswith(("2.", "3.0.")) else {}
)
_OF_COUNTS = {"y_true", "y_pred", "n", "tba"}  # columns of a table of counts in text
# as a number is written; 007 is a name
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WHOLE = re.compile(r"-?\d+")
_MOST_EXACT = 2**53  # floats hold all whole numbers up to here
_BOOLEANS = {
    word: word.casefold() == "true" for word in ("True", "TRUE", "true", "False", "FALSE", "false")
}


def read_table(path: Path, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pd.DataFrame:
    """Some columns of a file of text, those in `numbers` as float; its name says the format.

    Texts of CSV and TSV become categories: labels and keys take a byte or two a row, however many
    rows there are.
    """
    with readable(path):
        kind, packed = format_of(path)
        if kind in _LINES:
            return _lines(path, packed, columns, numbers)
        return _separated(path, {"sep": _SEPARATORS[kind], "compression": packed}, columns, numbers)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Name the file in whatever is raised of it."""
    try:
        yield
    except (ColumnError, InputError, KindError, ImportError):
        raise
    except UnicodeDecodeError as fault:
        raise InputError(
            f"{path.name} must be text in UTF-8, and is not. Save it anew with that encoding."
        ) from fault
    except Exception as fault:  # each packing has errors of its own, which share no class
        if isinstance(fault, OSError) and fault.filename:
            raise
        text = str(fault).rpartition("file?: ")[2].rstrip(". \n")  # Arrow first says where it was
        raise InputError(f"Cannot read {path.name}: {text}.") from fault


def _separated(
    path: Path,
    asked: dict[str, Any],
    columns: Sequence[str],
    numbers: Sequence[str],
    number: Any = "float64",
) -> pd.DataFrame:
    """Columns of CSV or TSV; numbers are parsed by pandas, or read as texts for Python to parse."""
    # columns that are not asked for are read as one byte: it costs nothing, and if they were skipped,
    # pandas would let rows be longer than the header. Texts are read as such and not as categories,
    # which pandas 3.1 makes numbers or booleans of
    dtypes = (
        dict.fromkeys(_header(path, asked, columns), "S1")
        | dict.fromkeys(columns, object)
        | dict.fromkeys(numbers, number)
    )
    found = []
    try:
        with warnings.catch_warnings(), path.open("rb") as file, _bar(path) as bar:
            warnings.simplefilter("error", pd.errors.ParserWarning)
            parts = pd.read_csv(
                file, chunksize=_ROWS_AT_A_TIME, index_col=False, dtype=dtypes, **_EXACT, **asked
            )
            for part in _watched(parts, file, bar):
                if number is not object and any(_may_be_booleans(part[name]) for name in numbers):
                    return _separated(path, asked, columns, numbers, object)
                found.append(_typed(part, columns, numbers, path))
        return _joined(found, columns)
    except pd.errors.ParserWarning as fault:
        raise InputError(f"{path.name} has rows with more fields than its header.") from fault
    except ValueError as fault:
        if type(fault) is ValueError and number is not object:  # no fault of the file's form
            return _separated(path, asked, columns, numbers, object)
        raise


def _may_be_booleans(column: pd.Series) -> bool:
    """Whether pandas may have made the numbers of a column of True and False."""
    return len(column) > 0 and column.iloc[0] in (0, 1) and bool(column.isin([0, 1]).all())


def _typed(
    part: pd.DataFrame, columns: Sequence[str], numbers: Sequence[str], path: Path
) -> pd.DataFrame:
    """The columns of a part, numbers as floats and texts as categories."""
    return pd.DataFrame(
        {
            name: _floats(part[name], f"{path.name}: column {shown(name)}")
            if name in numbers
            else _categories(part[name])
            for name in columns
        }
    )


def _categories(column: pd.Series) -> pd.Categorical:
    """Texts as categories: what astype("category") gives, in a third of the time."""
    codes, texts = pd.factorize(column)
    return pd.Categorical.from_codes(codes, categories=texts.astype(str))


def _floats(values: pd.Series, where: str) -> pd.Series:
    """Numbers, or texts of them, as float() has them; KindError for the first that is none."""
    try:
        return values.astype("float64")
    except (ValueError, OverflowError) as fault:
        raise KindError(f"{where} must hold numbers; {fault}.") from fault


def _header(path: Path, asked: dict[str, Any], columns: Sequence[str]) -> list[str]:
    """Names of all columns as pandas has them, those asked for being there once."""
    names = list(pd.read_csv(path, nrows=0, **asked).columns)
    # pandas gives columns of one name other names: the header as it is written tells
    header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **asked)
    found = zip(header.iloc[0], names, strict=False)
    check_columns([written or name for written, name in found], columns, path)
    if {*names} >= _OF_COUNTS:
        _check_no_counts(pd.read_csv(path, nrows=1, usecols=["tba"], dtype=str, **asked), path)
    return names


def _check_no_counts(first: pd.DataFrame, path: Path) -> None:
    """Raise InputError where the first row is the one that says what counts are."""
    if first["tba"].astype(str).str.startswith('{"format"').any():
        raise InputError(
            f"{path.name} holds counts, as ConfusionCounts.to_table(text=True) writes them, and no "
            "predictions. In Python: tba.report(tba.ConfusionCounts.from_table(pd.read_csv(...)))."
        )


def _lines(path: Path, packed: Any, columns: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    """Columns of JSON lines, parsed by Python: the parser of pandas misses the nearest float."""
    found: dict[str, list[Any]] = {name: [] for name in columns}
    names: dict[str, Any] = {}
    texts: dict[str, str] = {}  # one object for all equal texts saves most of the memory
    with closing(_objects(path, packed)) as rows:
        for row in rows:
            if not names and {*row} >= _OF_COUNTS:
                _check_no_counts(pd.DataFrame([row]), path)
            names.update(row)
            for name, values in found.items():
                value = row.get(name)
                values.append(texts.setdefault(value, value) if type(value) is str else value)
    if not names:
        raise InputError(f"{path.name} holds no rows.")
    check_columns([*names], columns, path)
    return pd.DataFrame(
        {
            name: _numbers_of_json(values, f"{path.name}: column {shown(name)}")
            if name in numbers
            else _labels_of_json(values)
            for name, values in found.items()
        }
    )


def _objects(path: Path, packed: Any) -> Generator[dict[str, Any]]:
    """The objects of JSON lines, one after the other."""
    decode, at = json.JSONDecoder().decode, 0
    # pandas unpacks and splits the lines; the separator is a character that JSON does not have
    form: dict[str, Any] = {
        "sep": "\1", "names": ["line"], "quoting": csv.QUOTE_NONE, "dtype": object, "na_filter": False,
        "skip_blank_lines": False, "compression": packed, "chunksize": _ROWS_AT_A_TIME,
    }  # fmt: skip
    with path.open("rb") as file, _bar(path) as bar, pd.read_csv(file, **form) as parts:
        for part in _watched(parts, file, bar):
            for at, line in enumerate(part["line"], at + 1):  # noqa: B020
                if not line or line.isspace():
                    continue
                try:
                    row = decode(line)
                except ValueError as fault:
                    raise _no_object(path, at, getattr(fault, "msg", fault)) from fault
                if type(row) is not dict:
                    raise _no_object(path, at, f"got {shown(row)}")
                yield row


def _no_object(path: Path, at: int, reason: object) -> InputError:
    """The error that names the line."""
    return InputError(f"{path.name} must hold an object in each line; line {at:,}: {reason}.")


def _numbers_of_json(values: list[Any], where: str) -> pd.Series:
    """Numbers as floats, null as NaN; texts and booleans are no numbers in JSON."""
    others = {*map(type, values)} - {int, float, type(None)}
    if others:
        first = next(value for value in values if type(value) in others)
        raise KindError(f"{where} must hold numbers; got {shown(first)}.")
    return _floats(pd.Series(values, dtype=object), where)


def _labels_of_json(values: list[Any]) -> pd.Series:
    """Labels or keys; as objects where a dtype of numbers cannot hold each of them."""
    column = pd.Series(values, dtype=object)
    kinds = {*map(type, values)}
    if kinds > {int} and any(type(value) is int and abs(value) > _MOST_EXACT for value in values):
        return column  # it would become floats
    return column.infer_objects() if kinds <= {int, float, bool, type(None)} else column


def _bar(path: Path) -> Bar:
    """Progress bar over the bytes of a file."""
    return Bar(path.name, path.stat().st_size)


def _watched(parts: Any, file: IO[bytes], bar: Bar) -> Iterator[pd.DataFrame]:
    """The parts of a file, the bar told how much of it is read."""
    done = 0
    for part in parts:
        yield part
        bar.update(file.tell() - done)
        done = file.tell()


def format_of(path: Path) -> tuple[str, Any]:
    """The ending that says the format, and how the file is packed; folders are of Parquet files."""
    if path.is_dir():
        return PARQUET[0], None
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = _PACKED.get(suffixes[-1]) if suffixes else None
    kind = "".join((suffixes[:-1] if packed else suffixes)[-1:])
    texts, others = [*_SEPARATORS, *_LINES], [*PARQUET, *FEATHER]
    if kind in texts or (kind in others and not packed):
        return kind, packed
    absent = "" if path.exists() else ", which is not there"
    raise InputError(
        f"FILE must end in one of {', '.join(texts)}, which may be packed ({', '.join(_PACKED)}), or of "
        f"{', '.join(others)}, or be a folder of Parquet files; got {path.name!r}{absent}."
    )


def check_columns(names: list[str], columns: Sequence[str], path: Path) -> None:
    """ColumnError unless the file has each of the columns once."""
    others = [name for name in names if name not in columns]
    for column in columns:
        if column not in names:
            raise ColumnError(
                f"{path.name} has no column {shown(column)}.{nearest(column, others)} "
                f"Columns: {listed(names, 12)}. Name yours, as in --y-true label --y-pred forest."
            )
        if names.count(column) > 1:
            raise ColumnError(
                f"{path.name} has {names.count(column)} columns {shown(column)}. Rename all but one."
            )


def _joined(parts: list[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Parts one below the other, over common categories."""
    joined = {}
    for column in columns:
        found = [part[column] for part in parts]
        if isinstance(found[0].dtype, pd.CategoricalDtype):
            whole = pd.api.types.union_categoricals(found, sort_categories=True)
            joined[column] = pd.Series(whole)
        else:
            joined[column] = pd.concat(found, ignore_index=True)
    return pd.DataFrame(joined)


def with_values(frame: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """The frame with columns of texts that are all numbers, or all booleans, as such.

    Where a column of labels mixes these with other texts, all labels stay texts, and so match.
    """
    texts = {
        name: column.cat.categories
        for name, column in frame.items()
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    values = {name: _values(held) for name, held in texts.items()}
    if any(name in labels and values[name] is None and _has_values(texts[name]) for name in texts):
        values |= dict.fromkeys(labels)
    found: dict[Any, pd.Series] = {
        name: _with_categories(frame[name], held)
        for name, held in values.items()
        if held is not None
    }
    return frame.assign(**found)


def _values(texts: pd.Index) -> npt.NDArray[Any] | None:
    """What texts stand for if all are numbers, or all booleans."""
    if all(map(_is_number, texts)):
        numbers = np.array([float(text) for text in texts], dtype=np.float64)
        large = texts[abs(numbers) >= _MOST_EXACT]
        if len(large) and all(map(_WHOLE.fullmatch, texts)):
            return _large_numbers(texts)  # floats would make one of several
        if any(_WHOLE.fullmatch(text) and float(text) != int(text) for text in large):
            return None
        is_whole = (numbers == np.floor(numbers)) & (abs(numbers) <= _MOST_EXACT)
        return numbers.astype(np.int64) if is_whole.all() else numbers
    if all(text in _BOOLEANS for text in texts):
        return np.array([_BOOLEANS[text] for text in texts])
    return None


def _large_numbers(texts: pd.Index) -> npt.NDArray[Any] | None:
    """Whole numbers of 64 bits; others stay texts."""
    for dtype in (np.int64, np.uint64):
        try:
            return np.array([int(text) for text in texts], dtype=dtype)
        except (ValueError, OverflowError):
            pass
    return None


def _has_values(texts: pd.Index) -> bool:
    """Whether texts could be numbers or booleans."""
    return any(_is_number(text) or text in _BOOLEANS for text in texts)


def _is_number(text: object) -> bool:
    """Whether a text is a number as Python writes one."""
    return isinstance(text, str) and _NUMBER.fullmatch(text) is not None


def _with_categories(column: pd.Series, values: npt.NDArray[Any]) -> pd.Series:
    """Categories of other values in their order; those that are equal become one."""
    categories, place = np.unique(values, return_inverse=True)
    codes = np.append(place, -1)[column.cat.codes.to_numpy()]
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(categories)))
