"""What people decided about things that need attention (lionagi 0.36, attention; rules of its board).

A decision never changes the thing itself: a failed run stays failed. It only says that somebody has seen it, and until when it
need not be shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

STATES: Final = ("acknowledged", "resolved", "expected", "snoozed")
OPEN: Final = "open"
"""What history calls an item about which nothing is decided (any more)."""

_UNTIL: Final = frozenset({"expected", "snoozed"})
_KINDS: Final = ("run", "inv", "sched", "play")
_GATE: Final = "play"


@dataclass(frozen=True, slots=True)
class Disposition:
    """What holds for one item now. Times are epoch seconds; ``revision`` counts what was ever decided about it."""

    item_id: str
    state: str
    note: str | None
    created_at: float | None
    updated_at: float | None
    expires_at: float | None
    actor: str
    source_status: str
    revision: int
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DispositionChange:
    """One line of the history of all decisions, numbered by ``sequence``. ``created_at`` is in epoch seconds."""

    change_id: str
    sequence: int
    item_id: str
    prior_state: str | None
    new_state: str
    note: str | None
    actor: str
    source_status: str | None
    created_at: float | None
    defects: tuple[str, ...] = ()


def item_id(kind: str, *names: str) -> str:
    """The id of an item: ``run:<id>``, ``inv:<id>``, ``sched:<id>``, ``play:<topic>:<name>``. Raises :class:`ValueError`."""
    if kind not in _KINDS or len(names) != (2 if kind == _GATE else 1) or not all(names):
        raise ValueError(f"no item is called {':'.join((kind, *names))}")
    return ":".join((kind, *names))


def kind_of(item: str) -> str | None:
    """The first word of an item's id, or ``None`` for one that this version does not know."""
    kind = item.partition(":")[0]
    return kind if kind in _KINDS else None


def disposition_fault(state: str, note: str | None, expires_at: float | None) -> tuple[str, str] | None:
    """The field and the fault of a decision that may not be stored, or ``None``."""
    if state not in STATES:
        return "state", f"must be one of {', '.join(STATES)}"
    if expires_at is not None and not math.isfinite(expires_at):
        return "expires_at", "must be a moment"
    if state == "expected" and not (note or "").strip():
        return "note", "must say why it is expected"
    if state in _UNTIL and expires_at is None:
        return "expires_at", f"must say until when it is {state}"
    return None


def is_lapsed(disposition: Disposition, now: float) -> bool:
    """Whether its time is over: the item is open again, and the row stays where it is."""
    return disposition.expires_at is not None and disposition.expires_at <= now


def clears(disposition: Disposition, now: float) -> bool:
    """Whether the item leaves the queue.

    Looking at a gate is what it asks for, so only an acknowledgement clears it; anything else stays in sight when it is merely
    acknowledged.
    """
    if is_lapsed(disposition, now):
        return False
    return (disposition.state == "acknowledged") == (kind_of(disposition.item_id) == _GATE)


def is_stale(*, active: bool, last_revision: int, revision: int | None) -> bool:
    """Whether a decision comes too late to be stored.

    An item that was opened again is decided anew only by somebody who has seen that; who names no revision, or an earlier one,
    has not. A decision that still holds may be replaced by anybody.
    """
    return not active and last_revision > 0 and (revision is None or revision < last_revision)
