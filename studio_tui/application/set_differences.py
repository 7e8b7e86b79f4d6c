"""What differs between a schedule as it is stored and as a set declares it, in the words of the document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from studio_tui.application.models.schedule_sets import SetChange
from studio_tui.application.ports.schedule_sets import DeclaredRow
from studio_tui.application.set_resolving import ResolvedMember
from studio_tui.application.wellformed import mended_json
from studio_tui.domain.schedules import ScheduleRecord

TRIGGER_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "trigger_type": "trigger",
        "cron_expr": "trigger.cron.expression",
        "resolved_timezone": "trigger.cron.timezone",
        "interval_sec": "trigger.every",
        "github_repo": "trigger.github.repo",
    }
)
"""Columns that decide when a schedule fires; a one-shot's instant is looked at apart."""

SILENT_COLUMNS: Final[Mapping[str, Any]] = MappingProxyType(
    {"poll_interval_sec": None, "action_extra_args": [], "on_success": None, "on_fail": None, "threshold_config": None}
)
"""Columns that a declaration cannot say, and what they hold in a schedule that it made."""

_COLUMNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **TRIGGER_COLUMNS,
        "github_filter": "trigger.github.filter",
        "action_kind": "target.kind",
        "action_agent": "target.profile",
        "action_model": "target.model",
        "action_prompt": "target.prompt",
        "action_playbook": "target.name",
        "action_playbook_args": "target.args",
        "action_command": "target.executable",
        "action_command_args": "target.args",
        "action_flow_yaml": "target.file",
        "action_cwd": "execution.cwd",
        "action_project": "execution.project",
        "missed_fire_policy": "policies.missedFire",
        "overlap_policy": "policies.overlap",
        "max_runs": "policies.maxRuns",
        "budget_usd": "policies.budget.usd",
        "budget_tokens": "policies.budget.tokens",
        "rate_limit": "policies.rateLimit",
        "notify_on": "notify.on",
        "notify_command": "notify.command",
        "enabled": "enabled",
        "description": "description",
        **{column: column.removeprefix("action_") for column in SILENT_COLUMNS},
    }
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One column that differs."""

    column: str
    stored: Any
    declared: Any

    def shown(self) -> SetChange:
        """As a caller sees it: a flow by its length and digest, since it may be long."""
        stored, declared = (_shown(self.column, value) for value in (self.stored, self.declared))
        return SetChange(field=_COLUMNS.get(self.column, self.column), stored=stored, declared=declared)


def differences(row: DeclaredRow, member: ResolvedMember, now: float) -> tuple[Difference, ...]:
    """Everything that applying the member would change of the row; nothing when it stands as declared."""
    found = [*_of_columns(row.schedule, member.record), *_of_instant(row, member, now)]
    return tuple(found) or tuple(_of_digest(row, member))


def column_differences(stored: ScheduleRecord, declared: ScheduleRecord) -> Iterator[Difference]:
    """The columns that do not hold what is declared."""
    yield from _of_columns(stored, declared)


def _of_columns(stored: ScheduleRecord, declared: ScheduleRecord) -> Iterator[Difference]:
    for column in _COLUMNS:
        before, after = getattr(stored, column), getattr(declared, column)
        if before != after:
            yield Difference(column, before, after)


def _of_instant(row: DeclaredRow, member: ResolvedMember, now: float) -> Iterator[Difference]:
    """A one-shot's instant is stored only until it fires; what was declared tells whether it is another one now."""
    at, stands = member.record.next_fire_at, row.schedule.next_fire_at
    if at is None or row.schedule.trigger_type != "at":
        return
    trigger = (row.resolved or {}).get("trigger")
    known = trigger.get("epoch") if isinstance(trigger, dict) else None
    if (known is not None and known != at) or (at > now and stands != at) or (known is None and stands not in (None, at)):
        yield Difference("next_fire_at", stands if stands is not None else known, at)


def _of_digest(row: DeclaredRow, member: ResolvedMember) -> Iterator[Difference]:
    """The same columns, yet another declaration: an agent's profile, or another spelling of the same."""
    if row.digest != member.digest:
        seen, declared = ((whole or {}).get("target", {}) for whole in (row.resolved, member.resolved))
        profiles = [target.get("profile_digest") if isinstance(target, dict) else None for target in (seen, declared)]
        yield Difference("target.profile" if profiles[0] != profiles[1] else "declaration", row.digest, member.digest)


def _shown(column: str, value: Any) -> Any:
    if column == "action_flow_yaml" and value is not None:
        sha256 = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{len(value)} characters, SHA-256 {sha256[:12]}"
    if column == "interval_sec" and value is not None:
        return f"{value:g}s"
    return mended_json(value)
