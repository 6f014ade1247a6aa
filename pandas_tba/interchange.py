"""Tables of counts as they come and go: what their columns must hold, and what is made of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.cells import ROWS, Cells, Entries, joined
from pandas_tba.encoding import encode, of_all_rows
from pandas_tba.errors import InputError, counted, is_real, listed, shown
from pandas_tba.groups import Codes, Groups, sorted_groups
from pandas_tba.labelling import LabelSet, Observed
from pandas_tba.levels import nullable, plain_index, positions, union
from pandas_tba.remarks import NUMBERS, Remarks, as_text, titles, with_attrs


def table_of(
    cells: Cells,
    labels: LabelSet,
    groups: Groups,
    n_missing: int,
    missing: Mapping[Hashable, int],
    *,
    text: bool,
) -> pd.DataFrame:
    """A line for each cell that holds rows, with remarks; one without rows for each empty group."""
    names = titles(groups.names, text=text)
    found = _lines(cells) if groups.names else cells.entries()
    keys = groups.with_codes(groups.codes[found.group])
    values = plain_index(labels.values or [None])
    columns = [
        *(
            nullable(column, level.dtype.kind)
            for column, level in zip(keys.columns(), keys.levels, strict=True)
        ),
        values.take(found.truth),
        values.take(found.predicted),
        *found.planes,
    ]
    table = pd.DataFrame(dict(enumerate(columns)))
    table.columns = plain_index([*names, "y_true", "y_pred", *NUMBERS[: len(found.planes)]])
    levels = zip(names, groups.levels, groups.declared, strict=True)
    orders: dict[Hashable, Any] = {
        name: level.tolist() for name, level, is_declared in levels if is_declared
    }
    if labels.order is not None:
        orders |= dict.fromkeys(("y_true", "y_pred"), labels.order)
    remarks = Remarks(
        labels.rules,
        groups.names[0] if groups.has_model else None,
        orders,
        {title: name for title, name in zip(names, groups.names, strict=True) if title != name},
        int(found.planes[ROWS].sum()),
        n_missing,
        missing,
    )
    return as_text(table, remarks) if text else with_attrs(table, remarks)


def _lines(cells: Cells) -> Entries:
    """The cells that hold rows, and one that holds none for each group without rows."""
    found = cells.entries()
    empty = np.flatnonzero(cells.rows_of_groups() == 0)
    if not len(empty):
        return found
    zeros = np.zeros(len(empty), dtype=np.intp)
    nothing = tuple(zeros.astype(plane.dtype) for plane in found.planes)
    return joined([found, Entries(empty, zeros, zeros, nothing)])


def key_columns(table: pd.DataFrame, by: Any, parts: Sequence[Hashable]) -> list[Hashable]:
    """Columns of the keys: those named, or all that play no other part."""
    if by is not None:
        return [*by] if isinstance(by, list) else [by]
    keys: list[Hashable] = [name for name in table.columns if name not in parts]
    if "Unnamed: 0" in keys:
        raise InputError(
            "The table has a column 'Unnamed: 0', which pandas makes of an index in a CSV file, and "
            "which would be a key. Write the table with index=False, or name the keys with by=[...]."
        )
    return keys


def groups_of_table(
    table: pd.DataFrame, keys: list[Hashable], told: Remarks
) -> tuple[Groups, Codes]:
    """The groups of a table of combinations, in order, and the group of each line."""
    names = [told.names.get(key, key) for key in keys]
    columns = [table[key] for key in keys]
    if told.model is not None:
        names, columns = ["model", *names], [table[told.model], *columns]
    if not columns:
        return Groups(), np.zeros(len(table), dtype=np.intp)
    return groups_of_columns(names, columns, has_model=told.model is not None)


def groups_of_columns(
    names: Sequence[Hashable], columns: Sequence[Any], *, has_model: bool = False
) -> tuple[Groups, Codes]:
    """The groups that occur in the columns, in order, and the group of each row."""
    found = [of_all_rows(encode(column), len(column)) for column in columns]
    slots = [part for part, _ in found]
    codes = [rows.astype(np.intp) - part.has_missing for part, rows in found]
    levels = [(part.levels(), part.order is not None) for part in slots]
    return sorted_groups(names, levels, np.stack(codes, axis=1), has_model=has_model).in_order()


def check_one_table(told: Remarks, numbers: npt.NDArray[np.int64]) -> None:
    """Raise InputError where remarks on rows left out are those of a part of the table."""
    rows = int(numbers.sum())
    if told.n_missing and rows > told.rows:
        raise InputError(
            f"The table holds {counted(rows, 'row')}, and its attrs say {told.rows:,}: tables were put "
            "together, and how many rows were left out of all is lost. Read each by itself, and add "
            "the counts."
        )


def occurring(
    column: pd.Series, numbers: npt.NDArray[np.int64], name: Hashable
) -> tuple[Observed, Codes]:
    """Labels of one column of a table, with their rows, and the code of each line."""
    slots = encode(column)
    if slots.has_missing:
        missing = int(numbers[column.isna().to_numpy()].sum())
        raise InputError(
            f"Missing values in {shown(name)} ({counted(missing, 'row')}); leave these lines out."
        )
    slots, codes = of_all_rows(slots, len(column))
    codes = codes.astype(np.intp)
    found, codes = np.unique(codes, return_inverse=True)
    rows = np.zeros(len(found), dtype=np.int64)
    np.add.at(rows, codes.reshape(-1), numbers)
    return Observed(
        name, slots.levels().take(found).tolist(), rows.tolist(), slots.declared()
    ), codes.reshape(-1)


def weight_columns(
    table: pd.DataFrame, weight: Hashable | None, weight_squared: Hashable | None
) -> tuple[Hashable, ...]:
    """Names of the columns that hold sums of weights and of their squares, if any do."""
    if weight is None and weight_squared is None:
        default = ("weight", "weight_squared")
        return default if all(name in table.columns for name in default) else ()
    if weight is None or weight_squared is None:
        raise InputError(
            "`weight` and `weight_squared` go together: intervals need the sum of squared weights, "
            "in SQL sum(w * w), beside the sum of weights."
        )
    return (weight, weight_squared)


def sums_of_weights(name: str, column: pd.Series) -> npt.NDArray[np.float64]:
    """Sums of weights as float; InputError for what is none."""
    try:
        held = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise InputError(f"{shown(name)} must hold sums of weights; got {column.dtype}.") from None
    if not (np.isfinite(held) & (held >= 0)).all():
        bad = held[~(np.isfinite(held) & (held >= 0))]
        raise InputError(
            f"{shown(name)} must hold finite sums of weights, not negative; got "
            f"{listed(bad.tolist(), 3)}."
        )
    return held


def whole_numbers(argument: str, values: Any) -> npt.NDArray[np.int64]:
    """A fresh int64 array; InputError for what is not a whole number of rows."""
    try:
        held = np.array(values)
        if held.dtype.kind == "c":
            raise TypeError
        if held.dtype == object:
            held = np.array(
                [int(value) if value == int(value) else np.nan for value in held.ravel()]
            ).reshape(held.shape)
        exact = held if held.dtype.kind in "iu" else held.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        is_column = isinstance(values, np.ndarray) and values.ndim == 1
        bad = [value for value in values if not is_real(value)] if is_column else []
        got = listed(bad, 3) if bad else shown(values)
        raise InputError(f"`{argument}` must hold whole numbers of rows; got {got}.") from None
    whole = np.isfinite(exact) & (exact >= 0) & (exact == np.floor(exact)) & (exact < 2**63)
    if not whole.all():
        bad = exact[~whole]
        raise InputError(
            f"`{argument}` must hold whole numbers of rows, not negative, finite and below 2**63; got "
            f"{listed(bad.tolist(), 3)}."
        )
    return exact.astype(np.int64)


def aligned_matrix(
    matrix: pd.DataFrame, labels: Iterable[Hashable] | None, abstain: tuple[Hashable, ...]
) -> tuple[npt.NDArray[Any], Iterable[Hashable]]:
    """Square cells over the labels, whatever the order of rows and columns, and the classes."""
    rows, columns = matrix.index.tolist(), matrix.columns.tolist()
    if labels is None:
        labels = [label for label in union([rows, columns], [None])[0] if label not in abstain]
    known = [*labels, *abstain]
    unknown = [label for label in (*rows, *columns) if label not in known]
    if unknown or len(set(rows)) < len(rows) or len(set(columns)) < len(columns):
        raise InputError(
            f"`matrix` must name each label once, all of them among {listed(known)}; rows "
            f"{listed(rows)}, columns {listed(columns)}."
        )
    cells = np.zeros((len(known), len(known)), dtype=object)
    cells[np.ix_(positions(rows, known), positions(columns, known))] = matrix.to_numpy(dtype=object)
    return cells, labels
