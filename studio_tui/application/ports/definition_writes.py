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


@dataclass(frozen=True, slots=True)
class FileWriteResult:
    """A file as it was written; ``relative_path`` is relative to the home, absolute only for a file outside of it."""

    relative_path: str
    sha256: str
    bytes_written: int


class DefinitionFileWritePort(Protocol):
    """Writes definition files whole or not at all."""

    async def place(self, kind: str, name: str) -> str:
        """Where a definition is, or would be made: the path that its versions carry. Raises :class:`ValidationFailure` for a
        name that is none."""
        ...

    async def require_writable(self, kind: str, name: str) -> None:
        """Raise :class:`PermissionDenied` for a protected definition, and for something in its place that is not written over;
        :class:`ValidationFailure` for a name that is none."""
        ...

    async def write_definition(self, kind: str, name: str, content: str) -> FileWriteResult:
        """Put a text in the place of what is there; links stay links, and the file keeps its mode.

        Raises as :meth:`require_writable`, and :class:`StateUnavailable` when the disk refuses: then the old file is there,
        untouched.
        """
        ...


@dataclass(frozen=True, slots=True)
class PendingSave:
    """A save that was begun and is not known to be complete. ``begun_at`` is in epoch seconds.

    ``version`` and ``reason`` are ``None`` while nobody knows more: a process that died said nothing.
    """

    reconciliation_id: str
    kind: str
    name: str
    sha256: str
    begun_at: float
    version: int | None = None
    reason: str | None = None


class ReconciliationPort(Protocol):
    """Keeps what may be half done, beside the store, so that a crash between its two halves leaves a trace."""

    async def keep(self, pending: PendingSave) -> None:
        """Write a record, in place of one of the same id. Raises :class:`StateUnavailable` when it cannot be kept."""
        ...

    async def drop(self, reconciliation_id: str) -> None:
        """The save is whole, or was settled. Nothing happens when there is no such record."""
        ...

    async def pending(self) -> tuple[PendingSave, ...]:
        """Every record, the oldest first; what cannot be read is left out."""
        ...
