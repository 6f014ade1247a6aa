"""A file of predictions -> a frame of the columns that are needed, for the command line."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import re
import shutil
import sys
import warnings
import zipfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.cli.messages import printable
from pandas_tba.engines.parquet import tqdm_bar
from pandas_tba.errors import ColumnError, InputError, KindError, listed, nearest, shown

_PACKED = (".gz", ".bz2", ".xz", ".zip", ".zst")
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_LINES = (".jsonl", ".ndjson", ".json")
PARQUET, FEATHER = (".parquet", ".pq"), (".feather", ".arrow")
_STARTS = {  # of files, by their ending
    ".parquet": b"PAR1", ".feather": b"ARROW1", ".gz": b"\x1f\x8b", ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ\0", ".zip": b"PK\3\4", ".zst": b"\x28\xb5\x2f\xfd",
}  # fmt: skip
_STANDARD_INPUT = ("-", "/dev/stdin")
_MARKS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}  # that begin a file
_ROWS_AT_A_TIME = 250_000
_BUFFER = 1 << 18  # bytes of text that are unpacked at a time
_LONGEST_LINE = 1 << 26  # bytes; what is longer is no table, and would fill the memory
_PATIENCE = 1.0  # seconds before a bar is shown
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
        kind, _ = format_of(path)
        if kind in _LINES:
            return _lines(path, columns, numbers)
        return _separated(path, _SEPARATORS[kind], columns, numbers)


@contextmanager
def on_disk(path: Path) -> Iterator[Path]:
    """The file itself; or a copy of what comes through a pipe, since that can be read but once."""
    is_input = str(path) in _STANDARD_INPUT
    if not is_input and (path.is_file() or path.is_dir() or not path.exists()):
        yield path
        return
    if is_input and sys.stdin is None:
        raise InputError("Standard input is closed; give a file, or a pipe to read from.")
    with TemporaryDirectory(prefix="pandas-tba.") as folder:
        copy = Path(folder, "stdin" if is_input else path.name)
        source = nullcontext(sys.stdin.buffer) if is_input else path.open("rb")
        with source as file, copy.open("wb") as target:
            shutil.copyfileobj(file, target)
        yield copy if named_format(copy) else copy.rename(f"{copy}{_ending(copy)}")


def _ending(path: Path) -> str:
    """The ending that a file should have, by what it begins with."""
    with path.open("rb") as file:
        start = file.read(8)
    ending = next((end for end, found in _STARTS.items() if start.startswith(found)), "")
    if ending in (*PARQUET, *FEATHER):
        return ending
    with readable(path), path.open("rb") as file, _unpacked(file, ending) as text:
        line = text.read(_BUFFER).removeprefix(codecs.BOM_UTF8).lstrip().partition(b"\n")[0]
    if line.startswith(b"{"):
        return f".jsonl{ending}"
    has_tabs = b"\t" in line and b"," not in line
    return f"{'.tsv' if has_tabs else '.csv'}{ending}"


@contextmanager
def _decoded_text(path: Path) -> Iterator[IO[bytes]]:
    """The unpacked bytes of a file of lines; a bar shows how far it is read."""
    size, (_, packed) = path.stat().st_size, format_of(path)
    with (
        path.open("rb") as file,
        bar_of(path, size, unit="B") as bar,
        _unpacked(file, packed) as text,
    ):
        yield io.BufferedReader(_Lines(path, file, text, bar), _BUFFER)


def bar_of(path: Path, total: int, unit: str = "row") -> Any:
    """A bar on a terminal, of what takes long; it is gone in the end, however that comes."""
    look = {"disable": None, "delay": _PATIENCE, "leave": False, "dynamic_ncols": True}
    return tqdm_bar(total, unit=unit, desc=printable(path.name[:40]), **look)


def _unpacked(file: Any, packed: str) -> Any:
    """The bytes of a file that is packed so."""
    if packed == ".zip":
        held = zipfile.ZipFile(file)
        if len(held.namelist()) != 1:
            raise ValueError(f"it must hold one file, and holds {len(held.namelist()):,}")
        return held.open(held.namelist()[0])
    if packed == ".zst":
        return _of_zstd(file)
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(packed)
    return unpack(file) if unpack else file


def _of_zstd(file: Any) -> Any:
    """The bytes of a .zst file, where a library can unpack it."""
    try:
        import zstandard
    except ModuleNotFoundError as fault:
        raise ModuleNotFoundError(
            f"{Path(file.name).name} needs zstandard: pip install zstandard.", name=fault.name
        ) from fault
    return zstandard.open(file, "rb")


class _Lines(io.RawIOBase):
    """Unpacked bytes of lines; an error where one is too long for the row of a table.

    Without it a few packed bytes, or a quote that nothing closes, would fill the memory.
    """

    def __init__(self, path: Path, file: IO[bytes], text: IO[bytes], bar: Any) -> None:
        super().__init__()
        self._path, self._file, self._text, self._bar = path, file, text, bar
        self._length = self._done = 0

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with the next bytes; returns how many there are."""
        part = self._text.read(len(buffer))
        buffer[: len(part)] = part
        last = part.rfind(b"\n")
        self._length = self._length + len(part) if last < 0 else len(part) - last - 1
        if self._length > _LONGEST_LINE:
            raise InputError(
                f"{self._path.name} has a line of more than {_LONGEST_LINE >> 20} MiB: this is no table "
                "with a row in each line."
            )
        if self._bar is not None:
            self._bar.update(self._file.tell() - self._done)
            self._done = self._file.tell()
        return len(part)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Name the file in whatever is raised of it."""
    try:
        yield
    except (ColumnError, InputError, KindError, ImportError):
        raise
    except UnicodeDecodeError as fault:
        found = _MARKS.get(fault.object[:2], "Windows-1252")
        raise InputError(
            f"{path.name} must be text in UTF-8; byte 0x{fault.object[fault.start]:02x} is not, and looks like "
            f"{found}. Save it anew, as with iconv -f {found} -t UTF-8."
        ) from fault
    except Exception as fault:  # each packing has errors of its own, which share no class
        if isinstance(fault, OSError) and fault.filename:
            raise
        text = str(fault).rpartition("file?: ")[2].rstrip(". \n")  # Arrow first says where it was
        reason = text or ("too little memory" if isinstance(fault, MemoryError) else repr(fault))
        raise InputError(f"Cannot read {path.name}: {reason}.") from fault


def _separated(
    path: Path, sep: str, columns: Sequence[str], numbers: Sequence[str], *, as_text: bool = False
) -> pd.DataFrame:
    """Columns of CSV or TSV; pandas parses numbers and makes categories, unless read as texts."""
    # columns that are not asked for are read as one byte: it costs nothing, and if they were skipped,
    # pandas would let rows be longer than the header
    asked: dict[str, Any] = {"sep": sep, "index_col": False, **_EXACT}
    text: Any = object
    if not (numbers or as_text):  # twice as fast
        # any mark of thousands: without one, pandas 3.1 makes numbers of categories part by part; with
        # one it misses the nearest float
        text, asked["thousands"] = "category", "\1"
    dtypes = (
        dict.fromkeys(_header(path, sep, columns), "S1")
        | dict.fromkeys(columns, text)
        | dict.fromkeys(numbers, object if as_text else "float64")
    )
    found = []
    try:
        with warnings.catch_warnings(), _decoded_text(path) as file:
            warnings.simplefilter("error", pd.errors.ParserWarning)
            for part in pd.read_csv(file, chunksize=_ROWS_AT_A_TIME, dtype=dtypes, **asked):
                if not as_text and any(_may_be_booleans(part[name]) for name in columns):
                    return _separated(path, sep, columns, numbers, as_text=True)
                found.append(_typed(part, columns, numbers, path))
        return _joined(found, columns)
    except pd.errors.ParserWarning as fault:
        raise InputError(f"{path.name} has rows with more fields than its header.") from fault
    except ValueError as fault:
        if type(fault) is ValueError and not as_text:  # no fault of the file's form
            return _separated(path, sep, columns, numbers, as_text=True)
        raise


def _may_be_booleans(column: pd.Series) -> bool:
    """Whether pandas has made booleans of texts, or may have made numbers of True and False."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.categories.dtype == bool
    if column.dtype == object or not len(column) or column.iloc[0] not in (0, 1):
        return False
    return bool(column.isin([0, 1]).all())


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
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.array.rename_categories(column.cat.categories.astype(str))
    codes, texts = pd.factorize(column)
    return pd.Categorical.from_codes(codes, categories=texts.astype(str))


def _floats(values: pd.Series, where: str) -> pd.Series:
    """Numbers, or texts of them, as float() has them; KindError for the first that is none."""
    try:
        return values.astype("float64")
    except (ValueError, OverflowError) as fault:
        raise KindError(f"{where} must hold numbers; {fault}.") from fault


def _header(path: Path, sep: str, columns: Sequence[str]) -> list[str]:
    """Names of all columns as pandas has them, those asked for being there once."""
    names = list(_first_rows(path, sep, nrows=0).columns)
    # pandas gives columns of one name other names: the header as it is written tells
    header = _first_rows(path, sep, header=None, nrows=1, dtype=str, keep_default_na=False)
    written = [name or other for name, other in zip(header.iloc[0], names, strict=False)]
    if not {*columns} <= {*written}:
        _check_separator(path, sep, sep.join(written))
    check_columns(written, columns, path)
    if {*names} >= _OF_COUNTS:
        _check_no_counts(_first_rows(path, sep, nrows=1, usecols=["tba"], dtype=str), path)
    return names


def _first_rows(path: Path, sep: str, **asked: Any) -> pd.DataFrame:
    """What pandas reads first of a file of text."""
    with _decoded_text(path) as file:
        return pd.read_csv(file, sep=sep, **asked)


def _check_separator(path: Path, sep: str, header: str) -> None:
    """Raise ColumnError where another separator is more frequent than the one in use."""
    found = max(";\t,|", key=header.count)
    if header.count(found) <= header.count(sep):
        return
    step = "Name it .tsv" if found == "\t" else f"Separate them by {sep!r}"
    raise ColumnError(
        f"{path.name} has columns that are separated by {found!r}, as in {shown(header)}; in "
        f"{format_of(path)[0]} files they are by {sep!r}. {step}."
    )


def _check_no_counts(first: pd.DataFrame, path: Path) -> None:
    """Raise InputError where the first row is the one that says what counts are."""
    if first["tba"].astype(str).str.startswith('{"format"').any():
        raise InputError(
            f"{path.name} holds counts, as ConfusionCounts.to_table(text=True) writes them, and no "
            "predictions. In Python: tba.report(tba.ConfusionCounts.from_table(pd.read_csv(...)))."
        )


def _lines(path: Path, columns: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    """Columns of JSON lines, parsed by Python: the parser of pandas misses the nearest float."""
    found: dict[str, list[Any]] = {name: [] for name in columns}
    names: dict[str, Any] = {}
    texts: dict[str, str] = {}  # one object for all equal texts saves most of the memory
    with closing(_objects(path)) as rows:
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


def _objects(path: Path) -> Generator[dict[str, Any]]:
    """The objects of JSON lines, one after the other."""
    decode = json.JSONDecoder().decode
    with _decoded_text(path) as file:
        for at, line in enumerate(io.TextIOWrapper(file, encoding="utf-8-sig"), 1):
            if line.isspace():
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


def named_format(path: Path) -> tuple[str, str] | None:
    """The ending that says the format, and that of the packing, where they can be read."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = suffixes.pop() if suffixes and suffixes[-1] in _PACKED else ""
    kind = "".join(suffixes[-1:])
    is_text = kind in (*_SEPARATORS, *_LINES)
    return (kind, packed) if is_text or (kind in (*PARQUET, *FEATHER) and not packed) else None


def format_of(path: Path) -> tuple[str, str]:
    """The ending that says the format, and that of the packing; folders are of Parquet files."""
    found = (PARQUET[0], "") if path.is_dir() else named_format(path)
    if found:
        return found
    absent = "" if path.exists() else ", which is not there"
    raise InputError(
        f"FILE must end in one of {', '.join([*_SEPARATORS, *_LINES])}, which may be packed "
        f"({', '.join(_PACKED)}), or of {', '.join([*PARQUET, *FEATHER])}, or be a folder of Parquet "
        f"files, or - for standard input; got {path.name!r}{absent}."
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
