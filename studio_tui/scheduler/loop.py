"""Sleep to the next due instant, evaluate what is due, and go on whatever happens."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from studio_tui.application.errors import StudioApplicationError
from studio_tui.application.ports import Clock, SchedulerStateService
from studio_tui.domain import gates
from studio_tui.domain.cadence import CadenceError, first_fire, zone_of
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.scheduler.admission import DEFERRAL_INTERVAL, Admission
from studio_tui.scheduler.missed import Missed, MissedFires
from studio_tui.scheduler.occurrence import Evaluated, Occurrences
from studio_tui.scheduler.recovery import Recovery

log = logging.getLogger(__name__)

LONGEST_SLEEP: Final = 30.0
"""Seconds after which the store is asked again, whatever it said before: the peer's tick as an upper bound."""

BACKOFF: Final = (1.0, 2.0, 5.0, 15.0, 30.0)
"""Seconds before a loop that failed is started again, by how often it has failed in a row."""

_ERROR_RETRY: Final = 5.0
_LOST_RETRY: Final = 0.5
_SLOW_EVALUATION: Final = 5.0
_AT_ONCE: Final = 500
_MOVES: Final = frozenset({"fired", "quiet", "skipped", "failed"})
"""What moves an instant on, so that the schedule may be due again."""

_FAR_AHEAD: Final = 366 * 86_400.0


class EvaluationLoop:
    """Evaluates schedules while this process hosts. ``ask_about_missed``: wait for :meth:`settle` before anything fires."""

    def __init__(
        self,
        *,
        state: SchedulerStateService,
        occurrences: Occurrences,
        admission: Admission,
        missed: MissedFires,
        recovery: Recovery,
        clock: Clock,
        zone: Zone,
        ask_about_missed: bool,
        held: Callable[[], float | None],
    ) -> None:
        self._held = held
        self._state, self._occurrences, self._admission = state, occurrences, admission
        self._missed, self._recovery, self._clock, self._zone = missed, recovery, clock, zone
        self._ask = ask_about_missed
        self._wake = asyncio.Event()
        self._stopping = False
        self._evaluating: dict[str, asyncio.Task[Evaluated]] = {}
        self._waiting: dict[str, tuple[str | None, float]] = {}
        self._looked: tuple[float, float] | None = None
        self._seen: Mapping[str, float | None] = {}
        self._answer: asyncio.Future[bool] | None = None
        self.missed: Missed = ()
        self.trouble: str | None = None
        self.last_pass_at: float | None = None
        self.next_due_at: float | None = None
        self.restarts = 0

    def wake(self) -> None:
        """Look again now."""
        self._wake.set()

    def firing_ended(self) -> None:
        """A slot may be free: look again if somebody waits for one, or is just being told that there is none."""
        if self._evaluating or self._somebody_waits():
            self._wake.set()

    def _somebody_waits(self) -> bool:
        return any(gate == "slots" for gate, _ in self._waiting.values())

    def settle(self, *, apply_policies: bool) -> None:
        """The operator's word on :attr:`missed`."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(apply_policies)
            self.missed = ()

    def start(self) -> asyncio.Task[None]:
        """Evaluate from now on, until :meth:`stop`."""
        self._stopping = False
        self._looked = self.last_pass_at = self.trouble = None
        self._seen = {}
        self._waiting.clear()
        return asyncio.create_task(self._run(), name="scheduler loop")

    async def _run(self) -> None:
        """One pass after another. A failure is logged, counted, and tried again after a while."""
        begun, failures = False, 0
        while not self._stopping:
            try:
                if (held := self._held()) is not None:
                    until = await self._wait_out(held)
                else:
                    if not begun:
                        await self._begin()
                        begun = True
                    until = await self.evaluate()
                failures, self.trouble = 0, None
                await self._pause(until - self._clock.now())
            except asyncio.CancelledError:
                # Cancelled itself, it ends: the event loop is closing, or the host starts another. Else an operation was.
                task = asyncio.current_task()
                if self._stopping or task is None or task.cancelling():
                    raise
                failures = await self._failed("an operation was cancelled", failures)
            except Exception as failure:
                expected = isinstance(failure, StudioApplicationError)
                log.log(logging.WARNING if expected else logging.ERROR, "evaluation failed", exc_info=not expected)
                failures = await self._failed(str(failure) if expected else type(failure).__name__, failures)

    async def stop(self) -> None:
        """Begin nothing new, and wait for what is being evaluated."""
        self._stopping = True
        self._wake.set()
        if self._answer is not None and not self._answer.done():
            self._answer.cancel()
        if self._evaluating:
            await asyncio.wait(tuple(self._evaluating.values()))

    async def evaluate(self) -> float:
        """One pass over what is due; the instant until which to sleep, in epoch seconds."""
        self._wake.clear()
        await self._arm()
        retries: list[float] = []
        stays: set[str] = set()
        while True:
            now = self._clock.now()
            found = await self._state.list_due(now + LONGEST_SLEEP, limit=_AT_ONCE + len(stays | self._waiting.keys()))
            due = [schedule for schedule in found if (schedule.next_fire_at or 0.0) <= now]
            if overslept := self._overslept(due, now):
                await self._settle_overslept(overslept)
                continue
            chosen, crowded = await self._worth_a_look(due, stays)
            results = await self._evaluate(chosen, now, crowded)
            stays |= {schedule_id for schedule_id, result in results.items() if result.word not in _MOVES}
            retries += [now + result.retry for result in results.values() if result.retry is not None]
            if not chosen or self._stopping:
                break
        self.last_pass_at = self._clock.monotonic()
        return await self._next_look(found, now, retries)

    async def _wait_out(self, until: float) -> float:
        """Evaluate nothing while firing is held. What comes due meanwhile has passed unlooked at, and its policy decides then."""
        self._wake.clear()
        now = self._clock.now()
        self.next_due_at = await self._state.next_due_at()
        self.last_pass_at = self._clock.monotonic()
        return min(until, now + LONGEST_SLEEP)

    async def _begin(self) -> None:
        """What precedes the first pass: recovery, then the missed instants, with the operator's word where it is wanted."""
        await self._recovery.begin()
        self._look(self._clock.now())
        missed = await self._missed.collect()
        self._seen = {schedule.schedule_id: at for schedule, at in missed}
        apply_policies = True
        if missed and self._ask:
            self._answer = asyncio.get_running_loop().create_future()
            self.missed = missed
            self.last_pass_at = self._clock.monotonic()
            try:
                apply_policies = await self._answer
            finally:
                self.missed, self._answer = (), None
        await self._missed.settle(missed, apply_policies=apply_policies)

    def _overslept(self, due: Sequence[ScheduleRecord], now: float) -> Missed:
        """What came due while nobody looked: the machine slept, the clock was set, this process was stopped, or the store or the
        operator did not answer. What was seen in time and has waited since (for a slot, say) was not missed.
        """
        away, seen = self._look(now), self._seen
        self._seen = {schedule.schedule_id: schedule.next_fire_at for schedule in due}
        if away <= gates.MISSED_GRACE:
            return ()
        return tuple(
            (schedule, at)
            for schedule in due
            if (at := schedule.next_fire_at) is not None
            and gates.missed(at, now)
            and seen.get(schedule.schedule_id) != at
            and self._occurrences.fault(schedule, now) is None
        )

    def _look(self, now: float) -> float:
        """Note a look; seconds since the one before, by the clock that says more: the wall clock may have been set back."""
        before, self._looked = self._looked, (now, self._clock.monotonic())
        return 0.0 if before is None else max(now - before[0], self._looked[1] - before[1])

    async def _settle_overslept(self, missed: Missed) -> None:
        """Their policies apply; nobody is asked while hosting."""
        log.warning("nobody looked for a while and %d instants passed", len(missed))
        await self._missed.settle(missed, apply_policies=True)

    async def _arm(self) -> None:
        """Give enabled schedules without an instant their first one."""
        for schedule in await self._state.list_unarmed():
            now = self._clock.now()
            if self._occurrences.fault(schedule, now) is None:
                try:
                    zone = zone_of(schedule, self._zone) if schedule.trigger_type == "cron" else None
                    first = first_fire(schedule, now, self._zone)
                except CadenceError:
                    continue
                await self._state.arm(
                    schedule, first, zone=zone.name if zone else None, zone_source=zone.source if zone else None
                )

    async def _worth_a_look(self, due: Sequence[ScheduleRecord], stays: Collection[str]) -> tuple[list[ScheduleRecord], bool]:
        """Of the due ones that are neither under way nor done with as many as there are free slots, the longest overdue first.

        Where no slot is free (then true comes with them): those that another gate may keep from waiting for one, and those
        whose waiting makes another deferral.
        """
        listed = {schedule.schedule_id for schedule in due}
        self._waiting = {waiting: held for waiting, held in self._waiting.items() if waiting in listed}
        found = [one for one in due if one.schedule_id not in self._evaluating and one.schedule_id not in stays]
        if not found:
            return [], False
        free = await self._free_slots()
        if free > 0:
            return found[: None if math.isinf(free) else int(free)], False
        return [schedule for schedule in found if not self._waits_for_a_slot(schedule.schedule_id)], True

    def _waits_for_a_slot(self, schedule_id: str) -> bool:
        gate, since = self._waiting.get(schedule_id, (None, 0.0))
        return gate == "slots" and self._clock.monotonic() - since < DEFERRAL_INTERVAL

    async def _free_slots(self) -> float:
        verdict = await self._admission.slot()
        limit, running = verdict.evidence["limit"], verdict.evidence["running"]
        if not isinstance(limit, int) or not isinstance(running, int) or limit <= 0:
            return math.inf
        return limit - running

    async def _evaluate(self, due: Sequence[ScheduleRecord], now: float, crowded: bool) -> dict[str, Evaluated]:
        """Evaluate side by side; one that is slow (a dead network folder, say) is left to itself and holds nobody up."""
        tasks = {self._start(schedule, now, crowded): schedule.schedule_id for schedule in due}
        if not tasks:
            return {}
        done, _ = await asyncio.wait(tasks, timeout=_SLOW_EVALUATION)
        return {tasks[task]: task.result() for task in done}

    def _start(self, schedule: ScheduleRecord, now: float, crowded: bool) -> asyncio.Task[Evaluated]:
        schedule_id = schedule.schedule_id
        task = asyncio.create_task(self._one(schedule, now, crowded), name=f"evaluate {schedule_id}")
        self._evaluating[schedule_id] = task
        task.add_done_callback(lambda done: self._evaluating.pop(schedule_id, None))
        return task

    async def _one(self, schedule: ScheduleRecord, now: float, crowded: bool) -> Evaluated:
        try:
            result = await self._occurrences.due(schedule, now, crowded=crowded)
        except StudioApplicationError as failure:
            log.warning("schedule %s: not evaluated: %s", schedule.name, failure)
            return Evaluated("broken", _ERROR_RETRY)
        except Exception:
            log.exception("schedule %s: its evaluation failed", schedule.name)
            return Evaluated("broken", LONGEST_SLEEP)
        if result.word == "waiting":
            self._waiting[schedule.schedule_id] = (result.gate, self._clock.monotonic())
        else:
            self._waiting.pop(schedule.schedule_id, None)
        return Evaluated("lost", _LOST_RETRY) if result.word == "lost" else result

    async def _next_look(self, found: Sequence[ScheduleRecord], now: float, retries: Sequence[float]) -> float:
        coming = [at for schedule in found if (at := schedule.next_fire_at) is not None and at > now]
        known = self.next_due_at is not None and self.next_due_at > now and self._somebody_waits()
        if coming or not known:  # while somebody waits for a slot, another look follows soon
            self.next_due_at = min(coming, default=None) or await self._next_beyond(now)
        return min([now + LONGEST_SLEEP, *coming, *retries])

    async def _next_beyond(self, now: float) -> float | None:
        """The next instant that lies further ahead, past those of schedules that are due and cannot fire."""
        earliest = await self._state.next_due_at()
        if earliest is None or earliest > now:
            return earliest
        found = await self._state.list_due(now + _FAR_AHEAD, limit=_AT_ONCE)
        return min((at for schedule in found if (at := schedule.next_fire_at) is not None and at > now), default=None)

    async def _failed(self, words: str, failures: int) -> int:
        self.restarts += 1
        self.trouble = words
        self._wake.clear()
        await self._pause(BACKOFF[min(failures, len(BACKOFF) - 1)])
        return failures + 1

    async def _pause(self, seconds: float) -> None:
        """Sleep, but no longer than until somebody wakes the loop."""
        if self._stopping:  # said while a pass was beginning, which takes back earlier wake-ups
            return
        try:
            await asyncio.wait_for(self._wake.wait(), min(max(seconds, 0.0), LONGEST_SLEEP))
        except TimeoutError:
            return
