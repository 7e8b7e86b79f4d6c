"""In tmux, started from a shell: the screens, another size, and the shell as it was before."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.terminal.program import STUDIO, Home, until
from tests.terminal.tmux import PROMPT, Tmux, needs_tmux

pytestmark = [pytest.mark.terminal, needs_tmux]

MODES = "#{alternate_on} #{mouse_any_flag} #{cursor_flag}"


def command(home: Home, *flags: str) -> str:
    """What a person types."""
    return shlex.join([*STUDIO, "--home", str(home.path), *flags])


def test_the_screens_in_tmux_and_the_shell_after_them(peer: Home, tmp_path: Path) -> None:
    with Tmux(tmp_path / "tmux", peer.environment, columns=120, rows=40) as tmux:
        tmux.enter(command(peer, "--no-scheduler"))
        tmux.wait_for("70 runs")
        assert tmux.ask(MODES).split()[:2] == ["1", "1"]
        for key, words in (("2", "atlas-v2"), ("3", "nightly-review"), ("4", "reviewer"), ("1", "implementer")):
            tmux.send(key)
            tmux.wait_for(words)
        tmux.resize(80, 24)
        tmux.wait_for("1 Runs  2  3  4")
        assert max(map(len, tmux.text.splitlines())) <= 80
        tmux.send("C-c", "C-c")
        tmux.wait_for(PROMPT)
        assert tmux.ask(MODES) == "0 0 1"
        tmux.enter("echo status $?; stty -a | tr ' ;' '\\n\\n' | grep -xE 'icanon|echo'")
        after = tmux.wait_for("status 0").splitlines()
        tmux.wait_for("echo\n")
        assert {"icanon", "echo"} <= {line.strip() for line in tmux.text.splitlines()}, after


def test_closing_the_pane_leaves_no_console_behind(own: Home, tmp_path: Path) -> None:
    with Tmux(tmp_path / "tmux", own.environment, columns=80, rows=24) as tmux:
        tmux.enter(f"exec {command(own, '--scheduler')}")
        tmux.wait_for("● host")
        holder = json.loads(own.run("scheduler", "status", "--json"))["holder"]
        assert f"pid {tmux.ask('#{pane_pid}')}" in holder
        tmux.kill_pane()
        until(lambda: json.loads(own.run("scheduler", "status", "--json"))["holder"] is None, "the lease to be free")
