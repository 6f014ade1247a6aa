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
    logit = TbaAccessor(frame)(y_pred="logit")
    overall = _scores(wide)
    own, pooled = _scores(logit, by="sex"), _scores(logit, by="sex", prevalence="pooled")
    rich = frame["y_true"].eq(">50K")
    shares = rich.groupby(frame["sex"], observed=True).mean()
    return "\n".join(
        [
            f"{len(frame):,} people (UCI Adult census income); three classifiers that never saw them",
            f'say who earns over 50,000 dollars a year. {rich.mean():.0%} do: ">50K", the rest "<=50K".',
            "The score is the mean recall (share found) of the classes, weighted by (class",
            "share) ** t: 1 is accuracy, 0 counts classes alike, below 0 favours rare ones.",
            "",
            ">>> import pandas_tba as tba",
            ">>> df = tba.load_income()",
            '>>> wide = df.tba(y_pred=["logit", "balanced", "forest"])',
            _ranking(overall),
            ">>> wide.score(t=[1, 0.5, 0, -0.5])",
            _table(overall),
            "",
            f'Own weights mix in the class mix: {shares["Female"]:.0%} of women, {shares["Male"]:.0%} of men are ">50K".',
            '>>> logit = df.tba(y_pred="logit")',
            '>>> logit.score(by="sex", t=[1, 0.5, 0, -0.5])',
            _table(own),
            "",
            f"Pooled weights compare recalls only: the gap at t = 1 is {_gap(pooled):.3f}, not {_gap(own):.3f}.",
            '>>> logit.score(by="sex", t=[1, 0.5, 0, -0.5], prevalence="pooled")',
            _table(pooled),
            "",
            "All answers come from counts like these: rows are the truth, columns the guess.",
            ">>> logit.confusion_matrix()",
            _table(logit.confusion_matrix()),
            "",
            "Your data: df.tba(y_true='label', y_pred='guess').score(t=0.5, by='segment')",
            "Read on: df.tba says what to ask next; help(df.tba); docs/tutorial.md.",
        ]
    )


def _scores(door: TbaAccessor, **asked: Any) -> Any:
    return door.score(t=EXPONENTS, **asked)


def _ranking(scores: pd.DataFrame) -> str:
    best = "; ".join(f"{t:g}: {scores[t].idxmax()}" for t in EXPONENTS)
    return f"Best at t = {best}."


def _gap(scores: pd.DataFrame) -> float:
    return float(scores[1.0].max() - scores[1.0].min())


def _table(table: pd.DataFrame) -> str:
    lines = table.to_string(float_format="{:.3f}".format).splitlines()
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    sys.exit(main())
