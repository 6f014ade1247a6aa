"""Models, or the groups of a model, ranked at a t: what the slider of a report moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.reports.views import DASH, one_line
from pandas_tba.scoring.results import Prevalence, class_prevalence, of_classes
from pandas_tba.scoring.tempering import ratio, tempered_mean

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """Rows that are ranked among themselves: their counts, and what to call them."""

    title: str
    counts: ConfusionCounts
    are_models: bool

    @property
    def support(self) -> FloatArray:
        """Rows of each class, or their weight, (G, K)."""
        return of_classes(self.counts, self.counts.support)

    @property
    def hits(self) -> FloatArray:
        """Rows predicted right, or their weight, (G, K)."""
        return of_classes(self.counts, self.counts.hits)

    @property
    def names(self) -> list[tuple[str, ...]]:
        """The keys of each row."""
        index = self.counts.groups
        columns = [index.get_level_values(level) for level in range(index.nlevels)]
        if not self.counts.key_groups.names:
            return [("all rows",)]
        return [
            tuple(map(one_line, key)) for key in zip(*(c.tolist() for c in columns), strict=True)
        ]

    @property
    def headers(self) -> list[str]:
        """What the keys are."""
        return [one_line(name) for name in self.counts.key_groups.names] or ["group"]

    def scores(self, t: float, prevalence: Prevalence) -> FloatArray:
        """Score of each row; models are never weighed by other models."""
        shares = class_prevalence(self.counts, prevalence, self.support)
        return tempered_mean(ratio(self.hits, self.support), shares, t)

    def order(self, scores: FloatArray) -> list[tuple[int, str]]:
        """Rows with their rank: the best first, then without a rank those where a class has no rows."""
        is_unranked = (self.support == 0).any(axis=1) | np.isnan(scores)
        order = np.lexsort((-np.nan_to_num(scores, nan=-1.0), is_unranked))
        return [
            (row, DASH if is_unranked[row] else str(at + 1))
            for at, row in enumerate(order.tolist())
        ]


def rankings_of(counts: ConfusionCounts) -> list[Ranking]:
    """The models, where there are any; then the groups of each model."""
    whole = counts.pooled()
    has_models, names = counts.key_groups.has_model, counts.key_groups.names
    found = [Ranking("Models", whole, are_models=True)] if has_models else []
    if len(names) == has_models:
        return found or [Ranking("All rows", whole, are_models=False)]
    if not has_models:
        return [Ranking("Groups", counts, are_models=False)]
    for model in range(len(whole)):
        code = whole.key_groups.codes[model, 0]
        part = _select_model(counts, code)
        found.append(Ranking(f"Groups, {one_line(whole.groups[model])}", part, are_models=False))
    return found


def _select_model(counts: ConfusionCounts, code: int) -> ConfusionCounts:
    """Counts of the groups of one model, without it among the keys."""
    part = some_groups(counts, np.flatnonzero(counts.key_groups.codes[:, 0] == code).tolist())
    keys = part.key_groups.keep(list(range(1, len(part.key_groups.names))))
    return replace(part, key_groups=keys)


def some_groups(counts: ConfusionCounts, chosen: list[int]) -> ConfusionCounts:
    """Counts of some groups, in the order that they have."""
    place = np.full(len(counts), -1)
    place[chosen] = np.arange(len(chosen))
    every = np.arange(len(counts.label_set.values))
    cells = counts.stored.moved(place, every, every, (len(chosen), len(every), len(every)))
    groups = counts.key_groups.with_codes(counts.key_groups.codes[chosen])
    return replace(counts, stored=cells, key_groups=groups)


def page_numbers(rankings: list[Ranking], prevalence: Prevalence) -> dict[str, Any]:
    """What the page computes with: numbers alone, so that no label can do harm."""
    given = None
    if not isinstance(prevalence, str):
        given = class_prevalence(rankings[0].counts, prevalence, rankings[0].support)[0].tolist()
    tables = [
        {"support": _as_integers(ranking.support), "hits": _as_integers(ranking.hits), "pooled": not ranking.are_models}
        for ranking in rankings
    ]  # fmt: skip
    return {"given": given, "tables": tables}


def _as_integers(values: FloatArray) -> list[Any]:
    """Numbers without a needless fraction."""
    is_whole = bool((values == np.floor(values)).all()) and values.max(initial=0) < 2**53
    return (values.astype(np.int64) if is_whole else values).tolist()
