"""The schema, and that the fast witness and the schema agree on what is wrong with a frame."""

import os
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pandera.pandas as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import pandas_tba as tba

GOOD = pd.DataFrame({"y_true": [*"abab"], "y_pred": [*"abba"], "w": [1.0, 2.0, 0.0, 3.0]})
LABELS = st.sampled_from([0, 1, 2, True, "0", "a", 0.5, None])
WEIGHTS = st.sampled_from([1.0, 0.0, -1.0, np.inf, np.nan])


def is_refused(ask):
    try:
        ask()
    except (tba.InputError, tba.KindError, pa.errors.SchemaErrors):
        return True
    return False


@settings(max_examples=settings().max_examples // 2)  # pandera needs a tenth of a second for each
@given(
    st.lists(st.tuples(LABELS, LABELS, WEIGHTS), min_size=1, max_size=6),
    st.sampled_from([None, [0, 1], ["0", "a"]]),
    st.sampled_from(["raise", "drop"]),
    st.booleans(),
)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
# pandera's own, where it joins its tables of failures with pandas 2
@pytest.mark.filterwarnings("ignore:.*concatenation with empty:FutureWarning")
def test_witness_and_schema_agree(rows, labels, missing, weighted):
    frame = pd.DataFrame(rows, columns=["y_true", "y_pred", "w"])
    frame = frame.astype({"y_true": object, "y_pred": object})
    asked = {"labels": labels, "missing": missing, "sample_weight": "w" if weighted else None}
    counted = is_refused(lambda: frame.tba(**asked).counts())
    assert is_refused(lambda: frame.tba(**asked).validate()) == counted
    if missing == "raise":  # a row that is dropped may hold the only fault
        assert is_refused(lambda: tba.schema(**asked).validate(frame, lazy=True)) == counted


FAULTS = {  # columns, question, and the checks that fail
    "a label is missing": ({"y_true": ["a", None]}, {}, ["not_nullable"]),
    "not declared": ({"y_true": ["a", "c"]}, {"labels": ["a", "b"]}, ["expected"]),
    "not declared, predicted": ({"y_pred": ["a", "c"]}, {"labels": ["a", "b"]}, ["expected"]),
    "to abstain, and true": ({"y_true": ["a", "c"]}, {"abstain": ["c"]}, ["expected"]),
    "to abstain, not predicted": ({"y_pred": ["a", "b"]}, {"abstain": ["b"]}, ["expected"]),
    "mixed": ({"y_true": [True, 7], "y_pred": [7, 7]}, {}, ["kind", "mixed"]),
    "scores": ({"y_true": [0, 1], "y_pred": [0.5, 1]}, {}, ["scores"]),
    "a category of scores": (
        {"y_true": [0, 1], "y_pred": pd.Categorical([0, 1], [0, 1, 0.5])}, {}, ["scores"],
    ),
    "text against numbers": ({"y_true": [3, 4]}, {}, ["kind"]),
    "declared of another kind": (
        {"y_true": ["1", "2"], "y_pred": ["1", "2"]}, {"labels": [1, 2]},
        ["kind", "expected", "expected", "expected", "expected"],
    ),
    "numbers that are no booleans": ({"y_true": [True, False], "y_pred": [1, 2]}, {}, ["kind"]),
    "written alike": ({"y_true": [1, "1"], "y_pred": [1, 1]}, {}, ["kind"]),
    "a negative weight": ({"w": [1, -1]}, {}, ["weight"]),
    "an infinite weight": ({"w": [1, np.inf]}, {}, ["weight"]),
    "a weight whose square is none": ({"w": [1, 1e-160]}, {}, ["weight"]),
    "a weight of text": ({"w": ["1", "1"]}, {}, ["number"]),
    "a weight of booleans": ({"w": [True, False]}, {}, ["number"]),
    "a weight of a thousand digits": (
        {"w": pd.Series([1, 10**1000], dtype=object)}, {}, ["number"],
    ),
    "a score of text": (
        {"y_true": [0, 1], "p": ["0.1", "x"]}, {"y_score": "p"}, ["number"],
    ),
    "labels and weights": (
        {"y_pred": ["a", "c"], "w": [-1, 0]}, {"labels": ["a", "b"]}, ["expected", "weight"],
    ),
}  # fmt: skip
SOUND = {
    "booleans and 0 and 1": {"y_true": [True, False], "y_pred": [1, 0]},
    "fractions": {"y_true": [0.5, 1], "y_pred": [0.5, 1]},
    "more kinds are true": {"y_true": [1, "a"], "y_pred": ["a", "a"]},
    "weights": {"w": [0, 1e149]},
    "infinite labels": {"y_true": [1, 2], "y_pred": [np.inf, 1]},
}


def bound(columns, asked):
    frame = pd.DataFrame({"y_true": [*"ab"], "y_pred": [*"ba"], **columns})
    return frame, {**asked, **({"sample_weight": "w"} if "w" in columns else {})}


@pytest.mark.parametrize(("columns", "asked", "checks"), FAULTS.values(), ids=FAULTS)
def test_the_schema_finds_what_counting_refuses(columns, asked, checks):
    frame, asked = bound(columns, asked)
    with pytest.raises(pa.errors.SchemaErrors) as raised:
        tba.schema(**asked).validate(frame, lazy=True)
    assert sorted(raised.value.failure_cases["check"]) == sorted(checks)
    assert is_refused(lambda: frame.tba(**asked).counts())


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
@pytest.mark.parametrize("columns", SOUND.values(), ids=SOUND)
def test_the_schema_lets_pass_what_is_counted(columns):
    frame, asked = bound(columns, {})
    assert_frame_equal(tba.schema(**asked).validate(frame, lazy=True), frame)
    assert frame.tba(**asked).counts().rows.tolist() == [2]


def test_every_fault_at_once():
    frame = pd.DataFrame(
        {"y_true": [1, 0, 7, None], "y_pred": [1, None, "x", 0], "w": [1, -1, np.nan, np.inf]}
    )
    with pytest.raises(tba.InputError) as raised:
        frame.tba(labels=[0, 1], sample_weight="w").score()
    assert str(raised.value) == (
        "Missing values in 'y_true' (1 of 4 rows), 'y_pred' (1 of 4 rows), 'w' (1 of 4 rows). Leave "
        "these rows out with df.tba(missing='drop'), or give missing predictions a label of their "
        "own: df['y_pred'].fillna('abstain') with abstain=['abstain']. Also: true and predicted "
        "labels are of different kinds; 'y_true': labels are not among those expected (1 row), such "
        "as 7.0; 'y_pred': labels are not among those expected (1 row), such as 'x'; 'w': weights "
        "are negative or not finite (2 rows), such as -1.0, inf."
    )
    cases = raised.value.failure_cases
    assert cases.columns.tolist() == ["column", "check", "failure_case", "rows"]
    found = set(zip(cases["column"], cases["check"], cases["rows"].fillna(0), strict=True))
    assert found == {
        (None, "kind", 0), ("y_true", "missing", 1), ("y_true", "expected", 1),
        ("y_pred", "missing", 1), ("y_pred", "expected", 1), ("w", "missing", 1), ("w", "weight", 1),
    }  # fmt: skip


def test_validate_returns_the_frame_itself_and_leaves_no_mark():
    before = GOOD.copy(deep=True)
    assert GOOD.tba(sample_weight="w").validate() is GOOD
    assert_frame_equal(GOOD, before)
    assert "pandera" not in vars(GOOD)
    assert getattr(GOOD, "pandera", None) is None or GOOD.pandera.schema is None


def test_the_schema_in_a_pipeline():
    @pa.check_input(tba.schema(labels=["a", "b"], sample_weight="w"))
    def accuracy(frame):
        return (frame["y_true"] == frame["y_pred"]).mean()

    assert accuracy(GOOD) == 0.5
    with pytest.raises(pa.errors.SchemaError):
        accuracy(GOOD.assign(w=-1.0))


class Predictions(pa.DataFrameModel):
    y_true: str = pa.Field(isin=["a", "b"])
    w: float = pa.Field(le=2)


SCHEMAS = {
    "schema": pa.DataFrameSchema({"w": pa.Column(checks=pa.Check.le(2))}),
    "model": Predictions,
}


@pytest.mark.parametrize("asked", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_of_the_user_runs_before_counting(asked):
    door = GOOD.assign(y_true=GOOD["y_true"].astype(object)).tba(schema=asked)
    with pytest.raises(tba.InputError) as raised:
        door.score()
    assert str(raised.value) == (
        "The frame does not meet `schema`: 'w' fails less_than_or_equal_to(2) (1 case, such as "
        "3.0). Nothing was counted; failure_cases of this error lists all."
    )
    assert raised.value.failure_cases["failure_case"].tolist() == [3.0]
    assert GOOD.head(2).tba(schema=SCHEMAS["schema"]).score(t=1) == 1


def test_what_is_no_schema():
    with pytest.raises(tba.KindError) as raised:
        GOOD.tba(schema={"y_true": str}).score()
    assert str(raised.value) == (
        "`schema` must be a pandera DataFrameSchema or DataFrameModel; got {'y_true': <class "
        "'str'>}. tba.schema(...) makes one."
    )


OFF = """
import pandas as pd, pandas_tba as tba
frame = pd.DataFrame({"y_true": ["a", None], "y_pred": ["a", "z"], "w": [1, -1]})
accessor = frame.tba(labels=["a", "b"], sample_weight="w")
for ask in (accessor.score, accessor.validate):
    try:
        ask()
    except tba.InputError as error:
        print(error.failure_cases["check"].tolist())
"""


@pytest.mark.parametrize(
    ("switch", "value"),
    [("PANDERA_VALIDATION_ENABLED", "False"), ("PANDERA_VALIDATION_DEPTH", "SCHEMA_ONLY")],
)
def test_the_environment_does_not_switch_validation_off(switch, value):
    done = subprocess.run(
        [sys.executable, "-c", OFF],
        env={**os.environ, switch: value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['missing', 'expected', 'weight']\n" * 2


UNEXPECTED = {
    "one label": (["zz"] * 1_000_000, "'zz' (1,000,000 rows)"),
    "as many as rows": ([f"z{at}" for at in range(1_000_000)], "999,997 more (999,997 rows)"),
}


@pytest.mark.parametrize(("labels", "names"), UNEXPECTED.values(), ids=UNEXPECTED)
def test_a_million_unexpected_labels_make_a_short_error(labels, names):
    frame = pd.DataFrame({"y_true": [*"ab"] * 500_000, "y_pred": labels})
    start = time.process_time()  # of a busy machine the clock would say nothing
    with pytest.raises(tba.InputError) as raised:
        frame.tba(labels=["a", "b"]).score()
    assert time.process_time() - start < 10  # a guard against copies of every row, no measurement
    assert names in str(raised.value)
    assert len(str(raised.value)) < 600
    assert raised.value.failure_cases["check"].unique().tolist() == ["expected"]


def test_rare_faults_among_many_values_are_found():
    n = 50_000
    frame = pd.DataFrame({"y_true": np.arange(n), "y_pred": np.arange(n), "w": np.arange(n) + 0.5})
    frame = frame.astype({"y_pred": object})
    frame.loc[n - 1, "y_pred"] = "x"
    frame.loc[n - 2, "w"] = -1
    with pytest.raises(tba.InputError) as raised:
        frame.tba(labels=range(n), sample_weight="w").score()
    found = raised.value.failure_cases[["column", "check"]].to_numpy().tolist()
    assert found == [[None, "kind"], ["y_pred", "expected"], ["w", "weight"]]


def test_an_error_leaves_the_environment_as_it_was():
    code = (
        "import os, pandas as pd, pandas_tba; before = dict(os.environ)\n"
        "try: pd.DataFrame({'y_true': [1, None], 'y_pred': [1, 1]}).tba.score()\n"
        "except ValueError: print('pandera' in __import__('sys').modules, before == dict(os.environ))"
    )
    names = {"SPARK_LOCAL_IP", "PYARROW_IGNORE_TIMEZONE"}
    environment = {name: value for name, value in os.environ.items() if name not in names}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["True", "True"]
