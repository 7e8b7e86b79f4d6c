"""One library over two kinds of storage, which the rows name in words (ADR-0077 D2, D3)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from studio_tui.application.models.definitions import DefinitionSummary, DefinitionVersion, Drift
from studio_tui.application.moments import Times
from studio_tui.application.wellformed import mended
from studio_tui.domain.definitions import FileDefinition, VersionRecord, WorkflowRecord

FILE_PERSISTENCE: Final = "file; versions in the store"
ROW_PERSISTENCE: Final = "row in the store; no versions"

LANGUAGES: Final[Mapping[str, str]] = MappingProxyType(
    {"agent": "markdown", "skill": "markdown", "playbook": "yaml", "workflow": "json"}
)


def file_fields(file: FileDefinition, latest: VersionRecord | None, drift: Drift) -> dict[str, Any]:
    """The fields of :class:`DefinitionSummary` for a file."""
    times = Times()
    return {
        "kind": file.kind,
        "name": file.name,
        "persistence": FILE_PERSISTENCE,
        "path": file.relative_path,
        "description": file.description,
        "version": latest.version if latest else None,
        "drift": drift,
        "modified_at": times.read("modified_at", file.modified_at),
        "size_bytes": file.size_bytes,
        "problem": "; ".join([*([file.error] if file.error else []), *times.problems]) or None,
        "notes": file.notes,
    }


def missing_fields(latest: VersionRecord) -> dict[str, Any]:
    """The fields of :class:`DefinitionSummary` for a history whose file is gone."""
    return {
        "kind": latest.kind,
        "name": latest.name,
        "persistence": FILE_PERSISTENCE,
        "version": latest.version,
        "drift": "file_missing",
        "problem": "the file is gone; its versions are kept",
    }


def workflow_fields(workflow: WorkflowRecord) -> dict[str, Any]:
    """The fields of :class:`DefinitionSummary` for a workflow."""
    times = Times()
    return {
        "kind": "workflow",
        "name": workflow.name,
        "persistence": ROW_PERSISTENCE,
        "description": workflow.description,
        "drift": "no_history",
        "modified_at": times.read("updated_at", workflow.updated_at),
        "problem": "; ".join([*([workflow.error] if workflow.error else []), *times.problems]) or None,
    }


def workflow_text(workflow: WorkflowRecord) -> str | None:
    """A workflow's spec as a person reads it; ``None`` when it cannot be read."""
    return None if workflow.error else mended(json.dumps(workflow.spec, ensure_ascii=False, indent=2))


def drift_by_hash(file: FileDefinition, latest: VersionRecord | None) -> Drift | None:
    """How a listed file stands to its newest version, as far as their hashes tell; ``None`` when its text must be looked at.

    Equal bytes settle it. Different ones do not: history holds text, and the peer reads line ends of any kind as ``\n``.
    A fault does not either: broken front matter, say, leaves the text readable.
    """
    if file.error is not None:
        return None
    if latest is None:
        return "no_snapshot"
    if latest.content is None:
        return "unknown"
    if file.sha256 is not None and file.sha256 == hashlib.sha256(latest.content.encode("utf-8", "surrogatepass")).hexdigest():
        return "same"
    return None


def drift_by_text(file: FileDefinition | None, latest: VersionRecord | None) -> Drift:
    """How a file's text stands to its newest version, line ends of any kind being equal."""
    if file is None:
        return "file_missing"
    if file.content is None:
        return "unreadable"
    if latest is None:
        return "no_snapshot"
    return "same" if latest.content is not None and _lines(file.content) == _lines(latest.content) else "edited"


def version_view(record: VersionRecord) -> DefinitionVersion:
    """One version in a list."""
    return DefinitionVersion(
        version=record.version,
        created_at=Times().read("created_at", record.created_at),
        message=record.message,
        content_length=record.content_length,
    )


def summary(fields: dict[str, Any]) -> DefinitionSummary:
    """One definition as a list shows it."""
    return DefinitionSummary.model_validate(fields)


def _lines(text: str) -> str:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
