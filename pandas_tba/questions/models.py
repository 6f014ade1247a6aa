"""Two models against each other on the same rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.paired import PairedCounts
from pandas_tba.errors import KindError, listed
from pandas_tba.inference.intervals import check_level
from pandas_tba.inference.pvalues import holm, normal_limit, paired_mid_p
from pandas_tba.scoring.results import (
    Exponent,
    Prevalence,
    check_names,
    class_prevalence,
    described,
    exponents_of,
    over_t,
    with_t,
)
from pandas_tba.scoring.tempering import class_weights, ratio, tempered_mean

FloatArray = npt.NDArray[np.float64]

_COLUMNS = (
    "n",
    "min_support",
    "n_absent",
    "difference",
    "low",
    "high",
    "se",
    "p_value",
    "p_adjusted",
    "discordant",
    "n_unpaired",
    "reason",
)


def compare(
    pairs: PairedCounts,
    *,
    t: Exponent = 0.5,
    level: float = 0.95,
    prevalence: Prevalence = "own",
) -> pd.DataFrame:
    """Differences between two models in tempered balanced accuracy on the same rows.

    Parameters
    ----------
    pairs : PairedCounts
        As `count_pairs` gives them.
    t : float, or list of float, default 0.5
        Exponent, as in `score`. A list adds the last level ``t`` to the index.
    level : float, default 0.95
        Confidence level of low and high.
    prevalence : {"own", "pooled"}, mapping or Series, default "own"
        Whose class shares give the weights, as in `score`; pooled are all groups of the pair.

    Returns
    -------
    DataFrame
        The index is model_a, model_b and the keys. Columns n (rows that both have scored),
        min_support, n_absent; difference (the score of a less that of b), its limits low and high,
        its standard error se; p_value, p_adjusted for all rows of the table (Holm); discordant
        (rows that only one of the two gets right), n_unpaired (rows left out since only one has
        scored them), reason (why the difference is NaN, else empty).

    Raises
    ------
    InputError
        If an argument has a value that cannot be used.
    KindError
        If these are no paired counts.

    Notes
    -----
    p_value tests whether the two models have equal recall *in every class*: then every discordant
    row is a fair coin, and the two-sided mid-p is computed from that; at t = 1 with own weights it
    is McNemar's mid-p test. It does not test whether the difference is 0: two models may differ in
    each class and yet have equal scores, as at a crossing. low and high speak of the difference
    itself. The p-value is exact unless there are very many discordant rows in three or more
    classes; then its relative error stays below 1e-3 down to p = 1e-4. Rows count as independent.

    low and high are z standard errors from the difference, z = 1.96 at level 0.95, cut at -1 and
    1. For the standard error each class has half a row more in either discordant count, and one
    row more in all: d_k = (a_k - b_k) / (n_k + 1), where a_k rows are right by a alone and b_k by
    b alone, D = sum w_k d_k, and se^2 = sum w_k^2 ((a_k + b_k + 1) / (n_k + 1) - d_k^2)
    / (n_k + 1) + (t^2 / N) sum w_k^2 / p_k (d_k - D)^2. The class weights w_k and shares p_k stay
    as they are. N are the rows on which p_k was counted; given shares leave the second sum out,
    and so does an infinite t.

    References
    ----------
    Fagerland, Lydersen and Laake 2013, doi:10.1186/1471-2288-13-91 (mid-p).

    Examples
    --------
    >>> import pandas_tba as tba
    >>> pairs = tba.count_pairs(tba.load_income(), y_pred=["logit", "forest"])
    >>> tba.compare(pairs, t=0).round(3)[["difference", "low", "high", "discordant"]]
                     difference    low   high  discordant
    model_a model_b
    logit   forest        0.015  0.004  0.026         237
    """
    if not isinstance(pairs, PairedCounts):
        raise KindError(
            f"`pairs` must be PairedCounts; got {type(pairs).__name__}. Count pairs first: "
            "tba.count_pairs(df, y_true='y', y_pred=['a', 'b']), or ask the frame: "
            "df.tba(y_true='y', y_pred=['a', 'b']).compare()."
        )
    exponents, is_list = exponents_of(t)
    check_level(level)
    counts: Any = pairs  # has the parts of ConfusionCounts that tables ask for
    check_names(counts, (*_COLUMNS, "t") if is_list else _COLUMNS)
    support = pairs.support.astype(np.float64)
    share, n_reference = _reference(pairs, prevalence, support)
    columns = [_compared(pairs, support, share, n_reference, value) for value in exponents]
    difference, se, p_value = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
    values = {
        "n": pairs.rows,
        "min_support": pairs.support.min(axis=1, initial=pairs.rows.max(initial=0)),
        "n_absent": (support == 0).sum(axis=1),
        "difference": difference,
        "low": np.maximum(difference - normal_limit(level) * se, -1.0),
        "high": np.minimum(difference + normal_limit(level) * se, 1.0),
        "se": se,
        "p_value": p_value,
        "p_adjusted": holm(p_value),
        "discordant": (pairs.cells[:, :, 0, 1] + pairs.cells[:, :, 1, 0]).sum(axis=1),
        "n_unpaired": pairs.unpaired,
        "reason": _reasons(pairs, np.isnan(difference)),
    }
    rows: dict[str, Any] = {name: over_t(values[name], len(exponents)) for name in _COLUMNS}
    rows["reason"] = pd.Series(rows["reason"], dtype="str").array
    index = with_t(pairs.groups, counts, exponents) if is_list else pairs.groups
    return described(pd.DataFrame(rows, index=index), counts, t, prevalence)


def _reference(
    pairs: PairedCounts, prevalence: Prevalence, support: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Prevalence of the classes, (G, K) or (1, K), and the rows that it was estimated from."""
    counts: Any = pairs
    if not (isinstance(prevalence, str) and prevalence == "pooled"):
        given = class_prevalence(counts, prevalence, support)
        is_own = isinstance(prevalence, str)
        return given, support.sum(axis=1) if is_own else np.full(len(pairs), math.inf)
    by_pair, place = pairs.key_groups.keep([0, 1]).in_order()
    pooled = np.zeros((len(by_pair), support.shape[1]))
    np.add.at(pooled, place, support)
    return pooled[place], pooled.sum(axis=1)[place]


def _compared(
    pairs: PairedCounts, support: FloatArray, prevalence: FloatArray, rows: FloatArray, t: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Difference, its standard error and its p-value at one t, each (G,)."""
    only_a, only_b = (pairs.cells[:, :, a, 1 - a].astype(np.float64) for a in (1, 0))
    difference = tempered_mean(ratio(only_a - only_b, support), prevalence, t)
    weights = np.broadcast_to(class_weights(prevalence, t=t), support.shape)
    se = np.sqrt(_variance(only_a, only_b, support, weights, prevalence, rows, t))
    undefined = np.isnan(difference)
    se[undefined] = np.nan
    p_value = np.full(len(pairs), np.nan)
    steps = ratio(weights, support)
    for at in np.flatnonzero(~undefined):
        p_value[at] = paired_mid_p(steps[at], only_a[at], only_b[at])
    return difference, se, p_value


def _variance(
    only_a: FloatArray,
    only_b: FloatArray,
    support: FloatArray,
    weights: FloatArray,
    prevalence: FloatArray,
    rows: FloatArray,
    t: float,
) -> FloatArray:
    """Variance of the difference with half a row added to each discordant count.

    Without it the interval would have no width where no row is discordant.
    """
    difference = (only_a - only_b) / (support + 1)
    spread = (only_a + only_b + 1) / (support + 1) - difference**2
    variance = (weights**2 * spread / (support + 1)).sum(axis=1)
    if t == 0 or math.isinf(t):  # then the weights do not depend on the prevalence
        return np.asarray(variance)
    share = ratio(prevalence, prevalence.sum(axis=1, keepdims=True))
    centred = difference - (weights * difference).sum(axis=1, keepdims=True)
    with np.errstate(over="ignore"):
        shift = (t * weights * centred) ** 2 / np.where(share > 0, share, np.inf)
    return np.asarray(variance + shift.sum(axis=1) / np.maximum(rows, 1))


def _reasons(pairs: PairedCounts, undefined: npt.NDArray[np.bool_]) -> npt.NDArray[np.object_]:
    """Why differences (G, T) are NaN: the classes without rows."""
    texts = np.full(undefined.shape, "", dtype=object)
    for at in np.flatnonzero(undefined.any(axis=1)):
        absent = np.flatnonzero(pairs.support[at] == 0)
        classes = [pairs.label_set.classes[k] for k in absent]
        has_rows = pairs.rows[at] > 0
        texts[at, undefined[at]] = f"no rows of {listed(classes)}" if has_rows else "no rows"
    return texts
