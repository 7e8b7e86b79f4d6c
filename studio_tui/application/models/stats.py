"""Figures over a window of time."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from studio_tui.application.models.common import ContractModel, Epoch, Seconds, Usd

WindowName = Literal["24h", "7d"]
Dimension = Literal["project", "agent", "playbook", "model"]


class StatsQuery(ContractModel):
    """A window up to now: 24 buckets of an hour, or 7 of a day (UTC); the newest one is not over."""

    window: WindowName = "24h"


class ActivityBucket(ContractModel):
    """How many runs ended how in one bucket. Timed out and empty ones count as failed, aborted ones as cancelled."""

    start: Epoch
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    running: int = 0


class Activity(ContractModel):
    """The buckets of a window, the oldest first. ``completion_rate`` is ``None`` when nothing ended."""

    window: WindowName
    bucket_length: Seconds
    buckets: tuple[ActivityBucket, ...]
    total: int
    completion_rate: float | None


class Spend(ContractModel):
    """What runs cost: a lower bound, since ``unreported`` of them said nothing. ``usd`` is ``None`` when none did."""

    usd: Usd | None
    reported: int
    unreported: int
    coverage: float | None


class SpendQuery(StatsQuery):
    """Spending by something, the dearest first."""

    dimension: Dimension
    limit: int = Field(default=20, ge=1, le=200)


class SpendShare(ContractModel):
    """What the runs of one project, agent, playbook or model cost; ``key`` is ``None`` for those that have none."""

    key: str | None
    spend: Spend
