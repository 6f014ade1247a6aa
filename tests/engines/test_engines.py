"""Every engine gives the counts that pandas gives, cell for cell, and the same errors."""

import datetime
import decimal
import importlib
import os
import re
import subprocess
import sys
import uuid

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_index_equal
from predictions import (
    FRAME,
    GUESS,
    HOLED,
    SEVERAL,
    TEXT,
    TRUTH,
    N,
    assert_same,
    error_of,
    faulty,
)

import pandas_tba as tba
from pandas_tba.engines.dispatch import count_batches
from pandas_tba.frames.columns import Columns

# pandera imports pyspark where it is installed, which warns of pandas 3
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning")

MONTHS = [datetime.date(2024, month, 29) for month in (1, 2, 3)]


def labelled(*values):
    """The frame with these three values as labels and as a key."""
    held = pd.Series(values, dtype=None if isinstance(values[0], (bool, int, float)) else object)
    truth, guess = held.take(TRUTH), held.take(GUESS)
    columns = {"y_true": truth, "y_pred": guess, "segment": truth}
    return FRAME.assign(**{name: column.to_numpy() for name, column in columns.items()})


def categories(values):
    return pd.Categorical(FRAME[values], categories=["z", "y", "x", "c", "b", "a"])


CATEGORIES = FRAME.assign(**{name: categories(name) for name in ("y_true", "y_pred", "segment")})
COUNTED = {
    "all rows": (FRAME, {}),
    "a key with missing values": (FRAME, {"by": "segment"}),
    "missing keys left out": (FRAME, {"by": "segment", "dropna": True}),
    "several keys": (FRAME, {"by": ["segment", "year"]}),
    "a key of fractions": (FRAME, {"by": ["share"]}),
    "a label as key": (FRAME, {"by": "y_true"}),
    "weights": (FRAME, {"by": "segment", "sample_weight": "w"}),
    "whole weights": (FRAME, {"sample_weight": "year"}),
    "declared labels": (FRAME, {"labels": ["b", "a"], "abstain": ["c"], "y_true": "name2"}),
    "models in columns": (FRAME, {"y_pred": ["y_pred", "other"], "by": "segment"}),
    "models in columns, without groups": (FRAME, {"y_pred": ["y_pred", "other"]}),
    "models in rows": (FRAME, {"model": "name", "by": "year"}),
    "weighted models": (FRAME, {"y_pred": ["other", "y_pred"], "sample_weight": "w"}),
    "scores": (FRAME, {"y_true": "yes", "y_score": "p", "by": "segment"}),
    "scores of two models": (FRAME, {"y_true": "yes", "y_score": ["p", "q"], "threshold": 0.3}),
    "missing left out": (HOLED, {"missing": "drop", "by": "segment"}),
    "missing for two models": (HOLED, {"missing": "drop", "y_pred": ["other", "y_pred"]}),
    "missing weights": (HOLED, {"missing": "drop", "sample_weight": "w", "by": "year"}),
    "missing scores": (HOLED, {"missing": "drop", "y_true": "yes", "y_score": ["q", "p"]}),
    "booleans": (labelled(False, True, True), {"by": "segment"}),
    "whole numbers": (labelled(3, 1, 2**53 + 1), {"by": "segment"}),
    "a pair of numbers": (labelled(-1, 1, 1), {}),
    "fractions": (labelled(0.5, -0.0, 2.25), {"by": "segment"}),
    "days": (labelled(*MONTHS), {"by": "segment"}),
    "times": (labelled(*pd.to_datetime(MONTHS)), {"by": "segment"}),
    "times of a zone": (labelled(*pd.to_datetime(MONTHS).tz_localize("UTC")), {"by": "segment"}),
    "durations": (labelled(*pd.to_timedelta([36, 1, 240], "h")), {"by": "y_true"}),
    "bytes": (labelled(b"b", b"", b"a\x00"), {"by": "segment"}),
    "decimals": (labelled(*map(decimal.Decimal, ("1.50", "2.25", "3"))), {"by": "segment"}),
    "categories": (CATEGORIES, {"by": "segment"}),
    "categories without rows": (CATEGORIES, {"by": ["segment", "year"], "observed": False}),
    "no rows": (FRAME.iloc[:0], {"by": "segment"}),
    "no rows of models": (FRAME.iloc[:0], {"y_pred": ["y_pred", "other"], "sample_weight": "w"}),
}
COUNTED["declared labels"] = (
    FRAME.assign(y_true=FRAME["y_true"].replace("c", "b")),
    {"labels": ["b", "a"], "abstain": ["c"], "by": "year"},
)


def arrow_of(frame):
    import pyarrow as pa

    return pa.Table.from_pandas(frame, preserve_index=False)


def polars_of(frame):
    import polars as pl

    held = pl.from_arrow(arrow_of(frame))
    declared = {
        name: pl.Enum(frame[name].cat.categories.tolist())
        for name in frame.columns
        if isinstance(frame[name].dtype, pd.CategoricalDtype)
    }
    return held.cast(declared) if declared else held


def duckdb_of(frame):
    import duckdb

    if any(isinstance(dtype, pd.CategoricalDtype) for dtype in frame.dtypes):
        return duckdb.from_df(frame)  # categories become an ENUM
    return duckdb.from_arrow(arrow_of(frame))


def dask_of(frame):
    import dask
    import dask.dataframe as dd

    # its default makes text of dates and decimals
    with dask.config.set({"dataframe.convert-string": False}):
        return dd.from_pandas(frame, npartitions=3, sort=False)


def spark_of(frame):
    return session().createDataFrame(arrow_of(without_categories(frame)))


def without_categories(frame):
    """What is left of a frame in an engine that has no categories."""
    declared = [name for name in frame if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    return frame.astype(dict.fromkeys(declared, object))


def session():
    from pyspark.sql import SparkSession

    settings = {
        "spark.sql.shuffle.partitions": 2,
        "spark.ui.enabled": False,
        "spark.sql.adaptive.enabled": False,  # plans of these few rows are not worth a second look
        "spark.sql.codegen.wholeStage": False,
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timestampType": "TIMESTAMP_NTZ",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def batch_of(frame):
    import pyarrow as pa

    table = arrow_of(frame)
    if frame.empty:
        return pa.RecordBatch.from_pylist([], schema=table.schema)
    return table.combine_chunks().to_batches()[0]


def reader_of(frame):
    import pyarrow as pa

    table = arrow_of(frame)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=7))


def dataset_of(frame):
    import pyarrow.dataset as ds

    return ds.dataset(arrow_of(frame))


ENGINES = {
    "pyarrow table": arrow_of,
    "pyarrow batch": batch_of,
    "pyarrow reader": reader_of,
    "pyarrow dataset": dataset_of,
    "polars frame": polars_of,
    "polars lazy": lambda frame: polars_of(frame).lazy(),
    "duckdb": duckdb_of,
    "dask": dask_of,
    "pyspark": spark_of,
}
MODULES = {"dask": "dask.dataframe", "pyspark": "pyspark.sql"}


@pytest.fixture(params=ENGINES)
def made(request):
    package = request.param.partition(" ")[0]
    asked = [MODULES.get(package, package), "pyarrow"]
    for module in asked if package in ("pyarrow", "dask") else [*asked, "narwhals"]:
        if os.environ.get("PANDAS_TBA_ENGINES") == "all":
            importlib.import_module(module)
        else:
            pytest.importorskip(module)
    return ENGINES[request.param]


@pytest.mark.parametrize("case", COUNTED)
def test_counts_equal_those_of_pandas(made, case):
    frame, question = COUNTED[case]
    found = tba.count(made(frame), **question)
    if made is spark_of:
        frame = without_categories(frame)
    assert_same(found, tba.count(frame, **question))


WIDER = {"by": ["k", "segment"], "y_pred": ["y_pred", "other"]}


@pytest.mark.parametrize("ask", [tba.count, tba.count_pairs])
@pytest.mark.parametrize(
    ("values", "dtype"),
    [([2**53 + 1, 3], "Int64"), ([2**64 - 1, 3], "UInt64"), ([True], "boolean")],
)
def test_a_missing_key_beside_others_makes_no_float_of_whole_ones(made, ask, values, dtype):
    if made is spark_of and dtype == "UInt64":
        pytest.skip("Spark has no unsigned numbers")
    keys = pd.Series([*values, None] * N, dtype=dtype)[:N]
    frame = FRAME.assign(k=keys)
    found, expected = (ask(held, **WIDER) for held in (made(frame), frame))
    whole = [key for key in found.groups.get_level_values("k").unique() if not pd.isna(key)]
    assert whole == sorted(values)
    assert_index_equal(found.groups, expected.groups)
    assert found.groups.get_level_values("k").dtype == dtype
    held = ask(frame.astype({"k": object}), **WIDER)
    assert_index_equal(held.groups, expected.groups)
    added = ask(frame[:9].astype({"k": object}), **WIDER) + ask(frame[9:], **WIDER)
    assert_index_equal(added.groups, expected.groups)


def holds_halves(made):
    """Whether an engine has float16; Polars 1.30 makes float32 of it."""
    is_polars = made in (ENGINES["polars frame"], ENGINES["polars lazy"])
    return not is_polars or hasattr(importlib.import_module("polars"), "Float16")


@pytest.mark.parametrize("threshold", [0.1, 0.7, 1e300])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_threshold_has_the_precision_of_the_scores(made, dtype, threshold):
    if dtype == "float16" and (made in (duckdb_of, spark_of) or not holds_halves(made)):
        pytest.skip("the engine has no float16")
    scores = (np.arange(N) % 11 / 10).round(1)
    short = scores.astype(dtype)
    frame = FRAME.assign(p=short, q=short[::-1], w=np.float32(0.1))
    for question in (
        {"y_score": "p"},
        {"y_score": ["p", "q"]},
        {"y_score": "p", "sample_weight": "w"},
    ):
        question |= {"y_true": "yes", "threshold": threshold}
        found = tba.count(made(frame), **question)
        assert found.stored.quantities[0][0, :, 1].sum() == (scores >= threshold).sum()
        assert_same(found, tba.count(frame, **question))
    assert found.weight.sum() == pytest.approx(N * float(np.float32(0.1)), rel=1e-14)
    question = {"y_true": "yes", "y_score": ["p", "q"], "threshold": threshold}
    assert_same_pairs(tba.count_pairs(made(frame), **question), tba.count_pairs(frame, **question))


PATTERNS = [
    "*",
    "^g$",
    "^.*$",
    "a.b",
    "k.0",
    ".k",
    'a"b',
    "a`b",
    "a'b",
    "a\\b",
    "#1",
    "key_0",
    "rows",
]
PARTS = {  # of a column, and the column that plays it
    "by": "segment", "y_true": "y_true", "y_pred": "y_pred", "sample_weight": "w", "model": "name",
    "y_score": "p", "row": "case",
}  # fmt: skip


@pytest.mark.parametrize("name", PATTERNS)
def test_a_name_is_no_pattern_and_no_path(made, name):
    frame = FRAME.assign(
        case=np.arange(N) // 2, y_true=FRAME["y_true"].take(np.arange(N) // 2 * 2).array
    )
    assert {"k", "g", "a"}.isdisjoint(frame)
    frame = frame.assign(k=1, g=1, a=1)
    for part, column in PARTS.items():
        question = {"by": None} | {part: name}
        if part == "y_score":
            question |= {"y_true": "yes"}
        named = frame.assign(**{name: frame[column]})
        if part == "row":
            question |= {"model": "name"}
            found, expected = (tba.count_pairs(held, **question) for held in (made(named), named))
            assert_same_pairs(found, expected)
        else:
            assert_same(tba.count(made(named), **question), tba.count(named, **question))


CASES = FRAME.astype(dict.fromkeys(["y_true", "y_pred", "other", "segment", "name"], TEXT)).assign(
    bad=FRAME["w"].where(np.arange(N) % 9 > 0, -1.5).where(np.arange(N) != 50, np.inf),
    few=FRAME["w"].where(np.arange(N) != 3),
    gone=FRAME["y_pred"].where(np.arange(N) % 9 > 0, None).astype(TEXT),
    number=FRAME["year"],
)
FAULTS = {
    "no true label": {"y_true": "y_tru"},
    "no prediction": {"y_pred": ["y_pred", "forest"]},
    "no key": {"by": "segmnt"},
    "a key twice": {"by": ["segment", "segment"]},
    "no keys": {"by": []},
    "a list in a list of keys": {"by": [["segment"]]},
    "the model's own level": {"model": "name", "by": "model"},
    "two ways to name models": {"model": "name", "y_pred": ["y_pred", "other"]},
    "no weight": {"sample_weight": "weight"},
    "missing": {"missing": "ignore"},
    "missing predictions": {"y_pred": "gone"},
    "missing predictions of two models": {"y_pred": ["y_pred", "gone"]},
    "a missing weight": {"sample_weight": "few"},
    "bad weights": {"sample_weight": "bad"},
    "weights that are text": {"sample_weight": "name"},
    "weights that are booleans": {"sample_weight": "yes"},
    "scores that are text": {"y_true": "yes", "y_score": "name"},
    "scores without a positive label": {"y_score": "p"},
    "scores as labels": {"y_true": "yes", "y_pred": "p"},
    "a threshold": {"y_score": "p", "threshold": "half"},
    "text against numbers": {"y_pred": "number"},
    "labels not declared": {"labels": ["a", "c"]},
    "labels of no class": {"abstain": ["b"]},
    "a positive label of three classes": {"pos_label": "a"},
    "no labels": {"labels": []},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_errors_are_those_of_pandas(made, fault):
    found, expected = (error_of(tba.count, held, **FAULTS[fault]) for held in (made(CASES), CASES))
    if fault == "a list in a list of keys":
        assert found[0] is expected[0]
        assert found[1].startswith("`by` must hold names of columns, since the rows stay in their")
    else:
        assert found == expected


@pytest.mark.parametrize("case", SEVERAL, ids=str)
def test_several_faults_are_all_named(made, case):
    frame, question, expected = faulty(*case)
    assert error_of(tba.count, made(frame), **question) == expected


@pytest.mark.parametrize("case", SEVERAL, ids=str)
def test_rows_of_faults_are_those_of_a_slow_count(case):
    frame, question, (_, _, cases) = faulty(*case)
    columns = Columns(**question).roles
    if question["missing"] == "drop":
        frame = frame.dropna(subset=[columns.y_true, *columns.predictions, "w"])
    for column, check, value, rows in cases:
        if check == "missing":
            assert rows == frame[column].isna().sum()
        elif check in ("expected", "weight"):
            assert rows == sum(held == value for held in frame[column])
        else:
            assert rows is pd.NA if column is None else rows == len(frame)


MANY = 25_000  # different values, of which no error looks at more than 10,000
NUMBERED = pd.DataFrame(
    {
        "y_true": [*"ab"] * MANY,
        "y_pred": pd.Series([f"z{at % MANY}" for at in range(2 * MANY)], dtype=TEXT),
        "w": -1.0 - np.arange(2 * MANY) // 2,
    }
).astype({"y_true": TEXT})


def test_of_very_many_values_the_same_are_named(made):
    question = {"labels": ["a", "b"], "sample_weight": "w"}
    expected = error_of(tba.count, NUMBERED, **question)
    assert len(expected[2]) == 20_000
    assert "50,000 rows of 50,000 have others, such as -25000.0, -24999.0, -24998.0." in expected[1]
    assert error_of(tba.count, made(NUMBERED), **question) == expected


def test_booleans_are_no_numbers_even_without_rows(made):
    expected = error_of(tba.count, CASES.iloc[:0], sample_weight="yes")
    assert expected[2] == [["yes", "number", False, 0]]
    assert error_of(tba.count, made(CASES.iloc[:0]), sample_weight="yes") == expected


@pytest.mark.parametrize("case", SEVERAL, ids=str)
def test_the_order_of_rows_shows_in_no_error(case):
    frame, question, expected = faulty(*case)
    assert error_of(tba.count, frame.sample(frac=1, random_state=5), **question) == expected


@pytest.mark.parametrize("missing", ["raise", "drop"])
def test_booleans_beside_numbers_among_other_faults(missing):
    pytest.importorskip("dask")
    frame = pd.DataFrame(
        {
            "y_true": pd.Series([True, 1, 7, None, False, 0, 9, 1, 0], dtype=object),
            "y_pred": [1, 1, 0, 0, 0, 0, 1, 1, 1],
            "w": [1, 2, -1, 1, 1, 3, np.inf, 1, 1],
        }
    )
    question = {"labels": [7, 9], "sample_weight": "w", "missing": missing}
    expected = error_of(tba.count, frame, **question)
    rows = [(str(value), rows) for column, check, value, rows in expected[2]
            if (column, check) == ("y_true", "expected")]  # fmt: skip
    assert rows == [("False", 1), ("0", 2), ("True", 1), ("1", 2)]
    assert expected[1].startswith("`y_true` column 'y_true' holds both booleans and numbers")
    assert expected[1].endswith(
        "'w': weights are negative or not finite (2 rows), such as -1.0, inf."
    )
    assert error_of(tba.count, frame[::-1], **question) == expected
    assert error_of(tba.count, dask_of(frame), **question) == expected


def test_lists_are_no_labels(made):
    lists = FRAME.assign(y_true=[[1, 2]] * N)
    expected = error_of(tba.count, lists)
    assert error_of(tba.count, made(lists)) == expected
    assert "Column 'y_true' holds a list ([1, 2])" in expected[1]


@pytest.mark.parametrize("question", [{"sample_weight": "w"}, {"y_true": "yes", "y_score": "w"}])
def test_lists_are_no_numbers(made, question):
    lists = FRAME.assign(w=[[1.0]] * N, yes=FRAME["yes"].where(np.arange(N) > 0))
    expected = error_of(tba.count, lists, **question)
    assert "column 'w' must hold numbers; got object" in expected[1]
    assert error_of(tba.count, made(lists), **question) == expected


TWICE = FRAME.assign(y_true="a", y_pred="a", other="a", case=np.arange(N))
COMING_BACK = {
    "counts": (tba.count, {"sample_weight": "w"}, 1),
    "pairs in columns": (tba.count_pairs, {"y_pred": ["y_pred", "other"]}, 1),
    "pairs in rows": (tba.count_pairs, {"model": "name", "row": "case"}, 2),
}


@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # of pyspark 4.0
@pytest.mark.parametrize("asked", COMING_BACK)
def test_predictions_that_are_no_class_are_named_once(made, asked):
    frame = TWICE.assign(
        y_pred=FRAME["y_pred"].replace("c", "C"), y_true="c", case=TWICE["case"] // 2
    )
    ask, question, _ = COMING_BACK[asked]
    with pytest.warns(
        tba.InputWarning, match="'C' differs from 'c' only by blanks or case"
    ) as held:
        ask(made(frame), **question)
    kept = [warning for warning in held if warning.category is not ResourceWarning]
    assert [warning.filename for warning in kept] == [__file__]


def test_schema_is_for_pandas(made):
    with pytest.raises(
        tba.InputError, match=r"^`schema` runs on pandas frames alone\. Leave it out"
    ):
        tba.count(made(FRAME), schema=tba.schema())


@pytest.mark.parametrize("asked", COMING_BACK)
@pytest.mark.parametrize("frame", [[1, 2], {"y_true": [1]}, None, "frame", np.zeros(3)])
def test_what_no_engine_knows(frame, asked):
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
    step = "Put the rows into a frame first, for example pd.DataFrame(rows)."
    step = {
        str: "A path of Parquet files is for count_parquet(), or pyarrow.dataset.dataset(path).",
        list: f"count_batches() counts several frames. {step}",
    }.get(type(frame), step)
    ask, question, _ = COMING_BACK[asked]
    with pytest.raises(tba.KindError) as raised:
        ask(frame, **question)
    assert str(raised.value) == (
        "`frame` must be a frame of pandas, Polars, PyArrow, DuckDB, Dask, Spark SQL, or of another "
        f"engine that narwhals knows; got {kind}. {step}"
    )


@pytest.mark.parametrize("case", ["several keys", "weighted models", "missing scores", "decimals"])
def test_what_only_narwhals_knows(case):
    nw = pytest.importorskip("narwhals.stable.v2")
    pytest.importorskip("pyarrow")
    frame, question = COUNTED[case]
    held = nw.from_native(frame, eager_only=True)  # as good as the frame of an unknown engine
    assert_same(tba.count(held, **question), tba.count(frame, **question))


ARROW_HAS_NO_DICTIONARY_OF = {
    "periods": pd.period_range("2024-01", periods=3, freq="M"),
    "intervals": pd.interval_range(0.0, 3.0),
    "small floats": np.array([0, 1, 2], dtype="float16"),
}


@pytest.mark.parametrize("name", ARROW_HAS_NO_DICTIONARY_OF)
def test_arrow_holds_what_it_has_no_dictionary_of(name):
    pytest.importorskip("pyarrow")
    held = pd.Series(ARROW_HAS_NO_DICTIONARY_OF[name])
    columns = {"y_true": held.take(TRUTH), "y_pred": held.take(GUESS)}
    frame = pd.DataFrame({name: column.array for name, column in columns.items()})
    frame.loc[3, "y_true"] = None
    question = {"by": "y_true", "missing": "drop"}
    assert_same(tba.count(arrow_of(frame), **question), tba.count(frame, **question))


@pytest.mark.parametrize("case", SEVERAL[::7], ids=str)
def test_faults_that_only_narwhals_knows(case):
    nw = pytest.importorskip("narwhals.stable.v2")
    pytest.importorskip("pyarrow")
    frame, question, expected = faulty(*case)
    held = nw.from_native(frame, eager_only=True)
    assert error_of(tba.count, held, **question) == expected


def test_intervals_of_months_have_no_length():
    duckdb = pytest.importorskip("duckdb")
    frame = duckdb.sql("SELECT 'a' AS y_true, 'a' AS y_pred, INTERVAL 1 MONTH AS age")
    with pytest.raises(tba.KindError) as raised:
        tba.count(frame, by="age")
    assert str(raised.value) == (
        "Column 'age' holds intervals of months, such as MonthDayNano(months=1, days=0, "
        "nanoseconds=0), which have no fixed length. Convert them to days, dates or text."
    )


def test_columns_and_series_are_no_frames():
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    for value in (pl.Series([1]), pl.col("x"), pa.array([1])):
        with pytest.raises(tba.KindError, match=f"got {re.escape(type(value).__module__)}"):
            tba.count(value)


@pytest.mark.parametrize("asked", COMING_BACK)
@pytest.mark.parametrize(("absent", "package"), [("narwhals", "polars"), ("narwhals", "duckdb")])
def test_a_missing_package_names_its_extra(monkeypatch, absent, package, asked):
    pytest.importorskip(package)
    frame = {"polars": polars_of, "duckdb": duckdb_of}[package](FRAME)
    monkeypatch.setitem(importlib.sys.modules, absent, None)
    ask, question, _ = COMING_BACK[asked]
    with pytest.raises(ModuleNotFoundError) as raised:
        ask(frame, **question)
    assert str(raised.value) == (
        f"Counting in {package} needs {absent}: pip install 'pandas-tba[{package}]'."
    )


RETURNING = [
    (engine, asked)
    for asked in COMING_BACK
    for engine in ENGINES
    if asked != "pairs in rows" or not engine.startswith("pyarrow")
]


@pytest.mark.parametrize(("made", "asked"), RETURNING, indirect=["made"])
def test_only_counts_come_back(made, asked, monkeypatch):
    from pandas_tba.engines import memory, partitions, queries

    ask, question, most = COMING_BACK[asked]
    lines = []

    def noted(function, size):
        def spy(*arguments, **options):
            answer = function(*arguments, **options)
            lines.append(size(answer))
            return answer

        return spy

    monkeypatch.setattr(queries, "_collected", noted(queries._collected, len))

    def most_lines(found):
        return max(len(lines.codes) for lines in found.lines)

    counted = noted(memory.combinations_of_rows, most_lines)
    monkeypatch.setattr(memory, "combinations_of_rows", counted)
    put_beside = noted(memory.cases_of_pandas, lambda answer: most_lines(answer[0]))
    monkeypatch.setattr(partitions, "cases_of_pandas", put_beside)
    if made in (ENGINES["polars frame"], ENGINES["polars lazy"]):
        import polars as pl

        monkeypatch.setattr(pl.LazyFrame, "collect", noted(pl.LazyFrame.collect, len))
    parts = [TWICE.assign(case=TWICE["case"] // 2 + N * at) for at in range(5)]
    frame = made(pd.concat(parts, ignore_index=True))
    lines.clear()
    counts = ask(frame, **question)
    assert counts.rows.tolist() == [5 * N // (2 if asked == "pairs in rows" else 1)]
    assert lines
    assert max(lines) == most


@pytest.mark.parametrize(
    "made", [engine for engine in ENGINES if engine.startswith("pyarrow")], indirect=True
)
def test_arrow_holds_the_columns_needed_for_models_in_rows(made, monkeypatch):
    from pandas_tba.engines import engine_pairs

    frame, question = in_rows(*PAIRED["several keys"])
    held = []
    frame_of_arrow = engine_pairs.frame_of_arrow

    def spy(*arguments):
        held.append(frame_of_arrow(*arguments))
        return held[-1]

    monkeypatch.setattr(engine_pairs, "frame_of_arrow", spy)
    tba.count_pairs(made(frame), **question)
    assert [set(part) for part in held] == [{"y_true", "guess", "name", "case", "segment", "year"}]


def test_where_spark_is_installed_it_is_silent_about_faults():
    pytest.importorskip("pyspark")
    code = (
        "import pandas as pd, pandas_tba as tba\n"
        "try: pd.DataFrame({'y_true': [1, None], 'y_pred': [1, 1]}).tba.score()\n"
        "except tba.InputError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("Missing values in 'y_true' (1 of 2 rows)."), done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["segment", "y_pred"])
def test_categoricals_of_polars(name):
    pl = pytest.importorskip("polars")
    frame = pl.from_pandas(HOLED).with_columns(pl.col(name).cast(pl.Categorical))
    options = {"by": "segment", "missing": "drop"}
    assert_same(tba.count(frame, **options), tba.count(HOLED, **options))


@pytest.mark.parametrize("is_lazy", [False, True])
@pytest.mark.parametrize(
    "part", [part for part in PARTS if part not in ("sample_weight", "y_score")]
)
def test_objects_of_polars_have_no_value_to_compare(part, is_lazy):
    pl = pytest.importorskip("polars")
    ids = [uuid.UUID(int=at % 3) for at in range(N)]
    frame = polars_of(FRAME).with_columns(ids=pl.Series(ids, dtype=pl.Object), case=pl.lit(1))
    frame = frame.lazy() if is_lazy else frame
    question = {part: "ids", "model": "name"} if part == "row" else {part: "ids"}
    expected = (
        "Column 'ids' holds Python objects, which Polars tells apart by their address and not by their value. "
        "Convert it, for example with map_elements(str, return_dtype=pl.String)."
    )
    for count in (
        (tba.count_pairs,)
        if part == "row"
        else (tba.count, lambda held, **question: count_batches([held], **question))
    ):
        assert error_of(count, frame, **question)[:2] == (tba.KindError, expected)


def test_dask_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster):
        frame, question = COUNTED["weighted models"]
        assert_same(tba.count(dask_of(frame), **question), tba.count(frame, **question))
        frame, question = in_rows(*PAIRED["three models"])
        found = tba.count_pairs(dask_of(frame), **question)
        assert_same_pairs(found, tba.count_pairs(frame, **question))
        mixed = FRAME.assign(y_true=pd.Series([True, 1] * (N // 2), dtype=object))
        assert error_of(tba.count, dask_of(mixed)) == error_of(tba.count, mixed)


def test_partitions_of_unequal_kinds():
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        whole = pd.DataFrame({"y_true": pd.Series([True, 1], dtype=object), "y_pred": [1, 1]})
        frame = dd.from_pandas(whole, npartitions=2, sort=False)
    assert error_of(tba.count, frame) == error_of(tba.count, whole)


def pivot(frame):
    """The frame with two more predictions of the kind of its labels: one rolled, one of the truth."""
    rolled, truth = np.roll(np.arange(len(frame)), 7), np.arange(len(frame)) % 3 > 0
    other = frame["y_pred"].take(rolled).set_axis(frame.index)
    return frame.assign(other=other, third=frame["y_true"].where(truth, frame["y_pred"]))


PAIR, TRIO = ["y_pred", "other"], ["other", "y_pred", "third"]
WIDE = pivot(FRAME)
PAIRED = {
    "two models": (WIDE, {"y_pred": PAIR}),
    "three models": (WIDE, {"y_pred": TRIO}),
    "a key with missing values": (WIDE, {"y_pred": PAIR, "by": "segment"}),
    "missing keys left out": (WIDE, {"y_pred": TRIO, "by": "segment", "dropna": True}),
    "several keys": (WIDE, {"y_pred": TRIO, "by": ["segment", "year"]}),
    "a key of fractions": (WIDE, {"y_pred": PAIR, "by": ["share"]}),
    "a label as key": (WIDE, {"y_pred": PAIR, "by": "y_true"}),
    "declared labels": (
        WIDE.assign(y_true=FRAME["y_true"].replace("c", "b")),
        {"y_pred": PAIR, "labels": ["b", "a"], "abstain": ["c"], "by": "year"},
    ),
    "scores": (FRAME, {"y_true": "yes", "y_score": ["p", "q"], "threshold": 0.3, "by": "year"}),
    "missing left out": (
        HOLED.assign(third=HOLED["y_true"]),
        {"missing": "drop", "y_pred": TRIO, "by": "segment"},
    ),
    "missing scores": (HOLED, {"missing": "drop", "y_true": "yes", "y_score": ["q", "p"]}),
    "no rows": (WIDE.iloc[:0], {"y_pred": TRIO, "by": "segment"}),
    "weights": (WIDE, {"y_pred": TRIO, "by": "segment", "sample_weight": "w"}),
    "weights and scores": (
        FRAME, {"y_true": "yes", "y_score": ["p", "q"], "by": "year", "sample_weight": "w"}
    ),
    "missing weights left out": (
        HOLED.assign(third=HOLED["y_true"]),
        {"missing": "drop", "y_pred": TRIO, "sample_weight": "w"},
    ),
    "weights of no rows": (WIDE.iloc[:0], {"y_pred": TRIO, "sample_weight": "w"}),
    "categories without rows": (
        pivot(CATEGORIES),
        {"y_pred": TRIO, "by": ["segment", "year"], "observed": False},
    ),
} | {
    kind: (pivot(COUNTED[kind][0]), {"y_pred": PAIR, "by": "segment"})
    for kind in (
        "booleans", "whole numbers", "a pair of numbers", "fractions", "days", "times",
        "decimals", "categories",
    )
}  # fmt: skip


def in_rows(frame, question):
    """The same models in rows, in any order, some of which are not there."""
    argument = "y_score" if "y_score" in question else "y_pred"
    parts = [
        frame.assign(case=np.arange(len(frame)) + 100, name=name, guess=frame[name])
        for name in question[argument]
    ]
    long = pd.concat(parts, ignore_index=True)
    long = long[np.arange(len(long)) % 7 > 0].sample(frac=1, random_state=0, ignore_index=True)
    return long, {**question, argument: "guess", "model": "name", "row": "case"}


def assert_same_pairs(found, expected):
    assert found.label_set.classes == expected.label_set.classes
    for name in ("values", "pos_label", "rules", "order"):
        assert getattr(found.label_set, name) == getattr(expected.label_set, name)
    assert_index_equal(found.groups, expected.groups, exact=False)
    assert found.key_groups.declared == expected.key_groups.declared
    for found_part, expected_part in zip(found.joint[:4], expected.joint[:4], strict=True):
        np.testing.assert_array_equal(found_part, expected_part)
    for found_quantity, quantity in zip(
        found.joint.quantities, expected.joint.quantities, strict=True
    ):
        np.testing.assert_allclose(found_quantity, quantity, rtol=1e-12)
    np.testing.assert_array_equal(found.unpaired, expected.unpaired)
    assert found.n_missing == expected.n_missing


@pytest.mark.parametrize("shape", ["columns", "rows"])
@pytest.mark.parametrize("case", PAIRED)
def test_pairs_equal_those_of_pandas(made, case, shape):
    frame, question = PAIRED[case]
    if shape == "rows":
        frame, question = in_rows(frame, question)
    found = tba.count_pairs(made(frame), **question)
    if made is spark_of:
        frame = without_categories(frame)
    expected = tba.count_pairs(frame, **question)
    assert_same_pairs(found, expected)
    assert expected.unpaired.any() == (shape == "rows" and not frame.empty)
    assert_frame_equal(tba.compare(found), tba.compare(expected), check_index_type=False)


TWO = {"y_pred": PAIR}
ROWS = in_rows(CASES, TWO)[1]
LONG = (
    in_rows(CASES, TWO)[0]
    .sort_values(["y_true", "case", "name"], ignore_index=True)
    .assign(
        one="a",
        of_model=lambda long: long["name"].where(long["case"] > 130, "one"),
        some=lambda long: long["segment"].where(long["name"] == "other", None),
        part=lambda long: long["share"].where(long["name"] == "other"),
    )
)
CASE = LONG["case"]
PAIR_FAULTS = {
    "one model": (CASES, {}),
    "one model of scores": (CASES, {"y_true": "yes", "y_score": "p"}),
    "a row for models in columns": (CASES, {**TWO, "row": "year"}),
    "two ways to name models": (CASES, {**TWO, "model": "name", "row": "year"}),
    "no true label": (CASES, {**TWO, "y_true": "y_tru"}),
    "no prediction": (CASES, {"y_pred": ["y_pred", "forest"]}),
    "no key": (CASES, {**TWO, "by": "segmnt"}),
    "no keys": (CASES, {**TWO, "by": []}),
    "a key twice": (CASES, {**TWO, "by": ["year", "year"]}),
    "the name of a level": (CASES.assign(model_a=1), {**TWO, "by": "model_a"}),
    "the models' own level": (CASES.assign(model=1), {**TWO, "by": "model"}),
    "missing": (CASES, {**TWO, "missing": "ignore"}),
    "missing predictions": (CASES, {"y_pred": ["y_pred", "gone"]}),
    "scores as labels": (CASES, {"y_true": "yes", "y_pred": ["p", "q"]}),
    "scores that are text": (CASES, {"y_true": "yes", "y_score": ["p", "name"]}),
    "scores without a positive label": (CASES, {"y_score": ["p", "q"]}),
    "text against numbers": (CASES, {"y_pred": ["y_pred", "number"]}),
    "labels not declared": (CASES, {**TWO, "labels": ["a", "c"]}),
    "a positive label of three classes": (CASES, {**TWO, "pos_label": "a"}),
    "no row": (LONG, {**ROWS, "row": None}),
    "no such row": (LONG, {**ROWS, "row": "cases"}),
    "no such model": (LONG, {**ROWS, "model": "models"}),
    "a row that is a key": (LONG, {**ROWS, "by": "case"}),
    "no keys for models in rows": (LONG, {**ROWS, "by": []}),
    "only one model": (LONG[LONG["name"] == "other"], ROWS),
    "rows twice": (pd.concat([LONG, LONG[30:40], LONG[20:30]]), ROWS),
    "rows of one model": (
        LONG.assign(case=LONG["case"] // 2),
        {**ROWS, "y_true": "one", "labels": [*"abc"]},
    ),
    "labels that differ": (LONG.assign(y_true=LONG["guess"]), ROWS),
    "labels that differ in two of three": (
        LONG.assign(y_true=LONG["y_true"].where(~CASE.isin([110, 120]), LONG["guess"])),
        ROWS,
    ),
    "keys that differ": (LONG, {**ROWS, "by": ["segment", "of_model"]}),
    "keys of which some are missing": (LONG, {**ROWS, "by": "some"}),
    "keys of which some are no number": (LONG, {**ROWS, "by": "part"}),
    "rows without a case": (LONG.assign(case=CASE.where(CASE != 110)), ROWS),
    "rows without a model": (LONG.assign(name=LONG["name"].where(CASE != 110, None)), ROWS),
    "missing predictions in rows": (
        LONG.assign(guess=LONG["guess"].where(CASE != 110, None)),
        ROWS,
    ),
    "labels not declared in rows": (LONG, {**ROWS, "labels": ["a", "c"]}),
    "bad weights": (CASES.assign(w=-CASES["w"]), {**TWO, "sample_weight": "w"}),
    "weights of text": (CASES, {**TWO, "sample_weight": "name"}),
    "missing weights": (
        CASES.assign(w=CASES["w"].where(CASES["year"] > 2020)), {**TWO, "sample_weight": "w"}
    ),
    "bad weights in rows": (LONG.assign(w=-LONG["w"]), {**ROWS, "sample_weight": "w"}),
    "weights of text in rows": (LONG, {**ROWS, "sample_weight": "one"}),
    "missing weights in rows": (
        LONG.assign(w=LONG["w"].where(CASE != 110)), {**ROWS, "sample_weight": "w"}
    ),
    "weights that differ": (
        LONG.assign(w=LONG["w"] + (CASE > 150) * LONG["name"].eq("other")),
        {**ROWS, "sample_weight": "w"},
    ),
    "weights and labels that differ": (
        LONG.assign(y_true=LONG["guess"], w=np.arange(len(LONG)) + 1.0),
        {**ROWS, "sample_weight": "w"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", PAIR_FAULTS)
def test_errors_of_pairs_are_those_of_pandas(made, fault):
    frame, question = PAIR_FAULTS[fault]
    found, expected = (error_of(tba.count_pairs, of, **question) for of in (made(frame), frame))
    assert found == expected


def test_pairs_of_very_many_scores_are_refused_as_by_pandas(made):
    scores = np.arange(2 * MANY) / 7
    frame = pd.DataFrame({"y_true": [0, 7] * MANY, "a": scores, "b": scores})
    question = {"y_pred": ["a", "b"], "labels": [0, 1]}
    expected = error_of(tba.count_pairs, frame, **question)
    assert expected[1].startswith("`y_pred` column 'a' holds scores, not labels")
    assert error_of(tba.count_pairs, made(frame), **question) == expected


@pytest.mark.parametrize("n_parts", [1, 4])
def test_cases_are_found_in_partitions_and_keys_in_their_index(n_parts):
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    long, question = in_rows(WIDE.assign(place=FRAME["year"]), {"y_pred": TRIO})
    question["by"] = ["place", "yes"]  # the first has the name of a column made on the way
    frame = long.set_index("yes")
    with dask.config.set({"dataframe.convert-string": False}):
        found = tba.count_pairs(dd.from_pandas(frame, npartitions=n_parts, sort=False), **question)
    assert_same_pairs(found, tba.count_pairs(frame, **question))


def kind_of_rows(name, values):
    """Models in rows whose column holds other values, each in place of one that was there."""
    frame, question = in_rows(*PAIRED["three models"])
    codes = pd.factorize(frame[name], sort=True)[0]
    return frame.assign(**{name: values.take(codes)}), question


CASES_OF = {
    "text": pd.Series([f"case {at}" for at in range(N)], dtype=TEXT),
    "fractions": pd.Series(np.arange(N) / 4),
    "days": pd.Series([datetime.date(2024, 1, 1) + datetime.timedelta(at) for at in range(N)]),
    "decimals": pd.Series([decimal.Decimal(at) / 4 for at in range(N)]),
    "categories": pd.Series(pd.Categorical(map(str, range(N)))),
    "whole numbers": pd.Series(2**53 + np.arange(N)),
}
MODELS_OF = {
    "whole numbers": pd.Series([3, 2**53 + 1, 1]),
    "booleans and a text": pd.Series(["True", "False", "1"], dtype=TEXT),
    "days": pd.Series(MONTHS),
    "categories": pd.Series(pd.Categorical([*"bca"], categories=[*"cbxa"])),
}
KINDS = {("case", kind): values for kind, values in CASES_OF.items()}
KINDS |= {("name", kind): values for kind, values in MODELS_OF.items()}


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_cases_and_models_of_every_kind(made, name, kind):
    values = KINDS[name, kind]
    frame, question = kind_of_rows(name, values.set_axis(range(len(values))).array)
    found = tba.count_pairs(made(frame), **question)
    expected = tba.count_pairs(without_categories(frame) if made is spark_of else frame, **question)
    assert expected.unpaired.all()
    assert_same_pairs(found, expected)


def test_cases_whose_number_is_stored_in_two_ways(made):
    frame = pd.DataFrame({"name": [*"abababab"], "y_true": [0, 0, 1, 1] * 2, "y_pred": [0, 1] * 4})
    frame["case"] = [0.0, -0.0, 1, 1, 2, 2, 3, 3]
    found = tba.count_pairs(made(frame), model="name", row="case")
    assert found.unpaired.tolist() == [0]
    assert found.cells.tolist() == [[[[0, 0], [2, 0]], [[0, 2], [0, 0]]]]


def test_many_labels_and_rare_ones(made):
    number = np.arange(60_000)
    columns = {"y_true": number % 5000, "a": number * 7 % 5000, "b": number % 4999}
    frame = pd.DataFrame(columns).assign(g=number % 3)
    frame.loc[40_001, ["y_true", "a", "b"]] = 10**6, 10**6, 3  # beyond the range of a sample
    question = {"y_pred": ["a", "b"], "by": "g"}
    assert_same_pairs(tba.count_pairs(made(frame), **question), tba.count_pairs(frame, **question))


@pytest.mark.parametrize("shape", ["columns", "rows"])
@pytest.mark.parametrize("n_labels", [101, 255, 256])
def test_pairs_of_labels_that_fill_the_codes(made, n_labels, shape):
    label = np.arange(n_labels)
    frame = pd.DataFrame({"y_true": label, "y_pred": label, "other": label[::-1]})
    question = {"y_pred": PAIR, "labels": label}
    if shape == "rows":
        frame, question = in_rows(frame, question)
    expected = tba.count_pairs(frame, **question)
    assert expected.unpaired.any() == (shape == "rows")
    assert_same_pairs(tba.count_pairs(made(frame), **question), expected)


@pytest.mark.parametrize("shape", ["columns", "rows"])
@pytest.mark.parametrize("case", ["several keys", "missing scores", "decimals", "no rows"])
def test_pairs_that_only_narwhals_knows(case, shape):
    nw = pytest.importorskip("narwhals.stable.v2")
    pytest.importorskip("pyarrow")
    frame, question = PAIRED[case] if shape == "columns" else in_rows(*PAIRED[case])
    held = nw.from_native(frame, eager_only=True)
    assert_same_pairs(tba.count_pairs(held, **question), tba.count_pairs(frame, **question))
