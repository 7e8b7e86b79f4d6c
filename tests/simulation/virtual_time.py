"""An event loop on which time passes only when nothing is left to do.

Virtual time moves when no callback is ready and no question to SQLite is unanswered. aiosqlite asks a thread; here questions
wait until nothing else is ready and are answered one after the other, see :mod:`tests.simulation.driver`.
"""

from __future__ import annotations

import asyncio
import heapq
import queue
import selectors
from collections import deque
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any

from tests.simulation.owners import OWNER, OwnedHandle, OwnedTimer

_ANSWERS_WITHIN = 60.0


class StandsStill(RuntimeError):
    """Nothing is ready, nothing is asked, and no timer is set: whoever waits would wait for ever."""


class _Stillness(selectors.DefaultSelector):
    """Asks no descriptor: it only decides what a loop does that has nothing ready."""

    loop: VirtualLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None or timeout > 0:
            self.loop.nothing_ready(timeout)
        return []


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop in virtual time. What is done in a thread takes none of it."""

    def __init__(self) -> None:
        self._passed = 0.0
        self._questions: deque[Callable[[], None]] = deque()
        self._answers: queue.SimpleQueue[tuple[Callable[..., Any], tuple[Any, ...]]] = queue.SimpleQueue()
        stillness = _Stillness()
        stillness.loop = self
        super().__init__(stillness)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._passed

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        context = context or copy_context()
        owner = context.get(OWNER)
        if owner is None:
            return super().call_soon(callback, *args, context=context)
        handle = OwnedHandle(callback, args, self, context, owner)
        self._ready.append(handle)  # type: ignore[attr-defined]
        return handle

    def call_at(self, when: float, callback: Any, *args: Any, context: Context | None = None) -> asyncio.TimerHandle:
        context = context or copy_context()
        owner = context.get(OWNER)
        if owner is None:
            return super().call_at(when, callback, *args, context=context)
        timer = OwnedTimer(when, callback, args, self, context, owner)
        heapq.heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True  # type: ignore[attr-defined]
        return timer

    def resume(self, handles: list[asyncio.Handle]) -> None:
        """Run what was set aside, in its order."""
        self._ready.extend(handles)  # type: ignore[attr-defined]

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> Any:
        """Run it at once; whoever awaits it learns of it a little later."""
        future: asyncio.Future[Any] = self.create_future()
        try:
            result, failure = func(*args), None
        except Exception as error:
            result, failure = None, error

        def tell() -> None:
            if not future.done():
                future.set_exception(failure) if failure is not None else future.set_result(result)

        self.call_soon(tell)
        return future

    # --- questions to SQLite ------------------------------------------------------------------------------------------

    def ask(self, question: Callable[[], None]) -> None:
        """A question to SQLite: its turn comes when nothing else is ready."""
        self._questions.append(question)

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Context | None = None) -> Any:
        """An answer from a thread."""
        self._answers.put((callback, args))

    def await_thread(self) -> None:
        """Let the thread that was just asked finish, and take its answer."""
        callback, args = self._answers.get(timeout=_ANSWERS_WITHIN)
        callback(*args)

    def nothing_ready(self, timeout: float | None) -> None:
        """Answer what was asked; when nothing was, let time pass until the next timer."""
        if self._questions:
            while self._questions:
                self._questions.popleft()()
        elif timeout is None:
            raise StandsStill("nothing is left to do and nothing is planned")
        else:
            self._passed += timeout


class WorldClock:
    """Implements ``Clock`` for all processes of one machine. ``shift`` is by how much its wall clock was set."""

    def __init__(self, loop: VirtualLoop, began: float) -> None:
        self._loop, self._began = loop, began
        self.shift = 0.0

    def now(self) -> float:
        return self._began + self._loop.time() + self.shift

    def monotonic(self) -> float:
        return self._loop.time()
