"""The scheduler's seam: rows equal to those of a real daemon, claims that only one host wins, and no transaction too many."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert

from studio_tui.application.errors import PermissionDenied, StateUnavailable
from studio_tui.application.ports import Occurrence, Outcome, Refusal, Spend
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.db import StateDB
from studio_tui.state.queries import scheduling as queries
from studio_tui.state.schema import progressions, projects, schedules, sessions
from studio_tui.state.store import Store
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.fakes.base import HeldClock
from tests.state.raw import raw_rows

REAL: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data" / "fire-rows.json").read_text())
NOW = 1_796_041_018.25
VOLATILE = {"created_at", "updated_at"}
"""Columns whose values are the writer's own clock; they must be numbers all the same."""


@pytest.fixture
def scheduling(db: StateDB) -> SchedulingStore:
    return SchedulingStore(db, HeldClock(NOW))


async def put_schedule(db: StateDB, schedule_id: str = "s1", **values: object) -> None:
    row = {
        "id": schedule_id,
        "name": f"name-{schedule_id}",
        "trigger_type": "interval",
        "interval_sec": 60,
        "action_kind": "command",
        "action_command": "true",
        "next_fire_at": NOW - 1,
        "created_at": 1.0,
        "updated_at": 1.0,
        **values,
    }
    await db.write(lambda connection: connection.execute(insert(schedules).values(row)))


async def stored(scheduling: SchedulingStore, schedule_id: str = "s1") -> ScheduleRecord:
    record = await scheduling.get_schedule(schedule_id)
    assert record is not None
    return record


def occurrence(schedule: ScheduleRecord, run_id: str = "run1", **changes: object) -> Occurrence:
    made = Occurrence(
        run_id=run_id,
        invocation_id=f"inv-{run_id}",
        schedule=schedule,
        argv=("true",),
        prompt=None,
        trigger_context={"scheduled": True, "fired_at": NOW, "next_fire_at": schedule.next_fire_at},
        fired_at=NOW,
        claimed=schedule.next_fire_at,
        next_fire_at=NOW + 60,
    )
    return replace(made, **changes)


def outcome(run_id: str = "run1", **changes: object) -> Outcome:
    made = Outcome(
        run_id=run_id,
        invocation_id=f"inv-{run_id}",
        status="completed",
        invocation_status="completed",
        reason_code="run.completed.ok",
        invocation_reason_code="run.completed.ok",
        reason="done",
        ended_at=NOW + 2,
        exit_code=0,
    )
    return replace(made, **changes)


def alike(ours: dict[str, Any], real: dict[str, Any], *, but: Set[str] = frozenset()) -> None:
    """Column by column: the same columns in the same order, the same stored values and types."""
    assert list(ours) == list(real)
    for column, value in real.items():
        if column in VOLATILE:
            assert isinstance(ours[column], float), column
        elif column not in but:
            assert ours[column] == value, column
            assert type(ours[column]) is type(value), column
        else:
            assert type(ours[column]) is type(value), column


def transitions_alike(ours: list[dict[str, Any]], real: list[dict[str, Any]], *, but: set[str]) -> None:
    """The same lines in the order of their writing, whatever their ids are."""
    assert len(ours) == len(real)
    for line, model in zip(ours, real, strict=True):
        alike(line, model, but={"id", *but})
    assert [line["created_at"] for line in ours] == sorted(line["created_at"] for line in ours)
    assert all(len(line["id"]) == 32 and int(line["id"], 16) for line in ours)


# --- rows as a real daemon writes them --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["command_completed", "command_failed", "agent_completed"])
async def test_a_firing_leaves_the_rows_of_a_real_daemon(db: StateDB, scheduling: SchedulingStore, name: str) -> None:
    real = REAL[name]
    run, invocation = real["schedule_run"], real["invocation"]
    await put_schedule(db, run["schedule_id"], name=invocation["skill"].partition(":")[2], action_kind=run["action_kind"])
    schedule = await stored(scheduling, run["schedule_id"])
    fired = occurrence(
        schedule,
        run["id"],
        invocation_id=invocation["id"],
        argv=tuple(json.loads(run["action_args"])),
        prompt=invocation["prompt"],
        trigger_context=json.loads(run["trigger_context"]),
        fired_at=run["fired_at"],
        claimed=schedule.next_fire_at,
    )
    children = tuple(child["id"] for child in real["sessions"])
    ended = outcome(
        run["id"],
        invocation_id=invocation["id"],
        status=run["status"],
        invocation_status=invocation["status"],
        reason_code=run["status_reason_code"],
        invocation_reason_code=invocation["status_reason_code"],
        reason=run["status_reason_summary"],
        ended_at=run["ended_at"],
        exit_code=run["exit_code"],
        error_detail=run["error_detail"],
        child_ids=children,
        child_statuses=("completed",) * len(children),
    )
    assert await scheduling.claim(fired, now=NOW)
    await scheduling.mark_dispatched(run["id"], run["dispatched_at"])
    assert await scheduling.finish(ended, now=NOW + 3)

    alike((await raw_rows(db, "schedule_runs"))[0], run)
    telemetry_of_its_own_bus = {"node_metadata"}
    alike(
        {**(await raw_rows(db, "invocations"))[0], "session_count": invocation["session_count"]},
        invocation,
        but={"status_reason_summary", *telemetry_of_its_own_bus},
    )
    kept = json.loads((await raw_rows(db, "invocations"))[0]["node_metadata"])
    assert kept == {"action_kind": run["action_kind"]}
    transitions_alike(await raw_rows(db, "status_transitions"), real["status_transitions"], but={"reason_summary"})
    last = (await raw_rows(db, "status_transitions"))[-1]
    assert (await raw_rows(db, "invocations"))[0]["updated_at"] == last["created_at"] == NOW + 3


@pytest.mark.parametrize("name", ["skipped_overlap", "skipped_missed", "deferred"])
async def test_a_skip_leaves_the_rows_of_a_real_daemon(db: StateDB, scheduling: SchedulingStore, name: str) -> None:
    real = REAL[name]
    run = real["schedule_run"]
    await put_schedule(db, run["schedule_id"])
    schedule = await stored(scheduling, run["schedule_id"])
    refusal = Refusal(
        run_id=run["id"],
        schedule=schedule,
        status="skipped",
        reason_code=run["status_reason_code"],
        reason=run["status_reason_summary"],
        trigger_context=json.loads(run["trigger_context"]),
        at=run["fired_at"],
        claimed=schedule.next_fire_at,
        next_fire_at=NOW + 60,
        advance=name != "deferred",
    )
    assert await scheduling.refuse(refusal, now=NOW)
    alike((await raw_rows(db, "schedule_runs"))[0], run)
    transitions_alike(
        await raw_rows(db, "status_transitions"), real["status_transitions"], but={"metadata"} if name == "deferred" else set()
    )
    after = await stored(scheduling, run["schedule_id"])
    assert after.next_fire_at == (schedule.next_fire_at if name == "deferred" else NOW + 60)
    assert after.last_fired_at is None


async def test_a_chain_step_leaves_the_row_of_a_real_daemon_and_the_cadence_alone(
    db: StateDB, scheduling: SchedulingStore
) -> None:
    run = REAL["chain_step"]["schedule_run"]
    await put_schedule(db, run["schedule_id"])
    schedule = await stored(scheduling, run["schedule_id"])
    assert await scheduling.claim(occurrence(schedule, run["chain_parent_id"]), now=NOW)
    before = await stored(scheduling, run["schedule_id"])
    step = occurrence(
        schedule,
        run["id"],
        invocation_id=run["invocation_id"],
        argv=tuple(json.loads(run["action_args"])),
        trigger_context=json.loads(run["trigger_context"]),
        fired_at=run["fired_at"],
        claimed=None,
        next_fire_at=None,
        chain_parent_id=run["chain_parent_id"],
        chain_depth=1,
    )
    assert await scheduling.claim(step, now=NOW)
    ours = (await raw_rows(db, "schedule_runs", f"id = '{run['id']}'"))[0]
    ends = {
        "status",
        "exit_code",
        "ended_at",
        "dispatched_at",
        "status_reason_code",
        "status_reason_summary",
        "status_evidence_refs",
    }
    assert {key: value for key, value in ours.items() if key not in ends | VOLATILE} == {
        key: value for key, value in run.items() if key not in ends | VOLATILE
    }
    assert await stored(scheduling, run["schedule_id"]) == before


async def test_a_refused_launch_is_a_failed_firing_with_its_message(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    schedule = await stored(scheduling)
    refusal = Refusal(
        run_id="run1",
        schedule=schedule,
        status="failed",
        reason_code="run.failed.cwd_inherit_refused",
        reason="no usable directory",
        trigger_context={"scheduled": True},
        at=NOW,
        claimed=schedule.next_fire_at,
        next_fire_at=NOW + 60,
    )
    assert await scheduling.refuse(refusal, now=NOW)
    row = (await raw_rows(db, "schedule_runs"))[0]
    assert (row["status"], row["action_args"], row["invocation_id"], row["exit_code"]) == ("failed", "[]", None, None)
    assert (row["error_detail"], row["ended_at"]) == ("no usable directory", NOW)
    lines = await raw_rows(db, "status_transitions")
    assert [(line["previous_status"], line["status"], line["reason_code"]) for line in lines] == [
        (None, "failed", "run.failed.exception"),
        ("failed", "failed", "run.failed.cwd_inherit_refused"),
    ]
    after = await stored(scheduling)
    assert (after.last_fired_at, after.next_fire_at, after.updated_at) == (NOW, NOW + 60, NOW)
    assert not await scheduling.refuse(replace(refusal, run_id="run2"), now=NOW)


async def test_what_the_scheduler_turns_off_it_signs(db: StateDB, scheduling: SchedulingStore) -> None:
    real = REAL["max_runs"]
    await put_schedule(db, real["entity_id"], name="b-fail-chain")
    code = "schedule_definition.disabled.max_runs"
    assert await scheduling.disable(real["entity_id"], reason_code=code, reason=real["reason_summary"], now=NOW)
    (line,) = await raw_rows(db, "status_transitions")
    alike(line, real, but={"id", "metadata"})
    ours, model = json.loads(line["metadata"]), json.loads(real["metadata"])
    assert ours["schedule_name"] == model["schedule_name"]
    assert ours["provenance"] == {**model["provenance"], "submitting_cwd": str(Path.cwd())}
    assert ours["disable_cause"] == "max_runs"
    after = await stored(scheduling, real["entity_id"])
    assert (after.enabled, after.updated_at) == (False, NOW)
    assert not await scheduling.disable(real["entity_id"], reason_code=code, reason="again", now=NOW)
    assert not await scheduling.disable("nobody", reason_code=code, reason="x", now=NOW)
    assert len(await raw_rows(db, "status_transitions")) == 1


async def test_three_transactions_a_firing(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    schedule = await stored(scheduling)
    begun: list[str] = []

    def listen(sync: Any) -> None:
        event.listen(sync.engine, "begin", lambda _connection: begun.append("transaction"))

    await db.write(lambda connection: connection.run_sync(listen))
    assert await scheduling.claim(occurrence(schedule), now=NOW)
    await scheduling.mark_dispatched("run1", NOW)
    assert await scheduling.finish(outcome(), now=NOW)
    assert len(begun) == 3
    assert len(await raw_rows(db, "status_transitions")) == 5


# --- claims -----------------------------------------------------------------------------------------------------------


async def test_of_two_hosts_at_once_one_claims(
    home: Path, location: str | None, db: StateDB, scheduling: SchedulingStore
) -> None:
    for number in range(10):
        await put_schedule(db, f"s{number}")
    other = Store(location, home=home)
    await other.open()
    second = SchedulingStore(other.db, HeldClock(NOW))
    due = await scheduling.list_due(NOW, limit=100)
    assert len(due) == 10
    claims = [
        host.claim(occurrence(schedule, f"{schedule.schedule_id}-{number}"), now=NOW)
        for schedule in due
        for number, host in enumerate((scheduling, second))
    ]
    won = await asyncio.gather(*claims)
    await other.close()
    assert [sum(won[index : index + 2]) for index in range(0, 20, 2)] == [1] * 10
    fired = await raw_rows(db, "schedule_runs")
    assert sorted(row["schedule_id"] for row in fired) == [f"s{number}" for number in range(10)]
    assert len(await raw_rows(db, "invocations")) == 10
    assert len(await raw_rows(db, "status_transitions")) == 30


async def test_a_lost_claim_writes_nothing(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    schedule = await stored(scheduling)
    await db.execute("UPDATE schedules SET next_fire_at = next_fire_at + 1e-6")
    assert not await scheduling.claim(occurrence(schedule), now=NOW)
    for table in ("schedule_runs", "invocations", "status_transitions"):
        assert await raw_rows(db, table) == []


async def test_a_schedule_turned_off_or_gone_is_not_claimed(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    schedule = await stored(scheduling)
    await db.execute("UPDATE schedules SET enabled = 0")
    assert not await scheduling.claim(occurrence(schedule), now=NOW)
    by_hand = occurrence(schedule, claimed=None, next_fire_at=None, trigger_context={"manual": True})
    assert await scheduling.claim(by_hand, now=NOW)
    await db.execute("DELETE FROM schedules")
    assert not await scheduling.claim(replace(by_hand, run_id="run2"), now=NOW)
    assert not await scheduling.claim(replace(by_hand, run_id="run3", chain_depth=1), now=NOW)


async def test_a_firing_by_hand_moves_no_instant(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    schedule = await stored(scheduling)
    by_hand = occurrence(schedule, claimed=None, next_fire_at=None, trigger_context={"manual": True, "fired_at": NOW})
    assert await scheduling.claim(by_hand, now=NOW)
    after = await stored(scheduling)
    assert (after.next_fire_at, after.last_fired_at, after.updated_at) == (schedule.next_fire_at, NOW, NOW)
    assert (await raw_rows(db, "schedule_runs"))[0]["status_reason_summary"] == "Schedule run fired by hand."
    assert await scheduling.claim(occurrence(schedule, "due"), now=NOW)


async def test_a_deferral_after_the_schedule_was_turned_off_is_recorded(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    schedule = await stored(scheduling)
    code = "schedule_definition.disabled.budget_exhausted"
    assert await scheduling.disable("s1", reason_code=code, reason="used up", now=NOW)
    refusal = Refusal(
        run_id="run1",
        schedule=schedule,
        status="skipped",
        reason_code="schedule.budget.exhausted",
        reason="used up",
        trigger_context={"budget_exhausted": True, "fired_at": NOW},
        at=NOW,
        claimed=schedule.next_fire_at,
        next_fire_at=None,
        advance=False,
    )
    assert await scheduling.refuse(refusal, now=NOW)
    await db.execute("UPDATE schedules SET next_fire_at = NULL")
    assert not await scheduling.refuse(replace(refusal, run_id="run2"), now=NOW)


async def test_arming_compares_with_what_was_seen(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db, next_fire_at=None)
    await put_schedule(db, "s2", trigger_type="cron", cron_expr="0 5 * * 1", interval_sec=None)
    unarmed, cron = await stored(scheduling), await stored(scheduling, "s2")
    assert await scheduling.arm(unarmed, NOW + 60, zone=None, zone_source=None)
    assert not await scheduling.arm(unarmed, NOW + 90, zone=None, zone_source=None)
    assert await scheduling.arm(cron, NOW + 5, zone="Europe/Berlin", zone_source="env:TZ")
    first, second = await stored(scheduling), await stored(scheduling, "s2")
    assert (first.next_fire_at, first.effective_timezone, first.updated_at) == (NOW + 60, None, NOW)
    assert (second.next_fire_at, second.effective_timezone, second.effective_timezone_source) == (
        NOW + 5,
        "Europe/Berlin",
        "env:TZ",
    )
    await db.execute("UPDATE schedules SET enabled = 0")
    assert not await scheduling.arm(first, None, zone=None, zone_source=None)


# --- ends -------------------------------------------------------------------------------------------------------------


async def test_a_firing_ends_once(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    assert await scheduling.claim(occurrence(await stored(scheduling)), now=NOW)
    assert await scheduling.finish(outcome(), now=NOW)
    before = [await raw_rows(db, table) for table in ("schedule_runs", "invocations", "status_transitions")]
    late = outcome(
        status="failed",
        invocation_status="failed",
        reason_code="run.failed.exception",
        invocation_reason_code="run.failed.exception",
    )
    assert not await scheduling.finish(late, now=NOW + 9)
    assert [await raw_rows(db, table) for table in ("schedule_runs", "invocations", "status_transitions")] == before


async def test_each_row_of_a_firing_is_ended_whatever_became_of_the_other(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    assert await scheduling.claim(occurrence(await stored(scheduling)), now=NOW)
    await db.execute("UPDATE invocations SET status = 'failed', ended_at = 1.0")
    assert await scheduling.finish(outcome(), now=NOW)
    assert (await raw_rows(db, "invocations"))[0]["status"] == "failed"
    assert (await raw_rows(db, "schedule_runs"))[0]["status"] == "completed"

    await db.execute("DELETE FROM schedules")
    await db.execute("UPDATE invocations SET status = 'running', ended_at = NULL")
    assert await raw_rows(db, "schedule_runs") == []
    assert not await scheduling.finish(outcome(), now=NOW)
    assert (await raw_rows(db, "invocations"))[0]["status"] == "completed"


async def test_an_end_without_an_exit_code_says_nothing_of_one(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    assert await scheduling.claim(occurrence(await stored(scheduling)), now=NOW)
    ended = outcome(
        status="timed_out",
        invocation_status="timed_out",
        reason_code="run.timed_out.deadline",
        invocation_reason_code="run.timed_out.deadline",
        exit_code=None,
        error_detail="stopped",
        source="system",
        actor="scheduler_startup_reconciliation",
    )
    assert await scheduling.finish(ended, now=NOW)
    lines = await raw_rows(db, "status_transitions", "status = 'timed_out'")
    assert [json.loads(line["metadata"]) for line in lines] == [{"invocation_status": "timed_out"}, {"child_statuses": []}]
    assert {(line["source"], line["actor"]) for line in lines} == {("system", "scheduler_startup_reconciliation")}
    run = (await raw_rows(db, "schedule_runs"))[0]
    assert (run["exit_code"], run["error_detail"]) == (None, "stopped")


async def test_the_stamp_of_a_launch_stays(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    assert await scheduling.claim(occurrence(await stored(scheduling)), now=NOW)
    await scheduling.mark_dispatched("run1", NOW + 1)
    await scheduling.mark_dispatched("run1", NOW + 2)
    await scheduling.mark_dispatched("nobody", NOW)
    assert (await raw_rows(db, "schedule_runs"))[0]["dispatched_at"] == NOW + 1


# --- questions --------------------------------------------------------------------------------------------------------


async def test_what_is_due(db: StateDB, scheduling: SchedulingStore) -> None:
    assert await scheduling.next_due_at() is None
    await put_schedule(db, "late", next_fire_at=NOW - 50)
    await put_schedule(db, "now", next_fire_at=NOW, trigger_type="at")
    await put_schedule(db, "soon", next_fire_at=NOW + 0.001, trigger_type="cron", cron_expr="* * * * *")
    await put_schedule(db, "off", next_fire_at=NOW - 99, enabled=0)
    await put_schedule(db, "poll", next_fire_at=NOW - 99, trigger_type="github_poll")
    await put_schedule(db, "unarmed", next_fire_at=None)
    await put_schedule(db, "done", next_fire_at=None, trigger_type="at")
    assert await scheduling.next_due_at() == NOW - 99, "a poll is something that comes too"
    assert [item.schedule_id for item in await scheduling.list_due(NOW, limit=10)] == ["late", "now"]
    assert [item.schedule_id for item in await scheduling.list_due(NOW, limit=1)] == ["late"]
    assert [item.schedule_id for item in await scheduling.list_unarmed()] == ["unarmed"]
    assert [item.schedule_id for item in await scheduling.list_armed_cron()] == ["soon"]


@pytest.mark.sqlite_only("its words for a plan; PostgreSQL is asked in tests/postgres")
async def test_due_schedules_come_from_the_index(db: StateDB, scheduling: SchedulingStore) -> None:
    async with db.read() as connection:
        for statement, values, index in (
            (queries.NEXT_DUE, {}, "idx_schedules_enabled"),
            (queries.DUE, {"now": NOW, "limit": 5}, "idx_schedules_enabled"),
            (queries.RUNNING_OF_ALL, {}, "idx_sched_runs_status"),
            (queries.EXECUTED_RUNS, {"schedule_id": "s1"}, "idx_sched_runs_schedule"),
        ):
            bound = statement.params(**values).compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
            plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {bound}")).all()
            assert any(index in row[-1] for row in plan), plan


async def test_counts_take_what_everybody_fired(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    await put_schedule(db, "s2")
    run = (
        "INSERT INTO schedule_runs"
        " (id, schedule_id, trigger_context, action_kind, action_args, status, chain_depth, fired_at, created_at)"
        " VALUES (:id, :schedule, '{}', 'command', '[]', :status, :depth, :at, 1.0)"
    )
    made = [
        ("a", "s1", "running", 0, NOW),
        ("b", "s1", "running", 1, NOW),
        ("c", "s1", "completed", 0, NOW - 10),
        ("d", "s1", "failed", 0, NOW - 20),
        ("e", "s1", "skipped", 0, NOW),
        ("f", "s1", "queued", 0, NOW),
        ("g", "s1", "completed", 1, NOW),
        ("h", "s2", "running", 0, NOW),
        ("i", None, "running", 0, NOW),
    ]
    for identifier, schedule, status, depth, at in made:
        await db.execute(run, {"id": identifier, "schedule": schedule, "status": status, "depth": depth, "at": at})
    assert await scheduling.count_running("s1") == 2
    assert await scheduling.count_running(None) == 3
    assert await scheduling.count_schedule_runs("s1") == 3
    assert await scheduling.count_fired_since("s1", NOW - 10) == 2
    assert [row.run_id for row in await scheduling.list_undispatched(older_than=2.0)] == ["a", "b", "h"]
    assert await scheduling.list_undispatched(older_than=1.0) == ()
    await scheduling.mark_dispatched("b", NOW)
    assert [row.run_id for row in await scheduling.list_dispatched()] == ["b"]


async def test_spend_is_what_runs_reported(db: StateDB, scheduling: SchedulingStore) -> None:
    await put_schedule(db)
    assert await scheduling.sum_schedule_spend("s1") == Spend(0.0, 0, 0)
    assert await scheduling.claim(occurrence(await stored(scheduling)), now=NOW)

    async def work(connection: Any) -> None:
        await connection.execute(insert(progressions).values(id="p", created_at=1.0))
        reported = [("a", 0.25, 10, 5, "claude_code"), ("b", None, None, 7, "openai"), ("c", 9.0, 1, 1, "codex")]
        for identifier, cost, tokens_in, tokens_out, provider in reported:
            await connection.execute(
                insert(sessions).values(
                    id=identifier,
                    created_at=1.0,
                    updated_at=1.0,
                    progression_id="p",
                    invocation_id="inv-run1",
                    total_cost_usd=cost,
                    input_tokens=tokens_in,
                    output_tokens=tokens_out,
                    provider=provider,
                    status="completed",
                )
            )

    await db.write(work)
    assert await scheduling.sum_schedule_spend("s1") == Spend(0.25, 24, 2)
    assert [run.run_id for run in await scheduling.list_sessions_for_invocation("inv-run1")] == ["a", "b", "c"]


async def test_the_path_of_a_project(db: StateDB, scheduling: SchedulingStore) -> None:
    for name, path in (("with", "/srv/with"), ("without", None)):
        row = {"name": name, "source": "studio", "path": path, "created_at": 1.0, "updated_at": 1.0}
        await db.execute(insert(projects), row)
    assert await scheduling.project_path("with") == "/srv/with"
    assert await scheduling.project_path("without") is None
    assert await scheduling.project_path("none") is None


# --- stores that cannot be written ------------------------------------------------------------------------------------


async def test_without_a_store_nothing_is_due_and_nothing_can_be_claimed(home: Path) -> None:
    store = Store(None, home=home)
    await store.open()
    scheduling = SchedulingStore(store.db, HeldClock(NOW))
    assert await scheduling.next_due_at() is None
    assert await scheduling.list_due(NOW, limit=5) == ()
    assert await scheduling.count_running(None) == 0
    assert await scheduling.sum_schedule_spend("s1") == Spend(0.0, 0, 0)
    schedule = ScheduleRecord("s1", "n", True, "interval", "command", next_fire_at=NOW)
    with pytest.raises(StateUnavailable):
        await scheduling.claim(occurrence(schedule), now=NOW)
    await store.close()


async def test_a_read_only_store_is_not_claimed_from(home: Path, native_file: Path) -> None:
    store = Store(None, home=home, read_only=True)
    await store.open()
    scheduling = SchedulingStore(store.db, HeldClock(NOW))
    schedule = ScheduleRecord("s1", "n", True, "interval", "command", next_fire_at=NOW)
    with pytest.raises(PermissionDenied):
        await scheduling.claim(occurrence(schedule), now=NOW)
    await store.close()
