"""Two consoles, two processes, one moment: no gate lets more through than it may, whoever asks."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports import Spend
from tests.fakes.clock import NOW
from tests.postgres import wait_until
from tests.scheduler.conftest import Bench, a_schedule
from tests.scheduler.test_real import ROOT, firings, home, schedule

__all__ = ["home"]

TIMES = 6


def race(
    home: Path, schedule_id: str, *options: str, slots: int = 0, meanwhile: Callable[[], None] = lambda: None
) -> Counter[str]:
    """What became of the tries of both processes; ``meanwhile`` happens while they are at it."""
    command = [sys.executable, "-m", "tests.scheduler.racer", str(home), schedule_id, str(TIMES), str(slots), *options]
    racers = [subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    words: Counter[str] = Counter()
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.write("go\n")
            racer.stdin.flush()
        meanwhile()
        for racer in racers:
            said, _ = racer.communicate(timeout=60)
            assert racer.returncode == 0
            words.update(json.loads(said))
    finally:
        for racer in racers:
            racer.kill()
            racer.communicate()
    return words


@pytest.mark.parametrize(
    ("columns", "slots", "allowed", "refused"),
    [
        ({"overlap_policy": "skip"}, 0, 1, "still running"),
        ({"overlap_policy": "allow"}, 2, 2, "no free slot"),
        ({"overlap_policy": "allow", "max_runs": 3}, 0, 3, "limit reached"),
        ({"overlap_policy": "allow", "rate_limit": {"max_fires": 2, "window_sec": 3600}}, 0, 2, "rate limit"),
    ],
)
async def test_two_consoles_at_once(home: Path, columns: dict[str, Any], slots: int, allowed: int, refused: str) -> None:
    made = await schedule(home, "sleep", "60", next_fire_at=NOW * 2, **columns)
    words = race(home, made, slots=slots)
    assert words == {"fired": allowed, refused: 2 * TIMES - allowed}
    assert len(firings(home, "running")) == len(firings(home)) == allowed


async def test_two_consoles_at_once_fire_nothing_more_once_the_budget_is_spent(home: Path) -> None:
    """A run reports what it cost while both go on firing: what was claimed by then is all there will be."""
    made = await schedule(home, "sleep", "0", next_fire_at=NOW * 2, overlap_policy="allow", budget_usd=1.0)
    fired: list[int] = []

    def report() -> None:
        wait_until(lambda: len(firings(home)) >= 3, "some firings")
        with closing(sqlite3.connect(home / "state.db", timeout=10, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO progressions VALUES ('p', 1.0, '[]')")
            connection.execute(
                "INSERT INTO sessions (id, created_at, updated_at, progression_id, status, invocation_id, "
                "total_cost_usd) SELECT 'dear', ?, ?, 'p', 'completed', invocation_id, 1.0 FROM schedule_runs LIMIT 1",
                (NOW, NOW),
            )
            fired.extend(connection.execute("SELECT count(*) FROM schedule_runs").fetchone())
            connection.execute("COMMIT")

    words = race(home, made, "--again", meanwhile=report)
    assert words == {"fired": fired[0], "budget used up": 2 * TIMES}
    assert len(firings(home)) == fired[0]


@pytest.mark.parametrize(
    ("columns", "word", "rows"),
    [
        ({}, "skipped", ["schedule.skipped.overlap"]),
        ({"overlap_policy": "allow", "max_runs": 1}, "disabled", []),
        ({"overlap_policy": "allow", "rate_limit": {"max_fires": 1, "window_sec": 3600}}, "waiting", []),
        ({"overlap_policy": "allow", "budget_usd": 1.0}, "disabled", ["schedule.budget.exhausted"]),
    ],
)
async def test_what_happens_between_question_and_claim_decides(
    bench: Bench, columns: dict[str, Any], word: str, rows: list[str]
) -> None:
    """The claim comes to the same verdict as a question a moment later, and that verdict is what is recorded."""
    bench.state.add(a_schedule(**columns))
    seen = bench.state.schedules["tick"]
    await bench.engine.occurrences.by_hand("tick")
    if "budget_usd" in columns:
        bench.state.spend["tick"] = Spend(1.0, 0, 0)
    evaluated = await bench.engine.occurrences.due(seen, NOW)
    assert evaluated.word == word
    assert [row.reason_code for row in bench.state.rows("skipped")] == rows
    assert len(bench.processes.launched) == 1
