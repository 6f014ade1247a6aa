"""Counts as tables: saved and loaded they are the same counts."""

import io
import json

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from predictions import FRAME, HOLED, assert_same

import pandas_tba as tba

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
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
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
