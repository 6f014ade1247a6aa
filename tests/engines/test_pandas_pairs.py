"""Counts of paired models equal those of a slow, obvious loop, in columns and in rows."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pandas_tba as tba
from pandas_tba.engines.dispatch import count_pairs

MODELS = ["a", "b", "c"]
LONG = {"y_pred": "p", "model": "model", "row": "case"}


def random_frame(n_rows, *, seed=0, n_labels=3):
    random = np.random.default_rng(seed)
    columns = {name: random.integers(n_labels, size=n_rows) for name in ["y_true", *MODELS]}
    frame = pd.DataFrame(columns)
    return frame.assign(g=random.choice(np.array(["x", "y", None], dtype=object), n_rows))


def as_long(frame, keep=None):
    """One row for each case and model, in another order, some of them left out."""
    cases = frame.assign(case=np.arange(len(frame)) + 100)
    long = cases.melt(["case", "y_true", "g"], MODELS, var_name="model", value_name="p")
    long = long if keep is None else long[keep]
    return long.sample(frac=1, random_state=1)


def slow_counts(frame, scored=None):
    """Rows by pair, group and labels, and those with one score, one case after another."""
    cells, unpaired = {}, {}
    for case, (a, b) in itertools.product(range(len(frame)), itertools.combinations(range(3), 2)):
        line = frame.iloc[case]
        key = (MODELS[a], MODELS[b], "none" if pd.isna(line["g"]) else line["g"])
        both = [True if scored is None else scored[m][case] for m in (a, b)]
        if all(both):
            place = (*key, line["y_true"], line[MODELS[a]], line[MODELS[b]])
            cells[place] = cells.get(place, 0) + 1
        elif any(both):
            unpaired[key] = unpaired.get(key, 0) + 1
    return cells, unpaired


def fast_counts(pairs):
    keys = [tuple("none" if pd.isna(part) else part for part in key) for key in pairs.groups]
    labels, (group, *places, (rows, *_)) = pairs.label_set.values, pairs.joint
    cells = {
        (*keys[at], *(labels[place] for place in line)): n
        for at, n, *line in zip(group, rows, *places, strict=True)
    }
    return cells, {keys[at]: pairs.unpaired[at] for at in np.flatnonzero(pairs.unpaired)}


def assert_same(found, expected):
    assert fast_counts(found) == fast_counts(expected)
    assert found.label_set.classes == expected.label_set.classes
    assert found.n_missing == expected.n_missing


@pytest.mark.parametrize("n_rows", [1, 2, 200])
def test_models_in_columns(n_rows):
    frame = random_frame(n_rows)
    found = count_pairs(frame, y_pred=MODELS, by="g", labels=[0, 1, 2])
    assert fast_counts(found) == slow_counts(frame)


@pytest.mark.parametrize("n_rows", [5, 200])
def test_models_in_rows(n_rows):
    frame = random_frame(n_rows)
    scored = np.random.default_rng(3).random((3, n_rows)) < 0.7
    scored[:, 0] = True
    long = as_long(frame, scored.reshape(-1))
    found = count_pairs(long, **LONG, by="g", labels=[0, 1, 2])
    assert fast_counts(found) == slow_counts(frame, scored)
    long, wide = count_pairs(as_long(frame), **LONG), count_pairs(frame, y_pred=MODELS)
    assert_same(long, wide)


STORAGES = ["int8", "Int64", "float64", "category", "str", object]


@pytest.mark.parametrize("dtype", STORAGES, ids=str)
def test_labels_of_every_dtype(dtype):
    frame = random_frame(60)
    plain = count_pairs(frame, y_pred=MODELS, by="g")
    stored = frame.astype(dict.fromkeys(["y_true", *MODELS], dtype))
    found = count_pairs(stored, y_pred=MODELS, by="g")
    assert (found.cells == plain.cells).all()
    assert (
        count_pairs(as_long(stored).astype({"p": dtype}), **LONG, by="g").cells == plain.cells
    ).all()


def test_many_rows_and_rare_values():
    # beyond the sample by which the range of integers is guessed
    frame = random_frame(60_000)
    frame.loc[40_001, ["y_true", *MODELS]] = [7, 7, 9, 8]
    with pytest.warns(tba.InputWarning, match="8, 9"):
        found = count_pairs(frame, y_pred=MODELS)
    assert found.label_set.classes == [0, 1, 2, 7]
    assert found.cells[:, 3].tolist() == [[[0, 0], [1, 0]], [[0, 0], [1, 0]], [[1, 0], [0, 0]]]


@pytest.mark.parametrize("n_labels", [85, 86, 255, 256, 257])
@pytest.mark.parametrize("n_classes", [1, 2])
def test_labels_that_fill_the_codes(n_labels, n_classes):
    guess = np.arange(n_labels)
    frame = pd.DataFrame({"y_true": guess % n_classes, "a": guess, "b": guess[::-1], "g": "all"})
    found = count_pairs(frame, y_pred=["a", "b"], by="g", abstain=range(n_classes, n_labels))
    only_a = (guess == frame["y_true"]) & (guess[::-1] != frame["y_true"])
    only_b = (guess != frame["y_true"]) & (guess[::-1] == frame["y_true"])
    cells = found.cells.sum(axis=(0, 1))
    assert [cells[1, 0], cells[0, 1], cells.sum()] == [only_a.sum(), only_b.sum(), n_labels]


def test_scores_for_labels():
    random = np.random.default_rng(0)
    scores = pd.DataFrame({name: random.random(50) for name in MODELS})
    frame = scores.assign(y_true=random.choice(["no", "yes"], 50))
    predicted = frame.assign(
        **{name: np.where(scores[name] >= 0.3, "yes", "no") for name in MODELS}
    )
    found = count_pairs(frame, y_score=MODELS, threshold=0.3, pos_label="yes")
    assert_same(found, count_pairs(predicted, y_pred=MODELS))


@pytest.mark.parametrize("shape", ["columns", "rows"])
def test_weights_stand_beside_the_rows(shape):
    frame = random_frame(200)
    frame["w"] = np.random.default_rng(5).gamma(1.0, 2.0, 200)
    expected, question = count_pairs(frame, y_pred=MODELS, by="g"), {"y_pred": MODELS}
    if shape == "rows":
        frame, question = (
            as_long(frame).assign(w=lambda long: frame["w"].to_numpy()[long["case"] - 100]),
            LONG,
        )
    found = count_pairs(frame, by="g", sample_weight="w", **question)
    assert_same(found, expected)
    plain = frame.assign(w=2.5)
    held = count_pairs(plain, by="g", sample_weight="w", **question)
    rows, weight, squared = held.joint.quantities
    assert weight.tolist() == (2.5 * rows).tolist()
    assert squared.tolist() == (6.25 * rows).tolist()
    if shape == "columns":
        for quantity, power in zip(found.joint.quantities[1:], (1, 2), strict=True):
            by_class = frame.groupby("y_true")["w"].agg(lambda w, power=power: (w**power).sum())
            total = np.bincount(found.joint.truth, weights=quantity) / 3  # three pairs of models
            assert total.tolist() == pytest.approx(by_class.tolist(), rel=1e-12)


@given(cut=st.integers(0, 40), seed=st.integers(0, 3))
def test_shards_add_up(cut, seed):
    frame = random_frame(40, seed=seed)
    options = {"y_pred": MODELS, "labels": [0, 1, 2]}
    parts = [count_pairs(part, by="g", **options) for part in (frame[:cut], frame[cut:])]
    whole = count_pairs(frame, by="g", **options)
    assert_same(sum(parts), whole)
    assert_same(parts[1] + parts[0], whole)
    assert_same(whole.pooled(), count_pairs(frame, **options))


@pytest.mark.filterwarnings("ignore:Predicted, but never in y_true")
def test_classes_that_a_shard_implied_are_gone():
    parts = [pd.DataFrame({"y_true": y, "a": y, "b": p}) for y, p in (([0], [1]), ([0], [0]))]
    several = pd.DataFrame({"y_true": [2], "a": [2], "b": [0]})
    pairs = [count_pairs(part, y_pred=["a", "b"]) for part in (*parts, several)]
    assert (pairs[0] + pairs[1]).label_set.classes == [0, 1]
    assert sum(pairs).label_set.classes == [0, 2]
    assert sum(pairs).rows.tolist() == [3]


def test_missing_labels_are_dropped_for_all_models():
    frame = random_frame(50).astype({"b": "Int64"})
    frame.loc[[3, 7], "b"] = pd.NA
    found = count_pairs(frame, y_pred=MODELS, missing="drop")
    assert_same(found + found, sum([count_pairs(frame, y_pred=MODELS, missing="drop")] * 2))
    assert found.n_missing == 2
    assert (found.rows == 48).all()
    dropped = count_pairs(as_long(frame).astype({"p": "Int64"}), **LONG, missing="drop")
    assert dropped.n_missing == 2
    assert dropped.rows.tolist() == [48, 50, 48]
    assert dropped.unpaired.tolist() == [2, 0, 2]


def test_groups_missing_and_without_rows():
    frame = random_frame(50)
    frame["g"] = frame["g"].astype(pd.CategoricalDtype(["y", "x", "z"]))
    assert len(count_pairs(frame, y_pred=MODELS, by="g")) == 3 * 3
    assert len(count_pairs(frame, y_pred=MODELS, by="g", dropna=True)) == 3 * 2
    every = count_pairs(frame, y_pred=["a", "b"], by="g", observed=False)
    assert every.groups.get_level_values("g").tolist()[:3] == ["y", "x", "z"]
    assert every.rows.tolist()[2] == 0


def test_order_of_models():
    frame = as_long(random_frame(20))
    order = pd.CategoricalDtype(["c", "b", "a", "unused"])
    assert count_pairs(frame, **LONG).pairs == (("a", "b"), ("a", "c"), ("b", "c"))
    declared = frame.assign(model=frame["model"].astype(order))
    assert count_pairs(declared, **LONG).pairs == (("c", "b"), ("c", "a"), ("b", "a"))


@pytest.mark.parametrize("by", [None, "g"])
def test_no_rows(by):
    frame = random_frame(5)
    assert count_pairs(frame[:0], y_pred=MODELS, by=by).rows.sum() == 0
    assert len(count_pairs(as_long(frame)[:0], **LONG, by=by)) == 0


def test_repr_and_read_only():
    pairs = count_pairs(random_frame(30), y_pred=MODELS, by="g")
    assert repr(pairs) == "<PairedCounts: 3 pairs of models by 'g', 3 classes: 0, 1, 2>"
    for again in (pairs, pickle.loads(pickle.dumps(pairs)), copy.deepcopy(pairs)):
        assert_same(again, pairs)
        for name in ("cells", "unpaired"):
            with pytest.raises(ValueError, match="read-only"):
                getattr(again, name)[0] = 0


def plain():
    return pd.DataFrame({"y_true": [1, 0, 1], "a": [1, 0, 0], "b": [1, 1, 1], "g": [*"xxy"]})


def long():
    return plain().assign(case=[7, 8, 9]).melt(["case", "y_true", "g"], ["a", "b"], "model", "p")


def counted(**options):
    return count_pairs(plain(), y_pred=["a", "b"], **options)


# question, text
ERRORS = {
    "one model": (
        lambda: count_pairs(plain(), y_pred="a"),
        ("Comparing needs two models; `y_pred` names 'a'. Models in columns: "
        "df.tba(y_pred=['logit', 'forest']). Models in rows: df.tba(model='model', row='case_id')."),
    ),
    "one model in rows": (
        lambda: count_pairs(long()[:3], **LONG),
        "Comparing needs two models; `model` holds only 'a'.",
    ),
    "no row": (
        lambda: count_pairs(long(), y_pred="p", model="model"),
        ("`row` must name the column that says which rows are the same case, so that models can be "
        "paired: df.tba(y_true='y_true', y_pred='p', model='model', row='case_id')."),
    ),
    "row without model": (
        lambda: count_pairs(plain(), y_pred=["a", "b"], row="g"),
        ("`row` ('g') pairs models in rows and needs `model`; models in columns are paired as they "
        "stand. Leave `row` out, or name the column with model=."),
    ),
    "repeated": (
        lambda: count_pairs(pd.concat([long(), long()[:1]]), **LONG),
        ("A model may score a case once; 1 row of 7 repeat one, such as 'case' 7 by 'a'. Does `row` "
        "name the right column? If so, leave the repeats out."),
    ),
    "the smallest repeated": (
        lambda: count_pairs(pd.concat([long(), long()[::-1]]), **LONG),
        ("A model may score a case once; 6 rows of 12 repeat one, such as 'case' 7 by 'a'. Does `row` "
        "name the right column? If so, leave the repeats out."),
    ),
    "truth differs": (
        lambda: count_pairs(long().assign(y_true=[1, 0, 1, 1, 1, 0]), **LONG),
        ("`y_true` must have one value in all rows of a case; it differs within 2 of 3 cases, such "
        "as 'case' 8."),
    ),
    "key differs": (
        lambda: count_pairs(long().assign(g=[*"xxyxxx"]), **LONG, by="g"),
        ("`by` must have one value in all rows of a case; it differs within 1 of 3 cases, such as "
        "'case' 9."),
    ),
    "weight differs": (
        lambda: count_pairs(long().assign(w=[1, 1, 2, 1, 3, 2.5]), **LONG, sample_weight="w"),
        ("`sample_weight` must have one value in all rows of a case; it differs within 2 of 3 cases, "
        "such as 'case' 8."),
    ),
    "bad weight": (
        lambda: count_pairs(plain().assign(w=[1, -1, 2]), y_pred=["a", "b"], sample_weight="w"),
        ("`sample_weight` column 'w' must hold finite weights, not negative: 0, or between 1e-150 and "
        "1e+150; 1 row of 3 has others, such as -1.0. Leave them out, or correct them."),
    ),
    "weights in one part": (
        lambda: counted() + count_pairs(plain().assign(w=1), y_pred=["a", "b"], sample_weight="w"),
        ("Counts can be added only when both are weighted or both are not; count both with, or both "
        "without sample_weight=."),
    ),
    "row missing": (
        lambda: count_pairs(long().assign(case=[7, None, 9, 7, 8, 9]), **LONG),
        "`row` column 'case' is missing in 1 of 6 rows; leave these rows out, or fill them in.",
    ),
    "model missing": (
        lambda: count_pairs(long().assign(model=[*"aaabb", None]), **LONG),
        "`model` column 'model' is missing in 1 of 6 rows; leave these rows out, or fill them in.",
    ),
    "model missing in a column of another name": (
        lambda: count_pairs(
            long().assign(net=[*"aaabb", None]), y_pred="p", model="net", row="case"
        ),
        "`model` column 'net' is missing in 1 of 6 rows; leave these rows out, or fill them in.",
    ),
    "name of a level": (
        lambda: count_pairs(plain().rename(columns={"g": "model_b"}), y_pred=["a", "b"], by="model_b"),
        ("`by`: the key 'model_b' has the name of a level of the result. Rename it, as in "
        "by=df['model_b'].rename('group')."),
    ),
    "other keys": (
        lambda: counted() + counted(by="g"),
        "Counts can be added only when their groups have the same keys; got none and 'g'.",
    ),
    "other labels": (
        lambda: counted() + counted(labels=[0, 1, 2]),
        ("Counts can be added only when labels=, abstain= and pos_label= were the same; got classes "
        "0, 1 and 0, 1, 2."),
    ),
    "other order": (
        lambda: counted() + count_pairs(plain(), y_pred=["b", "a"]),
        "Counts can be added only when their models stand in one order; got 'a', 'b' and 'b', 'a'.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("question", "text"), ERRORS.values(), ids=ERRORS)
def test_errors(question, text):
    with pytest.raises(tba.InputError) as caught:
        question()
    assert str(caught.value) == text


@pytest.mark.parametrize("name", ["case", "model", "g", "p"])
def test_lists_are_neither_cases_nor_models(name):
    lists = long().assign(**{name: [[1, 2]] * 6})
    with pytest.raises(tba.KindError) as caught:
        count_pairs(lists, **LONG, by="g")
    assert str(caught.value) == (
        f"Column '{name}' holds a list ([1, 2]), which is neither a label nor a key. Convert it, for "
        "example with astype(str)."
    )


@pytest.mark.parametrize("dtype", [*STORAGES, "float16", ">i4", ">f8", "Float64"], ids=str)
def test_cases_of_every_dtype(dtype):
    found = count_pairs(long().astype({"case": dtype}), **LONG)
    assert_same(found, count_pairs(long(), **LONG))


def test_no_such_column():
    with pytest.raises(tba.ColumnError) as caught:
        count_pairs(long(), y_pred="p", model="model", row="cass")
    assert str(caught.value) == (
        "`row` must name a column of the frame; got 'cass'. Did you mean 'case'? Columns: 'case', "
        "'y_true', 'g', 'model', 'p'."
    )
