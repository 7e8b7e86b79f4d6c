"""Saving file definitions: history first, file second, and a record of what may be half done (ADR-0077 D2, ADR-0078 D2).

A record is on the disk before the first half and goes after the second. Whatever ends a save in between, the record stays and
says which definition to look at; what really stands there is asked of the history and of the file.
"""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress
from dataclasses import replace
from typing import Final
from uuid import uuid4

from studio_tui.application.errors import Conflict, NotFound, ReconciliationRequired, StateUnavailable, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.definitions import (
    ReconcileDefinition,
    ReconcileResult,
    Reconciliation,
    RollbackDefinition,
    SaveDefinition,
    SaveResult,
    SnapshotDefinition,
    SnapshotResult,
)
from studio_tui.application.ports import Clock, DefinitionFilesPort, SidecarPort, StorePort
from studio_tui.application.ports.definition_writes import (
    DefinitionFileWritePort,
    DefinitionVersionPort,
    PendingSave,
    ReconciliationPort,
    VersionDraft,
)
from studio_tui.application.reconciling import half_done
from studio_tui.application.store import require_ready
from studio_tui.application.wellformed import require_wellformed
from studio_tui.domain.definitions import FileDefinition, VersionRecord

SNAPSHOT: Final = "snapshot from disk"
CONTENT_BYTES: Final = 8 * 1024 * 1024
"""A longer definition could not be read again."""


@guarded
class DefinitionSaveService:
    """Changes of agents, playbooks and skills. One change at a time; other programs are met with what they left."""

    def __init__(
        self,
        *,
        store: StorePort,
        files: DefinitionFilesPort,
        writes: DefinitionFileWritePort,
        versions: DefinitionVersionPort,
        reconciliations: ReconciliationPort,
        sidecar: SidecarPort,
        clock: Clock,
    ) -> None:
        self._store = store
        self._files = files
        self._writes = writes
        self._versions = versions
        self._reconciliations = reconciliations
        self._journal = Journal(sidecar, clock)
        self._clock = clock
        self._turn = asyncio.Lock()

    async def save_definition(self, command: SaveDefinition) -> SaveResult:
        """Add a version, then write the file.

        Raises :class:`ValidationFailure`, :class:`PermissionDenied` for a protected definition, :class:`Conflict` with both sides
        when version or file are not those seen, and :class:`ReconciliationRequired` when the version was added and the file
        could not be written.
        """
        require_wellformed(name=command.name, content=command.content, message=command.message)
        if len(command.content.encode()) > CONTENT_BYTES:
            raise ValidationFailure.of("content", "too_long", f"must have at most {CONTENT_BYTES // 1024**2} MiB")
        require_ready(self._store)
        async with self._turn:
            await self._writes.require_writable(command.kind, command.name)
            path = await self._writes.place(command.kind, command.name)
            await self._require_seen(command)
            draft = VersionDraft(command.kind, command.name, path, command.content, command.message)
            return await self._save(draft, command.expected_version)

    async def rollback_definition(self, command: RollbackDefinition) -> SaveResult:
        """Save the text of an older version as a new one. Raises :class:`NotFound`, and as :meth:`save_definition` does."""
        source = await self._versions.rollback_source(command.kind, command.name, command.version)
        again = SaveDefinition(
            kind=command.kind,
            name=command.name,
            content=source.content or "",
            message=f"rollback to v{command.version}",
            expected_version=command.expected_version,
        )
        return await self.save_definition(again)

    async def snapshot_definition(self, command: SnapshotDefinition) -> SnapshotResult:
        """Keep the file as a version if it differs from the newest one. Raises :class:`NotFound`, :class:`Conflict`."""
        async with self._turn:
            draft = await self._draft_of_file(command.kind, command.name)
            added = await self._versions.snapshot(draft)
            newest = added or await self._versions.latest_version(command.kind, command.name)
        if newest is None:
            raise NotFound("version", f"of {command.kind} {command.name}")
        if added is not None:
            await self._journal.note("definition.snapshot", f"{command.kind} {command.name}", "done", {"version": added.version})
        return SnapshotResult(kind=command.kind, name=command.name, added=added is not None, version=newest.version)

    async def list_reconciliations(self) -> tuple[Reconciliation, ...]:
        """Saves of which the version is there and the file is not, the oldest first. Records that settled themselves go."""
        found: list[Reconciliation] = []
        for pending in await self._reconciliations.pending():
            newest, file = await self._both(pending)
            shown = half_done(pending, newest, file, now=self._clock.now())
            if isinstance(shown, Reconciliation):
                found.append(shown)
            elif shown == "settled":
                await self._forget(pending)
        return tuple(found)

    async def reconcile(self, command: ReconcileDefinition) -> ReconcileResult:
        """Settle a half-finished save in the way that was chosen.

        Raises :class:`NotFound` when it is settled already, :class:`Conflict` when somebody saved meanwhile, and
        :class:`ReconciliationRequired` when the file still cannot be written.
        """
        async with self._turn:
            pending, newest = await self._unsettled(command.reconciliation_id)
            version = newest.version
            if command.choice == "write_file":
                await self._write(replace(pending, version=version), newest.content or "")
            elif command.choice == "record_file":
                draft = await self._draft_of_file(pending.kind, pending.name)
                version = (await self._versions.append_version(draft, expected_version=version)).version
            await self._reconciliations.drop(pending.reconciliation_id)
        await self._journal.note(
            "definition.reconcile", f"{pending.kind} {pending.name}", "done", {"choice": command.choice, "version": version}
        )
        return ReconcileResult.model_validate(
            {"kind": pending.kind, "name": pending.name, "choice": command.choice, "version": version}
        )

    # --- parts --------------------------------------------------------------------------------------------------------

    async def _require_seen(self, command: SaveDefinition) -> None:
        """Refuse before anything is written where that can be seen; the history is compared once more when it is written."""
        if command.expected_version is not None:
            newest = await self._versions.latest_version(command.kind, command.name)
            actual = 0 if newest is None else newest.version
            if actual != command.expected_version:
                raise Conflict("definition", expected=str(command.expected_version), actual=str(actual))
        if command.expected_sha256 is not None:
            file = await self._files.read_definition(command.kind, command.name)
            actual_hash = None if file is None else file.sha256
            if actual_hash != command.expected_sha256:
                message = f"the file of {command.kind} {command.name} was changed by something else"
                raise Conflict("definition", expected=command.expected_sha256, actual=actual_hash, message=message)

    async def _save(self, draft: VersionDraft, expected_version: int | None) -> SaveResult:
        sha256 = hashlib.sha256(draft.content.encode()).hexdigest()
        pending = PendingSave(uuid4().hex[:12], draft.kind, draft.name, sha256, self._clock.now())
        await self._reconciliations.keep(pending)
        try:
            added = await self._versions.append_version(draft, expected_version=expected_version)
        except StateUnavailable:
            raise  # a cut connection may hide that the version was added: the record stays until the history can be asked
        except Exception:
            await self._forget(pending)
            raise
        await self._write(replace(pending, version=added.version), draft.content)
        await self._forget(pending)
        detail = {"version": added.version, "message": draft.message}
        await self._journal.note("definition.save", f"{draft.kind} {draft.name}", "done", detail)
        return SaveResult.model_validate(
            {"kind": draft.kind, "name": draft.name, "version": added.version, "saved_at": added.created_at}
        )

    async def _write(self, pending: PendingSave, content: str) -> None:
        """The second half. Whatever keeps it from being done, the first half stands, and that is what must be said."""
        try:
            await self._writes.write_definition(pending.kind, pending.name, content)
        except Exception as error:
            reason = getattr(error, "reason", None) or "the file could not be written"
            with suppress(StateUnavailable):
                await self._reconciliations.keep(replace(pending, reason=reason))
            message = f"version {pending.version} of {pending.kind} {pending.name} is in the history, its file is not: {reason}"
            raise ReconciliationRequired(pending.reconciliation_id, message) from error

    async def _unsettled(self, reconciliation_id: str) -> tuple[PendingSave, VersionRecord]:
        for pending in await self._reconciliations.pending():
            if pending.reconciliation_id == reconciliation_id:
                newest, file = await self._both(pending)
                shown = half_done(pending, newest, file, now=self._clock.now())
                if newest is not None and isinstance(shown, Reconciliation):
                    return pending, newest
        raise NotFound("reconciliation", reconciliation_id)

    async def _both(self, pending: PendingSave) -> tuple[VersionRecord | None, FileDefinition | None]:
        newest = await self._versions.latest_version(pending.kind, pending.name)
        return newest, await self._files.read_definition(pending.kind, pending.name)

    async def _draft_of_file(self, kind: str, name: str) -> VersionDraft:
        file = await self._files.read_definition(kind, name)
        if file is None:
            raise NotFound(kind, name)
        if file.content is None:
            raise Conflict(kind, expected="text", actual=file.error, message=f"{kind} {name} cannot be read: {file.error}")
        return VersionDraft(kind, name, await self._writes.place(kind, name), file.content, SNAPSHOT)

    async def _forget(self, pending: PendingSave) -> None:
        """A record that stays is no harm: it is found to be settled when somebody looks."""
        with suppress(StateUnavailable):
            await self._reconciliations.drop(pending.reconciliation_id)
