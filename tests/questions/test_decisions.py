"""Decisions from probabilities: closed form, optimality by simulation, and whole error texts."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pandas_tba import InputError, KindError, class_weights, tempered_balanced_accuracy_score
from pandas_tba.questions.decisions import decide


@given(
    st.floats(0, 1),
    st.floats(0.001, 0.999),
    st.floats(-50, 50) | st.sampled_from([-math.inf, 0.0, 0.5, 1.0, math.inf]),
)
def test_two_classes_agree_with_the_threshold(probability, prevalence, t):
    shares = [1 - prevalence, prevalence]
    threshold = class_weights(shares, t=t - 1)[0]
    chosen = decide([[1 - probability, probability]], t=t, prevalence=shares)
    if abs(probability - threshold) > 1e-9:
        assert chosen.tolist() == [int(probability >= threshold)]


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (1, ["a", "a", "b"]),
        (0, ["c", "b", "b"]),
        (math.inf, ["a", "a", "b"]),  # the largest class that is possible
        (-math.inf, ["c", "b", "b"]),  # the rarest ones, the likelier of equally rare ones
        (1e308, ["a", "a", "b"]),
    ],
)
def test_frames_give_labels(t, expected):
    probabilities = pd.DataFrame(
        {"a": [0.7, 0.6, 0.0], "b": [0.1, 0.4, 0.9], "c": [0.2, 0.0, 0.1]}, index=[9, 4, 4]
    )
    for prevalence in (
        {"c": 10, "b": 10, "a": 80},
        pd.Series({"b": 10, "a": 80, "c": 10}),
        [80, 10, 10],
    ):
        found = decide(probabilities, t=t, prevalence=prevalence)
        pd.testing.assert_series_equal(
            found, pd.Series(expected, index=[9, 4, 4], name="y_pred"), check_dtype=False
        )
        numbers = decide(probabilities.to_numpy(), t=t, prevalence=[80, 10, 10])
        assert ["abc"[at] for at in numbers] == expected


def test_no_other_rule_beats_it_beyond_noise():
    draws = np.random.default_rng(5)
    probabilities = draws.dirichlet([4.0, 1.0, 0.5], size=60_000)
    cumulated = probabilities.cumsum(axis=1)
    truth = (draws.uniform(size=(60_000, 1)) > cumulated).sum(axis=1).clip(max=2)
    prevalence = np.bincount(truth) / len(truth)
    for t in (-0.5, 0, 0.5, 1):
        best = decide(probabilities, t=t, prevalence=prevalence)
        score = tempered_balanced_accuracy_score(truth, best, t=t)
        others = [
            decide(probabilities, t=t + shift, prevalence=prevalence) for shift in (-0.5, 0.5)
        ]
        tilts = np.exp(draws.normal(scale=0.5, size=(20, 3)))
        others += [decide(probabilities, t=t, prevalence=prevalence * tilt) for tilt in tilts]
        scores = [tempered_balanced_accuracy_score(truth, other, t=t) for other in others]
        assert max(scores) < score + 0.003
        assert min(scores) < score - 0.01  # the others do differ


def test_result_types_depend_on_the_argument_alone():
    frame = pd.DataFrame({0: [0.5], 1: [0.5]})
    assert isinstance(decide(frame, prevalence=[1, 1]), pd.Series)
    assert isinstance(decide(frame.to_numpy(), prevalence=[1, 1]), np.ndarray)
    assert decide([[0.5, 0.5]], prevalence={0: 1, 1: 1}).tolist() == [1]  # the last of equals
    assert len(decide(frame.iloc[:0], prevalence=[1, 1])) == 0
    nullable = frame.astype("Float64")
    assert decide(nullable, prevalence=[9, 1], t=0).tolist() == [1]


@pytest.mark.parametrize(
    ("probabilities", "prevalence", "kind", "text"),
    [
        (
            [[0.5, 0.5], [0.5, math.nan], [-0.5, 1.5], [0.5, 0.6], [math.inf, 0]],
            [1, 1],
            InputError,
            (
                "`probabilities` must not be negative and add up to 1 in each row; of 5 rows, 1 with "
                "missing values, 1 with negative ones, 2 whose sum is more than 1e-06 from 1. Leave "
                "these rows out, or divide each row by its sum."
            ),
        ),
        (
            [0.2, 0.8],
            [1, 1],
            InputError,
            (
                "`probabilities` must have one row for each case and one column for each class; got "
                "shape (2,). Of two classes pass both: np.column_stack([1 - p, p])."
            ),
        ),
        (
            pd.DataFrame({"a": ["x"]}),
            [1],
            KindError,
            "`probabilities` must hold numbers; got DataFrame with others.",
        ),
        (
            pd.DataFrame({"a": [0.5], "b": [0.5]}),
            {"a": 1, "c": 1},
            InputError,
            (
                "`prevalence` must hold one share for each column of `probabilities`; it lacks 'b' and "
                "names 'c' beyond them. Columns: 'a', 'b', each of which must occur once."
            ),
        ),
        (
            [[0.5, 0.5]],
            [1, 1, 1],
            InputError,
            (
                "`prevalence` must hold one share for each column of `probabilities`; it lacks 0, 1 and "
                "names nothing beyond them. Columns: 0, 1, each of which must occur once."
            ),
        ),
        (
            [[0.5, 0.5]],
            [1, 0],
            InputError,
            "`prevalence` must be finite and greater than 0 for every class; got [1, 0].",
        ),
    ],
)
def test_errors_say_what_to_do(probabilities, prevalence, kind, text):
    with pytest.raises(kind) as caught:
        decide(probabilities, prevalence=prevalence)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("p", "t", "prevalence"),
    [(0.5, 1, [3, 7]), (0.6, 0.5, [4, 9]), (0.9, 0, [1, 9]), (0.1, 0, [9, 1])],
)
def test_the_positive_class_wins_at_its_threshold(p, t, prevalence):
    below = np.nextafter(p, 0) - 1e-9
    found = decide([[1 - p, p], [1 - below, below]], t=t, prevalence=prevalence)
    assert found.tolist() == [1, 0]
