"""Says which of the roots changed: by events of the system, and by looking again every few seconds in any case.

Events do not reach us from every mount, nor for a root that is missing, nor for the target of a link; looking again does. What
changed is decided by comparing surveys, so an editor's temporary files, events without effect and events that were lost make
no difference.
"""

from __future__ import annotations

import asyncio
import os
import time
from types import TracebackType
from typing import Final, Literal, Self

from studio_tui.files.contained import printable
from studio_tui.files.events import FolderEvents
from studio_tui.files.roots import Roots
from studio_tui.files.survey import Survey, survey

RESCAN_SECONDS: Final = 10.0
MAX_WATCHED: Final = 4_096
"""Folders that are watched by events, those first that changed last; the system's limit is shared with all programs."""

_RETRY_LIMIT_SECONDS: Final = 60.0
_RETRY_SECONDS: Final = 5.0

WatchMode = Literal["off", "events", "partial", "rescan"]


class RootWatch:
    """An asynchronous iterator over sets of changed topics, ``definitions`` and ``shows``; use it as a context manager.

        async with RootWatch(roots) as watch:
            async for topics in watch: ...

    Once entered, every later change is told. Changes that come close together are told together, and none twice.

    ``mode`` is ``events``, ``partial`` (some folders are only looked at), or ``rescan`` (all are), with ``reason`` in words.
    ``last_scan_at`` is the time of the last look, in epoch seconds.
    """

    def __init__(self, roots: Roots, *, rescan_seconds: float = RESCAN_SECONDS) -> None:
        self.mode: WatchMode = "off"
        self.reason: str | None = None
        self.last_scan_at: float | None = None
        self._roots = roots
        self._rescan_seconds = rescan_seconds
        self._wake = asyncio.Event()
        self._events: FolderEvents | None = None
        self._watched: frozenset[tuple[str, int, int]] = frozenset()
        self._retry_at = 0.0
        self._seen = Survey({}, ())

    async def __aenter__(self) -> Self:
        try:
            await self._watch(await self._look())
            self._seen = await self._look()
        except BaseException:
            await self._unwatch()
            raise
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._unwatch()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> frozenset[str]:
        while True:
            await self._sleep()
            now = await self._look()
            if self._outdated(now):
                await self._watch(now)
                self._wake.set()  # look again: something may have happened while no watch was in place
            changed = now.changed_since(self._seen)
            self._seen = now
            if changed:
                return changed

    async def _look(self) -> Survey:
        found = await asyncio.to_thread(survey, self._roots)
        self.last_scan_at = time.time()
        return found

    async def _sleep(self) -> None:
        seconds = self._rescan_seconds
        if self._events is None:
            seconds = min(seconds, max(0.0, self._retry_at - time.monotonic()))
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()
        if self._events is not None and self._events.failure is not None:
            self._fail(self._events)

    def _outdated(self, now: Survey) -> bool:
        """Whether the watch must be made anew: it broke and may be tried again, or there are other folders now."""
        if self._events is None:
            return time.monotonic() >= self._retry_at
        return now.identities() != self._watched

    async def _watch(self, found: Survey) -> None:
        await self._unwatch()
        self._watched = found.identities()
        folders = sorted(found.folders, key=lambda folder: folder.modified_ns, reverse=True)
        paths = await asyncio.to_thread(_watchable, [folder.path for folder in folders])
        events = FolderEvents(paths[:MAX_WATCHED], self._wake.set)
        self._events = events
        await events.start()
        if events.failure is not None:
            self._fail(events)
            return
        left = len(folders) - len(paths[:MAX_WATCHED])
        self.mode = "partial" if left else "events"
        self.reason = f"{left} of {len(folders)} folders are looked at every {self._rescan_seconds:g} s" if left else None

    def _fail(self, events: FolderEvents) -> None:
        self._events = None
        self._retry_at = time.monotonic() + (_RETRY_LIMIT_SECONDS if events.limited else _RETRY_SECONDS)
        self.mode = "rescan"
        self.reason = f"{events.failure}; all folders are looked at every {self._rescan_seconds:g} s"

    async def _unwatch(self) -> None:
        events, self._events = self._events, None
        self.mode = "off"
        if events is not None:
            await events.close()


def _watchable(paths: list[str]) -> list[str]:
    """Those that the system lets us watch and whose names watchfiles takes."""
    return [path for path in paths if printable(path) == path and os.access(path, os.R_OK)]
