from __future__ import annotations

import math
import subprocess
import sys

import pytest

from studio_tui.domain.cadence import CadenceError, describe, first_fire, next_fire, upcoming, warnings, zone_of
from studio_tui.domain.schedules import ScheduleRecord, Zone
from tests.unit.records import NOW, UTC, a_schedule, cron, epoch, shown

DAY = 86_400.0

# --- intervals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "fires"),
    [
        ({"next_fire_at": NOW + 10}, [10, 70, 130]),
        ({"next_fire_at": NOW}, [60, 120, 180]),
        ({"next_fire_at": NOW - 130}, [50, 110, 170]),
        ({"next_fire_at": NOW + 600}, [600, 660, 720]),
        ({"last_fired_at": NOW - 20}, [40, 100, 160]),
        ({"last_fired_at": NOW - 20, "created_at": NOW - 7}, [40, 100, 160]),
        ({"created_at": NOW}, [60, 120, 180]),
        ({"created_at": NOW - 61}, [59, 119, 179]),
        ({}, [60, 120, 180]),
        ({"next_fire_at": math.nan, "last_fired_at": math.inf, "created_at": 1.7e18}, [60, 120, 180]),
    ],
)
def test_an_interval_counts_whole_periods_from_its_planned_instant(values: dict[str, float], fires: list[float]) -> None:
    schedule = a_schedule(interval_sec=60, **values)
    assert [instant.at - NOW for instant in upcoming(schedule, NOW, 3, UTC)] == fires


def test_a_late_look_neither_shifts_an_interval_nor_floods() -> None:
    schedule = a_schedule(interval_sec=60, next_fire_at=NOW)
    assert next_fire(schedule, NOW + 0.4, UTC) == NOW + 60
    assert next_fire(schedule, NOW + 29.9, UTC) == NOW + 60
    assert next_fire(schedule, NOW + 30 * DAY + 1, UTC) == NOW + 30 * DAY + 60


def test_enabling_an_interval_keeps_its_phase_and_fires_nothing_at_once() -> None:
    paused = a_schedule(interval_sec=300, next_fire_at=NOW - 420, last_fired_at=NOW - 720, enabled=False)
    assert first_fire(paused, NOW, UTC) == NOW + 180


@pytest.mark.parametrize("value", [None, 0, -5, 0.2, math.nan, math.inf, 1e300, "60", True, 10**12])
def test_a_broken_interval_names_its_field_and_what_is_allowed(value: object) -> None:
    with pytest.raises(CadenceError, match="whole number of seconds, at least 1") as refused:
        next_fire(a_schedule(interval_sec=value), NOW, UTC)
    assert refused.value.field == "interval_sec"


def test_an_interval_that_could_not_be_read_says_so() -> None:
    with pytest.raises(CadenceError, match="cannot be read"):
        next_fire(a_schedule(interval_sec=None, defects=("interval_sec",)), NOW, UTC)


# --- one-shots and polls ----------------------------------------------------------------------------------------------


def test_a_one_shot_fires_once() -> None:
    schedule = a_schedule(trigger_type="at", next_fire_at=NOW + 5)
    assert [instant.at for instant in upcoming(schedule, NOW, 5, UTC)] == [NOW + 5]
    assert next_fire(schedule, NOW + 5, UTC) is None
    assert first_fire(schedule, NOW + 6, UTC) is None


@pytest.mark.parametrize("value", [None, math.nan, 1.7e15])
def test_a_one_shot_without_an_instant_never_fires(value: float | None) -> None:
    schedule = a_schedule(trigger_type="at", next_fire_at=value)
    assert next_fire(schedule, NOW, UTC) is None
    assert warnings(schedule, NOW, UTC) == ("nothing is left to fire",)


def test_a_poll_has_no_instants() -> None:
    schedule = a_schedule(trigger_type="github_poll", github_repo="shop/web", next_fire_at=NOW - DAY)
    assert next_fire(schedule, NOW, UTC) is None
    assert upcoming(schedule, NOW, 5, UTC) == ()
    assert warnings(schedule, NOW, UTC) == ()


def test_an_unknown_trigger_is_refused_with_the_known_ones() -> None:
    with pytest.raises(CadenceError, match="cron, interval, at, github_poll") as refused:
        next_fire(a_schedule(trigger_type="lunar"), NOW, UTC)
    assert refused.value.field == "trigger_type"


# --- cron and zones ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", [None, "", "  ", "0 6 * *", "0 0 31 2 *", "@reboot"])
def test_a_broken_expression_names_its_field(expression: str | None) -> None:
    with pytest.raises(CadenceError) as refused:
        next_fire(cron(expression), NOW, UTC)
    assert refused.value.field == "cron_expr"


def test_a_fire_is_strictly_after_the_instant_asked_about() -> None:
    assert next_fire(cron("0 0 * * *"), NOW, UTC) == NOW + DAY
    assert next_fire(cron("0 0 * * *"), NOW - 0.001, UTC) == NOW
    assert next_fire(cron("* * * * * */10"), NOW + 0.5, UTC) == NOW + 10


def test_the_zone_of_the_row_beats_the_default() -> None:
    berlin, tokyo = Zone("Europe/Berlin", "env:TZ"), "Asia/Tokyo"
    assert zone_of(cron("0 8 * * *", tokyo), berlin) == Zone(tokyo, "schedule:resolved_timezone")
    assert zone_of(cron("0 8 * * *"), berlin) == berlin
    assert zone_of(cron("0 8 * * *", " "), berlin) == berlin
    assert shown(next_fire(cron("0 8 * * *", tokyo), NOW, berlin) or 0, tokyo) == "2026-03-02T08:00:00+09:00"
    assert shown(next_fire(cron("0 8 * * *"), NOW, berlin) or 0, berlin.name) == "2026-03-01T08:00:00+01:00"


@pytest.mark.parametrize("name", ["Mars/Base", "America", "../etc/passwd", "/etc/localtime", "UTC\n5", "é", "x" * 300, "a\0b"])
def test_a_zone_that_cannot_be_loaded_is_said_and_never_taken_for_utc(name: str) -> None:
    assert zone_of(cron("0 8 * * *", name), UTC) == Zone("UTC", "fallback:utc:unloadable-name")
    with pytest.raises(CadenceError, match="Europe/Berlin") as refused:
        next_fire(cron("0 8 * * *", name), NOW, UTC)
    assert refused.value.field == "resolved_timezone"


def test_a_default_zone_that_cannot_be_loaded_is_an_error_too() -> None:
    nowhere = Zone("Mars/Base", "env:LIONAGI_SCHEDULER_TZ")
    assert zone_of(cron("0 8 * * *"), nowhere).source == "fallback:utc:unloadable-name"
    with pytest.raises(CadenceError, match="Mars/Base"):
        next_fire(cron("0 8 * * *"), NOW, nowhere)


def test_a_zone_does_not_matter_to_an_interval() -> None:
    assert next_fire(a_schedule(resolved_timezone="Mars/Base", created_at=NOW), NOW, UTC) == NOW + 60


def test_a_year_that_is_over_is_finished_and_no_error() -> None:
    schedule = cron("0 9 1 12 * 0 2026")
    before, after = epoch("2026-12-01T08:59"), epoch("2026-12-01T09:00:30")
    assert [shown(instant.at) for instant in upcoming(schedule, before, 5, UTC)] == ["2026-12-01T09:00:00+00:00"]
    assert next_fire(schedule, after, UTC) is None
    assert first_fire(schedule, after, UTC) is None
    assert "fires once more, then it is finished" in warnings(schedule, before, UTC)
    assert "nothing is left to fire" in warnings(schedule, after, UTC)


def test_the_calendar_has_an_end() -> None:
    assert upcoming(cron("0 0 * * *", "Asia/Tokyo"), 253_402_128_000.0, 9, UTC)[-1].at < 253_402_300_800


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        (a_schedule(interval_sec=900), "every 15 min"),
        (a_schedule(interval_sec=2), "every 2 s"),
        (a_schedule(interval_sec=21_600), "every 6 h"),
        (a_schedule(interval_sec=None), "broken: the interval is missing; allowed: a whole number of seconds, at least 1"),
        (cron("45 * * * *"), "hourly at :45"),
        (cron("0 5 * * 1", "Mars/Base"), "Mon 05:00"),
        (cron("0 0 31 2 *"), "broken: '0 0 31 2 *' never happens: no such date exists"),
        (a_schedule(trigger_type="at", next_fire_at=epoch("2026-03-29T02:30")), "once at 2026-03-29 02:30 UTC"),
        (a_schedule(trigger_type="at"), "once, nothing left to fire"),
        (a_schedule(trigger_type="github_poll", github_repo="shop/web", interval_sec=None), "github shop/web every 5 min"),
        (a_schedule(trigger_type="github_poll", github_repo="shop/web", poll_interval_sec=900), "github shop/web every 15 min"),
        (a_schedule(trigger_type="github_poll", poll_interval_sec=0, interval_sec=60), "github (no repository) every 1 min"),
        (a_schedule(trigger_type="lunar"), "unknown trigger 'lunar'"),
    ],
)
def test_a_trigger_in_words(schedule: ScheduleRecord, words: str) -> None:
    assert describe(schedule) == words


def test_an_author_is_told_how_far_away_the_next_fire_is() -> None:
    now = epoch("2026-07-02T16:00", "America/New_York")
    said = warnings(cron("0 15 2 7 *", "America/New_York"), now, UTC)
    assert said[0] == "the next fire is 365 days away: 2027-07-02 15:00 America/New_York"
    assert "the next fire is 400 days away: 2027-04-05 00:00 UTC" in warnings(a_schedule(interval_sec=400 * DAY), NOW, UTC)
    at = epoch("2026-07-02T14:59", "America/New_York")
    utc_process = Zone("UTC", "env:TZ")
    fire = next_fire(cron("0 15 2 7 *", "America/New_York"), at, utc_process)
    assert fire == at + 60


def test_an_author_is_told_of_rare_fires_and_of_a_zone_that_nobody_chose() -> None:
    said = warnings(cron("0 0 29 2 *"), epoch("2026-01-01T00:00"), Zone("UTC", "fallback:utc"))
    assert said == (
        "the next fire is 789 days away: 2028-02-29 00:00 UTC",
        "fires rarely: 4 years pass between the next two fires",
        "nobody chose a time zone: the expression is read in UTC",
    )


def test_an_author_is_told_of_daylight_saving_in_the_coming_year() -> None:
    said = warnings(cron("30 2 * * *", "Europe/Berlin"), epoch("2026-03-01T00:00"), UTC)
    assert said == (
        "02:30 does not exist on 2026-03-29 (clocks go forward): fires at 03:00",
        "02:30 comes twice on 2026-10-25 (clocks go back): fires the first time only",
    )
    assert warnings(cron("*/30 * * * *", "Europe/Berlin"), epoch("2026-03-01T00:00"), UTC) == ()
    assert warnings(cron("30 12 * * *", "Europe/Berlin"), epoch("2026-03-01T00:00"), UTC) == ()


def test_cron_libraries_are_loaded_by_the_first_expression_and_not_before() -> None:
    look = "import sys, studio_tui.domain.health; print({'croniter', 'cron_descriptor', 'ruamel.yaml'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout == "set()\n"
