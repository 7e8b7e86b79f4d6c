"""How runs and schedules do: health from evidence and a clock reading, and the state words (rules of lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from studio_tui.domain.cadence import CadenceError, next_fire
from studio_tui.domain.outcomes import HasOutcome
from studio_tui.domain.runs import RunRecord, effective_status
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.statuses import EXECUTED, StateWord
from studio_tui.domain.triggers import poll_interval_of

IDLE_AFTER: Final = 3_600.0
"""Seconds without a sign of life after which a running run is idle."""

_DEFAULT_STALE_AFTER: Final = 6 * 3_600.0
_STALE_AFTER: Final = MappingProxyType(dict.fromkeys(("flow", "fanout", "show-play", "engine"), 12 * 3_600.0))

OVERDUE_GRACE: Final = 300.0
"""Seconds by which a schedule may be late before it is overdue."""

STREAK_LIMIT: Final = 50
"""A failure streak is counted up to here."""

_FAILURES: Final = frozenset({"failed", "timed_out"})
_GONE_CODES: Final = ("session.phantom.", "session.zombie.", "session.orphaned.")

_RUN_WORDS: Final = MappingProxyType(
    {
        "completed": StateWord.OK,
        "completed_empty": StateWord.EMPTY,
        "failed": StateWord.FAIL,
        "timed_out": StateWord.TIME,
        "aborted": StateWord.ABORTED,
        "cancelled": StateWord.CANCELLED,
    }
)
_FIRING_WORDS: Final = MappingProxyType(
    {
        "queued": StateWord.QUEUED,
        "waiting_dependency": StateWord.WAIT,
        "running": StateWord.RUN,
        "retry_wait": StateWord.WAIT,
        "completed": StateWord.OK,
        "failed": StateWord.FAIL,
        "timed_out": StateWord.TIME,
        "skipped": StateWord.SKIP,
        "cancelled": StateWord.CANCELLED,
    }
)
_PLAY_WORDS: Final = MappingProxyType(
    {
        "pending": StateWord.WAIT,
        "prepared": StateWord.QUEUED,
        "running": StateWord.RUN,
        "running_complete": StateWord.WAIT,
        "gated": StateWord.GATE,
        "gate_failed": StateWord.GATE_FAILED,
        "redoing": StateWord.REDO,
        "merged": StateWord.MERGED,
        "escalated": StateWord.GATE_FAILED,
        "blocked": StateWord.BLOCKED,
        "aborted_after_finish": StateWord.ABORTED,
    }
)
_SHOW_WORDS: Final = MappingProxyType(
    {
        "active": StateWord.ACTIVE,
        "imported": StateWord.ACTIVE,
        "completed": StateWord.OK,
        "aborted": StateWord.ABORTED,
    }
)


def last_signal(run: RunRecord) -> float:
    """When the run last showed life, in epoch seconds; 0 when nothing says so (lionagi 0.36, staleness)."""
    return next((at for at in (run.last_message_at, run.updated_at, run.started_at) if at is not None), 0.0)


def stale_after(kind: str | None) -> float:
    """Seconds of silence after which a running run of this kind is stale: 6 h for agents and plays, 12 h for the big ones."""
    return _STALE_AFTER.get(kind or "", _DEFAULT_STALE_AFTER)


def run_health(run: RunRecord, now: float, alive: bool | None) -> str | None:
    """How a running run does: healthy, idle, unresponsive, stale or orphaned; ``None`` for a run that has ended.

    ``alive`` is what the process table says of the recorded process, ``None`` when it cannot say. Not knowing never counts
    as death: only a process known to be gone makes a run without messages and artifacts ``orphaned``.
    """
    if effective_status(run.status) != "running":
        return None
    quiet = now - last_signal(run)
    stale = quiet > stale_after(run.kind)
    if alive is False:
        return "stale" if _left_traces(run) else "orphaned"
    if stale:
        return "unresponsive" if alive else "stale"
    return "idle" if quiet > IDLE_AFTER else "healthy"


def _left_traces(run: RunRecord) -> bool:
    messages = run.has_messages if run.has_messages is not None else run.last_message_at is not None
    return messages or bool(run.artifacts_path)


def run_state(run: RunRecord, health: str | None) -> StateWord:
    """The word for a run: its stored status, and for a running one what ``health`` adds to it."""
    status = effective_status(run.status)
    if status == "running":
        if health in (None, "healthy"):
            return StateWord.RUN
        return StateWord.LOST if health == "orphaned" else StateWord.QUIET
    if status == "failed" and was_lost(run.reason_code, run.reason_summary):
        return StateWord.LOST
    if status == "completed" and run.reason_code == "run.completed.gate_rejected":
        return StateWord.REJECTED
    return _RUN_WORDS.get(status, StateWord.UNKNOWN)


def was_lost(reason_code: str | None, reason_summary: str | None) -> bool:
    """Whether a failure was written by somebody who found the process gone, rather than by the run itself."""
    return (reason_summary or "").startswith("phantom_reaped") or (reason_code or "").startswith(_GONE_CODES)


def firing_state(status: str, reason_code: str | None = None) -> StateWord:
    """The word for a firing. A firing whose runs ended without evidence is stored as failed; its reason tells (EMPTY)."""
    if status == "failed":
        if reason_code == "run.completed_empty.no_evidence":
            return StateWord.EMPTY
        if was_lost(reason_code, None):
            return StateWord.LOST
    if status == "completed" and reason_code == "run.completed.gate_rejected":
        return StateWord.REJECTED
    return _FIRING_WORDS.get(status, StateWord.UNKNOWN)


def play_state(status: str | None) -> StateWord:
    """The word for a play. A play whose status cannot be read is unknown, never "not started"."""
    return _PLAY_WORDS.get(status or "", StateWord.UNKNOWN)


def show_state(status: str | None) -> StateWord:
    """The word for a show."""
    return _SHOW_WORDS.get(status or "", StateWord.UNKNOWN)


def schedule_state(schedule: ScheduleRecord, problem: str | None) -> StateWord:
    """The word for a schedule: BROKEN (it has a problem), DONE (nothing left to fire), ON or OFF."""
    if problem is not None or schedule.defects:
        return StateWord.BROKEN
    if is_finished(schedule):
        return StateWord.DONE
    return StateWord.ON if schedule.enabled else StateWord.OFF


def is_finished(schedule: ScheduleRecord) -> bool:
    """Whether nothing is left to fire: a one-shot without an instant, or a fired cron expression whose years are over."""
    if schedule.next_fire_at is not None:
        return False
    if schedule.trigger_type == "at":
        return True
    names_years = schedule.trigger_type == "cron" and len((schedule.cron_expr or "").split()) == 7
    return names_years and schedule.last_fired_at is not None


def schedule_health(schedule: ScheduleRecord, recent: Sequence[HasOutcome], now: float, default: Zone) -> tuple[str, int]:
    """How a schedule does, in a word, and how many firings in a row failed.

    ``recent`` are its newest depth-0 rows, newest first. Words: disabled, never-fired, no-evidence, overdue, failing,
    healthy (lionagi 0.36). Mended here: a time-out counts as a failure, a running firing does not hide the failures before
    it, and a stored instant that has passed is overdue however seldom the schedule fires.
    """
    executed = [firing for firing in recent if firing.status in EXECUTED]
    streak = failure_streak(executed)
    if not schedule.enabled:
        return "disabled", streak
    evidence = _evidence(schedule, executed)
    if _is_overdue(schedule, evidence, now, default):
        return "overdue", streak
    if evidence is None:
        return ("no-evidence" if recent or schedule.last_fired_at is not None else "never-fired"), streak
    return ("failing" if streak else "healthy"), streak


def failure_streak(firings: Sequence[HasOutcome]) -> int:
    """How many firings failed or timed out since the last one that did not; ``firings`` are newest first."""
    streak = 0
    for firing in firings:
        if firing.status in _FAILURES:
            streak += 1
        elif firing.status in ("completed", "cancelled"):
            break
    return min(streak, STREAK_LIMIT)


def _evidence(schedule: ScheduleRecord, executed: Sequence[HasOutcome]) -> float | None:
    instants = [firing.fired_at for firing in executed[:1]]
    if schedule.threshold_config is not None:
        instants.append(schedule.last_evaluated_at)
    if schedule.trigger_type == "github_poll":
        instants.append(schedule.last_healthy_poll_at)
    return max((at for at in instants if at is not None), default=None)


def _is_overdue(schedule: ScheduleRecord, evidence: float | None, now: float, default: Zone) -> bool:
    if schedule.trigger_type != "github_poll" and schedule.next_fire_at is not None:
        return now - schedule.next_fire_at > OVERDUE_GRACE
    if evidence is None:
        return False
    cadence = cadence_seconds(schedule, evidence, default)
    return cadence is not None and now - evidence > max(3 * cadence, cadence + OVERDUE_GRACE)


def cadence_seconds(schedule: ScheduleRecord, after: float, default: Zone) -> float | None:
    """Seconds between two fires around ``after``; ``None`` when there are not two, or the trigger is broken."""
    if schedule.trigger_type == "github_poll":
        return poll_interval_of(schedule)
    try:
        first = next_fire(schedule, after, default)
        second = None if first is None else next_fire(schedule, first, default)
    except CadenceError:
        return None
    return None if first is None or second is None else second - first
