"""Where a console may be stopped: before and after each thing that it does to the outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from studio_tui.application.ports import SchedulerStateService
from studio_tui.application.ports.lifecycle import StatusPort
from studio_tui.application.ports.reaping import ReapingPort
from tests.simulation.console import Console
from tests.simulation.world import Trouble, World

_QUESTIONS = sorted(
    name for port in (SchedulerStateService, ReapingPort, StatusPort) for name in vars(port) if not name.startswith("_")
)
_STEPS = ("before launch", "launch noted", "launch noted, no process yet", "process started, not noted", "after launch")
LAUNCH = ("before claim", "after claim", *_STEPS)
"""The points of which most depends."""

POINTS = (*(f"{side} {name}" for name in _QUESTIONS for side in ("before", "after")), *_STEPS, "before stop")


@dataclass
class AtPoint(Trouble):
    """Strikes the first console that passes a point, or the one named ``console``."""

    world: World
    point: str
    strike: Callable[[Console], None]
    console: str | None = None

    def at(self, console: Console, point: str) -> None:
        if point == self.point and self.console in (None, console.name):
            self.world.trouble.remove(self)
            self.strike(console)


@dataclass
class Often(Trouble):
    """Strikes whoever passes a point, in one of three passings."""

    point: str
    strike: Callable[[Console], None]
    passings: int = 0

    def at(self, console: Console, point: str) -> None:
        if point == self.point:
            self.passings += 1
            if self.passings % 3 == 0:
                self.strike(console)
