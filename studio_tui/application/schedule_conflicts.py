"""Two who changed one schedule: what the caller wanted, beside what stands there now."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from studio_tui.application.errors import Conflict
from studio_tui.application.models.schedules import PatchSchedule
from studio_tui.application.schedule_definition import definition_of
from studio_tui.domain.schedules import ScheduleRecord

_LONGEST: Final = 60
"""Characters of a value in the message; the difference itself holds it whole."""


def stale(schedule: ScheduleRecord, command: PatchSchedule) -> Conflict:
    """The conflict of a patch that was made on another version. Its ``differences`` hold both sides of each field."""
    seen, stands = command.expected_updated_at, schedule.updated_at
    differences = _differences(schedule, command)
    fields = "; ".join(
        f"{field}: yours {_short(yours)}, stored {_short(theirs)}" for field, (yours, theirs) in differences.items()
    )
    nothing = "what you wanted to change is so already"
    message = (
        f"{schedule.name} was changed at {_time(stands)}, after you read it ({_time(seen)}); {fields or nothing}. "
        "Read it again and decide"
    )
    return Conflict("schedule", expected=repr(seen), actual=repr(stands), message=message, differences=differences)


def _differences(schedule: ScheduleRecord, command: PatchSchedule) -> dict[str, tuple[object, object]]:
    """By field: what the caller wanted and what is stored, where these are not the same."""
    wanted = command.changes.model_dump(exclude_unset=True)
    stored = definition_of(schedule).model_dump()
    found: dict[str, tuple[object, object]] = {}
    for name, yours in wanted.items():
        theirs = stored[name]
        if isinstance(yours, dict) and name in ("trigger", "action"):
            inside: dict[str, Any] = theirs if isinstance(theirs, dict) else {}
            found |= {f"{name}.{key}": (value, inside.get(key)) for key, value in yours.items() if value != inside.get(key)}
        elif yours != theirs:
            found[name] = (yours, theirs)
    return found


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _time(at: float | None) -> str:
    try:
        return "an unknown time" if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (OverflowError, ValueError, OSError):
        return "an unknown time"
