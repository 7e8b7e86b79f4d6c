"""Who looks for due schedules of a store on PostgreSQL: one process per store, decided by an advisory lock of the server.

The lock only decides who looks; the claim of each instant in the database decides who fires. It is held on a connection of its
own in a thread of its own, so that no pool recycles it and no stall of the console loses it; the server frees it when that
connection ends, which a killed process ends at once.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import HostRecord
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.state.errors import describe
from studio_tui.state.lease_keeper import ANSWER_WITHIN, LeaseKeeper, signed

T = TypeVar("T")
_PATIENCE: Final = 3 * ANSWER_WITHIN
"""Seconds for a whole step: connecting, asking, signing."""
_GOODBYE: Final = 2.0
_FAILURES: Final = (SQLAlchemyError, OSError, StateUnavailable, TimeoutError)


class ServerLease:
    """Implements :class:`studio_tui.application.ports.LeasePort` for a store on PostgreSQL.

    ``identity`` is this process; ``now`` reads the wall clock. Every method may be called from any thread; all but
    :meth:`holds` and :meth:`beat` may wait for the server for a few seconds.
    """

    def __init__(self, url: str, *, identity: ProcessIdentity, label: str, now: Callable[[], float]) -> None:
        self._url, self._identity, self._label, self._now = url, identity, label, now
        self._problem: str | None = None
        self._worker: _Worker | None = None

    @property
    def problem(self) -> str | None:
        """Why it cannot be taken by anybody (no connection, say), in words; ``None`` when it is free or merely held."""
        return self._problem

    def acquire(self) -> bool:
        """Take the lock if it is free."""
        if self.holds():
            return True
        if self._worker is not None and self._worker.keeper.held:  # in doubt: begin anew, and find out
            self._end()
        if self._worker is None:
            self._worker = _Worker(self._url)
        worker = self._worker
        name = signed(self._label, self._identity.pid, self._identity.host, self._now())
        try:
            taken = worker.ask(worker.keeper.take(name), _PATIENCE)
        except _FAILURES as failure:
            self._problem = f"the host's lock on the database server cannot be asked for: {_in_words(failure)}"
            self._end()
            return False
        self._problem = worker.keeper.obstacle
        return taken

    def holds(self) -> bool:
        """Whether this process holds it as far as it knows: its connection is there, and the server answered a moment ago."""
        return self._worker is not None and self._worker.keeper.sure

    def beat(self) -> None:
        """Note that the console is alive: the connection gives its signs of life as long as that is so."""
        if self._worker is not None:
            self._worker.keeper.beaten = time.monotonic()

    def holder(self) -> HostRecord | None:
        """Who holds it now; ``None`` when nobody does, when this process does, and when the server cannot be asked."""
        if self.holds():
            return None
        worker = self._worker or _Worker(self._url)
        try:
            found = worker.ask(worker.keeper.holder(), _PATIENCE)
        except _FAILURES:
            return None
        finally:
            if worker is not self._worker:
                worker.end()
        if found is None:
            return None
        return HostRecord(ProcessIdentity(found.pid, None, found.host, None), found.label, found.since, found.seen_at)

    def release(self) -> None:
        """Give it up, with the connection and its thread; harmless when not held."""
        self._end()

    def _end(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


class _Worker:
    """A thread with an event loop of its own, for a keeper."""

    def __init__(self, url: str) -> None:
        self.keeper = LeaseKeeper(url)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="host's lock", daemon=True)
        self._thread.start()

    def ask(self, work: Coroutine[Any, Any, T], within: float) -> T:
        """Do something in the thread's loop and wait for it."""
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(within)
        except TimeoutError:
            future.cancel()
            raise

    def end(self) -> None:
        """Give everything up. A server that does not answer is not waited for: the end of the connection frees the lock."""
        self.keeper.held = False
        with suppress(*_FAILURES):
            self.ask(self.keeper.close(), _GOODBYE)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_GOODBYE)
        if not self._thread.is_alive():
            self._loop.close()


def _in_words(failure: BaseException) -> str:
    """In words, without secrets."""
    return failure.reason if isinstance(failure, StateUnavailable) else describe(failure)[0]
