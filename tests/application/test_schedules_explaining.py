"""Why a schedule fires or does not: the gates in their order for a firing to come, records for one that has passed."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.models.why import NextQuery, Why, WhyQuery
from studio_tui.application.ports import HostRecord, Spend
from studio_tui.domain.identity import ProcessIdentity
from studio_tui.domain.runs import TransitionRecord
from studio_tui.domain.schedules import Zone
from studio_tui.domain.thresholds import Reading
from tests.application.records import Schedules, a_firing, a_schedule
from tests.fakes.ports import NOW

ORDER = (
    *("hosted", "held", "enabled", "definition", "due", "threshold"),
    *("overlap", "budget", "rate", "max_runs", "slots", "launch"),
)


@pytest.fixture
def world() -> Schedules:
    return Schedules()


async def _why(world: Schedules, at: float | None = None, **fields: Any) -> Why:
    if not world.port.schedules:
        world.port.add(a_schedule(**fields))
    return await world.service.why(WhyQuery(schedule_id="schedule-1", at=at))


def _refusals(why: Why) -> list[str]:
    return [gate.gate for gate in why.gates if not gate.passed]


async def test_a_schedule_that_will_fire_passes_every_gate_in_the_order_of_the_scheduler(world: Schedules) -> None:
    why = await _why(world)
    assert tuple(gate.gate for gate in why.gates) == ORDER
    assert (why.about, why.fires, _refusals(why), why.at) == ("coming", True, [], NOW + 30)
    assert why.answer == "will fire at Thu 2026-03-12 04:12:30 CET, as things stand now"


@pytest.mark.parametrize(
    ("fields", "gate", "words"),
    [
        ({"enabled": False}, "enabled", "it is off"),
        ({"overlap_policy": "queue"}, "definition", "overlap_policy: unknown overlap policy 'queue'"),
        ({"interval_sec": None}, "definition", "interval_sec: the interval is missing"),
        ({"trigger_type": "github_poll", "github_repo": "a b"}, "definition", "github_repo: 'a b' is no repository"),
        (
            {"trigger_type": "github_poll", "github_repo": "a/b", "poller_consecutive_401": 3, "last_healthy_poll_at": NOW - 900},
            "due",
            "GitHub did not accept the token, 3 times in a row (401) (last answered 15 min ago)",
        ),
        ({"next_fire_at": None}, "due", "no instant is stored"),
        ({"next_fire_at": NOW - 90}, "due", "was missed (missed-fire policy: skip)"),
        (
            {"threshold_config": {"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": 5}},
            "threshold",
            "no alert: failed_sessions is 0 in 5 min, alerts above 1",
        ),
    ],
)
async def test_the_gate_that_decides_is_named_with_its_words(
    world: Schedules, fields: dict[str, Any], gate: str, words: str
) -> None:
    why = await _why(world, **fields)
    assert (why.fires, _refusals(why)) == (False, [gate])
    assert words in why.answer
    assert why.answer.startswith("will not fire: ")


async def test_a_poll_says_when_it_asks_and_what_the_host_says_of_the_last_answer(world: Schedules) -> None:
    poll = {"trigger_type": "github_poll", "github_repo": "a/b", "last_healthy_poll_at": NOW - 60, "interval_sec": None}
    why = await _why(world, **poll)
    assert (why.fires, why.answer) == (True, "GitHub is asked in 30 s, last answered 1 min ago; each new event fires")
    world.host.poll_words = "GitHub answers with an error (502)"
    why = await world.service.why(WhyQuery(schedule_id="schedule-1"))
    assert (why.fires, why.answer) == (False, "will not fire: GitHub answers with an error (502) (last answered 1 min ago)")


async def test_events_wait_for_a_firing_that_runs(world: Schedules) -> None:
    world.port.firing_rows = [a_firing("f1", status="running")]
    why = await _why(world, trigger_type="github_poll", github_repo="a/b", interval_sec=None)
    assert (_refusals(why), why.answer[:11]) == (["overlap"], "will wait: ")


async def test_an_alert_names_its_figure(world: Schedules) -> None:
    world.port.reading = Reading(4.0)
    why = await _why(world, threshold_config={"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": 5})
    assert why.fires
    gate = next(gate for gate in why.gates if gate.gate == "threshold")
    assert (gate.words, gate.evidence["value"]) == ("alert: failed_sessions is 4 in 5 min, alerts above 1", 4.0)


async def test_what_runs_is_listed_by_its_ids(world: Schedules) -> None:
    world.port.firing_rows = [a_firing("f1", status="running"), a_firing("g1", status="running", schedule_id="other")]
    why = await _why(world)
    assert _refusals(why) == ["overlap"]
    gate = next(gate for gate in why.gates if gate.gate == "overlap")
    assert (gate.evidence["running_ids"], gate.reason_code) == (["f1"], "schedule.skipped.overlap")
    assert "f1" in why.answer
    assert "g1" not in why.answer


async def test_a_budget_names_what_is_spent_and_the_limit(world: Schedules) -> None:
    world.port.spend = Spend(2.5, 40, 1)
    why = await _why(world, budget_usd=2.0)
    assert _refusals(why) == ["budget"]
    assert "$2.50 of $2.00 spent" in why.answer
    assert next(gate for gate in why.gates if gate.gate == "budget").evidence == {"usd": 2.5, "tokens": 40, "unreported": 1}


async def test_a_rate_counts_the_window_and_only_waits(world: Schedules) -> None:
    world.port.firing_rows = [a_firing("f1", 30), a_firing("f2", 90)]
    why = await _why(world, rate_limit={"max_fires": 1, "window_sec": 60})
    assert _refusals(why) == ["rate"]
    assert why.answer == "will wait: rate limit: 1 of 1 in 60 s; waits"
    later = await world.service.why(WhyQuery(schedule_id="schedule-1", at=NOW + 90))
    assert _refusals(later) == []


async def test_runs_that_are_used_up_and_slots_that_are_taken(world: Schedules) -> None:
    world.host.slots = 1
    world.port.firing_rows = [a_firing("f1"), a_firing("g1", status="running", schedule_id="other")]
    why = await _why(world, max_runs=1)
    assert _refusals(why) == ["max_runs", "slots"]
    assert why.answer == "will not fire: limit reached: 1 of 1 run used"


async def test_what_the_launch_would_refuse_is_the_last_gate(world: Schedules) -> None:
    world.refusal = "directory '/gone' does not exist"
    why = await _why(world)
    assert _refusals(why) == ["launch"]
    assert "/gone" in why.answer


@pytest.mark.parametrize(
    ("host", "refusals", "words"),
    [
        ({"state": "off", "reason": "no process hosts it now"}, ["hosted"], "will not fire: no process hosts it now"),
        ({"state": "undecided"}, ["hosted"], "will not fire: nobody has said yet"),
        ({"state": "held", "reason": "held for 1 h"}, ["held"], "will wait: firing is held: held for 1 h"),
        ({"state": "stalled"}, ["hosted"], "the scheduler stalled"),
        ({"state": "standby", "reason": "a li studio daemon runs"}, [], "will fire"),
        (
            {"state": "standby", "holder": HostRecord(ProcessIdentity(7, None, "box", None), "studio-tui", NOW, NOW)},
            [],
            "will fire",
        ),
    ],
)
async def test_who_fires_comes_first(world: Schedules, host: dict[str, Any], refusals: list[str], words: str) -> None:
    for name, value in host.items():
        setattr(world.host, name, value)
    why = await _why(world)
    assert _refusals(why) == refusals
    assert words in why.answer


async def test_a_hold_keeps_back_what_is_due_before_it_ends(world: Schedules) -> None:
    world.host.state, world.host.held_until = "held", NOW + 45
    why = await _why(world)
    assert (_refusals(why), why.answer) == (["held"], "will wait: firing is held for 45 s more")
    assert _refusals(await _why(world, NOW + 90)) == []
    world.host.state = "off"  # a hold is remembered while nobody hosts
    assert _refusals(await _why(world)) == ["hosted", "held"]
    world.host.state, world.host.held_until = "hosting", NOW - 1
    assert _refusals(await _why(world)) == []


async def test_before_and_after_a_gate_opens(world: Schedules) -> None:
    world.port.firing_rows = [a_firing("f1", status="running")]
    assert _refusals(await _why(world)) == ["overlap"]
    world.port.firing_rows = [a_firing("f1")]
    assert _refusals(await _why(world)) == []


async def test_a_missed_instant_that_is_made_up_for_will_fire(world: Schedules) -> None:
    assert (await _why(world, next_fire_at=NOW - 90, missed_fire_policy="run_once")).fires


async def test_an_instant_of_the_calendar_and_one_beside_it(world: Schedules) -> None:
    why = await _why(world, NOW + 90)
    assert (why.fires, why.at) == (True, NOW + 90)
    typed = await _why(world, NOW + 30.7)  # nobody types fractions of a second
    assert typed.fires
    beside = await _why(world, NOW + 91)
    assert (_refusals(beside), beside.answer) == (["due"], "will not fire: it is not due at that time")
    before = await _why(world, NOW + 10)
    assert _refusals(before) == ["due"]


async def test_an_instant_of_the_calendar_before_the_stored_one_is_not_due(world: Schedules) -> None:
    moved = {"trigger_type": "cron", "interval_sec": None, "cron_expr": "* * * * *", "next_fire_at": NOW + 120}
    assert _refusals(await _why(world, NOW + 60, **moved)) == ["due"]


async def test_an_overdue_instant_is_still_to_come(world: Schedules) -> None:
    why = await _why(world, NOW - 10.4, next_fire_at=NOW - 10)
    assert (why.about, why.fires) == ("coming", True)


async def test_what_follows_a_firing_is_said(world: Schedules) -> None:
    why = await _why(world, on_fail={"kind": "agent", "agent": "fixer", "prompt": "x"})
    assert why.chain == (
        "on fail: kind agent, agent fixer with a prompt of its own; repeats until the depth limit of 10 (it inherits on_fail)",
    )


# --- what has passed --------------------------------------------------------------------------------------------------


def _line(ago: float, status: str, code: str, summary: str | None = None) -> TransitionRecord:
    return TransitionRecord("t", "schedule", "schedule-1", None, status, code, summary, "cli", "ann", NOW - ago)


async def test_a_past_instant_is_answered_by_the_row_that_was_due_then(world: Schedules) -> None:
    skipped = {"status": "skipped", "reason_code": "schedule.skipped.overlap", "reason_summary": "still running: 1 firing"}
    world.port.firing_rows = [a_firing("f1", 3_600), a_firing("f2", 1_799.5, **skipped)]
    world.port.history = [_line(7_200, "enabled", "schedule_definition.created.observed")]
    why = await _why(world, NOW - 1_800)
    assert (why.about, why.fires, why.answer) == ("past", False, "did not fire: still running: 1 firing")
    assert why.firing is not None
    assert why.firing.firing_id == "f2"
    assert why.records == ("recorded reason: schedule.skipped.overlap", "it was on then (created by ann)")
    assert why.gates == ()


async def test_a_missed_instant_is_found_by_what_was_recorded_later(world: Schedules) -> None:
    missed = {
        "status": "skipped",
        "reason_code": "schedule.skipped.missed_fire",
        "trigger_context": {"missed_fire_at": NOW - 9_000},
    }
    world.port.firing_rows = [a_firing("f1", 10_000), a_firing("f2", 60, **missed)]
    why = await _why(world, NOW - 9_000)
    assert why.firing is not None
    assert (why.firing.firing_id, why.fires) == ("f2", False)


async def test_a_launch_that_was_refused_did_not_fire(world: Schedules) -> None:
    refused = {"status": "failed", "dispatched_at": None, "reason_summary": "no such directory"}
    world.port.firing_rows = [a_firing("f1", 60, **refused)]
    why = await world.service.why(WhyQuery(schedule_id=await _added(world), firing_id="f1"))
    assert (why.fires, why.answer) == (False, "did not fire: no such directory")


async def _added(world: Schedules) -> str:
    world.port.add(a_schedule())
    return "schedule-1"


async def test_nothing_recorded_is_said_and_not_guessed(world: Schedules) -> None:
    world.port.firing_rows = [a_firing("f1", 9_000), a_firing("f2", 60, status="failed", reason_summary="exit code 3")]
    world.port.history = [
        _line(9_900, "enabled", "schedule_definition.created.observed"),
        _line(5_000, "disabled", "schedule_definition.disabled.manual", "disk full"),
    ]
    why = await _why(world, NOW - 3_600)
    assert (why.fires, why.firing, why.answer) == (None, None, "nothing is recorded at that time")
    assert why.records[0] == "it was off then (disk full by ann)"
    assert why.records[1].startswith("the last row before: Thu 2026-03-12 01:42")
    assert why.records[2].endswith("failed, exit code 3")
    unknown = await world.service.why(WhyQuery(schedule_id="schedule-1", at=NOW - 90_000))
    assert unknown.records[0] == "whether it was on then is not recorded"


async def test_a_row_of_another_schedule_is_not_its_own(world: Schedules) -> None:
    world.port.firing_rows = [a_firing("g1", schedule_id="other")]
    with pytest.raises(NotFound):
        await world.service.why(WhyQuery(schedule_id=await _added(world), firing_id="g1"))
    with pytest.raises(NotFound):
        await world.service.why(WhyQuery(schedule_id="nobody"))


async def test_a_store_that_does_not_answer_is_no_answer(world: Schedules) -> None:
    world.port.add(a_schedule())
    world.port.trouble = StateUnavailable("locked", retryable=True)
    with pytest.raises(StateUnavailable):
        await _why(world)


# --- the coming fires -------------------------------------------------------------------------------------------------


async def test_the_coming_fires_are_those_that_the_scheduler_computes(world: Schedules) -> None:
    world.port.add(a_schedule())
    cadence = await world.service.next_fires(NextQuery(schedule_id="schedule-1", count=3))
    assert [fire.at for fire in cadence.fires] == [NOW + 30, NOW + 90, NOW + 150]
    assert cadence.warnings == ()


async def test_daylight_saving_is_noted_at_the_fire_that_it_moves(world: Schedules) -> None:
    world.port.add(a_schedule(trigger_type="cron", interval_sec=None, cron_expr="30 2 * * *"))
    cadence = await world.service.next_fires(NextQuery(schedule_id="schedule-1", count=20))
    assert (cadence.zone, cadence.zone_source) == ("Europe/Berlin", "env:TZ")
    (moved,) = [fire for fire in cadence.fires if fire.note]
    assert moved.local == "Sun 2026-03-29 03:00 CEST"
    assert moved.note is not None
    assert "does not exist" in moved.note


async def test_a_schedule_that_is_off_or_not_hosted_says_so_beside_its_fires(world: Schedules) -> None:
    world.port.add(a_schedule(enabled=False, max_runs=0))
    cadence = await world.service.next_fires(NextQuery(schedule_id="schedule-1", count=1))
    assert cadence.fires
    assert "it is off" in cadence.warnings[0]
    assert "max_runs" in cadence.warnings[1]


async def test_a_broken_trigger_has_no_fires_but_a_fault() -> None:
    world = Schedules(zone=Zone("UTC", "fallback:utc"))
    world.port.add(a_schedule(trigger_type="cron", cron_expr="0 0 31 2 *"))
    with pytest.raises(ValidationFailure) as caught:
        await world.service.next_fires(NextQuery(schedule_id="schedule-1"))
    assert caught.value.field_errors[0].path == ("trigger", "expression")
