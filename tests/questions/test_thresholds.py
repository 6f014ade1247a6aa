"""Every threshold of a score: against an obvious loop, scikit-learn, and whole error texts."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix_at_thresholds, roc_auc_score

from pandas_tba import InputError, KindError, UndefinedWarning, class_weights
from pandas_tba.counts.groups import Groups
from pandas_tba.questions.thresholds import (
    Scored,
    best_threshold,
    best_threshold_table,
    count_thresholds,
    sweep,
    sweep_table,
)

EXPONENTS = [-1.0, 0.0, 0.5, 1.0, math.inf]
ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=40
)


def simulated(n_rows, n_groups=5, seed=0):
    draws = np.random.default_rng(seed)
    scores = draws.uniform(size=n_rows).round(3)
    labels = np.where(draws.uniform(size=n_rows) < scores, "yes", "no")
    return labels, scores, draws.integers(0, n_groups, n_rows)


def by_hand(is_positive, scores, t):
    """(threshold, tp, fp, tba) for one group, by an obvious loop; tba NaN where undefined."""
    support = [(~is_positive).sum(), is_positive.sum()]
    weights = class_weights(support, t=t)
    rows = []
    for threshold in [math.inf, *sorted(set(scores.tolist()), reverse=True)]:
        predicted = scores >= threshold
        right = [(~predicted & ~is_positive).sum(), (predicted & is_positive).sum()]
        total = 0.0
        for k in range(2):
            if support[k] or t <= 0:
                total += weights[k] * right[k] / support[k] if support[k] else math.nan
        rows.append((threshold, right[1], support[0] - right[0], total))
    return rows


@given(ROWS, st.sampled_from(EXPONENTS))
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_sweep_equals_an_obvious_loop(rows, t):
    rows += [(True, 0, 9), (False, 0, 9)]  # so that there are two classes
    truth, scores, groups = (np.array(column) for column in zip(*rows, strict=True))
    found = sweep(truth, scores, pos_label=True, groups=groups, t=t)
    best = best_threshold(truth, scores, pos_label=True, groups=groups, t=t)
    assert found.index.names == ["group", "step"]
    assert best.index.tolist() == sorted(set(groups.tolist()))
    for group in best.index:
        expected = by_hand(truth[groups == group], scores[groups == group], t)
        part = found.loc[group]
        assert part.index.tolist() == list(range(len(expected)))
        for row, (threshold, tp, fp, tba) in zip(part.itertuples(), expected, strict=True):
            assert (row.threshold, row.tp, row.fp) == (threshold, tp, fp)
            assert row.tp + row.fn == truth[groups == group].sum()
            assert row.fp + row.tn == (~truth[groups == group]).sum()
            assert row.tba == pytest.approx(tba, nan_ok=True)
        values = [tba for *_, tba in expected]
        if math.isnan(values[0]):
            assert np.isnan(best.loc[group, ["threshold", "score"]].astype(float)).all()
            assert best.at[group, "reason"].startswith("no rows of")
        else:
            top = next(at for at, tba in enumerate(values) if tba > max(values) - 1e-9)
            assert best.at[group, "threshold"] == expected[top][0]
            assert best.at[group, "score"] == pytest.approx(values[top])


def test_counts_equal_those_of_scikit_learn():
    labels, scores, groups = simulated(4000)
    found = sweep(labels, scores, pos_label="yes", groups=groups, t=0)
    for group, part in found.groupby(level="group"):
        chosen = groups == group
        expected = confusion_matrix_at_thresholds(
            labels[chosen] == "yes", scores[chosen], pos_label=True
        )
        columns = part[["tn", "fp", "fn", "tp", "threshold"]].iloc[1:].to_numpy().T
        assert columns.tolist() == np.array(expected).tolist()
        recall, false_positives = part["recall"].to_numpy(), 1 - part["specificity"].to_numpy()
        area = (np.diff(false_positives) * (recall[1:] + recall[:-1]) / 2).sum()
        assert area == pytest.approx(roc_auc_score(labels[chosen], scores[chosen]))
        assert part["tba"].tolist() == pytest.approx(
            ((part["recall"] + part["specificity"]) / 2).tolist()
        )


@pytest.mark.parametrize(
    ("t", "groups", "names"),
    [
        (0.5, None, ["step"]),
        ([0.5], None, ["step", "t"]),
        (0.5, pd.Series([1, 1, 2, 2], name="region"), ["region", "step"]),
        ([0, 1], pd.Series([1, 1, 2, 2], name="region"), ["region", "step", "t"]),
        (0.5, pd.DataFrame({"a": [1, 1, 2, 2], "b": list("xyxy")}), ["a", "b", "step"]),
    ],
)
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_levels_depend_on_the_arguments(t, groups, names):
    arguments = {"pos_label": 1, "groups": groups, "t": t}
    table = sweep([0, 1, 0, 1], [0.1, 0.4, 0.3, 0.2], **arguments)
    best = best_threshold([0, 1, 0, 1], [0.1, 0.4, 0.3, 0.2], **arguments)
    assert list(table.index.names) == names
    assert list(best.index.names) == ([name for name in names if name != "step"] or [None])
    assert table.index.is_unique
    assert best["reason"].dtype == pd.Series([""]).dtype
    assert table.attrs["tba"]["classes"] == ["0", "1"]


def test_a_list_of_t_is_the_columns_side_by_side():
    labels, scores, groups = simulated(300)
    table = sweep(labels, scores, pos_label="yes", groups=groups, t=EXPONENTS)
    best = best_threshold(labels, scores, pos_label="yes", groups=groups, t=EXPONENTS)
    for t in EXPONENTS:
        once = sweep(labels, scores, pos_label="yes", groups=groups, t=t)
        pd.testing.assert_frame_equal(table.xs(t, level="t"), once, check_index_type=False)
        once = best_threshold(labels, scores, pos_label="yes", groups=groups, t=t)
        pd.testing.assert_frame_equal(best.xs(t, level="t"), once, check_index_type=False)


@pytest.mark.parametrize("dtype", ["object", "category", "string[python]", "str"])
def test_labels_and_groups_of_every_text_dtype(dtype):
    labels, scores, groups = simulated(200)
    names = pd.Series(groups).map(lambda group: f"g{group}")
    expected = sweep(labels, scores, pos_label="yes", groups=names.astype(object))
    found = sweep(
        pd.Series(labels, dtype=dtype), scores, pos_label="yes", groups=names.astype(dtype)
    )
    pd.testing.assert_frame_equal(found, expected, check_index_type=False)


def test_missing_keys_are_a_group_and_rows_go_by_position():
    truth = pd.Series([0, 1, 0, 1], index=[7, 7, 3, 1])
    groups = pd.Series(["a", "a", None, None], index=[4, 5, 6, 7], name="g")
    table = best_threshold(truth, [0.1, 0.4, 0.2, 0.3], pos_label=1, groups=groups)
    assert table["n"].tolist() == [2, 2]
    assert table.index[0] == "a"
    assert pd.isna(table.index[1])
    assert table["threshold"].tolist() == [0.4, 0.3]


def test_of_equally_good_thresholds_the_highest():
    # at t = 0 both 0.9 (1/2 and 1) and 0.2 (1 and 1/2) give 0.75
    table = best_threshold([1, 0, 0, 1], [0.9, 0.5, 0.1, 0.2], pos_label=1, t=0)
    assert table[["threshold", "score"]].iloc[0].tolist() == [0.9, 0.75]


@pytest.mark.parametrize(("t", "expected"), [(1, 0.5), (0, 0.25), (-math.inf, 0.0), (math.inf, 1)])
def test_closed_form(t, expected):
    table = best_threshold([0, 0, 0, 1], [0.1, 0.2, 0.3, 0.6], pos_label=1, t=t)
    assert table.at[0, "calibrated_threshold"] == pytest.approx(expected)
    assert table.at[0, "distance"] == pytest.approx(table.at[0, "threshold"] - expected)


def test_scores_that_tie_with_the_calibrated_threshold_are_positive():
    truth, scores = [0] * 4 + [1] * 9, [0.2] * 3 + [0.6] * 6 + [0.8] * 4
    row = best_threshold(truth, scores, pos_label=1, t=0.5).iloc[0]
    assert row[["calibrated_threshold", "distance"]].tolist() == [0.6, 0.0]
    assert row["calibrated_score"] == row["score"] == pytest.approx(0.9)  # 2/5 of 3/4, and 3/5


def test_calibrated_scores_lose_next_to_nothing_at_the_closed_form():
    labels, scores, _ = simulated(100_000)
    table = best_threshold(labels, scores**2, pos_label="yes", t=0.5)  # no longer calibrated
    assert table.at[0, "score"] - table.at[0, "calibrated_score"] > 0.04
    table = best_threshold(labels, scores, pos_label="yes", t=[-0.5, 0, 0.5, 1])
    lost = table["score"] - table["calibrated_score"]
    assert lost.between(0, 0.003).all()
    assert table["distance"].abs().max() < 0.05


def test_scores_that_are_no_probabilities_have_no_closed_form():
    table = best_threshold([0, 1], [-3.0, 2.5], pos_label=1)
    row = table.iloc[0]
    assert row[["threshold", "score"]].tolist() == [2.5, 1.0]
    assert row[["calibrated_threshold", "calibrated_score", "distance"]].isna().all()
    assert row["reason"] == "scores outside [0, 1] are no probabilities"


def test_an_absent_class_is_named():
    arguments = {"pos_label": 1, "groups": ["a", "a", "b", "b"], "t": [0, 1]}
    text = (
        "Undefined recall of classes without rows: Group 'b': no rows of 0. The score is NaN "
        "wherever such a class has weight: at t <= 0."
    )
    with pytest.warns(UndefinedWarning) as caught:
        table = best_threshold([0, 1, 1, 1], [0.1, 0.4, 0.2, 0.3], **arguments)
    assert [str(warning.message) for warning in caught] == [text]
    rows = table.loc["b"]
    assert rows["reason"].tolist() == ["no rows of 0"] * 2
    assert rows["n_absent"].tolist() == [1, 1]
    assert rows["score"].tolist() == pytest.approx([math.nan, 1], nan_ok=True)
    assert rows["calibrated_threshold"].isna().all()


@pytest.mark.parametrize("n_groups", [0, 1, 3])
def test_counting_no_rows(n_groups):
    steps = count_thresholds(
        np.zeros(0, dtype=bool), np.zeros(0), np.zeros(0, dtype=np.intp), n_groups
    )
    assert steps.threshold.tolist() == [math.inf] * n_groups
    assert steps.support.tolist() == [[0, 0]] * n_groups


@pytest.mark.parametrize("t", [0.5, [0.5, 1]])
def test_tables_of_no_rows(t):
    names = Groups(("g",), (pd.Index(["a"]),), np.zeros((0, 1), dtype=np.intp), (False,))
    nothing = Scored(np.zeros(0, bool), np.zeros(0), np.zeros(0, np.intp), names, (0, 1))
    for make, function in ((sweep_table, sweep), (best_threshold_table, best_threshold)):
        table = make(nothing, t=t)
        some = function(
            [0, 1], [0.1, 0.2], pos_label=1, groups=pd.Series(["a", "a"], name="g"), t=t
        )
        assert len(table) == 0
        assert table.dtypes.to_dict() == some.dtypes.to_dict()
        assert table.index.names == some.index.names


def test_a_t_that_is_asked_for_twice_comes_twice():
    for groups in (None, ["a", "a"]):
        for function in (sweep, best_threshold):
            table = function([0, 1], [0.1, 0.2], pos_label=1, groups=groups, t=[1, 0, 1])
            assert table.index.get_level_values("t")[:3].tolist() == [1, 0, 1]


def test_counting_many_groups():
    labels, scores, _ = simulated(90_000)
    place = np.random.default_rng(1).permutation(90_000) % 70_000
    steps = count_thresholds(labels == "yes", scores, place, 70_000)
    assert steps.support.sum(axis=0).tolist() == [(labels == "no").sum(), (labels == "yes").sum()]
    assert (steps.hits[steps.first] == 0).all()
    ends = steps.first + steps.length - 1
    assert (steps.hits[ends] == steps.support[:, 1]).all()
    assert (steps.false_alarms[ends] == steps.support[:, 0]).all()


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (
            {"y_true": ["a", "b", "c"]},
            InputError,
            (
                "`y_true` must hold exactly two classes; got 'a', 'b', 'c'. Of more, set one against the "
                "rest: y_true == label, with pos_label=True."
            ),
        ),
        (
            {"y_true": ["a", "a", "a"]},
            InputError,
            (
                "`y_true` must hold exactly two classes; got 'a'. Of more, set one against the rest: "
                "y_true == label, with pos_label=True."
            ),
        ),
        (
            {"y_true": ["a", None, "b"]},
            InputError,
            "`y_true` must not hold missing labels; 1 of 3 rows do. Leave these rows out.",
        ),
        (
            {"pos_label": "yess"},
            InputError,
            "`pos_label` must be one of 'no', 'yes'; got 'yess'. Did you mean 'yes'?",
        ),
        (
            {"y_score": [0.1, math.nan, math.inf]},
            InputError,
            (
                "`y_score` must hold finite numbers; of 3 rows it is missing in 1 and infinite in 1. "
                "Leave these rows out; infinite log-odds can be turned into probabilities."
            ),
        ),
        (
            {"y_score": [0.1, 0.2]},
            InputError,
            "`y_true` and `y_score` must be of one length; got 3 and 2.",
        ),
        (
            {"y_score": np.zeros((3, 2))},
            InputError,
            "`y_score` must be one column; got shape (3, 2).",
        ),
        (
            {"groups": [1, 2]},
            InputError,
            "`y_true` and `groups` must be of one length; got 3 and 2.",
        ),
        (
            {"groups": pd.DataFrame(index=range(3))},
            InputError,
            "`groups` must have columns of different names, one for each key; got none.",
        ),
        (
            {"groups": pd.Series([1, 1, 2], name="threshold")},
            InputError,
            (
                "`groups`: the key 'threshold' has the name of a column or level of the result; rename "
                "it."
            ),
        ),
        (
            {"t": []},
            InputError,
            "`t` is an empty list; give at least one number.",
        ),
    ],
)
@pytest.mark.parametrize("function", [sweep, best_threshold])
def test_errors_say_what_to_do(function, arguments, kind, text):
    given_ = {
        "y_true": ["no", "yes", "no"],
        "y_score": [0.1, 0.2, 0.3],
        "pos_label": "yes",
        **arguments,
    }
    with pytest.raises(kind) as caught:
        function(given_.pop("y_true"), given_.pop("y_score"), **given_)
    assert str(caught.value) == text


def test_scores_must_be_numbers():
    with pytest.raises(KindError, match="`y_score`"):
        sweep(["no", "yes"], ["low", "high"], pos_label="yes")
