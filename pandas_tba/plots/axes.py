"""What all plots share: the axes they stand on, colours, plain text, legends and notes."""

from __future__ import annotations

import math
import re
import textwrap
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.groups import Groups
from pandas_tba.errors import InputError, KindError, listed, nearest, shown
from pandas_tba.frames.values import is_missing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.legend import Legend

# Okabe and Ito's colours, which people with any kind of colour vision can distinguish. Their yellow
# is darkened, and violet stands for black, so that all show on white and on dark grounds.
COLOURS = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#6A51A3",
    "#8F7F00",
)
# in grey, lines differ by these
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (1.2, 1.2)),
    (0, (10, 2)),
    (0, (3, 1.5, 1, 1.5, 1, 1.5)),
    (0, (8, 2, 3, 2)),
    (0, (2.5, 2.5)),
)
MARKERS = "osD^vPX*"
GREY = "#767676"  # 4.5 to 1 on white

# Names in the data are text: neither formulas between dollars nor TeX.
PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}

SMALL = 0.833  # of the size of other text, as matplotlib has it

_MOST_PANELS = 100
_MOST_CHARACTERS = 40
_MOST_BELOW = 0.5  # of the height of axes: more below them would leave them too little
_MOST_INSIDE = 0.6
_OF_PANEL = 0.91  # of the width of a panel: the rest is for what stands beside its axes
_OF_HANDLE = 10  # characters: as wide are the handle of a label and its margins
_SHORT = 24  # characters of the longest label of ours
_LEFT_TO_RIGHT = "\u200e"
_FROM_THE_RIGHT = (
    "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
)
_FROM_THE_RIGHT_PART = re.compile(
    rf"[{_FROM_THE_RIGHT}](?:(?:(?!\n)[{_FROM_THE_RIGHT}\W\d_])*[{_FROM_THE_RIGHT}])?"
)


def matplotlib() -> Any:
    """The package matplotlib, or an error that explains how to install it."""
    try:
        import matplotlib
        import matplotlib.axes
        import matplotlib.pyplot
    except ImportError as error:
        raise ImportError(
            "Plots need matplotlib, which is not installed. Install it: "
            "pip install 'pandas-tba[plot]'"
        ) from error
    except ValueError as error:  # of a variable or a file of settings
        raise InputError(
            f"matplotlib does not start: {error}. Correct or unset MPLBACKEND."
        ) from error
    return matplotlib


@dataclass(frozen=True)
class Layout:
    """Which row of the counts each panel shows at each place; -1 where there is none, (P, S).

    ``keys`` (S) are what is drawn in a panel; ``names`` (P) stand over the panels, if there are any.
    """

    rows: npt.NDArray[np.intp]
    keys: list[Hashable]
    names: list[str] | None


def layout_of(
    groups: Groups, panel_keys: Sequence[int], name: Callable[[Hashable], str] | None = None
) -> Layout:
    """One panel for each value of some keys, if there are other keys to be drawn in it."""
    others = [key for key in range(len(groups.names)) if key not in panel_keys]
    if not (panel_keys and others):
        keys = [groups.values(at) for at in range(len(groups))]
        return Layout(np.arange(len(keys))[None], keys, None)
    outer, panel = groups.keep(panel_keys).in_order()
    inner, place = groups.keep(others).in_order()
    rows = np.full((len(outer), len(inner)), -1, dtype=np.intp)
    rows[panel, place] = np.arange(len(groups))
    names = [(name or named)(outer.values(at)) for at in range(len(outer))]
    return Layout(rows, [inner.values(at) for at in range(len(inner))], names)


@dataclass(frozen=True)
class Panels:
    """Axes to draw on, in rows of `n_columns`; ``is_own``: on a figure that was made for them.

    ``width``: about how wide they will be, in inches, once the layout has made space for the rest.
    """

    axes: list[Axes]
    n_columns: int
    is_own: bool
    width: float

    def titled(self, title: str, names: Sequence[str] | None) -> None:
        """Write the title once, and their names over the panels where they have names."""
        if not self.is_own:
            _set_titles(self.axes, title, names)
            return
        figure: Any = self.axes[0].figure  # the title of axes would be cut where it is wider
        look: dict[str, Any] = {"fontsize": "medium", **PLAIN}
        figure.suptitle(_wrap(title, figure.get_figwidth()), x=0.01, ha="left", **look)
        for ax, name in zip(self.axes, names or [], strict=names is not None):
            ax.set_title(
                mark_direction(short_label(name, characters_in(inches_of(ax)))), loc="left", **look
            )

    def legend(self, entries: Sequence[tuple[Any, str]]) -> None:
        """Explain the handles: beside the panels on a figure of ours, else below all that is drawn."""
        ax = self.axes[self.n_columns - 1]
        if self.is_own:
            _legend(ax, entries, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False)
        elif entries:
            _legend_below(ax, entries)

    def result(self, *, is_array: bool) -> Any:
        """The Axes, or an array of them."""
        return np.array(self.axes, dtype=object) if is_array else self.axes[0]


def panels(
    ax: Any,
    number: int,
    *,
    size: tuple[float, float],
    most_columns: int = 1,
    margin: float = 1.0,
    sharex: bool = False,
    sharey: bool = False,
) -> Panels:
    """The axes given, if they are as many as needed, or a new figure; sizes in inches."""
    package = matplotlib()
    if ax is not None:
        axes = _check_axes(ax, number, package.axes.Axes)
        return Panels(axes, 1, is_own=False, width=min(map(inches_of, axes), default=0.0))
    if number == 0:
        raise InputError("There are no groups, hence nothing to draw.")
    if number > _MOST_PANELS:
        raise InputError(
            f"`by` makes {number:,} panels; a figure has at most {_MOST_PANELS}. Count by other keys, "
            "or only the rows of the groups that you want to see."
        )
    n_columns = min(number, most_columns)
    n_rows = math.ceil(number / n_columns)
    figure, grid = package.pyplot.subplots(
        n_rows,
        n_columns,
        figsize=(size[0] * n_columns + margin, size[1] * n_rows + 0.6),
        layout="constrained",
        sharex=sharex,
        sharey=sharey,
        squeeze=False,
    )
    axes = list(grid.flat)
    for unused in axes[number:]:
        figure.delaxes(unused)
    return Panels(axes[:number], n_columns, is_own=True, width=_OF_PANEL * size[0])


def _check_axes(ax: Any, number: int, kind: type) -> list[Axes]:
    """The given axes as a list; an error where they are none, or too few."""
    axes: list[Any] = (
        [ax] if isinstance(ax, kind) else np.ravel(np.array(ax, dtype=object)).tolist()
    )
    if not all(isinstance(one, kind) for one in axes):
        raise KindError(f"`ax` must be matplotlib Axes, or an array of them; got {shown(ax)}.")
    if len(axes) != number:
        raise InputError(
            f"`ax` must hold as many Axes as there are panels, {number:,}; got {len(axes):,}. Make "
            f"them so: plt.subplots({number})[1]. Or leave `ax` out."
        )
    return axes


def _set_titles(axes: Sequence[Axes], title: str, names: Sequence[str] | None) -> None:
    """Write a title over the first of given axes, which may reach over those to its right.

    Letters are smaller where the figure would cut them.
    """
    figure: Any = axes[0].figure
    first, look = axes[0].bbox, matplotlib().rcParams
    width = first.width if len(axes) == 1 else figure.bbox.x1 - first.x0
    free = 72 * (figure.bbox.y1 - first.y1) / figure.dpi
    for scale in (1.0, SMALL, 0.7, 0.55):
        lines = _wrap(title, width / figure.dpi, scale).splitlines()
        height = 1.37 * scale * look["font.size"] * (len(lines) + (names is not None))
        if has_layout(axes[0]) or height + 2 <= free:
            break
    pad = look["axes.titlepad"]
    pad = pad if has_layout(axes[0]) else min(max(free - height, 1), pad)
    for at, ax in enumerate(axes):
        name = (
            [] if names is None else [short_label(names[at], characters_in(inches_of(ax), scale))]
        )
        text = "\n".join([*(lines if at == 0 else []), *name])
        ax.set_title(
            mark_direction(text), loc="left", fontsize=scale * look["font.size"], pad=pad, **PLAIN
        )


def has_layout(ax: Axes) -> bool:
    """Whether the figure makes space for what stands beside its axes."""
    figure: Any = ax.figure
    return figure.get_layout_engine() is not None


def settle(ax: Axes) -> None:
    """Put axes where the layout of their figure, if it has one, has them as it is now."""
    figure: Any = ax.figure
    if has_layout(ax):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # matplotlib warns again when it draws
            figure.get_layout_engine().execute(figure.canvas.figure)


def legend_inches(labels: Iterable[str]) -> float:
    """About how wide a legend of these labels is."""
    return 0.8 + 0.064 * max(map(len, labels), default=0)


def _legend(
    ax: Axes, entries: Sequence[tuple[Any, str]], n_columns: int = 1, **place: Any
) -> Legend:
    """Draw a legend with labels that stay as they are."""
    # matplotlib leaves out labels that begin with an underscore: the texts are set afterwards
    box = ax.legend(
        [handle for handle, _ in entries],
        ["x"] * len(entries),
        handlelength=3.2,
        ncols=n_columns,
        **{"fontsize": "small", "borderaxespad": 0.0, **place},
    )
    for text, (_, label) in zip(box.get_texts(), entries, strict=True):
        text.set(text=mark_direction(label), **PLAIN)
    return box


def _legend_below(ax: Axes, entries: Sequence[tuple[Any, str]]) -> None:
    """Explain the handles below the axes where a layout makes space, else in them, below the lines."""
    figure: Any = ax.figure
    if (old := ax.get_legend()) is not None:
        old.remove()
    most = characters_in(inches_of(ax) / 2, SMALL) - _OF_HANDLE  # two stand side by side
    short = [(handle, short_label(label, max(most, _SHORT))) for handle, label in entries]
    settle(ax)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        depth = (ax.bbox.y0 - (ax.get_tightbbox() or ax.bbox).y0) / figure.dpi
        for n_columns in range(min(len(short), 4), 0, -1):
            box = _legend(ax, short, n_columns).get_window_extent()
            if box.width <= ax.bbox.width:
                break
    share = box.height / ax.bbox.height
    if has_layout(ax) and share < _MOST_BELOW:
        drop = matplotlib().transforms.ScaledTranslation(0, -depth, figure.dpi_scale_trans)
        place = {"bbox_to_anchor": (0, 0), "bbox_transform": ax.transAxes + drop}
        _legend(ax, short, n_columns, loc="upper left", frameon=False, **place)
        return
    scale = min(1.0, _MOST_INSIDE / share)
    low, high = ax.get_ylim()
    ax.set_ylim(high - (high - low) / (0.95 - scale * share), high)
    size = SMALL * scale * matplotlib().rcParams["font.size"]
    inside = _legend(ax, short, n_columns, loc="lower center", fontsize=size, borderaxespad=0.3)
    inside.set_in_layout(False)


def space_ticks(ax: Axes, inches: float) -> None:
    """Let numbers under the axes stand apart, where these are so wide."""
    size = matplotlib().rcParams["font.size"]
    if isinstance(ax.xaxis.get_major_locator(), matplotlib().ticker.MaxNLocator):
        ax.locator_params(axis="x", nbins=min(max(int(inches * 72 / (4.2 * size)), 2), 9))


def scores_only(ax: Axes) -> None:
    """Leave no tick where no score can be: below 0 and above 1."""
    low, high = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
    scores = [tick for tick in ticks if -1e-9 <= tick <= 1 + 1e-9]
    if len(scores) < len(ticks):
        ax.set_yticks(scores)


def short_label(value: Any, most: int = _MOST_CHARACTERS) -> str:
    """One line of text: what does not print is a space, and from the middle of long texts is cut."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "missing"
    text = "".join(sign if sign.isprintable() else " " for sign in str(value))
    text = " ".join(text.split())
    if len(text) <= most:
        return text or "''"
    head = (most * 2) // 3
    return f"{text[:head]}…{text[head + 1 - most :]}"


def named(key: Hashable) -> str:
    """Name of a group: its values, joined by commas."""
    if not isinstance(key, tuple):
        return short_label(key)
    return short_label(", ".join(map(short_label, key))) if key else "all rows"


def mark_direction(text: str) -> str:
    """Text whose parts stand as they are written, also beside names that are written from the right.

    Without a mark, a number behind such a name would be shown before it, and the first of two last.
    """
    mark = rf"{_LEFT_TO_RIGHT}\g<0>{_LEFT_TO_RIGHT}"
    return _FROM_THE_RIGHT_PART.sub(mark, text)


def noted(ax: Axes, notes: Iterable[str], inches: float) -> None:
    """Write notes under the axes, at most so wide."""
    text = _wrap("\n".join(notes), inches, SMALL)
    if text:
        ax.annotate(
            mark_direction(text),
            (0, 0),
            (0, -5),
            xycoords=(ax.transAxes, ax.xaxis.label),
            textcoords="offset points",
            va="top",
            fontsize="small",
            color=GREY,
            annotation_clip=False,
            **PLAIN,
        )


def _wrap(text: str, inches: float, scale: float = 1.0) -> str:
    """The text in lines that are at most so wide, in letters of that scale."""
    width = characters_in(inches, scale)
    whole = text.replace(" %", "\u00a0%").replace(" = ", "\u00a0=\u00a0")  # not broken there
    lines = [line for part in whole.splitlines() for line in textwrap.wrap(part, width)]
    return "\n".join(lines).replace("\u00a0", " ")


def characters_in(inches: float, scale: float = 1.0) -> int:
    """About how many characters are so wide, in letters of that scale."""
    return max(12, int(inches * 72 / (0.55 * scale * matplotlib().rcParams["font.size"])))


def inches_of(ax: Axes) -> float:
    """About how wide the axes are."""
    figure: Any = ax.figure
    return float(ax.bbox.width / figure.dpi)


def exponent(t: float) -> str:
    """The value of t as text; never -0."""
    return signed(f"t = {t + 0.0:g}")


def signed(text: str) -> str:
    """The text with the minus sign of the numbers on the axes."""
    return str(matplotlib().ticker.Formatter.fix_minus(text))


def dashes(at: int) -> Any:
    """Dashes of the line at a place, such that those of one colour differ."""
    return DASHES[(at + at // len(COLOURS)) % len(DASHES)]


def shares(prevalence: object, *, has_groups: bool) -> str:
    """Whose prevalence the class weights come from."""
    if not isinstance(prevalence, str):
        return "given class shares"
    if prevalence == "pooled":
        return "class shares of all groups together"
    return "each group's own class shares" if has_groups else "class shares of the data"


def places_of(argument: str, asked: Any, keys: Sequence[Hashable]) -> list[int]:
    """Where the keys that were asked for stand among all."""
    found = []
    for wanted in asked if isinstance(asked, list) else [asked]:
        places = [at for at, key in enumerate(keys) if _is_same(wanted, key)]
        if not places:
            raise InputError(
                f"`{argument}` must name lines of the plot; got {shown(wanted)}."
                f"{nearest(wanted, keys)} Lines: {listed(keys)}."
            )
        found.append(places[0])
    return found


def _is_same(one: object, key: object) -> bool:
    """Whether a value is a key; each marker of a missing one is that of the missing key."""
    if not isinstance(one, Hashable):  # arrays and tables, which compare value by value
        return False
    if isinstance(one, tuple) and isinstance(key, tuple):
        return len(one) == len(key) and all(map(_is_same, one, key))
    if is_missing(one) or is_missing(key):
        return is_missing(one) and is_missing(key)
    return bool(one == key)
