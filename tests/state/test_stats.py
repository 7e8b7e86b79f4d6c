"""Figures over a window: how runs ended, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.application.errors import ValidationFailure
from studio_tui.domain.stats import WINDOWS, ActivityBucket, SpendShare, SpendSum
from studio_tui.state.db import StateDB
from studio_tui.state.stores.stats import StatsStore
from tests.builders import a_run, run_sql

DAY, WEEK = WINDOWS["24h"], WINDOWS["7d"]
NOW = 1_796_000_000.0
"""00:53:20 UTC, so the newest hour began 3,200 seconds ago."""
HOUR = NOW - 3_200


@pytest.fixture
def figures(db: StateDB) -> StatsStore:
    return StatsStore(db)


async def ended(db: StateDB, status: str | None, at: float, **columns: object) -> None:
    await a_run(db, **{"status": status, "ended_at": at, "started_at": at - 60, "updated_at": max(at, NOW), **columns})


async def test_runs_stand_in_the_bucket_of_their_end(db: StateDB, figures: StatsStore) -> None:
    for status in ("completed", "completed_empty", "failed", "timed_out", "aborted", "cancelled"):
        await ended(db, status, HOUR + 1)
    await ended(db, "completed", HOUR)
    await ended(db, "completed", HOUR - 1)
    await ended(db, None, HOUR + 2)
    await a_run(db, status="running", ended_at=None, started_at=HOUR + 3, updated_at=NOW)
    await a_run(db, status="running", ended_at=None, started_at=None, created_at=HOUR + 4, updated_at=NOW)
    await ended(db, "completed", DAY.start(NOW) - 0.5)
    await ended(db, "failed", DAY.start(NOW))
    found = await figures.activity(DAY, NOW)
    assert len(found.buckets) == 24
    assert [bucket.start for bucket in found.buckets] == [int(HOUR) - 3_600 * number for number in range(23, -1, -1)]
    assert found.buckets[-1] == ActivityBucket(int(HOUR), completed=2, failed=3, cancelled=2, running=2)
    assert found.buckets[-2] == ActivityBucket(int(HOUR) - 3_600, completed=1)
    assert found.buckets[0] == ActivityBucket(DAY.start(NOW), failed=1)
    assert (found.total, found.completion_rate) == (12, 3 / 9)


async def test_a_week_has_days(db: StateDB, figures: StatsStore) -> None:
    await ended(db, "completed", NOW - 6 * 86_400)
    await ended(db, "failed", NOW - 7 * 86_400)
    found = await figures.activity(WEEK, NOW)
    assert (len(found.buckets), found.buckets[0].completed, found.total) == (7, 1, 1)
    assert all(bucket.start % 86_400 == 0 for bucket in found.buckets)


async def test_when_nothing_ended_there_is_no_rate(db: StateDB, figures: StatsStore) -> None:
    assert (await figures.activity(DAY, NOW)).completion_rate is None
    await a_run(db, status="running", started_at=NOW, ended_at=None, updated_at=NOW)
    found = await figures.activity(DAY, NOW)
    assert (found.total, found.completion_rate) == (1, None)


async def test_what_was_not_reported_is_not_nothing(db: StateDB, figures: StatsStore) -> None:
    assert await figures.spend(DAY, NOW) == SpendSum(None, 0, 0)
    assert SpendSum(None, 0, 0).coverage is None
    await ended(db, "completed", NOW)
    assert await figures.spend(DAY, NOW) == SpendSum(None, 0, 1)
    await ended(db, "completed", NOW, total_cost_usd=1.25)
    await ended(db, "completed", NOW, total_cost_usd=0.0)
    await ended(db, "completed", NOW, total_cost_usd=7.0, provider="codex")
    await ended(db, "completed", NOW, total_cost_usd=2.0, provider=None)
    await ended(db, "completed", DAY.start(NOW) - 1, total_cost_usd=50.0)
    found = await figures.spend(DAY, NOW)
    assert (found, found.coverage) == (SpendSum(3.25, 3, 2), 0.6)


async def test_spending_by_what_it_was_for(db: StateDB, figures: StatsStore) -> None:
    for project, agent, cost in (("web", "a", 1.0), ("web", "b", 2.0), ("api", "a", None), (None, None, 5.0), ("ops", "a", 0.5)):
        await ended(db, "completed", NOW, project=project, agent_name=agent, total_cost_usd=cost, playbook_name=None)
    assert await figures.spend_by("project", DAY, NOW, limit=9) == (
        SpendShare(None, SpendSum(5.0, 1, 0)),
        SpendShare("web", SpendSum(3.0, 2, 0)),
        SpendShare("ops", SpendSum(0.5, 1, 0)),
        SpendShare("api", SpendSum(None, 0, 1)),
    )
    assert [share.key for share in await figures.spend_by("agent", DAY, NOW, limit=2)] == [None, "b"]
    assert await figures.spend_by("playbook", DAY, NOW, limit=9) == (SpendShare(None, SpendSum(8.5, 4, 1)),)
    assert [share.key for share in await figures.spend_by("model", DAY, NOW, limit=9)] == ["claude_code/haiku"]
    with pytest.raises(ValidationFailure, match="must be one of project, agent"):
        await figures.spend_by("mood", DAY, NOW, limit=9)


@pytest.mark.sqlite_only("a server's columns hold what they are for")
async def test_figures_that_are_none_are_left_out(db: StateDB, figures: StatsStore) -> None:
    for number, cost in enumerate((1.0, 1.0, 1.0, 1.0, 1.0)):
        await ended(db, "completed", NOW, id=f"r{number}", total_cost_usd=cost)
    for number, stored in enumerate(("'much'", "9e999", "-3.0", "x'ff'", "1.5")):
        await run_sql(db, f"UPDATE sessions SET total_cost_usd = {stored} WHERE id = 'r{number}'")
    assert await figures.spend(DAY, NOW) == SpendSum(1.5, 1, 4)
    await run_sql(db, "UPDATE sessions SET ended_at = 'yesterday', status = x'ff' WHERE id = 'r0'")
    found = await figures.activity(DAY, NOW)
    assert (found.buckets[-1].completed, found.total) == (4, 5)


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    figures = StatsStore(db)
    assert (await figures.activity(DAY, NOW)).total == 0
    assert await figures.spend(DAY, NOW) == SpendSum(None, 0, 0)
    assert await figures.spend_by("project", DAY, NOW, limit=5) == ()
