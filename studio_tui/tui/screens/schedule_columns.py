"""How a schedule and a firing are written in one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from studio_tui.application.models.schedules import Firing, ScheduleSummary
from studio_tui.tui import format as fmt
from studio_tui.tui.statuses import STATE_WIDTH, Span, reason_token, state_cell, state_glyph
from studio_tui.tui.widgets.columns import Cell, Column

_HEALTH: Final = {"healthy": "ok", "disabled": "mute", "never-fired": "soft", "failing": "bold fail", "overdue": "bold warn"}


def schedule_columns(now: Callable[[], float], ascii_only: Callable[[], bool]) -> Sequence[Column[ScheduleSummary]]:
    """The columns of the list of schedules."""
    return (
        Column("state", lambda row: state_cell(row.state, ascii_only()), 8),
        Column("name", lambda row: (row.name, "ink"), 18, max_width=30, lead=True),
        Column("trigger", lambda row: (row.trigger, "soft"), 16, max_width=28, priority=2),
        Column("zone", zone_cell, 10, max_width=16, priority=3),
        Column("next", lambda row: next_cell(row, now()), 8, align="right"),
        Column("last ten", lambda row: outcomes_cell(row, ascii_only()), 10, priority=1),
        Column("health", health_cell, 11, max_width=14),
        Column("runs", action_cell, 10, fill=True, priority=4),
    )


def firing_columns(now: Callable[[], float], ascii_only: Callable[[], bool]) -> Sequence[Column[Firing]]:
    """The columns of a schedule's history."""
    return (
        Column("state", lambda row: state_cell(row.state, ascii_only()), STATE_WIDTH),
        Column("fired", lambda row: (_fired(row, now()), "ink"), 12, lead=True),
        Column("took", lambda row: (firing_took(row, now()), "ink"), 7, align="right"),
        Column("exit", lambda row: _exit(row), 4, align="right", priority=1),
        Column("by", lambda row: (row.trigger, "soft"), 9, max_width=14, priority=3),
        Column("reason or output", firing_why, 12, fill=True),
    )


def next_words(at: float | None, now: float) -> str:
    """A countdown in whole minutes, so that a still screen stays still; the seconds would write to the terminal all day."""
    if at is None:
        return fmt.NONE
    left = at - now
    if left <= 0:
        return "due" if left > -60 else f"{fmt.one_unit(-left)} late"
    return "<1m" if left < 60 else fmt.countdown(now + left // 60 * 60, now)


def next_cell(row: ScheduleSummary, now: float) -> Span:
    """The countdown; an instant that passed without a fire is said, and one that is off has none."""
    if not row.enabled or row.next_fire_at is None:
        return (fmt.NONE, "faint")
    return (next_words(row.next_fire_at, now), "warn" if row.next_fire_at <= now - 60 else "ink")


def zone_cell(row: ScheduleSummary) -> Span:
    """The city of the zone, with a warning where nobody chose it."""
    if row.zone is None:
        return (fmt.NONE, "faint")
    city = row.zone.rpartition("/")[2].replace("_", " ")
    return (f"{city} !", "warn") if (row.zone_source or "").startswith("fallback:") else (city, "soft")


def outcomes_cell(row: ScheduleSummary, ascii_only: bool) -> Cell:
    """The last ten, oldest first."""
    if not row.outcomes:
        return (fmt.NONE, "faint")
    return tuple(state_glyph(word, ascii_only) for word in row.outcomes[-10:])


def health_cell(row: ScheduleSummary) -> Span:
    """What is wrong first: broken, held up, then the health word with its streak."""
    if row.problems:
        return ("cannot fire", "bold fail")
    if row.blocked:
        return ("in trouble", "warn")
    if row.running:
        return (f"{row.running} running", "bold run")
    streak = f" ×{row.consecutive_failures}" if row.consecutive_failures > 1 else ""
    return (f"{row.health.replace('-', ' ')}{streak}", _HEALTH.get(row.health, "soft"))


def action_cell(row: ScheduleSummary) -> Span:
    """What it runs, or why it does not."""
    if row.problems:
        return (row.problems[0], "fail")
    return (row.blocked, "warn") if row.blocked else (row.action, "soft")


def _fired(row: Firing, now: float) -> str:
    if row.fired_at is None:
        return fmt.NONE
    today = fmt.when(row.fired_at, now)
    return fmt.seconds(row.fired_at) if ":" in today else f"{today} {fmt.clock(row.fired_at)}"


def firing_took(row: Firing, now: float) -> str:
    """How long it took, or how long it has been running in whole minutes."""
    if row.status == "running":
        up = now - (row.fired_at if row.fired_at is not None else now)
        return "+" + (fmt.one_unit(up) if up >= 60 else "<1m")
    return fmt.NONE if row.state == "SKIP" else fmt.duration(row.duration)


def _exit(row: Firing) -> Span:
    if row.exit_code is None:
        return (fmt.NONE, "faint")
    return (str(row.exit_code), "ink" if row.exit_code == 0 else "fail")


def firing_why(row: Firing) -> Span:
    """The reason where it did not end well, else the last line of its output."""
    if row.state not in ("OK", "RUN") and row.reason:
        return (row.reason, reason_token(row.state))
    lines = (row.output_tail or "").strip().splitlines()
    return (lines[-1], "soft") if lines else (row.reason if row.state != "OK" else "", "soft")
