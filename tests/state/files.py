"""Store files made and looked at without the program under test."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from studio_tui.state.schema import sqlite_statements
from studio_tui.state.schema.seeds import MESSAGE_TYPES, MIGRATION_MARKERS

NOW = 1_796_000_000.0


def make_native_file(path: Path, **meta: str | None) -> None:
    """A native store by plain sqlite3; ``meta`` changes rows of schema_meta, ``None`` leaves one out."""
    rows: dict[str, str | None] = {"version": "4", "created_at": str(int(NOW)), "lineage": "lionagi"}
    rows |= dict.fromkeys(MIGRATION_MARKERS, "1")
    rows |= meta
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN")
        for statement in sqlite_statements():
            connection.execute(statement)
        for key, value in rows.items():
            if value is not None:
                connection.execute("INSERT INTO schema_meta VALUES (?, ?)", (key, value))
        for number, name in enumerate(MESSAGE_TYPES):
            connection.execute("INSERT INTO message_types VALUES (?, ?)", (number, name))
        connection.execute("COMMIT")


def contents_of(folder: Path) -> dict[str, tuple[str, int]]:
    """Digest and modification time (ns) of every file below a folder, by relative name; folders too."""
    found: dict[str, tuple[str, int]] = {}
    for root, folders, files in os.walk(folder):
        for name in files:
            path = Path(root, name)
            digest = hashlib.sha256(path.read_bytes()).hexdigest() if os.access(path, os.R_OK) else ""
            found[str(path.relative_to(folder))] = (digest, path.stat().st_mtime_ns)
        for name in folders:
            found[str(Path(root, name).relative_to(folder))] = ("", 0)
    return found
