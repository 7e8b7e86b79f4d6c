"""Definitions and shows in memory, each side by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from studio_tui.domain.definitions import FileDefinition, VersionRecord, WorkflowRecord
from studio_tui.domain.shows import ShowRecord
from tests.fakes.base import Port


@dataclass
class MemoryDefinitionFiles(Port):
    """Definition files; lists leave their content out."""

    files: list[FileDefinition] = field(default_factory=list)

    async def list_definitions(self) -> tuple[FileDefinition, ...]:
        self._ask("list_definitions")
        return tuple(replace(file, content=None) for file in self.files)

    async def read_definition(self, kind: str, name: str) -> FileDefinition | None:
        self._ask("read_definition")
        return next((file for file in self.files if (file.kind, file.name) == (kind, name)), None)


@dataclass
class MemoryHistory(Port):
    """Versions of definition files, and workflow rows."""

    records: list[VersionRecord] = field(default_factory=list)
    workflows: list[WorkflowRecord] = field(default_factory=list)

    async def latest_versions(self) -> Mapping[tuple[str, str], VersionRecord]:
        self._ask("latest_versions")
        return {(row.kind, row.name): row for row in sorted(self.records, key=lambda row: row.version)}

    async def versions(self, kind: str, name: str, *, limit: int) -> tuple[VersionRecord, ...]:
        self._ask("versions")
        rows = [replace(row, content=None) for row in self.records if (row.kind, row.name) == (kind, name)]
        return tuple(sorted(rows, key=lambda row: -row.version)[:limit])

    async def version(self, kind: str, name: str, number: int) -> VersionRecord | None:
        self._ask("version")
        return next((row for row in self.records if (row.kind, row.name, row.version) == (kind, name, number)), None)

    async def list_workflows(self) -> tuple[WorkflowRecord, ...]:
        self._ask("list_workflows")
        return tuple(sorted(self.workflows, key=lambda row: row.name))

    async def get_workflow(self, name: str) -> WorkflowRecord | None:
        self._ask("get_workflow")
        return next((row for row in self.workflows if row.name == name), None)


@dataclass
class MemoryShows(Port):
    """Shows of one side, be it the store or the disk (lists of the disk leave documents out)."""

    shows: list[ShowRecord] = field(default_factory=list)

    async def list_shows(self) -> tuple[ShowRecord, ...]:
        self._ask("list_shows")
        return tuple(replace(show, documents={}) for show in self.shows)

    async def get_show(self, topic: str) -> ShowRecord | None:
        self._ask("get_show")
        return next((show for show in self.shows if show.topic == topic), None)

    async def read_show(self, topic: str) -> ShowRecord | None:
        self._ask("read_show")
        return next((show for show in self.shows if show.topic == topic), None)
