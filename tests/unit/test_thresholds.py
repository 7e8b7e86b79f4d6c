"""When a threshold alerts, and for how long it is silent then."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.thresholds import Reading, verdict, window_start
from studio_tui.domain.why import Situation, checklist
from tests.fakes.clock import NOW
from tests.scheduler.conftest import UTC, a_schedule

CONFIG: dict[str, Any] = {"metric": "failed_sessions", "op": "gte", "value": 3, "window_minutes": 60}


def a_threshold(last_alert_at: float | None = None, **changes: Any) -> ScheduleRecord:
    return a_schedule(threshold_config={**CONFIG, **changes}, last_alert_at=last_alert_at)


@pytest.mark.parametrize(
    ("op", "value", "allowed"),
    [("gte", 2.9, False), ("gte", 3, True), ("gt", 3, False), ("gt", 3.01, True), ("gte", 0, False)],
)
def test_a_breach_lets_it_fire(op: str, value: float, allowed: bool) -> None:
    assert verdict(a_threshold(op=op), Reading(value), NOW).allowed is allowed


@pytest.mark.parametrize(
    ("alerted", "allowed"),
    [
        (NOW - 3600, True),
        (NOW - 3599, False),
        (NOW, False),
        (NOW + 60, False),  # the other host's clock is a minute ahead
        (NOW + 7200, True),  # the clock was set back
    ],
)
def test_one_alert_in_a_window(alerted: float, allowed: bool) -> None:
    found = verdict(a_threshold(alerted), Reading(5.0), NOW)
    assert found.allowed is allowed
    assert found.words.startswith("alert: " if allowed else "alerted already, silent for another ")


def test_words_and_evidence_hold_the_figures() -> None:
    found = verdict(a_threshold(metric="total_cost_usd", op="gt", value=1.5), Reading(2.25, 4), NOW)
    assert found.words == "alert: total_cost_usd is 2.25 in 1 h (4 without a reported cost), alerts above 1.5"
    assert found.evidence == {
        "metric": "total_cost_usd",
        "op": "gt",
        "value": 2.25,
        "threshold": 1.5,
        "window_minutes": 60,
        "unreported_sessions": 4,
        "spend_is_partial": True,
    }
    gauge = verdict(a_threshold(metric="github_poll_consecutive_401"), Reading(1.0), NOW)
    assert gauge.words == "no alert: github_poll_consecutive_401 is 1, alerts from 3"
    assert "unreported_sessions" not in gauge.evidence
    silent = verdict(a_threshold(NOW - 600), Reading(3.0), NOW)
    assert silent.words == "alerted already, silent for another 50 min: failed_sessions is 3 in 1 h, alerts from 3"
    assert silent.evidence["last_alert_at"] == NOW - 600


def test_a_window_begins_so_many_minutes_ago() -> None:
    assert window_start(CONFIG, NOW) == NOW - 3600


@pytest.mark.parametrize(
    ("reading", "words"), [(Reading(4.0), "alert: "), (Reading(0.0), "no alert: "), (None, "cannot be read")]
)
def test_the_checklist_asks_the_same_rule(reading: Reading | None, words: str) -> None:
    situation = Situation(host="hosting", host_words="", reading=reading)
    (gate,) = [g for g in checklist(a_threshold(), situation, at=None, now=NOW, default=UTC) if g.gate == "threshold"]
    assert gate.allowed is (words == "alert: ")
    assert words in gate.words
