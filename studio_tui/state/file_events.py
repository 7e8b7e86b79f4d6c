"""The system's events for some files of one folder.

On Linux the event loop itself waits for them, and nothing runs while none come. watchfiles, which serves everywhere else, looks
forty times a second whether there was one: of an idle host that was the third part of all work.
"""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import struct
import sys
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Final

STEP: Final = 0.05
"""Seconds in which events are told as one, after the first, which is told at once."""

_WRITTEN, _MOVED_OR_MADE, _SELF_GONE = 0x2, 0x40 | 0x80 | 0x100 | 0x200, 0x400 | 0x800
_WATCH_OVER, _SOME_LOST, _ONLY_FOLDERS = 0x8000, 0x4000, 0x1000000
_MASK: Final = _WRITTEN | _MOVED_OR_MADE | _SELF_GONE | _ONLY_FOLDERS
_HEAD: Final = struct.Struct("iIII")
"""Of an event: watch, what happened, cookie, length of the name that follows (inotify(7))."""
_READ_SIZE: Final = 64 * 1024


def file_events(folder: Path, names: Collection[str]) -> AsyncIterator[None]:
    """Goes on whenever something happened to one of the files of these names.

    Raises :class:`FileNotFoundError` when there is no such folder (any more), :class:`OSError` at a limit of the system, and what
    watchfiles raises.
    """
    return _from_kernel(folder, names) if sys.platform == "linux" else _from_watchfiles(folder, names)


def limit_reached(error: Exception) -> str | None:
    """The setting of the system that allows no more, or ``None`` when the cause is another."""
    number, text = getattr(error, "errno", None), str(error)
    if number == errno.ENOSPC or "watch limit" in text:
        return "max_user_watches"
    if number in (errno.EMFILE, errno.ENFILE) or "os error 24" in text or "os error 23" in text:
        return "max_user_instances"
    return None


async def _from_kernel(folder: Path, names: Collection[str]) -> AsyncIterator[None]:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    wanted = {os.fsencode(name) for name in names}
    descriptor = _watch(folder)
    try:
        while True:
            loop.add_reader(descriptor, ready.set)
            await ready.wait()
            loop.remove_reader(descriptor)
            ready.clear()
            if _concerns(os.read(descriptor, _READ_SIZE), wanted):
                yield
            await asyncio.sleep(STEP)
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)


def _watch(folder: Path) -> int:
    """A descriptor that becomes readable with events of a folder."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = int(libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if descriptor < 0:
        raise _last_error(folder)
    if libc.inotify_add_watch(descriptor, os.fsencode(folder), _MASK) < 0:
        failure = _last_error(folder)
        os.close(descriptor)
        raise failure
    return descriptor


def _last_error(folder: Path) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), str(folder))


def _concerns(events: bytes, names: Collection[bytes]) -> bool:
    """Whether one of the files is meant, or may be. Raises :class:`FileNotFoundError` when the folder is gone."""
    place, found = 0, False
    while place < len(events):
        _, what, _, length = _HEAD.unpack_from(events, place)
        start = place + _HEAD.size
        place = start + length
        if what & (_SELF_GONE | _WATCH_OVER):
            raise FileNotFoundError(errno.ENOENT, "the folder went away")
        found = found or bool(what & _SOME_LOST) or events[start:place].rstrip(b"\0") in names
    return found


async def _from_watchfiles(folder: Path, names: Collection[str]) -> AsyncIterator[None]:
    from watchfiles import awatch

    changes = awatch(
        folder,
        watch_filter=lambda _change, changed: os.path.basename(changed) in names,
        debounce=25,
        step=25,
        recursive=False,
        rust_timeout=60_000,
    )
    async for _ in changes:
        yield
