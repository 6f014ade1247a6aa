"""How far a file is read, for the command line."""

from __future__ import annotations

import sys
import time
from typing import Self

_PATIENCE = 1.0  # seconds before anything is shown


class Bar:
    """A bar on a terminal, of what takes long; it is gone in the end, however that comes."""

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self._done = name, max(total, 1), 0
        self._start, self._line = time.monotonic(), ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._line:
            self._write("\r\033[K")

    def update(self, number: int) -> None:
        """Note that so much more is done."""
        self._done += number
        if not sys.stderr.isatty() or time.monotonic() - self._start <= _PATIENCE:
            return
        share = min(self._done / self._total, 1.0)
        line = f"\r{self._name[:40]} [{'#' * round(30 * share):<30}] {share:4.0%}"
        if line != self._line:
            self._line = line
            self._write(line)

    @staticmethod
    def _write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
