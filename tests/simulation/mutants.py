"""Deliberately broken builds: one thing each that the scheduler must not lack. The simulation has to catch every one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from sqlalchemy import update

from studio_tui.application.ports import Occurrence, Outcome
from studio_tui.domain import cadence, daylight, gates
from studio_tui.domain.daylight import Instant
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.triggers import interval_of
from studio_tui.scheduler import ending, occurrence
from studio_tui.scheduler import outcome as outcomes
from studio_tui.scheduler.admission import Admission
from studio_tui.scheduler.missed import MissedFires
from studio_tui.scheduler.recovery import Recovery
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.schema import schedule_runs, schedules
from studio_tui.state.stores import scheduling
from studio_tui.state.stores.scheduling import SchedulingStore

Prepare = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Mutant:
    """A broken build, and the invariants of which any one may catch it.

    ``frozen_at`` is the point at which consoles are stopped again and again, for faults that need such a moment; ``free`` makes
    schedules that no gate holds back; ``daylight`` has it live through a night in which the clocks go back; ``first`` is the seed
    of the first world to try.
    """

    name: str
    prepare: Prepare
    caught_by: set[str]
    frozen_at: str | None = None
    free: bool = False
    daylight: bool = False
    first: int = 502


def _without(patch: pytest.MonkeyPatch, gate: str, **limits: Any) -> None:
    """A gate that lets everything through, and a claim that does not count for it either."""
    original = Admission.limits

    async def always(*_arguments: object) -> gates.Verdict:
        return gates.Verdict(gate, True, "not asked", evidence={"limit": 0, "running": 0})

    patch.setattr(Admission, gate, always)
    patch.setattr(Admission, "limits", lambda self, schedule, now: replace(original(self, schedule, now), **limits))


def claim_removed(patch: pytest.MonkeyPatch) -> None:
    """The next instant is moved on without a look at what it is by now."""

    async def take(connection: AsyncConnection, occurrence: Occurrence, now: float) -> bool:
        values: dict[str, object] = {"last_fired_at": occurrence.fired_at, "updated_at": now}
        if occurrence.claimed is not None:
            values["next_fire_at"] = occurrence.next_fire_at
        await connection.execute(update(schedules).where(schedules.c.id == occurrence.schedule.schedule_id).values(**values))
        return True

    patch.setattr(scheduling, "_take", take)


def overlap_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_overlap", alone=False)


def slots_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "slot", slots=0)


def rate_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_rate", max_fires=None)


def max_runs_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_max_runs", max_runs=None)

    async def none(*_arguments: object) -> None:
        return None

    patch.setattr(Admission, "max_runs_reached", none)


def budget_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_budget", budget_usd=None, budget_tokens=None)


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


def missed_policy_ignored(patch: pytest.MonkeyPatch) -> None:
    """What passed while nobody looked is simply fired."""

    async def settle(self: MissedFires, seen: ScheduleRecord, due_at: float, *, apply_policies: bool) -> None:
        await self._occurrences.due(seen, self._clock.now())

    patch.setattr(MissedFires, "_settle", settle)


def interval_anchored_to_now(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: each period counts from the fire before, lateness and all."""

    def interval(schedule: ScheduleRecord) -> Callable[[float], Instant]:
        every = interval_of(schedule)
        return lambda after: Instant(after + every)

    patch.setattr(cadence, "_interval", interval)


def held_up_host_launches(patch: pytest.MonkeyPatch) -> None:
    """A host that was stopped between claim and launch launches all the same."""
    always = lambda clock: lambda: True  # noqa: E731
    for user in (ending, occurrence):
        patch.setattr(user, "launch_window", always)


def recovery_only_at_start(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: what an earlier host left is looked at once."""
    original, begun = Recovery.repeat, set[int]()

    async def once(self: Recovery) -> None:
        if id(self) not in begun:
            begun.add(id(self))
            await original(self)

    patch.setattr(Recovery, "repeat", once)


def by_hand_moves_the_cadence(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: firing by hand counts the next instant from now."""
    original = scheduling._take

    async def take(connection: AsyncConnection, occurrence: Occurrence, now: float) -> bool:
        if occurrence.claimed is None and not occurrence.chain_depth:
            moved = update(schedules).where(schedules.c.id == occurrence.schedule.schedule_id)
            await connection.execute(moved.values(next_fire_at=schedules.c.next_fire_at + 7.0))
        return await original(connection, occurrence, now)

    patch.setattr(scheduling, "_take", take)


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


def autumn_hour_fires_twice(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: a job at a fixed time fires in both hours that have it."""
    patch.setattr(daylight, "named_hours_step", daylight.every_hour_step)


def chain_moves_the_cadence(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: a chain step rewrites the next instant."""
    original = scheduling._begin

    async def begin(connection: AsyncConnection, occurrence: Occurrence, now: float) -> None:
        if occurrence.chain_depth:
            moved = update(schedules).where(schedules.c.id == occurrence.schedule.schedule_id)
            await connection.execute(moved.values(next_fire_at=schedules.c.next_fire_at + 3600.0, updated_at=now))
        await original(connection, occurrence, now)

    patch.setattr(scheduling, "_begin", begin)


def old_row_kept(patch: pytest.MonkeyPatch) -> None:
    """What was never launched is fired again, and its old row goes on as if nothing had been."""
    original = SchedulingStore.claim

    async def claim(self: SchedulingStore, occurrence: Occurrence, *, now: float, **_more: object) -> bool:
        return await original(self, occurrence, now=now)

    patch.setattr(SchedulingStore, "claim", claim)


def claim_without_limits(patch: pytest.MonkeyPatch) -> None:
    """As it was first: the gates are asked, then the row is inserted, and another console may fire in between."""
    patch.setattr(Admission, "limits", lambda self, schedule, now: None)


def chain_step_lost(patch: pytest.MonkeyPatch) -> None:
    """The end of a step is written, and the host dies before the next one is."""
    original = SchedulingStore.finish

    async def finish(self: SchedulingStore, outcome: Outcome, *, now: float, step: Occurrence | None = None) -> bool:
        return await original(self, outcome, now=now) and step is None

    patch.setattr(SchedulingStore, "finish", finish)


def failure_without_words(patch: pytest.MonkeyPatch) -> None:
    """A process that could not be started leaves no reason."""
    original = outcomes.failure
    patch.setattr(outcomes, "failure", lambda reason, *code: original("", *code))


def chain_without_end(patch: pytest.MonkeyPatch) -> None:
    """The depth limit is forgotten."""
    original = ending.next_step
    patch.setattr(ending, "next_step", lambda schedule, status, depth: original(replace(schedule), status, min(depth, 5)))


MUTANTS = (
    Mutant("claim removed", claim_removed, {"launched-once", "forward", "phase"}, frozen_at="before claim", free=True),
    Mutant("overlap gate removed", overlap_removed, {"overlap"}),
    Mutant("dispatched_at not stamped", launch_not_recorded, {"stamped"}),
    Mutant("terminal write unguarded", end_unguarded, {"ended-once", "chain"}, frozen_at="before finish"),
    Mutant("missed policy ignored", missed_policy_ignored, {"missed-policy"}, frozen_at="after list_due"),
    Mutant("interval anchored to now", interval_anchored_to_now, {"phase"}),
    Mutant("slots gate removed", slots_gate_removed, {"slots"}),
    Mutant("rate gate removed", rate_gate_removed, {"rate"}),
    Mutant("run limit removed", max_runs_gate_removed, {"max-runs"}),
    Mutant("budget gate removed", budget_gate_removed, {"budget"}, first=504),
    Mutant("gates not asked again by the claim", claim_without_limits, {"slots", "overlap", "max-runs", "rate"}, first=506),
    Mutant("a held-up host launches", held_up_host_launches, {"launched-once", "unclaimed"}, frozen_at="before launch"),
    Mutant("fired again, old row kept", old_row_kept, {"launched-once", "overlap", "slots"}, frozen_at="before launch"),
    Mutant("recovery at the start only", recovery_only_at_start, {"ghost", "left-open"}, frozen_at="before launch"),
    Mutant("firing by hand moves the cadence", by_hand_moves_the_cadence, {"manual-still", "cadence"}),
    Mutant("a chain moves the cadence", chain_moves_the_cadence, {"chain-still", "cadence"}),
    Mutant("a chain step lost between two commits", chain_step_lost, {"chain-lost"}),
    Mutant("a chain without end", chain_without_end, {"chain"}, first=508),
    Mutant("an end without a line of history", history_left_out, {"history"}),
    Mutant("a failure without words", failure_without_words, {"explained"}),
    Mutant("the autumn hour fires twice", autumn_hour_fires_twice, {"daylight"}, daylight=True),
)
