"""Draw docs/_static/gallery and write docs/gallery.md: python docs/scripts/make_gallery.py."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

mpl.use("agg")

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "_static" / "gallery"
PAGE = DOCS / "gallery.md"


class Picture(NamedTuple):
    """The name of its file, the question it answers, what it shows, and the lines that draw it."""

    name: str
    title: str
    alt: str
    lines: str

    @property
    def code(self) -> str:
        """What to copy."""
        return f"import pandas_tba as tba\n\n{self.lines.strip()}\n"

    def draw(self) -> Figure:
        """Run the code."""
        plt.close("all")
        exec(self.code, {})
        return plt.gcf()


PICTURES = (
    Picture(
        "curve",
        "Which model, at which t?",
        "Tempered balanced accuracy of three models over t from -1 to 1, with bands. The balanced "
        "model leads below t = 0.40, the forest above 0.63; at 0.45 these two swap rank.",
        """
income = tba.load_income()
models = income.tba(y_pred=["logit", "balanced", "forest"])
models.plot.curve()
""",
    ),
    Picture(
        "curve-panels",
        "Is that so for every group?",
        "The curves of three models, one panel for women and one for men. For men the models swap "
        "rank at a lower t.",
        """
income = tba.load_income()
models = income.tba(y_pred=["logit", "balanced", "forest"])
models.plot.curve(by="sex")
""",
    ),
    Picture(
        "curve-highlight",
        "How does a group stand among the others?",
        "Curves of the forest for six levels of education, weighted alike. Bachelor and No diploma "
        "are in colour, with bands; at t = 1 they meet.",
        """
income = tba.load_income()
forest = income.tba(y_pred="forest")
forest.plot.curve(by="education", prevalence="pooled", highlight=["Bachelor", "No diploma"])
""",
    ),
    Picture(
        "groups",
        "Which group is weak?",
        "Balanced accuracy of six age groups with intervals, and that of all rows. The youngest "
        "group is lowest; its dot is hollow, since few of them earn more.",
        """
income = tba.load_income()
forest = income.tba(y_pred="forest")
forest.plot.groups(by="age_group", t=0)
""",
    ),
    Picture(
        "slices",
        "Which combination of groups?",
        "The eight slices with the lowest balanced accuracy, and how far each is below all other "
        "rows. In five of them education ended with high school.",
        """
income = tba.load_income()
forest = income.tba(y_pred="forest")
forest.plot.slices(by=["sex", "age_group", "education"], t=0, min_support=10, most=8)
""",
    ),
    Picture(
        "compare",
        "Are two models really different?",
        "Paired differences of balanced accuracy between three pairs of models, with intervals. "
        "None of the intervals holds zero.",
        """
income = tba.load_income()
models = income.tba(y_pred=["logit", "balanced", "forest"])
models.plot.compare(t=0)
""",
    ),
    Picture(
        "compare-groups",
        "For whom is one better?",
        "Paired differences between the balanced model and the forest by education, with intervals. "
        "The forest is better for people with a bachelor's or a higher degree only.",
        """
income = tba.load_income()
models = income.tba(y_pred=["balanced", "forest"])
models.plot.compare(by="education", t=0)
""",
    ),
    Picture(
        "confusion",
        "Where do the errors go?",
        "Confusion matrix of the forest, coloured by share of the true class. Of 992 people who earn "
        "more, it finds 570.",
        """
income = tba.load_income()
forest = income.tba(y_pred="forest")
forest.plot.confusion()
""",
    ),
    Picture(
        "confusion-groups",
        "And in each group?",
        "Confusion matrices of the forest for women and for men: counts, coloured by share of the "
        "true class.",
        """
income = tba.load_income()
forest = income.tba(y_pred="forest")
forest.plot.confusion(by="sex")
""",
    ),
    Picture(
        "sweep",
        "Which threshold?",
        "Scores at t = 0, 0.5 and 1 over the threshold, and both recalls. Dots mark the best "
        "thresholds, diamonds those for calibrated scores: the larger t, the higher they are.",
        """
income = tba.load_income()
scored = income.tba(y_score="p_logit", pos_label=">50K")
scored.plot.sweep(t=[0, 0.5, 1])
""",
    ),
    Picture(
        "sweep-groups",
        "One threshold for all?",
        "Score at t = 0 over the threshold for women and men, with both recalls. The best threshold "
        "for women is lower.",
        """
income = tba.load_income()
scored = income.tba(y_score="p_logit", pos_label=">50K")
scored.plot.sweep(by="sex", t=0)
""",
    ),
)


def main() -> None:
    """Draw every picture and write the page."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    for picture in PICTURES:
        path = FOLDER / f"{picture.name}.svg"
        path.write_text(svg_of(picture.draw()), encoding="utf-8", newline="\n")
        print(f"{path.stat().st_size:9,} bytes  {path}")
    PAGE.write_text(page(), encoding="utf-8", newline="\n")


def svg_of(figure: Figure) -> str:
    """The same text for the same drawing: letters as shapes, no date, numbers of three digits."""
    held = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "pandas-tba"}):
        nothing = dict.fromkeys(["Creator", "Date", "Format", "Type"])
        figure.savefig(held, format="svg", metadata=nothing)
    rounded = re.sub(r"(\.\d{3})\d+", r"\1", held.getvalue())
    return re.sub(r"\s*\n(?=[LMQCz\"])", " ", rounded)  # each path on one line


def page() -> str:
    """The page with all pictures, each above its code."""
    return PAGE_START + "".join(map(section, PICTURES))


PAGE_START = """# Gallery

Each figure is drawn by the lines under it, from data that come with the package. They need
matplotlib: `pip install 'pandas-tba[plot]'`. A notebook shows the figure; a script saves it by
`matplotlib.pyplot.savefig("figure.svg")`. {doc}`how-to/plots` says how to read each of them, and how
to draw in a figure of your own.
"""


def section(picture: Picture) -> str:
    """One picture on the page."""
    method = re.findall(r"\.plot\.(\w+)\(", picture.lines)[-1]
    return f"""
## {picture.title}

![{picture.alt}](_static/gallery/{picture.name}.svg)

```python
{picture.code}```

All options: {{func}}`~pandas_tba.plot_{method}`.
"""


if __name__ == "__main__":
    main()
