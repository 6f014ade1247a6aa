"""Labels and keys match by value, whatever dtype, storage or marker of missing values holds them."""

import datetime
import decimal
import enum
import itertools
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pandas.testing import assert_frame_equal

import pandas_tba as tba

WHOLE = [2, 1, 2, 3, 1, 3, 3, 1, 2, 2, 1, 3]
GUESS = [2, 1, 1, 3, 1, 3, 2, 1, 2, 3, 1, 3]
WORDS = {1: "one", 2: "two", 3: "three"}
DAYS = dict(zip((1, 2, 3), pd.to_datetime(["2024-01-31", "2024-02-29", "2025-01-01"]), strict=True))


def arrow(values, kind):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(values, kind)])))


def in_chunks(values):
    parts = [
        pd.Series(values[:5], dtype="string[pyarrow]"),
        pd.Series(values[5:], dtype="string[pyarrow]"),
    ]
    return pd.concat(parts, ignore_index=True)


def read_only(values):
    held = np.array(values)
    held.flags.writeable = False
    return pd.Series(held, copy=False)


NUMPY_NUMBERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                 "float32", "float64", ">i4", ">f8"]  # fmt: skip
NUMBERS = {
    **{
        dtype: lambda values, dtype=dtype: pd.Series(values).astype(dtype)
        for dtype in NUMPY_NUMBERS
    },
    "read-only": read_only,
    "sparse": lambda values: pd.Series(pd.arrays.SparseArray(values)),
}
NULLABLE_NUMBERS = {
    dtype: lambda values, dtype=dtype: pd.Series(values, dtype="object").astype(dtype)
    for dtype in ["Int8", "Int64", "UInt16", "Float32", "Float64", "int64[pyarrow]",
                  "uint8[pyarrow]", "double[pyarrow]", "object", "category"]
} | {
    "category of floats": lambda values: pd.Series(values, dtype="float64").astype("category"),
    "dictionary": lambda values: arrow(values, None).pipe(
        lambda held: pd.Series(
            pd.arrays.ArrowExtensionArray(held.array.__arrow_array__().dictionary_encode())
        )
    ),
    "decimal": lambda values: arrow(
        [None if value is None else decimal.Decimal(value) for value in values], pa.decimal128(9, 2)
    ),
    "object of Decimal": lambda values: pd.Series(
        [None if value is None else decimal.Decimal(value) for value in values], dtype=object
    ),
}  # fmt: skip
TEXTS = {
    f"arrow dictionary of {index}": lambda values, index=index: arrow(values, pa.string()).pipe(
        lambda held: pd.Series(
            pd.arrays.ArrowExtensionArray(
                held.array.__arrow_array__()
                .dictionary_encode()
                .cast(pa.dictionary(index, "string"))
            )
        )
    )
    for index in (pa.uint8(), pa.uint32(), pa.int64())
} | {
    "object": lambda values: pd.Series(values, dtype=object),
    "str": lambda values: pd.Series(values, dtype="str" if pd.__version__ >= "3" else object),
    "string[python]": lambda values: pd.Series(values, dtype="string[python]"),
    "string[pyarrow]": lambda values: pd.Series(values, dtype="string[pyarrow]"),
    "arrow string": lambda values: arrow(values, pa.string()),
    "arrow large_string": lambda values: arrow(values, pa.large_string()),
    "arrow dictionary": lambda values: pd.Series(
        pd.arrays.ArrowExtensionArray(pa.array(values, pa.string()).dictionary_encode())
    ),
    "chunks": in_chunks,
    "category": lambda values: pd.Series(values, dtype="category"),
    "ordered category": lambda values: pd.Series(
        pd.Categorical(values, categories=sorted(WORDS.values()), ordered=True)
    ),
    "category of Arrow text": lambda values: pd.Series(values, dtype="string[pyarrow]").astype(
        "category"
    ),
    "permuted categories": lambda values: pd.Series(
        pd.Categorical(values, categories=["two", "unused", "three", "one"])
    ),
}
TIMES = {
    "datetime64[ns]": lambda values: pd.Series(values, dtype="datetime64[ns]"),
    "datetime64[s]": lambda values: pd.Series(values, dtype="datetime64[s]"),
    "object of Timestamp": lambda values: pd.Series(values, dtype=object),
    "arrow timestamp": lambda values: arrow(values, pa.timestamp("us")),
    "category of days": lambda values: pd.Series(values, dtype="datetime64[ns]").astype("category"),
}


class Grade(enum.Enum):
    LOW = 1
    MIDDLE = 2
    HIGH = 3


OTHERS = {
    "bool": lambda codes: codes > 1,
    "boolean": lambda codes: (codes > 1).astype("boolean"),
    "bool[pyarrow]": lambda codes: (codes > 1).astype("bool[pyarrow]"),
    "object of bool": lambda codes: (codes > 1).astype(object),
    "datetime with zone": lambda codes: codes.map(DAYS).dt.tz_localize("CET"),
    "timedelta": lambda codes: pd.to_timedelta(codes, unit="h"),
    "period": lambda codes: pd.Series(codes.map(DAYS).dt.to_period("M")),
    "interval": lambda codes: pd.Series(pd.IntervalIndex.from_breaks([0, 1, 2, 3]).take(codes - 1)),
    "date": lambda codes: pd.Series([DAYS[code].date() for code in codes], dtype=object),
    "arrow date": lambda codes: arrow([DAYS[code].date() for code in codes], pa.date32()),
    "tuples": lambda codes: pd.Series([(code, "x") for code in codes], dtype=object),
    "bytes": lambda codes: codes.map({1: b"a", 2: b"b", 3: b"c"}),
    "enum": lambda codes: pd.Series([Grade(code) for code in codes], dtype=object),
    "text and numbers": lambda codes: codes.map({1: "one", 2: 2, 3: 3.5}).astype(object),
}


def answers(truth, guess):
    """All answers about two columns; the groups are the true labels, as keys."""
    frame = pd.DataFrame({"y_true": truth, "y_pred": guess, "g": truth})
    return [
        frame.tba.confusion_matrix(),
        frame.tba.per_class(),
        frame.tba.metrics(by="g", metrics="accuracy"),
    ]


def assert_same(found, expected, *, kinds=True):
    """Equal tables; without `kinds` the labels need only be equal values, as 1 and Decimal(1)."""
    for mine, theirs in zip(found, expected, strict=True):
        if not kinds:
            assert mine.index.tolist() == theirs.index.tolist()
            assert mine.columns.tolist() == theirs.columns.tolist()
            assert mine.to_numpy().tolist() == theirs.to_numpy().tolist()
        else:
            assert_frame_equal(mine, theirs)


ALL_NUMBERS = {**NUMBERS, **NULLABLE_NUMBERS}


@pytest.mark.parametrize("first", ALL_NUMBERS)
def test_numbers_match_as_numbers(first):
    expected = answers(pd.Series(WHOLE), pd.Series(GUESS))
    for second in ALL_NUMBERS.values():
        found = answers(ALL_NUMBERS[first](WHOLE), second(GUESS))
        assert_same(found, expected, kinds=False)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint64", "Int64", "UInt16", "int64[pyarrow]", "category"]
)
def test_whole_numbers_give_one_table(dtype):
    expected = [answers(pd.Series(WHOLE), pd.Series(GUESS))[at].index for at in range(3)]
    made = ALL_NUMBERS[dtype]
    for found, index in zip(answers(made(WHOLE), made(GUESS)), expected, strict=True):
        assert found.index.tolist() == index.tolist()
        assert all(isinstance(value, (int, tuple)) for value in found.index.tolist())


@pytest.mark.parametrize("first", TEXTS)
def test_text_matches_as_text_and_gives_one_table(first):
    truth, guess = ([WORDS[value] for value in values] for values in (WHOLE, GUESS))
    expected = answers(TEXTS["object"](truth), TEXTS["object"](guess))
    for second, made in TEXTS.items():
        found = answers(TEXTS[first](truth), made(guess))
        if first == second == "permuted categories":
            order = ["two", "three", "one"]
            assert found[0].index.tolist() == found[0].columns.tolist() == order
            found = [table.sort_index().sort_index(axis="columns") for table in found[:1]]
            assert_frame_equal(found[0], expected[0])
        elif first == "permuted categories":
            assert_same(found[:2], expected[:2])  # its keys have an order of their own
            assert_frame_equal(found[2].sort_index(), expected[2])
        else:
            assert_same(found, expected)


@pytest.mark.parametrize("first", TIMES)
def test_times_match_as_times(first):
    truth, guess = ([DAYS[value] for value in values] for values in (WHOLE, GUESS))
    expected = answers(TIMES["datetime64[ns]"](truth), TIMES["datetime64[ns]"](guess))
    for second in TIMES.values():
        assert_same(answers(TIMES[first](truth), second(guess)), expected, kinds=False)


@pytest.mark.parametrize("kind", OTHERS.values(), ids=OTHERS)
def test_other_labels(kind):
    truth, guess = kind(pd.Series(WHOLE)), kind(pd.Series(GUESS))
    right = sum(a == b for a, b in zip(truth.tolist(), guess.tolist(), strict=True))
    matrix, classes, groups = answers(truth, guess)
    assert np.diag(matrix).sum() == right
    assert matrix.to_numpy().sum() == groups["n"].sum() == len(WHOLE)
    assert set(classes.index) == set(truth.tolist())


STORES_MISSING = {
    **{name: (kind, WHOLE, GUESS) for name, kind in NULLABLE_NUMBERS.items()},
    **{
        f"text, {name}": (
            kind,
            [WORDS[value] for value in WHOLE],
            [WORDS[value] for value in GUESS],
        )
        for name, kind in TEXTS.items()
    },
    **{
        f"time, {name}": (kind, [DAYS[value] for value in WHOLE], [DAYS[value] for value in GUESS])
        for name, kind in TIMES.items()
    },
}


@pytest.mark.parametrize(("kind", "truth", "guess"), STORES_MISSING.values(), ids=STORES_MISSING)
def test_missing_values_of_every_dtype(kind, truth, guess):
    holed = [None if at in (1, 6) else value for at, value in enumerate(truth)]
    frame = pd.DataFrame({"y_true": kind(holed), "y_pred": kind(guess), "g": kind(holed)})
    with pytest.raises(tba.InputError, match=r"^Missing values in 'y_true' \(2 of 12 rows\)\."):
        frame.tba.score()
    counts = frame.tba(missing="drop").counts()
    assert (counts.n_missing, int(counts.rows.sum())) == (2, 10)
    whole = frame.assign(y_true=kind(truth))
    by_key = whole.tba.metrics(by="g", metrics="accuracy")
    assert by_key["n"].iloc[-1] == 2
    assert pd.isna(by_key.index[-1])
    assert by_key["n"].sum() == 12
    assert whole.tba.metrics(by="g", dropna=True, metrics="accuracy")["n"].sum() == 10


def test_every_marker_of_a_missing_key_is_one_group():
    keys = pd.Series(["a", None, np.nan, pd.NA, pd.NaT, "a"], dtype=object)
    frame = pd.DataFrame({"y_true": [0, 1] * 3, "y_pred": [0, 1] * 3, "g": keys})
    assert frame.tba.metrics(by="g", metrics="accuracy")["n"].tolist() == [2, 4]


def scored(truth, guess):
    return pd.DataFrame({"y_true": truth, "y_pred": guess}).tba.score(t=1)


ODD = 2**53 + 1
TRAPS = {
    "minus zero is zero": ([0.0, -0.0, 1.0, 1.0], [-0.0, 0.0, 1.0, 1.0], 1.0),
    "2**53 + 1 is not 2.0**53": ([ODD, ODD, 0], [float(2**53), ODD - 1.0, 0.0], 1 / 3),
    "2**53 + 1 is not 2**53": ([ODD, ODD - 1, 0], [ODD - 1, ODD - 1, 0], 2 / 3),
    "large unsigned": (np.array([2**64 - 1, 0], dtype="uint64"), [2**62, 0], 0.5),
    "boolean truth, 0/1 guess": ([True, False, True], [1, 0, 0], 2 / 3),
    "0/1 truth, boolean guess": ([1, 0, 1], [True, False, False], 2 / 3),
    "boolean NA type": (pd.array([True, False]), pd.array([1, 0], dtype="Int8"), 1.0),
    "1, 1.0 in one object column": (pd.Series([1, 1.0, 2], dtype=object), [1, 1, 2], 1.0),
    "Decimal and float": ([decimal.Decimal("0.5"), decimal.Decimal(1)], [0.5, 1.0], 1.0),
}


@pytest.mark.parametrize(("truth", "guess", "accuracy"), TRAPS.values(), ids=TRAPS)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_values_that_hashing_or_casting_would_confuse(truth, guess, accuracy):
    assert scored(truth, guess) == pytest.approx(accuracy)


NO_MATCH = {
    "text against numbers": (["1", "0"], [1, 0], "holds text labels ('0', '1'), but"),
    "booleans against other numbers": ([True, False], [1, 2], "holds boolean labels"),
    "other numbers against booleans": ([1, 2], [True, False], "holds number labels"),
    "True beside 1": (pd.Series([True, 1, 0], dtype=object), [1, 1, 0], "holds both booleans and"),
    "True beside 1 in a guess": ([1, 1, 0], pd.Series([True, 1, 0], dtype=object), "both booleans"),
    "True beside 2 in a category": (pd.Categorical([True, 2, 2]), [1, 2, 2], "boolean and number"),
    "days against text": (pd.to_datetime(["2024-01-01"]), ["2024-01-01"], "holds datetime labels"),
}


@pytest.mark.parametrize(("truth", "guess", "text"), NO_MATCH.values(), ids=NO_MATCH)
def test_kinds_that_never_match(truth, guess, text):
    with pytest.raises(tba.KindError) as raised:
        scored(truth, guess)
    assert text in str(raised.value)


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_a_thousand_categories_in_two_orders():
    generator = np.random.default_rng(1)
    names = [f"c{at:04d}" for at in range(1000)]
    codes = generator.integers(0, 1000, (2, 5000))
    truth = pd.Categorical.from_codes(codes[0], names)
    guess = pd.Categorical.from_codes(999 - codes[1], names[::-1])
    assert scored(truth, guess) == pytest.approx((codes[0] == codes[1]).mean())


COLUMN_LABELS = list(itertools.permutations([0, ("y", "true"), "tba"]))


@pytest.mark.parametrize("names", COLUMN_LABELS, ids=str)
def test_columns_of_any_label(names):
    frame = pd.DataFrame(dict(enumerate([WHOLE, GUESS, WHOLE])))
    frame.columns = pd.Index(names, tupleize_cols=False)
    tbl = tba.TbaAccessor(frame)(y_true=names[0], y_pred=names[1])
    by = pd.Series(WHOLE) if names[2] == "tba" else names[2]
    assert tbl.metrics(by=by, metrics="accuracy")["n"].sum() == 12


INDEXES = {
    "text": pd.Index([*"abcdefghijkl"]),
    "repeated": pd.Index([0] * 12),
    "days": pd.date_range("2024-01-01", periods=12),
    "several levels": pd.MultiIndex.from_product([[1, 2, 3], [*"abcd"]], names=["x", None]),
    "missing": pd.Index([np.nan] * 12),
    "backwards": pd.RangeIndex(11, -1, -1),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_any_index(index):
    frame = pd.DataFrame({"y_true": WHOLE, "y_pred": GUESS, "g": WHOLE})
    expected = frame.tba.metrics(by="g", metrics="accuracy")
    frame.index = index
    for by in ("g", frame["g"], frame["g"].to_numpy()):
        found = frame.tba.metrics(by=by, metrics="accuracy")
        assert_frame_equal(found, expected, check_names=False)


def test_a_subclass_of_dataframe():
    class Predictions(pd.DataFrame):
        @property
        def _constructor(self):
            return Predictions

    frame = Predictions({"y_true": WHOLE, "y_pred": GUESS})
    assert frame.tba.score(t=1) == pytest.approx(np.mean(np.equal(WHOLE, GUESS)))


def test_dates_that_are_no_timestamps_do_not_match_them():
    with pytest.raises(tba.KindError):
        scored([datetime.date(2024, 1, 31)], pd.to_datetime(["2024-01-31"]))


def polars():
    return pytest.importorskip("polars")


def of_arrow(kind):
    """A type of Arrow that its lowest version does not have yet."""
    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    return getattr(pa, kind)()


OF_LIBRARIES = {  # a column of labels or scores as another library holds it
    "polars": lambda values: polars().Series("g", values),
    "polars categories": lambda values: polars().Series("g", values, dtype=polars().Categorical),
    "polars enum": lambda values: polars().Series(
        "g", values, dtype=polars().Enum([*dict.fromkeys(values)])
    ),
    "arrow": pa.array,
    "arrow views": lambda values: pa.array(values, of_arrow("string_view")),
    "arrow in chunks": lambda values: pa.chunked_array([values[:1], values[1:]]),
    "narwhals": lambda values: pytest.importorskip("narwhals.stable.v2").from_native(
        pd.Series(values, name="g"), series_only=True
    ),
}


@pytest.mark.parametrize("held", OF_LIBRARIES.values(), ids=OF_LIBRARIES)
def test_columns_of_other_libraries(held):
    truth, guess = [*"aabb"], [*"abbb"]
    score = tba.tempered_balanced_accuracy_score
    assert score(held(truth), held(guess), t=1) == 0.75
    assert score(held(truth), guess, t=1) == 0.75
    frame = pd.DataFrame({"y_true": truth, "y_pred": guess}, index=[3, 2, 1, 0])
    counts = frame.tba.counts(by=held([*"xyyy"]))
    assert dict(zip(counts.groups, counts.rows.tolist(), strict=True)) == {"x": 1, "y": 3}
    steps = tba.sweep(held(truth), [0.1, 0.2, 0.8, 0.9], pos_label="b", groups=held([*"xyxy"]))
    assert steps.index.names[0] == getattr(held(truth), "name", None) or "group"


def test_numbers_of_other_libraries():
    large = [2**53 + 1, 2**53, 2, 2]
    score = tba.tempered_balanced_accuracy_score
    assert score(pa.array(large), pa.array([2**53, 2**53, 2, 2]), t=1) == 0.75
    weighted = score([0, 0, 1, 1], [0, 1, 1, 1], t=1, sample_weight=pa.array([3.0, 1, 1, 1]))
    assert weighted == 5 / 6
    assert tba.sweep([0, 0, 1, 1], pa.array([0.1, 0.2, 0.8, 0.9]), pos_label=1)["tba"].max() == 1
    with pytest.raises(tba.InputError, match="Missing values in 'y_true'"):
        score(pa.array([*large[:3], None]), large)
    with pytest.raises(tba.InputError, match="`y_true` must be one column of values; got shape"):
        score(pa.table({"a": large}), large)
    held = polars().Series([uuid.UUID(int=at) for at in (1, 1, 2, 2)], dtype=polars().Object)
    assert score(held, [*map(uuid.UUID, map(str, held))], t=1) == 1


@pytest.mark.parametrize("name", ["string_view", "binary_view"])
def test_views_of_arrow(name):
    kind = of_arrow(name)
    texts = [*"aabb"] if name == "string_view" else [b"a", b"a", b"b", b"b"]
    y_true, g = arrow(texts, kind), arrow([texts[0], *texts[:2], None], kind)
    y_pred = arrow([*texts[:3], texts[0]], kind)
    frame = pd.DataFrame({"y_true": y_true, "y_pred": y_pred, "g": g, "x": 1})
    assert frame.tba.score(t=1) == 0.75
    assert frame.tba.counts(by="g").rows.tolist() == [3, 1]
    lacking = frame.assign(y_pred=arrow([*texts[:3], None], kind))
    assert lacking.tba(missing="drop").counts(by=["g", "x"]).rows.tolist() == [3]
    long = {"y_true": "x", "y_pred": "x", "model": "g", "row": "y_true"}
    pairs = tba.count_pairs(frame.assign(g=arrow(texts[::2] * 2, kind)), **long)
    assert pairs.cells.sum() == 2
    with pytest.raises(tba.KindError, match="`y_score` column 'g' must hold numbers"):
        frame.tba(y_true="x", y_score="g", pos_label=1).score()


def test_days_beyond_those_of_python():
    days = pa.array([4_000_000, 1]).cast(pa.int32()).cast(pa.date32())
    frame = pd.DataFrame({"y_true": arrow(days, None), "y_pred": 1, "g": 1})
    text = (
        "Column 'y_true' holds times beyond the years 1 to 9999, which Python cannot hold in "
        "date32[day][pyarrow]. Convert it to datetime64[s] without a zone."
    )
    for question in (
        frame.tba.score,
        lambda: frame.tba(y_true="g").score(by="y_true"),
        lambda: tba.count(pa.table({"y_true": days, "y_pred": days})),
    ):
        with pytest.raises(tba.KindError) as raised:
            question()
        assert str(raised.value) == text


def test_text_that_arrow_cannot_hold():
    labels = pd.Series(["a", "\ud800", "a", "\ud800"], dtype=object)
    frame = pd.DataFrame({"y_true": labels, "y_pred": labels, "g": labels})
    assert frame.tba.metrics(by="g", metrics="accuracy")["accuracy"].tolist() == [1, 1]
    assert frame.tba.confusion_matrix().index.tolist() == ["a", "\ud800"]


@pytest.mark.parametrize("value", ["1e99999999", "1e-99999999"])
def test_decimals_of_any_size_are_labels_and_keys_at_once(value):
    huge = pd.Series([Decimal(value), 1, 1], dtype=object)
    frame = pd.DataFrame({"y_true": huge, "y_pred": huge, "g": huge})
    assert sorted(frame.tba.metrics(by="g", metrics="accuracy")["n"]) == [1, 2]


@pytest.mark.parametrize("where", ["y_true", "g"])
def test_a_signaling_nan_is_neither_label_nor_key(where):
    frame = pd.DataFrame({"y_true": [0, 1], "y_pred": [0, 1], "g": ["a", "b"]}).astype(object)
    frame.loc[0, where] = Decimal("sNaN")
    with pytest.raises(tba.KindError) as raised:
        frame.tba.score(by="g")
    assert str(raised.value) == (
        f"Column '{where}' holds a Decimal (Decimal('sNaN')), which is neither a label nor a key. "
        "Convert it, for example with astype(str)."
    )
