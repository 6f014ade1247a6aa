"""Gates on groups: rules that a model must meet in a test, a pipeline or a release."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError, counted, is_real, shown
from pandas_tba.inference.recall_means import (
    Codes,
    Measure,
    check_min_support,
    comparable_metrics,
    group_names,
    measure_of,
    models_of,
    spread_of,
    undefined_groups,
)
from pandas_tba.scoring.metrics import Metric
from pandas_tba.scoring.results import Prevalence, described, exponents_of

_NOISE = 1e-12  # a limit that is met to the last digits is met


@dataclass(frozen=True, repr=False)
class Check:
    """What a gate on groups found.

    Attributes
    ----------
    table : DataFrame
        A row for each rule and what it was asked of: rule, metric, group (the worst one for rules
        about all groups), value, limit, status ("pass", "fail" or "undetermined"), reason (why
        the value is NaN, else empty).
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
        faults = [
            f"{row.rule} of {row.metric} {row.status}: {row.value:.4g}, limit {row.limit:g}"
            + ("" if row.group is None else f", group {shown(row.group)}")
            + (f": {row.reason!s}" if row.reason else "")
            for row in bad.head(5).itertuples()
        ]
        more = f". And {len(bad) - 5:,} more" if len(bad) > 5 else ""
        if len(self.left_out):
            parts.append(f"{counted(len(self.left_out), 'group')} left out")
        return ", ".join(parts) + "".join(f". {fault}" for fault in faults) + more


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

    Returns
    -------
    Check
        With ``table``, ``passed`` and ``raise_on_fail()``. Where a value is undefined the status is
        "undetermined", which does not pass; or "fail" where the rule is broken whatever the recall
        of the absent classes.

    Raises
    ------
    InputError
        If no rule is given; and as in `disparity`.

    Notes
    -----
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
            judged = _judged(counts, measure, among, measure.exponents[0], rules)
            found += [(_model(counts, place, model), metric.name, *row) for row in judged]
            left_out += [(_model(counts, place, model), metric.name, group) for group in small]
    table = _listing(
        counts, found, ["model", "metric", "rule", "group", "value", "limit", "status", "reason"]
    )
    described(table, counts, t, prevalence)
    return Check(table, _listing(counts, left_out, ["model", "metric", "group"]))


def _limit(name: str, value: object) -> float:
    is_number = is_real(value)
    if not (is_number and 0 <= float(value) <= 1):  # type: ignore[arg-type]
        raise InputError(f"`{name}` must lie between 0 and 1; got {shown(value)}.")
    return float(value)  # type: ignore[arg-type]


def _model(counts: ConfusionCounts, place: Codes, model: int) -> Hashable:
    if not counts.key_groups.has_model:
        return None
    return counts.key_groups.keep([0]).values(int(np.flatnonzero(place == model)[0]))


def _judged(
    counts: ConfusionCounts, measure: Measure, groups: Codes, t: float, rules: dict[str, float]
) -> list[tuple[str, int, float, float, str, str]]:
    """Rule, group or -1, value, limit, status and reason of each rule for the groups of one model."""
    why = ""
    spread = spread_of(measure, groups, t)
    found = []
    if math.isnan(spread.gap):
        why = (
            undefined_groups(counts, measure, groups, t)
            if len(groups) > 1
            else "fewer than two groups"
        )
    if "max_gap" in rules:
        limit = rules["max_gap"]
        status = _status(spread.gap <= limit + _NOISE, spread.gap, spread.low > limit + _NOISE)
        found.append(("max_gap", spread.worst, spread.gap, limit, status, why))
    if "min_ratio" in rules:
        limit = rules["min_ratio"]
        status = _status(spread.ratio >= limit - _NOISE, spread.ratio, False)
        no_ratio = "both are 0" if math.isnan(spread.ratio) else ""
        found.append(("min_ratio", spread.worst, spread.ratio, limit, status, why or no_ratio))
    if "min_score" in rules:
        limit = rules["min_score"]
        scores, most = measure.score(measure.sums, t), measure.bounds(t)[1]
        for group in groups.tolist():
            score = float(scores[group])
            status = _status(score >= limit - _NOISE, score, bool(most[group] < limit - _NOISE))
            lacks = measure.reason(counts, group) if math.isnan(score) else ""
            found.append(("min_score", group, score, limit, status, lacks))
    return found


def _status(is_met: bool, value: float, is_broken: bool) -> str:  # noqa: FBT001
    """Status of a rule; `is_broken` whatever the undefined parts are."""
    if math.isnan(value):
        return "fail" if is_broken else "undetermined"
    return "pass" if is_met else "fail"


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
            "limit": np.float64,
            "group": object,
            "model": object,
        }
        columns[name] = pd.Series(held, dtype=kind.get(name, "str"))
    if not counts.key_groups.has_model:
        del columns["model"]
    return pd.DataFrame(columns)
