"""Between the fields of the schedule form and the commands: what is typed, what that means, and what of it changed."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Set
from datetime import datetime
from typing import Any, Final

from studio_tui.application.durations import parse_duration, short_duration
from studio_tui.application.errors import ValidationFailure
from studio_tui.application.models.schedules import (
    AtTrigger,
    CreateSchedule,
    CronTrigger,
    IntervalTrigger,
    ScheduleAction,
    ScheduleDefinition,
    SchedulePatch,
    Trigger,
)
from studio_tui.tui.widgets.form import FormField

FIELDS: Final = (
    FormField("name", "name", hint="nightly-backup"),
    FormField("trigger", "fires", choices=("every", "cron", "at")),
    FormField("seconds", "every", hint="30s, 15m, 1h, 7d"),
    FormField("expression", "cron", hint="0 2 * * *"),
    FormField("timezone", "zone", hint="Europe/Berlin; empty: the host's"),
    FormField("at", "at", hint="2026-12-24 18:00, in this machine's zone"),
    FormField("action", "runs", choices=("command", "agent", "play", "flow")),
    FormField("command", "command", hint="executable and arguments, quoted as in a shell"),
    FormField("agent", "agent", hint="name of an agent"),
    FormField("playbook", "playbook", hint="name of a playbook"),
    FormField("model", "model", hint="provider/model"),
    FormField("prompt", "prompt", hint="what it is asked to do"),
    FormField("cwd", "directory", hint="absolute path"),
    FormField("overlap_policy", "overlap", choices=("skip", "allow")),
    FormField("missed_fire_policy", "missed", choices=("skip", "run_once")),
    FormField("max_runs", "at most", hint="number of runs; empty: no limit"),
)
_ALWAYS: Final = frozenset({"name", "trigger", "action", "cwd", "overlap_policy", "missed_fire_policy", "max_runs"})
_OF_TRIGGER: Final = {"every": {"seconds"}, "cron": {"expression", "timezone"}, "at": {"at"}}
_OF_ACTION: Final = {
    "command": {"command"},
    "agent": {"agent", "model", "prompt"},
    "play": {"playbook", "prompt"},
    "flow": {"model", "prompt"},
}
_TRIGGER: Final = {"trigger", "seconds", "expression", "timezone", "at"}
_ACTION: Final = {"action", "command", "agent", "playbook", "model", "prompt", "cwd"}
_KINDS: Final = {"interval": "every"}
"""Kinds of triggers that the form calls something else."""


def needed(values: Mapping[str, str]) -> frozenset[str]:
    """The fields that the chosen kinds need. A stored kind that the form does not know has only the ones that all have."""
    return _ALWAYS | _OF_TRIGGER.get(values["trigger"], set()) | _OF_ACTION.get(values["action"], set())


def values_of(stored: ScheduleDefinition, *, trigger_type: str, action_kind: str) -> dict[str, str]:
    """A stored schedule as the form shows it."""
    values = {
        "name": stored.name,
        "trigger": _KINDS.get(trigger_type, trigger_type),
        "action": action_kind,
        "overlap_policy": stored.overlap_policy,
        "missed_fire_policy": stored.missed_fire_policy,
        "max_runs": str(stored.max_runs) if stored.max_runs is not None and trigger_type != "at" else "",
    }
    match stored.trigger:
        case IntervalTrigger(seconds=seconds):
            values["seconds"] = short_duration(seconds)
        case CronTrigger(expression=expression, timezone=zone):
            values |= {"expression": expression, "timezone": zone or ""}
        case AtTrigger(at=at):
            values["at"] = datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    action = stored.action
    if action is not None:
        values |= {name: getattr(action, name) or "" for name in ("agent", "playbook", "model", "prompt", "cwd")}
        values["command"] = shlex.join((action.command, *action.command_args)) if action.command else ""
    return values


def filled(values: Mapping[str, str]) -> tuple[FormField, ...]:
    """The fields with these values in them. A stored kind that the form cannot make is offered beside the others."""
    return tuple(_filled(field, values.get(field.name, "")) for field in FIELDS)


def _filled(field: FormField, value: str) -> FormField:
    more = (value,) if field.choices and value not in field.choices else ()
    return FormField(field.name, field.label, value, field.hint, (*field.choices, *more))


def command_of(values: Mapping[str, str]) -> CreateSchedule:
    """What the form's values mean. Raises :class:`ValidationFailure` naming the field."""
    return CreateSchedule(
        name=values["name"].strip(),
        trigger=trigger_of(values),
        action=action_of(values),
        overlap_policy="allow" if values["overlap_policy"] == "allow" else "skip",
        missed_fire_policy="run_once" if values["missed_fire_policy"] == "run_once" else "skip",
        max_runs=_limit(values),
    )


def patch_of(values: Mapping[str, str], before: Mapping[str, str]) -> SchedulePatch:
    """What was changed in the form, and nothing else. Raises :class:`ValidationFailure` naming the field."""
    changed = {name for name, value in values.items() if value != before.get(name, "")}
    plain: dict[str, Any] = {name: values[name] for name in ("overlap_policy", "missed_fire_policy") if name in changed}
    if "name" in changed:
        plain["name"] = values["name"].strip()
    if "max_runs" in changed:
        plain["max_runs"] = _limit(values)
    if changed & _TRIGGER:
        plain["trigger"] = trigger_of(values)
    if changed & _ACTION:
        plain["action"] = _changed_action(values, changed & _ACTION)
    return SchedulePatch(**plain)


def trigger_changed(values: Mapping[str, str], before: Mapping[str, str]) -> bool:
    """Whether anything of the trigger was changed in the form."""
    return any(values[name] != before.get(name, "") for name in _TRIGGER & values.keys())


def trigger_of(values: Mapping[str, str]) -> Trigger:
    """The trigger that the values spell."""
    if values["trigger"] == "cron":
        return CronTrigger(expression=values.get("expression", ""), timezone=values.get("timezone", "").strip() or None)
    if values["trigger"] == "at":
        return AtTrigger(at=_instant(values.get("at", "")))
    try:
        return IntervalTrigger(seconds=parse_duration(values.get("seconds", "")))
    except ValueError as error:
        raise ValidationFailure.of("seconds", "duration", str(error)) from None


def action_of(values: Mapping[str, str]) -> ScheduleAction:
    """The action that the values spell."""
    return _action(values, _OF_ACTION[values["action"]] | {"cwd"})


def _changed_action(values: Mapping[str, str], changed: Set[str]) -> ScheduleAction:
    """Of the same kind, only what was changed: what the form does not show stays as it is."""
    return action_of(values) if "action" in changed else _action(values, changed)


def _action(values: Mapping[str, str], names: Set[str]) -> ScheduleAction:
    sent: dict[str, Any] = {name: values.get(name, "").strip() or None for name in names - {"command"}}
    if "command" in names:
        executable, *arguments = _words(values.get("command", ""))
        sent |= {"command": executable, "command_args": tuple(arguments)}
    return ScheduleAction(kind=values["action"], **sent)


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        raise ValidationFailure.of("command", "quotes", "has a quote that is not closed") from None
    if not words:
        raise ValidationFailure.of("command", "required", "name an executable, and its arguments after it")
    return words


def _limit(values: Mapping[str, str]) -> int | None:
    text = values.get("max_runs", "").strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) < 1:
        raise ValidationFailure.of("max_runs", "number", "is a whole number of at least 1, or empty for no limit")
    return int(text)


def _instant(text: str) -> float:
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise ValidationFailure.of("at", "instant", "is a date and a time such as 2026-12-24 18:00") from None
