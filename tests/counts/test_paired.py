"""Joint cells of two models: what is derived from them, how they add up, and what they take."""

import numpy as np
import pandas as pd
import pytest

import pandas_tba as tba
from pandas_tba.counts.groups import Groups
from pandas_tba.counts.paired import PairedCounts
from pandas_tba.counts.storage import gathered

MODELS = ["a", "b", "c"]
LABELS = ["cat", "dog", "owl"]


def frame_of(n_rows=300, labels=LABELS, seed=0):
    random = np.random.default_rng(seed)
    columns = {name: random.choice(labels, n_rows) for name in ["y_true", *MODELS]}
    return pd.DataFrame(columns).assign(
        w=random.gamma(1.0, 2.0, n_rows), g=random.choice([*"xy"], n_rows)
    )


def dense(pairs, quantity=0):
    """One quantity as an array (G, L, L, L)."""
    n_labels = len(pairs.label_set.values)
    held = np.zeros((len(pairs), n_labels, n_labels, n_labels))
    np.add.at(held, pairs.joint[:4], pairs.joint.quantities[quantity])
    return held


@pytest.mark.parametrize("weight", [None, "w"])
def test_everything_is_derived_from_the_joint_cells(weight):
    frame = frame_of()
    pairs = tba.count_pairs(frame, y_pred=MODELS, by="g", sample_weight=weight)
    counts = tba.count(frame, y_pred=MODELS, by="g", sample_weight=weight)
    quantity = 0 if weight is None else 1
    joint = dense(pairs, quantity)
    diagonal = np.arange(3)
    both = joint[:, diagonal, diagonal, diagonal]
    of_a, of_b = joint.sum(axis=3), joint.sum(axis=2)
    right = [part[:, diagonal, diagonal] for part in (of_a, of_b)]
    exact = {"rtol": 1e-12}
    np.testing.assert_allclose(pairs.cells[:, :, 1, 1], both, **exact)
    np.testing.assert_allclose(pairs.cells[:, :, 1].sum(axis=2), right[0], **exact)
    np.testing.assert_allclose(pairs.cells[:, :, :, 1].sum(axis=2), right[1], **exact)
    np.testing.assert_allclose(pairs.support, joint.sum(axis=(2, 3)), **exact)
    np.testing.assert_allclose(pairs.weight, joint.sum(axis=(1, 2, 3)), **exact)
    assert pairs.rows.tolist() == dense(pairs).sum(axis=(1, 2, 3)).tolist()
    assert pairs.class_rows.tolist() == dense(pairs).sum(axis=(2, 3)).tolist()
    only_one = (
        dense(pairs)[:, diagonal, diagonal].sum() + dense(pairs)[:, diagonal, :, diagonal].sum()
    )
    assert (
        pairs.discordant.sum() == only_one - 2 * dense(pairs)[:, diagonal, diagonal, diagonal].sum()
    )
    places = {name: at for at, name in enumerate(counts.groups)}
    for at, (a, b, g) in enumerate(pairs.groups):
        np.testing.assert_allclose(of_a[at], counts.cells[places[a, g]], **exact)
        np.testing.assert_allclose(of_b[at], counts.cells[places[b, g]], **exact)


@pytest.mark.parametrize("weight", [None, "w"])
def test_sums_of_parts_and_groups(weight):
    frame = frame_of()
    options = {"y_pred": MODELS, "sample_weight": weight}
    parts = [frame[:90], frame[90:]]
    by_group = sum(tba.count_pairs(part, by="g", **options) for part in parts)
    whole = tba.count_pairs(frame, by="g", **options)
    pooled = tba.count_pairs(frame, **options)
    for quantity in range(1 if weight is None else 3):
        np.testing.assert_allclose(dense(by_group, quantity), dense(whole, quantity), rtol=1e-12)
        np.testing.assert_allclose(
            dense(whole.pooled(), quantity), dense(pooled, quantity), rtol=1e-12
        )
    assert whole.pooled().pairs == pooled.pairs


def test_labels_of_either_model_that_are_no_class():
    frame = pd.DataFrame({"y_true": [*"aabb"], "a": [*"aabz"], "b": ["a", "?", "b", "b"]})
    with pytest.warns(tba.InputWarning, match="'z'"):
        found = tba.count_pairs(frame, y_pred=["a", "b"], abstain=["?"])
    assert found.label_set.classes == ["a", "b"]
    labels = found.label_set.values
    cells = {
        tuple(labels[place] for place in line): rows
        for *line, rows in zip(*found.joint[1:4], found.joint.quantities[0], strict=True)
    }
    assert cells == {("a",) * 3: 1, ("a", "a", "?"): 1, ("b",) * 3: 1, ("b", "z", "b"): 1}
    assert found.cells.tolist() == [[[[0, 0], [1, 1]], [[0, 1], [0, 1]]]]


def test_memory_follows_the_cells_that_hold_rows():
    random = np.random.default_rng(0)
    y_true = random.integers(4000, size=20_000)
    columns = {
        name: np.where(random.random(20_000) < 0.8, y_true, random.integers(4000, size=20_000))
        for name in "ab"
    }
    frame = pd.DataFrame({"y_true": y_true, **columns, "g": random.integers(5, size=20_000)})
    question = {"y_pred": ["a", "b"], "labels": range(4000)}
    pairs = tba.count_pairs(frame, by="g", **question)
    assert (
        sum(quantity.nbytes for quantity in (*pairs.stored.quantities, pairs.stored.keys))
        <= 2 * 8 * 20_000
    )
    halves = [tba.count_pairs(part, by="g", **question) for part in (frame[:9000], frame[9000:])]
    for found in (sum(halves), pairs):
        assert found.stored.keys.tolist() == pairs.stored.keys.tolist()
        assert found.stored.quantities[0].tolist() == pairs.stored.quantities[0].tolist()
    assert pairs.pooled().cells.tolist() == tba.count_pairs(frame, **question).cells.tolist()
    assert pairs.cells.sum() == pairs.support.sum() == 20_000


@pytest.mark.parametrize("name", ["cells", "unpaired"])
def test_read_only(name):
    held = getattr(tba.count_pairs(frame_of(), y_pred=MODELS), name)
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 0


ERRORS = {
    "shapes that do not fit": (
        lambda pairs: PairedCounts(pairs.stored, pairs.unpaired, pairs.label_set, Groups()),
        ("`stored` must have the shape (1, 3, 9), `unpaired` (1,); got (3, 3, 9) and (3,)."),
    ),
    "weights in one part": (
        lambda pairs: pairs + tba.count_pairs(frame_of(), y_pred=MODELS, sample_weight="w"),
        (
            "Counts can be added only when both are weighted or both are not; count both with, or "
            "both without sample_weight=."
        ),
    ),
    "cells beyond all numbers": (
        lambda pairs: gathered((2, 3 * 10**6, 9 * 10**12), pairs.stored.entries()),
        (
            "2 groups of 3,000,000 true and 9,000,000,000,000 predicted labels, or pairs of them, "
            "are too many for one table. Make one label of rare ones."
        ),
    ),
}


@pytest.mark.parametrize(("ask", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(ask, text):
    with pytest.raises(tba.InputError) as caught:
        ask(tba.count_pairs(frame_of(), y_pred=MODELS))
    assert str(caught.value) == text


def test_other_things_are_not_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        tba.count_pairs(frame_of(), y_pred=MODELS) + tba.count(frame_of(), y_pred="a")
