"""One fire, from a due instant (or a person's word) to a claimed occurrence whose launch is under way.

Everything before the claim may be abandoned. The claim moves ``next_fire_at`` and inserts the rows in one transaction; from then
on :mod:`studio_tui.scheduler.carrying` answers for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from studio_tui.application.errors import Conflict, NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.ports import Clock, CursorMove, Occurrence, Outcome, Refusal, SchedulerStateService
from studio_tui.domain import gates
from studio_tui.domain.cadence import CadenceError, next_fire
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord, Zone
from studio_tui.scheduler import outcome as outcomes
from studio_tui.scheduler.admission import DEFERRAL_INTERVAL, Admission, Deferrals
from studio_tui.scheduler.carrying import Carrier
from studio_tui.scheduler.ending import Endings
from studio_tui.scheduler.launch import LaunchRefused, unfilled
from studio_tui.scheduler.launcher import Launch, Launcher, launch_window
from studio_tui.scheduler.rivals import Rivals
from studio_tui.scheduler.supervision import Supervised
from studio_tui.scheduler.thresholds import Thresholds

log = logging.getLogger(__name__)

SLOT_RETRY: Final = 5.0
"""Seconds after which a firing that waits for a slot looks again: a slot freed by this process wakes it at once."""

_TRIES: Final = 3
"""How often a firing by hand tries to claim while the gates would let it through."""

Word = Literal["fired", "quiet", "skipped", "failed", "waiting", "disabled", "broken", "lost"]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What became of a due instant: ``retry`` is in how many seconds to look again at one that waits, ``gate`` what for."""

    word: Word
    retry: float | None = None
    gate: str | None = None


class Occurrences:
    """Turns due instants and orders into firings. ``may_launch`` answers whether due instants are ours to claim."""

    def __init__(
        self,
        *,
        state: SchedulerStateService,
        admission: Admission,
        launcher: Launcher,
        carrier: Carrier,
        endings: Endings,
        clock: Clock,
        zone: Zone,
        new_id: Callable[[], str],
        may_launch: Callable[[], bool],
        rivals: Rivals,
    ) -> None:
        self._rivals = rivals
        self._state, self._admission, self._launcher, self._carrier = state, admission, launcher, carrier
        self._endings, self._clock, self._zone, self._new_id, self._may_launch = endings, clock, zone, new_id, may_launch
        self._thresholds, self._deferrals = Thresholds(state), Deferrals()
        self._told: dict[str, str] = {}

    def fault(self, schedule: ScheduleRecord, now: float) -> str | None:
        """Why the schedule fires nothing, or ``None``."""
        reason = gates.unsupported(schedule)
        if reason is not None:
            return reason
        try:
            self.following(schedule, now)
        except CadenceError as broken:
            return f"{broken.field}: {broken}"
        return None

    def following(self, schedule: ScheduleRecord, now: float) -> float | None:
        """The next instant after ``now``. Raises :class:`CadenceError` when the trigger is broken."""
        return next_fire(schedule, now, self._zone)

    async def due(
        self, schedule: ScheduleRecord, now: float, context: Mapping[str, object] | None = None, *, crowded: bool = False
    ) -> Evaluated:
        """Fire a schedule whose stored instant has come, or record why not.

        The claim asks the gates. Where it is ``crowded`` only they are asked, and one that would pass by now waits for its turn.
        """
        reason = self.fault(schedule, now)
        if reason is not None:
            self._tell_once(schedule, f"fires nothing: {reason}")
            return Evaluated("broken")
        planned, following = schedule.next_fire_at, self.following(schedule, now)
        if crowded and schedule.threshold_config is None:
            verdict = await self._admission.refusal(schedule, now)
            return await self._refused(schedule, verdict, now, following) if verdict else Evaluated("waiting", 0.0, "slots")
        context = dict(context or {"scheduled": True, "fired_at": now, "next_fire_at": planned})
        if schedule.threshold_config is not None:
            alert = await self._thresholds.verdict(schedule, now)
            if not alert.allowed:
                return await self._pass_quietly(schedule, following, now)
            schedule, context = replace(schedule, last_evaluated_at=now), {**context, **alert.evidence}
        run_id = self._new_id()
        launch = await self._prepared(schedule, context, run_id)
        if not self._may_launch():
            return Evaluated("lost")
        if isinstance(launch, Launch) and await self._claim(
            schedule, launch, context, now, run_id=run_id, claimed=planned, following=following
        ):
            self._deferrals.clear(schedule.schedule_id)
            self._told.pop(schedule.schedule_id, None)
            return Evaluated("fired")
        verdict = await self._admission.refusal(schedule, now)
        if verdict is not None:
            return await self._refused(schedule, verdict, now, following)
        if isinstance(launch, LaunchRefused):
            return await self._refuse_launch(schedule, launch, context, now, following, run_id)
        if self._may_launch():  # else it is for another console to fire
            await self._rivals.lost(schedule, planned)
        return Evaluated("lost")

    async def _pass_quietly(self, schedule: ScheduleRecord, following: float | None, now: float) -> Evaluated:
        ours = self._may_launch() and await self._thresholds.pass_quietly(schedule, following, now)
        return Evaluated("quiet" if ours else "lost")

    async def by_hand(self, schedule_id: str) -> str:
        """Fire now, whatever the trigger says; the id of the firing, whose process has been started or refused by then.

        Raises :class:`NotFound`, :class:`ValidationFailure` for an action that cannot be launched, :class:`Conflict` when a
        gate refuses, :class:`StateUnavailable` when the store does not answer or this process shuts down. If the caller is
        cancelled before the claim, nothing is fired; after it, the firing goes on.
        """
        abandoned = asyncio.Event()
        work = asyncio.create_task(self._by_hand(schedule_id, abandoned))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            abandoned.set()
            work.add_done_callback(lambda done: done.cancelled() or done.exception())
            raise

    async def again(self, row: FiringRecord, schedule: ScheduleRecord) -> str | None:
        """Fire once more what a dead host had claimed and never launched, under a new id; the gates are asked anew.

        For a chain step ``schedule`` is as the step runs it. It goes on where its parent left off and no gate holds it.

        The old row ends with the same commit, so that only one host can do it and nothing is lost between the two. ``None`` when
        it waits (a gate holds it) or ended otherwise.
        """
        now, run_id = self._clock.now(), self._new_id()
        reason = None if row.chain_depth else gates.unsupported(schedule)
        if reason is not None:
            await self.bury(row, reason)
            return None
        launch = await self._prepared(schedule, row.trigger_context, run_id)
        if not self._may_launch():
            return None
        verdict = None if row.chain_depth else await self._admission.refusal(schedule, now, own_rows=1)
        if verdict is not None and verdict.gate in ("overlap", "rate", "slots"):
            return None
        if verdict is not None or isinstance(launch, LaunchRefused):
            await self.bury(row, verdict.words if verdict is not None else str(launch))
            return None
        old = self._never_launched(row, f"fired again as {run_id}")
        claimed = await self._claim(schedule, launch, row.trigger_context, now, run_id=run_id, instead_of=old, step=row)
        if claimed is not None:
            await self._endings.forget(old)
        return run_id if claimed is not None else None

    async def bury(self, row: FiringRecord, reason: str) -> bool:
        """End a firing that was claimed and never launched; False when somebody else had ended it."""
        return await self._endings.settle(self._never_launched(row, reason))

    def _never_launched(self, row: FiringRecord, reason: str) -> Outcome:
        verdict = outcomes.failure(f"its host died before it was launched: {reason}", "run.failed.never_dispatched")
        ended = outcomes.outcome(row.run_id, row.invocation_id, verdict, ended_at=self._clock.now(), error_detail=verdict.reason)
        return replace(ended, source="system", actor="scheduler_startup_recovery")

    # --- by hand ------------------------------------------------------------------------------------------------------

    async def _by_hand(self, schedule_id: str, abandoned: asyncio.Event) -> str:
        schedule = await self._state.get_schedule(schedule_id)
        if schedule is None:
            raise NotFound("schedule", schedule_id)
        # What the trigger lacks does not matter to somebody who fires by hand.
        reason = gates.unsupported(replace(schedule, trigger_type="at", threshold_config=None))
        if reason is not None:
            raise ValidationFailure.of("action", "unsupported", reason)
        now, run_id = self._clock.now(), self._new_id()
        context: dict[str, object] = {"manual": True, "fired_at": now}
        if names := unfilled(schedule, context):
            listed = ", ".join(f"{{{{{name}}}}}" for name in names)
            message = f"there is no value for {listed}: firing by hand fills only {{{{manual}}}} and {{{{fired_at}}}}"
            raise ValidationFailure.of("action", "unfilled", message)
        launch = await self._prepared(schedule, context, run_id)
        if isinstance(launch, LaunchRefused):
            raise ValidationFailure.of("action", "not_launchable", str(launch))
        claimed = await self._claim_by_hand(schedule, launch, context, now, run_id, abandoned)
        await claimed.launched.wait()
        return run_id

    async def _claim_by_hand(
        self,
        schedule: ScheduleRecord,
        launch: Launch,
        context: Mapping[str, object],
        now: float,
        run_id: str,
        abandoned: asyncio.Event,
    ) -> Supervised:
        """Claim, once more when what stood in the way has gone by then. Raises the errors of :meth:`by_hand`."""
        for _ in range(_TRIES):
            if self._endings.closing.is_set() or abandoned.is_set():
                raise StateUnavailable("nothing is launched any more: this console shuts down", retryable=False)
            claimed = await self._claim(schedule, launch, context, now, run_id=run_id)
            if claimed is not None:
                return claimed
            verdict = await self._admission.refusal(schedule, now)
            if verdict is not None:
                raise _not_fired(schedule, verdict.words)
            if await self._state.get_schedule(schedule.schedule_id) is None:
                raise NotFound("schedule", schedule.schedule_id)
        raise _not_fired(schedule, "other firings of it began at the same moment; try again")

    # --- shared -------------------------------------------------------------------------------------------------------

    async def _prepared(self, schedule: ScheduleRecord, context: Mapping[str, object], run_id: str) -> Launch | LaunchRefused:
        try:
            return await self._launcher.prepare(schedule, context, run_id)
        except LaunchRefused as refused:
            return refused

    async def _claim(
        self,
        schedule: ScheduleRecord,
        launch: Launch,
        context: Mapping[str, object],
        now: float,
        *,
        run_id: str,
        claimed: float | None = None,
        following: float | None = None,
        instead_of: Outcome | None = None,
        step: FiringRecord | None = None,
        cursor: CursorMove | None = None,
    ) -> Supervised | None:
        """Claim and begin. ``step``: a firing whose place in its chain this one takes; ``cursor``: the event of a poll."""
        depth = step.chain_depth if step is not None else 0
        launch = replace(launch, wanted=launch_window(self._clock))
        occurrence = Occurrence(
            run_id=run_id,
            invocation_id=self._new_id(),
            schedule=schedule,
            argv=launch.argv,
            prompt=launch.prompt,
            trigger_context=context,
            fired_at=now,
            claimed=claimed,
            next_fire_at=following,
            chain_parent_id=step.chain_parent_id if step is not None else None,
            chain_depth=depth,
            cursor=cursor,
        )
        limits = None if depth else self._admission.limits(schedule, now)
        if not await self._state.claim(occurrence, now=self._clock.now(), limits=limits, instead_of=instead_of):
            return None
        log.info("firing %s of schedule %s claimed", run_id, schedule.name)
        return self._carrier.begin(occurrence, launch)

    async def _refused(self, schedule: ScheduleRecord, verdict: gates.Verdict, now: float, following: float | None) -> Evaluated:
        match verdict.gate:
            case "overlap":
                context = {"skipped_overlap": True, "fired_at": now}
                written = await self._skip(schedule, verdict, context, now, following=following)
                return Evaluated("skipped" if written else "lost")
            case "budget":
                code = "schedule_definition.disabled.budget_exhausted"
                if await self._disable(schedule, code, verdict.words, now):
                    context = {"budget_exhausted": True, "fired_at": now}
                    await self._skip(schedule, verdict, context, now, advance=False)
                return Evaluated("disabled")
            case "max_runs":
                await self._disable(schedule, "schedule_definition.disabled.max_runs", verdict.words, now)
                return Evaluated("disabled")
            case "rate":
                self._tell_once(schedule, verdict.words)
                return Evaluated("waiting", self._rate_retry(schedule), verdict.gate)
        number = self._deferrals.count(schedule.schedule_id, self._clock.monotonic())
        if number is not None:
            context = {"deferred_capacity": True, "fired_at": now}
            noted = replace(verdict, words=f"{verdict.words} (deferral {number})")
            await self._skip(schedule, noted, context, now, advance=False)
        return Evaluated("waiting", SLOT_RETRY, verdict.gate)

    async def _skip(
        self,
        schedule: ScheduleRecord,
        verdict: gates.Verdict,
        context: Mapping[str, object],
        now: float,
        *,
        following: float | None = None,
        advance: bool = True,
    ) -> bool:
        refusal = Refusal(
            run_id=self._new_id(),
            schedule=schedule,
            status="skipped",
            reason_code=verdict.reason_code or "schedule.skipped.precondition",
            reason=verdict.words,
            trigger_context=context,
            at=now,
            claimed=schedule.next_fire_at,
            next_fire_at=following,
            advance=advance,
        )
        return await self._state.refuse(refusal, now=now)

    async def _refuse_launch(
        self,
        schedule: ScheduleRecord,
        refused: LaunchRefused,
        context: Mapping[str, object],
        now: float,
        following: float | None,
        run_id: str,
    ) -> Evaluated:
        log.warning("schedule %s: not launched: %s", schedule.name, refused)
        refusal = Refusal(
            run_id=run_id,
            schedule=schedule,
            status="failed",
            reason_code=refused.reason_code,
            reason=str(refused),
            trigger_context=context,
            at=now,
            claimed=schedule.next_fire_at,
            next_fire_at=following,
        )
        if not await self._state.refuse(refusal, now=now):
            return Evaluated("lost")
        await self._endings.check_max_runs(schedule, 0)
        return Evaluated("failed")

    async def _disable(self, schedule: ScheduleRecord, code: str, reason: str, now: float) -> bool:
        log.warning("schedule %s is turned off: %s", schedule.name, reason)
        return await self._state.disable(schedule.schedule_id, reason_code=code, reason=reason, now=now)

    def _rate_retry(self, schedule: ScheduleRecord) -> float:
        window: Any = gates.rate_window(schedule)
        return min(DEFERRAL_INTERVAL, max(1.0, window[1] / 10)) if window else DEFERRAL_INTERVAL

    def _tell_once(self, schedule: ScheduleRecord, words: str) -> None:
        """One line in the log per state of affairs, not one per pass."""
        if self._told.get(schedule.schedule_id) != words:
            self._told[schedule.schedule_id] = words
            log.warning("schedule %s: %s", schedule.name, words)


def _not_fired(schedule: ScheduleRecord, why: str) -> Conflict:
    return Conflict(f"schedule {schedule.name}", expected=None, actual=None, message=f"not fired: {why}")
