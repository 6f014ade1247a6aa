"""Plot of scores over the threshold that turns them into labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import InputError, KindError
from pandas_tba.frames.values import factorized
from pandas_tba.plots.axes import (
    COLOURS,
    GREY,
    dashes,
    exponent,
    legend_inches,
    matplotlib,
    named,
    noted,
    panels,
    scores_only,
    shares,
    short_label,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_STEPS = 2000  # as many as a plot can show
_MOST_NAMED = 6  # values of t in the title
_NEEDED = ("threshold", "recall", "specificity", "tba")


def plot_sweep(swept: pd.DataFrame, best: pd.DataFrame | None = None, *, ax: Any = None) -> Any:
    """Plot of tempered balanced accuracy and both recalls over the threshold.

    Parameters
    ----------
    swept : DataFrame
        As `sweep` gives it. With groups there is a panel for each; several t are several lines.
    best : DataFrame, optional
        As `best_threshold` gives it for the same question: the best thresholds are marked by full
        dots, those for calibrated scores by hollow ones.
    ax : Axes, or array of them, optional
        Where to draw: one for each panel. By default on a new figure.

    Returns
    -------
    Axes or ndarray of Axes
        An array, one for each group, where the tables have models or groups.

    Raises
    ------
    InputError
        If there are more than 100 groups, or the tables do not belong together.
    KindError
        If `swept` is no table of `sweep`.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> asked = {"y_true": ["n", "n", "y"], "y_score": [0.1, 0.7, 0.8], "pos_label": "y", "t": 0}
    >>> ax = tba.plot_sweep(tba.sweep(**asked), tba.best_threshold(**asked))
    >>> ax.get_xlabel()
    'threshold'
    """
    names, place = _panels_of(swept)
    n_panels = 1 if names is None else len(names)
    place_of_best = None if best is None else _place_of_best(best, swept, n_panels)
    size = (5.2, 4.2) if names is None else (3.1, 3.0)
    margin = legend_inches([f"recall of {short_label(label)}" for label in _classes_of(swept)])
    sheet = panels(ax, n_panels, size=size, most_columns=4, margin=margin, sharey=True)
    entries: dict[Any, Any] = {}
    for at, one in enumerate(sheet.axes):
        entries |= _draw_steps(one, swept.take(np.flatnonzero(place == at)))
        if best is not None:
            entries |= _draw_best(one, best.take(np.flatnonzero(place_of_best == at)), sheet.width)
    for one in sheet.axes[:: sheet.n_columns]:
        one.set_ylabel("score, recall")
    words = shares("own", has_groups=names is not None)
    exponents = [text for text, _ in _by_t(swept)]
    if len(exponents) > _MOST_NAMED:
        exponents = [f"{len(exponents)} values of t"]
    sheet.titled(
        f"Tempered balanced accuracy over thresholds, {', '.join(exponents)}\nweights: {words}",
        names,
    )
    sheet.legend(list(entries.values()))
    for one in sheet.axes:
        scores_only(one)
    return sheet.result(is_array=names is not None)


def _panels_of(swept: Any) -> tuple[list[str] | None, npt.NDArray[np.intp]]:
    """Names of the groups in a table of `sweep`, if it has any, and the group of each row."""
    _check_table("swept", "sweep", swept, ("threshold", "recall", "specificity", "tba"))
    index = swept.index
    others = [name for name in ("step", "t") if name in index.names]
    if len(others) == index.nlevels:
        return None, np.zeros(len(index), dtype=np.intp)
    keys = index.droplevel(others)
    place = np.zeros(len(keys), dtype=np.intp)
    for level in range(keys.nlevels):
        codes = factorized(keys.get_level_values(level))[0]
        place = pd.factorize(place * (codes.max(initial=0) + 2) + codes)[0]
    first = np.unique(place, return_index=True)[1]
    return [named(key) for key in keys.take(first)], place


def _place_of_best(best: Any, swept: pd.DataFrame, n_groups: int) -> npt.NDArray[np.intp]:
    """The group of each row: both tables have the groups in the same order."""
    columns = ("threshold", "score", "calibrated_threshold", "calibrated_score", "reason")
    _check_table("best", "best_threshold", best, columns)
    n_exponents = len(_by_t(swept))
    if len(best) != n_groups * n_exponents or ("t" in swept.index.names) != (
        "t" in best.index.names
    ):
        raise InputError(
            f"`best` must have a row for each group and t of `swept`, {n_groups * n_exponents:,}; got "
            f"{len(best):,}. Ask both tables with the same arguments."
        )
    return np.repeat(np.arange(n_groups), n_exponents)


def _check_table(argument: str, maker: str, table: object, columns: tuple[str, ...]) -> None:
    """KindError unless the value is a table of the function that makes it."""
    if not isinstance(table, pd.DataFrame) or not set(columns) <= set(table.columns):
        raise KindError(
            f"`{argument}` must be a table of {maker}(); got {type(table).__name__}. Make it: "
            f"tba.{maker}(y_true, y_score, pos_label=...)."
        )


def _by_t(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The part of a table for each t, and the t as text."""
    if "t" not in table.index.names:
        t = table.attrs.get("tba", {}).get("t")  # attrs are lost when tables are joined
        return [("t unknown" if t is None else exponent(float(t)), table)]
    values = table.index.get_level_values("t")
    return [(exponent(t), table.take(np.flatnonzero(values == t))) for t in values.unique()]


def _classes_of(table: pd.DataFrame) -> list[Any]:
    """The negative and the positive class."""
    return list(table.attrs.get("tba", {}).get("classes", ["negatives", "positives"]))


def _edges(threshold: pd.Series) -> tuple[float, float]:
    """Where the axis of thresholds starts and ends: somewhat outside of all scores."""
    finite = threshold[np.isfinite(threshold)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    margin = 0.04 * (high - low) or 0.5
    return float(low - margin), float(high + margin)


def _draw_steps(ax: Axes, part: pd.DataFrame) -> dict[Any, Any]:
    """Draw score and recalls of one group; hand back handles and labels for the legend."""
    negative, positive = _classes_of(part)
    edges = _edges(part["threshold"])
    tables = _by_t(part)
    entries = {}
    for at, (label, table) in enumerate(tables):
        look = {"color": COLOURS[at % len(COLOURS)], "linewidth": 2.0, "zorder": 3}
        handle = _step_line(ax, table, "tba", edges, linestyle=dashes(at), **look)
        entries[label] = (handle, f"score, {label}")
    for column, label, style in (("recall", positive, (0, (9, 4))), ("specificity", negative, ":")):
        handle = _step_line(
            ax, tables[0][1], column, edges, linestyle=style, color=GREY, linewidth=1.2
        )
        entries[column] = (handle, f"recall of {short_label(label)}")
    ax.set_xlim(*edges)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("threshold")
    return entries


def _step_line(
    ax: Axes, table: pd.DataFrame, column: str, edges: tuple[float, float], **look: Any
) -> Any:
    """Draw a column over the threshold: a value holds from the next lower score up to its own."""
    at = np.unique(np.linspace(0, len(table) - 1, _MOST_STEPS).round().astype(np.intp))
    x = table["threshold"].to_numpy()[at].clip(*edges)  # +inf is at the edge
    y = table[column].to_numpy()[at]
    x, y = np.append(x, edges[0])[::-1], np.append(y, y[-1:])[::-1]
    return ax.plot(x, y, drawstyle="steps-pre", **look)[0]


def _mark(handle: Any, *, is_shared: bool) -> Any:
    """A mark for the legend: grey where it stands for lines of several colours."""
    if not is_shared:
        return handle
    mark = matplotlib().lines.Line2D([], [])
    mark.update_from(handle)
    is_full = handle.get_markerfacecolor() == handle.get_color()
    mark.set(color=GREY, markeredgecolor=GREY)
    if is_full:
        mark.set_markerfacecolor(GREY)
    return mark


def _draw_best(ax: Axes, part: pd.DataFrame, width: float) -> dict[Any, Any]:
    """Mark the best threshold and that for calibrated scores; hand back entries of the legend."""
    entries: dict[Any, Any] = {}
    right, tables = ax.get_xlim()[1], _by_t(part)
    for at, (_, table) in enumerate(tables):
        colour = COLOURS[at % len(COLOURS)]
        for threshold, score, label, face in (
            ("threshold", "score", "best threshold", colour),
            ("calibrated_threshold", "calibrated_score", "best if calibrated", ax.get_facecolor()),
        ):
            (handle,) = ax.plot(
                table[threshold].clip(upper=right),
                table[score],
                linestyle="none",
                marker="o" if score == "score" else "D",
                color=colour,
                markerfacecolor=face,
                markersize=7,
                zorder=4,
                clip_on=False,
            )
            if table[score].notna().any():
                entries.setdefault(label, (_mark(handle, is_shared=len(tables) > 1), label))
    noted(ax, [f"{reason}." for reason in part["reason"].unique() if reason], width)
    return entries
