"""Value, limits, standard error and effective rows of one metric for every group of counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.storage import ROWS, SQUARES, WEIGHT
from pandas_tba.errors import InputError, listed, shown
from pandas_tba.inference.influence import evaluate_cells
from pandas_tba.inference.intervals import (
    IntervalMethod,
    Recalls,
    effective_rows_of_mean,
    percentiles,
    recalls_of,
    replicated,
    replicated_means,
    standard_error,
    within_bounds,
)
from pandas_tba.inference.limits import Matrices, metric_limits, rule_of
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.metrics import evaluate, one_against_rest
from pandas_tba.scoring.results import Prevalence, class_prevalence, of_classes
from pandas_tba.scoring.tempering import tempered_mean

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

_VALUES_AT_A_TIME = 2**22  # of replicates by groups and exponents: 32 MB
_FEW_OUTCOMES = 5  # hits or misses of a class below which a bootstrap hardly varies
_FEW_FOR_SLOPE = 10  # rows of a class; limits of the slope were not studied with fewer
_BOTH = np.array([True, True])
# axes of the cells whose totals, of true labels (2) or predicted ones (1), a rule rests on
_LINES: dict[str, tuple[int, ...]] = {"cols": (1,), "least": (2, 1), "f1": (), "jaccard": ()}


@dataclass(frozen=True)
class Question:
    """What is asked of the counts, the same for every metric."""

    counts: ConfusionCounts
    exponents: list[float]
    prevalence: Prevalence
    level: float
    way: IntervalMethod
    n_replicates: int
    generator: np.random.Generator

    @cached_property
    def recalls(self) -> Recalls:
        """Recalls of the classes."""
        return recalls_in(self.counts, self.prevalence)

    @cached_property
    def matrices(self) -> Matrices:
        """Confusion matrices of all labels."""
        return _matrices(self.counts, self.counts.stored.dense, self.counts.is_class)

    @cached_property
    def of_positive(self) -> Matrices:
        """Those of the positive class, first, against the rest."""
        at = self.positive

        def against_rest(quantity: int) -> npt.NDArray[Any]:
            stored = self.counts.stored
            hits, support, predicted = (
                part(quantity)[:, [at]] for part in (stored.hits, stored.support, stored.predicted)
            )
            total = stored.support(quantity).sum(axis=1, keepdims=True)
            cells = np.stack(one_against_rest(hits, support, predicted, total), axis=1)
            return np.maximum(cells, 0).reshape(-1, 2, 2)

        return _matrices(self.counts, against_rest, _BOTH)

    @property
    def positive(self) -> int:
        """Place of the positive class among the labels."""
        return self.counts.label_set.values.index(self.counts.pos_label)

    def matrices_for(self, metric: Metric) -> Matrices:
        """Matrices that a metric is a function of."""
        return self.of_positive if metric.kind == "class" else self.matrices


def recalls_in(counts: ConfusionCounts, prevalence: Prevalence) -> Recalls:
    """Recalls of the classes of each group, with what the formulas need of rows or weights."""
    hits, support = of_classes(counts, counts.hits), of_classes(counts, counts.support)
    weights_of = class_prevalence(counts, prevalence, support)
    squared = numbers = None
    if counts.squared_hits is not None and counts.squared_support is not None:
        of_support = of_classes(counts, counts.squared_support)
        of_hits = of_classes(counts, counts.squared_hits)
        squared = of_hits, of_support, class_prevalence(counts, prevalence, of_support)
        numbers = of_classes(counts, counts.class_rows)
    reference = weights_of if isinstance(prevalence, str) else None
    return recalls_of(
        hits, support, weights_of, reference=reference, squared=squared, numbers=numbers
    )


def _matrices(
    counts: ConfusionCounts, plane_of: Callable[[int], npt.NDArray[Any]], is_class: BoolArray
) -> Matrices:
    """Rows, or weights with their squares and rows, in matrices."""
    if not counts.is_weighted:
        return Matrices(plane_of(ROWS), is_class)
    return Matrices(plane_of(WEIGHT), is_class, plane_of(SQUARES), plane_of(ROWS))


def is_mean(metric: Metric) -> bool:
    """Whether a metric is a mean of recalls."""
    return metric.exponent is not None


def is_proportion(metric: Metric) -> bool:
    """Whether a metric is one proportion."""
    return metric.share_of is not None


def estimated(asked: Question, metric: Metric) -> dict[str, npt.NDArray[Any]]:
    """Columns of one metric, of shape (G, T), or (G, 1) where it does not depend on t."""
    recalls, exponents = _as_mean(asked, metric)
    if recalls is None:
        score = _values_at(asked, metric, exponents)
    else:
        known = np.where(recalls.present, recalls.recall, np.nan)
        score = stack_columns(tempered_mean(known, recalls.prevalence, t) for t in exponents)
    if asked.way.limits is None:
        found = _resampled(asked, metric, recalls, exponents)
    elif recalls is None:
        found = _by_influence(asked, metric, exponents)
    else:
        found = _by_formula(asked, recalls, exponents)
    found["score"] = score
    for name in ("se", "n_eff"):
        found[name] = np.where(np.isnan(score), np.nan, found[name])
    return found | {"reason": _reasons_of_limits(asked, metric, found)}


def stack_columns(columns: Iterable[FloatArray]) -> FloatArray:
    """Values of each exponent side by side."""
    return np.stack(list(columns), axis=-1)


def _as_mean(asked: Question, metric: Metric) -> tuple[Recalls | None, list[float]]:
    """The metric as a mean of recalls at some exponents, where it is one; a proportion is its own mean."""
    if metric.exponent is not None:
        if metric.is_known_as("accuracy"):  # of each group's own rows, by definition
            return recalls_in(asked.counts, "own"), [1.0]
        fixed = isinstance(metric.exponent, float)
        return asked.recalls, [metric.exponent] if fixed else asked.exponents  # type: ignore[list-item]
    if is_proportion(metric):
        return _recalls_of_proportion(asked.of_positive, metric), [0.0]
    return None, asked.exponents if metric.takes_t else [0.0]


def _recalls_of_proportion(matrices: Matrices, metric: Metric) -> Recalls:
    """A proportion of the positive class as the recall of a single class."""
    # of one row in each cell: 1 where it counts, 0 where it is only a row of the whole, else NaN
    of_cells = evaluate_cells(metric, np.eye(4).reshape(4, 2, 2), _BOTH, label=0)
    within = (of_cells == 1.0, ~np.isnan(of_cells))

    def sums(quantity: npt.NDArray[Any]) -> list[FloatArray]:
        cells = quantity.reshape(-1, 4).astype(np.float64)
        return [cells[:, held].sum(axis=1, keepdims=True) for held in within]

    part, whole = sums(matrices.cells)
    if matrices.squares is None or matrices.rows is None:
        return recalls_of(part, whole, whole, reference=whole)
    of_part, of_whole = sums(matrices.squares)
    squared, numbers = (of_part, of_whole, of_whole), sums(matrices.rows)[1]
    return recalls_of(part, whole, whole, reference=whole, squared=squared, numbers=numbers)


def _values_at(asked: Question, metric: Metric, exponents: list[float]) -> FloatArray:
    """Values (G, T), or (G, 1) without t, as all tables have them."""
    counts = asked.counts
    arrays = tuple(
        part.astype(np.float64)
        for part in (counts.hits, counts.support, counts.predicted, counts.weight[:, None])
    )
    at = exponents if metric.takes_t else [None]
    found = [evaluate(metric, arrays, counts.is_class, t) for t in at]  # type: ignore[arg-type]
    return found[0][:, [asked.positive]] if metric.kind == "class" else stack_columns(found)


def _by_formula(asked: Question, recalls: Recalls, exponents: list[float]) -> dict[str, Any]:
    """Limits of means of recalls."""
    limits_of: Any = asked.way.limits
    limits = [within_bounds(limits_of(recalls, t, asked.level), recalls, t) for t in exponents]
    return {
        "low": stack_columns(low for low, _ in limits),
        "high": stack_columns(high for _, high in limits),
        "se": stack_columns(standard_error(recalls, t) for t in exponents),
        "n_eff": stack_columns(effective_rows_of_mean(recalls, t) for t in exponents),
    }


def _by_influence(asked: Question, metric: Metric, exponents: list[float]) -> dict[str, Any]:
    """Limits of all other metrics."""
    of_share: Any = asked.way.of_share
    label = 0 if metric.kind == "class" else None
    matrices, at = asked.matrices_for(metric), exponents if metric.takes_t else [None]
    for t in at:
        _check_scale(metric, matrices, t, label)
    found = [
        metric_limits(metric, matrices, asked.level, t=t, label=label, of_share=of_share)
        for t in at
    ]
    names = ("low", "high", "se", "n_eff")
    return {
        name: stack_columns(part)
        for name, part in zip(names, zip(*found, strict=True), strict=True)
    }


def _check_scale(metric: Metric, matrices: Matrices, t: float | None, label: int | None) -> None:
    """Refuse a metric of the user that is another one for twice the rows."""
    if metric.gradient is not None:
        return
    once, twice = (
        evaluate_cells(metric, times * matrices.cells, matrices.is_class, t=t, label=label)
        for times in (1, 2)
    )
    if not np.allclose(once, twice, rtol=1e-6, atol=1e-9, equal_nan=True):
        raise InputError(
            f"`metrics`: {shown(metric.name)} changes when every cell is doubled, so that it has no "
            "limits by formula. Divide by the total, or choose method='bootstrap'."
        )


def _resampled(
    asked: Question, metric: Metric, recalls: Recalls | None, exponents: list[float]
) -> dict[str, Any]:
    """Percentiles of replicates, some groups at a time; NaN where all are the same."""
    step = max(1, _VALUES_AT_A_TIME // (asked.n_replicates * len(exponents)))
    parts = []
    for start in range(0, max(len(asked.counts), 1), step):
        values = _replicates(asked, metric, exponents, slice(start, start + step))
        parts.append(percentiles(np.concatenate(list(values)), asked.level))
    low, high, se, undefined = (np.concatenate(part) for part in zip(*parts, strict=True))
    low, high, se = (np.where(low == high, np.nan, part) for part in (low, high, se))
    if recalls is not None:
        for at, t in enumerate(exponents):
            low[:, at], high[:, at] = within_bounds((low[:, at], high[:, at]), recalls, t)
    no_rows = np.array([[np.nan]])
    return {"low": low, "high": high, "se": se, "n_eff": no_rows, "n_undefined": undefined}


def _replicates(
    asked: Question, metric: Metric, exponents: list[float], block: slice
) -> Iterator[FloatArray]:
    """Replicates (b, g, T) of some groups, in chunks."""
    counts, draws = asked.counts, (asked.n_replicates, asked.generator)
    if not is_mean(metric):
        matrices = asked.matrices_for(metric)
        label = 0 if metric.kind == "class" else None
        at = exponents if metric.takes_t else [None]

        def values(drawn: npt.NDArray[np.int64]) -> FloatArray:
            return stack_columns(
                evaluate_cells(metric, drawn, matrices.is_class, t=t, label=label) for t in at
            )

        return replicated(values, matrices.cells[block].astype(np.int64), *draws)
    prevalence = asked.prevalence if metric.is_known_as("tba") else "own"
    hits, support = of_classes(counts, counts.hits), of_classes(counts, counts.support)
    shares = np.broadcast_to(class_prevalence(counts, prevalence, support), support.shape)
    parts = (hits[block], support[block], shares[block])
    return replicated_means(*parts, exponents, *draws, was_counted=isinstance(prevalence, str))


def _reasons_of_limits(asked: Question, metric: Metric, found: dict[str, Any]) -> npt.NDArray[Any]:
    """Why a score or its limits are NaN or may be off, in words; empty where nothing is."""
    unknown, unlimited = np.isnan(found["score"]), np.isnan(found["low"])
    reasons = np.empty(unknown.shape, dtype=object)
    reasons[:] = _texts_of_shortfalls(asked, metric)[:, None]
    reasons[unlimited] = "its variance is 0"
    if "n_undefined" in found:
        none_left = found["n_undefined"] == asked.n_replicates
        reasons[unlimited] = "every replicate has the same value"
        reasons[unlimited & none_left] = "no replicate has a value"
    reasons[unknown] = metric.undefined
    if is_mean(metric):
        for group in np.flatnonzero(unknown.any(axis=1)).tolist():
            reasons[group, unknown[group]] = absent_classes_of(asked.counts, group)
    return reasons


def absent_classes_of(counts: ConfusionCounts, group: int) -> str:
    """Which classes a group has no rows of."""
    support = counts.support[group][counts.is_class]
    if not support.any():
        return "no rows"
    classes = counts.label_set.classes
    return f"no rows of {listed(classes[k] for k in np.flatnonzero(support == 0))}"


class Shortfall(NamedTuple):
    """Of what there is less than is needed, for which classes (G, K), and the names of these."""

    least: str
    short: BoolArray
    names: list[str]


def _texts_of_shortfalls(asked: Question, metric: Metric) -> npt.NDArray[Any]:
    """For each group, of what it has too few rows for the method to hold its level; else empty."""
    texts = np.full(len(asked.counts), "", dtype=object)
    for part in shortfalls_of(asked, metric):
        groups = np.flatnonzero(part.short.any(axis=1))
        patterns, place = np.unique(part.short[groups], axis=0, return_inverse=True)
        worded = np.array([_worded(part, pattern) for pattern in patterns], dtype=object)
        joint = np.where(texts[groups] != "", ", ", "").astype(object)
        texts[groups] += joint + (worded[place.reshape(-1)] if len(groups) else "")
    return texts


def _worded(part: Shortfall, pattern: BoolArray) -> str:
    """The shortfall of the classes in a pattern."""
    held = np.flatnonzero(pattern).tolist()
    more = f" and {len(held) - 5:,} more" if len(held) > 5 else ""
    names = ", ".join(part.names[k] for k in held[:5])
    return f"fewer than {part.least} of {names}{more}"


def shortfalls_of(asked: Question, metric: Metric) -> Iterator[Shortfall]:
    """What the limits of a metric may have too little of."""
    least = asked.way.least_rows
    names = [shown(label) for label in asked.counts.label_set.classes]
    recalls = asked.recalls
    few = recalls.present & (recalls.rows < least)
    if asked.way.limits is None:
        outcomes = np.minimum(recalls.recall, 1.0 - recalls.recall) * recalls.rows
        near = recalls.present & ~few & (outcomes.round(6) < _FEW_OUTCOMES)
        yield Shortfall(f"{least} rows", few, names)
        yield Shortfall(f"{_FEW_OUTCOMES} hits or misses", near, names)
    elif is_mean(metric):
        if _rests_on_classes(asked, metric):
            yield Shortfall(f"{least} rows", few, names)
    elif least and not is_proportion(metric):
        rule, matrices = rule_of(metric), asked.matrices_for(metric)
        least = _FEW_FOR_SLOPE if rule == "tba_slope" else least
        if metric.kind == "class":
            names = [shown(asked.counts.pos_label), "other classes"]
        has = (matrices.cells.sum(axis=1) > 0) | (matrices.cells.sum(axis=2) > 0)
        for axis in _LINES.get(rule, (2,)):
            rows = matrices.effective(axis)[0]
            short = (rows < least) & (has if axis == 1 else rows > 0)
            what = "rows" if axis == 2 else "predicted rows"
            yield Shortfall(f"{least} {what}", short[:, matrices.is_class], names)


def _rests_on_classes(asked: Question, metric: Metric) -> bool:
    """Whether the interval of a mean takes more than the rows of one proportion."""
    if metric.is_known_as("accuracy"):
        return False
    is_own = isinstance(asked.prevalence, str) and asked.prevalence == "own"
    is_accuracy = metric.is_known_as("tba") and is_own and all(t == 1.0 for t in asked.exponents)
    return not is_accuracy
