"""Errors of the functions that take no frame, and what all error classes share."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from frames import PURE, TEXT, assert_untouched, frame_of, made
from pandas.testing import assert_frame_equal

import pandas_tba as tba

matrix = tba.ConfusionCounts.from_matrix
from_table = tba.ConfusionCounts.from_table


# the same without a frame
OTHERS = {
    "t: a list for a score of arrays": (
        lambda: tba.tempered_balanced_accuracy_score([0, 1], [0, 1], t=[0, 1]),
        tba.InputError,
        (
            "`t` must be one number, as a score of arrays is one; got [0, 1]. For several: "
            "tba.score(tba.count(df), t=[0, 1])."
        ),
    ),
    "metrics: the error rate": (
        lambda: tba.metrics(matrix([[1, 0], [0, 1]]), metrics="error_rate"),
        tba.InputError,
        (
            "`metrics`: there is no metric 'error_rate'. It is 1 - accuracy: 1 - "
            "tba.metrics(counts, metrics='accuracy')['accuracy']."
        ),
    ),
    "metrics: close to an alias": (
        lambda: tba.metrics(matrix([[1, 0], [0, 1]]), metrics="sensitivty"),
        tba.InputError,
        (
            "`metrics`: there is no metric 'sensitivty'. Did you mean 'sensitivity'? Metrics: "
            "'accuracy', 'balanced_accuracy', 'tba', 'tba_slope', 'majority' and 26 more; "
            "tba.METRICS holds all."
        ),
    ),
    "metrics: support": (
        lambda: tba.metrics(matrix([[1, 0], [0, 1]]), metrics=["support"]),
        tba.InputError,
        (
            "`metrics`: there is no metric 'support'. It is no metric but a column of "
            "tba.per_class(counts); counts.support is the array."
        ),
    ),
    "counts: a Decimal beyond 64 bits": (
        lambda: matrix([[Decimal("1e99999999"), 0], [0, 1]]),
        tba.InputError,
        (
            "`matrix` must hold whole numbers of rows, not negative, finite and below 2**63; got "
            "Decimal('1E+99999999')."
        ),
    ),
    "level: a Decimal that is none": (
        lambda: tba.interval(matrix([[9, 1], [1, 9]]), level=Decimal("NaN")),
        tba.InputError,
        "`level` must be a number between 0 and 1, such as 0.95; got Decimal('NaN').",
    ),
    "a number of 400 digits": (
        lambda: tba.score(matrix([[1, 0], [0, 1]]), t=10**400),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got "
            f"{'1' + '0' * 56}.... 1 is accuracy, 0 balanced accuracy, below 0 weighs rare classes "
            "more."
        ),
    ),
    "t: a ragged list": (
        lambda: tba.score(matrix([[1, 0], [0, 1]]), t=[0, [1]]),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got [1]. 1 is "
            "accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "array: a ragged list": (
        lambda: tba.tempered_balanced_accuracy_score([[1], [1, 2]], [1, 2]),
        tba.InputError,
        "`y_true` must be one column of values; got [[1], [1, 2]].",
    ),
    "counts: too many rows": (
        lambda: matrix([[9 * 10**18, 9 * 10**18], [1, 1]]),
        tba.InputError,
        "1.8e+19 rows in all are more than counts can hold: 2**63.",
    ),
    "counts: too many rows together": (
        lambda: matrix([[6 * 10**18, 0], [0, 1]]) + matrix([[6 * 10**18, 0], [0, 1]]),
        tba.InputError,
        "1.2e+19 rows in all are more than counts can hold: 2**63.",
    ),
    "matrix: complex": (
        lambda: matrix([[1j, 0], [0, 1]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows; got [[1j, 0], [0, 1]].",
    ),
    "matrix: booleans": (
        lambda: matrix([[True, False], [False, True]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows; got [[True, False], [False, True]].",
    ),
    "matrix: a boolean among numbers": (
        lambda: matrix(pd.DataFrame([[True, 0], [0, 3]], dtype=object)),
        tba.InputError,
        "`matrix` must hold whole numbers of rows, not negative, finite and below 2**63; got True.",
    ),
    "matrix: labels as one text": (
        lambda: matrix([[1, 0], [0, 1]], labels="ab"),
        tba.InputError,
        "`labels` must be a list of labels; got 'ab'. Write ['ab'].",
    ),
    "matrix: groups as one text": (
        lambda: matrix([[[1, 0], [0, 1]]] * 2, groups="ab"),
        tba.InputError,
        "`groups` must be a list of keys, or an Index; got 'ab'.",
    ),
    "interval: a frame": (
        lambda: tba.interval(pd.DataFrame()),
        tba.KindError,
        (
            "`counts` must be ConfusionCounts; got DataFrame. Count first: tba.count(df, "
            "y_true='y', y_pred='p'), or ask the frame: df.tba.score(t=0.5)."
        ),
    ),
    "generator: negative": (
        lambda: tba.interval(matrix([[9, 1], [1, 9]]), method="bootstrap", generator=-1),
        tba.KindError,
        (
            "`generator` must be a numpy Generator or a seed, as in numpy.random.default_rng(0); "
            "got -1."
        ),
    ),
    "level: nearly one": (
        lambda: tba.interval(matrix([[9, 1], [1, 9]]), level=1 - 1e-16),
        tba.InputError,
        f"`level` must be a number between 0 and 1, such as 0.95; got {1 - 1e-16!r}.",
    ),
    "among: text": (
        lambda: tba.class_weights([1, 2], among="ab"),
        tba.InputError,
        "`among` must hold True or False for each class, shape (2,); got 'ab'.",
    ),
    "f_beta: negative": (
        lambda: tba.f_beta(-1),
        tba.InputError,
        (
            "`beta` must be a positive, finite number; got -1. Below 1 precision weighs more, "
            "above 1 recall; the limits at 0 and infinity are the metrics precision and recall."
        ),
    ),
    "posterior: too many rows": (
        lambda: tba.posterior(matrix([[10**12, 1], [1, 10**12]])),
        tba.InputError,
        (
            "A posterior is exact up to 1e+10 rows of a class; with more, it and the limits of "
            "interval() are the same. Ask interval()."
        ),
    ),
    "metrics: an array without axes": (
        lambda: tba.metrics(matrix([[9, 1], [1, 9]]), metrics=np.array(1.0)),
        tba.KindError,
        "`metrics` must hold names or Metrics; got array(1.).",
    ),
    "reference: an array": (
        lambda: tba.disparity(
            matrix([[[9, 1], [1, 9]]] * 2, groups=["a", "b"]), reference=np.array(["a"])
        ),
        tba.InputError,
        f"`reference` must be one group; got {np.array(['a'])!r}.",
    ),
    "counts: a frame": (
        lambda: tba.score(pd.DataFrame({"y_true": [1]})),
        tba.KindError,
        (
            "`counts` must be ConfusionCounts; got DataFrame. Count first: tba.count(df, "
            "y_true='y', y_pred='p'), or ask the frame: df.tba.score(t=0.5)."
        ),
    ),
    "array: a set": (
        lambda: tba.tempered_balanced_accuracy_score({1, 2}, [1, 2]),
        tba.InputError,
        "`y_true` must be one column of values; got a set.",
    ),
    "cost ratio: text": (
        lambda: tba.t_from_cost_ratio("3", "0.1", 0.2),
        tba.InputError,
        "`cost` must be a positive, finite number; got '3'.",
    ),
    "t: a set": (
        lambda: tba.score(matrix([[1, 0], [0, 1]]), t={0, 1}),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got {0, 1}. 1 is "
            "accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "adding weighted and unweighted": (
        lambda: frame_of(w=1.0).tba(sample_weight="w").counts() + frame_of().tba.counts(),
        tba.InputError,
        (
            "Counts can be added only when both are weighted or both are not; count both with, or "
            "both without sample_weight=."
        ),
    ),
    "table: a weight without its square": (
        lambda: from_table(
            pd.DataFrame({"y_true": [1], "y_pred": [1], "n": [1], "w": [1.0]}), weight="w"
        ),
        tba.InputError,
        (
            "`weight` and `weight_squared` go together: intervals need the sum of squared weights, "
            "in SQL sum(w * w), beside the sum of weights."
        ),
    ),
    "table: negative weights": (
        lambda: from_table(
            pd.DataFrame(
                {"y_true": [1], "y_pred": [1], "n": [1], "weight": [-1], "weight_squared": [1]}
            )
        ),
        tba.InputError,
        "'weight' must hold sums of weights, not negative, and finite together; got -1.0.",
    ),
    "cells: infinite": (
        lambda: matrix([[1, np.inf], [0, 1]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows, not negative, finite and below 2**63; got inf.",
    ),
    "cells: negative": (
        lambda: matrix([[1, -1], [0, 1]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows, not negative, finite and below 2**63; got -1.",
    ),
    "cells: fraction": (
        lambda: matrix([[1, 0.5], [0, 1]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows, not negative, finite and below 2**63; got 0.5.",
    ),
    "cells: missing": (
        lambda: matrix([[1, np.nan], [0, 1]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows, not negative, finite and below 2**63; got nan.",
    ),
    "cells: text": (
        lambda: matrix([["x", "y"], ["z", "z"]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows; got [['x', 'y'], ['z', 'z']].",
    ),
    "cells: 2**63": (
        lambda: matrix([[2**63, 0], [0, 1]]),
        tba.InputError,
        (
            "`matrix` must hold whole numbers of rows, not negative, finite and below 2**63; "
            "got 9.223372036854776e+18."
        ),
    ),
    "shape: ragged": (
        lambda: matrix([[1, 2], [0]]),
        tba.InputError,
        "`matrix` must hold whole numbers of rows; got [[1, 2], [0]].",
    ),
    "shape: not square": (
        lambda: matrix([[1, 2, 3], [0, 1, 2]]),
        tba.InputError,
        "`matrix` must have the shape (L, L), or (G, L, L) for groups; got (2, 3).",
    ),
    "shape: one axis": (
        lambda: matrix([1, 2]),
        tba.InputError,
        "`matrix` must have the shape (L, L), or (G, L, L) for groups; got (2,).",
    ),
    "shape: labels": (
        lambda: matrix([[1, 2], [0, 3]], labels=["a"]),
        tba.InputError,
        "`matrix` has 2 labels, but `labels` and `abstain` name 1: 'a'.",
    ),
    "shape: no groups": (
        lambda: matrix([[[1, 2], [0, 3]]] * 2),
        tba.InputError,
        "`groups` must name the 2 matrices.",
    ),
    "shape: groups": (
        lambda: matrix([[[1, 2], [0, 3]]] * 2, groups=[*"abc"]),
        tba.InputError,
        "`groups` names 3 groups, but `matrix` holds 2.",
    ),
    "matrix: no such model": (
        lambda: matrix([[[1, 2], [0, 3]]] * 2, groups=pd.Index([*"ab"], name="who"), model="whom"),
        tba.ColumnError,
        "`model` must name keys of the groups; got 'whom'. Did you mean 'who'? Keys: 'who'.",
    ),
    "matrix: a model without groups": (
        lambda: matrix([[1, 2], [0, 3]], model="who"),
        tba.InputError,
        "`groups` names 0 groups, but `matrix` holds 1.",
    ),
    "matrix: another level named model": (
        lambda: matrix(
            [[[1, 2], [0, 3]]],
            groups=pd.MultiIndex.from_tuples([("a", "b")], names=["model", "who"]),
            model="who",
        ),
        tba.InputError,
        (
            "`groups`: 'model' is the models' own level here; leave it out of `groups`, or rename it."
        ),
    ),
    "table: another column named model": (
        lambda: from_table(
            pd.DataFrame({"y_true": [1], "y_pred": [1], "n": [1], "who": "a", "model": "b"}),
            model="who",
        ),
        tba.InputError,
        "`by`: 'model' is the models' own level here; leave it out of `by`, or rename it.",
    ),
    "table: by the models": (
        lambda: from_table(
            pd.DataFrame({"y_true": [1], "y_pred": [1], "n": [1], "who": "a"}),
            model="who",
            by="who",
        ),
        tba.InputError,
        "`by`: 'who' is the models' own level here; leave it out of `by`, or rename it.",
    ),
    "frame with a label twice": (
        lambda: matrix(pd.DataFrame([[1, 2], [3, 4]], index=[*"aa"], columns=[*"ab"])),
        tba.InputError,
        (
            "`matrix` must name each label once, all of them among 'a', 'b'; rows 'a', 'a', "
            "columns 'a', 'b'."
        ),
    ),
    "no frame": (
        lambda: tba.count({"y_true": [1]}),
        tba.KindError,
        (
            "`frame` must be a frame of pandas, Polars, PyArrow, DuckDB, Dask, Spark SQL, or of "
            "another engine that narwhals knows; got builtins.dict. Put the rows into a frame "
            "first, for example pd.DataFrame(rows)."
        ),
    ),
    "arrays of two lengths": (
        lambda: tba.tempered_balanced_accuracy_score([1, 0], [1]),
        tba.InputError,
        "`y_true` and `y_pred` must be of one length; got 2 and 1.",
    ),
    "arrays of two axes": (
        lambda: tba.tempered_balanced_accuracy_score([[1, 0]], [[1, 0]]),
        tba.InputError,
        "`y_true` must be one column of values; got shape (1, 2).",
    ),
    "class_weights": (
        lambda: tba.class_weights([-1, 2]),
        tba.InputError,
        "`prevalence` must hold finite numbers that are not negative.",
    ),
    "cost: zero": (
        lambda: tba.t_from_cost_ratio(0, 0.1, 0.2),
        tba.InputError,
        "`cost` must be a positive, finite number; got 0.",
    ),
    "cost: equal classes": (
        lambda: tba.t_from_cost_ratio(2, 0.1, 0.1),
        tba.InputError,
        (
            "`prevalence_k` and `prevalence_j` are both 0.1: classes of equal prevalence have "
            "equal weight at every t, so no t expresses a cost ratio."
        ),
    ),
    "cost: per": (
        lambda: tba.t_from_cost_ratio(2, 0.1, 0.2, per="row"),
        tba.InputError,
        "`per` must be one of 'class', 'error'; got 'row'.",
    ),
    "entropy: one class": (
        lambda: tba.t_from_entropy([1]),
        tba.InputError,
        "`prevalence` must hold one finite number for each of two or more classes.",
    ),
    "entropy: negative": (
        lambda: tba.t_from_entropy([1, -1]),
        tba.InputError,
        "`prevalence` must not be negative, and not zero for every class.",
    ),
}


@pytest.mark.parametrize(("ask", "kind", "text"), OTHERS.values(), ids=OTHERS)
def test_other_errors(ask, kind, text):
    with pytest.raises(kind) as raised:
        ask()
    assert str(raised.value) == text


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (tba.InputError, ValueError),
        (tba.ColumnError, KeyError),
        (tba.KindError, TypeError),
        (tba.InputWarning, UserWarning),
        (tba.UndefinedWarning, UserWarning),
    ],
)
def test_each_class_is_the_child_of_a_builtin(kind, builtin):
    assert issubclass(kind, builtin)


@pytest.mark.parametrize("columns", [{}, PURE, TEXT], ids=["plain", "pure", "text"])
@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_answers_leave_the_frame_untouched(columns):
    frame = made(columns)
    before = frame.copy(deep=True)
    for method in ("counts", "score", "metrics", "per_class", "confusion_matrix", "bounds"):
        for by in (None, "segment", frame["segment"], frame.index):
            getattr(frame.tba, method)(by=by)
    assert_untouched(frame, before)


@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
def test_a_result_can_be_changed_without_changing_the_counts():
    counts = frame_of().tba.counts(by="segment")
    before = counts.to_table()
    for table in (tba.metrics(counts), tba.per_class(counts), tba.confusion_matrix(counts)):
        for column in table:
            table[column] = 0
        table.attrs.clear()
    assert_frame_equal(counts.to_table(), before)
    for array in (counts.cells, counts.hits, counts.support, counts.predicted):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
