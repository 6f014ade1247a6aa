"""What every table shares: its exponents, class weights, sizes, axes and attributes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.counts.confusion import ConfusionCounts
from pandas_tba.errors import InputError, KindError, check_choice, listed, shown
from pandas_tba.frames.values import plain_series
from pandas_tba.scoring.definitions import Metric
from pandas_tba.scoring.tempering import check_t

FloatArray = npt.NDArray[np.float64]

Exponent: TypeAlias = float | Iterable[float]
Prevalence: TypeAlias = Literal["own", "pooled"] | Mapping[Any, float] | pd.Series

_MOST_LABELS = 20  # in attrs, which pandas copies with every table made from this one


def check_counts(counts: object) -> None:
    """KindError unless these are counts."""
    if not isinstance(counts, ConfusionCounts):
        raise KindError(
            f"`counts` must be ConfusionCounts; got {type(counts).__name__}. Count first: "
            "tba.count(df, y_true='y', y_pred='p'), or ask the frame: df.tba.score(t=0.5)."
        )


def check_positive(counts: ConfusionCounts, chosen: Sequence[Metric]) -> None:
    """InputError where a metric of one class is asked for, and no class is positive."""
    of_class = [metric.name for metric in chosen if metric.kind == "class"]
    if not of_class or counts.pos_label is not None:
        return
    classes = counts.label_set.classes
    verb = "describes" if len(of_class) == 1 else "describe"
    advice = "Ask per_class(), or set one class against the rest: df['y_true'] == label."
    if len(classes) == 2:
        advice = f"Name one, as in df.tba(pos_label={shown(classes[-1])}), or ask per_class()."
    raise InputError(
        f"`metrics`: {listed(of_class)} {verb} one class, and no class is positive. Classes: "
        f"{listed(classes) or 'none'}. {advice}"
    )


class Exponents(NamedTuple):
    """Exponents asked for, checked, and whether they came as a list."""

    values: list[float]
    is_list: bool


def exponents_of(t: Exponent) -> Exponents:
    """Exponents asked for, and whether they came as a list."""
    is_scalar = isinstance(t, (str, bytes, Mapping)) or not isinstance(t, Iterable)
    if is_scalar or getattr(t, "ndim", 1) == 0 or not hasattr(t, "__getitem__"):
        return Exponents([check_t(t)], False)
    exponents = [check_t(value) for value in t]  # type: ignore[union-attr]
    if not exponents:
        raise InputError("`t` is an empty list; give at least one number.")
    return Exponents(exponents, True)


def check_names(counts: ConfusionCounts, names: Iterable[str]) -> None:
    """Refuse a key that bears a name of the result."""
    taken = set(names)
    for key in counts.key_groups.names[counts.key_groups.has_model :]:
        if key in taken:
            raise InputError(
                f"`by`: the key {shown(key)} has the name of a column or level of the result. Rename "
                f"it, as in by=df[{shown(key)}].rename('group')."
            )


def of_classes(counts: ConfusionCounts, by_label: npt.NDArray[np.int64]) -> FloatArray:
    """Columns of the classes alone, (G, K), as float."""
    is_class = counts.label_set.is_class
    chosen = by_label if is_class.all() else by_label[:, is_class]
    return chosen.astype(np.float64, order="K")


def hits_and_support(counts: ConfusionCounts) -> tuple[FloatArray, FloatArray]:
    """Hits and support of the classes alone, (G, K) each, as float."""
    return of_classes(counts, counts.hits), of_classes(counts, counts.support)


def class_prevalence(
    counts: ConfusionCounts, prevalence: Prevalence, support: FloatArray
) -> FloatArray:
    """Relative prevalence of the classes, (G, K) or (1, K)."""
    if isinstance(prevalence, str) and prevalence == "own":
        return support
    if isinstance(prevalence, (Mapping, pd.Series)):
        return _given_prevalence(counts, prevalence)
    check_choice("prevalence", prevalence, ("own", "pooled"))
    if not counts.key_groups.has_model:
        return np.asarray(support.sum(axis=0, keepdims=True))
    model = counts.key_groups.codes[:, 0]
    pooled = np.zeros((model.max(initial=-1) + 2, support.shape[1]))
    np.add.at(pooled, model, support)  # -1, a missing model, goes to the last row
    return np.asarray(pooled[model])


def _given_prevalence(
    counts: ConfusionCounts, prevalence: Mapping[Any, float] | pd.Series
) -> FloatArray:
    """Shares that the user gave, (1, K), normalised."""
    classes = counts.label_set.classes
    given = dict(prevalence.items())
    if len(given) != len(prevalence):
        raise InputError("`prevalence` names a label more than once.")
    without = [label for label in classes if label not in given]
    foreign = [label for label in given if label not in classes]
    if without or foreign:
        raise InputError(
            f"`prevalence` must name each class once; it leaves out {listed(without) or 'none'} and names "
            f"{listed(foreign) or 'nothing'} beyond them. Classes: {listed(classes)}."
        )
    try:
        values = np.array([[float(given[label]) for label in classes]])
    except (TypeError, ValueError):
        values = np.full((1, len(classes)), np.nan)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise InputError(
            f"`prevalence` must be finite and greater than 0 for every class; got {shown(given)}."
        )
    return values / values.sum() if classes else values


def size_names(counts: ConfusionCounts) -> list[str]:
    """Names of the columns that every table starts with."""
    return ["n", *(["weight"] if counts.is_weighted else []), "min_support", "n_absent"]


def sizes(counts: ConfusionCounts, support: FloatArray) -> dict[str, Any]:
    """Columns that every table starts with: rows, their weight, rows of the smallest class."""
    rows = support
    if counts.is_weighted:  # a class without weight is absent, whatever rows it has
        rows = np.where(support > 0, of_classes(counts, counts.class_rows), 0.0)
    smallest = rows.min(axis=1, initial=np.inf if rows.shape[1] else 0.0).astype(np.int64)
    # copies, so that a table can be changed without changing the counts
    columns = {
        "n": counts.rows.copy(),
        "min_support": smallest,
        "n_absent": (support == 0).sum(axis=1),
    }
    if counts.is_weighted:
        columns["weight"] = counts.weight.copy()
    return {name: columns[name] for name in size_names(counts)}


def with_t(index: pd.Index, counts: ConfusionCounts, exponents: list[float]) -> pd.Index:
    """The groups with each t as the last level."""
    axis = pd.Index(exponents, name="t", dtype=np.float64)
    if not counts.key_groups.names:
        return axis
    return _appended_level(counts, axis, is_unique=axis.is_unique)


def with_labels(counts: ConfusionCounts, name: str) -> pd.Index:
    """The groups with each label as the last level."""
    axis = counts.labels.rename(name)
    return _appended_level(counts, axis) if counts.key_groups.names else axis


def _appended_level(
    counts: ConfusionCounts, axis: pd.Index, *, is_unique: bool = True
) -> pd.MultiIndex:
    """The groups with one more level, each value for every group."""
    level = axis if is_unique else axis.unique()
    inner = np.arange(len(axis)) if is_unique else level.get_indexer(axis)
    groups = counts.key_groups
    return pd.MultiIndex(
        levels=list[Any]([*groups.levels, level]),
        codes=list[Any](
            [*np.repeat(groups.codes, len(axis), axis=0).T, np.tile(inner, len(groups))]
        ),
        names=[*groups.names, axis.name],
        verify_integrity=False,
    )


def described(table: Any, counts: ConfusionCounts, t: Any, prevalence: Any) -> Any:
    """The table with its t, prevalence and classes in attrs: JSON values, few and short."""
    classes = [*map(str, counts.label_set.classes)]
    about: dict[str, Any] = {"classes": len(classes)}
    if len(classes) <= _MOST_LABELS:
        about["classes"] = [text if len(text) <= 60 else f"{text[:57]}..." for text in classes]
    if t is not None:
        exponents, is_list = t if isinstance(t, Exponents) else exponents_of(t)
        only = exponents[0] if math.isfinite(exponents[0]) else str(exponents[0])
        about["t"] = [f"{value:g}" for value in exponents] if is_list else only
        about["chance"] = 1.0 / len(classes) if classes else "nan"
    if prevalence is not None:
        about["prevalence"] = prevalence if isinstance(prevalence, str) else "given"
    if counts.n_missing:
        about["n_missing"] = counts.n_missing
    table.attrs["tba"] = about
    return table


def over_t(column: npt.NDArray[Any], n_exponents: int) -> npt.NDArray[Any]:
    """One column of a table of groups by t, from values (G,) or (G, T)."""
    if column.ndim == 2 or n_exponents == 1:
        return column.reshape(-1)
    return np.repeat(column, n_exponents)


def absent_classes(classes: Sequence[Any], support: FloatArray) -> str:
    """Why a value may be undefined: the classes without rows; nothing where all have some."""
    if not support.any():
        return "no rows"
    without = [label for label, rows in zip(classes, support, strict=True) if rows == 0]
    return f"no rows of {listed(without)}" if without else ""


def texts(values: Any) -> pd.Series:
    """A column of text, of the dtype that pandas gives to text."""
    # without a dtype, a table of no rows would have another one than a table of some
    return plain_series(list(values), dtype=pd.Index([""]).dtype)
