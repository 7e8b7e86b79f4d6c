"""The one connection that holds the host's lock on a PostgreSQL server, in whatever event loop it is used."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from studio_tui.state.async_core import AsyncConnection, AsyncEngine
from studio_tui.state.engine import make_server_engine
from studio_tui.state.server_connections import driver_of, goes_through_pooler

KEEP_EVERY: Final = 2.0
"""Seconds between two signs of life on the connection; a pooler or a server that cuts idle sessions sees none."""
ANSWER_WITHIN: Final = 3.0
"""Seconds for an answer; a holder that gets none does not hold the lock any more as far as it knows."""

_KEY: Final = "hashtextextended('studio-tui:scheduler-host:' || coalesce(current_schema(), ''), 0)"
"""Locks of this kind are a database's own; the schema tells stores in one database apart. The peer uses no such key."""
_TRY: Final = f"SELECT pg_try_advisory_lock({_KEY})"
_TRY_IN_TRANSACTION: Final = f"SELECT pg_try_advisory_xact_lock({_KEY})"
_UNLOCK: Final = f"SELECT pg_advisory_unlock({_KEY})"
_SIGN: Final = "SELECT set_config('application_name', $1, $2)"
_HOLDER: Final = f"""
    SELECT a.pid, a.application_name, extract(epoch FROM a.backend_start), extract(epoch FROM coalesce(a.state_change, now()))
    FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (CAST(l.classid AS bigint) << 32) | CAST(l.objid AS bigint) = {_KEY}
"""
_DEAD_CLIENTS: Final = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}
"""The server gives up a holder whose machine is gone after half a minute, and not after two hours."""
_NAME_LIMIT: Final = 63
_NAME: Final = re.compile(r"(?P<label>studio-tui[a-z ]*) (?P<pid>\d+)@(?P<host>\S*) (?P<since>\d+)")


@dataclass(frozen=True, slots=True)
class Signature:
    """Who holds the lock, as its session names itself to the server; ``since`` and ``seen_at`` are in epoch seconds."""

    label: str
    pid: int
    host: str | None
    since: float
    seen_at: float


def signed(label: str, pid: int, host: str | None, since: float) -> str:
    """The name of the holder's session. Servers cut names at 63 bytes, so a long host name is cut here."""
    head, tail = f"{label} {pid}@", f" {since:.0f}"
    name = (host or "").encode("ascii", "replace").decode()
    return f"{head}{name[: _NAME_LIMIT - len(head) - len(tail)]}{tail}"


class LeaseKeeper:
    """Takes, keeps and gives up the lock. Errors are those of the driver.

    On a direct connection it is a lock of the session. Behind a pooler a session is not ours to keep: there the lock belongs to
    a transaction that stays open and touches nothing, so that the pooler leaves the server's connection with us.
    """

    def __init__(self, url: str) -> None:
        self.held = False
        self._url = url
        self._engine: AsyncEngine | None = None
        self._connection: AsyncConnection | None = None
        self._pooled = False
        self._keeping: asyncio.Task[None] | None = None

    async def take(self, name: str) -> bool:
        """Take the lock if it is free, under this name."""
        try:
            connection = self._connection or await self._connect()
            taken = bool((await connection.exec_driver_sql(_TRY_IN_TRANSACTION if self._pooled else _TRY)).scalar_one())
            if taken:
                await connection.exec_driver_sql(_SIGN, (name, self._pooled))
            elif self._pooled:
                await connection.rollback()
        except BaseException:
            await self.close()
            raise
        if taken:
            self.held = True
            self._keeping = asyncio.create_task(self._keep(connection), name="keep the host's lock")
        return taken

    async def holder(self) -> Signature | None:
        """Who holds the lock now."""
        connection = self._connection or await self._connect()
        row = (await connection.exec_driver_sql(_HOLDER)).first()
        if self._pooled and not self.held:
            await connection.rollback()
        return None if row is None else _read(*tuple(row))

    async def close(self) -> None:
        """Give up the lock and the connection."""
        was_held, self.held = self.held, False
        keeping, self._keeping = self._keeping, None
        if keeping is not None:
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
        connection, self._connection = self._connection, None
        engine, self._engine = self._engine, None
        with suppress(DBAPIError, OSError):
            if connection is not None:
                if was_held and not self._pooled:
                    await connection.exec_driver_sql(_UNLOCK)
                await connection.close()
        if engine is not None:
            await engine.dispose()

    async def _connect(self) -> AsyncConnection:
        engine = self._engine = make_server_engine(
            self._url, pooled=True, answer_within=ANSWER_WITHIN, connect_within=ANSWER_WITHIN, poolclass=NullPool
        )
        connection = self._connection = await engine.connect()
        self._pooled = await goes_through_pooler(connection)
        await connection.rollback()
        if not self._pooled:
            await connection.execution_options(isolation_level="AUTOCOMMIT")
            for name, value in _DEAD_CLIENTS.items():
                await connection.exec_driver_sql("SELECT set_config($1, $2, false)", (name, value))
        (await driver_of(connection)).add_termination_listener(self._gone)
        return connection

    def _gone(self, _driver: Any) -> None:
        self.held = False

    async def _keep(self, connection: AsyncConnection) -> None:
        """Let the server hear from us, and notice when it does not answer."""
        while self.held:
            await asyncio.sleep(KEEP_EVERY)
            try:
                await connection.exec_driver_sql("SELECT 1")
            except (DBAPIError, OSError):
                self.held = False


def _read(backend: int, name: str, began: Any, seen: Any) -> Signature:
    found = _NAME.fullmatch(name)
    if found is None:
        return Signature(name or "another program", backend, None, float(began), float(seen))
    return Signature(found["label"], int(found["pid"]), found["host"] or None, float(found["since"]), float(seen))
