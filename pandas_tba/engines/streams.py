"""Arrow record batches one after the other -> Combinations, in constant memory."""

from __future__ import annotations

import json
import os
from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import pandas as pd

from pandas_tba.engines.combinations import Ask, Combinations, Question, added_up
from pandas_tba.engines.memory import (
    ArrowReader,
    arrow_codes,
    combinations_of_batch,
    combinations_of_pandas,
)
from pandas_tba.errors import InputError

_FEWEST_ROWS = 1 << 17  # smaller batches wait for others
_MOST_ROWS = 1 << 20
_INTEGERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")


def combinations_of_arrow(data: Any, ask: Ask) -> tuple[Question, Combinations]:
    """Combinations of an Arrow table, record batch, reader of batches, dataset or scanner."""
    schema = names_and_types(data)
    question = ask(without_rows_of(schema))
    return question, combinations_of_batches(batches_of(data, question.needed()), schema, question)


def names_and_types(data: Any) -> Any:
    """Names and types of the columns."""
    return data.projected_schema if hasattr(data, "projected_schema") else data.schema


def without_rows_of(schema: Any) -> pd.DataFrame:
    """A pandas frame of these columns, with the attrs that pandas wrote beside them."""
    frame: pd.DataFrame = _with_signed_indices(schema.empty_table()).to_pandas()
    written = (schema.metadata or {}).get(b"PANDAS_ATTRS")
    if written is not None:
        frame.attrs = json.loads(written)
    return frame


def _with_signed_indices(table: Any) -> Any:
    """The table with dictionaries that pandas takes from every version of Arrow."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_dictionary(kind) and pa.types.is_unsigned_integer(kind.index_type):
            signed = pa.dictionary(pa.int64(), kind.value_type, kind.ordered)
            table = table.set_column(at, field.name, table.column(at).cast(signed))
    return table


def batches_of(data: Any, needed: list[Hashable]) -> Iterable[Any]:
    """Record batches that hold the columns needed, and no others where that can be said."""
    if hasattr(data, "num_rows"):  # a table or a record batch
        data = data.select(needed)
        return data.to_batches() if hasattr(data, "to_batches") else [data]
    if hasattr(data, "scanner"):  # a dataset
        check_files(data)
        data = data.scanner(columns=needed, batch_readahead=1, fragment_readahead=1)
    return data.to_batches() if hasattr(data, "to_batches") else data


def check_files(dataset: Any) -> None:
    """InputError where a file of this machine is reached twice: a folder may hold a link to itself."""
    seen = dict[str, str]()
    for part in getattr(dataset, "children", [dataset]):
        is_local = getattr(getattr(part, "filesystem", None), "type_name", "") == "local"
        for path in part.files if is_local else ():
            file = os.path.realpath(path)
            if file in seen:
                raise InputError(
                    f"One file is reached twice: {seen[file]!r} and {path!r}. Its rows would be counted "
                    "twice; take the link away, or name the files: count_parquet([...])."
                )
            seen[file] = path


def frame_of_arrow(data: Any, needed: list[Hashable]) -> pd.DataFrame:
    """The columns needed as a pandas frame that holds every value as it is."""
    import pyarrow as pa

    batches = [batch.select(needed) for batch in batches_of(data, needed)]
    schema = names_and_types(data).empty_table().select(needed).schema
    table = pa.Table.from_batches(batches, schema)
    for at, field in enumerate(schema):
        chunks = table.column(at).chunks
        if pa.types.is_nested(field.type):
            arrow_codes(field.name, table.column(at))  # says what is no label
        if pa.types.is_dictionary(field.type) and not all(
            chunk.dictionary.equals(chunks[0].dictionary) for chunk in chunks
        ):  # only one dictionary declares an order
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    nullable = {getattr(pa, name.lower())(): pd.api.types.pandas_dtype(name) for name in _INTEGERS}
    frame: pd.DataFrame = _with_signed_indices(table).to_pandas(types_mapper=nullable.get)
    return frame


def combinations_of_batches(
    batches: Iterable[Any], schema: Any, question: Question
) -> Combinations:
    """Combinations of all batches of a schema; columns that it says are dictionaries have an order."""
    import pyarrow as pa

    dictionaries = {field.name for field in schema if pa.types.is_dictionary(field.type)}
    declared = dictionaries.intersection(question.needed())
    reader = ArrowReader(declared)
    found = added_up(
        (question, combinations_of_batch(batch, question, reader))
        for batch in _of_good_size(batches, declared)
    )
    if found is None:
        return combinations_of_pandas(without_rows_of(schema), question)
    return found[1]


def _of_good_size(batches: Iterable[Any], declared: set[Hashable]) -> Iterator[Any]:
    """The same rows in batches neither so small that each costs, nor so large that they fill memory.

    Batches are joined only where types, and dictionaries that declare an order, are the same.
    """
    held: list[Any] = []
    for batch in batches:
        if held and not _can_join(held[0], batch, declared):
            yield _join_batches(held)
            held = []
        held.append(batch)
        if sum(part.num_rows for part in held) >= _FEWEST_ROWS:
            whole, held = _join_batches(held), []
            for start in range(0, whole.num_rows, _MOST_ROWS):
                yield whole.slice(start, _MOST_ROWS)
    if held:
        yield _join_batches(held)


def _can_join(first: Any, second: Any, declared: set[Hashable]) -> bool:
    """Whether two batches have one schema, and one dictionary where an order is declared."""
    return first.schema == second.schema and all(
        first.column(name).dictionary.equals(second.column(name).dictionary) for name in declared
    )


def _join_batches(batches: list[Any]) -> Any:
    """One record batch of several."""
    import pyarrow as pa

    if len(batches) == 1:
        return batches[0]
    whole = pa.Table.from_batches(batches).unify_dictionaries().combine_chunks()
    return next(iter(whole.to_batches()), batches[0])
