"""Shows and their plays."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Integer, Table, Text

from studio_tui.state.schema.base import index, metadata, unique
from studio_tui.state.schema.types import LenientJSON

shows = Table(
    "shows",
    metadata,
    Column("id", Text, primary_key=True),
    Column("topic", Text, nullable=False, unique=True),
    Column("goal", Text),
    Column("repo", Text),
    Column("base_branch", Text),
    Column("integration_branch", Text),
    Column(
        "status",
        Text,
        CheckConstraint("status IN ('active','completed','aborted','imported')", name="ck_shows_status"),
        nullable=False,
        server_default="active",
    ),
    Column("show_dir", Text, nullable=False),
    Column("status_source", Text, nullable=False, server_default="unknown"),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("status_reason_code", Text),
    Column("status_reason_summary", Text),
    Column("status_evidence_refs", LenientJSON),
)
index("idx_shows_status", shows.c.status)
index("idx_shows_topic", shows.c.topic)
index("idx_shows_updated", shows.c.updated_at)

plays = Table(
    "plays",
    metadata,
    Column("id", Text, primary_key=True),
    Column("show_id", Text, ForeignKey("shows.id", ondelete="CASCADE"), nullable=False),
    Column("name", Text, nullable=False),
    Column("playbook", Text),
    Column("effort", Text),
    Column(
        "status",
        Text,
        CheckConstraint(
            "status IN ('pending','prepared','running','running_complete','gated','gate_failed',"
            "'redoing','merged','escalated','blocked','aborted_after_finish')",
            name="ck_plays_status",
        ),
        nullable=False,
        server_default="pending",
    ),
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("session_id", Text, ForeignKey("sessions.id")),
    Column("started_at", Float),
    Column("ended_at", Float),
    Column("exit_code", Integer),
    Column("worktree", Text),
    Column("branch", Text),
    Column("merge_sha", Text),
    Column("merged_at", Float),
    Column("gate_passed", Integer),
    Column("gate_feedback", Text),
    Column("depends_on", LenientJSON, server_default="[]"),
    Column("sort_order", Integer, nullable=False, server_default="0"),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("status_reason_code", Text),
    Column("status_reason_summary", Text),
    Column("status_evidence_refs", LenientJSON),
)
unique("idx_plays_show_name", plays.c.show_id, plays.c.name)
index("idx_plays_session", plays.c.session_id)
index("idx_plays_show", plays.c.show_id)
index("idx_plays_status", plays.c.status)
