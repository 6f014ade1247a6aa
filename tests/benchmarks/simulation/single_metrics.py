"""Limits of one metric of one sample: `interval`."""

from functools import partial

import numpy as np

import pandas_tba as tba

from .designs import (
    AUDITED,
    THIRTEEN,
    against_rest,
    as_groups,
    draw,
    expected,
    is_solid,
    random_designs,
)
from .findings import EXTREME, SMOOTH, judge_limits
from .studies import Study

EXPONENTS = [-1.0, -0.5, 0.0, 0.5, 1.0]


def fowlkes_mallows(hits, support, predicted, total):
    """A metric of a user: the geometric mean of precision and recall."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return hits / np.sqrt(support * predicted)


OWN = tba.Metric("fowlkes_mallows", "class", fowlkes_mallows)
OVERALL = [m.name for m in tba.METRICS if m.kind == "overall" and m.name != "tba"]
ONE_CLASS = [*(m.name for m in tba.METRICS if m.kind == "class"), tba.f_beta(2), OWN]


def limits_of_tba(cells, **options):
    """Tables of score, low and high by exponent."""
    table = tba.interval(as_groups(cells), t=EXPONENTS, **options)
    return {f"tba, t = {t:g}": part for t, part in table.groupby(level="t")}


def limits_of(names, cells):
    """Tables of score, low and high by metric."""
    return dict(iter(tba.interval(as_groups(cells), metrics=names).groupby(level="metric")))


def truth_of_tba(cells):
    """The true scores by exponent."""
    scores = tba.score(as_groups(expected(cells)[None]), t=EXPONENTS)
    return {f"tba, t = {t:g}": scores[t].iloc[0] for t in EXPONENTS}


def truth_of(names, cells):
    """The true values by metric."""
    return tba.metrics(as_groups(expected(cells)[None]), metrics=names).iloc[0]


def measure_all(design, n_samples, generator):
    """Every metric on the same samples; those of one class take the last class against the rest."""
    samples, found = draw(design, n_samples, generator), {}
    for part, limits, truth in (
        (np.asarray, limits_of_tba, truth_of_tba),
        (np.asarray, partial(limits_of, OVERALL), partial(truth_of, OVERALL)),
        (against_rest, partial(limits_of, ONE_CLASS), partial(truth_of, ONE_CLASS)),
    ):
        cells, truths = part(samples), truth(part(design.cells))
        for name, table in limits(cells).items():
            found[name] = judge_limits(design.name, table, truths[name], is_solid(cells))
    return found


def measure_tba(design, n_samples, generator, *, is_fixed=False, **options):
    """Tempered balanced accuracy only; fixed class sizes come with given prevalence."""
    cells = draw(design, n_samples, generator, is_fixed=is_fixed)
    if is_fixed:
        options["prevalence"] = dict(enumerate(cells[0].sum(axis=1)))
    tables, truths = limits_of_tba(cells, **options), truth_of_tba(design.cells)
    return {
        name: judge_limits(design.name, table, truths[name], is_solid(cells))
        for name, table in tables.items()
    }


NOT_SMOOTH = {"min_recall": EXTREME, "majority": EXTREME}
# Where rare classes weigh most and their sizes are given, little averages out: 93.9 % in 520,000.
GIVEN = {"tba, t = -1": SMOOTH._replace(mean=(93.5, 97.5))}
TO_THREE = THIRTEEN[:12]  # mover is for up to five classes

STUDIES = (
    Study("interval", "13 designs", THIRTEEN, measure_all, 10_000, SMOOTH, NOT_SMOOTH, short=600),
    Study("interval", "60 random designs", random_designs(), measure_all, 2_000, SMOOTH,
          NOT_SMOOTH),
    Study("interval", "recalls near 1 and ties", AUDITED, measure_all, 10_000, SMOOTH, NOT_SMOOTH,
          short=600),
    Study("interval, class sizes and prevalence given", "13 designs", THIRTEEN,
          partial(measure_tba, is_fixed=True), 10_000, SMOOTH, known=GIVEN),
    Study("interval, conservative", "13 designs", THIRTEEN,
          partial(measure_tba, method="conservative"), 10_000, EXTREME),
    Study("interval, mover", "12 designs of two or three classes", TO_THREE,
          partial(measure_tba, method="mover"), 10_000, SMOOTH),
)  # fmt: skip
