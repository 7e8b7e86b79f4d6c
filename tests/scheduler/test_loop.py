"""The loop: what is due, how long it sleeps, and that nothing ends it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from studio_tui.application.errors import StateUnavailable
from studio_tui.scheduler.loop import LONGEST_SLEEP
from tests.fakes.clock import NOW
from tests.processes.waiting import until
from tests.scheduler.conftest import Bench, a_schedule


async def test_due_ones_fire_and_the_loop_sleeps_to_the_next_instant(bench: Bench) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule("now"), a_schedule("soon", next_fire_at=NOW + 7.5), a_schedule("late", next_fire_at=NOW + 900))
    until_when = await bench.engine.loop.evaluate()
    assert until_when == NOW + 7.5
    assert bench.engine.loop.next_due_at == NOW + 7.5
    assert [row.schedule_id for row in bench.state.rows()] == ["now"]
    bench.clock.advance(7.5)
    assert await bench.engine.loop.evaluate() == NOW + 7.5 + LONGEST_SLEEP
    assert [row.schedule_id for row in bench.state.rows()] == ["now", "soon"]
    assert bench.engine.loop.next_due_at == NOW + 60


async def test_periods_that_passed_are_one_fire(bench: Bench) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule(interval_sec=1.0))
    bench.clock.advance(20)
    await bench.engine.loop.evaluate()
    assert len(bench.state.rows()) == 1
    assert bench.state.schedules["tick"].next_fire_at == NOW + 21


async def test_a_schedule_without_an_instant_is_armed_and_not_fired(bench: Bench) -> None:
    bench.state.add(a_schedule(next_fire_at=None, created_at=NOW - 10, last_fired_at=None))
    await bench.engine.loop.evaluate()
    assert bench.state.rows() == []
    assert bench.state.schedules["tick"].next_fire_at == NOW + 50


@pytest.mark.parametrize("failure", [StateUnavailable("locked", retryable=True), RuntimeError("broken row")])
async def test_one_that_fails_does_not_stop_the_others(bench: Bench, failure: Exception) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule("a"), a_schedule("b"), a_schedule("c", interval_sec=None))
    bench.state.trouble["claim"] = [failure]
    until_when = await bench.engine.loop.evaluate()
    assert len(bench.state.rows()) == 1, "the one that failed is not tried again in the same pass"
    assert until_when <= NOW + LONGEST_SLEEP
    await bench.engine.loop.evaluate()
    assert {row.schedule_id for row in bench.state.rows()} == {"a", "b"}


async def test_a_schedule_that_can_never_fire_does_not_hide_the_next_one(bench: Bench) -> None:
    bench.state.add(a_schedule("poll", threshold_config={"metric": "x"}), a_schedule("next", next_fire_at=NOW + 600))
    assert await bench.engine.loop.evaluate() == NOW + LONGEST_SLEEP
    assert bench.engine.loop.next_due_at == NOW + 600


async def test_a_freed_slot_is_used_at_once(bench: Bench) -> None:
    bench.assemble(slots=2)
    bench.state.add(*(a_schedule(f"s{number:02}", next_fire_at=NOW - 20 + number) for number in range(10)))
    task = bench.engine.loop.start()
    for number in range(10):
        await until(lambda number=number: len(bench.processes.launched) >= min(10, number + 2))
        assert len(bench.state.rows("running")) <= 2
        bench.processes.launched[number].end(0)
    await until(lambda: len(bench.state.rows("completed")) == 10)
    assert [process.spec.run_id for process in bench.processes.launched] == [
        row.run_id for row in sorted(bench.state.rows("completed"), key=lambda row: row.schedule_id or "")
    ], "the longest overdue first"
    assert bench.state.rows("skipped") == [], "who gets a slot soon leaves no row"
    await bench.engine.loop.stop()
    await task


async def test_an_edit_wakes_the_loop(bench: Bench) -> None:
    bench.processes.at_once = 0
    task = bench.engine.loop.start()
    await until(lambda: bench.engine.loop.last_pass_at is not None)
    bench.state.add(a_schedule())
    bench.engine.loop.wake()
    await until(lambda: bench.state.rows("completed"))
    await bench.engine.loop.stop()
    await task


async def test_a_loop_that_fails_begins_again_and_counts(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.loop.BACKOFF", (0.01,))
    bench.processes.at_once = 0
    bench.state.add(a_schedule())
    bench.state.trouble["list_due"] = [StateUnavailable("the store is locked", retryable=True), RuntimeError("oh")]
    bench.state.trouble["list_unarmed"] = [asyncio.CancelledError()]
    seen: set[str | None] = set()
    task = bench.engine.loop.start()

    def noted() -> bool:
        seen.add(bench.engine.loop.trouble)
        return bool(bench.state.rows("completed"))

    await until(noted)
    await until(lambda: bench.engine.loop.trouble is None)
    assert bench.engine.loop.restarts == 3
    await bench.engine.loop.stop()
    await task


async def test_a_cancelled_loop_ends(bench: Bench) -> None:
    """Else a program whose event loop closes would hang for ever, and hold its lease."""
    task = bench.engine.loop.start()
    await until(lambda: bench.engine.loop.last_pass_at is not None)
    task.cancel()
    await asyncio.wait([task], timeout=10)
    assert task.cancelled()


async def test_beginning_again_after_a_rest_remembers_nothing(bench: Bench) -> None:
    bench.processes.at_once = 0
    task = await started(bench)
    await bench.engine.loop.stop()
    await task
    bench.clock.advance(3600)
    bench.state.add(a_schedule(next_fire_at=bench.clock.now() - 1))
    settled = bench.engine.loop._settle_overslept
    bench.engine.loop._settle_overslept = lambda seconds: pytest.fail("nobody overslept")  # type: ignore[method-assign]
    task = bench.engine.loop.start()
    assert bench.engine.loop.last_pass_at is None
    await until(lambda: bench.state.rows("completed"))
    bench.engine.loop._settle_overslept = settled  # type: ignore[method-assign]
    await bench.engine.loop.stop()
    await task


async def test_stopping_while_it_begins_ends_it_at_once(bench: Bench) -> None:
    task = bench.engine.loop.start()
    await until(lambda: bench.state.asked["list_armed_cron"])
    await bench.engine.loop.stop()
    await asyncio.wait_for(task, 10)


async def test_many_due_at_once_all_fire(bench: Bench) -> None:
    bench.assemble(slots=0)
    bench.processes.at_once = 0
    bench.state.add(*(a_schedule(f"s{number}") for number in range(600)))
    await bench.engine.loop.evaluate()
    assert len(bench.state.rows()) == 600


# --- missed -----------------------------------------------------------------------------------------------------------


def overdue(name: str, seconds: float, **columns: object):  # type: ignore[no-untyped-def]
    return a_schedule(name, next_fire_at=NOW - seconds, **columns)


async def started(bench: Bench) -> asyncio.Task[None]:
    task = bench.engine.loop.start()
    await until(lambda: bench.engine.loop.last_pass_at is not None)
    return task


async def test_policies_apply_to_what_was_missed(bench: Bench) -> None:
    bench.processes.at_once = 0
    bench.state.add(
        overdue("skip", 30 * 86_400, interval_sec=1.0),
        overdue("once", 30 * 86_400, interval_sec=60.0, missed_fire_policy="run_once"),
        overdue("late", 29),
        overdue("at", 90, trigger_type="at", interval_sec=None),
    )
    task = await started(bench)
    await bench.engine.supervisor.idle()
    rows = {row.schedule_id: row for row in bench.state.rows()}
    assert len(bench.state.rows()) == 4
    assert (rows["skip"].status, rows["skip"].reason_code) == ("skipped", "schedule.skipped.missed_fire")
    assert rows["skip"].trigger_context == {
        "skipped_missed_fire": True,
        "missed_fire_at": NOW - 30 * 86_400,
        "checked_at": NOW,
    }
    assert rows["skip"].reason_summary == "missed by 30 d while nothing was fired (missed-fire policy: skip)"
    assert rows["once"].trigger_context == {"missed_recovery": True, "fired_at": NOW}
    assert rows["once"].status == "completed"
    assert "scheduled" in rows["late"].trigger_context, "within the grace it simply fires"
    assert (rows["at"].status, bench.state.schedules["at"].next_fire_at) == ("skipped", None)
    assert bench.state.schedules["skip"].next_fire_at == NOW + 1
    assert bench.state.schedules["once"].next_fire_at == NOW + 60
    await bench.engine.loop.stop()
    await task


async def test_nothing_fires_before_the_operators_word(bench: Bench) -> None:
    bench.processes.at_once = 0
    bench.assemble(ask_about_missed=True)
    bench.state.add(overdue("once", 90, missed_fire_policy="run_once"), a_schedule("due"))
    task = bench.engine.loop.start()
    await until(lambda: bench.engine.loop.missed)
    assert [(schedule.name, at) for schedule, at in bench.engine.loop.missed] == [("once", NOW - 90)]
    bench.engine.loop.wake()
    for _ in range(20):
        await asyncio.sleep(0)
    assert bench.state.rows() == []
    bench.engine.loop.settle(apply_policies=True)
    assert bench.engine.loop.missed == ()
    await until(lambda: len(bench.state.rows("completed")) == 2)
    await bench.engine.loop.stop()
    await task


async def test_the_operator_may_pass_over_all_of_them(bench: Bench) -> None:
    bench.assemble(ask_about_missed=True)
    bench.state.add(overdue("once", 90, missed_fire_policy="run_once"))
    task = bench.engine.loop.start()
    await until(lambda: bench.engine.loop.missed)
    bench.engine.loop.settle(apply_policies=False)
    await until(lambda: bench.state.rows())
    (row,) = bench.state.rows()
    assert (row.status, row.reason_code) == ("skipped", "schedule.skipped.missed_fire")
    assert "passed over by the operator" in (row.reason_summary or "")
    await bench.engine.loop.stop()
    await task


async def test_a_schedule_changed_while_the_question_stood_is_not_settled(bench: Bench) -> None:
    bench.assemble(ask_about_missed=True)
    bench.state.add(overdue("once", 90, missed_fire_policy="run_once"), overdue("off", 90))
    task = bench.engine.loop.start()
    await until(lambda: bench.engine.loop.missed)
    moved = a_schedule("once", next_fire_at=NOW + 500, missed_fire_policy="run_once")
    bench.state.add(moved, replace(bench.state.schedules["off"], enabled=False))
    bench.engine.loop.settle(apply_policies=True)
    await until(lambda: bench.engine.loop.next_due_at == NOW + 500)
    assert bench.state.rows() == []
    await bench.engine.loop.stop()
    await task


async def test_stopping_while_the_question_stands(bench: Bench) -> None:
    bench.assemble(ask_about_missed=True)
    bench.state.add(overdue("once", 90))
    task = bench.engine.loop.start()
    await until(lambda: bench.engine.loop.missed)
    await bench.engine.loop.stop()
    await asyncio.gather(task, return_exceptions=True)
    assert bench.engine.loop.missed == ()
    assert bench.state.rows() == []


async def test_what_fired_after_its_instant_was_not_missed(bench: Bench) -> None:
    bench.state.add(overdue("tick", 90))
    await bench.engine.occurrences.by_hand("tick")
    (await bench.launched()).end(0)
    await bench.engine.supervisor.idle()
    task = await started(bench)
    assert len(bench.state.rows()) == 1
    assert bench.state.schedules["tick"].next_fire_at == NOW + 30
    await bench.engine.loop.stop()
    await task


async def test_a_clock_that_jumps_ahead_is_one_missed_fire_each(bench: Bench) -> None:
    bench.processes.at_once = 0
    bench.assemble(ask_about_missed=True)
    bench.state.add(
        a_schedule("skip", interval_sec=1.0, next_fire_at=NOW + 1),
        a_schedule("once", interval_sec=60.0, next_fire_at=NOW + 60, missed_fire_policy="run_once"),
    )
    task = await started(bench)
    bench.clock.jump(3 * 86_400)
    bench.engine.loop.wake()
    await until(lambda: len(bench.state.rows()) == 2)
    await bench.engine.supervisor.idle()
    assert {(row.schedule_id, row.status) for row in bench.state.rows()} == {("skip", "skipped"), ("once", "completed")}
    assert bench.engine.loop.missed == (), "nobody is asked while hosting"
    await bench.engine.loop.stop()
    await task


async def test_a_clock_that_jumps_back_fires_nothing_twice(bench: Bench) -> None:
    bench.processes.at_once = 0
    bench.state.add(a_schedule())
    await bench.engine.loop.evaluate()
    bench.clock.jump(-7200)
    await bench.engine.loop.evaluate()
    assert len(bench.state.rows()) == 1


async def test_what_waited_for_a_slot_when_the_clock_jumped_was_not_missed(bench: Bench) -> None:
    bench.assemble(slots=1)
    bench.state.add(a_schedule("busy", next_fire_at=NOW - 1, interval_sec=86_400.0), a_schedule("waits"))
    task = await started(bench)
    await until(lambda: "waits" in bench.engine.loop._waiting)
    passes = bench.state.asked["list_unarmed"]
    bench.clock.jump(600)
    bench.engine.loop.wake()
    await until(lambda: bench.state.asked["list_unarmed"] > passes)
    assert bench.state.rows("skipped") == []
    await bench.engine.loop.stop()
    await task
