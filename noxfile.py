import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"

PYPROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = nox.project.python_versions(PYPROJECT)
PARALLEL = ("--numprocesses=auto", "--dist=worksteal")


def group(name: str) -> tuple[str, ...]:
    """Requirements of a dependency group, read here since older versions of pip cannot."""
    return nox.project.dependency_groups(PYPROJECT, name)


@nox.session
def lint(session: nox.Session) -> None:
    """Check rules and layout of the code; `nox -s lint -- fix` repairs what it can."""
    session.install(*group("lint"))
    fix = "fix" in session.posargs
    session.run("ruff", "check", *(["--fix"] if fix else []))
    session.run("ruff", "format", *([] if fix else ["--diff"]))


@nox.session
def types(session: nox.Session) -> None:
    """Check the types of the package, and of the example that the reference shows."""
    session.install(".", *group("types"))
    session.run("mypy", *session.posargs)


@nox.session(default=False)
def pyright(session: nox.Session) -> None:
    """Check the example of typed code with pyright too, which fetches itself from npm."""
    session.install(".", *group("pyright"))
    session.run("pyright", *(session.posargs or ["tests/typed.py"]))


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests on the Python that runs nox; arguments go to pytest."""
    session.install(".", *group("test"))
    session.run("pytest", *PARALLEL, *session.posargs)


@nox.session(default=False)
def browser(session: nox.Session) -> None:
    """Open the page of a report in chromium, which must be on the machine."""
    session.install(".", *group("test"), *group("browser"))
    session.run("pytest", "tests/reports/test_page.py", *session.posargs)


@nox.session(python=PYTHONS, default=False)
def pythons(session: nox.Session) -> None:
    """Run the tests on every supported Python that is installed."""
    tests(session)


def lowest(*requirements: str) -> list[str]:
    """The lowest version that each requirement allows."""
    return [requirement.replace(">=", "==") for requirement in requirements]


@nox.session(python=PYTHONS[0], default=False)
def minimums(session: nox.Session) -> None:
    """Run the tests on the lowest versions that pyproject.toml allows."""
    session.install(".", *lowest(*PYPROJECT["project"]["dependencies"], *group("test")))
    session.run("pytest", *PARALLEL, *session.posargs)


@nox.session(default=False)
def engines(session: nox.Session) -> None:
    """Run the tests of all engines, none left out; Spark needs Java 17."""
    session.install(".[all]", *group("test"), *group("engines"))
    session.env["PANDAS_TBA_ENGINES"] = "all"
    tests = session.posargs or ["tests/engines/test_engines.py", "tests/engines/test_streams.py"]
    session.run("pytest", *tests)


@nox.session(python=PYTHONS[0], default=False)
def engine_minimums(session: nox.Session) -> None:
    """Run the tests of all engines on the lowest versions that pyproject.toml allows."""
    project = PYPROJECT["project"]
    extras = [name for name in project["optional-dependencies"] if name != "all"]
    needed = {part for name in extras for part in project["optional-dependencies"][name]}
    session.install(
        ".", *lowest(*project["dependencies"], *needed, *group("test")), *group("engines")
    )
    session.env["PANDAS_TBA_ENGINES"] = "all"
    session.run(
        "pytest",
        *(session.posargs or ["tests/engines/test_engines.py", "tests/engines/test_streams.py"]),
    )


@nox.session
def doctests(session: nox.Session) -> None:
    """Run the examples of the docstrings, the README and the plain pages."""
    session.install(".", *group("test"))
    session.run("pytest", "--doctest-modules", "pandas_tba")
    session.run("pytest", "--doctest-glob=*.md", "--ignore=docs/_build", "README.md", "docs")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation and execute its pages; any warning fails."""
    session.install(".", *group("docs"))
    shutil.rmtree("docs/reference/generated", ignore_errors=True)  # pages of names that are gone
    target = Path("docs/_build/html")
    session.run("sphinx-build", "--fail-on-warning", "--keep-going", "--fresh-env", "docs", target)
    session.log(f"Open {target / 'index.html'}")


@nox.session(default=False)
def pictures(session: nox.Session) -> None:
    """Draw the gallery and the layers anew, and accept all pictures as they are now."""
    session.install(".", *group("test"))
    session.run("python", "docs/scripts/make_gallery.py")
    session.run("python", "docs/scripts/make_architecture.py")
    session.run("pytest", "tests/plots/test_pictures.py", "--accept")


@nox.session(default=False)
def accessor(session: nox.Session) -> None:
    """Write the methods of df.tba and df.tba.plot anew from the functions over counts."""
    session.run("python", "docs/scripts/make_accessor.py")


@nox.session(default=False)
def fuzz(session: nox.Session) -> None:
    """Search among thousands of frames and shards for minutes; arguments go to pytest."""
    session.install(".", *group("test"))
    tests = (
        "tests/engines/test_fuzz.py",
        "tests/engines/test_streams.py::test_many_shards_equal_one_pass",
        "tests/frames/test_schema.py::test_witness_and_schema_agree",
    )
    search = {"HYPOTHESIS_PROFILE": "long"}
    session.run("pytest", *tests, *session.posargs, env=search)


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Time the library; arguments go to the scripts in tests/benchmarks."""
    session.install(".[all]", *group("bench"))
    session.run("python", "tests/benchmarks/run.py", *session.posargs)
    if "--only" not in session.posargs:
        session.run("python", "tests/benchmarks/answers.py")
        session.run("python", "tests/benchmarks/streams.py")
        session.run("python", "tests/benchmarks/streams.py", "--engines")
        session.run("python", "tests/benchmarks/scale.py", "--rows", "2_000_000")
        session.run("python", "tests/benchmarks/scale.py", "--rows", "2_000_000", "--engines")
        session.run("python", "tests/benchmarks/dtypes.py", *session.posargs)


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Simulate for half an hour what is claimed about rates; arguments go to the script."""
    session.install(".")
    session.run("python", "tests/benchmarks/rates.py", "--jobs", "2", *session.posargs)


@nox.session(default=False)
def coverage_short(session: nox.Session) -> None:
    """Simulate for a minute what is claimed about rates, with bars that leave room for chance."""
    session.install(".")
    session.run("python", "tests/benchmarks/rates.py", "--short", "--jobs", "2", *session.posargs)
