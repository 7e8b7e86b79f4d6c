"""A store that we made and fired in, through our own stores alone."""

from __future__ import annotations

from studio_tui.application.ports import ActProvenance, NewSchedule, Occurrence, Outcome, Refusal
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.store import Store
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.fakes.base import HeldClock

NOW = 1_796_000_000.25
OPERATOR = ActProvenance("cli", "op", "/srv/work")


async def fill(store: Store) -> None:
    """Make the store, with two schedules, one firing that completed, one that failed, a skip, and one turned off."""
    await store.open()
    await store.create()
    writes, scheduling = ScheduleWriteStore(store.db), SchedulingStore(store.db, HeldClock(NOW))
    schedule = await writes.create_schedule(new_schedule("a" * 12, "echo"), now=NOW, by=OPERATOR)
    await writes.create_schedule(new_schedule("b" * 12, "other"), now=NOW, by=OPERATOR)
    for number, (code, status) in enumerate(((0, "completed"), (3, "failed"))):
        schedule = await _fire(scheduling, schedule, f"{number}" * 12, code, status)
    refusal = Refusal(
        run_id="c" * 12,
        schedule=schedule,
        status="skipped",
        reason_code="schedule.skipped.overlap",
        reason="still running",
        trigger_context={"skipped_overlap": True, "fired_at": NOW},
        at=NOW + 125,
        claimed=schedule.next_fire_at,
        next_fire_at=NOW + 3600,
    )
    assert await scheduling.refuse(refusal, now=NOW + 125)
    await writes.set_enabled(
        "b" * 12,
        enabled=False,
        next_fire_at=None,
        expected_updated_at=NOW,
        reason_code="schedule_definition.disabled.manual",
        reason="too noisy",
        now=NOW + 6,
        by=OPERATOR,
    )
    await store.close()


def new_schedule(schedule_id: str, name: str) -> NewSchedule:
    """An interval schedule with a command."""
    return NewSchedule(
        {
            "id": schedule_id,
            "name": name,
            "trigger_type": "interval",
            "interval_sec": 60,
            "action_kind": "command",
            "action_command": "echo",
            "action_command_args": ["hällo"],
            "next_fire_at": NOW,
            "managed_by": "cli",
        }
    )


async def _fire(
    scheduling: SchedulingStore, schedule: ScheduleRecord, run_id: str, exit_code: int, status: str
) -> ScheduleRecord:
    due = schedule.next_fire_at
    assert due is not None
    occurrence = Occurrence(
        run_id=run_id,
        invocation_id=f"{run_id[:11]}f",
        schedule=schedule,
        argv=("echo", "hällo"),
        prompt=None,
        trigger_context={"scheduled": True, "fired_at": due, "next_fire_at": due},
        fired_at=due,
        claimed=due,
        next_fire_at=due + 60,
    )
    assert await scheduling.claim(occurrence, now=due)
    await scheduling.mark_dispatched(run_id, due + 0.01)
    code = "run.completed.ok" if status == "completed" else "run.failed.exit_nonzero"
    outcome = Outcome(
        run_id=run_id,
        invocation_id=occurrence.invocation_id,
        status=status,
        invocation_status=status,
        reason_code=code,
        invocation_reason_code=code,
        reason="ended",
        ended_at=due + 1,
        exit_code=exit_code,
        error_detail="out" if exit_code else None,
    )
    assert await scheduling.finish(outcome, now=due + 1)
    after = await scheduling.get_schedule(schedule.schedule_id)
    assert after is not None
    return after
