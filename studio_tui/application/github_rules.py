"""What the trigger on a GitHub repository must keep to (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Iterator

from studio_tui.application.errors import FieldFailure
from studio_tui.application.models.schedules import GithubPollTrigger
from studio_tui.domain.github_events import CURSOR_FORM, EVENTS, FILTER_KEYS, cursor_fault, repository_fault


def github_failures(trigger: GithubPollTrigger) -> Iterator[FieldFailure]:
    """Every rule that a trigger on a repository breaks."""
    if fault := repository_fault(trigger.repository):
        yield FieldFailure(("trigger", "repository"), "unusable", fault)
    for key, value in trigger.filters.items():
        path = ("trigger", "filters", key)
        if key not in FILTER_KEYS:
            yield FieldFailure(path, "unknown", f"is not a filter; allowed: {', '.join(FILTER_KEYS)}")
        elif key == "event" and value not in (None, *EVENTS):
            yield FieldFailure(path, "unknown", f"is not an event; allowed: {', '.join(EVENTS)}")
        elif key in ("draft", "same_repo_only") and not isinstance(value, bool):
            yield FieldFailure(path, "not_a_switch", "must be true or false")
        elif key in ("state", "base") and not isinstance(value, str):
            yield FieldFailure(path, "not_text", "must be text")


def cursor_failures(cursor: str | None) -> Iterator[FieldFailure]:
    """What is wrong with the bookmark of a poll. It is compared as text, so that only the poller's own spelling will do."""
    fault = f"is no bookmark; allowed: {CURSOR_FORM}" if cursor == "" else cursor_fault(cursor)
    if fault is not None:
        yield FieldFailure(("github_cursor",), "no_date" if "does not exist" in fault else "unusable", fault)
