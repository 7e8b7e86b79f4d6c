"""The rows of artifacts (implements ``ArtifactMetadataPort``)."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Select

from studio_tui.application.ports.artifacts import ArtifactDraft
from studio_tui.domain.artifacts import ArtifactRecord, stored_path_fault
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import insert_into
from studio_tui.state.queries import artifacts as queries
from studio_tui.state.queries.artifacts import artifact_record
from studio_tui.state.queries.keysets import Key, key_values
from studio_tui.state.schema import artifacts, invocations, sessions
from studio_tui.state.stores.writes import WriteStore, require, require_json, require_row, require_some, require_text, short_id


class ArtifactStore(WriteStore):
    """Implements ``ArtifactMetadataPort``."""

    async def put_artifact(self, draft: ArtifactDraft) -> ArtifactRecord:
        """Store an artifact under its natural key; a known one keeps its id and the time of its making."""
        _check(draft)

        async def work(connection: AsyncConnection) -> ArtifactRecord:
            await require_row(connection, sessions.c.id, draft.session_id, "run")
            await require_row(connection, invocations.c.id, draft.invocation_id, "invocation")
            artifact_id = await _upsert(connection, draft, self._now())
            row = (await connection.execute(queries.ARTIFACT_BY_ID, {"artifact_id": artifact_id})).one()
            return artifact_record(row)

        return await self._db.write(work)

    async def get_artifact(self, artifact_id: str) -> ArtifactRecord | None:
        """One artifact with its content."""
        row = await self._first_row(queries.ARTIFACT_BY_ID, {"artifact_id": artifact_id})
        return None if row is None else artifact_record(row)

    async def artifacts_of_run(self, session_id: str, *, after: Key | None, limit: int) -> tuple[ArtifactRecord, ...]:
        """Artifacts of a run, oldest first; long contents are left out."""
        return await self._page(queries.OF_RUN, after, owner_id=session_id, limit=limit)

    async def artifacts_of_invocation(self, invocation_id: str, *, after: Key | None, limit: int) -> tuple[ArtifactRecord, ...]:
        """Artifacts of an invocation, oldest first; long contents are left out."""
        return await self._page(queries.OF_INVOCATION, after, owner_id=invocation_id, limit=limit)

    async def recent_artifacts(self, *, before: Key | None, limit: int) -> tuple[ArtifactRecord, ...]:
        """All artifacts, newest first."""
        return await self._page(queries.RECENT, before, limit=limit)

    async def _page(
        self, statements: Mapping[bool, Select[tuple[object, ...]]], key: Key | None, **values: object
    ) -> tuple[ArtifactRecord, ...]:
        rows = await self._rows(statements[key is not None], key_values(key, **values))
        return tuple(map(artifact_record, rows))


def _check(draft: ArtifactDraft) -> None:
    require_some(kind=draft.kind, name=draft.name)
    require_text(file_path=draft.file_path)
    if draft.file_path is not None:
        require("file_path", stored_path_fault(draft.file_path))
    require_json(content=dict(draft.content))


async def _upsert(connection: AsyncConnection, draft: ArtifactDraft, now: float) -> str:
    """The id of the row, new or known."""
    news = {"content": dict(draft.content), "file_path": draft.file_path, "updated_at": now}
    names = {
        "invocation_id": draft.invocation_id,
        "session_id": draft.session_id,
        "kind": draft.kind,
        "name": draft.name,
    }
    target = queries.natural_key(invocation=draft.invocation_id is not None, session=draft.session_id is not None)
    statement = (
        insert_into(connection, artifacts)
        .values(id=short_id(), created_at=now, **names, **news)
        .on_conflict_do_update(**target, set_=news)
        .returning(artifacts.c.id)
    )
    return str((await connection.execute(statement)).scalar_one())
