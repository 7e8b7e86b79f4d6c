"""Work that comes due outside of schedules: messages and notices. It is done side by side, and nothing waits for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, Generic, Protocol, TypeVar

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.ports import Clock

log = logging.getLogger(__name__)

T = TypeVar("T")

LOOK_EVERY: Final = 15.0
"""Seconds after which the store is asked again, whatever it said before."""

SIDE_BY_SIDE: Final = 8
"""Errands of one kind that are under way at once."""

LEAVE_AFTER: Final = 2.0
"""Seconds for which a stop waits for what is under way."""

SOON: Final = 0.25
"""Seconds in which the ends of many firings cause one look."""

_RETRY: Final = 5.0
_SHORTEST: Final = 0.5


class Kind(Protocol[T]):
    """One kind of errand. What is claimed belongs to this process for a while, by a lease in the database."""

    async def next_at(self) -> float | None:
        """When something comes due, in epoch seconds; ``None`` while nothing waits."""
        ...

    async def claim(self, limit: int) -> Sequence[T]:
        """Take what is due, at most so much."""
        ...

    async def run(self, errand: T) -> None:
        """Do it, and say in the database what became of it."""
        ...


class Errands(Generic[T]):
    """Does errands of one kind while ``hosts`` answers yes. No more are claimed than begin at once: no lease runs out unused."""

    def __init__(self, name: str, kind: Kind[T], *, clock: Clock, hosts: Callable[[], bool]) -> None:
        self._name, self._kind, self._clock, self._hosts = name, kind, clock, hosts
        self._wake = asyncio.Event()
        self._under_way: set[asyncio.Task[None]] = set()
        self._stopping = False
        self._soon: asyncio.TimerHandle | None = None
        self._looking: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Look again now."""
        self._wake.set()

    def wake_soon(self) -> None:
        """Look again in a moment, once for all that happens meanwhile."""
        if self._soon is None and not self._stopping:
            self._soon = asyncio.get_running_loop().call_later(SOON, self._wake_now)

    def start(self) -> asyncio.Task[None]:
        """Work from now on, until :meth:`stop`."""
        self._stopping = False
        self._looking = asyncio.create_task(self._run(), name=self._name)
        return self._looking

    async def stop(self) -> None:
        """Begin nothing more. What is under way gets a moment; what is cut short is done again once its lease is over."""
        self._stopping = True
        self._wake.set()
        if self._looking is not None:
            await asyncio.wait((self._looking,))  # it may be about to begin what it has claimed
        if self._under_way:
            await asyncio.wait(tuple(self._under_way), timeout=LEAVE_AFTER)
        for task in self._under_way:
            task.cancel()
        if self._under_way:
            await asyncio.wait(tuple(self._under_way))

    async def look(self) -> float:
        """Begin what is due; the seconds until the next look, if nothing wakes it before."""
        self._wake.clear()
        room = SIDE_BY_SIDE - len(self._under_way)
        if not self._hosts() or not room:
            return LOOK_EVERY
        at = await self._kind.next_at()
        if at is None:
            return LOOK_EVERY
        wait = at - self._clock.now()
        if wait <= 0:
            for errand in await self._kind.claim(room):
                self._begin(errand)
        return min(max(wait, _SHORTEST), LOOK_EVERY)

    def _wake_now(self) -> None:
        self._soon = None
        self._wake.set()

    async def _run(self) -> None:
        while not self._stopping:
            try:
                pause = await self.look()
            except StudioApplicationError as failure:
                log.warning("%s: what is due was not looked for: %s", self._name, failure)
                pause = _RETRY
            except Exception:
                log.exception("%s: what is due was not looked for", self._name)
                pause = _RETRY
            if not self._stopping:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), pause)

    def _begin(self, errand: T) -> None:
        task = asyncio.create_task(self._watched(errand), name=self._name)
        self._under_way.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._wake.set()

    async def _watched(self, errand: T) -> None:
        try:
            await self._kind.run(errand)
        except StudioApplicationError as failure:
            log.warning("%s: what became of one is not kept, it is done again: %s", self._name, failure)
        except Exception:
            log.exception("%s: one failed", self._name)
