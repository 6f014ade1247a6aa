"""Paired differences agree with worked values, with enumeration and with outside witnesses."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar

import pandas_tba as tba
from pandas_tba.engines.dispatch import count_pairs
from pandas_tba.inference import pvalues as significance
from pandas_tba.inference.pvalues import holm, paired_mid_p
from pandas_tba.questions.models import compare

GOLDEN = Path(__file__).parents[1] / "golden" / "golden-tba.json"
PAIRED = json.loads(GOLDEN.read_text(encoding="utf-8"))["paired_example"]
EXACT = {"rel": 1e-10, "abs": 1e-10}


def frame_of(*classes, **columns):
    """Rows of binary labels from (both, only a, only b, neither) of class 0, then of class 1."""
    rows = []
    for k, numbers in enumerate(classes):
        for (a, b), n in zip(
            [(k, k), (k, 1 - k), (1 - k, k), (1 - k, 1 - k)], numbers, strict=True
        ):
            rows += [(k, a, b)] * n
    return pd.DataFrame(rows, columns=["y_true", "a", "b"], dtype="int64").assign(**columns)


def paired(*classes, **columns):
    return count_pairs(frame_of(*classes, **columns), y_pred=["a", "b"], by=list(columns) or None)


EXAMPLE = [
    [row[name] for name in ("both", "A_only", "B_only", "neither")] for row in PAIRED["classes"]
]


@pytest.mark.parametrize("t", PAIRED["t"])
def test_worked_example(t):
    expected = PAIRED["t"][t]
    own = compare(paired(*EXAMPLE), t=float(t)).iloc[0]
    given_shares = compare(paired(*EXAMPLE), t=float(t), prevalence={0: 0.9, 1: 0.1}).iloc[0]
    assert own["difference"] == pytest.approx(expected["D"], **EXACT)
    assert own["se"] == pytest.approx(expected["se_multinomial_half"], **EXACT)
    assert given_shares["se"] == pytest.approx(expected["se_fixed_half"], **EXACT)
    assert own["p_value"] == pytest.approx(expected["p_mid"], **EXACT)
    half_width = 1.959963984540054 * own["se"]
    assert own["high"] - own["difference"] == pytest.approx(half_width, **EXACT)
    assert own["difference"] - own["low"] == pytest.approx(half_width, **EXACT)
    assert [own["discordant"], own["n"], own["min_support"]] == [16, 100, 10]


def mcnemar_mid_p(b, c):
    """Exact two-sided p less half the probability of the outcome and of its mirror image."""
    atom = stats.binom.pmf(b, b + c, 0.5)
    return stats.binomtest(b, b + c).pvalue - atom / (2 if b == c else 1)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 5), st.integers(0, 5))
def test_mcnemar(b, c, more_b, more_c):
    row = compare(paired([3, b, c, 1], [2, more_b, more_c, 1]), t=1).iloc[0]
    b, c = b + more_b, c + more_c
    assert row["p_value"] == pytest.approx(mcnemar_mid_p(b, c) if b + c else 1.0, rel=1e-9)


def test_mcnemar_of_statsmodels():
    witness = mcnemar([[80, 12], [25, 8]], exact=True).pvalue
    row = compare(paired([80, 12, 25, 8], [1, 0, 0, 0]), t=1).iloc[0]
    assert row["p_value"] == pytest.approx(witness - stats.binom.pmf(12, 37, 0.5), rel=1e-9)


def enumerated(weights, first, second):
    numbers = [a + b for a, b in zip(first, second, strict=True)]
    value = abs(sum(w * (a - b) for w, a, b in zip(weights, first, second, strict=True)))
    p = 0.0
    for heads in itertools.product(*(range(n + 1) for n in numbers)):
        mass = math.prod(math.comb(n, j) / 2**n for n, j in zip(numbers, heads, strict=True))
        found = abs(sum(w * (2 * j - n) for w, n, j in zip(weights, numbers, heads, strict=True)))
        p += mass * (0.5 if abs(found - value) < 1e-9 else found > value)
    return p


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0.5, 1, 0.25, 0.3, 1 / 3]), st.integers(0, 5), st.integers(0, 5)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_mid_p_by_enumeration(classes):
    weights, first, second = (np.array(part, dtype=float) for part in zip(*classes, strict=True))
    numbers = [part.astype(int).tolist() for part in (first, second)]
    expected = enumerated(weights.tolist(), *numbers) if (first + second).any() else 1.0
    assert paired_mid_p(weights, first, second) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("number", [10, 11, 1000, 10**6])
@pytest.mark.parametrize("z", [0.0, 1.0, 3.0, 7.0])
def test_mid_p_of_one_class_is_binomial(number, z):
    more = min(number, math.ceil(number / 2 + z * math.sqrt(number) / 2))
    atom = stats.binom.pmf(more, number, 0.5)
    expected = 2 * stats.binom.sf(more, number, 0.5) + atom
    if 2 * more == number:
        expected = 1 - atom / 2
    found = paired_mid_p(np.array([0.3]), np.array([more * 1.0]), np.array([number - more * 1.0]))
    assert found == pytest.approx(expected, rel=1e-8)


SIZES = [[1] * 24, [4] * 12, [9] * 9, [35] * 6, [190] * 4, [2000, 50, 50, 30], [900] * 3]


@pytest.mark.parametrize("numbers", SIZES, ids=str)
def test_mid_p_on_a_lattice_agrees_with_the_exact_one(numbers, monkeypatch):
    random, numbers = np.random.default_rng(0), np.array(numbers, dtype=float)
    for z in (0.3, 1.0, 2.0, 3.5):
        weights = np.exp(random.normal(size=len(numbers)))
        pull = z * weights * numbers / np.sqrt((weights**2 * numbers).sum())
        first = np.round((numbers + pull) / 2).clip(0, numbers)
        exact = paired_mid_p(weights, first, numbers - first)
        with monkeypatch.context() as patch:
            patch.setattr(significance, "_MOST_ATOMS", 1)
            found = paired_mid_p(weights, first, numbers - first)
        assert found == pytest.approx(exact, rel=1e-3 if exact > 1e-4 else 2e-2)


def test_mid_p_of_a_million_discordant_rows_in_each_class():
    first = np.array([500_900.0, 499_000.0, 500_300.0])
    weights = np.array([1.0, 0.31, 0.123])
    z = (weights * (2 * first - 1e6)).sum() / math.sqrt((weights**2).sum() * 1e6)
    expected = 2 * stats.norm.sf(z)
    assert paired_mid_p(weights, first, 1e6 - first) == pytest.approx(expected, rel=1e-3)


def test_every_row_speaks_for_one_model():
    everything = np.full(40, 30.0)
    found = paired_mid_p(np.linspace(1, 2, 40), everything, 0 * everything)
    assert found == pytest.approx(2.0**-1200, rel=1e-9)


def test_no_discordant_row():
    row = compare(paired([5, 0, 0, 2], [3, 0, 0, 1]), t=0).iloc[0]
    assert row[["difference", "p_value", "p_adjusted", "discordant"]].tolist() == [0, 1, 1, 0]
    assert row["low"] < 0 < row["high"]


def slow_difference(frame, t):
    scores = [tba.score(tba.count(frame, y_pred=name), t=t) for name in ("a", "b")]
    return scores[0] - scores[1]


@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.sampled_from([-math.inf, -1e300, -40.0, -0.5, 0.0, 0.5, 1.0, 1e300, math.inf]),
)
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_difference_is_that_of_the_scores_and_signs_turn(first, second, t):
    frame = frame_of(first, second)
    row = compare(count_pairs(frame, y_pred=["a", "b"]), t=t).iloc[0]
    assert row["difference"] == pytest.approx(slow_difference(frame, t), nan_ok=True, abs=1e-12)
    assert (row["reason"] != "") == math.isnan(row["difference"])
    if row["reason"] == "":
        assert -1 <= row["low"] <= row["difference"] <= row["high"] <= 1
        assert 0 <= row["p_value"] <= row["p_adjusted"] <= 1
    turned = compare(count_pairs(frame, y_pred=["b", "a"]), t=t).iloc[0]
    same = ["n", "se", "p_value", "discordant", "reason"]
    pd.testing.assert_series_equal(row[same], turned[same], check_names=False)
    assert turned["difference"] == pytest.approx(-row["difference"], nan_ok=True, abs=1e-12)


def test_absent_class():
    table = compare(paired([6, 2, 1, 1], [0, 0, 0, 0]), t=[0, 0.5, 1])
    assert table["reason"].tolist() == ["no rows of 1", "", ""]
    assert table["n_absent"].tolist() == [1, 1, 1]
    columns = ["difference", "low", "high", "se", "p_value", "p_adjusted"]
    assert table[columns].isna().all(axis=1).tolist() == [True, False, False]
    common = compare(paired([6, 2, 1, 1], [0, 0, 0, 0]), t=1, prevalence={0: 0.5, 1: 0.5})
    assert common["reason"].tolist() == ["no rows of 1"]


def test_pooled_prevalence_is_that_of_all_groups():
    parts = [frame_of([50, 9, 4, 3], [5, 1, 3, 1]), frame_of([20, 5, 5, 0], [9, 9, 3, 2])]
    frame = pd.concat([part.assign(g=name) for part, name in zip(parts, "xy", strict=True)])
    pairs = count_pairs(frame, y_pred=["a", "b"], by="g")
    shares = frame["y_true"].value_counts(normalize=True)
    pooled, fixed = (compare(pairs, t=0.5, prevalence=of) for of in ("pooled", shares))
    assert pooled["difference"].tolist() == pytest.approx(fixed["difference"].tolist(), **EXACT)
    assert (pooled["se"] > fixed["se"]).all()
    assert compare(pairs.pooled(), prevalence="pooled")["se"].tolist() == pytest.approx(
        compare(pairs.pooled())["se"].tolist(), **EXACT
    )


def test_shape_and_attrs():
    frame = frame_of([50, 9, 4, 3], [5, 1, 3, 1]).assign(c=0, g="x")
    pairs = count_pairs(frame, y_pred=["a", "b", "c"], by="g")
    table = compare(pairs, t=[0, 1])
    assert table.index.names == ["model_a", "model_b", "g", "t"]
    assert table.index[:2].tolist() == [("a", "b", "x", 0.0), ("a", "b", "x", 1.0)]
    assert len(table) == 3 * 2
    assert table.attrs["tba"] == {
        "classes": ["0", "1"], "t": ["0", "1"], "chance": 0.5, "prevalence": "own",
    }  # fmt: skip
    assert table["p_adjusted"].tolist() == pytest.approx(holm(table["p_value"].to_numpy()).tolist())
    empty = compare(count_pairs(frame[:0], y_pred=["a", "b"], by="g"))
    assert len(empty) == 0
    assert empty.columns.tolist() == table.columns.tolist()
    assert compare(count_pairs(frame[:0], y_pred=["a", "b"]))["reason"].tolist() == ["no rows"]


def test_holm():
    found = holm(np.array([0.01, 0.04, np.nan, 0.03, 0.6]))
    assert found.tolist() == pytest.approx([0.04, 0.09, math.nan, 0.09, 0.6], nan_ok=True)


ERRORS = {
    "level": ({"level": 95}, "`level` must be a number between 0 and 1, such as 0.95; got 95."),
    "prevalence": (
        {"prevalence": "common"},
        "`prevalence` must be one of 'own', 'pooled'; got 'common'.",
    ),
}


@pytest.mark.parametrize(("options", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(options, text):
    with pytest.raises(tba.InputError) as caught:
        compare(paired([1, 1, 1, 1], [1, 1, 1, 1]), **options)
    assert str(caught.value) == text


def test_key_with_the_name_of_a_column():
    with pytest.raises(tba.InputError) as caught:
        compare(paired([1, 1, 1, 1], [1, 1, 1, 1], low="x"))
    assert str(caught.value) == (
        "`by`: the key 'low' has the name of a column or level of the result. Rename it, as in "
        "by=df['low'].rename('group')."
    )


def test_counts_of_one_model():
    with pytest.raises(tba.KindError) as caught:
        compare(tba.ConfusionCounts.from_matrix([[1, 1], [1, 1]]))
    assert str(caught.value) == (
        "`pairs` must be PairedCounts; got ConfusionCounts. Count pairs first: "
        "tba.count_pairs(df, y_true='y', y_pred=['a', 'b']), or ask the frame: "
        "df.tba(y_true='y', y_pred=['a', 'b']).compare()."
    )
