"""The sidecar database: made when there is something to keep, never by looking, and never a reason to stop.

It holds nothing that the peer's store should hold: losing it loses answers and the journal, not work.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")
Entry = tuple[float, str, str, str, str]
"""One entry of the journal: time in epoch seconds, act, target, result, detail as JSON."""

JOURNAL_KEPT: Final = 10_000
"""Entries of the journal; the oldest go first."""

VERSION: Final = 1
"""``user_version`` of the file. A newer one is left as it is."""

_BUSY: Final = 2.0
_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, at REAL NOT NULL, act TEXT NOT NULL, target TEXT NOT NULL,"
    " result TEXT NOT NULL, detail TEXT NOT NULL)",
)


class Sidecar:
    """Implements :class:`studio_tui.application.ports.SidecarPort` on ``sidecar.db`` in ``directory``.

    Where it cannot be used, answers are kept for as long as the process lives, entries of the journal are lost, and
    ``unwritable`` says why. Calls wait for each other, so that one connection at a time is open; a write once begun is not
    cancelled with its caller.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / "sidecar.db"
        self._memory: dict[str, str] = {}
        self._read_at: tuple[object, dict[str, str | None]] = (None, {})
        self._turn = asyncio.Lock()
        self.unwritable: str | None = None
        """Why nothing can be kept, or ``None``."""

    async def get(self, key: str) -> str | None:
        """A kept answer; ``None`` when there is none, or when it cannot be read."""
        if key in self._memory:
            return self._memory[key]
        stamp, answers = self._read_at
        if key in answers and stamp == self._stamp():  # asked every second by a host: not worth a thread
            return answers[key]
        return await self._run(lambda: self._read(key), None)

    async def put(self, key: str, value: str) -> None:
        """Keep an answer."""
        self._memory[key] = value
        statement = "INSERT INTO answers VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        if await self._keep(statement, (key, value)):
            self._memory.pop(key, None)  # from now on the file knows better: another console may change it

    async def journal(self, *, at: float, act: str, target: str, result: str, detail: Mapping[str, object]) -> None:
        """Note what was done; ``at`` is in epoch seconds."""
        text = json.dumps(dict(detail), default=str)
        statement = "INSERT INTO journal (at, act, target, result, detail) VALUES (?, ?, ?, ?, ?)"
        await self._keep(statement, (at, act, target, result, text))

    async def entries(self, *, limit: int) -> tuple[Entry, ...]:
        """The newest entries of the journal, newest first."""
        nothing: tuple[Entry, ...] = ()
        return await self._run(lambda: self._entries(limit), nothing)

    async def _keep(self, statement: str, values: tuple[object, ...]) -> bool:
        kept = await self._run(lambda: self._write(statement, values), False)
        if kept:
            self.unwritable = None
        return kept

    async def _run(self, work: Callable[[], T], otherwise: T) -> T:
        return await asyncio.shield(self._in_turn(work, otherwise))

    async def _in_turn(self, work: Callable[[], T], otherwise: T) -> T:
        async with self._turn:
            try:
                return await asyncio.to_thread(work)
            except (OSError, sqlite3.Error) as failure:
                words = (failure.strerror if isinstance(failure, OSError) else None) or str(failure)
                if words != self.unwritable:
                    log.warning("the sidecar cannot be used: %s", words)
                self.unwritable = words
                return otherwise

    # --- in a thread --------------------------------------------------------------------------------------------------

    def _read(self, key: str) -> str | None:
        """From what was read before, as long as nobody has written since."""
        stamp = self._stamp()
        if self._read_at[0] != stamp:
            self._read_at = (stamp, {})
        answers = self._read_at[1]
        if key not in answers:
            rows = self._rows("SELECT value FROM answers WHERE key = ?", (key,))
            answers[key] = str(rows[0][0]) if rows else None
        return answers[key]

    def _stamp(self) -> tuple[tuple[int, int, int], ...]:
        """Changes whenever the file or its log was written."""
        found = []
        for path in (self._path, self._path.with_name(f"{self._path.name}-wal")):
            with suppress(OSError):
                stat = path.stat()
                found.append((stat.st_ino, stat.st_mtime_ns, stat.st_size))
        return tuple(found)

    def _entries(self, limit: int) -> tuple[Entry, ...]:
        return tuple(self._rows("SELECT at, act, target, result, detail FROM journal ORDER BY id DESC LIMIT ?", (limit,)))

    def _rows(self, statement: str, values: tuple[object, ...]) -> list[Entry]:
        if not self._path.exists():
            return []
        with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, timeout=_BUSY)) as connection:
            if not _version(connection):  # made by another console this very moment
                return []
            return connection.execute(statement, values).fetchall()

    def _write(self, statement: str, values: tuple[object, ...]) -> bool:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        with closing(sqlite3.connect(self._path, timeout=_BUSY, isolation_level=None)) as connection:
            if _version(connection):
                with suppress(sqlite3.OperationalError):  # another console uses it this moment: next time
                    connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("BEGIN IMMEDIATE")
            with connection:
                if not _version(connection):
                    _make(connection)
                connection.execute(statement, values)
                connection.execute("DELETE FROM journal WHERE id <= (SELECT max(id) FROM journal) - ?", (JOURNAL_KEPT,))
        return True


def _version(connection: sqlite3.Connection) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise sqlite3.DatabaseError(f"it was written by a newer studio-tui (version {version}; known is {VERSION})")
    return version


def _make(connection: sqlite3.Connection) -> None:
    for table in _SCHEMA:
        connection.execute(table)
    connection.execute(f"PRAGMA user_version = {VERSION}")
