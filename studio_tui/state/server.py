"""The look at a store on a database server: the same judgement as for a file, from the server's catalogue."""

from __future__ import annotations

from sqlalchemy import inspect, select
from sqlalchemy.engine import Connection

from studio_tui.state.db import StateDB
from studio_tui.state.native import Contents, Look, judge
from studio_tui.state.schema import metadata, schema_meta


async def look_at_server(db: StateDB) -> Look:
    """Judge the open store. A database without ``schema_meta`` counts as new, whatever else it holds (lionagi 0.36)."""
    async with db.read() as connection:
        contents = await connection.run_sync(_read_catalogue)
    return Look("missing") if contents.meta is None else judge(contents)


def _read_catalogue(connection: Connection) -> Contents:
    inspector = inspect(connection)
    ours = [name for name in inspector.get_table_names() if name in metadata.tables]
    columns = inspector.get_multi_columns(filter_names=ours)
    indexes = inspector.get_multi_indexes(filter_names=ours)
    meta: dict[str, str] | None = None
    if schema_meta.name in ours:
        rows = connection.execute(select(schema_meta.c.key, schema_meta.c.value))
        meta = {str(key): str(value) for key, value in rows}
    return Contents(
        tables=dict.fromkeys(ours, ""),
        columns=frozenset((key[1], column["name"]) for key, found in columns.items() for column in found),
        indexes=frozenset(str(index["name"]) for found in indexes.values() for index in found),
        meta=meta,
    )
