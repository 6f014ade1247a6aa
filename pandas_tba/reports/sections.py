"""Counts -> the sections of a report: each a few words, a table to work with and one to read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.paired import PairedCounts
from pandas_tba.errors import counted, listed
from pandas_tba.questions.disparities import disparity, gap
from pandas_tba.questions.exponents import crossings
from pandas_tba.questions.intervals import interval
from pandas_tba.questions.models import compare
from pandas_tba.questions.scores import confusion_matrix, metrics, per_class, undefined
from pandas_tba.questions.slices import slices
from pandas_tba.reports.views import (
    DASH,
    Cell,
    View,
    by_t,
    limits_text,
    number_text,
    one_line,
    transpose,
    view_of,
    view_of_pairs,
)
from pandas_tba.scoring.metrics import METRICS
from pandas_tba.scoring.results import Prevalence, class_prevalence, of_classes
from pandas_tba.scoring.tempering import majority_score, ratio

_FEW_ROWS = 5  # of a class, below which the intervals hold the true value too seldom
_MOST_CROSSED = 8  # groups, each with each
_AT_LEAST = {"bound_low": "at least", "bound_high": "at most"}
_MOST_CELLS = 10_000  # of confusion matrices, to read


@dataclass(frozen=True)
class Section:
    """A part of a report: what it is called, its words, its table, and that table as people read it."""

    name: str
    title: str
    words: tuple[str, ...]
    frame: pd.DataFrame
    view: View


@dataclass(frozen=True)
class ReportData:
    """What a report is made from: the counts by group, those without groups, pairs, t and shares."""

    counts: ConfusionCounts
    pairs: PairedCounts | None
    exponents: list[float]
    prevalence: Prevalence
    whole: ConfusionCounts = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "whole", self.counts.pooled())

    @property
    def t(self) -> float:
        """The first exponent: that of comparisons, gaps and slices."""
        return self.exponents[0]

    @property
    def common(self) -> Prevalence:
        """Class shares that groups are compared with."""
        is_own = isinstance(self.prevalence, str) and self.prevalence == "own"
        return "pooled" if is_own else self.prevalence

    @property
    def keys(self) -> tuple[Any, ...]:
        """Names of the keys, the model apart."""
        return self.counts.key_groups.names[self.counts.key_groups.has_model :]

    @property
    def n_models(self) -> int:
        """Models; 0 where none is named."""
        return len(self.whole) if self.counts.key_groups.has_model else 0

    @property
    def n_groups(self) -> int:
        """Groups that some model has; 0 where there are no keys."""
        first = int(self.counts.key_groups.has_model)
        places = list(range(first, first + len(self.keys)))
        return len(self.counts.key_groups.keep(places).in_order()[0]) if places else 0


def sections_of(data: ReportData) -> list[Section]:
    """Sections in their order, those without content left out."""
    found = [_data_section(data), _overall_section(data)]
    found += [_models_section(data)] if data.pairs is not None else []
    if data.n_models > 1 or 1 < data.n_groups <= _MOST_CROSSED:
        found.append(_crossings_section(data))
    if data.keys:
        found += [_groups_section(data), _gaps_section(data), _disparity_section(data)]
    found += [_slices_section(data)] if len(data.keys) > 1 else []
    found += [
        _classes_section(data),
        _confusion_section(data),
        _metrics_section(data),
        _undefined_section(data),
    ]
    found.append(_methods_section(data))
    return [_summary_section(data, {section.name: section for section in found}), *found]


def _data_section(data: ReportData) -> Section:
    """What was counted: rows, classes, models, groups."""
    counts, whole = data.counts, data.whole
    rows = int(whole.rows.max(initial=0))
    facts: dict[str, Any] = {"rows": f"{rows:,}"}
    if counts.is_weighted:
        facts["weight"] = f"{float(whole.weight.max(initial=0)):,.6g}"
    left_out = ", ".join(
        f"{one_line(name)}: {number:,}"
        for name, number in counts.missing_by_column.items()
        if number
    )
    facts["rows left out"] = f"{counts.n_missing:,}" + (f" ({left_out})" if left_out else "")
    classes = counts.label_set.classes
    facts["classes"] = f"{len(classes):,}{'' if counts.declared else ', those that occur'}"
    if counts.pos_label is not None:
        facts["positive class"] = one_line(counts.pos_label)
    others = [label for label in counts.label_set.values if label not in classes]
    if others:
        facts["only predicted"] = listed(others)
    if data.n_models:
        facts["models"] = f"{data.n_models:,}"
    if data.keys:
        facts["groups"] = f"{data.n_groups:,} by {', '.join(map(one_line, data.keys))}"
    frame = pd.DataFrame({"value": facts.values()}, index=pd.Index(facts, name="what"), dtype="str")
    return Section("data", "Data", (), frame, view_of_pairs(facts.items()))


def _overall_section(data: ReportData) -> Section:
    """Scores of all rows at each t, with limits and what guessing scores."""
    frame = interval(data.whole, t=data.exponents, prevalence=data.prevalence)
    level = frame.attrs["tba"].get("level", 0.95)
    view = by_t(frame, data.exponents, first=["n"])
    chance = 1 / max(len(data.counts.label_set.classes), 1)
    frame = frame.assign(majority=_majority_scores(data), chance=chance)
    words = [
        (
            "The score is the mean recall (share found) of the classes, weighted by (class share)"
            "**t: t = 1 is accuracy, t = 0 counts all classes alike, below 0 the rarest count most. "
            f"In brackets: the limits that hold the true value with {level:.0%} confidence."
        ),
        (
            f"For comparison: guessing at random scores {number_text(chance)}, and always "
            f"answering the largest class {_majority_text(data, frame, len(data.exponents))}."
        ),
    ]
    return Section("overall", "Overall", tuple(words), frame, view)


def _majority_scores(data: ReportData) -> npt.NDArray[np.float64]:
    """Score of always answering the largest class, for each row of the overall table."""
    whole = data.whole
    support, hits = of_classes(whole, whole.support), of_classes(whole, whole.hits)
    share = np.broadcast_to(class_prevalence(whole, data.prevalence, support), support.shape)
    scores = [majority_score(ratio(hits, support), share, t) for t in data.exponents]
    return np.stack(scores, axis=1).reshape(-1)


def _majority_text(data: ReportData, overall: pd.DataFrame, n_exponents: int) -> str:
    """Scores of always answering the largest class, in words."""
    pairs = zip(data.exponents[:n_exponents], overall["majority"].tolist(), strict=False)
    return ", ".join(f"{number_text(score)} at t = {t:g}" for t, score in pairs)


def _groups_section(data: ReportData) -> Section:
    """Scores of each group at each t, with notes."""
    counts = data.counts
    frame = interval(counts, t=data.exponents, prevalence=data.prevalence)
    view = by_t(frame, data.exponents, first=["n", "min_support"])
    flags = tuple(Cell(text) for text in _group_notes(counts))
    if any(flag.text for flag in flags):
        rows = zip(view.rows, flags, strict=False)
        view = View(
            (*view.headers, "note"), view.n_keys, tuple((*row, flag) for row, flag in rows),
            view.n_more,
        )  # fmt: skip
    words = (
        (
            f"Scores with {_shares_text(data.prevalence)}. “Smallest class” is the number of rows of the "
            "group's rarest class, on which its score rests."
        ),
    )
    return Section("groups", "Groups", words, frame, view)


def _group_notes(counts: ConfusionCounts) -> list[str]:
    """What the reader must know of each group."""
    rows = counts.class_rows[:, counts.is_class]
    classes = counts.label_set.classes
    found = []
    for group in rows:
        absent = [classes[k] for k in np.flatnonzero(group == 0)]
        if absent:
            found.append(f"no rows of {listed(absent)}")
        else:
            smallest = int(group.min(initial=_FEW_ROWS))
            found.append("few rows of a class" if smallest < _FEW_ROWS else "")
    return found


def _shares_text(prevalence: Prevalence) -> str:
    """Whose class shares weigh, in words."""
    if isinstance(prevalence, str):
        return {
            "own": "each group's own class shares",
            "pooled": "the class shares of all groups together",
        }[prevalence]
    return "the given class shares"


def _gaps_section(data: ReportData) -> Section:
    """Distance from the worst to the best group, beside that of equal groups."""
    frame = gap(data.counts, t=data.exponents, prevalence=data.common)
    columns = ["gap", "low", "high", "expected_if_equal", "p_value", "worst", "best", "reason"]
    if frame["gap"].isna().any():
        columns[1:1] = ["bound_low", "bound_high"]
    words = (
        (
            f"The gap is the distance between the best and the worst group, with {_shares_text(data.common)}, "
            "so that it depends on recalls and not on the class mix. Small groups differ by chance alone: "
            "“expected if equal” is the mean gap of groups of these sizes with equal recalls, and p "
            "how often such groups show a gap as large. Low and high are 95 % limits of the gap."
        ),
    )
    return Section(
        "gaps", "Gaps between groups", words, frame, view_of(frame, columns, headers=_AT_LEAST)
    )


def _disparity_section(data: ReportData) -> Section:
    """Each group against all rows."""
    frame = disparity(data.counts, t=data.t, prevalence=data.common)
    columns = ["n", "difference", "ratio", "p_adjusted", "rate_part", "mix_part", "reason"]
    words = (
        (
            f"Each group's score at t = {data.t:g} less that of all rows, with "
            f"{_shares_text(data.common)}. The rate part and the mix part sum to the difference under each "
            "side's own shares: recalls differ, and class shares differ."
        ),
    )
    return Section("disparity", "Groups against all rows", words, frame, view_of(frame, columns))


def _models_section(data: ReportData) -> Section:
    """Each pair of models on the same rows."""
    assert data.pairs is not None
    frame = compare(data.pairs, t=data.t, prevalence=for_pairs(data.prevalence))
    columns = ["n", "difference", "p_value", "p_adjusted", "discordant", "n_unpaired", "reason"]
    if not frame["n_unpaired"].any():
        columns.remove("n_unpaired")
    words = (
        (
            f"Model A less model B at t = {data.t:g}, on the same rows. “Discordant” rows are those that "
            "only one of the two gets right. p tests whether the two have equal recall in every class; "
            "the limits are those of the difference itself."
        ),
    )
    return Section("models", "Models compared", words, frame, view_of(frame, columns))


def for_pairs(prevalence: Prevalence) -> Prevalence:
    """Class shares of models compared: without groups, the own ones are those of all."""
    return "own" if isinstance(prevalence, str) else prevalence


def _crossings_section(data: ReportData) -> Section:
    """Every t at which models, or groups, swap rank."""
    if data.n_models > 1:
        frame = crossings(data.whole, prevalence=for_pairs(data.prevalence))
        sides = "models"
    else:
        frame = crossings(data.counts, between="groups", prevalence=data.common)
        sides = "groups"
    columns = ["t_star", "kind", "better_below", "better_above", "dominates", "reason"]
    words = (
        (
            f"Every t at which two {sides} have the same score, and so swap places in a ranking. Where there "
            "is none, one dominates: it is better at every t."
        ),
    )
    shown = frame.droplevel("root")
    return Section("crossings", f"Where {sides} swap rank", words, frame, view_of(shown, columns))


def _slices_section(data: ReportData) -> Section:
    """Combinations of keys, the lowest score first."""
    frame = slices(data.counts, t=data.t, depth=2)
    columns = ["slice", "n", "min_support", "score", "difference", "p_adjusted", "reason"]
    words = (
        (
            f"Combinations of at most two keys, the lowest score at t = {data.t:g} first, against all other "
            "rows; p is adjusted for all slices of the table. The lowest scores are often those of small "
            "slices."
        ),
    )
    return Section("slices", "Weak slices", words, frame, view_of(frame, columns, most=200))


def _classes_section(data: ReportData) -> Section:
    """Metrics of each class against the rest."""
    frame = per_class(data.whole, metrics=["prevalence", "recall", "precision", "f1"])
    columns = ["support", "prevalence", "recall", "precision", "f1"]
    if not frame["is_class"].all():
        columns.insert(0, "is_class")
    words = (
        (
            "Recall is the share of a class that is found, precision the share of its predictions that are "
            "right, f1 their harmonic mean."
        ),
    )
    return Section("per_class", "Classes", words, frame, view_of(frame, columns, most=500))


def _confusion_section(data: ReportData) -> Section:
    """Confusion matrices, unless too large to read."""
    counts = data.whole
    words = "Rows are true labels, columns predicted ones: rows of the data, or their weight."
    if len(counts) * len(counts.label_set.values) ** 2 > _MOST_CELLS:
        words = f"There are {len(counts.label_set.values):,} labels: too many for a matrix to read."
        return Section("confusion", "Confusion", (words,), pd.DataFrame(), View((), 0, ()))
    frame = confusion_matrix(counts)
    return Section("confusion", "Confusion", (words,), frame, view_of(frame))


def _metrics_section(data: ReportData) -> Section:
    """Every metric of all rows."""
    frame = metrics(data.whole, t=data.t)
    words = (f"All without groups; tba, tba_slope and majority at t = {data.t:g}.",)
    return Section("metrics", "Other metrics", words, frame, transpose(view_of(frame)))


def _undefined_section(data: ReportData) -> Section:
    """Every undefined value, and why."""
    words = [f"What the data do not define is left open ({DASH}) and never counted as 0."]
    frame = undefined(data.whole, t=data.exponents)
    if data.keys:
        words += [_undefined_text(frame)] if len(frame) else []
        frame = undefined(data.counts, metrics="tba", t=data.exponents)
    if frame.empty:
        words.append(f"All {'scores of the groups' if data.keys else 'values'} are defined.")
    return Section(
        "undefined",
        "What is undefined, and why",
        tuple(words),
        frame,
        _view_or_none(frame, most=500),
    )


def _undefined_text(frame: pd.DataFrame) -> str:
    """Metrics that are undefined without groups, in words."""
    pairs = dict.fromkeys(f"{row.metric} ({row.reason})" for row in frame.itertuples())
    return f"Without groups: {_join_texts(list(pairs)[:10], len(pairs))}."


def _view_or_none(frame: pd.DataFrame, most: int) -> View:
    """The view of a table; an empty one of a table without rows."""
    return View((), 0, ()) if frame.empty else view_of(frame, most=most)


_METHODS = (
    (
        "score",
        ("sum over classes of w_k r_k: r_k is the recall of class k, w_k = p_k**t / sum of p_j**t its "
        "weight, p_k its share of the rows. A class without rows has no recall: where it has weight "
        "the score is undefined."),
        "Brodersen et al. 2010, doi:10.1109/ICPR.2010.764 (t = 0)",
    ),
    (
        "limits of scores",
        ("Wilson's interval of one proportion, at the number of rows of one proportion that is as "
        "uncertain as the score. Rows count as independent: limits are too narrow where subjects repeat."),
        "Wilson 1927, doi:10.1080/01621459.1927.10502953",
    ),
    (
        "models compared",
        ("difference of recalls on the same rows, weighted; p is the exact two-sided mid-p of the "
        "discordant rows, for equal recalls in every class."),
        "Fagerland, Lydersen and Laake 2013, doi:10.1186/1471-2288-13-91",
    ),
    (
        "differences of groups",
        ("the limits join the Wilson limits of both sides; p is one less the level at which they "
        "exclude 0. Parts: rates at mean weights, and weights at mean rates."),
        ("Newcombe 1998, doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I; "
        "Kitagawa 1955, doi:10.1080/01621459.1955.10501299"),
    ),
    (
        "expected gap",
        ("mean gap of groups that are equal but for chance: the hits of each class shared out by lot "
        "among its rows."),
        "",
    ),
    ("crossings", "all real roots of sum over classes of d_k p_k**t, d_k the differences of recall.", ""),
    ("p (adjusted)", "p-values adjusted for all rows of their table: by draws of equal groups (Westfall and Young), and by the method of Holm where nothing is drawn.", "Westfall and Young 1993, ISBN 0-471-55761-7; Holm 1979, jstor.org/stable/4615733"),
)  # fmt: skip


_SIGNS = (
    (r"([_^])\{([^{}]*)\}", r"\1(\2)"),
    (r"\\sqrt\{([^{}]*)\}", r"sqrt(\1)"),
    (r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"(\1) / (\2)"),
    (r"\\sum", "sum"),
    (r"\\(\w+)", r"\1"),
)


def _methods_section(data: ReportData) -> Section:
    """How each number is computed, with references."""
    of_metrics = [
        (metric.name.replace("_", " "), _as_words(metric.formula), metric.reference)
        for metric in METRICS
        if metric.kind == "overall" or metric.name in ("recall", "precision", "f1")
    ]
    frame = pd.DataFrame(
        [*_METHODS, *of_metrics], columns=["what", "how", "reference"], dtype="str"
    )
    frame = frame.set_index("what")
    words = (
        (
            "In formulas h is the rows of a class that are predicted right, n its rows, q the rows "
            "predicted to be of it, K the number of classes; n without a class is all rows."
        ),
    )
    return Section("methods", "How each number is computed", words, frame, view_of(frame))


def _as_words(formula: str) -> str:
    """A formula of LaTeX as people type it; of fractions and roots, the inner ones first."""
    text = formula.replace(r"\left", "").replace(r"\right", "")
    for pattern, signs in _SIGNS:
        before = None
        while before != text:
            before, text = text, re.sub(pattern, signs, text)
    return re.sub(r"\((\w+)\)", r"\1", text)


def _summary_section(data: ReportData, found: dict[str, Section]) -> Section:
    """The findings as a list."""
    frame = pd.DataFrame({"finding": list(_findings(data, found))}, dtype="str")
    return Section("summary", "In short", tuple(frame["finding"]), frame, View((), 0, ()))


def _findings(data: ReportData, found: dict[str, Section]) -> Iterator[str]:
    """Sentences on the most important results of the other sections."""
    yield _best_text(data, found["overall"].frame)
    if "models" in found:
        yield _compared_text(data, found["models"].frame)
    if data.n_models > 1:
        yield _crossing_text(found["crossings"].frame)
    if "gaps" in found:
        yield from _gap_texts(data, found["gaps"].frame)
    n_absent = int((found["groups" if data.keys else "overall"].frame["n_absent"] > 0).sum())
    n_absent //= len(data.exponents)
    if n_absent:
        what = "group" if data.keys else "model" if data.n_models else "set of rows"
        yield (
            f"{counted(n_absent, what)} without rows of some class: scores that would rest on "
            "it are undefined, and stand apart in rankings."
        )


def _best_text(data: ReportData, overall: pd.DataFrame) -> str:
    """The best model, or the score at each t, in words."""
    at = overall.iloc[:: len(data.exponents)].reset_index(drop=True)
    if not at["score"].notna().any():
        return f"At t = {data.t:g} the score is undefined."
    best = int(at["score"].argmax())
    text = limits_text(*(float(at[name].iloc[best]) for name in ("score", "low", "high")))
    guess = f" Always answering the largest class scores {_majority_text(data, overall, 1)}."
    if data.n_models > 1:
        name = one_line(data.whole.groups[best])
        return (
            f"At t = {data.t:g}, {name} has the highest score of {data.n_models} models: {text}."
            f"{guess}"
        )
    others = zip(data.exponents[1:], overall["score"].iloc[1:], strict=True)
    more = "".join(f", at t = {t:g} {number_text(score)}" for t, score in others)
    return f"The score at t = {data.t:g} is {text}{more}.{guess}"


def _compared_text(data: ReportData, compared: pd.DataFrame) -> str:
    """Models that differ beyond chance, in words."""
    # p tests recalls and the limits the score: near a crossing the two need not agree
    apart = (compared["low"] > 0) | (compared["high"] < 0)
    sure = compared[apart & (compared["p_adjusted"] < 0.05)]
    if sure.empty:
        return f"No two models score apart at t = {data.t:g} beyond what chance can do (Holm, 5 %)."
    texts = []
    for pair, difference in sure["difference"].head(3).to_dict().items():
        first, second = tuple[Any, Any](pair)  # type: ignore[arg-type]
        better, worse = (first, second) if difference > 0 else (second, first)
        texts.append(
            f"{one_line(better)} beats {one_line(worse)} by {number_text(abs(difference))}"
        )
    return (
        f"{_join_texts(texts, len(sure))} at t = {data.t:g}, beyond what chance can do (Holm, 5 %)."
    )


def _crossing_text(found: pd.DataFrame) -> str:
    """Where models swap rank, in words."""
    crossed = found[found["kind"] == "cross"]
    if crossed.empty:
        return "The ranking of the models is the same at every t."
    texts = [
        f"{one_line(row.better_below)} and {one_line(row.better_above)} at t = {row.t_star:.3f}"
        for row in crossed.head(3).itertuples()
    ]
    return f"Models swap rank: {_join_texts(texts, len(crossed))} (the first is better below it)."


def _join_texts(texts: list[str], total: int) -> str:
    """Some texts, and how many more there are."""
    more = [f"{total - len(texts):,} more"] if total > len(texts) else []
    return "; ".join([*texts, *more])


def _gap_texts(data: ReportData, found: pd.DataFrame) -> Iterator[str]:
    """The gap of each model, in words."""
    at = found.iloc[:: len(data.exponents)]
    row: Any
    for place, row in enumerate(at.head(3).itertuples()):
        who = f"{one_line(data.whole.groups[place])}: " if data.n_models else ""
        if np.isnan(row.gap):
            least, most = number_text(row.bound_low), number_text(row.bound_high)
            yield (
                f"{who or 'All rows: '}the gap between groups at t = {data.t:g} is undefined, "
                f"{row.reason}; it lies between {least} and {most}."
            )
            continue
        if row.gap == 0:
            none = f"{who}no group" if who else "No group"
            yield f"{none} scores above another at t = {data.t:g}."
            continue
        chance = "" if np.isnan(row.p_value) else (
            f"; equal groups would show {number_text(row.expected_if_equal)} "
            f"(p {_p_text(row.p_value)})"
        )  # fmt: skip
        yield (
            f"{who}{one_line(row.worst)} scores {number_text(row.gap)} below {one_line(row.best)} "
            f"at t = {data.t:g}{chance}."
        )


def _p_text(value: float) -> str:
    """A p-value with its sign of comparison."""
    text = number_text(value, "p_value")
    return f"< {text[1:]}" if text.startswith("<") else f"= {text}"
