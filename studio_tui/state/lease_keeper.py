"""The one connection that holds the host's lock on a PostgreSQL server, in whatever event loop it is used."""

from __future__ import annotations

import asyncio
import itertools
import re
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from studio_tui.domain.durations import format_duration
from studio_tui.state.async_core import AsyncConnection, AsyncEngine
from studio_tui.state.engine import make_server_engine
from studio_tui.state.errors import sqlstate_of
from studio_tui.state.server_connections import driver_of, goes_through_pooler

KEEP_EVERY: Final = 2.0
"""Seconds between two signs of life; a pooler or a server that cuts idle sessions sees no idle one."""
ANSWER_WITHIN: Final = 3.0
"""Seconds for an answer; a holder that gets none does not hold the lock any more as far as it knows."""
SURE_FOR: Final = 20.0
"""Seconds since the last question that was answered for which a holder believes that it still holds the lock: it may have been
stopped since, and replaced. Well below :data:`QUIET_LIMIT`, so that nobody believes it who may have been."""
CONSOLE_QUIET: Final = 30.0
"""Seconds without a sign of life of the console itself, from which on the holder gives none either."""
QUIET_LIMIT: Final = 60.0
"""Seconds without a sign of life, by the steady clock of whoever waits, after which a holder is taken for stopped."""

_KEY: Final = "hashtextextended('studio-tui:scheduler-host:' || coalesce(current_schema(), ''), 0)"
"""Locks of this kind are a database's own; the schema tells stores in one database apart. The peer uses no such key."""
_TRY: Final = f"SELECT pg_try_advisory_lock({_KEY})"
_TRY_IN_TRANSACTION: Final = f"SELECT pg_try_advisory_xact_lock({_KEY})"
_UNLOCK: Final = f"SELECT pg_advisory_unlock({_KEY})"
_SIGN: Final = "SELECT set_config('application_name', $1, $2)"
_HELD: Final = f"""
    FROM pg_locks AS l JOIN pg_stat_activity AS a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (CAST(l.classid AS bigint) << 32) | CAST(l.objid AS bigint) = {_KEY}
"""
_HOLDER: Final = f"""
    SELECT a.pid, a.application_name, extract(epoch FROM coalesce(a.backend_start, now())),
    extract(epoch FROM coalesce(a.state_change, now())) {_HELD}
"""
_WATCH: Final = f"SELECT a.pid, a.application_name {_HELD}"
_END_QUIET: Final = f"SELECT pg_terminate_backend(a.pid) {_HELD} AND a.pid = $1 AND a.application_name = $2"
_NOT_ALLOWED: Final = "42501"
_DEAD_CLIENTS: Final = {"tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3"}
"""The server gives up a holder whose machine is gone after half a minute, and not after two hours."""
_NAME_LIMIT: Final = 63
_NAME: Final = re.compile(r"(?P<label>studio-tui[a-z ]*) (?P<pid>\d+)@(?P<host>\S*) (?P<since>\d+)(?: (?P<life>\d))?")


@dataclass(frozen=True, slots=True)
class Signature:
    """Who holds the lock, as its session names itself to the server; ``since`` and ``seen_at`` are in epoch seconds."""

    label: str
    pid: int
    host: str | None
    since: float
    seen_at: float


Sighting = tuple[int, str]
"""The holder's process in the server, and the name that it gave itself last: all that every login may see of it."""


def signed(label: str, pid: int, host: str | None, since: float) -> str:
    """The name of the holder's session. Servers cut names at 63 bytes, so a long host name is cut here; the digit that
    is the holder's sign of life goes behind it."""
    head, tail = f"{label} {pid}@", f" {since:.0f}"
    name = (host or "").encode("ascii", "replace").decode()
    return f"{head}{name[: _NAME_LIMIT - len(' 0') - len(head) - len(tail)]}{tail}"


class LeaseKeeper:
    """Takes, keeps and gives up the lock. Errors are those of the driver.

    On a direct connection it is a lock of the session. Behind a pooler a session is not ours to keep: there the lock belongs to
    a transaction that stays open and touches nothing, so that the pooler leaves the server's connection with us.

    A holder that lives and does nothing (stopped, hung) would keep it for ever. So it changes its name again and again, which
    every login may see, and whoever has seen none of that for :data:`QUIET_LIMIT` has the server end its session. The old holder
    finds that out before it launches anything more: it is sure of the lock only while the server has just answered it.
    """

    def __init__(self, url: str) -> None:
        self.held = False
        self.beaten = self.asked = time.monotonic()
        self.obstacle: str | None = None
        self._seen: tuple[Sighting, float] | None = None
        self._url = url
        self._engine: AsyncEngine | None = None
        self._connection: AsyncConnection | None = None
        self._pooled = False
        self._keeping: asyncio.Task[None] | None = None

    @property
    def sure(self) -> bool:
        """Whether this process holds the lock, beyond doubt. May be asked from any thread."""
        return self.held and time.monotonic() - self.asked < SURE_FOR

    async def take(self, name: str) -> bool:
        """Take the lock if it is free, under this name. The session of a quiet holder is ended; the next try may succeed."""
        try:
            connection = self._connection or await self._connect()
            asked = time.monotonic()
            taken = bool((await connection.exec_driver_sql(_TRY_IN_TRANSACTION if self._pooled else _TRY)).scalar_one())
            if taken:
                await self._sign(connection, name, 0)
            else:
                await self._watch(connection)
                if self._pooled:
                    await connection.rollback()
        except BaseException:
            await self.close()
            raise
        if taken:
            self.held, self.asked, self.beaten, self.obstacle, self._seen = True, asked, asked, None, None
            self._keeping = asyncio.create_task(self._keep(connection, name), name="keep the host's lock")
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

    async def _keep(self, connection: AsyncConnection, name: str) -> None:
        """Let everybody see that we live, as long as the console does, and notice when the server does not answer."""
        for number in itertools.count(1):
            await asyncio.sleep(KEEP_EVERY)
            asked = time.monotonic()
            if not self.held:
                return
            if asked - self.beaten < CONSOLE_QUIET:
                try:
                    await self._sign(connection, name, number)
                    self.asked = asked
                except (DBAPIError, OSError):
                    self.held = False

    async def _sign(self, connection: AsyncConnection, name: str, number: int) -> None:
        await connection.exec_driver_sql(_SIGN, (f"{name} {number % 10}", self._pooled))

    async def _watch(self, connection: AsyncConnection) -> None:
        """Have the server end the session of a holder that has given no sign of life while we watched."""
        row = (await connection.exec_driver_sql(_WATCH)).first()
        found = None if row is None or not _gives_signs(row[1]) else (int(row[0]), str(row[1]))
        now = time.monotonic()
        if found is None or self._seen is None or self._seen[0] != found:
            self._seen, self.obstacle = None if found is None else (found, now), None
        elif now - self._seen[1] > QUIET_LIMIT and self.obstacle is None:
            try:
                await connection.exec_driver_sql(_END_QUIET, found)
            except DBAPIError as failure:
                if sqlstate_of(failure) != _NOT_ALLOWED:
                    raise
                self.obstacle = _not_allowed(found[0])


def _gives_signs(name: str | None) -> bool:
    """Whether a session that is named so would change its name if it lived. Others are left alone."""
    named = _NAME.fullmatch(name or "")
    return named is not None and named["life"] is not None


def _not_allowed(backend: int) -> str:
    return (
        f"the host has given no sign of life for {format_duration(round(QUIET_LIMIT))} or more, and the login of this store may "
        f"not end its session on the database server: continue or end that host, or have somebody who may run "
        f"SELECT pg_terminate_backend({backend})"
    )


def _read(backend: int, name: str, began: Any, seen: Any) -> Signature:
    found = _NAME.fullmatch(name)
    if found is None:
        return Signature(name or "another program", backend, None, float(began), float(seen))
    return Signature(found["label"], int(found["pid"]), found["host"] or None, float(found["since"]), float(seen))
