"""Turns settings into a :class:`Studio`, and ends in order what it began. :class:`Assembly` knows the concrete classes.

Two profiles. A *console*, with a screen or without, hosts the scheduler as far as it may, and follows what changes. A *one-shot*
command has the same operations, hosts nothing and follows nothing; only a firing by hand runs under it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final, cast

from studio_tui.assembly import Assembly
from studio_tui.logs import log_to_file
from studio_tui.settings_model import Settings

if TYPE_CHECKING:
    from studio_tui.application.studio import Studio
    from studio_tui.scheduler.supervision import Fate

Say = Callable[[str], object]

_BECAME: Final = {
    "left": "runs on",
    "stopped": "was stopped",
    "ended": "has ended",
    "unknown": "may run on, nobody knows",
}


class Console:
    """A console that is being opened, in two steps: runs can be read after the first, the second brings everything else.

    Rows are on the screen half a second sooner so; what only the second step makes must not be asked for before it is done.
    """

    def __init__(self, assembly: Assembly, stack: AsyncExitStack, last_word: Say, *, terminate: bool) -> None:
        self._assembly, self._stack = assembly, stack
        self._last_word, self._terminate = last_word, terminate

    @property
    def studio(self) -> Studio:
        """The operations."""
        return cast("Studio", self._assembly)

    async def finish(self) -> None:
        """Make every other part, follow what changes, and host as far as the operator's answer allows."""
        assembly, stack = self._assembly, self._stack
        await _recall_answer(assembly)
        await asyncio.to_thread(_all_parts, assembly)
        await stack.enter_async_context(assembly.changes)
        waking = asyncio.create_task(_wake_on_changes(assembly), name="wake the scheduler")
        stack.push_async_callback(_ended, waking)
        stack.push_async_callback(_stop_host, assembly, self._last_word, self._terminate)
        await assembly.scheduler_host.start()


@asynccontextmanager
async def begin_console(
    settings: Settings, last_word: Say, *, ask: bool = True, terminate: bool = False
) -> AsyncIterator[Console]:
    """The first step of a long stay: the store is open, and runs can be read.

    ``ask`` has missed instants wait for a person. ``last_word`` gets a line for each firing that was still running at the end;
    with ``terminate`` they are stopped then, else left to run. Raises :class:`ValidationFailure` for a zone that cannot be known.
    """
    log_to_file(settings.own_directory, settings.log_level)
    assembly = await asyncio.to_thread(Assembly, settings, hosts=True, ask_about_missed=ask)
    async with AsyncExitStack() as stack:
        await asyncio.to_thread(_first_parts, assembly)
        stack.push_async_callback(assembly.database.close)
        await assembly.database.open()
        yield Console(assembly, stack, last_word, terminate=terminate)


@asynccontextmanager
async def open_console(settings: Settings, last_word: Say, *, ask: bool = True, terminate: bool = False) -> AsyncIterator[Studio]:
    """Both steps at once: the host (if the operator's answer allows), the watchers, all operations."""
    async with begin_console(settings, last_word, ask=ask, terminate=terminate) as console:
        await console.finish()
        yield console.studio


@asynccontextmanager
async def one_shot(settings: Settings, last_word: Say, *, about_host: bool = False) -> AsyncIterator[Studio]:
    """The operations for one command. Parts are made when they are asked for; what was not used was not even imported.

    A firing by hand that still runs at the end is left to run, and ``last_word`` gets a line for it. ``about_host``: the command
    asks who hosts, for which the kept answer is looked up.
    """
    log_to_file(settings.own_directory, settings.log_level)
    assembly = Assembly(settings, hosts=False)
    if about_host:
        await _recall_answer(assembly)
    await assembly.database.open()
    try:
        yield cast("Studio", assembly)
    finally:
        if assembly.may_have_fired:
            await _stop_host(assembly, last_word, terminate=False)
        await assembly.database.close()


async def _recall_answer(assembly: Assembly) -> None:
    """What was said for this start, else what was kept for this home; and whether firing is held."""
    from studio_tui.application.hold import Hold
    from studio_tui.application.hosting import kept_answer

    assembly.held_until = await Hold(assembly.sidecar, assembly.clock).until()
    if assembly.answer is None:
        assembly.answer = await kept_answer(assembly.sidecar)


def _first_parts(assembly: Assembly) -> None:
    """What the first screen needs, made in a thread: what this imports would hold the screen up."""
    assembly.zone  # noqa: B018 - refused here, before anything is opened
    assembly.runs  # noqa: B018
    assembly.store  # noqa: B018


def _all_parts(assembly: Assembly) -> None:
    """Make every part that a screen asks, in a thread. Those that none asks yet would cost a third of a second."""
    for name in ("schedules", "shows", "definitions", "host", "overview", "doctor"):
        getattr(assembly, name)


async def _wake_on_changes(assembly: Assembly) -> None:
    """Somebody may have made or changed a schedule: the host looks again."""
    async for topics in assembly.changes.subscribe():
        if "store" in topics:
            assembly.scheduler_host.wake()


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _stop_host(assembly: Assembly, last_word: Say, terminate: bool) -> None:
    for fate in await assembly.scheduler_host.stop(terminate=terminate):
        last_word(fate_words(fate))


def fate_words(fate: Fate) -> str:
    """What became of one firing, in a line."""
    process = f" as process {fate.pid}" if fate.pid is not None and fate.what == "left" else ""
    detail = f" ({fate.detail})" if fate.detail else ""
    return f"{fate.schedule_name}: firing {fate.run_id} {_BECAME[fate.what]}{process}{detail}"
