"""Teams and their messages."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Integer, Table, Text

from studio_tui.state.schema.base import index, metadata
from studio_tui.state.schema.types import LenientJSON

teams = Table(
    "teams",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("member_count", Integer, nullable=False, server_default="0"),
    Column("members", LenientJSON, nullable=False, server_default="[]"),
    Column("node_metadata", LenientJSON),
    Column(
        "status",
        Text,
        CheckConstraint("status IN ('active','archived')", name="ck_teams_status"),
        nullable=False,
        server_default="active",
    ),
    Column("status_reason_code", Text),
    Column("status_reason_summary", Text),
    Column("status_evidence_refs", LenientJSON),
)
index("idx_teams_name", teams.c.name)
index("idx_teams_status", teams.c.status)
index("idx_teams_updated", teams.c.updated_at)

team_messages = Table(
    "team_messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("team_id", Text, ForeignKey("teams.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", Float, nullable=False),
    Column("sender", Text, nullable=False),
    Column("recipient", Text, nullable=False, server_default="all"),
    Column("content", Text, nullable=False),
    Column("summary", Text),
    Column("read_by", LenientJSON, nullable=False, server_default="[]"),
    Column("session_id", Text, ForeignKey("sessions.id")),
)
index("idx_team_msgs_created", team_messages.c.created_at)
index("idx_team_msgs_session", team_messages.c.session_id, where="session_id IS NOT NULL")
index("idx_team_msgs_team", team_messages.c.team_id)
