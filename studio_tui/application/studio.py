"""The operations of the program, built once and handed to both front ends."""

from __future__ import annotations

from dataclasses import dataclass

from studio_tui.application.approvals import ApprovalService
from studio_tui.application.artifacts import ArtifactService
from studio_tui.application.attention import AttentionService
from studio_tui.application.definition_saves import DefinitionSaveService
from studio_tui.application.definitions import DefinitionService
from studio_tui.application.doctor import DoctorService
from studio_tui.application.engines import EngineService
from studio_tui.application.evidence import EvidenceService
from studio_tui.application.hosting import HostService
from studio_tui.application.invocations import InvocationService
from studio_tui.application.maintenance import MaintenanceService
from studio_tui.application.outbox import OutboxService
from studio_tui.application.overview import OverviewService
from studio_tui.application.ports import ChangeFeed, Clock
from studio_tui.application.projects import ProjectService
from studio_tui.application.runs import RunService
from studio_tui.application.schedule_sets import ScheduleSetService
from studio_tui.application.schedules import ScheduleService
from studio_tui.application.shows import ShowService
from studio_tui.application.stats import StatsService
from studio_tui.application.store import StoreService
from studio_tui.application.tags import TagService
from studio_tui.application.teams import TeamService
from studio_tui.application.workflows import WorkflowService


@dataclass(frozen=True, slots=True)
class Studio:
    """Everything that a screen or a command may ask or do."""

    runs: RunService
    schedules: ScheduleService
    schedule_sets: ScheduleSetService
    shows: ShowService
    definitions: DefinitionService
    definition_saves: DefinitionSaveService
    workflows: WorkflowService
    evidence: EvidenceService
    artifacts: ArtifactService
    invocations: InvocationService
    engines: EngineService
    teams: TeamService
    tags: TagService
    projects: ProjectService
    attention: AttentionService
    approvals: ApprovalService
    outbox: OutboxService
    stats: StatsService
    maintenance: MaintenanceService
    host: HostService
    store: StoreService
    overview: OverviewService
    doctor: DoctorService
    changes: ChangeFeed
    clock: Clock
