"""Instants that passed while nobody hosted: collected, and settled as each schedule's policy says."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from studio_tui.application.ports import Clock, Refusal, SchedulerStateService
from studio_tui.domain import gates
from studio_tui.domain.cadence import zone_of
from studio_tui.domain.durations import format_duration
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.scheduler.occurrence import Occurrences
from studio_tui.scheduler.recovery import each

log = logging.getLogger(__name__)

Missed = tuple[tuple[ScheduleRecord, float], ...]
"""Schedules with the instant that each missed, in epoch seconds."""

_AT_ONCE: Final = 10_000


class MissedFires:
    """Finds missed instants and settles them: at most one firing or one row each, however many periods have passed."""

    def __init__(
        self,
        *,
        state: SchedulerStateService,
        occurrences: Occurrences,
        clock: Clock,
        zone: Zone,
        new_id: Callable[[], str],
    ) -> None:
        self._state, self._occurrences = state, occurrences
        self._clock, self._zone, self._new_id = clock, zone, new_id

    async def collect(self) -> Missed:
        """What is later than the grace now. Schedules that this version does not fire are not among them."""
        now = self._clock.now()
        due = await self._state.list_due(now - gates.MISSED_GRACE, limit=_AT_ONCE)
        found: list[tuple[ScheduleRecord, float]] = []
        for schedule in due:
            at = schedule.next_fire_at
            if at is not None and gates.missed(at, now) and self._occurrences.fault(schedule, now) is None:
                found.append((schedule, at))
        return tuple(found)

    async def settle(self, missed: Missed, *, apply_policies: bool) -> None:
        """Apply each policy, or pass over all of them as skipped. What changed meanwhile is left to the evaluation."""
        if missed:
            log.warning("%d instants were missed: %s", len(missed), "policies applied" if apply_policies else "passed over")
        await each(lambda item: self._settle(*item, apply_policies=apply_policies), missed, lambda item: item[0].name)

    async def _settle(self, seen: ScheduleRecord, due_at: float, *, apply_policies: bool) -> None:
        schedule = await self._state.get_schedule(seen.schedule_id)
        now = self._clock.now()
        if schedule is None or not schedule.enabled or schedule.next_fire_at != due_at or due_at > now:
            return
        if await self._state.count_fired_since(schedule.schedule_id, due_at):
            await self._advance(schedule, now)
        elif apply_policies and schedule.missed_fire_policy == "run_once":
            await self._occurrences.due(schedule, now, {"missed_recovery": True, "fired_at": now})
        else:
            await self._skip(schedule, due_at, now, passed_over=not apply_policies)

    async def _advance(self, schedule: ScheduleRecord, now: float) -> None:
        """It did fire (by hand, or under a host that died before it could move the instant): nothing was missed."""
        zone = zone_of(schedule, self._zone) if schedule.trigger_type == "cron" else None
        await self._state.arm(
            schedule,
            self._occurrences.following(schedule, now),
            zone=zone.name if zone else schedule.effective_timezone,
            zone_source=zone.source if zone else schedule.effective_timezone_source,
        )

    async def _skip(self, schedule: ScheduleRecord, due_at: float, now: float, *, passed_over: bool) -> None:
        late = format_duration(max(1, round(now - due_at)))
        why = "passed over by the operator" if passed_over else "missed-fire policy: skip"
        refusal = Refusal(
            run_id=self._new_id(),
            schedule=schedule,
            status="skipped",
            reason_code="schedule.skipped.missed_fire",
            reason=f"missed by {late} while nothing was fired ({why})",
            trigger_context={"skipped_missed_fire": True, "missed_fire_at": due_at, "checked_at": now},
            at=now,
            claimed=due_at,
            next_fire_at=self._occurrences.following(schedule, now),
        )
        await self._state.refuse(refusal, now=now)
