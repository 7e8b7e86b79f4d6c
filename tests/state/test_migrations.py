"""Upgrading older stores: what is planned and done for each thing that may be missing, what is kept, and what is refused."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from studio_tui.application.errors import Conflict, PermissionDenied, StateUnavailable
from studio_tui.application.models.state import MigrationProgress
from studio_tui.state.native import look
from studio_tui.state.schema import metadata
from studio_tui.state.store import Store
from tests.state.filled import make_filled_file
from tests.state.older import FORMS, LATE_COLUMNS, as_before, described, late_columns, plainly, reshape, rows_of

Note = Callable[[Path], None]
NARROW = {"source_kind IN ('live','imported_fs','imported_codex')": "source_kind IN ('live','imported_fs')"}


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete store with rows, to be copied."""
    path = tmp_path_factory.mktemp("filled") / "state.db"
    make_filled_file(path)
    return path


@pytest.fixture
def path(filled: Path, home: Path) -> Path:
    """A copy of the complete store."""
    found = home / "state.db"
    found.write_bytes(filled.read_bytes())
    return found


@asynccontextmanager
async def opened(path: Path, **options: bool) -> AsyncIterator[Store]:
    store = Store(path, home=path.parent, **options)
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def narrowed(path: Path, table: str = "sessions", **options: str) -> None:
    """Give a table the form that must be made anew."""
    form = next(form for form in FORMS.values() if form.table == table)
    with plainly(path) as connection:
        if table == "sessions":
            reshape(connection, table, replaced=NARROW, **options)
        else:
            form.apply(connection)


# --- one thing missing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", LATE_COLUMNS)
async def test_late_columns_are_added(path: Path, filled: Path, table: str) -> None:
    columns = late_columns(table)
    with plainly(path) as connection:
        reshape(connection, table, without=columns)
    before = rows_of(path)
    async with opened(path) as store:
        assert store.condition().mode == "read_only"
        plan = await store.plan()
        assert [(change.table, change.name) for change in plan.changes if change.kind == "column"] == [
            (table, column.name) for column in metadata.tables[table].columns if column.name in columns
        ]
        assert not plan.backups
        await store.migrate(None)
        assert store.condition().mode == "ready"
    assert described(path) == described(filled)
    after = as_before(rows_of(path), before)
    for name in ("attention_disposition_history", "attention_dispositions", "attention_disposition_revisions"):
        before.pop(name)  # numbered anew when one of their columns came late
        after.pop(name)
    assert after == before


@pytest.mark.parametrize("table", [name for name, table in metadata.tables.items() if table.indexes])
async def test_indexes_are_made_again(path: Path, filled: Path, table: str) -> None:
    names = sorted(str(index.name) for index in metadata.tables[table].indexes)
    with plainly(path) as connection:
        for index in names:
            connection.execute(f"DROP INDEX {index}")
    before = rows_of(path)
    async with opened(path) as store:
        changes = (await store.plan()).changes
        assert [(change.kind, change.table, change.name) for change in changes] == [("index", table, name) for name in names]
        await store.migrate(None)
        assert store.condition().mode == "ready"
    assert described(path) == described(filled)
    assert rows_of(path) == before


@pytest.mark.parametrize("table", sorted(metadata.tables))
async def test_each_table_is_made_again(path: Path, filled: Path, table: str) -> None:
    with plainly(path) as connection:
        connection.execute(f"DROP TABLE {table}")
    async with opened(path) as store:
        if table == "sessions":  # what has no runs cannot be shown; it is not ours to guess what it is
            assert store.condition().mode == "unavailable"
            return
        assert table in {change.table for change in (await store.plan()).changes if change.kind == "table"}
        await store.migrate(None)
        assert store.condition().mode == "ready"
    assert described(path) == described(filled)


@pytest.mark.parametrize("name", FORMS)
async def test_each_narrow_table_is_made_anew(path: Path, filled: Path, name: str) -> None:
    with plainly(path) as connection:
        FORMS[name].apply(connection)
    before = rows_of(path)
    async with opened(path) as store:
        plan = await store.plan()
        assert plan.backups == (FORMS[name].table,)
        assert plan.backup_bytes >= path.stat().st_size
        report = await store.migrate(None)
    (backup,) = map(Path, report.backups)
    assert sorted(os.listdir(path.parent)) == sorted([path.name, backup.name])
    assert described(path) == described(filled)
    assert as_before(rows_of(path), before) == before
    assert rows_of(backup) == before
    assert backup.stat().st_mode == path.stat().st_mode


@pytest.mark.parametrize("gaps", ["DELETE FROM definitions", "UPDATE definitions SET rowid = rowid * 1000000000000 - 5"])
async def test_an_empty_table_and_one_with_gaps_are_made_anew(path: Path, gaps: str) -> None:
    narrowed(path, "definitions")
    with plainly(path) as connection:
        connection.execute(gaps)
    before = rows_of(path)
    async with opened(path) as store:
        await store.migrate(None)
    assert rows_of(path) == before


async def test_the_record_is_completed(path: Path) -> None:
    with plainly(path) as connection:
        connection.execute("DROP INDEX idx_run_tags_tag")
        connection.execute("DELETE FROM schema_meta WHERE key IN ('lineage', 'created_at')")
        connection.execute("UPDATE schema_meta SET value = '2' WHERE key = 'version'")
        connection.execute("DELETE FROM message_types WHERE type_id IN (0, 5)")
    async with opened(path) as store:
        plan = await store.plan()
        assert plan.version == "2"
        assert [change.name for change in plan.changes if change.kind == "record"] == [
            "version",
            "lineage",
            "created_at",
            "message_types",
        ]
        await store.migrate(None)
    rows = rows_of(path)
    meta = {row["key"]: row["value"] for row in rows["schema_meta"]}
    assert (meta["version"], meta["lineage"]) == ("4", "lionagi")
    assert meta["created_at"].isdigit()
    assert [row["type_id"] for row in rows["message_types"]] == [0, 1, 2, 3, 4, 5]


async def test_a_complete_store_needs_nothing(path: Path, home: Path, untouched: Note) -> None:
    untouched(home)
    async with opened(path) as store:
        plan = await store.plan()
        assert (plan.changes, plan.obstacles, plan.backups) == ((), (), ())
        assert (await store.migrate(None)).changes == ()
        assert store.condition().mode == "ready"


async def test_the_judgement_of_a_store_and_the_plan_agree(path: Path) -> None:
    """A store is called older exactly when there is something to do that opening does not do."""
    for name, form in FORMS.items():
        with plainly(path) as connection:
            form.apply(connection)
        assert look(path).verdict == "older", name
        async with opened(path) as store:
            await store.migrate(None)
        assert look(path).verdict == "native", name


# --- policy -------------------------------------------------------------------------------------------------------------


async def test_looking_and_planning_leave_the_file_as_it_is(path: Path, home: Path, untouched: Note) -> None:
    narrowed(path)
    with plainly(path) as connection:
        connection.execute("DROP INDEX idx_artifacts_natural_key_both")
    untouched(home)
    async with opened(path) as store:
        condition = store.condition()
        assert condition.mode == "read_only"
        assert "It is an older store: `studio-tui state migrate` upgrades it (2 changes)." in (condition.reason or "")
        plan = await store.plan()
        assert [(change.kind, change.name, change.rows) for change in plan.changes] == [
            ("rebuild", "sessions", 40),
            ("index", "idx_artifacts_natural_key_both", None),
        ]
        with pytest.raises(PermissionDenied, match="state migrate"):
            await store.db.execute("DELETE FROM projects")


async def test_a_store_that_was_asked_for_read_only_is_not_upgraded(path: Path, home: Path, untouched: Note) -> None:
    narrowed(path)
    untouched(home)
    async with opened(path, read_only=True) as store:
        assert (await store.plan()).changes
        with pytest.raises(PermissionDenied, match="asked"):
            await store.migrate(None)


@pytest.mark.parametrize(("key", "value", "words"), [("version", "9", "version 9"), ("lineage", "khive", "khive")])
async def test_a_store_of_somebody_else_is_not_upgraded(
    path: Path, home: Path, untouched: Note, key: str, value: str, words: str
) -> None:
    narrowed(path)
    with plainly(path) as connection:
        connection.execute("UPDATE schema_meta SET value = ? WHERE key = ?", (value, key))
    untouched(home)
    async with opened(path) as store:
        plan = await store.plan()
        assert plan.changes == ()
        assert words in plan.obstacles[0]
        with pytest.raises(PermissionDenied, match=words):
            await store.migrate(None)


async def test_where_nothing_is_there_is_nothing_to_plan(home: Path, untouched: Note) -> None:
    untouched(home)
    async with opened(home / "state.db") as store:
        for operation in (store.plan, lambda: store.migrate(None)):
            with pytest.raises(StateUnavailable, match="no store"):
                await operation()


async def test_a_store_that_became_somebody_elses_meanwhile_is_left_alone(path: Path) -> None:
    """The look and the change are two moments; each transaction looks again."""
    narrowed(path)

    def take_over(progress: MigrationProgress) -> None:
        if progress.step == "rebuilding sessions" and not progress.part_total and not taken:
            taken.append(1)
            with plainly(path) as connection:
                connection.execute("UPDATE schema_meta SET value = '9' WHERE key = 'version'")

    taken: list[int] = []
    async with opened(path) as store:
        with pytest.raises(PermissionDenied, match="version 9"):
            await store.migrate(take_over)
        assert "version 9" in (store.condition().reason or "")
    with plainly(path) as connection:
        assert "imported_codex" not in connection.execute("SELECT sql FROM sqlite_master WHERE name = 'sessions'").fetchone()[0]


# --- what somebody added ------------------------------------------------------------------------------------------------


async def test_columns_triggers_views_and_indexes_of_somebody_else_are_kept(path: Path) -> None:
    narrowed(path, extra="zz TEXT DEFAULT 'a,(b' CHECK (zz <> 'x') COLLATE NOCASE")
    with plainly(path) as connection:
        connection.execute("ALTER TABLE sessions ADD COLUMN twice TEXT GENERATED ALWAYS AS (name || name) VIRTUAL")
        connection.execute("UPDATE sessions SET zz = id WHERE rowid % 2")
        connection.execute("CREATE TABLE heard (id TEXT)")
        connection.execute("CREATE TRIGGER hear AFTER UPDATE ON sessions BEGIN INSERT INTO heard VALUES (new.id); END")
        connection.execute("CREATE VIEW short AS SELECT id, zz FROM sessions WHERE zz IS NOT NULL")
        connection.execute("CREATE TRIGGER later AFTER INSERT ON heard BEGIN UPDATE sessions SET name = 'x' WHERE id = 'no'; END")
        connection.execute("CREATE INDEX of_somebody ON sessions (zz, lower(name)) WHERE zz IS NOT NULL")
        objects = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE name IN ('hear', 'short', 'of_somebody', 'later')"
        )
        theirs = dict(objects.fetchall())
    before = rows_of(path)
    async with opened(path) as store:
        assert (await store.plan()).obstacles == ()
        await store.migrate(None)
        assert store.condition().mode == "ready"
    assert rows_of(path) == before
    with plainly(path) as connection:
        after = dict(connection.execute("SELECT name, sql FROM sqlite_master").fetchall())
        assert {name: after[name] for name in theirs} == theirs
        with pytest.raises(sqlite3.IntegrityError):
            connection.execute("UPDATE sessions SET zz = 'X' WHERE id = 's000001'")  # NOCASE and the rule are there too
        connection.execute("UPDATE sessions SET name = 'n' WHERE id = 's000002'")
        assert connection.execute("SELECT * FROM heard").fetchall() == [("s000002",)]
        assert connection.execute("SELECT count(*) FROM short").fetchone() == (40,)
        assert connection.execute("SELECT twice FROM sessions WHERE id = 's000002'").fetchone() == ("nn",)


@pytest.mark.parametrize(
    "statement", ["CREATE TRIGGER t AFTER DELETE ON {} BEGIN SELECT 1; END", "CREATE VIEW v AS SELECT * FROM {}"]
)
@pytest.mark.parametrize("table", ["schedules", "invocations", "schedule_runs", "definitions"])
async def test_every_rebuild_keeps_triggers_and_views(path: Path, table: str, statement: str) -> None:
    narrowed(path, table)
    with plainly(path) as connection:
        connection.execute(statement.format(table))
    async with opened(path) as store:
        await store.migrate(None)
    with plainly(path) as connection:
        found = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type IN ('trigger', 'view')")]
        assert found == [statement.format(table)]
        connection.execute(f"DELETE FROM {table}")


async def _refused(path: Path, words: str) -> None:
    """The plan says it, the upgrade refuses, nothing is different."""
    before = path.read_bytes()
    async with opened(path) as store:
        plan = await store.plan()
        assert any(words in sentence for sentence in plan.obstacles), plan.obstacles
        with pytest.raises(Conflict, match=r"Nothing was changed\.") as caught:
            await store.migrate(None)
        assert words in str(caught.value)
        assert store.condition().mode == "read_only"
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


async def test_a_column_that_cannot_be_carried_over_is_refused(path: Path) -> None:
    with plainly(path) as connection:
        rule = {"\tPRIMARY KEY (id), ": "\tPRIMARY KEY (id), \n\tCHECK (zz <> name), "}
        reshape(connection, "sessions", replaced=NARROW | rule, extra="zz TEXT")
    await _refused(path, "sessions has the column zz")


async def test_rows_that_the_new_table_would_refuse_are_told_before(path: Path) -> None:
    narrowed(path)
    with plainly(path) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        connection.execute("UPDATE sessions SET source_kind = 'elsewhere' WHERE rowid < 4")
    await _refused(path, "3 rows of sessions hold a source_kind")


async def test_rows_without_a_value_that_must_be_there_are_told_before(path: Path) -> None:
    with plainly(path) as connection:
        reshape(connection, "sessions", replaced=NARROW, without=("progression_id",))
    await _refused(path, "40 rows of sessions have no progression_id")


async def test_a_column_of_the_first_release_cannot_be_made_up(path: Path) -> None:
    with plainly(path) as connection:
        reshape(connection, "messages", without=("role",))
    await _refused(path, "messages has 40 rows and lacks the column role")


async def test_rows_that_a_unique_index_would_refuse_are_told_before(path: Path) -> None:
    with plainly(path) as connection:
        connection.execute("DROP INDEX idx_artifacts_natural_key_ses_only")
        for name in ("a1", "a2"):
            connection.execute(
                "INSERT INTO artifacts VALUES (?, NULL, 's000001', 1.0, 1.0, 'report', 'same', '{}', NULL)", (name,)
            )
    await _refused(path, "1 groups of rows of artifacts share what must be unique (session_id, kind, name)")


async def test_rows_that_an_interrupted_upgrade_of_the_peer_left_are_not_forgotten(path: Path) -> None:
    with plainly(path) as connection:
        connection.execute("ALTER TABLE invocations RENAME TO invocations_new")
    await _refused(path, "invocations_new holds 40 rows")


async def test_a_disk_without_room_for_the_backups_is_told_before(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrowed(path)
    monkeypatch.setattr("shutil.disk_usage", lambda _path: type("Usage", (), {"free": 4096})())
    await _refused(path, "are free")


async def test_references_that_led_nowhere_before_are_no_reason_to_refuse(path: Path) -> None:
    narrowed(path)
    with plainly(path) as connection:
        connection.execute("UPDATE sessions SET invocation_id = 'gone' WHERE id = 's000001'")
        connection.execute("DELETE FROM sessions WHERE id = 's000003'")  # its branch stays
    before = rows_of(path)
    async with opened(path) as store:
        await store.migrate(None)
    assert rows_of(path) == before


async def test_children_survive_the_rebuild_of_their_parents(path: Path) -> None:
    """With foreign keys enforced, dropping the table would take branches, tags and firings with it."""
    for table in ("sessions", "schedules", "invocations", "schedule_runs"):
        narrowed(path, table)
    before = rows_of(path)
    async with opened(path) as store:
        await store.migrate(None)
    after = rows_of(path)
    for table in ("branches", "run_tags", "schedule_runs"):
        assert len(after[table]) == len(before[table]) > 0
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
