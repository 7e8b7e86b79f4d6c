"""What is stored of a new schedule is what the real package would store of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.models.schedules import (
    AtTrigger,
    CreateSchedule,
    CronTrigger,
    GithubPollTrigger,
    IntervalTrigger,
    ScheduleAction,
)
from studio_tui.application.schedule_values import draft, new_values
from tests.application.records import BERLIN, a_command
from tests.fakes.ports import NOW

_ECHO = ScheduleAction(kind="command", command="echo", command_args=("--flag", "hello"), cwd="/")
_AGENT = ScheduleAction(kind="agent", agent="auditor", prompt="look around", model="provider/model", cwd="/")
_PLAY = ScheduleAction(kind="play", playbook="tidy", playbook_args={"deep": True, "name": "x"}, cwd="/")


def _values(command: CreateSchedule, *, by_command_line: bool = True) -> Mapping[str, Any]:
    return new_values(
        command, schedule_id="0123456789ab", next_fire_at=NOW + 60, default=BERLIN, by_command_line=by_command_line, now=NOW
    )


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The declaration module of the real package, in an environment in which ``echo`` may run."""
    monkeypatch.setenv("LIONAGI_HOME", str(tmp_path))
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "echo")
    return pytest.importorskip("lionagi.studio.services.schedule_declaration")


@pytest.mark.interop
@pytest.mark.parametrize(
    "command",
    [
        a_command(action=_ECHO),
        a_command(action=_ECHO, trigger=CronTrigger(expression="0 9 * * 1", timezone="Europe/Berlin")),
        a_command(action=_ECHO, trigger=AtTrigger(at=NOW + 3_600.25)),
        a_command(action=_ECHO, trigger=GithubPollTrigger(repository="shop/web", poll_interval_seconds=300)),
        a_command(action=_PLAY, enabled=False, description="tidies"),
        a_command(action=_PLAY, max_runs=3, budget_usd=1.5, overlap_policy="allow", missed_fire_policy="run_once"),
        a_command(action=_ECHO.model_copy(update={"project": "shop"}), budget_tokens=9),
    ],
    ids=["every", "cron", "at", "github", "play", "limits", "project"],
)
def test_the_real_package_resolves_the_same_member(peer: Any, command: CreateSchedule, tmp_path: Path) -> None:
    values = _values(command)
    member = peer.ScheduleMember.model_validate(values["authored_spec"])
    resolved = peer.resolve_member("tidy", member, manifest_dir=tmp_path, project=None, is_global=False)
    assert values["authored_spec"] == resolved.authored
    assert values["resolved_target"] == resolved.resolved
    assert values["resolved_digest"] == resolved.digest
    assert values["resolved_timezone"] == resolved.timezone
    assert {name: values[name] for name in resolved.db_fields if name != "next_fire_at"} == {
        name: value for name, value in resolved.db_fields.items() if name != "next_fire_at"
    }
    if "next_fire_at" in resolved.db_fields:
        assert values["next_fire_at"] == resolved.db_fields["next_fire_at"]
    assert (values["managed_by"], values["owner_key"], values["spec_version"]) == ("cli", None, peer.SPEC_VERSION)


@pytest.mark.interop
def test_the_columns_are_those_that_the_real_package_inserts(peer: Any) -> None:
    from lionagi.state.db import StateDB

    values = dict(_values(a_command(action=_ECHO)))
    _, inserted = StateDB._build_schedule_insert_stmt(values)
    assert set(values) == set(inserted)
    assert {name: values[name] for name in inserted} == inserted


@pytest.mark.interop
def test_an_agent_is_spelt_so_that_the_real_package_exports_it(peer: Any) -> None:
    export = pytest.importorskip("lionagi.studio.services.schedule_export")
    rows = [dict(_values(a_command("bot", action=_AGENT))), dict(_values(a_command("bare", action=_ECHO)))]
    _, lines = export.build_managed_export_document(rows)
    assert [line.status for line in lines] == ["READY", "READY"]


@pytest.mark.parametrize(
    "command",
    [
        a_command(action=_ECHO, trigger=CronTrigger(expression="0 9 * * 1")),
        a_command(action=_ECHO, trigger=IntervalTrigger(seconds=31 * 86_400)),
        a_command(action=_ECHO, trigger=GithubPollTrigger(repository="shop/web", poll_interval_seconds=60)),
        a_command(action=ScheduleAction(kind="agent", model="m", prompt="p")),
        a_command(action=ScheduleAction(kind="flow", model="m", prompt="p")),
        a_command(action=ScheduleAction(kind="flow_yaml", flow_yaml="steps: []")),
        a_command(action=_PLAY.model_copy(update={"prompt": "please", "playbook_args": {}})),
        a_command(action=_AGENT.model_copy(update={"on_fail": {"prompt": "fix"}})),
    ],
)
def test_what_a_declaration_cannot_say_is_a_plain_row(command: CreateSchedule) -> None:
    values = _values(command)
    names = ("managed_by", "authored_spec", "resolved_target", "resolved_digest", "spec_version", "owner_key")
    assert {name: values[name] for name in names} == dict.fromkeys(names)


def test_what_the_console_makes_is_a_plain_row_that_keeps_its_arguments() -> None:
    values = _values(a_command(action=_PLAY), by_command_line=False)
    assert values["managed_by"] is None
    assert values["authored_spec"] is None
    assert values["resolved_target"] == {"target": {"kind": "playbook", "name": "tidy", "args": {"deep": True, "name": "x"}}}
    assert _values(a_command(action=_ECHO), by_command_line=False)["resolved_target"] is None


def test_empty_lists_are_lists_and_other_empty_json_is_null() -> None:
    values = _values(a_command(action=ScheduleAction(kind="agent", model="m", prompt="p")))
    assert (values["action_extra_args"], values["action_command_args"]) == ([], [])
    for column in ("on_success", "on_fail", "github_filter", "rate_limit", "threshold_config", "notify_on"):
        assert values[column] is None


def test_empty_texts_are_absent() -> None:
    values = _values(a_command(action=ScheduleAction(kind="agent", model="m", prompt="p", agent=""), project=""))
    assert values["action_agent"] is None
    assert values["project"] is None


@pytest.mark.parametrize("action", [_ECHO, _AGENT, _PLAY])
def test_the_draft_is_what_reading_the_row_gives_back(action: ScheduleAction) -> None:
    command = a_command(action=action, max_runs=4, description="d")
    values = _values(command)
    record = draft(command, schedule_id="0123456789ab", default=BERLIN, now=NOW)
    for name in (
        "name",
        "description",
        "trigger_type",
        "action_kind",
        "action_prompt",
        "action_agent",
        "interval_sec",
        "max_runs",
    ):
        assert getattr(record, name) == values[name]
    assert list(record.action_command_args) == values["action_command_args"]
    assert record.action_playbook_args == action.playbook_args
