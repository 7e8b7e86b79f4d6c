"""A host that nobody disturbs goes on as it began."""

from __future__ import annotations

import pytest

from studio_tui.scheduler.host import SchedulerHost
from tests.processes.waiting import until
from tests.scheduler.conftest import Bench
from tests.scheduler.test_host import ToldLease


async def test_a_host_without_reapers_is_not_taken_for_one_that_died(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.host.TAKE_OVER_EVERY", 0.005)
    looks: list[None] = []
    assert bench.outside.upkeep is None
    host = SchedulerHost(
        bench.outside, lease=ToldLease(), settings=bench.settings, answer=True, obstacle=lambda: looks.append(None)
    )
    await host.start()
    try:
        await until(lambda: len(looks) > 10)
        assert host.state == "hosting"
        assert host.restarts == 0
    finally:
        await host.stop()
