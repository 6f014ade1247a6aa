"""A table as people read it: few columns, short numbers, plain words; as text and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pandas_tba.frames.values import is_missing

_WORDS = {
    "n": "rows",
    "min_support": "smallest class",
    "n_absent": "absent classes",
    "p_value": "p",
    "p_adjusted": "p (adjusted)",
    "expected_if_equal": "expected if equal",
    "n_undetermined": "undefined groups",
    "n_groups": "groups",
    "t_star": "t*",
    "n_unpaired": "unpaired",
    "model_a": "model A",
    "model_b": "model B",
    "group_a": "group A",
    "group_b": "group B",
    "n_eff": "effective rows",
    "y_true": "true label",
}
_P_VALUES = ("p_value", "p_adjusted")
# a colon ends the scheme of a link, or begins an emoji; www. begins a link by itself
_MARKUP = re.compile(r"([\\`*_\[\]#|$~@]|:(?=//|\w)|(?<=www)\.)", re.IGNORECASE)
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
_WIDEST = 40
DASH = "\u2013"  # stands for what is undefined


class Cell(NamedTuple):
    """Text of one cell, and the number that it is sorted by where there is one."""

    text: str
    number: float | None = None


@dataclass(frozen=True)
class View:
    """Rows of cells under headers; the first `n_keys` columns name the rows.

    ``n_more`` rows of the table are not among them.
    """

    headers: tuple[str, ...]
    n_keys: int
    rows: tuple[tuple[Cell, ...], ...]
    n_more: int = 0

    @property
    def are_numbers(self) -> tuple[bool, ...]:
        """Which columns stand to the right: those that hold a number and name no row."""
        return tuple(
            at >= self.n_keys and any(row[at].number is not None for row in self.rows)
            for at in range(len(self.headers))
        )


def one_line(value: object) -> str:
    """A label or key in one line; what does not print is shown by its code."""
    if isinstance(value, tuple):  # a group of several keys
        return " · ".join(map(one_line, value))
    if is_missing(value):
        return "(missing)"
    text = str(value)
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


def number_text(value: float, name: str = "") -> str:
    """A number as short as it can be read; what is undefined is a dash."""
    if np.isnan(value):
        return DASH
    if np.isinf(value):
        return "∞" if value > 0 else "-∞"
    if name in _P_VALUES and value < 0.001:
        return "<0.001"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{round(value, 3) + 0.0:.3f}"  # never -0.000


def limits_text(value: float, low: float, high: float) -> str:
    """An estimate with its limits in brackets."""
    if np.isnan(low):
        return number_text(value)
    return f"{number_text(value)} [{number_text(low)}, {number_text(high)}]"


def view_of(
    table: pd.DataFrame,
    columns: Sequence[str] | None = None,
    *,
    most: int = 2000,
    headers: Mapping[str, str] | None = None,
) -> View:
    """Named levels and some columns of a table; a column ``x`` with limits stands as ``x [low, high]``."""
    shown = table.head(most)
    levels = [] if shown.index.names == [None] else list(range(shown.index.nlevels))
    keys = [_key_cells(shown.index.get_level_values(level)) for level in levels]
    names = [*(table.index.names[level] for level in levels)]
    chosen = list(table.columns) if columns is None else list(columns)
    chosen = [name for name in chosen if not _is_empty(table[name])]
    are_ours = table.columns.name is None  # else they are labels, as of a confusion matrix
    estimate = ("difference" if "difference" in table else "score") if are_ours else None
    cells = [*keys, *(_column_cells(shown, name, estimate) for name in chosen)]
    words: dict[Any, str] = {**_WORDS, **(headers or {})} if are_ours else {}
    texts = [one_line(name).replace("_", " ") if are_ours else one_line(name) for name in chosen]
    found = zip([*names, *chosen], [*map(one_line, names), *texts], strict=True)
    return View(
        tuple(words.get(name, text) for name, text in found),
        len(levels),
        tuple(zip(*cells, strict=True)),
        len(table) - len(shown),
    )


def join_views(first: View, second: View) -> View:
    """Columns of two views of the same rows; the keys of the first alone."""
    k = second.n_keys
    return View(
        (*first.headers, *second.headers[k:]),
        first.n_keys,
        tuple((*a, *b[k:]) for a, b in zip(first.rows, second.rows, strict=True)),
        first.n_more,
    )


def _key_cells(level: pd.Index) -> list[Cell]:
    """Cells of one level of the keys."""
    # a key that is a number still sorts as one
    return [Cell(one_line(value), _sort_number(value)) for value in level.tolist()]


def _sort_number(value: object) -> float | None:
    """The number that a key is sorted by, if it is one."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and not is_missing(value) else None  # type: ignore[arg-type]


def _is_empty(column: pd.Series) -> bool:
    """Whether a column of text is empty; one of numbers never is."""
    return column.dtype.kind not in "biuf" and all(
        is_missing(value) or value == "" for value in column.tolist()
    )


def _column_cells(table: pd.DataFrame, name: str, estimate: str | None) -> list[Cell]:
    """Cells of one column; of the estimate, with its limits."""
    column = table[name]
    if name == estimate and "low" in table:
        triples = zip(column, table["low"], table["high"], strict=True)
        return [Cell(limits_text(*triple), triple[0]) for triple in triples]
    if column.dtype.kind == "b":
        return [Cell("yes" if value else "no") for value in column.tolist()]
    if column.dtype.kind in "iu":
        return [Cell(f"{value:,}", float(value)) for value in column.tolist()]
    if column.dtype.kind == "f":
        return [Cell(number_text(value, name), value) for value in column.tolist()]
    return [Cell(DASH if value is None else one_line(value)) for value in column.tolist()]


def as_lines(view: View) -> list[str]:
    """The view as lines of text in columns: keys to the left, numbers to the right."""
    rows = [view.headers, *([_shorten(cell.text) for cell in row] for row in view.rows)]
    widths = [max(map(len, column), default=0) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            text.rjust(width) if right else text.ljust(width)
            for text, width, right in zip(row, widths, view.are_numbers, strict=True)
        ).rstrip()
        for row in rows
    ]


def as_markdown(view: View) -> list[str]:
    """The view as lines of a GitHub table."""
    rows: list[Iterable[str]] = [view.headers]
    rows += [[cell.text for cell in row] for row in view.rows]
    lines = [f"| {' | '.join(markdown_text(text) for text in row)} |" for row in rows]
    rules = ["---:" if is_number else "---" for is_number in view.are_numbers]
    return [lines[0], f"| {' | '.join(rules)} |", *lines[1:]]


def markdown_text(text: str) -> str:
    """Text that Markdown shows as it is: no markup, no link, no formula, no tag."""
    return _MARKUP.sub(r"\\\1", text.translate(_ENTITIES))


def _shorten(text: str) -> str:
    """Text of at most the widest column."""
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


def by_t(
    table: pd.DataFrame, exponents: Sequence[float], *, most: int = 2000, first: Sequence[str] = ()
) -> View:
    """A table over t as one row a group: columns of the first t, then the score at each t."""
    step, parts = len(exponents), []
    for place, t in enumerate(exponents):
        part = table.iloc[place::step]
        part = part.droplevel("t") if table.index.nlevels > 1 else part.reset_index(drop=True)
        named = list(first) if place == 0 else []
        words = {"score": f"t = {t:g}"}
        parts.append(view_of(part, [*named, "score"], most=most, headers=words))
    found = parts[0]
    for part_view in parts[1:]:
        found = join_views(found, part_view)
    return found


def view_of_pairs(pairs: Iterable[tuple[str, Any]]) -> View:
    """Two columns: what, and its value."""
    return View(
        ("what", "value"), 1, tuple((Cell(name), Cell(one_line(value))) for name, value in pairs)
    )


def transpose(view: View) -> View:
    """Columns as rows, for a table of few rows and many columns."""
    heads = [" · ".join(cell.text for cell in row[: view.n_keys]) or "value" for row in view.rows]
    columns = zip(*(row[view.n_keys :] for row in view.rows), strict=True)
    rows = [
        (Cell(header), *cells)
        for header, cells in zip(view.headers[view.n_keys :], columns, strict=False)
    ]
    return View(("metric", *heads), 1, tuple(rows))
