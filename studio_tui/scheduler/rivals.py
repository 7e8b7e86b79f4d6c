"""Whether somebody else fires the schedules of this store, although this process holds the lease that every console goes by.

The peer knows no lease. Its daemon is seen by its socket; one whose socket cannot be seen (another machine, a container) shows
itself by what it does: an instant that we were about to claim was fired by somebody else, or a firing runs that no console
launched.
"""

from __future__ import annotations

import logging
import time
from typing import Final

from studio_tui.application.ports import Clock, SchedulerStateService
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord

log = logging.getLogger(__name__)

_SETTLED: Final = 15.0
"""Seconds after the lease was taken in which firings of the host before may still turn up."""

_LOOKED_AT: Final = 5


class Rivals:
    """Keeps the first evidence, in words, until it is forgiven."""

    def __init__(self, state: SchedulerStateService, clock: Clock) -> None:
        self._state, self._clock = state, clock
        self._since = float("inf")
        self.evidence: str | None = None

    def begin(self) -> None:
        """This process hosts from now on."""
        self._since = self._clock.now() + _SETTLED

    def forgive(self) -> None:
        """The operator has seen the evidence and wants this process to go on."""
        self.evidence = None

    async def lost(self, schedule: ScheduleRecord, planned: float | None) -> None:
        """A due instant was gone when it was claimed: an edit, or somebody fired it."""
        if planned is None or planned < self._since:
            return
        for firing in await self._state.list_fired_since(schedule.schedule_id, planned, limit=_LOOKED_AT):
            if firing.trigger_context.get("next_fire_at") == planned:
                self._note(f"{schedule.name} was fired for {_clock(planned)} by somebody else (firing {firing.run_id})")

    async def met(self, listed: FiringRecord) -> None:
        """A firing was listed as running of whose launch nothing is noted here: ours that ended since has no note either."""
        if not listed.trigger_context.get("scheduled") or (listed.fired_at or 0.0) <= self._since:
            return
        firing = await self._state.get_firing(listed.run_id)
        if firing is not None and firing.status == "running":
            self._note(f"firing {firing.run_id}, due at {_clock(firing.fired_at or 0.0)}, was launched by somebody else")

    def _note(self, words: str) -> None:
        if self.evidence is None:
            log.error("two hosts? %s", words)
            self.evidence = words


def _clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
