"""Probabilities of the classes -> the decision that tempered balanced accuracy asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import InputError, KindError, counted, listed, shown
from pandas_tba.scoring.tempering import check_t

FloatArray = npt.NDArray[np.float64]

_TIE = 1e-12  # of logarithms: gains this close differ by rounding alone
_LARGEST = 1e12  # exponent, beyond which the differences between probabilities are lost
_SUM = 1e-6  # how far the probabilities of a row may be from adding up to one


def decide(
    probabilities: Any,
    *,
    t: float = 0.5,
    prevalence: Mapping[Any, float] | pd.Series | npt.ArrayLike,
) -> pd.Series | npt.NDArray[np.intp]:
    """Decisions that maximise the expected tempered balanced accuracy.

    Parameters
    ----------
    probabilities : DataFrame or array_like, shape (n, K)
        Calibrated probability of each class in each row; they add up to 1. The columns of a
        DataFrame are the labels; of an array they are 0 to K - 1.
    t : float, default 0.5
        Exponent. At 1 the most probable class wins; below 1 rare classes win earlier.
    prevalence : mapping, Series or array_like, shape (K,)
        Share (or rows) of each class, greater than 0: label to share, or in the order of the
        columns.

    Returns
    -------
    Series or ndarray, shape (n,)
        Labels, on the index of the DataFrame and named y_pred; for an array the numbers of the
        columns. Of classes that are equally good the last, so that of two classes the second wins
        at its threshold and above.

    Raises
    ------
    KindError
        If the probabilities are no numbers.
    InputError
        If a row has a negative or missing value or does not add up to 1 within 1e-6, or
        `prevalence` lacks a class or is not positive.

    Notes
    -----
    A row of class k adds p_k**t / n_k to the score when it is right, so class k gains
    p_k**(t-1) P(k|x). Of two classes the positive one wins at the threshold
    p_0**(t-1) / (p_0**(t-1) + p_1**(t-1)), which is 0.5 at t = 1 and p_1 at t = 0.

    Examples
    --------
    >>> import pandas as pd, pandas_tba as tba
    >>> probabilities = pd.DataFrame({"ok": [0.95, 0.8], "fraud": [0.05, 0.2]})
    >>> tba.decide(probabilities, t=0, prevalence={"ok": 0.9, "fraud": 0.1}).tolist()
    ['ok', 'fraud']
    """
    exponent = float(np.clip(check_t(t) - 1, -1e300, 1e300))  # so that infinite t has its limit
    is_frame = isinstance(probabilities, pd.DataFrame)
    values = _probabilities(probabilities)
    labels = probabilities.columns if is_frame else pd.RangeIndex(values.shape[1])
    gain = exponent * np.log(_prevalence_of(prevalence, labels))
    with np.errstate(divide="ignore"):
        gains = np.log(values) + (gain - gain.max())
    is_best = gains >= gains.max(axis=1, keepdims=True) - _TIE
    if abs(exponent) > _LARGEST:  # the gains have lost the probabilities to rounding
        likeliest = np.where(is_best, values, 0.0)
        is_best = likeliest >= likeliest.max(axis=1, keepdims=True)
    chosen = values.shape[1] - 1 - is_best[:, ::-1].argmax(axis=1)
    if not is_frame:
        return chosen
    return pd.Series(labels.take(chosen), index=probabilities.index, name="y_pred")


def _probabilities(probabilities: Any) -> FloatArray:
    """Values (n, K) as float, checked."""
    try:
        if isinstance(probabilities, pd.DataFrame):
            values = probabilities.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError):
        raise KindError(
            f"`probabilities` must hold numbers; got {type(probabilities).__name__} with others."
        ) from None
    if values.ndim != 2 or values.shape[1] == 0:
        raise InputError(
            "`probabilities` must have one row for each case and one column for each class; got "
            f"shape {values.shape}. Of two classes pass both: np.column_stack([1 - p, p])."
        )
    with np.errstate(invalid="ignore"):
        is_negative, off = (values < 0).any(axis=1), np.abs(values.sum(axis=1) - 1)
    is_missing = np.isnan(values).any(axis=1)
    is_off = ~(is_negative | is_missing) & ~(off <= _SUM)
    if (is_negative | is_missing | is_off).any():
        raise InputError(
            f"`probabilities` must not be negative and add up to 1 in each row; of "
            f"{counted(len(values), 'row')}, {is_missing.sum():,} with missing values, "
            f"{is_negative.sum():,} with negative ones, {is_off.sum():,} whose sum is more than "
            f"{_SUM:g} from 1. Leave these rows out, or divide each row by its sum."
        )
    return values


def _prevalence_of(prevalence: Any, labels: pd.Index) -> FloatArray:
    """Prevalence of each label, checked."""
    names = labels.tolist()
    if isinstance(prevalence, (Mapping, pd.Series)):
        given = dict(prevalence.items())
    else:
        values = np.ravel(np.asarray(prevalence, dtype=object)).tolist()
        given = dict(zip(names, values, strict=False)) if len(values) == len(names) else {}
    lacking = [name for name in names if name not in given]
    foreign = [name for name in given if name not in names]
    if lacking or foreign or len(set(names)) < len(names):
        raise InputError(
            f"`prevalence` must hold one share for each column of `probabilities`; it lacks "
            f"{listed(lacking) or 'none'} and names {listed(foreign) or 'nothing'} beyond them. "
            f"Columns: {listed(names)}, each of which must occur once."
        )
    try:
        share = np.array([float(given[name]) for name in names])
    except (TypeError, ValueError):
        share = np.full(len(names), np.nan)
    if not (np.isfinite(share) & (share > 0)).all():
        raise InputError(
            "`prevalence` must be finite and greater than 0 for every class; got "
            f"{shown(list(given.values()))}."
        )
    return share
