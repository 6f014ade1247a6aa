"""The gallery shows what its lines draw, and the README has one of its plots."""

import html
import re

import pytest
from make_gallery import DOCS, FOLDER, PAGE, PICTURES, page, svg_of
from matplotlib import pyplot as plt
from pictures import described

from pandas_tba.plots.accessor import TbaPlot

NAMES = [picture.name for picture in PICTURES]
README = DOCS.parent / "README.md"
AGAIN = "run python docs/scripts/make_gallery.py"


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def texts_in(shown):
    """All titles, labels and texts of what a plot shows, line by line."""
    if isinstance(shown, list):
        return {text for part in shown for text in texts_in(part)}
    if not isinstance(shown, dict):
        return set()
    words = [shown[name] for name in ("title", "label", "text") if name in shown]
    return {line for text in words for line in text.splitlines()} | texts_in([*shown.values()])


def test_every_method_has_a_picture():
    methods = {name for name in dir(TbaPlot) if not name.startswith("_")}
    assert {re.findall(r"\.plot\.(\w+)\(", picture.lines)[-1] for picture in PICTURES} == methods


@pytest.mark.parametrize("picture", PICTURES, ids=NAMES)
def test_three_lines_are_enough(picture):
    lines = picture.lines.strip().splitlines()
    assert len(lines) <= 3
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("picture", PICTURES, ids=NAMES)
def test_a_stored_picture_is_what_the_lines_draw(picture):
    stored = (FOLDER / f"{picture.name}.svg").read_text(encoding="utf-8")
    in_svg = set(map(html.unescape, re.findall("<!-- (.*) -->", stored)))
    drawn = texts_in(described(picture.draw()))
    assert drawn
    assert drawn <= in_svg, AGAIN


def test_the_same_drawing_is_the_same_file():
    first, again = (svg_of(PICTURES[0].draw()) for _ in range(2))
    assert first == again
    assert "metadata" not in first


def test_the_folder_holds_the_pictures_of_the_page():
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(NAMES), AGAIN


def test_the_page_is_written_from_the_table():
    assert PAGE.read_text(encoding="utf-8") == page(), AGAIN


@pytest.mark.parametrize("picture", PICTURES, ids=NAMES)
def test_the_page_shows_a_picture_with_words_above_its_code(picture):
    shown = f"\n## {picture.title}\n\n![{picture.alt}](_static/gallery/{picture.name}.svg)\n"
    assert f"{shown}\n```python\n{picture.code}```\n" in PAGE.read_text(encoding="utf-8"), AGAIN
    assert re.fullmatch(r"[A-Z][^][]{40,250}\.", picture.alt)


@pytest.mark.parametrize(("path", "folder"), [(README, "docs/"), (DOCS / "index.md", "")])
def test_the_first_picture_opens_readme_and_docs(path, folder):
    text, picture = path.read_text(encoding="utf-8"), PICTURES[0]
    shown = f"![{picture.alt}]({folder}_static/gallery/{picture.name}.svg)"
    assert shown in text.replace("\n", " ")
    assert f"\n```python\n{picture.code}```\n" in text
