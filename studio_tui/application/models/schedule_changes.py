"""Commands that make, change, switch, fire and delete schedules, and what they answer (ADR-0078 D2, D4)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from studio_tui.application.models.common import ContractModel, Epoch, Usd
from studio_tui.application.models.schedule_parts import (
    Count,
    MissedFirePolicy,
    OverlapPolicy,
    RateLimit,
    ScheduleAction,
    Threshold,
    Trigger,
)

Budget = Annotated[Usd, Field(strict=True, gt=0)]


class CreateSchedule(ContractModel):
    """Make a schedule."""

    kind: Literal["create"] = "create"
    name: str
    trigger: Trigger
    action: ScheduleAction
    description: str | None = None
    enabled: bool = True
    missed_fire_policy: MissedFirePolicy = "skip"
    overlap_policy: OverlapPolicy = "skip"
    max_runs: Count | None = None
    budget_usd: Budget | None = None
    budget_tokens: Count | None = None
    rate_limit: RateLimit | None = None
    threshold_config: Threshold | None = None
    project: str | None = None


class SchedulePatch(ContractModel):
    """What to change. A field that is not set stays as it is; an explicit ``None`` clears it.

    The same holds inside ``trigger`` and ``action``: of the kind that is stored, only what is set is changed. Of another kind,
    the fields that only the old kind uses go; ``cwd``, ``project`` and the chain stay.
    """

    name: str | None = None
    description: str | None = None
    trigger: Trigger | None = None
    action: ScheduleAction | None = None
    missed_fire_policy: MissedFirePolicy | None = None
    overlap_policy: OverlapPolicy | None = None
    max_runs: Count | None = None
    budget_usd: Budget | None = None
    budget_tokens: Count | None = None
    rate_limit: RateLimit | None = None
    threshold_config: Threshold | None = None
    github_cursor: str | None = None
    project: str | None = None


class PatchSchedule(ContractModel):
    """Change a schedule. ``expected_updated_at`` is the exact value that the caller saw."""

    kind: Literal["patch"] = "patch"
    schedule_id: str
    expected_updated_at: Epoch
    changes: SchedulePatch


class SetScheduleEnabled(ContractModel):
    """Turn a schedule on or off. ``expected_updated_at`` is the exact value that the caller saw, or ``None`` for any.

    ``reason`` has 1 to 500 characters and goes into the history.
    """

    kind: Literal["set_enabled"] = "set_enabled"
    schedule_id: str
    enabled: bool
    expected_updated_at: Epoch | None = None
    reason: str | None = None


ScheduleCommand = CreateSchedule | PatchSchedule | SetScheduleEnabled


class ScheduleResult(ContractModel):
    """What a schedule is after a command, what changed, and what its author should know about it."""

    schedule_id: str
    name: str
    enabled: bool
    updated_at: Epoch
    next_fire_at: Epoch | None
    changed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class DeleteSchedule(ContractModel):
    """Delete a schedule and all of its firings. While one of them runs this is refused, unless ``although_running``."""

    schedule_id: str
    expected_updated_at: Epoch | None = None
    although_running: bool = False


class Deletion(ContractModel):
    """What vanishes with a schedule: how many rows of firings, and the ids of those that run now.

    ``obstacle`` says in words why it cannot be deleted whatever the caller says.
    """

    schedule_id: str
    name: str
    firings: int
    running: tuple[str, ...] = ()
    obstacle: str | None = None


class FireNow(ContractModel):
    """Ask for one firing now, whatever the trigger says. Caps still apply."""

    schedule_id: str


class FireResult(ContractModel):
    """The firing that a :class:`FireNow` started."""

    firing_id: str
    schedule_id: str
    name: str
