"""The outbox as the operations and its deliverer need it (ADR-0078 D3; rows of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from studio_tui.domain.outbox import MAX_ATTEMPTS, DispatchRecord


@dataclass(frozen=True, slots=True)
class NewDispatch:
    """A message to deliver. With a ``dedup_key`` a second one of the same key is the first one. ``expires_at``: epoch seconds."""

    kind: str
    deliver_to: str
    body: Mapping[str, object] = field(default_factory=dict)
    dedup_key: str | None = None
    ack_required: bool = False
    max_attempts: int = MAX_ATTEMPTS
    expires_at: float | None = None
    session_id: str | None = None
    schedule_run_id: str | None = None


class OutboxDeliveryPort(Protocol):
    """The way of a message. Each change of a status writes its line of history with it."""

    async def enqueue(self, new: NewDispatch) -> DispatchRecord:
        """Keep a message, or find the one of the same ``dedup_key``. Raises :class:`ValidationFailure`, :class:`NotFound`."""
        ...

    async def claim_due(self, *, limit: int) -> tuple[DispatchRecord, ...]:
        """Begin an attempt on the messages that are due, as one claimant; those past their time are expired first."""
        ...

    async def delivered(self, claim: DispatchRecord) -> bool:
        """The transport took the message. False, and nothing is written, when the attempt is not this claimant's any more."""
        ...

    async def failed(self, claim: DispatchRecord, error: str) -> bool:
        """The transport failed; the message waits, longer each time, or becomes a dead letter. False as above."""
        ...

    async def expire_due(self) -> int:
        """Expire the messages past their time that nobody is delivering; how many there were. Without any, nothing is written."""
        ...

    async def next_attempt_at(self) -> float | None:
        """When the next attempt on a message is due, in epoch seconds; ``None`` while none waits."""
        ...


class OutboxPort(Protocol):
    """What people see of the outbox and do with it."""

    async def acknowledge(self, dispatch_id: str, token: str) -> DispatchRecord:
        """The consumer has it. Raises :class:`NotFound`, :class:`PermissionDenied` for another token, :class:`Conflict` when no
        answer is wanted or the message has ended otherwise; a second answer changes nothing."""
        ...

    async def retry(self, dispatch_id: str) -> DispatchRecord:
        """Try a dead letter or an expired message again from the first attempt; a deadline that has passed is lifted.

        Raises :class:`NotFound`, and :class:`Conflict` for one that is neither.
        """
        ...

    async def purge(self, dispatch_id: str, *, actor: str) -> bool:
        """Delete one message, whatever its status, with an administrator's event. False when there is none."""
        ...

    async def purge_older(self, *, status: str | None, before: float | None, actor: str) -> Mapping[str, int]:
        """Delete messages of this status, or ended ones, that changed at or before ``before``; how many, by status.

        One of both must be given: else :class:`ValidationFailure`.
        """
        ...

    async def count_older(self, *, status: str | None, before: float | None) -> Mapping[str, int]:
        """What :meth:`purge_older` would delete now."""
        ...

    async def get_dispatch(self, dispatch_id: str) -> DispatchRecord | None:
        """One message with its payload."""
        ...

    async def list_dispatches(
        self, *, status: frozenset[str], before: tuple[float, str] | None, limit: int
    ) -> tuple[DispatchRecord, ...]:
        """Messages without payload by ``(created_at, id)`` descending, of any status when none is named."""
        ...

    async def counts(self) -> Mapping[str, int]:
        """How many messages there are, by status."""
        ...
