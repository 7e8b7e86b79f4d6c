"""Threshold schedules: at each due instant a figure of the whole store is looked at, and only a breach fires (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from studio_tui.domain.durations import format_duration
from studio_tui.domain.gates import Verdict
from studio_tui.domain.schedules import ScheduleRecord

ALERT_FIELDS: Final = ("metric", "op", "value", "threshold", "window_minutes", "unreported_sessions", "spend_is_partial")
"""What an alert tells, by the names that templates use; the last two only where spend was not reported whole."""

_GAUGES: Final = frozenset({"github_poll_healthy_age_minutes", "github_poll_consecutive_401"})
"""Figures of the moment: no window of time is summed up for them."""

_OPERATORS: Final = MappingProxyType({"gt": "above", "gte": "from"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a metric says: its value, and for spend how many ended runs of the window reported no cost."""

    value: float
    unreported: int = 0


def window_start(config: Mapping[str, Any], now: float) -> float:
    """Where the window of a well-formed ``threshold_config`` begins, in epoch seconds."""
    return now - float(config["window_minutes"]) * 60


def verdict(schedule: ScheduleRecord, reading: Reading, now: float) -> Verdict:
    """Whether the figure is breached and no alert was given within the window; the evidence is what templates can name.

    ``threshold_config`` must be well-formed (:mod:`studio_tui.domain.stored_rules`).
    """
    config: Mapping[str, Any] = schedule.threshold_config or {}
    evidence = alert_context(config, reading)
    words = _figure(config, reading)
    if not _breached(config, reading):
        return Verdict("threshold", False, f"no alert: {words}", None, evidence)
    remaining = _silent_for(schedule, config, now)
    if remaining <= 0:
        return Verdict("threshold", True, f"alert: {words}", None, evidence)
    silent = f"alerted already, silent for another {format_duration(max(1, round(remaining)))}: {words}"
    return Verdict("threshold", False, silent, None, {**evidence, "last_alert_at": schedule.last_alert_at})


def alert_context(config: Mapping[str, Any], reading: Reading) -> Mapping[str, object]:
    """What a breach adds to the trigger context, under the peer's names."""
    found: dict[str, object] = {
        "metric": config["metric"],
        "op": config["op"],
        "value": reading.value,
        "threshold": float(config["value"]),
        "window_minutes": config["window_minutes"],
    }
    if reading.unreported:
        found |= {"unreported_sessions": reading.unreported, "spend_is_partial": True}
    return found


def _breached(config: Mapping[str, Any], reading: Reading) -> bool:
    limit = float(config["value"])
    return reading.value > limit if config["op"] == "gt" else reading.value >= limit


def _silent_for(schedule: ScheduleRecord, config: Mapping[str, Any], now: float) -> float:
    """Seconds until the next alert may be given. One further ahead than a window (a clock was set back) does not count."""
    alerted, begins = schedule.last_alert_at, window_start(config, now)
    return alerted - begins if alerted is not None and alerted - now <= now - begins else 0.0


def _figure(config: Mapping[str, Any], reading: Reading) -> str:
    span = "" if config["metric"] in _GAUGES else f" in {format_duration(60 * config['window_minutes'])}"
    partial = f" ({reading.unreported} without a reported cost)" if reading.unreported else ""
    alerts = f"alerts {_OPERATORS[config['op']]} {config['value']:g}"
    return f"{config['metric']} is {reading.value:g}{span}{partial}, {alerts}"
