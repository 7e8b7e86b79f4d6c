"""A small form for a new schedule: what fires, when, and what it may do."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from textual import on

from studio_tui.application.durations import parse_duration
from studio_tui.application.errors import StudioApplicationError, ValidationFailure
from studio_tui.application.models.schedules import (
    AtTrigger,
    CadenceQuery,
    CreateSchedule,
    CronTrigger,
    IntervalTrigger,
    ScheduleAction,
    ScheduleResult,
)
from studio_tui.tui.screens.dialogs import FormDialog, Words
from studio_tui.tui.widgets.form import Form, FormField

if TYPE_CHECKING:
    from studio_tui.application.studio import Studio

_FIELDS: Final = (
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
_ALWAYS: Final = {"name", "trigger", "action", "cwd", "overlap_policy", "missed_fire_policy", "max_runs"}
_OF_TRIGGER: Final = {"every": {"seconds"}, "cron": {"expression", "timezone"}, "at": {"at"}}
_OF_ACTION: Final = {
    "command": {"command"},
    "agent": {"agent", "model", "prompt"},
    "play": {"playbook", "prompt"},
    "flow": {"model", "prompt"},
}


class ScheduleForm(FormDialog[ScheduleResult]):
    """Makes a schedule; the next fires are shown while its trigger is typed."""

    DEFAULT_CSS = "ScheduleForm > .dialog { width: 78; max-width: 100%; }"

    def __init__(self, studio: Studio) -> None:
        super().__init__("new schedule", _FIELDS)
        self._studio = studio

    def on_mount(self) -> None:
        """Only the fields that the chosen kinds need."""
        super().on_mount()
        self._show_needed()

    @on(Form.Changed)
    def _kinds_changed(self) -> None:
        self._show_needed()

    def _show_needed(self) -> None:
        values = self.form.values
        needed = _ALWAYS | _OF_TRIGGER[values["trigger"]] | _OF_ACTION[values["action"]]
        self.form.show_fields(frozenset(needed))

    async def submit(self, values: Mapping[str, str]) -> ScheduleResult:
        """Make it."""
        return await self._studio.schedules.create_schedule(command_of(values))

    def preview(self, values: Mapping[str, str]) -> Words:
        """The trigger in words and its next fires, or what is wrong with it."""
        try:
            trigger = trigger_of(values)
            cadence = self._studio.schedules.cadence(CadenceQuery(trigger=trigger, count=3))
        except ValidationFailure as failure:
            return [[(failure.field_errors[0].message, "faint")]]
        except StudioApplicationError as error:
            return [[(str(error), "warn")]]
        zone = f"  in {cadence.zone}" if cadence.zone else ""
        fires = "   ".join(fire.local for fire in cadence.fires) or "never"
        return [
            [(f"{cadence.words}{zone}", "ink")],
            [(f"next: {fires}", "soft")],
            *([(one, "warn")] for one in cadence.warnings[:2]),
        ]


def command_of(values: Mapping[str, str]) -> CreateSchedule:
    """What the form's values mean. Raises :class:`ValidationFailure` naming the field."""
    limit = values.get("max_runs", "").strip()
    return CreateSchedule(
        name=values["name"].strip(),
        trigger=trigger_of(values),
        action=action_of(values),
        overlap_policy="allow" if values["overlap_policy"] == "allow" else "skip",
        missed_fire_policy="run_once" if values["missed_fire_policy"] == "run_once" else "skip",
        max_runs=_whole(limit) if limit else None,
    )


def trigger_of(values: Mapping[str, str]) -> CronTrigger | IntervalTrigger | AtTrigger:
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

    def given(name: str) -> str | None:
        return values.get(name, "").strip() or None

    cwd = given("cwd")
    match values["action"]:
        case "command":
            executable, *arguments = _words(values.get("command", ""))
            return ScheduleAction(kind="command", command=executable, command_args=tuple(arguments), cwd=cwd)
        case "agent":
            return ScheduleAction(kind="agent", agent=given("agent"), model=given("model"), prompt=given("prompt"), cwd=cwd)
        case "play":
            return ScheduleAction(kind="play", playbook=given("playbook"), prompt=given("prompt"), cwd=cwd)
        case _:
            return ScheduleAction(kind="flow", model=given("model"), prompt=given("prompt"), cwd=cwd)


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        raise ValidationFailure.of("command", "quotes", "has a quote that is not closed") from None
    if not words:
        raise ValidationFailure.of("command", "required", "name an executable, and its arguments after it")
    return words


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ValidationFailure.of("max_runs", "number", "is a whole number of at least 1, or empty for no limit")
    return int(text)


def _instant(text: str) -> float:
    try:
        return datetime.fromisoformat(text.strip()).astimezone().timestamp()
    except ValueError:
        raise ValidationFailure.of("at", "instant", "is a date and a time such as 2026-12-24 18:00") from None
