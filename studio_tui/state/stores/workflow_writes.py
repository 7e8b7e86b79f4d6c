"""Changes of workflow definitions (implements ``WorkflowWritePort``; ADR-0077 D3, lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Executable, delete, insert, update
from sqlalchemy.exc import IntegrityError

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.ports.definition_writes import WorkflowDraft
from studio_tui.domain.definitions import WorkflowRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries.workflow_writes import WORKFLOW_BY_ID
from studio_tui.state.rows import workflow_record
from studio_tui.state.schema import BrokenJSON, workflow_defs
from studio_tui.state.stores.writes import WriteStore, moment_after, require_json, require_some, require_text, short_id

NAME_LIMIT: Final = 120
_COLUMN_OF: Final = {"name": "name", "description": "description", "spec": "spec_json"}
_W: Final = workflow_defs.c


class WorkflowWriteStore(WriteStore):
    """Implements ``WorkflowWritePort``."""

    async def create_workflow(self, draft: WorkflowDraft) -> WorkflowRecord:
        """Make a definition."""
        given = _checked({"name": draft.name, "description": draft.description, "spec": draft.spec})
        workflow_id = short_id()

        async def work(connection: AsyncConnection) -> WorkflowRecord:
            now = self._now()
            statement = insert(workflow_defs).values(id=workflow_id, created_at=now, updated_at=now, **given)
            await _under_its_name(connection, statement, given["name"])
            return await _one(connection, workflow_id)

        return await self._db.write(work)

    async def update_workflow(
        self, workflow_id: str, changes: Mapping[str, object], *, expected_updated_at: float
    ) -> WorkflowRecord:
        """Change what is named; without changes nothing is written."""
        given = _checked(changes)

        async def work(connection: AsyncConnection) -> WorkflowRecord:
            found = await _one(connection, workflow_id)
            _unchanged(found, expected_updated_at)
            if not given:
                return found
            moved = moment_after(found.updated_at, self._now())
            statement = update(workflow_defs).where(_W.id == workflow_id).values(updated_at=moved, **given)
            await _under_its_name(connection, statement, given.get("name"))
            return await _one(connection, workflow_id)

        return await self._db.write(work)

    async def delete_workflow(self, workflow_id: str, *, expected_updated_at: float) -> None:
        """Delete a definition."""

        async def work(connection: AsyncConnection) -> None:
            _unchanged(await _one(connection, workflow_id), expected_updated_at)
            await connection.execute(delete(workflow_defs).where(_W.id == workflow_id))

        await self._db.write(work)


def _checked(changes: Mapping[str, object]) -> dict[str, Any]:
    """The columns to write, by name."""
    for field in changes:
        if field not in _COLUMN_OF:
            raise ValidationFailure.of(field, "unknown", f"is not to be changed; only {', '.join(_COLUMN_OF)} are")
    given: dict[str, Any] = {_COLUMN_OF[field]: value for field, value in changes.items()}
    if "name" in given:
        given["name"] = _checked_name(given["name"])
    _require_kind("description", given.get("description"), str)
    require_text(description=given.get("description"))
    _require_kind("spec", given.get("spec_json"), Mapping)
    if given.get("spec_json") is not None:
        given["spec_json"] = dict(given["spec_json"])
    require_json(spec=given.get("spec_json"))
    return given


def _require_kind(field: str, value: object, kind: type) -> None:
    if value is not None and not isinstance(value, kind):
        raise ValidationFailure.of(field, "invalid", "is of another kind than this field")


def _checked_name(name: object) -> str:
    kept = name.strip() if isinstance(name, str) else ""
    require_some(name=kept)
    if len(kept) > NAME_LIMIT:
        raise ValidationFailure.of("name", "too_long", f"must have at most {NAME_LIMIT} characters")
    return kept


def _unchanged(found: WorkflowRecord, expected_updated_at: float) -> None:
    if found.updated_at != expected_updated_at:
        raise Conflict("workflow", expected=repr(expected_updated_at), actual=repr(found.updated_at))


async def _under_its_name(connection: AsyncConnection, statement: Executable, name: object) -> None:
    try:
        await connection.execute(statement)
    except IntegrityError as error:
        raise Conflict("workflow", expected=None, actual=str(name), message=f"the name {name} is taken") from error


async def _one(connection: AsyncConnection, workflow_id: str) -> WorkflowRecord:
    row = (await connection.execute(WORKFLOW_BY_ID.with_for_update(), {"workflow_id": workflow_id})).first()
    if row is None:
        raise NotFound("workflow", workflow_id)
    broken = any(isinstance(value, BrokenJSON) for value in row)
    return workflow_record(row, error="the stored spec is not JSON" if broken else None)
