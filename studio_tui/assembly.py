"""Every part of the program, made when it is first asked for, so that a command pays only for what it uses."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from studio_tui.assembly_services import StoreServices
from studio_tui.changes import Changes, Source
from studio_tui.clock import SystemClock
from studio_tui.settings import whole_environment
from studio_tui.settings_model import Settings
from studio_tui.state.store import Store
from studio_tui.state.urls import url_for_peer

if TYPE_CHECKING:
    from studio_tui.application.definitions import DefinitionService
    from studio_tui.application.doctor import DoctorService
    from studio_tui.application.hosting import HostService
    from studio_tui.application.overview import OverviewService
    from studio_tui.application.ports import LeasePort, SchedulerHostPort
    from studio_tui.application.runs import RunService
    from studio_tui.application.schedule_sets import ScheduleSetService
    from studio_tui.application.schedules import ScheduleService
    from studio_tui.application.shows import ShowService
    from studio_tui.application.store import StoreService
    from studio_tui.domain.schedules import Zone
    from studio_tui.files.definitions import DefinitionFiles
    from studio_tui.files.roots import Roots
    from studio_tui.files.shows import ShowFiles
    from studio_tui.files.transports import TransportFile
    from studio_tui.processes.notes import LaunchNotes
    from studio_tui.processes.runlogs import RunLogs
    from studio_tui.processes.spawn import Processes
    from studio_tui.scheduler.host import SchedulerHost
    from studio_tui.sidecar.store import Sidecar
    from studio_tui.state.stores.scheduling import SchedulingStore

_NO_STORE: Final = "there is no store yet"
_DUE_AT_MOST: Final = 10_000


class Assembly(StoreServices):
    """The parts for one opening of a home.

    ``hosts`` tells whether this process may become the host; ``answer`` is the operator's word on that, ``held_until`` the end of
    a hold as a process sees it that hosts nothing. Both must be set before the first part that needs them is asked for. Services
    have the names that :class:`~studio_tui.application.studio.Studio` gives them. Nothing is opened, started or written by asking
    for a part.
    """

    def __init__(self, settings: Settings, *, hosts: bool, ask_about_missed: bool = False) -> None:
        self.settings = settings
        self.answer: bool | None = settings.scheduler
        self.held_until: float | None = None
        self.clock = SystemClock()
        self.changes = Changes(*(self._sources() if hosts else ()))
        location = settings.db.get_secret_value() if settings.db is not None else None
        self.database = Store(
            location, home=settings.home, read_only=settings.read_only, busy_timeout_ms=settings.busy_timeout_ms
        )
        self._hosts, self._ask_about_missed = hosts, ask_about_missed

    # --- services -----------------------------------------------------------------------------------------------------

    @cached_property
    def runs(self) -> RunService:
        """Runs."""
        from studio_tui.application.runs import RunService
        from studio_tui.state.stores.messages import MessageStore
        from studio_tui.state.stores.runs import RunStore

        db = self.database.db
        return RunService(runs=RunStore(db), messages=MessageStore(db), processes=self.processes, clock=self.clock)

    @cached_property
    def schedules(self) -> ScheduleService:
        """Schedules and their firings."""
        from studio_tui.application.schedules import ScheduleService
        from studio_tui.launch_facts import launch_facts
        from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
        from studio_tui.state.stores.schedules import ScheduleReadStore

        return ScheduleService(
            reads=ScheduleReadStore(self.database.db),
            writes=ScheduleWriteStore(self.database.db),
            host=self.scheduler,
            logs=self.run_logs,
            sidecar=self.sidecar,
            launch=launch_facts(self.settings, self.scheduling),
            zone=self.zone,
            by=self._provenance(),
            clock=self.clock,
        )

    @cached_property
    def schedule_sets(self) -> ScheduleSetService:
        """Declared sets of schedules."""
        from studio_tui.application.schedule_sets import ScheduleSetService
        from studio_tui.files.schedule_sets import SetFiles
        from studio_tui.launch_facts import launch_facts
        from studio_tui.state.stores.schedule_sets import ScheduleSetStore

        return ScheduleSetService(
            sets=ScheduleSetStore(self.database.db),
            files=SetFiles(Path.home()),
            host=self.scheduler,
            sidecar=self.sidecar,
            launch=launch_facts(self.settings, self.scheduling),
            zone=self.zone,
            by=self._provenance(),
            clock=self.clock,
        )

    @cached_property
    def shows(self) -> ShowService:
        """Shows and plays."""
        from studio_tui.application.shows import ShowService
        from studio_tui.state.stores.shows import ShowStore

        return ShowService(reads=ShowStore(self.database.db), files=self.show_files, clock=self.clock)

    @cached_property
    def definitions(self) -> DefinitionService:
        """Definitions and workflows."""
        from studio_tui.application.definitions import DefinitionService
        from studio_tui.state.stores.definitions import DefinitionStore

        return DefinitionService(files=self.definition_files, history=DefinitionStore(self.database.db))

    @cached_property
    def host(self) -> HostService:
        """Who hosts the scheduler."""
        from studio_tui.application.hosting import HostService

        return HostService(
            host=self.scheduler,
            sidecar=self.sidecar,
            clock=self.clock,
            due=lambda until: self.scheduling.list_due(until, limit=_DUE_AT_MOST),
        )

    @cached_property
    def store(self) -> StoreService:
        """The store as a whole."""
        from studio_tui.application.store import StoreService

        return StoreService(store=self.database, changes=self.changes, home=str(self.settings.home))

    @cached_property
    def overview(self) -> OverviewService:
        """The figures of the header."""
        from studio_tui.application.overview import OverviewService
        from studio_tui.state.stores.overview import OverviewStore
        from studio_tui.state.stores.schedules import ScheduleReadStore
        from studio_tui.state.stores.shows import ShowStore

        db = self.database.db
        return OverviewService(
            reads=OverviewStore(db),
            schedules=ScheduleReadStore(db),
            shows=ShowStore(db),
            show_files=self.show_files,
            processes=self.processes,
            zone=self.zone,
            clock=self.clock,
        )

    @cached_property
    def doctor(self) -> DoctorService:
        """The doctor."""
        from studio_tui.application.doctor import DoctorService
        from studio_tui.probes import doctor_probes

        probes = doctor_probes(self.settings, self.database, self.roots, self.transports)
        return DoctorService(store=self.database, host=self.scheduler, zone=self.zone, probes=probes)

    # --- adapters -----------------------------------------------------------------------------------------------------

    @cached_property
    def zone(self) -> Zone:
        """Where cron expressions without a zone are read. Raises :class:`ValidationFailure` when that cannot be known."""
        return self.settings.zone()

    @cached_property
    def sidecar(self) -> Sidecar:
        """Answers and journal."""
        from studio_tui.sidecar.store import Sidecar

        return Sidecar(self.settings.own_directory)

    @cached_property
    def roots(self) -> Roots:
        """Where definitions and shows lie."""
        from studio_tui.files.roots import Roots

        return Roots.of(self.settings.home, self.settings.shows_root)

    @cached_property
    def definition_files(self) -> DefinitionFiles:
        """Definitions on disk."""
        from studio_tui.files.definitions import DefinitionFiles

        return DefinitionFiles(self.roots)

    @cached_property
    def show_files(self) -> ShowFiles:
        """Shows on disk."""
        from studio_tui.files.shows import ShowFiles

        return ShowFiles(self.roots)

    @cached_property
    def scheduling(self) -> SchedulingStore:
        """The scheduler's seam to the store."""
        from studio_tui.state.stores.scheduling import SchedulingStore

        return SchedulingStore(self.database.db, self.clock)

    @cached_property
    def processes(self) -> Processes:
        """Processes of this machine."""
        from studio_tui.processes.spawn import Processes

        environment = self.settings.child_environment(self._store_url())
        return Processes(logs=self.run_logs, notes=self.launch_notes, environment=environment)

    # --- the scheduler ------------------------------------------------------------------------------------------------

    @cached_property
    def scheduler(self) -> SchedulerHostPort:
        """The scheduler as the operations see it: the host, or a look at whoever is."""
        if self._hosts:
            return self.scheduler_host
        from studio_tui.observer import ObservedHost

        return ObservedHost(
            self.scheduler_host,
            self.lease,
            answer=self.answer,
            obstacle=self.obstacle,
            peer_runs=self._peer_runs,
            held_until=self.held_until,
        )

    @cached_property
    def scheduler_host(self) -> SchedulerHost:
        """What fires schedules once it is started."""
        from studio_tui.application.hold import Hold
        from studio_tui.launch_facts import allowed_commands, deadline_of
        from studio_tui.processes.commands import Commands
        from studio_tui.processes.liveness import own_identity
        from studio_tui.scheduler.engine import HostSettings, Outgoing, Outside
        from studio_tui.scheduler.host import SchedulerHost
        from studio_tui.scheduler.neighbour import peer_answers
        from studio_tui.scheduler.reaping import ReapAfter, Upkeep
        from studio_tui.state.stores.notices import NoticeStore
        from studio_tui.state.stores.outbox_delivery import OutboxDeliveryStore
        from studio_tui.state.stores.reaping import ReapingStore
        from studio_tui.state.stores.statuses import StatusStore

        settings = self.settings
        outside = Outside(
            state=self.scheduling,
            processes=self.processes,
            notes=self.launch_notes,
            logs=self.run_logs,
            clock=self.clock,
            identity=own_identity(),
            upkeep=Upkeep(ReapingStore(self.database.db), StatusStore(self.database.db, self.clock), self.show_files),
            outgoing=Outgoing(
                outbox=OutboxDeliveryStore(self.database.db, self.clock),
                notices=NoticeStore(self.database.db, self.clock),
                transports=self.transports,
                commands=Commands(lambda: settings.child_environment(None)),
            ),
        )
        host_settings = HostSettings(
            zone=self.zone,
            scratch=self._firings.with_name("flows"),
            search_path=settings.search_path(),
            python=sys.executable,
            slots=settings.max_scheduled_concurrent,
            deadline=lambda kind: deadline_of(settings, kind),
            allowed=lambda: allowed_commands(settings),
            fallback_cwd=str(settings.scheduler_cwd) if settings.scheduler_cwd is not None else None,
            ask_about_missed=self._ask_about_missed,
            github_api=settings.github_api,
            environment=lambda: {**whole_environment(), "PATH": settings.search_path()},
            reap_after=ReapAfter(
                run=settings.phantom_stale_hours * 3600,
                play=settings.play_stale_hours * 3600,
                show=settings.show_stale_hours * 3600,
                firing=settings.schedule_run_stale_hours * 3600,
                no_runs=settings.zero_session_grace_seconds,
                every=settings.reaper_interval_seconds,
            ),
        )
        return SchedulerHost(
            outside,
            lease=self.lease,
            settings=host_settings,
            answer=self.answer,
            obstacle=self.obstacle,
            peer_runs=self._peer_runs,
            peer_near=lambda: peer_answers(settings.studio_port),
            hold=Hold(self.sidecar, self.clock).until,
        )

    @cached_property
    def lease(self) -> LeasePort:
        """The right to host: a lock on a file beside the store, or one of the database server."""
        from studio_tui.processes.liveness import alive, own_identity

        label = "studio-tui" if sys.stdout is not None and sys.stdout.isatty() else "studio-tui scheduler"
        if (path := self.database.path) is None:
            from studio_tui.state.server_lease import ServerLease

            return ServerLease(self.database.db.url, identity=own_identity(), label=label, now=self.clock.now)
        from studio_tui.scheduler.lease import FileLease

        return FileLease(path, identity=own_identity(), label=label, now=self.clock.now, alive=alive)

    @cached_property
    def run_logs(self) -> RunLogs:
        """What firings wrote."""
        from studio_tui.processes.runlogs import RunLogs

        return RunLogs(self._firings)

    @cached_property
    def launch_notes(self) -> LaunchNotes:
        """Which processes firings became."""
        from studio_tui.processes.notes import LaunchNotes

        return LaunchNotes(self._firings)

    @cached_property
    def transports(self) -> TransportFile:
        """Which command carries messages."""
        from studio_tui.files.transports import TransportFile

        return TransportFile(Path.home())

    def obstacle(self) -> str | None:
        """Why the store cannot be hosted now, or ``None``."""
        condition = self.database.condition()
        return None if condition.mode == "ready" else condition.reason or _NO_STORE

    def _peer_runs(self) -> bool:
        from studio_tui.scheduler.lease import peer_daemon_listens

        # The daemon of a store on a server has its socket in the home (lionagi 0.36).
        return peer_daemon_listens(self.database.path or self.settings.home / "state.db")

    @property
    def may_have_fired(self) -> bool:
        """Whether anybody asked for the part that fires."""
        return "scheduler_host" in vars(self)

    def _sources(self) -> tuple[Source, ...]:
        return (
            Source(frozenset({"store"}), self._store_changes),
            Source(frozenset({"definitions", "shows"}), self._root_changes),
        )

    def _store_changes(self) -> AbstractAsyncContextManager[AsyncIterator[frozenset[str]]]:
        from studio_tui.state.changes import StoreWatch

        return StoreWatch(self.database)

    def _root_changes(self) -> AbstractAsyncContextManager[AsyncIterator[frozenset[str]]]:
        from studio_tui.files.watch import RootWatch

        return RootWatch(self.roots)

    @property
    def _firings(self) -> Path:
        """Beside the store, as the lease is: every host of one store must find what the last one launched."""
        path = self.database.path
        return (path.parent if path is not None else self.settings.home) / "studio-tui" / "logs" / "firings"

    def _store_url(self) -> str | None:
        """The store's full address for children, if somebody chose one."""
        if self.settings.db_source is None:
            return None
        path = self.database.path
        return url_for_peer(self.database.db.url) if path is None else f"sqlite+aiosqlite:///{path.absolute()}"
