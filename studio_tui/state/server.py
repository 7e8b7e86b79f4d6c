"""The look at a store on a database server: the same judgement as for a file, from the server's catalogue."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import TYPE_SEQUENCE_BEHIND
from studio_tui.state.native import Contents, Look, judge
from studio_tui.state.schema import metadata, schema_meta

if TYPE_CHECKING:
    from studio_tui.state.db import StateDB

_NAMES: Final = ", ".join(f"'{name}'" for name in sorted(metadata.tables))
_OURS: Final = f"unnest(ARRAY[{_NAMES}]) AS name JOIN pg_class AS t ON t.oid = to_regclass(name) AND t.relkind IN ('r', 'p')"
"""Our tables as statements find them, in whatever schema of the search path; other tables are nobody's business here."""
_COLUMNS: Final = (
    f"SELECT CAST(t.relname AS text), CAST(a.attname AS text) FROM {_OURS} "
    "JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped"
)
_INDEXES: Final = (
    f"SELECT CAST(i.relname AS text) FROM {_OURS} "
    "JOIN pg_index AS x ON x.indrelid = t.oid JOIN pg_class AS i ON i.oid = x.indexrelid"
)
_CHECKS: Final = (
    "SELECT coalesce(string_agg(pg_get_constraintdef(oid), ' '), '') FROM pg_constraint "
    "WHERE contype = 'c' AND conrelid = to_regclass('sessions')"
)
"""The only rules that lionagi 0.36 widens here; of other tables no CREATE text is needed."""
_MAY_WRITE: Final = (
    "SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only') = 'on', "
    "has_table_privilege('schedules', 'INSERT') AND has_table_privilege('schedules', 'UPDATE')"
)


async def look_at_server(db: StateDB) -> Look:
    """Judge the open store. A database without ``schema_meta`` counts as new, whatever else it holds (lionagi 0.36)."""
    async with db.read() as connection:
        contents = await _read_catalogue(connection)
        found = Look("missing") if contents.meta is None else judge(contents)
        if found.verdict == "native" and (await connection.exec_driver_sql(TYPE_SEQUENCE_BEHIND)).scalar():
            found = replace(found, stamp=True)
    return found


async def server_obstacle(db: StateDB) -> str | None:
    """Why the server would not let us write this store, in one sentence; ``None`` when it would."""
    async with db.read() as connection:
        copy, readonly, granted = tuple((await connection.exec_driver_sql(_MAY_WRITE)).one())
    if copy:
        return "The database server is a copy that follows another one: the store is shown read-only."
    if readonly:
        return "The database server lets this login only read: the store is shown read-only."
    return None if granted else "This login may not write the tables of the store: it is shown read-only."


async def taken_names(connection: AsyncConnection) -> list[str]:
    """Tables that a new store would have and that are there already, whose ever they are."""
    return sorted({row[0] for row in await connection.exec_driver_sql(_COLUMNS)})


async def _read_catalogue(connection: AsyncConnection) -> Contents:
    columns = frozenset((str(table), str(column)) for table, column in map(tuple, await connection.exec_driver_sql(_COLUMNS)))
    indexes = frozenset(str(row[0]) for row in await connection.exec_driver_sql(_INDEXES))
    tables = dict.fromkeys(sorted({table for table, _ in columns}), "")
    if "sessions" in tables:
        tables["sessions"] = str((await connection.exec_driver_sql(_CHECKS)).scalar_one())
    meta: dict[str, str] | None = None
    if schema_meta.name in tables:
        meta = {}
        if {(schema_meta.name, "key"), (schema_meta.name, "value")} <= columns:
            rows = await connection.execute(select(schema_meta.c.key, schema_meta.c.value))
            meta = {str(key): str(value) for key, value in rows}
    return Contents(tables, columns, indexes, meta)
