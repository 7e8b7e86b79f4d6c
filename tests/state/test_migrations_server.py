"""Upgrades on PostgreSQL: what is planned and said, and an older store on a real server, with rows."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Column
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Dialect

from studio_tui.application.errors import Conflict, PermissionDenied
from studio_tui.state.migrations.columns import addition
from studio_tui.state.migrations.plan import is_older, steps_of
from studio_tui.state.migrations.shape import Shape
from studio_tui.state.schema import LINEAGE, SCHEMA_VERSION, metadata
from studio_tui.state.schema.seeds import MESSAGE_TYPES, MIGRATION_MARKERS
from studio_tui.state.store import Store
from tests.interop.peer_call import ask_peer
from tests.state.older import LATE_COLUMNS, MARKERS, late_columns

DIALECTS: dict[str, Dialect] = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}
CHECKS = {
    "ck_sessions_invocation_kind": "invocation_kind = ANY (ARRAY['agent'::text, 'show-play'::text, 'engine'::text])",
    "ck_sessions_source_kind": "source_kind = ANY (ARRAY['live'::text, 'imported_fs'::text, 'imported_codex'::text])",
}


def a_shape(**changes: object) -> Shape:
    """A complete store on PostgreSQL."""
    meta = {"version": SCHEMA_VERSION, "lineage": LINEAGE, "created_at": "1", **dict.fromkeys(MIGRATION_MARKERS, "1")}
    values: dict[str, object] = {
        "dialect": "postgresql",
        "tables": dict.fromkeys(metadata.tables, ""),
        "columns": {name: frozenset(table.columns.keys()) for name, table in metadata.tables.items()},
        "indexes": frozenset(str(index.name) for table in metadata.tables.values() for index in table.indexes),
        "meta": meta,
        "message_types": frozenset(range(len(MESSAGE_TYPES))),
        "checks": CHECKS,
    }
    return Shape(**{**values, **changes})  # type: ignore[arg-type]


def column(table: str, name: str) -> Column[object]:
    return metadata.tables[table].columns[name]


@pytest.mark.parametrize("database", DIALECTS)
def test_an_added_column_has_its_check_its_reference_and_no_default_of_new_rows(database: str) -> None:
    said = addition(column("sessions", "source_kind"), DIALECTS[database])
    assert said == (
        "source_kind TEXT CONSTRAINT ck_sessions_source_kind CHECK "
        "(source_kind IS NULL OR source_kind IN ('live','imported_fs','imported_codex'))"
    )
    said = addition(column("engine_runs", "parent_session_id"), DIALECTS[database])
    assert said == "parent_session_id TEXT REFERENCES sessions (id) ON DELETE SET NULL"
    assert (
        addition(column("sessions", "progression_id"), DIALECTS[database]) == "progression_id TEXT REFERENCES progressions (id)"
    )
    assert (
        addition(column("schedule_runs", "lease_attempts"), DIALECTS[database]) == "lease_attempts INTEGER DEFAULT '0' NOT NULL"
    )
    said = addition(column("attention_disposition_history", "sequence"), DIALECTS[database])
    assert said == "sequence INTEGER DEFAULT '0' NOT NULL"


def test_times_keep_their_precision_on_postgresql() -> None:
    """The peer adds them as REAL, which are four bytes there: an epoch in them is wrong by up to a minute."""
    for table in LATE_COLUMNS:
        for name in late_columns(table):
            said = addition(column(table, name), DIALECTS["postgresql"])
            assert not re.search(r"\bREAL\b", said), said
    assert addition(column("sessions", "updated_at"), DIALECTS["postgresql"]) == "updated_at FLOAT"


def test_a_complete_store_needs_nothing() -> None:
    assert steps_of(a_shape()) == []
    assert not is_older(a_shape())


@pytest.mark.parametrize(
    ("name", "word"), [("ck_sessions_invocation_kind", "engine"), ("ck_sessions_source_kind", "imported_codex")]
)
def test_a_narrow_check_is_widened_in_place(name: str, word: str) -> None:
    narrow = a_shape(checks={**CHECKS, name: CHECKS[name].replace(f", '{word}'::text", "")})
    (step,) = steps_of(narrow)
    assert step.backup_before is None
    (change,) = step.changes
    assert (change.kind, change.table, change.name) == ("constraint", "sessions", name)
    assert word in change.detail
    assert is_older(narrow)


def test_a_check_that_is_not_there_allows_everything_already() -> None:
    assert steps_of(a_shape(checks={})) == []


def test_no_table_is_made_anew() -> None:
    columns = {name: frozenset(table.columns.keys()) for name, table in metadata.tables.items()}
    older = a_shape(columns={**columns, "sessions": columns["sessions"] - {"run_id"}}, indexes=frozenset())
    kinds = {change.kind for step in steps_of(older) for change in step.changes}
    assert kinds == {"column", "index"}


# --- on a real server ---------------------------------------------------------------------------------------------------

Server = asyncpg.Connection
ROWS = (
    "INSERT INTO progressions VALUES ('p', 1, '[]'), ('q', 1, '[]')",
    "INSERT INTO sessions"
    " (id, created_at, updated_at, progression_id, status, source_kind, agent_name, duration_ms, node_metadata)"
    " VALUES ('s', 1796000000.25, 1796000000.5, 'p', 'completed', 'imported_codex', 'codex', 7, '{\"pid\": 1}'),"
    " ('t', 1796000001.25, 1796000001.5, 'q', 'running', 'live', 'reviewer', NULL, 'null')",
    "INSERT INTO branches (id, created_at, session_id, progression_id, agent_name) VALUES ('b', 1, 's', 'p', 'codex')",
    "INSERT INTO schedules (id, name, trigger_type, action_kind, created_at, updated_at)"
    " VALUES ('c', 'n', 'cron', 'agent', 1, 1)",
    "INSERT INTO schedule_runs (id, schedule_id, trigger_context, action_kind, action_args, status, fired_at, created_at)"
    " VALUES ('r', 'c', '{}', 'agent', '[]', 'running', 1796000000.75, 1)",
    "INSERT INTO engine_runs (id, kind, spec_json, started_at, session_id) VALUES ('e', 'review', '{}', 1, 's')",
    "INSERT INTO attention_dispositions VALUES ('i', 'acknowledged', NULL, 1, 1, NULL, 'op', 'failed', 1)",
    "INSERT INTO attention_disposition_history VALUES ('h1', 'i', 9, NULL, 'acknowledged', NULL, 'op', 'failed', 2),"
    " ('h2', 'i', 8, NULL, 'open', NULL, 'op', 'failed', 1)",
)
NARROW = {
    "ck_sessions_source_kind": "source_kind IS NULL OR source_kind IN ('live','imported_fs')",
    "ck_sessions_invocation_kind": "invocation_kind IS NULL OR invocation_kind IN ('agent','play','flow','fanout','show-play')",
}
GIVEN = {"id", "created_at", "source_kind", "invocation_kind", "status", "progression_id", "updated_at", "session_id"}
"""Late columns that the older store of these tests has all the same: without them there would be nothing to see."""


@pytest.fixture
async def server(postgres_url: str) -> AsyncIterator[Server]:
    """A connection of another program to the database of the store, which has rows."""
    connection = await asyncpg.connect(postgres_url)
    for statement in ROWS:
        await connection.execute(statement)
    yield connection
    await connection.close()


async def _make_older(server: Server, *, narrow: bool = True) -> None:
    for table in LATE_COLUMNS:
        for name in set(late_columns(table)) - GIVEN - {"agent_name"}:
            await server.execute(f"ALTER TABLE {table} DROP COLUMN {name} CASCADE")
    for table in ("terminal_deliveries", "workers", "engine_defs"):
        await server.execute(f"DROP TABLE {table}")
    await server.execute("DROP INDEX idx_artifacts_natural_key_both")
    await server.execute("DELETE FROM schema_meta WHERE key LIKE 'migration.%' OR key = 'lineage'")
    if narrow:
        await server.execute("UPDATE sessions SET source_kind = 'imported_fs' WHERE source_kind = 'imported_codex'")
        for name, rule in NARROW.items():
            await server.execute(f"ALTER TABLE sessions DROP CONSTRAINT {name}, ADD CONSTRAINT {name} CHECK ({rule})")


async def _described(server: Server) -> dict[str, set[tuple[Any, ...]]]:
    """Columns with their types, constraints and indexes."""
    asked = {
        "columns": "SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns"
        " WHERE table_schema = 'public'",
        "constraints": "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE connamespace = 'public'::regnamespace",
        "indexes": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    }
    return {name: {tuple(row) for row in await server.fetch(query)} for name, query in asked.items()}


async def _one(server: Server, query: str) -> tuple[Any, ...]:
    return tuple(await server.fetchrow(query))


async def _upgrade(url: str, home: Path) -> Store:
    store = Store(url, home=home)
    await store.open()
    await store.migrate(None)
    return store


async def test_an_older_store_equals_a_new_one_after_its_upgrade(server: Server, postgres_url: str, home: Path) -> None:
    fresh = await _described(server)
    await _make_older(server)
    older = await _described(server)
    store = Store(postgres_url, home=home)
    await store.open()
    assert store.condition().mode == "read_only"
    assert "`studio-tui state migrate` upgrades it" in (store.condition().reason or "")
    plan = await store.plan()
    assert {change.kind for change in plan.changes} == {"column", "table", "index", "constraint", "backfill", "record"}
    assert (plan.obstacles, plan.backups) == ((), ())
    assert await _described(server) == older
    report = await store.migrate(None)
    assert report.changes == plan.changes
    assert store.condition().mode == "ready"
    assert (await store.plan()).changes == ()
    await store.close()
    assert await _described(server) == fresh


async def test_rows_are_kept_and_filled_in(server: Server, postgres_url: str, home: Path) -> None:
    await _make_older(server, narrow=False)
    await (await _upgrade(postgres_url, home)).close()
    ended = (
        "SELECT created_at, updated_at, status, ended_at, ended_at_is_approximate, agent_name, node_metadata::text FROM sessions"
    )
    assert await _one(server, f"{ended} WHERE id = 's'") == (
        1796000000.25,
        1796000000.5,
        "completed",
        1796000000.5,
        1,
        None,
        '{"pid": 1}',
    )
    assert await _one(server, f"{ended} WHERE id = 't'") == (1796000001.25, 1796000001.5, "running", None, 0, "reviewer", "null")
    assert await _one(server, "SELECT agent_name FROM branches") == (None,)
    assert await _one(server, "SELECT dispatched_at FROM schedule_runs") == (1796000000.75,)
    assert await _one(server, "SELECT parent_session_id FROM engine_runs") == ("s",)
    history = await server.fetch("SELECT id, sequence FROM attention_disposition_history ORDER BY sequence")
    assert [tuple(row) for row in history] == [("h2", 1), ("h1", 2)]
    assert await _one(server, "SELECT revision FROM attention_dispositions") == (2,)
    assert await _one(server, "SELECT * FROM attention_disposition_revisions") == ("i", 2)
    marks = {row["key"] for row in await server.fetch("SELECT key FROM schema_meta")}
    assert marks >= {*MARKERS, "lineage", "version", "created_at"}


async def test_a_store_with_a_narrow_check_only_is_an_older_one(server: Server, postgres_url: str, home: Path) -> None:
    await server.execute("UPDATE sessions SET source_kind = 'live'")
    name = "ck_sessions_source_kind"
    await server.execute(f"ALTER TABLE sessions DROP CONSTRAINT {name}, ADD CONSTRAINT {name} CHECK ({NARROW[name]})")
    store = Store(postgres_url, home=home)
    await store.open()
    assert "It is an older store" in (store.condition().reason or "")
    assert [change.name for change in (await store.plan()).changes] == [name, "parent_session_id"]
    await store.migrate(None)
    assert store.condition().mode == "ready"
    await store.close()
    await server.execute("UPDATE sessions SET source_kind = 'imported_codex'")


async def test_two_at_once_wait_for_each_other(server: Server, postgres_url: str, home: Path) -> None:
    fresh = await _described(server)
    await _make_older(server)
    stores = await asyncio.gather(_upgrade(postgres_url, home), _upgrade(postgres_url, home))
    for store in stores:
        assert (await store.plan()).changes == ()
        await store.close()
    assert await _described(server) == fresh


async def test_rows_that_a_unique_index_would_refuse_are_told_before(server: Server, postgres_url: str, home: Path) -> None:
    await _make_older(server)
    await server.execute(
        "DROP INDEX idx_artifacts_natural_key_ses_only;"
        " INSERT INTO artifacts (id, session_id, created_at, updated_at, kind, name, content)"
        " VALUES ('a', 's', 1, 1, 'report', 'x', '{}'), ('b', 's', 1, 1, 'report', 'x', '{}')"
    )
    older = await _described(server)
    with pytest.raises(Conflict, match="share what must be unique"):
        await _upgrade(postgres_url, home)
    assert await _described(server) == older


async def test_a_store_of_somebody_else_is_not_upgraded(server: Server, postgres_url: str, home: Path) -> None:
    await _make_older(server)
    await server.execute("INSERT INTO schema_meta VALUES ('lineage', 'khive')")
    older = await _described(server)
    with pytest.raises(PermissionDenied, match="khive"):
        await _upgrade(postgres_url, home)
    assert await _described(server) == older


@pytest.mark.interop
async def test_the_peer_opens_it_without_a_further_change(server: Server, postgres_url: str, home: Path) -> None:
    await _make_older(server)
    await (await _upgrade(postgres_url, home)).close()
    ours = await _described(server)
    body = """
async with StateDB(url=ARGUMENTS["url"]) as db:
    return [row["id"] for row in await db.list_schedules()]
"""
    assert await asyncio.to_thread(ask_peer, home, body, url=postgres_url) == ["c"]
    assert await _described(server) == ours
