"""df.tba: the door from a frame to the functions over its counts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Literal

import pandas as pd

from pandas_tba import tables
from pandas_tba.catalog import Metric
from pandas_tba.columns import Columns, Missing
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.counting import count_frame
from pandas_tba.errors import listed, shown
from pandas_tba.framing import Exponent, Prevalence
from pandas_tba.specification import check_faults
from pandas_tba.tables import Absent


@pd.api.extensions.register_dataframe_accessor("tba")
class TbaAccessor:
    """Judge the predictions in a frame: ``df.tba.score(t=0.5)``, ``df.tba.metrics(by="segment")``.

    Call it to name the columns: ``df.tba(y_true="label", y_pred="forest")``; without a call they
    are y_true and y_pred. Every method counts the frame once and asks the function of the same
    name; `by`, `dropna` and `observed` say how to count, as in `count`.
    """

    def __init__(self, frame: pd.DataFrame, columns: Columns | None = None) -> None:
        # nothing may be checked here: an error would break dir(df) of every frame
        self._frame = frame
        self._columns = Columns() if columns is None else columns

    def __call__(
        self,
        *,
        y_true: Hashable = "y_true",
        y_pred: Hashable | list[Hashable] = "y_pred",
        model: Hashable | None = None,
        labels: Iterable[Hashable] | None = None,
        abstain: Iterable[Hashable] = (),
        pos_label: Hashable | None = None,
        missing: Missing = "raise",
        y_score: Hashable | list[Hashable] | None = None,
        threshold: float = 0.5,
        sample_weight: Hashable | None = None,
        schema: Any = None,
    ) -> TbaAccessor:
        """Name the columns and what is known of their labels.

        Parameters
        ----------
        y_true, y_pred, model, labels, abstain, pos_label, missing, y_score, threshold, sample_weight, schema
            As in `count`.

        Returns
        -------
        TbaAccessor
            The same door with these names bound.

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
        )
        return TbaAccessor(self._frame, columns)

    def __repr__(self) -> str:
        bound = self._columns
        names = [bound.y_true, *bound.predictions, *([] if bound.model is None else [bound.model])]
        columns = list(self._frame.columns)  # an Index would refuse names that cannot be hashed
        lacking = [name for name in names if name not in columns]
        model = "" if bound.model is None else f", model={shown(bound.model)}"
        lines = [
            f"<df.tba: {len(self._frame):,} rows, y_true={shown(bound.y_true)}, y_pred={shown(bound.y_pred)}{model}>"
        ]
        if lacking:
            lines.append(f"No column {listed(lacking)}. Name yours: df.tba(y_true='y', y_pred='p')")
        lines.append(
            "Ask:  .score(t=0.5)  .metrics(by=...)  .per_class()  .confusion_matrix()  .bounds(t=0)  .counts()"
        )
        return "\n".join(lines)

    def counts(
        self, by: Any = None, *, dropna: bool = False, observed: bool = True
    ) -> ConfusionCounts:
        """Counts of the frame: see `count`."""
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
        """
        count_frame(self._frame, self._columns)
        check_faults(self._frame, self._columns)
        return self._frame

    def score(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.5,
        prevalence: Prevalence = "own",
        absent: Absent = "nan",
        adjusted: bool = False,
        smoothing: float = 0.0,
    ) -> float | pd.Series | pd.DataFrame:
        """Tempered balanced accuracy: see `score`."""
        return tables.score(
            self.counts(by, dropna=dropna, observed=observed),
            t=t,
            prevalence=prevalence,
            absent=absent,
            adjusted=adjusted,
            smoothing=smoothing,
        )

    def metrics(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        t: Exponent = 0.5,
    ) -> pd.DataFrame:
        """Table of metrics: see `metrics`."""
        counts = self.counts(by, dropna=dropna, observed=observed)
        return tables.metrics(counts, metrics=metrics, t=t)

    def per_class(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
    ) -> pd.DataFrame:
        """Table of each label against the rest: see `per_class`."""
        return tables.per_class(self.counts(by, dropna=dropna, observed=observed), metrics=metrics)

    def confusion_matrix(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        normalize: Literal["true", "pred", "all"] | None = None,
    ) -> pd.DataFrame:
        """Confusion matrix, rows true and columns predicted: see `confusion_matrix`."""
        counts = self.counts(by, dropna=dropna, observed=observed)
        return tables.confusion_matrix(counts, normalize=normalize)

    def bounds(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.5,
        prevalence: Prevalence = "own",
    ) -> pd.DataFrame:
        """Lowest and highest score that the data allow: see `bounds`."""
        counts = self.counts(by, dropna=dropna, observed=observed)
        return tables.bounds(counts, t=t, prevalence=prevalence)
