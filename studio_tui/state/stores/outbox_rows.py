"""The rows of a message, column by column as lionagi 0.36 writes them, and its change from one status to the next."""

from __future__ import annotations

import uuid
from typing import Any

from studio_tui.application.errors import ValidationFailure
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.domain.outbox import Attempted, DispatchRecord, destination_fault, signal
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.lifecycle import transition, write_status
from studio_tui.state.stores.writes import hex_id, require, require_json, require_some, require_text


def check(new: NewDispatch) -> None:
    """Raise :class:`ValidationFailure` for what can never be delivered."""
    require_some(kind=new.kind)
    require("deliver_to", destination_fault(new.deliver_to))
    require_text(deliver_to=new.deliver_to, dedup_key=new.dedup_key)
    require_json(body=dict(new.body), expires_at=new.expires_at)
    if new.max_attempts < 1:
        raise ValidationFailure.of("max_attempts", "invalid", "must be at least 1")


def dispatch_row(new: NewDispatch, now: float) -> dict[str, Any]:
    """A message that waits for its first attempt."""
    dispatch_id = hex_id()
    ack_token = hex_id() if new.ack_required else None
    return {
        "id": dispatch_id,
        "kind": new.kind,
        "deliver_to": new.deliver_to,
        "payload": signal(dispatch_id, str(uuid.uuid4()), new.kind, new.deliver_to, new.body, ack_token, now),
        "dedup_key": new.dedup_key,
        "status": "pending",
        "attempt": 0,
        "max_attempts": new.max_attempts,
        "next_attempt_at": now,
        "ack_required": int(new.ack_required),
        "ack_token": ack_token,
        "session_id": new.session_id,
        "schedule_run_id": new.schedule_run_id,
        "created_at": now,
        "expires_at": new.expires_at,
        "updated_at": now,
    }


def enqueued_line(dispatch_id: str, kind: str, now: float) -> dict[str, Any]:
    """Its first line of history."""
    summary = f"enqueued kind={kind}"
    reason = "dispatch.pending.enqueued"
    return transition("dispatch", dispatch_id, None, "pending", reason, summary, (), "system", "enqueue_dispatch", now, {})


async def move(
    connection: AsyncConnection, found: DispatchRecord, end: Attempted, *, source: str, actor: str, now: float
) -> bool:
    """Give a message its next status, if it still has the one that was found."""
    return await write_status(
        connection,
        "dispatch",
        found.dispatch_id,
        end.status,
        reason_code=end.reason_code,
        summary=end.summary,
        evidence=(),
        source=source,
        actor=actor,
        now=now,
        expected={found.status},
        extra=end.changes,
    )
