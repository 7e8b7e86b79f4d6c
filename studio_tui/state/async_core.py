"""SQLAlchemy Core on asyncio, and nothing else.

``sqlalchemy.ext.asyncio`` loads the whole ORM with it, which nobody here uses: a seventh of what a command takes, and 8 MiB. What
is here has its names and does the same, by the same means: Core runs in a greenlet that waits whenever the driver does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, Concatenate, Final, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, CursorResult, Engine, Executable, ScalarResult, create_engine
from sqlalchemy.engine import Dialect
from sqlalchemy.engine.base import RootTransaction
from sqlalchemy.exc import InvalidRequestError
from sqlalchemy.pool import PoolProxiedConnection
from sqlalchemy.util import greenlet_spawn

P = ParamSpec("P")
T = TypeVar("T")


class AsyncTransaction:
    """A transaction of a connection. As a context manager it commits at the end of the block, or rolls back."""

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection
        self._inner: RootTransaction | None = None

    def __await__(self) -> Generator[Any, Any, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        self._inner = await greenlet_spawn(self._connection.sync_connection.begin)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await greenlet_spawn(self._begun.__exit__, kind, error, trace)

    async def commit(self) -> None:
        """Commit it."""
        await greenlet_spawn(self._begun.commit)

    async def rollback(self) -> None:
        """Take it back."""
        await greenlet_spawn(self._begun.rollback)

    @property
    def _begun(self) -> RootTransaction:
        assert self._inner is not None
        return self._inner


class AsyncConnection:
    """A connection of an engine, once it is awaited or entered; leaving gives it back."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._inner: Connection | None = None

    def __await__(self) -> Generator[Any, Any, Self]:
        return self.__aenter__().__await__()

    async def __aenter__(self) -> Self:
        self._inner = await greenlet_spawn(self._engine.connect)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await _to_its_end(self.close())

    @property
    def sync_connection(self) -> Connection:
        """Core's own connection."""
        assert self._inner is not None, "the connection was neither awaited nor entered"
        return self._inner

    @property
    def dialect(self) -> Dialect:
        """The database's dialect."""
        return self._engine.dialect

    async def execute(self, statement: Executable, parameters: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement; its rows are there."""
        return await greenlet_spawn(self.sync_connection.execute, statement, parameters)

    async def exec_driver_sql(self, statement: str, parameters: Any = None) -> CursorResult[*tuple[Any, ...]]:
        """Run a statement in the driver's own words."""
        return await greenlet_spawn(self.sync_connection.exec_driver_sql, statement, parameters)

    async def scalar(self, statement: Executable, parameters: Any = None) -> Any:
        """The first column of the first row, or ``None``."""
        return (await self.execute(statement, parameters)).scalar()

    async def scalars(self, statement: Executable, parameters: Any = None) -> ScalarResult[Any]:
        """The first column of each row."""
        return (await self.execute(statement, parameters)).scalars()

    async def run_sync(self, work: Callable[Concatenate[Connection, P], T], *arguments: P.args, **options: P.kwargs) -> T:
        """Run work that is written for Core's own connection."""
        return await greenlet_spawn(partial(work, self.sync_connection, *arguments, **options))

    def begin(self) -> AsyncTransaction:
        """A transaction, once it is awaited or entered."""
        return AsyncTransaction(self)

    async def commit(self) -> None:
        """Commit what has begun by itself."""
        await greenlet_spawn(self.sync_connection.commit)

    async def rollback(self) -> None:
        """Take back what has begun by itself."""
        await greenlet_spawn(self.sync_connection.rollback)

    async def execution_options(self, **options: Any) -> Self:
        """Set options of this connection."""
        await greenlet_spawn(self.sync_connection.execution_options, **options)
        return self

    async def get_raw_connection(self) -> PoolProxiedConnection:
        """What the pool handed out; its ``driver_connection`` is the driver's."""
        return await greenlet_spawn(getattr, self.sync_connection, "connection")

    async def close(self) -> None:
        """Give the connection back to its pool."""
        if self._inner is not None:
            await greenlet_spawn(self._inner.close)


class AsyncEngine:
    """Connections to one database."""

    def __init__(self, sync_engine: Engine) -> None:
        self.sync_engine: Final = sync_engine

    @property
    def dialect(self) -> Dialect:
        """The database's dialect."""
        return self.sync_engine.dialect

    def connect(self) -> AsyncConnection:
        """A connection, once it is awaited or entered."""
        return AsyncConnection(self.sync_engine)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[AsyncConnection]:
        """A connection in a transaction that commits at the end of the block."""
        async with self.connect() as connection, connection.begin():
            yield connection

    def execution_options(self, **options: Any) -> AsyncEngine:
        """The same connections with other options."""
        return AsyncEngine(self.sync_engine.execution_options(**options))

    async def dispose(self) -> None:
        """Close the connections that are not in use."""
        await greenlet_spawn(self.sync_engine.dispose)


def create_async_engine(url: str, *, connect: Callable[[], Awaitable[Any]] | None = None, **options: Any) -> AsyncEngine:
    """An engine for the address of an asynchronous driver; ``connect`` makes the driver's connections in its place.

    Raises :class:`InvalidRequestError` for another driver, and what SQLAlchemy raises.
    """

    def creator() -> Any:
        return engine.dialect.loaded_dbapi.connect(async_creator_fn=connect)

    engine = create_engine(url, **options, **({} if connect is None else {"creator": creator}))
    if not engine.dialect.is_async:
        raise InvalidRequestError("the driver is not an asynchronous one")
    return AsyncEngine(engine)


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Wait for work that may not be given up in the middle, however often the caller is cancelled meanwhile."""
    task, cancelled = asyncio.create_task(work), None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    task.result()
