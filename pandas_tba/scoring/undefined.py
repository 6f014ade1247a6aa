"""Why values are undefined: one warning a call that names groups and classes, or a table of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError, UndefinedWarning, listed, shown, warn
from pandas_tba.scoring.definitions import (
    ABSENT,
    NO_CAUSE,
    UNPREDICTED,
    FourCells,
    Metric,
    ZeroDenominator,
)
from pandas_tba.scoring.metrics import one_against_rest

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

_NO_ROWS = "no rows"
_MOST_GROUPS = 5


class Causes(NamedTuple):
    """Undefined values of one metric: the group, the label at fault or -1, and the reason."""

    groups: Codes
    labels: Codes
    reasons: npt.NDArray[Any]


def causes(counts: ConfusionCounts, metric: Metric, is_nan: BoolArray) -> Causes:
    """Each label that makes a value undefined; `is_nan` is (G,), or (G, L) for kind "class"."""
    cells = _cells_of(counts, slice(None))
    possible = _possible_causes(counts, metric, is_nan)
    at_fault = [(cause, cause.holds(cells) & among) for cause, among in possible]
    is_empty = counts.support.sum(axis=1) == 0
    if metric.kind == "class":
        groups, labels = np.nonzero(is_nan)
    else:
        named = np.any([applies for _, applies in at_fault], axis=0) & ~is_empty[:, None]
        groups, labels = np.nonzero(named)
        unnamed = np.flatnonzero(is_nan & ~named.any(axis=1))
        groups = np.concatenate([groups, unnamed])
        labels = np.concatenate([labels, np.full(len(unnamed), -1)])
    kinds = np.zeros(len(groups), dtype=np.intp)  # a bit for each cause, and one for no rows at all
    at = labels >= 0
    for bit, (_, applies) in enumerate(at_fault):
        kinds[at] |= applies[groups[at], labels[at]].astype(np.intp) << bit
    kinds[is_empty[groups]] = 1 << len(at_fault)
    texts = _word_reasons(counts, [cause for cause, _ in at_fault], kinds, labels)
    return Causes(groups, labels, texts)


def _word_reasons(
    counts: ConfusionCounts, among: Sequence[ZeroDenominator], kinds: Codes, labels: Codes
) -> npt.NDArray[Any]:
    """A reason for each pair of a kind and a label, worded once for all that are alike."""
    names = counts.label_set.values
    pairs, place = np.unique(kinds * (len(names) + 1) + labels + 1, return_inverse=True)
    texts = []
    for pair in pairs.tolist():
        kind, label = divmod(pair, len(names) + 1)
        held = [cause for bit, cause in enumerate(among) if kind >> bit & 1]
        reasons = dict.fromkeys(text for cause in held for text in cause.reasons)
        worded = ", ".join(text.format(shown(names[label - 1])) for text in reasons)
        texts.append(_NO_ROWS if kind >> len(among) else worded or NO_CAUSE)
    return np.array(texts, dtype=object)[place.reshape(-1)]


def report_absent(counts: ConfusionCounts, support: FloatArray, absent: str) -> None:
    """Name the classes without rows; as an error where `absent` asks for one."""
    if support.shape[1] == 0:
        warn(
            "Undefined: there are no rows, hence no classes, and the score is NaN.",
            UndefinedWarning,
        )
    elif not support.all():
        is_absent = (counts.support == 0) & counts.is_class
        notes = _describe_groups(counts, is_absent.any(axis=1), [(ABSENT, is_absent)])
        text = f"Undefined recall of classes without rows: {notes}."
        if absent == "raise":
            raise InputError(f"{text} Pass absent='nan' or absent='exclude' to go on.")
        warn(
            f"{text} The score is NaN wherever such a class has weight: at t <= 0, and with a "
            "common prevalence. See absent=, smoothing= and bounds(); labels= fixes the classes.",
            UndefinedWarning,
        )


def report_single_class(counts: ConfusionCounts, n_classes: int) -> None:
    """Warn that with one class there is no chance level."""
    if n_classes == 1:
        only = shown(counts.label_set.classes[0])
        warn(
            f"Undefined: an adjusted score needs two classes, and {only} is the only one. Declare "
            "the classes with labels=.",
            UndefinedWarning,
        )


def report_undefined(
    counts: ConfusionCounts, chosen: Sequence[Metric], values: Mapping[str, FloatArray]
) -> None:
    """Name the metrics that are NaN, and why, for the groups in question."""
    names, where = [], np.zeros(len(counts), dtype=np.bool_)
    possible: list[tuple[ZeroDenominator, BoolArray]] = []
    for metric in chosen:
        is_nan = _where_nan(counts, metric, values[metric.name])
        if is_nan.any():
            names.append(metric.name)
            where |= is_nan if metric.kind == "overall" else is_nan.any(axis=1)
            possible += _possible_causes(counts, metric, is_nan)
    if names:
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        warn(
            f"Undefined, hence NaN: {', '.join(names[:5])}{more}. {_describe_groups(counts, where, possible)}.",
            UndefinedWarning,
        )


def report_undefined_shares(counts: ConfusionCounts, empty: BoolArray) -> None:
    """Name the groups in which a class has no rows to share; `empty` is (G, L)."""
    among = empty & counts.is_class
    if among.any():
        notes = _describe_groups(counts, among.any(axis=1), [(ABSENT, among), (UNPREDICTED, among)])
        warn(f"Undefined, hence NaN: shares of a total of no rows. {notes}.", UndefinedWarning)


def _where_nan(counts: ConfusionCounts, metric: Metric, values: FloatArray) -> BoolArray:
    """Where a metric is NaN: (G,), or (G, L) over the classes for kind "class"."""
    is_nan: BoolArray = np.isnan(values)
    if metric.kind == "overall":
        return is_nan if is_nan.ndim == 1 else np.asarray(is_nan.any(axis=1))
    if is_nan.ndim == 1:  # of the positive class alone
        labels = counts.label_set.values
        return is_nan[:, None] & [label == counts.pos_label for label in labels]
    return is_nan & counts.is_class


def _possible_causes(
    counts: ConfusionCounts, metric: Metric, is_nan: BoolArray
) -> list[tuple[ZeroDenominator, BoolArray]]:
    """What may be the cause where a metric is NaN, and among which labels, (G, L) or (G, 1)."""
    causes = (ABSENT, UNPREDICTED) if metric.undefined_where is None else metric.undefined_where
    if metric.kind == "class":
        return [(cause, is_nan) for cause in causes]
    of_classes = is_nan[:, None] & counts.is_class
    return [(cause, is_nan[:, None] if cause.is_of_any_label else of_classes) for cause in causes]


def _cells_of(counts: ConfusionCounts, at: Any) -> FourCells:
    """Four cells of each label against the rest, of some groups."""
    hits, support, predicted = (
        part[at].astype(np.float64) for part in (counts.hits, counts.support, counts.predicted)
    )
    return one_against_rest(hits, support, predicted, support.sum(axis=1, keepdims=True))


def _describe_groups(
    counts: ConfusionCounts, where: Any, possible: Sequence[tuple[ZeroDenominator, BoolArray]]
) -> str:
    """Why values are undefined, for the first five of those in `where`, (G,)."""
    at = np.flatnonzero(where)
    shown_groups = at[:_MOST_GROUPS]
    cells = _cells_of(counts, shown_groups)
    found: dict[str, BoolArray] = {}
    for cause, among in possible:
        applies = cause.holds(cells) & among[shown_groups]
        for text in cause.reasons:
            found[text] = applies | found.get(text, np.False_)
    texts = []
    for place, group in enumerate(shown_groups):
        described = _describe_group(
            counts, group, {text: applies[place] for text, applies in found.items()}
        )
        key = f"Group {shown(counts.key_groups.values(group))}: "
        texts.append(f"{key if counts.key_groups.names else ''}{described}")
    return "; ".join(texts) + ("; and other groups" if len(at) > _MOST_GROUPS else "")


def _describe_group(counts: ConfusionCounts, group: int, found: Mapping[str, BoolArray]) -> str:
    """Why values of one group are undefined."""
    if not counts.support[group].any():
        return _NO_ROWS
    labels = counts.label_set.values
    texts = [
        text.format(listed(labels[k] for k in np.flatnonzero(applies)))
        for text, applies in found.items()
        if applies.any()
    ]
    # that all rows are of one class is shown by the classes that have none
    plain = [text for text in texts if not text.startswith("all")]
    return ", ".join(plain or texts) or NO_CAUSE
