"""Hits and rows of groups by class, which add up and can be taken apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pandas_tba.scoring.tempering import ratio

FloatArray = npt.NDArray[np.float64]

_NOISE = 1e-12  # of sums of weights in another order


@dataclass(frozen=True)
class Sums:
    """Hits and rows of each class (G, K), or their weights, and then the squares of these too."""

    hits: FloatArray
    support: FloatArray
    squared: tuple[FloatArray, FloatArray] | None = None

    def parts(self) -> tuple[FloatArray, ...]:
        """All arrays, one after the other."""
        return self.hits, self.support, *(self.squared or ())

    @classmethod
    def of(cls, parts: list[FloatArray]) -> Sums:
        """The reverse of `parts`."""
        return cls(parts[0], parts[1], (parts[2], parts[3]) if len(parts) > 2 else None)

    def at(self, place: npt.NDArray[np.intp]) -> Sums:
        """Some of the groups; none, hence zero, where the place is -1."""
        nothing = np.zeros((1, self.hits.shape[1]))
        return Sums.of([np.concatenate([part, nothing])[place] for part in self.parts()])

    def totals(self, place: npt.NDArray[np.intp], n_groups: int) -> Sums:
        """Sums over the groups that share a place."""
        found = []
        for part in self.parts():
            total = np.zeros((n_groups, part.shape[1]))
            np.add.at(total, place, part)
            found.append(total)
        return Sums.of(found)

    def without(self, part: Sums) -> Sums:
        """What is left without a part; nothing where only the rounding of weights is left."""
        found = []
        for whole, less in zip(self.parts(), part.parts(), strict=True):
            left = whole - less
            found.append(np.where(left > _NOISE * whole, left, 0.0))
        found[0] = np.minimum(found[0], found[1])
        return Sums.of(found)

    def recall(self) -> FloatArray:
        """Recall of each class, NaN without rows."""
        return ratio(self.hits, self.support)
