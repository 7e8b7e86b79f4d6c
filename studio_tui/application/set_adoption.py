"""Whether a set may take over a schedule that no set owns: only if it does already what the member says (lionagi 0.36).

An adopted schedule keeps its id, its firings and its next instant.
"""

from __future__ import annotations

from typing import Final

from studio_tui.application.set_acting import as_it_acts
from studio_tui.application.set_differences import SILENT_COLUMNS, Difference, column_differences
from studio_tui.application.set_resolving import ResolvedMember
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.triggers import poll_interval_of

_POLL_DEFAULT: Final = 300.0


def obstacle(row: ScheduleRecord, member: ResolvedMember, default: Zone) -> str | None:
    """Why a schedule cannot be adopted as this member, or ``None``."""
    if row.owner_key is not None:
        return f"{row.name} belongs to the set {row.owner_key}, and is not taken from it"
    silent = [column for column in SILENT_COLUMNS if _says(row, column)]
    if silent:
        return f"{row.name} has {', '.join(silent)}, which no set can say; clear that first, or name the member otherwise"
    zone = _zone_doubt(row, default)
    if zone is not None:
        return zone
    acting = (as_it_acts(schedule, default, member.profile_model) for schedule in (row, member.record))
    found = list(column_differences(*acting))
    if member.record.trigger_type == "at" and row.next_fire_at != member.record.next_fire_at:
        found.append(Difference("next_fire_at", row.next_fire_at, member.record.next_fire_at))
    if not found:
        return None
    shown = (difference.shown() for difference in found)
    said = "; ".join(f"{change.field}: stored {_short(change.stored)}, declared {_short(change.declared)}" for change in shown)
    return f"{row.name} does something else than the member: {said}; edit the member to match it, or name it otherwise"


def _says(row: ScheduleRecord, column: str) -> bool:
    """Whether a column that no declaration can say makes this schedule act otherwise."""
    if column == "poll_interval_sec":
        return row.trigger_type == "github_poll" and poll_interval_of(row) != _POLL_DEFAULT
    return bool(getattr(row, column))


def _zone_doubt(row: ScheduleRecord, default: Zone) -> str | None:
    """A cron schedule without a zone fires in the zone of its host, which is known only if host and caller agree."""
    if row.trigger_type != "cron" or row.resolved_timezone or row.effective_timezone == default.name:
        return None
    seen = f"a host read it in {row.effective_timezone}" if row.effective_timezone else "no host has read it yet"
    return f"{row.name} names no zone, {seen}, and the zone here is {default.name}; give it a zone first"


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
