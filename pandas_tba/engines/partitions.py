"""Pandas frames that are parts of the data, Dask's above all -> Combinations."""

from __future__ import annotations

from typing import Any

import pandas as pd

from pandas_tba.columns import Columns
from pandas_tba.engines.combining import Combinations, Question, question_of, together
from pandas_tba.engines.reading import combinations_of_pandas

_BRANCHES = 8  # parts that are added up in one step


def combinations_of_frame(
    frame: pd.DataFrame, columns: Columns, by: Any
) -> tuple[Question, Combinations]:
    """Combinations of a pandas frame."""
    question = question_of(frame.iloc[:0], columns, by)
    return question, combinations_of_pandas(frame, question)


def combinations_of_dask(frame: Any, columns: Columns, by: Any) -> tuple[Question, Combinations]:
    """Combinations of a Dask frame: each partition counted where it is, sums up a tree, no shuffle."""
    import dask
    from dask.dataframe.utils import make_meta

    question = question_of(make_meta(frame), columns, by)
    needed = [name for name in question.needed() if name in frame.columns]
    count, add = dask.delayed(combinations_of_pandas), dask.delayed(together)
    parts = [count(part, question) for part in frame[needed].to_delayed()]
    while len(parts) > 1:
        parts = [
            add(parts[at : at + _BRANCHES], question) for at in range(0, len(parts), _BRANCHES)
        ]
    (found,) = dask.compute(*parts)
    return question, found
