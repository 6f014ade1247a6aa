"""Where the intervals hold least: two classes of given sizes and shares, over all recalls, exact.

python tests/benchmarks/worst.py [--level 0.95]

`coverage.py` measures what data look like; this searches for the worst.
"""

import argparse

import numpy as np
from scipy import stats

from pandas_tba.inference.intervals import INTERVALS, recalls_of
from pandas_tba.scoring.tempering import class_weights

SIZES = [(95, 3), (1000, 3), (95, 4), (95, 5), (1000, 5), (10, 10), (90, 10), (1000, 10), (20, 20),
         (180, 20), (50, 50)]  # fmt: skip
EXPONENTS = np.arange(-1.0, 1.01, 0.25)
RECALLS = np.array([*np.arange(0.3, 0.99, 0.01), *np.arange(0.99, 0.9999, 0.001)])


def coverages(method, sizes, t, level):
    """Probability (R, R) that the limits hold the true value, by the recalls of both classes."""
    every = [np.arange(n + 1.0) for n in sizes]
    hits = np.stack([grid.reshape(-1) for grid in np.meshgrid(*every, indexing="ij")], axis=1)
    support = np.full(hits.shape, sizes, dtype=float)
    low, high = method.limits(recalls_of(hits, support, support[:1]), t, level)
    chances = [
        stats.binom.pmf(numbers, n, RECALLS[:, None])
        for numbers, n in zip(every, sizes, strict=True)
    ]
    weights = class_weights(np.array(sizes, dtype=float), t=t)
    found = []
    for recall, chance in zip(RECALLS, chances[0], strict=True):
        truth = (weights[0] * recall + weights[1] * RECALLS)[:, None]
        holds = ((low <= truth + 1e-12) & (truth - 1e-12 <= high)).reshape(
            len(RECALLS), -1, len(every[1])
        )
        found.append(((chance @ holds) * chances[1]).sum(axis=1))
    return np.array(found)


def worst(method, sizes, level):
    """Least coverage in percent, and the recalls and the exponent that have it."""
    cover = np.array([coverages(method, sizes, t, level) for t in EXPONENTS])
    at, first, second = np.unravel_index(cover.argmin(), cover.shape)
    where = f"{RECALLS[first]:.3g}/{RECALLS[second]:.3g}, t={EXPONENTS[at]:g}"
    return f"{100 * cover.min():.1f} at {where}"


def main(argv=None):
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--level", type=float, default=0.95)
    level = parser.parse_args(argv).level
    methods = [method for method in INTERVALS if method.limits is not None]
    heads = ["class sizes", *(f"`{method.name}`" for method in methods)]
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for sizes in SIZES:
        cells = ["/".join(map(str, sizes)), *(worst(method, sizes, level) for method in methods)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
