"""P-values of many differences at once, by what each kind of them allows: arrays in, arrays out."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pandas_tba.inference.contrasts import Difference, equality_coefficients
from pandas_tba.inference.influence import clopper_pearson_at
from pandas_tba.inference.permutations import Contrasts, n_draws, permutation_p_values
from pandas_tba.inference.pvalues import adjusted_one_by_one, equality_mid_p
from pandas_tba.inference.recall_means import EqualMeans, Sums

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.intp]

Adjustment: TypeAlias = Literal["max_t", "holm", "fdr_bh"] | None


class Drawn(NamedTuple):
    """Contrasts that are drawn under equality, and where in the table they stand."""

    rows: Codes
    places: list[int]
    contrasts: Contrasts


class GroupTests(NamedTuple):
    """Tests of S rows of a table at T exponents of one metric.

    ``compared`` (S, T) says which there are; ``exact`` (S, T) are p-values that are known, NaN for
    others; ``drawn`` are those that are drawn. Where nothing can be drawn the limits of the
    ``differences`` give a p-value.
    """

    differences: list[Difference]
    compared: BoolArray
    exact: FloatArray
    drawn: list[Drawn]


class Tested(NamedTuple):
    """P-values (S, T) of each metric, and these adjusted for all of them together, by which method."""

    p_values: list[FloatArray]
    adjusted: list[FloatArray]
    adjust: Adjustment


def p_values_of(
    tests: list[GroupTests], adjust: Adjustment, n_replicates: int | None, seed: int
) -> Tested:
    """P-values by draws where there are any; Holm in place of step-down max-T where some have none."""
    p_values, to_adjust = ([test.exact.copy() for test in tests] for _ in range(2))
    is_joint = adjust == "max_t" and all(np.isnan(test.exact).all() for test in tests)
    joint = _put_drawn(tests, p_values, n_replicates, seed)
    for test, found, wider, drawn in zip(tests, p_values, to_adjust, joint, strict=True):
        wider[~np.isnan(drawn)] = found[~np.isnan(drawn)]
        left = test.compared & np.isnan(found)
        is_joint &= not left.any()
        for place in np.flatnonzero(left.any(axis=0)).tolist():
            rows, difference = left[:, place], test.differences[place]
            found[rows, place] = difference.p_values()[rows]
            # where many tests look, far out in the tails, the limits of single ones are too narrow
            of_many = found if adjust is None else difference.p_values(clopper_pearson_at)[:, None]
            wider[rows, place] = np.maximum(found[:, place], of_many[:, -1])[rows]
    if is_joint:
        return Tested(p_values, joint, adjust)
    flat = np.concatenate([held.reshape(-1) for held in to_adjust])
    flat = adjusted_one_by_one(flat, adjust)
    ends = np.cumsum([held.size for held in to_adjust])[:-1]
    adjusted = [part.reshape(held.shape)
                for part, held in zip(np.split(flat, ends), to_adjust, strict=True)]  # fmt: skip
    return Tested(p_values, adjusted, "holm" if adjust == "max_t" else adjust)


def _put_drawn(
    tests: list[GroupTests], p_values: list[FloatArray], n_replicates: int | None, seed: int
) -> list[FloatArray]:
    """Fill in the p-values of what is drawn; gives them adjusted by their joint distribution."""
    joint = [np.full(held.shape, np.nan) for held in p_values]
    placed = [(at, *part) for at, test in enumerate(tests) for part in test.drawn]
    if not placed:
        return joint
    contrasts = [part for *_, part in placed]
    size = n_draws(n_replicates, sum(part.hits.size for part in contrasts))
    found, start = permutation_p_values(contrasts, size, seed), 0
    for at, rows, places, _ in placed:
        end = start + len(rows) * len(places)
        for target, source in zip((p_values, joint), found, strict=True):
            target[at][rows[:, None], places] = source[start:end].reshape(-1, len(places))
        start = end
    return joint


def draw_from_rest(
    equal: list[EqualMeans],
    compared: BoolArray,
    models: tuple[Codes, int],
    *,
    is_whole: bool,
) -> list[Drawn]:
    """Contrasts of each group and the rest of its model, or all of it."""
    place, n_models = models
    found = []
    for means in equal:
        total = means.sums.totals(place, n_models).at(place)
        coefficients = np.stack(
            [equality_coefficients(means.sums, total, weights, is_whole=is_whole)
             for weights in means.weights], axis=1,
        )  # fmt: skip
        coefficients[~compared[:, means.places]] = np.nan
        for model in range(n_models):
            rows = np.flatnonzero(place == model)
            sums = means.sums.at(rows)
            contrasts = Contrasts(sums.hits, sums.support, coefficients[rows])
            found.append(Drawn(rows, means.places, contrasts))
    return found


def pairwise_p_values(equal: list[EqualMeans], compared: BoolArray, reference: Codes) -> FloatArray:
    """Exact p-values (S, T) of each group against the group that it is compared with, -1 for none.

    From these two alone: in a pool of all groups one that deviates would move what is expected.
    """
    found = np.full(compared.shape, np.nan)
    for means in equal:
        own, other = means.sums.parts(), means.sums.at(reference).parts()
        total = Sums.of([a + b for a, b in zip(own, other, strict=True)])
        for at, weights in zip(means.places, means.weights, strict=True):
            by_class = equality_coefficients(means.sums, total, weights, is_whole=False)
            for row in np.flatnonzero(compared[:, at]).tolist():
                held = (part[row] for part in (by_class, *own, *total.parts()))
                found[row, at] = equality_mid_p(*held)
    return found
