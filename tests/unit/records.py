"""Domain records in one line, for tests of pure rules."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord, Zone

UTC = Zone("UTC", "env:TZ")
NOW = 1_772_323_200.0
"""2026-03-01T00:00:00Z in epoch seconds."""


def a_schedule(**values: Any) -> ScheduleRecord:
    """A schedule that runs ``true`` every minute, unless told otherwise."""
    given = {
        "schedule_id": "0123456789ab",
        "name": "nightly",
        "enabled": True,
        "trigger_type": "interval",
        "interval_sec": 60,
        "action_kind": "command",
        "action_command": "true",
    }
    return ScheduleRecord(**{**given, **values})


def cron(expression: str | None, zone: str | None = None, **values: Any) -> ScheduleRecord:
    """A schedule of a cron expression."""
    return a_schedule(trigger_type="cron", cron_expr=expression, interval_sec=None, resolved_timezone=zone, **values)


def a_run(**values: Any) -> RunRecord:
    """A run that started and was heard of just now."""
    return RunRecord(**{"run_id": "r1", "status": "running", "started_at": NOW, "updated_at": NOW, **values})


def a_firing(status: str, **values: Any) -> FiringRecord:
    """A firing that began at ``NOW``."""
    given = {
        "run_id": "f1",
        "schedule_id": "0123456789ab",
        "invocation_id": None,
        "action_kind": "command",
        "fired_at": NOW,
    }
    return FiringRecord(**{**given, "status": status, **values})


def epoch(local: str, zone: str = "UTC") -> float:
    """The instant of a local time in ISO form; the first of two where the clock shows it twice."""
    return datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).timestamp()


def shown(at: float, zone: str = "UTC") -> str:
    """An instant on the clock of a zone, with its offset, in ISO form."""
    return datetime.fromtimestamp(at, ZoneInfo(zone)).isoformat()
