"""Reading the stored values of a trigger, any of which may be missing or broken."""

from __future__ import annotations

import math
from typing import Final

from studio_tui.domain.cron import CronError, CronExpression, parse_cron
from studio_tui.domain.durations import MAX_DURATION
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.zones import WallClock, load_zone

_INTERVALS: Final = "allowed: a whole number of seconds, at least 1"
_POLL_DEFAULT: Final = 300.0
_CALENDAR_END: Final = 253_402_300_800.0  # the year 10000


class CadenceError(ValueError):
    """The trigger cannot be computed. ``field`` names the stored column; the message says what is wrong and what is allowed."""

    def __init__(self, field: str, message: str) -> None:
        self.field = field
        super().__init__(message)


def zone_of(schedule: ScheduleRecord, default: Zone) -> Zone:
    """The zone that a cron expression is read in: the one on the row, else the default.

    A name that cannot be loaded gives UTC and a source that says so, as lionagi 0.36 reports it; nothing fires by it here.
    """
    named = _named_zone(schedule)
    zone = Zone(named, "schedule:resolved_timezone") if named else default
    return zone if load_zone(zone.name) is not None else Zone("UTC", "fallback:utc:unloadable-name")


def clock_of(schedule: ScheduleRecord, default: Zone) -> WallClock:
    """The clock that a cron expression is read by. Raises :class:`CadenceError` when its zone is not known here."""
    named = _named_zone(schedule)
    zone = load_zone(named or default.name)
    if zone is None:
        raise CadenceError(
            "resolved_timezone" if named else "timezone",
            f"there is no time zone {named or default.name!r} on this machine; allowed: an IANA name such as Europe/Berlin",
        )
    return WallClock(zone)


def expression_of(schedule: ScheduleRecord) -> CronExpression:
    """The cron expression. Raises :class:`CadenceError` when it is missing, empty or not accepted."""
    if not isinstance(schedule.cron_expr, str):
        raise CadenceError("cron_expr", "the cron expression is missing; allowed: five fields such as 0 9 * * 1")
    try:
        return parse_cron(schedule.cron_expr)
    except CronError as error:
        raise CadenceError("cron_expr", str(error)) from None


def interval_of(schedule: ScheduleRecord) -> float:
    """The period of an interval trigger in seconds. Raises :class:`CadenceError` when it is missing or out of bounds."""
    every = schedule.interval_sec
    if every is None:
        fault = "cannot be read" if "interval_sec" in schedule.defects else "is missing"
        raise CadenceError("interval_sec", f"the interval {fault}; {_INTERVALS}")
    if isinstance(every, bool) or not isinstance(every, int | float) or not 1 <= every <= MAX_DURATION:
        raise CadenceError("interval_sec", f"an interval of {every!r} cannot be used; {_INTERVALS}")
    return float(every)


def poll_interval_of(schedule: ScheduleRecord) -> float:
    """Seconds between two polls of a repository (lionagi 0.36: its poll interval, else its interval, else five minutes)."""
    chosen = (_number(schedule.poll_interval_sec), _number(schedule.interval_sec))
    return next((every for every in chosen if every is not None and every > 0), _POLL_DEFAULT)


def instant_of(value: float | None) -> float | None:
    """A stored instant that lies within the calendar; whatever else a broken row holds counts as absent."""
    at = _number(value)
    return at if at is not None and abs(at) < _CALENDAR_END else None


def _number(value: float | None) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)


def _named_zone(schedule: ScheduleRecord) -> str:
    return (schedule.resolved_timezone or "").strip()
