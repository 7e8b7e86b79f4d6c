"""Three quiet days around a change of daylight saving."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from studio_tui.domain.schedules import Zone
from tests.simulation.kinds import CALM, DAY
from tests.simulation.making import Made
from tests.simulation.play import Played, play
from tests.simulation.simple import lasting, simple

FIXED = ((1, 30), (1, 45), (2, 0), (2, 15), (2, 30), (2, 59), (3, 0), (12, 0))
EVEN = "*/30 * * * *"


@dataclass(frozen=True)
class Change:
    """A day on which the clocks of a zone move."""

    zone: str
    day: date

    def __str__(self) -> str:
        return f"{self.zone.replace('/', '-')}-{self.day}"


NEW_YORK_AUTUMN = Change("America/New_York", date(2026, 11, 1))
CHANGES = (
    Change("America/New_York", date(2026, 3, 8)),
    NEW_YORK_AUTUMN,
    Change("Europe/Berlin", date(2026, 3, 29)),
    Change("Europe/Berlin", date(2026, 10, 25)),
    Change("America/St_Johns", date(2026, 3, 8)),
    Change("Australia/Lord_Howe", date(2026, 4, 5)),
    Change("Australia/Lord_Howe", date(2026, 10, 4)),
    Change("Asia/Kolkata", date(2026, 3, 29)),
)
"""Hours that are skipped and that come twice; half an hour that does; a half-hour zone whose clocks never move."""


def play_change(change: Change, folder: Path, *, prepare: Callable[[pytest.MonkeyPatch], None] = lambda patch: None) -> Played:
    """Three quiet days around a change, from midnight to midnight."""
    start, end = (
        datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(change.zone)).astimezone(UTC).timestamp()
        for day in (change.day - timedelta(days=1), change.day + timedelta(days=2))
    )
    return play(
        1,
        CALM,
        folder,
        prepare=prepare,
        schedules=lambda began: _jobs(change.zone, began),
        days=(end - start - 1.0) / DAY,
        began=start - 0.5,
        zone=Zone("UTC", "env:TZ"),
        slots=0,
        ask=False,
        lag=0.0,
    )


def _jobs(zone: str, began: float) -> list[Made]:
    expressions = {f"at {hour:02d}:{minute:02d}": f"{minute} {hour} * * *" for hour, minute in FIXED} | {"even": EVEN}
    return [
        simple(number, began, lasting(1.0, 1.0), name=name, trigger_type="cron", cron_expr=expression, resolved_timezone=zone)
        for number, (name, expression) in enumerate(expressions.items())
    ]
