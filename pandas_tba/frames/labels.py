"""Which labels there are, which of them are classes, and which one is positive."""

from __future__ import annotations

import enum
import unicodedata
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import (
    InputError,
    InputWarning,
    KindError,
    counted,
    listed,
    nearest,
    shown,
    warn,
)
from pandas_tba.frames.values import (
    Value,
    alike,
    as_python,
    in_order,
    is_missing,
    kinds_of,
    lookalikes,
    places_in_order,
    union,
)

_BINARY: tuple[tuple[Value, Value], ...] = ((0, 1), (-1, 1))


class LabelRules(NamedTuple):
    """What the user declared: the classes, the labels that are none, the positive class."""

    labels: tuple[Value, ...] | None = None
    abstain: tuple[Value, ...] = ()
    pos_label: Value | None = None


class Observed(NamedTuple):
    """The labels that occur in one column, with their rows, and the order it declares."""

    column: Value
    values: Sequence[Value]
    rows: Sequence[int]
    order: tuple[Value, ...] | None = None


class LabelSet(NamedTuple):
    """L labels in the order of the tables, K of them classes.

    ``seen``: the labels that occur in y_true, and in predictions, be it in rows that are left out
    since a key is missing.  ``scored``: the negative and the positive label that scores stand for.
    """

    values: tuple[Value, ...]
    is_class: npt.NDArray[np.bool_]
    pos_label: Value | None
    rules: LabelRules
    order: tuple[Value, ...] | None = None
    seen: tuple[tuple[Value, ...], tuple[Value, ...]] = ((), ())
    scored: tuple[Value, Value] | None = None

    @property
    def classes(self) -> list[Value]:
        """Labels that are classes."""
        return [
            value for value, is_class in zip(self.values, self.is_class, strict=True) if is_class
        ]

    @property
    def positive(self) -> int | None:
        """Place of the positive label, or None."""
        return None if self.pos_label is None else self.values.index(self.pos_label)

    def as_predicted(self, values: Iterable[Value], whole: LabelSet) -> list[Value]:
        """What labels are called as predictions in the label set of more rows.

        Where scores stand for them the negative one may be another: 1 alone implies 0, beside -1 not.
        """
        if self.scored is None or whole.scored is None:
            return [*values]
        names = dict(zip(self.scored, whole.scored, strict=True))
        return [names.get(value, value) for value in values]


def label_rules(
    labels: Iterable[Value] | None, abstain: Iterable[Value], pos_label: Value | None
) -> LabelRules:
    """Check what the user declared of the labels."""
    if pos_label is not None and (not isinstance(pos_label, Hashable) or is_missing(pos_label)):
        raise InputError(f"`pos_label` must be one label; got {shown(pos_label)}.")
    classes = None if labels is None else label_list("labels", labels)
    pos_label = as_python(pos_label)
    rules = LabelRules(classes, label_list("abstain", abstain), pos_label)
    if pos_label is not None and pos_label in rules.abstain:
        raise InputError(
            f"`pos_label` must be a class; got {shown(pos_label)}, which `abstain` says is none."
        )
    if classes is None:
        return rules
    if not classes:
        raise InputError(
            "`labels` is empty; name the classes, or leave it out to take those of y_true."
        )
    both = [value for value in rules.abstain if value in classes]
    if both:
        raise InputError(
            f"`abstain` and `labels` both hold {listed(both)}; a label to abstain is no class."
        )
    if pos_label is not None and (pos_label not in classes or len(classes) != 2):
        raise InputError(
            f"`pos_label` must be one of two classes; got {shown(pos_label)} with labels "
            f"{listed(classes)}."
        )
    return rules


def label_list(argument: str, values: Iterable[Value]) -> tuple[Value, ...]:
    """The labels as a tuple; InputError for what is no list of different labels."""
    if isinstance(values, (set, frozenset)):
        raise InputError(
            f"`{argument}` must be a list of labels, in the order wanted; a set has none. Write "
            f"sorted({shown(values)})."
        )
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable) or _is_scalar(values):
        raise InputError(
            f"`{argument}` must be a list of labels; got {shown(values)}. Write [{shown(values)}]."
        )
    items = tuple(map(as_python, values.tolist() if hasattr(values, "tolist") else values))
    try:
        repeated = len(set(items)) < len(items)
    except TypeError:
        raise InputError(f"`{argument}` must hold single labels; got {listed(items)}.") from None
    if repeated:
        raise InputError(f"`{argument}` holds a label more than once: {listed(items)}.")
    if any(map(is_missing, items)):
        raise InputError(f"`{argument}` must not hold missing values; got {listed(items)}.")
    return items


def _is_scalar(values: object) -> bool:
    """Whether it is an array of no dimension."""
    return getattr(values, "ndim", 1) == 0


def label_set(rules: LabelRules, truth: Observed, predictions: Sequence[Observed]) -> LabelSet:
    """Labels, classes and positive label that the rules and the columns give.

    Raises KindError for labels of kinds that never match, InputError for labels outside the
    declared ones.
    """
    check_kinds(rules, truth, predictions)
    _check_expected(rules, truth, predictions)
    columns = [truth, *predictions]
    if rules.labels is None:
        order = truth.order if all(column.order == truth.order for column in columns) else None
        classes, pos_label = _undeclared_classes(rules, truth, predictions)
        parts = [truth.values, classes, *(column.values for column in predictions), rules.abstain]
        values = _in_declared_order(parts, order)
    else:
        order, classes = None, list(rules.labels)
        values = [*rules.labels, *rules.abstain]
        pos_label = rules.pos_label if rules.pos_label is not None else _positive_of(rules.labels)
    among = set(classes)
    is_class = np.array([value in among for value in values], dtype=np.bool_)
    shown_as = {value: value for value in values}
    predicted = dict.fromkeys(value for column in predictions for value in column.values)
    seen = (tuple(truth.values), tuple(predicted))
    return LabelSet(tuple(values), is_class, shown_as.get(pos_label), rules, order, seen)


def joined_labels(first: LabelSet, second: LabelSet) -> LabelSet:
    """The label set that one pass over the rows of both would have found."""
    parts = (first, second)
    order = first.order if first.order == second.order else None

    def observed(name: str, sides: Sequence[Sequence[Value]]) -> Observed:
        values = [*dict.fromkeys(value for side in alike(sides) for value in side)]
        return Observed(name, values, [0] * len(values), order)

    truth = observed("y_true", [part.seen[0] for part in parts])
    are_scored = all(part.scored is not None for part in parts)
    whole = second._replace(scored=scored_pair(first.rules, truth) if are_scored else None)
    predicted = observed("y_pred", [part.as_predicted(part.seen[1], whole) for part in parts])
    return label_set(first.rules, truth, [predicted])._replace(scored=whole.scored)


def scored_pair(rules: LabelRules, truth: Observed) -> tuple[Value, Value]:
    """Negative and positive label of scores: they need exactly two classes."""
    labels = [*rules.labels] if rules.labels is not None else in_order(truth.values)
    pos_label = rules.pos_label
    if pos_label is None:
        pair = _binary_pair(labels)
        if pair is None or (rules.labels is not None and len(labels) != 2):
            raise InputError(_no_positive(labels))
        return pair
    classes = labels if rules.labels is not None else _given_pair(rules, pos_label, labels, [])
    negative = [label for label in classes if label != pos_label]
    # without any rows there is no negative label to find, and none is needed
    return (negative[0] if negative else pos_label), pos_label


def _no_positive(labels: Sequence[Value]) -> str:
    """The error text where scores have no positive class."""
    if len(labels) > 2:
        return (
            f"`y_score` predicts one of two classes, and there are {len(labels)}: {listed(labels)}. "
            f"Set one against the rest: df['y_true'] == {shown(labels[-1])}. With the probability of "
            "every class, decide() gives predictions."
        )
    return (
        "`y_score` predicts one of two classes, and none is known to be positive. Name it, as in "
        f"df.tba(pos_label={shown(labels[-1]) if labels else '...'}). Classes: "
        f"{listed(labels) or 'none'}."
    )


def _in_declared_order(
    parts: Sequence[Sequence[Value]], order: tuple[Value, ...] | None
) -> list[Value]:
    """Labels of all parts: in a declared order where there is one, further ones after it."""
    if order is None:
        return union(parts, [None])[0]
    declared = set(order)
    extra = [value for part in parts for value in part if value not in declared]
    whole = [*order, *union([extra], [None])[0]]
    return union(parts, [whole])[0]


def _undeclared_classes(
    rules: LabelRules, truth: Observed, predictions: Sequence[Observed]
) -> tuple[list[Value], Value | None]:
    """Classes without `labels=`: the labels of y_true, or both labels of a binary problem."""
    seen = in_order(truth.values)
    known = {*seen, *rules.abstain}
    others = [value for column in predictions for value in column.values]
    others = [value for value in dict.fromkeys(others) if value not in known]
    if rules.pos_label is not None:
        return _given_pair(rules, rules.pos_label, seen, others), rules.pos_label
    pair = _binary_pair([*seen, *others])
    # a label to abstain is no class, so no pair implies it
    if pair is None or set(pair) & set(rules.abstain):
        return seen, None
    return [*pair], pair[1]


def _given_pair(
    rules: LabelRules, pos_label: Value, seen: list[Value], others: list[Value]
) -> list[Value]:
    """The positive label and the other one of the labels that are seen, or that a pair implies."""
    pair = list(dict.fromkeys([*seen, pos_label]))
    if len(pair) == 1:
        pair += [value for value in others if value != pos_label]
    if len(pair) > 2 and pos_label not in seen:
        raise InputError(
            f"`pos_label` must be one of the labels of y_true; got {shown(pos_label)}."
            f"{nearest(pos_label, seen)} Labels: {listed(seen)}."
        )
    if len(pair) > 2:
        raise InputError(
            f"`pos_label` needs two classes, and y_true holds {len(seen)}: {listed(seen)}. Set one "
            f"against the rest, truth and predictions alike: df['y_true'] == {shown(pos_label)}; or "
            "ask per_class()."
        )
    if len(pair) < 2 and seen:
        implied = _binary_pair(pair)
        if implied is not None and not {*implied} & {*rules.abstain}:
            return [*implied]
        raise InputError(
            f"`pos_label` needs two classes; {shown(pos_label)} is the only one. Declare both: "
            f"labels=[..., {shown(pos_label)}]."
        )
    return pair


def _binary_pair(values: Sequence[Value]) -> tuple[Value, Value] | None:
    """Negative and positive label where all values are False/True, 0/1 or -1/1."""
    among = [pair for pair in _BINARY if all(value in pair for value in values)]
    kinds = kinds_of(values) if among else set()
    if not kinds or not kinds <= {"boolean", "number"}:
        return None
    for pair in among:
        if "boolean" not in kinds or pair[0] == 0:
            return _of_same_type(pair, values)
    return None


def _of_same_type(pair: tuple[Value, Value], values: Sequence[Value]) -> tuple[Value, Value] | None:
    """The pair as the values have it; None for members of an enumeration of which one is not seen."""
    if not any(isinstance(value, enum.Enum) for value in values):
        of_type = type(values[0])
        return of_type(pair[0]), of_type(pair[1])  # type: ignore[call-arg]
    seen = {value: value for value in values}
    return (seen[pair[0]], seen[pair[1]]) if len(seen) == 2 else None


def _positive_of(labels: tuple[Value, ...]) -> Value | None:
    """The positive one of two labels such as 0 and 1, or None."""
    pair = _binary_pair(labels) if len(labels) == 2 else None
    return None if pair is None else pair[1]


def check_kinds(rules: LabelRules, truth: Observed, predictions: Sequence[Observed]) -> None:
    """Labels of the columns, and the declared ones, must be of kinds that can match."""
    sides = [("`y_true`", truth.column, truth.values)]
    sides += [("`y_pred`", column.column, column.values) for column in predictions]
    name, column, values = sides[0]
    abstain = set(rules.abstain)
    if rules.labels is not None:
        name, column, values = "`labels`", None, rules.labels
    else:
        del sides[0]
    if len(kinds_of(value for _, _, held in sides for value in held) | kinds_of(values)) < 2:
        return
    for other_name, other_column, other_values in sides:
        rest = [value for value in other_values if value not in abstain]
        if not _can_match(values, rest):
            raise KindError(
                f"{_side(name, column, values)}, but {_side(other_name, other_column, rest)}: "
                "labels of different kinds never match. Convert one of them, for example with "
                "astype; booleans match numbers only where these are all 0 or 1.",
                check="kind",
            )
    if rules.labels is None:
        columns = [truth, *predictions]
        _check_not_alike({value for held in columns for value in held.values} - abstain)


def _check_not_alike(values: set[Value]) -> None:
    """KindError for 1 beside '1', which files give that are read in parts, each part by a guess."""
    found = lookalikes(values)
    if found:
        kinds = " and ".join(f"{kind} ({listed(held, 3)})" for kind, held in found.items())
        raise KindError(
            f"`y_true` and `y_pred` hold labels that look alike and are of different kinds: {kinds}. "
            "These never match. Bring both columns to one type in all parts of the data, for example "
            "with read_csv(..., dtype=str), or declare all labels with labels=[...].",
            check="kind",
        )


def _can_match(first: Sequence[Value], second: Sequence[Value]) -> bool:
    """Whether labels of one column can be equal to those of another."""
    kinds, others = kinds_of(first), kinds_of(second)
    if not kinds or not others or kinds == others:
        return True
    if kinds | others == {"boolean", "number"}:
        return all(value in (0, 1) for value in (*first, *second))
    return others <= kinds


def _side(name: str, column: Value | None, values: Sequence[Value]) -> str:
    """A column with the kinds of its labels, in words."""
    where = name if column is None or f"`{column}`" == name else f"{name} (column {shown(column)})"
    kinds = " and ".join(sorted(kinds_of(values)))
    if column is not None:
        values = in_order(values)  # the order of rows must not show
    return f"{where} holds {kinds} labels ({listed(values, 3)})"


def _check_expected(rules: LabelRules, truth: Observed, predictions: Sequence[Observed]) -> None:
    """InputError for labels outside the declared ones, and for labels to abstain in y_true."""
    if rules.labels is None and not rules.abstain:
        return
    faults = []
    known = {*(rules.labels or ()), *rules.abstain}
    classes = set(rules.labels or ())
    if rules.labels is not None:
        faults += _unexpected("y_true", truth, lambda value: value not in classes)
        for column in predictions[:5]:
            faults += _unexpected("y_pred", column, lambda value: value not in known)
        advice = "Add them to labels=, or leave those rows out; labels that may be predicted and are no class go into abstain=[...]."
    else:
        faults += _unexpected("y_true", truth, lambda value: value in rules.abstain)
        advice = "A label to abstain is no class and must not occur in y_true."
    if faults:
        expected = (
            f"labels={listed(rules.labels)}"
            if rules.labels is not None
            else f"abstain={listed(rules.abstain)}"
        )
        text = f"Unexpected labels ({expected}): {'; '.join(faults[:3])}. {advice}"
        raise InputError(text, check="expected")


def _unexpected(argument: str, column: Observed, is_fault) -> list[str]:  # type: ignore[no-untyped-def]
    """Which labels of a column are at fault, in words; empty without any."""
    found = [
        (value, rows)
        for value, rows in zip(column.values, column.rows, strict=True)
        if is_fault(value)
    ]
    if not found:
        return []
    found = [found[at] for at in places_in_order([value for value, _ in found])]
    found.sort(key=lambda pair: -pair[1])
    texts = [f"{shown(value)} ({counted(int(rows), 'row')})" for value, rows in found[:3]]
    rest = found[3:]
    if rest:
        texts.append(f"{len(rest):,} more ({counted(int(sum(rows for _, rows in rest)), 'row')})")
        texts[-1] += f", {sum(rows for _, rows in found):,} rows in all"
    name = argument if column.column == argument else f"{argument} (column {shown(column.column)})"
    return [f"{name} holds {', '.join(texts)}"]


def warn_predicted_only(labels: LabelSet, predictions: Sequence[Observed]) -> None:
    """Name the labels that are predicted, are no class, and were not declared as such."""
    if labels.rules.labels is not None or labels.is_class.all():
        return
    known = {*labels.classes, *labels.rules.abstain}
    seen = {value for column in predictions for value in column.values}
    extra = [value for value in labels.values if value in seen and value not in known]
    if not extra:
        return
    alike = {_plain(label): label for label in labels.classes if isinstance(label, str)}
    twins = [
        _difference(value, alike[_plain(value)])
        for value in extra
        if isinstance(value, str) and _plain(value) in alike
    ]
    note = f" {'; '.join(twins[:3])}." if twins else ""
    warn(
        f"Predicted, but never in y_true: {listed(extra)}. Rows with such a prediction count as "
        f"errors; it is no class.{note} Declare the classes with labels=[...], or what is none "
        "with abstain=[...].",
        InputWarning,
    )


def _difference(text: str, other: str) -> str:
    """How a text differs from another that is the same once both are plain."""
    if _composed(text) != _composed(other):
        return f"{shown(text)} differs from {shown(other)} only by blanks or case"
    return (
        f"{text!a} and {other!a} look alike and differ in Unicode form; write both columns "
        "with .str.normalize('NFC')"
    )


def _composed(text: str) -> str:
    """Text in the composed form of Unicode."""
    return unicodedata.normalize("NFC", text)


def _plain(text: str) -> str:
    """The text without what the eye misses: blanks around it, case, Unicode form."""
    return _composed(text.strip().casefold())
