"""What threshold schedules need of the store."""

from __future__ import annotations

from typing import Protocol

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.thresholds import Reading


class MetricPort(Protocol):
    """Reads the figures that thresholds are about."""

    async def metric(self, name: str, *, since: float, now: float) -> Reading:
        """What a metric says of the window from ``since`` to ``now`` (epoch seconds), over the whole store."""
        ...


class ThresholdPort(MetricPort, Protocol):
    """The figures, and what is noted when they breach nothing."""

    async def pass_quietly(self, schedule: ScheduleRecord, next_fire_at: float | None, *, now: float) -> bool:
        """Note an evaluation that fires nothing and move the instant; False if the stored one is not that of ``schedule``."""
        ...
