"""Populations that samples are drawn from: each a row of a table."""

from typing import NamedTuple

import numpy as np

import pandas_tba as tba

SCALE = 100_000_000  # rows from which the truth of a population is computed


class Design(NamedTuple):
    """Rows drawn from one population: probabilities (K, K) of true and predicted class."""

    name: str
    n: int
    cells: np.ndarray


def spread(recalls):
    """Probability (..., K, K) of each prediction by true class: errors are spread evenly."""
    recalls = np.asarray(recalls, dtype=float)
    n_classes = recalls.shape[-1]
    errors = (1 - recalls) / (n_classes - 1)
    eye = np.eye(n_classes)
    return errors[..., None] * (1 - eye) + recalls[..., None] * eye


def two_classes(n, prevalence, recall, specificity):
    """The positive class is the second one."""
    shares = np.array([1 - prevalence, prevalence])
    name = f"{n}/{prevalence:g}/{recall:g}/{specificity:g}"
    return Design(name, n, shares[:, None] * spread([specificity, recall]))


def classes(sizes, recalls):
    """Any number of classes, by their expected rows."""
    shares = np.array(sizes) / sum(sizes)
    name = f"K={len(sizes)} n={sum(sizes)} {sizes[0]}..{sizes[-1]}@{recalls[0]:g}..{recalls[-1]:g}"
    return Design(name, sum(sizes), shares[:, None] * spread(recalls))


THIRTEEN = (
    two_classes(500, 0.05, 0.98, 0.99),
    two_classes(200, 0.2, 0.99, 0.99),
    two_classes(40, 0.5, 0.9, 0.9),
    two_classes(100, 0.1, 0.7, 0.95),
    two_classes(1000, 0.02, 0.8, 0.99),
    two_classes(100, 0.5, 0.99, 0.97),
    two_classes(60, 0.3, 0.5, 0.8),
    two_classes(300, 0.1, 0.9, 0.6),
    two_classes(2000, 0.01, 0.9, 0.95),
    two_classes(50, 0.2, 0.6, 0.9),
    classes((40, 6, 4), (0.9, 0.8, 0.7)),
    classes((60, 30, 10), (0.99, 0.97, 0.95)),
    classes((20,) * 10, (0.8,) * 10),
)
# Recalls near 1 with a rare class, and classes whose recalls or weights tie.
AUDITED = (
    two_classes(500, 0.05, 0.98, 0.98),
    two_classes(500, 0.05, 0.99, 0.98),
    two_classes(500, 0.05, 0.98, 0.999),
    two_classes(100, 0.5, 0.9, 0.9),
    two_classes(2000, 0.5, 0.9, 0.9),
    classes((100, 100, 100), (0.8, 0.8, 0.8)),
    classes((400, 100, 50), (0.9, 0.8, 0.8)),
)


def random_designs(number=60, seed=20_250_601):
    """Two, three or five classes, 60 to 2,000 rows, 8 expected in each class and prediction."""
    generator, found = np.random.default_rng(seed), []
    while len(found) < number:
        n_classes = generator.choice([2, 3, 5])
        n = int(np.exp(generator.uniform(np.log(60), np.log(2000))))
        shares = generator.dirichlet(np.ones(n_classes))
        recalls = 1 - 10 ** generator.uniform(-2.5, -0.3, n_classes)
        cells = shares[:, None] * spread(recalls)
        if n * min(cells.sum(axis=0).min(), cells.sum(axis=1).min()) >= 8:
            name = f"random {len(found)}: K={n_classes} n={n} rarest {n * shares.min():.0f}"
            found.append(Design(f"{name} recalls {recalls.round(3).tolist()}", n, cells))
    return tuple(found)


def draw(design, n_samples, generator, *, is_fixed=False):
    """Cells (S, K, K) of samples; with fixed sizes each class has its expected rows."""
    shape = (n_samples, *design.cells.shape)
    if not is_fixed:
        return generator.multinomial(design.n, design.cells.reshape(-1), n_samples).reshape(shape)
    shares = design.cells.sum(axis=1)
    sizes = np.rint(design.n * shares).astype(int)
    return generator.multinomial(sizes, design.cells / shares[:, None], shape[:2])


def draw_rows(sizes, recalls, n_samples, generator, *, is_fixed=True):
    """Cells (S, G, K, K) of groups with sizes (G, K), given or expected, and recalls (G, K)."""
    sizes = np.asarray(sizes)
    shape = (n_samples, *sizes.shape)
    if is_fixed:
        return generator.multinomial(sizes, spread(recalls), shape)
    n = sizes.sum(axis=1)
    shares = spread(recalls) * (sizes / n[:, None])[..., None]
    cells = generator.multinomial(n, shares.reshape(len(n), -1), shape[:2])
    return cells.reshape(*shape, -1)


def expected(cells):
    """So many rows of the same shares that what is computed from them is the truth."""
    cells = np.asarray(cells, dtype=float)
    return np.rint(cells * (SCALE / cells.sum())).astype(int)


def against_rest(cells):
    """The last class against all others: cells (..., 2, 2)."""
    cells = np.asarray(cells)
    rows = np.stack([cells[..., :-1, :].sum(axis=-2), cells[..., -1, :]], axis=-2)
    return np.stack([rows[..., :-1].sum(axis=-1), rows[..., -1]], axis=-1)


def as_groups(cells):
    """Counts whose groups are the samples (S, K, K)."""
    pos_label = 1 if cells.shape[-1] == 2 else None
    return tba.ConfusionCounts.from_matrix(cells, groups=range(len(cells)), pos_label=pos_label)


def is_solid(cells):
    """Which samples have five rows or more of each class and of each prediction."""
    return np.minimum(cells.sum(axis=-1), cells.sum(axis=-2)).min(axis=-1) >= 5
