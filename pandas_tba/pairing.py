"""Two models on the same rows: how many rows both get right, one of them, or none."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.cells import ROWS
from pandas_tba.columns import Columns
from pandas_tba.counting import Bound, complete_rows, grouped_keys, label_places
from pandas_tba.encoding import Slots, StoredSlots, encode, narrowest, normal
from pandas_tba.errors import InputError, counted, listed, shown
from pandas_tba.grouping import warn_many_numbers
from pandas_tba.groups import Groups
from pandas_tba.labelling import LabelSet, joined_labels, label_rules
from pandas_tba.levels import as_python, factorized, in_order, order_of, plain_index, positions
from pandas_tba.tallying import PairSlots, Tally, tally
from pandas_tba.validation import check_frame, column_of

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]

_PAIR = ("model_a", "model_b")
UNSCORED = 2  # beside 0, wrong, and 1, right


@dataclass(frozen=True, eq=False, repr=False)
class PairedCounts:
    """Counts of rows by pair of models, group and class, and by which of the two is right.

    Made by `count_pairs`; not by its constructor. Counts of shards, days or machines add up with
    ``+`` or `sum`: models, classes and groups are aligned.

    Attributes
    ----------
    cells : ndarray of int64, shape (G, K, 2, 2)
        Rows by pair and group, class, whether the first model is right, and whether the second
        is. Read-only.
    unpaired : ndarray of int64, shape (G,)
        Rows left out since only one of the two models has scored them.
    label_set : LabelSet
        Labels, and which of them are the K classes.
    groups : MultiIndex, shape (G,)
        model_a, model_b, then the keys.
    n_missing : int
        Rows that were left out since a label was missing.
    """

    cells: Counts
    unpaired: Counts
    label_set: LabelSet
    key_groups: Groups
    n_missing: int = 0

    def __post_init__(self) -> None:
        shape = (len(self.key_groups), len(self.label_set.classes), 2, 2)
        if self.cells.shape != shape or self.unpaired.shape != shape[:1]:
            raise InputError(
                f"`cells` must have the shape {shape}, `unpaired` {shape[:1]}; got "
                f"{self.cells.shape} and {self.unpaired.shape}."
            )
        self.cells.flags.writeable = False
        self.unpaired.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        # by the constructor: arrays come back from a pickle writable
        held = (self.cells, self.unpaired, self.label_set, self.key_groups, self.n_missing)
        return type(self), held

    @property
    def groups(self) -> pd.Index:
        """The two models and the keys of each group."""
        return self.key_groups.index()

    @property
    def pairs(self) -> tuple[tuple[Hashable, Hashable], ...]:
        """The pairs of models, each once."""
        first, second = (level.tolist() for level in self.key_groups.levels[:2])
        codes = dict.fromkeys(map(tuple, self.key_groups.codes[:, :2].tolist()))
        return tuple((first[a], second[b]) for a, b in codes)

    @property
    def support(self) -> Counts:
        """Rows of each class that both models have scored, (G, K)."""
        return np.asarray(self.cells.sum(axis=(2, 3)))

    @property
    def rows(self) -> Counts:
        """Rows of each group that both models have scored."""
        return np.asarray(self.cells.sum(axis=(1, 2, 3)))

    def __len__(self) -> int:
        return len(self.key_groups)

    def __repr__(self) -> str:
        keys = self.key_groups.names[2:]
        by = f" by {listed(keys)}" if keys else ""
        classes = self.label_set.classes
        return (
            f"<PairedCounts: {counted(len(self.pairs), 'pair')} of models{by}, {len(classes)} "
            f"{'class' if len(classes) == 1 else 'classes'}: {listed(classes)}>"
        )

    def __add__(self, other: PairedCounts) -> PairedCounts:
        if not isinstance(other, PairedCounts):
            return NotImplemented
        _check_same_kind(self, other)
        groups, place = self.key_groups.join(other.key_groups).in_order()
        labels = joined_labels(self.label_set, other.label_set)
        cells = np.zeros((len(groups), len(labels.classes), 2, 2), dtype=np.int64)
        unpaired = np.zeros(len(groups), dtype=np.int64)
        for part, at in ((self, place[: len(self)]), (other, place[len(self) :])):
            classes = positions(part.label_set.classes, labels.classes)
            kept = classes >= 0  # a class that a pair 0/1 had implied may be gone
            cells[np.ix_(at, classes[kept])] += part.cells[:, kept]
            unpaired[at] += part.unpaired
        return PairedCounts(cells, unpaired, labels, groups, self.n_missing + other.n_missing)

    def __radd__(self, other: object) -> PairedCounts:
        return self if other == 0 else NotImplemented  # sum() starts with 0

    def pooled(self) -> PairedCounts:
        """Counts of all groups together; pairs of models stay apart.

        Returns
        -------
        PairedCounts
            With one group for each pair, and the same classes.
        """
        groups, place = self.key_groups.keep([0, 1]).in_order()
        cells = np.zeros((len(groups), *self.cells.shape[1:]), dtype=np.int64)
        unpaired = np.zeros(len(groups), dtype=np.int64)
        np.add.at(cells, place, self.cells)
        np.add.at(unpaired, place, self.unpaired)
        return PairedCounts(cells, unpaired, self.label_set, groups, self.n_missing)


def pair_frame(
    frame: pd.DataFrame,
    columns: Columns,
    *,
    row: Hashable | None = None,
    by: Any = None,
    dropna: bool = False,
    observed: bool = True,
) -> PairedCounts:
    """Counts of the frame's cases by pair of models, keys, class, and which of the two is right."""
    columns.check()
    check_models(columns, row)
    rules = label_rules(columns.labels, columns.abstain, columns.pos_label)
    if row is not None:
        by = with_row(by, column_of(check_frame(frame), "row", row))
    bound, slots, _ = complete_rows(check_frame(frame), columns, by)
    check_keys(bound)
    found, slots = tally([], slots[0], slots[1:], bound.n_rows)
    labels, true_at, predicted_at = label_places(bound, found, slots, rules, columns)
    truth = true_at[slots[0].block(0, bound.n_rows)]
    right = np.empty((len(predicted_at), bound.n_rows), dtype=np.uint8)
    for at, (part, place) in enumerate(zip(slots[1:], predicted_at, strict=True)):
        np.equal(place[part.block(0, bound.n_rows)], truth, out=right[at], casting="unsafe")
    if row is None:
        cases = _Cases(bound, truth, models_in_columns(columns), right)
    else:
        cases = _long_cases(bound, columns.model, truth, right[0])
    return _paired(cases, labels, len(frame) - bound.n_rows, dropna=dropna, observed=observed)


def with_row(by: Any, row: Any) -> Any:
    """Keys with one more that says which rows are a case; an empty list is none, and an error later."""
    keys = by if isinstance(by, list) else [] if by is None else [by]
    return [*keys, row] if keys or by is None else by


def check_models(columns: Columns, row: Hashable | None) -> None:
    """InputError unless the arguments name two models, and rows that can be paired."""
    if columns.model is None and len(columns.predictions) < 2:
        argument = "y_pred" if columns.y_score is None else "y_score"
        raise InputError(
            f"Comparing needs two models; `{argument}` names {listed(columns.predictions)}. Models "
            f"in columns: df.tba({argument}=['logit', 'forest']). Models in rows: "
            "df.tba(model='model', row='case_id')."
        )
    if columns.model is not None and row is None:
        raise InputError(
            "`row` must name the column that says which rows are the same case, so that models "
            f"can be paired: df.tba(y_true={columns.y_true!r}, y_pred={columns.y_pred!r}, "
            f"model={columns.model!r}, row='case_id')."
        )
    if columns.model is None and row is not None:
        raise InputError(
            f"`row` ({shown(row)}) pairs models in rows and needs `model`; models in columns "
            "are paired as they stand. Leave `row` out, or name the column with model=."
        )
    if columns.sample_weight is not None:
        raise InputError(
            "`sample_weight` does not go with paired models: their test is exact for rows that "
            "count once. Leave it out, or compare the intervals of weighted scores: interval()."
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


class _Cases(NamedTuple):
    """N cases with keys and label, M models, and the outcome of each model in each case (M, N)."""

    bound: Bound
    truth: Codes
    models: Models
    outcomes: Array


def models_in_columns(columns: Columns) -> Models:
    """The models that columns of predictions stand for."""
    return Models(plain_index(columns.predictions), is_declared=True)


def models_in_rows(values: list[Hashable], declared: tuple[Hashable, ...] | None) -> Models:
    """The models that occur in a column, in the order that it declares, else sorted."""
    levels = plain_index([*map(as_python, values)])
    order = order_of(levels) if declared is None else np.argsort(positions(levels, declared))
    return Models(levels.take(order), declared is not None)


def _long_cases(bound: Bound, name: Hashable, truth: Codes, right: Array) -> _Cases:
    """Rows put beside each other: one case for each value of the last key, which `row` names."""
    model, *keys, row = bound.keys
    (scorer, found), (case, _) = numbered_values(model.values), numbered_values(row.values)
    for argument, column, codes in (("model", name, scorer), ("row", row.name, case)):
        check_complete(argument, column, int((codes < 0).sum()), bound.n_rows)
    models = models_in_rows(found.tolist(), encode(model.values).declared())
    beside = Beside.of(row.values, case, models.places(found)[scorer])
    faults = beside.faults([truth, *(key.values for key in keys)], models)
    check_cases(faults, row.name, models, bound.n_rows)
    return _Cases(
        bound._replace(keys=keys).at(beside.is_first),
        truth[beside.is_first],
        models,
        beside.table(right, len(models.values), UNSCORED),
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
    or a key, has several values, ``repeated`` are rows of a model beyond one for each case.
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


class Beside(NamedTuple):
    """Rows of models beside each other: the case and the model of each row (N,), all known."""

    row: pd.Series
    case: Codes
    scorer: Codes
    is_first: Mask

    @classmethod
    def of(cls, row: pd.Series, case: Codes, scorer: Codes) -> Beside:
        """Cases are numbered in the order of their first rows."""
        return cls(row, case, scorer, ~pd.Series(case).duplicated().to_numpy())

    def table(self, values: Array, n_models: int, absent: int) -> Array:
        """The value of each model in each case (M, C)."""
        held = np.full((n_models, int(self.is_first.sum())), absent, dtype=values.dtype)
        held[self.scorer, self.case] = values
        return held

    def faults(self, constant: Sequence[Any], models: Models) -> Faults:
        """What is wrong; the columns that are constant within a case are y_true, then the keys."""
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


def check_cases(faults: Faults, row: Hashable, models: Models, n_rows: int) -> None:
    """InputError where rows of one case cannot be paired."""
    arguments = ["y_true", *["by"] * (len(faults.differing) - 1)]
    for argument, fault in zip(arguments, faults.differing, strict=True):
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
    """Count the outcomes of each two models by group and class."""
    bound, n_labels = cases.bound, len(labels.values)
    base = 3 if (cases.outcomes == UNSCORED).any() else 2
    # without rows there may be no models: count no pair then
    held = cases.outcomes if len(cases.outcomes) else np.empty((2, 0), dtype=np.uint8)
    of_model = [StoredSlots(right, range(base), has_missing=False) for right in held]
    outcomes = [PairSlots(pair, bound.n_rows) for pair in itertools.combinations(of_model, 2)]
    truth = StoredSlots(cases.truth.astype(narrowest(n_labels)), range(n_labels), has_missing=False)
    keys = [encode(key.values) for key in bound.keys]
    found, slots = tally(keys, truth, outcomes, bound.n_rows)
    return counts_of_pairs(
        bound, found, slots, cases.models, labels, n_missing, dropna=dropna, observed=observed
    )


def counts_of_pairs(
    bound: Bound,
    found: Tally,
    slots: Sequence[Slots],
    models: Models,
    labels: LabelSet,
    n_missing: int,
    *,
    dropna: bool,
    observed: bool,
) -> PairedCounts:
    """Counts of cases by keys, true label and the outcomes of each two models.

    An outcome is 0, wrong, 1, right, or UNSCORED; that of the second model runs faster.
    """
    keys = slots[: len(bound.keys)]
    for key, part in zip(bound.keys, keys, strict=True):
        warn_many_numbers(key, part)
    groups, place = grouped_keys(bound, found, keys, Columns(), dropna=dropna, observed=observed)
    pairs = list(itertools.combinations(range(len(models.values)), 2))
    cells = np.zeros((len(pairs), len(groups), len(labels.classes), 2, 2), dtype=np.int64)
    unpaired = np.zeros((len(pairs), len(groups)), dtype=np.int64)
    at_label = np.asarray(slots[len(keys)].levels(), dtype=np.intp)
    for pair, table in zip(range(len(pairs)), found.tables, strict=False):
        n_outcomes = table.shape[2]
        base = math.isqrt(n_outcomes)
        shape = (len(groups), len(labels.values), n_outcomes)
        moved = table.moved(place, at_label, np.arange(n_outcomes), shape).dense(ROWS)
        square = moved[:, labels.is_class].reshape(*cells.shape[1:3], base, base)
        cells[pair] = square[:, :, :2, :2]
        only_one = square[:, :, :2, 2:], square[:, :, 2:, :2]
        unpaired[pair] = sum(part.sum(axis=(1, 2, 3)) for part in only_one)
    return PairedCounts(
        cells.reshape(len(pairs) * len(groups), *cells.shape[2:]),
        unpaired.reshape(-1),
        labels,
        _with_pairs(groups, models, pairs),
        n_missing,
    )


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


def _check_same_kind(first: PairedCounts, second: PairedCounts) -> None:
    if first.key_groups.names != second.key_groups.names:
        raise InputError(
            "Counts can be added only when their groups have the same keys; got "
            f"{listed(first.key_groups.names[2:]) or 'none'} and "
            f"{listed(second.key_groups.names[2:]) or 'none'}."
        )
    if first.label_set.rules != second.label_set.rules:
        raise InputError(
            "Counts can be added only when labels=, abstain= and pos_label= were the same; got "
            f"classes {listed(first.label_set.classes)} and {listed(second.label_set.classes)}."
        )
    turned = [pair for pair in first.pairs if pair[::-1] in second.pairs]
    if turned:
        raise InputError(
            "Counts can be added only when their models stand in one order; got "
            f"{listed(turned[0])} and {listed(turned[0][::-1])}."
        )
