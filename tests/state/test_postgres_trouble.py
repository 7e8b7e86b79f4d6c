"""Connections that are cut, a server that restarts or does not answer, and writers that meet (B057)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, text, update

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import RunFilter
from studio_tui.state import connections
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.lifecycle import write_status
from studio_tui.state.schema import message_types, projects, sessions
from studio_tui.state.store import Store
from studio_tui.state.stores.runs import RunStore
from tests.builders import NOW, a_run
from tests.postgres import Server, wait_until

CUT_ALL = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


@pytest.fixture
async def store(postgres_url: str, home: Path) -> AsyncIterator[Store]:
    store = Store(f"{postgres_url}&command_timeout=1&connect_timeout=1", home=home)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def db(store: Store) -> StateDB:
    return store.db


@pytest.fixture
def cut(postgres: Server, postgres_database: str) -> Callable[[], None]:
    """End every session of this test's database, as an administrator or an idle limit does."""
    return lambda: postgres.run(postgres_database, CUT_ALL) and None


def _project(name: str) -> dict[str, Any]:
    return {"name": name, "source": "studio", "created_at": 1.0, "updated_at": 1.0}


async def _counted(postgres: Server, database: str, query: str, number: int) -> None:
    """Wait until the query counts so many."""
    await asyncio.to_thread(wait_until, lambda: postgres.run(database, query) == [(str(number),)], query)


async def _names(db: StateDB) -> list[str]:
    return [row["name"] for row in await db.fetch_all(select(projects.c.name).order_by(projects.c.name))]


async def test_sessions_that_were_cut_while_idle_are_not_missed(db: StateDB, cut: Callable[[], None]) -> None:
    await asyncio.gather(*(_names(db) for _ in range(4)))
    for number in range(3):
        await asyncio.to_thread(cut)
        assert len(await _names(db)) == number
        await asyncio.to_thread(cut)
        await db.execute(insert(projects), _project(str(number)))


async def test_a_server_that_restarts_is_not_missed(db: StateDB, postgres: Server) -> None:
    await db.execute(insert(projects), _project("a"))
    await asyncio.to_thread(postgres.stop)
    try:
        with pytest.raises(StateUnavailable) as caught:
            await _names(db)
        assert caught.value.retryable
        with pytest.raises(StateUnavailable):
            await db.execute(insert(projects), _project("b"))
    finally:
        postgres.start()
    assert await _names(db) == ["a"]
    await db.execute(insert(projects), _project("c"))
    assert await _names(db) == ["a", "c"]


async def test_a_read_that_is_cut_in_the_middle_is_asked_once_more(
    db: StateDB, cut: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    await a_run(db, id="one")
    original, cuts = AsyncConnection.execute, [True]

    async def cut_first(connection: AsyncConnection, *arguments: Any, **options: Any) -> Any:
        if cuts and cuts.pop():
            await connection.exec_driver_sql("SELECT 1")
            await asyncio.to_thread(cut)
        return await original(connection, *arguments, **options)

    monkeypatch.setattr(AsyncConnection, "execute", cut_first)
    page = await RunStore(db).list_runs(RunFilter(), after=None, backwards=False, limit=5)
    assert [run.run_id for run in page.runs] == ["one"]
    cuts[:] = [True, True]
    with pytest.raises(StateUnavailable, match="was lost") as caught:
        await RunStore(db).list_runs(RunFilter(), after=None, backwards=False, limit=5)
    assert caught.value.retryable


async def test_a_write_that_is_cut_before_its_commit_has_stored_nothing(db: StateDB, cut: Callable[[], None]) -> None:
    async def work(connection: AsyncConnection) -> None:
        await connection.execute(insert(projects).values(_project("a")))
        await asyncio.to_thread(cut)
        await connection.execute(insert(projects).values(_project("b")))

    with pytest.raises(StateUnavailable, match="was lost") as caught:
        await db.write(work)
    assert caught.value.retryable
    assert await _names(db) == []


async def test_a_write_that_is_cut_in_its_commit_is_said_to_be_unknown(db: StateDB, cut: Callable[[], None]) -> None:
    async def work(connection: AsyncConnection) -> None:
        await connection.execute(insert(projects).values(_project("a")))
        await asyncio.to_thread(cut)

    with pytest.raises(StateUnavailable, match="look whether it was stored") as caught:
        await db.write(work)
    assert not caught.value.retryable
    assert await _names(db) == []


async def test_a_commit_that_the_server_refuses_is_no_mystery(db: StateDB, postgres: Server, postgres_database: str) -> None:
    postgres.run(postgres_database, "ALTER TABLE projects ADD CONSTRAINT late UNIQUE (source) DEFERRABLE INITIALLY DEFERRED")

    async def work(connection: AsyncConnection) -> None:
        await connection.execute(insert(projects), [_project("a"), _project("b")])

    with pytest.raises(StateUnavailable, match="a rule of its schema"):
        await db.write(work)


async def test_a_server_that_does_not_answer_is_waited_for_only_so_long(db: StateDB, postgres: Server) -> None:
    """``command_timeout`` of the address; without it the limit is longer, and there is one."""
    await db.execute(insert(projects), _project("a"))
    with postgres.frozen():
        with pytest.raises(StateUnavailable) as caught:
            await _names(db)
        assert caught.value.retryable
        with pytest.raises(StateUnavailable):
            await db.execute(insert(projects), _project("b"))
    assert await _names(db) in (["a"], ["a", "b"])


async def test_closing_does_not_wait_for_a_server_that_stands_still(
    store: Store, postgres: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "PATIENCE", 0.05)
    asked = asyncio.Event()

    async def ask() -> None:
        async with store.db.read() as connection:
            asked.set()
            await connection.execute(text("SELECT pg_sleep(60)"))

    asking = asyncio.create_task(ask())
    await asked.wait()
    await asyncio.sleep(0.05)
    with postgres.frozen():
        async with asyncio.timeout(15):
            await store.close()
        with pytest.raises(StateUnavailable):
            await asking


async def test_a_cancelled_question_ends_on_the_server(db: StateDB, postgres: Server, postgres_database: str) -> None:
    running = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{postgres_database}' AND query LIKE '%pg_sleep(60)%'"
    running += " AND state = 'active' AND pid <> pg_backend_pid()"

    async def ask() -> None:
        async with db.read() as connection:
            await connection.execute(text("SELECT pg_sleep(60)"))

    asking = asyncio.create_task(ask())
    await _counted(postgres, postgres_database, running, 1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await _counted(postgres, postgres_database, running, 0)
    assert await _names(db) == []


async def test_a_status_is_written_behind_the_lock_of_its_row(db: StateDB, postgres: Server, postgres_database: str) -> None:
    """Of two who end a run at once, the second sees what the first wrote."""
    await a_run(db, id="r", status="running")
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    reasons = {"reason_code": "run.failed.exception", "summary": "", "evidence": (), "source": "admin", "actor": "op"}

    async def second(connection: AsyncConnection) -> bool:
        return await write_status(connection, "session", "r", "failed", now=NOW, expected={"running"}, **reasons)

    async def first(connection: AsyncConnection) -> asyncio.Task[bool]:
        await connection.execute(select(sessions.c.id).where(sessions.c.id == "r").with_for_update())
        behind = asyncio.create_task(db.write(second))
        await _counted(postgres, postgres_database, waiting, 1)
        await connection.execute(update(sessions).where(sessions.c.id == "r").values(status="completed"))
        return behind

    assert await (await db.write(first)) is False
    assert await db.fetch_one("SELECT status FROM sessions") == {"status": "completed"}


async def test_a_deadlock_is_named_and_leaves_one_of_two(db: StateDB) -> None:
    await db.execute(insert(projects), _project("a"))
    await db.execute(insert(projects), _project("b"))
    both = asyncio.Barrier(2)

    async def change(connection: AsyncConnection, first: str, second: str) -> None:
        await connection.execute(update(projects).where(projects.c.name == first).values(description=first))
        await both.wait()
        await connection.execute(update(projects).where(projects.c.name == second).values(description=first))

    results = await asyncio.gather(
        db.write(lambda connection: change(connection, "a", "b")),
        db.write(lambda connection: change(connection, "b", "a")),
        return_exceptions=True,
    )
    (failure,) = [result for result in results if result is not None]
    assert isinstance(failure, StateUnavailable)
    assert failure.retryable


async def test_values_that_no_column_takes_are_named(db: StateDB) -> None:
    for statement in (
        insert(message_types).values(type_id=2**40, lion_class="x"),
        insert(projects).values(**_project("a"), path=7),
    ):
        with pytest.raises(StateUnavailable, match="too large for the store, or of the wrong kind") as caught:
            await db.execute(statement)
        assert not caught.value.retryable


async def test_many_questions_at_once_wait_for_few_connections(db: StateDB, postgres: Server, postgres_database: str) -> None:
    await asyncio.gather(*(_names(db) for _ in range(100)), *(db.execute(insert(projects), _project(str(n))) for n in range(30)))
    sessions_open = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{postgres_database}' AND pid <> pg_backend_pid()"
    assert int(postgres.run(postgres_database, sessions_open)[0][0]) <= 8
    assert len(await _names(db)) == 30
