"""Scores in a frame -> the rows that `sweep` and `best_threshold` look at."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pandas_tba.counts.groups import Groups
from pandas_tba.engines.pandas_frames import complete_rows
from pandas_tba.errors import InputError, listed, shown
from pandas_tba.frames.checks import score_values
from pandas_tba.frames.columns import Columns, Roles
from pandas_tba.frames.labels import LabelRules, Observed, label_set, scored_pair
from pandas_tba.frames.lookup import Bound, column_of
from pandas_tba.frames.values import plain_index
from pandas_tba.questions.decisions import decide
from pandas_tba.questions.thresholds import Scored, check_scores, encoded_column, grouped_rows


def scored_rows(frame: pd.DataFrame, columns: Columns, *, by: Any, dropna: bool) -> Scored:
    """Truth, score and group of each row; once for each model where there are several."""
    _check_scores_are_bound(columns)
    roles = columns.roles
    bound, _, _ = complete_rows(frame, roles, by)
    labels, is_positive = _truth_of_scores(bound, roles.rules)
    scores = [
        check_scores(score_values(name, column)) for name, column in bound.predictions.items()
    ]
    keys = _keys(bound, roles)
    is_positive, held = np.tile(is_positive, len(scores)), np.concatenate(scores)
    if not keys:
        return Scored(is_positive, held, np.zeros(len(held), dtype=np.intp), Groups(), labels)
    if dropna:
        complete = np.logical_and.reduce([key.notna().to_numpy() for key in keys])
        keys = [key[complete].reset_index(drop=True) for key in keys]
        is_positive, held = is_positive[complete], held[complete]
    place, groups = grouped_rows(keys, has_model=roles.has_models)
    return Scored(is_positive, held, place, groups, labels)


def _check_scores_are_bound(columns: Columns) -> None:
    """InputError unless scores are bound that thresholds can use."""
    if columns.y_score is None:
        raise InputError(
            "No scores are bound; thresholds need them. Name their column: "
            "df.tba(y_true='y', y_score='p', pos_label=...).sweep(t=0.5)."
        )
    if columns.sample_weight is not None:
        raise InputError(
            f"`sample_weight` ({shown(columns.sample_weight)}) cannot be used with thresholds, which "
            "count rows. Leave it out; score(t=...) of one threshold takes weights."
        )


def _truth_of_scores(bound: Bound, rules: LabelRules) -> tuple[tuple[Hashable, Hashable], Any]:
    """Negative and positive label, and which rows are positive."""
    name, column = bound.truth
    encoded, codes = encoded_column(column)
    rows = np.bincount(codes, minlength=encoded.size)
    found = np.flatnonzero(rows)
    truth = Observed(name, encoded.values(found), rows[found].tolist(), encoded.declared())
    label_set(rules, truth, [])  # refuses labels that are not expected
    pair = scored_pair(rules, truth)
    positive = [code for code, value in zip(found, truth.values, strict=True) if value == pair[1]]
    return pair, np.isin(codes, positive)


def _keys(bound: Bound, columns: Roles) -> list[pd.Series]:
    """The model, if there are several, and the keys of `by`, a value for each row."""
    keys = [pd.Series(key.values, name=key.name).reset_index(drop=True) for key in bound.keys]
    if not columns.is_wide:
        return keys
    models = columns.predictions
    every = np.tile(np.arange(bound.n_rows), len(models))
    keys = [key.take(every).reset_index(drop=True) for key in keys]
    at = np.repeat(np.arange(len(models)), bound.n_rows)
    model = pd.Categorical.from_codes(at, categories=plain_index(models))
    return [pd.Series(model, name="model"), *keys]


def decided(frame: pd.DataFrame, columns: Columns, *, t: float, prevalence: Any) -> pd.Series:
    """Decisions for the class probabilities of a frame, aligned with it."""
    named = columns.y_score
    if not isinstance(named, Mapping) or not named:
        raise InputError(
            "decide() needs the probability of every class: "
            "df.tba(y_true='y', y_score={'no': 'p_no', 'yes': 'p_yes'}).decide(t=0.5)."
        )
    held = [score_values(name, column_of(frame, "y_score", name)) for name in named.values()]
    probabilities = pd.DataFrame(dict(enumerate(held)), index=frame.index)
    probabilities.columns = plain_index(list(named))
    if isinstance(prevalence, str):
        prevalence = _share_in_frame(frame, columns, list(named), prevalence)
    return decide(probabilities, t=t, prevalence=prevalence)  # type: ignore[return-value]


def _share_in_frame(
    frame: pd.DataFrame, columns: Columns, labels: list[Hashable], prevalence: str
) -> dict[Hashable, int]:
    """Rows of each class among those that are complete."""
    if prevalence != "own":
        raise InputError(
            f"`prevalence` must be 'own', a mapping or a Series of shares; got {shown(prevalence)}."
        )
    plain = replace(columns, y_score=None, y_pred=columns.y_true, labels=labels)
    bound, _, _ = complete_rows(frame, plain.roles, None)
    encoded, codes = encoded_column(bound.truth[1])
    rows = np.bincount(codes, minlength=encoded.size)
    found = np.flatnonzero(rows)
    held = dict(zip(encoded.values(found), rows[found].tolist(), strict=True))
    lacking = [label for label in labels if label not in held]
    foreign = [label for label in held if label not in labels]
    if lacking or foreign:
        raise InputError(
            f"`y_score` must name a column for each label of y_true; classes without rows: "
            f"{listed(lacking) or 'none'}; labels without a column: {listed(foreign) or 'none'}. Pass "
            "prevalence={label: share} to decide for classes that have no rows here."
        )
    return held
