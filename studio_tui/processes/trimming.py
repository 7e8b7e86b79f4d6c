"""Keeps the output of one firing small: its beginning and its end stay, what lies between goes.

The process itself writes to ``<id>.out`` and ``<id>.err`` and holds them open, so a file cannot be renamed under it. Beyond the
limit its content moves to files of ours and the file begins anew at nothing (it is open for appending):

* ``.1`` holds the beginning, made once and never changed;
* ``.2`` holds what stood last before the present file;
* ``.cut`` holds how many bytes have left the present file, so that the full size is known.

A line in the present file says what happened. What is written in the very moment between reading and emptying is lost.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

LIMIT: Final = 16 * 1024 * 1024
"""Bytes of one stream after which it is trimmed; beginning, last part and present file hold at most so many each."""

HEAD, LAST, CUT = ".1", ".2", ".cut"
SUFFIXES: Final = (HEAD, LAST, CUT)

_PIECE: Final = 1024 * 1024
_CATCH_UP: Final = 3
"""How often the end is copied again because more was written meanwhile."""


def trim(path: Path, limit: int) -> int:
    """Trim one stream if it is longer than ``limit``; its size before that, 0 when there is none. Blocking."""
    try:
        with path.open("r+b") as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                _rotate(path, file.fileno(), size, limit)
            return size
    except OSError:
        return 0


def removed(path: Path) -> int:
    """How many bytes have left the present file of a stream."""
    try:
        return int(_beside(path, CUT).read_text("ascii") or 0)
    except (OSError, ValueError):
        return 0


def earlier(path: Path, limit: int) -> bytes:
    """The last bytes that stood before the present file."""
    for suffix in (LAST, HEAD):
        with suppress(OSError), _beside(path, suffix).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - limit))
            return file.read(limit)
    return b""


def discard(path: Path) -> None:
    """Remove a stream with all its parts."""
    for each in (path, *(_beside(path, suffix) for suffix in SUFFIXES)):
        with suppress(OSError):
            each.unlink(missing_ok=True)


def _rotate(path: Path, descriptor: int, size: int, limit: int) -> None:
    gone = removed(path)
    head, last = _beside(path, HEAD), _beside(path, LAST)
    if not head.exists():
        _copy(descriptor, 0, min(size, limit), head)
    for _ in range(_CATCH_UP):
        _copy(descriptor, max(0, size - limit), min(size, limit), last)
        before, size = size, os.fstat(descriptor).st_size
        if size == before:
            break
    os.ftruncate(descriptor, 0)
    draft = _beside(path, f"{CUT}.new")
    draft.write_text(str(gone + size), "ascii")
    draft.replace(_beside(path, CUT))
    _say(
        path,
        f"[studio-tui: {gone + size:,} bytes were written before this line; kept are the first in {head.name} and the last "
        f"in {last.name}, at most {limit:,} each]\n",
    )


def _copy(descriptor: int, start: int, length: int, target: Path) -> None:
    draft = target.with_name(f"{target.name}.new")
    out = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(out, "wb") as file:
        while length > 0 and (piece := os.pread(descriptor, min(_PIECE, length), start)):
            file.write(piece)
            start, length = start + len(piece), length - len(piece)
    draft.replace(target)


def _say(path: Path, line: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
