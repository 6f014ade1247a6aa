"""Draw docs/_static/architecture.svg from the imports: python docs/scripts/make_architecture.py."""

import re
from html import escape
from pathlib import Path

DOCS = Path(__file__).parents[1]
PACKAGE = DOCS.parent / "pandas_tba"
TARGET = DOCS / "_static" / "architecture.svg"
WIDTH, HEIGHT, GAP, ROW = 132, 34, 24, 64  # of a box, between boxes, of a row and the gap below it
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" font-family="sans-serif" font-size="15" text-anchor="middle" role="img">
<title>Folders of the package; an arrow leads from a folder to one that it imports from.</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" \
orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>
<rect width="100%" height="100%" fill="white"/>"""


def read_imports() -> dict[str, set[str]]:
    """The folders and single files of the package, and the others that each imports from."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        unit = unit_of(path.relative_to(PACKAGE).parts[0])
        if unit.startswith("__"):  # the public names, and the start of the command line
            continue
        sources = re.findall(
            r"^\s*from pandas_tba\.(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        found.setdefault(unit, set()).update(map(unit_of, sources))
    return {unit: sources - {unit} for unit, sources in found.items()}


def unit_of(name: str) -> str:
    """A folder or file; what a class derives from goes with it."""
    return name.removesuffix(".py").removesuffix("_base")


def reachable(imports: dict[str, set[str]], unit: str) -> set[str]:
    """All that a folder imports from, also through others."""
    return imports[unit].union(*(reachable(imports, source) for source in imports[unit]))


def direct(imports: dict[str, set[str]]) -> list[tuple[str, str]]:
    """Pairs of folders that import, less those that follow from others."""
    return [
        (unit, source)
        for unit in sorted(imports)
        for source in sorted(imports[unit])
        if not any(source in reachable(imports, other) for other in imports[unit])
    ]


def depth(imports: dict[str, set[str]], unit: str) -> int:
    """Length of the longest chain of imports that begins at a folder."""
    return max((1 + depth(imports, source) for source in imports[unit]), default=0)


def arrow(start: tuple[float, int], end: tuple[float, int]) -> str:
    """An arrow down to the next row, or past the left of the rows between."""
    (x, y), (x_end, y_end) = start, end
    path = f"M{x:g} {y + HEIGHT}L{x_end:g} {y_end}"
    if y_end - y > ROW:
        left, right = x - WIDTH / 2, x_end - WIDTH / 2
        side = max(min(left, right) - (y_end - y) / 3, 4)
        middle, last = y + HEIGHT / 2, y_end + HEIGHT / 2
        path = f"M{left:g} {middle:g}C{side:g} {middle:g} {side:g} {last:g} {right:g} {last:g}"
    return f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#head)"/>'


def draw(imports: dict[str, set[str]]) -> str:
    """The drawing as SVG: what imports nothing stands at the bottom."""
    rows: dict[int, list[str]] = {}
    for unit in sorted(imports):
        rows.setdefault(depth(imports, unit), []).append(unit)
    across = (max(map(len, rows.values())) + 1) * (WIDTH + GAP)
    places = {
        unit: (
            across / 2 + (at - (len(row) - 1) / 2) * (WIDTH + GAP),
            (max(rows) - level) * ROW + GAP,
        )
        for level, row in rows.items()
        for at, unit in enumerate(row)
    }
    lines = [HEAD.format(width=across, height=len(rows) * ROW + GAP)]
    lines += [arrow(places[unit], places[source]) for unit, source in direct(imports)]
    for unit, (x, y) in places.items():
        lines.append(
            f'<rect x="{x - WIDTH / 2:g}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="4" '
            f'fill="#e8eef7" stroke="#33507a"/>\n<text x="{x:g}" y="{y + 22}">{escape(unit)}</text>'
        )
    return "\n".join([*lines, "</svg>\n"])


if __name__ == "__main__":
    TARGET.write_text(draw(read_imports()), encoding="utf-8")
    print(f"wrote {TARGET}")
