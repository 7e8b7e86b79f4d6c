"""A cheap stamp of everything that the lists of definitions and shows are made of: names and statuses, no contents.

Two surveys differ when a list would. Events of the system only say when to survey again.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from studio_tui.files.cache import Stamp, stamp_of
from studio_tui.files.contained import Entry, Listing, scan
from studio_tui.files.definition_index import split_name
from studio_tui.files.roots import Roots

SHOW_FILES: Final = ("_show.md", "_ABORT", "_final_verdict.json")
PLAY_FILES: Final = ("_meta.json", "_verdict.json", "_intent.md", "_prompt.md")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to be watched, which is another one when it was made anew under the same path."""

    path: str
    device: int
    inode: int
    modified_ns: int = 0

    @property
    def identity(self) -> tuple[str, int, int]:
        """What stays the same while files in it come and go."""
        return (self.path, self.device, self.inode)


@dataclass(frozen=True, slots=True)
class Survey:
    """``stamps`` by topic, and the folders whose events matter."""

    stamps: dict[str, int]
    folders: tuple[Folder, ...]

    def changed_since(self, earlier: Survey) -> frozenset[str]:
        """Topics whose stamp differs."""
        return frozenset(topic for topic, stamp in self.stamps.items() if earlier.stamps.get(topic) != stamp)

    def identities(self) -> frozenset[tuple[str, int, int]]:
        """The folders as they are told apart."""
        return frozenset(folder.identity for folder in self.folders)


def survey(roots: Roots) -> Survey:
    """Look once. Blocks for a few microseconds a file: run it in a thread."""
    surveyor = _Surveyor()
    definitions = hash(tuple(part for kind in _KINDS for part in surveyor.definitions(roots.of_kind(kind))))
    shows = hash(tuple(surveyor.shows(roots.shows)))
    return Survey({"definitions": definitions, "shows": shows}, tuple(surveyor.folders.values()))


_KINDS: Final = ("agent", "playbook", "skill")
_Part = tuple[str, Stamp | str | None]


class _Surveyor:
    def __init__(self) -> None:
        self.folders: dict[str, Folder] = {}

    def definitions(self, root: Path) -> Iterator[_Part]:
        """The definition files of a root and of the folders in it."""
        real = os.path.realpath(root)
        yield from self._root(root, real)
        top = scan(root, real, lambda name, is_folder: is_folder or split_name(name) is not None)
        yield from self._listing(real, top)
        for entry in top.entries:
            if entry.is_folder and entry.problem is None:
                inner = scan(entry.path, real, lambda name, is_folder: split_name(name) is not None)
                yield from self._listing(entry.path, inner)

    def shows(self, root: Path) -> Iterator[_Part]:
        """The files of each show and each play that mean something."""
        real = os.path.realpath(root)
        yield from self._root(root, real)
        for show in (yield from self._entered(root, real)):
            yield from _files(show.path, SHOW_FILES)
            for play in (yield from self._entered(show.path, real)):
                yield from _files(play.path, PLAY_FILES)

    def _entered(self, folder: str | Path, real: str) -> Generator[_Part, None, list[Entry]]:
        """Parts of all folders in a folder; gives those that a reader of shows goes into."""
        listing = scan(folder, real, lambda name, is_folder: is_folder)
        yield from self._listing(str(folder), listing)
        return [entry for entry in listing.entries if entry.problem is None and entry.target is None]

    def _root(self, root: Path, real: str) -> Iterator[_Part]:
        """Where the root is. A link that is turned to another folder is a change by itself."""
        try:
            status = os.stat(root)
        except OSError as error:
            yield (real, f"{error.errno}")
            return
        self._watch(real, status)
        yield (real, f"{status.st_dev}:{status.st_ino}")

    def _listing(self, path: str, listing: Listing) -> Iterator[_Part]:
        yield (path, listing.problem)
        for entry in listing.entries:
            yield from self._entry(entry)

    def _entry(self, entry: Entry) -> Iterator[_Part]:
        if entry.is_folder:
            self._watch(entry.path, entry.status)
            yield (entry.path, entry.problem or entry.target)
            return
        if entry.target is not None:  # an edit of the target is an event of the target's folder
            self._watch_path(os.path.dirname(entry.target))
        yield (entry.path, entry.problem or (None if entry.status is None else stamp_of(entry.status)))

    def _watch_path(self, path: str) -> None:
        try:
            self._watch(path, os.stat(path))
        except OSError:
            return

    def _watch(self, path: str, status: os.stat_result | None) -> None:
        if status is not None:
            self.folders.setdefault(path, Folder(path, status.st_dev, status.st_ino, status.st_mtime_ns))


def _files(folder: str, names: tuple[str, ...]) -> Iterator[_Part]:
    for name in names:
        path = f"{folder}/{name}"
        try:
            yield (path, stamp_of(os.stat(path)))
        except FileNotFoundError:
            continue
        except OSError as error:
            yield (path, f"{error.errno}")
