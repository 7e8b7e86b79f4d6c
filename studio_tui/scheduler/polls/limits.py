"""When GitHub wants to be left alone, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

LONGEST: Final = 3_600.0
"""Seconds that are waited at most, whatever is asked for: its limits are counted by the hour."""

_UNSAID: Final = 60.0
"""Seconds to wait where it says only that there were too many questions."""


def rest_wanted(status: int, headers: Mapping[str, str], body: bytes, now: float) -> float | None:
    """Seconds in which nothing must be asked, or ``None``. Header names are in lower case."""
    refused = status == 429 or (status == 403 and b"rate limit" in body[:4_096].lower())
    until = _retry_after(headers.get("retry-after"), now) if refused or status in (403, 503) else None
    if until is None and headers.get("x-ratelimit-remaining", "").strip() == "0":
        until = _number(headers.get("x-ratelimit-reset"))
    if until is None and refused:
        until = now + _UNSAID
    return None if until is None else min(max(until - now, 0.0) + 1.0, LONGEST)


def _retry_after(value: str | None, now: float) -> float | None:
    seconds = _number(value)
    if seconds is not None:
        return now + seconds
    from email.utils import parsedate_to_datetime  # hardly ever needed

    try:
        return parsedate_to_datetime(value or "").timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _number(value: str | None) -> float | None:
    text = (value or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
