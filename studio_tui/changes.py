"""One change feed from several sources: whoever looks hears which topics changed, at most four times a second."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Final, Self
from weakref import WeakSet

log = logging.getLogger(__name__)

PAUSE: Final = 0.25
"""Seconds between two answers to one subscriber."""

_RESTARTS: Final = (1.0, 5.0, 15.0, 60.0)

Source = Callable[[], AbstractAsyncContextManager[AsyncIterator[frozenset[str]]]]


class Subscription(AsyncIterator[frozenset[str]]):
    """What one subscriber has not heard yet."""

    def __init__(self) -> None:
        self._topics: set[str] = set()
        self._something = asyncio.Event()
        self._told_at = float("-inf")

    def tell(self, topics: frozenset[str]) -> None:
        """Note that these topics changed."""
        self._topics |= topics
        self._something.set()

    async def __anext__(self) -> frozenset[str]:
        await self._something.wait()
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0.0, self._told_at + PAUSE - loop.time()))
        self._told_at = loop.time()
        topics = frozenset(self._topics)
        self._topics.clear()
        self._something.clear()
        return topics


class Changes:
    """Implements :class:`studio_tui.application.ports.ChangeFeed`. Without sources it only passes on nudges."""

    def __init__(self, *sources: Source) -> None:
        self._sources = sources
        self._subscriptions: WeakSet[Subscription] = WeakSet()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.create_task(self._follow(source), name="change feed") for source in self._sources]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def subscribe(self) -> AsyncIterator[frozenset[str]]:
        """Everything that changes from now on."""
        subscription = Subscription()
        self._subscriptions.add(subscription)
        return subscription

    def nudge(self, topic: str) -> None:
        """Say it ourselves."""
        self._tell(frozenset({topic}))

    def _tell(self, topics: frozenset[str]) -> None:
        for subscription in self._subscriptions:
            subscription.tell(topics)

    async def _follow(self, source: Source) -> None:
        """Pass on what a source says; a source that fails is made anew after a pause that grows."""
        failures = 0
        while True:
            try:
                async with source() as changes:
                    async for topics in changes:
                        failures = 0
                        self._tell(topics)
            except Exception:
                log.exception("a source of the change feed failed")
            await asyncio.sleep(_RESTARTS[min(failures, len(_RESTARTS) - 1)])
            failures += 1
