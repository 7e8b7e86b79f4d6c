"""Events that polls have found, each schedule's in their order: fired one by one as the gates allow, never holding up a poll.

Nothing here is to be kept: the bookmark in the store stands before the first event that has not fired, and the next poll, of
this host or another, finds the rest again.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.ports import Clock, CursorMove, SchedulerStateService
from studio_tui.domain.github_events import Event
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.polls.occurrence import EventOccurrences

log = logging.getLogger(__name__)

_GOES_ON: Final = frozenset({"fired", "quiet", "skipped"})
_WAIT: Final = 30.0


class _Found:
    """What one poll found for a schedule that looked like this; ``cursor`` is where the bookmark stands."""

    def __init__(self, schedule: ScheduleRecord, events: Iterable[Event]) -> None:
        self.schedule, self.cursor, self.events = schedule, schedule.github_cursor, deque(events)
        self.waited = False

    def catch_up(self, schedule: ScheduleRecord) -> bool:
        """Leave out what the bookmark has passed (an event may have fired while these were looked for); whether the schedule
        still asks for the rest."""
        if not schedule.enabled or _asks(schedule) != _asks(self.schedule):
            return False
        if schedule.github_cursor != self.cursor and any(event.cursor == schedule.github_cursor for event in self.events):
            self.cursor = schedule.github_cursor
            while self.events.popleft().cursor != self.cursor:
                pass
        return schedule.github_cursor == self.cursor


def _asks(schedule: ScheduleRecord) -> tuple[object, ...]:
    return schedule.trigger_type, schedule.github_repo, schedule.github_filter


class EventQueue:
    """Fires events in tasks of its own, one a schedule."""

    def __init__(self, state: SchedulerStateService, occurrences: EventOccurrences, clock: Clock) -> None:
        self._state, self._occurrences, self._clock = state, occurrences, clock
        self._found: dict[str, _Found] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._wake: dict[str, asyncio.Event] = {}
        self._stopping = False

    def begin(self) -> None:
        """This process hosts from now on."""
        self._stopping = False

    def put(self, schedule: ScheduleRecord, events: Iterable[Event]) -> None:
        """A poll of ``schedule`` found these; they take the place of what an earlier one found and is not fired."""
        schedule_id = schedule.schedule_id
        self._found[schedule_id] = _Found(schedule, events)
        if schedule_id in self._tasks:
            self._wake[schedule_id].set()
            return
        self._wake[schedule_id] = asyncio.Event()
        task = asyncio.create_task(self._work(schedule_id), name=f"events of {schedule_id}")
        self._tasks[schedule_id] = task

    def firing_ended(self) -> None:
        """What waits may go on."""
        for wake in self._wake.values():
            wake.set()

    async def stop(self) -> None:
        """Fire nothing more; what is being claimed is claimed to its end."""
        self._stopping = True
        self.firing_ended()
        if self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    async def idle(self) -> None:
        """Return once no event waits or is being fired."""
        while self._tasks:
            await asyncio.wait(tuple(self._tasks.values()))

    async def _work(self, schedule_id: str) -> None:
        try:
            await self._until_done(schedule_id)
        finally:  # in the same step in which nothing was left, so that what is put next finds a new task
            del self._tasks[schedule_id], self._wake[schedule_id], self._found[schedule_id]

    async def _until_done(self, schedule_id: str) -> None:
        while not self._stopping:
            self._wake[schedule_id].clear()
            found = self._found[schedule_id]
            try:
                pause = await self._one(found)
            except StudioApplicationError as failure:
                log.warning("schedule %s: its events wait for the next poll: %s", found.schedule.name, failure)
                pause = None
            except Exception:
                log.exception("schedule %s: its events wait for the next poll", found.schedule.name)
                pause = None
            if pause is None:
                if self._found[schedule_id] is found:
                    return
            elif pause > 0:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake[schedule_id].wait(), pause)

    async def _one(self, found: _Found) -> float | None:
        """Deal with the next event; seconds until there is more to do, or ``None`` when nothing of this poll is left to us."""
        schedule = await self._state.get_schedule(found.schedule.schedule_id)
        if schedule is None or not found.catch_up(schedule):
            return None
        now, last = self._clock.now(), None
        while found.events and not found.events[0].fires:
            last = found.events.popleft()
        if not found.events:
            if last is not None:
                await self._state.move_cursor(schedule.schedule_id, CursorMove(found.cursor, last.cursor), now=now)
            return None
        event = found.events[0]
        move = CursorMove(found.cursor, event.cursor)
        result = await self._occurrences.event(schedule, event.fields, move, now, waited=found.waited)
        found.waited = result.word == "waiting"
        if result.word in _GOES_ON:
            found.events.popleft()
            found.cursor = event.cursor
            return 0.0
        return (result.retry or _WAIT) if found.waited else None
