"""What `df.tba` does besides the functions over counts: bind names, count, check rows, decide."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.engines.pandas_frames import count_frame
from pandas_tba.errors import listed, shown
from pandas_tba.frames.columns import DEFAULT_COLUMNS, Columns, Missing
from pandas_tba.frames.schema import check_faults

if TYPE_CHECKING:
    from pandas_tba.plots.accessor import TbaPlot

_ASK = (
    "Score:     .score(t=0.5)  .metrics(by=...)  .per_class()  .confusion_matrix()  .undefined()",
    "How sure:  .interval()  .posterior()  .bounds(t=0)",
    "Compare:   .compare()  .crossings()  .disparity(by=...)  .gap(by=...)  .check(by=...)  .slices()",
    "Choose t:  .choose_t()  .diagnose()  .sweep()  .best_threshold()  .decide()",
    "Show:      .plot.curve()  .report()  .report().to_html('report.html')",
    "The rows:  .validate()  .counts(by=...)",
)


class AccessorBase:
    """Judge the predictions in a frame: ``df.tba.score(t=0.5)``, ``df.tba.metrics(by="segment")``.

    Call it to name the columns: ``df.tba(y_true="label", y_pred="forest")``; without a call they
    are y_true and y_pred. Every method counts the frame once and asks the function of the same
    name; `by`, `dropna` and `observed` say how to count, as in `count`.
    """

    # what a first score does not need is imported by the method that needs it: import stays fast

    def __init__(self, frame: pd.DataFrame, columns: Columns | None = None) -> None:
        # Nothing may be checked here: an error would break dir(df) of every frame. Nothing else
        # may be kept: pandas 3 makes an accessor at each access, pandas 2 one for each frame.
        self._frame = frame
        self._columns = DEFAULT_COLUMNS if columns is None else columns

    def __call__(
        self,
        *,
        y_true: Hashable = "y_true",
        y_pred: Hashable | list[Hashable] | None = None,
        model: Hashable | None = None,
        labels: Iterable[Hashable] | None = None,
        abstain: Iterable[Hashable] = (),
        pos_label: Hashable | None = None,
        missing: Missing = "raise",
        y_score: Hashable | list[Hashable] | Mapping[Any, Hashable] | None = None,
        threshold: float = 0.5,
        sample_weight: Hashable | None = None,
        schema: Any = None,
        row: Hashable | None = None,
    ) -> Self:
        """Name the columns and what is known of their labels.

        Parameters
        ----------
        y_true : column name, default "y_true"
            True labels.
        y_pred : column name, or list of them, optional
            Predicted labels, "y_pred" unless scores are named; a list holds one column for each
            model.
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
            Whether a missing label, score or weight is an error, or its row is left out for all
            models at once.
        y_score : column name, list of them, or mapping, optional
            Scores in place of `y_pred`: the positive one of exactly two classes is predicted where
            they reach the threshold. A list holds one column for each model. A mapping from label
            to column holds the probability of every class, for `decide`.
        threshold : float, default 0.5
            Scores greater than or equal to it predict the positive class, in the precision of their
            column: a float32 score of 0.7 reaches 0.7, though as float64 it is a little less.
        sample_weight : column name, optional
            Sampling weights, finite and not negative. Tables then show n (rows) and weight.
        schema : pandera DataFrameSchema or DataFrameModel, optional
            Run on the bound columns, and on others that it names, before anything is counted. It
            only checks: coercions are not applied.
        row : column name, optional
            Which case a row is about, where models stand in rows: `compare` pairs by it.

        Returns
        -------
        TbaAccessor
            The same accessor with these names bound.

        Examples
        --------
        >>> import pandas_tba as tba
        >>> forest = tba.load_income().tba(y_pred="forest", pos_label=">50K")
        >>> round(forest.score(t=0), 3)
        0.764
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
            row=row,
        )
        return type(self)(self._frame, columns)

    def __repr__(self) -> str:
        bound = self._columns
        named = {"y_true": bound.y_true}
        named |= {"y_pred": bound.y_pred} if bound.y_score is None else {"y_score": bound.y_score}
        for part in ("model", "row", "sample_weight"):
            if getattr(bound, part) is not None:
                named[part] = getattr(bound, part)
        bound_names = [name for value in named.values() for name in _bound_names(value)]
        unknown = [name for name in bound_names if not _is_column(self._frame, name)]
        shown_names = ", ".join(f"{part}={shown(value)}" for part, value in named.items())
        lines = [f"<df.tba: {len(self._frame):,} rows, {shown_names}>"]
        if unknown:
            lines.append(f"No column {listed(unknown)}. Name yours: df.tba(y_true='y', y_pred='p')")
        lines += _ASK
        return "\n".join(lines)

    @property
    def _truth(self) -> Columns:
        """The names with the true labels as predictions, for what depends on them alone."""
        return replace(self._columns, y_pred=self._columns.y_true, y_score=None, model=None)

    @property
    def plot(self) -> TbaPlot:
        """Figures, such as ``df.tba.plot.curve(by="segment")``; they need matplotlib."""
        from pandas_tba.plots.accessor import TbaPlot

        return TbaPlot(self._frame, self._columns)

    def counts(
        self, by: Any = None, *, dropna: bool = False, observed: bool = True
    ) -> ConfusionCounts:
        """Counts of the frame's rows by group, true and predicted label: see `pandas_tba.count`.

        Parameters
        ----------
        by : key, or list of keys, optional
            Groups: names of columns or index levels, Series, arrays or Groupers.
        dropna : bool, default False
            Whether to leave out rows with a missing key; by default they form a group.
        observed : bool, default True
            False adds a group without rows for each combination of categories that does not occur.

        Returns
        -------
        ConfusionCounts
            What the functions of the library are asked with.

        Raises
        ------
        ColumnError
            If a name does not lead to exactly one column.
        InputError
            If labels are missing, unexpected, or look like scores; or arguments do not fit
            together.
        KindError
            If labels of different kinds would be compared.

        Warns
        -----
        InputWarning
            If a label is only predicted, or a key holds very many different numbers.

        Examples
        --------
        >>> import pandas_tba as tba
        >>> tba.load_income().tba(y_pred="forest").counts(by="sex")
        <ConfusionCounts: 4,000 rows, 2 groups by 'sex', 2 classes: '<=50K', '>50K'>
        """
        return count_frame(self._frame, self._columns, by=by, dropna=dropna, observed=observed)

    def validate(self) -> pd.DataFrame:
        """The frame itself, if it can be counted; else an error that names every fault.

        Returns
        -------
        DataFrame
            The frame, unchanged.

        Raises
        ------
        InputError, KindError
            With all faults in its text, and as a DataFrame (column, check, failure_case, rows) in
            its attribute ``failure_cases``.

        Examples
        --------
        >>> import pandas_tba as tba
        >>> income = tba.load_income()
        >>> income.tba(y_pred="forest").validate() is income
        True
        """
        count_frame(self._frame, self._columns)
        check_faults(self._frame, self._columns.roles)
        return self._frame

    def decide(
        self,
        *,
        t: float = 0.5,
        prevalence: Literal["own"] | Mapping[Any, float] | pd.Series = "own",
    ) -> pd.Series:
        """Labels that maximise the expected score, given the probability of every class.

        The columns of probabilities are bound as a mapping from label to column:
        ``df.tba(y_true="label", y_score={"no": "p_no", "yes": "p_yes"}).decide(t=0.5)``. For
        probabilities that are not in a frame with labels see `pandas_tba.decide`.

        Parameters
        ----------
        t : float, default 0.5
            Exponent. At 1 the most probable class wins; below 1 rare classes win earlier.
        prevalence : "own", mapping or Series, default "own"
            Share (or rows) of each class, greater than 0: label to share; by default the rows of
            each label in y_true.

        Returns
        -------
        Series
            Labels on the index of the frame, named y_pred. Of classes that are equally good the
            first.

        Raises
        ------
        InputError
            If no probabilities are bound, a row of them has a negative or missing value or does
            not add up to 1 within 1e-6, or `prevalence` lacks a class or is not positive.
        KindError
            If the probabilities are no numbers.

        Examples
        --------
        >>> import pandas as pd, pandas_tba as tba
        >>> df = pd.DataFrame({"y_true": ["ok"] * 9 + ["fraud"], "p_fraud": [0.05] * 8 + [0.2] * 2})
        >>> df["p_ok"] = 1 - df["p_fraud"]
        >>> asked = df.tba(y_score={"ok": "p_ok", "fraud": "p_fraud"})
        >>> asked.decide(t=0).value_counts().to_dict()
        {'ok': 8, 'fraud': 2}
        """
        from pandas_tba.questions.score_columns import decided

        return decided(self._frame, self._columns, t=t, prevalence=prevalence)


def _bound_names(bound: Any) -> list[Any]:
    """Columns that one part names."""
    if isinstance(bound, Mapping):
        return [*bound.values()]
    return bound if isinstance(bound, list) else [bound]


def _is_column(frame: pd.DataFrame, name: Any) -> bool:
    """Whether the frame has a column of this name, whatever the name is."""
    try:
        return name in frame.columns
    except (TypeError, ValueError):  # of what cannot be hashed, or compared
        return False
