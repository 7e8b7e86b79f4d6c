"""The twin that the rules are tested on does what the real store does, wherever the scheduler relies on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports import Occurrence, Refusal, SchedulerStateService
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.outcome import judge, outcome
from studio_tui.state.store import Store
from studio_tui.state.stores.scheduling import SchedulingStore
from tests import builders
from tests.fakes.clock import NOW, SteeredClock
from tests.fakes.scheduler_state import MemorySchedulerState
from tests.scheduler.conftest import a_schedule

Add = Callable[..., Awaitable[ScheduleRecord]]


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Store]:
    store = Store(None, home=tmp_path)
    await store.open()
    await store.create()
    yield store
    await store.close()


@pytest.fixture(params=["twin", "sqlite"])
def state(request: pytest.FixtureRequest, sqlite: Store) -> SchedulerStateService:
    return MemorySchedulerState() if request.param == "twin" else SchedulingStore(sqlite.db, SteeredClock())


@pytest.fixture
def add(state: SchedulerStateService, sqlite: Store) -> Add:
    """``await add("name", …)``: a schedule, as the state then gives it back."""

    async def add(name: str, **columns: Any) -> ScheduleRecord:
        if isinstance(state, MemorySchedulerState):
            state.add(a_schedule(name, **columns))
        else:
            columns = {"next_fire_at": NOW, **columns}
            await builders.a_schedule(sqlite.db, id=name, name=name, **columns)
        found = await state.get_schedule(name)
        assert found is not None
        return found

    return add


def an_occurrence(schedule: ScheduleRecord, run_id: str = "aaa", **columns: Any) -> Occurrence:
    values: dict[str, Any] = {"claimed": NOW, "next_fire_at": NOW + 60, "fired_at": NOW + 1, **columns}
    return Occurrence(run_id, f"i{run_id}", schedule, ("true",), None, {"scheduled": True}, **values)


def a_refusal(schedule: ScheduleRecord, **columns: Any) -> Refusal:
    values: dict[str, Any] = {"status": "skipped", "claimed": NOW, "next_fire_at": NOW + 60, "at": NOW + 1, **columns}
    return Refusal(
        "bbb", schedule, reason_code="schedule.skipped.overlap", reason="busy", trigger_context={"skipped": 1}, **values
    )


async def test_a_claim_is_won_once(state: SchedulerStateService, add: Add) -> None:
    schedule = await add("tick")
    assert await state.claim(an_occurrence(schedule), now=NOW + 1)
    assert not await state.claim(an_occurrence(schedule, "ccc"), now=NOW + 1)
    stored = await state.get_schedule("tick")
    assert stored is not None
    assert (stored.next_fire_at, stored.last_fired_at) == (NOW + 60, NOW + 1)
    assert [await state.count_running(which) for which in ("tick", None, "other")] == [1, 1, 0]


async def test_a_schedule_that_is_off_or_gone_is_not_claimed(state: SchedulerStateService, add: Add) -> None:
    schedule = await add("tick")
    assert await state.disable("tick", reason_code="schedule_definition.disabled.max_runs", reason="x", now=NOW)
    assert not await state.disable("tick", reason_code="schedule_definition.disabled.max_runs", reason="x", now=NOW)
    assert not await state.claim(an_occurrence(schedule), now=NOW)
    assert await state.claim(an_occurrence(schedule, claimed=None, next_fire_at=None), now=NOW), "by hand it is"
    assert not await state.claim(an_occurrence(replace(schedule, schedule_id="gone"), "ccc", claimed=None), now=NOW)


async def test_what_claims_no_instant_moves_none(state: SchedulerStateService, add: Add) -> None:
    schedule = await add("tick")
    by_hand = an_occurrence(schedule, claimed=None, next_fire_at=None)
    step = an_occurrence(schedule, "ccc", claimed=None, next_fire_at=None, chain_depth=1, chain_parent_id="aaa", fired_at=NOW + 9)
    assert await state.claim(by_hand, now=NOW + 1)
    assert await state.claim(step, now=NOW + 9)
    stored = await state.get_schedule("tick")
    assert stored is not None
    assert stored.next_fire_at == NOW
    assert stored.last_fired_at == NOW + 1, "a chain step leaves it as its parent set it"
    assert await state.count_schedule_runs("tick") == 1, "and uses no run"
    assert await state.count_running("tick") == 2, "but it runs"


@pytest.mark.parametrize("advance", [True, False])
async def test_a_refusal_is_a_claim_too(state: SchedulerStateService, add: Add, advance: bool) -> None:
    schedule = await add("tick")
    assert not await state.refuse(a_refusal(schedule, claimed=NOW - 5, advance=advance), now=NOW)
    assert await state.refuse(a_refusal(schedule, advance=advance), now=NOW)
    stored = await state.get_schedule("tick")
    assert stored is not None
    assert stored.next_fire_at == (NOW + 60 if advance else NOW)
    assert await state.count_schedule_runs("tick") == 0, "a skip uses no run"
    assert await state.count_running(None) == 0


async def test_an_end_is_written_once(state: SchedulerStateService, add: Add) -> None:
    schedule = await add("tick")
    await state.claim(an_occurrence(schedule), now=NOW)
    await state.mark_dispatched("aaa", NOW + 2)
    ended = outcome("aaa", "iaaa", judge(0, []), ended_at=NOW + 3, exit_code=0)
    assert await state.finish(ended, now=NOW + 3)
    assert not await state.finish(replace(ended, status="failed"), now=NOW + 4)
    assert await state.count_running(None) == 0
    assert await state.count_schedule_runs("tick") == 1
    assert [await state.count_fired_since("tick", since) for since in (NOW + 1, NOW + 1.5)] == [1, 0]
    assert await state.list_dispatched() == ()


async def test_running_rows_by_whether_they_were_launched(state: SchedulerStateService, add: Add) -> None:
    schedule = await add("tick")
    await state.claim(an_occurrence(schedule), now=NOW + 5)
    assert await state.list_undispatched(older_than=NOW + 5) == ()
    (row,) = await state.list_undispatched(older_than=NOW + 6)
    assert (row.run_id, row.invocation_id, row.argv, row.status) == ("aaa", "iaaa", ("true",), "running")
    assert (dict(row.trigger_context), row.chain_depth, row.fired_at) == ({"scheduled": True}, 0, NOW + 1)
    await state.mark_dispatched("aaa", NOW + 6)
    await state.mark_dispatched("aaa", NOW + 9)
    assert await state.list_undispatched(older_than=NOW + 9) == ()
    (row,) = await state.list_dispatched()
    assert row.dispatched_at == NOW + 6


async def test_what_is_due_and_what_is_not_armed(state: SchedulerStateService, add: Add) -> None:
    cron = {"trigger_type": "cron", "cron_expr": "0 * * * *", "interval_sec": None}
    await add("late", next_fire_at=NOW - 5)
    await add("later", next_fire_at=NOW - 4)
    await add("soon", next_fire_at=NOW + 1)
    await add("bare", next_fire_at=None)
    await add("bare-cron", next_fire_at=None, **cron)
    await add("once", next_fire_at=None, trigger_type="at", interval_sec=None)
    await add("off", next_fire_at=NOW - 9, enabled=False)
    await add("poll", next_fire_at=NOW - 9, trigger_type="github_poll", github_repo="a/b")
    assert [schedule.schedule_id for schedule in await state.list_due(NOW, limit=9)] == ["late", "later"]
    assert [schedule.schedule_id for schedule in await state.list_due(NOW, limit=1)] == ["late"]
    assert {schedule.schedule_id for schedule in await state.list_unarmed()} == {"bare", "bare-cron"}
    assert {schedule.schedule_id for schedule in await state.list_armed_cron()} == {"bare-cron"}
    assert await state.next_due_at() == NOW - 9, "a poll is something that comes too"


async def test_arming_compares_what_was_seen(state: SchedulerStateService, add: Add) -> None:
    seen = await add("tick", next_fire_at=None)
    assert await state.arm(seen, NOW + 60, zone="Asia/Tokyo", zone_source="env:TZ")
    assert not await state.arm(seen, NOW + 99, zone=None, zone_source=None)
    stored = await state.get_schedule("tick")
    assert stored is not None
    assert (stored.next_fire_at, stored.effective_timezone) == (NOW + 60, "Asia/Tokyo")
    assert await state.arm(stored, NOW + 120, zone=None, zone_source=None)
    stored = await state.get_schedule("tick")
    assert stored is not None
    assert (stored.next_fire_at, stored.effective_timezone) == (NOW + 120, "Asia/Tokyo")


async def test_nothing_is_known_of_what_is_not_there(state: SchedulerStateService) -> None:
    assert await state.get_schedule("gone") is None
    assert await state.project_path("gone") is None
    assert await state.list_sessions_for_invocation("gone") == ()
    assert (await state.sum_schedule_spend("gone")).usd == 0
    assert await state.next_due_at() is None
