"""Gates on groups: rules that a model must meet in a test, a pipeline or a release."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError, counted, is_real, shown
from pandas_tba.inference.contrasts import Proportion, recalls_under
from pandas_tba.inference.influence import Limits, clopper_pearson_at
from pandas_tba.inference.intervals import check_level, within_bounds
from pandas_tba.inference.recall_means import (
    Codes,
    Measure,
    check_min_support,
    comparable_metrics,
    group_names,
    measure_of,
    models_of,
    undefined_groups,
)
from pandas_tba.inference.spreads import spread_limits, spread_of
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.results import Prevalence, described, exponents_of

_NOISE = 1e-12  # a limit that is met to the last digits is met


@dataclass(frozen=True, repr=False)
class Check:
    """What a gate on groups found.

    Attributes
    ----------
    table : DataFrame
        A row for each rule and what it was asked of: rule, metric, group (the worst one for rules
        about all groups), value, low and high (its confidence limits, NaN without a level), limit,
        status ("pass", "fail" or "undetermined"), reason (why the value is NaN, else empty).
    left_out : DataFrame
        Groups that had less than the least support: metric, group.

    Notes
    -----
    A check is true where it has passed, so that ``assert df.tba.check(...)`` is a test.
    """

    table: pd.DataFrame
    left_out: pd.DataFrame

    @property
    def passed(self) -> bool:
        """Whether every rule is met; one that is undetermined is not."""
        return bool(len(self.table)) and bool((self.table["status"] == "pass").all())

    def __bool__(self) -> bool:
        return self.passed

    def raise_on_fail(self) -> None:
        """Raise AssertionError unless every rule is met."""
        if not self.passed:
            raise AssertionError(self._text())

    def __repr__(self) -> str:
        return f"<Check: {self._text()}>"

    def _text(self) -> str:
        numbers = self.table["status"].value_counts()
        parts = [f"{numbers.get(name, 0)} {name}" for name in ("pass", "fail", "undetermined")]
        bad = self.table[self.table["status"] != "pass"]
        faults = [_fault(row) for row in bad.head(5).itertuples()]
        more = f". And {len(bad) - 5:,} more" if len(bad) > 5 else ""
        if len(self.left_out):
            parts.append(f"{counted(len(self.left_out), 'group')} left out")
        return ", ".join(parts) + "".join(f". {fault}" for fault in faults) + more


def _fault(row: Any) -> str:
    """A row of the table in words."""
    limits = "" if math.isnan(row.low) else f" ({row.low:.4g} to {row.high:.4g})"
    group = "" if row.group is None else f", group {shown(row.group)}"
    reason = f": {row.reason}" if row.reason else ""
    return f"{row.rule} of {row.metric} {row.status}: {row.value:.4g}{limits}, limit {row.limit:g}{group}{reason}"


def check(
    counts: ConfusionCounts,
    *,
    max_gap: float | None = None,
    min_ratio: float | None = None,
    min_score: float | None = None,
    min_support: int = 0,
    t: float = 0.5,
    metrics: str | Metric | Iterable[str | Metric] | None = None,
    prevalence: Prevalence = "pooled",
    level: float | None = 0.95,
) -> Check:
    """Judge groups by rules: for a test, a pipeline, or a release.

    Parameters
    ----------
    counts : ConfusionCounts
        As in `disparity`.
    max_gap : float, optional
        Largest difference that is allowed between two groups.
    min_ratio : float, optional
        Least ratio of the smallest value to the largest; 0.8 is the four-fifths rule.
    min_score : float, optional
        Least value of each group, under the class weights of `prevalence`: pooled by default,
        so that it is not the value that ``score(by=...)`` gives, which has own weights.
    min_support : int, default 0
        Groups with fewer rows of a class are left out, and listed.
    t : float, default 0.5
        Exponent of tba.
    metrics, prevalence
        As in `disparity`.
    level : float or None, default 0.95
        Confidence level of the limits that the rules are judged by; None judges the value alone.

    Returns
    -------
    Check
        With ``table``, ``passed`` and ``raise_on_fail()``. The status is "pass" where all of the
        interval keeps the rule, "fail" where none of it does, and else "undetermined", which does not
        pass: there are too few rows to know. Where a value is undefined it never is "pass", and
        "fail" only where the rule is broken whatever the recall of the absent classes.

    Raises
    ------
    InputError
        If no rule is given; and as in `disparity`.

    Notes
    -----
    Gap and ratio have the limits of `gap`. Those of min_score are the Wilson limit below, at
    `level`: that all groups pass by chance is no likelier than that the worst one does. Above, they
    are Clopper-Pearson limits that hold for all groups together (Sidak), so that many groups do not
    make a failure likelier. Both take the rows as independent.

    At t = 0, and where groups have equal class shares, pooled and own weights give the same score.
    At t = 1 own weights give the accuracy of the group, and pooled ones do not: pass
    ``prevalence="own"`` to ask for a least accuracy.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.count(tba.load_income(), y_pred="forest", by="sex", pos_label=">50K")
    >>> tba.check(counts, min_ratio=0.8, metrics="selection_rate").table["status"].tolist()
    ['fail']
    """
    exponents = exponents_of([t])[0]
    chosen, _ = comparable_metrics(counts, metrics)
    check_min_support(min_support)
    if level is not None:
        level = check_level(level)
    limits = {"max_gap": max_gap, "min_ratio": min_ratio, "min_score": min_score}
    rules = {name: _limit(name, value) for name, value in limits.items() if value is not None}
    if not rules:
        raise InputError("Give at least one rule: max_gap=, min_ratio= or min_score=.")
    lower = [metric.name for metric in chosen if metric.greater_is_better is False]
    if "min_score" in rules and lower:
        raise InputError(
            f"`min_score` asks for much of each metric, and of {lower[0]!r} less is better. Ask for "
            "its complement, such as specificity for fpr."
        )
    place, n_models = models_of(counts)
    found: list[tuple[Any, ...]] = []
    left_out: list[tuple[Any, ...]] = []
    for metric in chosen:
        measure = measure_of(counts, metric, prevalence, exponents)
        for model in range(n_models):
            among, small = measure.parted(place == model, min_support)
            judged = _judged(counts, measure, among, rules, level)
            found += [(_model(counts, place, model), metric.name, *row) for row in judged]
            left_out += [(_model(counts, place, model), metric.name, group) for group in small]
    table = _listing(
        counts,
        found,
        ["model", "metric", "rule", "group", "value", "low", "high", "limit", "status", "reason"],
    )
    described(table, counts, t, prevalence).attrs["tba"] |= {"level": level}
    return Check(table, _listing(counts, left_out, ["model", "metric", "group"]))


def _limit(name: str, value: object) -> float:
    """A limit of a rule as a float; InputError outside 0 to 1."""
    is_number = is_real(value)
    if not (is_number and 0 <= float(value) <= 1):  # type: ignore[arg-type]
        raise InputError(f"`{name}` must lie between 0 and 1; got {shown(value)}.")
    return float(value)  # type: ignore[arg-type]


def _model(counts: ConfusionCounts, place: Codes, model: int) -> Hashable:
    """Name of a model, or None without models."""
    if not counts.key_groups.has_model:
        return None
    return counts.key_groups.keep([0]).values(int(np.flatnonzero(place == model)[0]))


class _Value(NamedTuple):
    """What a rule is about: group or -1, the value and its limits, why it is undefined."""

    group: int
    value: float
    low: float
    high: float
    reason: str


def _judged(
    counts: ConfusionCounts,
    measure: Measure,
    groups: Codes,
    rules: dict[str, float],
    level: float | None,
) -> list[tuple[Any, ...]]:
    """Rule, group or -1, value, limits, limit, status and reason of each for the groups of one model."""
    found = []
    for rule, limit in rules.items():
        values = (_group_scores if rule == "min_score" else _group_spread)(
            counts, measure, groups, rule, level
        )
        for held in values:
            status = _status(held, limit, is_most=rule == "max_gap")
            shown_limits = (held.low, held.high) if level is not None else (math.nan, math.nan)
            found.append((rule, held.group, held.value, *shown_limits, limit, status, held.reason))
    return found


def _group_spread(
    counts: ConfusionCounts, measure: Measure, groups: Codes, rule: str, level: float | None
) -> list[_Value]:
    """The gap or the ratio of some groups."""
    t = measure.exponents[0]
    spread = spread_of(measure, groups, t)
    reason = ""
    if len(groups) < 2:
        reason = "fewer than two groups"
    elif spread.n_undetermined:
        reason = undefined_groups(counts, measure, groups, t)
    elif rule == "min_ratio" and math.isnan(spread.ratio):
        reason = "both are 0"
    value, low, high = spread.gap, spread.bound_low, spread.bound_high
    if rule == "min_ratio":
        value, low, high = spread.ratio, 0.0, 1.0
    if level is not None:
        limits = spread_limits(measure, groups, t, level)
        low, high = (limits.low, limits.high) if rule == "max_gap" else limits[2:]
    elif not math.isnan(value):
        low = high = value
    return [_Value(spread.worst, value, low, high, reason)]


def _group_scores(
    counts: ConfusionCounts, measure: Measure, groups: Codes, _: str, level: float | None
) -> list[_Value]:
    """The scores of some groups."""
    t = measure.exponents[0]
    scores = measure.score(measure.sums, t)
    low, high = measure.bounds(t) if level is None else _score_limits(measure, len(groups), level)
    return [
        _Value(
            group,
            float(scores[group]),
            float(low[group]),
            float(high[group]),
            measure.reason(counts, group) if math.isnan(scores[group]) else "",
        )
        for group in groups.tolist()
    ]


def _score_limits(measure: Measure, n_groups: int, level: float) -> Limits:
    """Low limits of each group alone, and high ones of all of them together."""
    t, sums = measure.exponents[0], measure.sums
    reference = sums if measure.prevalence is None else measure.reference
    recalls = recalls_under(sums, measure.shares(sums), reference)
    share, tail = Proportion.of(recalls, t), (1.0 - level) / 2.0
    of_all = 1.0 - (1.0 - tail) ** (1.0 / max(1, n_groups))
    limits = share.limits(tail)[0], share.limits(of_all, clopper_pearson_at)[1]
    return within_bounds(limits, recalls, t)


def _status(held: _Value, limit: float, *, is_most: bool) -> str:
    """Status of a rule: by all of the interval, from its low to its high end."""
    low, high = held.low, held.high
    if is_most:  # the same as asking for at least the negative
        low, high, limit = -high, -low, -limit
    if high < limit - _NOISE:
        return "fail"
    is_known = not math.isnan(held.value)
    return "pass" if is_known and low >= limit - _NOISE else "undetermined"


def _listing(
    counts: ConfusionCounts, rows: list[tuple[Any, ...]], names: list[str]
) -> pd.DataFrame:
    """Rows as a table, groups by their keys, models only where there are any."""
    columns: dict[str, Any] = {}
    for at, name in enumerate(names):
        held = np.empty(len(rows), dtype=object)
        held[:] = [row[at] for row in rows]
        if name == "group":
            held[:] = group_names(counts, held)
        kind: dict[str, Any] = {
            "value": np.float64,
            "low": np.float64,
            "high": np.float64,
            "limit": np.float64,
            "group": object,
            "model": object,
        }
        columns[name] = pd.Series(held, dtype=kind.get(name, "str"))
    if not counts.key_groups.has_model:
        del columns["model"]
    return pd.DataFrame(columns)
