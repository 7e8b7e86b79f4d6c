"""Records in one line: everything that a test does not name is plain and valid."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from studio_tui.application.launching import LaunchFacts, LaunchPreview
from studio_tui.application.models.schedules import CreateSchedule, IntervalTrigger, ScheduleAction
from studio_tui.application.ports import ActProvenance
from studio_tui.application.runs import RunService
from studio_tui.application.schedules import ScheduleService
from studio_tui.domain.runs import BranchRecord, MessageRecord, RunRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord, Zone
from tests.fakes.ports import (
    NOW,
    FakeHost,
    FakeProcesses,
    HeldClock,
    MemoryLogs,
    MemoryMessages,
    MemoryRuns,
    MemorySchedules,
    MemorySidecar,
)

BERLIN = Zone("Europe/Berlin", "env:TZ")


def a_run(run_id: str = "run-1", **fields: Any) -> RunRecord:
    """A run that ended well a minute ago."""
    plain = {"created_at": NOW - 120, "updated_at": NOW - 60, "status": "completed", "kind": "agent", "agent_name": "helper"}
    return RunRecord(run_id=run_id, **{**plain, "started_at": NOW - 120, "ended_at": NOW - 60, **fields})


def a_branch(branch_id: str = "branch-1", run_id: str = "run-1", **fields: Any) -> BranchRecord:
    plain = {"name": None, "agent_name": "helper", "model": None, "provider": None, "status": None, "created_at": NOW - 120}
    ends = {"started_at": None, "ended_at": None, "progression_id": "progression-1", "system_message_id": None}
    return BranchRecord(branch_id=branch_id, run_id=run_id, **{**plain, **ends, **fields})


def a_message(message_id: str, lion_class: str = "AssistantResponse", content: Any = None, **fields: Any) -> MessageRecord:
    """A message of a class; without content an answer that says its own id."""
    body = {"assistant_response": message_id} if content is None else content
    plain = {"created_at": NOW - 60, "role": "assistant", "sender": "helper", "recipient": None, "size_bytes": 10}
    return MessageRecord(
        message_id=message_id,
        lion_class=f"lionagi.protocols.messages.{lion_class}",
        **{**plain, "content": body, **fields},
    )


def a_schedule(schedule_id: str = "schedule-1", name: str = "tidy", **fields: Any) -> ScheduleRecord:
    """A schedule that runs a command every minute and is due in 30 s."""
    plain = {
        "enabled": True,
        "trigger_type": "interval",
        "action_kind": "command",
        "interval_sec": 60,
        "action_command": "true",
        "next_fire_at": NOW + 30,
        "created_at": NOW - 3_600,
        "updated_at": NOW - 3_600,
    }
    return ScheduleRecord(schedule_id=schedule_id, name=name, **{**plain, **fields})


def a_firing(run_id: str = "firing-1", ago: float = 60, **fields: Any) -> FiringRecord:
    """A firing that ended well, so many seconds ago."""
    plain = {"schedule_id": "schedule-1", "invocation_id": "invocation-1", "status": "completed", "action_kind": "command"}
    times = {"fired_at": NOW - ago, "dispatched_at": NOW - ago, "ended_at": NOW - ago + 2}
    return FiringRecord(run_id=run_id, **{**plain, **times, **fields})


def a_command(name: str = "tidy", **fields: Any) -> CreateSchedule:
    """A command that makes a schedule which runs ``echo`` every minute."""
    action = ScheduleAction(kind="command", command="echo", command_args=("hello",), cwd="/srv")
    return CreateSchedule(**{"name": name, "trigger": IntervalTrigger(seconds=60), "action": action, **fields})


@dataclass
class Runs:
    """A run service on twins."""

    clock: HeldClock = field(default_factory=HeldClock)
    runs: MemoryRuns = field(default_factory=MemoryRuns)
    messages: MemoryMessages = field(default_factory=MemoryMessages)
    processes: FakeProcesses = field(default_factory=FakeProcesses)

    @property
    def service(self) -> RunService:
        return RunService(runs=self.runs, messages=self.messages, processes=self.processes, clock=self.clock)


@dataclass
class Schedules:
    """A schedule service on twins. ``refusal`` is what the launch would say; ``directories`` are those that exist, ``roots``
    those of projects."""

    clock: HeldClock = field(default_factory=HeldClock)
    port: MemorySchedules = field(default_factory=MemorySchedules)
    host: FakeHost = field(default_factory=FakeHost)
    logs: MemoryLogs = field(default_factory=MemoryLogs)
    sidecar: MemorySidecar = field(default_factory=MemorySidecar)
    allowed: set[str] = field(default_factory=lambda: {"echo", "true"})
    directories: set[str] = field(default_factory=lambda: {"/srv"})
    roots: dict[str, str] = field(default_factory=dict)
    refusal: str | None = None
    origin: str = "cli"
    zone: Zone = BERLIN

    @property
    def by(self) -> ActProvenance:
        return ActProvenance(origin=self.origin, actor="ann", cwd="/srv")

    @property
    def service(self) -> ScheduleService:
        return ScheduleService(
            reads=self.port,
            writes=self.port,
            host=self.host,
            logs=self.logs,
            sidecar=self.sidecar,
            launch=self.facts(),
            zone=self.zone,
            by=self.by,
            clock=self.clock,
        )

    def facts(self) -> LaunchFacts:
        return LaunchFacts(
            preview=self._preview,
            allowed_commands=lambda: self.allowed,
            is_directory=self.directories.__contains__,
            flow_problem=lambda text: None if text.startswith("steps:") else "a flow needs steps",
        )

    async def _preview(self, schedule: ScheduleRecord) -> LaunchPreview:
        directory = schedule.action_cwd or self.roots.get(schedule.action_project or "")
        return LaunchPreview((schedule.action_command or "li", *schedule.action_command_args), directory, self.refusal)
