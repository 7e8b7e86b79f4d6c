"""When simple schedules must fire, worked out without any code of the product: by looking at a wall clock minute by minute."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)


@lru_cache(maxsize=65_536)
def daily(zone: str, hour: int, minute: int, day: date) -> float:
    """The instant on ``day`` of a job at a fixed time: the first at which the wall clock shows that time or a later one.

    So a time that the clock skips fires right after the gap, and one that it shows twice fires the first time.
    """
    shown = ZoneInfo(zone)
    wanted = datetime(day.year, day.month, day.day, hour, minute)
    at = (wanted - _DAY).replace(tzinfo=UTC)
    offset = at.astimezone(shown).utcoffset() or timedelta()
    at = (wanted - offset - timedelta(hours=3)).replace(tzinfo=UTC)
    while at.astimezone(shown).replace(tzinfo=None) < wanted:
        at += _MINUTE
    return at.timestamp()


def next_daily(zone: str, hour: int, minute: int, after: float) -> float:
    """The first fire after an instant of a job at a fixed time of every day."""
    day = datetime.fromtimestamp(after, ZoneInfo(zone)).date() - _DAY
    while (at := daily(zone, hour, minute, day)) <= after:
        day += _DAY
    return at


def next_even(every: int, after: float) -> float:
    """The first multiple of ``every`` seconds after an instant: what ``*/15`` means where clocks move by quarters of an hour."""
    return (int(after) // every + 1) * float(every)
