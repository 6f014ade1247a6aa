"""Disparities and gaps: hand-worked cases, an outside witness, and what no table may claim."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

import pandas_tba as tba
from pandas_tba.questions.disparities import disparity, gap

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden-tba.json").read_text("utf-8"))
EXACT = {"rel": 1e-10, "abs": 1e-10, "nan_ok": True}
TWO = [[[81, 9], [5, 5]], [[45, 5], [25, 25]]]
FLIP = [[[90, 10], [40, 60]], [[153, 27], [7, 13]]]
THREE = [[[80, 20], [6, 14]], [[30, 10], [9, 21]], [[50, 0], [10, 40]]]
COLUMNS = ["n", "min_support", "n_absent", "score", "difference", "low", "high", "ratio", "p_value",
           "p_adjusted", "own_difference", "rate_part", "mix_part", "reason"]  # fmt: skip
WITH_ABSENT = [[[5, 0], [0, 5]], [[10, 0], [0, 0]]]  # perfect, but b has no positive row


def counts_of(matrices, groups="abcdefgh", **options):
    names = pd.Index(list(groups)[: len(matrices)], name="g")
    return tba.ConfusionCounts.from_matrix(matrices, groups=names, **options)


def frame_of(**columns):
    return pd.DataFrame({name: list(values) for name, values in columns.items()})


def test_columns_index_and_attrs():
    table = disparity(counts_of(THREE), t=[0, 1], metrics=["tba", "recall"], level=0.9)
    assert table.columns.tolist() == COLUMNS
    assert table.index.names == ["g", "metric", "t"]
    assert table.index[:2].tolist() == [("a", "tba", 0.0), ("a", "tba", 1.0)]
    assert table.attrs["tba"] == {
        "classes": ["0", "1"], "t": ["0", "1"], "chance": 0.5, "prevalence": "pooled",
        "level": 0.9, "reference": "pooled", "adjust": "max_t",
    }  # fmt: skip
    assert disparity(counts_of(THREE)).index.names == ["g"]


@pytest.mark.parametrize("t", [-1, -0.5, 0, 0.5, 1])
def test_common_weights_undo_the_mix_of_classes(t):
    expected = next(row for row in GOLDEN["group_flip"]["rows"] if row["t"] == t)
    shares = dict(enumerate(GOLDEN["group_flip"]["ref"]))
    own, common = (
        disparity(counts_of(FLIP), t=t, prevalence=of, reference="a") for of in ("own", shares)
    )
    assert own.loc["b", "difference"] == pytest.approx(
        expected["B_own"] - expected["A_own"], **EXACT
    )
    assert common.loc["b", "difference"] == pytest.approx(
        expected["B_ref"] - expected["A_ref"], **EXACT
    )
    assert own["difference"].tolist() == pytest.approx(own["own_difference"].tolist(), **EXACT)
    parts = own["rate_part"] + own["mix_part"]
    assert parts.tolist() == pytest.approx(own["own_difference"].tolist(), **EXACT)


def test_parts_of_an_own_difference():
    row = disparity(counts_of(FLIP), t=1, reference="a").loc["b"]
    assert row[["own_difference", "rate_part", "mix_part"]].tolist() == pytest.approx(
        [0.08, -0.02, 0.10]
    )


def test_equal_recalls_at_unequal_mix():
    own = disparity(counts_of(TWO), prevalence="own", reference="a")
    assert own["score"].tolist() == pytest.approx([0.8, 0.7])
    pooled = disparity(counts_of(TWO))
    assert pooled["score"].tolist() == pytest.approx([0.741742430504416] * 2, **EXACT)
    assert pooled["difference"].tolist() == pytest.approx([0.0, 0.0], **EXACT)
    assert gap(counts_of(TWO), generator=0)["gap"].tolist() == pytest.approx([0.0], **EXACT)


@pytest.mark.parametrize("prevalence", ["own", "pooled", {0: 0.3, 1: 0.7}], ids=str)
@pytest.mark.parametrize("t", [-0.5, 0, 0.5, 1, math.inf])
def test_differences_are_those_of_the_scores(prevalence, t):
    counts = counts_of(THREE)
    shares = prevalence
    if prevalence == "pooled":
        shares = dict(zip([0, 1], counts.pooled().support[0], strict=True))
    scores = tba.score(counts, t=t, prevalence=prevalence)
    for reference in ("pooled", "rest", "largest", "b"):
        table = disparity(counts, t=t, prevalence=prevalence, reference=reference)
        for at, name in enumerate("abc"):
            among = {
                "pooled": [0, 1, 2], "rest": [k for k in range(3) if k != at],
                "largest": [0], "b": [1],
            }[reference]  # fmt: skip
            other = tba.score(
                tba.ConfusionCounts.from_matrix(np.array(THREE)[among].sum(axis=0)),
                t=t, prevalence="own" if prevalence == "own" else shares,
            )  # fmt: skip
            row = table.loc[name]
            assert row["score"] == pytest.approx(scores[name], **EXACT)
            assert row["difference"] == pytest.approx(scores[name] - other, **EXACT)
            assert row["ratio"] == pytest.approx(scores[name] / other, **EXACT)
            assert row["low"] <= row["difference"] <= row["high"]


def test_own_prevalence_at_one_is_accuracy_and_shrinks_with_the_rest():
    # at t = 1 the whole is a weighted mean: less the whole is less the rest, times its share
    own, rest = (
        disparity(counts_of(THREE), t=1, prevalence="own", reference=of)
        for of in ("pooled", "rest")
    )
    share = 1 - own["n"] / own["n"].sum()
    for name in ("difference", "low", "high"):
        assert own[name].tolist() == pytest.approx((rest[name] * share).tolist(), rel=5e-2)
    assert own["difference"].tolist() == pytest.approx(
        (rest["difference"] * share).tolist(), **EXACT
    )
    accuracy = disparity(counts_of(THREE), metrics="accuracy")
    assert accuracy.drop(columns="reason").to_numpy() == pytest.approx(
        own.drop(columns="reason").to_numpy(), **EXACT
    )


@given(st.lists(st.lists(st.integers(0, 12), min_size=4, max_size=4), min_size=2, max_size=4))
def test_p_value_and_limits_agree_where_nothing_is_drawn(cells):
    counts = counts_of(np.reshape(cells, (-1, 2, 2)))
    for reference, prevalence in (("rest", "own"), ("pooled", "own")):
        table = disparity(counts, t=0.5, reference=reference, prevalence=prevalence)
        assert table["difference"].isna().equals(table["p_value"].isna())
        assert (table["difference"].isna() <= (table["reason"] != "")).all()
        known = table[table["difference"].notna()]
        assert known["p_value"].between(0, 1).all()
        assert (known["p_adjusted"] >= known["p_value"]).all()
        for row in known[known["p_value"].between(1e-9, 0.999)].head(1).itertuples():
            level = 1 - row.p_value
            options = {"t": 0.5, "reference": reference, "prevalence": prevalence}
            edge = disparity(counts, level=level, **options).loc[row.Index]
            assert min(abs(edge["low"]), abs(edge["high"])) == pytest.approx(0, abs=1e-6)


def test_rates_of_the_positive_class_by_scikit_learn():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: random.integers(0, 2, 300) for name in ("y_true", "y_pred")})
    frame["g"] = random.choice(list("abc"), 300)
    names = ["recall", "fpr", "selection_rate", "precision", "npv", "accuracy", "balanced_accuracy"]
    table = disparity(tba.count(frame, by="g"), metrics=names, reference="a")["score"].unstack()
    for name, part in frame.groupby("g"):
        (tn, fp), (fn, tp) = confusion_matrix(part["y_true"], part["y_pred"])
        expected = [tp / (tp + fn), fp / (fp + tn), (tp + fp) / len(part), tp / (tp + fp),
                    tn / (tn + fn), (tp + tn) / len(part),
                    (tp / (tp + fn) + tn / (fp + tn)) / 2]  # fmt: skip
        assert table.loc[name, names].tolist() == pytest.approx(expected, **EXACT)


def test_reference_group_and_largest():
    table = disparity(counts_of(THREE), reference="largest")
    row = table.loc["a"]
    assert row[["difference", "low", "high", "ratio"]].tolist() == [0, 0, 0, 1]
    assert [math.isnan(row["p_value"]), row["reason"]] == [True, "the reference"]
    assert table["p_adjusted"].notna().sum() == 2
    pd.testing.assert_frame_equal(table, disparity(counts_of(THREE), reference="a"))
    equal = disparity(counts_of([TWO[0], TWO[0]]), reference="largest")
    assert equal["reason"].tolist() == ["the reference", ""]


def test_missing_group_and_tuple_as_reference():
    frame = frame_of(
        y_true=[1, 0, 1, 0, 1, 0], y_pred=[1, 0, 0, 0, 1, 1], g=["a", "a", "b", "b", None, None]
    )
    table = disparity(tba.count(frame, by="g"), reference=None)
    assert table["reason"].tolist() == ["", "", "the reference"]
    both = tba.count(frame.assign(h=1), by=["g", "h"])
    assert disparity(both, reference=("b", 1))["reason"].tolist() == ["", "the reference", ""]


def test_models_are_apart():
    frame = frame_of(y_true=[0, 1] * 8, p=[0, 1, 0, 0] * 4, q=[0, 1, 1, 1] * 4, g=[*"aabb"] * 4)
    both = tba.count(frame, y_pred=["p", "q"], by="g")
    drawn = ("p_adjusted", "p_value", "expected_if_equal")  # or adjusted for more rows
    for function in (disparity, lambda counts: gap(counts, generator=0)):
        found = function(both)
        for name in ("p", "q"):
            single = function(tba.count(frame, y_pred=name, by="g"))
            columns = [column for column in single if column not in drawn]
            expected = single[columns].reset_index(drop=True)
            mine = found[found.index.get_level_values("model") == name][columns]
            pd.testing.assert_frame_equal(mine.reset_index(drop=True), expected, check_like=True)


def test_absent_class_is_neither_fair_nor_unfair():
    table = disparity(counts_of(WITH_ABSENT), t=0.5)
    assert table["reason"].tolist() == ["", "no rows of 1"]
    assert table["difference"].isna().tolist() == [False, True]
    row = gap(counts_of(WITH_ABSENT), t=0, generator=0).iloc[0]
    assert [math.isnan(row[name]) for name in ("gap", "p_value", "expected_if_equal")] == [True] * 3
    assert [row["bound_low"], row["bound_high"]] == [0.0, 0.5]
    assert [row["n_groups"], row["n_undetermined"]] == [2, 1]
    assert row["reason"] == "1 undefined of 2 groups: 'b' (no rows of 1)"
    assert [row["best"], row["worst"]] == [None, None]
    rest = disparity(counts_of(WITH_ABSENT), reference="b")
    assert rest["reason"].tolist() == ["the reference has no value", "no rows of 1"]


@pytest.mark.parametrize(
    "y", [("1100", "1100", "aabb"), ("0000", "0101", "aabb")], ids=["no positives in b", "nowhere"]
)
def test_recall_gap_without_positives(y):
    truth, prediction = ([int(value) for value in text] for text in y[:2])
    counts = tba.count(frame_of(y_true=truth, y_pred=prediction, g=y[2]), by="g")
    row = gap(counts, metrics="recall", generator=0).iloc[0]
    assert math.isnan(row["gap"])
    assert [row["bound_low"], row["bound_high"]] == [0.0, 1.0]
    assert disparity(counts, metrics="recall").loc["b", "reason"] == "no rows of 1"


def test_ratio_of_selection_rates():
    frame = frame_of(y_true=[1, 0, 1, 0], y_pred=[1, 0, 0, 0], g="aabb")
    options = {"metrics": "selection_rate"}
    counts = tba.count(frame, by="g")
    assert disparity(counts, reference="a", **options)["ratio"].tolist() == [1.0, 0.0]
    assert disparity(counts, reference="b", **options).loc["a", "ratio"] == math.inf
    zero = tba.count(frame.assign(y_pred=0), by="g")
    table = disparity(zero, reference="b", **options)
    assert table["ratio"].isna().all()
    assert table["reason"].tolist() == ["both scores are 0"] * 2
    assert table["difference"].tolist() == [0.0, 0.0]


def test_gap_best_and_worst():
    counts = counts_of([[[10, 0], [10 - hits, hits]] for hits in (9, 6, 7)])
    row = gap(counts, metrics="recall", generator=0).iloc[0]
    assert row["gap"] == pytest.approx(0.3)
    assert [row["best"], row["worst"]] == ["a", "b"]
    assert [row["bound_low"], row["bound_high"]] == pytest.approx([0.3, 0.3])
    low_is_good = gap(counts, metrics="fnr", generator=0).iloc[0]
    assert [low_is_good["best"], low_is_good["worst"]] == ["a", "b"]


@pytest.mark.parametrize("n_groups", [2, 3, 5, 10, 20, 50])
def test_expected_gap_of_equal_groups(n_groups):
    d2 = GOLDEN["expected_range_normal"][str(n_groups)]
    n, recall = np.array([18_000, 2_000]), np.array([0.95, 0.75])
    hits = (n * recall).astype(int)
    matrix = [[hits[0], n[0] - hits[0]], [n[1] - hits[1], hits[1]]]
    groups = pd.Index(range(n_groups), name="g")
    counts = tba.ConfusionCounts.from_matrix([matrix] * n_groups, groups=groups)
    row = gap(counts, t=0, n_replicates=20_000, generator=0).iloc[0]
    se = math.sqrt((0.25 * recall * (1 - recall) / n).sum())
    assert row["expected_if_equal"] == pytest.approx(d2 * se, rel=0.02)
    assert row["p_value"] == 1.0


def test_gap_of_equal_groups_is_seldom_significant():
    random = np.random.default_rng(0)
    n = np.array([90, 10])
    hits = random.binomial(n, [0.95, 0.75], size=(150, 5, 2))
    p_values = []
    for trial in hits:
        counts = counts_of([[[h[0], 90 - h[0]], [10 - h[1], h[1]]] for h in trial])
        p_values.append(gap(counts, t=0, n_replicates=200, generator=random)["p_value"].iloc[0])
    assert np.mean(np.array(p_values) <= 0.05) <= 0.1
    assert 0.4 <= np.mean(p_values) <= 0.65


def test_gap_is_repeatable_and_sees_a_real_difference():
    counts = counts_of([[[90, 10], [10, 90]], [[90, 10], [50, 50]]])
    rows = [gap(counts, generator=seed).iloc[0] for seed in (1, 1)]
    pd.testing.assert_series_equal(*rows)
    assert rows[0]["p_value"] == pytest.approx(1 / 2001)
    assert disparity(counts, reference="a").loc["b", "p_value"] < 1e-6
    of_rest = disparity(counts, reference="rest")
    assert of_rest["p_value"].tolist() == [0.5 / 2001] * 2
    assert of_rest["p_adjusted"].tolist() == [1 / 2001] * 2


def test_least_support():
    matrices = [*THREE, [[2, 0], [1, 1]]]
    table = disparity(counts_of(matrices), min_support=3)
    assert table["reason"].tolist() == ["", "", "", "fewer rows than min_support"]
    assert table["difference"].isna().tolist() == [False, False, False, True]
    assert table["score"].notna().all()
    row = gap(counts_of(matrices), min_support=3, generator=0).iloc[0]
    assert [row["n_groups"], row["left_out"]] == [3, "'d'"]
    none = gap(counts_of(matrices), min_support=50, generator=0).iloc[0]
    assert [math.isnan(none["gap"]), none["reason"]] == [True, "fewer than two groups"]


def test_weighted_rows():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: random.integers(0, 2, 200) for name in ("y_true", "y_pred")})
    frame["g"], frame["w"] = random.choice(list("ab"), 200), 2.0
    weighted = tba.count(frame, by="g", sample_weight="w")
    for options in ({}, {"prevalence": "own"}, {"metrics": "recall"}, {"reference": "rest"}):
        found, plain = (
            disparity(counts, **options) for counts in (weighted, tba.count(frame, by="g"))
        )
        names = ["difference", "low", "high", "mix_part"]
        assert found[names].to_numpy() == pytest.approx(plain[names].to_numpy(), **EXACT)
    assert found.columns.tolist() == ["n", "weight", *COLUMNS[1:]]
    assert found.attrs["tba"]["adjust"] == "holm"
    row = gap(weighted, generator=0).iloc[0]
    assert row["gap"] == pytest.approx(gap(tba.count(frame, by="g"), generator=0)["gap"].iloc[0])
    assert [math.isnan(row["p_value"]), row["reason"]] == [True, "weighted rows cannot be drawn"]


def test_nothing_to_compare():
    counts = tba.count(frame_of(y_true=[0, 1], y_pred=[0, 1], g="aa"), by="g")
    row = disparity(counts).iloc[0]
    assert row[["difference", "low", "high", "p_value"]].tolist() == [0, 0, 0, 1]
    assert math.isnan(gap(counts, generator=0)["gap"].iloc[0])
    empty = tba.count(frame_of(y_true=[], y_pred=[], g=[]), by="g")
    assert disparity(empty).columns.tolist() == COLUMNS
    assert len(disparity(empty, reference="largest")) == 0
    assert gap(empty, generator=0)["reason"].tolist() == ["fewer than two groups"]


SAME = {
    "of itself": lambda counts: (counts, {}),
    "with more t": lambda counts: (counts, {"t": [0.5, 0, 1]}),
    "with more metrics": lambda counts: (counts, {"metrics": ["accuracy", "tba"]}),
    "with the seed of all": lambda counts: (counts, {"generator": 0}),
}


@pytest.mark.parametrize("ask", SAME.values(), ids=SAME)
def test_one_question_has_one_p_value(ask):
    counts, options = ask(counts_of(THREE))
    for function in (disparity, gap):
        expected = function(counts_of(THREE))["p_value"].tolist()
        table = function(counts, **options)
        for level, value in (("metric", "tba"), ("t", 0.5)):
            if level in table.index.names:
                table = table[table.index.get_level_values(level) == value]
        assert table["p_value"].tolist() == expected


def test_models_do_not_move_each_others_p_values():
    frame = frame_of(y_true=[0, 1] * 40, p=[0, 1, 0, 0] * 20, q=[0, 1, 1, 1, 0] * 16,
                     g=[*"aabb", *"abab", *"abcc", *"ccaa"] * 5)  # fmt: skip
    both = disparity(tba.count(frame, y_pred=["p", "q"], by="g"))
    for name in ("p", "q"):
        single = disparity(tba.count(frame, y_pred=name, by="g"))
        mine = both[both.index.get_level_values("model") == name]
        assert mine["p_value"].tolist() == single["p_value"].tolist()
        assert (mine["p_adjusted"] >= single["p_adjusted"].to_numpy()).all()


@pytest.mark.parametrize("adjust", ["max_t", "holm", "fdr_bh", None])
def test_adjustments(adjust):
    table = disparity(counts_of(THREE), t=[0, 1], adjust=adjust)
    p_values, adjusted = table["p_value"].to_numpy(), table["p_adjusted"].to_numpy()
    order = np.argsort(p_values)
    ranks = np.arange(1, 7)
    expected = {
        None: p_values[order],
        "holm": np.maximum.accumulate(p_values[order] * ranks[::-1]).clip(max=1),
        "fdr_bh": np.minimum.accumulate((p_values[order] * 6 / ranks)[::-1])[::-1].clip(max=1),
    }
    if adjust in expected:
        assert adjusted[order] == pytest.approx(expected[adjust])
    else:
        assert (adjusted >= p_values).all()
        assert (adjusted[order] <= expected["holm"] + 0.02).all()
    assert table.attrs["tba"]["adjust"] == str(adjust)


def test_equal_groups_are_seldom_called_different():
    # Holm on normal p-values of limits calls some different in six tables of ten
    random, n, wrong = np.random.default_rng(1), np.array([20, 2]), []
    for _ in range(100):
        hits = random.binomial(n, [0.9, 0.8], size=(40, 2))
        cells = [[[h[0], 20 - h[0]], [2 - h[1], h[1]]] for h in hits]
        counts = tba.ConfusionCounts.from_matrix(cells, groups=pd.Index(range(40), name="g"))
        table = disparity(counts, n_replicates=300)
        wrong.append((table["p_adjusted"] <= 0.05).any())
    assert np.mean(wrong) <= 0.11  # 5 % and two standard errors and more


def test_a_deviating_reference_group_does_not_move_the_others():
    # the groups after the first two are equal to the reference; of a pool the second would be half
    cells = [[[90, 10], [20, 80]], [[2000, 8000], [20, 80]], *[[[90, 10], [20, 80]]] * 3]
    table = disparity(counts_of(cells), reference="a")
    assert table["p_value"].iloc[1] < 1e-6
    assert (table["p_value"].iloc[2:] > 0.8).all()
    assert table.attrs["tba"]["adjust"] == "holm"


@pytest.mark.parametrize("prevalence", ["own", {0: 0.5, 1: 0.5}], ids=str)
def test_gap_limits_hold_the_gap(prevalence):
    row = gap(counts_of(THREE), prevalence=prevalence).iloc[0]
    assert 0 <= row["low"] <= row["gap"] <= row["high"] <= 1
    assert row["ratio_low"] <= row["ratio"] <= row["ratio_high"] <= 1
    is_own = prevalence == "own"
    assert math.isnan(row["p_value"]) == is_own
    assert row["reason"] == (
        "own weights differ, so groups of equal recalls have unequal scores" if is_own else ""
    )
    if not is_own:
        chance = row["gap"] ** 2 - row["expected_if_equal"] ** 2
        assert row["gap_corrected"] == pytest.approx(max(0, chance) ** 0.5)


def test_gap_of_shares():
    # three shares, .9 of 100, .8 of 50 and .95 of 200 rows
    cells = [[[1, 0], [n - h, h]] for h, n in ((90, 100), (40, 50), (190, 200))]
    row = gap(counts_of(cells), metrics="recall").iloc[0]
    assert row[["gap", "low", "high"]].tolist() == pytest.approx(
        [0.15, 0.0160969682742, 0.282318395655], rel=1e-9
    )


def test_limits_of_an_undefined_gap_allow_for_every_recall():
    row = gap(counts_of(WITH_ABSENT), t=0).iloc[0]
    assert math.isnan(row["gap"])
    assert row["low"] == 0.0
    assert row["high"] > row["bound_high"] == 0.5
    assert math.isnan(row["gap_corrected"])


ERRORS = {
    "no groups": (
        lambda: disparity(tba.ConfusionCounts.from_matrix(TWO[0])),
        ("There are no groups to compare; name their key when counting: by='segment'."),
    ),
    "reference": (
        lambda: disparity(counts_of(TWO), reference="pooledd"),
        (
            "`reference` must be one of 'pooled', 'largest', 'rest', or a group; got 'pooledd'. "
            "Did you mean 'pooled'? Groups: 'a', 'b'."
        ),
    ),
    "metric": (
        lambda: gap(counts_of(TWO), metrics=["tba", "mcc"]),
        (
            "`metrics`: 'mcc' cannot be compared between groups. Choose from 'accuracy', "
            "'balanced_accuracy', 'tba', 'recall', 'specificity', 'precision', 'npv', 'fpr', "
            "'fnr', 'fdr', 'false_omission_rate', 'recall_macro', 'prevalence', 'selection_rate'."
        ),
    ),
    "no positive class": (
        lambda: gap(counts_of(TWO, labels=["x", "y"]), metrics="recall"),
        (
            "`metrics`: 'recall' describes one class, and no class is positive. Classes: 'x', 'y'. "
            "Name one, as in df.tba(pos_label='y'), or ask per_class()."
        ),
    ),
    "n_replicates": (
        lambda: gap(counts_of(TWO), n_replicates=0),
        "`n_replicates` must be a whole number of draws, 1 to 1,000,000; got 0.",
    ),
    "adjust": (
        lambda: disparity(counts_of(TWO), adjust="bonferroni"),
        "`adjust` must be one of 'max_t', 'holm', 'fdr_bh' or None; got 'bonferroni'.",
    ),
    "min_support": (
        lambda: disparity(counts_of(TWO), min_support=-1),
        "`min_support` must be a whole number of rows, 0 or more; got -1.",
    ),
}


@pytest.mark.parametrize(("question", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(question, text):
    with pytest.raises(tba.InputError) as caught:
        question()
    assert str(caught.value) == text
