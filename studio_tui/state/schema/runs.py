"""Runs (sessions), what started them (invocations), their branches, tags, controls, signals and artifacts."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Integer, Table, Text

from studio_tui.state.schema.base import index, metadata, unique
from studio_tui.state.schema.types import LenientJSON

projects = Table(
    "projects",
    metadata,
    Column("name", Text, primary_key=True),
    Column("source", Text, nullable=False),
    Column("path", Text),
    Column("github", Text),
    Column("description", Text),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("last_seen_at", Float),
)
index("idx_projects_source", projects.c.source)
index("idx_projects_updated", projects.c.updated_at)

invocations = Table(
    "invocations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("skill", Text, nullable=False),
    Column("plugin", Text),
    Column("prompt", Text),
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    Column(
        "status",
        Text,
        CheckConstraint(
            "status IN ('running','completed','completed_empty','failed','timed_out','aborted','cancelled')",
            name="ck_invocations_status",
        ),
        nullable=False,
        server_default="running",
    ),
    Column("session_count", Integer, nullable=False, server_default="0"),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("node_metadata", LenientJSON),
    Column("status_reason_code", Text),
    Column("status_reason_summary", Text),
    Column("status_evidence_refs", LenientJSON),
)
index("idx_invocations_reaper", invocations.c.status, invocations.c.started_at, invocations.c.id)
index("idx_invocations_skill", invocations.c.skill)
index("idx_invocations_status", invocations.c.status)
index("idx_invocations_updated", invocations.c.updated_at)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("cc_session_id", Text),
    Column("run_id", Text),
    Column("created_at", Float, nullable=False),
    Column("node_metadata", LenientJSON),
    Column("name", Text),
    Column("user_label", Text),
    Column("user", Text),
    Column("progression_id", Text, ForeignKey("progressions.id"), nullable=False),
    Column("first_msg_id", Text, ForeignKey("messages.id")),
    Column("last_msg_id", Text, ForeignKey("messages.id")),
    Column("updated_at", Float, nullable=False),
    Column("playbook_name", Text),
    Column("agent_name", Text),
    Column(
        "invocation_kind",
        Text,
        CheckConstraint(
            "invocation_kind IS NULL OR invocation_kind IN ('agent','play','flow','fanout','show-play','engine')",
            name="ck_sessions_invocation_kind",
        ),
    ),
    Column("show_topic", Text),
    Column("show_play_name", Text),
    Column("artifacts_path", Text),
    Column(
        "source_kind",
        Text,
        CheckConstraint(
            "source_kind IS NULL OR source_kind IN ('live','imported_fs','imported_codex')", name="ck_sessions_source_kind"
        ),
        server_default="live",
    ),
    Column("status", Text),
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("ended_at_is_approximate", Integer, nullable=False, server_default="0"),
    Column("last_message_at", Float),
    Column("current_phase", Text),
    Column("invocation_id", Text, ForeignKey("invocations.id")),
    Column("model", Text),
    Column("provider", Text),
    Column("effort", Text),
    Column("agent_hash", Text),
    Column("project", Text),
    Column("project_source", Text),
    Column("status_reason_code", Text),
    Column("status_reason_summary", Text),
    Column("status_evidence_refs", LenientJSON),
    Column("artifact_contract_json", LenientJSON),
    Column("artifact_verification_json", LenientJSON),
    Column("input_tokens", Integer),
    Column("output_tokens", Integer),
    Column("total_cost_usd", Float),
    Column("num_turns", Integer),
    Column("duration_ms", Float),
)
index("idx_sessions_cc_session", sessions.c.cc_session_id, where="cc_session_id IS NOT NULL")
index("idx_sessions_first_msg_id", sessions.c.first_msg_id)
index("idx_sessions_invocation", sessions.c.invocation_id, where="invocation_id IS NOT NULL")
index(
    "idx_sessions_invocation_status_created",
    sessions.c.invocation_id,
    sessions.c.status,
    sessions.c.created_at,
    sessions.c.id,
    where="invocation_id IS NOT NULL",
)
index("idx_sessions_last_msg_id", sessions.c.last_msg_id)
index("idx_sessions_progression_id", sessions.c.progression_id)
index("idx_sessions_project", sessions.c.project, where="project IS NOT NULL")
index("idx_sessions_run_id", sessions.c.run_id, where="run_id IS NOT NULL")
index("idx_sessions_status_last_msg", sessions.c.status, sessions.c.last_message_at, where="status = 'running'")
index("idx_sessions_status_updated", sessions.c.status, sessions.c.updated_at)
index(
    "idx_sessions_terminal_missing_end",
    sessions.c.id,
    where="ended_at IS NULL AND status IN ('completed','completed_empty','failed','timed_out','aborted','cancelled')",
)
index("idx_sessions_updated", sessions.c.updated_at)

branches = Table(
    "branches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("created_at", Float, nullable=False),
    Column("node_metadata", LenientJSON),
    Column("user", Text),
    Column("name", Text),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("progression_id", Text, ForeignKey("progressions.id"), nullable=False),
    Column("system_msg_id", Text, ForeignKey("messages.id")),
    Column("model", Text),
    Column("provider", Text),
    Column("agent_name", Text),
    Column("status", Text),
    Column("started_at", Float),
    Column("ended_at", Float),
)
index("idx_branches_progression_id", branches.c.progression_id)
index("idx_branches_session_created", branches.c.session_id, branches.c.created_at)
index("idx_branches_system_msg_id", branches.c.system_msg_id)

run_tags = Table(
    "run_tags",
    metadata,
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    Column("tag", Text, primary_key=True),
    Column("created_at", Float, nullable=False),
)
index("idx_run_tags_tag", run_tags.c.tag)

session_signals = Table(
    "session_signals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("op_id", Text, nullable=False, server_default=""),
    Column("ts", Float, nullable=False),
    Column("payload", LenientJSON, nullable=False, server_default="{}"),
)
unique("idx_session_signals_seq", session_signals.c.session_id, session_signals.c.seq)
index("idx_session_signals_session_ts", session_signals.c.session_id, session_signals.c.ts)

session_controls = Table(
    "session_controls",
    metadata,
    Column("id", Text, primary_key=True),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
    Column(
        "verb",
        Text,
        CheckConstraint("verb IN ('pause','resume','message','stop')", name="ck_session_controls_verb"),
        nullable=False,
    ),
    Column("payload", LenientJSON),
    Column("created_at", Float, nullable=False),
    Column("applied_at", Float),
    Column("claimed_at", Float),
    Column("result", Text),
)
index("idx_session_controls_pending", session_controls.c.session_id, session_controls.c.applied_at, where="applied_at IS NULL")

artifacts = Table(
    "artifacts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("invocation_id", Text, ForeignKey("invocations.id", ondelete="CASCADE")),
    Column("session_id", Text, ForeignKey("sessions.id")),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("content", LenientJSON, nullable=False),
    Column("file_path", Text),
)
index("idx_artifacts_created", artifacts.c.created_at)
index("idx_artifacts_invocation", artifacts.c.invocation_id, where="invocation_id IS NOT NULL")
index("idx_artifacts_invocation_time", artifacts.c.invocation_id, artifacts.c.created_at, where="invocation_id IS NOT NULL")
index("idx_artifacts_kind", artifacts.c.kind)
index(
    "idx_artifacts_natural_key_both",
    artifacts.c.invocation_id,
    artifacts.c.session_id,
    artifacts.c.kind,
    artifacts.c.name,
    unique=True,
    where="invocation_id IS NOT NULL AND session_id IS NOT NULL",
)
index(
    "idx_artifacts_natural_key_inv_only",
    artifacts.c.invocation_id,
    artifacts.c.kind,
    artifacts.c.name,
    unique=True,
    where="invocation_id IS NOT NULL AND session_id IS NULL",
)
index(
    "idx_artifacts_natural_key_ses_only",
    artifacts.c.session_id,
    artifacts.c.kind,
    artifacts.c.name,
    unique=True,
    where="session_id IS NOT NULL AND invocation_id IS NULL",
)
index(
    "idx_artifacts_natural_key_unattached",
    artifacts.c.kind,
    artifacts.c.name,
    unique=True,
    where="invocation_id IS NULL AND session_id IS NULL",
)
index("idx_artifacts_session", artifacts.c.session_id, where="session_id IS NOT NULL")
index("idx_artifacts_session_time", artifacts.c.session_id, artifacts.c.created_at, where="session_id IS NOT NULL")
