"""Copying text out of the console: tmux's buffer, else the terminal's clipboard (OSC 52), else a file.

Whether a terminal took it cannot be known: the answer names the route, and never says "copied". What is copied is the data
itself, not what was drawn of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

OSC52_LIMIT: Final = 65_536
"""Bytes of text; many terminals drop longer ones."""
TMUX_LIMIT: Final = 1_000_000
_TIME_LIMIT: Final = 2.0
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Clipboard:
    """The routes there are. ``tmux``: the console runs in tmux. ``save`` writes a text to a private file and gives its path."""

    tmux: bool = False
    save: Callable[[str], str] | None = None

    async def copy(self, text: str, osc52: Callable[[str], None]) -> str:
        """Send the text by the first route that takes it; a sentence that says which."""
        size = len(text.encode("utf-8", "replace"))
        if not size:
            return "nothing to copy here"
        if self.tmux and size <= TMUX_LIMIT and await _to_tmux(text):
            return f"{_words(text)} sent to tmux's buffer and on to the terminal (that cannot be verified; prefix ] pastes it)"
        if size <= OSC52_LIMIT:
            osc52(text)
            return f"{_words(text)} sent to the terminal's clipboard by OSC 52 (that cannot be verified)"
        if self.save is None:
            return f"{_words(text)} is more than a terminal's clipboard takes; nothing was copied"
        try:
            path = await asyncio.to_thread(self.save, text)
        except OSError as error:
            return f"too long for the clipboard, and no file could be written: {error.strerror or 'unknown fault'}"
        return f"{_words(text)} is too long for the clipboard; written to {path}"


def _words(text: str) -> str:
    lines = text.count("\n") + 1
    return f"{lines} lines" if lines > 1 else f"{len(text)} characters" if len(text) > 40 else f"“{text}”"


async def _to_tmux(text: str) -> bool:
    """``load-buffer -w`` also passes the text on to the outer terminal, where tmux may do that."""
    try:
        process = await asyncio.create_subprocess_exec(
            *("tmux", "load-buffer", "-w", "-"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return False
    try:
        await asyncio.wait_for(process.communicate(text.encode("utf-8", "replace")), _TIME_LIMIT)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        log.info("tmux did not take a text in %s s", _TIME_LIMIT)
        return False
    return process.returncode == 0
