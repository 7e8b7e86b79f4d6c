"""An upgrade that is killed, or that runs out of disk, leaves the old table or the new one, and every row."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from studio_tui.application.errors import StateUnavailable, StudioApplicationError
from studio_tui.state.migrations import upgrade as upgrading
from studio_tui.state.store import Store
from tests.state.filled import make_filled_file
from tests.state.older import FORMS, Rows, described, plainly, rows_of

TABLES = ("sessions", "schedules", "invocations", "schedule_runs", "definitions")
KILLS = 4
"""For each table; twenty in all."""


class Killer:
    """The process of ``kill_loop``."""

    def __init__(self) -> None:
        script = Path(__file__).with_name("kill_loop.py")
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(root)},
        )

    def upgrade(self, path: Path, seconds: float = 0) -> tuple[str, float]:
        """Upgrade this store, killed after some time; what became of it, and how long it took."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{path} {seconds}\n")
        stdin.flush()
        fate, took = stdout.readline().rsplit(" ", 1)
        return fate, float(took)

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def killer() -> Iterator[Killer]:
    killer = Killer()
    yield killer
    killer.close()


@pytest.fixture(scope="module")
def old_stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each table a store in which it is narrow, big enough that a rebuild takes a while."""
    base = tmp_path_factory.mktemp("narrow")
    full = base / "full.db"
    make_filled_file(full, sessions=4000, metadata='{"pid": 1, "text": "' + "x" * 400 + '"}')
    found = {}
    for table in TABLES:
        found[table] = base / f"{table}.db"
        shutil.copy(full, found[table])
        form = next(form for form in FORMS.values() if form.table == table)
        with plainly(found[table]) as connection:
            form.apply(connection)
            if table == "definitions":
                connection.execute("UPDATE definitions SET content = hex(zeroblob(20000))")
            connection.execute("VACUUM")  # no free pages: what is made anew makes the file grow
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return found


def wide(path: Path, table: str) -> bool:
    """Whether the table has been made anew."""
    words = {"schedules": "'flow_yaml'", "schedule_runs": "'waiting_dependency'", "definitions": "'skill'"}
    with closing(sqlite3.connect(path)) as connection:
        (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
        assert connection.execute("SELECT name FROM sqlite_master WHERE name LIKE 'studio_tui_new%'").fetchall() == []
    return "CHECK(status IN" not in sql if table == "sessions" else words.get(table, "'completed_empty'") in sql


@pytest.mark.parametrize("table", TABLES)
def test_killed_at_any_moment_it_leaves_the_old_table_or_the_new_one(
    killer: Killer, old_stores: dict[str, Path], tmp_path: Path, table: str
) -> None:
    before = rows_of(old_stores[table])
    fate, whole = killer.upgrade(_copied(old_stores[table], tmp_path / "whole"))
    assert fate == "exit 0"
    chance = random.Random(table)
    kills = unfinished = 0
    for attempt in range(KILLS * 5):
        path = _copied(old_stores[table], tmp_path / str(attempt))
        fate, _ = killer.upgrade(path, chance.uniform(0.02, whole))
        kills += fate == "killed"
        unfinished += not wide(path, table)
        assert fate in ("killed", "exit 0")
        _check(path, before)
        for backup in path.parent.glob("*.bak"):
            _check(backup, before)
            assert not wide(backup, table)
        assert killer.upgrade(path)[0] == "exit 0"
        _check(path, before)
        assert wide(path, table)
        assert described(path)["indexes"] == described(tmp_path / "whole" / "state.db")["indexes"]
        assert not list(path.parent.glob("*.partial*"))
        shutil.rmtree(path.parent)
        if kills == KILLS:
            break
    assert kills == KILLS
    assert unfinished


def _copied(store: Path, folder: Path) -> Path:
    folder.mkdir()
    shutil.copy(store, folder / "state.db")
    return folder / "state.db"


def _check(path: Path, before: Rows) -> None:
    """Whole, and with every row of before."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    after = rows_of(path)
    for table, rows in before.items():
        assert [{column: row[column] for column in rows[0]} for row in after[table]] == rows if rows else not after[table], table


# --- no room ------------------------------------------------------------------------------------------------------------


async def _fails(path: Path) -> StudioApplicationError:
    """The error of an upgrade; the store is open for reading after it, and can be closed."""
    store = Store(path, home=path.parent)
    await store.open()
    try:
        with pytest.raises(StudioApplicationError) as caught:
            await store.migrate(None)
        assert store.condition().mode == "read_only", (store.condition(), os.listdir(path.parent))
        assert "state migrate" in (store.condition().reason or "")
        assert await store.db.fetch_all("SELECT count(*) AS n FROM sessions") == [{"n": 4000}]
        return caught.value
    finally:
        await store.close()


async def _succeeds(path: Path, before: Rows) -> None:
    """With room again, the same upgrade does it."""
    store = Store(path, home=path.parent)
    await store.open()
    await store.migrate(None)
    await store.close()
    _check(path, before)
    assert wide(path, "sessions")


@pytest.mark.parametrize("pages", [0, 40, 300])
async def test_a_full_disk_in_the_middle_takes_the_step_back(
    old_stores: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pages: int
) -> None:
    """The store may grow by so many pages only; the copy beside it may not be limited (it is another file)."""
    path = _copied(old_stores["sessions"], tmp_path / "home")
    before, schema = rows_of(path), described(path)
    make = upgrading.make_engine

    def limited(*arguments: Any, **options: Any) -> Any:
        engine = make(*arguments, **options)

        @event.listens_for(engine.sync_engine, "connect")
        def limit(connection: Any, _record: Any) -> None:
            cursor = connection.cursor()
            cursor.execute("PRAGMA page_count")
            (now,) = cursor.fetchone()
            cursor.execute(f"PRAGMA max_page_count = {now + pages}")
            cursor.close()

        return engine

    monkeypatch.setattr(upgrading, "make_engine", limited)
    error = await _fails(path)
    assert isinstance(error, StateUnavailable)
    assert "disk is full" in str(error)
    assert error.retryable
    assert not list(path.parent.glob("*.bak"))
    assert (rows_of(path), described(path)) == (before, schema)
    monkeypatch.undo()
    await _succeeds(path, before)


async def test_a_disk_that_is_full_from_the_start_is_told_before(old_stores: dict[str, Path], tiny_disk: Path) -> None:
    path = tiny_disk / "state.db"
    shutil.copy(old_stores["sessions"], path)
    (tiny_disk / "filler").write_bytes(b"x" * shutil.disk_usage(tiny_disk).free)
    error = await _fails(path)
    assert "and 0 MB are free" in str(error)
    assert sorted(os.listdir(tiny_disk)) == ["filler", "state.db"]


@pytest.mark.parametrize("free", [1, 6, 9])
async def test_a_real_disk_that_gets_full(
    old_stores: dict[str, Path], tiny_disk: Path, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    """The room was there when it was looked for, and is gone when it is needed: for the copy, or for the change."""
    path = tiny_disk / "state.db"
    shutil.copy(old_stores["sessions"], path)
    before = rows_of(old_stores["sessions"])
    filler = tiny_disk / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(tiny_disk).free - free * 1_000_000))
    monkeypatch.setattr("studio_tui.state.migrations.plan.shutil.disk_usage", lambda _path: type("Usage", (), {"free": 10**12})())
    error = await _fails(path)
    assert "disk is full" in str(error)
    assert not [*tiny_disk.glob("*.bak"), *tiny_disk.glob("*.partial")]
    filler.unlink()
    _check(path, before)
    await _succeeds(path, before)
