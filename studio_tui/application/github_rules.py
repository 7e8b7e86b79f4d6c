"""What the trigger on a GitHub repository must keep to (lionagi 0.36)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from studio_tui.application.errors import FieldFailure
from studio_tui.application.models.schedules import GithubPollTrigger

_OWNER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}\Z")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}\Z")
_CURSOR: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:#\d{10})?\Z", re.ASCII)
_FILTER_KEYS: Final = ("state", "base", "draft", "event", "same_repo_only")
_EVENTS: Final = ("pr_merged", "pr_opened", "pr_updated", "pr_closed")


def github_failures(trigger: GithubPollTrigger) -> Iterator[FieldFailure]:
    """Every rule that a trigger on a repository breaks."""
    owner, slash, repository = trigger.repository.partition("/")
    if not slash or not _OWNER.match(owner) or not _REPOSITORY.match(repository) or repository in (".", ".."):
        yield FieldFailure(("trigger", "repository"), "unusable", "write it as owner/name, as GitHub spells it")
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


def cursor_failures(cursor: str | None) -> Iterator[FieldFailure]:
    """What is wrong with the bookmark of a poll. It is compared as text, so that only the poller's own spelling will do."""
    if cursor is None:
        return
    found = _CURSOR.match(cursor)
    if found is None:
        form = "2026-07-20T15:21:57Z, then perhaps # and ten digits of a pull request's number"
        yield FieldFailure(("github_cursor",), "unusable", f"is no bookmark; allowed: {form}")
        return
    try:
        datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        yield FieldFailure(("github_cursor",), "no_date", "names a day or a time that does not exist")
