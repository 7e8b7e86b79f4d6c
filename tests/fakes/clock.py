"""A clock that moves only when told, both of its hands or the wall clock alone."""

from __future__ import annotations

from dataclasses import dataclass

NOW = 1_773_285_120.0
"""2026-03-12 03:12:00 UTC."""


@dataclass
class SteeredClock:
    """Implements ``Clock``."""

    at: float = NOW
    ticks: float = 1_000.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.ticks

    def advance(self, seconds: float) -> None:
        """Time passes."""
        self.at += seconds
        self.ticks += seconds

    def jump(self, seconds: float) -> None:
        """Somebody sets the wall clock, or the machine sleeps."""
        self.at += seconds
