"""Administrators' events as the operations need them (ADR-0078 D3; rows of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from studio_tui.domain.admin_events import AdminEventRecord


class AdminEventPort(Protocol):
    """The trail of what was done to the store: rows are added and never changed."""

    async def note(
        self, action: str, details: Mapping[str, object], *, target_id: str | None = None, actor: str = "admin"
    ) -> AdminEventRecord:
        """Add an event. Maintenance is noted by whoever did exactly that: the peer reads from it when it was last done.

        Raises :class:`ValidationFailure`.
        """
        ...

    async def list_events(
        self, *, action: str | None, target_id: str | None, before: tuple[float, str] | None, limit: int
    ) -> tuple[AdminEventRecord, ...]:
        """Events by ``(created_at, id)`` descending. ``target_id`` finds those too that name it in their details only."""
        ...

    async def get_event(self, event_id: str) -> AdminEventRecord | None:
        """One event."""
        ...

    async def last_event(self, action: str) -> AdminEventRecord | None:
        """The newest event of an action."""
        ...
