"""The scheduler's persistence seam on the store (ADR-0077 D6; rows of lionagi 0.36)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from sqlalchemy import Executable, bindparam, insert, select, update

from studio_tui.application.ports import ActProvenance, Clock, Limits, Occurrence, Outcome, Refusal, Spend
from studio_tui.domain.notices import wanted
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.definition_history import definition_change, lock_definition
from studio_tui.state.dialect import advisory_lock
from studio_tui.state.lifecycle import record, write_status
from studio_tui.state.queries import scheduling as queries
from studio_tui.state.queries.schedules import FIRING_BY_ID, SCHEDULE_BY_ID
from studio_tui.state.rows import firing_record, run_record, schedule_record
from studio_tui.state.schema import invocations, schedule_runs, schedules
from studio_tui.state.stores.firing_rows import (
    firing_end,
    invocation_end,
    invocation_row,
    occurrence_lines,
    occurrence_row,
    refusal_lines,
    refusal_row,
)
from studio_tui.state.stores.notices import owe, owe_end_of
from studio_tui.state.stores.polls import PollStore, behind, note_refused_event, still_at
from studio_tui.state.stores.schedule_stamps import changed, claimed, newer, still_due, threshold_stamps
from studio_tui.state.stores.thresholds import ThresholdStore

_S: Final = schedules.c
_ACTORS: Final = {
    "schedule_definition.disabled.max_runs": "scheduler:max-runs",
    "schedule_definition.disabled.budget_exhausted": "scheduler:budget",
}
_RUNNING: Final = frozenset({"running"})
_DISPATCHED: Final = update(schedule_runs).where(
    schedule_runs.c.id == bindparam("this_row"), schedule_runs.c.dispatched_at.is_(None)
)
_CLAIMS: Final = "studio-tui:claims"
"""Holds claims off one another on PostgreSQL while they count; on SQLite there is one writer anyway."""


class SchedulingStore(ThresholdStore, PollStore):
    """Implements ``SchedulerStateService``: one short read or one transaction a method, three transactions a firing."""

    def __init__(self, db: StateDB, clock: Clock) -> None:
        super().__init__(db)
        self._clock = clock

    # --- what to do ---------------------------------------------------------------------------------------------------

    async def next_due_at(self) -> float | None:
        """The earliest stored instant of an enabled schedule, polls of GitHub among them."""
        value = await self._only_value(queries.NEXT_DUE, {})
        return float(value) if isinstance(value, int | float) else None

    async def list_due(self, now: float, *, limit: int) -> tuple[ScheduleRecord, ...]:
        """Enabled cron, interval and at schedules whose stored instant is at or before ``now``, earliest first."""
        return await self._schedules(queries.DUE, {"now": now, "limit": limit})

    async def list_unarmed(self) -> tuple[ScheduleRecord, ...]:
        """Enabled cron and interval schedules without a stored instant."""
        return await self._schedules(queries.UNARMED, {})

    async def list_armed_cron(self) -> tuple[ScheduleRecord, ...]:
        """Enabled cron schedules, for the recompute and zone stamp at start."""
        return await self._schedules(queries.ARMED_CRON, {})

    async def get_schedule(self, schedule_id: str) -> ScheduleRecord | None:
        """One schedule by id."""
        return next(iter(await self._schedules(SCHEDULE_BY_ID, {"schedule_id": schedule_id})), None)

    async def get_firing(self, run_id: str) -> FiringRecord | None:
        """One firing by id."""
        row = await self._first_row(FIRING_BY_ID, {"firing_id": run_id})
        return None if row is None else firing_record(row)

    async def list_fired_since(self, schedule_id: str, since: float, *, limit: int) -> tuple[FiringRecord, ...]:
        """The newest depth-0 firings of a schedule since an instant, newest first."""
        values = {"schedule_id": schedule_id, "since": since, "limit": limit}
        return tuple(map(firing_record, await self._rows(queries.FIRINGS_SINCE, values)))

    async def list_undispatched(self, *, older_than: float) -> tuple[FiringRecord, ...]:
        """Running firings of schedules that were committed before ``older_than`` and never launched."""
        return tuple(map(firing_record, await self._rows(queries.UNDISPATCHED, {"older_than": older_than})))

    async def list_dispatched(self) -> tuple[FiringRecord, ...]:
        """Running firings of schedules that were launched."""
        return tuple(map(firing_record, await self._rows(queries.DISPATCHED, {})))

    # --- what the gates ask -------------------------------------------------------------------------------------------

    async def count_running(self, schedule_id: str | None) -> int:
        """Firings that run now, chain steps among them, of one schedule or of all, whoever started them."""
        if schedule_id is None:
            return await self._count(queries.RUNNING_OF_ALL, {})
        return await self._count(queries.RUNNING_OF_ONE, {"schedule_id": schedule_id})

    async def count_schedule_runs(self, schedule_id: str) -> int:
        """Executed depth-0 firings over the schedule's life."""
        return await self._count(queries.EXECUTED_RUNS, {"schedule_id": schedule_id})

    async def count_fired_since(self, schedule_id: str, since: float) -> int:
        """Executed depth-0 firings since an instant."""
        return await self._count(queries.FIRED_SINCE, {"schedule_id": schedule_id, "since": since})

    async def sum_schedule_spend(self, schedule_id: str) -> Spend:
        """Reported spend of the runs of the schedule's firings."""
        row = await self._first_row(queries.SPEND, {"schedule_id": schedule_id})
        return Spend(0.0, 0, 0) if row is None else Spend(float(row[0]), int(row[1]), int(row[2]))

    async def list_sessions_for_invocation(self, invocation_id: str) -> tuple[RunRecord, ...]:
        """The runs that an invocation started."""
        return tuple(map(run_record, await self._rows(queries.RUNS_OF_INVOCATION, {"invocation_id": invocation_id})))

    async def project_path(self, project: str) -> str | None:
        """The registered path of a project."""
        path = await self._only_value(queries.PROJECT_PATH, {"project": project})
        return path if isinstance(path, str) and path else None

    # --- changes ------------------------------------------------------------------------------------------------------

    async def arm(
        self, schedule: ScheduleRecord, next_fire_at: float | None, *, zone: str | None, zone_source: str | None
    ) -> bool:
        """Store the next instant (and, for cron, the effective zone) if the stored one is still the one in ``schedule``."""
        values: dict[str, object] = {"next_fire_at": next_fire_at, "updated_at": newer(self._clock.now())}
        if zone is not None:
            values |= {"effective_timezone": zone, "effective_timezone_source": zone_source}

        async def work(connection: AsyncConnection) -> bool:
            return await changed(connection, still_due(schedule), values)

        return await self._db.write(work)

    async def claim(
        self, occurrence: Occurrence, *, now: float, limits: Limits | None = None, instead_of: Outcome | None = None
    ) -> bool:
        """Move ``next_fire_at`` and insert invocation, firing and history in one transaction; False if the claim is lost.

        A firing by hand claims no instant and moves none, so that it cannot swallow a due one. A chain step leaves the schedule
        as it is (the peer moves its cadence). Either is lost when the schedule is gone, and every claim when ``limits`` leave no
        room. ``instead_of`` ends, in the same transaction, a firing that was never launched; the claim is lost when that one was
        launched or ended meanwhile.
        """

        async def work(connection: AsyncConnection) -> bool:
            if limits is not None and not await _has_room(connection, occurrence, limits, instead_of):
                return False
            if instead_of is not None and not await _never_launched(connection, instead_of.run_id):
                return False
            if not await _take(connection, occurrence, now):
                return False
            if instead_of is not None:
                await _end(connection, instead_of, now)
            await _begin(connection, occurrence, now)
            return True

        return await self._db.write(work)

    async def refuse(self, refusal: Refusal, *, now: float) -> bool:
        """Move ``next_fire_at`` (when ``advance``) and insert the terminal row with its history; False if the claim is lost."""

        async def work(connection: AsyncConnection) -> bool:
            if not await _pass_over(connection, refusal, now):
                return False
            await connection.execute(insert(schedule_runs), refusal_row(refusal, now))
            lines = refusal_lines(refusal, now)
            await record(connection, *lines)
            if wanted(refusal.status, refusal.schedule.notify_on, refusal.schedule.notify_command):
                await owe(connection, lines[-1]["id"], now)
            return True

        return await self._db.write(work)

    async def mark_dispatched(self, run_id: str, at: float) -> None:
        """Stamp the instant at which the process existed; a stamp that is there stays."""
        await self._db.execute(_DISPATCHED, {"this_row": run_id, "dispatched_at": at})

    async def finish(self, outcome: Outcome, *, now: float, step: Occurrence | None = None) -> bool:
        """Write the terminal rows of firing and invocation, each guarded on ``running``; False if the firing had ended.

        A ``li`` child may have ended its invocation itself, and a deleted schedule takes its firings with it: the other row is
        ended all the same. ``step`` is the chain step that follows, inserted in the same transaction.
        """

        async def work(connection: AsyncConnection) -> bool:
            ended = await _end(connection, outcome, now)
            if ended and outcome.invocation_id is not None:
                await owe_end_of(connection, outcome.invocation_id, now)
            if ended and step is not None:
                await _begin(connection, step, now)
            return ended

        return await self._db.write(work)

    async def disable(self, schedule_id: str, *, reason_code: str, reason: str, now: float) -> bool:
        """Turn a schedule off on the scheduler's own account; False if it was off."""
        by = ActProvenance("scheduler", _ACTORS.get(reason_code, "scheduler"), _own_directory())

        async def work(connection: AsyncConnection) -> bool:
            await lock_definition(connection, schedule_id)
            name = (await connection.execute(select(_S.name).where(_S.id == schedule_id))).scalar()
            values = {"enabled": 0, "updated_at": newer(now)}
            if not await changed(connection, (_S.id == schedule_id, _S.enabled == 1), values):
                return False
            details = {"disable_cause": reason_code.rpartition(".")[2]}
            line = definition_change(
                schedule_id,
                str(name),
                previous="enabled",
                status="disabled",
                reason_code=reason_code,
                summary=reason,
                by=by,
                now=now,
                details=details,
            )
            await record(connection, line)
            return True

        return await self._db.write(work)

    async def _schedules(self, statement: Executable, values: Mapping[str, object]) -> tuple[ScheduleRecord, ...]:
        return tuple(map(schedule_record, await self._rows(statement, values)))

    async def _count(self, statement: Executable, values: Mapping[str, object]) -> int:
        return int(await self._only_value(statement, values) or 0)


def _own_directory() -> str | None:
    """Where this process stands; ``None`` when that directory is gone."""
    try:
        return os.getcwd()
    except OSError:
        return None


async def _take(connection: AsyncConnection, occurrence: Occurrence, now: float) -> bool:
    """Make the occurrence this host's own, in the database."""
    this = _S.id == occurrence.schedule.schedule_id
    if occurrence.chain_depth:
        return (await connection.execute(select(_S.id).where(this).with_for_update(read=True))).first() is not None
    values: dict[str, object] = {"last_fired_at": occurrence.fired_at}
    values |= threshold_stamps(occurrence.schedule, alerted_at=occurrence.fired_at)
    if occurrence.cursor is None and occurrence.claimed is not None:
        values["next_fire_at"] = occurrence.next_fire_at
        return await claimed(connection, occurrence.schedule.schedule_id, occurrence.claimed, now, values)
    values["updated_at"] = newer(now)
    if (cursor := occurrence.cursor) is not None:
        return await changed(connection, still_at(occurrence.schedule.schedule_id, cursor), {**values, **behind(cursor)})
    return await changed(connection, (this,), values)


async def _has_room(connection: AsyncConnection, occurrence: Occurrence, limits: Limits, instead_of: Outcome | None) -> bool:
    """Whether one more firing passes no limit, whoever made the others."""
    await advisory_lock(connection, _CLAIMS)
    values = {
        "schedule_id": occurrence.schedule.schedule_id,
        "since": limits.since,
        "apart_from": "" if instead_of is None else instead_of.run_id,
    }
    found = (await connection.execute(queries.CLAIM_COUNTS, values)).one()
    if (
        (limits.alone and found.running)
        or (limits.max_runs is not None and found.executed >= limits.max_runs)
        or (limits.max_fires is not None and found.fired >= limits.max_fires)
        or (limits.slots and found.running_of_all >= limits.slots)
    ):
        return False
    if limits.budget_usd is None and limits.budget_tokens is None:
        return True
    usd, tokens, _ = (await connection.execute(queries.SPEND, values)).one()
    return not (
        (limits.budget_usd is not None and usd >= limits.budget_usd)
        or (limits.budget_tokens is not None and tokens >= limits.budget_tokens)
    )


async def _begin(connection: AsyncConnection, occurrence: Occurrence, now: float) -> None:
    """The rows of a firing that begins, with their history."""
    await connection.execute(insert(invocations), invocation_row(occurrence, now))
    await connection.execute(insert(schedule_runs), occurrence_row(occurrence, now))
    await record(connection, *occurrence_lines(occurrence, now))


async def _never_launched(connection: AsyncConnection, run_id: str) -> bool:
    """Whether a firing still waits for its launch."""
    row = schedule_runs.c
    found = select(row.id).where(row.id == run_id, row.status == "running", row.dispatched_at.is_(None)).with_for_update()
    return (await connection.execute(found)).first() is not None


async def _end(connection: AsyncConnection, outcome: Outcome, now: float) -> bool:
    """Both terminal rows, each only if it runs; False if the firing had ended."""
    firing, invocation = firing_end(outcome), invocation_end(outcome)
    ended = await write_status(connection, "schedule_run", outcome.run_id, outcome.status, now=now, expected=_RUNNING, **firing)
    if outcome.invocation_id is not None:
        await write_status(
            connection,
            "invocation",
            outcome.invocation_id,
            outcome.invocation_status,
            now=now,
            expected=_RUNNING,
            **invocation,
        )
    return ended


async def _pass_over(connection: AsyncConnection, refusal: Refusal, now: float) -> bool:
    """Let the instant or the event go by; a deferred one stays due, but must still be there."""
    if refusal.event is not None:
        return await note_refused_event(connection, refusal, refusal.event, now)
    this = _S.id == refusal.schedule.schedule_id
    claimed = None if refusal.claimed is None else _S.next_fire_at == refusal.claimed
    conditions = (this,) if claimed is None else (this, claimed)
    if not refusal.advance:
        return (await connection.execute(select(_S.id).where(*conditions).with_for_update(read=True))).first() is not None
    values: dict[str, object] = {"next_fire_at": refusal.next_fire_at, "updated_at": newer(now)}
    failed = refusal.status == "failed"
    if failed:
        values["last_fired_at"] = refusal.at
    values |= threshold_stamps(refusal.schedule, alerted_at=refusal.at if failed else None)
    return await changed(connection, (*conditions, _S.enabled == 1), values)
