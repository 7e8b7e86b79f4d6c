"""What a store is, found out by looking only: ours to write, or not, and why not (open policy of lionagi 0.36).

The look opens a file read-only, once, with the plain driver, and costs a few milliseconds. It leaves nothing beside a file
that nobody has open.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

from studio_tui.state.engine import guarded_uri, has_log, readonly_uri
from studio_tui.state.errors import describe
from studio_tui.state.migrations.outdated import lacking
from studio_tui.state.schema import LINEAGE, SCHEMA_VERSION, metadata
from studio_tui.state.schema.seeds import MIGRATION_MARKERS

Verdict = Literal["missing", "native", "older", "newer", "foreign", "unrecognized", "unreadable"]

_HEADER_BYTES: Final = 100
"""What every database begins with; SQLite itself takes a file of one byte for an empty one."""
_OPERATOR_TABLES: Final = frozenset(
    f"studio_operator_{name}" for name in ("conversations", "views", "turns", "frames", "proposals", "effects")
)
"""Tables that the peer's assistant keeps in the same file."""
_NUMBER: Final = re.compile(r"[1-9][0-9]*")


@dataclass(frozen=True, slots=True)
class Look:
    """What the file is. ``reason`` is one sentence for people; ``None`` for a native store and for a missing one.

    ``readable`` tells whether its tables can be shown; ``stamp`` whether version, lineage or creation time must be (re)written
    when it is opened for writing, as every writable open of the peer does.
    """

    verdict: Verdict
    reason: str | None = None
    version: str | None = None
    readable: bool = False
    stamp: bool = False


@dataclass(frozen=True, slots=True)
class Contents:
    """What a database holds: tables with their CREATE statements (empty where unknown), columns, indexes, ``schema_meta``."""

    tables: Mapping[str, str]
    columns: frozenset[tuple[str, str]]
    indexes: frozenset[str]
    meta: Mapping[str, str] | None


def look(path: Path) -> Look:
    """Judge the file at ``path``. Never raises and never writes."""
    try:
        refusal = _judge_inode(path)
        return refusal or _look_inside(path)
    except (sqlite3.Error, OSError) as error:
        return Look("unreadable", f"The store cannot be read: {_sealed_log(path) or describe(error)[0]}.")


def _sealed_log(path: Path) -> str | None:
    """That a log was left beside the file which nobody can read: the index that it needs would have to be made there."""
    if _log_waits(path) and not os.access(path.parent, os.W_OK):
        return "the log beside it holds changes, and cannot be read in a folder that may not be written"
    return None


def write_obstacle(path: Path) -> str | None:
    """Why the system would not let us write this store, in one sentence; ``None`` when it would."""
    folder = path.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"The folder {folder} may not be written, and a store needs its log files there: it is shown read-only."
    if not os.access(path, os.W_OK):
        return f"The file {path.name} may not be written: it is shown read-only."
    return None


def _judge_inode(path: Path) -> Look | None:
    """What the directory entry alone decides."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return Look("missing")
    if stat.S_ISDIR(found.st_mode):
        return Look("unreadable", f"{path} is a folder, not a store.")
    if not stat.S_ISREG(found.st_mode):
        return Look("unreadable", f"{path} is not a regular file.")
    if not os.access(path, os.R_OK):
        return Look("unreadable", f"The file {path} may not be read.")
    if found.st_size == 0:
        return Look("missing")
    if found.st_size < _HEADER_BYTES or not _is_database(path):
        return Look("unreadable", f"The file {path} is not an SQLite database.")
    return None


def _is_database(path: Path) -> bool:
    """Whether the file begins like a database.

    SQLite is asked, and the file never opened past it: closing any descriptor of a file takes from the process every lock that
    it holds on that file (POSIX). Another program would then find the store unused, and remove the log under our connections.
    """
    with closing(sqlite3.connect(readonly_uri(path) + "&immutable=1", uri=True)) as connection:
        try:
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.DatabaseError as error:
            return getattr(error, "sqlite_errorname", None) != "SQLITE_NOTADB"
    return True


def _look_inside(path: Path) -> Look:
    """Read version, lineage and tables; a log that waits for its first reader is not touched for a store of somebody else."""
    if _log_waits(path):
        with suppress(sqlite3.Error):
            early = _read(readonly_uri(path) + "&immutable=1")
            if early.verdict in ("foreign", "newer"):
                reason = f"{early.reason} Its log holds changes that only its own program can bring in."
                return replace(early, readable=False, reason=reason)
    return _read(guarded_uri(path))


def _log_waits(path: Path) -> bool:
    """Whether the first connection would have to make the index of a log that was left behind."""
    return has_log(path) and Path(f"{path}-wal").exists() and not Path(f"{path}-shm").exists()


def _read(uri: str) -> Look:
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=1.0)) as connection:
        connection.text_factory = lambda stored: stored.decode("utf-8", "replace")
        tables = {
            str(name): str(sql or "")
            for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
            if not str(name).startswith("sqlite_")
        }
        columns = connection.execute(
            "SELECT m.name, p.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS p WHERE m.type = 'table'"
        )
        found = frozenset((str(table), str(column)) for table, column in columns)
        indexes = frozenset(str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'"))
        return judge(Contents(tables, found, indexes, _read_meta(connection, tables, found)))


def _read_meta(
    connection: sqlite3.Connection, tables: Mapping[str, str], columns: frozenset[tuple[str, str]]
) -> dict[str, str] | None:
    """``schema_meta`` as a mapping; empty when it has other columns; ``None`` when there is no such table."""
    if "schema_meta" not in tables:
        return None
    if not {("schema_meta", "key"), ("schema_meta", "value")} <= columns:
        return {}
    return {str(key): str(value) for key, value in connection.execute("SELECT key, value FROM schema_meta")}


def judge(contents: Contents) -> Look:
    """Whose store it is and whether it is complete, in the order of the peer."""
    judged = _judge_owner(contents)
    return _judge_parts(contents, judged) if judged.verdict == "native" else judged


def _judge_owner(contents: Contents) -> Look:
    """Whose store it is, by lineage, version and table names."""
    tables, meta = contents.tables, contents.meta
    strangers = sorted(set(tables) - set(metadata.tables) - _OPERATOR_TABLES)
    readable = "sessions" in tables
    if meta is None:
        if not tables:
            return Look("missing")
        return _unrecognized(f"it holds the table {strangers[0]}") if strangers else Look("native", readable=readable, stamp=True)
    lineage, version = meta.get("lineage"), meta.get("version")
    number = int(version) if version and _NUMBER.fullmatch(version) else None
    if lineage is not None and lineage != LINEAGE:
        reason = f"This store belongs to another program ({lineage[:40]}): it is shown read-only and left as it is."
        return Look("foreign", reason, version, readable)
    if lineage is None and number is None:
        return _unrecognized("it names neither a lineage nor a version that is a number")
    if number is not None and number > int(SCHEMA_VERSION):
        reason = (
            f"This store has version {number}, and this program knows versions up to {SCHEMA_VERSION}: it is shown read-only."
        )
        return Look("newer", reason, version, readable)
    if lineage is None and not readable and strangers:
        return _unrecognized(f"it holds the table {strangers[0]} and no runs")
    stamp = lineage is None or version != SCHEMA_VERSION or "created_at" not in meta
    return Look("native", None, version, readable, stamp)


def _unrecognized(why: str) -> Look:
    return Look("unrecognized", f"This is not a lionagi store: {why[:80]}.")


def _judge_parts(contents: Contents, judged: Look) -> Look:
    """A native store that lacks a part of the 0.36.0 schema is an older one: never half-migrated, only shown."""
    lacks = [f"the table {name}" for name in sorted(set(metadata.tables) - set(contents.tables))]
    if not lacks:
        lacks += [
            f"the column {table}.{column}" for table, column in _expected_columns() if (table, column) not in contents.columns
        ]
        lacks += [f"the index {name}" for name in _expected_indexes() if name not in contents.indexes]
        lacks += [lack for table in metadata.tables for lack in lacking(table, contents.tables[table])]
        lacks += [f"the mark {marker}" for marker in MIGRATION_MARKERS if marker not in (contents.meta or {})]
    if not lacks:
        return judged
    more = f" and {len(lacks) - 1} more" if len(lacks) > 1 else ""
    reason = f"This store lacks {lacks[0]}{more} of lionagi 0.36.0 and must be upgraded first: until then it is shown read-only."
    return replace(judged, verdict="older", reason=reason)


@cache
def _expected_columns() -> tuple[tuple[str, str], ...]:
    return tuple((table.name, column.name) for table in metadata.sorted_tables for column in table.columns)


@cache
def _expected_indexes() -> tuple[str, ...]:
    return tuple(sorted(str(index.name) for table in metadata.sorted_tables for index in table.indexes))
