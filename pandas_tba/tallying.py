"""Slots of several columns -> how many rows hold each combination of them.

Blocks of rows that stay in the cache are fused into one narrow code and counted there, so that
memory does not grow with the rows.  Which way of counting is fastest depends on the number of
cells alone; docs/explanation/architecture.md has the limits.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.encoding import Slots, TextSlots, Unforeseen, narrowest
from pandas_tba.errors import InputError

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.intp]

_FEW_CELLS = 9  # comparing with each cell beats bincount up to here
_PAIR_CELLS = 256  # two one-byte codes are counted as one two-byte code up to here
_PAIR_ROWS = 1 << 18
_DENSE_CELLS = 1 << 20  # always counted densely up to here
_MOST_CELLS = 1 << 26
_THREAD_ROWS = 100_000


class Tally(NamedTuple):
    """Slots of the keys of each group that occurs (G, keys), and (G, T, P) counts per prediction."""

    groups: Counts
    cells: tuple[Counts, ...]


def tally(
    keys: Sequence[Slots], truth: Slots, predictions: Sequence[Slots], n_rows: int
) -> tuple[Tally, list[Slots]]:
    """Count rows over keys x truth x prediction, for each column of predictions.

    Returns the counts and the slots they refer to: those given, or wider or more compact ones.
    """
    columns = [*keys, truth, *predictions]
    n_keys = len(keys)
    while True:
        if _is_sparse(columns, n_keys, n_rows):
            columns = [*columns[:n_keys], *(slots.compacted() for slots in columns[n_keys:])]
        shared, counted = columns[: n_keys + 1], columns[n_keys + 1 :]
        try:
            if _is_sparse(columns, n_keys, n_rows):
                return _sparse(shared, counted, n_rows), columns
            return _dense(shared, counted, n_rows), columns
        except Unforeseen as fault:
            columns = [slots.widened() if slots is fault.slots else slots for slots in columns]


def _n_cells(columns: Sequence[Slots], n_keys: int) -> int:
    shared = math.prod(slots.size for slots in columns[: n_keys + 1])
    return shared * max(slots.size for slots in columns[n_keys + 1 :])


def _is_sparse(columns: Sequence[Slots], n_keys: int, n_rows: int) -> bool:
    return _n_cells(columns, n_keys) > max(_DENSE_CELLS, 4 * n_rows)


def _dense(shared: Sequence[Slots], predictions: Sequence[Slots], n_rows: int) -> Tally:
    sizes = [slots.size for slots in shared]
    totals = _add_up(shared, predictions, n_rows)
    tables = [
        total.reshape(math.prod(sizes[:-1]), sizes[-1], slots.size)
        for total, slots in zip(totals, predictions, strict=True)
    ]
    if len(sizes) == 1:
        return Tally(np.zeros((1, 0), dtype=np.intp), tuple(tables))
    occurs = np.flatnonzero(tables[0].any(axis=(1, 2)))
    groups = np.stack(np.unravel_index(occurs, sizes[:-1]), axis=1)
    if len(occurs) < len(tables[0]):
        tables = [table[occurs] for table in tables]
    return Tally(groups, tuple(tables))


def _add_up(shared: Sequence[Slots], predictions: Sequence[Slots], n_rows: int) -> list[Counts]:
    """Counts of the fused codes of each prediction, on two threads where text is looked up.

    Only looking up text releases the interpreter long enough for a second thread to pay.
    """
    has_text = any(isinstance(slots, TextSlots) for slots in (*shared, *predictions))
    if not has_text or n_rows < _THREAD_ROWS or n_threads() < 2:
        return _add_rows(shared, predictions, 0, n_rows)
    from concurrent.futures import ThreadPoolExecutor

    half = n_rows // 2
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(_add_rows, shared, predictions, 0, half)
        second = pool.submit(_add_rows, shared, predictions, half, n_rows)
        return [a + b for a, b in zip(first.result(), second.result(), strict=True)]


def n_threads() -> int:
    """Threads that may be used: PANDAS_TBA_THREADS, or the processors there are."""
    asked = os.environ.get("PANDAS_TBA_THREADS", "")
    return int(asked) if asked.isdigit() else os.cpu_count() or 1


def _add_rows(
    shared: Sequence[Slots], predictions: Sequence[Slots], start: int, stop: int
) -> list[Counts]:
    base_size = math.prod(slots.size for slots in shared)
    sizes = [base_size * slots.size for slots in predictions]
    counters, rows = _counters(sizes, stop - start)
    for at in range(start, stop, rows):
        end = min(at + rows, stop)
        base = _fused(shared, at, end)
        for slots, size, counter in zip(predictions, sizes, counters, strict=True):
            counter.add(_appended(base, slots.block(at, end), slots.size, narrowest(size)))
    return [counter.total() for counter in counters]


def _fused(columns: Sequence[Slots], start: int, stop: int) -> Array:
    """One code for each row: the slots of all columns, the last one running fastest."""
    code, size = columns[0].block(start, stop), columns[0].size
    for slots in columns[1:]:
        size *= slots.size
        code = _appended(code, slots.block(start, stop), slots.size, narrowest(size))
    return code


def _appended(code: Array, slots: Array, size: int, dtype: npt.DTypeLike) -> Array:
    fused = np.multiply(code, np.asarray(size, dtype=dtype), dtype=dtype, casting="unsafe")
    return np.add(fused, slots, out=fused, dtype=dtype, casting="unsafe")


class _Counter(Protocol):
    def add(self, code: Array) -> None: ...

    def total(self) -> Counts: ...


def _counters(sizes: Sequence[int], n_rows: int) -> tuple[list[_Counter], int]:
    """A counter for each number of cells, and the rows of a block that suits them."""
    largest = max(sizes)
    if largest <= _FEW_CELLS and n_rows >= 1 << 15:
        return [_CountFew(size) for size in sizes], 1 << 17
    if largest <= _PAIR_CELLS and n_rows >= _PAIR_ROWS:
        return [_CountPairs(size) for size in sizes], 1 << 18
    # a block adds all its cells once, so it should hold more rows than cells
    return [_CountPlain(size) for size in sizes], max(1 << 16, 2 * largest)


class _CountPlain:
    """One bincount for each block."""

    def __init__(self, size: int) -> None:
        self._size, self._total = size, np.zeros(size, dtype=np.intp)

    def add(self, code: Array) -> None:
        self._total += np.bincount(code, minlength=self._size)

    def total(self) -> Counts:
        return self._total


class _CountFew:
    """One comparison for each cell but the last."""

    def __init__(self, size: int) -> None:
        self._total, self._rows = np.zeros(size, dtype=np.intp), 0

    def add(self, code: Array) -> None:
        self._rows += len(code)
        for cell in range(len(self._total) - 1):
            self._total[cell] += np.count_nonzero(code == code.dtype.type(cell))

    def total(self) -> Counts:
        self._total[-1] = self._rows - self._total[:-1].sum()
        return self._total


class _CountPairs:
    """Two neighbouring one-byte codes as one two-byte code; both halves are summed at the end."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pairs = np.zeros(1 << 16, dtype=np.intp)
        self._odd = np.zeros(1 << 8, dtype=np.intp)

    def add(self, code: Array) -> None:
        if len(code) % 2:
            self._odd[code[-1]] += 1
            code = code[:-1]
        self._pairs += np.bincount(code.view(np.uint16), minlength=1 << 16)

    def total(self) -> Counts:
        square = self._pairs.reshape(256, 256)
        return (square.sum(axis=0) + square.sum(axis=1) + self._odd)[: self._size]


def _sparse(shared: Sequence[Slots], predictions: Sequence[Slots], n_rows: int) -> Tally:
    """Counts where most cells would be empty: only the groups that occur get a table."""
    *keys, truth = shared
    groups, group_of_row = _occurring(keys, n_rows)
    tables = []
    for slots in predictions:
        _check_cells(len(groups), truth.size, slots.size)
        table = np.zeros((len(groups), truth.size, slots.size), dtype=np.intp)
        np.add.at(table, (group_of_row, truth.block(0, n_rows), slots.block(0, n_rows)), 1)
        tables.append(table)
    return Tally(groups, tuple(tables))


def _check_cells(n_groups: int, n_true: int, n_predicted: int) -> None:
    if n_groups * n_true * n_predicted > _MOST_CELLS:
        raise InputError(
            f"`by`: {n_groups:,} groups of {n_true:,} true and {n_predicted:,} predicted labels need "
            f"more than {_MOST_CELLS:,} cells. Group by fewer keys, or join rare labels."
        )


def _occurring(keys: Sequence[Slots], n_rows: int) -> tuple[Counts, Counts]:
    """Slots of the keys of each group that occurs, and the group of each row.

    Groups are renumbered after each key, so that no product of sizes overflows.
    """
    groups = np.zeros((min(n_rows, 1), 0), dtype=np.intp)
    group_of_row = np.zeros(n_rows, dtype=np.intp)
    for slots in keys:
        fused = group_of_row * slots.size + slots.block(0, n_rows).astype(np.intp)
        group_of_row, found = pd.factorize(fused)
        before, slot = np.divmod(found, slots.size)
        groups = np.column_stack([groups[before], slot])
    return groups, group_of_row
