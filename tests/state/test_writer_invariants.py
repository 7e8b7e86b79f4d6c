"""Rules for whoever writes beside lionagi 0.36, by their numbers: schema, runs and schedules. See the package for the rest."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, select, update

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.ports.lifecycle import StatusChange
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.db import StateDB
from studio_tui.state.schema import (
    branches,
    invocations,
    message_types,
    messages,
    metadata,
    progressions,
    schedule_runs,
    schedules,
    schema_meta,
    sessions,
    status_transitions,
    terminal_deliveries,
)
from studio_tui.state.store import Store
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.scheduling import SchedulingStore
from studio_tui.state.stores.statuses import StatusStore
from tests.builders import NOW, a_branch, a_message, a_run
from tests.fakes.clock import SteeredClock
from tests.interop.fired_store import OPERATOR, new_schedule
from tests.state.files import make_native_file
from tests.state.writers import FIRING, SCHEDULE, Writers, all_writers

MARKERS = ("dispatched_at", "attention_dispositions", "imported_role_label", "session_ended_at")
OFF, ON = "schedule_definition.disabled.manual", "schedule_definition.enabled.observed"


@pytest.fixture
async def writers(db: StateDB) -> Writers:
    return await all_writers(db)


@pytest.fixture
def writes(db: StateDB) -> ScheduleWriteStore:
    return ScheduleWriteStore(db)


async def rows(db: StateDB, table: Table) -> list[dict[str, Any]]:
    return await db.fetch_all(table.select().order_by(*table.primary_key.columns))


async def switch(writes: ScheduleWriteStore, enabled: bool, **values: Any) -> ScheduleRecord:
    given: dict[str, Any] = {"next_fire_at": NOW + 9, "expected_updated_at": None, "reason": "so", "now": NOW, "by": OPERATOR}
    return await writes.set_enabled(SCHEDULE, enabled=enabled, reason_code=ON if enabled else OFF, **{**given, **values})


async def lines_of(db: StateDB, schedule_id: str = SCHEDULE) -> list[dict[str, Any]]:
    line = status_transitions.c
    statement = select(status_transitions).where(line.entity_type == "schedule", line.entity_id == schedule_id)
    return await db.fetch_all(statement.order_by(line.created_at))


# --- schema -----------------------------------------------------------------------------------------------------------


async def test_invariant_01_no_writer_touches_the_record_of_the_schema(writers: Writers, db: StateDB) -> None:
    before = await rows(db, schema_meta)
    assert {row["key"]: row["value"] for row in before if row["key"] in ("version", "lineage")} == {
        "version": "4",
        "lineage": "lionagi",
    }
    await writers.do_everything()
    assert await rows(db, schema_meta) == before


async def test_invariants_02_03_a_store_that_we_make_is_complete(db: StateDB) -> None:
    """Every table, and every mark of what has been done, so that nothing is filled in over our rows."""
    kept = {row["key"]: row["value"] for row in await rows(db, schema_meta)}
    assert kept.pop("created_at").isdigit()
    assert kept == {"version": "4", "lineage": "lionagi", **{f"migration.{name}_backfill": "1" for name in MARKERS}}
    catalogue = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
        "postgresql": "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'",
    }
    assert {row["name"] for row in await db.fetch_all(catalogue[db.dialect])} == metadata.tables.keys()


async def test_invariant_06_every_index_is_there_and_ids_are_text(db: StateDB) -> None:
    catalogue = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'index'",
        "postgresql": "SELECT indexname AS name FROM pg_indexes WHERE schemaname = 'public'",
    }
    names = {row["name"] for row in await db.fetch_all(catalogue[db.dialect])}
    assert {str(index.name) for table in metadata.tables.values() for index in table.indexes} <= names
    if db.dialect == "sqlite":
        assert {f"sqlite_autoindex_{table}_1" for table in ("sessions", "schedule_runs", "dispatch_outbox")} <= names
        made = await db.fetch_all("SELECT sql FROM sqlite_master WHERE type = 'table'")
        assert not any("WITHOUT ROWID" in row["sql"] for row in made)


@pytest.mark.sqlite_only("lionagi reads the stored CREATE text")
@pytest.mark.parametrize(
    ("table", "literal"),
    [
        ("schedules", "'flow_yaml'"),
        ("schedules", "'command'"),
        ("schedules", "'at'"),
        ("invocations", "'completed_empty'"),
        ("schedule_runs", "'waiting_dependency'"),
        ("definitions", "'skill'"),
    ],
)
async def test_invariant_07_checks_are_spelled_as_lionagi_looks_for_them(db: StateDB, table: str, literal: str) -> None:
    row = await db.fetch_one("SELECT sql FROM sqlite_master WHERE name = :name", {"name": table})
    assert row is not None
    assert literal in row["sql"]


@pytest.mark.sqlite_only("a checkpoint of a file")
async def test_invariant_08_an_open_and_a_close_do_not_vacuum(tmp_path: Path) -> None:
    """Pages of deleted rows stay where they are, and the format of the file stays what it is."""
    path = tmp_path / "state.db"
    make_native_file(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TABLE zz (x); INSERT INTO zz VALUES (zeroblob(400000)); DROP TABLE zz;")
    facts = ("freelist_count", "page_count", "user_version", "application_id", "auto_vacuum", "journal_mode")

    def found() -> list[Any]:
        with closing(sqlite3.connect(path)) as connection:
            return [connection.execute(f"PRAGMA {fact}").fetchone()[0] for fact in facts]

    before = found()
    assert before[0] > 50
    store = Store(path, home=tmp_path)
    await store.open()
    await a_run(store.db)
    await store.close()
    assert found() == before


# --- runs and messages ------------------------------------------------------------------------------------------------


async def test_invariants_12_15_27_to_32_no_writer_touches_what_a_run_writes(writers: Writers, db: StateDB) -> None:
    """No run, message, branch or list is made or deleted, none is linked to an invocation, and no class gets a number."""
    await a_branch(db, "r1", message_ids=[await a_message(db)])
    counted = select(invocations.c.id, invocations.c.session_count)
    linked = select(sessions.c.id, sessions.c.invocation_id, sessions.c.first_msg_id, sessions.c.last_msg_id)
    tables = (messages, progressions, branches, message_types, terminal_deliveries)
    before = [await rows(db, table) for table in tables], await db.fetch_all(linked), await db.fetch_all(counted)
    await writers.do_everything()
    after = [await rows(db, table) for table in tables], await db.fetch_all(linked), await db.fetch_all(counted)
    assert after[:2] == before[:2]
    assert {row["session_count"] for row in after[2]} == {0}


async def test_invariant_13_json_that_must_be_there_has_its_kind(writers: Writers, db: StateDB) -> None:
    await writers.do_everything()
    found = await db.fetch_all("SELECT CAST(trigger_context AS text) AS c, CAST(action_args AS text) AS a FROM schedule_runs")
    assert len(found) == 2
    for row in found:
        assert isinstance(json.loads(row["c"]), dict)
        assert isinstance(json.loads(row["a"]), list)
    plays = await db.fetch_all("SELECT CAST(depends_on AS text) AS d FROM plays WHERE name = 'made'")
    assert plays == [{"d": '["build"]'}]


@pytest.mark.parametrize("status", ["Failed", "done", "", "stale"])
async def test_invariant_22_a_run_gets_no_status_that_nobody_knows(db: StateDB, status: str) -> None:
    """The column takes any text."""
    run_id = await a_run(db, status="running")
    change = StatusChange("session", run_id, status, "run.failed.exception", "", "admin", "op")
    with pytest.raises(ValidationFailure):
        await StatusStore(db, SteeredClock(at=NOW)).change(change)
    assert await db.fetch_one(select(sessions.c.status)) == {"status": "running"}


@pytest.mark.parametrize("status", ["failed", "aborted", "cancelled"])
async def test_invariant_23_a_run_that_ends_has_an_end(db: StateDB, status: str) -> None:
    """The one-time completion of missing ends does not come again. A guessed end has no length."""
    measured, guessed = await a_run(db, status="running"), await a_run(db, status="running")
    statuses = StatusStore(db, SteeredClock(at=NOW + 5))
    reason = {"failed": "run.failed.exception", "aborted": "run.aborted.user", "cancelled": "run.cancelled.manual_kill"}[status]
    assert await statuses.change(StatusChange("session", measured, status, reason, "", "admin", "op"))
    extra = {"ended_at": NOW - 1, "ended_at_is_approximate": 1, "duration_ms": 7.0}
    assert await statuses.change(StatusChange("session", guessed, status, reason, "", "admin", "op", extra=extra))
    column = sessions.c
    statement = select(column.id, column.ended_at, column.ended_at_is_approximate, column.duration_ms)
    found = {row.pop("id"): tuple(row.values()) for row in await db.fetch_all(statement)}
    assert found == {measured: (NOW + 5, 0, 65_000.0), guessed: (NOW - 1, 1, None)}


# --- schedules --------------------------------------------------------------------------------------------------------


async def test_invariant_35_every_change_of_a_definition_has_its_line(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(new_schedule(SCHEDULE, "echo"), now=NOW, by=OPERATOR)
    await switch(writes, False, now=NOW + 1)
    await switch(writes, True, now=NOW + 2)
    by_itself = "schedule_definition.disabled.max_runs"
    assert await SchedulingStore(db, SteeredClock(at=NOW)).disable(SCHEDULE, reason_code=by_itself, reason="3 of 3", now=NOW + 3)
    await writes.delete_schedule(SCHEDULE, expected_updated_at=None, although_running=False, now=NOW + 4, by=OPERATOR)
    lines = await lines_of(db)
    assert [(line["previous_status"], line["status"]) for line in lines] == [
        (None, "enabled"),
        ("enabled", "disabled"),
        ("disabled", "enabled"),
        ("enabled", "disabled"),
        ("disabled", "deleted"),
    ]
    assert all(line["reason_code"].startswith("schedule_definition.") for line in lines)
    assert [line["metadata"]["provenance"]["origin"] for line in lines] == ["cli", "cli", "cli", "scheduler", "cli"]
    assert {line["metadata"]["schedule_name"] for line in lines} == {"echo"}


async def test_invariant_36_the_id_of_a_deleted_schedule_is_used_up(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(new_schedule(SCHEDULE, "echo"), now=NOW, by=OPERATOR)
    await writes.delete_schedule(SCHEDULE, expected_updated_at=None, although_running=False, now=NOW, by=OPERATOR)
    with pytest.raises(Conflict, match="or did once"):
        await writes.create_schedule(new_schedule(SCHEDULE, "other"), now=NOW, by=OPERATOR)
    with pytest.raises(NotFound):
        await switch(writes, False)
    assert await rows(db, schedules) == []


@pytest.mark.parametrize("now", [NOW, NOW - 3600])
async def test_invariant_37_every_edit_moves_the_version(db: StateDB, writes: ScheduleWriteStore, now: float) -> None:
    """Also while the clock stands or was set back: the next writer compares with it."""
    made = await writes.create_schedule(new_schedule(SCHEDULE, "echo"), now=NOW, by=OPERATOR)
    versions = [made.updated_at or 0.0]
    versions.append((await switch(writes, False, now=now)).updated_at or 0.0)
    patched = await writes.patch_schedule(SCHEDULE, {"interval_sec": 90}, expected_updated_at=versions[-1], now=now)
    versions.append(patched.updated_at or 0.0)
    versions.append((await switch(writes, True, now=now)).updated_at or 0.0)
    assert versions == sorted(set(versions))
    moments = [line["created_at"] for line in await lines_of(db)]
    assert moments == sorted(set(moments))


async def test_invariant_38_only_a_launch_looks_like_one(writers: Writers, db: StateDB) -> None:
    """A running firing without the instant of its launch is fired again by the next daemon: ours lasts until it is launched."""
    scheduling = SchedulingStore(db, writers.clock)
    waiting = []
    for act in await writers.acts():
        await act()
        waiting.append([row.run_id for row in await scheduling.list_undispatched(older_than=NOW + 1)])
    assert [found for found in waiting if found] == [[FIRING]]


async def test_invariant_39_no_writer_puts_work_into_the_queue(writers: Writers, db: StateDB) -> None:
    """A queued task of no schedule is work that somebody will do."""
    await writers.do_everything()
    found = await db.fetch_all(select(schedule_runs.c.schedule_id, schedule_runs.c.status))
    assert {row["schedule_id"] for row in found} == {SCHEDULE}
    assert "queued" not in {row["status"] for row in found}


async def test_invariant_40_the_next_instant_is_compared_before_it_is_moved(db: StateDB, writes: ScheduleWriteStore) -> None:
    await writes.create_schedule(new_schedule(SCHEDULE, "echo"), now=NOW, by=OPERATOR)
    scheduling = SchedulingStore(db, SteeredClock(at=NOW))
    seen = await scheduling.get_schedule(SCHEDULE)
    assert seen is not None
    moved = update(schedules).values(next_fire_at=NOW + 60)
    await db.write(lambda connection: connection.execute(moved))
    assert not await scheduling.arm(seen, NOW + 1, zone=None, zone_source=None)
    assert await db.fetch_one(select(schedules.c.next_fire_at)) == {"next_fire_at": NOW + 60}
    await switch(writes, False, next_fire_at=NOW + 60)
    await switch(writes, True, next_fire_at=NOW + 120)
    assert await db.fetch_one(select(schedules.c.next_fire_at)) == {"next_fire_at": NOW + 120}


async def test_invariant_41_switches_are_numbers_and_lists_are_lists(db: StateDB, writes: ScheduleWriteStore) -> None:
    new = new_schedule(SCHEDULE, "echo")
    kept = {name: value for name, value in new.values.items() if name != "action_command_args"}
    await writes.create_schedule(type(new)(kept), now=NOW, by=OPERATOR)
    texts = "CAST(action_extra_args AS text) AS extra, CAST(action_command_args AS text) AS args"
    assert await db.fetch_one(f"SELECT enabled, {texts} FROM schedules") == {"enabled": 1, "extra": "[]", "args": "[]"}
    await switch(writes, False)
    row = await db.fetch_one("SELECT enabled FROM schedules")
    assert row is not None
    assert (type(row["enabled"]), row["enabled"]) == (int, 0)


async def test_invariant_42_a_name_is_one_over_all_projects(db: StateDB, writes: ScheduleWriteStore) -> None:
    first = new_schedule(SCHEDULE, "echo")
    await writes.create_schedule(type(first)({**first.values, "action_project": "a"}), now=NOW, by=OPERATOR)
    other = new_schedule("b" * 12, "echo")
    with pytest.raises(Conflict, match="the name echo is taken"):
        await writes.create_schedule(type(other)({**other.values, "action_project": "b"}), now=NOW, by=OPERATOR)
    assert len(await rows(db, schedules)) == 1
    assert await lines_of(db, "b" * 12) == []
