"""Imports go one way: a file imports from its own folder or from earlier ones, never in a circle."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import pandas_tba

ORDER = [
    "errors",
    "datasets",
    "frames",
    "counts",
    "engines",
    "scoring",
    "inference",
    "questions",
    "plots",
    "reports",
    "accessor_base",
    "accessor",
    "cli",
]
PACKAGE = Path(pandas_tba.__file__).parent
TOP = {"__init__", "__main__"}  # public names, and two lines that start the command line
FILES = {
    path.relative_to(PACKAGE).with_suffix("").as_posix(): path for path in PACKAGE.rglob("*.py")
}


def layer(module):
    """Place of a module in the order of the layers."""
    return len(ORDER) if module in TOP else ORDER.index(module.partition("/")[0])


def names_imported(module):
    """Yield (module, name) of ours for everything that a file imports, wherever in it it stands."""
    for node in ast.walk(ast.parse(FILES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            sources = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            sources = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        for source, name in sources:
            package, _, inner = source.partition(".")
            if package == "pandas_tba":
                path = inner.replace(".", "/")
                if name and f"{path}/{name}".lstrip("/") in FILES:
                    yield f"{path}/{name}".lstrip("/"), None
                else:
                    yield path if path in FILES else f"{path}/__init__".lstrip("/"), name


@pytest.mark.parametrize("module", sorted(FILES))
def test_imports_come_from_earlier_layers(module):
    later = {source for source, _ in names_imported(module) if layer(source) > layer(module)}
    assert not later


@pytest.mark.parametrize("module", sorted(FILES))
def test_no_private_name_is_imported(module):
    private = [
        f"{source}.{name}"
        for source, name in names_imported(module)
        if name and name.startswith("_") and not name.startswith("__")
    ]
    assert not private


def test_no_imports_in_a_circle():
    graph = {module: {source for source, _ in names_imported(module)} for module in FILES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as fault:
        pytest.fail(" -> ".join(fault.args[1]))


@pytest.mark.parametrize("folder", [name for name in ORDER if f"{name}/__init__" in FILES])
def test_every_folder_says_what_goes_in_and_what_comes_out(folder):
    text = ast.get_docstring(ast.parse(FILES[f"{folder}/__init__"].read_text(encoding="utf-8")))
    assert all(words in text for words in (" in; ", " out"))


@pytest.mark.parametrize("module", sorted(FILES))
def test_no_file_passes_600_lines(module):
    text = FILES[module].read_text(encoding="utf-8")
    assert text.startswith("# generated") or len(text.splitlines()) <= 600


def test_no_public_name_is_the_name_of_a_folder_or_file_beside_it():
    assert not set(pandas_tba.__all__) & {name.partition("/")[0] for name in FILES}


def functions():
    """Module and syntax tree of every function that a module defines at its top."""
    for module, path in sorted(FILES.items()):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield module, node


# Names that two modules define on purpose: limits and derivatives bear the name of their metric.
NAMED_LIKE_A_METRIC = {
    "_jaccard", "_min_recall", "_odds_ratio", "f_beta", "tempered_mean", "tempered_slope",
}  # fmt: skip


def test_one_name_has_one_meaning():
    modules = {}
    for module, node in functions():
        modules.setdefault(node.name, set()).add(module)
    assert {name for name, found in modules.items() if len(found) > 1} == NAMED_LIKE_A_METRIC


def test_private_functions_have_a_docstring():
    missing = [
        f"{module}: {node.name}"
        for module, node in functions()
        if re.match("_[^_]", node.name) and not ast.get_docstring(node)
    ]
    assert not missing
