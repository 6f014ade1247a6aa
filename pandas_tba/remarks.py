"""What a table of counts says beside its numbers, and how it is kept through Parquet and through text.

How labels were declared, orders, names, rows left out: these remarks are spelled in JSON. They stand
in the attrs of a table, where Parquet keeps them, or, in a table of text, in a line of their own.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pandas_tba.errors import InputError, shown
from pandas_tba.levels import factorized, is_missing, nullable, plain_index, plain_series
from pandas_tba.spelling import cell, read, spelled, value_of

FORMAT = 1  # of the remarks; tables of a higher one are refused
REMARKS = "tba"  # the entry of attrs, or the column, that holds them
NUMBERS = ("n", "weight", "weight_squared")


class Remarks(NamedTuple):
    """What a table of counts says beside its numbers.

    ``rules``: labels, abstain and pos_label as they were declared. ``model``: the column of the
    models. ``orders``: declared orders, by column. ``names``: keys that do not bear the name of
    their column. Rows counted, and rows left out, in all and by column.
    """

    rules: tuple[Any, Any, Any] = (None, (), None)
    model: Hashable | None = None
    orders: Mapping[Hashable, Sequence[Hashable]] = {}
    names: Mapping[Hashable, Hashable] = {}
    rows: int = 0
    n_missing: int = 0
    missing: Mapping[Hashable, int] = {}


def titles(names: Sequence[Hashable], *, text: bool) -> list[Hashable]:
    """Names of the columns of the keys; InputError where they are taken."""
    found = [
        f"group_{at}" if name is None or (text and not isinstance(name, str)) else name
        for at, name in enumerate(names)
    ]
    taken = ["y_true", "y_pred", *NUMBERS, *([REMARKS] if text else [])]
    for at, title in enumerate(found):
        if title in taken or title in found[:at]:
            raise InputError(
                f"`by` has a key named {shown(title)}, which is also a column of the table; rename it."
            )
    return found


def with_attrs(table: pd.DataFrame, remarks: Remarks) -> pd.DataFrame:
    """The table with remarks in its attrs, but values that JSON cannot spell."""
    table.attrs[REMARKS] = {"counts": _written(remarks, can_skip=True)}
    return table


def as_text(table: pd.DataFrame, remarks: Remarks) -> pd.DataFrame:
    """The table in text: a line of remarks, then values in brackets, which no reader changes."""
    said = {**_written(remarks, can_skip=False), "columns": table.columns.tolist()}
    columns = {name: ["", *_cells(column)] for name, column in table.items()}
    columns["n"] = ["0", *map(str, table["n"])]
    columns[REMARKS] = [json.dumps(said), *[""] * len(table)]
    return pd.DataFrame({name: plain_series(texts) for name, texts in columns.items()})


def _cells(column: pd.Series) -> list[str]:
    codes, found = factorized(column)
    texts = [*map(cell, found), cell(None, is_missing=True)]
    return [texts[code] for code in codes]


def _written(remarks: Remarks, *, can_skip: bool) -> dict[str, Any]:
    """The remarks that say something, each as rows of values."""
    from importlib.metadata import version  # takes time to import

    labels, abstain, pos_label = remarks.rules
    parts: dict[str, list[Iterable[Any]]] = {
        "labels": [] if labels is None else [labels],
        "abstain": [abstain] if abstain else [],
        "pos_label": [] if pos_label is None else [[pos_label]],
        "model": [] if remarks.model is None else [[remarks.model]],
        "orders": [[name, *order] for name, order in remarks.orders.items()],
        "names": [[title, name] for title, name in remarks.names.items()],
        "rows": [[remarks.rows]],
        "n_missing": [[remarks.n_missing]] if remarks.n_missing else [],
        "missing": [[name, rows] for name, rows in remarks.missing.items()],
    }
    told = {name: [*_rows(rows, can_skip=can_skip)] for name, rows in parts.items()}
    about = {"format": FORMAT, "version": version("pandas-tba")}
    return about | {name: rows for name, rows in told.items() if rows}


def _rows(rows: list[Iterable[Any]], *, can_skip: bool) -> Iterable[list[Any]]:
    for row in rows:
        try:
            yield [spelled(value) for value in row]
        except InputError:
            if not can_skip:
                raise


def recalled(
    table: pd.DataFrame, rules: tuple[Any, Any, Any], model: Hashable | None
) -> tuple[pd.DataFrame, Remarks]:
    """The table with its categories in order again, and remarks where nothing else is given."""
    said = _said_in_a_line(table)
    if said is None:
        said = table.attrs.get(REMARKS)
        said = said.get("counts") if isinstance(said, Mapping) else None
    else:
        table = _without_brackets(table, said["columns"])
    remarks = _read(said if isinstance(said, Mapping) and "format" in said else {})
    if rules != Remarks().rules:
        remarks = remarks._replace(rules=rules)
    if model is not None or remarks.model not in table.columns:
        remarks = remarks._replace(model=model)
    table = table.copy(deep=False)
    for name, order in remarks.orders.items():
        if name in table.columns and table[name].dropna().isin(order).all():
            table[name] = pd.Categorical(table[name], categories=plain_index(order))
    return table, remarks


def _said_in_a_line(table: pd.DataFrame) -> dict[str, Any] | None:
    """The remarks of a table in text; None where it is not in text."""
    if REMARKS not in table.columns:
        return None
    texts = [text for text in table[REMARKS].tolist() if isinstance(text, str) and text]
    lines = [text for text in texts if text.startswith('{"format"')]
    if len(lines) > 1:
        raise InputError(
            f"The table holds {len(lines)} tables of counts. Read each by itself, and add the counts."
        )
    if not texts:
        raise InputError(
            f"Column {shown(REMARKS)} is empty: the first line of the table, which "
            "to_table(text=True) writes, is gone. Read the table with it, whole."
        )
    try:
        return json.loads(lines[0]) if lines else None
    except ValueError:
        raise InputError(
            f"Column {shown(REMARKS)} holds {shown(lines[0])}, which is not whole: it is JSON as "
            "to_table(text=True) writes it."
        ) from None


def _without_brackets(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """A table of values made of one in text, only its own columns, and no line of remarks."""
    is_line = [isinstance(text, str) and text != "" for text in table[REMARKS].tolist()]
    lines = table[~np.array(is_line)]
    return pd.DataFrame(
        {
            name: _number(lines[name]) if name == "n" else _values(lines[name])
            for name in columns
            if name in table.columns
        },
        index=lines.index,
    )


def _number(column: pd.Series) -> pd.Series:
    numbers = [
        int(value) if isinstance(value, str) and value.isdecimal() else value for value in column
    ]
    return pd.Series(numbers, column.index, dtype=object)


def _values(column: pd.Series) -> pd.Series:
    codes, texts = factorized(column)
    values = np.empty(len(texts) + 1, dtype=object)
    for at, text in enumerate(texts):
        values[at] = value_of(text)
    values[-1] = np.nan
    held = pd.Series(values[codes], column.index, dtype=object)
    level = plain_index([value for value in values if not is_missing(value)])
    return nullable(held, level.dtype.kind)


def _read(said: Mapping[str, Any]) -> Remarks:
    """Remarks as `_written` writes them; InputError where a newer version wrote them."""
    if said.get("format", FORMAT) != FORMAT:
        raise InputError(
            f"The table was written by pandas-tba {said.get('version')} in a newer format "
            f"({said['format']}; this version reads {FORMAT}). Upgrade: pip install -U pandas-tba"
        )
    told = {
        name: [[read(part) for part in row] for row in rows]
        for name, rows in said.items()
        if isinstance(rows, list) and name != "columns"
    }

    def only(name: str, default: Any) -> Any:
        return told[name][0][0] if name in told else default

    (labels,) = told.get("labels", [None])
    (abstain,) = told.get("abstain", [()])
    return Remarks(
        (labels, abstain, only("pos_label", None)),
        only("model", None),
        {name: order for name, *order in told.get("orders", [])},
        dict(told.get("names", [])),
        only("rows", 0),
        only("n_missing", 0),
        dict(told.get("missing", [])),
    )
