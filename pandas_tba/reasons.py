"""Why values are undefined: one warning a call that names groups and classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pandas_tba.catalog import Metric
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.errors import InputError, UndefinedWarning, listed, shown, warn

FloatArray = npt.NDArray[np.float64]


def report_absent(counts: ConfusionCounts, support: FloatArray, absent: str) -> None:
    """Name the classes without rows; as an error where `absent` asks for one."""
    if support.shape[1] == 0:
        warn(
            "Undefined: there are no rows, hence no classes, and the score is NaN.",
            UndefinedWarning,
        )
    elif not support.all():
        where = _notes(counts, (support == 0).any(axis=1), predicted=False)
        text = f"Undefined recall of classes without rows: {where}."
        if absent == "raise":
            raise InputError(f"{text} Pass absent='nan' or absent='exclude' to go on.")
        warn(
            f"{text} The score is NaN wherever such a class has weight: at t <= 0, and with a "
            "common prevalence. See absent=, smoothing= and bounds(); labels= fixes the classes.",
            UndefinedWarning,
        )


def report_single_class(counts: ConfusionCounts, n_classes: int) -> None:
    """Say that one class leaves no room for chance."""
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
    """Name the metrics that are NaN, and what the groups in question lack."""
    names = []
    where = np.zeros(len(counts), dtype=np.bool_)
    for metric in chosen:
        is_nan: Any = np.isnan(values[metric.name])
        if is_nan.ndim == 2:  # by class, or by t
            is_nan = (is_nan & counts.is_class if metric.kind == "class" else is_nan).any(axis=1)
        if is_nan.any():
            names.append(metric.name)
            where |= is_nan
    if names:
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        warn(
            f"Undefined, hence NaN: {', '.join(names[:5])}{more}. {_notes(counts, where)}.",
            UndefinedWarning,
        )


def report_undefined_shares(counts: ConfusionCounts, empty: npt.NDArray[np.bool_]) -> None:
    """Name the groups in which a class has no rows to share; `empty` is (G, L)."""
    where: Any = (empty & counts.is_class).any(axis=1)
    if where.any():
        warn(
            f"Undefined, hence NaN: shares of a total of no rows. {_notes(counts, where)}.",
            UndefinedWarning,
        )


def _notes(counts: ConfusionCounts, where: npt.NDArray[np.bool_], *, predicted: bool = True) -> str:
    """What some groups lack, for the first five of them."""
    at = np.flatnonzero(where)
    has_keys = bool(counts.key_groups.names)
    texts = []
    for group in at[:5]:
        lacks = _lacks(counts, group, predicted=predicted)
        texts.append(
            f"Group {shown(counts.key_groups.values(group))}: {lacks}" if has_keys else lacks
        )
    return "; ".join(texts) + ("; and other groups" if len(at) > 5 else "")


def _lacks(counts: ConfusionCounts, group: int, *, predicted: bool) -> str:
    """The classes of one group that have no rows, and those that are never predicted."""
    if not counts.rows[group]:
        return "no rows"
    found = []
    for rows, text in ((counts.support, "no rows of"), (counts.predicted, "never predicted")):
        labels = counts.label_set.values
        empty = [labels[k] for k in np.flatnonzero((rows[group] == 0) & counts.is_class)]
        if empty and (predicted or rows is counts.support):
            found.append(f"{text} {listed(empty)}")
    return ", ".join(found) or "all rows have one label"
