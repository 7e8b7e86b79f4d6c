"""The header's figures: what runs, and what needs a person."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.overview import OverviewService
from studio_tui.domain.shows import PlayRecord, ShowRecord
from tests.application.records import BERLIN, a_firing, a_run, a_schedule
from tests.fakes.ports import NOW, FakeProcesses, HeldClock, MemoryRuns, MemorySchedules, MemoryShows

_LOCAL = {"process_identity_mode": "local", "pid_create_time": 1.0, "pid_host": "here", "pid_boot_time": 1.0}


class World:
    """An overview service on twins."""

    def __init__(self) -> None:
        self.runs, self.schedules, self.processes = MemoryRuns(), MemorySchedules(), FakeProcesses()
        self.shows, self.show_files = MemoryShows(), MemoryShows()
        self.service = OverviewService(
            reads=self.runs,
            schedules=self.schedules,
            shows=self.shows,
            show_files=self.show_files,
            processes=self.processes,
            zone=BERLIN,
            clock=HeldClock(),
        )

    async def attention(self) -> dict[str, int]:
        return {item.kind: item.count for item in (await self.service.overview()).attention}

    def failures(self, schedule_id: str, *newest_first: str) -> None:
        self.schedules.firing_rows += [
            a_firing(f"{schedule_id}-{n}", ago=10 * n + 10, schedule_id=schedule_id, status=status)
            for n, status in enumerate(newest_first)
        ]


@pytest.fixture
def world() -> World:
    return World()


async def test_a_quiet_home_needs_nobody(world: World) -> None:
    overview = await world.service.overview()
    assert (overview.running, overview.attention, overview.attention_total) == (0, (), 0)


async def test_running_runs_are_counted_and_the_lost_ones_need_a_person(world: World) -> None:
    def running(run_id: str, quiet: float, **metadata: Any) -> Any:
        seen = NOW - quiet
        return a_run(run_id, status="running", ended_at=None, updated_at=seen, last_message_at=seen, metadata=metadata)

    world.processes.living, world.processes.dead = {1}, {2}
    world.runs.runs = [
        running("lively", 10, **_LOCAL, pid=1),
        running("thinking", 5_000, **_LOCAL, pid=1),
        running("silent for hours", 30_000, **_LOCAL, pid=1),
        running("dead", 10, **_LOCAL, pid=2),
        running("elsewhere and stale", 30_000, process_identity_mode="external"),
        a_run("ended"),
    ]
    assert (await world.service.overview()).running == 5
    assert await world.attention() == {"lost": 3}


async def test_failures_of_the_last_day_without_those_that_a_reaper_wrote(world: World) -> None:
    world.runs.runs = [
        a_run("today", status="failed"),
        a_run("reaped", status="failed", reason_summary="phantom_reaped"),
        a_run("last week", status="failed", ended_at=NOW - 7 * 86_400),
        a_run("timed out", status="timed_out"),
    ]
    assert await world.attention() == {"failed": 1}


async def test_schedules_that_keep_failing_need_a_person_from_the_third_time_on(world: World) -> None:
    world.schedules.add(*(a_schedule(name, name) for name in ("two", "three", "mixed", "mended", "skipping")))
    world.schedules.add(a_schedule("off", "off", enabled=False))
    world.failures("two", "failed", "failed", "completed")
    world.failures("three", "failed", "timed_out", "failed")
    world.failures("mixed", "running", "failed", "skipped", "failed", "failed")
    world.failures("mended", "completed", "failed", "failed", "failed")
    world.failures("skipping", "skipped", "skipped", "skipped", "skipped")
    world.failures("off", "failed", "failed", "failed")
    assert await world.attention() == {"failing": 2}


async def test_schedules_that_can_never_fire_as_they_are_stored_need_a_person(world: World) -> None:
    world.schedules.add(
        a_schedule("a", "a", trigger_type="cron", cron_expr=""),
        a_schedule("b", "b", interval_sec=None),
        a_schedule("c", "c", defects=("rate_limit",)),
        a_schedule("d", "d", enabled=False, interval_sec=None),
        a_schedule("e", "e"),
        a_schedule("f", "f", trigger_type="github_poll", github_repo="shop/web", interval_sec=None),
    )
    assert await world.attention() == {"broken": 3}


async def test_plays_that_wait_for_a_person_are_counted_over_both_sides(world: World) -> None:
    world.show_files.shows = [
        ShowRecord("billing", plays=(PlayRecord("a", status="gate_failed"), PlayRecord("b", status="gated", gate_passed=True)))
    ]
    world.shows.shows = [
        ShowRecord("billing", plays=(PlayRecord("a", status="merged"),)),
        ShowRecord("stored", plays=(PlayRecord("c", status="escalated"),)),
    ]
    assert await world.attention() == {"gated": 2}


async def test_the_most_urgent_kind_comes_first(world: World) -> None:
    world.runs.runs = [a_run("f", status="failed"), a_run("r", status="running", updated_at=NOW - 90_000, last_message_at=None)]
    world.shows.shows = [ShowRecord("s", plays=(PlayRecord("c", status="escalated"),))]
    world.schedules.add(a_schedule("b", "b", interval_sec=None))
    assert list(await world.attention()) == ["lost", "gated", "broken", "failed"]


async def test_the_cost_does_not_grow_with_what_is_stored(world: World) -> None:
    world.schedules.add(*(a_schedule(f"{n}", f"{n}") for n in range(50)))
    world.runs.runs = [a_run(f"{n}", status="running") for n in range(50)]
    world.shows.shows = [ShowRecord(f"{n}", plays=(PlayRecord("a", status="pending"),)) for n in range(50)]
    await world.service.overview()
    assert world.schedules.asked == {"list_schedules": 1, "recent_firings": 1}
    assert world.runs.asked == {"count_running": 1, "running_runs": 1, "count_failed_since": 1}
    assert world.shows.asked == world.show_files.asked == {"list_shows": 1}


async def test_a_store_that_cannot_answer_is_not_a_quiet_home(world: World) -> None:
    world.runs.trouble = StateUnavailable("busy", retryable=True)
    with pytest.raises(StateUnavailable):
        await world.service.overview()
