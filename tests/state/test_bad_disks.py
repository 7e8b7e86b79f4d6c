"""A disk without room, and one that may not be written: the reason in a sentence, the store unharmed, and a second chance."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from studio_tui.application.errors import PermissionDenied, StateUnavailable
from studio_tui.application.ports import RunFilter
from studio_tui.state.store import Store
from studio_tui.state.stores.runs import RunStore
from tests.builders import a_run
from tests.state.files import contents_of, make_native_file

RUN = (
    "INSERT INTO progressions VALUES ('p', 1.0, '[]')",
    "INSERT INTO sessions (id, created_at, updated_at, progression_id, status) VALUES ('r', 1.0, 1.0, 'p', 'completed')",
)
DIES = "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute(sys.argv[2]); c.commit(); os._exit(0)"


@pytest.fixture
def disk_store(tiny_disk: Path) -> Path:
    """A store with one run on a disk of its own, in a folder of its own."""
    path = tiny_disk / "home" / "state.db"
    path.parent.mkdir()
    make_native_file(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in RUN:
            connection.execute(statement)
    return path


def _fill(disk: Path, *, left: int) -> Path:
    """Take the room of a disk away, but for so many bytes."""
    filler = disk / "filler"
    filler.write_bytes(b"x" * (shutil.disk_usage(disk).free - left))
    return filler


async def _opened(path: Path) -> Store:
    store = Store(None, home=path.parent)
    await store.open()
    return store


async def _runs(store: Store) -> list[str]:
    page = await RunStore(store.db).list_runs(RunFilter(), after=None, backwards=False, limit=9)
    return [run.run_id for run in page.runs]


def _is_whole(path: Path, runs: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (runs,)


@pytest.mark.parametrize("left", [64, 200])
async def test_a_disk_that_gets_full_stores_nothing_by_halves(tiny_disk: Path, disk_store: Path, left: int) -> None:
    """Kilobytes are left: enough to look at the store, and not for what is to be stored."""
    filler = _fill(tiny_disk, left=left * 1024)
    store = await _opened(disk_store)
    assert store.condition().mode == "ready"
    with pytest.raises(StateUnavailable, match="the disk is full") as caught:
        await a_run(store.db, id="big", name="x" * 1_000_000)
    assert caught.value.retryable
    assert "\n" not in str(caught.value)
    assert await _runs(store) == ["r"]
    filler.unlink()
    await a_run(store.db, id="big", name="x" * 1_000_000)
    assert await _runs(store) == ["big", "r"]
    await store.close()
    _is_whole(disk_store, 2)


@pytest.mark.parametrize("left", [0, 12])
async def test_a_disk_without_room_for_the_log_is_named(tiny_disk: Path, disk_store: Path, left: int) -> None:
    """The index of the log alone takes 32 kB."""
    filler = _fill(tiny_disk, left=left * 1024)
    before = disk_store.read_bytes()
    store = await _opened(disk_store)
    condition = store.condition()
    assert condition.mode in ("unavailable", "read_only")
    assert condition.reason
    assert "\n" not in condition.reason
    with pytest.raises((StateUnavailable, PermissionDenied)):
        await a_run(store.db)
    assert disk_store.read_bytes() == before
    filler.unlink()
    await store.reopen()
    assert store.condition().mode == "ready"
    assert await _runs(store) == ["r"]
    await store.close()
    _is_whole(disk_store, 1)


async def test_a_store_is_not_made_by_halves_on_a_full_disk(tiny_disk: Path) -> None:
    filler = _fill(tiny_disk, left=60 * 1024)
    home = tiny_disk / "new"
    store = Store(None, home=home)
    await store.open()
    with pytest.raises(StateUnavailable, match="the disk is full"):
        await store.create()
    assert store.condition().mode == "missing", store.condition()
    filler.unlink()
    await store.create()
    assert store.condition().mode == "ready"
    await store.close()
    _is_whole(home / "state.db", 0)


@pytest.fixture
def frozen(tiny_disk: Path, disk_store: Path) -> Iterator[Path]:
    """The store on a disk that is mounted for reading only."""
    _remount(tiny_disk, "ro")
    yield disk_store
    _remount(tiny_disk, "rw")


def _remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True, capture_output=True)


async def test_a_store_on_a_disk_that_may_not_be_written_is_shown(frozen: Path) -> None:
    before = contents_of(frozen.parent)
    store = await _opened(frozen)
    assert store.condition().mode == "read_only"
    assert "may not be written" in (store.condition().reason or "")
    assert await _runs(store) == ["r"]
    assert await store.db.data_version() == await store.db.data_version()
    with pytest.raises(PermissionDenied, match="may not be written"):
        await a_run(store.db)
    await store.close()
    assert contents_of(frozen.parent) == before


async def test_a_log_that_a_crash_left_on_such_a_disk_is_read_or_named(tiny_disk: Path, disk_store: Path) -> None:
    """Nobody can bring the log in; what it holds is not passed over in silence."""
    change = "UPDATE sessions SET name = 'from the log'"
    await asyncio.to_thread(subprocess.run, [sys.executable, "-c", DIES, str(disk_store), change], check=True)
    assert Path(f"{disk_store}-wal").stat().st_size
    os.remove(f"{disk_store}-shm")
    _remount(tiny_disk, "ro")
    try:
        before = contents_of(disk_store.parent)
        store = await _opened(disk_store)
        if store.condition().mode == "read_only":
            assert await store.db.fetch_all("SELECT name FROM sessions") == [{"name": "from the log"}]
        else:
            assert store.condition().mode == "unavailable"
            assert "the log beside it holds changes" in (store.condition().reason or "")
        await store.close()
        assert contents_of(disk_store.parent) == before
    finally:
        _remount(tiny_disk, "rw")
    store = await _opened(disk_store)
    assert await store.db.fetch_all("SELECT name FROM sessions") == [{"name": "from the log"}]
    await store.close()
