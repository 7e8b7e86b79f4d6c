"""Says that somebody committed to the store, or that the store became another one: the ``store`` source of the change feed.

The system's events for the file and its log wake us; whether anything was committed is then decided by SQLite's own counter on
a connection that stays. Events do not come from every mount, so the counter is looked at now and then in any case.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, NamedTuple, Self

from studio_tui.application.errors import StateUnavailable
from studio_tui.state.file_events import file_events, limit_reached
from studio_tui.state.store import Store

TOPIC: Final = "store"
POLL_SECONDS: Final = 0.25
"""How often the counter is looked at where the system sends no events."""
RESCAN_SECONDS: Final = 2.0
"""How often it is looked at in any case: network mounts send no events for the commits of others."""

_SETTLING: Final = (0.05, 0.2)
"""Looks after an event, in seconds: a log is written before the commit in it counts, and nothing tells of the latter."""
_REJUDGE_SECONDS: Final = 5.0
_RECONNECT_SECONDS: Final = 1.0
"""How often a server is asked again that was not there, or held no store: nothing else would tell that it does now."""
_RETRY_SECONDS: Final = 60.0

WatchMode = Literal["off", "events", "polling"]
_Identity = tuple[int, int] | None


class _Seen(NamedTuple):
    """What the store looked like: its mode, which file it is, and a number that changes with its contents."""

    mode: str
    identity: _Identity
    version: int | None


class StoreWatch(AsyncIterator[frozenset[str]]):
    """Sets that hold ``store``, one for each time that something was committed, as a context manager.

        async with StoreWatch(store) as watch:
            async for topics in watch: ...

    Once entered, every later commit is told, though several may be told as one. A store that is made, replaced, upgraded or
    removed meanwhile is opened anew. ``mode`` is ``events`` or ``polling``, with ``reason`` in words.
    """

    def __init__(self, store: Store, *, poll_seconds: float = POLL_SECONDS, rescan_seconds: float = RESCAN_SECONDS) -> None:
        self.mode: WatchMode = "off"
        self.reason: str | None = None
        self._store = store
        self._poll_seconds, self._rescan_seconds = poll_seconds, rescan_seconds
        self._wake = asyncio.Event()
        self._settling: list[float] = []
        self._events: asyncio.Task[None] | None = None
        self._retry_at = 0.0
        self._judged_at = 0.0
        self._judge_due = False
        self._seen = _Seen("", None, None)

    async def __aenter__(self) -> Self:
        self._seen = await self._look()
        self._watch()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._unwatch()
        self.mode = "off"

    async def __anext__(self) -> frozenset[str]:
        while True:
            await self._sleep()
            if await self._changed():
                return frozenset({TOPIC})

    # --- when to look -------------------------------------------------------------------------------------------------

    async def _sleep(self) -> None:
        often = self.mode == "polling" or self._judge_due
        pause = self._poll_seconds if often else self._rescan_seconds
        try:
            async with asyncio.timeout(self._settling.pop(0) if self._settling else pause):
                await self._wake.wait()
        except TimeoutError:
            if self.mode == "polling" and time.monotonic() >= self._retry_at:
                self._watch()
            return
        self._wake.clear()
        self._settling = list(_SETTLING)

    def _watch(self) -> None:
        """Follow the folder's events from now on, as far as the system lets us."""
        path = self._store.path
        if path is None:
            self._poll("a database server sends no events of files", retry=False)
            return
        self.mode, self.reason = "events", None
        self._settling = list(_SETTLING)
        self._events = asyncio.create_task(self._follow_events(path), name="events of the store")

    async def _unwatch(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            events.cancel()
            await asyncio.gather(events, return_exceptions=True)

    async def _follow_events(self, path: Path) -> None:
        try:
            async for _ in file_events(path.parent, (path.name, f"{path.name}-wal")):
                self._wake.set()
            self._poll("the system stopped telling of changes")
        except FileNotFoundError:
            self._poll(f"there is no folder {path.parent} yet")
        except Exception as error:  # what the watcher's own library raises is not documented
            self._poll(_explain(error))

    def _poll(self, reason: str, *, retry: bool = True) -> None:
        self.mode, self.reason = "polling", reason
        self._retry_at = time.monotonic() + (_RETRY_SECONDS if retry else float("inf"))
        self._wake.set()

    # --- what to see --------------------------------------------------------------------------------------------------

    async def _changed(self) -> bool:
        """Whether the store is not what it was; opens it anew when it is another one, or may have become better."""
        before, now = self._seen, await self._look()
        self._judge_due = self._judge_due or self._waits_for_server(now) or _doubtful(before, now)
        if self._judge_due and self._may_judge(before, now):
            self._judge_due, self._judged_at = False, time.monotonic()
            await self._store.reopen()
            now = await self._look()
        if now.identity != before.identity:
            await self._unwatch()
            self._watch()
        self._seen = now
        return now != before

    def _may_judge(self, before: _Seen, now: _Seen) -> bool:
        """Another file is judged at once; the same one not at every write of its owner."""
        pause = _REJUDGE_SECONDS if now.mode == "read_only" else self._poll_seconds
        if self._waits_for_server(now):
            pause = _RECONNECT_SECONDS
        return now.identity != before.identity or time.monotonic() - self._judged_at >= pause

    def _waits_for_server(self, now: _Seen) -> bool:
        return self._store.path is None and now.mode not in ("ready", "read_only")

    async def _look(self) -> _Seen:
        path, mode = self._store.path, self._store.condition().mode
        identity, stamp = (None, None) if path is None else await asyncio.to_thread(_stamps, path)
        if mode not in ("ready", "read_only"):
            return _Seen(mode, identity, stamp)
        try:
            return _Seen(mode, identity, await self._store.db.data_version())
        except StateUnavailable:
            return _Seen(mode, identity, None)


def _doubtful(before: _Seen, now: _Seen) -> bool:
    """Whether the store may have to be opened anew: another file, one that cannot be asked, or a change of one that is not ours
    to write (it may have been made, mended or upgraded)."""
    if now.identity != before.identity or (now.mode in ("ready", "read_only") and now.version is None):
        return True
    return now != before and now.mode != "ready"


def _stamps(path: Path) -> tuple[_Identity, int | None]:
    """Which file is there, and a number made of size and time of it and its log."""
    found: list[Any] = []
    for name in (path, Path(f"{path}-wal")):
        try:
            found.append(name.stat())
        except OSError:
            found.append(None)
    if found[0] is None:
        return None, None
    times = tuple((entry.st_size, entry.st_mtime_ns) for entry in found if entry is not None)
    return (found[0].st_dev, found[0].st_ino), hash(times)


def _explain(error: Exception) -> str:
    match limit_reached(error):
        case "max_user_watches":
            return "the system allows no more watched folders (fs.inotify.max_user_watches)"
        case "max_user_instances":
            return "the system allows no more watchers (fs.inotify.max_user_instances)"
    return "the system does not tell of changes in the folder of the store"
