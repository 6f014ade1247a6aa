"""How many rows hold each combination of keys and labels -> ConfusionCounts.

This is all that an engine, a partition or a batch hands back.  Combinations of several parts add
up; the labels get their meaning only at the end, from the same functions as those of a frame.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from numbers import Real
from operator import add
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.counts.groups import grouped_keys
from pandas_tba.counts.storage import Entries, gathered
from pandas_tba.engines.kernel import Tally
from pandas_tba.engines.pandas_frames import label_places
from pandas_tba.errors import InputError, KindError
from pandas_tba.frames.checks import (
    MOST_VALUES,
    NO_BAD_WEIGHTS,
    BadWeights,
    check_labels,
    joined_bad_weights,
    missing_error,
    number_error,
    weight_error,
)
from pandas_tba.frames.codes import ColumnCodes, StoredCodes, encode_labels, hashed, narrowest
from pandas_tba.frames.columns import Columns, Roles
from pandas_tba.frames.labels import LabelSet
from pandas_tba.frames.lookup import Bound, Key, bound_columns, warn_many_numbers
from pandas_tba.frames.schema import (
    Distinct,
    distinct_labels,
    distinct_numbers,
    faults_among,
    with_all_faults,
)
from pandas_tba.frames.values import plain_index, positions

Array = npt.NDArray[Any]
Codes = npt.NDArray[np.intp]

_PENDING = 1 << 14  # combinations that wait until they are added up

Tables = tuple[tuple[int, ...], ...]  # the predictions that are counted together, by their places


class Question(NamedTuple):
    """What is counted: the columns bound, on a frame of their dtypes that has no rows.

    ``tables`` has each prediction alone, or each two of them where models are paired. Errors about
    pairs name the first fault alone.
    """

    columns: Roles
    by: Any
    bound: Bound
    tables: Tables
    has_pairs: bool = False

    def column_of_key(self, key: Key) -> Hashable:
        """Name of the column that holds a key."""
        is_model = self.columns.model is not None and key.name == "model"
        return self.columns.model if is_model else key.name

    def needed(self) -> list[Hashable]:
        """Names of all columns that are read, each once."""
        names = [name for name, _ in self.bound.labelled()]
        names += [self.column_of_key(key) for key in self.bound.keys]
        names += [] if self.bound.weights is None else [self.bound.weights[0]]
        return list(dict.fromkeys(names))


class Levels(NamedTuple):
    """The values that codes of one column point to, and the order that the column declares."""

    values: pd.Index
    order: tuple[Hashable, ...] | None


class Lines(NamedTuple):
    """N combinations of keys, true and predicted labels, and their number in each quantity (N,).

    ``codes`` (N, keys + 1 + predictions) point into the levels; -1 is the missing key, and where a
    model has not scored a case.
    """

    codes: Codes
    quantities: tuple[Array, ...]


@dataclass(frozen=True)
class Combinations:
    """Lines for each table of the question, from the rows that have every label and weight.

    ``levels`` are those of the keys, of truth and of each prediction.  ``n_rows`` are all rows
    seen, ``missing`` the rows without a value by column, ``no_numbers`` the columns of scores and
    weights that hold something else.  Where missing values are an error, ``bad_weights`` are those
    of all rows, and ``uncounted`` the rows of each true label and each prediction that stand in no
    line; otherwise faults of incomplete rows are no faults.
    """

    levels: tuple[Levels, ...]
    lines: tuple[Lines, ...]
    n_rows: int
    missing: dict[Hashable, int]
    bad_weights: BadWeights = NO_BAD_WEIGHTS
    no_numbers: frozenset[Hashable] = frozenset()
    uncounted: tuple[Array, ...] = ()


Ask = Callable[[pd.DataFrame], Question]  # of a frame without rows that has the columns of the data


def question_of(empty: pd.DataFrame, columns: Columns, by: Any) -> Question:
    """Check the names against a frame without rows that has the columns of the data."""
    roles = columns.roles
    if roles.schema is not None:
        raise InputError(
            "`schema` runs on pandas frames alone. Leave it out here, and validate the data in the "
            "engine that holds them."
        )
    for item in by if isinstance(by, list) else [by]:
        if not isinstance(item, (str, Real, tuple, type(None))):
            raise KindError(
                f"`by` must hold names of columns, since the rows stay in their engine; got "
                f"{type(item).__name__}. Make it a column of the data first."
            )
    bound = bound_columns(empty, roles, by)
    return Question(roles, by, bound, tuple((at,) for at in range(len(bound.predictions))))


def not_a_frame(frame: Any) -> KindError:
    """The error for what no engine knows."""
    kind = type(frame)
    step = "Put the rows into a frame first, for example pd.DataFrame(rows)."
    if isinstance(frame, (str, PathLike)):
        step = "A path of Parquet files is for count_parquet(), or pyarrow.dataset.dataset(path)."
    elif isinstance(frame, (list, tuple, Iterator)):
        step = f"count_batches() counts several frames. {step}"
    return KindError(
        "`frame` must be a frame of pandas, Polars, PyArrow, DuckDB, Dask, Spark SQL, or of another "
        f"engine that narwhals knows; got {kind.__module__}.{kind.__qualname__}. {step}"
    )


def added_up(
    parts: Iterable[tuple[Question, Combinations]],
) -> tuple[Question, Combinations] | None:
    """All parts together, or None where there is none; what waits to be added stays small."""
    asked, held, waiting = None, list[Combinations](), 0
    for question, part in parts:
        asked = question if asked is None else _as_one(asked, question)
        held.append(part)
        waiting += _size(part)
        if waiting > max(_PENDING, 2 * _size(held[0])):
            held, waiting = [together(held, asked)], 0
    return None if asked is None else (asked, together(held, asked))


def _as_one(first: Question, second: Question) -> Question:
    """The question on columns of dtypes that hold the values of both; errors name them."""

    def both(one: Any, other: Any) -> Any:
        return one if one.dtype == other.dtype else pd.concat([one, other])

    bound, other = first.bound, second.bound
    predictions = {
        name: both(column, other.predictions[name]) for name, column in bound.predictions.items()
    }
    weights = bound.weights
    if weights is not None and other.weights is not None:
        weights = weights[0], both(weights[1], other.weights[1])
    return first._replace(bound=bound._replace(predictions=predictions, weights=weights))


def _size(part: Combinations) -> int:
    """About how much memory combinations take, in lines."""
    n_lines = sum(len(lines.codes) + 1 for lines in part.lines)
    return n_lines + sum(map(len, part.uncounted)) + len(part.bad_weights.values)


def together(parts: Sequence[Combinations], question: Question) -> Combinations:
    """Several parts as if their rows had been counted in one pass."""
    parts = [part for part in parts if part.n_rows] or parts[:1]
    if len(parts) == 1:
        return parts[0]
    n_keys = len(question.bound.keys)
    joined, places = [], []
    for at, levels in enumerate(zip(*(part.levels for part in parts), strict=True)):
        found, place = _joined_levels(levels, is_label=at >= n_keys)
        joined.append(found)
        places.append(place)
    lines = []
    for table, *pieces in zip(question.tables, *(part.lines for part in parts), strict=True):
        held = [*places[: n_keys + 1], *(places[n_keys + 1 + model] for model in table)]
        lines.append(_joined_lines(pieces, held))
    whole = Combinations(
        tuple(joined),
        tuple(lines),
        sum(part.n_rows for part in parts),
        {
            name: sum(part.missing.get(name, 0) for part in parts)
            for part in parts
            for name in part.missing
        },
        joined_bad_weights(part.bad_weights for part in parts),
        frozenset().union(*(part.no_numbers for part in parts)),
        _joined_uncounted(parts, joined[n_keys:], places[n_keys:]),
    )
    if max(len(levels.values) for levels in joined[n_keys + 1 :]) > MOST_VALUES:
        with _naming_all_faults(whole, question):
            _check_labels(whole, question)  # before the scores of all rows are gathered as labels
    return whole


def _joined_levels(parts: Sequence[Levels], *, is_label: bool) -> tuple[Levels, list[Codes]]:
    """Levels of one column in all parts, and where those of each part stand among them."""
    first = parts[0]
    if first.order is not None and all(part.order == first.order for part in parts):
        places = [positions(part.values.tolist(), first.order) for part in parts]
        return Levels(plain_index(first.order), first.order), places
    dtypes = {part.values.dtype for part in parts}  # True and 1 are equal, but not one label
    if len(dtypes) == 1 and all(part.values.equals(first.values) for part in parts):
        return Levels(first.values, None), [np.arange(len(first.values))] * len(parts)
    pieces = [part.values if len(dtypes) == 1 else part.values.astype(object) for part in parts]
    values = _concatenate(pieces)
    encoded = encode_labels(values) if is_label and values.dtype == object else hashed(values)
    place = encoded.block(0, len(values)).astype(np.intp)
    ends = np.cumsum([len(part.values) for part in parts])[:-1]
    return Levels(encoded.levels(), None), np.split(place, ends)


def _concatenate(pieces: Sequence[pd.Index]) -> pd.Index:
    """Values of all pieces, one after the other."""
    try:
        return pieces[0].append(list(pieces[1:]))
    except UnicodeEncodeError:  # a lone surrogate, which Arrow cannot hold
        return plain_index([value for piece in pieces for value in piece])


def _joined_lines(parts: Sequence[Lines], places: Sequence[Sequence[Codes]]) -> Lines:
    """Lines of all parts over common levels, each combination once."""
    moved = [
        np.column_stack(
            [
                np.append(place[at], -1)[column]
                for place, column in zip(places, part.codes.T, strict=True)
            ]
        )
        for at, part in enumerate(parts)
    ]
    codes, number = numbered(np.concatenate(moved))
    sums = []
    for pieces in zip(*(part.quantities for part in parts), strict=True):
        total = np.zeros(len(codes), dtype=pieces[0].dtype)
        np.add.at(total, number, np.concatenate(pieces))
        sums.append(total)
    return Lines(codes, tuple(sums))


def _joined_uncounted(
    parts: Sequence[Combinations], levels: Sequence[Levels], places: Sequence[Sequence[Codes]]
) -> tuple[Array, ...]:
    """Rows of each label that stand in no line, over common levels."""
    if not any(part.uncounted for part in parts):
        return ()
    totals = [np.zeros(len(each.values), dtype=np.int64) for each in levels]
    for at, part in enumerate(parts):
        for total, place, rows in zip(totals, places, part.uncounted, strict=False):
            np.add.at(total, place[at], rows)
    return tuple(totals)


def numbered(codes: Codes) -> tuple[Codes, Codes]:
    """The rows of codes that occur, each once, and the number of each row among them.

    Numbers are made anew after each column, so that no product of sizes overflows.
    """
    number = np.zeros(len(codes), dtype=np.intp)
    for column in codes.T:
        number, _ = pd.factorize(number * (column.max(initial=0) + 2) + column + 1)
    found = np.empty((number.max(initial=-1) + 1, codes.shape[1]), dtype=np.intp)
    found[number] = codes
    return found, number


def counts_of(
    found: Combinations, question: Question, *, dropna: bool, observed: bool
) -> ConfusionCounts:
    """The counts that the combinations make, with the checks, errors and rules of a frame."""
    with _naming_all_faults(found, question):
        _check_values(found, question)
        return _count_combinations(found, question, dropna=dropna, observed=observed)


def _count_combinations(
    found: Combinations, question: Question, *, dropna: bool, observed: bool
) -> ConfusionCounts:
    """The counts that sound combinations make."""
    bound, columns = question.bound, question.columns
    encoded = [*_codes_of(found)]
    n_keys = len(bound.keys)
    for key, part in zip(bound.keys, encoded, strict=False):
        warn_many_numbers(Key(key.name, part.levels()), part)
    tally = _tally(found, encoded, n_keys)
    places = [slice(None)]
    if columns.is_wide:
        bound, tally, places = _repeat_for_models(bound, tally, columns)
        encoded.insert(0, _model_codes(columns))
        n_keys += 1
    groups, place = grouped_keys(
        [key.name for key in bound.keys],
        tally.groups,
        encoded[:n_keys],
        has_model=columns.has_models,
        dropna=dropna,
        observed=observed,
    )
    labels, true_at, predicted_at = label_places(bound, tally, encoded[n_keys:], columns)
    shape = (len(groups), len(labels.values), len(labels.values))
    parts = [
        table.moved(place[at], true_at, predicted, shape)
        for table, at, predicted in zip(tally.tables, places, predicted_at, strict=True)
    ]
    n_missing = found.n_rows - _complete_rows(found)
    return ConfusionCounts(
        reduce(add, parts), labels, groups, n_missing, _missing_by_column(found, question)
    )


def labels_of(found: Combinations, question: Question) -> tuple[LabelSet, Codes, list[Codes]]:
    """The label set, and where the levels of truth and of each prediction stand in it."""
    _check_values(found, question)
    tally, encoded = tally_of(found, question)
    encoded = encoded[len(question.bound.keys) :]
    return label_places(question.bound, tally, encoded, question.columns)


def tally_of(found: Combinations, question: Question) -> tuple[Tally, list[ColumnCodes]]:
    """The combinations as a tally, and the codes it refers to."""
    encoded = [*_codes_of(found)]
    return _tally(found, encoded, len(question.bound.keys)), encoded


def _complete_rows(found: Combinations) -> int:
    """Rows that have every value."""
    return int(found.lines[0].quantities[0].sum())


def _missing_by_column(found: Combinations, question: Question) -> dict[Hashable, int]:
    """Rows without a value, for each column that has such rows, in the order of a frame."""
    named = [name for name, _ in question.bound.labelled()]
    named += [] if question.bound.weights is None else [question.bound.weights[0]]
    return {name: found.missing[name] for name in named if found.missing.get(name)}


def _check_values(found: Combinations, question: Question) -> None:
    """Raise what counting a frame raises of scores, missing values and weights, in its order."""
    columns, missing = question.columns, _missing_by_column(found, question)
    held = dict([*question.bound.labelled(), *filter(None, [question.bound.weights])])
    for name in missing:
        if held[name].dtype == bool:  # in pandas a column of objects, if a value is missing
            held[name] = held[name].astype(object)
    for name in columns.predictions:
        if name in found.no_numbers:
            raise number_error("y_score", name, held[name].dtype)
    _check_labels(found, question)
    if missing and columns.missing == "raise":
        raise missing_error(missing, found.n_rows, columns, held)
    if columns.sample_weight in found.no_numbers:
        raise number_error(
            "sample_weight", columns.sample_weight, held[columns.sample_weight].dtype
        )
    if found.bad_weights.n_rows:
        raise weight_error(columns.sample_weight, found.bad_weights, _complete_rows(found))


def _check_labels(found: Combinations, question: Question) -> None:
    """Check the labels of all levels as those of a frame are."""
    truth, *predictions = (
        pd.Series(levels.values, dtype=None if levels.order is None else "category")
        for levels in found.levels[len(question.bound.keys) :]
    )
    named = dict(zip(question.bound.predictions, predictions, strict=True))
    check_labels(question.columns, truth, named)


@contextmanager
def _naming_all_faults(found: Combinations, question: Question) -> Iterator[None]:
    """Errors about the data name every other fault too, as those about a frame do."""
    try:
        yield
    except (InputError, KindError) as error:
        if not error.check or question.has_pairs:
            raise
        cases = faults_among(_distinct_values(found, question), question.columns)
        raise with_all_faults(error, cases) from None


def _distinct_values(found: Combinations, question: Question) -> dict[Hashable, Distinct]:
    """What the schema looks at: the labels, scores and weights, and the rows of each."""
    columns, bound = question.columns, question.bound
    may_miss = columns.missing == "drop"
    missing = {} if may_miss else found.missing
    n_rows = _complete_rows(found) if may_miss else found.n_rows

    def numbers(name: Hashable, bad: BadWeights) -> Distinct:
        return distinct_numbers(
            n_rows, missing.get(name, 0), None if name in found.no_numbers else bad
        )

    held = {}
    for at, (name, _) in enumerate(bound.labelled()):
        if at and columns.has_scores:
            held[name] = numbers(name, NO_BAD_WEIGHTS)
            continue
        levels = found.levels[len(bound.keys) + at]
        rows = _rows_of(found, at, len(levels.values))
        held[name] = distinct_labels(
            levels.values[rows > 0].tolist(),
            rows[rows > 0],
            missing.get(name, 0),
            levels.order,
        )
    if bound.weights is not None:
        held.setdefault(bound.weights[0], numbers(bound.weights[0], found.bad_weights))
    return held


def _rows_of(found: Combinations, at: int, n_levels: int) -> Codes:
    """Rows of each label of truth, which comes first, or of a prediction."""
    codes, (rows, *_) = found.lines[max(at - 1, 0)]
    place = codes[:, -1 if at else -2]
    total = np.bincount(place, weights=rows, minlength=n_levels).astype(np.int64)
    return total + found.uncounted[at] if found.uncounted else total


def _codes_of(found: Combinations) -> Iterator[ColumnCodes]:
    """Codes that stand for no rows, but for the levels of each column."""
    n_keys = len(found.levels) - len(found.lines) - 1
    for at, levels in enumerate(found.levels):
        has_missing = at < n_keys and any((lines.codes[:, at] < 0).any() for lines in found.lines)
        order = None if levels.order is None else plain_index(levels.order)
        yield StoredCodes(
            np.zeros(0, dtype=narrowest(1)), levels.values, has_missing=has_missing, order=order
        )


def _tally(found: Combinations, encoded: Sequence[ColumnCodes], n_keys: int) -> Tally:
    """Codes of the keys of each group that occurs, and its cells for each prediction."""
    keys = np.concatenate([lines.codes[:, :n_keys] for lines in found.lines])
    groups, number = numbered(keys)
    if not n_keys:
        groups, number = np.zeros((1, 0), dtype=np.intp), np.zeros(len(keys), dtype=np.intp)
    groups = groups + np.array([part.has_missing for part in encoded[:n_keys]], dtype=np.intp)
    ends = np.cumsum([len(lines.codes) for lines in found.lines])[:-1]
    n_true = encoded[n_keys].size
    tables = [
        gathered(
            (len(groups), n_true, part.size),
            Entries(place, lines.codes[:, -2], lines.codes[:, -1], lines.quantities),
        )
        for lines, place, part in zip(
            found.lines, np.split(number, ends), encoded[n_keys + 1 :], strict=True
        )
    ]
    return Tally(groups, tuple(tables))


def _model_codes(columns: Roles) -> ColumnCodes:
    """Codes of a key that holds the models, in their order."""
    models = plain_index(columns.predictions)
    return StoredCodes(np.zeros(0, dtype=np.uint8), models, has_missing=False, order=models)


def _repeat_for_models(
    bound: Bound, tally: Tally, columns: Roles
) -> tuple[Bound, Tally, list[slice]]:
    """The groups once for each model, which becomes the first key, and where its groups stand."""
    G, n_models = len(tally.groups), len(tally.tables)
    model = np.repeat(np.arange(n_models), G)
    groups = np.column_stack([model, np.tile(tally.groups, (n_models, 1))])
    places = [slice(at * G, (at + 1) * G) for at in range(n_models)]
    keys = [Key("model", plain_index(columns.predictions)), *bound.keys]
    return bound._replace(keys=keys), Tally(groups, tally.tables), places
