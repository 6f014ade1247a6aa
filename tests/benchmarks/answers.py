"""Ratios of what is asked of counts: the metrics of a table, thresholds, replicates.

python tests/benchmarks/answers.py [--rounds 5] [--markdown]
"""

import argparse
import tracemalloc

import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame
from run import Row, printed, raced
from sklearn.metrics import balanced_accuracy_score, confusion_matrix_at_thresholds

import pandas_tba as tba
from pandas_tba.counts.groups import Groups
from pandas_tba.counts.storage import Cells
from pandas_tba.questions.score_columns import scored_rows
from pandas_tba.questions.thresholds import count_thresholds

EXPONENTS = np.linspace(-1, 1, 7)
MEANS = ["accuracy", "balanced_accuracy", "g_mean", "min_recall", "recall_macro",
         "precision_macro", "f1_macro", "precision_weighted", "f1_weighted", "mcc",
         "cohen_kappa", "tba_slope", "majority"]  # fmt: skip
TWENTY = [*MEANS, *(tba.tempered(t) for t in EXPONENTS)]


def counts_of(n_groups, n_labels):
    """Random counts; all groups and labels have rows."""
    cells = np.random.default_rng(0).integers(1, 50, (n_groups, n_labels, n_labels))
    known = tba.ConfusionCounts.from_matrix(cells[0]).label_set
    level = pd.RangeIndex(n_groups)
    groups = Groups(("g",), (level,), np.arange(n_groups)[:, None], (False,))
    return tba.ConfusionCounts(Cells(cells.shape, (cells,)), known, groups)


def naive(cells):
    """Twenty metrics, each from the cells as a textbook writes it."""
    cells = cells.astype(float)
    n = cells.sum(axis=(1, 2))

    def parts():
        hits = np.einsum("gll->gl", cells)
        return hits, cells.sum(axis=2), cells.sum(axis=1)

    def recall():
        hits, support, _ = parts()
        return hits / support

    def precision():
        hits, _, predicted = parts()
        return hits / predicted

    def f1():
        return 2 * recall() * precision() / (recall() + precision())

    def share():
        return parts()[1] / n[:, None]

    def weights(t):
        return share() ** t / (share() ** t).sum(axis=1, keepdims=True)

    def slope(t):
        logs = np.log(share())
        centred = logs - (weights(t) * logs).sum(axis=1, keepdims=True)
        return (weights(t) * centred * recall()).sum(axis=1)

    def agreement():
        hits, support, predicted = parts()
        return hits.sum(axis=1) / n, (support * predicted).sum(axis=1) / n**2

    def mcc():
        hits, support, predicted = parts()
        top = hits.sum(axis=1) * n - (support * predicted).sum(axis=1)
        return top / np.sqrt(
            (n**2 - (support**2).sum(axis=1)) * (n**2 - (predicted**2).sum(axis=1))
        )

    observed, expected = agreement()
    return [
        parts()[0].sum(axis=1) / n,
        recall().mean(axis=1),
        recall().prod(axis=1) ** (1 / cells.shape[1]),
        recall().min(axis=1),
        recall().mean(axis=1),
        precision().mean(axis=1),
        f1().mean(axis=1),
        (share() * precision()).sum(axis=1),
        (share() * f1()).sum(axis=1),
        mcc(),
        (observed - expected) / (1 - expected),
        slope(0.5),
        weights(0.5).max(axis=1),
        *((weights(t) * recall()).sum(axis=1) for t in EXPONENTS),
    ]


def metric_stage(options):
    """Twenty metrics of many groups, and of many labels, against the textbook's way."""
    for n_groups, n_labels, bar in ((100_000, 3, 3), (10, 1000, 10)):
        cells = counts_of(n_groups, n_labels).stored

        def ours(cells=cells, held=counts_of(n_groups, n_labels)):  # noqa: B008
            fresh = tba.ConfusionCounts(cells, held.label_set, held.key_groups)
            return tba.metrics(fresh, metrics=TWENTY)

        table = ours()[[getattr(metric, "name", metric) for metric in TWENTY]]
        with np.errstate(under="ignore"):
            expected = np.stack(naive(cells.quantities[0]), axis=1)
        skip = [2] if n_labels > 100 else []  # the product of a thousand recalls underflows
        if not np.allclose(np.delete(table.to_numpy(), skip, 1), np.delete(expected, skip, 1)):
            raise SystemExit("The textbook's metrics differ.")
        found = raced(
            {"ours": ours, "naive": lambda c=cells.quantities[0]: naive(c)}, options.rounds
        )
        what = f"20 metrics, {n_groups:,} groups, {n_labels:,} labels"
        yield Row(f"{what}: textbook / ours", found["naive"] / found["ours"], bar)
        tracemalloc.start()
        ours()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if n_groups > 10:
            output = 20 * 8 * n_groups
            yield Row(f"{what}: temporaries / output", peak / output - 1, 3, at_most=True)


def thresholds(options):
    """Every threshold of 1e6 scores in 100 groups."""
    random = np.random.default_rng(1)
    n = 1_000_000
    frame = pd.DataFrame({"g": random.integers(0, 100, n), "p": random.random(n)})
    frame["y_true"] = random.random(n) < frame["p"]
    door = frame.tba(y_score="p")
    scored = scored_rows(frame, door._columns, by="g", dropna=False)

    def theirs():
        return [
            confusion_matrix_at_thresholds(part["y_true"], part["p"])
            for _, part in frame.groupby("g")
        ]

    steps = count_thresholds(scored.is_positive, scored.scores, scored.place, 100)
    if not np.array_equal(np.concatenate([part[3] for part in theirs()]), _without_first(steps)):
        raise SystemExit("The counts at thresholds differ.")
    found = raced(
        {
            "counts": lambda: count_thresholds(
                scored.is_positive, scored.scores, scored.place, 100
            ),
            "table": lambda: door.sweep(by="g"),
            "scikit-learn": theirs,
        },
        options.rounds,
    )
    ratio = {name: found["scikit-learn"] / found[name] for name in ("counts", "table")}
    yield Row("thresholds, 1e6 rows, 100 groups: scikit-learn / our counts", ratio["counts"], 2.5)
    yield Row("thresholds, 1e6 rows, 100 groups: scikit-learn / our table", ratio["table"], 1.3)


def _without_first(steps):
    """Hits at each threshold but +inf, which scikit-learn leaves out."""
    return np.delete(steps.hits, steps.first)


def replicates(options):
    """Two thousand replicates of 20 groups, whatever the rows, against those of fairlearn."""
    random = np.random.default_rng(2)
    frames = {}
    for n in (10_000, 10_000_000):
        truth = random.integers(0, 3, n).astype(np.int8)
        wrong = random.random(n) < 0.3
        guess = np.where(wrong, random.integers(0, 3, n), truth).astype(np.int8)
        group = random.integers(0, 20, n).astype(np.int8)
        frames[n] = pd.DataFrame({"g": group, "y_true": truth, "y_pred": guess})
    counts = {n: frame.tba.counts(by="g") for n, frame in frames.items()}
    few, few_draws = frames[10_000], 4

    def theirs():
        return MetricFrame(
            metrics=balanced_accuracy_score,
            y_true=few["y_true"],
            y_pred=few["y_pred"],
            sensitive_features=few["g"],
            n_boot=few_draws,
            ci_quantiles=[0.025, 0.975],
            random_state=0,
        ).by_group_ci

    contenders = {
        f"{n:.0e}": lambda held=held: tba.interval(held, t=0, method="bootstrap", generator=0)
        for n, held in counts.items()
    }
    found = raced({**contenders, "fairlearn": theirs}, options.rounds)
    ratio = found["fairlearn"] * 2000 / few_draws / found["1e+04"]
    what = f"bootstrap, 1e4 rows, 20 groups: fairlearn ({few_draws} draws x {2000 // few_draws})"
    yield Row(f"{what} / ours", ratio, 1000)
    yield Row("bootstrap: 1e7 rows / 1e4 rows", found["1e+07"] / found["1e+04"], 2, at_most=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    asked = parser.parse_args()
    printed((metric_stage, thresholds, replicates), asked)
