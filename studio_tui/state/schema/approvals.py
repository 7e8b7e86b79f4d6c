"""Approvals and their chained evidence."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, ForeignKey, Integer, Table, Text

from studio_tui.state.schema.base import index, metadata

approvals = Table(
    "approvals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("action_kind", Text, nullable=False),
    Column("params_hash", Text, nullable=False),
    Column("session_id", Text, ForeignKey("sessions.id")),
    Column(
        "status",
        Text,
        CheckConstraint("status IN ('pending','granted','consumed','expired','denied')", name="ck_approvals_status"),
        nullable=False,
        server_default="pending",
    ),
    Column("proposed_at", Float, nullable=False),
    Column("granted_at", Float),
    Column("consumed_at", Float),
    Column("expires_at", Float, nullable=False),
)
index("idx_approvals_session", approvals.c.session_id, where="session_id IS NOT NULL")
index("idx_approvals_status", approvals.c.status, where="status IN ('pending', 'granted')")

approval_evidence = Table(
    "approval_evidence",
    metadata,
    Column("id", Text, primary_key=True),
    Column("sequence", Integer, nullable=False),
    Column(
        "event_type",
        Text,
        CheckConstraint(
            "event_type IN ('proposed','granted','denied','consumed','expired')", name="ck_approval_evidence_event_type"
        ),
        nullable=False,
    ),
    Column("approval_id", Text, ForeignKey("approvals.id"), nullable=False),
    Column("action_kind", Text, nullable=False),
    Column("status_from", Text),
    Column("status_to", Text, nullable=False),
    Column("params_hash", Text, nullable=False),
    Column("justification_class", Text),
    Column("justification_reason", Text),
    Column("created_at", Float, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("previous_hash", Text, nullable=False),
    Column("chain_hash", Text, nullable=False),
    Column("hmac_sig", Text),
)
index("idx_approval_evidence_approval", approval_evidence.c.approval_id)
index("idx_approval_evidence_sequence", approval_evidence.c.sequence, unique=True)
