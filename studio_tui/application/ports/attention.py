"""Decisions about attention items as the operations need them (ADR-0078 D3; rows of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from studio_tui.domain.attention import Disposition, DispositionChange


@dataclass(frozen=True, slots=True)
class Decision:
    """What somebody decides about an item that was in ``source_status`` when they looked.

    ``revision`` is the one that they saw; without it an item that was opened again in between cannot be decided. ``expires_at``
    is in epoch seconds.
    """

    item_id: str
    state: str
    source_status: str
    actor: str
    note: str | None = None
    expires_at: float | None = None
    revision: int | None = None


class AttentionPort(Protocol):
    """Keeps what people decided about items; the items themselves are derived elsewhere and never changed here."""

    async def decide(self, decision: Decision) -> Disposition:
        """Store a decision, in place of one that holds.

        Raises :class:`ValidationFailure`, and :class:`Conflict` when the item was opened again since the revision seen.
        """
        ...

    async def reopen(self, item_id: str, *, actor: str) -> bool:
        """Take a decision back. False, and nothing is written, when there is none."""
        ...

    async def dispositions_of(self, item_ids: Sequence[str]) -> Mapping[str, Disposition]:
        """What holds now for these items; lapsed decisions do not hold."""
        ...

    async def current(self, *, after: str | None, limit: int) -> tuple[Disposition, ...]:
        """What holds now, by item, after this one."""
        ...

    async def revisions_of(self, item_ids: Sequence[str]) -> Mapping[str, int]:
        """The last revision of each item about which anything was ever decided."""
        ...

    async def history_of(self, item_id: str) -> tuple[DispositionChange, ...]:
        """What was decided about one item, oldest first."""
        ...

    async def history(self, *, before: int | None, limit: int) -> tuple[DispositionChange, ...]:
        """All decisions, the newest first, before the one of this number."""
        ...
