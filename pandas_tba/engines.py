"""count(): a frame of predictions -> ConfusionCounts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import pandas as pd

from pandas_tba.columns import Columns, Missing
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.counting import count_frame


def count(
    frame: pd.DataFrame,
    *,
    y_true: Hashable = "y_true",
    y_pred: Hashable | list[Hashable] = "y_pred",
    by: Any = None,
    model: Hashable | None = None,
    labels: Iterable[Hashable] | None = None,
    abstain: Iterable[Hashable] = (),
    pos_label: Hashable | None = None,
    missing: Missing = "raise",
    y_score: Hashable | list[Hashable] | None = None,
    threshold: float = 0.5,
    sample_weight: Hashable | None = None,
    schema: Any = None,
    dropna: bool = False,
    observed: bool = True,
) -> ConfusionCounts:
    """Counts of the rows of a frame: the one pass over the data, from which all answers come.

    Parameters
    ----------
    frame : DataFrame
        Predictions, one row each. It is not changed.
    y_true : column name, default "y_true"
        True labels.
    y_pred : column name, or list of them, default "y_pred"
        Predicted labels; a list holds one column for each model.
    by : key, or list of keys, optional
        Groups: names of columns or index levels, Series, arrays or Groupers.
    model : column name, optional
        Column that says which model made the prediction of a row.
    labels : list, optional
        The classes, in the order wanted; by default the labels that occur in y_true. Any other
        label is then an error.
    abstain : list, optional
        Labels that may be predicted and are no class, such as a reject option.
    pos_label : label, optional
        The positive one of two classes; inferred for False/True, 0/1 and -1/1.
    missing : {"raise", "drop"}, default "raise"
        Whether a missing label, score or weight is an error, or its row is left out for all models
        at once.
    y_score : column name, or list of them, optional
        Scores in place of `y_pred`: the positive one of exactly two classes is predicted where
        they reach the threshold. A list holds one column for each model.
    threshold : float, default 0.5
        Scores greater than or equal to it predict the positive class.
    sample_weight : column name, optional
        Sampling weights, finite and not negative. Tables then show n (rows) and weight.
    schema : pandera DataFrameSchema or DataFrameModel, optional
        Run on the bound columns, and on others that it names, before anything is counted. It only
        checks: coercions are not applied.
    dropna : bool, default False
        Whether to leave out rows with a missing key; by default they form a group.
    observed : bool, default True
        False adds a group without rows for each combination of categories that does not occur.

    Returns
    -------
    ConfusionCounts
        Counts by group, true and predicted label.

    Raises
    ------
    ColumnError
        If a name does not lead to exactly one column.
    InputError
        If labels are missing, unexpected, or look like scores; or arguments do not fit together.
    KindError
        If labels of different kinds would be compared, or the frame is none of pandas.

    Warns
    -----
    InputWarning
        If a label is only predicted, or a key holds very many different numbers.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> tba.count(tba.load_income(), y_pred="forest", by="sex")
    <ConfusionCounts: 4,000 rows, 2 groups by 'sex', 2 classes: '<=50K', '>50K'>
    """
    columns = Columns(
        y_true=y_true,
        y_pred=y_pred,
        model=model,
        labels=labels,
        abstain=abstain,
        pos_label=pos_label,
        missing=missing,
        y_score=y_score,
        threshold=threshold,
        sample_weight=sample_weight,
        schema=schema,
    )
    return count_frame(frame, columns, by=by, dropna=dropna, observed=observed)
