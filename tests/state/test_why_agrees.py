"""What a "why" names is what the scheduler itself would refuse, on the same store, before and after."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import insert

from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.why import Situation, checklist, first_refusal
from studio_tui.scheduler.admission import Admission
from studio_tui.state.db import StateDB
from studio_tui.state.schema import invocations, progressions, schedule_runs, schedules, sessions
from studio_tui.state.stores.schedules import ScheduleReadStore
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.fakes.base import HeldClock

NOW = 1_796_041_018.25
SLOTS = 2


async def put(db: StateDB, **columns: object) -> ScheduleRecord:
    row = {
        "id": "s1",
        "name": "tidy",
        "trigger_type": "interval",
        "interval_sec": 60,
        "action_kind": "command",
        "action_command": "true",
        "next_fire_at": NOW,
        "created_at": 1.0,
        "updated_at": 1.0,
        **columns,
    }
    other = {**row, "id": "s2", "name": "other"}
    await db.write(lambda connection: connection.execute(insert(schedules), [row, other]))
    schedule = await SchedulingStore(db, HeldClock(NOW)).get_schedule("s1")
    assert schedule is not None
    return schedule


async def fired(db: StateDB, run_id: str, status: str = "completed", ago: float = 10, **columns: object) -> None:
    row = {
        "id": run_id,
        "schedule_id": "s1",
        "status": status,
        "trigger_context": {},
        "action_kind": "command",
        "action_args": [],
        "chain_depth": 0,
        "fired_at": NOW - ago,
        "created_at": NOW - ago,
        **columns,
    }
    await db.write(lambda connection: connection.execute(insert(schedule_runs).values(row)))


async def spent(db: StateDB, usd: float) -> None:
    times = {"created_at": 1.0, "updated_at": 1.0}

    async def work(connection: Any) -> None:
        invocation = {"id": "i1", "skill": "x", "started_at": 1.0, "status": "completed", "session_count": 1, **times}
        await connection.execute(insert(invocations).values(invocation))
        await connection.execute(insert(progressions).values(id="p1", created_at=1.0, collection="[]"))
        run = {"id": "r1", "progression_id": "p1", "invocation_id": "i1", "total_cost_usd": usd, "status": "completed", **times}
        await connection.execute(insert(sessions).values(run))

    await db.write(work)
    await fired(db, "paid", invocation_id="i1", ago=9_000)


async def both(db: StateDB, schedule: ScheduleRecord) -> tuple[str | None, str | None]:
    """The gate that the scheduler names, and the one that the explanation does."""
    state, reads = SchedulingStore(db, HeldClock(NOW)), ScheduleReadStore(db)
    window = schedule.rate_limit or {"window_sec": 0}
    facts = await reads.gate_facts("s1", since=NOW - float(str(window["window_sec"])))
    situation = Situation(
        host="hosting",
        host_words="",
        running=facts.running,
        executed=facts.executed,
        fired=facts.fired,
        usd=facts.spend.usd,
        tokens=facts.spend.tokens,
        unreported=facts.spend.unreported,
        running_of_all=facts.running_of_all,
        slots=SLOTS,
    )
    said = first_refusal(checklist(schedule, situation, at=None, now=NOW, default=Zone("UTC", "env:TZ")))
    refused = await Admission(state, slots=SLOTS).refusal(schedule, NOW)
    if said is not None and refused is not None:
        assert said.reason_code == refused.reason_code
        assert said.words.startswith(refused.words)
    return (None if refused is None else refused.gate, None if said is None else said.gate)


@pytest.mark.parametrize(
    ("gate", "columns", "rows"),
    [
        ("overlap", {}, [{"status": "running"}]),
        ("overlap", {}, [{"status": "running", "chain_depth": 1}]),
        ("budget", {"budget_usd": 2.0}, "spent"),
        ("rate", {"rate_limit": {"max_fires": 1, "window_sec": 60}}, [{"ago": 59}]),
        ("max_runs", {"max_runs": 2}, [{"ago": 9_000}, {"ago": 8_000, "status": "failed"}]),
        ("slots", {"overlap_policy": "allow"}, [{"status": "running"}, {"status": "running", "schedule_id": "s2"}]),
        (None, {"overlap_policy": "allow"}, [{"status": "running"}]),
        (None, {"max_runs": 2}, [{}, {"status": "skipped"}, {"status": "completed", "chain_depth": 1}]),
        (None, {"rate_limit": {"max_fires": 1, "window_sec": 60}}, [{"ago": 61}]),
        (None, {"budget_usd": 2.6}, "spent"),
    ],
)
async def test_the_explanation_names_the_gate_that_refuses(
    db: StateDB, gate: str | None, columns: dict[str, object], rows: Any
) -> None:
    schedule = await put(db, **columns)
    assert await both(db, schedule) == (None, None)
    if rows == "spent":
        await spent(db, 2.5)
    else:
        for number, row in enumerate(rows):
            await fired(db, f"f{number}", **row)
    assert await both(db, schedule) == (gate, gate)
