"""The store as a whole: what it is, making one where none is, and bringing an older one up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio_tui.application.errors import PermissionDenied, StateUnavailable
from studio_tui.application.guard import guarded
from studio_tui.application.models.host import StoreStatus
from studio_tui.application.ports import ChangeFeed, StorePort

if TYPE_CHECKING:
    from studio_tui.application.models.state import MigrationPlan, MigrationReport, ProgressListener


def require_ready(store: StorePort) -> None:
    """Raise what a write would, for whoever must know before anything else is written.

    Raises :class:`PermissionDenied` for a store that is read-only, :class:`StateUnavailable` for one that is not there.
    """
    condition = store.condition()
    if condition.mode == "read_only":
        raise PermissionDenied(condition.reason or "the store is read-only")
    if condition.mode != "ready":
        raise StateUnavailable(condition.reason or "there is no store yet", retryable=False)


@guarded
class StoreService:
    """The store as screens see it."""

    def __init__(self, *, store: StorePort, changes: ChangeFeed, home: str) -> None:
        self._store = store
        self._changes = changes
        self._home = home

    def status(self) -> StoreStatus:
        """How it stands now; asks nobody."""
        condition = self._store.condition()
        return StoreStatus(
            mode=condition.mode,
            label=condition.label,
            home=self._home,
            reason=condition.reason,
            version=condition.version,
            waiting=condition.waiting,
        )

    async def create(self) -> None:
        """Make a new store where none is. Raises :class:`Conflict` when there is one."""
        await self._store.create()
        self._changes.nudge("store")

    async def plan(self) -> MigrationPlan:
        """What :meth:`migrate` would change; nothing is touched. Raises :class:`StateUnavailable` when nothing can be read."""
        return await self._store.plan()

    async def migrate(self, listen: ProgressListener | None = None) -> MigrationReport:
        """Bring an older store up to date, step by step, and open it again; ``listen`` is told how far it is.

        Cancelling stops it between two steps: what is done stays, and calling again does the rest. Raises
        :class:`PermissionDenied` for a store that is not ours to write, :class:`Conflict` when something stands in the way (then
        nothing was changed), :class:`StateUnavailable` when a step failed and was taken back.
        """
        try:
            return await self._store.migrate(listen)
        finally:
            self._changes.nudge("store")
