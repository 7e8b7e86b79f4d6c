"""Workflow definitions: rows of the store that are their own current state and keep no history (ADR-0077 D3)."""

from __future__ import annotations

from pydantic import Field

from studio_tui.application.models.common import ContractModel, Epoch, WorkflowId


class WorkflowSummary(ContractModel):
    """One workflow in a list."""

    id: WorkflowId
    name: str
    description: str | None = None
    created_at: Epoch | None = None
    updated_at: Epoch | None = None
    problems: tuple[str, ...] = ()


class WorkflowDefinition(WorkflowSummary):
    """One workflow with its graph; ``faults`` says what in it no longer follows the rules, such as a removed ``gate`` node."""

    spec: dict[str, object] | None
    faults: tuple[str, ...] = ()


class CreateWorkflow(ContractModel):
    """Make a workflow. Blanks around the name are cut off."""

    name: str = Field(min_length=1, max_length=120)
    description: str | None = None
    spec: dict[str, object] | None = None


class PatchWorkflow(ContractModel):
    """Change a workflow: what is left out stays, an explicit null clears ``description`` or ``spec``."""

    workflow_id: WorkflowId
    expected_updated_at: Epoch
    name: str | None = Field(default=None, min_length=1, max_length=120)
    description: str | None = None
    spec: dict[str, object] | None = None


class DeleteWorkflow(ContractModel):
    """Delete a workflow that is still what the caller saw."""

    workflow_id: WorkflowId
    expected_updated_at: Epoch
