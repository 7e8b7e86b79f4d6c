"""The schema of a lionagi 0.36.0 store: tables, column types, seed rows, and the DDL of a new SQLite store."""

from studio_tui.state.schema.approvals import approval_evidence, approvals
from studio_tui.state.schema.attention import (
    attention_disposition_history,
    attention_disposition_revisions,
    attention_dispositions,
)
from studio_tui.state.schema.base import metadata
from studio_tui.state.schema.definitions import definitions, engine_defs, engine_runs, workflow_defs
from studio_tui.state.schema.lifecycle import admin_events, schema_meta, status_transitions, terminal_deliveries
from studio_tui.state.schema.messages import message_types, messages, progressions
from studio_tui.state.schema.runs import (
    artifacts,
    branches,
    invocations,
    projects,
    run_tags,
    session_controls,
    session_signals,
    sessions,
)
from studio_tui.state.schema.schedules import dispatch_outbox, schedule_runs, schedules, workers
from studio_tui.state.schema.seeds import LINEAGE, SCHEMA_VERSION, seed_statements
from studio_tui.state.schema.shows import plays, shows
from studio_tui.state.schema.snapshot import sqlite_ddl, sqlite_statements
from studio_tui.state.schema.teams import team_messages, teams
from studio_tui.state.schema.types import BrokenJSON, LenientJSON, decode_json, encode_json

__all__ = [
    "LINEAGE",
    "SCHEMA_VERSION",
    "BrokenJSON",
    "LenientJSON",
    "admin_events",
    "approval_evidence",
    "approvals",
    "artifacts",
    "attention_disposition_history",
    "attention_disposition_revisions",
    "attention_dispositions",
    "branches",
    "decode_json",
    "definitions",
    "dispatch_outbox",
    "encode_json",
    "engine_defs",
    "engine_runs",
    "invocations",
    "message_types",
    "messages",
    "metadata",
    "plays",
    "progressions",
    "projects",
    "run_tags",
    "schedule_runs",
    "schedules",
    "schema_meta",
    "seed_statements",
    "session_controls",
    "session_signals",
    "sessions",
    "shows",
    "sqlite_ddl",
    "sqlite_statements",
    "status_transitions",
    "team_messages",
    "teams",
    "terminal_deliveries",
    "workers",
    "workflow_defs",
]
