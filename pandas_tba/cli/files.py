"""A file of predictions -> its counts and pairs of models, for the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pandas_tba.cli.reading import (
    FEATHER,
    PARQUET,
    bar_of,
    check_columns,
    format_of,
    on_disk,
    read_table,
    readable,
    with_values,
)
from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.paired import PairedCounts
from pandas_tba.engines.combinations import Ask, Combinations, Question, counts_of, question_of
from pandas_tba.engines.engine_pairs import pair_arrow, pairs_in_columns, question_of_pairs
from pandas_tba.engines.pandas_frames import count_frame
from pandas_tba.engines.parquet import check_batch, combinations_of_parquet
from pandas_tba.engines.streams import combinations_of_arrow
from pandas_tba.errors import InputError, InputWarning, counted, listed, shown, warn
from pandas_tba.frames.columns import Columns
from pandas_tba.reports.report import pairs_of_models

_MOST_LABELS, _MOST_VALUES = 1_000, 100_000  # more are hardly labels, or surely none
_LONGEST_TEXT = 100_000  # characters of a label or key


class Counted(NamedTuple):
    """Counts of a file, of pairs of its models where they are wanted, and its labels by their text."""

    counts: ConfusionCounts
    pairs: PairedCounts | None
    known: dict[str, Any]


def count_file(path: Path, columns: Columns, by: list[str], *, paired: bool) -> Counted:
    """Count a file; the labels in `columns` are texts, as they are typed."""
    with on_disk(path if path.name else path.resolve()) as place:  # a folder may be "."
        kind, _ = format_of(place)
        if kind in (*PARQUET, *FEATHER):
            data = _opened(place, kind, _needed(columns, by))
            found = _of_stream(place, data, columns, by, paired=paired)
        else:
            found = _of_text(place, columns, by, paired=paired)
    if not found.counts.rows.any():
        n_missing = found.counts.n_missing
        why = f": values are missing in {counted(n_missing, 'row')}" if n_missing else ""
        raise InputError(f"{place.name} has no rows to count{why}.")
    return found


def _of_text(path: Path, columns: Columns, by: list[str], *, paired: bool) -> Counted:
    """Counts of a file of text, which is read whole."""
    frame = read_table(path, _needed(columns, by), numbers=_number_columns(columns))
    frame = with_values(frame, _labels(columns))
    try:
        found = {name: frame[name].dropna().unique().tolist() for name in [*_labels(columns), *by]}
        known = _by_text(columns, found)
    except TypeError:  # of lists, which counting refuses in more words
        known = {}
    columns = _with_labels(columns, known)
    counts = count_frame(frame, columns, by=by or None)
    return Counted(counts, pairs_of_models(frame, columns) if paired else None, known)


def _labels(columns: Columns) -> list[Any]:
    """Names of the columns that hold labels."""
    return [columns.y_true, *(columns.roles.predictions if columns.y_score is None else [])]


def _number_columns(columns: Columns) -> list[Any]:
    """Names of the columns that hold scores and weights."""
    weights = [] if columns.sample_weight is None else [columns.sample_weight]
    return [*(columns.roles.predictions if columns.y_score is not None else []), *weights]


def _needed(columns: Columns, by: list[str]) -> list[Any]:
    """Names of all columns that are read, each once."""
    others = [name for name in (columns.model, columns.row) if name is not None]
    return list(dict.fromkeys([*_labels(columns), *_number_columns(columns), *others, *by]))


def _by_text(columns: Columns, found: dict[Any, list[Any]]) -> dict[str, Any]:
    """The labels by their texts, of the values in columns of labels and keys."""
    for name, values in found.items():
        longest = max((len(value) for value in values if isinstance(value, str)), default=0)
        if longest > _LONGEST_TEXT:
            raise InputError(
                f"Column {shown(name)} holds a text of {longest:,} characters, which is neither a label "
                "nor a key. Name another column."
            )
    labels = {name: found[name] for name in _labels(columns)}
    if _hold_fractions(labels[columns.y_true]) or not any(map(_hold_fractions, labels.values())):
        _check_number(
            {name: len(values) for name, values in labels.items()}
        )  # else they are scores
    return {str(label): label for values in labels.values() for label in values}


def _hold_fractions(values: list[Any]) -> bool:
    """Whether any of the labels is a number with a fraction."""
    return any(isinstance(value, float) and not value.is_integer() for value in values)


def _check_number(n_labels: dict[Any, int]) -> None:
    """Warn, or raise InputError, where columns of labels hold too many distinct values."""
    for most in (_MOST_VALUES, _MOST_LABELS):
        names = [name for name, number in n_labels.items() if number > most]
        if not names:
            continue
        text = (
            f"More than {most:,} distinct values in {listed(names)}: are these labels? Scores are named "
            "with `y_score`."
        )
        if most == _MOST_VALUES:
            raise InputError(text)
        warn(text, InputWarning)


def _with_labels(columns: Columns, known: dict[str, Any]) -> Columns:
    """The columns with labels of the file in place of their texts."""
    labels, positive = columns.labels, columns.pos_label
    return replace(
        columns,
        labels=None if labels is None else [label_of(text, known) for text in labels],
        abstain=[label_of(text, known) for text in columns.abstain],
        pos_label=None if positive is None else label_of(positive, known),
    )


def label_of(text: Any, known: dict[str, Any]) -> Any:
    """The label that is written so: one of the file, else a number where those of the file are."""
    if text in known:
        return known[text]
    are_numbers = known and all(
        isinstance(label, (int, float)) and not isinstance(label, bool) for label in known.values()
    )
    for number in (int, _float) if are_numbers else ():
        with suppress(ValueError):
            return number(text)
    return text


def _float(text: str) -> int | float:
    """A float as a whole number where it is one, as in 1.0."""
    number = float(text)
    return int(number) if number.is_integer() else number


def _of_stream(path: Path, data: Any, columns: Columns, by: list[str], *, paired: bool) -> Counted:
    """Counts of an Arrow dataset: one pass counts what there is, and its labels get a meaning then."""
    needed = _needed(columns, by)
    bare = replace(columns, labels=None, abstain=(), pos_label=None)
    ask = partial(question_of, columns=bare, by=by or None)
    question, found = _combine_file(path, data, ask, needed)
    names = [*(key.name for key in question.bound.keys), *_labels(columns)]
    levels = zip(names, found.levels, strict=False)
    known = _by_text(columns, {name: level.values.tolist() for name, level in levels})
    columns = _with_labels(columns, known)
    question = question._replace(columns=columns.roles)
    counts = counts_of(found, question, dropna=False, observed=True)
    if not (paired and columns.roles.has_pairs):
        return Counted(counts, None, known)
    return Counted(counts, _pairs(path, data, columns), known)


def _pairs(path: Path, data: Any, columns: Columns) -> PairedCounts:
    """Counts of pairs of models in an Arrow dataset, in one more pass."""
    needed = _needed(columns, [])
    if columns.row is None:
        ask = partial(question_of_pairs, columns=columns, row=None, by=None)
        question, found = _combine_file(path, data, ask, needed)
        return pairs_in_columns(found, question, dropna=False, observed=True)
    with _rows(path, data, needed) as rows:
        return pair_arrow(rows, columns, row=columns.row, by=None, dropna=False, observed=True)


def _combine_file(
    path: Path, data: Any, ask: Ask, needed: list[Any]
) -> tuple[Question, Combinations]:
    """Combinations of all rows; a bar shows how far they are read."""
    if _is_parquet(data):
        return combinations_of_parquet(data, ask, bar=partial(bar_of, path))
    with _rows(path, data, needed) as rows:
        return combinations_of_arrow(rows, ask)


def _opened(path: Path, kind: str, needed: list[Any]) -> Any:
    """An Arrow dataset of the file or folder, that has the columns needed."""
    try:
        import pyarrow.dataset as ds
    except ModuleNotFoundError as fault:
        raise ModuleNotFoundError(
            f"{path.name} needs pyarrow: pip install 'pandas-tba[parquet]'.", name=fault.name
        ) from fault
    with readable(path):
        if not path.is_dir():
            path.open("rb").close()  # says what is amiss, which Arrow does not
        data = ds.dataset(
            path,
            format="parquet" if kind in PARQUET else "feather",
            partitioning="hive" if path.is_dir() else None,
        )
        if not data.files:
            raise InputError(f"{path.name} is a folder without a Parquet file.")
        check_columns(data.schema.names, needed, path)
        return data.replace_schema(data.schema.remove_metadata())  # an index is a column, too


@contextmanager
def _rows(path: Path, data: Any, needed: list[Any]) -> Iterator[Any]:
    """A reader of the columns needed; a bar shows how far it is."""
    import pyarrow as pa

    schema = pa.schema([data.schema.field(name) for name in needed])
    with readable(path):
        n_rows = data.count_rows()
    with bar_of(path, n_rows) as bar:
        yield pa.RecordBatchReader.from_batches(schema, _watch(path, data, needed, bar))


def _watch(path: Path, data: Any, needed: list[Any], bar: Any) -> Iterator[Any]:
    """Record batches, and the bar moved by each."""
    with readable(path):
        for batch in _batches(path, data, needed):
            yield batch
            if bar is not None:
                bar.update(batch.num_rows)


def _batches(path: Path, data: Any, needed: list[Any]) -> Iterator[Any]:
    """Record batches, few of them at a time in memory."""
    from pyarrow import ipc

    if _is_parquet(data):
        scanner = data.scanner(columns=needed, batch_readahead=1, fragment_readahead=1)
        for batch in scanner.to_batches():
            check_batch(batch, path.name)
            yield batch
        return
    # a dataset would hold more of the file
    fields = [data.schema.get_field_index(name) for name in needed]
    with path.open("rb") as file:
        held = ipc.open_file(file, options=ipc.IpcReadOptions(included_fields=fields))
        for at in range(held.num_record_batches):
            batch = held.get_batch(at).select(needed)
            check_batch(batch, f"batch {at} of {held.num_record_batches} in {path.name}")
            yield batch


def _is_parquet(data: Any) -> bool:
    """Whether a dataset lies in Parquet files."""
    return data.format.default_extname == "parquet"
