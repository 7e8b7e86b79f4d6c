"""What a firing would run, shown before it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from studio_tui.launch_facts import Previews
from studio_tui.settings import load_settings
from tests.unit.records import a_schedule


class _NoProjects:
    async def project_path(self, project: str) -> str | None:
        return None


@pytest.fixture
def previews(tmp_path: Path) -> Previews:
    """Previews on a host that allows ``echo``."""
    settings = load_settings({"home": tmp_path, "command_allowlist": ("echo",)})
    return Previews(settings, cast("Any", _NoProjects()))


async def test_the_names_that_a_firing_fills_in_are_shown_and_are_no_fault(previews: Previews, tmp_path: Path) -> None:
    arguments = ("at", "{{fired_at}}", "of {{next_fire_at}}")
    schedule = a_schedule(action_kind="command", action_command="echo", action_command_args=arguments, action_cwd=str(tmp_path))
    preview = await previews.preview(schedule)
    assert preview.refusal is None
    assert preview.command_line == ("echo", *arguments)
    assert preview.working_directory == str(tmp_path)


async def test_a_name_that_nothing_fills_in_is_said(previews: Previews, tmp_path: Path) -> None:
    schedule = a_schedule(
        action_kind="command", action_command="echo", action_command_args=("{{pr_number}}",), action_cwd=str(tmp_path)
    )
    preview = await previews.preview(schedule)
    assert preview.command_line == ()
    assert "there is no value for pr_number" in (preview.refusal or "")
    poll = replace(schedule, trigger_type="github_poll", github_repo="acme/web")
    assert (await previews.preview(poll)).refusal is None, "an event has one"


async def test_what_an_alert_tells_is_no_fault(previews: Previews, tmp_path: Path) -> None:
    config = {"metric": "total_cost_usd", "op": "gt", "value": 1, "window_minutes": 5}
    arguments = ("{{metric}}", "{{value}}", "{{unreported_sessions}}")
    schedule = a_schedule(action_kind="command", action_command="echo", action_command_args=arguments, action_cwd=str(tmp_path))
    assert "no value for metric" in ((await previews.preview(schedule)).refusal or "")
    assert (await previews.preview(replace(schedule, threshold_config=config))).refusal is None
