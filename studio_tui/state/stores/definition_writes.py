"""New versions of file definitions (implements ``DefinitionVersionPort``; ADR-0077 D2, lionagi 0.36)."""

from __future__ import annotations

import uuid
from typing import Final

from sqlalchemy import insert
from sqlalchemy.exc import IntegrityError

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.ports.definition_writes import VersionDraft
from studio_tui.domain.definitions import FILE_KINDS, VersionRecord
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.queries import definition_writes as queries
from studio_tui.state.queries.definitions import VERSION
from studio_tui.state.rows import version_record
from studio_tui.state.schema import definitions
from studio_tui.state.stores.writes import WriteStore, require_some, require_text

TRIES: Final = 5


class _NumberTaken(Exception):
    """Somebody else has added this version since we counted; only a server lets two writers come so far."""


class DefinitionVersionStore(WriteStore):
    """Implements ``DefinitionVersionPort``."""

    async def append_version(self, draft: VersionDraft, *, expected_version: int | None) -> VersionRecord:
        """Add the next version."""
        _check(draft)

        async def work(connection: AsyncConnection) -> VersionRecord:
            newest = await _newest_number(connection, draft)
            if expected_version is not None and newest != expected_version:
                raise Conflict("definition", expected=str(expected_version), actual=str(newest))
            return await self._insert(connection, draft, newest + 1)

        for _ in range(TRIES):
            try:
                return await self._db.write(work)
            except _NumberTaken:
                continue
        message = f"others added versions of {draft.kind} {draft.name} at the same moment; try again"
        raise Conflict("definition", expected=None, actual=None, message=message)

    async def snapshot(self, draft: VersionDraft) -> VersionRecord | None:
        """Add a version if its content is not that of the newest one."""
        newest = await self.latest_version(draft.kind, draft.name)
        if newest is not None and newest.content == draft.content:
            return None
        return await self.append_version(draft, expected_version=0 if newest is None else newest.version)

    async def latest_version(self, kind: str, name: str) -> VersionRecord | None:
        """The newest version with its content."""
        row = await self._first_row(queries.NEWEST, {"kind": kind, "name": name})
        return None if row is None else version_record(row)

    async def rollback_source(self, kind: str, name: str, number: int) -> VersionRecord:
        """The version to go back to, with its content."""
        row = await self._first_row(VERSION, {"kind": kind, "name": name, "version": number})
        if row is None:
            raise NotFound("version", f"{number} of {kind} {name}")
        return version_record(row)

    async def _insert(self, connection: AsyncConnection, draft: VersionDraft, number: int) -> VersionRecord:
        version_id, now = str(uuid.uuid4()), self._now()
        values = {"kind": draft.kind, "name": draft.name, "path": draft.path, "content": draft.content}
        statement = insert(definitions).values(id=version_id, version=number, created_at=now, message=draft.message, **values)
        try:
            await connection.execute(statement)
        except IntegrityError as error:
            if "unique" not in str(error.orig).lower():
                raise
            raise _NumberTaken from error
        length = len(draft.content)
        return VersionRecord(version_id, draft.kind, draft.name, number, now, draft.message, length, draft.content)


def _check(draft: VersionDraft) -> None:
    if draft.kind not in FILE_KINDS:
        raise ValidationFailure.of("kind", "invalid", f"must be one of {', '.join(FILE_KINDS)}")
    require_some(name=draft.name, path=draft.path)
    require_text(content=draft.content, message=draft.message)


async def _newest_number(connection: AsyncConnection, draft: VersionDraft) -> int:
    found = await connection.execute(queries.NEWEST_NUMBER, {"kind": draft.kind, "name": draft.name})
    return int(found.scalar() or 0)
