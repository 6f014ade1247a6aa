"""Groups that are equal but for chance: draws given the totals, and what they say of differences.

Under equality every class has one recall in all groups. Given how many rows each group has of a class,
and how many hits the class has in all, the hits of the groups then are multivariate hypergeometric:
a lottery of the hits among the rows, whatever the recall is. All that is tested here is linear in the
hits, so its standard deviation under equality is known. Arrays in, p-values out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pandas_tba.inference.intervals import check_replicates, generator_of
from pandas_tba.scoring.tempering import ratio

FloatArray = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

SEED = 0  # of whoever names no generator: one question has one answer
_DRAWS, _FEWEST_DRAWS = 2000, 200
_MOST_CELLS = 40_000_000  # drawn unless told otherwise: some seconds
_AT_A_TIME = 32  # replicates; draws depend on it, so it is the same for all tables
_ROWS_FOR_A_GROUP = 10  # as long as it takes to draw a group from its hypergeometric distribution
_TIE = 1e-9  # values this close are equal but for rounding


@dataclass(frozen=True, eq=False)
class Contrasts:
    """Sums over classes of coefficient times (hits less those expected), S rows by T columns of them.

    ``hits`` and ``support`` (G, K) are those of the groups that are drawn; ``members`` (S, G), a sparse
    matrix of zeros and ones, says which of them a row holds, None where each is one row.
    ``coefficients`` are (S, T, K), NaN where there is no comparison.
    """

    hits: FloatArray
    support: FloatArray
    coefficients: FloatArray
    members: Any = None

    @cached_property
    def scaled(self) -> FloatArray:
        """Coefficients over the standard deviation under equality; 0 where that is 0."""
        rows, total = self.summed(self.support), self.support.sum(axis=0)
        recall = self._recall()
        # variance of a hypergeometric number of hits
        variance = rows * (total - rows) / np.maximum(total - 1.0, 1.0) * recall * (1.0 - recall)
        deviation = np.sqrt((self.coefficients**2 * variance[:, None]).sum(axis=2, keepdims=True))
        found = np.where(deviation > 0, ratio(self.coefficients, deviation), 0.0)
        return np.where(np.isnan(deviation), np.nan, found)

    def _recall(self) -> FloatArray:
        """Recall (K,) of all groups together; 0 without rows."""
        return np.asarray(self.hits.sum(axis=0) / np.maximum(self.support.sum(axis=0), 1.0))

    def summed(self, by_group: npt.NDArray[np.number]) -> FloatArray:
        """Values (G, ...) summed over the groups of each row, (S, ...)."""
        return np.asarray(by_group if self.members is None else self.members @ by_group)

    def distances(self, hits: npt.NDArray[np.number]) -> FloatArray:
        """Standard deviations (b, S * T) from what is expected, for hits (K, G, b)."""
        expected = self.summed(self.support) * self._recall()
        found = -(self.scaled * expected[:, None]).sum(axis=2)[:, :, None]
        for k, of_class in enumerate(hits):
            found = found + self.scaled[:, :, k, None] * self.summed(of_class)[:, None]
        return np.abs(found.reshape(-1, hits.shape[2]).T)


def drawn_hits(
    hits: FloatArray, support: FloatArray, n_replicates: int, seed: int
) -> Iterator[Counts]:
    """Hits (K, G, b) of equal groups with these totals, some replicates at a time."""
    rows, totals = support.astype(np.int64), hits.sum(axis=0).astype(np.int64)
    streams = [np.random.default_rng([seed, k]) for k in range(rows.shape[1])]
    # many small groups are drawn faster row by row
    are_few = np.minimum(totals, rows.sum(axis=0) - totals) < _ROWS_FOR_A_GROUP * len(rows)
    for start in range(0, n_replicates, _AT_A_TIME):
        size = min(_AT_A_TIME, n_replicates - start)
        found = np.empty((rows.shape[1], len(rows), size), dtype=np.int64)
        for k, stream in enumerate(streams):
            found[k] = stream.multivariate_hypergeometric(
                rows[:, k], totals[k], size=size, method="count" if are_few[k] else "marginals"
            ).T
        yield found


def check_draws(n_replicates: object) -> None:
    """Raise InputError unless it is a number of draws, or None."""
    if n_replicates is not None:
        check_replicates(n_replicates)


def n_draws(n_replicates: int | None, n_cells: int) -> int:
    """Draws that were asked for, or 2,000, fewer where there are many cells to draw."""
    if n_replicates is not None:
        return n_replicates
    return int(np.clip(_MOST_CELLS // max(1, n_cells), _FEWEST_DRAWS, _DRAWS))


def seed_of(generator: object) -> int:
    """A seed for every draw of a question; without a generator the same for all questions."""
    if generator is None:
        return SEED
    checked = generator_of(generator)
    is_seed = checked is not generator
    return int(generator) if is_seed else int(checked.integers(1 << 62))  # type: ignore[call-overload]


def permutation_p_values(
    parts: list[Contrasts], n_replicates: int, seed: int
) -> tuple[FloatArray, FloatArray]:
    """P-values, and those adjusted for all rows of all parts; NaN where a row is not compared.

    A p-value is the mid-p among the draws, the table itself being one of them. The adjusted one compares
    each row with the largest of all rows that are not further out (step-down, Westfall and Young 1993,
    ISBN 0-471-55761-7). Parts are drawn with the same streams, so that a row has the same p-value in any
    table, and put together in another order: as if they were independent, which is the least favourable
    case of what may depend (Royen 2014, arXiv:1408.1028).
    """
    seen = np.concatenate([part.distances(part.hits.T[:, :, None])[0] for part in parts])
    order = np.argsort(-seen)[: int(np.isfinite(seen).sum())]  # NaN are sorted last
    value = seen[order]
    above, not_below, not_largest = np.zeros((3, len(order)))
    streams = [drawn_hits(part.hits, part.support, n_replicates, seed) for part in parts]
    shuffler = np.random.default_rng([seed, 1 << 32])
    for drawn in zip(*streams, strict=True):
        distances = [part.distances(hits) for part, hits in zip(parts, drawn, strict=True)]
        shuffled = [shuffler.permutation(other) for other in distances[1:]]
        together = np.concatenate([*distances[:1], *shuffled], axis=1)[:, order]
        above += (together > value + _TIE).sum(axis=0)
        not_below += (together >= value - _TIE).sum(axis=0)
        top = np.maximum.accumulate(together[:, ::-1], axis=1)[:, ::-1]
        not_largest += (top >= value - _TIE).sum(axis=0)
    found, adjusted = np.full((2, len(seen)), np.nan)
    found[order] = (above + (not_below - above + 1.0) / 2.0) / (n_replicates + 1)
    # without variance there is nothing to doubt
    cannot_vary = np.concatenate([(part.scaled == 0).all(axis=2).reshape(-1) for part in parts])
    found[cannot_vary] = 1.0
    step_down = np.maximum.accumulate((not_largest + 1.0) / (n_replicates + 1))
    adjusted[order] = np.maximum(step_down, found[order])
    return found, adjusted
