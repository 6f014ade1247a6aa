"""Two models on the same rows: how many rows both get right, one of them, or none."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.cells import ROWS
from pandas_tba.columns import Columns, Missing
from pandas_tba.counting import Bound, complete_rows, grouped_keys, label_places
from pandas_tba.encoding import Slots, StoredSlots, encode, narrowest
from pandas_tba.errors import InputError, counted, listed, shown
from pandas_tba.grouping import Key, warn_many_numbers
from pandas_tba.groups import Groups
from pandas_tba.labelling import LabelSet, Observed, label_rules, label_set
from pandas_tba.levels import factorized, order_of, plain_index, positions
from pandas_tba.tallying import tally
from pandas_tba.validation import check_frame, column_of

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]
Codes = npt.NDArray[np.intp]

_PAIR = ("model_a", "model_b")
_UNSCORED = 2  # beside 0, wrong, and 1, right


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
        labels = _joined_labels(self, other)
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


def count_pairs(
    frame: pd.DataFrame,
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable | list[Hashable] = "y_pred",
    by: Any = None,
    model: Hashable | None = None,
    row: Hashable | None = None,
    labels: Iterable[Hashable] | None = None,
    abstain: Iterable[Hashable] = (),
    pos_label: Hashable | None = None,
    missing: Missing = "raise",
    y_score: Hashable | list[Hashable] | None = None,
    threshold: float = 0.5,
    dropna: bool = False,
    observed: bool = True,
) -> PairedCounts:
    """Count for each two models the rows that both get right, one of them, or none.

    Parameters
    ----------
    frame : DataFrame
        Models in columns, as in ``y_pred=["logit", "forest"]``, or models in rows, as in
        ``model="model", row="case_id"``.
    y_true, y_pred, by, model
        As in `count`. True label and keys must be the same in all rows of a case.
    row : column name, optional
        With `model`: the column that says which rows are the same case.
    labels, abstain, pos_label, missing, y_score, threshold, dropna, observed
        As in `count`.

    Returns
    -------
    PairedCounts
        A pair for each two models, in the order of `y_pred`, or of the models. Cases that only
        one of the two has scored are left out, and counted.

    Raises
    ------
    InputError
        If there are fewer than two models, a model scores a case twice, or true label or keys
        differ within a case; and as in `count`.
    ColumnError, KindError
        As in `count`.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> tba.count_pairs(tba.load_income(), y_pred=["logit", "forest"])
    <PairedCounts: 1 pair of models, 2 classes: '<=50K', '>50K'>
    """
    columns = Columns(
        y_true=y_true,
        y_pred=y_pred,
        model=model,
        labels=labels,
        abstain=abstain,
        pos_label=pos_label,
        missing=missing,
        y_score=y_score,
        threshold=threshold,
    )
    return pair_frame(frame, columns, row=row, by=by, dropna=dropna, observed=observed)


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
    _check_models(columns, row)
    rules = label_rules(columns.labels, columns.abstain, columns.pos_label)
    if row is not None and not (isinstance(by, list) and not by):
        keys = by if isinstance(by, list) else [] if by is None else [by]
        by = [*keys, column_of(check_frame(frame), "row", row)]
    bound, slots, _ = complete_rows(check_frame(frame), columns, by)
    _check_keys(bound)
    found, slots = tally([], slots[0], slots[1:], bound.n_rows)
    labels, true_at, predicted_at = label_places(bound, found, slots, rules, columns)
    truth = true_at[slots[0].block(0, bound.n_rows)]
    right = np.empty((len(predicted_at), bound.n_rows), dtype=np.uint8)
    for at, (part, place) in enumerate(zip(slots[1:], predicted_at, strict=True)):
        np.equal(place[part.block(0, bound.n_rows)], truth, out=right[at], casting="unsafe")
    cases = _wide_cases(bound, truth, right) if row is None else _long_cases(bound, truth, right[0])
    return _paired(cases, labels, len(frame) - bound.n_rows, dropna=dropna, observed=observed)


def _check_models(columns: Columns, row: Hashable | None) -> None:
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


def _check_keys(bound: Bound) -> None:
    hit = [key.name for key in bound.keys if key.name in _PAIR]
    if hit:
        raise InputError(
            f"`by`: the key {shown(hit[0])} has the name of a level of the result. Rename it, as "
            f"in by=df[{shown(hit[0])}].rename('group')."
        )


class _Cases(NamedTuple):
    """N cases with keys and label, M models, and the outcome of each model in each case (M, N)."""

    bound: Bound
    truth: Codes
    models: pd.Index
    is_declared: bool
    outcomes: Array


def _wide_cases(bound: Bound, truth: Codes, right: Array) -> _Cases:
    models = plain_index(list(bound.predictions))
    return _Cases(bound, truth, models, True, right)


def _long_cases(bound: Bound, truth: Codes, right: Array) -> _Cases:
    """Rows put beside each other: one case for each value of the last key, which `row` names."""
    model, *keys, row = bound.keys
    for argument, key in (("model", model), ("row", row)):
        _check_complete(argument, key)
    case = factorized(row.values)[0]  # numbered by the first row of each
    is_first = ~pd.Series(case).duplicated().to_numpy()
    first = np.flatnonzero(is_first)
    values = [truth, *(factorized(key.values)[0] for key in keys)]
    for argument, codes in zip(["y_true", *["by"] * len(keys)], values, strict=True):
        _check_constant(argument, row, case[codes != codes[first[case]]], first)
    models, scorer, is_declared = _models(model)
    _check_once(model, row, scorer * len(first) + case)
    outcomes = np.full((len(models), len(first)), _UNSCORED, dtype=np.uint8)
    outcomes[scorer, case] = right
    cases = bound._replace(keys=keys).at(is_first)
    return _Cases(cases, truth[is_first], models, is_declared, outcomes)


def _models(model: Key) -> tuple[pd.Index, Codes, bool]:
    """The models that occur, in order, the place of each row's model, and whether they are declared."""
    slots = encode(model.values)
    codes, found = factorized(model.values)
    levels = plain_index(pd.Index(found, dtype=found.dtype, tupleize_cols=False).tolist())
    order = order_of(levels)
    if slots.order is not None:
        order = np.argsort(positions(levels, slots.order.tolist()))
    if len(levels) == 1:
        raise InputError(f"Comparing needs two models; `model` holds only {shown(levels[0])}.")
    return levels.take(order), np.argsort(order)[codes], slots.order is not None


def _value(key: Key, at: int) -> Hashable:
    """The key of one row, as a Python value."""
    value: Hashable = key.values.iloc[[at]].tolist()[0]
    return value


def _check_complete(argument: str, key: Key) -> None:
    missing = int(pd.isna(key.values).sum())
    if missing:
        raise InputError(
            f"`{argument}` column {shown(key.name)} is missing in {missing:,} of "
            f"{counted(len(key.values), 'row')}; leave these rows out, or fill them in."
        )


def _check_constant(argument: str, row: Key, cases: Codes, first: Codes) -> None:
    """Refuse cases in which a column has several values."""
    if len(cases):
        example = _value(row, first[cases[0]])
        raise InputError(
            f"`{argument}` must have one value in all rows of a case; it differs within "
            f"{len(np.unique(cases)):,} of {counted(len(first), 'case')}, such as "
            f"{shown(row.name)} {shown(example)}."
        )


def _check_once(model: Key, row: Key, scored: Codes) -> None:
    """Refuse a case that a model has scored more than once."""
    repeats = pd.Series(scored).duplicated().to_numpy()
    if repeats.any():
        at = int(np.flatnonzero(repeats)[0])
        raise InputError(
            f"A model may score a case once; {counted(int(repeats.sum()), 'row')} of "
            f"{len(scored):,} repeat one, such as {shown(row.name)} {shown(_value(row, at))} by "
            f"{shown(_value(model, at))}. Does `row` name the right column? If so, leave the "
            "repeats out."
        )


class _PairSlots(Slots):
    """Outcomes of two models as one code: those of the first times `base`, plus the second's."""

    def __init__(self, first: Array, second: Array, base: int) -> None:
        self._first, self._second, self._base = first, second, np.uint8(base)
        self.size = base * base

    def block(self, start: int, stop: int) -> Array:
        """Slots of some rows."""
        return self._first[start:stop] * self._base + self._second[start:stop]

    def levels(self) -> pd.Index:
        """The codes themselves."""
        return pd.RangeIndex(self.size)


def _paired(
    cases: _Cases, labels: LabelSet, n_missing: int, *, dropna: bool, observed: bool
) -> PairedCounts:
    """Count the outcomes of each two models by group and class."""
    bound, n_labels = cases.bound, len(labels.values)
    base = 3 if (cases.outcomes == _UNSCORED).any() else 2
    pairs = list(itertools.combinations(range(len(cases.models)), 2))
    nobody = np.empty(0, dtype=np.uint8)  # without rows there may be no models: count no pair then
    outcomes = [_PairSlots(cases.outcomes[a], cases.outcomes[b], base) for a, b in pairs]
    truth = StoredSlots(cases.truth.astype(narrowest(n_labels)), range(n_labels), has_missing=False)
    keys = [encode(key.values) for key in bound.keys]
    for key, part in zip(bound.keys, keys, strict=True):
        warn_many_numbers(key, part)
    found, slots = tally(keys, truth, outcomes or [_PairSlots(nobody, nobody, 2)], bound.n_rows)
    groups, place = grouped_keys(
        bound, found, slots[: len(keys)], Columns(), dropna=dropna, observed=observed
    )
    cells = np.zeros((len(pairs), len(groups), len(labels.classes), 2, 2), dtype=np.int64)
    unpaired = np.zeros((len(pairs), len(groups)), dtype=np.int64)
    at_label = np.asarray(slots[len(keys)].levels(), dtype=np.intp)
    for pair, table in zip(range(len(pairs)), found.tables, strict=False):
        shape = (len(groups), n_labels, base * base)
        moved = table.moved(place, at_label, np.arange(base * base), shape).dense(ROWS)
        square = moved[:, labels.is_class].reshape(*cells.shape[1:3], base, base)
        cells[pair] = square[:, :, :2, :2]
        only_one = square[:, :, :2, 2:], square[:, :, 2:, :2]
        unpaired[pair] = sum(part.sum(axis=(1, 2, 3)) for part in only_one)
    return PairedCounts(
        cells.reshape(len(pairs) * len(groups), *cells.shape[2:]),
        unpaired.reshape(-1),
        labels,
        _with_pairs(groups, cases, pairs),
        n_missing,
    )


def _with_pairs(groups: Groups, cases: _Cases, pairs: list[tuple[int, int]]) -> Groups:
    """The groups once for each pair, its two models in front."""
    codes = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return replace(
        groups,
        names=(*_PAIR, *groups.names),
        levels=(cases.models, cases.models, *groups.levels),
        codes=np.column_stack(
            [np.repeat(codes, len(groups), axis=0), np.tile(groups.codes, (len(pairs), 1))]
        ),
        declared=(cases.is_declared, cases.is_declared, *groups.declared),
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


def _joined_labels(first: PairedCounts, second: PairedCounts) -> LabelSet:
    """The label set that one pass over the rows of both would have found."""
    seen: dict[Hashable, None] = {}
    for part in (first, second):
        found = np.flatnonzero(part.support.sum(axis=0))
        seen.update(dict.fromkeys(part.label_set.classes[at] for at in found))
    order = first.label_set.order if first.label_set.order == second.label_set.order else None
    others = dict.fromkeys([*first.label_set.values, *second.label_set.values])
    observed = [Observed("", list(values), [0] * len(values), order) for values in (seen, others)]
    return label_set(first.label_set.rules, observed[0], observed[1:])
