"""Standard errors and confidence intervals of tempered means of recall: arrays in, arrays out.

Classes are the last axis, K long; axes before it (groups) broadcast.  The variance is that of the
linearised score, where every row of class k counts (w_k / p_k) [(c - r_k) + t (r_k - score)]: c
says whether it is right, and the second term is there as far as the weights were estimated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import InputError, KindError, is_real, shown
from pandas_tba.inference.influence import (
    Limits,
    OfShare,
    clopper_pearson_at,
    critical_value,
    jeffreys_limits,
    satterthwaite_rows,
    wilson_limits,
)
from pandas_tba.scoring.tempering import class_weights, ratio, tempered_mean

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]

_MOST_REPLICATES = 1_000_000
_CELLS_AT_A_TIME = 4_000_000  # drawn in one chunk: 32 MB


@dataclass(frozen=True)
class Recalls:
    """The recall of each class and what it rests on, all of shape (G, K) or broadcast to it.

    Where a class is not ``present`` in a group its numbers stand in for none and have no weight.
    ``rows`` are the rows of the class: effective ones, (sum of weights)**2 / sum of squared
    weights, where rows have weights.  ``prevalence`` gives the class weights and was counted on
    ``reference`` rows of each class (infinite where it was given); ``overlap`` is the part of these
    that are the group's own.  ``skew`` is the recall with squared weights minus the recall: 0 unless
    hits weigh more than misses, or less.  ``differ`` says where the rows of a class have weights that
    differ: few of them then take Student's quantile.
    """

    recall: FloatArray
    rows: FloatArray
    present: BoolArray
    prevalence: FloatArray
    reference: FloatArray
    overlap: FloatArray
    skew: FloatArray
    differ: BoolArray

    def weights(self, t: float) -> FloatArray:
        """Weights (G, K) of the classes that are present."""
        return class_weights(self.prevalence, t=t, among=self.present)

    def absent_weight(self, t: float) -> FloatArray:
        """Weight (G,) of the classes that are not."""
        return np.where(self.present, 0.0, class_weights(self.prevalence, t=t)).sum(axis=-1)

    def smoothed(self) -> Recalls:
        """The same with one hit and one miss more in every class."""
        added = 1.0 / (np.minimum(self.rows, 1e15) + 2.0)  # 1 minus less would be 1
        return replace(
            self,
            recall=self.recall + (1.0 - 2.0 * self.recall) * added,
            skew=self.skew * (1.0 - 2.0 * added),
        )


def recalls_of(
    hits: FloatArray,
    support: FloatArray,
    prevalence: FloatArray,
    *,
    reference: FloatArray | None = None,
    squared: tuple[FloatArray, FloatArray, FloatArray] | None = None,
    numbers: FloatArray | None = None,
) -> Recalls:
    """Recalls from rows; or from weights, with the squares of those of hits, support, reference.

    ``numbers`` are then those of the rows (G, K); without them weights count as equal ones.

    ``reference`` (rows of each class, or their weight) is None where the prevalence was given.
    """
    present = support > 0
    counted = np.full((1, support.shape[1]), np.inf) if reference is None else reference
    of_hits, of_support, of_counted = squared or (hits, support, counted)
    recall = np.where(present, ratio(hits, support), 0.0)
    reference_rows = counted if reference is None else ratio(counted**2, of_counted)
    rows = np.where(present, ratio(support**2, of_support), 1.0)
    return Recalls(
        recall=recall,
        rows=rows,
        present=present,
        prevalence=prevalence,
        reference=np.where(present, reference_rows, 1.0),
        overlap=np.where(present, ratio(support, counted), 0.0),
        skew=np.where(present, ratio(of_hits, of_support) - recall, 0.0),
        differ=np.zeros_like(present) if numbers is None else rows < numbers * (1.0 - 1e-9),
    )


def moments(recalls: Recalls, t: float) -> tuple[FloatArray, FloatArray]:
    """Tempered mean (G,) over the classes present, and the variance of its linearised form."""
    mean, variance = _moments_of_classes(recalls, t)
    return mean, variance.sum(axis=-1)


def _moments_of_classes(recalls: Recalls, t: float) -> tuple[FloatArray, FloatArray]:
    """The mean (G,), and what each class adds to the variance (G, K)."""
    weights, recall = recalls.weights(t), recalls.recall
    mean = (weights * recall).sum(axis=-1)
    pull = 0.0 if math.isinf(t) else t  # at a limit the weights do not move
    with np.errstate(over="ignore", under="ignore"):
        shift = pull * weights * (recall - mean[..., None])
        spread = recall * (1.0 - recall) + recalls.skew * (1.0 - 2.0 * recall)
        variance = (
            weights**2 * spread / recalls.rows
            + 2.0 * shift * weights * recalls.skew * recalls.overlap / recalls.rows
            + (shift / np.sqrt(recalls.reference)) ** 2
        )
    return mean, variance


def standard_error(recalls: Recalls, t: float) -> FloatArray:
    """Standard error (G,) at the observed recalls; too small where a recall is 0 or 1."""
    return np.sqrt(moments(recalls, t)[1])


def effective_rows_of_mean(recalls: Recalls, t: float) -> FloatArray:
    """Rows of one proportion that is as uncertain as the mean, by the variance at smoothed recalls.

    The number of rows itself for one class, and for t = 1 with the group's own prevalence.
    """
    mean, variance = moments(recalls.smoothed(), t)
    return ratio(mean * (1.0 - mean), variance)


def limits_of_mean(of_share: OfShare, recalls: Recalls, t: float, level: float) -> Limits:
    """Limits of one proportion at the effective rows."""
    mean = moments(recalls, t)[0].clip(0.0, 1.0)
    return of_share(mean, effective_rows_of_mean(recalls, t), _quantile(recalls, t, level))


def _quantile(recalls: Recalls, t: float, level: float) -> FloatArray:
    """Standard errors on either side that hold the level."""
    return critical_value((1.0 - level) / 2.0, freedom_of_mean(recalls, t))


def freedom_of_mean(recalls: Recalls, t: float) -> FloatArray | None:
    """Degrees of freedom + 1 (G,) of the variance of the mean; None where no weights differ."""
    if not recalls.differ.any():
        return None
    terms = _moments_of_classes(recalls.smoothed(), t)[1]
    return satterthwaite_rows(terms, recalls.rows, recalls.differ)


def mover_limits(recalls: Recalls, t: float, level: float) -> Limits:
    """Distances from each recall to its Jeffreys limits, combined like standard errors."""
    mean, weights = moments(recalls, t)[0], recalls.weights(t)
    low, high = jeffreys_limits(recalls.recall, recalls.rows, level)
    fixed = replace(recalls, rows=np.full_like(recalls.rows, np.inf))
    of_weights = critical_value((1.0 - level) / 2.0) ** 2 * moments(fixed, t)[1]
    below = np.sqrt((weights**2 * (recalls.recall - low) ** 2).sum(axis=-1) + of_weights)
    above = np.sqrt((weights**2 * (high - recalls.recall) ** 2).sum(axis=-1) + of_weights)
    return (mean - below).clip(0.0, 1.0), (mean + above).clip(0.0, 1.0)


def within_bounds(limits: Limits, recalls: Recalls, t: float) -> Limits:
    """Limits (G,) of the whole mean from those over the classes present: absent recalls 0, or 1."""
    absent, is_known = recalls.absent_weight(t), recalls.present.any(axis=-1)
    low, high = ((1.0 - absent) * limit for limit in limits)
    lowest, highest = (0.0, 1.0) if recalls.present.shape[-1] else (np.nan, np.nan)
    return np.where(is_known, low, lowest), np.where(is_known, high + absent, highest)


@dataclass(frozen=True)
class IntervalMethod:
    """A way to make confidence intervals.

    Attributes
    ----------
    name : str
        What `interval` takes as its `method`.
    limits : callable or None
        (recalls, t, level) gives the low and the high limit of a mean of recalls, (G,) each. None
        where the counts are resampled instead.
    of_share : callable or None
        (share, rows, z) gives those of one proportion, at a quantile z of the normal distribution.
        Metrics that are no means of recalls take it at their effective rows. None where the method
        does not take them.
    takes_weights : bool
        Whether it is made for rows with weights.
    least_rows : int
        Rows of a class below which there is a warning, as it may not hold its level.
    instead : str
        What to do then.
    description : str
        What it does, in words.
    reference : str
        Where it is described.
    """

    name: str
    limits: Callable[[Recalls, float, float], Limits] | None
    of_share: OfShare | None
    takes_weights: bool
    least_rows: int
    instead: str
    description: str
    reference: str


INTERVALS: tuple[IntervalMethod, ...] = (
    IntervalMethod(
        "wilson",
        partial(limits_of_mean, wilson_limits),
        wilson_limits,
        takes_weights=True,
        least_rows=5,
        instead="method='conservative' is wider.",
        description="Score interval of one proportion at the effective number of rows",
        reference="Wilson 1927, doi:10.1080/01621459.1927.10502953",
    ),
    IntervalMethod(
        "conservative",
        partial(limits_of_mean, clopper_pearson_at),
        clopper_pearson_at,
        takes_weights=True,
        least_rows=0,
        instead="",
        description="Clopper-Pearson interval of one proportion at the effective number of rows",
        reference="Clopper and Pearson 1934, doi:10.1093/biomet/26.4.404",
    ),
    IntervalMethod(
        "mover",
        mover_limits,
        None,
        takes_weights=False,
        least_rows=5,
        instead="method='conservative' is wider.",
        description="Jeffreys limits of each class, combined; for at most five classes",
        reference="Zou and Donner 2008, doi:10.1002/sim.3095",
    ),
    IntervalMethod(
        "bootstrap",
        None,
        None,
        takes_weights=False,
        least_rows=20,
        instead="method='wilson' comes closer.",
        description="Percentiles of the metric over counts drawn anew from each group's own",
        reference="Efron 1979, doi:10.1214/aos/1176344552",
    ),
)


def check_level(level: object) -> float:
    """The level as a float; InputError unless it is a probability."""
    if not (is_real(level) and 1e-12 < float(level) < 1 - 1e-12):  # type: ignore[arg-type]
        raise InputError(
            f"`level` must be a number between 0 and 1, such as 0.95; got {shown(level)}."
        )
    return float(level)  # type: ignore[arg-type]


def check_replicates(n_replicates: object) -> None:
    """Raise InputError unless it is a number of draws."""
    is_whole = isinstance(n_replicates, (int, np.integer)) and not isinstance(n_replicates, bool)
    if not (is_whole and 1 <= n_replicates <= _MOST_REPLICATES):  # type: ignore[operator]
        raise InputError(
            f"`n_replicates` must be a whole number of draws, 1 to {_MOST_REPLICATES:,}; got "
            f"{shown(n_replicates)}."
        )


def resampled(
    hits: npt.NDArray[np.number],
    support: npt.NDArray[np.number],
    *,
    n_replicates: int = 2000,
    generator: np.random.Generator | int | None = None,
) -> Iterator[tuple[Counts, Counts]]:
    """Hits and support (b, G, K) of rows resampled in each group, `n_replicates` in chunks of b."""
    hits, support = hits.astype(np.int64), support.astype(np.int64)
    cells = np.concatenate([hits, support - hits], axis=1)
    for drawn in resampled_cells(cells, n_replicates=n_replicates, generator=generator):
        drawn_hits, drawn_misses = np.split(drawn, 2, axis=2)
        yield drawn_hits, drawn_hits + drawn_misses


def resampled_cells(
    cells: Counts, *, n_replicates: int = 2000, generator: np.random.Generator | int | None = None
) -> Iterator[Counts]:
    """Cells (b, G, C) of rows resampled in each group: one multinomial, whatever the rows."""
    generator = generator_of(generator)
    chunk = max(1, _CELLS_AT_A_TIME // max(1, cells.size))
    for start in range(0, n_replicates, chunk):
        yield drawn_rows(cells, min(chunk, n_replicates - start), generator)


def drawn_rows(cells: Counts, n_replicates: int, generator: np.random.Generator) -> Counts:
    """One draw (b, G, C) of as many rows as each group has, from its own cells."""
    total = cells.sum(axis=1)
    if not total.any():  # numpy also refuses to draw from no cells at all
        return np.zeros((n_replicates, *cells.shape), dtype=np.int64)
    share = ratio(cells, total[:, None])
    share[total == 0] = 0.0  # nothing is drawn, and numpy refuses NaN
    return generator.multinomial(total, share, size=(n_replicates, len(cells)))


def generator_of(generator: object) -> np.random.Generator:
    """The Generator, or a new one from a seed; without one every call draws other numbers."""
    is_seed = isinstance(generator, (int, np.integer)) and generator >= 0
    if generator is None or is_seed or isinstance(generator, np.random.Generator):
        return np.random.default_rng(generator)  # type: ignore[arg-type]
    raise KindError(
        "`generator` must be a numpy Generator or a seed, as in numpy.random.default_rng(0); got "
        f"{shown(generator)}."
    )


def replicated_means(
    hits: FloatArray,
    support: FloatArray,
    shares: FloatArray,
    exponents: list[float],
    n_replicates: int,
    generator: np.random.Generator,
    *,
    was_counted: bool,
) -> Iterator[FloatArray]:
    """Replicates (b, G, T) of the tempered mean over the classes that are present.

    ``shares`` give the class weights: the rows they `was_counted` on are resampled as well.
    """
    others = (shares - support).astype(np.int64)
    drawings = resampled(hits, support, n_replicates=n_replicates, generator=generator)
    for drawn_hits, drawn_support in drawings:
        drawn_shares = shares
        if was_counted:
            drawn_others = drawn_rows(others, len(drawn_support), generator)
            drawn_shares = (drawn_support + drawn_others).astype(np.float64)
        recall = ratio(drawn_hits, drawn_support)
        columns = [tempered_mean(recall, drawn_shares, t, support > 0) for t in exponents]
        yield np.stack(columns, axis=-1)


def replicated(
    evaluate: Callable[[Counts], FloatArray],
    matrices: Counts,
    n_replicates: int,
    generator: np.random.Generator,
) -> Iterator[FloatArray]:
    """Replicates (b, G, T) of what `evaluate` makes, (N, T), of N confusion matrices."""
    n_groups, n_labels = matrices.shape[:2]
    cells = matrices.reshape(n_groups, n_labels**2)
    for drawn in resampled_cells(cells, n_replicates=n_replicates, generator=generator):
        values = evaluate(drawn.reshape(len(drawn) * n_groups, n_labels, n_labels))
        yield values.reshape(len(drawn), n_groups, values.shape[1])


def percentiles(
    values: FloatArray, level: float
) -> tuple[FloatArray, FloatArray, FloatArray, Counts]:
    """Low and high limit, standard deviation and undefined ones of replicates (B, ...).

    Order statistics, the outer ones: interpolation between them would make NaN of infinite values.
    """
    ordered = np.sort(values, axis=0)  # NaN last
    undefined = np.isnan(values).sum(axis=0)
    last = np.maximum(len(values) - undefined - 1, 0)
    tail = (1.0 - level) / 2.0 * last
    low, high = (
        np.take_along_axis(ordered, at.astype(np.intp)[None], axis=0)[0]
        for at in (np.floor(tail), np.ceil(last - tail))
    )
    with np.errstate(invalid="ignore"):  # infinite values have no standard deviation
        mean = ratio(np.nansum(values, axis=0), len(values) - undefined)
        squares = np.nansum((values - mean) ** 2, axis=0) + np.where(np.isfinite(mean), 0.0, np.nan)
    return low, high, np.sqrt(ratio(squares, last)), undefined
