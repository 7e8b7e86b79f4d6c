"""A schedule reduced to what makes it act, for comparing two: what its trigger and its action do not use is empty."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from studio_tui.application.action_rules import without_unused
from studio_tui.application.schedule_definition import action_of
from studio_tui.application.schedule_values import action_columns
from studio_tui.domain.schedules import ScheduleRecord, Zone

_OF_TRIGGER: Final = {
    "cron": frozenset({"cron_expr", "resolved_timezone"}),
    "interval": frozenset({"interval_sec"}),
    "at": frozenset[str](),
    "github_poll": frozenset({"github_repo", "github_filter"}),
}
_PROJECT_KINDS: Final = ("agent", "flow", "fanout", "flow_yaml")
"""Actions that pass their project on."""

_ACTION: Final = ("model", "prompt", "agent", "playbook", "flow_yaml", "command")


def as_it_acts(schedule: ScheduleRecord, default: Zone, profile_model: str | None) -> ScheduleRecord:
    """The schedule without what changes nothing about a firing.

    A cron expression without a zone is read in the one that a host noted, else in ``default``; an agent without a model runs its
    profile's, ``profile_model``.
    """
    values: dict[str, Any] = {"description": None, "poll_interval_sec": None, **_notify(schedule), **_trigger(schedule, default)}
    if schedule.action_kind not in _PROJECT_KINDS:
        values["action_project"] = None
    if schedule.trigger_type == "github_poll":
        values |= {"missed_fire_policy": "skip", "overlap_policy": "skip"}
    action = action_of(schedule)
    if action is not None:
        columns = action_columns(without_unused(action, keep=frozenset()))
        values |= {f"action_{name}": columns[f"action_{name}"] for name in _ACTION}
    if schedule.action_kind == "agent" and not schedule.action_model:
        values["action_model"] = profile_model
    return replace(schedule, **values)


def _notify(schedule: ScheduleRecord) -> dict[str, Any]:
    """Both halves together, or neither; in which order the statuses stand does not matter."""
    if not schedule.notify_on or not schedule.notify_command:
        return {"notify_on": (), "notify_command": None}
    return {"notify_on": tuple(sorted(set(schedule.notify_on)))}


def _trigger(schedule: ScheduleRecord, default: Zone) -> dict[str, Any]:
    used = _OF_TRIGGER.get(schedule.trigger_type, frozenset())
    values: dict[str, Any] = dict.fromkeys(frozenset().union(*_OF_TRIGGER.values()) - used)
    if schedule.trigger_type == "cron":
        values["resolved_timezone"] = schedule.resolved_timezone or schedule.effective_timezone or default.name
    return values
