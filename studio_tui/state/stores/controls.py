"""Words to running runs (implements ``ControlPort``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Row, insert

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.domain.controls import TEXT_LIMIT, VERBS, ControlRecord, deafness, pause_is_held
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries import controls as queries
from studio_tui.state.queries.controls import control_record
from studio_tui.state.queries.keysets import ORDINARY, Key, key_values
from studio_tui.state.readers import as_object_or_empty
from studio_tui.state.schema import session_controls
from studio_tui.state.stores.writes import WriteStore, hex_id, require_some

_MESSAGE: Final = "message"


class ControlStore(WriteStore):
    """Implements ``ControlPort``."""

    async def send(self, run_id: str, verb: str, *, text: str | None = None) -> ControlRecord:
        """Queue a control for a run that goes on and listens to it.

        The run is looked at, locked, in the transaction of the insert: it cannot end in between.
        """
        _check(verb, text)

        async def work(connection: AsyncConnection) -> ControlRecord:
            row = (await connection.execute(queries.LISTENER.with_for_update(), {"run_id": run_id})).first()
            if row is None:
                raise NotFound("run", run_id)
            if (reason := _deafness(verb, row)) is not None:
                raise Conflict("run", expected="running", actual=row.status, message=reason)
            control = ControlRecord(hex_id(), run_id, verb, text, self._now(), None, None, None)
            await connection.execute(insert(session_controls).values(_columns(control)))
            return control

        return await self._db.write(work)

    async def list_controls(self, run_id: str, *, before: Key | None, limit: int) -> tuple[ControlRecord, ...]:
        """Controls of a run, newest first."""
        values = key_values(before, run_id=run_id, limit=limit)
        return tuple(map(control_record, await self._rows(queries.CONTROLS[before is not None], values)))

    async def pending(self, run_id: str) -> tuple[ControlRecord, ...]:
        """Controls that were not applied yet, in the order of their delivery."""
        return tuple(map(control_record, await self._rows(queries.PENDING, {"run_id": run_id, "limit": ORDINARY})))

    async def pause_is_held(self, run_id: str) -> bool:
        """Whether the run stands at a pause, or is about to."""
        return pause_is_held(map(control_record, await self._rows(queries.LAST_GATE, {"run_id": run_id})))


def _check(verb: str, text: str | None) -> None:
    if verb not in VERBS:
        raise ValidationFailure.of("verb", "invalid", f"must be one of {', '.join(VERBS)}")
    if verb == _MESSAGE:
        require_some(text=text or "")
        if text is not None and len(text) > TEXT_LIMIT:
            raise ValidationFailure.of("text", "too_long", f"must have at most {TEXT_LIMIT} characters")
    elif text is not None:
        raise ValidationFailure.of("text", "invalid", f"goes with {_MESSAGE} only")


def _deafness(verb: str, row: Row[Any]) -> str | None:
    metadata: Mapping[str, object] = as_object_or_empty(row.node_metadata, "node_metadata", [])
    return deafness(verb, status=row.status, kind=row.invocation_kind, metadata=metadata, owned=bool(row.run_id))


def _columns(control: ControlRecord) -> dict[str, Any]:
    return {
        "id": control.control_id,
        "session_id": control.run_id,
        "verb": control.verb,
        "payload": None if control.text is None else {"text": control.text},
        "created_at": control.created_at,
    }
