"""Asks each repository when its time has come, side by side, and hands on what is new."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.ports import Clock, SchedulerStateService
from studio_tui.domain import gates
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.triggers import poll_interval_of
from studio_tui.scheduler.polls.github import GitHub, Polled
from studio_tui.scheduler.polls.queue import EventQueue

log = logging.getLogger(__name__)

LOOK_EVERY: Final = 30.0
"""Seconds after which the store is asked again for polls that are due, whatever it said before."""

SIDE_BY_SIDE: Final = 8
"""Questions that are under way at once."""

_RETRY: Final = 5.0
_AT_ONCE: Final = 500


class Poller:
    """Polls while this process hosts; ``may_launch`` answers whether it may fire now."""

    def __init__(
        self,
        *,
        state: SchedulerStateService,
        github: GitHub,
        queue: EventQueue,
        clock: Clock,
        may_launch: Callable[[], bool],
    ) -> None:
        self._state, self._github, self._queue, self._clock, self._may_launch = state, github, queue, clock, may_launch
        self._wake = asyncio.Event()
        self._turns = asyncio.Semaphore(SIDE_BY_SIDE)
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._troubles: dict[str, str] = {}
        self._stopping = False

    def trouble(self, schedule_id: str) -> str | None:
        """What went wrong with the last poll of a schedule, in words."""
        return self._troubles.get(schedule_id)

    def wake(self) -> None:
        """Look again now: a schedule was changed, or the clock set."""
        self._wake.set()

    def firing_ended(self) -> None:
        """Events that wait may go on."""
        self._queue.firing_ended()

    def start(self) -> asyncio.Task[None]:
        """Poll from now on, until :meth:`stop`."""
        self._stopping = False
        self._troubles.clear()
        self._queue.begin()
        return asyncio.create_task(self._run(), name="polls of GitHub")

    async def stop(self) -> None:
        """Ask nothing more, claim nothing more. An answer that is on its way is not waited for: the next poll asks again."""
        self._stopping = True
        self._wake.set()
        for task in tuple(self._asking.values()):
            task.cancel()
        if self._asking:
            await asyncio.wait(tuple(self._asking.values()))
        await self._queue.stop()
        await self._github.close()

    async def look(self) -> float:
        """Begin every poll that is due; the instant at which to look again, in epoch seconds."""
        self._wake.clear()
        now = self._clock.now()
        until = now + LOOK_EVERY
        if not self._may_launch():
            return until
        coming = until
        for schedule in await self._state.list_polls(until, limit=_AT_ONCE + len(self._asking)):
            at = schedule.next_fire_at
            if at is not None and at > now:
                coming = min(coming, at)
            elif schedule.schedule_id not in self._asking and self._is_sound(schedule):
                self._begin(schedule)
        return coming

    async def idle(self) -> None:
        """Return once no question is under way and no event waits."""
        while self._asking:
            await asyncio.wait(tuple(self._asking.values()))
        await self._queue.idle()

    async def _run(self) -> None:
        while not self._stopping:
            try:
                pause = await self.look() - self._clock.now()
            except StudioApplicationError as failure:
                log.warning("polls that are due were not looked for: %s", failure)
                pause = _RETRY
            except Exception:
                log.exception("polls that are due were not looked for")
                pause = _RETRY
            if not self._stopping:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), min(max(pause, 0.0), LOOK_EVERY))

    def _is_sound(self, schedule: ScheduleRecord) -> bool:
        fault = gates.unsupported(schedule)
        if fault is not None:
            self._say(schedule, f"not polled: {fault}")
        return fault is None

    def _begin(self, schedule: ScheduleRecord) -> None:
        schedule_id = schedule.schedule_id
        task = asyncio.create_task(self._ask(schedule_id), name=f"poll {schedule_id}")
        self._asking[schedule_id] = task
        task.add_done_callback(lambda done: self._asked(schedule_id))

    def _asked(self, schedule_id: str) -> None:
        self._asking.pop(schedule_id, None)
        self._wake.set()

    async def _ask(self, schedule_id: str) -> None:
        async with self._turns:
            try:
                schedule = await self._state.get_schedule(schedule_id)
                if schedule is not None and schedule.enabled and schedule.trigger_type == "github_poll":
                    await self._poll(schedule)
            except StudioApplicationError as failure:
                log.warning("schedule %s: what its poll found is not kept: %s", schedule_id, failure)
                await asyncio.sleep(_RETRY)
            except Exception:
                log.exception("schedule %s: its poll failed", schedule_id)
                await asyncio.sleep(_RETRY)

    async def _poll(self, schedule: ScheduleRecord) -> None:
        polled = await self._github.poll(schedule)
        now = self._clock.now()
        self._note_trouble(schedule, polled)
        if not self._may_launch():
            return
        following = max(now + poll_interval_of(schedule), polled.not_before or 0.0)
        if await self._state.note_poll(schedule, polled.status, next_poll_at=following, now=now) and polled.found:
            self._queue.put(schedule, polled.found)

    def _note_trouble(self, schedule: ScheduleRecord, polled: Polled) -> None:
        if polled.trouble is not None:
            self._say(schedule, polled.trouble)
            return
        self._troubles.pop(schedule.schedule_id, None)
        if not polled.complete:
            log.warning("schedule %s: more is new than one poll reads; the rest comes with later ones", schedule.name)

    def _say(self, schedule: ScheduleRecord, words: str) -> None:
        """One line in the log per state of affairs, not one per poll."""
        if self._troubles.get(schedule.schedule_id) != words:
            self._troubles[schedule.schedule_id] = words
            log.warning("schedule %s: %s", schedule.name, words)
