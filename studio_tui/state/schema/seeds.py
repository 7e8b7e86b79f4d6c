"""The rows that every native store begins with (lionagi 0.36)."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Insert, insert

from studio_tui.state.schema.lifecycle import schema_meta
from studio_tui.state.schema.messages import message_types

SCHEMA_VERSION: Final = "4"
LINEAGE: Final = "lionagi"
MIGRATION_MARKERS: Final = (
    "migration.attention_dispositions_backfill",
    "migration.dispatched_at_backfill",
    "migration.imported_role_label_backfill",
    "migration.session_ended_at_backfill",
)
"""One-time backfills of the peer. A new store has nothing to fill, and without the markers they would run over our rows."""

MESSAGE_TYPES: Final = (
    "__unknown__",
    "lionagi.protocols.messages.system.System",
    "lionagi.protocols.messages.instruction.Instruction",
    "lionagi.protocols.messages.assistant_response.AssistantResponse",
    "lionagi.protocols.messages.action_request.ActionRequest",
    "lionagi.protocols.messages.action_response.ActionResponse",
)
"""Message classes by their fixed ``type_id``, from 0; never renumber."""


def seed_statements(now: float) -> tuple[Insert, ...]:
    """The inserts of a new store made at ``now`` (epoch seconds, kept as whole seconds in text)."""
    meta = {
        "version": SCHEMA_VERSION,
        "created_at": str(int(now)),
        "lineage": LINEAGE,
        **dict.fromkeys(MIGRATION_MARKERS, "1"),
    }
    return (
        insert(schema_meta).values([{"key": key, "value": value} for key, value in meta.items()]),
        insert(message_types).values([{"type_id": number, "lion_class": name} for number, name in enumerate(MESSAGE_TYPES)]),
    )
