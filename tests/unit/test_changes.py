"""The change feed: several sources, several subscribers, four answers a second at most, none while nothing changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from studio_tui import changes
from studio_tui.changes import Changes


class Source:
    """A source that says what it is told to, and can break."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[frozenset[str] | Exception] = asyncio.Queue()
        self.entered = 0
        self.left = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[AsyncIterator[frozenset[str]]]:
        self.entered += 1
        try:
            yield self._said()
        finally:
            self.left += 1

    async def _said(self) -> AsyncIterator[frozenset[str]]:
        while True:
            said = await self.queue.get()
            if isinstance(said, Exception):
                raise said
            yield said


async def soon(feed: AsyncIterator[frozenset[str]]) -> frozenset[str]:
    return await asyncio.wait_for(anext(feed), 10)


async def nothing(feed: AsyncIterator[frozenset[str]]) -> bool:
    """Whether the feed stays silent while everything that is ready runs."""
    task = asyncio.ensure_future(anext(feed))
    for _ in range(20):
        await asyncio.sleep(0)
    silent = not task.done()
    task.cancel()
    return silent


async def test_each_subscriber_hears_of_every_source() -> None:
    store, files = Source(), Source()
    async with Changes(store, files) as feed:
        one, other = feed.subscribe(), feed.subscribe()
        store.queue.put_nowait(frozenset({"store"}))
        assert await soon(one) == await soon(other) == {"store"}
        files.queue.put_nowait(frozenset({"shows", "definitions"}))
        assert await soon(one) == {"shows", "definitions"}
    assert (store.left, files.left) == (1, 1)


async def test_what_comes_close_together_is_told_together_and_not_at_once() -> None:
    async with Changes() as feed:
        heard = feed.subscribe()
        feed.nudge("store")
        assert await soon(heard) == {"store"}
        begun = asyncio.get_running_loop().time()
        for topic in ("store", "shows", "store"):
            feed.nudge(topic)
        assert await soon(heard) == {"store", "shows"}
        assert asyncio.get_running_loop().time() - begun >= changes.PAUSE * 0.9
        assert await nothing(heard)


async def test_only_what_changes_after_subscribing_is_told() -> None:
    async with Changes() as feed:
        feed.nudge("store")
        assert await nothing(feed.subscribe())


async def test_a_source_that_breaks_is_made_anew(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(changes, "_RESTARTS", (0.0,))
    source = Source()
    async with Changes(source) as feed:
        heard = feed.subscribe()
        source.queue.put_nowait(OSError("the watch broke"))
        source.queue.put_nowait(frozenset({"store"}))
        assert await soon(heard) == {"store"}
    assert (source.entered, source.left) == (2, 2)
    assert "a source of the change feed failed" in caplog.text


async def test_a_subscriber_that_goes_is_forgotten() -> None:
    async with Changes() as feed:
        feed.subscribe()
        heard = feed.subscribe()
        feed.nudge("store")
        assert await soon(heard) == {"store"}
        assert len(feed._subscriptions) == 1
