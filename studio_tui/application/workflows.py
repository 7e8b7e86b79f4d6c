"""Workflow definitions: rows that are their own current state (ADR-0077 D3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from studio_tui.application.errors import FieldFailure, NotFound, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.models.workflows import (
    CreateWorkflow,
    DeleteWorkflow,
    PatchWorkflow,
    WorkflowDefinition,
    WorkflowSummary,
)
from studio_tui.application.ports import Clock, DefinitionHistoryPort, SidecarPort
from studio_tui.application.ports.definition_writes import WorkflowDraft, WorkflowWritePort
from studio_tui.application.views import view
from studio_tui.domain.definitions import WorkflowRecord
from studio_tui.domain.workflows import spec_faults

_CHANGEABLE: Final = ("name", "description", "spec")


@guarded
class WorkflowService:
    """Workflows as screens and commands see them. They have no versions: what is changed is gone."""

    def __init__(self, *, reads: DefinitionHistoryPort, writes: WorkflowWritePort, sidecar: SidecarPort, clock: Clock) -> None:
        self._reads = reads
        self._writes = writes
        self._journal = Journal(sidecar, clock)

    async def list_workflows(self) -> tuple[WorkflowSummary, ...]:
        """All workflows by name, without their graphs."""
        return tuple(view(WorkflowSummary, record, id=record.workflow_id) for record in await self._reads.list_workflows())

    async def get_workflow(self, name_or_id: str) -> WorkflowDefinition:
        """One workflow by its name, else by its id. Raises :class:`NotFound`."""
        found = await self._reads.get_workflow(name_or_id)
        if found is None:
            listed = await self._reads.list_workflows()
            name = next((record.name for record in listed if record.workflow_id == name_or_id), None)
            found = None if name is None else await self._reads.get_workflow(name)
        if found is None:
            raise NotFound("workflow", name_or_id)
        return _definition(found)

    async def create_workflow(self, command: CreateWorkflow) -> WorkflowDefinition:
        """Make a workflow. Raises :class:`ValidationFailure` with every broken rule, and :class:`Conflict` for a taken name."""
        _require_sound(command.spec)
        made = await self._writes.create_workflow(WorkflowDraft(command.name, command.description, command.spec))
        await self._journal.note("workflow.create", made.workflow_id, "done", {"name": made.name})
        return _definition(made)

    async def update_workflow(self, command: PatchWorkflow) -> WorkflowDefinition:
        """Change what is named; without changes nothing is written.

        Raises :class:`ValidationFailure`, :class:`NotFound`, and :class:`Conflict` when somebody changed it meanwhile, or the
        new name is taken.
        """
        changes: dict[str, object] = {name: getattr(command, name) for name in _CHANGEABLE if name in command.model_fields_set}
        if "name" in changes and changes["name"] is None:
            raise ValidationFailure.of("name", "empty", "cannot be taken away; leave it out to keep it")
        _require_sound(command.spec)
        stored = await self._writes.update_workflow(command.workflow_id, changes, expected_updated_at=command.expected_updated_at)
        if changes:
            await self._journal.note("workflow.update", command.workflow_id, "done", {"changed": sorted(changes)})
        return _definition(stored)

    async def delete_workflow(self, command: DeleteWorkflow) -> None:
        """Delete a workflow. Raises :class:`NotFound`, and :class:`Conflict` when somebody changed it meanwhile."""
        await self._writes.delete_workflow(command.workflow_id, expected_updated_at=command.expected_updated_at)
        await self._journal.note("workflow.delete", command.workflow_id, "done")


def _require_sound(spec: Mapping[str, object] | None) -> None:
    faults = () if spec is None else spec_faults(spec)
    if faults:
        raise ValidationFailure(*(FieldFailure(("spec", *fault.path), "invalid", fault.message) for fault in faults))


def _definition(record: WorkflowRecord) -> WorkflowDefinition:
    spec = record.spec if isinstance(record.spec, Mapping) else None
    faults = [record.error] if record.error else []
    if record.spec is not None and spec is None and not faults:
        faults.append("the stored graph is no object")
    if spec is not None:
        faults += [f"{'.'.join(map(str, fault.path))}: {fault.message}" for fault in spec_faults(spec)]
    return view(WorkflowDefinition, record, id=record.workflow_id, spec=spec, faults=tuple(faults))
