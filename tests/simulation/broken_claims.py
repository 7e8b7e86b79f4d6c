"""Builds that launch something twice, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from studio_tui.application.ports import LaunchNote, Occurrence
from studio_tui.domain import gates
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.scheduler import ending, occurrence
from studio_tui.scheduler.missed import MissedFires
from studio_tui.scheduler.recovery import Recovery
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.schema import schedules
from studio_tui.state.stores import scheduling
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.simulation.mutant import Mutant
from tests.simulation.stages import frozen_at


def claim_removed(patch: pytest.MonkeyPatch) -> None:
    """The next instant is moved on without a look at what it is by now."""

    async def take(connection: AsyncConnection, occurrence: Occurrence, now: float) -> bool:
        values: dict[str, object] = {"last_fired_at": occurrence.fired_at, "updated_at": now}
        if occurrence.claimed is not None:
            values["next_fire_at"] = occurrence.next_fire_at
        await connection.execute(update(schedules).where(schedules.c.id == occurrence.schedule.schedule_id).values(**values))
        return True

    patch.setattr(scheduling, "_take", take)


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


def old_row_kept(patch: pytest.MonkeyPatch) -> None:
    """What was never launched is fired again, and its old row goes on as if nothing had been."""
    original = SchedulingStore.claim

    async def claim(self: SchedulingStore, occurrence: Occurrence, *, now: float, **_more: object) -> bool:
        return await original(self, occurrence, now=now)

    patch.setattr(SchedulingStore, "claim", claim)


def missed_policy_ignored(patch: pytest.MonkeyPatch) -> None:
    """What passed while nobody looked is simply fired."""

    async def settle(self: MissedFires, seen: ScheduleRecord, due_at: float, *, apply_policies: bool) -> None:
        await self._occurrences.due(seen, self._clock.now())

    patch.setattr(MissedFires, "_settle", settle)


def started_again(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: what has no ``dispatched_at`` is launched anew, although it may have been started."""

    async def interrupted(self: Recovery, row: FiringRecord, note: LaunchNote) -> None:
        schedule = await self._state.get_schedule(row.schedule_id or "")
        if schedule is not None and row.chain_depth == 0:
            await self._occurrences.again(row, schedule)

    patch.setattr(Recovery, "_interrupted_launch", interrupted)


def no_grace(patch: pytest.MonkeyPatch) -> None:
    """As lionagi 0.36 does it: whatever is late was missed."""
    patch.setattr(gates, "MISSED_GRACE", 0.0)


def passed_over(patch: pytest.MonkeyPatch) -> None:
    """A skip moves the instant on and writes no row."""
    original = SchedulingStore.refuse

    async def refuse(self: SchedulingStore, refusal: Any, *, now: float) -> bool:
        if refusal.status == "skipped" and refusal.advance:
            moved = update(schedules).where(schedules.c.id == refusal.schedule.schedule_id)
            await self._db.execute(moved.values(next_fire_at=refusal.next_fire_at, updated_at=now))
            return True
        return await original(self, refusal, now=now)

    patch.setattr(SchedulingStore, "refuse", refuse)


def never_armed(patch: pytest.MonkeyPatch) -> None:
    """A schedule that somebody else made has no instant, and gets none."""

    async def none(*_arguments: object) -> tuple[ScheduleRecord, ...]:
        return ()

    patch.setattr(SchedulingStore, "list_unarmed", none)


MUTANTS = (
    Mutant("claim removed", claim_removed, {"launched-once", "forward", "phase"}, frozen_at("before claim", free=True)),
    Mutant("a held-up host launches", held_up_host_launches, {"launched-once", "unclaimed"}, frozen_at("before launch")),
    Mutant("fired again, old row kept", old_row_kept, {"launched-once", "overlap", "slots"}, frozen_at("before launch")),
    Mutant("recovery at the start only", recovery_only_at_start, {"ghost", "left-open"}, frozen_at("before launch")),
    Mutant(
        "what was being started is started again",
        started_again,
        {"launched-once", "ended-alive"},
        frozen_at("process started, not noted"),
    ),
    Mutant("missed policy ignored", missed_policy_ignored, {"missed-policy"}, frozen_at("after list_due")),
    Mutant("no grace for what is a little late", no_grace, {"false-missed"}, frozen_at("after list_due", 20.0)),
    Mutant("an instant without an answer", passed_over, {"lost"}),
    Mutant("no first instant", never_armed, {"unarmed"}),
)
