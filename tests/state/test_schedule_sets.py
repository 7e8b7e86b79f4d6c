"""Sets written whole or not at all, and only onto what the plan saw; on both databases."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from studio_tui.application.errors import Conflict, StateUnavailable
from studio_tui.application.ports import ActProvenance, NewSchedule
from studio_tui.application.ports.schedule_sets import DeclaredRow, RowChange, SetWrite
from studio_tui.state.db import StateDB
from studio_tui.state.schema import schedules
from studio_tui.state.store import Store
from studio_tui.state.stores.schedule_sets import ScheduleSetStore
from tests.builders import a_schedule, run_sql
from tests.state.raw import raw_rows

NOW = 1_796_040_975.5
BY = ActProvenance("cli", "op", "/srv/work")
OWNER = "atlas/nightly"


@pytest.fixture
def sets(db: StateDB) -> ScheduleSetStore:
    return ScheduleSetStore(db)


def new(schedule_id: str, name: str, **values: object) -> NewSchedule:
    return NewSchedule(
        {
            "id": schedule_id,
            "name": name,
            "enabled": 1,
            "trigger_type": "interval",
            "interval_sec": 60,
            "action_kind": "command",
            "action_command": "date",
            "owner_key": OWNER,
            "managed_by": "declaration",
            "authored_spec": {"a": 1},
            "resolved_target": {"target": {"args": {}}},
            "resolved_digest": "d1",
            **values,
        }
    )


async def seen(sets: ScheduleSetStore, *names: str) -> dict[str, float | None]:
    rows = await sets.rows_of_set(OWNER, names)
    return {row.schedule.schedule_id: row.schedule.updated_at for row in rows}


async def owned(db: StateDB, name: str, **values: Any) -> str:
    columns: dict[str, Any] = {"owner_key": OWNER, "managed_by": "declaration", "resolved_digest": "d1", **values}
    return await a_schedule(db, name=name, **columns)


async def test_a_set_is_written_with_its_history(db: StateDB, sets: ScheduleSetStore) -> None:
    kept = await owned(db, "atlas/kept", enabled=0)
    gone = await owned(db, "atlas/gone")
    taken = await a_schedule(db, name="bare")
    names = ("atlas/new", "atlas/kept", "bare")
    changes = [
        RowChange(kept, {"enabled": 1, "description": "again"}),
        RowChange(gone, {"enabled": 0}, "omitted"),
        RowChange(taken, {"name": "atlas/bare", "owner_key": OWNER, "managed_by": "declaration"}),
    ]
    write = SetWrite(OWNER, names, await seen(sets, *names), [new("n" * 12, "atlas/new")], changes)
    await sets.write_set(write, now=NOW, by=BY)
    rows = {row.schedule.name: row for row in await sets.rows_of_set(OWNER, ())}
    assert sorted(rows) == ["atlas/bare", "atlas/gone", "atlas/kept", "atlas/new"]
    assert {name: row.schedule.enabled for name, row in rows.items()} == {
        "atlas/bare": True,
        "atlas/gone": False,
        "atlas/kept": True,
        "atlas/new": True,
    }
    assert (rows["atlas/new"].authored, rows["atlas/new"].digest) == ({"a": 1}, "d1")
    lines = {line["entity_id"]: line for line in await raw_rows(db, "status_transitions")}
    told = {key: (line["previous_status"], line["status"], line["reason_code"]) for key, line in lines.items()}
    assert told == {
        "n" * 12: (None, "enabled", "schedule_definition.created.observed"),
        kept: ("disabled", "enabled", "schedule_definition.enabled.observed"),
        gone: ("enabled", "disabled", "schedule_definition.disabled.omitted"),
    }
    metadata = json.loads(lines[gone]["metadata"])
    assert metadata["declaration"] == {"owner_key": OWNER, "member_id": gone, "cause": "omitted"}
    assert (metadata["provenance"]["origin"], lines[gone]["source"], lines[gone]["actor"]) == ("declaration", "declaration", "op")


DISTURBANCES = {
    "one was changed": "UPDATE schedules SET updated_at = updated_at + 1 WHERE name = 'atlas/kept'",
    "one was deleted": "DELETE FROM schedules WHERE name = 'atlas/kept'",
    "one was given away": "UPDATE schedules SET owner_key = 'x/y', updated_at = updated_at + 1 WHERE name = 'atlas/kept'",
    "one came to the set": "UPDATE schedules SET owner_key = 'atlas/nightly' WHERE name = 'stranger'",
    "a name was taken": "UPDATE schedules SET name = 'atlas/new' WHERE name = 'stranger'",
}


@pytest.mark.parametrize("what", DISTURBANCES)
async def test_nothing_is_written_when_what_the_plan_saw_is_not_so_any_more(
    what: str, db: StateDB, sets: ScheduleSetStore
) -> None:
    kept = await owned(db, "atlas/kept")
    await a_schedule(db, name="stranger")
    names = ("atlas/new", "atlas/kept")
    write = SetWrite(
        OWNER, names, await seen(sets, *names), [new("n" * 12, "atlas/new")], [RowChange(kept, {"description": "x"})]
    )
    await run_sql(db, DISTURBANCES[what])
    before = await raw_rows(db, "schedules")
    with pytest.raises(Conflict, match="nothing was written"):
        await sets.write_set(write, now=NOW, by=BY)
    assert await raw_rows(db, "schedules") == before
    assert await raw_rows(db, "status_transitions") == []


async def test_a_fault_in_the_middle_takes_back_what_was_written_before_it(db: StateDB, sets: ScheduleSetStore) -> None:
    kept = await owned(db, "atlas/kept")
    broken = [new("a" * 12, "atlas/a"), new("b" * 12, "atlas/b", trigger_type="never")]
    write = SetWrite(OWNER, ("atlas/a", "atlas/b"), {kept: (await seen(sets))[kept]}, broken)
    with pytest.raises(StateUnavailable, match="refused the change"):
        await sets.write_set(write, now=NOW, by=BY)
    assert [row.schedule.name for row in await sets.rows_of_set(OWNER, ())] == ["atlas/kept"]
    assert await raw_rows(db, "status_transitions") == []


async def test_of_two_who_write_one_set_at_once_one_does(db: StateDB, sets: ScheduleSetStore) -> None:
    names = ("atlas/new",)
    writes = [SetWrite(OWNER, names, {}, [new(letter * 12, "atlas/new", description=letter)]) for letter in "ab"]
    ended = await asyncio.gather(*(sets.write_set(write, now=NOW, by=BY) for write in writes), return_exceptions=True)
    assert sorted(type(end).__name__ for end in ended) == ["Conflict", "NoneType"]
    assert len(await sets.rows_of_set(OWNER, ())) == 1
    assert len(await raw_rows(db, "status_transitions")) == 1


async def test_a_name_that_is_being_taken_at_that_moment_is_somebody_elses(
    store: Store, sets: ScheduleSetStore, home: Path, location: str | None
) -> None:
    other = Store(location, home=home)
    await other.open()
    taken, release = asyncio.Event(), asyncio.Event()

    async def take(connection: AsyncConnection) -> None:
        values = {"id": "x" * 12, "name": "atlas/new", "trigger_type": "at", "action_kind": "command"}
        await connection.execute(insert(schedules).values(**values, created_at=NOW, updated_at=NOW))
        taken.set()
        await release.wait()

    holder = asyncio.create_task(other.db.write(take))
    await taken.wait()
    writing = asyncio.create_task(
        sets.write_set(SetWrite(OWNER, ("atlas/new",), {}, [new("n" * 12, "atlas/new")]), now=NOW, by=BY)
    )
    waiting = "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    while location is not None and (await store.db.fetch_all(waiting))[0]["n"] == 0:  # noqa: ASYNC110 - the server tells nobody
        await asyncio.sleep(0.01)
    release.set()
    await holder
    with pytest.raises(Conflict, match="nothing was written"):
        await writing
    assert [row.schedule.schedule_id for row in await sets.rows_of_set(OWNER, ("atlas/new",))] == ["x" * 12]
    await other.close()


async def test_rows_are_told_apart_by_who_made_them(db: StateDB, sets: ScheduleSetStore) -> None:
    await owned(db, "b")
    await a_schedule(db, name="a", managed_by="cli")
    await a_schedule(db, name="c")
    await run_sql(db, "UPDATE schedules SET authored_spec = '[1]' WHERE name = 'b'")

    def names(rows: tuple[DeclaredRow, ...]) -> list[str]:
        return [row.schedule.name for row in rows]

    managed = await sets.declared_rows(managed=True)
    assert (names(managed), names(await sets.declared_rows(managed=False))) == (["a", "b"], ["c"])
    assert managed[1].authored is None
