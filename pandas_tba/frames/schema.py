"""What a frame of predictions must be, as a pandera schema, and the faults of one that is not.

Counting notices on its way whether anything is wrong, at no cost; only then does the schema run,
on the distinct values of each column, to name every fault at once.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import InputError, KindError, counted, listed, shown
from pandas_tba.frames.checks import (
    MOST_VALUES,
    BadWeights,
    as_numbers,
    bad_weights,
    check_not_mixed,
    check_not_scores,
    is_weight,
)
from pandas_tba.frames.codes import encode_labels, normal, of_all_rows
from pandas_tba.frames.columns import Columns, Missing, Roles
from pandas_tba.frames.labels import LabelRules, Observed, check_kinds
from pandas_tba.frames.lookup import column_of
from pandas_tba.frames.values import factorized, is_missing, places_in_order, plain_index

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
    add(columns.y_true, _label_checks("y_true", columns.y_true, rules), nullable=may_miss)
    for name in columns.predictions:
        checks = _label_checks("y_pred", name, rules)
        if columns.has_scores:
            checks = [_check("number", _are_numbers)]
        add(name, checks, nullable=may_miss)
    if columns.sample_weight is not None:
        checks = [_check("number", _are_numbers), _check("weight", _are_weights)]
        add(columns.sample_weight, checks, nullable=may_miss)
    if columns.model is not None:
        add(columns.model, [], nullable=True)
    whole = []
    if not columns.has_scores:
        whole = [
            Check(lambda frame: not _fault(_scores, frame, columns), name="scores"),
            Check(lambda frame: not _fault(_kinds, frame, columns, rules), name="kind"),
        ]
    return DataFrameSchema(named, checks=whole, name="predictions")


def _check(name: str, function: Any) -> Check:
    from pandera.pandas import Check

    return Check(function, name=name, error=name)


def _label_checks(argument: str, name: Hashable, rules: LabelRules) -> list[Check]:
    known = set(rules.labels or ())
    if argument == "y_pred":
        known.update(rules.abstain)

    def is_expected(value: Hashable) -> bool:
        return value in known if rules.labels is not None else value not in rules.abstain

    checks = [
        _check("mixed", lambda column: not _fault(check_not_mixed, argument, name, column)),
    ]
    if rules.labels is not None or (argument == "y_true" and rules.abstain):
        checks.append(_check("expected", lambda column: _by_value(column, is_expected)))
    return checks


def _by_value(column: pd.Series, holds: Any) -> pd.Series:
    """Whether each row holds, asked once for each value."""
    codes, values = _factorized(column)
    held = np.array([is_missing(value) or holds(value) for value in values], dtype=np.bool_)
    return pd.Series(held[codes], index=column.index)


def _factorized(column: pd.Series) -> tuple[npt.NDArray[np.intp], list[Any]]:
    """Codes and values of a column, missing ones too; texts in place of what cannot be hashed."""
    try:
        codes, found = factorized(normal(column))
    except (TypeError, NotImplementedError):
        codes, found = factorized(pd.Series([*map(repr, column)], dtype=object))
    values = [*found.tolist(), None]  # where code -1 points
    return np.where(codes < 0, len(values) - 1, codes), values


def _are_numbers(column: pd.Series) -> bool:
    return not _fault(as_numbers, "sample_weight", column.name, column)


def _are_weights(column: pd.Series) -> Any:
    if not _are_numbers(column):
        return True  # that is another fault
    weights = as_numbers("sample_weight", column.name, column)
    return pd.Series(is_weight(weights), index=column.index)


def _scores(frame: pd.DataFrame, columns: Roles) -> None:
    predictions = {name: frame[name] for name in columns.predictions}
    check_not_scores(columns, frame[columns.y_true], predictions)


def _kinds(frame: pd.DataFrame, columns: Roles, rules: LabelRules) -> None:
    truth, *predictions = (
        Observed(name, _factorized(frame[name].dropna())[1][:-1], ())
        for name in (columns.y_true, *columns.predictions)
    )
    check_kinds(rules, truth, predictions)


def _fault(check: Any, *arguments: Any) -> str:
    """Text of the error that a check raises, or nothing."""
    try:
        check(*arguments)
    except (InputError, KindError) as error:
        return str(error)
    return ""


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
            name: _labels(column) if name in labelled else _numbers(column)
            for name, column in held.items()
        },
        columns,
    )


def _labels(column: pd.Series) -> Distinct:
    try:
        slots = encode_labels(column)
    except KindError:  # what cannot be hashed, by its text
        slots = encode_labels(pd.Series([*map(repr, column)], dtype=object))
    slots, codes = of_all_rows(slots, len(column))
    rows = np.bincount(codes.astype(np.intp), minlength=slots.size)
    n_missing = int(rows[0]) if slots.has_missing else 0
    rows = rows[slots.has_missing :]
    values = slots.values(np.flatnonzero(rows))
    return distinct_labels(values, rows[rows > 0], n_missing, slots.declared())


def _numbers(column: pd.Series) -> Distinct:
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
    return _distinct(
        [None, *(values[at] for at in order)],
        [n_missing, *rows[order].tolist()],
        object if declared is None else pd.CategoricalDtype(plain_index(declared)),
    )


def distinct_numbers(n_rows: int, n_missing: int, bad: BadWeights | None) -> Distinct:
    """What a column of scores or weights holds, good numbers as one; no numbers where bad is None."""
    if bad is None:  # by its dtype, even without rows
        return _distinct([None, True], [n_missing, n_rows - n_missing], "boolean")
    good = n_rows - n_missing - bad.n_rows
    values, rows = zip((None, n_missing), *bad.values, (1.0, good), strict=True)
    return _distinct(values, rows, object)


def _distinct(values: Sequence[Any], rows: Sequence[int], dtype: Any) -> Distinct:
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
    failures = failures_of(schema_of(_renamed(columns, numbers)), _side_by_side(few))
    if failures is None:
        return pd.DataFrame(columns=["column", "check", "failure_case", "rows"])
    rows = {numbers[name]: column.rows for name, column in held.items()}
    return _with_rows(failures, rows, list(held), n_rows)


def _renamed(columns: Roles, names: Mapping[Hashable, str]) -> Roles:
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
    """The same values; with half a character they can be written, too."""
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
        raise _with_cases(InputError(f"{'; '.join(_lines(cases))}.", check="schema"), cases)


def _with_cases(error: FaultError, cases: pd.DataFrame) -> FaultError:
    error.failure_cases = cases
    return error


def with_all_faults(error: FaultError, cases: pd.DataFrame) -> FaultError:
    """The error with every other fault in its text, and all of them as a table."""
    # labels of another kind are all unexpected: to say so again would not help
    said = [error.check, *(["expected"] if error.check == "kind" else [])]
    others = cases[~cases["check"].isin(said)]
    text = str(error)
    if len(others):
        text += f" Also: {'; '.join(_lines(others))}."
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


def _lines(cases: pd.DataFrame) -> list[str]:
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
