"""The two writes that make a file a native store: the whole schema of a new one, and the stamp of one that lacks it."""

from __future__ import annotations

import time
from typing import Final

from sqlalchemy import inspect
from sqlalchemy.engine import Connection

from studio_tui.application.errors import Conflict
from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.dialect import advisory_lock, insert_into, repair_type_sequence
from studio_tui.state.schema import LINEAGE, SCHEMA_VERSION, metadata, schema_meta, seed_statements
from studio_tui.state.server import taken_names

SCHEMA_LOCK: Final = "lionagi.state.schema.migration"
"""The advisory lock under which the peer does its schema work on PostgreSQL."""


async def create_schema(connection: AsyncConnection) -> None:
    """All tables, indexes and seed rows. Raises :class:`Conflict` when somebody else has made the store meanwhile, and when a
    table of another program has a name that ours would have."""
    await advisory_lock(connection, SCHEMA_LOCK)
    taken = await connection.run_sync(_taken_names) if connection.dialect.name == "sqlite" else await taken_names(connection)
    if schema_meta.name in taken:
        raise Conflict("store", expected=None, actual=None, message="The store was made by somebody else just now.")
    if taken:
        message = f"The database holds tables that a store would have ({', '.join(taken[:5])}): give the store one of its own."
        raise Conflict("store", expected=None, actual=None, message=message)
    await connection.run_sync(lambda inner: metadata.create_all(inner, checkfirst=False))
    for statement in seed_statements(time.time()):
        await connection.execute(statement)
    await repair_type_sequence(connection)


async def stamp_native(connection: AsyncConnection) -> None:
    """Write what a native store says of itself: the version always, lineage and creation time where they are missing."""
    await advisory_lock(connection, SCHEMA_LOCK)
    insert = insert_into(connection, schema_meta)
    version = insert.values(key="version", value=SCHEMA_VERSION)
    await connection.execute(version.on_conflict_do_update(index_elements=["key"], set_={"value": SCHEMA_VERSION}))
    for key, value in (("created_at", str(int(time.time()))), ("lineage", LINEAGE)):
        await connection.execute(insert.values(key=key, value=value).on_conflict_do_nothing(index_elements=["key"]))
    await repair_type_sequence(connection)


def _taken_names(connection: Connection) -> list[str]:
    return sorted(set(inspect(connection).get_table_names()) & set(metadata.tables))
