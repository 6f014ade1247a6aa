"""Plots of one estimate in each row, a dot with its interval: groups, differences, slices."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.paired import PairedCounts
from pandas_tba.errors import InputError, counted, shown
from pandas_tba.plots.axes import (
    COLOURS,
    GREY,
    PLAIN,
    SMALL,
    Layout,
    characters_in,
    exponent,
    inches_of,
    layout_of,
    mark_direction,
    named,
    noted,
    panels,
    settle,
    shares,
    short_label,
    signed,
    space_ticks,
)
from pandas_tba.questions.intervals import interval
from pandas_tba.questions.models import compare
from pandas_tba.questions.slices import slices
from pandas_tba.scoring.results import Prevalence, check_counts
from pandas_tba.scoring.tempering import check_t

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_REASONS = 10
_MOST_OF_SLICE = 60  # characters
_SMALL = 10  # rows of a class: with fewer, slices are hollow
_OF_NAMES = 0.8  # of the width of given axes: names as wide leave space for the dots
_OF_REASON = 0.95  # of the width of axes
_VERSUS = " vs. "


def plot_groups(
    counts: ConfusionCounts,
    *,
    t: float = 0.5,
    level: float = 0.95,
    method: str = "wilson",
    prevalence: Prevalence = "own",
    small: int = 10,
    most: int = 40,
    ax: Any = None,
) -> Any:
    """Plot of the score of each group with its interval, and of all groups together.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them. With models and groups there is a panel for each
        model; models alone are drawn as groups are.
    t : float, default 0.5
        Exponent, as in `score`.
    level, method, prevalence
        As in `interval`.
    small : int, default 10
        Groups with a class of fewer rows have hollow dots.
    most : int, default 40
        Groups to draw. Of more, those with the lowest scores are drawn, lowest first.
    ax : Axes, or array of them, optional
        Where to draw: one for each panel. By default on a new figure.

    Returns
    -------
    Axes or ndarray of Axes
        An array, one for each model, where counts have both models and groups.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used.
    ImportError
        If matplotlib is not installed.

    Warns
    -----
    InputWarning
        Once, naming groups, where a class has too few rows for the method.

    Notes
    -----
    The number of rows of each group stands beside its name. The line and its shade are score and
    interval of all rows. Groups without a score stand at the foot, with the reason.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> ax = tba.plot_groups(tba.count(tba.load_income(), y_pred="forest", by="age_group"), t=0)
    >>> ax.get_yticklabels()[0].get_text()
    '17-24  (681)'
    """
    check_counts(counts)
    t = check_t(t)
    _check_whole("small", small, 0)
    _check_whole("most", most, 1)
    asked: dict[str, Any] = {"t": t, "level": level, "method": method, "prevalence": prevalence}
    groups = counts.key_groups
    layout = layout_of(groups, [0] if groups.has_model else [])
    table = interval(counts, **asked)
    has_groups = len(groups.names) > groups.has_model
    overall = interval(counts.pooled(), **asked) if has_groups else None
    words = shares(prevalence, has_groups=has_groups)
    kind = "group" if has_groups else "model"
    style = _Style("score", "score", small=small, most=most, kind=kind)
    title = f"Tempered balanced accuracy at {exponent(t)}, {100 * level:.4g} % intervals\nweights: {words}"
    return _draw(_split(table, overall, layout, named), style, title, layout.names, ax)


def plot_compare(
    pairs: PairedCounts,
    *,
    t: float = 0.5,
    level: float = 0.95,
    prevalence: Prevalence = "own",
    small: int = 10,
    most: int = 40,
    ax: Any = None,
) -> Any:
    """Plot of the differences between models on the same rows, with their intervals.

    Parameters
    ----------
    pairs : PairedCounts
        As `count_pairs` gives them. With groups there is a panel for each pair of models.
    t : float, default 0.5
        Exponent, as in `score`.
    level, prevalence
        As in `compare`.
    small, most, ax
        As in `plot_groups`.

    Returns
    -------
    Axes or ndarray of Axes
        An array, one for each pair of models, where the pairs have groups.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used.
    KindError
        If these are no paired counts.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> pairs = tba.count_pairs(tba.load_income(), y_pred=["logit", "forest"])
    >>> ax = tba.plot_compare(pairs, t=0)
    >>> ax.get_yticklabels()[0].get_text()
    'logit vs. forest  (4,000)'
    """
    table = compare(pairs, t=t, level=level, prevalence=prevalence)
    t = check_t(t)
    _check_whole("small", small, 0)
    _check_whole("most", most, 1)
    layout = layout_of(pairs.key_groups, [0, 1], _pair_name)
    overall = None
    if layout.names is not None:
        overall = compare(pairs.pooled(), t=t, level=level, prevalence=prevalence)
    words = shares(prevalence, has_groups=layout.names is not None)
    text = "difference of scores; above 0 the first is better"
    kind = "pair" if layout.names is None else "group"
    style = _Style("difference", text, small=small, most=most, kind=kind, has_zero=True)
    title = f"Paired differences at {exponent(t)}, {100 * level:.4g} % intervals\nweights: {words}"
    name = _pair_name if layout.names is None else named
    return _draw(_split(table, overall, layout, name), style, title, layout.names, ax)


def plot_slices(
    counts: ConfusionCounts,
    *,
    depth: int = 2,
    t: float = 0.5,
    min_support: int = 0,
    level: float = 0.95,
    most: int = 20,
    ax: Any = None,
) -> Any:
    """Plot of the slices with the lowest scores: their differences from all other rows.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows by several keys, as `count` gives them.
    depth, t, min_support, level
        As in `slices`. Intervals are simultaneous: all hold their true value together.
    most : int, default 20
        Slices to draw.
    ax : Axes, or array of them, optional
        Where to draw: one for each model. By default on a new figure.

    Returns
    -------
    Axes or ndarray of Axes
        An array, one for each model, where models are named.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Rows are in the order of their scores, which need not be that of the differences. Slices with a
    class of fewer than ten rows have hollow dots.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> counts = tba.count(tba.load_income(), y_pred="forest", by=["sex", "age_group"])
    >>> ax = tba.plot_slices(counts, t=0, min_support=20)
    >>> ax.get_yticklabels()[0].get_text()
    'sex=Male & age_group=45-54  (530)'
    """
    table = slices(counts, depth=depth, t=t, min_support=min_support, level=level)
    _check_whole("most", most, 1)
    tables, names = [table], None
    if counts.key_groups.has_model:
        models = counts.key_groups.keep([0]).in_order()[0]
        place = models.index().get_indexer(table.index)
        tables = [table[place == at] for at in range(len(models))]
        names = [named(models.values(at)) for at in range(len(models))]
    parts = [
        _Part([short_label(text, _MOST_OF_SLICE) for text in part["slice"]], part, None)
        for part in tables
    ]
    text = "score, less that of all other rows"
    style = _Style("difference", text, small=_SMALL, most=most, kind="slice", has_zero=True)
    title = (
        f"Slices at {exponent(check_t(t))}, lowest score first, simultaneous {100 * level:.4g} % intervals\n"
        f"weights: {shares('pooled', has_groups=True)}"
    )
    return _draw(parts, style, title, names, ax)


class _Style(NamedTuple):
    """How estimates are shown: which column, what it is, and which rows."""

    column: str
    text: str
    small: int
    most: int
    kind: str
    has_zero: bool = False


class _Part(NamedTuple):
    """What stands in one panel: names and table of the rows, and the estimate of all rows."""

    names: list[str]
    table: pd.DataFrame
    overall: pd.Series | None


def _shorten_name(name: str, most: int) -> str:
    """A name of at most so many characters; of two models each has half of them."""
    parts = name.split(_VERSUS)
    if len(name) <= most:
        return name
    if len(parts) != 2:
        return short_label(name, most)
    return _VERSUS.join(short_label(part, (most - len(_VERSUS)) // 2) for part in parts)


def _check_whole(argument: str, value: object, least: int) -> None:
    """InputError unless the value is a whole number of at least the least."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise InputError(
            f"`{argument}` must be a whole number, {least} or more; got {shown(value)}."
        )


def _pair_name(key: Any) -> str:
    """Name of a pair of models."""
    return _VERSUS.join(map(short_label, key))


def _split(
    table: pd.DataFrame,
    overall: pd.DataFrame | None,
    layout: Layout,
    name: Callable[[Hashable], str],
) -> list[_Part]:
    """The rows of each panel; the order of `overall` is that of the panels."""
    names = [name(key) for key in layout.keys]
    parts = []
    for at, rows in enumerate(layout.rows):
        present = np.flatnonzero(rows >= 0)
        of_all = None if overall is None else overall.iloc[at]
        parts.append(_Part([names[k] for k in present], table.iloc[rows[present]], of_all))
    return parts


def _draw(parts: list[_Part], style: _Style, title: str, names: list[str] | None, ax: Any) -> Any:
    """Draw the panels of a plot, and return their axes."""
    drawn = [_Shown.of(part, style) for part in parts]
    labels = [part.names for part in drawn]
    is_common = labels == labels[:1] * len(labels)
    width = 4.6 if names is None else 3.6
    sheet = panels(
        ax,
        len(parts),
        size=(width, 1.1 + 0.27 * max(map(len, labels), default=0)),
        most_columns=3 if is_common else 1,
        margin=0.085 * max((len(name) for part in labels for name in part), default=0),
        sharex=True,
    )
    for one, part in zip(sheet.axes, drawn, strict=True):
        shown = part if sheet.is_own else part.in_width(_OF_NAMES * inches_of(one))
        _draw_rows(one, shown, style, sheet.width)
        if sheet.is_own:
            space_ticks(one, width)
            one.tick_params(labelleft=one in sheet.axes[:: sheet.n_columns], labelbottom=True)
    sheet.titled(title, names)
    if not sheet.is_own:
        _fit(sheet.axes)
    return sheet.result(is_array=names is not None)


class _Shown(NamedTuple):
    """The rows of a panel that are drawn: D with an estimate, then U with a reason instead."""

    names: list[str]
    defined: pd.DataFrame
    reasons: list[str]
    overall: pd.Series | None
    notes: list[str]

    @classmethod
    def of(cls, part: _Part, style: _Style) -> _Shown:
        """The rows to draw of all there are."""
        value = part.table[style.column].to_numpy(dtype=np.float64)
        known, unknown = np.flatnonzero(~np.isnan(value)), np.flatnonzero(np.isnan(value))
        notes = []
        if len(known) > style.most:
            notes.append(f"The {style.most:,} lowest of {counted(len(known), style.kind)}.")
            worst = part.table["score" if "score" in part.table else style.column].to_numpy()
            known = known[np.argsort(worst[known], kind="stable")][: style.most]
        if len(unknown) > _MOST_REASONS:
            more = len(unknown) - _MOST_REASONS
            notes.append(f"{counted(more, f'further {style.kind}')} undefined.")
            unknown = unknown[:_MOST_REASONS]
        rows = part.table["n"].to_numpy()
        at = [*known, *unknown]
        names = [f"{part.names[row]}  ({rows[row]:,})" for row in at]
        reasons = [short_label(text, _MOST_OF_SLICE) for text in part.table["reason"].iloc[unknown]]
        return cls(names, part.table.iloc[known], reasons, part.overall, notes)

    def in_width(self, inches: float) -> _Shown:
        """The same with names that are at most so wide."""
        most = characters_in(inches)
        return self._replace(names=[_shorten_name(name, most) for name in self.names])


def _draw_rows(ax: Axes, part: _Shown, style: _Style, width: float) -> None:
    """Draw the dots of one panel with intervals, names and notes."""
    notes = list(part.notes)
    value, low, high = (
        part.defined[name].to_numpy(dtype=np.float64) for name in (style.column, "low", "high")
    )
    notes += _draw_overall(ax, part.overall, style)
    y = np.arange(len(part.names))
    n_known = len(value)
    ax.hlines(y[:n_known], low, high, color=COLOURS[0], linewidth=1.6, zorder=2)
    small = part.defined["min_support"].to_numpy() < style.small
    for chosen, face in ((~small, COLOURS[0]), (small, ax.get_facecolor())):
        ax.plot(
            value[chosen],
            y[:n_known][chosen],
            "o",
            color=COLOURS[0],
            markerfacecolor=face,
            markersize=min(6, 0.7 * _row_points(ax, len(y))),
            zorder=3,
        )
    if small.any():
        notes.append(f"Hollow: a class has fewer than {counted(style.small, 'row')}.")
    for at, reason in zip(y[n_known:], part.reasons, strict=True):
        ax.text(
            0.02,
            at,
            mark_direction(short_label(reason, characters_in(_OF_REASON * width, SMALL))),
            transform=ax.get_yaxis_transform(),
            va="center",
            color=GREY,
            fontsize="small",
            bbox={"color": ax.get_facecolor(), "pad": 1},  # over the lines of all rows
            **PLAIN,
        )
    ax.set_yticks(y, [mark_direction(name) for name in part.names], **PLAIN)
    ax.set_ylim(len(y) - 0.4, -0.6)
    ax.set_xlabel(style.text)
    noted(ax, notes, width)


def _row_points(ax: Axes, n_rows: int) -> float:
    """How high a row is."""
    figure: Any = ax.figure
    return float(72 * ax.bbox.height / figure.dpi / max(n_rows, 1))


def _fit(axes: list[Axes]) -> None:
    """Make names on given axes smaller than their rows, and keep numbers apart."""
    settle(axes[0])
    for ax in axes:
        labels: list[Any] = ax.get_yticklabels()
        size = 0.75 * _row_points(ax, len(labels))
        if labels and size < labels[0].get_fontsize():
            ax.tick_params(axis="y", labelsize=size)
        space_ticks(ax, inches_of(ax))


def _draw_overall(ax: Axes, overall: pd.Series | None, style: _Style) -> list[str]:
    """Draw a line at 0, and line and shade for all rows; hand back what they mean."""
    if style.has_zero:
        ax.axvline(0, color=GREY, linewidth=1, zorder=1)
    if overall is None:
        return []
    value, low, high = (float(overall[name]) for name in (style.column, "low", "high"))
    if np.isnan(value):
        return [f"All rows: undefined, {overall['reason']}."]
    ax.axvline(value, color=GREY, linewidth=1.2, linestyle=(0, (7, 3)), zorder=1)
    if low < high:
        ax.axvspan(low, high, color=GREY, alpha=0.18, linewidth=0, zorder=0)
    return [signed(f"Dashed line and shade: all rows, {value:.3f}.")]
