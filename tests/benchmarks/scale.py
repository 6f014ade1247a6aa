"""How many combinations parts of the data send, and how many are left when they are added up.

python tests/benchmarks/scale.py [--rows 10_000_000] [--parts 16] [--engines]

Groups are skewed as in life: the k-th largest has a share of about 1/k. Labels too. With --engines:
bytes that Dask's partitions hand on and that Spark shuffles, for more and more parts.
"""

import argparse
import json
import pickle
import time
import tracemalloc
import urllib.request
import warnings

import numpy as np
import pandas as pd

import pandas_tba as tba

CASES = [(100, 3), (10_000, 10), (1_000_000, 10), (1_000_000, 100), (1_000_000, 10_000)]
PARTED = [(100, 3, 4), (100, 3, 16), (100, 3, 64), (10_000, 10, 4), (10_000, 10, 16), (10_000, 10, 64)]  # fmt: skip
NUMBER = 8  # bytes; a combination has one for its group, both labels and its rows


def skewed(rng, size, number):
    """Codes of which the k-th has a share of about 1/k."""
    return np.minimum(np.exp(rng.random(size) * np.log(number + 1)).astype(np.int64), number) - 1


def shards(n_rows, n_parts, n_groups, n_labels):
    rng = np.random.default_rng(0)
    for _ in range(n_parts):
        size = n_rows // n_parts
        truth = skewed(rng, size, n_labels)
        guess = np.where(rng.random(size) < 0.8, truth, skewed(rng, size, n_labels))
        yield pd.DataFrame(
            {"g": skewed(rng, size, n_groups), "y_true": truth, "y_pred": guess}, dtype=np.int32
        )


def combinations(counts):
    return len(counts.to_table())


def sent_and_left(n_rows, n_parts):
    """Lines of the table of combinations, time and memory."""
    yield "| Groups | Labels | Sent | Result | Sent, MB | Result, MB | s | Peak, MB |"
    yield "| --: | --: | --: | --: | --: | --: | --: | --: |"
    for n_groups, n_labels in CASES:
        asked = {"by": "g", "labels": range(n_labels)}
        parts = shards(n_rows, n_parts, n_groups, n_labels)
        sent = sum(combinations(tba.count(part, **asked)) for part in parts)
        tracemalloc.start()
        start = time.perf_counter()
        whole = tba.count_batches(shards(n_rows, n_parts, n_groups, n_labels), **asked)
        seconds = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        left = combinations(whole)
        size = NUMBER * 4 / 1e6
        yield (
            f"| {n_groups:,} | {n_labels:,} | {sent:,} | {left:,} | {sent * size:,.1f} | "
            f"{left * size:,.2f} | {seconds:.1f} | {peak:,.0f} |"
        )


def sent_by_dask(parts, asked):
    """Bytes of what the partitions give, as it goes from one process to another."""
    import dask.dataframe as dd
    from dask.callbacks import Callback

    sizes = []

    def finished(key, result, *_):
        if "combinations_of_pandas" in str(key):
            sizes.append(len(pickle.dumps(result)))

    frame = dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])
    with Callback(posttask=finished):
        counts = tba.count(frame, **asked)
    assert len(sizes) == frame.npartitions
    return counts, sum(sizes)


def sent_by_spark(session, parts, asked):
    """Bytes that Spark shuffles, which it compresses."""
    frame = session.createDataFrame(pd.concat(parts)).repartition(len(parts)).cache()
    frame.count()
    before = shuffled(session)
    counts = tba.count(frame, **asked)
    sent = shuffled(session) - before
    frame.unpersist()
    return counts, sent


def shuffled(session):
    """Bytes that all stages so far wrote for a shuffle, from Spark's own interface."""
    context = session.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urllib.request.urlopen(url) as answer:
        return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))


def sent_by_engines(n_rows):
    """Lines of the table of bytes that engines send, in kB."""
    from pyspark.sql import SparkSession

    warnings.filterwarnings("ignore", "PySpark does not yet", FutureWarning)
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
    builder = builder.config("spark.log.level", "OFF").config("spark.sql.shuffle.partitions", 8)
    builder = builder.config("spark.sql.adaptive.enabled", "false")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    yield "| Groups | Labels | Parts | Bound | Combinations | Dask | Spark |"
    yield "| --: | --: | --: | --: | --: | --: | --: |"
    for n_groups, n_labels, n_parts in PARTED:
        asked = {"by": "g", "labels": range(n_labels)}
        parts = [*shards(n_rows, n_parts, n_groups, n_labels)]
        sent = sum(combinations(tba.count(part, **asked)) for part in parts)
        bound = n_parts * min(n_rows // n_parts, n_groups * n_labels**2)
        by_dask, dask_bytes = sent_by_dask(parts, asked)
        by_spark, spark_bytes = sent_by_spark(session, parts, asked)
        assert by_dask.to_table().equals(by_spark.to_table())
        sizes = (bound * NUMBER * 4, sent * NUMBER * 4, dask_bytes, spark_bytes)
        yield (
            f"| {n_groups:,} | {n_labels:,} | {n_parts} | "
            + " | ".join(f"{size / 1e3:,.0f}" for size in sizes)
            + " |"
        )
    session.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--parts", type=int, default=16)
    parser.add_argument("--engines", action="store_true", help="bytes that Dask and Spark send")
    options = parser.parse_args()
    if options.engines:
        lines = sent_by_engines(options.rows // 5)
    else:
        lines = sent_and_left(options.rows, options.parts)
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()
