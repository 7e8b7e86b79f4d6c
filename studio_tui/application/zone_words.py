"""Where a schedule's zone comes from, in words that both front ends use."""

from __future__ import annotations

from typing import Final

_ORIGINS: Final = {
    "schedule:resolved_timezone": "declared",
    "system:localtime": "this machine's",
    "fallback:utc": "nobody chose one: UTC is taken",
    "fallback:utc:unloadable-name": "the chosen one is not known here: UTC is taken",
}
_VARIABLE: Final = "env:"


def zone_origin(source: str | None) -> str:
    """Who chose the zone, for a ``zone_source`` as the store spells it (lionagi 0.36); an unknown spelling as it stands."""
    text = source or ""
    if text.startswith(_VARIABLE):
        return f"from {text.removeprefix(_VARIABLE)}"
    return _ORIGINS.get(text, text)
