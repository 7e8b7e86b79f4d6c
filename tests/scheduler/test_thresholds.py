"""Threshold schedules at their due instants: quiet, alerting, silent; what a prompt is told; what is stamped when."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.domain.thresholds import Reading
from tests.fakes.clock import NOW
from tests.processes.waiting import until
from tests.scheduler.conftest import Bench, a_schedule

FAILED: dict[str, Any] = {"metric": "failed_sessions", "op": "gte", "value": 2, "window_minutes": 10}


def an_alarm(bench: Bench, value: float = 5.0, **columns: Any) -> None:
    bench.state.metrics["failed_sessions"] = Reading(value)
    bench.state.add(a_schedule(**{"threshold_config": FAILED, **columns}))


async def test_no_breach_moves_on_and_leaves_no_row(bench: Bench) -> None:
    an_alarm(bench, 1.0)
    assert await bench.due() == "quiet"
    stored = bench.state.schedules["tick"]
    assert (stored.next_fire_at, stored.last_evaluated_at, stored.last_alert_at) == (NOW + 60, NOW, None)
    assert (stored.last_fired_at, bench.state.rows()) == (None, [])


@pytest.mark.parametrize(
    ("columns", "following"),
    [
        ({"trigger_type": "cron", "cron_expr": "0 * * * *", "interval_sec": None}, True),
        ({"trigger_type": "at", "interval_sec": None}, False),
    ],
)
async def test_it_rides_any_trigger(bench: Bench, columns: dict[str, Any], following: bool) -> None:
    an_alarm(bench, 0.0, **columns)
    assert await bench.due() == "quiet"
    at = bench.state.schedules["tick"].next_fire_at
    assert (at is not None and at > NOW) is following


async def test_a_breach_fires_with_its_figures_in_what_is_run(bench: Bench) -> None:
    an_alarm(bench, 5.0, action_command_args=("{{metric}}", "{{value}}", "{{threshold}}"))
    row = await bench.fire_and_end(0)
    assert row.argv == ("true", "failed_sessions", "5.0", "2.0")
    assert row.trigger_context == {
        "scheduled": True,
        "fired_at": NOW,
        "next_fire_at": NOW,
        "metric": "failed_sessions",
        "op": "gte",
        "value": 5.0,
        "threshold": 2.0,
        "window_minutes": 10,
    }
    stored = bench.state.schedules["tick"]
    assert (stored.last_alert_at, stored.last_evaluated_at, stored.next_fire_at) == (NOW, NOW, NOW + 60)


async def test_an_alert_silences_the_next_ones_for_its_window(bench: Bench) -> None:
    an_alarm(bench)
    await bench.fire_and_end(0)
    words = []
    for _ in range(10):
        bench.clock.advance(60)
        words.append(await bench.due())
    assert words == ["quiet"] * 9 + ["fired"]


async def test_a_chain_step_is_no_new_alert(bench: Bench) -> None:
    an_alarm(bench, on_fail={"action_command": "sh", "on_fail": None})
    assert await bench.due() == "fired"
    first = await bench.launched(1)
    bench.clock.advance(30)
    first.end(1)
    (await bench.launched(2)).end(0)
    await bench.engine.supervisor.idle()
    assert [row.chain_depth for row in bench.state.rows()] == [0, 1]
    assert bench.state.schedules["tick"].last_alert_at == NOW


async def test_a_refused_launch_is_an_alert_too(bench: Bench) -> None:
    an_alarm(bench, action_cwd="/no/such/directory")
    assert await bench.due() == "failed"
    stored = bench.state.schedules["tick"]
    assert (stored.last_alert_at, stored.last_evaluated_at) == (NOW, NOW)
    bench.clock.advance(60)
    assert await bench.due() == "quiet"


async def test_a_skip_is_no_alert(bench: Bench) -> None:
    an_alarm(bench)
    assert await bench.due() == "fired"
    bench.clock.advance(600)
    assert await bench.due() == "skipped", "the first one runs still"
    stored = bench.state.schedules["tick"]
    assert (stored.last_alert_at, stored.last_evaluated_at) == (NOW, NOW + 600)


async def test_what_waits_for_a_slot_looks_at_the_figure_again(bench: Bench) -> None:
    bench.assemble(slots=1)
    bench.state.add(a_schedule("busy"))
    await bench.due("busy")
    an_alarm(bench)
    assert await bench.due() == "waiting"
    assert bench.state.schedules["tick"].last_alert_at is None
    bench.state.metrics["failed_sessions"] = Reading(0.0)
    assert await bench.due() == "quiet", "the alarm is over, nothing is left to say"


async def test_who_lost_the_lease_notes_nothing(bench: Bench) -> None:
    an_alarm(bench, 0.0)
    bench.may_launch = False
    assert await bench.due() == "lost"
    assert bench.state.schedules["tick"].next_fire_at == NOW


async def test_a_missed_alarm_is_evaluated_before_it_is_made_up_for(bench: Bench) -> None:
    an_alarm(bench, 0.0, missed_fire_policy="run_once", next_fire_at=NOW - 600)
    task = bench.engine.loop.start()
    await until(lambda: bench.state.schedules["tick"].last_evaluated_at)
    await bench.engine.loop.stop()
    await task
    assert bench.state.rows() == []


async def test_the_loop_goes_on_after_a_quiet_evaluation(bench: Bench) -> None:
    an_alarm(bench, 0.0)
    assert await bench.engine.loop.evaluate() == NOW + 30
    assert bench.state.asked["metric"] == 1
