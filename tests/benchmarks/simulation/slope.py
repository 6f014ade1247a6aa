"""What `diagnose` reads where all recalls are equal, and limits of the slope."""

import pandas_tba as tba

from .designs import as_groups, classes, draw, expected
from .findings import FAMILY, SMOOTH, Rate, judge_limits
from .studies import Study

EQUAL = tuple(
    classes(sizes, (recall,) * len(sizes))
    for sizes, recall in (
        ((400, 25), 0.98),
        ((2000, 40), 0.99),
        ((475, 25), 0.98),
        ((160, 40), 0.99),
        ((40, 20), 0.9),
        ((60, 30, 10), 0.95),
        ((200, 100, 50, 30, 20), 0.97),
        ((20,) * 10, 0.9),
    )
)
UNEQUAL = (
    classes((475, 25), (0.97, 0.8)),
    classes((980, 20), (0.99, 0.9)),
    classes((90, 10), (0.8, 0.95)),
    classes((160, 40), (0.95, 0.8)),
    classes((300, 60, 20), (0.95, 0.8, 0.6)),
    classes((60, 30, 10), (0.7, 0.8, 0.9)),
)


def measure_slope(design, n_samples, generator):
    """Limits of the slope, and readings that call one side weak."""
    table = tba.diagnose(as_groups(draw(design, n_samples, generator)), t=0.5)
    truth = tba.metrics(as_groups(expected(design.cells)[None]), metrics="tba_slope", t=0.5)
    limits = table.rename(columns={"score": "of", "slope": "score"})
    limits = limits.rename(columns={"slope_low": "low", "slope_high": "high"})
    weak = int(table["reading"].str.startswith("weaker").sum())
    return {
        "limits of the slope": judge_limits(design.name, limits, truth["tba_slope"].iloc[0]),
        "reads one side as weak": Rate(design.name, n_samples, weak),
    }


def measure_limits(design, n_samples, generator):
    """Limits of the slope alone, where one side is weak indeed."""
    found = measure_slope(design, n_samples, generator)
    return {"limits of the slope": found["limits of the slope"]}


AT_LEAST = SMOOTH._replace(mean=(94, 100))  # of second order where class sizes are equal

STUDIES = (
    Study("diagnose", "8 designs of equal recalls", EQUAL, measure_slope, 4_000, FAMILY,
          {"limits of the slope": AT_LEAST}, short=1_000),
    Study("diagnose", "6 designs of unequal recalls", UNEQUAL, measure_limits, 4_000, AT_LEAST),
)  # fmt: skip
