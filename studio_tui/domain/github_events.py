"""Pull requests as events of a poll: which are new, in what order, and where the poll goes on (lionagi 0.36).

The bookmark of a poll is a text, ``2026-07-20T15:21:57Z`` or ``2026-07-20T15:21:57Z#0000000042``, and is compared as text: the
padded number tells events of one second apart, and a bare instant takes its whole second. It is stored by two programs, so the
spelling must be exactly this one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

EVENTS: Final = ("pr_merged", "pr_opened", "pr_updated", "pr_closed")
"""Only the first has a meaning of its own: the others look at the pull requests of the filter's ``state``, as none does."""

FILTER_KEYS: Final = ("state", "base", "draft", "event", "same_repo_only")
CURSOR_FORM: Final = "2026-07-20T15:21:57Z, then perhaps # and ten digits of a pull request's number"

EVENT_FIELDS: Final = (
    *("pr_number", "pr_title", "pr_url", "pr_author", "updated_at", "head_sha", "draft"),
    *("head_repo", "head_repo_is_fork", "is_same_repo", "pr_merged_at"),
)
"""What an event tells of its pull request, by the names that templates use; the last one only where merges are the events."""

PER_PAGE: Final = 100

_OWNER: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|-(?=[A-Za-z0-9])){0,38}\Z")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9._-]{1,100}\Z")
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z", re.ASCII)
_CURSOR: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)(?:#(\d{10}))?\Z", re.ASCII)
_LARGEST: Final = 10**10 - 1
_WHOLE_SECOND: Final = 10**10

Position = tuple[str, int]
"""An instant as GitHub spells it, and a number in it: where an event or a bookmark stands."""


class Unreadable(ValueError):
    """An answer that is no list of pull requests; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Event:
    """A pull request that is new to a poll. ``cursor`` is the bookmark behind it; one that a filter leaves out does not
    ``fire`` and is passed over."""

    fields: Mapping[str, object]
    cursor: str
    fires: bool

    @property
    def words(self) -> str:
        """Which one, for people."""
        return f"pull request {self.fields.get('pr_number')}"


def repository_fault(repository: str | None) -> str | None:
    """What is wrong with the name of a repository: it becomes part of an address."""
    owner, slash, name = (repository or "").partition("/")
    if slash and _OWNER.match(owner) and _REPOSITORY.match(name) and name not in (".", ".."):
        return None
    return "write it as owner/name, as GitHub spells it"


def cursor_fault(cursor: str | None) -> str | None:
    """What is wrong with a bookmark, or ``None``. One in another spelling would be passed over, or pass over everything."""
    if not cursor:
        return None
    found = _CURSOR.match(cursor)
    if found is None:
        return f"is no bookmark; allowed: {CURSOR_FORM}"
    try:
        datetime.strptime(found[1], "%Y-%m-%dT%H:%M:%SZ")
    except ValueError:
        return "names a day or a time that does not exist"
    return None


def position(cursor: str | None) -> Position | None:
    """Where a well-formed bookmark stands; ``None`` when nothing was ever seen."""
    if not cursor:
        return None
    instant, _, number = cursor.partition("#")
    return instant, int(number) if number else _WHOLE_SECOND


def bookmark(at: str, number: object) -> str:
    """The bookmark behind an event."""
    placed = _placed(number)
    return at if placed == _WHOLE_SECOND else f"{at}#{placed:010d}"


def is_merged_mode(filters: Mapping[str, object] | None) -> bool:
    """Whether the events are merges: then the instant of an event is that of the merge, not of the last change."""
    return (filters or {}).get("event") == "pr_merged"


def query_of(filters: Mapping[str, object] | None) -> dict[str, str]:
    """What a poll asks for: the newest changes first, a hundred a page."""
    chosen = filters or {}
    state = "closed" if is_merged_mode(chosen) else str(chosen.get("state") or "open")
    query = {"state": state, "sort": "updated", "direction": "desc", "per_page": str(PER_PAGE)}
    return {**query, "base": str(chosen["base"])} if chosen.get("base") else query


def checked_page(answer: object) -> list[Mapping[str, Any]]:
    """The pull requests of one page. Raises :class:`Unreadable` when it is no list of them, or one lacks what orders them."""
    if not isinstance(answer, list):
        raise Unreadable("the answer is no list of pull requests")
    for pull in answer:
        if not isinstance(pull, Mapping) or not _is_instant(pull.get("updated_at")):
            raise Unreadable("the answer holds something that is no pull request")
        if pull.get("merged_at") is not None and not _is_instant(pull["merged_at"]):
            raise Unreadable("a pull request names a time of its merge that is none")
    return answer


def needs_next_page(page: Sequence[Mapping[str, Any]], cursor: str | None, filters: Mapping[str, object] | None) -> bool:
    """Whether what is new may go on behind a page. Changes never end before a repository's first one, so without a bookmark only
    merges are looked for further back."""
    bound = position(cursor)
    if len(page) < PER_PAGE:
        return False
    if bound is None:
        return is_merged_mode(filters)
    oldest = str(page[-1]["updated_at"])
    return oldest > bound[0] if bound[1] == _WHOLE_SECOND else oldest >= bound[0]


def new_events(
    pulls: Iterable[Mapping[str, Any]],
    *,
    repository: str,
    filters: Mapping[str, object] | None,
    cursor: str | None,
    complete: bool,
) -> tuple[Event, ...]:
    """What stands behind the bookmark, oldest first.

    When merges are looked for and the scan is not ``complete``, those at or behind the oldest change that was seen are held
    back: an unseen one may have been merged before them, and the bookmark must not pass it.
    """
    chosen, merged = filters or {}, is_merged_mode(filters)
    listed = _each_once(pulls)
    floor = min((str(pull["updated_at"]) for pull in listed), default="") if merged and not complete else None
    bound = position(cursor)
    found = []
    for pull in listed:
        at = pull.get("merged_at") if merged else pull["updated_at"]
        if at is None or (bound is not None and (at, _placed(pull.get("number"))) <= bound):
            continue
        if floor is None or at < floor:
            found.append(_event(pull, str(at), repository, chosen))
    return tuple(sorted(found, key=lambda event: position(event.cursor) or ("", 0)))


def _each_once(pulls: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Pages shift while they are turned, so that one may repeat what the one before it ended with."""
    seen: dict[object, Mapping[str, Any]] = {}
    for place, pull in enumerate(pulls):
        number = pull.get("number")
        seen.setdefault(number if isinstance(number, int) else f"without a number {place}", pull)
    return list(seen.values())


def _event(pull: Mapping[str, Any], at: str, repository: str, filters: Mapping[str, object]) -> Event:
    head, head_repository = _part(pull, "head"), _part(_part(pull, "head"), "repo")
    draft, same = bool(pull.get("draft", False)), _is_same_repository(pull, repository)
    fields: dict[str, object] = {
        "pr_number": pull.get("number"),
        "pr_title": pull.get("title"),
        "pr_url": pull.get("html_url"),
        "pr_author": _part(pull, "user").get("login"),
        "updated_at": pull["updated_at"],
        "head_sha": head.get("sha"),
        "draft": draft,
        "head_repo": head_repository.get("full_name"),
        "head_repo_is_fork": bool(head_repository.get("fork", False)),
        "is_same_repo": same,
    }
    if is_merged_mode(filters):
        fields["pr_merged_at"] = at
    wanted = filters.get("draft")
    left_out = (isinstance(wanted, bool) and draft is not wanted) or (filters.get("same_repo_only") is True and not same)
    return Event(fields, bookmark(at, pull.get("number")), not left_out)


def _is_same_repository(pull: Mapping[str, Any], repository: str) -> bool:
    """Whether the change comes from the repository itself; unknown (the fork was deleted) is no: its text is a stranger's."""
    head, base = (_part(_part(pull, side), "repo") for side in ("head", "base"))
    if head.get("id") is not None and base.get("id") is not None:
        return bool(head["id"] == base["id"])
    name = head.get("full_name")
    return isinstance(name, str) and name.casefold() == repository.casefold()


def _placed(number: object) -> int:
    """The number that a bookmark carries for an event; one that has none takes the whole second."""
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        return _WHOLE_SECOND
    return min(number, _LARGEST)


def _part(mapping: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = mapping.get(key)
    return found if isinstance(found, Mapping) else {}


def _is_instant(value: object) -> bool:
    return isinstance(value, str) and _INSTANT.match(value) is not None
