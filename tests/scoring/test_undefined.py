"""Why a value is undefined: the table of all such values, and the warning, which tells the same."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pandas_tba as tba
from pandas_tba.questions.scores import undefined

MATRIX = [[63, 27], [2, 8]]
OF_CLASS = [metric.name for metric in tba.METRICS if metric.kind == "class"]
OVERALL = [metric.name for metric in tba.METRICS if metric.kind == "overall"]
matrix_of = tba.ConfusionCounts.from_matrix
four_cells = st.lists(st.integers(0, 2), min_size=4, max_size=4)

GROUPS = pd.Index([*"abcd"], name="g")
CELLS = [[[3, 1], [0, 0]], [[3, 1], [2, 2]], [[0, 0], [0, 0]], [[4, 0], [0, 0]]]
REASONS = {
    "recall": [("a", 1, "no rows of 1"), ("d", 1, "no rows of 1")],
    "precision": [("d", 1, "never predicted 1")],
    "fpr": [("a", 0, "all rows are of 0"), ("d", 0, "all rows are of 0")],
    "npv": [("d", 0, "all rows are predicted 0")],
    "f1": [("d", 1, "no rows of 1, never predicted 1")],
    "f1_macro": [("d", 1, "no rows of 1, never predicted 1")],
    "balanced_accuracy": [("a", 1, "no rows of 1"), ("d", 1, "no rows of 1")],
    "cohen_kappa": [("d", 0, "all rows are of 0, all rows are predicted 0")],
    "mcc": [("a", 0, "all rows are of 0"), ("d", 0, "all rows are of 0, all rows are predicted 0")],
    "lr_plus": [
        ("a", 0, "all rows are of 0"),
        ("a", 1, "no rows of 1"),
        ("d", 0, "all rows are of 0"),
        ("d", 1, "no rows of 1, never predicted 1"),
    ],
    "precision_weighted": [],
    "accuracy": [],
    "tba": [],
}


@pytest.mark.parametrize(("name", "expected"), REASONS.items(), ids=REASONS)
def test_undefined_names_group_class_and_reason(name, expected):
    found = undefined(matrix_of(CELLS, groups=GROUPS), metrics=name)
    assert (found["metric"] == name).all()
    by_class = [0, 1] if name in OF_CLASS else [None]
    rows = [
        (g, k, why) for g, k, why in zip(found.index, found["class"], found["reason"], strict=True)
    ]
    empty = [("c", k, "no rows") for k in by_class]
    assert rows == [
        *(row for row in expected if row[0] < "c"),
        *empty,
        *(row for row in expected if row[0] > "c"),
    ]


def test_undefined_over_t_and_models():
    groups = pd.MultiIndex.from_tuples([("m", "x"), ("n", "x")], names=["model", "g"])
    counts = matrix_of([[[3, 1], [0, 0]], [[3, 1], [2, 2]]], groups=groups)
    found = undefined(counts, metrics=["fnr", "tba"], t=[0, 1])
    expected = pd.DataFrame(
        {
            "metric": ["fnr", "tba", "fnr"],
            "class": pd.Series([1, 1, 1], dtype=object),
            "reason": ["no rows of 1"] * 3,
        }
    )
    assert found.reset_index()[["metric", "class", "reason"]].equals(expected)
    keys = [("m", "x", 0.0), ("m", "x", 0.0), ("m", "x", 1.0)]
    assert found.index.tolist() == keys
    assert found.index.names == ["model", "g", "t"]
    assert undefined(matrix_of([[3, 1], [0, 0]]), metrics="tba", t=[0, 1]).index.tolist() == [0.0]


@pytest.mark.parametrize("matrix", [MATRIX, [[3, 1], [0, 0]]], ids=["nothing", "something"])
def test_undefined_has_the_same_columns_whatever_is_found(matrix):
    found = undefined(matrix_of(matrix))
    assert found.dtypes.to_dict() == {
        "metric": pd.Series(["text"]).dtype,
        "class": np.dtype(object),
        "reason": pd.Series(["text"]).dtype,
    }
    assert found.empty == (matrix == MATRIX)
    assert found.attrs["tba"] == {"classes": ["0", "1"], "t": 0.5, "chance": 0.5}


def test_undefined_of_labels_that_are_no_class():
    frame = pd.DataFrame({"y_true": [*"aab"], "y_pred": [*"zzz"]})
    with pytest.warns(tba.InputWarning, match="never in y_true: 'z'"):
        counts = frame.tba.counts()
    found = undefined(counts, metrics=["recall", "recall_macro", "mcc", "precision_macro"])
    assert found.to_numpy().tolist() == [
        ["recall", "z", "no rows of 'z'"],
        ["mcc", "z", "all rows are predicted 'z'"],
        ["precision_macro", "a", "never predicted 'a'"],
        ["precision_macro", "b", "never predicted 'b'"],
    ]


def test_undefined_where_the_cause_is_not_in_the_counts():
    never = tba.Metric(
        "mine", "overall", lambda hits, support, predicted, total, is_class: total[:, 0] * np.nan
    )
    found = undefined(matrix_of(MATRIX), metrics=never)
    reason = "its function gives NaN"
    assert found.to_numpy().tolist() == [["mine", None, reason]]
    with pytest.warns(tba.UndefinedWarning, match=f"mine. {reason}."):
        tba.metrics(matrix_of(MATRIX), metrics=never)


@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
@settings(max_examples=40)
@given(st.lists(four_cells, min_size=1, max_size=4), st.sampled_from([-1, 0, 0.5]))
def test_undefined_lists_every_nan_and_nothing_else(cells, t):
    counts = matrix_of(np.reshape(cells, (-1, 2, 2)), groups=range(len(cells)))
    found = undefined(counts, t=t)
    table = tba.metrics(counts, metrics=OVERALL, t=t)[OVERALL]
    expected = {
        (group, name)
        for group, name in itertools.product(table.index, OVERALL)
        if math.isnan(table.at[group, name])
    }
    of_class = found["metric"].isin(OF_CLASS)
    assert set(zip(found.index[~of_class], found["metric"][~of_class], strict=True)) == expected
    table = tba.per_class(counts).iloc[:, 4:]
    places = itertools.product(table.index, table.columns)
    expected = sorted((*place, name) for place, name in places if math.isnan(table.at[place, name]))
    rows = found[of_class]
    assert sorted(zip(rows.index, rows["class"], rows["metric"], strict=True)) == expected


WARNINGS = {
    "accuracy": "accuracy. Group 'c': no rows",
    "fpr": "fpr. Group 'a': all rows are of 0; Group 'c': no rows; Group 'd': all rows are of 0",
    "recall": "recall. Group 'a': no rows of 1; Group 'c': no rows; Group 'd': no rows of 1",
    "f1": "f1. Group 'c': no rows; Group 'd': no rows of 1, never predicted 1",
    "cohen_kappa": (
        "cohen_kappa. Group 'c': no rows; Group 'd': all rows are of 0, all rows are predicted 0"
    ),
}


@pytest.mark.parametrize(("name", "text"), WARNINGS.items(), ids=WARNINGS)
def test_the_warning_tells_what_the_table_tells(name, text):
    counts = matrix_of(CELLS, groups=GROUPS)
    ask = tba.per_class if name in OF_CLASS else tba.metrics
    with pytest.warns(tba.UndefinedWarning) as warned:
        ask(counts, metrics=name)
    assert [str(one.message) for one in warned] == [f"Undefined, hence NaN: {text}."]


def test_the_warning_names_five_groups_and_metrics():
    counts = matrix_of([[[1, 0], [0, 0]]] * 6, groups=range(6))
    with pytest.warns(tba.UndefinedWarning) as warned:
        tba.metrics(counts)
    undefined_where = "no rows of 1, never predicted 1"
    assert [str(one.message) for one in warned] == [
        (
            "Undefined, hence NaN: balanced_accuracy, g_mean, min_recall, recall_macro, "
            f"precision_macro and 14 more. {'; '.join(f'Group {g}: {undefined_where}' for g in range(5))}; "
            "and other groups."
        )
    ]


def test_a_key_with_the_name_of_a_column():
    counts = matrix_of([MATRIX], groups=pd.Index([1], name="reason"))
    with pytest.raises(tba.InputError) as raised:
        undefined(counts)
    assert str(raised.value) == (
        "`by`: the key 'reason' has the name of a column or level of the result. Rename it, as in "
        "by=df['reason'].rename('group')."
    )


@pytest.mark.parametrize("by", [None, "g"], ids=str)
def test_without_rows_and_labels(by):
    frame = pd.DataFrame({name: pd.Series([], dtype=object) for name in ("y_true", "y_pred", "g")})
    table = frame.tba.undefined(by=by)
    assert table.columns.tolist() == ["metric", "class", "reason"]
    assert set(table["reason"]) == (set() if by else {"no rows"})
