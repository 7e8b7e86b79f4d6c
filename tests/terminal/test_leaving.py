"""Every way out: the terminal is given back, the lease is free, and what became of running jobs is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import termios
from collections.abc import Callable

import pytest

from tests.terminal.program import ROOT, START, STUDIO, Home, answer, until
from tests.terminal.pseudo import Terminal
from tests.terminal.written import is_restored, strangers

pytestmark = pytest.mark.terminal


def by_key(terminal: Terminal) -> None:
    """``q`` asks, and says what stops; enter alone would stay."""
    terminal.send("q")
    terminal.wait_for("they stop until another host")
    terminal.wait_for("1 launched job")
    answer(terminal, "right", "enter")


def is_line_by_line(terminal: Terminal) -> bool:
    """Whether the terminal echoes and edits lines, as a shell wants it."""
    flags = int(termios.tcgetattr(terminal.descriptor)[3])
    return bool(flags & termios.ICANON) and bool(flags & termios.ECHO)


WAYS: dict[str, tuple[Callable[[Terminal], None], int]] = {
    "q": (by_key, 0),
    "ctrl+c twice": (lambda terminal: terminal.send("ctrl+c", "ctrl+c"), 0),
    "SIGTERM": (lambda terminal: terminal.signal(signal.SIGTERM), 143),
    "SIGHUP": (lambda terminal: terminal.signal(signal.SIGHUP), 129),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_terminal_and_the_lease_are_given_back(own: Home, way: str) -> None:
    leave, code = WAYS[way]
    own.every(1, "slow", "sh", "-c", "echo begun; exec sleep 300")
    with own.console("--scheduler") as terminal:
        assert is_line_by_line(terminal)
        terminal.wait_for("● host", seconds=START)
        assert not is_line_by_line(terminal)
        until(lambda: [run for run in own.firings("slow", "running") if run["dispatched_at"]], "a job")
        (job,) = own.firings("slow", "running")
        leave(terminal)
        assert terminal.wait_exit(seconds=10) == code
        assert is_line_by_line(terminal)
    assert is_restored(terminal.raw)
    assert strangers(terminal.raw) == set()
    left = bytes(terminal.raw).rpartition(b"\x1b[?1049l")[2].decode()
    assert f"slow: firing {job['id']} runs on as process " in left
    pid = int(left.split(" runs on as process ")[1].split()[0])
    os.kill(pid, 0)  # it does
    status = json.loads(own.run("scheduler", "status", "--json"))
    assert (status["state"], status["holder"]) == ("undecided", None)
    (row,) = own.firings("slow", "running")
    assert (row["id"], row["ended_at"]) == (job["id"], None)


def test_a_dropped_line_ends_it_in_seconds(own: Home) -> None:
    own.every(1, "slow", "sh", "-c", "exec sleep 300")
    with own.console("--scheduler") as terminal:
        terminal.wait_for("● host", seconds=START)
        until(lambda: [run for run in own.firings("slow", "running") if run["dispatched_at"]], "a job")
        terminal.hang_up()
        until(lambda: not terminal.alive(), "the console to end", seconds=10)
        assert terminal.exit_code == 129
    assert json.loads(own.run("scheduler", "status", "--json"))["holder"] is None
    assert len(own.firings("slow", "running")) == 1


def test_ctrl_c_once_stays(own: Home) -> None:
    with own.console("--no-scheduler") as terminal:
        terminal.wait_for("no runs yet", seconds=START)
        terminal.send("ctrl+c")
        terminal.wait_for("ctrl+c again within two seconds quits")
        terminal.send("3")
        terminal.wait_for("no schedules")
        assert terminal.alive()


@pytest.mark.parametrize("way", ["input", "output", "neither"])
def test_no_terminal_is_refused_in_a_line(own: Home, way: str) -> None:
    """Piped input with a terminal as output and the other way round; at once, with nothing drawn."""
    ours, theirs = os.openpty()
    try:
        done = subprocess.run(
            [*STUDIO, "--home", str(own.path)],
            env={**own.environment, "TERM": "xterm"},
            stdin=subprocess.DEVNULL if way != "output" else theirs,
            stdout=subprocess.PIPE if way != "input" else theirs,
            stderr=subprocess.PIPE,
            timeout=30,
            cwd=ROOT,
            check=False,
        )
        os.set_blocking(ours, False)
        with pytest.raises(BlockingIOError):
            os.read(ours, 1)
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.returncode == 2
    assert not done.stdout
    assert done.stderr.count(b"\n") == 1
    assert b"is no terminal" in done.stderr
    assert b"\x1b" not in done.stderr


def test_a_dumb_terminal_is_refused_in_a_line(own: Home) -> None:
    with own.console(term="dumb") as terminal:
        assert terminal.wait_exit(seconds=START) == 2
    assert b"\x1b" not in terminal.raw
    assert terminal.raw.count(b"\n") == 1
    assert b"of type dumb cannot be drawn on" in terminal.raw
