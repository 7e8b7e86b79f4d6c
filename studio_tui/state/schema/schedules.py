"""Schedules, their firings (schedule_runs), workers and the outbox."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Integer, Table, Text

from studio_tui.state.schema.base import index, metadata
from studio_tui.state.schema.types import LenientJSON

schedules = Table(
    "schedules",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("description", Text),
    Column(
        "enabled", Integer, CheckConstraint("enabled IN (0,1)", name="ck_schedules_enabled"), nullable=False, server_default="1"
    ),
    Column(
        "trigger_type",
        Text,
        CheckConstraint("trigger_type IN ('cron','interval','github_poll','at')", name="ck_schedules_trigger_type"),
        nullable=False,
    ),
    Column("cron_expr", Text),
    Column("interval_sec", Integer),
    Column("github_repo", Text),
    Column("github_filter", LenientJSON),
    Column("github_cursor", Text),
    Column("poll_interval_sec", Integer),
    Column(
        "action_kind",
        Text,
        CheckConstraint("action_kind IN ('agent','flow','fanout','play','flow_yaml','command')", name="ck_schedules_action_kind"),
        nullable=False,
    ),
    Column("action_model", Text),
    Column("action_prompt", Text),
    Column("action_agent", Text),
    Column("action_playbook", Text),
    Column("action_flow_yaml", Text),
    Column("action_project", Text),
    Column("action_cwd", Text),
    Column("action_extra_args", LenientJSON, server_default="[]"),
    Column("action_command", Text),
    Column("action_command_args", LenientJSON, server_default="[]"),
    Column("on_success", LenientJSON),
    Column("on_fail", LenientJSON),
    Column("last_fired_at", Float),
    Column("next_fire_at", Float),
    Column(
        "missed_fire_policy",
        Text,
        CheckConstraint("missed_fire_policy IN ('skip','run_once')", name="ck_schedules_missed_fire_policy"),
        nullable=False,
        server_default="skip",
    ),
    Column(
        "overlap_policy",
        Text,
        CheckConstraint("overlap_policy IN ('skip','allow')", name="ck_schedules_overlap_policy"),
        nullable=False,
        server_default="skip",
    ),
    Column("max_runs", Integer),
    Column("budget_usd", Float),
    Column("budget_tokens", Integer),
    Column("rate_limit", LenientJSON),
    Column("project", Text),
    Column("threshold_config", LenientJSON),
    Column("last_alert_at", Float),
    Column("last_evaluated_at", Float),
    Column("last_healthy_poll_at", Float),
    Column("poller_consecutive_401", Integer, nullable=False, server_default="0"),
    Column("predispatch_refusal_event", Text),
    Column("predispatch_refusal_count", Integer, nullable=False, server_default="0"),
    Column("spec_version", Text),
    Column(
        "managed_by",
        Text,
        CheckConstraint("managed_by IS NULL OR managed_by IN ('cli','declaration')", name="ck_schedules_managed_by"),
    ),
    Column("owner_key", Text),
    Column("authored_spec", LenientJSON),
    Column("resolved_target", LenientJSON),
    Column("resolved_digest", Text),
    Column("resolved_timezone", Text),
    Column("effective_timezone", Text),
    Column("effective_timezone_source", Text),
    Column("notify_on", LenientJSON),
    Column("notify_command", Text),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
)
index("idx_schedules_enabled", schedules.c.enabled, schedules.c.next_fire_at, where="enabled = 1")
index("idx_schedules_name", schedules.c.name)
index("idx_schedules_owner_key", schedules.c.owner_key, where="owner_key IS NOT NULL")
index("idx_schedules_project", schedules.c.project, where="project IS NOT NULL")

schedule_runs = Table(
    "schedule_runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("schedule_id", Text, ForeignKey("schedules.id", ondelete="CASCADE")),
    Column("invocation_id", Text, ForeignKey("invocations.id")),
    Column("trigger_context", LenientJSON, nullable=False),
    Column("action_kind", Text, nullable=False),
    Column("action_args", LenientJSON, nullable=False),
    Column(
        "status",
        Text,
        CheckConstraint(
            "status IN ('queued','waiting_dependency','running','retry_wait',"
            "'completed','failed','timed_out','skipped','cancelled')",
            name="ck_schedule_runs_status",
        ),
        nullable=False,
        server_default="running",
    ),
    Column("exit_code", Integer),
    Column("chain_parent_id", Text, ForeignKey("schedule_runs.id")),
    Column("chain_depth", Integer, nullable=False, server_default="0"),
    Column("fired_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("error_detail", Text),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float),
    Column("status_reason_code", Text),
    Column("status_reason_summary", Text),
    Column("status_evidence_refs", LenientJSON),
    Column("queued_at", Float),
    Column("leased_by", Text),
    Column("lease_expires_at", Float),
    Column("concurrency_key", Text),
    Column("lease_attempts", Integer, nullable=False, server_default="0"),
    Column("required_capabilities", LenientJSON),
    Column("execution_target", Text),
    Column("library_ref", Text),
    Column("library_content_hash", Text),
    Column("dispatched_at", Float),
    Column("resume_packet", LenientJSON),
)
index("idx_sched_runs_invocation", schedule_runs.c.invocation_id, where="invocation_id IS NOT NULL")
index("idx_sched_runs_schedule", schedule_runs.c.schedule_id, schedule_runs.c.fired_at)
index("idx_sched_runs_status", schedule_runs.c.status, where="status = 'running'")
index(
    "idx_schedule_runs_concurrency",
    schedule_runs.c.concurrency_key,
    schedule_runs.c.status,
    where="status IN ('queued', 'running', 'retry_wait')",
)
index("idx_schedule_runs_queue", schedule_runs.c.status, schedule_runs.c.queued_at, where="status IN ('queued', 'retry_wait')")

workers = Table(
    "workers",
    metadata,
    Column("worker_id", Text, primary_key=True),
    Column("advertised_capabilities", LenientJSON, nullable=False, server_default="[]"),
    Column("execution_targets", LenientJSON, nullable=False, server_default="[]"),
    Column("last_heartbeat_at", Float, nullable=False),
    Column("leased_run_id", Text, ForeignKey("schedule_runs.id")),
)
index("idx_workers_heartbeat", workers.c.last_heartbeat_at)

dispatch_outbox = Table(
    "dispatch_outbox",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("deliver_to", Text, nullable=False),
    Column("payload", LenientJSON, nullable=False),
    Column("dedup_key", Text),
    Column(
        "status",
        Text,
        CheckConstraint(
            "status IN ('pending','delivering','delivered','acked','dead_letter','expired')", name="ck_dispatch_outbox_status"
        ),
        nullable=False,
        server_default="pending",
    ),
    Column("attempt", Integer, nullable=False, server_default="0"),
    Column("max_attempts", Integer, nullable=False, server_default="8"),
    Column("next_attempt_at", Float, nullable=False),
    Column("ack_required", Integer, nullable=False, server_default="0"),
    Column("ack_token", Text),
    Column("session_id", Text, ForeignKey("sessions.id")),
    Column("schedule_run_id", Text, ForeignKey("schedule_runs.id")),
    Column("last_error", Text),
    Column("created_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("updated_at", Float),
)
index("idx_dispatch_outbox_dedup", dispatch_outbox.c.dedup_key, unique=True, where="dedup_key IS NOT NULL")
index(
    "idx_dispatch_outbox_due",
    dispatch_outbox.c.status,
    dispatch_outbox.c.next_attempt_at,
    where="status IN ('pending', 'delivering')",
)
