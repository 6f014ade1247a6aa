"""Rules for t, crossings of models and groups, and the diagnosis of one model."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

import pandas_tba as tba
from pandas_tba import ConfusionCounts, InputError, KindError, t_from_cost_ratio, t_from_entropy
from pandas_tba.questions.diagnosis import diagnose
from pandas_tba.questions.exponents import choose_t, crossings

GOLDEN = Path(__file__).parents[1] / "golden" / "golden-tba.json"
PAIRS = json.loads(GOLDEN.read_text(encoding="utf-8"))["crossings"]
TWO = [[[88, 2], [6, 4]], [[80, 10], [1, 9]]]


def matrix_of(support, hits):
    """A matrix with that support and these hits; misses go to the next label."""
    matrix = np.diag(hits)
    matrix[np.arange(len(hits)), np.roll(np.arange(len(hits)), -1)] += np.subtract(support, hits)
    return matrix


def groups_of(matrices, names=None):
    return ConfusionCounts.from_matrix(matrices, groups=pd.Index(names or range(len(matrices))))


def models_of(matrices, *, by=None):
    """Counts of models m0, m1, ...; `by` gives the group of each matrix, in order."""
    names = [f"m{at}" for at in range(len(matrices))] if by is None else by
    index = pd.Index(names) if by is None else pd.MultiIndex.from_tuples(by)
    table = pd.concat(
        pd.DataFrame(matrix)
        .stack()
        .rename("n")
        .rename_axis(["y_true", "y_pred"])
        .reset_index()
        .assign(**dict(zip(["model", "region"], key if by else [key], strict=False)))
        for key, matrix in zip(index, matrices, strict=True)
    )
    labels = range(len(matrices[0]))
    return ConfusionCounts.from_table(table, model="model", labels=labels)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair["name"])
@pytest.mark.parametrize("between", ["models", "groups"])
def test_golden_pairs(pair, between):
    matrices = [matrix_of(pair["n"], pair[name]) for name in ("correct_A", "correct_B")]
    counts = models_of(matrices) if between == "models" else groups_of(matrices, ["m0", "m1"])
    table = crossings(counts, between=between)
    found = table["t_star"].dropna()
    assert found.tolist() == pytest.approx(pair["roots"], abs=1e-9)
    kinds = ["touch" if touch else "cross" for touch in pair["touch"]]
    assert table["kind"].tolist() == (kinds or [""])
    assert table.index.names == [f"{between[:-1]}_a", f"{between[:-1]}_b", "root"]
    if not pair["roots"]:
        assert table["dominates"].tolist() == ["m0"]


@given(st.data())
def test_scores_are_equal_at_every_crossing_and_swap_there(data):
    n_classes = data.draw(st.integers(2, 5))
    support = data.draw(st.lists(st.integers(1, 60), min_size=n_classes, max_size=n_classes))
    hits = [[data.draw(st.integers(0, rows)) for rows in support] for _ in range(2)]
    counts = groups_of([matrix_of(support, row) for row in hits])
    table = crossings(counts, between="groups")
    for row in table.dropna(subset="t_star").itertuples():
        if abs(row.t_star) < 100:
            scores = tba.score(counts, t=row.t_star, prevalence="pooled")
            assert scores[0] == pytest.approx(scores[1], abs=1e-9)
        assert (row.better_below == row.better_above) == (row.kind == "touch")
        largest = sorted(support)[-2:]
        if largest[0] != largest[1] and 1e-300 < row.cost_ratio < 1e300:
            t = t_from_cost_ratio(row.cost_ratio, *largest)
            assert t == pytest.approx(row.t_star, rel=1e-9, abs=1e-12)
    ends = tba.score(counts, t=[-300.0, 300.0], prevalence="pooled")
    inside = table["t_star"].abs().fillna(0).max() < 250
    for t, better in (
        (-300.0, table["better_below"].iloc[0]),
        (300.0, table["better_above"].iloc[-1]),
    ):
        gap = ends[t][0] - ends[t][1]
        if inside and abs(gap) > 1e-9:
            expected = 0 if gap > 0 else 1
            assert expected == (table["dominates"].iloc[0] if better is None else better)


@pytest.mark.parametrize(
    ("matrices", "limits", "expected"),
    [
        # t_star, kind, better_below, better_above, dominates
        (TWO, {}, [(0.786092130001777, "cross", "m1", "m0", None)]),
        (TWO[::-1], {}, [(0.786092130001777, "cross", "m0", "m1", None)]),
        (TWO, {"t_max": 0.5}, [(math.nan, "", None, None, "m1")]),
        (TWO, {"t_min": 0.8}, [(math.nan, "", None, None, "m0")]),
        ([TWO[0], TWO[0]], {}, [(math.nan, "", None, None, None)]),
        ([[[9, 1], [1, 9]], [[8, 2], [1, 9]]], {}, [(math.nan, "", None, None, "m0")]),
        (
            [matrix_of([40, 20, 10], [36, 12, 7]), matrix_of([40, 20, 10], [32, 16, 6])],
            {},
            [(0.0, "touch", "m0", "m0", "m0")],
        ),
        (
            [matrix_of([40, 20, 10], [36, 12, 7]), matrix_of([40, 20, 10], [32, 17, 6])],
            {"t_min": 0},
            [(1.0, "cross", "m1", "m0", None)],
        ),
    ],
)
def test_rows(matrices, limits, expected):
    table = crossings(models_of(matrices), **limits)
    assert table["t_star"].tolist() == pytest.approx([row[0] for row in expected], nan_ok=True)
    names = ["kind", "better_below", "better_above", "dominates"]
    assert list(table[names].itertuples(index=False, name=None)) == [row[1:] for row in expected]
    assert set(table["reason"]) <= {"", "equal at every t"}


def test_models_cross_within_each_group():
    keys = [("m0", "N"), ("m0", "S"), ("m1", "N"), ("m1", "S"), ("m2", "N")]
    other = [[50, 10], [10, 10]]
    counts = models_of([TWO[0], TWO[0], TWO[1], other, TWO[1]], by=keys)
    table = crossings(counts)
    assert table.index.names == ["model_a", "model_b", "region", "root"]
    assert table.index.droplevel("root").tolist() == [
        (*pair, region) for pair in [("m0", "m1"), ("m0", "m2"), ("m1", "m2")] for region in "NS"
    ]
    assert table.loc[("m0", "m1", "N", 0), "t_star"] == pytest.approx(0.786092130001777)
    assert table.loc[("m0", "m2", "S", 0), "reason"] == "no rows of 'm2'"
    # rows of m0 and m1 in S differ: the shares of both together weigh them
    d = np.array([88 / 90 - 5 / 6, 4 / 10 - 1 / 2])
    assert table.loc[("m0", "m1", "S", 0), "t_star"] == pytest.approx(
        math.log(-d[1] / d[0]) / math.log(150 / 30)
    )
    pooled = crossings(counts, prevalence="pooled")["t_star"]
    shares = np.array([90 * 3 + 60, 10 * 3 + 20])
    assert pooled.loc[("m0", "m1", "S", 0)] == pytest.approx(
        math.log(-d[1] / d[0]) / math.log(shares[0] / shares[1])
    )
    given_ = crossings(counts, prevalence={0: 4, 1: 1})["t_star"]
    assert given_.loc[("m0", "m1", "S", 0)] == pytest.approx(math.log(-d[1] / d[0]) / math.log(4))


def test_groups_cross_within_each_model():
    keys = [("m0", "N"), ("m0", "S"), ("m1", "N"), ("m1", "S")]
    table = crossings(models_of([*TWO, *TWO[::-1]], by=keys), between="groups")
    assert table.index.tolist() == [("m0", "N", "S", 0), ("m1", "N", "S", 0)]
    assert table.index.names == ["model", "group_a", "group_b", "root"]
    assert table["better_above"].tolist() == ["N", "S"]
    assert table["t_star"].tolist() == pytest.approx([0.786092130001777] * 2)


def test_groups_of_several_keys_are_tuples():
    index = pd.MultiIndex.from_tuples([("N", 1), ("S", 2)], names=["region", "year"])
    counts = ConfusionCounts.from_matrix(TWO, groups=index)
    table = crossings(counts, between="groups")
    assert table.index.tolist() == [(("N", 1), ("S", 2), 0)]
    assert table["better_below"].tolist() == [("S", 2)]


def test_an_absent_class_leaves_the_crossing_undefined():
    table = crossings(groups_of([TWO[0], [[60, 3], [0, 0]]]), between="groups")
    assert table["t_star"].isna().all()
    assert table["reason"].tolist() == ["no rows of 1"]
    assert table["dominates"].tolist() == [None]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: crossings(groups_of(TWO)),
            (
                "Crossings need two models or more; got 0 named models. Count several at once: "
                "df.tba(y_pred=['logit', 'forest']).crossings(). To compare groups, pass "
                "between='groups'."
            ),
        ),
        (
            lambda: crossings(ConfusionCounts.from_matrix(TWO[0]), between="groups"),
            (
                "Crossings need two groups or more; got 0 groups. Count by a key: "
                "df.tba.crossings(by='segment', between='groups')."
            ),
        ),
        (
            lambda: crossings(groups_of(TWO), between="groups", t_min=1, t_max=1),
            "`t_min` must be below `t_max`; got 1 and 1.",
        ),
        (
            lambda: crossings(groups_of(TWO), between="groups", t_max="1"),
            "`t_max` must be a number; got '1'.",
        ),
        (
            lambda: crossings(groups_of(TWO), between="groups", prevalence="own"),
            (
                "`prevalence` must be one for both groups, else no t is common to them; got 'own'. "
                "Pass 'pooled', or a mapping of labels to shares."
            ),
        ),
        (
            lambda: choose_t(groups_of(TWO), cost={0: 1}),
            (
                "`cost` must map each class to its cost, once; it leaves out 1 and names nothing beyond "
                "them. Classes: 0, 1."
            ),
        ),
        (
            lambda: choose_t(groups_of(TWO), cost={0: 1, 1: 0}),
            "`cost` must be finite and greater than 0 for every class; got {0: 1, 1: 0}.",
        ),
        (
            lambda: choose_t(ConfusionCounts.from_matrix([[5, 5], [5, 5]]), cost={0: 1, 1: 2}),
            (
                "`cost`: all classes are equally large, so they have equal weight at every t, and "
                "no t expresses costs. Leave it out, or report the recall of each class."
            ),
        ),
        (
            lambda: choose_t(ConfusionCounts.from_matrix([[5]])),
            "To choose t needs two classes or more; got 0. Declare them with labels=.",
        ),
        (
            lambda: diagnose(groups_of(TWO), level=95),
            "`level` must be a number between 0 and 1, such as 0.95; got 95.",
        ),
        (
            lambda: diagnose(
                ConfusionCounts.from_matrix(TWO, groups=pd.Index(["a", "b"], name="reading"))
            ),
            (
                "`by`: the key 'reading' has the name of a column or level of the result. Rename it, "
                "as in by=df['reading'].rename('group')."
            ),
        ),
    ],
)
def test_errors_say_what_to_do(call, text):
    with pytest.raises(InputError) as caught:
        call()
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("per", "t"), [("class", math.log(1 / 3, 9)), ("error", 1 - math.log(3, 9))]
)
def test_rules(per, t):
    table = choose_t(ConfusionCounts.from_matrix(TWO[0]), cost={0: 1, 1: 3}, per=per)
    assert table.index.tolist() == ["safe", "compromise", "entropy", "cost"]
    assert table.index.name == "rule"
    assert table["t"].tolist() == pytest.approx([0, 0.5, t_from_entropy([0.9, 0.1]), t])
    assert table.at["cost", "t"] == pytest.approx(t_from_cost_ratio(3, 0.1, 0.9, per=per))
    for rule, row in table.iterrows():
        weights = tba.class_weights([0.9, 0.1], t=row["t"])
        assert row[["weight_0", "weight_1"]].tolist() == pytest.approx(weights.tolist()), rule
        assert row["majority"] == pytest.approx(weights[0])
    ratio, of_class = {"class": (27, 3), "error": (3, 0.333)}[per]
    assert table["meaning"].tolist()[:2] == [
        "one missed 1 counts as 9 missed 0; the whole class as 1 of the other",
        "one missed 1 counts as 3 missed 0; the whole class as 0.333 of the other",
    ]
    assert table.at["cost", "meaning"] == (
        f"one missed 1 counts as {ratio} missed 0; the whole class as {of_class} of the other"
    )
    assert table["residual"].tolist() == pytest.approx([math.nan] * 3 + [0], abs=1e-12, nan_ok=True)
    assert (table["reason"] == "").all()
    assert len(choose_t(ConfusionCounts.from_matrix(TWO[0]))) == 3


@given(
    st.lists(st.integers(1, 1000), min_size=3, max_size=6, unique=True),
    st.lists(st.floats(0.01, 100), min_size=6, max_size=6),
)
def test_costs_of_many_classes_are_a_least_squares_line(support, costs):
    counts = ConfusionCounts.from_matrix(np.diag(support))
    costs = costs[: len(support)]
    row = choose_t(counts, cost=dict(enumerate(costs))).loc["cost"]
    slope, intercept = np.polyfit(np.log(support), np.log(costs), 1)
    left = np.log(costs) - slope * np.log(support) - intercept
    assert row["t"] == pytest.approx(slope, rel=1e-6, abs=1e-9)
    assert row["residual"] == pytest.approx(math.sqrt((left**2).mean()), rel=1e-6, abs=1e-9)


def test_rules_of_groups_say_why_they_are_undefined():
    matrices = [TWO[0], [[60, 3], [0, 0]], [[5, 5], [5, 5]]]
    counts = groups_of(matrices, ["a", "b", "c"])
    table = choose_t(counts, cost={0: 1, 1: 3})
    assert table.index.names == [None, "rule"]
    assert table["t"].isna().groupby(level=0).sum().tolist() == [0, 1, 1]
    # in b the entropy is 0, hence t as well
    reasons = table["reason"].unstack()[["safe", "compromise", "entropy", "cost"]]
    assert reasons.to_numpy().tolist() == [
        ["", "", "", ""],
        ["no rows of 1", "", "no rows of 1", "no rows of 1"],
        ["", "", "", "all classes are equally large"],
    ]
    is_nan = table["majority"].unstack().isna()[reasons.columns]
    assert is_nan.equals(reasons != "")
    assert table.loc[("b", "compromise"), "meaning"] == ""
    assert table.loc[("c", "safe"), "meaning"] == (
        "one missed 0 counts as 1 missed 1; the whole class as 1 of the other"
    )


@pytest.mark.parametrize(
    ("matrix", "reading", "costliest"),
    [
        ([[880, 20], [60, 40]], "weaker on rare classes", 1),
        ([[600, 300], [2, 98]], "weaker on common classes", 0),
        ([[810, 90], [10, 90]], "even", 0),
    ],
)
def test_diagnosis(matrix, reading, costliest):
    counts = ConfusionCounts.from_matrix(matrix)
    row = diagnose(counts).iloc[0]
    assert row["reading"] == reading
    assert row["costliest"] == costliest
    weights = tba.class_weights([900, 100], t=0.5)
    lost = weights * (1 - np.diag(matrix) / np.array([900, 100]))
    assert row["cost"] == pytest.approx(lost.max())
    assert row["score"] == pytest.approx(tba.score(counts, t=0.5))
    assert row["score"] == pytest.approx(1 - lost.sum())
    slope = tba.metrics(counts, metrics="tba_slope")["tba_slope"].iloc[0]
    assert row["slope_low"] < slope < row["slope_high"]
    assert row["slope"] == pytest.approx(slope)
    assert row["reason"] == ""


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (0.5, [0.0686632680418, 0.0036243342599, 0.19713638351]),
        (0.0, [0.0915510240557, -0.000246551186799, 0.265474892852]),
    ],
)
def test_limits_of_a_slope(t, expected):
    counts = ConfusionCounts.from_matrix([[87, 3], [2, 8]])
    row = diagnose(counts, t=t)[["slope", "slope_low", "slope_high"]].iloc[0]
    assert row.tolist() == pytest.approx(expected, rel=1e-10)


def test_diagnosis_of_groups_with_an_absent_class():
    counts = groups_of([[[880, 20], [60, 40]], [[60, 3], [0, 0]]], ["a", "b"])
    table = diagnose(counts, t=0)
    assert table["reason"].tolist() == ["", "no rows of 1"]
    assert table["reading"].tolist() == ["weaker on rare classes", ""]
    assert table["costliest"].tolist() == [1, None]
    assert table.loc["b", ["score", "slope", "slope_low", "slope_high", "cost"]].isna().all()
    at_half = diagnose(counts, t=0.5).loc["b"]
    assert at_half[["score", "cost"]].tolist() == pytest.approx([60 / 63, 3 / 63])


def weighted(weights):
    frame = pd.DataFrame({"y_true": [0, 0, 0, 1], "y_pred": [0, 0, 1, 1], "w": weights})
    return tba.count(frame, sample_weight="w")


def test_weights_of_rows():
    table = choose_t(weighted([3, 3, 2, 2]), cost={0: 1, 1: 2})
    assert table.at["cost", "t"] == pytest.approx(math.log(2, 2 / 8))
    with pytest.raises(InputError) as caught:
        diagnose(weighted([1, 1, 1, 1]))
    assert str(caught.value) == (
        "diagnose() has no limits for weighted counts. Ask metrics(counts, metrics=['tba', "
        "'tba_slope']) for the slope without its interval."
    )


@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
@given(st.lists(st.lists(st.integers(0, 40), min_size=3, max_size=3), min_size=1, max_size=6))
def test_rules_of_many_groups_are_those_of_each(supports):
    counts = groups_of([np.diag(rows) for rows in supports])
    table = choose_t(counts)
    for (group, rule), row in table.iterrows():
        rows = supports[group]
        entropy = t_from_entropy(rows) if any(rows) else math.nan
        t = {"safe": 0, "compromise": 0.5, "entropy": entropy}[rule]
        assert row["t"] == pytest.approx(t, abs=1e-15, nan_ok=True)
        weights, majority = [math.nan] * 3, math.nan
        if not math.isnan(t):
            weights = tba.class_weights(rows, t=t).tolist()
            majority = tba.metrics(counts, metrics="majority", t=t)["majority"].iloc[group]
        found = row[["weight_0", "weight_1", "weight_2"]].tolist()
        assert found == pytest.approx(weights, abs=1e-14, nan_ok=True)
        assert row["majority"] == pytest.approx(majority, abs=1e-14, nan_ok=True)
        lacking = [str(label) for label in range(3) if rows[label] == 0]
        words = f"no rows of {', '.join(lacking)}" if any(rows) else "no rows"
        assert row["reason"] == (words if math.isnan(majority) else "")
        present = sorted(share for share in rows if share)
        if len(present) > 1:
            assert (
                f"; the whole class as {(present[0] / present[-1]) ** t:.3g} of" in row["meaning"]
            )
        else:
            assert row["meaning"] == ""


@pytest.mark.parametrize("function", [choose_t, crossings, diagnose])
def test_frames_must_be_counted_first(function):
    with pytest.raises(KindError, match="`counts` must be ConfusionCounts; got DataFrame"):
        function(pd.DataFrame({"y_true": [0, 1]}))


def test_tables_of_no_groups_keep_their_columns_and_dtypes():
    frame = pd.DataFrame({"y_true": [0, 1, 0], "y_pred": [0, 1, 1], "g": ["a", "a", "b"]})
    for make in (choose_t, diagnose):
        some = make(tba.count(frame, by="g", labels=[0, 1]))
        none = make(tba.count(frame.iloc[:0], by="g", labels=[0, 1]))
        assert len(none) == 0
        assert none.dtypes.to_dict() == some.dtypes.to_dict()


def test_several_t_are_the_last_level_of_a_diagnosis():
    counts = groups_of(TWO)
    both = diagnose(counts, t=[0, 0.5])
    assert both.index.names[-1] == "t"
    for t in (0.0, 0.5):
        alone = diagnose(counts, t=t)
        assert_frame_equal(both.xs(t, level="t"), alone, check_names=False)


def test_the_door_needs_no_predictions_to_choose_t():
    frame = pd.DataFrame({"y_true": [1, 0, 0, 0], "p": [0.4, 0.2, 0.1, 0.3]})
    expected = choose_t(ConfusionCounts.from_matrix([[3, 0], [0, 1]]))
    assert_frame_equal(frame.tba.choose_t(), expected)
    assert_frame_equal(frame.tba(y_score="p").choose_t(), expected)


@pytest.mark.parametrize("t", [0, 0.5])
def test_a_class_of_few_rows_gets_no_reading(t):
    few = diagnose(ConfusionCounts.from_matrix([[90, 10], [0, 9]]), t=t).iloc[0]
    assert [few["reading"], few["reason"]] == ["", "a class has fewer than 10 rows"]
    assert few["slope_low"] < few["slope"] < few["slope_high"]


@pytest.mark.parametrize(("rows", "recall"), [((450, 50), 0.9), ((475, 25), 0.98)])
def test_equal_recalls_are_seldom_read_as_a_weakness(rows, recall):
    random = np.random.default_rng(0)
    hits = random.binomial(rows, recall, size=(400, 2))
    cells = np.stack([[hits[:, 0], rows[0] - hits[:, 0]], [rows[1] - hits[:, 1], hits[:, 1]]])
    counts = ConfusionCounts.from_matrix(cells.transpose(2, 0, 1), groups=range(400))
    readings = diagnose(counts, t=0.5)["reading"]
    assert (readings != "even").mean() < 0.075  # 5 % and two standard errors


def test_equal_sides_say_so():
    table = crossings(groups_of([TWO[0], TWO[0]]), between="groups")
    assert table["dominates"].tolist() == [None]
    assert table["reason"].tolist() == ["equal at every t"]
