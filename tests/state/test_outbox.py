"""The outbox: kept once, tried by one at a time, tried less and less often, ended for good."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.port_outbox import NewDispatch
from studio_tui.domain.outbox import DispatchRecord
from studio_tui.state.db import StateDB
from studio_tui.state.schema import admin_events, dispatch_outbox, status_transitions
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from tests.builders import NOW, a_firing, a_run, a_schedule, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import all_pages, not_refused

PLAIN = NewDispatch("terminal_notify", "agent:demo", {"status": "failed", "n": 1})


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def delivery(db: StateDB, clock: SteeredClock) -> OutboxDeliveryStore:
    return OutboxDeliveryStore(db, clock)


@pytest.fixture
def outbox(db: StateDB, clock: SteeredClock) -> OutboxStore:
    return OutboxStore(db, clock)


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


async def test_a_message_is_kept_as_the_peer_keeps_it(db: StateDB, delivery: OutboxDeliveryStore) -> None:
    await a_run(db, id="r1")
    firing = await a_firing(db, await a_schedule(db))
    made = await delivery.enqueue(
        NewDispatch(
            "k", "x", {"a": "ä"}, dedup_key="d", ack_required=True, expires_at=NOW + 9, session_id="r1", schedule_run_id=firing
        )
    )
    (row,) = await rows(db)
    payload = row.pop("payload")
    assert len(payload.pop("id")) == 36
    assert payload == {
        "created_at": NOW,
        "metadata": {"lion_class": "lionagi.session.signal.DispatchSignal"},
        "data": None,
        "emitter_role": None,
        "schema_version": 1,
        "dispatch_id": made.dispatch_id,
        "kind": "k",
        "deliver_to": "x",
        "attempt": 0,
        "ack_token": made.ack_token,
        "body": {"a": "ä"},
    }
    assert row == {
        "id": made.dispatch_id,
        "kind": "k",
        "deliver_to": "x",
        "dedup_key": "d",
        "status": "pending",
        "attempt": 0,
        "max_attempts": 8,
        "next_attempt_at": NOW,
        "ack_required": 1,
        "ack_token": made.ack_token,
        "session_id": "r1",
        "schedule_run_id": firing,
        "last_error": None,
        "created_at": NOW,
        "expires_at": NOW + 9,
        "updated_at": NOW,
    }
    assert len(made.dispatch_id) == len(made.ack_token or "") == 32
    (line,) = await db.fetch_all(status_transitions.select().where(status_transitions.c.entity_id == made.dispatch_id))
    assert (line["entity_type"], line["previous_status"], line["status"], line["reason_summary"], line["actor"]) == (
        "dispatch",
        None,
        "pending",
        "enqueued kind=k",
        "enqueue_dispatch",
    )


async def test_the_same_key_is_the_same_message(db: StateDB, delivery: OutboxDeliveryStore) -> None:
    first = await delivery.enqueue(NewDispatch("k", "x", {"n": 1}, dedup_key="d"))
    others = await asyncio.gather(*(delivery.enqueue(NewDispatch("k", "y", {"n": n}, dedup_key="d")) for n in range(5)))
    assert others == [first] * 5
    await delivery.enqueue(NewDispatch("k", "x"))
    await delivery.enqueue(NewDispatch("k", "x"))
    assert len(await rows(db)) == 3
    assert len(await db.fetch_all(status_transitions.select())) == 3


async def test_what_can_never_be_delivered_is_not_kept(db: StateDB, delivery: OutboxDeliveryStore) -> None:
    wrong = [
        NewDispatch("k", "  "),
        NewDispatch("k", "a\0b"),
        NewDispatch(" ", "x"),
        NewDispatch("k", "x\ud800"),
        NewDispatch("k", "x", {"n": float("nan")}),
        NewDispatch("k", "x", expires_at=float("inf")),
        NewDispatch("k", "x", max_attempts=0),
    ]
    assert await not_refused(ValidationFailure, map(delivery.enqueue, wrong)) == []
    assert await rows(db) == []


async def test_references_that_point_nowhere_are_refused(db: StateDB, delivery: OutboxDeliveryStore) -> None:
    with pytest.raises(NotFound, match="no run r9"):
        await delivery.enqueue(NewDispatch("k", "x", session_id="r9"))
    with pytest.raises(NotFound, match="no firing f9"):
        await delivery.enqueue(NewDispatch("k", "x", schedule_run_id="f9"))
    assert await rows(db) == []


async def test_an_attempt_belongs_to_one_claimant_for_its_lease(
    db: StateDB, delivery: OutboxDeliveryStore, clock: SteeredClock
) -> None:
    for number in range(6):
        await delivery.enqueue(NewDispatch("k", f"x{number}"))
    claims = await asyncio.gather(*(delivery.claim_due(limit=2) for _ in range(4)))
    ids = [claim.dispatch_id for batch in claims for claim in batch]
    assert len(ids) == len(set(ids)) == 6
    assert await delivery.claim_due(limit=9) == ()
    clock.advance(14.9)
    assert await delivery.claim_due(limit=9) == ()
    clock.advance(0.1)
    again = await delivery.claim_due(limit=9)
    assert {claim.attempt for claim in again} == {2}
    assert {row["next_attempt_at"] for row in await rows(db)} == {NOW + 30}
    assert await story(db, ids[0]) == [
        ("pending", "pending.enqueued"),
        ("delivering", "delivering.attempt"),
        ("delivering", "delivering.attempt"),
    ]


async def test_what_is_due_longest_comes_first(delivery: OutboxDeliveryStore, clock: SteeredClock) -> None:
    late = await delivery.enqueue(PLAIN)
    clock.advance(1)
    later = await delivery.enqueue(PLAIN)
    assert [claim.dispatch_id for claim in await delivery.claim_due(limit=1)] == [late.dispatch_id]
    assert [claim.dispatch_id for claim in await delivery.claim_due(limit=1)] == [later.dispatch_id]


async def test_invariant_21_a_late_result_is_not_written_over_a_newer_attempt(
    db: StateDB, delivery: OutboxDeliveryStore, clock: SteeredClock
) -> None:
    await delivery.enqueue(PLAIN)
    first = await claimed(delivery)
    clock.advance(20)
    second = await claimed(delivery)
    assert not await delivery.delivered(first)
    assert not await delivery.failed(first, "late")
    assert (await rows(db))[0]["status"] == "delivering"
    assert await delivery.delivered(second)
    assert not await delivery.delivered(second)
    assert (await rows(db))[0]["status"] == "delivered"


async def test_a_delivered_message(db: StateDB, delivery: OutboxDeliveryStore) -> None:
    made = await delivery.enqueue(PLAIN)
    assert await delivery.delivered(await claimed(delivery))
    assert await story(db, made.dispatch_id) == [
        ("pending", "pending.enqueued"),
        ("delivering", "delivering.attempt"),
        ("delivered", "delivered.transport_ok"),
    ]
    assert await delivery.claim_due(limit=5) == ()


async def test_failures_wait_longer_each_time_and_end_as_a_dead_letter(
    db: StateDB, delivery: OutboxDeliveryStore, clock: SteeredClock
) -> None:
    made = await delivery.enqueue(PLAIN)
    waits = []
    for number in range(8):
        claim = await claimed(delivery)
        assert claim.attempt == number + 1
        assert await delivery.failed(claim, f"exit {number}" + "!" * 3000)
        (row,) = await rows(db)
        assert row["last_error"].startswith(f"exit {number}!")
        assert len(row["last_error"]) == 2000
        if row["status"] == "pending":
            waits.append(row["next_attempt_at"] - clock.now())
            clock.at = row["next_attempt_at"]
    assert waits == [60, 120, 240, 480, 960, 1800, 1800]
    assert row["status"] == "dead_letter"
    assert (await story(db, made.dispatch_id))[-2:] == [
        ("delivering", "delivering.attempt"),
        ("dead_letter", "dead_letter.max_attempts"),
    ]


async def test_a_message_that_wants_an_answer_is_sent_until_it_has_one_or_too_often(
    db: StateDB, delivery: OutboxDeliveryStore, outbox: OutboxStore, clock: SteeredClock
) -> None:
    answered = await delivery.enqueue(NewDispatch("k", "x", ack_required=True))
    assert await delivery.delivered(await claimed(delivery))
    (row,) = await rows(db)
    assert (row["status"], row["next_attempt_at"]) == ("pending", NOW + 60)
    acked = await outbox.acknowledge(answered.dispatch_id, answered.ack_token or "")
    assert acked.status == "acked"
    assert await outbox.acknowledge(answered.dispatch_id, answered.ack_token or "") == acked
    unanswered = await delivery.enqueue(NewDispatch("k", "x", ack_required=True, max_attempts=2))
    for _ in range(2):
        assert await delivery.delivered(await claimed(delivery))
        clock.advance(100)
    assert (await story(db, unanswered.dispatch_id))[-1] == ("dead_letter", "dead_letter.ack_timeout")


async def test_an_attempt_that_never_came_back_too_often_is_given_up(
    db: StateDB, delivery: OutboxDeliveryStore, clock: SteeredClock
) -> None:
    made = await delivery.enqueue(NewDispatch("k", "x", max_attempts=2))
    for _ in range(2):
        await claimed(delivery)
        clock.advance(20)
    assert await delivery.claim_due(limit=5) == ()
    assert (await story(db, made.dispatch_id))[-1] == ("dead_letter", "dead_letter.max_attempts")
    assert (await rows(db))[0]["last_error"] == "the attempt never came back"


async def test_messages_past_their_time_expire_unless_somebody_is_at_it(
    db: StateDB, delivery: OutboxDeliveryStore, clock: SteeredClock
) -> None:
    waiting = await delivery.enqueue(NewDispatch("k", "a", expires_at=NOW + 5))
    at_work = await delivery.enqueue(NewDispatch("k", "b", expires_at=NOW + 5))
    later = await delivery.enqueue(NewDispatch("k", "c", expires_at=NOW + 50))
    await run_sql(db, "UPDATE dispatch_outbox SET next_attempt_at = :at WHERE id = :i", at=NOW + 99, i=waiting.dispatch_id)
    await run_sql(db, "UPDATE dispatch_outbox SET next_attempt_at = :at WHERE id = :i", at=NOW + 30, i=later.dispatch_id)
    assert (await claimed(delivery)).dispatch_id == at_work.dispatch_id
    clock.advance(5)
    assert await delivery.expire_due() == 1
    assert {row["deliver_to"]: row["status"] for row in await rows(db)} == {
        "a": "expired",
        "b": "delivering",
        "c": "pending",
    }
    clock.advance(10)
    assert await delivery.claim_due(limit=5) == ()
    assert {row["deliver_to"]: row["status"] for row in await rows(db)}["b"] == "expired"
    assert (await story(db, waiting.dispatch_id))[-1] == ("expired", "expired.deadline")


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


async def test_invariant_18_no_status_without_its_line_of_history(
    db: StateDB, delivery: OutboxDeliveryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await delivery.enqueue(PLAIN)

    async def refuse(*_: object) -> None:
        raise Conflict("x", expected=None, actual=None)

    monkeypatch.setattr("studio_tui.state.lifecycle.record", refuse)
    monkeypatch.setattr("studio_tui.state.stores.outbox_delivery.record", refuse)
    with pytest.raises(Conflict):
        await delivery.claim_due(limit=5)
    with pytest.raises(Conflict):
        await delivery.enqueue(PLAIN)
    (row,) = await rows(db)
    assert (row["id"], row["status"], row["attempt"], row["updated_at"]) == (made.dispatch_id, "pending", 0, NOW)


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
