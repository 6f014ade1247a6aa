"""Rows that depend on each other: `cluster=`."""

import warnings
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import pandas_tba as tba

from .findings import FAMILY, SIZE, CoverageBar, Rate, RateBar, judge_limits, rate_of
from .groups import false_alarms
from .names import CLUSTERS, P_NO_DIFFERENCE
from .studies import Study

METRICS = ["accuracy", "balanced_accuracy", "tba", "f1", "mcc", "precision", "recall"]


class Clustered(NamedTuple):
    """Clusters of rows whose recalls vary between clusters by a beta distribution."""

    n_clusters: int
    correlation: float  # within a cluster, of being right
    is_mixed: bool  # classes are mixed in a cluster, else it has one class
    prevalence: float
    recalls: tuple[float, float] = (0.9, 0.8)
    size: int = 10

    @property
    def name(self):
        """As the table shows it."""
        kind = "mixed" if self.is_mixed else "of one class"
        rows = f"{self.n_clusters} of {self.size} rows {kind}"
        return f"{rows}, ICC {self.correlation:g}, prevalence {self.prevalence:g}"


def designs(n_clusters):
    """All designs of so many clusters."""
    return tuple(
        Clustered(n_clusters, correlation, is_mixed, prevalence)
        for correlation in (0.0, 0.1, 0.3)
        for is_mixed in (True, False)
        for prevalence in (0.5, 0.2)
    )


def frame_of(design, n_samples, generator, *, n_models=1):
    """Rows of samples; models are right apart from each other, given their cluster's recalls."""
    shape = (n_samples, design.n_clusters, design.size)
    of_cluster = shape if design.is_mixed else (*shape[:2], 1)
    true = np.broadcast_to(generator.random(of_cluster) < design.prevalence, shape).astype(int)
    columns = {"y_true": true.reshape(-1)}
    for model in range(n_models):
        recalls = np.array(design.recalls)[:, None, None]
        if design.correlation:
            spread = 1 / design.correlation - 1
            recalls = generator.beta(recalls * spread, (1 - recalls) * spread, (2, *shape[:2]))
        recalls = np.broadcast_to(recalls, (2, *shape[:2]))[..., None]
        right = generator.random(shape) < np.where(true == 1, recalls[1], recalls[0])
        columns["ab"[model]] = np.where(right, true, 1 - true).reshape(-1)
    frame = pd.DataFrame(columns)
    frame["sample"] = np.repeat(np.arange(n_samples), shape[1] * shape[2])
    frame["cluster"] = np.tile(np.repeat(np.arange(shape[1]), shape[2]), n_samples)
    return frame


def truths(design):
    """True values of all metrics."""
    shares = np.array([[1 - design.prevalence], [design.prevalence]])
    (zero, one) = design.recalls
    cells = np.rint(shares * [[zero, 1 - zero], [1 - one, one]] * 1e8).astype(int)
    return tba.metrics(tba.ConfusionCounts.from_matrix(cells, pos_label=1), t=0.5).iloc[0]


def count(frame, by):
    """Counts that know their clusters."""
    options = {CLUSTERS: "cluster"}
    return tba.count(frame, y_pred="a", by=by, labels=[0, 1], pos_label=1, **options)


def measure_limits(design, n_samples, generator):
    """Limits of clustered rows, and whether few clusters are warned of."""
    counts, true = count(frame_of(design, n_samples, generator), "sample"), truths(design)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", tba.InputWarning)
        table = tba.interval(counts, metrics=METRICS)
    found = {
        name: judge_limits(design.name, part, true[name])
        for name, part in table.groupby(level="metric")
    }
    if design.n_clusters < 40:
        warned = any("cluster" in str(one.message) for one in caught)
        found["warns of few clusters"] = Rate(design.name, 1, int(not warned))
    return found


def measure_pairs(design, n_samples, generator):
    """How often a difference is found between two models that are equally good."""
    frame = frame_of(design, n_samples, generator, n_models=2)
    pairs = tba.count_pairs(
        frame, y_pred=["a", "b"], by="sample", pos_label=1, **{CLUSTERS: "cluster"}
    )
    table = tba.compare(pairs, metrics=["accuracy", "f1", "mcc"])
    return {
        f"p of a difference of 0, {name}": rate_of(design.name, part[P_NO_DIFFERENCE])
        for name, part in table.groupby(level="metric")
    }


def measure_family(design, n_samples, generator, *, is_nested):
    """False alarms among five equal groups, within clusters or across them; one call a sample."""
    frame = frame_of(design, n_samples, generator)
    frame["group"] = frame["cluster"] % 5 if is_nested else generator.integers(0, 5, len(frame))
    counts = [count(sample, "group") for _, sample in frame.groupby("sample")]
    gaps = [tba.gap(one, t=0.5, n_replicates=1_000, generator=generator) for one in counts]
    return {
        **false_alarms(design.name, [tba.disparity(one, t=0.5) for one in counts]),
        "p of the gap at equality": rate_of(design.name, pd.concat(gaps)["p_value"]),
    }


FEW = CoverageBar(mean=(88, 100), least=88, side_mean=100, side_most=100)
MANY = FEW._replace(mean=(90, 100), least=90)
SOME = (Clustered(100, 0.3, is_mixed=True, prevalence=0.3), Clustered(100, 0.1, True, 0.3))
WARNS = {"warns of few clusters": RateBar("never silent", 0, 0)}

BARS = {"false alarm of a row (p)": SIZE, "p of the gap at equality": SIZE}

STUDIES = (
    *(
        Study(f"interval, {n} clusters", "12 designs", designs(n), measure_limits, 2_000,
              MANY if n >= 40 else FEW, WARNS, short * 150, designs(n)[8:])
        for n, short in ((20, 0), (40, 1), (100, 0))
    ),
    Study("compare, clusters", "2 designs", SOME, measure_pairs, 2_000, SIZE),
    *(
        Study(f"disparity, clusters, groups {where} them", "5 equal groups, 2 designs", SOME,
              partial(measure_family, is_nested=where == "within"), 400, FAMILY,
              BARS)
        for where in ("within", "across")
    ),
)  # fmt: skip
