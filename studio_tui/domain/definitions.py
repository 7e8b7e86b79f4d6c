"""What disk and history know of definitions: agents, playbooks, skills and workflows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FILE_KINDS: Final = ("agent", "playbook", "skill")
KINDS: Final = (*FILE_KINDS, "workflow")
LAST_VERSION: Final = 2**31 - 1
"""Both databases keep the number of a version in four bytes or more."""


@dataclass(frozen=True, slots=True)
class FileDefinition:
    """One definition file. ``content`` is ``None`` when it was not read or cannot be; ``error`` then says why.

    ``relative_path`` is relative to its root; ``modified_at`` is in epoch seconds; ``sha256`` is of the file's bytes and
    ``None`` when they were not all read. ``notes`` are remarks that keep nobody from using it: a link out of the root, say.
    """

    kind: str
    name: str
    relative_path: str
    size_bytes: int
    modified_at: float | None
    content: str | None = None
    sha256: str | None = None
    description: str | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """One row of the history of a file definition. ``content`` is ``None`` in lists."""

    version_id: str
    kind: str
    name: str
    version: int
    created_at: float | None
    message: str | None
    content_length: int
    content: str | None = None


@dataclass(frozen=True, slots=True)
class WorkflowRecord:
    """One workflow definition: a database row that is its own current state and has no history."""

    workflow_id: str
    name: str
    description: str | None
    spec: object
    created_at: float | None
    updated_at: float | None
    error: str | None = None
