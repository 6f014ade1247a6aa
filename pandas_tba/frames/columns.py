"""Which column of a frame plays which part."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

from pandas_tba.errors import InputError, KindError, check_choice, shown

Missing = Literal["raise", "drop"]


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """Names of the columns that hold truth and predictions, and what is known of their labels.

    ``y_pred`` names one column, or a list of them: one for each model; where nothing names
    predictions it is "y_pred".  ``model`` names a column
    that holds the model of each row.  ``labels`` declares the classes and their order, ``abstain``
    the labels that may be predicted and are no class.  ``y_score`` names scores in place of labels:
    the positive class is predicted where they reach ``threshold``.  ``row`` names the column that says
    which case a row is about, where the models of one case stand in several rows.
    """

    y_true: Hashable = "y_true"
    y_pred: Hashable | Sequence[Hashable] | None = None
    model: Hashable | None = None
    labels: Iterable[Hashable] | None = None
    abstain: Iterable[Hashable] = ()
    pos_label: Hashable | None = None
    missing: Missing = "raise"
    y_score: Hashable | Sequence[Hashable] | None = None
    threshold: float = 0.5
    sample_weight: Hashable | None = None
    schema: Any = None
    row: Hashable | None = None

    def __post_init__(self) -> None:
        for name in ("labels", "abstain"):  # an iterator would be used up by the first question
            if isinstance(getattr(self, name), Iterator):
                object.__setattr__(self, name, list(getattr(self, name)))
        if self.y_pred is None and self.y_score is None:
            object.__setattr__(self, "y_pred", "y_pred")

    def check(self) -> None:
        """Raise InputError where the arguments do not go together."""
        check_choice("missing", self.missing, ("raise", "drop"))
        self._check_hashable()
        argument = "y_pred" if self.y_score is None else "y_score"
        if self.y_score is not None:
            self._check_scores()
        elif self.threshold != 0.5:
            raise InputError(
                f"`threshold` ({shown(self.threshold)}) compares scores, and none are named. Name "
                "their column: y_score='p'."
            )
        if not self.predictions:
            raise InputError(
                f"`{argument}` is an empty list; name at least one column of predictions."
            )
        if self.model is not None and self.is_wide:
            raise InputError(
                f"`model` ({shown(self.model)}) and a list in `{argument}` are two ways to name the "
                f"models; use one: models in columns ({argument}=[...]) or in rows (model=...)."
            )
        repeated = [name for name in self.predictions if self.predictions.count(name) > 1]
        if repeated:
            raise InputError(f"`{argument}` names {shown(repeated[0])} more than once.")

    def _check_hashable(self) -> None:
        argument = "y_pred" if self.y_score is None else "y_score"
        names = [("y_true", self.y_true), ("model", self.model)]
        names += [("sample_weight", self.sample_weight), ("row", self.row)]
        if not isinstance(self.y_score, dict):
            names += [(argument, name) for name in self.predictions]
        for which, name in names:
            try:
                hash(name)
            except TypeError:
                raise KindError(
                    f"`{which}` must be the name of a column; got a {type(name).__name__}. Put the "
                    f"values into the frame first: df.assign({which}=...)."
                ) from None

    def _check_scores(self) -> None:
        if isinstance(self.y_score, dict):
            raise InputError(
                "`y_score` is a mapping of class probabilities, which only decide() uses. Name one "
                "column of scores, or a list of them for several models."
            )
        if self.y_pred is not None:
            raise InputError(
                f"`y_pred` ({shown(self.y_pred)}) and `y_score` ({shown(self.y_score)}) both name "
                "predictions; use one of them."
            )
        threshold = self.threshold
        if isinstance(threshold, bool) or not isinstance(threshold, Real) or threshold != threshold:
            raise InputError(f"`threshold` must be a number; got {shown(threshold)}.")

    @property
    def is_wide(self) -> bool:
        """Whether there is one column of predictions for each model."""
        return isinstance(self._named, list)

    @property
    def has_models(self) -> bool:
        """Whether models are named, in columns or in rows."""
        return self.is_wide or self.model is not None

    @property
    def has_pairs(self) -> bool:
        """Whether several models can be compared on the same rows; weighted ones cannot."""
        in_columns = self.is_wide and len(self.predictions) > 1
        in_rows = self.model is not None and self.row is not None
        return self.sample_weight is None and (in_columns or in_rows)

    @property
    def predictions(self) -> list[Hashable]:
        """Columns of predictions, labels or scores."""
        return list(self._named) if isinstance(self._named, list) else [self._named]

    @property
    def _named(self) -> Hashable | Sequence[Hashable]:
        return self.y_pred if self.y_score is None else self.y_score
