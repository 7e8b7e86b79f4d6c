"""Lengths of time as people write and read them."""

from __future__ import annotations

import math
import re
from typing import Final

MAX_DURATION: Final = 36_500 * 86_400
"""The longest length accepted, in seconds: a hundred years."""

_UNITS: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_WORDS: Final = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))
_WHOLE: Final = re.compile(r"(?:[0-9]{1,12}[dhms])+\Z")
_PART: Final = re.compile(r"([0-9]+)([dhms])")
_ALLOWED: Final = "write a whole number and a unit: 30s, 15m, 6h, 7d or 1h30m"


def parse_duration(text: str) -> int:
    """The length in seconds that ``text`` says: ``2s``, ``15m``, ``1h``, ``7d``, ``1h30m``.

    Raises :class:`ValueError` with what is wrong and what is allowed.
    """
    cleaned = text.strip().lower()
    if not cleaned:
        raise ValueError(f"no length of time given; {_ALLOWED}")
    if re.fullmatch(r"[0-9]+", cleaned):
        raise ValueError(f"{text.strip()!r} has no unit; {_ALLOWED}")
    if not _WHOLE.match(cleaned):
        raise ValueError(f"{text.strip()!r} is not a length of time; {_ALLOWED}")
    parts = [(int(number), unit) for number, unit in _PART.findall(cleaned)]
    sizes = [_UNITS[unit] for _, unit in parts]
    if sizes != sorted(set(sizes), reverse=True):
        raise ValueError(f"{text.strip()!r} names a unit twice or out of order; {_ALLOWED}")
    seconds = sum(number * _UNITS[unit] for number, unit in parts)
    if seconds <= 0:
        raise ValueError(f"{text.strip()!r} is no time at all; {_ALLOWED}")
    if seconds > MAX_DURATION:
        raise ValueError(f"{text.strip()!r} is longer than a hundred years")
    return seconds


def short_duration(seconds: int) -> str:
    """A length of time as :func:`parse_duration` reads it: ``90s`` is ``1m30s``."""
    parts, rest = [], seconds
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def format_duration(seconds: float) -> str:
    """A length of time in words, exact to the second: ``2 s``, ``15 min``, ``1 h 30 min``, ``7 d``.

    Below a second two decimals are kept. A value that is no length (negative, not a number) reads ``unknown``.
    """
    if not math.isfinite(seconds) or seconds < 0:
        return "unknown"
    if 0 < seconds < 1:
        return f"{seconds:.2g} s"
    rest = round(seconds)
    parts = []
    for word, size in _WORDS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count} {word}")
    return " ".join(parts) or "0 s"
