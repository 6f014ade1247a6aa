"""Verdicts of `check` where the truth lies at the limit of a rule, or on its other side."""

from typing import NamedTuple

import pandas_tba as tba

from .designs import draw_rows
from .findings import VERDICT, Rate
from .groups import Family, family, one_low
from .studies import Study


class Gate(NamedTuple):
    """Groups, a rule with its limit, and whether they keep it, break it, or lie at the limit."""

    groups: Family
    rule: str
    limit: float | None  # None: the true value
    truth: str  # "keeps", "breaks", or "at" the limit


def equal(n_groups, n):
    """Equal groups of a common class and one of a fifth of the rows."""
    sizes = (n - n // 5, n // 5)
    return family(f"{n_groups} of {sizes[0]}/{sizes[1]}", (n_groups, sizes, (0.9, 0.8)))


def apart(n_groups, n, gap):
    """The first group lies below all others by so much in both classes."""
    return one_low(equal(n_groups, n), (round(0.9 - gap, 3), round(0.8 - gap, 3)))


GATES = (
    *(Gate(equal(1, n), "min_score", None, "at") for n in (100, 500, 2000)),
    Gate(equal(10, 200), "min_score", None, "at"),
    *(Gate(apart(g, n, 0.1), "max_gap", 0.05, "breaks") for g in (2, 10) for n in (100, 500)),
    *(Gate(equal(g, n), "max_gap", 0.05, "keeps") for g in (2, 10) for n in (100, 500)),
    *(Gate(apart(g, n, 0.1), "max_gap", None, "at") for g in (2, 10) for n in (100, 500)),
    *(Gate(apart(g, 500, 0.2), "min_ratio", 0.8, "breaks") for g in (2, 10)),
    *(Gate(equal(g, n), "min_ratio", 0.8, "keeps") for g in (2, 10) for n in (50, 500)),
    *(Gate(apart(g, 500, 0.1), "min_ratio", None, "at") for g in (2, 10)),
)


def verdicts(gate, counts, **options):
    """The verdict of each sample: fail where any group fails, pass where all pass."""
    table = tba.check(counts, t=0.5, **options).table
    table = table[table["rule"] == gate.rule]
    groups = table["status"].groupby(table["model"])
    return groups.agg(lambda of: "fail" if "fail" in set(of) else ", ".join(sorted(set(of))))


def true_value(gate):
    """What the rule judges, in the truth."""
    counts = gate.groups.counts(gate.groups.truth)
    table = tba.check(counts, t=0.5, **{gate.rule: 0.5}).table
    return table.loc[table["rule"] == gate.rule, "value"].iloc[0]


def measure_gate(gate, n_samples, generator, *, at_once=200):
    """How often a gate passes what it should not, and fails what it should not."""
    limit = true_value(gate) if gate.limit is None else gate.limit
    name, found = f"{gate.groups.name}, {gate.rule} {limit:.3f}", []
    for start in range(0, n_samples, at_once):
        n = min(at_once, n_samples - start)
        cells = draw_rows(gate.groups.sizes, gate.groups.recalls, n, generator)
        found += verdicts(gate, gate.groups.samples(cells), **{gate.rule: limit}).tolist()
    passes, fails = (Rate(name, n_samples, found.count(word)) for word in ("pass", "fail"))
    where = {"at": "at the limit", "keeps": "inside", "breaks": "outside"}[gate.truth]
    wrong = {}
    if gate.truth != "keeps":
        wrong[f"{gate.rule} passes {where}"] = passes
    if gate.truth != "breaks":
        wrong[f"{gate.rule} fails {where}"] = fails
    return wrong


STUDIES = (
    Study("check, level=0.95", "22 gates of 1, 2 and 10 groups", GATES, measure_gate, 2_000,
          VERDICT, short=200, short_designs=(*GATES[:4], *GATES[4:14:3])),
)  # fmt: skip
