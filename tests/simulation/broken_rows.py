"""Builds that leave rows without history, without words, or with the wrong end, and chains that go astray."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import update

from studio_tui.application.ports import Occurrence, Outcome
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler import ending
from studio_tui.scheduler import outcome as outcomes
from studio_tui.scheduler.recovery import Recovery
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.schema import schedule_runs
from studio_tui.state.stores import scheduling
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.simulation.mutant import Mutant
from tests.simulation.simple import STEP, lasting
from tests.simulation.stages import alone, frozen_at


def launch_not_recorded(patch: pytest.MonkeyPatch) -> None:
    """``dispatched_at`` is never stamped."""

    async def forgotten(*_arguments: object) -> None:
        return None

    patch.setattr(SchedulingStore, "mark_dispatched", forgotten)


def end_unguarded(patch: pytest.MonkeyPatch) -> None:
    """A terminal row is written whatever the row says by then."""

    async def end(connection: AsyncConnection, outcome: Outcome, now: float) -> bool:
        await guarded(connection, outcome, now)
        row = schedule_runs.c
        values = {"status": outcome.status, "ended_at": outcome.ended_at, "status_reason_summary": outcome.reason}
        await connection.execute(update(schedule_runs).where(row.id == outcome.run_id).values(**values))
        return True

    guarded = scheduling._end
    patch.setattr(scheduling, "_end", end)


def history_left_out(patch: pytest.MonkeyPatch) -> None:
    """The end of a firing leaves no line."""

    async def silent(connection: AsyncConnection, entity: str, entity_id: str, status: str, **values: Any) -> bool:
        if entity != "schedule_run":
            return await written(connection, entity, entity_id, status, **values)
        row = schedule_runs.c
        reason = {"status_reason_code": values["reason_code"], "status_reason_summary": values["summary"]}
        end = update(schedule_runs).where(row.id == entity_id, row.status == "running")
        return (await connection.execute(end.values(status=status, **reason, **values["extra"]))).rowcount == 1

    written = scheduling.write_status
    patch.setattr(scheduling, "write_status", silent)


def failure_without_words(patch: pytest.MonkeyPatch) -> None:
    """A process that could not be started leaves no reason."""
    original = outcomes.failure
    patch.setattr(outcomes, "failure", lambda reason, *code: original("", *code))


def chain_step_lost(patch: pytest.MonkeyPatch) -> None:
    """The end of a step is written, and the host dies before the next one is."""
    original = SchedulingStore.finish

    async def finish(self: SchedulingStore, outcome: Outcome, *, now: float, step: Occurrence | None = None) -> bool:
        return await original(self, outcome, now=now) and step is None

    patch.setattr(SchedulingStore, "finish", finish)


def chain_without_end(patch: pytest.MonkeyPatch) -> None:
    """The depth limit is forgotten."""
    original = ending.next_step
    patch.setattr(ending, "next_step", lambda schedule, status, depth: original(replace(schedule), status, min(depth, 5)))


def switch_unrecorded(patch: pytest.MonkeyPatch) -> None:
    """The scheduler turns a schedule off, and its history says nothing of it."""
    original = scheduling.record  # type: ignore[attr-defined]

    async def record(connection: AsyncConnection, *lines: Mapping[str, Any]) -> None:
        if kept := [line for line in lines if line["entity_type"] != "schedule"]:
            await original(connection, *kept)

    patch.setattr(scheduling, "record", record)


def cause_left_out(patch: pytest.MonkeyPatch) -> None:
    """The row does not say what made it."""
    original = scheduling.occurrence_row  # type: ignore[attr-defined]
    patch.setattr(scheduling, "occurrence_row", lambda occurrence, now: {**original(occurrence, now), "trigger_context": {}})


def orphan_taken_for_dead(patch: pytest.MonkeyPatch) -> None:
    """What an earlier host launched is ended at once, though it runs."""

    async def lives(*_arguments: object) -> bool:
        return False

    patch.setattr(Recovery, "_lives", lives)


def wrong_step(patch: pytest.MonkeyPatch) -> None:
    """Whatever step there is follows."""

    def step(schedule: ScheduleRecord, status: str, depth: int) -> object:
        return original(replace(schedule, on_fail=schedule.on_fail or schedule.on_success), status, depth)

    original = ending.next_step  # type: ignore[attr-defined]
    patch.setattr(ending, "next_step", step)


_SHORT, _FAILING = lasting(1.0, 2.0), lasting(1.0, 2.0, failing=1.0)

MUTANTS = (
    Mutant("dispatched_at not stamped", launch_not_recorded, {"stamped"}),
    Mutant("terminal write unguarded", end_unguarded, {"ended-once", "chain"}, frozen_at("before finish", free=True)),
    Mutant("an end without a line of history", history_left_out, {"history"}),
    Mutant("turned off without a line of history", switch_unrecorded, {"history"}, alone(_SHORT, max_runs=2)),
    Mutant("a failure without words", failure_without_words, {"explained"}),
    Mutant("a row without its cause", cause_left_out, {"explained"}),
    Mutant("a live orphan taken for dead", orphan_taken_for_dead, {"ended-alive"}, frozen_at("after launch")),
    Mutant("a chain step lost between two commits", chain_step_lost, {"chain-lost"}, alone(_SHORT, days=0.001, on_success=STEP)),
    Mutant("a chain without end", chain_without_end, {"chain"}, alone(_FAILING, on_fail={"model": "other"})),
    Mutant("a failure goes on as a success", wrong_step, {"chain"}, alone(_FAILING, on_success=STEP)),
)
