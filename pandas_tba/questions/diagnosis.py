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
from pandas_tba.inference.contrasts import slope_limits
from pandas_tba.inference.intervals import check_level
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
    "reading",
    "costliest",
    "cost",
    "reason",
)
_READINGS = ("weaker on common classes", "even", "weaker on rare classes")
_FEW_ROWS = 10
_TEXT = ("reading", "costliest", "reason")


def diagnose(
    counts: ConfusionCounts,
    *,
    t: Exponent = 0.5,
    level: float = 0.95,
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

    Returns
    -------
    DataFrame
        Columns n, min_support, n_absent, score; slope, the derivative of the score by t, with its
        limits slope_low and slope_high; reading: ``weaker on rare classes`` where the interval lies
        above 0, ``weaker on common classes`` where it lies below, else ``even``; nothing where a class
        has fewer than 10 rows, for which the limits were not tried; costliest, the class whose errors
        take most from the score, and cost, how much: weight times (1 - recall); reason, empty unless
        undefined or not read.

    Raises
    ------
    InputError
        If the counts are weighted, or an argument has a value that cannot be used.

    Notes
    -----
    The slope is a contrast of the recalls, sum c_k r_k with c_k = w_k (ln p_k - sum w ln p), whose
    coefficients add up to 0. Its limits join the Wilson limits of the recalls, and the variance that
    the class shares have since they were counted.

    References
    ----------
    Zou and Donner 2008, doi:10.1002/sim.3095.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[880, 20], [60, 40]])
    >>> tba.diagnose(counts)[["reading", "costliest", "cost"]].round(3)
                      reading costliest  cost
    0  weaker on rare classes         1  0.15
    """
    check_counts(counts)
    exponents, is_list = exponents_of(t)
    check_names(counts, [*size_names(counts), *_DIAGNOSIS, *(["t"] if is_list else [])])
    if counts.is_weighted:
        raise InputError(
            "diagnose() has no limits for weighted counts. Ask metrics(counts, metrics=['tba', "
            "'tba_slope']) for the slope without its interval."
        )
    level = check_level(level)
    support, hits = of_classes(counts, counts.support), of_classes(counts, counts.hits)
    parts = [_diagnosed(counts, hits, support, exponent, level) for exponent in exponents]
    values = sizes(counts, support)
    values |= {name: np.stack([part[name] for part in parts], axis=1) for name in _DIAGNOSIS}
    table = pd.DataFrame(
        {name: plain_series(over_t(held, len(parts))) for name, held in values.items()}
    )
    table = table.assign(reading=texts(table["reading"]), reason=texts(table["reason"]))
    index = with_t(counts.groups, counts, exponents) if is_list else counts.groups
    return described(table.set_axis(index), counts, t, "own")


def _diagnosed(
    counts: ConfusionCounts, hits: FloatArray, support: FloatArray, t: float, level: float
) -> dict[str, npt.NDArray[Any]]:
    """Columns of `diagnose` at one t, each (G,)."""
    recall = ratio(hits, support)
    score, slope = tempered_mean(recall, support, t), tempered_slope(recall, support, t)
    low, high = slope_limits(hits, support, t, level)
    smallest = support.min(axis=1, initial=np.inf)
    is_unread = np.isnan(slope) | (smallest < _FEW_ROWS)
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
    columns = (score, slope, low, high, readings, costliest, cost, reasons)
    return {
        name: np.asarray(held, dtype=object if name in _TEXT else None)
        for name, held in zip(_DIAGNOSIS, columns, strict=True)
    }


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
