"""A process layer over a throw-away directory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from studio_tui.application.ports import LaunchSpec
from studio_tui.processes.notes import LaunchNotes
from studio_tui.processes.runlogs import RunLogs
from studio_tui.processes.spawn import Processes
from studio_tui.processes.stop import marked

DATA = Path(__file__).parent.parent / "data"


@dataclass
class Layer:
    directory: Path
    logs: RunLogs
    notes: LaunchNotes
    processes: Processes

    def spec(self, run_id: str, *argv: str, cwd: str | None = None, **environment: str) -> LaunchSpec:
        return LaunchSpec(run_id, argv, cwd or str(self.directory.parent), environment)


@pytest.fixture
def layer(tmp_path: Path) -> Iterator[Layer]:
    directory = tmp_path / "home" / "studio-tui" / "logs" / "firings"
    logs, notes = RunLogs(directory), LaunchNotes(directory)
    (tmp_path / "home" / "studio-tui" / "logs").mkdir(parents=True)
    yield Layer(directory, logs, notes, Processes(logs=logs, notes=notes, environment=dict(os.environ)))
    for path in directory.glob("*.pid.json"):
        for pid in marked(path.name.removesuffix(".pid.json")):
            os.kill(pid, 9)
    shutil.rmtree(directory, ignore_errors=True)  # the tests write much
