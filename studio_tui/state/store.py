"""The store as a whole: what it is, whether it may be written, and how it comes into being (open policy of lionagi 0.36)."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from studio_tui.application.errors import Conflict, PermissionDenied, StateUnavailable, StudioApplicationError
from studio_tui.application.ports import StoreCondition
from studio_tui.state import native
from studio_tui.state.db import StateDB
from studio_tui.state.engine import BUSY_TIMEOUT_MS
from studio_tui.state.making import stamp_native
from studio_tui.state.schema import SCHEMA_VERSION
from studio_tui.state.server import look_at_server, server_obstacle
from studio_tui.state.urls import MEMORY, normalize_state_db_url

if TYPE_CHECKING:
    from studio_tui.application.models.state import MigrationPlan, MigrationReport, ProgressListener

_NARROW: Final = "This store does not allow every word of lionagi 0.36.0: it is shown read-only."
_ASKED_READ_ONLY: Final = "Read-only because you asked for it."


class Store:
    """Implements ``StorePort``. ``db`` is one object for the whole life of the process, whatever the store does meanwhile."""

    def __init__(
        self,
        location: str | Path | None,
        *,
        home: Path,
        read_only: bool = False,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
    ) -> None:
        self.db = StateDB(url=normalize_state_db_url(location, home=home), busy_timeout_ms=busy_timeout_ms)
        self._asked_read_only = read_only
        self._busy_timeout_ms = busy_timeout_ms
        self._condition = StoreCondition("unavailable", self.db.label, "The store is not open yet.")
        self._opening = asyncio.Lock()
        self._closed = False

    @property
    def path(self) -> Path | None:
        """The file, or ``None`` for a store that is none."""
        return None if self.db.path == Path(MEMORY) else self.db.path

    def condition(self) -> StoreCondition:
        """How the store stands now."""
        return replace(self._condition, waiting=True) if self.db.is_waiting else self._condition

    async def open(self) -> None:
        """Look at the store and open it as far as the policy allows. Never raises for what the store is: see the condition.

        Nothing is made and nothing is written by looking.
        """
        async with self._opening:
            self._closed = False
            await self._judge()

    async def reopen(self) -> None:
        """Judge an open store again and replace its connections: another file may be in its place. A closed one stays closed."""
        async with self._opening:
            if not self._closed:
                await self._judge()

    async def create(self) -> None:
        """Make a new, complete store with its folders where none is, and open it.

        Raises :class:`Conflict` when there is a store (also one that somebody else made just now), :class:`PermissionDenied`
        when read-only was asked for, :class:`StateUnavailable` when the disk or the server refuses.
        """
        if self._asked_read_only:
            raise PermissionDenied(_ASKED_READ_ONLY)
        async with self._opening:
            if self._condition.mode != "missing":
                raise Conflict("store", expected=None, actual=None, message=f"there is something at {self.db.label} already")
            try:
                await self.db.create()
            finally:
                await self._open()

    async def plan(self) -> MigrationPlan:
        """What :meth:`migrate` would change, by looking only. Raises :class:`StateUnavailable` when nothing can be read."""
        from studio_tui.state.migrations.whole import plan_store

        return await plan_store(self.db)

    async def migrate(self, listen: ProgressListener | None) -> MigrationReport:
        """Bring an older store up to date and open it again; see ``StorePort``."""
        from studio_tui.state.migrations.whole import migrate_store

        if self._asked_read_only:
            raise PermissionDenied(_ASKED_READ_ONLY)
        async with self._opening:
            await self._require_upgradable()
            try:
                return await migrate_store(self.db, listen, busy_timeout_ms=self._busy_timeout_ms)
            finally:
                await self._judge()

    async def close(self) -> None:
        """Close the connections; writes under way end first."""
        async with self._opening:
            self._closed = True
            await self.db.close()

    async def _require_upgradable(self) -> None:
        """Raises :class:`PermissionDenied` when the system would not let us write the store that is shown."""
        path = self.db.path if self._condition.mode == "read_only" else None
        if path is not None and (obstacle := await asyncio.to_thread(native.write_obstacle, path)):
            raise PermissionDenied(obstacle)

    async def _judge(self) -> None:
        try:
            await self._open()
        except StudioApplicationError as error:
            await self._settle("unavailable", str(error))

    async def _open(self) -> None:
        path = self.db.path
        if path is None:
            await self._open_server()
            return
        if path == Path(MEMORY):
            raise StateUnavailable("A store in memory is not supported: name a file.", retryable=False)
        found = await asyncio.to_thread(native.look, path)
        if found.verdict == "native":
            obstacle = await asyncio.to_thread(native.write_obstacle, path)
            found = replace(found, reason=_ASKED_READ_ONLY if self._asked_read_only else obstacle)
        await self._apply(found)

    async def _open_server(self) -> None:
        await self.db.attach(writable=not self._asked_read_only)
        found = await look_at_server(self.db)
        if found.verdict == "native":
            reason = _ASKED_READ_ONLY if self._asked_read_only else await server_obstacle(self.db)
            found = replace(found, reason=reason)
        if found.verdict != "native" or found.reason is not None:
            await self._apply(found, attached=self._asked_read_only)
            return
        self.db.refusal = None
        if found.stamp:
            await self.db.write(stamp_native)
        self._condition = StoreCondition("ready", self.db.label, None, SCHEMA_VERSION)

    async def _apply(self, found: native.Look, *, attached: bool = False) -> None:
        """Open what may be opened: a native store without an obstacle to write, others to read, unless that is ``attached``."""
        if found.verdict == "missing":
            await self._settle("missing", None)
        elif not found.readable:
            await self._settle("unavailable", found.reason)
        elif found.reason is None:
            self.db.refusal = None
            await self.db.attach(writable=True, stamp=found.stamp)
            self._condition = StoreCondition("ready", self.db.label, None, SCHEMA_VERSION)
        else:
            self.db.refusal = found.reason
            if not attached:
                await self.db.attach(writable=False)
            if found.verdict == "older" and (words := await _invitation(self.db)):
                self.db.refusal = f"{found.reason} {words}"
            self._condition = StoreCondition("read_only", self.db.label, self.db.refusal, found.version)

    async def _settle(self, mode: Literal["missing", "unavailable"], reason: str | None) -> None:
        """Nothing to read: close what was open."""
        await self.db.detach(missing=mode == "missing", reason=reason)
        self._condition = StoreCondition(mode, self.db.label, reason)


async def _invitation(db: StateDB) -> str | None:
    """How to upgrade the open store; imported only for stores that may need it. A damaged one is shown without it."""
    from studio_tui.state.migrations.whole import invitation

    with suppress(StateUnavailable):
        return await invitation(db)
    return None
