"""Report: what predictions are worth, for a terminal, a notebook, Markdown and a page."""

from __future__ import annotations

import base64
import hashlib
import os
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.paired import PairedCounts
from pandas_tba.engines.pandas_pairs import pair_frame
from pandas_tba.errors import (
    InputError,
    InputWarning,
    KindError,
    UndefinedWarning,
    check_choice,
    shown,
)
from pandas_tba.frames.columns import Columns
from pandas_tba.plots.axes import PLAIN, mark_direction, matplotlib, named, space_ticks
from pandas_tba.plots.curves import plot_curve
from pandas_tba.plots.dotplots import plot_compare, plot_groups, plot_slices
from pandas_tba.plots.heatmaps import plot_confusion
from pandas_tba.reports.files import target_of, written
from pandas_tba.reports.rankings import Ranking, page_numbers, rankings_of, some_groups
from pandas_tba.reports.sections import ReportData, Section, for_pairs, sections_of
from pandas_tba.reports.svg import add_line, inline_svg, svg_markup
from pandas_tba.reports.views import as_lines, as_markdown, markdown_text, number_text, one_line
from pandas_tba.scoring.results import Exponent, Prevalence, check_counts, exponents_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLE = "Tempered balanced accuracy"
_WIDTH = 100  # of text
_MOST_LINES = 12  # of a table in a terminal
_MOST_DRAWN = 4  # figures of one kind
_BEFORE = ("overall", "models", "crossings")  # the sections that the slider stands below
_MOST_CURVES = 60
_MOST_ROWS_DRAWN = 40
_MOST_MATRICES = 6
_MOST_LABELS = 12


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What predictions are worth, in one value: look at it, write it to a file, work with its tables.

    Made by `report` and ``df.tba.report``; not by its constructor. Its repr is text, in a notebook it
    shows tables and figures.

    Attributes
    ----------
    title : str
        Its heading.
    sections : tuple of str
        Names that `to_frame` takes.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> report = tba.load_income().tba(y_pred=["logit", "forest"]).report(by="sex")
    >>> report.to_frame("crossings")["t_star"].round(3).tolist()
    [0.634]
    """

    title: str
    data: ReportData
    parts: tuple[Section, ...]

    @property
    def sections(self) -> tuple[str, ...]:
        """Names that `to_frame` takes."""
        return tuple(part.name for part in self.parts)

    def to_frame(self, section: str) -> pd.DataFrame:
        """Table of one section.

        Parameters
        ----------
        section : str
            One of `sections`.

        Returns
        -------
        DataFrame
            As the function of that question gives it.

        Raises
        ------
        InputError
            If there is no such section.
        """
        check_choice("section", section, self.sections)
        return next(part.frame.copy() for part in self.parts if part.name == section)

    @overload
    def to_markdown(self, path: None = None) -> str: ...
    @overload
    def to_markdown(self, path: str | os.PathLike[str]) -> None: ...
    def to_markdown(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Text in GitHub's Markdown, or a file of it.

        Parameters
        ----------
        path : str or path, optional
            File to write, at once or not at all. Without it the text is returned.

        Returns
        -------
        str or None
            The text, where no path is given.

        Raises
        ------
        InputError, KindError, OSError
            If `path` is none, or no file can be written there.
        """
        target = None if path is None else target_of(path)
        lines = [f"# {markdown_text(self.title)}", ""]
        for part in self.parts:
            lines += [f"## {part.title}", "", *_section_markdown(part)]
        return written("\n".join(lines), target)

    @overload
    def to_html(self, path: None = None) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> None: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | None:
        """Page that holds all it needs, or a file of it.

        Parameters
        ----------
        path : str or path, optional
            File to write, at once or not at all. Without it the page is returned.

        Returns
        -------
        str or None
            The page, where no path is given.

        Raises
        ------
        InputError, KindError, OSError
            If `path` is none, or no file can be written there.
        ImportError
            If jinja2 or matplotlib is not installed.

        Notes
        -----
        The page opens without a network and asks nothing of one. With JavaScript, a slider moves t
        and ranks models and groups again, and headers sort their tables; without it, all tables and
        figures are there.
        """
        target = None if path is None else target_of(path)
        return written(_page(self), target)

    def _repr_html_(self) -> str | None:
        if not (find_spec("jinja2") and find_spec("matplotlib")):
            return None  # then notebooks show the text
        return _render("fragment.html", title=self.title, sections=_sections_with_figures(self))

    def __repr__(self) -> str:
        lines = [self.title, "=" * min(len(self.title), _WIDTH)]
        for part in self.parts:
            lines += ["", part.title, "-" * len(part.title), *_section_lines(part)]
        lines += ["", ".to_html(path)  .to_markdown(path)  .to_frame(section), sections:"]
        return "\n".join([*lines, *textwrap.wrap(", ".join(self.sections), _WIDTH)])


def report(
    counts: ConfusionCounts,
    *,
    pairs: PairedCounts | None = None,
    t: Exponent = (0.5, 0.0, 1.0),
    prevalence: Prevalence = "own",
    title: str | None = None,
) -> Report:
    """Report on predictions in one value: scores, intervals, gaps, crossings, what is undefined.

    Parameters
    ----------
    counts : ConfusionCounts
        Counts of rows, as `count` gives them.
    pairs : PairedCounts, optional
        Counts of pairs of models on the same rows, without groups, as `count_pairs` gives them: the
        models are then compared.
    t : float, or list of float, default (0.5, 0, 1)
        Exponents, as in `score`. Comparisons, gaps and slices take the first.
    prevalence : {"own", "pooled"}, mapping or Series, default "own"
        Whose class shares give the weights, as in `score`. Gaps take the pooled ones where this
        is ``"own"``.
    title : str, optional
        Heading.

    Returns
    -------
    Report
        With ``to_html(path)``, ``to_markdown(path)`` and ``to_frame(section)``.

    Raises
    ------
    InputError
        If an argument has a value that cannot be used.
    KindError
        If these are no counts.

    Notes
    -----
    What small or absent classes leave uncertain or undefined stands in the report, not in warnings.
    Draws for gaps have a fixed seed: the same counts give the same report.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> report = tba.report(tba.count(tba.load_income(), y_pred="forest"), t=0)
    >>> report.sections[:3]
    ('summary', 'data', 'overall')
    """
    check_counts(counts)
    if pairs is not None and not isinstance(pairs, PairedCounts):
        raise KindError(
            f"`pairs` must be PairedCounts; got {type(pairs).__name__}. Count them: "
            "tba.count_pairs(df, y_true='y', y_pred=['a', 'b'])."
        )
    if title is not None and not isinstance(title, str):
        raise InputError(f"`title` must be text; got {shown(title)}.")
    exponents = list(dict.fromkeys(exponents_of(t)[0]))
    data = ReportData(counts, pairs, exponents, prevalence)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        warnings.simplefilter("ignore", InputWarning)
        parts = sections_of(data)
    return Report(_default_title(data) if title is None else one_line(title), data, tuple(parts))


def pairs_of_models(frame: pd.DataFrame, columns: Columns) -> PairedCounts | None:
    """Pairs of the models of a frame, where it has several and names their cases."""
    return pair_frame(frame, columns, row=columns.row) if columns.roles.has_pairs else None


def _default_title(data: ReportData) -> str:
    """Title that names the models."""
    names = [one_line(model) for model in data.whole.groups] if data.n_models else []
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"Tempered balanced accuracy{' of ' if names else ''}{', '.join(names[:3])}{more}"


def _section_lines(part: Section) -> list[str]:
    """A section in a terminal: the first rows of its table."""
    if part.name == "methods":
        return ["see .to_frame('methods')"]
    words = [f"- {word}" if part.name == "summary" else word for word in part.words]
    lines = [line for word in words for line in textwrap.wrap(word, _WIDTH)]
    if not part.view.headers:
        return lines
    table = as_lines(part.view)
    n_more = max(len(table) - 1 - _MOST_LINES, 0) + part.view.n_more
    more = [f"and {n_more:,} more: .to_frame({part.name!r})"] if n_more else []
    return [*lines, *table[: _MOST_LINES + 1], *more]


def _section_markdown(part: Section) -> list[str]:
    """A section in Markdown: all rows of its view."""
    mark = "- " if part.name == "summary" else ""
    lines = [line for word in part.words for line in (f"{mark}{markdown_text(word)}", "")]
    if part.view.headers:
        lines += [*as_markdown(part.view), ""]
    if part.view.n_more:
        lines += [f"And {part.view.n_more:,} more rows.", ""]
    return lines


def _page(report: Report) -> str:
    """The HTML page."""
    _environment()  # fails before figures are drawn where it is not installed
    data, rankings = report.data, rankings_of(report.data.counts)
    explored = round(float(np.clip(data.t, -1, 1)), 2) + 0.0
    return _render(
        "page.html",
        title=report.title,
        sections=_sections_with_figures(report),
        explore_after=[name for name in report.sections if name in _BEFORE][-1],
        rankings=[_ranking_rows(data, at, one, explored) for at, one in enumerate(rankings)],
        explored=f"{explored:.2f}",
        choices=_prevalence_choices(data),
        numbers=page_numbers(rankings, data.prevalence),
        script=_read_asset("page.js"),
        style=_read_asset("page.css"),
        version=version("pandas-tba"),
    )


def _ranking_rows(data: ReportData, at: int, ranking: Ranking, t: float) -> dict[str, Any]:
    """What the page shows of a ranking before anything is moved."""
    scores, names = ranking.scores(t, data.prevalence), ranking.names
    order = ranking.order(scores)
    rows = [
        {
            "place": place,
            "rank": rank,
            "names": names[place],
            "n": int(ranking.counts.rows[place]),
            "score": number_text(float(scores[place])),
        }
        for place, rank in order
    ]
    has_curve = at < _MOST_DRAWN and rows
    return {
        "title": ranking.title,
        "headers": ranking.headers,
        "rows": rows,
        "figure": _draw_curve(data, f"curve{at}", ranking, order, t) if has_curve else "",
    }


def _draw_curve(
    data: ReportData, name: str, ranking: Ranking, order: list[tuple[int, str]], t: float
) -> Any:
    """Curves of a ranking, with a line at t; of many rows some, from the best to the worst."""
    counts, note = ranking.counts, ""
    if len(counts) > _MOST_CURVES:
        chosen = np.linspace(0, len(order) - 1, _MOST_CURVES).astype(int)
        counts = some_groups(counts, sorted(order[one][0] for one in chosen))
        note = f", {_MOST_CURVES} of {len(order):,}"
    figure = _figure(6.2, 7)
    legend = plot_curve(counts, prevalence=data.prevalence, ax=figure.subplots()).get_legend()
    height = 0 if legend is None else legend.get_window_extent().height / figure.dpi
    figure.set_size_inches(6.2, 4.4 + height)
    svg = inline_svg(figure, name=name, label=f"{ranking.title}: score over t{note}")
    add_line(svg, figure, at=t)
    return _markup(svg_markup(svg))


def _prevalence_choices(data: ReportData) -> list[tuple[str, str]]:
    """Whose class shares the page can weigh by, that of the report first."""
    words = {"own": "own class shares", "pooled": "those of all groups", "given": "given shares"}
    asked = data.prevalence if isinstance(data.prevalence, str) else "given"
    names = [asked, "own", *(["pooled"] if data.keys else [])]
    return [(name, words[name]) for name in dict.fromkeys(names)]


def _sections_with_figures(report: Report) -> list[dict[str, Any]]:
    """What the templates read of each section."""
    return [
        {
            "name": part.name,
            "title": part.title,
            "words": part.words,
            "view": part.view,
            "figures": [
                {"label": label, "svg": _figure_markup(figure, f"{part.name}{at}", label)}
                for at, (figure, label) in enumerate(_section_figures(report.data, part))
            ],
        }
        for part in report.parts
    ]


def _figure_markup(figure: Figure, name: str, label: str) -> Any:
    """A figure as markup for a template."""
    return _markup(svg_markup(inline_svg(figure, name=name, label=label)))


def _section_figures(data: ReportData, part: Section) -> Iterator[tuple[Figure, str]]:
    """Figures of a section, and what they show in words."""
    if part.frame.empty:
        return
    asked: dict[str, Any] = {"t": data.t, "prevalence": data.prevalence}
    if part.name == "models" and data.pairs is not None:
        asked["prevalence"] = for_pairs(data.prevalence)
        yield _draw_dots(plot_compare, data.pairs, "Differences of models", **asked)
    elif part.name == "groups":
        for one in _group_rankings(data):
            yield _draw_dots(plot_groups, one.counts, one.title, **asked)
    elif part.name == "slices":
        for one in _group_rankings(data):
            title = f"Slices with the lowest scores, {one.title}"
            yield _draw_dots(plot_slices, one.counts, title, t=data.t)
    elif part.name == "confusion":
        yield from _draw_matrices(data)


def _group_rankings(data: ReportData) -> list[Ranking]:
    """Rankings of groups, of as many models as have figures."""
    return [one for one in rankings_of(data.counts) if not one.are_models][:_MOST_DRAWN]


def _draw_dots(
    draw: Callable[..., Any], counts: Any, label: str, **asked: Any
) -> tuple[Figure, str]:
    """A figure with a line for each row, as high as they are and wide enough for their names."""
    figure = _figure(5.8, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # small classes are hollow dots
        axes = draw(counts, ax=figure.subplots(), most=_MOST_ROWS_DRAWN, **asked)
    (ax,) = np.ravel(axes)
    names = [len(text.get_text()) for text in ax.get_yticklabels()]
    figure.set_size_inches(4.7 + 0.08 * max(names, default=0), 0.27 * len(names) + 1.6)
    space_ticks(ax, 4.2)
    return figure, label


def _draw_matrices(data: ReportData) -> Iterator[tuple[Figure, str]]:
    """A matrix for each model, side by side, if there are few."""
    n_labels = len(data.whole.label_set.values)
    if not (0 < n_labels <= _MOST_LABELS and 0 < len(data.whole) <= _MOST_MATRICES):
        return
    side = 1.4 + 0.45 * n_labels
    figure = _figure(side * len(data.whole) + 0.8, side)
    axes = plot_confusion(data.whole, ax=figure.subplots(1, len(data.whole), squeeze=False)[0])
    names = [named(data.whole.key_groups.values(at)) for at in range(len(data.whole))]
    for one, name in zip(np.ravel(axes), names, strict=True):  # its title is wider than they are
        one.set_title(mark_direction(name), loc="left", fontsize="medium", **PLAIN)
    yield figure, "Confusion matrices: true labels in rows, predicted ones in columns"


def _figure(width: float, height: float) -> Figure:
    """An empty figure of that many inches; none of pyplot's, which would keep it."""
    matplotlib()  # fails with how to install it
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _render(template: str, **values: Any) -> str:
    """A template filled in; all that is no markup of ours is escaped."""
    return str(_environment().get_template(template).render(**values))


def _environment() -> Any:
    """Templates of the page; ImportError where jinja2 is not installed."""
    try:
        import jinja2
    except ImportError as error:
        raise ImportError(
            "A page needs jinja2, which is not installed. Install it: "
            "pip install 'pandas-tba[report]'"
        ) from error
    loader = jinja2.PackageLoader("pandas_tba.reports", "templates")
    environment = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["digest"] = _digest
    return environment


def _digest(text: str) -> str:
    """What a content policy calls a script or style of this text."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _read_asset(name: str) -> Any:
    """A file of ours, as markup."""
    return _markup((resources.files("pandas_tba.reports") / "templates" / name).read_text("utf-8"))


def _markup(text: str) -> Any:
    """Text that templates take as it is."""
    _environment()  # fails with how to install it
    from markupsafe import Markup

    return Markup(text)  # of our own making: labels in it are escaped
