"""Labels, keys and names spelled in JSON, and the same values read from it again.

Text, numbers and booleans stand for themselves; every other kind is an object of one entry, such
as ``{"date": "2024-01-31"}``.
"""

from __future__ import annotations

import datetime
import decimal
import json
import numbers
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from pandas_tba.errors import InputError, shown


class Kind(NamedTuple):
    """A kind of values: its name, its types, and how they are written and read."""

    name: str
    types: tuple[type, ...]
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _write_time(value: Any) -> list[str]:
    time = pd.Timestamp(value)
    zone = [] if time.tz is None else [str(time.tz)]
    return [time.isoformat(), time.unit, *zone]


def _read_time(parts: list[Any]) -> pd.Timestamp:
    text, unit, *zone = parts
    time = pd.Timestamp(text).as_unit(unit)
    return time.tz_convert(zone[0]) if zone else time


def _read_fraction(text: str) -> Any:
    from fractions import Fraction  # seldom needed, and it takes time to import

    return Fraction(text)


KINDS = (
    Kind("datetime", (datetime.datetime, np.datetime64), _write_time, _read_time),
    Kind("date", (datetime.date,), datetime.date.isoformat, datetime.date.fromisoformat),
    Kind("time", (datetime.time,), datetime.time.isoformat, datetime.time.fromisoformat),
    Kind(
        "timedelta",
        (datetime.timedelta, np.timedelta64),
        lambda value: pd.Timedelta(value).isoformat(),
        pd.Timedelta,
    ),
    Kind("decimal", (decimal.Decimal,), str, decimal.Decimal),
    Kind("fraction", (numbers.Rational,), str, _read_fraction),
    Kind("bytes", (bytes,), bytes.hex, bytes.fromhex),
    Kind("uuid", (uuid.UUID,), str, uuid.UUID),
    Kind(
        "period",
        (pd.Period,),
        lambda value: [value.ordinal, value.freqstr],
        lambda parts: pd.Period(ordinal=parts[0], freq=parts[1]),
    ),
    Kind(
        "interval",
        (pd.Interval,),
        lambda value: [spelled(value.left), spelled(value.right), value.closed],
        lambda parts: pd.Interval(read(parts[0]), read(parts[1]), parts[2]),
    ),
    Kind(
        "tuple",
        (tuple,),
        lambda value: [spelled(item) for item in value],
        lambda parts: tuple(map(read, parts)),
    ),
)
READERS = {kind.name: kind.read for kind in KINDS} | {"float": float}


def spelled(value: Any) -> Any:
    """What JSON has for a value (or None); InputError for kinds that it has nothing for."""
    if isinstance(value, np.generic) and value.dtype.kind in "biufSU":
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    for kind in KINDS:
        if isinstance(value, kind.types):
            return {kind.name: kind.write(value)}
    raise InputError(
        f"{shown(value)}: values of type {type(value).__name__} cannot be written as text. Name "
        "labels and groups by text, numbers or dates."
    )


def read(part: Any) -> Any:
    """The value that was spelled so; InputError for what `spelled` does not give."""
    if not isinstance(part, dict):
        return part
    try:
        ((name, inner),) = part.items()
        return READERS[name](inner)
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise InputError(f"{json.dumps(part)} spells no value.") from None


def cell(value: Any, *, is_missing: bool = False) -> str:
    """A value in brackets, which every reader of CSV takes for text; nothing in them if missing."""
    held = [] if is_missing else [spelled(value)]
    text = json.dumps(held, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, which no file can hold
        return json.dumps(held)
    return text


def value_of(text: str) -> Any:
    """The value of a cell, NaN where it is missing; InputError for what is no cell."""
    try:
        held = json.loads(text)
        (part,) = held or [np.nan]
    except (TypeError, ValueError):
        raise InputError(
            f"{shown(text)} is not what to_table(text=True) writes: a value in brackets."
        ) from None
    return read(part)
