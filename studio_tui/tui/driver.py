"""The way to the terminal: fewer bytes, and no hang when the terminal is gone.

Textual writes every run of equal style with its whole style and a reset. Over SSH most of a frame would be colours, so
:func:`lean` sends only what changes from one run to the next. And when the other end of the terminal is closed, Textual's writer
thread ends and its queue fills until the loop blocks: here output is dropped then, and the app is told to leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from textual.drivers.linux_driver import LinuxDriver

_SGR: Final = re.compile("\x1b\\[([0-9;]*)m")
_OFF: Final = {"1": "22", "2": "22", "3": "23", "4": "24", "5": "25", "7": "27", "8": "28", "9": "29"}


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
    """Textual's driver for Linux with lean output, which survives the loss of its terminal."""

    on_lost: Callable[[], Any] | None = None
    _lost = False

    def write(self, data: str) -> None:
        """Write, or drop what nobody can read any more."""
        thread = self._writer_thread
        if thread is not None and not thread.is_alive():
            if not self._lost and self.on_lost is not None:
                self._lost = True
                self.on_lost()
            return
        super().write(lean(data))
