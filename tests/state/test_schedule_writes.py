"""Schedules made and switched: every column as the peer writes it, every change with its line of history."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, StateUnavailable
from studio_tui.application.ports import ActProvenance, NewSchedule, Spend, Vanishing
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.db import StateDB
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.schedules import ScheduleReadStore
from tests.state.raw import raw_row, raw_rows

REAL: dict[str, Any] = json.loads((Path(__file__).parent.parent / "data" / "fire-rows.json").read_text())
NOW = 1_796_040_975.5
UNKNOWN = ActProvenance("unavailable")
OPERATOR = ActProvenance("cli", "op", "/srv/work")
ENABLED = "schedule_definition.enabled.observed"
DISABLED = "schedule_definition.disabled.manual"


@pytest.fixture
def writes(db: StateDB) -> ScheduleWriteStore:
    return ScheduleWriteStore(db)


def echo(**values: object) -> NewSchedule:
    return NewSchedule(
        {
            "id": "efa6d580415d",
            "name": "b-interval-echo",
            "trigger_type": "interval",
            "interval_sec": 5,
            "action_kind": "command",
            "action_command": "echo",
            "action_command_args": ["hello", "{{fired_at}}"],
            "next_fire_at": NOW + 5,
            **values,
        }
    )


async def switch(writes: ScheduleWriteStore, enabled: bool, **options: Any) -> ScheduleRecord:
    arguments: dict[str, Any] = {
        "next_fire_at": None,
        "expected_updated_at": None,
        "reason_code": ENABLED if enabled else DISABLED,
        "reason": None if enabled else "stop it",
        "now": NOW + 10,
        "by": UNKNOWN,
        **options,
    }
    return await writes.set_enabled("efa6d580415d", enabled=enabled, **arguments)


async def history(db: StateDB) -> list[dict[str, Any]]:
    return await raw_rows(db, "status_transitions")


async def test_a_new_schedule_is_the_row_that_the_peer_would_write(db: StateDB, writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    assert (made.schedule_id, made.name, made.enabled, made.next_fire_at) == ("efa6d580415d", "b-interval-echo", True, NOW + 5)
    assert made.defects == ()
    row = await raw_row(db, "schedules")
    real = {**REAL["schedule"], "created_at": NOW, "updated_at": NOW, "next_fire_at": NOW + 5, "last_fired_at": None}
    assert list(row) == list(real)
    assert row == real
    assert {column: type(value) for column, value in row.items()} == {column: type(value) for column, value in real.items()}


async def test_the_history_of_a_schedule_is_that_of_a_real_one(db: StateDB, writes: ScheduleWriteStore) -> None:
    real = [line for line in REAL["definition"] if line["source"] == "unavailable"]
    schedule_id = real[0]["entity_id"]
    await writes.create_schedule(echo(id=schedule_id, name="b-missing-exe"), now=NOW, by=UNKNOWN)
    for enabled, line in ((False, real[2]), (True, real[1])):
        await writes.set_enabled(
            schedule_id,
            enabled=enabled,
            next_fire_at=None,
            expected_updated_at=None,
            reason_code=line["reason_code"],
            reason=line["reason_summary"] or None,
            now=NOW,
            by=UNKNOWN,
        )
    ours = await history(db)
    for line, model in zip(ours, (real[0], real[2], real[1]), strict=True):
        assert list(line) == list(model)
        assert {key: value for key, value in line.items() if key not in ("id", "created_at")} == {
            key: value for key, value in model.items() if key not in ("id", "created_at")
        }


async def test_a_schedule_may_begin_turned_off(db: StateDB, writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(enabled=0, next_fire_at=None), now=NOW, by=OPERATOR)
    assert not made.enabled
    (line,) = await history(db)
    assert (line["status"], line["reason_code"], line["source"], line["actor"]) == (
        "disabled",
        "schedule_definition.created.observed",
        "cli",
        "op",
    )


async def test_a_taken_name_changes_nothing(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    with pytest.raises(Conflict, match="b-interval-echo is taken"):
        await writes.create_schedule(echo(id="another"), now=NOW, by=UNKNOWN)
    assert len(await db.fetch_all("SELECT id FROM schedules")) == 1
    assert len(await history(db)) == 1


async def test_of_two_schedules_of_one_name_one_is_made(writes: ScheduleWriteStore) -> None:
    results = await asyncio.gather(
        *(writes.create_schedule(echo(id=f"{number:012x}"), now=NOW, by=UNKNOWN) for number in range(4)), return_exceptions=True
    )
    assert sum(isinstance(result, ScheduleRecord) for result in results) == 1
    assert sum(isinstance(result, Conflict) for result in results) == 3


async def test_the_id_of_a_deleted_schedule_is_not_used_again(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    await db.execute("DELETE FROM schedules")
    with pytest.raises(Conflict, match="efa6d580415d"):
        await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)


async def test_an_id_is_found_where_none_is_given(writes: ScheduleWriteStore) -> None:
    values = dict(echo().values)
    del values["id"]
    made = await writes.create_schedule(NewSchedule(values), now=NOW, by=UNKNOWN)
    assert len(made.schedule_id) == 12
    assert int(made.schedule_id, 16) >= 0


async def test_a_value_that_the_schema_refuses_is_not_half_stored(db: StateDB, writes: ScheduleWriteStore) -> None:
    with pytest.raises(StateUnavailable, match="a rule of its schema"):
        await writes.create_schedule(echo(trigger_type="sometimes"), now=NOW, by=UNKNOWN)
    assert await history(db) == []


async def test_turning_off_and_on_compares_the_exact_version(db: StateDB, writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    with pytest.raises(Conflict) as caught:
        await switch(writes, False, expected_updated_at=NOW + 1e-6)
    assert (caught.value.expected, caught.value.actual) == (repr(NOW + 1e-6), repr(NOW))
    off = await switch(writes, False, expected_updated_at=made.updated_at)
    assert (off.enabled, off.next_fire_at, off.updated_at) == (False, None, NOW + 10)
    with pytest.raises(Conflict):
        await switch(writes, True, expected_updated_at=made.updated_at)
    on = await switch(writes, True, expected_updated_at=off.updated_at, next_fire_at=NOW + 99, now=NOW + 20)
    assert (on.enabled, on.next_fire_at, on.updated_at) == (True, NOW + 99, NOW + 20)
    lines = await history(db)
    assert [(line["previous_status"], line["status"], line["reason_summary"]) for line in lines] == [
        (None, "enabled", ""),
        ("enabled", "disabled", "stop it"),
        ("disabled", "enabled", ""),
    ]


async def test_what_is_so_already_is_left_alone(db: StateDB, writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    assert await switch(writes, True, next_fire_at=NOW + 99) == made
    assert len(await history(db)) == 1


async def test_a_schedule_that_is_not_there(writes: ScheduleWriteStore) -> None:
    with pytest.raises(NotFound):
        await switch(writes, True)


# --- changing and deleting --------------------------------------------------------------------------------------------


async def patch(writes: ScheduleWriteStore, seen: float | None, **values: object) -> ScheduleRecord:
    assert seen is not None
    return await writes.patch_schedule("efa6d580415d", values, expected_updated_at=seen, now=NOW + 20)


async def test_a_change_writes_its_columns_a_new_version_and_no_history(db: StateDB, writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    before = await raw_row(db, "schedules")
    changed = await patch(writes, made.updated_at, interval_sec=60, next_fire_at=NOW + 60, rate_limit=None, description="x")
    assert (changed.interval_sec, changed.next_fire_at, changed.updated_at) == (60, NOW + 60, NOW + 20)
    after = {**before, "interval_sec": 60, "next_fire_at": NOW + 60, "description": "x", "updated_at": NOW + 20}
    assert await raw_row(db, "schedules") == after
    assert len(await history(db)) == 1


async def test_two_changes_of_one_moment_are_two_versions(writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    first = await patch(writes, made.updated_at, max_runs=1)
    second = await patch(writes, first.updated_at, max_runs=2)
    assert first.updated_at is not None
    assert second.updated_at is not None
    assert second.updated_at > first.updated_at


async def test_a_change_of_another_version_writes_nothing(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    with pytest.raises(Conflict) as caught:
        await patch(writes, NOW - 1, max_runs=1)
    assert (caught.value.expected, caught.value.actual) == (repr(NOW - 1), repr(NOW))
    assert (await raw_row(db, "schedules"))["max_runs"] is None


async def test_of_two_changes_of_one_version_one_is_made(writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    results = await asyncio.gather(*(patch(writes, made.updated_at, max_runs=n) for n in (1, 2)), return_exceptions=True)
    assert sorted(isinstance(result, Conflict) for result in results) == [False, True]


async def test_a_name_is_changed_unless_it_is_taken(db: StateDB, writes: ScheduleWriteStore) -> None:
    made = await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    await writes.create_schedule(echo(id="other", name="taken"), now=NOW, by=UNKNOWN)
    with pytest.raises(Conflict, match="the name taken is taken"):
        await patch(writes, made.updated_at, name="taken")
    assert (await patch(writes, made.updated_at, name="free")).name == "free"


async def fired(db: StateDB, run_id: str, status: str = "completed", **values: object) -> None:
    row = {"id": run_id, "schedule_id": "efa6d580415d", "status": status, "chain_depth": 0, "fired_at": NOW, "created_at": NOW}
    columns: dict[str, object] = {"trigger_context": "{}", "action_kind": "command", "action_args": "[]", **row, **values}
    marks = ", ".join(f":{name}" for name in columns)
    await db.execute(f"INSERT INTO schedule_runs ({', '.join(columns)}) VALUES ({marks})", columns)


async def message(db: StateDB, run_id: str) -> None:
    columns = {"id": "m1", "kind": "notice", "deliver_to": "ops", "payload": "{}", "next_attempt_at": NOW, "created_at": NOW}
    named = {**columns, "schedule_run_id": run_id}
    await db.execute(
        f"INSERT INTO dispatch_outbox ({', '.join(named)}) VALUES ({', '.join(f':{name}' for name in named)})", named
    )


async def delete(writes: ScheduleWriteStore, **options: Any) -> Vanishing:
    named: dict[str, Any] = {"expected_updated_at": None, "although_running": False, "now": NOW + 30, "by": OPERATOR, **options}
    return await writes.delete_schedule("efa6d580415d", **named)


async def test_a_schedule_goes_with_its_firings_and_leaves_its_history(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    await fired(db, "f1")
    await fired(db, "f2", chain_parent_id="f1", chain_depth=1)
    assert await ScheduleReadStore(db).vanishing("efa6d580415d") == Vanishing(2)
    assert await delete(writes) == Vanishing(2)
    assert await db.fetch_all("SELECT id FROM schedules") == []
    assert await db.fetch_all("SELECT id FROM schedule_runs") == []
    line = (await history(db))[-1]
    assert (line["previous_status"], line["status"], line["reason_code"]) == (
        "enabled",
        "deleted",
        "schedule_definition.deleted.observed",
    )
    assert (line["source"], line["actor"]) == ("cli", "op")
    assert json.loads(line["metadata"])["schedule_name"] == "b-interval-echo"
    with pytest.raises(Conflict, match="belongs to another schedule, or did once"):
        await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)


async def test_what_runs_stands_in_the_way_of_deleting(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    await fired(db, "f1", "running")
    with pytest.raises(Conflict, match="runs now: f1"):
        await delete(writes)
    assert len(await db.fetch_all("SELECT id FROM schedule_runs")) == 1
    assert len(await history(db)) == 1
    assert await delete(writes, although_running=True) == Vanishing(1, ("f1",))


async def test_a_message_that_speaks_of_a_firing_stands_in_the_way(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    await fired(db, "f1")
    await message(db, "f1")
    with pytest.raises(Conflict, match="1 message of the outbox refers to its firings"):
        await delete(writes, although_running=True)
    assert len(await db.fetch_all("SELECT id FROM schedules")) == 1


async def test_another_version_than_the_one_seen_is_not_deleted(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    with pytest.raises(Conflict, match="changed meanwhile"):
        await delete(writes, expected_updated_at=NOW - 1)
    assert await delete(writes, expected_updated_at=NOW) == Vanishing(0)
    with pytest.raises(NotFound):
        await delete(writes)


# --- what explains a schedule -----------------------------------------------------------------------------------------


async def test_what_the_gates_count(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    await writes.create_schedule(echo(id="other", name="other"), now=NOW, by=UNKNOWN)
    await fired(db, "f1", fired_at=NOW - 100)
    await fired(db, "f2", "running", fired_at=NOW - 10)
    await fired(db, "f3", "skipped", fired_at=NOW - 5)
    await fired(db, "step", "running", chain_depth=1, fired_at=NOW - 4)
    await fired(db, "g1", "running", schedule_id="other")
    facts = await ScheduleReadStore(db).gate_facts("efa6d580415d", since=NOW - 60)
    assert (facts.running, facts.executed, facts.fired, facts.running_of_all) == (("f2", "step"), 2, 1, 3)
    assert facts.spend == Spend(0.0, 0, 0)


async def test_the_rows_around_an_instant_and_what_turned_it_off_before(db: StateDB, writes: ScheduleWriteStore) -> None:
    reads = ScheduleReadStore(db)
    await writes.create_schedule(echo(), now=NOW, by=UNKNOWN)
    await switch(writes, False, by=OPERATOR)
    await fired(db, "f1", fired_at=NOW)
    await fired(db, "f2", fired_at=NOW + 9)
    await fired(db, "step", chain_depth=1, fired_at=NOW + 5)
    before, after = await reads.firings_around("efa6d580415d", NOW + 5)
    assert (before and before.run_id, after and after.run_id) == ("f1", "f2")
    assert await reads.firings_around("efa6d580415d", NOW - 1) == (None, before)
    assert (await reads.firings_around("efa6d580415d", NOW + 9))[1] is None
    created = await reads.definition_history("efa6d580415d", before=NOW + 9)
    disabled = await reads.definition_history("efa6d580415d", before=NOW + 10)
    assert (created and created.status, disabled and disabled.status) == ("enabled", "disabled")
    assert (disabled and disabled.reason_summary, disabled and disabled.actor) == ("stop it", "op")
    assert await reads.definition_history("efa6d580415d", before=NOW - 1) is None
