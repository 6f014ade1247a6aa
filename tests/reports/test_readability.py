"""Plots can be read: nothing covers, touches or is cut by anything else."""

import itertools
import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.transforms import Bbox

import pandas_tba as tba
from pandas_tba.plots.axes import GREY, mark_direction

mpl.use("agg")
pytestmark = pytest.mark.filterwarnings(
    "ignore::pandas_tba.InputWarning", "ignore::pandas_tba.UndefinedWarning"
)
LONG = [f"{'a name that goes on and on ' * 12}{at}" for at in range(8)]
MODELS = ["y_pred", "m1", "m2", "m3"]
FIGURES = {
    "alone": {"ncols": 1},
    "small": {"ncols": 2, "figsize": (7, 3.5)},
    "constrained": {"ncols": 2, "figsize": (11, 4), "layout": "constrained"},
    "tight": {"ncols": 2, "figsize": (11, 4), "layout": "tight"},
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def made(names, n_labels=3, n=4000):
    """Predictions of four models for groups of these names; every second group lacks a label."""
    random = np.random.default_rng(3)
    truth = random.integers(0, n_labels, n)
    group = random.integers(0, len(names), n)
    frame = pd.DataFrame({"y_true": truth, "group": np.array(names, dtype=object)[group]})
    for at, model in enumerate(MODELS):
        right = random.random(n) < 0.5 + 0.1 * ((truth + at) % 3)
        frame[model] = np.where(right, truth, (truth + 1) % n_labels)
    frame["p"] = (frame["y_true"] == 1) * 0.3 + random.random(n) * 0.7
    return frame[(truth > 0) | (group % 2 == 0)]


FRAMES = {
    "few": made(["x", "y", "z"]),
    "eight": made([f"group {at}" for at in range(8)]),
    "long": made(LONG),
    "many": made([f"g{at}" for at in range(60)]),
}
DRAW = {
    "groups": lambda frame, ax: frame.tba.plot.curve(by="group", ax=ax),
    "models": lambda frame, ax: frame.tba(y_pred=MODELS).plot.curve(ax=ax),
    "sweep": lambda frame, ax: (
        frame[frame["y_true"] > 0].tba(y_score="p", pos_label=1).plot.sweep(t=[0, 0.5, 1], ax=ax)
    ),
}


def drawn_on(draw, frame, figure):
    """Axes of a figure, after all is drawn."""
    figure, axes = plt.subplots(**FIGURES[figure])
    ax = draw(frame, np.ravel(axes)[0])
    figure.canvas.draw()
    return ax


def covered(ax, box):
    """The lines that a box covers."""
    return [
        line
        for line in ax.get_lines()
        if line.get_path().transformed(line.get_transform()).intersects_bbox(box, filled=False)
    ]


def holds(outer, inner, slack=1.0):
    """Whether a box lies in another, but for so many pixels."""
    return (
        inner.x0 >= outer.x0 - slack
        and inner.y0 >= outer.y0 - slack
        and inner.x1 <= outer.x1 + slack
        and inner.y1 <= outer.y1 + slack
    )


def boxes_of(texts):
    return [text.get_window_extent() for text in texts if text.get_text()]


def touching(boxes):
    """Pairs of boxes that overlap by more than a pixel."""
    shared = [(pair, Bbox.intersection(*pair)) for pair in itertools.combinations(boxes, 2)]
    return [pair for pair, box in shared if box is not None and min(box.width, box.height) > 1]


# legends


DRAWN = [*itertools.product(["groups"], FRAMES), ("models", "few"), ("sweep", "few")]


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize(("draw", "frame"), DRAWN)
def test_a_legend_on_given_axes_covers_no_line(draw, frame, figure):
    ax = drawn_on(DRAW[draw], FRAMES[frame], figure)
    box = ax.get_legend().get_window_extent()
    assert covered(ax, box) == []
    assert holds(ax.figure.bbox, box)
    assert touching([box, *boxes_of(ax.texts)]) == touching(boxes_of(ax.texts))
    assert ax.bbox.height > 0.25 * ax.figure.bbox.height


@pytest.mark.parametrize("figure", ["alone", "constrained"])
def test_drawing_again_leaves_one_legend(figure):
    axes = drawn_on(DRAW["models"], FRAMES["few"], figure)
    first = axes.get_legend().get_window_extent()
    axes.clear()
    DRAW["models"](FRAMES["few"], axes)
    axes.figure.canvas.draw()
    assert axes.get_legend().get_window_extent().bounds == pytest.approx(first.bounds, abs=1)


@pytest.mark.parametrize(("draw", "frame"), DRAWN)
def test_on_a_figure_of_its_own_the_legend_is_beside_the_axes(draw, frame):
    ax = DRAW[draw](FRAMES[frame], None)
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.x0 > ax.bbox.x1
    assert holds(ax.figure.bbox, box)
    assert ax.bbox.width > 4 * ax.figure.dpi


def test_axes_of_a_part_of_a_figure():
    left, _ = plt.figure(figsize=(11, 4), layout="constrained").subfigures(1, 2)
    ax = FRAMES["few"].tba(y_pred=MODELS).plot.curve(ax=left.subplots())
    left.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert covered(ax, box) == []
    assert holds(left.bbox, box)


# titles


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("method", ["confusion", "curve"])
def test_a_title_over_several_given_axes_stands_once_and_whole(layout, method):
    income = tba.load_income().tba(
        y_pred=["forest"] if method == "confusion" else ["logit", "forest"]
    )
    figure, axes = plt.subplots(1, 2, figsize=(6, 3), layout=layout)
    getattr(income.plot, method)(by="sex", ax=axes)
    figure.canvas.draw()
    titles = [ax.get_title(loc="left") for ax in axes]
    start = {"confusion": "Confusion matrix: ", "curve": "Tempered balanced"}[method]
    assert [title.count(start) for title in titles] == [1, 0]
    assert ["Female" in titles[0], "Male" in titles[1]] == [True, True]
    boxes = [ax._left_title.get_window_extent() for ax in axes]
    assert all(holds(figure.bbox, box) for box in boxes)
    lines = boxes[0].height / len(titles[0].splitlines())
    name = Bbox.from_extents(boxes[0].x0, boxes[0].y0, boxes[1].x0 - 1, boxes[0].y0 + lines)
    assert touching([name, boxes[1]]) == []


@pytest.mark.parametrize("layout", [None, "constrained"])
def test_labels_of_a_matrix_cover_no_other(layout):
    figure, axes = plt.subplots(1, 3, figsize=(7, 3), layout=layout)
    FRAMES["few"].tba.plot.confusion(by="group", ax=axes)
    figure.canvas.draw()
    for left, right in itertools.pairwise(axes):
        box = right.yaxis.get_tightbbox(figure.canvas.get_renderer())
        assert box is None or box.x0 > left.bbox.x1
    assert axes[0].get_ylabel() == "true"


@pytest.mark.parametrize("figure", FIGURES)
@pytest.mark.parametrize("draw", [*DRAW, "confusion"])
def test_a_title_on_given_axes_is_not_cut(draw, figure):
    confusion = lambda frame, ax: frame.tba.plot.confusion(ax=ax)  # noqa: E731 - one of the table
    ax = drawn_on(DRAW.get(draw, confusion), FRAMES["few"], figure)
    assert holds(ax.figure.bbox, ax._left_title.get_window_extent())


def test_a_line_of_a_title_ends_between_its_words():
    ax = drawn_on(DRAW["groups"], FRAMES["few"], "small")
    assert not re.search(r"\n(%|=)|=\n", ax.get_title(loc="left"))


# curves


@pytest.mark.parametrize("figure", ["own", *FIGURES])
@pytest.mark.parametrize("frame", ["few", "long"])
def test_labels_of_crossings_stand_apart_in_the_axes(frame, figure):
    models = FRAMES[frame].tba(y_pred=MODELS)
    if figure == "own":
        axes = models.plot.curve(by="group")
    else:
        axes = [models.plot.curve(ax=np.ravel(plt.subplots(**FIGURES[figure])[1])[0])]
    axes[0].figure.canvas.draw()
    for ax in axes:
        labels = [text for text in ax.texts if re.fullmatch(r"\W?\d\.\d\d", text.get_text())]
        boxes = [mpl.text.Text.get_window_extent(text) for text in labels]  # without its arrow
        assert touching(boxes) == []
        assert all(ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1 for box in boxes)


@pytest.mark.parametrize(
    ("figure", "by", "words"),
    [
        ("own", None, {"score": "tempered balanced accuracy", "t": "count more"}),
        ("alone", None, {"score": "tempered balanced accuracy", "t": "count more"}),
        ("own", "group", {"score": "score", "t": "t"}),
        ("small", None, {"score": "score", "t": "t"}),
        ("constrained", None, {"score": "score", "t": "t"}),
    ],
)
def test_axes_say_in_words_what_they_show_where_there_is_room(figure, by, words):
    models = FRAMES["few"].tba(y_pred=MODELS).plot
    given_axes = None if figure == "own" else np.ravel(plt.subplots(**FIGURES[figure])[1])[0]
    ax = np.ravel(models.curve(by=by, ax=given_axes))[0]
    ax.figure.canvas.draw()
    assert ax.get_ylabel() == words["score"]
    assert ax.get_xlabel().endswith(words["t"])
    x, y = (axis.label.get_window_extent() for axis in (ax.xaxis, ax.yaxis))
    assert x.width <= ax.bbox.width
    assert y.height <= ax.bbox.height


@pytest.mark.parametrize("figure", ["own", "alone"])
def test_one_class_has_an_axis_of_scores(figure):
    frame = FRAMES["few"].assign(y_true="only", y_pred="only")
    given_axes = None if figure == "own" else plt.subplots()[1]
    ax = frame.tba.plot.curve(by="group", ax=given_axes)
    low, high = ax.get_ylim()
    assert high - low >= 0.1
    ax.figure.canvas.draw()
    assert ax.yaxis.get_offset_text().get_text() == ""


@pytest.mark.parametrize("figure", ["own", "alone"])
@pytest.mark.parametrize("right", [0.02, 0.5, 1.0])
def test_no_tick_stands_where_no_score_can_be(figure, right):
    random = np.random.default_rng(0)
    truth = np.arange(300) % 3
    hit = random.random(300) < right
    frame = pd.DataFrame({"y_true": truth, "y_pred": np.where(hit, truth, (truth + 1) % 3)})
    ax = frame.tba.plot.curve(ax=None if figure == "own" else plt.subplots()[1])
    low, high = ax.get_ylim()
    ticks = [tick for tick in ax.get_yticks() if low <= tick <= high]
    assert len(ticks) > 2
    assert min(ticks) > -0.001
    assert max(ticks) < 1.001


# rows of dots


ROWS = {
    "groups": lambda door, ax: door.plot.groups(by="group", t=0.5, ax=ax),
    "slices": lambda door, ax: door.plot.slices(by=["group"], ax=ax),
}


@pytest.mark.parametrize("figure", ["own", *FIGURES])
@pytest.mark.parametrize("frame", ["long", "many"])
@pytest.mark.parametrize("draw", ROWS)
def test_names_and_numbers_stand_apart(draw, frame, figure):
    given_axes = None if figure == "own" else np.ravel(plt.subplots(**FIGURES[figure])[1])[0]
    ax = ROWS[draw](FRAMES[frame].tba, given_axes)
    ax.figure.canvas.draw()
    numbers = boxes_of(ax.get_xticklabels())
    assert touching(boxes_of(ax.get_yticklabels())) == []
    assert touching(numbers) == []
    assert len([box for box in numbers if ax.bbox.x0 <= box.x0 and box.x1 <= ax.bbox.x1]) > 0


@pytest.mark.parametrize("by", ["group", ["group"]])
def test_dots_of_one_class_have_numbers_that_stand_apart(by):
    frame = FRAMES["few"].assign(y_true="only", y_pred="only")
    ax = frame.tba.plot.groups(by=by)
    ax.figure.canvas.draw()
    assert touching(boxes_of(ax.get_xticklabels())) == []


def test_long_names_leave_room_for_the_dots():
    frame = FRAMES["long"].rename(columns={"m1": LONG[0], "m2": LONG[1]})
    door = frame.tba(y_pred=[LONG[0], LONG[1], "m3"])
    figure, (left, _) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    names = [label.get_text() for label in door.plot.compare(ax=left).get_yticklabels()]
    figure.canvas.draw()
    assert left.bbox.width > 1.5 * figure.dpi
    assert all(name.count("…") == 2 for name in names[:1])
    assert all(" vs. " in name and name.endswith(")") for name in names)


def test_a_reason_can_be_read_over_the_line_of_all_rows():
    ax = FRAMES["few"].tba.plot.groups(by="group", t=0)
    (reason,) = [text for text in ax.texts if text.get_text().startswith("no rows")]
    assert reason.get_bbox_patch().get_facecolor() == ax.get_facecolor()


@pytest.mark.parametrize("figure", ["own", "alone", "small"])
def test_reasons_and_notes_are_as_wide_as_the_axes(figure):
    frame = FRAMES["few"].replace({"y_true": {0: LONG[0]}, "y_pred": {0: LONG[0]}})
    given_axes = None if figure == "own" else np.ravel(plt.subplots(**FIGURES[figure])[1])[0]
    ax = frame.tba.plot.groups(by="group", t=0, small=5000, ax=given_axes)
    ax.figure.canvas.draw()
    reason, notes = ax.texts
    assert reason.get_text().startswith("no rows of")
    assert reason.get_window_extent().x1 < ax.bbox.x1
    assert notes.get_window_extent().width < ax.bbox.width
    assert figure == "small" or len(notes.get_text().splitlines()) == 2


def test_what_else_stands_on_given_axes_stays_as_it_is():
    ax = plt.subplots(figsize=(3, 2))[1]
    (line,) = ax.plot([0.1, 0.2], [1, 2], "s", markersize=20)
    ax.set_xscale("log")
    ROWS["groups"](FRAMES["many"].tba, ax)
    assert line.get_markersize() == 20
    assert ax.get_xscale() == "log"


# confusion


def weighed(matrix):
    """Counts of a matrix of whole numbers, or of the weights of rows."""
    if matrix.dtype.kind == "i":
        return tba.ConfusionCounts.from_matrix(matrix, labels=list(range(len(matrix))))
    truth, predicted = (places.ravel() for places in np.indices(matrix.shape))
    frame = pd.DataFrame({"y_true": truth, "y_pred": predicted, "weight": matrix.ravel()})
    return tba.count(frame, sample_weight="weight")


@pytest.mark.parametrize("figure", ["own", "alone", "small", "constrained"])
@pytest.mark.parametrize(
    ("n_labels", "weight"), [(2, 10**9), (12, 10**5), (20, 10**6), (20, 12.3456), (3, 1e7)]
)
def test_numbers_fit_their_cells(n_labels, weight, figure):
    counts = weighed(np.full((n_labels, n_labels), weight))
    given_axes = None if figure == "own" else np.ravel(plt.subplots(**FIGURES[figure])[1])[0]
    ax = tba.plot_confusion(counts, ax=given_axes)
    ax.figure.canvas.draw()
    cell = ax.bbox.width / n_labels, ax.bbox.height / n_labels
    for box in boxes_of(ax.texts):
        assert box.width <= cell[0]
        assert box.height <= cell[1]
    assert figure != "own" or len(ax.texts) == n_labels**2
    assert touching(boxes_of(ax.get_xticklabels())) == []
    assert touching(boxes_of(ax.get_yticklabels())) == []


def test_large_weights_are_whole_numbers():
    counts = weighed(np.array([[1234.56, 0.123456], [0.0, 99999.9]]))
    shown = [text.get_text() for text in tba.plot_confusion(counts).texts]
    assert shown == ["1,235", "0.1235", "0", "100,000"]


@pytest.mark.parametrize("length", [3, 12, 300])
def test_labels_of_thirty_classes_stand_apart(length):
    labels = [f"{at:02}{'x' * length}" for at in range(30)]
    counts = tba.ConfusionCounts.from_matrix(np.eye(30, dtype=int), labels=labels)
    for ax in (tba.plot_confusion(counts), tba.plot_confusion(counts, ax=plt.subplots()[1])):
        ax.figure.canvas.draw()
        for labels_of_axis in (ax.get_xticklabels(), ax.get_yticklabels()):
            assert len(labels_of_axis) >= 15
            assert touching(boxes_of(labels_of_axis)) == []


@pytest.mark.parametrize("n_groups", [1, 24])
def test_the_bar_of_colours_stays_small(n_groups):
    axes = np.ravel(FRAMES["many"].tba.plot.confusion(by=np.arange(len(FRAMES["many"])) % n_groups))
    figure = axes[0].figure
    figure.canvas.draw()
    bar = figure.axes[-1].bbox
    assert bar.height <= 4.1 * figure.dpi
    assert bar.width <= 0.25 * figure.dpi


# sweeps


def test_each_of_many_exponents_has_a_line_of_its_own():
    positive = FRAMES["few"][FRAMES["few"]["y_true"] > 0]
    ax = positive.tba(y_score="p", pos_label=1).plot.sweep(t=np.linspace(-1, 1, 24).tolist())
    looks = [
        (line.get_color(), str(line._dash_pattern))
        for line in ax.get_lines()
        if line.get_linestyle() != "None" and line.get_color() != GREY
    ]
    assert len(looks) == 24
    assert len(set(looks)) == 24
    assert "24 values of t\n" in ax.figure.get_suptitle()


@pytest.mark.parametrize(("t", "is_grey"), [([0.5], False), ([0, 1], True)])
def test_a_mark_of_several_lines_is_grey_in_the_legend(t, is_grey):
    positive = FRAMES["few"][FRAMES["few"]["y_true"] > 0]
    ax = positive.tba(y_score="p", pos_label=1).plot.sweep(t=t)
    legend = ax.get_legend()
    handles = dict(
        zip([text.get_text() for text in legend.get_texts()], legend.legend_handles, strict=True)
    )
    best, calibrated = handles["best threshold"], handles["best if calibrated"]
    assert [mark.get_markeredgecolor() == GREY for mark in (best, calibrated)] == [is_grey] * 2
    assert best.get_markerfacecolor() == best.get_markeredgecolor()
    assert calibrated.get_markerfacecolor() != calibrated.get_markeredgecolor()
    assert [best.get_marker(), calibrated.get_marker()] == ["o", "D"]


# names written from the right


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain  (12)", "plain  (12)"),
        ("שלום עולם  (12)", "<שלום עולם>  (12)"),
        ("שלום 1 עולם vs. مرحبا", "<שלום 1 עולם> vs. <مرحبا>"),
        ("g=שלום & h=x  (12)", "g=<שלום> & h=x  (12)"),
    ],
)
def test_what_stands_beside_names_from_the_right_stays_there(text, shown):
    marked = mark_direction(text)
    assert re.sub("\u200e(.*?)\u200e", r"<\1>", marked) == shown


def test_each_line_has_marks_of_its_own():
    lines = ["שלום: no rows", "مرحبا: no rows"]
    assert mark_direction("\n".join(lines)) == "\n".join(map(mark_direction, lines))


@given(st.text())
def test_marks_are_all_that_is_added(text):
    assert mark_direction(text).replace("\u200e", "") == text.replace("\u200e", "")


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("method", ["groups", "confusion", "slices"])
def test_numbers_of_rows_stand_behind_names_from_the_right(method):
    frame = FRAMES["few"].replace({"group": {"x": "שלום", "y": "عربي"}})
    axes = np.ravel(getattr(frame.tba.plot, method)(by=["group"]))
    texts = [text.get_text() for text in axes[0].get_yticklabels()]
    texts += [ax.get_title(loc="left") for ax in axes]
    marked = [text for text in texts if "שלום" in text or "عربي" in text]
    assert len(marked) == 2
    assert all(re.search("\u200e *\\([\\d,]+\\)$", text) for text in marked)
