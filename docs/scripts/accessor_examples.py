"""Examples of functions over counts, written anew for those who have a frame."""

from __future__ import annotations

import ast
import doctest
from collections.abc import Iterator
from typing import NamedTuple

HOW_TO_COUNT = ("by", "dropna", "observed")


class Bound(NamedTuple):
    """An accessor in place of counts: lines that go before it, its code, how it shall count."""

    lines: tuple[str, ...]
    code: str
    how: tuple[str, ...] = ()


class Rewriter:
    """Writes examples anew.

    ``methods`` are the names of the methods, with their accessor, by the names of the functions;
    ``of_scores`` the functions that take arrays of labels and scores.
    """

    def __init__(self, methods: dict[str, str], of_scores: set[str], width: int) -> None:
        self.methods, self.of_scores, self.width = methods, of_scores, width

    def example_of(self, function: str, text: str) -> str:
        """The example with the method; as it was where the rules do not suffice."""
        try:
            lines = [*self._lines(doctest.DocTestParser().parse(text))]
        except ValueError:
            return text
        code = "\n".join(line for line in lines if line.startswith((">>> ", "... ")))
        is_short = max(map(len, code.splitlines()), default=0) <= self.width + len(">>> ")
        if f".{self.methods[function]}(" not in code or not is_short:
            return text
        if "pd.DataFrame(" in code:
            lines[0] = lines[0].replace("import pandas_tba", "import pandas as pd, pandas_tba")
        return "\n".join(lines)

    def _lines(self, examples: list[str | doctest.Example]) -> Iterator[str]:
        """Statements, with what they print."""
        bound: dict[str, Bound] = {}
        for example in examples:
            if isinstance(example, str):
                if example.strip():  # prose
                    raise NoRuleError
                continue
            if not example.source.isascii():  # the parser counts bytes
                raise NoRuleError
            for statement in self._statements(example.source.rstrip("\n"), bound):
                yield ">>> " + statement.replace("\n", "\n... ")
            yield from example.want.splitlines()

    def _statements(self, source: str, bound: dict[str, Bound]) -> list[str]:
        """What stands in place of one statement."""
        node = ast.parse(source).body[0]
        held = _counted(source, node.value) if isinstance(node, ast.Assign) else None
        if held:
            is_short = held.code == "df.tba"
            bound[source.partition(" ")[0]] = Bound((), "df.tba" if is_short else "preds", held.how)
            return [*held.lines, *([] if is_short else [f"preds = {held.code}"])]
        calls = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
        found = ((call, self._asked(source, call, bound)) for call in calls)
        call, asked = next(((call, asked) for call, asked in found if asked), (None, None))
        before = []
        if call and asked:
            start, end = _span(source, call)
            before, code, rest = [*asked.lines], asked.code, source[end:]
            if start == 0 and len(code + rest) > self.width:
                before, code = [*before, f"table = {code}"], "table"
            source = source[:start] + code + rest
        names = {name.id for name in ast.walk(ast.parse(source)) if isinstance(name, ast.Name)}
        if names & {*bound}:  # counts are needed after all
            raise NoRuleError
        return [*before, source]

    def _asked(self, source: str, call: ast.Call, bound: dict[str, Bound]) -> Bound | None:
        """The call of a method in place of that of a function."""
        callee = ast.unparse(call.func).removeprefix("tba.")
        if callee not in self.methods or not call.args:
            return None
        words = {word.arg: _segment(source, word) for word in call.keywords}
        if callee in self.of_scores:
            held = _scored(source, call, words)
        else:
            (counts,) = call.args
            held = bound.get(ast.unparse(counts)) or _counted(source, counts)
        if held is None:
            raise NoRuleError
        given = ", ".join([*held.how, *words.values()])
        return held._replace(code=f"{held.code}.{self.methods[callee]}({given})")


class NoRuleError(ValueError):
    """The example is none of those that can be written anew."""


def _counted(source: str, call: ast.expr) -> Bound | None:
    """The accessor that counts as a call does."""
    if not isinstance(call, ast.Call):
        return None
    callee = ast.unparse(call.func)
    words = {word.arg: _segment(source, word) for word in call.keywords}
    if callee in ("tba.count", "tba.count_pairs"):
        names = ", ".join(text for word, text in words.items() if word not in HOW_TO_COUNT)
        how = tuple(text for word, text in words.items() if word in HOW_TO_COUNT)
        frame = _segment(source, call.args[0])
        return Bound((), f"{frame}.tba({names})" if names else f"{frame}.tba", how)
    if callee == "tba.ConfusionCounts.from_matrix" and not words:
        cells = ast.literal_eval(call.args[0])
        if not all(isinstance(number, int) for of_class in cells for number in of_class):
            raise NoRuleError
        rows = " + ".join(
            f"[({true}, {predicted})] * {number}"
            for true, of_class in enumerate(cells)
            for predicted, number in enumerate(of_class)
            if number
        )
        frame = 'df = pd.DataFrame(rows, columns=["y_true", "y_pred"])'
        return Bound((f"rows = {rows}", frame), "df.tba")
    if callee.startswith("tba.ConfusionCounts."):
        raise NoRuleError
    return None


def _scored(source: str, call: ast.Call, words: dict[str | None, str]) -> Bound:
    """The accessor of a frame that holds the labels and scores of a call."""
    if len(call.args) != 2 or "groups" in words or "pos_label" not in words:
        raise NoRuleError
    truth, scores = (_segment(source, argument) for argument in call.args)
    frame = f'df = pd.DataFrame({{"y_true": {truth}, "y_score": {scores}}})'
    return Bound((frame,), f'df.tba(y_score="y_score", {words.pop("pos_label")})')


def _segment(source: str, node: ast.AST) -> str:
    """Code of a node, on one line."""
    code = ast.get_source_segment(source, node) or ""
    return ast.unparse(node).replace("'", '"') if "\n" in code else code


def _span(source: str, node: ast.expr) -> tuple[int, int]:
    """Where the code of a node starts and ends."""
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:at])) for at in range(len(lines))]
    end_line, end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end
