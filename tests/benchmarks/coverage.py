"""How often the intervals hold the true value: exact for two classes, else from many samples.

python tests/benchmarks/coverage.py [--samples 20_000] [--bootstrap 1000] [--cells] [--level 0.95]

A cell is a scenario, an exponent and a way to sample: ``fixed`` class sizes with given prevalence,
or ``own`` ones, drawn with the rows.  Only samples whose score is defined count, and cells in
which half of them or more are.  A bootstrap without limits holds nothing.  The scenarios are what
data look like; worst.py searches the recalls of two classes for the worst.
"""

import argparse
import itertools
import sys
import time
from typing import NamedTuple

import numpy as np
from scipy import stats

from pandas_tba.inference.intervals import INTERVALS, percentiles, recalls_of, replicated_means
from pandas_tba.scoring.tempering import class_weights

EXPONENTS = [-1.0, -0.5, 0.0, 0.5, 1.0]
NEGLIGIBLE = 1e-9  # probability of a number of rows that is left out of exact sums
AT_A_TIME = 200_000
REPLICATES = 500


class Scenario(NamedTuple):
    """Rows and true recall of each class."""

    sizes: tuple[int, ...]
    recalls: tuple[float, ...]

    def __str__(self):
        sizes, recalls = (
            "/".join(f"{value:g}" for value in values[:5]) + "/..." * (len(values) > 5)
            for values in self
        )
        return f"K={len(self.sizes)} n={sizes} r={recalls}"


def repeated(sizes, recalls, n_classes):
    """A scenario of many classes that take sizes and recalls in turn."""
    in_turn = (itertools.islice(itertools.cycle(part), n_classes) for part in (sizes, recalls))
    return Scenario(*(tuple(part) for part in in_turn))


SCENARIOS = [
    Scenario((95, 3), (0.99, 0.95)),
    Scenario((95, 3), (0.95, 0.8)),
    Scenario((95, 5), (0.99, 0.97)),
    Scenario((95, 5), (0.99, 0.95)),
    Scenario((95, 5), (0.98, 1.0)),
    Scenario((95, 5), (0.95, 0.7)),
    Scenario((20, 4), (0.8, 0.5)),
    Scenario((30, 7), (0.9, 0.6)),
    Scenario((190, 10), (0.95, 0.9)),
    Scenario((190, 10), (1.0, 0.9)),
    Scenario((90, 10), (0.7, 0.8)),
    Scenario((10, 10), (0.9, 0.9)),
    Scenario((50, 50), (0.8, 0.7)),
    Scenario((480, 20), (0.97, 0.4)),
    Scenario((40, 10, 3), (0.95, 0.9, 0.9)),
    Scenario((80, 15, 5), (0.95, 0.67, 0.2)),
    Scenario((80, 15, 5), (0.98, 0.95, 1.0)),
    Scenario((300, 60, 20), (0.95, 0.8, 0.6)),
    Scenario((30, 30, 30), (0.9, 0.8, 0.7)),
    Scenario((10, 10, 5, 5, 3), (0.95, 0.95, 0.9, 0.9, 0.9)),
    Scenario((10, 10, 5, 5, 3), (0.8, 0.7, 0.6, 0.5, 0.4)),
    Scenario((100, 40, 30, 20, 10), (0.9, 0.85, 0.8, 0.7, 0.3)),
    Scenario((100, 40, 30, 20, 10), (0.99, 0.99, 0.98, 0.97, 0.95)),
    repeated((3, 4, 5, 6, 7, 8, 9, 10), (0.9,), 10),
    repeated((3, 4, 5, 6, 7, 8, 9, 10), (0.98, 1.0), 10),
    repeated((200, 100, 50, 20, 10), (0.95, 0.9, 0.8, 0.7), 10),
    repeated((3, 4, 5, 6, 7, 8, 9, 10), (0.9,), 50),
    repeated((3, 4, 5, 6, 7, 8, 9, 10), (0.95, 0.8, 0.5), 50),
    repeated((100, 40, 20, 10), (0.95, 0.8, 0.7), 50),
]


class Samples(NamedTuple):
    """Hits and rows (N, K) of samples, and the probability (N) of each."""

    hits: np.ndarray
    support: np.ndarray
    probability: np.ndarray


def likely(n, share):
    """Numbers of successes that are not negligible, and their probabilities."""
    numbers = np.arange(n + 1)
    probability = stats.binom.pmf(numbers, n, share)
    kept = probability > NEGLIGIBLE
    return numbers[kept], probability[kept]


def every_sample(scenario, *, is_fixed):
    """All samples of two classes, some rows of the first class at a time."""
    total = sum(scenario.sizes)
    firsts = [(scenario.sizes[0], 1.0)]
    if not is_fixed:
        firsts = zip(*likely(total, scenario.sizes[0] / total), strict=True)
    for first, chance in firsts:
        support = (first, total - first)
        (one, of_one), (two, of_two) = map(likely, support, scenario.recalls)
        hits = np.stack([grid.reshape(-1) for grid in np.meshgrid(one, two, indexing="ij")], axis=1)
        probability = chance * np.outer(of_one, of_two).reshape(-1)
        yield Samples(hits.astype(float), np.full(hits.shape, support, dtype=float), probability)


def random_samples(scenario, n_samples, generator, *, is_fixed):
    """Samples of any number of classes, some at a time."""
    sizes = np.array(scenario.sizes)
    for start in range(0, n_samples, 5_000):
        n = min(5_000, n_samples - start)
        support = np.tile(sizes, (n, 1))
        if not is_fixed:
            support = generator.multinomial(sizes.sum(), sizes / sizes.sum(), size=n)
        hits = generator.binomial(support, scenario.recalls)
        yield Samples(hits.astype(float), support.astype(float), np.full(n, 1.0 / n_samples))


def in_blocks(chunks):
    """The same samples in larger blocks."""
    held = []
    for chunk in chunks:
        held.append(chunk)
        if sum(len(part.hits) for part in held) > AT_A_TIME:
            yield Samples(*map(np.concatenate, zip(*held, strict=True)))
            held = []
    if held:
        yield Samples(*map(np.concatenate, zip(*held, strict=True)))


def formula_limits(method, samples, sizes, t, level, *, is_fixed):
    """Low and high limit of each sample."""
    reference = None if is_fixed else samples.support
    prevalence = sizes[None] if is_fixed else samples.support
    recalls = recalls_of(samples.hits, samples.support, prevalence, reference=reference)
    return method.limits(recalls, t, level)


def bootstrap_limits(samples, sizes, t, level, generator, *, is_fixed):
    """Percentiles of replicates of each sample; NaN where they have no width."""
    shares = np.broadcast_to(sizes, samples.support.shape) if is_fixed else samples.support
    chunks = replicated_means(
        *(samples.hits, samples.support, shares, [t], REPLICATES, generator),
        was_counted=not is_fixed,
    )
    low, high, _, _ = percentiles(np.concatenate(list(chunks))[..., 0], level)
    return np.where(low < high, low, np.nan), high


def measured(scenario, methods, arguments, generator, *, is_fixed):
    """Coverage and mean width of each method at each exponent: (method, t) -> pair."""
    sizes, recalls = np.array(scenario.sizes, dtype=float), np.array(scenario.recalls)
    sums = {key: np.zeros(3) for key in itertools.product([m.name for m in methods], EXPONENTS)}
    for method in methods:
        is_exact = len(sizes) == 2 and method.limits is not None
        n = arguments.samples if method.limits is not None else arguments.bootstrap
        chunks = (
            every_sample(scenario, is_fixed=is_fixed)
            if is_exact
            else random_samples(scenario, n, generator, is_fixed=is_fixed)
        )
        for samples, t in itertools.product(in_blocks(chunks), EXPONENTS):
            has_score = (t > 0 and not is_fixed) | samples.support.all(axis=1)
            kept = Samples(*(part[has_score] for part in samples))
            truth = class_weights(sizes, t=t) @ recalls
            options = (kept, sizes, t, arguments.level)
            low, high = (
                bootstrap_limits(*options, generator, is_fixed=is_fixed)
                if method.limits is None
                else formula_limits(method, *options, is_fixed=is_fixed)
            )
            holds = (low <= truth + 1e-12) & (truth <= high + 1e-12)
            width = np.nan_to_num(high - low)
            mass = kept.probability
            sums[method.name, t] += mass.sum(), mass @ holds, mass @ width
    return {
        key: (covered / mass, width / mass)
        for key, (mass, covered, width) in sums.items()
        if mass >= 0.5
    }


def summary(found, method, kind):
    """One line: cells, mean, worst by size of the smallest class, mean width."""
    cells = {key: value for key, value in found.items() if key[1] == kind and key[2] == method}
    covered = {key: 100 * value[0] for key, value in cells.items()}
    small = [cover for key, cover in covered.items() if min(key[0].sizes) < 10]
    large = [cover for key, cover in covered.items() if min(key[0].sizes) >= 10]
    values = np.array(list(covered.values()))
    return (
        f"| {method} | {kind} | {len(values)} | {values.mean():.1f} | {min(small):.1f} | "
        f"{min(large):.1f} | {(values < 90).mean():.2f} | {np.abs(values - 95).mean():.2f} | "
        f"{np.mean([value[1] for value in cells.values()]):.3f} |"
    )


def main(argv=None):
    """Print the coverage of every method as a Markdown table, then the worst cells."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000, help="for three classes or more")
    parser.add_argument("--bootstrap", type=int, default=1_000, help="samples, 0 to leave it out")
    parser.add_argument("--level", type=float, default=0.95)
    parser.add_argument("--cells", action="store_true", help="every cell, not only the worst")
    arguments = parser.parse_args(argv)
    methods = [m for m in INTERVALS if m.limits is not None or arguments.bootstrap]
    generator, found = np.random.default_rng(0), {}
    for scenario, is_fixed in itertools.product(SCENARIOS, [True, False]):
        start, kind = time.perf_counter(), "fixed" if is_fixed else "own"
        cells = measured(scenario, methods, arguments, generator, is_fixed=is_fixed)
        found |= {(scenario, kind, *key): value for key, value in cells.items()}
        print(f"{scenario} {kind}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    print(
        "| method | prevalence | cells | mean % | worst, 3-9 rows | worst, 10 rows or more", end=""
    )
    print(" | share < 90 | mean abs. deviation | width |\n|---|---|---|---|---|---|---|---|---|")
    for method, kind in itertools.product(methods, ["own", "fixed"]):
        print(summary(found, method.name, kind))
    for method in methods:
        of_method = {key: value for key, value in found.items() if key[2] == method.name}
        worst = sorted(of_method, key=lambda key: of_method[key][0])
        print(f"\n{method.name}, {'all' if arguments.cells else 'worst'} cells:\n")
        for key in worst if arguments.cells else worst[:8]:
            print(f"* {100 * of_method[key][0]:.1f} %: {key[0]}, {key[1]}, t={key[3]:g}")


if __name__ == "__main__":
    main()
