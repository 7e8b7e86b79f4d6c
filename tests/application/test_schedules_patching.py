"""Changing schedules: only what was sent, judged with what is stored, against the version seen."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.models.schedules import (
    AtTrigger,
    CadenceQuery,
    CronTrigger,
    GithubPollTrigger,
    IntervalTrigger,
    PatchSchedule,
    RateLimit,
    ScheduleAction,
    SchedulePatch,
    ScheduleResult,
    Threshold,
)
from studio_tui.domain.schedules import ScheduleRecord
from tests.application.records import Schedules, a_command, a_firing, a_schedule
from tests.fakes.ports import NOW

SEEN = NOW - 3_600


@pytest.fixture
def world() -> Schedules:
    return Schedules()


async def _patch(world: Schedules, **changes: Any) -> ScheduleResult:
    command = PatchSchedule(schedule_id="schedule-1", expected_updated_at=SEEN, changes=SchedulePatch(**changes))
    return await world.service.patch_schedule(command)


async def _written(world: Schedules, stored: ScheduleRecord, **changes: Any) -> dict[str, Any]:
    """The columns that a patch writes."""
    world.port.add(stored)
    await _patch(world, **changes)
    (change,) = world.port.changes
    values: dict[str, Any] = change["values"]
    return values


async def _faults(world: Schedules, stored: ScheduleRecord, **changes: Any) -> dict[tuple[str | int, ...], str]:
    world.port.add(stored)
    with pytest.raises(ValidationFailure) as caught:
        await _patch(world, **changes)
    assert not world.port.changes
    assert not world.host.wakes
    assert all(fault.message for fault in caught.value.field_errors)
    return {fault.path: fault.code for fault in caught.value.field_errors}


# --- what is written --------------------------------------------------------------------------------------------------


async def test_only_what_was_sent_is_written_and_no_time_changes(world: Schedules) -> None:
    stored = a_schedule(description="old", max_runs=3, next_fire_at=NOW - 7)
    assert await _written(world, stored, description="new") == {"description": "new"}
    assert world.host.wakes == 1
    (note,) = world.sidecar.notes
    assert (note["act"], note["target"], note["detail"]) == ("schedule.update", "schedule-1", {"changed": ["description"]})


async def test_an_explicit_null_clears_and_an_omitted_field_stays(world: Schedules) -> None:
    limits: dict[str, Any] = {"max_runs": 3, "budget_usd": 1.5, "budget_tokens": 9, "description": "x", "project": "shop"}
    threshold = {"metric": "failed_sessions", "op": "gt", "value": 3.0, "window_minutes": 60}
    stored = a_schedule(**limits, rate_limit={"max_fires": 1, "window_sec": 60}, threshold_config=threshold, github_cursor="x")
    cleared = [
        "budget_tokens",
        "budget_usd",
        "description",
        "github_cursor",
        "max_runs",
        "project",
        "rate_limit",
        "threshold_config",
    ]
    assert await _written(world, stored, **dict.fromkeys(cleared)) == dict.fromkeys(cleared)


async def test_what_is_so_already_is_not_written(world: Schedules) -> None:
    world.port.add(a_schedule(max_runs=3))
    result = await _patch(world, name="tidy", max_runs=3, trigger=IntervalTrigger(seconds=60), description=None)
    assert (result.changed, result.updated_at) == ((), SEEN)
    assert (await _patch(world)).changed == ()
    assert not world.port.changes
    assert not world.host.wakes
    assert not world.sidecar.notes


async def test_every_limit_and_policy_can_be_changed(world: Schedules) -> None:
    written = await _written(
        world,
        a_schedule(),
        name=" other ",
        missed_fire_policy="run_once",
        overlap_policy="allow",
        max_runs=5,
        budget_usd=2,
        budget_tokens=10,
        rate_limit=RateLimit(max_fires=2, window_sec=60),
        threshold_config=Threshold(metric="total_cost_usd", op="gte", value=1.5, window_minutes=5),
        github_cursor="2026-07-20T15:21:57Z#0000000007",
        project="shop",
    )
    assert written == {
        "name": "other",
        "missed_fire_policy": "run_once",
        "overlap_policy": "allow",
        "max_runs": 5,
        "budget_usd": 2.0,
        "budget_tokens": 10,
        "rate_limit": {"max_fires": 2, "window_sec": 60},
        "threshold_config": {"metric": "total_cost_usd", "op": "gte", "value": 1.5, "window_minutes": 5},
        "github_cursor": "2026-07-20T15:21:57Z#0000000007",
        "project": "shop",
    }


# --- triggers ---------------------------------------------------------------------------------------------------------


async def test_a_shorter_interval_counts_from_the_last_fire_and_not_from_the_old_instant(world: Schedules) -> None:
    stored = a_schedule(interval_sec=3_600, last_fired_at=NOW - 90, next_fire_at=NOW + 3_510)
    written = await _written(world, stored, trigger=IntervalTrigger(seconds=60))
    assert written == {"interval_sec": 60, "next_fire_at": NOW + 30}


async def test_the_preview_of_a_changed_interval_is_what_will_be_stored(world: Schedules) -> None:
    stored = a_schedule(interval_sec=3_600, last_fired_at=NOW - 90, next_fire_at=NOW + 3_510)
    query = CadenceQuery(trigger=IntervalTrigger(seconds=60), since=stored.last_fired_at, count=1)
    (preview,) = world.service.cadence(query).fires
    assert (await _written(world, stored, trigger=IntervalTrigger(seconds=60)))["next_fire_at"] == preview.at


async def test_from_an_interval_to_cron_and_the_old_columns_go(world: Schedules) -> None:
    written = await _written(world, a_schedule(), trigger=CronTrigger(expression="0 9 * * 1", timezone="Asia/Tokyo"))
    assert written == {
        "trigger_type": "cron",
        "cron_expr": "0 9 * * 1",
        "interval_sec": None,
        "resolved_timezone": "Asia/Tokyo",
        "next_fire_at": 1_773_619_200.0,
    }


async def test_of_a_trigger_of_the_same_kind_only_what_was_sent_changes(world: Schedules) -> None:
    stored = a_schedule(trigger_type="cron", interval_sec=None, cron_expr="0 8 * * 1", resolved_timezone="Asia/Tokyo")
    written = await _written(world, stored, trigger=CronTrigger(expression="0 9 * * 1"))
    assert written == {"cron_expr": "0 9 * * 1", "next_fire_at": 1_773_619_200.0}


async def test_an_explicit_null_gives_a_cron_schedule_back_to_the_hosts_zone(world: Schedules) -> None:
    stored = a_schedule(trigger_type="cron", interval_sec=None, cron_expr="0 9 * * 1", resolved_timezone="Asia/Tokyo")
    written = await _written(world, stored, trigger=CronTrigger(expression="0 9 * * 1", timezone=None))
    assert written["resolved_timezone"] is None
    assert (written["effective_timezone"], written["effective_timezone_source"]) == ("Europe/Berlin", "env:TZ")
    assert written["next_fire_at"] == 1_773_648_000.0


async def test_a_schedule_that_is_off_gets_no_instant_with_a_new_trigger(world: Schedules) -> None:
    written = await _written(world, a_schedule(enabled=False), trigger=IntervalTrigger(seconds=5))
    assert (written["interval_sec"], written["next_fire_at"]) == (5, None)


async def test_a_one_shot_is_given_its_one_run_and_loses_it_with_another_trigger(world: Schedules) -> None:
    written = await _written(world, a_schedule(enabled=False), trigger=AtTrigger(at=NOW + 500))
    assert written == {"trigger_type": "at", "interval_sec": None, "max_runs": 1, "next_fire_at": NOW + 500}
    other = Schedules()
    stored = a_schedule(trigger_type="at", interval_sec=None, max_runs=1, next_fire_at=NOW + 500)
    written = await _written(other, stored, trigger=IntervalTrigger(seconds=60))
    assert (written["max_runs"], written["trigger_type"], written["next_fire_at"]) == (None, "interval", NOW + 60)


async def test_a_one_shot_keeps_its_one_run_whatever_is_sent(world: Schedules) -> None:
    world.port.add(a_schedule(trigger_type="at", interval_sec=None, max_runs=1, next_fire_at=NOW + 500))
    assert (await _patch(world, max_runs=None)).changed == ()
    other = Schedules()
    written = await _written(other, a_schedule(max_runs=7), max_runs=None, trigger=AtTrigger(at=NOW + 500))
    assert (written["trigger_type"], written["max_runs"]) == ("at", 1)


async def test_a_one_shot_can_be_moved(world: Schedules) -> None:
    stored = a_schedule(trigger_type="at", interval_sec=None, max_runs=1, next_fire_at=NOW + 500)
    assert await _written(world, stored, trigger=AtTrigger(at=NOW + 900)) == {"next_fire_at": NOW + 900}


async def test_a_poll_keeps_the_filters_that_were_not_sent(world: Schedules) -> None:
    poll: dict[str, Any] = {"trigger_type": "github_poll", "github_repo": "shop/web", "poll_interval_sec": 300}
    stored = a_schedule(**poll, github_filter={"draft": False}, interval_sec=None, next_fire_at=None)
    written = await _written(world, stored, trigger=GithubPollTrigger(repository="shop/app", poll_interval_seconds=300))
    assert written == {"github_repo": "shop/app", "next_fire_at": None}


# --- actions ----------------------------------------------------------------------------------------------------------


async def test_of_an_action_of_the_same_kind_only_what_was_sent_changes(world: Schedules) -> None:
    stored = a_schedule(action_command_args=("-a",), action_cwd="/srv", on_fail={"prompt": "x", "on_fail": None})
    assert await _written(world, stored, action=ScheduleAction(kind="command", command="echo")) == {"action_command": "echo"}


async def test_another_kind_drops_what_only_the_old_one_used(world: Schedules) -> None:
    stored = a_schedule(action_command_args=("-a",), action_cwd="/srv", on_fail={"prompt": "x", "on_fail": None})
    written = await _written(world, stored, action=ScheduleAction(kind="agent", agent="auditor", prompt="look"))
    assert written == {
        "action_kind": "agent",
        "action_agent": "auditor",
        "action_prompt": "look",
        "action_command": None,
        "action_command_args": [],
    }


async def test_a_chain_can_be_cleared_and_what_its_steps_inherit_is_said(world: Schedules) -> None:
    action: dict[str, Any] = {"action_kind": "agent", "action_agent": "auditor", "action_prompt": "look", "action_command": None}
    world.port.add(a_schedule(**action, on_fail={"prompt": "x", "on_fail": None}))
    result = await _patch(world, action=ScheduleAction(kind="agent", on_fail=None, on_success={"prompt": "then"}))
    assert world.port.changes[0]["values"] == {"on_fail": None, "on_success": {"prompt": "then"}}
    assert any("inherits" in warning for warning in result.warnings)


async def test_leftovers_of_another_writer_do_not_stand_in_the_way(world: Schedules) -> None:
    stored = a_schedule(action_model="provider/model", action_prompt="unused")
    assert await _written(world, stored, action=ScheduleAction(kind="command", command_args=("-b",))) == {
        "action_command_args": ["-b"]
    }


async def test_a_broken_field_can_be_left_while_another_is_mended(world: Schedules) -> None:
    stored = a_schedule(action_command="/no/path", max_runs=0, enabled=False)
    assert await _written(world, stored, max_runs=4) == {"max_runs": 4}


# --- directories ------------------------------------------------------------------------------------------------------


async def test_a_new_schedule_takes_the_directory_of_its_project_once(world: Schedules) -> None:
    world.roots = {"shop": "/srv/shop"}
    action = ScheduleAction(kind="command", command="echo", project="shop")
    await world.service.create_schedule(a_command(action=action))
    assert world.port.created[0]["action_cwd"] == "/srv/shop"


@pytest.mark.parametrize(
    ("cwd", "written"),
    [("/srv/shop", "/srv/atlas"), (None, "/srv/atlas"), ("/srv", "/srv")],
    ids=["that of the project", "none", "a chosen one"],
)
async def test_a_directory_follows_a_change_of_project_unless_it_was_chosen(world: Schedules, cwd: str, written: str) -> None:
    world.roots, world.directories = {"shop": "/srv/shop", "atlas": "/srv/atlas"}, {"/srv", "/srv/shop", "/srv/atlas"}
    world.port.add(a_schedule(action_project="shop", action_cwd=cwd))
    await _patch(world, action=ScheduleAction(kind="command", project="atlas"))
    assert world.port.schedules["schedule-1"].action_project == "atlas"
    assert world.port.schedules["schedule-1"].action_cwd == written


async def test_a_directory_that_is_named_or_cleared_stays_so(world: Schedules) -> None:
    world.roots = {"shop": "/srv/shop"}
    stored = a_schedule(action_cwd="/srv")
    assert await _written(world, stored, action=ScheduleAction(kind="command", project="shop", cwd=None)) == {
        "action_project": "shop",
        "action_cwd": None,
    }


# --- declarations -----------------------------------------------------------------------------------------------------


async def test_the_spelling_of_a_schedule_made_on_the_command_line_is_made_anew(world: Schedules) -> None:
    written = await _written(world, a_schedule(managed_by="cli", action_cwd="/srv"), overlap_policy="allow")
    assert written["authored_spec"]["policies"]["overlap"] == "allow"
    assert written["resolved_target"]["policies"]["overlap"] == "allow"
    assert (written["managed_by"], len(written["resolved_digest"])) == ("cli", 64)


async def test_what_no_declaration_can_spell_is_a_plain_row_from_then_on(world: Schedules) -> None:
    stored = a_schedule(managed_by="cli", action_kind="agent", action_agent="a", action_prompt="p", action_command=None)
    written = await _written(world, stored, action=ScheduleAction(kind="agent", on_fail={"prompt": "x", "on_fail": None}))
    assert [written[name] for name in ("managed_by", "authored_spec", "resolved_target", "resolved_digest")] == [None] * 4


async def test_the_arguments_of_a_playbook_travel_in_the_resolved_target(world: Schedules) -> None:
    stored = a_schedule(action_kind="play", action_playbook="tidy", action_command=None, action_playbook_args={"a": 1})
    written = await _written(world, stored, action=ScheduleAction(kind="play", playbook_args={"b": 2}))
    assert written == {"resolved_target": {"target": {"kind": "playbook", "name": "tidy", "args": {"b": 2}}}}


async def test_a_declared_schedule_says_who_owns_it(world: Schedules) -> None:
    world.port.add(a_schedule(managed_by="declaration", owner_key="shop/nightly"))
    result = await _patch(world, overlap_policy="allow")
    assert any("shop/nightly owns it" in warning for warning in result.warnings)
    assert world.port.changes[0]["values"] == {"overlap_policy": "allow"}


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", ["name", "trigger", "action", "missed_fire_policy", "overlap_policy"])
async def test_what_a_schedule_cannot_be_without_is_not_cleared(world: Schedules, field: str) -> None:
    assert await _faults(world, a_schedule(), **{field: None}) == {(field,): "not_nullable"}


@pytest.mark.parametrize(
    ("changes", "path", "code"),
    [
        ({"name": " "}, ("name",), "empty"),
        ({"name": "a/b"}, ("name",), "declared"),
        ({"description": "x" * 4_001}, ("description",), "too_long"),
        ({"project": "a b"}, ("project",), "unusable"),
        ({"github_cursor": "yesterday"}, ("github_cursor",), "unusable"),
        ({"github_cursor": "2026-02-30T00:00:00Z"}, ("github_cursor",), "no_date"),
        ({"github_cursor": "2026-07-20T15:21:57Z#7"}, ("github_cursor",), "unusable"),
        ({"trigger": CronTrigger(expression=" ")}, ("trigger", "expression"), "empty"),
        ({"trigger": CronTrigger(expression="0 0 31 2 *")}, ("trigger", "expression"), "unusable"),
        ({"trigger": CronTrigger(expression="0 9 * * *", timezone="Mars/Base")}, ("trigger", "timezone"), "unusable"),
        ({"trigger": CronTrigger(expression="0 9 1 1 * 0 2020")}, ("trigger",), "finished"),
        ({"trigger": IntervalTrigger(seconds=10**12)}, ("trigger", "seconds"), "unusable"),
        ({"trigger": AtTrigger(at=NOW - 1)}, ("trigger", "at"), "past"),
        ({"trigger": AtTrigger(at=NOW + 9), "max_runs": 2}, ("max_runs",), "one_shot"),
        ({"trigger": GithubPollTrigger(repository="x", poll_interval_seconds=5)}, ("trigger", "repository"), "unusable"),
        ({"action": ScheduleAction(kind="command", command="reboot")}, ("action", "command"), "not_allowed"),
        ({"action": ScheduleAction(kind="command", command="/bin/true")}, ("action", "command"), "unusable"),
        ({"action": ScheduleAction(kind="command", model="x")}, ("action", "model"), "not_used"),
        ({"action": ScheduleAction(kind="command", command=None)}, ("action", "command"), "missing"),
        ({"action": ScheduleAction(kind="command", cwd="/gone")}, ("action", "cwd"), "no_directory"),
        ({"action": ScheduleAction(kind="agent", agent="x")}, ("action", "prompt"), "missing"),
        ({"action": ScheduleAction(kind="command", on_fail={"kind": "play"})}, ("action", "on_fail", "playbook"), "missing"),
        ({"action": ScheduleAction(kind="command", on_fail={"a": 1})}, ("action", "on_fail", "a"), "unknown"),
    ],
)
async def test_changes_that_are_refused(world: Schedules, changes: dict[str, Any], path: tuple[str, ...], code: str) -> None:
    assert await _faults(world, a_schedule(), **changes) == {path: code}


async def test_sent_values_are_judged_with_stored_ones(world: Schedules) -> None:
    one_shot = a_schedule(trigger_type="at", interval_sec=None, max_runs=1, next_fire_at=NOW + 9)
    assert await _faults(world, one_shot, max_runs=2) == {("max_runs",): "one_shot"}
    play = a_schedule(action_kind="play", action_playbook="tidy", action_command=None)
    sent = ScheduleAction(kind="play", prompt="-x")
    assert await _faults(Schedules(), play, action=sent) == {("action", "prompt"): "unusable"}
    flow = a_schedule(action_kind="flow_yaml", action_flow_yaml="", action_command=None)
    assert await _faults(Schedules(), flow, action=ScheduleAction(kind="flow_yaml")) == {("action", "flow_yaml"): "missing"}


async def test_every_broken_rule_is_reported_at_once(world: Schedules) -> None:
    found = await _faults(world, a_schedule(), name="", overlap_policy=None, action=ScheduleAction(kind="command", command="no"))
    assert set(found) == {("name",), ("overlap_policy",), ("action", "command")}


async def test_the_arguments_of_a_declared_playbook_belong_to_its_declaration(world: Schedules) -> None:
    stored = a_schedule(action_kind="play", action_playbook="tidy", action_command=None, managed_by="declaration")
    found = await _faults(world, stored, action=ScheduleAction(kind="play", playbook_args={"b": 2}))
    assert found == {("action", "playbook_args"): "declared"}


# --- conflicts --------------------------------------------------------------------------------------------------------


async def test_a_stale_version_is_refused_with_both_sides(world: Schedules) -> None:
    world.port.add(a_schedule(updated_at=NOW - 5, max_runs=7, action_command="true"))
    with pytest.raises(Conflict) as caught:
        await _patch(world, max_runs=3, overlap_policy="skip", action=ScheduleAction(kind="command", command="echo"))
    conflict = caught.value
    assert (conflict.expected, conflict.actual) == (repr(SEEN), repr(NOW - 5))
    assert conflict.differences == {"max_runs": (3, 7), "action.command": ("echo", "true")}
    assert "yours 3, stored 7" in str(conflict)
    assert not world.port.changes


async def test_who_is_late_by_a_moment_gets_the_same_answer(world: Schedules, monkeypatch: pytest.MonkeyPatch) -> None:
    world.port.add(a_schedule(max_runs=7))
    write = world.port.patch_schedule

    async def overtaken(*arguments: Any, **named: Any) -> ScheduleRecord:
        world.port.add(a_schedule(max_runs=9, updated_at=NOW - 1))
        return await write(*arguments, **named)

    monkeypatch.setattr(world.port, "patch_schedule", overtaken)
    with pytest.raises(Conflict) as caught:
        await _patch(world, max_runs=3)
    assert caught.value.differences == {"max_runs": (3, 9)}


async def test_who_saw_another_version_hears_of_that_first(world: Schedules) -> None:
    world.port.add(a_schedule(updated_at=NOW - 5))
    with pytest.raises(Conflict):
        await _patch(world, name="")


async def test_a_taken_name_is_a_conflict_and_changes_nothing(world: Schedules) -> None:
    world.port.add(a_schedule(), a_schedule("schedule-2", "other"))
    with pytest.raises(Conflict, match="the name other is taken"):
        await _patch(world, name="other")
    assert not world.port.changes


async def test_an_unknown_schedule_is_not_found(world: Schedules) -> None:
    with pytest.raises(NotFound):
        await _patch(world, max_runs=3)


async def test_a_limit_below_what_was_used_is_said(world: Schedules) -> None:
    world.port.add(a_schedule())
    world.port.firing_rows = [a_firing("f1"), a_firing("f2")]
    result = await _patch(world, max_runs=2)
    assert any("turned off when it is next due" in warning for warning in result.warnings)
