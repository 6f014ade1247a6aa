"""Slices agree with disparities of the same groups, worst first, and are found fast."""

import itertools
import time

import numpy as np
import pandas as pd
import pytest

import pandas_tba as tba
from pandas_tba.questions.disparities import disparity
from pandas_tba.questions.slices import slices

COLUMNS = ["slice", "n", "min_support", "n_absent", "score", "difference", "low", "high", "p_value",
           "p_adjusted", "reason"]  # fmt: skip


def random_frame(n_rows=400, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"y_true": random.choice(["no", "yes"], n_rows)})
    frame["y_pred"] = np.where(random.random(n_rows) < 0.8, frame["y_true"], "no")
    frame["sex"] = random.choice(["F", "M"], n_rows)
    frame["age"] = random.integers(1, 4, n_rows)
    frame["region"] = random.choice(np.array(["N", "S", None], dtype=object), n_rows)
    return frame


KEYS = ["sex", "age", "region"]


@pytest.mark.parametrize("depth", [1, 2, 3, 9])
def test_slices_are_groups_against_the_rest(depth):
    frame = random_frame()
    table = slices(tba.count(frame, by=KEYS), depth=depth, t=0.5).set_index("slice")
    n_slices = 0
    for size in range(1, min(depth, 3) + 1):
        for keys in itertools.combinations(KEYS, size):
            groups = disparity(tba.count(frame, by=list(keys)), t=0.5, reference="rest")
            n_slices += len(groups)
            for key, row in groups.iterrows():
                values = key if size > 1 else (key,)
                words = [
                    f"{name} missing" if pd.isna(value) else f"{name}={value}"
                    for name, value in zip(keys, values, strict=True)
                ]
                found = table.loc[" & ".join(words)]
                same = ["n", "min_support", "n_absent", "score", "difference"]
                assert found[same].tolist() == pytest.approx(row[same].tolist(), nan_ok=True)
                # by draws of finer groups
                assert found["p_value"] == pytest.approx(row["p_value"], abs=0.05, nan_ok=True)
                assert found["low"] <= row["low"]
                assert found["high"] >= row["high"]
    assert len(table) == n_slices


def test_shape_order_and_attrs():
    frame = random_frame(60)
    table = slices(tba.count(frame, by=KEYS), depth=3, t=0)
    assert table.columns.tolist() == COLUMNS
    assert table.index.tolist() == list(range(len(table)))
    whole = table["n_absent"] == 0
    assert whole.tolist() == sorted(whole.tolist(), reverse=True)
    assert table.loc[whole, "score"].is_monotonic_increasing
    assert (~whole).any()
    assert table.loc[~whole, "difference"].isna().all()
    assert (table["reason"] != "").equals(~whole)
    assert set(table.loc[~whole, "reason"]) == {"no rows of 'no'", "no rows of 'yes'"}
    assert table.attrs["tba"] == {
        "classes": ["no", "yes"], "t": 0.0, "chance": 0.5, "prevalence": "pooled", "level": 0.95,
        "depth": 3, "adjust": "max_t",
    }  # fmt: skip


def test_models_stand_in_blocks():
    frame = random_frame().assign(other=lambda frame: frame["y_true"])
    table = slices(tba.count(frame, y_pred=["y_pred", "other"], by=KEYS), depth=1)
    single = slices(tba.count(frame, y_pred="y_pred", by=KEYS), depth=1)
    assert table.index.unique().tolist() == ["y_pred", "other"]
    same = ["slice", "score", "difference", "p_value"]
    mine = table.loc["y_pred", same].reset_index(drop=True)
    pd.testing.assert_frame_equal(mine, single[same], check_names=False)
    assert (table.loc["other", "score"] == 1).all()


def test_least_support_and_a_slice_without_rest():
    frame = random_frame(60).assign(one="x")
    counts = tba.count(frame, by=[*KEYS, "one"])
    table = slices(counts, depth=2, min_support=5)
    assert (table["min_support"] >= 5).all()
    assert table.set_index("slice").loc["one=x", "reason"] == "no other rows"
    assert len(table) < len(slices(counts, depth=2))


def test_simultaneous_limits_rarely_miss():
    random = np.random.default_rng(1)
    missed = 0
    for _ in range(60):
        frame = random_frame(600, seed=int(random.integers(1 << 30)))
        table = slices(tba.count(frame, by=KEYS), depth=2, t=1, n_replicates=200)
        missed += bool(((table["low"] > 0) | (table["high"] < 0)).any())
        assert (table["p_adjusted"] >= table["p_value"]).all()
    assert missed <= 6


def test_limits_of_many_small_slices_hold_together():
    # with Wilson limits at the level of Sidak all of them hold in 7 tables of 10
    random, n, held = np.random.default_rng(2), np.array([10, 10]), []
    for _ in range(60):
        hits = random.binomial(n, [0.9, 0.8], size=(200, 2))
        cells = [[[h[0], 10 - h[0]], [10 - h[1], h[1]]] for h in hits]
        counts = tba.ConfusionCounts.from_matrix(cells, groups=pd.Index(range(200), name="g"))
        table = slices(counts, depth=1, n_replicates=1)
        held.append(((table["low"] <= 0) & (table["high"] >= 0)).all())
    assert np.mean(held) >= 0.9


def test_weighted_rows():
    frame = random_frame().assign(w=3.0)
    plain, weighted = (slices(tba.count(frame, by=KEYS, sample_weight=w)) for w in (None, "w"))
    assert weighted.columns.tolist() == [*COLUMNS[:2], "weight", *COLUMNS[2:]]
    assert weighted["weight"].tolist() == (3 * weighted["n"]).tolist()
    same = ["n", "min_support", "score", "difference", "low", "high"]
    assert weighted.attrs["tba"]["adjust"] == "holm"
    assert weighted[same].to_numpy() == pytest.approx(plain[same].to_numpy(), nan_ok=True)


def test_no_rows():
    table = slices(tba.count(random_frame(5)[:0], by=KEYS))
    assert table.columns.tolist() == COLUMNS
    assert len(table) == 0


def test_hundred_thousand_slices():
    random, n = np.random.default_rng(0), 300_000
    columns = {
        name: random.integers(0, size, n) for name, size in (("a", 30), ("b", 40), ("c", 90))
    }
    labels = {name: random.integers(0, 2, n) for name in ("y_true", "y_pred")}
    counts = tba.count(pd.DataFrame(labels | columns), by=["a", "b", "c"])
    start = time.perf_counter()
    table = slices(counts, depth=3, t=1)
    assert len(table) > 100_000
    assert time.perf_counter() - start < 10  # three on a quiet machine


ERRORS = {
    "depth": (
        {"depth": 0},
        "`depth` must be a whole number of keys, 1 or more; got 0.",
    ),
    "adjust": (
        {"adjust": "max-t"},
        "`adjust` must be one of 'max_t', 'holm', 'fdr_bh' or None; got 'max-t'.",
    ),
    "level": ({"level": 1}, "`level` must be a number between 0 and 1, such as 0.95; got 1."),
    "min_support": (
        {"min_support": 0.5},
        "`min_support` must be a whole number of rows, 0 or more; got 0.5.",
    ),
}


@pytest.mark.parametrize(("options", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(options, text):
    with pytest.raises(tba.InputError) as caught:
        slices(tba.count(random_frame(), by=KEYS), **options)
    assert str(caught.value) == text
