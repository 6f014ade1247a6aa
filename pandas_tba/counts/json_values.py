"""Labels, keys and names encoded in JSON, and the same values read from it again.

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
from pandas_tba.frames.values import as_python


class Kind(NamedTuple):
    """A kind of values: its name, its types, and how they are written and read."""

    name: str
    types: tuple[type, ...]
    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def _write_time(value: Any) -> list[Any]:
    """Time in UTC as text, or as a number beyond the years of four digits; unit; zone or offset."""
    time = pd.Timestamp(value)
    plain = time if time.tz is None else time.tz_convert("UTC").tz_localize(None)
    is_common = 1 <= plain.year <= 9999
    held = plain.isoformat() if is_common else int(plain.asm8.astype(np.int64))
    return [held, plain.unit, *([] if time.tz is None else [_zone(time)])]


def _zone(time: pd.Timestamp) -> str | float:
    """Name of the zone, or seconds from UTC where it has no name that leads back to it."""
    for name in ("key", "zone"):  # of zoneinfo and of pytz
        zone = getattr(time.tz, name, None)
        if isinstance(zone, str):
            return zone
    offset = time.utcoffset() or datetime.timedelta()
    return "UTC" if str(time.tz) == "UTC" and not offset else offset.total_seconds()


def _read_time(parts: list[Any]) -> pd.Timestamp:
    """A timestamp from its number or text, unit and zone."""
    held, unit, *zones = parts
    is_text = isinstance(held, str)
    time = pd.Timestamp(held).as_unit(unit) if is_text else pd.Timestamp(np.datetime64(held, unit))
    for zone in zones:
        fixed = zone if isinstance(zone, str) else _offset(zone)
        time = time.tz_localize("UTC").tz_convert(fixed)
    return time


def _offset(seconds: float) -> datetime.timezone:
    """A zone of a fixed offset."""
    return datetime.timezone(datetime.timedelta(seconds=seconds))


def _write_duration(value: Any) -> list[Any]:
    """The parts of a duration."""
    if isinstance(value, pd.Timedelta):
        return [int(value.asm8.astype(np.int64)), value.unit]
    return [value.days, value.seconds, value.microseconds]


def _read_duration(parts: list[Any]) -> Any:
    """A duration from its parts."""
    if len(parts) == 3:
        return datetime.timedelta(*parts)
    number, unit = parts
    return pd.Timedelta(np.timedelta64(number, unit))


def _read_decimal(text: str) -> decimal.Decimal:
    """The number; ValueError for a signaling NaN, which cannot be compared."""
    number = decimal.Decimal(text)
    if number.is_snan():
        raise ValueError(text)
    return number


def _read_fraction(text: str) -> Any:
    """The quotient of two whole numbers; other forms could ask for a power of ten without end."""
    from fractions import Fraction  # seldom needed, and it takes time to import

    return Fraction(*map(int, text.split("/")))


def _read_float(text: str) -> float:
    """A float from its text."""
    return np.nan if text == "nan" else float(text)  # one NaN is equal to itself within a tuple


MISSING = {"NaT": pd.NaT, "<NA>": pd.NA}
KINDS = (
    Kind("missing", (type(pd.NaT), type(pd.NA)), str, MISSING.__getitem__),
    Kind("datetime", (datetime.datetime, np.datetime64), _write_time, _read_time),
    Kind("date", (datetime.date,), datetime.date.isoformat, datetime.date.fromisoformat),
    Kind("time", (datetime.time,), datetime.time.isoformat, datetime.time.fromisoformat),
    Kind("timedelta", (datetime.timedelta,), _write_duration, _read_duration),
    Kind("decimal", (decimal.Decimal,), str, _read_decimal),
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
        lambda value: [encode_value(value.left), encode_value(value.right), value.closed],
        lambda parts: pd.Interval(read(parts[0]), read(parts[1]), parts[2]),
    ),
    Kind(
        "tuple",
        (tuple,),
        lambda value: [encode_value(item) for item in value],
        lambda parts: tuple(read(part) for part in listed_parts(parts)),
    ),
)
READERS = {kind.name: kind.read for kind in KINDS} | {"float": _read_float}
# what reading of anything may raise
FAULTS = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def encode_value(value: Any) -> Any:
    """What JSON has for a value (or None); InputError for kinds that it has nothing for."""
    value = as_python(value)
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
    """The value that was encoded so; InputError for what `encoded` does not give."""
    if part is None or isinstance(part, (str, bool, int, float)):
        return part
    try:
        ((name, inner),) = part.items()
        return READERS[name](inner)
    except FAULTS:
        raise InputError(f"{shown(part)} spells no value.") from None


def listed_parts(parts: Any) -> list[Any]:
    """The parts; TypeError where they are no list, for which text would pass."""
    if not isinstance(parts, list):
        raise TypeError(f"{shown(parts)} is no list")
    return parts


def cell(value: Any, *, is_missing: bool = False) -> str:
    """A value in brackets, which every reader of CSV takes for text; nothing in them if missing."""
    held = [] if is_missing else [encode_value(value)]
    text = json.dumps(held, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which no file can hold
        return json.dumps(held)
    return text


def value_of(text: Any) -> Any:
    """The value of a cell, NaN where it is missing; InputError for what is no cell."""
    held = in_brackets(text)
    if held is None:
        raise InputError(
            f"{shown(text)} is not what to_table(text=True) writes: a value in brackets."
        )
    return read(held[0]) if held else np.nan


def in_brackets(text: Any) -> list[Any] | None:
    """What stands in brackets, at most one value; None for what is no cell."""
    if not isinstance(text, str) or not text.startswith("["):
        return None
    try:
        held = json.loads(text)
    except FAULTS:
        return None
    return held if len(held) <= 1 else None
