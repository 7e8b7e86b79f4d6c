"""What keeps the screens true: the change feed, the clock, and the figures of the header.

One subscription and one timer for the whole app. While nothing changes nothing is asked and nothing is written, but for the
minute of the clock.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from studio_tui.application.errors import StudioApplicationError
from studio_tui.tui import format as fmt
from studio_tui.tui.statuses import Span

if TYPE_CHECKING:
    from studio_tui.application.models.host import HostStatus
    from studio_tui.tui.app import StudioApp
    from studio_tui.tui.screens.base import StudioScreen

log = logging.getLogger(__name__)
_TICK: Final = 1.0
_OLD_PASS: Final = 60.0
_RESTARTS: Final = (1.0, 5.0, 15.0, 60.0)


class Feeds:
    """Follows changes and time for an app, and tells the screen on top."""

    def __init__(self, app: StudioApp) -> None:
        self._app = app
        self._task: asyncio.Task[None] | None = None
        self._counting = self._count_again = False
        self._minute = ""

    def start(self) -> None:
        """Follow from now on."""
        self._task = asyncio.create_task(self._follow(), name="change feed of the screens")
        self._app.set_interval(_TICK, self.tick, name="clock")
        self.tick()
        self._count()

    def stop(self) -> None:
        """Follow no longer."""
        if self._task:
            self._task.cancel()

    async def _follow(self) -> None:
        attempt = 0
        while True:
            try:
                async for topics in self._app.studio.changes.subscribe():
                    attempt = 0
                    self._changed(topics)
                return
            except Exception as error:
                self._app.fault(error)
            await asyncio.sleep(_RESTARTS[min(attempt, len(_RESTARTS) - 1)])
            attempt += 1

    def _changed(self, topics: frozenset[str]) -> None:
        if "store" in topics:
            self._count()
        screen = self._app.top_screen
        if screen is not None:
            screen.changed(topics)

    def _count(self) -> None:
        """Ask for the figures of the header, one question at a time; once more if something changed while one was on its way."""
        if self._counting:
            self._count_again = True
            return
        self._counting, self._count_again = True, False
        self._app.run_worker(self._ask_overview(), group="header", exit_on_error=False)

    async def _ask_overview(self) -> None:
        app = self._app
        try:
            overview = await app.studio.overview.overview()
            app.show_facts(replace(app.facts, attention=overview.attention_total, running=overview.running))
        except StudioApplicationError as error:
            log.debug("no figures for the header: %s", error)
        except Exception as error:
            app.fault(error)
        finally:
            self._counting = False
        if self._count_again:
            self._count()

    def tick(self) -> None:
        """Once a second: states that are in memory, and the clock. What did not change is not drawn."""
        app = self._app
        app.catch_up()
        now = app.now()
        minute = fmt.clock(now)
        store = app.studio.store.status()
        app.show_facts(
            replace(
                app.facts,
                host=host_cell(app.studio.host.status(), app.ascii),
                clock=minute,
                read_only=store.mode == "read_only",
                stale="store busy" if store.waiting else _stale_words(app.top_screen, now),
            )
        )
        if app.question is not None:
            app.question.look()
        if app.top_screen is not None:
            app.top_screen.second()
        if minute != self._minute:
            self._minute = minute
            if app.top_screen is not None:
                app.top_screen.minute()


def _stale_words(screen: StudioScreen | None, now: float) -> str | None:
    """How old the data on screen is, when it could not be read again."""
    failed = screen.failed_reads if screen is not None else ()
    if not failed:
        return None
    oldest = min((at for at in failed if at is not None), default=None)
    if oldest is None:
        return "no data"
    old = now - oldest
    return "data old" if old < 60 else f"data {fmt.one_unit(old)} old"


def host_cell(status: HostStatus, ascii_only: bool = False) -> Span:
    """The scheduler in one cell. Ages are coarse, so that the line changes only when something is wrong."""
    dot, ring = ("*", "o") if ascii_only else ("●", "○")
    age = status.pass_age
    match status.state:
        case "hosting" | "held" if status.missed:
            return f"{ring} {len(status.missed)} missed", "bold warn"
        case "hosting":
            old = age is not None and age > _OLD_PASS
            return (f"{dot} host {fmt.one_unit(age)}", "warn") if old and age else (f"{dot} host", "ok")
        case "standby" if status.rival:
            return "TWO HOSTS?", "bold fail"
        case "standby":
            return f"{ring} standby on {status.holder}" if status.holder else f"{ring} standby", "soft"
        case "undecided":
            return f"{ring} host asks", "bold warn"
        case "held":
            until = f" to {fmt.clock(status.held_until)}" if status.held_until is not None else ""
            return f"{ring} host held{until}", "bold warn"
        case "stalled":
            return f"HOST STALLED {_coarse(age)}".rstrip(), "bold fail"
        case _:
            return f"{ring} host off", "mute"


def _coarse(age: float | None) -> str:
    if age is None:
        return ""
    return f"{int(age) // 5 * 5}s" if age < 120 else fmt.one_unit(age)


def quit_words(status: HostStatus, now: float) -> list[str]:
    """What stops when this console is left, and what goes on."""
    if status.state != "hosting":
        return ["this console does not fire schedules; nothing stops"]
    due = fmt.countdown(status.next_due_at, now)
    next_due = f"the next is due in {due}" if status.next_due_at is not None else "none is due"
    words = [f"this console fires the schedules: they stop until another host starts ({next_due})"]
    if status.running:
        words.append(f"{status.running} launched jobs go on without it")
    return words
