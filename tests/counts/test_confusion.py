"""ConfusionCounts: made from matrices and tables, added, rolled up, turned back into tables."""

import copy
import decimal
import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from pandas.testing import assert_frame_equal

import pandas_tba as tba
from pandas_tba.reports.rankings import rankings_of

mpl.use("agg")
MATRIX = [[63, 27], [2, 8]]
from_matrix, from_table = tba.ConfusionCounts.from_matrix, tba.ConfusionCounts.from_table


@pytest.fixture
def frame():
    random = np.random.default_rng(3)
    columns = {name: random.choice([*"abc"], 60) for name in ("y_true", "y_pred")}
    keys = {"g": random.choice([*"uvw"], 60), "h": random.integers(3, size=60)}
    return pd.DataFrame({**columns, **keys})


INPUTS = {
    "list": MATRIX,
    "int32": np.array(MATRIX, dtype=np.int32),
    "uint64": np.array(MATRIX, dtype=np.uint64),
    "float": np.array(MATRIX, dtype=float),
    "object": np.array(MATRIX, dtype=object),
    "Decimal": [[decimal.Decimal(cell) for cell in row] for row in MATRIX],
    "one group": [MATRIX],
    "DataFrame": pd.DataFrame(MATRIX),
    "DataFrame, turned": pd.DataFrame(MATRIX).iloc[::-1, ::-1],
    "DataFrame of Int64": pd.DataFrame(MATRIX).astype("Int64"),
}


@pytest.mark.parametrize("matrix", INPUTS.values(), ids=INPUTS)
def test_from_matrix(matrix):
    counts = from_matrix(matrix)
    assert counts.cells.dtype == np.int64
    assert counts.cells.tolist() == [MATRIX]
    assert (counts.labels.tolist(), counts.pos_label, counts.model) == ([0, 1], 1, None)
    assert [part.tolist() for part in (counts.hits, counts.support, counts.predicted)] == [
        [[63, 8]],
        [[90, 10]],
        [[65, 35]],
    ]
    assert (counts.rows.tolist(), len(counts)) == ([100], 1)


def test_from_matrix_shares_no_memory():
    matrix = np.array(MATRIX)
    counts = from_matrix(matrix)
    matrix[:] = 0
    assert counts.cells.tolist() == [MATRIX]


def test_from_crosstab(frame):
    counts = from_matrix(pd.crosstab(frame["y_true"], frame["y_pred"])[["c", "a", "b"]])
    assert_frame_equal(counts.to_table(), frame.tba.counts().to_table())


def test_from_matrix_with_abstain():
    counts = from_matrix([[3, 0, 1], [1, 2, 0], [0, 0, 0]], labels=["a", "b"], abstain=["?"])
    assert (counts.labels.tolist(), counts.is_class.tolist()) == ([*"ab?"], [True, True, False])
    assert counts.declared


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (["v", "u"], ["u", "v"]),
        (pd.Index([2, 1], name="g"), [1, 2]),
        (pd.CategoricalIndex(["v", "u"], categories=["v", "u"]), ["v", "u"]),
        (pd.MultiIndex.from_tuples([("b", 1), ("a", 2)], names=["g", "h"]), [("a", 2), ("b", 1)]),
        ([("b", 1), ("a", 2)], [("a", 2), ("b", 1)]),
    ],
    ids=str,
)
def test_from_matrix_with_groups(groups, expected):
    counts = from_matrix([MATRIX, np.zeros((2, 2))], groups=groups)
    assert counts.groups.tolist() == expected
    assert counts.rows.tolist() == ([100, 0] if list(groups) == expected else [0, 100])


def test_from_matrix_with_a_missing_group():
    counts = from_matrix([MATRIX, np.zeros((2, 2))], groups=[None, 1.5])
    assert counts.groups.isna().tolist() == [False, True]
    assert counts.rows.tolist() == [0, 100]


def test_from_matrix_adds_groups_that_repeat():
    assert from_matrix([MATRIX, MATRIX], groups=["u", "u"]).rows.tolist() == [200]


@pytest.mark.parametrize("by", [None, "h"])
@pytest.mark.parametrize("name", ["model", "who", None])
def test_from_matrix_with_models(frame, by, name):
    expected = (
        frame.assign(other=frame["g"].map({"u": "a", "v": "b", "w": "c"}))
        .tba(y_pred=["other", "y_pred"], labels=[*"abc"])
        .counts(by)
    )
    keys = [expected.groups.get_level_values(at) for at in range(expected.groups.nlevels)]
    models = keys[0].rename(name)
    groups = pd.MultiIndex.from_arrays([*keys[1:], models]) if by else models
    levels = {groups.nlevels - 1, -1, *([] if name is None else [groups.names[-1]])}
    for model in levels:
        found = from_matrix(expected.cells, labels=[*"abc"], groups=groups, model=model)
        assert_frame_equal(found.to_table(), expected.to_table())
        assert found.model == "model"
        for ask in (tba.per_class, tba.crossings):
            assert_frame_equal(ask(found), ask(expected))
        titles = [ranking.title for ranking in rankings_of(found)]
        assert titles == [ranking.title for ranking in rankings_of(expected)]
        assert np.shape(tba.plot_curve(found)) == (() if by is None else (3,))
    plt.close("all")


NUMBERS = {
    "int64": lambda n: n,
    "uint32": lambda n: n.astype("uint32"),
    "float": lambda n: n.astype(float),
    "object": lambda n: n.astype(object),
    "Decimal": lambda n: n.map(decimal.Decimal),
    "Int64": lambda n: n.astype("Int64"),
    "arrow": lambda n: n.astype("int64[pyarrow]"),
}


@pytest.mark.parametrize("stored", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("keys", [[], ["g"], ["g", "h"]], ids=str)
def test_from_table_takes_what_a_group_by_gives(frame, stored, keys):
    table = frame.groupby([*keys, "y_true", "y_pred"]).size().rename("n").reset_index()
    counts = from_table(table.assign(n=stored(table["n"])))
    expected = frame.tba.counts(by=keys or None)
    assert_frame_equal(counts.to_table(), expected.to_table())
    assert counts.groups.equals(expected.groups)


def test_from_table_leads_back_in_any_order(frame):
    counts = frame.tba.counts(by=["g", "h"])
    table = counts.to_table().sample(frac=1, random_state=1)
    halves = pd.concat([table.assign(n=table["n"] - 1), table.assign(n=1)])
    assert_frame_equal(from_table(halves).to_table(), counts.to_table())


def test_from_table_with_models(frame):
    long = frame.rename(columns={"g": "who"})
    counts = long.tba(model="who").counts(by="h")
    found = from_table(counts.to_table().rename(columns={"model": "who"}), model="who")
    assert found.model == counts.model == "model"
    assert_frame_equal(found.to_table(), counts.to_table())


def test_to_table_of_unnamed_keys(frame):
    table = frame.tba.counts(by=[frame["g"].to_numpy(), "h"]).to_table()
    assert list(table.columns) == ["group_0", "h", "y_true", "y_pred", "n"]
    assert table["n"].sum() == len(frame)


def test_rollup_and_pooled(frame):
    counts = frame.tba.counts(by=["g", "h"])
    for levels, by in [("g", "g"), (["h"], "h"), (1, "h"), (-1, "h"), (["h", "g"], ["h", "g"])]:
        expected = frame.tba.counts(by=by)
        found = counts.rollup(levels)
        assert_frame_equal(found.to_table(), expected.to_table())
        assert found.groups.equals(expected.groups)
    assert_frame_equal(counts.pooled().to_table(), frame.tba.counts().to_table())


def test_models_stay_apart(frame):
    wide = frame.assign(other="a").tba(y_pred=["y_pred", "other"])
    counts = wide.counts(by=["g", "h"])
    assert counts.pooled().groups.tolist() == ["y_pred", "other"]
    assert counts.rollup("g").groups.names == ["model", "g"]
    assert_frame_equal(counts.rollup("h").to_table(), wide.counts(by="h").to_table())


def test_sum_of_shards(frame):
    whole = frame.tba.counts(by=["g", "h"])
    shards = [part.tba.counts(by=["g", "h"]) for _, part in frame.groupby("h")]
    assert_frame_equal(sum(shards).to_table(), whole.to_table())
    assert repr(sum(shards)) == repr(whole)


def test_a_shard_with_more_predicted_labels():
    one, other = (pd.DataFrame({"y_true": [a], "y_pred": [b]}) for a, b in ("ab", "ba"))
    with pytest.warns(tba.InputWarning):
        counts = one.tba.counts() + other.tba.counts()
    assert counts.is_class.tolist() == [True, True]
    assert counts.cells.tolist() == [[[0, 1], [1, 0]]]


def test_rows_that_weigh_nothing_add_up():
    shards = [
        pd.DataFrame({"y_true": [*"abc"], "y_pred": [*"abb"], "w": [1.0, 2.0, 0.0]}),
        pd.DataFrame({"y_true": [*"ab"], "y_pred": [*"da"], "w": [1.0, 0.0]}),
    ]
    with pytest.warns(tba.InputWarning):
        whole = pd.concat(shards).tba(sample_weight="w").counts()
    with pytest.warns(tba.InputWarning):
        added = sum(shard.tba(sample_weight="w").counts() for shard in shards)
    assert (added.labels.tolist(), added.is_class.tolist()) == ([*"abcd"], [True] * 3 + [False])
    assert added.rows.tolist() == [5]
    assert_frame_equal(added.to_table(), whole.to_table())


def test_counts_too_large_for_sums_by_group_and_label_add_up():
    groups = np.arange(200_000)
    labels = groups % 2_000
    table = pd.DataFrame({"g": groups, "y_true": labels, "y_pred": labels, "n": 2})
    counts = from_table(table)
    with pytest.raises(tba.InputError, match="are too many for one table"):
        _ = counts.support
    both = counts + counts
    assert_frame_equal(both.to_table(), table.assign(n=4), check_dtype=False)
    assert both.pooled().support.sum() == 800_000


def test_missing_rows_add_up():
    shard = pd.DataFrame({"y_true": ["a", None, "b"], "y_pred": ["a", "b", None]})
    counts = shard.tba(missing="drop").counts()
    twice = counts + counts
    assert (counts.n_missing, dict(counts.missing_by_column)) == (2, {"y_true": 1, "y_pred": 1})
    assert (twice.n_missing, dict(twice.missing_by_column)) == (4, {"y_true": 2, "y_pred": 2})


REPRS = {
    "<ConfusionCounts: 100 rows, 2 classes: 0, 1>": from_matrix(MATRIX),
    "<ConfusionCounts: 1 row, 1 class: 'a'>": from_matrix([[1]], labels=["a"]),
    "<ConfusionCounts: 2,000,000 rows, 2 groups by None, 1 class: 0>": from_matrix(
        [[[10**6]]] * 2, groups=["a", "b"]
    ),
    "<ConfusionCounts: 0 rows, 7 classes: 0, 1, 2, 3, 4 and 2 more>": from_matrix(np.zeros((7, 7))),
}


@pytest.mark.parametrize(("text", "counts"), REPRS.items(), ids=REPRS)
def test_repr(text, counts):
    assert repr(counts) == text


def test_counts_can_be_pickled(frame):
    counts = frame.tba.counts(by="g")
    for again in (pickle.loads(pickle.dumps(counts)), copy.deepcopy(counts), copy.copy(counts)):
        assert_frame_equal(again.to_table(), counts.to_table())
        for name in ("cells", "hits", "support", "predicted", "is_class", "rows", "weight"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(again, name)[0] = 0


def test_tables_can_be_changed_and_counts_cannot():
    counts = from_matrix([[8, 2], [1, 9]])
    table = tba.confusion_matrix(counts)
    table.iloc[0, 1] = 7
    assert counts.cells.tolist() == [[[8, 2], [1, 9]]]
    for name in ("rows", "weight", "is_class", "class_rows", "predicted"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(counts, name)[...] = 0


@pytest.mark.parametrize("groups", [["a", "b"], pd.MultiIndex.from_tuples([(1, "a"), (1, "b")])])
def test_a_renamed_index_of_a_table_leaves_the_counts_alone(groups):
    counts = from_matrix([[[8, 2], [1, 9]]] * 2, groups=groups)
    table = tba.metrics(counts)
    table.index.names = ["changed"] * table.index.nlevels
    assert counts.groups.names == [None] * table.index.nlevels
    assert tba.score(counts).index.names == [None] * table.index.nlevels


def test_a_long_table_with_values_that_no_sample_shows():
    n = 200_003
    table = pd.DataFrame({"y_true": [0, 1] * n, "y_pred": [0, 1] * n, "g": 7, "n": 1})[:n].copy()
    table.loc[100_001, ["y_true", "y_pred", "g"]] = [9, 9, 5_000]
    counts = from_table(table)
    assert counts.labels.tolist() == [0, 1, 9]
    assert counts.groups.tolist() == [7, 5_000]
    assert counts.rows.tolist() == [n - 1, 1]


def test_labels_are_whole_numbers_where_they_can_be():
    frame = pd.DataFrame({"y_true": [1, 2, 3], "y_pred": [1.0, 2.0, 4.0]})
    with pytest.warns(tba.InputWarning):
        counts = tba.count(frame)
    assert counts.labels.dtype == "int64"
    assert counts.labels.tolist() == [1, 2, 3, 4]
    halves = tba.count(frame.assign(y_true=[1, 2, 2.5]), labels=[1, 2, 2.5, 4])
    assert halves.labels.tolist() == [1, 2, 2.5, 4]


def test_repr_of_nothing():
    empty = tba.count(pd.DataFrame({"y_true": [], "y_pred": []}))
    assert repr(empty) == "<ConfusionCounts: 0 rows, 0 classes>"


SHARDS = {
    "booleans and numbers": ([True, False], [0, 1, 2], [0, 1, 2]),
    "booleans and the same numbers": ([True, False], [0, 1], [0, 1]),
    "whole numbers and fractions": ([0, 1], [0.0, 1.0], [0, 1]),
    "numbers of both types": ([3, 1], [2.5, 3.0], [1, 2.5, 3]),
}


@pytest.mark.parametrize("case", SHARDS)
def test_keys_of_shards_have_one_type_in_any_order(case):
    *parts, expected = SHARDS[case]
    shards = [
        tba.count(pd.DataFrame({"y_true": ["a"] * len(keys), "y_pred": "a", "k": keys}), by="k")
        for keys in parts
    ]
    for first, second in (shards, shards[::-1]):
        groups = (first + second).groups
        assert groups.tolist() == expected
        assert [*map(type, groups.tolist())] == [*map(type, pd.Index(expected).tolist())]
