"""What may keep a due schedule from firing: pure verdicts, each with the evidence that it rests on.

The facts come from the store, so that a firing counts whoever launched it (lionagi 0.36 counts only its own).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from studio_tui.domain import stored_rules
from studio_tui.domain.schedules import ScheduleRecord

MISSED_GRACE: Final = 30.0
"""Seconds by which an instant may be late and still simply fire; beyond them it was missed and the policy decides."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one gate lets a firing through.

    ``reason_code`` is the registered code to record when it does not; ``None`` where nothing is recorded (the firing waits).
    ``words`` say it to a person either way; ``evidence`` holds the figures.
    """

    gate: str
    allowed: bool
    words: str
    reason_code: str | None = None
    evidence: Mapping[str, object] = field(default_factory=dict)


def missed(due_at: float, now: float) -> bool:
    """Whether a due instant (epoch seconds) has passed by more than the grace."""
    return now - due_at > MISSED_GRACE


def overlap(schedule: ScheduleRecord, running: int) -> Verdict:
    """Whether the schedule may fire beside ``running`` firings of its own that have not ended."""
    evidence = {"running": running, "policy": schedule.overlap_policy}
    if schedule.overlap_policy == "allow" or running == 0:
        words = "no firing of it runs" if running == 0 else f"{_count(running, 'firing')} of it running; overlap is allowed"
        return Verdict("overlap", True, words, None, evidence)
    words = f"still running: {_count(running, 'firing')} of it (overlap: skip)"
    return Verdict("overlap", False, words, "schedule.skipped.overlap", evidence)


def max_runs(schedule: ScheduleRecord, executed: int) -> Verdict:
    """Whether the schedule has runs left; ``executed`` are its depth-0 firings over its whole life."""
    cap = schedule.max_runs
    evidence = {"executed": executed, "max_runs": cap}
    if cap is None:
        return Verdict("max_runs", True, "no run cap", None, evidence)
    words = f"{executed} of {_count(cap, 'run')} used"
    if executed < cap:
        return Verdict("max_runs", True, words, None, evidence)
    return Verdict("max_runs", False, f"limit reached: {words}", "schedule_definition.disabled.max_runs", evidence)


def budget(schedule: ScheduleRecord, *, usd: float, tokens: int, unreported: int = 0) -> Verdict:
    """Whether the schedule has money and tokens left. Checked before a firing only; ``unreported`` runs count as nothing."""
    evidence: dict[str, object] = {"usd": usd, "tokens": tokens, "unreported": unreported}
    limits = []
    spent = False
    if schedule.budget_usd is not None:
        limits.append(f"${usd:.2f} of ${schedule.budget_usd:.2f} spent")
        spent = usd >= schedule.budget_usd
    if schedule.budget_tokens is not None:
        limits.append(f"{tokens} of {schedule.budget_tokens} tokens used")
        spent = spent or tokens >= schedule.budget_tokens
    if not limits:
        return Verdict("budget", True, "no budget", None, evidence)
    if unreported:
        limits.append(f"{_count(unreported, 'run')} reported no cost")
    words = ", ".join(limits)
    if not spent:
        return Verdict("budget", True, words, None, evidence)
    return Verdict("budget", False, f"budget used up: {words}", "schedule.budget.exhausted", evidence)


def rate_window(schedule: ScheduleRecord) -> tuple[int, int] | None:
    """``(max_fires, window in seconds)`` of a well-formed rate limit, else ``None``."""
    return stored_rules.rate_window(schedule.rate_limit)


def rate(schedule: ScheduleRecord, fired: int) -> Verdict:
    """Whether the schedule may fire again; ``fired`` are its depth-0 firings inside the window. A refusal only waits."""
    window = rate_window(schedule)
    evidence: dict[str, object] = {"fired": fired, "rate_limit": schedule.rate_limit}
    if window is None:
        return Verdict("rate", True, "no rate limit", None, evidence)
    words = f"{fired} of {window[0]} in {window[1]} s"
    if fired < window[0]:
        return Verdict("rate", True, words, None, evidence)
    return Verdict("rate", False, f"rate limit: {words}; waits", None, evidence)


def slots(limit: int, running: int) -> Verdict:
    """Whether one more firing fits; ``limit`` is how many may run at once in this store, 0 for no limit."""
    evidence = {"limit": limit, "running": running}
    if limit <= 0:
        return Verdict("slots", True, "no limit on firings at once", None, evidence)
    words = f"{running} of {_count(limit, 'slot')} taken"
    if running < limit:
        return Verdict("slots", True, words, None, evidence)
    return Verdict("slots", False, f"no free slot: {words}; waits", "schedule.deferred.capacity", evidence)


def unsupported(schedule: ScheduleRecord) -> str | None:
    """Why this version never fires the schedule, in words; ``None`` when it does. Nothing here looks at the trigger's values."""
    return "; ".join(map(str, stored_rules.stored_faults(schedule))) or None


def missing_action(schedule: ScheduleRecord) -> str | None:
    """What an action lacks to have anything to run, or ``None``."""
    column = stored_rules.missing_column(schedule)
    return None if column is None else stored_rules.nothing_to_run(schedule, column)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
