"""The terminal around the console: whether there is one, and leaving it in order whatever asks for it."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TextIO

from studio_tui.application.text import clean

if TYPE_CHECKING:
    from studio_tui.tui.app import StudioApp

REFUSED: Final = 2
"""Exit status when there is no terminal to draw on."""
_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def refusal(term: str) -> str | None:
    """Why the console cannot be drawn here, in one line; ``None`` when it can. ``term`` is the terminal's name (``$TERM``)."""
    for stream, name in ((sys.__stdin__, "input"), (sys.__stdout__, "output")):
        try:
            is_terminal = stream is not None and stream.isatty()
        except ValueError:
            is_terminal = False
        if not is_terminal:
            return f"studio-tui: {name} is no terminal; the console needs one (try: studio-tui runs list, or ssh -t)"
    if term in ("", "dumb"):
        return f"studio-tui: a terminal of type {term or 'unknown'} cannot be drawn on (try: studio-tui runs list)"
    return None


def default_theme(asked: str | None, *, no_color: bool, colors: int | None = None) -> str:
    """The theme to start with: the asked one, else no colour for ``NO_COLOR``, else sixteen where the terminal has no more."""
    if asked:
        return asked
    if no_color:
        return "mono"
    return "ansi" if colors is not None and colors <= 16 else "dark"


async def run_console(app: StudioApp) -> int:
    """Run the console until somebody leaves it; the exit status.

    A key, ``SIGTERM``, ``SIGHUP`` and ``SIGINT`` all take the same way: the app ends, the terminal is given back, then everything
    that was opened is closed, and what became of it is printed. By a signal the status is 128 and its number.
    """
    with _signals(app):
        try:
            await app.run_async()
        finally:
            await app.end_opening()
            words = await app.close_studio() if app.close_studio else ()
    for line in words:
        _print(sys.stdout, line)
    if app.last_words:
        _print(sys.stderr, app.last_words)
    return app.return_code or 0


@contextmanager
def _signals(app: StudioApp) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, app.leave, 128 + number)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)


def _print(stream: TextIO, line: str) -> None:
    """To the terminal that is left, if it is still there."""
    try:
        stream.write(clean(line) + "\n")
        stream.flush()
    except (OSError, ValueError):
        return
