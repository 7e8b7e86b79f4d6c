"""The parts that fire schedules, wired to one another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from studio_tui.application.ports import Clock, LaunchNotePort, ProcessPort, RunLogPort, SchedulerStateService
from studio_tui.application.ports.commands import CommandPort, TransportPort
from studio_tui.application.ports.notices import NoticePort
from studio_tui.application.ports.outbox import OutboxDeliveryPort
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.schedules import Zone
from studio_tui.scheduler.admission import Admission
from studio_tui.scheduler.adoption import Adopter
from studio_tui.scheduler.carrying import Carrier
from studio_tui.scheduler.contract import DEFAULT_DEADLINE, DEFAULT_SLOTS
from studio_tui.scheduler.deliveries import Deliveries
from studio_tui.scheduler.ending import Endings
from studio_tui.scheduler.errands import Errands
from studio_tui.scheduler.launcher import Launcher
from studio_tui.scheduler.loop import EvaluationLoop
from studio_tui.scheduler.missed import MissedFires
from studio_tui.scheduler.notify import Notices
from studio_tui.scheduler.polls.github import GitHub
from studio_tui.scheduler.polls.http import Http, Patience
from studio_tui.scheduler.polls.occurrence import EventOccurrences
from studio_tui.scheduler.polls.poller import Poller
from studio_tui.scheduler.polls.queue import EventQueue
from studio_tui.scheduler.polls.tokens import Tokens
from studio_tui.scheduler.reaping import ReapAfter, Reapers, Upkeep
from studio_tui.scheduler.recovery import Recovery
from studio_tui.scheduler.rivals import Rivals
from studio_tui.scheduler.supervision import Supervisor


@dataclass(frozen=True, slots=True)
class HostSettings:
    """What the scheduler of this process goes by.

    ``slots`` 0 is no limit; ``deadline`` gives seconds by kind of action; ``search_path`` is the PATH in which executables are
    looked for and ``python`` the interpreter beside which ``li`` may lie; ``allowed`` answers afresh which commands may run;
    ``github_api`` is where GitHub is asked, with what ``patience``, and ``environment`` answers afresh where its token may stand;
    ``fallback_cwd`` is for schedules that name no directory; ``scratch`` holds flow files while they run;
    ``ask_about_missed`` waits for a person before missed instants are settled; ``beside_peer`` hosts although a daemon of the
    peer runs; ``reap_after`` says how long rows may stay open in silence.
    """

    zone: Zone
    scratch: Path
    search_path: str | None
    python: str
    slots: int = DEFAULT_SLOTS
    deadline: Callable[[str], float] = lambda kind: DEFAULT_DEADLINE
    allowed: Callable[[], Collection[str]] = frozenset
    fallback_cwd: str | None = None
    ask_about_missed: bool = False
    beside_peer: bool = False
    github_api: str = "https://api.github.com"
    patience: Patience = field(default_factory=Patience)
    environment: Callable[[], Mapping[str, str]] = dict
    reap_after: ReapAfter = field(default_factory=ReapAfter)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What is told to others, and by which commands."""

    outbox: OutboxDeliveryPort
    notices: NoticePort
    transports: TransportPort
    commands: CommandPort


@dataclass(frozen=True, slots=True)
class Outside:
    """What the scheduler is connected to; ``identity`` is this process. Without ``upkeep`` there are no reapers, without
    ``outgoing`` nothing is told to anybody."""

    state: SchedulerStateService
    processes: ProcessPort
    notes: LaunchNotePort
    logs: RunLogPort
    clock: Clock
    identity: ProcessIdentity
    upkeep: Upkeep | None = None
    outgoing: Outgoing | None = None


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts that the host speaks to. ``closing`` is set when this process shuts down."""

    closing: asyncio.Event
    supervisor: Supervisor
    occurrences: EventOccurrences
    poller: Poller
    recovery: Recovery
    loop: EvaluationLoop
    rivals: Rivals
    reapers: Reapers | None
    errands: tuple[Errands[Any], ...] = ()

    def wake(self) -> None:
        """Look again now: a schedule was changed, or the clock set."""
        self.loop.wake()
        self.poller.wake()
        for errands in self.errands:
            errands.wake()

    def firing_ended(self) -> None:
        """What waited for a firing to end may go on."""
        self.loop.firing_ended()
        self.poller.firing_ended()
        for errands in self.errands:
            errands.wake_soon()


def new_id() -> str:
    """An id as lionagi makes them for firings and invocations: 12 hexadecimal digits."""
    return uuid4().hex[:12]


def assemble(
    outside: Outside,
    settings: HostSettings,
    *,
    may_launch: Callable[[], bool],
    on_end: Callable[[], None],
    held: Callable[[], float | None] = lambda: None,
    hosts: Callable[[], bool] = lambda: True,
) -> Engine:
    """Wire the parts. ``may_launch`` answers whether due instants are this process's to fire now, ``hosts`` whether it hosts at
    all, ``held`` until when the operator holds firing; ``on_end`` hears of each end."""
    state, clock, closing = outside.state, outside.clock, asyncio.Event()
    supervisor, rivals = Supervisor(closing=closing, on_end=on_end), Rivals(state, clock)
    admission = Admission(state, slots=settings.slots)
    launcher = Launcher(
        state,
        search_path=settings.search_path,
        python=settings.python,
        allowed=settings.allowed,
        fallback_cwd=settings.fallback_cwd,
        scratch=settings.scratch,
    )
    endings = Endings(
        state=state,
        notes=outside.notes,
        logs=outside.logs,
        launcher=launcher,
        admission=admission,
        clock=clock,
        new_id=new_id,
        closing=closing,
    )
    carrier = Carrier(
        state=state,
        processes=outside.processes,
        launcher=launcher,
        endings=endings,
        supervisor=supervisor,
        clock=clock,
        deadline=settings.deadline,
        may_launch=may_launch,
        held=held,
    )
    occurrences = EventOccurrences(
        state=state,
        admission=admission,
        launcher=launcher,
        carrier=carrier,
        endings=endings,
        clock=clock,
        zone=settings.zone,
        new_id=new_id,
        may_launch=may_launch,
        rivals=rivals,
    )
    adopter = Adopter(
        processes=outside.processes,
        endings=endings,
        carrier=carrier,
        supervisor=supervisor,
        clock=clock,
        deadline=settings.deadline,
    )
    recovery = Recovery(
        state=state,
        processes=outside.processes,
        notes=outside.notes,
        occurrences=occurrences,
        adopter=adopter,
        supervisor=supervisor,
        clock=clock,
        zone=settings.zone,
        identity=outside.identity,
        rivals=rivals,
    )
    github = GitHub(
        settings.github_api,
        http=Http(settings.github_api, settings.patience),
        tokens=Tokens(settings.environment, settings.github_api),
        clock=clock,
    )
    poller = Poller(
        state=state,
        github=github,
        queue=EventQueue(state, occurrences, clock),
        clock=clock,
        may_launch=lambda: may_launch() and not loop.missed,  # while a person is asked what to make up for, nothing is
    )
    loop = EvaluationLoop(
        state=state,
        occurrences=occurrences,
        admission=admission,
        missed=MissedFires(state=state, occurrences=occurrences, clock=clock, zone=settings.zone, new_id=new_id),
        recovery=recovery,
        clock=clock,
        zone=settings.zone,
        ask_about_missed=settings.ask_about_missed,
        held=held,
    )
    reapers = None
    if outside.upkeep is not None:
        reapers = Reapers(
            outside.upkeep,
            processes=outside.processes,
            notes=outside.notes,
            clock=clock,
            identity=outside.identity,
            after=settings.reap_after,
            deadline=settings.deadline,
            looks_after=supervisor.looks_after,
        )
    errands = () if outside.outgoing is None else _errands(outside.outgoing, clock, hosts)
    return Engine(closing, supervisor, occurrences, poller, recovery, loop, rivals, reapers, errands)


def _errands(outgoing: Outgoing, clock: Clock, hosts: Callable[[], bool]) -> tuple[Errands[Any], ...]:
    """What is done beside firing."""
    deliveries = Deliveries(outgoing.outbox, outgoing.transports, outgoing.commands)
    notices = Notices(outgoing.notices, outgoing.commands)
    return (
        Errands("deliveries", deliveries, clock=clock, hosts=hosts),
        Errands("notices", notices, clock=clock, hosts=hosts),
    )
