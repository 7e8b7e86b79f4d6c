"""The figures of the header: what runs, and what needs a person (lionagi 0.36, attention queue)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from studio_tui.application.guard import guarded
from studio_tui.application.liveness import living
from studio_tui.application.models.host import AttentionCount, Overview
from studio_tui.application.pauses import in_slices
from studio_tui.application.ports import Clock, OverviewReadPort, ProcessPort, ScheduleReadPort, ShowFilesPort, ShowReadPort
from studio_tui.application.schedule_problems import problems_of
from studio_tui.application.schedule_views import STRIP
from studio_tui.application.show_views import paired, plays_of
from studio_tui.domain.health import failure_streak, run_health
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.statuses import EXECUTED

DAY: Final = 86_400.0
STREAK: Final = 3
"""Failures in a row after which a schedule needs a person."""

_RUNNING: Final = 200
_SCHEDULES: Final = 1_000
_LOST: Final = frozenset({"stale", "orphaned", "unresponsive"})


@guarded
class OverviewService:
    """The header's figures. Costs a fixed number of statements, and one look at the shows on disk."""

    def __init__(
        self,
        *,
        reads: OverviewReadPort,
        schedules: ScheduleReadPort,
        shows: ShowReadPort,
        show_files: ShowFilesPort,
        processes: ProcessPort,
        zone: Zone,
        clock: Clock,
    ) -> None:
        self._reads = reads
        self._schedules = schedules
        self._shows = shows
        self._show_files = show_files
        self._processes = processes
        self._zone = zone
        self._clock = clock

    async def overview(self) -> Overview:
        """What runs now and what needs a person, the most urgent kind first; kinds without anything are left out."""
        now = self._clock.now()
        running = await self._reads.count_running()
        failing, broken = await self._schedule_troubles()
        counted = (
            ("lost", await self._lost_runs(now) if running else 0),
            ("gated", await self._gated_plays(now)),
            ("failing", failing),
            ("broken", broken),
            ("failed", await self._reads.count_failed_since(now - DAY)),
        )
        return Overview(
            running=running,
            attention=tuple(AttentionCount(kind=kind, count=count) for kind, count in counted if count),
        )

    async def _lost_runs(self, now: float) -> int:
        """Running runs that show no sign of life: stale, orphaned, or alive and silent for hours."""
        runs = await self._reads.running_runs(limit=_RUNNING)
        alive = await living(runs, self._processes)
        return sum(run_health(run, now, alive.get(run.run_id)) in _LOST for run in runs)

    async def _gated_plays(self, now: float) -> int:
        pairs = paired(await self._shows.list_shows(), await self._show_files.list_shows())
        return sum(play.needs_person for sides in pairs for play in plays_of(sides, now=now))

    async def _schedule_troubles(self) -> tuple[int, int]:
        """How many enabled schedules keep failing, and how many can never fire as they are stored."""
        enabled = await self._schedules.list_schedules(enabled=True, text=None, after=None, limit=_SCHEDULES)
        troubles = await in_slices(enabled, lambda schedule: problems_of(schedule, self._zone))
        return await self._failing(enabled), sum(map(bool, troubles))

    async def _failing(self, enabled: Sequence[ScheduleRecord]) -> int:
        if not enabled:
            return 0
        recent = await self._schedules.recent_firings([schedule.schedule_id for schedule in enabled], each=STRIP)
        return sum(
            failure_streak([firing for firing in firings if firing.status in EXECUTED]) >= STREAK for firings in recent.values()
        )
