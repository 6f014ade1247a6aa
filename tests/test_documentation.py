"""What the pages for contributors name is there, and the drawing shows today's imports."""

import ast
import re
from pathlib import Path

import make_architecture
import pytest

import pandas_tba

ROOT = Path(__file__).parents[1]
PACKAGE = Path(pandas_tba.__file__).parent
PAGES = ["contributing.md", "explanation/architecture.md"]


def names_of_files(page):
    """Paths, and names of files, that stand in backticks."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    words = [word for span in re.findall(r"`([^`\n]+)`", text) for word in span.split()]
    return sorted(
        {word for word in words if re.fullmatch(r"[\w.-]+(/[\w.-]+)+|[\w-]+\.(py|toml)", word)}
    )


def is_there(name):
    pivot = [ROOT / name, PACKAGE / name, ROOT / "docs" / f"{name}.md"]
    return any(path.exists() for path in pivot) or ("/" not in name and any(PACKAGE.rglob(name)))


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_is_there(page):
    names = names_of_files(page)
    assert len(names) > 10
    assert [name for name in names if not is_there(name)] == []


def test_the_drawing_of_the_layers_is_current():
    drawn = make_architecture.draw(make_architecture.read_imports())
    assert make_architecture.TARGET.read_text(encoding="utf-8") == drawn, (
        "python docs/scripts/make_architecture.py draws it"
    )


def test_the_table_of_tasks_names_every_session_and_stars_those_of_nox_alone():
    sessions = {}
    for node in ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8")).body:
        for mark in getattr(node, "decorator_list", []):
            options = {word.arg: ast.unparse(word.value) for word in getattr(mark, "keywords", [])}
            sessions[node.name] = "★" if options.get("default") != "False" else ""
    text = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    assert dict(re.findall(r"^\| `(\w+)` \| (★?) ?\|", text, re.MULTILINE)) == sessions
