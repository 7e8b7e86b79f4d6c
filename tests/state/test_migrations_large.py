"""A store of 100,000 runs: it is upgraded in the database's thread, tells how far it is, and the event loop stays free."""

from __future__ import annotations

import asyncio
from pathlib import Path

from studio_tui.application.models.state import MigrationProgress
from studio_tui.state.store import Store
from tests.state.filled import make_filled_file
from tests.state.older import MARKERS, plainly, reshape

RUNS = 100_000
NARROW = {"source_kind IN ('live','imported_fs','imported_codex')": "source_kind IN ('live','imported_fs')"}


async def test_a_large_store(home: Path) -> None:
    path = home / "state.db"
    await asyncio.to_thread(_make, path)
    turns = 0
    said: list[tuple[MigrationProgress, int]] = []

    async def beat() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    store = Store(path, home=home)
    await store.open()
    heart = asyncio.create_task(beat())
    report = await store.migrate(lambda progress: said.append((progress, turns)))
    heart.cancel()
    assert store.condition().mode == "ready"
    assert [change.rows for change in report.changes if change.kind == "rebuild"] == [RUNS]

    steps = list(dict.fromkeys(item.step for item, _ in said))
    assert steps[0] == "rebuilding sessions"
    for step in steps[:-1]:  # the loop had many turns within each step: nothing held it for the length of one
        seen = [turn for item, turn in said if item.step == step]
        following = next(turn for item, turn in said if steps.index(item.step) > steps.index(step))
        assert following - seen[0] > 20, step
    copied = [item.part_done for item, _ in said if item.step == "rebuilding sessions" and item.part_total == RUNS]
    assert copied[:5] == [20_000, 40_000, 60_000, 80_000, 100_000]
    ends = [item for item, _ in said if item.step == "giving ended runs an end" and item.part_total]
    assert [item.part_total for item in ends] == [3750] * 8
    assert [item.part_done for item in ends][-1] == 3750

    assert await store.db.fetch_all("SELECT count(*) AS n FROM sessions") == [{"n": RUNS}]
    assert await store.db.fetch_all("SELECT count(*) AS n FROM sessions WHERE ended_at_is_approximate = 1") == [{"n": 3750}]
    await store.close()


def _make(path: Path) -> None:
    make_filled_file(path, sessions=RUNS)
    with plainly(path) as connection:
        reshape(connection, "sessions", replaced=NARROW)
        connection.execute("DELETE FROM schema_meta WHERE key = ?", (MARKERS[3],))
        connection.execute("UPDATE sessions SET ended_at = NULL WHERE rowid <= 5000")
        connection.execute("DROP INDEX idx_sessions_updated")
