"""Parquet streams and engines: rows per second, memory, and the cost beside a bare group-by.

python tests/benchmarks/streams.py [--rows 50_000_000] [--rounds 5] [--engines]

Every reading of the file runs in a process of its own, so that its memory can be told.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KEYS = ["g", "y_true", "y_pred"]
ROW_GROUP = 1_000_000


def write(path, n_rows, seed=0):
    """Predictions of three classes in a hundred segments, all text, four of five right."""
    rng = np.random.default_rng(seed)
    segments = pa.array([f"segment_{at}" for at in range(100)])
    classes = pa.array([f"class_{at}" for at in range(3)])
    schema = pa.schema(dict.fromkeys(KEYS, pa.string()))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, n_rows, ROW_GROUP):
            n = min(ROW_GROUP, n_rows - start)
            truth = rng.integers(0, 3, n)
            guess = np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n))
            codes = [rng.integers(0, 100, n), truth, guess]
            texts = [segments, classes, classes]
            columns = [text.take(pa.array(code)) for text, code in zip(texts, codes, strict=True)]
            writer.write_table(pa.table(columns, schema=schema))


def ours(path):
    from pandas_tba.engines.dispatch import count_parquet

    return int(count_parquet(path, by="g").rows.sum())


def duckdb_rows(path, threads):
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads TO {threads}")
    query = f"SELECT g, y_true, y_pred, count(*) FROM '{path}' GROUP BY ALL"
    return sum(row[-1] for row in connection.execute(query).fetchall())


def polars_rows(path):
    import polars as pl

    counts = pl.scan_parquet(path).group_by(KEYS).len().collect(engine="streaming")
    return counts["len"].sum()


READERS = {
    "count_parquet": ours,
    "DuckDB, 1 thread": lambda path: duckdb_rows(path, 1),
    "DuckDB, 2 threads": lambda path: duckdb_rows(path, 2),
    "Polars, streaming": polars_rows,
}


def measured(name, path):
    """Rows, seconds and growth of memory in MB of one reading; runs in its own process."""
    import duckdb  # noqa: F401
    import polars  # noqa: F401
    import pyarrow.dataset  # noqa: F401

    import pandas_tba.engines  # noqa: F401

    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of imports, and the parent's
    before = peak()
    start = time.perf_counter()
    rows = READERS[name](path)
    seconds = time.perf_counter() - start
    return rows, seconds, peak() - before


def peak():
    """Most memory so far, in MB; of Linux."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def streams(folder, sizes, rounds):
    for n_rows in sizes:
        path = folder / f"{n_rows}.parquet"
        write(path, n_rows)
        found = {name: [] for name in READERS}
        for _ in range(rounds):
            for name in READERS:
                command = [sys.executable, __file__, "--measure", name, str(path)]
                answer = subprocess.run(command, capture_output=True, text=True, check=True)
                rows, *numbers = map(float, answer.stdout.split())
                assert rows == n_rows, name
                found[name].append(numbers)
        for name, runs in found.items():
            seconds = statistics.median(run[0] for run in runs)
            growth = max(run[1] for run in runs)
            yield f"| {n_rows:,} | {name} | {n_rows / seconds / 1e6:.1f} | {growth:.0f} |"


def in_polars(path):
    import polars as pl

    frame = pl.scan_parquet(path)
    return frame, lambda: frame.group_by(KEYS).len().collect()


def in_duckdb(path):
    import duckdb

    frame = duckdb.read_parquet(str(path))
    return frame, lambda: frame.aggregate("g, y_true, y_pred, count(*)").fetchall()


def in_dask(path):
    import dask.dataframe as dd

    frame = dd.read_parquet(path, split_row_groups=True)
    return frame, lambda: frame.groupby(KEYS, dropna=False, observed=True).size().compute()


def in_spark(path):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
    frame = builder.config("spark.sql.shuffle.partitions", 2).getOrCreate().read.parquet(str(path))
    return frame, lambda: frame.groupBy(*KEYS).count().collect()


def in_arrow(path):
    frame = pq.read_table(path)
    return frame, lambda: frame.group_by(KEYS).aggregate([([], "count_all")])


ENGINES = {
    "Polars": in_polars,
    "DuckDB": in_duckdb,
    "Dask": in_dask,
    "Spark": in_spark,
    "Arrow table": in_arrow,
}


def engines(path, rounds):
    """Median seconds of count() and of the engine's own group-by, after one call of each."""
    import pandas_tba as tba

    for name, opened in ENGINES.items():
        frame, bare = opened(path)
        contenders = {"ours": lambda frame=frame: tba.count(frame, by="g"), "bare": bare}
        times = {which: [] for which in contenders}
        for at in range(rounds + 1):
            for which, contender in contenders.items():
                start = time.perf_counter()
                contender()
                if at:
                    times[which].append(time.perf_counter() - start)
        ours_took, bare_took = (statistics.median(found) for found in times.values())
        yield f"| {name} | {ours_took:.2f} | {bare_took:.2f} | {ours_took / bare_took - 1:+.0%} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", action="store_true", help="time engines beside their group-by")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(*measured(*options.measure))
        return
    if options.engines:
        print("| Engine | count(), s | group-by, s | More |")
        print("| --- | --: | --: | --: |")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write(path, options.rows // 5)
            for line in engines(path, options.rounds):
                print(line, flush=True)
        return
    print("| Rows | Reader | Million rows a second | Memory grew by, MB |")
    print("| --: | --- | --: | --: |")
    with tempfile.TemporaryDirectory() as folder:
        for line in streams(Path(folder), [options.rows // 5, options.rows], options.rounds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
