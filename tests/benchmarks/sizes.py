"""How often the tests of `compare` and `gap` find a difference where there is none.

python tests/benchmarks/sizes.py [--samples 4000]

Both are asked at 5 percent. Two models with the same recall in every class: each discordant row is
a fair coin. Groups with the same recalls: hits are binomial.
"""

import argparse

import numpy as np

import pandas_tba as tba
from pandas_tba.inference.pvalues import paired_mid_p
from pandas_tba.scoring.tempering import class_weights

EXPONENTS = [-0.5, 0.0, 0.5, 1.0]
# rows of each class, and the share of them that only one of the two models gets right
PAIRED = [
    ((95, 5), (0.06, 0.3)),
    ((50, 50), (0.2, 0.2)),
    ((80, 15, 5), (0.1, 0.2, 0.4)),
    ((475, 25), (0.06, 0.3)),
    ((2000, 100), (0.02, 0.2)),
]
# number of groups, rows of each class in each, recalls
GROUPS = [
    (2, (45, 5)),
    (5, (90, 10)),
    (10, (90, 10)),
    (10, (450, 50)),
    (20, (90, 10)),
    (50, (45, 5)),
]
RECALLS = (0.95, 0.75)
REPLICATES = 500


def paired_size(sizes, shares, t, n_samples, generator):
    """Share of samples with a p-value of at most 0.05."""
    discordant = generator.binomial(sizes, shares, size=(n_samples, len(sizes)))
    only_a = generator.binomial(discordant, 0.5)
    steps = class_weights(np.array(sizes, dtype=float), t=t) / sizes
    kinds, times = np.unique(np.hstack([only_a, discordant - only_a]), axis=0, return_counts=True)
    p_values = np.array([paired_mid_p(steps, *np.split(kind, 2)) for kind in kinds.astype(float)])
    return times[p_values <= 0.05].sum() / n_samples


def gap_size(n_groups, sizes, t, n_samples, generator):
    """Share of samples with a p-value of at most 0.05."""
    found = 0
    for _ in range(n_samples):
        hits = generator.binomial(sizes, RECALLS, size=(n_groups, 2))
        (first, second), (right, wrong) = hits.T, (np.array(sizes) - hits).T
        matrices = np.stack([first, right, wrong, second], axis=1).reshape(n_groups, 2, 2)
        counts = tba.ConfusionCounts.from_matrix(matrices, groups=range(n_groups))
        table = tba.gap(counts, t=t, n_replicates=REPLICATES, generator=generator)
        found += table["p_value"].iloc[0] <= 0.05
    return found / n_samples


def main(argv=None):
    """Print two Markdown tables, in percent."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=4_000, help="a quarter as many for gaps")
    n_samples = parser.parse_args(argv).samples
    generator = np.random.default_rng(0)
    heads = " | ".join(f"t = {t:g}" for t in EXPONENTS)
    print(f"| compare: class sizes | discordant | {heads} |\n|{' --- |' * (2 + len(EXPONENTS))}")
    for sizes, shares in PAIRED:
        found = [100 * paired_size(sizes, shares, t, n_samples, generator) for t in EXPONENTS]
        cells = [
            "/".join(map(str, sizes)),
            "/".join(map(str, shares)),
            *(f"{x:.1f}" for x in found),
        ]
        print(f"| {' | '.join(cells)} |", flush=True)
    print(f"\n| gap: groups | class sizes | {heads} |\n|{' --- |' * (2 + len(EXPONENTS))}")
    for n_groups, sizes in GROUPS:
        found = [100 * gap_size(n_groups, sizes, t, n_samples // 4, generator) for t in EXPONENTS]
        cells = [str(n_groups), "/".join(map(str, sizes)), *(f"{x:.1f}" for x in found)]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
