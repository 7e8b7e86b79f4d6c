"""The store's own record, status history, and what administrators did."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Table, Text

from studio_tui.state.schema.base import index, metadata
from studio_tui.state.schema.types import LenientJSON

schema_meta = Table(
    "schema_meta",
    metadata,
    Column("key", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

status_transitions = Table(
    "status_transitions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("entity_type", Text, nullable=False),
    Column("entity_id", Text, nullable=False),
    Column("previous_status", Text),
    Column("status", Text, nullable=False),
    Column("reason_code", Text, nullable=False),
    Column("reason_summary", Text),
    Column("evidence_refs", LenientJSON),
    Column("source", Text, nullable=False),
    Column("actor", Text),
    Column("created_at", Float, nullable=False),
    Column("metadata", LenientJSON),
)
index("idx_status_transitions_created", status_transitions.c.created_at)
index(
    "idx_status_transitions_entity",
    status_transitions.c.entity_type,
    status_transitions.c.entity_id,
    status_transitions.c.created_at,
)
index("idx_status_transitions_reason", status_transitions.c.reason_code, status_transitions.c.created_at)

terminal_deliveries = Table(
    "terminal_deliveries",
    metadata,
    Column("transition_id", Text, ForeignKey("status_transitions.id"), primary_key=True),
    Column("consumer", Text, primary_key=True),
    Column("acked_at", Float, nullable=False),
)
index("idx_terminal_deliveries_consumer", terminal_deliveries.c.consumer, terminal_deliveries.c.acked_at)

admin_events = Table(
    "admin_events",
    metadata,
    Column("id", Text, primary_key=True),
    Column("created_at", Float, nullable=False),
    Column("action", Text, nullable=False),
    Column("target_id", Text),
    Column("details", LenientJSON, nullable=False),
    Column("actor", Text, nullable=False, server_default="admin"),
)
index("idx_admin_events_action", admin_events.c.action)
index("idx_admin_events_created", admin_events.c.created_at)
index("idx_admin_events_target", admin_events.c.target_id, where="target_id IS NOT NULL")
