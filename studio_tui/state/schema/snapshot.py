"""The DDL of a new SQLite store as text: what ``schema.sql`` is a checked snapshot of."""

from __future__ import annotations

from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable

from studio_tui.state.schema.base import metadata


def sqlite_statements() -> tuple[str, ...]:
    """Each CREATE statement, tables before the tables that refer to them, indexes by name after their table."""
    dialect = sqlite.dialect()
    statements: list[str] = []
    for table in metadata.sorted_tables:
        statements.append(str(CreateTable(table).compile(dialect=dialect)).strip())
        indexes = sorted(table.indexes, key=lambda item: str(item.name))
        statements.extend(str(CreateIndex(item).compile(dialect=dialect)).strip() for item in indexes)
    return tuple(statements)


def sqlite_ddl() -> str:
    """The whole script; ``python -c "from studio_tui.state.schema import *; print(sqlite_ddl(), end='')"`` prints it anew."""
    lines = (line.rstrip() for statement in sqlite_statements() for line in f"{statement};".splitlines())
    return (
        "-- The schema of a new store; made by studio_tui.state.schema.snapshot, checked by a test.\n" + "\n".join(lines) + "\n"
    )
