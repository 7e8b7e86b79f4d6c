"""Any window, and windows that change while something is open."""

from __future__ import annotations

import itertools

import pytest

from tests.terminal.program import START, Home
from tests.terminal.written import is_restored, strangers

pytestmark = pytest.mark.terminal

SIZES = [(20, 5), (1, 1), (200, 60), (40, 10), (300, 3), (2, 50), (80, 24), (60, 16), (300, 90), (59, 15), (1, 40), (120, 2)]


def test_a_storm_of_sizes_over_every_screen(peer: Home) -> None:
    """With a list, a detail, a form, help or the palette open, or on the way; afterwards everything works as before."""
    sizes = itertools.cycle(SIZES)
    with peer.console("--no-scheduler", columns=20, rows=5) as terminal:
        terminal.wait_for("? help", seconds=START)
        for key in (
            "1",
            "enter",
            "2",
            "enter",
            "3",
            "enter",
            "3",
            "n",
            "escape",
            "4",
            "enter",
            "?",
            "escape",
            "ctrl+p",
            "escape",
            "q",
        ):
            terminal.send(key)
            for _ in range(3):
                terminal.resize(*next(sizes))
                terminal.pump(0.05)
        terminal.resize(80, 24)
        terminal.settle()
        for _ in range(3):  # whatever is still open, for the keys came faster than the lists that they were meant for
            terminal.send("escape")
            terminal.settle()
        for key, words in (("3", "14 schedules"), ("1", "70 runs")):
            terminal.send(key)
            terminal.wait_for(words)
        terminal.settle()
        assert terminal.lines[0].startswith(" ◆ peer   1 Runs")
        assert terminal.lines[-1].startswith(" enter open")
        terminal.send("ctrl+c", "ctrl+c")
        assert terminal.wait_exit() == 0
    assert strangers(terminal.raw) == set()
    assert is_restored(terminal.raw)


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
