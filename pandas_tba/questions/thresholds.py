"""Scores of a binary problem -> tempered balanced accuracy at every threshold, and the best one."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.groups import Groups, sorted_groups
from pandas_tba.errors import (
    InputError,
    UndefinedWarning,
    counted,
    listed,
    nearest,
    shown,
    warn,
)
from pandas_tba.frames.checks import check_not_mixed, score_values
from pandas_tba.frames.codes import ColumnCodes, encode, narrowest, of_all_rows
from pandas_tba.frames.values import pandas_column, plain_series
from pandas_tba.scoring.results import Exponent, exponents_of
from pandas_tba.scoring.tempering import class_weights, ratio

Codes = npt.NDArray[np.intp]
Counts = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_SWEEP = ("threshold", "tp", "fp", "fn", "tn", "recall", "specificity", "tba")
_BEST = (
    "n",
    "min_support",
    "n_absent",
    "threshold",
    "score",
    "calibrated_threshold",
    "calibrated_score",
    "distance",
    "reason",
)
_NO_PROBABILITIES = "scores outside [0, 1] are no probabilities"
_TIE = 1e-12  # scores this close differ by rounding alone


class Scored(NamedTuple):
    """Rows of a binary problem: whether truly positive, score and group of each.

    ``labels`` are the negative and the positive one; ``place`` (n,) points into the groups.
    """

    is_positive: BoolArray
    scores: FloatArray
    place: Codes
    groups: Groups
    labels: tuple[Hashable, Hashable]


class Steps(NamedTuple):
    """S thresholds, group by group, falling within each: first +inf, where nothing is positive.

    ``first`` and ``length`` (G) say where the steps of a group start, and how many they are;
    ``hits`` and ``false_alarms`` (S) are the positive and negative rows with a score of the
    threshold or more; ``support`` (G, 2) are the negative and positive rows of each group.
    """

    first: Codes
    length: Codes
    threshold: FloatArray
    hits: Counts
    false_alarms: Counts
    support: Counts

    def spread(self, of_groups: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The value of its group for each step."""
        return np.repeat(of_groups, self.length)


def count_thresholds(
    is_positive: BoolArray, scores: FloatArray, place: Codes, n_groups: int
) -> Steps:
    """Count at every threshold that changes a prediction, in each group: one sort for all."""
    # one more row for each group, of no class and above all others, makes the step at +inf
    scores = np.append(scores, np.full(n_groups, np.inf))
    is_positive = np.append(is_positive, np.zeros(n_groups, dtype=np.bool_))
    group = np.append(place, np.arange(n_groups)).astype(narrowest(n_groups))
    # rows of one score are one step, so the first sort need not be stable; the second one, of
    # narrow codes, numpy does by radix
    order = np.argsort(scores)[::-1]
    by_group = np.argsort(group[order], kind="stable")
    order = order[by_group]
    group, score = group[order], scores[order]
    is_last = np.ones(len(order), dtype=np.bool_)
    np.logical_or(score[1:] != score[:-1], group[1:] != group[:-1], out=is_last[:-1])
    last = np.flatnonzero(is_last)
    threshold = score[last]
    first = np.flatnonzero(np.isposinf(threshold))
    length = np.diff(first, append=len(last))
    hits = np.cumsum(is_positive[order], dtype=np.int64)[last]
    ends = first + length - 1
    rows = np.diff(last[ends] + 1, prepend=0)
    positives = np.diff(hits[ends], prepend=0)
    hits -= np.repeat(np.cumsum(positives) - positives, length)
    answered = last - np.repeat(np.cumsum(rows) - rows, length)
    support = np.stack([rows - 1 - positives, positives], axis=1)
    return Steps(first, length, threshold, hits, answered - hits, support)


def sweep(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Hashable,
    groups: Any = None,
    t: Exponent = 0.5,
) -> pd.DataFrame:
    """Table of tempered balanced accuracy over every threshold of the scores.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        True labels of exactly two classes.
    y_score : array_like, shape (n,)
        Scores, finite; the larger, the more likely positive. Matched with y_true by position.
    pos_label : label
        The positive class: predicted where the score is the threshold or more.
    groups : array_like, shape (n,), or DataFrame, optional
        Group of each row, by position; the columns of a DataFrame are several keys.
    t : float, or list of float, default 0.5
        Exponent; weights are each group's own. A list adds the last level ``t``.

    Returns
    -------
    DataFrame
        A row for each threshold that changes a prediction, from +inf (nothing is positive) down
        to the lowest score. Levels: the groups, then ``step``, counted from 0. Columns threshold;
        tp, fp, fn, tn (rows); recall and specificity (of the positive class); tba.

    Raises
    ------
    InputError
        If there are not two classes, pos_label is none of them, lengths differ, or a label or
        score is missing or a score infinite.
    KindError
        If the scores are no numbers.

    Warns
    -----
    UndefinedWarning
        Once, naming groups and classes, where a class has no rows.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> table = tba.sweep(["n", "n", "y"], [0.1, 0.7, 0.7], pos_label="y", t=0)
    >>> table[["threshold", "tp", "fp", "tba"]].to_numpy().tolist()
    [[inf, 0.0, 0.0, 0.5], [0.7, 1.0, 1.0, 0.75], [0.1, 1.0, 2.0, 0.5]]
    """
    exponents_of(t)
    return sweep_table(_scored(y_true, y_score, pos_label, groups), t=t)


def best_threshold(
    y_true: Any,
    y_score: Any,
    *,
    pos_label: Hashable,
    groups: Any = None,
    t: Exponent = 0.5,
) -> pd.DataFrame:
    """Table of the threshold that scores best in each group, beside that for calibrated scores.

    Parameters
    ----------
    y_true, y_score, pos_label, groups, t
        As in `sweep`.

    Returns
    -------
    DataFrame
        Columns n, min_support, n_absent; threshold, the best one, and score, the tempered
        balanced accuracy there: of thresholds that are equally good the highest, so that the
        fewest rows are positive (any number above the next lower score does the same);
        calibrated_threshold, the best one if the scores were calibrated probabilities,
        p_0**(t-1) / (p_0**(t-1) + p_1**(t-1)), and calibrated_score, the score there; distance,
        threshold less calibrated_threshold; reason, empty unless undefined.

    Raises
    ------
    InputError, KindError
        As in `sweep`.

    Notes
    -----
    The best threshold is found on the rows that it is judged by, so its score is somewhat
    optimistic. A calibrated_score far below score hints at scores that are not calibrated.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> table = tba.best_threshold(["n", "n", "n", "y"], [0.1, 0.2, 0.6, 0.4], pos_label="y", t=0)
    >>> table[["threshold", "score", "calibrated_threshold"]].round(3).values.tolist()
    [[0.4, 0.833, 0.25]]
    """
    exponents_of(t)
    return best_threshold_table(_scored(y_true, y_score, pos_label, groups), t=t)


def sweep_table(scored: Scored, *, t: Exponent) -> pd.DataFrame:
    """Table of `sweep` from rows that are encoded and checked."""
    exponents, is_list = exponents_of(t)
    _check_names(scored.groups, ("step", "t", *_SWEEP) if is_list else ("step", *_SWEEP))
    steps = _count_steps(scored)
    negatives, positives = (steps.spread(part) for part in steps.support.T)
    true_negatives = negatives - steps.false_alarms
    columns: list[npt.NDArray[Any]] = [
        steps.threshold,
        steps.hits,
        steps.false_alarms,
        positives - steps.hits,
        true_negatives,
        ratio(steps.hits, positives),
        ratio(true_negatives, negatives),
    ]
    if is_list:
        columns = [np.repeat(column, len(exponents)) for column in columns]
    by_t = [_score_steps(steps, exponent) for exponent in exponents]
    columns.append(np.stack(by_t, axis=1).reshape(-1) if is_list else by_t[0])
    table = pd.DataFrame(dict(zip(_SWEEP, columns, strict=True)), copy=False)
    table.index = _step_index(scored.groups, steps, exponents, is_list=is_list)
    return _described(table, scored, t)


def best_threshold_table(scored: Scored, *, t: Exponent) -> pd.DataFrame:
    """Table of `best_threshold` from rows that are encoded and checked."""
    exponents, is_list = exponents_of(t)
    _check_names(scored.groups, (*_BEST, "t") if is_list else _BEST)
    steps = _count_steps(scored)
    is_probability = bool(scored.scores.min(initial=0) >= 0 and scored.scores.max(initial=1) <= 1)
    parts = [
        _best(steps, scored, exponent, is_probability=is_probability) for exponent in exponents
    ]
    columns: dict[str, Any] = {
        name: np.stack([part[name] for part in parts], axis=1).reshape(-1) for name in _BEST
    }
    columns["reason"] = pd.Series(columns["reason"], dtype=pd.Index([""]).dtype)
    index = scored.groups.index()
    if is_list:
        every = np.repeat(np.arange(len(scored.groups)), len(exponents))
        index = _index(scored.groups, every, [_axis_of_t(exponents, len(scored.groups))])
    return _described(pd.DataFrame(columns).set_axis(index), scored, t)


def _count_steps(scored: Scored) -> Steps:
    """Counts at every threshold; a warning names classes without rows."""
    steps = count_thresholds(scored.is_positive, scored.scores, scored.place, len(scored.groups))
    lacking = np.argwhere(steps.support == 0).tolist()
    if lacking:
        # without any rows there may be one label only
        texts = list(
            dict.fromkeys(_absent_label(scored, group, label) for group, label in lacking[:5])
        )
        more = "; and others" if len(lacking) > 5 else ""
        warn(
            f"Undefined recall of classes without rows: {'; '.join(texts)}{more}. The score is NaN "
            "wherever such a class has weight: at t <= 0.",
            UndefinedWarning,
        )
    return steps


def _absent_label(scored: Scored, group: int, label: int) -> str:
    """Which label of which group has no rows."""
    text = f"no rows of {shown(scored.labels[label])}"
    return f"Group {shown(scored.groups.values(group))}: {text}" if scored.groups.names else text


def _score_steps(steps: Steps, t: float) -> FloatArray:
    """Tempered balanced accuracy at each threshold; NaN where a class of weight has no rows."""
    is_absent = steps.support == 0
    weights = class_weights(steps.support, t=t)
    without = 0.0 if t > 0 else np.nan
    per_row = np.where(is_absent, without, weights / np.maximum(steps.support, 1))
    per_row[is_absent.all(axis=1)] = np.nan
    # of the negative rows those are right that raise no false alarm
    highest = per_row[:, 0] * steps.support[:, 0]
    lost, won = (steps.spread(part) for part in per_row.T)
    return np.asarray(steps.spread(highest) - lost * steps.false_alarms + won * steps.hits)


def _best(
    steps: Steps, scored: Scored, t: float, *, is_probability: bool
) -> dict[str, npt.NDArray[Any]]:
    """Columns of `best_threshold` at one t, each (G,)."""
    tba = _score_steps(steps, t)
    is_best = tba >= steps.spread(np.maximum.reduceat(tba, steps.first)) - _TIE
    best = np.minimum(_first_of(is_best, steps), steps.first + steps.length - 1)
    is_absent = (steps.support == 0).any(axis=1)
    closed = class_weights(steps.support, t=t - 1)[:, 0]
    closed[is_absent | (not is_probability)] = np.nan
    # a score that equals the threshold but for rounding is positive, and the threshold is that score
    last = _first_of(steps.threshold < steps.spread(closed) * (1.0 - _TIE), steps) - 1
    at_closed = np.where(np.isnan(closed), np.nan, tba[last])
    closed = np.minimum(closed, np.where(np.isnan(closed), np.nan, steps.threshold[last]))
    threshold = np.where(np.isnan(tba[best]), np.nan, steps.threshold[best])
    reasons = np.full(len(closed), "" if is_probability else _NO_PROBABILITIES, dtype=object)
    for group in np.flatnonzero(is_absent):
        classes = [scored.labels[k] for k in np.flatnonzero(steps.support[group] == 0)]
        reasons[group] = f"no rows of {listed(dict.fromkeys(classes))}"
    columns = [
        steps.support.sum(axis=1),
        steps.support.min(axis=1),
        (steps.support == 0).sum(axis=1),
        threshold,
        tba[best],
        closed,
        at_closed,
        threshold - closed,
        reasons,
    ]
    return dict(zip(_BEST, columns, strict=True))


def _first_of(holds: BoolArray, steps: Steps) -> Codes:
    """The first step of each group that holds; the one after its last where none does."""
    at = np.append(np.flatnonzero(holds), len(holds))
    found: Codes = at[np.searchsorted(at, steps.first)]
    return np.minimum(found, steps.first + steps.length)


def _step_index(groups: Groups, steps: Steps, exponents: list[float], *, is_list: bool) -> pd.Index:
    """Index of groups, thresholds and exponents."""
    step = np.arange(len(steps.threshold)) - steps.spread(steps.first)
    group = steps.spread(np.arange(len(groups)))
    if not groups.names and not is_list:
        return pd.RangeIndex(len(step), name="step")
    values = range(int(step.max(initial=-1)) + 1)
    if not is_list:
        return _index(groups, group, [("step", values, step)])
    axes: list[tuple[str, Any, Codes]] = [
        ("step", values, np.repeat(step, len(exponents))),
        _axis_of_t(exponents, len(step)),
    ]
    return _index(groups, np.repeat(group, len(exponents)), axes)


def _axis_of_t(exponents: list[float], n_times: int) -> tuple[str, Any, Codes]:
    """The level of the exponents."""
    codes, values = pd.factorize(np.array(exponents))  # a t that is asked for twice is one value
    return "t", values, np.tile(codes, n_times)


def _index(groups: Groups, place: Codes, axes: list[tuple[str, Any, Codes]]) -> pd.Index:
    """The group of each row, then further levels by their values and codes."""
    names = [*groups.names, *(name for name, _, _ in axes)]
    if len(names) == 1:
        return pd.Index(axes[0][1], name=names[0]).take(axes[0][2])
    return pd.MultiIndex(
        levels=list[Any]([*groups.levels, *(pd.Index(values) for _, values, _ in axes)]),
        codes=list[Any]([*groups.codes[place].T, *(codes for _, _, codes in axes)]),
        names=names,
        verify_integrity=False,
    )


def _check_names(groups: Groups, taken: tuple[str, ...]) -> None:
    """InputError for a key that bears a name of the result."""
    hit = [name for name in groups.names if name in taken]
    if hit:
        raise InputError(
            f"`groups`: the key {shown(hit[0])} has the name of a column or level of the result; "
            "rename it."
        )


def _described(table: pd.DataFrame, scored: Scored, t: Exponent) -> pd.DataFrame:
    """The table with its exponents and classes in attrs."""
    exponents, is_list = exponents_of(t)
    single = exponents[0] if math.isfinite(exponents[0]) else str(exponents[0])
    table.attrs["tba"] = {
        "classes": [str(label) for label in scored.labels],
        "t": [f"{value:g}" for value in exponents] if is_list else single,
        "chance": 0.5,
        "prevalence": "own",
    }
    return table


def _scored(y_true: Any, y_score: Any, pos_label: Hashable, groups: Any) -> Scored:
    """Check and encode the arguments of `sweep`."""
    truth, scores = _threshold_column("y_true", y_true), _threshold_column("y_score", y_score)
    check_not_mixed("y_true", "y_true", truth)
    n_rows = len(truth)
    keys = [] if groups is None else _key_columns(groups)
    for name, column in [("y_score", scores), *(("groups", key) for key in keys)]:
        if len(column) != n_rows:
            raise InputError(
                f"`y_true` and `{name}` must be of one length; got {n_rows:,} and {len(column):,}."
            )
    labels, is_positive = _binary_labels(truth, pos_label)
    values = check_scores(score_values("y_score", scores))
    place, found = grouped_rows(keys) if keys else (np.zeros(n_rows, dtype=np.intp), Groups())
    return Scored(is_positive, values, place, found, labels)


def _threshold_column(argument: str, values: Any) -> pd.Series:
    """One column of an array or list; InputError for anything else."""
    values = pandas_column(values)
    column = values if isinstance(values, pd.Series) else None
    if column is None and np.ndim(values) == 1:
        column = plain_series(values)
    if column is None:
        raise InputError(f"`{argument}` must be one column; got shape {np.shape(values)}.")
    return column.reset_index(drop=True)


def _key_columns(groups: Any) -> list[pd.Series]:
    """The keys, one column each."""
    if isinstance(groups, pd.DataFrame):
        if groups.shape[1] == 0 or not groups.columns.is_unique:
            raise InputError(
                "`groups` must have columns of different names, one for each key; got "
                f"{listed(groups.columns) or 'none'}."
            )
        return [groups[name].reset_index(drop=True) for name in groups.columns]
    column = _threshold_column("groups", groups)
    return [column.rename("group") if column.name is None else column]


def check_scores(scores: FloatArray) -> FloatArray:
    """The scores; InputError where some are missing or infinite."""
    missing, infinite = int(np.isnan(scores).sum()), int(np.isinf(scores).sum())
    if missing or infinite:
        raise InputError(
            f"`y_score` must hold finite numbers; of {counted(len(scores), 'row')} it is missing in "
            f"{missing:,} and infinite in {infinite:,}. Leave these rows out; infinite log-odds "
            "can be turned into probabilities."
        )
    return scores


def _binary_labels(
    truth: pd.Series, pos_label: Hashable
) -> tuple[tuple[Hashable, Hashable], BoolArray]:
    """Negative and positive label, and which rows are positive."""
    encoded, codes = encoded_column(truth)
    rows = np.bincount(codes, minlength=encoded.size)
    if encoded.has_missing and rows[0]:
        raise InputError(
            f"`y_true` must not hold missing labels; {rows[0]:,} of {counted(len(codes), 'row')} "
            "do. Leave these rows out."
        )
    found = np.flatnonzero(rows)
    labels = encoded.values(found - encoded.has_missing)
    if len(labels) != 2:
        raise InputError(
            f"`y_true` must hold exactly two classes; got {listed(labels) or 'none'}. Of more, set "
            "one against the rest: y_true == label, with pos_label=True."
        )
    if pos_label not in labels:
        raise InputError(
            f"`pos_label` must be one of {listed(labels)}; got {shown(pos_label)}."
            f"{nearest(pos_label, labels)}"
        )
    positive = labels.index(pos_label)
    return (labels[1 - positive], labels[positive]), codes == found[positive]


def grouped_rows(keys: list[pd.Series], *, has_model: bool = False) -> tuple[Codes, Groups]:
    """The group of each row, and the groups that occur, in order."""
    columns = [encoded_column(key) for key in keys]
    fused = np.zeros(len(keys[0]), dtype=np.intp)
    for encoded, codes in columns:
        fused = pd.factorize(fused * encoded.size + codes)[0]
    row_of = np.empty(fused.max(initial=-1) + 1, dtype=np.intp)
    row_of[fused] = np.arange(len(fused))
    place = [codes[row_of].astype(np.intp) - encoded.has_missing for encoded, codes in columns]
    levels = [(encoded.levels(), encoded.order is not None) for encoded, _ in columns]
    names = [key.name for key in keys]
    groups = sorted_groups(names, levels, np.stack(place, axis=1), has_model=has_model)
    ordered, at = groups.in_order()
    return at[fused], ordered


def encoded_column(column: pd.Series) -> tuple[ColumnCodes, npt.NDArray[Any]]:
    """Codes of a column, and the code of each row."""
    return of_all_rows(encode(column), len(column))
