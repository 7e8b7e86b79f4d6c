"""Reads the history of file definitions and the workflow rows (implements ``DefinitionHistoryPort``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from studio_tui.domain.definitions import VersionRecord, WorkflowRecord
from studio_tui.state.queries import definitions as queries
from studio_tui.state.rows import version_record, workflow_record
from studio_tui.state.schema import BrokenJSON
from studio_tui.state.stores.reads import ReadStore


class DefinitionStore(ReadStore):
    """Implements ``DefinitionHistoryPort``."""

    async def latest_versions(self) -> Mapping[tuple[str, str], VersionRecord]:
        """The newest version of each ``(kind, name)`` with its content."""
        versions = map(version_record, await self._rows(queries.LATEST_VERSIONS, {}))
        return {(version.kind, version.name): version for version in versions}

    async def versions(self, kind: str, name: str, *, limit: int) -> tuple[VersionRecord, ...]:
        """Versions newest first, without content."""
        values = {"kind": kind, "name": name, "limit": limit}
        return tuple(map(version_record, await self._rows(queries.VERSIONS, values)))

    async def version(self, kind: str, name: str, number: int) -> VersionRecord | None:
        """One version with content."""
        row = await self._first_row(queries.VERSION, {"kind": kind, "name": name, "version": number})
        return None if row is None else version_record(row)

    async def list_workflows(self) -> tuple[WorkflowRecord, ...]:
        """Workflow definitions by name; their specs are not read."""
        return tuple(map(_workflow, await self._rows(queries.WORKFLOWS, {})))

    async def get_workflow(self, name: str) -> WorkflowRecord | None:
        """One workflow by name; ``error`` says so when its spec is no JSON."""
        row = await self._first_row(queries.WORKFLOW_BY_NAME, {"name": name})
        return None if row is None else _workflow(row)


def _workflow(row: Sequence[Any]) -> WorkflowRecord:
    broken = any(isinstance(value, BrokenJSON) for value in row)
    return workflow_record(row, error="the stored spec is not JSON" if broken else None)
