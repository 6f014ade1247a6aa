"""A frame of an engine that narwhals knows -> Combinations, aggregated where the rows are.

Only elementary aggregations are asked for, since engines refuse different others: numbers of rows,
sums of columns that were made first, and the extremes of a column.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.engines.combinations import (
    Ask,
    Combinations,
    Levels,
    Lines,
    Question,
    not_a_frame,
)
from pandas_tba.engines.memory import arrow_codes, join_chunks
from pandas_tba.engines.pandas_pairs import Fault, Faults, Models, one_fault
from pandas_tba.errors import KindError, shown
from pandas_tba.frames.checks import (
    HUGE_WEIGHT,
    MOST_VALUES,
    NO_BAD_WEIGHTS,
    TINY_WEIGHT,
    BadWeights,
)
from pandas_tba.frames.codes import encode, of_all_rows, rounded
from pandas_tba.frames.values import order_of

Array = npt.NDArray[Any]


class Query(NamedTuple):
    """A question to an engine: its frame, the types of its columns, and where values are missing.

    ``plain`` has the name that each column bears in the frame: engines take some names of users for
    patterns.  ``no_numbers`` are the columns of scores and weights that hold something else.
    """

    held: Any
    schema: Any
    plain: dict[Hashable, str]
    question: Question
    missing: dict[Hashable, Any]
    no_numbers: frozenset[Hashable] = frozenset()

    @property
    def complete(self) -> Any:
        """Whether a row has every label, score and weight."""
        return ~reduce(or_, self.missing.values())

    def column(self, name: Hashable) -> Any:
        """The column of that name."""
        import narwhals.stable.v2 as nw

        return nw.col(self.plain[name])


def combinations_in_engine(frame: Any, ask: Ask) -> tuple[Question, Combinations]:
    """Combinations that the engine itself counted, one query for each table of the question."""
    query = query_of(frame, ask)
    return query.question, combinations_of_query(query)


def query_of(frame: Any, ask: Ask) -> Query:
    """The question to a frame that narwhals knows."""
    import narwhals.stable.v2 as nw

    held = nw.from_native(frame, pass_through=True)
    if not isinstance(held, (nw.DataFrame, nw.LazyFrame)):
        raise not_a_frame(frame)
    if isinstance(held, nw.DataFrame) and held.implementation.is_polars():
        held = held.lazy()  # grouping at once takes three times as long (polars 1.x)
    schema = held.collect_schema()
    question = ask(_empty_frame(schema))
    bound = question.bound
    named = [name for name, _ in bound.labelled()]
    named += [] if bound.weights is None else [bound.weights[0]]
    numeric = [] if not question.columns.has_scores else [*bound.predictions]
    numeric += [] if bound.weights is None else [bound.weights[0]]
    plain: dict[Hashable, str] = {name: f"column_{at}" for at, name in enumerate(schema)}
    no_numbers = frozenset(name for name in numeric if not schema[name].is_numeric())
    query = Query(_rename_columns(held, plain), schema, plain, question, {}, no_numbers)
    query.missing.update({name: _is_missing(name, query) for name in named})
    _check_keys(query)
    return query


def _rename_columns(held: Any, names: dict[Hashable, str]) -> Any:
    """The frame with other names, whatever an engine would take those of its columns for."""
    import narwhals.stable.v2 as nw

    native = held.to_native()
    if held.implementation.is_duckdb():  # where * is every column
        quoted = {f'"{str(name).replace(chr(34), chr(34) * 2)}"': to for name, to in names.items()}
        return nw.from_native(native.project(", ".join(f"{a} AS {b}" for a, b in quoted.items())))
    if held.implementation.is_spark_like():  # where a dot leads into a structure
        return nw.from_native(native.toDF(*names.values()))
    return held.rename(names)


def _empty_frame(schema: Any) -> pd.DataFrame:
    """A frame without rows of the dtypes that pandas would use."""
    return pd.DataFrame({name: pd.Series(dtype=_dtype(kind)) for name, kind in schema.items()})


def _dtype(kind: Any) -> Any:
    """The dtype that pandas has for a type of narwhals."""
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


def _is_missing(name: Hashable, query: Query) -> Any:
    """Whether the value is null or NaN."""
    column = query.column(name)
    return column.is_null() | column.is_nan() if query.schema[name].is_float() else column.is_null()


def _check_keys(query: Query) -> None:
    """Raise KindError for labels and keys that are lists, or that Polars would tell by their address."""
    import narwhals.stable.v2 as nw

    for name in query.question.needed():
        if name in query.no_numbers:
            continue
        if query.schema[name] == nw.Object and query.held.implementation.is_polars():
            raise KindError(
                f"Column {shown(name)} holds Python objects, which Polars tells apart by their address and "
                "not by their value. Convert it, for example with map_elements(str, "
                "return_dtype=pl.String)."
            )
        if query.schema[name].is_nested():
            first = query.held.filter(~_is_missing(name, query)).select(value=query.column(name))
            values = _collected(first.head(1))["value"].to_pylist()
            encode(pd.Series(values, name=name, dtype=object))


def combinations_of_query(query: Query) -> Combinations:
    """What the engine counted for each table, over common levels."""
    question, bound = query.question, query.question.bound
    fields = _fields(query)
    asked = [_fields_of_table(fields, table) for table in question.tables]
    answers = [_query_counts(query, {field: fields[field] for field in part}) for part in asked]
    levels, codes = _placed_fields(
        {field: name for field, (name, _) in fields.items()}, answers, query
    )
    lines, missing = [], dict[Hashable, int]()
    for part, place, answer in zip(asked, codes, answers, strict=True):
        rows = _numeric(answer, "rows", np.int64)
        for field, column in zip(part, place.T, strict=True):
            missing[fields[field][0]] = int(rows[column < 0].sum())
        quantities = [rows]
        if bound.weights is not None:
            quantities += [
                _numeric(answer, quantity, np.float64) for quantity in ("weight", "squared")
            ]
            missing[bound.weights[0]] = int(_numeric(answer, "missing", np.int64).sum())
        complete = _numeric(answer, "complete", np.bool_)
        lines.append(Lines(place[complete], tuple(quantity[complete] for quantity in quantities)))
    n_rows = int(_numeric(answers[0], "rows", np.int64).sum())
    uncounted = tuple[Array, ...]()
    if question.columns.missing == "raise":
        uncounted = _query_incomplete(dict(zip(fields, levels, strict=True)), asked, codes, answers)
    return Combinations(
        levels,
        tuple(lines),
        n_rows,
        missing,
        _bad_weights(query, answers[0]),
        query.no_numbers,
        uncounted[len(bound.keys) :],
    )


def _query_incomplete(
    levels: dict[str, Levels],
    asked: Sequence[list[str]],
    codes: Sequence[Array],
    answers: Sequence[Any],
) -> tuple[Array, ...]:
    """Incomplete rows of each value of each field."""
    found = dict[str, Array]()
    for part, place, answer in zip(asked, codes, answers, strict=True):
        undefined_where = ~_numeric(answer, "complete", np.bool_)
        rows = _numeric(answer, "rows", np.int64)[undefined_where]
        for field, column in zip(part, place[undefined_where].T, strict=True):
            size = len(levels[field].values)
            known = column >= 0
            total = np.bincount(column[known], weights=rows[known], minlength=size)
            found[field] = total.astype(np.int64)
    return tuple(found[field] for field in levels)


def _fields(query: Query) -> dict[str, tuple[Any, Any]]:
    """Keys, truth and predictions as an answer names them: the column, and what is asked of it."""
    import narwhals.stable.v2 as nw

    columns, bound = query.question.columns, query.question.bound
    names: dict[str, Any] = {
        f"key_{at}": query.question.column_of_key(key) for at, key in enumerate(bound.keys)
    }
    names["truth"] = columns.y_true
    fields = {field: (name, query.column(name)) for field, name in names.items()}
    predictions: list[Any] = list(bound.predictions)
    for at, name in enumerate(predictions):
        predicted = query.column(name)
        if columns.has_scores:
            reached = nw.lit(value=True)
            if name not in query.no_numbers:
                reached = predicted.cast(nw.Float64) >= _threshold(name, query)
            predicted = nw.when(~query.missing[name]).then(reached)
        fields[f"predicted_{at}"] = (name, predicted)
    return fields


def _threshold(name: Hashable, query: Query) -> float:
    """The threshold in the precision of the scores."""
    short = {"Float16": np.float16, "Float32": np.float32}
    dtype = short.get(str(query.schema[name]), np.float64)
    return float(rounded(query.question.columns.threshold, dtype))


def _fields_of_table(fields: Iterable[str], table: Sequence[int]) -> list[str]:
    """Fields of the query of one table."""
    shared = [field for field in fields if not field.startswith("predicted_")]
    return [*shared, *(f"predicted_{at}" for at in table)]


def _query_counts(query: Query, fields: dict[str, tuple[Any, Any]]) -> Any:
    """Arrow table of the combinations of some fields, incomplete rows apart."""
    import narwhals.stable.v2 as nw

    parts = {field: value for field, (_, value) in fields.items()}
    parts["complete"] = query.complete
    weights = query.question.bound.weights
    sums = {} if weights is None else _weight_sums(query, weights[0])
    grouped = query.held.select(**parts, **sums).group_by(*parts, drop_null_keys=False)
    totals = (nw.col(name).sum() for name in sums)
    return _collected(grouped.agg(nw.len().alias("rows"), *totals))


def _weight_sums(query: Query, name: Any) -> dict[str, Any]:
    """Columns whose sums are the weight, the squared weight, and the weights missing and bad."""
    import narwhals.stable.v2 as nw

    missing = query.missing[name]
    lacking = missing.cast(nw.Int64)  # Spark does not add booleans
    if name in query.no_numbers:
        return {"missing": lacking, **dict.fromkeys(("weight", "squared", "bad"), nw.lit(0))}
    bad = _is_bad(query, name)
    weight = nw.when(~missing & ~bad).then(query.column(name).cast(nw.Float64)).otherwise(0.0)
    return {
        "weight": weight,
        "squared": weight * weight,
        "missing": lacking,
        "bad": bad.cast(nw.Int64),
    }


def _is_bad(query: Query, name: Any) -> Any:
    """Expression: whether a weight cannot be used."""
    import narwhals.stable.v2 as nw

    weight = query.column(name).cast(nw.Float64)
    return ~query.missing[name] & (
        (weight < 0) | (weight > HUGE_WEIGHT) | ((weight > 0) & (weight < TINY_WEIGHT))
    )


def _collected(asked: Any) -> Any:
    """What the engine answers, as an Arrow table."""
    import narwhals.stable.v2 as nw

    if isinstance(asked, nw.LazyFrame):
        asked = asked.collect()
    return asked.to_arrow()


def cases_of_query(query: Query, models: Models, cases: Question) -> tuple[Combinations, Faults]:
    """Combinations of the cases, the rows of each two models joined in the engine.

    The query is about rows: its first key is the model, its last one says which case they are.
    Only where something is wrong is the engine asked what exactly.
    """
    import narwhals.stable.v2 as nw

    rows, names = _rows_of_cases(query)
    is_weighted = query.question.bound.weights is not None
    constant = [*names, *["weight"] * is_weighted]
    nothing = Combinations((), (), 0, {})
    scored = rows.group_by("row", "model", drop_null_keys=False).agg(nw.len().alias("rows"))
    is_fault = nw.col("row").is_null() | (nw.col("rows") > 1)
    if len(_collected(scored.filter(is_fault).head(1))):
        return nothing, _faults(query, rows, constant, models)
    if len(models.values) == 1:
        return nothing, Faults()
    answers = [_query_pairs(rows, constant, models, table) for table in cases.tables]
    if any(_numeric(answer, "differ", np.int64).any() for answer in answers):
        return nothing, _faults(query, rows, constant, models)
    (prediction,) = query.question.columns.predictions
    names |= {f"predicted_{at}": prediction for at in range(len(models.values))}
    levels, codes = _placed_fields(names, answers, query)
    quantities = {"cases": np.int64} | dict.fromkeys(
        ["weight", "squared"] * is_weighted, np.float64
    )
    lines = tuple(
        Lines(place, tuple(_numeric(answer, *quantity) for quantity in quantities.items()))
        for place, answer in zip(codes, answers, strict=True)
    )
    return Combinations(levels, lines, 0, {}), Faults()


def _rows_of_cases(query: Query) -> tuple[Any, dict[str, Any]]:
    """The complete rows, and the columns that the keys and truth of a case come from.

    Weights stand beside these; they are constant in a case, too.
    """
    import narwhals.stable.v2 as nw

    question, fields = query.question, _fields(query)
    model, *keys, row = (question.column_of_key(key) for key in question.bound.keys)
    names: dict[str, Any] = {f"key_{at}": key for at, key in enumerate(keys)}
    names["truth"] = question.columns.y_true
    parts = {"row": row, "model": model, **names}
    values = {field: _comparable(name, query) for field, name in parts.items()}
    if question.bound.weights is not None:
        weight: Any = question.bound.weights[0]
        values["weight"] = query.column(weight).cast(nw.Float64)
    is_decimal = query.schema[row].is_decimal()  # which Polars 1.30 does not join
    values["case"] = values["row"].cast(nw.String) if is_decimal else values["row"]
    prediction, predicted = fields["predicted_0"]
    if not question.columns.has_scores:
        predicted = _comparable(prediction, query)
    return query.held.filter(query.complete).select(**values, predicted=predicted), names


def _comparable(name: Any, query: Query) -> Any:
    """Values that have an order in every engine: categories as text, NaN as null."""
    import narwhals.stable.v2 as nw

    kind, column = query.schema[name], query.column(name)
    if kind.is_float():
        return nw.when(~column.is_nan()).then(column)
    return column.cast(nw.String) if isinstance(kind, (nw.Enum, nw.Categorical)) else column


def _query_pairs(rows: Any, constant: list[str], models: Models, table: tuple[int, ...]) -> Any:
    """Arrow table of the combinations for two models, and how many cases differ in the others."""
    import narwhals.stable.v2 as nw

    values = models.values.tolist()
    first, second = (rows.filter(nw.col("model") == values[at]) for at in table)
    both = first.join(second, on="case", how="full", suffix="_b")
    parts = {field: nw.coalesce(field, f"{field}_b") for field in constant}
    weight = parts.pop("weight", None)
    sums = {} if weight is None else {"weight": weight, "squared": weight * weight}
    sides = [nw.col("predicted"), nw.col("predicted_b")]
    parts |= {f"predicted_{at}": side for at, side in zip(table, sides, strict=True)}
    differ = reduce(or_, (_differ(nw.col(field), nw.col(f"{field}_b")) for field in constant))
    is_paired = ~sides[0].is_null() & ~sides[1].is_null()
    number = nw.when(is_paired & differ).then(1).otherwise(0).cast(nw.Int64)
    sums["differ"] = number
    grouped = both.select(**parts, **sums).group_by(*parts, drop_null_keys=False)
    totals = (nw.col(name).sum() for name in sums)
    return _collected(grouped.agg(nw.len().alias("cases"), *totals))


def _differ(first: Any, second: Any) -> Any:
    """Expression: whether two values differ, where null is a value."""
    return (first != second) | (first.is_null() != second.is_null())


def _faults(query: Query, rows: Any, constant: list[str], models: Models) -> Faults:
    """What keeps the rows from being put beside each other, the smallest cases as examples."""
    import narwhals.stable.v2 as nw

    # y_true, the keys and the weight, as errors name them
    constant = ["truth", *(field for field in constant if field != "truth")]
    own = [f"rows_{at}" for at in range(len(models.values))]
    numbers = {field: _is_torn(field) for field in constant}
    numbers |= {name: nw.when(nw.col(name) > 1).then(nw.col(name) - 1).otherwise(0) for name in own}
    row = nw.col("row")
    numbers["no_row"] = nw.when(row.is_null()).then(nw.col("rows")).otherwise(0)
    asked = {name: number.cast(nw.Int64).sum() for name, number in numbers.items()}
    asked |= {
        f"{name}_case": nw.when(number > 0).then(row).min() for name, number in numbers.items()
    }
    cases = _cases(rows, constant, dict(zip(own, models.values.tolist(), strict=True)))
    answer = _collected(cases.select(cases=nw.col("rows").count(), **asked))
    name_of_row = query.question.column_of_key(query.question.bound.keys[-1])

    def fault(name: str, model: Hashable = None) -> Fault:
        levels, _ = _place_levels(name_of_row, answer[f"{name}_case"], query)
        case = next(iter(levels.values.tolist()), None)
        return Fault(int(answer[name][0].as_py()), case, model)

    return Faults(
        int(answer["cases"][0].as_py()),
        int(answer["no_row"][0].as_py()),
        tuple(map(fault, constant)),
        one_fault([fault(*each) for each in zip(own, models.values.tolist(), strict=True)]),
    )


def _cases(rows: Any, constant: list[str], models: dict[str, Hashable]) -> Any:
    """A line for each case: its rows, those of each model, and both ends of what should be constant."""
    import narwhals.stable.v2 as nw

    own = {name: (nw.col("model") == value).cast(nw.Int64) for name, value in models.items()}
    totals = [nw.len().alias("rows"), *(nw.col(name).sum() for name in own)]
    for field in constant:
        column = nw.col(field)
        totals += [column.min().alias(f"{field}_low"), column.max().alias(f"{field}_high")]
        totals.append(column.count().alias(f"{field}_there"))
    return rows.with_columns(**own).group_by("row", drop_null_keys=False).agg(*totals)


def _is_torn(field: str) -> Any:
    """1 where a case has several values, of which one may be the missing one."""
    import narwhals.stable.v2 as nw

    low, high, there = (nw.col(f"{field}_{end}") for end in ("low", "high", "there"))
    is_torn = (low != high) | ((there > 0) & (there < nw.col("rows")))
    return nw.when(is_torn).then(1).otherwise(0)


def _placed_fields(
    fields: dict[str, Any], answers: Sequence[Any], query: Query
) -> tuple[tuple[Levels, ...], list[Array]]:
    """Levels of each field over all answers that have it, and the codes of each answer's lines."""
    import pyarrow as pa

    levels, codes = [], [list[Array]() for _ in answers]
    for field, name in fields.items():
        held = [at for at, answer in enumerate(answers) if field in answer.column_names]
        whole = pa.concat_tables([answers[at].select([field]) for at in held])
        found, place = _place_levels(name, whole[field], query)
        levels.append(found)
        ends = np.cumsum([answers[at].num_rows for at in held])[:-1]
        for at, part in zip(held, np.split(place, ends), strict=True):
            codes[at].append(part)
    return tuple(levels), [np.column_stack(columns) for columns in codes]


def _place_levels(name: Any, column: Any, query: Query) -> tuple[Levels, Array]:
    """The levels of a column of an answer, and the code of each line, -1 where missing."""
    kind = query.schema[name]
    is_score = query.question.columns.has_scores and name in query.question.bound.predictions
    if hasattr(kind, "categories") and not is_score:  # an Enum declares its order
        held = pd.Categorical(column.to_pylist(), categories=list(kind.categories))
        encoded = encode(pd.Series(held))
    else:
        encoded = arrow_codes(name, join_chunks(column))
    encoded, codes = of_all_rows(encoded, len(column))
    place, levels = codes.astype(np.intp) - encoded.has_missing, encoded.levels()
    if encoded.order is None:  # engines answer in any order, which must not show in a text
        order = order_of(levels)
        place, levels = np.append(np.argsort(order), -1)[place], levels.take(order)
    return Levels(levels, encoded.declared()), place


def _numeric(table: Any, name: str, dtype: Any) -> Array:
    """A column of an answer: engines give numbers of rows and sums in dtypes of their own."""
    return np.asarray(table[name]).astype(dtype)


def _bad_weights(query: Query, table: Any) -> BadWeights:
    """The weights that are none; those of incomplete rows only where these are an error."""
    import narwhals.stable.v2 as nw

    columns, bound = query.question.columns, query.question.bound
    if bound.weights is None:
        return NO_BAD_WEIGHTS
    looked_at = _numeric(table, "complete", np.bool_) | (columns.missing == "raise")
    number = int(_numeric(table, "bad", np.int64)[looked_at].sum())
    if not number:
        return NO_BAD_WEIGHTS
    name: Any = bound.weights[0]
    is_bad = _is_bad(query, name)
    bad = query.held.filter(is_bad if columns.missing == "raise" else is_bad & query.complete)
    bad = bad.select(weight=query.column(name).cast(nw.Float64))
    found = _collected(
        bad.group_by("weight").agg(rows=nw.len()).sort("weight").head(MOST_VALUES)
    ).to_pydict()
    return BadWeights(number, tuple(zip(found["weight"], map(int, found["rows"]), strict=True)))
