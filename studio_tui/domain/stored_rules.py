"""What makes a stored schedule one that must not fire: values that no writer should have stored (lionagi 0.36, create rules).

The peer lets some of them in: a schedule with nothing to run, chains of any shape, a rate limit with other keys. Each fault names
the column. What is wrong with a trigger is said by the cadence, which computes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Final

from studio_tui.domain import github_events
from studio_tui.domain.chains import BRANCHES, STEP_KEYS, step_faults
from studio_tui.domain.schedules import ACTIONS, MISSED_FIRE_POLICIES, OVERLAP_POLICIES, TRIGGERS, ScheduleRecord

METRICS: Final = (
    "failed_sessions",
    "total_cost_usd",
    "p95_latency_ms",
    "github_poll_healthy_age_minutes",
    "github_poll_consecutive_401",
)
OPERATORS: Final = ("gt", "gte")
RATE_KEYS: Final = ("max_fires", "window_sec")
THRESHOLD_KEYS: Final = ("metric", "op", "value", "window_minutes")

_STORED_STEP_KEYS: Final = (*STEP_KEYS, *(column.name for column in fields(ScheduleRecord) if column.name not in STEP_KEYS))
"""A stored step may name any column of a schedule: the peer lays it over the whole row."""


@dataclass(frozen=True, slots=True)
class StoredFault:
    """A column (or what lies below it, with dots) and what is wrong with it, with what is allowed."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


def stored_faults(schedule: ScheduleRecord) -> Iterator[StoredFault]:
    """Every fault of a stored schedule but those of its trigger's values."""
    yield from _words(schedule)
    yield from (StoredFault(column, "cannot be read") for column in schedule.defects)
    yield from _caps(schedule)
    yield from _threshold(schedule.threshold_config)
    yield from _poll(schedule)
    for branch, step in zip(BRANCHES, (schedule.on_success, schedule.on_fail), strict=True):
        if step is not None:
            for fault in step_faults(step, keys=_STORED_STEP_KEYS):
                yield StoredFault(".".join((branch, *fault.path)), fault.message)
    if (column := missing_column(schedule)) is not None:
        yield StoredFault(column, nothing_to_run(schedule, column))


def missing_column(schedule: ScheduleRecord) -> str | None:
    """The column that an action cannot do without and that is empty, or ``None``."""
    column = _NEEDED.get(schedule.action_kind)
    return None if column is None or (getattr(schedule, column) or "").strip() else column


def nothing_to_run(schedule: ScheduleRecord, column: str) -> str:
    """That an action lacks what stands in ``column``."""
    return f"nothing to run: the {schedule.action_kind} action has no {_NOUNS[column]}"


_NEEDED: Final = {
    **dict.fromkeys(("agent", "flow", "fanout"), "action_prompt"),
    "command": "action_command",
    "play": "action_playbook",
    "flow_yaml": "action_flow_yaml",
}
_NOUNS: Final = {
    "action_command": "command",
    "action_playbook": "playbook",
    "action_flow_yaml": "flow",
    "action_prompt": "prompt",
}


def _words(schedule: ScheduleRecord) -> Iterator[StoredFault]:
    for column, name, allowed in (
        ("trigger_type", "trigger", TRIGGERS),
        ("action_kind", "action", ACTIONS),
        ("missed_fire_policy", "missed-fire policy", MISSED_FIRE_POLICIES),
        ("overlap_policy", "overlap policy", OVERLAP_POLICIES),
    ):
        value = getattr(schedule, column)
        if value not in allowed:
            yield StoredFault(column, f"unknown {name} {value!r}; known: {', '.join(allowed)}")


def _caps(schedule: ScheduleRecord) -> Iterator[StoredFault]:
    if schedule.max_runs is not None and schedule.max_runs < 1:
        yield StoredFault("max_runs", f"{schedule.max_runs} cannot be used; must be at least 1")
    if schedule.budget_usd is not None and not (math.isfinite(schedule.budget_usd) and schedule.budget_usd > 0):
        yield StoredFault("budget_usd", f"{schedule.budget_usd} cannot be used; must be above 0")
    if schedule.budget_tokens is not None and schedule.budget_tokens < 1:
        yield StoredFault("budget_tokens", f"{schedule.budget_tokens} cannot be used; must be at least 1")
    if schedule.rate_limit is not None and rate_window(schedule.rate_limit) is None:
        yield StoredFault("rate_limit", f"must hold exactly {' and '.join(RATE_KEYS)}, whole numbers above 0")


def rate_window(limit: Mapping[str, object] | None) -> tuple[int, int] | None:
    """``(max_fires, window in seconds)`` of a well-formed rate limit, else ``None``."""
    if limit is None or set(limit) != set(RATE_KEYS):
        return None
    fires, window = (limit[key] for key in RATE_KEYS)
    return (fires, window) if is_count(fires) and is_count(window) else None  # type: ignore[return-value]


def is_count(value: object) -> bool:
    """Whether a value is a whole number above 0."""
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _poll(schedule: ScheduleRecord) -> Iterator[StoredFault]:
    if schedule.trigger_type != "github_poll":
        return
    if fault := github_events.repository_fault(schedule.github_repo):
        yield StoredFault("github_repo", f"{schedule.github_repo!r} is no repository; {fault}")
    if fault := github_events.cursor_fault(schedule.github_cursor):
        yield StoredFault("github_cursor", f"{schedule.github_cursor!r} {fault}")
    for key in schedule.github_filter or {}:
        if key not in github_events.FILTER_KEYS:
            yield StoredFault(f"github_filter.{key}", f"is not a filter; allowed: {', '.join(github_events.FILTER_KEYS)}")


def _threshold(config: Mapping[str, object] | None) -> Iterator[StoredFault]:
    if config is None:
        return
    if set(config) != set(THRESHOLD_KEYS):
        yield StoredFault("threshold_config", f"must hold exactly {', '.join(THRESHOLD_KEYS)}")
        return
    for key, allowed in (("metric", METRICS), ("op", OPERATORS)):
        if config[key] not in allowed:
            yield StoredFault(f"threshold_config.{key}", f"{config[key]!r} is not known; allowed: {', '.join(allowed)}")
    value = config["value"]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        yield StoredFault("threshold_config.value", "must be a number")
    if not is_count(config["window_minutes"]):
        yield StoredFault("threshold_config.window_minutes", "must be a whole number of at least 1")
