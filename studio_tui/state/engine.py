"""The engines: one writer and a few readers for SQLite, one pool for PostgreSQL (ADR-0056 D3, D4; facts of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import event
from sqlalchemy.engine import Connection, ExceptionContext
from sqlalchemy.exc import ArgumentError, InvalidRequestError
from sqlalchemy.pool import AsyncAdaptedQueuePool, NullPool
from sqlalchemy.util.concurrency import await_

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.async_core import AsyncConnection, AsyncEngine, create_async_engine
from studio_tui.state.driver import DriverConnection
from studio_tui.state.storable import send_storable_text
from studio_tui.state.urls import MEMORY, POSTGRESQL_SCHEME, SQLITE_SCHEME, dialect_of, sqlite_path

BUSY_TIMEOUT_MS: Final = 5000
READERS: Final = 6
"""Reading connections at most; they are made when they are needed, and stay."""
_SQLITE: Final = f"{SQLITE_SCHEME}:///named-at-connect"
_WRITER_PROFILE: Final = (
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "foreign_keys = ON",
    "cache_size = -64000",
    "wal_autocheckpoint = 1000",
)
"""In this order on every writing connection, after ``busy_timeout`` (facts of the peer; ADR-0056 D3)."""
_READER_PROFILE: Final = ("query_only = 1",)


def make_engine(url: str, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS, **overrides: Any) -> AsyncEngine:
    """The engine that may write.

    On SQLite it has a single connection, opened with the PRAGMA profile, in driver autocommit, and every transaction begins
    with BEGIN IMMEDIATE. Raises :class:`StateUnavailable` when the URL names a database or a driver that is not to be had.
    """
    if dialect_of(url) != "sqlite":
        return make_server_engine(url, **overrides)
    options: dict[str, Any] = {
        "poolclass": AsyncAdaptedQueuePool,
        "pool_size": 1,
        "max_overflow": 0,
        "connect": _connecting(partial(str, _file_of(url)), busy_timeout_ms, _WRITER_PROFILE),
    }
    engine = _create(_SQLITE, options | overrides)
    event.listen(engine.sync_engine, "begin", _begin_immediate)
    return engine


def make_readonly_engine(
    url: str, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS, guarded: bool = False, **overrides: Any
) -> AsyncEngine:
    """An engine that can only read an existing SQLite file (``mode=ro``, ``query_only``), in driver autocommit.

    It keeps its few connections open. With ``guarded`` each connection is opened for one use and leaves nothing beside the
    file (see :func:`guarded_uri`): for stores that we may look at and not write. Raises :class:`ValueError` for other
    databases and for ``:memory:`` (ADR-0056 D6).
    """
    path = _file_of(url)
    name = partial(guarded_uri if guarded else readonly_uri, path)
    options: dict[str, Any] = {
        "skip_autocommit_rollback": True,
        "connect": _connecting(name, busy_timeout_ms, _READER_PROFILE, reads_only=True),
    }
    if guarded:
        options |= {"poolclass": NullPool}
    else:
        options |= {
            "poolclass": AsyncAdaptedQueuePool,
            "pool_size": READERS,
            "max_overflow": 0,
            "pool_use_lifo": True,
            "pool_reset_on_return": None,
        }
    engine = _create(_SQLITE, options | overrides)
    event.listen(engine.sync_engine, "handle_error", _stop_when_cancelled)
    return engine


def make_server_engine(
    url: str,
    *,
    pooled: bool = False,
    readonly: bool = False,
    answer_within: float | None = None,
    connect_within: float | None = None,
    **overrides: Any,
) -> AsyncEngine:
    """The engine for a database server; see :mod:`studio_tui.state.postgres`. The limits are in seconds; ``None`` leaves the one
    for connecting to the address and waits for answers without end.

    Raises :class:`StateUnavailable` for other databases and drivers, and for an address with parameters that mean nothing.
    """
    if not url.startswith(f"{POSTGRESQL_SCHEME}://"):
        raise _not_an_address()
    from studio_tui.state.postgres import engine_options, read_address

    address = read_address(url, connect_within=connect_within)
    options = engine_options(address, pooled=pooled, readonly=readonly, answer_within=answer_within)
    return _create(address.url, options | overrides)


def readonly_uri(path: Path) -> str:
    """The file URI of a read-only connection; characters with a meaning in URIs are quoted."""
    return f"file:{quote(str(path))}?mode=ro"


def guarded_uri(path: Path) -> str:
    """A URI that reads the file and leaves no ``-wal`` or ``-shm`` behind.

    A read-only connection to a WAL store makes both files when they are missing and cannot remove them again (measured with
    SQLite 3.40). While there is no log, nobody has the store open, and ``immutable`` reads it without touching anything.
    """
    return readonly_uri(path) + ("" if has_log(path) else "&immutable=1")


def has_log(path: Path) -> bool:
    """Whether a log or a rollback journal beside the file may hold what the file does not."""
    wal_size, journal_size = (_size(Path(f"{path}{suffix}")) for suffix in ("-wal", "-journal"))
    return wal_size > 0 or journal_size > 0 or (wal_size == 0 and Path(f"{path}-shm").exists())


def _size(path: Path) -> int:
    """The size of a file, -1 when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def _create(url: str, options: dict[str, Any]) -> AsyncEngine:
    try:
        engine = create_async_engine(url, hide_parameters=True, **options)
    except ModuleNotFoundError as error:
        raise StateUnavailable(
            "the driver for this database is not installed: install studio-tui with its postgres extra", retryable=False
        ) from error
    except (ArgumentError, InvalidRequestError, ValueError):
        # without the cause: SQLAlchemy repeats the URL, and with it the password
        raise _not_an_address() from None
    send_storable_text(engine.sync_engine)
    return engine


def _not_an_address() -> StateUnavailable:
    return StateUnavailable("this is not the address of an SQLite or PostgreSQL store", retryable=False)


def _file_of(url: str) -> Path:
    path = sqlite_path(url)
    if path is None or path == Path(MEMORY):
        raise ValueError("this needs an SQLite file")
    return path


def _connecting(
    name: Callable[[], str], busy_timeout_ms: int, profile: tuple[str, ...], *, reads_only: bool = False
) -> Callable[[], Awaitable[DriverConnection]]:
    """Makes connections to the file's own name or URI: a path may hold characters that mean something in a URL."""
    pragmas = (f"busy_timeout = {int(busy_timeout_ms)}", *profile)

    async def connect() -> DriverConnection:
        made = DriverConnection(name(), timeout=busy_timeout_ms / 1000, pragmas=pragmas, reads_only=reads_only)
        await made
        return made

    return connect


async def stop_question(connection: AsyncConnection) -> None:
    """Make the question that a reader asks, or is about to ask, fail soon; the connection is of no further use.

    An interrupt alone would miss a statement that has not begun. A question to a server ends with its connection.
    """
    _give_up((await connection.get_raw_connection()).driver_connection)


def _begin_immediate(connection: Connection) -> None:
    driver = connection.connection.driver_connection
    assert isinstance(driver, DriverConnection)
    await_(driver.begin_writing())


def _stop_when_cancelled(context: ExceptionContext) -> None:
    """Stop the question of a reader that was cancelled: its thread would otherwise finish it for nobody."""
    if isinstance(context.original_exception, Exception) or context.connection is None:
        return
    _give_up(context.connection.connection.driver_connection)


def _give_up(driver: object) -> None:
    if isinstance(driver, DriverConnection):
        driver.stop_asking.set()
