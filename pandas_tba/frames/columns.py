"""Which column of a frame plays which role, and what is known of its labels."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any, Literal

import pandas as pd

from pandas_tba.errors import InputError, KindError, check_choice, is_real, shown
from pandas_tba.frames.labels import LabelRules, label_rules

Missing = Literal["raise", "drop"]


@dataclass(frozen=True, eq=False, repr=False)
class Roles:
    """The role of each column that is named, checked: what all steps after the entrance take.

    ``predictions`` are columns of labels, or of scores where ``has_scores``; with several, or
    where ``is_wide``, each is a model.
    """

    y_true: Hashable
    predictions: tuple[Hashable, ...]
    rules: LabelRules
    is_wide: bool = False
    has_scores: bool = False
    threshold: float = 0.5
    model: Hashable | None = None
    row: Hashable | None = None
    sample_weight: Hashable | None = None
    missing: Missing = "raise"
    schema: Any = None

    @cached_property
    def argument(self) -> str:
        """The argument that names the predictions."""
        return "y_score" if self.has_scores else "y_pred"

    @cached_property
    def has_models(self) -> bool:
        """Whether models are named, in columns or in rows."""
        return self.is_wide or self.model is not None

    @property
    def has_pairs(self) -> bool:
        """Whether several models can be compared on the same rows; weighted ones cannot."""
        in_columns = self.is_wide and len(self.predictions) > 1
        in_rows = self.model is not None and self.row is not None
        return self.sample_weight is None and (in_columns or in_rows)


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """What a user says of the columns and their labels, as it was said: ``roles`` are these, checked.

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

    @cached_property
    def roles(self) -> Roles:
        """The roles; InputError where the arguments do not go together."""
        check_choice("missing", self.missing, ("raise", "drop"))
        is_wide = isinstance(self._named, list)
        predictions = tuple(self._named) if isinstance(self._named, list) else (self._named,)
        self._check_hashable(predictions)
        self._check_predictions(predictions, is_wide=is_wide)
        return Roles(
            self.y_true,
            predictions,
            label_rules(self.labels, self.abstain, self.pos_label),
            is_wide,
            self.y_score is not None,
            self.threshold if isinstance(self.threshold, Real) else float(self.threshold),
            self.model,
            self.row,
            self.sample_weight,
            self.missing,
            self.schema,
        )

    @property
    def _named(self) -> Any:
        return self.y_pred if self.y_score is None else self.y_score

    @property
    def _argument(self) -> str:
        return "y_pred" if self.y_score is None else "y_score"

    def _check_predictions(self, predictions: tuple[Hashable, ...], *, is_wide: bool) -> None:
        """InputError where predictions, scores and models do not go together."""
        argument = self._argument
        if self.y_score is not None:
            self._check_scores()
        elif self.threshold != 0.5:
            raise InputError(
                f"`threshold` ({shown(self.threshold)}) compares scores, and none are named. Name "
                "their column: y_score='p'."
            )
        if not predictions:
            raise InputError(
                f"`{argument}` is an empty list; name at least one column of predictions."
            )
        if self.model is not None and is_wide:
            raise InputError(
                f"`model` ({shown(self.model)}) and a list in `{argument}` are two ways to name the "
                f"models; use one: models in columns ({argument}=[...]) or in rows (model=...)."
            )
        repeated = [name for name in predictions if predictions.count(name) > 1]
        if repeated:
            raise InputError(f"`{argument}` names {shown(repeated[0])} more than once.")

    def _check_hashable(self, predictions: tuple[Hashable, ...]) -> None:
        """KindError for what cannot be the name of a column."""
        names = [("y_true", self.y_true), ("model", self.model)]
        names += [("sample_weight", self.sample_weight), ("row", self.row)]
        if not isinstance(self.y_score, dict):
            names += [(self._argument, name) for name in predictions]
        for which, name in names:
            if which in ("y_pred", "y_score") and isinstance(name, (pd.Index, set)):
                raise KindError(
                    f"`{which}` must be the name of a column, or a list of names; got "
                    f"{shown(name)}. Write {which}=list(...)."
                )
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
        if not is_real(threshold) or math.isnan(threshold):
            raise InputError(f"`threshold` must be a number; got {shown(threshold)}.")


DEFAULT_COLUMNS = Columns()
