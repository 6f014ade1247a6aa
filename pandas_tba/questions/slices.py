"""Where is the model weak: every combination of keys against the rest."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.groups import Groups
from pandas_tba.errors import InputError, shown
from pandas_tba.inference.contrasts import Difference, common_difference, equality_coefficients
from pandas_tba.inference.group_tests import Adjustment, Drawn, GroupTests, Tested, p_values_of
from pandas_tba.inference.influence import clopper_pearson_at
from pandas_tba.inference.intervals import check_level
from pandas_tba.inference.permutations import Contrasts, check_draws, seed_of
from pandas_tba.inference.pvalues import check_adjust
from pandas_tba.inference.recall_means import (
    Measure,
    Sums,
    check_min_support,
    comparable_metrics,
    join_measures,
    measure_of,
    models_of,
)
from pandas_tba.scoring.metrics import find_metrics
from pandas_tba.scoring.results import described, texts
from pandas_tba.scoring.tempering import check_t, class_weights

FloatArray = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


def slices(
    counts: ConfusionCounts,
    *,
    depth: int = 2,
    t: float = 0.5,
    min_support: int = 0,
    level: float = 0.95,
    adjust: Adjustment = "max_t",
    n_replicates: int | None = None,
    generator: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Every combination of keys, up to a depth, against all other rows: the worst first.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows by several keys, as `count` gives them.
    depth : int, default 2
        Most keys that a slice combines.
    t : float, default 0.5
        Exponent of tba, as in `score`; the class weights are those of all rows together.
    min_support : int, default 0
        Slices with fewer rows of a class are left out.
    level : float, default 0.95
        Confidence level of *all* intervals together.
    adjust, n_replicates, generator
        As in `disparity`.

    Returns
    -------
    DataFrame
        A row for each slice; within each model the lowest score first, and slices without
        rows of a class after all others. Columns slice (such as ``sex=F & region=N``), n, min_support, n_absent,
        score, difference (from the score of all other rows), its simultaneous limits low and high,
        p_value, p_adjusted for all rows of the table, reason (why the difference is NaN, else
        empty). Weighted counts have a column weight, models the index level model.

    Raises
    ------
    InputError
        If the counts have no groups, or an argument has a value that cannot be used.

    Notes
    -----
    The lowest scores are often those of small slices: ``.sort_values("high")`` puts first what is
    worse beyond what chance can do. Scores, differences and p-values are those of `disparity` with
    ``reference="rest"``; the finest groups are drawn and summed, so that p_adjusted knows which
    slices share rows. The limits join the Clopper-Pearson limits of both sides at their effective
    rows, at the level ``level ** (1 / m)`` for m slices that have a difference (Sidak). The p-value is
    the test: the limits, which are careful, may hold 0 where p_adjusted is small.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.count(tba.load_income(), y_pred="forest", by=["sex", "age_group"])
    >>> tba.slices(counts, t=0, min_support=20)["slice"].iloc[0]
    'sex=Male & age_group=45-54'
    """
    comparable_metrics(counts, None)
    exponent = check_t(t)
    level = check_level(level)
    check_adjust(adjust)
    check_draws(n_replicates)
    check_min_support(min_support)
    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise InputError(f"`depth` must be a whole number of keys, 1 or more; got {shown(depth)}.")
    measure = measure_of(counts, find_metrics("tba")[0], "pooled", [exponent])
    models, n_models = models_of(counts)
    every = _every_slice(counts, measure, models, depth)
    large = np.flatnonzero(~every.measure.is_small(min_support))
    sliced = every.at(large)
    whole = measure.sums.totals(models, n_models).at(sliced.models)
    rest = whole.without(sliced.measure.sums)
    found = common_difference(
        sliced.measure.sums, rest, whole.support, exponent, counted_on=sliced.measure.counted_on
    )
    compared = ~np.isnan(found.estimate)
    drawn = _drawn(measure, models, sliced, whole, compared)
    missing = np.full((len(compared), 1), np.nan)
    tests = GroupTests([found], compared[:, None], missing, drawn)
    tested = p_values_of([tests], adjust, n_replicates, seed_of(generator))
    columns = _slice_columns(counts, sliced, rest, found, tested, level)
    order = np.lexsort((columns["score"], columns["n_absent"] > 0, sliced.models))
    table = pd.DataFrame(
        {
            name: texts(column[order]) if name in ("slice", "reason") else column[order]
            for name, column in columns.items()
        }
    )
    if counts.key_groups.has_model:
        level_of_models = counts.key_groups.keep([0]).in_order()[0].index()
        table.index = level_of_models.take(sliced.models[order])
    described(table, counts, exponent, "pooled").attrs["tba"] |= {
        "level": level,
        "depth": depth,
        "adjust": str(tested.adjust),
    }
    return table


class _Slices(NamedTuple):
    """Text and model of each slice, the measure over them, and which groups (S, G) each holds."""

    names: npt.NDArray[Any]
    models: Codes
    measure: Measure
    members: Any

    def at(self, places: Codes) -> _Slices:
        """Some of the slices."""
        return _Slices(
            self.names[places],
            self.models[places],
            self.measure.at(places),
            self.members[places],
        )


def _every_slice(counts: ConfusionCounts, measure: Measure, models: Codes, depth: int) -> _Slices:
    """Combinations of up to `depth` keys, rolled up from the same counts."""
    from scipy.sparse import csr_array, vstack

    has_model = counts.key_groups.has_model
    keys = range(has_model, len(counts.key_groups.names))
    names, places, parts, members = [], [], [], []
    for size in range(1, min(depth, len(keys)) + 1):
        for chosen in itertools.combinations(keys, size):
            kept = counts.key_groups.keep([*range(has_model), *chosen])
            groups, place = kept.in_order()
            model = np.zeros(len(groups), dtype=np.intp)
            model[place] = models
            names.append(_texts(groups, has_model=has_model))
            places.append(model)
            parts.append(measure.totals(place, len(groups)))
            ones = np.ones(len(place), dtype=np.int64)
            shape = len(groups), len(place)
            members.append(csr_array((ones, (place, np.arange(len(place)))), shape=shape))
    return _Slices(
        np.concatenate(names),
        np.concatenate(places),
        join_measures(parts),
        vstack(members, format="csr"),
    )


def _drawn(
    measure: Measure,
    models: Codes,
    sliced: _Slices,
    whole: Sums,
    compared: npt.NDArray[np.bool_],
) -> list[Drawn]:
    """Contrasts of the slices of each model: groups are drawn, and summed to slices."""
    if not measure.under_equality():
        return []
    weights = class_weights(whole.support, t=measure.exponents[0])
    coefficients = equality_coefficients(sliced.measure.sums, whole, weights, is_whole=False)
    coefficients[~compared] = np.nan
    found = []
    for model in np.unique(sliced.models).tolist():
        rows, groups = np.flatnonzero(sliced.models == model), np.flatnonzero(models == model)
        sums, members = measure.sums.at(groups), sliced.members[rows][:, groups]
        contrasts = Contrasts(sums.hits, sums.support, coefficients[rows, None], members)
        found.append(Drawn(rows, [0], contrasts))
    return found


def _texts(groups: Groups, *, has_model: bool) -> npt.NDArray[Any]:
    """Keys of each group as text."""
    texts: Any = None
    for key in range(has_model, len(groups.names)):
        name = f"key {key}" if groups.names[key] is None else groups.names[key]
        words = [f"{name}={value}" for value in groups.levels[key]]
        part = np.array([*words, f"{name} missing"], dtype=object)[groups.codes[:, key]]
        texts = part if texts is None else texts + " & " + part
    return np.asarray(texts, dtype=object)


def _slice_columns(
    counts: ConfusionCounts,
    sliced: _Slices,
    rest: Sums,
    found: Difference,
    tested: Tested,
    level: float,
) -> dict[str, npt.NDArray[Any]]:
    """Columns of `slices`, each (S,)."""
    measure = sliced.measure
    n_compared = max(1, int((~np.isnan(found.estimate)).sum()))
    low, high = found.limits(level ** (1 / n_compared), clopper_pearson_at)
    absent = measure.sums.support == 0
    smallest = np.where(absent, 0.0, measure.rows).min(axis=1, initial=measure.rows.max(initial=0))
    columns = {
        "slice": sliced.names,
        "n": measure.rows.sum(axis=1).astype(np.int64),
        "weight": measure.sums.support.sum(axis=1),
        "min_support": smallest.astype(np.int64),
        "n_absent": absent.sum(axis=1),
        "score": measure.score(measure.sums, measure.exponents[0]),
        "difference": found.estimate,
        "low": low,
        "high": high,
        "p_value": tested.p_values[0][:, 0],
        "p_adjusted": tested.adjusted[0][:, 0],
    }
    columns["reason"] = _reasons_of_slices(counts, measure, rest, columns["score"], found.estimate)
    if not counts.is_weighted:
        del columns["weight"]
    return columns


def _reasons_of_slices(
    counts: ConfusionCounts,
    measure: Measure,
    rest: Sums,
    score: FloatArray,
    difference: FloatArray,
) -> npt.NDArray[Any]:
    """Why differences are NaN, worked out once for each set of absent classes."""
    reasons = np.full(len(score), "", dtype=object)
    reasons[np.isnan(difference)] = "the other rows lack a class"
    reasons[~rest.support.any(axis=1)] = "no other rows"
    undefined = np.flatnonzero(np.isnan(score))
    absent = measure.sums.support[undefined] == 0
    _, first, kind = np.unique(absent, axis=0, return_index=True, return_inverse=True)
    texts = [measure.reason(counts, int(undefined[at])) for at in first]
    reasons[undefined] = np.array([*texts, ""], dtype=object)[kind.reshape(-1)]
    return reasons
