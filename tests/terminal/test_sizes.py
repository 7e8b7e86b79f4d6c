"""Any window, and windows that change while something is open."""

from __future__ import annotations

import itertools
import signal

import pytest

from tests.terminal.program import START, Home
from tests.terminal.written import is_restored, strangers

pytestmark = pytest.mark.terminal

SIZES = [(20, 5), (1, 1), (200, 60), (40, 10), (300, 3), (2, 50), (80, 24), (60, 16), (300, 90), (59, 15), (1, 40), (120, 2)]
TOUR = [
    ("enter", "unfold", "q", "70 runs"),
    ("3", "14 schedules", "", ""),
    ("enter", "never fired", "q", "14 schedules"),
    ("n", "new schedule", "escape", "14 schedules"),
    ("?", "keys of Schedules", "escape", "14 schedules"),
    ("ctrl+p", "letters of an action", "escape", "14 schedules"),
    ("q", "quit?", "escape", "14 schedules"),
    ("2", "5 shows", "", ""),
    ("enter", "plays merged", "q", "5 shows"),
    ("4", "16 definitions", "", ""),
    ("enter", "text/versions", "q", "16 definitions"),
    ("1", "70 runs", "", ""),
]
"""A key, what it opens in words of the screen at 80x24, and the key back with the words that stand there then."""


def test_every_screen_at_changing_sizes(peer: Home) -> None:
    """Whatever is open is there again when the window has its size again."""
    sizes = itertools.cycle(SIZES)
    with peer.console("--no-scheduler", columns=80, rows=24) as terminal:
        terminal.wait_for("70 runs", seconds=START)
        for key, opened, back, behind in TOUR:
            terminal.send(key)
            terminal.wait_for(opened)
            for size in (next(sizes), next(sizes), (80, 24)):
                terminal.settle(0.15)
                terminal.resize(*size)
            terminal.wait_for(opened)
            if back:
                terminal.send(back)
                terminal.wait_for(behind)
                terminal.wait_gone(opened)
        terminal.settle()
        assert terminal.lines[0].startswith(" ◆ peer   1 Runs")
        assert terminal.lines[-1].startswith(" enter open")
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert strangers(terminal.raw) == set()
    assert is_restored(terminal.raw)


def test_a_window_that_shrank_and_grew_before_anybody_looked_is_drawn_anew(peer: Home) -> None:
    """Its size is the same as before, and what it showed is lost."""
    with peer.console("--no-scheduler", columns=80, rows=24) as terminal:
        terminal.wait_for("70 runs", seconds=START)
        terminal.settle()
        before = terminal.lines
        terminal.signal(signal.SIGSTOP)
        terminal.resize(120, 2)
        terminal.resize(80, 24)
        assert terminal.lines != before
        terminal.signal(signal.SIGCONT)
        terminal.until(lambda: terminal.lines == before, what="the same picture")


@pytest.mark.parametrize(("columns", "rows"), [(20, 5), (1, 1)])
def test_it_starts_and_can_be_left_in_a_tiny_window(peer: Home, columns: int, rows: int) -> None:
    with peer.console("--no-scheduler", columns=columns, rows=rows) as terminal:
        terminal.until(lambda: b"\x1b[?1049h" in terminal.raw, seconds=START, what="the screen of the program")
        terminal.settle()
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert is_restored(terminal.raw)


def test_the_size_is_that_of_the_terminal_whatever_was_exported(peer: Home) -> None:
    peer.environment |= {"COLUMNS": "33", "LINES": "9"}
    with peer.console("--no-scheduler", columns=100, rows=30) as terminal:
        terminal.wait_for("70 runs", seconds=START)
        assert terminal.lines[-1].startswith(" enter open")
        assert "─" * 100 in terminal.lines  # the rule above the preview
