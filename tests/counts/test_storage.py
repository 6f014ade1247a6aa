"""Dense and sparse cells answer alike."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import pandas_tba as tba
from pandas_tba.counts import storage as cells
from pandas_tba.counts.storage import ROWS, SQUARES, WEIGHT, Cells, Entries, gathered, stacked


@st.composite
def entries(draw, shape=(3, 4, 4)):
    n = draw(st.integers(0, 30))
    axes = [draw(st.lists(st.integers(0, size - 1), min_size=n, max_size=n)) for size in shape]
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)), dtype=float)
    quantities = (np.ones(n, dtype=np.int64), weights, weights * weights)
    return Entries(*(np.array(axis, dtype=np.intp) for axis in axes), quantities)


def both(shape, found):
    """The same cells dense, and sparse."""
    dense = gathered(shape, found)
    assert dense.keys is None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "DENSE_CELLS", -1)
        sparse = gathered(shape, found._replace(quantities=found.quantities))
        if sparse.keys is None:  # as many entries as a quarter of the cells
            keys = np.flatnonzero(dense.quantities[ROWS])
            quantities = tuple(quantity.reshape(-1)[keys] for quantity in dense.quantities)
            sparse = Cells(shape, quantities, keys)
    return dense, sparse


def assert_same(first, second):
    assert first.shape == second.shape
    for quantity in (ROWS, WEIGHT, SQUARES):
        np.testing.assert_array_equal(first.dense(quantity), second.dense(quantity))
        for name in ("hits", "support", "predicted"):
            mine, theirs = (getattr(part, name)(quantity) for part in (first, second))
            np.testing.assert_array_equal(mine, theirs)
    for name in ("rows_of_groups", "rows_of_true", "rows_of_predicted"):
        mine, theirs = (getattr(part, name)() for part in (first, second))
        np.testing.assert_array_equal(mine, theirs)


@given(entries())
def test_sums_are_the_same(found):
    assert_same(*both((3, 4, 4), found))


@given(entries(), entries())
def test_adding_is_the_same(first, second):
    dense, sparse = zip(both((3, 4, 4), first), both((3, 4, 4), second), strict=True)
    assert_same(dense[0] + dense[1], sparse[0] + sparse[1])
    assert_same(stacked(dense), stacked(sparse))
    assert_same(dense[0] + sparse[1], sparse[0] + dense[1])


@given(
    entries(), st.permutations(range(-1, 4)), st.lists(st.integers(-1, 2), min_size=3, max_size=3)
)
def test_moving_is_the_same(found, labels, groups):
    label, group = np.array(labels[:4]), np.array(groups)
    dense, sparse = both((3, 4, 4), found)
    assert_same(*(part.moved(group, label, label, (3, 4, 4)) for part in (dense, sparse)))


@pytest.mark.parametrize("weighted", [False, True])
def test_more_cells_than_fit(weighted):
    generator = np.random.default_rng(3)
    n, n_labels, n_groups = 40_000, 1_000, 5_000
    frame = pd.DataFrame(
        {
            "y_true": generator.integers(0, n_labels, n),
            "g": generator.integers(0, n_groups, n),
            "w": generator.integers(1, 5, n),
        }
    )
    frame["y_pred"] = np.where(
        generator.random(n) < 0.5, frame["y_true"], generator.integers(0, n_labels, n)
    )
    door = frame.tba(sample_weight="w") if weighted else frame.tba
    counts = door.counts(by="g")
    size = {"n": ("w", "size"), "weight": ("w", "sum")}
    expected = frame.groupby(["g", "y_true", "y_pred"]).agg(**size).reset_index()
    table = counts.to_table()
    assert table["n"].tolist() == expected["n"].tolist()
    assert table["y_pred"].tolist() == expected["y_pred"].tolist()
    if weighted:
        assert table["weight"].tolist() == expected["weight"].tolist()
    weight = frame["w"] if weighted else pd.Series(1, index=frame.index)
    right = (weight * (frame["y_true"] == frame["y_pred"])).groupby(frame["g"]).sum()
    accuracy = tba.metrics(counts, metrics="accuracy")["accuracy"]
    np.testing.assert_allclose(accuracy, right / weight.groupby(frame["g"]).sum())
    with pytest.raises(tba.InputError) as raised:
        counts.cells  # noqa: B018  the property raises
    assert str(raised.value) == (
        f"{frame['g'].nunique():,} groups of 1,000 x 1,000 labels are more than 67,108,864 cells, too many for one "
        "array. to_table() lists those that hold rows; hits, support and predicted have the sums."
    )
    assert_frame_equal(counts.pooled().to_table(), door.counts().to_table())
    halves = [
        half.tba(sample_weight="w") if weighted else half.tba for half in (frame[::2], frame[1::2])
    ]
    together = halves[0].counts(by="g") + halves[1].counts(by="g")
    assert_frame_equal(together.to_table(), table)


def test_more_combinations_of_keys_than_an_integer_can_number():
    generator = np.random.default_rng(4)
    n = 200
    keys = {f"k{at}": generator.permutation(n) for at in range(9)}
    frame = pd.DataFrame({"y_true": [0, 1] * (n // 2), "y_pred": [0, 1] * (n // 2), **keys})
    counts = frame.tba.counts(by=list(keys))
    assert len(counts) == n
    assert counts.groups.to_frame(index=False).equals(
        frame[list(keys)].sort_values(list(keys)).reset_index(drop=True)
    )


def test_more_groups_and_labels_than_fit_side_by_side():
    n = 20_000
    frame = pd.DataFrame({"y_true": np.arange(n), "y_pred": np.arange(n)[::-1], "g": np.arange(n)})
    counts = frame.tba.counts(by="g")
    assert repr(counts).startswith("<ConfusionCounts: 20,000 rows, 20,000 groups by 'g', 20000 ")
    assert len(counts.to_table()) == n
    with pytest.raises(tba.InputError) as raised:
        tba.metrics(counts)
    assert str(raised.value) == (
        "20,000 groups of 20,000 labels are too many for one table. Group by fewer keys, or make "
        "one label of rare ones."
    )
