"""The five figures that thresholds look at, on both databases; what a claim stamps, and what a quiet evaluation does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from studio_tui.application.ports import Refusal
from studio_tui.domain.thresholds import Reading
from studio_tui.state.db import StateDB
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.builders import a_run, a_schedule, an_invocation, run_sql
from tests.fakes.base import HeldClock
from tests.state.raw import raw_row, raw_rows
from tests.state.test_scheduling import occurrence, stored

NOW = 1_796_000_000.0
SINCE = NOW - 3_600


@pytest.fixture
def figures(db: StateDB) -> SchedulingStore:
    return SchedulingStore(db, HeldClock(NOW))


async def asked(figures: SchedulingStore, name: str) -> Reading:
    return await figures.metric(name, since=SINCE, now=NOW)


async def test_failed_runs_are_counted_by_cause(db: StateDB, figures: SchedulingStore) -> None:
    fan_out = await an_invocation(db)
    other = await an_invocation(db, skill="x")
    timed = {"updated_at": NOW - 60, "ended_at": NOW - 60}
    for _ in range(3):
        await a_run(db, status="failed", invocation_id=fan_out, status_reason_code="run.failed.exception", **timed)
    await a_run(db, status="timed_out", invocation_id=fan_out, status_reason_code="run.timed_out.deadline", **timed)
    await a_run(db, status="failed", invocation_id=other, status_reason_code="run.failed.exception", **timed)
    for _ in range(2):
        await a_run(db, status="failed", status_reason_code="run.failed.exception", **timed)
        await a_run(db, status="failed", invocation_id=fan_out, status_reason_code=None, **timed)
    await a_run(db, status="completed", **timed)
    await a_run(db, status="failed", started_at=SINCE - 9, ended_at=SINCE - 1, updated_at=NOW)
    assert await asked(figures, "failed_sessions") == Reading(7.0)


async def test_spend_says_what_was_not_reported(db: StateDB, figures: SchedulingStore) -> None:
    await a_run(db, total_cost_usd=1.25)
    await a_run(db, total_cost_usd=0.5, status="running", ended_at=None)
    await a_run(db, total_cost_usd=None)
    await a_run(db, total_cost_usd=None, status="running", ended_at=None)
    await a_run(db, total_cost_usd=99.0, provider="codex")
    await a_run(db, total_cost_usd=7.0, started_at=SINCE - 9, ended_at=SINCE - 1, updated_at=NOW)
    assert await asked(figures, "total_cost_usd") == Reading(1.75, 2)


@pytest.mark.parametrize(("count", "expected"), [(0, 0.0), (1, 1_000.0), (19, 19_000.0), (20, 19_000.0), (21, 20_000.0)])
async def test_the_latency_is_the_nearest_rank(db: StateDB, figures: SchedulingStore, count: int, expected: float) -> None:
    for seconds in range(count, 0, -1):
        started = NOW - 1_000
        await an_invocation(db, status="completed", started_at=started, ended_at=started + seconds)
    assert (await asked(figures, "p95_latency_ms")).value == pytest.approx(expected)


async def test_only_ends_that_were_measured_count_as_latency(db: StateDB, figures: SchedulingStore) -> None:
    slow: dict[str, Any] = {"started_at": NOW - 2_000, "ended_at": NOW, "status": "completed"}
    for evidence in ([{"kind": "session", "id": "a"}], {"kind": "invocation"}, ["invocation"], "invocation", None):
        await an_invocation(db, **{**slow, "ended_at": NOW - 1_999}, status_evidence_refs=evidence)
    await an_invocation(db, **slow, status_evidence_refs=[{"kind": "session"}, {"kind": "invocation", "id": "a"}])
    await an_invocation(db, **{**slow, "status": "cancelled"})
    await an_invocation(db, **{**slow, "ended_at": None, "status": "running"})
    await an_invocation(db, **{**slow, "ended_at": NOW - 3_000})
    await an_invocation(db, **{**slow, "started_at": SINCE - 1})
    assert (await asked(figures, "p95_latency_ms")).value == pytest.approx(1_000.0)


@pytest.mark.sqlite_only("the other database takes no such text")
async def test_evidence_that_is_no_json_hides_no_latency(db: StateDB, figures: SchedulingStore) -> None:
    await an_invocation(db, id="a", status="completed", started_at=NOW - 9, ended_at=NOW)
    for text in ("{invocation", "'invocation'"):
        await run_sql(db, "UPDATE invocations SET status_evidence_refs = :text", text=text)
        assert (await asked(figures, "p95_latency_ms")).value == 9_000.0


async def test_the_health_of_polls_is_that_of_the_best_and_the_worst(db: StateDB, figures: SchedulingStore) -> None:
    poll: dict[str, Any] = {"trigger_type": "github_poll", "github_repo": "a/b", "interval_sec": None}
    assert await asked(figures, "github_poll_healthy_age_minutes") == Reading(0.0)
    assert await asked(figures, "github_poll_consecutive_401") == Reading(0.0)
    await a_schedule(db, **poll)
    assert await asked(figures, "github_poll_healthy_age_minutes") == Reading(0.0), "never polled is not blind"
    await a_schedule(db, **poll, last_healthy_poll_at=NOW - 1_200, poller_consecutive_401=4)
    await a_schedule(db, **poll, last_healthy_poll_at=NOW - 600, poller_consecutive_401=1)
    await a_schedule(db, **poll, last_healthy_poll_at=NOW, poller_consecutive_401=9, enabled=0)
    await a_schedule(db, last_healthy_poll_at=NOW, poller_consecutive_401=9)
    assert await asked(figures, "github_poll_healthy_age_minutes") == Reading(10.0)
    assert await asked(figures, "github_poll_consecutive_401") == Reading(4.0)


CONFIG = {"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": 5}


async def stamps(db: StateDB) -> tuple[Any, ...]:
    row = await raw_row(db, "schedules")
    return row["last_evaluated_at"], row["last_alert_at"], row["next_fire_at"]


async def test_the_alert_is_stamped_with_the_rows_of_its_firing(db: StateDB, figures: SchedulingStore) -> None:
    await a_schedule(db, id="s1", next_fire_at=NOW, threshold_config=CONFIG)
    seen = replace(await stored(figures), last_evaluated_at=NOW + 1)
    fired = occurrence(seen, fired_at=NOW + 1, next_fire_at=NOW + 60)
    assert not await figures.claim(replace(fired, claimed=NOW - 5), now=NOW + 1)
    assert await stamps(db) == (None, None, NOW)
    assert await figures.claim(fired, now=NOW + 1)
    assert await stamps(db) == (NOW + 1, NOW + 1, NOW + 60)
    step = occurrence(seen, "run2", claimed=None, next_fire_at=None, fired_at=NOW + 9, chain_depth=1, chain_parent_id="run1")
    assert await figures.claim(step, now=NOW + 9)
    assert await stamps(db) == (NOW + 1, NOW + 1, NOW + 60)


@pytest.mark.parametrize(("status", "alerted"), [("skipped", None), ("failed", NOW)])
async def test_a_refusal_alerts_if_it_failed(db: StateDB, figures: SchedulingStore, status: Any, alerted: float | None) -> None:
    await a_schedule(db, id="s1", next_fire_at=NOW, threshold_config=CONFIG)
    seen = replace(await stored(figures), last_evaluated_at=NOW)
    refused = Refusal("r", seen, status, "run.failed.exception", "no", {}, at=NOW, claimed=NOW, next_fire_at=NOW + 60)
    assert await figures.refuse(refused, now=NOW)
    assert await stamps(db) == (NOW, alerted, NOW + 60)


async def test_other_schedules_are_not_stamped(db: StateDB, figures: SchedulingStore) -> None:
    await a_schedule(db, id="s1", next_fire_at=NOW)
    assert await figures.claim(occurrence(await stored(figures), next_fire_at=NOW + 60), now=NOW)
    assert await stamps(db) == (None, None, NOW + 60)


async def test_a_quiet_evaluation_moves_only_the_instant_that_was_seen(db: StateDB, figures: SchedulingStore) -> None:
    await a_schedule(db, id="s1", next_fire_at=NOW, threshold_config=CONFIG)
    seen = await stored(figures)
    assert await figures.pass_quietly(seen, NOW + 60, now=NOW)
    assert await stamps(db) == (NOW, None, NOW + 60)
    assert not await figures.pass_quietly(seen, NOW + 99, now=NOW + 1)
    await run_sql(db, "UPDATE schedules SET enabled = 0")
    assert not await figures.pass_quietly(await stored(figures), NOW + 99, now=NOW + 1)
    assert await stamps(db) == (NOW, None, NOW + 60)
    assert await raw_rows(db, "schedule_runs") == []
