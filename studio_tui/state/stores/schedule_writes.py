"""Changes of schedule definitions, each with its line of history in the same transaction (implements ``ScheduleWritePort``)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Executable, Row, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.application.ports import ActProvenance, NewSchedule, Vanishing
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.definition_history import CREATED, DELETED, definition_change, is_used_id, lock_definition
from studio_tui.state.lifecycle import record
from studio_tui.state.queries.schedules import SCHEDULE_BY_ID
from studio_tui.state.rows import schedule_record
from studio_tui.state.schema import schedules
from studio_tui.state.stores.base import StoreBase
from studio_tui.state.stores.schedule_facts import vanishing_now
from studio_tui.state.stores.writes import moment_after

_S: Final = schedules.c
JSON_NULLS: Final = (
    "github_filter",
    "on_success",
    "on_fail",
    "rate_limit",
    "threshold_config",
    "authored_spec",
    "resolved_target",
    "notify_on",
)
"""JSON columns that the peer fills with JSON ``null`` where a schedule has nothing for them."""
_BEGINNING: Final[Mapping[str, object]] = MappingProxyType(
    {**dict.fromkeys(JSON_NULLS), "action_extra_args": [], "action_command_args": [], "enabled": 1}
)


class ScheduleWriteStore(StoreBase):
    """Implements ``ScheduleWritePort``."""

    async def create_schedule(self, new: NewSchedule, *, now: float, by: ActProvenance) -> ScheduleRecord:
        """Insert a schedule. Raises :class:`Conflict` when the name is taken, or the id is that of a deleted schedule."""
        given = {"id": uuid.uuid4().hex[:12], "created_at": now, "updated_at": now, **new.values}
        values: dict[str, Any] = {**_BEGINNING, **given}
        schedule_id, name = str(values["id"]), str(values["name"])

        async def work(connection: AsyncConnection) -> ScheduleRecord:
            await lock_definition(connection, schedule_id)
            if await is_used_id(connection, schedule_id):
                message = f"the id {schedule_id} belongs to another schedule, or did once"
                raise Conflict("schedule", expected=None, actual=schedule_id, message=message)
            await _with_free_name(connection, insert(schedules).values(**values), name)
            status = "enabled" if values["enabled"] else "disabled"
            line = definition_change(
                schedule_id, name, previous=None, status=status, reason_code=CREATED, summary="", by=by, now=now
            )
            await record(connection, line)
            return schedule_record(await _one(connection, schedule_id))

        return await self._db.write(work)

    async def set_enabled(
        self,
        schedule_id: str,
        *,
        enabled: bool,
        next_fire_at: float | None,
        expected_updated_at: float | None,
        reason_code: str,
        reason: str | None,
        now: float,
        by: ActProvenance,
    ) -> ScheduleRecord:
        """Turn a schedule on or off and store its next instant. What it is already is left as it is, without a line of history.

        Raises :class:`NotFound`, and :class:`Conflict` when ``expected_updated_at`` is given and is not the stored value.
        """

        async def work(connection: AsyncConnection) -> ScheduleRecord:
            await lock_definition(connection, schedule_id)
            before = schedule_record(await _one(connection, schedule_id))
            _same_version(before, expected_updated_at)
            if before.enabled == enabled:
                return before
            moment = moment_after(before.updated_at, now)
            values = {"enabled": int(enabled), "next_fire_at": next_fire_at, "updated_at": moment}
            await connection.execute(update(schedules).where(_S.id == schedule_id).values(**values))
            line = definition_change(
                schedule_id,
                before.name,
                previous=_word(before.enabled),
                status=_word(enabled),
                reason_code=reason_code,
                summary=reason or "",
                by=by,
                now=moment,
            )
            await record(connection, line)
            return schedule_record(await _one(connection, schedule_id))

        return await self._db.write(work)

    async def patch_schedule(
        self, schedule_id: str, values: Mapping[str, object], *, expected_updated_at: float, now: float
    ) -> ScheduleRecord:
        """Write these columns. No line of history: the peer has no word for a change that leaves a schedule on or off.

        Raises :class:`NotFound`, and :class:`Conflict` when the name is taken or ``expected_updated_at`` is not the stored value.
        """

        async def work(connection: AsyncConnection) -> ScheduleRecord:
            await lock_definition(connection, schedule_id)
            before = schedule_record(await _one(connection, schedule_id))
            _same_version(before, expected_updated_at)
            changed = {**values, "updated_at": moment_after(before.updated_at, now)}
            await _with_free_name(connection, update(schedules).where(_S.id == schedule_id).values(**changed), values.get("name"))
            return schedule_record(await _one(connection, schedule_id))

        return await self._db.write(work)

    async def delete_schedule(
        self, schedule_id: str, *, expected_updated_at: float | None, although_running: bool, now: float, by: ActProvenance
    ) -> Vanishing:
        """Delete a schedule with its firings; what went with it. Its history and the invocations of its firings stay.

        Raises :class:`NotFound`, and :class:`Conflict` when it is not what the caller saw, a firing of it runs (unless
        ``although_running``), or something refers to a firing that may not lose it.
        """

        async def work(connection: AsyncConnection) -> Vanishing:
            await lock_definition(connection, schedule_id)
            before = schedule_record(await _one(connection, schedule_id))
            _same_version(before, expected_updated_at)
            gone = await vanishing_now(connection, schedule_id)
            if gone.obstacle is not None:
                raise Conflict(
                    "schedule", expected=None, actual=None, message=f"{before.name} cannot be deleted: {gone.obstacle}"
                )
            if gone.running and not although_running:
                listed = ", ".join(gone.running)
                raise Conflict("schedule", expected="nothing running", actual=listed, message=f"{before.name} runs now: {listed}")
            await connection.execute(delete(schedules).where(_S.id == schedule_id))
            line = definition_change(
                schedule_id,
                before.name,
                previous=_word(before.enabled),
                status="deleted",
                reason_code=DELETED,
                summary="",
                by=by,
                now=now,
            )
            await record(connection, line)
            return gone

        return await self._db.write(work)


def _same_version(before: ScheduleRecord, expected_updated_at: float | None) -> None:
    if expected_updated_at is not None and before.updated_at != expected_updated_at:
        raise Conflict("schedule", expected=repr(expected_updated_at), actual=repr(before.updated_at))


async def _with_free_name(connection: AsyncConnection, statement: Executable, name: object) -> None:
    """Insert or update. A name is looked for first, so that the answer is plain on SQLite; PostgreSQL may still find it taken.

    The update of a row whose name stays as it is gives none: the row itself would be found.
    """
    taken = None if name is None else (await connection.execute(select(_S.id).where(_S.name == name))).scalar()
    if taken is None:
        try:
            await connection.execute(statement)
        except IntegrityError as error:
            if "name" not in str(error.orig):
                raise
            taken = "another"
        else:
            return
    raise Conflict("schedule", expected=None, actual=str(taken), message=f"the name {name} is taken")


async def _one(connection: AsyncConnection, schedule_id: str) -> Row[Any]:
    row: Row[Any] | None = (await connection.execute(SCHEDULE_BY_ID.with_for_update(), {"schedule_id": schedule_id})).first()
    if row is None:
        raise NotFound("schedule", schedule_id)
    return row


def _word(enabled: bool) -> str:
    return "enabled" if enabled else "disabled"
