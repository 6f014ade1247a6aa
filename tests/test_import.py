"""Importing the package registers the accessor and loads nothing heavy."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pandas_tba

HEAVY = {"pandera", "scipy", "narwhals", "matplotlib", "jinja2", "sklearn", "pyarrow"}


def fresh_python(code, *options):
    """Run code in a new process that finds this very package; hand back what it printed."""
    here = Path(pandas_tba.__file__).parents[1]
    command = [sys.executable, *options, "-c", code]
    # compiled files may be written, so that a second import does not compile again
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=here, env=kept, capture_output=True, text=True, check=True)


def test_import_loads_no_heavy_package():
    code = "import sys, pandas; print(*sys.modules); import pandas_tba; print(*sys.modules)"
    before, after = (
        {name.partition(".")[0] for name in line.split()}
        for line in fresh_python(code).stdout.splitlines()
    )
    assert "pandas_tba" in after - before
    assert not (after - before) & HEAVY


def test_import_registers_the_accessor():
    fresh_python("import pandas; import pandas_tba; pandas.DataFrame.tba")


def test_import_takes_a_fifth_of_the_time_of_pandas_at_most():
    code = "import pandas; import pandas_tba"
    fresh_python(code)
    report = fresh_python(code, "-X", "importtime").stderr
    cost, of_pandas = (import_microseconds(report, name) for name in ("pandas_tba", "pandas"))
    assert cost <= of_pandas / 5


def import_microseconds(report, package):
    """Time that `-X importtime` states for a package and all that it imports."""
    return int(re.search(rf"\|\s*(\d+) \| {package}$", report, re.MULTILINE)[1])


@pytest.mark.parametrize("name", pandas_tba.__all__)
def test_every_public_name_is_there_and_listed(name):
    assert getattr(pandas_tba, name) is not None
    assert name in dir(pandas_tba)


def test_names_that_are_loaded_late_are_those_of_the_type_checker():
    tree = ast.parse(Path(pandas_tba.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    named = {
        alias.name: line.module.removeprefix("pandas_tba.")
        for line in block.body
        for alias in line.names
    }
    assert named == pandas_tba._LATER


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="module 'pandas_tba' has no attribute 'scor'"):
        pandas_tba.scor  # noqa: B018
