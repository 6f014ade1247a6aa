"""What `df.tba.plot` does besides the functions over counts: figures of scores over thresholds."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd

from pandas_tba.errors import UndefinedWarning
from pandas_tba.frames.columns import Columns
from pandas_tba.plots.sweeps import plot_sweep
from pandas_tba.questions.score_columns import scored_rows
from pandas_tba.questions.thresholds import best_threshold_table, sweep_table
from pandas_tba.scoring.results import Exponent


class PlotBase:
    """Figures of the predictions in a frame: ``df.tba.plot.curve(by="segment")``.

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

    def sweep(
        self, by: Any = None, *, dropna: bool = False, t: Exponent = 0.5, ax: Any = None
    ) -> Any:
        """Figure of score and recalls over the threshold, the best one marked: see `pandas_tba.plot_sweep`.

        Parameters
        ----------
        by : key, or list of keys, optional
            Groups: names of columns or index levels, Series, arrays or Groupers. There is a panel
            for each.
        dropna : bool, default False
            Whether to leave out rows with a missing key; by default they form a group.
        t : float, or list of float, default 0.5
            Exponent; weights are each group's own. Several t are several lines.
        ax : Axes, or array of them, optional
            Where to draw: one for each panel. By default on a new figure.

        Returns
        -------
        Axes or ndarray of Axes
            An array, one for each group, where there are models or groups. Full dots mark the best
            thresholds, hollow ones those for calibrated scores.

        Raises
        ------
        ColumnError
            If a name does not lead to exactly one column.
        InputError
            If no scores are bound, there are not two classes or more than 100 groups, or a label
            or score is missing or a score infinite.
        KindError
            If the scores are no numbers.
        ImportError
            If matplotlib is not installed.

        Warns
        -----
        UndefinedWarning
            Once, naming groups and classes, where a class has no rows.

        Examples
        --------
        >>> import pandas_tba as tba
        >>> scored = tba.load_income().tba(y_score="p_logit", pos_label=">50K")
        >>> ax = scored.plot.sweep(t=0)
        >>> ax.get_xlabel()
        'threshold'
        """
        scored = scored_rows(self._frame, self._columns, by=by, dropna=dropna)
        swept = sweep_table(scored, t=t)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedWarning)  # `sweep_table` has just warned
            best = best_threshold_table(scored, t=t)
        return plot_sweep(swept, best, ax=ax)
