"""What makes a stored schedule broken, each fault with its column, as lists and details say it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from studio_tui.application.action_rules import shape_failures, without_unused
from studio_tui.application.models.schedules import ScheduleAction
from studio_tui.domain.cadence import CadenceError, next_fire
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.stored_rules import stored_faults

_ACTION_COLUMNS: Final = (
    *("action_kind", "action_model", "action_prompt", "action_agent", "action_playbook", "action_project"),
    *("action_extra_args", "action_command", "action_command_args"),
)
"""What an action passes on, but for texts that are judged where they are run."""


def problems_of(schedule: ScheduleRecord, default: Zone, *, ever_fired: bool = True) -> tuple[str, ...]:
    """Everything that makes a stored schedule broken, each with its column, in words. ``ever_fired``: it has rows of firings."""
    found = [str(fault) for fault in stored_faults(schedule)]
    if not found:
        found = [*_action_problems(schedule)]
    fault = _fault(schedule.trigger_type, schedule.cron_expr, schedule.interval_sec, schedule.resolved_timezone, default)
    if fault is not None and not schedule.defects and fault.field != "trigger_type":
        found.append(f"{fault.field}: {fault}")
    if schedule.trigger_type == "at" and schedule.next_fire_at is None and schedule.last_fired_at is None and not ever_fired:
        found.append("next_fire_at: it fires once, and no instant is stored; give it one")
    return tuple(found)


def _action_problems(schedule: ScheduleRecord) -> tuple[str, ...]:
    if schedule.action_playbook_args:  # not hashable, and rare
        return _value_problems(schedule)
    columns = {column: getattr(schedule, column) for column in _ACTION_COLUMNS}
    return _known_value_problems(**columns)


@lru_cache(maxsize=4_096)
def _known_value_problems(**columns: Any) -> tuple[str, ...]:
    """Actions are judged once, not at every look."""
    return _value_problems(ScheduleRecord("", "", True, "at", **columns))


def _value_problems(schedule: ScheduleRecord) -> tuple[str, ...]:
    values: dict[str, Any] = {column.removeprefix("action_"): getattr(schedule, column) for column in _ACTION_COLUMNS}
    # The readers of rows have seen to the types, and a list is long: nothing is validated twice here.
    values["playbook_args"] = dict(schedule.action_playbook_args)
    action = ScheduleAction.model_construct(**values)
    faults = shape_failures(without_unused(action, keep=frozenset()))
    return tuple(f"action_{'.'.join(map(str, fault.path[1:]))}: {fault.message}" for fault in faults)


@lru_cache(maxsize=4_096)
def _fault(
    trigger_type: str, cron_expr: str | None, interval_sec: float | None, timezone: str | None, default: Zone
) -> CadenceError | None:
    """What is wrong with a trigger. It does not depend on the time, so each trigger is computed once, not at every look."""
    trigger = ScheduleRecord(
        "", "", True, trigger_type, "command", cron_expr=cron_expr, interval_sec=interval_sec, resolved_timezone=timezone
    )
    try:
        next_fire(trigger, 0.0, default)
    except CadenceError as error:
        return error
    return None
