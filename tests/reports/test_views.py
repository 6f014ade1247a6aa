"""Tables as people read them."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pandas_tba.reports.views import (
    DASH,
    as_lines,
    as_markdown,
    by_t,
    markdown_text,
    number_text,
    one_line,
    transpose,
    view_of,
)


@pytest.mark.parametrize(
    ("value", "name", "text"),
    [
        (0.12345, "", "0.123"),
        (-0.0004, "", "0.000"),
        (-0.25, "", "-0.250"),
        (math.nan, "", DASH),
        (math.inf, "", "∞"),
        (-math.inf, "", "-∞"),
        (12345.6, "", "12,346"),
        (0.00004, "p_value", "<0.001"),
        (0.00004, "score", "0.000"),
    ],
)
def test_numbers_are_short(value, name, text):
    assert number_text(value, name) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        (("x", 3), "x · 3"),
        (None, "(missing)"),
        (math.nan, "(missing)"),
        (pd.NaT, "(missing)"),
        ("two\nlines\x1b[31m", r"two\nlines\x1b[31m"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\ud800", r"\ud800"),
        ("שלום", "שלום"),
    ],
)
def test_names_are_one_line(value, text):
    assert one_line(value) == text


@given(st.text())
def test_any_name_can_be_printed_and_encoded(text):
    assert one_line(text).isprintable()
    assert one_line(text).encode().decode() == one_line(text)


TABLE = pd.DataFrame(
    {
        "n": [1234, 5],
        "score": [0.5, math.nan],
        "low": [0.25, 0.1],
        "high": [0.75, 1.0],
        "reason": ["", "no rows of 'x|y'"],
    },
    index=pd.Index(["a", "b_c"], name="my_key"),
)


def test_text_has_keys_to_the_left_and_numbers_to_the_right():
    assert as_lines(view_of(TABLE, ["n", "score", "reason"])) == [
        "my_key   rows                 score  reason",
        "a       1,234  0.500 [0.250, 0.750]",
        f"b_c         5      {DASH} [0.100, 1.000]  no rows of 'x|y'",
    ]


def test_markdown_escapes_what_it_would_read():
    assert as_markdown(view_of(TABLE, ["n", "reason"])) == [
        r"| my\_key | rows | reason |",
        "| --- | ---: | --- |",
        "| a | 1,234 |  |",
        r"| b\_c | 5 | no rows of 'x\|y' |",
    ]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
        ("http://x.org www.x.org", r"http\://x.org www\.x.org"),
        ("*a* _b_ `c` ~~d~~ [e](f) $g$ #1 @h", r"\*a\* \_b\_ \`c\` \~\~d\~\~ \[e\](f) \$g\$ \#1 \@h"),
        ("a\\|b :+1: 0.5", r"a\\\|b :+1: 0.5"),
        ("12:30 p: 0.5", r"12\:30 p: 0.5"),
    ],
)  # fmt: skip
def test_markdown_text(text, escaped):
    assert markdown_text(text) == escaped


def test_columns_that_say_nothing_are_left_out():
    table = pd.DataFrame({"n": [1, 2], "reason": ["", ""], "dominates": [None, None]})
    assert view_of(table).headers == ("rows",)
    assert view_of(table.assign(dominates=[None, ("x", "y")])).headers == ("rows", "dominates")


def test_only_some_rows_are_shown():
    view = view_of(pd.DataFrame({"n": range(10)}), most=3)
    assert (len(view.rows), view.n_more) == (3, 7)


def test_long_texts_are_cut_in_text_and_whole_in_markdown():
    view = view_of(pd.DataFrame({"n": [1]}, index=pd.Index(["x" * 300], name="key")))
    assert max(map(len, as_lines(view))) < 60
    assert "x" * 300 in as_markdown(view)[2]


def test_a_table_over_t_has_a_column_for_each():
    index = pd.MultiIndex.from_product([["a", "b"], [0.5, 0.0]], names=["key", "t"])
    table = pd.DataFrame({"n": [1, 1, 2, 2], "score": [0.1, 0.2, 0.3, 0.4]}, index=index)
    view = by_t(table, [0.5, 0.0], first=["n"])
    assert view.headers == ("key", "rows", "t = 0.5", "t = 0")
    assert [[cell.text for cell in row] for row in view.rows] == [
        ["a", "1", "0.100", "0.200"],
        ["b", "2", "0.300", "0.400"],
    ]


def test_few_rows_and_many_columns_are_transposed():
    table = pd.DataFrame(
        {"n": [1, 2], "mcc": [0.5, np.nan]}, index=pd.Index(["a", "b"], name="model")
    )
    view = transpose(view_of(table))
    assert view.headers == ("metric", "a", "b")
    assert [[cell.text for cell in row] for row in view.rows] == [
        ["rows", "1", "2"],
        ["mcc", "0.500", DASH],
    ]
