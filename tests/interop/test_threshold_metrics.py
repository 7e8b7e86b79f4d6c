"""The figures of thresholds are those that the peer reads of the same store."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.state.store import Store
from studio_tui.state.stores.thresholds import MetricReads
from tests.builders import NOW, a_run, a_schedule, an_invocation

pytestmark = pytest.mark.interop


async def _filled(store: Store) -> None:
    db = store.db
    invocations = [
        await an_invocation(db, status=status, started_at=NOW - 900 + n, ended_at=NOW - 800 + n * n, status_evidence_refs=refs)
        for n, (status, refs) in enumerate(
            [
                ("completed", None),
                ("failed", [{"kind": "session", "id": "a"}]),
                ("timed_out", [{"kind": "invocation", "id": "a"}]),
                ("timed_out", [{"kind": "session", "id": "a"}, {"kind": "invocation", "id": "b"}]),
                ("cancelled", None),
                *[("completed", ["invocation"])] * 20,
            ]
        )
    ]
    for number, status in enumerate(["failed", "timed_out", "completed", "completed_empty", "aborted", "running"] * 4):
        reason = None if number % 5 == 0 else f"run.{status}.x"
        owner = None if number % 3 == 0 else invocations[number % 2]
        ended = None if status == "running" else NOW - number * 300
        cost = None if number % 4 == 1 else number / 8
        await a_run(
            db, status=status, status_reason_code=reason, invocation_id=owner, ended_at=ended, total_cost_usd=cost,
            started_at=NOW - 9_000, provider="claude_code",
        )  # fmt: skip
    poll = {"trigger_type": "github_poll", "github_repo": "a/b"}
    await a_schedule(db, **poll, last_healthy_poll_at=NOW - 700, poller_consecutive_401=2)
    await a_schedule(db, **poll, last_healthy_poll_at=NOW - 7, poller_consecutive_401=7, enabled=0)


async def test_every_metric_is_the_peers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from lionagi.state.db import StateDB as PeerDB
    from lionagi.studio.scheduler.threshold import VALID_METRICS

    store = Store(None, home=tmp_path)
    await store.open()
    await store.create()
    await _filled(store)
    reads, theirs, ours = MetricReads(store.db), {}, {}
    monkeypatch.setattr("time.time", lambda: NOW)
    async with PeerDB(tmp_path / "state.db") as peer:
        for since in (NOW - 3_600, NOW - 600, NOW + 1):
            for name in VALID_METRICS:
                unreported = await peer.metric_unreported_sessions(name, since)
                theirs[name, since] = (pytest.approx(await peer.metric_value(name, since)), unreported)
                reading = await reads.metric(name, since=since, now=NOW)
                ours[name, since] = (reading.value, reading.unreported)
    await store.close()
    assert ours == theirs
    assert sum(value > 0 for value, _ in ours.values()) >= 10
