"""Write the methods of df.tba and df.tba.plot: python docs/scripts/make_accessor.py.

Each public function over counts becomes a method with the function's parameters and docstring,
where `by`, `dropna` and `observed` stand in place of the counts. Files of the package are read, not
imported, so that the methods can be written anew whatever state they are in.
"""

from __future__ import annotations

import ast
import builtins
import functools
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from accessor_examples import HOW_TO_COUNT, Rewriter

ROOT = Path(__file__).parents[2]
WIDTH = 100
HEADINGS = (
    "Parameters",
    "Returns",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "References",
    "Examples",
)


class Import(NamedTuple):
    """What makes a name known: ``from module import name``, or ``import module as alias``."""

    module: str
    name: str = ""
    alias: str = ""


class Counted(NamedTuple):
    """How a method makes what its function is asked with."""

    function: str
    module: str  # of the function that counts
    given: tuple[str, ...]  # to it
    kind: str  # of what the function is asked with, in place of a frame
    parameters: tuple[str, ...] = HOW_TO_COUNT
    replaces: tuple[str, ...] = ()  # parameters of the function beside the first
    suffix: str = ""  # of the name of the function that is asked


_HOW = tuple(f"{name}={name}" for name in HOW_TO_COUNT)
COUNTS = Counted(
    "count_frame",
    "pandas_tba.engines.pandas_frames",
    ("self._frame", "self._columns", *_HOW),
    "counts",
)
TRUTH = COUNTS._replace(given=("self._frame", "self._truth", *_HOW))
PAIRS = Counted(
    "pair_frame",
    "pandas_tba.engines.pandas_pairs",
    ("self._frame", "self._columns", "row=self._columns.row", *_HOW),
    "counts of pairs",
)
SCORES = Counted(
    "scored_rows",
    "pandas_tba.questions.score_columns",
    ("self._frame", "self._columns", "by=by", "dropna=dropna"),
    "arrays",
    ("by", "dropna"),
    ("y_score", "pos_label", "groups"),
    "_table",
)
# The type of its first parameter says what a function needs; some need something else, or more.
BY_TYPE = {"ConfusionCounts": COUNTS, "PairedCounts": PAIRS}
BY_NAME = {"choose_t": TRUTH, "sweep": SCORES, "best_threshold": SCORES}
FILLED = {"report": {"pairs": "{module}.pairs_of_models(self._frame, self._columns)"}}

PARAMETERS = {"by": "Any = None", "dropna": "bool = False", "observed": "bool = True"}
ERRORS = "ColumnError, InputError, KindError\n    If the frame cannot be counted, as in `count`."


class Function(NamedTuple):
    """A public function: its overloads, then its definition."""

    name: str
    module: str
    is_late: bool  # not loaded by `import pandas_tba`
    definitions: tuple[ast.FunctionDef, ...]

    @property
    def parameters(self) -> dict[str, str]:
        """Annotation and default of each parameter."""
        return parameters_of(self.definitions[-1])

    @property
    def sections(self) -> dict[str, str]:
        """Parts of the docstring by their headings; the first part has none."""
        return sections_of(self.definitions[-1])


class Method(NamedTuple):
    """A method that asks a function."""

    name: str
    function: Function
    counted: Counted

    @property
    def dropped(self) -> set[str]:
        """Parameters of the function that the method does not have."""
        filled = FILLED.get(self.function.name, ())
        return {next(iter(self.function.parameters)), *self.counted.replaces, *filled}

    @property
    def imports(self) -> list[Import]:
        """What its body needs: the module of the function, since a parameter may be named as it is."""
        package, _, name = self.function.module.rpartition(".")
        return [Import(self.counted.module, self.counted.function), Import(package, name)]


class Accessor(NamedTuple):
    """A class to write."""

    module: str
    about: str
    decorator: str
    name: str
    base: str
    prefix: str  # of its functions; the methods are named without
    imports: tuple[Import, ...]


ACCESSORS = (
    Accessor(
        "pandas_tba.accessor",
        "df.tba: a method for each function over counts, with its parameters and documentation.",
        '@pd.api.extensions.register_dataframe_accessor("tba")\n',
        "TbaAccessor",
        "AccessorBase",
        "",
        (Import("pandas", alias="pd"),),
    ),
    Accessor(
        "pandas_tba.plots.accessor",
        "df.tba.plot: a method for each figure of counts, with its parameters and documentation.",
        "",
        "TbaPlot",
        "PlotBase",
        "plot_",
        (),
    ),
)


def main() -> None:
    """Write the files."""
    for accessor in ACCESSORS:
        path_of(accessor.module).write_text(text_of(accessor), encoding="utf-8")


def text_of(accessor: Accessor) -> str:
    """The whole file."""
    methods = [*methods_of(accessor)]
    loaded = [method for method in methods if accessor.prefix or not method.function.is_late]
    always = {*accessor.imports, Import(f"{accessor.module}_base", accessor.base)}
    always |= {Import("typing", "Any"), *(needed for method in loaded for needed in method.imports)}
    always |= {needed for method in methods for needed in names_in(method, "default")}
    always |= {needed for method in loaded for needed in names_in(method, "annotation")}
    typed = {needed for method in methods for needed in names_in(method, "annotation")} - always
    always |= {Import("typing", "TYPE_CHECKING")} if typed else set()
    always |= {Import("typing", "overload")} if any(map(is_overloaded, methods)) else set()
    written = [definition for method in methods for definition in definitions_of(method, always)]
    late = f"if TYPE_CHECKING:\n{textwrap.indent(imports(typed), '    ')}\n\n" if typed else ""
    about = indented(sections_of(node_of(f"{accessor.module}_base", accessor.base))[""])
    return (
        f"# generated by docs/scripts/make_accessor.py; the rest is in {accessor.base}\n"
        f'"""{accessor.about}"""\n\n'
        f"from __future__ import annotations\n\n{imports(always)}\n\n{late}\n"
        f"{accessor.decorator}class {accessor.name}({accessor.base}):\n"
        f'    """{about}\n    """\n\n' + "\n\n".join(written) + "\n"
    )


def methods_of(accessor: Accessor) -> Iterator[Method]:
    """The methods to write: those of public functions over counts."""
    for name, function in functions().items():
        first = next(iter(function.parameters.values()), "").partition(" = ")[0]
        counted = BY_NAME.get(name) or BY_TYPE.get(first)
        if counted and name.startswith("plot_") == bool(accessor.prefix):
            yield Method(name.removeprefix(accessor.prefix), function, counted)


def path_of(module: str) -> Path:
    """The file of a module."""
    path = ROOT.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


@functools.cache
def tree_of(module: str) -> ast.Module:
    """Syntax tree of a module."""
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


def imports_in(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, Import]]:
    """Names that are imported, and from where."""
    for node in nodes:
        for alias in node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            known = (alias.asname or alias.name, alias.asname or "")
            is_from = isinstance(node, ast.ImportFrom)
            origin = (node.module or "", alias.name) if is_from else (alias.name, "")
            yield known[0], Import(*origin, known[1])


@functools.cache
def functions() -> dict[str, Function]:
    """Every public function of the package by its name."""
    tree = tree_of("pandas_tba")
    loaded = {name for name, _ in imports_in(tree.body)}
    found = {}
    for name, origin in sorted(imports_in(ast.walk(tree))):
        if origin.module.startswith("pandas_tba."):
            nodes = ast.iter_child_nodes(tree_of(origin.module))
            defined = (node for node in nodes if isinstance(node, ast.FunctionDef))
            same = tuple(node for node in defined if node.name == origin.name)
            if same:
                found[name] = Function(name, origin.module, name not in loaded, same)
    return found


def node_of(module: str, name: str) -> ast.AST:
    """The class or function of a module that has this name."""
    nodes = ast.walk(tree_of(module))
    return next(node for node in nodes if getattr(node, "name", None) == name)


def arguments_of(definition: ast.FunctionDef) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """Each argument with its default."""
    given = definition.args
    plain = [*given.posonlyargs, *given.args]
    yield from zip(plain, [None] * (len(plain) - len(given.defaults)) + given.defaults, strict=True)
    yield from zip(given.kwonlyargs, given.kw_defaults, strict=True)


def parameters_of(definition: ast.FunctionDef) -> dict[str, str]:
    """Annotation and default of each parameter, as they stand behind its name."""
    return {
        argument.arg: code_of(argument.annotation) + (f" = {code_of(default)}" if default else "")
        for argument, default in arguments_of(definition)
    }


def code_of(node: ast.AST | None) -> str:
    """An annotation or a default as code."""
    code = ast.unparse(node) if node else "Any"
    return code if '"' in code else code.replace("'", '"')


def names_in(method: Method, part: str) -> Iterator[Import]:
    """What the annotations, or the defaults, of a method need."""
    for definition in method.function.definitions:
        kept = [pair for pair in arguments_of(definition) if pair[0].arg not in method.dropped]
        nodes: list[ast.AST | None] = [default for _, default in kept]
        if part == "annotation":
            nodes = [definition.returns, *(argument.annotation for argument, _ in kept)]
        for node in filter(None, nodes):
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and not hasattr(builtins, name.id):
                    yield origin_of(name.id, method.function.module)


def origin_of(name: str, module: str) -> Import:
    """How a module knows a name, or that others import it from there."""
    known = dict(imports_in(ast.walk(tree_of(module))))
    return known.get(name, Import(module, name))


def sections_of(definition: ast.AST) -> dict[str, str]:
    """Parts of a docstring by their headings; the first part has none."""
    text = ast.get_docstring(definition) or ""  # type: ignore[arg-type]
    start, *rest = re.split(r"^(\w[\w ]*)\n-+\n", text, flags=re.MULTILINE)
    parts = [part.strip("\n") for part in rest[1::2]]
    return {"": start.strip()} | dict(zip(rest[::2], parts, strict=True))


def entries_of(section: str) -> list[tuple[list[str], str, str]]:
    """Entries of a list of parameters: names, kind, text."""
    found = []
    for entry in re.split(r"\n(?=\S)", section):
        header, _, text = entry.partition("\n")
        names, colon, kind = header.partition(" : ")
        found.append((names.split(", "), colon + kind, text))
    return found


def documented(function: Function, wanted: dict[str, str]) -> Iterator[str]:
    """Entries of parameters; "As in" another function becomes what stands there, if it fits."""
    for names, kind, text in entries_of(function.sections.get("Parameters", "")):
        left = [name for name in names if name in wanted]
        other = re.fullmatch(r"    As in `(\w+)`\.", text)
        asked = functions().get(other[1]) if other else None
        for name in [*left] if asked else ():
            if asked.parameters.get(name) == wanted[name]:
                yield from documented(asked, {name: wanted[name]})
                left.remove(name)
        if left:
            yield f"{', '.join(left)}{kind}\n{text}"


def how_documented(method: Method) -> Iterator[str]:
    """Entries of `by`, `dropna` and `observed`; what is said of the counts is said of `by`."""
    first = entries_of(method.function.sections.get("Parameters", ""))[0][2]
    about = {"by": " ".join(first.split()).partition(" gives them. ")[2]}
    entries = entries_of(sections_of(node_of("pandas_tba.accessor_base", "counts"))["Parameters"])
    for (name,), kind, text in entries:
        if name in method.counted.parameters:
            words = f"{' '.join(text.split())} {about.get(name, '')}"
            yield f"{name}{kind}\n" + textwrap.indent(textwrap.fill(words, WIDTH - 12), "    ")


def docstring_of(method: Method) -> str:
    """The docstring of the function, for those who have a frame in place of counts."""
    function, sections = method.function, dict(method.function.sections)
    title, _, more = sections.pop("").partition("\n\n")
    also = f"For {method.counted.kind} in place of a frame see `pandas_tba.{function.name}`."
    own = {name: text for name, text in function.parameters.items() if name not in method.dropped}
    sections["Parameters"] = "\n".join([*how_documented(method), *documented(function, own)])
    errors = re.split(r"\n(?=\S)", sections.get("Raises", ""))
    errors = [entry for entry in errors if not re.search(r"If these are no .*counts\.$", entry)]
    sections["Raises"] = "\n".join(filter(None, [ERRORS, *errors]))
    sections["Examples"] = rewriter().example_of(function.name, sections.get("Examples", ""))
    start = [title, also, *filter(None, [more])]
    order = sorted(sections, key=HEADINGS.index)
    return "\n\n".join([*start, *(f"{at}\n{'-' * len(at)}\n{sections[at]}" for at in order)])


@functools.cache
def rewriter() -> Rewriter:
    """Knows all methods by the names of their functions."""
    methods = {
        method.function.name: ("plot." if accessor.prefix else "") + method.name
        for accessor in ACCESSORS
        for method in methods_of(accessor)
    }
    of_scores = {name for name, counted in BY_NAME.items() if counted is SCORES}
    return Rewriter(methods, of_scores, WIDTH - len("        >>> "))


def indented(text: str, by: str = "    ") -> str:
    """Lines after the first moved to the right."""
    return textwrap.indent(text, by).removeprefix(by)


def is_overloaded(method: Method) -> bool:
    """Whether the function has overloads."""
    return len(method.function.definitions) > 1


def definitions_of(method: Method, known: set[Import]) -> Iterator[str]:
    """A method and its overloads."""
    *overloads, last = method.function.definitions
    for definition in overloads:
        yield f"    @overload\n{signature_of(method, definition)} ..."
    docstring = indented(docstring_of(method), " " * 8)
    mark = "r" if "\\" in docstring else ""
    needed = {*method.imports} - known
    lines = [f'        {mark}"""{docstring}\n        """']
    lines += [textwrap.indent(imports(needed), " " * 8), ""] if needed else []
    text = "\n".join([signature_of(method, last), *lines, f"        return {asked_of(method)}"])
    for line in text.splitlines():
        if len(line) > WIDTH and re.match(r" {8}(\w+: |>>> |\.\.\. )", line):
            raise ValueError(f"{method.function.name}: too long for a method: {line.strip()}")
    yield text


def signature_of(method: Method, definition: ast.FunctionDef) -> str:
    """The first lines of a method."""
    how = [f"{name}: {PARAMETERS[name]}" for name in method.counted.parameters]
    own = parameters_of(definition).items()
    given = ["self", how[0], "*", *how[1:]]
    given += [f"{name}: {text}" for name, text in own if name not in method.dropped]
    lines = "".join(f"        {parameter},\n" for parameter in given)
    return f"    def {method.name}(\n{lines}    ) -> {code_of(definition.returns)}:"


def asked_of(method: Method) -> str:
    """The call of the function."""
    function, counted = method.function, method.counted
    module = method.imports[1].name
    filled = FILLED.get(function.name, {})
    given = [call_of(counted.function, counted.given, 12)]
    kept = [name for name in function.parameters if name in filled or name not in method.dropped]
    given += [f"{name}={filled.get(name, name).format(module=module)}" for name in kept]
    return call_of(f"{module}.{function.name}{counted.suffix}", given, 8, len("return "))


def call_of(function: str, given: Iterable[str], indent: int, taken: int = 0) -> str:
    """A call on one line, or with a line for each argument."""
    line = f"{function}({', '.join(given)})"
    if len(line) + indent + taken < WIDTH and "\n" not in line:
        return line
    lines = "".join(f"{' ' * indent}    {argument},\n" for argument in given)
    return f"{function}(\n{lines}{' ' * indent})"


def imports(needed: Iterable[Import]) -> str:
    """Lines that import, in the order and layout that the formatter keeps."""
    by_line: dict[tuple[int, bool, str], list[str]] = {}
    for module, name, alias in needed:
        line = by_line.setdefault((origin_order(module), bool(name), module), [])
        line.append(f"{name or module} as {alias}" if alias else name or module)
    blocks: dict[int, list[str]] = {}
    for (place, is_from, module), found in sorted(by_line.items()):
        names = sorted(found, key=lambda name: (not name.isupper(), name[0].islower(), name))
        line = f"from {module} import {', '.join(names)}" if is_from else f"import {names[0]}"
        if len(line) > WIDTH - 8:
            lines = "".join(f"    {name},\n" for name in names)
            line = f"from {module} import (\n{lines})"
        blocks.setdefault(place, []).append(line)
    return "\n\n".join("\n".join(block) for block in blocks.values())


def origin_order(module: str) -> int:
    """Python's own modules first, ours last."""
    package = module.partition(".")[0]
    return 0 if package in sys.stdlib_module_names else 2 if package == "pandas_tba" else 1


if __name__ == "__main__":
    main()
