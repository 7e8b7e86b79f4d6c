"""Artifacts: their rows, and a bounded, verified look into their files (ADR-0077 D5, ADR-0078 D3)."""

from __future__ import annotations

from collections.abc import Sequence

from studio_tui.application.artifact_text import media_type, whole_letters
from studio_tui.application.errors import NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.models.artifacts import ArtifactListQuery, ArtifactQuery, ArtifactResult, ArtifactSummary
from studio_tui.application.models.common import Page
from studio_tui.application.pages import Key, page_of
from studio_tui.application.ports import RunReadPort
from studio_tui.application.ports.artifacts import ArtifactFilePort, ArtifactMetadataPort
from studio_tui.application.views import view
from studio_tui.application.wellformed import mended
from studio_tui.domain.artifacts import ArtifactRecord, recorded_media_type, recorded_sha256


@guarded
class ArtifactService:
    """Artifacts as screens and commands see them. A path in a row is a hint where to look, never a right to read."""

    def __init__(self, *, artifacts: ArtifactMetadataPort, files: ArtifactFilePort, runs: RunReadPort) -> None:
        self._artifacts = artifacts
        self._files = files
        self._runs = runs

    async def list_artifacts(self, query: ArtifactListQuery) -> Page[ArtifactSummary]:
        """A page of artifacts, without their contents."""

        async def fetch(key: Key | None, limit: int) -> Sequence[ArtifactRecord]:
            if query.run_id is not None:
                return await self._artifacts.artifacts_of_run(query.run_id, after=key, limit=limit)
            if query.invocation_id is not None:
                return await self._artifacts.artifacts_of_invocation(query.invocation_id, after=key, limit=limit)
            return await self._artifacts.recent_artifacts(before=key, limit=limit)

        return await page_of(query, "artifacts", fetch, lambda a: (a.created_at, a.artifact_id), artifact_summary)

    async def resolve_artifact(self, query: ArtifactQuery) -> ArtifactResult:
        """One artifact, its file looked into when that is asked for.

        Raises :class:`NotFound` when the row, its run's folder or the file is not there, :class:`PermissionDenied` for a path
        that is not contained in the approved root, and :class:`Conflict` when the file is not the one that was recorded.
        """
        found = await self._artifacts.get_artifact(query.artifact_id)
        if found is None:
            raise NotFound("artifact", query.artifact_id)
        result = _result(found)
        return await self._with_preview(result, found, query) if query.include_preview else result

    async def _with_preview(self, result: ArtifactResult, found: ArtifactRecord, query: ArtifactQuery) -> ArtifactResult:
        if found.file_path is None:
            return result
        expected = recorded_sha256(found)
        preview = await self._files.preview(
            await self._folder(found), found.file_path, max_bytes=query.preview_limit_bytes, expected_sha256=expected
        )
        data = whole_letters(preview.data) if preview.truncated else preview.data
        news = {
            "preview": data,
            "preview_truncated": preview.truncated,
            "sha256": expected or preview.sha256,
            "media_type": result.media_type or media_type(found.file_path, data),
        }
        return result.model_copy(update=news)

    async def _folder(self, found: ArtifactRecord) -> str:
        """The folder of the run that left it."""
        runs = await self._runs.get_runs((found.session_id,)) if found.session_id is not None else ()
        folder = runs[0].artifacts_path if runs else None
        if folder is None:
            raise NotFound("artifact file", f"of {found.artifact_id}: no run with a folder is recorded for it")
        return folder


def artifact_summary(record: ArtifactRecord) -> ArtifactSummary:
    """One artifact in a list."""
    return view(
        ArtifactSummary,
        record,
        id=record.artifact_id,
        run_id=record.session_id,
        display_path=None if record.file_path is None else mended(record.file_path),
    )


def _result(record: ArtifactRecord) -> ArtifactResult:
    return view(
        ArtifactResult,
        record,
        id=record.artifact_id,
        content=record.content or {},
        display_path=None if record.file_path is None else mended(record.file_path),
        sha256=recorded_sha256(record),
        media_type=recorded_media_type(record),
        preview=None,
    )
