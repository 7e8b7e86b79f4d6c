"""Takes the steps of a migration, one transaction after the other, on a connection of its own."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from sqlalchemy import event, inspect
from sqlalchemy.engine import Connection

from studio_tui.application.errors import PermissionDenied, StateUnavailable
from studio_tui.application.models.state import MigrationProgress, MigrationReport, PlannedChange, ProgressListener
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import advisory_lock
from studio_tui.state.engine import make_engine
from studio_tui.state.errors import translated
from studio_tui.state.making import SCHEMA_LOCK
from studio_tui.state.migrations.backup import back_up
from studio_tui.state.migrations.outdated import lacking
from studio_tui.state.migrations.plan import steps_of
from studio_tui.state.migrations.shape import claim_of, read_meta, read_shape
from studio_tui.state.migrations.steps import Step
from studio_tui.state.schema import schema_meta

T = TypeVar("T")
_UNLOCKED_COPIES: Final = 2
"""Backups that are tried while others may write; after these the store is held until its backup is made."""


class Upgrade:
    """One migration of the store at ``url``, whose file is ``path``. Enter it, then :meth:`run` it.

    While it is entered, the file is open for writing: readers that look at it now see its log. Errors are those of the
    application.
    """

    def __init__(self, url: str, path: Path | None, *, label: str, busy_timeout_ms: int, listen: ProgressListener | None) -> None:
        self._engine = make_engine(url, busy_timeout_ms=busy_timeout_ms)
        self._path = path
        self._label = label
        self._listen = listen
        self._stop = threading.Event()
        self._said = MigrationProgress(step="", done=0, total=0)
        self._backups: list[str] = []
        self._connection: AsyncConnection | None = None
        if path is not None:
            event.listen(self._engine.sync_engine, "connect", _without_foreign_keys)

    async def __aenter__(self) -> Self:
        with translated():
            try:
                self._connection = await self._engine.connect()
            except BaseException:
                await self._engine.dispose()
                raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._connection is not None:
            await self._connection.close()
        await self._engine.dispose()

    async def run(self) -> MigrationReport:
        """Take all steps that the store needs now. A caller that is cancelled waits for the transaction under way to end."""
        steps = await self._transact(lambda connection: steps_of(read_shape(connection)))
        done: list[PlannedChange] = []
        for number, step in enumerate(steps):
            self._say(MigrationProgress(step=step.words, done=number, total=len(steps)))
            await self._finish(self._take(step))
            done += step.changes
        self._say(MigrationProgress(step="done", done=len(steps), total=len(steps)))
        return MigrationReport(label=self._label, changes=tuple(done), backups=tuple(self._backups))

    async def _finish(self, work: Coroutine[Any, Any, None]) -> None:
        """Let a transaction end whatever becomes of the caller: cancelling one was measured to lock the file."""
        task = asyncio.create_task(work)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            self._stop.set()
            await asyncio.gather(task, return_exceptions=True)
            raise

    async def _take(self, step: Step) -> None:
        if step.backup_before is not None:
            await self._take_with_backup(step, step.backup_before)
            return
        while await self._transact(lambda connection: step.work(connection, self._tick)) and not self._stop.is_set():
            pass

    async def _take_with_backup(self, step: Step, table: str) -> None:
        """The change begins from exactly what the backup holds: when somebody writes in between, it is made again."""
        for _ in range(_UNLOCKED_COPIES):
            if await self._attempt(step, table, held=False):
                return
        await self._attempt(step, table, held=True)

    async def _attempt(self, step: Step, table: str, *, held: bool) -> bool:
        """Copy and change; ``False`` when somebody wrote in between. ``held`` keeps others from writing during the copy."""
        copies: list[Path] = []
        async with self._kept_if_changed(copies, table):
            seen = await self._changes_of_others()
            if not held:
                copies.append(await self._back_up(table))
            async with self._transaction() as connection:
                if held:
                    copies.append(await self._back_up(table))
                elif await self._changes_of_others() != seen:
                    return False
                self._say(self._said.model_copy(update={"part_done": 0, "part_total": 0}))
                await connection.run_sync(lambda inner: step.work(inner, self._tick))
        return True

    @asynccontextmanager
    async def _kept_if_changed(self, copies: list[Path], table: str) -> AsyncIterator[None]:
        """A backup is of no use, and in the way on a full disk, when the table is seen to be as it was; in doubt it stays."""
        try:
            yield
        finally:
            with suppress(Exception):
                ((create,),) = await self._ask_driver(f"SELECT sql FROM sqlite_master WHERE type = 'table' AND name = '{table}'")
                while copies and lacking(table, create):
                    await asyncio.to_thread(copies.pop().unlink)
            self._backups += map(str, copies)

    async def _transact(self, work: Callable[[Connection], T]) -> T:
        async with self._transaction() as connection:
            return await connection.run_sync(work)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction in which nobody else does schema work, on a store that is still ours to upgrade."""
        connection = self._connection
        assert connection is not None
        with translated():
            async with connection.begin():
                await advisory_lock(connection, SCHEMA_LOCK)
                if claim := await connection.run_sync(_claim):
                    raise PermissionDenied(claim)
                yield connection

    async def _changes_of_others(self) -> int:
        """A number that changes when another connection commits."""
        with translated():
            return int((await self._ask_driver("PRAGMA data_version"))[0][0])

    async def _ask_driver(self, question: str) -> list[tuple[Any, ...]]:
        """Asked on the driver itself, so that no transaction begins."""
        assert self._connection is not None
        raw = await self._connection.get_raw_connection()
        driver = raw.driver_connection
        assert driver is not None
        return list(await driver.execute_fetchall(question))

    async def _back_up(self, table: str) -> Path:
        assert self._path is not None
        loop = asyncio.get_running_loop()

        def tick(done: int, total: int) -> None:
            if self._stop.is_set():
                raise StateUnavailable("The upgrade was given up before this step.", retryable=True)
            loop.call_soon_threadsafe(self._tick, done, total)

        with translated():
            return await asyncio.to_thread(back_up, self._path, table, time.time(), tick)

    def _tick(self, done: int, total: int) -> None:
        self._say(self._said.model_copy(update={"part_done": done, "part_total": total}))

    def _say(self, progress: MigrationProgress) -> None:
        self._said = progress
        if self._listen is not None:
            self._listen(progress)


def _claim(connection: Connection) -> str | None:
    return claim_of(read_meta(connection)) if inspect(connection).has_table(schema_meta.name) else None


def _without_foreign_keys(connection: Any, _record: Any) -> None:
    """References are compared around a rebuild instead, and renaming must not look into views that name the table."""
    cursor = connection.cursor()
    try:
        cursor.execute("PRAGMA foreign_keys = OFF")
        cursor.execute("PRAGMA legacy_alter_table = ON")
    finally:
        cursor.close()
