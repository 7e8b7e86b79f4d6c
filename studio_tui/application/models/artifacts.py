"""Artifacts: rows that say what a run left, and the bounded, verified look into their files (ADR-0077 D5, ADR-0078 D3)."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from studio_tui.application.models.common import ArtifactId, ContractModel, Epoch, InvocationId, PageQuery, RunId

PREVIEW_BYTES = 262_144
"""The default size of a preview; changing it changes the contract."""

PREVIEW_LIMIT = 1_048_576
"""The most that a preview may hold; changing it changes the contract."""


class ArtifactListQuery(PageQuery):
    """Artifacts of a run, else of an invocation, oldest first; with neither the newest of all."""

    run_id: RunId | None = None
    invocation_id: InvocationId | None = None


class ArtifactSummary(ContractModel):
    """One artifact in a list. ``display_path`` is relative to the folder of its run."""

    id: ArtifactId
    kind: str
    name: str
    run_id: RunId | None = None
    invocation_id: InvocationId | None = None
    display_path: str | None = None
    content_bytes: int = 0
    created_at: Epoch | None = None
    updated_at: Epoch | None = None
    problems: tuple[str, ...] = ()


class ArtifactQuery(ContractModel):
    """One artifact, with the beginning of its file when ``include_preview`` asks for it."""

    artifact_id: ArtifactId
    include_preview: bool = False
    preview_limit_bytes: int = Field(default=PREVIEW_BYTES, ge=1, le=PREVIEW_LIMIT)


class ArtifactResult(ContractModel):
    """One artifact. ``sha256`` is the recorded hash, or that of a file that was read whole; ``preview`` is base64 in JSON.

    A preview that was cut (``preview_truncated``) ends between two letters where it is text.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_bytes="base64", val_json_bytes="base64")

    id: ArtifactId
    kind: str
    name: str
    content: dict[str, object]
    display_path: str | None
    sha256: str | None
    media_type: str | None
    preview: bytes | None
    preview_truncated: bool = False
    problems: tuple[str, ...] = ()
