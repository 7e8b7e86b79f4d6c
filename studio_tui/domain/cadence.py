"""When a schedule fires: the one function that form, preview, store and engine share."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from studio_tui.domain.cron import CronExpression
from studio_tui.domain.cron_advice import cron_advice
from studio_tui.domain.cron_words import cron_words
from studio_tui.domain.daylight import Instant, coming_oddities, cron_step
from studio_tui.domain.durations import format_duration
from studio_tui.domain.schedules import TRIGGERS, ScheduleRecord, Zone
from studio_tui.domain.triggers import (
    CadenceError,
    clock_of,
    expression_of,
    instant_of,
    interval_of,
    poll_interval_of,
    zone_of,
)
from studio_tui.domain.zones import WallClock, load_zone

__all__ = ["CadenceError", "Instant", "describe", "first_fire", "next_fire", "upcoming", "warnings", "zone_of"]

FAR_AWAY: Final = 180 * 86_400.0
"""Seconds to the next fire from which an author is told how far off it is."""

_YEAR: Final = 366 * 86_400


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
    first = follow(now)
    distance = _about_distance(schedule, first, now, default)
    if schedule.trigger_type != "cron":
        return tuple(distance)
    expression = expression_of(schedule)
    found = [*cron_advice(expression), *distance]
    if first is not None:
        found.extend(_about_frequency(first, follow(first.at)))
    found.extend(coming_oddities(expression, clock_of(schedule, default), math.floor(now), math.floor(now) + _YEAR))
    if zone_of(schedule, default).is_fallback:
        found.append("nobody chose a time zone: the expression is read in UTC")
    return tuple(found)


# --- triggers ---------------------------------------------------------------------------------------------------------

_Follow = Callable[[float], Instant | None]


def _follower(schedule: ScheduleRecord, default: Zone) -> _Follow:
    """What finds the fire after an instant, once the trigger has been checked."""
    match schedule.trigger_type:
        case "cron":
            return _cron(expression_of(schedule), clock_of(schedule, default))
        case "interval":
            return _interval(schedule)
        case "at":
            return _once(schedule)
        case "github_poll":
            return lambda after: None
    raise CadenceError("trigger_type", f"unknown trigger {schedule.trigger_type!r}; allowed: {', '.join(TRIGGERS)}")


def _once(schedule: ScheduleRecord) -> _Follow:
    at = instant_of(schedule.next_fire_at)
    return lambda after: Instant(at) if at is not None and at > after else None


def _interval(schedule: ScheduleRecord) -> _Follow:
    every = interval_of(schedule)
    planned = instant_of(schedule.next_fire_at)
    phases = (planned, instant_of(schedule.last_fired_at), instant_of(schedule.created_at))
    start = next((at for at in phases if at is not None), None)

    def follow(after: float) -> Instant:
        if start is None:
            return Instant(after + every)
        if planned is not None and planned > after:
            return Instant(planned)
        periods = max(1, math.floor((after - start) / every) + 1)
        at = start + periods * every
        return Instant(at if at > after else at + every)

    return follow


def _cron(expression: CronExpression, clock: WallClock) -> _Follow:
    return lambda after: cron_step(expression, clock, math.floor(after))


# --- words ------------------------------------------------------------------------------------------------------------


def _described(schedule: ScheduleRecord) -> str:
    match schedule.trigger_type:
        case "cron":
            return cron_words(expression_of(schedule))
        case "interval":
            return f"every {format_duration(interval_of(schedule))}"
        case "at":
            at = instant_of(schedule.next_fire_at)
            return "once, nothing left to fire" if at is None else f"once at {_utc(at)}"
        case "github_poll":
            every = format_duration(poll_interval_of(schedule))
            return f"github {schedule.github_repo or '(no repository)'} every {every}"
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
    if gap > _YEAR:
        return [f"fires rarely: {round(gap / (365.25 * 86_400))} years pass between the next two fires"]
    return []


def _local(at: float, zone: str) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).astimezone(load_zone(zone)).strftime("%Y-%m-%d %H:%M ") + zone
    except (OverflowError, ValueError, OSError):
        return "beyond the year 9999"


def _utc(at: float) -> str:
    return _local(at, "UTC")
