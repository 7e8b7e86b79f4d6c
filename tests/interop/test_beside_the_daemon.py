"""Our scheduler and a real ``li studio`` daemon on one store: no instant fires twice, and ours steps aside and says so.

``--daemon-minutes N`` lets them live side by side for so long beyond the daemon's first tick there (give ``--timeout`` too).
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.bench.peer import Daemon
from tests.terminal.program import START, Home, until

pytestmark = pytest.mark.interop

ALLOWED = {"LIONAGI_SCHEDULER_COMMAND_ALLOWLIST": "sh"}
EVERY = {"quick": 1, "slow": 3}


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A folder whose sockets have room for their names: 108 bytes at most, of which the test's own folder takes too many."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture
def shared(short_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A home of ours with two schedules that write down each instant for which they are fired."""
    for name in [name for name in os.environ if name.startswith("LIONAGI_")]:
        monkeypatch.delenv(name)
    home = Home(
        short_path / ".lionagi",
        HOME=str(short_path),
        PATH=os.pathsep.join((str(Path(sys.executable).parent), "/usr/bin", "/bin")),
        TZ="UTC",
        **ALLOWED,
    )
    home.run("init")
    for name, seconds in EVERY.items():
        script = f'echo "$0" >> {short_path}/{name}'
        arguments = ["--every", f"{seconds}s", "--cwd", str(short_path), "--", "sh", "-c", script, "{{next_fire_at}}"]
        home.run("schedules", "create", "command", name, *arguments)
    return home


def fired(home: Home, *, since: float = 0.0) -> list[float]:
    """The instants that were launched, as the rows have them."""
    found = home.sql("SELECT trigger_context FROM schedule_runs WHERE status != 'skipped' AND fired_at > ?", since)
    return [json.loads(context)["next_fire_at"] for (context,) in found]


def test_nothing_fires_twice_and_ours_steps_aside(shared: Home, request: pytest.FixtureRequest) -> None:
    seconds = request.config.getoption("daemon_minutes") * 60.0
    if seconds:
        faulthandler.cancel_dump_traceback_later()  # this takes as long as it was asked to
    with shared.host():
        until(lambda: len(shared.firings("quick", "completed")) >= 2, "our own firings", START)
        daemon = Daemon(shared.path, **ALLOWED)
        try:
            daemon.wait("/health")
            until(
                lambda: status(shared) == ("standby", "a li studio daemon runs on this store and fires its schedules"),
                "us",
                START,
            )
            with shared.console() as terminal:
                terminal.send("3")
                terminal.wait_for("standing by", seconds=START)
                terminal.wait_for("a li studio daemon runs on this store")
            aside = time.time()
            if seconds:
                until(lambda: fired(shared, since=aside), "a tick of the daemon", 90.0)
                time.sleep(seconds)
                print(f"fired by the daemon in {seconds:g} s: {len(fired(shared, since=aside))}")
            assert not missed_by_us(shared)
        finally:
            daemon.process.send_signal(signal.SIGINT)
            daemon.process.wait(30)
        after = time.time()
        until(lambda: len(fired(shared, since=after)) >= 3, "our firings again", START)
    nothing_twice(shared)


def status(home: Home) -> tuple[str, str | None]:
    """The state of the scheduler, and why."""
    said = json.loads(home.run("scheduler", "status", "--json"))
    return said["state"], said["reason"]


def missed_by_us(home: Home) -> list[str]:
    """Rows of ours about instants that were missed."""
    like = "missed by % while nothing was fired%"
    return [one for (one,) in home.sql("SELECT id FROM schedule_runs WHERE status_reason_summary LIKE ?", like)]


def nothing_twice(home: Home) -> None:
    """Neither the rows nor what the processes wrote down hold an instant twice."""
    for name in EVERY:
        planned = [json.loads(row["trigger_context"])["next_fire_at"] for row in home.firings(name) if row["status"] != "skipped"]
        assert [at for at, times in Counter(planned).items() if times > 1] == []
        launched = (home.path.parent / name).read_text().split()
        assert [at for at, times in Counter(launched).items() if times > 1] == []
        assert set(map(float, launched)) <= set(planned)
