"""The console as a whole program in a real terminal: from nothing to a living demo, and out again without a trace."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal.pseudo import Terminal

STUDIO = [sys.executable, "-m", "studio_tui"]
pytestmark = pytest.mark.terminal


def completed(home: Path) -> int:
    """Firings of the demo's clock that have ended well."""
    with sqlite3.connect(f"{(home / 'state.db').as_uri()}?mode=ro", uri=True) as store:
        statement = "SELECT count(*) FROM schedule_runs r JOIN schedules s ON s.id = r.schedule_id"
        return int(store.execute(f"{statement} WHERE s.name = 'clock' AND r.status = 'completed'").fetchone()[0])


def test_the_demo_lives_and_leaves_nothing(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.getcwd()}
    with Terminal([*STUDIO, "demo"], environment=environment) as terminal:
        terminal.wait_for("Rewrite the router", seconds=90)
        (home,) = tmp_path.glob("studio-tui-demo-*")
        terminal.until(lambda: completed(home) >= 2, seconds=90, what="two firings of the clock")
        terminal.send("3")
        terminal.wait_for("flaky-check", seconds=90)
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit(seconds=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_a_kept_home_of_ours_hosts_without_asking_and_one_of_another_asks(tmp_path: Path, peer_home: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    own = tmp_path / "own"
    subprocess.run([*STUDIO, "--home", str(own), "init"], check=True, capture_output=True, env=environment)
    with Terminal([*STUDIO, "--home", str(own)], environment=environment) as terminal:
        terminal.wait_for("● host", seconds=90)
        status = subprocess.run(
            [*STUDIO, "--home", str(own), "scheduler", "status", "--json"], check=True, capture_output=True, env=environment
        )
        assert f"pid {terminal.pid}" in json.loads(status.stdout)["holder"]
        terminal.signal(signal.SIGHUP)
        assert terminal.wait_exit(seconds=60) == 128 + signal.SIGHUP
    with Terminal([*STUDIO, "--home", str(peer_home)], environment=environment) as terminal:
        terminal.settle(seconds=90)
        assert "● host" not in terminal.text
    assert not (peer_home / "studio-tui" / "sidecar.db").exists()


def test_who_leaves_while_it_still_opens_gets_out(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": os.getcwd()}
    with Terminal([*STUDIO, "demo"], environment=environment) as terminal:
        terminal.wait_for("demo", seconds=90)
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit(seconds=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
    assert b"Traceback" not in terminal.raw


def test_what_cannot_be_opened_is_said_on_the_screen(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.getcwd(), "LIONAGI_STUDIO_PORT": "many"}
    with Terminal([*STUDIO, "--home", str(tmp_path)], environment=environment) as terminal:
        terminal.wait_for("LIONAGI_STUDIO_PORT", seconds=90)
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_exit(seconds=60) == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []
