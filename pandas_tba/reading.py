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

from pandas_tba.errors import ColumnError, InputError, listed, nearest, shown

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
        return _joined(list(_watched(parts, file, path)), columns)


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

    kind = "parquet" if read is pd.read_parquet else "feather"
    _check_columns(ds.dataset(path, format=kind).schema.names, columns, path)
    return read(path, columns=list(columns))


def _check_header(path: Path, separator: str, packed: Any, columns: Sequence[str]) -> None:
    names = pd.read_csv(path, sep=separator, nrows=0, compression=packed).columns
    _check_columns(list(names), columns, path)


def _check_columns(names: list[str], columns: Sequence[str], path: Path) -> None:
    others = [name for name in names if name not in columns]
    for column in columns:
        if column not in names:
            raise ColumnError(
                f"{path.name} has no column {shown(column)}.{nearest(column, others)} "
                f"Columns: {listed(names, 12)}. Name yours, as in --y-true label --y-pred forest."
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
