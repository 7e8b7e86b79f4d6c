"""Changes of definitions as the operations need them (ADR-0077 D2 and D3, ADR-0078 D3; rows of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from studio_tui.domain.definitions import VersionRecord, WorkflowRecord


@dataclass(frozen=True, slots=True)
class VersionDraft:
    """A version of a file definition. ``path`` is relative to the home, and absolute only for a file outside of it."""

    kind: str
    name: str
    path: str
    content: str
    message: str | None = None


class DefinitionVersionPort(Protocol):
    """Adds to the history of file definitions; nothing in it is ever changed."""

    async def append_version(self, draft: VersionDraft, *, expected_version: int | None) -> VersionRecord:
        """Add the next version. ``expected_version`` is the newest that the caller saw (0: none); ``None`` adds in any case.

        Raises :class:`ValidationFailure`, and :class:`Conflict` when another one is the newest, or when others took the next
        number five times in a row.
        """
        ...

    async def snapshot(self, draft: VersionDraft) -> VersionRecord | None:
        """Add a version if its content is not that of the newest one; ``None`` when it is."""
        ...

    async def latest_version(self, kind: str, name: str) -> VersionRecord | None:
        """The newest version with its content."""
        ...

    async def rollback_source(self, kind: str, name: str, number: int) -> VersionRecord:
        """The version to go back to, with its content. Raises :class:`NotFound`."""
        ...


@dataclass(frozen=True, slots=True)
class WorkflowDraft:
    """A workflow definition to make; its graph is checked elsewhere."""

    name: str
    description: str | None = None
    spec: Mapping[str, object] | None = None


class WorkflowWritePort(Protocol):
    """Changes workflow definitions. A row is its own current state: it has no history."""

    async def create_workflow(self, draft: WorkflowDraft) -> WorkflowRecord:
        """Make a definition. Raises :class:`ValidationFailure`, and :class:`Conflict` when the name is taken."""
        ...

    async def update_workflow(
        self, workflow_id: str, changes: Mapping[str, object], *, expected_updated_at: float
    ) -> WorkflowRecord:
        """Change ``name``, ``description`` or ``spec``: what is not named stays, ``None`` clears the latter two.

        Without changes nothing is written. Raises :class:`ValidationFailure`, :class:`NotFound`, and :class:`Conflict` when
        somebody changed it meanwhile, or the new name is taken.
        """
        ...

    async def delete_workflow(self, workflow_id: str, *, expected_updated_at: float) -> None:
        """Delete a definition. Raises :class:`NotFound`, and :class:`Conflict` when somebody changed it meanwhile."""
        ...
