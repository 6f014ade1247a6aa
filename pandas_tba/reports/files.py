"""A file that comes to be at once, or not at all."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from pandas_tba.errors import InputError, KindError, shown


class Target(NamedTuple):
    """A file to write: as it was named, and where it is."""

    name: str
    place: Path


def target_of(path: object) -> Target:
    """The file of a path, or an error before any work is done."""
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if not isinstance(name, str):
        raise KindError(
            f"`path` must be text or a pathlib.Path; got {shown(path)}. Without it the text is returned."
        )
    with _naming(name):
        try:
            place = Path(name).resolve()  # a link stays one
            is_folder, has_folder = place.is_dir(), place.parent.is_dir()
        except ValueError:  # a NUL, or a lone surrogate
            raise InputError(f"`path` must name a file; got {shown(path)}.") from None
        if is_folder or not has_folder:
            code = errno.EISDIR if is_folder else errno.ENOENT
            raise OSError(code, os.strerror(code))
    return Target(name, place)


@contextmanager
def _naming(name: str) -> Iterator[None]:
    """Name the file as the user did, not the draft, where a file cannot be written."""
    try:
        yield
    except OSError as fault:
        if fault.errno is None:
            raise
        raise OSError(fault.errno, fault.strerror, name[:300]) from fault


def written(text: str, target: Target | None) -> str | None:
    """The text, or a file of it."""
    if target is None:
        return text
    with draft_of(target) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
    return None


@contextmanager
def draft_of(target: Target) -> Iterator[Path]:
    """A place to write to, which becomes the file in the end: nobody ever sees half of it."""
    place = target.place
    with _naming(target.name):
        if place.exists() and not place.is_file():  # a device or pipe must stay one
            yield place
            return
        with TemporaryDirectory(prefix=".pandas-tba.", dir=place.parent) as folder:
            draft = Path(folder, place.name)
            yield draft
            if place.exists():
                shutil.copymode(place, draft)  # who may read it is not for a new version to decide
            draft.replace(place)
