"""Run the studies and print the table of what was found."""

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from . import (
    clusters,
    gates,
    groups,
    mutations,
    pairs,
    searched,
    shrinkage,
    single_metrics,
    slope,
    weights,
)

PARTS = (
    single_metrics, searched, slope, shrinkage, pairs, groups, gates, weights, clusters
)  # fmt: skip
STUDIES = tuple(study for part in PARTS for study in part.STUDIES)
HEADS = ("what", "designs", "nominal %", "found %", "worst cell %", "samples", "holds")


def as_row(line):
    """A line of the Markdown table."""
    what = f"{line.study}: {line.what}" if line.what else line.study
    nominal, found, worst, n, holds = line.finding
    cells = (what, line.population, nominal, found, worst, f"{n:,}", "yes" if holds else "**no**")
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def as_table(lines):
    """The whole table."""
    return "\n".join([f"| {' | '.join(HEADS)} |", f"|{' --- |' * len(HEADS)}", *map(as_row, lines)])


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
    """Print the table as Markdown; 1 where a line does not hold."""
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
    print(table)
    if arguments.write:
        arguments.write.write_text(table + "\n", encoding="utf-8")
    missed = [line for line in lines if not line.finding.holds]
    print(f"\n{len(lines) - len(missed)} of {len(lines)} lines hold.")
    return 1 if missed else 0
