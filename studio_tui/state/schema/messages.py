"""Messages and the id lists that put them in order."""

from __future__ import annotations

from sqlalchemy import Column, Float, ForeignKey, Integer, LargeBinary, Table, Text

from studio_tui.state.schema.base import index, metadata
from studio_tui.state.schema.types import LenientJSON

message_types = Table(
    "message_types",
    metadata,
    Column("type_id", Integer, primary_key=True),
    Column("lion_class", Text, nullable=False, unique=True),
)

progressions = Table(
    "progressions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("created_at", Float, nullable=False),
    Column("collection", Text, nullable=False, server_default="[]"),
)

messages = Table(
    "messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("created_at", Float, nullable=False),
    Column("node_metadata", LenientJSON),
    Column("content", LenientJSON, nullable=False),
    Column("embedding", LargeBinary),
    Column("sender", Text),
    Column("recipient", Text),
    Column("channel", Text),
    Column("role", Text, nullable=False),
    Column("lion_class", Integer, ForeignKey("message_types.type_id"), nullable=False),
)
index("idx_messages_created", messages.c.created_at)
index("idx_messages_lion_class", messages.c.lion_class)
index("idx_messages_recipient", messages.c.recipient, where="recipient IS NOT NULL")
index("idx_messages_role", messages.c.role)
index("idx_messages_sender", messages.c.sender, where="sender IS NOT NULL")
