"""When a schedule fires: the one function that form, preview, store and engine share.

Daylight saving: a job with named hours fires once for each wall time. Where the clock skips that time it fires right after
the gap, where the clock shows it twice it fires the first time. A job without named hours fires whenever the clock shows a
matching time, so a repeated hour has its fires twice and a skipped one has none: it runs evenly in real time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from studio_tui.domain.cron import CronError, CronExpression, parse_cron
from studio_tui.domain.cron_words import cron_warnings, cron_words
from studio_tui.domain.durations import MAX_DURATION, format_duration
from studio_tui.domain.schedules import TRIGGERS, ScheduleRecord, Zone
from studio_tui.domain.zones import WallClock, load_zone

FAR_AWAY: Final = 180 * 86_400.0
"""Seconds to the next fire from which an author is told how far off it is."""

_POLL_DEFAULT: Final = 300.0
_EPOCH: Final = datetime(1970, 1, 1)  # wall times have no zone


class CadenceError(ValueError):
    """The trigger cannot be computed. ``field`` names the stored column; the message says what is wrong and what is allowed."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Instant:
    """One fire in epoch seconds. ``note`` says what daylight saving did to it, ``None`` for nothing."""

    at: float
    note: str | None = None


def zone_of(schedule: ScheduleRecord, default: Zone) -> Zone:
    """The zone that a cron expression is read in: the one on the row, else the default.

    A name that cannot be loaded gives UTC and a source that says so, as lionagi 0.36 reports it; :func:`next_fire` refuses it.
    """
    named = (schedule.resolved_timezone or "").strip()
    zone = Zone(named, "schedule:resolved_timezone") if named else default
    return zone if load_zone(zone.name) is not None else Zone("UTC", "fallback:utc:unloadable-name")


def next_fire(schedule: ScheduleRecord, after: float, default: Zone) -> float | None:
    """The first fire strictly after ``after``, in epoch seconds; ``None`` when the schedule never fires again.

    GitHub polls have no instants and answer ``None``. Raises :class:`CadenceError` when the trigger is broken.
    """
    found = _follower(schedule, default)(after)
    return None if found is None else found.at


def first_fire(schedule: ScheduleRecord, now: float, default: Zone) -> float | None:
    """The first fire of a schedule that is created or enabled at ``now``: always in the future.

    An interval keeps its phase if it has one, so enabling a schedule neither fires it at once nor shifts it.
    """
    return next_fire(schedule, now, default)


def upcoming(schedule: ScheduleRecord, after: float, count: int, default: Zone) -> tuple[Instant, ...]:
    """The next ``count`` fires after ``after``: exactly what :func:`next_fire` would give one by one."""
    follow = _follower(schedule, default)
    found: list[Instant] = []
    while len(found) < count:
        following = follow(found[-1].at if found else after)
        if following is None:
            break
        found.append(following)
    return tuple(found)


def describe(schedule: ScheduleRecord) -> str:
    """The trigger in words. Never raises: a broken trigger is described by what is wrong with it."""
    try:
        return _described(schedule)
    except CadenceError as error:
        return f"broken: {error}"


def warnings(schedule: ScheduleRecord, now: float, default: Zone) -> tuple[str, ...]:
    """What an author should know about the trigger before it is saved, most important first.

    Raises :class:`CadenceError` when the trigger is broken.
    """
    follow = _follower(schedule, default)
    found: list[str] = []
    if schedule.trigger_type == "cron":
        found.extend(cron_warnings(_expression(schedule)))
    first = follow(now)
    found.extend(_about_distance(schedule, first, now, default))
    if schedule.trigger_type == "cron" and first is not None:
        found.extend(_about_frequency(first, follow(first.at)))
        if zone_of(schedule, default).is_fallback:
            found.append("nobody chose a time zone: the expression is read in UTC")
    return tuple(found)


# --- triggers ---------------------------------------------------------------------------------------------------------

_Follow = Callable[[float], Instant | None]


def _follower(schedule: ScheduleRecord, default: Zone) -> _Follow:
    """What finds the fire after an instant, once the trigger has been checked."""
    match schedule.trigger_type:
        case "cron":
            return _cron(_expression(schedule), _clock(schedule, default))
        case "interval":
            return _interval(schedule)
        case "at":
            return _once(schedule)
        case "github_poll":
            return lambda after: None
    raise CadenceError("trigger_type", f"unknown trigger {schedule.trigger_type!r}; allowed: {', '.join(TRIGGERS)}")


def _once(schedule: ScheduleRecord) -> _Follow:
    at = _finite(schedule.next_fire_at)
    return lambda after: Instant(at) if at is not None and at > after else None


def _interval(schedule: ScheduleRecord) -> _Follow:
    every = interval_seconds(schedule)
    planned = _finite(schedule.next_fire_at)
    start = planned if planned is not None else _finite(schedule.last_fired_at)
    start = start if start is not None else _finite(schedule.created_at)

    def follow(after: float) -> Instant:
        if start is None:
            return Instant(after + every)
        if planned is not None and planned > after:
            return Instant(planned)
        periods = max(1, math.floor((after - start) / every) + 1)
        at = start + periods * every
        return Instant(at if at > after else at + every)

    return follow


def interval_seconds(schedule: ScheduleRecord) -> float:
    """The period of an interval trigger in seconds. Raises :class:`CadenceError` when it is missing or out of bounds."""
    every = schedule.interval_sec
    allowed = "a whole number of seconds, at least 1"
    if every is None:
        fault = "cannot be read" if "interval_sec" in schedule.defects else "is missing"
        raise CadenceError("interval_sec", f"the interval {fault}; allowed: {allowed}")
    if isinstance(every, bool) or not isinstance(every, int | float) or not 1 <= every <= MAX_DURATION:
        raise CadenceError("interval_sec", f"an interval of {every!r} cannot be used; allowed: {allowed}")
    return float(every)


def _expression(schedule: ScheduleRecord) -> CronExpression:
    if not isinstance(schedule.cron_expr, str):
        raise CadenceError("cron_expr", "the cron expression is missing; allowed: five fields such as 0 9 * * 1")
    try:
        return parse_cron(schedule.cron_expr)
    except CronError as error:
        raise CadenceError("cron_expr", str(error)) from None


def _clock(schedule: ScheduleRecord, default: Zone) -> WallClock:
    named = (schedule.resolved_timezone or "").strip()
    zone = load_zone(named or default.name)
    if zone is None:
        field = "resolved_timezone" if named else "timezone"
        raise CadenceError(
            field, f"there is no time zone {named or default.name!r} here; allowed: an IANA name such as Europe/Berlin"
        )
    return WallClock(zone)


def _cron(expression: CronExpression, clock: WallClock) -> _Follow:
    step = _every_hour_step if expression.every_hour else _named_hours_step

    def follow(after: float) -> Instant | None:
        try:
            found = step(expression, clock, math.floor(after))
        except (OverflowError, ValueError, OSError):  # the calendar ends with the year 9999
            return None
        if found is None and not _ever_fires(expression):
            raise CadenceError("cron_expr", f"{expression.text!r} never happens: no such date exists")
        return found

    return follow


def _ever_fires(expression: CronExpression) -> bool:
    """Whether an expression without a coming fire had one in the past: then it is finished, else impossible."""
    return expression.has_years and expression.next_wall(-1) is not None


# --- daylight saving --------------------------------------------------------------------------------------------------


def _named_hours_step(expression: CronExpression, clock: WallClock, after: int) -> Instant | None:
    wall: int | None = clock.at(after)
    assert wall is not None
    repeated = clock.repeat_ending_first_pass(wall)
    if repeated is not None and clock.occurrence(wall).first != after:
        wall = repeated[1] - 1  # the whole repeat has had its fires the first time round
    while (wall := expression.next_wall(wall)) is not None:
        found = clock.occurrence(wall)
        if found.first > after:
            return Instant(float(found.first), _named_hours_note(expression, clock, wall))
        if found.skipped_to is not None:
            wall = found.skipped_to - 1
    return None


def _every_hour_step(expression: CronExpression, clock: WallClock, after: int) -> Instant | None:
    start = clock.at(after)
    repeated = clock.repeat_ending_first_pass(start)
    if repeated is not None and clock.occurrence(start).first == after:
        wall = expression.next_wall(start)
        if wall is None or wall >= repeated[1]:
            start = repeated[0] - 1  # the clock goes back before the next match: look again from there
    jumped = None
    wall = expression.next_wall(start)
    while wall is not None:
        found = clock.occurrence(wall)
        if found.skipped_to is not None:
            jumped = wall
            wall = expression.next_wall(found.skipped_to - 1)
            continue
        for at in (found.first, found.second):
            if at is not None and at > after:
                return Instant(float(at), _every_hour_note(wall, found.second, at, jumped))
        wall = expression.next_wall(wall)
    return None


def _named_hours_note(expression: CronExpression, clock: WallClock, wall: int) -> str | None:
    found = clock.occurrence(wall)
    if found.second is not None:
        return f"{_time(wall)} comes twice on {_date(wall)} (clocks go back): fires the first time only"
    if found.skipped_to is None:
        return None
    more = expression.next_wall(wall)
    merged = more is not None and clock.occurrence(more).first == found.first
    skipped = f"{_time(wall)} does not exist on {_date(wall)} (clocks go forward)"
    return f"{skipped}: fires {'once ' if merged else ''}at {_time(found.skipped_to)}" + (
        ", together with the times up to then" if merged else ""
    )


def _every_hour_note(wall: int, second: int | None, at: int, jumped: int | None) -> str | None:
    if second is not None:
        return f"the {'second' if at == second else 'first'} {_time(wall)} of {_date(wall)} (clocks go back)"
    return None if jumped is None else f"clocks go forward before this: {_time(jumped)} does not exist on {_date(jumped)}"


def _time(wall: int) -> str:
    shown = _EPOCH + timedelta(seconds=wall)
    return shown.strftime("%H:%M:%S" if shown.second else "%H:%M")


def _date(wall: int) -> str:
    return (_EPOCH + timedelta(seconds=wall)).strftime("%Y-%m-%d")


# --- words ------------------------------------------------------------------------------------------------------------


def _described(schedule: ScheduleRecord) -> str:
    match schedule.trigger_type:
        case "cron":
            return cron_words(_expression(schedule))
        case "interval":
            return f"every {format_duration(interval_seconds(schedule))}"
        case "at":
            at = _finite(schedule.next_fire_at)
            return "once, nothing left to fire" if at is None else f"once at {_utc(at)}"
        case "github_poll":
            every = _finite(schedule.poll_interval_sec) or _finite(schedule.interval_sec) or _POLL_DEFAULT
            return f"github {schedule.github_repo or '(no repository)'} every {format_duration(every)}"
    return f"unknown trigger {schedule.trigger_type!r}"


def _about_distance(schedule: ScheduleRecord, first: Instant | None, now: float, default: Zone) -> list[str]:
    if first is None:
        return [] if schedule.trigger_type == "github_poll" else ["nothing is left to fire"]
    if first.at - now < FAR_AWAY:
        return []
    zone = zone_of(schedule, default).name if schedule.trigger_type == "cron" else "UTC"
    days = round((first.at - now) / 86_400)
    return [f"the next fire is {days} days away: {_local(first.at, zone)}"]


def _about_frequency(first: Instant, second: Instant | None) -> list[str]:
    if second is None:
        return ["fires once more, then it is finished"]
    gap = second.at - first.at
    if gap > 366 * 86_400:
        return [f"fires rarely: {round(gap / (365.25 * 86_400))} years pass between the next two fires"]
    return []


def _local(at: float, zone: str) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).astimezone(load_zone(zone)).strftime("%Y-%m-%d %H:%M ") + zone
    except (OverflowError, ValueError, OSError):
        return "beyond the year 9999"


def _utc(at: float) -> str:
    return _local(at, "UTC")


def _finite(value: float | None) -> float | None:
    """A usable number of seconds; what a broken row holds instead counts as absent."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable and value is not None else None
