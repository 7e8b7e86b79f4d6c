"""The ends that schedules want told are owed with the end, once, and given by one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from studio_tui.application.ports import Refusal
from studio_tui.application.ports.lifecycle import StatusChange
from studio_tui.domain.notices import CONSUMER, Notice
from studio_tui.state.db import StateDB
from studio_tui.state.schema import terminal_deliveries
from studio_tui.state.stores.notices import NoticeStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.statuses import StatusStore
from tests.builders import run_sql
from tests.fakes.clock import SteeredClock
from tests.state.test_scheduling import NOW, occurrence, outcome, put_schedule, stored

TOLD: Mapping[str, Any] = {"notify_on": ["failed", "timed_out"], "notify_command": "tell me"}
FAILED: Mapping[str, Any] = {
    "status": "failed",
    "invocation_status": "failed",
    "reason_code": "run.failed.exit_nonzero",
    "invocation_reason_code": "run.failed.exit_nonzero",
}


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def scheduling(db: StateDB, clock: SteeredClock) -> SchedulingStore:
    return SchedulingStore(db, clock)


@pytest.fixture
def notices(db: StateDB, clock: SteeredClock) -> NoticeStore:
    return NoticeStore(db, clock)


async def fired(db: StateDB, scheduling: SchedulingStore, run_id: str = "run1", **columns: Any) -> None:
    await put_schedule(db, f"s-{run_id}", **{**TOLD, **columns})
    assert await scheduling.claim(occurrence(await stored(scheduling, f"s-{run_id}"), run_id), now=NOW)


async def consumers(db: StateDB) -> list[str]:
    return sorted(row["consumer"] for row in await db.fetch_all(terminal_deliveries.select()))


async def test_an_end_is_owed_in_the_transaction_that_writes_it(
    db: StateDB, scheduling: SchedulingStore, notices: NoticeStore
) -> None:
    await fired(db, scheduling)
    assert await notices.next_at() is None
    assert await scheduling.finish(outcome(**FAILED), now=NOW + 2)
    assert await notices.next_at() == NOW + 2
    assert await notices.claim_due(limit=5) == (), "not before its time"


async def test_what_is_claimed_is_told_whole_and_given_once(
    db: StateDB, scheduling: SchedulingStore, notices: NoticeStore, clock: SteeredClock
) -> None:
    await fired(db, scheduling)
    await scheduling.finish(outcome(**FAILED), now=NOW)
    (notice,) = await notices.claim_due(limit=5)
    assert len(notice.transition_id) == 32
    assert notice == Notice(
        notice.transition_id,
        "invocation",
        "inv-run1",
        "running",
        "failed",
        "run.failed.exit_nonzero",
        NOW,
        NOW + 15,
        "name-s-run1",
        "tell me",
    )
    assert await notices.next_at() == NOW + 15
    assert await notices.given(notice)
    assert not await notices.given(notice)
    assert await notices.next_at() is None
    clock.advance(99)
    assert await notices.claim_due(limit=5) == ()
    assert await consumers(db) == [CONSUMER]


@pytest.mark.parametrize(
    ("columns", "changes"),
    [
        ({}, {}),  # completed is not in the list
        ({"notify_command": None}, FAILED),
        ({"notify_command": ""}, FAILED),
        ({"notify_on": []}, FAILED),
        ({"notify_on": None}, FAILED),
        ({"notify_on": {"failed": 1}}, FAILED),
    ],
)
async def test_what_nobody_wants_told_is_not_owed(
    db: StateDB, scheduling: SchedulingStore, columns: dict[str, Any], changes: dict[str, Any]
) -> None:
    await fired(db, scheduling, **columns)
    assert await scheduling.finish(outcome(**changes), now=NOW)
    assert await consumers(db) == []


async def test_a_notice_belongs_to_one_claimant_for_its_lease(
    db: StateDB, scheduling: SchedulingStore, notices: NoticeStore, clock: SteeredClock
) -> None:
    for number in range(4):
        await fired(db, scheduling, f"run{number}")
        await scheduling.finish(outcome(f"run{number}", **FAILED), now=NOW)
    claims = await asyncio.gather(*(notices.claim_due(limit=2) for _ in range(4)))
    first = [notice for batch in claims for notice in batch]
    assert len({notice.transition_id for notice in first}) == len(first) == 4
    clock.advance(14.9)
    assert await notices.claim_due(limit=9) == ()
    clock.advance(0.2)
    again = await notices.claim_due(limit=9)
    assert {notice.entity_id for notice in again} == {notice.entity_id for notice in first}
    assert not await notices.given(first[0]), "its lease has gone to somebody else"
    assert [await notices.given(notice) for notice in again] == [True] * 4


async def test_an_end_that_somebody_else_wrote_is_theirs_to_tell(db: StateDB, scheduling: SchedulingStore) -> None:
    await fired(db, scheduling)
    await run_sql(db, "UPDATE schedule_runs SET status = 'failed'")
    assert not await scheduling.finish(outcome(**FAILED), now=NOW)
    assert await consumers(db) == []


async def test_an_invocation_that_ended_by_itself_is_told_by_who_ends_its_firing(
    db: StateDB, scheduling: SchedulingStore, notices: NoticeStore
) -> None:
    await fired(db, scheduling)
    assert await StatusStore(db, SteeredClock(at=NOW - 1)).change(ended("timed_out", "run.timed_out.deadline"))
    assert await scheduling.finish(outcome(), now=NOW)
    (notice,) = await notices.claim_due(limit=5)
    assert (notice.status, notice.reason_code, notice.occurred_at) == ("timed_out", "run.timed_out.deadline", NOW - 1)
    assert await notices.given(notice)
    assert await consumers(db) == [CONSUMER]


def ended(status: str, reason_code: str) -> StatusChange:
    return StatusChange(
        entity="invocation",
        entity_id="inv-run1",
        status=status,
        reason_code=reason_code,
        summary="over",
        source="system",
        actor="reaper",
        expected=frozenset({"running"}),
    )


async def test_an_end_that_a_reaper_wrote_is_told_once(
    db: StateDB, scheduling: SchedulingStore, notices: NoticeStore, clock: SteeredClock
) -> None:
    await fired(db, scheduling)
    assert await StatusStore(db, clock).change(ended("timed_out", "run.timed_out.deadline"))
    (notice,) = await notices.claim_due(limit=5)
    assert notice.status == "timed_out"
    await notices.given(notice)
    assert await scheduling.finish(outcome(**FAILED), now=NOW + 1), "the firing was still open"
    assert await notices.next_at() is None


async def test_a_launch_that_was_refused_is_told(db: StateDB, scheduling: SchedulingStore, notices: NoticeStore) -> None:
    await put_schedule(db, **TOLD)
    schedule = await stored(scheduling)
    for run_id, status, code in (("r1", "skipped", "schedule.skipped.overlap"), ("r2", "failed", "run.failed.exception")):
        at = (await stored(scheduling)).next_fire_at
        refusal = Refusal(run_id, schedule, status, code, "no", {}, NOW, at, NOW + 60 + len(code))  # type: ignore[arg-type]
        assert await scheduling.refuse(refusal, now=NOW)
    (notice,) = await notices.claim_due(limit=5)
    assert (notice.entity, notice.entity_id, notice.status, notice.reason_code, notice.schedule_name) == (
        "schedule_run",
        "r2",
        "failed",
        "run.failed.exception",
        "name-s1",
    )


async def test_a_schedule_that_is_gone_wants_nothing_any_more(
    db: StateDB, scheduling: SchedulingStore, notices: NoticeStore
) -> None:
    await fired(db, scheduling)
    await scheduling.finish(outcome(**FAILED), now=NOW)
    await run_sql(db, "DELETE FROM schedules")
    (notice,) = await notices.claim_due(limit=5)
    assert (notice.schedule_name, notice.command) == (None, None)
    assert await notices.given(notice)


async def test_a_firing_that_is_fired_again_tells_of_its_second_end_only(
    db: StateDB, scheduling: SchedulingStore, notices: NoticeStore
) -> None:
    await fired(db, scheduling)
    again = occurrence(await stored(scheduling, "s-run1"), "run2", claimed=None)
    assert await scheduling.claim(again, now=NOW, instead_of=outcome(**FAILED))
    assert await notices.next_at() is None
    await scheduling.finish(outcome("run2", **FAILED), now=NOW)
    (notice,) = await notices.claim_due(limit=5)
    assert notice.entity_id == "inv-run2"
