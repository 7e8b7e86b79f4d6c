"""The trail of what was done to the store (implements ``AdminEventPort``)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from studio_tui.domain.admin_events import AdminEventRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries import admin_events as queries
from studio_tui.state.queries.admin_events import event_record, new_event
from studio_tui.state.queries.keysets import Key, key_values
from studio_tui.state.stores.writes import WriteStore, require_json, require_some, require_text, short_id


class AdminEventStore(WriteStore):
    """Implements ``AdminEventPort``."""

    async def note(
        self, action: str, details: Mapping[str, object], *, target_id: str | None = None, actor: str = "admin"
    ) -> AdminEventRecord:
        """Add an event."""
        require_some(action=action, actor=actor)
        require_text(target_id=target_id)
        require_json(details=dict(details))
        event_id = short_id()

        async def work(connection: AsyncConnection) -> AdminEventRecord:
            await connection.execute(new_event(event_id, action, details, target_id=target_id, actor=actor, now=self._now()))
            return event_record((await connection.execute(queries.EVENT_BY_ID, {"event_id": event_id})).one())

        return await self._db.write(work)

    async def list_events(
        self, *, action: str | None, target_id: str | None, before: Key | None, limit: int
    ) -> tuple[AdminEventRecord, ...]:
        """Events, newest first; a target is also looked for in the details, as JSON writes it."""
        values = key_values(before, limit=limit)
        if action is not None:
            values["action"] = action
        if target_id is not None:
            values |= {"target_id": target_id, "quoted": json.dumps(target_id)}
        statement = queries.event_page(action=action is not None, target=target_id is not None, before=before is not None)
        return tuple(map(event_record, await self._rows(statement, values)))

    async def get_event(self, event_id: str) -> AdminEventRecord | None:
        """One event."""
        row = await self._first_row(queries.EVENT_BY_ID, {"event_id": event_id})
        return None if row is None else event_record(row)

    async def last_event(self, action: str) -> AdminEventRecord | None:
        """The newest event of an action."""
        row = await self._first_row(queries.LAST_OF_ACTION, {"action": action})
        return None if row is None else event_record(row)
