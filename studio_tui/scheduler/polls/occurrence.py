"""One event of a poll, from the bookmark before it to a claimed firing whose launch is under way.

The claim moves the bookmark in the transaction that inserts the firing's rows, so that an event fires once whoever polls.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from studio_tui.application.ports import CursorMove, Refusal, RefusedEvent
from studio_tui.domain.gates import Verdict
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.launch import LaunchRefused
from studio_tui.scheduler.launcher import Launch
from studio_tui.scheduler.occurrence import SLOT_RETRY, Evaluated, Occurrences

log = logging.getLogger(__name__)

MOST_REFUSALS: Final = 3
"""How often an event is offered whose launch is refused, before the poll goes on behind it (lionagi 0.36)."""


class EventOccurrences(Occurrences):
    """Turns events of polls into firings, as :class:`Occurrences` does with due instants."""

    async def event(
        self, schedule: ScheduleRecord, event: Mapping[str, object], move: CursorMove, now: float, *, waited: bool = False
    ) -> Evaluated:
        """Fire for an event, or say why not. ``skipped`` and ``quiet``: the bookmark is behind it, and nothing ran.

        An event is never lost to a gate: where a due instant would be skipped because a firing runs, an event waits. The gates
        of one that has ``waited`` are asked before it is claimed, so that waiting costs no writes.
        """
        if waited and (verdict := await self._admission.refusal(schedule, now)) is not None:
            return await self._held(schedule, verdict, now)
        context: dict[str, object] = {"github_events": [dict(event)], "repo": schedule.github_repo, "fired_at": now}
        if schedule.threshold_config is not None:
            alert = await self._thresholds.verdict(schedule, now)
            if not alert.allowed:
                moved = self._may_launch() and await self._state.move_cursor(schedule.schedule_id, move, now=now)
                return Evaluated("quiet" if moved else "lost")
            schedule, context = replace(schedule, last_evaluated_at=now), {**context, **alert.evidence}
        run_id = self._new_id()
        launch = await self._prepared(schedule, context, run_id)
        if not self._may_launch():
            return Evaluated("lost")
        if isinstance(launch, Launch) and await self._claim(schedule, launch, context, now, run_id=run_id, cursor=move):
            self._deferrals.clear(schedule.schedule_id)
            self._told.pop(schedule.schedule_id, None)
            return Evaluated("fired")
        verdict = await self._admission.refusal(schedule, now)
        if verdict is not None:
            return await self._held(schedule, verdict, now)
        if isinstance(launch, LaunchRefused):
            return await self._refuse_event(schedule, launch, context, move, now, run_id)
        return Evaluated("lost")

    async def _held(self, schedule: ScheduleRecord, verdict: Verdict, now: float) -> Evaluated:
        if verdict.gate == "overlap":
            return Evaluated("waiting", SLOT_RETRY, verdict.gate)
        return await self._refused(schedule, verdict, now, None)

    async def _refuse_event(
        self,
        schedule: ScheduleRecord,
        refused: LaunchRefused,
        context: Mapping[str, object],
        move: CursorMove,
        now: float,
        run_id: str,
    ) -> Evaluated:
        """Nothing ran, so that the event may be offered again; but one that can never be launched must not hold up the others."""
        again = schedule.predispatch_refusal_event == move.behind
        count = (schedule.predispatch_refusal_count if again else 0) + 1
        passed = count >= MOST_REFUSALS
        what = "the event is passed over" if passed else "the event is offered again"
        log.warning("schedule %s: not launched, try %d of %d, %s: %s", schedule.name, count, MOST_REFUSALS, what, refused)
        refusal = Refusal(
            run_id=run_id,
            schedule=schedule,
            status="failed",
            reason_code=refused.reason_code,
            reason=f"{refused} (try {count} of {MOST_REFUSALS}: {what})",
            trigger_context=context,
            at=now,
            claimed=None,
            next_fire_at=None,
            event=RefusedEvent(move, count, passed),
        )
        if not await self._state.refuse(refusal, now=now):
            return Evaluated("lost")
        await self._endings.check_max_runs(schedule, 0)
        return Evaluated("skipped" if passed else "failed")
