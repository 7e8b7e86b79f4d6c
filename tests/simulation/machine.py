"""The machine that everything runs on: processes with a script, which outlive the console that started them or die with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Protocol

from studio_tui.application.ports import LaunchNote, LaunchSpec, NotWanted, OutputTail, StopReport
from studio_tui.domain.identity import ProcessIdentity
from tests.simulation.virtual_time import WorldClock

HOST = "machine"
KILLED, TERMINATED = -9, -15


@dataclass(frozen=True)
class Script:
    """What a process will do: run for ``seconds`` and end with ``code``; ``refused`` is why it cannot even start.

    ``stubborn`` ignores TERM. ``starting`` is how many seconds its start takes. ``runs`` are the runs that it records, and
    ``closes`` that it ends its invocation itself, as ``li`` may.
    """

    seconds: float = 1.0
    code: int = 0
    refused: str | None = None
    stubborn: bool = False
    starting: float = 0.0
    runs: tuple[RunScript, ...] = ()
    closes: bool = False


@dataclass(frozen=True)
class RunScript:
    """One run that a process records: how it ends (``None`` never does) and what it reports to have cost."""

    status: str | None
    usd: float | None
    tokens: int


@dataclass(eq=False)
class Process:
    """One process of the machine, from its start to its end."""

    run_id: str
    invocation_id: str
    identity: ProcessIdentity
    supervisor: ProcessIdentity
    script: Script
    began: float
    code: int | None = None
    ended: float | None = None
    recorded: list[str] = field(default_factory=list)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    nudged: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def alive(self) -> bool:
        return self.code is None


class Recorder(Protocol):
    """Writes what a process records in the store while it runs."""

    async def begins(self, process: Process) -> None: ...

    async def ends(self, process: Process) -> None: ...


@dataclass
class Machine:
    """Processes, the notes beside the store, and who of the consoles lives. It stands for kernel and disk."""

    clock: WorldClock
    script: Callable[[LaunchSpec], Script]
    recorder: Recorder
    say: Callable[[str, str], None]
    started: Callable[[Process], None] = lambda process: None
    signalled: Callable[[Process, ProcessIdentity], None] = lambda process, by: None
    processes: dict[int, Process] = field(default_factory=dict)
    launched: dict[str, Process] = field(default_factory=dict)
    notes: dict[str, LaunchNote] = field(default_factory=dict)
    consoles: set[ProcessIdentity] = field(default_factory=set)
    booted: float = 0.0
    _pid: int = 100

    def identity(self) -> ProcessIdentity:
        """A process that did not exist before."""
        self._pid += 1
        return ProcessIdentity(self._pid, self.clock.now(), HOST, self.booted)

    def spawn(self, spec: LaunchSpec, script: Script, supervisor: ProcessIdentity) -> Process:
        """Start one; it lives by itself from now on."""
        invocation = spec.environment.get("LIONAGI_INVOCATION_ID", "")
        process = Process(spec.run_id, invocation, self.identity(), supervisor, script, self.clock.monotonic())
        self.processes[process.identity.pid] = self.launched[process.run_id] = process
        self.say("machine", f"process {process.identity.pid} of {spec.run_id} starts, {script.seconds:.1f} s")
        self.started(process)
        asyncio.get_running_loop().create_task(self._live(process), context=self.outside.copy())
        return process

    def kill(self, process: Process, code: int = KILLED) -> None:
        """It ends now."""
        if process.alive:
            process.code, process.ended = code, self.clock.monotonic()
            process.nudged.set()

    def alive(self, identity: ProcessIdentity) -> bool | None:
        """Whether exactly this process lives."""
        return identity in self.consoles or self._living(identity) is not None

    def of(self, run_id: str) -> Process | None:
        """The process of a firing, dead or alive."""
        return self.launched.get(run_id)

    async def stop(self, identity: ProcessIdentity, *, by: ProcessIdentity, grace: float) -> StopReport:
        """TERM, and KILL after the grace."""
        process = self._living(identity)
        if process is None:
            return StopReport(refused=f"process {identity.pid} has ended")
        self.say("machine", f"TERM to {identity.pid} of {process.run_id}")
        self.signalled(process, by)
        if not process.script.stubborn:
            self.kill(process, TERMINATED)
        try:
            await asyncio.wait_for(process.over.wait(), grace)
        except TimeoutError:
            self.kill(process)
            await process.over.wait()
            return StopReport(killed=1)
        return StopReport()

    async def _live(self, process: Process) -> None:
        await self.recorder.begins(process)
        if process.alive:
            try:
                await asyncio.wait_for(process.nudged.wait(), process.script.seconds)
            except TimeoutError:
                await self.recorder.ends(process)
                self.kill(process, process.script.code)
        self.say("machine", f"process {process.identity.pid} of {process.run_id} ended with {process.code}")
        process.over.set()

    def _living(self, identity: ProcessIdentity) -> Process | None:
        process = self.processes.get(identity.pid)
        return process if process is not None and process.alive and process.identity == identity else None

    def __post_init__(self) -> None:
        self.outside = copy_context()
        self.booted = self.clock.now() - 1000.0


@dataclass
class Started:
    """Implements ``LaunchedProcess`` for the console that started it."""

    process: Process
    machine: Machine

    @property
    def identity(self) -> ProcessIdentity:
        return self.process.identity

    async def wait(self) -> int:
        await self.process.over.wait()
        assert self.process.code is not None
        return self.process.code

    async def terminate(self, *, grace: float) -> StopReport:
        return await self.machine.stop(self.identity, by=self.process.supervisor, grace=grace)

    def release(self) -> None:
        note = self.machine.notes.get(self.process.run_id)
        if note is not None:
            self.machine.notes[self.process.run_id] = LaunchNote(note.run_id, note.at, note.identity, None)


@dataclass
class Launcher:
    """Implements ``ProcessPort``, ``LaunchNotePort`` and ``RunLogPort`` for one console.

    ``passing`` is called at the steps of a launch; the console may stop there.
    """

    machine: Machine
    supervisor: ProcessIdentity
    passing: Callable[[str], Coroutine[Any, Any, None]]

    async def launch(self, spec: LaunchSpec) -> Started:
        machine = self.machine
        await self.passing("before launch")
        script = machine.script(spec)
        if script.starting:
            await asyncio.sleep(script.starting)
        machine.notes[spec.run_id] = LaunchNote(spec.run_id, machine.clock.now(), None, self.supervisor)
        await self.passing("launch noted")
        if not spec.wanted():
            machine.notes.pop(spec.run_id)
            raise NotWanted
        await self.passing("launch noted, no process yet")
        if script.refused is not None:
            machine.notes.pop(spec.run_id)
            raise OSError(2, script.refused)
        process = machine.spawn(spec, script, self.supervisor)
        await self.passing("process started, not noted")
        machine.notes[spec.run_id] = LaunchNote(spec.run_id, machine.clock.now(), process.identity, self.supervisor)
        await self.passing("after launch")
        return Started(process, machine)

    def alive(self, identity: ProcessIdentity) -> bool | None:
        return self.machine.alive(identity)

    async def stop(self, identity: ProcessIdentity, *, grace: float) -> StopReport:
        await self.passing("before stop")
        return await self.machine.stop(identity, by=self.supervisor, grace=grace)

    def recall(self, run_id: str) -> LaunchNote | None:
        note = self.machine.notes.get(run_id)
        if note is None or note.identity is not None:
            return note
        found = self.machine.of(run_id)
        identity = found.identity if found is not None and found.alive else None
        return LaunchNote(run_id, note.at, identity, note.supervisor)

    def forget(self, run_id: str) -> None:
        self.machine.notes.pop(run_id, None)

    def tail(self, run_id: str, *, limit: int) -> OutputTail | None:
        process = self.machine.of(run_id)
        return None if process is None else OutputTail("", f"pid {process.identity.pid} said so"[:limit], 0, 20)

    def trim(self, run_id: str) -> bool:
        return False  # nothing is written that could grow
