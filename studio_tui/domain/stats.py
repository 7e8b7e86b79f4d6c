"""Figures over a window of time: how runs ended, hour by hour or day by day, and what they cost (lionagi 0.36, stats).

A run stands in a window by its end, else its start, else its making.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

ROLL_UP_LIMIT: Final = 20
DIMENSIONS: Final = ("project", "agent", "playbook", "model")
"""By what spending may be summed up; ``model`` is ours, the others are those of the peer."""

_BUCKET_OF: Final[Mapping[str, str]] = MappingProxyType(
    {
        "completed": "completed",
        "completed_empty": "failed",
        "failed": "failed",
        "timed_out": "failed",
        "aborted": "cancelled",
        "cancelled": "cancelled",
        "running": "running",
    }
)
"""A run that ended without evidence counts as failed. Other statuses count in the total only."""


@dataclass(frozen=True, slots=True)
class Window:
    """Equal buckets up to now. The newest one began at a whole multiple of its length (in seconds, UTC) and is not over."""

    name: str
    bucket_seconds: int
    bucket_count: int

    def start(self, now: float) -> int:
        """When the oldest bucket began, in epoch seconds."""
        return int(now // self.bucket_seconds - self.bucket_count + 1) * self.bucket_seconds


WINDOWS: Final[Mapping[str, Window]] = MappingProxyType({"24h": Window("24h", 3_600, 24), "7d": Window("7d", 86_400, 7)})


@dataclass(frozen=True, slots=True)
class ActivityBucket:
    """How many runs ended how in one bucket that begins at ``start`` (epoch seconds)."""

    start: int
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    running: int = 0


@dataclass(frozen=True, slots=True)
class Activity:
    """The buckets of a window, oldest first. ``completion_rate`` is ``None`` when nothing ended."""

    window: str
    buckets: tuple[ActivityBucket, ...]
    total: int
    completion_rate: float | None


@dataclass(frozen=True, slots=True)
class SpendSum:
    """What some runs cost. ``usd`` is ``None`` when none of them reported a cost; those that did not make it a lower bound."""

    usd: float | None
    reported: int
    unreported: int

    @property
    def coverage(self) -> float | None:
        """The share of runs that reported a cost; ``None`` when there are no runs."""
        total = self.reported + self.unreported
        return self.reported / total if total else None


@dataclass(frozen=True, slots=True)
class SpendShare:
    """What the runs of one project, agent, playbook or model cost; ``key`` is ``None`` for those that have none."""

    key: str | None
    spend: SpendSum


def activity(window: Window, now: float, counts: Iterable[tuple[int, str | None, int]]) -> Activity:
    """Put ``(start of bucket, status, number of runs)`` into the buckets of a window."""
    first = window.start(now)
    starts = [first + number * window.bucket_seconds for number in range(window.bucket_count)]
    sums: dict[int, dict[str, int]] = {start: {} for start in starts}
    ended: dict[str, int] = {}
    total = 0
    for start, status, number in counts:
        total += number
        word = _BUCKET_OF.get(status or "")
        if word is None:
            continue
        ended[word] = ended.get(word, 0) + number
        if start in sums:
            sums[start][word] = sums[start].get(word, 0) + number
    done = ended.get("completed", 0)
    all_ended = done + ended.get("failed", 0) + ended.get("cancelled", 0)
    buckets = tuple(ActivityBucket(start, **sums[start]) for start in starts)
    return Activity(window.name, buckets, total, done / all_ended if all_ended else None)
