"""Which column of a frame plays which part."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pandas_tba.errors import InputError, check_choice, shown

Missing = Literal["raise", "drop"]


@dataclass(frozen=True)
class Columns:
    """Names of the columns that hold truth and predictions, and what is known of their labels.

    ``y_pred`` names one column, or a list of them: one for each model.  ``model`` names a column
    that holds the model of each row.  ``labels`` declares the classes and their order, ``abstain``
    the labels that may be predicted and are no class.
    """

    y_true: Hashable = "y_true"
    y_pred: Hashable | Sequence[Hashable] = "y_pred"
    model: Hashable | None = None
    labels: Iterable[Hashable] | None = None
    abstain: Iterable[Hashable] = ()
    pos_label: Hashable | None = None
    missing: Missing = "raise"

    def __post_init__(self) -> None:
        for name in ("labels", "abstain"):  # an iterator would be used up by the first question
            if isinstance(getattr(self, name), Iterator):
                object.__setattr__(self, name, list(getattr(self, name)))

    def check(self) -> None:
        """Raise InputError where the arguments do not go together."""
        check_choice("missing", self.missing, ("raise", "drop"))
        if not self.predictions:
            raise InputError("`y_pred` is an empty list; name at least one column of predictions.")
        if self.model is not None and self.is_wide:
            raise InputError(
                f"`model` ({shown(self.model)}) and a list in `y_pred` are two ways to name the "
                "models; use one: models in columns (y_pred=[...]) or in rows (model=...)."
            )
        repeated = [name for name in self.predictions if self.predictions.count(name) > 1]
        if repeated:
            raise InputError(f"`y_pred` names {shown(repeated[0])} more than once.")

    @property
    def is_wide(self) -> bool:
        """Whether there is one column of predictions for each model."""
        return isinstance(self.y_pred, list)

    @property
    def predictions(self) -> list[Hashable]:
        """Columns of predictions."""
        return list(self.y_pred) if isinstance(self.y_pred, list) else [self.y_pred]
