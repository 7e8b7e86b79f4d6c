"""The change feed: commits are told, silence is kept, few answers, and a store that becomes another one is followed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from sqlalchemy import insert

from studio_tui.changes import Changes, Source
from studio_tui.state import changes
from studio_tui.state.changes import StoreWatch
from studio_tui.state.schema import projects
from studio_tui.state.store import Store
from tests.state.files import make_native_file

Query = Callable[..., list[tuple[object, ...]]]
TOLD = frozenset({"store"})
_ADD = "INSERT INTO projects VALUES (?, 'studio', NULL, NULL, NULL, 1.0, 1.0, NULL)"


async def _told(watch: AsyncIterator[frozenset[str]]) -> frozenset[str]:
    async with asyncio.timeout(20):
        return await anext(watch)


async def _silent(watch: AsyncIterator[frozenset[str]], seconds: float = 0.6) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(seconds):
            await anext(watch)


async def _drained(watch: AsyncIterator[frozenset[str]]) -> None:
    """Take what is still told of before."""
    while True:
        try:
            async with asyncio.timeout(0.3):
                await anext(watch)
        except TimeoutError:
            return


async def _opened(home: Path) -> Store:
    store = Store(None, home=home)
    await store.open()
    return store


@pytest.mark.sqlite_only("events of files; PostgreSQL is followed in tests/postgres")
async def test_commits_of_others_and_our_own_are_told(store: Store, query: Query) -> None:
    assert store.path is not None
    async with StoreWatch(store) as watch:
        await asyncio.to_thread(query, store.path, _ADD, "a")
        assert await _told(watch) == TOLD
        assert watch.mode == "events"
        row = {"name": "b", "source": "studio", "created_at": 1.0, "updated_at": 1.0}
        await store.db.execute(insert(projects), row)
        assert await _told(watch) == TOLD
        for number in range(5):
            await asyncio.to_thread(query, store.path, _ADD, f"c{number}")
            assert await _told(watch) == TOLD


@pytest.mark.sqlite_only("events of files; PostgreSQL is followed in tests/postgres")
async def test_it_keeps_silent_when_nothing_was_committed(store: Store, home: Path, query: Query) -> None:
    assert store.path is not None
    async with StoreWatch(store) as watch:
        await _silent(watch)
        (home / "last_branch.json").write_text("{}")
        (home / "state.db-journal").touch()
        await asyncio.to_thread(query, store.path, "SELECT count(*) FROM projects")
        await store.db.checkpoint()
        await _silent(watch)


@pytest.mark.sqlite_only("events of files; PostgreSQL is followed in tests/postgres")
async def test_without_events_the_counter_is_looked_at(store: Store, query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_arguments: Any, **_options: Any) -> AsyncIterator[Any]:
        raise OSError('OS file watch limit reached. about ["/x"]')

    monkeypatch.setattr(changes, "file_events", refuse)
    assert store.path is not None
    async with StoreWatch(store) as watch:
        await _silent(watch, 0.3)
        assert watch.mode == "polling"
        assert "max_user_watches" in (watch.reason or "")
        await asyncio.to_thread(query, store.path, _ADD, "a")
        assert await _told(watch) == TOLD
        await _silent(watch, 0.3)
    assert watch.mode == "off"


@pytest.mark.sqlite_only("events of files; PostgreSQL is followed in tests/postgres")
async def test_events_that_never_come_are_made_up_for(store: Store, query: Query, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_arguments: Any, **_options: Any) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield set()

    monkeypatch.setattr(changes, "file_events", nothing)
    assert store.path is not None
    async with StoreWatch(store, rescan_seconds=0.05) as watch:
        await _silent(watch, 0.5)
        await asyncio.to_thread(query, store.path, _ADD, "a")
        assert await _told(watch) == TOLD


@pytest.mark.parametrize("with_folder", [True, False])
async def test_a_store_that_is_made_later_is_opened(tmp_path: Path, with_folder: bool) -> None:
    home = tmp_path / "home"
    if with_folder:
        home.mkdir()
    store = await _opened(home)
    assert store.condition().mode == "missing"
    async with StoreWatch(store) as watch:
        home.mkdir(exist_ok=True)
        await asyncio.to_thread(make_native_file, home / "state.db")
        while store.condition().mode != "ready":
            assert await _told(watch) == TOLD
    await store.close()


async def test_our_own_new_store_is_followed(home: Path, query: Query) -> None:
    store = await _opened(home)
    async with StoreWatch(store) as watch:
        await store.create()
        assert await _told(watch) == TOLD
        assert store.condition().mode == "ready"
        await _drained(watch)
        assert store.path is not None
        await asyncio.to_thread(query, store.path, _ADD, "a")
        assert await _told(watch) == TOLD
    await store.close()


async def test_a_store_that_is_replaced_or_removed_is_followed(home: Path, native_file: Path, tmp_path: Path) -> None:
    store = await _opened(home)
    newer = tmp_path / "newer.db"
    make_native_file(newer, version="9")
    async with StoreWatch(store) as watch:
        newer.replace(native_file)
        assert await _told(watch) == TOLD
        assert store.condition().mode == "read_only"
        native_file.unlink()
        assert await _told(watch) == TOLD
        assert store.condition().mode == "missing"
        make_native_file(native_file)
        while store.condition().mode != "ready":
            assert await _told(watch) == TOLD
    await store.close()


async def test_a_store_that_is_upgraded_meanwhile_becomes_writable(
    home: Path, native_file: Path, query: Query, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_REJUDGE_SECONDS", 0.1)
    query(native_file, "DROP INDEX idx_projects_source")
    store = await _opened(home)
    assert store.condition().mode == "read_only"
    async with StoreWatch(store) as watch:
        await asyncio.to_thread(query, native_file, "CREATE INDEX idx_projects_source ON projects (source)")
        while store.condition().mode != "ready":
            assert await _told(watch) == TOLD
    await store.close()


@pytest.mark.sqlite_only("events of files; PostgreSQL is followed in tests/postgres")
async def test_leaving_ends_the_watch(store: Store) -> None:
    before = len(asyncio.all_tasks())
    async with StoreWatch(store):
        assert len(asyncio.all_tasks()) == before + 1
    assert len(asyncio.all_tasks()) == before


# --- the hub ----------------------------------------------------------------------------------------------------------


NONE: frozenset[str] = frozenset()


class Scripted:
    """A source that tells what it is given, and fails on an exception."""

    def __init__(self, queue: asyncio.Queue[str | Exception]) -> None:
        self._queue = queue

    async def __aenter__(self) -> AsyncIterator[frozenset[str]]:
        return self._tell()

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        return None

    async def _tell(self) -> AsyncIterator[frozenset[str]]:
        while True:
            item = await self._queue.get()
            if isinstance(item, Exception):
                raise item
            yield frozenset({item})

    def __call__(self) -> Self:
        return self


async def test_what_changed_before_a_source_was_entered_is_told() -> None:
    async with Changes(Source(frozenset({"store"}), Scripted(asyncio.Queue()))) as hub:
        feed = hub.subscribe()
        assert await _told(feed) == {"store"}
        await _silent(feed, 0.05)


async def test_every_subscriber_is_told_of_every_source() -> None:
    store, files = asyncio.Queue[str | Exception](), asyncio.Queue[str | Exception]()
    async with Changes(Source(NONE, Scripted(store)), Source(NONE, Scripted(files))) as hub:
        first, second = hub.subscribe(), hub.subscribe()
        store.put_nowait("store")
        assert await _told(first) == {"store"}
        assert await _told(second) == {"store"}
        files.put_nowait("shows")
        assert await _told(first) == {"shows"}
        hub.nudge("definitions")
        assert await _told(first) == {"definitions"}
        assert await _told(second) == {"shows", "definitions"}
    with pytest.raises(StopAsyncIteration):
        await anext(first)
    with pytest.raises(StopAsyncIteration):
        await anext(hub.subscribe())


async def test_a_burst_is_one_answer_and_answers_are_spaced() -> None:
    async with Changes(interval=0.2) as hub:
        feed = hub.subscribe()
        for _ in range(3):
            for _ in range(50):
                hub.nudge("store")
        loop = asyncio.get_running_loop()
        assert await _told(feed) == {"store"}
        first = loop.time()
        hub.nudge("store")
        hub.nudge("shows")
        assert await _told(feed) == {"store", "shows"}
        assert loop.time() - first >= 0.19
        await _silent(feed, 0.3)


async def test_a_source_that_fails_is_taken_up_again_and_disturbs_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.changes._RESTARTS", (0.01,))
    bad, good = asyncio.Queue[str | Exception](), asyncio.Queue[str | Exception]()
    async with Changes(Source(frozenset({"store"}), Scripted(bad)), Source(NONE, Scripted(good)), interval=0.0) as hub:
        feed = hub.subscribe()
        assert await _told(feed) == {"store"}
        bad.put_nowait(OSError("no more watches"))
        good.put_nowait("shows")
        told: frozenset[str] = frozenset()
        while told != {"shows", "store"}:  # what it missed while it was down counts as changed
            told |= await _told(feed)
        bad.put_nowait("definitions")
        assert await _told(feed) == {"definitions"}
        assert hub.failures == {}


async def test_a_subscriber_that_went_away_is_forgotten() -> None:
    async with Changes() as hub:
        feed = hub.subscribe()
        hub.nudge("store")
        assert await _told(feed) == {"store"}
        del feed
        assert len(hub._subscriptions) == 0
