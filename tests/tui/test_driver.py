"""Output is shorter and draws the same picture; a terminal that is gone does not hold the loop."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from queue import Queue

import pyte
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from textual._compositor import ChopsUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from studio_tui.tui.driver import StudioDriver, lean
from studio_tui.tui.repaint import ShownLines
from tests.terminal.pseudo import Terminal

ROOT = Path(__file__).parents[2]

_CODES = [
    "0",
    "1",
    "3",
    "4",
    "7",
    "22",
    "23",
    "24",
    "27",
    "31",
    "39",
    "42",
    "49",
    "93",
    "104",
    "38;5;100",
    "48;2;1;2;3",
    "38;2;9;8;7",
]
_STYLE = st.lists(st.sampled_from(_CODES), min_size=0, max_size=3).map(lambda codes: f"\x1b[{';'.join(codes)}m")
_OTHER = st.sampled_from(["\x1b[3;4H", "\n", "\r", "\x1b[2J", "\x1b[?25l"])
_TEXT = st.text(alphabet="abcäö日 ", max_size=6)


def _drawn(data: str) -> list[list[pyte.screens.Char]]:
    screen = pyte.Screen(20, 6)
    pyte.Stream(screen).feed(data)
    return [[screen.buffer[y][x] for x in range(20)] for y in range(6)]


@given(st.lists(st.one_of(_STYLE, _OTHER, _TEXT), max_size=30).map("".join))
def test_the_picture_is_the_same(data: str) -> None:
    assert _drawn(lean(data) + "\x1b[0m") == _drawn(data + "\x1b[0m")


@given(st.lists(st.one_of(_STYLE, _TEXT), max_size=30).map("".join))
def test_it_leaves_the_terminal_in_the_state_that_was_meant(data: str) -> None:
    assert _drawn(lean(data) + "x") == _drawn(data + "x")


def test_runs_that_share_a_background_send_it_once() -> None:
    first, second = "38;2;213;219;227;48;2;14;17;22", "1;38;2;255;138;92;48;2;14;17;22"
    data = f"\x1b[{first}mname\x1b[0m\x1b[{second}mFAIL\x1b[0m"
    assert lean(data) == f"\x1b[{first}mname\x1b[1;38;2;255;138;92mFAIL\x1b[0m"


@pytest.mark.parametrize("data", ["", "plain", "\x1b[31mone style\x1b[0m", "\x1b[?1049h", "\x1b]52;c;eA==\x07"])
def test_what_has_nothing_to_save_is_sent_as_it_is(data: str) -> None:
    assert lean(data) == data


def test_a_lost_terminal_is_told_once_and_output_is_dropped() -> None:
    class DeadThread:
        def is_alive(self) -> bool:
            return False

        def write(self, _data: str) -> None:
            raise AssertionError("nobody takes this out of the queue")

    driver = StudioDriver.__new__(StudioDriver)
    driver._writer_thread = DeadThread()  # type: ignore[assignment]
    told: list[int] = []
    driver.on_lost = lambda: told.append(1)
    for _ in range(100):
        driver.write("frame")
    assert told == [1]


def test_a_slow_terminal_loses_frames_and_is_drawn_anew() -> None:
    class SlowThread:
        def __init__(self) -> None:
            self._queue: Queue[str | None] = Queue(30)

        def is_alive(self) -> bool:
            return True

        def write(self, data: str) -> None:
            self._queue.put_nowait(data)

    driver = StudioDriver.__new__(StudioDriver)
    driver._writer_thread = thread = SlowThread()  # type: ignore[assignment]
    told: list[int] = []
    driver.on_caught_up = lambda: told.append(1)
    for _ in range(1_000):
        driver.write("frame")
    assert thread._queue.qsize() < 30
    assert told == []
    while not thread._queue.empty():
        thread._queue.get()
    driver.write("frame")
    driver.write("frame")
    assert told == [1]


@pytest.mark.terminal
def test_a_terminal_that_nobody_reads_holds_up_neither_the_loop_nor_the_end(tmp_path: Path) -> None:
    beat = tmp_path / "beat"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"}
    argv = [sys.executable, "-m", "tests.fakes.console", "--beat", str(beat)]

    def beats_go_on(count: int) -> bool:
        """Without reading the terminal: the loop goes on."""
        reached = int(beat.read_text() or 0) + count
        end = time.monotonic() + 10
        while int(beat.read_text() or 0) < reached:
            if time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    with Terminal(argv, environment=environment, columns=200, rows=60, cwd=str(ROOT)) as terminal:
        terminal.wait_for("row 0")
        assert beats_go_on(60), "each beat draws the whole screen: the buffer and the queue are full long before"
        terminal.wait_for("beat ")
        terminal.send("1")
        assert beats_go_on(60)
        terminal.signal(signal.SIGTERM)
        end = time.monotonic() + 8
        while terminal.alive() and time.monotonic() < end:
            time.sleep(0.02)
        assert not terminal.alive()
        assert terminal._status is not None
        assert os.waitstatus_to_exitcode(terminal._status) == 143


def test_lines_that_are_shown_are_not_sent_again() -> None:
    console = Console(color_system="truecolor", force_terminal=True)

    def update(*lines: str) -> LayoutUpdate:
        return LayoutUpdate([[Strip([Segment(line)])] for line in lines], Region(0, 0, 5, len(lines)))

    shown = ShownLines()

    def sent(given: LayoutUpdate | ChopsUpdate) -> str:
        return shown.only_changed(given, 5).render_segments(console)  # type: ignore[attr-defined]

    assert "first" in sent(update("first", "secnd"))
    assert sent(update("first", "secnd")) == ""
    assert "first" not in (text := sent(update("first", "third")))
    assert "third" in text
    chops: list[dict[int, Strip | None]] = [{0: Strip([Segment("first")])}, {0: Strip([Segment("other")])}]
    assert sent(ChopsUpdate(chops, [(0, 0, 5)], [[5], [5]])) == ""
    assert "other" in sent(ChopsUpdate(chops, [(1, 0, 5)], [[5], [5]]))
    assert "oth" in sent(ChopsUpdate(chops, [(1, 0, 3)], [[5], [5]])), "a part of a line is always sent"
    assert "other" in sent(update("first", "other")), "and what the line shows is not known after it"
    shown.forget()
    assert "first" in sent(update("first", "other"))
