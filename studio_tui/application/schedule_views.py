"""From what the store knows of a schedule to what a screen shows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from studio_tui.application.cadence_views import fires
from studio_tui.application.firing_views import outcome_words
from studio_tui.application.launching import LaunchPreview
from studio_tui.application.models.schedules import Fire, ScheduleDetail, ScheduleSummary
from studio_tui.application.moments import Times
from studio_tui.application.schedule_definition import definition_of
from studio_tui.application.schedule_problems import problems_of
from studio_tui.application.wellformed import mended
from studio_tui.application.why_views import chain_of
from studio_tui.domain.cadence import CadenceError, describe, upcoming, zone_of
from studio_tui.domain.health import schedule_health, schedule_state
from studio_tui.domain.outcomes import HasOutcome
from studio_tui.domain.polls import poll_trouble
from studio_tui.domain.schedules import ScheduleRecord, Zone

STRIP: Final = 10
"""How many outcomes a list shows of each schedule."""

_NEXT: Final = 5
_TIMES: Final = ("last_fired_at", "next_fire_at", "created_at", "updated_at", "last_evaluated_at", "last_healthy_poll_at")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What else is known of a schedule: its newest depth-0 firings (newest first), how many run now, and what went wrong with
    the last poll, where this process polls."""

    recent: tuple[HasOutcome, ...] = ()
    running: int = 0
    poll_trouble: str | None = None


@lru_cache(maxsize=4_096)
def _cron_words(cron_expr: str | None) -> str:
    return describe(ScheduleRecord("", "", True, "cron", "command", cron_expr=cron_expr))


def summarize(schedule: ScheduleRecord, evidence: Evidence, *, now: float, default: Zone) -> ScheduleSummary:
    """One schedule as a list shows it."""
    return ScheduleSummary.model_validate(summary_fields(schedule, evidence, now=now, default=default))


def summary_fields(schedule: ScheduleRecord, evidence: Evidence, *, now: float, default: Zone) -> dict[str, Any]:
    """The fields of :class:`ScheduleSummary` for one schedule."""
    times = Times()
    clean: dict[str, Any] = {name: times.read(name, getattr(schedule, name)) for name in _TIMES}
    stored, schedule = schedule, replace(schedule, **clean) if times.problems else schedule
    problems = (*times.problems, *problems_of(schedule, default, ever_fired=bool(evidence.recent)))
    health, failures = schedule_health(schedule, evidence.recent, now, default)
    zone = _zone(schedule, default)
    return {
        "schedule_id": schedule.schedule_id,
        "name": schedule.name,
        "state": schedule_state(schedule, problems[0] if problems else None),
        "enabled": schedule.enabled,
        "trigger": _cron_words(schedule.cron_expr) if schedule.trigger_type == "cron" else describe(schedule),
        "trigger_type": schedule.trigger_type,
        "action": action_words(schedule),
        "action_kind": schedule.action_kind,
        "zone": zone.name if zone else None,
        "zone_source": zone.source if zone else None,
        "next_fire_at": schedule.next_fire_at,
        "last_fired_at": schedule.last_fired_at,
        "outcomes": outcome_words(evidence.recent, count=STRIP),
        "running": evidence.running,
        "health": health,
        "consecutive_failures": failures,
        "owner": schedule.owner_key or schedule.managed_by,
        "description": schedule.description,
        "blocked": None if problems else evidence.poll_trouble or poll_trouble(schedule, now),
        "problems": problems,
        "updated_at": stored.updated_at,
    }


def detail(
    schedule: ScheduleRecord, evidence: Evidence, preview: LaunchPreview, *, executed: int, now: float, default: Zone
) -> ScheduleDetail:
    """One schedule with its policies, action and coming fires."""
    fields = summary_fields(schedule, evidence, now=now, default=default)
    if fields["blocked"] is None:
        fields["blocked"] = preview.refusal
    return ScheduleDetail.model_validate(
        {
            **fields,
            "cron_expression": schedule.cron_expr,
            "interval": schedule.interval_sec,
            "missed_fire_policy": schedule.missed_fire_policy,
            "overlap_policy": schedule.overlap_policy,
            "max_runs": schedule.max_runs,
            "executed_runs": executed,
            "budget_usd": schedule.budget_usd,
            "budget_tokens": schedule.budget_tokens,
            "command_line": tuple(map(mended, preview.command_line)),
            "working_directory": preview.working_directory,
            "project": schedule.action_project or schedule.project,
            "prompt": schedule.action_prompt,
            "managed_by": schedule.managed_by,
            "created_at": Times().read("created_at", schedule.created_at),
            "next_fires": next_fires(schedule, now=now, default=default) if not fields["problems"] else (),
            "chain": chain_of(schedule),
            "definition": definition_of(schedule),
        }
    )


def next_fires(schedule: ScheduleRecord, *, now: float, default: Zone) -> tuple[Fire, ...]:
    """The coming fires of a schedule that is on; none for one that is off, finished or broken."""
    if not schedule.enabled:
        return ()
    try:
        return fires(upcoming(schedule, now, _NEXT, default), _zone(schedule, default) or default)
    except CadenceError:
        return ()


def action_words(schedule: ScheduleRecord) -> str:
    """What a firing runs, short: the kind and the name of what it starts."""
    named = {
        "agent": schedule.action_agent or schedule.action_model,
        "flow": schedule.action_model,
        "fanout": schedule.action_model,
        "play": schedule.action_playbook,
        "command": " ".join(_words((schedule.action_command or "", *schedule.action_command_args))),
    }.get(schedule.action_kind)
    return f"{schedule.action_kind} {named}" if named else schedule.action_kind


def _words(arguments: Sequence[str]) -> tuple[str, ...]:
    """Arguments as a person would type them: quoted only where blanks would part them."""
    return tuple(repr(word) if not word or any(map(str.isspace, word)) else word for word in map(mended, arguments))


def _zone(schedule: ScheduleRecord, default: Zone) -> Zone | None:
    """The zone of a cron schedule; ``None`` for other triggers."""
    return zone_of(schedule, default) if schedule.trigger_type == "cron" else None
