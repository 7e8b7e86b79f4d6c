"""What started runs, runs of engines, and teams."""

from __future__ import annotations

from studio_tui.application.models.common import (
    ContractModel,
    EngineRunId,
    Epoch,
    FiringId,
    InvocationId,
    PageQuery,
    RunId,
    TeamId,
)


class InvocationQuery(PageQuery):
    """Invocations, the newest change first. Every given condition must hold."""

    skill: str | None = None
    plugin: str | None = None
    status: str | None = None


class InvocationSummary(ContractModel):
    """One invocation and how its runs do: ``runs_by_status`` counts them (a missing status reads as completed)."""

    invocation_id: InvocationId
    skill: str
    plugin: str | None = None
    status: str
    started_at: Epoch | None = None
    ended_at: Epoch | None = None
    updated_at: Epoch | None = None
    session_count: int = 0
    reason_code: str | None = None
    reason_summary: str | None = None
    project: str | None = None
    last_activity_at: Epoch | None = None
    firing_id: FiringId | None = None
    firing_exit_code: int | None = None
    firing_error: str | None = None
    action_kind: str | None = None
    runs_by_status: dict[str, int] = {}
    problems: tuple[str, ...] = ()


class InvocationDetail(InvocationSummary):
    """One invocation with what it was given."""

    created_at: Epoch | None = None
    prompt: str | None = None
    metadata: dict[str, object] | None = None


class EngineRunQuery(PageQuery):
    """Runs of engines, the newest start first. ``run_id`` finds those of a run or of its parent."""

    kind: str | None = None
    status: str | None = None
    run_id: RunId | None = None


class EngineRunSummary(ContractModel):
    """One run of an engine. ``shown_session_id`` is the run whose screen shows it; ``outcome`` its bounded end report."""

    run_id: EngineRunId
    kind: str
    status: str
    started_at: Epoch | None = None
    ended_at: Epoch | None = None
    shown_session_id: RunId | None = None
    invocation_id: InvocationId | None = None
    outcome: dict[str, object] | None = None
    has_error: bool = False
    problems: tuple[str, ...] = ()


class EngineRunDetail(EngineRunSummary):
    """One run of an engine with what it was given."""

    spec: dict[str, object] | None = None
    error: str | None = None


class EngineDefinitionQuery(PageQuery):
    """Definitions of engines, the newest change first."""

    kind: str | None = None


class EngineDefinition(ContractModel):
    """One definition of an engine."""

    definition_id: str
    name: str
    kind: str
    model: str | None = None
    max_depth: int | None = None
    max_agents: int | None = None
    options: dict[str, object] | None = None
    description: str | None = None
    created_at: Epoch | None = None
    updated_at: Epoch | None = None
    problems: tuple[str, ...] = ()


class TeamQuery(PageQuery):
    """Teams as the store knows them, the newest change first."""


class Team(ContractModel):
    """One team: a copy that an import once made."""

    team_id: TeamId
    name: str
    status: str
    created_at: Epoch | None = None
    updated_at: Epoch | None = None
    member_count: int = 0
    members: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


class TeamMessageQuery(PageQuery):
    """Messages of a team, the newest first."""

    team_id: TeamId


class TeamMessage(ContractModel):
    """One message of a team. ``recipient`` is ``all`` or names with commas between them."""

    message_id: str
    created_at: Epoch | None = None
    sender: str
    recipient: str
    content: str
    summary: str | None = None
    read_by: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
