"""Two models against each other on the same rows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.paired import PairedCounts
from pandas_tba.errors import InputError, KindError, check_choice, is_real, listed, shown
from pandas_tba.inference.intervals import check_level
from pandas_tba.inference.paired import (
    Difference,
    Outcomes,
    PairedCells,
    metric_difference,
    scaled,
    tempered_difference,
)
from pandas_tba.inference.pvalues import adjusted_one_by_one, paired_mid_p
from pandas_tba.questions.estimates import stack_columns
from pandas_tba.questions.intervals import with_axes
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.metrics import evaluate, find_metrics
from pandas_tba.scoring.results import (
    Exponent,
    Prevalence,
    check_names,
    check_positive,
    class_prevalence,
    described,
    exponents_of,
    size_names,
    sizes,
)
from pandas_tba.scoring.tempering import ratio
from pandas_tba.scoring.undefined import causes

FloatArray = npt.NDArray[np.float64]

_EXTREMES = {
    "min_recall": "is the least of several recalls",
    "majority": "is the same for all models of the same rows",
}
_MOST_CELLS = 1 << 24  # of the confusion matrix of one group: 128 MB
_AT_MARGIN = ("p_noninferior", "p_equivalent", "verdict")


def compare(
    pairs: PairedCounts,
    *,
    t: Exponent = 0.5,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    level: float = 0.95,
    prevalence: Prevalence = "own",
    margin: float | None = None,
    adjust: Literal["holm", "fdr_bh"] | None = "holm",
) -> pd.DataFrame:
    """Differences between two models on the same rows, in any metric.

    Parameters
    ----------
    pairs : PairedCounts
        As `count_pairs` gives them.
    t : float, or list of float, default 0.5
        Exponent, as in `score`. A list adds the last level ``t`` to the index.
    metrics : name, Metric, or list of these, optional
        tba by default. A list adds the level ``metric`` before ``t``. Metrics of one class need a
        `pos_label`.
    level : float, default 0.95
        Confidence level of low and high.
    prevalence : {"own", "pooled"}, mapping or Series, default "own"
        Whose class shares give the weights of tba, as in `score`; pooled are all groups of the pair.
    margin : float, optional
        The largest difference that does not matter, at least 0. Adds p_noninferior, p_equivalent
        and verdict.
    adjust : {"holm", "fdr_bh"} or None, default "holm"
        How p_adjusted allows for the number of tests in the table: Holm bounds the
        probability of any false positive, Benjamini and Hochberg (fdr_bh) the share of false ones
        among those called. None leaves the column out.

    Returns
    -------
    DataFrame
        The index is model_a, model_b and the keys. Columns n (rows that both have scored; weighted
        counts also have weight), min_support, n_absent; difference (the value of a less that of b),
        its limits low and high, its standard error se; p_difference of "the difference is 0";
        p_value of "equal recall in every class", NaN for metrics that are no means of recall, and
        with weights; p_adjusted, of p_value where there is one, else of p_difference; discordant
        (rows that only one of the two gets right), n_unpaired (rows left out since only one has
        scored them), reason (why something is NaN, else empty).

        With a margin also p_noninferior, of "a is worse than b by the margin or more"; p_equivalent,
        of "they differ by the margin or more"; and verdict, what low and high say of that:
        "equivalent", "noninferior", "inferior" or "undetermined". Where neither direction of a
        metric is better, p_noninferior is NaN, and the verdict may be "different".

    Raises
    ------
    InputError
        If an argument has a value that cannot be used, or a metric has no standard error.
    KindError
        If these are no paired counts.

    Notes
    -----
    p_value tests whether the two models have equal recall *in every class*: then every discordant
    row is a fair coin, and the two-sided mid-p is computed from that; at t = 1 with own weights, and
    for accuracy, it is McNemar's mid-p test. It does not test whether the difference is 0: two
    models may differ in each class and yet have equal scores, as at a crossing. p_difference does,
    and is below 1 - level just where 0 lies outside low and high. The exact p-value has a relative
    error below 1e-3 down to p = 1e-4 where there are very many discordant rows in three or more
    classes. Rows count as independent.

    low and high are z standard errors from the difference, z = 1.96 at level 0.95, cut at the
    largest difference that the metric can have. A row of class k that a takes for i and b for j adds
    g_ki(a) - g_kj(b) to the difference, g the gradient of the metric at the cells of either model;
    se^2 is the variance of that over the rows, divided by their number. For it, and not for the
    difference, each class has 1/K rows more of each outcome: both right, only a, only b, both wrong,
    spread over the labels that these leave open. K are the classes with rows, at least 2.

    Means of recall by class weights, as tba is, take a closed form, in which only the discordant
    counts have rows added: c = 1/K to either, d_k = (a_k - b_k) / (n_k + 2c), where a_k rows are
    right by a alone and b_k by b alone, D = sum w_k d_k, and
    se^2 = sum w_k^2 ((a_k + b_k + 2c) / (n_k + 2c) - d_k^2) / (n_k + 2c)
    + (t^2 / N) sum w_k^2 / p_k (d_k - D)^2. The class weights w_k and shares p_k stay as they are.
    N are the rows on which p_k was counted; given shares leave the second sum out, and so does an
    infinite t. accuracy takes the general form, so that its se differs a little from that of tba at
    t = 1.

    With weights, n_k are effective rows (Kish), (sum of weights)^2 / sum of squared weights, and
    variances come from squared weights. Below 30 effective rows z is Student's quantile.

    The one-sided tests of a margin are at (1 - level) / 2 where the verdict is at the level. Both of
    two tests must reject for equivalence; p_equivalent is the larger p-value.

    References
    ----------
    Fagerland, Lydersen and Laake 2013, doi:10.1186/1471-2288-13-91 (mid-p). Agresti and Min 2005,
    doi:10.1002/sim.1781 (rows added to pairs). Benjamini and Hochberg 1995,
    doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> pairs = tba.count_pairs(tba.load_income(), y_pred=["logit", "forest"])
    >>> tba.compare(pairs, t=0).round(3)[["difference", "low", "high", "discordant"]]
                     difference    low   high  discordant
    model_a model_b
    logit   forest        0.015  0.004  0.026         237
    >>> table = tba.compare(pairs, metrics=["f1_macro", "mcc"])
    >>> table.round(3)[["difference", "low", "high", "p_difference"]]
                             difference    low   high  p_difference
    model_a model_b metric
    logit   forest  f1_macro      0.002 -0.009  0.013         0.762
                    mcc          -0.009 -0.031  0.012         0.390
    """
    if not isinstance(pairs, PairedCounts):
        raise KindError(
            f"`pairs` must be PairedCounts; got {type(pairs).__name__}. Count pairs first: "
            "tba.count_pairs(df, y_true='y', y_pred=['a', 'b']), or ask the frame: "
            "df.tba(y_true='y', y_pred=['a', 'b']).compare()."
        )
    exponents, is_list = exponents_of(t)
    chosen = find_metrics("tba" if metrics is None else metrics)
    is_several = metrics is not None and not isinstance(metrics, (str, Metric))
    level = check_level(level)
    margin = _check_margin(margin)
    if adjust is not None:
        check_choice("adjust", adjust, ("holm", "fdr_bh"))
    counts: Any = pairs  # has the parts of ConfusionCounts that tables ask for
    _check_paired_metrics(counts, chosen)
    axes: list[Any] = []
    axes += [pd.Index([metric.name for metric in chosen], name="metric")] if is_several else []
    axes += [pd.Index(exponents, name="t", dtype=np.float64)] if is_list else []
    names = _column_names(adjust, margin)
    check_names(counts, [*size_names(counts), *names, *(axis.name for axis in axes)])
    asked = _Question(pairs, exponents, prevalence, level, margin)
    parts = [_compare_metric(asked, metric) for metric in chosen]
    if adjust is not None:
        _adjust(parts, adjust)
    columns = _difference_columns(asked, parts, names)
    table = described(pd.DataFrame(columns, index=with_axes(counts, axes)), counts, t, prevalence)
    if margin is not None:
        table.attrs["tba"]["margin"] = margin
    return table


def _check_margin(margin: object) -> float | None:
    """The margin as a float, or None; InputError unless it is a difference."""
    if margin is None:
        return None
    if not (is_real(margin) and 0 <= float(margin) < math.inf):  # type: ignore[arg-type]
        raise InputError(
            "`margin` must be a finite number of at least 0, the largest difference that does not "
            f"matter, such as 0.02; got {shown(margin)}."
        )
    return float(margin)  # type: ignore[arg-type]


def _check_paired_metrics(counts: Any, chosen: list[Metric]) -> None:
    """Refuse metrics of a class where none is positive, and those that are an extreme of classes."""
    check_positive(counts, chosen)
    n_labels = len(counts.label_set.values)
    for metric in chosen:
        if n_labels**2 > _MOST_CELLS and metric.kind == "overall" and not _is_tempered(metric):
            raise InputError(
                f"`metrics`: {shown(metric.name)} of {n_labels:,} labels takes confusion matrices that "
                "are too large. Compare means of recall, such as 'tba', or make one label of rare ones."
            )
        if metric.limits in _EXTREMES:
            raise InputError(
                f"`metrics`: {shown(metric.name)} {_EXTREMES[metric.limits]}, so its difference has no "
                f"standard error. Ask interval(metrics={shown(metric.name)}) for the limits of either "
                "model, or compare another metric, such as recall of one class against the rest."
            )


def _column_names(adjust: str | None, margin: float | None) -> list[str]:
    """Names of the columns that come after the sizes."""
    return [
        *("difference", "low", "high", "se", "p_difference", "p_value"),
        *["p_adjusted"] * (adjust is not None),
        *(_AT_MARGIN if margin is not None else ()),
        *("discordant", "n_unpaired", "reason"),
    ]


@dataclass(frozen=True)
class _Question:
    """What is asked of the pairs, the same for every metric."""

    pairs: PairedCounts
    exponents: list[float]
    prevalence: Prevalence
    level: float
    margin: float | None

    @cached_property
    def outcomes(self) -> Outcomes:
        """Which of the two is right, with the class shares that are asked for."""
        return _outcomes(self.pairs, self.prevalence)

    @cached_property
    def cells(self) -> PairedCells:
        """What both predicted."""
        return PairedCells.of(self.pairs.joint, len(self.pairs), self.pairs.is_class)


def _outcomes(pairs: PairedCounts, prevalence: Prevalence) -> Outcomes:
    """Outcomes of either model, and the rows from which the class shares were counted."""
    counts: Any = pairs
    cells, squares = pairs.cells.astype(np.float64), pairs.squares
    if squares is not None:
        cells, squares = scaled(cells, squares)
    totals = [cells.sum(axis=(2, 3))]
    totals.append(totals[0] if squares is None else squares.sum(axis=(2, 3)))
    if isinstance(prevalence, str) and prevalence == "pooled":
        by_pair, place = pairs.key_groups.keep([0, 1]).in_order()
        for at, total in enumerate(totals):
            pooled = np.zeros((len(by_pair), total.shape[1]))
            np.add.at(pooled, place, total)
            totals[at] = pooled[place]
        shares = totals[0]
    else:
        shares = class_prevalence(counts, prevalence, totals[0])
    reference = (totals[0], totals[1]) if isinstance(prevalence, str) else None
    rows = pairs.class_rows[:, pairs.is_class] if pairs.is_weighted else None
    return Outcomes(cells, shares, reference, squares, rows)


def _compare_metric(asked: _Question, metric: Metric) -> dict[str, npt.NDArray[Any]]:
    """Columns of one metric, of shape (G, T), or (G, 1) where it does not depend on t."""
    found = _differences_at(asked, metric)
    limits = [part.limits(asked.level) for part in found]
    span = metric.bounds[1] - metric.bounds[0]
    columns = {
        "difference": stack_columns(part.value for part in found),
        "low": stack_columns(np.maximum(low, -span) for low, _ in limits),
        "high": stack_columns(np.minimum(high, span) for _, high in limits),
        "se": stack_columns(np.sqrt(part.variance) for part in found),
        "p_difference": stack_columns(part.p_zero() for part in found),
    }
    columns["p_value"] = _p_values(asked, metric, columns["difference"])
    if asked.margin is not None:
        columns |= _at_margin(found, limits, metric, asked.margin)
    return columns | {"reason": _reasons_of_pairs(asked, metric, columns)}


def _differences_at(asked: _Question, metric: Metric) -> list[Difference]:
    """The difference at each exponent; one alone where there is none, or the metric has its own."""
    if _is_tempered(metric):
        return [tempered_difference(asked.outcomes, t) for t in _exponents(asked, metric)]
    label = None if metric.kind == "overall" else asked.pairs.label_set.positive
    exponents = asked.exponents if metric.takes_t else [None]
    found = [metric_difference(metric, asked.cells, t=t, label=label) for t in exponents]
    if _is_ratio(metric):  # far from normal: 95 % limits would hold the truth in 79 to 98 %
        found = [part._replace(variance=np.full_like(part.variance, np.nan)) for part in found]
    return found


def _is_ratio(metric: Metric) -> bool:
    """Whether the metric goes from 0 to infinity."""
    return metric.bounds == (0.0, math.inf)


def _is_tempered(metric: Metric) -> bool:
    """Whether this is a mean of recalls by class weights; accuracy is one by rows."""
    return metric.exponent is not None and not metric.is_known_as("accuracy")


def _exponents(asked: _Question, metric: Metric) -> list[float]:
    """Exponents at which a metric is asked for."""
    return [metric.exponent] if isinstance(metric.exponent, float) else asked.exponents


def _p_values(asked: _Question, metric: Metric, difference: FloatArray) -> FloatArray:
    """Exact p-values of equal recall in every class; NaN for what is no mean of recalls."""
    found = np.full_like(difference, np.nan)
    if metric.exponent is None or asked.pairs.is_weighted:
        return found
    outcomes = asked.outcomes if _is_tempered(metric) else _outcomes(asked.pairs, "own")
    only_a, only_b = outcomes.only_one
    for place, t in enumerate(_exponents(asked, metric)):
        steps = ratio(outcomes.weights(t), outcomes.support)
        for at in np.flatnonzero(~np.isnan(difference[:, place])):
            found[at, place] = paired_mid_p(steps[at], only_a[at], only_b[at])
    return found


def _at_margin(
    found: list[Difference],
    limits: list[tuple[FloatArray, FloatArray]],
    metric: Metric,
    margin: float,
) -> dict[str, npt.NDArray[Any]]:
    """One-sided tests at the margin, and what the limits say of it."""
    above = stack_columns(part.p_above(-margin) for part in found)
    below = stack_columns(part.p_below(margin) for part in found)
    low, high = (stack_columns(ends) for ends in zip(*limits, strict=True))
    if metric.greater_is_better is False:
        noninferior, worst, best = below, -high, -low
    else:
        noninferior, worst, best = above, low, high
    is_equivalent = (low > -margin) & (high < margin)
    if metric.greater_is_better is None:
        noninferior = np.full(above.shape, np.nan)
        kinds = {"equivalent": is_equivalent, "different": (low > margin) | (high < -margin)}
    else:
        kinds = {
            "equivalent": is_equivalent,
            "noninferior": worst > -margin,
            "inferior": best < -margin,
        }
    unknown = np.where(np.isnan(low), "", "undetermined")
    verdict = np.select([*kinds.values()], [*kinds], unknown).astype(object)
    return {
        "p_noninferior": noninferior,
        "p_equivalent": np.maximum(above, below),
        "verdict": verdict,
    }


def _reasons_of_pairs(
    asked: _Question, metric: Metric, columns: dict[str, npt.NDArray[Any]]
) -> npt.NDArray[np.object_]:
    """Why the difference is NaN, or what is made of it, (G, T); empty where nothing is."""
    difference = columns["difference"]
    unknown, lacks_se = np.isnan(difference), np.isnan(columns["se"])
    texts = np.full(difference.shape, "", dtype=object)
    if metric.exponent is None:
        texts[:] = f"p_value is for means of recall, not for {metric.name}"
    elif asked.pairs.is_weighted:
        texts[:] = "p_value needs rows without weights"
    texts[lacks_se] = "no standard error"
    texts[lacks_se & (difference == 0)] = "the same for both models, whatever they predict"
    if _is_ratio(metric):
        texts[:] = f"no limits: {metric.name} has no upper bound"
    for at in np.flatnonzero(unknown.any(axis=1)).tolist():
        texts[at, unknown[at]] = "" if metric.exponent is None else _absent(asked.pairs, at)
    if metric.exponent is None:
        for place in np.flatnonzero(unknown.any(axis=0)).tolist():
            t = asked.exponents[place] if metric.takes_t else None
            for at, text in _undefined(asked.pairs, metric, unknown[:, place], t).items():
                texts[at, place] = text
    return texts


def _absent(pairs: PairedCounts, group: int) -> str:
    """The classes of which a group has no rows."""
    support = pairs.support[group]
    classes = [pairs.label_set.classes[k] for k in np.flatnonzero(support == 0)]
    return f"no rows of {listed(classes)}" if support.any() else "no rows"


def _undefined(
    pairs: PairedCounts, metric: Metric, unknown: npt.NDArray[np.bool_], t: float | None
) -> dict[int, str]:
    """What makes the metric of either model undefined, by group; which model, if it is one."""
    sides = [pairs.of_model(side) for side in (0, 1)]
    of_sides = [_named_causes(counts, metric, unknown, t) for counts in sides]
    found = {}
    for at in np.flatnonzero(unknown).tolist():
        names = map(shown, pairs.key_groups.values(at)[:2])  # type: ignore[index]
        texts = {name: part[at] for name, part in zip(names, of_sides, strict=True) if at in part}
        is_one = len(set(texts.values())) == 1 and len(texts) == 2
        found[at] = "; ".join(
            [*texts.values()][:1] if is_one else (f"{name}: {text}" for name, text in texts.items())
        )
    return {at: text or "both are infinite" for at, text in found.items()}


def _named_causes(
    counts: ConfusionCounts, metric: Metric, among: npt.NDArray[np.bool_], t: float | None
) -> dict[int, str]:
    """Why the metric is undefined, by group, for those groups in which it is."""
    arrays = [part.astype(np.float64) for part in (counts.hits, counts.support, counts.predicted)]
    total = arrays[1].sum(axis=1, keepdims=True)
    values = evaluate(metric, (arrays[0], arrays[1], arrays[2], total), counts.is_class, t)
    if metric.kind == "class":
        is_positive = np.arange(len(counts.label_set.values)) == counts.label_set.positive
        is_nan = np.isnan(values) & is_positive & among[:, None]
    else:
        is_nan = np.isnan(values) & among
    groups, _, reasons = causes(counts, metric, is_nan)
    found: dict[int, dict[str, None]] = {}
    for at, reason in zip(groups.tolist(), reasons.tolist(), strict=True):
        found.setdefault(at, {})[reason] = None
    return {at: ", ".join(texts) for at, texts in found.items()}


def _adjust(parts: list[dict[str, npt.NDArray[Any]]], adjust: str) -> None:
    """Add p_adjusted: each test counts once, however many rows of the table show it."""
    tests = [
        np.where(np.isnan(part["p_value"]), part["p_difference"], part["p_value"]) for part in parts
    ]
    adjusted = adjusted_one_by_one(np.concatenate([test.reshape(-1) for test in tests]), adjust)
    ends = np.cumsum([test.size for test in tests])[:-1]
    for part, test, found in zip(parts, tests, np.split(adjusted, ends), strict=True):
        part["p_adjusted"] = found.reshape(test.shape)


def _difference_columns(
    asked: _Question, parts: list[dict[str, npt.NDArray[Any]]], names: list[str]
) -> dict[str, Any]:
    """Columns of the table, each of all groups by metric by exponent."""
    pairs, n_exponents = asked.pairs, len(asked.exponents)
    counts: Any = pairs
    of_group = sizes(counts, asked.outcomes.support)
    columns = {name: np.repeat(held, len(parts) * n_exponents) for name, held in of_group.items()}
    shared = {"discordant": pairs.discordant, "n_unpaired": pairs.unpaired}
    for name in names:
        if name in shared:
            columns[name] = np.repeat(shared[name], len(parts) * n_exponents)
            continue
        by_metric = [np.broadcast_to(part[name], (len(pairs), n_exponents)) for part in parts]
        columns[name] = np.stack(by_metric, axis=1).reshape(-1)
    for name in ("verdict", "reason"):
        if name in columns:
            columns[name] = pd.Series(columns[name], dtype="str").array
    return columns
