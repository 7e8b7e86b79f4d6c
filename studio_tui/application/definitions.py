"""Definitions: agents, playbooks, skills (files with history) and workflows (rows without) in one library (ADR-0077)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from studio_tui.application.definition_views import (
    LANGUAGES,
    drift_by_hash,
    drift_by_text,
    file_fields,
    missing_fields,
    summary,
    version_view,
    workflow_fields,
    workflow_text,
)
from studio_tui.application.errors import NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.models.definitions import DefinitionDetail, DefinitionSummary, DefinitionVersion, Drift
from studio_tui.application.ports import DefinitionFilesPort, DefinitionHistoryPort
from studio_tui.domain.definitions import FILE_KINDS, KINDS, LAST_VERSION, FileDefinition, VersionRecord

_VERSIONS: Final = 200


@guarded
class DefinitionService:
    """The library. A store that cannot answer leaves the files readable, with their drift unknown."""

    def __init__(self, *, files: DefinitionFilesPort, history: DefinitionHistoryPort) -> None:
        self._files = files
        self._history = history

    async def list_definitions(self) -> tuple[DefinitionSummary, ...]:
        """All definitions by kind and name, those whose file is gone among them.

        Workflows are left out when the store cannot answer; then every file's drift is ``unknown``.
        """
        files = await self._files.list_definitions()
        latest = await self._latest()
        rows = [summary(file_fields(file, *(await self._standing(file, latest)))) for file in files]
        if latest is not None:
            present = {(file.kind, file.name) for file in files}
            gone = [record for key, record in latest.items() if key not in present and record.kind in FILE_KINDS]
            rows += [summary(missing_fields(record)) for record in gone]
            rows += [summary(workflow_fields(workflow)) for workflow in await self._history.list_workflows()]
        return tuple(sorted(rows, key=lambda row: (KINDS.index(row.kind), row.name)))

    async def get_definition(self, kind: str, name: str) -> DefinitionDetail:
        """One definition with its text and versions. Raises :class:`ValidationFailure` for another kind, :class:`NotFound`."""
        if kind not in KINDS:
            raise ValidationFailure.of("kind", "unknown", f"is not a kind of definition; allowed: {', '.join(KINDS)}")
        return await (self._workflow(name) if kind == "workflow" else self._file(kind, name))

    async def list_versions(self, kind: str, name: str) -> tuple[DefinitionVersion, ...]:
        """Versions of a file definition, the newest first; the newest two hundred.

        Raises :class:`ValidationFailure` for a kind without versions, :class:`NotFound` when there are none and no file either.
        """
        if kind not in FILE_KINDS:
            raise ValidationFailure.of("kind", "no_history", f"has no versions; allowed: {', '.join(FILE_KINDS)}")
        found = await self._history.versions(kind, name, limit=_VERSIONS)
        if not found and await self._files.read_definition(kind, name) is None:
            raise NotFound(kind, name)
        return tuple(map(version_view, found))

    async def get_version(self, kind: str, name: str, number: int) -> str:
        """The text of one version. Raises :class:`ValidationFailure` for a kind without versions, :class:`NotFound`."""
        if kind not in FILE_KINDS:
            raise ValidationFailure.of("kind", "no_history", f"has no versions; allowed: {', '.join(FILE_KINDS)}")
        record = await self._history.version(kind, name, number) if 0 < number <= LAST_VERSION else None
        if record is None or record.content is None:
            raise NotFound("version", f"{number} of {kind} {name}")
        return record.content

    async def _workflow(self, name: str) -> DefinitionDetail:
        workflow = await self._history.get_workflow(name)
        if workflow is None:
            raise NotFound("workflow", name)
        return DefinitionDetail.model_validate(
            {**workflow_fields(workflow), "content": workflow_text(workflow), "language": LANGUAGES["workflow"]}
        )

    async def _file(self, kind: str, name: str) -> DefinitionDetail:
        file = await self._files.read_definition(kind, name)
        versions: tuple[VersionRecord, ...] = ()
        newest: VersionRecord | None = None
        available = True
        try:
            versions = await self._history.versions(kind, name, limit=_VERSIONS)
            newest = await self._history.version(kind, name, versions[0].version) if versions else None
        except StateUnavailable:
            available = False
        if file is None and newest is None:
            raise NotFound(kind, name)
        return DefinitionDetail.model_validate(
            {
                **_fields(file, newest, available),
                "content": file.content if file else None,
                "language": LANGUAGES[kind],
                "versions": tuple(map(version_view, versions)),
                "history_available": available,
            }
        )

    async def _latest(self) -> Mapping[tuple[str, str], VersionRecord] | None:
        try:
            return await self._history.latest_versions()
        except StateUnavailable:
            return None

    async def _standing(
        self, file: FileDefinition, latest: Mapping[tuple[str, str], VersionRecord] | None
    ) -> tuple[VersionRecord | None, Drift]:
        """The newest version of a listed file and its drift; the file is read only when hashes do not settle it."""
        record = latest.get((file.kind, file.name)) if latest is not None else None
        drift = "unknown" if latest is None and file.error is None else drift_by_hash(file, record)
        if drift is not None:
            return record, drift
        drift = drift_by_text(await self._files.read_definition(file.kind, file.name), record)
        return record, drift if latest is not None or drift == "unreadable" else "unknown"


def _fields(file: FileDefinition | None, newest: VersionRecord | None, available: bool) -> dict[str, object]:
    if file is None:
        assert newest is not None
        return missing_fields(newest)
    drift = drift_by_text(file, newest)
    return file_fields(file, newest, drift if available or drift == "unreadable" else "unknown")
