"""History of file definitions, workflow and engine definitions, engine runs."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Integer, Table, Text

from studio_tui.state.schema.base import index, metadata, unique
from studio_tui.state.schema.types import LenientJSON

definitions = Table(
    "definitions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, CheckConstraint("kind IN ('agent','playbook','skill')", name="ck_definitions_kind"), nullable=False),
    Column("name", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("message", Text),
)
unique("idx_def_unique_version", definitions.c.kind, definitions.c.name, definitions.c.version)
index("idx_def_kind_name", definitions.c.kind, definitions.c.name, definitions.c.version)

workflow_defs = Table(
    "workflow_defs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("description", Text),
    Column("spec_json", LenientJSON),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
)
index("idx_workflow_defs_name", workflow_defs.c.name)
index("idx_workflow_defs_updated", workflow_defs.c.updated_at)

engine_defs = Table(
    "engine_defs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("model", Text),
    Column("max_depth", Integer),
    Column("max_agents", Integer),
    Column("options", LenientJSON),
    Column("description", Text),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
)
index("idx_engine_defs_kind", engine_defs.c.kind)
index("idx_engine_defs_name", engine_defs.c.name)
index("idx_engine_defs_updated", engine_defs.c.updated_at)

engine_runs = Table(
    "engine_runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("spec_json", LenientJSON, nullable=False),
    Column(
        "status",
        Text,
        CheckConstraint("status IN ('running','completed','failed','cancelled')", name="ck_engine_runs_status"),
        nullable=False,
        server_default="running",
    ),
    Column("started_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("session_id", Text, ForeignKey("sessions.id", ondelete="SET NULL")),
    Column("invocation_id", Text, ForeignKey("invocations.id", ondelete="SET NULL")),
    Column("signal_session_id", Text, ForeignKey("sessions.id", ondelete="SET NULL")),
    Column("parent_session_id", Text, ForeignKey("sessions.id", ondelete="SET NULL")),
    Column("outcome_json", LenientJSON),
    Column("export_dir", Text),
    Column("error", Text),
)
index("idx_engine_runs_invocation", engine_runs.c.invocation_id, where="invocation_id IS NOT NULL")
index("idx_engine_runs_kind", engine_runs.c.kind)
index("idx_engine_runs_parent_session", engine_runs.c.parent_session_id, where="parent_session_id IS NOT NULL")
index("idx_engine_runs_session", engine_runs.c.session_id, where="session_id IS NOT NULL")
index("idx_engine_runs_signal_session", engine_runs.c.signal_session_id, where="signal_session_id IS NOT NULL")
index("idx_engine_runs_started", engine_runs.c.started_at)
index("idx_engine_runs_started_id", engine_runs.c.started_at.desc(), engine_runs.c.id.desc())
index("idx_engine_runs_status", engine_runs.c.status)
