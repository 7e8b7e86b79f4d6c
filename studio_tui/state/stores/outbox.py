"""What people see of the outbox and do with it (implements ``OutboxPort``)."""

from __future__ import annotations

import hmac
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import delete, update

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.domain.admin_events import DISPATCH_PURGE
from studio_tui.domain.outbox import RETRIABLE, Attempted, DispatchRecord
from studio_tui.domain.statuses import DISPATCH
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries import outbox as queries
from studio_tui.state.queries.admin_events import new_event
from studio_tui.state.queries.columns import numbered_values
from studio_tui.state.queries.keysets import Key, key_values
from studio_tui.state.queries.outbox import dispatch_record
from studio_tui.state.schema import dispatch_outbox
from studio_tui.state.stores.outbox_rows import move
from studio_tui.state.stores.writes import WriteStore, require_text, short_id

_OPERATOR: Final = "studio_tui_operator"
_D: Final = dispatch_outbox.c
_ACKED: Final = Attempted("acked", "dispatch.acked.consumer", "consumer presented ack_token", MappingProxyType({}))


class OutboxStore(WriteStore):
    """Implements ``OutboxPort``."""

    # --- reads --------------------------------------------------------------------------------------------------------

    async def get_dispatch(self, dispatch_id: str) -> DispatchRecord | None:
        """One message with its payload."""
        row = await self._first_row(queries.DISPATCH_BY_ID, {"dispatch_id": dispatch_id})
        return None if row is None else dispatch_record(row)

    async def list_dispatches(self, *, status: frozenset[str], before: Key | None, limit: int) -> tuple[DispatchRecord, ...]:
        """Messages without payload, newest first."""
        values = key_values(before, limit=limit, **numbered_values("status", sorted(status)))
        statement = queries.dispatch_page(statuses=len(status), before=before is not None)
        return tuple(map(dispatch_record, await self._rows(statement, values)))

    async def counts(self) -> Mapping[str, int]:
        """How many messages there are, by status."""
        return {str(status): int(count) for status, count in await self._rows(queries.COUNTS, {})}

    async def count_older(self, *, status: str | None, before: float | None) -> Mapping[str, int]:
        """What :meth:`purge_older` would delete now."""
        values = _purge_values(status, before)
        statement = queries.count_older(status=status is not None, before=before is not None)
        return {str(name): int(count) for name, count in await self._rows(statement, values)}

    # --- changes ------------------------------------------------------------------------------------------------------

    async def acknowledge(self, dispatch_id: str, token: str) -> DispatchRecord:
        """The consumer has it; a second answer changes nothing."""
        require_text(token=token)

        async def work(connection: AsyncConnection) -> DispatchRecord:
            found = await _one(connection, dispatch_id)
            if not found.ack_required:
                raise _not_now(found, "wants no answer")
            if not hmac.compare_digest((found.ack_token or "").encode(), token.encode()):
                raise PermissionDenied("the answer does not carry the message's token")
            if found.status == "acked":
                return found
            if not DISPATCH.allows(found.status, "acked"):
                raise _not_now(found, f"is {found.status} already")
            await move(connection, found, _ACKED, source="operator", actor=_OPERATOR, now=self._now())
            return await _one(connection, dispatch_id)

        return await self._db.write(work)

    async def retry(self, dispatch_id: str) -> DispatchRecord:
        """Try a dead letter or an expired message again from the first attempt; a deadline that has passed is lifted.

        The peer leaves the deadline as it is, and its next pass expires the message again.
        """

        async def work(connection: AsyncConnection) -> DispatchRecord:
            found = await _one(connection, dispatch_id)
            if found.status not in RETRIABLE:
                raise _not_now(found, f"is {found.status}; only dead letters and expired messages are tried again")
            now = self._now()
            changes = {"attempt": 0, "next_attempt_at": now, "last_error": None}
            again = Attempted("pending", "dispatch.pending.retry_backoff", "operator-forced retry", changes)
            await move(connection, found, again, source="operator", actor=_OPERATOR, now=now)
            await connection.execute(
                update(dispatch_outbox).where(_D.id == dispatch_id, _D.expires_at <= now).values(expires_at=None)
            )
            return await _one(connection, dispatch_id)

        return await self._db.write(work)

    async def purge(self, dispatch_id: str, *, actor: str) -> bool:
        """Delete one message, whatever its status, with an administrator's event."""

        async def work(connection: AsyncConnection) -> bool:
            gone = await connection.execute(delete(dispatch_outbox).where(_D.id == dispatch_id).returning(_D.status))
            status = gone.scalar()
            if status is None:
                return False
            details = {"dispatch_id": dispatch_id, "status": status, "total": 1}
            await self._note_purge(connection, details, dispatch_id, actor)
            return True

        return await self._db.write(work)

    async def purge_older(self, *, status: str | None, before: float | None, actor: str) -> Mapping[str, int]:
        """Delete messages of this status, or ended ones, that changed at or before ``before``; how many, by status."""
        values = _purge_values(status, before)
        statement = queries.delete_older(status=status is not None, before=before is not None).returning(_D.status)

        async def work(connection: AsyncConnection) -> Mapping[str, int]:
            counts = Counter(str(row[0]) for row in await connection.execute(statement, values))
            details = {
                "status": status,
                "before": before,
                "dry_run": False,
                "total": counts.total(),
                "counts_by_status": dict(counts),
            }
            await self._note_purge(connection, details, None, actor)
            return dict(counts)

        return await self._db.write(work)

    async def _note_purge(
        self, connection: AsyncConnection, details: Mapping[str, object], target_id: str | None, actor: str
    ) -> None:
        event = new_event(short_id(), DISPATCH_PURGE, details, target_id=target_id, actor=actor, now=self._now())
        await connection.execute(event)


async def _one(connection: AsyncConnection, dispatch_id: str) -> DispatchRecord:
    """The message, locked."""
    row = (await connection.execute(queries.DISPATCH_BY_ID.with_for_update(), {"dispatch_id": dispatch_id})).first()
    if row is None:
        raise NotFound("message", dispatch_id)
    return dispatch_record(row)


def _not_now(found: DispatchRecord, message: str) -> Conflict:
    return Conflict("message", expected=None, actual=found.status, message=f"the message {message}")


def _purge_values(status: str | None, before: float | None) -> dict[str, Any]:
    if status is None and before is None:
        raise ValidationFailure.of("before", "missing", "say which status, or before when; all at once is never meant")
    if status is not None and status not in DISPATCH.statuses:
        raise ValidationFailure.of("status", "invalid", f"must be one of {', '.join(DISPATCH.statuses)}")
    given = {"status": status, "before": before}
    return {name: value for name, value in given.items() if value is not None}
