"""df.tba: the door from a frame to the functions over its counts."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.engines.pandas_frames import count_frame
from pandas_tba.errors import listed, shown
from pandas_tba.frames.columns import Columns, Missing
from pandas_tba.frames.schema import check_faults
from pandas_tba.inference.group_tests import Adjustment
from pandas_tba.questions import scores as tables
from pandas_tba.questions.scores import Absent
from pandas_tba.scoring.metrics import Metric
from pandas_tba.scoring.results import Exponent, Prevalence

if TYPE_CHECKING:
    from pandas_tba.plots.accessor import TbaPlot
    from pandas_tba.questions.gates import Check
    from pandas_tba.questions.intervals import Prior
    from pandas_tba.reports.report import Report


_ASK = (
    "Score:     .score(t=0.5)  .metrics(by=...)  .per_class()  .confusion_matrix()  .undefined()",
    "How sure:  .interval()  .posterior()  .bounds(t=0)",
    "Compare:   .compare()  .crossings()  .disparity(by=...)  .gap(by=...)  .check(by=...)  .slices()",
    "Choose t:  .choose_t()  .diagnose()  .sweep()  .best_threshold()  .decide()",
    "Show:      .plot.curve()  .report()  .report().to_html('report.html')",
    "The rows:  .validate()  .counts(by=...)",
)


@pd.api.extensions.register_dataframe_accessor("tba")
class TbaAccessor:
    """Judge the predictions in a frame: ``df.tba.score(t=0.5)``, ``df.tba.metrics(by="segment")``.

    Call it to name the columns: ``df.tba(y_true="label", y_pred="forest")``; without a call they
    are y_true and y_pred. Every method counts the frame once and asks the function of the same
    name; `by`, `dropna` and `observed` say how to count, as in `count`.
    """

    # what a first score does not need is imported by the method that needs it: import stays fast

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
        y_score: Hashable | list[Hashable] | Mapping[Any, Hashable] | None = None,
        threshold: float = 0.5,
        sample_weight: Hashable | None = None,
        schema: Any = None,
        row: Hashable | None = None,
    ) -> TbaAccessor:
        """Name the columns and what is known of their labels.

        Parameters
        ----------
        y_true, y_pred, model, labels, abstain, pos_label, missing, y_score, threshold, sample_weight, schema
            As in `count`.
        row : column name, optional
            Which case a row is about, where models stand in rows: `compare` pairs by it.

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
            row=row,
        )
        return TbaAccessor(self._frame, columns)

    def __repr__(self) -> str:
        bound = self._columns
        named = {"y_true": bound.y_true}
        named |= {"y_pred": bound.y_pred} if bound.y_score is None else {"y_score": bound.y_score}
        for part in ("model", "row", "sample_weight"):
            if getattr(bound, part) is not None:
                named[part] = getattr(bound, part)
        bound_names = [name for value in named.values() for name in _names(value)]
        lacking = [name for name in bound_names if not _is_column(self._frame, name)]
        shown_names = ", ".join(f"{part}={shown(value)}" for part, value in named.items())
        lines = [f"<df.tba: {len(self._frame):,} rows, {shown_names}>"]
        if lacking:
            lines.append(f"No column {listed(lacking)}. Name yours: df.tba(y_true='y', y_pred='p')")
        lines += _ASK
        return "\n".join(lines)

    @property
    def plot(self) -> TbaPlot:
        """Pictures, such as ``df.tba.plot.curve(by="segment")``; they need matplotlib."""
        from pandas_tba.plots.accessor import TbaPlot

        return TbaPlot(self._frame, self._columns)

    def counts(
        self, by: Any = None, *, dropna: bool = False, observed: bool = True
    ) -> ConfusionCounts:
        """Counts of the frame: see `pandas_tba.count`."""
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
        """Tempered balanced accuracy: see `pandas_tba.score`."""
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
        """Table of metrics: see `pandas_tba.metrics`."""
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
        """Table of each label against the rest: see `pandas_tba.per_class`."""
        return tables.per_class(self.counts(by, dropna=dropna, observed=observed), metrics=metrics)

    def confusion_matrix(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        normalize: Literal["true", "pred", "all"] | None = None,
    ) -> pd.DataFrame:
        """Confusion matrix, rows true and columns predicted: see `pandas_tba.confusion_matrix`."""
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
        """Lowest and highest score that the data allow: see `pandas_tba.bounds`."""
        counts = self.counts(by, dropna=dropna, observed=observed)
        return tables.bounds(counts, t=t, prevalence=prevalence)

    def undefined(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        t: Exponent = 0.5,
    ) -> pd.DataFrame:
        """Every undefined value, and the reason: see `pandas_tba.undefined`."""
        counts = self.counts(by, dropna=dropna, observed=observed)
        return tables.undefined(counts, metrics=metrics, t=t)

    def interval(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.5,
        level: float = 0.95,
        method: str = "wilson",
        prevalence: Prevalence = "own",
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        n_replicates: int = 2000,
        generator: np.random.Generator | int | None = None,
    ) -> pd.DataFrame:
        """Scores with their confidence intervals: see `pandas_tba.interval`."""
        from pandas_tba.questions.intervals import interval

        return interval(
            self.counts(by, dropna=dropna, observed=observed),
            t=t,
            level=level,
            method=method,
            prevalence=prevalence,
            metrics=metrics,
            n_replicates=n_replicates,
            generator=generator,
        )

    def posterior(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.0,
        prior: Prior = "uniform",
        level: float = 0.95,
        above: float | None = None,
        prevalence: Prevalence = "own",
    ) -> pd.DataFrame:
        """Exact posterior of balanced accuracy, or of the score at any t: see `pandas_tba.posterior`."""
        from pandas_tba.questions.intervals import posterior

        return posterior(
            self.counts(by, dropna=dropna, observed=observed),
            t=t,
            prior=prior,
            level=level,
            above=above,
            prevalence=prevalence,
        )

    def compare(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.5,
        level: float = 0.95,
        prevalence: Prevalence = "own",
    ) -> pd.DataFrame:
        """Paired differences of the models: see `pandas_tba.compare`."""
        from pandas_tba.engines.pandas_pairs import pair_frame
        from pandas_tba.questions.models import compare

        pairs = pair_frame(
            self._frame,
            self._columns,
            row=self._columns.row,
            by=by,
            dropna=dropna,
            observed=observed,
        )
        return compare(pairs, t=t, level=level, prevalence=prevalence)

    def disparity(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.5,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        reference: Hashable = "pooled",
        prevalence: Prevalence = "pooled",
        min_support: int = 0,
        level: float = 0.95,
        adjust: Adjustment = "max_t",
        n_replicates: int | None = None,
        generator: np.random.Generator | int | None = None,
    ) -> pd.DataFrame:
        """Each group against a reference: see `pandas_tba.disparity`."""
        from pandas_tba.questions.disparities import disparity

        return disparity(
            self.counts(by, dropna=dropna, observed=observed),
            t=t,
            metrics=metrics,
            reference=reference,
            prevalence=prevalence,
            min_support=min_support,
            level=level,
            adjust=adjust,
            n_replicates=n_replicates,
            generator=generator,
        )

    def gap(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.5,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        prevalence: Prevalence = "pooled",
        min_support: int = 0,
        level: float = 0.95,
        n_replicates: int | None = None,
        generator: np.random.Generator | int | None = None,
    ) -> pd.DataFrame:
        """The largest difference between groups, and what chance alone would give: see `pandas_tba.gap`."""
        from pandas_tba.questions.disparities import gap

        return gap(
            self.counts(by, dropna=dropna, observed=observed),
            t=t,
            metrics=metrics,
            prevalence=prevalence,
            min_support=min_support,
            level=level,
            n_replicates=n_replicates,
            generator=generator,
        )

    def check(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        max_gap: float | None = None,
        min_ratio: float | None = None,
        min_score: float | None = None,
        min_support: int = 0,
        t: float = 0.5,
        metrics: str | Metric | Iterable[str | Metric] | None = None,
        prevalence: Prevalence = "pooled",
        level: float | None = 0.95,
    ) -> Check:
        """Whether the groups keep some rules: see `pandas_tba.check`."""
        from pandas_tba.questions.gates import check

        return check(
            self.counts(by, dropna=dropna, observed=observed),
            max_gap=max_gap,
            min_ratio=min_ratio,
            min_score=min_score,
            min_support=min_support,
            t=t,
            metrics=metrics,
            prevalence=prevalence,
            level=level,
        )

    def slices(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        depth: int = 2,
        t: float = 0.5,
        min_support: int = 0,
        level: float = 0.95,
        adjust: Adjustment = "max_t",
        n_replicates: int | None = None,
        generator: np.random.Generator | int | None = None,
    ) -> pd.DataFrame:
        """Combinations of the keys on which a model is weak: see `pandas_tba.slices`."""
        from pandas_tba.questions.slices import slices

        counts = self.counts(by, dropna=dropna, observed=observed)
        return slices(
            counts,
            depth=depth,
            t=t,
            min_support=min_support,
            level=level,
            adjust=adjust,
            n_replicates=n_replicates,
            generator=generator,
        )

    def report(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = (0.5, 0.0, 1.0),
        prevalence: Prevalence = "own",
        title: str | None = None,
    ) -> Report:
        """The story of the predictions in one value: see `pandas_tba.report`. Several models are compared."""
        from pandas_tba.reports.report import pairs_of_models, report

        counts = self.counts(by, dropna=dropna, observed=observed)
        pairs = pairs_of_models(self._frame, self._columns)
        return report(counts, pairs=pairs, t=t, prevalence=prevalence, title=title)

    def choose_t(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        cost: Mapping[Any, float] | pd.Series | None = None,
        per: Literal["class", "error"] = "class",
    ) -> pd.DataFrame:
        """Table of the rules for choosing t: see `pandas_tba.choose_t`."""
        from pandas_tba.questions.exponents import choose_t

        # only the true labels matter, whatever was predicted and by which model
        columns = replace(self._columns, y_pred=self._columns.y_true, y_score=None, model=None)
        counts = count_frame(self._frame, columns, by=by, dropna=dropna, observed=observed)
        return choose_t(counts, cost=cost, per=per)

    def crossings(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t_min: float = -math.inf,
        t_max: float = math.inf,
        between: Literal["models", "groups"] = "models",
        prevalence: Prevalence | None = None,
    ) -> pd.DataFrame:
        """Every t at which two models, or two groups, swap rank: see `pandas_tba.crossings`."""
        from pandas_tba.questions.exponents import crossings

        counts = self.counts(by, dropna=dropna, observed=observed)
        return crossings(counts, t_min=t_min, t_max=t_max, between=between, prevalence=prevalence)

    def diagnose(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: Exponent = 0.5,
        level: float = 0.95,
    ) -> pd.DataFrame:
        """On which classes each group or model is weak: see `pandas_tba.diagnose`."""
        from pandas_tba.questions.diagnosis import diagnose

        counts = self.counts(by, dropna=dropna, observed=observed)
        return diagnose(counts, t=t, level=level)

    def sweep(self, by: Any = None, *, dropna: bool = False, t: Exponent = 0.5) -> pd.DataFrame:
        """Table over every threshold of the scores: see `pandas_tba.sweep`."""
        from pandas_tba.questions.score_columns import scored_rows
        from pandas_tba.questions.thresholds import sweep_table

        scored = scored_rows(self._frame, self._columns, by=by, dropna=dropna)
        return sweep_table(scored, t=t)

    def best_threshold(
        self, by: Any = None, *, dropna: bool = False, t: Exponent = 0.5
    ) -> pd.DataFrame:
        """The threshold that scores best: see `pandas_tba.best_threshold`."""
        from pandas_tba.questions.score_columns import scored_rows
        from pandas_tba.questions.thresholds import best_threshold_table

        scored = scored_rows(self._frame, self._columns, by=by, dropna=dropna)
        return best_threshold_table(scored, t=t)

    def decide(
        self,
        *,
        t: float = 0.5,
        prevalence: Literal["own"] | Mapping[Any, float] | pd.Series = "own",
    ) -> pd.Series:
        """Labels that maximise the expected score, given the probability of every class.

        The columns of probabilities are bound as a mapping from label to column:
        ``df.tba(y_true="label", y_score={"no": "p_no", "yes": "p_yes"}).decide(t=0.5)``. The result
        is aligned with the frame. `prevalence` is by default that of y_true; see `pandas_tba.decide`.
        """
        from pandas_tba.questions.score_columns import decided

        return decided(self._frame, self._columns, t=t, prevalence=prevalence)


def _names(bound: Any) -> list[Any]:
    """Columns that one part names."""
    if isinstance(bound, Mapping):
        return [*bound.values()]
    return bound if isinstance(bound, list) else [bound]


def _is_column(frame: pd.DataFrame, name: Any) -> bool:
    try:
        return name in frame.columns
    except (TypeError, ValueError):  # of what cannot be hashed, or compared
        return False
