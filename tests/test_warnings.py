"""Warnings, whole: each comes once a call and points at the line of the caller."""

import warnings

import numpy as np
import pytest
from frames import PURE, assert_untouched, made

import pandas_tba as tba

matrix = tba.ConfusionCounts.from_matrix
from_table = tba.ConfusionCounts.from_table


WARNINGS = {
    "only predicted": (
        {"y_true": [*"abab"], "y_pred": [*"abA?"]},
        lambda df: df.tba.score(t=1),
        tba.InputWarning,
        (
            "Predicted, but never in y_true: '?', 'A'. Rows with such a prediction count as "
            "errors; it is no class. 'A' differs from 'a' only by blanks or case. Declare the "
            "classes with labels=[...], or what is none with abstain=[...]."
        ),
    ),
    "absent": (
        PURE,
        lambda df: df.tba.score(by="segment"),
        tba.UndefinedWarning,
        (
            "Undefined recall of classes without rows: Group 'a': no rows of 0; Group 'b': no "
            "rows of 1. The score is NaN wherever such a class has weight: at t <= 0, and with "
            "a common prevalence. See absent=, smoothing= and bounds(); labels= fixes the "
            "classes."
        ),
    ),
    "no rows": (
        {},
        lambda df: df.iloc[:0].tba.score(),
        tba.UndefinedWarning,
        "Undefined: there are no rows, hence no classes, and the score is NaN.",
    ),
    "metrics": (
        PURE,
        lambda df: df.tba.metrics(by="segment"),
        tba.UndefinedWarning,
        (
            "Undefined, hence NaN: balanced_accuracy, g_mean, min_recall, recall_macro, "
            "precision_macro and 18 more. Group 'a': no rows of 0, never predicted 0; Group 'b': no rows of "
            "1, never predicted 1."
        ),
    ),
    "per_class": (
        PURE,
        lambda df: df.tba.per_class(by="segment"),
        tba.UndefinedWarning,
        (
            "Undefined, hence NaN: recall, specificity, precision, npv, fpr and 10 more. Group 'a': no rows of "
            "0, never predicted 0; Group 'b': no rows of 1, never predicted 1."
        ),
    ),
    "shares": (
        PURE,
        lambda df: df.tba.confusion_matrix(by="segment", normalize="true"),
        tba.UndefinedWarning,
        (
            "Undefined, hence NaN: shares of a total of no rows. Group 'a': no rows of 0, "
            "never predicted 0; Group 'b': no rows of 1, never predicted 1."
        ),
    ),
    "one class": (
        {"y_true": [*"aaaa"], "y_pred": [*"aaaa"]},
        lambda df: df.tba.score(adjusted=True),
        tba.UndefinedWarning,
        (
            "Undefined: an adjusted score needs two classes, and 'a' is the only one. Declare "
            "the classes with labels=."
        ),
    ),
    "many floats": (
        {"y_true": [0, 1] * 600, "y_pred": [0, 1] * 600, "segment": np.arange(1200) / 7},
        lambda df: df.tba.counts(by="segment"),
        tba.InputWarning,
        (
            "`by`: 'segment' holds 1,200 different numbers, each a group of its own. To group "
            "by ranges: by=pd.cut(df['segment'], 10), or pd.qcut(df['segment'], 10) for equal "
            "sizes."
        ),
    ),
}


@pytest.mark.parametrize(("columns", "ask", "kind", "text"), WARNINGS.values(), ids=WARNINGS)
def test_warnings_come_once_and_point_at_the_caller(columns, ask, kind, text):
    frame = made(columns)
    before = frame.copy(deep=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(frame)
    assert [str(warning.message) for warning in caught] == [text]
    assert [warning.category for warning in caught] == [kind]
    assert [warning.filename for warning in caught] == [__file__]
    assert_untouched(frame, before)
