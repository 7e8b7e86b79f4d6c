"""The trigger of a declared member: as it is resolved, as its columns hold it, and what is wrong with it (lionagi 0.36)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from studio_tui.application.errors import FieldFailure
from studio_tui.application.github_rules import github_failures
from studio_tui.application.models.schedules import GithubPollTrigger
from studio_tui.application.models.set_document import MemberTrigger
from studio_tui.application.moments import is_time
from studio_tui.domain.cadence import CadenceError, first_fire, warnings
from studio_tui.domain.schedules import ScheduleRecord, Zone

LONGEST_INTERVAL: Final = 30 * 86_400
POLL_DEFAULT: Final = 300
"""Seconds between two polls of a declared trigger, which cannot name others."""

_EVERY: Final = re.compile(r"([0-9]{1,9})([smhd])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_FIELDS: Final = {
    "cron_expr": ("cron", "expression"),
    "resolved_timezone": ("cron", "timezone"),
    "timezone": ("cron", "timezone"),
    "interval_sec": ("every",),
    "next_fire_at": ("at",),
}
_GITHUB: Final = {"repository": ("github", "repo"), "filters": ("github", "filter")}


@dataclass(frozen=True, slots=True)
class ResolvedTrigger:
    """``resolved`` enters the digest; ``columns`` are those of the schedule, all kinds of trigger included."""

    resolved: Mapping[str, Any]
    columns: Mapping[str, Any]


def resolve_trigger(trigger: MemberTrigger) -> ResolvedTrigger | FieldFailure:
    """What a trigger comes to. Its instants are checked by :func:`calendar_failures`."""
    if trigger.cron is not None:
        spelt = {"expression": trigger.cron.expression, "timezone": trigger.cron.timezone}
        columns = {"trigger_type": "cron", "cron_expr": spelt["expression"], "resolved_timezone": spelt["timezone"]}
        return ResolvedTrigger({"kind": "cron", **spelt}, columns)
    if trigger.every is not None:
        seconds = _interval(trigger.every)
        if seconds is None:
            message = f"{trigger.every[:40]!r} is no length of time; allowed: a whole number with s, m, h or d, from 1s to 30d"
            return _wrong("every", code="invalid", message=message)
        resolved = {"kind": "every", "interval_sec": seconds, "raw": trigger.every}
        return ResolvedTrigger(resolved, {"trigger_type": "interval", "interval_sec": seconds})
    if trigger.at is not None:
        when = _instant(trigger.at)
        if when is None:
            example = "2026-07-15T09:00:00-04:00"
            message = f"{trigger.at[:40]!r} is no instant; allowed: a date, T, a time and the offset from UTC, such as {example}"
            return _wrong("at", code="invalid", message=message)
        epoch = when.timestamp()
        resolved = {"kind": "at", "at": when.isoformat(), "epoch": epoch}
        return ResolvedTrigger(resolved, {"trigger_type": "at", "next_fire_at": epoch})
    poll = trigger.github
    assert poll is not None  # one of the four is there
    return ResolvedTrigger(
        {"kind": "github", "repo": poll.repo, "filter": poll.filter},
        {"trigger_type": "github_poll", "github_repo": poll.repo, "github_filter": poll.filter},
    )


def calendar_failures(trigger: MemberTrigger, record: ScheduleRecord, now: float, default: Zone) -> Iterator[FieldFailure]:
    """What is wrong with the values of a resolved trigger. A one-shot may lie in the past: a set is applied again and again."""
    if trigger.github is not None:
        repo = trigger.github.repo
        spelt = GithubPollTrigger(repository=repo, poll_interval_seconds=POLL_DEFAULT, filters=trigger.github.filter or {})
        for fault in github_failures(spelt):
            yield _wrong(*_GITHUB[str(fault.path[1])], *map(str, fault.path[2:]), code=fault.code, message=fault.message)
        return
    try:
        following = first_fire(record, now, default)
    except CadenceError as error:
        yield _wrong(*_FIELDS.get(error.field, ()), code="invalid", message=str(error))
        return
    if trigger.cron is not None and not trigger.cron.timezone.strip():
        yield _wrong("cron", "timezone", code="empty", message="give an IANA name such as Europe/Berlin")
    if following is None and trigger.at is None:
        yield _wrong(code="finished", message="has no fire to come")


def trigger_remarks(record: ScheduleRecord, now: float, default: Zone) -> tuple[str, ...]:
    """What an author should know about a sound trigger."""
    if record.trigger_type == "at" and record.next_fire_at is not None and record.next_fire_at <= now:
        return ("its instant has passed",)
    return warnings(record, now, default)


def _interval(text: str) -> int | None:
    found = _EVERY.fullmatch(text.strip())
    seconds = int(found[1]) * _SECONDS[found[2]] if found is not None else 0
    return seconds if 1 <= seconds <= LONGEST_INTERVAL else None


def _instant(text: str) -> datetime | None:
    written = text.strip()
    try:
        when = datetime.fromisoformat(written)
        usable = written[10:11] in ("T", "t") and when.utcoffset() is not None and is_time(when.timestamp())
    except (ValueError, OverflowError):
        return None
    return when if usable else None


def _wrong(*path: str, code: str, message: str) -> FieldFailure:
    return FieldFailure(("trigger", *path), code, message)
