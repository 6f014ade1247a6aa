"""Counts of batches and Parquet files: those of one frame of all rows, in constant memory."""

import datetime
import io
import itertools
import os
import re
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_index_equal
from predictions import FAULTS_OF, FRAME, HOLED, SEVERAL, SOUND, N, assert_same, error_of, faulty

import pandas_tba as tba
from pandas_tba.engines import combinations, parquet
from pandas_tba.engines.dispatch import count_batches, count_parquet

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
# pandera imports pyspark where it is installed, which warns of pandas 3
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

from_table = tba.ConfusionCounts.from_table
QUESTIONS = {
    "all rows": {},
    "a key": {"by": "segment"},
    "weighted": {"by": ["segment", "year"], "sample_weight": "w"},
    "models in columns": {"y_pred": ["y_pred", "other"], "by": "segment"},
    "models in rows": {"model": "name"},
    "scores": {"y_true": "yes", "y_score": ["p", "q"]},
}


def batch_of(frame):
    return pa.RecordBatch.from_pandas(frame.astype({"segment": "category"}), preserve_index=False)


@given(
    cuts=st.lists(st.integers(0, N), max_size=6).map(sorted),
    in_arrow=st.booleans(),
    pending=st.sampled_from([1, 1 << 16]),
    question=st.sampled_from(list(QUESTIONS.values())),
)
def test_any_cut_into_batches_gives_the_same(cuts, in_arrow, pending, question):
    edges = [0, *cuts, N]
    parts = [FRAME.iloc[start:end] for start, end in itertools.pairwise(edges)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(combinations, "_PENDING", pending)
        found = count_batches(map(batch_of, parts) if in_arrow else parts, **question)
    assert_same(found, tba.count(FRAME, **question))


def test_batches_of_unlike_engines():
    pl = pytest.importorskip("polars")
    parts = [FRAME.iloc[:20], batch_of(FRAME.iloc[20:40]), pl.from_pandas(FRAME.iloc[40:])]
    assert_same(count_batches(parts, by="segment"), tba.count(FRAME, by="segment"))


def test_dtypes_may_drift():
    parts = [
        pd.DataFrame({"y_true": [1, 2, 2], "y_pred": [1, 1, 2], "g": [1, 1, 2]}),
        pd.DataFrame({"y_true": [1.0, 3.0], "y_pred": [1.0, 2.0], "g": [np.nan, 2.0]}),
    ]
    found = count_batches(parts, by="g")
    assert found.labels.tolist() == [1, 2, 3]
    assert found.rows.tolist() == [2, 2, 1]
    assert pd.isna(found.groups[-1])


HIGHEST = 2**63 - 1
ENDS = {  # of the range of int64, where a range of Python's or pandas' has none
    "the highest alone": [HIGHEST],
    "next to it": [HIGHEST - 1, HIGHEST - 50],
    "both ends": [-(2**63), HIGHEST],
    "far apart": [-5 * 10**18, 5 * 10**18],
    "beyond": [2**64 - 1, 5],
}


@pytest.mark.parametrize("made", [lambda part: part, pa.RecordBatch.from_pandas])
@pytest.mark.parametrize("dropna", [False, True])
@pytest.mark.parametrize("values", ENDS.values(), ids=ENDS)
def test_whole_numbers_at_the_ends_of_their_range(values, dropna, made):
    incomplete = pd.DataFrame({"y_true": [None, None], "y_pred": [5, 5], "k": [5, 5]})
    parts = [pd.DataFrame({"y_true": [at, at], "y_pred": [at, at], "k": [at, at]}) for at in values]
    for batches in ([incomplete, *parts], [*parts, incomplete], parts):
        found = count_batches(map(made, batches), missing="drop", by="k", dropna=dropna)
        assert found.groups.tolist() == found.labels.tolist() == sorted(values)
        assert found.rows.tolist() == [2] * len(values)
    added = sum(tba.count(part, by="k", dropna=dropna) for part in parts)
    whole = pd.concat([part.astype(object) for part in parts])  # concat makes floats of UInt64
    assert_same(added, tba.count(whole, by="k", dropna=dropna))


SHORT = {  # scores in the ways that pandas has of holding fewer digits
    "float16": lambda scores: scores.astype("float16"),
    "float32": lambda scores: scores.astype("float32"),
    "big-endian": lambda scores: scores.astype(">f4"),
    "nullable": lambda scores: scores.astype("Float32"),
    "arrow": lambda scores: scores.astype("float[pyarrow]"),
    "half of arrow": lambda scores: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.array(scores.to_numpy().astype("float16")))
    ),
    "categories": lambda scores: scores.astype("float32").astype("category"),
    "sparse": lambda scores: pd.Series(pd.arrays.SparseArray(scores.astype("float32"))),
    "float64": lambda scores: scores,
}


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.7])
@pytest.mark.parametrize("held", SHORT.values(), ids=SHORT)
def test_a_threshold_has_the_precision_of_the_scores(held, threshold):
    scores = pd.Series([0.1, 0.3, 0.7, np.nan, 1, 0] * 2)
    frame = pd.DataFrame({"y_true": [1, 0, 0] * 4, "p": held(scores), "q": 1.0})
    question = {"y_score": "p", "threshold": threshold, "missing": "drop"}
    expected = pd.crosstab(frame["y_true"], (scores >= threshold)[scores.notna()]).to_numpy()
    assert tba.count(frame, **question).cells[0].tolist() == expected.tolist()
    assert count_batches([frame[:5], frame[5:]], **question).cells[0].tolist() == expected.tolist()
    pairs = tba.count_pairs(frame, **question | {"y_score": ["p", "q"]})
    assert pairs.cells[0, 1, :, 1].tolist() == expected[1].tolist()


ONE_CLASS = {  # shards of scores that hold one class or both, and the labels of all
    "the pair that one implies is another": ([[1, 1], [-1, 1]], [-1, 1]),
    "the negative one alone": ([[-1, -1], [1, 1]], [-1, 1]),
    "0 is there": ([[1, 1], [0, 0]], [0, 1]),
    "booleans": ([[True, True], [1, 0]], [0, 1]),
    "never the negative one": ([[1, 1], [1, 1]], [0, 1]),
}


@pytest.mark.parametrize(("truth", "labels"), ONE_CLASS.values(), ids=ONE_CLASS)
def test_scores_of_shards_of_one_class_add_up(truth, labels):
    parts = [
        pd.DataFrame({"y_true": y, "p": p, "q": p[::-1]})
        for y, p in zip(truth, ([0.9, 0.1], [0.2, 0.8]), strict=True)
    ]
    held = [tba.count(part, y_score="p") for part in parts]
    whole = tba.count(pd.concat([part.astype({"y_true": int}) for part in parts]), y_score="p")
    assert (whole.labels.tolist(), whole.pos_label) == (labels, 1)
    for added in (held, held[::-1], tabled(held), tabled(held, text=True)):
        assert_same(sum(added), whole)
        assert_same(sum([*added, *added]), whole + whole)
        assert_same(sum([sum(added), *tabled([sum(added)])]), whole + whole)
    pairs = [tba.count_pairs(part, y_score=["p", "q"]) for part in parts]
    assert sum(pairs).label_set.classes == labels
    both = pd.concat([part.astype({"y_true": int}) for part in parts])
    assert (sum(pairs).cells == tba.count_pairs(both, y_score=["p", "q"]).cells).all()


def test_scores_of_shards_of_more_than_two_classes():
    parts = [pd.DataFrame({"y_true": y, "p": [0.9, 0.1]}) for y in ([0, 1], [-1, 1])]
    expected = error_of(tba.count, pd.concat(parts), y_score="p")
    assert expected[1].startswith(
        "`y_score` predicts one of two classes, and there are 3: -1, 0, 1."
    )
    assert error_of(lambda: sum(tba.count(part, y_score="p") for part in parts)) == expected


def test_categories_keep_an_order_that_all_batches_declare():
    orders = {"same": [["b", "a"]] * 2, "other": [["b", "a"], ["a", "b"]]}
    for name, order in orders.items():
        parts = [
            pd.DataFrame({"y_true": pd.Categorical([*"ab"], each), "y_pred": [*"ab"]})
            for each in order
        ]
        for made in (lambda part: part, pa.RecordBatch.from_pandas):
            found = count_batches(map(made, parts), by="y_true")
            assert found.groups.tolist() == (["b", "a"] if name == "same" else ["a", "b"])


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_many_categories_keep_their_order_though_parts_use_few():
    names = [f"c{at}" for at in range(3000)]
    rng = np.random.default_rng(0)
    held = [
        pd.DataFrame({name: pd.Categorical.from_codes(rng.integers(0, 3000, 50), names) for name in
                      ("y_true", "y_pred")})
        for _ in range(3)
    ]  # fmt: skip
    found, whole = count_batches(held), tba.count(pd.concat(held, ignore_index=True))
    assert_same(found, whole)
    assert found.label_set.order == whole.label_set.order == tuple(names)


FAULTS = {
    "missing": {"y_pred": ["y_pred", "other"]},
    "labels": {"missing": "drop", "labels": ["a"]},
    "no column": {"by": "segmnt"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_errors_speak_of_all_batches(fault):
    expected = error_of(tba.count, HOLED, **FAULTS[fault])
    assert error_of(count_batches, [HOLED.iloc[:9], HOLED.iloc[9:]], **FAULTS[fault]) == expected


def in_batches(of, names):
    """Two batches without a fault, then one with each fault, and one without."""
    sizes = [0, 9, 20, *range(32, 32 + 9 * len(names), 9), N]
    parts = [SOUND.iloc[start:end] for start, end in itertools.pairwise(sizes)]
    return [
        FAULTS_OF[of][1][name](part) if name else part
        for name, part in zip(["", "", *names, ""], parts, strict=True)
    ]


@pytest.mark.parametrize("of_engine", ["pandas", "pyarrow", "polars"])
@pytest.mark.parametrize(("of", "names", "missing"), SEVERAL)
def test_faults_of_several_batches_are_all_named(of, names, missing, of_engine, monkeypatch):
    monkeypatch.setattr(combinations, "_PENDING", 1)
    batches = in_batches(of, names)
    question = {**FAULTS_OF[of][0], "missing": missing}
    whole = pd.concat(batches, ignore_index=True)
    expected = error_of(tba.count, whole, **question)
    if of_engine == "pyarrow":
        batches = [pa.Table.from_pandas(part, preserve_index=False) for part in batches]
    elif of_engine == "polars":
        pl = pytest.importorskip("polars")
        batches = [pl.from_pandas(part) for part in batches]
    assert error_of(count_batches, batches, **question) == expected


@pytest.mark.parametrize("case", SEVERAL, ids=str)
def test_faults_of_a_file_are_all_named(tmp_path, case):
    frame, question, expected = faulty(*case)
    frame.to_parquet(tmp_path / "part.parquet", row_group_size=7, index=False)
    assert error_of(count_parquet, tmp_path, **question) == expected


@pytest.mark.parametrize("made", [pd.DataFrame, pa.Table.from_pandas])
def test_booleans_of_one_batch_beside_numbers_of_another(made):
    parts = [
        pd.DataFrame({"y_true": [1, 0], "y_pred": [1, 1], "w": [1.0, 2.0]}),
        pd.DataFrame({"y_true": [1, 7], "y_pred": [0, 0], "w": [1.0, -2.0]}),
        pd.DataFrame({"y_true": [True, False], "y_pred": [1, 0], "w": [1.0, np.nan]}),
    ]
    question = {"labels": [0, 1], "sample_weight": "w"}
    whole = pd.concat([part.astype({"y_true": object}) for part in parts])
    expected = error_of(tba.count, whole, **question)
    assert expected[1].startswith("`y_true` column 'y_true' holds both booleans and numbers")
    assert [check for _, check, *_ in expected[2]] == [
        "kind",
        "expected",
        "mixed",
        "missing",
        "weight",
    ]
    assert error_of(count_batches, map(made, parts), **question) == expected


def test_a_batch_without_rows_holds_no_label():
    frame = pd.DataFrame({"y_true": [1, 0], "y_pred": [1, 1]})
    assert_same(count_batches([frame.iloc[:0].astype("bool"), frame]), tba.count(frame))


def test_a_hint_fits_the_dtype_of_all_batches():
    parts = [
        pd.DataFrame({"y_true": [1, 0], "y_pred": [1, 1]}),
        pd.DataFrame({"y_true": [1, 0], "y_pred": ["1", None]}),
    ]
    expected = error_of(tba.count, pd.concat(parts))
    assert "df['y_pred'].fillna('abstain')" in expected[1]
    assert error_of(count_batches, parts) == expected


@pytest.mark.parametrize("labels", [None, [1, 2]])
@pytest.mark.parametrize("made", [pd.DataFrame, pa.Table.from_pandas])
def test_categories_of_fractions_are_scores(made, labels):
    frame = pd.DataFrame({"y_true": [1, 2, 2], "y_pred": [0.5, 2.0, 2.0]}).astype("category")
    frame = frame.astype({"y_true": "int64"})
    expected = error_of(tba.count, frame, labels=labels)
    assert expected[1].startswith("`y_pred` column 'y_pred' holds scores, not labels")
    assert error_of(count_batches, [made(frame)], labels=labels) == expected


@pytest.mark.parametrize("made", [pd.DataFrame, pa.Table.from_pandas])
def test_a_category_declared_that_no_row_has_counts_among_faults(made):
    kinds = pd.CategoricalDtype([1.0, 2.0, 0.5])
    frame = pd.DataFrame({"y_true": [1, 2, 2], "y_pred": [1.0, 2.0, 2.0], "w": [1.0, -1.0, 1.0]})
    frame = frame.astype({"y_pred": kinds})
    expected = error_of(tba.count, frame, sample_weight="w")
    assert [check for _, check, *_ in expected[2]] == ["scores", "weight"]
    assert error_of(count_batches, [made(frame)], sample_weight="w") == expected


CSV = "y_true,y_pred\n" + "1,1\n0,0\n" * 4 + "unsure,1\n1,1\n0,0\n0,0\n"
ALIKE = {  # batches that readers made by a guess, and the kinds that the error shows
    "truth drifts": ([*pd.read_csv(io.StringIO(CSV), chunksize=6)], "number (0, 1) and text ('0', '1')"),
    "both drift": ([{"y_true": [1, 0]}, {"y_true": ["1", "0"]}], "number (0, 1) and text ('0', '1')"),
    "fractions": ([{"y_true": [0.5, 1]}, {"y_true": ["0.5", "x"]}], "number (0.5) and text ('0.5')"),
    "booleans": ([{"y_true": [True]}, {"y_true": ["TRUE"]}], "boolean (True) and text ('TRUE')"),
    "days": (
        [{"y_true": [datetime.date(2024, 1, 31)]}, {"y_true": ["2024-01-31"]}],
        "date (datetime.date(2024, 1, 31)) and text ('2024-01-31')",
    ),
    "days and times": (
        [{"y_true": [datetime.date(2024, 1, 31)]}, {"y_true": [pd.Timestamp("2024-01-31")]}],
        "date (datetime.date(2024, 1, 31)) and datetime (Timestamp('2024-01-31 00:00:00'))",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("batches", "kinds"), ALIKE.values(), ids=ALIKE)
def test_labels_of_batches_that_only_look_alike(batches, kinds):
    parts = [pd.DataFrame(part) for part in batches]
    parts = [part if "y_pred" in part else part.assign(y_pred=part["y_true"]) for part in parts]
    text = (
        "`y_true` and `y_pred` hold labels that look alike and are of different kinds: "
        f"{kinds}. These never match. Bring both columns to one type in all parts of the data, for "
        "example with read_csv(..., dtype=str), or declare all labels with labels=[...]."
    )
    expected = tba.KindError, text
    whole = pd.concat([part.astype(object) for part in parts])
    assert error_of(tba.count, whole)[:2] == expected
    for held in (parts, parts[::-1]):
        assert error_of(count_batches, held)[:2] == expected
    if "unsure" not in str(parts[-1]["y_true"].tolist()):
        for held in (parts, parts[::-1]):
            assert error_of(lambda held: sum(map(tba.count, held)), held)[:2] == expected
    several = {"y_pred": ["y_pred", "y_true"]}
    assert error_of(tba.count_pairs, whole, **several)[:2] == expected
    labels = [
        *dict.fromkeys(whole["y_true"]),
        *whole["y_pred"][~whole["y_pred"].isin(whole["y_true"])],
    ]
    assert count_batches(parts, labels=labels).rows.sum() == len(whole)


def test_keys_of_batches_that_only_look_alike():
    parts = [
        pd.DataFrame({"y_true": [0, 1], "y_pred": [0, 1], "k": keys})
        for keys in ([1, 2], ["1", "x"])
    ]
    text = (
        "Key 'k' holds number (1) and text ('1'), which are never the same group. Bring them to one type "
        "before they are counted."
    )
    both = pd.concat(parts)
    mixed = both.iloc[1:]  # in which no two keys look alike
    for count in (
        lambda: count_batches(parts, by="k"),
        lambda: tba.count(both, by="k"),
        lambda: tba.count_pairs(both, y_pred=["y_pred", "y_true"], by="k"),
        lambda: tba.count(mixed, by="k") + tba.count(both[:1], by="k"),
    ):
        with pytest.warns(tba.InputWarning, match=f"^{re.escape(text)}$"):
            count()
    assert tba.count(mixed, by="k").groups.tolist() == [2, "1", "x"]


def test_no_batch_at_all():
    with pytest.raises(tba.InputError) as raised:
        count_batches([])
    text = "`batches` is empty: nothing says which columns there would be."
    assert str(raised.value) == text


def test_scores_are_refused_before_they_fill_memory():
    seen = []

    def batches():
        rng = np.random.default_rng(0)
        for at in range(1000):
            seen.append(at)
            truth, guess = [0, 1] * 5000, rng.random(10_000)
            yield pd.DataFrame({"y_true": truth, "y_pred": guess, "w": -1.0 if at == 1 else 1.0})

    _, text, cases = error_of(count_batches, batches(), sample_weight="w")
    assert "holds scores, not labels" in text
    assert text.endswith(
        " Also: 'w': weights are negative or not finite (10,000 rows), such as -1.0."
    )
    assert [check for _, check, *_ in cases] == ["scores", "weight"]
    assert len(seen) < 50


def test_an_interrupted_stream_leaves_nothing_behind():
    def batches():
        yield FRAME
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_batches(batches())
    assert_same(count_batches([FRAME]), tba.count(FRAME))


@pytest.fixture
def folder(tmp_path):
    """Predictions of three years in a folder each, in row groups of seven rows."""
    for year, part in FRAME.groupby("year"):
        at = tmp_path / f"year={year}"
        at.mkdir()
        part.drop(columns="year").to_parquet(at / "part.parquet", row_group_size=7, index=False)
    return tmp_path


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_folders_of_files(folder, question):
    assert_same(count_parquet(folder, **question), tba.count(FRAME, **question))


@pytest.mark.parametrize("name", ["*", "^g$", "a.b", ".k", "segment.list.element", 'a"b'])
def test_a_name_is_no_pattern_and_no_path(tmp_path, name):
    frame = FRAME.assign(**{name: FRAME["segment"], "a": 1, "k": 1})
    frame.to_parquet(tmp_path / "part.parquet", row_group_size=7, index=False)
    for key in (name, "a"):
        assert_same(count_parquet(tmp_path, by=key), tba.count(frame, by=key))


def test_paths_in_many_forms(folder):
    import pyarrow.dataset as ds

    files = sorted(folder.rglob("*.parquet"))
    one = FRAME[FRAME["year"] == 2020]
    assert_same(count_parquet(str(files[0]), by="segment"), tba.count(one, by="segment"))
    assert_same(count_parquet([*map(str, files)]), tba.count(FRAME))
    dataset = ds.dataset(folder, partitioning="hive")
    assert_same(count_parquet(dataset, by="year"), tba.count(FRAME, by="year"))
    assert_same(tba.count(dataset.filter(ds.field("year") == 2020)), tba.count(one))
    for source in (dataset.filter(ds.field("year") == 2020), ds.dataset(pa.table({"a": [1]}))):
        with pytest.raises(tba.KindError, match=r"count\(\) takes any dataset, filters too\.$"):
            count_parquet(source)


@pytest.mark.parametrize("index", [pa.uint8(), pa.uint32(), pa.int64()], ids=str)
def test_dictionaries_with_indices_of_any_kind(index):
    table = pa.Table.from_pandas(FRAME[["y_true", "y_pred", "segment"]])
    coded = table["segment"].cast("string").dictionary_encode().cast(pa.dictionary(index, "string"))
    table = table.set_column(table.schema.get_field_index("segment"), "segment", coded)
    values = coded.combine_chunks().dictionary.to_pylist()
    wanted = FRAME.assign(segment=pd.Categorical(FRAME["segment"], categories=values))
    assert_same(tba.count(table, by="segment"), tba.count(wanted, by="segment"))


AS_FRAME = {
    "arrow": lambda table: table,
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
}


@pytest.mark.parametrize("as_frame", AS_FRAME.values(), ids=AS_FRAME)
def test_a_null_in_a_dictionary_is_missing_and_the_rest_are_whole(as_frame):
    held = pa.DictionaryArray.from_arrays([0, 1, 0, None], pa.array([2**53 + 1, None]))
    table = pa.table({"y_true": [1, 0, 1, 1], "y_pred": [1, 0, 0, 1], "k": held})
    found = tba.count(as_frame(table), by=["k", "y_true"])
    assert found.rows.tolist() == [2, 1, 1]
    assert found.groups.tolist()[0] == (2**53 + 1, 1)
    assert found.groups.get_level_values("k").isna().tolist() == [False, True, True]
    assert tba.count(as_frame(table), by="k", dropna=True).groups.tolist() == [2**53 + 1]


@pytest.mark.parametrize("as_frame", AS_FRAME.values(), ids=AS_FRAME)
@pytest.mark.parametrize("asked", [{"by": "at"}, {"y_true": "at", "y_pred": "at"}], ids=str)
def test_times_that_python_would_merge_are_refused(as_frame, asked):
    held = {"y_true": ["a", "b"], "y_pred": ["a", "b"]}
    table = pa.table(held | {"at": pa.array([1, 2], pa.time64("ns"))})
    text = (
        "Column 'at' holds time64[ns][pyarrow], which is neither a label nor a key. Convert it, for "
        "example with astype(str)."
    )
    with pytest.raises(tba.KindError, match=f"^{re.escape(text)}$"):
        tba.count(as_frame(table), **asked)
    table = pa.table(held | {"at": pa.array([1000, 2000], pa.time64("ns"))})
    assert tba.count(as_frame(table), **asked).rows.sum() == 2


def test_a_folder_of_rows_without_the_key(tmp_path):
    parts = {"a": FRAME.head(20), "__HIVE_DEFAULT_PARTITION__": FRAME.iloc[20:50]}
    for name, part in parts.items():
        (tmp_path / f"key={name}").mkdir()
        part.to_parquet(tmp_path / f"key={name}" / "0.parquet")
    whole = FRAME.head(50).assign(key=[*"a" * 20, *[None] * 30])
    assert_same(count_parquet(tmp_path, by="key"), tba.count(whole, by="key"))


def test_only_what_is_needed_is_read_and_text_as_dictionaries(folder, monkeypatch):
    read = []
    opened = pq.ParquetFile.iter_batches

    def spy(self, *arguments, **options):
        for batch in opened(self, *arguments, **options):
            read.append((options["columns"], {str(kind) for kind in batch.schema.types}))
            yield batch

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", spy)
    count_parquet(folder, by=["year", "segment"])
    assert all(columns == ["y_true", "y_pred", "segment"] for columns, _ in read)
    assert all(len(kinds) == 1 and "dictionary" in next(iter(kinds)) for _, kinds in read)
    assert len(read) > 3


def test_categories_of_a_file_keep_their_order(tmp_path):
    frame = FRAME.assign(segment=pd.Categorical(FRAME["segment"], ["y", "unused", "x"]))
    frame.to_parquet(tmp_path / "a.parquet", index=False)
    question = {"by": "segment", "observed": False}
    assert_same(count_parquet(tmp_path, **question), tba.count(frame, **question))
    plain = tba.count(FRAME, by="segment")
    FRAME.to_parquet(tmp_path / "a.parquet", index=False)
    assert_same(count_parquet(tmp_path, by="segment"), plain)


def test_a_file_that_is_reached_twice(tmp_path):
    import pyarrow.dataset as ds

    held, data = tmp_path / "held", tmp_path / "held" / "part.parquet"
    held.mkdir()
    FRAME.to_parquet(data, index=False)
    (tmp_path / "link").symlink_to(held)
    assert_same(count_parquet(tmp_path / "link"), tba.count(FRAME))

    def refused(first, second):
        text = (
            f"One file is reached twice: {str(first)!r} and {str(second)!r}. Its rows would be counted "
            "twice; take the link away, or name the files: count_parquet([...])."
        )
        return tba.InputError, text

    twice = refused(data, tmp_path / "link" / "part.parquet")
    assert error_of(count_parquet, tmp_path)[:2] == twice
    assert error_of(tba.count, ds.dataset(tmp_path))[:2] == twice
    assert (
        error_of(tba.count, ds.dataset([ds.dataset(held), ds.dataset(tmp_path / "link")]))[:2]
        == twice
    )
    asked = {"model": "name", "row": "year"}
    assert error_of(tba.count_pairs, ds.dataset(tmp_path), **asked)[:2] == twice
    assert error_of(count_parquet, [data, data])[:2] == refused(data, data)
    (held / "loop").symlink_to(held)
    assert error_of(count_parquet, held)[0] is tba.InputError
    (held / "loop").unlink()
    FRAME.to_parquet(held / "copy.parquet", index=False)  # other rows, though they are equal
    assert count_parquet(held).rows.tolist() == [2 * N]


def test_files_without_rows(tmp_path):
    FRAME.iloc[:0].to_parquet(tmp_path / "a.parquet", index=False)
    empty = count_parquet(tmp_path, by="segment")
    assert (len(empty), empty.labels.tolist()) == (0, [])
    FRAME.to_parquet(tmp_path / "b.parquet", index=False)
    assert_same(count_parquet(tmp_path, by="year"), tba.count(FRAME, by="year"))


@pytest.mark.parametrize("column", ["y_true", "y_pred", "w"])
@pytest.mark.parametrize("reverse", [True, False])
def test_a_column_of_one_file_may_hold_nothing(tmp_path, column, reverse):
    parts = [SOUND, SOUND.assign(**{column: pd.Series([None] * N, dtype=object)})]
    for at, part in enumerate(reversed(parts) if reverse else parts):
        part.to_parquet(tmp_path / f"{at}.parquet", index=False)
    question = {"sample_weight": "w", "by": "segment"}
    found = count_parquet(tmp_path, missing="drop", **question)
    assert found.missing_by_column == {column: N}
    np.testing.assert_allclose(found.cells, tba.count(SOUND, **question).cells)
    text = error_of(count_parquet, tmp_path, **question)[1]
    assert text.startswith(f"Missing values in {column!r} (60 of 120 rows). Leave these rows out")


def damaged(path, at):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\xff" * 40)


def test_a_damaged_row_group_is_named(folder):
    path = folder / "year=2021" / "part.parquet"
    group = pq.ParquetFile(path).metadata.row_group(1)
    names = [group.column(at).path_in_schema for at in range(group.num_columns)]
    column = group.column(names.index("y_pred"))
    damaged(path, column.dictionary_page_offset or column.data_page_offset)
    with pytest.raises(tba.InputError) as raised:
        count_parquet(folder)
    n = pq.ParquetFile(path).num_row_groups
    assert str(raised.value).startswith(
        f"Cannot read row group 1 of {n} in '{path}', column 'y_pred': "
    )
    assert str(raised.value).endswith("Nothing was counted; write the file anew, or leave it out.")


@pytest.mark.parametrize("first", [True, False])
def test_a_file_cut_off_is_named(folder, first):
    path = sorted(folder.rglob("*.parquet"))[0 if first else -1]
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(tba.InputError, match=rf"Cannot read .*{path}"):
        count_parquet(folder)


def test_no_file(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        count_parquet("none.parquet")
    assert str(caught.value) == "`source`: there is no file or folder 'none.parquet'."
    with pytest.raises(tba.InputError, match=r"^`source` holds no Parquet file; name files, or a"):
        count_parquet(tmp_path)


@pytest.mark.parametrize(
    ("batches", "kind"),
    [
        (None, "NoneType"),
        (3, "int"),
        ("abc", "str"),
        ({"a": FRAME}, "dict"),
        (FRAME, "DataFrame"),
        (pa.table({"y_true": [1]}), "Table"),
    ],
)
def test_batches_are_several_frames(batches, kind):
    text = (
        f"`batches` must be an iterable of frames; got {kind}. One frame is counted by "
        "tba.count(frame), Parquet files by tba.count_parquet(path)."
    )
    with pytest.raises(tba.KindError) as caught:
        count_batches(batches)
    assert str(caught.value) == text


def test_a_reader_of_batches_is_several_frames():
    table = pa.Table.from_pandas(FRAME[["y_true", "y_pred"]])
    assert_same(count_batches(table.to_reader()), tba.count(FRAME))


@pytest.mark.parametrize("source", [None, 3, b"x", [3], FRAME, pa.table({"y_true": [1]})])
def test_a_source_is_a_path(source):
    text = (
        "`source` must be a path, a list of paths, or a dataset of Parquet files; got "
        f"{type(source).__name__}. Frames and tables are counted by count()."
    )
    with pytest.raises(tba.KindError) as caught:
        count_parquet(source)
    assert str(caught.value) == text


@pytest.mark.parametrize("source", ["x" * 100_000, ["x" * 100_000], "\ud800", "a\0"])
def test_no_path_fills_the_message(source):
    with pytest.raises(tba.InputError, match=r"^Cannot read .{4,60}: ") as caught:
        count_parquet(source)
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize("progress", ["yes", 1, None, pd.NA])
def test_progress_is_a_flag(folder, progress):
    text = f"`progress` must be True or False; got {progress!r}."
    with pytest.raises(tba.InputError) as caught:
        count_parquet(folder, progress=progress)
    assert str(caught.value) == text


UNLIKE = {
    "another type": (FRAME.assign(y_pred=1), "string in '{a}', int64 in '{b}'"),
    "no such column": (FRAME.drop(columns="y_pred"), "string in '{a}', none in '{b}'"),
}


@pytest.mark.parametrize(("frame", "where"), UNLIKE.values(), ids=UNLIKE)
def test_files_of_unlike_schemas(tmp_path, frame, where):
    paths = {name: tmp_path / f"{name}.parquet" for name in "ab"}
    FRAME.to_parquet(paths["a"], index=False)
    frame.to_parquet(paths["b"], index=False)
    with pytest.raises(tba.InputError) as raised:
        count_parquet(tmp_path)
    assert str(raised.value) == (
        f"The files differ in column 'y_pred': {where.format(**paths)}. Count them apart, or "
        "write them with one schema."
    )


def test_progress_is_told_to_tqdm(folder, monkeypatch, capsys):
    tqdm = pytest.importorskip("tqdm.auto")
    bars = []

    class Bar(tqdm.tqdm):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            bars.append(self)

    monkeypatch.setattr(tqdm, "tqdm", Bar)
    count_parquet(folder)
    assert not bars
    count_parquet(folder, progress=True)
    assert [(bar.total, bar.n) for bar in bars] == [(N, N)]
    assert "row" in capsys.readouterr().err


def test_progress_without_tqdm(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    assert_same(count_parquet(folder, progress=True), tba.count(FRAME))


SLOW = """
import sys, time
from pandas_tba.engines import streams
from pandas_tba.engines.dispatch import count_parquet

counted = streams.combinations_of_batch

def slow(*arguments):
    print("counting", flush=True)
    time.sleep(0.2)
    return counted(*arguments)

streams.combinations_of_batch = slow
streams._FEWEST_ROWS = 1
count_parquet(sys.argv[1]).to_table().to_parquet("counts.parquet")
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_a_count_killed_half_way_leaves_no_file(folder, tmp_path_factory, name):
    temporary = tmp_path_factory.mktemp("temporary")
    batches = sum(pq.ParquetFile(path).num_row_groups for path in folder.rglob("*.parquet"))
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=temporary,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with process:
        for _ in range(batches // 2):
            assert process.stdout.readline() == b"counting\n"
        process.send_signal(getattr(signal, name))
        process.wait(30)
        counted = batches // 2 + len(process.stdout.readlines())
    assert process.returncode != 0
    assert counted < batches
    assert not list(temporary.iterdir())
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert_same(count_parquet(folder), tba.count(FRAME))


def test_no_file_stays_open(folder, monkeypatch):
    files = []
    opened = parquet.File.opened

    def spy(self, *arguments):
        files.append(opened(self, *arguments))
        return files[-1]

    monkeypatch.setattr(parquet.File, "opened", spy)
    count_parquet(folder)
    damaged(min(folder.rglob("*.parquet")), 4)
    with pytest.raises(tba.InputError):
        count_parquet(folder)
    assert files
    assert all(file.closed for file in files)


def test_folders_are_counted_one_at_a_time(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        FRAME.to_parquet(tmp_path / name / "part.parquet")
    with pytest.raises(tba.InputError) as raised:
        count_parquet([tmp_path / "a", tmp_path / "b"])
    assert str(raised.value).startswith("`source` must list files; ")
    assert str(raised.value).endswith(
        " is a folder. Give one folder, which may hold others, or the files: "
        "glob.glob(f'{folder}/**/*.parquet', recursive=True)."
    )
    with pytest.raises(
        FileNotFoundError, match=r"Patterns are not looked up: give the folder, or glob\."
    ):
        count_parquet(tmp_path / "*" / "*.parquet")


@pytest.mark.parametrize(
    ("frame", "step"),
    [
        ("predictions", "A path of Parquet files is for count_parquet()"),
        ([FRAME, FRAME], "count_batches() counts several frames"),
        (iter([FRAME]), "count_batches() counts several frames"),
    ],
    ids=["path", "list", "iterator"],
)
def test_what_is_no_frame_is_told_where_to_go(frame, step):
    with pytest.raises(tba.KindError, match=re.escape(step)):
        tba.count(frame)


IS_LONG = settings().max_examples > 1000
N_SHARDS = 1000 if IS_LONG else 160


def shards(number):
    """Shards of a job: few large groups and many small ones, and labels that come and go."""
    rng = np.random.default_rng(3)
    for shard in range(number):
        groups = np.minimum(rng.zipf(1.5, 80), 400)
        first = shard * 20 // number
        labels = first + rng.integers(0, 5, (2, 80))
        yield pd.DataFrame(
            {
                "y_true": [f"c{at:03d}" for at in labels[0]],
                "y_pred": [f"c{at:03d}" for at in labels[1]],
                "group": groups,
                # sums are exact, whatever their order; one label of each shard weighs nothing
                "w": np.where(labels[0] == first, 0, rng.integers(1, 5, 80) / 4),
            }
        )


ASKED = {"by": "group", "sample_weight": "w"}


@pytest.fixture(scope="module")
def job():
    """Many shards, the counts of each, and those of one pass over all rows."""
    held = list(shards(N_SHARDS))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tba.InputWarning)  # a label may be predicted only
        parts = [tba.count(shard, **ASKED) for shard in held]
    return held, parts, tba.count(pd.concat(held, ignore_index=True), **ASKED)


def tree(parts):
    while len(parts) > 1:
        parts = [sum(parts[at : at + 3]) for at in range(0, len(parts), 3)]
    return parts[0]


def shuffled(parts):
    return [parts[at] for at in np.random.default_rng(5).permutation(len(parts))]


def tabled(parts, *, text=False):
    return [from_table(part.to_table(text=text)) for part in parts]


MERGES = {
    "a stream": lambda held, parts: count_batches(held, **ASKED),
    "a stream, backwards": lambda held, parts: count_batches(held[::-1], **ASKED),
    "forty machines": lambda held, parts: sum(
        count_batches(held[at::40], **ASKED) for at in range(40)
    ),
    "sum": lambda held, parts: sum(parts),
    "sum, backwards": lambda held, parts: sum(parts[::-1]),
    "a tree": lambda held, parts: tree(parts),
    "a tree, shuffled": lambda held, parts: tree(shuffled(parts)),
    "tables up a tree": lambda held, parts: tree(tabled(parts)),
    "tables of text": lambda held, parts: sum(tabled(parts, text=True)),
    "one table of all": lambda held, parts: from_table(
        pd.concat([part.to_table() for part in shuffled(parts)], ignore_index=True)
    ),
    "one table, kept": lambda held, parts: from_table(sum(parts).to_table()),
}


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
@pytest.mark.parametrize("merge", MERGES.values(), ids=MERGES)
def test_many_shards_equal_one_pass(job, merge, monkeypatch):
    if not IS_LONG:  # combinations are added up more than once, as those of a long job are
        monkeypatch.setattr(combinations, "_PENDING", 1 << 11)
    held, parts, whole = job
    found = merge(held, parts)
    assert (len(whole.labels), len(whole) > 100, whole.rows.sum()) == (24, True, 80 * N_SHARDS)
    assert max(len(part.labels) for part in parts) == 5
    assert found.labels.tolist() == whole.labels.tolist()
    assert found.is_class.tolist() == whole.is_class.tolist()
    assert_index_equal(found.groups, whole.groups)
    mine, theirs = found.stored.entries(), whole.stored.entries()
    for name in ("group", "truth", "predicted"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))
    for quantity, expected in zip(mine.quantities, theirs.quantities, strict=True):
        np.testing.assert_array_equal(quantity, expected)
