"""Counts -> tables that say how sure the numbers are: intervals and posteriors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import (
    InputError,
    InputWarning,
    UndefinedWarning,
    check_choice,
    listed,
    shown,
    warn,
)
from pandas_tba.inference.intervals import (
    INTERVALS,
    IntervalMethod,
    check_level,
    check_replicates,
    generator_of,
)
from pandas_tba.inference.limits import has_finite_bounds, has_normal_limits
from pandas_tba.inference.posteriors import check_above, prior_rows, weighted_beta
from pandas_tba.questions.estimates import (
    Question,
    absent_classes_of,
    estimated,
    is_mean,
    is_proportion,
    shortfalls_of,
)
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.metrics import find_metrics
from pandas_tba.scoring.results import (
    Exponent,
    Prevalence,
    check_counts,
    check_names,
    check_positive,
    class_prevalence,
    described,
    exponents_of,
    of_classes,
    over_t,
    size_names,
    sizes,
    with_t,
)
from pandas_tba.scoring.tempering import class_weights

FloatArray = npt.NDArray[np.float64]
Prior: TypeAlias = Literal["uniform", "jeffreys"] | tuple[float, float]

_SUMMARY = ("mean", "median", "low", "high", "p_above")


def interval(
    counts: ConfusionCounts,
    *,
    t: Exponent = 0.5,
    level: float = 0.95,
    method: str = "wilson",
    prevalence: Prevalence = "own",
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    n_replicates: int = 2000,
    generator: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Confidence intervals of tempered balanced accuracy, or of other metrics.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    t : float, or list of float, default 0.5
        Exponent, as in `score`. A list adds the last level ``t`` to the index.
    level : float, default 0.95
        Confidence level of low and high, for each row by itself.
    method : {"wilson", "conservative", "mover", "bootstrap"}, default "wilson"
        A row of `INTERVALS`. ``wilson`` takes every metric, most of them as one proportion of n_eff
        rows. ``conservative`` (Clopper-Pearson, wider) does the same for metrics between finite
        bounds. ``mover`` combines Jeffreys limits of the classes, for means of recall of at most
        five of them and for single proportions. ``bootstrap`` resamples the counts, whatever the
        metric and the number of rows.
    prevalence : {"own", "pooled"}, mapping or Series, default "own"
        Whose class shares give the weights of tba, as in `score`. Shares that were counted make
        the interval wider, given ones do not.
    metrics : name, Metric, or list of these, optional
        tba by default. A list adds the level ``metric`` before ``t``.
    n_replicates : int, default 2000
        Draws of the bootstrap.
    generator : numpy Generator or int, optional
        Source of the draws, or a seed; without one each call draws others.

    Returns
    -------
    DataFrame
        Columns n (rows), min_support (rows of the smallest class), n_absent (classes without
        rows), score, low, high, se (standard error: of means of recall and proportions the plug-in
        one, too small where a recall is 0 or 1; of the others that at smoothed cells, or that of
        the replicates), n_eff (rows of one proportion that is as uncertain; NaN where there is no
        such number) and reason (why something is NaN, or of what there are too few rows, else
        empty). With a bootstrap also n_undefined: replicates without a value, which are left out.
        Weighted counts have a column weight. Where a metric is undefined, score is NaN, and low and
        high are what it can be: a mean of recalls takes the recall of absent classes for 0 and
        for 1, all others have their bounds.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used, or a method does not take a metric, or
        weights.

    Warns
    -----
    InputWarning
        Once, naming groups, where a class has too few rows for the method, or is predicted too
        seldom for the metric; and where limits of a user's metric are normal ones.

    Notes
    -----
    Rows count as independent: intervals are too narrow where subjects repeat.

    **Means of recall.** n_eff = S (1 - S) / V, where r_k = (hits_k + 1) / (n_k + 2) are smoothed
    recalls, S their mean with the class weights w_k, and V = sum w_k^2 r_k (1 - r_k) / n_k
    + (t^2 / N) sum w_k^2 / p_k (r_k - S)^2. Neither n_k, nor the weights, nor the shares p_k are
    smoothed. N are the rows on which p_k was counted; given shares leave the second sum out, and
    so does an infinite t. The limits of ``wilson`` and ``conservative`` are those of a share of
    n_eff rows, but centred on the score itself, whose recalls are not smoothed. A proportion
    (precision, specificity, ...) is the recall of a single class: of the rows it is a share of.

    **Other metrics** are functions m of the cells, as shares p_kj of all rows n. With one hit and
    one miss more in each class (the miss spread over the other labels, the share of the class kept)
    and the gradient g there, V = (sum p_kj g_kj^2 - (sum p_kj g_kj)^2) / n. On the scale between
    the bounds the value there is v and the score u; the limits are those of u at v (1 - v) / V
    rows, mapped back. For means of recall this is the same as above. The rows are added to
    predicted instead of true classes where a metric is conditional on these (precision_macro,
    precision_weighted, markedness); f1_macro, f1_weighted and metrics of the user take whichever
    gives fewer effective rows. Some have rules of their own:

    * f1 and jaccard J: limits of J as a share of the rows that are, or are predicted, of the class;
      F1 = 2 J / (1 + J).
    * lr_plus and lr_minus: Koopman's score limits of a ratio of two proportions.
    * odds_ratio: Jeffreys limits of recall and specificity, combined on the scale of logits.
    * min_recall: low is the least of the lower limits of the recalls, high the least of the upper
      ones at Sidak's level. majority is the mirror image, of the class weights.
    * tba_slope: distances from each recall to its limits, combined, and the variance of the weights.
    * metrics of the user between 0 and infinity: normal limits of the logarithm, with half a row
      more in each cell; without finite bounds normal limits.

    ``mover`` takes the recalls as they are: low is S - sqrt(sum w_k^2 (r_k - l_k)^2 + z^2 M), and
    high is S + sqrt(sum w_k^2 (u_k - r_k)^2 + z^2 M), with M the second sum of V, and l_k and u_k
    the Jeffreys limits of the class; a recall of 0 has l_k = 0, one of 1 has u_k = 1, exactly.
    z is the normal quantile of the level: 1.96 at 0.95.

    **Weights.** s_k is the sum of weights of a class, n_k its effective rows (Kish)
    s_k^2 / sum(weight^2), and r_k + (1 - 2 r_k) / (n_k + 2) the smoothed recall. The skew q_k is
    the share of hits among the squared weights less the recall, times 1 - 2 / (n_k + 2). With
    f_k = t w_k (r_k - S), the class adds to V the sum of w_k^2 (r_k (1 - r_k)
    + q_k (1 - 2 r_k)) / n_k, of 2 f_k w_k q_k o_k / n_k, and of f_k^2 / m_k: m_k are the effective
    rows on which its share was counted, and o_k is the part of their weight that is the group's.
    With own shares m_k = n_k and o_k = 1. Given shares leave the last two out. For other metrics
    squared weights take the place of p_kj / n in V, smoothed likewise. Where weights differ and the
    effective rows behind V (Satterthwaite's) are below 30, Student's quantile takes the place of z.

    Where a class is absent, S and V are those of the other classes, their weights made to add up
    to 1. The limits are then scaled by 1 less the weight of the absent classes, which is added to
    high.

    References
    ----------
    Those of the methods stand in `INTERVALS`. Korn and Graubard 1998, Confidence intervals for
    proportions with small expected number of positive counts estimated from survey data, Survey
    Methodology 24, 193-201, for the effective number of rows. Koopman 1984, doi:10.2307/2531405,
    for ratios; Zou and Donner 2008, doi:10.1002/sim.3095, for combined distances.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> tba.interval(counts, t=0)[["score", "low", "high", "n_eff"]].round(3)
       score    low  high   n_eff
    0   0.75  0.594  0.86  37.976
    """
    check_counts(counts)
    exponents, is_list = exponents_of(t)
    chosen = find_metrics("tba" if metrics is None else metrics)
    is_several = metrics is not None and not isinstance(metrics, (str, Metric))
    check_choice("method", method, (way.name for way in INTERVALS))
    way = next(way for way in INTERVALS if way.name == method)
    level = check_level(level)
    check_replicates(n_replicates)
    generator = generator_of(generator)
    _check_interval_metrics(counts, chosen, way)
    axes: list[Any] = []
    axes += [pd.Index([metric.name for metric in chosen], name="metric")] if is_several else []
    axes += [pd.Index(exponents, name="t", dtype=np.float64)] if is_list else []
    drawn = ["n_undefined"] if way.limits is None else []
    estimates = ["score", "low", "high", "se", "n_eff", *drawn, "reason"]
    check_names(counts, [*size_names(counts), *estimates, *(axis.name for axis in axes)])
    asked = Question(counts, exponents, prevalence, level, way, n_replicates, generator)
    _warn_of_shortfalls(asked, chosen)
    columns = _interval_columns(asked, chosen, estimates)
    table = pd.DataFrame(columns, index=with_axes(counts, axes))
    described(table, counts, t, prevalence).attrs["tba"] |= {"level": level, "method": method}
    return table


def _interval_columns(
    asked: Question, chosen: list[Metric], estimates: list[str]
) -> dict[str, Any]:
    """Columns of the table, each of all groups by metric by exponent."""
    counts, n_exponents = asked.counts, len(asked.exponents)
    start = sizes(counts, of_classes(counts, counts.support))
    columns = {name: np.repeat(column, len(chosen) * n_exponents) for name, column in start.items()}
    parts = [estimated(asked, metric) for metric in chosen]
    shape = (len(counts), n_exponents)
    for name in estimates:
        by_metric = [np.broadcast_to(part[name], shape) for part in parts]
        columns[name] = np.stack(by_metric, axis=1).reshape(-1)
    return columns | {"reason": pd.Series(columns["reason"], dtype="str").array}


def with_axes(counts: ConfusionCounts, axes: list[pd.Index]) -> pd.Index:
    """The groups with these axes as the last levels."""
    groups = counts.key_groups
    if not axes:
        return counts.groups
    if len(axes) == 1 and not groups.names:
        return axes[0]
    lengths = [len(groups), *(len(axis) for axis in axes)]
    group, *places = (grid.reshape(-1) for grid in np.indices(lengths))
    levels = [axis.unique() for axis in axes]
    inner = [
        level.get_indexer(axis)[place]
        for level, axis, place in zip(levels, axes, places, strict=True)
    ]
    return pd.MultiIndex(
        levels=list[Any]([*groups.levels, *levels]),
        codes=list[Any]([*groups.codes[group].T, *inner]),
        names=[*groups.names, *(axis.name for axis in axes)],
        verify_integrity=False,
    )


def _check_interval_metrics(
    counts: ConfusionCounts, chosen: list[Metric], way: IntervalMethod
) -> None:
    """Refuse metrics of a class where none is positive, and those that the method does not take."""
    check_positive(counts, chosen)
    if counts.is_weighted and not way.takes_weights:
        able = [method.name for method in INTERVALS if method.takes_weights]
        raise InputError(
            f"`method`={way.name!r} takes rows, and these counts are weighted. Choose {listed(able)}."
        )
    others = [metric for metric in chosen if not (is_mean(metric) or is_proportion(metric))]
    if way.limits is None or not others:
        return
    if way.of_share is None:
        unable, kind = others, "means of recall and single proportions"
    else:
        unable = [metric for metric in others if not has_finite_bounds(metric)]
        kind = "metrics between finite bounds"
    if unable and way.name != INTERVALS[0].name:
        raise InputError(
            f"`method`={way.name!r} takes {kind}, which {listed(metric.name for metric in unable)} "
            f"is not. Choose method='{INTERVALS[0].name}', which takes every metric."
        )


def _warn_of_shortfalls(asked: Question, chosen: list[Metric]) -> None:
    """Name the groups for which the method may not hold its level, and metrics with normal limits."""
    keys, way = asked.counts.key_groups, asked.way
    short = [(m, part) for m in chosen for part in shortfalls_of(asked, m) if part.short.any()]
    texts = []
    if short:
        groups = np.any([part.short.any(axis=1) for _, part in short], axis=0)
        named = listed(keys.values(group) for group in np.flatnonzero(groups).tolist())
        least = " or ".join(dict.fromkeys(part.least for _, part in short))
        is_taken = way.limits is None or all(has_finite_bounds(m) for m, _ in short)
        texts.append(
            f"The interval of {way.name!r} may hold the true value less often than its level says: a "
            f"class has fewer than {least}{f' in {named}' if keys.names else ''}."
        )
        texts += [way.instead] if is_taken else []
    normal = [m.name for m in chosen if way.limits is not None and has_normal_limits(m)]
    if normal:
        texts.append(
            f"Limits of {listed(normal)} are normal ones, since not both bounds are finite: they need "
            "many rows."
        )
    if texts:
        warn(" ".join(texts), InputWarning)


def posterior(
    counts: ConfusionCounts,
    *,
    t: Exponent = 0.0,
    prior: Prior = "uniform",
    level: float = 0.95,
    above: float | None = None,
    prevalence: Prevalence = "own",
) -> pd.DataFrame:
    """Exact Bayesian posterior of tempered balanced accuracy at fixed class weights.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    t : float, or list of float, default 0
        Exponent, as in `score`. A list adds the last level ``t`` to the index.
    prior : {"uniform", "jeffreys"} or (float, float), default "uniform"
        Beta distribution of each recall before any row: (1, 1), (0.5, 0.5), or its parameters.
    level : float, default 0.95
        Probability of the central interval.
    above : float, optional
        Threshold of p_above; 1/K by default, the score of a uniform guesser.
    prevalence : {"own", "pooled"}, mapping or Series, default "own"
        Whose class shares give the weights, as in `score`. They are taken as known.

    Returns
    -------
    DataFrame
        Columns n (rows), min_support (rows of the smallest class), n_absent (classes without
        rows), mean, median, low, high, and p_above: the probability that the true value is greater
        than the threshold. NaN without any class.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used, or the counts are weighted.

    Warns
    -----
    UndefinedWarning
        Once, naming groups and classes, where a class has no rows: its recall is the prior's.

    Notes
    -----
    Do not take p_above for a test of usefulness where a class has no hits: a classifier that never
    answers the rare one of two classes has a balanced accuracy of exactly 1/2, and still p_above
    0.958 (480 and 20 rows), since the prior alone puts the recall of 0 hits above 0. With many
    small classes their priors add up and pull the mean: beyond three classes these are no
    confidence intervals, see `interval`. Computed without sampling, to 1e-9 unless a parameter of
    the prior is near 0.

    References
    ----------
    Brodersen et al. 2010, The balanced accuracy and its posterior distribution,
    doi:10.1109/ICPR.2010.764, for t = 0 and two classes.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    >>> tba.posterior(counts)[["mean", "low", "high", "p_above"]].round(3)
        mean    low   high  p_above
    0  0.723  0.582  0.831    0.999
    """
    check_counts(counts)
    exponents, is_list = exponents_of(t)
    level = check_level(level)
    added = prior_rows(prior)
    above = check_above(above)
    if counts.is_weighted:
        raise InputError(
            "`counts` are weighted, and a posterior needs rows. Choose interval(), whose 'wilson' "
            "takes weights, or count without sample_weight."
        )
    check_names(counts, (*size_names(counts), *_SUMMARY, *["t"] * is_list))
    support = of_classes(counts, counts.support)
    hits = of_classes(counts, counts.hits)
    weights_of = class_prevalence(counts, prevalence, support)
    _warn_of_priors(counts, support)
    summaries = np.full((len(counts), len(exponents), len(_SUMMARY)), np.nan)
    n_classes = support.shape[1]
    for place, exponent in enumerate(exponents if n_classes else []):
        weights = np.broadcast_to(class_weights(weights_of, t=exponent), support.shape)
        for group in range(len(counts)):
            summaries[group, place] = weighted_beta(
                hits[group] + added[0],
                support[group] - hits[group] + added[1],
                weights[group],
                level=level,
                above=1.0 / n_classes if above is None else above,
            )
    columns = {
        name: over_t(column, len(exponents)) for name, column in sizes(counts, support).items()
    }
    columns |= {name: summaries[..., at].reshape(-1) for at, name in enumerate(_SUMMARY)}
    index = with_t(counts.groups, counts, exponents) if is_list else counts.groups
    table = described(pd.DataFrame(columns, index=index), counts, t, prevalence)
    table.attrs["tba"] |= {"level": level, "prior": list(added)}
    return table


def _warn_of_priors(counts: ConfusionCounts, support: FloatArray) -> None:
    """Name the groups in which the recall of a class is the prior's alone."""
    absent = np.flatnonzero((support == 0).any(axis=1)).tolist()
    if not absent:
        return
    keys = counts.key_groups
    where = "; ".join(
        f"Group {shown(keys.values(group))}: {absent_classes_of(counts, group)}"
        if keys.names
        else absent_classes_of(counts, group)
        for group in absent[:5]
    )
    more = "; and other groups" if len(absent) > 5 else ""
    warn(
        f"Undefined recall of classes without rows, for which the prior stands alone: {where}{more}.",
        UndefinedWarning,
    )
