"""``scheduler hold`` as a person uses it: kept for whoever hosts, said in words, ended by hand."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.terminal.program import START, Home, until


@pytest.fixture
def own(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home", LIONAGI_SCHEDULER_COMMAND_ALLOWLIST="true", TZ="UTC")
    home.run("init")
    home.run("schedules", "create", "command", "tick", "--every", "1s", "--cwd", str(tmp_path), "--", "true")
    return home


def test_a_hold_binds_whoever_hosts_and_its_end_lets_go(own: Home) -> None:
    said = own.run("scheduler", "hold", "1h")
    assert said.startswith("nothing fires until ")
    assert "tick: will be skipped" in said
    with own.host():
        until(lambda: json.loads(own.run("scheduler", "status", "--json"))["state"] == "held", "a host that is held", START)
        assert "held until" in own.run("scheduler", "status")
        before = time.time()
        refused = own.run("schedules", "fire", "tick", expect=4)
        assert refused == ""
        assert own.firings("tick") == []
        assert own.run("scheduler", "hold", "--release") == "firing is held no longer\n"
        until(lambda: [row for row in own.firings("tick", "completed") if row["fired_at"] > before], "a firing", START)


def test_what_is_no_length_says_what_is_allowed(own: Home) -> None:
    own.run("scheduler", "hold", "soon", expect=2)
    own.run("scheduler", "hold", expect=2)
    own.run("scheduler", "hold", "1h", "--release", expect=2)
    assert json.loads(own.run("scheduler", "status", "--json"))["held_until"] is None
