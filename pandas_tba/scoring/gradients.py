"""Derivatives of metrics by the sums that they are functions of.

Each function takes the arguments of its metric and gives four arrays, the derivatives by hits,
support, predicted and total: (G, L) each, and (G, 1) by the total for metrics of kind "overall".
One more row of true class k that is predicted j moves hits_k (where k = j), support_k, predicted_j
and the total.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pandas_tba.scoring.tempering import class_weights

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Partials: TypeAlias = tuple[FloatArray, FloatArray, FloatArray, FloatArray]
Gradient: TypeAlias = Callable[..., Partials]
Coefficients: TypeAlias = tuple[float, float, float, float]


def _quotient_rule(part: Coefficients, whole: Coefficients, *sums: FloatArray) -> Partials:
    """Of part / whole, both linear in the four sums."""
    whole_sum = _combine(whole, sums)
    value = _combine(part, sums) / whole_sum
    by_sum = [(p - value * w) / whole_sum for p, w in zip(part, whole, strict=True)]
    return by_sum[0], by_sum[1], by_sum[2], by_sum[3]


def _sum(parts: tuple[Gradient, ...], *sums: FloatArray) -> Partials:
    """Of a sum of metrics of one class."""
    each = [part(*sums) for part in parts]
    hits, support, predicted, total = (np.sum(by, axis=0) for by in zip(*each, strict=True))
    return hits, support, predicted, total


def _product(
    over: tuple[Coefficients, ...], under: tuple[Coefficients, ...], *sums: FloatArray
) -> Partials:
    """Of a product of linear sums divided by another."""
    # the value times the derivatives of its logarithm
    value, logs = np.ones_like(sums[0]), [np.zeros_like(sums[0]) for _ in sums]
    for factors, sign in ((over, 1), (under, -1)):
        for factor in factors:
            factor_sum = _combine(factor, sums)
            value = value * factor_sum**sign
            for at, coefficient in enumerate(factor):
                logs[at] = logs[at] + sign * coefficient / factor_sum
    return value * logs[0], value * logs[1], value * logs[2], value * logs[3]


def _combine(coefficients: Coefficients, sums: tuple[FloatArray, ...]) -> FloatArray:
    """Weighted sum of the four sums, of the shape of the hits."""
    return sum(
        (c * part for c, part in zip(coefficients, sums, strict=True) if c), np.zeros_like(sums[0])
    )


# Linear in hits, support, predicted and total.
_HITS, _SUPPORT, _PREDICTED, _TOTAL = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
_MISSES, _FALSE_POSITIVES, _TRUE_NEGATIVES = (-1, 1, 0, 0), (-1, 0, 1, 0), (1, -1, -1, 1)
_REST, _UNPREDICTED, _UNION = (0, -1, 0, 1), (0, 0, -1, 1), (-1, 1, 1, 0)


def _quotient_of(part: Coefficients, whole: Coefficients) -> Gradient:
    """Gradient of part / whole, both linear in the four sums."""
    return partial(_quotient_rule, part, whole)


def f_beta(square: float) -> Gradient:
    """Of F beta, from the square of beta."""
    return _quotient_of(_HITS, (0, square / (1.0 + square), 1.0 / (1.0 + square), 0))


F1 = f_beta(1.0)
RECALL, FNR = _quotient_of(_HITS, _SUPPORT), _quotient_of(_MISSES, _SUPPORT)
SPECIFICITY, FPR = _quotient_of(_TRUE_NEGATIVES, _REST), _quotient_of(_FALSE_POSITIVES, _REST)
PRECISION, FDR = _quotient_of(_HITS, _PREDICTED), _quotient_of(_FALSE_POSITIVES, _PREDICTED)
NPV = _quotient_of(_TRUE_NEGATIVES, _UNPREDICTED)
FALSE_OMISSION_RATE = _quotient_of(_MISSES, _UNPREDICTED)
JACCARD = _quotient_of(_HITS, _UNION)
PREVALENCE, SELECTION_RATE = _quotient_of(_SUPPORT, _TOTAL), _quotient_of(_PREDICTED, _TOTAL)
INFORMEDNESS, MARKEDNESS = partial(_sum, (RECALL, SPECIFICITY)), partial(_sum, (PRECISION, NPV))
LR_PLUS = partial(_product, (_HITS, _REST), (_FALSE_POSITIVES, _SUPPORT))
LR_MINUS = partial(_product, (_MISSES, _REST), (_TRUE_NEGATIVES, _SUPPORT))
ODDS_RATIO = partial(_product, (_HITS, _TRUE_NEGATIVES), (_MISSES, _FALSE_POSITIVES))


def macro(
    gradient: Gradient, hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray
) -> Partials:
    """Of the plain mean over the classes of a metric of one class."""
    parts = gradient(hits, support, predicted, total)
    shares = np.where(is_class, 1.0 / is_class.sum(), 0.0)
    by_hits, by_support, by_predicted, by_total = (
        np.where(is_class, part, 0.0) * shares for part in parts
    )
    return by_hits, by_support, by_predicted, by_total.sum(axis=1, keepdims=True)


def weighted(
    gradient: Gradient,
    function: Callable[..., FloatArray],
    hits: Any,
    support: Any,
    predicted: Any,
    total: Any,
    is_class: BoolArray,
) -> Partials:
    """Of the mean over the classes weighted by support."""
    counts = support > 0  # a class without rows has no weight
    values = np.where(counts, function(hits, support, predicted, total), 0.0)
    weights = support / total
    by_hits, by_support, by_predicted, by_total = (
        np.where(counts, part, 0.0) * weights for part in gradient(hits, support, predicted, total)
    )
    mean = (weights * values).sum(axis=1, keepdims=True)
    of_total = by_total.sum(axis=1, keepdims=True) - mean / total
    return by_hits, by_support + values / total, by_predicted, of_total


def accuracy(hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray) -> Partials:
    """Of the share of hits."""
    nothing = np.zeros_like(hits)
    by_total = -hits.sum(axis=1, keepdims=True) / total**2
    return nothing + 1.0 / total, nothing, nothing, by_total


def tempered_mean(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray, t: float
) -> Partials:
    """Of the mean of recalls weighted by prevalence to the power t."""
    weights, recall, _ = _tempered_parts(hits, support, is_class, t)
    mean = (weights * recall).sum(axis=1, keepdims=True)
    per_row = _over(weights, support)
    by_support = per_row * (_pull(t) * (recall - mean) - recall)
    return per_row, by_support, np.zeros_like(per_row), np.zeros_like(total)


def tempered_slope(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray, t: float
) -> Partials:
    """Of the derivative by t of that mean."""
    weights, recall, logs = _tempered_parts(hits, support, is_class, t)
    if math.isinf(t):
        weights = weights * 0.0
    mean, mean_log = ((weights * part).sum(axis=1, keepdims=True) for part in (recall, logs))
    recall_off, log_off = recall - mean, logs - mean_log
    slope = (weights * log_off * recall_off).sum(axis=1, keepdims=True)
    per_row = _over(weights, support)
    drift = _pull(t) * (log_off * recall_off - slope)
    by_support = per_row * (drift + recall_off - log_off * recall)
    return per_row * log_off, by_support, np.zeros_like(per_row), np.zeros_like(total)


def majority(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray, t: float
) -> Partials:
    """Of the weight of the most prevalent class; where classes tie, of the mean of theirs."""
    weights, _, _ = _tempered_parts(hits, support, is_class, t)
    top = (support == support.max(axis=1, keepdims=True)) & is_class
    top = top / top.sum(axis=1, keepdims=True)
    mean = (weights * top).sum(axis=1, keepdims=True)
    nothing = np.zeros_like(weights)
    by_support = _pull(t) * _over(weights, support) * (top - mean)
    return nothing, by_support, nothing, np.zeros_like(total)


def g_mean(hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray) -> Partials:
    """Of the geometric mean of recalls."""
    logs = np.where(is_class, np.log(hits / support), 0.0)
    n_classes = is_class.sum()
    mean = np.where(is_class, np.exp(logs.sum(axis=1, keepdims=True) / n_classes) / n_classes, 0.0)
    return _over(mean, hits), -_over(mean, support), np.zeros_like(mean), np.zeros_like(total)


def min_recall(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray
) -> Partials:
    """Of the least recall; where classes tie, of the mean of theirs."""
    recall = np.where(is_class, hits / support, np.inf)
    least = recall == recall.min(axis=1, keepdims=True)
    per_row = _over(least / least.sum(axis=1, keepdims=True), support)
    of_least = np.where(least, recall, 0.0)
    return per_row, -per_row * of_least, np.zeros_like(per_row), np.zeros_like(total)


def mcc(hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray) -> Partials:
    """Of (n sum h - sum s q) / sqrt(sum s (n - s) sum q (n - q))."""
    of_true, of_predicted = (
        (part * (total - part)).sum(axis=1, keepdims=True) for part in (support, predicted)
    )
    root = np.sqrt(of_true) * np.sqrt(of_predicted)
    right = hits.sum(axis=1, keepdims=True)
    value = (total * right - (support * predicted).sum(axis=1, keepdims=True)) / root
    by_support = -predicted / root - value * (total - 2.0 * support) / (2.0 * of_true)
    by_predicted = -support / root - value * (total - 2.0 * predicted) / (2.0 * of_predicted)
    both = support.sum(axis=1, keepdims=True) / of_true
    both = both + predicted.sum(axis=1, keepdims=True) / of_predicted
    return (
        np.zeros_like(hits) + total / root,
        by_support,
        by_predicted,
        right / root - value * both / 2.0,
    )


def cohen_kappa(
    hits: Any, support: Any, predicted: Any, total: Any, is_class: BoolArray
) -> Partials:
    """Of (n sum h - sum s q) / sum q (n - s)."""
    whole = (predicted * (total - support)).sum(axis=1, keepdims=True)
    right = hits.sum(axis=1, keepdims=True)
    value = (total * right - (support * predicted).sum(axis=1, keepdims=True)) / whole
    by_predicted = -(support + value * (total - support)) / whole
    by_total = (right - value * predicted.sum(axis=1, keepdims=True)) / whole
    return (
        np.zeros_like(hits) + total / whole,
        (value - 1.0) * predicted / whole,
        by_predicted,
        by_total,
    )


def _tempered_parts(
    hits: Any, support: Any, is_class: BoolArray, t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, recalls and logarithms of the support (G, L); 0 where a label has no weight."""
    weights = np.zeros_like(support)
    weights[:, is_class] = class_weights(support[:, is_class], t=t)
    counts = (support > 0) & is_class
    recall = np.where(counts, hits / support, np.where(weights > 0, np.nan, 0.0))
    return weights, recall, np.where(counts, np.log(support), 0.0)


def _over(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Quotient; 0 where the part is."""
    return np.where(part != 0, part / whole, 0.0)


def _pull(t: float) -> float:
    """How far weights move with the support: not at all at the limits of t."""
    return 0.0 if math.isinf(t) else t
