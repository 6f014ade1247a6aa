"""The command ``pandas-tba``: a demonstration on the bundled predictions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import pandas as pd

from pandas_tba.accessor import TbaAccessor
from pandas_tba.datasets import load_income

EXPONENTS = [1, 0.5, 0, -0.5]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0, or 2 where no command was named."""
    parser = argparse.ArgumentParser(
        prog="pandas-tba", description="Judge classifiers by tempered balanced accuracy."
    )
    parser.add_argument(
        "--version", action="version", version=f"pandas-tba {version('pandas-tba')}"
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("demo", help="show the main questions and answers on the bundled data")
    asked = parser.parse_args(argv)
    if asked.command is None:
        parser.print_help()
        return 2
    print(demo())
    return 0


def demo() -> str:
    """Text that shows what the library answers, with the Python that asks."""
    frame = load_income()
    wide = TbaAccessor(frame)(y_pred=["logit", "balanced", "forest"])
    overall = _scores(wide)
    own = _scores(wide, by="sex").loc["logit"]
    pooled = _scores(wide, by="sex", prevalence="pooled").loc["logit"]
    shares = frame["y_true"].eq(">50K").groupby(frame["sex"], observed=True).mean()
    matrix = TbaAccessor(frame)(y_pred="logit").confusion_matrix()
    return "\n".join(
        [
            f"pandas-tba on {len(frame):,} held-out predictions of three classifiers: does a",
            f"person earn more than 50,000 dollars? {frame['y_true'].eq('>50K').mean():.0%} do (UCI Adult census income).",
            "Score: mean of the recall of each class, weighted by prevalence to the power t.",
            "t = 1 is accuracy, t = 0 balanced accuracy, t < 0 favours the rare class.",
            "",
            ">>> import pandas_tba as tba",
            ">>> df = tba.load_income()",
            '>>> wide = df.tba(y_true="y_true", y_pred=["logit", "balanced", "forest"])',
            ">>> wide.score(t=[1, 0.5, 0, -0.5])",
            _table(overall),
            f"Best at t = 1: {overall[1.0].idxmax()}; at t = 0.5: {overall[0.5].idxmax()}; at t = 0: {overall[0.0].idxmax()}.",
            "",
            '>>> wide.score(by="sex", t=[1, 0.5, 0, -0.5]).loc["logit"]',
            _table(own),
            f"Own weights mix in who is there: {shares['Female']:.0%} of women earn that much, {shares['Male']:.0%} of men.",
            "",
            '>>> wide.score(by="sex", t=[1, 0.5, 0, -0.5], prevalence="pooled").loc["logit"]',
            _table(pooled),
            f"With common weights only recall differs: the gap at t = 1 is {_gap(pooled):.3f}, not {_gap(own):.3f}.",
            "",
            '>>> df.tba(y_pred="logit").confusion_matrix()',
            _table(matrix),
            "Rows are true, columns predicted labels. All answers come from such counts.",
            "",
            "With your data: df.tba(y_true='label', y_pred='guess').metrics(by='segment')",
            "Read on: README.md, docs/tutorial.md, and help(df.tba).",
        ]
    )


def _scores(door: TbaAccessor, **asked: Any) -> Any:
    return door.score(t=EXPONENTS, **asked)


def _gap(scores: pd.DataFrame) -> float:
    return float(scores[1.0].max() - scores[1.0].min())


def _table(table: pd.DataFrame) -> str:
    return table.to_string(float_format="{:.3f}".format)


if __name__ == "__main__":
    sys.exit(main())
