"""Times, lengths of time, money and counts as short words. Everything takes ``now``; nothing here reads a clock.

Odd values come from stores that other programs wrote. They are shown and marked (``?`` at the end, or ``bad``), never raised.
Unknown is ``–``, which is not zero.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta, tzinfo
from typing import Final

NONE: Final = "–"
THIN: Final = "\u2009"
BAD: Final = "bad"
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_LAST: Final = 253_402_300_799
"""The last second that a date can name (the year 9999)."""


def _number(value: object) -> float | None:
    """A finite number, or ``None`` for anything else (a ``bool`` is not a number here)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) else None


def _local(at: float, zone: tzinfo | None) -> datetime | None:
    if not 0 <= at <= _LAST:
        return None
    try:
        return datetime.fromtimestamp(at, zone) if zone else datetime.fromtimestamp(at).astimezone()
    except (OverflowError, OSError, ValueError):
        return None


def when(at: float | None, now: float, zone: tzinfo | None = None) -> str:
    """When something was, as short as it can be said: ``03:06`` today, ``yday``, ``12 Mar``, ``2025-03``.

    In the local zone unless one is given. A time in the future gets a ``?`` (``when`` is for the past), and one that no calendar
    holds is ``bad``.
    """
    if at is None:
        return NONE
    number = _number(at)
    then, today = (None if number is None else _local(number, zone)), _local(now, zone)
    if number is None or then is None or today is None:
        return BAD
    late = "?" if number > now + _MINUTE else ""
    if then.date() == today.date():
        return then.strftime("%H:%M") + late
    if then.date() == today.date() - timedelta(days=1):
        return "yday"
    if then.year == today.year or abs(number - now) < 180 * _DAY:
        return f"{then.day} {then:%b}{late}"
    return then.strftime("%Y-%m") + late


def stamp(at: float | None, zone: tzinfo | None = None) -> str:
    """The full time with its zone, for details: ``2026-03-12 02:41:58 CET``. An impossible time is shown raw and marked."""
    if at is None:
        return NONE
    number = _number(at)
    then = None if number is None else _local(number, zone)
    return f"{at!r} (no such time)" if then is None else then.strftime("%Y-%m-%d %H:%M:%S %Z").rstrip()


def clock(now: float, zone: tzinfo | None = None) -> str:
    """The header's clock, to the minute."""
    then = _local(now, zone)
    return then.strftime("%H:%M") if then else "--:--"


def seconds(at: float | None, zone: tzinfo | None = None) -> str:
    """The time of day to the second, in eight cells, for lines of a log."""
    number = _number(at)
    then = None if number is None else _local(number, zone)
    return then.strftime("%H:%M:%S") if then else ("--:--:--" if at is None else "??:??:??")


def age(at: float | None, now: float) -> str:
    """How long ago, in one unit: ``41s``, ``41m``, ``3h``, ``12d``. The future is ``0s?``."""
    number = _number(at)
    if number is None:
        return NONE if at is None else BAD
    gone = now - number
    return "0s?" if gone < -_MINUTE else one_unit(max(0.0, gone))


def one_unit(seconds: float) -> str:
    """A length of time in its largest unit, rounded down."""
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{int(seconds)}s"


def duration(seconds: float | None, *, approximate: bool = False) -> str:
    """How long something took: ``0.4s``, ``42s``, ``1m02``, ``48m40``, ``3h05``, ``2d04h``; ``~`` before it when approximate.

    A negative length is ``0s?``: the store says that it ended before it began.
    """
    number = _number(seconds)
    if number is None:
        return NONE if seconds is None else BAD
    if number < 0:
        return "0s?"
    return ("~" if approximate else "") + _length(number)


def _length(seconds: float) -> str:
    whole = int(seconds)
    if seconds < 10 and seconds != whole:
        return f"{seconds:.1f}s"
    if whole < _MINUTE:
        return f"{whole}s"
    if whole < _HOUR:
        return _two(whole, _MINUTE, "m", 1, "")
    if whole < _DAY:
        return _two(whole, _HOUR, "h", _MINUTE, "")
    return _two(whole, _DAY, "d", _HOUR, "h") if whole < 1_000 * _DAY else f"{whole // _DAY}d"


def _two(whole: int, size: int, unit: str, small: int, small_unit: str) -> str:
    rest = whole % size // small
    return f"{whole // size}{unit}" + (f"{rest:02d}{small_unit}" if rest else "")


def countdown(at: float | None, now: float) -> str:
    """How long until something: ``8s``, ``33m 10s``, ``2h 57m``, ``3d 1h``; ``due`` once it has come, ``–`` for never."""
    number = _number(at)
    if number is None:
        return NONE if at is None else BAD
    left = number - now
    if left <= 0:
        return "due"
    if left >= 10_000 * _DAY:
        return BAD
    whole = math.ceil(left)
    for size, unit, small, small_unit in ((_DAY, "d", _HOUR, "h"), (_HOUR, "h", _MINUTE, "m"), (_MINUTE, "m", 1, "s")):
        if whole >= size:
            rest = whole % size // small
            digits = 1 if size == _DAY else 2
            return f"{whole // size}{unit}" + (f" {rest:0{digits}d}{small_unit}" if rest else "")
    return f"{whole}s"


def money(usd: float | None, *, at_least: bool = False) -> str:
    """US dollars without the sign: ``0.09``, ``12.40``, ``1 204``; ``–`` when not reported; ``>`` before a sum that may grow."""
    number = _number(usd)
    if number is None:
        return NONE if usd is None else BAD
    mark = ">" if at_least else ""
    if number < 0:
        return f"{number:.2f}?"
    if 0 < number < 0.005:
        return f"{mark}<.01"
    return mark + (f"{number:.2f}" if number < 1_000 else count(round(number)))


def count(number: int | None) -> str:
    """A count with thin spaces between thousands; ``–`` when unknown."""
    known = _number(number)
    if known is None:
        return NONE if number is None else BAD
    return f"{int(known):,}".replace(",", THIN)


def tokens(number: int | None) -> str:
    """A count of tokens in few cells: ``312``, ``12k``, ``1.2M``."""
    known = _number(number)
    if known is None:
        return NONE if number is None else BAD
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(known) >= size:
            figure = known / size
            return f"{figure:.1f}{unit}" if figure < 10 and unit != "k" else f"{figure:.0f}{unit}"
    return str(int(known))


def size(number: int | None) -> str:
    """A size in bytes: ``412 B``, ``41 kB``, ``1.2 MB``."""
    known = _number(number)
    if known is None:
        return NONE if number is None else BAD
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if known >= limit:
            figure = known / limit
            return f"{figure:.1f} {unit}" if figure < 10 else f"{figure:.0f} {unit}"
    return f"{int(known)} B"
