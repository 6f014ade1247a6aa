"""Counts of any frame equal those of a slow, obvious loop."""

import decimal
import itertools
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import pandas_tba

MISSING = "missing"  # missing keys of any kind are one key


def plain(value):
    return MISSING if pd.isna(value) else value


def slow_counts(frame, keys=(), y_true="y_true", y_pred="y_pred"):
    """Rows by keys, true and predicted label, one row after the other."""
    columns = [frame[name].tolist() for name in (*keys, y_true, y_pred)]
    counts = Counter()
    for row, n in Counter(zip(*columns, strict=True)).items():
        counts[tuple(map(plain, row))] += n
    return counts


def fast_counts(counts):
    table = counts.to_table()
    rows = zip(*(table[name].tolist() for name in table.columns), strict=True)
    return {tuple(map(plain, key)): n for *key, n in rows}


def random_frame(n_rows, *, n_labels=3, seed=0, **levels):
    random = np.random.default_rng(seed)
    names = {"y_true": n_labels, "y_pred": n_labels, **levels}
    frame = pd.DataFrame({name: random.integers(n, size=n_rows) for name, n in names.items()})
    frame.loc[: n_labels - 1, "y_true"] = np.arange(min(n_labels, n_rows))
    return frame


TEXTS = [object, "str", "string[python]", "string[pyarrow]", "arrow", "category"]
NUMBERS = ["int64", "int8", "uint8", "uint64", "float64", "float32", "Int64", "Float64",
           "int64[pyarrow]", "category", ">i4", object]  # fmt: skip
OTHERS = {
    "bool": lambda codes: codes > 0,
    "boolean": lambda codes: (codes > 0).astype("boolean"),
    "bool arrow": lambda codes: (codes > 0).astype(pd.ArrowDtype(pa.bool_())),
    "datetime": lambda codes: pd.Timestamp("2024-01-31") + pd.to_timedelta(codes, unit="D"),
    "datetime tz": lambda codes: pd.Timestamp("2024-01-31", tz="CET") + pd.to_timedelta(codes, "D"),
    "datetime64[ns]": lambda codes: pd.to_datetime(codes * 10**9).astype("datetime64[ns]"),
    "timedelta": lambda codes: pd.to_timedelta(codes, unit="h").astype("timedelta64[ns]"),
    "period": lambda codes: pd.Series(pd.PeriodIndex.from_ordinals(codes, freq="M")),
    "interval": lambda codes: pd.cut(codes, [-1, 0, 1, 2]).astype(object),
    "cut": lambda codes: pd.cut(codes, [-1, 0, 1, 2]),
    "tuples": lambda codes: pd.Series([(code, "x") for code in codes], dtype=object),
    "date": lambda codes: pd.Series([pd.Timestamp("2024-01-31").date() for _ in codes]),
}


def stored(codes, dtype, *, text):
    if not text:
        return codes.astype(dtype)
    words = codes.map({0: "zero", 1: "one", 2: "two", 3: "t"}).astype(object)
    return words.astype(pd.ArrowDtype(pa.string()) if dtype == "arrow" else dtype)


STORAGES = [(True, dtype) for dtype in TEXTS] + [(False, dtype) for dtype in NUMBERS]


@pytest.mark.parametrize(("text", "dtype"), STORAGES, ids=str)
@pytest.mark.parametrize("n_rows", [0, 1, 7, 40_000])
def test_labels_and_keys_of_every_dtype(text, dtype, n_rows):
    codes = random_frame(n_rows, g=3)
    frame = codes.apply(lambda column: stored(column, dtype, text=text))
    if n_rows > 1:
        assert fast_counts(frame.tba.counts()) == slow_counts(frame)
    door = frame.tba(labels=sorted(set(frame["y_true"].tolist()))) if n_rows > 1 else frame.tba
    if n_rows == 1:
        door = frame.assign(y_pred=frame["y_true"]).tba
        frame["y_pred"] = frame["y_true"]
    assert fast_counts(door.counts(by="g")) == slow_counts(frame, ["g"])


@pytest.mark.parametrize("kind", OTHERS.values(), ids=OTHERS)
def test_keys_of_other_dtypes(kind):
    frame = random_frame(500, g=3, h=2)
    frame["g"] = kind(frame["g"])
    assert fast_counts(frame.tba.counts(by="g")) == slow_counts(frame, ["g"])
    assert fast_counts(frame.tba.counts(by=["h", "g"])) == slow_counts(frame, ["h", "g"])


@pytest.mark.parametrize("kind", OTHERS.values(), ids=OTHERS)
def test_missing_keys_of_other_dtypes(kind):
    frame = random_frame(500, g=3)
    frame["g"] = kind(frame["g"])
    frame["g"] = frame["g"].where(frame.index % 5 > 0)
    counts = frame.tba.counts(by="g")
    assert fast_counts(counts) == slow_counts(frame, ["g"])
    assert counts.groups.isna().sum() == 1
    assert fast_counts(frame.tba.counts(by="g", dropna=True)) == slow_counts(frame.dropna(), ["g"])


@pytest.mark.parametrize("kind", OTHERS.values(), ids=OTHERS)
def test_labels_of_other_dtypes(kind):
    frame = random_frame(500, g=3)
    frame[["y_true", "y_pred"]] = frame[["y_true", "y_pred"]].apply(kind)
    assert fast_counts(frame.tba.counts(by="g")) == slow_counts(frame, ["g"])


@pytest.mark.parametrize("missing_in", [[], ["g"], ["h"], ["g", "h"]], ids=str)
@pytest.mark.parametrize("dtype", [object, "string[pyarrow]", "category", "arrow"])
def test_several_keys_and_missing_ones(missing_in, dtype):
    codes = random_frame(3000, g=4, h=3)
    frame = codes.assign(g=stored(codes["g"], dtype, text=True), h=codes["h"].astype("Float64"))
    for name in missing_in:
        frame[name] = frame[name].where(codes["y_pred"] + codes["h"] > 1)
    counts = frame.tba.counts(by=["g", "h"])
    assert fast_counts(counts) == slow_counts(frame, ["g", "h"])
    complete = frame.tba.counts(by=["g", "h"], dropna=True)
    assert fast_counts(complete) == slow_counts(frame.dropna(), ["g", "h"])


def test_labels_of_two_units_of_time_match():
    days = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02"] * 5))
    frame = pd.DataFrame({"y_true": days.dt.as_unit("ns"), "y_pred": days.dt.as_unit("s")})
    assert frame.tba.score() == 1


SAME_KEYS = {
    "name": lambda df: "g",
    "Series": lambda df: df["g"],
    "Series, shuffled": lambda df: df["g"].sample(frac=1, random_state=0),
    "Series, longer": lambda df: pd.concat([df["g"], pd.Series([9], index=["z"], name="g")]),
    "Index": lambda df: pd.Index(df["g"]),
    "Grouper": lambda df: pd.Grouper(key="g"),
    "list of one": lambda df: ["g"],
    "category": lambda df: df["g"].astype("category"),
}


@pytest.mark.parametrize("key", SAME_KEYS.values(), ids=SAME_KEYS)
def test_a_key_in_all_its_forms(key):
    frame = random_frame(200, g=3).set_axis([f"row {at}" for at in range(200)])
    expected = frame.tba.counts(by="g")
    counts = frame.tba.counts(by=key(frame))
    assert_frame_equal(counts.to_table(), expected.to_table(), check_categorical=False)
    assert counts.groups.names == ["g"]


@pytest.mark.parametrize("values", [np.asarray, pd.array, pd.Categorical], ids=lambda f: f.__name__)
def test_arrays_have_no_name(values):
    frame = random_frame(200, g=3)
    counts = frame.tba.counts(by=values(frame["g"]))
    assert counts.groups.names == [None]
    assert counts.cells.tolist() == frame.tba.counts(by="g").cells.tolist()


def test_index_levels_and_tuples_are_keys():
    frame = random_frame(200, g=3, h=2)
    expected = frame.tba.counts(by=["g", "h"]).cells.tolist()
    leveled = frame.set_index(["g", "h"])
    assert leveled.tba.counts(by=["g", "h"]).cells.tolist() == expected
    assert (
        leveled.tba.counts(by=[pd.Grouper(level=0), pd.Grouper(level="h")]).cells.tolist()
        == expected
    )
    named = frame.rename(columns={"g": ("g", 1)})
    assert named.tba.counts(by=("g", 1)).groups.names == [("g", 1)]
    assert named.tba.counts(by=[("g", 1), "h"]).cells.tolist() == expected


@pytest.mark.parametrize("on_index", [False, True])
def test_grouper_with_a_frequency(on_index):
    frame = random_frame(300)
    frame["when"] = pd.date_range("2024-01-01", periods=300, freq="D")[::-1]
    frame.loc[frame["when"].dt.month == 3, "when"] = pd.Timestamp("2024-01-05")
    expected = frame.groupby(pd.Grouper(key="when", freq="MS")).size()
    key = pd.Grouper(freq="MS") if on_index else pd.Grouper(key="when", freq="MS")
    frame = frame.set_index("when") if on_index else frame
    counts = frame.tba.counts(by=key)
    assert dict(zip(counts.groups, counts.rows, strict=True)) == expected[expected > 0].to_dict()
    whole = frame.tba.counts(by=key, observed=False)
    assert dict(zip(whole.groups, whole.rows, strict=True)) == expected.to_dict()


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "datetime64[us]", "timedelta64[ns]"])
@pytest.mark.parametrize("way", ["column", "index", "level"])
def test_grouper_with_a_frequency_and_no_times(dtype, way):
    frame = random_frame(6).assign(when=pd.array([pd.NaT] * 6, dtype=dtype))
    key = pd.Grouper(key="when", freq="D")
    if way != "column":
        frame = frame.set_index("when")
        key = pd.Grouper(freq="D") if way == "index" else pd.Grouper(level="when", freq="D")
    counts = frame.tba.counts(by=key)
    assert (counts.groups.isna().tolist(), counts.groups.names) == ([True], ["when"])
    assert counts.rows.tolist() == [6]
    assert len(frame.tba.counts(by=key, dropna=True)) == 0


def test_grouper_with_a_frequency_and_missing_times():
    frame = random_frame(60)
    frame["when"] = pd.Series(pd.date_range("2024-01-01", periods=60)).where(frame.index % 4 > 0)
    counts = frame.tba.counts(by=pd.Grouper(key="when", freq="MS"))
    assert counts.groups.isna().tolist() == [False, False, True]
    assert counts.rows.tolist() == [23, 22, 15]


@pytest.mark.parametrize("missing", [False, True])
def test_observed_false_adds_groups_without_rows(missing):
    frame = random_frame(40, g=3)
    frame["h"] = pd.Categorical(np.where(frame["g"] > 1, "b", "d"), categories=[*"abcd"])
    if missing:
        frame.loc[::7, "h"] = None
    counts = frame.tba.counts(by=["g", "h"], observed=False)
    assert len(counts) == 3 * (4 + missing)
    found = fast_counts(counts)
    assert {cell: n for cell, n in found.items() if n} == slow_counts(frame, ["g", "h"])
    assert {cell[:2] for cell in found} == {*(tuple(map(plain, key)) for key in counts.groups)}
    levels = counts.groups.get_level_values("h")
    assert levels[:4].tolist() == [*"abcd"]
    only = frame.tba.counts(by="h", observed=False)
    assert only.groups[:4].tolist() == [*"abcd"]
    assert only.rows[[0, 2]].tolist() == [0, 0]


@pytest.mark.parametrize("n_groups", [1, 300, 70_000])
@pytest.mark.parametrize("dtype", ["int64", "float64", "category", object])
def test_thousands_of_groups(n_groups, dtype):
    frame = random_frame(100_000, n_labels=4, g=n_groups)
    frame["g"] = frame["g"].astype(dtype)
    keys = [frame["g"] if dtype != "float64" else frame["g"].astype(str)]
    counts = frame.tba.counts(by=keys)
    assert fast_counts(counts) == slow_counts(frame.assign(g=keys[0]), ["g"])


SPARSE = {
    "two keys of 2500 levels": {"n_rows": 5000, "g": 2500, "h": 2500},
    "five keys": {"n_rows": 3000, "g": 900, "h": 900, "i": 900, "j": 900, "k": 900},
    "many labels": {"n_rows": 3000, "n_labels": 1500, "g": 4},
    "many labels and groups": {"n_rows": 2000, "n_labels": 300, "g": 100},
}


@pytest.mark.parametrize("sizes", SPARSE.values(), ids=SPARSE)
@pytest.mark.parametrize("dtype", ["int64", object, "category", "string[pyarrow]"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_where_most_cells_would_be_empty(sizes, dtype, missing):
    frame = random_frame(**sizes)
    keys = [name for name in frame if len(name) == 1]
    if dtype != "int64":
        frame = frame.astype(str).astype(dtype)
    if missing:
        frame["g"] = frame["g"].where(frame.index % 9 > 0)
    assert fast_counts(frame.tba.counts(by=keys)) == slow_counts(frame, keys)


def frame_of_sizes(n_true, n_predicted, missing, **n_keys):
    """A frame of columns with so many values, each of which occurs; keys may be missing, too."""
    sizes = {"y_true": n_true, "y_pred": n_predicted, **n_keys}
    rows = np.arange(2 * max(sizes.values()) + 1)
    frame = pd.DataFrame({name: rows % n for name, n in sizes.items()})
    if missing:
        frame = frame.astype(dict.fromkeys(n_keys, "Int64"))
        frame.loc[1, [*n_keys]] = None
    return frame


FULL = {  # numbers of labels and keys of which every code of one or two bytes stands for something
    f"{names} {sizes} {pivot:+d}": dict(zip(names, (*sizes[:-1], sizes[-1] + pivot), strict=True))
    for names, every in {
        ("n_true", "n_predicted", "g"): [(16, 16, 1), (256, 256, 1), (1, 256, 1), (1, 1, 256),
                                         (1, 1, 2**16), (4, 4, 16)],
        ("g", "n_true", "n_predicted"): [(1, 1, 256), (1, 1, 2**16), (1, 16, 16), (1, 256, 256)],
        ("n_true", "n_predicted", "g", "h"): [(1, 1, 1, 256), (1, 1, 1, 2**16), (2, 2, 64, 1)],
    }.items()
    for sizes in every
    for pivot in (-1, 0, 1)
    if sizes[-1] + pivot
}  # fmt: skip


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("sizes", FULL.values(), ids=FULL)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_sizes_that_fill_the_codes(sizes, missing):
    frame = frame_of_sizes(**sizes, missing=missing).assign(w=2.0)
    keys = [name for name in frame if len(name) == 1 and name != "w"]
    expected = slow_counts(frame, keys)
    assert fast_counts(frame.tba.counts(by=keys)) == expected
    weighted = frame.tba(sample_weight="w").counts(by=keys)
    assert (weighted.rows.sum(), weighted.weight.sum()) == (len(frame), 2.0 * len(frame))
    assert fast_counts(frame.dropna().tba(model="g").counts()) == slow_counts(frame.dropna(), ["g"])


@pytest.mark.parametrize("n_labels", [16, 256, 2**16])
def test_scores_of_labels_that_fill_the_codes(n_labels):
    labels = np.arange(n_labels)
    right = pd.DataFrame({"y_true": labels, "y_pred": labels, "g": "all"})
    assert right.tba.score(t=1, by="g").to_dict() == {"all": 1.0}
    alone = right.assign(y_true=0).tba(abstain=labels[1:])
    assert alone.score(t=1) == alone.score(t=1, by="g")["all"] == 1 / n_labels


LATE = {  # what most rows hold, and values that no sample of the first rows shows
    "far integer": ("int64", 10**12),
    "negative integer": ("int64", -1),
    "beyond the range": ("int64", 1000),
    "least integer": ("int64", np.iinfo(np.int64).min),
    "int8": ("int8", -128),
    "uint64": ("uint64", 2**64 - 1),
    "int32": ("int32", 2**31 - 1),
    "Int64": ("Int64", 10**12),
    "float": ("float64", 1e300),
    "object": (object, 99),
    "category": ("category", 99),
    "string[pyarrow]": ("string[pyarrow]", "99"),
    "string[python]": ("string[python]", "99"),
    "str": ("str", "99"),
    "arrow": (pd.ArrowDtype(pa.string()), "99"),
    "arrow large": (pd.ArrowDtype(pa.large_string()), "99"),
    "arrow dictionary": (pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())), "99"),
}


# two threads look up text only
THREADS = [
    (name, threads) for name in LATE for threads in "12"[: 1 + isinstance(LATE[name][1], str)]
]


@pytest.mark.parametrize("place", [70_001, 110_000])
@pytest.mark.parametrize(("name", "threads"), THREADS)
def test_values_that_occur_late(monkeypatch, name, threads, place):
    monkeypatch.setenv("PANDAS_TBA_THREADS", threads)
    dtype, late = LATE[name]
    frame = random_frame(110_001, n_labels=3, g=3)
    if isinstance(late, str):
        frame = frame.astype(str)
    frame = frame.astype(object)
    frame.loc[place] = late
    expected, overall = slow_counts(frame, ["g"]), Counter()
    for (_, *labels), n in expected.items():
        overall[tuple(labels)] += n
    frame = frame.astype(dtype)
    assert fast_counts(frame.tba.counts()) == overall
    assert fast_counts(frame.tba.counts(by="g")) == expected


@pytest.mark.parametrize("threads", ["1", "2", "", "no number"])
@pytest.mark.parametrize("missing", [False, True])
def test_text_in_several_chunks(monkeypatch, threads, missing):
    monkeypatch.setenv("PANDAS_TBA_THREADS", threads)
    codes = random_frame(120_003, n_labels=3, g=3).astype(str)
    chunks = {}
    for at, name in enumerate(codes):
        words = codes[name].where(codes.index % 11 > 0, None) if missing else codes[name]
        edges = [0, 1 + at, 40_000 - at, 40_000 - at, 120_003]
        parts = [
            words[a:b].astype(object).where(words[a:b].notna(), None).to_list()
            for a, b in itertools.pairwise(edges)
        ]
        array = pd.arrays.ArrowExtensionArray(pa.chunked_array(parts, type=pa.string()))
        chunks[name] = pd.Series(array)
    frame = pd.DataFrame(chunks)
    kept = frame.dropna(subset=["y_true", "y_pred"])
    counts = frame.tba(missing="drop").counts(by="g")
    assert fast_counts(counts) == slow_counts(kept, ["g"])
    assert counts.n_missing == len(frame) - len(kept)
    half = frame.iloc[::2]  # a slice with an offset into the chunks
    found = half.iloc[5:].tba(missing="drop").counts(by="g")
    assert fast_counts(found) == slow_counts(
        half.iloc[5:].dropna(subset=["y_true", "y_pred"]), ["g"]
    )


@pytest.mark.parametrize("n_rows", [1, 2, 2**15, 2**17 + 1, 2**18 + 1, 600_001])
@pytest.mark.parametrize("n_labels", [2, 3, 4, 16, 17, 300])
def test_every_way_of_adding_up(n_rows, n_labels):
    frame = random_frame(n_rows, n_labels=n_labels)
    frame = (
        frame.assign(y_true=np.minimum(frame["y_true"], frame["y_pred"])) if n_rows < 3 else frame
    )
    labels = frame["y_true"].unique().tolist()
    door = frame[frame["y_pred"].isin(labels)]
    expected = pd.crosstab(door["y_true"], door["y_pred"]).stack()
    assert fast_counts(door.tba.counts()) == expected[expected > 0].to_dict()


WIDE_INTEGERS = {
    "ids": [10**9, 10**12, -(10**15)],
    "extremes": [np.iinfo(np.int64).min, 0, np.iinfo(np.int64).max],
    "neighbours": [2**53, 2**53 + 1, 2**53 + 2],
    "just shifted": [0, 2**16 - 1],
    "just hashed": [0, 2**16],
}


@pytest.mark.parametrize("values", WIDE_INTEGERS.values(), ids=WIDE_INTEGERS)
@pytest.mark.parametrize("n_rows", [50, 40_000])
@pytest.mark.parametrize("by", [None, "g"])
def test_integers_of_a_wide_range(values, n_rows, by):
    frame = random_frame(n_rows, n_labels=len(values), g=len(values))
    frame = frame.apply(lambda column: np.array(values)[column])
    counts = frame.tba.counts(by=by)
    assert fast_counts(counts) == slow_counts(frame, [] if by is None else [by])
    assert counts.labels.tolist() == sorted(values)


def test_missing_labels_are_left_out_for_all_models_at_once():
    frame = random_frame(100).assign(second=1).astype("Int64")
    frame.loc[3, "second"] = frame.loc[4, "y_pred"] = frame.loc[[4, 9], "y_true"] = None
    counts = frame.tba(y_pred=["y_pred", "second"], missing="drop").counts()
    assert counts.rows.tolist() == [97, 97]
    assert counts.n_missing == 3
    assert counts.missing_by_column == {"y_true": 2, "y_pred": 1, "second": 1}
    for model, y_pred in enumerate(["y_pred", "second"]):
        expected = slow_counts(frame.dropna(), y_pred=y_pred)
        found = fast_counts(counts)
        assert {key[1:]: n for key, n in found.items() if key[0] == y_pred} == expected, model


VIEWS = {
    "reversed": lambda df: df.iloc[::-1],
    "every third": lambda df: df.iloc[::3],
    "of a matrix": lambda df: pd.DataFrame(np.ascontiguousarray(df), columns=df.columns),
    "read-only": lambda df: pd.DataFrame({name: frozen(df[name].to_numpy()) for name in df}),
    "repeated index": lambda df: df.set_axis(np.zeros(len(df))),
    "pandas 3 copies": lambda df: df.copy(deep=False),
}


def frozen(values):
    values = values.copy()
    values.flags.writeable = False
    return values


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("n_rows", [100, 100_000])
def test_any_layout_in_memory(view, n_rows):
    frame = view(random_frame(n_rows, g=3))
    assert fast_counts(frame.tba.counts(by="g")) == slow_counts(frame, ["g"])


def test_order_of_groups_that_do_not_compare():
    frame = random_frame(8)
    frame["g"] = np.array(["b", 2, "a", 1, None, 1.5, "c", (1, 2)], dtype=object)
    found = frame.iloc[::-1].tba.counts(by="g").groups.tolist()
    assert found[:-1] == [1, 1.5, 2, "a", "b", "c", (1, 2)] or found[0] == 1
    assert pd.isna(found[-1])
    assert found[:-1] == frame.tba.counts(by="g").groups.tolist()[:-1]


ROWS_IN_ANY_ORDER = {  # values, and how they are shown whatever the order of their rows
    "sets": (
        [frozenset([1]), frozenset([2]), frozenset([1, 2])],
        [frozenset([1]), frozenset([1, 2]), frozenset([2])],
    ),
    "sets in tuples": (
        [("a", frozenset("x")), ("a", frozenset("y")), ("a", frozenset("xy"))],
        [("a", frozenset("x")), ("a", frozenset("xy")), ("a", frozenset("y"))],
    ),
    "sets of one chain": (
        [frozenset([20]), frozenset([20, 3]), frozenset([1, 20, 3])],
        [frozenset([20]), frozenset([20, 3]), frozenset([1, 20, 3])],
    ),
    "tuples that lack something": (
        [("a", np.nan), ("a", 1.0), ("a", 0.0), ("b", 2.0)],
        [("a", 0.0), ("a", 1.0), ("a", np.nan), ("b", 2.0)],
    ),
    "zeros of both signs": ([0.0, -0.0, 1.5], [0.0, 1.5]),
    "minus zero alone": ([-0.0, 1.5], [0.0, 1.5]),
    "decimal zeros": ([decimal.Decimal("-0"), decimal.Decimal(0), 2], [decimal.Decimal(0), 2]),
}


@pytest.mark.parametrize(("values", "shown"), ROWS_IN_ANY_ORDER.values(), ids=ROWS_IN_ANY_ORDER)
def test_order_of_rows_never_shows_in_labels_and_keys(values, shown):
    for rows in itertools.permutations(values):
        column = pd.Series([None, *rows], dtype=object)[1:]
        frame = pd.DataFrame({"y_true": column, "y_pred": column, "g": column})
        counts = frame.tba.counts(by="g")
        assert str([*counts.label_set.values]) == str(shown)
        assert str(counts.groups.tolist()) == str(shown)


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float64", "double[pyarrow]", "category"])
def test_zero_has_no_sign(dtype):
    zeros = pd.Series([-0.0, 0.0, 1.0]).astype(dtype)
    frame = pd.DataFrame({"y_true": zeros, "y_pred": zeros, "g": zeros, "case": 1})
    arrow = pa.Table.from_pandas(frame.astype(float))
    for counts in (frame.tba.counts(by="g"), pandas_tba.count(arrow, by="g")):
        assert str([*counts.label_set.values]) == str(counts.groups.tolist()) == "[0.0, 1.0]"
    declared = frame.tba(labels=[-0.0, 1.0]).counts()
    assert str([*declared.label_set.values]) == "[0.0, 1.0]"
    constant = frame.assign(y_true=1, y_pred=1)[1:]
    pairs = pandas_tba.count_pairs(constant, model="g", row="case")
    assert str(pairs.pairs) == "((0.0, 1.0),)"


def test_counting_while_python_ends():
    code = (
        "import atexit, numpy as np, pandas as pd, pandas_tba\n"
        "words = pd.Series(np.array(['a', 'b'] * 60_000), dtype='string[pyarrow]')\n"
        "frame = pd.DataFrame({'y_true': words, 'y_pred': words})\n"
        "atexit.register(lambda: print(frame.tba.score(t=1)))\n"
    )
    kept = {**os.environ, "PANDAS_TBA_THREADS": "2"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=kept, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1.0\n", "")


def test_order_of_rows_never_shows_in_keys_that_are_equal():
    frame = random_frame(4).assign(g=np.array([1, True, 0, 1.0], dtype=object))
    groups = [part.tba(labels=[0, 1, 2]).counts(by="g").groups for part in (frame, frame[::-1])]
    assert list(map(str, groups[0])) == list(map(str, groups[1]))


def test_declared_labels_may_come_from_a_generator():
    door = random_frame(50).tba(labels=(label for label in range(3)))
    assert door.score(t=0) == door.score(t=[0])[0]
