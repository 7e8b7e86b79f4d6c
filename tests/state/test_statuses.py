"""Every cell of the lifecycle tables: which status may follow which, and what a refusal or an override leaves."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from sqlalchemy import Table, delete, select, update

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.ports.lifecycle import Override, StatusChange
from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.domain.statuses import VOCABULARIES
from studio_tui.state.db import StateDB
from studio_tui.state.lifecycle import STATUS_TABLES
from studio_tui.state.schema import admin_events, dispatch_outbox, invocations, sessions, status_transitions
from studio_tui.state.stores.admin_events import AdminEventStore
from studio_tui.state.stores.statuses import StatusStore
from tests.builders import NOW, a_firing, a_play, a_run, a_schedule, a_show, an_invocation, put
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import a_team

ENTITIES = tuple(STATUS_TABLES)
REASONS = {
    prefix: code for code in sorted(REASON_WORDS, reverse=True) for prefix in [code.partition(".")[0]] if prefix != "legacy"
}


def reason_for(entity: str) -> str:
    return next(REASONS[prefix] for prefix in VOCABULARIES[entity].reason_prefixes)


async def a_row(db: StateDB, entity: str) -> str:
    """A row of the entity, in any status."""
    match entity:
        case "session":
            return await a_run(db, status="running", ended_at=None)
        case "invocation":
            return await an_invocation(db)
        case "show":
            return await a_show(db)
        case "play":
            return await a_play(db, await a_show(db))
        case "team":
            return await a_team(db)
        case "schedule_run":
            return await a_firing(db, await a_schedule(db))
        case _:
            row = {"id": "d", "kind": "k", "deliver_to": "x", "payload": {}, "next_attempt_at": NOW, "created_at": NOW}
            await put(db, dispatch_outbox, row)
            return "d"


def change_of(entity: str, row_id: str, status: str, **values: Any) -> StatusChange:
    given = {"summary": "because", "source": "operator", "actor": "op", "reason_code": reason_for(entity), **values}
    return StatusChange(entity, row_id, status, **given)


@pytest.fixture
def statuses(db: StateDB) -> StatusStore:
    return StatusStore(db, SteeredClock(at=NOW))


async def _begin_at(db: StateDB, table: Table, row_id: str, status: str) -> None:
    async def work(connection: Any) -> None:
        await connection.execute(delete(status_transitions))
        await connection.execute(delete(admin_events))
        await connection.execute(update(table).where(table.c.id == row_id).values(status=status))

    await db.write(work)


async def _found(db: StateDB, table: Table, row_id: str) -> tuple[str, list[str], list[str]]:
    """The status, the statuses of the history, and the events."""
    row = await db.fetch_one(select(table.c.status).where(table.c.id == row_id))
    lines = await db.fetch_all(select(status_transitions.c.previous_status, status_transitions.c.status))
    events = await db.fetch_all(select(admin_events.c.action))
    assert row is not None
    return row["status"], [f"{line['previous_status']} {line['status']}" for line in lines], [event["action"] for event in events]


@pytest.mark.parametrize("entity", ENTITIES)
async def test_every_change_is_allowed_refused_or_forced(db: StateDB, statuses: StatusStore, entity: str) -> None:
    """From each status to each: allowed, or refused with an event and no history; an override passes and leaves an event."""
    vocabulary, table = VOCABULARIES[entity], STATUS_TABLES[entity]
    row_id = await a_row(db, entity)
    for previous, status in itertools.product(vocabulary.statuses, repeat=2):
        await _begin_at(db, table, row_id, previous)
        change = change_of(entity, row_id, status)
        line = [f"{previous} {status}"]
        if vocabulary.allows(previous, status):
            assert await statuses.change(change)
            assert await _found(db, table, row_id) == (status, line, [])
            continue
        with pytest.raises(Conflict, match=previous):
            await statuses.change(change)
        assert await _found(db, table, row_id) == (previous, [], ["status_transition_rejected"])
        await _begin_at(db, table, row_id, previous)
        assert await statuses.change(change_of(entity, row_id, status, override=Override("boss", "it was wrong")))
        assert await _found(db, table, row_id) == (status, line, ["status_transition_override"])


async def test_events_say_what_was_refused_and_what_was_forced(db: StateDB, statuses: StatusStore) -> None:
    """The words are those of the peer, in its own order."""
    run_id = await a_run(db, status="completed")
    change = change_of("session", run_id, "running", reason_code="session.reopened.by_resume", source="executor")
    with pytest.raises(Conflict, match="ended already"):
        await statuses.change(change)
    assert await statuses.change(
        change_of("session", run_id, "running", reason_code="session.reopened.by_resume", override=Override("boss", "resumed"))
    )
    events = await AdminEventStore(db, SteeredClock(at=NOW)).list_events(action=None, target_id=run_id, before=None, limit=5)
    assert {event.action: (event.actor, dict(event.details)) for event in events} == {
        "status_transition_rejected": (
            "op",
            {
                "entity_type": "session",
                "previous_status": "completed",
                "attempted_status": "running",
                "reason_code": "session.reopened.by_resume",
                "source": "executor",
            },
        ),
        "status_transition_override": (
            "boss",
            {
                "entity_type": "session",
                "previous_status": "completed",
                "new_status": "running",
                "reason_code": "session.reopened.by_resume",
                "justification": "resumed",
            },
        ),
    }


@pytest.mark.parametrize("values", [{"expected": frozenset({"completed"})}, {"expected_updated_at": NOW + 1e-6}])
async def test_a_miss_is_no_refusal(db: StateDB, statuses: StatusStore, values: dict[str, Any]) -> None:
    run_id = await a_run(db, status="running")
    assert not await statuses.change(change_of("session", run_id, "failed", **values))
    assert await _found(db, sessions, run_id) == ("running", [], [])


async def test_a_row_without_a_status_may_get_any(db: StateDB, statuses: StatusStore) -> None:
    run_id = await a_run(db, status=None)
    assert await statuses.change(change_of("session", run_id, "failed", expected=frozenset({None})))
    assert await _found(db, sessions, run_id) == ("failed", ["None failed"], [])


async def test_who_cancels_again_keeps_the_first_end_and_reason(db: StateDB, statuses: StatusStore) -> None:
    invocation_id = await an_invocation(db)
    for summary, end in (("first", NOW + 1), ("second", NOW + 2)):
        change = change_of("invocation", invocation_id, "cancelled", summary=summary, extra={"ended_at": end})
        assert await statuses.change(change)
    row = await db.fetch_one(select(invocations.c.ended_at, invocations.c.status_reason_summary))
    assert row == {"ended_at": NOW + 1, "status_reason_summary": "first"}
    assert len(await db.fetch_all(select(status_transitions.c.id))) == 2


@pytest.mark.parametrize(
    ("entity", "status", "values"),
    [
        ("schedule", "disabled", {"reason_code": "schedule_definition.disabled.manual"}),
        ("weather", "failed", {"reason_code": "run.failed.exception"}),
        ("session", "lost", {}),
        ("session", "failed", {"reason_code": "play.merged.ok"}),
        ("session", "failed", {"extra": {"name": "x"}}),
        ("session", "failed", {"extra": {"ended_at": float("nan")}}),
        ("session", "failed", {"actor": " "}),
        ("session", "failed", {"summary": "half \ud800"}),
        ("session", "failed", {"override": Override("boss", "")}),
        ("session", "failed", {"override": Override("", "why")}),
    ],
)
async def test_what_no_change_can_be(
    db: StateDB, statuses: StatusStore, entity: str, status: str, values: dict[str, Any]
) -> None:
    run_id = await a_run(db, status="running")
    given = {"summary": "", "source": "admin", "actor": "op", "reason_code": "run.failed.exception", **values}
    with pytest.raises(ValidationFailure):
        await statuses.change(StatusChange(entity, run_id, status, **given))
    assert await _found(db, sessions, run_id) == ("running", [], [])


@pytest.mark.parametrize("status", ["dead_letter", "expired"])
async def test_only_an_operator_sends_a_message_once_more(db: StateDB, statuses: StatusStore, status: str) -> None:
    row_id = await a_row(db, "dispatch")
    await _begin_at(db, dispatch_outbox, row_id, status)
    for source in ("admin", "scheduler"):
        with pytest.raises(Conflict, match="ended already"):
            await statuses.change(change_of("dispatch", row_id, "pending", source=source))
    assert await statuses.change(change_of("dispatch", row_id, "pending", source="operator"))
    refused = ["status_transition_rejected"] * 2
    assert await _found(db, dispatch_outbox, row_id) == ("pending", [f"{status} pending"], refused)


async def test_a_row_that_is_gone(statuses: StatusStore) -> None:
    with pytest.raises(NotFound, match="no play x"):
        await statuses.change(change_of("play", "x", "merged"))


async def test_a_store_that_may_not_be_written(db: StateDB, statuses: StatusStore) -> None:
    db.refusal = "It is another program's."
    with pytest.raises(PermissionDenied, match="another program"):
        await statuses.change(change_of("play", "x", "merged"))
