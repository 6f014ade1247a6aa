"""Checks of a frame before anything is counted, and the short errors they make."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import InputError, KindError, counted, listed, shown
from pandas_tba.frames.codes import is_mixed
from pandas_tba.frames.columns import Roles
from pandas_tba.frames.values import kind_of, kinds_of

FloatArray = npt.NDArray[np.float64]

TINY_WEIGHT, HUGE_WEIGHT = 1e-150, 1e150  # their squares are numbers still
MOST_VALUES = 10_000  # of a column that are looked at for all its faults
_BLOCK = 1 << 15  # rows of float64 that stay in the cache


def check_labels(columns: Roles, truth: pd.Series, predictions: dict[Hashable, pd.Series]) -> None:
    """Refuse columns of labels that hold booleans beside numbers, or scores."""
    check_not_mixed("y_true", columns.y_true, truth)
    if not columns.has_scores:
        for name, column in predictions.items():
            check_not_mixed("y_pred", name, column)
        check_not_scores(columns, truth, predictions)


def check_not_scores(
    columns: Roles, truth: pd.Series, predictions: dict[Hashable, pd.Series]
) -> None:
    """Refuse predictions with fractions where y_true has none: these are scores, not labels."""
    for name, column in predictions.items():
        if _has_fractions(column) and not _has_fractions(truth):
            raise InputError(
                f"`y_pred` column {shown(name)} holds scores, not labels: numbers with fractions, "
                "while y_true has none. Name it as what it is: "
                f"df.tba(y_true={shown(columns.y_true)}, y_score={shown(name)}, threshold=0.5), with "
                "pos_label= where the labels are not 0 and 1.",
                check="scores",
            )


def score_values(name: Hashable, column: pd.Series) -> FloatArray:
    """Scores as float, missing ones NaN; KindError for what is no number."""
    return as_numbers("y_score", name, column)


def own_scores(name: Hashable, column: pd.Series) -> npt.NDArray[np.floating]:
    """Scores as of `score_values`, but in the precision that their column has."""
    dtype: Any = getattr(column.dtype, "categories", column).dtype
    dtype = getattr(dtype, "subtype", dtype)  # of a sparse column
    is_short = isinstance(dtype, np.dtype) and dtype in (np.float16, np.float32)
    return score_values(name, column).astype(dtype if is_short else np.float64, copy=False)


def is_weight(values: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether each value can be a weight."""
    return np.asarray((values == 0) | ((values >= TINY_WEIGHT) & (values <= HUGE_WEIGHT)))


def weight_values(name: Hashable, column: pd.Series) -> FloatArray:
    """Weights as float; InputError for what is no weight."""
    weights = as_numbers("sample_weight", name, column)
    bad = bad_weights(weights)
    if bad.n_rows:
        raise weight_error(name, bad, len(weights))
    return weights


class BadWeights(NamedTuple):
    """How many rows have a weight that is none, and the rows of each such value, the lowest first.

    Of very many values only the lowest are held: those that parts of the data can agree on.
    """

    n_rows: int = 0
    values: tuple[tuple[float, int], ...] = ()


NO_BAD_WEIGHTS = BadWeights()


def bad_weights(weights: FloatArray) -> BadWeights:
    """What is no weight; missing ones are another fault."""
    bad = weights[~is_weight(weights)]
    if not len(bad):
        return NO_BAD_WEIGHTS
    values, rows = np.unique(bad[~np.isnan(bad)], return_counts=True)
    lowest = zip(values[:MOST_VALUES].tolist(), rows[:MOST_VALUES].tolist(), strict=True)
    return BadWeights(int(rows.sum()), tuple(lowest))


def joined_bad_weights(parts: Iterable[BadWeights]) -> BadWeights:
    """What is no weight in all parts of the data."""
    n_rows, rows_of = 0, Counter[float]()
    for part in parts:
        n_rows += part.n_rows
        rows_of.update(dict(part.values))
    return BadWeights(n_rows, tuple(sorted(rows_of.items())[:MOST_VALUES]))


def weight_error(name: Hashable, bad: BadWeights, n_rows: int) -> InputError:
    """The error for rows whose weight is none, with the three values of most rows."""
    worst = [value for value, _ in sorted(bad.values, key=lambda pair: -pair[1])]
    return InputError(
        f"`sample_weight` column {shown(name)} must hold finite weights, not negative: 0, or between "
        f"{TINY_WEIGHT:g} and {HUGE_WEIGHT:g}; {counted(bad.n_rows, 'row')} of {n_rows:,} "
        f"{'has' if bad.n_rows == 1 else 'have'} others, such as {listed(worst[:3])}. Leave them out, "
        "or correct them.",
        check="weight",
    )


def as_numbers(argument: str, name: Hashable, column: pd.Series) -> FloatArray:
    """A column as float, missing values NaN; KindError for what is no number."""
    try:
        if _holds_numbers(column):
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
    except ArithmeticError:  # an integer of hundreds of digits, a signaling NaN
        pass
    raise number_error(argument, name, column.dtype)


def number_error(argument: str, name: Hashable, dtype: object) -> KindError:
    """The error for a column of scores or weights that holds no numbers."""
    return KindError(
        f"`{argument}` column {shown(name)} must hold numbers; got {dtype}. Convert it, for example "
        "with pd.to_numeric.",
        check="number",
    )


def _holds_numbers(column: pd.Series) -> bool:
    """Whether all values are numbers; numpy would take text, days and booleans for some, too."""
    dtype = getattr(column.dtype, "categories", column).dtype
    if pd.api.types.is_object_dtype(dtype):
        return kinds_of(column.dropna()) <= {"number"}
    is_other = pd.api.types.is_bool_dtype(dtype) or pd.api.types.is_complex_dtype(dtype)
    return pd.api.types.is_numeric_dtype(dtype) and not is_other


def check_not_mixed(argument: str, name: Hashable, column: pd.Series) -> None:
    """Refuse booleans beside numbers in one object column."""
    if is_mixed(column):
        raise KindError(
            f"`{argument}` column {shown(name)} holds both booleans and numbers, such as True and 1, "
            "which would be one label. Convert it, for example with astype(int).",
            check="mixed",
        )


def _has_fractions(column: pd.Series) -> bool:
    """Whether a column holds numbers with fractions."""
    dtype = column.dtype
    is_numpy = isinstance(dtype, np.dtype)
    if (is_numpy and dtype.kind not in "fcO") or isinstance(dtype, pd.StringDtype):
        return False  # most columns, without a look at what else they might be
    if isinstance(dtype, pd.CategoricalDtype):
        return _has_fractions(pd.Series(dtype.categories))
    if pd.api.types.is_object_dtype(dtype) or "decimal" in str(dtype):
        if pd.api.types.infer_dtype(column, skipna=True) in ("string", "integer", "boolean"):
            return False  # known without hashing a row
        return any(map(_is_fraction, column.dropna().unique()))
    if not pd.api.types.is_float_dtype(dtype):
        return False
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    starts = range(0, len(values), _BLOCK)
    return any(_any_fraction(values[start : start + _BLOCK]) for start in starts)


def _is_fraction(value: Any) -> bool:
    """Whether a value is a number with a fraction."""
    if isinstance(value, Decimal):  # a floor of 1e99999999 would have as many digits
        return value.is_finite() and value != value.to_integral_value()
    try:
        return kind_of(value) == "number" and value != math.floor(value)
    except OverflowError:  # infinite
        return False


def _any_fraction(values: np.ndarray[Any, np.dtype[np.float64]]) -> bool:
    """Whether any finite number has a fraction."""
    finite = values[np.isfinite(values)]
    return bool((finite != np.floor(finite)).any())


def missing_error(
    missing: dict[Hashable, int], n_rows: int, columns: Roles, labelled: dict[Hashable, pd.Series]
) -> InputError:
    """The error for labels, scores or weights that are missing."""
    faults = [
        f"{shown(name)} ({number:,} of {counted(n_rows, 'row')})"
        for name, number in missing.items()
    ]
    more = f" and {counted(len(faults) - 3, 'more column')}" if len(faults) > 3 else ""
    predicted = [name for name in missing if name in columns.predictions]
    fill = ""
    if predicted and not columns.has_scores:
        fill = _filling(predicted[0], labelled[predicted[0]].dtype)
    return InputError(
        f"Missing values in {', '.join(faults[:3])}{more}. Leave these rows out with "
        f"df.tba(missing='drop'){fill}.",
        check="missing",
    )


def _filling(name: Hashable, dtype: Any) -> str:
    """Python that gives missing predictions a label of their own, for columns of that dtype."""
    label: Any = "abstain"
    add = ""
    if isinstance(dtype, pd.CategoricalDtype):
        add = f".cat.add_categories([{label!r}])"
    elif pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        label = -999
    elif not (pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype)):
        add = ".astype(object)"
    return (
        ", or give missing predictions a label of their own: "
        f"df[{name!r}]{add}.fillna({label!r}) with abstain=[{label!r}]"
    )
