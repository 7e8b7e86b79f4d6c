"""What happens once a process is gone: terminal rows, run limit, next chain step. The same for the host that launched it and for
one that found it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import Clock, LaunchNotePort, Occurrence, Outcome, RunLogPort, SchedulerStateService
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler import outcome as outcomes
from studio_tui.scheduler.admission import Admission
from studio_tui.scheduler.chains import ChainBroken, chained_context, laid_over, next_step
from studio_tui.scheduler.launch import LaunchRefused
from studio_tui.scheduler.launcher import Launch, Launcher, launch_window

log = logging.getLogger(__name__)

T = TypeVar("T")
Step = tuple[Occurrence, Launch]
"""A claimed occurrence and how to start it."""

_Following = tuple[Occurrence, Launch | outcomes.Verdict]
"""A chain step that is about to be claimed, and how to start it or why it cannot be started."""

TRIM_EVERY: Final = 1.0
TRIM_SOON: Final = 0.1
"""Seconds between two looks at how much a firing wrote; soon again where that is much."""

_RETRIES: Final = (0.2, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, slots=True)
class Ended:
    """A step whose process is gone. ``schedule`` is as the step ran it; ``exit_code`` is ``None`` when nobody learnt it."""

    run_id: str
    schedule: ScheduleRecord
    depth: int
    context: Mapping[str, object]
    exit_code: int | None = None


class Endings:
    """Ends firings in the store. ``closing`` is set once this process shuts down: nothing new begins then."""

    def __init__(
        self,
        *,
        state: SchedulerStateService,
        notes: LaunchNotePort,
        logs: RunLogPort,
        launcher: Launcher,
        admission: Admission,
        clock: Clock,
        new_id: Callable[[], str],
        closing: asyncio.Event,
    ) -> None:
        self.closing = closing
        self._state, self._notes, self._logs = state, notes, logs
        self._launcher, self._admission, self._clock, self._new_id = launcher, admission, clock, new_id

    async def insist(self, write: Callable[[], Awaitable[T]]) -> T:
        """Repeat a write until the store answers. Raises :class:`StateUnavailable` once this process shuts down."""
        attempt = 0
        while True:
            try:
                return await write()
            except StateUnavailable as failure:
                if self.closing.is_set():
                    raise
                if attempt == 0:
                    log.warning("the store does not answer, a firing waits for it: %s", failure)
            delay = _RETRIES[min(attempt, len(_RETRIES) - 1)]
            attempt += 1
            try:
                await asyncio.wait_for(self.closing.wait(), delay)
            except TimeoutError:
                continue

    async def runs_of(self, invocation_id: str | None) -> tuple[RunRecord, ...]:
        """The runs that an invocation started."""
        if invocation_id is None:
            return ()
        return await self.insist(lambda: self._state.list_sessions_for_invocation(invocation_id))

    async def keep_small(self, run_id: str) -> None:
        """Keep what a running firing writes from filling the disk, until this is cancelled."""
        pause = TRIM_EVERY
        while True:
            await asyncio.sleep(pause)
            pause = TRIM_SOON if await asyncio.to_thread(self._logs.trim, run_id) else TRIM_EVERY

    async def output(self, run_id: str) -> str | None:
        """The end of what a firing wrote, in the form that ``error_detail`` has."""
        tail = await asyncio.to_thread(self._logs.tail, run_id, limit=outcomes.TAIL_BYTES)
        return outcomes.error_text(tail)

    async def settle(self, ended: Outcome) -> bool:
        """Write the terminal rows; False when somebody else had ended the firing, who then owns what follows from it."""
        return await self._write(ended, None)

    async def conclude(self, ended: Outcome, step: Ended, verdict: outcomes.Verdict) -> Step | None:
        """Write the terminal rows and the next chain step in one transaction; that step, or ``None``.

        So no crash comes between the two, and the chain keeps its slot. Turns the schedule off when its runs are used up.
        """
        following = await self._following(step, verdict)
        wanted = launch_window(self._clock)
        if not await self._write(ended, following[0] if following else None):
            return None
        await self.check_max_runs(step.schedule, step.depth)
        if following is None:
            return None
        occurrence, launch = following
        if isinstance(launch, outcomes.Verdict):
            await self.fail(occurrence, launch)
            return None
        return occurrence, replace(launch, wanted=wanted)

    async def forget(self, ended: Outcome) -> None:
        """Drop what was kept beside the store for a firing whose terminal rows are written."""
        await asyncio.to_thread(self._forget, ended.run_id)
        log.info("firing %s: %s, %s", ended.run_id, ended.status, ended.reason)

    async def check_max_runs(self, schedule: ScheduleRecord, depth: int) -> None:
        """Turn a schedule off that has used up its runs. Chain steps use none."""
        if depth != 0:
            return
        verdict = await self._admission.max_runs_reached(schedule)
        if verdict is not None:
            now = self._clock.now()
            code = "schedule_definition.disabled.max_runs"
            await self._state.disable(schedule.schedule_id, reason_code=code, reason=verdict.words, now=now)

    async def fail(self, occurrence: Occurrence, verdict: outcomes.Verdict, *, error_detail: str | None = None) -> bool:
        """End a claimed firing whose process was never started."""
        return await self.settle(
            outcomes.outcome(
                occurrence.run_id,
                occurrence.invocation_id,
                verdict,
                ended_at=self._clock.now(),
                error_detail=error_detail or verdict.reason,
            )
        )

    async def stopped(self, run_id: str, invocation_id: str | None, verdict: outcomes.Verdict, detail: str) -> bool:
        """End a firing whose process was stopped; ``detail`` says what stopping came to. No chain follows from that."""
        output = await self.output(run_id)
        return await self.settle(
            outcomes.outcome(
                run_id,
                invocation_id,
                replace(verdict, reason=detail),
                ended_at=self._clock.now(),
                error_detail="\n".join(part for part in (detail, output) if part),
            )
        )

    async def _write(self, ended: Outcome, step: Occurrence | None) -> bool:
        written = await self.insist(lambda: self._state.finish(ended, now=self._clock.now(), step=step))
        await self.forget(ended)
        return written

    async def _following(self, step: Ended, verdict: outcomes.Verdict) -> _Following | None:
        """The chain step that follows, if one does, ready to be claimed."""
        following = next_step(step.schedule, verdict.status, step.depth)
        if following is None:
            return None
        context = chained_context(
            step.context, parent_run_id=step.run_id, exit_code=step.exit_code, parent_status=verdict.firing_status
        )
        run_id, schedule = self._new_id(), step.schedule
        launch: Launch | outcomes.Verdict
        try:
            schedule = laid_over(schedule, following)
            launch = await self._launcher.prepare(schedule, context, run_id)
        except ChainBroken as broken:
            launch = outcomes.failure(str(broken))
        except LaunchRefused as refused:
            launch = outcomes.failure(str(refused), refused.reason_code)
        prepared = launch if isinstance(launch, Launch) else None
        occurrence = Occurrence(
            run_id=run_id,
            invocation_id=self._new_id(),
            schedule=schedule,
            argv=prepared.argv if prepared else (),
            prompt=prepared.prompt if prepared else None,
            trigger_context=context,
            fired_at=self._clock.now(),
            claimed=None,
            next_fire_at=None,
            chain_parent_id=step.run_id,
            chain_depth=step.depth + 1,
        )
        return occurrence, launch

    def _forget(self, run_id: str) -> None:
        self._logs.trim(run_id)  # what was written in the last moments counts too
        self._notes.forget(run_id)
        self._launcher.discard(run_id)
