"""Many groups at once: `disparity`, `slices` and `gap`."""

from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

import pandas_tba as tba

from .designs import draw_rows, expected, spread
from .findings import (
    EXTREME,
    FAMILY,
    NO_DIFFERENCE,
    SIZE,
    Limits,
    Rate,
    RateBar,
    judge_limits,
    rate_of,
)
from .names import GAP_CORRECTED, P_FAMILY, P_ROW
from .studies import Study


class Family(NamedTuple):
    """Groups with given rows (G, K) and recalls (G, K) of each class; groups are keys of a grid."""

    name: str
    sizes: np.ndarray
    recalls: np.ndarray
    grid: tuple[int, ...]

    @property
    def keys(self):
        """Keys of the groups."""
        names = [f"key{position}" for position in range(len(self.grid))]
        return pd.MultiIndex.from_product(map(range, self.grid), names=names)

    @property
    def truth(self):
        """Cells (G, K, K) of so many rows that every value is the true one."""
        return expected(self.sizes[..., None] * spread(self.recalls))

    def counts(self, cells):
        """Counts of one sample (G, K, K)."""
        groups = self.keys if len(self.grid) > 1 else self.keys.get_level_values(0)
        pos_label = 1 if cells.shape[-1] == 2 else None
        return tba.ConfusionCounts.from_matrix(cells, groups=groups, pos_label=pos_label)

    def samples(self, cells):
        """Counts of many samples (S, G, K, K), each the groups of one model."""
        keys = pd.MultiIndex.from_product(
            [range(len(cells)), range(cells.shape[1])], names=["sample", "group"]
        )
        pos_label = 1 if cells.shape[-1] == 2 else None
        cells = cells.reshape(-1, *cells.shape[-2:])
        return tba.ConfusionCounts.from_matrix(
            cells, groups=keys, model="sample", pos_label=pos_label
        )


def family(name, *parts, grid=None):
    """Of parts, each so many groups with the rows and recalls of their classes."""
    sizes = np.concatenate([np.tile(size, (n, 1)) for n, size, _ in parts])
    recalls = np.concatenate([np.tile(recall, (n, 1)) for n, _, recall in parts])
    return Family(name, sizes, recalls.astype(float), grid or (len(sizes),))


def scattered(one, by, seed=1):
    """The same groups with recalls moved up or down at random."""
    moved = np.random.default_rng(seed).choice([-by, by], one.recalls.shape)
    return one._replace(
        name=f"{one.name} +-{by:g}", recalls=np.clip(one.recalls + moved, 0, 1).round(4)
    )


def income(depth):
    """Rows and recalls of the groups of the income data, with one recall for all groups."""
    by = ["sex", "age_group", "education"][:depth]
    counts = tba.count(tba.load_income(), y_pred="forest", by=by)
    levels = [counts.groups.get_level_values(name).unique() for name in by]
    table = pd.DataFrame(counts.support, index=counts.groups)
    table = table.reindex(pd.MultiIndex.from_product(levels, names=by), fill_value=0)
    recalls = counts.hits.sum(axis=0) / counts.support.sum(axis=0)
    grid = tuple(map(len, levels))
    return Family(
        f"income, {' x '.join(by)}", table.to_numpy().astype(int),
        np.tile(recalls, (len(table), 1)), grid,
    )  # fmt: skip


FORTY = family("40 of 20/2", (40, (20, 2), (0.9, 0.8)))
NEAR_ONE = family("40 of 20/2, .97/.9", (40, (20, 2), (0.97, 0.9)))
TEN = family("10 of 90/10", (10, (90, 10), (0.9, 0.8)))
MANY = family("200 of 10/10", (200, (10, 10), (0.9, 0.8)))
MIXED = family(
    *("5 of 200/40, 15 of 30/4, 20 of 8/1", (5, (200, 40), (0.9, 0.8))),
    *((15, (30, 4), (0.9, 0.8)), (20, (8, 1), (0.9, 0.8))),
)
THREE = family(
    *("10 of 100/50/20, 30 of 20/10/4", (10, (100, 50, 20), (0.99, 0.97, 0.95))),
    (30, (20, 10, 4), (0.99, 0.97, 0.95)),
)
EQUAL = (FORTY, NEAR_ONE, TEN, MANY, MIXED, THREE)
UNEQUAL = (
    scattered(TEN, 0.05),
    scattered(family("10 of 450/50", (10, (450, 50), (0.9, 0.8))), 0.05),
    scattered(family("40 of 50/20", (40, (50, 20), (0.9, 0.8))), 0.1),
)
GRID = (4, 4, 3)
SLICED = (
    MANY,
    family("4x4x3 of 12/2", (48, (12, 2), (0.9, 0.8)), grid=GRID),
    family("4x4x3 of 6/1", (48, (6, 1), (0.95, 0.9)), grid=GRID),
    scattered(family("4x4x3 of 30/8", (48, (30, 8), (0.9, 0.8)), grid=GRID), 0.05),
    scattered(family("4x4x3 of 12/2", (48, (12, 2), (0.98, 0.95)), grid=GRID), 0.02),
    income(2),
    income(3),
)


def one_low(one, recalls):
    """The same groups, the first of which deviates."""
    moved = one.recalls.copy()
    moved[0] = recalls
    return one._replace(name=f"{one.name}, the first at {recalls}", recalls=moved)


AGAINST_ONE = (
    TEN,
    one_low(TEN, (0.6, 0.5)),
    one_low(family("450/50, 9 of 90/10", (1, (450, 50), (0.9, 0.8)), (9, (90, 10), (0.9, 0.8))),
            (0.6, 0.5)),
)  # fmt: skip


def false_alarms(name, tables):
    """Of a family, and of a row, in tables of rows that do not differ, one for each sample."""
    n_any = sum(bool((table[P_FAMILY] <= 0.05).any()) for table in tables)
    return {
        "any false alarm (adjusted p)": Rate(name, len(tables), n_any),
        "false alarm of a row (p)": rate_of(name, pd.concat(tables)[P_ROW]),
    }


def summed(cells):
    """One cell of all samples."""
    return Limits(cells[0].design, *(sum(cell[part] for cell in cells) for part in range(1, 5)))


def measure_family(
    design, n_samples, generator, *, ask="disparity", joint=False, is_fixed=True, **options
):
    """Any false alarm of a family, of a row, and limits of the differences, one call a sample."""
    function = getattr(tba, ask)

    def answer(cells):
        """The table of one sample; that of slices is sorted by score."""
        table = function(design.counts(cells), t=0.5, **options)
        return table.set_index("slice") if "slice" in table else table

    truth = answer(design.truth)
    null = truth["difference"].abs().fillna(0) < NO_DIFFERENCE
    draws = draw_rows(design.sizes, design.recalls, n_samples, generator, is_fixed=is_fixed)
    tables = [answer(cells).reindex(truth.index) for cells in draws]
    every = [
        judge_limits(
            design.name,
            table.assign(score=table["difference"]),
            truth["difference"].to_numpy(),
            table["min_support"].to_numpy() >= 5,
        )
        for table in tables
    ]
    limits = summed(every)._replace(solid=summed([cell.solid for cell in every]))
    found = {"limits of a row": limits}
    if joint:
        n_missed = sum(cell.too_high + cell.too_low + cell.without > 0 for cell in every)
        found["limits of all rows together"] = Limits(design.name, n_samples, n_missed, 0, 0)
    return found | (
        false_alarms(design.name, [table[null] for table in tables]) if null.any() else {}
    )


GAPS = (
    family("2 of 100", (2, (50, 50), (0.85, 0.85))),
    family("2 of 100, .8 and .9", (1, (50, 50), (0.8, 0.8)), (1, (50, 50), (0.9, 0.9))),
    family("2 of 100, .2 and .4", (1, (50, 50), (0.2, 0.2)), (1, (50, 50), (0.4, 0.4))),
    family("30 and 200, .9 and .97", (1, (15, 15), (0.9,) * 2), (1, (100, 100), (0.97,) * 2)),
    family("10 of 90/10", (10, (90, 10), (0.9, 0.8))),
    scattered(family("10 of 50/50", (10, (50, 50), (0.85, 0.85))), 0.1),
    one_low(family("10 of 50/50", (10, (50, 50), (0.9, 0.9))), (0.7, 0.7)),
    family("5 of 30, 5 of 300", (5, (15, 15), (0.9, 0.9)), (5, (150, 150), (0.9, 0.9))),
    family("40 of 25/25", (40, (25, 25), (0.9, 0.9))),
    one_low(family("40 of 10/10", (40, (10, 10), (0.95, 0.95))), (0.8, 0.8)),
)


def measure_gap(design, n_samples, generator, *, at_once=200):
    """Limits of the gap and of the ratio, the p-value at equality, and the bias that is left."""
    true = tba.gap(design.counts(design.truth), t=0.5, n_replicates=10).iloc[0]
    is_equal = true["gap"] < NO_DIFFERENCE
    tables = [
        tba.gap(
            design.samples(
                draw_rows(design.sizes, design.recalls, min(at_once, n_samples - start), generator)
            ),
            t=0.5,
            n_replicates=1_000,
            generator=generator,
        )
        for start in range(0, n_samples, at_once)
    ]
    table = pd.concat(tables)
    ratios = table[["ratio", "ratio_low", "ratio_high"]].set_axis(["score", "low", "high"], axis=1)
    gaps = table.assign(score=table["gap"])
    found = {
        "limits": judge_limits(design.name, gaps, true["gap"]),
        "limits of the ratio": judge_limits(design.name, ratios, true["ratio"]),
    }
    if is_equal:
        found["p at equality"] = rate_of(design.name, table["p_value"])
    if is_equal and len(design.sizes) >= 5:
        left = table[GAP_CORRECTED].mean() / table["gap"].mean()
        found[LEFT] = Rate(design.name, len(table), round(left * len(table)))
    return found


LEFT = "bias left at equality, in % of the gap"
SAME_SHARES = ["selection_rate", "precision", "recall", "fpr"]
FAMILY_BARS = {
    "false alarm of a row (p)": SIZE,
    "limits of a row": EXTREME,
    "limits of all rows together": EXTREME._replace(has_sides=False),
}

STUDIES = (
    Study("disparity", "6 families of equal groups", EQUAL, measure_family, 1_000, FAMILY,
          FAMILY_BARS, 100, (FORTY, TEN, THREE)),
    Study("disparity", "3 families of unequal groups", UNEQUAL, measure_family, 500, FAMILY,
          FAMILY_BARS),
    Study("disparity, adjust='holm'", "6 families of equal groups", EQUAL,
          partial(measure_family, adjust="holm"), 1_000, FAMILY, FAMILY_BARS),
    Study("disparity, adjust='fdr_bh'", "6 families of equal groups", EQUAL,
          partial(measure_family, adjust="fdr_bh"), 1_000, FAMILY, FAMILY_BARS),
    Study("disparity, one group as reference", "3 families", AGAINST_ONE,
          partial(measure_family, reference=1), 1_000, FAMILY, FAMILY_BARS),
    *(
        Study(f"disparity, {name}", "2 families of equal groups", (TEN, FORTY),
              partial(measure_family, metrics=name, is_fixed=False), 1_000, FAMILY, FAMILY_BARS)
        for name in SAME_SHARES
    ),
    Study("slices", "7 families", SLICED,
          partial(measure_family, ask="slices", depth=3, joint=True), 500, FAMILY,
          FAMILY_BARS, 60, SLICED[:2]),
    Study("gap", "10 families", GAPS, measure_gap, 2_000, SIZE,
          {"limits": EXTREME, "limits of the ratio": EXTREME, LEFT: RateBar("0", 0, 50)}, 100),
)  # fmt: skip
