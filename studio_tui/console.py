"""Starts the console: the first frame needs little more than Textual, everything else is imported behind it."""

from __future__ import annotations

import asyncio
import gc
import os
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from studio_tui.settings import appearance, home_label
from studio_tui.tui.terminal import REFUSED, default_theme, refusal

if TYPE_CHECKING:
    from studio_tui.application.studio import Studio
    from studio_tui.bootstrap import Console
    from studio_tui.settings_model import Settings

T = TypeVar("T")
Prepare = Callable[["Settings"], Awaitable[None]]
_BEHIND: Final = ("studio_tui.bootstrap", "studio_tui.settings_model")


def run_console(flags: Mapping[str, object], *, prepare: Prepare | None = None) -> int:
    """Draw the console until somebody leaves it; the exit code.

    ``prepare`` makes a home that will be thrown away, before it is opened: what runs at the end is stopped then.
    """
    look = appearance(flags)
    refused = refusal(look.term)
    if refused is not None:
        sys.stderr.write(f"{refused}\n")
        return REFUSED
    from studio_tui.tui.app import StudioApp
    from studio_tui.tui.clipboard import Clipboard
    from studio_tui.tui.terminal import run_console as run

    opening = Opening(flags, prepare)
    theme = default_theme(look.theme, no_color=look.no_color, colors=look.colors)

    async def main() -> int:
        label = home_label(flags) if prepare is None else "demo"
        clipboard = Clipboard(tmux=look.tmux, save=partial(save_copy, look.copies))
        app = StudioApp(
            opening.open, opening.close, opening.finish, home_label=label, ascii=look.ascii, theme=theme, clipboard=clipboard
        )
        return await run(app)

    return asyncio.run(main())


def save_copy(folder: Path, text: str) -> str:
    """Write a text that is too long for a clipboard to a private file; its path. Raises :class:`OSError`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%dT%H%M%S')}-{secrets.token_hex(3)}.txt"
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return str(path)


class Opening:
    """Opens the studio for a console that is drawn already, and closes it when the terminal has been given back."""

    def __init__(self, flags: Mapping[str, object], prepare: Prepare | None = None) -> None:
        self._flags, self._prepare = flags, prepare
        self._throw_away = prepare is not None
        self._stack = AsyncExitStack()
        self._console: Console | None = None
        self._steps: list[asyncio.Task[object]] = []
        self._last_words: list[str] = []

    async def open(self) -> Studio:
        """Import, load the settings, open as far as runs need. Raises the closed errors; it can be tried again then."""
        return await self._step(self._open())

    async def finish(self) -> None:
        """Open the rest. Raises the closed errors; nothing is left open then, and all of it can be tried again."""
        await self._step(self._finish())

    async def _step(self, step: Coroutine[object, object, T]) -> T:
        """It goes on when the caller is cancelled, and :meth:`close` waits for it: half of an opening cannot be undone."""
        task = asyncio.create_task(step, name="open the studio")
        self._steps.append(task)
        return await asyncio.shield(task)

    async def close(self) -> Sequence[str]:
        """Close everything in order; what became of running jobs, in lines."""
        if self._steps:
            await asyncio.wait(self._steps)
        await self._stack.aclose()
        return self._last_words

    async def _open(self) -> Studio:
        for module in _BEHIND:
            await asyncio.to_thread(import_module, module)
        from studio_tui.bootstrap import begin_console
        from studio_tui.settings import load_settings

        settings = await asyncio.to_thread(load_settings, self._flags)
        if self._prepare is not None:
            await self._prepare(settings)
            self._prepare = None
        begun = begin_console(settings, self._last_words.append, terminate=self._throw_away)
        self._console = await self._stack.enter_async_context(begun)
        return self._console.studio

    async def _finish(self) -> None:
        if self._console is None:
            return
        try:
            await self._console.finish()
        except BaseException:
            await self._stack.aclose()
            raise
        # What was made until now stays: the collector need not look at it again and again.
        gc.freeze()
        gc.enable()
