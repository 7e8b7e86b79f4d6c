"""A verified copy of the whole store beside itself, made before a table is made anew: ``state.db.pre-<table>.<seconds>.bak``.

The copy is made by SQLite from one snapshot, so writers need not stop. It gets its name only when it is complete, checked and
on the disk; what an interrupted attempt leaves is ``….pre-<table>.partial``, and the next attempt writes over it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from studio_tui.application.errors import Conflict, StateUnavailable
from studio_tui.state.engine import readonly_uri

_PAGES: Final = 2048
"""Pages that are copied between two words about how far it is (8 MiB)."""


def back_up(store: Path, table: str, at: float, tick: Callable[[int, int], None]) -> Path:
    """Copy, check and keep the store; the copy's path. ``at`` (epoch seconds) goes into its name.

    Blocks: call it in a thread. ``tick(pages done, pages in all)`` may raise to give up; nothing is left then. Raises
    :class:`Conflict` when another process makes the same copy, :class:`StateUnavailable` when the copy is no faithful one, and
    what SQLite and the system raise.
    """
    partial = Path(f"{store}.pre-{table}.partial")
    with _reserved(partial, stat.S_IMODE(store.stat().st_mode)) as descriptor:
        _copy(store, partial, table, tick)
        os.fsync(descriptor)
        final = _free_name(store, table, int(at))
        partial.rename(final)
    _sync_folder(store.parent)
    return final


@contextmanager
def _reserved(partial: Path, mode: int) -> Iterator[int]:
    """The file to write, ours alone and empty; removed when the block fails."""
    descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        if not _locked(descriptor, partial):
            raise Conflict("store", expected=None, actual=None, message="Another process is upgrading this store.")
        try:
            os.ftruncate(descriptor, 0)
            os.fchmod(descriptor, mode)
            yield descriptor
        except BaseException:
            for suffix in ("", "-journal", "-wal", "-shm"):
                with suppress(OSError):
                    Path(f"{partial}{suffix}").unlink(missing_ok=True)
            raise
    finally:
        os.close(descriptor)


def _locked(descriptor: int, partial: Path) -> bool:
    """Whether the file is ours: not in use, and not meanwhile given its final name by somebody who was done with it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return partial.stat().st_ino == os.fstat(descriptor).st_ino
    except (BlockingIOError, FileNotFoundError):
        return False


def _copy(store: Path, partial: Path, table: str, tick: Callable[[int, int], None]) -> None:
    with closing(sqlite3.connect(readonly_uri(store), uri=True, isolation_level=None)) as source:
        source.execute("BEGIN")
        rows = _count(source, table)
        with closing(sqlite3.connect(partial, isolation_level=None)) as target:
            source.backup(target, pages=_PAGES, progress=lambda _status, left, total: tick(total - left, total))
    # opened anew, and as it lies on the disk: what is checked is what would be taken back
    with closing(sqlite3.connect(f"{readonly_uri(partial)}&immutable=1", uri=True, isolation_level=None)) as copy:
        findings = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if findings != "ok" or _count(copy, table) != rows:
            raise StateUnavailable(
                "the store is damaged, or its copy is: it was not upgraded, and no copy was kept", retryable=False
            )


def _count(connection: sqlite3.Connection, table: str) -> int:
    found = connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()
    return int(found[0])


def _free_name(store: Path, table: str, second: int) -> Path:
    """A name that no earlier copy has."""
    while (name := Path(f"{store}.pre-{table}.{second}.bak")).exists():
        second += 1
    return name


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
