"""The connections of one opening of a store: who reads, who writes, and how all of them end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Thread
from typing import Any, Final

from sqlalchemy import event

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.async_core import AsyncConnection, AsyncEngine
from studio_tui.state.driver import DriverConnection
from studio_tui.state.engine import make_engine, make_readonly_engine, stop_question
from studio_tui.state.urls import dialect_of, sqlite_path

PATIENCE: Final = 2.0
"""Seconds that a read may go on after the store is closed."""
_CHANGES: Final = "PRAGMA data_version"


class Connections:
    """Readers and, for a store that may be written, the writer. Errors are those of the driver; the caller translates them."""

    def __init__(self, readers: AsyncEngine, writer: AsyncEngine | None, quiet_path: Path | None) -> None:
        self._readers = readers
        self._writer = writer
        self._quiet_path = quiet_path
        self._probe: AsyncConnection | None = None
        self._probe_lock = asyncio.Lock()
        self._in_use: set[AsyncConnection] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._closing = False
        self._was_cancelled = False
        self._threads: set[Thread] = set()
        self._writing: DriverConnection | None = None
        if writer is not None:
            event.listen(writer.sync_engine, "connect", self._remember_writer)
        event.listen(readers.sync_engine, "connect", self._remember_thread)

    @classmethod
    async def open(cls, url: str, *, writable: bool, busy_timeout_ms: int) -> Connections:
        """Connect once, so that what is wrong shows now.

        The writer of an SQLite file stays connected from the start: the last connection to go is then one that can remove the
        log files again.
        """
        if dialect_of(url) != "sqlite":
            from studio_tui.state.server_connections import open_server

            return await open_server(url, writable=writable)
        readers = make_readonly_engine(url, busy_timeout_ms=busy_timeout_ms, guarded=not writable)
        writer = make_engine(url, busy_timeout_ms=busy_timeout_ms) if writable else None
        opened = cls(readers, writer, None if writable else sqlite_path(url))
        try:
            async with (writer or readers).connect():
                pass
        except BaseException:
            await opened.close()
            raise
        return opened

    @asynccontextmanager
    async def reader(self) -> AsyncIterator[AsyncConnection]:
        """A reading connection in autocommit."""
        if self._closing:
            raise StateUnavailable("The store is being closed.", retryable=True)
        connection = self._readers.connect()
        self._in_use.add(connection)
        self._idle.clear()
        try:
            async with connection:
                yield connection
        except asyncio.CancelledError:
            self._was_cancelled = True
            raise
        finally:
            self._in_use.discard(connection)
            if not self._in_use:
                self._idle.set()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """The writer in a transaction that commits at the end of the block."""
        async with self._require_writer().begin() as connection:
            yield connection

    @property
    def blocked_since(self) -> float | None:
        """Since when a change waits for another program that writes to the file, on the monotonic clock."""
        return None if self._writing is None else self._writing.blocked_since

    async def data_version(self) -> int:
        """The change counter on a connection that stays the same; the files' stamps for a store that we only look at."""
        if self._quiet_path is not None:
            return _stamp_of(self._quiet_path)
        async with self._probe_lock:
            if self._probe is None:
                self._probe = await self._readers.connect()
            return int((await self._probe.exec_driver_sql(_CHANGES)).scalar_one())

    async def checkpoint(self, mode: str) -> tuple[int, int, int]:
        """Move the log into the file, outside of any transaction."""
        rows = await self._run_raw(f"PRAGMA wal_checkpoint({mode})")
        busy, pages, moved = rows[0]
        return int(busy), int(pages), int(moved)

    async def vacuum(self) -> None:
        """VACUUM, outside of any transaction."""
        await self._run_raw("VACUUM")

    async def close(self) -> None:
        """Let open reads end, interrupt those that take long, then close all; the writer goes last."""
        self._closing = True
        try:
            async with asyncio.timeout(PATIENCE):
                await self._idle.wait()
        except TimeoutError:
            for connection in list(self._in_use):
                await self._stop(connection)
            await self._idle.wait()
        if self._probe is not None:
            await self._probe.close()
        await self._readers.dispose()
        if self._was_cancelled:
            await self._let_go()
        if self._writer is not None:
            await self._writer.dispose()

    def _remember_thread(self, connection: Any, _record: object) -> None:
        if isinstance(driver := connection.driver_connection, DriverConnection):
            self._threads = {one for one in self._threads if one.is_alive()} | {driver.thread}

    def _remember_writer(self, connection: Any, _record: object) -> None:
        if isinstance(driver := connection.driver_connection, DriverConnection):
            self._writing = driver

    async def _let_go(self) -> None:
        """Wait until readers that were cancelled have let go of the file: SQLAlchemy does not, and the log files would stay."""
        for thread in self._threads:
            await asyncio.to_thread(thread.join, PATIENCE)

    async def _stop(self, connection: AsyncConnection) -> None:
        """Have the question that a connection asks fail soon."""
        await stop_question(connection)

    async def _run_raw(self, statement: str) -> list[tuple[Any, ...]]:
        """Maintenance on the driver's own connection: SQLAlchemy would begin a transaction first."""
        async with self._require_writer().connect() as connection:
            raw = await connection.get_raw_connection()
            driver = raw.driver_connection
            assert driver is not None
            return list(await driver.execute_fetchall(statement))

    def _require_writer(self) -> AsyncEngine:
        if self._writer is None or self._closing:
            raise StateUnavailable("The store is not open for writing.", retryable=False)
        return self._writer


def _stamp_of(path: Path) -> int:
    """A number made of size and time of the file and its log."""
    parts: list[int] = []
    for name in (path, Path(f"{path}-wal")):
        try:
            found = name.stat()
        except OSError:
            parts += [0, 0, 0]
        else:
            parts += [found.st_ino, found.st_size, found.st_mtime_ns]
    return hash(tuple(parts))
