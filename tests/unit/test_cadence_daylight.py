"""Clocks that are moved: what fires, when, and what is said of it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from studio_tui.domain.cadence import CadenceError, Instant, next_fire, upcoming
from studio_tui.domain.cron import CronError, parse_cron
from tests.unit.records import UTC, cron, epoch, shown

NEW_YORK, BERLIN, LORD_HOWE = "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"


def fires(expression: str, zone: str, after: str, count: int) -> list[tuple[str, str | None]]:
    """The coming fires on the clock of the zone, with what is said of each."""
    found = upcoming(cron(expression, zone), epoch(after, zone), count, UTC)
    return [(shown(instant.at, zone), instant.note) for instant in found]


def times(expression: str, zone: str, after: str, count: int) -> list[str]:
    return [at for at, _ in fires(expression, zone, after, count)]


def gaps(expression: str, zone: str, after: str, count: int) -> list[float]:
    """Real minutes between the coming fires."""
    found = [instant.at for instant in upcoming(cron(expression, zone), epoch(after, zone), count, UTC)]
    return [(second - first) / 60 for first, second in pairwise(found)]


def test_a_time_that_the_clock_skips_fires_once_right_after_the_gap() -> None:
    assert fires("30 2 * * *", NEW_YORK, "2026-03-07T12:00", 3) == [
        ("2026-03-08T03:00:00-04:00", "02:30 does not exist on 2026-03-08 (clocks go forward): fires at 03:00"),
        ("2026-03-09T02:30:00-04:00", None),
        ("2026-03-10T02:30:00-04:00", None),
    ]


def test_several_skipped_times_and_the_one_after_them_are_one_fire() -> None:
    (first, note), (second, _) = fires("*/20 2,3 * * *", NEW_YORK, "2026-03-08T00:00", 2)
    assert (first, second) == ("2026-03-08T03:00:00-04:00", "2026-03-08T03:20:00-04:00")
    assert note is not None
    assert "fires once at 03:00, together with the times up to then" in note


def test_a_time_that_comes_twice_fires_the_first_time_only() -> None:
    assert fires("30 1 * * *", NEW_YORK, "2026-10-31T12:00", 2) == [
        ("2026-11-01T01:30:00-04:00", "01:30 comes twice on 2026-11-01 (clocks go back): fires the first time only"),
        ("2026-11-02T01:30:00-05:00", None),
    ]


@pytest.mark.parametrize("minutes", [0, 1, 29, 30, 31, 59, 60, 61, 89, 90, 119])
def test_a_restart_inside_the_repeated_hour_adds_no_fire(minutes: int) -> None:
    half_past_one = epoch("2026-11-01T01:30", NEW_YORK)
    assert next_fire(cron("30 1 * * *", NEW_YORK), half_past_one + minutes * 60, UTC) == epoch("2026-11-02T01:30", NEW_YORK)


def test_every_minute_of_a_named_hour_fires_through_one_of_its_repeats() -> None:
    found = times("* 1 * * *", NEW_YORK, "2026-11-01T00:30", 61)
    assert found[0] == "2026-11-01T01:00:00-04:00"
    assert found[59] == "2026-11-01T01:59:00-04:00"
    assert found[60] == "2026-11-02T01:00:00-05:00"


@pytest.mark.parametrize("after", ["2026-03-08T00:10", "2026-11-01T00:10", "2026-07-01T00:10"])
@pytest.mark.parametrize(
    ("expression", "minutes"), [("*/30 * * * *", 30), ("0 * * * *", 60), ("45 * * * *", 60), ("*/5 * * * *", 5)]
)
def test_a_job_without_named_hours_runs_evenly(expression: str, minutes: int, after: str) -> None:
    assert set(gaps(expression, NEW_YORK, after, 60)) == {minutes}


@pytest.mark.parametrize("after", ["2026-04-04T22:00", "2026-10-03T22:00"])
@pytest.mark.parametrize("minutes", [1, 5, 10, 15, 30])
def test_it_runs_evenly_where_the_clock_moves_by_half_an_hour(minutes: int, after: str) -> None:
    assert set(gaps(f"*/{minutes} * * * *", LORD_HOWE, after, 12 * 60 // minutes)) == {minutes}


def test_an_hourly_job_follows_the_clock_where_it_moves_by_half_an_hour() -> None:
    assert times("0 * * * *", LORD_HOWE, "2026-10-04T00:30", 3) == [
        "2026-10-04T01:00:00+10:30",
        "2026-10-04T03:00:00+11:00",
        "2026-10-04T04:00:00+11:00",
    ]
    assert times("45 * * * *", LORD_HOWE, "2026-04-05T00:50", 3) == [
        "2026-04-05T01:45:00+11:00",
        "2026-04-05T01:45:00+10:30",
        "2026-04-05T02:45:00+10:30",
    ]


def test_a_named_time_where_the_clock_moves_by_half_an_hour() -> None:
    assert times("15 2 * * *", LORD_HOWE, "2026-10-03T12:00", 2) == ["2026-10-04T02:30:00+11:00", "2026-10-05T02:15:00+11:00"]
    assert times("45 1 * * *", LORD_HOWE, "2026-04-04T12:00", 2) == ["2026-04-05T01:45:00+11:00", "2026-04-06T01:45:00+10:30"]


def test_both_fires_of_a_repeated_hour_are_told_apart() -> None:
    assert fires("30 * * * *", NEW_YORK, "2026-11-01T00:45", 3) == [
        ("2026-11-01T01:30:00-04:00", "the first 01:30 of 2026-11-01 (clocks go back)"),
        ("2026-11-01T01:30:00-05:00", "the second 01:30 of 2026-11-01 (clocks go back)"),
        ("2026-11-01T02:30:00-05:00", None),
    ]
    assert fires("30 * * * *", NEW_YORK, "2026-03-08T01:45", 1) == [
        ("2026-03-08T03:30:00-04:00", "clocks go forward before this: 02:30 does not exist on 2026-03-08")
    ]


def test_midnight_that_does_not_exist_and_a_day_that_does_not() -> None:
    assert times("0 0 * * *", "Africa/Cairo", "2026-04-23T12:00", 2) == ["2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"]
    assert times("0 9 * * *", "Pacific/Apia", "2011-12-28T12:00", 3) == [
        "2011-12-29T09:00:00-10:00",
        "2011-12-31T00:00:00+14:00",
        "2011-12-31T09:00:00+14:00",
    ]


def test_days_are_local_days_across_a_change() -> None:
    assert gaps("0 0 * * *", NEW_YORK, "2026-10-31T12:00", 3) == [25 * 60, 24 * 60]
    assert gaps("0 0 * * *", NEW_YORK, "2026-03-07T12:00", 3) == [23 * 60, 24 * 60]


# --- the recorded cases -----------------------------------------------------------------------------------------------

GROUPS: dict[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parents[1] / "data" / "cron-cases.json").read_text(encoding="utf-8")
)["groups"]
CASES = [pytest.param(case, id=f"{group}: {case['expr'].strip()}") for group, cases in GROUPS.items() for case in cases]

DELIBERATE = {
    ("30 1 * * *", NEW_YORK): "fires once in the repeated hour",
    ("30 2 * * *", BERLIN): "fires once in the repeated hour",
    ("* * * * * *", "UTC"): "refused: every second",
    ("0 0 1W * *", "UTC"): "refused: nearest working day",
    (" @daily ", "UTC"): "trimmed",
}
"""Cases in which we mean something else than croniter answers."""


@pytest.mark.parametrize("case", CASES)
def test_recorded_cases_fire_as_croniter_says_or_as_we_deliberately_decided(case: dict[str, Any]) -> None:
    recorded = [at for at in case["croniter7_next"] if "Error" not in at]
    key = (case["expr"], case["tz"])
    if key in DELIBERATE:
        assert _answer(case, max(1, len(recorded))) != recorded
    elif recorded:
        assert _answer(case, len(recorded)) == recorded
    elif not case["want"].startswith("refuse"):
        assert _answer(case, 1) == []  # finished
    else:
        with pytest.raises(CadenceError):
            upcoming(cron(case["expr"], case["tz"]), epoch(case["now"], case["tz"]), 1, UTC)


@pytest.mark.parametrize("case", [param for param in CASES if param.values[0]["want"].startswith("refuse:")])
def test_cases_to_be_refused_at_entry_are(case: dict[str, Any]) -> None:
    with pytest.raises(CronError):
        parse_cron(case["expr"])


def _answer(case: dict[str, Any], count: int) -> list[str]:
    try:
        found: tuple[Instant, ...] = upcoming(cron(case["expr"], case["tz"]), epoch(case["now"], case["tz"]), count, UTC)
    except CadenceError:
        return []
    return [shown(instant.at, case["tz"]) for instant in found]
