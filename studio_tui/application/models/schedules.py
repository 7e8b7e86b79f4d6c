"""Schedules as lists and details show them, their firings, and the coming fires of a trigger.

What a schedule is made of stands in ``schedule_parts``, the commands in ``schedule_changes``; both can be had from here.
"""

from __future__ import annotations

from pydantic import Field

from studio_tui.application.models.common import CalendarMoment, ContractModel, Epoch, Seconds, StateWord, Usd
from studio_tui.application.models.schedule_changes import CreateSchedule as CreateSchedule
from studio_tui.application.models.schedule_changes import DeleteSchedule as DeleteSchedule
from studio_tui.application.models.schedule_changes import Deletion as Deletion
from studio_tui.application.models.schedule_changes import FireNow as FireNow
from studio_tui.application.models.schedule_changes import FireResult as FireResult
from studio_tui.application.models.schedule_changes import PatchSchedule as PatchSchedule
from studio_tui.application.models.schedule_changes import ScheduleCommand as ScheduleCommand
from studio_tui.application.models.schedule_changes import SchedulePatch as SchedulePatch
from studio_tui.application.models.schedule_changes import ScheduleResult as ScheduleResult
from studio_tui.application.models.schedule_changes import SetScheduleEnabled as SetScheduleEnabled
from studio_tui.application.models.schedule_parts import ActionKind as ActionKind
from studio_tui.application.models.schedule_parts import AtTrigger as AtTrigger
from studio_tui.application.models.schedule_parts import CronTrigger as CronTrigger
from studio_tui.application.models.schedule_parts import GithubPollTrigger as GithubPollTrigger
from studio_tui.application.models.schedule_parts import IntervalTrigger as IntervalTrigger
from studio_tui.application.models.schedule_parts import MissedFirePolicy as MissedFirePolicy
from studio_tui.application.models.schedule_parts import OverlapPolicy as OverlapPolicy
from studio_tui.application.models.schedule_parts import RateLimit as RateLimit
from studio_tui.application.models.schedule_parts import ScheduleAction as ScheduleAction
from studio_tui.application.models.schedule_parts import Threshold as Threshold
from studio_tui.application.models.schedule_parts import Trigger as Trigger


class ScheduleQuery(ContractModel):
    """Which schedules to list, by name. ``text`` is looked for literally in the name."""

    enabled: bool | None = None
    text: str | None = None
    cursor: str | None = None
    limit: int = Field(default=200, ge=1, le=1000)


class ScheduleSummary(ContractModel):
    """One schedule in a list.

    ``state`` is ON, OFF, DONE (nothing left to fire) or BROKEN. ``trigger`` is in words. ``zone`` and ``zone_source`` say in
    which zone a cron expression is read and who chose it; both are ``None`` for other triggers. ``outcomes`` holds the last
    ten firings and skips, oldest first. ``blocked`` is set when this program will not fire the schedule, and says why.
    """

    schedule_id: str
    name: str
    state: StateWord
    enabled: bool
    trigger: str
    trigger_type: str
    action: str
    action_kind: str
    zone: str | None = None
    zone_source: str | None = None
    next_fire_at: Epoch | None = None
    last_fired_at: Epoch | None = None
    outcomes: tuple[StateWord, ...] = ()
    running: int = 0
    health: str = "unknown"
    consecutive_failures: int = 0
    owner: str | None = None
    description: str | None = None
    blocked: str | None = None
    problems: tuple[str, ...] = ()
    updated_at: Epoch | None = None


class ScheduleDefinition(ContractModel):
    """What can be edited of a schedule, as it is stored; the form and the command line start from it.

    ``trigger``, ``action`` and the limits are ``None`` where nothing is stored or what is stored is broken.
    """

    name: str
    description: str | None = None
    trigger: Trigger | None = None
    action: ScheduleAction | None = None
    missed_fire_policy: str = "skip"
    overlap_policy: str = "skip"
    max_runs: int | None = None
    budget_usd: Usd | None = None
    budget_tokens: int | None = None
    rate_limit: RateLimit | None = None
    threshold_config: Threshold | None = None
    github_cursor: str | None = None
    project: str | None = None


class Fire(ContractModel):
    """One coming fire: the instant and its wall-clock text in the schedule's own zone, with a note on daylight saving."""

    at: Epoch
    local: str
    note: str | None = None


class ScheduleDetail(ScheduleSummary):
    """One schedule with its policies, action and coming fires; ``chain`` says in words what follows a firing."""

    cron_expression: str | None = None
    interval: Seconds | None = None
    missed_fire_policy: str = "skip"
    overlap_policy: str = "skip"
    max_runs: int | None = None
    executed_runs: int = 0
    budget_usd: Usd | None = None
    budget_tokens: int | None = None
    command_line: tuple[str, ...] = ()
    working_directory: str | None = None
    project: str | None = None
    prompt: str | None = None
    managed_by: str | None = None
    created_at: Epoch | None = None
    next_fires: tuple[Fire, ...] = ()
    chain: tuple[str, ...] = ()
    definition: ScheduleDefinition | None = None


class FiringQuery(ContractModel):
    """Firings, skips and refusals of one schedule, newest first."""

    schedule_id: str
    cursor: str | None = None
    limit: int = Field(default=50, ge=1, le=200)


class Firing(ContractModel):
    """One firing, skip or refusal, with the end of its output where that is still to be had.

    ``output_tail`` holds the last part of what the process wrote (both streams), as text; ``output_bytes`` its full size.
    """

    firing_id: str
    schedule_id: str | None
    state: StateWord
    status: str
    fired_at: Epoch | None
    ended_at: Epoch | None = None
    duration: Seconds | None = None
    exit_code: int | None = None
    trigger: str = ""
    reason_code: str | None = None
    reason: str = ""
    chain_depth: int = 0
    invocation_id: str | None = None
    run_ids: tuple[str, ...] = ()
    command_line: tuple[str, ...] = ()
    output_tail: str | None = None
    output_bytes: int | None = None


class CadenceQuery(ContractModel):
    """Ask for the next fires of a trigger that is not saved yet.

    ``since`` is what an interval counts from: the last fire of a stored schedule, or when it was made. Without it, now.
    """

    trigger: Trigger
    since: Epoch | None = None
    after: CalendarMoment | None = None
    count: int = Field(default=5, ge=1, le=100)


class Cadence(ContractModel):
    """A trigger in words, its zone, its next fires, and what an author should know about it."""

    words: str
    zone: str | None
    zone_source: str | None
    fires: tuple[Fire, ...]
    warnings: tuple[str, ...] = ()
