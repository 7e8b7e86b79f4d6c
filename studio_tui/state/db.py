"""StateDB: one store, opened once per process (ADR-0056). It knows connections and transactions, and no queries.

Reads go to a few read-only connections that stay open. Writes go to one connection, one at a time, each in a task of its own
that a caller cannot cancel once it has begun: a cancelled commit was measured to lose the write and to lock the file.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from sqlalchemy import Executable

from studio_tui.application.errors import PermissionDenied, StateUnavailable
from studio_tui.state import native
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.connections import Connections
from studio_tui.state.dialect import CHECKPOINT_MODES
from studio_tui.state.engine import BUSY_TIMEOUT_MS
from studio_tui.state.errors import translated
from studio_tui.state.making import create_schema, stamp_native
from studio_tui.state.placeholders import Parameters, executable
from studio_tui.state.schema import schema_meta
from studio_tui.state.server import look_at_server
from studio_tui.state.urls import dialect_of, label_of, normalize_state_db_url, sqlite_path

T = TypeVar("T")
log: Final = logging.getLogger(__name__)
_CLOSED: Final = "The store is closed."
WAITS_AFTER: Final = 0.7
"""Seconds after which it is said that a change waits for another program."""


class StateDB:
    """The store at ``url`` or ``path``.

    ``missing`` is true while there is no store to read: lists are empty then. ``refusal`` says why nothing may be written.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        url: str | None = None,
        readonly: bool = False,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
    ) -> None:
        self.url: str = normalize_state_db_url(url if url is not None else path)
        self.dialect: str = dialect_of(self.url)
        self.path: Path | None = sqlite_path(self.url)
        self.label: str = label_of(self.url)
        self.missing: bool = False
        self.refusal: str | None = "The store was asked for read-only." if readonly else None
        self._closed_because = _CLOSED
        self._busy_timeout_ms = busy_timeout_ms
        self._connections: Connections | None = None
        self._write_lock = asyncio.Lock()
        self._writes: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> StateDB:
        await self.open()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    @property
    def is_open(self) -> bool:
        """Whether the store can be read now."""
        return self._connections is not None

    @property
    def is_waiting(self) -> bool:
        """Whether a change waits for another program that writes to the store."""
        since = None if self._connections is None else self._connections.blocked_since
        return since is not None and time.monotonic() - since > WAITS_AFTER

    async def open(self, *, create: bool = False) -> None:
        """Open the store; nothing happens when it is open.

        Refuses what is not a complete native store (unless this object is read-only), and makes nothing unless ``create``.
        Raises :class:`PermissionDenied` or :class:`StateUnavailable` with a sentence for people.
        """
        if self._connections is not None:
            return
        if self.path == Path(":memory:"):
            raise StateUnavailable("A store in memory is not supported: name a file.", retryable=False)
        if self.path is None:
            await self._open_server(create=create)
            return
        found = await asyncio.to_thread(native.look, self.path)
        if self._admits(found, create=create):
            await self.attach(writable=self.refusal is None, stamp=found.stamp)
        else:
            await self.create()

    async def _open_server(self, *, create: bool) -> None:
        """A server can only be looked at through its connections; they go again when the store is refused."""
        await self.attach(writable=self.refusal is None)
        try:
            found = await look_at_server(self)
            if not self._admits(found, create=create):
                await self.create()
            elif found.stamp and self.refusal is None:
                await self.write(stamp_native)
        except BaseException:
            await self.close()
            raise

    def _admits(self, found: native.Look, *, create: bool) -> bool:
        """Whether the store is there and may be opened; False when it is to be made. Raises as :meth:`open` does."""
        if found.verdict == "missing":
            if create and self.refusal is None:
                return False
            raise StateUnavailable(f"There is no store at {self.label}.", retryable=False)
        if found.verdict in ("unrecognized", "unreadable"):
            raise StateUnavailable(found.reason or "", retryable=False)
        if self.refusal is None and found.verdict != "native":
            raise PermissionDenied(found.reason or "")
        return True

    async def attach(self, *, writable: bool, stamp: bool = False) -> None:
        """Open the connections, in place of open ones, without judging the store again (the caller has looked)."""
        with translated():
            fresh = await Connections.open(self.url, writable=writable, busy_timeout_ms=self._busy_timeout_ms)
        await self._replace(fresh)
        self.missing = False
        if stamp and writable:
            await self.write(stamp_native)

    async def detach(self, *, missing: bool, reason: str | None = None) -> None:
        """Close the connections of a store that is gone or cannot be read any more; ``reason`` says so to whoever asks."""
        self.missing = missing
        self._closed_because = reason or _CLOSED
        await self._replace(None)

    async def create(self) -> None:
        """Make the folders and a complete native store, in one transaction, where there is none, and open it.

        Of two creators at once one makes the store and the other finds it made. Raises :class:`StateUnavailable`.
        """
        if self.path is not None:
            with translated():
                self.path.parent.mkdir(parents=True, exist_ok=True)
        await self.attach(writable=True)
        try:
            await self.write(create_schema)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Wait for the writes under way and for open reads, then close every connection. Does nothing when closed."""
        while self._writes:
            await asyncio.wait(self._writes)
        await self._replace(None)

    async def _replace(self, fresh: Connections | None) -> None:
        """Put other connections in the place of the present ones, between two writes, and let those go."""
        async with self._write_lock:
            old, self._connections = self._connections, fresh
        if old is not None:
            await old.close()

    # --- reads --------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A read-only connection in autocommit, for a few short statements. Raises :class:`StateUnavailable`."""
        connections = self._require()
        with translated():
            async with connections.reader() as connection:
                yield connection

    async def fetch_all(self, statement: Executable | str, params: Parameters = None) -> list[dict[str, Any]]:
        """All rows of a query as plain dictionaries; an empty list when there are none. See :func:`executable` for text."""
        async with self.read() as connection:
            result = await connection.execute(*executable(statement, params))
            return [dict(row) for row in result.mappings()]

    async def fetch_one(self, statement: Executable | str, params: Parameters = None) -> dict[str, Any] | None:
        """The first row of a query, or ``None``."""
        async with self.read() as connection:
            row = (await connection.execute(*executable(statement, params))).mappings().first()
            return None if row is None else dict(row)

    async def schema_version(self) -> str | None:
        """The version text that the store carries."""
        row = await self.fetch_one(schema_meta.select().where(schema_meta.c.key == "version"))
        return None if row is None else str(row["value"])

    async def data_version(self) -> int:
        """A number that changes when anybody commits to the store; only its difference to an earlier one means something."""
        with translated():
            return await self._require().data_version()

    # --- writes -------------------------------------------------------------------------------------------------------

    async def write(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        """Run ``work`` in one transaction and commit; roll back when it raises.

        One at a time on SQLite. The transaction runs to its end even when the caller is cancelled meanwhile. Raises
        :class:`PermissionDenied` for a store that may not be written, :class:`StateUnavailable`, and what ``work`` raises of
        our own errors.
        """
        self._require_writable()
        task = asyncio.create_task(self._transact(work))
        self._writes.add(task)
        task.add_done_callback(self._forget)
        return await asyncio.shield(task)

    async def execute(self, statement: Executable | str, params: Parameters = None) -> None:
        """One statement in a transaction of its own."""

        async def work(connection: AsyncConnection) -> None:
            await connection.execute(*executable(statement, params))

        await self.write(work)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction around a block. A cancelled block is rolled back; prefer :meth:`write`, which cannot be cancelled."""
        with translated():
            async with AsyncExitStack() as stack:
                if self.dialect == "sqlite":
                    await stack.enter_async_context(self._write_lock)
                # asked only now: while this waited its turn, the store may have been opened anew
                yield await stack.enter_async_context(self._require_writable().transaction())

    async def checkpoint(self, mode: str = "PASSIVE") -> tuple[int, int, int] | None:
        """Checkpoint the log: (busy, pages in the log, pages moved); ``None`` on PostgreSQL. Raises :class:`ValueError`."""
        if mode not in CHECKPOINT_MODES:
            raise ValueError(f"checkpoint mode must be one of {', '.join(CHECKPOINT_MODES)}")
        self._require_writable()
        if self.dialect != "sqlite":
            return None
        with translated():
            async with self._write_lock:
                return await self._require_writable().checkpoint(mode)

    async def vacuum(self) -> None:
        """Rewrite the store without the room of deleted rows. Not while others work with it."""
        with translated():
            async with self._write_lock:
                await self._require_writable().vacuum()

    async def _transact(self, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
        async with self.transaction() as connection:
            return await work(connection)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._writes.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.debug("a write was rolled back: %s", type(error).__name__)

    def _require(self) -> Connections:
        if self._connections is None:
            raise StateUnavailable(
                f"There is no store at {self.label}." if self.missing else self._closed_because, retryable=not self.missing
            )
        return self._connections

    def _require_writable(self) -> Connections:
        connections = self._require()
        if self.refusal is not None:
            raise PermissionDenied(self.refusal)
        return connections
