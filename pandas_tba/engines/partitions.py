"""Pandas frames that are parts of the data, Dask's above all -> Combinations."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Hashable
from functools import partial
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.engines.combinations import Ask, Combinations, Question, together
from pandas_tba.engines.memory import cases_of_pandas, combinations_of_pandas
from pandas_tba.engines.pandas_pairs import Faults, Models, faults_together
from pandas_tba.frames.codes import normal

FloatArray = npt.NDArray[np.float64]

_BRANCHES = 8  # parts that are added up in one step


def combinations_of_frame(frame: pd.DataFrame, ask: Ask) -> tuple[Question, Combinations]:
    """Combinations of a pandas frame."""
    question = ask(frame.iloc[:0])
    return question, combinations_of_pandas(frame, question)


def combinations_of_dask(frame: Any, ask: Ask) -> tuple[Question, Combinations]:
    """Combinations of a Dask frame."""
    question = ask(without_rows(frame))
    return question, combinations_of_partitions(frame, question)


def without_rows(frame: Any) -> pd.DataFrame:
    """A frame without rows of the dtypes of a Dask frame."""
    from dask.dataframe.utils import make_meta

    return make_meta(frame)


def combinations_of_partitions(frame: Any, question: Question) -> Combinations:
    """Each partition counted where it is, and the sum of them all; no shuffle."""
    import dask

    count = dask.delayed(combinations_of_pandas)
    parts = [count(part, question) for part in needed_of(frame, question).to_delayed()]
    return added_in_tree(parts, partial(together, question=question))


def needed_of(frame: Any, question: Question) -> Any:
    """The columns that the question needs; a key may be the index."""
    return frame[[name for name in question.needed() if name in frame.columns]]


def added_in_tree(parts: list[Any], add: Callable[[list[Any]], Any]) -> Any:
    """The sum of what the parts of a Dask frame will give, added where they are."""
    import dask

    while len(parts) > 1:
        parts = [
            dask.delayed(add)(parts[at : at + _BRANCHES]) for at in range(0, len(parts), _BRANCHES)
        ]
    (found,) = dask.compute(*parts)
    return found


def cases_of_partitions(
    frame: Any, question: Question, models: Models, cases: Question
) -> tuple[Combinations, Faults]:
    """Combinations of the cases, once the rows of each are brought into one partition."""
    import dask

    row = question.column_of_key(question.bound.keys[-1])
    count = dask.delayed(cases_of_pandas)
    parts = [
        count(part, question, models, cases)
        for part in _by_case(needed_of(frame, question), row).to_delayed()
    ]
    return added_in_tree(parts, partial(_cases_together, question=cases))


def _cases_together(
    parts: list[tuple[Combinations, Faults]], question: Question
) -> tuple[Combinations, Faults]:
    """Cases and faults of all parts; no case lies in two."""
    found, faults = zip(*parts, strict=True)
    return together(found, question), faults_together(faults)


def _by_case(frame: Any, row: Hashable) -> Any:
    """The same rows, those of a case in one partition."""
    if frame.npartitions == 1:
        return frame
    name = "place"
    while name in frame.columns:
        name += "_"
    placed = frame.map_partitions(_assign_places, row, name)
    # by tasks: other ways send columns as Arrow, which does not hold all objects (dask 2026.8)
    return placed.shuffle(on=name, shuffle_method="tasks")


def _assign_places(part: pd.DataFrame, row: Hashable, name: str) -> pd.DataFrame:
    """A part with the number of the place to which each case goes."""
    return part.assign(**{name: _places(part[row])})


def _places(column: pd.Series) -> FloatArray:
    """A number for each value, the same for equal ones in every partition and process."""
    column = normal(column)
    is_complex = pd.api.types.is_complex_dtype(column.dtype)
    if pd.api.types.is_numeric_dtype(column.dtype) and not is_complex:
        return column.to_numpy(dtype=np.float64, na_value=np.nan) + 0.0  # -0.0 is 0.0
    return np.array([_place(value) for value in column.astype(object)], dtype=np.float64)


def _place(value: Any) -> int:
    """A number that equal values share on every machine."""
    if not isinstance(value, str):
        value = str(
            hash(value) if isinstance(value, Number) else value
        )  # 1, 1.0 and True are equal
    return zlib.crc32(value.encode("utf-8", "surrogatepass"))
