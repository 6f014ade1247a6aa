"""The tables of intervals and posteriors: shapes, reasons, warnings, errors, hand-worked cases."""

import json
import math
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal
from scipy import stats

import pandas_tba as tba
from pandas_tba import InputError, InputWarning, UndefinedWarning
from pandas_tba.inference.intervals import INTERVALS, recalls_of, standard_error
from pandas_tba.questions.intervals import interval, posterior

EXACT = {"rel": 1e-10, "abs": 1e-10, "nan_ok": True}
METHODS = [way.name for way in INTERVALS]
FORMULAS = METHODS[:3]
COLUMNS = ["n", "min_support", "n_absent", "score", "low", "high", "se", "n_eff", "reason"]
DRAWN = [*COLUMNS[:-1], "n_undefined", "reason"]
SUMMARY = ["n", "min_support", "n_absent", "mean", "median", "low", "high", "p_above"]
GROUPED = [[[81, 9], [5, 5]], [[45, 5], [25, 25]]]
SOME = settings().max_examples // 4


def counts_of(matrices, groups=None, **options):
    groups = groups if groups is None else pd.Index(groups, name="group")
    return tba.ConfusionCounts.from_matrix(matrices, groups=groups, **options)


def grouped():
    return counts_of(GROUPED, ["a", "b"])


def weighted(seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"y_true": np.repeat([0, 0, 1, 1], 30), "w": random.integers(1, 5, 120)})
    frame["y_pred"] = np.where(random.random(120) < 0.7, frame["y_true"], 1 - frame["y_true"])
    frame["group"] = np.tile(["a", "b"], 60)
    return frame


def test_rates_of_one_class():  # 0 of 12, 15 of 15, 1 of 1
    counts = counts_of([[[0, 12], [0, 0]], [[15, 0], [0, 0]], [[1, 0], [0, 0]]], list("abc"))
    found = interval(counts, t=1)
    expected = [(0, 0.242494), (0.796117, 1), (0.206549, 1)]
    assert found[["low", "high"]].to_numpy() == pytest.approx(np.array(expected), abs=1e-6)
    assert (found["low"] < found["high"]).all()
    assert found["n_eff"].tolist() == pytest.approx([12, 15, 1])


def test_common_weights_make_groups_equal():
    own, pooled = (interval(grouped(), prevalence=whose) for whose in ("own", "pooled"))
    assert own["score"].tolist() == pytest.approx([0.8, 0.7])
    assert pooled["score"].tolist() == pytest.approx([0.741742430504416] * 2, **EXACT)
    assert pooled.loc["b", "n_eff"] > pooled.loc["a", "n_eff"]


@pytest.mark.parametrize(
    ("prevalence", "reference"),
    [
        ("own", np.array([[90.0, 10], [50, 50]])),
        ("pooled", np.array([[140.0, 60]])),
        ({0: 0.7, 1: 0.3}, None),
    ],
)
def test_each_prevalence_has_its_own_variance(prevalence, reference):
    support, hits = np.array([[90.0, 10], [50, 50]]), np.array([[81.0, 5], [45, 25]])
    shares = np.array([[0.7, 0.3]]) if reference is None else reference
    expected = standard_error(recalls_of(hits, support, shares, reference=reference), 0.5)
    found = interval(grouped(), prevalence=prevalence)
    assert found["se"].tolist() == pytest.approx(expected.tolist(), **EXACT)


def test_one_group_is_its_own_population():
    counts = counts_of([[63, 27], [2, 8]])
    own, pooled = (interval(counts, prevalence=whose) for whose in ("own", "pooled"))
    assert own.equals(pooled)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("t", "metrics", "names"),
    [
        (0.5, None, ["group"]),
        ([0.5], None, ["group", "t"]),
        (0.5, "accuracy", ["group"]),
        (0.5, ["accuracy"], ["group", "metric"]),
        ([0, 1], ["tba", "accuracy"], ["group", "metric", "t"]),
    ],
)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_shape(method, t, metrics, names):
    found = interval(grouped(), t=t, metrics=metrics, method=method, n_replicates=50)
    assert list(found.columns) == (DRAWN if method == "bootstrap" else COLUMNS)
    assert list(found.index.names) == names
    assert len(found) == 2 * np.size(t) * (len(metrics) if isinstance(metrics, list) else 1)
    assert found["n"].unique().tolist() == [100]


def test_order_of_levels_without_groups():
    counts = counts_of([[63, 27], [2, 8]])
    assert interval(counts).index.tolist() == [0]
    assert interval(counts, t=[0, 1]).index.equals(pd.Index([0.0, 1.0], name="t"))
    both = interval(counts, t=[0, 0], metrics=["tba", "accuracy"])
    assert both.index.tolist() == [("tba", 0.0), ("tba", 0.0), ("accuracy", 0.0), ("accuracy", 0.0)]
    assert both["score"].tolist() == pytest.approx([0.75, 0.75, 0.71, 0.71])


def test_models_come_first_and_are_pooled_apart():
    frame = weighted()
    frame["other"] = frame["y_true"]
    counts = frame.tba(y_pred=["y_pred", "other"]).counts(by="group")
    found = interval(counts, t=[0, 1], prevalence="pooled")
    assert list(found.index.names) == ["model", "group", "t"]
    alone = interval(frame.tba.counts(by="group"), t=[0, 1], prevalence="pooled")
    assert found.loc["y_pred"].equals(alone)


def test_attrs_are_json():
    about = interval(grouped(), t=[0, 1], level=0.9, method="mover").attrs["tba"]
    assert json.loads(json.dumps(about)) == about
    assert (about["level"], about["method"], about["prevalence"]) == (0.9, "mover", "own")
    assert posterior(grouped()).attrs["tba"]["prior"] == [1.0, 1.0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_an_absent_class_leaves_bounds_and_a_reason(method):
    counts = counts_of([[[60, 3], [0, 0]], [[30, 30], [20, 20]], [[0, 0], [0, 0]]], list("abc"))
    found = interval(counts, t=[-1, 0, 1], method=method, generator=0)
    few = "fewer than 5 hits or misses of 0" if method == "bootstrap" else ""
    assert found["reason"].tolist() == ["no rows of 1"] * 2 + [few] + [""] * 3 + ["no rows"] * 3
    assert found["score"].isna().tolist() == found["reason"].str.startswith("no").tolist()
    assert found["se"].isna().tolist() == found["score"].isna().tolist()
    low, high = found.loc[("a", 0.0), ["low", "high"]]
    inner = found.loc[("a", 1.0), ["low", "high"]]
    assert [low, high] == pytest.approx([inner["low"] / 2, inner["high"] / 2 + 0.5], abs=0.02)
    assert found.loc["c", ["low", "high"]].to_numpy().tolist() == [[0, 1]] * 3
    assert found.loc[("a", -1.0), ["low", "high"]].tolist() == [0, 1]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_common_prevalence_of_an_absent_class(method):
    counts = counts_of([[[60, 3], [0, 0]], [[20, 17], [30, 30]]], ["a", "b"])
    found = interval(counts, t=1, prevalence="pooled", method=method, generator=0).loc["a"]
    assert math.isnan(found["score"])
    assert found["reason"] == "no rows of 1"
    assert found["low"] < 60 / 63 * 100 / 160 < 60 / 63 * 100 / 160 + 60 / 160 < found["high"] <= 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("by", [None, "group"])
@pytest.mark.parametrize("labels", [None, ["x", "y"]])
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_nothing_counted(method, by, labels):
    frame = pd.DataFrame({"y_true": ["x"], "y_pred": ["x"], "group": ["a"]})[:0]
    counts = frame.tba(labels=labels).counts(by=by)
    metrics = ["tba", "accuracy", *(["mcc"] if method != "mover" else [])]
    options = {"t": [0, 1], "metrics": metrics, "n_replicates": 9, "method": method}
    found = interval(counts, **options)
    assert list(found.columns) == (DRAWN if method == "bootstrap" else COLUMNS)
    assert len(found) == (0 if by else 2 * len(metrics))
    assert found["score"].isna().all()
    assert labels or found.query("metric != 'mcc'")["low"].isna().all()
    expected = interval(counts_of(np.array(GROUPED[0]) * 9), **options)
    assert found.dtypes.equals(expected.dtypes)
    assert labels or posterior(counts)["mean"].isna().all()


NAMES = [metric.name for metric in tba.METRICS]
PROPORTIONS = [metric.name for metric in tba.METRICS if metric.share_of is not None]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PROPORTIONS)
@pytest.mark.filterwarnings(
    "ignore::pandas_tba.InputWarning", "ignore::pandas_tba.UndefinedWarning"
)
def test_a_proportion_has_its_own_rows(method, name):
    counts = counts_of([[[43, 17], [12, 28]], [[30, 0], [5, 9]], [[0, 0], [0, 7]]], list("abc"))
    found = interval(counts, metrics=name, method=method, generator=2)
    assert found["score"].equals(tba.metrics(counts, metrics=name)[name].rename("score"))
    parts = (counts.support[:, 1], counts.predicted[:, 1], counts.rows)
    rows = next(metric for metric in tba.METRICS if metric.name == name).denominator(*parts)
    whole = (found["score"] * rows).dropna()
    assert whole.tolist() == pytest.approx(whole.round().tolist())
    for group, n in zip("abc", rows, strict=True):
        if n == 0:
            assert found.loc[group, "reason"] != ""
            assert found.loc[group, ["low", "high"]].tolist() == [0, 1]
        elif method in ("wilson", "conservative"):
            witness = stats.binomtest(round(found.loc[group, "score"] * n), int(n))
            named = {"wilson": "wilson", "conservative": "exact"}[method]
            expected = list(witness.proportion_ci(0.95, named))
            assert found.loc[group, ["low", "high"]].tolist() == pytest.approx(expected, **EXACT)
            assert found.loc[group, "n_eff"] == pytest.approx(n)


@pytest.mark.parametrize("prevalence", ["own", "pooled"])
@pytest.mark.parametrize("t", [-0.5, 0.0, 0.3, 1.0])
def test_a_tempered_metric_has_the_interval_of_tba_at_its_t(t, prevalence):
    found = interval(grouped(), metrics=tba.tempered(t), prevalence=prevalence)
    assert_frame_equal(found, interval(grouped(), t=t, prevalence=prevalence))
    if prevalence == "pooled":
        differences = tba.disparity(grouped(), metrics=tba.tempered(t))
        assert_frame_equal(differences, tba.disparity(grouped(), t=t))


def test_means_of_recall_are_tba_at_their_exponent():
    at = {"accuracy": 1.0, "balanced_accuracy": 0.0, "recall_macro": 0.0}
    found = interval(grouped(), t=[0, 1], metrics=["tba", *at], prevalence="own")
    for name, t in at.items():
        for shown in (0.0, 1.0):
            one = found.xs((name, shown), level=["metric", "t"])
            assert one.equals(found.xs(("tba", t), level=["metric", "t"]))


def test_accuracy_keeps_its_own_prevalence():
    own, pooled = (interval(grouped(), metrics="accuracy", prevalence=p) for p in ("own", "pooled"))
    assert own.equals(pooled)


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_has_an_interval_within_its_bounds(name):
    counts = counts_of([[[430, 170], [120, 280]], [[500, 100], [90, 310]]], ["a", "b"])
    metric = next(metric for metric in tba.METRICS if metric.name == name)
    found = interval(counts, metrics=name, t=[0.5])
    expected = tba.metrics(counts, metrics=name, t=[0.5])[name]
    assert found["score"].tolist() == pytest.approx(expected.tolist(), **EXACT)
    assert (found["low"] < found["score"]).all()
    assert (found["score"] < found["high"]).all()
    assert (found["low"] >= metric.bounds[0]).all()
    assert (found["high"] <= metric.bounds[1]).all()
    assert (found["reason"] == "").all()


@pytest.mark.parametrize("name", NAMES)
def test_weighted_counts_take_every_metric(name):
    weights = weighted().assign(same=3.0)

    def table(weight):
        counts = weights.tba(sample_weight=weight, pos_label=1).counts(by="group")
        return interval(counts, metrics=name, t=1.0)

    rows, same, unequal = (table(weight) for weight in (None, "same", "w"))
    names = ["score", "low", "high", "se", "n_eff"]
    assert same[names].to_numpy() == pytest.approx(rows[names].to_numpy(), **EXACT)
    assert ((unequal["low"] < unequal["score"]) & (unequal["score"] < unequal["high"])).all()
    wider = (unequal["high"] - unequal["low"]) > (rows["high"] - rows["low"])
    assert wider.any()


@pytest.mark.parametrize(
    "name", [metric.name for metric in tba.METRICS if np.isfinite(metric.bounds).all()]
)
def test_conservative_limits_are_wider(name):
    counts = counts_of([[[43, 7], [12, 28]], [[60, 2], [5, 20]]], ["a", "b"])
    exact, wilson = (
        interval(counts, metrics=name, method=method) for method in ("conservative", "wilson")
    )
    middle = (exact["score"] > 0.1) & (exact["score"] < 0.9)
    assert exact["n_eff"].equals(wilson["n_eff"])
    assert middle.any()
    ends = (exact["low"] <= wilson["low"]) & (exact["high"] >= wilson["high"])
    assert ends[middle].all()
    assert (exact["high"] - exact["low"] > wilson["high"] - wilson["low"])[middle].all()


@pytest.mark.parametrize(
    ("metrics", "matrix", "reason"),
    [
        ("tba", [[95, 3], [1, 2]], "fewer than 5 rows of 1"),
        ("mcc", [[95, 3], [1, 2]], "fewer than 5 rows of 1"),
        ("informedness", [[1, 2], [3, 90]], "fewer than 5 rows of other classes"),
        ("precision_macro", [[95, 1], [5, 2]], "fewer than 5 predicted rows of 1"),
        ("f1_macro", [[95, 0], [4, 0]], "fewer than 5 rows of 1, fewer than 5 predicted rows of 1"),
        ("tba_slope", [[95, 3], [1, 8]], "fewer than 10 rows of 1"),
        ("cohen_kappa", [[0, 0], [3, 5]], "its variance is 0"),
        ("precision_macro", [[95, 0], [4, 0]], "a class is never predicted"),
        ("f1", [[95, 3], [1, 2]], ""),
    ],
)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_the_reason_says_where_limits_fall_short(metrics, matrix, reason):
    found = interval(counts_of(matrix), metrics=metrics).iloc[0]
    assert found["reason"] == reason
    assert math.isnan(found["low"]) == (reason == "its variance is 0")


def test_a_table_of_many_classes_names_the_first_that_are_short():
    with pytest.warns(InputWarning):
        found = interval(counts_of(np.eye(9, dtype=int) * 2), metrics="mcc")
    assert found["reason"].tolist() == ["fewer than 5 rows of 0, 1, 2, 3, 4 and 4 more"]


def halved(hits, support, predicted, total, is_class):
    return hits.sum(axis=1) / total[:, 0] / 2


@pytest.mark.parametrize("method", ["wilson", "bootstrap"])
def test_a_metric_of_the_user(method):
    half = tba.Metric("halved", "overall", halved, bounds=(0, 0.5))
    counts = counts_of(np.array(GROUPED) * 4, ["a", "b"])
    found = interval(counts, metrics=[half, "accuracy"], generator=1, method=method)
    expected = interval(counts, metrics="accuracy")
    for name in ("score", "low", "high", "se"):
        ours = found.xs("halved", level="metric")[name] * 2
        assert ours.tolist() == pytest.approx(expected[name].tolist(), abs=0.02)


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_a_bootstrap_never_has_zero_width():
    counts = counts_of([[[30, 0], [0, 30]], [[29, 1], [0, 30]], [[30, 0], [0, 1]]], list("abc"))
    found = interval(counts, t=0, method="bootstrap", generator=1)
    assert found["reason"].tolist() == [
        "every replicate has the same value",
        "fewer than 5 hits or misses of 0, 1",
        "every replicate has the same value",
    ]
    assert found["low"].isna().tolist() == [True, False, True]
    assert found["score"].tolist() == pytest.approx([1, 59 / 60, 1])
    assert found["n_undefined"].tolist()[:2] == [0, 0]
    assert found.loc["c", "n_undefined"] == pytest.approx(2000 * (30 / 31) ** 31, rel=0.1)
    f1 = interval(counts, metrics="f1", generator=1, method="bootstrap")
    assert f1["reason"].tolist()[0] == "every replicate has the same value"


@pytest.mark.parametrize("prevalence", ["own", "pooled", {0: 0.7, 1: 0.3}])
def test_bootstrap_and_formula_agree_on_many_rows(prevalence):
    matrices = np.array(GROUPED) * 40
    counts = counts_of(matrices, ["a", "b"])
    options = {"t": [0, 0.5, 1], "prevalence": prevalence}
    drawn = interval(counts, **options, method="bootstrap", n_replicates=20_000, generator=7)
    found = interval(counts, **options)
    assert drawn["se"].tolist() == pytest.approx(found["se"].tolist(), rel=0.03)
    for name in ("low", "high"):
        assert drawn[name].tolist() == pytest.approx(found[name].tolist(), abs=3e-3)


def test_a_seed_repeats_and_groups_do_not_depend_on_blocks(monkeypatch):
    options = {"method": "bootstrap", "generator": 3, "n_replicates": 4000}
    counts = counts_of(np.array(GROUPED) * 40, ["a", "b"])
    whole = interval(counts, **options)
    assert whole.equals(interval(counts, **options))
    monkeypatch.setattr("pandas_tba.questions.estimates._VALUES_AT_A_TIME", 1)
    blocks = interval(counts, **options)
    assert blocks["low"].tolist() == pytest.approx(whole["low"].tolist(), abs=5e-3)


def test_weights_are_scale_free_and_equal_ones_are_rows():
    frame = weighted().assign(same=2.0, scaled=lambda frame: frame["w"] * 10)
    options = {"t": [0, 0.5, 1], "prevalence": "pooled", "metrics": ["tba", "accuracy", "recall"]}
    names = ["score", "low", "high", "se", "n_eff"]

    def table(weight):
        return interval(frame.tba(sample_weight=weight).counts(by="group"), **options)[names]

    assert table("same").to_numpy() == pytest.approx(table(None).to_numpy(), **EXACT)
    assert table("w").to_numpy() == pytest.approx(table("scaled").to_numpy(), **EXACT)
    assert (table("w")["n_eff"] < table(None)["n_eff"]).all()


def test_weighted_tables_show_the_weight():
    found = interval(weighted().tba(sample_weight="w").counts())
    assert list(found.columns) == ["n", "weight", *COLUMNS[1:]]


def test_weighted_recall_is_the_recall_of_its_class():
    counts = weighted().tba(sample_weight="w", pos_label=1).counts(by="group")
    rows = counts.support[:, 1] ** 2 / counts.squared_support[:, 1]
    recall = counts.hits[:, 1] / counts.support[:, 1]
    of_hits = counts.squared_hits[:, 1]
    spread = of_hits * (1 - recall) ** 2 + (counts.squared_support[:, 1] - of_hits) * recall**2
    found = interval(counts, metrics="recall")
    assert found["se"].tolist() == pytest.approx((spread**0.5 / counts.support[:, 1]).tolist())
    assert (found["n_eff"] - rows).abs().max() < 0.25 * rows.max()


@settings(max_examples=SOME)
@given(
    st.lists(st.lists(st.integers(0, 30), min_size=9, max_size=9), min_size=1, max_size=3),
    st.lists(st.sampled_from([-math.inf, -3, -1, 0, 0.5, 1, 2, math.inf]), min_size=1, max_size=3),
    st.sampled_from(["own", "pooled"]),
    st.sampled_from(METHODS),
)
def test_no_warning_leaks_and_every_nan_has_a_reason(cells, t, prevalence, method):
    counts = counts_of(np.reshape(cells, (-1, 3, 3)), list(range(len(cells))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", InputWarning)
        found = interval(
            counts,
            t=t,
            prevalence=prevalence,
            method=method,
            metrics=["tba", *(["f1_macro", "mcc", "min_recall"] if method != "mover" else [])],
            n_replicates=20,
            generator=0,
        )
    tba_rows = found.xs("tba", level="metric")
    known = tba_rows.dropna(subset=["low"])
    assert ((known["low"] < known["high"]) & (known["low"] >= 0) & (known["high"] <= 1)).all()
    assert method == "bootstrap" or len(known) == len(tba_rows)
    is_nan = found[["score", "low", "high"]].isna().any(axis=1)
    is_few = found["reason"].str.startswith("fewer than ")
    assert is_nan.tolist() == ((found["reason"] != "") & ~is_few).tolist()


SMALL = "The interval of {} may hold the true value less often than its level says: a class has fewer than {}{}. {}"
HOLDS = "method='conservative' is wider."
CLOSER = "method='wilson' comes closer."


def lift(hits, support, predicted, total):
    return hits * total / (support * predicted)


@pytest.mark.parametrize(
    ("counts", "options", "text"),
    [
        (counts_of([[95, 0], [1, 3]]), {}, SMALL.format("'wilson'", "5 rows", "", HOLDS)),
        (
            counts_of([[[95, 0], [1, 3]], [[95, 0], [1, 5]]], ["a", "b"]),
            {"method": "mover"},
            SMALL.format("'mover'", "5 rows", " in 'a'", HOLDS),
        ),
        (
            counts_of([[[95, 0], [1, 3]]] * 7, range(7)),
            {"method": "wilson"},
            SMALL.format("'wilson'", "5 rows", " in 0, 1, 2, 3, 4 and 2 more", HOLDS),
        ),
        (
            counts_of([[95, 0], [1, 18]]),
            {"metrics": "f1", "n_replicates": 9, "method": "bootstrap"},
            SMALL.format("'bootstrap'", "20 rows or 5 hits or misses", "", CLOSER),
        ),
        (
            counts_of([[[95, 0], [1, 18]], [[95, 40], [1, 18]]], ["a", "b"]),
            {"method": "bootstrap", "n_replicates": 9},
            SMALL.format("'bootstrap'", "20 rows or 5 hits or misses", " in 'a', 'b'", CLOSER),
        ),
        (
            counts_of([[95, 3], [1, 1]]),
            {"metrics": ["mcc", "precision_macro"]},
            SMALL.format("'wilson'", "5 rows or 5 predicted rows", "", HOLDS),
        ),
        (
            counts_of([[95, 0], [8, 0]]),
            {"metrics": "f1_macro"},
            SMALL.format("'wilson'", "5 predicted rows", "", HOLDS),
        ),
        (
            counts_of([[95, 3], [1, 7]]),
            {"metrics": "tba_slope"},
            SMALL.format("'wilson'", "10 rows", "", "").strip(),
        ),
        (
            counts_of([[95, 3], [2, 7]]),
            {"metrics": tba.Metric("lift", "class", lift, bounds=(0, math.inf))},
            "Limits of 'lift' are normal ones, since not both bounds are finite: they need many rows.",
        ),
    ],
)
def test_few_rows_warn(counts, options, text):
    with pytest.warns(InputWarning) as caught:
        interval(counts, **options)
    assert [str(warning.message) for warning in caught] == [text]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "options",
    [
        {"method": "conservative"},
        {"t": 1},
        {"metrics": ["accuracy", "precision"]},
        {"t": 1, "metrics": "tba", "method": "mover"},
        {"metrics": ["f1", "jaccard"]},
        {"metrics": ["mcc", "f1_macro"], "method": "conservative"},
    ],
)
def test_few_rows_do_not_warn_where_none_are_needed(options):
    found = interval(counts_of([[95, 0], [1, 3]]), **options)
    assert (found["reason"] == "").all()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"method": "wald"},
            "`method` must be one of 'wilson', 'conservative', 'mover', 'bootstrap'; got 'wald'.",
        ),
        (
            {"method": "mover", "metrics": ["tba", "mcc", "min_recall"]},
            (
                "`method`='mover' takes means of recall and single proportions, which 'mcc', "
                "'min_recall' is not. Choose method='wilson', which takes every metric."
            ),
        ),
        (
            {"method": "conservative", "metrics": ["mcc", "tba_slope"]},
            (
                "`method`='conservative' takes metrics between finite bounds, which 'tba_slope' is not. "
                "Choose method='wilson', which takes every metric."
            ),
        ),
        (
            {"metrics": tba.Metric("right", "overall", lambda h, s, q, n, k: h.sum(axis=1))},
            (
                "`metrics`: 'right' changes when every cell is doubled, so that it has no limits by "
                "formula. Divide by the total, or choose method='bootstrap'."
            ),
        ),
        ({"level": 1}, "`level` must be a number between 0 and 1, such as 0.95; got 1."),
        (
            {"metrics": "recall"},
            (
                "`metrics`: 'recall' describes one class, and no class is positive. Classes: 'x', 'y'. "
                "Name one, as in df.tba(pos_label='y'), or ask per_class()."
            ),
        ),
    ],
)
def test_errors(options, text):
    counts = counts_of(GROUPED[0], labels=["x", "y"])
    with pytest.raises(InputError) as caught:
        interval(counts, **options)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"method": "mover"},
            (
                "`method`='mover' takes rows, and these counts are weighted. Choose 'wilson', "
                "'conservative'."
            ),
        ),
    ],
)
def test_errors_of_weights(options, text):
    with pytest.raises(InputError) as caught:
        interval(weighted().tba(sample_weight="w").counts(), **options)
    assert str(caught.value) == text


def test_a_posterior_refuses_weights():
    with pytest.raises(InputError) as caught:
        posterior(weighted().tba(sample_weight="w").counts())
    assert str(caught.value) == (
        "`counts` are weighted, and a posterior needs rows. Choose interval(), whose 'wilson' takes "
        "weights, or count without sample_weight."
    )


@pytest.mark.parametrize("name", ["low", "reason", "t"])
def test_a_key_may_not_bear_the_name_of_a_column(name):
    counts = tba.ConfusionCounts.from_matrix(GROUPED, groups=pd.Index(["a", "b"], name=name))
    with pytest.raises(InputError, match="name of a column or level of the result"):
        interval(counts, t=[0])


def test_posterior_of_groups_and_exponents():
    found = posterior(grouped(), t=[0, 1])
    assert list(found.columns) == SUMMARY
    assert list(found.index.names) == ["group", "t"]
    assert found["mean"].tolist() == pytest.approx(
        [(82 / 92 + 6 / 12) / 2, 0.9 * 82 / 92 + 0.1 * 6 / 12, (46 / 52 + 26 / 52) / 2, 36 / 52]
    )
    assert posterior(grouped(), t=1).equals(found.xs(1.0, level="t"))


def test_posterior_of_a_classifier_that_never_answers_a_class():
    counts = counts_of([[480, 0], [20, 0]])
    found = posterior(counts).iloc[0]
    assert found["p_above"] == pytest.approx(481 / 502, abs=1e-8)
    higher = posterior(counts, above=0.6, prior="jeffreys", level=0.5).iloc[0]
    assert higher["p_above"] < 0.01
    assert found["low"] < higher["low"] < higher["high"] < found["high"]


def test_posterior_with_common_weights():
    own = posterior(grouped(), t=1, prevalence="own")
    given_shares = posterior(grouped(), t=1, prevalence={0: 0.9, 1: 0.1})
    assert given_shares.loc["a"].tolist() == pytest.approx(own.loc["a"].tolist(), abs=1e-9)
    pooled = posterior(grouped(), t=1, prevalence="pooled")
    assert pooled.loc["b", "mean"] == pytest.approx(0.7 * 46 / 52 + 0.3 * 26 / 52)


def test_posterior_of_an_absent_class_is_the_prior():
    counts = counts_of([[[60, 3], [0, 0]], [[30, 3], [5, 5]], [[0, 0], [0, 0]]], list("abc"))
    with pytest.warns(UndefinedWarning) as caught:
        found = posterior(counts, prior=(2, 1))
    assert [str(warning.message) for warning in caught] == [
        (
            "Undefined recall of classes without rows, for which the prior stands alone: Group 'a': no "
            "rows of 1; Group 'c': no rows."
        )
    ]
    assert found["n_absent"].tolist() == [1, 0, 2]
    assert found["mean"].tolist() == pytest.approx(
        [(62 / 66 + 2 / 3) / 2, (32 / 36 + 7 / 13) / 2, 2 / 3]
    )


@pytest.mark.parametrize(
    "ask",
    [
        lambda counts, half: tba.interval(counts, level=half),
        lambda counts, half: tba.posterior(counts, above=half),
        lambda counts, half: tba.score(counts, t=[0, half], smoothing=half),
        lambda counts, half: tba.diagnose(counts, level=half),
    ],
    ids=["level", "above", "smoothing", "slope"],
)
def test_decimals_are_numbers(ask):
    counts = tba.ConfusionCounts.from_matrix([[63, 27], [2, 8]])
    assert str(ask(counts, Decimal("0.5"))) == str(ask(counts, 0.5))
