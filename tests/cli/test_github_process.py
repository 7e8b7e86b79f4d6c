"""The program itself, without a screen, on a repository: from the settings to the launch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_processes import home as home
from tests.cli.test_processes import host, studio, until
from tests.fakes.github import a_pull, github


def test_a_merge_launches_what_was_scheduled_for_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, query: Callable[..., Any]
) -> None:
    with github() as server:
        monkeypatch.setenv("STUDIO_TUI_GITHUB_API", server.base)
        monkeypatch.setenv("GITHUB_TOKEN", "secret")
        trigger = ("--github", "acme/web", "--poll-every", "1s", "--github-filter", '{"event": "pr_merged"}')
        studio(
            "schedules",
            "create",
            "command",
            "merges",
            *trigger,
            "--",
            "sh",
            "-c",
            'echo "$0" >> "$LIONAGI_HOME/done"',
            "{{head_sha}}",
        )
        with host():
            until(lambda: bool(server.asked), "the first poll")
            server.pulls = [a_pull(7)]
            until(lambda: (home / "done").exists() and bool((home / "done").read_text()), "the launch")
            server.tokens = set()
            until(lambda: query(home / "state.db", "SELECT poller_consecutive_401 FROM schedules")[0][0] > 1, "the refused token")
            why = json.loads(studio("schedules", "why", "merges", "--json"))
    assert (home / "done").read_text() == f"{7:040x}\n"
    assert "GitHub did not accept the token" in why["answer"]
    assert query(home / "state.db", "SELECT github_cursor FROM schedules") == [("2026-03-10T10:00:00Z#0000000007",)]
