"""The exact posterior: values to 15 digits, scipy's Beta, and sums that are known."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from pandas_tba import InputError
from pandas_tba.inference import posteriors as bayes
from pandas_tba.inference.posteriors import check_above, prior_rows, weighted_beta

GOLDEN = Path(__file__).parents[1] / "golden"
POSTERIORS = json.loads((GOLDEN / "golden-tba.json").read_text(encoding="utf-8"))["posteriors"]
BALANCED = json.loads((GOLDEN / "golden-metrics.json").read_text(encoding="utf-8"))[
    "posterior_balanced_accuracy"
]["cases"]
CLOSE = {"rel": 0, "abs": 1e-8}
parameters = st.floats(0.5, 200)
classes = st.lists(st.tuples(parameters, parameters, st.floats(0.01, 1)), min_size=1, max_size=5)


def posterior_of(first, second, weights, *, level=0.95, above=0.5):
    arrays = (np.array(values, dtype=float) for values in (first, second, weights))
    return weighted_beta(*arrays, level=level, above=above)


@pytest.mark.parametrize("case", POSTERIORS, ids=lambda case: case["name"])
def test_stored_posteriors(case):
    expected = [case[name] for name in ("mean", "median", "lo", "hi", "p_gt_half")]
    assert list(posterior_of(case["a"], case["b"], case["w"])) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("case", BALANCED, ids=lambda case: str(case["tp"]))
def test_stored_balanced_accuracy(case):
    first, second = [case["tp"] + 1, case["tn"] + 1], [case["fn"] + 1, case["fp"] + 1]
    found = posterior_of(first, second, [0.5, 0.5])
    expected = [case["mean"], case["median"], *case["ppi95"], 1 - case["prob_le_half"]]
    assert list(found) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("first", "second"),
    [(1, 1), (4, 1), (1, 22), (0.5, 0.5), (0.5, 12.5), (30, 2), (1e7, 1), (1, 1e7), (0.5, 1e7)],
)
def test_one_class_has_scipys_beta(first, second, level):
    beta = stats.beta(first, second)
    tail = (1 - level) / 2
    expected = [beta.mean(), beta.median(), beta.ppf(tail), beta.ppf(1 - tail), beta.sf(0.6)]
    found = posterior_of([first], [second], [1.0], level=level, above=0.6)
    assert list(found) == pytest.approx(expected, **CLOSE)


@pytest.mark.parametrize(
    ("first", "second", "weights"),
    [
        ([8, 63], [3, 28], [0.2, 0.8]),
        ([1, 1], [1, 5], [0.5, 0.5]),
        ([0.5, 9], [0.5, 2], [0.3, 0.7]),
        ([8e5, 3e4], [2e5, 1e4], [0.3, 0.7]),
    ],
)
def test_two_classes_are_the_integral_over_one(first, second, weights):
    one, other = (stats.beta(a, b) for a, b in zip(first, second, strict=True))
    for above in (0.3, 0.6, 0.8):
        expected, _ = integrate.quad(
            lambda share, above=above: other.sf((above - weights[0] * one.ppf(share)) / weights[1]),
            0,
            1,
            limit=500,
        )
        found = posterior_of(first, second, weights, above=above).p_above
        assert found == pytest.approx(expected, abs=1e-7)


def test_many_uniform_recalls_have_the_distribution_of_irwin_and_hall():
    n = 6
    found = posterior_of([1] * n, [1] * n, [1 / n] * n, above=0.4)
    below = sum((-1) ** k * math.comb(n, k) * (0.4 * n - k) ** n for k in range(3))
    assert found.p_above == pytest.approx(1 - below / math.factorial(n), **CLOSE)
    assert found.median == pytest.approx(0.5, **CLOSE)


@pytest.mark.parametrize("rows", [3, 100, 10**7])
def test_fifty_classes(rows):
    random = np.random.default_rng(2)
    hits = np.floor(rows * random.uniform(0.6, 1, 50))
    weights = random.dirichlet(np.ones(50))
    found = posterior_of(hits + 1, rows - hits + 1, weights)
    means = (hits + 1) / (rows + 2)
    deviation = math.sqrt((weights**2 * means * (1 - means) / (rows + 3)).sum())
    assert found.mean == pytest.approx(weights @ means, rel=1e-12)
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * deviation, rel=0.02)
    assert found.median == pytest.approx(found.mean, abs=0.1 * deviation)


@settings(max_examples=40)
@given(classes)
def test_right_and_wrong_change_places(classes):
    first, second, weights = np.array(classes).T
    weights = weights / weights.sum()
    found = posterior_of(first, second, weights, above=0.4)
    mirrored = posterior_of(second, first, weights, above=0.6)
    assert 0 <= found.low < found.median < found.high <= 1
    expected = [1 - mirrored.mean, 1 - mirrored.median, 1 - mirrored.high, 1 - mirrored.low]
    assert list(found)[:4] == pytest.approx(expected, **CLOSE)
    assert found.p_above == pytest.approx(1 - mirrored.p_above, **CLOSE)


@pytest.mark.parametrize("above", [0.49999, 0.5, 0.500003])
def test_a_billion_rows_are_as_good_as_normal(above):
    first, second = np.array([1e9 + 63, 1e9 + 8]), np.array([1e9 + 27, 1e9])
    found = posterior_of(first, second, [0.5, 0.5], above=above)
    mean = (first / (first + second)).mean()
    rows = first + second
    deviation = math.sqrt((first * second / rows**2 / (rows + 1)).sum()) / 2
    normal = stats.norm(mean, deviation)
    expected = [mean, mean, normal.ppf(0.025), normal.ppf(0.975), normal.sf(above)]
    assert list(found) == pytest.approx(expected, **CLOSE)


def test_classes_without_weight_change_nothing():
    alone = posterior_of([8], [3], [1.0])
    assert list(posterior_of([8, 2, 5], [3, 1, 5], [1.0, 0.0, 0.0])) == list(alone)
    negligible = posterior_of([8, 2], [3, 1], [1.0, 1e-300])
    assert list(negligible) == pytest.approx(list(alone), **CLOSE)


@pytest.mark.parametrize(("above", "expected"), [(-1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (7.0, 0.0)])
def test_thresholds_outside(above, expected):
    found = posterior_of([8, 3], [3, 8], [0.5, 0.5], above=above).p_above
    assert found == pytest.approx(expected, **CLOSE)


def test_a_coarse_end_is_halved_on(monkeypatch):
    monkeypatch.setattr(bayes, "_LAST_POWER", 12)
    rough = posterior_of([481, 1], [1, 21], [0.5, 0.5])
    monkeypatch.undo()
    found = posterior_of([481, 1], [1, 21], [0.5, 0.5])
    assert abs(found.p_above - 481 / 502) < 1e-8 < abs(rough.p_above - 481 / 502)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [("uniform", (1, 1)), ("jeffreys", (0.5, 0.5)), ((2, 3.5), (2, 3.5)), ([1, 1], (1, 1))],
)
def test_priors(prior, expected):
    assert prior_rows(prior) == expected


@pytest.mark.parametrize(
    ("check", "value", "text"),
    [
        (
            prior_rows,
            "uniforn",
            "`prior` must be one of 'uniform', 'jeffreys'; got 'uniforn'. Did you mean 'uniform'?",
        ),
        (
            prior_rows,
            (0, 1),
            (
                "`prior` must be one of 'uniform', 'jeffreys', or two positive numbers, the parameters "
                "of a Beta distribution; got (0, 1)."
            ),
        ),
        (
            prior_rows,
            1,
            (
                "`prior` must be one of 'uniform', 'jeffreys', or two positive numbers, the parameters "
                "of a Beta distribution; got 1."
            ),
        ),
        (
            check_above,
            math.nan,
            "`above` must be a finite number, or None for 1/K; got nan.",
        ),
    ],
)
def test_errors(check, value, text):
    with pytest.raises(InputError) as caught:
        check(value)
    assert str(caught.value) == text
