"""Sets of schedules: read with their declarations, and written whole or not at all (implements ``ScheduleSetPort``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import Row, Select, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from studio_tui.application.errors import Conflict
from studio_tui.application.ports.schedule_sets import DeclaredRow, RowChange, SetWrite
from studio_tui.application.ports.schedules import ActProvenance, NewSchedule
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.definition_history import CREATED, definition_change, is_used_id, lock_definition
from studio_tui.state.dialect import advisory_lock
from studio_tui.state.lifecycle import record
from studio_tui.state.queries.schedules import SCHEDULE_COLUMNS
from studio_tui.state.rows import schedule_record
from studio_tui.state.schema import schedules
from studio_tui.state.stores.base import StoreBase, reading
from studio_tui.state.stores.schedule_writes import JSON_NULLS
from studio_tui.state.stores.writes import moment_after

_S: Final = schedules.c
_DECLARATION: Final = (_S.authored_spec, _S.resolved_target.label("resolved_whole"), _S.resolved_digest)
_ALL: Final[Select[Any]] = select(*SCHEDULE_COLUMNS, *_DECLARATION).order_by(_S.name)
_MANAGED: Final = ("cli", "declaration")
_BEGINNING: Final[Mapping[str, object]] = MappingProxyType({**dict.fromkeys(JSON_NULLS), "action_extra_args": []})
_CAUSES: Final = {
    "declared": {True: "schedule_definition.enabled.observed", False: "schedule_definition.disabled.declared"},
    "omitted": {False: "schedule_definition.disabled.omitted"},
}


class ScheduleSetStore(StoreBase):
    """Implements ``ScheduleSetPort``."""

    async def rows_of_set(self, owner_key: str, names: Sequence[str]) -> tuple[DeclaredRow, ...]:
        """Schedules that a set owns, and those of these names, by name."""
        return await self._rows(_of_set(owner_key, names))

    async def declared_rows(self, *, managed: bool) -> tuple[DeclaredRow, ...]:
        """Every schedule that a declaration or a command line made, or every other one, by name."""
        made = _S.managed_by.in_(_MANAGED)
        return await self._rows(_ALL.where(made if managed else or_(_S.managed_by.is_(None), ~made)))

    async def write_set(self, write: SetWrite, *, now: float, by: ActProvenance) -> None:
        """Write a set in one transaction, with the history of what went on or off.

        Raises :class:`Conflict`, and writes nothing, when anything that the plan saw is not so any more.
        """
        declared = replace(by, origin="declaration")

        async def work(connection: AsyncConnection) -> None:
            await advisory_lock(connection, f"studio-tui:schedule-set:{write.owner_key}")
            for schedule_id in sorted(write.seen):
                await lock_definition(connection, schedule_id)
            found = (await connection.execute(_of_set(write.owner_key, write.names).with_for_update())).all()
            stand = {row.schedule.schedule_id: row.schedule for row in map(_declared, found)}
            _as_seen(write, stand)
            by_set = _BySet(write.owner_key, now, declared)
            try:
                lines = [*await by_set.create(connection, write.creates), *await by_set.change(connection, write.changes, stand)]
                if lines:
                    await record(connection, *lines)
            except IntegrityError as error:  # on PostgreSQL, of a name that somebody takes at this very moment
                if "unique" not in str(error.orig).lower():
                    raise
                raise _changed("somebody took a name of its members") from None

        await self._db.write(work)

    async def _rows(self, statement: Select[Any]) -> tuple[DeclaredRow, ...]:
        async with reading(self._db) as connection:
            found = (await connection.execute(statement)).all() if connection is not None else ()
            return tuple(map(_declared, found))


def _of_set(owner_key: str, names: Sequence[str]) -> Select[Any]:
    return _ALL.where(or_(_S.owner_key == owner_key, _S.name.in_(list(names))))


def _declared(row: Row[Any]) -> DeclaredRow:
    values = tuple(row)
    authored, resolved, digest = values[-len(_DECLARATION) :]
    return DeclaredRow(schedule_record(values[: -len(_DECLARATION)]), _object(authored), _object(resolved), digest)


def _object(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _as_seen(write: SetWrite, stand: Mapping[str, ScheduleRecord]) -> None:
    """Raise :class:`Conflict` when a schedule that the plan saw was changed or is gone, or one that it did not see is there."""
    versions = {schedule_id: schedule.updated_at for schedule_id, schedule in stand.items()}
    if versions == dict(write.seen):
        return
    differing = sorted({key for key in versions.keys() | write.seen.keys() if versions.get(key, ()) != write.seen.get(key, ())})
    named = ", ".join(stand[key].name if key in stand else f"{key} (deleted)" for key in differing)
    raise _changed(f"somebody changed {named}")


def _changed(what: str) -> Conflict:
    message = f"{what} while the set was being applied; nothing was written: plan it again"
    return Conflict("schedule set", expected="what the plan saw", actual=what, message=message)


class _BySet:
    """Writes rows and makes their lines of history, which tell which set did it (lionagi 0.36)."""

    def __init__(self, owner_key: str, now: float, by: ActProvenance) -> None:
        self._owner_key, self._now, self._by = owner_key, now, by

    async def create(self, connection: AsyncConnection, news: Sequence[NewSchedule]) -> list[dict[str, Any]]:
        """Insert schedules, all in one statement."""
        rows: list[dict[str, Any]] = [
            {**_BEGINNING, **new.values, "created_at": self._now, "updated_at": self._now} for new in news
        ]
        for row in rows:
            await lock_definition(connection, row["id"])
        if await is_used_id(connection, *(row["id"] for row in rows)):
            raise _changed("the id of a new schedule was taken")
        if rows:
            await connection.execute(insert(schedules), rows)
        return [self._line(row["id"], row["name"], None, bool(row["enabled"]), CREATED, "created", self._now) for row in rows]

    async def change(
        self, connection: AsyncConnection, changes: Sequence[RowChange], stand: Mapping[str, ScheduleRecord]
    ) -> list[dict[str, Any]]:
        """Change schedules. Only those that go on or off have a line of history."""
        lines = []
        for change in changes:
            before = stand[change.schedule_id]
            moment = moment_after(before.updated_at, self._now)
            values = {**change.values, "updated_at": moment}
            await connection.execute(update(schedules).where(_S.id == before.schedule_id).values(**values))
            enabled = bool(values.get("enabled", before.enabled))
            if enabled != before.enabled:
                name, reason = str(values.get("name", before.name)), _CAUSES[change.cause][enabled]
                lines.append(self._line(before.schedule_id, name, before.enabled, enabled, reason, change.cause, moment))
        return lines

    def _line(
        self, schedule_id: str, name: str, before: bool | None, enabled: bool, reason: str, cause: str, at: float
    ) -> dict[str, Any]:
        declaration = {"owner_key": self._owner_key, "member_id": schedule_id, "cause": cause}
        return definition_change(
            schedule_id,
            name,
            previous=None if before is None else _word(before),
            status=_word(enabled),
            reason_code=reason,
            summary="",
            by=self._by,
            now=at,
            details={"declaration": declaration},
        )


def _word(enabled: bool) -> str:
    return "enabled" if enabled else "disabled"
