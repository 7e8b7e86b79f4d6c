"""What an earlier host left behind."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace

import pytest

from studio_tui.application.errors import Conflict, StateUnavailable
from studio_tui.application.ports import LaunchNote, OutputTail
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord
from tests.fakes.clock import NOW
from tests.fakes.processes import an_identity
from tests.processes.waiting import until
from tests.scheduler.conftest import Bench, a_schedule

CHILD, DEAD_HOST, OTHER_CONSOLE = an_identity(50), an_identity(2), an_identity(3)


def left_behind(bench: Bench, *, dispatched: bool = True, note: bool = True, age: float = 60.0, **columns: object) -> str:
    """A running row that no task of this process follows; its note names :data:`CHILD` and a dead host."""
    row = FiringRecord("aaa", "tick", "inv", "running", "command", NOW - age, trigger_context={"scheduled": True})
    row = replace(row, dispatched_at=NOW - age if dispatched else None, **columns)  # type: ignore[arg-type]
    bench.state.firings["aaa"] = row
    bench.state.created["aaa"] = NOW - age
    bench.state.invocations["inv"] = "running"
    if note:
        bench.processes.notes["aaa"] = LaunchNote("aaa", NOW - age, CHILD, DEAD_HOST)
    return "aaa"


@pytest.fixture(autouse=True)
def _schedules(bench: Bench) -> None:
    bench.state.add(a_schedule(next_fire_at=NOW + 600, overlap_policy="skip"))


# --- launched ---------------------------------------------------------------------------------------------------------


async def test_a_dead_child_has_failed_and_the_reason_names_its_lost_supervisor(bench: Bench) -> None:
    left_behind(bench)
    bench.processes.output["aaa"] = OutputTail("half done", "", 9, 0)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    row = bench.state.firings["aaa"]
    assert (row.status, row.exit_code) == ("failed", None)
    assert "the host that launched it is gone, exit code unknown" in (row.reason_summary or "")
    assert "half done" in (row.error_detail or "")
    (ended,) = bench.state.ends
    assert (ended.source, ended.actor) == ("system", "scheduler_startup_reconciliation")
    assert bench.processes.notes == {}


async def test_a_dead_child_whose_runs_ended_is_judged_by_them(bench: Bench) -> None:
    left_behind(bench)
    bench.state.runs["inv"].append(RunRecord("r", status="completed"))
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    row = bench.state.firings["aaa"]
    assert (row.status, row.reason_code) == ("completed", "run.completed.ok")
    assert "exit code unknown" in (row.reason_summary or "")
    assert bench.state.invocations["inv"] == "completed"


async def test_a_live_child_is_followed_to_its_end(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio_tui.scheduler.adoption.FOLLOW_EVERY", 0.01)
    left_behind(bench)
    bench.processes.living.add(CHILD)
    await bench.engine.recovery.begin()
    await bench.engine.recovery.repeat()
    assert bench.engine.supervisor.busy("tick") == 1, "once"
    assert bench.engine.supervisor.running == (), "we did not launch it"
    assert bench.state.firings["aaa"].status == "running"
    bench.state.add(replace(bench.state.schedules["tick"], next_fire_at=NOW))
    assert await bench.due() == "skipped", "and it still counts as running"
    bench.processes.living.clear()
    await bench.engine.supervisor.idle()
    assert bench.state.firings["aaa"].status == "failed"


async def test_a_live_child_past_its_deadline_is_stopped(bench: Bench) -> None:
    left_behind(bench, age=7300)
    bench.processes.living.add(CHILD)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    assert bench.processes.stopped == [CHILD]
    assert bench.state.firings["aaa"].status == "timed_out"


@pytest.mark.parametrize(("terminate", "what", "status"), [(False, "left", "running"), (True, "stopped", "cancelled")])
async def test_a_followed_child_shares_the_fate_of_the_others(bench: Bench, terminate: bool, what: str, status: str) -> None:
    left_behind(bench)
    bench.processes.living.add(CHILD)
    await bench.engine.recovery.begin()
    (fate,) = await bench.engine.supervisor.stop(terminate=terminate)
    assert (fate.what, fate.pid, fate.schedule_name) == (what, 50, "tick")
    assert bench.state.firings["aaa"].status == status
    assert bench.processes.stopped == ([CHILD] if terminate else [])


async def test_a_child_of_another_console_that_lives_is_left_to_it(bench: Bench) -> None:
    left_behind(bench)
    bench.processes.notes["aaa"] = LaunchNote("aaa", NOW, CHILD, OTHER_CONSOLE)
    bench.processes.living.add(OTHER_CONSOLE)
    await bench.engine.recovery.begin()
    assert bench.engine.supervisor.busy(None) == 0
    bench.processes.living.clear()
    await bench.engine.recovery.repeat()
    await bench.engine.supervisor.idle()
    assert bench.state.firings["aaa"].status == "failed", "until that console dies"


async def test_a_console_on_another_machine_counts_as_living(bench: Bench) -> None:
    left_behind(bench)
    bench.processes.unknown.add(DEAD_HOST)
    await bench.engine.recovery.begin()
    assert bench.engine.supervisor.busy(None) == 0
    assert bench.state.firings["aaa"].status == "running"


async def test_what_was_handed_off_is_followed_at_once(bench: Bench) -> None:
    left_behind(bench)
    bench.processes.notes["aaa"] = LaunchNote("aaa", NOW, CHILD, None)
    bench.processes.living.add(CHILD)
    await bench.engine.recovery.begin()
    assert bench.engine.supervisor.busy("tick") == 1


@pytest.mark.parametrize(
    ("runs", "ended"),
    [
        ([], False),
        ([RunRecord("r", status="running")], False),
        ([RunRecord("r", status="completed", ended_at=NOW - 5)], False),
        ([RunRecord("r", status="completed", ended_at=NOW - 31)], True),
        ([RunRecord("r", status="completed", ended_at=NOW - 31), RunRecord("q", status="running")], False),
    ],
)
async def test_a_firing_that_the_peer_launched_is_judged_by_its_runs_alone(
    bench: Bench, runs: list[RunRecord], ended: bool
) -> None:
    left_behind(bench, note=False)
    bench.state.runs["inv"] += runs
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    assert (bench.state.firings["aaa"].status == "completed") is ended


async def test_the_chain_goes_on_with_the_context_of_the_normal_path(bench: Bench) -> None:
    bench.state.add(a_schedule(next_fire_at=NOW + 600, on_fail={"action_command": "sh", "on_fail": None}))
    bench.processes.at_once = 0
    left_behind(bench)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    child = bench.state.rows()[-1]
    assert (child.status, child.chain_parent_id, child.chain_depth) == ("completed", "aaa", 1)
    assert child.trigger_context == {
        "scheduled": True,
        "chain_from": "aaa",
        "parent_exit_code": None,
        "parent_status": "failed",
    }


STEP = {"action_command": "sh", "on_fail": None}


async def test_a_parent_that_ends_while_its_host_goes_has_its_next_step_begun_by_the_next_host(bench: Bench) -> None:
    bench.state.add(a_schedule(on_fail=STEP, max_runs=1))
    assert await bench.due() == "fired"
    process = await bench.launched()
    bench.engine.closing.set()
    process.end(7)
    await bench.engine.supervisor.idle()
    parent, step = bench.state.rows()
    assert (parent.status, step.status, step.dispatched_at) == ("failed", "running", None)
    assert len(bench.processes.launched) == 1, "nothing is begun while it shuts down"
    bench.assemble()
    bench.clock.advance(11)
    bench.processes.at_once = 0
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    _, buried, child = bench.state.rows()
    assert (buried.status, buried.reason_code) == ("failed", "run.failed.never_dispatched")
    assert (child.status, child.chain_parent_id, child.chain_depth, child.argv) == ("completed", parent.run_id, 1, ("sh",))
    assert child.trigger_context == step.trigger_context
    assert (child.trigger_context["parent_exit_code"], child.trigger_context["parent_status"]) == (7, "failed")
    assert not bench.state.schedules["tick"].enabled, "its last run had turned it off, and the chain went on all the same"


def a_chain(bench: Bench, *, dispatched: bool, on_fail: dict[str, object]) -> None:
    """A first firing that failed, and its step, which was left behind."""
    bench.state.add(a_schedule(next_fire_at=NOW + 600, on_fail=on_fail))
    bench.state.firings["ppp"] = FiringRecord("ppp", "tick", "inv0", "failed", "command", NOW - 90, exit_code=3)
    left_behind(bench, dispatched=dispatched, note=dispatched, chain_depth=1, chain_parent_id="ppp")
    bench.processes.at_once = 1


async def test_a_step_that_was_left_behind_goes_on_as_the_step_that_it_is(bench: Bench) -> None:
    a_chain(bench, dispatched=True, on_fail={"action_command": "sh", "on_fail": {"action_command": "true", "on_fail": None}})
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    assert [(row.chain_depth, row.argv) for row in bench.state.rows()[2:]] == [(2, ("true",))]


async def test_a_step_that_ends_its_chain_ends_it_under_any_host(bench: Bench) -> None:
    a_chain(bench, dispatched=True, on_fail=STEP)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    assert [row.status for row in bench.state.rows()] == ["failed", "failed"]
    assert bench.processes.launched == []


@pytest.mark.parametrize("missing", ["parent", "step", "schedule"])
async def test_a_step_that_can_no_longer_be_known_is_not_begun(bench: Bench, missing: str) -> None:
    a_chain(bench, dispatched=False, on_fail=STEP)
    if missing == "parent":
        del bench.state.firings["ppp"]
    elif missing == "step":
        bench.state.add(a_schedule(next_fire_at=NOW + 600))
    else:
        bench.state.schedules.clear()
    await bench.engine.recovery.begin()
    assert bench.state.firings["aaa"].reason_code == "run.failed.never_dispatched"
    assert bench.processes.launched == []


async def test_the_last_run_found_by_recovery_turns_the_schedule_off(bench: Bench) -> None:
    bench.state.add(a_schedule(next_fire_at=NOW + 600, max_runs=1))
    left_behind(bench)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    assert not bench.state.schedules["tick"].enabled


async def test_a_firing_that_somebody_else_ends_meanwhile_is_his(bench: Bench) -> None:
    bench.state.add(a_schedule(next_fire_at=NOW + 600, on_fail={"action_command": "sh"}))
    left_behind(bench)
    rows = await bench.state.list_dispatched()
    bench.state.firings["aaa"] = replace(rows[0], status="timed_out")

    async def stale() -> tuple[FiringRecord, ...]:
        return rows

    bench.state.list_dispatched = stale  # type: ignore[method-assign]
    await bench.engine.recovery.repeat()
    await bench.engine.supervisor.idle()
    assert [row.status for row in bench.state.rows()] == ["timed_out"], "no second end, no chain"


async def test_a_firing_whose_schedule_is_gone_is_ended_too(bench: Bench) -> None:
    left_behind(bench)
    bench.state.schedules.clear()
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    assert bench.state.firings["aaa"].status == "failed"


# --- claimed, never launched ------------------------------------------------------------------------------------------


async def test_what_was_never_launched_is_fired_again_under_a_new_id(bench: Bench) -> None:
    bench.processes.at_once = 0
    left_behind(bench, dispatched=False, note=False)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    old, new = bench.state.rows()
    assert (old.status, old.reason_code) == ("failed", "run.failed.never_dispatched")
    assert new.run_id in (old.reason_summary or "")
    assert (new.status, new.trigger_context) == ("completed", old.trigger_context)
    assert bench.state.schedules["tick"].next_fire_at == NOW + 600, "its instant was claimed long ago"
    assert bench.state.invocations["inv"] == "failed"
    await bench.engine.recovery.repeat()
    assert len(bench.state.rows()) == 2


async def test_a_young_row_is_left_to_the_host_that_is_about_to_launch_it(bench: Bench) -> None:
    left_behind(bench, dispatched=False, note=False, age=5)
    await bench.engine.recovery.begin()
    assert bench.state.firings["aaa"].status == "running"
    assert bench.engine.recovery.undecided
    bench.clock.advance(6)
    bench.processes.at_once = 0
    await bench.engine.recovery.repeat()
    assert not bench.engine.recovery.undecided
    assert bench.state.firings["aaa"].status == "failed"


async def test_a_young_row_whose_launch_was_noted_needs_no_waiting(bench: Bench) -> None:
    left_behind(bench, dispatched=False, age=1)
    bench.processes.living.add(CHILD)
    await bench.engine.recovery.begin()
    assert bench.engine.supervisor.busy("tick") == 1


async def test_a_slow_start_under_a_living_console_is_left_alone(bench: Bench) -> None:
    left_behind(bench, dispatched=False)
    bench.processes.notes["aaa"] = LaunchNote("aaa", NOW, None, OTHER_CONSOLE)
    bench.processes.living.add(OTHER_CONSOLE)
    await bench.engine.recovery.begin()
    assert bench.state.firings["aaa"].status == "running"


async def test_a_launch_that_was_not_recorded_is_found_and_followed(bench: Bench) -> None:
    left_behind(bench, dispatched=False)
    bench.processes.living.add(CHILD)
    await bench.engine.recovery.begin()
    assert bench.state.firings["aaa"].dispatched_at == NOW - 60
    assert bench.engine.supervisor.busy("tick") == 1
    assert len(bench.state.rows()) == 1, "and not launched a second time"


async def test_a_host_that_died_in_the_act_of_starting_is_not_outdone(bench: Bench) -> None:
    left_behind(bench, dispatched=False)
    bench.processes.notes["aaa"] = LaunchNote("aaa", NOW, None, DEAD_HOST)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert (row.status, row.reason_code) == ("failed", "run.failed.never_dispatched")
    assert "whether it ran is not known" in (row.reason_summary or "")


@pytest.mark.parametrize(
    ("columns", "chain_depth"), [({}, 1), ({"enabled": False}, 0), ({"defects": ("rate_limit",)}, 0), ({"budget_tokens": 0}, 0)]
)
async def test_what_may_not_be_fired_again_is_ended(bench: Bench, columns: dict[str, object], chain_depth: int) -> None:
    bench.state.add(a_schedule(next_fire_at=NOW + 600, **columns))
    left_behind(bench, dispatched=False, note=False, chain_depth=chain_depth)
    await bench.engine.recovery.begin()
    (row,) = bench.state.rows()
    assert (row.status, row.reason_code) == ("failed", "run.failed.never_dispatched")
    assert bench.processes.launched == []


async def test_firing_again_asks_the_gates_and_does_not_count_itself(bench: Bench) -> None:
    bench.assemble(slots=1)
    bench.processes.at_once = 0
    bench.state.add(
        a_schedule(next_fire_at=NOW + 600, max_runs=1, rate_limit={"max_fires": 1, "window_sec": 3600}, overlap_policy="skip")
    )
    left_behind(bench, dispatched=False, note=False)
    await bench.engine.recovery.begin()
    await bench.engine.supervisor.idle()
    assert [row.status for row in bench.state.rows()] == ["failed", "completed"]


async def test_firing_again_waits_while_another_one_runs(bench: Bench) -> None:
    await bench.engine.occurrences.by_hand("tick")
    left_behind(bench, dispatched=False, note=False)
    await bench.engine.recovery.repeat()
    assert bench.state.firings["aaa"].status == "running"
    (await bench.launched()).end(0)
    await bench.engine.supervisor.idle()
    bench.processes.at_once = 0
    await bench.engine.recovery.repeat()
    await bench.engine.supervisor.idle()
    assert [row.status for row in bench.state.rows()] == ["completed", "failed", "completed"]


# --- zones, and trouble -----------------------------------------------------------------------------------------------


async def test_cron_rows_get_their_zone_and_their_next_instant(bench: Bench) -> None:
    cron = {"trigger_type": "cron", "cron_expr": "0 4 * * *", "interval_sec": None}
    bench.state.add(
        a_schedule("moved", **cron, next_fire_at=NOW + 5),
        a_schedule("due", **cron, next_fire_at=NOW - 600),
        a_schedule("bare", **cron, next_fire_at=None),
        a_schedule("own", **cron, next_fire_at=None, resolved_timezone="Asia/Tokyo"),
        a_schedule("broken", **{**cron, "cron_expr": "0 0 30 2 *"}, next_fire_at=NOW + 5),
    )
    await bench.engine.recovery.begin()
    four = NOW - NOW % 86_400 + 4 * 3600
    stored = bench.state.schedules
    assert stored["moved"].next_fire_at == stored["bare"].next_fire_at == four
    assert stored["due"].next_fire_at == NOW - 600, "left to the missed pass"
    assert stored["own"].next_fire_at == four - 9 * 3600 + 86_400
    assert stored["broken"].next_fire_at == NOW + 5
    assert (stored["due"].effective_timezone, stored["due"].effective_timezone_source) == ("UTC", "env:TZ")
    assert (stored["own"].effective_timezone, stored["own"].effective_timezone_source) == (
        "Asia/Tokyo",
        "schedule:resolved_timezone",
    )
    before = bench.state.asked["arm"]
    await bench.engine.recovery.begin()
    assert bench.state.asked["arm"] == before, "what is right already is not written again"


@pytest.mark.parametrize("failure", [RuntimeError("bad row"), Conflict("x", expected=None, actual=None)])
async def test_one_bad_row_does_not_cost_the_others(bench: Bench, failure: Exception) -> None:
    left_behind(bench, dispatched=False, note=False)
    bench.state.firings["bbb"] = replace(bench.state.firings["aaa"], run_id="bbb", invocation_id="inv2", chain_depth=1)
    bench.state.created["bbb"] = 0.0
    bench.state.trouble["get_schedule"] = [failure]
    await bench.engine.recovery.repeat()
    assert [row.status for row in bench.state.rows()] == ["running", "failed"]


async def test_two_passes_at_once_take_turns(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    left_behind(bench, dispatched=False, note=False)
    looking, go_on = threading.Event(), threading.Event()

    def recall(run_id: str) -> None:
        looking.set()
        go_on.wait(10)

    monkeypatch.setattr(bench.processes, "recall", recall)
    first = asyncio.create_task(bench.engine.recovery.repeat())
    await asyncio.to_thread(looking.wait, 10)
    bench.state.firings["aaa"] = replace(bench.state.firings["aaa"], status="failed")
    second = asyncio.create_task(bench.engine.recovery.repeat())
    for _ in range(20):
        await asyncio.sleep(0)  # the second one gets as far as it can
    go_on.set()
    await asyncio.gather(first, second)
    assert not caplog.records, "the second pass forgot what the first had met"


async def test_a_store_that_is_gone_ends_the_pass(bench: Bench) -> None:
    left_behind(bench, dispatched=False, note=False)
    bench.state.trouble["get_schedule"] = [StateUnavailable("gone", retryable=True)]
    with pytest.raises(StateUnavailable):
        await bench.engine.recovery.repeat()


async def test_an_end_that_could_not_be_written_is_found_by_the_next_pass(bench: Bench) -> None:
    bench.state.add(a_schedule())
    await bench.due()
    process = await bench.launched()
    bench.state.trouble["finish"] = [Conflict("x", expected=None, actual=None, message="nonsense")]
    process.end(0)
    await bench.engine.supervisor.idle()
    assert [row.status for row in bench.state.rows()] == ["running"]
    await bench.engine.recovery.repeat()
    await until(lambda: bench.state.rows("failed"))
