"""StateDB: writes that nobody can cancel, readers that leak nothing, errors in plain words, an end without threads."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text

from studio_tui.application.errors import Conflict, PermissionDenied, StateUnavailable
from studio_tui.state import connections
from studio_tui.state import db as state_db
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.schema import projects
from studio_tui.state.store import Store
from tests.state.threads import driver_threads, driver_threads_at_most, no_driver_thread

Query = Callable[..., list[tuple[object, ...]]]
ENDLESS = text("WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t")


def _project(name: str) -> dict[str, object]:
    return {"name": name, "source": "studio", "created_at": 1.0, "updated_at": 1.0}


async def _add(db: StateDB, name: str) -> None:
    await db.write(lambda connection: connection.execute(insert(projects).values(_project(name))))


async def _names(db: StateDB) -> list[str]:
    return [row["name"] for row in await db.fetch_all(select(projects.c.name).order_by(projects.c.name))]


async def test_the_names_of_the_adr(db: StateDB, home: Path, backend: str) -> None:
    assert db.dialect == backend
    assert db.path == (home / "state.db" if backend == "sqlite" else None)
    assert db.is_open
    assert await db.schema_version() == "4"
    assert await db.fetch_one(select(projects)) is None
    assert await db.fetch_all(select(projects)) == []
    await db.execute(insert(projects), _project("a"))
    assert (await db.fetch_one("SELECT name FROM projects WHERE name = :n", {"n": "a"})) == {"name": "a"}
    async with db.transaction() as connection:
        await connection.execute(insert(projects).values(_project("b")))
    assert await _names(db) == ["a", "b"]
    await db.vacuum()
    with pytest.raises(ValueError, match="PASSIVE, FULL"):
        await db.checkpoint("ALL")
    if backend == "postgresql":
        assert await db.checkpoint() is None


@pytest.mark.sqlite_only("a log that is moved into the file")
async def test_checkpoints(db: StateDB) -> None:
    await _add(db, "a")
    assert await db.checkpoint() == (0, *(await db.checkpoint() or ())[1:])
    for mode in ("FULL", "RESTART", "TRUNCATE"):
        assert (await db.checkpoint(mode) or (1,))[0] == 0
    assert Path(f"{db.path}-wal").stat().st_size == 0


async def test_open_and_close_may_be_repeated(native_file: Path) -> None:
    db = StateDB(native_file)
    async with db:
        await db.open()
        await _add(db, "a")
    await db.close()
    assert not db.is_open
    with pytest.raises(StateUnavailable):
        await _names(db)
    await db.open()
    assert await _names(db) == ["a"]
    await db.close()


async def test_open_makes_a_store_only_when_asked(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "new" / "s.db")
    with pytest.raises(StateUnavailable, match="no store"):
        await db.open()
    assert not (tmp_path / "new").exists()
    await db.open(create=True)
    await _add(db, "a")
    await db.close()


async def test_a_read_only_object_makes_and_writes_nothing(native_file: Path, tmp_path: Path) -> None:
    missing = StateDB(tmp_path / "none.db", readonly=True)
    with pytest.raises(StateUnavailable, match="no store"):
        await missing.open(create=True)
    async with StateDB(native_file, readonly=True) as db:
        assert await _names(db) == []
        with pytest.raises(PermissionDenied):
            await _add(db, "a")
    assert sorted(path.name for path in native_file.parent.iterdir()) == ["state.db"]


async def test_no_thread_and_no_side_file_outlives_close(native_file: Path) -> None:
    db = StateDB(native_file)
    await db.open()
    await asyncio.gather(*(_names(db) for _ in range(20)), *(_add(db, str(n)) for n in range(5)))
    await db.data_version()
    assert driver_threads() >= 3
    await db.close()
    await no_driver_thread()
    assert sorted(path.name for path in native_file.parent.iterdir()) == ["state.db"]


async def test_readers_that_were_cancelled_leave_no_side_file(native_file: Path) -> None:
    """The log files go with the last connection, if that one may write: what is left of a reader must not be it."""
    db = StateDB(native_file)
    await db.open()
    gc.disable()  # as while the console starts
    try:
        for moment in range(40):
            readers = [asyncio.create_task(db.fetch_all("SELECT * FROM sqlite_master ORDER BY sql")) for _ in range(6)]
            for _ in range(moment):
                await asyncio.sleep(0)
            time.sleep(0.005)  # the answer is there, and nobody has seen it yet
            for reader in readers:
                reader.cancel()
            await asyncio.gather(*readers, return_exceptions=True)
            del readers, reader  # they hold their tracebacks, and those the cursors
        gc.freeze()
        await db.close()
    finally:
        gc.unfreeze()
        gc.enable()
    await no_driver_thread()
    assert sorted(path.name for path in native_file.parent.iterdir()) == ["state.db"]


async def test_few_connections_serve_many_readers(db: StateDB) -> None:
    before = driver_threads()
    for _ in range(5):
        await asyncio.gather(*(_names(db) for _ in range(40)))
    assert driver_threads() <= before + 6


async def test_a_write_that_has_begun_is_not_cancelled(db: StateDB, query: Query) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(insert(projects).values(_project("kept")))
        begun.set()
        await go.wait()

    caller = asyncio.create_task(db.write(work))
    await begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go.set()
    await _add(db, "next")
    for _ in range(1000):  # a server lets a later write pass the one that nobody awaits
        if await _names(db) == ["kept", "next"]:
            return
        await asyncio.sleep(0.01)
    pytest.fail("the write was lost")


async def test_ten_cancelled_writers_lose_nothing_and_lock_nobody_out(db: StateDB) -> None:
    callers = [asyncio.create_task(_add(db, f"{n}")) for n in range(10)]
    await asyncio.sleep(0)
    for caller in callers:
        caller.cancel()
    await asyncio.gather(*callers, return_exceptions=True)
    await _add(db, "last")
    await asyncio.gather(*db._writes)  # on PostgreSQL they do not wait for each other
    assert await _names(db) == [*map(str, range(10)), "last"]


async def test_close_waits_for_writes_under_way(store: Store) -> None:
    db = store.db
    begun, go = asyncio.Event(), asyncio.Event()

    async def work(connection: AsyncConnection) -> None:
        begun.set()
        await go.wait()
        await connection.execute(insert(projects).values(_project("kept")))

    writing = asyncio.create_task(db.write(work))
    await begun.wait()
    closing_down = asyncio.create_task(db.close())
    await asyncio.sleep(0)
    assert not closing_down.done()
    go.set()
    await closing_down
    await writing
    await no_driver_thread()
    await store.open()
    assert await _names(db) == ["kept"]


async def test_close_waits_for_open_reads(db: StateDB) -> None:
    entered, go = asyncio.Event(), asyncio.Event()

    async def read() -> int:
        async with db.read() as connection:
            entered.set()
            await go.wait()
            return int((await connection.execute(text("SELECT 7"))).scalar_one())

    reading = asyncio.create_task(read())
    await entered.wait()
    closing_down = asyncio.create_task(db.close())
    await asyncio.sleep(0.01)
    assert not closing_down.done()
    go.set()
    assert await reading == 7
    await closing_down
    await no_driver_thread()


async def test_close_does_not_wait_for_an_endless_question(db: StateDB, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.05)
    asked = asyncio.Event()

    async def read() -> None:
        async with db.read() as connection:
            asked.set()
            await connection.execute(ENDLESS)

    reading = asyncio.create_task(read())
    await asked.wait()
    await asyncio.sleep(0.01)
    async with asyncio.timeout(10):
        await db.close()
    with pytest.raises(StateUnavailable, match="given up"):
        await reading
    await no_driver_thread()


async def test_a_failed_write_leaves_nothing_and_says_why(db: StateDB) -> None:
    await _add(db, "a")

    async def refused(connection: AsyncConnection) -> None:
        await connection.execute(insert(projects).values(_project("b")))
        raise Conflict("project", expected="x", actual="y")

    with pytest.raises(Conflict):
        await db.write(refused)
    with pytest.raises(StateUnavailable, match="a rule of its schema") as caught:
        await _add(db, "a")
    assert not caught.value.retryable
    assert "INSERT" not in str(caught.value)
    assert await _names(db) == ["a"]


async def test_a_cancelled_reader_stops_its_question_and_leaks_nothing(db: StateDB) -> None:
    async def read() -> None:
        async with db.read() as connection:
            await connection.execute(ENDLESS)

    await _names(db)
    before = driver_threads()
    for pause in (0.0, 0.001, 0.002, 0.004, 0.05):
        readers = [asyncio.create_task(read()) for _ in range(3)]
        await asyncio.sleep(pause)
        for reader in readers:
            reader.cancel()
        results = await asyncio.gather(*readers, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
    assert await _names(db) == []
    await driver_threads_at_most(before)
    await db.close()
    await no_driver_thread()


async def test_readers_go_on_while_a_write_is_under_way(db: StateDB) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(insert(projects).values(_project("a")))
        begun.set()
        await go.wait()

    writing = asyncio.create_task(db.write(work))
    await begun.wait()
    assert await _names(db) == []
    go.set()
    await writing
    assert await _names(db) == ["a"]


async def test_another_writer_that_does_not_finish_is_named(home: Path, native_file: Path) -> None:
    store = Store(None, home=home, busy_timeout_ms=20)
    await store.open()
    with closing(sqlite3.connect(native_file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StateUnavailable, match="another program is writing") as caught:
            await _add(store.db, "a")
        assert caught.value.retryable
        assert await _names(store.db) == []
        other.execute("ROLLBACK")
    await _add(store.db, "a")
    await store.close()


@pytest.mark.sqlite_only("SQLite's own limit and counter")
async def test_a_full_disk_is_named(db: StateDB) -> None:
    async def fill(connection: AsyncConnection) -> None:
        pages = (await connection.exec_driver_sql("PRAGMA page_count")).scalar_one()
        await connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        await connection.execute(insert(projects).values({**_project("a"), "description": "x" * 2_000_000}))

    with pytest.raises(StateUnavailable, match="the disk is full") as caught:
        await db.write(fill)
    assert caught.value.retryable
    assert await _names(db) == []


async def test_damage_met_on_the_way_is_named(home: Path, native_file: Path) -> None:
    with closing(sqlite3.connect(native_file)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'projects'").fetchone()
    content = bytearray(native_file.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    native_file.write_bytes(content)
    store = Store(None, home=home)
    await store.open()
    with pytest.raises(StateUnavailable, match="damaged") as caught:
        await store.db.fetch_all(select(projects))
    assert not caught.value.retryable
    await store.close()


async def test_a_question_to_other_tables_is_named_without_sql(db: StateDB) -> None:
    with pytest.raises(StateUnavailable, match="not what this version expects") as caught:
        await db.fetch_all("SELECT secret FROM nowhere")
    assert "secret" not in str(caught.value)


@pytest.mark.sqlite_only("SQLite's own limit and counter")
async def test_the_change_counter_sees_commits_of_others_and_our_own(db: StateDB, query: Query) -> None:
    first = await db.data_version()
    assert await db.data_version() == first
    assert db.path is not None
    query(db.path, "UPDATE schema_meta SET value = value || '1' WHERE key LIKE 'migration%'")
    second = await db.data_version()
    assert second != first
    await _add(db, "a")
    assert await db.data_version() != second


async def test_a_change_that_waits_for_another_program_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the other one is done; then it is stored like any other. Reading goes on meanwhile."""
    monkeypatch.setattr(state_db, "WAITS_AFTER", 0.05)
    other = StateDB(url=store.db.url)
    await other.open()
    async with other.transaction() as held:
        await held.execute(insert(projects).values(_project("a")))
        assert not store.condition().waiting
        change = asyncio.create_task(_add(store.db, "a"))
        async with asyncio.timeout(20):
            while not store.condition().waiting:
                await _names(store.db)
        assert store.condition().mode == "ready"
        assert await _names(store.db) == []
        await held.execute(projects.delete())
    await change
    assert not store.condition().waiting
    assert await _names(store.db) == ["a"]
    await other.close()


@pytest.mark.sqlite_only("a server tells nobody that one waits")
async def test_a_change_that_only_takes_long_waits_for_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_db, "WAITS_AFTER", -1.0)
    async with store.db.transaction():
        turn = asyncio.create_task(_add(store.db, "a"))
        await asyncio.sleep(0.05)
        assert not store.condition().waiting
    await turn


async def test_a_block_that_is_cancelled_leaves_no_lock(db: StateDB) -> None:
    """Whoever comes next does not wait, here or in another program."""
    begun = asyncio.Event()

    async def hold() -> None:
        async with db.transaction() as connection:
            await connection.execute(insert(projects).values(_project("a")))
            begun.set()
            await asyncio.Event().wait()

    block = asyncio.create_task(hold())
    await begun.wait()
    block.cancel()
    with pytest.raises(asyncio.CancelledError):
        await block
    other = StateDB(url=db.url, busy_timeout_ms=50)
    await other.open()
    await _add(other, "a")
    await other.close()
    await _add(db, "b")
    assert await _names(db) == ["a", "b"]
