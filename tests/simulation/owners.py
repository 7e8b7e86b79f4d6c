"""Processes that can be stopped in mid-sentence.

Everything that one process does runs in a context with an :class:`Owner`. A callback of an owner that is stopped is set aside
instead of run: for ever when the process crashed, until it is continued when it was frozen.
"""

from __future__ import annotations

import asyncio
from contextvars import Context, ContextVar
from typing import Any


class Owner:
    """One simulated process as the loop sees it. ``doomed`` is what will stop it once its transaction is over."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stopped = False
        self.doomed = False
        self.parked: list[asyncio.Handle] = []
        self._stopping: list[asyncio.Future[None]] = []

    def stop(self) -> None:
        """Run no callback of this process from now on."""
        self.stopped, self.doomed = True, False
        for waiting in self._stopping:
            if not waiting.done():
                waiting.set_result(None)
        self._stopping.clear()

    async def end(self) -> None:
        """Do nothing more, for a process that is doomed: goes on only when the process does."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._stopping.append(waiting)
        await waiting

    def proceed(self) -> list[asyncio.Handle]:
        """Go on: what was set aside meanwhile, for the loop to run."""
        self.stopped = self.doomed = False
        parked, self.parked = self.parked, []
        return parked


OWNER: ContextVar[Owner | None] = ContextVar("OWNER", default=None)


class OwnedHandle(asyncio.Handle):
    __slots__ = ("_owner",)

    def __init__(self, callback: Any, args: Any, loop: Any, context: Context, owner: Owner) -> None:
        super().__init__(callback, args, loop, context)
        self._owner = owner

    def _run(self) -> None:
        if self._owner.stopped:
            self._owner.parked.append(self)
        else:
            super()._run()


class OwnedTimer(asyncio.TimerHandle):
    __slots__ = ("_owner",)

    def __init__(self, when: float, callback: Any, args: Any, loop: Any, context: Context, owner: Owner) -> None:
        super().__init__(when, callback, args, loop, context)
        self._owner = owner

    def _run(self) -> None:
        if self._owner.stopped:
            self._owner.parked.append(self)
        else:
            super()._run()
