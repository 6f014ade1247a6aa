"""Every engine gives the counts that pandas gives, cell for cell, and the same errors."""

import datetime
import decimal
import importlib
import os
import re

import numpy as np
import pandas as pd
import pytest
from predictions import FRAME, GUESS, HOLED, TRUTH, N, assert_same

import pandas_tba as tba

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

    if isinstance(frame["y_true"].dtype, pd.CategoricalDtype):
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

    if frame.empty:
        return pa.RecordBatch.from_pandas(frame, preserve_index=False)
    return arrow_of(frame).combine_chunks().to_batches()[0]


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


TEXT = pd.Index(["a"]).dtype
# texts name labels in their order of occurrence, or sorted where an engine has no order
CASES = (
    FRAME.sort_values("y_true", ignore_index=True)
    .astype(dict.fromkeys(["y_true", "y_pred", "other", "segment", "name"], TEXT))
    .assign(
        bad=FRAME["w"].where(np.arange(N) % 9 > 0, -1.5).where(np.arange(N) != 50, np.inf),
        few=FRAME["w"].where(np.arange(N) != 3),
        gone=FRAME["y_pred"].where(np.arange(N) % 9 > 0, None).astype(TEXT),
        number=FRAME["year"],
    )
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


def error_of(frame, question):
    """Class and first part of an error: a frame of pandas lists further faults after it."""
    with pytest.raises((tba.InputError, tba.KindError, tba.ColumnError)) as raised:
        tba.count(frame, **question)
    return type(raised.value), str(raised.value).partition(" Also: ")[0]


@pytest.mark.parametrize("fault", FAULTS)
def test_errors_are_those_of_pandas(made, fault):
    found, expected = (error_of(frame, FAULTS[fault]) for frame in (made(CASES), CASES))
    if fault == "a list in a list of keys":
        assert found[0] is expected[0]
        assert found[1].startswith("`by` must hold names of columns, since the rows stay in their")
    else:
        assert found == expected


def test_lists_are_no_labels(made):
    lists = FRAME.assign(y_true=[[1, 2]] * N)
    expected = error_of(lists, {})
    assert error_of(made(lists), {}) == (tba.KindError, expected[1])
    assert "Column 'y_true' holds a list ([1, 2])" in expected[1]


def test_predictions_that_are_no_class_are_named_once(made):
    frame = FRAME.assign(y_pred=FRAME["y_pred"].replace("c", "C"), y_true="c")
    with pytest.warns(
        tba.InputWarning, match="'C' differs from 'c' only by blanks or case"
    ) as held:
        tba.count(made(frame), by="segment")
    assert [warning.filename for warning in held] == [__file__]


def test_schema_is_for_pandas(made):
    with pytest.raises(
        tba.InputError, match=r"^`schema` runs on pandas frames alone\. Leave it out"
    ):
        tba.count(made(FRAME), schema=tba.schema())


@pytest.mark.parametrize("frame", [[1, 2], {"y_true": [1]}, None, "frame", np.zeros(3)])
def test_what_no_engine_knows(frame):
    kind = f"{type(frame).__module__}.{type(frame).__qualname__}"
    with pytest.raises(tba.KindError) as raised:
        tba.count(frame)
    assert str(raised.value) == (
        "`frame` must be a frame of pandas, Polars, PyArrow, DuckDB, Dask, Spark SQL, or of another "
        f"engine that narwhals knows; got {kind}. Put the rows into a frame first, for example "
        "pd.DataFrame(rows)."
    )


@pytest.mark.parametrize("case", ["several keys", "weighted models", "missing scores", "decimals"])
def test_what_only_narwhals_knows(case):
    nw = pytest.importorskip("narwhals.stable.v2")
    pytest.importorskip("pyarrow")
    frame, question = COUNTED[case]
    held = nw.from_native(frame, eager_only=True)  # as good as the frame of an unknown engine
    assert_same(tba.count(held, **question), tba.count(frame, **question))


def test_columns_and_series_are_no_frames():
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    for value in (pl.Series([1]), pl.col("x"), pa.array([1])):
        with pytest.raises(tba.KindError, match=f"got {re.escape(type(value).__module__)}"):
            tba.count(value)


@pytest.mark.parametrize(("absent", "package"), [("narwhals", "polars"), ("narwhals", "duckdb")])
def test_a_missing_package_names_its_extra(monkeypatch, absent, package):
    pytest.importorskip(package)
    frame = {"polars": polars_of, "duckdb": duckdb_of}[package](FRAME)
    monkeypatch.setitem(importlib.sys.modules, absent, None)
    with pytest.raises(ModuleNotFoundError) as raised:
        tba.count(frame)
    assert str(raised.value) == (
        f"Counting in {package} needs {absent}: pip install 'pandas-tba[{package}]'."
    )


def test_only_counts_come_back(made, monkeypatch):
    from pandas_tba.engines import queries, reading

    lines = []

    def noted(function, size):
        def spy(*arguments, **options):
            answer = function(*arguments, **options)
            lines.append(size(answer))
            return answer

        return spy

    monkeypatch.setattr(queries, "_collected", noted(queries._collected, len))
    monkeypatch.setattr(
        reading,
        "combinations_of_rows",
        noted(reading.combinations_of_rows, lambda found: max(len(x.codes) for x in found.lines)),
    )
    if made in (ENGINES["polars frame"], ENGINES["polars lazy"]):
        import polars as pl

        monkeypatch.setattr(pl.LazyFrame, "collect", noted(pl.LazyFrame.collect, len))
    many = pd.concat([FRAME.assign(y_true="a", y_pred="a")] * 5, ignore_index=True)
    frame = made(many)
    lines.clear()
    counts = tba.count(frame, sample_weight="w")
    assert counts.rows.tolist() == [5 * N]
    assert lines
    assert max(lines) == 1


def test_dask_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    with cluster, distributed.Client(cluster):
        frame, question = COUNTED["weighted models"]
        assert_same(tba.count(dask_of(frame), **question), tba.count(frame, **question))
        mixed = FRAME.assign(y_true=pd.Series([True, 1] * (N // 2), dtype=object))
        assert error_of(dask_of(mixed), {}) == error_of(mixed, {})


def test_partitions_of_unequal_kinds():
    dask = pytest.importorskip("dask")
    import dask.dataframe as dd

    with dask.config.set({"dataframe.convert-string": False}):
        whole = pd.DataFrame({"y_true": pd.Series([True, 1], dtype=object), "y_pred": [1, 1]})
        frame = dd.from_pandas(whole, npartitions=2, sort=False)
    assert error_of(frame, {}) == error_of(whole, {})
