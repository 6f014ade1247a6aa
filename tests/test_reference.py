"""Outside witnesses agree: scikit-learn, fairlearn, and values of a public audit file."""

import functools
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as sk
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate

import pandas_tba as tba

DATA = Path(__file__).parents[2] / "shared" / "data"
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
KEYS = ["race", "sex", "age_cat", ["race", "sex"], None]
AUDITED = [
    "accuracy",
    "balanced_accuracy",
    "recall",
    "specificity",
    "precision",
    "f1",
    "mcc",
    "cohen_kappa",
]


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


@pytest.mark.skipif(not DATA.exists(), reason="the audit file is not here")
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
@pytest.mark.parametrize("by", KEYS, ids=str)
def test_audit_file(by):
    stored = json.loads((DATA / "compas-expected.json").read_text(encoding="utf-8"))["values"]
    name = "(all)" if by is None else by if isinstance(by, str) else "|".join(by)
    expected = stored[name]
    door = pd.read_csv(DATA / "compas.csv").tba(y_true="label_value", y_pred="score")
    found, matrices = door.metrics(by=by), door.counts(by=by).cells
    keys = found.index.tolist() if by is not None else ["all"]
    keys = ["|".join(key) if isinstance(key, tuple) else key for key in keys]
    assert keys == sorted(expected)
    for key, row, matrix in zip(keys, found.to_dict("records"), matrices, strict=True):
        wanted = expected[key]
        assert (row["n"], matrix.tolist()) == (wanted["n"], wanted["confusion"])
        for metric in AUDITED:
            stated = wanted.get(metric)
            stated = math.nan if stated is None else stated
            assert row[metric] == pytest.approx(stated, **EXACT), (key, metric)


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
