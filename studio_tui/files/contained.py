"""Names and entries of a root, judged before anything is opened.

A pipe, socket or device is never opened; a link may lead out of its root (definitions are often links into a checkout) but
is marked; a folder is read one level at a time and up to a fixed number of entries, so that a scan ends whatever is there.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from studio_tui.files.reading import special_problem, why

MAX_ENTRIES: Final = 20_000
"""Entries of one folder that are looked at."""

_NAME_BYTES: Final = 255
_FORBIDDEN: Final = frozenset("/\\\0*?[]{}~")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a folder. ``name`` is as the system gives it and may hold bytes that are not UTF-8.

    ``status`` is of the link's target and ``None`` where it cannot be had; with ``problem`` it must not be opened.
    ``target`` is where a link leads when that is out of its root.
    """

    name: str
    path: str
    is_folder: bool
    status: os.stat_result | None
    problem: str | None = None
    target: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """The entries of one folder by name. ``problem`` says why it could not be read, or that there are more than were read."""

    entries: tuple[Entry, ...] = ()
    problem: str | None = None


def printable(name: str) -> str:
    """A file name as valid text: bytes that are not UTF-8 become ``\\xNN``."""
    return os.fsencode(name).decode("utf-8", "backslashreplace")


def name_problem(name: str) -> str | None:
    """Why lionagi 0.36 does not look this name up (facts of ``safe_join`` and ``validate_name``), or ``None``."""
    if not name.strip():
        return "a name must not be empty"
    if name in {".", ".."}:
        return f"{name} is no name"
    found = sorted(_FORBIDDEN.intersection(name))
    if found:
        return f"a name must not contain {' '.join(map(repr, found))}"
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "the name is not valid UTF-8"
    return f"a name must not be longer than {_NAME_BYTES} bytes" if length > _NAME_BYTES else None


def inside(path: str, root: str) -> bool:
    """Whether a resolved path is a resolved root or under it."""
    return path == root or path.startswith(root.rstrip("/") + "/")


def scan(folder: str | Path, root: str, wanted: Callable[[str, bool], bool], *, limit: int = MAX_ENTRIES) -> Listing:
    """The entries of ``folder`` that ``wanted(name, is_folder)`` picks, sorted. ``root`` is the resolved root.

    A folder that is not there is empty. Hidden entries are left out: they belong to editors and version control.
    """
    found: list[Entry] = []
    try:
        with os.scandir(folder) as items:
            for count, item in enumerate(items):
                if count >= limit:
                    return _sorted(found, f"more than {limit} entries; the rest is not shown")
                if not item.name.startswith(".") and wanted(item.name, _is_folder(item)):
                    found.append(_inspect(item, root))
    except FileNotFoundError:
        return Listing()
    except OSError as error:
        return _sorted(found, why(error))
    return _sorted(found, None)


def _sorted(found: list[Entry], problem: str | None) -> Listing:
    return Listing(tuple(sorted(found, key=lambda entry: entry.name)), problem)


def _is_folder(item: os.DirEntry[str]) -> bool:
    try:
        return item.is_dir()
    except OSError:
        return False


def probe(folder: str | Path, root: str, names: Iterable[str]) -> Listing:
    """As :func:`scan`, for these names only. They must be names, see :func:`name_problem`."""
    found: list[Entry] = []
    for name in names:
        path = os.path.join(folder, name)
        if not name.startswith(".") and os.path.lexists(path):
            found.append(_judge(name, path, root, is_link=os.path.islink(path), look=partial(os.stat, path)))
    return _sorted(found, None)


def _inspect(item: os.DirEntry[str], root: str) -> Entry:
    return _judge(item.name, item.path, root, is_link=item.is_symlink(), look=item.stat)


def _judge(name: str, path: str, root: str, *, is_link: bool, look: Callable[[], os.stat_result]) -> Entry:
    """What one entry is, by its status alone."""
    try:
        status = look()
    except OSError as error:
        reason = "a link to nothing" if error.errno == errno.ENOENT and is_link else why(error)
        return Entry(name, path, is_folder=False, status=None, problem=reason)
    is_folder = stat.S_ISDIR(status.st_mode)
    target = os.path.realpath(path) if is_link else None
    problem = special_problem(status)
    if is_folder and target is not None and inside(os.path.realpath(os.path.dirname(path)), target):
        problem = "a link to a folder above it; not followed"
    outside = target if target is not None and not inside(target, root) else None
    return Entry(name, path, is_folder, status, problem, outside)
