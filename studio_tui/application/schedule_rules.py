"""What a new schedule must keep to (lionagi 0.36, create rules, with the gaps of the peer closed).

Each rule yields the field it concerns, a stable code, and a sentence with what is allowed. Every broken rule is reported, so
that a form can mark all of its fields at once. Shapes, numbers and vocabularies are kept by the models already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from studio_tui.application.action_rules import action_failures
from studio_tui.application.errors import FieldFailure
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedules import AtTrigger, CreateSchedule, CronTrigger, GithubPollTrigger, IntervalTrigger
from studio_tui.application.moments import is_time
from studio_tui.application.wellformed import is_wellformed
from studio_tui.scheduler.contract import NAME_LIMIT, identifier_fault

DESCRIPTION_LIMIT: Final = 4_000
LARGEST_COUNT: Final = 2**53

_OWNER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}\Z")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}\Z")
_FILTER_KEYS: Final = ("state", "base", "draft", "event", "same_repo_only")
_EVENTS: Final = ("pr_merged", "pr_opened", "pr_updated", "pr_closed")


def failures(command: CreateSchedule, facts: LaunchFacts, *, now: float) -> tuple[FieldFailure, ...]:
    """Every rule that ``command`` breaks; empty when it may be stored. The instants of its trigger are checked apart."""
    return (
        *_name(command.name),
        *_description(command.description),
        *_project(command.project),
        *_trigger(command, now),
        *action_failures(command.action, facts),
        *_limits(command),
    )


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


def _description(text: str | None) -> Iterator[FieldFailure]:
    if text is None:
        return
    if len(text) > DESCRIPTION_LIMIT:
        yield FieldFailure(("description",), "too_long", f"{len(text)} characters; at most {DESCRIPTION_LIMIT} are allowed")
    if not is_wellformed(text):
        yield FieldFailure(("description",), "not_text", "holds bytes that are no text")


def _project(project: str | None) -> Iterator[FieldFailure]:
    if project and (fault := identifier_fault(project)):
        yield FieldFailure(("project",), "unusable", fault)


def _trigger(command: CreateSchedule, now: float) -> Iterator[FieldFailure]:
    match command.trigger:
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
            if command.max_runs not in (None, 1):
                yield FieldFailure(("max_runs",), "one_shot", "a schedule that fires once has exactly one run; leave it out")
        case GithubPollTrigger():
            yield from _github(command.trigger)
        case IntervalTrigger():
            pass  # its bounds are checked with its instants


def _github(trigger: GithubPollTrigger) -> Iterator[FieldFailure]:
    owner, slash, repository = trigger.repository.partition("/")
    if not slash or not _OWNER.match(owner) or not _REPOSITORY.match(repository) or repository in (".", ".."):
        yield _wrong("repository", "unusable", "write it as owner/name, as GitHub spells it")
    for key, value in trigger.filters.items():
        path = ("trigger", "filters", key)
        if key not in _FILTER_KEYS:
            yield FieldFailure(path, "unknown", f"is not a filter; allowed: {', '.join(_FILTER_KEYS)}")
        elif key == "event" and value not in (None, *_EVENTS):
            yield FieldFailure(path, "unknown", f"is not an event; allowed: {', '.join(_EVENTS)}")
        elif key in ("draft", "same_repo_only") and not isinstance(value, bool):
            yield FieldFailure(path, "not_a_switch", "must be true or false")
        elif key in ("state", "base") and not isinstance(value, str):
            yield FieldFailure(path, "not_text", "must be text")


def _limits(command: CreateSchedule) -> Iterator[FieldFailure]:
    if command.budget_usd is not None and not is_time(command.budget_usd):
        yield FieldFailure(("budget_usd",), "unusable", "must be a finite amount of dollars above 0")
    for field, value in (("max_runs", command.max_runs), ("budget_tokens", command.budget_tokens)):
        if value is not None and value > LARGEST_COUNT:
            yield FieldFailure((field,), "too_large", f"at most {LARGEST_COUNT} is allowed")


def _wrong(field: str, code: str, message: str) -> FieldFailure:
    return FieldFailure(("trigger", field), code, message)
