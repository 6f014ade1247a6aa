"""Where limits hold least: two classes of given sizes, over all recalls, exact instead of drawn."""

from functools import partial

import numpy as np
from scipy import stats

import pandas_tba as tba

from .designs import as_groups
from .findings import TOLERANCE, CoverageBar, Limits
from .studies import Study

FEW = ((95, 3), (1000, 3), (95, 4), (95, 5), (1000, 5))
TEN_OR_MORE = ((10, 10), (90, 10), (1000, 10), (20, 20), (180, 20), (50, 50))
EXPONENTS = [-1.0, -0.75, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0]
RECALLS = np.array([*np.arange(0.3, 0.99, 0.01), *np.arange(0.99, 0.9999, 0.001)])
EXACT = 1_000_000  # as if so many samples


def every_sample(sizes):
    """Cells (N, 2, 2) of every sample that these sizes allow."""
    hits = np.stack(np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij"), axis=-1)
    (first, second), (zero, one) = hits.reshape(-1, 2).T, sizes
    return np.stack([first, zero - first, one - second, second], axis=1).reshape(-1, 2, 2)


def misses(low, high, sizes, weights):
    """Probability (2, R, R) that the low limit, and the high one, misses the truth, by recalls."""
    chances = [stats.binom.pmf(np.arange(n + 1), n, RECALLS[:, None]) for n in sizes]
    found = np.empty((2, len(RECALLS), len(RECALLS)))
    for position, (recall, chance) in enumerate(zip(RECALLS, chances[0], strict=True)):
        truth = (weights[0] * recall + weights[1] * RECALLS)[:, None]
        for side, missed in enumerate((low > truth + TOLERANCE, high < truth - TOLERANCE)):
            by_hits = missed.reshape(len(RECALLS), sizes[0] + 1, -1)
            found[side, position] = ((chance @ by_hits) * chances[1]).sum(axis=1)
    return found


def measure_worst(sizes, n_samples, generator, *, method):
    """The recalls and the exponent at which limits hold least."""
    prevalence = dict(enumerate(sizes))
    counts = as_groups(every_sample(sizes))
    table = tba.interval(counts, t=EXPONENTS, prevalence=prevalence, method=method)
    cells = []
    for t, part in table.groupby(level="t"):
        weights = np.array(sizes, dtype=float) ** t
        found = misses(
            part["low"].to_numpy(), part["high"].to_numpy(), sizes, weights / weights.sum()
        )
        at = np.unravel_index(found.sum(axis=0).argmax(), found.shape[1:])
        where = "/".join(f"{RECALLS[place]:.3g}" for place in at)
        name = f"{sizes[0]}/{sizes[1]}, recalls {where}, t = {t:g}"
        cells.append(Limits(name, EXACT, *np.rint(found[:, *at] * EXACT).astype(int).tolist(), 0))
    return {"tba, the worst recalls": min(cells, key=lambda cell: cell.covered)}


def at_least(percent):
    """A bar for the worst cell only."""
    return CoverageBar((0, 100), percent, has_sides=False)


STUDIES = tuple(
    Study(f"interval, {method}", f"searched, two classes, {what} rows or more", sizes,
          partial(measure_worst, method=method), EXACT, at_least(percent))
    for method, what, sizes, percent in (
        ("wilson", "3", FEW, 75.5),
        ("wilson", "10", TEN_OR_MORE, 83.5),
        ("conservative", "3", FEW, 82.5),
        ("conservative", "10", TEN_OR_MORE, 89.5),
    )
)  # fmt: skip
