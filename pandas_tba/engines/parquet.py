"""Parquet files -> Combinations, row group by row group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pandas_tba.engines.combinations import Ask, Combinations, Question
from pandas_tba.engines.streams import check_files, combinations_of_batches, without_rows_of
from pandas_tba.errors import InputError, KindError, listed, shown

_BATCH = 1 << 16  # rows; with more Arrow's pool of memory grows as the stream goes on
_BUFFER = 1 << 16  # bytes that are read at a time, in place of whole columns of a row group
_LONGEST = 500  # characters of a reason, which may hold a path


class File(NamedTuple):
    """A Parquet file, and the values of the columns that its folders name."""

    path: str
    filesystem: Any
    folders: dict[str, Any]

    def opened(self, texts: Iterable[str] = ()) -> Any:
        """The file, some columns of text to be read as dictionaries."""
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile

        try:
            return ParquetFile(
                self.path,
                filesystem=self.filesystem,
                read_dictionary=list(texts),
                pre_buffer=False,
                buffer_size=_BUFFER,
            )
        except (ArrowException, OSError) as fault:
            raise _unreadable(f"the footer of {self.path!r}", fault) from fault


def combinations_of_parquet(
    source: Any, ask: Ask, *, bar: Callable[[int], Any] | None = None
) -> tuple[Question, Combinations]:
    """Combinations of all files: only the columns needed are read, one row group at a time.

    The bar is made of the number of all rows, and told of those that are read.
    """
    dataset = _dataset(source)
    schema, files = dataset.schema, _files(dataset)
    question = ask(without_rows_of(schema))
    names = [str(name) for name in question.needed()]
    n_rows, kinds = _checked(files, names)
    batches = _read_batches(
        files, names, [name for name in names if kinds.get(name) == "string"], schema
    )
    with nullcontext() if bar is None else bar(n_rows) as held:
        found = combinations_of_batches(_told(batches, held), schema, question)
    return question, found


def _unreadable(what: str, fault: Exception) -> InputError:
    """The error for a file or row group that cannot be read."""
    reason = (str(fault).splitlines() or [type(fault).__name__])[0].rstrip(". ")
    reason = reason if len(reason) <= _LONGEST else f"{reason[:_LONGEST]}..."
    return InputError(
        f"Cannot read {what}: {reason}. Nothing was counted; write the file anew, or leave it out."
    )


def _dataset(source: Any) -> Any:
    """The dataset itself, or that of the files under a path."""
    import pyarrow.dataset as ds
    from pyarrow import ArrowException

    if isinstance(source, ds.Dataset):
        if not isinstance(source, ds.FileSystemDataset) or getattr(source, "_scan_options", {}):
            raise KindError(
                "`source` must be Parquet files, or a dataset of them without a filter; got "
                f"{type(source).__name__}. count() takes any dataset, filters too."
            )
        return source
    try:
        return ds.dataset(source, format="parquet", partitioning="hive")
    except FileNotFoundError as fault:
        is_pattern = isinstance(source, (str, Path)) and "*" in str(source)
        step = (
            " Patterns are not looked up: give the folder, or glob.glob(...)." if is_pattern else ""
        )
        raise FileNotFoundError(
            f"`source`: there is no file or folder {shown(str(fault))}.{step}"
        ) from fault
    except (ArrowException, OSError, UnicodeError) as fault:
        raise _no_folders(source) or _unreadable(shown(source), fault) from fault
    except (TypeError, ValueError) as fault:
        raise KindError(
            "`source` must be a path, a list of paths, or a dataset of Parquet files; got "
            f"{type(source).__name__}. Frames and tables are counted by count()."
        ) from fault


def _no_folders(source: Any) -> InputError | None:
    """The error for a list that holds folders, None where it holds none."""
    for path in source if isinstance(source, (list, tuple)) else []:
        if isinstance(path, (str, Path)) and _is_folder(path):
            return InputError(
                f"`source` must list files; {shown(str(path))} is a folder. Give one folder, which may "
                "hold others, or the files: glob.glob(f'{folder}/**/*.parquet', recursive=True)."
            )
    return None


def _is_folder(path: str | Path) -> bool:
    """Whether a path is that of a folder."""
    try:
        return Path(path).is_dir()
    except OSError:  # too long for a name
        return False


def _files(dataset: Any) -> list[File]:
    """The files of a dataset, with the values of their partition keys."""
    import pyarrow.dataset as ds

    check_files(dataset)
    files = [
        File(
            fragment.path, dataset.filesystem, ds.get_partition_keys(fragment.partition_expression)
        )
        for fragment in dataset.get_fragments()
    ]
    if not files:
        raise InputError("`source` holds no Parquet file; name files, or a folder that holds some.")
    return files


def _checked(files: list[File], names: list[str]) -> tuple[int, dict[str, str]]:
    """Rows of all files by their footers, and the type of each column, which must be one."""
    n_rows, found = 0, dict[str, tuple[str, str]]()
    for file in files:
        with file.opened() as held:
            n_rows += held.metadata.num_rows
            schema = held.schema_arrow
        for name in (name for name in names if name not in file.folders):
            kind = _kind(schema, name)
            if kind == "null":  # nothing but missing values, of any type
                continue
            first, where = found.setdefault(name, (kind, file.path))
            if kind != first:
                raise InputError(
                    f"The files differ in column {shown(name)}: {first} in {where!r}, {kind} in "
                    f"{file.path!r}. Count them apart, or write them with one schema."
                )
    return n_rows, {name: kind for name, (kind, _) in found.items()}


def _kind(schema: Any, name: str) -> str:
    """Type of a column, whatever way its text is stored."""
    import pyarrow as pa

    if name not in schema.names:
        return "none"
    kind = schema.field(name).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return "string" if pa.types.is_large_string(kind) else str(kind)


def _read_batches(
    files: list[File], names: list[str], texts: list[str], schema: Any
) -> Iterator[Any]:
    """Record batches of the columns needed."""
    for file in files:
        inside = [name for name in names if name not in file.folders]
        with file.opened(name for name in texts if name in inside) as held:
            for at in range(held.num_row_groups):
                for batch in _row_group(file, held, at, inside):
                    yield _with_folders(batch, file.folders, names, schema)


def _row_group(file: File, held: Any, at: int, names: list[str]) -> Iterator[Any]:
    """Batches of a row group; InputError with the column that cannot be read."""
    from pyarrow import ArrowException

    what = f"row group {at} of {held.num_row_groups} in {file.path!r}"
    try:
        # one thread: more take more memory and no less time
        for batch in held.iter_batches(_BATCH, row_groups=[at], columns=names, use_threads=False):
            check_batch(batch, what)
            yield batch
    except (ArrowException, OSError) as fault:
        for name in names if len(names) > 1 else ():
            for _ in _row_group(file, held, at, [name]):
                pass
        raise _unreadable(f"{what}, {_name_columns(names)}", fault) from fault


def check_batch(batch: Any, what: str) -> None:
    """Raise InputError for damaged values: Arrow trusts files, and these would crash Python."""
    from pyarrow import ArrowException

    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except ArrowException as fault:
            raise _unreadable(f"{what}, {_name_columns([name])}", fault) from fault
        if len(column) != batch.num_rows:
            reason = ValueError(f"it has {len(column):,} rows, and others {batch.num_rows:,}")
            raise _unreadable(f"{what}, {_name_columns([name])}", reason)


def _name_columns(names: list[str]) -> str:
    """The columns as an error names them."""
    return f"column{'s' * (len(names) > 1)} {listed(names)}"


def _with_folders(batch: Any, folders: dict[str, Any], names: list[str], schema: Any) -> Any:
    """The batch with the columns needed that its folders name, each one value."""
    import pyarrow as pa

    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    for name in (name for name in names if name in folders):
        value = pa.array([folders[name]], type=schema.field(name).type).drop_null()
        is_missing = np.full(batch.num_rows, folders[name] is None)
        rows = pa.array(np.zeros(batch.num_rows, dtype=np.int8), mask=is_missing)
        columns[name] = pa.DictionaryArray.from_arrays(rows, value)
    return pa.RecordBatch.from_pydict(columns)


def tqdm_bar(total: int, *, unit: str = "row", **look: Any) -> Any:
    """A bar of tqdm, or where that is not installed a context of None."""
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        return nullcontext()
    return tqdm(total=total, unit=unit, unit_scale=True, **look)


def _told(batches: Iterable[Any], bar: Any) -> Iterator[Any]:
    """The same batches, the bar told of each."""
    for batch in batches:
        yield batch
        if bar is not None:
            bar.update(batch.num_rows)
