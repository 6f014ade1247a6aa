"""Plots show what the tables say: values, bands, marks, reasons and plain text."""

import inspect
import io
import sys
import warnings
from decimal import Decimal
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import pandas_tba as tba
from pandas_tba.plots import curves
from pandas_tba.plots.accessor import TbaPlot
from pandas_tba.plots.axes import COLOURS, GREY, matplotlib, short_label
from pandas_tba.plots.curves import _spread, plot_curve
from pandas_tba.plots.dotplots import plot_compare, plot_groups, plot_slices
from pandas_tba.plots.heatmaps import _ink, plot_confusion
from pandas_tba.plots.sweeps import plot_sweep

mpl.use("agg")
MODELS = ["logit", "balanced", "forest"]
HOSTILE = [
    "$x_1$",
    "_hidden",
    "<script>alert(1)</script>",
    "a" * 300,
    "\\alpha^{2}%",
    "line\nbreak",
]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def income():
    return tba.load_income()


@pytest.fixture(scope="module")
def hostile():
    rng = np.random.default_rng(1)
    truth, right = rng.integers(0, 3, 900), rng.random(900) < 0.7
    labels = np.array(["$\\frac{a}{b}$", "_label", "c" * 300], dtype=object)
    frame = pd.DataFrame(
        {
            "y_true": labels[truth],
            "y_pred": labels[np.where(right, truth, (truth + 1) % 3)],
            "$m_2$": labels[np.where(rng.random(900) < 0.7, truth, 0)],
            "group": np.array([*HOSTILE, None], dtype=object)[rng.integers(0, 7, 900)],
            "weight": rng.random(900),
        }
    )
    return frame[(frame["group"] != "_hidden") | (frame["y_true"] != "_label")]


def lines_in(ax, colour):
    return [line for line in ax.get_lines() if line.get_color() == colour]


def y_at(line, t):
    return np.interp(t, line.get_xdata(), line.get_ydata())


def texts_of(figure):
    return [text for text in figure.findobj(Text) if text.get_text()]


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def notes_of(ax):
    """The text under the axes."""
    return "\n".join(text.get_text() for text in ax.texts if text.get_color() == GREY)


# shapes


@pytest.mark.parametrize(
    ("method", "y_pred", "by", "number"),
    [
        ("curve", "forest", None, None),
        ("curve", "forest", "sex", None),
        ("curve", MODELS, None, None),
        ("curve", MODELS, "sex", 2),
        ("confusion", "forest", None, None),
        ("confusion", "forest", "sex", 2),
        ("confusion", MODELS, None, 3),
        ("groups", "forest", None, None),
        ("groups", "forest", ["sex", "race"], None),
        ("groups", MODELS, None, None),
        ("groups", MODELS, "sex", 3),
        ("compare", MODELS, None, None),
        ("compare", MODELS, "sex", 3),
        ("slices", "forest", ["sex", "age_group"], None),
        ("slices", MODELS, ["sex", "age_group"], 3),
    ],
)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_one_axes_or_an_array_of_them(income, method, y_pred, by, number):
    few = income.groupby(["sex", "age_group"], observed=True).head(1)
    for part in (income, few):
        door = part.tba(y_pred=y_pred, labels=["<=50K", ">50K"])
        found = getattr(door.plot, method)(by=by)
        assert isinstance(found, Axes) if number is None else found.shape == (number,)


@pytest.mark.parametrize("method", ["curve", "confusion", "groups", "slices"])
def test_a_frame_without_rows(income, method):
    door = income.iloc[:0].tba(y_pred="forest", labels=["<=50K", ">50K"])
    if method != "slices":
        assert isinstance(getattr(door.plot, method)(), Axes)
    if method == "confusion":
        with pytest.raises(tba.InputError, match=r"^There are no groups, hence nothing to draw\.$"):
            door.plot.confusion(by="sex")
    else:
        assert isinstance(getattr(door.plot, method)(by="sex"), Axes)


@pytest.mark.parametrize(
    ("y_score", "by", "number"),
    [("p_logit", None, None), ("p_logit", "sex", 2), (["p_logit"], None, 1)],
)
def test_axes_of_a_sweep(income, y_score, by, number):
    found = income.tba(y_score=y_score, pos_label=">50K").plot.sweep(by=by, t=[0, 1])
    assert isinstance(found, Axes) if number is None else found.shape == (number,)


@pytest.mark.parametrize("kind", [list, np.array, tuple])
def test_given_axes_are_drawn_on(income, kind):
    figure, axes = plt.subplots(1, 2)
    found = income.tba(y_pred=MODELS).plot.curve(by="sex", ax=kind(axes))
    assert list(found) == list(axes)
    assert plt.get_fignums() == [figure.number]
    alone = Figure().subplots()
    assert income.tba(y_pred="forest").plot.curve(ax=alone) is alone


def test_no_settings_are_changed(income):
    before = dict(mpl.rcParams)
    income.tba(y_pred=MODELS).plot.curve(by="sex")
    income.tba(y_pred=MODELS).plot.confusion()
    assert dict(mpl.rcParams) == before


# curve


def test_a_curve_has_the_scores_and_intervals_of_the_tables(income):
    counts = tba.count(income, y_pred=MODELS)
    ax = plot_curve(counts, level=0.9)
    at = [-1, 0, 0.5, 1]
    scores = tba.score(counts, t=at)
    for colour, model in zip(COLOURS, MODELS, strict=False):
        (line,) = lines_in(ax, colour)
        np.testing.assert_allclose(y_at(line, at), scores.loc[model], rtol=1e-12)
    limits = tba.interval(counts, t=[1.0], level=0.9)
    assert len(ax.collections) == 3
    for band, (_, row) in zip(ax.collections, limits.iterrows(), strict=True):
        vertices = band.get_paths()[0].vertices
        ends = vertices[vertices[:, 0] == 1.0, 1]
        np.testing.assert_allclose([ends.min(), ends.max()], row[["low", "high"]].astype(float))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        *MODELS,
        "two swap rank, at this t",
        "always the largest class",
        "chance, 1/2",
    ]


def test_references_of_a_curve(income):
    counts = tba.count(income, y_pred="forest")
    largest, chance = lines_in(plot_curve(counts), GREY)
    majority = tba.metrics(counts, metrics="majority", t=[-1, 0, 1])["majority"]
    np.testing.assert_allclose(y_at(largest, [-1, 0, 1]), majority)
    assert set(chance.get_ydata()) == {0.5}


@pytest.mark.parametrize(
    ("by", "y_pred", "asked", "between"),
    [
        (None, MODELS, {}, "models"),
        ("education", "forest", {"prevalence": "pooled"}, "groups"),
        ("education", "forest", {"prevalence": {"<=50K": 0.9, ">50K": 0.1}}, "groups"),
    ],
)
def test_points_are_the_crossings(income, by, y_pred, asked, between):
    counts = tba.count(income, y_pred=y_pred, by=by)
    ax = plot_curve(counts, **asked)
    (points,) = [line for line in ax.get_lines() if line.get_linestyle() == "None"]
    table = tba.crossings(counts, t_min=-1, t_max=1, between=between, **asked)
    table = table[table["kind"] == "cross"]
    np.testing.assert_allclose(points.get_xdata(), sorted(table["t_star"]), rtol=1e-9)
    named = [f"{t:.2f}" for t in sorted(table["t_star"])]
    shown = [text.get_text() for text in ax.texts]
    assert set(shown) <= set(named)
    assert shown == named or len(named) > 6


def test_groups_of_own_prevalence_have_no_common_crossing(income):
    ax = plot_curve(tba.count(income, y_pred="forest", by="sex"))
    assert not [line for line in ax.get_lines() if line.get_linestyle() == "None"]


def test_beyond_eight_lines_only_some_are_in_colour(income):
    counts = tba.count(income, y_pred="forest", by=["education", "sex"])
    ax = plot_curve(counts, highlight=("Bachelor", "Male"))
    mean = tba.score(counts, t=np.linspace(-1, 1, 81)).mean(axis=1)
    coloured = [", ".join(mean.idxmax()), ", ".join(mean.idxmin()), "Bachelor, Male"]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(texts[:3]) == set(coloured)
    assert texts[3] == "9 others"
    assert len(lines_in(ax, GREY)) == 9 + 2
    assert [len(lines_in(ax, colour)) for colour in COLOURS[:4]] == [1, 1, 1, 0]
    assert len(ax.collections) == 3


def test_a_highlight_leaves_the_others_grey(income):
    ax = income.tba(y_pred=MODELS).plot.curve(highlight=["forest"])
    assert [len(lines_in(ax, colour)) for colour in COLOURS[:2]] == [1, 0]
    with pytest.raises(tba.InputError) as caught:
        income.tba(y_pred=MODELS).plot.curve(highlight="forrest")
    assert str(caught.value) == (
        "`highlight` must name lines of the plot; got 'forrest'. Did you mean 'forest'? "
        "Lines: 'logit', 'balanced', 'forest'."
    )


def test_the_legend_follows_the_colours(income):
    asked = MODELS[:0:-1]
    ax = income.tba(y_pred=MODELS).plot.curve(highlight=asked)
    assert legend_of(ax)[:3] == [*asked, "1 other"]
    handles = ax.get_legend().legend_handles
    assert [handle.get_color() for handle in handles[:3]] == [*COLOURS[:2], GREY]


def test_more_lines_asked_for_than_colours_differ_in_dashes(income):
    forest = income.tba(y_pred="forest")
    asked = forest.score(by=["sex", "education"]).index.tolist()
    ax = forest.plot.curve(by=["sex", "education"], highlight=asked)
    assert len(asked) == 12
    coloured = [line for line in ax.get_lines() if line.get_color() != GREY]
    assert len({(line.get_color(), str(line._dash_pattern)) for line in coloured}) == 12


def test_the_legend_lists_only_what_is_drawn(income):
    labels = {"y_pred": "forest", "labels": ["<=50K", ">50K"]}
    assert legend_of(income.iloc[:0].tba(**labels).plot.curve()) == ["chance, 1/2"]
    lacking = income[(income["sex"] == "Male") | (income["y_true"] == "<=50K")]
    ax = lacking.tba(**labels).plot.curve(by="sex", prevalence="pooled")
    assert legend_of(ax) == ["Male", "always the largest class", "chance, 1/2"]
    assert notes_of(ax) == "Female: undefined, no rows of '>50K'"


@pytest.mark.parametrize(
    ("most", "has_best", "text", "numbers"),
    [
        (4, False, "two swap rank, at this t", ["-0.58", "0.00", "0.58", "0.58"]),
        (3, False, "two swap rank", ["-0.58", "0.58"]),
        (3, True, "two swap rank", []),
    ],
)
def test_the_legend_says_what_the_circles_bear(monkeypatch, most, has_best, text, numbers):
    monkeypatch.setattr(curves, "_MOST_LABELLED", most)
    hits = [(60, 90), (63, 88), (65, 85), (66, 81), *[(99, 99)] * has_best]
    matrices = [[[2 * a, 200 - 2 * a], [100 - b, b]] for a, b in hits]
    groups = pd.Index(range(len(hits)), name="group")
    counts = tba.ConfusionCounts.from_matrix(matrices, labels=[*"xy"], groups=groups)
    ax = plot_curve(counts, prevalence="pooled")
    assert [entry for entry in legend_of(ax) if entry.startswith("two")] == [text]
    assert [one.get_text().replace("\N{MINUS SIGN}", "-") for one in ax.texts] == numbers


def test_circles_without_a_number_in_one_panel_decide_what_the_legend_says(income, monkeypatch):
    monkeypatch.setattr(curves, "_MOST_LABELLED", 2)
    axes = income.tba(y_pred=MODELS).plot.curve(by="education")
    assert [len(ax.texts) for ax in axes] == [2, 1, 2, 2, 1, 0]
    assert [entry for entry in legend_of(axes[3]) if entry.startswith("two")] == ["two swap rank"]


@pytest.mark.parametrize("is_unicode", [True, False])
def test_numbers_have_the_minus_of_the_axes(income, is_unicode):
    with mpl.rc_context({"axes.unicode_minus": is_unicode}):
        ax = income.tba(y_pred=MODELS[:2]).plot.compare(by="sex", t=-0.25)[0]
        curve = income.tba(y_pred=MODELS).plot.curve()
        texts = [ax.figure._suptitle.get_text(), notes_of(ax), names_of(curve, "x")[0]]
    sign = "\N{MINUS SIGN}" if is_unicode else "-"
    assert [sign in text for text in texts] == [True] * 3
    assert ["-" in text for text in texts] == [not is_unicode] * 3


def test_a_curve_says_where_it_is_undefined():
    frame = pd.DataFrame({"y_true": [*"aabbaa"], "y_pred": [*"ababab"], "g": [*"uuuuvv"]})
    own = frame.tba.plot.curve(by="g")
    assert notes_of(own) == "v: undefined for t <= 0, no rows of 'b'"
    line = lines_in(own, COLOURS[1])[0]
    assert np.isnan(line.get_ydata()).sum() == 41
    pooled = frame.tba.plot.curve(by="g", prevalence="pooled")
    assert notes_of(pooled) == "v: undefined, no rows of 'b'"


@pytest.mark.parametrize(
    ("method", "asked", "title"),
    [
        (
            "curve",
            {"by": "sex"},
            (
                "Tempered balanced accuracy over t\n"
                "weights: each group's own class shares; bands: 95 % intervals"
            ),
        ),
        (
            "groups",
            {"by": "sex", "t": 0, "prevalence": "pooled"},
            (
                "Tempered balanced accuracy at t = 0, 95 % intervals\n"
                "weights: class shares of all groups together"
            ),
        ),
        (
            "groups",
            {"t": -0.0, "level": 0.9},
            "Tempered balanced accuracy at t = 0, 90 % intervals\nweights: class shares of the data",
        ),
        (
            "slices",
            {"by": "sex"},
            (
                "Slices at t = 0.5, lowest score first, simultaneous 95 % intervals\n"
                "weights: class shares of all groups together"
            ),
        ),
        (
            "groups",
            {"t": -0.5},
            (
                "Tempered balanced accuracy at t = \N{MINUS SIGN}0.5, 95 % intervals\n"
                "weights: class shares of the data"
            ),
        ),
    ],
)
def test_titles_say_t_and_whose_prevalence(income, method, asked, title):
    ax = getattr(income.tba(y_pred="forest").plot, method)(**asked)
    assert ax.figure._suptitle.get_text() == title
    given_axes = plt.figure(figsize=(16, 4)).subplots()
    getattr(income.tba(y_pred="forest").plot, method)(**asked, ax=given_axes)
    assert given_axes.get_title(loc="left") == title


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6).map(sorted), st.floats(0.05, 0.3))
def test_labels_do_not_cover_each_other(places, gap):
    moved = _spread(places, gap)
    assert max(moved) <= 0.95
    assert (np.diff(moved) >= gap - 1e-9).all()


# rows of dots


def dots(ax):
    """Places and estimates of the dots, and whether they are hollow."""
    found = []
    for line in lines_in(ax, COLOURS[0]):
        hollow = to_rgb(line.get_markerfacecolor()) != to_rgb(COLOURS[0])
        found += [(y, x, hollow) for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)]
    return sorted(found)


def names_of(ax, axis="y"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def test_groups_show_the_interval_of_each_and_of_all(income):
    counts = tba.count(income, y_pred="forest", by="age_group")
    ax = plot_groups(counts, t=0)
    table, overall = tba.interval(counts, t=0), tba.interval(counts.pooled(), t=0).iloc[0]
    assert [x for _, x, _ in dots(ax)] == table["score"].tolist()
    assert [hollow for *_, hollow in dots(ax)] == (table["min_support"] < 10).tolist()
    bars = [segment[:, 0].tolist() for segment in ax.collections[0].get_segments()]
    assert bars == table[["low", "high"]].to_numpy().tolist()
    assert lines_in(ax, GREY)[0].get_xdata()[0] == overall["score"]
    assert names_of(ax)[:2] == ["17-24  (681)", "25-34  (1,021)"]
    assert notes_of(ax) == (
        f"Dashed line and shade: all rows, {overall['score']:.3f}.\n"
        "Hollow: a class has fewer than 10 rows."
    )


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_undefined_groups_stand_at_the_foot(income):
    door = income.tba(y_pred="forest")
    ax = door.plot.groups(by=["race", "age_group"], t=0)
    table = door.interval(by=["race", "age_group"], t=0)
    undefined = table[table["score"].isna()]
    assert len(undefined) > 1
    assert names_of(ax)[-len(undefined) :] == [
        f"{race}, {age}  ({n})" for (race, age), n in undefined["n"].items()
    ]
    reasons = [text for text in ax.texts if text.get_text().startswith("no rows of")]
    assert [text.get_text() for text in reasons] == undefined["reason"].tolist()
    assert [text.get_position()[1] for text in reasons] == list(
        range(len(table) - len(undefined), len(table))
    )


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_of_many_groups_the_lowest_are_drawn(income):
    group = np.arange(len(income)) % 400
    ax = income.tba(y_pred="forest").plot.groups(by=group, t=0, most=7)
    score = income.tba(y_pred="forest").interval(by=group, t=0)["score"]
    assert [x for _, x, _ in dots(ax)] == sorted(score.dropna())[:7]
    assert notes_of(ax).splitlines()[-4:-1] == [
        f"The 7 lowest of {score.notna().sum()} groups.",
        f"{score.isna().sum() - 10} further groups undefined.",
        "Dashed line and shade: all rows, 0.764.",
    ]


def test_compare_shows_paired_differences(income):
    pairs = tba.count_pairs(income, y_pred=MODELS, by="sex")
    axes = plot_compare(pairs, t=0)
    table = tba.compare(pairs, t=0)
    assert [ax.get_title(loc="left") for ax in axes] == [
        "logit vs. balanced",
        "logit vs. forest",
        "balanced vs. forest",
    ]
    for ax, pair in zip(axes, table.index.droplevel("sex").unique(), strict=True):
        assert [x for _, x, _ in dots(ax)] == table.loc[pair, "difference"].tolist()
        zero, overall = lines_in(ax, GREY)
        assert zero.get_xdata() == [0, 0]
        whole = tba.compare(pairs.pooled(), t=0).loc[pair, "difference"]
        assert overall.get_xdata()[0] == whole
    ax = plot_compare(tba.count_pairs(income, y_pred=MODELS))
    assert names_of(ax)[0] == "logit vs. balanced  (4,000)"


@pytest.mark.parametrize(
    ("draw", "y_pred", "asked", "note"),
    [
        ("compare", MODELS, {}, "The 2 lowest of 3 pairs."),
        ("compare", MODELS[:2], {"by": "education"}, "The 2 lowest of 6 groups."),
        ("groups", MODELS, {}, "The 2 lowest of 3 models."),
        ("groups", MODELS, {"by": "education"}, "The 2 lowest of 6 groups."),
    ],
)
def test_a_note_says_what_the_rows_are(income, draw, y_pred, asked, note):
    found = getattr(income.tba(y_pred=y_pred).plot, draw)(**asked, most=2)
    for ax in np.ravel(found):
        assert notes_of(ax).splitlines()[0] == note


def test_slices_come_worst_first(income):
    counts = tba.count(income, y_pred=MODELS, by=["sex", "age_group"])
    table = tba.slices(counts, t=0)
    for ax, model in zip(plot_slices(counts, t=0, most=5), MODELS, strict=True):
        part = table.loc[model]
        assert [x for _, x, _ in dots(ax)] == part["difference"].head(5).tolist()
        assert names_of(ax)[0] == f"{part['slice'].iloc[0]}  ({part['n'].iloc[0]:,})"
        assert "The 5 lowest of 20 slices." in notes_of(ax)


# confusion


def test_a_heat_map_has_counts_and_shares(income):
    door = income.tba(y_pred="forest")
    for ax, sex in zip(door.plot.confusion(by="sex"), ["Female", "Male"], strict=True):
        table = door.confusion_matrix(by="sex").loc[sex]
        assert [text.get_text() for text in ax.texts] == [
            f"{number:,}" for number in table.to_numpy().ravel()
        ]
        share = door.confusion_matrix(by="sex", normalize="true").loc[sex]
        np.testing.assert_allclose(ax.images[0].get_array(), share)


def test_the_title_or_the_bar_says_what_colours_are(income):
    forest = income.tba(y_pred="forest").plot
    own = forest.confusion().figure
    assert own._suptitle.get_text() == "Confusion matrix: counts"
    assert own.axes[1].get_ylabel() == "share of the true class"
    ax = forest.confusion(ax=plt.figure(figsize=(9, 4)).subplots())
    title = "Confusion matrix: counts, coloured by share of the true class"
    assert ax.get_title(loc="left") == title


def test_rows_are_classes_and_columns_labels():
    frame = pd.DataFrame({"y_true": [*"aab"], "y_pred": [*"acb"]})
    ax = frame.tba(labels=["a", "b", "d"], abstain=["c"]).plot.confusion()
    assert names_of(ax) == ["a", "b", "d"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "d", "c"]
    assert np.ma.getmaskarray(ax.images[0].get_array()).sum(axis=1).tolist() == [0, 0, 4]


def contrast(first, second):
    """Ratio of luminance, as the guidelines for accessible content define it."""
    lights = []
    for colour in (first, second):
        part = np.array(to_rgb(colour))
        linear = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
        lights.append(linear @ [0.2126, 0.7152, 0.0722])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def test_counts_can_be_read_on_every_colour():
    image = plt.figure().subplots().imshow([[0]], cmap="Blues", vmin=0, vmax=1)
    for share in np.linspace(0, 1, 256):
        assert contrast(_ink(image, share), image.cmap(share)[:3]) >= 4.5


# sweep


def test_a_sweep_shows_scores_recalls_and_best_thresholds(income):
    asked = {"pos_label": ">50K", "t": [0.0, 1.0]}
    swept = tba.sweep(income["y_true"], income["p_logit"], **asked)
    best = tba.best_threshold(income["y_true"], income["p_logit"], **asked)
    ax = plot_sweep(swept, best)
    for at, t in enumerate(asked["t"]):
        line, best_dot, calibrated = lines_in(ax, COLOURS[at])
        assert np.nanmax(line.get_ydata()) == pytest.approx(best.loc[t, "score"], abs=1e-3)
        assert best_dot.get_xydata().tolist() == [best.loc[t, ["threshold", "score"]].tolist()]
        assert calibrated.get_xdata()[0] == best.loc[t, "calibrated_threshold"]
    recall, specificity = lines_in(ax, GREY)
    assert recall.get_ydata()[[0, -1]].tolist() == [1, 0]
    assert specificity.get_ydata()[[0, -1]].tolist() == [0, 1]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "score, t = 0",
        "score, t = 1",
        "recall of >50K",
        "recall of <=50K",
        "best threshold",
        "best if calibrated",
    ]


def test_a_value_holds_from_the_next_lower_score_up_to_its_own():
    asked = {"y_true": [0, 1, 1], "y_score": [0.2, 0.4, 0.8], "pos_label": 1}
    ax = plot_sweep(tba.sweep(**asked, t=0))
    line = lines_in(ax, COLOURS[0])[0]
    assert line.get_drawstyle() == "steps-pre"
    np.testing.assert_allclose(line.get_xdata(), [0.176, 0.2, 0.4, 0.8, 0.824])
    np.testing.assert_allclose(line.get_ydata(), [0.5, 0.5, 1, 0.75, 0.5])


def test_why_a_sweep_has_no_threshold_for_calibrated_scores(income):
    door = income.assign(z=income["p_logit"] * 3).tba(y_score="z", pos_label=">50K")
    ax = door.plot.sweep()
    assert notes_of(ax) == "scores outside [0, 1] are no probabilities."
    assert "best if calibrated" not in [t.get_text() for t in ax.get_legend().get_texts()]


@pytest.mark.parametrize(
    ("swept", "best", "kind", "text"),
    [
        (
            3,
            None,
            tba.KindError,
            (
                "`swept` must be a table of sweep(); got int. Make it: "
                "tba.sweep(y_true, y_score, pos_label=...)."
            ),
        ),
        (
            tba.sweep([0, 1], [0.1, 0.9], pos_label=1),
            pd.DataFrame(),
            tba.KindError,
            (
                "`best` must be a table of best_threshold(); got DataFrame. Make it: "
                "tba.best_threshold(y_true, y_score, pos_label=...)."
            ),
        ),
        (
            tba.sweep([0, 1], [0.1, 0.9], pos_label=1),
            tba.best_threshold([0, 1], [0.1, 0.9], pos_label=1, t=[0, 1]),
            tba.InputError,
            (
                "`best` must have a row for each group and t of `swept`, 1; got 2. Ask both tables with "
                "the same arguments."
            ),
        ),
    ],
)
def test_tables_that_do_not_fit(swept, best, kind, text):
    with pytest.raises(kind) as caught:
        plot_sweep(swept, best)
    assert str(caught.value) == text


# text


@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning", "ignore:Glyph")
@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("curve", {"by": "group"}),
        ("confusion", {"by": "group"}),
        ("groups", {"by": "group", "t": 0}),
        ("compare", {"by": "group", "t": 0}),
        ("slices", {"by": ["group"], "t": 0}),
    ],
)
@pytest.mark.parametrize("y_pred", ["y_pred", ["y_pred", "$m_2$"]], ids=["one", "two"])
def test_names_are_text(hostile, method, asked, y_pred):
    if method == "compare" and y_pred == "y_pred":
        return
    axes = np.ravel(getattr(hostile.tba(y_pred=y_pred).plot, method)(**asked))
    figure = axes[0].figure
    figure.savefig(io.BytesIO(), format="svg")
    of_data = [text for text in texts_of(figure) if set("$_<\\") & set(text.get_text())]
    assert of_data
    assert not any(text.get_parse_math() or text.get_usetex() for text in of_data)
    everything = " ".join(text.get_text() for text in texts_of(figure))
    for name in ("$x_1$", "_hidden", "<script>", "line break", "missing", "aaaa…aa"):
        assert name in everything
    assert "a" * 41 not in everything


@given(st.text() | st.integers() | st.floats() | st.none() | st.datetimes(), st.integers(5, 80))
def test_plain_text_is_one_short_line(value, most):
    text = short_label(value, most)
    assert 0 < len(text) <= max(most, len("missing"))
    assert text.isprintable()


def test_long_names_keep_both_ends():
    assert short_label("prefix " * 9 + "end", 20) == "prefix prefix…ix end"


# weights, faults


def test_weighted_counts_have_bands_and_dots(hostile):
    door = hostile.tba(sample_weight="weight")
    assert len(door.plot.curve().collections) == 1
    ax = door.plot.groups(by="group", t=1)
    assert [x for _, x, _ in dots(ax)] == door.interval(by="group", t=1)["score"].tolist()
    shown = [text.get_text() for text in door.plot.confusion().texts]
    assert shown == [f"{weight:.4g}" for weight in door.confusion_matrix().to_numpy().ravel()]


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (
            lambda plot: plot.curve(by="sex", ax=plt.figure().subplots(1, 3)),
            (
                "`ax` must hold as many Axes as there are panels, 1; got 3. Make them so: "
                "plt.subplots(1)[1]. Or leave `ax` out."
            ),
        ),
        (
            lambda plot: plot.curve(ax="here"),
            "`ax` must be matplotlib Axes, or an array of them; got 'here'.",
        ),
        (
            lambda plot: plot.confusion(by=np.arange(4000)),
            (
                "`by` makes 4,000 panels; a figure has at most 100. Count by other keys, or only the "
                "rows of the groups that you want to see."
            ),
        ),
        (lambda plot: plot.groups(small=-1), "`small` must be a whole number, 0 or more; got -1."),
        (
            lambda plot: plot.groups(most=True),
            "`most` must be a whole number, 1 or more; got True.",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::pandas_tba.InputWarning")
def test_what_cannot_be_drawn(income, ask, text):
    with pytest.raises((tba.InputError, tba.KindError)) as caught:
        ask(income.tba(y_pred="forest").plot)
    assert str(caught.value) == text


def test_too_many_labels_for_a_heat_map():
    labels = np.arange(101)
    with pytest.raises(tba.InputError) as caught:
        plot_confusion(tba.ConfusionCounts.from_matrix(np.eye(101, dtype=int), labels=labels))
    assert str(caught.value) == (
        "A plot shows 1 to 100 labels; got 101 labels. confusion_matrix() has them all as a table."
    )


def test_without_matplotlib_the_line_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError) as caught:
        matplotlib()
    assert str(caught.value) == (
        "Plots need matplotlib, which is not installed. Install it: pip install 'pandas-tba[plot]'"
    )


def test_no_warning_leaks(income):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        door = income.tba(y_pred=MODELS)
        for axes in (door.plot.curve(by="sex"), door.plot.confusion(), door.plot.compare()):
            np.ravel(axes)[0].figure.savefig(io.BytesIO())


# the accessor


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("curve", plot_curve),
        ("confusion", plot_confusion),
        ("groups", plot_groups),
        ("compare", plot_compare),
        ("slices", plot_slices),
    ],
)
def test_a_method_takes_what_its_function_takes(name, function):
    method = list(inspect.signature(getattr(TbaPlot, name)).parameters.values())
    own = list(inspect.signature(function).parameters.values())[1:]
    assert [p.name for p in method[:4]] == ["self", "by", "dropna", "observed"]
    as_seen = [
        [(p.name, p.kind, p.default, p.annotation) for p in parameters]
        for parameters in (method[4:], own)
    ]
    assert as_seen[0] == as_seen[1]


def test_the_door_shows_what_can_be_drawn(income):
    shown = repr(income.tba.plot)
    methods = [name for name in dir(TbaPlot) if not name.startswith("_")]
    assert len(methods) == 6
    assert all(f".{name}(" in shown for name in methods)


@pytest.mark.parametrize("draw", ["compare", "groups", "slices"])
@pytest.mark.parametrize("t", [Decimal("0.5"), Fraction(1, 2), np.float32(0.5), np.array(0.5)])
def test_t_may_be_any_number(income, draw, t):
    plot = getattr(income.tba(y_pred=MODELS).plot, draw)
    by = None if draw == "compare" else "sex"
    found, expected = (np.ravel(plot(by=by, t=value))[0] for value in (t, 0.5))
    title = "differences" if draw == "compare" else "accuracy" if draw == "groups" else "Slices"
    texts = [one.figure.get_suptitle() for one in (found, expected)]
    assert texts[0] == texts[1]
    assert title in texts[0]
    assert "at t = 0.5" in texts[0]


@pytest.mark.parametrize(
    "highlight", [pd.NA, np.array(["logit"]), pd.Series(["logit"]), [["logit"]], (pd.NA, "a"), {"logit"}]
)  # fmt: skip
@pytest.mark.parametrize(("asked", "by"), [(MODELS, None), ("logit", ["sex", "age_group"])])
def test_a_highlight_that_is_no_line_is_told(income, highlight, asked, by):
    with pytest.raises(tba.InputError, match=r"^`highlight` must name lines of the plot; got "):
        income.tba(y_pred=asked).plot.curve(by=by, highlight=highlight)


@pytest.mark.parametrize("highlight", [None, np.nan, pd.NA])
def test_a_missing_key_is_highlighted_by_any_marker(highlight):
    frame = pd.DataFrame({"y_true": [0, 1] * 3, "y_pred": [0, 1, 0, 0, 1, 1]})
    frame["key"] = ["a", "a", None, None, "b", "b"]
    ax = frame.tba.plot.curve(by="key", highlight=[highlight])
    assert ax.get_legend().get_texts()[0].get_text() == "missing"


@pytest.mark.parametrize("t", [0.5, [0.5, 0]])
def test_a_sweep_warns_once(t):
    frame = pd.DataFrame({"y_true": [0, 0, 1, 1, 0, 0], "s": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]})
    plot = frame.assign(g=[*"aaaabb"]).tba(y_score="s").plot
    with pytest.warns(tba.UndefinedWarning, match="^Undefined recall of classes") as caught:
        plot.sweep(by="g", t=t)
    assert len(caught) == 1
    assert caught[0].filename == __file__
