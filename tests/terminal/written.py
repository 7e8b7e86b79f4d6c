"""What a program wrote to its terminal, judged byte by byte."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SEQUENCE: Final = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[\\]P_X^][^\x07\x1b]*(?:\x07|\x1b\\\\)?|.)?", re.DOTALL)
_PRIVATE: Final = re.compile("\x1b\\[\\?([0-9;]+)([hl])")

_OURS: Final = re.compile(
    "\x1b\\["
    "(?:[0-9;]*m|[1-9][0-9]*;[1-9][0-9]*H"  # a style, a place
    "|\\?(?:7|25|1000|1003|1004|1006|1015|1049|2004|2026|2048)[hl]"  # modes that Textual sets and takes back
    "|\\?(?:2026|2048)\\$p|c|>[0-9]+u|<u)"  # its questions, and the keyboard protocol
    "|\x1b\\]22;default\x07"  # the shape of the pointer
)
"""Every sequence that the console has a use for."""

MODES_AT_REST: Final = {"25": "h", "7": "h"}
"""Modes that a terminal has on when nobody uses it: the cursor, and wrapping. Every other one is off."""


def modes(raw: bytes) -> dict[str, str]:
    """The last state of each private mode that was touched: ``h`` for on, ``l`` for off."""
    return {number: state for numbers, state in _PRIVATE.findall(raw.decode()) for number in numbers.split(";")}


def is_restored(raw: bytes) -> bool:
    """Whether the terminal is left as a shell wants it: own screen, cursor, no mouse, no paste mode, no style, plain keys."""
    text = raw.decode()
    styles = re.findall("\x1b\\[([0-9;]*)m", text)
    return (
        all(state == MODES_AT_REST.get(number, "l") for number, state in modes(raw).items())
        and len(re.findall("\x1b\\[>[0-9]+u", text)) <= text.count("\x1b[<u")
        and (not styles or styles[-1] in ("", "0"))
        and {"1049", "25", "1000", "1003", "1006", "2004"} <= modes(raw).keys()
    )


def strangers(raw: bytes) -> set[str]:
    """What stands in the output and is neither text nor a sequence that the console has a use for."""
    text = raw.decode()  # a byte that is no UTF-8 is a fault of its own
    found = {sequence for sequence in _SEQUENCE.findall(text) if not _OURS.fullmatch(sequence)}
    plain = _SEQUENCE.sub("", text)
    return found | {c for c in set(plain) if c not in "\r\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
