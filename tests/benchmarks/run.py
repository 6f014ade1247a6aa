"""Ratios measured side by side: every round times each contender once, medians are compared.

python tests/benchmarks/run.py [--rows 10_000_000] [--rounds 5] [--only WORD] [--markdown]
"""

import argparse
import os
import statistics
import subprocess
import sys
import timeit
import tracemalloc
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score

import pandas_tba as tba

KEYS = ["g", "y_true", "y_pred"]
EXPONENTS = [0, 0.5, 1]
SLOW_GROUPS = 10  # of 1,000: the slow peers see this part, and their time is scaled up
TURN = 0.05  # seconds
FEW_ROWS = 20_000  # contenders are compared on a frame of this size before they are timed


class Row(NamedTuple):
    """What was measured, its value, and the bar that it should pass."""

    what: str
    value: float
    bar: float
    unit: str = "x"
    at_most: bool = False

    def cells(self):
        sign, held = (
            ("<=", self.value <= self.bar) if self.at_most else (">=", self.value >= self.bar)
        )
        return (
            self.what,
            f"{self.value:,.4g} {self.unit}",
            f"{sign} {self.bar:,g} {self.unit}",
            "pass" if held else "below",
        )


def frame_of(kind, n_rows, n_groups, n_labels=3, seed=0):
    """Random predictions, seven of ten or more right; one dtype, but integer groups for bool."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, n_rows)
    guess = np.where(rng.random(n_rows) < 0.7, truth, rng.integers(0, n_labels, n_rows))
    codes = {"g": rng.integers(0, n_groups, n_rows), "y_true": truth, "y_pred": guess}
    if kind == "int64":
        return pd.DataFrame(codes)
    if kind == "bool":
        return pd.DataFrame({"g": codes["g"], "y_true": truth > 0, "y_pred": guess > 0})
    names = {name: np.arange(n_groups if name == "g" else n_labels).astype(str) for name in codes}
    frame = pd.DataFrame(
        {name: pd.Categorical.from_codes(codes[name], names[name]) for name in codes}
    )
    return frame if kind == "category" else frame.astype("str")


def raced(contenders, rounds):
    """Median seconds of a call of each contender, all timed in every round.

    A turn is as many calls as the warm-up needs for a twentieth of a second, at least one. Each
    round has an order of its own: what ran before leaves its traces in the caches.
    """
    times = {name: [] for name in contenders}
    calls = {name: warmed_up(contender) for name, contender in contenders.items()}
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        for name in rng.permutation(list(contenders)).tolist():
            seconds = timeit.timeit(contenders[name], number=calls[name])
            times[name].append(seconds / calls[name])
    return {name: statistics.median(found) for name, found in times.items()}


def warmed_up(contender):
    """Calls that fill a turn, after a first one."""
    contender()
    calls, seconds = 0, 0.0
    while seconds < TURN:
        calls += 1
        seconds += timeit.timeit(contender, number=1)
    return calls


def counting(options):
    """Counts of 20 groups and 3 labels against group-by in pandas and DuckDB."""
    database = duckdb.connect()
    database.execute("SET threads TO 2")
    for kind, bar in {"category": 15, "int64": 6, "str": 2}.items():
        check_counts(counters(frame_of(kind, FEW_ROWS, 20), database))
        found = raced(counters(frame_of(kind, options.rows, 20), database), options.rounds)
        yield Row(f"counts, {kind}: groupby.size / ours", found["groupby"] / found["ours"], bar)
        if kind == "category":
            yield Row("counts, category: DuckDB / ours", found["duckdb"] / found["ours"], 1.8)
            ratio = found["ours"] / found["bincount"]
            yield Row("counts, category: ours / bare bincount", ratio, 1.4, at_most=True)


def counters(frame, database):
    database.register("frame", frame)
    codes = [frame[name].astype("category").cat.codes.to_numpy(np.intp) for name in KEYS]
    ready = (codes[0] * 3 + codes[1]) * 3 + codes[2]
    query = "SELECT g, y_true, y_pred, count(*) FROM frame GROUP BY g, y_true, y_pred"
    return {
        "ours": lambda: frame.tba.counts(by="g"),
        "groupby": lambda: frame.groupby(KEYS, observed=True).size(),
        "duckdb": lambda: database.execute(query).fetchall(),
        "bincount": lambda: np.bincount(ready, minlength=180),
    }


def check_counts(contenders):
    """Refuse to time contenders that do not count the same."""
    groupby = {tuple(map(str, key)): n for key, n in contenders["groupby"]().items()}
    counts = contenders["ours"]()
    labels = list(map(str, counts.labels))
    ours = {
        (str(group), true, guess): n
        for group, matrix in zip(counts.groups, counts.cells.tolist(), strict=True)
        for true, line in zip(labels, matrix, strict=True)
        for guess, n in zip(labels, line, strict=True)
        if n
    }
    duck = {tuple(map(str, line[:3])): line[3] for line in contenders["duckdb"]()}
    bare = contenders["bincount"]()
    if not (ours == groupby == duck and sorted(bare[bare > 0]) == sorted(ours.values())):
        raise SystemExit("The contenders do not count the same.")


def tables(options):
    """Accuracy, balanced accuracy, recalls and tba at 3 t of 1,000 groups in 1e6 rows."""
    frame = frame_of("category", min(options.rows, 1_000_000), 1000)
    few = frame[frame["g"].isin(frame["g"].cat.categories[:SLOW_GROUPS])]
    few = few.assign(g=few["g"].cat.remove_unused_categories())
    check_tables(few)
    found = raced(
        {
            "ours": lambda: our_table(frame),
            "metrics": lambda: frame.tba.metrics("g"),
            "crosstab": lambda: crosstab_table(frame),
            "scikit-learn": lambda: sklearn_table(few),
            "fairlearn": lambda: fairlearn_table(few),
        },
        options.rounds,
    )
    scale = frame["g"].nunique() / SLOW_GROUPS
    yield Row("table, 1,000 groups: crosstab / ours", found["crosstab"] / found["ours"], 30)
    for name, bar in (("scikit-learn", 2000), ("fairlearn", 5000)):
        what = f"table, 1,000 groups: {name} ({SLOW_GROUPS} groups x {scale:g}) / ours"
        yield Row(what, found[name] * scale / found["ours"], bar)
    yield Row("default metrics(): crosstab / ours", found["crosstab"] / found["metrics"], 15)


def our_table(frame):
    counts = frame.tba.counts(by="g")
    both = tba.metrics(counts, metrics=["accuracy", "balanced_accuracy"])
    return both, tba.per_class(counts, metrics="recall"), tba.score(counts, t=EXPONENTS)


def crosstab_table(frame):
    cells = pd.crosstab([frame["g"], frame["y_true"]], frame["y_pred"]).to_numpy()
    cells = cells.reshape(-1, cells.shape[1], cells.shape[1]).astype(float)
    support, hits = cells.sum(axis=2), np.einsum("gll->gl", cells)
    recall, share = hits / support, support / support.sum(axis=1, keepdims=True)
    weights = [share**t / (share**t).sum(axis=1, keepdims=True) for t in EXPONENTS]
    both = [hits.sum(axis=1) / support.sum(axis=1), recall.mean(axis=1)]
    return np.column_stack(both), recall, np.column_stack([(w * recall).sum(1) for w in weights])


def tempered(y_true, y_pred, t):
    recall = recall_score(y_true, y_pred, average=None)
    weight = y_true.value_counts(normalize=True).sort_index().to_numpy() ** t
    return (weight * recall).sum() / weight.sum()


def sklearn_table(frame):
    def judged(group):
        y_true, y_pred = group["y_true"], group["y_pred"]
        return [
            accuracy_score(y_true, y_pred),
            balanced_accuracy_score(y_true, y_pred),
            *recall_score(y_true, y_pred, average=None),
            *(tempered(y_true, y_pred, t) for t in EXPONENTS),
        ]

    return frame.groupby("g", observed=True)[["y_true", "y_pred"]].apply(judged)


def fairlearn_table(frame):
    asked = {"accuracy": accuracy_score, "balanced": balanced_accuracy_score}
    asked["recall"] = lambda y_true, y_pred: recall_score(y_true, y_pred, average=None)
    for t in EXPONENTS:
        asked[f"tba {t}"] = lambda y_true, y_pred, t=t: tempered(pd.Series(y_true), y_pred, t)
    text = frame.astype(object)
    return MetricFrame(
        metrics=asked,
        y_true=text["y_true"],
        y_pred=text["y_pred"],
        sensitive_features=text["g"],
    ).by_group


def check_tables(frame):
    """Refuse to time contenders whose tables differ."""
    both, recall, scores = our_table(frame)
    n_groups = len(scores)
    ours = np.column_stack(
        [
            both[["accuracy", "balanced_accuracy"]],
            recall["recall"].to_numpy().reshape(n_groups, -1),
            scores,
        ]
    )
    fair = fairlearn_table(frame)
    fair = np.column_stack(
        [fair[["accuracy", "balanced"]], np.stack(fair["recall"]), fair.iloc[:, 3:]]
    ).astype(float)
    theirs = {
        "crosstab": np.column_stack(crosstab_table(frame)),
        "scikit-learn": np.array(sklearn_table(frame).tolist()),
        "fairlearn": fair,
    }
    different = [name for name, table in theirs.items() if not np.allclose(ours, table)]
    if different:
        raise SystemExit(f"Other numbers than ours: {', '.join(different)}.")


def small(options):
    """One score of 100 rows against scikit-learn on the same Series."""
    for kind in ("int64", "str", "category"):
        frame = frame_of(kind, 100, 2)
        contenders = {
            "ours": lambda frame=frame: frame.tba.score(t=0.5),
            "sklearn": lambda frame=frame: balanced_accuracy_score(
                frame["y_true"], frame["y_pred"]
            ),
        }
        if not np.isclose(frame.tba.score(t=0), contenders["sklearn"]()):
            raise SystemExit("Balanced accuracy differs from that of scikit-learn.")
        found = raced(contenders, 4 * options.rounds)
        ratio = found["ours"] / found["sklearn"]
        yield Row(f"score of 100 rows, {kind}: ours / scikit-learn", ratio, 0.25, at_most=True)


def memory(options):
    """Temporary bytes for each row while counting, as numpy reports them."""
    for kind in ("bool", "category", "int64"):
        frame = frame_of(kind, options.rows, 20)
        frame.tba.counts(by="g")
        tracemalloc.start()
        frame.tba.counts(by="g")
        peak = tracemalloc.get_traced_memory()[1] / options.rows
        tracemalloc.stop()
        yield Row(f"temporaries of counting, {kind}", peak, 4, "bytes a row", at_most=True)


def importing(options):
    """Import of pandas_tba after pandas, with warm caches."""
    found = []
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-X", "importtime", "-c", "import pandas, pandas_tba"]
    for _ in range(12):
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
        last = next(line for line in done.stderr.splitlines() if line.endswith("| pandas_tba"))
        found.append(int(last.split("|")[1]) / 1000)
    yield Row("import after pandas", statistics.median(found[1:]), 10, "ms", at_most=True)


CASES = {case.__name__: case for case in (counting, tables, small, memory, importing)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the largest frames")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    options = parser.parse_args()
    printed([case for name, case in CASES.items() if options.only in (None, name)], options)


def printed(cases, options):
    """Run the cases and print a line for each measurement."""
    line = "| {} | {} | {} | {} |" if options.markdown else "{:<68}{:>18}{:>18}  {}"
    print(line.format("What", "Measured", "Bar", ""))
    if options.markdown:
        print("| --- | --: | --: | --- |")
    for case in cases:
        for row in case(options):
            print(line.format(*row.cells()), flush=True)


if __name__ == "__main__":
    main()
