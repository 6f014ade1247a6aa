"""Codes of several columns -> how many rows hold each combination of them.

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

from pandas_tba.counts.storage import DENSE_CELLS, ROWS, Cells, Entries, gathered
from pandas_tba.frames.codes import (
    ColumnCodes,
    StoredCodes,
    TextCodes,
    Unforeseen,
    hashed,
    narrowest,
)

Array = npt.NDArray[Any]
Counts = npt.NDArray[np.intp]

_FEW_CELLS = 9  # comparing with each cell beats bincount up to here
_PAIR_CELLS = 256  # two one-byte codes are counted as one two-byte code up to here
_PAIR_ROWS = 1 << 18
_THREAD_ROWS = 100_000


class Tally(NamedTuple):
    """Codes of the keys of each group that occurs (G, keys), and its cells for each prediction."""

    groups: Counts
    tables: tuple[Cells, ...]


class PairCodes(ColumnCodes):
    """Codes of two columns of `n_rows` rows as one: those of the second run faster.

    Both foresee every value, since nobody would widen them.
    """

    def __init__(self, columns: Sequence[ColumnCodes], n_rows: int) -> None:
        self._columns, self._n_rows = columns, n_rows
        self.size = math.prod(encoded.size for encoded in columns)

    def block(self, start: int, stop: int) -> Array:
        """Codes of some rows."""
        return _fused(self._columns, start, stop)

    def levels(self) -> pd.Index:
        """The codes themselves."""
        return pd.RangeIndex(self.size)

    def compacted(self) -> ColumnCodes:
        """Only the codes that occur, unless there are few anyway."""
        is_small = self.size <= _PAIR_CELLS
        return self if is_small else hashed(self.block(0, self._n_rows))


def tally(
    keys: Sequence[ColumnCodes],
    truth: ColumnCodes,
    predictions: Sequence[ColumnCodes],
    n_rows: int,
    weights: Array | None = None,
) -> tuple[Tally, list[ColumnCodes]]:
    """Count rows over keys x truth x prediction, for each column of predictions.

    Returns the counts and the codes they refer to: those given, or wider or more compact ones.
    """
    columns = [*keys, truth, *predictions]
    n_keys = len(keys)
    while True:
        if _is_sparse(columns, n_keys, n_rows):
            columns = [*columns[:n_keys], *(encoded.compacted() for encoded in columns[n_keys:])]
        shared, counted = columns[: n_keys + 1], columns[n_keys + 1 :]
        count = _sparse if _is_sparse(columns, n_keys, n_rows) else _dense
        try:
            return count(shared, counted, n_rows, weights), columns
        except Unforeseen as fault:
            columns = [
                encoded.widened() if encoded is fault.encoded else encoded for encoded in columns
            ]


def _is_sparse(columns: Sequence[ColumnCodes], n_keys: int, n_rows: int) -> bool:
    """Whether most cells would be empty, so that only those with rows are kept."""
    shared = math.prod(encoded.size for encoded in columns[: n_keys + 1])
    n_cells = shared * max(encoded.size for encoded in columns[n_keys + 1 :])
    return n_cells > max(DENSE_CELLS, 4 * n_rows)


def _dense(
    shared: Sequence[ColumnCodes],
    predictions: Sequence[ColumnCodes],
    n_rows: int,
    weights: Array | None,
) -> Tally:
    """Counts of all cells, of which those of groups that do not occur are left out."""
    sizes = [encoded.size for encoded in shared]
    n_groups = math.prod(sizes[:-1])
    quantities = [
        [quantity.reshape(n_groups, sizes[-1], encoded.size) for quantity in found]
        for found, encoded in zip(
            _add_up(shared, predictions, n_rows, weights), predictions, strict=True
        )
    ]
    groups = np.zeros((1, 0), dtype=np.intp)
    if len(sizes) > 1:
        occurs = np.flatnonzero(quantities[0][ROWS].any(axis=(1, 2)))
        groups = np.stack(np.unravel_index(occurs, sizes[:-1]), axis=1)
        if len(occurs) < n_groups:
            quantities = [[quantity[occurs] for quantity in found] for found in quantities]
    return Tally(groups, tuple(Cells(found[ROWS].shape, tuple(found)) for found in quantities))


def _add_up(
    shared: Sequence[ColumnCodes],
    predictions: Sequence[ColumnCodes],
    n_rows: int,
    weights: Array | None,
) -> list[list[Array]]:
    """Planes over the fused codes of each prediction, on two threads where text is looked up.

    Only looking up text releases the interpreter long enough for a second thread to pay.
    """
    has_text = any(isinstance(encoded, TextCodes) for encoded in (*shared, *predictions))
    if not has_text or n_rows < _THREAD_ROWS or n_threads() < 2:
        return _add_rows(shared, predictions, weights, 0, n_rows)
    half = n_rows // 2
    try:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(2) as pool:
            parts = [
                pool.submit(_add_rows, shared, predictions, weights, *span)
                for span in ((0, half), (half, n_rows))
            ]
    except RuntimeError:  # no thread starts once Python has begun to end
        return _add_rows(shared, predictions, weights, 0, n_rows)
    first, second = (part.result() for part in parts)
    return [
        [a + b for a, b in zip(quantities, others, strict=True)]
        for quantities, others in zip(first, second, strict=True)
    ]


def n_threads() -> int:
    """Threads that may be used: PANDAS_TBA_THREADS, or the processors there are."""
    asked = os.environ.get("PANDAS_TBA_THREADS", "")
    return int(asked) if asked.isdigit() else os.cpu_count() or 1


def _add_rows(
    shared: Sequence[ColumnCodes],
    predictions: Sequence[ColumnCodes],
    weights: Array | None,
    start: int,
    stop: int,
) -> list[list[Array]]:
    """Sums over the fused codes of some rows, block by block."""
    *keys, truth = shared
    base_size = math.prod(encoded.size for encoded in shared)
    sizes = [base_size * encoded.size for encoded in predictions]
    counters, rows = _counters(sizes, stop - start, weights)
    for at in range(start, stop, rows):
        end = min(at + rows, stop)
        group = _fused(keys, at, end) if keys else None
        true = truth.block(at, end)
        for encoded, size, counter in zip(predictions, sizes, counters, strict=True):
            # the labels first: their code is narrow still
            n_cells = truth.size * encoded.size
            code = _fuse(true, encoded.block(at, end), encoded.size, narrowest(n_cells))
            if group is not None:
                code = _fuse(group, code, n_cells, narrowest(size))
            counter.add(code, None if weights is None else weights[at:end])
    return [counter.quantities() for counter in counters]


def _fused(columns: Sequence[ColumnCodes], start: int, stop: int) -> Array:
    """One code for each row: the codes of all columns, the last one running fastest."""
    code, size = columns[0].block(start, stop), columns[0].size
    for encoded in columns[1:]:
        size *= encoded.size
        code = _fuse(code, encoded.block(start, stop), encoded.size, narrowest(size))
    return code


def _fuse(code: Array, encoded: Array, size: int, dtype: npt.DTypeLike) -> Array:
    """Codes of a dtype that holds all combinations, with codes of `size` values as the fastest."""
    # a size beyond the dtype wraps to 0, which is right: there is only one code before it, 0
    factor = np.asarray(size).astype(dtype)
    fused = np.multiply(code, factor, dtype=dtype, casting="unsafe")
    return np.add(fused, encoded, out=fused, dtype=dtype, casting="unsafe")


class _Counter(Protocol):
    def add(self, code: Array, weights: Array | None) -> None: ...

    def quantities(self) -> list[Array]: ...


def _counters(
    sizes: Sequence[int], n_rows: int, weights: Array | None
) -> tuple[list[_Counter], int]:
    """A counter for each number of cells, and the rows of a block that suits them."""
    largest = max(sizes)
    if weights is not None:
        return [_CountWeighted(size) for size in sizes], max(1 << 15, 2 * largest)
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

    def add(self, code: Array, weights: Array | None) -> None:
        self._total += np.bincount(code, minlength=self._size)

    def quantities(self) -> list[Array]:
        return [self._total]


class _CountFew:
    """One comparison for each cell but the last."""

    def __init__(self, size: int) -> None:
        self._total, self._rows = np.zeros(size, dtype=np.intp), 0

    def add(self, code: Array, weights: Array | None) -> None:
        self._rows += len(code)
        for cell in range(len(self._total) - 1):
            self._total[cell] += np.count_nonzero(code == code.dtype.type(cell))

    def quantities(self) -> list[Array]:
        self._total[-1] = self._rows - self._total[:-1].sum()
        return [self._total]


class _CountPairs:
    """Two neighbouring one-byte codes as one two-byte code; both halves are summed at the end."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._pairs = np.zeros(1 << 16, dtype=np.intp)
        self._odd = np.zeros(1 << 8, dtype=np.intp)

    def add(self, code: Array, weights: Array | None) -> None:
        if len(code) % 2:
            self._odd[code[-1]] += 1
            code = code[:-1]
        self._pairs += np.bincount(code.view(np.uint16), minlength=1 << 16)

    def quantities(self) -> list[Array]:
        square = self._pairs.reshape(256, 256)
        return [(square.sum(axis=0) + square.sum(axis=1) + self._odd)[: self._size]]


class _CountWeighted:
    """Rows, and sums of weights and of their squares."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._quantities = [
            np.zeros(size, dtype=dtype) for dtype in (np.intp, np.float64, np.float64)
        ]

    def add(self, code: Array, weights: Array | None) -> None:
        assert weights is not None
        code = code.astype(np.intp, copy=False)  # once, not in each bincount
        for at, values in enumerate((None, weights, weights * weights)):
            self._quantities[at] += np.bincount(code, weights=values, minlength=self._size)

    def quantities(self) -> list[Array]:
        return self._quantities


def _sparse(
    shared: Sequence[ColumnCodes],
    predictions: Sequence[ColumnCodes],
    n_rows: int,
    weights: Array | None,
) -> Tally:
    """Counts where most cells would be empty: only those that hold rows."""
    *keys, truth = shared
    known = None
    widest = max(encoded.size for encoded in predictions)
    if math.prod(encoded.size for encoded in shared) * widest >= 1 << 63:
        known, group_of_row = _occurring(keys, n_rows)
        keys = [StoredCodes(group_of_row, range(len(known)), has_missing=False)]
    n_groups = math.prod(encoded.size for encoded in keys)
    occurring, tables = np.arange(1), []
    for encoded in predictions:
        codes = _fused([*keys, truth, encoded], 0, n_rows)
        found, quantities = _distinct_codes(codes, weights)
        group, at_true, at_predicted = np.unravel_index(found, (n_groups, truth.size, encoded.size))
        if keys:
            occurring, group = np.unique(group, return_inverse=True)
        shape = (len(occurring), truth.size, encoded.size)
        tables.append(
            gathered(shape, Entries(group.reshape(-1), at_true, at_predicted, quantities))
        )
    if known is not None:
        return Tally(known[occurring], tuple(tables))
    sizes = tuple(encoded.size for encoded in keys)
    groups = np.stack(np.unravel_index(occurring, sizes), axis=1) if keys else np.zeros((1, 0), int)
    return Tally(groups, tuple(tables))


def _distinct_codes(codes: Array, weights: Array | None) -> tuple[Array, tuple[Array, ...]]:
    """The codes that occur, in order, and the quantities of each."""
    if weights is None:
        ordered = np.sort(codes)
        is_new = np.ones(len(ordered), dtype=np.bool_)
        np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
        starts = np.flatnonzero(is_new)
        found = ordered[starts].astype(np.intp)
        return found, (np.diff(np.append(starts, len(ordered))),)
    found, place = np.unique(codes, return_inverse=True)
    counter = _CountWeighted(len(found))
    counter.add(place.reshape(-1), weights)
    return found.astype(np.intp), tuple(counter.quantities())


def _occurring(keys: Sequence[ColumnCodes], n_rows: int) -> tuple[Counts, Counts]:
    """Codes of the keys of each group that occurs, and the group of each row.

    Groups are renumbered after each key, so that no product of sizes overflows.
    """
    groups = np.zeros((min(n_rows, 1), 0), dtype=np.intp)
    group_of_row = np.zeros(n_rows, dtype=np.intp)
    for encoded in keys:
        fused = group_of_row * encoded.size + encoded.block(0, n_rows).astype(np.intp)
        group_of_row, found = pd.factorize(fused)
        before, code = np.divmod(found, encoded.size)
        groups = np.column_stack([groups[before], code])
    return groups, group_of_row
