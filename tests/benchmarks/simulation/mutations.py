"""Methods that are known to fail, in place of the public functions: the bars must notice."""

from functools import partial
from statistics import NormalDist
from unittest import mock

import numpy as np
from scipy import stats

import pandas_tba as tba

from .studies import run

Z = NormalDist().inv_cdf(0.975)
INTERVAL, DISPARITY = tba.interval, tba.disparity


def wilson(share, rows):
    """Score limits of a share of so many rows; a share without variance keeps no width."""
    with np.errstate(invalid="ignore", divide="ignore"):
        pull = Z**2 / rows
        root = np.sqrt(pull * share * (1 - share) + pull**2 / 4)
    return [(share + pull / 2 + sign * root) / (1 + pull) for sign in (-1, 1)]


def wald(*arguments, **options):
    """`interval` with limits z standard errors from the score, at the same effective rows."""
    table = INTERVAL(*arguments, **options)
    share = table["score"].clip(0, 1)
    width = Z * np.sqrt(share * (1 - share) / table["n_eff"])
    known = width.notna()
    return table.assign(
        low=table["low"].where(~known, share - width),
        high=table["high"].where(~known, share + width),
    )


def unsmoothed(counts, **options):
    """`interval` of tba with the variance of the recalls as they are."""
    table = INTERVAL(counts, **options)
    if options.get("metrics") is not None:
        return table
    recalls, n = counts.hits / counts.support, counts.support.sum(axis=1, keepdims=True)
    shares = counts.support / n
    for t in options["t"]:
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = shares**t / (shares**t).sum(axis=1, keepdims=True)
            mean = (weights * recalls).sum(axis=1, keepdims=True)
            of_recalls = weights**2 * recalls * (1 - recalls) / counts.support
            of_shares = t**2 / n * weights**2 / shares * (recalls - mean) ** 2
            variance = (of_recalls + of_shares).sum(axis=1)
            mean = mean[:, 0]
            rows = np.where(variance > 0, mean * (1 - mean) / variance, np.inf)
        at = table.index.get_level_values("t") == t
        table.loc[at, "low"], table.loc[at, "high"] = wilson(mean, rows)
    return table


def holm_of_normal(counts, **options):
    """`disparity` with Holm's correction of normal p-values in place of the joint distribution."""
    table = DISPARITY(counts, **options)
    hits, rows = counts.hits, counts.support
    all_hits, all_rows = hits.sum(axis=0), rows.sum(axis=0)
    rest, recalls = all_rows - rows, all_hits / all_rows
    weights = np.array(all_rows / all_rows.sum()) ** options["t"]
    difference = weights * (hits / rows - (all_hits - hits) / rest)
    variance = weights**2 * recalls * (1 - recalls) * (1 / rows + 1 / rest)
    p_values = 2 * stats.norm.sf(np.abs(difference.sum(axis=1)) / np.sqrt(variance.sum(axis=1)))
    order = np.argsort(p_values)
    steps = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    return table.assign(p_adjusted=np.minimum(steps, 1)[np.argsort(order)])


MUTATIONS = {
    "unsmoothed": ("interval", unsmoothed),
    "wald": ("interval", wald),
    "holm": ("disparity", holm_of_normal),
}
NAMES = tuple(MUTATIONS)


def run_mutated(study, *, mutation=None, **options):
    """`run`, with a public function exchanged first."""
    if mutation is None:
        return run(study, **options)
    name, function = MUTATIONS[mutation]
    with mock.patch.object(tba, name, partial(function)):
        return run(study, **options)
