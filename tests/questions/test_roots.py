"""All real roots of a sum of exponentials, against exact arithmetic and polynomial roots."""

import itertools
import json
import math
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import polynomial

from pandas_tba.questions import roots
from pandas_tba.questions.roots import real_roots, roots_of_each

GOLDEN = Path(__file__).parents[1] / "golden" / "golden-tba.json"
PAIRS = json.loads(GOLDEN.read_text(encoding="utf-8"))["crossings"]
HALVES = 2.0 ** -np.arange(12)  # with these bases the sum is a polynomial in x = 2**-t


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
def test_golden_pairs(pair):
    support = np.array(pair["n"], dtype=float)
    difference = (np.array(pair["correct_A"]) - pair["correct_B"]) / support
    found = real_roots(difference, support)
    assert found.at.tolist() == pytest.approx(pair["roots"], abs=1e-14)
    assert found.is_touch.tolist() == pair["touch"]
    assert len(found.at) + found.is_touch.sum() <= pair["descartes_bound"]
    if "sign_at_minus3" in pair:
        assert found.signs[[0, -1]].tolist() == [pair["sign_at_minus3"], pair["sign_at_plus3"]]


def evaluated(coefficients, x):
    total = Fraction(0)
    for coefficient in reversed(coefficients):
        total = total * x + coefficient
    return total


def derived(coefficients):
    return [at * value for at, value in enumerate(coefficients)][1:]


def trimmed(coefficients):
    while coefficients and coefficients[-1] == 0:
        coefficients = coefficients[:-1]
    return coefficients


def remainder(dividend, divisor):
    while len(dividend) >= len(divisor):
        factor = dividend[-1] / divisor[-1]
        shift = len(dividend) - len(divisor)
        dividend = [
            value - (factor * divisor[at - shift] if at >= shift else 0)
            for at, value in enumerate(dividend)
        ][:-1]
    return trimmed(dividend)


def changes(values):
    signs = [value > 0 for value in values if value != 0]
    return sum(first != second for first, second in itertools.pairwise(signs))


def number_of_positive_roots(coefficients):
    """Different positive roots by Sturm's theorem, in exact arithmetic."""
    chain = [trimmed([Fraction(value) for value in coefficients])]
    while chain[0][0] == 0:
        chain[0] = chain[0][1:]
    chain.append(trimmed(derived(chain[0])))
    while chain[-1]:
        chain.append([-value for value in remainder(chain[-2], chain[-1])])
    chain = chain[:-1]
    return changes([part[0] for part in chain]) - changes([part[-1] for part in chain])


@settings(max_examples=400)
@given(st.lists(st.integers(-9, 9), min_size=1, max_size=len(HALVES)))
def test_no_root_is_missed_or_invented(coefficients):
    found = real_roots(np.array(coefficients, dtype=float), HALVES[: len(coefficients)])
    if not any(coefficients):
        assert len(found.at) == 0
        assert found.signs.tolist() == [0]
        return
    assert len(found.at) == number_of_positive_roots(coefficients)
    assert len(found.at) + found.is_touch.sum() <= changes(coefficients)
    for place, is_touch in zip(found.at, found.is_touch, strict=True):
        about = [Fraction(2.0**-t) for t in (place - 1e-6, place + 1e-6)]
        # the sum changes its sign at a crossing, its derivative at a touch
        terms = derived(coefficients) if is_touch else coefficients
        first, second = (evaluated(terms, x) for x in about)
        assert first * second < 0


@settings(max_examples=300)
@given(st.lists(st.integers(-8, 8), min_size=1, max_size=8, unique=True))
def test_places_are_the_roots_of_a_polynomial(quarters):
    expected = sorted(quarter / 4 for quarter in quarters)
    coefficients = polynomial.polyfromroots([2.0**-t for t in expected])
    found = real_roots(coefficients, HALVES[: len(coefficients)])
    assert found.at.tolist() == pytest.approx(expected, abs=1e-9)
    assert not found.is_touch.any()


@pytest.mark.parametrize(
    ("factors", "expected", "is_touch", "precision"),
    [
        ([1, 1], [0], [True], 1e-9),
        ([1, 1, 0.5], [0, 1], [True, False], 1e-9),
        ([1, 1, 1], [0], [False], 1e-5),
        ([1, 1, 1, 1], [0], [True], 1e-4),
        ([0.5, 0.5, 2, 2], [-1, 1], [True, True], 1e-9),
        ([1, 1 + 1e-5], [-1.4426878e-5, 0], [False, False], 1e-10),
    ],
)
def test_multiple_and_close_roots(factors, expected, is_touch, precision):
    coefficients = polynomial.polyfromroots(factors)
    found = real_roots(coefficients, HALVES[: len(coefficients)])
    assert found.at.tolist() == pytest.approx(expected, abs=precision)
    assert found.is_touch.tolist() == is_touch


@pytest.mark.parametrize(
    ("coefficients", "bases", "expected", "signs"),
    [
        ([], [], [], [0]),
        ([0.0, 0.0], [0.9, 0.1], [], [0]),
        ([0.1], [1.0], [], [1]),
        ([0.1, 0.2], [0.9, 0.1], [], [1]),
        ([0.3, -0.1, -0.2], [0.8, 0.2, 0.2], [math.log(1) / math.log(4)], [-1, 1]),
        ([0.1, 0.2, -0.3], [0.5, 0.5, 0.5], [], [0]),  # only rounding keeps 0.1 + 0.2 from 0.3
        ([0.2, -0.1], [1.0, 1.0 - 1e-6], [math.log(2) / math.log1p(-1e-6)], [-1, 1]),
        ([0.5, -0.5], [1e300, 1e-300], [0.0], [-1, 1]),
    ],
)
def test_few_terms_and_equal_bases(coefficients, bases, expected, signs):
    found = real_roots(np.array(coefficients), np.array(bases))
    assert found.at.tolist() == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert found.signs.tolist() == signs


FIVE = st.lists(st.integers(-9, 9), min_size=5, max_size=5)


@given(st.lists(st.tuples(FIVE, st.permutations(range(5))), min_size=1, max_size=20))
def test_many_sums_at_once_have_the_roots_of_each(sums):
    coefficients = np.array([row for row, _ in sums], dtype=float)
    bases = HALVES[np.array([order for _, order in sums])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(roots, "_TERMS_AT_A_TIME", 37)  # seven sums
        found = roots_of_each(coefficients, bases)
    assert (np.diff(found.of) >= 0).all()
    for at, sign in enumerate(found.first_sign):
        alone, mine = real_roots(coefficients[at], bases[at]), found.of == at
        assert found.at[mine].tolist() == pytest.approx(alone.at.tolist(), abs=1e-12)
        assert found.is_touch[mine].tolist() == alone.is_touch.tolist()
        assert [sign, *found.signs_below[mine][1:]] == alone.signs[: max(1, mine.sum())].tolist()
        assert mine.sum() == 0 or found.signs_below[mine][0] == sign


@given(st.permutations(range(6)), st.floats(0.01, 1e6))
def test_order_and_scale_of_the_terms_do_not_matter(order, scale):
    coefficients = np.array([0.1, -0.35, 0.35, -0.1, 0.02, -0.01])
    bases = np.array([80.0, 40.0, 20.0, 10.0, 5.0, 2.0])
    once = real_roots(coefficients, bases)
    again = real_roots(coefficients[order] * scale, bases[order] * scale)
    assert again.at.tolist() == pytest.approx(once.at.tolist(), abs=1e-11)


def test_a_thousand_terms_take_milliseconds():
    draws = np.random.default_rng(3)
    coefficients, bases = draws.normal(size=1000), draws.uniform(size=1000)
    found = real_roots(coefficients, bases)
    start = time.perf_counter()
    real_roots(coefficients, bases)
    assert time.perf_counter() - start < 0.1  # 2 ms where nothing else runs
    order = np.argsort(bases)
    assert found.signs[[0, -1]].tolist() == np.sign(coefficients[order][[0, -1]]).tolist()
    assert len(found.at) % 2 == changes(coefficients[order]) % 2
