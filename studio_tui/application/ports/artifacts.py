"""Artifacts as the operations need them (ADR-0077 D5, ADR-0078 D3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from studio_tui.domain.artifacts import ArtifactRecord


@dataclass(frozen=True, slots=True)
class ArtifactDraft:
    """An artifact to store. A run, an invocation, both or neither: that and kind and name are what it is known by."""

    kind: str
    name: str
    content: Mapping[str, object]
    session_id: str | None = None
    invocation_id: str | None = None
    file_path: str | None = None


class ArtifactMetadataPort(Protocol):
    """Reads and writes the rows of artifacts; files are another port's matter."""

    async def put_artifact(self, draft: ArtifactDraft) -> ArtifactRecord:
        """Store an artifact, or what is new about one that is known: its id and the time of its making stay.

        Raises :class:`ValidationFailure` for a blank kind or name, a path that leads out, or content that is no JSON, and
        :class:`NotFound` for a run or an invocation that is not there.
        """
        ...

    async def get_artifact(self, artifact_id: str) -> ArtifactRecord | None:
        """One artifact with its content."""
        ...

    async def artifacts_of_run(
        self, session_id: str, *, after: tuple[float, str] | None, limit: int
    ) -> tuple[ArtifactRecord, ...]:
        """Artifacts of a run by ``(created_at, id)`` ascending, after this key; long contents are left out."""
        ...

    async def artifacts_of_invocation(
        self, invocation_id: str, *, after: tuple[float, str] | None, limit: int
    ) -> tuple[ArtifactRecord, ...]:
        """The same for an invocation."""
        ...

    async def recent_artifacts(self, *, before: tuple[float, str] | None, limit: int) -> tuple[ArtifactRecord, ...]:
        """All artifacts, also those of no run, by ``(created_at, id)`` descending."""
        ...


@dataclass(frozen=True, slots=True)
class VerifiedPreview:
    """The beginning of a file. ``sha256`` is that of the whole file; ``None`` when it was not read whole, and nobody asked."""

    data: bytes
    sha256: str | None
    truncated: bool


class ArtifactFilePort(Protocol):
    """Looks into files that artifacts name, under the one root that was approved for them."""

    async def preview(self, folder: str, relative_path: str, *, max_bytes: int, expected_sha256: str | None) -> VerifiedPreview:
        """At most ``max_bytes`` of a file in ``folder``; no link is followed on the way, and the whole file is verified first.

        Raises :class:`PermissionDenied` for what is outside of the root, a link, no regular file, or too large to be verified,
        :class:`NotFound` when it is not there, :class:`Conflict` when its hash is another one or it changed while it was read,
        and :class:`StateUnavailable` when the disk fails.
        """
        ...
