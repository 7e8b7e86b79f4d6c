"""The connections of one opening of a store on PostgreSQL: one pool, directly or through a pooler."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from sqlalchemy.exc import DBAPIError

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.async_core import AsyncConnection, AsyncEngine, AsyncTransaction
from studio_tui.state.connections import Connections
from studio_tui.state.engine import make_server_engine
from studio_tui.state.errors import is_lost, sqlstate_of
from studio_tui.state.postgres import ANSWER_WITHIN, read_address
from studio_tui.state.server_changes import ServerChanges

CUT_COMMIT: Final = "the connection was lost while a change was being stored: look whether it was stored before trying again"

_POOL: Final = {"pool_size": 4, "max_overflow": 4, "pool_use_lifo": True}
_CANCEL_WITHIN: Final = 1.0
_REFUSED_SETTING: Final = frozenset({"08P01", "22023", "42704", "55P02"})
"""What servers and poolers answer to a setting that they do not know, or not with this value."""
_POOLER_SIGNS: Final = frozenset({"08P01", "42P05"})
"""A setting at the start that a pooler does not pass on, and a statement that somebody else left on the connection."""


async def open_server(url: str, *, writable: bool) -> Connections:
    """Connect once, find out whether a pooler stands between, and open what suits. Errors are those of the driver, or a sentence
    about a setting in the address that the server refuses."""
    settings = ", ".join(sorted(read_address(url).settings))
    try:
        return await _direct(url, writable=writable) or await _pooled(url, writable=writable)
    except DBAPIError as error:
        if settings and sqlstate_of(error) in _REFUSED_SETTING:
            message = f"the database server refuses a setting in the address of the store ({settings})"
            raise StateUnavailable(message, retryable=False) from error
        raise


async def _direct(url: str, *, writable: bool) -> Connections | None:
    """Direct connections, or ``None`` when there is a pooler."""
    engine = _engine(url, pooled=False, readonly=not writable)
    try:
        async with engine.connect() as connection:
            if not await goes_through_pooler(connection):
                return ServerConnections(url, engine, writable=writable, pooled=False)
    except BaseException as error:
        await engine.dispose()
        if isinstance(error, DBAPIError) and sqlstate_of(error) in _POOLER_SIGNS:
            return None
        raise
    await engine.dispose()
    return None


async def _pooled(url: str, *, writable: bool) -> Connections:
    engine = _engine(url, pooled=True, readonly=not writable)
    try:
        async with engine.connect():
            return ServerConnections(url, engine, writable=writable, pooled=True)
    except BaseException:
        await engine.dispose()
        raise


def _engine(url: str, *, pooled: bool, readonly: bool) -> AsyncEngine:
    return make_server_engine(url, pooled=pooled, readonly=readonly, answer_within=ANSWER_WITHIN, **_POOL)


async def goes_through_pooler(connection: AsyncConnection) -> bool:
    """Whether the process that answers is another one than the one that greeted us: a pooler greets in its own name."""
    answering = (await connection.exec_driver_sql("SELECT pg_backend_pid()")).scalar_one()
    return bool((await driver_of(connection)).get_server_pid() != answering)


async def _commit(transaction: AsyncTransaction) -> None:
    try:
        await transaction.commit()
    except (DBAPIError, OSError) as error:
        if is_lost(error):
            raise StateUnavailable(CUT_COMMIT, retryable=False) from error
        raise


async def driver_of(connection: AsyncConnection) -> Any:
    """asyncpg's own connection."""
    return (await connection.get_raw_connection()).driver_connection


class ServerConnections(Connections):
    """Readers are in autocommit on a direct connection; behind a pooler each question is a transaction that may only read."""

    def __init__(self, url: str, engine: AsyncEngine, *, writable: bool, pooled: bool) -> None:
        readers = {"postgresql_readonly": True} if pooled else {"isolation_level": "AUTOCOMMIT"}
        super().__init__(engine.execution_options(**readers), engine if writable else None, None)
        self.pooled = pooled
        self._url = url
        self._changes = ServerChanges()
        self._changing: dict[object, float] = {}

    @property
    def blocked_since(self) -> float | None:
        """A server tells nobody that one waits; ours are over in milliseconds, so the oldest under way counts as waiting."""
        return min(self._changing.values(), default=None)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that commits at the end of the block.

        When the connection goes while it commits, nobody knows whether it did: that is said as such, and is no invitation to try
        again. Before that, nothing was stored.
        """
        turn = object()
        self._changing[turn] = time.monotonic()
        try:
            async with self._require_writer().connect() as connection:
                transaction = await connection.begin()
                try:
                    yield connection
                except BaseException:
                    with suppress(DBAPIError, OSError):  # what went wrong first is what matters
                        await transaction.rollback()
                    raise
                await _commit(transaction)
        finally:
            del self._changing[turn]

    async def data_version(self) -> int:
        """See :class:`ServerChanges`."""
        async with self.reader() as connection:
            return await self._changes.number(connection)

    async def vacuum(self) -> None:
        """VACUUM, which may take its time."""
        self._require_writer()
        engine = make_server_engine(self._url, pooled=self.pooled)
        try:
            async with engine.connect() as connection:
                await connection.execution_options(isolation_level="AUTOCOMMIT")
                await connection.exec_driver_sql("VACUUM")
        finally:
            await engine.dispose()

    async def _stop(self, connection: AsyncConnection) -> None:
        """Have the server give the question up; when it does not soon, cut the connection: maybe nobody answers any more."""
        driver = await driver_of(connection)
        with suppress(DBAPIError, OSError):
            async with asyncio.timeout(_CANCEL_WITHIN):
                if not self.pooled:
                    async with self._readers.connect() as other:
                        await other.exec_driver_sql("SELECT pg_cancel_backend($1)", (driver.get_server_pid(),))
                    await self._idle.wait()
        if connection in self._in_use:
            driver.terminate()
