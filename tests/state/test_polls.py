"""What polls read and write, on both databases: health, the next poll, and the bookmark that moves with a firing."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.dialects import sqlite

from studio_tui.application.ports import CursorMove, Refusal, RefusedEvent
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.db import StateDB
from studio_tui.state.queries import polls as queries
from studio_tui.state.queries.scheduling import NEXT_DUE
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.builders import NOW, a_schedule, run_sql
from tests.fakes.base import HeldClock
from tests.state.raw import raw_row, raw_rows
from tests.state.test_query_plans import plan_of
from tests.state.test_query_plans import planner as planner
from tests.state.test_scheduling import occurrence

POLL: dict[str, Any] = {"trigger_type": "github_poll", "github_repo": "acme/web", "interval_sec": None}
BEFORE, EVENT, LATER = (f"2026-03-10T10:00:0{n}Z#000000000{n}" for n in (1, 2, 3))


@pytest.fixture
def polls(db: StateDB) -> SchedulingStore:
    return SchedulingStore(db, HeldClock(NOW))


async def a_poll(db: StateDB, polls: SchedulingStore, schedule_id: str = "s1", **columns: Any) -> ScheduleRecord:
    await a_schedule(db, id=schedule_id, **{**POLL, "next_fire_at": NOW, "github_cursor": BEFORE, **columns})
    found = await polls.get_schedule(schedule_id)
    assert found is not None
    return found


async def test_what_is_to_be_polled(db: StateDB, polls: SchedulingStore) -> None:
    await a_poll(db, polls, "late", next_fire_at=NOW - 9)
    await a_poll(db, polls, "new", next_fire_at=None)
    await a_poll(db, polls, "soon", next_fire_at=NOW + 30)
    await a_poll(db, polls, "later", next_fire_at=NOW + 31)
    await a_poll(db, polls, "off", enabled=0)
    await a_schedule(db, id="timed", next_fire_at=NOW - 60)
    assert [found.schedule_id for found in await polls.list_polls(NOW + 30, limit=9)] == ["new", "late", "soon"]
    assert [found.schedule_id for found in await polls.list_polls(NOW + 30, limit=2)] == ["new", "late"]
    assert [found.schedule_id for found in await polls.list_due(NOW, limit=9)] == ["timed"]
    assert await polls.list_unarmed() == ()
    assert await polls.next_due_at() == NOW - 60


@pytest.mark.parametrize(("status", "healthy", "refused"), [("ok", NOW + 1, 0), ("auth_error", 5.0, 3), ("error", 5.0, 2)])
async def test_health_and_the_next_poll(db: StateDB, polls: SchedulingStore, status: Any, healthy: float, refused: int) -> None:
    seen = await a_poll(db, polls, last_healthy_poll_at=5.0, poller_consecutive_401=2)
    assert await polls.note_poll(seen, status, next_poll_at=NOW + 300, now=NOW + 1)
    row = await raw_row(db, "schedules")
    assert (row["last_healthy_poll_at"], row["poller_consecutive_401"]) == (healthy, refused)
    assert (row["next_fire_at"], row["github_cursor"], row["updated_at"]) == (NOW + 300, BEFORE, NOW)
    assert not await polls.note_poll(seen, status, next_poll_at=NOW + 999, now=NOW + 2), "somebody polled meanwhile"
    assert (await raw_row(db, "schedules"))["next_fire_at"] == NOW + 300


async def claimed(polls: SchedulingStore, seen: ScheduleRecord, move: CursorMove, run_id: str = "run1") -> bool:
    fired = occurrence(seen, run_id, claimed=None, next_fire_at=None, cursor=move, fired_at=NOW + 1)
    return await polls.claim(fired, now=NOW + 1)


async def test_the_bookmark_moves_with_the_rows_of_the_firing(db: StateDB, polls: SchedulingStore) -> None:
    seen = await a_poll(db, polls, predispatch_refusal_event=EVENT, predispatch_refusal_count=2)
    assert await claimed(polls, seen, CursorMove(BEFORE, EVENT))
    row = await raw_row(db, "schedules")
    assert (row["github_cursor"], row["last_fired_at"], row["next_fire_at"]) == (EVENT, NOW + 1, NOW)
    assert (row["predispatch_refusal_event"], row["predispatch_refusal_count"]) == (None, 0)
    assert [run["id"] for run in await raw_rows(db, "schedule_runs")] == ["run1"]


@pytest.mark.parametrize("how", ["moved", "moved from nothing", "off", "gone"])
async def test_a_claim_from_an_old_bookmark_writes_nothing(db: StateDB, polls: SchedulingStore, how: str) -> None:
    seen = await a_poll(db, polls)
    move = CursorMove(None if how == "moved from nothing" else BEFORE, LATER)
    sql = {"off": "UPDATE schedules SET enabled = 0", "gone": "DELETE FROM schedules"}
    await run_sql(db, sql.get(how, f"UPDATE schedules SET github_cursor = '{EVENT}'"))
    assert not await claimed(polls, seen, move)
    refused = Refusal("r", seen, "failed", "run.failed.exception", "no", {}, NOW, None, None, event=RefusedEvent(move, 1, False))
    assert not await polls.refuse(refused, now=NOW)
    assert not await polls.move_cursor("s1", move, now=NOW)
    for table in ("schedule_runs", "invocations", "status_transitions"):
        assert await raw_rows(db, table) == []
    if how != "gone":
        assert (await raw_row(db, "schedules"))["github_cursor"] == (BEFORE if how == "off" else EVENT)


async def test_of_many_that_found_one_event_one_fires_it(db: StateDB, polls: SchedulingStore) -> None:
    seen = await a_poll(db, polls, github_cursor=None)
    won = await asyncio.gather(*(claimed(polls, seen, CursorMove(None, EVENT), f"run{n}") for n in range(8)))
    assert sum(won) == len(await raw_rows(db, "schedule_runs")) == 1


@pytest.mark.parametrize(("passed", "expected"), [(False, (BEFORE, EVENT, 2)), (True, (EVENT, None, 0))])
async def test_a_refused_event_is_counted_or_passed(
    db: StateDB, polls: SchedulingStore, passed: bool, expected: tuple[object, ...]
) -> None:
    seen = await a_poll(db, polls, predispatch_refusal_event=EVENT, predispatch_refusal_count=1)
    event = RefusedEvent(CursorMove(BEFORE, EVENT), 2, passed)
    refused = Refusal("r", seen, "failed", "run.failed.exception", "bad", {"repo": "a"}, NOW + 2, None, None, event=event)
    assert await polls.refuse(refused, now=NOW + 2)
    row = await raw_row(db, "schedules")
    assert tuple(row[name] for name in ("github_cursor", "predispatch_refusal_event", "predispatch_refusal_count")) == expected
    assert (row["last_fired_at"], row["next_fire_at"]) == (NOW + 2, NOW)
    (run,) = await raw_rows(db, "schedule_runs")
    assert (run["status"], run["error_detail"], run["status_reason_code"]) == ("failed", "bad", "run.failed.exception")


async def test_passing_over_moves_the_bookmark_and_the_version(db: StateDB, polls: SchedulingStore) -> None:
    await a_poll(db, polls)
    assert await polls.move_cursor("s1", CursorMove(BEFORE, LATER), now=NOW)
    row = await raw_row(db, "schedules")
    assert (row["github_cursor"], row["last_fired_at"]) == (LATER, None)
    assert row["updated_at"] > NOW


async def test_a_threshold_on_a_poll_is_stamped_with_its_event(db: StateDB, polls: SchedulingStore) -> None:
    config = {"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": 5}
    seen = replace(await a_poll(db, polls, threshold_config=config), last_evaluated_at=NOW + 1)
    assert await claimed(polls, seen, CursorMove(BEFORE, EVENT))
    row = await raw_row(db, "schedules")
    assert (row["last_evaluated_at"], row["last_alert_at"]) == (NOW + 1, NOW + 1)


@pytest.mark.parametrize("name", ["NEVER_POLLED", "DUE_POLLS"])
def test_due_polls_are_found_by_the_index_of_instants(planner: Any, name: str) -> None:
    plan = plan_of(planner, getattr(queries, name), {"until": NOW, "limit": 9})
    assert plan[0].startswith("SEARCH schedules USING INDEX idx_schedules_enabled (enabled=? AND next_fire_at"), plan


def test_the_next_instant_is_the_first_entry_of_the_index(planner: Any) -> None:
    (step,) = plan_of(planner, NEXT_DUE, {})
    assert step == "SEARCH schedules USING COVERING INDEX idx_schedules_enabled (enabled=? AND next_fire_at>?)"
    assert "trigger_type" not in str(NEXT_DUE.compile(dialect=sqlite.dialect()))
