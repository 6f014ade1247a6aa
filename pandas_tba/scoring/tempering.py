"""The mathematics of tempered balanced accuracy: arrays of prevalence and recall in, arrays out.

Classes are the last axis, K long; axes before it (groups, models) broadcast.  A prevalence of
zero marks a class without rows, whose recall is NaN.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import InputError, check_choice, is_real, shown

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def class_weights(
    prevalence: npt.ArrayLike, *, t: float = 0.5, among: BoolArray | None = None
) -> FloatArray:
    """Weight of each class in the tempered mean: prevalence to the power t, normalised.

    Parameters
    ----------
    prevalence : array_like, shape (..., K)
        Share of each class, or its rows: weights do not change with the scale. Zero means that
        the class has no rows: at t < 0 such classes share all the weight, at t > 0 they have none.
    t : float, default 0.5
        Exponent. 1 weighs classes by prevalence, 0 equally, below 0 the rare ones more. Infinite
        values are limits: the largest (+inf) or rarest (-inf) classes share the weight.
    among : array of bool, shape (..., K), optional
        Classes that take part; all by default. The others get weight zero.

    Returns
    -------
    ndarray, shape (..., K)
        Weights that add up to 1; NaN where no class takes part.

    Raises
    ------
    InputError
        If t is not a number, or a prevalence is negative or not finite.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> tba.class_weights([0.9, 0.1], t=0.5)
    array([0.75, 0.25])
    """
    share = _as_floats(prevalence)
    if not (np.isfinite(share).all() and (share >= 0).all()):
        raise InputError("`prevalence` must hold finite numbers that are not negative.")
    if share.size:
        share = share / (share.max() or 1.0)  # so that no sum overflows
    if among is not None:
        among = _among(among, share.shape)
    return _normalised(_relative_weights(share, check_t(t), among))


def weights_at_each(prevalence: FloatArray, t: FloatArray) -> FloatArray:
    """Weights (..., K) as those of `class_weights`, at a finite t (...) of its own in each row."""
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = t[..., None] * np.log(_of_largest(prevalence))
        exponent = np.where(t[..., None] == 0, 0.0, exponent)
        top = exponent.max(axis=-1, keepdims=True, initial=-np.inf)
        # absent classes attain an infinite top at t < 0
        return _normalised(np.where(exponent == top, 1.0, np.exp(exponent - top)))


def ratio(numerator: npt.NDArray[Any], denominator: npt.NDArray[Any] | float) -> FloatArray:
    """Quotient; NaN for 0 / 0, infinite for others over 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(numerator / denominator)


def _among(among: object, shape: tuple[int, ...]) -> BoolArray:
    """Which classes take part, as booleans; InputError for anything else."""
    try:
        held = np.asarray(among)
        np.broadcast_shapes(held.shape, shape)
    except (TypeError, ValueError):
        held = np.array(())
    if held.dtype != np.bool_:
        raise InputError(
            f"`among` must hold True or False for each class, shape {shape}; got {shown(among)}."
        )
    return held


def check_t(t: object) -> float:
    """Return t as a float, or raise InputError."""
    if (type(t) is not float and not is_real(t)) or math.isnan(float(t)):  # type: ignore[arg-type]
        raise InputError(
            f"`t` must be a number or a list of numbers, infinite ones included; got {shown(t)}. "
            "1 is accuracy, 0 balanced accuracy, below 0 weighs rare classes more."
        )
    number = float(t)  # type: ignore[arg-type]
    # beyond 1e300 t * ln(prevalence) overflows; the limit is the same to every digit
    return math.copysign(math.inf, number) if abs(number) > 1e300 else number


def _as_floats(prevalence: npt.ArrayLike) -> FloatArray:
    """Prevalence as float; InputError for what is no number."""
    try:
        return np.asarray(prevalence, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"`prevalence` must hold numbers; got {shown(prevalence)}.") from None


def _relative_weights(share: FloatArray, t: float, among: BoolArray | None) -> FloatArray:
    """Weights up to a factor, the largest one 1: in logarithms, so that nothing overflows."""
    if t == 0.0:
        weights = np.ones_like(share)
    elif math.isinf(t):
        weights = _has_weight(share, t, among).astype(np.float64)
    else:
        weights = _finite_weights(share, t, among)
    return weights if among is None else np.where(among, weights, 0.0)


def _finite_weights(share: FloatArray, t: float, among: BoolArray | None) -> FloatArray:
    """Weights at a finite t, the largest one 1."""
    if t == 1.0 and among is None and share.all():
        return share
    with np.errstate(divide="ignore", invalid="ignore"):
        exponent = t * np.log(share)
        within = exponent if among is None else np.where(among, exponent, -np.inf)
        top = within.max(axis=-1, keepdims=True, initial=-np.inf)
        weights = np.exp(within - top)
    # classes that attain the top are 1 also where it is infinite (absent classes, t < 0)
    return weights if np.isfinite(top).all() else np.where(within == top, 1.0, weights)


def _has_weight(share: FloatArray, t: float, among: BoolArray | None) -> BoolArray:
    """Whether a class has weight before rounding: a weight that underflows still counts."""
    if t == 0.0:
        holds = np.ones_like(share, dtype=np.bool_)
    elif math.isinf(t) or not share.all():
        holds = _has_limit_weight(share, t, among)
    else:
        holds = np.ones_like(share, dtype=np.bool_)
    return holds if among is None else holds & among


def _has_limit_weight(share: FloatArray, t: float, among: BoolArray | None) -> BoolArray:
    """Whether a class has weight in the limit of many rows, whatever a float can hold."""
    within = np.ones_like(share, dtype=np.bool_) if among is None else among
    largest = np.where(within, share, -np.inf).max(axis=-1, keepdims=True, initial=-np.inf)
    rarest = np.where(within, share, np.inf).min(axis=-1, keepdims=True, initial=np.inf)
    if math.isinf(t):
        return share == (largest if t > 0 else rarest)
    if t > 0:
        return (share > 0) | (largest == 0)  # without any rows all classes tie
    return (share > 0) & (rarest > 0) | (share == 0)


def _normalised(weights: FloatArray) -> FloatArray:
    """Weights that add up to 1."""
    with np.errstate(invalid="ignore"):
        return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def _weighted_mean(weights: FloatArray, values: FloatArray, holds: BoolArray) -> FloatArray:
    """Mean over the classes that hold weight; NaN where one of them has no value."""
    with np.errstate(invalid="ignore"):
        total = np.where(holds, weights * values, 0.0).sum(axis=-1)
        return np.asarray(total / weights.sum(axis=-1))


def tempered_mean(
    recall: FloatArray, prevalence: FloatArray, t: float, among: BoolArray | None = None
) -> FloatArray:
    """Mean of recall weighted by prevalence**t; NaN exactly where a weighted class has none."""
    weights = _relative_weights(prevalence, t, among)
    return _weighted_mean(weights, recall, _has_weight(prevalence, t, among))


def tempered_slope(recall: FloatArray, prevalence: FloatArray, t: float) -> FloatArray:
    """Derivative of the tempered mean by t: positive where recall is lower on small classes."""
    score = tempered_mean(recall, prevalence, t)
    if math.isinf(t):
        return score * 0.0
    weights, holds = _relative_weights(prevalence, t, None), _has_weight(prevalence, t, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(prevalence > 0, np.log(prevalence), 0.0)
    centred = logs - _weighted_mean(weights, logs, holds)[..., None]
    return _weighted_mean(weights, centred * (recall - score[..., None]), holds)


def majority_score(recall: FloatArray, prevalence: FloatArray, t: float) -> FloatArray:
    """Tempered mean of a classifier that always answers the most prevalent class."""
    if prevalence.shape[-1] == 0:
        return np.full(prevalence.shape[:-1], np.nan)
    top = prevalence == prevalence.max(axis=-1, keepdims=True)
    majority = top / top.sum(axis=-1, keepdims=True)  # classes that tie have equal weight
    return tempered_mean(np.where(np.isnan(recall), np.nan, majority), prevalence, t)


def tempered_bounds(
    recall: FloatArray, prevalence: FloatArray, t: float
) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest tempered mean the data allow: absent recalls all 0, or all 1."""
    absent = np.isnan(recall)
    return (
        tempered_mean(np.where(absent, 0.0, recall), prevalence, t),
        tempered_mean(np.where(absent, 1.0, recall), prevalence, t),
    )


def adjust_for_chance(score: FloatArray, n_classes: int) -> FloatArray:
    """Rescale so that a uniform guesser over the declared classes has 0 and a perfect one 1."""
    if n_classes < 2:
        return np.full_like(score, np.nan)
    chance = 1.0 / n_classes
    return (score - chance) / (1.0 - chance)


def t_from_cost_ratio(
    cost: float, prevalence_k: float, prevalence_j: float, *, per: str = "class"
) -> float:
    """Exponent at which class k weighs `cost` times as much as class j.

    Parameters
    ----------
    cost : float
        How many times as much class k counts, greater than 0.
    prevalence_k, prevalence_j : float
        Share (or rows) of the two classes, greater than 0 and different.
    per : {"class", "error"}, default "class"
        What the cost speaks of: the recall of the whole class, or one error on a row of it. One
        error on class k costs `cost` errors on class j at a t that is larger by one.

    Returns
    -------
    float
        ln(cost) / ln(prevalence_k / prevalence_j), plus 1 for ``per="error"``.

    Raises
    ------
    InputError
        If cost or a prevalence is not positive and finite, or the prevalences are equal: then
        both classes have the same weight at every t.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> round(tba.t_from_cost_ratio(3, 0.05, 0.80), 3)
    -0.396
    """
    check_choice("per", per, ("class", "error"))
    for name, value in (
        ("cost", cost),
        ("prevalence_k", prevalence_k),
        ("prevalence_j", prevalence_j),
    ):
        if not (is_real(value) and 0 < float(value) < math.inf):
            raise InputError(f"`{name}` must be a positive, finite number; got {shown(value)}.")
    if prevalence_k == prevalence_j:
        raise InputError(
            f"`prevalence_k` and `prevalence_j` are both {shown(prevalence_k)}: classes of equal "
            "prevalence have equal weight at every t, so no t expresses a cost ratio."
        )
    t = math.log(cost) / math.log(float(prevalence_k) / float(prevalence_j))
    return t + 1.0 if per == "error" else t


def t_from_entropy(prevalence: npt.ArrayLike) -> float:
    """Exponent from the effective number of classes: entropy of the prevalence over ln K.

    Parameters
    ----------
    prevalence : array_like, shape (K,)
        Share (or rows) of each declared class, at least two; not negative, not all zero.

    Returns
    -------
    float
        Between 0 (one class holds everything) and 1 (all classes equally large).

    Raises
    ------
    InputError
        If there are fewer than two classes, or a prevalence is negative or not finite.

    Notes
    -----
    exp(entropy) is the effective number of classes. The description of tempered balanced accuracy
    names the rule "t from the effective number of classes" without a formula; the normalised
    Shannon entropy is this library's choice, since it is independent of the base of the
    logarithm and sees rare classes. Compute it once, on the reference population: a t of its own
    for each group would make their scores incomparable.

    Examples
    --------
    >>> import pandas_tba as tba
    >>> round(tba.t_from_entropy([0.9, 0.1]), 3)
    0.469
    """
    share = _as_floats(prevalence)
    if share.ndim != 1 or share.size < 2 or not np.isfinite(share).all():
        raise InputError(
            "`prevalence` must hold one finite number for each of two or more classes."
        )
    if (share < 0).any() or not share.any():
        raise InputError("`prevalence` must not be negative, and not zero for every class.")
    return float(relative_entropy(share))


def relative_entropy(prevalence: FloatArray) -> FloatArray:
    """Entropy of the prevalence over ln K; NaN where no class has rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = _of_largest(prevalence)
        share = share / share.sum(axis=-1, keepdims=True)
        terms = np.where(share == 0, 0.0, share * np.log(share))
        found = -terms.sum(axis=-1) / np.log(prevalence.shape[-1])
    return np.where(prevalence.any(axis=-1), found, np.nan)


def _of_largest(prevalence: FloatArray) -> FloatArray:
    """Prevalence as a share of the largest one, so that no sum overflows."""
    largest = prevalence.max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(prevalence / np.where(largest > 0, largest, 1.0))
