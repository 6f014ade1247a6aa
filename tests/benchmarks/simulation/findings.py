"""What a simulation found in each cell, and the bars that the cells of a line must keep."""

import math
from typing import NamedTuple

import numpy as np


class Limits(NamedTuple):
    """Samples of one design, and those whose limits miss the truth: too high, too low, or none."""

    design: str
    n: int
    too_high: int  # the low limit lies above the truth
    too_low: int  # the high limit lies below the truth
    without: int  # the value is defined and its limits are not
    solid: "Limits | None" = None  # the same among samples with five rows in every denominator

    @property
    def covered(self):
        """Percent of samples whose limits hold the truth."""
        return 100 * (1 - (self.too_high + self.too_low + self.without) / self.n)


class Rate(NamedTuple):
    """Samples of one design, and those in which something happened."""

    design: str
    n: int
    times: int

    @property
    def percent(self):
        """How often it happened."""
        return 100 * self.times / self.n


class Finding(NamedTuple):
    """A line of the table without its names."""

    nominal: str
    found: str
    worst: str
    n: int
    holds: bool


TOLERANCE = 1e-9


def judge_limits(design, table, truth, solid=None):
    """Limits against the truth, by the columns score, low and high; NaN scores are left out."""
    defined = ~np.isnan(table["score"].to_numpy(dtype=float))
    low, high = (table[name].to_numpy(dtype=float) for name in ("low", "high"))
    truth = np.broadcast_to(truth, low.shape)

    def tally(kept, inner=None):
        """Counts among some samples."""
        above, below = low > truth + TOLERANCE, high < truth - TOLERANCE
        none = np.isnan(low) | np.isnan(high)
        counts = (int((part & kept).sum()) for part in (above & ~none, below & ~none, none))
        return Limits(design, int(kept.sum()), *counts, inner)

    return tally(defined, tally(defined & solid) if solid is not None else None)


def deviation(percent, n):
    """Standard error of a percentage."""
    return math.sqrt(percent * (100 - percent) / max(n, 1))


class CoverageBar(NamedTuple):
    """Coverage in percent: on average, in the worst cell, and misses of one side."""

    mean: tuple[float, float] = (94, 97.5)
    least: float = 88
    side_mean: float = 4
    side_most: float = 9
    fewest: int = 100  # samples with five rows in every denominator that make a cell

    def judge(self, cells, slack):
        """Whether cells keep the bars, each moved by `slack` standard errors."""
        cells = [cell for cell in cells if cell.n]
        total = sum(cell.n for cell in cells)
        mean = np.mean([cell.covered for cell in cells])
        inner = [cell.solid if cell.solid is not None else cell for cell in cells]
        inner = [cell for cell in inner if cell.n >= min(self.fewest, total / len(cells))]
        sides = [
            [100 * getattr(cell, side) / cell.n for cell in group]
            for side in ("too_high", "too_low")
            for group in (cells, inner)
        ]
        worst = min(inner, key=lambda cell: cell.covered, default=None)
        room = slack * deviation(95, total)
        holds = (
            self.mean[0] - room <= mean <= self.mean[1] + room
            and all(
                cell.covered >= self.least - slack * deviation(self.least, cell.n)
                and 100 * max(cell.too_high, cell.too_low) / cell.n
                <= self.side_most + slack * deviation(self.side_most, cell.n)
                for cell in inner
            )
            and max(np.mean(sides[0]), np.mean(sides[2]))
            <= self.side_mean + slack * deviation(self.side_mean, total)
        )
        means = f"{np.mean(sides[0]):.1f}/{np.mean(sides[2]):.1f}"
        most = f"{max(sides[1], default=0):.1f}/{max(sides[3], default=0):.1f}"
        return Finding(
            "95",
            f"{mean:.1f} (misses {means})",
            f"{worst.covered:.1f} at {worst.design} (misses up to {most})" if worst else "",
            total,
            bool(holds),
        )


class RateBar(NamedTuple):
    """A rate in percent: on average between two bounds, in no cell above the upper one."""

    nominal: str
    mean_least: float
    most: float

    def judge(self, cells, slack):
        """Whether cells keep the bars, each moved by `slack` standard errors."""
        cells = [cell for cell in cells if cell.n]
        total = sum(cell.n for cell in cells)
        mean = np.mean([cell.percent for cell in cells])
        worst = max(cells, key=lambda cell: cell.percent)
        holds = mean >= self.mean_least - slack * deviation(self.mean_least, total) and all(
            cell.percent <= self.most + slack * deviation(self.most, cell.n) for cell in cells
        )
        found = f"{worst.percent:.1f} at {worst.design}"
        return Finding(self.nominal, f"{mean:.1f}", found, total, bool(holds))


SMOOTH = CoverageBar()
EXTREME = CoverageBar(mean=(94, 100))
SIZE = RateBar("5", 2, 6.5)
FAMILY = RateBar("at most 5", 0, 6.5)
VERDICT = RateBar("at most 2.5", 0, 3.5)
