"""The two writes that make a file a native store: the whole schema of a new one, and the stamp of one that lacks it."""

from __future__ import annotations

import time
from typing import Final

from sqlalchemy import inspect
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection

from studio_tui.application.errors import Conflict
from studio_tui.state.dialect import advisory_lock, insert_into
from studio_tui.state.schema import LINEAGE, SCHEMA_VERSION, metadata, schema_meta, seed_statements

SCHEMA_LOCK: Final = "lionagi.state.schema.migration"
"""The advisory lock under which the peer does its schema work on PostgreSQL."""


async def create_schema(connection: AsyncConnection) -> None:
    """All tables, indexes and seed rows. Raises :class:`Conflict` when somebody else has made the store meanwhile."""
    await advisory_lock(connection, SCHEMA_LOCK)
    await connection.run_sync(_create_all)
    for statement in seed_statements(time.time()):
        await connection.execute(statement)


async def stamp_native(connection: AsyncConnection) -> None:
    """Write what a native store says of itself: the version always, lineage and creation time where they are missing."""
    insert = insert_into(connection, schema_meta)
    version = insert.values(key="version", value=SCHEMA_VERSION)
    await connection.execute(version.on_conflict_do_update(index_elements=["key"], set_={"value": SCHEMA_VERSION}))
    for key, value in (("created_at", str(int(time.time()))), ("lineage", LINEAGE)):
        await connection.execute(insert.values(key=key, value=value).on_conflict_do_nothing(index_elements=["key"]))


def _create_all(connection: Connection) -> None:
    if inspect(connection).has_table(schema_meta.name):
        raise Conflict("store", expected=None, actual=None, message="The store was made by somebody else just now.")
    metadata.create_all(connection, checkfirst=False)
