"""The services that stand on stores and files alone, made when they are first asked for; the rest is in :mod:`assembly`."""

from __future__ import annotations

import os
import pwd
from functools import cached_property
from typing import TYPE_CHECKING

from studio_tui.application.ports import ActProvenance
from studio_tui.clock import SystemClock
from studio_tui.settings_model import Settings
from studio_tui.state.store import Store

if TYPE_CHECKING:
    from studio_tui.application.approvals import ApprovalService
    from studio_tui.application.artifacts import ArtifactService
    from studio_tui.application.attention import AttentionService
    from studio_tui.application.definition_saves import DefinitionSaveService
    from studio_tui.application.engines import EngineService
    from studio_tui.application.evidence import EvidenceService
    from studio_tui.application.invocations import InvocationService
    from studio_tui.application.maintenance import MaintenanceService
    from studio_tui.application.outbox import OutboxService
    from studio_tui.application.ports import SchedulerHostPort
    from studio_tui.application.projects import ProjectService
    from studio_tui.application.stats import StatsService
    from studio_tui.application.tags import TagService
    from studio_tui.application.teams import TeamService
    from studio_tui.application.workflows import WorkflowService
    from studio_tui.files.definitions import DefinitionFiles
    from studio_tui.files.roots import Roots
    from studio_tui.files.transports import TransportFile
    from studio_tui.sidecar.store import Sidecar
    from studio_tui.state.db import StateDB


class StoreServices:
    """Services by the names that :class:`~studio_tui.application.studio.Studio` gives them; ``Assembly`` brings their parts."""

    settings: Settings
    clock: SystemClock
    database: Store
    _hosts: bool

    if TYPE_CHECKING:

        @property
        def sidecar(self) -> Sidecar: ...
        @property
        def roots(self) -> Roots: ...
        @property
        def definition_files(self) -> DefinitionFiles: ...
        @property
        def transports(self) -> TransportFile: ...
        @property
        def scheduler(self) -> SchedulerHostPort: ...

    @property
    def _db(self) -> StateDB:
        return self.database.db

    @cached_property
    def definition_saves(self) -> DefinitionSaveService:
        """Changes of file definitions."""
        from studio_tui.application.definition_saves import DefinitionSaveService
        from studio_tui.files.definition_writes import DefinitionWrites
        from studio_tui.sidecar.reconciliations import Reconciliations
        from studio_tui.state.stores.definition_writes import DefinitionVersionStore

        return DefinitionSaveService(
            store=self.database,
            files=self.definition_files,
            writes=DefinitionWrites(self.roots, home=self.settings.home),
            versions=DefinitionVersionStore(self._db, self.clock),
            reconciliations=Reconciliations(self.settings.own_directory),
            sidecar=self.sidecar,
            clock=self.clock,
        )

    @cached_property
    def workflows(self) -> WorkflowService:
        """Workflow definitions."""
        from studio_tui.application.workflows import WorkflowService
        from studio_tui.state.stores.definitions import DefinitionStore
        from studio_tui.state.stores.workflow_writes import WorkflowWriteStore

        return WorkflowService(
            reads=DefinitionStore(self._db),
            writes=WorkflowWriteStore(self._db, self.clock),
            sidecar=self.sidecar,
            clock=self.clock,
        )

    @cached_property
    def evidence(self) -> EvidenceService:
        """What runs tell and are told."""
        from studio_tui.application.evidence import EvidenceService
        from studio_tui.state.stores.artifacts import ArtifactStore
        from studio_tui.state.stores.controls import ControlStore
        from studio_tui.state.stores.runs import RunStore
        from studio_tui.state.stores.signals import SignalStore

        return EvidenceService(
            runs=RunStore(self._db),
            signals=SignalStore(self._db, self.clock),
            controls=ControlStore(self._db, self.clock),
            artifacts=ArtifactStore(self._db, self.clock),
            sidecar=self.sidecar,
            clock=self.clock,
        )

    @cached_property
    def artifacts(self) -> ArtifactService:
        """What runs left."""
        from studio_tui.application.artifacts import ArtifactService
        from studio_tui.files.artifacts import ArtifactFiles
        from studio_tui.state.stores.artifacts import ArtifactStore
        from studio_tui.state.stores.runs import RunStore

        return ArtifactService(
            artifacts=ArtifactStore(self._db, self.clock),
            files=ArtifactFiles(self.settings.home / "runs"),
            runs=RunStore(self._db),
        )

    @cached_property
    def invocations(self) -> InvocationService:
        """What started runs."""
        from studio_tui.application.invocations import InvocationService
        from studio_tui.state.stores.invocations import InvocationStore

        return InvocationService(invocations=InvocationStore(self._db))

    @cached_property
    def engines(self) -> EngineService:
        """Engines and their runs."""
        from studio_tui.application.engines import EngineService
        from studio_tui.state.stores.engine_runs import EngineStore

        return EngineService(engines=EngineStore(self._db))

    @cached_property
    def teams(self) -> TeamService:
        """Teams."""
        from studio_tui.application.teams import TeamService
        from studio_tui.state.stores.teams import TeamStore

        return TeamService(teams=TeamStore(self._db))

    @cached_property
    def tags(self) -> TagService:
        """Tags and labels of runs."""
        from studio_tui.application.tags import TagService
        from studio_tui.state.stores.tags import TagStore

        return TagService(tags=TagStore(self._db, self.clock), sidecar=self.sidecar, clock=self.clock)

    @cached_property
    def projects(self) -> ProjectService:
        """Projects."""
        from studio_tui.application.projects import ProjectService
        from studio_tui.state.stores.projects import ProjectStore

        return ProjectService(projects=ProjectStore(self._db, self.clock), sidecar=self.sidecar, clock=self.clock)

    @cached_property
    def attention(self) -> AttentionService:
        """Decisions about what needs attention."""
        from studio_tui.application.attention import AttentionService
        from studio_tui.state.stores.attention import AttentionStore

        return AttentionService(
            attention=AttentionStore(self._db, self.clock), sidecar=self.sidecar, by=self._provenance(), clock=self.clock
        )

    @cached_property
    def approvals(self) -> ApprovalService:
        """Approvals."""
        from studio_tui.application.approvals import ApprovalService
        from studio_tui.state.stores.approvals import ApprovalStore

        return ApprovalService(approvals=ApprovalStore(self._db, self.clock), sidecar=self.sidecar, clock=self.clock)

    @cached_property
    def outbox(self) -> OutboxService:
        """The outbox."""
        from studio_tui.application.outbox import OutboxService
        from studio_tui.state.stores.outbox import OutboxStore

        return OutboxService(
            outbox=OutboxStore(self._db, self.clock),
            transports=self.transports,
            sidecar=self.sidecar,
            by=self._provenance(),
            clock=self.clock,
        )

    @cached_property
    def stats(self) -> StatsService:
        """Figures."""
        from studio_tui.application.stats import StatsService
        from studio_tui.state.stores.stats import StatsStore

        return StatsService(stats=StatsStore(self._db), clock=self.clock)

    @cached_property
    def maintenance(self) -> MaintenanceService:
        """Upkeep of the store."""
        from studio_tui.application.maintenance import MaintenanceService
        from studio_tui.state.stores.admin_events import AdminEventStore
        from studio_tui.state.upkeep import Upkeep

        return MaintenanceService(
            store=Upkeep(self._db),
            events=AdminEventStore(self._db, self.clock),
            host=self.scheduler,
            sidecar=self.sidecar,
            by=self._provenance(),
            clock=self.clock,
        )

    def _provenance(self) -> ActProvenance:
        """Who acts, and from where. What is made on screens is not marked as made on a command line."""
        try:
            actor: str | None = pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            actor = None
        try:
            cwd: str | None = os.getcwd()
        except OSError:
            cwd = None
        return ActProvenance("programmatic" if self._hosts else "cli", actor, cwd)
