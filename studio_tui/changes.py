"""One change feed made of several sources: the store, the definition roots, the shows root (implements ``ChangeFeed``)."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, NamedTuple, Self

INTERVAL: Final = 0.25
"""Seconds between two answers to one subscriber: at most four a second."""
_RESTARTS: Final = (1.0, 5.0, 15.0, 60.0)

ChangeSource = AbstractAsyncContextManager[AsyncIterator[frozenset[str]]]
"""Entered, it tells sets of changed topics; it keeps silent while nothing changes."""

log = logging.getLogger(__name__)


class Source(NamedTuple):
    """How to make a source, and the topics that it tells of."""

    topics: frozenset[str]
    make: Callable[[], ChangeSource]


class Changes:
    """Follows its sources while it is entered, and tells every subscriber what changed since that one was told last.

    A source that fails is made anew after a while, and does not disturb the others. Nobody knows what changed before it was
    entered, be it at the start or after a failure: all its topics are told then. ``failures`` holds the last error of each
    source that is down, by its number.
    """

    def __init__(self, *sources: Source, interval: float = INTERVAL) -> None:
        self.failures: dict[int, str] = {}
        self._sources = sources
        self._interval = interval
        self._subscriptions: weakref.WeakSet[_Subscription] = weakref.WeakSet()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._follow(number, source), name=f"change source {number}")
            for number, source in enumerate(self._sources)
        ]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for subscription in list(self._subscriptions):
            subscription.end()

    def subscribe(self) -> AsyncIterator[frozenset[str]]:
        """Sets of changed topics from now on. The iteration ends with the hub; a subscriber may simply stop asking."""
        subscription = _Subscription(self._interval)
        if self._closed:
            subscription.end()
        self._subscriptions.add(subscription)
        return subscription

    def nudge(self, topic: str) -> None:
        """Say it ourselves (a refresh asked for by hand)."""
        self._tell((topic,))

    def _tell(self, topics: Iterable[str]) -> None:
        for subscription in list(self._subscriptions):
            subscription.tell(topics)

    async def _follow(self, number: int, source: Source) -> None:
        attempt = 0
        while True:
            try:
                async with source.make() as changes:
                    self.failures.pop(number, None)
                    self._tell(source.topics)
                    async for topics in changes:
                        attempt = 0
                        self._tell(topics)
                return
            except Exception as error:
                self.failures[number] = str(error) or type(error).__name__
                log.warning("a source of changes failed and is taken up again", exc_info=error)
            await asyncio.sleep(_RESTARTS[min(attempt, len(_RESTARTS) - 1)])
            attempt += 1


class _Subscription(AsyncIterator[frozenset[str]]):
    """What one subscriber has not been told yet."""

    def __init__(self, interval: float) -> None:
        self._interval = interval
        self._pending: set[str] = set()
        self._wake = asyncio.Event()
        self._not_before = 0.0
        self._ended = False

    def tell(self, topics: Iterable[str]) -> None:
        """Keep the topics until the subscriber asks."""
        self._pending.update(topics)
        if self._pending:
            self._wake.set()

    def end(self) -> None:
        """Tell what is left, then end the iteration."""
        self._ended = True
        self._wake.set()

    async def __anext__(self) -> frozenset[str]:
        await self._wake.wait()
        loop = asyncio.get_running_loop()
        if not self._ended and (delay := self._not_before - loop.time()) > 0:
            await asyncio.sleep(delay)
        topics = frozenset(self._pending)
        self._pending.clear()
        if not topics:
            raise StopAsyncIteration
        if not self._ended:
            self._wake.clear()
        self._not_before = loop.time() + self._interval
        return topics
