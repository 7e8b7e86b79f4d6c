"""Rows as they are stored: JSON as its text, whatever the database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column

from studio_tui.state.db import StateDB
from studio_tui.state.schema import metadata
from studio_tui.state.schema.types import LenientJSON

APPENDED = {"sqlite": "rowid", "postgresql": "ctid"}
"""The order in which rows were added to a table whose rows nobody changes."""


async def raw_rows(db: StateDB, table: str, where: str = "1 = 1", *, order: str | None = None) -> list[dict[str, Any]]:
    """The rows of a table, in the order in which they were added unless another ``order`` is given."""
    columns = "*" if db.dialect == "sqlite" else ", ".join(map(_as_text, metadata.tables[table].columns))
    return await db.fetch_all(f"SELECT {columns} FROM {table} WHERE {where} ORDER BY {order or APPENDED[db.dialect]}")


async def raw_row(db: StateDB, table: str, where: str = "1 = 1") -> dict[str, Any]:
    """The only row of a table that there is."""
    (row,) = await raw_rows(db, table, where)
    return row


def _as_text(column: Column[Any]) -> str:
    name = f'"{column.name}"'
    return f"CAST({name} AS text) AS {name}" if isinstance(column.type, LenientJSON) else name
