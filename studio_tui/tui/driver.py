"""The way to the terminal: fewer bytes, and no hang when the terminal is frozen or gone.

Textual writes every run of equal style with its whole style and a reset. Over SSH most of a frame would be colours, so
:func:`lean` sends only what changes from one run to the next. And when the other end takes nothing any more (a stalled line, a
stopped terminal) or is closed, Textual's queue fills until the loop blocks, and with it the scheduler: here output is dropped.
"""

from __future__ import annotations

import os
import re
import signal
import termios
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, Full
from typing import Any, Final

from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver

_SGR: Final = re.compile("\x1b\\[([0-9;]*)m")
_OFF: Final = {"1": "22", "2": "22", "3": "23", "4": "24", "5": "25", "7": "27", "8": "28", "9": "29"}
_FULL: Final = 12
"""Writes that may wait; Textual's queue holds 30 and then blocks."""
_CALM: Final = 1
"""Writes that may wait when a slow terminal is given output again."""
_PATIENCE: Final = 0.5
"""Seconds that a terminal gets at the end to take what is left."""
_TRIES: Final = 100
_RESTORE: Final = (
    b"\x1b[?2026l\x1b[0m\x1b[?7h\x1b[?2004l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[<u\x1b[?1049l\x1b[?25h"
)
"""What gives a terminal back that had not taken the driver's own words, should it come to life again."""


def lean(data: str) -> str:
    """The same picture with shorter style sequences.

    A reset that is followed by another style becomes the difference between the two. Every other sequence is sent
    as it was, in the state that it was meant for; at the end all styles are off.
    """
    parts = _SGR.split(data)
    if len(parts) < 5:
        return data
    out = [parts[0]]
    have: _State = _PLAIN
    want: _State = _PLAIN
    for place in range(1, len(parts), 2):
        want = _after(want, parts[place])
        text = parts[place + 1]
        if not text:
            continue
        out += (_difference(have, want), text)
        have = want
    out.append(_difference(have, want))
    return "".join(out)


_State = tuple[str, str, frozenset[str]]
"""Foreground, background, attributes; empty where they are the terminal's own."""
_PLAIN: Final[_State] = ("", "", frozenset())


def _after(state: _State, codes: str) -> _State:
    """The state after one style sequence."""
    ink, ground, attributes = state
    numbers = codes.split(";") if codes else ["0"]
    place = 0
    while place < len(numbers):
        code = numbers[place]
        size = 5 if numbers[place + 1 : place + 2] == ["2"] else 3
        if code in ("", "0"):
            ink, ground, attributes = _PLAIN
        elif code in ("38", "48"):
            value = ";".join(numbers[place : place + size])
            ink, ground = (value, ground) if code == "38" else (ink, value)
            place += size - 1
        elif len(code) > 1 and code[-2] in "39":
            ink = "" if code == "39" else code
        elif len(code) > 1 and code[-2] in "40":
            ground = "" if code == "49" else code
        elif code in _OFF:
            attributes |= {code}
        else:
            attributes -= {on for on, off in _OFF.items() if off == code}
        place += 1
    return ink, ground, attributes


def _difference(have: _State, want: _State) -> str:
    """What turns one state into the other; a plain reset where that is shorter."""
    if have == want:
        return ""
    if want == _PLAIN:
        return "\x1b[0m"
    gone = have[2] - want[2]
    codes = sorted({_OFF[code] for code in gone})
    kept = have[2] if not gone else frozenset(code for code in have[2] if _OFF[code] not in codes)
    codes += sorted(want[2] - kept)
    if have[0] != want[0]:
        codes.append(want[0] or "39")
    if have[1] != want[1]:
        codes.append(want[1] or "49")
    return f"\x1b[{';'.join(codes)}m"


class StudioDriver(LinuxDriver):
    """Textual's driver for Linux with lean output, which holds nothing up when its terminal is slow, frozen or gone.

    ``on_lost`` is called once when the terminal is gone, ``on_caught_up`` when a slow one takes output again and what it shows is
    to be drawn anew.
    """

    on_lost: Callable[[], Any] | None = None
    on_caught_up: Callable[[], Any] | None = None
    _lost = False
    _behind = False

    def _get_terminal_size(self) -> tuple[int, int]:
        """The size of the terminal. ``COLUMNS`` and ``LINES``, which Textual prefers, were true when somebody exported them."""
        with suppress(OSError):
            size = os.get_terminal_size(self.fileno)
            if size.columns > 0 and size.lines > 0:
                return size.columns, size.lines
        return super()._get_terminal_size()

    def write(self, data: str) -> None:
        """Write, or drop what nobody can read now: waiting for a terminal would stop the scheduler, which shares the loop."""
        thread = self._writer_thread
        if thread is not None and not thread.is_alive():
            self._tell_lost()
        elif thread is not None and self._must_drop(thread):
            self._behind = True
        else:
            super().write(lean(data))
            self.catch_up()

    def catch_up(self) -> None:
        """If output was dropped and the terminal takes it again, say so. Called once a second too."""
        thread = self._writer_thread
        if self._behind and thread is not None and not self._must_drop(thread):
            self._behind = False
            if self.on_caught_up is not None:
                self.on_caught_up()

    def close(self) -> None:
        """End the writer thread; what a frozen terminal has not taken is thrown away."""
        thread = self._writer_thread
        if thread is None:
            return
        with suppress(Full):
            thread._queue.put_nowait(None)
        thread.join(_PATIENCE)
        if thread.is_alive():
            self._free(thread)
            with suppress(OSError):
                os.write(self.fileno, _RESTORE)

    def _free(self, thread: WriterThread) -> None:
        """Throw away what waits, in the queue and in the terminal's buffer, until the thread's write returns.

        Emptying the buffer does not wake a write that waits for room in it; a signal to the thread does, and it goes on.
        """
        with suppress(Empty):
            while True:
                thread._queue.get_nowait()
        thread._queue.put_nowait(None)
        before = signal.signal(signal.SIGURG, lambda _number, _frame: None)
        try:
            for _ in range(_TRIES):
                with suppress(termios.error, OSError):
                    termios.tcflush(self.fileno, termios.TCOFLUSH)
                if thread.ident is not None and thread.is_alive():
                    signal.pthread_kill(thread.ident, signal.SIGURG)
                thread.join(0.02)
                if not thread.is_alive():
                    break
        finally:
            signal.signal(signal.SIGURG, before)

    def _must_drop(self, thread: WriterThread) -> bool:
        return thread._queue.qsize() > (_CALM if self._behind else _FULL)

    def _tell_lost(self) -> None:
        if not self._lost and self.on_lost is not None:
            self._lost = True
            self.on_lost()
