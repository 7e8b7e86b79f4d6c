"""What people decided about things that need attention."""

from __future__ import annotations

from sqlalchemy import CheckConstraint, Column, Float, Integer, Table, Text

from studio_tui.state.schema.base import index, metadata

attention_dispositions = Table(
    "attention_dispositions",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column(
        "state",
        Text,
        CheckConstraint("state IN ('acknowledged','resolved','expected','snoozed')", name="ck_attention_dispositions_state"),
        nullable=False,
    ),
    Column("note", Text),
    Column("created_at", Float, nullable=False),
    Column("updated_at", Float, nullable=False),
    Column("expires_at", Float),
    Column("actor", Text, nullable=False),
    Column("source_status", Text, nullable=False),
    Column("revision", Integer, nullable=False, server_default="1"),
)

attention_disposition_revisions = Table(
    "attention_disposition_revisions",
    metadata,
    Column("item_id", Text, primary_key=True),
    Column("revision", Integer, nullable=False),
)

attention_disposition_history = Table(
    "attention_disposition_history",
    metadata,
    Column("id", Text, primary_key=True),
    Column("item_id", Text, nullable=False),
    Column("sequence", Integer, nullable=False),
    Column("prior_state", Text),
    Column("new_state", Text, nullable=False),
    Column("note", Text),
    Column("actor", Text, nullable=False),
    Column("source_status", Text),
    Column("created_at", Float, nullable=False),
)
index(
    "idx_attention_disposition_history_item", attention_disposition_history.c.item_id, attention_disposition_history.c.created_at
)
index("idx_attention_disposition_history_sequence", attention_disposition_history.c.sequence, unique=True)
