"""Status vocabularies, their terminal sets and legal edges, per entity (lionagi 0.36, lifecycle policy)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

_RUN_ENDS: Final = ("completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The statuses of one entity type and how they may follow each other.

    ``edges`` lists the successors of each status; a terminal one has none, but for a dispatch that an operator tries again.
    Writing the status that a row already has is always allowed and refreshes its reason.
    """

    entity: str
    statuses: tuple[str, ...]
    terminal: frozenset[str]
    edges: MappingProxyType[str, frozenset[str]]
    reason_prefixes: tuple[str, ...]

    def allows(self, previous: str, status: str) -> bool:
        """Whether ``status`` may follow ``previous`` without an override."""
        return previous == status or status in self.edges.get(previous, frozenset())


def _vocabulary(
    entity: str,
    statuses: tuple[str, ...],
    terminal: tuple[str, ...],
    reason_prefixes: tuple[str, ...],
    edges: dict[str, tuple[str, ...]] | None = None,
) -> Vocabulary:
    open_statuses = [status for status in statuses if status not in terminal]
    explicit = edges if edges is not None else dict.fromkeys(open_statuses, statuses)
    return Vocabulary(
        entity,
        statuses,
        frozenset(terminal),
        MappingProxyType({status: frozenset(successors) for status, successors in explicit.items()}),
        reason_prefixes,
    )


SESSION: Final = _vocabulary("session", ("running", *_RUN_ENDS), _RUN_ENDS, ("run", "session"), {"running": _RUN_ENDS})
INVOCATION: Final = _vocabulary("invocation", ("running", *_RUN_ENDS), _RUN_ENDS, ("run",), {"running": _RUN_ENDS})
SHOW: Final = _vocabulary("show", ("active", "completed", "aborted", "imported"), ("completed", "aborted"), ("show", "legacy"))
PLAY: Final = _vocabulary(
    "play",
    (
        "pending",
        "prepared",
        "running",
        "running_complete",
        "gated",
        "gate_failed",
        "redoing",
        "merged",
        "escalated",
        "blocked",
        "aborted_after_finish",
    ),
    ("merged", "escalated", "gate_failed", "blocked", "aborted_after_finish"),
    ("play", "run"),
)
TEAM: Final = _vocabulary("team", ("active", "archived"), ("archived",), ("team",), {"active": ("archived",)})
SCHEDULE_RUN: Final = _vocabulary(
    "schedule_run",
    (
        "queued",
        "waiting_dependency",
        "running",
        "retry_wait",
        "completed",
        "failed",
        "timed_out",
        "skipped",
        "cancelled",
    ),
    ("completed", "failed", "timed_out", "skipped", "cancelled"),
    ("run", "schedule"),
    {
        "queued": ("waiting_dependency", "running", "skipped", "cancelled"),
        "waiting_dependency": ("queued", "cancelled"),
        "running": ("completed", "failed", "timed_out", "retry_wait", "queued", "cancelled"),
        "retry_wait": ("queued", "cancelled"),
    },
)
DISPATCH: Final = _vocabulary(
    "dispatch",
    ("pending", "delivering", "delivered", "acked", "dead_letter", "expired"),
    ("delivered", "acked", "dead_letter", "expired"),
    ("dispatch",),
    {
        "pending": ("delivering", "expired", "acked"),
        "delivering": ("delivering", "pending", "delivered", "acked", "dead_letter", "expired"),
        "dead_letter": ("pending",),
        "expired": ("pending",),
    },
)
SCHEDULE: Final = _vocabulary(
    "schedule",
    ("enabled", "disabled", "deleted"),
    ("deleted",),
    ("schedule_definition",),
    {"enabled": ("disabled", "deleted"), "disabled": ("enabled", "deleted")},
)

VOCABULARIES: Final = MappingProxyType(
    {v.entity: v for v in (SESSION, INVOCATION, SHOW, PLAY, TEAM, SCHEDULE_RUN, DISPATCH, SCHEDULE)}
)

EXECUTED: Final = frozenset({"running", "completed", "failed", "cancelled", "timed_out"})
"""Schedule-run statuses of a firing that really was launched (facts of the peer's health rule)."""


class StateWord(StrEnum):
    """The short word by which every screen, and ``--json``, names a state."""

    RUN = "RUN"
    QUIET = "RUN?"
    OK = "OK"
    REJECTED = "OK/REJ"
    EMPTY = "EMPTY"
    FAIL = "FAIL"
    TIME = "TIME"
    ABORTED = "ABRT"
    CANCELLED = "CANC"
    LOST = "LOST"
    QUEUED = "QUE"
    WAIT = "WAIT"
    GATE = "GATE"
    GATE_FAILED = "GATE!"
    MERGED = "MERGED"
    REDO = "REDO"
    BLOCKED = "BLOCK"
    PAUSED = "PAUS"
    SKIP = "SKIP"
    ON = "ON"
    OFF = "OFF"
    DONE = "DONE"
    BROKEN = "BROKEN"
    ACTIVE = "ACTIVE"
    UNKNOWN = "UNSURE"
