"""A native store with rows in every table that a migration makes anew, by plain sqlite3."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.state.files import NOW, make_native_file

STATUSES = ("running", "completed", "failed", "aborted")


def make_filled_file(path: Path, *, sessions: int = 40, metadata: str = '{"pid": 1}') -> None:
    """Runs with branches and messages, invocations, schedules with firings, definitions, and decisions about attention."""
    make_native_file(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        _fill(connection, sessions, metadata)
        connection.execute("COMMIT")


def _fill(connection: sqlite3.Connection, sessions: int, metadata: str) -> None:
    def many(sql: str, rows: list[tuple[object, ...]]) -> None:
        connection.executemany(sql, rows)

    few = min(sessions, 40)
    numbers = range(sessions)
    many("INSERT INTO progressions VALUES (?, ?, ?)", [(f"p{n:06}", NOW, f'["m{n % few:06}"]') for n in numbers])
    many(
        "INSERT INTO messages (id, created_at, content, role, lion_class) VALUES (?, ?, '{}', 'user', 2)",
        [(f"m{n:06}", NOW + n) for n in range(few)],
    )
    many(
        "INSERT INTO invocations (id, skill, started_at, status, session_count, created_at, updated_at) VALUES (?,?,?,?,1,?,?)",
        [(f"i{n:011}", "s", NOW, "completed", NOW, NOW) for n in range(few)],
    )
    many(
        "INSERT INTO sessions (id, created_at, updated_at, node_metadata, name, progression_id, first_msg_id, invocation_id,"
        " invocation_kind, source_kind, status, started_at, ended_at, last_message_at, project)"
        " VALUES (?,?,?,?,?,?,?,?,'agent','live',?,?,?,?,?)",
        [
            (
                f"s{n:06}",
                NOW + n,
                NOW + n + 0.123456789,
                metadata,
                f"run {n} — ü",
                f"p{n:06}",
                f"m{n % few:06}",
                f"i{n % few:011}" if n % 3 else None,
                STATUSES[n % 4],
                NOW + n,
                None if n % 4 == 0 else NOW + n + 60,
                NOW + n + 5,
                "web" if n % 2 else None,
            )
            for n in numbers
        ],
    )
    many(
        "INSERT INTO branches (id, created_at, session_id, progression_id) VALUES (?,?,?,?)",
        [(f"b{n:06}", NOW, f"s{n:06}", f"p{n:06}") for n in numbers],
    )
    many("INSERT INTO run_tags VALUES (?, 'nightly', ?)", [(f"s{n:06}", NOW) for n in range(0, sessions, 5)])
    many(
        "INSERT INTO schedules (id, name, trigger_type, interval_sec, action_kind, created_at, updated_at)"
        " VALUES (?, ?, 'interval', 60, 'agent', ?, ?)",
        [(f"c{n:011}", f"every {n}", NOW, NOW) for n in range(few)],
    )
    many(
        "INSERT INTO schedule_runs (id, schedule_id, invocation_id, trigger_context, action_kind, action_args, status, fired_at,"
        " created_at, chain_parent_id) VALUES (?,?,?,'{}','agent','[]',?,?,?,?)",
        [
            (
                f"r{n:011}",
                f"c{n % few:011}",
                f"i{n % few:011}",
                STATUSES[n % 3],
                NOW,
                NOW,
                f"r{n - 1:011}" if n % 7 == 6 else None,
            )
            for n in range(few * 2)
        ],
    )
    many(
        "INSERT INTO definitions VALUES (?, ?, ?, ?, ?, ?, ?, NULL)",
        [(f"d{n:06}", ("agent", "playbook")[n % 2], f"n{n % 4}", "p", "text\n" * 9, n, NOW) for n in range(few)],
    )
    many(
        "INSERT INTO attention_dispositions VALUES (?, 'acknowledged', NULL, ?, ?, NULL, 'op', 'failed', 1)",
        [(f"run:s{n:06}", NOW, NOW) for n in range(3)],
    )
    many(
        "INSERT INTO attention_disposition_history VALUES (?, ?, ?, NULL, 'acknowledged', NULL, 'op', 'failed', ?)",
        [(f"h{n:031}", f"run:s{n % 3:06}", 100 - n, NOW + n) for n in range(6)],
    )


def _run(number: int) -> str:
    return f"r{number:011}"
