"""Whether a schedule may be launched now, decided from the store in the order of lionagi 0.36.

The claim decides: it counts in the transaction that inserts the running row (:meth:`Admission.limits`), so that whoever fires at
the same moment, in this process or in another, is counted or counts. Nothing is reserved or given back. A claim that is lost is
explained by :meth:`Admission.refusal`.
"""

from __future__ import annotations

from typing import Final

from studio_tui.application.ports import Limits, SchedulerStateService
from studio_tui.domain import gates
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.contract import DEFERRAL_NOTE_EVERY

DEFERRAL_INTERVAL: Final = 30.0
"""Seconds after which waiting for a slot counts as one more deferral: the peer's tick, so that rows come no faster than its. One
that gets its slot sooner was never deferred in the peer's terms and leaves no row."""


class Admission:
    """The gates of one host. ``slots`` is how many firings may run at once, 0 for no limit."""

    def __init__(self, state: SchedulerStateService, *, slots: int) -> None:
        self.slots = slots
        self._state = state

    async def refusal(self, schedule: ScheduleRecord, now: float, *, own_rows: int = 0) -> gates.Verdict | None:
        """The first gate that refuses, or ``None``.

        ``own_rows`` is 1 when the store already holds the firing's own row, which must not count against it.
        """
        for gate in (self._overlap, self._budget, self._rate, self._max_runs):
            verdict = await gate(schedule, now, own_rows)
            if not verdict.allowed:
                return verdict
        verdict = await self.slot(own_rows)
        return None if verdict.allowed else verdict

    async def slot(self, own_rows: int = 0) -> gates.Verdict:
        """Whether one more firing fits."""
        if self.slots <= 0:
            return gates.slots(0, 0)
        return gates.slots(self.slots, max(0, await self._state.count_running(None) - own_rows))

    def limits(self, schedule: ScheduleRecord, now: float) -> Limits:
        """The gates for the claim itself."""
        fires, seconds = gates.rate_window(schedule) or (None, 0)
        return Limits(
            alone=schedule.overlap_policy != "allow",
            max_runs=schedule.max_runs,
            max_fires=fires,
            since=now - seconds,
            slots=max(0, self.slots),
            budget_usd=schedule.budget_usd,
            budget_tokens=schedule.budget_tokens,
        )

    async def max_runs_reached(self, schedule: ScheduleRecord) -> gates.Verdict | None:
        """The verdict when no run is left, for the check after a firing."""
        if schedule.max_runs is None:
            return None
        verdict = gates.max_runs(schedule, await self._state.count_schedule_runs(schedule.schedule_id))
        return None if verdict.allowed else verdict

    async def _overlap(self, schedule: ScheduleRecord, now: float, own_rows: int) -> gates.Verdict:
        if schedule.overlap_policy == "allow":
            return gates.overlap(schedule, 0)
        return gates.overlap(schedule, max(0, await self._state.count_running(schedule.schedule_id) - own_rows))

    async def _budget(self, schedule: ScheduleRecord, now: float, own_rows: int) -> gates.Verdict:
        if schedule.budget_usd is None and schedule.budget_tokens is None:
            return gates.budget(schedule, usd=0, tokens=0)
        spend = await self._state.sum_schedule_spend(schedule.schedule_id)
        return gates.budget(schedule, usd=spend.usd, tokens=spend.tokens, unreported=spend.unreported)

    async def _rate(self, schedule: ScheduleRecord, now: float, own_rows: int) -> gates.Verdict:
        window = gates.rate_window(schedule)
        if window is None:
            return gates.rate(schedule, 0)
        fired = await self._state.count_fired_since(schedule.schedule_id, now - window[1])
        return gates.rate(schedule, max(0, fired - own_rows))

    async def _max_runs(self, schedule: ScheduleRecord, now: float, own_rows: int) -> gates.Verdict:
        if schedule.max_runs is None:
            return gates.max_runs(schedule, 0)
        executed = await self._state.count_schedule_runs(schedule.schedule_id)
        return gates.max_runs(schedule, max(0, executed - own_rows))


class Deferrals:
    """Counts how often each schedule had to wait for a slot, and says when that is worth a row."""

    def __init__(self) -> None:
        self._counts: dict[str, tuple[int, float]] = {}

    def count(self, schedule_id: str, monotonic: float) -> int | None:
        """The number of this deferral if it is to leave a row (1, 11, 21 …), else ``None``."""
        number, since = self._counts.setdefault(schedule_id, (0, monotonic))
        if monotonic - since < DEFERRAL_INTERVAL:
            return None
        self._counts[schedule_id] = (number + 1, monotonic)
        return number + 1 if number % DEFERRAL_NOTE_EVERY == 0 else None

    def clear(self, schedule_id: str) -> None:
        """It waits no longer."""
        self._counts.pop(schedule_id, None)
