"""METRICS: one row a metric, with all that tables, documentation and tests need to know of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import InputError, KindError, listed, nearest, shown
from pandas_tba.tempering import majority_score, tempered_mean, tempered_slope

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_ABSENT = "a class has no rows"
_ONE_SIDED = "all rows have one true label, or one predicted label"
_SOKOLOVA = "Sokolova and Lapalme 2009, doi:10.1016/j.ipm.2009.03.002"


@dataclass(frozen=True)
class Metric:
    """A metric, as a function of counts.

    Attributes
    ----------
    name : str
        Name of its column.
    kind : {"class", "overall"}
        What the function takes and gives. ``class``: (hits, support, predicted, total), the
        first three of shape (G, L), total of shape (G, 1), gives one value for each class,
        (G, L): the class against the rest. ``overall``: (hits, support, predicted, total,
        is_class), with is_class of shape (L,), gives (G,).
    function : callable
        Of float arrays; NaN where the metric is undefined.
    formula : str
        In LaTeX.
    undefined : str
        When it is NaN, in words.
    bounds : (float, float)
        Smallest and largest value.
    greater_is_better : bool or None
        None where neither direction is better.
    reference : str
        Where it is defined.
    takes_t : bool
        Whether the function also takes ``t``.
    """

    name: str
    kind: Literal["class", "overall"]
    function: Callable[..., Any]
    formula: str = ""
    undefined: str = "its denominator is 0"
    bounds: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool | None = True
    reference: str = ""
    takes_t: bool = False


def ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any] | float) -> FloatArray:
    """Quotient; NaN for 0 / 0, infinite for others over 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numerator / denominator)


def _recall(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    return ratio(hits, support)


def _precision(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    return ratio(hits, predicted)


def _specificity(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    return ratio(total - support - predicted + hits, total - support)


def _f1(hits: Any, support: Any, predicted: Any, total: Any) -> FloatArray:
    return ratio(2.0 * hits, support + predicted)


def _accuracy(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    return ratio(hits.sum(axis=1), total[:, 0])


def _tba(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: Any, t: float
) -> FloatArray:
    support = support[:, is_class]
    return tempered_mean(ratio(hits[:, is_class], support), support, t)


def _balanced_accuracy(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: Any
) -> FloatArray:
    return _tba(hits, support, predicted, total, is_class, 0.0)


def _tba_slope(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: Any, t: float
) -> FloatArray:
    support = support[:, is_class]
    return tempered_slope(ratio(hits[:, is_class], support), support, t)


def _majority(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: Any, t: float
) -> FloatArray:
    support = support[:, is_class]
    return majority_score(ratio(hits[:, is_class], support), support, t)


def _macro(function: Callable[..., FloatArray]) -> Callable[..., FloatArray]:
    """Plain mean over the classes; a class without a value leaves none to the mean."""

    def mean(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
        values = function(hits, support, predicted, total)[:, is_class]
        return ratio(values.sum(axis=1), float(values.shape[1]))

    return mean


def _weighted(function: Callable[..., FloatArray]) -> Callable[..., FloatArray]:
    """Mean over the classes weighted by support; a class without rows has no weight."""

    def mean(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
        values = function(hits, support, predicted, total)
        with np.errstate(invalid="ignore"):
            return ratio(np.where(support > 0, support * values, 0.0).sum(axis=1), total[:, 0])

    return mean


def _mcc(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    # sum q(s - q) and not s^2 - sum q^2, which cancels for large counts
    covariance = hits.sum(axis=1) * total[:, 0] - (support * predicted).sum(axis=1)
    spread_true = (support * (total - support)).sum(axis=1)
    spread_predicted = (predicted * (total - predicted)).sum(axis=1)
    return ratio(covariance, np.sqrt(spread_true) * np.sqrt(spread_predicted)).clip(-1.0, 1.0)


def _cohen_kappa(hits: Any, support: Any, predicted: Any, total: Any, is_class: Any) -> FloatArray:
    observed = hits.sum(axis=1) * total[:, 0]
    expected = (support * predicted).sum(axis=1)
    disagreement = (predicted * (total - support)).sum(
        axis=1
    )  # total^2 - expected, without cancelling
    return ratio(observed - expected, disagreement).clip(-1.0, 1.0)


METRICS: tuple[Metric, ...] = (
    Metric(
        "accuracy",
        "overall",
        _accuracy,
        formula=r"\frac{\sum_k h_k}{n}",
        undefined="there are no rows",
        reference=_SOKOLOVA,
    ),
    Metric(
        "balanced_accuracy",
        "overall",
        _balanced_accuracy,
        formula=r"\frac{1}{K} \sum_k \frac{h_k}{n_k}",
        undefined=_ABSENT,
        reference="Brodersen et al. 2010, doi:10.1109/ICPR.2010.764",
    ),
    Metric(
        "tba",
        "overall",
        _tba,
        formula=r"\sum_k \frac{p_k^t}{\sum_j p_j^t} \frac{h_k}{n_k}",
        undefined="a class that has weight at this t has no rows",
        reference="tempered balanced accuracy",
        takes_t=True,
    ),
    Metric(
        "tba_slope",
        "overall",
        _tba_slope,
        formula=r"\sum_k w_k \left(\ln p_k - \sum_j w_j \ln p_j\right) \frac{h_k}{n_k}",
        undefined="a class that has weight at this t has no rows",
        bounds=(-np.inf, np.inf),
        greater_is_better=None,
        reference="derivative of tba by t",
        takes_t=True,
    ),
    Metric(
        "majority",
        "overall",
        _majority,
        formula=r"w_{\arg\max_k p_k}",
        undefined="a class that has weight at this t has no rows",
        greater_is_better=None,
        reference="tba of a classifier that always answers the most prevalent class",
        takes_t=True,
    ),
    Metric(
        "recall",
        "class",
        _recall,
        formula=r"\frac{h_k}{n_k}",
        undefined="the class has no rows",
        reference=_SOKOLOVA,
    ),
    Metric(
        "specificity",
        "class",
        _specificity,
        formula=r"\frac{n - n_k - q_k + h_k}{n - n_k}",
        undefined="all rows are of the class",
        reference=_SOKOLOVA,
    ),
    Metric(
        "precision",
        "class",
        _precision,
        formula=r"\frac{h_k}{q_k}",
        undefined="the class is never predicted",
        reference=_SOKOLOVA,
    ),
    Metric(
        "f1",
        "class",
        _f1,
        formula=r"\frac{2 h_k}{n_k + q_k}",
        undefined="the class has no rows and is never predicted",
        reference=_SOKOLOVA,
    ),
    Metric(
        "recall_macro",
        "overall",
        _macro(_recall),
        formula=r"\frac{1}{K} \sum_k \frac{h_k}{n_k}",
        undefined=_ABSENT,
        reference=_SOKOLOVA,
    ),
    Metric(
        "precision_macro",
        "overall",
        _macro(_precision),
        formula=r"\frac{1}{K} \sum_k \frac{h_k}{q_k}",
        undefined="a class is never predicted",
        reference=_SOKOLOVA,
    ),
    Metric(
        "f1_macro",
        "overall",
        _macro(_f1),
        formula=r"\frac{1}{K} \sum_k \frac{2 h_k}{n_k + q_k}",
        undefined="a class has no rows and is never predicted",
        reference=_SOKOLOVA,
    ),
    Metric(
        "precision_weighted",
        "overall",
        _weighted(_precision),
        formula=r"\sum_k \frac{n_k}{n} \frac{h_k}{q_k}",
        undefined="a class with rows is never predicted",
        reference=_SOKOLOVA,
    ),
    Metric(
        "f1_weighted",
        "overall",
        _weighted(_f1),
        formula=r"\sum_k \frac{n_k}{n} \frac{2 h_k}{n_k + q_k}",
        undefined="there are no rows",
        reference=_SOKOLOVA,
    ),
    Metric(
        "mcc",
        "overall",
        _mcc,
        formula=r"\frac{n \sum_k h_k - \sum_k n_k q_k}"
        r"{\sqrt{\sum_k n_k (n - n_k)} \sqrt{\sum_k q_k (n - q_k)}}",
        undefined=_ONE_SIDED,
        bounds=(-1.0, 1.0),
        reference="Gorodkin 2004, doi:10.1016/j.compbiolchem.2004.09.006",
    ),
    Metric(
        "cohen_kappa",
        "overall",
        _cohen_kappa,
        formula=r"\frac{n \sum_k h_k - \sum_k n_k q_k}{\sum_k q_k (n - n_k)}",
        undefined="all rows have one label, both true and predicted",
        bounds=(-1.0, 1.0),
        reference="Cohen 1960, doi:10.1177/001316446002000104",
    ),
)


def find_metrics(metrics: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """Metrics by name or as they are; each once."""
    asked = [metrics] if isinstance(metrics, (str, Metric)) else list(metrics)
    if not asked:
        raise InputError("`metrics` is empty; name at least one, or leave it out for all.")
    by_name = {metric.name: metric for metric in METRICS}
    found = []
    for metric in asked:
        if isinstance(metric, Metric):
            found.append(metric)
        elif isinstance(metric, str) and metric in by_name:
            found.append(by_name[metric])
        elif isinstance(metric, str):
            raise InputError(
                f"`metrics`: there is no metric {shown(metric)}.{nearest(metric, by_name)} "
                f"Metrics: {listed(by_name, len(by_name))}."
            )
        else:
            raise KindError(f"`metrics` must hold names or Metrics; got {shown(metric)}.")
    names = [metric.name for metric in found]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"`metrics` holds {shown(repeated[0])} more than once.")
    return found
