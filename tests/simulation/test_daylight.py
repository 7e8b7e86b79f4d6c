"""The days on which clocks move, through the whole scheduler: jobs at a fixed time run once, jobs of every hour go on evenly."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest

from tests.simulation.clock_changes import CHANGES, FIXED, Change, play_change
from tests.simulation.oracle import daily
from tests.simulation.play import Played
from tests.simulation.store import Template
from tests.simulation.watching import Firing


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


def _instants(played: Played, name: str) -> list[float]:
    """The instants for which a job was launched, in order."""
    number = [f"at {hour:02d}:{minute:02d}" for hour, minute in FIXED].index(name) if name != "even" else len(FIXED)
    return [_instant(row) for row in played.rows if row.schedule_id == f"{number:012x}" and row.status == "completed"]


def _instant(row: Firing) -> float:
    return float(row.context["next_fire_at"])
