"""The SQLite driver, with one trip to a connection's thread for each statement.

aiosqlite makes four: for a cursor, for the statement, for its rows, and for closing the cursor. At 0.1 ms each they cost more
than a page that an index yields. Here a statement is run, read to its end and let go of in one; to SQLAlchemy it looks the same.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import aiosqlite

BEGIN_WRITING: Final = "BEGIN IMMEDIATE"

_STEPS_BETWEEN_LOOKS: Final = 20_000
"""Steps of SQLite's machine between two looks at whether a question was given up: less than a millisecond."""


class Answer(NamedTuple):
    """What a statement gave: its columns (``None`` when it yields no rows), the rows, and what the driver counted."""

    description: Any = None
    rows: Sequence[Any] = ()
    rowcount: int = -1
    lastrowid: int | None = None


class DriverConnection(aiosqlite.Connection):
    """Its statements take one trip each. Once ``stop_asking`` is set, the question under way, or the next one, fails soon.

    A transaction that is not open is not rolled back: of the trips that SQLAlchemy makes to be sure, none is needed.
    ``blocked_since`` is when it was found that somebody else writes to the file, on the monotonic clock, while it waits for that.
    """

    def __init__(self, name: str, *, timeout: float, pragmas: Iterable[str], reads_only: bool) -> None:
        self.blocked_since: float | None = None
        self._is_open = False
        self._timeout_ms = int(timeout * 1000)
        self.stop_asking: Final = threading.Event()
        self._reads_only = reads_only
        self._made: Final[list[sqlite3.Connection]] = []
        stopped = self.stop_asking.is_set if reads_only else None
        super().__init__(partial(_connect, self._made, name, timeout, pragmas, stopped), iter_chunk_size=64)
        self._thread.daemon = True

    @property
    def thread(self) -> threading.Thread:
        """Where the statements run."""
        return self._thread

    def stop(self) -> asyncio.Future[Any] | None:
        """End the thread, and close what it has made: who waited for that may have been cancelled, and aiosqlite forgets it."""
        self._tx.put_nowait((None, partial(_close, self._made)))
        return super().stop()

    def cursor(self) -> DriverCursor:  # type: ignore[override]
        """A cursor; nothing is made in the database for it."""
        return DriverCursor(self)

    async def begin_writing(self) -> None:
        """Begin a transaction that may write."""
        self._is_open = True
        await self._execute(self._begin_writing)  # type: ignore[no-untyped-call]

    async def commit(self) -> None:
        """Commit what has begun."""
        if self._is_open:
            await super().commit()
            self._is_open = False

    async def rollback(self) -> None:
        """Take back what has begun, or may have: a commit that failed or was given up has not ended it for certain."""
        if self._is_open:
            await super().rollback()
            self._is_open = False

    async def ask(self, sql: str, parameters: Any, *, many: bool = False) -> Answer:
        """Run a statement to its end."""
        return await self._execute(self._ask, sql, parameters, many)  # type: ignore[no-any-return, no-untyped-call]

    async def read_in_place(self, table: str, column: str, key: str, start: int | None, length: int) -> tuple[int, bytes] | None:
        """The size of the text that a row's column holds, and some bytes of it from ``start`` on, or, without, the last ones.

        ``None`` when no row has that ``id``. The text is not read whole, nor is it found out where the bytes are by reading what
        stands before them: of two megabytes the end takes 15 us, and by a statement 1.5 ms.
        """
        return await self._execute(  # type: ignore[no-any-return, no-untyped-call]
            _read_in_place, self._conn, table, column, key, start, length
        )

    def _ask(self, sql: str, parameters: Any, many: bool) -> Answer:
        """In the connection's thread. A statement that only reads is read again where text in it is not UTF-8."""
        try:
            return _answer(self._conn, sql, parameters, many)
        except sqlite3.OperationalError as error:
            if not self._reads_only or "decode to UTF-8" not in str(error):
                raise
        self._conn.text_factory = _decode_text
        return _answer(self._conn, sql, parameters, many)

    def _begin_writing(self) -> None:
        """Tried without patience first: only so it is known that one waits for another program, and not for a slow machine."""
        try:
            self._conn.execute("PRAGMA busy_timeout = 0").close()
            self._conn.execute(BEGIN_WRITING).close()
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        finally:
            self._conn.execute(f"PRAGMA busy_timeout = {self._timeout_ms}").close()
        self.blocked_since = time.monotonic()
        try:
            self._conn.execute(BEGIN_WRITING).close()
        finally:
            self.blocked_since = None


class DriverCursor:
    """What SQLAlchemy asks of a cursor, answered from what came with the statement."""

    arraysize = 1

    def __init__(self, connection: DriverConnection) -> None:
        self._connection = connection
        self._answer = Answer()

    async def __aenter__(self) -> DriverCursor:
        return self

    @property
    def description(self) -> Any:
        """The columns of the rows, or ``None``."""
        return self._answer.description

    @property
    def rowcount(self) -> int:
        """How many rows were changed."""
        return self._answer.rowcount

    @property
    def lastrowid(self) -> int | None:
        """The place of the row that was inserted last."""
        return self._answer.lastrowid

    async def execute(self, sql: str, parameters: Any = ()) -> None:
        """Run a statement."""
        self._answer = await self._connection.ask(sql, parameters)

    async def executemany(self, sql: str, parameters: Any) -> None:
        """Run a statement once for each set of parameters."""
        self._answer = await self._connection.ask(sql, parameters, many=True)

    async def fetchall(self) -> Sequence[Any]:
        """The rows."""
        return self._answer.rows

    async def close(self) -> None:
        """Nothing is open any more."""


def _connect(
    made: list[sqlite3.Connection], name: str, timeout: float, pragmas: Iterable[str], stopped: Callable[[], bool] | None
) -> sqlite3.Connection:
    connection = sqlite3.connect(
        name, timeout=timeout, isolation_level=None, check_same_thread=False, uri=name.startswith("file:")
    )
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").close()
    except BaseException:
        connection.close()
        raise
    if stopped is None:
        connection.text_factory = _decode_text
    else:
        connection.set_progress_handler(stopped, _STEPS_BETWEEN_LOOKS)
    made.append(connection)
    return connection


def _close(made: list[sqlite3.Connection]) -> None:
    while made:
        made.pop().close()


def _answer(connection: sqlite3.Connection, sql: str, parameters: Any, many: bool) -> Answer:
    cursor = connection.cursor()
    try:
        if many:
            cursor.executemany(sql, parameters)
        else:
            cursor.execute(sql, parameters)
        rows = cursor.fetchall() if cursor.description else ()
        return Answer(cursor.description, rows, cursor.rowcount, cursor.lastrowid)
    finally:
        cursor.close()


def _read_in_place(
    connection: sqlite3.Connection, table: str, column: str, key: str, start: int | None, length: int
) -> tuple[int, bytes] | None:
    connection.execute("BEGIN")  # the place that is found is that of the row as long as nothing else is seen
    try:
        row = connection.execute(f"SELECT rowid FROM {table} WHERE id = ?", (key,)).fetchone()
        if row is None:
            return None
        with connection.blobopen(table, column, row[0], readonly=True) as value:
            size = len(value)
            value.seek(min(size, max(0, size - length if start is None else start)))
            return size, value.read(length)
    finally:
        connection.execute("COMMIT")


def _decode_text(stored: bytes) -> str:
    """Text that is not UTF-8 is shown with marks; the driver's own decoder, which is faster, would fail the whole query."""
    return stored.decode("utf-8", "replace")
