"""How the polls of a schedule on GitHub do, in words, from what its row says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from studio_tui.domain.durations import format_duration
from studio_tui.domain.gates import Verdict
from studio_tui.domain.github_events import position
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.triggers import instant_of

_AHEAD: Final = 86_400.0
"""Seconds by which GitHub's clock and ours never differ: a bookmark further ahead was put there by hand."""


def poll_trouble(schedule: ScheduleRecord, now: float) -> str | None:
    """Why events of the repository may not fire, or ``None``: the token, an event in the way, a bookmark in the future."""
    if schedule.trigger_type != "github_poll":
        return None
    if count := schedule.poller_consecutive_401:
        return f"GitHub did not accept the token, {_times(count)}{' in a row' if count > 1 else ''} (401)"
    if count := schedule.predispatch_refusal_count:
        return f"the event at {schedule.predispatch_refusal_event} was refused before launch {_times(count)}; see its firings"
    bound = position(schedule.github_cursor)
    if bound is not None and _instant(bound[0]) > now + _AHEAD:
        return f"its bookmark lies in the future: nothing is new before {schedule.github_cursor}"
    return None


def polled(schedule: ScheduleRecord, now: float, said: str | None) -> Verdict:
    """Whether the next poll may find something; ``said`` is what the host says of the last one."""
    following, healthy = instant_of(schedule.next_fire_at), instant_of(schedule.last_healthy_poll_at)
    evidence = {
        "next_fire_at": following,
        "last_healthy_poll_at": healthy,
        "poller_consecutive_401": schedule.poller_consecutive_401,
        "github_cursor": schedule.github_cursor,
    }
    trouble = said or poll_trouble(schedule, now)
    when = "at once" if following is None or following <= now else f"in {_span(following - now)}"
    last = "never answered" if healthy is None else f"last answered {_span(now - healthy)} ago"
    words = f"GitHub is asked {when}, {last}; each new event fires"
    return Verdict("due", trouble is None, words if trouble is None else f"{trouble} ({last})", None, evidence)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _span(seconds: float) -> str:
    return format_duration(max(1, round(seconds)))


def _instant(text: str) -> float:
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0
