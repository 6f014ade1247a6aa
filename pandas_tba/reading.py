"""A file of predictions -> a frame of the columns that are needed, for the command line."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from pandas_tba.errors import ColumnError, InputError, KindError, listed, nearest, shown

_PACKED = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zip": "zip", ".zst": "zstd"}
_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_LINES = (".jsonl", ".ndjson", ".json")
_COLUMNAR: dict[str, Callable[..., pd.DataFrame]] = {
    ".parquet": pd.read_parquet,
    ".pq": pd.read_parquet,
    ".feather": pd.read_feather,
    ".arrow": pd.read_feather,
}
_ROWS_AT_A_TIME = 250_000
_PATIENCE = 1.0  # seconds before progress is shown
# as a number is written; 007 is a name
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def read_table(path: Path, columns: Sequence[str], *, numbers: Sequence[str] = ()) -> pd.DataFrame:
    """Some columns of a file, those in `numbers` as float; its name says the format.

    Texts of CSV and TSV become categories: labels and keys take a byte or two a row, however many
    rows there are.
    """
    kind, packed = _format(path)
    try:
        return _read(path, kind, packed, columns, numbers)
    except (ColumnError, InputError, KindError, ImportError):
        raise
    except UnicodeDecodeError as fault:
        raise InputError(
            f"{path.name} must be text in UTF-8, and is not. Save it anew with that encoding."
        ) from fault
    except Exception as fault:  # each packing has errors of its own, which share no class
        if isinstance(fault, OSError) and fault.filename:
            raise
        raise InputError(f"Cannot read {path.name}: {str(fault).rstrip('. ')}.") from fault


def _read(
    path: Path, kind: str, packed: Any, columns: Sequence[str], numbers: Sequence[str]
) -> pd.DataFrame:
    if kind in _COLUMNAR:
        return _columnar(path, _COLUMNAR[kind], columns)
    with path.open("rb") as file:
        if kind in _LINES:
            parts: Any = pd.read_json(
                file, lines=True, chunksize=_ROWS_AT_A_TIME, compression=packed, dtype=False,
            )  # fmt: skip
            found = [_chosen(part, columns, path) for part in _watched(parts, file, path)]
            return pd.concat(found, ignore_index=True) if found else _nothing(path)
        _check_header(path, _SEPARATORS[kind], packed, columns)
        parts = pd.read_csv(
            file, sep=_SEPARATORS[kind], usecols=list(columns), chunksize=_ROWS_AT_A_TIME,
            compression=packed, dtype={c: "float64" if c in numbers else "category" for c in columns},
        )  # fmt: skip
        try:
            return _joined(list(_watched(parts, file, path)), columns)
        except ValueError as fault:
            if type(fault) is ValueError:  # no fault of the file's form
                _check_numbers(path, _SEPARATORS[kind], packed, numbers)
            raise


def _check_numbers(path: Path, separator: str, packed: Any, numbers: Sequence[str]) -> None:
    """KindError with the name of the first column that holds something else."""
    for column in numbers:
        parts = pd.read_csv(
            path, sep=separator, usecols=[column], chunksize=_ROWS_AT_A_TIME, compression=packed,
            dtype="float64",
        )  # fmt: skip
        try:
            with parts:
                for _ in parts:
                    pass
        except ValueError as fault:
            raise KindError(
                f"{path.name}: column {shown(column)} must hold numbers; {fault}."
            ) from fault


def _format(path: Path) -> tuple[str, Any]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = _PACKED.get(suffixes[-1]) if suffixes else None
    kind = "".join((suffixes[:-1] if packed else suffixes)[-1:])
    known = [*_SEPARATORS, *_LINES, *_COLUMNAR]
    if kind not in known:
        raise InputError(
            f"FILE must end in one of {', '.join(known)}, and may be packed "
            f"({', '.join(_PACKED)}); got {path.name!r}."
        )
    return kind, packed


def _columnar(
    path: Path, read: Callable[..., pd.DataFrame], columns: Sequence[str]
) -> pd.DataFrame:
    import pyarrow.dataset as ds

    path.stat()  # Arrow does not say that a file is not there
    kind = "parquet" if read is pd.read_parquet else "feather"
    _check_columns(ds.dataset(path, format=kind).schema.names, columns, path)
    return read(path, columns=list(columns))


def _check_header(path: Path, separator: str, packed: Any, columns: Sequence[str]) -> None:
    asked: dict[str, Any] = {"sep": separator, "compression": packed}
    names = pd.read_csv(path, nrows=0, **asked).columns
    # pandas gives columns of one name other names: the header as it is written tells
    header = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False, **asked)
    found = zip(header.iloc[0], names, strict=False)
    _check_columns([written or name for written, name in found], columns, path)


def _check_columns(names: list[str], columns: Sequence[str], path: Path) -> None:
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


def _chosen(part: pd.DataFrame, columns: Sequence[str], path: Path) -> pd.DataFrame:
    _check_columns(list(part.columns), columns, path)
    return part[list(columns)]


def _nothing(path: Path) -> pd.DataFrame:
    raise InputError(f"{path.name} holds no rows.")


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


def with_numbers(frame: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """The frame with categories that are numbers as such: of the labels all or none, of keys each."""
    texts = [column for column in frame if isinstance(frame[column].dtype, pd.CategoricalDtype)]
    together = [column for column in texts if column in labels]
    parts = [together, *([column] for column in texts if column not in labels)]
    found: dict[Any, pd.Series] = {
        column: _as_numbers(frame[column])
        for part in parts
        if all(_are_numbers(frame[column]) for column in part)
        for column in part
    }
    return frame.assign(**found)


def _are_numbers(column: pd.Series) -> bool:
    categories = column.cat.categories
    return categories.dtype.kind not in "biuf" and all(
        isinstance(text, str) and _NUMBER.fullmatch(text) for text in categories
    )


def _as_numbers(column: pd.Series) -> pd.Series:
    """Categories of numbers in their order; 1 and 1.0 become one."""
    values = [float(text) for text in column.cat.categories]
    whole = all(value.is_integer() for value in values)
    numbers, place = np.unique(np.array(values, dtype=np.float64), return_inverse=True)
    codes = np.append(place, -1)[column.cat.codes.to_numpy()]
    categories = numbers.astype(np.int64) if whole else numbers
    return pd.Series(pd.Categorical.from_codes(codes, categories=pd.Index(categories)))


def _watched(parts: Any, file: IO[bytes], path: Path) -> Iterator[pd.DataFrame]:
    """The parts of a file; where it takes long, a bar on a terminal shows how far it is read."""
    start, size = time.monotonic(), max(path.stat().st_size, 1)
    is_shown = False
    try:
        for part in parts:
            yield part
            if sys.stderr.isatty() and time.monotonic() - start > _PATIENCE:
                share = min(file.tell() / size, 1.0)
                bar = "#" * round(30 * share)
                sys.stderr.write(f"\r{path.name[:40]} [{bar:<30}] {share:4.0%}")
                sys.stderr.flush()
                is_shown = True
    finally:
        if is_shown:
            sys.stderr.write("\r\033[K")
