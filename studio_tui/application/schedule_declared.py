"""The spelling of a schedule as a member of a declaration, for those that have one (lionagi 0.36, quick create and export).

``li schedule create`` stores beside the columns what its author wrote (``authored_spec``) and what it came to
(``resolved_target``); export reads the former, and the launch of a playbook takes its arguments from the latter. A schedule
that cannot be spelt so is stored as a plain row, which export reconstructs or reports as blocked.
"""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Final

from studio_tui.application.models.schedules import (
    AtTrigger,
    CreateSchedule,
    CronTrigger,
    GithubPollTrigger,
    IntervalTrigger,
    ScheduleAction,
)

SPEC_VERSION: Final = "lionagi.io/v1alpha1"
_LONGEST_INTERVAL: Final = 30 * 86_400
_POLL_DEFAULT: Final = 300


def declared_columns(command: CreateSchedule, *, by_command_line: bool) -> dict[str, object]:
    """The declaration columns of a schedule.

    Those made on a command line are marked ``managed_by = cli`` if they can be spelt as a member. Others stay plain rows; a
    playbook's arguments are kept in any case.
    """
    trigger, target = _trigger(command), _target(command.action)
    if not by_command_line or trigger is None or target is None or command.threshold_config is not None:
        arguments = command.action.playbook_args
        return {"resolved_target": {"target": _playbook(command.action)}} if arguments else {}
    authored_trigger, resolved_trigger = trigger
    common = {"policies": _policies(command), "notify": None, "enabled": command.enabled}
    resolved = {
        "trigger": resolved_trigger,
        "target": target,
        "execution": {"cwd": command.action.cwd, "project": command.action.project},
        **common,
    }
    return {
        "spec_version": SPEC_VERSION,
        "managed_by": "cli",
        "authored_spec": {
            "description": command.description,
            **common,
            "trigger": {"cron": None, "every": None, "at": None, "github": None, **authored_trigger},
            "target": target,
            "execution": _execution(command.action),
        },
        "resolved_target": resolved,
        # An agent's digest covers its profile as well, which is read when the schedule is declared, not here.
        "resolved_digest": None if target["kind"] == "agent" else digest(resolved),
    }


def digest(document: object) -> str:
    """The digest of a resolved member: SHA-256 of its JSON with sorted keys."""
    return hashlib.sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


def _trigger(command: CreateSchedule) -> tuple[dict[str, object], dict[str, object]] | None:
    """A trigger as authored and as resolved; ``None`` when a declaration cannot say it."""
    match command.trigger:
        case CronTrigger(expression=expression, timezone=str(zone)):
            spelt = {"expression": expression.strip(), "timezone": zone}
            return {"cron": spelt}, {"kind": "cron", **spelt}
        case IntervalTrigger(seconds=seconds) if seconds <= _LONGEST_INTERVAL:
            return {"every": f"{seconds}s"}, {"kind": "every", "interval_sec": seconds, "raw": f"{seconds}s"}
        case AtTrigger(at=at):
            written = datetime.fromtimestamp(at, UTC).isoformat()
            return {"at": written}, {"kind": "at", "at": written, "epoch": at}
        case GithubPollTrigger(repository=repository, poll_interval_seconds=every, filters=filters) if every == _POLL_DEFAULT:
            spelt_poll: dict[str, object] = {"repo": repository, "filter": filters or None}
            return {"github": spelt_poll}, {"kind": "github", **spelt_poll}
    return None


def _target(action: ScheduleAction) -> dict[str, object] | None:
    """An action as a target; ``None`` when a declaration cannot say it without losing something."""
    if action.extra_args or action.on_success is not None or action.on_fail is not None:
        return None
    match action:
        case ScheduleAction(kind="agent", agent=str(profile), prompt=str(prompt)):
            return {"kind": "agent", "profile": profile, "prompt": prompt, "model": action.model}
        case ScheduleAction(kind="play", prompt=prompt) if not prompt:
            return _playbook(action)
        case ScheduleAction(kind="command", command=str(executable)):
            return {"kind": "command", "executable": executable, "args": list(action.command_args)}
    return None


def _playbook(action: ScheduleAction) -> dict[str, object]:
    return {"kind": "playbook", "name": action.playbook, "args": dict(action.playbook_args)}


def _execution(action: ScheduleAction) -> dict[str, object]:
    """Only what was written: an absent project means that of the document, an explicit null means none."""
    written = {"cwd": action.cwd, "project": action.project}
    return {key: value for key, value in written.items() if value is not None}


def _policies(command: CreateSchedule) -> dict[str, object]:
    has_budget = command.budget_usd is not None or command.budget_tokens is not None
    return {
        "missedFire": command.missed_fire_policy,
        "overlap": command.overlap_policy,
        "maxRuns": command.max_runs,
        "budget": {"usd": command.budget_usd, "tokens": command.budget_tokens} if has_budget else None,
        "rateLimit": None if command.rate_limit is None else command.rate_limit.model_dump(),
    }
