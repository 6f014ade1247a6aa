"""Shrunk scores of many small groups: `interval` with ``shrink=True``."""

from typing import NamedTuple

import numpy as np

import pandas_tba as tba

from .designs import draw_rows
from .findings import Rate, RateBar
from .names import SHRUNK
from .studies import Study


class Drawn(NamedTuple):
    """Groups whose recalls are drawn from a beta distribution around a mean."""

    sizes: tuple[int, ...]
    mean: float
    correlation: float

    @property
    def name(self):
        """As the table shows it."""
        rows = f"{len(self.sizes)} groups of {min(self.sizes)} to {max(self.sizes)}"
        return f"{rows}, mean {self.mean:g}, correlation {self.correlation:g}"


DRAWN = (
    Drawn((20,) * 40, 0.85, 0.02),
    Drawn(tuple(np.geomspace(5, 300, 100).astype(int).tolist()), 0.85, 0.05),
    Drawn((50,) * 10, 0.9, 0.02),
)


def measure_error(design, n_samples, generator):
    """Root mean square error of the shrunk accuracy in percent of that of the raw one."""
    spread, errors = 1 / design.correlation - 1, np.zeros(2)
    sizes = np.array([[n - n // 2, n // 2] for n in design.sizes])
    for _ in range(n_samples):
        recall = generator.beta(design.mean * spread, (1 - design.mean) * spread, len(sizes))
        cells = draw_rows(sizes, np.stack([recall, recall], axis=1), 1, generator)[0]
        counts = tba.ConfusionCounts.from_matrix(cells, groups=range(len(cells)))
        table = tba.interval(counts, t=1, shrink=True)
        errors += [np.nansum((table[name] - recall) ** 2) for name in (SHRUNK, "score")]
    ratio = np.sqrt(errors[0] / errors[1])
    n = n_samples * len(sizes)
    return {"error of shrunk scores, in % of that of raw ones": Rate(design.name, n, ratio * n)}


STUDIES = (
    Study("interval, shrink", "3 designs", DRAWN, measure_error, 300, RateBar("below 100", 0, 95)),
)
