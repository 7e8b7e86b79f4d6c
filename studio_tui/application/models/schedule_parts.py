"""What a schedule is made of: its trigger, its action, and the limits that it keeps to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue

from studio_tui.application.models.common import ContractModel, Epoch

Count = Annotated[int, Field(strict=True, ge=1)]
"""A whole number of at least 1; true and 2.0 are none."""


class CronTrigger(ContractModel):
    """Fires at the instants of a cron expression, read in ``timezone`` (IANA) or, without one, in the host's zone."""

    kind: Literal["cron"] = "cron"
    expression: str
    timezone: str | None = None


class IntervalTrigger(ContractModel):
    """Fires every ``seconds``, counted from the planned instant before."""

    kind: Literal["interval"] = "interval"
    seconds: Count


class AtTrigger(ContractModel):
    """Fires once."""

    kind: Literal["at"] = "at"
    at: Epoch


class GithubPollTrigger(ContractModel):
    """Fires for events of a GitHub repository."""

    kind: Literal["github_poll"] = "github_poll"
    repository: str
    poll_interval_seconds: Count
    filters: dict[str, JsonValue] = Field(default_factory=dict)


Trigger = Annotated[CronTrigger | IntervalTrigger | AtTrigger | GithubPollTrigger, Field(discriminator="kind")]
MissedFirePolicy = Literal["skip", "run_once"]
OverlapPolicy = Literal["skip", "allow"]
ActionKind = Literal["agent", "flow", "fanout", "play", "flow_yaml", "command"]


class ScheduleAction(ContractModel):
    """What a firing runs. Which fields a kind needs is checked by the operation, not by the shape.

    ``on_success`` and ``on_fail`` are steps that follow a firing: objects that are laid over the action (shallow). A step that
    does not name the branch which led to it inherits it, and repeats until the depth limit; null stops there.
    """

    kind: ActionKind
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


class RateLimit(ContractModel):
    """At most ``max_fires`` firings in any ``window_sec`` seconds; a firing beyond them waits."""

    max_fires: Count
    window_sec: Count


class Threshold(ContractModel):
    """Fires only while a figure of the whole store is beyond ``value`` over the last ``window_minutes``."""

    metric: Literal[
        "failed_sessions",
        "total_cost_usd",
        "p95_latency_ms",
        "github_poll_healthy_age_minutes",
        "github_poll_consecutive_401",
    ]
    op: Literal["gt", "gte"]
    value: float = Field(allow_inf_nan=False)
    window_minutes: Count
