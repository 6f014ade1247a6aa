"""Plots of confusion matrices: what each true class is predicted to be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError, counted
from pandas_tba.plots.axes import (
    PLAIN,
    SMALL,
    Panels,
    has_layout,
    matplotlib,
    named,
    panels,
    short_label,
)
from pandas_tba.scoring.results import check_counts
from pandas_tba.scoring.tempering import ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 100
_MOST_WRITTEN = 20  # labels, beyond which counts would be too small to read
_MOST_TICKS = 40
_MOST_CHARACTERS = 18  # of a label
_SMALLEST = 4.5  # points: smaller numbers cannot be read
_BAR = 4.0  # inches: no longer is the bar of colours
_DARK = 0.18  # luminance at which white and black contrast about equally (WCAG 2)


def plot_confusion(counts: ConfusionCounts, *, ax: Any = None) -> Any:
    """Plot of the confusion matrix of each group: counts, coloured by share of the true class.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    ax : Axes, or array of them, optional
        Where to draw: one for each group. By default on a new figure, with a colour bar.

    Returns
    -------
    Axes or ndarray of Axes
        An array, one for each group, where counts have models or groups.

    Raises
    ------
    InputError
        If there are more than 100 labels or groups, or no rows and no labels.
    ImportError
        If matplotlib is not installed.

    Notes
    -----
    Rows are the classes, columns all labels that may be predicted. Numbers are rows, or their
    weight; they are left out above 20 labels, and where cells are too small. Classes without rows
    have no shares and are grey.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> axes = tba.plot_confusion(tba.count(tba.load_income(), y_pred="forest", by="sex"))
    >>> [ax.get_title(loc="left") for ax in axes]
    ['Female  (1,300)', 'Male  (2,700)']
    """
    check_counts(counts)
    n_classes, n_labels = int(counts.is_class.sum()), len(counts.label_set.values)
    if not 0 < n_classes <= n_labels <= _MOST_LABELS:
        raise InputError(
            f"A plot shows 1 to {_MOST_LABELS} labels; got {counted(n_labels, 'label')}. "
            "confusion_matrix() has them all as a table."
        )
    has_names = bool(counts.key_groups.names)
    cells = counts.cells[:, counts.is_class, :]
    side = _inches(n_labels, cells)
    size = (side + 1.1, side * n_classes / n_labels + 0.9)
    sheet = panels(ax, len(counts), size=size, most_columns=_count_columns(len(counts)))
    labels = [short_label(label, _MOST_CHARACTERS) for label in counts.label_set.values]
    for one, matrix in zip(sheet.axes, cells, strict=True):
        image = _draw_matrix(one, matrix, labels, counts.is_class)
    _label_matrices(sheet)
    if sheet.is_own:
        figure: Any = sheet.axes[0].figure
        shrink = min(0.8, _BAR / figure.get_figheight())
        bar = figure.colorbar(image, ax=sheet.axes, shrink=shrink, aspect=20, anchor=(0, 1))
        bar.set_label("share of the true class")
    rows = counts.rows.tolist()
    names = [f"{named(counts.key_groups.values(at))}  ({n:,})" for at, n in enumerate(rows)]
    title = f"Confusion matrix: {'weights' if counts.is_weighted else 'counts'}"
    if not sheet.is_own:  # there is no bar that says it
        title += ", coloured by share of the true class"
    sheet.titled(title, names if has_names else None)
    return sheet.result(is_array=has_names)


def _inches(n_labels: int, cells: npt.NDArray[Any]) -> float:
    """Side of a matrix: space for counts where they are written."""
    if n_labels > _MOST_WRITTEN:
        return 9.0
    longest = max((len(_format_count(number)) for number in cells.flat), default=0)
    return 1.4 + n_labels * max(0.5, 0.075 * longest)


def _count_columns(number: int) -> int:
    """Number of columns of so many panels."""
    return min(6, int(np.ceil(np.sqrt(max(number, 1)))))


def _draw_matrix(
    ax: Axes, matrix: npt.NDArray[Any], labels: list[str], is_class: npt.NDArray[np.bool_]
) -> Any:
    """Draw one matrix (K, L), and hand back its image."""
    share = ratio(matrix, matrix.sum(axis=1, keepdims=True))
    image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_facecolor("#d9d9d9")  # shows where there is no share
    if len(labels) <= _MOST_WRITTEN:
        inks = [_ink(image, float(one)) for one in share.flat]
        _write_numbers(ax, matrix, inks)
    classes = [label for label, known in zip(labels, is_class, strict=True) if known]
    width, height = _points(ax, matrix.shape)
    size = SMALL * matplotlib().rcParams["font.size"]
    step = math.ceil(max(len(labels) / _MOST_TICKS, 1.2 * size / min(width, height)))
    angle = 90 if 0.6 * size * max(map(len, labels)) > step * width else 0
    ax.set_xticks(
        range(0, len(labels), step), labels[::step], rotation=angle, fontsize=size, **PLAIN
    )
    ax.set_yticks(range(0, len(classes), step), classes[::step], fontsize=size, **PLAIN)
    return image


def _points(ax: Axes, shape: tuple[int, ...]) -> tuple[float, float]:
    """About how wide and high a cell is."""
    figure: Any = ax.figure
    pixels = 72 / figure.dpi
    return pixels * ax.bbox.width / shape[1], pixels * ax.bbox.height / shape[0]


def _write_numbers(ax: Axes, matrix: npt.NDArray[Any], inks: list[str]) -> None:
    """Write each number into its cell, as large as all fit."""
    texts = [_format_count(number) for number in matrix.flat]
    width, height = _points(ax, matrix.shape)
    most = min(0.8 * height, width / (0.62 * max(map(len, texts))))
    size = min(SMALL * matplotlib().rcParams["font.size"], most)
    if size < _SMALLEST:
        return
    for (row, column), text, ink in zip(np.ndindex(matrix.shape), texts, inks, strict=True):
        ax.text(column, row, text, ha="center", va="center", color=ink, fontsize=size)


def _format_count(number: float) -> str:
    """A count; a weight in four digits, or whole where it has more."""
    if isinstance(number, (int, np.integer)):
        return f"{number:,}"
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


def _ink(image: Any, share: float) -> str:
    """Black or white, whichever can be read on the colour of a share."""
    if np.isnan(share):
        return "black"
    red, green, blue, _ = image.cmap(share)
    linear = [((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < _DARK else "black"


def _is_free_left(ax: Axes, axes: list[Axes]) -> bool:
    """Whether labels to the left of given axes cover no others."""
    return has_layout(ax) or not any(
        other.bbox.y0 == ax.bbox.y0 and other.bbox.x0 < ax.bbox.x0 for other in axes
    )


def _label_matrices(sheet: Panels) -> None:
    """Label the axes that stand at the edge."""
    for at, ax in enumerate(sheet.axes):
        if at % sheet.n_columns == 0 if sheet.is_own else _is_free_left(ax, sheet.axes):
            ax.set_ylabel("true")
        else:
            ax.tick_params(labelleft=False)
        if not sheet.is_own or at + sheet.n_columns >= len(sheet.axes):
            ax.set_xlabel("predicted")
        else:
            ax.tick_params(labelbottom=False)
