"""What the operations on schedules share: their ports, and one schedule by its id."""

from __future__ import annotations

from studio_tui.application.errors import NotFound
from studio_tui.application.journal import Journal
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.ports import (
    ActProvenance,
    Clock,
    RunLogPort,
    ScheduleReadPort,
    SchedulerHostPort,
    ScheduleWritePort,
    SidecarPort,
)
from studio_tui.domain.schedules import ScheduleRecord, Zone


class ScheduleBase:
    """Holds the ports; what is done with them stands in the subclasses."""

    def __init__(
        self,
        *,
        reads: ScheduleReadPort,
        writes: ScheduleWritePort,
        host: SchedulerHostPort,
        logs: RunLogPort,
        sidecar: SidecarPort,
        launch: LaunchFacts,
        zone: Zone,
        by: ActProvenance,
        clock: Clock,
    ) -> None:
        """``zone`` is where cron expressions without a zone of their own are read; ``by`` is who acts, and from where."""
        self._reads = reads
        self._writes = writes
        self._host = host
        self._logs = logs
        self._journal = Journal(sidecar, clock)
        self._launch = launch
        self._zone = zone
        self._by = by
        self._clock = clock

    async def _record(self, schedule_id: str) -> ScheduleRecord:
        schedule = await self._reads.get_schedule(schedule_id)
        if schedule is None:
            raise NotFound("schedule", schedule_id)
        return schedule
