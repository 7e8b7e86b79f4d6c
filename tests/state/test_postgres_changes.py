"""The change feed on PostgreSQL: commits are told soon and once, silence costs next to nothing, a cut line is noticed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import event, insert

from studio_tui.state import server_changes
from studio_tui.state.changes import StoreWatch
from studio_tui.state.db import StateDB
from studio_tui.state.schema import projects
from studio_tui.state.store import Store
from tests.builders import NOW, a_run
from tests.postgres import EMPTY, OPERATOR, Server

TOLD = frozenset({"store"})


@pytest.fixture
async def store(postgres_url: str, home: Path) -> AsyncIterator[Store]:
    store = Store(postgres_url, home=home)
    await store.open()
    yield store
    await store.close()


async def _told(watch: AsyncIterator[frozenset[str]], seconds: float = 20) -> frozenset[str]:
    async with asyncio.timeout(seconds):
        return await anext(watch)


async def _silent(watch: AsyncIterator[frozenset[str]], seconds: float = 1.0) -> None:
    with pytest.raises(TimeoutError):
        await _told(watch, seconds)


async def test_commits_of_others_are_told_at_once_and_once(store: Store, postgres: Server, postgres_database: str) -> None:
    run_id = await a_run(store.db)
    async with StoreWatch(store) as watch:
        assert watch.mode == "polling"
        await _silent(watch, 0.6)
        for number in range(3):
            change = f"UPDATE sessions SET updated_at = {NOW + number + 1} WHERE id = '{run_id}'"
            await asyncio.to_thread(postgres.run, postgres_database, change)
            assert await _told(watch, 5) == TOLD
        await _silent(watch, 1.5)


async def test_what_moves_no_instant_is_told_when_the_server_has_counted_it(
    store: Store, postgres: Server, postgres_database: str
) -> None:
    run_id = await a_run(store.db)
    async with StoreWatch(store) as watch:
        await _silent(watch, 0.3)
        for change in (
            f"UPDATE sessions SET user_label = 'mine' WHERE id = '{run_id}'",
            f"INSERT INTO run_tags VALUES ('{run_id}', 'nightly', 1.0)",
            f"DELETE FROM sessions WHERE id = '{run_id}'",
        ):
            await asyncio.to_thread(postgres.run, postgres_database, change)
            assert await _told(watch) == TOLD


async def test_what_a_busy_session_changes_is_told_before_it_has_counted_it(store: Store) -> None:
    """It counts at most once a second, and what comes after that ten seconds after it has fallen idle."""
    run_id = await a_run(store.db)
    other = StateDB(url=store.db.url)
    await other.open()
    async with StoreWatch(store) as watch:
        await _silent(watch, 0.3)
        for number in range(4):
            await other.execute("UPDATE sessions SET user_label = :label WHERE id = :id", {"label": str(number), "id": run_id})
            assert await _told(watch, 6) == TOLD
    await other.close()


async def test_our_own_commits_are_told(store: Store) -> None:
    async with StoreWatch(store) as watch:
        row = {"name": "a", "source": "studio", "created_at": 1.0, "updated_at": 1.0}
        await store.db.execute(insert(projects), row)
        assert await _told(watch) == TOLD


async def test_reads_locks_and_neighbours_wake_nobody(store: Store, postgres: Server, postgres_database: str) -> None:
    neighbour = postgres.database(EMPTY)
    try:
        postgres.run(neighbour, "CREATE TABLE theirs (n integer)", user=OPERATOR)
        async with StoreWatch(store) as watch:
            for _ in range(3):
                await asyncio.to_thread(postgres.run, neighbour, "INSERT INTO theirs VALUES (1)")
                await asyncio.to_thread(postgres.run, postgres_database, "BEGIN", "SELECT 1 FROM schema_meta FOR UPDATE")
                await _silent(watch, 0.4)
    finally:
        postgres.drop(neighbour)


async def test_when_nothing_happens_one_short_question_is_asked(store: Store) -> None:
    """Four times a second, whatever the store holds; the tables are not looked at."""
    asked: list[str] = []
    assert store.db._connections is not None
    engine = store.db._connections._readers.sync_engine
    await store.db.data_version()
    await store.db.data_version()

    @event.listens_for(engine, "before_cursor_execute")
    def note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        asked.append(statement)

    async with StoreWatch(store) as watch:
        await _silent(watch, 1.3)
    assert set(asked) == {server_changes._SNAPSHOT}
    assert len(asked) <= 10


async def test_a_busy_neighbour_is_looked_past_after_a_while(
    store: Store, postgres: Server, postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count of rows is asked for only as long as a commit may still be counted."""
    monkeypatch.setattr(server_changes, "COUNTED_WITHIN", 0.5)
    before = await store.db.data_version()
    await asyncio.to_thread(postgres.run, postgres_database, "SELECT txid_current()")
    changes = store.db._connections._changes  # type: ignore[union-attr]
    assert await store.db.data_version() == before
    assert changes._fingerprint is not None
    seen = ""
    while changes._seen != seen:  # the server's own housekeeping is a neighbour too
        await store.db.data_version()
        seen = changes._seen
        await asyncio.sleep(0.6)
        changes._fingerprint, before = "asked again", changes._number
        await store.db.data_version()
    assert changes._number == before
    assert changes._fingerprint == "asked again"


async def test_a_store_that_goes_and_comes_back_is_told(store: Store, postgres: Server) -> None:
    async with StoreWatch(store) as watch:
        await _silent(watch, 0.3)
        await asyncio.to_thread(postgres.stop)
        try:
            while store.condition().mode != "unavailable":
                assert await _told(watch) == TOLD
            assert store.condition().reason
        finally:
            postgres.start()
        while store.condition().mode != "ready":
            assert await _told(watch) == TOLD
        assert await store.db.fetch_all(projects.select()) == []


async def test_a_store_that_is_made_meanwhile_is_opened(postgres: Server, home: Path) -> None:
    database = postgres.database(EMPTY)
    waiting, maker = (Store(postgres.url(database), home=home) for _ in range(2))
    try:
        await waiting.open()
        await maker.open()
        assert waiting.condition().mode == "missing"
        async with StoreWatch(waiting) as watch:
            await _silent(watch, 0.6)
            await maker.create()
            while waiting.condition().mode != "ready":
                assert await _told(watch) == TOLD
    finally:
        await waiting.close()
        await maker.close()
        postgres.drop(database)
