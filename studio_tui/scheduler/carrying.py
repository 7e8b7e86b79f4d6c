"""A claimed occurrence from its launch to its end: start the process, follow it, take the next chain step."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import Clock, LaunchedProcess, NotWanted, Occurrence, ProcessPort, SchedulerStateService
from studio_tui.scheduler import outcome as outcomes
from studio_tui.scheduler.ending import Ended, Endings, Step
from studio_tui.scheduler.launch import LaunchRefused
from studio_tui.scheduler.launcher import Launch, Launcher
from studio_tui.scheduler.supervision import STOP_GRACE, Order, Supervised, Supervisor, stop_words

log = logging.getLogger(__name__)


class Carrier:
    """Carries the firings that this process launches.

    ``may_launch`` answers whether due instants are ours to fire now, ``held`` until when the operator holds firing; ``deadline``
    gives the seconds that a kind of action may take.
    """

    def __init__(
        self,
        *,
        state: SchedulerStateService,
        processes: ProcessPort,
        launcher: Launcher,
        endings: Endings,
        supervisor: Supervisor,
        clock: Clock,
        deadline: Callable[[str], float],
        may_launch: Callable[[], bool],
        held: Callable[[], float | None],
    ) -> None:
        self._held = held
        self._state, self._processes, self._launcher, self._endings = state, processes, launcher, endings
        self._supervisor, self._clock, self._deadline, self._may_launch = supervisor, clock, deadline, may_launch

    def begin(self, occurrence: Occurrence, launch: Launch) -> Supervised:
        """Launch a claimed occurrence and follow it."""
        return self._supervisor.start(
            occurrence.run_id, occurrence.schedule, lambda firing: self.carry(firing, (occurrence, launch)), ours=True
        )

    async def carry(self, firing: Supervised, step: Step | None) -> None:
        """One step after another until the chain ends."""
        while step is not None:
            occurrence, launch = step
            firing.run_id = occurrence.run_id
            child = await self._launch(firing, occurrence, launch)
            step = await self._follow(firing, occurrence, child) if child is not None else None

    async def _launch(self, firing: Supervised, occurrence: Occurrence, launch: Launch) -> LaunchedProcess | None:
        run_id, schedule = occurrence.run_id, occurrence.schedule
        if (why := self._not_ours_to_launch(occurrence)) is not None:
            firing.detail = "claimed but not launched; the next host launches it"
            log.warning("firing %s: not launched, %s; the next host launches it", run_id, why)
            return None
        try:
            await asyncio.to_thread(self._launcher.last_steps, schedule, occurrence.trigger_context, run_id)
            child = await self._processes.launch(self._launcher.spec(launch, schedule, run_id, occurrence.invocation_id))
        except NotWanted:
            firing.detail = "claimed but not launched in time; the host launches it anew"
            log.warning("firing %s: not launched, too long after its claim; the host launches it anew", run_id)
            return None
        except LaunchRefused as refused:
            await self._not_started(firing, occurrence, outcomes.failure(str(refused), refused.reason_code))
            return None
        except OSError as failure:
            await self._not_started(firing, occurrence, outcomes.failure(failure.strerror or str(failure)))
            return None
        firing.pid = child.identity.pid
        firing.launched.set()
        return child

    def _not_ours_to_launch(self, occurrence: Occurrence) -> str | None:
        """Why what is claimed is left to the next host, or ``None``."""
        due = occurrence.claimed is not None or occurrence.cursor is not None
        if due and not self._may_launch():
            return "firing is held or the lease is no longer ours"
        if occurrence.chain_depth and self._endings.closing.is_set():
            return "this process shuts down"
        if occurrence.chain_depth and self._held():
            return "firing is held"
        return None

    async def _not_started(self, firing: Supervised, occurrence: Occurrence, verdict: outcomes.Verdict) -> None:
        firing.what, firing.detail = "ended", verdict.reason
        await self._endings.fail(occurrence, verdict)
        await self._endings.check_max_runs(occurrence.schedule, occurrence.chain_depth)

    async def _follow(self, firing: Supervised, occurrence: Occurrence, child: LaunchedProcess) -> Step | None:
        stamp = asyncio.create_task(self._stamp(occurrence.run_id, self._clock.now()))
        deadline = self._deadline(occurrence.schedule.action_kind)
        keeping = asyncio.create_task(self._endings.keep_small(occurrence.run_id))
        try:
            exit_code = await _exit_code(child, firing.order, deadline)
        finally:
            keeping.cancel()
        await stamp
        if exit_code is not None:
            return await self._ended(firing, occurrence, exit_code)
        if firing.ordered == "leave":
            child.release()
            firing.what = "left"
            return None
        firing.what = "stopped"
        verdict = outcomes.shut_down() if firing.ordered else outcomes.timed_out(deadline)
        report = await child.terminate(grace=STOP_GRACE)
        firing.detail = "; ".join((verdict.reason, *stop_words(report)))
        await self._endings.stopped(occurrence.run_id, occurrence.invocation_id, verdict, firing.detail)
        await self._endings.check_max_runs(occurrence.schedule, occurrence.chain_depth)
        return None

    async def _stamp(self, run_id: str, at: float) -> None:
        try:
            await self._endings.insist(lambda: self._state.mark_dispatched(run_id, at))
        except StateUnavailable as failure:
            log.error("firing %s: its launch could not be recorded: %s", run_id, failure)

    async def _ended(self, firing: Supervised, occurrence: Occurrence, exit_code: int) -> Step | None:
        firing.what, ended_at = "ended", self._clock.now()
        runs = await self._endings.runs_of(occurrence.invocation_id)
        verdict = outcomes.judge(exit_code, runs)
        firing.detail = verdict.reason
        ended = outcomes.outcome(
            occurrence.run_id,
            occurrence.invocation_id,
            verdict,
            ended_at=ended_at,
            exit_code=exit_code,
            error_detail=await self._endings.output(occurrence.run_id) if exit_code != 0 else None,
            runs=runs,
        )
        step = Ended(occurrence.run_id, occurrence.schedule, occurrence.chain_depth, occurrence.trigger_context, exit_code)
        return await self._endings.conclude(ended, step, verdict)


async def _exit_code(child: LaunchedProcess, order: asyncio.Future[Order], deadline: float) -> int | None:
    """The exit code, or ``None`` when an order or the deadline came first."""
    leaves = asyncio.ensure_future(child.wait())
    try:
        waited: set[asyncio.Future[Any]] = {leaves, order}
        await asyncio.wait(waited, timeout=deadline, return_when=asyncio.FIRST_COMPLETED)
        return leaves.result() if leaves.done() else None
    finally:
        leaves.cancel()
