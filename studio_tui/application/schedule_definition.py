"""From a stored schedule back to what its author can edit: the models of a command. What is broken comes back as ``None``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from studio_tui.application.models.schedules import (
    AtTrigger,
    CreateSchedule,
    CronTrigger,
    GithubPollTrigger,
    IntervalTrigger,
    RateLimit,
    ScheduleAction,
    ScheduleDefinition,
    Threshold,
    Trigger,
)
from studio_tui.application.wellformed import mended
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.triggers import poll_interval_of

M = TypeVar("M", bound=BaseModel)


def definition_of(schedule: ScheduleRecord) -> ScheduleDefinition:
    """What can be edited of a schedule, as it stands. Half characters, which JSON can spell, are marked."""
    stored = ScheduleDefinition(
        name=schedule.name,
        description=schedule.description,
        trigger=trigger_of(schedule),
        action=action_of(schedule),
        missed_fire_policy=schedule.missed_fire_policy,
        overlap_policy=schedule.overlap_policy,
        max_runs=schedule.max_runs,
        budget_usd=schedule.budget_usd,
        budget_tokens=schedule.budget_tokens,
        rate_limit=_read(RateLimit, schedule.rate_limit),
        threshold_config=_read(Threshold, schedule.threshold_config),
        github_cursor=schedule.github_cursor,
        project=schedule.project,
    )
    return ScheduleDefinition.model_validate(_whole(stored.model_dump()))


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return mended(value)
    if isinstance(value, dict):
        return {_whole(key): _whole(item) for key, item in value.items()}
    return type(value)(map(_whole, value)) if isinstance(value, list | tuple) else value


def trigger_of(schedule: ScheduleRecord) -> Trigger | None:
    """The trigger that is stored. A one-shot that has fired has none any more."""
    match schedule.trigger_type:
        case "cron":
            return _read(CronTrigger, {"expression": schedule.cron_expr, "timezone": schedule.resolved_timezone})
        case "interval":
            every = schedule.interval_sec
            return _read(IntervalTrigger, {"seconds": int(every) if every is not None and every == every // 1 else every})
        case "at":
            return _read(AtTrigger, {"at": schedule.next_fire_at})
        case "github_poll":
            every = int(max(1.0, poll_interval_of(schedule)))
            filters = dict(schedule.github_filter or {})
            poll = {"repository": schedule.github_repo, "poll_interval_seconds": every, "filters": filters}
            return _read(GithubPollTrigger, poll)
    return None


def action_of(schedule: ScheduleRecord) -> ScheduleAction | None:
    """The action that is stored; its fields have the names of their columns without ``action_``."""
    values = {name: getattr(schedule, f"action_{name}") for name in ScheduleAction.model_fields if not name.startswith("on_")}
    values |= {"on_success": _plain(schedule.on_success), "on_fail": _plain(schedule.on_fail)}
    return _read(ScheduleAction, {**values, "playbook_args": dict(schedule.action_playbook_args)})


def as_command(schedule: ScheduleRecord) -> CreateSchedule | None:
    """The command that would make this schedule, or ``None`` where something of it is broken."""
    definition = definition_of(schedule)
    values = {name: getattr(definition, name) for name in ScheduleDefinition.model_fields if name in CreateSchedule.model_fields}
    return _read(CreateSchedule, {**values, "enabled": schedule.enabled})


def _plain(step: Mapping[str, object] | None) -> dict[str, Any] | None:
    return None if step is None else dict(step)


def _read(model: type[M], values: Mapping[str, Any] | None) -> M | None:
    if values is None:
        return None
    try:
        return model.model_validate(dict(values))
    except ValidationError:
        return None
