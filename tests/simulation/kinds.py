"""The sorts of worlds, and what a seed means in each."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from studio_tui.domain.schedules import Zone
from tests.simulation.rules import Pace
from tests.simulation.world import Plan

DAY = 86_400.0
WIDE = Pace(
    longest_sleep=7200.0, take_over=900.0, beat=1800.0, recover=7200.0, follow=600.0, defer=7200.0, reap=7200.0, silence=3600.0
)
_CHANGES = ((2026, 3, 8), (2026, 3, 29), (2026, 4, 5), (2026, 10, 4), (2026, 10, 25), (2026, 11, 1))
"""Days on which the clocks of some of our zones move."""


@dataclass(frozen=True)
class Kind:
    """A sort of world: a month of a few firings a day, or hours of many a minute at the product's own pace."""

    name: str
    days: float
    pace: Pace
    dense: bool
    schedules: tuple[int, int]
    trouble_every: float
    act_every: float


LONG = Kind("long", 30.0, WIDE, False, (6, 9), 1.5 * DAY, 0.7 * DAY)
DENSE = Kind("dense", 0.1, Pace(), True, (5, 9), 240.0, 180.0)
CALM = Kind("calm", 3.0, WIDE, False, (1, 1), 1e12, 1e12)


def plan_of(seed: int, kind: Kind, days: float | None = None) -> Plan:
    """What a seed means."""
    draw = random.Random(f"{seed}/plan")
    change = datetime(*draw.choice(_CHANGES), tzinfo=UTC)
    before = timedelta(days=draw.uniform(1, 25) if not kind.dense else draw.uniform(0, 1))
    zones = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe")
    return Plan(
        seed=seed,
        began=(change - before).timestamp(),
        seconds=(days if days is not None else kind.days) * DAY,
        pace=kind.pace,
        zone=Zone(draw.choice(zones), "env:TZ"),
        slots=draw.choice((0, 1, 2, 4)),
        deadline=900.0 if kind.dense else 7200.0,
        ask=draw.random() < 0.2,
        lag=draw.choice((0.0, 0.05, 0.2)),
    )
