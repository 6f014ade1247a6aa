"""A study: designs, how each is simulated, and the bars that what is found must keep."""

import time
import traceback
import warnings
import zlib
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .findings import CoverageBar, Finding, RateBar

SEED = 20_250_601
SLACK = 3.0  # standard errors that bars are moved by where there are fewer samples


class Study(NamedTuple):
    """Simulated as ``measure(design, n_samples, generator)``: cells by the name of their line."""

    name: str
    population: str  # the designs in a few words
    designs: tuple[Any, ...]
    measure: Callable[..., dict[str, Any]]
    samples: int
    bar: CoverageBar | RateBar
    bars: dict[str, CoverageBar | RateBar] | None = None  # of lines that have others
    short: int = 0  # samples of the short version, which leaves the study out at 0
    short_designs: tuple[Any, ...] | None = None
    known: dict[str, CoverageBar | RateBar] | None = None  # of lines that are known to fall short

    def judge(self, what, cells, slack):
        """What was found on one line; one that is known to fall short must be no worse."""
        finding = (self.bars or {}).get(what, self.bar).judge(cells, slack)
        if finding.holds or what not in (self.known or {}):
            return finding
        return finding._replace(is_known=self.known[what].judge(cells, slack).holds)


class Line(NamedTuple):
    """One line of the table."""

    study: str
    what: str
    population: str
    finding: Finding


def seeded(study, position):
    """A source of draws of its own for each design, whatever else runs."""
    return np.random.default_rng(
        [SEED, zlib.crc32(f"{study.name}, {study.population}".encode()), position]
    )


def run(study, *, is_short=False, share=1.0):
    """Lines of one study; one that breaks is a line that does not hold."""
    designs, population = study.designs, study.population
    if is_short and study.short_designs:
        designs, population = study.short_designs, f"{len(study.short_designs)} of {population}"
    n_samples = max(round((study.short if is_short else study.samples) * share), 10)
    cells, start = defaultdict(list), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for position, design in enumerate(designs):
                found = study.measure(design, n_samples, seeded(study, position))
                for what, cell in found.items():
                    cells[what].append(cell)
    except Exception as error:  # noqa: BLE001 - the table says what is not offered or broke
        where = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({where.name})".replace("\n", " ")
        finding = Finding("", text[:160], "", 0, holds=False)
        return [Line(study.name, "", population, finding)], time.perf_counter() - start
    slack = SLACK if is_short or share < 1 else 0.0
    lines = [
        Line(study.name, what, population, study.judge(what, of, slack))
        for what, of in cells.items()
    ]
    return lines, time.perf_counter() - start
