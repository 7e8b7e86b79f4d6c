"""What an earlier host left behind, and instants that passed while nobody looked.

Delivery: a firing that was claimed and never launched is launched later; one whose host died in the very moment of starting it
is not launched again, since it may have run; one that was launched is followed to its end or ended with what is known.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeVar

from studio_tui.application.errors import StateUnavailable, StudioApplicationError
from studio_tui.application.ports import Clock, LaunchNote, LaunchNotePort, ProcessPort, SchedulerStateService
from studio_tui.domain.cadence import CadenceError, first_fire, next_fire, zone_of
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord, Zone
from studio_tui.scheduler import outcome as outcomes
from studio_tui.scheduler.adoption import Adopter
from studio_tui.scheduler.chains import ChainBroken, as_it_ran
from studio_tui.scheduler.occurrence import Occurrences
from studio_tui.scheduler.rivals import Rivals
from studio_tui.scheduler.supervision import Supervisor

log = logging.getLogger(__name__)

T = TypeVar("T")

UNDISPATCHED_GRACE: Final = 10.0
"""Seconds that any host has between its claim and the beginning of the launch before another one may think it dead: twice what
a host grants itself (``launcher.LAUNCH_WITHIN``)."""

CLOCK_REPAIR: Final = 86_400.0
"""Seconds by which a clock is set back at most without a doubt about what has fired; by more, and the time before was wrong."""

SETTLED: Final = 30.0
"""Seconds for which all runs of a firing must have ended before they speak for a process that we know nothing of: the next run
of a flow may be about to begin."""


class Recovery:
    """The passes at the start of hosting, repeated while it lasts. ``identity`` is this process."""

    def __init__(
        self,
        *,
        state: SchedulerStateService,
        processes: ProcessPort,
        notes: LaunchNotePort,
        occurrences: Occurrences,
        adopter: Adopter,
        supervisor: Supervisor,
        clock: Clock,
        zone: Zone,
        identity: ProcessIdentity,
        rivals: Rivals,
    ) -> None:
        self._rivals = rivals
        self._state, self._processes, self._notes = state, processes, notes
        self._occurrences, self._adopter, self._supervisor = occurrences, adopter, supervisor
        self._clock, self._zone, self._identity = clock, zone, identity
        self._met: dict[str, float] = {}
        self._turn = asyncio.Lock()
        self.undecided = False
        """Whether the last pass met a claim too young to tell whether its host is dead: look again soon."""

    async def begin(self) -> None:
        """Everything that precedes the first evaluation; a pass that fails does not cost the others."""
        await each(self._recompute_zone, await self._state.list_armed_cron(), lambda schedule: schedule.name)
        await self.repeat()

    async def repeat(self) -> None:
        """The passes that go on while hosting, so that a firing that is lost later is noticed too; one at a time."""
        async with self._turn:
            self.undecided = False
            found = await self._state.list_undispatched(older_than=math.inf)
            self._met = {row.run_id: self._met.get(row.run_id, self._clock.monotonic()) for row in found}
            await each(self._undispatched, found, lambda row: row.run_id)
            await each(self._dispatched, await self._state.list_dispatched(), lambda row: row.run_id)

    async def _recompute_zone(self, schedule: ScheduleRecord) -> None:
        """Stamp the zone that counts on this host and what follows from it. What is due already is left to the missed pass."""
        try:
            zone = zone_of(schedule, self._zone)
            now = self._clock.now()
            planned = schedule.next_fire_at
            if planned is None or planned > now:
                planned = self._planned(schedule, now)
        except CadenceError as broken:
            log.warning("schedule %s fires nothing: %s: %s", schedule.name, broken.field, broken)
            return
        stamped = (schedule.effective_timezone, schedule.effective_timezone_source)
        if planned != schedule.next_fire_at or stamped != (zone.name, zone.source):
            await self._state.arm(schedule, planned, zone=zone.name, zone_source=zone.source)

    def _planned(self, schedule: ScheduleRecord, now: float) -> float | None:
        """The next instant. Where the clock was set back since the schedule was last changed, counting from now would fire again
        what has fired: then a stored instant of its cadence stays."""
        changed, planned = schedule.updated_at or 0.0, schedule.next_fire_at
        if planned is None or not now < changed <= now + CLOCK_REPAIR:
            return first_fire(schedule, now, self._zone)
        if next_fire(schedule, planned - 1.0, self._zone) == planned:
            return planned
        return first_fire(schedule, changed, self._zone)

    # --- claimed, never launched --------------------------------------------------------------------------------------

    async def _undispatched(self, row: FiringRecord) -> None:
        if self._supervisor.looks_after(row.run_id):
            return
        note = await asyncio.to_thread(self._notes.recall, row.run_id)
        if note is not None:
            await self._interrupted_launch(row, note)
            return
        if self._age(row) < UNDISPATCHED_GRACE:
            self.undecided = True
            return
        schedule = await self._state.get_schedule(row.schedule_id) if row.schedule_id else None
        if schedule is None or not (schedule.enabled or row.chain_depth):
            await self._occurrences.bury(row, "its schedule is turned off or gone")
            return
        try:
            schedule = await self._as_it_ran(schedule, row)
        except ChainBroken as broken:
            await self._occurrences.bury(row, str(broken))
            return
        if (run_id := await self._occurrences.again(row, schedule)) is not None:
            log.warning("firing %s of schedule %s was never launched; fired again as %s", row.run_id, schedule.name, run_id)

    def _age(self, row: FiringRecord) -> float:
        """Seconds since the claim, or since we first met it where the wall clock says less: it may have been set back."""
        claimed = row.updated_at or row.fired_at or 0.0
        return max(self._clock.now() - claimed, self._clock.monotonic() - self._met[row.run_id])

    async def _interrupted_launch(self, row: FiringRecord, note: LaunchNote) -> None:
        if await self._is_supervised(note):
            return  # a slow start under a host that lives
        if note.identity is not None:
            await self._state.mark_dispatched(row.run_id, note.at)
        else:
            await self._occurrences.bury(row, "while it was being started, so whether it ran is not known; not started again")

    # --- launched, not ended ------------------------------------------------------------------------------------------

    async def _dispatched(self, row: FiringRecord) -> None:
        if self._supervisor.looks_after(row.run_id):
            return
        note = await asyncio.to_thread(self._notes.recall, row.run_id)
        if note is None:
            await self._rivals.met(row)
        elif await self._is_supervised(note):
            return
        schedule = await self._schedule_of(row)
        identity = note.identity if note is not None else None
        lives = await self._lives(identity)
        gone = lives is False or (note is not None and identity is None)  # its launch was noted, and it is not to be found
        if lives and identity is not None:
            log.info("firing %s lives on without its host; followed from here", row.run_id)
            self._adopter.follow(row, schedule, identity)
        elif gone or self._have_settled(await self._runs_of(row)):
            self._adopter.conclude(row, schedule)

    async def _schedule_of(self, row: FiringRecord) -> ScheduleRecord:
        """The schedule as the firing runs it; where that cannot be known any more, nothing follows from it."""
        schedule = await self._state.get_schedule(row.schedule_id) if row.schedule_id else None
        if schedule is None:
            return ScheduleRecord(row.schedule_id or "", "(deleted)", False, "interval", row.action_kind)
        try:
            return await self._as_it_ran(schedule, row)
        except ChainBroken:
            return replace(schedule, on_success=None, on_fail=None)

    async def _as_it_ran(self, schedule: ScheduleRecord, row: FiringRecord) -> ScheduleRecord:
        """The schedule with the chain steps laid over it that led to this firing. Raises :class:`ChainBroken`."""
        earlier: list[FiringRecord] = []
        while row.chain_depth:
            parent = await self._state.get_firing(row.chain_parent_id) if row.chain_parent_id else None
            if parent is None or parent.chain_depth >= row.chain_depth:
                raise ChainBroken("the firing that it follows is not to be found")
            earlier.insert(0, parent)
            row = parent
        return as_it_ran(schedule, earlier)

    async def _runs_of(self, row: FiringRecord) -> tuple[RunRecord, ...]:
        if row.invocation_id is None:
            return ()
        return await self._state.list_sessions_for_invocation(row.invocation_id)

    def _have_settled(self, runs: tuple[RunRecord, ...]) -> bool:
        last = max((run.ended_at or run.updated_at or 0.0 for run in runs), default=0.0)
        return outcomes.all_ended(runs) and self._clock.now() - last >= SETTLED

    async def _lives(self, identity: ProcessIdentity | None) -> bool | None:
        return None if identity is None else await asyncio.to_thread(self._processes.alive, identity)

    async def _is_supervised(self, note: LaunchNote) -> bool:
        """Whether another console that lives waits for this firing."""
        if note.supervisor is None or note.supervisor == self._identity:
            return False
        return await self._lives(note.supervisor) is not False


async def each(work: Callable[[T], Awaitable[None]], items: tuple[T, ...], name: Callable[[T], str]) -> None:
    """Do the work on each item; one that fails is logged and does not stop the others, a store that is gone does."""
    for item in items:
        try:
            await work(item)
        except StateUnavailable:
            raise
        except StudioApplicationError as failure:
            log.warning("%s: %s", name(item), failure)
        except Exception:
            log.exception("recovery of %s failed", name(item))
