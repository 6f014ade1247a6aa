"""Two models on the same rows of a pandas frame -> PairedCounts."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.groups import Groups, grouped_keys
from pandas_tba.counts.paired import JointCells, PairedCounts, joined_cells, no_cells
from pandas_tba.counts.storage import ROWS, Cells
from pandas_tba.engines.kernel import PairCodes, Tally, tally
from pandas_tba.engines.pandas_frames import complete_rows, label_places
from pandas_tba.errors import InputError, counted, listed, shown
from pandas_tba.frames.checks import weight_values
from pandas_tba.frames.codes import ColumnCodes, StoredCodes, encode, narrowest, normal
from pandas_tba.frames.columns import Columns, Roles
from pandas_tba.frames.labels import LabelSet
from pandas_tba.frames.lookup import Bound, check_frame, column_of, warn_many_numbers
from pandas_tba.frames.values import (
    as_python,
    factorized,
    in_order,
    order_of,
    plain_index,
    positions,
)

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_PAIR = ("model_a", "model_b")


def pair_frame(
    frame: pd.DataFrame,
    columns: Columns,
    *,
    row: Hashable | None = None,
    by: Any = None,
    dropna: bool = False,
    observed: bool = True,
) -> PairedCounts:
    """Counts of the frame's cases by pair of models, keys, true label and both predictions."""
    roles = columns.roles
    check_models(roles, row)
    if row is not None:
        by = with_row(by, column_of(check_frame(frame), "row", row))
    bound, encoded, _ = complete_rows(frame, roles, by)
    check_keys(bound)
    if bound.weights is not None:
        bound = bound._replace(weights=(bound.weights[0], weight_values(*bound.weights)))
    found, encoded = tally([], encoded[0], encoded[1:], bound.n_rows)
    labels, true_at, predicted_at = label_places(bound, found, encoded, roles)
    at = [true_at, *predicted_at]
    n_labels = len(labels.values)
    coded = [_coded(*each, n_labels, bound.n_rows) for each in zip(encoded, at, strict=True)]
    if row is None:
        cases = _Cases(bound, models_in_columns(roles), coded)
    else:
        cases = _long_cases(bound, roles, coded)
    return _paired(cases, labels, len(frame) - bound.n_rows, dropna=dropna, observed=observed)


def with_row(by: Any, row: Any) -> Any:
    """Keys with one more that says which rows are a case; an empty list is none, and an error later."""
    keys = by if isinstance(by, list) else [] if by is None else [by]
    return [*keys, row] if keys or by is None else by


def check_models(columns: Roles, row: Hashable | None) -> None:
    """InputError unless the arguments name two models, and rows that can be paired."""
    if columns.model is None and len(columns.predictions) < 2:
        argument = columns.argument
        raise InputError(
            f"Comparing needs two models; `{argument}` names {listed(columns.predictions)}. Models "
            f"in columns: df.tba({argument}=['logit', 'forest']). Models in rows: "
            "df.tba(model='model', row='case_id')."
        )
    if columns.model is not None and row is None:
        raise InputError(
            "`row` must name the column that says which rows are the same case, so that models "
            f"can be paired: df.tba(y_true={columns.y_true!r}, y_pred={columns.predictions[0]!r}, "
            f"model={columns.model!r}, row='case_id')."
        )
    if columns.model is None and row is not None:
        raise InputError(
            f"`row` ({shown(row)}) pairs models in rows and needs `model`; models in columns "
            "are paired as they stand. Leave `row` out, or name the column with model=."
        )


def check_keys(bound: Bound) -> None:
    """InputError for a key that has the name of a level of the result."""
    hit = [key.name for key in bound.keys if key.name in _PAIR]
    if hit:
        raise InputError(
            f"`by`: the key {shown(hit[0])} has the name of a level of the result. Rename it, as "
            f"in by=df[{shown(hit[0])}].rename('group')."
        )


class Models(NamedTuple):
    """The models in order, and whether that is an order declared."""

    values: pd.Index
    is_declared: bool

    def places(self, found: pd.Index) -> Codes:
        """Where models that were found stand."""
        return positions(found.tolist(), self.values.tolist())


class _Coded(NamedTuple):
    """A column of labels: the code of each row, and where the codes stand in the label set.

    The place -1 is that of the code of cases that a model has not scored.
    """

    codes: Array
    place: Codes

    def encoded(self) -> ColumnCodes:
        """The codes as codes of so many levels."""
        return StoredCodes(self.codes, range(len(self.place)), has_missing=False)


class _Cases(NamedTuple):
    """N cases with keys and weights, and the columns of their labels: truth, then each model."""

    bound: Bound
    models: Models
    labels: list[_Coded]


def _coded(encoded: ColumnCodes, place: Codes, n_labels: int, n_rows: int) -> _Coded:
    """The labels of all rows; codes far more than the labels would make the tables too large."""
    codes = encoded.block(0, n_rows)
    if encoded.size <= n_labels:
        return _Coded(codes.astype(narrowest(n_labels), copy=False), place)
    return _Coded(place.astype(narrowest(n_labels))[codes], np.arange(n_labels))


def models_in_columns(columns: Roles) -> Models:
    """The models that columns of predictions stand for."""
    return Models(plain_index(columns.predictions), is_declared=True)


def models_in_rows(values: list[Hashable], declared: tuple[Hashable, ...] | None) -> Models:
    """The models that occur in a column, in the order that it declares, else sorted."""
    levels = plain_index([*map(as_python, values)])
    order = order_of(levels) if declared is None else np.argsort(positions(levels, declared))
    return Models(levels.take(order), declared is not None)


def _long_cases(bound: Bound, columns: Roles, labels: list[_Coded]) -> _Cases:
    """Rows put beside each other: one case for each value of the last key, which `row` names."""
    (truth, predicted), (model, *keys, row) = labels, bound.keys
    (scorer, found), (case, _) = numbered_values(model.values), numbered_values(row.values)
    for argument, column, codes in (("model", columns.model, scorer), ("row", row.name, case)):
        check_complete(argument, column, int((codes < 0).sum()), bound.n_rows)
    models = models_in_rows(found.tolist(), encode(model.values).declared())
    pivot = Pivot.of(row.values, case, models.places(found)[scorer])
    constant = [truth.codes, *(key.values for key in keys)]
    constant += [] if bound.weights is None else [bound.weights[1]]
    check_cases(pivot.faults(constant, models), row.name, models, bound.n_rows, len(keys))
    unscored = len(predicted.place)
    codes = predicted.codes.astype(narrowest(unscored + 1), copy=False)
    place = np.append(predicted.place, -1)
    of_models = pivot.table(codes, len(models.values), unscored)
    return _Cases(
        bound._replace(keys=keys).at(pivot.is_first),
        models,
        [truth._replace(codes=truth.codes[pivot.is_first])]
        + [_Coded(held, place) for held in of_models],
    )


def numbered_values(values: Any) -> tuple[Codes, pd.Index]:
    """The values that occur, and the number of each row's value among them, -1 where it is missing."""
    try:
        codes, found = factorized(normal(values))
    except (TypeError, NotImplementedError):
        encode(values)  # says what is no key
        raise
    return codes, pd.Index(found, dtype=found.dtype, tupleize_cols=False)


class Fault(NamedTuple):
    """A number of cases or rows that cannot be used, and the smallest of the cases with its model."""

    number: int = 0
    case: Hashable = None
    model: Hashable = None


class Faults(NamedTuple):
    """What keeps rows from being put beside each other.

    ``no_row`` rows do not say which case they are about, ``differing`` are cases in which y_true,
    a key, or the weight has several values, ``repeated`` are rows of a model beyond one for each case.
    """

    n_cases: int = 0
    no_row: int = 0
    differing: tuple[Fault, ...] = (Fault(),)
    repeated: Fault = Fault()


def faults_together(parts: Sequence[Faults]) -> Faults:
    """What is wrong with the rows of several parts, of which none shares a case with another."""
    return Faults(
        sum(part.n_cases for part in parts),
        sum(part.no_row for part in parts),
        tuple(map(one_fault, zip(*(part.differing for part in parts), strict=True))),
        one_fault([part.repeated for part in parts]),
    )


def one_fault(faults: Sequence[Fault]) -> Fault:
    """The faults as one; of those with the same case the first is the example."""
    found = {fault.case: fault for fault in reversed(faults) if fault.number}
    if not found:
        return Fault()
    number = sum(fault.number for fault in faults)
    return found[in_order(found)[0]]._replace(number=number)


class Pivot(NamedTuple):
    """Rows of models beside each other: the case and the model of each row (N,), all known."""

    row: pd.Series
    case: Codes
    scorer: Codes
    is_first: Mask

    @classmethod
    def of(cls, row: pd.Series, case: Codes, scorer: Codes) -> Pivot:
        """Cases are numbered in the order of their first rows."""
        return cls(row, case, scorer, ~pd.Series(case).duplicated().to_numpy())

    def table(self, values: Array, n_models: int, absent: int) -> Array:
        """The value of each model in each case (M, C)."""
        held = np.full((n_models, int(self.is_first.sum())), absent, dtype=values.dtype)
        held[self.scorer, self.case] = values
        return held

    def faults(self, constant: Sequence[Any], models: Models) -> Faults:
        """What is wrong; the columns that are constant within a case: y_true, the keys, the weight."""
        first = np.flatnonzero(self.is_first)
        differing = []
        for values in constant:
            codes, _ = numbered_values(values)
            cases = np.unique(self.case[codes != codes[first[self.case]]])
            differing.append(self._fault(first[cases], models))
        repeats = pd.Series(self.scorer * len(first) + self.case).duplicated().to_numpy()
        return Faults(len(first), 0, tuple(differing), self._fault(np.flatnonzero(repeats), models))

    def _fault(self, rows: Codes, models: Models) -> Fault:
        """The fault that these rows have."""
        if not len(rows):
            return Fault()
        values = self.row.iloc[rows].tolist()
        smallest = in_order(values)[0]
        among = self.scorer[rows][self.case[rows] == self.case[rows[values.index(smallest)]]]
        return Fault(len(rows), smallest, models.values[[among.min()]].tolist()[0])


def check_complete(argument: str, name: Hashable, missing: int, n_rows: int) -> None:
    """InputError where rows do not say which model or case they are about."""
    if missing:
        raise InputError(
            f"`{argument}` column {shown(name)} is missing in {missing:,} of "
            f"{counted(n_rows, 'row')}; leave these rows out, or fill them in."
        )


def check_cases(faults: Faults, row: Hashable, models: Models, n_rows: int, n_keys: int) -> None:
    """InputError where rows of one case cannot be paired."""
    arguments = ["y_true", *["by"] * n_keys, "sample_weight"]
    for argument, fault in zip(arguments, faults.differing, strict=False):
        if fault.number:
            raise InputError(
                f"`{argument}` must have one value in all rows of a case; it differs within "
                f"{fault.number:,} of {counted(faults.n_cases, 'case')}, such as "
                f"{shown(row)} {shown(fault.case)}."
            )
    if len(models.values) == 1:
        only = models.values.tolist()[0]
        raise InputError(f"Comparing needs two models; `model` holds only {shown(only)}.")
    fault = faults.repeated
    if fault.number:
        raise InputError(
            f"A model may score a case once; {counted(fault.number, 'row')} of "
            f"{n_rows:,} repeat one, such as {shown(row)} {shown(fault.case)} by "
            f"{shown(fault.model)}. Does `row` name the right column? If so, leave the "
            "repeats out."
        )


def _paired(
    cases: _Cases, labels: LabelSet, n_missing: int, *, dropna: bool, observed: bool
) -> PairedCounts:
    """Count the labels of each two models by group and true label."""
    bound, (truth, *predicted) = cases.bound, [column.encoded() for column in cases.labels]
    # without rows there may be no models: count no pair then
    of_models = predicted or [truth, truth]
    pairs = [PairCodes(pair, bound.n_rows) for pair in itertools.combinations(of_models, 2)]
    weights = None if bound.weights is None else bound.weights[1]
    keys = [encode(key.values) for key in bound.keys]
    found, encoded = tally(keys, truth, pairs, bound.n_rows, weights)
    places = [column.place for column in cases.labels]
    return counts_of_pairs(
        bound,
        found,
        encoded,
        cases.models,
        labels,
        places,
        n_missing,
        dropna=dropna,
        observed=observed,
    )


def counts_of_pairs(
    bound: Bound,
    found: Tally,
    encoded: Sequence[ColumnCodes],
    models: Models,
    labels: LabelSet,
    places: Sequence[Codes],
    n_missing: int,
    *,
    dropna: bool,
    observed: bool,
) -> PairedCounts:
    """Counts of cases by keys, true label and the labels that each two models predicted.

    ``places`` say where the codes of truth and of each model stand in the label set, -1 where the
    model has not scored the case; the codes of a pair are those of both, the second running faster.
    """
    keys = encoded[: len(bound.keys)]
    for key, part in zip(bound.keys, keys, strict=True):
        warn_many_numbers(key, part)
    groups, place = grouped_keys(
        [key.name for key in bound.keys],
        found.groups,
        keys,
        has_model=False,
        dropna=dropna,
        observed=observed,
    )
    pairs = list(itertools.combinations(range(len(models.values)), 2))
    n_groups, n_labels = len(pairs) * len(groups), len(labels.values)
    unpaired = np.zeros(n_groups, dtype=np.int64)
    (truth, *fused), (true_at, *predicted_at) = encoded[len(keys) :], places
    parts = [no_cells(found.tables[0])]  # without rows there may be no pair
    for at, (pair, table) in enumerate(zip(pairs, found.tables, strict=False)):
        stand = [true_at, *(predicted_at[model] for model in pair)]
        joint = _joint_cells(table, [truth, fused[at]], stand)
        joint = joint.among(place[joint.group] >= 0)
        joint = joint._replace(group=place[joint.group] + at * len(groups))
        scored = (joint.first >= 0) + 1 * (joint.second >= 0)
        only_one = joint.among(scored == 1)
        np.add.at(unpaired, only_one.group, only_one.quantities[ROWS])
        parts.append(joint.among(scored == 2))
    return PairedCounts(
        joined_cells(parts).gather(n_groups, n_labels),
        unpaired,
        labels,
        _with_pairs(groups, models, pairs),
        n_missing,
    )


def _joint_cells(
    table: Cells, encoded: Sequence[ColumnCodes], places: Sequence[Codes]
) -> JointCells:
    """The cells of a table that hold rows, their labels by place; groups stay as they are."""
    (truth, pair), (true_at, first_at, second_at) = encoded, places
    group, at_truth, at_pair, quantities = table.entries()
    codes = np.asarray(pair.levels().take(at_pair), dtype=np.intp)
    first, second = np.divmod(codes, max(len(second_at), 1))
    true = true_at[np.asarray(truth.levels().take(at_truth), dtype=np.intp)]
    return JointCells(group, true, first_at[first], second_at[second], quantities)


def _with_pairs(groups: Groups, models: Models, pairs: list[tuple[int, int]]) -> Groups:
    """The groups once for each pair, its two models in front."""
    codes = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return replace(
        groups,
        names=(*_PAIR, *groups.names),
        levels=(models.values, models.values, *groups.levels),
        codes=np.column_stack(
            [np.repeat(codes, len(groups), axis=0), np.tile(groups.codes, (len(pairs), 1))]
        ),
        declared=(models.is_declared, models.is_declared, *groups.declared),
    )
