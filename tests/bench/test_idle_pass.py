"""A pass with nothing due reads as much of a store with thousands of schedules as of one with a few.

Counted are the steps of SQLite's own machine, not time: they are the same on every computer.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.dialects import sqlite

from studio_tui.domain.schedules import Zone
from studio_tui.scheduler.engine import Engine, HostSettings, Outside, assemble
from studio_tui.state.schema import schedules
from studio_tui.state.store import Store
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.builders import put
from tests.fakes.clock import NOW, SteeredClock
from tests.fakes.processes import ToldProcesses

FEW, MANY = 20, 2_000
THRESHOLD = {"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": 60}


def _row(name: str, number: int, **columns: Any) -> dict[str, Any]:
    due = NOW + 60 + number
    row = {
        "id": f"{name}{number}",
        "name": f"{name} {number}",
        "enabled": 1,
        "next_fire_at": due,
        "created_at": NOW,
        "updated_at": NOW,
    }
    return {**row, "action_kind": "command", "action_command": "true", **columns}


async def _fill(store: Store, count: int) -> None:
    polls = [
        _row(
            "poll",
            n,
            trigger_type="github_poll",
            github_repo="acme/web",
            poll_interval_sec=300,
            interval_sec=None,
            threshold_config=None,
        )
        for n in range(count)
    ]
    alarms = [
        _row(
            "alarm",
            n,
            trigger_type="interval",
            github_repo=None,
            poll_interval_sec=None,
            interval_sec=3600,
            threshold_config=THRESHOLD,
        )
        for n in range(count)
    ]
    await put(store.db, schedules, [row for pair in zip(polls, alarms, strict=True) for row in pair])


class _Asked(SchedulingStore):
    """Keeps what is asked, and how many rows came."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.db, SteeredClock())
        self.asked: list[tuple[Executable, Mapping[str, object], int]] = []

    async def _rows(self, statement: Executable, values: Mapping[str, object]) -> Sequence[Sequence[Any]]:
        rows = await super()._rows(statement, values)
        self.asked.append((statement, values, len(rows)))
        return rows


def _engine(state: SchedulingStore, scratch: Path) -> Engine:
    processes = ToldProcesses()
    settings = HostSettings(zone=Zone("UTC", "env:TZ"), scratch=scratch, search_path="", python=sys.executable)
    outside = Outside(state, processes, processes, processes, SteeredClock(), processes.identity)
    return assemble(outside, settings, may_launch=lambda: True, on_end=lambda: None)


def _steps(path: Path, statement: Executable, values: Mapping[str, object]) -> int:
    """How many steps SQLite's machine takes for a statement."""
    compiled = statement.compile(dialect=sqlite.dialect()).construct_expanded_state(dict(values))  # type: ignore[attr-defined]
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with closing(sqlite3.connect(path)) as connection:
        connection.set_progress_handler(step, 1)
        connection.execute(compiled.statement, compiled.positional_parameters).fetchall()
    return count


async def _pass(home: Path, count: int) -> tuple[int, int, int]:
    """Statements, rows and steps of one pass over what is due and of one look for polls."""
    home.mkdir()
    store = Store(None, home=home)
    await store.open()
    await store.create()
    await _fill(store, count)
    state = _Asked(store)
    engine = _engine(state, home)
    assert await engine.loop.evaluate() == NOW + 30
    assert await engine.poller.look() == NOW + 30
    assert engine.loop.next_due_at == NOW + 60
    assert store.path is not None
    steps = sum(_steps(store.path, statement, values) for statement, values, _ in state.asked)
    await store.close()
    return len(state.asked), sum(rows for *_, rows in state.asked), steps


async def test_an_idle_pass_touches_as_much_of_thousands_as_of_a_few(tmp_path: Path, record_property: Any) -> None:
    few, many = await _pass(tmp_path / "few", FEW), await _pass(tmp_path / "many", MANY)
    record_property("statements, rows, steps", many)
    assert many == few
    assert many[1] == 1, "the next instant, and no schedule"


def test_a_walk_over_all_would_be_noticed(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE schedules (id TEXT)")
        connection.executemany("INSERT INTO schedules VALUES (?)", [(str(n),) for n in range(MANY)])
        connection.commit()
    from sqlalchemy import column, select, table

    assert _steps(path, select(column("id")).select_from(table("schedules")), {}) > MANY
