from __future__ import annotations

from typing import Any

import pytest

from studio_tui.domain.health import (
    IDLE_AFTER,
    failure_streak,
    firing_state,
    play_state,
    run_health,
    run_state,
    schedule_health,
    schedule_state,
    show_state,
)
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.statuses import PLAY, SCHEDULE_RUN, SESSION, SHOW, StateWord
from tests.unit.records import NOW, UTC, a_firing, a_run, a_schedule, cron

HOUR = 3_600.0

# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quiet_hours", "kind", "alive", "health"),
    [
        (0, "agent", True, "healthy"),
        (1.1, "agent", True, "idle"),
        (6.1, "agent", True, "unresponsive"),
        (6.1, "play", True, "unresponsive"),
        (6.1, "flow", True, "idle"),
        (12.1, "flow", True, "unresponsive"),
        (12.1, "fanout", True, "unresponsive"),
        (12.1, "show-play", True, "unresponsive"),
        (12.1, "engine", True, "unresponsive"),
        (6.1, None, True, "unresponsive"),
        (6.1, "something", True, "unresponsive"),
        (0, "agent", None, "healthy"),
        (1.1, "agent", None, "idle"),
        (6.1, "agent", None, "stale"),
        (0, "agent", False, "stale"),
        (99, "agent", False, "stale"),
    ],
)
def test_health_of_a_run_that_left_traces(quiet_hours: float, kind: str, alive: bool | None, health: str) -> None:
    run = a_run(kind=kind, last_message_at=NOW, artifacts_path="/srv/demo/runs/r1/artifacts")
    assert run_health(run, NOW + quiet_hours * HOUR, alive) == health


@pytest.mark.parametrize(
    ("traces", "health"),
    [
        ({}, "orphaned"),
        ({"has_messages": False}, "orphaned"),
        ({"has_messages": True}, "stale"),
        ({"last_message_at": NOW}, "stale"),
        ({"last_message_at": NOW, "has_messages": False}, "orphaned"),
        ({"artifacts_path": "/srv/demo/a"}, "stale"),
        ({"artifacts_path": ""}, "orphaned"),
    ],
)
def test_only_a_run_whose_process_is_known_dead_is_orphaned(traces: dict[str, Any], health: str) -> None:
    run = a_run(**traces)
    assert run_health(run, NOW, False) == health
    assert run_health(run, NOW, None) == "healthy"
    assert run_health(run, NOW, True) == "healthy"


def test_the_bounds_belong_to_the_healthier_side() -> None:
    run = a_run(last_message_at=NOW)
    assert run_health(run, NOW + IDLE_AFTER, True) == "healthy"
    assert run_health(run, NOW + 6 * HOUR, True) == "idle"


def test_the_last_sign_of_life_is_the_message_then_the_row_then_the_start() -> None:
    late = NOW + 2 * HOUR
    assert run_health(a_run(last_message_at=late, updated_at=NOW), late, True) == "healthy"
    assert run_health(a_run(last_message_at=None, updated_at=late), late, True) == "healthy"
    assert run_health(a_run(updated_at=None, started_at=late), late, True) == "healthy"
    assert run_health(a_run(updated_at=None, started_at=None), late, True) == "unresponsive"


@pytest.mark.parametrize("status", [*sorted(SESSION.terminal), None])
def test_a_run_that_has_ended_has_no_health(status: str | None) -> None:
    assert run_health(a_run(status=status), NOW + 99 * HOUR, False) is None


@pytest.mark.parametrize(
    ("health", "word"),
    [
        (None, "RUN"),
        ("healthy", "RUN"),
        ("idle", "RUN?"),
        ("stale", "RUN?"),
        ("unresponsive", "RUN?"),
        ("anything", "RUN?"),
        ("orphaned", "LOST"),
    ],
)
def test_the_word_of_a_running_run_takes_its_health_into_account(health: str | None, word: str) -> None:
    assert run_state(a_run(), health) == word


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({"status": None}, "OK"),
        ({"status": "completed"}, "OK"),
        ({"status": "completed", "reason_code": "run.completed.gate_rejected"}, "OK/REJ"),
        ({"status": "completed", "reason_code": "run.completed.finalize_error"}, "OK"),
        ({"status": "completed_empty"}, "EMPTY"),
        ({"status": "failed"}, "FAIL"),
        ({"status": "failed", "reason_code": "run.failed.exit_nonzero", "reason_summary": "exit 3"}, "FAIL"),
        ({"status": "failed", "reason_summary": "phantom_reaped"}, "LOST"),
        ({"status": "failed", "reason_code": "session.phantom.process_dead"}, "LOST"),
        ({"status": "failed", "reason_code": "session.zombie.stale_locks"}, "LOST"),
        ({"status": "failed", "reason_code": "session.orphaned.no_process"}, "LOST"),
        ({"status": "timed_out"}, "TIME"),
        ({"status": "aborted"}, "ABRT"),
        ({"status": "cancelled"}, "CANC"),
        ({"status": "Completed"}, "UNSURE"),
        ({"status": ""}, "UNSURE"),
    ],
)
def test_the_word_of_a_run_that_has_ended(values: dict[str, Any], word: str) -> None:
    assert run_state(a_run(**values), None) == word


# --- firings, plays, shows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "reason", "word"),
    [
        ("running", None, "RUN"),
        ("completed", "run.completed.ok", "OK"),
        ("completed", "run.completed.gate_rejected", "OK/REJ"),
        ("failed", "run.failed.exit_nonzero", "FAIL"),
        ("failed", "run.completed_empty.no_evidence", "EMPTY"),
        ("failed", "session.phantom.process_dead", "LOST"),
        ("timed_out", None, "TIME"),
        ("skipped", "schedule.skipped.overlap", "SKIP"),
        ("cancelled", None, "CANC"),
        ("queued", None, "QUE"),
        ("waiting_dependency", None, "WAIT"),
        ("retry_wait", None, "WAIT"),
        ("odd", None, "UNSURE"),
    ],
)
def test_the_word_of_a_firing(status: str, reason: str | None, word: str) -> None:
    assert firing_state(status, reason) == word


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ("pending", "WAIT"),
        ("prepared", "QUE"),
        ("running", "RUN"),
        ("running_complete", "WAIT"),
        ("gated", "GATE"),
        ("gate_failed", "GATE!"),
        ("redoing", "REDO"),
        ("merged", "MERGED"),
        ("escalated", "GATE!"),
        ("blocked", "BLOCK"),
        ("aborted_after_finish", "ABRT"),
        ("odd", "UNSURE"),
        (None, "UNSURE"),
    ],
)
def test_the_word_of_a_play(status: str | None, word: str) -> None:
    assert play_state(status) == word


@pytest.mark.parametrize(
    ("status", "word"), [("active", "ACTIVE"), ("imported", "ACTIVE"), ("completed", "OK"), ("aborted", "ABRT"), (None, "UNSURE")]
)
def test_the_word_of_a_show(status: str | None, word: str) -> None:
    assert show_state(status) == word


def test_every_status_has_a_word() -> None:
    assert StateWord.UNKNOWN not in {run_state(a_run(status=status), None) for status in SESSION.statuses}
    assert StateWord.UNKNOWN not in {firing_state(status) for status in SCHEDULE_RUN.statuses}
    assert StateWord.UNKNOWN not in {play_state(status) for status in PLAY.statuses}
    assert StateWord.UNKNOWN not in {show_state(status) for status in SHOW.statuses}


# --- schedules --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "problem", "word"),
    [
        (a_schedule(), None, "ON"),
        (a_schedule(enabled=False), None, "OFF"),
        (a_schedule(), "the interval is missing", "BROKEN"),
        (a_schedule(enabled=False), "the interval is missing", "BROKEN"),
        (a_schedule(defects=("rate_limit",)), None, "BROKEN"),
        (a_schedule(trigger_type="at", next_fire_at=NOW), None, "ON"),
        (a_schedule(trigger_type="at", next_fire_at=None), None, "DONE"),
        (a_schedule(trigger_type="at", next_fire_at=None, enabled=False), None, "DONE"),
        (cron("0 9 1 12 * 0 2026", last_fired_at=NOW), None, "DONE"),
        (cron("0 9 1 12 * 0 2026", last_fired_at=None), None, "ON"),
        (cron("0 9 1 12 * 0 2026", next_fire_at=NOW), None, "ON"),
        (cron("0 9 * * *", last_fired_at=NOW), None, "ON"),
    ],
)
def test_the_word_of_a_schedule(schedule: ScheduleRecord, problem: str | None, word: str) -> None:
    assert schedule_state(schedule, problem) == word


@pytest.mark.parametrize(
    ("statuses", "streak"),
    [
        ([], 0),
        (["completed", "failed"], 0),
        (["failed", "timed_out", "failed", "completed", "failed"], 3),
        (["timed_out", "cancelled", "failed"], 1),
        (["running", "failed", "failed", "completed"], 2),
        (["failed"] * 60, 50),
    ],
)
def test_a_time_out_counts_as_a_failure_and_a_running_firing_hides_none(statuses: list[str], streak: int) -> None:
    assert failure_streak([a_firing(status) for status in statuses]) == streak


def health(schedule: ScheduleRecord, *statuses: str, at: float = NOW, age: float = 0) -> tuple[str, int]:
    """Health at ``at`` of a schedule whose newest firing (of these statuses, newest first) is ``age`` seconds old."""
    return schedule_health(schedule, [a_firing(status, fired_at=at - age) for status in statuses], at, UTC)


def test_health_of_a_schedule() -> None:
    armed = a_schedule(next_fire_at=NOW + 60)
    assert health(armed, "completed") == ("healthy", 0)
    assert health(armed, "failed", "completed") == ("failing", 1)
    assert health(armed, "timed_out", "failed") == ("failing", 2)
    assert health(armed, "running", "failed", "failed") == ("failing", 2)
    assert health(armed, "skipped", "failed", "failed") == ("failing", 2)
    assert health(armed, "skipped") == ("no-evidence", 0)
    assert health(armed) == ("never-fired", 0)
    assert health(a_schedule(next_fire_at=NOW + 60, last_fired_at=NOW)) == ("no-evidence", 0)
    assert health(a_schedule(enabled=False), "failed", "failed") == ("disabled", 2)


@pytest.mark.parametrize(("late", "word"), [(0, "healthy"), (300, "healthy"), (301, "overdue")])
def test_a_stored_instant_that_has_passed_is_overdue_however_seldom_it_fires(late: float, word: str) -> None:
    yearly = cron("@yearly", next_fire_at=NOW - late)
    assert health(yearly, "completed", age=86_400) == (word, 0)


def test_a_schedule_that_never_fired_can_be_overdue() -> None:
    assert health(a_schedule(next_fire_at=NOW - 3_600)) == ("overdue", 0)


@pytest.mark.parametrize(("age", "word"), [(359, "healthy"), (361, "overdue")])
def test_without_a_stored_instant_the_evidence_may_be_three_periods_old(age: float, word: str) -> None:
    assert health(a_schedule(interval_sec=60, next_fire_at=None), "completed", age=age) == (word, 0)


def test_a_broken_trigger_is_not_called_overdue() -> None:
    assert health(a_schedule(interval_sec=None), "completed", age=10**6) == ("healthy", 0)
    assert health(cron("0 0 31 2 *"), "failed", age=10**6) == ("failing", 1)


def test_a_poll_goes_by_its_last_good_look_and_never_by_its_unused_instant() -> None:
    poll = {"trigger_type": "github_poll", "github_repo": "shop/web", "poll_interval_sec": 300, "next_fire_at": NOW - 10**6}
    assert health(a_schedule(**poll, last_healthy_poll_at=NOW - 60)) == ("healthy", 0)
    assert health(a_schedule(**poll, last_healthy_poll_at=NOW - 3 * HOUR)) == ("overdue", 0)
    assert health(a_schedule(**poll)) == ("never-fired", 0)


def test_an_evaluation_is_evidence_for_a_threshold_schedule_only() -> None:
    assert health(a_schedule(threshold_config={"metric": "failed_sessions"}, last_evaluated_at=NOW)) == ("healthy", 0)
    assert health(a_schedule(last_evaluated_at=NOW)) == ("never-fired", 0)
