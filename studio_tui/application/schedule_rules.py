"""What a schedule must keep to when it is made or changed (lionagi 0.36, create rules, with the gaps of the peer closed).

Each rule yields the field it concerns, a stable code, and a sentence with what is allowed. Every broken rule is reported, so
that a form can mark all of its fields at once. Shapes, numbers and vocabularies are kept by the models already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from studio_tui.application.action_rules import action_failures
from studio_tui.application.errors import FieldFailure
from studio_tui.application.github_rules import cursor_failures, github_failures
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedules import AtTrigger, CreateSchedule, CronTrigger, GithubPollTrigger, Trigger
from studio_tui.application.moments import is_time
from studio_tui.application.wellformed import is_wellformed
from studio_tui.scheduler.contract import NAME_LIMIT, identifier_fault

DESCRIPTION_LIMIT: Final = 4_000
LARGEST_COUNT: Final = 2**53


def failures(command: CreateSchedule, facts: LaunchFacts, *, now: float) -> tuple[FieldFailure, ...]:
    """Every rule that ``command`` breaks; empty when it may be stored. The instants of its trigger are checked apart."""
    plain = {field: getattr(command, field) for field in PLAIN_RULES if field in CreateSchedule.model_fields}
    return (
        *plain_failures(plain),
        *trigger_failures(command.trigger, now),
        *action_failures(command.action, facts),
        *one_shot_failures(command.trigger, command.max_runs),
    )


def plain_failures(values: Mapping[str, Any]) -> Iterator[FieldFailure]:
    """Every rule that these fields break, each by itself."""
    for field, value in values.items():
        if value is not None:
            yield from PLAIN_RULES[field](value)


def trigger_failures(trigger: Trigger, now: float) -> Iterator[FieldFailure]:
    """Every rule that a trigger breaks but those of its calendar."""
    match trigger:
        case CronTrigger(expression=expression, timezone=zone):
            if not expression.strip():
                yield _wrong("expression", "empty", "give a cron expression such as 0 9 * * 1")
            if zone is not None and not zone.strip():
                yield _wrong("timezone", "empty", "give an IANA name such as Europe/Berlin, or leave the zone out")
        case AtTrigger(at=at):
            if not is_time(at):
                yield _wrong("at", "unusable", "is not an instant before the year 10000")
            elif at <= now:
                yield _wrong("at", "past", "that instant has passed; give one in the future")
        case GithubPollTrigger():
            yield from github_failures(trigger)


def one_shot_failures(trigger: Trigger | None, max_runs: int | None) -> Iterator[FieldFailure]:
    """A schedule that fires once has exactly one run."""
    if isinstance(trigger, AtTrigger) and max_runs not in (None, 1):
        yield FieldFailure(("max_runs",), "one_shot", "a schedule that fires once has exactly one run; leave it out")


def _name(name: str) -> Iterator[FieldFailure]:
    kept = name.strip()
    if not kept:
        yield FieldFailure(("name",), "empty", "give the schedule a name")
    elif len(kept) > NAME_LIMIT:
        yield FieldFailure(("name",), "too_long", f"{len(kept)} characters; at most {NAME_LIMIT} are allowed")
    elif not kept.isprintable():
        yield FieldFailure(("name",), "unprintable", "holds a character that cannot be shown; use letters, digits, blanks, signs")
    elif "/" in kept:
        yield FieldFailure(("name",), "declared", "names with / belong to declared sets (project/member); use another sign")


def _description(text: str) -> Iterator[FieldFailure]:
    if len(text) > DESCRIPTION_LIMIT:
        yield FieldFailure(("description",), "too_long", f"{len(text)} characters; at most {DESCRIPTION_LIMIT} are allowed")
    if not is_wellformed(text):
        yield FieldFailure(("description",), "not_text", "holds bytes that are no text")


def _project(project: str) -> Iterator[FieldFailure]:
    if project and (fault := identifier_fault(project)):
        yield FieldFailure(("project",), "unusable", fault)


def _budget(amount: float) -> Iterator[FieldFailure]:
    if not is_time(amount):
        yield FieldFailure(("budget_usd",), "unusable", "must be a finite amount of dollars above 0")


def _at_most(*path: str) -> Callable[[int], Iterator[FieldFailure]]:
    def rule(value: int) -> Iterator[FieldFailure]:
        if value > LARGEST_COUNT:
            yield FieldFailure(path, "too_large", f"at most {LARGEST_COUNT} is allowed")

    return rule


def _each(field: str, *keys: str) -> Callable[[Any], Iterator[FieldFailure]]:
    """The rule of the counts inside a field that is an object."""

    def rule(value: Any) -> Iterator[FieldFailure]:
        for key in keys:
            yield from _at_most(field, key)(getattr(value, key))

    return rule


def _wrong(field: str, code: str, message: str) -> FieldFailure:
    return FieldFailure(("trigger", field), code, message)


PLAIN_RULES: Final[Mapping[str, Callable[[Any], Iterator[FieldFailure]]]] = {
    "name": _name,
    "description": _description,
    "project": _project,
    "max_runs": _at_most("max_runs"),
    "budget_usd": _budget,
    "budget_tokens": _at_most("budget_tokens"),
    "rate_limit": _each("rate_limit", "max_fires", "window_sec"),
    "threshold_config": _each("threshold_config", "window_minutes"),
    "github_cursor": cursor_failures,
}
"""The rule of each field that can be judged alone."""
