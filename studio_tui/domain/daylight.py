"""From the wall times of a cron expression to instants, through the changes of daylight saving.

A job with named hours fires once for each wall time. Where the clock skips that time it fires right after the gap, where the
clock shows it twice it fires the first time. A job without named hours fires whenever the clock shows a matching time: a
repeated hour has its fires twice and a skipped one has none, so it runs evenly in real time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from studio_tui.domain.cron import CronExpression
from studio_tui.domain.zones import WallClock

_EPOCH: Final = datetime(1970, 1, 1)  # wall times have no zone


@dataclass(frozen=True, slots=True)
class Instant:
    """One fire in epoch seconds. ``note`` says what daylight saving did to it, ``None`` for nothing."""

    at: float
    note: str | None = None


def cron_step(expression: CronExpression, clock: WallClock, after: int) -> Instant | None:
    """The first fire strictly after ``after`` (whole seconds); ``None`` when none is left before the calendar ends."""
    step = every_hour_step if expression.every_hour else named_hours_step
    try:
        return step(expression, clock, after)
    except (OverflowError, ValueError, OSError):  # the calendar ends with the year 9999
        return None


def coming_oddities(expression: CronExpression, clock: WallClock, start: int, end: int) -> tuple[str, ...]:
    """What daylight saving does, between two instants, to a job with named hours; nothing for one without."""
    if expression.every_hour:
        return ()
    found = []
    for change in clock.changes(start, end):
        repeated = max(0, clock.offset(change - 1) - clock.offset(change))
        fire = cron_step(expression, clock, change - repeated - 1)
        if fire is not None and fire.at <= change and fire.note is not None:
            found.append(fire.note)
    return tuple(found)


def named_hours_step(expression: CronExpression, clock: WallClock, after: int) -> Instant | None:
    """The first fire after ``after`` of a job with named hours. Raises :class:`OverflowError` beyond the calendar."""
    start = clock.at(after)
    repeated = clock.repeated_stretch(start)
    if repeated is not None and clock.occurrence(start).first != after:
        start = repeated[1] - 1  # spares a look at each time of the repeat, all of which have fired
    wall = expression.next_wall(start)
    while wall is not None:
        found = clock.occurrence(wall)
        if found.first > after:
            return Instant(float(found.first), _named_hours_note(expression, clock, wall))
        wall = expression.next_wall(wall if found.skipped_to is None else found.skipped_to - 1)
    return None


def every_hour_step(expression: CronExpression, clock: WallClock, after: int) -> Instant | None:
    """The first fire after ``after`` of a job without named hours. Raises :class:`OverflowError` beyond the calendar."""
    start = clock.at(after)
    repeated = clock.repeated_stretch(start)
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
