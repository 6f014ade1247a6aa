"""Scores in a frame: the accessor answers as the functions over arrays do."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import pandas_tba as tba

GENERATOR = np.random.default_rng(8)
N = 400
FRAME = pd.DataFrame(
    {
        "y": np.where(GENERATOR.random(N) < 0.3, "yes", "no"),
        "p": GENERATOR.random(N).round(2),
        "q": GENERATOR.random(N).round(2),
        "g": pd.Categorical(GENERATOR.choice(["lo", "hi"], N), categories=["lo", "hi"]),
    },
    index=np.arange(N) * 2,
)
DOOR = FRAME.tba(y_true="y", y_score="p", pos_label="yes")


@pytest.mark.parametrize("t", [0.5, [0, 1]], ids=str)
@pytest.mark.parametrize("by", [None, "g", ["g"]], ids=str)
@pytest.mark.parametrize("name", ["sweep", "best_threshold"])
def test_the_door_answers_as_the_function(name, by, t):
    groups = None if by is None else FRAME["g"]
    expected = getattr(tba, name)(FRAME["y"], FRAME["p"], pos_label="yes", groups=groups, t=t)
    assert_frame_equal(getattr(DOOR, name)(by=by, t=t), expected)


def test_several_models_stand_in_front():
    both = FRAME.tba(y_true="y", y_score=["p", "q"], pos_label="yes").best_threshold(by="g")
    assert both.index.names == ["model", "g"]
    for name in ("p", "q"):
        alone = FRAME.tba(y_true="y", y_score=name, pos_label="yes").best_threshold(by="g")
        assert_frame_equal(both.loc[name], alone, check_names=False)
    long = FRAME.melt(["y", "g"], ["p", "q"], "m", "score")
    rows = long.tba(y_true="y", y_score="score", model="m", pos_label="yes")
    assert_frame_equal(rows.best_threshold(by="g"), both, check_index_type=False)


def test_the_best_threshold_scores_what_score_says():
    best = DOOR.best_threshold(t=0.2)
    threshold, score = best["threshold"].item(), best["score"].item()
    at_best = FRAME.tba(y_true="y", y_score="p", threshold=threshold, pos_label="yes")
    assert at_best.score(t=0.2) == pytest.approx(score, abs=1e-12)


def test_missing_values_and_missing_keys():
    holed = FRAME.assign(p=FRAME["p"].mask(FRAME.index < 20), g=FRAME["g"].mask(FRAME.index > 780))
    door = holed.tba(y_true="y", y_score="p", pos_label="yes")
    with pytest.raises(tba.InputError, match=r"^Missing values in 'p' \(10 of 400 rows\)"):
        door.sweep()
    dropped = holed.tba(y_true="y", y_score="p", pos_label="yes", missing="drop")
    kept = dropped.best_threshold(by="g")
    assert kept["n"].sum() == 390
    assert kept.index.isna().tolist() == [False, False, True]
    assert dropped.best_threshold(by="g", dropna=True).equals(kept.iloc[:2])


ERRORS = {
    "no scores": (
        lambda: FRAME.tba(y_true="y", y_pred="y").sweep(),
        (
            "No scores are bound; thresholds need them. Name their column: "
            "df.tba(y_true='y', y_score='p', pos_label=...).sweep(t=0.5)."
        ),
    ),
    "weights": (
        lambda: FRAME.tba(y_true="y", y_score="p", sample_weight="q").best_threshold(),
        (
            "`sample_weight` ('q') cannot be used with thresholds, which count rows. Leave it out; "
            "score(t=...) of one threshold takes weights."
        ),
    ),
    "no positive label": (
        lambda: FRAME.tba(y_true="y", y_score="p").sweep(),
        (
            "`y_score` predicts one of two classes, and none is known to be positive. Name it, as in "
            "df.tba(pos_label='yes'). Classes: 'no', 'yes'."
        ),
    ),
    "three classes": (
        lambda: FRAME.tba(y_true="p", y_score="q", pos_label=0.5).sweep(),
        "`pos_label` needs two classes, and y_true holds 9",
    ),
    "no probabilities": (
        DOOR.decide,
        (
            "decide() needs the probability of every class: df.tba(y_true='y', "
            "y_score={'no': 'p_no', 'yes': 'p_yes'}).decide(t=0.5)."
        ),
    ),
    "a class without probabilities": (
        lambda: FRAME.tba(y_true="y", y_score={"no": "p", "maybe": "q"}).decide(),
        (
            "`y_score` must name a column for each label of y_true; classes without rows: 'maybe'; "
            "labels without a column: 'yes'. Pass prevalence={label: share} to decide for classes that "
            "have no rows here."
        ),
    ),
}


@pytest.mark.parametrize(("ask", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(ask, text):
    with pytest.raises(tba.InputError) as raised:
        ask()
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize("t", [1, 0.5, 0, -1])
def test_decisions_are_aligned_with_the_frame(t):
    frame = FRAME.assign(rest=1 - FRAME["p"])
    door = frame.tba(y_true="y", y_score={"no": "rest", "yes": "p"})
    share = FRAME["y"].value_counts(normalize=True)
    decided = door.decide(t=t)
    assert decided.index.equals(FRAME.index)
    closed = share["no"] ** (t - 1) / (share["no"] ** (t - 1) + share["yes"] ** (t - 1))
    expected = np.where(FRAME["p"] >= closed, "yes", "no")
    assert decided.tolist() == expected.tolist()
    assert_series_equal(door.decide(t=t, prevalence=share), decided)
