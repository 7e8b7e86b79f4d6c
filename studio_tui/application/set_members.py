"""From a stored schedule to the member that would declare it, for those that a set can say (lionagi 0.36, export)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from studio_tui.application.models.set_document import Member
from studio_tui.application.ports.schedule_sets import DeclaredRow
from studio_tui.application.set_differences import SILENT_COLUMNS
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.domain.triggers import instant_of, poll_interval_of

_POLL_DEFAULT: Final = 300.0


class Unspeakable(ValueError):
    """A set cannot say what this schedule is; the message tells what of it."""


def spellings(row: DeclaredRow, flow_file: str) -> Iterator[Member]:
    """The members that may declare this schedule, the one nearest to what its author wrote first.

    ``flow_file`` is where the text of a flow can be put. Raises :class:`Unspeakable` when there is none at all.
    """
    schedule = row.schedule
    _require_speakable(schedule)
    if row.authored is not None and (authored := _authored(row.authored, schedule)) is not None:
        yield authored
        rooted = _with(authored, execution={"cwd": schedule.action_cwd, "project": schedule.action_project})
        yield rooted
        if authored.target.kind == "flow":
            yield _with(rooted, target={"kind": "flow", "file": flow_file})
    yield _spelt_anew(schedule, flow_file)


def _authored(authored: Mapping[str, Any], schedule: ScheduleRecord) -> Member | None:
    """What the author wrote, with the state that the schedule has now and the project that it runs under."""
    execution = authored.get("execution")
    inside = {**(execution if isinstance(execution, dict) else {}), "project": schedule.action_project or None}
    written = {**authored, "execution": inside, "enabled": schedule.enabled, "description": schedule.description}
    try:
        return Member.model_validate(written)
    except ValidationError:
        return None


def _with(member: Member, **parts: object) -> Member:
    return Member.model_validate({**member.model_dump(mode="json", exclude_unset=True), **parts})


def _spelt_anew(schedule: ScheduleRecord, flow_file: str) -> Member:
    notify = {"on": list(schedule.notify_on), "command": schedule.notify_command}
    budget = {"usd": schedule.budget_usd, "tokens": schedule.budget_tokens}
    try:
        return Member.model_validate(
            {
                "description": schedule.description,
                "enabled": schedule.enabled,
                "trigger": _trigger(schedule),
                "target": _target(schedule, flow_file),
                "execution": {"cwd": schedule.action_cwd, "project": schedule.action_project or None},
                "policies": {
                    "missedFire": schedule.missed_fire_policy,
                    "overlap": schedule.overlap_policy,
                    "maxRuns": schedule.max_runs,
                    "budget": budget if any(value is not None for value in budget.values()) else None,
                    "rateLimit": schedule.rate_limit,
                },
                "notify": notify if schedule.notify_on and schedule.notify_command else None,
            }
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Unspeakable(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def _require_speakable(schedule: ScheduleRecord) -> None:
    if schedule.defects:
        raise Unspeakable(f"{', '.join(schedule.defects)} cannot be read")
    silent = [column for column in SILENT_COLUMNS if column != "poll_interval_sec" and getattr(schedule, column)]
    if silent:
        raise Unspeakable(f"a set cannot say {', '.join(silent)}")
    polls = poll_interval_of(schedule)
    if schedule.trigger_type == "github_poll" and polls != _POLL_DEFAULT:
        raise Unspeakable(f"it polls every {polls:.0f} seconds, and a set can only say {_POLL_DEFAULT:.0f}")


def _trigger(schedule: ScheduleRecord) -> dict[str, Any]:
    match schedule.trigger_type:
        case "cron":
            zone = schedule.resolved_timezone or schedule.effective_timezone
            if not zone:
                raise Unspeakable("it names no zone, and no host has noted the one that it fires in")
            return {"cron": {"expression": schedule.cron_expr, "timezone": zone}}
        case "interval":
            every = schedule.interval_sec or 0
            if every < 1 or every != every // 1:
                raise Unspeakable(f"an interval of {schedule.interval_sec} seconds cannot be said")
            return {"every": f"{int(every)}s"}
        case "at":
            at = instant_of(schedule.next_fire_at)
            if at is None:
                raise Unspeakable("it fires once, and its instant is stored no more")
            return {"at": datetime.fromtimestamp(at, UTC).isoformat()}
        case "github_poll":
            return {"github": {"repo": schedule.github_repo, "filter": schedule.github_filter}}
    raise Unspeakable(f"a set knows no trigger {schedule.trigger_type!r}")


def _target(schedule: ScheduleRecord, flow_file: str) -> dict[str, Any]:
    match schedule.action_kind:
        case "agent":
            if not schedule.action_agent:
                raise Unspeakable("it runs a model without a profile, and a set wants one")
            model = schedule.action_model
            return {"kind": "agent", "profile": schedule.action_agent, "prompt": schedule.action_prompt, "model": model}
        case "play":
            if schedule.action_prompt:
                raise Unspeakable("it hands a prompt to its playbook, and a set cannot say that")
            args = dict(schedule.action_playbook_args)
            return {"kind": "playbook", "name": schedule.action_playbook, "args": args}
        case "flow_yaml":
            if schedule.action_model:
                raise Unspeakable("it names a model for its flow, and a set cannot say that")
            return {"kind": "flow", "file": flow_file}
        case "command":
            args_of = list(schedule.action_command_args)
            return {"kind": "command", "executable": schedule.action_command, "args": args_of}
    raise Unspeakable(f"a set knows no action {schedule.action_kind!r}")
