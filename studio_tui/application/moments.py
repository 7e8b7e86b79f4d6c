"""Stored times, made safe to calculate with and to show.

Stores hold milliseconds, infinities and negative numbers where epoch seconds belong (other writers' faults). Such a value is
unknown to every calculation and is named as a problem with what was stored.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

_LAST: Final = 253_402_300_799.0
"""The end of the year 9999, past which calendars give up."""
_FIRST: Final = -62_135_596_800.0
"""The beginning of the year 1."""


@dataclass(slots=True)
class Times:
    """Reads the times of one record and remembers those that are none."""

    problems: list[str] = field(default_factory=list)

    def read(self, name: str, value: float | None) -> float | None:
        """``value`` if it is a time in epoch seconds, else ``None`` and a problem."""
        if value is None or is_time(value):
            return value
        self.problems.append(f"{name}: {value!r} is not a time")
        return None


def is_time(value: float) -> bool:
    """Whether a number can be an instant in epoch seconds."""
    return math.isfinite(value) and 0.0 <= value <= _LAST


def has_date(value: float) -> bool:
    """Whether a calendar has this instant, in epoch seconds."""
    return _FIRST <= value < _LAST + 1


def dated(value: float) -> float:
    """``value``, given by whoever asks for what follows on it; :class:`ValueError` when no calendar has it."""
    if not has_date(value):
        raise ValueError("an instant must be between the years 1 and 9999")
    return value


def elapsed(start: float | None, end: float | None) -> float | None:
    """Seconds from ``start`` to ``end``, never negative; ``None`` when either is unknown."""
    return None if start is None or end is None else max(0.0, end - start)
