"""Older stores, made out of one that the real lionagi filled: each is upgraded here, keeps every row, equals a fresh store and
what the peer makes of the same older store, and opens there without a further change.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from studio_tui.application.models.state import MigrationReport
from studio_tui.state.store import Store
from tests.interop.peer_call import ask_peer
from tests.state.older import (
    FORMS,
    LATE_COLUMNS,
    MARKERS,
    Maker,
    Rows,
    as_before,
    described,
    late_columns,
    plainly,
    reshape,
    rows_of,
)

pytestmark = pytest.mark.interop

_OPEN_EACH = """
failed = {}
for path in ARGUMENTS["paths"]:
    try:
        async with StateDB(path) as db:
            await db.list_sessions(limit=1000)
            await db.list_schedules()
            await db.list_invocations()
    except Exception as error:
        failed[path] = repr(error)
return failed
"""
_COLUMNS = """
from lionagi.state.schema_migrations import MIGRATION_COLUMNS
return {table: [name for name, _ in columns] for table, columns in MIGRATION_COLUMNS.items()}
"""
Schema = list[tuple[object, ...]]
_FILLED = {("sessions", "updated_at"), ("artifacts", "updated_at")}
"""Columns to which we give a value when they are added, and the peer does not."""


# --- the older stores ---------------------------------------------------------------------------------------------------


def _without_marks(connection: sqlite3.Connection) -> None:
    """A store from before the one-time backfills, with rows for each of them."""
    connection.execute("DELETE FROM schema_meta WHERE key LIKE 'migration.%'")
    connection.execute("UPDATE sessions SET ended_at = NULL, duration_ms = 7 WHERE rowid % 2 AND ended_at IS NOT NULL")
    connection.execute("UPDATE sessions SET source_kind = 'imported_codex' WHERE source_kind = 'imported_fs'")
    connection.execute("UPDATE sessions SET agent_name = 'codex' WHERE source_kind = 'imported_codex'")
    connection.execute("UPDATE schedule_runs SET dispatched_at = NULL WHERE status = 'running'")
    connection.execute("UPDATE engine_runs SET parent_session_id = NULL")
    connection.execute("DELETE FROM attention_disposition_revisions")
    connection.execute("UPDATE attention_dispositions SET revision = 1")


def _without_late_columns(connection: sqlite3.Connection) -> None:
    _without_marks(connection)
    for table in LATE_COLUMNS:
        reshape(connection, table, without=late_columns(table))


def _without_indexes(connection: sqlite3.Connection) -> None:
    for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL").fetchall():
        connection.execute(f"DROP INDEX {name}")


def _without_late_tables(connection: sqlite3.Connection) -> None:
    """Without the tables that came late, and those that a store may get before ``schema_meta`` itself."""
    for table in (
        "terminal_deliveries",
        "attention_disposition_revisions",
        "workers",
        "run_tags",
        "engine_defs",
        "workflow_defs",
    ):
        connection.execute(f"DROP TABLE {table}")


def _oldest(connection: sqlite3.Connection) -> None:
    """Everything at once: narrow tables, no late column, table, index or mark, version 1, no lineage."""
    _without_marks(connection)
    for name in set(FORMS) - {"schedules without command"}:
        FORMS[name].apply(connection)
    needed = {"progression_id", "invocation_kind", "source_kind", "status"}
    for table in LATE_COLUMNS:
        reshape(connection, table, without=tuple(set(late_columns(table)) - needed))
    _without_late_tables(connection)
    _without_indexes(connection)
    connection.execute("DELETE FROM schema_meta WHERE key = 'lineage'")
    connection.execute("UPDATE schema_meta SET value = '1' WHERE key = 'version'")
    connection.execute("DELETE FROM message_types WHERE type_id = 0")


OLD: dict[str, Maker] = {
    **{name: form.apply for name, form in FORMS.items()},
    "without marks": _without_marks,
    "without late columns": _without_late_columns,
    "without indexes": _without_indexes,
    "without late tables": _without_late_tables,
    "oldest": _oldest,
}


@dataclass(frozen=True)
class Upgraded:
    """One older store before, after our upgrade, and after the peer's."""

    before: Rows
    schema: Schema
    report: MigrationReport
    ours: Path
    theirs: Path
    fresh: Path
    peer_said: str | None
    """What the peer raised when it opened our result."""


@pytest.fixture(scope="module")
def upgraded(peer_home_template: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Upgraded]:
    """Every older store, upgraded by both; the peer is started twice in all."""
    base = tmp_path_factory.mktemp("old")
    ours, theirs = ({name: base / side / name.replace(" ", "-") / "state.db" for name in OLD} for side in ("ours", "theirs"))
    before, schema = {}, {}
    for name, make in OLD.items():
        for path in (ours[name], theirs[name]):
            path.parent.mkdir(parents=True)
        shutil.copy(peer_home_template / "state.db", ours[name])
        with plainly(ours[name]) as connection:
            make(connection)
        shutil.copy(ours[name], theirs[name])
        before[name], schema[name] = rows_of(ours[name]), _schema(ours[name])
    fresh = base / "fresh" / "state.db"
    fresh.parent.mkdir()
    assert ask_peer(base, _OPEN_EACH, paths=[str(fresh), *map(str, theirs.values())]) == {}
    reports = {name: asyncio.run(_upgrade(path)) for name, path in ours.items()}
    schemas = {path: _schema(path) for path in ours.values()}
    said = ask_peer(base, _OPEN_EACH, paths=[str(path) for path in ours.values()])
    assert {path: _schema(path) for path in ours.values()} == schemas
    return {
        name: Upgraded(before[name], schema[name], reports[name], path, theirs[name], fresh, said.get(str(path)))
        for name, path in ours.items()
    }


async def _upgrade(path: Path) -> MigrationReport:
    store = Store(path, home=path.parent)
    await store.open()
    assert store.condition().mode == "read_only", store.condition()
    assert "state migrate" in (store.condition().reason or "")
    report = await store.migrate(None)
    assert store.condition().mode == "ready", store.condition()
    assert (await store.plan()).changes == ()
    await store.close()
    return report


def _schema(path: Path) -> Schema:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()


# --- what must be true --------------------------------------------------------------------------------------------------


def test_the_list_of_late_columns_is_that_of_the_peer(tmp_path: Path) -> None:
    theirs = {table: set(columns) for table, columns in ask_peer(tmp_path, _COLUMNS).items()}
    assert theirs.keys() == LATE_COLUMNS.keys()
    for table, columns in theirs.items():
        never_missing = columns - set(late_columns(table))
        assert never_missing == (columns & _FIRST.get(table, set()))
        assert set(late_columns(table)) <= columns


_FIRST = {
    "engine_runs": {"id", "kind", "spec_json", "status", "started_at"},
    "dispatch_outbox": {"id", "kind", "deliver_to", "payload", "next_attempt_at", "created_at"},
}
"""What a row of these tables cannot be without: the peer lists them, and its own ALTER TABLE cannot add them to rows."""


@pytest.mark.parametrize("name", OLD)
def test_it_opens_in_the_peer_without_a_further_change(upgraded: dict[str, Upgraded], name: str) -> None:
    """The fixture has compared the schema before and after: no table is made anew."""
    assert upgraded[name].peer_said is None


@pytest.mark.parametrize("name", OLD)
def test_it_equals_a_fresh_store(upgraded: dict[str, Upgraded], name: str) -> None:
    ours, fresh = described(upgraded[name].ours), described(upgraded[name].fresh)
    assert ours["tables"].keys() == fresh["tables"].keys()
    for table, parts in fresh["tables"].items():
        assert ours["tables"][table] == parts, table
    assert ours["indexes"] == fresh["indexes"]


@pytest.mark.parametrize("name", OLD)
def test_the_peer_makes_the_same_of_it(upgraded: dict[str, Upgraded], name: str) -> None:
    """All that the peer makes is here too; it leaves out indexes, and the keys and checks of columns that it adds."""
    ours, theirs = described(upgraded[name].ours), described(upgraded[name].theirs)
    assert ours["tables"].keys() == theirs["tables"].keys()
    for table, parts in theirs["tables"].items():
        mine = ours["tables"][table]
        assert mine["columns"] == parts["columns"], table
        assert mine["keys"] >= parts["keys"], table
        assert mine["unique"] == parts["unique"], table
        assert parts["checks"].items() <= mine["checks"].items(), table
    assert ours["indexes"].keys() >= theirs["indexes"].keys()


@pytest.mark.parametrize("name", OLD)
def test_the_peer_makes_the_same_rows_of_it(upgraded: dict[str, Upgraded], name: str) -> None:
    ours, theirs = rows_of(upgraded[name].ours), rows_of(upgraded[name].theirs)
    assert ours.keys() == theirs.keys()
    for table, rows in theirs.items():
        columns = [column for column in (rows or [{}])[0] if (table, column) not in _FILLED]
        assert [[row[column] for column in columns] for row in ours[table]] == [[row[key] for key in columns] for row in rows]


@pytest.mark.parametrize("name", OLD)
def test_every_row_is_kept(upgraded: dict[str, Upgraded], name: str) -> None:
    """Row by row and value by value, but for what the backfills are there to write and what the store says of itself."""
    found = upgraded[name]
    after, before = as_before(rows_of(found.ours), found.before), found.before
    changed = {change.name for change in found.report.changes if change.kind == "backfill"}
    for table, rows in before.items():
        if table in ("schema_meta", "message_types", "attention_disposition_revisions"):
            continue
        kept = {"rows": rows, "after": after[table]}
        for column in _written_by(changed, table):
            kept = {side: [{key: row[key] for key in row if key != column} for row in items] for side, items in kept.items()}
        assert kept["after"] == kept["rows"], table
    with closing(sqlite3.connect(found.ours)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []


def _written_by(backfills: set[str], table: str) -> set[str]:
    """The columns that these backfills may change."""
    places = {
        MARKERS[0]: {("attention_dispositions", "revision"), ("attention_disposition_history", "sequence")},
        MARKERS[1]: {("schedule_runs", "dispatched_at")},
        MARKERS[2]: {("sessions", "agent_name"), ("branches", "agent_name")},
        MARKERS[3]: {("sessions", "ended_at"), ("sessions", "ended_at_is_approximate"), ("sessions", "duration_ms")},
        "parent_session_id": {("engine_runs", "parent_session_id")},
    }
    return {column for name in backfills for owner, column in places.get(name, set()) if owner == table}


@pytest.mark.parametrize("name", FORMS)
def test_a_backup_holds_the_store_as_it_was(upgraded: dict[str, Upgraded], name: str) -> None:
    found = upgraded[name]
    (backup,) = found.report.backups
    assert Path(backup).name.startswith(f"state.db.pre-{FORMS[name].table}.")
    assert rows_of(Path(backup)) == found.before
    assert _schema(Path(backup)) == found.schema


def test_the_backfills_of_the_oldest_store(upgraded: dict[str, Upgraded]) -> None:
    """Not only equal to the peer's: there was something to fill in."""
    rows = rows_of(upgraded["without marks"].ours)
    assert sum(row["ended_at_is_approximate"] for row in rows["sessions"]) > 10
    assert all(row["ended_at"] is not None for row in rows["sessions"] if row["status"] not in (None, "running"))
    assert all(row["duration_ms"] is None for row in rows["sessions"] if row["ended_at_is_approximate"])
    running = [row for row in rows["schedule_runs"] if row["status"] == "running" and row["schedule_id"]]
    assert running
    assert all(row["dispatched_at"] is not None for row in running)
    imported = [row for row in rows["sessions"] if row["source_kind"] == "imported_codex"]
    assert imported
    assert all(row["agent_name"] is None for row in imported)
    assert [row["sequence"] for row in sorted(rows["attention_disposition_history"], key=lambda row: row["created_at"])]
    assert rows["attention_disposition_revisions"]
    assert any(row["parent_session_id"] for row in rows["engine_runs"])
