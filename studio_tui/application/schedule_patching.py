"""What a patch will write: judged as a whole with what is stored, and reduced to what differs (lionagi 0.36, PATCH).

The peer checks only what was sent, leaves ``next_fire_at`` as it was when an interval changes, and has no guard against a row
that somebody else changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any, Final

from studio_tui.application.action_rules import action_failures, without_unused
from studio_tui.application.cadence_views import trigger_failure
from studio_tui.application.errors import FieldFailure, ValidationFailure
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedules import AtTrigger, ScheduleAction, SchedulePatch, Trigger
from studio_tui.application.schedule_declared import declared_columns
from studio_tui.application.schedule_definition import as_command, trigger_of
from studio_tui.application.schedule_merging import Roots, merged_action, merged_trigger
from studio_tui.application.schedule_rules import one_shot_failures, plain_failures, trigger_failures
from studio_tui.application.schedule_values import NO_TRIGGER, action_columns, as_json, plain_playbook, trigger_columns
from studio_tui.domain.cadence import CadenceError, first_fire
from studio_tui.domain.chains import BRANCHES
from studio_tui.domain.schedules import ScheduleRecord, Zone

_REQUIRED: Final = ("name", "trigger", "action", "missed_fire_policy", "overlap_policy")
_PLAIN: Final = tuple(field for field in SchedulePatch.model_fields if field not in ("trigger", "action"))
_ZONE_NOTE: Final = ("effective_timezone", "effective_timezone_source")
_LISTS: Final = ("action_extra_args", "action_command_args")


@dataclass(frozen=True, slots=True)
class Patch:
    """The columns to write, the names of those that an author would call changed, and the schedule as it will be."""

    values: Mapping[str, object]
    changed: tuple[str, ...]
    schedule: ScheduleRecord


def plan_patch(
    schedule: ScheduleRecord, changes: SchedulePatch, facts: LaunchFacts, roots: Roots, *, now: float, default: Zone
) -> Patch:
    """What ``changes`` come to. Raises :class:`ValidationFailure` with every broken rule, of stored and sent values together."""
    sent = changes.model_fields_set
    trigger = merged_trigger(schedule, changes.trigger) if changes.trigger is not None else None
    action = merged_action(schedule, changes.action, roots) if changes.action is not None else None
    faults = [*_not_nullable(changes), *_faults(schedule, changes, trigger, action, facts, now)]
    plain = {field: _plain_value(getattr(changes, field)) for field in _PLAIN if field in sent}
    if faults:
        raise ValidationFailure(*faults)
    differing = _differing(schedule, plain)
    if action is not None:
        differing |= _differing(schedule, {**action_columns(action), "action_playbook_args": action.playbook_args})
    if trigger is not None:
        differing |= _trigger_values(schedule, trigger, now=now, default=default)
    differing |= _runs(schedule, differing, limit_sent="max_runs" in sent)
    after = replace(schedule, **{name: _in_record(name, value) for name, value in differing.items()})
    changed = tuple(name for name in differing if name not in _ZONE_NOTE and getattr(after, name) != getattr(schedule, name))
    values = {name: value for name, value in differing.items() if name != "action_playbook_args"}
    return Patch({**values, **_declaration(schedule, after)} if changed else {}, changed, after)


def _not_nullable(changes: SchedulePatch) -> Iterator[FieldFailure]:
    for field in _REQUIRED:
        if field in changes.model_fields_set and getattr(changes, field) is None:
            yield FieldFailure((field,), "not_nullable", "cannot be cleared; give a value, or leave it out to keep it")


def _faults(
    schedule: ScheduleRecord,
    changes: SchedulePatch,
    trigger: Trigger | None,
    action: ScheduleAction | None,
    facts: LaunchFacts,
    now: float,
) -> Iterator[FieldFailure]:
    sent = changes.model_fields_set
    kept_name = changes.name is not None and changes.name.strip() == schedule.name
    judged = ("description", "project", "max_runs", "budget_usd", "budget_tokens", "rate_limit", "threshold_config")
    names = () if kept_name else ("name",)
    yield from plain_failures({field: getattr(changes, field) for field in (*names, *judged, "github_cursor") if field in sent})
    if trigger is not None and trigger != trigger_of(schedule):
        yield from trigger_failures(trigger, now)
    if trigger is not None or "max_runs" in sent:
        yield from one_shot_failures(trigger or trigger_of(schedule), changes.max_runs)
    if action is not None and changes.action is not None:
        yield from action_failures(_judged(schedule, action, changes.action.model_fields_set), facts)
        if schedule.managed_by == "declaration" and action.playbook_args != schedule.action_playbook_args:
            message = "belong to the declaration that owns this schedule; change them there"
            yield FieldFailure(("action", "playbook_args"), "declared", message)


def _judged(schedule: ScheduleRecord, action: ScheduleAction, sent: Set[str]) -> ScheduleAction:
    """What of the action the rules look at: not what other writers left there, where this change leaves it as it is."""
    kept = without_unused(action, keep=sent)
    if action.kind != schedule.action_kind:
        return kept
    return kept.model_copy(update={branch: None for branch in BRANCHES if branch not in sent})


def _plain_value(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip() or None
    return as_json(value) if hasattr(value, "model_dump") else value


def _trigger_values(schedule: ScheduleRecord, trigger: Trigger, *, now: float, default: Zone) -> dict[str, Any]:
    """The columns of a changed trigger with the instant that follows from it; nothing for one that stays as it is."""
    columns: dict[str, Any] = {**NO_TRIGGER, **trigger_columns(trigger, default)}
    differing = _differing(schedule, {name: value for name, value in columns.items() if name not in _ZONE_NOTE})
    at = trigger.at if isinstance(trigger, AtTrigger) else None
    if not differing and (at is None or at == schedule.next_fire_at):
        return {}
    differing |= _differing(schedule, {name: columns[name] for name in _ZONE_NOTE})
    following = _following(replace(schedule, **columns, next_fire_at=at), at, now, default)
    return {**differing, "next_fire_at": following}


def _runs(schedule: ScheduleRecord, differing: Mapping[str, Any], *, limit_sent: bool) -> dict[str, Any]:
    """The run limit that goes with the trigger: a one-shot has one run, and another trigger does not keep that limit."""
    is_one_shot = differing.get("trigger_type", schedule.trigger_type) == "at"
    if is_one_shot and {"max_runs", "trigger_type"} & differing.keys():
        return {"max_runs": 1}
    was_one_shot = schedule.trigger_type == "at" and not is_one_shot
    return _differing(schedule, {"max_runs": None}) if was_one_shot and not limit_sent else {}


def _following(schedule: ScheduleRecord, at: float | None, now: float, default: Zone) -> float | None:
    try:
        following = first_fire(schedule, now, default)
    except CadenceError as error:
        raise ValidationFailure(trigger_failure(error)) from None
    if following is None and schedule.trigger_type != "github_poll":
        raise ValidationFailure(FieldFailure(("trigger",), "finished", "has no fire to come"))
    return at if at is not None else following if schedule.enabled else None


def _declaration(before: ScheduleRecord, after: ScheduleRecord) -> Mapping[str, object]:
    """The spelling as a member of a declaration, made anew: an export must not tell what was before (the peer's does)."""
    if before.managed_by == "declaration":
        return {}
    command = as_command(after)
    if before.managed_by == "cli":
        plain = dict.fromkeys(("spec_version", "managed_by", "authored_spec", "resolved_target", "resolved_digest"))
        return {**plain, **(declared_columns(command, by_command_line=True) if command is not None else plain_playbook(after))}
    return plain_playbook(after) if after.action_playbook_args != before.action_playbook_args else {}


def _differing(schedule: ScheduleRecord, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns whose value is not the stored one."""
    return {name: value for name, value in columns.items() if _in_record(name, value) != getattr(schedule, name)}


def _in_record(name: str, value: Any) -> Any:
    return tuple(value or ()) if name in _LISTS else value
