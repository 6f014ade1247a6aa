"""Which t to use, and where the choice swaps two models or groups."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.catalog import ratio
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.errors import InputError, check_choice, counted, listed, shown
from pandas_tba.framing import (
    Prevalence,
    absent_classes,
    check_counts,
    check_names,
    class_prevalence,
    described,
    of_classes,
    texts,
)
from pandas_tba.groups import Groups
from pandas_tba.levels import plain_index
from pandas_tba.roots import Roots, real_roots
from pandas_tba.tempering import (
    check_t,
    class_weights,
    majority_score,
    t_from_entropy,
)

FloatArray = npt.NDArray[np.float64]


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
        What the costs speak of: the recall of a whole class, or one error on a row of it.

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
    it is fitted by least squares. A large residual says that no single t expresses the costs.

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
        "entropy": np.array([t_from_entropy(p) if p.any() else np.nan for p in support]),
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
    given = dict(cost.items()) if isinstance(cost, (Mapping, pd.Series)) else {}
    lacking = [label for label in classes if label not in given]
    foreign = [label for label in given if label not in classes]
    if lacking or foreign or len(given) != len(cost):
        raise InputError(
            f"`cost` must map each class to its cost, once; it lacks {listed(lacking) or 'none'} and "
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
    weights = np.full((*t.shape, len(classes)), np.nan)
    majority = np.full(t.shape, np.nan)
    meaning = np.full(t.shape, "", dtype=object)
    for at in zip(*np.nonzero(~np.isnan(t)), strict=True):
        rows = support[at[0]]
        weights[at] = class_weights(rows, t=t[at])
        recall = np.where(rows > 0, 1.0, np.nan)[None]  # majority reads who is absent from it
        majority[at] = majority_score(recall, rows[None], t[at])[0]
        meaning[at] = _meaning(classes, rows, t[at])
    lacking = [absent_classes(classes, rows) or "all classes are equally large" for rows in support]
    is_nan = np.isnan(t) | np.isnan(majority)
    return {
        "t": t.reshape(-1),
        **{f"weight_{label}": weights[:, :, k].reshape(-1) for k, label in enumerate(classes)},
        "majority": majority.reshape(-1),
        "residual": residual.reshape(-1),
        "meaning": texts(meaning.reshape(-1)),
        "reason": texts(np.where(is_nan, np.array(lacking, dtype=object)[:, None], "").reshape(-1)),
    }


def _meaning(classes: list[Hashable], support: FloatArray, t: float) -> str:
    """What the rarest class counts against the largest: as a class, and one error on it."""
    order = np.argsort(support, kind="stable")
    order = order[support[order] > 0]
    if len(order) < 2:
        return ""
    rarest, largest = order[[0, -1]]
    share = support[rarest] / support[largest]
    return (
        f"one missed {shown(classes[rarest])} counts as {_power(share, t - 1):.3g} missed "
        f"{shown(classes[largest])}; the whole class as {_power(share, t):.3g} of the other"
    )


def _power(share: float, t: float) -> float:
    with np.errstate(over="ignore"):  # beyond 1e308 infinite is the answer, not worth a warning
        return float(np.exp(t * np.log(share)))


def _rule_index(counts: ConfusionCounts, rules: list[str]) -> pd.Index:
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
    return pd.MultiIndex(
        levels=list[Any](levels),
        codes=list[Any](codes),
        names=list[Any](names),
        verify_integrity=False,
    )


class _Sides(NamedTuple):
    """The models or groups that are compared, within each of some outer groups.

    ``rows`` (outer, inner) says which row of the counts each is, -1 where it has none.
    """

    outer: Groups
    inner: Groups
    rows: npt.NDArray[np.intp]


class _Crossing(NamedTuple):
    """One row of `crossings`; sides are places among the two compared, -1 is none."""

    root: int
    t_star: float = math.nan
    kind: str = ""
    better_below: int = -1
    better_above: int = -1
    cost_ratio: float = math.nan
    dominates: int = -1
    reason: str = ""


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
    low, high = _range_of(t_min, t_max)
    sides = _sides(counts, between)
    prevalence = _shared_prevalence(between, prevalence)
    if between == "models":
        check_names(counts, ["model_a", "model_b", "root", *_Crossing._fields])
    support, hits = of_classes(counts, counts.support), of_classes(counts, counts.hits)
    weights_of = np.broadcast_to(class_prevalence(counts, prevalence, support), support.shape)
    places, found = [], []
    for outer, pair in _comparisons(sides, between):
        at = sides.rows[outer, pair]
        names = [sides.inner.values(side) for side in pair]
        reason = _undefined(counts.label_set.classes, names, at, support)
        rows = [_Crossing(0, reason=reason)] if reason else []
        if not reason:
            shares = weights_of[at].sum(axis=0)
            roots = real_roots(_recall_difference(hits[at], support[at]), shares)
            rows = list(_rows_of(roots, shares, low, high))
        found += rows
        places += [(outer, *pair)] * len(rows)
    table = _crossing_table(sides, between, np.array(places).T, found)
    return described(table, counts, None, prevalence)


def _range_of(t_min: float, t_max: float) -> tuple[float, float]:
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
    if prevalence is None:
        return "own" if between == "models" else "pooled"
    if between == "groups" and isinstance(prevalence, str) and prevalence == "own":
        raise InputError(
            "`prevalence` must be one for both groups, else no t is common to them; got 'own'. Pass "
            "'pooled', or a mapping of labels to shares."
        )
    return prevalence


def _sides(counts: ConfusionCounts, between: str) -> _Sides:
    groups = counts.key_groups
    models = [0] if groups.has_model else []
    others = list(range(len(models), len(groups.names)))
    outer, outer_place = _distinct(groups, others if between == "models" else models)
    inner, inner_place = _distinct(groups, models if between == "models" else others)
    if len(inner) < 2:
        raise InputError(_too_few(between, len(inner) if inner.names else 0))
    rows = np.full((len(outer), len(inner)), -1, dtype=np.intp)
    rows[outer_place, inner_place] = np.arange(len(groups))
    return _Sides(outer, inner, rows)


def _distinct(groups: Groups, keys: list[int]) -> tuple[Groups, npt.NDArray[np.intp]]:
    if not keys:
        return Groups(), np.zeros(len(groups), dtype=np.intp)
    return groups.keep(keys).in_order()


def _too_few(between: str, number: int) -> str:
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


def _comparisons(sides: _Sides, between: str) -> Iterator[tuple[int, list[int]]]:
    """Outer group and pair, in the order of the index."""
    pairs = [list(pair) for pair in combinations(range(len(sides.inner)), 2)]
    if between == "groups":
        yield from product(range(len(sides.outer)), pairs)
    else:
        yield from ((outer, pair) for pair, outer in product(pairs, range(len(sides.outer))))


def _undefined(
    classes: list[Hashable], names: list[Hashable], at: npt.NDArray[np.intp], support: FloatArray
) -> str:
    """What two sides lack to be compared; nothing where every class has rows on both."""
    without = [
        name for name, row in zip(names, at, strict=True) if row < 0 or not support[row].any()
    ]
    if without:
        return f"no rows of {listed(without)}"
    return absent_classes(classes, support[at].min(axis=0))


def _recall_difference(hits: FloatArray, support: FloatArray) -> FloatArray:
    """Recall of the first side less that of the second; equal recalls cancel to exactly zero."""
    recall = hits / support
    # over one support the difference of whole numbers has no rounding to magnify
    of_same = (hits[0] - hits[1]) / support[0]
    return np.where(support[0] == support[1], of_same, recall[0] - recall[1])


def _rows_of(roots: Roots, shares: FloatArray, low: float, high: float) -> Iterator[_Crossing]:
    inside = np.flatnonzero((roots.at >= low) & (roots.at <= high))
    first = int((roots.at < low).sum())
    signs = set(roots.signs[first : first + len(inside) + 1].tolist())
    dominates = _side(signs.pop()) if len(signs) == 1 else -1
    if not len(inside):
        reason = "equal at every t" if dominates < 0 else ""
        yield _Crossing(0, dominates=dominates, reason=reason)
    for root, at in enumerate(inside.tolist()):
        t_star = float(roots.at[at])
        second, largest = np.sort(shares)[-2:]
        kind = "touch" if roots.is_touch[at] else "cross"
        below, above = (_side(sign) for sign in roots.signs[at : at + 2])
        cost_ratio = _power(second / largest, t_star)
        yield _Crossing(root, t_star, kind, below, above, cost_ratio, dominates)


def _side(sign: int) -> int:
    """Which of the two is better, where the difference has that sign."""
    return {1: 0, -1: 1, 0: -1}[int(sign)]


def _crossing_table(
    sides: _Sides, between: str, places: npt.NDArray[np.intp], found: list[_Crossing]
) -> pd.DataFrame:
    columns = {name: [row[at] for row in found] for at, name in enumerate(_Crossing._fields)}
    root = np.array(columns.pop("root"))
    outer, *pair = places
    held = np.empty(len(sides.inner) + 1, dtype=object)  # the last one, at -1, is None
    for at in range(len(sides.inner)):
        held[at] = sides.inner.values(at)
    for name in ("better_below", "better_above", "dominates"):
        side = np.array(columns[name])
        of_pair = np.where(side < 0, -1, np.where(side == 0, *pair))
        columns[name] = pd.Series(held[of_pair], dtype=object)  # type: ignore[assignment]
    level, codes = plain_index(held[:-1].tolist()), np.arange(len(sides.inner))
    if len(sides.inner.names) == 1:
        level, codes = sides.inner.levels[0], sides.inner.codes[:, 0]
    of_sides = [
        (f"{between[:-1]}_{side}", level, codes[at]) for side, at in zip("ab", pair, strict=True)
    ]
    keys = zip(sides.outer.names, sides.outer.levels, sides.outer.codes[outer].T, strict=True)
    parts = [*keys, *of_sides] if between == "groups" else [*of_sides, *keys]
    axis = ("root", pd.RangeIndex(root.max() + 1), root)
    return pd.DataFrame(columns).set_axis(_multi_index(*zip(*parts, axis, strict=True)))
