"""df.tba is a accessor: same questions, same shapes, nothing of its own."""

import ast
import inspect
import json
import pydoc
import re
import runpy
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from make_accessor import ACCESSORS, entries_of, methods_of, path_of, text_of
from pandas.testing import assert_frame_equal, assert_series_equal

import pandas_tba as tba

FUNCTIONS = ["score", "metrics", "per_class", "confusion_matrix", "bounds"]
HOW_TO_COUNT = ["by", "dropna", "observed"]


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "y_true": [1, 0, 1, 0] * 4,
            "y_pred": [1, 0, 0, 1] * 2 + [1, 0, 1, 1] * 2,
            "forest": [1, 0, 1, 1] * 3 + [1, 0, 0, 0],
            "g": [*"aaaaaaaabbbbbbbb"],
            "h": [*"uuuuvvvvuuuuvvvv"],
        }
    )


ONE, WIDE = "y_pred", ["y_pred", "forest"]
SHAPES = [
    # y_pred, by, t, type of score, its shape, names of the levels
    (ONE, None, 0.5, float, (), []),
    (ONE, None, [0.5], pd.Series, (1,), ["t"]),
    (ONE, None, [0, 1], pd.Series, (2,), ["t"]),
    (ONE, None, np.array([0, 1]), pd.Series, (2,), ["t"]),
    (ONE, None, np.float64(0.5), float, (), []),
    (ONE, "g", 0.5, pd.Series, (2,), ["g"]),
    (ONE, ["g"], 0.5, pd.Series, (2,), ["g"]),
    (ONE, ["g", "h"], 0.5, pd.Series, (4,), ["g", "h"]),
    (ONE, "g", [0.5], pd.DataFrame, (2, 1), ["g"]),
    (ONE, ["g", "h"], [0, 1], pd.DataFrame, (4, 2), ["g", "h"]),
    (WIDE[:1], None, 0.5, pd.Series, (1,), ["model"]),
    (WIDE, None, 0.5, pd.Series, (2,), ["model"]),
    (WIDE, None, [0.5], pd.DataFrame, (2, 1), ["model"]),
    (WIDE, "g", [0, 1], pd.DataFrame, (4, 2), ["model", "g"]),
    (WIDE, ["g", "h"], 0.5, pd.Series, (8,), ["model", "g", "h"]),
]


@pytest.mark.parametrize(("y_pred", "by", "t", "kind", "shape", "names"), SHAPES)
def test_shape_of_score(frame, y_pred, by, t, kind, shape, names):
    found = frame.tba(y_pred=y_pred).score(by=by, t=t)
    assert type(found) is kind
    assert np.shape(found) == shape
    assert list(getattr(found, "index", pd.Index([])).names) == (names or [None])
    if kind is pd.DataFrame:
        assert found.columns.name == "t"
    if kind is pd.Series:
        assert found.name == "tba"


@pytest.mark.parametrize(("y_pred", "by", "t", "kind", "shape", "names"), SHAPES)
@pytest.mark.parametrize("method", ["metrics", "bounds"])
def test_shape_of_tables_over_t(frame, method, y_pred, by, t, kind, shape, names):
    found = getattr(frame.tba(y_pred=y_pred), method)(by=by, t=t)
    levels = [name for name in names if name != "t"]
    assert type(found) is pd.DataFrame
    assert len(found) == np.prod(shape, dtype=int)
    assert list(found.index.names) == ([*levels, "t"] if np.ndim(t) else levels or [None])


@pytest.mark.parametrize(("y_pred", "by"), [(ONE, None), (ONE, "g"), (WIDE, ["g", "h"])])
@pytest.mark.parametrize(
    ("method", "last"), [("per_class", "label"), ("confusion_matrix", "y_true")]
)
def test_shape_of_tables_over_labels(frame, y_pred, by, method, last):
    door = frame.tba(y_pred=y_pred)
    found = getattr(door, method)(by=by)
    groups = door.counts(by=by).groups
    levels = [name for name in groups.names if name is not None]
    assert list(found.index.names) == [*levels, last]
    assert len(found) == 2 * len(groups)


@pytest.mark.filterwarnings("ignore::pandas_tba.UndefinedWarning")
@pytest.mark.parametrize("by", [None, "g", ["g", "h"]], ids=str)
def test_shape_does_not_depend_on_the_number_of_rows(frame, by):
    for method in FUNCTIONS:
        whole = getattr(frame.tba(labels=[0, 1]), method)(by=by)
        for part in (frame.iloc[:1], frame.iloc[:0]):
            found = getattr(part.tba(labels=[0, 1]), method)(by=by)
            assert type(found) is type(whole)
            if by is not None:
                assert found.index.names == whole.index.names
            if isinstance(whole, pd.DataFrame):
                assert found.columns.equals(whole.columns)
                assert found.dtypes.equals(whole.dtypes)


# what else the methods of functions over counts are asked, beside `by`
ASKED = {
    "undefined": {},
    "interval": {"method": "bootstrap", "generator": 1, "n_replicates": 50},
    "posterior": {"level": 0.9},
    "disparity": {"reference": "rest"},
    "gap": {"generator": 1, "n_replicates": 50},
    "check": {"max_gap": 0.1},
    "slices": {"depth": 1},
    "choose_t": {},
    "crossings": {"between": "groups"},
    "diagnose": {"level": 0.9},
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *ASKED, "compare"])
def test_a_method_takes_what_its_function_takes(name):
    method = inspect.signature(getattr(tba.TbaAccessor, name)).parameters
    function = inspect.signature(getattr(tba, name)).parameters
    own = [(p.name, p.kind, p.default, p.annotation) for p in list(function.values())[1:]]
    assert list(method)[:4] == ["self", *HOW_TO_COUNT]
    assert [(p.name, p.kind, p.default, p.annotation) for p in list(method.values())[4:]] == own
    assert all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, *_ in own)


def test_the_door_and_counts_share_the_parameters_of_count():
    counts = inspect.signature(tba.count).parameters
    for method in (tba.TbaAccessor.__call__, tba.TbaAccessor.counts):
        for name, parameter in list(inspect.signature(method).parameters.items())[1:]:
            if name == "row":  # only compare() pairs rows
                continue
            assert parameter.default == counts[name].default, name
            if name != "y_score":  # decide() takes a mapping of them too
                assert parameter.annotation == counts[name].annotation, name
    bound = set(inspect.signature(tba.TbaAccessor.__call__).parameters) - {"self", "row"}
    assert bound | set(HOW_TO_COUNT) == set(counts) - {"frame"}


@pytest.mark.parametrize("by", [None, "g", ["g", "h"]], ids=str)
@pytest.mark.parametrize("y_pred", [ONE, WIDE], ids=str)
def test_a_method_answers_as_its_function(frame, y_pred, by):
    door, counts = frame.tba(y_pred=y_pred), tba.count(frame, y_pred=y_pred, by=by)
    for name in FUNCTIONS:
        found, expected = getattr(door, name)(by=by), getattr(tba, name)(counts)
        if isinstance(expected, float):
            assert found == expected
        else:
            equal = assert_series_equal if expected.ndim == 1 else assert_frame_equal
            equal(found, expected)
            assert found.attrs == expected.attrs


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "asked"), ASKED.items(), ids=ASKED)
def test_a_method_with_arguments_answers_as_its_function(frame, name, asked):
    found = getattr(frame.tba, name)(by="g", **asked)
    expected = getattr(tba, name)(frame.tba.counts(by="g"), **asked)
    if name == "check":
        found, expected = found.table, expected.table
    assert_frame_equal(found, expected)
    assert found.attrs == expected.attrs


def test_compare_answers_as_its_function(frame):
    models = sorted(WIDE)  # as rows are
    pairs = tba.count_pairs(frame, y_pred=models, by="g")
    assert_frame_equal(frame.tba(y_pred=models).compare(by="g"), tba.compare(pairs))
    long = frame.assign(case=frame.index).melt(["case", "y_true", "g"], WIDE, "which", "guess")
    door = long.tba(y_pred="guess", model="which", row="case")
    assert_frame_equal(door.compare(by="g"), tba.compare(pairs))


FRAMES = {
    "plain": pd.DataFrame({"y_true": [1], "y_pred": [1]}),
    "empty": pd.DataFrame(),
    "tuples": pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("c", "d")])),
    "twins": pd.DataFrame([[1, 2]], columns=["y_true", "y_true"]),
    "numbers": pd.DataFrame(np.eye(2)),
    "column tba": pd.DataFrame({"tba": [1], "y_true": [1]}),
}
BINDINGS = [{}, {"y_true": "no"}, {"y_pred": ["a", "b"]}, {"y_pred": []}, {"y_true": ("a", "b")},
            {"model": 3}, {"labels": object()}, {"y_true": None, "missing": "x" * 1000},
            {"y_true": pd.NA}, {"model": np.array([1, 2])}, {"y_true": pd.DataFrame({"a": [1]})},
            {"y_pred": [pd.Series([1, 2]), np.nan]}]  # fmt: skip


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
@pytest.mark.parametrize("binding", BINDINGS, ids=range(len(BINDINGS)))
def test_repr_never_raises(frame, binding):
    door = tba.TbaAccessor(frame)(**binding)
    assert repr(door).startswith("<df.tba: ")
    assert max(map(len, repr(door).splitlines())) < 250


def test_repr_shows_names_and_what_to_ask(frame):
    assert repr(frame.tba(y_pred=["y_pred", "tree"], model="g")) == (
        "<df.tba: 16 rows, y_true='y_true', y_pred=['y_pred', 'tree'], model='g'>\n"
        "No column 'tree'. Name yours: df.tba(y_true='y', y_pred='p')\n"
        "Score:     .score(t=0.5)  .metrics(by=...)  .per_class()  .confusion_matrix()  "
        ".undefined()\n"
        "How sure:  .interval()  .posterior()  .bounds(t=0)\n"
        "Compare:   .compare()  .crossings()  .disparity(by=...)  .gap(by=...)  .check(by=...)  "
        ".slices()\n"
        "Choose t:  .choose_t()  .diagnose()  .sweep()  .best_threshold()  .decide()\n"
        "Show:      .plot.curve()  .report()  .report().to_html('report.html')\n"
        "The rows:  .validate()  .counts(by=...)"
    )


BOUND = {
    "scores": ({"y_score": "p"}, "y_score='p'>", "'p'"),
    "probabilities": ({"y_score": {1: "p", 0: "g"}}, "y_score={1: 'p', 0: 'g'}>", "'p'"),
    "weights": ({"sample_weight": "w", "row": "h"}, "row='h', sample_weight='w'>", "'w'"),
}


@pytest.mark.parametrize(("binding", "shown", "lacking"), BOUND.values(), ids=BOUND)
def test_repr_shows_what_else_is_bound(frame, binding, shown, lacking):
    lines = repr(frame.tba(**binding)).splitlines()
    assert lines[0].endswith(shown)
    assert lines[1].startswith(f"No column {lacking}. ")


@pytest.mark.parametrize("name", [name for name in dir(tba.TbaAccessor) if name[0] != "_"])
def test_repr_names_every_method(frame, name):
    assert f".{name}" in repr(frame.tba)


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_dir_of_any_frame_works(frame):
    assert "tba" in dir(frame)
    assert "tba" in dir(frame.copy())


def test_a_column_named_tba_does_not_hide_the_door(frame):
    named = frame.rename(columns={"g": "tba"})
    assert isinstance(named.tba, tba.TbaAccessor)
    assert named.tba.score(by="h").shape == (2,)


def test_the_door_is_made_for_each_frame_and_reads_it_late(frame):
    door = frame.tba
    before = door.score(t=1)
    frame.loc[:, "y_pred"] = frame["y_true"]
    assert before < 1
    assert door.score(t=1) == 1


def test_a_subclass_of_dataframe(frame):
    class Mine(pd.DataFrame):
        @property
        def _constructor(self):
            return Mine

    assert Mine(frame).tba.score(by="g").equals(frame.tba.score(by="g"))
    assert type(Mine(frame).tba.metrics()) is pd.DataFrame


ATTRS = {
    "score": (
        {"t": [0, 1]},
        {"classes": ["0", "1"], "t": ["0", "1"], "chance": 0.5, "prevalence": "own"},
    ),
    "metrics": ({"t": 0.5}, {"classes": ["0", "1"], "t": 0.5, "chance": 0.5, "prevalence": "own"}),
    "bounds": (
        {"t": float("inf"), "prevalence": {0: 1, 1: 2}},
        {"classes": ["0", "1"], "t": "inf", "chance": 0.5, "prevalence": "given"},
    ),
    "per_class": ({}, {"classes": ["0", "1"]}),
    "confusion_matrix": ({}, {"classes": ["0", "1"]}),
}


@pytest.mark.parametrize(("method", "options", "about"), [(k, *v) for k, v in ATTRS.items()])
def test_attrs_say_what_the_table_holds(frame, tmp_path, method, options, about):
    found = getattr(frame.tba, method)(by="g", **options)
    assert found.attrs == {"tba": about}
    assert json.loads(json.dumps(found.attrs)) == found.attrs
    assert pd.concat([found, found]).attrs == found.attrs
    table = found.rename(columns=str).reset_index()
    table.to_parquet(tmp_path / "table.parquet")
    assert pd.read_parquet(tmp_path / "table.parquet").attrs == found.attrs


def test_attrs_stay_short_with_many_labels():
    many = pd.DataFrame({"y_true": np.arange(30), "y_pred": np.arange(30)})
    assert many.tba.per_class(metrics="f1").attrs["tba"]["classes"] == 30
    assert pd.concat([many.tba.score(t=[0]), many.tba.score(t=[1])]).size == 2


def test_attrs_hold_the_number_of_rows_left_out(frame):
    frame["y_pred"] = frame["y_pred"].where(frame.index > 0)
    assert frame.tba(missing="drop").per_class().attrs["tba"]["n_missing"] == 1


def test_the_example_for_typed_code_runs():
    held = runpy.run_path(str(Path(__file__).parent / "typed.py"))
    forest = tba.load_income().tba(y_pred="forest")
    assert_frame_equal(held["table"], forest.metrics(by="sex"))
    assert_series_equal(held["of_counts"], forest.score(by="sex", t=0))
    assert held["at_one_t"] == held["over_t"][0.5] == forest.score(t=0.5)
    assert held["of_arrays"] == held["over_t"][0]
    assert held["text"] == forest.report(t=0).to_markdown()


ASKS = {
    "method": lambda df: df.tba.score(by="g"),
    "function": lambda df: tba.score(df.tba.counts(by="g")),
    "count": lambda df: tba.count(df.assign(y_pred=2)),
    "arrays": lambda df: tba.tempered_balanced_accuracy_score(df["y_true"], df["y_pred"] + 1),
    "metrics": lambda df: df.tba.metrics(by="g"),
    "per_class": lambda df: tba.per_class(df.tba.counts(by="g")),
    "matrix": lambda df: df.tba.confusion_matrix(by="g", normalize="true"),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_warnings_point_at_the_line_of_the_caller(ask):
    frame = pd.DataFrame({"y_true": [1, 1, 0, 0], "y_pred": [1, 1, 0, 0], "g": [*"aabb"]})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ask(frame)
    places = [(warning.filename, warning.lineno) for warning in caught]
    assert places == [(__file__, ask.__code__.co_firstlineno)]


def test_ipython_completes_the_methods(frame):
    completer = pytest.importorskip("IPython.core.completer")
    named = {"df": frame, "door": frame.tba(y_pred="forest")}
    found = completer.IPCompleter(namespace=named, global_namespace={})
    found.use_jedi = False
    for line in ("df.tba.", "door."):
        with completer.provisionalcompleter():
            matches = list(found.completions(line, len(line)))
        texts = {match.text.rpartition(".")[2] for match in matches}  # some give the whole line
        assert {*FUNCTIONS, "counts"} <= texts
        assert not {text for text in texts if text.startswith("_")}


@pytest.mark.parametrize("accessor", ACCESSORS, ids=lambda accessor: accessor.name)
def test_methods_are_those_of_the_functions_as_they_are_now(accessor):
    found = path_of(accessor.module).read_text(encoding="utf-8")
    assert found == text_of(accessor), "run `nox -s accessor`"


WRITTEN = [(accessor, method) for accessor in ACCESSORS for method in methods_of(accessor)]


def test_every_function_over_counts_has_a_method():
    functions = [name for name in tba.__all__ if inspect.isfunction(getattr(tba, name))]
    first = {
        name: next(iter(inspect.signature(getattr(tba, name)).parameters), "") for name in functions
    }
    over_counts = {name for name, argument in first.items() if argument in ("counts", "pairs")}
    asked = {method.function.name for _, method in WRITTEN}
    assert asked == over_counts | {"sweep", "best_threshold"}


@pytest.mark.skipif(sys.flags.optimize > 1, reason="docstrings are stripped")
@pytest.mark.parametrize(("accessor", "method"), WRITTEN, ids=lambda part: part.name)
def test_a_method_carries_its_whole_documentation(accessor, method):
    written = getattr(getattr(tba, accessor.name), method.name)
    doc, of_function = inspect.getdoc(written), inspect.getdoc(getattr(tba, method.function.name))
    assert doc.startswith(of_function.partition("\n\n")[0] + "\n\nFor ")
    assert f" see `pandas_tba.{method.function.name}`." in doc
    documented = [name for names, _, _ in entries_of(section(doc, "Parameters")) for name in names]
    assert documented == [*inspect.signature(written).parameters][1:]
    assert section(doc, "Returns") == section(of_function, "Returns")
    assert f".{method.name}(" in section(doc, "Examples") or method.name == "crossings"


def section(doc, heading):
    """One part of a docstring."""
    return re.search(
        rf"^{heading}\n-+\n(.*?)(\n\n\w[\w ]*\n---|\Z)", doc, re.MULTILINE | re.DOTALL
    )[1]


@pytest.mark.skipif(sys.flags.optimize > 1, reason="docstrings are stripped")
def test_help_shows_parameters_units_result_and_example():
    text = pydoc.render_doc(pd.DataFrame({"y_true": [1]}).tba.interval, renderer=pydoc.plaintext)
    for line in (
        "    by : key, or list of keys, optional",
        "    level : float, default 0.95",
        "        Confidence level of low and high, for each row by itself.",
        "        Columns n (rows), min_support (rows of the smallest class), n_absent (classes without",
        '    >>> df.tba.interval(t=0)[["score", "low", "high", "n_eff"]].round(3)',
    ):
        assert line in text.splitlines()


@pytest.mark.skipif(sys.flags.optimize > 1, reason="docstrings are stripped")
def test_names_are_documented_as_those_of_count():
    of_count = entries_of(section(inspect.getdoc(tba.count), "Parameters"))
    held = entries_of(section(inspect.getdoc(tba.TbaAccessor.__call__), "Parameters"))
    words = {names[0]: (kind, text.split()) for names, kind, text in held}
    for (name,), kind, text in of_count:
        if name in words and name != "y_score":  # which may be a mapping here
            assert words[name] == (kind, text.replace("Pandas only.", "").split()), name


@pytest.mark.parametrize("accessor", ACCESSORS, ids=lambda accessor: accessor.name)
def test_a_method_does_nothing_but_ask(accessor):
    tree = ast.parse(path_of(accessor.module).read_text(encoding="utf-8"))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    methods = [node for node in body if isinstance(node, ast.FunctionDef)]
    assert [type(node) for node in body] == [ast.Expr, *[ast.FunctionDef] * len(methods)]
    for method in methods:
        kinds = [type(line) for line in method.body if not isinstance(line, ast.ImportFrom)]
        assert kinds == ([ast.Expr] if method.decorator_list else [ast.Expr, ast.Return])
