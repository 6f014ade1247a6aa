"""A frame of an engine that narwhals knows -> Combinations, aggregated where the rows are.

Only elementary aggregations are asked for, since engines refuse different others: numbers of rows,
and sums of columns that were made first.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.columns import Columns
from pandas_tba.encoding import encode, of_all_rows
from pandas_tba.engines.combining import (
    Combinations,
    Levels,
    Lines,
    Question,
    not_a_frame,
    question_of,
)
from pandas_tba.engines.reading import arrow_slots, joined
from pandas_tba.levels import order_of
from pandas_tba.validation import HUGE_WEIGHT, TINY_WEIGHT, number_error

Array = npt.NDArray[Any]


class Query(NamedTuple):
    """A question to an engine: its frame, the types of its columns, and where values are missing."""

    held: Any
    schema: Any
    question: Question
    missing: dict[Hashable, Any]

    @property
    def complete(self) -> Any:
        """Whether a row has every label, score and weight."""
        return ~reduce(or_, self.missing.values())


def combinations_in_engine(frame: Any, columns: Columns, by: Any) -> tuple[Question, Combinations]:
    """Combinations that the engine itself counted, one query for each column of predictions."""
    import narwhals.stable.v2 as nw

    held = nw.from_native(frame, pass_through=True)
    if not isinstance(held, (nw.DataFrame, nw.LazyFrame)):
        raise not_a_frame(frame)
    if isinstance(held, nw.DataFrame) and held.implementation.is_polars():
        held = held.lazy()  # grouping at once takes three times as long (polars 1.x)
    schema = held.collect_schema()
    question = question_of(_without_rows(schema), columns, by)
    bound = question.bound
    named = [name for name, _ in bound.labelled()]
    named += [] if bound.weights is None else [bound.weights[0]]
    query = Query(held, schema, question, {name: _is_missing(name, schema) for name in named})
    _check_types(query)
    return question, _combinations(query, [_counted(query, name) for name in bound.predictions])


def _without_rows(schema: Any) -> pd.DataFrame:
    """A frame without rows of the dtypes that pandas would use."""
    return pd.DataFrame({name: pd.Series(dtype=_dtype(kind)) for name, kind in schema.items()})


def _dtype(kind: Any) -> Any:
    import narwhals.stable.v2 as nw

    if isinstance(kind, nw.Enum):
        return pd.CategoricalDtype(list(kind.categories))
    simple = {nw.Boolean: "bool", nw.Categorical: "category", nw.String: pd.Index(["a"]).dtype}
    for known, dtype in simple.items():
        if kind == known:
            return dtype
    if kind.is_integer():
        return "int64"
    if kind.is_numeric():
        return "float64"
    return "datetime64[us]" if kind == nw.Datetime else object


def _is_missing(name: Any, schema: Any) -> Any:
    """Whether the value is null or NaN."""
    import narwhals.stable.v2 as nw

    column = nw.col(name)
    return column.is_null() | column.is_nan() if schema[name].is_float() else column.is_null()


def _check_types(query: Query) -> None:
    """Raise KindError for scores and weights that are no numbers, and for labels and keys that are lists."""
    columns, bound, schema = query.question.columns, query.question.bound, query.schema
    numeric = [] if columns.y_score is None else [("y_score", name) for name in bound.predictions]
    numeric += [] if bound.weights is None else [("sample_weight", bound.weights[0])]
    for argument, name in numeric:
        if not schema[name].is_numeric():
            raise number_error(argument, name, pd.Series(dtype=_dtype(schema[name])).dtype)
    for name in query.question.needed():
        if schema[name].is_nested():
            first = query.held.filter(~_is_missing(name, schema)).select(name).head(1)
            values = _collected(first)[name].to_pylist()
            encode(pd.Series(values, name=name, dtype=object))


def _counted(query: Query, prediction: Any) -> Any:
    """Arrow table of the combinations for one column of predictions, incomplete rows apart."""
    import narwhals.stable.v2 as nw

    columns, bound = query.question.columns, query.question.bound
    names: list[Any] = [query.question.column_of_key(key) for key in bound.keys]
    truth: Any = columns.y_true
    keys = {f"key_{at}": nw.col(name) for at, name in enumerate(names)}
    predicted = nw.col(prediction)
    if columns.y_score is not None:
        reached = predicted.cast(nw.Float64) >= columns.threshold
        predicted = nw.when(~query.missing[prediction]).then(reached)
    parts = {
        **keys,
        "truth": nw.col(truth),
        "predicted": predicted,
        "complete": query.complete,
    }
    sums = {} if bound.weights is None else _weight_sums(query, bound.weights[0])
    grouped = query.held.select(**parts, **sums).group_by(*parts, drop_null_keys=False)
    totals = (nw.col(name).sum() for name in sums)
    return _collected(grouped.agg(nw.len().alias("rows"), *totals))


def _weight_sums(query: Query, name: Any) -> dict[str, Any]:
    """Columns whose sums are the weight, the squared weight, and the weights missing and bad."""
    import narwhals.stable.v2 as nw

    missing, bad = query.missing[name], _is_bad(query, name)
    weight = nw.when(~missing & ~bad).then(nw.col(name).cast(nw.Float64)).otherwise(0.0)
    return {
        "weight": weight,
        "squared": weight * weight,
        "missing": missing.cast(nw.Int64),  # Spark does not add booleans
        "bad": bad.cast(nw.Int64),
    }


def _is_bad(query: Query, name: Any) -> Any:
    import narwhals.stable.v2 as nw

    weight = nw.col(name).cast(nw.Float64)
    return ~query.missing[name] & (
        (weight < 0) | (weight >= HUGE_WEIGHT) | ((weight > 0) & (weight <= TINY_WEIGHT))
    )


def _collected(asked: Any) -> Any:
    """What the engine answers, as an Arrow table."""
    import narwhals.stable.v2 as nw

    if isinstance(asked, nw.LazyFrame):
        asked = asked.collect()
    return asked.to_arrow()


def _combinations(query: Query, tables: Sequence[Any]) -> Combinations:
    """The answers of all queries, over levels of their own."""
    import pyarrow as pa

    question, bound = query.question, query.question.bound
    names = [question.columns.y_true, *bound.predictions]
    shared = {f"key_{at}": question.column_of_key(key) for at, key in enumerate(bound.keys)}
    shared["truth"] = question.columns.y_true
    whole = pa.concat_tables([table.select(list(shared)) for table in tables])
    placed = [_placed(column, whole[name], query) for name, column in shared.items()]
    placed += [
        _placed(name, table["predicted"], query)
        for name, table in zip(bound.predictions, tables, strict=True)
    ]
    levels, codes = zip(*placed, strict=True)
    both = np.column_stack(codes[: len(shared)])
    lines, missing, start = [], {}, 0
    for table, predicted, name in zip(tables, codes[len(shared) :], names[1:], strict=True):
        place = np.column_stack([both[start : start + table.num_rows], predicted])
        start += table.num_rows
        rows = _numbers(table, "rows", np.int64)
        missing[names[0]] = int(rows[place[:, -2] < 0].sum())
        missing[name] = int(rows[predicted < 0].sum())
        planes = [rows]
        if bound.weights is not None:
            planes += [_numbers(table, plane, np.float64) for plane in ("weight", "squared")]
            missing[bound.weights[0]] = int(_numbers(table, "missing", np.int64).sum())
        complete = _numbers(table, "complete", np.bool_)
        lines.append(Lines(place[complete], tuple(plane[complete] for plane in planes)))
    n_rows = int(_numbers(tables[0], "rows", np.int64).sum())
    return Combinations(levels, tuple(lines), n_rows, missing, _bad_weights(query, tables[0]))


def _placed(name: Any, column: Any, query: Query) -> tuple[Levels, Array]:
    """The levels of a column of an answer, and the code of each line, -1 where missing."""
    kind = query.schema[name]
    is_score = (
        query.question.columns.y_score is not None and name in query.question.bound.predictions
    )
    if hasattr(kind, "categories") and not is_score:  # an Enum declares its order
        held = pd.Categorical(column.to_pylist(), categories=list(kind.categories))
        slots = encode(pd.Series(held))
    else:
        slots = arrow_slots(name, joined(column))
    slots, codes = of_all_rows(slots, len(column))
    place, levels = codes.astype(np.intp) - slots.has_missing, slots.levels()
    if slots.order is None:  # engines answer in any order, which must not show in a text
        order = order_of(levels)
        place, levels = np.append(np.argsort(order), -1)[place], levels.take(order)
    return Levels(levels, slots.declared()), place


def _numbers(table: Any, name: str, dtype: Any) -> Array:
    """A column of an answer: engines give numbers of rows and sums in dtypes of their own."""
    return np.asarray(table[name]).astype(dtype)


def _bad_weights(query: Query, table: Any) -> tuple[int, tuple[float, ...]]:
    """How many weights of complete rows are none, and the first three."""
    if query.question.bound.weights is None:
        return 0, ()
    complete = _numbers(table, "complete", np.bool_)
    number = int(_numbers(table, "bad", np.int64)[complete].sum())
    if not number:
        return 0, ()
    name = query.question.bound.weights[0]
    bad = query.held.filter(query.complete & _is_bad(query, name)).select(name).head(3)
    return number, tuple(float(value) for value in _collected(bad)[name].to_pylist())
