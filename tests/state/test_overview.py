"""The counts of the header."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.state.db import StateDB
from studio_tui.state.stores.overview import OverviewStore
from tests.builders import NOW, a_branch, a_run, messages_of, run_sql


@pytest.fixture
def overview(db: StateDB) -> OverviewStore:
    return OverviewStore(db)


async def test_running_runs_without_the_children_of_engine_runs(db: StateDB, overview: OverviewStore) -> None:
    ids = await messages_of(db, 1)
    for number in range(3):
        await a_run(db, id=f"r{number}", status="running", updated_at=NOW + number, node_metadata={"pid": number})
    await a_branch(db, "r1", message_ids=ids)
    await a_run(db, status="running", node_metadata={"engine_parent_run_id": "r0"})
    await a_run(db)
    assert await overview.count_running() == 3
    found = await overview.running_runs(limit=2)
    assert [(run.run_id, run.metadata, run.has_messages) for run in found] == [
        ("r2", {"pid": 2}, False),
        ("r1", {"pid": 1}, True),
    ]


async def test_runs_that_failed_since(db: StateDB, overview: OverviewStore) -> None:
    await a_run(db, status="failed", ended_at=NOW - 1, updated_at=NOW - 1)
    await a_run(db, status="failed", ended_at=NOW, updated_at=NOW)
    await a_run(db, status="failed", ended_at=None, updated_at=NOW + 2)
    await a_run(db, status="failed", ended_at=NOW - 9, updated_at=NOW + 2)
    await a_run(db, status="failed", updated_at=NOW + 1, status_reason_summary="phantom_reaped")
    await a_run(db, status="failed", updated_at=NOW + 1, node_metadata={"engine_parent_run_id": "x"})
    await a_run(db, status="aborted", updated_at=NOW + 1)
    assert await overview.count_failed_since(NOW) == 2


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_broken_metadata_break_no_count(db: StateDB, overview: OverviewStore) -> None:
    await a_run(db, id="r", status="running")
    await a_run(db, id="f", status="failed", updated_at=NOW + 1)
    await run_sql(db, "UPDATE sessions SET node_metadata = '{\"engine_parent_run_id'")
    assert await overview.count_running() == 1
    assert [run.defects for run in await overview.running_runs(limit=5)] == [("node_metadata",)]
    assert await overview.count_failed_since(NOW) == 1


async def test_while_there_is_no_store_nothing_runs(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    overview = OverviewStore(db)
    assert (await overview.count_running(), await overview.count_failed_since(0.0)) == (0, 0)
    assert await overview.running_runs(limit=5) == ()
