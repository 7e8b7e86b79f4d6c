"""Figures and times as people read them. Times are epoch seconds, lengths seconds."""

from __future__ import annotations

from datetime import datetime

_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "m"))


def span(seconds: float | None) -> str:
    """A length of time, short: ``4s``, ``41m``, ``3h``, ``12d``; nothing when unknown."""
    if seconds is None:
        return ""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.0f}{unit}"
    return f"{seconds:.0f}s"


def ago(at: float | None, now: float) -> str:
    """How long ago an instant was; an instant to come reads ``in 5m``."""
    if at is None:
        return ""
    return f"in {span(at - now)}" if at > now else span(now - at)


def due(at: float | None, now: float) -> str:
    """When something is due: ``in 5m``, or ``5m late``; nothing when never."""
    if at is None:
        return ""
    return f"in {span(at - now)}" if at > now else f"{span(now - at)} late"


def moment(at: float | None) -> str:
    """An instant in this machine's zone, with the zone's name; nothing when unknown."""
    return "" if at is None else datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S %Z")


def money(usd: float | None) -> str:
    """Dollars as reported; ``-`` when nothing was reported, which is not zero."""
    return "-" if usd is None else f"${usd:.4f}" if 0 < usd < 0.01 else f"${usd:.2f}"


def count(number: int | None) -> str:
    """A figure with thousands set apart; nothing when unknown."""
    return "" if number is None else f"{number:,}"


def size(number: int | None) -> str:
    """Bytes in a readable unit; nothing when unknown."""
    if number is None:
        return ""
    amount = float(number)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"
