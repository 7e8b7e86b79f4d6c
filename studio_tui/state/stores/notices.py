"""The ends of firings that schedules want told: owed in the transaction that writes the end, until somebody has given them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import update

from studio_tui.domain.notices import CONSUMER, LEASE, OWED, Notice, wanted
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import insert_into
from studio_tui.state.queries import notices as queries
from studio_tui.state.readers import as_texts
from studio_tui.state.schema import terminal_deliveries
from studio_tui.state.stores.writes import WriteStore

_D = terminal_deliveries.c


class NoticeStore(WriteStore):
    """Implements :class:`~studio_tui.application.ports.notices.NoticePort`."""

    async def next_at(self) -> float | None:
        """When the next notice is due, in epoch seconds; ``None`` while none is owed."""
        at = await self._only_value(queries.NEXT, {})
        return None if at is None else float(at)

    async def claim_due(self, *, limit: int) -> tuple[Notice, ...]:
        """Begin to give the notices that are due, as one claimant, for the time of a lease."""

        async def work(connection: AsyncConnection) -> tuple[Notice, ...]:
            now = self._now()
            due = queries.DUE.with_for_update(skip_locked=True, of=terminal_deliveries)
            rows = (await connection.execute(due, {"now": now, "limit": limit})).all()
            claims = [await _claim(connection, row, now + LEASE) for row in rows]
            return tuple(claim for claim in claims if claim is not None)

        return await self._db.write(work)

    async def given(self, notice: Notice) -> bool:
        """It was given, or nobody wants it any more; False when the lease had gone to somebody else."""

        async def work(connection: AsyncConnection) -> bool:
            done = {"consumer": CONSUMER, "acked_at": self._now()}
            return await _changed(connection, notice.transition_id, notice.leased_until, done)

        return await self._db.write(work)


async def owe_end_of(connection: AsyncConnection, invocation_id: str, now: float) -> None:
    """Owe the end that an invocation has come to, if its schedule wants it told and nobody has dealt with it."""
    row = (await connection.execute(queries.END_TO_TELL, {"invocation_id": invocation_id})).first()
    if row is not None and wanted(row[1], as_texts(row[2], "notify_on", []), row[3]):
        await owe(connection, row[0], now)


async def owe(connection: AsyncConnection, transition_id: str, now: float) -> None:
    """Owe an end that is to be told, once."""
    if (await connection.execute(queries.DEALT_WITH, {"transition_id": transition_id})).first() is None:
        statement = insert_into(connection, terminal_deliveries).values(transition_id=transition_id, consumer=OWED, acked_at=now)
        await connection.execute(statement.on_conflict_do_nothing())


async def _claim(connection: AsyncConnection, row: Sequence[Any], until: float) -> Notice | None:
    """One notice, if nobody else has begun to give it meanwhile."""
    transition_id, entity, entity_id, previous, status, reason, occurred_at, due, schedule_id = row
    if not await _changed(connection, transition_id, due, {"acked_at": until}):
        return None
    wants = (await connection.execute(queries.WANTED_BY, {"schedule_id": schedule_id or ""})).first()
    name, command = (None, None) if wants is None else wants
    return Notice(transition_id, entity, entity_id, previous, status, reason, occurred_at, until, name, command)


async def _changed(connection: AsyncConnection, transition_id: str, at: float, values: dict[str, Any]) -> bool:
    """Change a row that is owed still, and due when it was seen to be."""
    this = (_D.transition_id == transition_id, _D.consumer == OWED, _D.acked_at == at)
    return (await connection.execute(update(terminal_deliveries).where(*this).values(values))).rowcount == 1
