"""Tables of counts as they come and go: what their columns must hold, and what is made of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.groups import Codes, Groups, sorted_groups
from pandas_tba.counts.metadata import NUMBERS, Metadata, as_text, titles, with_attrs
from pandas_tba.counts.storage import ROWS, Cells, Entries, check_total, join_entries
from pandas_tba.errors import ColumnError, InputError, KindError, counted, listed, nearest, shown
from pandas_tba.frames.codes import encode, is_mixed, of_all_rows
from pandas_tba.frames.labels import LabelSet, Observed
from pandas_tba.frames.lookup import check_no_models
from pandas_tba.frames.values import kinds_of, nullable, plain_index, positions, union


def table_of(
    cells: Cells,
    labels: LabelSet,
    groups: Groups,
    n_missing: int,
    missing: Mapping[Hashable, int],
    *,
    text: bool,
) -> pd.DataFrame:
    """A line for each cell that holds rows, with metadata; one without rows for each empty group."""
    names = titles(groups.names, text=text)
    found = _lines_of_counts(cells) if groups.names else cells.entries()
    keys = groups.with_codes(groups.codes[found.group])
    values = plain_index(labels.values or [None])
    columns = [
        *(
            nullable(column, level.dtype.kind)
            for column, level in zip(keys.columns(), keys.levels, strict=True)
        ),
        values.take(found.truth),
        values.take(found.predicted),
        *found.quantities,
    ]
    table = pd.DataFrame(dict(enumerate(columns)))
    table.columns = plain_index([*names, "y_true", "y_pred", *NUMBERS[: len(found.quantities)]])
    levels = zip(names, groups.levels, groups.declared, strict=True)
    orders: dict[Hashable, Any] = {
        name: level.tolist() for name, level, is_declared in levels if is_declared
    }
    if labels.order is not None:
        orders |= dict.fromkeys(("y_true", "y_pred"), labels.order)
    totals = (cells.rows_of_true(), cells.rows_of_predicted())
    titled = zip(names, groups.names, strict=True)
    metadata = Metadata(
        rules=labels.rules,
        seen=_unseen_labels(labels, totals),
        scored=labels.scored,
        model=groups.names[0] if groups.has_model else None,
        orders=orders,
        names={title: name for title, name in titled if title is not name},
        rows=int(found.quantities[ROWS].sum()),
        lines=len(table),
        n_missing=n_missing,
        missing=missing,
        columns=table.columns.tolist(),
    )
    return as_text(table, metadata) if text else with_attrs(table, metadata)


def _unseen_labels(labels: LabelSet, totals: tuple[Any, Any]) -> Any:
    """Labels that were seen only where a key is missing: of y_true, and of y_pred."""
    if labels.rules.labels is not None:
        return (), ()
    held = [{labels.values[at] for at in np.flatnonzero(total)} for total in totals]
    return tuple(
        tuple(value for value in seen if value not in found)
        for seen, found in zip(labels.seen, held, strict=True)
    )


def _lines_of_counts(cells: Cells) -> Entries:
    """The cells that hold rows, and one that holds none for each group without rows."""
    found = cells.entries()
    empty = np.flatnonzero(cells.rows_of_groups() == 0)
    if not len(empty):
        return found
    zeros = np.zeros(len(empty), dtype=np.intp)
    nothing = tuple(zeros.astype(quantity.dtype) for quantity in found.quantities)
    return join_entries([found, Entries(empty, zeros, zeros, nothing)])


def key_columns(
    table: pd.DataFrame, by: Any, parts: Sequence[Hashable], metadata: Metadata
) -> list[Hashable]:
    """Columns of the keys: those named, or all that play no other part."""
    keys: list[Hashable] = [name for name in table.columns if name not in parts]
    if by is not None:
        keys = [*by] if isinstance(by, list) else [by]
    elif "Unnamed: 0" in keys and "Unnamed: 0" not in metadata.columns:
        raise InputError(
            "The table has a column 'Unnamed: 0', which pandas makes of an index in a CSV file, and "
            "which would be a key. Write the table with index=False, or name the keys with by=[...]."
        )
    for name in (*parts, *keys):
        if not isinstance(name, Hashable) or name not in table.columns:
            raise ColumnError(
                f"no column {shown(name)} in the table.{nearest(name, table.columns)} "
                f"Columns: {listed(table.columns)}."
            )
    if metadata.model is not None:
        check_no_models("by", keys, metadata.model)
    named = [*parts, *keys]
    twice = [name for at, name in enumerate(named) if name in named[:at]]
    if twice:
        raise InputError(f"Column {shown(twice[0])} can play one part only; it is named twice.")
    return keys


def groups_of_table(
    table: pd.DataFrame, keys: list[Hashable], metadata: Metadata
) -> tuple[Groups, Codes]:
    """The groups of a table of combinations, in order, and the group of each line."""
    names = [metadata.names.get(key, key) for key in keys]
    columns = [table[key] for key in keys]
    if metadata.model is not None:
        names, columns = ["model", *names], [table[metadata.model], *columns]
    if not columns:
        return Groups(), np.zeros(len(table), dtype=np.intp)
    return groups_of_columns(names, columns, has_model=metadata.model is not None)


def groups_of_columns(
    names: Sequence[Hashable], columns: Sequence[Any], *, has_model: bool = False
) -> tuple[Groups, Codes]:
    """The groups that occur in the columns, in order, and the group of each row."""
    found = [of_all_rows(encode(column), len(column)) for column in columns]
    encoded = [part for part, _ in found]
    codes = [rows.astype(np.intp) - part.has_missing for part, rows in found]
    levels = [(part.levels(), part.order is not None) for part in encoded]
    return sorted_groups(names, levels, np.stack(codes, axis=1), has_model=has_model).in_order()


def check_one_table(metadata: Metadata, numbers: npt.NDArray[np.int64]) -> None:
    """Raise InputError where metadata do not belong to all of the table."""
    rows, lines = int(numbers.sum()), len(numbers)
    if metadata.is_text and (rows, lines) != (metadata.rows, metadata.lines):
        raise InputError(
            f"The table holds {counted(rows, 'row')} in {counted(lines, 'line')}, but was written with "
            f"{metadata.rows:,} in {metadata.lines:,}: lines are gone, added or changed. Read it whole."
        )
    if metadata.n_missing and rows > metadata.rows:
        raise InputError(
            f"The table holds {counted(rows, 'row')}, and its attrs say {metadata.rows:,}: tables were put "
            "together, and how many rows were left out of all is lost. Read each by itself, and add "
            "the counts."
        )


def occurring(
    column: pd.Series, numbers: npt.NDArray[np.int64], name: Hashable
) -> tuple[Observed, Codes]:
    """Labels of one column of a table, with their rows, and the code of each line."""
    if is_mixed(column):
        raise KindError(
            f"Column {shown(name)} holds both booleans and numbers, such as True and 1, which would be "
            "one label. Convert it, for example with astype(int)."
        )
    encoded = encode(column)
    if encoded.has_missing:
        missing = int(numbers[column.isna().to_numpy()].sum())
        raise InputError(
            f"Missing values in {shown(name)} ({counted(missing, 'row')}); leave these lines out."
        )
    encoded, codes = of_all_rows(encoded, len(column))
    codes = codes.astype(np.intp)
    found, codes = np.unique(codes, return_inverse=True)
    rows = np.zeros(len(found), dtype=np.int64)
    np.add.at(rows, codes.reshape(-1), numbers)
    return Observed(
        name, encoded.levels().take(found).tolist(), rows.tolist(), encoded.declared()
    ), codes.reshape(-1)


def with_unseen(side: Observed, unseen: Sequence[Hashable]) -> Observed:
    """The labels that have rows, and those that had none left; not where they were renamed since."""
    if side.values and not kinds_of(unseen) <= kinds_of(side.values):
        return side
    values, rows = [*side.values, *unseen], [*side.rows, *(0 for _ in unseen)]
    return side._replace(values=values, rows=rows)


def weight_columns(
    table: pd.DataFrame,
    weight: Hashable | None,
    weight_squared: Hashable | None,
    metadata: Metadata,
    *,
    has_keys: bool,
) -> tuple[Hashable, ...]:
    """Names of the columns that hold sums of weights and of their squares, if any do."""
    default = NUMBERS[1:]
    if weight is None and weight_squared is None:
        lacking = [name for name in default if name not in table.columns]
        if lacking and all(name in metadata.columns for name in default):
            raise ColumnError(
                f"no column {shown(lacking[0])} in the table, which was written with weights. Keep "
                "weight and weight_squared, or name them."
            )
        there = next((name for name in default if name in table.columns), None)
        if len(lacking) == 1 and there and not has_keys and _are_numbers(table[there]):
            raise InputError(
                f"The table has a column {shown(there)} and none {shown(lacking[0])}. Weights need both: in "
                "SQL sum(w) AS weight, sum(w * w) AS weight_squared. If it is a key, name the keys: by=[...]."
            )
        return () if lacking else default
    if weight is None or weight_squared is None:
        raise InputError(
            "`weight` and `weight_squared` go together: intervals need the sum of squared weights, "
            "in SQL sum(w * w), beside the sum of weights."
        )
    return (weight, weight_squared)


def _are_numbers(column: pd.Series) -> bool:
    """Whether a column can be read as numbers."""
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def sums_of_weights(name: str, column: pd.Series) -> npt.NDArray[np.float64]:
    """Sums of weights as float; InputError for what is none."""
    try:
        held = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{shown(name)} must hold sums of weights; got {column.dtype}.") from None
    is_bad = ~(np.isfinite(held) & (held >= 0))
    with np.errstate(over="ignore"):
        total = held.sum()
    if is_bad.any() or not np.isfinite(total):
        bad = held[is_bad] if is_bad.any() else held
        raise InputError(
            f"{shown(name)} must hold sums of weights, not negative, and finite together; got "
            f"{listed(bad.tolist(), 3)}."
        )
    return held


def check_sums(numbers: npt.NDArray[np.int64], sums: Sequence[npt.NDArray[np.float64]]) -> None:
    """Raise InputError where so many weights cannot have this sum and this sum of squares."""
    if not sums:
        return
    weight, squared = sums
    with np.errstate(over="ignore"):
        is_bad = 0.5 * weight**2 > numbers * squared  # sums may have been rounded
    if is_bad.any():
        at = int(np.argmax(is_bad))
        raise InputError(
            "The sums of squared weights are too small for the sums of weights: no "
            f"{counted(int(numbers[at]), 'row')} have weights of {weight[at]:g} together, and squares of "
            f"{squared[at]:g}. In SQL they are sum(w * w)."
        )


def whole_numbers(argument: str, values: Any) -> npt.NDArray[np.int64]:
    """A fresh int64 array; InputError for what is not a whole number of rows."""
    try:
        held = np.array(values)
    except ValueError:  # a ragged list
        held = np.array("")
    if held.dtype.kind not in "iufO":
        raise InputError(f"`{argument}` must hold whole numbers of rows; got {shown(values)}.")
    flat = held.ravel()
    numbers: Any = flat
    if held.dtype == object:
        numbers = [_whole(value) for value in flat]
        bad = [value for value, number in zip(flat, numbers, strict=True) if number is None]
    else:
        bad = flat[~((flat >= 0) & (flat == np.floor(flat)) & (flat < 2**63))].tolist()
    if bad:
        raise InputError(
            f"`{argument}` must hold whole numbers of rows, not negative, finite and below 2**63; got "
            f"{listed(bad, 3)}."
        )
    exact = np.array(numbers, dtype=np.int64).reshape(held.shape)
    check_total(float(exact.sum(dtype=np.float64)))
    return exact


def _whole(value: Any) -> int | None:
    """A number of rows as int, None for anything else."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        if (
            not 0 <= value < 2**63
        ):  # first, since int() writes out all digits of Decimal("1e99999999")
            return None
        number = int(value)
    except (ArithmeticError, TypeError, ValueError):
        return None
    return number if number == value else None


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
