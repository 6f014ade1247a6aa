"""What a frame of predictions must be, as a pandera schema, and the faults of one that is not.

Counting notices on its way whether anything is wrong, at no cost; only then does the schema run,
on the distinct values of each column, to name every fault at once.
"""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import InputError, KindError, counted, listed, shown
from pandas_tba.frames.checks import (
    HUGE_WEIGHT,
    MOST_VALUES,
    TINY_WEIGHT,
    BadWeights,
    as_numbers,
    bad_weights,
)
from pandas_tba.frames.codes import encode_labels, normal, of_all_rows
from pandas_tba.frames.columns import Columns, Missing, Roles
from pandas_tba.frames.labels import LabelRules
from pandas_tba.frames.lookup import column_of
from pandas_tba.frames.values import as_python, places_in_order, plain_index

if TYPE_CHECKING:
    from pandera.pandas import Check, Column, DataFrameSchema

FaultError = TypeVar("FaultError", bound=InputError | KindError)


class Distinct(NamedTuple):
    """The different values of a column, in an order that no order of rows shows in, and their rows.

    A missing one is None, and the first.
    """

    values: pd.Series
    rows: npt.NDArray[np.int64]


def schema(
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable | list[Hashable] | None = None,
    model: Hashable | None = None,
    labels: Iterable[Hashable] | None = None,
    abstain: Iterable[Hashable] = (),
    pos_label: Hashable | None = None,
    missing: Missing = "raise",
    y_score: Hashable | list[Hashable] | None = None,
    sample_weight: Hashable | None = None,
) -> DataFrameSchema:
    """Pandera schema of a frame of predictions, for pipelines of your own.

    Parameters
    ----------
    y_true, y_pred, model, labels, abstain, pos_label, missing, y_score, sample_weight
        As in `count`.

    Returns
    -------
    pandera.pandas.DataFrameSchema
        It asks for what `count` asks for: the columns are there; no label, score or weight is
        missing (unless ``missing="drop"``); labels are among the declared ones, of kinds that can
        match, and no scores; weights are finite and not negative. Other columns are free, and no
        dtype is asked for, since labels match by value.

    Raises
    ------
    InputError
        If the arguments do not go together.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> predictions = tba.schema(y_pred="forest", labels=["<=50K", ">50K"])
    >>> len(predictions.validate(tba.load_income()))
    4000
    """
    return schema_of(
        Columns(
            y_true=y_true,
            y_pred=y_pred,
            model=model,
            labels=labels,
            abstain=abstain,
            pos_label=pos_label,
            missing=missing,
            y_score=y_score,
            sample_weight=sample_weight,
        ).roles
    )


def _load_pandera() -> None:
    """Import pandera without the warnings of what it imports itself, such as those of pyspark."""
    absent = {"SPARK_LOCAL_IP", "PYARROW_IGNORE_TIMEZONE"} - os.environ.keys()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pandera.pandas  # noqa: F401
    for name in absent:  # pandera 0.24 sets them, for this process and for those that it starts
        os.environ.pop(name, None)


def schema_of(columns: Roles) -> DataFrameSchema:
    """The schema of bound columns."""
    _load_pandera()
    from pandera.pandas import Check, Column, DataFrameSchema

    rules = columns.rules
    named: dict[Any, Column] = {}

    def add(name: Hashable, checks: list[Check], *, nullable: bool) -> None:
        named[name] = Column(checks=checks, nullable=nullable, name=cast(Any, name))

    may_miss = columns.missing == "drop"
    add(columns.y_true, _label_checks("y_true", rules), nullable=may_miss)
    for name in columns.predictions:
        checks = _label_checks("y_pred", rules)
        if columns.has_scores:
            checks = [_check("number", _is_numeric)]
        add(name, checks, nullable=may_miss)
    if columns.sample_weight is not None:
        checks = [_check("number", _is_numeric), _check("weight", _mark_weights)]
        add(columns.sample_weight, checks, nullable=may_miss)
    if columns.model is not None:
        add(columns.model, [], nullable=True)
    whole = []
    if not columns.has_scores:
        whole = [
            Check(lambda frame: _are_labels(frame, columns), name="scores"),
            Check(lambda frame: _kinds_match(frame, columns), name="kind"),
        ]
    return DataFrameSchema(named, checks=whole, name="predictions")


def _check(name: str, function: Any) -> Check:
    """A pandera check that is called by its name in tables of failures."""
    from pandera.pandas import Check

    return Check(function, name=name, error=name)


def _label_checks(argument: str, rules: LabelRules) -> list[Check]:
    """Checks of one column of labels."""
    checks = [_check("mixed", _is_not_mixed)]
    if rules.labels is not None:
        known = {*rules.labels, *(rules.abstain if argument == "y_pred" else ())}
        checks.append(_check("expected", lambda column: _mark_rows(column, known.__contains__)))
    elif argument == "y_true" and rules.abstain:
        none = {*rules.abstain}
        checks.append(
            _check("expected", lambda column: _mark_rows(column, lambda v: v not in none))
        )
    return checks


# The checks below repeat in plain Python what counting decides on its codes. They share nothing
# with it, so that a test can compare the two.


def _list_values(column: pd.Series) -> list[Any]:
    """Python's own value of every row, None where it is missing; texts if one has no hash."""
    values = [
        None if is_missing or (isinstance(value, float) and math.isnan(value)) else as_python(value)
        for value, is_missing in zip(column.tolist(), column.isna(), strict=True)
    ]
    try:
        set(values)
    except TypeError:
        return [None if value is None else repr(value) for value in values]
    return values


def _list_different(column: pd.Series) -> list[Any]:
    """The different values of a column, missing ones left out; True and 1 are two."""
    if isinstance(column.dtype, (np.dtype, pd.CategoricalDtype)) and column.dtype != object:
        column = column.drop_duplicates()
    found = dict.fromkeys((type(value), value) for value in _list_values(column))
    return [value for _, value in found if value is not None]


def _mark_rows(column: pd.Series, holds: Callable[[Any], bool]) -> pd.Series:
    """Whether each row holds; missing values are another fault."""
    return pd.Series(
        [value is None or holds(value) for value in _list_values(column)], column.index, dtype=bool
    )


def _kind_of_label(value: object) -> str:
    """Kind of a label; labels match within a kind only."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, timedelta):
        return "duration"
    if isinstance(value, (datetime, np.datetime64)):
        return "time" if getattr(value, "tzinfo", None) is None else "time with zone"
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, (Real, Decimal)) else type(value).__name__


def _is_not_mixed(column: pd.Series) -> bool:
    """Whether no object column holds booleans beside numbers."""
    return column.dtype != object or not {"boolean", "number"} <= set(
        map(_kind_of_label, _list_different(column))
    )


def _is_numeric(column: pd.Series) -> bool:
    """Whether a column holds numbers that a float can hold."""
    dtype = column.cat.categories.dtype if hasattr(column, "cat") else column.dtype
    if not pd.api.types.is_object_dtype(dtype):
        of = pd.api.types
        return of.is_numeric_dtype(dtype) and not of.is_bool_dtype(dtype) and dtype.kind != "c"
    values = _list_different(column)
    try:
        return all(
            _kind_of_label(value) == "number" and float(value) is not None for value in values
        )
    except OverflowError:  # an integer of hundreds of digits
        return False


def _mark_weights(column: pd.Series) -> Any:
    """Whether each row is 0, or between numbers whose squares are numbers."""
    if not _is_numeric(column):
        return True  # that is another fault
    return _mark_rows(column, lambda weight: weight == 0 or TINY_WEIGHT < weight < HUGE_WEIGHT)


def _are_labels(frame: pd.DataFrame, columns: Roles) -> bool:
    """Whether no prediction has fractions while y_true has none."""
    fractions = [_holds_fractions(frame[name]) for name in columns.predictions]
    return not any(fractions) or _holds_fractions(frame[columns.y_true])


def _holds_fractions(column: pd.Series) -> bool:
    """Whether a number with a fraction occurs, or is a category."""
    values = column.cat.categories.tolist() if hasattr(column, "cat") else _list_different(column)
    return any(
        _kind_of_label(value) == "number"
        and not isinstance(value, Integral)
        and math.isfinite(value)
        and value % 1 != 0
        for value in values
    )


def _kinds_match(frame: pd.DataFrame, columns: Roles) -> bool:
    """Whether labels of all columns are of kinds that match those of y_true, or the declared ones."""
    rules = columns.rules
    held = {name: _list_different(frame[name]) for name in (columns.y_true, *columns.predictions)}
    reference = held[columns.y_true] if rules.labels is None else rules.labels
    others = [
        [value for value in values if value not in rules.abstain]
        for name, values in held.items()
        if rules.labels is not None or name != columns.y_true
    ]
    if not all(_kinds_agree(reference, other) for other in others):
        return False
    values = [value for values in held.values() for value in values if value not in rules.abstain]
    return rules.labels is not None or not _look_alike(values)


def _kinds_agree(reference: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether others are of kinds of the reference; booleans match 0 and 1."""
    known, kinds = set(map(_kind_of_label, reference)), set(map(_kind_of_label, others))
    if known | kinds == {"boolean", "number"} and known != kinds:
        return all(value in (0, 1) for value in (*reference, *others))
    return not known or kinds <= known


def _look_alike(values: Iterable[Any]) -> bool:
    """Whether values of two kinds are written alike, such as 1 and '1'."""
    kinds: dict[Any, set[str]] = {}
    for value in values:
        kinds.setdefault(_guess_type(value), set()).add(_kind_of_label(value))
    return any(len(found) > 1 for found in kinds.values())


def _guess_type(value: Any) -> tuple[str, Any]:
    """Kind and value that a reader would guess for what is written."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return "time", datetime(value.year, value.month, value.day)
    if not isinstance(value, str):
        return _kind_of_label(value).removesuffix(" with zone"), value
    if value.strip().lower() in ("true", "false"):
        return "boolean", value.strip().lower() == "true"
    for kind, read in (("number", int), ("number", float), ("time", datetime.fromisoformat)):
        try:
            return kind, read(value)
        except ValueError:
            continue
    return "text", value


def faults_of(frame: pd.DataFrame, columns: Roles) -> pd.DataFrame:
    """Every fault of a frame in the bound columns: column, check, failure_case, rows."""
    names = dict.fromkeys([columns.y_true, *columns.predictions])
    if columns.sample_weight is not None:
        names[columns.sample_weight] = None
    held = {name: normal(column_of(frame, "schema", name)) for name in names}
    if columns.missing == "drop":
        complete = np.logical_and.reduce([column.notna() for column in held.values()])
        held = {name: column[complete] for name, column in held.items()}
    labelled = [columns.y_true, *(columns.predictions if not columns.has_scores else [])]
    return faults_among(
        {
            name: _labels_of_column(column) if name in labelled else _numbers_of_column(column)
            for name, column in held.items()
        },
        columns,
    )


def _labels_of_column(column: pd.Series) -> Distinct:
    """The different labels of a column, with their rows."""
    try:
        encoded = encode_labels(column)
    except KindError:  # what cannot be hashed, by its text
        encoded = encode_labels(pd.Series([*map(repr, column)], dtype=object))
    encoded, codes = of_all_rows(encoded, len(column))
    rows = np.bincount(codes.astype(np.intp), minlength=encoded.size)
    n_missing = int(rows[0]) if encoded.has_missing else 0
    rows = rows[encoded.has_missing :]
    values = encoded.values(np.flatnonzero(rows))
    return distinct_labels(values, rows[rows > 0], n_missing, encoded.declared())


def _numbers_of_column(column: pd.Series) -> Distinct:
    """What a column of scores or weights holds."""
    n_missing = int(column.isna().sum())
    try:
        bad = bad_weights(as_numbers("sample_weight", column.name, column))
    except KindError:
        bad = None
    return distinct_numbers(len(column), n_missing, bad)


def distinct_labels(
    values: Sequence[Hashable],
    rows: npt.NDArray[Any],
    n_missing: int,
    declared: tuple[Hashable, ...] | None,
) -> Distinct:
    """The labels that occur in a column; declared ones are categories."""
    order = places_in_order(values)
    return _make_distinct(
        [None, *(values[at] for at in order)],
        [n_missing, *rows[order].tolist()],
        object if declared is None else pd.CategoricalDtype(plain_index(declared)),
    )


def distinct_numbers(n_rows: int, n_missing: int, bad: BadWeights | None) -> Distinct:
    """What a column of scores or weights holds, good numbers as one; no numbers where bad is None."""
    if bad is None:  # by its dtype, even without rows
        return _make_distinct([None, True], [n_missing, n_rows - n_missing], "boolean")
    good = n_rows - n_missing - bad.n_rows
    values, rows = zip((None, n_missing), *bad.values, (1.0, good), strict=True)
    return _make_distinct(values, rows, object)


def _make_distinct(values: Sequence[Any], rows: Sequence[int], dtype: Any) -> Distinct:
    """Values that occur, with their rows."""
    held = pd.Series(values, dtype=object).astype(dtype)
    number = np.array(rows, dtype=np.int64)
    return Distinct(held[number > 0].reset_index(drop=True), number[number > 0])


def faults_among(held: dict[Hashable, Distinct], columns: Roles) -> pd.DataFrame:
    """Every fault of columns of which only the different values are known, empty without any.

    Of a column with very many values only those of most rows are looked at, faulty ones first.
    """
    rules = columns.rules
    n_rows = max(int(column.rows.sum()) for column in held.values())
    held = {name: _kept(column, rules) for name, column in held.items()}
    # pandera cannot write every name into its table, and has one of its own for the whole frame
    numbers = {name: str(at) for at, name in enumerate(held)}
    few = {numbers[name]: _writable(column.values) for name, column in held.items()}
    failures = failures_of(schema_of(_rename_roles(columns, numbers)), _side_by_side(few))
    if failures is None:
        return pd.DataFrame(columns=["column", "check", "failure_case", "rows"])
    rows = {numbers[name]: column.rows for name, column in held.items()}
    return _with_rows(failures, rows, list(held), n_rows)


def _rename_roles(columns: Roles, names: Mapping[Hashable, str]) -> Roles:
    """The same question of columns of other names, models apart."""
    weights = None if columns.sample_weight is None else names[columns.sample_weight]
    return replace(
        columns,
        y_true=names[columns.y_true],
        predictions=tuple(names[name] for name in columns.predictions),
        sample_weight=weights,
        model=None,
    )


def _kept(column: Distinct, rules: LabelRules) -> Distinct:
    """The values to look at: those that are likely faults, then those of most rows."""
    values, rows = column
    if len(values) <= MOST_VALUES:
        return column
    known = {*(rules.labels or ()), *rules.abstain}
    held = values.tolist()
    is_fault = ~pd.Series([*map(type, held)], dtype=object).duplicated().to_numpy()
    if rules.labels is not None:
        is_fault |= np.array([value not in known for value in held])
    kept = np.sort(np.lexsort((-rows, ~is_fault))[:MOST_VALUES])
    return Distinct(values.iloc[kept].reset_index(drop=True), rows[kept])


class _Escaped(str):
    """Text that is written by its code, as pandera writes out whatever fails a check."""

    __slots__ = ()

    def __str__(self) -> str:
        return ascii(self)


def _writable(column: pd.Series) -> pd.Series:
    """The same values; with a lone surrogate they can be written, too."""
    held = column.tolist()
    if all(value.isascii() for value in held if isinstance(value, str)):
        return column
    escaped = [_Escaped(value) if isinstance(value, str) else value for value in held]
    return pd.Series(escaped, index=column.index, dtype=object)


def _side_by_side(few: dict[str, pd.Series]) -> pd.DataFrame:
    """One frame of columns of several lengths; shorter ones repeat their first value."""
    longest = max(map(len, few.values()), default=0)
    at = np.arange(longest)
    padded = [
        column.iloc[np.where(at < len(column), at, 0)].reset_index(drop=True).rename(None)
        for column in few.values()
    ]
    return pd.concat(padded, axis=1).set_axis(list(few), axis=1)


def failures_of(asked: Any, frame: pd.DataFrame) -> pd.DataFrame | None:
    """Failure cases of a pandera schema, whatever the environment says of pandera; or None.

    The frame must be one that nobody else holds: pandera leaves a mark on it.
    """
    _load_pandera()
    from pandera.config import ValidationDepth, config_context
    from pandera.errors import SchemaError, SchemaErrors

    with config_context(True, ValidationDepth.SCHEMA_AND_DATA), warnings.catch_warnings():
        # pandas 2 warns of how pandera joins its tables of failures
        warnings.filterwarnings("ignore", ".*concatenation with empty", FutureWarning)
        # pandera imports pyspark, if that is installed, when it first validates a frame
        warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
        try:
            asked.validate(frame, lazy=True, inplace=True)
        except (SchemaErrors, SchemaError) as errors:
            cases: pd.DataFrame = errors.failure_cases
            return cases
    return None


def _with_rows(
    failures: pd.DataFrame, rows: dict[str, Any], names: list[Hashable], n_rows: int
) -> pd.DataFrame:
    """The same faults as lines of column, check, failure_case and rows, none of them twice."""
    lines: dict[tuple[int, int, int], tuple[Any, ...]] = {}  # by column, check and value
    for column, check, case, index in failures[
        ["column", "check", "failure_case", "index"]
    ].to_numpy():
        found = rows.get(column)  # a check of the whole frame bears the name of the schema
        at = -1 if found is None or pd.isna(index) else int(index)
        if found is not None and at >= len(found):
            continue  # a value that was repeated to fill the column
        said = "missing" if check == "not_nullable" else check
        held = str.__str__(case) if isinstance(case, _Escaped) else case
        line: tuple[Any, ...] = (None, said, None, None)
        if found is not None:
            total = n_rows if at < 0 else int(found[at])
            line = (names[int(column)], said, None if said == "missing" else held, total)
        lines[-1 if found is None else int(column), _CHECKS.get(said, -1), at] = line
    ordered = [lines[place] for place in sorted(lines)]
    table = pd.DataFrame(ordered, columns=["column", "check", "failure_case", "rows"], dtype=object)
    return table.astype({"rows": "Int64"})


def check_faults(frame: pd.DataFrame, columns: Roles) -> None:
    """Raise InputError where the schema finds a fault."""
    cases = faults_of(frame, columns)
    if len(cases):
        raise _with_cases(
            InputError(f"{'; '.join(_describe_faults(cases))}.", check="schema"), cases
        )


def _with_cases(error: FaultError, cases: pd.DataFrame) -> FaultError:
    """The error, with its table of faults."""
    error.failure_cases = cases
    return error


def with_all_faults(error: FaultError, cases: pd.DataFrame) -> FaultError:
    """The error with every other fault in its text, and all of them as a table."""
    # labels of another kind are all unexpected: to say so again would not help
    said = [error.check, *(["expected"] if error.check == "kind" else [])]
    others = cases[~cases["check"].isin(said)]
    text = str(error)
    if len(others):
        text += f" Also: {'; '.join(_describe_faults(others))}."
    return _with_cases(type(error)(text, check=error.check), cases)


_SAYS = {
    "missing": "a value is missing",
    "expected": "labels are not among those expected",
    "weight": "weights are negative or not finite",
    "number": "values are no numbers",
    "mixed": "booleans stand beside numbers",
    "scores": "predictions are scores, not labels",
    "kind": "true and predicted labels are of different kinds",
}
_CHECKS = {check: at for at, check in enumerate(_SAYS)}  # their order


def _describe_faults(cases: pd.DataFrame) -> list[str]:
    """One short line for each column and check."""
    lines = []
    columns = cases["column"].map(repr)  # text that pandas can group, whatever the names are
    for (_, check), found in cases.groupby([columns, "check"], sort=False, dropna=False):
        says = _SAYS.get(str(check), f"fails {check}")
        if found["rows"].isna().all():
            lines.append(says)
            continue
        worst = found.sort_values("rows", ascending=False, kind="stable")["failure_case"]
        examples = f", such as {listed(worst, 3)}" if check in ("expected", "weight") else ""
        lines.append(
            f"{shown(found['column'].iloc[0])}: {says} ({counted(int(found['rows'].sum()), 'row')}){examples}"
        )
    more = len(lines) - 5
    return [*lines[:5], f"and {counted(more, 'more fault')}"] if more > 0 else lines


def check_schema(frame: pd.DataFrame, columns: Roles) -> None:
    """Run a schema of the user's on the bound columns, and on others that it names."""
    asked = columns.schema
    if isinstance(asked, type) and hasattr(asked, "to_schema"):
        asked = asked.to_schema()
    if not hasattr(asked, "validate") or not hasattr(asked, "columns"):
        raise KindError(
            f"`schema` must be a pandera DataFrameSchema or DataFrameModel; got {shown(asked)}. "
            "tba.schema(...) makes one."
        )
    bound = [columns.y_true, *columns.predictions, columns.model, columns.sample_weight]
    wanted = dict.fromkeys(name for name in bound if name is not None)
    wanted.update(dict.fromkeys(name for name in asked.columns if name in frame.columns))
    try:
        failures = failures_of(asked, frame[list(wanted)])
    except UnicodeEncodeError as fault:
        raise InputError(
            f"pandera cannot say whether the frame meets `schema`: {fault}. Rename the column, or "
            "replace the text."
        ) from None
    if failures is None:
        return
    cases = failures.groupby(["column", "check"], sort=False, dropna=False)
    lines = [
        f"{shown(column)} fails {check} ({counted(len(found), 'case')}, such as "
        f"{listed(found['failure_case'], 3)})"
        for (column, check), found in cases
    ]
    more = f"; and {counted(len(lines) - 5, 'more fault')}" if len(lines) > 5 else ""
    error = InputError(
        f"The frame does not meet `schema`: {'; '.join(lines[:5])}{more}. Nothing was counted; "
        "failure_cases of this error lists all.",
        check="schema",
    )
    raise _with_cases(error, failures)
