"""Who answers the questions to SQLite that aiosqlite would put to its threads: the virtual loop itself, or the real threads in
their turn, for which the loop waits. Both ways give the same run, to the byte; the first is four times as fast."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from typing import Any

import aiosqlite.core
import pytest

from tests.simulation.virtual_time import VirtualLoop

_Item = tuple["asyncio.Future[Any] | None", Callable[[], Any]]


class _LoopQueue:
    """What aiosqlite puts its questions into, in place of the queue of a thread: the loop answers."""

    def put_nowait(self, item: _Item) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            _answer(*item)
            return
        assert isinstance(loop, VirtualLoop)
        loop.ask(lambda: _answer(*item))


class _ThreadQueue(queue.SimpleQueue[_Item]):
    """The queue of a real thread: a question is handed to it in its turn, and the loop waits for the answer."""

    def put_nowait(self, item: _Item) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            super().put_nowait(item)
            return
        assert isinstance(loop, VirtualLoop)

        def question() -> None:
            super(_ThreadQueue, self).put_nowait(item)
            if item[0] is not None:
                loop.await_thread()

        loop.ask(question)


class _NoThread:
    """Stands where aiosqlite keeps its thread."""

    daemon = True

    def __init__(self, **_options: Any) -> None: ...

    def start(self) -> None: ...

    def is_alive(self) -> bool:
        return False

    def join(self, timeout: float | None = None) -> None: ...


def _answer(future: asyncio.Future[Any] | None, function: Callable[[], Any]) -> None:
    try:
        result = function()
    except BaseException as failure:
        if future is not None and not future.done():
            future.set_exception(failure)
    else:
        if future is not None and not future.done():
            future.set_result(result)


def answer_in_the_loop(patch: pytest.MonkeyPatch, *, threads: bool) -> None:
    """Have the questions of aiosqlite answered in turn: by the loop itself, or by the real threads."""
    patch.setattr(aiosqlite.core, "SimpleQueue", _ThreadQueue if threads else _LoopQueue)
    if not threads:
        patch.setattr(aiosqlite.core, "Thread", _NoThread)
