"""The figures that threshold schedules look at, and the note of an evaluation that fires nothing."""

from __future__ import annotations

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.thresholds import Reading
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries.thresholds import METRICS
from studio_tui.state.stores.reads import ReadStore
from studio_tui.state.stores.schedule_stamps import changed, newer, still_due


class MetricReads(ReadStore):
    """Implements ``MetricPort``."""

    async def metric(self, name: str, *, since: float, now: float) -> Reading:
        """What a metric says of the window from ``since`` to ``now``. Raises :class:`KeyError` for an unknown one."""
        row = await self._first_row(METRICS[name], {"since": since, "now": now})
        value, unreported = row if row is not None else (0, 0)
        return Reading(float(value or 0), int(unreported))


class ThresholdStore(MetricReads):
    """Implements ``ThresholdPort``."""

    async def pass_quietly(self, schedule: ScheduleRecord, next_fire_at: float | None, *, now: float) -> bool:
        """Note an evaluation that fires nothing and move the instant, if it is the stored one still."""

        async def work(connection: AsyncConnection) -> bool:
            values = {"last_evaluated_at": now, "next_fire_at": next_fire_at, "updated_at": newer(now)}
            return await changed(connection, still_due(schedule), values)

        return await self._db.write(work)
