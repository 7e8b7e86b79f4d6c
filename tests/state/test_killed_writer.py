"""A writer is killed at random moments: the store stays whole, no status is half written, and what was answered is stored.

``--kills N`` kills it more often; ``--kill-seed S`` at the moments of an earlier run.
"""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from studio_tui.state.db import StateDB
from studio_tui.state.stores.approvals import ApprovalStore
from tests.fakes.clock import SteeredClock
from tests.postgres import Server
from tests.state.files import make_native_file

LARGEST = 3
"""Lines of history that one change has at most: the change under way may be stored without having been answered."""

_LINE = "entity_type || ' ' || entity_id AS what, created_at, status, previous_status, reason_code, reason_summary"
_ORDERED = (
    f"SELECT {_LINE}, LAG(status) OVER history AS before, LEAD(status) OVER history AS after"
    " FROM status_transitions WINDOW history AS (PARTITION BY entity_type, entity_id ORDER BY created_at)"
)
_ROWS = " UNION ALL ".join(
    f"SELECT '{entity} ' || id AS what, status, status_reason_code AS code, status_reason_summary AS summary FROM {table}"
    for entity, table in (("session", "sessions"), ("invocation", "invocations"), ("schedule_run", "schedule_runs"))
)
FAULTS = {
    "a row that is not as its last line says": (
        f"SELECT r.what FROM ({_ROWS}) AS r LEFT JOIN ({_ORDERED}) AS l ON l.what = r.what AND l.after IS NULL"
        " WHERE l.status IS NULL OR l.status <> r.status OR l.reason_code <> r.code OR l.reason_summary <> r.summary"
    ),
    "a line that does not follow the one before": (
        f"SELECT what FROM ({_ORDERED}) AS l WHERE coalesce(previous_status, '') <> coalesce(before, '')"
    ),
    "a schedule that is not as its last line says": (
        f"SELECT s.id AS what FROM schedules AS s LEFT JOIN ({_ORDERED}) AS l ON l.what = 'schedule ' || s.id AND l.after IS NULL"
        " WHERE coalesce(l.status, '') <> CASE s.enabled WHEN 1 THEN 'enabled' ELSE 'disabled' END"
    ),
    "a firing whose invocation is another way": (
        "SELECT r.id AS what FROM schedule_runs AS r LEFT JOIN invocations AS i ON i.id = r.invocation_id"
        " WHERE coalesce(i.status, '') <> r.status"
    ),
    "an instant that was claimed without a firing": (
        "SELECT s.id AS what FROM schedules AS s LEFT JOIN schedule_runs AS r ON r.schedule_id = s.id"
        " WHERE (s.next_fire_at IS NULL) <> (r.id IS NOT NULL)"
    ),
    "an end without its instant": "SELECT id AS what FROM sessions WHERE status <> 'running' AND ended_at IS NULL",
    "an override without its event": (
        "SELECT l.what FROM (SELECT entity_type || ' ' || entity_id AS what, entity_id FROM status_transitions"
        " WHERE previous_status = 'completed') AS l LEFT JOIN admin_events AS e ON e.target_id = l.entity_id WHERE e.id IS NULL"
    ),
    "an approval that is not as its evidence says": (
        "SELECT a.id AS what FROM approvals AS a"
        " LEFT JOIN approval_evidence AS e ON e.approval_id = a.id AND e.status_to = a.status WHERE e.id IS NULL"
    ),
    "a gap in the evidence": "SELECT max(sequence) AS what FROM approval_evidence HAVING count(*) <> max(sequence)",
}
QUESTION = " UNION ALL ".join(
    [
        "SELECT 'lines', CAST(count(*) AS text) FROM status_transitions",
        *(f"SELECT '{fault}', CAST(found.what AS text) FROM ({statement}) AS found" for fault, statement in FAULTS.items()),
    ]
)
"""All of it at once: how many lines of history there are, and every fault with the row that has it."""
Run = Callable[[str], list[tuple[object, ...]]]


class Killer:
    """The process of ``kill_writer`` for one store."""

    def __init__(self, url: str, folder: Path) -> None:
        script, root = Path(__file__).with_name("kill_writer.py"), Path(__file__).parents[2]
        environment = {**os.environ, "PYTHONPATH": str(root)}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self._process = subprocess.Popen([sys.executable, str(script), url], **pipes, text=True, env=environment, cwd=folder)

    def kill(self, *, wait: bool, seconds: float) -> int:
        """Let a writer write and kill it; how many lines of history it was told to be stored."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{int(wait)} {seconds}\n")
        stdin.flush()
        fate, lines = stdout.readline().split()
        assert fate == "killed"
        return int(lines)

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def place(backend: str, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Run]]:
    """An empty store: its address, and how another program asks it. On a file each question is the first after the crash."""
    if backend == "sqlite":
        path = tmp_path / "state.db"
        make_native_file(path)
        yield f"sqlite:///{path}", lambda statement: _ask_file(path, statement)
        return
    server: Server = request.getfixturevalue("postgres")
    name = server.lend()
    yield server.url(name), lambda statement: list(server.run(name, statement))
    server.give_back(name)


def _ask_file(path: Path, statement: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(statement).fetchall()


def _check(run: Run, backend: str) -> int:
    """Nothing is half written; how many lines of history there are."""
    if backend == "sqlite":
        assert run("PRAGMA integrity_check") == [("ok",)]
        assert run("PRAGMA foreign_key_check") == []
    (_, lines), *faults = sorted(run(QUESTION), key=lambda row: row[0] != "lines")
    assert faults == []
    return int(str(lines))


async def test_killed_at_any_moment_it_leaves_no_half_of_a_change(
    backend: str, place: tuple[str, Run], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url, run = place
    seed = request.config.getoption("--kill-seed")
    seed = random.randrange(10**6) if seed is None else seed
    chance, killer = random.Random(seed), Killer(url, tmp_path)
    kills, stored, late = request.config.getoption("--kills"), 0, 0
    try:
        for _ in range(kills):
            wait = chance.random() < 0.9
            answered = killer.kill(wait=wait, seconds=chance.uniform(0, 0.1))
            before, stored = stored, _check(run, backend)
            late += stored != before + answered
            assert 0 <= stored - before - answered <= LARGEST
    finally:
        killer.close()
        print(f"{backend}: seed {seed}, {kills} kills, {stored} lines of history, {late} killed between commit and answer")
    async with StateDB(url=url) as db:
        report = await ApprovalStore(db, SteeredClock()).verify_chain()
    assert report.valid
    assert stored
