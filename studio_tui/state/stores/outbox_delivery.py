"""The way of a message through the outbox: kept, tried, tried again, ended (implements ``OutboxDeliveryPort``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from studio_tui.application.ports import Clock
from studio_tui.application.ports.outbox import NewDispatch
from studio_tui.domain.outbox import LEASE, Attempted, DispatchRecord, after_failure, after_success
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.dialect import insert_into
from studio_tui.state.lifecycle import record
from studio_tui.state.queries import outbox as queries
from studio_tui.state.queries.outbox import dispatch_record
from studio_tui.state.schema import dispatch_outbox, schedule_runs, sessions
from studio_tui.state.stores.outbox_rows import check, dispatch_row, enqueued_line, move
from studio_tui.state.stores.writes import WriteStore, require_row

_AT_ONCE: Final = 200
_NOTHING: Final[Mapping[str, object]] = MappingProxyType({})
_EXPIRED: Final = Attempted("expired", "dispatch.expired.deadline", "expires_at reached before delivery", _NOTHING)
_DEDUP: Final = dispatch_outbox.c.dedup_key


class OutboxDeliveryStore(WriteStore):
    """Implements ``OutboxDeliveryPort``. ``actor`` names in history who delivers."""

    def __init__(self, db: StateDB, clock: Clock, *, actor: str = "studio_tui_delivery") -> None:
        super().__init__(db, clock)
        self._actor = actor

    async def enqueue(self, new: NewDispatch) -> DispatchRecord:
        """Keep a message, or find the one of the same ``dedup_key``."""
        check(new)

        async def work(connection: AsyncConnection) -> DispatchRecord:
            await require_row(connection, sessions.c.id, new.session_id, "run")
            await require_row(connection, schedule_runs.c.id, new.schedule_run_id, "firing")
            now = self._now()
            row = dispatch_row(new, now)
            statement = insert_into(connection, dispatch_outbox).values(row)
            statement = statement.on_conflict_do_nothing(index_elements=[_DEDUP], index_where=_DEDUP.is_not(None))
            if (await connection.execute(statement)).rowcount != 1:
                known = await connection.execute(queries.DISPATCH_BY_KEY, {"dedup_key": new.dedup_key})
                return dispatch_record(known.one())
            await record(connection, enqueued_line(row["id"], new.kind, now))
            return dispatch_record((await connection.execute(queries.DISPATCH_BY_ID, {"dispatch_id": row["id"]})).one())

        return await self._db.write(work)

    async def claim_due(self, *, limit: int) -> tuple[DispatchRecord, ...]:
        """Begin an attempt on the messages that are due, as one claimant; those past their time are expired first."""

        async def work(connection: AsyncConnection) -> tuple[DispatchRecord, ...]:
            now = self._now()
            await self._expire(connection, now)
            statement = queries.DUE.with_for_update(skip_locked=True)
            rows = (await connection.execute(statement, {"now": now, "limit": limit})).all()
            claims = [await self._claim(connection, dispatch_record(row), now) for row in rows]
            return tuple(claim for claim in claims if claim is not None)

        return await self._db.write(work)

    async def delivered(self, claim: DispatchRecord) -> bool:
        """The transport took the message."""
        return await self._settle(claim, after_success)

    async def failed(self, claim: DispatchRecord, error: str) -> bool:
        """The transport failed; the message waits, longer each time, or becomes a dead letter."""
        return await self._settle(claim, lambda found, now: after_failure(found, error, now))

    async def expire_due(self) -> int:
        """Expire the messages past their time that nobody is delivering; how many there were. Without any, nothing is written."""
        if await self._first_row(queries.PAST_DEADLINE, {"now": self._now(), "limit": 1}) is None:
            return 0

        async def work(connection: AsyncConnection) -> int:
            return await self._expire(connection, self._now())

        return await self._db.write(work)

    async def next_attempt_at(self) -> float | None:
        """When the next attempt on a message is due, in epoch seconds; ``None`` while none waits."""
        at = await self._only_value(queries.NEXT_ATTEMPT, {})
        return None if at is None else float(at)

    async def _claim(self, connection: AsyncConnection, found: DispatchRecord, now: float) -> DispatchRecord | None:
        """The next attempt on a message, as ours. One whose last attempt never came back is not tried for ever."""
        if found.status == "delivering" and found.attempt >= found.max_attempts:
            await self._move(connection, found, after_failure(found, "the attempt never came back", now), now)
            return None
        attempt = found.attempt + 1
        changes = {"attempt": attempt, "next_attempt_at": now + LEASE}
        begun = Attempted("delivering", "dispatch.delivering.attempt", f"attempt {attempt}", changes)
        if not await self._move(connection, found, begun, now):
            return None
        return replace(found, status="delivering", attempt=attempt, next_attempt_at=now + LEASE, updated_at=now)

    async def _expire(self, connection: AsyncConnection, now: float) -> int:
        statement = queries.PAST_DEADLINE.with_for_update(skip_locked=True)
        rows = (await connection.execute(statement, {"now": now, "limit": _AT_ONCE})).all()
        return sum([await self._move(connection, dispatch_record(row), _EXPIRED, now) for row in rows])

    async def _settle(self, claim: DispatchRecord, end: Callable[[DispatchRecord, float], Attempted]) -> bool:
        """End an attempt, if it is still this one: after its lease somebody else may have begun the next."""
        statement, this = queries.DISPATCH_BY_ID.with_for_update(), {"dispatch_id": claim.dispatch_id}

        async def work(connection: AsyncConnection) -> bool:
            row = (await connection.execute(statement, this)).first()
            found = None if row is None else dispatch_record(row)
            if found is None or (found.status, found.attempt) != ("delivering", claim.attempt):
                return False
            now = self._now()
            return await self._move(connection, found, end(found, now), now)

        return await self._db.write(work)

    async def _move(self, connection: AsyncConnection, found: DispatchRecord, end: Attempted, now: float) -> bool:
        return await move(connection, found, end, source="scheduler", actor=self._actor, now=now)
