"""What all twins share: a clock that is held, calls that are counted, trouble that is asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

NOW = 1_773_285_120.0
"""2026-03-12 03:12:00 UTC."""


@dataclass
class HeldClock:
    """A clock that moves only when told."""

    at: float = NOW
    ticks: float = 1_000.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.ticks


@dataclass
class Port:
    """Set ``trouble`` to an exception and the next calls raise it; ``asked`` counts the calls by name."""

    trouble: Exception | None = None
    asked: Counter[str] = field(default_factory=Counter)

    def _ask(self, name: str) -> None:
        self.asked[name] += 1
        if self.trouble is not None:
            raise self.trouble
