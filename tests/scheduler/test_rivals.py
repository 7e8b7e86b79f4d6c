"""What is no evidence of a second host, though it looks like it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio_tui.domain.schedules import FiringRecord
from tests.fakes.clock import NOW
from tests.scheduler.conftest import Bench, a_schedule


async def test_a_firing_of_our_own_that_ended_while_it_was_looked_at(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.engine.rivals.begin()
    row = FiringRecord("aaa", "tick", "i", "running", "command", NOW + 60, trigger_context={"scheduled": True})
    listed = replace(row, dispatched_at=NOW + 60)
    bench.state.add(a_schedule(next_fire_at=NOW + 600))
    bench.state.firings["aaa"] = replace(listed, status="completed", ended_at=NOW + 61)

    async def as_it_was() -> tuple[FiringRecord, ...]:
        return (listed,)

    monkeypatch.setattr(bench.state, "list_dispatched", as_it_was)
    await bench.engine.recovery.repeat()
    assert bench.engine.rivals.evidence is None


async def test_an_instant_that_was_fired_by_the_console_which_took_our_place(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """We were stopped between the look and the claim; meanwhile another console took the lease and fired."""
    bench.engine.rivals.begin()
    planned = NOW + 60
    seen = a_schedule(next_fire_at=planned)
    bench.state.add(replace(seen, next_fire_at=planned + 60))
    bench.state.firings["fff"] = FiringRecord(
        "fff", "tick", None, "completed", "command", planned, trigger_context={"next_fire_at": planned}
    )
    claim = bench.state.claim

    async def overtaken(*arguments: object, **more: object) -> bool:
        bench.may_launch = False
        return await claim(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(bench.state, "claim", overtaken)
    bench.clock.advance(70)
    assert (await bench.engine.occurrences.due(seen, bench.clock.now())).word == "lost"
    assert bench.engine.rivals.evidence is None
