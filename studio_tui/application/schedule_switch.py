"""What turning a schedule on or off must check and will write (lionagi 0.36, enable and disable)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from studio_tui.application.action_rules import host_failures, without_unused
from studio_tui.application.cadence_views import trigger_failure
from studio_tui.application.errors import Conflict, FieldFailure, ValidationFailure
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedules import SetScheduleEnabled
from studio_tui.application.schedule_definition import action_of
from studio_tui.application.wellformed import require_wellformed
from studio_tui.domain.cadence import CadenceError, first_fire
from studio_tui.domain.gates import max_runs
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.stored_rules import stored_faults

ENABLED: Final = "schedule_definition.enabled.observed"
DISABLED_BY_HAND: Final = "schedule_definition.disabled.manual"
DISABLED: Final = "schedule_definition.disabled.unspecified"
REASON_LIMIT: Final = 500
"""Characters of the longest reason (lionagi 0.36)."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A change to be written: the next instant, and why."""

    next_fire_at: float | None
    reason_code: str
    reason: str | None


def plan_switch(
    schedule: ScheduleRecord, command: SetScheduleEnabled, facts: LaunchFacts, *, executed: int, now: float, default: Zone
) -> Switch | None:
    """The change that ``command`` asks for, or ``None`` when the schedule is as wanted already.

    ``executed`` counts its firings over its whole life. Raises the errors of ``ScheduleService.set_enabled``.
    """
    _same_version(schedule, command)
    reason = _reason(command)
    if command.enabled:
        instant = _instant_when_on(schedule, facts, executed, now, default)
        return None if schedule.enabled else Switch(instant, ENABLED, reason)
    if schedule.enabled:
        # A one-shot keeps its instant, which is stored nowhere else; any other is counted anew when it is turned on.
        kept = schedule.next_fire_at
        return Switch(kept, DISABLED_BY_HAND if reason else DISABLED, reason)
    if reason is not None:
        message = f"{schedule.name} is off already; the reason was not recorded"
        raise Conflict("schedule", expected="on", actual="off", message=message)
    return None


def _same_version(schedule: ScheduleRecord, command: SetScheduleEnabled) -> None:
    """Whether the caller saw what is stored; the store compares again in its own transaction."""
    expected = command.expected_updated_at
    if expected is not None and expected != schedule.updated_at:
        raise Conflict("schedule", expected=repr(expected), actual=repr(schedule.updated_at))


def _reason(command: SetScheduleEnabled) -> str | None:
    if command.reason is None:
        return None
    reason = command.reason.strip()
    if not reason:
        raise ValidationFailure.of("reason", "empty", "give a reason of 1 to 500 characters, or leave it out")
    if len(reason) > REASON_LIMIT:
        raise ValidationFailure.of("reason", "too_long", f"{len(reason)} characters; at most {REASON_LIMIT} are allowed")
    require_wellformed(reason=reason)
    return reason


def _instant_when_on(schedule: ScheduleRecord, facts: LaunchFacts, executed: int, now: float, default: Zone) -> float | None:
    """The first instant of a schedule that is to be on. Raises when it could never fire."""
    faults = tuple(_faults(schedule, facts))
    if faults:
        raise ValidationFailure(*faults)
    try:
        instant = first_fire(schedule, now, default)
    except CadenceError as error:
        raise ValidationFailure(trigger_failure(error)) from None
    if not max_runs(schedule, executed).allowed:
        message = f"{schedule.name} has used all of its {schedule.max_runs} runs ({executed} were made)"
        raise Conflict("schedule", expected=f"fewer than {schedule.max_runs} runs", actual=str(executed), message=message)
    if instant is None and schedule.trigger_type != "github_poll":
        message = f"{schedule.name} has nothing left to fire: its last instant has passed"
        raise Conflict("schedule", expected="an instant to come", actual="none", message=message)
    return instant


def _faults(schedule: ScheduleRecord, facts: LaunchFacts) -> Iterator[FieldFailure]:
    """Everything that is checked when a schedule is made, on what is stored; its instants are checked apart."""
    stored = [FieldFailure(tuple(fault.field.split(".")), "broken", fault.message) for fault in stored_faults(schedule)]
    yield from stored
    action = action_of(schedule)
    if action is not None and not stored:
        yield from host_failures(without_unused(action, keep=frozenset()), facts)
