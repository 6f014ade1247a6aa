"""How many combinations parts of the data send, and how many are left when they are added up.

python tests/benchmarks/scale.py [--rows 10_000_000] [--parts 16]

Groups are skewed as in life: the k-th largest has a share of about 1/k. Labels too.
"""

import argparse
import time
import tracemalloc

import numpy as np
import pandas as pd

from pandas_tba.engines import count_batches

CASES = [(100, 3), (10_000, 10), (1_000_000, 10), (1_000_000, 100)]


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


def lines_of(counts):
    return len(counts.stored.entries().group)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--parts", type=int, default=16)
    options = parser.parse_args()
    print(
        "| Groups | Labels | Sent by parts | Left | Bytes sent | Bytes left | Seconds | Peak, MB |"
    )
    print("| --: | --: | --: | --: | --: | --: | --: | --: |")
    for n_groups, n_labels in CASES:
        asked = {"by": "g", "labels": range(n_labels)}
        parts = shards(options.rows, options.parts, n_groups, n_labels)
        sent = sum(lines_of(count_batches([part], **asked)) for part in parts)
        tracemalloc.start()
        start = time.perf_counter()
        whole = count_batches(shards(options.rows, options.parts, n_groups, n_labels), **asked)
        seconds = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        left = lines_of(whole)
        size = 8 * 4  # a number for the group, both labels and the rows of each combination
        numbers = (n_groups, n_labels, sent, left, sent * size, left * size)
        print(
            "|", " | ".join(f"{number:,}" for number in numbers), f"| {seconds:.1f} | {peak:.0f} |"
        )


if __name__ == "__main__":
    main()
