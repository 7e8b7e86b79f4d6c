"""What holds for every schedule in every zone, with independent ways to say when a job fires."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC as UTC_ZONE
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from studio_tui.domain.cadence import next_fire, upcoming
from studio_tui.domain.schedules import ScheduleRecord
from tests.unit.records import UTC, a_schedule, cron

MINUTE, HOUR = 60, 3600

ZONES = st.sampled_from(
    [
        "America/New_York",
        "Europe/Berlin",
        "Australia/Lord_Howe",  # moves by half an hour
        "Africa/Casablanca",  # goes back before and forward after Ramadan
        "Africa/Cairo",  # moves at midnight
        "America/St_Johns",
        "Asia/Kathmandu",  # 5:45, never moves
        "Antarctica/Troll",  # moves by two hours
        "UTC",
    ]
)
CHANGES = st.sampled_from(
    [
        "2026-03-08T07:00",  # New York and St John's forward
        "2026-11-01T06:00",  # and back
        "2026-03-29T01:00",  # Berlin and Troll forward
        "2026-10-25T01:00",  # and back
        "2026-10-03T15:30",  # Lord Howe forward
        "2026-04-04T15:00",  # and back
        "2026-02-15T02:00",  # Casablanca back
        "2026-03-22T02:00",  # and forward
        "2026-04-23T22:00",  # Cairo forward
        "2026-10-29T21:00",  # and back
    ]
)


def field(low: int, high: int) -> st.SearchStrategy[frozenset[int]]:
    """Some values of a field of the grammar, often all of them."""
    some = st.frozensets(st.integers(low, high), min_size=1, max_size=4)
    stepped = st.integers(2, 31).map(lambda step: frozenset(range(low, high + 1, step)))
    return st.one_of(some, stepped, st.just(frozenset(range(low, high + 1))))


def written(values: frozenset[int]) -> str:
    return ",".join(map(str, sorted(values)))


@st.composite
def near_changes(draw: st.DrawFn) -> float:
    """An instant within a few hours of a change of clocks, to the tenth of a second."""
    change = datetime.fromisoformat(draw(CHANGES)).replace(tzinfo=UTC_ZONE).timestamp()
    return change + draw(st.integers(-5 * HOUR * 10, 5 * HOUR * 10)) / 10


@st.composite
def cron_schedules(draw: st.DrawFn) -> ScheduleRecord:
    """A cron schedule of any shape that can happen, in a zone that moves its clocks."""
    minutes, hours = draw(field(0, 59)), draw(field(0, 23))
    days = draw(st.one_of(st.just("*"), st.sampled_from(["L", "1-7", "*/2", "28,29,30", "13"])))
    weekdays = draw(st.one_of(st.just("*"), st.sampled_from(["mon-fri", "0,7", "L5", "6"]))) if days == "*" else "*"
    seconds = draw(st.sampled_from(["", "", " 0,30", " 15"]))
    return cron(f"{written(minutes)} {written(hours)} {days} * {weekdays}{seconds}", draw(ZONES))


@st.composite
def interval_schedules(draw: st.DrawFn) -> ScheduleRecord:
    stored = st.one_of(st.none(), st.floats(1.7e9, 1.9e9), st.integers(1_700_000_000, 1_900_000_000))
    return a_schedule(
        interval_sec=draw(st.integers(1, 10**8)),
        next_fire_at=draw(stored),
        last_fired_at=draw(stored),
        created_at=draw(stored),
    )


@settings(max_examples=150, deadline=None)
@given(st.one_of(cron_schedules(), interval_schedules()), near_changes(), st.integers(1, 12))
def test_fires_come_strictly_one_after_the_other_and_after_now(schedule: ScheduleRecord, after: float, count: int) -> None:
    found = [instant.at for instant in upcoming(schedule, after, count, UTC)]
    assert len(found) == count
    assert all(first < second for first, second in pairwise([after, *found]))


@settings(max_examples=150, deadline=None)
@given(st.one_of(cron_schedules(), interval_schedules()), near_changes(), st.integers(1, 12))
def test_the_preview_is_what_the_engine_would_do(schedule: ScheduleRecord, after: float, count: int) -> None:
    steps: list[float] = []
    for _ in range(count):
        following = next_fire(schedule, steps[-1] if steps else after, UTC)
        assert following is not None
        steps.append(following)
    assert [instant.at for instant in upcoming(schedule, after, count, UTC)] == steps


@settings(max_examples=150, deadline=None)
@given(cron_schedules(), near_changes(), st.floats(0, 1, exclude_max=True))
def test_it_does_not_matter_when_one_looks(schedule: ScheduleRecord, after: float, share: float) -> None:
    following = next_fire(schedule, after, UTC)
    assert following is not None
    between = after + (following - after) * share
    if between < following:
        assert next_fire(schedule, between, UTC) == following


def wall_minutes(zone: str, start: int, end: int) -> Iterator[tuple[int, datetime]]:
    """Each whole minute from ``start`` to ``end`` with what the clock shows then."""
    area = ZoneInfo(zone)
    for at in range(start - start % MINUTE, end, MINUTE):
        yield at, datetime.fromtimestamp(at, area).replace(tzinfo=None)


@settings(max_examples=60, deadline=None)
@given(field(0, 59), ZONES, near_changes())
def test_a_job_without_named_hours_fires_whenever_the_clock_shows_its_minute(
    minutes: frozenset[int], zone: str, after: float
) -> None:
    start, end = int(after), int(after) + 6 * HOUR
    expected = [at for at, shown in wall_minutes(zone, start, end) if at > after and shown.minute in minutes]
    found = upcoming(cron(f"{written(minutes)} * * * *", zone), after, len(expected), UTC)
    assert [int(instant.at) for instant in found] == expected


@settings(max_examples=60, deadline=None)
@given(field(0, 59), st.frozensets(st.integers(0, 23), min_size=1, max_size=12), ZONES, near_changes())
def test_a_job_with_named_hours_fires_when_its_time_is_first_reached_or_passed(
    minutes: frozenset[int], hours: frozenset[int], zone: str, after: float
) -> None:
    end = int(after) + 6 * HOUR
    expected, reached = [], datetime.min
    for at, shown in wall_minutes(zone, int(after) - 12 * HOUR, end):
        due = reached != datetime.min and any(
            moment.minute in minutes and moment.hour in hours for moment in _minutes_between(reached, shown)
        )
        reached = max(reached, shown)
        if due and at > after:
            expected.append(at)
    found = upcoming(cron(f"{written(minutes)} {written(hours)} * * *", zone), after, len(expected), UTC)
    assert [int(instant.at) for instant in found] == expected


def _minutes_between(reached: datetime, shown: datetime) -> Iterator[datetime]:
    """The wall-clock minutes after ``reached`` up to ``shown``; none when the clock has been there before."""
    base = int(reached.replace(tzinfo=UTC_ZONE).timestamp())
    for at in range(base + MINUTE, int(shown.replace(tzinfo=UTC_ZONE).timestamp()) + 1, MINUTE):
        yield datetime.fromtimestamp(at, UTC_ZONE).replace(tzinfo=None)
