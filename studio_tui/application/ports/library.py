"""Ports that read definitions and shows, on disk and in the store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from studio_tui.domain.definitions import FileDefinition, VersionRecord, WorkflowRecord
from studio_tui.domain.shows import ShowRecord


class DefinitionFilesPort(Protocol):
    """Reads definition files under their roots. A bad file is a record with ``error``, never an exception."""

    async def list_definitions(self) -> tuple[FileDefinition, ...]:
        """All agents, playbooks and skills without content."""
        ...

    async def read_definition(self, kind: str, name: str) -> FileDefinition | None:
        """One definition with content."""
        ...


class DefinitionHistoryPort(Protocol):
    """Reads the history of file definitions and the workflow rows."""

    async def latest_versions(self) -> Mapping[tuple[str, str], VersionRecord]:
        """The newest version of each ``(kind, name)`` with its content."""
        ...

    async def versions(self, kind: str, name: str, *, limit: int) -> tuple[VersionRecord, ...]:
        """Versions newest first, without content."""
        ...

    async def version(self, kind: str, name: str, number: int) -> VersionRecord | None:
        """One version with content."""
        ...

    async def list_workflows(self) -> tuple[WorkflowRecord, ...]:
        """Workflow definitions by name, without their specs' text being checked."""
        ...

    async def get_workflow(self, name: str) -> WorkflowRecord | None:
        """One workflow by name."""
        ...


class ShowFilesPort(Protocol):
    """Reads shows from disk. An unreadable show or play is a record with ``error``."""

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        """Every show on disk with its plays, without documents."""
        ...

    async def read_show(self, topic: str) -> ShowRecord | None:
        """One show with its plays and documents; ``None`` when it has no directory."""
        ...


class ShowReadPort(Protocol):
    """Reads shows from the store."""

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        """Every show with its plays."""
        ...

    async def get_show(self, topic: str) -> ShowRecord | None:
        """One show with its plays."""
        ...
