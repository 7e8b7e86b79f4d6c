"""What the tests of the outbox share."""

from __future__ import annotations

from typing import Any

from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.domain.outbox import DispatchRecord
from studio_tui.state.db import StateDB
from studio_tui.state.schema import dispatch_outbox, status_transitions
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore

PLAIN = NewDispatch("terminal_notify", "agent:demo", {"status": "failed", "n": 1})


async def rows(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(dispatch_outbox.select().order_by(dispatch_outbox.c.created_at, dispatch_outbox.c.id))


async def story(db: StateDB, dispatch_id: str) -> list[tuple[str, str]]:
    """Status and reason of each line of a message's history."""
    lines = await db.fetch_all(status_transitions.select().where(status_transitions.c.entity_id == dispatch_id))
    ordered = sorted(lines, key=lambda line: line["created_at"])
    return [(line["status"], line["reason_code"].removeprefix("dispatch.")) for line in ordered]


async def claimed(delivery: OutboxDeliveryStore) -> DispatchRecord:
    (claim,) = await delivery.claim_due(limit=5)
    return claim


async def dead(delivery: OutboxDeliveryStore, **values: Any) -> DispatchRecord:
    """A dead letter."""
    made = await delivery.enqueue(NewDispatch("k", "x", max_attempts=1, **values))
    assert await delivery.failed(await claimed(delivery), "exit 1")
    return made
