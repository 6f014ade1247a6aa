"""Frames of anything: counts that add up, or an error of ours, and nothing else.

Columns of every dtype, and of objects that nobody should put there, play every part. What is
counted is compared with a slow loop over Python's own values. `nox -s fuzz` tries many more frames.
"""

import collections
import datetime
import decimal
import enum
import fractions
import math
import numbers

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import pandas_tba as tba

pytestmark = pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")

OURS = (tba.InputError, tba.ColumnError, tba.KindError)
NAMES = ["y_true", "y_pred", "second", "key", "other", "w", "p"]
DAYS = pd.to_datetime(["2024-01-31", "2024-02-29", "1700-01-01"]).tolist()


class Colour(enum.Enum):
    RED = 1
    BLUE = "b"


def objects(values):
    """A column of just these objects: pandas would look into nested ones."""
    held = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        held[at] = value
    return pd.Series(held, dtype=object)


def of_dtype(dtype):
    return lambda values: objects(values).astype(dtype)


def arrow(kind):
    return lambda values: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values, kind)]))
    )


def dictionary(values):
    kind = pa.string() if any(isinstance(value, str) for value in values) else pa.int64()
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, kind).dictionary_encode()))


def in_chunks(values):
    half = len(values) // 2
    parts = [pd.Series(part, dtype="string[pyarrow]") for part in (values[:half], values[half:])]
    return pd.concat(parts, ignore_index=True)


def sparse(values):
    return pd.Series(pd.arrays.SparseArray(values))


def with_zone(values):
    return of_dtype("datetime64[ns]")(values).dt.tz_localize("CET")


def categories(values):
    """A category whose categories stand in the order in which they occur."""
    seen = dict.fromkeys(value for value in values if not is_missing(value))
    place = dict(zip(seen, range(len(seen)), strict=True))
    codes = [place.get(value, -1) for value in values]
    order = pd.Index(objects([*seen]), dtype=object, tupleize_cols=False)
    return pd.Series(pd.Categorical.from_codes(codes, order))


def is_missing(value):
    return pd.api.types.is_scalar(value) and bool(pd.isna(value))


NULLABLE = ["object", "category", "Int64", "Float64", "int64[pyarrow]", "float64"]
TEXT = [*("object", "str", "string[python]", "string[pyarrow]", "category", categories), in_chunks]
TEXT += [arrow(pa.string()), arrow(pa.large_string()), dictionary]
# values, dtypes that hold a missing one beside them, dtypes that do not
FAMILIES = {
    "bits": ([0, 1], [*NULLABLE, "Int8", dictionary, categories], ["int8", "uint8", sparse]),
    "booleans": (
        [False, True],
        ["object", "category", "boolean", "bool[pyarrow]"],
        ["bool", sparse],
    ),
    "whole": (
        [0, 1, 2, -1, 100],
        [*NULLABLE, "Int16", arrow(pa.decimal128(9, 2)), dictionary, categories],
        ["int8", "int64", ">i4", sparse],
    ),
    "huge": (
        [0, 1, 2**53, 2**53 + 1, -(2**63), 2**63 - 1],
        ["object", "category", "Int64", "int64[pyarrow]", dictionary],
        ["int64"],
    ),
    "unsigned": (
        [0, 1, 2**53 + 1, 2**63, 2**64 - 1],
        ["object", "category", "UInt64", "uint64[pyarrow]"],
        ["uint64"],
    ),
    "floats": (
        [0.0, -0.0, 1.0, 0.5, 2.0, math.inf, -math.inf, 1e30, 5e-324, 2.0**53, math.nan],
        ["float64", "float32", ">f8", "object", "category", "Float64", "Float32", arrow(None)],
        [sparse],
    ),
    "text": (["a", "b", "A ", "", "0", "1", "1.0", "True", "nan", "é", "\U0001f600"], TEXT, []),
    "days": (
        DAYS,
        ["datetime64[ns]", "datetime64[s]", "object", "category", arrow(pa.timestamp("us")),
         with_zone, "period[M]"],
        [],
    ),
    "odd": (
        [
            *("a", 1, True, 0.5, 2**100, -(2**70), b"a", b"\xff", (), (1, "x"), (math.nan,)),
            *(Colour.RED, Colour.BLUE, fractions.Fraction(1, 2), 1j, object, len, ..., range(2)),
            *(decimal.Decimal("1.5"), decimal.Decimal("NaN"), datetime.datetime(9999, 12, 31)),
            *(decimal.Decimal("1e400"), decimal.Decimal("Infinity")),
            *(datetime.date(1, 1, 1), datetime.timedelta.max, datetime.time(1), frozenset({1})),
            *(datetime.datetime(2024, 1, 31, tzinfo=datetime.UTC), pd.Timedelta(1), *DAYS[:1]),
            *(pd.Period("2024", "Y"), pd.Interval(0, 1), np.int8(1), np.float32(0.5), np.bool_(1)),
            *(np.str_("a"), np.uint64(2**64 - 1), np.datetime64("9999-01-01"), np.datetime64("NaT", "ns")),
            *(np.timedelta64(1, "D"), math.nan, math.inf, -0.0, None, pd.NA, pd.NaT),
        ],
        ["object"],
        [],
    ),
    "mixed": (["a", 1, 0.5, True, (1, "x"), b"a", 2**100, Colour.RED], ["object", categories], []),
    "nested": (
        ["a", 1, [1], [], {"a": 1}, {1}, np.arange(2), pd.Series([1]), bytearray(b"a")],
        ["object"],
        [],
    ),
    "lists": ([[1], [], [2, 3]], ["object", arrow(pa.list_(pa.int64()))], []),
}  # fmt: skip
ANY = st.sampled_from([*FAMILIES])
NUMBERS = st.one_of(st.sampled_from(["bits", "whole", "floats"]), ANY)


@st.composite
def columns(draw, family, n_rows):
    """One column of a family, of any dtype that holds its values."""
    values, may_miss, others = FAMILIES[family]
    make = draw(st.sampled_from([*may_miss, *others]))
    few = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
    if make in may_miss and draw(st.integers(0, 2)) == 0:
        few.append(None)
    drawn = draw(st.lists(st.sampled_from(few), min_size=n_rows, max_size=n_rows))
    return (of_dtype(make) if isinstance(make, str) else make)(drawn)


@st.composite
def frames(draw):
    """A column for each part; those of labels are mostly of one family."""
    n_rows = draw(st.integers(0, 9))
    same = draw(ANY)
    labels = st.one_of(*[st.just(same)] * 3, ANY)
    families = dict(zip(NAMES, [labels] * 3 + [ANY] * 2 + [NUMBERS] * 2, strict=True))
    frame = pd.DataFrame({name: draw(columns(draw(of), n_rows)) for name, of in families.items()})
    repeated = pd.Index([7] * n_rows, name="level", dtype="int64")
    days = pd.DatetimeIndex(([*DAYS] * 3)[:n_rows], name="level")
    frame.index = draw(st.sampled_from([frame.index, repeated, days]))
    return frame


def some_labels(frame):
    """Labels that occur, and others."""
    held = [*frame["y_true"].tolist(), *frame["y_pred"].tolist()]
    return st.sampled_from([*held, *held, 0, 1, True, "a", None, math.nan, pd.NA, [1], 2**100])


def bys(frame):
    """`by` in every form."""
    key, rows = frame["key"], np.arange(len(frame))
    forms = [
        *("key", "other", "level", "w", "y_pred", "absent", 3, ("key", "other"), math.nan, None),
        *(key, key.array, key.to_numpy(), key.reset_index(drop=True), frame.index),
        *(pd.Index(rows // 2, name="y_true"), rows, np.ones((len(frame), 2)), [1] * len(frame)),
        *(pd.Grouper(key="key"), pd.Grouper(key="key", freq="YS"), pd.Grouper(level=0), len, {1: 2}),
    ]  # fmt: skip
    return st.one_of(
        st.none(), st.sampled_from(forms), st.lists(st.sampled_from(forms[:6] + forms), max_size=3)
    )


PREDICTIONS = [
    {},
    {"y_pred": ["y_pred", "second"]},
    {"model": "other"},
    {"y_score": "p"},
    {"y_score": ["p", "w"], "threshold": 1},
]


@st.composite
def questions(draw):
    """A frame, what is bound, and how to count."""
    frame = draw(frames())
    label = some_labels(frame)
    few = st.lists(label, max_size=4)
    bound = {
        "labels": draw(st.one_of(st.none(), st.none(), few)),
        "abstain": draw(st.one_of(st.just(()), st.just(()), few)),
        "pos_label": draw(st.one_of(st.none(), st.none(), label)),
        "missing": draw(st.sampled_from(["drop", "drop", "raise"])),
        "sample_weight": draw(st.sampled_from([None, None, "w"])),
    }
    asked = {"by": draw(bys(frame)), "dropna": draw(st.booleans()), "observed": draw(st.booleans())}
    return frame, bound | draw(st.sampled_from(PREDICTIONS)), asked


def look_of(frame):
    """All there is to see of a frame."""
    values = {name: [*map(repr, column.tolist())] for name, column in frame.items()}
    return values, frame.dtypes.tolist(), frame.index.tolist(), frame.attrs


def is_number(value):
    is_other = isinstance(value, (bool, np.bool_, np.timedelta64))
    return isinstance(value, (numbers.Real, decimal.Decimal)) and not is_other


def is_same(one, other):
    return hash(one) == hash(other) and bool(one == other)


def complete(frame, names):
    """The rows that miss none of these values."""
    held = [frame[name].tolist() for name in names]
    return [at for at in range(len(frame)) if not any(is_missing(column[at]) for column in held)]


def sizes(frame, rows, keys, *, dropna):
    """Rows of each group, by the values that Python holds for the same."""
    held = [frame.reset_index()[key].tolist() for key in keys]
    found = [tuple(None if is_missing(part[at]) else part[at] for part in held) for at in rows]
    kept = [key for key in found if not dropna or None not in key]
    return sorted(collections.Counter(kept).values())


def names_of(by):
    """The keys as names of columns, or None where `by` has other forms."""
    items = by if isinstance(by, list) else [] if by is None else [by]
    return items if all(isinstance(item, str) for item in items) else None


@given(questions())
def test_any_frame_is_counted_right_or_refused(question):
    frame, bound, asked = question
    before = look_of(frame)
    try:
        counts = frame.tba(**bound).counts(**asked)
    except OURS as error:
        event(type(error).__name__)
        return
    finally:
        assert look_of(frame) == before
    event("counted")
    assert frame.tba(**bound).validate() is frame
    predictions = bound.get("y_score", bound.get("y_pred", "y_pred"))
    predictions = predictions if isinstance(predictions, list) else [predictions]
    weights = [] if bound["sample_weight"] is None else ["w"]
    rows = complete(frame, ["y_true", *predictions, *weights])
    assert counts.n_missing == len(frame) - len(rows)
    assert counts.cells.sum() == pytest.approx(counts.weight.sum())
    keys = names_of(asked["by"])
    if keys is not None:
        model = [bound["model"]] if "model" in bound else []
        expected = sizes(frame, rows, [*model, *keys], dropna=asked["dropna"])
        assert sorted(counts.rows[counts.rows > 0]) == sorted(expected * len(predictions))
    if asked["dropna"]:
        return
    assert counts.rows.sum() == len(rows) * len(predictions)
    if weights:
        assert all(is_number(frame["w"].tolist()[at]) for at in rows)
        total = sum(float(frame["w"].tolist()[at]) for at in rows) * len(predictions)
        assert counts.weight.sum() == pytest.approx(total)
    elif "y_score" not in bound:
        truth, *guesses = (frame[name].tolist() for name in ("y_true", *predictions))
        right = (is_same(truth[at], guess[at]) for guess in guesses for at in rows)
        assert counts.hits.sum() == sum(right)
