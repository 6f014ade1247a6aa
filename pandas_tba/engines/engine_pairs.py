"""Combinations of two models each -> PairedCounts.

Models in columns are counted in one pass, from which the labels come too.  Models in rows take two:
the first finds models and labels, the second puts the rows of each case beside each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.paired import PairedCounts
from pandas_tba.engines.combinations import (
    Combinations,
    Levels,
    Lines,
    Question,
    Tables,
    labels_of,
    question_of,
    tally_of,
)
from pandas_tba.engines.pandas_pairs import (
    Faults,
    Models,
    check_cases,
    check_complete,
    check_keys,
    check_models,
    counts_of_pairs,
    models_in_columns,
    models_in_rows,
    pair_frame,
    with_row,
)
from pandas_tba.engines.partitions import (
    cases_of_partitions,
    combinations_of_partitions,
    without_rows,
)
from pandas_tba.engines.queries import cases_of_query, combinations_of_query, query_of
from pandas_tba.engines.streams import frame_of_arrow, names_and_types, without_rows_of
from pandas_tba.frames.codes import encode
from pandas_tba.frames.columns import Columns
from pandas_tba.frames.labels import LabelSet
from pandas_tba.frames.lookup import Key, column_of
from pandas_tba.frames.values import positions

Codes = npt.NDArray[np.intp]


def question_of_pairs(
    empty: pd.DataFrame, columns: Columns, row: Hashable | None, by: Any
) -> Question:
    """Check the names against a frame without rows; the last key is `row`, if that is named."""
    check_models(columns.roles, row)
    if row is not None:
        column_of(empty, "row", row)
        by = with_row(by, row)
    question = question_of(empty, columns, by)
    check_keys(question.bound)
    tables = question.tables if row is not None else _each_two(question.tables)
    return question._replace(tables=tables, has_pairs=True)


def _each(n_models: int) -> Tables:
    """One table for each model."""
    return tuple((at,) for at in range(n_models))


def _each_two(tables: Tables) -> Tables:
    """One table for each two models."""
    return tuple(first + second for first, second in itertools.combinations(tables, 2))


def pairs_in_columns(
    found: Combinations, question: Question, *, dropna: bool, observed: bool
) -> PairedCounts:
    """Counts of pairs from combinations of each two columns of predictions."""
    alone, about = _alone(found, question)
    labels, true_at, predicted_at = labels_of(alone, about)
    models, places = models_in_columns(question.columns), [true_at, *predicted_at]
    joint = _joint(found, question, labels, places)
    n_missing = found.n_rows - _complete_cases(found)
    return _count_joint(
        joint, question, models, labels, n_missing, dropna=dropna, observed=observed
    )


def _alone(found: Combinations, question: Question) -> tuple[Combinations, Question]:
    """Truth and each prediction, as if these had been counted alone and without groups."""
    n_keys, n_models = len(question.bound.keys), len(question.bound.predictions)
    lines = []
    for model in range(n_models):
        at = next(at for at, table in enumerate(question.tables) if model in table)
        column = n_keys + 1 + question.tables[at].index(model)
        lines.append(Lines(found.lines[at].codes[:, [n_keys, column]], found.lines[at].quantities))
    about = question._replace(bound=question.bound._replace(keys=[]), tables=_each(n_models))
    return replace(found, levels=found.levels[n_keys:], lines=tuple(lines)), about


def pair_arrow(
    data: Any, columns: Columns, *, row: Hashable, by: Any, dropna: bool, observed: bool
) -> PairedCounts:
    """Counts of pairs of models in rows of Arrow, whose columns needed are held in memory."""
    empty = without_rows_of(names_and_types(data))
    needed = question_of_pairs(empty, columns, row, by).needed()
    frame = frame_of_arrow(data, needed)
    return pair_frame(frame, columns, row=row, by=by, dropna=dropna, observed=observed)


def pair_dask(
    frame: Any, columns: Columns, *, row: Hashable, by: Any, dropna: bool, observed: bool
) -> PairedCounts:
    """Counts of pairs of models in rows of a Dask frame."""
    question = question_of_pairs(without_rows(frame), columns, row, by)
    count = partial(combinations_of_partitions, frame)
    put_beside = partial(cases_of_partitions, frame, question)
    return _pairs_in_rows(question, count, put_beside, dropna=dropna, observed=observed)


def pair_in_engine(
    frame: Any, columns: Columns, *, row: Hashable, by: Any, dropna: bool, observed: bool
) -> PairedCounts:
    """Counts of pairs of models in rows of a frame that narwhals knows."""
    query = query_of(frame, partial(question_of_pairs, columns=columns, row=row, by=by))
    if not hasattr(query.held, "collect"):  # it lies in memory
        names = {query.plain[name]: name for name in query.question.needed()}
        held = query.held.select(*names).to_pandas().rename(columns=names)
        return pair_frame(held, columns, row=row, by=by, dropna=dropna, observed=observed)

    def count(question: Question) -> Combinations:
        return combinations_of_query(query._replace(question=question))

    put_beside = partial(cases_of_query, query)
    return _pairs_in_rows(query.question, count, put_beside, dropna=dropna, observed=observed)


def _pairs_in_rows(
    question: Question,
    count: Callable[[Question], Combinations],
    put_beside: Callable[[Models, Question], tuple[Combinations, Faults]],
    *,
    dropna: bool,
    observed: bool,
) -> PairedCounts:
    """Counts of pairs where an engine can count rows, and put those of a case beside each other."""
    model, *keys, row = question.bound.keys
    per_model = question._replace(by=None, bound=question.bound._replace(keys=[model]))
    rows = count(per_model)
    labels, true_at, predicted_at = labels_of(rows, per_model)
    models, n_rows = _models_of(rows, question), _complete_cases(rows)
    cases, about = _no_cases(question), _about_cases(question, models)
    if n_rows:
        cases, faults = put_beside(models, about)
        check_complete("row", row.name, faults.no_row, n_rows)
        check_cases(faults, row.name, models, n_rows, len(keys))
    of_truth, *of_models = cases.levels[len(keys) :]
    places = [_places_of_labels(of_truth, rows.levels[1], true_at)]
    places += [_places_of_labels(levels, rows.levels[2], predicted_at[0]) for levels in of_models]
    joint = _joint(cases, about, labels, places)
    n_missing = rows.n_rows - n_rows
    return _count_joint(joint, about, models, labels, n_missing, dropna=dropna, observed=observed)


def _models_of(rows: Combinations, question: Question) -> Models:
    """The models that have rows, which all must say theirs."""
    levels, (codes, quantities) = rows.levels[0], rows.lines[0]
    n_missing = int(quantities[0][codes[:, 0] < 0].sum())
    check_complete("model", question.columns.model, n_missing, _complete_cases(rows))
    found = np.unique(codes[:, 0])
    return models_in_rows(levels.values.take(found).tolist(), levels.order)


def _about_cases(question: Question, models: Models) -> Question:
    """The question about cases that one about rows leads to, with a prediction for each model."""
    names, tables = models.values.tolist(), _each(len(models.values))
    bound = question.bound._replace(
        keys=question.bound.keys[1:-1], predictions=dict.fromkeys(names)
    )
    return question._replace(bound=bound, tables=_each_two(tables) or tables)


def _no_cases(question: Question) -> Combinations:
    """Combinations without lines; the keys declare what their dtypes do."""
    keys = [encode(key.values) for key in question.bound.keys[1:-1]]
    levels = [Levels(part.levels(), part.declared()) for part in keys]
    return Combinations((*levels, Levels(pd.RangeIndex(0), None)), (), 0, {})


def _places_of_labels(levels: Levels, known: Levels, place: Codes) -> Codes:
    """Where levels stand in the label set, as the same values of other levels do."""
    return place[positions(levels.values.tolist(), known.values.tolist())]


def _joint(
    found: Combinations, question: Question, labels: LabelSet, places: Sequence[Codes]
) -> Combinations:
    """Combinations of keys, label and what both models predicted, given where their levels stand.

    Codes of true labels are places in the label set; of predictions they are one more, and 0 where
    a model has not scored the case. Those of two models are one code, the second running faster.
    """
    n_keys, size = len(question.bound.keys), len(labels.values) + 1
    true_at, *predicted_at = places
    lines = []
    for table, (codes, quantities) in zip(question.tables, found.lines, strict=True):
        first, second = (
            np.append(predicted_at[model], -1)[column] + 1
            for model, column in zip(table, codes.T[n_keys + 1 :], strict=True)
        )
        joint = [codes[:, :n_keys], true_at[codes[:, n_keys]], first * size + second]
        lines.append(Lines(np.column_stack(joint), quantities))
    if not lines:  # without rows there may be no models: count no pair then
        dtypes = (
            [np.int64] if question.bound.weights is None else [np.int64, np.float64, np.float64]
        )
        nothing = np.zeros((0, n_keys + 2), dtype=np.intp)
        lines = [Lines(nothing, tuple(np.zeros(0, dtype=dtype) for dtype in dtypes))]
    sizes = [size - 1, *[size**2] * len(lines)]
    ranges = (Levels(pd.RangeIndex(each), None) for each in sizes)
    return replace(found, levels=(*found.levels[:n_keys], *ranges), lines=tuple(lines))


def _count_joint(
    joint: Combinations,
    question: Question,
    models: Models,
    labels: LabelSet,
    n_missing: int,
    *,
    dropna: bool,
    observed: bool,
) -> PairedCounts:
    """The paired counts that joint combinations make."""
    found, encoded = tally_of(joint, question)
    n_labels = len(labels.values)
    places = [np.arange(n_labels), *[np.arange(-1, n_labels)] * len(models.values)]
    keys = [
        Key(key.name, part.levels())
        for key, part in zip(question.bound.keys, encoded, strict=False)
    ]
    return counts_of_pairs(
        question.bound._replace(keys=keys),
        found,
        encoded,
        models,
        labels,
        places,
        n_missing,
        dropna=dropna,
        observed=observed,
    )


def _complete_cases(found: Combinations) -> int:
    """Rows that have every value."""
    return int(found.lines[0].quantities[0].sum())
