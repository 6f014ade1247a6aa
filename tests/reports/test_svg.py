"""Drawings of matplotlib inside a page with a strict content policy."""

import re
from xml.etree import ElementTree as ET

import pytest
from hostile import NAMES
from matplotlib.figure import Figure

from pandas_tba.reports.svg import add_line, inline_svg, svg_markup


def figure_of(**asked):
    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    axes.plot([-1, 1], [0, 1], "o--", color="#0072B2", label="line")
    axes.fill_between([-1, 1], [0, 0], [1, 1], alpha=0.2, hatch="//")
    axes.imshow([[0.0, 1.0]], extent=(0, 1, 0, 1))
    axes.text(0, 0, "turned", rotation=30, weight="bold", style="italic", color="white")
    axes.set_title(asked.get("title", "title"), parse_math=False)
    axes.legend()
    return figure


@pytest.fixture(scope="module")
def drawing():
    return inline_svg(figure_of(), name="one", label='a "label" <b>')


def test_no_element_has_a_style(drawing):
    assert not any("style" in element.attrib for element in drawing.iter())
    tags = {element.tag for element in drawing.iter()}
    assert {"style", "metadata", "script"}.isdisjoint(tags)
    assert {"path", "text", "image", "use"} <= tags


def test_no_name_has_a_prefix(drawing):
    for element in drawing.iter():
        assert not {sign for name in [element.tag, *element.attrib] for sign in name} & set(":{}")


def test_properties_are_attributes(drawing):
    line = next(e for e in drawing.iter("path") if e.attrib.get("stroke") == "#0072b2")
    assert line.attrib["stroke-dasharray"]
    text = next(e for e in drawing.iter("text") if e.text == "turned")
    assert (text.attrib["font-weight"], text.attrib["font-style"]) in {
        ("700", "italic"),
        ("bold", "italic"),
    }
    assert float(text.attrib["font-size"]) == 10
    assert text.attrib["fill"] == "#ffffff"


def test_ids_start_with_the_name_and_links_find_them(drawing):
    ids = [element.attrib["id"] for element in drawing.iter() if "id" in element.attrib]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("one-") for name in ids)
    used = re.findall(r"#(one-[\w.-]+)", svg_markup(drawing))
    assert used
    assert set(used) <= set(ids)


def test_it_is_read_aloud_as_one_picture(drawing):
    assert drawing.attrib["role"] == "img"
    assert drawing.attrib["aria-label"] == 'a "label" <b>'
    assert ET.fromstring(svg_markup(drawing)).attrib["aria-label"] == 'a "label" <b>'


@pytest.mark.parametrize("name", [*NAMES, "control \x00\x0b\x1b", "emoji 🙂"])
def test_text_is_text(name):
    drawing = inline_svg(figure_of(title=name), name="x", label="")
    again = ET.fromstring(svg_markup(drawing))
    texts = {element.text for element in again.iter("text")}
    assert re.sub("[\x00-\x1f]", "�", name) in texts


def test_the_same_drawing_is_the_same_text(drawing):
    again = inline_svg(figure_of(), name="one", label='a "label" <b>')
    assert svg_markup(again) == svg_markup(drawing)


def test_a_line_stands_where_the_axes_have_it():
    figure = figure_of()
    drawing = inline_svg(figure, name="x", label="")
    add_line(drawing, figure, at=0.5)
    line = drawing.find("line")
    shown = figure.axes[0].transData.transform((0.5, 0))[0] * 72 / figure.dpi
    assert float(line.attrib["x1"]) == pytest.approx(shown, abs=0.02)
    start, step = (float(drawing.attrib[name]) for name in ("data-start", "data-step"))
    assert start + 0.5 * step == pytest.approx(shown, abs=0.02)
    assert 0 < float(line.attrib["y1"]) < float(line.attrib["y2"]) < 216
