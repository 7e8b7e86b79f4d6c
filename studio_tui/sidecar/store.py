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
from contextlib import closing
from pathlib import Path
from typing import Final, TypeVar

T = TypeVar("T")
log = logging.getLogger(__name__)

_SCHEMA: Final = (
    "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS journal (id INTEGER PRIMARY KEY, at REAL NOT NULL, act TEXT NOT NULL, target TEXT NOT NULL,"
    " result TEXT NOT NULL, detail TEXT NOT NULL)",
)
_KEPT: Final = 10_000
"""Entries of the journal; the oldest go first."""
_BUSY: Final = 5.0


class Sidecar:
    """Implements :class:`studio_tui.application.ports.SidecarPort` on ``sidecar.db`` in ``directory``.

    Where it cannot be written, answers are kept for as long as the process lives and ``unwritable`` says why. Calls wait for
    each other, so that one connection at a time is open.
    """

    def __init__(self, directory: Path) -> None:
        self._path = directory / "sidecar.db"
        self._memory: dict[str, str] = {}
        self._turn = asyncio.Lock()
        self.unwritable: str | None = None
        """Why nothing can be kept, or ``None``."""

    async def get(self, key: str) -> str | None:
        """A kept answer; ``None`` when there is none, or when it cannot be read."""
        if key in self._memory:
            return self._memory[key]
        return await self._run(lambda: self._read(key), None) if self._path.exists() else None

    async def put(self, key: str, value: str) -> None:
        """Keep an answer."""
        self._memory[key] = value
        statement = "INSERT INTO answers VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        await self._run(lambda: self._write(statement, (key, value)), None)

    async def journal(self, *, at: float, act: str, target: str, result: str, detail: Mapping[str, object]) -> None:
        """Note what was done; ``at`` is in epoch seconds."""
        text = json.dumps(dict(detail), default=str)
        statement = "INSERT INTO journal (at, act, target, result, detail) VALUES (?, ?, ?, ?, ?)"
        await self._run(lambda: self._write(statement, (at, act, target, result, text)), None)

    async def entries(self, *, limit: int) -> tuple[tuple[float, str, str, str, str], ...]:
        """The newest entries of the journal, newest first: time, act, target, result, detail as JSON."""
        nothing: tuple[tuple[float, str, str, str, str], ...] = ()
        return await self._run(lambda: self._entries(limit), nothing) if self._path.exists() else nothing

    async def _run(self, work: Callable[[], T], otherwise: T) -> T:
        async with self._turn:
            try:
                result = await asyncio.to_thread(work)
            except (OSError, sqlite3.Error) as error:
                self.unwritable = str(error)
                log.warning("the sidecar cannot be used: %s", error)
                return otherwise
            self.unwritable = None
            return result

    # --- in a thread --------------------------------------------------------------------------------------------------

    def _read(self, key: str) -> str | None:
        with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, timeout=_BUSY)) as connection:
            row = connection.execute("SELECT value FROM answers WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else None

    def _entries(self, limit: int) -> tuple[tuple[float, str, str, str, str], ...]:
        with closing(sqlite3.connect(f"{self._path.as_uri()}?mode=ro", uri=True, timeout=_BUSY)) as connection:
            found = connection.execute("SELECT at, act, target, result, detail FROM journal ORDER BY id DESC LIMIT ?", (limit,))
            return tuple(found.fetchall())

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._path.exists():
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(self._path, timeout=_BUSY)) as connection, connection:
            for table in _SCHEMA:
                connection.execute(table)
            connection.execute(statement, values)
            connection.execute("DELETE FROM journal WHERE id <= (SELECT max(id) FROM journal) - ?", (_KEPT,))
