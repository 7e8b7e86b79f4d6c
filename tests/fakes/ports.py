"""In-memory twins of the application's ports: plain collections that answer as the stores do.

Lists, histories and files live in the ``memory_*`` modules beside this one; here are the host, the processes, the store as a
whole and the sidecar, and the names of all of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from studio_tui.application.errors import Conflict
from studio_tui.application.models.state import MigrationPlan, MigrationProgress, MigrationReport, PlannedChange, ProgressListener
from studio_tui.application.ports import HostRecord, LaunchedProcess, LaunchSpec, OutputTail, StopReport, StoreCondition
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.schedules import ScheduleRecord
from tests.fakes.base import NOW, HeldClock, Port
from tests.fakes.memory_files import MemoryDefinitionFiles, MemoryHistory, MemoryShows
from tests.fakes.memory_runs import MemoryMessages, MemoryRuns
from tests.fakes.memory_schedules import MemorySchedules

__all__ = [
    "NOW",
    "FakeHost",
    "FakeProcesses",
    "FakeStore",
    "HeldClock",
    "MemoryDefinitionFiles",
    "MemoryHistory",
    "MemoryLogs",
    "MemoryMessages",
    "MemoryRuns",
    "MemorySchedules",
    "MemoryShows",
    "MemorySidecar",
    "NudgedChanges",
    "Port",
]


@dataclass
class FakeHost(Port):
    """The scheduler's host as a set of figures; what it was told is kept."""

    state: str = "hosting"
    holder: HostRecord | None = None
    reason: str | None = None
    last_pass_at: float | None = None
    restarts: int = 0
    next_due_at: float | None = None
    slots: int = 4
    running: tuple[str, ...] = ()
    missed: tuple[tuple[ScheduleRecord, float], ...] = ()
    held_until: float | None = None
    rival: str | None = None
    poll_words: str | None = None
    wakes: int = 0
    decided: list[bool] = field(default_factory=list)
    settled: list[bool] = field(default_factory=list)
    fired: list[str] = field(default_factory=list)

    async def decide(self, *, host: bool) -> None:
        self._ask("decide")
        self.decided.append(host)

    async def settle_missed(self, *, apply_policies: bool) -> None:
        self._ask("settle_missed")
        self.settled.append(apply_policies)
        self.missed = ()

    def poll_trouble(self, schedule_id: str) -> str | None:
        return self.poll_words

    async def fire_now(self, schedule: ScheduleRecord) -> str:
        self._ask("fire_now")
        self.fired.append(schedule.schedule_id)
        return f"firing-{len(self.fired)}"

    def wake(self) -> None:
        self.wakes += 1


@dataclass
class MemoryLogs(Port):
    """What firings wrote, by run id."""

    written: dict[str, tuple[str, str]] = field(default_factory=dict)

    def tail(self, run_id: str, *, limit: int) -> OutputTail | None:
        self._ask("tail")
        if run_id not in self.written:
            return None
        out, err = self.written[run_id]
        return OutputTail(out[-limit:], err[-limit:], len(out), len(err))


@dataclass
class FakeProcesses(Port):
    """A process table: pids that live, pids that do not, and nothing known of the rest."""

    living: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)

    async def launch(self, spec: LaunchSpec) -> LaunchedProcess:
        raise AssertionError("the application launches nothing")

    def alive(self, identity: ProcessIdentity) -> bool | None:
        self._ask("alive")
        return True if identity.pid in self.living else False if identity.pid in self.dead else None

    async def stop(self, identity: ProcessIdentity, *, grace: float) -> StopReport:
        raise AssertionError("the application stops nothing")


@dataclass
class FakeStore(Port):
    """The store as a whole."""

    now: StoreCondition = field(default_factory=lambda: StoreCondition("ready", "state.db", version="4"))
    lacks: tuple[PlannedChange, ...] = ()

    def condition(self) -> StoreCondition:
        return self.now

    async def create(self) -> None:
        self._ask("create")
        if self.now.mode != "missing":
            raise Conflict("store", expected="no store", actual="a store", message="there is a store already")
        self.now = StoreCondition("ready", self.now.label, version="4")

    async def plan(self) -> MigrationPlan:
        self._ask("plan")
        return MigrationPlan(label=self.now.label, version="3", changes=self.lacks)

    async def migrate(self, listen: ProgressListener | None) -> MigrationReport:
        self._ask("migrate")
        if listen is not None:
            listen(MigrationProgress(step="all", done=0, total=len(self.lacks)))
        self.now = StoreCondition("ready", self.now.label, version="4")
        return MigrationReport(label=self.now.label, changes=self.lacks)


@dataclass
class MemorySidecar(Port):
    """Kept answers and the journal."""

    kept: dict[str, str] = field(default_factory=dict)
    notes: list[dict[str, Any]] = field(default_factory=list)

    async def get(self, key: str) -> str | None:
        self._ask("get")
        return self.kept.get(key)

    async def put(self, key: str, value: str) -> None:
        self._ask("put")
        self.kept[key] = value

    async def journal(self, *, at: float, act: str, target: str, result: str, detail: Mapping[str, object]) -> None:
        self._ask("journal")
        self.notes.append({"at": at, "act": act, "target": target, "result": result, "detail": dict(detail)})


@dataclass
class NudgedChanges:
    """A change feed that only says what it was told to say."""

    nudged: list[str] = field(default_factory=list)

    async def subscribe(self) -> AsyncIterator[frozenset[str]]:
        for topic in self.nudged:
            yield frozenset({topic})
        await asyncio.Event().wait()

    def nudge(self, topic: str) -> None:
        self.nudged.append(topic)
