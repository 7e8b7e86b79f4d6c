"""Changes of a schedule's row that only its scheduler makes: who compares what it saw, and what is stamped beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from sqlalchemy import ColumnElement, Update, bindparam, case, update

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.lifecycle import NEXT_MOMENT
from studio_tui.state.schema import schedules

_S: Final = schedules.c


def newer(now: float | ColumnElement[float]) -> ColumnElement[float]:
    """When the row was changed: always later than before, also after the clock was set back. It is the row's version, and the
    instant up to which its fires have been answered for."""
    return case((_S.updated_at >= now, _S.updated_at + NEXT_MOMENT), else_=now)


_CLAIM: Final[Update] = (
    update(schedules)
    .where(_S.id == bindparam("this_row"), _S.enabled == 1, _S.next_fire_at == bindparam("this_instant"))
    .values(updated_at=newer(bindparam("this_moment", type_=_S.updated_at.type)))
)
"""Made once, as every firing needs it; what else changes comes with the parameters."""


async def claimed(
    connection: AsyncConnection, schedule_id: str, instant: float, now: float, values: Mapping[str, object]
) -> bool:
    """Change a schedule that is on and due at the instant that was seen."""
    this = {"this_row": schedule_id, "this_instant": instant, "this_moment": now}
    return (await connection.execute(_CLAIM, {**values, **this})).rowcount == 1


async def changed(connection: AsyncConnection, conditions: tuple[ColumnElement[bool], ...], values: Mapping[str, object]) -> bool:
    """Update the one schedule that meets the conditions."""
    return (await connection.execute(update(schedules).where(*conditions).values(**values))).rowcount == 1


def still_due(schedule: ScheduleRecord) -> tuple[ColumnElement[bool], ...]:
    """The schedule is on and its instant is the one that was seen."""
    seen = schedule.next_fire_at
    return _S.id == schedule.schedule_id, _S.enabled == 1, _S.next_fire_at.is_(None) if seen is None else _S.next_fire_at == seen


def threshold_stamps(schedule: ScheduleRecord, *, alerted_at: float | None = None) -> dict[str, object]:
    """What a threshold schedule notes: when its figure was looked at last, as the record has it, and when it alerted."""
    if schedule.threshold_config is None:
        return {}
    stamps: dict[str, object] = {"last_evaluated_at": schedule.last_evaluated_at}
    return stamps if alerted_at is None else {**stamps, "last_alert_at": alerted_at}
