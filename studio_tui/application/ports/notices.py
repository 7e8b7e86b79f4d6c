"""The ends of firings that schedules want told (``notify_on``, ``notify_command``). What is owed is written with the end."""

from __future__ import annotations

from typing import Protocol

from studio_tui.domain.notices import Notice


class NoticePort(Protocol):
    """What is owed, until it was given."""

    async def next_at(self) -> float | None:
        """When the next notice is due, in epoch seconds; ``None`` while none is owed."""
        ...

    async def claim_due(self, *, limit: int) -> tuple[Notice, ...]:
        """Begin to give the notices that are due, as one claimant, for the time of a lease."""
        ...

    async def given(self, notice: Notice) -> bool:
        """It was given, or nobody wants it any more. False, and nothing is written, when the lease had gone to somebody else."""
        ...
