"""Which t to use, and where the choice swaps two models or groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.groups import Groups
from pandas_tba.errors import InputError, check_choice, counted, listed, shown
from pandas_tba.frames.values import plain_index
from pandas_tba.questions.roots import RootsOfEach, roots_of_each
from pandas_tba.scoring.results import (
    Prevalence,
    absent_classes,
    check_counts,
    check_names,
    class_prevalence,
    described,
    hits_and_support,
    of_classes,
    texts,
)
from pandas_tba.scoring.tempering import check_t, ratio, relative_entropy, weights_at_each

FloatArray = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


def choose_t(
    counts: ConfusionCounts,
    *,
    cost: Mapping[Any, float] | pd.Series | None = None,
    per: Literal["class", "error"] = "class",
) -> pd.DataFrame:
    """Table of the rules for choosing t, and what each of them means.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them. Choose t once, from those of the whole population:
        scores at a t of its own for each group cannot be compared.
    cost : mapping or Series, optional
        Label to cost, every class named, greater than 0; only their ratios matter.
    per : {"class", "error"}, default "class"
        What the costs count: the recall of a whole class, or one error on a row of it.

    Returns
    -------
    DataFrame
        The last level of the index is ``rule``: safe (0, no class can be given up), compromise
        (0.5), entropy (`t_from_entropy`), and cost where it is given. Columns t; a
        ``weight_<label>`` for each class, so that one row holds all of a rule and the names meet
        no other column; majority, the score of always answering the largest class; residual, the
        root mean square by which ln(cost) misses the line through ln(prevalence), 0 where some t
        expresses the costs exactly, NaN for every rule but cost, where there is nothing to miss
        (no reason is given for it); meaning, what one error on the rarest class counts against
        one on the largest; and reason, why t or majority is NaN, else empty.

    Raises
    ------
    InputError
        If there are fewer than two classes, a cost is missing or not positive, or no t can
        express the costs since all classes are equally large.

    Notes
    -----
    Class k has the weight prevalence_k**t, so ln(cost) is a line through ln(prevalence) whose
    slope is t, or t - 1 with ``per="error"``. Two classes always lie on one; through more of them
    it is fitted by least squares. A large residual means that no single t expresses the costs.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.ConfusionCounts.from_matrix([[88, 2], [6, 4]])
    >>> tba.choose_t(counts, cost={0: 1, 1: 3})["meaning"].iloc[-1]
    'one missed 1 counts as 27 missed 0; the whole class as 3 of the other'
    """
    check_counts(counts)
    check_choice("per", per, ("class", "error"))
    classes = counts.label_set.classes
    if len(classes) == 1:
        raise InputError(
            f"To choose t needs two classes or more; got {listed(classes)}. Declare them "
            "with labels=."
        )
    support = of_classes(counts, counts.support)
    rules = {
        "safe": np.zeros(len(counts)),
        "compromise": np.full(len(counts), 0.5),
        "entropy": relative_entropy(support),
    }
    left = np.full(len(counts), np.nan)
    residuals = [left, left, left]
    if cost is not None:
        rules["cost"], left = _fitted(support, _log_costs(classes, cost), per)
        residuals.append(left)
    t, residual = (np.stack(list(part), axis=1) for part in (rules.values(), residuals))
    columns = _rule_columns(classes, support, t, residual)
    check_names(counts, [*columns, "rule"])
    index = _rule_index(counts, list(rules))
    table = pd.DataFrame(dict(enumerate(columns.values()))).set_axis(index)
    return described(table.set_axis(plain_index([*columns]), axis=1), counts, None, "own")


def _log_costs(classes: list[Hashable], cost: Mapping[Any, float] | pd.Series) -> FloatArray:
    """Logarithms of the costs, in the order of the classes; InputError for what is no cost."""
    given = dict(cost.items()) if isinstance(cost, (Mapping, pd.Series)) else {}
    without = [label for label in classes if label not in given]
    foreign = [label for label in given if label not in classes]
    if without or foreign or len(given) != len(cost):
        raise InputError(
            f"`cost` must map each class to its cost, once; it leaves out {listed(without) or 'none'} and "
            f"names {listed(foreign) or 'nothing'} beyond them. Classes: {listed(classes)}."
        )
    try:
        values = np.array([float(given[label]) for label in classes])
    except (TypeError, ValueError):
        values = np.full(len(classes), np.nan)
    if not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"`cost` must be finite and greater than 0 for every class; got {shown(given)}."
        )
    return np.log(values)


def _fitted(support: FloatArray, log_cost: FloatArray, per: str) -> tuple[FloatArray, FloatArray]:
    """Slope of ln(cost) over ln(prevalence) in each group, and the root mean square left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.where((support == 0).any(axis=1, keepdims=True), np.nan, np.log(support))
        x = x - x.mean(axis=1, keepdims=True)
    y = log_cost - log_cost.mean()
    is_equal = (support == support[:, :1]).all(axis=1) & (support > 0).all(axis=1)
    if len(is_equal) and is_equal.all():
        raise InputError(
            "`cost`: all classes are equally large, so they have equal weight at every t, and no t "
            "expresses costs. Leave it out, or report the recall of each class."
        )
    slope = ratio((x * y).sum(axis=1), np.where(is_equal, np.nan, (x * x).sum(axis=1)))
    left = np.sqrt(((y - slope[:, None] * x) ** 2).mean(axis=1))
    return slope + (per == "error"), left


def _rule_columns(
    classes: list[Hashable], support: FloatArray, t: FloatArray, residual: FloatArray
) -> dict[str, Any]:
    """Columns of `choose_t`, over groups and rules flattened; t and residual are (G, rules)."""
    weights = weights_at_each(support[:, None], t)
    majority = _score_largest(support, weights, t)
    without = _describe_absent(classes, support)
    without[without == ""] = "all classes are equally large"
    reason = np.where(np.isnan(t) | np.isnan(majority), without[:, None], "")
    return {
        "t": t.reshape(-1),
        **{f"weight_{label}": weights[:, :, k].reshape(-1) for k, label in enumerate(classes)},
        "majority": majority.reshape(-1),
        "residual": residual.reshape(-1),
        "meaning": texts(_describe_meaning(classes, support, t)),
        "reason": texts(reason.reshape(-1)),
    }


def _score_largest(support: FloatArray, weights: FloatArray, t: FloatArray) -> FloatArray:
    """Score of always answering the largest class; NaN where an absent class has weight."""
    absent = support == 0
    is_largest = support == support.max(axis=1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):  # without classes
        largest = is_largest / is_largest.sum(axis=1, keepdims=True)
    score = (weights * largest[:, None]).sum(axis=2)
    has_weight = absent.any(axis=1)[:, None] & (t <= 0) | absent.all(axis=1)[:, None]
    return np.where(has_weight, np.nan, score)


def _describe_absent(classes: list[Hashable], support: FloatArray) -> npt.NDArray[Any]:
    """The classes without rows in each group, in words, made once for each set of them."""
    words = np.full(len(support), "", dtype=object)
    without = np.flatnonzero((support == 0).any(axis=1) | (support.shape[1] == 0))
    sets, kind = np.unique(support[without] > 0, axis=0, return_inverse=True)
    texts_of = np.array([absent_classes(classes, rows) for rows in sets], dtype=object)
    words[without] = texts_of[kind.reshape(-1)]
    return words


def _describe_meaning(classes: list[Hashable], support: FloatArray, t: FloatArray) -> list[str]:
    """What the rarest class counts against the largest: as a class, and one error on it."""
    if len(classes) < 2:
        return [""] * t.size
    names = [shown(label) for label in classes]
    rarest = np.where(support > 0, support, np.inf).argmin(axis=1)
    largest = len(classes) - 1 - support[:, ::-1].argmax(axis=1)
    every = np.arange(len(support))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # beyond 1e308 infinite is the answer, not worth a warning
        log_share = np.log(support[every, rarest] / support[every, largest])[:, None]
        of_row, of_class = np.exp((t - 1) * log_share), np.exp(t * log_share)
    is_known = ((support > 0).sum(axis=1) > 1)[:, None] & ~np.isnan(t)
    pairs = [(names[rare], names[large]) for rare, large in zip(rarest, largest, strict=True)]
    cells = zip(is_known.tolist(), of_row.tolist(), of_class.tolist(), pairs, strict=True)
    return [
        f"one missed {rare} counts as {row:.3g} missed {large}; the whole class as {whole:.3g} of "
        "the other"
        if known
        else ""
        for known_, rows, wholes, (rare, large) in cells
        for known, row, whole in zip(known_, rows, wholes, strict=True)
    ]


def _rule_index(counts: ConfusionCounts, rules: list[str]) -> pd.Index:
    """The groups with each rule as the last level."""
    axis = pd.Index(rules, name="rule")
    groups = counts.key_groups
    if not groups.names:
        return axis
    codes = [
        *np.repeat(groups.codes, len(rules), axis=0).T,
        np.tile(range(len(rules)), len(groups)),
    ]
    return _multi_index([*groups.names, "rule"], [*groups.levels, axis], codes)


def _multi_index(
    names: Sequence[Hashable], levels: Sequence[pd.Index], codes: Sequence[Any]
) -> pd.MultiIndex:
    """An index of levels and codes that are known to fit."""
    return pd.MultiIndex(
        levels=list[Any](levels),
        codes=list[Any](codes),
        names=list[Any](names),
        verify_integrity=False,
    )


class _Sides(NamedTuple):
    """The models or groups that are compared, within each of some outer groups.

    ``rows`` (outer, inner) is the row of the counts of each, -1 where it has none.
    """

    outer: Groups
    inner: Groups
    rows: Places


class _Pairs(NamedTuple):
    """P comparisons: the outer group (P), the two sides (2, P), and their rows of the counts (2, P)."""

    outer: Places
    sides: Places
    rows: Places

    def at(self, place: Places) -> _Pairs:
        """Some of them, in any order."""
        return _Pairs(self.outer[place], self.sides[:, place], self.rows[:, place])


# columns of `crossings`
_CROSSING = (
    "t_star", "kind", "better_below", "better_above", "cost_ratio", "dominates", "reason",
)  # fmt: skip


def crossings(
    counts: ConfusionCounts,
    *,
    t_min: float = -math.inf,
    t_max: float = math.inf,
    between: Literal["models", "groups"] = "models",
    prevalence: Prevalence | None = None,
) -> pd.DataFrame:
    """Every t at which two models, or two groups, have the same score.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows of several models, or groups.
    t_min, t_max : float
        Range of t to report; without bounds by default.
    between : {"models", "groups"}, default "models"
        What is compared: models within each group, or groups (within each model).
    prevalence : {"own", "pooled"}, mapping or Series, optional
        Class shares that weigh both sides. ``own``, for models alone and their default: those of
        the group that they are compared in, both models together (rows of long data need not
        agree). ``pooled``, the default between groups: those of all groups together.

    Returns
    -------
    DataFrame
        A row for each root, or one for a pair without. Levels model_a, model_b, the groups and
        root, counted from 0; between groups (model), group_a, group_b, root. Columns t_star; kind:
        ``cross``, or ``touch`` where the better one stays better; better_below and better_above:
        the better one next to the root, or None; cost_ratio: how many times the second largest
        class counts as the largest one at t_star, as in `t_from_cost_ratio`; dominates: the one
        that is better all over the range (at touches as good), None where there is none; reason,
        empty unless undefined. Two that are the same at every t have neither root nor dominates.

    Raises
    ------
    InputError
        If there are no two models or groups, or t_min is not below t_max.

    Notes
    -----
    The difference of two scores has the roots of sum_k d_k p_k**t, d the differences of recall:
    at most as many as d, in the order of p, changes its sign. All of them are found, since
    intervals are left out only where convexity proves that they hold none. Where a class has no
    rows on one side its recall is undefined, and so is the crossing.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> cells = [[[88, 2], [6, 4]], [[80, 10], [1, 9]]]
    >>> counts = tba.ConfusionCounts.from_matrix(cells, groups=["A", "B"], model=0)
    >>> tba.crossings(counts)["t_star"].round(3).tolist()
    [0.786]
    """
    check_counts(counts)
    check_choice("between", between, ("models", "groups"))
    low, high = _check_range(t_min, t_max)
    sides = _compared_sides(counts, between)
    prevalence = _shared_prevalence(between, prevalence)
    if between == "models":
        check_names(counts, ["model_a", "model_b", "root", *_CROSSING])
    hits, support = hits_and_support(counts)
    weights_of = np.broadcast_to(class_prevalence(counts, prevalence, support), support.shape)
    pairs = _all_pairs(sides, between)
    reasons = _why_undefined(counts.label_set.classes, sides, pairs, support)
    is_defined = (reasons == "")[:, None]
    shares = np.where(is_defined, weights_of[pairs.rows].sum(axis=0), 1.0)
    differences = _recall_differences(hits[pairs.rows], support[pairs.rows])
    roots = roots_of_each(np.where(is_defined, differences, 0.0), shares)
    place, columns = _root_rows(roots, shares, reasons, low, high)
    table = _crossing_table(sides, between, pairs.at(place), columns)
    return described(table, counts, None, prevalence)


def _check_range(t_min: float, t_max: float) -> tuple[float, float]:
    """The range of t as floats; InputError where it is empty."""
    limits = []
    for name, value in (("t_min", t_min), ("t_max", t_max)):
        try:
            limits.append(check_t(value))
        except InputError:
            raise InputError(f"`{name}` must be a number; got {shown(value)}.") from None
    if not limits[0] < limits[1]:
        raise InputError(f"`t_min` must be below `t_max`; got {shown(t_min)} and {shown(t_max)}.")
    return limits[0], limits[1]


def _shared_prevalence(between: str, prevalence: Prevalence | None) -> Prevalence:
    """The class shares of both sides; own ones differ between groups."""
    if prevalence is None:
        return "own" if between == "models" else "pooled"
    if between == "groups" and isinstance(prevalence, str) and prevalence == "own":
        raise InputError(
            "`prevalence` must be one for both groups, else no t is common to them; got 'own'. Pass "
            "'pooled', or a mapping of labels to shares."
        )
    return prevalence


def _compared_sides(counts: ConfusionCounts, between: str) -> _Sides:
    """The models or groups to compare; InputError for fewer than two."""
    groups = counts.key_groups
    models = [0] if groups.has_model else []
    others = list(range(len(models), len(groups.names)))
    outer, outer_place = _distinct_groups(groups, others if between == "models" else models)
    inner, inner_place = _distinct_groups(groups, models if between == "models" else others)
    if len(inner) < 2:
        raise InputError(_too_few(between, len(inner) if inner.names else 0))
    rows = np.full((len(outer), len(inner)), -1, dtype=np.intp)
    rows[outer_place, inner_place] = np.arange(len(groups))
    return _Sides(outer, inner, rows)


def _distinct_groups(groups: Groups, keys: list[int]) -> tuple[Groups, npt.NDArray[np.intp]]:
    """The different values of some keys, and the place of each group among them."""
    if not keys:
        return Groups(), np.zeros(len(groups), dtype=np.intp)
    return groups.keep(keys).in_order()


def _too_few(between: str, number: int) -> str:
    """Text of the error for fewer than two sides."""
    if between == "models":
        return (
            f"Crossings need two models or more; got {counted(number, 'named model')}. Count "
            "several at once: df.tba(y_pred=['logit', 'forest']).crossings(). To compare groups, "
            "pass between='groups'."
        )
    return (
        f"Crossings need two groups or more; got {counted(number, 'group')}. Count by a key: "
        "df.tba.crossings(by='segment', between='groups')."
    )


def _all_pairs(sides: _Sides, between: str) -> _Pairs:
    """Every pair in every outer group, in the order of the index."""
    inner, outer = np.array(np.triu_indices(len(sides.inner), 1)), np.arange(len(sides.outer))
    if between == "groups":
        inner, outer = np.tile(inner, len(outer)), np.repeat(outer, inner.shape[1])
    else:
        inner, outer = np.repeat(inner, len(outer), axis=1), np.tile(outer, inner.shape[1])
    return _Pairs(outer, inner, sides.rows[outer, inner])


def _why_undefined(
    classes: list[Hashable], sides: _Sides, pairs: _Pairs, support: FloatArray
) -> npt.NDArray[Any]:
    """Why a pair cannot be compared; nothing where every class has rows on both sides."""
    has_rows = np.append(support.any(axis=1), False)[pairs.rows]  # at -1 there are none
    reasons = np.full(len(pairs.outer), "", dtype=object)
    both = np.flatnonzero(has_rows.all(axis=0))
    reasons[both] = _describe_absent(classes, support[pairs.rows[:, both]].min(axis=0))
    for pair in np.flatnonzero(~has_rows.all(axis=0)).tolist():
        without = pairs.sides[~has_rows[:, pair], pair]
        reasons[pair] = f"no rows of {listed(sides.inner.values(side) for side in without)}"
    return reasons


def _recall_differences(hits: FloatArray, support: FloatArray) -> FloatArray:
    """Recall of the first sides less that of the second; equal recalls cancel to exactly zero."""
    recall = ratio(hits, support)
    # over one support the difference of whole numbers has no rounding to magnify
    of_same = ratio(hits[0] - hits[1], support[0])
    return np.where(support[0] == support[1], of_same, recall[0] - recall[1])


_SIDES = np.array([-1, 0, 1])  # which of two is better, at the sign of their difference: 0, 1, -1


def _root_rows(
    roots: RootsOfEach, shares: FloatArray, reasons: npt.NDArray[Any], low: float, high: float
) -> tuple[Places, dict[str, npt.NDArray[Any]]]:
    """The pair of each row of `crossings`, and columns; who is better is a place among the two."""
    n_pairs, is_cross = len(shares), ~roots.is_touch
    inside = (roots.at >= low) & (roots.at <= high)
    before = np.bincount(roots.of[is_cross & (roots.at < low)], minlength=n_pairs)
    first_sign = roots.first_sign * (1 - 2 * (before % 2))  # at the low end of the range
    crosses = np.bincount(roots.of[is_cross & inside], minlength=n_pairs) > 0
    below = roots.signs_below
    has_root = np.bincount(roots.of[inside], minlength=n_pairs) > 0
    alone = np.flatnonzero(~has_root)  # a pair without a root has a row, too
    place = np.append(roots.of[inside], alone)
    order = np.argsort(place, kind="stable")
    place = place[order]
    # a row without a root shows what stands behind the roots, at -1
    root = np.append(np.flatnonzero(inside), np.full(len(alone), -1))[order]
    t_star = np.append(roots.at, np.nan)[root]
    return place, {
        "root": np.arange(len(place)) - np.searchsorted(place, place),
        "t_star": t_star,
        "kind": np.append(np.where(is_cross, "cross", "touch"), "")[root],
        "better_below": np.append(_SIDES[below], -1)[root],
        "better_above": np.append(_SIDES[np.where(is_cross, -below, below)], -1)[root],
        "cost_ratio": _cost_ratios(shares[place], t_star),
        "dominates": np.where(crosses, -1, _SIDES[first_sign])[place],
        "reason": np.where((reasons == "") & (first_sign == 0), "equal at every t", reasons)[place],
    }


def _cost_ratios(shares: FloatArray, t: FloatArray) -> FloatArray:
    """How many times the second largest class counts as the largest one, at each t."""
    if shares.shape[1] < 2:
        return t
    second, largest = np.sort(shares, axis=1)[:, -2:].T
    with np.errstate(over="ignore"):  # beyond 1e308 infinite is the answer, not worth a warning
        return np.asarray(np.exp(t * np.log(second / largest)))


def _crossing_table(
    sides: _Sides, between: str, pairs: _Pairs, columns: dict[str, Any]
) -> pd.DataFrame:
    """The table of `crossings`, from places and codes."""
    root = columns.pop("root")
    held = np.empty(len(sides.inner) + 1, dtype=object)  # the last one, at -1, is None
    for at in range(len(sides.inner)):
        held[at] = sides.inner.values(at)
    for name in ("better_below", "better_above", "dominates"):
        side = columns[name]
        of_pair = np.where(side < 0, -1, np.where(side == 0, *pairs.sides))
        columns[name] = pd.Series(held[of_pair], dtype=object)
    columns |= {name: texts(columns[name].tolist()) for name in ("kind", "reason")}
    level, codes = plain_index(held[:-1].tolist()), np.arange(len(sides.inner))
    if len(sides.inner.names) == 1:
        level, codes = sides.inner.levels[0], sides.inner.codes[:, 0]
    of_sides = [
        (f"{between[:-1]}_{side}", level, codes[at])
        for side, at in zip("ab", pairs.sides, strict=True)
    ]
    outer = sides.outer.codes[pairs.outer].T
    keys = zip(sides.outer.names, sides.outer.levels, outer, strict=True)
    parts = [*keys, *of_sides] if between == "groups" else [*of_sides, *keys]
    axis = ("root", pd.RangeIndex(root.max() + 1), root)
    return pd.DataFrame(columns).set_axis(_multi_index(*zip(*parts, axis, strict=True)))
