"""Makes an older store out of one of lionagi 0.36, and compares stores. Knows nothing of the program under test."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Rows = dict[str, list[dict[str, Any]]]

MARKERS = (
    "migration.attention_dispositions_backfill",
    "migration.dispatched_at_backfill",
    "migration.imported_role_label_backfill",
    "migration.session_ended_at_backfill",
)


@contextmanager
def plainly(path: Path) -> Iterator[sqlite3.Connection]:
    """The file by plain sqlite3, without foreign keys, committing at once."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("PRAGMA legacy_alter_table = ON")
        yield connection


def reshape(
    connection: sqlite3.Connection,
    table: str,
    *,
    without: tuple[str, ...] = (),
    replaced: Mapping[str, str] | None = None,
    extra: str = "",
) -> None:
    """Make a table anew without some columns, with other words in its CREATE statement, and with columns of somebody else.

    Indexes come back unless they name a column that is gone; triggers do not.
    """
    (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
    lines = [line for line in sql.splitlines() if not _names(line, without)]
    text = re.sub(r",\s*\n\)", "\n)", "\n".join(lines))
    for old, new in (replaced or {}).items():
        assert old in text, (table, old)
        text = text.replace(old, new)
    text = text.replace("\tid TEXT NOT NULL, ", f"\tid TEXT NOT NULL, \n\t{extra}, ") if extra else text
    name, rest = re.match(r'CREATE TABLE ("?\w+"?) (.*)', text, re.DOTALL).groups()  # type: ignore[union-attr]
    assert name.strip('"') == table
    indexes = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL", (table,)
    ).fetchall()
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")') if row[1] not in without]
    listed = ", ".join(f'"{column}"' for column in columns)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"CREATE TABLE narrow {rest}")
    connection.execute(f'INSERT INTO narrow ({listed}) SELECT {listed} FROM "{table}" ORDER BY rowid')
    connection.execute(f'DROP TABLE "{table}"')
    connection.execute(f'ALTER TABLE narrow RENAME TO "{table}"')
    for index, statement in indexes:
        if not any(re.search(rf"\b{column}\b", statement.replace(index, "")) for column in without):
            connection.execute(statement)
    connection.execute("COMMIT")


def _names(line: str, columns: tuple[str, ...]) -> bool:
    """Whether a line of a CREATE statement defines one of these columns or a key over it."""
    word = line.strip().split(" ")[0].strip('"')
    key = re.match(r"\s*FOREIGN KEY\((\w+)\)", line)
    return word in columns or (key is not None and key[1] in columns)


# --- the forms of older tables (facts 3.4) ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Form:
    """How one table looked before a word was added to its CHECK. ``first`` makes its rows fit."""

    table: str
    first: tuple[str, ...]
    replaced: Mapping[str, str]
    without: tuple[str, ...] = ()

    def apply(self, connection: sqlite3.Connection) -> None:
        """Give the table this form."""
        for statement in self.first:
            connection.execute(statement)
        reshape(connection, self.table, without=self.without, replaced=self.replaced)


_KINDS = "action_kind IN ('agent','flow','fanout','play','flow_yaml','command')"
_ENDS = "status IN ('queued','waiting_dependency','running','retry_wait','completed','failed','timed_out','skipped','cancelled')"
FORMS = {
    "sessions without completed_empty": Form(
        "sessions",
        ("UPDATE sessions SET status = 'failed' WHERE status NOT IN ('running', 'completed', 'failed', 'aborted', 'cancelled')",),
        {"\tstatus TEXT, ": "\tstatus TEXT CHECK(status IN ('running', 'completed', 'failed', 'aborted', 'cancelled')), "},
    ),
    "sessions without imported_codex": Form(
        "sessions",
        ("UPDATE sessions SET source_kind = 'imported_fs' WHERE source_kind = 'imported_codex'",),
        {"('live','imported_fs','imported_codex')": "('live', 'imported_fs')"},
    ),
    "sessions without engine": Form(
        "sessions",
        ("UPDATE sessions SET invocation_kind = 'agent' WHERE invocation_kind = 'engine'",),
        {"'fanout','show-play','engine')": "'fanout', 'show-play')"},
    ),
    "schedules without flow_yaml": Form(
        "schedules",
        ("UPDATE schedules SET action_kind = 'flow' WHERE action_kind IN ('flow_yaml', 'command')",),
        {_KINDS: "action_kind IN ('agent','flow','fanout','play')"},
    ),
    "schedules without command": Form(
        "schedules",
        ("UPDATE schedules SET action_kind = 'agent' WHERE action_kind = 'command'",),
        {_KINDS: "action_kind IN ('agent','flow','fanout','play','flow_yaml')"},
    ),
    "schedules without at": Form(
        "schedules",
        ("UPDATE schedules SET trigger_type = 'interval', interval_sec = 60 WHERE trigger_type = 'at'",),
        {"'github_poll','at')": "'github_poll')"},
    ),
    "invocations without completed_empty": Form(
        "invocations",
        ("UPDATE invocations SET status = 'completed' WHERE status = 'completed_empty'",),
        {"'completed_empty',": ""},
    ),
    "schedule_runs without a queue": Form(
        "schedule_runs",
        (
            "UPDATE workers SET leased_run_id = NULL",
            "UPDATE dispatch_outbox SET schedule_run_id = NULL",
            "DELETE FROM schedule_runs WHERE schedule_id IS NULL",
            "UPDATE schedule_runs SET status = 'failed' WHERE status NOT IN ('running', 'completed', 'failed', 'skipped')",
        ),
        {
            _ENDS: "status IN ('running','completed','failed','skipped','cancelled')",
            "\tschedule_id TEXT, ": "\tschedule_id TEXT NOT NULL, ",
        },
        without=("queued_at", "leased_by", "lease_expires_at", "concurrency_key", "lease_attempts"),
    ),
    "definitions without skills": Form(
        "definitions",
        ("DELETE FROM definitions WHERE kind = 'skill'",),
        {"kind IN ('agent','playbook','skill')": "kind IN ('agent','playbook')"},
    ),
}
"""By what the table lacked."""


LATE_COLUMNS = {
    "sessions": (
        "updated_at cc_session_id run_id user_label playbook_name agent_name invocation_kind show_topic show_play_name "
        "artifacts_path source_kind status started_at ended_at ended_at_is_approximate last_message_at current_phase "
        "invocation_id model provider effort agent_hash project project_source status_reason_code status_reason_summary "
        "status_evidence_refs artifact_contract_json artifact_verification_json input_tokens output_tokens total_cost_usd "
        "num_turns duration_ms first_msg_id last_msg_id progression_id"
    ),
    "branches": "system_msg_id progression_id model provider agent_name status started_at ended_at",
    "shows": "status_source status_reason_code status_reason_summary status_evidence_refs",
    "plays": "status_reason_code status_reason_summary status_evidence_refs",
    "invocations": "status_reason_code status_reason_summary status_evidence_refs",
    "teams": "status_reason_code status_reason_summary status_evidence_refs",
    "session_controls": "claimed_at",
    "artifacts": "updated_at",
    "schedules": (
        "action_flow_yaml max_runs budget_usd budget_tokens rate_limit threshold_config last_alert_at last_evaluated_at "
        "last_healthy_poll_at poller_consecutive_401 predispatch_refusal_event predispatch_refusal_count action_cwd "
        "action_command action_command_args spec_version managed_by owner_key authored_spec resolved_target resolved_digest "
        "resolved_timezone effective_timezone effective_timezone_source notify_on notify_command"
    ),
    "schedule_runs": (
        "updated_at status_reason_code status_reason_summary status_evidence_refs queued_at leased_by lease_expires_at "
        "concurrency_key required_capabilities execution_target library_ref library_content_hash lease_attempts dispatched_at "
        "resume_packet"
    ),
    "engine_runs": "ended_at session_id invocation_id signal_session_id parent_session_id outcome_json export_dir error",
    "attention_dispositions": "revision",
    "attention_disposition_history": "sequence",
    "dispatch_outbox": (
        "dedup_key status attempt max_attempts ack_required ack_token session_id schedule_run_id last_error expires_at updated_at"
    ),
}
"""The columns that an older store may lack (facts 3.3), without those that a row of their table cannot be without."""


def late_columns(table: str) -> tuple[str, ...]:
    """The columns that this table got after its first release."""
    return tuple(LATE_COLUMNS[table].split())


# --- comparing ----------------------------------------------------------------------------------------------------------


def rows_of(path: Path) -> Rows:
    """Every row of every table, in the order of the primary key, however the columns are ordered."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return {table: _rows(connection, table) for table in tables_of(connection)}


def _rows(connection: sqlite3.Connection, table: str) -> list[dict[str, Any]]:
    keys = [row["name"] for row in connection.execute(f'PRAGMA table_info("{table}")') if row["pk"]]
    order = ", ".join(f'"{key}"' for key in keys) or "rowid"
    return [dict(row) for row in connection.execute(f'SELECT * FROM "{table}" ORDER BY {order}')]


def tables_of(connection: sqlite3.Connection) -> list[str]:
    """The tables that are not SQLite's own."""
    query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    return [row[0] for row in connection.execute(query)]


def as_before(after: Rows, before: Rows) -> Rows:
    """The rows of a store as far as an older one had tables and columns for them."""
    return {
        table: [{column: row[column] for column in (before[table] or rows)[0]} for row in rows]
        for table, rows in after.items()
        if table in before
    }


Description = dict[str, Any]


def described(path: Path) -> Description:
    """Schema of a store without regard to the order of columns and to what may differ in a migrated one.

    Types are compared as SQLite treats them (``REAL`` as ``FLOAT``); NOT NULL and defaults are not, since a column that is added
    can have neither without a value for the rows that are there.
    """
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        sql = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index')"))
        tables = {}
        for table in tables_of(connection):
            info = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
            tables[table] = {
                "columns": {row[1]: (row[2].replace("REAL", "FLOAT"), row[5] > 0) for row in info},
                "checks": _vocabularies(sql[table]),
                "keys": {(row[3], row[2], row[4], row[6]) for row in connection.execute(f'PRAGMA foreign_key_list("{table}")')},
                "unique": _uniques(connection, table),
            }
        indexes = {name: _squeezed(text) for name, text in sql.items() if text and name not in tables}
        return {"tables": tables, "indexes": indexes}


def _vocabularies(create: str) -> dict[str, frozenset[str]]:
    """The words that each column's CHECK allows."""
    found = re.findall(r"(\w+)\s+IN\s*\(([^)]*)\)", create)
    return {column: frozenset(word.strip() for word in words.split(",")) for column, words in found}


def _uniques(connection: sqlite3.Connection, table: str) -> set[tuple[str, ...]]:
    lists = connection.execute(f'PRAGMA index_list("{table}")').fetchall()
    return {tuple(row[2] for row in connection.execute(f'PRAGMA index_info("{item[1]}")')) for item in lists if item[3] == "u"}


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text.replace("IF NOT EXISTS ", "").replace('"', ""))


Maker = Callable[[sqlite3.Connection], None]
