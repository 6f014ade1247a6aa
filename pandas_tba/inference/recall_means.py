"""Metrics that groups can be compared by: each one a mean of recalls, over hits and rows by class."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError, listed, shown
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.metrics import METRICS, find_metrics
from pandas_tba.scoring.results import (
    Prevalence,
    check_counts,
    check_positive,
    class_prevalence,
    of_classes,
)
from pandas_tba.scoring.tempering import class_weights, ratio, tempered_bounds, tempered_mean

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

_NOISE = 1e-12  # of sums of weights in another order
_MOST_ROWS = 10**9  # that numpy draws from


@dataclass(frozen=True)
class Sums:
    """Hits and rows of each class (G, K), or their weights.

    Of weights the squares of both too, and the numbers of rows.
    """

    hits: FloatArray
    support: FloatArray
    squared: tuple[FloatArray, FloatArray, FloatArray] | None = None

    def parts(self) -> tuple[FloatArray, ...]:
        """All arrays, one after the other."""
        return self.hits, self.support, *(self.squared or ())

    @classmethod
    def of(cls, parts: list[FloatArray]) -> Sums:
        """The reverse of `parts`."""
        return cls(parts[0], parts[1], (parts[2], parts[3], parts[4]) if len(parts) > 2 else None)

    def at(self, place: npt.NDArray[np.intp]) -> Sums:
        """Some of the groups; none, hence zero, where the place is -1."""
        nothing = np.zeros((1, self.hits.shape[1]))
        return Sums.of([np.concatenate([part, nothing])[place] for part in self.parts()])

    def totals(self, place: npt.NDArray[np.intp], n_groups: int) -> Sums:
        """Sums over the groups that share a place."""
        found = []
        for part in self.parts():
            total = np.zeros((n_groups, part.shape[1]))
            np.add.at(total, place, part)
            found.append(total)
        return Sums.of(found)

    def without(self, part: Sums) -> Sums:
        """What is left without a part; nothing where only the rounding of weights is left."""
        found = []
        for whole, less in zip(self.parts(), part.parts(), strict=True):
            left = whole - less
            found.append(np.where(left > _NOISE * whole, left, 0.0))
        found[0] = np.minimum(found[0], found[1])
        return Sums.of(found)

    def recall(self) -> FloatArray:
        """Recall of each class, NaN without rows."""
        return ratio(self.hits, self.support)


class EqualMeans(NamedTuple):
    """Sums (G, K) of groups, and weights (G, K) under which they are equal if their recalls are.

    ``places`` are those of the exponents that each of the weights belongs to.
    """

    places: list[int]
    sums: Sums
    weights: list[FloatArray]


@dataclass(frozen=True)
class Measure:
    """A metric as a mean of recalls: sums and rows (G, K), exponents, and what gives its weights.

    ``prevalence`` (G, K) is None where each group has its own; ``reference`` are the sums (G, K) that it
    was counted on, None where it was given. ``rows`` are numbers of rows, weighted or not.
    """

    metric: Metric
    sums: Sums
    rows: npt.NDArray[Any]
    exponents: list[float]
    prevalence: FloatArray | None = None
    reference: Sums | None = None

    @property
    def counted_on(self) -> FloatArray | None:
        """Effective rows (G,) that the prevalence was counted on; None where it was given."""
        if self.reference is None:
            return None
        counted = self.reference
        squares = counted.support if counted.squared is None else counted.squared[1]
        return ratio(counted.support.sum(axis=1) ** 2, squares.sum(axis=1))

    def under_equality(self) -> list[EqualMeans]:
        """What equal groups share: their recalls, and so every mean of them under common weights.

        Groups of equal recalls need not have equal scores where each has weights of its own. Those with
        t = 0 are common, and with t = 1 all rows are of one class: right or not.
        """
        if (
            self.sums.squared is not None
            or self.sums.support.sum(axis=0).max(initial=0) >= _MOST_ROWS
        ):
            return []
        sums, shape = self.sums, self.sums.support.shape
        if self.prevalence is not None:
            weights = [class_weights(self.prevalence, t=t) for t in self.exponents]
            places = list(range(len(weights)))
            return [EqualMeans(places, sums, [np.broadcast_to(w, shape) for w in weights])]
        whole = Sums(*(part.sum(axis=1, keepdims=True) for part in sums.parts()))
        by_t = {0.0: sums, 1.0: whole}
        return [
            EqualMeans([at], by_t[t], [class_weights(np.ones(by_t[t].support.shape), t=0.0)])
            for at, t in enumerate(self.exponents)
            if t in by_t
        ]

    def shares(self, sums: Sums) -> FloatArray:
        """What gives the class weights of some sums, (G, K)."""
        return sums.support if self.prevalence is None else self.prevalence

    def score(self, sums: Sums, t: float) -> FloatArray:
        """The metric of some sums; NaN where it is undefined."""
        return tempered_mean(sums.recall(), self.shares(sums), t)

    def bounds(self, t: float) -> tuple[FloatArray, FloatArray]:
        """Least and greatest value of each group, whatever the recall of absent classes."""
        return tempered_bounds(self.sums.recall(), self.shares(self.sums), t)

    def is_small(self, min_support: int) -> BoolArray:
        """Groups with too few rows of a class."""
        return np.asarray((self.rows < min_support).any(axis=1))

    def totals(self, place: Codes, n_groups: int) -> Measure:
        """The same over groups that share a place, all of one model."""
        rows = np.zeros((n_groups, self.rows.shape[1]), dtype=self.rows.dtype)
        np.add.at(rows, place, self.rows)
        one = np.zeros(n_groups, dtype=np.intp)
        one[place] = np.arange(len(place))  # any group of the place: they have the model in common
        return replace(self.at(one), sums=self.sums.totals(place, n_groups), rows=rows)

    def at(self, place: Codes) -> Measure:
        """The same over some of the groups."""
        prevalence, reference = self.prevalence, self.reference
        return replace(
            self,
            sums=self.sums.at(place),
            rows=self.rows[place],
            prevalence=None if prevalence is None else prevalence[place],
            reference=None if reference is None else reference.at(place),
        )

    def parted(self, among: BoolArray, min_support: int) -> tuple[Codes, Codes]:
        """Groups to compare, and those with too few rows of a class."""
        small = self.is_small(min_support)
        return np.flatnonzero(among & ~small), np.flatnonzero(among & small)

    def reason(self, counts: ConfusionCounts, group: int) -> str:
        """Why the metric of a group is undefined."""
        if self.metric.share_of is not None:
            rows = int(counts.rows[group])
            undefined_where = self.metric.undefined_where or ()
            says = [text for zero in undefined_where[:1] for text in zero.reasons] if rows else []
            return ", ".join(says).format(shown(counts.pos_label)) or "no rows"
        absent = np.flatnonzero(self.sums.support[group] == 0)
        if len(absent) == self.sums.support.shape[1]:
            return "no rows"
        return f"no rows of {listed(counts.label_set.classes[k] for k in absent)}"


def comparable_metrics(
    counts: ConfusionCounts, metrics: str | Metric | Iterable[str | Metric] | None
) -> tuple[list[Metric], bool]:
    """Metrics to compare groups by, and whether they came as a list."""
    check_counts(counts)
    if len(counts.key_groups.names) == counts.key_groups.has_model:
        raise InputError(
            "There are no groups to compare; name their key when counting: by='segment'."
        )
    chosen = find_metrics("tba" if metrics is None else metrics)
    able = [
        metric.name
        for metric in METRICS
        if metric.exponent is not None
        or (metric.is_known_as("recall") if counts.is_weighted else metric.share_of is not None)
    ]
    unable = [
        metric.name for metric in chosen if metric.exponent is None and metric.name not in able
    ]
    if unable:
        raise InputError(
            f"`metrics`: {listed(unable)} cannot be compared between groups"
            f"{' of weighted rows' if counts.is_weighted else ''}. Choose from "
            f"{listed(able, len(able))}."
        )
    check_positive(counts, chosen)
    return chosen, not (metrics is None or isinstance(metrics, (str, Metric)))


def measure_of(
    counts: ConfusionCounts, metric: Metric, prevalence: Prevalence, exponents: list[float]
) -> Measure:
    """The metric as a mean of recalls."""
    if metric.share_of is not None:
        return _measure_of_proportion(counts, metric)
    parts = [counts.hits, counts.support]
    if counts.squared_hits is not None and counts.squared_support is not None:
        parts += [counts.squared_hits, counts.squared_support, counts.class_rows]
    sums = Sums.of([of_classes(counts, part) for part in parts])
    rows = of_classes(counts, counts.class_rows)
    fixed = metric.exponent
    if fixed == 0.0:  # equal weights, whatever the prevalence
        return Measure(metric, sums, rows, [0.0], np.ones(rows.shape))
    if metric.is_known_as("accuracy"):  # of each group's own rows, by definition
        return Measure(metric, sums, rows, [1.0])
    if isinstance(fixed, float):
        exponents = [fixed]
    shares = np.broadcast_to(class_prevalence(counts, prevalence, sums.support), rows.shape)
    if not isinstance(prevalence, str):
        return Measure(metric, sums, rows, exponents, shares)
    if prevalence == "own":
        return Measure(metric, sums, rows, exponents)
    place, n_models = models_of(counts)
    pooled = sums.totals(place, n_models).at(place)
    return Measure(metric, sums, rows, exponents, shares, pooled)


def _measure_of_proportion(counts: ConfusionCounts, metric: Metric) -> Measure:
    """A share of the positive class as the recall of a single class."""
    at = [counts.label_set.values.index(counts.pos_label)]
    hits, support, predicted = (
        part[:, at].astype(np.float64) for part in (counts.hits, counts.support, counts.predicted)
    )
    total = counts.weight.astype(np.float64)[:, None]
    whole = metric.denominator(support, predicted, total)
    share = metric.function(hits, support, predicted, total)
    part = np.where(whole > 0, share * whole, 0.0).round()
    sums, rows = Sums(part.astype(np.float64), whole), whole
    if counts.squared_hits is not None and counts.squared_support is not None:  # recall alone
        rows = counts.class_rows[:, at]
        squared = counts.squared_hits[:, at], counts.squared_support[:, at], rows
        sums = Sums(hits, support, squared)
    return Measure(metric, sums, rows, [0.0], np.ones(rows.shape))


def models_of(counts: ConfusionCounts) -> tuple[Codes, int]:
    """The model of each group, in the order of all tables, and how many models there are."""
    if not counts.key_groups.has_model:
        return np.zeros(len(counts), dtype=np.intp), 1
    groups, place = counts.key_groups.keep([0]).in_order()
    return place, len(groups)


def group_names(counts: ConfusionCounts, groups: Iterable[int]) -> list[Hashable]:
    """Keys of some groups without their model; None for the place -1."""
    keys = counts.key_groups
    kept = keys.keep(range(keys.has_model, len(keys.names)))
    return [kept.values(group) if group >= 0 else None for group in groups]


def check_min_support(min_support: object) -> None:
    """Raise InputError unless it is a number of rows."""
    is_whole = isinstance(min_support, (int, np.integer)) and not isinstance(min_support, bool)
    if not (is_whole and min_support >= 0):  # type: ignore[operator]
        raise InputError(
            f"`min_support` must be a whole number of rows, 0 or more; got {shown(min_support)}."
        )


def join_measures(parts: list[Measure]) -> Measure:
    """The groups of several measures of one metric, one after the other."""
    first = parts[0]
    prevalence = [part.prevalence for part in parts if part.prevalence is not None]
    reference = [part.reference for part in parts if part.reference is not None]
    return replace(
        first,
        sums=_joined_sums([part.sums for part in parts]),
        rows=np.concatenate([part.rows for part in parts]),
        prevalence=np.concatenate(prevalence) if prevalence else None,
        reference=_joined_sums(reference) if reference else None,
    )


def _joined_sums(sums: list[Sums]) -> Sums:
    """Sums of groups, one after the other."""
    parts = zip(*(part.parts() for part in sums), strict=True)
    return Sums.of([np.concatenate(held) for held in parts])


def undefined_groups(counts: ConfusionCounts, measure: Measure, among: Codes, t: float) -> str:
    """Which of some groups have no value, and why."""
    scores = measure.score(measure.sums, t)[among]
    lacking = among[np.isnan(scores)]
    texts = [
        f"{shown(name)} ({measure.reason(counts, group)})"
        for name, group in zip(group_names(counts, lacking[:5]), lacking.tolist(), strict=False)
    ]
    more = f" and {len(lacking) - 5:,} more" if len(lacking) > 5 else ""
    return f"{len(lacking)} undefined of {len(among)} groups: {', '.join(texts)}{more}"
