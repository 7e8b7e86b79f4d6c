"""Builds whose schedules fire at the wrong time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import update

from studio_tui.application.ports import Occurrence
from studio_tui.domain import cadence, daylight
from studio_tui.domain.daylight import Instant
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.triggers import interval_of
from studio_tui.scheduler import loop
from studio_tui.scheduler.loop import EvaluationLoop
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.schema import schedules
from studio_tui.state.stores import scheduling
from tests.simulation.mutant import Mutant
from tests.simulation.stages import autumn_night


def interval_anchored_to_now(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: each period counts from the fire before, lateness and all."""

    def interval(schedule: ScheduleRecord) -> Callable[[float], Instant]:
        every = interval_of(schedule)
        return lambda after: Instant(after + every)

    patch.setattr(cadence, "_interval", interval)


def autumn_hour_fires_twice(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: a job at a fixed time fires in both hours that have it."""
    patch.setattr(daylight, "named_hours_step", daylight.every_hour_step)


def by_hand_moves_the_cadence(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: firing by hand counts the next instant from now."""
    original = scheduling._take

    async def take(connection: AsyncConnection, occurrence: Occurrence, now: float) -> bool:
        if occurrence.claimed is None and not occurrence.chain_depth:
            moved = update(schedules).where(schedules.c.id == occurrence.schedule.schedule_id)
            await connection.execute(moved.values(next_fire_at=schedules.c.next_fire_at + 7.0))
        return await original(connection, occurrence, now)

    patch.setattr(scheduling, "_take", take)


def chain_moves_the_cadence(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: a chain step rewrites the next instant."""
    original = scheduling._begin

    async def begin(connection: AsyncConnection, occurrence: Occurrence, now: float) -> None:
        if occurrence.chain_depth:
            moved = update(schedules).where(schedules.c.id == occurrence.schedule.schedule_id)
            await connection.execute(moved.values(next_fire_at=schedules.c.next_fire_at + 3600.0, updated_at=now))
        await original(connection, occurrence, now)

    patch.setattr(scheduling, "_begin", begin)


def overslept(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: a look each so many seconds, whatever is due."""

    async def pause(self: EvaluationLoop, seconds: float) -> None:
        await original(self, loop.LONGEST_SLEEP)

    original = EvaluationLoop._pause
    patch.setattr(EvaluationLoop, "_pause", pause)


def last_fire_forgotten(patch: pytest.MonkeyPatch) -> None:
    """``last_fired_at`` is left as it was."""
    original = scheduling._take

    async def take(connection: AsyncConnection, occurrence: Occurrence, now: float) -> bool:
        taken = await original(connection, occurrence, now)
        this = update(schedules).where(schedules.c.id == occurrence.schedule.schedule_id)
        await connection.execute(this.values(last_fired_at=occurrence.schedule.last_fired_at))
        return taken

    patch.setattr(scheduling, "_take", take)


MUTANTS = (
    Mutant("interval anchored to now", interval_anchored_to_now, {"phase"}),
    Mutant("the autumn hour fires twice", autumn_hour_fires_twice, {"daylight"}, autumn_night),
    Mutant("firing by hand moves the cadence", by_hand_moves_the_cadence, {"manual-still", "cadence"}),
    Mutant("a chain moves the cadence", chain_moves_the_cadence, {"chain-still", "cadence"}),
    Mutant("the loop sleeps past what is due", overslept, {"late"}),
    Mutant("the last fire is not noted", last_fire_forgotten, {"last-fired"}),
)
