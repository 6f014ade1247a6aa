"""df.tba.plot: the door to the pictures."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.engines.pandas_frames import count_frame
from pandas_tba.engines.pandas_pairs import pair_frame
from pandas_tba.errors import UndefinedWarning
from pandas_tba.frames.columns import Columns
from pandas_tba.plots.curves import plot_curve
from pandas_tba.plots.dotplots import plot_compare, plot_groups, plot_slices
from pandas_tba.plots.heatmaps import plot_confusion
from pandas_tba.plots.sweeps import plot_sweep
from pandas_tba.questions.score_columns import scored_rows
from pandas_tba.questions.thresholds import best_threshold_table, sweep_table
from pandas_tba.scoring.results import Exponent, Prevalence


class TbaPlot:
    """Pictures of the predictions in a frame: ``df.tba.plot.curve(by="segment")``.

    Every method counts the frame once and asks the function of its name, `plot_curve` for
    ``curve``. They draw on `ax` or on a new figure, and return the Axes, or an array of them.
    """

    def __init__(self, frame: pd.DataFrame, columns: Columns) -> None:
        self._frame = frame
        self._columns = columns

    def __repr__(self) -> str:
        return (
            "<df.tba.plot: .curve()  .confusion()  .groups(by=...)  .compare()  .sweep()  "
            ".slices(by=[...])>"
        )

    def _counts(self, by: Any, *, dropna: bool, observed: bool) -> ConfusionCounts:
        return count_frame(self._frame, self._columns, by=by, dropna=dropna, observed=observed)

    def curve(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        prevalence: Prevalence = "own",
        level: float = 0.95,
        highlight: Any = None,
        ax: Any = None,
    ) -> Any:
        """Tempered balanced accuracy over t, a line for each group or model: see `plot_curve`."""
        return plot_curve(
            self._counts(by, dropna=dropna, observed=observed),
            prevalence=prevalence,
            level=level,
            highlight=highlight,
            ax=ax,
        )

    def confusion(
        self, by: Any = None, *, dropna: bool = False, observed: bool = True, ax: Any = None
    ) -> Any:
        """Confusion matrix of each group: see `plot_confusion`."""
        return plot_confusion(self._counts(by, dropna=dropna, observed=observed), ax=ax)

    def groups(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: float = 0.5,
        level: float = 0.95,
        method: str = "wilson",
        prevalence: Prevalence = "own",
        small: int = 10,
        most: int = 40,
        ax: Any = None,
    ) -> Any:
        """Score and interval of each group, and of all rows: see `plot_groups`."""
        return plot_groups(
            self._counts(by, dropna=dropna, observed=observed),
            t=t,
            level=level,
            method=method,
            prevalence=prevalence,
            small=small,
            most=most,
            ax=ax,
        )

    def compare(
        self,
        by: Any = None,
        *,
        dropna: bool = False,
        observed: bool = True,
        t: float = 0.5,
        level: float = 0.95,
        prevalence: Prevalence = "own",
        small: int = 10,
        most: int = 40,
        ax: Any = None,
    ) -> Any:
        """Paired differences of the models: see `plot_compare`."""
        pairs = pair_frame(
            self._frame,
            self._columns,
            row=self._columns.row,
            by=by,
            dropna=dropna,
            observed=observed,
        )
        return plot_compare(
            pairs, t=t, level=level, prevalence=prevalence, small=small, most=most, ax=ax
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
        most: int = 20,
        ax: Any = None,
    ) -> Any:
        """Slices with the lowest scores, against all other rows: see `plot_slices`."""
        return plot_slices(
            self._counts(by, dropna=dropna, observed=observed),
            depth=depth,
            t=t,
            min_support=min_support,
            level=level,
            most=most,
            ax=ax,
        )

    def sweep(
        self, by: Any = None, *, dropna: bool = False, t: Exponent = 0.5, ax: Any = None
    ) -> Any:
        """Score and recalls over the threshold, the best one marked: see `plot_sweep`."""
        scored = scored_rows(self._frame, self._columns, by=by, dropna=dropna)
        swept = sweep_table(scored, t=t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # it was just said of `swept`
            best = best_threshold_table(scored, t=t)
        return plot_sweep(swept, best, ax=ax)
