"""One fire: gates, rows, launch, end."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from studio_tui.application.errors import Conflict, NotFound, StateUnavailable, StudioApplicationError, ValidationFailure
from studio_tui.application.ports import OutputTail, Spend
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import ScheduleRecord
from tests.fakes.clock import NOW
from tests.processes.waiting import until
from tests.scheduler.conftest import Bench, a_schedule


async def test_a_plain_fire(bench: Bench) -> None:
    bench.state.add(a_schedule(action_command_args=("--at", "{{fired_at}}")))
    bench.clock.advance(2.5)
    assert await bench.due() == "fired"
    process = await bench.launched()
    (row,) = bench.state.rows()
    await until(lambda: bench.state.firings[row.run_id].dispatched_at)
    assert row.trigger_context == {"scheduled": True, "fired_at": NOW + 2.5, "next_fire_at": NOW}
    assert row.argv == ("true", "--at", str(NOW + 2.5))
    assert process.spec.argv[0].endswith("/true")
    assert process.spec.argv[1:] == row.argv[1:]
    assert process.spec.environment == {"LIONAGI_INVOCATION_ID": row.invocation_id}
    assert process.spec.without == ("LIONAGI_STATE_DB_URL",), "a command learns nothing of the store"
    assert bench.state.schedules["tick"].next_fire_at == NOW + 60, "counted from the planned instant, not from the fire"
    assert bench.engine.supervisor.running == (row.run_id,)
    process.end(0)
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert (row.status, row.exit_code, row.error_detail, row.reason_code) == ("completed", 0, None, "run.completed.ok")
    assert bench.state.invocations == {row.invocation_id: "completed"}
    assert bench.processes.notes == {}
    assert bench.ends == 1


async def test_a_failure_keeps_the_end_of_its_output(bench: Bench) -> None:
    bench.state.add(a_schedule())
    assert await bench.due() == "fired"
    process = await bench.launched()
    bench.processes.output[process.spec.run_id] = OutputTail("out", "err", 3, 3)
    process.end(7)
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert (row.status, row.exit_code, row.error_detail) == ("failed", 7, "err\n[stdout]\nout")


async def test_a_completed_run_does_not_hide_the_exit_code(bench: Bench) -> None:
    bench.state.add(a_schedule())
    await bench.due()
    process = await bench.launched()
    (row,) = bench.state.rows()
    bench.state.runs[row.invocation_id].append(RunRecord("r1", status="completed"))
    process.end(3)
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert (row.status, row.exit_code) == ("failed", 3)
    assert "although every run of it says completed" in (row.reason_summary or "")


async def test_what_cannot_be_started_has_failed_at_once_and_is_not_tried_again(bench: Bench) -> None:
    bench.state.add(a_schedule(on_fail={"action_command": "sh"}))
    bench.processes.refuse = FileNotFoundError(2, "true was not found")
    assert await bench.due() == "fired"
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert (row.status, row.error_detail, row.dispatched_at) == ("failed", "true was not found", None)
    bench.clock.advance(20)
    await bench.engine.recovery.begin()
    assert len(bench.state.rows()) == 1


async def test_the_allow_list_is_asked_again_right_before_the_start(bench: Bench) -> None:
    allowed = [{"true"}, {"true"}]
    bench.assemble(allowed=lambda: allowed.pop() if allowed else frozenset())
    bench.state.add(a_schedule())
    assert await bench.due() == "fired"
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert row.status == "failed"
    assert "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST" in (row.error_detail or "")
    assert bench.processes.launched == []


async def test_a_lost_claim_leaves_nothing(bench: Bench) -> None:
    schedule = a_schedule()
    bench.state.add(replace(schedule, next_fire_at=NOW + 60))  # somebody was quicker
    evaluated = await bench.engine.occurrences.due(schedule, NOW)
    assert evaluated.word == "lost"
    assert bench.state.rows() == []
    assert bench.processes.launched == []


async def test_a_host_whose_lease_is_gone_claims_nothing(bench: Bench) -> None:
    bench.state.add(a_schedule())
    bench.may_launch = False
    assert await bench.due() == "lost"
    assert bench.state.rows() == []


async def test_a_lease_lost_after_the_claim_leaves_the_firing_to_the_next_host(bench: Bench) -> None:
    bench.state.add(a_schedule())
    original = bench.state.claim

    async def claim(*args: object, **named: object) -> bool:
        claimed = await original(*args, **named)  # type: ignore[arg-type]
        bench.may_launch = False
        return claimed

    bench.state.claim = claim  # type: ignore[method-assign]
    assert await bench.due() == "fired"
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows("running")
    assert row.dispatched_at is None
    assert bench.processes.launched == []
    bench.may_launch = True
    bench.clock.advance(20)
    bench.processes.at_once = 0
    await bench.engine.recovery.repeat()
    await bench.engine.supervisor.idle()
    assert [row.status for row in bench.state.rows()] == ["failed", "completed"]
    assert bench.state.rows()[0].reason_code == "run.failed.never_dispatched"
    assert bench.state.rows()[1].trigger_context == row.trigger_context


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"action_command": "reboot"}, "ALLOWLIST"),
        ({"action_cwd": "/no/such/place"}, "/no/such/place"),
        ({"action_command_args": ("{{nothing}}",)}, "there is no value for nothing"),
        ({"action_kind": "play", "action_playbook": "list"}, "is a verb of `li play`"),
    ],
)
async def test_a_refused_launch_is_a_failed_row_with_its_reason(bench: Bench, columns: dict[str, object], words: str) -> None:
    bench.state.add(a_schedule(**columns))
    assert await bench.due() == "failed"
    (row,) = bench.state.rows()
    assert (row.status, row.argv) == ("failed", ())
    assert words in (row.error_detail or "")
    assert bench.state.schedules["tick"].next_fire_at == NOW + 60
    assert bench.processes.launched == []


async def test_the_directory_of_the_project_is_used_when_the_schedule_names_none(bench: Bench, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    folder = tmp_path_factory.mktemp("project")
    bench.state.projects["p"] = str(folder)
    bench.state.add(a_schedule(action_cwd=None, action_project="p"))
    assert await bench.due() == "fired"
    assert (await bench.launched()).spec.cwd == str(folder)


@pytest.mark.parametrize("columns", [{"defects": ("rate_limit",)}, {"interval_sec": None}, {"threshold_config": {"metric": "x"}}])
async def test_a_broken_schedule_fires_nothing_and_is_left_alone(bench: Bench, columns: dict[str, object]) -> None:
    bench.state.add(a_schedule(**columns))
    assert await bench.due() == "broken"
    assert bench.state.rows() == []
    assert bench.state.schedules["tick"].next_fire_at == NOW


async def test_overlap_skip_counts_whoever_runs(bench: Bench) -> None:
    bench.state.add(a_schedule())
    await bench.engine.occurrences.by_hand("tick")
    assert await bench.due() == "skipped"
    _, skipped = bench.state.rows()
    assert (skipped.status, skipped.reason_code) == ("skipped", "schedule.skipped.overlap")
    assert skipped.trigger_context == {"skipped_overlap": True, "fired_at": NOW}
    assert bench.state.schedules["tick"].next_fire_at == NOW + 60
    bench.clock.advance(60)
    bench.assemble()  # another console, which knows nothing of the first one's firings
    assert await bench.due() == "skipped"


async def test_overlap_allow_fires_beside(bench: Bench) -> None:
    bench.state.add(a_schedule(overlap_policy="allow"))
    assert await bench.due() == "fired"
    bench.clock.advance(60)
    assert await bench.due() == "fired"
    assert len(bench.state.rows("running")) == 2


async def test_a_used_up_budget_leaves_a_row_and_turns_the_schedule_off(bench: Bench) -> None:
    bench.state.add(a_schedule(budget_usd=2.0))
    bench.state.spend["tick"] = Spend(2.0, 10, 1)
    assert await bench.due() == "disabled"
    (row,) = bench.state.rows()
    assert (row.status, row.reason_code) == ("skipped", "schedule.budget.exhausted")
    assert row.trigger_context == {"budget_exhausted": True, "fired_at": NOW}
    assert "$2.00 of $2.00 spent" in (row.reason_summary or "")
    ((_, code, _),) = bench.state.disabled
    assert code == "schedule_definition.disabled.budget_exhausted"
    assert bench.state.schedules["tick"].next_fire_at == NOW


async def test_a_rate_limit_only_waits(bench: Bench) -> None:
    bench.state.add(a_schedule(rate_limit={"max_fires": 2, "window_sec": 100}, overlap_policy="allow"))
    bench.processes.at_once = 0
    for _ in range(2):
        assert await bench.due() == "fired"
        bench.clock.advance(60)
    assert await bench.due() == "fired", "the first has left the window"
    await bench.engine.supervisor.idle()
    bench.state.add(replace(bench.state.schedules["tick"], next_fire_at=NOW + 120))
    assert await bench.due() == "waiting"
    assert len(bench.state.rows()) == 3
    assert bench.state.schedules["tick"].next_fire_at == NOW + 120


async def test_the_last_run_turns_the_schedule_off_and_timeouts_count(bench: Bench) -> None:
    bench.state.add(a_schedule(max_runs=2))
    assert (await bench.fire_and_end(0)).status == "completed"
    assert bench.state.schedules["tick"].enabled
    bench.clock.advance(60)
    bench.assemble(deadline=lambda kind: 0.01)
    assert await bench.due() == "fired"
    await bench.engine.supervisor.idle()
    assert bench.state.rows()[-1].status == "timed_out"
    assert not bench.state.schedules["tick"].enabled
    assert bench.state.disabled[0][1] == "schedule_definition.disabled.max_runs"
    bench.state.add(replace(bench.state.schedules["tick"], enabled=True, next_fire_at=bench.clock.now()))
    assert await bench.due() == "disabled", "turned on by hand with nothing left"
    assert len(bench.processes.launched) == 2


async def test_slots_defer_with_a_row_for_the_first_and_each_tenth_interval(bench: Bench) -> None:
    bench.assemble(slots=1)
    bench.state.add(a_schedule("busy"), a_schedule())
    await bench.due("busy")
    for _ in range(22):
        assert await bench.due() == "waiting"
        assert await bench.due() == "waiting", "a second look within the interval is no deferral more"
        bench.clock.advance(30)
    rows = [row for row in bench.state.rows("skipped") if row.schedule_id == "tick"]
    assert [row.reason_code for row in rows] == ["schedule.deferred.capacity"] * 3
    assert [(row.reason_summary or "").partition("(")[2] for row in rows] == ["deferral 1)", "deferral 11)", "deferral 21)"]
    assert rows[0].trigger_context == {"deferred_capacity": True, "fired_at": NOW + 30}, "a shorter wait leaves no row"
    assert bench.state.schedules["tick"].next_fire_at == NOW


async def test_no_limit_is_no_limit(bench: Bench) -> None:
    bench.assemble(slots=0)
    bench.state.add(*(a_schedule(f"s{number}") for number in range(20)))
    for number in range(20):
        assert await bench.due(f"s{number}") == "fired"


async def test_side_by_side_evaluations_never_exceed_the_slots(bench: Bench) -> None:
    bench.assemble(slots=3)
    bench.state.add(*(a_schedule(f"s{number}") for number in range(12)))
    words = await asyncio.gather(*(bench.due(f"s{number}") for number in range(12)))
    assert words.count("fired") == 3
    assert len(bench.state.rows("running")) == 3


async def test_side_by_side_fires_by_hand_never_overlap_nor_exceed_the_runs(bench: Bench) -> None:
    bench.state.add(a_schedule(), a_schedule("few", overlap_policy="allow", max_runs=2))
    bench.assemble(slots=0)
    answers = await asyncio.gather(*(bench.engine.occurrences.by_hand("tick") for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(answer, str) for answer in answers) == 1
    assert all(isinstance(answer, str | Conflict) for answer in answers)
    answers = await asyncio.gather(*(bench.engine.occurrences.by_hand("few") for _ in range(5)), return_exceptions=True)
    assert sum(isinstance(answer, str) for answer in answers) == 2


async def test_a_deadline_stops_the_group(bench: Bench) -> None:
    bench.assemble(deadline=lambda kind: {"command": 0.02}[kind])
    bench.state.add(a_schedule())
    await bench.due()
    process = await bench.launched()
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert process.terminated
    assert (row.status, row.reason_code, row.exit_code) == ("timed_out", "run.timed_out.deadline", None)
    assert bench.state.invocations[row.invocation_id or ""] == "timed_out"


async def test_an_end_is_written_as_soon_as_the_store_answers_again(bench: Bench) -> None:
    bench.state.add(a_schedule())
    bench.state.trouble["finish"] = [StateUnavailable("locked", retryable=True)]
    bench.state.trouble["mark_dispatched"] = [StateUnavailable("locked", retryable=True)]
    row = await bench.fire_and_end(0)
    assert row.status == "completed"
    assert row.dispatched_at is not None


# --- by hand ----------------------------------------------------------------------------------------------------------


async def test_by_hand_works_on_a_disabled_schedule_and_moves_no_instant(bench: Bench) -> None:
    bench.state.add(a_schedule(enabled=False))
    bench.may_launch = False  # and needs no lease
    run_id = await bench.engine.occurrences.by_hand("tick")
    row = bench.state.firings[run_id]
    assert row.trigger_context == {"manual": True, "fired_at": NOW}
    assert len(bench.processes.launched) == 1
    assert bench.state.schedules["tick"].next_fire_at == NOW


@pytest.mark.parametrize(
    ("columns", "error", "words"),
    [
        ({"defects": ("rate_limit",)}, ValidationFailure, "rate_limit: cannot be read"),
        ({"action_command": "reboot"}, ValidationFailure, "ALLOWLIST"),
        ({"action_cwd": "/no/such/place"}, ValidationFailure, "/no/such/place"),
        ({"action_command_args": ("{{pr_number}}",)}, ValidationFailure, "no value for {{pr_number}}"),
        ({"max_runs": 1}, Conflict, "limit reached: 1 of 1 run used"),
        ({"rate_limit": {"max_fires": 1, "window_sec": 60}}, Conflict, "rate limit"),
        ({"budget_tokens": 5}, Conflict, "budget used up"),
        ({}, Conflict, "still running"),
    ],
)
async def test_by_hand_says_why_not(
    bench: Bench, columns: dict[str, object], error: type[StudioApplicationError], words: str
) -> None:
    bench.state.add(a_schedule())
    bench.state.spend["tick"] = Spend(0.0, 5, 0)
    await bench.engine.occurrences.by_hand("tick")
    if columns:
        (await bench.launched()).end(0)
        await bench.engine.supervisor.idle()
    bench.state.add(a_schedule(**columns))
    with pytest.raises(error) as refused:
        await bench.engine.occurrences.by_hand("tick")
    assert words in str(refused.value)
    assert len(bench.state.rows()) == 1
    assert bench.state.disabled == [], "a person's order turns nothing off"


async def test_by_hand_refuses_when_no_slot_is_free(bench: Bench) -> None:
    bench.assemble(slots=1)
    bench.state.add(a_schedule(), a_schedule("other"))
    await bench.due()
    with pytest.raises(Conflict, match="no free slot: 1 of 1 slot taken"):
        await bench.engine.occurrences.by_hand("other")


async def test_by_hand_on_nothing(bench: Bench) -> None:
    with pytest.raises(NotFound):
        await bench.engine.occurrences.by_hand("gone")


async def test_by_hand_on_a_poll_is_a_fire_like_any_other(bench: Bench) -> None:
    bench.state.add(a_schedule(trigger_type="github_poll", github_repo="a/b"))
    assert await bench.engine.occurrences.by_hand("tick") in bench.state.firings


async def test_a_caller_that_goes_away_before_the_claim_fires_nothing(bench: Bench) -> None:
    bench.state.add(a_schedule())
    answers, original = asyncio.Event(), bench.state.get_schedule

    async def slow(schedule_id: str) -> ScheduleRecord | None:
        await answers.wait()
        return await original(schedule_id)

    bench.state.get_schedule = slow  # type: ignore[method-assign]
    before = set(asyncio.all_tasks())
    asked = asyncio.ensure_future(bench.engine.occurrences.by_hand("tick"))
    await asyncio.sleep(0)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asked
    answers.set()
    await until(lambda: set(asyncio.all_tasks()) <= before)
    assert bench.state.rows() == []
    assert await bench.due() == "fired", "and the scheduler goes on"
    assert len(bench.state.rows()) == 1


async def test_a_caller_that_goes_away_after_the_claim_leaves_a_complete_firing(bench: Bench) -> None:
    bench.state.add(a_schedule())
    asked: asyncio.Future[str]
    bench.processes.on_launch = lambda spec: asked.cancel() and None
    bench.processes.at_once = 0
    asked = asyncio.ensure_future(bench.engine.occurrences.by_hand("tick"))
    with pytest.raises(asyncio.CancelledError):
        await asked
    await bench.engine.supervisor.idle()
    (row,) = bench.state.rows()
    assert (row.status, row.dispatched_at is None) == ("completed", False)


# --- going away -------------------------------------------------------------------------------------------------------


async def test_going_away_leaves_what_runs(bench: Bench) -> None:
    bench.state.add(a_schedule())
    await bench.due()
    process = await bench.launched()
    (fate,) = await bench.engine.supervisor.stop(terminate=False)
    assert (fate.what, fate.schedule_name, fate.pid) == ("left", "tick", process.identity.pid)
    assert process.released
    assert not process.terminated
    (row,) = bench.state.rows("running")
    assert row.dispatched_at is not None
    note = bench.processes.notes[row.run_id]
    assert (note.identity, note.supervisor) == (process.identity, None)


async def test_going_away_stops_what_runs_when_told_to(bench: Bench) -> None:
    bench.state.add(a_schedule(on_fail={"action_command": "sh"}))
    bench.processes.report = replace(bench.processes.report, escaped=(77,))
    await bench.due()
    process = await bench.launched()
    (fate,) = await bench.engine.supervisor.stop(terminate=True)
    assert fate.what == "stopped"
    assert "run on: 77" in fate.detail
    assert process.terminated
    (row,) = bench.state.rows()
    assert (row.status, row.reason_code) == ("cancelled", "run.cancelled.system")
    assert row.error_detail == fate.detail


async def test_going_away_while_the_store_is_gone_ends_all_the_same(bench: Bench) -> None:
    bench.state.add(a_schedule())
    await bench.due()
    process = await bench.launched()
    bench.state.trouble["finish"] = [StateUnavailable("locked", retryable=True) for _ in range(50)]
    process.end(0)
    await until(lambda: bench.state.asked["finish"])
    (fate,) = await bench.engine.supervisor.stop(terminate=False)
    assert "its end is not written" in fate.detail


async def test_nothing_is_fired_by_hand_any_more(bench: Bench) -> None:
    bench.state.add(a_schedule())
    await bench.engine.supervisor.stop(terminate=False)
    with pytest.raises(StateUnavailable, match="shuts down"):
        await bench.engine.occurrences.by_hand("tick")
