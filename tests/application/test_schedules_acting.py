"""Making schedules, turning them on and off, firing one by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, StateUnavailable, ValidationFailure
from studio_tui.application.models.schedules import (
    AtTrigger,
    CreateSchedule,
    CronTrigger,
    FireNow,
    GithubPollTrigger,
    IntervalTrigger,
    RateLimit,
    ScheduleAction,
    SchedulePatch,
    SetScheduleEnabled,
    Threshold,
)
from studio_tui.domain.schedules import Zone
from studio_tui.scheduler.contract import MAX_CHAIN_DEPTH, PROMPT_LIMIT
from tests.application.records import Schedules, a_command, a_firing, a_schedule
from tests.fakes.ports import NOW


@pytest.fixture
def world() -> Schedules:
    return Schedules()


def _agent(**fields: Any) -> ScheduleAction:
    return ScheduleAction(**{"kind": "agent", "agent": "auditor", "prompt": "look around", **fields})


async def _faults(world: Schedules, command: CreateSchedule) -> dict[tuple[str | int, ...], str]:
    with pytest.raises(ValidationFailure) as caught:
        await world.service.create_schedule(command)
    assert not world.port.created
    assert not world.host.wakes
    assert all(fault.message for fault in caught.value.field_errors)
    return {fault.path: fault.code for fault in caught.value.field_errors}


# --- creating ---------------------------------------------------------------------------------------------------------


async def test_a_new_schedule_is_stored_armed_and_told_to_the_host(world: Schedules) -> None:
    result = await world.service.create_schedule(a_command(" tidy "))
    assert (result.name, result.enabled, result.next_fire_at, result.updated_at) == ("tidy", True, NOW + 60, NOW)
    assert result.warnings == ()
    assert len(result.schedule_id) == 12
    assert int(result.schedule_id, 16) >= 0
    assert world.host.wakes == 1
    assert world.port.changes == [{"by": world.by, "now": NOW}]
    (note,) = world.sidecar.notes
    assert (note["act"], note["target"], note["result"]) == ("schedule.create", result.schedule_id, "done")


async def test_a_schedule_that_is_made_off_has_no_instant_yet(world: Schedules) -> None:
    result = await world.service.create_schedule(a_command(enabled=False))
    assert (result.enabled, result.next_fire_at) == (False, None)


async def test_a_one_shot_is_stored_with_its_instant_and_one_run(world: Schedules) -> None:
    await world.service.create_schedule(a_command(trigger=AtTrigger(at=NOW + 3_600.5)))
    await world.service.create_schedule(a_command("later", trigger=AtTrigger(at=NOW + 3_600.5), enabled=False))
    for values in world.port.created:
        assert (values["next_fire_at"], values["max_runs"], values["cron_expr"]) == (NOW + 3_600.5, 1, None)


async def test_a_cron_schedule_keeps_the_zone_that_was_asked_for(world: Schedules) -> None:
    await world.service.create_schedule(a_command(trigger=CronTrigger(expression=" 0 9 * * 1 ", timezone=" Asia/Tokyo ")))
    (values,) = world.port.created
    assert (values["cron_expr"], values["resolved_timezone"]) == ("0 9 * * 1", "Asia/Tokyo")
    assert (values["effective_timezone"], values["effective_timezone_source"]) == (None, None)
    assert values["next_fire_at"] == 1_773_619_200.0


async def test_a_cron_schedule_without_a_zone_notes_the_default_that_it_was_made_under(world: Schedules) -> None:
    await world.service.create_schedule(a_command(trigger=CronTrigger(expression="0 9 * * 1")))
    (values,) = world.port.created
    assert values["resolved_timezone"] is None
    assert (values["effective_timezone"], values["effective_timezone_source"]) == ("Europe/Berlin", "env:TZ")
    assert values["next_fire_at"] == 1_773_648_000.0


async def test_what_an_author_should_know_comes_with_the_result() -> None:
    world = Schedules(zone=Zone("UTC", "fallback:utc"))
    cron = await world.service.create_schedule(a_command(trigger=CronTrigger(expression="0 9 * * 1")))
    assert any("UTC" in warning for warning in cron.warnings)
    poll = GithubPollTrigger(repository="shop/web", poll_interval_seconds=300)
    assert (await world.service.create_schedule(a_command("poll", trigger=poll))).warnings == ()
    world.refusal = "li is not on PATH"
    refused = await world.service.create_schedule(a_command("refused"))
    assert refused.warnings == ("would be refused now: li is not on PATH",)


async def test_a_taken_name_is_a_conflict_and_wakes_nobody(world: Schedules) -> None:
    world.port.add(a_schedule())
    with pytest.raises(Conflict):
        await world.service.create_schedule(a_command("tidy"))
    assert not world.host.wakes
    assert not world.sidecar.notes


async def test_a_journal_that_cannot_be_written_does_not_undo_the_act(world: Schedules) -> None:
    world.sidecar.trouble = StateUnavailable("disk full", retryable=True)
    assert (await world.service.create_schedule(a_command())).enabled


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("x" * 201, "too_long"),
        ("a\nb", "unprintable"),
        ("a\x1b[31m", "unprintable"),
        ("a\u202eb", "unprintable"),
        ("a\udcff", "unprintable"),
        ("shop/nightly", "declared"),
    ],
)
async def test_names_that_are_refused(world: Schedules, name: str, code: str) -> None:
    assert await _faults(world, a_command(name)) == {("name",): code}


@pytest.mark.parametrize("name", ["x" * 200, "täglich 07:00 – prüfen", "日報", "100% [bold]x[bold]", "a.b_c-d"])
async def test_names_that_are_allowed(world: Schedules, name: str) -> None:
    assert (await world.service.create_schedule(a_command(name))).name == name


@pytest.mark.parametrize(
    ("trigger", "path", "code"),
    [
        (CronTrigger(expression=""), ("trigger", "expression"), "empty"),
        (CronTrigger(expression="   "), ("trigger", "expression"), "empty"),
        (CronTrigger(expression="* * *"), ("trigger", "expression"), "unusable"),
        (CronTrigger(expression="0 0 31 2 *"), ("trigger", "expression"), "unusable"),
        (CronTrigger(expression="0 9 1 12 * 0 2020"), ("trigger",), "finished"),
        (CronTrigger(expression="0 9 * * 1", timezone=""), ("trigger", "timezone"), "empty"),
        (CronTrigger(expression="0 9 * * 1", timezone="Nowhere/City"), ("trigger", "timezone"), "unusable"),
        (IntervalTrigger(seconds=10**12), ("trigger", "seconds"), "unusable"),
        (AtTrigger(at=NOW), ("trigger", "at"), "past"),
        (AtTrigger(at=NOW - 1), ("trigger", "at"), "past"),
        (AtTrigger(at=math.inf), ("trigger", "at"), "unusable"),
        (AtTrigger(at=1e15), ("trigger", "at"), "unusable"),
        (GithubPollTrigger(repository="shop", poll_interval_seconds=60), ("trigger", "repository"), "unusable"),
        (GithubPollTrigger(repository="-shop/web", poll_interval_seconds=60), ("trigger", "repository"), "unusable"),
        (GithubPollTrigger(repository="shop/..", poll_interval_seconds=60), ("trigger", "repository"), "unusable"),
        (GithubPollTrigger(repository="s" * 40 + "/web", poll_interval_seconds=60), ("trigger", "repository"), "unusable"),
        (
            GithubPollTrigger(repository="shop/web", poll_interval_seconds=60, filters={"evnt": "pr_merged"}),
            ("trigger", "filters", "evnt"),
            "unknown",
        ),
        (
            GithubPollTrigger(repository="shop/web", poll_interval_seconds=60, filters={"event": "pr_closd"}),
            ("trigger", "filters", "event"),
            "unknown",
        ),
        (
            GithubPollTrigger(repository="shop/web", poll_interval_seconds=60, filters={"draft": "yes"}),
            ("trigger", "filters", "draft"),
            "not_a_switch",
        ),
        (
            GithubPollTrigger(repository="shop/web", poll_interval_seconds=60, filters={"base": 7}),
            ("trigger", "filters", "base"),
            "not_text",
        ),
    ],
)
async def test_triggers_that_are_refused(world: Schedules, trigger: Any, path: tuple[str, ...], code: str) -> None:
    assert await _faults(world, a_command(trigger=trigger)) == {path: code}


async def test_github_names_that_are_allowed(world: Schedules) -> None:
    filters = {"state": "open", "base": "main", "draft": False, "event": "pr_merged", "same_repo_only": True}
    trigger = GithubPollTrigger(repository="a-b/c.d_e", poll_interval_seconds=300, filters=filters)
    await world.service.create_schedule(a_command(trigger=trigger))
    (values,) = world.port.created
    assert (values["github_filter"], values["next_fire_at"]) == (filters, None)


@pytest.mark.parametrize(
    ("action", "faults"),
    [
        ({"kind": "agent"}, {("action", "prompt"): "missing", ("action", "agent"): "missing"}),
        ({"kind": "agent", "agent": "a", "prompt": "  "}, {("action", "prompt"): "missing"}),
        ({"kind": "flow", "prompt": "p"}, {("action", "model"): "missing"}),
        ({"kind": "fanout", "model": "m"}, {("action", "prompt"): "missing"}),
        ({"kind": "play"}, {("action", "playbook"): "missing"}),
        ({"kind": "flow_yaml"}, {("action", "flow_yaml"): "missing"}),
        ({"kind": "flow_yaml", "flow_yaml": "nothing"}, {("action", "flow_yaml"): "unusable"}),
        ({"kind": "command"}, {("action", "command"): "missing"}),
        ({"kind": "command", "command": "rm"}, {("action", "command"): "not_allowed"}),
        ({"kind": "command", "command": "/bin/echo"}, {("action", "command"): "unusable"}),
        ({"kind": "command", "command": "-echo"}, {("action", "command"): "unusable"}),
        ({"kind": "command", "command": "echo hi"}, {("action", "command"): "unusable"}),
        ({"kind": "command", "command": "echo", "prompt": "p"}, {("action", "prompt"): "not_used"}),
        (
            {"kind": "command", "command": "echo", "command_args": ("ok", "nu\0l", "\udcff")},
            {("action", "command_args", 1): "unusable", ("action", "command_args", 2): "unusable"},
        ),
        ({"kind": "command", "command": "echo", "cwd": ""}, {("action", "cwd"): "not_absolute"}),
        ({"kind": "command", "command": "echo", "cwd": "srv"}, {("action", "cwd"): "not_absolute"}),
        ({"kind": "command", "command": "echo", "cwd": "/gone"}, {("action", "cwd"): "no_directory"}),
        ({"kind": "command", "command": "echo", "cwd": "/srv\0"}, {("action", "cwd"): "no_directory"}),
        ({"kind": "command", "command": "echo", "extra_args": ("x",)}, {("action", "extra_args"): "not_used"}),
        ({"kind": "agent", "agent": "-a", "prompt": "p"}, {("action", "agent"): "unusable"}),
        ({"kind": "agent", "agent": "a b", "prompt": "p"}, {("action", "agent"): "unusable"}),
        ({"kind": "agent", "agent": "a", "model": "m;", "prompt": "p"}, {("action", "model"): "unusable"}),
        ({"kind": "agent", "agent": "a", "prompt": "p", "project": "x y"}, {("action", "project"): "unusable"}),
        ({"kind": "agent", "agent": "a", "prompt": "p", "project": ""}, {("action", "project"): "empty"}),
        ({"kind": "agent", "agent": "a", "prompt": "--"}, {("action", "prompt"): "unusable"}),
        ({"kind": "agent", "agent": "a", "prompt": "p" * (PROMPT_LIMIT + 1)}, {("action", "prompt"): "unusable"}),
        ({"kind": "agent", "agent": "a", "prompt": "p", "playbook": "x"}, {("action", "playbook"): "not_used"}),
        ({"kind": "agent", "agent": "a", "prompt": "p", "extra_args": ("x",)}, {("action", "extra_args"): "unusable"}),
        ({"kind": "flow", "model": "m", "prompt": "p", "extra_args": ("-x",)}, {("action", "extra_args"): "unusable"}),
        ({"kind": "play", "playbook": "list"}, {("action", "playbook"): "unusable"}),
        ({"kind": "play", "playbook": "tidy", "prompt": "-x"}, {("action", "prompt"): "unusable"}),
        ({"kind": "play", "playbook": "tidy", "playbook_args": {"model x": 1}}, {("action", "playbook_args"): "unusable"}),
        ({"kind": "play", "playbook": "tidy", "playbook_args": {"bypass": True}}, {("action", "playbook_args"): "unusable"}),
        ({"kind": "play", "playbook": "tidy", "playbook_args": {"x": [1]}}, {("action", "playbook_args"): "unusable"}),
        ({"kind": "play", "playbook": "tidy", "playbook_args": {"x": "-1"}}, {("action", "playbook_args"): "unusable"}),
    ],
)
async def test_actions_that_are_refused(
    world: Schedules, action: dict[str, Any], faults: dict[tuple[str | int, ...], str]
) -> None:
    assert await _faults(world, a_command(action=ScheduleAction(**action))) == faults


async def test_an_empty_allow_list_allows_nothing_and_says_so(world: Schedules) -> None:
    world.allowed.clear()
    with pytest.raises(ValidationFailure) as caught:
        await world.service.create_schedule(a_command())
    assert "LIONAGI_SCHEDULER_COMMAND_ALLOWLIST" in str(caught.value)


@pytest.mark.parametrize(
    "action",
    [
        _agent(),
        _agent(agent=None, model="provider/model-1.5"),
        _agent(project="shop", cwd="/srv"),
        ScheduleAction(kind="flow", model="m", prompt="plan it"),
        ScheduleAction(kind="fanout", model="m", prompt="spread it", extra_args=("a",)),
        ScheduleAction(kind="play", playbook="tidy", playbook_args={"deep": True, "name": "x", "n": 3}, prompt="please"),
        ScheduleAction(kind="flow_yaml", flow_yaml="steps: []"),
        ScheduleAction(kind="command", command="echo"),
        ScheduleAction(kind="command", command="echo", command_args=("--flag", "{{pr_title}}", "")),
    ],
)
async def test_actions_that_are_allowed(world: Schedules, action: ScheduleAction) -> None:
    assert (await world.service.create_schedule(a_command(action=action))).enabled


@pytest.mark.parametrize(
    ("chain", "path", "code"),
    [
        ({"kind": "agent", "promt": "x"}, ("action", "on_fail", "promt"), "unknown"),
        ({"kind": "engine"}, ("action", "on_fail", "kind"), "unknown"),
        ({"kind": "agent", "prompt": 3}, ("action", "on_fail", "prompt"), "not_text"),
        ({"on_success": "again"}, ("action", "on_fail", "on_success"), "not_an_object"),
        ({"on_success": {"on_fail": {"nonsense": 1}}}, ("action", "on_fail", "on_success", "on_fail", "nonsense"), "unknown"),
    ],
)
async def test_chains_that_are_refused(world: Schedules, chain: dict[str, Any], path: tuple[str, ...], code: str) -> None:
    assert await _faults(world, a_command(action=_agent(on_fail=chain))) == {path: code}


@pytest.mark.parametrize(
    ("chain", "path", "code"),
    [
        ({"kind": "play", "on_fail": None}, ("playbook",), "missing"),
        ({"kind": "command", "on_fail": None}, ("command",), "missing"),
        ({"prompt": "--", "on_fail": None}, ("prompt",), "unusable"),
        ({"prompt": "x" * (PROMPT_LIMIT + 1), "on_fail": None}, ("prompt",), "unusable"),
        ({"agent": "-a", "on_fail": None}, ("agent",), "unusable"),
        ({"model": "a b", "on_fail": None}, ("model",), "unusable"),
        ({"kind": "play", "playbook": "status", "on_fail": None}, ("playbook",), "unusable"),
        ({"on_fail": None, "on_success": {"prompt": ""}}, ("on_success", "prompt"), "missing"),
        ({"kind": "fanout", "model": "m", "agent": "a", "on_fail": None}, ("agent",), "not_used"),
    ],
)
async def test_a_step_is_judged_as_it_will_run(world: Schedules, chain: dict[str, Any], path: tuple[str, ...], code: str) -> None:
    assert await _faults(world, a_command(action=_agent(on_fail=chain))) == {("action", "on_fail", *path): code}


async def test_what_is_wrong_above_a_step_is_said_once(world: Schedules) -> None:
    action = _agent(model="a b", on_fail={"prompt": "mend it", "on_fail": None})
    assert await _faults(world, a_command(action=action)) == {("action", "model"): "unusable"}


async def test_what_a_step_inherits_is_allowed_and_said(world: Schedules) -> None:
    result = await world.service.create_schedule(a_command(action=_agent(on_fail={"prompt": "mend it"})))
    (warning,) = result.warnings
    assert "on_fail" in warning
    assert "inherits" in warning
    silent = await world.service.create_schedule(a_command("b", action=_agent(on_fail={"prompt": "mend it", "on_fail": None})))
    assert silent.warnings == ()


async def test_every_limit_can_be_set_when_a_schedule_is_made(world: Schedules) -> None:
    threshold = Threshold(metric="failed_sessions", op="gt", value=3, window_minutes=60)
    result = await world.service.create_schedule(
        a_command(
            rate_limit=RateLimit(max_fires=2, window_sec=60),
            threshold_config=threshold,
            max_runs=3,
            budget_usd=1.5,
            budget_tokens=9,
            overlap_policy="allow",
            missed_fire_policy="run_once",
        )
    )
    (values,) = world.port.created
    assert values["rate_limit"] == {"max_fires": 2, "window_sec": 60}
    assert values["threshold_config"] == {"metric": "failed_sessions", "op": "gt", "value": 3.0, "window_minutes": 60}
    assert (values["overlap_policy"], values["missed_fire_policy"], values["max_runs"]) == ("allow", "run_once", 3)
    assert result.warnings == ()


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (IntervalTrigger, {"seconds": True}),
        (IntervalTrigger, {"seconds": 2.0}),
        (RateLimit, {"max_fires": True, "window_sec": 60}),
        (RateLimit, {"max_fires": 1, "window_sec": 0}),
        (RateLimit, {"max_fires": 1, "window_sec": 60, "burst": 2}),
        (RateLimit, {"max_fires": 1}),
        (Threshold, {"metric": "luck", "op": "gt", "value": 1, "window_minutes": 1}),
        (Threshold, {"metric": "failed_sessions", "op": "lt", "value": 1, "window_minutes": 1}),
        (Threshold, {"metric": "failed_sessions", "op": "gt", "value": math.nan, "window_minutes": 1}),
        (Threshold, {"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": True}),
        (SchedulePatch, {"max_runs": True}),
        (SchedulePatch, {"budget_usd": True}),
        (SchedulePatch, {"budget_usd": 0}),
        (SchedulePatch, {"missed_fire_policy": "all"}),
        (SchedulePatch, {"overlap_policy": "queue"}),
        (SchedulePatch, {"trigger": {"kind": "at"}}),
        (SchedulePatch, {"action": {"kind": "engine"}}),
        (SchedulePatch, {"enabled": True}),
    ],
)
def test_shapes_that_no_command_can_have(model: type[BaseModel], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model(**fields)


async def test_chains_end_somewhere(world: Schedules) -> None:
    chain: dict[str, Any] = {"kind": "agent", "prompt": "fix it", "on_fail": None}
    for _ in range(MAX_CHAIN_DEPTH - 1):
        chain = {"prompt": "again", "on_fail": chain}
    assert (await world.service.create_schedule(a_command(action=_agent(on_fail=chain)))).enabled
    assert set((await _faults(Schedules(), a_command(action=_agent(on_fail={"on_fail": chain})))).values()) == {"too_deep"}


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"description": "x" * 4_001}, ("description",), "too_long"),
        ({"description": "\udcff"}, ("description",), "not_text"),
        ({"budget_usd": math.inf}, ("budget_usd",), "unusable"),
        ({"max_runs": 2**60}, ("max_runs",), "too_large"),
        ({"budget_tokens": 2**60}, ("budget_tokens",), "too_large"),
        ({"trigger": AtTrigger(at=NOW + 9), "max_runs": 2}, ("max_runs",), "one_shot"),
        ({"project": "a b"}, ("project",), "unusable"),
    ],
)
async def test_limits_that_are_refused(world: Schedules, fields: dict[str, Any], path: tuple[str, ...], code: str) -> None:
    assert await _faults(world, a_command(**fields)) == {path: code}


async def test_every_broken_rule_is_reported_at_once(world: Schedules) -> None:
    action = ScheduleAction(kind="command", command="rm", cwd="gone", prompt="p")
    faults = await _faults(world, a_command("", trigger=CronTrigger(expression="x"), action=action))
    assert set(faults) == {
        ("name",),
        ("trigger", "expression"),
        ("action", "command"),
        ("action", "cwd"),
        ("action", "prompt"),
    }


# --- on and off -------------------------------------------------------------------------------------------------------


async def _switch(world: Schedules, enabled: bool, **fields: Any) -> Any:
    return await world.service.set_enabled(SetScheduleEnabled(schedule_id="schedule-1", enabled=enabled, **fields))


async def test_turning_on_counts_forward_from_now(world: Schedules) -> None:
    world.port.add(a_schedule(enabled=False, next_fire_at=NOW - 400))
    result = await _switch(world, True)
    assert result.enabled
    assert NOW < result.next_fire_at <= NOW + 60
    (change,) = world.port.changes
    assert (change["reason_code"], change["reason"]) == ("schedule_definition.enabled.observed", None)
    assert world.host.wakes == 1
    assert world.sidecar.notes[0]["act"] == "schedule.enable"


@pytest.mark.parametrize(
    ("reason", "code", "stored"),
    [
        (None, "schedule_definition.disabled.unspecified", None),
        ("  disk is full ", "schedule_definition.disabled.manual", "disk is full"),
    ],
)
async def test_turning_off_records_why(world: Schedules, reason: str | None, code: str, stored: str | None) -> None:
    world.port.add(a_schedule())
    result = await _switch(world, False, reason=reason)
    assert not result.enabled
    (change,) = world.port.changes
    assert (change["reason_code"], change["reason"]) == (code, stored)
    assert world.sidecar.notes[0]["act"] == "schedule.disable"


async def test_a_one_shot_that_is_turned_off_keeps_its_instant(world: Schedules) -> None:
    world.port.add(a_schedule(trigger_type="at", interval_sec=None, next_fire_at=NOW + 500, max_runs=1))
    assert (await _switch(world, False)).next_fire_at == NOW + 500
    assert (await _switch(world, True)).next_fire_at == NOW + 500


async def test_asking_for_what_is_so_already_changes_nothing(world: Schedules) -> None:
    world.port.add(a_schedule())
    result = await _switch(world, True)
    assert (result.enabled, result.next_fire_at) == (True, NOW + 30)
    world.port.add(a_schedule(enabled=False))
    assert not (await _switch(world, False)).enabled
    assert not world.port.changes
    assert not world.host.wakes
    with pytest.raises(Conflict):
        await _switch(world, False, reason="again")


@pytest.mark.parametrize(("reason", "code"), [("   ", "empty"), (" " + "x" * 501, "too_long"), ("\udcff", "not_text")])
async def test_a_reason_has_1_to_500_characters(world: Schedules, reason: str, code: str) -> None:
    world.port.add(a_schedule())
    with pytest.raises(ValidationFailure) as caught:
        await _switch(world, False, reason=reason)
    assert [(fault.path, fault.code) for fault in caught.value.field_errors] == [(("reason",), code)]
    await _switch(world, False, reason=" " + "x" * 500 + " ")
    assert world.port.changes[0]["reason"] == "x" * 500


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_schedule_that_somebody_changed_meanwhile_is_left_alone(world: Schedules, enabled: bool) -> None:
    world.port.add(a_schedule(enabled=not enabled))
    with pytest.raises(Conflict):
        await _switch(world, enabled, expected_updated_at=math.nextafter(NOW - 3_600, 0))
    assert not world.port.changes
    assert (await _switch(world, enabled, expected_updated_at=NOW - 3_600)).enabled == enabled


async def test_the_version_counts_even_where_nothing_would_change(world: Schedules) -> None:
    world.port.add(a_schedule())
    with pytest.raises(Conflict):
        await _switch(world, True, expected_updated_at=NOW)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"trigger_type": "cron", "cron_expr": ""}, ("trigger", "expression")),
        ({"trigger_type": "cron", "cron_expr": "0 0 31 2 *"}, ("trigger", "expression")),
        ({"interval_sec": None}, ("trigger", "seconds")),
        ({"defects": ("rate_limit",)}, ("rate_limit",)),
        ({"trigger_type": "cron", "cron_expr": "0 0 * * *", "resolved_timezone": "Mars/Base"}, ("trigger", "timezone")),
    ],
)
async def test_a_broken_schedule_is_not_turned_on(world: Schedules, fields: dict[str, Any], path: tuple[str, ...]) -> None:
    world.port.add(a_schedule(enabled=False, **fields))
    with pytest.raises(ValidationFailure) as caught:
        await _switch(world, True)
    assert caught.value.field_errors[0].path == path
    assert not world.port.changes


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"action_command": "reboot"}, ("action", "command"), "not_allowed"),
        ({"action_command": None}, ("action_command",), "broken"),
        ({"action_cwd": "/gone"}, ("action", "cwd"), "no_directory"),
        ({"on_fail": {"nonsense": 1}}, ("on_fail", "nonsense"), "broken"),
        ({"overlap_policy": "queue"}, ("overlap_policy",), "broken"),
        ({"max_runs": 0}, ("max_runs",), "broken"),
    ],
)
async def test_turning_on_checks_again_what_would_be_launched(
    world: Schedules, fields: dict[str, Any], path: tuple[str, ...], code: str
) -> None:
    world.port.add(a_schedule(enabled=False, **fields))
    with pytest.raises(ValidationFailure) as caught:
        await _switch(world, True)
    assert [(fault.path, fault.code) for fault in caught.value.field_errors] == [(path, code)]
    assert not world.port.changes


async def test_a_broken_schedule_can_be_turned_off(world: Schedules) -> None:
    world.port.add(a_schedule(interval_sec=None))
    assert not (await _switch(world, False)).enabled


async def test_a_schedule_without_runs_left_is_not_turned_on(world: Schedules) -> None:
    world.port.add(a_schedule(enabled=False, max_runs=2))
    world.port.firing_rows = [a_firing("a"), a_firing("b", status="timed_out"), a_firing("c", status="skipped")]
    with pytest.raises(Conflict) as caught:
        await _switch(world, True)
    assert "2 runs" in str(caught.value)
    world.port.firing_rows.pop(0)
    assert (await _switch(world, True)).enabled


@pytest.mark.parametrize(
    "fields",
    [
        {"trigger_type": "at", "interval_sec": None, "next_fire_at": NOW - 1},
        {"trigger_type": "at", "interval_sec": None, "next_fire_at": None},
        {"trigger_type": "cron", "cron_expr": "0 9 1 12 * 0 2020", "next_fire_at": None},
    ],
)
async def test_a_schedule_with_nothing_left_to_fire_is_not_turned_on(world: Schedules, fields: dict[str, Any]) -> None:
    world.port.add(a_schedule(enabled=False, **fields))
    with pytest.raises(Conflict) as caught:
        await _switch(world, True)
    assert "nothing left" in str(caught.value)


async def test_a_poll_is_turned_on_without_an_instant(world: Schedules) -> None:
    poll = {"trigger_type": "github_poll", "github_repo": "shop/web", "interval_sec": None}
    world.port.add(a_schedule(enabled=False, next_fire_at=NOW - 86_400, **poll))
    assert (await _switch(world, True)).next_fire_at is None


async def test_an_unknown_schedule_is_not_found(world: Schedules) -> None:
    with pytest.raises(NotFound):
        await _switch(world, True)
    with pytest.raises(NotFound):
        await world.service.fire_now(FireNow(schedule_id="schedule-1"))


# --- firing by hand ---------------------------------------------------------------------------------------------------


async def test_firing_by_hand_goes_through_the_host_and_is_noted(world: Schedules) -> None:
    world.port.add(a_schedule())
    result = await world.service.fire_now(FireNow(schedule_id="schedule-1"))
    assert (result.firing_id, result.schedule_id, result.name) == ("firing-1", "schedule-1", "tidy")
    assert world.host.fired == ["schedule-1"]
    assert world.sidecar.notes[0]["detail"] == {"firing": "firing-1"}


async def test_what_the_host_refuses_is_refused(world: Schedules) -> None:
    world.port.add(a_schedule())
    world.host.trouble = PermissionDenied("another process hosts the scheduler")
    with pytest.raises(PermissionDenied):
        await world.service.fire_now(FireNow(schedule_id="schedule-1"))
    assert not world.sidecar.notes
