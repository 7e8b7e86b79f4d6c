"""Firings that an earlier host launched: follow those that live, end those whose process is gone.

Their exit code is lost with the host that could have collected it; what they started in the store says the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from studio_tui.application.ports import Clock, ProcessPort
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.scheduler import outcome as outcomes
from studio_tui.scheduler.carrying import Carrier
from studio_tui.scheduler.ending import Ended, Endings
from studio_tui.scheduler.supervision import STOP_GRACE, Supervised, Supervisor, stop_words

FOLLOW_EVERY: Final = 2.0
"""Seconds between two looks at a process that is not our child."""

LOST: Final = "the host that launched it is gone, exit code unknown"


class Adopter:
    """Takes over what an earlier host left. ``deadline`` gives the seconds that a kind of action may take."""

    def __init__(
        self,
        *,
        processes: ProcessPort,
        endings: Endings,
        carrier: Carrier,
        supervisor: Supervisor,
        clock: Clock,
        deadline: Callable[[str], float],
    ) -> None:
        self._processes, self._endings, self._carrier = processes, endings, carrier
        self._supervisor, self._clock, self._deadline = supervisor, clock, deadline

    def follow(self, row: FiringRecord, schedule: ScheduleRecord, identity: ProcessIdentity) -> Supervised:
        """Follow a live process to its end."""
        return self._supervisor.start(row.run_id, schedule, lambda firing: self._follow(firing, row, identity), ours=False)

    def conclude(self, row: FiringRecord, schedule: ScheduleRecord) -> Supervised:
        """End a firing whose process is gone, or whose runs have all ended, and go on with its chain."""
        return self._supervisor.start(row.run_id, schedule, lambda firing: self._conclude(firing, row), ours=False)

    async def _follow(self, firing: Supervised, row: FiringRecord, identity: ProcessIdentity) -> None:
        keeping = asyncio.create_task(self._endings.keep_small(row.run_id))
        try:
            await self._follow_to_the_end(firing, row, identity)
        finally:
            keeping.cancel()

    async def _follow_to_the_end(self, firing: Supervised, row: FiringRecord, identity: ProcessIdentity) -> None:
        firing.pid = identity.pid
        deadline = self._deadline(row.action_kind)
        began = row.dispatched_at or row.fired_at or self._clock.now()
        # From here on by the clock that nobody sets: a machine that slept, or a clock that was corrected, ends no firing.
        end = self._clock.monotonic() + deadline - max(0.0, self._clock.now() - began)
        while await asyncio.to_thread(self._processes.alive, identity) is not False:
            if firing.ordered == "leave":
                firing.what = "left"
                return
            if firing.ordered or self._clock.monotonic() >= end:
                verdict = outcomes.shut_down() if firing.ordered else outcomes.timed_out(deadline)
                await self._stop(firing, row, identity, verdict)
                return
            await asyncio.wait({firing.order}, timeout=FOLLOW_EVERY)
        await self._conclude(firing, row)

    async def _stop(self, firing: Supervised, row: FiringRecord, identity: ProcessIdentity, verdict: outcomes.Verdict) -> None:
        firing.what = "stopped"
        report = await self._processes.stop(identity, grace=STOP_GRACE)
        firing.detail = "; ".join((verdict.reason, *stop_words(report)))
        await self._endings.stopped(row.run_id, row.invocation_id, verdict, firing.detail)
        await self._endings.check_max_runs(firing.schedule, row.chain_depth)

    async def _conclude(self, firing: Supervised, row: FiringRecord) -> None:
        firing.what = "ended"
        runs = await self._endings.runs_of(row.invocation_id)
        found = outcomes.judge(None, runs)
        verdict = outcomes.Verdict(found.status, found.reason_code, f"{found.reason} ({LOST})")
        firing.detail = verdict.reason
        output = await self._endings.output(row.run_id)
        ended = outcomes.outcome(
            row.run_id,
            row.invocation_id,
            verdict,
            ended_at=self._clock.now(),
            error_detail="\n".join(part for part in (verdict.reason, output) if part),
            runs=runs,
        )
        step = Ended(row.run_id, firing.schedule, row.chain_depth, row.trigger_context)
        following = await self._endings.conclude(outcomes.by_recovery(ended), step, verdict)
        if following is not None:
            firing.ours = True  # what follows from here is launched by this process
            await self._carrier.carry(firing, following)
