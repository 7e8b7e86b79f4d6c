"""Processes that start when asked and end when told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from studio_tui.application.ports import LaunchNote, LaunchSpec, OutputTail, StopReport
from studio_tui.domain.identity import ProcessIdentity

HERE = "here"
BOOT = 1_773_000_000.0


def an_identity(pid: int, created_at: float = 1_773_285_000.0) -> ProcessIdentity:
    return ProcessIdentity(pid, created_at, HERE, BOOT)


@dataclass
class ToldProcess:
    """Implements ``LaunchedProcess``."""

    spec: LaunchSpec
    identity: ProcessIdentity
    owner: ToldProcesses
    code: asyncio.Future[int]
    released: bool = False
    terminated: bool = False

    async def wait(self) -> int:
        return await asyncio.shield(self.code)

    async def terminate(self, *, grace: float) -> StopReport:
        self.terminated = True
        self.end(-15)
        return self.owner.report

    def release(self) -> None:
        self.released = True
        self.owner.release(self.spec.run_id)

    def end(self, code: int) -> None:
        """The process ends."""
        if not self.code.done():
            self.code.set_result(code)
        self.owner.living.discard(self.identity)


@dataclass
class ToldProcesses:
    """Implements ``ProcessPort``, ``LaunchNotePort`` and ``RunLogPort`` in memory.

    ``at_once`` is the exit code with which everything ends right away; ``refuse`` is raised instead of starting something;
    ``on_launch`` is called before; ``unknown`` lists identities that cannot be judged.
    """

    identity: ProcessIdentity = field(default_factory=lambda: an_identity(1))
    at_once: int | None = None
    refuse: OSError | None = None
    on_launch: Callable[[LaunchSpec], None] = lambda spec: None
    report: StopReport = field(default_factory=StopReport)
    launched: list[ToldProcess] = field(default_factory=list)
    living: set[ProcessIdentity] = field(default_factory=set)
    unknown: set[ProcessIdentity] = field(default_factory=set)
    stopped: list[ProcessIdentity] = field(default_factory=list)
    notes: dict[str, LaunchNote] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)
    output: dict[str, OutputTail] = field(default_factory=dict)
    trimmed: list[str] = field(default_factory=list)

    async def launch(self, spec: LaunchSpec) -> ToldProcess:
        await asyncio.sleep(0)
        self.on_launch(spec)
        if self.refuse is not None:
            raise self.refuse
        identity = an_identity(100 + len(self.launched))
        process = ToldProcess(spec, identity, self, asyncio.get_running_loop().create_future())
        self.launched.append(process)
        self.living.add(identity)
        self.notes[spec.run_id] = LaunchNote(spec.run_id, 0.0, identity, self.identity)
        if self.at_once is not None:
            process.end(self.at_once)
        return process

    def alive(self, identity: ProcessIdentity) -> bool | None:
        return None if identity in self.unknown else identity in self.living

    async def stop(self, identity: ProcessIdentity, *, grace: float) -> StopReport:
        self.stopped.append(identity)
        self.living.discard(identity)
        return self.report

    def recall(self, run_id: str) -> LaunchNote | None:
        return self.notes.get(run_id)

    def forget(self, run_id: str) -> None:
        self.forgotten.append(run_id)
        self.notes.pop(run_id, None)

    def release(self, run_id: str) -> None:
        note = self.notes[run_id]
        self.notes[run_id] = LaunchNote(run_id, note.at, note.identity, None)

    def trim(self, run_id: str) -> bool:
        self.trimmed.append(run_id)
        return False

    def tail(self, run_id: str, *, limit: int) -> OutputTail | None:
        return self.output.get(run_id)
