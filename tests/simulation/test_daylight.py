"""The days on which clocks move, through the whole scheduler: jobs at a fixed time run once, jobs of every hour go on evenly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from studio_tui.domain.schedules import Zone
from tests.simulation.kinds import CALM, DAY
from tests.simulation.making import Behaviour, Made, Maker
from tests.simulation.oracle import daily
from tests.simulation.play import Played, play
from tests.simulation.store import Template
from tests.simulation.watching import Firing

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


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_jobs_on_the_day_the_clocks_move(change: Change, template: Template) -> None:
    played = play_change(change, template.copy())
    assert played.breach is None, played.report
    days = [change.day + timedelta(days=offset) for offset in (-1, 0, 1)]
    for hour, minute in FIXED:
        fired = _instants(played, f"at {hour:02d}:{minute:02d}")
        assert fired == [daily(change.zone, hour, minute, day) for day in days], f"{hour:02d}:{minute:02d}, once a day"
    even = _instants(played, "even")
    assert {later - earlier for earlier, later in pairwise(even)} == {1800.0}, "half an hour of real time, always"
    assert len(even) >= 3 * 24 * 2 - 4


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
    return [_job(number, name, expression, zone, began) for number, (name, expression) in enumerate(expressions.items())]


def _job(number: int, name: str, expression: str, zone: str, began: float) -> Made:
    values = {
        "id": f"{number:012x}",
        "name": name,
        "trigger_type": "cron",
        "cron_expr": expression,
        "resolved_timezone": zone,
        "action_kind": "command",
        "action_command": "true",
        "action_cwd": "/",
        "created_at": began,
        "updated_at": began,
    }
    values["next_fire_at"] = Maker.first_of(values, began, Zone("UTC", "env:TZ"))
    return Made(values, Behaviour(1.0, 1.0, failing=0.0, refused=0.0, stubborn=0.0))


def _instants(played: Played, name: str) -> list[float]:
    """The instants for which a job was launched, in order."""
    number = [f"at {hour:02d}:{minute:02d}" for hour, minute in FIXED].index(name) if name != "even" else len(FIXED)
    return [_instant(row) for row in played.rows if row.schedule_id == f"{number:012x}" and row.status == "completed"]


def _instant(row: Firing) -> float:
    return float(row.context["next_fire_at"])
