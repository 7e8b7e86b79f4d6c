"""Which schedules of nobody a set may take over, and which can be spelt as a set: decided as the real package decides it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lionagi.state.db import StateDB as PeerDB
from lionagi.studio.services.schedule_export import convert_legacy_rows

from studio_tui.application.models.schedule_sets import ExportSets, PlanSet
from tests.application.home import OpenHome
from tests.builders import a_schedule
from tests.interop.sets import ALLOWED, Project, Stores, actions, ours, theirs

pytestmark = pytest.mark.interop

HEAD = "apiVersion: lionagi.io/v1alpha1\nkind: ScheduleSet\nmetadata: {name: nightly, project: atlas}\nschedules:\n"
COMMAND = "  one: {trigger: {every: 60s}, target: {kind: command, executable: date}, execution: {project: null}}\n"
CRON = COMMAND.replace("{every: 60s}", "{cron: {expression: '0 9 * * *', timezone: UTC}}")
AGENT = COMMAND.replace("{kind: command, executable: date}", "{kind: agent, profile: reviewer, prompt: go}")
PLAY = COMMAND.replace("{kind: command, executable: date}", "{kind: playbook, name: report}")

PLAIN: dict[str, Any] = {"action_command": "date"}
AS_AGENT = {"action_kind": "agent", "action_command": None, "action_agent": "reviewer", "action_prompt": "go"}
AS_CRON = {**PLAIN, "trigger_type": "cron", "cron_expr": "0 9 * * *", "interval_sec": None}
AS_PLAY = {"action_kind": "play", "action_command": None, "action_playbook": "report"}

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "the same": (COMMAND, PLAIN),
    "with a description": (COMMAND, {**PLAIN, "description": "by hand"}),
    "with half a notification": (COMMAND, {**PLAIN, "notify_command": "tell"}),
    "with a notification": (COMMAND, {**PLAIN, "notify_command": "tell", "notify_on": ["failed"]}),
    "with an unused prompt": (COMMAND, {**PLAIN, "action_prompt": "go", "action_model": "x"}),
    "with an unused poll": (COMMAND, {**PLAIN, "poll_interval_sec": 5, "github_repo": "a/b", "cron_expr": "0 0 * * *"}),
    "another interval": (COMMAND, {**PLAIN, "interval_sec": 61}),
    "another command": (COMMAND, {"action_command": "echo"}),
    "an argument": (COMMAND, {**PLAIN, "action_command_args": ["-u"]}),
    "off": (COMMAND, {**PLAIN, "enabled": 0}),
    "capped": (COMMAND, {**PLAIN, "max_runs": 2}),
    "rated": (COMMAND, {**PLAIN, "rate_limit": {"max_fires": 1, "window_sec": 9}}),
    "overlapping": (COMMAND, {**PLAIN, "overlap_policy": "allow"}),
    "chained": (COMMAND, {**PLAIN, "on_fail": {"action_command": "echo"}}),
    "measured": (
        COMMAND,
        {**PLAIN, "threshold_config": {"metric": "failed_sessions", "op": "gt", "value": 1, "window_minutes": 5}},
    ),
    "a cron with its zone": (CRON, {**AS_CRON, "resolved_timezone": "UTC"}),
    "a cron with another zone": (CRON, {**AS_CRON, "resolved_timezone": "Asia/Tokyo"}),
    "a cron that a host read": (CRON, {**AS_CRON, "effective_timezone": "UTC"}),
    "a cron that a host read elsewhere": (CRON, {**AS_CRON, "effective_timezone": "Asia/Tokyo"}),
    "a cron that nobody read": (CRON, AS_CRON),
    "an agent": (AGENT, {**AS_AGENT, "action_model": "claude-code/opus"}),
    "an agent with its profile's model": (AGENT, AS_AGENT),
    "an agent with another model": (AGENT, {**AS_AGENT, "action_model": "other"}),
    "an agent with another prompt": (AGENT, {**AS_AGENT, "action_prompt": "stay"}),
    "a play": (PLAY, AS_PLAY),
    "a play with a prompt": (PLAY, {**AS_PLAY, "action_prompt": "go"}),
    "a play with arguments": (PLAY, {**AS_PLAY, "action_extra_args": ["x"]}),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    project = Project.make(tmp_path)
    monkeypatch.setenv("HOME", str(project.user))
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", ALLOWED)
    return project


async def filled(home: Path, project: Project) -> None:
    """Each row under the name of its case, in the project's folder."""
    opened = OpenHome(home)
    await opened.open()
    for name, (_, columns) in ROWS.items():
        await a_schedule(opened.db, name=f"atlas/{name}", **{"action_cwd": str(project.folder), **columns})
    await opened.close()


async def test_both_take_over_the_same_schedules(project: Project, tmp_path: Path) -> None:
    home = Stores(tmp_path).make("a")
    await filled(home, project)
    members = "".join(member.replace("  one:", f"  {name}:") for name, (member, _) in ROWS.items())
    file = project.write(HEAD + members)
    expected = {
        name: action.replace("error", "refused") for name, action in (await theirs(home, file, adopt=True, dry_run=True)).items()
    }
    assert set(expected.values()) == {"adopt", "refused"}
    assert actions(await ours(home, PlanSet(file=str(file), adopt=True))) == expected
    without = actions(await ours(home, PlanSet(file=str(file))))
    assert (
        set(without.values())
        == {"refused"}
        == {action.replace("error", "refused") for action in (await theirs(home, file, dry_run=True)).values()}
    )


async def test_both_spell_the_same_schedules_as_sets(project: Project, tmp_path: Path) -> None:
    home = Stores(tmp_path).make("a")
    await filled(home, project)
    async with PeerDB(home / "state.db") as db:
        rows = await db.list_schedules(limit=1_000)
    _, lines = convert_legacy_rows(rows, flows_dir=tmp_path / "flows", manifest_dir=project.sets)
    opened = OpenHome(home)
    await opened.open()
    found = await opened.studio.schedule_sets.export_sets(ExportSets(file=str(project.sets / "out.yaml"), plain=True))
    await opened.close()
    expected = {line.qualified_name: line.status == "READY" for line in lines}
    # The peer drops what it cannot say: a threshold vanishes from its export.
    assert expected.pop("atlas/measured")
    told = {schedule.name: schedule.exported for schedule in found.schedules}
    assert not told.pop("atlas/measured")
    assert told == expected
    adopted = await theirs(home, project.sets / "out.yaml", adopt=True, dry_run=True)
    assert set(adopted) == {name for name, exported in told.items() if exported}
    refused = {name for name, action in adopted.items() if action == "error"}
    assert refused == {"atlas/a cron that a host read elsewhere"}, "its zone is not the one of the caller"
