"""What administrators, and programs in their name, did to the store (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

DISPATCH_PURGE: Final = "dispatch_purge"
MAINTENANCE: Final = frozenset({"prune", "prune_sessions", "checkpoint", "vacuum"})
"""Actions from which the peer reads when it was last done: nobody may note one who did not do exactly that."""


@dataclass(frozen=True, slots=True)
class AdminEventRecord:
    """One event. ``target_id`` is ``None`` for acts on many things, which ``details`` then names; times are epoch seconds."""

    event_id: str
    action: str
    target_id: str | None
    actor: str
    created_at: float | None
    details: Mapping[str, object]
    defects: tuple[str, ...] = ()
