"""On which classes a group or a model is weak: the slope of its score, and the costliest class."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError
from pandas_tba.frames.values import plain_series
from pandas_tba.inference.intervals import check_level, check_replicates, resampled
from pandas_tba.scoring.results import (
    Exponent,
    absent_classes,
    check_counts,
    check_names,
    described,
    exponents_of,
    of_classes,
    over_t,
    size_names,
    sizes,
    texts,
    with_t,
)
from pandas_tba.scoring.tempering import class_weights, ratio, tempered_mean, tempered_slope

FloatArray = npt.NDArray[np.float64]

_DIAGNOSIS = (
    "score",
    "slope",
    "slope_low",
    "slope_high",
    "n_undefined",
    "reading",
    "costliest",
    "cost",
    "reason",
)
_READINGS = ("weaker on common classes", "even", "weaker on rare classes")
_FEW_ROWS = 20
_TEXT = ("reading", "costliest", "reason")


def diagnose(
    counts: ConfusionCounts,
    *,
    t: Exponent = 0.5,
    level: float = 0.95,
    n_replicates: int = 2000,
    generator: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """On which classes each group or model is weak, and which one costs it most.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, without weights.
    t : float, or list of float, default 0.5
        Exponent; weights are each group's own. A list adds the last level ``t``.
    level : float, default 0.95
        Level of the interval of the slope.
    n_replicates : int, default 2000
        Times that the rows of each group are drawn anew for that interval.
    generator : numpy Generator or int, optional
        Draws them; a Generator or a seed makes the interval repeatable.

    Returns
    -------
    DataFrame
        Columns n, min_support, n_absent, score; slope, the derivative of the score by t, with
        slope_low and slope_high; n_undefined, replicates that lacked a class and are left out;
        reading: ``weaker on rare classes`` where the interval lies above 0, ``weaker on common
        classes`` where it lies below, else ``even``; nothing where a class has fewer than 20 rows,
        since resampling so few makes the interval too narrow; costliest, the class whose errors
        take most from the score, and cost, how much: weight times (1 - recall); reason, empty
        unless undefined or not read.

    Raises
    ------
    InputError
        If the counts are weighted, or an argument has a value that cannot be used.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[880, 20], [60, 40]])
    >>> tba.diagnose(counts, generator=0)[["reading", "costliest", "cost"]].round(3)
                      reading costliest  cost
    0  weaker on rare classes         1  0.15
    """
    check_counts(counts)
    exponents, is_list = exponents_of(t)
    check_names(counts, [*size_names(counts), *_DIAGNOSIS, *(["t"] if is_list else [])])
    level = _check_resampling(counts, level, n_replicates)
    support, hits = of_classes(counts, counts.support), of_classes(counts, counts.hits)
    recall = ratio(hits, support)
    slopes: list[list[FloatArray]] = [[] for _ in exponents]
    for drawn in resampled(hits, support, n_replicates=n_replicates, generator=generator):
        lacks = (drawn[1] == 0).any(axis=2)
        for held, exponent in zip(slopes, exponents, strict=True):
            slope = tempered_slope(ratio(*drawn), drawn[1].astype(np.float64), exponent)
            held.append(np.where(lacks, np.nan, slope))
    parts = [
        _diagnosed(counts, recall, support, exponent, np.concatenate(held), level)
        for exponent, held in zip(exponents, slopes, strict=True)
    ]
    values = sizes(counts, support)
    values |= {name: np.stack([part[name] for part in parts], axis=1) for name in _DIAGNOSIS}
    table = pd.DataFrame(
        {name: plain_series(over_t(held, len(parts))) for name, held in values.items()}
    )
    table = table.assign(reading=texts(table["reading"]), reason=texts(table["reason"]))
    index = with_t(counts.groups, counts, exponents) if is_list else counts.groups
    return described(table.set_axis(index), counts, t, "own")


def _diagnosed(
    counts: ConfusionCounts,
    recall: FloatArray,
    support: FloatArray,
    t: float,
    slopes: FloatArray,
    level: float,
) -> dict[str, npt.NDArray[Any]]:
    """Columns of `diagnose` at one t, each (G,), from replicates of the slope (B, G)."""
    score, slope = tempered_mean(recall, support, t), tempered_slope(recall, support, t)
    low, high, n_undefined = _quantiles(slopes, np.isnan(slope), level)
    # resampling few rows shows too little of what chance can do
    smallest = support.min(axis=1, initial=np.inf)
    is_unread = np.isnan(low) | (smallest < _FEW_ROWS)
    readings = [
        "" if unread else _READINGS[1 + int(left > 0) - int(right < 0)]
        for left, right, unread in zip(low, high, is_unread, strict=True)
    ]
    classes = counts.label_set.classes
    reasons = [
        absent_classes(classes, rows) or (f"a class has fewer than {_FEW_ROWS} rows" if few else "")
        for few, rows in zip(smallest < _FEW_ROWS, support, strict=True)
    ]
    costliest, cost = _costs(classes, recall, support, t)
    columns = (score, slope, low, high, n_undefined, readings, costliest, cost, reasons)
    return {
        name: np.asarray(held, dtype=object if name in _TEXT else None)
        for name, held in zip(_DIAGNOSIS, columns, strict=True)
    }


def _check_resampling(counts: ConfusionCounts, level: float, n_replicates: int) -> float:
    """The level as a float; InputError where rows cannot be drawn."""
    if counts.is_weighted:
        raise InputError(
            "diagnose() draws rows anew, which weighted counts do not allow. Ask "
            "metrics(counts, metrics=['tba', 'tba_slope']) for the slope without its interval."
        )
    check_replicates(n_replicates)
    return check_level(level)


def _quantiles(
    slopes: FloatArray, is_undefined: npt.NDArray[np.bool_], level: float
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.int_]]:
    """Limits that leave (1 - level) / 2 outside on either side, and how many slopes are NaN."""
    is_nan = np.isnan(slopes)
    low, high = np.full((2, slopes.shape[1]), np.nan)
    known = ~(is_undefined | is_nan.all(axis=0))
    tails = ((1 - level) / 2, (1 + level) / 2)
    if known.any():
        low[known], high[known] = np.nanquantile(slopes[:, known], tails, axis=0)
    return low, high, is_nan.sum(axis=0)


def _costs(
    classes: list[Hashable], recall: FloatArray, support: FloatArray, t: float
) -> tuple[npt.NDArray[Any], FloatArray]:
    """The class that takes most from the score of each group, and how much."""
    costliest = np.full(len(support), None, dtype=object)
    cost = np.full(len(support), np.nan)
    known = np.flatnonzero(~np.isnan(tempered_mean(recall, support, t)))
    # an absent class that leaves the score defined has no weight
    taken = np.nan_to_num(class_weights(support, t=t) * (1 - recall)) if len(known) else recall
    for at in known:
        place = int(taken[at].argmax())
        costliest[at], cost[at] = classes[place], taken[at, place]
    return costliest, cost
