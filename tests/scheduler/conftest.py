"""The scheduler's parts over twins: a steered clock, a store in memory, processes that end when told."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from studio_tui.domain.schedules import FiringRecord, ScheduleRecord, Zone
from studio_tui.scheduler.engine import Engine, HostSettings, Outside, assemble
from tests.fakes.clock import NOW, SteeredClock
from tests.fakes.processes import ToldProcess, ToldProcesses
from tests.fakes.scheduler_state import MemorySchedulerState
from tests.processes.waiting import until

UTC = Zone("UTC", "env:TZ")


def a_schedule(name: str = "tick", **columns: Any) -> ScheduleRecord:
    """An interval schedule, due now, whose command does nothing."""
    values: dict[str, Any] = {
        "schedule_id": name,
        "name": name,
        "enabled": True,
        "trigger_type": "interval",
        "interval_sec": 60.0,
        "action_kind": "command",
        "action_command": "true",
        "action_cwd": "/",
        "next_fire_at": NOW,
        "created_at": NOW - 3600,
    }
    return ScheduleRecord(**{**values, **columns})


@dataclass
class Bench:
    """Everything a test of the rules wants to touch."""

    clock: SteeredClock
    state: MemorySchedulerState
    processes: ToldProcesses
    settings: HostSettings
    engine: Engine
    outside: Outside
    may_launch: bool = True
    ends: int = 0

    def assemble(self, **changes: Any) -> Engine:
        """Wire the parts anew, with other settings: a console that starts on what is there."""
        self.settings = replace(self.settings, **changes)
        self.engine = assemble(self.outside, self.settings, may_launch=lambda: self.may_launch, on_end=self._ended)
        return self.engine

    def _ended(self) -> None:
        self.ends += 1
        self.engine.loop.firing_ended()
        self.engine.poller.firing_ended()

    async def due(self, schedule_id: str = "tick") -> str:
        """Evaluate one schedule; the word that came of it."""
        evaluated = await self.engine.occurrences.due(self.state.schedules[schedule_id], self.clock.now())
        return evaluated.word

    async def launched(self, count: int = 1) -> ToldProcess:
        """The newest process, once so many were started."""
        await until(lambda: len(self.processes.launched) >= count)
        return self.processes.launched[-1]

    async def fire_and_end(self, code: int, schedule_id: str = "tick") -> FiringRecord:
        """Fire, let the process end with this code, and answer with the row once all that follows from it is done."""
        count = len(self.processes.launched)
        assert await self.due(schedule_id) == "fired"
        process = await self.launched(count + 1)
        process.end(code)
        await self.engine.supervisor.idle()
        return self.state.firings[process.spec.run_id]

    @property
    def contexts(self) -> list[Mapping[str, object]]:
        return [row.trigger_context for row in self.state.rows()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    clock, state, processes = SteeredClock(), MemorySchedulerState(), ToldProcesses()
    settings = HostSettings(
        zone=UTC,
        scratch=tmp_path / "scratch",
        search_path=os.environ["PATH"],
        python=sys.executable,
        allowed=lambda: {"true", "sh"},
    )
    outside = Outside(state, processes, processes, processes, clock, processes.identity)
    bench = Bench(clock, state, processes, settings, None, outside)  # type: ignore[arg-type]
    bench.assemble()
    return bench
