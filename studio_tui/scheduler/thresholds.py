"""A threshold schedule at its due instant: look at the figure; only a breach goes on to the gates."""

from __future__ import annotations

from typing import Any

from studio_tui.application.ports import ThresholdPort
from studio_tui.domain import thresholds
from studio_tui.domain.gates import Verdict
from studio_tui.domain.schedules import ScheduleRecord


class Thresholds:
    """Evaluates the thresholds of schedules that are due."""

    def __init__(self, state: ThresholdPort) -> None:
        self._state = state

    async def verdict(self, schedule: ScheduleRecord, now: float) -> Verdict:
        """Whether a well-formed threshold lets the schedule fire; the evidence goes into the trigger context."""
        config: dict[str, Any] = dict(schedule.threshold_config or {})
        since = thresholds.window_start(config, now)
        return thresholds.verdict(schedule, await self._state.metric(config["metric"], since=since, now=now), now)

    async def pass_quietly(self, schedule: ScheduleRecord, following: float | None, now: float) -> bool:
        """Nothing fires: note it and go on to the next instant; False if somebody else has done so."""
        return await self._state.pass_quietly(schedule, following, now=now)
