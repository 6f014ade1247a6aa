"""METRICS: one row a metric, with all that tables, documentation and tests need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import numpy as np

from pandas_tba.errors import InputError, KindError, is_real, listed, nearest, shown
from pandas_tba.scoring import gradients
from pandas_tba.scoring.definitions import (
    ABSENT,
    ALONE,
    ALWAYS_PREDICTED,
    EVERYWHERE,
    NEGLECTED,
    NOWHERE,
    UNPREDICTED,
    BoolArray,
    FloatArray,
    FourCells,
    Metric,
)
from pandas_tba.scoring.tempering import (
    check_t,
    majority_score,
    ratio,
    tempered_mean,
    tempered_slope,
)

_SOKOLOVA = "Sokolova and Lapalme 2009, doi:10.1016/j.ipm.2009.03.002"
_POWERS = "Powers 2011, doi:10.48550/arXiv.2010.16061"
_ALTMAN = "Altman and Bland 1994, doi:10.1136/bmj.309.6947.102"
_DEEKS = "Deeks and Altman 2004, doi:10.1136/bmj.329.7458.168"
_SIGNED, _POSITIVE = (-1.0, 1.0), (0.0, np.inf)


def one_against_rest(hits: Any, support: Any, predicted: Any, total: Any) -> FourCells:
    """Hits, misses, false positives and true negatives of each label, (G, L), none negative."""
    false_positives = predicted - hits
    true_negatives = total - (support + false_positives)
    # Sums of weights in another order differ by the rounding of 2 L additions, and a quotient of
    # two such nothings would be a number. Whole numbers of rows are not touched below 2**51 / L.
    noise = 2 * hits.shape[1] * np.finfo(np.float64).eps * total
    return (
        hits,
        support - hits,
        false_positives,
        np.where(true_negatives > noise, true_negatives, 0.0),
    )


def _share(part: Any, whole: Any) -> FloatArray:
    """Quotient of a part; sums of weights in another order may else be a little above 1."""
    return np.minimum(ratio(part, whole), 1.0)


def _of_classes(values: Any, is_class: BoolArray) -> Any:
    """Values of the classes alone."""
    return values if is_class.all() else values[:, is_class]


def _of_cells(function: Callable[..., FloatArray]) -> Callable[..., FloatArray]:
    """A metric of one class, from a function of its hits, misses, false positives and true negatives."""

    @wraps(function)
    def metric(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
        return function(*one_against_rest(hits, support, predicted, total))

    return metric


def _recall(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    """Hits among the rows of the class."""
    return ratio(hits, support)


def _fnr(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    """Misses among the rows of the class."""
    return ratio(support - hits, support)


def _precision(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    """Hits among the rows predicted to be of the class."""
    return ratio(hits, predicted)


def _fdr(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    """False positives among the rows predicted to be of the class."""
    return ratio(predicted - hits, predicted)


def _prevalence(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    """Rows of the class among all."""
    return _share(support, total)


def _selection_rate(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    """Rows predicted to be of the class among all."""
    return _share(predicted, total)


def _f_beta(hits: Any, support: Any, predicted: Any, total: Any, beta: float = 1.0) -> FloatArray:
    """Weighted harmonic mean of precision and recall."""
    square = beta * beta
    # divided by 1 + beta**2, so that nothing overflows
    return _share(hits, support * (square / (1.0 + square)) + predicted / (1.0 + square))


def _jaccard(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    """Hits among the rows that are, or are predicted to be, of the class."""
    return ratio(hits, support + (predicted - hits))


@_of_cells
def _specificity(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """True negatives among the rows of other classes."""
    return ratio(true_negatives, false_positives + true_negatives)


@_of_cells
def _fpr(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """False positives among the rows of other classes."""
    return ratio(false_positives, false_positives + true_negatives)


@_of_cells
def _npv(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """True negatives among the rows predicted to be of other classes."""
    return ratio(true_negatives, misses + true_negatives)


@_of_cells
def _false_omission_rate(
    hits: Any, misses: Any, false_positives: Any, true_negatives: Any
) -> FloatArray:
    """Misses among the rows predicted to be of other classes."""
    return ratio(misses, misses + true_negatives)


@_of_cells
def _informedness(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """Recall and specificity less 1."""
    return ratio(
        hits * true_negatives - misses * false_positives,
        (hits + misses) * (false_positives + true_negatives),
    )


@_of_cells
def _markedness(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """Precision and negative predictive value less 1."""
    return ratio(
        hits * true_negatives - misses * false_positives,
        (hits + false_positives) * (misses + true_negatives),
    )


@_of_cells
def _lr_plus(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """Recall over the false positive rate."""
    return ratio(hits * (false_positives + true_negatives), false_positives * (hits + misses))


@_of_cells
def _lr_minus(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """The false negative rate over specificity."""
    return ratio(misses * (false_positives + true_negatives), true_negatives * (hits + misses))


@_of_cells
def _odds_ratio(hits: Any, misses: Any, false_positives: Any, true_negatives: Any) -> FloatArray:
    """Odds of a positive prediction in the class over those outside it."""
    return ratio(hits * true_negatives, misses * false_positives)


def _accuracy(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    """Hits among all rows."""
    return _share(hits.sum(axis=1), total[:, 0])


def _tempered(
    function: Callable[..., FloatArray],
    hits: Any,
    support: Any,
    predicted: Any,
    total: Any,
    is_class: Any,
    t: float,
) -> FloatArray:
    """A function of recall, prevalence and t, over the classes."""
    support = _of_classes(support, is_class)
    return function(ratio(_of_classes(hits, is_class), support), support, t)


def _macro(
    function: Callable[..., FloatArray],
    hits: Any,
    support: Any,
    predicted: Any,
    total: Any,
    is_class: Any,
) -> FloatArray:
    """Plain mean over the classes; a class without a value leaves none to the mean."""
    values = _of_classes(function(hits, support, predicted, total), is_class)
    return ratio(values.sum(axis=1), float(values.shape[1]))


def _weighted(
    function: Callable[..., FloatArray],
    hits: Any,
    support: Any,
    predicted: Any,
    total: Any,
    is_class: Any,
) -> FloatArray:
    """Mean over the classes weighted by support; a class without rows has no weight."""
    values = function(hits, support, predicted, total)
    with np.errstate(invalid="ignore"):
        return _share(np.where(support > 0, support * values, 0.0).sum(axis=1), total[:, 0])


def _g_mean(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    """Geometric mean of the recalls."""
    # the logarithm, since the product of many recalls underflows
    with np.errstate(divide="ignore"):
        logs = np.log(_of_classes(ratio(hits, support), is_class))
    return np.exp(ratio(logs.sum(axis=1), float(logs.shape[1])))


def _min_recall(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    """Smallest recall of a class."""
    recall = _of_classes(ratio(hits, support), is_class)
    return recall.min(axis=1, initial=1.0 if recall.shape[1] else np.nan)


def _mcc(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    """Matthews correlation of K classes (Gorodkin 2004), from covariances of the classes."""
    # sums over classes of differences that are exact, where those of squared totals would cancel
    hits, misses, false_positives, true_negatives = one_against_rest(
        hits, support, predicted, total
    )
    covariance = (hits * true_negatives - misses * false_positives).sum(axis=1)
    spread_true = (support * (false_positives + true_negatives)).sum(axis=1)
    spread_predicted = (predicted * (misses + true_negatives)).sum(axis=1)
    return ratio(covariance, np.sqrt(spread_true) * np.sqrt(spread_predicted)).clip(-1.0, 1.0)


def _cohen_kappa(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    """Agreement beyond chance (Cohen 1960), from covariances of the classes."""
    hits, misses, false_positives, true_negatives = one_against_rest(
        hits, support, predicted, total
    )
    covariance = (hits * true_negatives - misses * false_positives).sum(axis=1)
    disagreement = (predicted * (false_positives + true_negatives)).sum(axis=1)
    return ratio(covariance, disagreement).clip(-1.0, 1.0)


# fmt: off
METRICS: tuple[Metric, ...] = (
    Metric("accuracy", "overall", _accuracy, r"\frac{\sum_k h_k}{n}", undefined_where=(),
           reference=_SOKOLOVA, exponent=1.0, gradient=gradients.accuracy,
           aliases=("accuracy_score",)),
    Metric("balanced_accuracy", "overall", partial(_macro, _recall),
           r"\frac{1}{K} \sum_k \frac{h_k}{n_k}", undefined_where=(ABSENT,),
           reference="Brodersen et al. 2010, doi:10.1109/ICPR.2010.764", exponent=0.0,
           gradient=partial(gradients.macro, gradients.RECALL),
           aliases=("balanced_accuracy_score",)),
    Metric("tba", "overall", partial(_tempered, tempered_mean), r"\sum_k w_k \frac{h_k}{n_k}",
           takes_t=True, undefined_where=(ABSENT,), reference="tempered balanced accuracy", exponent="t",
           gradient=gradients.tempered_mean,
           aliases=("tempered_balanced_accuracy", "tempered_balanced_accuracy_score")),
    Metric("tba_slope", "overall", partial(_tempered, tempered_slope),
           r"\sum_k w_k \left(\ln p_k - \sum_j w_j \ln p_j\right) \frac{h_k}{n_k}",
           bounds=(-np.inf, np.inf), greater_is_better=None, takes_t=True, undefined_where=(ABSENT,),
           reference="derivative of tba by t", gradient=gradients.tempered_slope, limits="tba_slope"),
    Metric("majority", "overall", partial(_tempered, majority_score), r"w_{\arg\max_k p_k}",
           greater_is_better=None, takes_t=True, undefined_where=(ABSENT,),
           reference="tba of a classifier that always answers the most prevalent class",
           gradient=gradients.majority, limits="majority"),
    Metric("recall", "class", _recall, r"\frac{h_k}{n_k}", undefined_where=(ABSENT,), reference=_SOKOLOVA, share_of="support",
           gradient=gradients.RECALL,
           aliases=("sensitivity", "tpr", "hit_rate", "recall_score", "true_positive_rate")),
    Metric("specificity", "class", _specificity, r"\frac{c_k}{n - n_k}", undefined_where=(ALONE,),
           reference=_SOKOLOVA, share_of="rest", gradient=gradients.SPECIFICITY,
           aliases=("tnr", "selectivity", "true_negative_rate")),
    Metric("precision", "class", _precision, r"\frac{h_k}{q_k}", undefined_where=(UNPREDICTED,),
           reference=_SOKOLOVA, share_of="predicted", gradient=gradients.PRECISION,
           aliases=("ppv", "precision_score", "positive_predictive_value")),
    Metric("npv", "class", _npv, r"\frac{c_k}{n - q_k}", undefined_where=(ALWAYS_PREDICTED,),
           reference=_ALTMAN, share_of="unpredicted", gradient=gradients.NPV,
           aliases=("negative_predictive_value",)),
    Metric("fpr", "class", _fpr, r"\frac{q_k - h_k}{n - n_k}", greater_is_better=False,
           undefined_where=(ALONE,), reference=_POWERS, share_of="rest", gradient=gradients.FPR,
           aliases=("fall_out", "false_positive_rate", "false_alarm_rate")),
    Metric("fnr", "class", _fnr, r"\frac{n_k - h_k}{n_k}", greater_is_better=False, undefined_where=(ABSENT,),
           reference=_POWERS, share_of="support", gradient=gradients.FNR,
           aliases=("miss_rate", "false_negative_rate")),
    Metric("fdr", "class", _fdr, r"\frac{q_k - h_k}{q_k}", greater_is_better=False,
           undefined_where=(UNPREDICTED,), reference="1 - precision", share_of="predicted", gradient=gradients.FDR,
           aliases=("false_discovery_rate",)),
    Metric("false_omission_rate", "class", _false_omission_rate, r"\frac{n_k - h_k}{n - q_k}",
           greater_is_better=False, undefined_where=(ALWAYS_PREDICTED,), reference="1 - npv", share_of="unpredicted",
           gradient=gradients.FALSE_OMISSION_RATE,
           aliases=("for",)),
    Metric("f1", "class", _f_beta, r"\frac{2 h_k}{n_k + q_k}", undefined_where=(NOWHERE,),
           reference=_SOKOLOVA, gradient=gradients.F1, limits="f1",
           aliases=("f1_score", "f_score", "f_measure", "dice")),
    Metric("jaccard", "class", _jaccard, r"\frac{h_k}{n_k + q_k - h_k}", undefined_where=(NOWHERE,),
           reference="Jaccard 1912, doi:10.1111/j.1469-8137.1912.tb05611.x", gradient=gradients.JACCARD, limits="jaccard",
           aliases=("jaccard_score", "iou")),
    Metric("g_mean", "overall", _g_mean, r"\left(\prod_k \frac{h_k}{n_k}\right)^{1/K}",
           undefined_where=(ABSENT,), reference="Sun et al. 2006, doi:10.1109/ICDM.2006.29", gradient=gradients.g_mean, limits="rows",
           aliases=("gmean", "geometric_mean_score")),
    Metric("min_recall", "overall", _min_recall, r"\min_k \frac{h_k}{n_k}", undefined_where=(ABSENT,),
           reference="smallest recall of a class", gradient=gradients.min_recall, limits="min_recall",
           aliases=("worst_class_recall",)),
    Metric("recall_macro", "overall", partial(_macro, _recall),
           r"\frac{1}{K} \sum_k \frac{h_k}{n_k}", undefined_where=(ABSENT,), reference=_SOKOLOVA, exponent=0.0,
           gradient=partial(gradients.macro, gradients.RECALL),
           aliases=("macro_recall",)),
    Metric("precision_macro", "overall", partial(_macro, _precision),
           r"\frac{1}{K} \sum_k \frac{h_k}{q_k}", undefined_where=(UNPREDICTED,), reference=_SOKOLOVA,
           gradient=partial(gradients.macro, gradients.PRECISION), limits="cols",
           aliases=("macro_precision",)),
    Metric("f1_macro", "overall", partial(_macro, _f_beta),
           r"\frac{1}{K} \sum_k \frac{2 h_k}{n_k + q_k}", undefined_where=(NOWHERE,), reference=_SOKOLOVA,
           gradient=partial(gradients.macro, gradients.F1), limits="least",
           aliases=("macro_f1",)),
    Metric("precision_weighted", "overall", partial(_weighted, _precision),
           r"\sum_k p_k \frac{h_k}{q_k}", undefined_where=(NEGLECTED,), reference=_SOKOLOVA,
           gradient=partial(gradients.weighted, gradients.PRECISION, _precision), limits="cols",
           aliases=("weighted_precision",)),
    Metric("f1_weighted", "overall", partial(_weighted, _f_beta),
           r"\sum_k p_k \frac{2 h_k}{n_k + q_k}", undefined_where=(), reference=_SOKOLOVA,
           gradient=partial(gradients.weighted, gradients.F1, _f_beta), limits="least",
           aliases=("weighted_f1",)),
    Metric("mcc", "overall", _mcc,
           r"\frac{n \sum_k h_k - \sum_k n_k q_k}{\sqrt{\sum_k n_k (n - n_k)} \sqrt{\sum_k q_k (n - q_k)}}",
           bounds=_SIGNED, undefined_where=(ALONE, ALWAYS_PREDICTED),
           reference="Gorodkin 2004, doi:10.1016/j.compbiolchem.2004.09.006", gradient=gradients.mcc, limits="rows",
           aliases=("matthews_corrcoef", "phi")),
    Metric("cohen_kappa", "overall", _cohen_kappa,
           r"\frac{n \sum_k h_k - \sum_k n_k q_k}{\sum_k q_k (n - n_k)}", bounds=_SIGNED,
           undefined_where=(EVERYWHERE,), reference="Cohen 1960, doi:10.1177/001316446002000104",
           gradient=gradients.cohen_kappa, limits="rows",
           aliases=("kappa", "cohen_kappa_score")),
    Metric("informedness", "class", _informedness, r"\frac{h_k}{n_k} + \frac{c_k}{n - n_k} - 1",
           bounds=_SIGNED, undefined_where=(ABSENT, ALONE), reference=_POWERS, gradient=gradients.INFORMEDNESS, limits="rows",
           aliases=("youden_j", "youden")),
    Metric("markedness", "class", _markedness, r"\frac{h_k}{q_k} + \frac{c_k}{n - q_k} - 1",
           bounds=_SIGNED, undefined_where=(UNPREDICTED, ALWAYS_PREDICTED), reference=_POWERS,
           gradient=gradients.MARKEDNESS, limits="cols"),
    Metric("lr_plus", "class", _lr_plus, r"\frac{h_k (n - n_k)}{n_k (q_k - h_k)}",
           bounds=_POSITIVE, undefined_where=(ABSENT, ALONE, UNPREDICTED), reference=_DEEKS, gradient=gradients.LR_PLUS, limits="lr_plus",
           aliases=("positive_likelihood_ratio",)),
    Metric("lr_minus", "class", _lr_minus, r"\frac{(n_k - h_k)(n - n_k)}{n_k c_k}",
           bounds=_POSITIVE, greater_is_better=False, undefined_where=(ABSENT, ALONE, ALWAYS_PREDICTED),
           reference=_DEEKS, gradient=gradients.LR_MINUS, limits="lr_minus",
           aliases=("negative_likelihood_ratio",)),
    Metric("odds_ratio", "class", _odds_ratio, r"\frac{h_k c_k}{(n_k - h_k)(q_k - h_k)}",
           bounds=_POSITIVE, undefined_where=(ABSENT, ALONE, UNPREDICTED, ALWAYS_PREDICTED),
           reference="Glas et al. 2003, doi:10.1016/S0895-4356(03)00177-X", gradient=gradients.ODDS_RATIO, limits="odds_ratio",
           aliases=("diagnostic_odds_ratio", "dor")),
    Metric("prevalence", "class", _prevalence, r"p_k = \frac{n_k}{n}", greater_is_better=None,
           undefined_where=(), reference="share of the rows", share_of="total", gradient=gradients.PREVALENCE,
           aliases=("base_rate",)),
    Metric("selection_rate", "class", _selection_rate, r"\frac{q_k}{n}", greater_is_better=None,
           undefined_where=(), reference="Feldman et al. 2015, doi:10.1145/2783258.2783311", share_of="total",
           gradient=gradients.SELECTION_RATE,
           aliases=("predicted_positive_rate",)),
)
# fmt: on


def f_beta(beta: float) -> Metric:
    r"""Metric of one class that weighs recall beta times as much as precision.

    Parameters
    ----------
    beta : float
        Greater than 0 and finite. 1 is f1; precision is the limit at 0, recall the one at infinity.

    Returns
    -------
    Metric
        Of kind "class", named after beta: f2, f0.5. A share; NaN where the class has no rows and
        is never predicted, and 0 where only precision is undefined.

    Raises
    ------
    InputError
        If beta is not a positive, finite number.

    References
    ----------
    Chinchor 1992, doi:10.3115/1072064.1072067

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> tba.metrics(counts, metrics=["f1", tba.f_beta(2)]).loc[0, ["f1", "f2"]].round(3).tolist()
    [0.356, 0.533]
    """
    is_number = is_real(beta)
    square = float(beta) * float(beta) if is_number else np.nan
    if not (is_number and beta > 0 and 0.0 < square < np.inf):
        raise InputError(
            f"`beta` must be a positive, finite number; got {shown(beta)}. Below 1 precision weighs "
            "more, above 1 recall; the limits at 0 and infinity are the metrics precision and recall."
        )
    return Metric(
        f"f{_brief(beta)}",
        "class",
        partial(_f_beta, beta=float(beta)),
        formula=rf"\frac{{(1 + {square:g}) h_k}}{{{square:g} n_k + q_k}}",
        reference="Chinchor 1992, doi:10.3115/1072064.1072067",
        undefined_where=(NOWHERE,),
        gradient=gradients.f_beta(square),
        limits="f1" if square == 1.0 else "rows",
    )


def tempered(t: float) -> Metric:
    """Metric of tempered balanced accuracy at one t, whatever t the table is asked for.

    Parameters
    ----------
    t : float
        Exponent: 1 is accuracy, 0 balanced accuracy. Infinite values are the limits.

    Returns
    -------
    Metric
        Of kind "overall", named after t: ``tba_0.5``, ``tba_-1``. A share; NaN where a class that has
        weight at this t has no rows.

    Raises
    ------
    InputError
        If t is not a number.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> tba.metrics(counts, metrics=[tba.tempered(0), tba.tempered(1)]).iloc[0, 3:].tolist()
    [0.75, 0.71]
    """
    exponent = check_t(t)
    return Metric(
        f"tba_{_brief(exponent)}",
        "overall",
        partial(_tempered, tempered_mean, t=exponent),
        formula=rf"\sum_k w_k \frac{{h_k}}{{n_k}}, \quad t = {_brief(exponent)}",
        reference="tempered balanced accuracy",
        undefined_where=(ABSENT,) if exponent <= 0 else (),  # above 0 an absent class has no weight
        exponent=exponent,
        gradient=partial(gradients.tempered_mean, t=exponent),
    )


def _brief(number: float) -> str:
    """The shortest text that leads back to the number, so that names differ where values do."""
    return repr(float(number)).removesuffix(".0")


def evaluate(
    metric: Metric,
    arrays: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
    is_class: BoolArray,
    t: float | None = None,
) -> FloatArray:
    """Values of a metric, (G,) or (G, L), from hits, support, predicted and total."""
    # read-only, so that a function which works in place cannot change what the next one gets
    given = [np.broadcast_to(part, part.shape) for part in arrays]
    of_all = () if metric.kind == "class" else (is_class,)
    options = {"t": t} if metric.takes_t else {}
    with np.errstate(divide="ignore", invalid="ignore"):
        values = metric.function(*given, *of_all, **options)
    n_groups, n_labels = given[0].shape
    shape = (n_groups, n_labels) if metric.kind == "class" else (n_groups,)
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        found = None
    if found is None or found.shape != shape:
        got = shown(values) if found is None else f"the shape {found.shape}"
        a_label = " and label" if metric.kind == "class" else ""
        raise InputError(
            f"`metrics`: the function of {shown(metric.name)}, of kind {shown(metric.kind)}, must "
            f"return one float for each group{a_label}, an array of shape {shape}; got {got}."
        )
    return found


_TAKEN = {"n", "weight", "min_support", "n_absent", "is_class", "support", "predicted", "hits"}


def find_metrics(metrics: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """Metrics by name or as they are; each once."""
    is_one = isinstance(metrics, (str, Metric)) or not isinstance(metrics, Iterable)
    is_one = is_one or getattr(metrics, "ndim", 1) == 0
    found = [_find(metric) for metric in ([metrics] if is_one else metrics)]  # type: ignore[union-attr]
    if not found:
        raise InputError("`metrics` is empty; name at least one, or leave it out for all.")
    names = [metric.name for metric in found]
    taken = [name for name in names if name in _TAKEN]
    if taken:
        raise InputError(
            f"`metrics`: {shown(taken[0])} is the name of another column; give the Metric another name."
        )
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"`metrics` holds {shown(repeated[0])} more than once.")
    return found


# what is asked for and is no metric here, and what to write
_INSTEAD = {
    "error_rate": "It is 1 - accuracy: 1 - tba.metrics(counts, metrics='accuracy')['accuracy'].",
    "support": "It is no metric but a column of tba.per_class(counts); counts.support is the array.",
}
_INSTEAD |= dict.fromkeys(
    ("error", "misclassification_rate", "zero_one_loss"), _INSTEAD["error_rate"]
)


def _renamed(known: Metric, alias: str) -> Metric:
    """The metric with an alias as its name, and its own among the aliases."""
    return replace(known, name=alias, aliases=(known.name, *known.aliases))


def _find(metric: object) -> Metric:
    """The metric of METRICS that bears the name, or an alias, as its own; a Metric as it is."""
    if isinstance(metric, Metric):
        return metric
    if not isinstance(metric, str):
        raise KindError(f"`metrics` must hold names or Metrics; got {shown(metric)}.")
    by_name = {known.name: known for known in METRICS}
    by_alias = {alias: known for known in METRICS for alias in known.aliases}
    if metric in by_alias:
        return _renamed(by_alias[metric], metric)
    if metric not in by_name:
        advice = (
            _INSTEAD.get(metric)
            or (
                f"{nearest(metric, [*by_name, *by_alias])} Metrics: {listed(by_name)}; tba.METRICS holds all."
            ).lstrip()
        )
        raise InputError(f"`metrics`: there is no metric {shown(metric)}. {advice}")
    return by_name[metric]
