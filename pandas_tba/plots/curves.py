"""Plots of scores along a line: tempered balanced accuracy over t, and over thresholds."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import counted, listed
from pandas_tba.inference.intervals import INTERVALS, check_level, within_bounds
from pandas_tba.plots.axes import (
    COLOURS,
    GREY,
    MARKERS,
    PLAIN,
    Layout,
    Panels,
    characters_in,
    dashes,
    layout_of,
    legend_inches,
    matplotlib,
    named,
    noted,
    panels,
    places_of,
    scores_only,
    shares,
    signed,
)
from pandas_tba.questions.estimates import recalls_in
from pandas_tba.questions.roots import real_roots
from pandas_tba.scoring.results import FloatArray, Prevalence, check_counts, hits_and_support
from pandas_tba.scoring.tempering import majority_score, ratio, tempered_mean

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Codes = npt.NDArray[np.intp]

_GRID = np.linspace(-1.0, 1.0, 81)
_EVERY = 20  # grid points between two markers: they stand at t = -1, -0.5, 0, 0.5 and 1
_MOST_COLOURED = len(COLOURS)
_MOST_BANDS = 4  # more of them cover each other
_MOST_LABELLED = 6
_MOST_NOTES = 5
_LEAST_RANGE = 0.1  # of scores: less would show rounding as if it meant something
_CROSSINGS = "two swap rank, at this t"
_OVER_T = (
    "small classes count more \N{LEFTWARDS ARROW} t \N{RIGHTWARDS ARROW} large classes count more"
)
_SCORE = "tempered balanced accuracy"
_OF_HEIGHT = 0.6  # of the height of axes, which lose some to what stands below them
_AFTER_LINES = ("others", "crossings", "unlabelled", "largest", "chance")  # in the legend


def plot_curve(
    counts: ConfusionCounts,
    *,
    prevalence: Prevalence = "own",
    level: float = 0.95,
    highlight: Any = None,
    ax: Any = None,
) -> Any:
    """Plot of tempered balanced accuracy over t from -1 to 1, a line for each group or model.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them. With models and groups there is a panel for each
        group, and in it a line for each model.
    prevalence : {"own", "pooled"}, mapping or Series, default "own"
        Whose class shares give the weights, as in `score`.
    level : float, default 0.95
        Confidence level of the bands.
    highlight : group or model, or list of these, optional
        Lines to draw in colour, which are in this order in the legend. By default up to eight all
        are; of more, the two that are on average highest and lowest come first. A tuple is the
        group of several keys.
    ax : Axes, or array of them, optional
        Where to draw: one for each panel. By default on a new figure.

    Returns
    -------
    Axes or ndarray of Axes
        An array, one for each group, where counts have both models and groups.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Grey lines are chance, 1/K, and the classifier that always answers the most prevalent class of
    all rows in the panel. Bands are Wilson intervals of up to four coloured lines. Where two
    coloured lines share their class weights, as models of the same rows do, points mark each t at
    which they swap rank; of more than six, those where the best one changes bear their t. Groups
    for which the score is undefined are listed under the axes with the reason.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.count(tba.load_income(), y_pred=["logit", "forest"])
    >>> ax = tba.plot_curve(counts)
    >>> [text.get_text() for text in ax.texts]
    ['0.63']
    """
    check_counts(counts)
    level = check_level(level)
    groups = counts.key_groups
    keys = list(range(len(groups.names)))
    layout = layout_of(groups, keys[1:] if groups.has_model else [])
    found = _compute_curves(counts, prevalence, level)
    colours = _colours(layout, found, highlight)
    has_bands = int((colours >= 0).sum()) <= _MOST_BANDS
    size = (5.2, 4.2) if layout.names is None else (3.1, 3.4)
    names = [named(key) for key in layout.keys]
    labels = [
        _CROSSINGS,
        *(name for name, colour in zip(names, colours, strict=True) if colour >= 0),
    ]
    margin = legend_inches(labels)
    sheet = panels(ax, len(layout.rows), size=size, most_columns=4, margin=margin, sharey=True)
    entries: dict[Any, Any] = {}
    for one, rows in zip(sheet.axes, layout.rows, strict=True):
        lines = _panel_lines(names, rows, colours)
        entries |= _draw_panel(one, found, lines, sheet.width, has_bands=has_bands)
    _limit_scores(sheet.axes)
    _label_axes(sheet)
    words = shares(prevalence, has_groups=len(keys) > groups.has_model)
    bands = f"; bands: {100 * level:.4g} % intervals" if has_bands else ""
    sheet.titled(f"Tempered balanced accuracy over t\nweights: {words}{bands}", layout.names)
    if "unlabelled" in entries:
        entries.pop("crossings", None)
    order = [*range(len(labels)), *_AFTER_LINES]
    sheet.legend([entries[key] for key in order if key in entries])
    for one in sheet.axes:
        scores_only(one)
    return sheet.result(is_array=layout.names is not None)


class _Curves(NamedTuple):
    """Scores and their limits (G, T) on the grid of t, and what they were made from, (G, K)."""

    score: FloatArray
    low: FloatArray
    high: FloatArray
    hits: FloatArray
    support: FloatArray
    prevalence: FloatArray
    classes: list[Hashable]


class _Line(NamedTuple):
    """A line of a panel: its name, row of the curves, and number of its colour or -1 for grey."""

    name: str
    row: int
    colour: int


def _compute_curves(counts: ConfusionCounts, prevalence: Prevalence, level: float) -> _Curves:
    """Scores of all rows over the grid of t, with limits."""
    hits, support = hits_and_support(counts)
    recalls = recalls_in(counts, prevalence)
    share = np.broadcast_to(recalls.prevalence, support.shape)
    recall = ratio(hits, support)
    score = np.stack([tempered_mean(recall, share, t) for t in _GRID], axis=1)
    wilson: Any = INTERVALS[0].limits
    limits = [within_bounds(wilson(recalls, t, level), recalls, t) for t in _GRID]
    low, high = (
        np.where(np.isnan(score), np.nan, np.stack(side, axis=1))
        for side in zip(*limits, strict=True)
    )
    return _Curves(score, low, high, hits, support, share, counts.label_set.classes)


def _colours(layout: Layout, found: _Curves, highlight: Any) -> Codes:
    """Number of the colour of each place of a panel, -1 for grey."""
    n_lines = len(layout.keys)
    colours = np.full(n_lines, -1, dtype=np.intp)
    asked = [] if highlight is None else places_of("highlight", highlight, layout.keys)
    if n_lines <= _MOST_COLOURED:
        chosen = asked or list(range(n_lines))
    else:
        chosen = list(dict.fromkeys([*_extremes(layout, found), *asked]))
    colours[chosen] = np.arange(len(chosen))
    return colours


def _extremes(layout: Layout, found: _Curves) -> list[int]:
    """Places of the lines that are on average highest and lowest, of those without gaps."""
    mean = np.where(layout.rows < 0, np.nan, found.score.mean(axis=1)[layout.rows])
    known = np.flatnonzero(~np.isnan(mean).any(axis=0))
    order = known[np.argsort(mean[:, known].mean(axis=0), kind="stable")]
    return [] if len(order) == 0 else [int(order[-1]), int(order[0])]


def _panel_lines(names: list[str], rows: Codes, colours: Codes) -> list[_Line]:
    """The lines of one panel, rows that are not there left out."""
    parts = zip(names, rows.tolist(), colours.tolist(), strict=True)
    return [_Line(*part) for part in parts if part[1] >= 0]


def _draw_panel(
    ax: Axes, found: _Curves, lines: list[_Line], width: float, *, has_bands: bool
) -> dict[Any, Any]:
    """Draw lines, bands and references; hand back handles and labels for the legend."""
    others: dict[Any, Any] = {}
    known = [line for line in lines if not np.isnan(found.score[line.row]).all()]
    n_others = sum(line.colour < 0 for line in known)
    coloured = [line for line in known if line.colour >= 0]
    for line in known:
        if line.colour < 0:
            (rest,) = ax.plot(_GRID, found.score[line.row], color=GREY, alpha=0.45, linewidth=0.8)
            others["others"] = (rest, counted(n_others, "other"))
    drawn = {
        line.colour: (_draw_line(ax, found, line, has_band=has_bands), line.name)
        for line in coloured
    }
    references = _draw_references(ax, found, [line.row for line in lines])
    crossings = _draw_crossings(ax, found, [line.row for line in coloured], width)
    ax.set_xlim(-1.03, 1.03)
    ticks = [signed("-1"), signed("-0.5"), "0\nbalanced\naccuracy", "0.5", "1\naccuracy"]
    ax.set_xticks(_GRID[::_EVERY], ticks, fontsize="small")
    noted(ax, _describe_gaps(found, lines), width)
    return {**drawn, **others, **crossings, **references}


def _label_axes(sheet: Panels) -> None:
    """Label the axes, in as many words as they have space for."""
    for ax in sheet.axes[:: sheet.n_columns]:
        figure: Any = ax.figure
        height = _OF_HEIGHT * ax.bbox.height / figure.dpi
        ax.set_ylabel(_SCORE if len(_SCORE) <= characters_in(height) else "score")
    is_wide = len(_OVER_T) <= characters_in(sheet.width)
    for ax in sheet.axes[-sheet.n_columns :] if sheet.is_own else sheet.axes:
        ax.set_xlabel(_OVER_T if is_wide else "t", **PLAIN)


def _limit_scores(axes: list[Axes]) -> None:
    """Show no score that cannot be, and leave space for what stands at the top."""
    limits = [ax.get_ylim() for ax in axes]  # before any is set: they may be shared
    for ax, (low, high) in zip(axes, limits, strict=True):
        bottom, top = max(low, -0.02), min(high, 1.02)
        bottom = max(min(bottom, top - _LEAST_RANGE), -0.02)
        top = max(top, bottom + _LEAST_RANGE)
        ax.set_ylim(bottom, top + 0.12 * (top - bottom))


def _draw_line(ax: Axes, found: _Curves, line: _Line, *, has_band: bool) -> Any:
    """Draw one line with its band, and return its handle."""
    at = line.colour % len(COLOURS)
    (handle,) = ax.plot(
        _GRID,
        found.score[line.row],
        color=COLOURS[at],
        linestyle=dashes(line.colour),
        linewidth=1.8,
        marker=MARKERS[at],
        markersize=5,
        markevery=_EVERY,
        zorder=3,
    )
    if has_band:
        low, high = found.low[line.row], found.high[line.row]
        ax.fill_between(_GRID, low, high, color=COLOURS[at], alpha=0.15, linewidth=0)
    return handle


def _draw_references(ax: Axes, found: _Curves, rows: list[int]) -> dict[Any, Any]:
    """Draw what a guesser, and one who always gives the same answer, would score."""
    share = found.prevalence[rows].sum(axis=0, keepdims=True)
    n_classes = share.shape[1]
    if n_classes == 0:
        return {}
    entries: dict[Any, Any] = {}
    if share.any():
        present = np.where(share > 0, 1.0, np.nan)
        majority = np.array([majority_score(present, share, t)[0] for t in _GRID])
        (largest,) = ax.plot(_GRID, majority, color=GREY, linewidth=1.2, linestyle=(0, (7, 3)))
        entries["largest"] = (largest, "always the largest class")
    chance = ax.axhline(1 / n_classes, color=GREY, linewidth=1.2, linestyle=(0, (1, 2)))
    return entries | {"chance": (chance, f"chance, 1/{n_classes}")}


def _draw_crossings(ax: Axes, found: _Curves, rows: list[int], width: float) -> dict[Any, Any]:
    """Mark each t in the plot at which two lines of the same class weights swap rank."""
    points = sorted(
        point for pair in combinations(rows, 2) for point in _find_crossings(found, *pair)
    )
    if not points:
        return {}
    (marks,) = ax.plot(
        *zip(*points, strict=True),
        linestyle="none",
        marker="o",
        markersize=7,
        markerfacecolor="none",
        markeredgecolor=GREY,
        zorder=4,
    )
    if len(points) <= _MOST_LABELLED:
        _label_above(ax, points, width)
        return {"crossings": (marks, _CROSSINGS)}
    best = [point for point in points if point[1] >= _upper_score(found, rows, point[0])]
    _label_above(ax, best, width)
    return {"unlabelled": (marks, _CROSSINGS.partition(",")[0])}


def _label_above(ax: Axes, points: list[tuple[float, float]], width: float) -> None:
    """Write the t of each point at the top of the axes, side by side, with a line to the point."""
    gap = 3.3 * matplotlib().rcParams["font.size"] / width / 72 * 2
    places = _spread([t for t, _ in points], gap, limit=1 - gap / 2)
    for (t, score), x in zip(points, places, strict=True):
        ax.annotate(
            signed(f"{t + 0.0:.2f}"),
            (t, score),
            (x, 0.95),
            textcoords=ax.get_xaxis_transform(),
            ha="center",
            va="center",
            fontsize="small",
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkB": 4},
        )


def _spread(places: list[float], gap: float, limit: float = 0.95) -> list[float]:
    """The places, ascending, moved until they are a gap apart; within the limits if they can be."""
    moved = [max(place, at * gap - limit) for at, place in enumerate(places)]
    for at in range(1, len(moved)):
        moved[at] = max(moved[at], moved[at - 1] + gap)
    for at in reversed(range(len(moved))):
        moved[at] = min(moved[at], limit)
        limit = moved[at] - gap
    return moved


def _find_crossings(found: _Curves, first: int, second: int) -> list[tuple[float, float]]:
    """Every t in the plot at which two rows cross, and their score there."""
    pair = [first, second]
    support, hits, share = found.support[pair], found.hits[pair], found.prevalence[pair]
    share = ratio(share, share.sum(axis=1, keepdims=True))
    if not (support > 0).all() or not np.allclose(share[0], share[1], rtol=1e-12, atol=0):
        return []
    # products of whole numbers have no rounding: equal recalls cancel to zero
    difference = hits[0] * support[1] - hits[1] * support[0]
    roots = real_roots(difference / (support[0] * support[1]), share[0])
    inside = [t for t, touch in zip(roots.at, roots.is_touch, strict=True) if not touch]
    recall = hits[0] / support[0]
    return [(t, float(tempered_mean(recall, share[0], t))) for t in inside if -1 <= t <= 1]


def _upper_score(found: _Curves, rows: list[int], t: float) -> float:
    """Highest score of some rows at t, less rounding."""
    recall = ratio(found.hits[rows], found.support[rows])
    scores = tempered_mean(recall, found.prevalence[rows], t)
    return float(np.fmax.reduce(scores)) - 1e-9  # the two that cross differ by rounding


def _describe_gaps(found: _Curves, lines: list[_Line]) -> list[str]:
    """Why lines have gaps, or are not there."""
    notes = []
    for line in lines:
        gaps = np.flatnonzero(np.isnan(found.score[line.row]))
        if len(gaps):
            where = "" if len(gaps) == len(_GRID) else " for t <= 0"
            absent = np.flatnonzero(found.support[line.row] == 0)
            without = listed(found.classes[k] for k in absent)
            reason = f"no rows of {without}" if found.support[line.row].any() else "no rows"
            notes.append(f"{line.name}: undefined{where}, {reason}")
    more = len(notes) - _MOST_NOTES
    return [*notes[:_MOST_NOTES], *([f"and {counted(more, 'other')}"] if more > 0 else [])]
