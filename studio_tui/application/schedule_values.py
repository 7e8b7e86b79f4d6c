"""From a command to the columns of a schedule, exactly as the peer writes them (lionagi 0.36, create)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from studio_tui.application.models.schedules import (
    AtTrigger,
    CreateSchedule,
    CronTrigger,
    GithubPollTrigger,
    IntervalTrigger,
    RateLimit,
    ScheduleAction,
    Threshold,
    Trigger,
)
from studio_tui.application.schedule_declared import declared_columns
from studio_tui.domain.schedules import ScheduleRecord, Zone

_BLANK: Final[Mapping[str, object]] = MappingProxyType(
    {
        "cron_expr": None,
        "interval_sec": None,
        "github_repo": None,
        "github_filter": None,
        "github_cursor": None,
        "poll_interval_sec": None,
        "last_fired_at": None,
        "next_fire_at": None,
        "last_alert_at": None,
        "spec_version": None,
        "managed_by": None,
        "owner_key": None,
        "authored_spec": None,
        "resolved_target": None,
        "resolved_digest": None,
        "resolved_timezone": None,
        "effective_timezone": None,
        "effective_timezone_source": None,
        "notify_on": None,
        "notify_command": None,
    }
)
"""Columns that a new schedule leaves empty unless its trigger or its origin fills them; the JSON ones hold JSON null."""


NO_TRIGGER: Final[Mapping[str, None]] = MappingProxyType(
    dict.fromkeys(
        (
            "cron_expr",
            "interval_sec",
            "github_repo",
            "github_filter",
            "poll_interval_sec",
            "resolved_timezone",
            "effective_timezone",
            "effective_timezone_source",
        )
    )
)
"""The columns of every kind of trigger, empty."""


def new_values(
    command: CreateSchedule, *, schedule_id: str, next_fire_at: float | None, default: Zone, by_command_line: bool, now: float
) -> Mapping[str, object]:
    """All columns of the schedule that ``command`` describes. ``next_fire_at`` is its first instant, if it is on."""
    return {
        "id": schedule_id,
        "name": command.name.strip(),
        "description": command.description,
        "enabled": 1 if command.enabled else 0,
        **_BLANK,
        **trigger_columns(command.trigger, default),
        **action_columns(command.action),
        "next_fire_at": command.trigger.at if isinstance(command.trigger, AtTrigger) else next_fire_at,
        "missed_fire_policy": command.missed_fire_policy,
        "overlap_policy": command.overlap_policy,
        "max_runs": 1 if isinstance(command.trigger, AtTrigger) else command.max_runs,
        "budget_usd": command.budget_usd,
        "budget_tokens": command.budget_tokens,
        "rate_limit": as_json(command.rate_limit),
        "threshold_config": as_json(command.threshold_config),
        "project": command.project or None,
        **declared_columns(command, by_command_line=by_command_line),
        "created_at": now,
        "updated_at": now,
    }


def as_json(limit: RateLimit | Threshold | None) -> dict[str, object] | None:
    """A limit as its column holds it."""
    return None if limit is None else limit.model_dump()


def trigger_columns(trigger: Trigger, default: Zone) -> dict[str, object]:
    """The columns of a trigger. A cron expression without a zone notes the default that it was made under."""
    match trigger:
        case CronTrigger(expression=expression, timezone=None):
            return {
                "trigger_type": "cron",
                "cron_expr": expression.strip(),
                "effective_timezone": default.name,
                "effective_timezone_source": default.source,
            }
        case CronTrigger(expression=expression, timezone=zone):
            return {"trigger_type": "cron", "cron_expr": expression.strip(), "resolved_timezone": zone and zone.strip()}
        case IntervalTrigger(seconds=seconds):
            return {"trigger_type": "interval", "interval_sec": seconds}
        case AtTrigger():
            return {"trigger_type": "at"}
        case GithubPollTrigger(repository=repository, poll_interval_seconds=every, filters=filters):
            return {
                "trigger_type": "github_poll",
                "github_repo": repository,
                "github_filter": filters or None,
                "poll_interval_sec": every,
            }


def action_columns(action: ScheduleAction) -> dict[str, object]:
    """The columns of an action. A playbook's arguments have no column: they travel in the resolved target."""
    return {
        "action_kind": action.kind,
        "action_model": action.model or None,
        "action_prompt": action.prompt or None,
        "action_agent": action.agent or None,
        "action_playbook": action.playbook or None,
        "action_flow_yaml": action.flow_yaml or None,
        "action_project": action.project or None,
        "action_cwd": action.cwd or None,
        "action_extra_args": list(action.extra_args),
        "action_command": action.command or None,
        "action_command_args": list(action.command_args),
        "on_success": action.on_success,
        "on_fail": action.on_fail,
    }


def plain_playbook(schedule: ScheduleRecord) -> dict[str, object]:
    """Where a schedule that no declaration spells keeps the arguments of its playbook."""
    arguments = dict(schedule.action_playbook_args)
    target = {"kind": "playbook", "name": schedule.action_playbook, "args": arguments}
    return {"resolved_target": {"target": target} if arguments else None}


def trigger_draft(trigger: Trigger, *, default: Zone, now: float) -> ScheduleRecord:
    """A schedule of nothing but a trigger, for the calendar to look at."""
    columns: dict[str, Any] = trigger_columns(trigger, default)
    at = trigger.at if isinstance(trigger, AtTrigger) else None
    return ScheduleRecord(
        schedule_id="", name="", enabled=True, action_kind="command", next_fire_at=at, created_at=now, updated_at=now, **columns
    )


def draft(command: CreateSchedule, *, schedule_id: str, default: Zone, now: float) -> ScheduleRecord:
    """The schedule as it would stand, for the rules that look at records. It has no instant yet, except a one-shot's own."""
    columns: dict[str, Any] = action_columns(command.action)
    for listed in ("action_extra_args", "action_command_args"):
        columns[listed] = tuple(columns[listed])
    return replace(
        trigger_draft(command.trigger, default=default, now=now),
        schedule_id=schedule_id,
        name=command.name.strip(),
        description=command.description,
        enabled=command.enabled,
        **columns,
        action_playbook_args=command.action.playbook_args,
        missed_fire_policy=command.missed_fire_policy,
        overlap_policy=command.overlap_policy,
        max_runs=1 if isinstance(command.trigger, AtTrigger) else command.max_runs,
        budget_usd=command.budget_usd,
        budget_tokens=command.budget_tokens,
        rate_limit=as_json(command.rate_limit),
        threshold_config=as_json(command.threshold_config),
        project=command.project,
    )
