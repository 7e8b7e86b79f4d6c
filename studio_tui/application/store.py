"""The store as a whole: what it is, and making one where none is."""

from __future__ import annotations

from studio_tui.application.guard import guarded
from studio_tui.application.models.host import StoreStatus
from studio_tui.application.ports import ChangeFeed, StorePort


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
            mode=condition.mode, label=condition.label, home=self._home, reason=condition.reason, version=condition.version
        )

    async def create(self) -> None:
        """Make a new store where none is. Raises :class:`Conflict` when there is one."""
        await self._store.create()
        self._changes.nudge("store")
