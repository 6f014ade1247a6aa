"""Run the studies and print the table of what was found."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from . import gates, groups, mutations, pairs, searched, single_metrics, slope, weights
from .findings import SMOOTH

PARTS = (single_metrics, searched, slope, pairs, groups, gates, weights)
STUDIES = tuple(study for part in PARTS for study in part.STUDIES)
HEADS = ("what", "designs", "nominal %", "found %", "worst cell %", "samples", "sides", "holds")


def as_row(line):
    """A line of the Markdown table."""
    what = f"{line.study}: {line.what}" if line.what else line.study
    nominal, found, worst, n, holds, sides, is_known = line.finding
    verdict = "yes" if holds else "**no**, known" if is_known else "**no**"
    cells = (what, line.population, nominal, found, worst, f"{n:,}", sides, verdict)
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def as_table(lines):
    """The whole table."""
    return "\n".join([f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}", *map(as_row, lines)])


def summarize(lines):
    """How many lines hold, and how to read the sides."""
    found, bar = [line.finding for line in lines], SMOOTH
    held, known, uneven = (
        sum(of)
        for of in zip(*((f.holds, f.is_known, f.sides == "uneven") for f in found), strict=True)
    )
    return (
        f"{held} of {len(lines)} lines hold; {known} fall short by a little that is known. The two "
        "misses say how often the truth lies below the low limit, and above the high one. In "
        f"{uneven} lines these are uneven: one side misses more than {bar.side_mean} % on average or "
        f"{bar.side_most} % in a cell, yet at most {bar.uneven_mean} % and {bar.uneven_most} %, as "
        "Wilson's limits of a plain share near 0 or 1 do."
    )


def parse(argv):
    """Arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="fewer samples, wider bars")
    parser.add_argument("--only", default="", help="studies whose name or designs hold this text")
    parser.add_argument("--share", type=float, default=1.0, help="of the samples, for a first look")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--write", type=Path, help="file that takes the table")
    parser.add_argument("--mutate", choices=mutations.NAMES, help="break a method first")
    return parser.parse_args(argv)


def run_all(studies, arguments):
    """Lines of each study in turn, with its seconds on the error stream."""
    one = partial(
        mutations.run_mutated,
        mutation=arguments.mutate,
        is_short=arguments.short,
        share=arguments.share,
    )
    with ProcessPoolExecutor(arguments.jobs) as pool:
        results = pool.map(one, studies) if arguments.jobs > 1 else map(one, studies)
        for study, (lines, seconds) in zip(studies, results, strict=True):
            print(f"{study.name}, {study.population}: {seconds:.0f} s", file=sys.stderr, flush=True)
            yield from lines


def main(argv=None):
    """Print the table as Markdown; 1 where a line does not hold that was not known to."""
    arguments = parse(argv)
    studies = [
        study
        for study in STUDIES
        if arguments.only in f"{study.name}, {study.population}"
        and (study.short or not arguments.short)
    ]
    if not studies:
        raise SystemExit(f"no study has {arguments.only!r} in its name")
    lines = list(run_all(studies, arguments))
    table = as_table(lines)
    summary = summarize(lines)
    print(table, summary, sep="\n\n")
    if arguments.write:
        arguments.write.write_text(f"{table}\n\n{summary}\n", encoding="utf-8")
    return 0 if all(line.finding.holds or line.finding.is_known for line in lines) else 1
