"""Ratios measured side by side: every round times each contender once, medians are compared.

    python tests/benchmarks/run.py [--rows 10_000_000] [--rounds 5] [--only WORD]
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
import tracemalloc

import duckdb
import numpy as np
import pandas as pd
from fairlearn.metrics import MetricFrame
from sklearn.metrics import accuracy_score, balanced_accuracy_score, recall_score

import pandas_tba as tba

KEYS = ["g", "y_true", "y_pred"]
EXPONENTS = [0, 0.5, 1]


def frame_of(kind, n_rows, n_groups, n_labels=3, seed=0):
    """Random predictions, seven of ten right, as one dtype throughout."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_labels, n_rows)
    guess = np.where(rng.random(n_rows) < 0.7, truth, rng.integers(0, n_labels, n_rows))
    codes = {"g": rng.integers(0, n_groups, n_rows), "y_true": truth, "y_pred": guess}
    if kind == "int64":
        return pd.DataFrame(codes)
    if kind == "bool":
        return pd.DataFrame({"g": codes["g"], "y_true": truth > 0, "y_pred": guess > 0})
    frame = pd.DataFrame(
        {
            name: pd.Categorical.from_codes(
                column, [f"{name[0]}{at}" for at in range(n_groups if name == "g" else n_labels)]
            )
            for name, column in codes.items()
        }
    )
    return frame if kind == "category" else frame.astype("str")


def raced(contenders, rounds):
    """Median seconds of each contender, all timed once in every round, after one warm-up."""
    times = {name: [] for name in contenders}
    for at in range(rounds + 1):
        for name, run in contenders.items():
            start = time.perf_counter()
            run()
            if at:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(found) for name, found in times.items()}


def row(what, value, bar, *, at_most=False, unit="x"):
    """One line of the table: what was measured, the value, and the bar it should pass."""
    held = value <= bar if at_most else value >= bar
    sign = "<=" if at_most else ">="
    return f"| {what} | {value:.4g} {unit} | {sign} {bar} {unit} | {'pass' if held else 'below'} |"


def counting(options):
    """Counts of 20 groups and 3 labels against group-by in pandas and DuckDB."""
    database = duckdb.connect()
    database.execute("SET threads TO 2")
    bars = {"category": 15, "int64": 6, "str": 2}
    for kind, bar in bars.items():
        frame = frame_of(kind, options.rows, 20)
        database.register("frame", frame)
        ready = np.random.default_rng(0).integers(0, 180, options.rows).astype(np.intp)
        query = "SELECT g, y_true, y_pred, count(*) FROM frame GROUP BY ALL"
        contenders = {
            "ours": lambda frame=frame: frame.tba.counts(by="g"),
            "groupby": lambda frame=frame: frame.groupby(KEYS, observed=True).size(),
            "duckdb": lambda query=query: database.execute(query).fetchall(),
            "bincount": lambda ready=ready: np.bincount(ready, minlength=180),
        }
        same_counts(frame, contenders)
        found = raced(contenders, options.rounds)
        yield row(f"counts, {kind}: groupby.size / ours", found["groupby"] / found["ours"], bar)
        if kind == "category":
            yield row("counts, category: DuckDB / ours", found["duckdb"] / found["ours"], 1.8)
            ratio = found["ours"] / found["bincount"]
            yield row("counts, category: ours / bare bincount", ratio, 1.4, at_most=True)


def same_counts(frame, contenders):
    ours = contenders["ours"]().to_table()["n"].tolist()
    assert sorted(ours) == sorted(contenders["groupby"]().to_list())
    assert sorted(ours) == sorted(line[-1] for line in contenders["duckdb"]())


def tables(options):
    """Accuracy, balanced accuracy, recalls and tba at 3 t of 1,000 groups in 1e6 rows."""
    frame = frame_of("category", min(options.rows, 1_000_000), 1000)
    found = raced(
        {
            "ours": lambda: our_table(frame),
            "metrics": lambda: frame.tba.metrics(by="g"),
            "crosstab": lambda: crosstab_table(frame),
        },
        options.rounds,
    )
    few = frame[frame["g"].isin(frame["g"].cat.categories[:10])]
    few = few.assign(g=few["g"].cat.remove_unused_categories())
    slow = {"scikit-learn": lambda: sklearn_table(few), "fairlearn": lambda: fairlearn_table(few)}
    slow = {name: seconds * 100 for name, seconds in raced(slow, 1).items()}
    yield row("table, 1,000 groups: crosstab / ours", found["crosstab"] / found["ours"], 30)
    for name, bar in (("scikit-learn", 2000), ("fairlearn", 5000)):
        what = f"table, 1,000 groups: {name} (10 groups, times 100) / ours"
        yield row(what, slow[name] / found["ours"], bar)
    yield row("default metrics(): crosstab / ours", found["crosstab"] / found["metrics"], 15)


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
    return recall, [(weight * recall).sum(axis=1) for weight in weights]


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
            recall_score(y_true, y_pred, average=None),
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


def small(options):
    """One score of 100 rows against scikit-learn on the same Series."""
    for kind in ("int64", "str", "category"):
        frame = frame_of(kind, 100, 2)
        found = raced(
            {
                "ours": lambda frame=frame: frame.tba.score(t=0.5),
                "sklearn": lambda frame=frame: balanced_accuracy_score(
                    frame["y_true"], frame["y_pred"]
                ),
            },
            300,
        )
        ratio = found["ours"] / found["sklearn"]
        yield row(f"score of 100 rows, {kind}: ours / scikit-learn", ratio, 0.25, at_most=True)


def memory(options):
    """Temporary bytes for each row while counting, as numpy reports them."""
    for kind in ("bool", "category", "int64"):
        frame = frame_of(kind, options.rows, 20)
        frame.tba.counts(by="g")
        tracemalloc.start()
        frame.tba.counts(by="g")
        peak = tracemalloc.get_traced_memory()[1] / options.rows
        tracemalloc.stop()
        yield row(f"temporaries of counting, {kind}", peak, 4, at_most=True, unit="bytes a row")


def importing(options):
    """Import of pandas_tba after pandas, with warm caches."""
    found = []
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-X", "importtime", "-c", "import pandas, pandas_tba"]
    for _ in range(12):
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=kept)
        last = next(line for line in done.stderr.splitlines() if line.endswith("| pandas_tba"))
        found.append(int(last.split("|")[1]) / 1000)
    yield row("import after pandas", statistics.median(found[1:]), 10, at_most=True, unit="ms")


CASES = {case.__name__: case for case in (counting, tables, small, memory, importing)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=CASES)
    options = parser.parse_args()
    print("| what | measured | bar | |\n|---|---|---|---|")
    for name, case in CASES.items():
        if options.only in (None, name):
            for line in case(options):
                print(line, flush=True)


if __name__ == "__main__":
    main()
