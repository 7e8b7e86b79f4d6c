"""The firings that this process looks after, and what becomes of them when it goes.

A firing is one task that nobody cancels. Shutting down gives it an order instead, so that no process is started without its row
and no row is left without a word.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from studio_tui.application.errors import StateUnavailable
from studio_tui.application.ports import StopReport
from studio_tui.domain.schedules import ScheduleRecord

log = logging.getLogger(__name__)

STOP_GRACE: Final = 5.0
"""Seconds between TERM and KILL."""

Order = Literal["leave", "stop"]
Ending = Literal["left", "stopped", "ended", "unknown"]


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one firing when its host went: its process runs on (``left``), was ``stopped``, had ``ended``, or neither is
    known; ``detail`` says more."""

    run_id: str
    schedule_name: str
    pid: int | None
    what: Ending
    detail: str = ""


@dataclass(slots=True, eq=False)
class Supervised:
    """A firing from the first step of its chain to the last. ``ours`` is false for one that an earlier host launched."""

    run_id: str
    schedule: ScheduleRecord
    ours: bool
    order: asyncio.Future[Order]
    launched: asyncio.Event = field(default_factory=asyncio.Event)
    pid: int | None = None
    what: Ending = "unknown"
    detail: str = ""

    @property
    def ordered(self) -> Order | None:
        """What shutting down wants done with it, once it does."""
        return self.order.result() if self.order.done() else None

    def fate(self) -> Fate:
        """What became of it, once its task has ended."""
        return Fate(self.run_id, self.schedule.name, self.pid, self.what, self.detail)


class Supervisor:
    """Keeps the tasks. ``closing`` is set with the order to end; ``on_end`` is called whenever a firing is over."""

    def __init__(self, *, closing: asyncio.Event, on_end: Callable[[], None]) -> None:
        self._closing, self._on_end = closing, on_end
        self._firings: dict[asyncio.Task[None], Supervised] = {}

    def busy(self, schedule_id: str | None) -> int:
        """How many firings run here, of one schedule or of all."""
        return sum(schedule_id in (None, firing.schedule.schedule_id) for firing in self._firings.values())

    def looks_after(self, run_id: str) -> bool:
        """Whether this firing is followed here."""
        return any(firing.run_id == run_id for firing in self._firings.values())

    @property
    def running(self) -> tuple[str, ...]:
        """Ids of the firings that this process launched and that run now."""
        return tuple(firing.run_id for firing in self._firings.values() if firing.ours)

    def start(
        self,
        run_id: str,
        schedule: ScheduleRecord,
        work: Callable[[Supervised], Coroutine[Any, Any, None]],
        *,
        ours: bool,
    ) -> Supervised:
        """Look after a firing by doing ``work`` on it."""
        firing = Supervised(run_id, schedule, ours, asyncio.get_running_loop().create_future())
        if self._closing.is_set():
            firing.order.set_result("leave")
        task = asyncio.create_task(_watched(firing, work(firing)), name=f"firing {run_id}")
        self._firings[task] = firing
        task.add_done_callback(self._over)
        return firing

    async def idle(self) -> None:
        """Return once nothing runs here."""
        while self._firings:
            await asyncio.wait(tuple(self._firings))

    async def stop(self, *, terminate: bool) -> tuple[Fate, ...]:
        """End the supervision of all firings, with their processes or without them; what became of each."""
        self._closing.set()
        firings = tuple(self._firings.values())
        for firing in firings:
            if not firing.order.done():
                firing.order.set_result("stop" if terminate else "leave")
        await self.idle()
        return tuple(firing.fate() for firing in firings)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._firings.pop(task, None)
        self._on_end()


async def _watched(firing: Supervised, work: Coroutine[Any, Any, None]) -> None:
    try:
        await work
    except StateUnavailable as failure:
        firing.detail = f"its end is not written, the store does not answer: {failure}"
        log.error("firing %s: %s", firing.run_id, firing.detail)
    except Exception:
        firing.detail = "its supervision failed; see the log"
        log.exception("firing %s: its supervision failed", firing.run_id)
    finally:
        firing.launched.set()


def stop_words(report: StopReport) -> tuple[str, ...]:
    """What stopping a group came to, where it is worth a word."""
    words = []
    if report.refused is not None:
        words.append(f"no signal was sent: {report.refused}")
    if report.left:
        words.append(f"processes that could not be stopped: {', '.join(map(str, report.left))}")
    if report.escaped:
        words.append(f"processes that had left its group run on: {', '.join(map(str, report.escaped))}")
    return tuple(words)


def how_it_ended(task: asyncio.Task[Any]) -> str:
    """A task that is over, by its name, and how it came to that, in words for the log."""
    if task.cancelled():
        return f"{task.get_name()} (cancelled)"
    failure = task.exception()
    return f"{task.get_name()} ({'returned' if failure is None else repr(failure)})"
