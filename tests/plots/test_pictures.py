"""Every plot shows what its baseline says, which a person has seen as a plot."""

import json

import numpy as np
import pytest
from matplotlib import pyplot as plt
from pictures import FOLDER, PICTURES, as_text, described, differences, drawn


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_as_it_was_accepted(name, request, tmp_path):
    figure, baseline = drawn(name), FOLDER / f"{name}.json"
    shown = described(figure)
    if request.config.getoption("--accept"):
        baseline.write_text(as_text(shown), encoding="utf-8", newline="\n")
    was = json.loads(baseline.read_text(encoding="utf-8")) if baseline.exists() else {}
    if others := list(differences(was, shown)):
        figure.savefig(tmp_path / f"{name}.png")
        pytest.fail(refusal(name, others, tmp_path / f"{name}.png"), pytrace=False)


def refusal(name, others, seen, most=20):
    more = [f"and {len(others) - most} more"] * (len(others) > most)
    return "\n".join(
        [
            f"The picture {name!r} is not as its baseline:",
            *(f"- {text}" for text in [*others[:most], *more]),
            f"Look at {seen}. If that is what should be seen, accept all pictures:",
            "python -m pytest tests/plots/test_pictures.py --accept",
        ]
    )


def test_every_baseline_has_a_picture():
    assert {path.stem for path in FOLDER.iterdir()} == set(PICTURES)


# The comparison


def small_figure():
    """One artist of each kind."""
    figure, ax = plt.subplots(figsize=(4, 3))
    ax.plot([0, 1, 2], [0.5, np.nan, 1.0], color="#0072B2", linestyle="--", label="line")
    ax.plot([0, 1], [0, 0], "o", color="#D55E00", markerfacecolor="white")
    ax.fill_between(range(60), np.zeros(60), np.ones(60), alpha=0.5)
    ax.hlines([1, 2], 0, 1)
    ax.axvspan(0, 1)
    ax.imshow([[0.25, np.nan]], cmap="Blues", vmin=0, vmax=1, extent=(0, 1, 0, 1), aspect="auto")
    ax.annotate("note", (1, 1), (2, 0.5), arrowprops={"arrowstyle": "-"})
    ax.set(xlim=(0, 2), ylim=(0, 1), xticks=[0, 1, 2], xlabel="t", title="title")
    figure.suptitle("over all")
    ax.legend(handles=[ax.lines[0]])
    return figure, ax


CHANGES = {
    "a value": (
        lambda ax: ax.lines[0].set_ydata([0.5, np.nan, 1.00001]),
        ["axes 1, lines 1, y, number 3 of 3: 1.00001; the baseline has 1"],
    ),
    "a value that is no longer missing": (
        lambda ax: ax.lines[0].set_ydata([0.5, 0.75, 2.0]),
        ["axes 1, lines 1, y, number 2 of 3: 0.75; the baseline has nan (2 differ)"],
    ),
    "one point more": (
        lambda ax: ax.lines[0].set_data([0, 1, 2, 3], [0.5, np.nan, 1.0, 1.0]),
        [
            "axes 1, lines 1, x: 4 numbers; the baseline has 3",
            "axes 1, lines 1, y: 4 numbers; the baseline has 3",
        ],
    ),
    "a colour": (
        lambda ax: ax.lines[0].set_color("#0072B3"),
        ["axes 1, lines 1, colour: '#0072b3ff'; the baseline has '#0072b2ff'"],
    ),
    "a shade": (
        lambda ax: ax.lines[0].set_alpha(0.5),
        ["axes 1, lines 1, colour: '#0072b280'; the baseline has '#0072b2ff'"],
    ),
    "a width": (
        lambda ax: ax.lines[1].set_linewidth(3),
        ["axes 1, lines 2, width: 3; the baseline has 1.5"],
    ),
    "dashes": (
        lambda ax: ax.lines[0].set_linestyle("-"),
        ["axes 1, lines 1, dashes: 'solid'; the baseline has '5.55 2.4'"],
    ),
    "a marker": (
        lambda ax: ax.lines[1].set_marker("s"),
        ["axes 1, lines 2, marker: 's'; the baseline has 'o'"],
    ),
    "a dot that is no longer hollow": (
        lambda ax: ax.lines[1].set_markerfacecolor("#D55E00"),
        ["axes 1, lines 2, fill: '#d55e00ff'; the baseline has '#ffffffff'"],
    ),
    "steps": (
        lambda ax: ax.lines[0].set_drawstyle("steps-pre"),
        ["axes 1, lines 1, steps: 'steps-pre'; the baseline has none"],
    ),
    "no line": (
        lambda ax: ax.lines[1].remove(),
        ["axes 1, lines: 1 of them; the baseline has 2 of them"],
    ),
    "what covers what": (
        lambda ax: ax.lines[1].set_zorder(0),
        ["axes 1, lines 2, order: 0; the baseline has 2"],
    ),
    "a band, where it is not kept": (
        lambda ax: ax.collections[0].get_paths()[0].vertices.__setitem__((2, 1), 0.001),
        ["axes 1, collections 1, sums, number 2 of 2: 63.001; the baseline has 63"],
    ),
    "no band": (
        lambda ax: ax.collections[0].remove(),
        ["axes 1, collections: 1 of them; the baseline has 2 of them"],
    ),
    "the colour of an interval": (
        lambda ax: ax.collections[1].set_color("red"),
        ["axes 1, collections 2, edge: '#ff0000ff'; the baseline has '#1f77b4ff'"],
    ),
    "a span": (
        lambda ax: ax.patches[0].set_facecolor("red"),
        ["axes 1, patches 1, fill: '#ff0000ff'; the baseline has '#1f77b4ff'"],
    ),
    "a cell": (
        lambda ax: ax.images[0].set_data([[0.5, np.nan]]),
        ["axes 1, images 1, rows 1, number 1 of 2: 0.5; the baseline has 0.25"],
    ),
    "the colours of cells": (
        lambda ax: ax.images[0].set_cmap("Reds"),
        ["axes 1, images 1, colours: 'Reds'; the baseline has 'Blues'"],
    ),
    "a text": (
        lambda ax: ax.texts[0].set_text("Note"),
        ["axes 1, texts 1, text: 'Note'; the baseline has 'note'"],
    ),
    "the place of a text": (
        lambda ax: ax.texts[0].set_position((2, 0.75)),
        ["axes 1, texts 1, at, number 2 of 2: 0.75; the baseline has 0.5"],
    ),
    "what a text points to": (
        lambda ax: setattr(ax.texts[0], "xy", (0, 1)),
        ["axes 1, texts 1, line_to, number 1 of 2: 0; the baseline has 1"],
    ),
    "a text is read as a formula": (
        lambda ax: ax.set_title("$title$"),
        [
            "axes 1, title: '$title$'; the baseline has 'title'",
            "formulas: 1 of them; the baseline has none",
        ],
    ),
    "the title over all": (
        lambda ax: ax.figure.suptitle("Over all"),
        ["title: 'Over all'; the baseline has 'over all'"],
    ),
    "a label": (
        lambda ax: ax.set_ylabel("score"),
        ["axes 1, y, label: 'score'; the baseline has none"],
    ),
    "a tick": (
        lambda ax: ax.set_xticks([0, 1, 2], ["0", "one", "2"]),
        ["axes 1, x, ticks 2: 'one'; the baseline has '1'"],
    ),
    "a limit": (
        lambda ax: ax.set_xlim(0, 2.5),
        ["axes 1, x, limits, number 2 of 2: 2.5; the baseline has 2"],
    ),
    "the legend's text": (
        lambda ax: ax.get_legend().get_texts()[0].set_text("Line"),
        ["axes 1, legend 1, text: 'Line'; the baseline has 'line'"],
    ),
    "the legend's colour": (
        lambda ax: ax.get_legend().legend_handles[0].set_color("black"),
        ["axes 1, legend 1, colour: '#000000ff'; the baseline has '#0072b2ff'"],
    ),
    "no legend": (
        lambda ax: ax.get_legend().remove(),
        ["axes 1, legend: none; the baseline has 1 of them"],
    ),
    "no axes": (
        lambda ax: ax.remove(),
        ["axes: none; the baseline has 1 of them"],
    ),
    "the size": (
        lambda ax: ax.figure.set_size_inches(4, 4),
        ["inches, number 2 of 2: 4; the baseline has 3"],
    ),
}


@pytest.mark.parametrize(("change", "texts"), CHANGES.values(), ids=CHANGES)
def test_a_change_is_told(change, texts):
    was = json.loads(as_text(described(small_figure()[0])))
    figure, ax = small_figure()
    change(ax)
    assert list(differences(was, described(figure))) == texts


def test_what_nobody_sees_is_no_change():
    was = json.loads(as_text(described(small_figure()[0])))
    figure, ax = small_figure()
    assert list(differences(was, described(figure))) == []
    ax.lines[0].set_ydata(np.array([0.5, np.nan, 1.0]) * (1 + 5e-7))
    ax.lines[0].set_color((0, 0x72 / 255, 0xB2 / 255))
    ax.lines[1].set_ydata([1e-12, -0.0])
    assert list(differences(was, described(figure))) == []


def test_a_picture_without_a_baseline_is_told():
    assert list(differences({}, {"title": "new", "inches": [1, 2], "axes": [{}]})) == [
        "title: 'new'; the baseline has none",
        "inches: 2 of them; the baseline has none",
        "axes: 1 of them; the baseline has none",
    ]


def test_a_refusal_says_what_to_do():
    text = refusal("curve", ["title: 'a'; the baseline has 'b'", *"xyz"], "seen/curve.png", most=2)
    assert text == (
        "The picture 'curve' is not as its baseline:\n"
        "- title: 'a'; the baseline has 'b'\n"
        "- x\n"
        "- and 2 more\n"
        "Look at seen/curve.png. If that is what should be seen, accept all pictures:\n"
        "python -m pytest tests/plots/test_pictures.py --accept"
    )
