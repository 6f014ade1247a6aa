"""Two models on the same rows: `compare`."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import pandas_tba as tba

from .designs import against_rest, as_groups, expected
from .findings import FAMILY, NO_DIFFERENCE, SIZE, SMOOTH, Rate, RateBar, judge_limits, rate_of
from .names import P_EQUAL_RECALLS, P_EQUIVALENT, P_NO_DIFFERENCE, P_NOT_INFERIOR
from .studies import Study

EXPONENTS = [-0.5, 0.0, 0.5, 1.0]
OVERALL = ["accuracy", "balanced_accuracy", "tba", "f1_macro", "precision_macro", "mcc",
           "cohen_kappa", "g_mean"]  # fmt: skip
ONE_CLASS = ["recall", "specificity", "precision", "f1", "jaccard", "informedness", "markedness",
             "selection_rate"]  # fmt: skip


class Pair(NamedTuple):
    """Rows, class shares, recalls of both models, and the correlation of being right."""

    n: int
    shares: tuple[float, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    correlation: float

    @property
    def name(self):
        """As the table shows it."""
        texts = ("/".join(f"{x:g}" for x in part[:3]) for part in (self.first, self.second))
        return f"K={len(self.shares)} n={self.n} {' vs '.join(texts)} r={self.correlation:g}"

    @property
    def cells(self):
        """Probability (K, K, K) of true class, first and second prediction."""
        a, b = np.array(self.first), np.array(self.second)
        bound = np.minimum(a, b) - a * b
        both = a * b + np.minimum(self.correlation * np.sqrt(a * (1 - a) * b * (1 - b)), bound)
        n_classes, found = len(a), np.zeros((len(a),) * 3)
        for k in range(n_classes):
            right = np.eye(n_classes)[k]
            wrong = (1 - right) / (n_classes - 1)
            found[k] = both[k] * np.outer(right, right) + (a - both)[k] * np.outer(right, wrong)
            found[k] += (b - both)[k] * np.outer(wrong, right)
            found[k] += (1 - a - b + both)[k] * np.outer(wrong, wrong)
        return found * np.array(self.shares)[:, None, None]


NINE = (
    Pair(50, (0.5, 0.5), (0.8, 0.8), (0.7, 0.9), 0.3),
    Pair(100, (0.7, 0.3), (0.9, 0.85), (0.8, 0.9), 0.4),
    Pair(200, (0.8, 0.2), (0.95, 0.9), (0.93, 0.8), 0.5),
    Pair(500, (0.9, 0.1), (0.97, 0.8), (0.95, 0.7), 0.6),
    Pair(500, (0.95, 0.05), (0.98, 0.9), (0.97, 0.95), 0.3),
    Pair(100, (0.5, 0.5), (0.9, 0.9), (0.9, 0.9), 0.0),
    Pair(150, (0.6, 0.3, 0.1), (0.9, 0.8, 0.7), (0.85, 0.85, 0.7), 0.4),
    Pair(300, (0.4, 0.3, 0.3), (0.8, 0.8, 0.8), (0.7, 0.8, 0.9), 0.2),
    Pair(500, (0.8, 0.15, 0.05), (0.95, 0.9, 0.8), (0.96, 0.8, 0.8), 0.5),
)
# Models that differ and yet tie in a metric, or have equal recalls.
TIES = (
    Pair(60, (0.5, 0.5), (0.9, 0.7), (0.7, 0.9), 0.0),
    Pair(200, (0.5, 0.5), (0.9, 0.7), (0.7, 0.9), 0.3),
    Pair(500, (0.5, 0.5), (0.95, 0.8), (0.8, 0.95), 0.3),
    Pair(200, (0.8, 0.2), (0.9, 0.8), (0.9, 0.8), 0.3),
    Pair(500, (0.9, 0.1), (0.9, 0.7), (0.9, 0.7), 0.5),
    Pair(300, (0.4, 0.4, 0.2), (0.9, 0.8, 0.7), (0.8, 0.9, 0.7), 0.2),
)
# Each discordant row is a fair coin.
EQUAL = (
    Pair(100, (0.95, 0.05), (0.95, 0.75), (0.95, 0.75), 0.4),
    Pair(100, (0.5, 0.5), (0.85, 0.85), (0.85, 0.85), 0.2),
    Pair(100, (0.8, 0.15, 0.05), (0.9, 0.85, 0.7), (0.9, 0.85, 0.7), 0.3),
    Pair(500, (0.95, 0.05), (0.95, 0.75), (0.95, 0.75), 0.4),
    Pair(1000, (0.95, 0.05), (0.98, 0.85), (0.98, 0.85), 0.4),
)
MANY_CLASSES = (
    Pair(200, (0.1,) * 10, (0.8,) * 10, (0.7,) * 10, 0.3),
    Pair(400, (0.05,) * 20, (0.8,) * 20, (0.7,) * 20, 0.3),
)


def as_frame(cells, *, one_class=False):
    """Rows of samples (S, K, K, K); for one class, the last one against all others."""
    codes = np.nonzero(cells)
    frame = pd.DataFrame(dict(zip(("sample", "y_true", "a", "b"), codes, strict=True)))
    if one_class:
        last = cells.shape[-1] - 1
        frame[["y_true", "a", "b"]] = (frame[["y_true", "a", "b"]] == last).astype(int)
    return frame.loc[frame.index.repeat(cells[codes])]


def draw_cells(design, n_samples, generator):
    """Joint cells (S, K, K, K) of samples."""
    cells = design.cells
    return generator.multinomial(design.n, cells.reshape(-1), n_samples).reshape(-1, *cells.shape)


def ask(cells, names, *, one_class=False, **options):
    """What compare says of each sample, by metric, or by exponent without metrics."""
    frame = as_frame(cells, one_class=one_class)
    pos_label = 1 if one_class or cells.shape[-1] == 2 else None
    pairs = tba.count_pairs(frame, y_pred=["a", "b"], by="sample", pos_label=pos_label)
    if names is None:
        table = tba.compare(pairs, t=EXPONENTS, **options)
        return {f"tba, t = {t:g}": part for t, part in table.groupby(level="t")}
    table = tba.compare(pairs, metrics=names, **options)
    return dict(iter(table.groupby(level="metric")))


def truths(design, names, *, one_class=False):
    """True differences, from the scores of either model."""
    cells = expected(design.cells)
    both = np.stack([cells.sum(axis=2), cells.sum(axis=1)])
    counts = as_groups(against_rest(both) if one_class else both)
    if names is None:
        scores = tba.score(counts, t=EXPONENTS)
        return {f"tba, t = {t:g}": scores[t].iloc[0] - scores[t].iloc[1] for t in EXPONENTS}
    values = tba.metrics(counts, metrics=names)
    return {name: values[name].iloc[0] - values[name].iloc[1] for name in names}


def questions(*, metrics):
    """Names of metrics and whether they are of one class."""
    return ((OVERALL, False), (ONE_CLASS, True)) if metrics else ((None, False),)


def measure_limits(design, n_samples, generator, *, metrics=True):
    """Limits of differences."""
    cells, found = draw_cells(design, n_samples, generator), {}
    for names, one_class in questions(metrics=metrics):
        true = truths(design, names, one_class=one_class)
        for name, table in ask(cells, names, one_class=one_class).items():
            limits = table.assign(score=table["difference"])
            found[name] = judge_limits(design.name, limits, true[name])
    return found


def measure_ties(design, n_samples, generator):
    """How often a difference of 0 is found, in metrics that tie; p and limits that disagree."""
    cells, found, n_asked, n_apart = draw_cells(design, n_samples, generator), {}, 0, 0
    for names, one_class in questions(metrics=True):
        true = truths(design, names, one_class=one_class)
        for name, table in ask(cells, names, one_class=one_class).items():
            excludes = (table["low"] > 0) | (table["high"] < 0)
            n_apart += int((excludes != (table[P_NO_DIFFERENCE] < 0.05)).sum())
            n_asked += len(table)
            if abs(true[name]) < NO_DIFFERENCE:
                found[f"p of a difference of 0, {name}"] = rate_of(
                    design.name, table[P_NO_DIFFERENCE]
                )
    return found | {DISAGREE: Rate(design.name, n_asked, n_apart)}


def measure_equal(design, n_samples, generator):
    """How often the exact test finds a difference between equal recalls."""
    tables = ask(draw_cells(design, n_samples, generator), None)
    return {
        f"p of equal recalls, {name}": rate_of(design.name, table[P_EQUAL_RECALLS])
        for name, table in tables.items()
    }


def measure_margin(design, n_samples, generator):
    """Non-inferiority and equivalence where the first model is worse by just the margin."""
    cells, true = draw_cells(design, n_samples, generator), truths(design, ["accuracy"])["accuracy"]
    table = ask(cells, ["accuracy"], margin=abs(true))["accuracy"]
    return {
        "not inferior at the margin": rate_of(design.name, table[P_NOT_INFERIOR]),
        "equivalent at the margin": rate_of(design.name, table[P_EQUIVALENT]),
    }


DISAGREE = "p and limits disagree, any metric"
AT_MARGIN = tuple(
    Pair(n, shares, first, second, 0.3)
    for n, shares, first, second in (
        (200, (0.7, 0.3), (0.85, 0.75), (0.9, 0.8)),
        (500, (0.9, 0.1), (0.9, 0.7), (0.95, 0.75)),
        (1000, (0.5, 0.5), (0.88, 0.9), (0.9, 0.92)),
    )
)

STUDIES = (
    Study("compare", "9 designs", NINE, partial(measure_limits, metrics=False), 3_000, SMOOTH,
          short=500),
    Study("compare, metrics", "9 designs", NINE, measure_limits, 3_000, SMOOTH, short=500),
    Study("compare, metrics", "6 designs of ties", TIES, measure_ties, 3_000, SIZE,
          {DISAGREE: RateBar("0", 0, 0)}, short=500),
    Study("compare", "5 designs of equal recalls", EQUAL, measure_equal, 3_000, SIZE, short=500),
    Study("compare", "10 and 20 classes", MANY_CLASSES,
          partial(measure_limits, metrics=False), 2_000, SMOOTH),
    Study("compare, margin", "3 designs at the margin", AT_MARGIN, measure_margin, 3_000, FAMILY),
)  # fmt: skip
