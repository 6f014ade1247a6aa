"""The floors of the house: a file imports from strictly lower floors only."""

import ast
from pathlib import Path

import pytest

import pandas_tba

FLOORS = {
    0: ["errors", "datasets", "progress"],
    1: [
        "tempering",
        "roots",
        "significance",
        "columns",
        "levels",
        "cells",
        "reading",
        "svg",
        "writing",
    ],
    1.1: ["spelling"],
    2: ["catalog", "decisions", "labelling", "groups", "encoding", "remarks", "views"],
    2.1: ["interchange"],
    3: ["confusion", "sums", "validation"],
    4: ["grouping", "specification", "tallying"],
    5: ["counting", "bayes"],
    6: ["engines/combining", "intervals", "pairing", "framing", "reasons"],
    6.1: ["engines/reading"],
    6.2: ["engines/partitions", "engines/queries", "engines/streams"],
    6.3: ["engines/pairs", "engines/parquet"],
    6.4: ["engines"],
    7: ["tables", "uncertainty", "differences", "measures", "drawing", "rankings"],
    8: ["choosing", "comparison", "diagnosing", "fairness", "gates", "slicing", "thresholds"],
    9: ["scoring", "curves", "dotplots", "heatmaps", "sweeps", "sections"],
    10: ["plotting", "reporting"],
    11: ["accessor", "files"],
    12: ["__init__", "__main__"],
}
FLOOR_OF = {module: floor for floor, modules in FLOORS.items() for module in modules}
HOUSE = Path(pandas_tba.__file__).parent
FILES = {
    path.relative_to(HOUSE).with_suffix("").as_posix().removesuffix("/__init__"): path
    for path in HOUSE.rglob("*.py")
}


def own_imports(path):
    """Yield the modules of ours that a file imports, wherever in it the import stands."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            paths = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = ".".join(filter(None, ["pandas_tba" * bool(node.level), node.module]))
            paths = [f"{source}.{alias.name}" for alias in node.names]
        else:
            continue
        for package, module, inner, *_ in (f"{path}...".split(".") for path in paths):
            if package == "pandas_tba":
                inside = f"{module}/{inner}"
                yield inside if inside in FLOOR_OF else module if module in FLOOR_OF else "__init__"


def test_every_file_has_a_floor():
    assert set(FILES) == set(FLOOR_OF)


@pytest.mark.parametrize("module", sorted(FILES))
def test_imports_go_strictly_down(module):
    above = {name for name in own_imports(FILES[module]) if FLOOR_OF[name] >= FLOOR_OF[module]}
    assert not above


@pytest.mark.parametrize("module", sorted(FILES))
def test_no_file_passes_600_lines(module):
    length = len(FILES[module].read_text(encoding="utf-8").splitlines())
    assert length <= 600


def test_no_public_name_is_the_name_of_a_module():
    assert not set(pandas_tba.__all__) & set(FLOOR_OF)
