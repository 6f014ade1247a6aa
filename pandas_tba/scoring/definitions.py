"""What a metric is: its function of counts, and which zero denominators leave it undefined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from pandas_tba.errors import KindError, check_choice, shown
from pandas_tba.scoring.gradients import Gradient

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
FourCells = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

_HITS, _MISSES, _FALSE_POSITIVES, _TRUE_NEGATIVES = range(4)  # of one_against_rest


class ZeroDenominator(NamedTuple):
    """What a class may lack so that a metric is undefined.

    `empty` and `filled` are the cells of the class against the rest that hold nothing, and
    something; `when` says it in words, `reasons` with the label.
    """

    when: str
    reasons: tuple[str, ...]
    empty: tuple[int, ...]
    filled: tuple[int, ...] = ()

    @property
    def is_of_any_label(self) -> bool:
        """Whether it speaks of all rows, so that a label which is no class can be at fault."""
        return _TRUE_NEGATIVES in self.empty

    def holds(self, cells: FourCells) -> BoolArray:
        """Where the class lacks it, of the shape of the cells."""
        is_zero = np.ones_like(cells[0], dtype=np.bool_)
        for at in self.empty:
            is_zero &= cells[at] == 0
        for at in self.filled:
            is_zero &= cells[at] > 0
        return is_zero


NO_CAUSE = "its function gives NaN"
_NO_ROWS, _NEVER = "no rows of {}", "never predicted {}"
_ONLY_ROWS, _ALWAYS = "all rows are of {}", "all rows are predicted {}"

ABSENT = ZeroDenominator("has no rows", (_NO_ROWS,), (_HITS, _MISSES))
UNPREDICTED = ZeroDenominator("is never predicted", (_NEVER,), (_HITS, _FALSE_POSITIVES))
NEGLECTED = ZeroDenominator(
    "has rows and is never predicted", (_NEVER,), (_HITS, _FALSE_POSITIVES), (_MISSES,)
)
NOWHERE = ZeroDenominator(
    "has no rows and is never predicted", (_NO_ROWS, _NEVER), (_HITS, _MISSES, _FALSE_POSITIVES)
)
ALONE = ZeroDenominator("holds all rows", (_ONLY_ROWS,), (_FALSE_POSITIVES, _TRUE_NEGATIVES))
ALWAYS_PREDICTED = ZeroDenominator("is always predicted", (_ALWAYS,), (_MISSES, _TRUE_NEGATIVES))
EVERYWHERE = ZeroDenominator(
    "holds all rows and is always predicted",
    (_ONLY_ROWS, _ALWAYS),
    (_MISSES, _FALSE_POSITIVES, _TRUE_NEGATIVES),
)


@dataclass(frozen=True)
class Metric:
    """A metric, as a function of counts.

    Attributes
    ----------
    name : str
        Name of its column.
    kind : {"class", "overall"}
        What the function takes and gives. ``class``: (hits, support, predicted, total), the
        first three of shape (G, L), total of shape (G, 1), gives one value for each class,
        (G, L): the class against the rest. ``overall``: (hits, support, predicted, total,
        is_class), with is_class of shape (L,), gives (G,).
    function : callable
        Of float arrays, rows or their weight; NaN where the metric is undefined.
    formula : str
        In LaTeX.
    bounds : (float, float)
        Smallest and largest value.
    greater_is_better : bool or None
        None where neither direction is better.
    reference : str
        Where it is defined.
    takes_t : bool
        Whether the function also takes ``t``.
    undefined_where : tuple or None
        What a class lacks where the metric is undefined, as the rows of `METRICS` say; without
        any rows it is undefined in any case. None where that is not known.
    exponent : float, "t" or None
        Where the metric is the mean of recall weighted by prevalence to a power: the power, "t"
        for the one asked for. It can then be compared.
    share_of : {"support", "rest", "predicted", "unpredicted", "total"} or None
        Where the metric of a class is one proportion: the rows that it is a share of.
    gradient : callable or None
        Of the arguments of the function: its derivatives by hits, support, predicted and total, of
        the shapes of these. Taken by differences where it is None.
    limits : str or None
        How `interval` makes limits of what is neither a mean of recalls nor a proportion: as one
        proportion at the rows that the variance by influence says, with a hit and a miss more in
        each true class ("rows"), in each predicted one ("cols"), or whichever gives fewer
        ("least"); or by the name of a metric that has a rule of its own. None is "least" between
        finite bounds, normal limits of the logarithm between 0 and infinity, else normal limits.
    aliases : tuple of str
        Other names that `metrics=` knows it by; its column then bears the one asked for.
    """

    name: str
    kind: Literal["class", "overall"]
    function: Callable[..., Any]
    formula: str = ""
    bounds: tuple[float, float] = (0.0, 1.0)
    greater_is_better: bool | None = True
    reference: str = ""
    takes_t: bool = False
    undefined_where: tuple[ZeroDenominator, ...] | None = None
    exponent: float | Literal["t"] | None = None
    share_of: Literal["support", "rest", "predicted", "unpredicted", "total"] | None = None
    gradient: Gradient | None = None
    limits: str | None = None
    aliases: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("class", "overall"))
        if not callable(self.function):
            raise KindError(f"`function` must be a function; got {shown(self.function)}.")

    def is_known_as(self, name: str) -> bool:
        """Whether this is its name, or was before it was asked for by an alias."""
        return name in (self.name, *self.aliases)

    def denominator(self, support: Any, predicted: Any, total: Any) -> Any:
        """Rows that a proportion is a share of."""
        return {
            "support": support,
            "rest": total - support,
            "predicted": predicted,
            "unpredicted": total - predicted,
            "total": total,
        }[str(self.share_of)]

    @property
    def undefined(self) -> str:
        """When the metric is NaN, in words."""
        if self.undefined_where is None:
            return NO_CAUSE
        if not self.undefined_where:
            return "there are no rows"
        subject = "the class" if self.kind == "class" else "a class"
        of_weight = " that has weight at this t" if self.takes_t else ""
        return f"{subject}{of_weight} {', or '.join(zero.when for zero in self.undefined_where)}"
