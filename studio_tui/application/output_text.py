"""What a process wrote, made readable: its colours and cursor movements gone, its progress bars at their last state."""

from __future__ import annotations

import re
from typing import Final

from studio_tui.application.ports import OutputTail
from studio_tui.application.text import clean_block

_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # control sequences: colours, movements
    r"|\x1b[\]P^_X][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # titles, links and other strings, where they end on their line
    r"|\x1b[ -/]*[0-~]"  # two-character escapes
)


def readable(text: str) -> str:
    """The text that a person at a terminal would have been left with, safe to draw."""
    plain = _ESCAPES.sub("", text).replace("\r\n", "\n")
    return clean_block("\n".join(_overwritten(line) for line in plain.split("\n")))


def joined(tail: OutputTail) -> str:
    """Both streams as one text: errors first, as the peer keeps them (lionagi 0.36); each is named if both said something."""
    out, err = readable(tail.stdout).strip("\n"), readable(tail.stderr).strip("\n")
    if not out or not err:
        return out or err
    return f"{err}\n[stdout]\n{out}"


def _overwritten(line: str) -> str:
    """A line after its carriage returns: what was written last."""
    kept = line.rstrip("\r")
    return kept.rsplit("\r", 1)[-1] if "\r" in kept else kept
