"""Counts -> the numbers and tables that answer a question."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.engines.pandas_frames import count_arrays
from pandas_tba.errors import InputError, check_choice, check_flag, is_real, listed, shown
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.metrics import METRICS, evaluate, find_metrics
from pandas_tba.scoring.results import (
    Exponent,
    Prevalence,
    check_counts,
    check_names,
    check_positive,
    class_prevalence,
    described,
    exponents_of,
    hits_and_support,
    of_classes,
    over_t,
    size_names,
    sizes,
    with_labels,
    with_t,
)
from pandas_tba.scoring.tempering import (
    adjust_for_chance,
    check_t,
    ratio,
    tempered_bounds,
    tempered_mean,
)
from pandas_tba.scoring.undefined import (
    causes,
    report_absent,
    report_single_class,
    report_undefined,
    report_undefined_shares,
)

FloatArray = npt.NDArray[np.float64]

Absent: TypeAlias = Literal["nan", "exclude", "raise"]


@overload
def score(
    counts: ConfusionCounts,
    *,
    t: float = 0.5,
    prevalence: Prevalence = "own",
    absent: Absent = "nan",
    adjusted: bool = False,
    smoothing: float = 0.0,
) -> float | pd.Series: ...
@overload
def score(
    counts: ConfusionCounts,
    *,
    t: Iterable[float],
    prevalence: Prevalence = "own",
    absent: Absent = "nan",
    adjusted: bool = False,
    smoothing: float = 0.0,
) -> pd.Series | pd.DataFrame: ...
def score(
    counts: ConfusionCounts,
    *,
    t: Exponent = 0.5,
    prevalence: Prevalence = "own",
    absent: Absent = "nan",
    adjusted: bool = False,
    smoothing: float = 0.0,
) -> float | pd.Series | pd.DataFrame:
    """Tempered balanced accuracy: the mean of per-class recall weighted by prevalence**t.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    t : float, or list of float, default 0.5
        Exponent: 1 is accuracy, 0 balanced accuracy, below 0 rare classes weigh more. Infinite
        values are the limits. A list adds an axis ``t``.
    prevalence : {"own", "pooled"}, mapping or Series, default "own"
        Whose class shares give the weights: each group's own, those of all groups together, or
        given ones (label to share, every class named, greater than 0; they are normalised).
    absent : {"nan", "exclude", "raise"}, default "nan"
        What to do with a class that has weight but no rows in a group, so that the score is
        undefined: NaN; leave the class out and renormalise, as scikit-learn does; or InputError.
    adjusted : bool, default False
        Rescale so that a uniform guesser has 0: (score - 1/K) / (1 - 1/K), K declared classes.
    smoothing : float, default 0
        Rows added to every cell: recall is (hits + a) / (support + K a). An absent class then has
        recall 1/K. Prevalence is not smoothed.

    Returns
    -------
    float, Series or DataFrame
        Share between 0 and 1: a float for one t without groups or models; a Series over groups,
        or over t; a DataFrame of groups by t. The models are the first level of the groups.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used, or a class is absent with
        ``absent="raise"``.

    Warns
    -----
    UndefinedWarning
        Once, naming groups and classes, where a class has no rows.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[88, 2], [6, 4]])
    >>> tba.score(counts, t=[0, 0.5, 1]).round(3).tolist()
    [0.689, 0.833, 0.92]
    """
    check_counts(counts)
    exponents, is_list = asked = exponents_of(t)
    if absent != "nan":
        check_choice("absent", absent, ("nan", "exclude", "raise"))
    if type(smoothing) is not float or smoothing != 0.0:
        smoothing = _check_smoothing(smoothing)
    if adjusted is not False:
        check_flag("adjusted", adjusted)
    names = ("t",) if is_list else ()
    check_names(counts, names if is_list and counts.key_groups.names else ("tba", *names))
    hits, support = hits_and_support(counts)
    weights_of = class_prevalence(counts, prevalence, support)
    if absent != "exclude" and not smoothing and not (support.size and support.all()):
        report_absent(counts, support, absent)
    recall = ratio(hits + smoothing, support + smoothing * support.shape[1])
    among = support > 0 if absent == "exclude" and not smoothing else None
    columns = [tempered_mean(recall, weights_of, exponent, among) for exponent in exponents]
    if adjusted:
        columns = [adjust_for_chance(column, support.shape[1]) for column in columns]
        report_single_class(counts, support.shape[1])
    if not counts.key_groups.names and not is_list:
        return float(columns[0][0])
    return described(
        _arranged(counts, exponents, columns, is_list=is_list), counts, asked, prevalence
    )


def _arranged(
    counts: ConfusionCounts, exponents: list[float], columns: list[FloatArray], *, is_list: bool
) -> pd.Series | pd.DataFrame:
    """Scores as a Series or DataFrame, as t and groups ask for."""
    axis = pd.Index(exponents, name="t", dtype=np.float64)
    if not counts.key_groups.names:
        return pd.Series(
            [column[0] for column in columns], index=axis, name="tba", dtype=np.float64
        )
    if not is_list:
        return pd.Series(columns[0], index=counts.groups, name="tba")
    return pd.DataFrame(np.stack(columns, axis=1), index=counts.groups, columns=axis)


def metrics(
    counts: ConfusionCounts,
    *,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    t: Exponent = 0.5,
) -> pd.DataFrame:
    """Table of metrics, one row for each group.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    metrics : name, Metric, or list of these, optional
        Those of `METRICS` by default: all that need no positive class, and with a positive class
        the others for it.
    t : float, or list of float, default 0.5
        Exponent of tba, tba_slope and majority; weights are each group's own. A list adds the
        last level ``t`` to the index.

    Returns
    -------
    DataFrame
        Columns n (rows), min_support (rows of the smallest class), n_absent (classes without
        rows), then the metrics: shares unless METRICS says otherwise.

    Raises
    ------
    InputError
        If a metric is not known, or is about one class and no class is positive.

    Warns
    -----
    UndefinedWarning
        Once, naming groups and classes, where a metric is NaN.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> tba.metrics(counts, metrics=["accuracy", "balanced_accuracy", "recall"])
         n  min_support  n_absent  accuracy  balanced_accuracy  recall
    0  100           10         0      0.71               0.75     0.8
    """
    check_counts(counts)
    exponents, is_list = exponents_of(t)
    chosen = _chosen_metrics(counts, metrics)
    names = [*size_names(counts), *(metric.name for metric in chosen)]
    check_names(counts, (*names, "t") if is_list else names)
    support = of_classes(counts, counts.support)
    values: dict[str, Any] = sizes(counts, support)
    arrays = _arrays(counts)
    for metric in chosen:
        values[metric.name] = _metric_values(metric, arrays, counts, exponents)
    report_undefined(counts, chosen, values)
    rows = {name: over_t(column, len(exponents)) for name, column in values.items()}
    index = with_t(counts.groups, counts, exponents) if is_list else counts.groups
    return described(pd.DataFrame(rows, index=index, copy=False), counts, t, "own")


def _chosen_metrics(
    counts: ConfusionCounts, metrics: str | Metric | Iterable[str | Metric] | None
) -> list[Metric]:
    """The metrics asked for; by default all that are defined without asking."""
    has_positive = counts.pos_label is not None
    if metrics is None:
        return sorted(
            (metric for metric in METRICS if metric.kind == "overall" or has_positive),
            key=lambda metric: metric.kind == "class",
        )
    chosen = find_metrics(metrics)
    check_positive(counts, chosen)
    return chosen


def _arrays(counts: ConfusionCounts) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Hits, support, predicted and total as float."""
    hits, support, predicted = (
        part.astype(np.float64, order="K")
        for part in (counts.hits, counts.support, counts.predicted)
    )
    return hits, support, predicted, counts.weight.astype(np.float64)[:, None]


def _metric_values(
    metric: Metric,
    arrays: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    counts: ConfusionCounts,
    exponents: list[float],
) -> FloatArray:
    """Values of one metric: (G,), or (G, T) where it depends on t."""
    if metric.kind == "class":
        of_class = evaluate(metric, arrays, counts.is_class)
        return of_class[:, counts.label_set.values.index(counts.pos_label)]
    if not metric.takes_t:
        return evaluate(metric, arrays, counts.is_class)
    columns = [evaluate(metric, arrays, counts.is_class, t) for t in exponents]
    return np.stack(columns, axis=1)


def per_class(
    counts: ConfusionCounts, *, metrics: str | Metric | Iterable[str | Metric] | None = None
) -> pd.DataFrame:
    """Table of each label against the rest, one row for each group and label.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    metrics : name, Metric, or list of these, optional
        Metrics of kind "class"; all of METRICS by default.

    Returns
    -------
    DataFrame
        The last level of the index is ``label``. Columns is_class (False for a label that was
        only predicted), support, predicted, hits (rows), then the metrics.

    Raises
    ------
    InputError
        If a metric is not known, or is not about one class.

    Warns
    -----
    UndefinedWarning
        Once, naming groups and classes, where a metric of a class is NaN.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> tba.per_class(counts, metrics="recall")
           is_class  support  predicted  hits  recall
    label
    0          True       90         65    63     0.7
    1          True       10         35     8     0.8
    """
    check_counts(counts)
    chosen = [metric for metric in METRICS if metric.kind == "class"]
    if metrics is not None:
        chosen = find_metrics(metrics)
    overall = [metric.name for metric in chosen if metric.kind == "overall"]
    if overall:
        raise InputError(
            f"`metrics`: {listed(overall)} {'speaks' if len(overall) == 1 else 'speak'} of all classes together; ask metrics() for it."
        )
    arrays = _arrays(counts)
    values = {metric.name: evaluate(metric, arrays, counts.is_class) for metric in chosen}
    names = ("label", "is_class", "support", "predicted", "hits", *values)
    check_names(counts, names)
    report_undefined(counts, chosen, values)
    columns: dict[str, Any] = {
        "is_class": np.tile(counts.is_class, len(counts)),
        "support": counts.support.reshape(-1),
        "predicted": counts.predicted.reshape(-1),
        "hits": counts.hits.reshape(-1),
        **{name: column.reshape(-1) for name, column in values.items()},
    }
    index = with_labels(counts, "label")
    return described(pd.DataFrame(columns, index=index), counts, None, None)


def confusion_matrix(
    counts: ConfusionCounts, *, normalize: Literal["true", "pred", "all"] | None = None
) -> pd.DataFrame:
    """Confusion matrix, rows true and columns predicted; one below the other for groups.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    normalize : {"true", "pred", "all"}, optional
        Shares of the rows of a true label, of a predicted label, or of the group.

    Returns
    -------
    DataFrame
        The last level of the index is ``y_true``, the columns are ``y_pred``: rows, or shares.

    Raises
    ------
    InputError
        If `normalize` is none of these.

    Warns
    -----
    UndefinedWarning
        Once, naming groups and classes, where a share is NaN since there is nothing to share.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> tba.confusion_matrix(counts, normalize="true")
    y_pred    0    1
    y_true
    0       0.7  0.3
    1       0.2  0.8
    """
    check_counts(counts)
    check_names(counts, ("y_true", "y_pred"))
    cells: npt.NDArray[Any] = counts.cells.copy()  # the table can be changed, the counts not
    if normalize is not None:
        check_choice("normalize", normalize, ("true", "pred", "all"))
        totals = {
            "true": counts.support[:, :, None],
            "pred": counts.predicted[:, None, :],
            "all": counts.weight[:, None, None],
        }
        cells = ratio(cells, totals[normalize])
        axis = 2 if normalize == "pred" else 1
        report_undefined_shares(counts, np.asarray(np.isnan(cells).all(axis=3 - axis)))
    n_labels = len(counts.label_set.values)
    table = pd.DataFrame(
        cells.reshape(len(counts) * n_labels, n_labels),
        index=with_labels(counts, "y_true"),
        columns=counts.labels.rename("y_pred"),
    )
    return described(table, counts, None, None)


def bounds(
    counts: ConfusionCounts, *, t: Exponent = 0.5, prevalence: Prevalence = "own"
) -> pd.DataFrame:
    """Lowest and highest tempered balanced accuracy that the data allow.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    t, prevalence
        As in `score`.

    Returns
    -------
    DataFrame
        Columns n (rows), min_support (rows of the smallest class), n_absent (classes without
        rows), low and high: the score if the recall of every absent class were 0, or 1. The two
        are equal where every class that has weight has rows. NaN without any class.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[60, 3], [0, 0]])
    >>> tba.bounds(counts, t=0).round(3)
        n  min_support  n_absent    low   high
    0  63            0         1  0.476  0.976
    """
    check_counts(counts)
    exponents, is_list = exponents_of(t)
    check_names(counts, (*size_names(counts), "low", "high", *(("t",) if is_list else ())))
    hits, support = hits_and_support(counts)
    weights_of = class_prevalence(counts, prevalence, support)
    recall = ratio(hits, support)
    pairs = [tempered_bounds(recall, weights_of, exponent) for exponent in exponents]
    values: dict[str, Any] = sizes(counts, support)
    values["low"] = np.stack([low for low, _ in pairs], axis=1)
    values["high"] = np.stack([high for _, high in pairs], axis=1)
    rows = {name: over_t(column, len(exponents)) for name, column in values.items()}
    index = with_t(counts.groups, counts, exponents) if is_list else counts.groups
    return described(pd.DataFrame(rows, index=index), counts, t, prevalence)


def tempered_balanced_accuracy_score(
    y_true: npt.ArrayLike,
    y_pred: npt.ArrayLike,
    *,
    t: float = 0.5,
    sample_weight: npt.ArrayLike | None = None,
    labels: Iterable[Hashable] | None = None,
    prevalence: Prevalence = "own",
    absent: Absent = "nan",
    adjusted: bool = False,
    smoothing: float = 0.0,
) -> float:
    """Tempered balanced accuracy of two arrays of labels, in the manner of scikit-learn.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
        True and predicted labels, matched by position.
    t : float, default 0.5
        Exponent of prevalence: 1 is accuracy, 0 balanced accuracy.
    sample_weight : array_like, shape (n,), optional
        Sampling weights, finite and not negative.
    labels : list, optional
        The classes; those of y_true by default.
    prevalence, absent, adjusted, smoothing
        As in `score`.

    Returns
    -------
    float
        Share between 0 and 1; NaN where a class that has weight has no rows.

    Raises
    ------
    InputError
        If the arrays do not fit each other, or a label is missing or not among `labels`.

    Notes
    -----
    For cross-validation use StratifiedKFold, or bind the classes with `functools.partial`: the
    classes of a fold are those of its own y_true.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> tba.tempered_balanced_accuracy_score(["a", "a", "b", "b"], ["a", "b", "b", "b"], t=0)
    0.75
    """
    value = score(
        count_arrays(y_true, y_pred, sample_weight=sample_weight, labels=labels),
        t=_one_exponent(t),
        prevalence=prevalence,
        absent=absent,
        adjusted=adjusted,
        smoothing=smoothing,
    )
    return float(value)  # type: ignore[arg-type]


def _one_exponent(t: object) -> float:
    """The exponent as a float; InputError where there are several, since a score is one number."""
    if isinstance(t, Iterable) and not isinstance(t, (str, bytes)) and getattr(t, "ndim", 1) != 0:
        raise InputError(
            f"`t` must be one number, as a score of arrays is one; got {shown(t)}. For several: "
            "tba.score(tba.count(df), t=[0, 1])."
        )
    return check_t(t)


def _check_smoothing(smoothing: object) -> float:
    """The rows added to each cell as a float; InputError unless it is a number of them."""
    if is_real(smoothing) and 0 <= float(smoothing) < math.inf:  # type: ignore[arg-type]
        return float(smoothing)  # type: ignore[arg-type]
    raise InputError(
        f"`smoothing` must be a finite number of rows, 0 or more; got {shown(smoothing)}."
    )


def undefined(
    counts: ConfusionCounts,
    *,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    t: Exponent = 0.5,
) -> pd.DataFrame:
    """Table of the values that are undefined, hence NaN in `metrics` and `per_class`, and why.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    metrics : name, Metric, or list of these, optional
        All of METRICS by default. Those about one class are asked for every label.
    t : float, or list of float, default 0.5
        Exponent of tba, tba_slope and majority. A list adds the last level ``t`` to the index.

    Returns
    -------
    DataFrame
        A row for each undefined value, and for each class that makes it so, with the group as
        index. Columns metric, class (None where no single class is the reason) and reason.

    Raises
    ------
    InputError
        If a metric is not known.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[60, 3], [0, 0]])
    >>> tba.undefined(counts, metrics=["accuracy", "balanced_accuracy", "fnr"])
                  metric class        reason
    0  balanced_accuracy     1  no rows of 1
    0                fnr     1  no rows of 1
    """
    check_counts(counts)
    exponents, is_list = exponents_of(t)
    chosen = list(METRICS) if metrics is None else find_metrics(metrics)
    check_names(counts, ("metric", "class", "reason", *(("t",) if is_list else ())))
    arrays = _arrays(counts)
    asked = [(at, metric) for at in range(len(exponents)) for metric in chosen]
    values = [evaluate(metric, arrays, counts.is_class, exponents[at]) for at, metric in asked]
    found = [
        causes(counts, metric, np.isnan(value))
        for (_, metric), value in zip(asked, values, strict=True)
    ]
    groups, codes, reasons = (np.concatenate(parts) for parts in zip(*found, strict=True))
    which = np.repeat(np.arange(len(found)), [len(part.groups) for part in found])
    order = np.lexsort((codes, which, groups))
    at_t, place = np.divmod(which, len(chosen))
    labels = np.empty(len(counts.label_set.values) + 1, dtype=object)  # the last one is None
    labels[:-1] = counts.label_set.values
    columns = {
        "metric": np.array([metric.name for metric in chosen], dtype=object)[place],
        "class": pd.Series(labels[codes], dtype=object),
        "reason": reasons,
    }
    index = with_t(counts.groups, counts, exponents) if is_list else counts.groups
    table = pd.DataFrame(columns).set_axis(index.take(groups * len(exponents) + at_t))
    table = table.iloc[order].astype({"metric": str, "reason": str})
    return described(table, counts, t, None)
