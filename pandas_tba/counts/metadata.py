"""What a table of counts says beside its numbers, and how it is kept through Parquet and through text.

How labels were declared, orders, names, rows left out: this metadata is encoded in JSON. It stands
in the attrs of a table, where Parquet keeps them, or, in a table of text, in a line of its own.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pandas_tba.counts.json_values import (
    FAULTS,
    cell,
    encode_value,
    in_brackets,
    listed_parts,
    read,
    value_of,
)
from pandas_tba.errors import ColumnError, InputError, InputWarning, KindError, listed, shown, warn
from pandas_tba.frames.lookup import COUNTS
from pandas_tba.frames.values import (
    factorized,
    is_missing,
    nullable,
    plain_index,
    plain_series,
    positions,
)

FORMAT = 1  # of the metadata; tables of a higher one are refused
METADATA = COUNTS
NUMBERS = ("n", "weight", "weight_squared")
_OF_AN_INDEX = ("Unnamed: 0", "index", "level_0")  # columns that pandas makes of an index


class Metadata(NamedTuple):
    """What a table of counts says beside its numbers.

    ``rules``: labels, abstain and pos_label as they were declared. ``seen``: labels of y_true and of
    y_pred that occur in no row of the table. ``scored``: the labels that scores stand for. ``model``:
    the column of the models. ``orders``: declared orders, by column. ``names``: keys that do not bear
    the name of their column. Rows counted, lines that say so, and rows left out, in all and by column.
    ``columns`` of the table as it was written.
    """

    rules: tuple[Any, Any, Any] = (None, (), None)
    seen: tuple[Sequence[Hashable], Sequence[Hashable]] = ((), ())
    scored: tuple[Hashable, Hashable] | None = None
    model: Hashable | None = None
    orders: Mapping[Hashable, Sequence[Hashable]] = {}
    names: Mapping[Hashable, Hashable] = {}
    rows: int = 0
    lines: int = 0
    n_missing: int = 0
    missing: Mapping[Hashable, int] = {}
    columns: Sequence[Hashable] = ()
    is_text: bool = False


def titles(names: Sequence[Hashable], *, text: bool) -> list[Hashable]:
    """Names of the columns of the keys; InputError where they are taken.

    In text a key whose name some reader would change gets a plain one.
    """
    taken = ["y_true", "y_pred", *NUMBERS]
    if text:
        return _plain_titles(names, [*taken, METADATA, *_OF_AN_INDEX])
    found: list[Hashable] = []
    for at, name in enumerate(names):
        title = f"group_{at}" if name is None else name
        if any(title is other or _is_text(title, other) for other in (*taken, *found)):
            raise InputError(
                f"`by` has a key named {shown(title)}, which is also a column of the table; rename it."
            )
        found.append(title)
    return found


def _is_text(title: Hashable, other: Hashable) -> bool:
    """Whether a title is text, and the same as another."""
    return isinstance(title, str) and title == other


def _plain_titles(names: Sequence[Hashable], taken: list[str]) -> list[Hashable]:
    """Titles that no reader changes, and that differ in more than case, as databases ask."""
    used = {title.casefold() for title in taken}
    found: list[Hashable] = []
    for at, name in enumerate(names):
        title = name if isinstance(name, str) and name.replace(" ", "_").isidentifier() else ""
        if not title.isascii() or not title or title != title.strip() or title.casefold() in used:
            title = f"group_{at}"
            while title in used:
                title += "_"
        used.add(title.casefold())
        found.append(title)
    return found


def with_attrs(table: pd.DataFrame, metadata: Metadata) -> pd.DataFrame:
    """The table with metadata in its attrs; a warning names values that JSON cannot encode."""
    said, faults = _written(metadata)
    table.attrs[METADATA] = {"counts": said}
    if faults:
        warn(
            f"The attrs of the table cannot say its {listed(faults)}; tell from_table again. "
            f"{next(iter(faults.values()))}",
            InputWarning,
        )
    return table


def as_text(table: pd.DataFrame, metadata: Metadata) -> pd.DataFrame:
    """The table in text: a line of metadata, then values in brackets, which no reader changes."""
    said, faults = _written(metadata)
    if faults:
        raise next(iter(faults.values()))
    columns = {name: ["", *_cells(column)] for name, column in table.items()}
    columns["n"] = ["0", *map(str, table["n"])]
    columns[METADATA] = [json.dumps(said), *[""] * len(table)]
    return pd.DataFrame({name: plain_series(texts) for name, texts in columns.items()})


def _cells(column: pd.Series) -> list[str]:
    """Texts of the values of a column."""
    codes, found = factorized(column)
    texts = [*map(cell, found), cell(None, is_missing=True)]
    return [texts[code] for code in codes]


def _written(metadata: Metadata) -> tuple[dict[str, Any], dict[str, InputError]]:
    """The metadata that say something, each as rows of values; and those that cannot be encoded."""
    from importlib.metadata import version  # takes time to import

    labels, abstain, pos_label = metadata.rules
    parts: dict[str, list[Iterable[Any]]] = {
        "labels": [] if labels is None else [labels],
        "abstain": [abstain] if abstain else [],
        "pos_label": [] if pos_label is None else [[pos_label]],
        "seen": [*metadata.seen] if any(metadata.seen) else [],
        "scored": [] if metadata.scored is None else [metadata.scored],
        "model": [] if metadata.model is None else [[metadata.model]],
        "orders": [[name, *order] for name, order in metadata.orders.items()],
        "names": [[title, name] for title, name in metadata.names.items()],
        "rows": [[metadata.rows]],
        "lines": [[metadata.lines]],
        "n_missing": [[metadata.n_missing]] if metadata.n_missing else [],
        "missing": [[name, rows] for name, rows in metadata.missing.items()],
        "columns": [metadata.columns],
    }
    said: dict[str, Any] = {"format": FORMAT, "version": version("pandas-tba")}
    faults = {}
    for name, rows in parts.items():
        try:
            held = [[encode_value(value) for value in row] for row in rows]
        except InputError as fault:
            faults[name] = fault
        else:
            said |= {name: held} if held else {}
    return said, faults


def read_metadata(
    table: pd.DataFrame, rules: tuple[Any, Any, Any], model: Hashable | None
) -> tuple[pd.DataFrame, Metadata]:
    """The table with its categories in order again, and metadata where nothing else is given."""
    _check_frame(table)
    at, said = _said(table)
    metadata = _decode_metadata(said)
    if at is not None:
        table = _without_brackets(table, at, metadata.columns)
        metadata = metadata._replace(is_text=True)
    elif metadata == Metadata() and rules[0] is None:
        _check_no_brackets(table)
    table = _in_order(_named(table, metadata.columns), metadata.orders)
    if rules != Metadata().rules:
        metadata = metadata._replace(rules=rules, seen=((), ()), scored=None)
    if model is not None:
        metadata = metadata._replace(model=model)
    if metadata.model is not None and metadata.model not in table.columns:
        raise ColumnError(
            f"no column {shown(metadata.model)} in the table, which holds the models, and models are not "
            f"added up. Columns: {listed(table.columns)}."
        )
    return table, metadata


def _check_frame(table: Any) -> None:
    """Raise KindError or InputError unless it is a frame with unique columns."""
    if not isinstance(table, pd.DataFrame):
        kind = type(table)
        advice = (
            "Name the rows, and its index becomes columns: table.reset_index(name='n')."
            if isinstance(table, pd.Series)
            else "Make it one: frame.to_pandas(), relation.df(), or pd.read_parquet(path)."
        )
        raise KindError(
            f"`table` must be a pandas DataFrame; got {kind.__module__}.{kind.__qualname__}. {advice}"
        )
    if not table.columns.is_unique:
        twice = table.columns[table.columns.duplicated()]
        raise InputError(f"`table` has several columns named {listed(twice)}; rename them.")


def _said(table: pd.DataFrame) -> tuple[int | None, Any]:
    """Metadata, and the line that holds them, None where attrs do or nothing does."""
    metadata: Any = table.attrs.get(METADATA)
    metadata = metadata.get("counts") if isinstance(metadata, Mapping) else None
    if isinstance(metadata, Mapping) and "format" in metadata:
        return None, metadata
    if METADATA not in table.columns or table.columns.nlevels > 1:
        return None, {}
    texts = table[METADATA].tolist()
    found = [(at, said) for at, said in enumerate(map(_in_json, texts)) if said is not None]
    if len(found) > 1:
        raise InputError(
            f"The table holds {len(found)} tables of counts. Keep each in a file of its own, and add the "
            "counts: sum(map(ConfusionCounts.from_table, tables))."
        )
    return found[0] if found else (None, {})


def _in_json(text: Any) -> dict[str, Any] | None:
    """Metadata of a cell, None where it holds something else; InputError where they are not whole."""
    if not isinstance(text, str) or '"format"' not in text:
        return None
    try:
        said = json.loads(text.strip("\ufeff \n\r\t"))
    except FAULTS:
        raise InputError(
            f"Column {shown(METADATA)} holds {shown(text)}, which is not whole: it is JSON as "
            "to_table(text=True) writes it."
        ) from None
    return said if isinstance(said, dict) and "format" in said else None


def _check_no_brackets(table: pd.DataFrame) -> None:
    """Raise InputError where the labels are cells of a table in text that has lost its metadata."""
    sides = [table[name] for name in ("y_true", "y_pred") if name in table.columns]
    # the line of metadata, where it is still there, has no labels
    found = [text for side in sides for text in side.tolist() if isinstance(text, str) and text]
    if METADATA in table.columns and found and all(map(in_brackets, found)):
        raise InputError(
            f"The labels stand in brackets, such as {shown(found[0])}, as to_table(text=True) writes "
            f"them, but its first line, in column {shown(METADATA)}, is gone. Read the table with it, "
            "whole; or give labels=[...] if brackets are part of the labels."
        )


def _without_brackets(table: pd.DataFrame, at: int, columns: Sequence[Hashable]) -> pd.DataFrame:
    """A table of values made of one in text, without its line of metadata."""
    lacking = [name for name in columns if name not in table.columns]
    if lacking:
        raise ColumnError(
            f"no column {shown(lacking[0])} in the table, which to_table(text=True) wrote with columns "
            f"{listed(columns, 10)}. Read it whole; rollup() sums over keys."
        )
    strange = [name for name in table.columns if name not in (*columns, METADATA, *_OF_AN_INDEX)]
    if strange:
        raise InputError(
            f"Column {shown(strange[0])} is none of those that to_table(text=True) wrote: "
            f"{listed(columns, 10)}. Leave it out."
        )
    lines = table[np.arange(len(table)) != at]
    made = {
        name: _number(lines[name]) if name == "n" else _decode_column(lines[name])
        for name in columns
    }
    return pd.DataFrame(made, index=lines.index)


def _number(column: pd.Series) -> pd.Series:
    """A column of digits as whole numbers."""
    return pd.Series([_as_number(value) for value in column], column.index, dtype=object)


def _as_number(value: Any) -> Any:
    """A whole number from digits; anything else as it is."""
    is_number = isinstance(value, str) and value.isdecimal() and len(value) < 20
    return int(value) if is_number else value


def _decode_column(column: pd.Series) -> pd.Series:
    """Values of a column of encoded texts."""
    held = column.to_numpy(dtype=object)
    if pd.api.types.infer_dtype(held, skipna=False) not in ("string", "empty"):
        held = np.array([text if isinstance(text, str) else repr(text) for text in held])
    codes, texts = factorized(held)
    values = np.empty(len(texts), dtype=object)
    try:
        for at, text in enumerate(texts):
            values[at] = value_of(text)
    except InputError as fault:
        raise InputError(f"Column {shown(column.name)}: {fault} Is the file whole?") from None
    level = plain_index([value for value in values if not is_missing(value)])
    made = pd.Series(values[codes], column.index, dtype=object)
    return nullable(made, level.dtype.kind)


def _named(table: pd.DataFrame, columns: Sequence[Hashable]) -> pd.DataFrame:
    """The table with names of columns that a file made text of."""
    made = {str(name): name for name in columns if not isinstance(name, str)}
    lost = [
        text for text, name in made.items() if text in table.columns and name not in table.columns
    ]
    return table.rename(columns={text: made[text] for text in lost}) if lost else table


def _in_order(table: pd.DataFrame, orders: Mapping[Hashable, Sequence[Hashable]]) -> pd.DataFrame:
    """Columns with a declared order as categories, unless they hold other values."""
    table = table.copy(deep=False)
    for name, order in orders.items():
        if name in table.columns:
            try:
                codes = positions(table[name].astype(object), order)
            except TypeError:  # what cannot be hashed is no key, as counting says
                continue
            if ((codes < 0) == table[name].isna()).all():
                table[name] = pd.Categorical.from_codes(codes, categories=plain_index(order))
    return table


def _decode_metadata(said: Mapping[str, Any]) -> Metadata:
    """Metadata as `_written` writes them; InputError for anything else."""
    number = said.get("format", FORMAT)
    if isinstance(number, int) and number > FORMAT:
        raise InputError(
            f"The table was written by pandas-tba {shown(str(said.get('version')))[1:-1]} in a newer format "
            f"({number}; this version reads {FORMAT}). Upgrade: pip install -U pandas-tba"
        )
    try:
        return _understood(said)
    except FAULTS as fault:
        raise InputError(
            f"The remarks of the table, which to_table writes, cannot be read: {fault}. Write the "
            "table anew, or drop them and tell from_table of the labels."
        ) from None


def _understood(said: Mapping[str, Any]) -> Metadata:
    """Metadata from the values that were read, not checked yet."""
    names = ("labels", "abstain", "pos_label", "seen", "scored", "model", "orders", "names")
    metadata = {
        name: [
            [read(part) for part in listed_parts(row)] for row in listed_parts(said.get(name, []))
        ]
        for name in (*names, "rows", "lines", "n_missing", "missing", "columns")
    }

    def only(name: str, default: Any) -> Any:
        ((value,),) = metadata[name] or [[default]]
        return value

    if said.get("format", FORMAT) != FORMAT:
        raise ValueError(f"their format is {said['format']!r}")
    (abstain,) = metadata["abstain"] or [[]]
    true, predicted = metadata["seen"] or [[], []]
    ((negative, positive),) = metadata["scored"] or [[None, None]]
    (columns,) = metadata["columns"] or [[]]
    labels = None
    if metadata["labels"]:
        (labels,) = metadata["labels"]
    orders = {name: order for name, *order in metadata["orders"]}
    if any(len({*order}) < len(order) or any(map(is_missing, order)) for order in orders.values()):
        raise ValueError("an order holds a value twice, or none")
    missing = dict(metadata["missing"])
    rows, lines, n_missing = (only(name, 0) for name in ("rows", "lines", "n_missing"))
    numbers = (rows, lines, n_missing, *missing.values())
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("numbers of rows are none")
    return Metadata(
        rules=(labels, tuple(abstain), only("pos_label", None)),
        seen=(tuple(true), tuple(predicted)),
        scored=None if negative is None else (negative, positive),
        model=only("model", None),
        orders=orders,
        names=dict(metadata["names"]),
        rows=rows,
        lines=lines,
        n_missing=n_missing,
        missing=missing,
        columns=tuple(columns),
    )
