"""Paired differences agree with worked values, with enumeration and with outside witnesses."""

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk
from statsmodels.stats.contingency_tables import mcnemar

import pandas_tba as tba
from pandas_tba.engines.dispatch import count_pairs
from pandas_tba.inference import pvalues as significance
from pandas_tba.inference.pvalues import benjamini_hochberg, holm, paired_mid_p
from pandas_tba.questions.models import compare

GOLDEN = Path(__file__).parents[1] / "golden" / "golden-tba.json"
PAIRED = json.loads(GOLDEN.read_text(encoding="utf-8"))["paired_example"]
INFLUENCE = json.loads((GOLDEN.parent / "golden-influence.json").read_text(encoding="utf-8"))
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


GOLDEN_PAIRS = [name for name in INFLUENCE["values"] if name.startswith("J ")]


def golden_pairs():
    joint = np.array(INFLUENCE["inputs"]["J[true][a][b]"]).astype(int)
    rows = np.repeat(
        np.stack(np.indices(joint.shape).reshape(3, -1), axis=1), joint.reshape(-1), axis=0
    )
    return count_pairs(pd.DataFrame(rows, columns=["y_true", "a", "b"]), y_pred=["a", "b"])


@pytest.mark.parametrize("name", GOLDEN_PAIRS)
def test_differences_of_any_metric_by_influence(name):
    metric = name.removeprefix("J ").partition(":")[0]
    row = compare(golden_pairs(), metrics=metric).iloc[0]
    columns = ["difference", "low", "high", "se", "p_difference"]
    assert row[columns].tolist() == pytest.approx(INFLUENCE["values"][name], **EXACT)


def test_there_are_golden_pairs():
    assert len(GOLDEN_PAIRS) == 5


def rows_of(n_rows=400, n_classes=3, seed=0, **columns):
    random = np.random.default_rng(seed)
    y_true = random.choice(
        n_classes, n_rows, p=np.arange(1, n_classes + 1) / (n_classes * (n_classes + 1) / 2)
    )
    found = {"y_true": y_true}
    for name, recall in (("a", 0.8), ("b", 0.7)):
        is_right = random.random(n_rows) < recall
        found[name] = np.where(is_right, y_true, random.choice(n_classes, n_rows))
    return pd.DataFrame(found).assign(w=random.gamma(2.0, 1.0, n_rows), **columns)


OF_SCIKIT = {  # of y_true, y_pred and sample_weight
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "f1_macro": lambda y, p, **w: sk.f1_score(y, p, average="macro", **w),
    "f1_weighted": lambda y, p, **w: sk.f1_score(y, p, average="weighted", **w),
    "precision_macro": lambda y, p, **w: sk.precision_score(y, p, average="macro", **w),
    "precision_weighted": lambda y, p, **w: sk.precision_score(y, p, average="weighted", **w),
    "recall_macro": lambda y, p, **w: sk.recall_score(y, p, average="macro", **w),
    "mcc": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
}
OF_ONE_CLASS = {
    "recall": sk.recall_score,
    "specificity": lambda y, p, **w: sk.recall_score(y, p, pos_label=0, **w),
    "precision": sk.precision_score,
    "npv": lambda y, p, **w: sk.precision_score(y, p, pos_label=0, **w),
    "fpr": lambda y, p, **w: 1 - sk.recall_score(y, p, pos_label=0, **w),
    "fnr": lambda y, p, **w: 1 - sk.recall_score(y, p, **w),
    "fdr": lambda y, p, **w: 1 - sk.precision_score(y, p, **w),
    "false_omission_rate": lambda y, p, **w: 1 - sk.precision_score(y, p, pos_label=0, **w),
    "f1": sk.f1_score,
    "jaccard": sk.jaccard_score,
    "informedness": lambda y, p, **w: sk.balanced_accuracy_score(y, p, adjusted=True, **w),
    "markedness": lambda y, p, **w: sk.precision_score(y, p, **w) + sk.precision_score(y, p, pos_label=0, **w) - 1,
    "lr_plus": lambda y, p, **w: sk.class_likelihood_ratios(y, p, **w)[0],
    "lr_minus": lambda y, p, **w: sk.class_likelihood_ratios(y, p, **w)[1],
    "odds_ratio": lambda y, p, **w: np.divide(*sk.class_likelihood_ratios(y, p, **w)),
    "prevalence": lambda y, p, **w: 0.0,  # of which the difference is 0
    "selection_rate": lambda y, p, **w: np.average(p, weights=w.get("sample_weight")),
}  # fmt: skip
KNOWN = {name: (function, 3) for name, function in OF_SCIKIT.items()}
KNOWN |= {name: (function, 2) for name, function in OF_ONE_CLASS.items()}
KNOWN["g_mean"] = (
    lambda y, p, **w: stats.gmean(sk.recall_score(y, p, average=None, **w)), 3
)  # fmt: skip


def test_every_metric_has_a_witness():
    without = {metric.name for metric in tba.METRICS} - set(KNOWN)
    # tba is tested above; the others have no standard error, or no function in scikit-learn
    assert without == {"tba", "tba_slope", "majority", "min_recall"}


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", KNOWN)
def test_differences_are_those_of_scikit_learn(name, weight):
    function, n_classes = KNOWN[name]
    frame = rows_of(n_classes=n_classes)
    weights = {} if weight is None else {"sample_weight": frame["w"]}
    pairs = count_pairs(frame, y_pred=["a", "b"], sample_weight=weight)
    values = [function(frame["y_true"], frame[model], **weights) for model in "ab"]
    row = compare(pairs, metrics=name).iloc[0]
    assert row["difference"] == pytest.approx(values[0] - values[1], rel=1e-9, abs=1e-12)


WITH_LIMITS = [
    name for name in KNOWN if name not in ("lr_plus", "lr_minus", "odds_ratio", "prevalence")
]


def jackknife(frame, function):
    """Standard error of a weighted difference, from leaving out each row."""
    columns, found = [frame[name].to_numpy() for name in ("y_true", "a", "b", "w")], []
    for at in range(len(frame)):
        true, first, second, weights = (np.delete(column, at) for column in columns)
        of_a, of_b = (function(true, p, sample_weight=weights) for p in (first, second))
        found.append(of_a - of_b)
    n = len(frame)
    return math.sqrt((n - 1) / n * ((np.array(found) - np.mean(found)) ** 2).sum())


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1_macro", "mcc", "precision"])
def test_standard_errors_of_weights_are_those_of_a_jackknife(name):
    function, n_classes = KNOWN[name]
    frame = rows_of(250, n_classes=n_classes)
    pairs = count_pairs(frame, y_pred=["a", "b"], sample_weight="w")
    expected = jackknife(frame, function)
    assert compare(pairs, metrics=name)["se"].iloc[0] == pytest.approx(expected, rel=0.08)


def slow_variance(metric, joint, added):
    """Variance from every cell at smoothed shares, the gradient by central differences in each."""
    n_classes, n = len(joint), joint.sum()
    true, first, second = np.ogrid[:n_classes, :n_classes, :n_classes]
    right = [first == true, second == true]
    size = np.where(
        right[0] & right[1], 1, np.where(right[0] | right[1], n_classes - 1, (n_classes - 1) ** 2)
    )
    of_class = joint.sum(axis=(1, 2), keepdims=True)
    shares = of_class / n * (joint + added / size) / (of_class + 4 * added)
    moves, step = np.zeros(joint.shape), 1e-6
    for cell in np.ndindex(joint.shape):
        ends = []
        for sign in (1, -1):
            moved = shares.copy()
            moved[cell] += sign * step
            ends.append(metric(moved.sum(axis=2)) - metric(moved.sum(axis=1)))
        moves[cell] = (ends[0] - ends[1]) / (2 * step)
    return ((shares * moves**2).sum() - (shares * moves).sum() ** 2) / n


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_standard_errors_from_every_cell(n_classes):
    joint = np.random.default_rng(n_classes).integers(0, 9, (n_classes,) * 3)
    rows = np.repeat(
        np.stack(np.indices(joint.shape).reshape(3, -1), axis=1), joint.reshape(-1), axis=0
    )
    pairs = count_pairs(pd.DataFrame(rows, columns=["y_true", "a", "b"]), y_pred=["a", "b"])
    macro = {
        "accuracy": lambda c: np.trace(c) / c.sum(),
        "f1_macro": lambda c: (2 * np.diag(c) / (c.sum(axis=0) + c.sum(axis=1))).mean(),
    }
    for name, metric in macro.items():
        expected = slow_variance(metric, joint, 1 / n_classes)
        assert compare(pairs, metrics=name)["se"].iloc[0] == pytest.approx(
            math.sqrt(expected), rel=1e-6
        )
    # tba: rows are added to the discordant counts alone
    diagonal, n = np.arange(n_classes), joint.sum(axis=(1, 2))
    both = joint[diagonal, diagonal, diagonal]
    a, b = (
        joint.sum(axis=2)[diagonal, diagonal] - both,
        joint.sum(axis=1)[diagonal, diagonal] - both,
    )
    added = 2 / n_classes
    d = (a - b) / (n + added)
    expected = (((a + b + added) / (n + added) - d**2) / (n + added)).sum() / n_classes**2
    assert compare(pairs, t=0)["se"].iloc[0] == pytest.approx(math.sqrt(expected), **EXACT)


@pytest.mark.parametrize(
    "prevalence", ["own", "pooled", {0: 0.5, 1: 0.3, 2: 0.2}], ids=["own", "pooled", "given"]
)
@pytest.mark.parametrize("metrics", [None, "accuracy", "f1_macro", "mcc", "tba_slope"])
def test_weights_that_are_all_alike_count_as_rows(metrics, prevalence):
    frame = rows_of(g=np.arange(400) % 3).assign(w=2.5)
    question = {"t": 0.5, "metrics": metrics, "prevalence": prevalence}
    plain, weighted = (
        compare(count_pairs(frame, y_pred=["a", "b"], by="g", sample_weight=weight), **question)
        for weight in (None, "w")
    )
    columns = ["n", "min_support", "difference", "low", "high", "se", "p_difference", "discordant"]
    pd.testing.assert_frame_equal(weighted[columns], plain[columns], rtol=1e-10)
    assert weighted["weight"].tolist() == (2.5 * plain["n"]).tolist()
    assert weighted["p_value"].isna().all()


def test_weighted_means_of_recall_agree_with_the_general_form():
    pairs = count_pairs(rows_of(3000), y_pred=["a", "b"], sample_weight="w")
    closed, general = compare(pairs, t=1).iloc[0], compare(pairs, metrics="accuracy").iloc[0]
    assert closed["difference"] == pytest.approx(general["difference"], **EXACT)
    assert closed["se"] == pytest.approx(general["se"], rel=1e-3)


@pytest.mark.parametrize("unit", [1e-140, 1e140])
def test_units_of_weights_do_not_matter(unit):
    frame = rows_of(300, g=np.arange(300) % 2)
    names = ["tba", "balanced_accuracy", "f1_macro", "mcc"]
    found, expected = (
        compare(
            count_pairs(part, y_pred=["a", "b"], by="g", sample_weight="w"),
            metrics=names,
            prevalence="pooled",
        ).drop(columns="weight")
        for part in (frame.assign(w=frame["w"] * unit), frame)
    )
    assert not found["se"].isna().any()
    pd.testing.assert_frame_equal(found, expected, rtol=1e-9)


def test_too_many_labels_for_matrices():
    frame = pd.DataFrame({"y_true": [0, 1, 2], "a": [0, 1, 2], "b": [0, 2, 2]})
    pairs = count_pairs(frame, y_pred=["a", "b"], labels=range(5000))
    assert compare(pairs, t=1)["difference"].tolist() == pytest.approx([1 / 3])
    with pytest.raises(tba.InputError) as caught:
        compare(pairs, metrics="mcc")
    assert str(caught.value) == (
        "`metrics`: 'mcc' of 5,000 labels takes confusion matrices that are too large. Compare means "
        "of recall, such as 'tba', or make one label of rare ones."
    )


def test_few_effective_rows_take_the_quantile_of_student():
    frame = rows_of(30, n_classes=2)
    row = compare(count_pairs(frame, y_pred=["a", "b"], sample_weight="w"), metrics="f1").iloc[0]
    plain = compare(count_pairs(frame, y_pred=["a", "b"]), metrics="f1").iloc[0]
    reach = [(part["high"] - part["difference"]) / part["se"] for part in (row, plain)]
    assert reach[0] > 2.1
    assert reach[1] == pytest.approx(stats.norm.isf(0.025), rel=1e-12)


@pytest.mark.parametrize("weight", [None, "w"])
def test_p_values_agree_with_the_limits(weight):
    frame = pd.concat([rows_of(60, n_classes=2, seed=seed, g=seed) for seed in range(40)])
    pairs = count_pairs(frame, y_pred=["a", "b"], by="g", sample_weight=weight)
    names = ["tba", *(name for name in WITH_LIMITS)]
    table = compare(pairs, metrics=names, t=[0, 0.5], margin=0.05)
    excludes = (table["low"] > 0) | (table["high"] < 0)
    assert ((table["p_difference"] < 0.05) == excludes).all()
    assert 0 < excludes.mean() < 1
    of_less = table.index.get_level_values("metric").isin(
        ["fpr", "fnr", "fdr", "false_omission_rate"]
    )
    no_better = table.index.get_level_values("metric") == "selection_rate"
    worst = np.where(of_less, -table["high"], table["low"])
    keeps = (table["p_noninferior"] < 0.025)[~no_better]
    assert (keeps == (worst > -0.05)[~no_better]).all()
    assert 0 < keeps.mean() < 1
    assert table["p_noninferior"][no_better].isna().all()
    inside = (table["low"] > -0.05) & (table["high"] < 0.05)
    assert ((table["p_equivalent"] < 0.025) == inside).all()
    assert ((table["verdict"] == "equivalent") == inside).all()


def test_verdicts():
    pairs = paired([500, 10, 9, 30], [300, 5, 6, 10])
    assert compare(pairs, margin=0.05)["verdict"].tolist() == ["equivalent"]
    better = paired([500, 60, 9, 30], [300, 50, 6, 10])
    assert compare(better, margin=0.01)["verdict"].tolist() == ["noninferior"]
    worse = paired([500, 9, 60, 30], [300, 6, 50, 10])
    assert compare(worse, margin=0.01)["verdict"].tolist() == ["inferior"]
    table = compare(better, margin=0.01, metrics=["fpr", "selection_rate"])
    assert table["verdict"].tolist() == ["noninferior", "undetermined"]
    turned = compare(worse, margin=0.01, metrics="fpr")
    assert turned["verdict"].tolist() == ["inferior"]
    assert turned.attrs["tba"]["margin"] == 0.01
    few = compare(paired([5, 1, 1, 1], [3, 1, 0, 0]), margin=0.0)
    assert few["verdict"].tolist() == ["undetermined"]


@settings(max_examples=25)
@given(
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
    st.lists(st.integers(0, 9), min_size=4, max_size=4),
)
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_limits_and_reasons_of_every_metric(first, second):
    names = [metric.name for metric in tba.METRICS if metric.name not in ("min_recall", "majority")]
    pairs = count_pairs(frame_of(first, second), y_pred=["a", "b"], labels=[0, 1], pos_label=1)
    table = compare(pairs, metrics=names)
    bounds = {metric.name: metric.bounds for metric in tba.METRICS}
    for (*_, name), row in table.iterrows():
        assert not math.isnan(row["p_value"]) or row["reason"]
        if math.isnan(row["low"]):
            assert row["reason"]
            assert math.isnan(row["p_difference"])
            continue
        span = bounds[name][1] - bounds[name][0]
        assert -span <= row["low"] <= row["difference"] <= row["high"] <= span
        assert row["low"] < row["high"]
        assert 0 <= row["p_difference"] <= 1
    turned = compare(
        count_pairs(frame_of(first, second), y_pred=["b", "a"], labels=[0, 1], pos_label=1),
        metrics=names,
    )
    assert turned["se"].tolist() == pytest.approx(table["se"].tolist(), rel=1e-9, nan_ok=True)
    assert turned["low"].tolist() == pytest.approx((-table["high"]).tolist(), abs=1e-9, nan_ok=True)


def reason_of(frame, metric, **options):
    pairs = count_pairs(frame, y_pred=["a", "b"], labels=[0, 1], pos_label=1, **options)
    row = compare(pairs, metrics=metric).iloc[0]
    assert row[["low", "high", "se", "p_difference", "p_value"]].isna().sum() >= 1
    return row["reason"]


REASONS = {
    "no mean of recalls": (frame_of([5, 1, 1, 1], [5, 1, 1, 1]), "f1", "p_value is for means of recall, not for f1"),
    "a metric of one model": (frame_of([5, 0, 0, 0], [0, 0, 4, 2]), "precision", "'a': never predicted 1"),
    "a metric of both models": (frame_of([5, 0, 0, 0], [0, 0, 0, 4]), "precision", "never predicted 1"),
    "an absent class": (frame_of([5, 1, 1, 1], [0, 0, 0, 0]), "recall", "no rows of 1"),
    "an absent class of a mean": (frame_of([5, 1, 1, 1], [0, 0, 0, 0]), "balanced_accuracy", "no rows of 1"),
    "no rows": (frame_of([5, 1, 1, 1])[:0], "mcc", "no rows"),
    "not of predictions": (
        frame_of([5, 1, 1, 1], [5, 1, 1, 1]), "prevalence", "the same for both models, whatever they predict"
    ),
    "no upper bound": (frame_of([5, 1, 1, 1], [5, 1, 1, 1]), "odds_ratio", "no limits: odds_ratio has no upper bound"),
    "both infinite": (frame_of([5, 0, 0, 0], [5, 1, 1, 1]), "lr_plus", "both are infinite"),
}  # fmt: skip


@pytest.mark.parametrize(("frame", "metric", "reason"), REASONS.values(), ids=REASONS)
def test_reasons(frame, metric, reason):
    assert reason_of(frame, metric) == reason


def test_reason_of_weights():
    frame = frame_of([5, 1, 1, 1], [5, 1, 1, 1]).assign(w=1.5)
    assert reason_of(frame, "tba", sample_weight="w") == "p_value needs rows without weights"


def test_labels_that_do_not_occur_in_a_group_change_nothing():
    frame = rows_of(300, n_classes=3)
    alone = compare(
        count_pairs(frame, y_pred=["a", "b"]), metrics=["mcc", "f1_weighted", "accuracy"]
    )
    wider = count_pairs(frame, y_pred=["a", "b"], labels=[0, 1, 2, 3], abstain=[9])
    columns = ["difference", "low", "high", "se", "p_difference"]
    found = compare(wider, metrics=["mcc", "f1_weighted", "accuracy"])
    pd.testing.assert_frame_equal(found[columns], alone[columns])


def test_metrics_of_a_users_own():
    own = tba.Metric(
        "hit_share",
        "overall",
        lambda hits, support, predicted, total, is_class: hits.sum(axis=1) / total[:, 0],
    )
    pairs = golden_pairs()
    found, known = compare(pairs, metrics=own).iloc[0], compare(pairs, metrics="accuracy").iloc[0]
    for column in ("difference", "se", "p_difference"):
        assert found[column] == pytest.approx(known[column], rel=1e-6)
    assert compare(pairs, metrics=[tba.tempered(0), tba.f_beta(2)]).index.get_level_values(
        "metric"
    ).tolist() == ["tba_0", "f2"]


def test_adjusting_counts_each_test_once():
    pairs = golden_pairs()
    table = compare(pairs, metrics=["f1", "mcc", "tba"], t=[0, 1])
    tests = table["p_value"].fillna(table["p_difference"]).tolist()
    distinct = np.array([tests[0], tests[2], *tests[4:]])
    expected = holm(distinct)
    assert table["p_adjusted"].tolist() == pytest.approx(
        [expected[0]] * 2 + [expected[1]] * 2 + expected[2:].tolist(), **EXACT
    )
    rates = compare(pairs, metrics=["f1", "mcc", "tba"], t=[0, 1], adjust="fdr_bh")["p_adjusted"]
    assert rates.iloc[[0, 2, 4, 5]].tolist() == pytest.approx(
        benjamini_hochberg(distinct).tolist(), **EXACT
    )
    assert "p_adjusted" not in compare(pairs, adjust=None).columns


def test_benjamini_hochberg():
    p_values = np.array([0.01, 0.04, np.nan, 0.03, 0.6])
    found = benjamini_hochberg(p_values)
    held = p_values[~np.isnan(p_values)]
    assert found[[0, 1, 3, 4]].tolist() == pytest.approx(
        stats.false_discovery_control(held).tolist(), **EXACT
    )
    assert math.isnan(found[2])


def test_holm():
    found = holm(np.array([0.01, 0.04, np.nan, 0.03, 0.6]))
    assert found.tolist() == pytest.approx([0.04, 0.09, math.nan, 0.09, 0.6], nan_ok=True)


ERRORS = {
    "a negative margin": (
        {"margin": -0.01},
        (
            "`margin` must be a finite number of at least 0, the largest difference that does not "
            "matter, such as 0.02; got -0.01."
        ),
    ),
    "a margin of text": (
        {"margin": "2 %"},
        (
            "`margin` must be a finite number of at least 0, the largest difference that does not "
            "matter, such as 0.02; got '2 %'."
        ),
    ),
    "an adjustment": (
        {"adjust": "bonferroni"},
        "`adjust` must be one of 'holm', 'fdr_bh'; got 'bonferroni'.",
    ),
    "no metric": (
        {"metrics": []},
        "`metrics` is empty; name at least one, or leave it out for all.",
    ),
    "the least recall": (
        {"metrics": ["accuracy", "min_recall"]},
        (
            "`metrics`: 'min_recall' is the least of several recalls, so its difference has no "
            "standard error. Ask interval(metrics='min_recall') for the limits of either model, or "
            "compare another metric, such as recall of one class against the rest."
        ),
    ),
    "the majority": (
        {"metrics": "majority"},
        (
            "`metrics`: 'majority' is the same for all models of the same rows, so its difference has "
            "no standard error. Ask interval(metrics='majority') for the limits of either model, or "
            "compare another metric, such as recall of one class against the rest."
        ),
    ),
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
