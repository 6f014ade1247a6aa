"""Pictures of confusion matrices: what each true class is predicted to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pandas_tba.catalog import ratio
from pandas_tba.confusion import ConfusionCounts
from pandas_tba.drawing import PLAIN, Panels, named, panels, plain
from pandas_tba.errors import InputError, counted
from pandas_tba.framing import check_counts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LABELS = 100
_MOST_WRITTEN = 20  # labels, beyond which counts would be too small to read
_MOST_TICKS = 40
_MOST_CHARACTERS = 18  # of a label
_MOST_UPRIGHT = 6  # characters that fit under a cell
_DARK = 0.18  # luminance at which white and black contrast about equally (WCAG 2)


def plot_confusion(counts: ConfusionCounts, *, ax: Any = None) -> Any:
    """Picture of the confusion matrix of each group: counts, coloured by share of the true class.

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
    weight; they are left out above 20 labels. Classes without rows have no shares and are grey.

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
            f"A picture shows 1 to {_MOST_LABELS} labels; got {counted(n_labels, 'label')}. "
            "confusion_matrix() has them all as a table."
        )
    has_names = bool(counts.key_groups.names)
    cells = counts.cells[:, counts.is_class, :]
    side = _inches(n_labels)
    size = (side + 1.1, side * n_classes / n_labels + 0.9)
    sheet = panels(ax, len(counts), size=size, most_columns=_columns_for(len(counts)))
    labels = [plain(label, _MOST_CHARACTERS) for label in counts.label_set.values]
    for one, matrix in zip(sheet.axes, cells, strict=True):
        image = _draw_matrix(one, matrix, labels, counts.is_class)
    _label_axes(sheet)
    if sheet.is_own:
        bar = sheet.axes[0].figure.colorbar(image, ax=sheet.axes, shrink=0.8, aspect=30)
        bar.set_label("share of the true class")
    rows = counts.rows.tolist()
    names = [f"{named(counts.key_groups.values(at))}  ({n:,})" for at, n in enumerate(rows)]
    what = "weights" if counts.is_weighted else "counts"
    sheet.titled(
        f"Confusion matrix: {what}, coloured by share of the true class",
        names if has_names else None,
    )
    return sheet.result(is_array=has_names)


def _inches(n_labels: int) -> float:
    """Side of a matrix: room for counts where they are written."""
    return 1.4 + 0.5 * n_labels if n_labels <= _MOST_WRITTEN else 9.0


def _columns_for(number: int) -> int:
    return min(6, int(np.ceil(np.sqrt(max(number, 1)))))


def _draw_matrix(
    ax: Axes, matrix: npt.NDArray[Any], labels: list[str], is_class: npt.NDArray[np.bool_]
) -> Any:
    """Draw one matrix (K, L), and hand back its image."""
    share = ratio(matrix, matrix.sum(axis=1, keepdims=True))
    image = ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    ax.set_facecolor("#d9d9d9")  # shows where there is no share
    if len(labels) <= _MOST_WRITTEN:
        for (row, column), number in np.ndenumerate(matrix):
            ax.text(
                column,
                row,
                _written(number),
                ha="center",
                va="center",
                color=_ink(image, float(share[row, column])),
                fontsize="small",
            )
    step = -(-len(labels) // _MOST_TICKS)
    every = range(0, len(labels), step)
    classes = [label for label, known in zip(labels, is_class, strict=True) if known]
    angle = 90 if max(map(len, labels)) > _MOST_UPRIGHT else 0
    ax.set_xticks(every, labels[::step], rotation=angle, fontsize="small", **PLAIN)
    ax.set_yticks(range(0, len(classes), step), classes[::step], fontsize="small", **PLAIN)
    return image


def _written(number: float) -> str:
    """A count; a weight in four digits."""
    return f"{number:,}" if isinstance(number, (int, np.integer)) else f"{number:.4g}"


def _ink(image: Any, share: float) -> str:
    """Black or white, whichever can be read on the colour of a share."""
    if np.isnan(share):
        return "black"
    red, green, blue, _ = image.cmap(share)
    linear = [((part + 0.055) / 1.055) ** 2.4 for part in (red, green, blue)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "white" if luminance < _DARK else "black"


def _label_axes(sheet: Panels) -> None:
    for at, ax in enumerate(sheet.axes):
        if not sheet.is_own or at % sheet.n_columns == 0:
            ax.set_ylabel("true")
        else:
            ax.tick_params(labelleft=False)
        if not sheet.is_own or at + sheet.n_columns >= len(sheet.axes):
            ax.set_xlabel("predicted")
        else:
            ax.tick_params(labelbottom=False)
