"""What the library raises and warns with, and the few words their texts share."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_PACKAGE = str(Path(__file__).parent)


class _FaultOfData:
    """What errors about data carry beside their text.

    ``check`` names the check that failed; ``failure_cases`` is a DataFrame of every fault found in
    the frame (column, check, failure_case, rows), or None.
    """

    def __init__(self, *args: object, check: str = "") -> None:
        super().__init__(*args)
        self.check = check
        self.failure_cases: Any = None


class InputError(_FaultOfData, ValueError):
    """An argument or the data have a value that cannot be used."""


class ColumnError(KeyError):
    """A name does not lead to exactly one column, index level or group key."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would show the text as a repr


class KindError(_FaultOfData, TypeError):
    """Values are of a kind that cannot be used here, or that does not match another one's."""


class UndefinedWarning(UserWarning):
    """A value is NaN, or rests on fewer classes than declared, since the data do not define it."""


class InputWarning(UserWarning):
    """The input can be used, but is likely not what was meant."""


def warn(text: str, category: type[Warning]) -> None:
    """Warn at the line of the caller that is outside this package."""
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)


def shown(value: object) -> str:
    """Repr of one value, cut at 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def listed(values: Iterable[object], most: int = 5) -> str:
    """Reprs joined by commas: at most `most`, then the number of the others."""
    texts = [shown(value) for value in values]
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more:,} more" if more > 0 else "")


def counted(number: int, noun: str) -> str:
    """Number and noun, the noun in the plural unless the number is one."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def nearest(name: object, names: Iterable[object]) -> str:
    """`` Did you mean 'x'?`` when one of the names is close, else nothing."""
    import difflib  # costs as much at import as the rest of this file

    by_text = {str(candidate).casefold(): candidate for candidate in names}
    found = difflib.get_close_matches(str(name).casefold(), by_text, n=1)
    return f" Did you mean {shown(by_text[found[0]])}?" if found else ""


def is_real(value: object) -> bool:
    """Whether it is a number that a float can hold; neither a boolean nor text is one."""
    if isinstance(value, (bool, str, bytes)) or type(value).__name__ in ("bool_", "bool"):
        return False
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return getattr(value, "ndim", 0) == 0


def check_flag(argument: str, value: object) -> None:
    """Raise InputError unless the value is True or False."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
        raise InputError(f"`{argument}` must be True or False; got {shown(value)}.")


def check_choice(argument: str, value: object, choices: Iterable[str]) -> None:
    """Raise InputError unless the value is one of the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InputError(
            f"`{argument}` must be one of {listed(choices, len(choices))}; got {shown(value)}."
            f"{nearest(value, choices)}"
        )
