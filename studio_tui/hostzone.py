"""The time zone of this machine, and who says so.

The order and the words for the source are lionagi's (0.36, scheduler configuration). What differs: a name that is no zone of
this machine is an error here, where lionagi falls back to UTC in silence.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from zoneinfo import TZPATH, ZoneInfo, ZoneInfoNotFoundError

from studio_tui.application.errors import ValidationFailure
from studio_tui.domain.schedules import Zone

LOCALTIME: Final = Path("/etc/localtime")
TIMEZONE: Final = Path("/etc/timezone")
SCHEDULER_VARIABLE: Final = "LIONAGI_SCHEDULER_TZ"
_HINT: Final = "an IANA zone of this machine, such as Europe/Berlin or UTC"


def host_zone(variables: Mapping[str, str], *, localtime: Path = LOCALTIME, timezone: Path = TIMEZONE) -> Zone:
    """``LIONAGI_SCHEDULER_TZ``, else ``TZ``, else ``/etc/localtime``, else UTC.

    Raises :class:`ValidationFailure` when a variable names no zone, and when ``/etc/localtime`` is there but is no zone that can
    be named: guessing would move every fire.
    """
    for variable in (SCHEDULER_VARIABLE, "TZ"):
        name = variables.get(variable, "").strip()
        if not name:
            continue
        # A colon in front and a path instead of a name are other spellings that TZ allows.
        name = _relative(Path(name.removeprefix(":"))) or name.removeprefix(":")
        if not is_zone(name):
            raise ValidationFailure.of(variable, "invalid", f"must be {_HINT}, not {name!r}")
        return Zone(name, f"env:{variable}")
    named = _named_by_link(localtime) or _named_by_text(localtime, timezone)
    if named is not None:
        return Zone(named, "system:localtime")
    if localtime.is_file():
        raise ValidationFailure.of(
            SCHEDULER_VARIABLE, "required", f"must be {_HINT}: {localtime} does not tell which zone this machine is in"
        )
    return Zone("UTC", "fallback:utc")


def is_zone(name: str) -> bool:
    """Whether a name can be loaded here."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _named_by_link(localtime: Path) -> str | None:
    """The name in the link's target, if loading that name gives this very file."""
    try:
        target = localtime.resolve(strict=True)
    except (OSError, RuntimeError):
        return None
    name = _relative(target)
    return name if name and _is_file_of(name, target) else None


def _named_by_text(localtime: Path, timezone: Path) -> str | None:
    """Debian's second note of the zone, believed only where its rules are those of ``localtime``."""
    try:
        name = timezone.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return name if name and is_zone(name) and _is_file_of(name, localtime) else None


def _relative(path: Path) -> str | None:
    """A path under one of the zone directories as the name of a zone."""
    if not path.is_absolute():
        return None
    for root in map(Path, TZPATH):
        for base in {root, root.resolve()}:
            if path.is_relative_to(base):
                return path.relative_to(base).as_posix()
    head, found, name = path.as_posix().rpartition("/zoneinfo/")
    return name if found and head else None


def _is_file_of(name: str, path: Path) -> bool:
    for root in map(Path, TZPATH):
        candidate = root / name
        if candidate.is_file():
            try:
                return candidate.read_bytes() == path.read_bytes()
            except OSError:
                return False
    return is_zone(name)
