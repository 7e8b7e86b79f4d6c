"""What the store knows of schedules and their firings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

TRIGGERS: Final = ("cron", "interval", "at", "github_poll")
ACTIONS: Final = ("agent", "flow", "fanout", "play", "flow_yaml", "command")
MISSED_FIRE_POLICIES: Final = ("skip", "run_once")
OVERLAP_POLICIES: Final = ("skip", "allow")


@dataclass(frozen=True, slots=True)
class Zone:
    """A time zone by IANA name, and where the choice came from.

    Sources: ``env:LIONAGI_SCHEDULER_TZ``, ``env:TZ``, ``system:localtime``, ``fallback:utc``,
    ``schedule:resolved_timezone``, ``fallback:utc:unloadable-name`` (lionagi 0.36).
    """

    name: str
    source: str

    @property
    def is_fallback(self) -> bool:
        """Whether nobody chose this zone."""
        return self.source.startswith("fallback:")


@dataclass(frozen=True, slots=True)
class ScheduleRecord:
    """One schedule as stored. Times are epoch seconds, lengths seconds; ``None`` is absent.

    JSON columns arrive decoded; SQL NULL and JSON ``null`` are both ``None``. ``defects`` names the columns whose
    stored value could not be read as what it should be: such a schedule is shown as broken and fires nothing.
    """

    schedule_id: str
    name: str
    enabled: bool
    trigger_type: str
    action_kind: str
    description: str | None = None
    cron_expr: str | None = None
    interval_sec: float | None = None
    github_repo: str | None = None
    github_cursor: str | None = None
    github_filter: Mapping[str, object] | None = None
    poll_interval_sec: float | None = None
    action_model: str | None = None
    action_prompt: str | None = None
    action_agent: str | None = None
    action_playbook: str | None = None
    action_flow_yaml: str | None = None
    action_project: str | None = None
    action_cwd: str | None = None
    action_extra_args: tuple[str, ...] = ()
    action_command: str | None = None
    action_command_args: tuple[str, ...] = ()
    action_playbook_args: Mapping[str, object] = field(default_factory=dict)
    on_success: Mapping[str, object] | None = None
    on_fail: Mapping[str, object] | None = None
    last_fired_at: float | None = None
    next_fire_at: float | None = None
    missed_fire_policy: str = "skip"
    overlap_policy: str = "skip"
    max_runs: int | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    rate_limit: Mapping[str, object] | None = None
    threshold_config: Mapping[str, object] | None = None
    last_healthy_poll_at: float | None = None
    last_evaluated_at: float | None = None
    last_alert_at: float | None = None
    poller_consecutive_401: int = 0
    predispatch_refusal_event: str | None = None
    predispatch_refusal_count: int = 0
    project: str | None = None
    managed_by: str | None = None
    owner_key: str | None = None
    resolved_timezone: str | None = None
    effective_timezone: str | None = None
    effective_timezone_source: str | None = None
    notify_on: tuple[str, ...] = ()
    notify_command: str | None = None
    created_at: float | None = None
    updated_at: float | None = None
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FiringRecord:
    """One row of ``schedule_runs``: a firing, a skip or a refusal. Times are epoch seconds."""

    run_id: str
    schedule_id: str | None
    invocation_id: str | None
    status: str
    action_kind: str
    fired_at: float | None
    dispatched_at: float | None = None
    ended_at: float | None = None
    exit_code: int | None = None
    error_detail: str | None = None
    chain_parent_id: str | None = None
    chain_depth: int = 0
    reason_code: str | None = None
    reason_summary: str | None = None
    argv: tuple[str, ...] = ()
    trigger_context: Mapping[str, object] = field(default_factory=dict)
    session_ids: tuple[str, ...] = ()
    updated_at: float | None = None
