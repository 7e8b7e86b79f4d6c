"""Changes of a status on their own (implements ``StatusPort``)."""

from __future__ import annotations

from sqlalchemy import select

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.ports.lifecycle import StatusChange
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.lifecycle import STATUS_TABLES, write_status
from studio_tui.state.queries.admin_events import new_event
from studio_tui.state.stores.notices import owe_end_of
from studio_tui.state.stores.writes import WriteStore, require, require_json, require_some, require_text, short_id


class StatusStore(WriteStore):
    """Implements ``StatusPort``."""

    async def change(self, change: StatusChange) -> bool:
        """One change; one that is refused leaves an event and nothing else, as with the peer."""
        _check(change)

        async def work(connection: AsyncConnection) -> bool | Conflict:
            try:
                done = await self._write(connection, change)
            except Conflict as refusal:
                await self._note(connection, change, refusal)
                return refusal
            if not done:
                await _require_row(connection, change)
            return done

        answer = await self._db.write(work)
        if isinstance(answer, Conflict):
            raise answer
        return answer

    async def _write(self, connection: AsyncConnection, change: StatusChange) -> bool:
        now = self._now()
        try:
            done = await write_status(
                connection,
                change.entity,
                change.entity_id,
                change.status,
                reason_code=change.reason_code,
                summary=change.summary,
                evidence=change.evidence,
                source=change.source,
                actor=change.actor,
                now=now,
                expected=change.expected,
                expected_updated_at=change.expected_updated_at,
                extra=change.extra,
                metadata=change.metadata,
                override=change.override,
            )
        except ValueError as error:
            raise ValidationFailure.of("status", "invalid", str(error)) from None
        if done and change.entity == "invocation":
            await owe_end_of(connection, change.entity_id, now)
        return done

    async def _note(self, connection: AsyncConnection, change: StatusChange, refusal: Conflict) -> None:
        details = {
            "entity_type": change.entity,
            "previous_status": refusal.actual,
            "attempted_status": change.status,
            "reason_code": change.reason_code,
            "source": change.source,
        }
        await connection.execute(
            new_event(
                short_id(),
                "status_transition_rejected",
                details,
                target_id=change.entity_id,
                actor=change.actor,
                now=self._now(),
            )
        )


def _check(change: StatusChange) -> None:
    require("entity", None if change.entity in STATUS_TABLES else "has no status that is changed so")
    require_some(entity_id=change.entity_id, actor=change.actor, source=change.source)
    require_text(summary=change.summary)
    require_json(evidence=[dict(item) for item in change.evidence], extra=dict(change.extra), metadata=dict(change.metadata))
    if change.override is not None:
        require_some(override_actor=change.override.actor, justification=change.override.justification)


async def _require_row(connection: AsyncConnection, change: StatusChange) -> None:
    """Raise :class:`NotFound` for a row that is gone: it is not one that somebody else has moved."""
    table = STATUS_TABLES[change.entity]
    if (await connection.execute(select(table.c.id).where(table.c.id == change.entity_id))).first() is None:
        raise NotFound(change.entity, change.entity_id)
