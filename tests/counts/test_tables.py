"""Counts as tables: saved and loaded they are the same counts."""

import datetime
import decimal
import fractions
import io
import json
import sqlite3
import uuid
import warnings
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from predictions import FRAME, HOLED, assert_same

import pandas_tba as tba
from pandas_tba.counts.json_values import cell, value_of

from_table = tba.ConfusionCounts.from_table
CATEGORIES = FRAME.assign(
    y_true=pd.Categorical(FRAME["y_true"], ["c", "a", "b", "unused"]),
    y_pred=pd.Categorical(FRAME["y_pred"], ["c", "a", "b", "unused"]),
    segment=pd.Categorical(FRAME["segment"], ["y", "x", "unused"]),
)
CASES = {
    "text": (FRAME, {"by": ["segment", "year"]}),
    "weights": (FRAME, {"by": "segment", "sample_weight": "w"}),
    "models": (FRAME, {"y_pred": ["y_pred", "other"], "by": "segment"}),
    "models in rows": (FRAME, {"model": "name"}),
    "classes without rows": (FRAME, {"labels": ["d", "c", "b", "a"]}),
    "labels to abstain": (FRAME.assign(y_true="a"), {"labels": ["a", "z"], "abstain": ["b", "c"]}),
    "a positive label": (
        FRAME[FRAME["y_true"] != "c"].assign(y_pred="a"),
        {"pos_label": "a", "by": "year"},
    ),
    "booleans": (FRAME.assign(y_true=FRAME["yes"], y_pred=FRAME["p"] > 0.5), {"by": "yes"}),
    "numbers": (FRAME.assign(y_true=FRAME["year"], y_pred=2020), {"labels": range(2019, 2023)}),
    "fractions": (FRAME.assign(y_true=FRAME["year"] / 4, y_pred=505.5), {"by": "share"}),
    "times": (
        FRAME.assign(y_true=pd.to_datetime(FRAME["year"].astype(str)), y_pred=pd.Timestamp(2020, 1, 1)),
        {"by": "segment"},
    ),
    "orders of categories": (CATEGORIES, {"by": "segment"}),
    "rows left out": (HOLED, {"missing": "drop", "by": "segment"}),
    "scores": (FRAME, {"y_true": "yes", "y_score": "p"}),
    "no rows": (FRAME.iloc[:0], {"labels": ["a", "b"], "by": "segment"}),
    "no rows, no labels": (FRAME.iloc[:0], {}),
    "no rows, no labels, groups": (CATEGORIES.iloc[:0], {"by": "segment", "observed": False}),
    "groups without rows": (CATEGORIES, {"by": ["segment", "year"], "observed": False}),
    "weights and groups without rows": (CATEGORIES, {"by": "segment", "observed": False, "sample_weight": "w"}),
    "keys without a name": (FRAME, {"by": [FRAME["segment"].to_numpy(), "year", FRAME["yes"].to_numpy()]}),
    "a key and one without a name": (FRAME, {"by": [FRAME["segment"].rename(3), FRAME["year"].rename(("a", 1))]}),
    "whole numbers beside missing ones": (
        FRAME.assign(id=pd.array([2**53 + 1, None, 3, 4] * 15, dtype="Int64"), flag=pd.array([True, None] * 30, dtype="boolean")),
        {"by": ["id", "flag"]},
    ),
    "numbers beyond 64 bits": (FRAME.assign(big=[2**70, 2**70 + 1, -1] * 20), {"by": "big"}),
    "texts that look like something else": (
        FRAME.assign(y_true=["01", "1", "1.0", "NA", "", "true", "nan", "2024-01-31", " 1", "[]"] * 6, y_pred="[]"),
        {"by": FRAME["y_true"].map({"a": "", "b": "null", "c": "1e5"}).rename("key")},
    ),
    "texts that files dislike": (
        FRAME.assign(y_true=["\n", 'a"b', "a,b", "\x00", "\r\n", "Ж"] * 10, y_pred=pd.Series(["\ud800", "\u2028"] * 30, dtype=object)),
        {"labels": ["\n", 'a"b', "a,b", "\x00", "\r\n", "Ж"], "abstain": ["\ud800", "\u2028"]},
    ),
}  # fmt: skip
NOT_FOR_PARQUET = {
    "a key and one without a name",
    "numbers beyond 64 bits",
    "texts that files dislike",
}
TIMES = pd.date_range("2024-03-30 22:30", periods=4, freq="h")
KINDS = {
    "times": TIMES,
    "times in nanoseconds": TIMES.as_unit("ns") + pd.Timedelta(1, "ns"),
    "times of a zone": TIMES.tz_localize("Europe/Berlin"),
    "times of an offset": TIMES.tz_localize("UTC+01:30"),
    "dates": [datetime.date(2024, 1, day) for day in range(1, 5)],
    "times of a day": [datetime.time(hour, 30, 15, 7) for hour in range(4)],
    "durations": [datetime.timedelta(days=-1, microseconds=number) for number in range(4)],
    "decimals": [decimal.Decimal(text) for text in ("0.1", "1e30", "-2.50", "3")],
    "fractions": [fractions.Fraction(1, number) for number in range(3, 7)],
    "bytes": [b"", b"\x00", b"\xff", b"a"],
    "ids": [uuid.UUID(int=number) for number in range(4)],
    "local times of the sun": pd.date_range("1890-01-01", periods=4, tz="Europe/Berlin"),
    "times on both sides of an hour that comes twice": pd.date_range(
        "2024-10-26 23:30", periods=4, freq="h", tz="UTC"
    ).tz_convert("Europe/Berlin"),
    "times of an offset with a name": [
        datetime.datetime(
            2024, 1, day, tzinfo=datetime.timezone(datetime.timedelta(hours=10), "EST")
        )
        for day in range(1, 5)
    ],
    "offsets in seconds": [
        datetime.datetime(2024, 1, day, tzinfo=datetime.timezone(datetime.timedelta(seconds=3723)))
        for day in range(1, 5)
    ],
    "long durations": [datetime.timedelta(days=days) for days in (100_000, 1, 2, -100_000)],
    "tuples that lack something": [("a", np.nan), ("a", pd.NaT), ("a", pd.NA), ("a", 1.0)],
    "periods": pd.period_range("2024-01", periods=4, freq="Q"),
    "intervals": pd.interval_range(0.0, 1.0, 4, closed="left"),
    "intervals of times": pd.interval_range(TIMES[0], TIMES[-1], 4),
    "tuples": [("a", 1), ("a", 2.5), ("b", None), ()],
    "fractions of ten": [0.1, 0.1 + 0.2, 1e-300, np.pi],
    "infinite numbers": [0.5, np.inf, -np.inf, 1.0],
    "mixed": [1, "a", 2.5, "1"],
    "numpy": [np.int8(1), np.float32(0.1), np.uint64(2**64 - 1), np.int64(2**62)],
}


def of_kind(name):
    """A frame whose labels and keys are of a kind, and the question with declared labels."""
    values = np.empty(4, dtype=object)
    values[:] = [*KINDS[name]]
    codes = np.arange(60) % 4
    frame = pd.DataFrame(
        {"y_true": values[codes], "y_pred": values[codes // 3 % 4], "g": values[codes]}
    )
    frame.loc[frame.index % 7 == 0, "g"] = None
    return frame, {"labels": [*values[::-1]], "by": "g"}


def database(table):
    """The table after a way through a database."""
    with closing(sqlite3.connect(":memory:")) as base:  # its own `with` leaves it open
        table.to_sql("counts", base, index=False)
        return pd.read_sql_query("SELECT * FROM counts", base)


def csv(table, **options):
    return pd.read_csv(io.BytesIO(table.to_csv(index=False).encode()), **options)


def as_text_of(empty):
    """CSV in which another text stands for what is empty, and is not read as missing."""

    def through(table):
        text = table.mask(table == "").to_csv(index=False, na_rep=empty)
        return pd.read_csv(io.StringIO(text), keep_default_na=False)

    return through


WAYS = {
    "csv of a database": as_text_of("\\N"),
    "csv with words": as_text_of("NULL"),
    "a mark of its own": lambda table: table.fillna("-").replace("", "-"),
    "csv": csv,
    "csv, all text": lambda table: csv(table, dtype=str),
    "csv, all text, nothing missing": lambda table: csv(table, dtype=str, keep_default_na=False),
    "csv with an index": lambda table: pd.read_csv(io.StringIO(table.to_csv())),
    "json": lambda table: pd.read_json(io.StringIO(table.to_json(orient="records")), orient="records"),
    "database": database,
    "any order": lambda table: table.sample(frac=1, random_state=3),
    "categories": lambda table: table.astype("category"),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES)
def test_text_keeps_all(case, way):
    frame, question = CASES[case]
    counts = tba.count(frame, **question)
    assert_same(from_table(WAYS[way](counts.to_table(text=True))), counts)


@pytest.mark.filterwarnings("ignore:Key 'g' holds number")  # 1 and '1'
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_text_keeps_the_kinds_of_values(kind, way):
    frame, question = of_kind(kind)
    counts = tba.count(frame, **question)
    kept = from_table(WAYS[way](counts.to_table(text=True)))
    assert_same(kept, counts)
    assert [(type(label), str(label)) for label in kept.labels] == [
        (type(label), str(label)) for label in counts.labels
    ]
    assert_same(kept + counts, counts + counts)


def test_periods_of_several_lengths():
    periods = pd.Series(
        [pd.Period("2024-01-01", freq) for freq in ("D", "2D", "M", "Y")], dtype=object
    )
    frame = pd.DataFrame({"y_true": periods, "y_pred": periods[::-1].reset_index(drop=True)})
    counts = tba.count(frame, by=periods.rename("period"))
    assert len(counts.labels) == len(counts) == 4
    for text in (False, True):
        assert_same(from_table(counts.to_table(text=text)), counts)


@pytest.mark.filterwarnings("ignore:Key 'g' holds number")  # 1 and '1'
@pytest.mark.parametrize("kind", KINDS)
def test_attrs_keep_the_kinds_of_declared_labels(kind):
    frame, question = of_kind(kind)
    counts = tba.count(frame.iloc[:5], **question)
    table = counts.to_table()
    table.attrs = json.loads(json.dumps(table.attrs))
    assert_same(from_table(table), counts)


@pytest.mark.parametrize("case", [case for case in CASES if case not in NOT_FOR_PARQUET])
def test_parquet_keeps_all(tmp_path, case):
    pytest.importorskip("pyarrow")
    frame, question = CASES[case]
    counts = tba.count(frame, **question)
    table = counts.to_table()
    assert_same(from_table(table), counts)
    json.dumps(table.attrs)
    table.to_parquet(tmp_path / "counts.parquet")
    assert_same(from_table(pd.read_parquet(tmp_path / "counts.parquet")), counts)


TOLD = {
    "text": {},
    "weights": {},
    "models in rows": {"model": "model"},
    "classes without rows": {"labels": ["d", "c", "b", "a"]},
    "a positive label": {"pos_label": "a"},
    "booleans": {},
    "numbers": {"labels": range(2019, 2023)},
    "fractions": {},
}


@pytest.mark.parametrize("case", TOLD)
def test_csv_keeps_what_it_is_told_again(case):
    frame, question = CASES[case]
    counts = tba.count(frame, **question)
    text = counts.to_table().to_csv(index=False)
    assert_same(from_table(pd.read_csv(io.StringIO(text)), **TOLD[case]), counts)


def test_csv_needs_the_dtype_of_labels_that_look_like_numbers():
    frame = pd.DataFrame({"y_true": ["01", "2"], "y_pred": ["01", "01"]})
    counts = tba.count(frame)
    text = counts.to_table().to_csv(index=False)
    assert from_table(pd.read_csv(io.StringIO(text))).labels.tolist() == [1, 2]
    dtype = {"y_true": str, "y_pred": str}
    assert_same(from_table(pd.read_csv(io.StringIO(text), dtype=dtype)), counts)


def test_todays_counts_are_added_to_yesterdays(tmp_path):
    pytest.importorskip("pyarrow")
    days = [FRAME.iloc[:25], FRAME.iloc[25:]]
    question = {"by": "segment", "labels": [*"abc"], "sample_weight": "w"}
    tba.count(days[0], **question).to_table().to_parquet(tmp_path / "counts.parquet")
    yesterday = from_table(pd.read_parquet(tmp_path / "counts.parquet"))
    assert_same(yesterday + tba.count(days[1], **question), tba.count(FRAME, **question))


def test_what_is_given_wins_over_what_is_remembered():
    table = tba.count(FRAME, labels=[*"abcd"]).to_table()
    assert from_table(table, labels=[*"cba"]).labels.tolist() == [*"cba"]
    models = tba.count(FRAME, model="name").to_table()
    assert from_table(models, model="model").model == "model"


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Index, iter])
def test_labels_are_given_in_any_form(form):
    table = tba.count(FRAME).to_table()
    assert from_table(table, labels=form([*"abcd"])).labels.tolist() == [*"abcd"]


def test_orders_of_keys_with_any_name():
    for name in (3, ("a", 1)):
        key = CATEGORIES["segment"].rename(name)
        counts = tba.count(CATEGORIES, by=key, observed=False)
        for text in (False, True):
            assert_same(from_table(counts.to_table(text=text)), counts)


def test_a_changed_table_is_not_cut_to_the_order_it_had():
    table = tba.count(CATEGORIES, by="segment").to_table().replace({"segment": {"x": "z"}})
    counts = from_table(table)
    assert [group for group in counts.groups if isinstance(group, str)] == ["y", "z"]
    assert counts.rows.sum() == len(FRAME)


@pytest.mark.parametrize("attrs", [{"tba": "mine"}, {"tba": {"counts": "mine"}}, {"other": 1}])
def test_other_attrs_say_nothing(attrs):
    table = tba.count(FRAME).to_table()
    before = table.copy()
    table.attrs = attrs
    assert_same(from_table(table), tba.count(FRAME))
    assert_frame_equal(table, before)
    assert table.attrs == attrs


DROPPED = pd.DataFrame(
    {
        "y_true": [*"abca"],
        "y_pred": [*"abda"],
        "g": ["x", "x", None, "y"],
        "h": ["u", "v", "v", None],
    }
)


@pytest.mark.parametrize(
    "question", [{"by": "g"}, {"by": ["g", "h"]}, {"model": "g", "by": "h"}], ids=str
)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_labels_of_dropped_rows_are_labels(question):
    counts = tba.count(DROPPED, dropna=True, **question)
    assert counts.labels[counts.is_class].tolist() == [*"abc"]
    for text in (False, True):
        assert_same(from_table(counts.to_table(text=text)), counts)
    parts = [tba.count(DROPPED.iloc[at : at + 2], dropna=True, **question) for at in (0, 2)]
    assert_same(sum(parts), counts)
    assert_same(sum(from_table(part.to_table(text=True)) for part in parts), counts)


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_labels_of_dropped_rows_are_labels_of_pairs():
    frame = DROPPED.assign(other="a")
    question = {"y_pred": ["y_pred", "other"], "by": "g", "dropna": True}
    parts = [tba.count_pairs(frame.iloc[at : at + 2], **question) for at in (0, 2)]
    whole = tba.count_pairs(frame, **question)
    assert (parts[0] + parts[1]).label_set.classes == whole.label_set.classes == [*"abc"]


NAMES = ["", 'q"q', "A", "a", "\ufeffk", "a\x00b", "index", "Unnamed: 0", "tba", "N", "Y_TRUE",
         "\ud800", " x ", "Ж", "group_3", None, 3, ("a", 1), pd.NaT, "day of week"]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_text_keeps_names_that_readers_change(way):
    for names in (NAMES[:6], NAMES[6:12], NAMES[12:]):
        keys = [pd.Series(FRAME["year"] + at, name=name) for at, name in enumerate(names)]
        counts = tba.count(FRAME, by=keys)
        table = counts.to_table(text=True)
        assert all(title.isascii() and title.strip() == title != "" for title in table.columns)
        assert len({title.casefold() for title in table.columns}) == table.shape[1]
        assert_same(from_table(WAYS[way](table)), counts)


def test_parquet_keeps_names_that_are_no_text(tmp_path):
    pytest.importorskip("pyarrow")
    counts = tba.count(CATEGORIES, by=[CATEGORIES["segment"].rename(3), "year"])
    table = counts.to_table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # pandas says that it makes text of them
        table.to_parquet(tmp_path / "counts.parquet")
    assert_same(from_table(pd.read_parquet(tmp_path / "counts.parquet")), counts)


def test_attrs_say_what_they_cannot_hold():
    frame = pd.DataFrame({"y_true": [1j, 2j], "y_pred": [1j, 2j]})
    with pytest.warns(tba.InputWarning) as raised:
        tba.count(frame, labels=[1j, 2j, 3j]).to_table()
    assert [str(warning.message) for warning in raised] == [
        (
            "The attrs of the table cannot say its 'labels'; tell from_table again. 1j: values of type "
            "complex cannot be written as text. Name labels and groups by text, numbers or dates."
        )
    ]
    assert raised[0].filename == __file__


def in_text(**question):
    return tba.count(FRAME, **question).to_table(text=True)


def changed(at, column, value):
    table = in_text(by="segment")
    table.loc[at, column] = value
    return table


def of_format(number, version="9.1"):
    table = tba.count(FRAME).to_table()
    table.attrs["tba"]["counts"] |= {"format": number, "version": version}
    return table


def said(**parts):
    """A table of text whose line of metadata says something else."""
    table = in_text(by="segment")
    return changed(0, "tba", json.dumps(json.loads(table["tba"].iloc[0]) | parts))


def metadata(**parts):
    """A table whose attrs say something else."""
    table = tba.count(FRAME, by="segment").to_table()
    table.attrs["tba"]["counts"] |= parts
    return table


GONE = "The labels stand in brackets, such as '[\"a\"]', as to_table(text=True) writes them, but its first line, in column 'tba', is gone. Read the table with it, whole; or give labels=[...] if brackets are part of the labels."
WRONG = "The remarks of the table, which to_table writes, cannot be read: "
BAD_REMARKS = {
    "labels are one text": {"labels": ["ab"]},
    "labels are a number": {"labels": 5},
    "labels are numbers": {"labels": [5]},
    "two lists of labels": {"labels": [["a"], ["b"]]},
    "no format": {"format": "1"},
    "pos_label is a list": {"pos_label": []},
    "pos_label is nothing": {"pos_label": [[]]},
    "the model is a list": {"model": [[["a"]]]},
    "an order of nothing": {"orders": [[]]},
    "an order of a list": {"orders": [[["a"], "b"]]},
    "an order with a value twice": {"orders": [["segment", "x", "y", "x"]]},
    "an order of what is missing": {"orders": [["segment", "x", None]]},
    "a name of three parts": {"names": [["segment", "a", "b"]]},
    "a name that is a list": {"names": [["segment", ["a"]]]},
    "missing ones without a number": {"missing": [["y_true"]]},
    "missing ones of a text": {"missing": [["y_true", "many"]]},
    "n_missing is text": {"n_missing": [["x"]]},
    "n_missing is negative": {"n_missing": [[-5]]},
    "n_missing is a fraction": {"n_missing": [[1.5]]},
    "columns are a number": {"columns": 5},
    "columns are lists": {"columns": [[["segment"]]]},
    "seen is one list": {"seen": [["a"]]},
    "one label of scores": {"scored": [["a"]]},
}


@pytest.mark.parametrize("table", [said, metadata])
@pytest.mark.parametrize(
    "case", [case for case in BAD_REMARKS if not case.startswith("pos_label is a")]
)
def test_metadata_that_nobody_wrote(case, table):
    with pytest.raises(tba.InputError) as raised:
        from_table(table(**BAD_REMARKS[case]))
    assert str(raised.value).startswith(WRONG)


@pytest.mark.parametrize("table", [said, metadata])
def test_metadata_of_later_versions_are_left_alone(table):
    assert_same(from_table(table(weird=[1], other={"a": 1})), tba.count(FRAME, by="segment"))


BAD_CELLS = [
    '[{"fraction": "1e999999999"}]',
    '[{"decimal": "sNaN"}]',"0", "null", "false", '""', "{}", '"x"', '{"date": "2024-01-01"}', "[1, 2]", "[",
             '[{"timedelta": 5}]', '[{"tuple": "ab"}]', '[{"period": []}]', '[{"interval": [1]}]',
             '[{"uuid": 5}]', '[{"decimal": "x"}]', '[{"date": []}]', "[[1]]", "[" * 100_000, ["a"], {}, 7, None]  # fmt: skip


@pytest.mark.parametrize("text", BAD_CELLS, ids=lambda text: repr(text)[:20])
def test_cells_that_nobody_wrote(text):
    table = in_text(by="segment").astype(object)
    table.at[2, "segment"] = text
    with pytest.raises(tba.InputError, match=r"to_table\(text=True\) writes|spells no value"):
        from_table(table)


def plain(**columns):
    return pd.DataFrame({"y_true": ["a", "b"], "y_pred": ["a", "a"], "n": [1, 2]} | columns)


BAD_TABLES = {
    "a Series": (
        lambda: plain()["n"],
        f"`table` must be a pandas DataFrame; got {pd.Series.__module__}.Series. Name the rows, and its index becomes columns: table.reset_index(name='n').",
    ),
    "no table": (
        lambda: [1, 2],
        "`table` must be a pandas DataFrame; got builtins.list. Make it one: frame.to_pandas(), relation.df(), or pd.read_parquet(path).",
    ),
    "a column twice": (
        lambda: pd.concat([plain(), plain()[["n"]]], axis=1),
        "`table` has several columns named 'n'; rename them.",
    ),
    "more rows than 64 bits": (
        lambda: plain(n=[2**62, 2**62]),
        "9.22e+18 rows in all are more than counts can hold: 2**63.",
    ),
    "weights that are infinite together": (
        lambda: plain(weight=[1e308, 1e308], weight_squared=[1.0, 1.0]),
        "'weight' must hold sums of weights, not negative, and finite together; got 1e+308, 1e+308.",
    ),
    "weights beyond floats": (
        lambda: plain(weight=pd.Series([10**400, 1], dtype=object), weight_squared=[1.0, 1.0]),
        "'weight' must hold sums of weights; got object.",
    ),
    "rows as text": (
        lambda: plain(n=["3", "-1"]),
        "`n` must hold whole numbers of rows, not negative, finite and below 2**63; got '3', '-1'.",
    ),
    "rows that are missing": (
        lambda: plain(n=[1, np.nan]),
        "`n` must hold whole numbers of rows, not negative, finite and below 2**63; got nan.",
    ),
    "booleans beside numbers": (
        lambda: plain(y_true=pd.Series([True, 1], dtype=object)),
        "Column 'y_true' holds both booleans and numbers, such as True and 1, which would be one label. Convert it, for example with astype(int).",
    ),
    "a sum of weights alone": (
        lambda: plain(weight=[1.5, 2.5]),
        "The table has a column 'weight' and none 'weight_squared'. Weights need both: in SQL sum(w) AS weight, sum(w * w) AS weight_squared. If it is a key, name the keys: by=[...].",
    ),
    "squares that are too small": (
        lambda: plain(weight=[1.5, 2.5], weight_squared=[2.25, 0.0]),
        "The sums of squared weights are too small for the sums of weights: no 2 rows have weights of 2.5 together, and squares of 0. In SQL they are sum(w * w).",
    ),
    "models that are gone": (
        lambda: tba.count(FRAME, model="name").to_table().drop(columns="model"),
        "no column 'model' in the table, which holds the models, and models are not added up. Columns: 'y_true', 'y_pred', 'n'.",
    ),
    "text without a line of no rows": (
        lambda: tba.count(CATEGORIES, by="segment", observed=False).to_table(text=True).iloc[:-1],
        "The table holds 60 rows in 25 lines, but was written with 60 in 26: lines are gone, added or changed. Read it whole.",
    ),
    "one weight of two": (
        lambda: tba.count(FRAME, sample_weight="w").to_table().drop(columns="weight_squared"),
        "no column 'weight_squared' in the table, which was written with weights. Keep weight and weight_squared, or name them.",
    ),
    "text without a key": (
        lambda: in_text(by="segment").drop(columns="segment"),
        "no column 'segment' in the table, which to_table(text=True) wrote with columns 'segment', 'y_true', 'y_pred', 'n'. Read it whole; rollup() sums over keys.",
    ),
    "text with another key": (
        lambda: in_text(by="segment").assign(day="[1]"),
        "Column 'day' is none of those that to_table(text=True) wrote: 'segment', 'y_true', 'y_pred', 'n'. Leave it out.",
    ),
    "text with a key as the index": (
        lambda: in_text(by="segment").set_index("segment"),
        "no column 'segment' in the table, which to_table(text=True) wrote with columns 'segment', 'y_true', 'y_pred', 'n'. Read it whole; rollup() sums over keys.",
    ),
    "text without a line": (
        lambda: in_text().drop(index=3),
        "The table holds 56 rows in 8 lines, but was written with 60 in 9: lines are gone, added or changed. Read it whole.",
    ),
    "text with the first lines": (
        lambda: csv(in_text(), nrows=3),
        "The table holds 12 rows in 2 lines, but was written with 60 in 9: lines are gone, added or changed. Read it whole.",
    ),
    "lines of another table": (
        lambda: pd.concat([in_text(), in_text().iloc[1:]]),
        "The table holds 120 rows in 18 lines, but was written with 60 in 9: lines are gone, added or changed. Read it whole.",
    ),
    "text without remarks, as nullable text": (
        lambda: csv(in_text().assign(tba="-"), dtype_backend="numpy_nullable"),
        GONE,
    ),
    "text with other remarks": (lambda: csv(changed(0, "tba", "garbage")), GONE),
    "two tables": (
        lambda: pd.concat([in_text(), in_text()]),
        "The table holds 2 tables of counts. Keep each in a file of its own, and add the counts: sum(map(ConfusionCounts.from_table, tables)).",
    ),
    "without the first line": (lambda: in_text().iloc[1:], GONE),
    "half a first line": (
        lambda: changed(0, "tba", '{"format": 1, "vers'),
        "Column 'tba' holds '{\"format\": 1, \"vers', which is not whole: it is JSON as to_table(text=True) writes it.",
    ),
    "no brackets": (
        lambda: changed(2, "y_true", "a"),
        "Column 'y_true': 'a' is not what to_table(text=True) writes: a value in brackets. Is the file whole?",
    ),
    "two values": (
        lambda: changed(2, "y_true", "[1, 2]"),
        "Column 'y_true': '[1, 2]' is not what to_table(text=True) writes: a value in brackets. Is the file whole?",
    ),
    "an unknown kind": (
        lambda: changed(2, "y_true", '[{"colour": "red"}]'),
        "Column 'y_true': {'colour': 'red'} spells no value. Is the file whole?",
    ),
    "no date": (
        lambda: changed(2, "segment", '[{"date": "2024-13-01"}]'),
        "Column 'segment': {'date': '2024-13-01'} spells no value. Is the file whole?",
    ),
    "no number": (
        lambda: changed(2, "n", "many"),
        "`n` must hold whole numbers of rows, not negative, finite and below 2**63; got 'many'.",
    ),
    "a newer format": (
        lambda: of_format(2),
        "The table was written by pandas-tba 9.1 in a newer format (2; this version reads 1). Upgrade: pip install -U pandas-tba",
    ),
    "a version that a terminal would obey": (
        lambda: of_format(2, "\x1b[31m"),
        "The table was written by pandas-tba \\x1b[31m in a newer format (2; this version reads 1). Upgrade: pip install -U pandas-tba",
    ),
    "two tables that keep what both say": (
        lambda: pd.concat([tba.count(HOLED, missing="drop").to_table()] * 2),
        "The table holds 92 rows, and its attrs say 46: tables were put together, and how many rows were left out of all is lost. Read each by itself, and add the counts.",
    ),
    "an index of pandas": (
        lambda: csv(tba.count(FRAME).to_table().reset_index().rename(columns={"index": "Unnamed: 0"})),
        "The table has a column 'Unnamed: 0', which pandas makes of an index in a CSV file, and which would be a key. Write the table with index=False, or name the keys with by=[...].",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_TABLES)
def test_what_no_table_may_be(case):
    made, expected = BAD_TABLES[case]
    table = made()
    before = table.copy()
    with pytest.raises((tba.InputError, tba.ColumnError, tba.KindError)) as raised:
        from_table(table)
    assert str(raised.value) == expected
    if isinstance(table, pd.DataFrame):
        assert_frame_equal(table, before)


BAD_QUESTIONS = {
    "no flag": (
        lambda: tba.count(FRAME).to_table(text="csv"),
        "`text` must be True or False; got 'csv'.",
    ),
    "a name that a key without one gets": (
        lambda: tba.count(FRAME, by=[FRAME["year"].to_numpy(), FRAME["yes"].rename("group_0")]).to_table(),
        "`by` has a key named 'group_0', which is also a column of the table; rename it.",
    ),
    "what text cannot say": (
        lambda: tba.count(FRAME, by=FRAME["yes"].map({True: 1j, False: 2j}).rename("z")).to_table(text=True),
        "1j: values of type complex cannot be written as text. Name labels and groups by text, numbers or dates.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_QUESTIONS)
def test_what_no_table_can_be_made_of(case):
    ask, expected = BAD_QUESTIONS[case]
    with pytest.raises(tba.InputError) as raised:
        ask()
    assert str(raised.value) == expected


def counts_in(tmp_path, way):
    """A table of counts where predictions are expected."""
    table = tba.count(FRAME).to_table(text=way == "text")
    if way in ("attrs", "text"):
        return lambda: tba.count(table)
    table.to_parquet(tmp_path / "counts.parquet")
    if way == "parquet":
        return lambda: tba.count_parquet(tmp_path / "counts.parquet")
    pq = pytest.importorskip("pyarrow.parquet")
    return lambda: tba.count(pq.read_table(tmp_path / "counts.parquet"))


@pytest.mark.parametrize("way", ["attrs", "text", "parquet", "arrow"])
def test_counts_are_no_predictions(tmp_path, way):
    ask = counts_in(tmp_path, way)
    with pytest.raises(tba.InputError) as raised:
        ask()
    assert str(raised.value) == (
        "The frame is a table of counts, as to_table() writes it. ConfusionCounts.from_table(frame) "
        "reads it, and its functions are asked for the rest: tba.score(counts, t=0.5)."
    )


def test_labels_that_are_only_predicted_are_named_once():
    table = plain(y_pred=["a", "c"])
    with pytest.warns(tba.InputWarning, match="^Predicted, but never in y_true: 'c'") as raised:
        from_table(table)
    assert [warning.filename for warning in raised] == [__file__]
    with pytest.warns(tba.InputWarning):
        counts = tba.count(table.drop(columns="n"))
    assert_same(from_table(counts.to_table()), counts)  # who counted was warned


def test_keys_of_different_kinds_never_meet():
    days = pd.to_datetime(["2024-01-01", "2024-01-02"])
    frame = pd.DataFrame({"y_true": ["a", "b"], "y_pred": ["a", "a"], "day": days})
    counts, others = (
        tba.count(part, by="day") for part in (frame, frame.assign(day=days.astype(str)))
    )
    with pytest.warns(tba.InputWarning) as raised:
        both = counts + others
    assert len(both) == 4
    assert [str(warning.message) for warning in raised] == [
        (
            "Key 'day' holds datetime (Timestamp('2024-01-01 00:00:00'), Timestamp('2024-01-02 00:00:00')) "
            "and text ('2024-01-01', '2024-01-02'), which are never the same group. Bring them to one type before they are counted."
        )
    ]


def test_models_are_added_to_models_alone():
    counts = tba.count(FRAME, model="name")
    table = counts.to_table()
    table.attrs = {}
    with pytest.raises(tba.InputError) as raised:
        counts + from_table(table)
    assert str(raised.value) == (
        "Counts can be added only when both have models or none; 'model' holds models in one of them, "
        "and is an ordinary key in the other. Tell from_table(..., model='model')."
    )


@pytest.mark.parametrize("digits", [2, 4, 6])
def test_sums_of_weights_may_be_rounded(digits):
    for weight in (0.336, 2 / 3, 0.37):
        sums = {
            "weight": np.round([weight, 2 * weight], digits),
            "weight_squared": np.round([weight**2, 2 * weight**2], digits),
        }
        assert from_table(plain(**sums)).weight.sum() == pytest.approx(3 * weight, abs=0.02)


def test_keys_named_like_columns_of_ours():
    assert from_table(plain(weight=["hi", "lo"])).groups.tolist() == ["hi", "lo"]
    assert from_table(plain(weight=[1, 2]), by="weight").groups.tolist() == [1, 2]
    for empty in (None, "", np.nan):
        assert len(from_table(plain(tba=[empty, empty]), by="tba")) == 1
    columns = pd.MultiIndex.from_tuples([("t", ""), ("p", ""), ("n", ""), ("tba", "z")])
    table = pd.DataFrame([["a", "a", 1, "k"]], columns=columns)
    names = {"y_true": ("t", ""), "y_pred": ("p", ""), "n": ("n", "")}
    assert from_table(table, **names).groups.tolist() == ["k"]
    frame = pd.DataFrame([[0, 0, 1, 2]], columns=["y_true", "y_pred", "tba", "tba"])
    assert tba.count(frame).rows.tolist() == [1]


def test_labels_that_were_renamed_since():
    counts = tba.count(
        DROPPED.assign(y_true=[0, 1, 2, 0], y_pred=[0, 1, 1, 1]), by="g", dropna=True
    )
    table = counts.to_table()
    names = {0: "no", 1: "yes", 2: "perhaps"}
    renamed = table.assign(y_true=table["y_true"].map(names), y_pred=table["y_pred"].map(names))
    assert from_table(renamed).labels.tolist() == ["no", "yes"]


def test_rows_made_of_counts_are_rows_again():
    table = tba.count(FRAME).to_table()
    rows = table.loc[table.index.repeat(table["n"]), ["y_true", "y_pred"]]
    assert_same(tba.count(rows), tba.count(FRAME))


def test_labels_that_cannot_be_hashed_are_none():
    table = plain(y_true=[[1], [0]])
    with pytest.raises(tba.KindError, match="holds a list"):
        from_table(table)


def test_an_ordinary_key_may_be_named_tba():
    counts = tba.count(FRAME.rename(columns={"name": "tba"}), by="tba")
    assert_same(from_table(counts.to_table()), counts)


def test_a_plain_table_may_have_keys_of_any_name():
    for name in ("tba", "Unnamed: 0"):
        counts = tba.count(FRAME.rename(columns={"year": name}), by=name)
        assert_same(from_table(counts.to_table()), counts)


def test_metadata_may_be_laid_out_anew():
    counts = tba.count(FRAME, by="segment", labels=[*"abcd"])
    table = counts.to_table(text=True)
    for layout in ({"indent": 1}, {"sort_keys": True}):
        text = "\ufeff " + json.dumps(json.loads(table["tba"].iloc[0]), **layout)
        assert_same(from_table(table.assign(tba=[text, *table["tba"].iloc[1:]])), counts)


def test_brackets_may_be_part_of_labels():
    table = plain(y_true=["[1]", "[2]"], y_pred=["[1]", "[1]"])
    assert from_table(table, labels=["[1]", "[2]"]).labels.tolist() == ["[1]", "[2]"]
    counts = tba.count(table.drop(columns="n"))
    for text in (False, True):
        assert_same(from_table(counts.to_table(text=text)), counts)


def test_lines_without_rows_need_no_label_and_no_weight():
    table = plain(
        y_true=["a", None], n=[3, 0], weight=[1.5, np.nan], weight_squared=[1.0, None], g=["x", "y"]
    )
    assert from_table(table).rows.tolist() == [3, 0]


def test_text_and_attrs_say_the_version():
    counts = tba.count(FRAME)
    assert counts.to_table().attrs["tba"]["counts"]["version"] == tba.__version__
    assert json.loads(counts.to_table(text=True)["tba"].iloc[0])["version"] == tba.__version__


def test_text_is_readable():
    frame = FRAME.assign(y_true="да", y_pred="нет")
    table = tba.count(frame, labels=["да", "нет"], by="yes").to_table(text=True)
    assert table.drop(columns="tba").iloc[1:].to_numpy().tolist() == [
        ["[false]", '["да"]', '["нет"]', str((~FRAME["yes"]).sum())],
        ["[true]", '["да"]', '["нет"]', str(FRAME["yes"].sum())],
    ]


def test_what_is_given_wins_in_text_too():
    table = in_text(labels=[*"abcd"])
    assert from_table(table, labels=[*"cba"]).labels.tolist() == [*"cba"]
    assert from_table(in_text(by=["segment", "year"]), by="year").groups.tolist() == [
        2020,
        2021,
        2022,
    ]


TEXTS = st.text(st.characters(codec=None), max_size=4)
VALUES = st.one_of(
    TEXTS,
    st.integers(),
    st.floats(allow_nan=False),
    st.datetimes(timezones=st.none() | st.just(datetime.UTC)),
    st.dates(),
    st.decimals(allow_nan=False),
    st.binary(max_size=3),
)


@settings(deadline=None)
@given(st.recursive(VALUES, lambda inner: st.tuples(inner, inner), max_leaves=4))
def test_every_value_is_read_as_it_was_written(value):
    text = cell(value)
    text.encode()
    assert "\n" not in text
    assert value_of(csv(pd.DataFrame({"x": [text]}))["x"].iloc[0]) == value


def test_a_missing_value_has_a_cell():
    assert cell(None, is_missing=True) == "[]"
    assert pd.isna(value_of("[]"))


def test_labels_in_brackets_are_labels_where_no_marker_stands():
    table = plain(y_true=["[1]", '["a"]'], y_pred=["[1]", "[1]"])
    found = from_table(table)
    assert found.labels.tolist() == ['["a"]', "[1]"]
    assert found.cells.tolist() == [[[0, 2], [0, 1]]]


def test_every_combination_of_many_categories_is_refused_before_it_is_made():
    categories = pd.CategoricalDtype([*range(100)])
    keys = {name: pd.Series([0, 1], dtype=categories) for name in "abcde"}
    with pytest.raises(tba.InputError, match=r"10,000,000,000 groups, more than"):
        plain(**keys).tba.score(by=[*"abcde"], observed=False)
