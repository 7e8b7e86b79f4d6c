"""What people do with the outbox: answer, try again, purge, look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.domain.outbox import DispatchRecord
from studio_tui.state.db import StateDB
from studio_tui.state.schema import admin_events, status_transitions
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from tests.builders import NOW, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import all_pages
from tests.state.outbox_story import PLAIN, claimed, dead, rows


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def delivery(db: StateDB, clock: SteeredClock) -> OutboxDeliveryStore:
    return OutboxDeliveryStore(db, clock)


@pytest.fixture
def outbox(db: StateDB, clock: SteeredClock) -> OutboxStore:
    return OutboxStore(db, clock)


async def test_answers_that_are_refused(db: StateDB, delivery: OutboxDeliveryStore, outbox: OutboxStore) -> None:
    plain = await delivery.enqueue(PLAIN)
    wanted = await delivery.enqueue(NewDispatch("k", "x", ack_required=True))
    with pytest.raises(Conflict, match="wants no answer"):
        await outbox.acknowledge(plain.dispatch_id, "")
    with pytest.raises(PermissionDenied, match="token"):
        await outbox.acknowledge(wanted.dispatch_id, "x")
    with pytest.raises(PermissionDenied):
        await outbox.acknowledge(wanted.dispatch_id, "")
    with pytest.raises(NotFound):
        await outbox.acknowledge("none", "x")
    await run_sql(db, "UPDATE dispatch_outbox SET status = 'expired'")
    with pytest.raises(Conflict, match="is expired already"):
        await outbox.acknowledge(wanted.dispatch_id, wanted.ack_token or "")
    assert {row["status"] for row in await rows(db)} == {"expired"}


async def test_invariant_19_only_an_operator_takes_a_message_out_of_its_end(
    db: StateDB, delivery: OutboxDeliveryStore, outbox: OutboxStore, clock: SteeredClock
) -> None:
    made = await dead(delivery)
    clock.advance(7)
    assert await delivery.claim_due(limit=5) == ()
    again = await outbox.retry(made.dispatch_id)
    assert (again.status, again.attempt, again.next_attempt_at, again.last_error) == ("pending", 0, NOW + 7, None)
    line = (await db.fetch_all(status_transitions.select().order_by(status_transitions.c.created_at.desc())))[0]
    assert (line["source"], line["previous_status"], line["reason_summary"]) == (
        "operator",
        "dead_letter",
        "operator-forced retry",
    )
    assert (await claimed(delivery)).attempt == 1
    with pytest.raises(Conflict, match="only dead letters and expired"):
        await outbox.retry(made.dispatch_id)
    with pytest.raises(NotFound):
        await outbox.retry("none")


async def test_an_expired_message_is_tried_again_without_its_deadline(
    delivery: OutboxDeliveryStore, outbox: OutboxStore, clock: SteeredClock
) -> None:
    made = await delivery.enqueue(NewDispatch("k", "x", expires_at=NOW + 5))
    clock.advance(10)
    assert await delivery.expire_due() == 1
    assert (await outbox.retry(made.dispatch_id)).expires_at is None
    assert await delivery.expire_due() == 0
    assert (await claimed(delivery)).dispatch_id == made.dispatch_id
    still = await dead(delivery, expires_at=NOW + 99)
    assert (await outbox.retry(still.dispatch_id)).expires_at == NOW + 99


async def test_purging_one_leaves_an_event(db: StateDB, delivery: OutboxDeliveryStore, outbox: OutboxStore) -> None:
    made = await delivery.enqueue(PLAIN)
    claim = await claimed(delivery)
    assert await outbox.purge(made.dispatch_id, actor="op")
    assert await rows(db) == []
    (event,) = await db.fetch_all(admin_events.select())
    assert (event["action"], event["target_id"], event["actor"], len(event["id"])) == (
        "dispatch_purge",
        made.dispatch_id,
        "op",
        12,
    )
    assert event["details"] == {"dispatch_id": made.dispatch_id, "status": "delivering", "total": 1}
    assert not await outbox.purge(made.dispatch_id, actor="op")
    assert len(await db.fetch_all(admin_events.select())) == 1
    assert not await delivery.delivered(claim)


async def test_purging_many_takes_what_was_counted(
    db: StateDB, delivery: OutboxDeliveryStore, outbox: OutboxStore, clock: SteeredClock
) -> None:
    for number, status in enumerate(("delivered", "delivered", "acked", "dead_letter", "expired", "pending", "delivering")):
        made = await delivery.enqueue(NewDispatch("k", f"{number}"))
        await run_sql(
            db,
            "UPDATE dispatch_outbox SET status = :s, updated_at = :t WHERE id = :i",
            s=status,
            t=NOW + number,
            i=made.dispatch_id,
        )
    old = {"status": None, "before": NOW + 2}
    assert await outbox.count_older(**old) == await outbox.purge_older(**old, actor="op") == {"delivered": 2, "acked": 1}
    assert await outbox.counts() == {"dead_letter": 1, "expired": 1, "pending": 1, "delivering": 1}
    ended = {"status": None, "before": NOW + 99}
    assert await outbox.purge_older(**ended, actor="op") == {"dead_letter": 1, "expired": 1}
    assert await outbox.purge_older(status="pending", before=None, actor="op") == {"pending": 1}
    assert await outbox.purge_older(status="acked", before=NOW, actor="op") == {}
    events = await db.fetch_all(admin_events.select())
    assert len(events) == 4
    assert all(event["target_id"] is None for event in events)
    for wrong in ({"status": None, "before": None}, {"status": "lost", "before": None}):
        with pytest.raises(ValidationFailure):
            await outbox.purge_older(**wrong, actor="op")
        with pytest.raises(ValidationFailure):
            await outbox.count_older(**wrong)


async def test_lists(db: StateDB, delivery: OutboxDeliveryStore, outbox: OutboxStore, clock: SteeredClock) -> None:
    made = []
    for number in range(5):
        made.append((await delivery.enqueue(NewDispatch("k", f"{number}"))).dispatch_id)
        clock.advance(number % 2)
    await run_sql(db, "UPDATE dispatch_outbox SET status = 'dead_letter' WHERE id = :i", i=made[3])

    def key_of(record: DispatchRecord) -> tuple[float, str]:
        return record.created_at or 0.0, record.dispatch_id

    async def page(key: Any) -> tuple[DispatchRecord, ...]:
        return await outbox.list_dispatches(status=frozenset(), before=key, limit=2)

    found = await all_pages(page, key_of, limit=2)
    assert [record.dispatch_id for record in found] == [row["id"] for row in reversed(await rows(db))]
    assert {record.payload for record in found} == {None}
    only = await outbox.list_dispatches(status=frozenset({"dead_letter", "expired"}), before=None, limit=9)
    assert [record.dispatch_id for record in only] == [made[3]]
    one = await outbox.get_dispatch(made[3])
    assert one is not None
    assert one.payload is not None
    assert one.payload["deliver_to"] == "3"


@pytest.mark.sqlite_only("a server's json columns hold JSON")
@pytest.mark.parametrize("stored", ["{broken", "[]", "NaN", ""])
async def test_a_broken_payload_stops_nothing(
    db: StateDB, delivery: OutboxDeliveryStore, outbox: OutboxStore, stored: str
) -> None:
    await delivery.enqueue(PLAIN)
    await run_sql(db, "UPDATE dispatch_outbox SET payload = :stored", stored=stored)
    assert len(await outbox.list_dispatches(status=frozenset(), before=None, limit=5)) == 1
    claim = await claimed(delivery)
    assert (claim.payload, claim.defects) == (None, ("payload",))
    assert await delivery.failed(claim, "the payload cannot be read")


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    outbox = OutboxStore(db, SteeredClock())
    assert await outbox.list_dispatches(status=frozenset(), before=None, limit=5) == ()
    assert await outbox.counts() == {}
