"""Inputs that break others, and the right answer."""

import decimal
import enum
import math
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import pandas_tba as tba

EXACT = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}
T = [-0.5, 0, 0.5, 1]
UNDEFINED = pytest.warns(tba.UndefinedWarning)
TEXT = {
    "object": object,
    "str": str,
    "string[python]": "string[python]",
    "string[pyarrow]": "string[pyarrow]",
    "arrow string": pd.ArrowDtype(pa.string()),
    "arrow large_string": pd.ArrowDtype(pa.large_string()),
    "category": "category",
}
texts = pytest.mark.parametrize("text", TEXT.values(), ids=TEXT)


def frame_of(y, p, **others):
    return pd.DataFrame({"y_true": y, "y_pred": p, **others})


def as_text(frame, dtype, columns):
    """The columns stored as a dtype of text; under pandas 2 str would make 'None' of None."""
    kept = object if dtype is str and pd.__version__ < "3" else dtype
    return frame.astype(dict.fromkeys(columns, kept))


@texts
def test_1_and_2_a_missing_key_is_a_group(text):
    g = pd.Series(["a", "a", "b", None], dtype=object)
    frame = as_text(frame_of([1, 0, 1, 1], [1, 0, 0, 1], g=g), text, ["g"])
    found = frame.tba.metrics(by="g", metrics="accuracy")[["n", "accuracy"]]
    assert found.index[:2].tolist() == ["a", "b"]
    assert found.index.isna().tolist() == [False, False, True]
    assert found.to_numpy().tolist() == [[2, 1], [1, 0], [1, 1]]
    assert frame.tba.counts(by="g", dropna=True).rows.tolist() == [2, 1]
    assert frame.tba.counts(by="g", dropna=True).pooled().rows.tolist() == [3]


@texts
def test_2_text_labels_and_keys_give_one_table(text):
    plain = frame_of(["a", "b", "c", "a"], ["a", "c", "c", "b"], g=["u", "v", "u", "v"])
    plain = plain.astype(object)
    frame = as_text(plain, text, ["y_true", "y_pred", "g"])
    with UNDEFINED:
        expected = plain.tba.per_class(by="g")
    with UNDEFINED:
        found = frame.tba.per_class(by="g")
    loose = {"check_categorical": False, "check_index_type": False}
    assert_frame_equal(found.reset_index(), expected.reset_index(), **loose)
    assert frame.tba.counts().labels.equals(plain.tba.counts().labels)


@texts
def test_2_two_storages_of_text_match(text):
    frame = frame_of(["a", "b"], ["a", "b"]).astype({"y_true": object})
    assert as_text(frame, text, ["y_pred"]).tba.score() == 1


def test_3_recall_of_an_absent_class_is_nan():
    frame = frame_of([1, 1, 0, 0], [1, 1, 0, 0], g=[*"aabb"])
    with pytest.warns(tba.UndefinedWarning, match="Group 'b'.*no rows of 1"):
        found = frame.tba.metrics(by="g", metrics="recall")["recall"]
    assert found.tolist() == pytest.approx([1, math.nan], **EXACT)


def test_4_zero_and_one_are_two_classes():
    frame = frame_of([0, 0, 0, 0], [0, 1, 0, 1], g=[*"aabb"])
    with pytest.warns(tba.UndefinedWarning, match="no rows of 1"):
        found = frame.tba.metrics(by="g", metrics=["accuracy", "balanced_accuracy", "recall"])
    assert found["accuracy"].tolist() == [0.5, 0.5]
    assert found[["balanced_accuracy", "recall"]].isna().all(axis=None)


def test_5_many_levels_but_few_rows():
    frame = frame_of([1, 0] * 2500, [1, 1] * 2500)
    frame["u"], frame["v"] = np.arange(5000) % 2500, np.arange(5000) * 7919 % 2500
    start = time.perf_counter()
    counts = frame.tba.counts(by=["u", "v"])
    assert time.perf_counter() - start < 1
    assert len(counts) == len(frame.drop_duplicates(["u", "v"]))


def test_6_one_label_set_for_all_groups():
    frame = frame_of([0, 1, 2, 0, 0], [0, 1, 2, 0, 0], g=[*"aaabb"])
    assert frame.tba.counts(by="g").cells[1].tolist() == [[2, 0, 0], [0, 0, 0], [0, 0, 0]]
    with UNDEFINED:
        found = frame.tba.score(by="g", t=T).loc["b"]
    assert found.tolist() == pytest.approx([math.nan, math.nan, 1, 1], **EXACT)
    limits = frame.tba.bounds(by="g", t=0).loc["b", ["low", "high"]]
    assert limits.tolist() == pytest.approx([1 / 3, 1], **EXACT)


KEYS = {
    "ordered category": pd.Categorical([*"hmlh"], categories=[*"lmh"], ordered=True),
    "category": pd.Categorical([*"hmlh"], categories=[*"lmh"]),
    "bool": np.array([True, False, False, True]),
    "boolean": pd.array([True, False, None, True], dtype="boolean"),
    "Int64": pd.array([3, 1, None, 3], dtype="Int64"),
    "uint8": np.array([200, 0, 7, 200], dtype=np.uint8),
    "float": np.array([0.5, -1.0, np.nan, 0.5]),
    "period": pd.PeriodIndex(["2024-03", "2024-01", "2024-02", "2024-03"], freq="M"),
    "datetime": pd.DatetimeIndex(["2024-03-01", "2024-01-01", "2024-02-01", "2024-03-01"]),
    "datetime tz": pd.DatetimeIndex(["2024-03-01", "2024-01-01", None, "2024-03-01"], tz="CET"),
    "timedelta": pd.to_timedelta([3, 1, 2, 3], unit="D"),
    "interval": pd.cut(pd.Series([3, 1, 2, 3]), [0, 1, 2, 3]).array,
    "IntervalIndex": pd.IntervalIndex.from_breaks([0, 1, 2, 3]).take([2, 0, 1, 2]),
    "object": np.array(["h", 1, None, "h"], dtype=object),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_7_every_type_of_key_in_order(key):
    frame = frame_of([1, 0, 1, 0], [1, 0, 0, 0], g=key)
    found = frame.tba.counts(by="g")
    sizes = frame["g"].value_counts()
    kept = found.groups.dropna()
    assert dict(zip(kept, found.rows[: len(kept)], strict=True)) == sizes[sizes > 0].to_dict()
    assert found.groups.isna().tolist() == [False] * len(kept) + [True] * int(
        frame["g"].isna().any()
    )
    order = {"l": 0, "m": 1, "h": 2} if isinstance(key, pd.Categorical) and "h" in key else {}
    if key.dtype != object:
        assert kept.tolist() == sorted(kept, key=lambda value: order.get(value, value))


@texts
def test_8_no_positive_label_needed(text):
    frame = frame_of(["yes", "no", "yes", "no"], ["yes", "no", "no", "no"], g=[*"aabb"])
    frame = as_text(frame, text, ["y_true", "y_pred"])
    found = frame.tba.score(by="g", t=T)
    assert found.loc["a"].tolist() == [1] * 4
    assert found.loc["b"].tolist() == pytest.approx([0.5] * 4, **EXACT)
    with pytest.raises(tba.InputError, match="Classes: 'no', 'yes'"):
        frame.tba.metrics(by="g", metrics="recall")


def test_9_missing_labels():
    frame = frame_of(pd.array([1, 0, None, 1], dtype="Int64"), [1, 0, 1, 1])
    with pytest.raises(tba.InputError, match=r"'y_true' \(1 of 4 rows\)"):
        frame.tba.score()
    counts = frame.tba(missing="drop").counts()
    assert (counts.rows.tolist(), counts.n_missing) == ([3], 1)


def test_10_one_class():
    with pytest.warns(tba.InputWarning, match="never in y_true: 1"):
        counts = frame_of([2, 2], [2, 1]).tba.counts()
    assert counts.label_set.classes == [2]
    assert tba.score(counts, t=T).tolist() == [0.5] * 4
    with UNDEFINED:
        assert math.isnan(tba.score(counts, adjusted=True))


@pytest.mark.parametrize("name", ["y_true", "n", "accuracy", "metric", "t", "model"])
def test_12_names_of_keys(name):
    labels = frame_of([1, 0] * 4, [1, 0, 1, 1, 0, 0, 1, 0]).rename(columns={"y_true": "truth"})
    door = labels.assign(**{name: [*"aaaabbbb"]}).tba(y_true="truth")
    clashes = {
        "score": {"t"},
        "metrics": {"n", "accuracy", "t"},
        "bounds": {"n", "t"},
        "confusion_matrix": {"y_true"},
        "per_class": set(),
    }
    for method, taken in clashes.items():
        options = {"t": [0, 1]} if "t" in taken else {}
        if name in taken:
            with pytest.raises(tba.InputError, match=f"the key '{name}'.*Rename"):
                getattr(door, method)(by=name, **options)
        else:
            found = getattr(door, method)(by=name, **options)
            assert set(found.index.get_level_values(name)) == {"a", "b"}


def test_15_a_key_of_many_floats():
    random = np.random.default_rng(0)
    frame = frame_of([0, 1] * 5000, [1, 1] * 5000, g=random.random(10_000))
    start = time.perf_counter()
    with pytest.warns(tba.InputWarning, match=r"10,000 different numbers.*pd.cut"):
        counts = frame.tba.counts(by="g")
    assert time.perf_counter() - start < 2
    assert len(counts) == 10_000


def test_16_long_and_wide_models():
    wide = pd.DataFrame({"y": [*"abab"], "m1": [*"abba"], "m2": [*"aaab"], "g": [*"uuvv"]})
    long = wide.melt(["g", "y"], var_name="model", value_name="p")
    one = wide.tba(y_true="y", y_pred=["m1", "m2"])
    other = long.tba(y_true="y", y_pred="p", model="model")
    for by in (None, "g"):
        assert one.score(by=by).index.names[0] == "model"
        expected = other.metrics(by=by, metrics=["accuracy", "tba"])
        assert_frame_equal(one.metrics(by=by, metrics=["accuracy", "tba"]), expected)


@pytest.mark.parametrize("dtype", [*TEXT.values(), "int64", "bool", "Int64"], ids=str)
def test_17_no_rows(dtype):
    frame = frame_of([], [], g=[]).astype({"y_true": dtype, "y_pred": dtype, "g": object})
    with pytest.warns(tba.UndefinedWarning, match="no rows"):
        assert math.isnan(frame.tba.score())
    full = frame_of(["a", "b"] * 2, ["a", "b"] * 2, g=[*"uuvv"]).astype({"g": object})
    for method in ("metrics", "bounds"):
        found, expected = (getattr(part.tba, method)(by="g") for part in (frame, full))
        assert found.shape == (0, expected.shape[1])
        assert found.dtypes.to_dict() == expected.dtypes.to_dict()
    with UNDEFINED:
        assert frame.tba.score(by="g").empty


def test_18_own_and_pooled_weights():
    cells = [[[81, 9], [5, 5]], [[45, 5], [25, 25]]]
    counts = tba.ConfusionCounts.from_matrix(cells, groups=["a", "b"])
    assert tba.score(counts).tolist() == pytest.approx([0.8, 0.7], **EXACT)
    found = tba.score(counts, prevalence="pooled").tolist()
    assert found == pytest.approx([0.741742430504416] * 2, **EXACT)


def test_19_one_class_and_one_label_only_predicted():
    with pytest.warns(tba.InputWarning, match="'z'"):
        counts = frame_of([*"xxx"], [*"xxz"]).tba.counts()
    assert tba.score(counts, t=0) == pytest.approx(2 / 3, **EXACT)
    with pytest.warns(tba.UndefinedWarning, match="two classes"):
        assert math.isnan(tba.score(counts, t=0, adjusted=True))


@texts
def test_20_order_of_appearance(text):
    frame = as_text(frame_of([*"abxy"], [*"abyx"]), text, ["y_true", "y_pred"])
    assert frame.tba.score(t=T).tolist() == [0.5] * 4


MATRICES = {
    "21": ([[60000, 20000], [20000, 60000]], 0.5, 0.5),
    "21 int32": (np.array([[60000, 20000], [20000, 60000]], dtype=np.int32), 0.5, 0.5),
    "22": ([[1e18, 1e18], [1e18, 2]], -0.5, -0.5),
    "23": ([[0, 51], [2 * 10**15, 0]], -1, None),
}


@pytest.mark.parametrize(("matrix", "mcc", "kappa"), MATRICES.values(), ids=MATRICES)
def test_21_to_23_large_counts(matrix, mcc, kappa):
    counts = tba.ConfusionCounts.from_matrix(matrix)
    found = tba.metrics(counts, metrics=["mcc", "cohen_kappa"])
    assert found.at[0, "mcc"] == pytest.approx(mcc, **EXACT)
    assert found.at[0, "mcc"] >= -1
    assert kappa is None or found.at[0, "cohen_kappa"] == pytest.approx(kappa, **EXACT)


def test_24_all_rows_have_one_label():
    frame = frame_of([*"nnnn"], [*"nnnn"])
    with pytest.warns(tba.UndefinedWarning, match="mcc, cohen_kappa"):
        found = frame.tba.metrics(metrics=["accuracy", "mcc", "cohen_kappa"])
    assert found.iloc[0, 3:].tolist() == pytest.approx([1, math.nan, math.nan], **EXACT)


def test_25_f1_of_labels_without_rows():
    with pytest.warns(tba.InputWarning, match="never in y_true: 2"):
        found = frame_of([0, 0, 1], [0, 2, 1]).tba.per_class(metrics="f1")
    assert found.loc[2].tolist() == [False, 0, 1, 0, 0]
    with UNDEFINED:
        found = frame_of([0, 0, 1], [0, 1, 1]).tba(labels=[0, 1, 2]).per_class(metrics="f1")
    assert math.isnan(found.at[2, "f1"])


def test_26_declared_labels():
    counts = frame_of([1, 1], [1, 1]).tba(labels=[0, 1]).counts()
    assert counts.cells.tolist() == [[[0, 0], [0, 2]]]


CLASHES = {
    "28": ([0, 1], [0, 1], {"labels": ["0", "1"]}, r"text labels \('0', '1'\).*number labels \(0, 1\)"),
    "29 bool with 2": ([0, 2], [False, True], {}, r"number labels \(0, 2\).*boolean"),
    "29 bool with 2, turned": ([False, True], [0, 2], {}, "boolean labels.*number"),
    "29 True and 1": (np.array([True, 1, 0], dtype=object), [1, 1, 0], {}, "."),
    "31": (["0", "1"], [0, 1], {}, r"text labels \('0', '1'\).*number labels \(0, 1\)"),
}  # fmt: skip


@pytest.mark.parametrize(("y", "p", "options", "text"), CLASHES.values(), ids=CLASHES)
def test_28_29_31_kinds_that_never_match(y, p, options, text):
    with pytest.raises((tba.KindError, tba.InputError), match=text):
        frame_of(y, p).tba(**options).counts()


PAIRS = {
    "Int64 int64": (pd.array([1, 0], dtype="Int64"), np.array([1, 0]), [0, 1]),
    "int64 bool": (np.array([1, 0]), np.array([True, False]), [0, 1]),
    "bool int64": (np.array([True, False]), np.array([1, 0]), [False, True]),
    "float int64": (np.array([1.0, 0.0]), np.array([1, 0]), [0.0, 1.0]),
    "int64 float": (np.array([1, 0]), np.array([1.0, 0.0]), [0, 1]),
    "boolean bool": (pd.array([True, False], dtype="boolean"), np.array([True, False]), [False, True]),
    "boolean category": (np.array([True, False]), pd.Categorical([True, False]), [False, True]),
    "uint8 int32": (np.array([1, 0], np.uint8), np.array([1, 0], np.int32), [0, 1]),
    "arrow int": (pd.array([1, 0], dtype=pd.ArrowDtype(pa.int64())), np.array([1, 0]), [0, 1]),
    "2**53 + 1": (np.array([2**53 + 1, 0]), np.array([2**53 + 1, 0]), [0, 2**53 + 1]),
}  # fmt: skip


@pytest.mark.parametrize(("y", "p", "labels"), PAIRS.values(), ids=PAIRS)
def test_29_numbers_agree_whatever_stores_them(y, p, labels):
    counts = frame_of(y, p).tba.counts()
    assert counts.cells.tolist() == [[[1, 0], [0, 1]]]
    assert counts.labels.tolist() == labels
    assert [type(label) for label in counts.labels.tolist()] == [type(label) for label in labels]


def test_29_neighbours_beyond_2_to_53_differ():
    with pytest.warns(tba.InputWarning, match="never in y_true"):
        counts = frame_of(np.array([2**53 + 1, 0]), np.array([2.0**53, 0])).tba.counts()
    assert counts.hits.sum() == 1


def test_30_categories_in_another_order():
    y = pd.Categorical([*"abb"], categories=[*"ab"])
    p = pd.Categorical([*"abb"], categories=[*"ba"])
    assert np.diag(frame_of(y, p).tba.confusion_matrix()).tolist() == [1, 2]


@pytest.mark.parametrize("normalize", ["true", "all"])
def test_34_shares_of_an_empty_row(normalize):
    door = frame_of([0, 0], [0, 1]).tba(labels=[0, 1])
    if normalize == "all":
        assert door.confusion_matrix(normalize="all").to_numpy().tolist() == [[0.5, 0.5], [0, 0]]
        return
    with UNDEFINED:
        found = door.confusion_matrix(normalize=normalize).to_numpy()
    assert found.tolist() == pytest.approx(np.array([[0.5, 0.5], [math.nan] * 2]), **EXACT)


@texts
@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a|b", ""])
def test_35_strange_names(text, name):
    frame = frame_of([name, "b"], [name, "b"], g=[name, "b"])
    frame = as_text(frame, text, ["y_true", "y_pred", "g"])
    assert frame.tba.counts(by="g").groups.tolist() == frame.tba.counts().labels.tolist()
    assert name in frame.tba.confusion_matrix().columns
    with UNDEFINED:
        assert "&lt;script" in frame.tba.metrics(by="g").to_html() or "script" not in name


def test_36_declared_levels_without_rows():
    g = pd.Categorical([*"aab"], categories=[*"abc"])
    door = frame_of([1, 0, 1], [1, 0, 1], g=g).tba
    assert door.counts(by="g").groups.tolist() == ["a", "b"]
    with pytest.warns(tba.UndefinedWarning, match="'c'.*no rows"):
        found = door.metrics(by="g", observed=False, metrics="accuracy")
    assert found.index.tolist() == ["a", "b", "c"]
    assert found["n"].tolist() == [2, 1, 0]
    assert math.isnan(found.at["c", "accuracy"])


@texts
def test_37_labels_that_differ_only_by_blanks(text):
    same = as_text(frame_of(["a ", "a"], ["a ", "a"]), text, ["y_true", "y_pred"])
    assert same.tba.counts().labels.tolist() == ["a", "a "]
    other = as_text(frame_of(["a", "b"], ["A ", "b"]), text, ["y_true", "y_pred"])
    with pytest.warns(tba.InputWarning, match="'A ' differs from 'a' only by blanks or case"):
        other.tba.counts()


def test_38_a_million_unexpected_labels():
    frame = frame_of(np.full(1_000_000, "odd label"), np.full(1_000_000, "a"))
    with pytest.raises(tba.InputError) as raised:
        frame.tba(labels=["a", "b"]).counts()
    text = str(raised.value)
    assert len(text) < 600
    assert "'odd label' (1,000,000 rows)" in text


class Mail(enum.IntEnum):
    HAM = 0
    SPAM = 1


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


ALONE = {  # y_true, y_pred, pos_label given, classes, pos_label known
    "the positive label": ([1, 1], [1, 1], 1, [0, 1], 1),
    "the negative label": ([0, 0], [0, 0], 0, [0, 1], 0),
    "minus one": ([-1, -1], [-1, -1], -1, [-1, 1], -1),
    "booleans": ([True], [True], True, [False, True], True),
    "a member of an enumeration": ([Size.SMALL], [Size.SMALL], None, [Size.SMALL], None),
    "a member that has another": ([Mail.HAM], [Mail.HAM], None, [Mail.HAM], None),
    "both members": ([Mail.SPAM], [Mail.HAM], None, [Mail.HAM, Mail.SPAM], Mail.SPAM),
    "decimals": ([decimal.Decimal(1)], [decimal.Decimal(1)], None, [0, 1], 1),
}


@pytest.mark.parametrize(("truth", "guess", "given", "classes", "known"), ALONE.values(), ids=ALONE)
def test_a_class_that_only_a_pair_implies(truth, guess, given, classes, known):
    counts = (
        pd.DataFrame({"y_true": truth, "y_pred": guess}, dtype=object).tba(pos_label=given).counts()
    )
    assert (counts.label_set.classes, counts.pos_label) == (classes, known)
    assert {*map(type, counts.label_set.values)} == {type(truth[0])}


@pytest.mark.parametrize("negative", [0, -1])
def test_shards_with_a_positive_label_add_up(negative):
    frame = pd.DataFrame({"y_true": [1, 1, negative, 1], "y_pred": [1, negative, 1, 1]})
    shards = [frame[:1], frame[2:3].assign(y_pred=negative), frame]
    found = sum(shard.tba(pos_label=1).counts() for shard in shards)
    whole = pd.concat(shards).tba(pos_label=1).counts()
    assert_frame_equal(found.to_table(), whole.to_table())
    assert (found.labels.tolist(), found.pos_label) == ([negative, 1], 1)


def test_a_label_to_abstain_is_no_class_of_a_pair():
    frame = pd.DataFrame({"y_true": [0, 0], "y_pred": [0, 1]})
    counts = frame.tba(abstain=[1]).counts()
    assert counts.is_class.tolist() == [True, False]
    assert tba.score(counts, t=[0, 1]).tolist() == [0.5, 0.5]


def test_39_labels_to_abstain():
    frame = frame_of([*"abab"], [*"a?ab"])
    with pytest.raises(tba.InputError, match=r"'\?' \(1 row\).*abstain="):
        frame.tba(labels=["a", "b"]).counts()
    door = frame.tba(labels=["a", "b"], abstain=["?"])
    assert door.score(t=[0, 1]).tolist() == [0.75, 0.75]
    assert door.confusion_matrix().columns.tolist() == ["a", "b", "?"]
    with pytest.warns(tba.InputWarning) as warned:
        assert frame.tba.score(t=[0, 1]).tolist() == [0.75, 0.75]
    assert len(warned) == 1
