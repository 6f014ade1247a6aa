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

    @property
    def missed(self):
        """Percent of samples whose low limit, and whose high limit, misses the truth."""
        return 100 * self.too_high / self.n, 100 * self.too_low / self.n


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
    sides: str = ""  # of limits: how their misses are divided
    is_known: bool = False  # does not hold, and is no worse than what is known to fall short


FAILS = "**no**"
NOTHING = Finding("", "no values", "", 0, holds=False)
TOLERANCE = 1e-9  # between a limit and the truth that it equals
NO_DIFFERENCE = 1e-6  # the truth is computed from whole rows


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


def rate_of(design, p_values):
    """How often a p-value that is defined is at most 0.05."""
    p_values = np.asarray(p_values, dtype=float)
    return Rate(design, int((~np.isnan(p_values)).sum()), int((p_values <= 0.05).sum()))


def deviation(percent, n):
    """Standard error of a percentage."""
    return math.sqrt(percent * (100 - percent) / max(n, 1))


class CoverageBar(NamedTuple):
    """Coverage in percent on average; in the worst cell, and misses of one side, where every class
    and denominator has five rows.

    Score limits lean to the middle: of a share near 1 the high limit misses more than the low one.
    Misses of one side above the first bars are said to be uneven; those above the second fail.
    """

    mean: tuple[float, float] = (94, 97.5)
    least: float = 88
    side_mean: float = 4
    side_most: float = 9
    uneven_mean: float = 5.5  # plain Wilson limits of recalls, npv: 5.3 and 10.3 in the designs
    uneven_most: float = 11
    has_sides: bool = True  # or what misses is no side
    # Where fewer samples than this share have five rows in every denominator they make no cell:
    # so rare a selection moves the coverage by itself.
    fewest: float = 0.5

    def judge(self, cells, slack):
        """Whether cells keep the bars, each moved by `slack` standard errors."""
        cells = [cell for cell in cells if cell.n]
        if not cells:
            return NOTHING
        inner = [self.inner(cell) for cell in cells]
        inner = [cell for cell in inner if cell.n]
        total, mean = sum(cell.n for cell in cells), np.mean([cell.covered for cell in cells])
        room = slack * deviation(95, total)
        missed = np.array([cell.missed for cell in inner]).reshape(-1, 2)
        means, most = (missed.mean(axis=0), missed.max(axis=0)) if inner else ([0, 0], [0, 0])
        sides = self.divided(inner, slack)
        holds = (
            self.mean[0] - room <= mean <= self.mean[1] + room
            and all(self.reaches(cell, slack) for cell in inner)
            and sides != FAILS
        )
        worst = min(inner, key=lambda cell: cell.covered, default=None)
        return Finding(
            "95",
            f"{mean:.1f} (misses {means[0]:.1f}/{means[1]:.1f})",
            f"{worst.covered:.1f} (misses {most[0]:.1f}/{most[1]:.1f}): {worst.design}"
            if worst
            else "",
            total,
            bool(holds),
            sides,
        )

    def inner(self, cell):
        """The samples of a cell with five rows in every denominator; none where they are rare."""
        if cell.solid is None or cell.solid.n > self.fewest * cell.n:
            return cell.solid or cell
        return cell.solid._replace(n=0)

    def reaches(self, cell, slack):
        """Whether one cell is covered as often as it must be."""
        return cell.covered >= self.least - slack * deviation(self.least, cell.n)

    def divided(self, cells, slack):
        """Whether both sides miss about as often, by the word that the table shows."""
        if not cells or not self.has_sides:
            return ""
        n, means = sum(cell.n for cell in cells), np.mean([cell.missed for cell in cells], axis=0)
        for word, mean, most in (
            ("even", self.side_mean, self.side_most),
            ("uneven", self.uneven_mean, self.uneven_most),
        ):
            if max(means) <= mean + slack * deviation(mean, n) and all(
                max(cell.missed) <= most + slack * deviation(most, cell.n) for cell in cells
            ):
                return word
        return FAILS


class RateBar(NamedTuple):
    """A rate in percent: on average between two bounds, in no cell above the upper one."""

    nominal: str
    mean_least: float
    most: float

    def judge(self, cells, slack):
        """Whether cells keep the bars, each moved by `slack` standard errors."""
        cells = [cell for cell in cells if cell.n]
        if not cells:
            return NOTHING
        total = sum(cell.n for cell in cells)
        mean = np.mean([cell.percent for cell in cells])
        worst = max(cells, key=lambda cell: cell.percent)
        holds = mean >= self.mean_least - slack * deviation(self.mean_least, total) and all(
            cell.percent <= self.most + slack * deviation(self.most, cell.n) for cell in cells
        )
        found = f"{worst.percent:.1f}: {worst.design}"
        return Finding(self.nominal, f"{mean:.1f}", found, total, bool(holds))


SMOOTH = CoverageBar()
EXTREME = CoverageBar(mean=(94, 100))
SIZE = RateBar("5", 2, 6.5)
FAMILY = RateBar("at most 5", 0, 6.5)
VERDICT = RateBar("at most 2.5", 0, 3.5)
