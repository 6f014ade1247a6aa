"""The command ``pandas-tba``: a demonstration, a report on a file, a gate for a pipeline."""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from pandas_tba.accessor import TbaAccessor
from pandas_tba.cli.files import Counted, count_file, label_of
from pandas_tba.cli.messages import printable, with_options
from pandas_tba.cli.reading import named_format
from pandas_tba.datasets import load_income
from pandas_tba.errors import ColumnError, InputError, KindError, shown
from pandas_tba.frames.columns import Columns
from pandas_tba.questions.gates import check
from pandas_tba.reports.files import draft_of, target_of
from pandas_tba.reports.report import report

EXPONENTS = [1, 0.5, 0, -0.5]
PASS, FAIL, UNDETERMINED, BAD_INPUT = range(4)
OUR_FAULT, INTERRUPTED = 70, 130  # as sysexits.h and shells have them
_SIGNALLED = 128  # and the number of the signal
_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?(=.*)?$|-inf(inity)?$", re.IGNORECASE)

_EXAMPLES = """
examples:
  pandas-tba demo --csv income.csv
  pandas-tba report income.csv --y-pred logit balanced forest --by sex --out report.html
  pandas-tba report income.csv --y-score p_logit --pos-label ">50K" --by sex age_group
  pandas-tba check income.csv --y-pred logit --by sex --t 0 --max-gap 0.08
"""
_CODES = """
exit codes:
  0    every rule is met
  1    a rule is broken
  2    a rule is undetermined: the rows are too few to decide, or a group has no rows of a class
  3    bad input
  70   a fault of pandas-tba, to be reported
  130  interrupted
"""
_OURS = (
    "this is a fault of pandas-tba, not of what it was given. Please report it with the "
    "lines above."
)


class _Parser(argparse.ArgumentParser):
    """A parser whose faults have the exit code of bad input: 2 says that a check is undetermined."""

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self._negative_number_matcher = _NEGATIVE  # its own knows neither -inf nor -1e3

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{printable(f'{self.prog}: {message}')}\nSee {self.prog} --help.\n")

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse words, among which the file may stand anywhere."""
        words = args if args is None else self._with_file_first(list(args))
        return super().parse_known_args(words, namespace)

    def _with_file_first(self, words: list[str]) -> list[str]:
        """The words, the file in front if an option that takes several values would swallow it."""
        starts = [at for at, word in enumerate(words) if word.startswith("--") or word == "-h"]
        if (
            "file" not in {action.dest for action in self._actions}
            or "--" in words
            or 0 not in starts
        ):
            return words
        last = []
        for start, end in pairwise([*starts, len(words)]):
            name, is_whole, _ = words[start].partition("=")
            n_values = bool(is_whole) + end - start - 1
            if n_values > 1 and (is_whole or not self._takes_several(name)):
                return words  # the file is what is too much
            last += [end - 1] if n_values > 1 else []
        found = [at for at in last if words[at] == "-" or named_format(Path(words[at]))]
        found = found or [at for at in last if os.path.exists(words[at])]  # noqa: PTH110 - of any text
        return [words[at] for at in found[-1:]] + [
            word for at, word in enumerate(words) if at not in found[-1:]
        ]

    def _takes_several(self, name: str) -> bool:
        """Whether an option, or the one it is the beginning of, takes several values."""
        found = [
            (option != name, action.nargs == "+")
            for action in self._actions
            for option in action.option_strings
            if option.startswith(name)
        ]
        return bool(found) and min(found)[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    try:
        with _ending_in_order():
            return _run(argv)
    except KeyboardInterrupt:
        _print_note("interrupted")
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - Python's own exit code for it is that of a broken rule
        print(printable(traceback.format_exc()), end="", file=sys.stderr)
        _print_note(_OURS)
        return OUR_FAULT


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Where a signal ends the command, let drafts be removed as after an error."""

    def end(number: int, _: object) -> NoReturn:
        signal.signal(number, signal.SIG_IGN)  # the next one comes too late to be in a hurry
        raise SystemExit(_SIGNALLED + number)

    numbers = []
    if threading.current_thread() is threading.main_thread():  # Python allows it nowhere else
        numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
        numbers = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _run(argv: Sequence[str] | None) -> int:
    """Parse the arguments and run the command."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal may know ASCII alone
    parser = _parser()
    asked = parser.parse_args(argv)
    if asked.command is None:
        parser.print_help()
        return BAD_INPUT
    with warnings.catch_warnings():
        warnings.simplefilter("default", UserWarning)
        warnings.showwarning = _warner(vars(asked))
        try:
            return int(asked.run(asked))
        except (ColumnError, InputError, KindError, OSError, ImportError, MemoryError) as fault:
            _print_note(_one_line(fault, vars(asked)))
            if isinstance(fault, OSError) and fault.errno and fault.filename is None:
                _drop_output()
            return BAD_INPUT


def _say(text: object) -> None:
    """Print, unless the reader has seen enough, as `head` has; the exit code stays what it is."""
    try:
        print(printable(str(text)), flush=True)
    except BrokenPipeError:
        _drop_output()


def _drop_output() -> None:
    """Let what could not be written go nowhere, or Python fails once more when it ends."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_note(text: str) -> None:
    """Print a line beside the answer."""
    print(printable(f"pandas-tba: {text}"), file=sys.stderr)


def _warner(options: Collection[str]) -> Callable[..., None]:
    """What prints warnings: each once, which Python does only until a library sets filters."""
    said = set[str]()

    def warn(message: Warning | str, *_: Any) -> None:
        text = _one_line(message, options)
        if text not in said:
            _print_note(f"warning: {text}")
        said.add(text)

    return warn


def _one_line(message: object, options: Collection[str]) -> str:
    """Text of an error or warning in one line."""
    if isinstance(message, OSError) and message.strerror:
        return f"{message.strerror}: {message.filename or 'standard output'}"
    text = " ".join(str(message).split()) or type(message).__name__
    return with_options(text, options)


def _parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    # with the layout of the examples
    shape: dict[str, Any] = {"formatter_class": argparse.RawDescriptionHelpFormatter}
    parser = _Parser(
        prog="pandas-tba",
        description="Judge classifiers by tempered balanced accuracy.",
        epilog=_EXAMPLES,
        **shape,
    )
    parser.add_argument(
        "--version", action="version", version=f"pandas-tba {version('pandas-tba')}"
    )
    commands = parser.add_subparsers(dest="command", metavar="command", parser_class=_Parser)
    demo_ = commands.add_parser("demo", help="show the main questions on the bundled data")
    demo_.add_argument("--out", metavar="PATH", help="write the report of these data: .html or .md")
    demo_.add_argument("--csv", metavar="PATH", help="write these data as a file to try things on")
    demo_.set_defaults(run=_run_demo)
    report_ = commands.add_parser(
        "report", help="judge a file of predictions", epilog=_EXAMPLES, **shape
    )
    _add_columns(report_)
    report_.add_argument(
        "--t", nargs="+", type=float, default=[0.5, 0.0, 1.0], metavar="T",
        help="exponents: 1 is accuracy, 0 balanced accuracy, -inf to inf; gaps take the first (0.5 0 1)",
    )  # fmt: skip
    report_.add_argument("--title", metavar="TEXT", help="heading")
    report_.add_argument(
        "--out", default="-", metavar="PATH", help="report.html, report.md, or - for text (-)"
    )
    report_.set_defaults(run=_run_report, default_prevalence="own")
    check_ = commands.add_parser(
        "check", help="judge groups by rules; the exit code says the result", epilog=_CODES + _EXAMPLES, **shape
    )  # fmt: skip
    _add_columns(check_)
    check_.add_argument(
        "--t", type=float, default=0.5, metavar="T", help="exponent, -inf to inf (0.5)"
    )
    check_.add_argument(
        "--metrics", nargs="+", metavar="M", help="recall, fpr, selection_rate, ... (tba)"
    )
    check_.add_argument("--max-gap", type=float, metavar="X", help="most between two groups")
    check_.add_argument("--min-ratio", type=float, metavar="X", help="least of smallest to largest")
    check_.add_argument("--min-score", type=float, metavar="X", help="least of each group")
    check_.add_argument(
        "--min-support", type=int, default=0, metavar="N", help="leave out groups with fewer rows of a class"
    )  # fmt: skip
    check_.add_argument(
        "--level", type=_level, default=0.95, metavar="X", help="confidence level of the limits that rules are judged by; none judges the values alone (0.95)"
    )  # fmt: skip
    check_.set_defaults(run=_run_check, default_prevalence="pooled")
    return parser


def _level(text: str) -> float | None:
    """A confidence level, or None."""
    return None if text == "none" else float(text)


def _add_columns(parser: argparse.ArgumentParser) -> None:
    """Arguments that say what is in the file."""
    add = parser.add_argument
    add("file", type=Path, metavar="FILE", help="CSV, TSV, JSON lines, Parquet or Feather; a folder of Parquet files; - for standard input")  # fmt: skip
    add("--y-true", default="y_true", metavar="C", help="column of true labels (y_true)")
    add("--y-pred", nargs="+", metavar="C", help="columns of predictions, one a model (y_pred)")
    add("--y-score", nargs="+", metavar="C", help="columns of scores in place of predictions")
    add("--threshold", type=float, default=0.5, metavar="X", help="scores from here on are positive (0.5)")  # fmt: skip
    add("--by", nargs="+", default=[], metavar="C", help="columns of groups")
    add("--model", metavar="C", help="column that names the model of a row")
    add("--row", metavar="C", help="column that names the case of a row, to compare models in rows")
    add("--weight", metavar="C", help="column of sampling weights")
    add("--labels", nargs="+", metavar="L", help="the classes, in order (those that occur)")
    add("--abstain", nargs="+", default=[], metavar="L", help="labels that may be predicted and are no class")  # fmt: skip
    add("--pos-label", metavar="L", help="the positive one of two classes")
    add("--missing", choices=["raise", "drop"], default="raise", help="what to do with rows that lack something (raise)")  # fmt: skip
    add("--prevalence", nargs="+", metavar="P", help="weights from own or pooled class shares, or LABEL=SHARE for each class")  # fmt: skip


def _run_demo(asked: argparse.Namespace) -> int:
    """Print the demonstration, or write its data or report."""
    if asked.csv:
        with draft_of(target_of(asked.csv)) as draft:
            load_income().to_csv(draft, index=False)
        _print_note(f"wrote {asked.csv}")
    if asked.out:
        models = TbaAccessor(load_income())(y_pred=["logit", "balanced", "forest"])
        _write(models.report(by="sex", title="Who earns over 50,000 dollars?"), asked.out)
    if not (asked.csv or asked.out):
        _say(demo())
    return PASS


def _run_report(asked: argparse.Namespace) -> int:
    """Write the report on a file."""
    _check_out(asked.out)
    shares = _shares(asked)
    counts, pairs, known = _counted(asked, paired=True)
    found = report(
        counts, pairs=pairs, t=asked.t, prevalence=_of_labels(shares, known), title=asked.title
    )
    _write(found, asked.out)
    return PASS


def _check_out(out: str) -> None:
    """Refuse a name before the work is done."""
    if out == "-":
        return
    if Path(out).suffix.lower() not in (".html", ".htm", ".md"):
        raise InputError(f"--out must end in .html or .md, or be - for text; got {shown(out)}.")
    target_of(out)


def _write(report: Any, out: str) -> None:
    """Write a report to a file, by its suffix, or print it."""
    _check_out(out)
    if out == "-":
        _say(report)
        return
    write = report.to_markdown if out.lower().endswith(".md") else report.to_html
    write(out)
    _print_note(f"wrote {out}")


def _run_check(asked: argparse.Namespace) -> int:
    """Print whether the rules hold; the exit code says it too."""
    from pandas_tba.reports.views import as_lines, view_of

    if asked.max_gap is asked.min_ratio is asked.min_score is None:
        raise InputError("Give at least one rule: --max-gap X, --min-ratio X or --min-score X.")
    if not asked.by:
        raise InputError("There are no groups to compare; name their columns: --by COLUMN.")
    shares = _shares(asked)
    counts, _, known = _counted(asked, paired=False)
    found = check(
        counts,
        t=asked.t,
        metrics=asked.metrics,
        max_gap=asked.max_gap,
        min_ratio=asked.min_ratio,
        min_score=asked.min_score,
        min_support=asked.min_support,
        prevalence=_of_labels(shares, known),
        level=asked.level,
    )
    lines = as_lines(view_of(found.table))
    if len(found.left_out):
        lines += ["", "Left out, with too few rows of a class:", *as_lines(view_of(found.left_out))]
    _say("\n".join(lines))
    statuses = set(found.table["status"])
    if "fail" in statuses:
        return FAIL
    return PASS if statuses == {"pass"} else UNDETERMINED


def _counted(asked: argparse.Namespace, *, paired: bool) -> Counted:
    """Counts of the file, and those of pairs of models if wanted."""
    if asked.y_pred and asked.y_score:
        raise InputError("--y-pred and --y-score both name predictions; use one of them.")
    if asked.row is not None and asked.model is None:
        raise InputError(
            "--row pairs models in rows and needs --model; leave it out, or name both."
        )
    if asked.row is not None and asked.row == asked.model:
        raise InputError(
            f"--model and --row both name {shown(asked.row)}: one tells whose prediction a row is, the "
            "other which case it is about."
        )
    columns = Columns(
        y_true=asked.y_true,
        y_pred=_one_or_list(asked.y_pred) if asked.y_pred else None,
        y_score=_one_or_list(asked.y_score) if asked.y_score else None,
        threshold=asked.threshold,
        model=asked.model,
        row=asked.row,
        sample_weight=asked.weight,
        labels=asked.labels,
        abstain=asked.abstain,
        pos_label=asked.pos_label,
        missing=asked.missing,
    )
    return count_file(asked.file, columns, asked.by, paired=paired)


def _one_or_list(names: list[str]) -> str | list[str]:
    """One name alone where there is only one."""
    return names[0] if len(names) == 1 else names


def _shares(asked: argparse.Namespace) -> Any:
    """Whose class shares give the weights, or the shares by the text of their labels."""
    words = asked.prevalence or [asked.default_prevalence]
    if words in (["own"], ["pooled"]):
        return words[0]
    pairs = [word.rpartition("=") for word in words]
    try:
        return {label: float(share) for label, _, share in pairs}
    except ValueError:
        raise InputError(
            f"--prevalence must be own, pooled, or LABEL=SHARE for each class; got {shown(' '.join(words))}."
        ) from None


def _of_labels(shares: Any, known: dict[str, Any]) -> Any:
    """The same by the labels themselves."""
    if isinstance(shares, str):
        return shares
    return {label_of(text, known): share for text, share in shares.items()}


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
    """Scores at the exponents of the demonstration."""
    return door.score(t=EXPONENTS, **asked)


def _ranking(scores: pd.DataFrame) -> str:
    """Which model is best at each exponent, in words."""
    best = "; ".join(f"{t:g}: {scores[t].idxmax()}" for t in EXPONENTS)
    return f"Best at t = {best}."


def _gap(scores: pd.DataFrame) -> float:
    """Largest difference of accuracy between groups."""
    return float(scores[1.0].max() - scores[1.0].min())


def _table(table: pd.DataFrame) -> str:
    """A table as text of three decimals."""
    lines = table.to_string(float_format="{:.3f}".format).splitlines()
    return "\n".join(line.rstrip() for line in lines)
