"""Outside witnesses agree: scikit-learn and fairlearn, also on a made-up audit."""

import functools
import math

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate

import pandas_tba as tba

EXACT = {"rel": 1e-12, "abs": 1e-12, "nan_ok": True}
OVERALL = {
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": sk.balanced_accuracy_score,
    "recall_macro": functools.partial(sk.recall_score, average="macro"),
    "precision_macro": functools.partial(sk.precision_score, average="macro"),
    "f1_macro": functools.partial(sk.f1_score, average="macro"),
    "precision_weighted": functools.partial(sk.precision_score, average="weighted"),
    "f1_weighted": functools.partial(sk.f1_score, average="weighted"),
    "mcc": sk.matthews_corrcoef,
    "cohen_kappa": sk.cohen_kappa_score,
}


def random_frame(n_classes, seed, n_rows=400, n_groups=3):
    """Labels of uneven classes, right two times out of three; every class is true and predicted."""
    random = np.random.default_rng(seed)
    share = 1.0 / np.arange(1, n_classes + 1)
    truth = random.choice(n_classes, n_rows, p=share / share.sum())
    guess = random.integers(n_classes, size=n_rows)
    truth[:n_classes] = guess[:n_classes] = np.arange(n_classes)
    frame = pd.DataFrame({"y_true": truth, "y_pred": guess})
    frame["y_pred"] = frame["y_true"].where(random.random(n_rows) < 2 / 3, frame["y_pred"])
    frame["group"] = random.integers(n_groups, size=n_rows)
    return frame.replace({"group": dict(enumerate("abc"))})


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_on_random_frames(n_classes, seed):
    frame = random_frame(n_classes, seed)
    found = frame.tba.metrics(metrics=list(OVERALL)).iloc[0]
    for name, function in OVERALL.items():
        expected = function(frame["y_true"], frame["y_pred"])
        assert found[name] == pytest.approx(expected, **EXACT), name


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_scikit_learn_per_class(n_classes):
    frame = random_frame(n_classes, seed=0)
    truth, guess = frame["y_true"], frame["y_pred"]
    precision, recall, f1, support = sk.precision_recall_fscore_support(truth, guess)
    (tn, fp), _ = sk.multilabel_confusion_matrix(truth, guess).transpose(1, 2, 0)
    expected = {"recall": recall, "precision": precision, "f1": f1, "specificity": tn / (tn + fp)}
    found = frame.tba.per_class()
    assert found["support"].tolist() == support.tolist()
    for name, values in expected.items():
        assert found[name].to_numpy() == pytest.approx(values, **EXACT), name


@pytest.mark.parametrize("normalize", [None, "true", "pred", "all"])
def test_scikit_learn_confusion_matrix(normalize):
    frame = random_frame(4, seed=1)
    expected = sk.confusion_matrix(frame["y_true"], frame["y_pred"], normalize=normalize)
    found = frame.tba.confusion_matrix(normalize=normalize)
    assert found.to_numpy() == pytest.approx(expected, **EXACT)


# fairlearn 0.10 groups in a way that pandas 2.2 has deprecated
@pytest.mark.filterwarnings("ignore:DataFrameGroupBy.apply operated:DeprecationWarning")
def test_fairlearn_by_group():
    fairlearn = pytest.importorskip("fairlearn.metrics")
    frame = random_frame(3, seed=2)
    functions = {name: OVERALL[name] for name in ("accuracy", "balanced_accuracy", "mcc")}
    expected = fairlearn.MetricFrame(
        metrics=functions,
        y_true=frame["y_true"],
        y_pred=frame["y_pred"],
        sensitive_features=frame["group"],
    ).by_group
    found = frame.tba.metrics(by="group", metrics=list(functions))
    assert found.index.tolist() == expected.index.tolist() == ["a", "b", "c"]
    assert found[list(functions)].to_numpy() == pytest.approx(expected.to_numpy(float), **EXACT)


def audit_frame():
    """An audit of 7,214 cases: groups of most unequal sizes, two halves, three bands."""
    random = np.random.default_rng(0)
    group = np.repeat([*"ABCDEF"], [3696, 32, 2454, 637, 18, 377])
    frame = pd.DataFrame({"group": random.permutation(group)})
    frame["half"] = random.choice(["one", "two"], len(frame), p=[0.8, 0.2])
    frame["band"] = random.choice(["low", "middle", "high"], len(frame), p=[0.2, 0.6, 0.2])
    share = frame["group"].map(
        dict(zip("ABCDEF", [0.51, 0.28, 0.39, 0.36, 0.75, 0.35], strict=True))
    )
    frame["label"] = (random.random(len(frame)) < share).astype(int)
    frame["guess"] = np.where(random.random(len(frame)) < 0.65, frame["label"], 1 - frame["label"])
    frame.loc[(frame["group"] == "E") & (frame["half"] == "two"), "label"] = 1  # one class only
    return frame


def nan_unless(defined, function):
    """A metric of scikit-learn that is NaN, and no number by convention, where it is not defined."""
    return lambda truth, guess: function(truth, guess) if defined(truth, guess) else math.nan


def has_both(labels):
    return np.unique(labels).size == 2


AUDITED = {
    "n": lambda truth, guess: len(truth),
    **{
        f"{row}{column}": lambda truth, guess, row=row, column=column: sk.confusion_matrix(
            truth, guess, labels=[0, 1]
        )[row, column]
        for row in (0, 1)
        for column in (0, 1)
    },
    "accuracy": sk.accuracy_score,
    "balanced_accuracy": nan_unless(lambda y, p: has_both(y), sk.balanced_accuracy_score),
    "recall": functools.partial(sk.recall_score, zero_division=np.nan),
    "specificity": functools.partial(sk.recall_score, pos_label=0, zero_division=np.nan),
    "precision": functools.partial(sk.precision_score, zero_division=np.nan),
    "f1": functools.partial(sk.f1_score, zero_division=np.nan),
    "mcc": nan_unless(lambda y, p: has_both(y) and has_both(p), sk.matthews_corrcoef),
    "cohen_kappa": nan_unless(lambda y, p: has_both([*y, *p]), sk.cohen_kappa_score),
}


@pytest.mark.filterwarnings("ignore:DataFrameGroupBy.apply operated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
@pytest.mark.parametrize("by", ["group", "half", "band", ["group", "half"], None], ids=str)
def test_an_audit_of_unequal_groups(by):
    fairlearn = pytest.importorskip("fairlearn.metrics")
    frame = audit_frame()
    witness = fairlearn.MetricFrame(
        metrics=AUDITED,
        y_true=frame["label"],
        y_pred=frame["guess"],
        sensitive_features=frame[by or "group"],
    )
    expected = witness.by_group if by else witness.overall.to_frame().T
    door = frame.tba(y_true="label", y_pred="guess")
    found = door.metrics(by=by)
    if by is not None:
        assert found.index.tolist() == expected.index.tolist()
    matrices = door.counts(by=by).cells.reshape(-1, 4)
    assert matrices.tolist() == expected[["00", "01", "10", "11"]].to_numpy(int).tolist()
    names = [name for name in AUDITED if name in found]
    assert names == [name for name in AUDITED if not name.isdigit()]
    assert found[names].to_numpy(float) == pytest.approx(expected[names].to_numpy(float), **EXACT)
    assert found["balanced_accuracy"].isna().sum() == (by == ["group", "half"])


def learnable(n_rows=120):
    random = np.random.default_rng(0)
    labels = np.repeat(["rare", "often", "often", "often"], n_rows // 4)
    return random.normal(size=(n_rows, 2)) + (labels == "rare")[:, None], labels


@pytest.mark.parametrize(
    ("options", "outside"),
    [
        ({"t": 0}, "balanced_accuracy"),
        ({"t": 1}, "accuracy"),
        ({"t": 0, "labels": ["often", "rare"]}, "balanced_accuracy"),
    ],
)
def test_cross_validate(options, outside):
    features, labels = learnable()
    function = functools.partial(tba.tempered_balanced_accuracy_score, **options)
    scoring = {"ours": sk.make_scorer(function), "theirs": outside}
    for model in (LogisticRegression(), DummyClassifier(strategy="prior")):
        folds = StratifiedKFold(4)
        found = cross_validate(model, features, labels, cv=folds, scoring=scoring)
        assert found["test_ours"] == pytest.approx(found["test_theirs"], **EXACT)


def test_make_scorer_binds_t():
    features, labels = learnable()
    scorer = sk.make_scorer(tba.tempered_balanced_accuracy_score, t=1)
    model = LogisticRegression().fit(features, labels)
    assert scorer(model, features, labels) == pytest.approx(model.score(features, labels), **EXACT)
