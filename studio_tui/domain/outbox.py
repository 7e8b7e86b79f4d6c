"""Messages to be delivered for sure: how often, how far apart, and how each attempt ends (lionagi 0.36, dispatch outbox)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MAX_ATTEMPTS: Final = 8
LEASE: Final = 15.0
"""Seconds for which an attempt belongs to whoever began it; after them somebody else may try again."""

ERROR_LIMIT: Final = 2000
"""Characters of an error that are kept."""

WAITING: Final = ("pending", "delivering")
ENDED: Final = ("delivered", "acked", "dead_letter", "expired")
RETRIABLE: Final = ("dead_letter", "expired")

_FIRST_WAIT: Final = 30.0
_LONGEST_WAIT: Final = 1800.0
_SIGNAL_CLASS: Final = "lionagi.session.signal.DispatchSignal"
_DELIVERED: Final = "transport command exited 0; consumer acknowledgement not implied"


@dataclass(frozen=True, slots=True)
class DispatchRecord:
    """One message in the outbox. Times are epoch seconds; ``attempt`` counts the attempts that were begun."""

    dispatch_id: str
    kind: str
    deliver_to: str
    status: str
    attempt: int
    max_attempts: int
    next_attempt_at: float | None
    created_at: float | None
    expires_at: float | None
    updated_at: float | None
    ack_required: bool
    ack_token: str | None
    dedup_key: str | None
    session_id: str | None
    schedule_run_id: str | None
    last_error: str | None
    payload: Mapping[str, object] | None = None
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempted:
    """How an attempt ends: the next status with its reason, and what changes with it."""

    status: str
    reason_code: str
    summary: str
    changes: Mapping[str, object]


def backoff(attempt: int) -> float:
    """Seconds until the next attempt when ``attempt`` of them have been made."""
    return _LONGEST_WAIT if attempt > 6 else min(_FIRST_WAIT * 2 ** max(attempt, 0), _LONGEST_WAIT)


def destination_fault(deliver_to: str) -> str | None:
    """Why a destination cannot be handed to a command as one argument, or ``None``."""
    if not deliver_to.strip():
        return "is empty"
    return "holds a NUL character" if "\0" in deliver_to else None


def signal(
    dispatch_id: str, signal_id: str, kind: str, deliver_to: str, body: Mapping[str, object], ack_token: str | None, now: float
) -> dict[str, object]:
    """The payload: the signal that the consumer gets, field by field as lionagi 0.36 writes it."""
    return {
        "id": signal_id,
        "created_at": now,
        "metadata": {"lion_class": _SIGNAL_CLASS},
        "data": None,
        "emitter_role": None,
        "schema_version": 1,
        "dispatch_id": dispatch_id,
        "kind": kind,
        "deliver_to": deliver_to,
        "attempt": 0,
        "ack_token": ack_token,
        "body": dict(body),
    }


def after_success(dispatch: DispatchRecord, now: float) -> Attempted:
    """The transport took the message. One that asks for an answer is sent again until it has one, or too often."""
    if not dispatch.ack_required:
        return Attempted("delivered", "dispatch.delivered.transport_ok", _DELIVERED, {})
    if dispatch.attempt >= dispatch.max_attempts:
        summary = f"{dispatch.attempt} sends without ack (max_attempts exhausted)"
        return Attempted("dead_letter", "dispatch.dead_letter.ack_timeout", summary, {})
    changes = {"next_attempt_at": now + backoff(dispatch.attempt)}
    return Attempted("pending", "dispatch.delivered.transport_ok", _DELIVERED, changes)


def after_failure(dispatch: DispatchRecord, error: str, now: float) -> Attempted:
    """The transport failed."""
    kept = error[:ERROR_LIMIT]
    if dispatch.attempt >= dispatch.max_attempts:
        summary = f"{dispatch.attempt} attempts exhausted: {kept}"
        return Attempted("dead_letter", "dispatch.dead_letter.max_attempts", summary, {"last_error": kept})
    wait = backoff(dispatch.attempt)
    changes = {"last_error": kept, "next_attempt_at": now + wait}
    return Attempted("pending", "dispatch.pending.retry_backoff", f"retry in {wait:.0f}s: {kept}", changes)
