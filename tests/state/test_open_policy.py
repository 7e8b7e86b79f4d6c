"""What each kind of file is called, and that a file which is not ours to write stays exactly as it is."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select

from studio_tui.application.errors import Conflict, PermissionDenied, StateUnavailable
from studio_tui.state import native
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.schema import projects
from studio_tui.state.store import Store
from studio_tui.state.stores.base import fetch, reading
from tests.state.files import make_native_file

Script = Callable[..., None]
Note = Callable[[Path], None]
PROJECT = "INSERT INTO projects VALUES ('one', 'studio', NULL, NULL, NULL, 1.0, 1.0, NULL)"


async def _opened(home: Path, **options: bool) -> Store:
    store = Store(None, home=home, **options)
    await store.open()
    return store


async def _projects(store: Store) -> list[str]:
    async with reading(store.db) as connection:
        return [row["name"] for row in await fetch(connection, select(projects))]


# --- nothing there ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", ["no home", "empty home", "empty file", "database without tables"])
async def test_where_there_is_no_store_nothing_is_made(tmp_path: Path, make: str, untouched: Note, script: Script) -> None:
    home = tmp_path / "home"
    if make != "no home":
        home.mkdir()
    if make == "empty file":
        (home / "state.db").touch()
    if make == "database without tables":
        script(home / "state.db", "PRAGMA journal_mode=WAL", "CREATE TABLE t (a)", "DROP TABLE t")
    untouched(tmp_path)
    store = await _opened(home)
    assert store.condition().mode == "missing"
    assert store.db.missing
    assert await _projects(store) == []
    with pytest.raises(StateUnavailable, match="no store"):
        await store.db.execute(PROJECT)
    with pytest.raises(StateUnavailable, match="no store"):
        await store.db.open()
    await store.close()


# --- ours -------------------------------------------------------------------------------------------------------------


async def test_a_native_store_is_ready_and_a_plain_open_writes_nothing(home: Path, native_file: Path, untouched: Note) -> None:
    untouched(home)
    store = await _opened(home)
    assert store.condition().mode == "ready"
    assert store.condition().version == "4"
    assert store.condition().reason is None
    assert await _projects(store) == []
    assert await store.db.data_version()
    await store.close()


async def test_tables_of_the_assistant_of_the_peer_do_no_harm(home: Path, native_file: Path, script: Script) -> None:
    script(native_file, "CREATE TABLE studio_operator_turns (id TEXT)", "CREATE TABLE of_somebody_else (id TEXT)")
    store = await _opened(home)
    assert store.condition().mode == "ready"
    await store.close()


@pytest.mark.parametrize(
    "meta", [{"version": "3"}, {"version": "four"}, {"lineage": None}, {"lineage": None, "version": "2"}, {"created_at": None}]
)
async def test_what_a_native_store_says_of_itself_is_completed(home: Path, meta: dict[str, str | None]) -> None:
    make_native_file(home / "state.db", **meta)
    store = await _opened(home)
    assert store.condition().mode == "ready"
    rows = await store.db.fetch_all("SELECT key, value FROM schema_meta WHERE key NOT LIKE 'migration.%'")
    found = {row["key"]: row["value"] for row in rows}
    assert found["version"] == "4"
    assert found["lineage"] == "lionagi"
    assert found["created_at"].isdigit()
    await store.close()


async def test_a_log_left_by_a_crash_is_read(home: Path, native_file: Path, tmp_path: Path) -> None:
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with closing(sqlite3.connect(native_file)) as connection:
        connection.execute(PROJECT)
        connection.commit()
        for suffix in ("", "-wal"):
            shutil.copy(f"{native_file}{suffix}", crashed / f"state.db{suffix}")
    store = await _opened(crashed)
    assert store.condition().mode == "ready"
    assert await _projects(store) == ["one"]
    await store.close()


# --- not ours to write ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        ({"version": "9"}, "version 9"),
        ({"version": "9", "lineage": None}, "version 9"),
        ({"lineage": "khive"}, "khive"),
        ({"migration.dispatched_at_backfill": None}, "upgraded first"),
    ],
)
async def test_newer_foreign_and_older_stores_are_shown_and_left_alone(
    home: Path, meta: dict[str, str | None], words: str, untouched: Note, script: Script
) -> None:
    make_native_file(home / "state.db", **meta)
    script(home / "state.db", PROJECT)
    untouched(home)
    store = await _opened(home)
    condition = store.condition()
    assert condition.mode == "read_only"
    assert words in (condition.reason or "")
    assert await _projects(store) == ["one"]
    assert await store.db.data_version() == await store.db.data_version()
    with pytest.raises(PermissionDenied, match=words):
        await store.db.execute("DELETE FROM projects")
    with pytest.raises(Conflict):
        await store.create()
    await store.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DROP TABLE workers", "the table workers"),
        ("DROP INDEX idx_artifacts_natural_key_both", "the index idx_artifacts_natural_key_both"),
        ("ALTER TABLE schedule_runs DROP COLUMN resume_packet", "the column schedule_runs.resume_packet"),
    ],
)
async def test_a_store_that_lacks_a_part_is_never_half_migrated(
    home: Path, native_file: Path, statement: str, words: str, untouched: Note, script: Script
) -> None:
    script(native_file, statement)
    untouched(home)
    store = await _opened(home)
    assert store.condition().mode == "read_only"
    assert words in (store.condition().reason or "")
    assert "upgraded first" in (store.condition().reason or "")
    await store.close()


@pytest.mark.parametrize(
    ("table", "new", "old"),
    [
        ("schedules", "'flow_yaml','command'", "'flow_yaml'"),
        ("schedules", "'github_poll','at'", "'github_poll'"),
        ("invocations", "'completed_empty',", ""),
        ("schedule_runs", "'waiting_dependency',", ""),
        ("definitions", "'playbook','skill'", "'playbook'"),
        ("sessions", "'imported_fs','imported_codex'", "'imported_fs'"),
        ("sessions", "'show-play','engine'", "'show-play'"),
    ],
)
async def test_the_checks_of_an_older_store_are_seen(
    home: Path, native_file: Path, table: str, new: str, old: str, script: Script
) -> None:
    change = new.replace("'", "''"), old.replace("'", "''")
    script(
        native_file,
        "PRAGMA writable_schema=ON",
        f"UPDATE sqlite_master SET sql = replace(sql, '{change[0]}', '{change[1]}') WHERE name = '{table}'",
    )
    store = await _opened(home)
    assert store.condition().mode == "read_only"
    assert "upgraded first" in (store.condition().reason or "")
    await store.close()


async def test_a_live_store_of_another_program_is_read_through_its_log(home: Path) -> None:
    path = home / "state.db"
    make_native_file(path, lineage="khive")
    with closing(sqlite3.connect(path, isolation_level=None)) as owner:
        owner.execute(PROJECT)
        before = sorted(os.listdir(home))
        store = await _opened(home)
        assert await _projects(store) == ["one"]
        first = await store.db.data_version()
        owner.execute("UPDATE projects SET name = 'two'")
        assert await _projects(store) == ["two"]
        assert await store.db.data_version() != first
        await store.close()
        assert sorted(os.listdir(home)) == before


async def test_a_waiting_log_of_a_newer_store_is_left_to_its_own_program(home: Path, tmp_path: Path, untouched: Note) -> None:
    path = home / "state.db"
    make_native_file(path, version="9")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(PROJECT)
        connection.commit()
        for suffix in ("", "-wal"):
            shutil.copy(f"{path}{suffix}", crashed / f"state.db{suffix}")
    untouched(crashed)
    store = await _opened(crashed)
    assert store.condition().mode == "unavailable"
    assert "version 9" in (store.condition().reason or "")
    await store.close()


async def test_read_only_by_wish(home: Path, native_file: Path, untouched: Note) -> None:
    untouched(home)
    store = await _opened(home, read_only=True)
    assert store.condition().mode == "read_only"
    assert await _projects(store) == []
    with pytest.raises(PermissionDenied):
        await store.db.execute(PROJECT)
    with pytest.raises(PermissionDenied):
        await store.db.checkpoint()
    await store.close()


async def test_read_only_by_wish_makes_no_store(home: Path, untouched: Note) -> None:
    untouched(home)
    store = await _opened(home, read_only=True)
    assert store.condition().mode == "missing"
    with pytest.raises(PermissionDenied):
        await store.create()
    await store.close()


def _obey_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let root be refused what anybody else would be refused by the owner's mode bits."""
    if os.geteuid() == 0:
        bits = {os.R_OK: stat.S_IRUSR, os.W_OK: stat.S_IWUSR, os.W_OK | os.X_OK: stat.S_IWUSR | stat.S_IXUSR}
        monkeypatch.setattr(native.os, "access", lambda path, mode: os.stat(path).st_mode & bits[mode] == bits[mode])


async def test_a_folder_that_may_not_be_written_is_named(
    home: Path, native_file: Path, monkeypatch: pytest.MonkeyPatch, untouched: Note
) -> None:
    untouched(home)
    home.chmod(0o500)
    _obey_modes(monkeypatch)
    store = await _opened(home)
    home.chmod(0o700)
    assert store.condition().mode == "read_only"
    assert str(home) in (store.condition().reason or "")
    assert await _projects(store) == []
    await store.close()


async def test_a_file_that_may_not_be_written_is_shown(
    home: Path, native_file: Path, monkeypatch: pytest.MonkeyPatch, untouched: Note
) -> None:
    untouched(home)
    native_file.chmod(0o400)
    _obey_modes(monkeypatch)
    store = await _opened(home)
    assert store.condition().mode == "read_only"
    await store.close()


# --- nothing to read --------------------------------------------------------------------------------------------------


def _garbage(path: Path) -> None:
    path.write_bytes(b"this is a letter to my aunt\n" * 400)


def _truncated(path: Path) -> None:
    make_native_file(path)
    path.write_bytes(path.read_bytes()[: 4096 * 3])


def _damaged(path: Path) -> None:
    make_native_file(path)
    content = bytearray(path.read_bytes())
    content[100:4096] = b"\xa5" * 3996
    path.write_bytes(content)


def _foreign_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE songs (id INTEGER PRIMARY KEY, title TEXT)")


def _other_meta(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE schema_meta (name TEXT, number INTEGER)")
        connection.execute("CREATE TABLE sessions (id TEXT)")


def _meta_without_a_version(path: Path) -> None:
    make_native_file(path, version="old", lineage=None)


def _low_version_and_strangers(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE schema_meta (key TEXT, value TEXT)")
        connection.execute("INSERT INTO schema_meta VALUES ('version', '2')")
        connection.execute("CREATE TABLE songs (id TEXT)")
        connection.commit()


def _hot_journal(path: Path) -> None:
    """A rollback journal of a transaction whose program died."""
    code = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA cache_spill=1'); c.execute('PRAGMA cache_size=1'); c.execute('BEGIN IMMEDIATE');"
        "c.executemany('INSERT INTO songs VALUES (NULL, ?)', [('x' * 900,)] * 200); os._exit(0)"
    )
    _foreign_tables(path)
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    assert Path(f"{path}-journal").stat().st_size


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (_garbage, "not an SQLite database"),
        (_truncated, "malformed"),
        (_damaged, "malformed"),
        (_foreign_tables, "not a lionagi store: it holds the table songs"),
        (_other_meta, "not a lionagi store"),
        (_meta_without_a_version, "not a lionagi store"),
        (_low_version_and_strangers, "not a lionagi store"),
        (_hot_journal, "interrupted write"),
        (Path.mkdir, "is a folder"),
        (os.mkfifo, "not a regular file"),
    ],
)
async def test_what_is_no_store_is_said_and_left_alone(
    home: Path, make: Callable[[Path], None], words: str, untouched: Note
) -> None:
    make(home / "state.db")
    if make is not os.mkfifo:
        untouched(home)
    store = await _opened(home)
    condition = store.condition()
    assert condition.mode == "unavailable"
    assert words in (condition.reason or "")
    with pytest.raises(StateUnavailable, match=words):
        await _projects(store)
    with pytest.raises(Conflict):
        await store.create()
    with pytest.raises(StateUnavailable, match=words):
        await store.db.open()
    await store.close()
    assert not (home / "state.db-shm").exists()


async def test_a_file_that_may_not_be_read(home: Path, native_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native_file.chmod(0o000)
    _obey_modes(monkeypatch)
    store = await _opened(home)
    assert store.condition().mode == "unavailable"
    assert "may not be read" in (store.condition().reason or "")
    await store.close()


async def test_a_store_in_memory_is_refused(home: Path) -> None:
    store = Store(":memory:", home=home)
    await store.open()
    assert store.condition().mode == "unavailable"
    assert os.listdir(home) == []


# --- making one -------------------------------------------------------------------------------------------------------


async def test_create_makes_folders_and_a_complete_store(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home ?#%41"
    store = await _opened(home)
    await store.create()
    assert store.condition().mode == "ready"
    await store.db.execute(PROJECT)
    assert await _projects(store) == ["one"]
    with pytest.raises(Conflict):
        await store.create()
    await store.close()
    assert os.listdir(home) == ["state.db"]
    assert native.look(home / "state.db") == native.Look("native", None, "4", True, False)


_CREATE = """
import asyncio, sys
from pathlib import Path
from studio_tui.application.errors import Conflict
from studio_tui.state.store import Store

async def main():
    store = Store(None, home=Path(sys.argv[1]))
    await store.open()
    assert store.condition().mode == "missing", store.condition()
    print("looked", flush=True)
    sys.stdin.readline()
    try:
        await store.create()
        print("made")
    except Conflict:
        print("found")
    assert store.condition().mode == "ready", store.condition()
    await store.close()

asyncio.run(main())
"""


async def test_of_several_creators_at_once_one_makes_it(home: Path) -> None:
    creators = [
        subprocess.Popen(
            [sys.executable, "-c", _CREATE, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
        )
        for _ in range(3)
    ]
    for creator in creators:
        assert creator.stdout is not None
        assert creator.stdout.readline() == "looked\n"
    for creator in creators:
        assert creator.stdin is not None
        creator.stdin.write("go\n")
        creator.stdin.flush()
    answers = sorted(creator.communicate(timeout=60)[0].strip() for creator in creators)
    assert answers == ["found", "found", "made"]
    assert native.look(home / "state.db").verdict == "native"


async def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    store = await _opened(tmp_path / "file" / "home")
    assert store.condition().mode == "missing"
    with pytest.raises(StateUnavailable):
        await store.create()
    await store.close()


# --- another file in its place ----------------------------------------------------------------------------------------


async def test_opening_again_follows_what_the_path_holds_now(home: Path, native_file: Path, tmp_path: Path) -> None:
    store = await _opened(home)
    assert store.condition().mode == "ready"
    other = tmp_path / "other.db"
    make_native_file(other, version="9")
    other.replace(native_file)
    await store.reopen()
    assert store.condition().mode == "read_only"
    native_file.unlink()
    await store.reopen()
    assert store.condition().mode == "missing"
    assert await _projects(store) == []
    make_native_file(native_file)
    await store.reopen()
    assert store.condition().mode == "ready"
    await store.db.execute(PROJECT)
    assert await _projects(store) == ["one"]
    await store.close()


async def test_a_write_that_waits_its_turn_reaches_the_store_that_is_open_then(home: Path, native_file: Path) -> None:
    store = await _opened(home)
    begun, go = asyncio.Event(), asyncio.Event()

    async def hold(connection: AsyncConnection) -> None:
        begun.set()
        await go.wait()

    holding = asyncio.create_task(store.db.write(hold))
    await begun.wait()
    opening = asyncio.create_task(store.reopen())
    waiting = asyncio.create_task(store.db.execute(PROJECT))
    await asyncio.sleep(0.05)
    go.set()
    await asyncio.gather(holding, opening, waiting)
    assert await _projects(store) == ["one"]
    await store.close()


async def test_a_closed_store_is_not_opened_by_who_watches_it(home: Path, native_file: Path) -> None:
    store = await _opened(home)
    await store.close()
    await store.reopen()
    assert not store.db.is_open
    await store.open()
    assert store.db.is_open
    await store.close()
