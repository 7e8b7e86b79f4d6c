"""Schedules: triggers and actions as typed unions, commands, list rows, firings."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from studio_tui.application.models.common import ContractModel, Epoch, Seconds, StateWord, Usd


class CronTrigger(ContractModel):
    """Fires at the instants of a cron expression, read in ``timezone`` (IANA) or, without one, in the host's zone."""

    kind: Literal["cron"] = "cron"
    expression: str
    timezone: str | None = None


class IntervalTrigger(ContractModel):
    """Fires every ``seconds``, counted from the planned instant before."""

    kind: Literal["interval"] = "interval"
    seconds: int = Field(ge=1)


class AtTrigger(ContractModel):
    """Fires once."""

    kind: Literal["at"] = "at"
    at: Epoch


class GithubPollTrigger(ContractModel):
    """Fires for events of a GitHub repository."""

    kind: Literal["github_poll"] = "github_poll"
    repository: str
    poll_interval_seconds: int = Field(ge=1)
    filters: dict[str, JsonValue] = Field(default_factory=dict)


Trigger = Annotated[CronTrigger | IntervalTrigger | AtTrigger | GithubPollTrigger, Field(discriminator="kind")]
MissedFirePolicy = Literal["skip", "run_once"]
OverlapPolicy = Literal["skip", "allow"]


class ScheduleAction(ContractModel):
    """What a firing runs. Which fields a kind needs is checked by the operation, not by the shape."""

    kind: Literal["agent", "flow", "fanout", "play", "flow_yaml", "command"]
    model: str | None = None
    prompt: str | None = None
    agent: str | None = None
    playbook: str | None = None
    playbook_args: dict[str, JsonValue] = Field(default_factory=dict)
    flow_yaml: str | None = None
    command: str | None = None
    command_args: tuple[str, ...] = ()
    cwd: str | None = None
    project: str | None = None
    extra_args: tuple[str, ...] = ()
    on_success: dict[str, JsonValue] | None = None
    on_fail: dict[str, JsonValue] | None = None


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
    max_runs: int | None = Field(default=None, ge=1)
    budget_usd: Usd | None = Field(default=None, gt=0)
    budget_tokens: int | None = Field(default=None, ge=1)
    project: str | None = None


class SetScheduleEnabled(ContractModel):
    """Turn a schedule on or off. ``expected_updated_at`` is the exact value that the caller saw, or ``None`` for any."""

    kind: Literal["set_enabled"] = "set_enabled"
    schedule_id: str
    enabled: bool
    expected_updated_at: Epoch | None = None
    reason: str | None = Field(default=None, max_length=500)


class ScheduleResult(ContractModel):
    """What a schedule is after a command, and what its author should know about it."""

    schedule_id: str
    name: str
    enabled: bool
    updated_at: Epoch
    next_fire_at: Epoch | None
    warnings: tuple[str, ...] = ()


class FireNow(ContractModel):
    """Ask for one firing now, whatever the trigger says. Caps still apply."""

    schedule_id: str


class FireResult(ContractModel):
    """The firing that a :class:`FireNow` started."""

    firing_id: str
    schedule_id: str
    name: str


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


class Fire(ContractModel):
    """One coming fire: the instant and its wall-clock text in the schedule's own zone, with a note on daylight saving."""

    at: Epoch
    local: str
    note: str | None = None


class ScheduleDetail(ScheduleSummary):
    """One schedule with its policies, action and coming fires."""

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
    """Ask for the next fires of a trigger that is not saved yet."""

    trigger: Trigger
    after: Epoch | None = None
    count: int = Field(default=5, ge=1, le=100)


class Cadence(ContractModel):
    """A trigger in words, its zone, its next fires, and what an author should know about it."""

    words: str
    zone: str | None
    zone_source: str | None
    fires: tuple[Fire, ...]
    warnings: tuple[str, ...] = ()
