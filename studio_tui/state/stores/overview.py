"""Reads what the header counts (implements ``OverviewReadPort``)."""

from __future__ import annotations

from studio_tui.domain.runs import RunRecord
from studio_tui.state.queries import overview as queries
from studio_tui.state.rows import run_record
from studio_tui.state.stores.reads import ReadStore


class OverviewStore(ReadStore):
    """Implements ``OverviewReadPort``."""

    async def count_running(self) -> int:
        """Listed runs that the store says are running."""
        return int(await self._only_value(queries.RUNNING_COUNTED, {}) or 0)

    async def running_runs(self, *, limit: int) -> tuple[RunRecord, ...]:
        """Listed runs that the store says are running, newest activity first."""
        return tuple(map(run_record, await self._rows(queries.RUNNING_RUNS, {"limit": limit})))

    async def count_failed_since(self, since: float) -> int:
        """Listed runs with status failed that ended since ``since`` (epoch seconds), without those that were only given up."""
        return int(await self._only_value(queries.FAILED_COUNTED, {"since": since}) or 0)
