"""The console in a real pseudo-terminal: ways out, bytes, hostile text, refusals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.terminal.pseudo import Terminal
from tests.tui.conftest import nasty_strings

ROOT = Path(__file__).parents[2]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "COLORTERM": "truecolor", "LANG": "C.UTF-8"}


def _start(*arguments: str, **options: Any) -> Terminal:
    return Terminal(
        [sys.executable, "-m", "tests.fakes.console", *arguments], environment=_environment(), cwd=str(ROOT), **options
    )


@pytest.mark.terminal
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_signals_leave_in_order(number: signal.Signals, status: int) -> None:
    with _start() as terminal:
        terminal.wait_for("row 0")
        terminal.signal(number)
        assert terminal.wait_exit(seconds=5) == status
        assert b"\x1b[?1049l" in terminal.raw
        assert b"\x1b[?25h" in terminal.raw
        assert b"\x1b[?1000l" in terminal.raw
        assert terminal.raw.rindex(b"closed in order") > terminal.raw.rindex(b"\x1b[?1049l")


@pytest.mark.terminal
def test_a_lost_terminal_leaves_no_process() -> None:
    with _start() as terminal:
        terminal.wait_for("row 0")
        terminal.hang_up()
        end = time.monotonic() + 10
        while terminal.alive() and time.monotonic() < end:
            time.sleep(0.02)
        assert not terminal.alive()


@pytest.mark.terminal
def test_what_data_holds_never_reaches_the_terminal() -> None:
    """Every hostile text in cells, toasts, titles of dialogs: no sequence of theirs is in the bytes."""
    with _start("--hostile", columns=100, rows=30) as terminal:
        terminal.until(lambda: b"[/nope]" in terminal.raw)
        for text in nasty_strings():
            if not text.isprintable():
                before = len(terminal.raw)
                terminal.send("enter", "n")
                terminal.until(lambda start=before: b"cancel" in terminal.raw[start:])
                terminal.settle(0.05)
                before = len(terminal.raw)
                terminal.send("escape")
                terminal.until(lambda start=before: b" open" in terminal.raw[start:])
            terminal.send("j")
            terminal.pump(0.02)
        terminal.settle(0.3)
        assert terminal.alive()
        raw = re.sub(rb"\x1b\]22;[a-z-]*\x07", b"", bytes(terminal.raw))  # Textual's own: the shape of the pointer
        for evil in (
            b"HACKED",
            b"\x1b]0;",
            b"\x1b]52;",
            b"\x1b[31mred",
            b"\x07",
            b"\x08",
            b"\x0b",
            b"\x0c",
            b"\xc2\x9b",
            b"\x7f",
        ):
            if evil == b"HACKED":
                assert raw.count(b"]0;HACKED") == raw.count("␛]0;HACKED".encode()) > 0
            else:
                assert evil not in raw, evil
        for character in "\u202e\u2066\u200b\u2028\u0085\ufeff":
            assert character.encode() not in raw


@pytest.mark.terminal
def test_a_key_costs_few_bytes_and_silence_none() -> None:
    with _start("--rows", "100000", columns=120, rows=40) as terminal:
        terminal.wait_for("row 0")
        terminal.settle()
        sizes = []
        for _ in range(10):
            before = len(terminal.raw)
            terminal.send("j")
            terminal.settle(0.05)
            sizes.append(len(terminal.raw) - before)
        assert sorted(sizes)[5] < 600, sizes
        before = len(terminal.raw)
        terminal.pump(1.5)
        assert len(terminal.raw) == before


@pytest.mark.terminal
def test_no_terminal_is_refused_in_one_line() -> None:
    code = "import sys; from studio_tui.tui.terminal import refusal; sys.exit(refusal('xterm'))"
    for stdin in (subprocess.DEVNULL, subprocess.PIPE):
        ended = subprocess.run([sys.executable, "-c", code], stdin=stdin, capture_output=True, text=True, cwd=ROOT)
        assert "is no terminal" in ended.stderr
        assert ended.stderr.count("\n") == 1
        assert "\x1b" not in ended.stderr


@pytest.mark.terminal
def test_a_dumb_terminal_is_refused() -> None:
    code = "import os, sys; from studio_tui.tui.terminal import refusal; print(refusal(os.environ['TERM']))"
    with Terminal([sys.executable, "-c", code], environment=_environment(), term="dumb", cwd=str(ROOT)) as terminal:
        terminal.wait_for("of type dumb cannot be drawn on")
    with Terminal([sys.executable, "-c", code], environment=_environment(), term="xterm", cwd=str(ROOT)) as terminal:
        terminal.wait_for("None")
