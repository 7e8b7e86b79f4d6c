"""The outbox: kept once, tried by one at a time, tried less and less often, ended for good."""

from __future__ import annotations

import asyncio

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.state.db import StateDB
from studio_tui.state.schema import status_transitions
from studio_tui.state.stores.outbox import OutboxStore
from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
from tests.builders import NOW, a_firing, a_run, a_schedule, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import not_refused
from tests.state.outbox_story import PLAIN, claimed, rows, story


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def delivery(db: StateDB, clock: SteeredClock) -> OutboxDeliveryStore:
    return OutboxDeliveryStore(db, clock)


@pytest.fixture
def outbox(db: StateDB, clock: SteeredClock) -> OutboxStore:
    return OutboxStore(db, clock)


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


async def test_when_the_next_attempt_is_due(delivery: OutboxDeliveryStore, clock: SteeredClock) -> None:
    assert await delivery.next_attempt_at() is None
    await delivery.enqueue(PLAIN)
    clock.advance(3)
    await delivery.enqueue(PLAIN)
    assert await delivery.next_attempt_at() == NOW
    (first, _) = await delivery.claim_due(limit=5)
    assert await delivery.next_attempt_at() == NOW + 18
    for claim in (first, _):
        assert await delivery.delivered(claim)
    assert await delivery.next_attempt_at() is None


async def test_a_look_for_what_is_past_its_time_writes_nothing_when_nothing_is(
    db: StateDB, delivery: OutboxDeliveryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await delivery.enqueue(NewDispatch("k", "x", expires_at=NOW + 5))

    async def refuse(*_: object) -> None:
        raise AssertionError("a write")

    monkeypatch.setattr(db, "write", refuse)
    assert await delivery.expire_due() == 0


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
