"""Triggers and coming fires in words: the one place where the calendar's answers become models."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from studio_tui.application.errors import FieldFailure
from studio_tui.application.models.schedules import Cadence, Fire
from studio_tui.application.moments import has_date
from studio_tui.domain.cadence import CadenceError, Instant, describe, upcoming, warnings, zone_of
from studio_tui.domain.schedules import ScheduleRecord, Zone

_PATHS: Final = {
    "cron_expr": ("trigger", "expression"),
    "resolved_timezone": ("trigger", "timezone"),
    "timezone": ("trigger", "timezone"),
    "interval_sec": ("trigger", "seconds"),
    "next_fire_at": ("trigger", "at"),
    "poll_interval_sec": ("trigger", "poll_interval_seconds"),
    "github_repo": ("trigger", "repository"),
}
"""Where the stored fields of a trigger stand in a command."""


def trigger_failure(error: CadenceError) -> FieldFailure:
    """A fault of a trigger at the field of the command that it concerns."""
    return FieldFailure(_PATHS.get(error.field, ("trigger",)), "unusable", str(error))


def cadence_view(schedule: ScheduleRecord, *, after: float, count: int, now: float, default: Zone) -> Cadence:
    """A trigger in words with its coming fires. Raises :class:`CadenceError` for a broken one."""
    zone = zone_of(schedule, default) if schedule.trigger_type == "cron" else None
    return Cadence(
        words=describe(schedule),
        zone=zone.name if zone else None,
        zone_source=zone.source if zone else None,
        fires=fires(upcoming(schedule, after, count, default), zone or default),
        warnings=warnings(schedule, now, default),
    )


def fires(instants: Iterable[Instant], zone: Zone) -> tuple[Fire, ...]:
    """Instants with their wall-clock text in ``zone``, as far as the calendar goes: to the end of the year 9999."""
    shown: list[Fire] = []
    for instant in instants:
        local = clock_text(instant.at, zone) if has_date(instant.at) else None
        if local is None:
            break
        shown.append(Fire(at=instant.at, local=local, note=instant.note))
    return tuple(shown)


def local_text(at: float, area: tzinfo) -> str:
    """An instant on the wall clock of ``area``, with weekday and zone: ``Thu 2026-03-12 04:45 CET``; seconds if there are any."""
    moment = datetime.fromtimestamp(at, area)
    clock = moment.strftime("%H:%M:%S" if moment.second else "%H:%M")
    return f"{moment:%a %Y-%m-%d} {clock} {moment.tzname() or ''}".rstrip()


def clock_text(at: float | None, zone: Zone) -> str | None:
    """An instant on the wall clock of ``zone``; ``None`` for one that is unknown or no time."""
    try:
        return None if at is None else local_text(at, _area(zone.name))
    except (OverflowError, ValueError, OSError):
        return None


def _area(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return UTC
