"""Which repositories are to be polled, and what came of it (rows of lionagi 0.36)."""

from __future__ import annotations

from typing import Any, Final, Literal

from sqlalchemy import ColumnElement

from studio_tui.application.ports.firing import Refusal
from studio_tui.application.ports.polls import CursorMove, RefusedEvent
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries import polls as queries
from studio_tui.state.rows import schedule_record
from studio_tui.state.schema import schedules
from studio_tui.state.stores.reads import ReadStore
from studio_tui.state.stores.schedule_stamps import changed, newer, still_due

_S: Final = schedules.c


class PollStore(ReadStore):
    """Implements ``PollStatePort``."""

    async def list_polls(self, until: float, *, limit: int) -> tuple[ScheduleRecord, ...]:
        """Enabled schedules on GitHub that are to be asked by ``until`` or were never asked, earliest first."""
        never = await self._rows(queries.NEVER_POLLED, {"limit": limit})
        due = await self._rows(queries.DUE_POLLS, {"until": until, "limit": limit})
        return tuple(map(schedule_record, (*never, *due)))[:limit]

    async def note_poll(
        self, schedule: ScheduleRecord, status: Literal["ok", "auth_error", "error"], *, next_poll_at: float, now: float
    ) -> bool:
        """Stamp the health columns and when to ask next, if nobody has done so meanwhile.

        The row keeps its version: a poll is no change that an author would have to see before saving another one.
        """
        values: dict[str, object] = {"next_fire_at": next_poll_at}
        if status == "ok":
            values |= {"last_healthy_poll_at": now, "poller_consecutive_401": 0}
        elif status == "auth_error":
            values["poller_consecutive_401"] = _S.poller_consecutive_401 + 1

        async def work(connection: AsyncConnection) -> bool:
            return await changed(connection, still_due(schedule), values)

        return await self._db.write(work)

    async def move_cursor(self, schedule_id: str, move: CursorMove, *, now: float) -> bool:
        """Pass over events that do not fire, if the bookmark is the one that was seen."""

        async def work(connection: AsyncConnection) -> bool:
            return await changed(connection, still_at(schedule_id, move), {**behind(move), "updated_at": newer(now)})

        return await self._db.write(work)


def still_at(schedule_id: str, move: CursorMove) -> tuple[ColumnElement[bool], ...]:
    """The schedule is on and its bookmark is the one that was seen."""
    at = _S.github_cursor.is_(None) if move.seen is None else _S.github_cursor == move.seen
    return _S.id == schedule_id, _S.enabled == 1, at


def behind(move: CursorMove) -> dict[str, Any]:
    """The bookmark goes on, and with it what was noted of an event that was refused."""
    return {"github_cursor": move.behind, "predispatch_refusal_event": None, "predispatch_refusal_count": 0}


async def note_refused_event(connection: AsyncConnection, refusal: Refusal, event: RefusedEvent, now: float) -> bool:
    """An event's launch was refused: count it, or go on behind it."""
    counted = {"predispatch_refusal_event": event.cursor.behind, "predispatch_refusal_count": event.count}
    values = {
        "last_fired_at": refusal.at,
        "updated_at": newer(now),
        **(behind(event.cursor) if event.passed else counted),
    }
    return await changed(connection, still_at(refusal.schedule.schedule_id, event.cursor), values)
