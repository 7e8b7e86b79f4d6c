"""The peer's own tools on firings of ours while they run: it waits for them, and it kills what it can prove."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.peer_call import run_li
from tests.terminal.program import START, Home, until

pytestmark = pytest.mark.interop

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture(scope="module")
def hosted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home of ours with a command that waits for a file and an agent that works for a minute; both have been fired."""
    base = tmp_path_factory.mktemp("acts")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("LIONAGI_", "LI_STUB_"))]:
            patch.delenv(name)
        home = Home(
            base / ".lionagi",
            HOME=str(base),
            PATH=os.pathsep.join((str(DATA / "li-stub"), str(Path(sys.executable).parent), "/usr/bin", "/bin")),
            LIONAGI_SCHEDULER_COMMAND_ALLOWLIST="sh",
            LI_STUB_LOG=str(base / "calls"),
            LI_STUB_SLEEP="60",
            TZ="UTC",
        )
    home.run("init")
    waits = ["--", "sh", "-c", "while [ ! -e go ]; do sleep 0.05; done; exit 4"]
    home.run("schedules", "create", "command", "waits", "--every", "1h", "--cwd", str(base), *waits)
    works = ["--model", "claude", "--prompt", "work"]
    home.run("schedules", "create", "agent", "works", "--every", "1h", "--cwd", str(base), *works)
    home.sql("UPDATE schedules SET next_fire_at = ?", time.time())
    with home.host():
        until(lambda: home.firings("waits", "running") and home.firings("works", "running"), "both", START)
        yield home
        (base / "go").touch()


def test_it_waits_for_a_firing_of_ours(hosted: Home) -> None:
    (firing,) = hosted.firings("waits")
    command = [str(Path(sys.executable).with_name("li")), "monitor", "--run", firing["id"], "--interval", "1", "--max-wait", "60"]
    waiting = subprocess.Popen(
        command, env=hosted.environment | {"LIONAGI_HOME": str(hosted.path)}, stdout=subprocess.PIPE, text=True
    )
    assert waiting.stdout is not None
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(4)
    (hosted.path.parent / "go").touch()
    said, _ = waiting.communicate(timeout=60)
    assert "failed" in said, said
    assert waiting.returncode == 1


def test_it_kills_the_agent_that_ours_started(hosted: Home) -> None:
    (firing,) = hosted.firings("works")

    def sessions() -> list[tuple[str, str]]:
        return hosted.sql("SELECT id, status FROM sessions WHERE invocation_id = ?", firing["invocation_id"])

    until(lambda: [one for one in sessions() if one[1] == "running"], "its session", START)
    ((session, _),) = sessions()
    killed = run_li(hosted.path, "kill", session, "--reason", "enough")
    assert killed.returncode == 0, killed.stdout + killed.stderr
    until(lambda: not hosted.firings("works", "running"), "its end", START)
    (firing,) = hosted.firings("works")
    assert firing["status"] == "cancelled", firing
    ((_, status),) = sessions()
    assert status == "cancelled"
    shown = json.loads(hosted.run("schedules", "history", "works", "--json"))["items"]
    assert [one["run_ids"] for one in shown] == [[session]]
