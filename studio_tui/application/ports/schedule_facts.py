"""What is asked of a schedule beside its own row: what its gates count, what goes with it, what was recorded of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from studio_tui.application.ports.firing import Spend
from studio_tui.application.ports.thresholds import MetricPort
from studio_tui.domain.runs import TransitionRecord
from studio_tui.domain.schedules import FiringRecord


@dataclass(frozen=True, slots=True)
class Vanishing:
    """What goes with a schedule: rows of firings, and the ids of those that run. ``obstacle`` says why it cannot be deleted."""

    firings: int
    running: tuple[str, ...] = ()
    obstacle: str | None = None


@dataclass(frozen=True, slots=True)
class GateFacts:
    """What the gates count: ids of the schedule's running firings, executed ones over its life and in a window, what its runs
    reported, and how many firings of all schedules run."""

    running: tuple[str, ...]
    executed: int
    fired: int
    spend: Spend
    running_of_all: int


class ScheduleFactsPort(MetricPort, Protocol):
    """Reads what explains a schedule."""

    async def vanishing(self, schedule_id: str) -> Vanishing:
        """What would go with a schedule if it were deleted."""
        ...

    async def gate_facts(self, schedule_id: str, *, since: float) -> GateFacts:
        """What the gates count now; ``since`` (epoch seconds) begins the window of the rate limit."""
        ...

    async def firings_around(self, schedule_id: str, at: float) -> tuple[FiringRecord | None, FiringRecord | None]:
        """The last row of a schedule at or before an instant, and the first one after it; chain steps left out."""
        ...

    async def definition_history(self, schedule_id: str, *, before: float) -> TransitionRecord | None:
        """The last line of history of a schedule's definition at or before an instant: made, turned on or off, by whom."""
        ...
