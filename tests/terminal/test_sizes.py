"""Any window."""

from __future__ import annotations

import pytest

from tests.terminal.program import START, Home
from tests.terminal.written import is_restored

pytestmark = pytest.mark.terminal


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
