"""The groups of a table of counts: their keys, their order, and the index that shows them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from pandas_tba.errors import ColumnError, InputError, InputWarning, listed, nearest, shown, warn
from pandas_tba.frames.codes import ColumnCodes
from pandas_tba.frames.values import (
    alike,
    beside_missing,
    by_kind,
    kinds_of,
    lookalikes,
    order_of,
    plain_index,
    positions,
    union,
)

Codes = npt.NDArray[np.intp]

_MOST_GROUPS = 1 << 22  # that are made without rows


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """G groups, each a value of every key; no key at all is one group of all rows.

    ``codes`` (G, keys) point into ``levels``, -1 is the missing key, which comes last.  Where a key
    is ``declared`` its levels are the categories of a column, in their order and unused ones
    included; else they are sorted.  ``has_model``: the first key is the model.
    """

    names: tuple[Hashable, ...] = ()
    levels: tuple[pd.Index, ...] = ()
    codes: Codes = field(default_factory=lambda: np.zeros((1, 0), dtype=np.intp))
    declared: tuple[bool, ...] = ()
    has_model: bool = False

    def __post_init__(self) -> None:
        pairs = zip(self.levels, self.codes.T, strict=True)
        levels = (beside_missing(level) if (codes < 0).any() else level for level, codes in pairs)
        object.__setattr__(self, "levels", tuple(levels))

    def __len__(self) -> int:
        return len(self.codes)

    def index(self) -> pd.Index:
        """Index, or MultiIndex for several keys, of the groups."""
        if not self.names:
            return pd.RangeIndex(len(self))
        if len(self.names) == 1:
            return _with_missing(self.levels[0], self.codes[:, 0]).rename(self.names[0])
        return pd.MultiIndex(
            levels=list[Any](self.levels),
            codes=list(self.codes.T),
            names=self.names,
            verify_integrity=False,
        )

    def columns(self) -> list[pd.Index]:
        """The values of each key, (G,) each."""
        pairs = zip(self.levels, self.codes.T, strict=True)
        return [_with_missing(level, codes) for level, codes in pairs]

    def values(self, at: int) -> Hashable:
        """Key of one group as a user would write it: a value, or a tuple for several keys."""
        key = tuple(
            level[code : code + 1].tolist()[0] if code >= 0 else np.nan
            for level, code in zip(self.levels, self.codes[at], strict=True)
        )
        return key[0] if len(key) == 1 else key

    def in_order(self) -> tuple[Groups, Codes]:
        """The same groups sorted by their keys, each once, and the place of each row in them."""
        n_groups = len(self.codes)
        if not self.names or n_groups == 0:
            return self, np.zeros(n_groups, dtype=np.intp)
        ranks = [
            np.where(column < 0, len(level), column)
            for level, column in zip(self.levels, self.codes.T, strict=True)
        ]
        order = np.lexsort(ranks[::-1])
        ordered = self.codes[order]
        is_new = np.ones(n_groups, dtype=np.bool_)
        is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
        place = np.empty(n_groups, dtype=np.intp)
        place[order] = np.cumsum(is_new) - 1
        return self.with_codes(ordered[is_new]), place

    def with_codes(self, codes: Codes) -> Groups:
        """The same keys and levels for other groups."""
        return Groups(self.names, self.levels, codes, self.declared, self.has_model)

    def keep(self, keys: Sequence[int]) -> Groups:
        """Only some of the keys, by their place; groups may then repeat."""
        return Groups(
            tuple(self.names[key] for key in keys),
            tuple(self.levels[key] for key in keys),
            self.codes[:, list(keys)],
            tuple(self.declared[key] for key in keys),
            self.has_model and 0 in keys,
        )

    def place_of(self, level: Hashable) -> int:
        """Place of the key of that name, or of that number."""
        return place_of("levels", level, self.names)

    def join(self, other: Groups) -> Groups:
        """Groups of both, one after the other (they may repeat), over common levels."""
        levels, declared, mine, theirs = [], [], [], []
        for key in range(len(self.names)):
            level, is_declared = _joined_level(self, other, key)
            levels.append(level)
            declared.append(is_declared)
            mine.append(_move_codes(self, key, level))
            theirs.append(_move_codes(other, key, level))
        if not levels:
            codes = np.zeros((len(self) + len(other), 0), dtype=np.intp)
        else:
            codes = np.concatenate([np.stack(mine, axis=1), np.stack(theirs, axis=1)])
        return Groups(self.names, tuple(levels), codes, tuple(declared), self.has_model)


def place_of(argument: str, level: Hashable, names: Sequence[Hashable]) -> int:
    """Place among the names of the key of that name, or of that number."""
    if level in names:
        return names.index(level)
    is_number = isinstance(level, int) and not isinstance(level, bool)
    if is_number and -len(names) <= level < len(names):  # type: ignore[operator]
        return level % len(names)  # type: ignore[operator]
    raise ColumnError(
        f"`{argument}` must name keys of the groups; got {shown(level)}."
        f"{nearest(level, names)} Keys: {listed(names) or 'none'}."
    )


def _joined_level(first: Groups, second: Groups, key: int) -> tuple[pd.Index, bool]:
    """Values of a key in both parts, and whether they stand in a declared order."""
    parts = alike([first.levels[key].tolist(), second.levels[key].tolist()])
    if parts[0] == parts[1] and first.levels[key].dtype == second.levels[key].dtype:
        return first.levels[key], first.declared[key] and second.declared[key]
    orders = [
        part if groups.declared[key] else None
        for part, groups in zip(parts, (first, second), strict=True)
    ]
    kinds, whole = [kinds_of(part) for part in parts], [*parts[0], *parts[1]]
    is_other = all(kinds) and not kinds[0] & kinds[1]
    warn_of_kinds(first.names[key], by_kind(whole) if is_other else lookalikes(whole))
    values, is_declared = union(parts, orders)
    return plain_index(values), is_declared


def warn_of_kinds(name: Hashable, found: Mapping[str, Sequence[Hashable]]) -> None:
    """Name a key with values that are written alike, or of kinds that cannot be the same group."""
    if found:
        kinds = " and ".join(f"{kind} ({listed(values, 2)})" for kind, values in found.items())
        warn(
            f"Key {shown(name)} holds {kinds}, which are never the same group. Bring them to one type "
            "before they are counted.",
            InputWarning,
        )


def _move_codes(groups: Groups, key: int, level: pd.Index) -> Codes:
    """Codes of one key of groups that point into another level."""
    place = positions(groups.levels[key].tolist(), level.tolist())
    return np.append(place, -1)[groups.codes[:, key]]


def _with_missing(level: pd.Index, codes: Codes) -> pd.Index:
    """The values that codes point to; code -1 is the missing value."""
    missing = codes < 0
    if not missing.any():
        return level.take(codes)
    if level.dtype.kind in "iub":
        level = level.astype(object)  # as float, 2**53 + 1 would be 2**53
    # the missing value stands last, where code -1 finds it
    if level.dtype == object:
        return pd.Index([*level, np.nan], dtype=object, tupleize_cols=False).take(codes)
    return level.insert(len(level), None).take(codes)


def grouped_keys(
    names: Sequence[Hashable],
    found: Codes,
    encoded: Sequence[ColumnCodes],
    *,
    has_model: bool,
    dropna: bool,
    observed: bool,
) -> tuple[Groups, Codes]:
    """The groups in order, and the place among them of each that was found (N, keys); -1 is left out."""
    if not names:
        return Groups(), np.zeros(1, dtype=np.intp)
    codes = found - [part.has_missing for part in encoded]
    place = np.arange(len(codes))
    if dropna:
        complete = (codes >= 0).all(axis=1)
        codes, place = codes[complete], np.where(complete, complete.cumsum() - 1, -1)
    levels = [(part.levels(), part.order is not None) for part in encoded]
    for name, (level, _) in zip(names, levels, strict=True):
        if level.dtype == object:
            warn_of_kinds(name, lookalikes(level))
    groups = sorted_groups(names, levels, codes, has_model=has_model)
    wanted, moved = groups.in_order() if observed else _all_groups(groups)
    return wanted, np.append(moved, -1)[place]


def _all_groups(groups: Groups) -> tuple[Groups, Codes]:
    """Every combination of the levels, with rows or without, and the place of each group in them."""
    choices = [
        [*range(len(level)), *([-1] if (column < 0).any() else [])]
        for level, column in zip(groups.levels, groups.codes.T, strict=True)
    ]
    number = math.prod(map(len, choices))
    if number > _MOST_GROUPS:
        raise InputError(
            f"`observed=False` asks for every combination of {listed(groups.names)}: {number:,} groups, "
            f"more than {_MOST_GROUPS:,}. Leave it out to get those that occur, or group by fewer keys."
        )
    every = np.array(list(itertools.product(*choices)), dtype=np.intp).reshape(-1, len(choices))
    stacked = groups.with_codes(np.concatenate([every, groups.codes]))
    wanted, place = stacked.in_order()
    return wanted, place[len(every) :]


def sorted_groups(
    names: Sequence[Hashable],
    levels: Sequence[tuple[pd.Index, bool]],
    codes: Codes,
    *,
    has_model: bool,
) -> Groups:
    """Groups (which may repeat) with levels in order: a declared one stays, others are sorted."""
    kept, moved = [], []
    for (level, is_declared), column in zip(levels, codes.T, strict=True):
        pair = (level, column) if is_declared else _sorted_level(level, column)
        kept.append(pair[0])
        moved.append(pair[1])
    return Groups(
        tuple(names),
        tuple(kept),
        np.stack(moved, axis=1),
        tuple(is_declared for _, is_declared in levels),
        has_model,
    )


def _sorted_level(level: pd.Index, codes: Codes) -> tuple[pd.Index, Codes]:
    """The values that occur, sorted, and the codes that point to them."""
    occurs = np.zeros(len(level) + 1, dtype=np.bool_)
    occurs[codes] = True
    occurs[-1] = False  # where code -1 points
    found = np.flatnonzero(occurs)
    order = found[order_of(level.take(found))]
    place = np.full(len(level) + 1, -1, dtype=np.intp)
    place[order] = np.arange(len(order))
    return level.take(order), place[codes]
