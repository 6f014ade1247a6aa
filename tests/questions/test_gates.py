"""Gates: what passes, what fails, and what nobody can know."""

import math

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import pandas_tba as tba
from pandas_tba.questions.gates import check


def counts_of(matrices, groups="abcdefgh", **options):
    names = pd.Index(list(groups)[: len(matrices)], name="g")
    return tba.ConfusionCounts.from_matrix(matrices, groups=names, **options)


RECALLS = counts_of([[[10, 0], [10 - hits, hits]] for hits in (9, 6, 7)])
ABSENT = counts_of([[[5, 0], [0, 5]], [[10, 0], [0, 0]]])  # perfect, but b has no positive row
BAD_ABSENT = counts_of([[[0, 5], [5, 0]], [[10, 0], [0, 0]]])  # a is always wrong

RULES = {
    "gap met to the last digit": (RECALLS, {"max_gap": 0.3}, ["pass"], True),
    "gap broken": (RECALLS, {"max_gap": 0.29}, ["fail"], False),
    "ratio met": (RECALLS, {"min_ratio": 2 / 3}, ["pass"], True),
    "ratio broken": (RECALLS, {"min_ratio": 0.8}, ["fail"], False),
    "scores": (RECALLS, {"min_score": 0.7}, ["pass", "fail", "pass"], False),
    "absent class": (ABSENT, {"max_gap": 1.0, "min_ratio": 0.0}, ["undetermined"] * 2, False),
    "score of an absent class": (ABSENT, {"min_score": 0.5}, ["pass", "undetermined"], False),
    "left out": (ABSENT, {"max_gap": 0.5, "min_support": 1}, ["undetermined"], False),
}


@pytest.mark.parametrize(("counts", "rules", "statuses", "passed"), RULES.values(), ids=RULES)
def test_rules(counts, rules, statuses, passed):
    found = check(counts, metrics="recall", level=None, **rules)
    assert found.table["status"].tolist() == statuses
    assert found.table[["low", "high"]].isna().all(axis=None)
    assert found.passed is passed


# recalls 0.9, 0.6 and 0.7 of a thousand rows: limits within 0.04 of the value
MANY = counts_of([[[1000, 0], [1000 - hits, hits]] for hits in (900, 600, 700)])
JUDGED = {
    "few rows decide nothing": (RECALLS, {"max_gap": 0.2}, ["undetermined"]),
    "gap kept": (MANY, {"max_gap": 0.36}, ["pass"]),
    "gap may be kept": (MANY, {"max_gap": 0.3}, ["undetermined"]),
    "gap broken": (MANY, {"max_gap": 0.24}, ["fail"]),
    "ratio kept": (MANY, {"min_ratio": 0.6}, ["pass"]),
    "ratio may be kept": (MANY, {"min_ratio": 0.66}, ["undetermined"]),
    "ratio broken": (MANY, {"min_ratio": 0.74}, ["fail"]),
    "scores": (MANY, {"min_score": 0.66}, ["pass", "fail", "pass"]),
    "scores that may be": (MANY, {"min_score": 0.61}, ["pass", "undetermined", "pass"]),
    "absent class": (ABSENT, {"max_gap": 1.0, "min_score": 0.0}, ["undetermined", "pass", "undetermined"]),
}  # fmt: skip


@pytest.mark.parametrize(("counts", "rules", "statuses"), JUDGED.values(), ids=JUDGED)
def test_rules_are_judged_by_limits(counts, rules, statuses):
    found = check(counts, metrics="recall", **rules)
    assert found.table["status"].tolist() == statuses
    known = found.table.dropna(subset="value")
    assert (known["low"] <= known["value"]).all()
    assert (known["value"] <= known["high"]).all()
    assert found.table.attrs["tba"]["level"] == 0.95


def test_limits_of_scores():
    # Wilson below for each group, Clopper-Pearson above at a third of the tail
    row = check(MANY, metrics="recall", min_score=0.5).table.iloc[0]
    assert row["low"] == pytest.approx(proportion_confint(900, 1000, method="wilson")[0], rel=1e-9)
    alpha = 2 * (1 - 0.975 ** (1 / 3))
    high = proportion_confint(900, 1000, alpha=alpha, method="beta")[1]
    assert row["high"] == pytest.approx(high, rel=1e-9)


def test_a_rule_that_is_just_met_seldom_passes_or_fails():
    random = np.random.default_rng(0)
    statuses = []
    for _ in range(300):
        hits = random.binomial([80, 20], [0.9, 0.8])
        counts = counts_of([[[hits[0], 80 - hits[0]], [20 - hits[1], hits[1]]]])
        statuses += check(counts, t=0, min_score=0.85).table["status"].tolist()
    assert 1 <= statuses.count("pass") <= 16
    assert 1 <= statuses.count("fail") <= 16


def test_broken_whatever_the_absent_class_holds():
    # balanced accuracy of a is 0, that of b at least 1/2
    found = check(BAD_ABSENT, t=0, max_gap=0.4, min_score=0.6, level=None).table
    assert found["status"].tolist() == ["fail", "fail", "undetermined"]
    assert found["value"].isna().tolist() == [True, False, True]
    many = counts_of([[[0, 100], [100, 0]], [[100, 0], [0, 0]]])
    found = check(many, t=0, max_gap=0.4, min_score=0.6).table
    assert found["status"].tolist() == ["fail", "fail", "undetermined"]


def test_undefined_ratio_never_passes():
    nobody = counts_of([[[5, 0], [5, 0]], [[5, 0], [5, 0]]])
    assert check(nobody, min_ratio=0.0, metrics="selection_rate").table["status"].tolist() == [
        "undetermined"
    ]


def test_groups_that_are_left_out_are_listed():
    counts = counts_of([[[9, 1], [1, 9]], [[9, 1], [2, 8]], [[1, 0], [0, 1]]])
    found = check(counts, max_gap=0.2, min_support=5, metrics=["tba", "fpr"], level=None)
    assert found.passed
    assert found.left_out.to_dict("list") == {"metric": ["tba", "fpr"], "group": ["c", "c"]}
    assert found.table.columns.tolist() == [
        "metric",
        "rule",
        "group",
        "value",
        "low",
        "high",
        "limit",
        "status",
        "reason",
    ]


def test_models():
    frame = pd.DataFrame({"y_true": [0, 1] * 8, "p": [0, 1] * 8, "q": [0, 1, 1, 0] * 4})
    counts = tba.count(frame.assign(g=[*"aabb"] * 4), y_pred=["p", "q"], by="g")
    found = check(counts, max_gap=0.1, t=0, level=None)
    assert found.table[["model", "status"]].to_numpy().tolist() == [["p", "pass"], ["q", "fail"]]
    assert found.table["value"].tolist() == [0.0, 1.0]


def test_texts():
    found = check(RECALLS, max_gap=0.1, min_score=0.65, metrics="recall", level=None)
    text = (
        "2 pass, 2 fail, 0 undetermined. max_gap of recall fail: 0.3, limit 0.1, group 'b'. "
        "min_score of recall fail: 0.6, limit 0.65, group 'b'"
    )
    assert repr(found) == f"<Check: {text}>"
    with pytest.raises(AssertionError) as caught:
        found.raise_on_fail()
    assert str(caught.value) == text
    judged = check(MANY, max_gap=0.1, min_score=0.55, metrics="recall")
    assert repr(judged) == (
        "<Check: 3 pass, 1 fail, 0 undetermined. max_gap of recall fail: 0.3 (0.2514 to 0.3351), "
        "limit 0.1, group 'b'>"
    )
    unknown = check(ABSENT, max_gap=0.1, metrics="recall", level=None)
    assert repr(unknown) == (
        "<Check: 0 pass, 0 fail, 1 undetermined. max_gap of recall undetermined: nan, limit 0.1: 1 undefined of 2 groups: 'b' (no rows of 1)>"
    )
    assert check(MANY, max_gap=0.5, metrics="recall").raise_on_fail() is None


ERRORS = {
    "no rule": ({}, "Give at least one rule: max_gap=, min_ratio= or min_score=."),
    "limit": ({"max_gap": 5}, "`max_gap` must lie between 0 and 1; got 5."),
    "level": (
        {"max_gap": 0.1, "level": 95},
        "`level` must be a number between 0 and 1, such as 0.95; got 95.",
    ),
    "nan": ({"min_score": math.nan}, "`min_score` must lie between 0 and 1; got nan."),
    "direction": (
        {"min_score": 0.5, "metrics": "fpr"},
        (
            "`min_score` asks for much of each metric, and of 'fpr' less is better. Ask for its "
            "complement, such as specificity for fpr."
        ),
    ),
}


@pytest.mark.parametrize(("options", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(options, text):
    with pytest.raises(tba.InputError) as caught:
        check(RECALLS, **options)
    assert str(caught.value) == text


def test_a_check_is_true_where_it_passed():
    counts = tba.ConfusionCounts.from_matrix(
        [[[90, 10], [10, 90]], [[80, 20], [30, 70]]], groups=["a", "b"]
    )
    assert tba.check(counts, max_gap=0.5)
    assert not tba.check(counts, max_gap=0.05)


def test_groups_left_out_are_counted_in_the_text():
    counts = tba.ConfusionCounts.from_matrix(
        [[[9, 1], [1, 9]], [[8, 2], [3, 7]], [[1, 0], [0, 1]]], groups=["a", "b", "c"]
    )
    assert "1 group left out" in repr(tba.check(counts, max_gap=0.5, min_support=5))
