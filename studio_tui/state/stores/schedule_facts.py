"""Reads what explains a schedule (implements ``ScheduleFactsPort``)."""

from __future__ import annotations

from typing import Any

from studio_tui.application.ports import GateFacts, Spend, Vanishing
from studio_tui.domain.runs import TransitionRecord
from studio_tui.domain.schedules import FiringRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries import schedule_facts as queries
from studio_tui.state.queries.scheduling import SPEND
from studio_tui.state.rows import firing_record, transition_record
from studio_tui.state.stores.thresholds import MetricReads


class ScheduleFactReads(MetricReads):
    """Counts and records around one schedule. Each method is one short read."""

    async def vanishing(self, schedule_id: str) -> Vanishing:
        """What would go with a schedule if it were deleted."""
        values = {"schedule_id": schedule_id}
        counts = await self._first_row(queries.VANISHING_COUNTS, values)
        running = await self._rows(queries.RUNNING_IDS, values)
        return Vanishing(0) if counts is None else vanishing_of(counts, running)

    async def gate_facts(self, schedule_id: str, *, since: float) -> GateFacts:
        """What the gates count now; ``since`` (epoch seconds) begins the window of the rate limit."""
        values = {"schedule_id": schedule_id}
        running = await self._rows(queries.RUNNING_IDS, values)
        counts = await self._first_row(queries.GATE_COUNTS, {**values, "since": since})
        spend = await self._first_row(SPEND, values)
        executed, fired, of_all = counts if counts is not None else (0, 0, 0)
        usd, tokens, unreported = spend if spend is not None else (0.0, 0, 0)
        return GateFacts(
            running=tuple(str(run_id) for (run_id,) in running),
            executed=int(executed),
            fired=int(fired),
            spend=Spend(float(usd), int(tokens), int(unreported)),
            running_of_all=int(of_all),
        )

    async def firings_around(self, schedule_id: str, at: float) -> tuple[FiringRecord | None, FiringRecord | None]:
        """The last row of a schedule at or before an instant, and the first one after it; chain steps left out."""
        values = {"schedule_id": schedule_id, "at": at}
        before = await self._first_row(queries.FIRING_UP_TO, values)
        after = await self._first_row(queries.FIRING_AFTER, values)
        return (None if before is None else firing_record(before), None if after is None else firing_record(after))

    async def definition_history(self, schedule_id: str, *, before: float) -> TransitionRecord | None:
        """The last line of history of a schedule's definition at or before an instant."""
        row = await self._first_row(queries.DEFINITION_LINE, {"schedule_id": schedule_id, "at": before})
        return None if row is None else transition_record(row)


def vanishing_of(counts: Any, running: Any) -> Vanishing:
    """What goes with a schedule, from the rows of ``VANISHING_COUNTS`` and ``RUNNING_IDS``."""
    return Vanishing(firings=int(counts.firings), running=tuple(str(run_id) for (run_id,) in running), obstacle=_obstacle(counts))


async def vanishing_now(connection: AsyncConnection, schedule_id: str) -> Vanishing:
    """The same in a transaction, in which nothing can change any more."""
    values = {"schedule_id": schedule_id}
    counts = (await connection.execute(queries.VANISHING_COUNTS, values)).one()
    return vanishing_of(counts, (await connection.execute(queries.RUNNING_IDS, values)).all())


def _obstacle(counts: Any) -> str | None:
    """What refers to one of its firings and may not lose it."""
    if counts.messages:
        many = "1 message of the outbox refers" if counts.messages == 1 else f"{counts.messages} messages of the outbox refer"
        return f"{many} to its firings and would lose what they speak of; deliver and purge them first (li dispatch purge)"
    return "a worker holds one of its firings" if counts.workers else None
