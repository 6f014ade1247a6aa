"""Errors about a frame, whole: every one names the argument, what it got, and the next step."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frames import PURE, TEXT, assert_untouched, doubled, made

import pandas_tba as tba

matrix = tba.ConfusionCounts.from_matrix
from_table = tba.ConfusionCounts.from_table


TEXT_DTYPE = pd.Series(["a"]).dtype

# columns of the frame, question, class of the error, text
ERRORS = {
    "y_pred: an Index of names": (
        {},
        lambda df: df.tba(y_pred=pd.Index(["y_pred"])).score(),
        tba.KindError,
        (
            "`y_pred` must be the name of a column, or a list of names; got Index(['y_pred'], "
            f"dtype='{TEXT_DTYPE}'). Write y_pred=list(...)."
        ),
    ),
    "y_score: a set of names": (
        {"p": [0.1] * 4},
        lambda df: df.tba(y_score={"p"}).score(),
        tba.KindError,
        (
            "`y_score` must be the name of a column, or a list of names; got {'p'}. Write "
            "y_score=list(...)."
        ),
    ),
    "threshold without scores": (
        {},
        lambda df: df.tba(threshold=0.3).score(),
        tba.InputError,
        "`threshold` (0.3) compares scores, and none are named. Name their column: y_score='p'.",
    ),
    "dropna: text": (
        {},
        lambda df: df.tba.score(by="segment", dropna="no"),
        tba.InputError,
        "`dropna` must be True or False; got 'no'.",
    ),
    "adjusted: text": (
        {},
        lambda df: df.tba.score(adjusted="no"),
        tba.InputError,
        "`adjusted` must be True or False; got 'no'.",
    ),
    "labels: a set": (
        {},
        lambda df: df.tba(labels={0}).score(),
        tba.InputError,
        (
            "`labels` must be a list of labels, in the order wanted; a set has none. Write "
            "sorted({0})."
        ),
    ),
    "tiny weights": (
        {"w": [1e-200] * 4},
        lambda df: df.tba(sample_weight="w").score(),
        tba.InputError,
        (
            "`sample_weight` column 'w' must hold finite weights, not negative: 0, or between "
            "1e-150 and 1e+150; 4 rows of 4 have others, such as 1e-200. Leave them out, or correct "
            "them."
        ),
    ),
    "by: a number": (
        {},
        lambda df: df.tba.score(0.5),
        tba.ColumnError,
        (
            "`by` must name columns of the frame; got 0.5. The exponent has a name of its own: "
            "t=0.5. Columns: 'y_true', 'y_pred', 'segment'."
        ),
    ),
    "pos_label: a typo": (
        TEXT,
        lambda df: df.tba(pos_label="B").score(),
        tba.InputError,
        "`pos_label` must be one of the labels of y_true; got 'B'. Did you mean 'b'? Labels: 'a', 'b'.",
    ),
    "scores: three classes": (
        {"y_true": [*"abca"], "p": [0.1, 0.2, 0.3, 0.4]},
        lambda df: df.tba(y_score="p").score(),
        tba.InputError,
        (
            "`y_score` predicts one of two classes, and there are 3: 'a', 'b', 'c'. Set one "
            "against the rest: df['y_true'] == 'c'. With the probability of every class, decide() "
            "gives predictions."
        ),
    ),
    "y_true: a Series": (
        {},
        lambda df: df.tba(y_true=df["y_true"]).score(),
        tba.KindError,
        (
            "`y_true` must be the name of a column; got a Series. Put the values into the frame "
            "first: df.assign(y_true=...)."
        ),
    ),
    "y_pred: an array": (
        {},
        lambda df: df.tba(y_pred=df["y_pred"].to_numpy()).score(),
        tba.KindError,
        (
            "`y_pred` must be the name of a column; got a ndarray. Put the values into the frame "
            "first: df.assign(y_pred=...)."
        ),
    ),
    "pos_label: a list": (
        {},
        lambda df: df.tba(pos_label=[1]).score(),
        tba.InputError,
        "`pos_label` must be one label; got [1].",
    ),
    "labels that are lists": (
        {"y_true": [[1], [2], [1], [2]]},
        lambda df: df.tba.score(),
        tba.KindError,
        (
            "Column 'y_true' holds a list ([1]), which is neither a label nor a key. Convert it, "
            "for example with astype(str)."
        ),
    ),
    "keys that are dicts": (
        {"segment": [{}, {}, {}, {}]},
        lambda df: df.tba.score(by="segment"),
        tba.KindError,
        (
            "Column 'segment' holds a dict ({}), which is neither a label nor a key. Convert it, "
            "for example with astype(str)."
        ),
    ),
    "Grouper without its column": (
        {},
        lambda df: df.tba.score(by=pd.Grouper(key="day", freq="D")),
        tba.ColumnError,
        "`by` must name columns of the frame; got 'day'. Columns: 'y_true', 'y_pred', 'segment'.",
    ),
    "Grouper of what is no date": (
        {},
        lambda df: df.tba.score(by=pd.Grouper(key="segment", freq="D")),
        tba.KindError,
        (
            "`by` holds a Grouper that pandas cannot use here: Only valid with DatetimeIndex, "
            "TimedeltaIndex or PeriodIndex, but got an instance of 'Index'. Group by a column of "
            "dates, or without freq=."
        ),
    ),
    "smoothing: a boolean": (
        {},
        lambda df: df.tba.score(smoothing=True),
        tba.InputError,
        "`smoothing` must be a finite number of rows, 0 or more; got True.",
    ),
    "missing prediction of a category": (
        {"y_true": [*"abab"], "y_pred": pd.Categorical(["a", "b", None, "b"])},
        lambda df: df.tba.score(),
        tba.InputError,
        (
            "Missing values in 'y_pred' (1 of 4 rows). Leave these rows out with "
            "df.tba(missing='drop'), or give missing predictions a label of their own: "
            "df['y_pred'].cat.add_categories(['abstain']).fillna('abstain') with "
            "abstain=['abstain']."
        ),
    ),
    "scores of text without a positive label": (
        {"y_true": [*"abab"], "p": [0.9, 0.1, 0.4, 0.2]},
        lambda df: df.tba(y_score="p").score(),
        tba.InputError,
        (
            "`y_score` predicts one of two classes, and none is known to be positive. Name it, as "
            "in df.tba(pos_label='b'). Classes: 'a', 'b'."
        ),
    ),
    "scores and predictions": (
        {},
        lambda df: df.tba(y_pred="segment", y_score="p").score(),
        tba.InputError,
        "`y_pred` ('segment') and `y_score` ('p') both name predictions; use one of them.",
    ),
    "scores and predictions of the usual name": (
        {},
        lambda df: df.tba(y_pred="y_pred", y_score="p").score(),
        tba.InputError,
        "`y_pred` ('y_pred') and `y_score` ('p') both name predictions; use one of them.",
    ),
    "scores and predictions of a function": (
        {},
        lambda df: tba.count(df, y_pred="y_pred", y_score="p"),
        tba.InputError,
        "`y_pred` ('y_pred') and `y_score` ('p') both name predictions; use one of them.",
    ),
    "a positive label alone": (
        {"y_true": ["a"] * 4, "y_pred": ["a"] * 4},
        lambda df: df.tba(pos_label="a").score(),
        tba.InputError,
        ("`pos_label` needs two classes; 'a' is the only one. Declare both: labels=[..., 'a']."),
    ),
    "a positive label beside one to abstain": (
        {"y_true": [1] * 4, "y_pred": [0, 1, 1, 1]},
        lambda df: df.tba(pos_label=1, abstain=[0]).score(),
        tba.InputError,
        "`pos_label` needs two classes; 1 is the only one. Declare both: labels=[..., 1].",
    ),
    "a key of another index whose intervals overlap": (
        {},
        lambda df: df.tba.score(
            by=pd.Series([1, 2], pd.IntervalIndex.from_tuples([(0, 2), (1, 3)]), name="g")
        ),
        tba.InputError,
        (
            "`by`: the Series 'g' has another index than the frame, of intervals that overlap. Pass "
            "an array (series.to_numpy()) to go by position."
        ),
    ),
    "a key of Arrow of another length": (
        {},
        lambda df: df.tba.score(by=pa.array([1, 2])),
        tba.InputError,
        "`by` holds an array of shape (2,); it needs one value for each of the 4 rows.",
    ),
    "times of a zone beyond those of Python": (
        {"g": np.array(["12000-01-01"] * 4, dtype="datetime64[s]")},
        lambda df: df.assign(g=df["g"].dt.tz_localize("UTC")).tba.score(by="g"),
        tba.KindError,
        (
            "Column 'g' holds times beyond the years 1 to 9999, which Python cannot hold in "
            "datetime64[s, UTC]. Convert it to datetime64[s] without a zone."
        ),
    ),
    "a positive label that is no class": (
        {},
        lambda df: df.tba(pos_label="b", abstain=["b"]).score(),
        tba.InputError,
        "`pos_label` must be a class; got 'b', which `abstain` says is none.",
    ),
    "scores of class probabilities": (
        {},
        lambda df: df.tba(y_score={"a": "p"}).score(),
        tba.InputError,
        (
            "`y_score` is a mapping of class probabilities, which only decide() uses. Name one "
            "column of scores, or a list of them for several models."
        ),
    ),
    "scores that are text": (
        {},
        lambda df: df.tba(y_score="segment").score(),
        tba.KindError,
        f"`y_score` column 'segment' must hold numbers; got {TEXT_DTYPE}. Convert it, for example with pd.to_numeric.",
    ),
    "threshold": (
        {},
        lambda df: df.tba(y_score="y_pred", threshold=float("nan")).score(),
        tba.InputError,
        "`threshold` must be a number; got nan.",
    ),
    "bad weights": (
        {"w": [3, -1, 1, np.inf]},
        lambda df: df.tba(sample_weight="w").score(),
        tba.InputError,
        (
            "`sample_weight` column 'w' must hold finite weights, not negative: 0, or between 1e-150 "
            "and 1e+150; 2 rows of 4 have others, such as -1.0, inf. Leave them out, or correct them."
        ),
    ),
    "missing weights": (
        {"w": [3, None, 1, 1]},
        lambda df: df.tba(sample_weight="w").score(),
        tba.InputError,
        "Missing values in 'w' (1 of 4 rows). Leave these rows out with df.tba(missing='drop').",
    ),
    "weights that are text": (
        {},
        lambda df: df.tba(sample_weight="segment").score(),
        tba.KindError,
        f"`sample_weight` column 'segment' must hold numbers; got {TEXT_DTYPE}. Convert it, for example with pd.to_numeric.",
    ),
    "default name: y_true": (
        {"y_true": None},
        lambda df: df.tba.score(),
        tba.ColumnError,
        (
            "no column 'y_true'. Name yours: df.tba(y_true='y', y_pred='p').score(t=0.5). "
            "Columns: 'y_pred', 'segment'."
        ),
    ),
    "default name: y_pred": (
        {"y_pred": None},
        lambda df: df.tba.score(),
        tba.ColumnError,
        (
            "no column 'y_pred'. Name yours: df.tba(y_true='y', y_pred='p').score(t=0.5). "
            "Columns: 'y_true', 'segment'."
        ),
    ),
    "frame without columns": (
        {"y_true": None, "y_pred": None, "segment": None},
        lambda df: df.tba.score(),
        tba.ColumnError,
        (
            "no column 'y_true'. Name yours: df.tba(y_true='y', y_pred='p').score(t=0.5). The "
            "frame has no columns."
        ),
    ),
    "y_true": (
        {},
        lambda df: df.tba(y_true="y_tru").score(),
        tba.ColumnError,
        (
            "`y_true` must name a column of the frame; got 'y_tru'. Did you mean 'y_true'? "
            "Columns: 'y_true', 'y_pred', 'segment'."
        ),
    ),
    "y_pred": (
        {},
        lambda df: df.tba(y_pred=["y_pred", "forest"]).score(),
        tba.ColumnError,
        (
            "`y_pred` must name a column of the frame; got 'forest'. Columns: 'y_true', "
            "'y_pred', 'segment'."
        ),
    ),
    "model": (
        {},
        lambda df: df.tba(model="modle").score(),
        tba.ColumnError,
        (
            "`model` must name a column of the frame; got 'modle'. Columns: 'y_true', "
            "'y_pred', 'segment'."
        ),
    ),
    "two columns of one name": (
        doubled("y_true", "y_pred", "y_pred"),
        lambda df: df.tba.score(),
        tba.ColumnError,
        (
            "`y_pred` must name one column; 'y_pred' names 2. Rename them, or select the right "
            "one with df.loc[:, mask]."
        ),
    ),
    "two keys of one name": (
        doubled("y_true", "y_pred", "g", "g"),
        lambda df: df.tba.score(by="g"),
        tba.ColumnError,
        "`by` must name one column; 'g' names 2. Rename them.",
    ),
    "by: typo": (
        {},
        lambda df: df.tba.score(by="segmnt"),
        tba.ColumnError,
        (
            "`by` must name columns of the frame; got 'segmnt'. Did you mean 'segment'? "
            "Columns: 'y_true', 'y_pred', 'segment'."
        ),
    ),
    "by: typo of a level": (
        {},
        lambda df: df.rename_axis("case").tba.score(by="cse"),
        tba.ColumnError,
        (
            "`by` must name columns of the frame; got 'cse'. Did you mean 'case'? Columns: "
            "'y_true', 'y_pred', 'segment'. Index levels: 'case'."
        ),
    ),
    "by: column and level": (
        {},
        lambda df: df.rename_axis("segment").tba.score(by="segment"),
        tba.ColumnError,
        (
            "`by`: 'segment' is both a column and an index level. Rename one of them: "
            "df.rename_axis(index={'segment': 'other'})."
        ),
    ),
    "by: twice": (
        {},
        lambda df: df.tba.score(by=["segment", "segment"]),
        tba.InputError,
        "`by` names 'segment' more than once; rename one of the keys.",
    ),
    "by: empty": (
        {},
        lambda df: df.tba.score(by=[]),
        tba.InputError,
        "`by` is an empty list; name at least one key, or leave it out.",
    ),
    "by: tuple": (
        {},
        lambda df: df.tba.score(by=("segment", "y_true")),
        tba.ColumnError,
        (
            "`by` must name columns of the frame; got ('segment', 'y_true'). Columns: "
            "'y_true', 'y_pred', 'segment'."
        ),
    ),
    "by: nested": (
        {},
        lambda df: df.tba.score(by=[["segment"]]),
        tba.KindError,
        (
            "`by` must hold names of columns or index levels, Series, arrays or Groupers; got "
            "list. A list of values must be made an array or a Series."
        ),
    ),
    "by: function": (
        {},
        lambda df: df.tba.score(by=len),
        tba.KindError,
        (
            "`by` must hold names of columns or index levels, Series, arrays or Groupers; got "
            "builtin_function_or_method. A list of values must be made an array or a Series."
        ),
    ),
    "by: short Series": (
        {},
        lambda df: df.tba.score(by=pd.Series([*"ab"], name="s")),
        tba.InputError,
        (
            "`by`: the Series 's' has another index than the frame, and no value for 2 of 4 "
            "rows. Pass an array (series.to_numpy()) to go by position."
        ),
    ),
    "by: repeated index": (
        {},
        lambda df: df.tba.score(by=pd.Series([*"abab"], index=[0, 0, 1, 1], name="s")),
        tba.InputError,
        (
            "`by`: the Series 's' has another index than the frame, with repeated labels. Pass "
            "an array (series.to_numpy()) to go by position."
        ),
    ),
    "by: short array": (
        {},
        lambda df: df.tba.score(by=np.array([1, 2])),
        tba.InputError,
        "`by` holds an array of shape (2,); it needs one value for each of the 4 rows.",
    ),
    "by: MultiIndex": (
        {},
        lambda df: df.tba.score(by=pd.MultiIndex.from_arrays([[1, 2, 3, 4]] * 2)),
        tba.KindError,
        "`by` must not hold a MultiIndex; pass its levels: by=['level_a', 'level_b'].",
    ),
    "unknown labels": (
        {},
        lambda df: df.tba(labels=[0, 2]).score(),
        tba.InputError,
        (
            "Unexpected labels (labels=0, 2): y_true holds 1 (2 rows); y_pred holds 1 (1 row). "
            "Add them to labels=, or leave those rows out; labels that may be predicted and "
            "are no class go into abstain=[...]."
        ),
    ),
    "unknown predictions": (
        {**TEXT, "y_pred": [*"a?b?"]},
        lambda df: df.tba(labels=["a", "b"]).score(),
        tba.InputError,
        (
            "Unexpected labels (labels='a', 'b'): y_pred holds '?' (2 rows). Add them to "
            "labels=, or leave those rows out; labels that may be predicted and are no class "
            "go into abstain=[...]."
        ),
    ),
    "many unknown labels": (
        {"y_true": [*"abcd"], "y_pred": [*"aefg"]},
        lambda df: df.tba(labels=["a"]).score(),
        tba.InputError,
        (
            "Unexpected labels (labels='a'): y_true holds 'b' (1 row), 'c' (1 row), 'd' (1 "
            "row); y_pred holds 'e' (1 row), 'f' (1 row), 'g' (1 row). Add them to labels=, or "
            "leave those rows out; labels that may be predicted and are no class go into "
            "abstain=[...]."
        ),
    ),
    "abstain in y_true": (
        {},
        lambda df: df.tba(abstain=[0]).score(),
        tba.InputError,
        (
            "Unexpected labels (abstain=0): y_true holds 0 (2 rows). A label to abstain is no "
            "class and must not occur in y_true."
        ),
    ),
    "missing truth": (
        {"y_true": [1, None, 1, None]},
        lambda df: df.tba.score(),
        tba.InputError,
        (
            "Missing values in 'y_true' (2 of 4 rows). Leave these rows out with "
            "df.tba(missing='drop')."
        ),
    ),
    "missing prediction": (
        {"y_pred": [1, None, 1, 0]},
        lambda df: df.tba.score(),
        tba.InputError,
        (
            "Missing values in 'y_pred' (1 of 4 rows). Leave these rows out with "
            "df.tba(missing='drop'), or give missing predictions a label of their own: "
            "df['y_pred'].fillna(-999) with abstain=[-999]."
        ),
    ),
    "missing in five columns": (
        {**TEXT, **{name: ["a", None, "b", "a"] for name in "pqrst"}},
        lambda df: df.tba(y_pred=[*"pqrst"]).score(),
        tba.InputError,
        (
            "Missing values in 'p' (1 of 4 rows), 'q' (1 of 4 rows), 'r' (1 of 4 rows) and 2 "
            "more columns. Leave these rows out with df.tba(missing='drop'), or give missing "
            "predictions a label of their own: df['p'].fillna('abstain') with "
            "abstain=['abstain']."
        ),
    ),
    "missing: choice": (
        {},
        lambda df: df.tba(missing="dorp").score(),
        tba.InputError,
        "`missing` must be one of 'raise', 'drop'; got 'dorp'. Did you mean 'drop'?",
    ),
    "t: text": (
        {},
        lambda df: df.tba.score(t="0.5"),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got '0.5'. 1 "
            "is accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "t: nan": (
        {},
        lambda df: df.tba.score(t=float("nan")),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got nan. 1 is "
            "accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "t: bool": (
        {},
        lambda df: df.tba.metrics(t=True),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got True. 1 is "
            "accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "t: None": (
        {},
        lambda df: df.tba.bounds(t=None),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got None. 1 is "
            "accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "t: in a list": (
        {},
        lambda df: df.tba.score(t=[0, "x"]),
        tba.InputError,
        (
            "`t` must be a number or a list of numbers, infinite ones included; got 'x'. 1 is "
            "accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        ),
    ),
    "t: empty list": (
        {},
        lambda df: df.tba.score(t=[]),
        tba.InputError,
        "`t` is an empty list; give at least one number.",
    ),
    "prevalence: choice": (
        {},
        lambda df: df.tba.score(prevalence="pool"),
        tba.InputError,
        "`prevalence` must be one of 'own', 'pooled'; got 'pool'. Did you mean 'pooled'?",
    ),
    "prevalence: lacks a class": (
        {},
        lambda df: df.tba.score(prevalence={0: 0.5, 2: 0.5}),
        tba.InputError,
        (
            "`prevalence` must name each class once; it leaves out 1 and names 2 beyond them. "
            "Classes: 0, 1."
        ),
    ),
    "prevalence: zero": (
        {},
        lambda df: df.tba.bounds(prevalence={0: 0.5, 1: 0}),
        tba.InputError,
        "`prevalence` must be finite and greater than 0 for every class; got {0: 0.5, 1: 0}.",
    ),
    "prevalence: twice": (
        {},
        lambda df: df.tba.score(prevalence=pd.Series([0.5] * 3, index=[0, 1, 1])),
        tba.InputError,
        "`prevalence` names a label more than once.",
    ),
    "absent: choice": (
        {},
        lambda df: df.tba.score(absent="skip"),
        tba.InputError,
        "`absent` must be one of 'nan', 'exclude', 'raise'; got 'skip'.",
    ),
    "absent: raise": (
        PURE,
        lambda df: df.tba.score(by="segment", absent="raise"),
        tba.InputError,
        (
            "Undefined recall of classes without rows: Group 'a': no rows of 0; Group 'b': no "
            "rows of 1. Pass absent='nan' or absent='exclude' to go on."
        ),
    ),
    "smoothing": (
        {},
        lambda df: df.tba.score(smoothing=-1),
        tba.InputError,
        "`smoothing` must be a finite number of rows, 0 or more; got -1.",
    ),
    "scores": (
        {"y_pred": [0.9, 0.1, 0.4, 0.2]},
        lambda df: df.tba.score(),
        tba.InputError,
        (
            "`y_pred` column 'y_pred' holds scores, not labels: numbers with fractions, while "
            "y_true has none. Name it as what it is: df.tba(y_true='y_true', y_score='y_pred', "
            "threshold=0.5), with pos_label= where the labels are not 0 and 1."
        ),
    ),
    "scores: categories": (
        {"y_pred": pd.Categorical([0.9, 0.1, 0.4, 0.2])},
        lambda df: df.tba(y_true="y_true").score(),
        tba.InputError,
        (
            "`y_pred` column 'y_pred' holds scores, not labels: numbers with fractions, while "
            "y_true has none. Name it as what it is: df.tba(y_true='y_true', y_score='y_pred', "
            "threshold=0.5), with pos_label= where the labels are not 0 and 1."
        ),
    ),
    "metrics: typo": (
        {},
        lambda df: df.tba.metrics(metrics="acuracy"),
        tba.InputError,
        (
            "`metrics`: there is no metric 'acuracy'. Did you mean 'accuracy'? Metrics: "
            "'accuracy', 'balanced_accuracy', 'tba', 'tba_slope', 'majority' and 26 more; "
            "tba.METRICS holds all."
        ),
    ),
    "metrics: kind": (
        {},
        lambda df: df.tba.metrics(metrics=[3]),
        tba.KindError,
        "`metrics` must hold names or Metrics; got 3.",
    ),
    "metrics: empty": (
        {},
        lambda df: df.tba.metrics(metrics=[]),
        tba.InputError,
        "`metrics` is empty; name at least one, or leave it out for all.",
    ),
    "metrics: twice": (
        {},
        lambda df: df.tba.metrics(metrics=["mcc", "mcc"]),
        tba.InputError,
        "`metrics` holds 'mcc' more than once.",
    ),
    "metrics: of one class": (
        TEXT,
        lambda df: df.tba.metrics(metrics=["recall", "mcc"]),
        tba.InputError,
        (
            "`metrics`: 'recall' describes one class, and no class is positive. Classes: 'a', "
            "'b'. Name one, as in df.tba(pos_label='b'), or ask per_class()."
        ),
    ),
    "metrics: overall": (
        {},
        lambda df: df.tba.per_class(metrics=["mcc", "recall"]),
        tba.InputError,
        "`metrics`: 'mcc' speaks of all classes together; ask metrics() for it.",
    ),
    "kinds: text and number": (
        {"y_true": [*"1010"]},
        lambda df: df.tba.score(),
        tba.KindError,
        (
            "`y_true` holds text labels ('0', '1'), but `y_pred` holds number labels (0, 1): "
            "labels of different kinds never match. Convert one of them, for example with "
            "astype; booleans match numbers only where these are all 0 or 1."
        ),
    ),
    "kinds: labels": (
        {},
        lambda df: df.tba(labels=["0", "1"]).score(),
        tba.KindError,
        (
            "`labels` holds text labels ('0', '1'), but `y_true` holds number labels (0, 1): "
            "labels of different kinds never match. Convert one of them, for example with "
            "astype; booleans match numbers only where these are all 0 or 1."
        ),
    ),
    "kinds: bool and 2": (
        {"y_true": [2, 0, 2, 0], "y_pred": [True, False, True, False]},
        lambda df: df.tba.score(),
        tba.KindError,
        (
            "`y_true` holds number labels (0, 2), but `y_pred` holds boolean labels (False, "
            "True): labels of different kinds never match. Convert one of them, for example "
            "with astype; booleans match numbers only where these are all 0 or 1."
        ),
    ),
    "pos_label: three classes": (
        {"y_true": [*"abca"], "y_pred": [*"abca"]},
        lambda df: df.tba(pos_label="a").metrics(),
        tba.InputError,
        (
            "`pos_label` needs two classes, and y_true holds 3: 'a', 'b', 'c'. Set one against the "
            "rest, truth and predictions alike: df['y_true'] == 'a'; or ask per_class()."
        ),
    ),
    "pos_label: not among labels": (
        {},
        lambda df: df.tba(labels=[0, 1], pos_label=2).score(),
        tba.InputError,
        "`pos_label` must be one of two classes; got 2 with labels 0, 1.",
    ),
    "pos_label: not in the data": (
        {},
        lambda df: df.tba(pos_label=7).score(),
        tba.InputError,
        ("`pos_label` must be one of the labels of y_true; got 7. Labels: 0, 1."),
    ),
    "labels: empty": (
        {},
        lambda df: df.tba(labels=[]).score(),
        tba.InputError,
        "`labels` is empty; name the classes, or leave it out to take those of y_true.",
    ),
    "labels: text": (
        {},
        lambda df: df.tba(labels="ab").score(),
        tba.InputError,
        "`labels` must be a list of labels; got 'ab'. Write ['ab'].",
    ),
    "labels: twice": (
        {},
        lambda df: df.tba(labels=[0, 1, 1]).score(),
        tba.InputError,
        "`labels` holds a label more than once: 0, 1, 1.",
    ),
    "labels: missing": (
        {},
        lambda df: df.tba(labels=[0, None]).score(),
        tba.InputError,
        "`labels` must not hold missing values; got 0, None.",
    ),
    "labels: lists": (
        {},
        lambda df: df.tba(labels=[[0], [1]]).score(),
        tba.InputError,
        "`labels` must hold single labels; got [0], [1].",
    ),
    "labels: abstain too": (
        {},
        lambda df: df.tba(labels=[0, 1], abstain=[1]).score(),
        tba.InputError,
        "`abstain` and `labels` both hold 1; a label to abstain is no class.",
    ),
    "key named like a metric": (
        {"accuracy": [*"aabb"]},
        lambda df: df.tba.metrics(by="accuracy"),
        tba.InputError,
        (
            "`by`: the key 'accuracy' has the name of a column or level of the result. Rename "
            "it, as in by=df['accuracy'].rename('group')."
        ),
    ),
    "key named t": (
        {"t": [*"aabb"]},
        lambda df: df.tba.score(by="t", t=[0, 1]),
        tba.InputError,
        (
            "`by`: the key 't' has the name of a column or level of the result. Rename it, as "
            "in by=df['t'].rename('group')."
        ),
    ),
    "key named model, wide": (
        {"model": [*"aabb"]},
        lambda df: df.tba(y_pred=["y_pred", "y_true"]).score(by="model"),
        tba.InputError,
        "`by`: 'model' is the models' own level here; leave it out of `by`, or rename it.",
    ),
    "key named model beside one without a name": (
        {"model": [*"aabb"]},
        lambda df: df.tba(y_pred=["y_pred", "y_true"]).score(by=[df["segment"].array, "model"]),
        tba.InputError,
        "`by`: 'model' is the models' own level here; leave it out of `by`, or rename it.",
    ),
    "key is the model": (
        {"m": [*"aabb"]},
        lambda df: df.tba(model="m").score(by="m"),
        tba.InputError,
        "`by`: 'm' is the models' own level here; leave it out of `by`, or rename it.",
    ),
    "key named n, to_table": (
        {"n": [*"aabb"]},
        lambda df: df.tba.counts(by="n").to_table(),
        tba.InputError,
        "`by` has a key named 'n', which is also a column of the table; rename it.",
    ),
    "model and a list": (
        {"model": [*"aabb"]},
        lambda df: df.tba(y_pred=["y_pred"], model="model").score(),
        tba.InputError,
        (
            "`model` ('model') and a list in `y_pred` are two ways to name the models; use "
            "one: models in columns (y_pred=[...]) or in rows (model=...)."
        ),
    ),
    "y_pred: empty": (
        {},
        lambda df: df.tba(y_pred=[]).score(),
        tba.InputError,
        "`y_pred` is an empty list; name at least one column of predictions.",
    ),
    "y_pred: twice": (
        {},
        lambda df: df.tba(y_pred=["y_pred", "y_pred"]).score(),
        tba.InputError,
        "`y_pred` names 'y_pred' more than once.",
    ),
    "normalize": (
        {},
        lambda df: df.tba.confusion_matrix(normalize="rows"),
        tba.InputError,
        "`normalize` must be one of 'true', 'pred', 'all'; got 'rows'.",
    ),
    "adding other keys": (
        {},
        lambda df: df.tba.counts(by="segment") + df.tba.counts(),
        tba.InputError,
        "Counts can be added only when their groups have the same keys; got 'segment' and none.",
    ),
    "adding other labels": (
        {},
        lambda df: df.tba(labels=[0, 1]).counts() + df.tba.counts(),
        tba.InputError,
        (
            "Counts can be added only when labels=, abstain= and pos_label= were the same; got "
            "labels 0, 1 and no labels."
        ),
    ),
    "rollup": (
        {},
        lambda df: df.tba.counts(by="segment").rollup("segmnt"),
        tba.ColumnError,
        (
            "`levels` must name keys of the groups; got 'segmnt'. Did you mean 'segment'? "
            "Keys: 'segment'."
        ),
    ),
    "table without n": (
        {},
        from_table,
        tba.ColumnError,
        "no column 'n' in the table. Columns: 'y_true', 'y_pred', 'segment'.",
    ),
    "table with missing label": (
        {"y_true": [1, None, 1, 0], "n": [1, 2, 3, 4]},
        from_table,
        tba.InputError,
        "Missing values in 'y_true' (2 rows); leave these lines out.",
    ),
    "table with booleans for n": (
        {"n": [True, True, False, True]},
        from_table,
        tba.InputError,
        (
            "`n` must hold whole numbers of rows, not negative, finite and below 2**63; got True, "
            "True, False and 1 more."
        ),
    ),
    "table with negative n": (
        {"n": [1, -2, 3, 4]},
        from_table,
        tba.InputError,
        "`n` must hold whole numbers of rows, not negative, finite and below 2**63; got -2.",
    ),
}


@pytest.mark.parametrize(("columns", "ask", "kind", "text"), ERRORS.values(), ids=ERRORS)
def test_errors_about_a_frame(columns, ask, kind, text):
    frame = made(columns)
    before = frame.copy(deep=True)
    with pytest.raises(kind) as raised:
        ask(frame)
    assert str(raised.value) == text
    assert type(raised.value) is kind
    assert_untouched(frame, before)


def renamed(**columns):
    """The frame of these tests with names of a user's own."""
    return made(columns).rename(columns={"y_true": "label", "y_pred": "guess"})


OWN = {"y_true": "label", "y_pred": "guess"}
SCORES = {"y_pred": [0.9, 0.1, 0.4, 0.2]}
PREDICTIONS = {
    "numbers": [1, None, 1, 0],
    "texts": ["1", None, "1", "0"],
    "categories": pd.Categorical(["1", None, "1", "0"]),
    "nullable numbers": pd.array([1, None, 1, 0], dtype="Int64"),
    "booleans": pd.array([True, None, True, False], dtype="boolean"),
    "days": pd.to_datetime(["2024-01-01", None, "2024-01-01", "2024-01-02"]),
}


def filled(kind):
    predicted = pd.Series(PREDICTIONS[kind])
    return renamed(y_true=predicted.fillna(predicted[0]), y_pred=predicted)


# frame, names bound, question about the accessor, what the error says to paste: groups of a pattern,
# which become arguments, the call itself, a new frame, or the values of a column; names of the error's
# examples and the user's own; what the paste stands in place of
REPAIRS = {
    "missing truth": (renamed(y_true=[1, None, 0, 1]), OWN, {}, r"(df\.tba\(missing='drop'\))\.$", {}),
    "missing predictions": (renamed(y_pred=[1, None, 0, 1]), OWN, {}, r"(df\.tba\(missing='drop'\)),", {}),
    **{
        f"missing predictions, {kind}": (filled(kind), OWN, {}, r"(df\['guess'\].*\)) with (abstain=\[.*\])\.$", {})
        for kind in PREDICTIONS
    },
    "scores": (renamed(**SCORES), OWN, {}, r"it is: (df\.tba\(.*0\.5\)),", {}),
    "scores of text": (renamed(y_true=[*"abab"], **SCORES), OWN, {}, r"it is: (df\.tba\(.*0\.5\)), with (pos_label=) where", {"pos_label=": "pos_label='b'"}),
    "no positive label": (renamed(y_true=[*"abab"], p=SCORES["y_pred"]), {"y_true": "label", "y_score": "p"}, {}, r"as in (df\.tba\(pos_label='b'\))\.", {}),
    "scores of three classes": (renamed(y_true=[*"abca"], p=SCORES["y_pred"]), {"y_true": "label", "y_score": "p"}, {}, r"rest: (df\['y_true'\] == 'c')\.", {"'y_true'": "'label'"}),
    "a positive label of three": (renamed(y_true=[*"abca"], y_pred=[*"abca"]), {**OWN, "pos_label": "a"}, {}, r"alike: (df\['y_true'\] == 'a');", {"'y_true'": "'label'"}),
    "one label": (renamed(y_true=[7] * 4, y_pred=[7] * 4), {**OWN, "pos_label": 7}, {}, r"both: (labels=\[\.\.\., 7\])\.$", {"...": "0"}),
    "metrics of one class": (renamed(y_true=[*"abab"], y_pred=[*"aabb"]), OWN, {"metrics": ["recall"]}, r"as in (df\.tba\(pos_label='b'\)),", {}),
    "a threshold": (renamed(p=SCORES["y_pred"]), {"y_true": "label", "threshold": 0.3}, {}, r"their column: (y_score='p')\.$", {}),
    "labels of text": (renamed(), {**OWN, "labels": "01"}, {}, r"Write (\[.*\])\.$", {"[": "labels=[", "'01'": "0, 1"}),
    "labels of a set": (renamed(), {**OWN, "labels": {0, 1}}, {}, r"Write (sorted\(.*\))\.$", {"sorted": "labels=sorted"}),
    "labels that are not all": (renamed(), {**OWN, "labels": [0]}, {}, r"Add them to (labels=),", {"labels=": "labels=[0, 1]"}),
    "labels to abstain": (renamed(y_pred=[1, 9, 0, 1]), {**OWN, "labels": [0, 1]}, {}, r"go into (abstain=\[\.\.\.\])\.$", {"...": "9"}),
    "default names": (renamed(), {}, {}, r"Name yours: (df\.tba\(y_true='y', y_pred='p'\))\.score", {"'y'": "'label'", "'p'": "'guess'"}),
    "a typo": (renamed(), {**OWN, "y_true": "labl"}, {}, r"Did you mean ('label')\?", {"'label'": "y_true='label'"}),
    "a column and a level": (renamed().rename_axis("segment"), OWN, {"by": "segment"}, r"of them: (df\.rename_axis\(.*\))\.$", {}),
    "a key named like a metric": (renamed(accuracy=[*"aabb"]), OWN, {"metrics": None, "by": "accuracy"}, r"as in (by=df\[.*\))\.$", {}),
    "a MultiIndex": (renamed(level_a=1, level_b=2), OWN, {"by": pd.MultiIndex.from_arrays([[1] * 4] * 2)}, r"levels: (by=\[.*\])\.$", {}),
    "a Series of another index": (renamed(), OWN, {"by": pd.Series([*"abab"], index=[0, 0, 1, 1], name="s")}, r"an array \((series\.to_numpy\(\))\)", {"series": "by=series"}),
    "a class without rows": (renamed(**PURE), OWN, {"by": "segment", "absent": "raise"}, r"or (absent='exclude') to go on\.$", {}),
    "a typo of a metric": (renamed(), OWN, {"metrics": ["acuracy"]}, r"Did you mean ('accuracy')\?", {"'accuracy'": "metrics=['accuracy']"}),
    "models in columns and in rows": (renamed(m=[*"aabb"]), {"y_true": "label", "y_pred": ["guess"], "model": "m"}, {}, r"in columns \((y_pred=\[\.\.\.\])\)", {"...": "'guess'", "model": "m"}),
}  # fmt: skip
TAKEN_BACK = {"y_score": ["y_pred"], "y_pred": ["model"]}  # by what is named in their place


@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
@pytest.mark.parametrize("case", REPAIRS)
def test_a_repair_that_is_pasted_works(case):
    frame, names, question, pattern, own = REPAIRS[case]

    def ask(frame, names, question):
        accessor = frame.tba(**names) if names else frame.tba
        return (accessor.metrics if "metrics" in question else accessor.score)(**question)

    with pytest.raises((tba.InputError, tba.ColumnError, tba.KindError)) as raised:
        ask(frame, names, question)
    found = re.search(pattern, str(raised.value))
    assert found, str(raised.value)
    for code in found.groups():
        for example, word in own.items():
            code = code.replace(example, word)  # noqa: PLW2901
        known = {"df": frame, "series": question.get("by"), "dict": dict}
        if code.startswith("df.tba("):
            code = code.removeprefix("df.tba(").removesuffix(")")  # noqa: PLW2901
        if re.match(r"\w+=", code):
            given = eval(f"dict({code})", known)
            asked = {
                name: value for name, value in given.items() if name in ("by", "absent", "metrics")
            }
            question = question | asked
            given = {name: value for name, value in given.items() if name not in asked}
            gone = [name for new in given for name in TAKEN_BACK.get(new, []) if name not in given]
            names = {name: value for name, value in names.items() if name not in gone} | given
            continue
        value = eval(code, known)
        if isinstance(value, pd.DataFrame):
            frame = value
        elif "guess" in code:
            frame = frame.assign(guess=value)
        else:  # one class against the rest
            frame = frame.assign(label=value, guess=value)
            names = {name: known for name, known in names.items() if name != "pos_label"}
    ask(frame, names, question)
