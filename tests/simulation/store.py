"""The real StateDB for several simulated processes on one file: who writes waits in one queue, and each commit is looked at."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from tests.simulation.owners import OWNER, Owner

_MEMORY = Path("/dev/shm")


class WorldOver(BaseException):
    """Raised in what is left of a process once its world has ended."""


@dataclass(frozen=True)
class Act:
    """What is being done: by whom, by which name, on what. ``at`` is when it began, in virtual seconds."""

    who: str
    name: str
    subject: Any = None
    at: float = 0.0

    def __str__(self) -> str:
        return f"{self.who} {self.name}"


NOTHING = Act("nobody", "nothing")
ACT: ContextVar[Act] = ContextVar("ACT", default=NOTHING)


class Gate:
    """The write lock of the store, as SQLite's busy handler would give it: one after the other, and never to the dead."""

    def __init__(self) -> None:
        self._held = False
        self._holder: Owner | None = None
        self._waiting: deque[tuple[Owner | None, asyncio.Future[None]]] = deque()

    def held_by(self, owner: Owner) -> bool:
        """Whether this process is in the middle of a transaction."""
        return self._held and self._holder is owner

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold the lock. A process that is doomed meanwhile stops with the end of its transaction."""
        owner = OWNER.get()
        place = (owner, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        self.pass_on()
        try:
            await place[1]
        except BaseException:
            if place in self._waiting:
                self._waiting.remove(place)
            elif place[1].done() and not place[1].cancelled():
                self._release()
            raise
        try:
            yield
        finally:
            self._release()

    def pass_on(self) -> None:
        """Give the lock to the first that waits and can run, if it is free."""
        if self._held:
            return
        for place in self._waiting:
            owner, granted = place
            if owner is None or not owner.stopped:
                self._held, self._holder = True, owner
                self._waiting.remove(place)
                granted.set_result(None)
                return

    def _release(self) -> None:
        owner, self._held, self._holder = self._holder, False, None
        if owner is not None and owner.doomed:
            owner.stop()
        self.pass_on()


class SimDB(StateDB):
    """One process's handle of the store. ``look`` is called after each commit, before anybody else may write."""

    def __init__(self, path: Path, gate: Gate, look: Callable[[], None]) -> None:
        super().__init__(path)
        self._gate, self._look = gate, look
        self.over = False

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        if self.over:
            raise WorldOver
        async with self._gate.turn():
            if self.over:
                raise WorldOver
            async with super().transaction() as connection:
                yield connection
            self._look()


class Template:
    """A complete empty store, made once and copied for each world; in memory where the system has a place for that."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="simulation-", dir=_MEMORY if _MEMORY.is_dir() else None))

    async def make(self) -> None:
        """Make the store that is copied."""
        db = StateDB(self.folder / "template.db")
        await db.open(create=True)
        await db.close()

    def copy(self) -> Path:
        """A folder of its own with a store for one world."""
        folder = Path(tempfile.mkdtemp(prefix="world-", dir=self.folder))
        shutil.copy(self.folder / "template.db", folder / "state.db")
        return folder

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.folder, ignore_errors=True)
