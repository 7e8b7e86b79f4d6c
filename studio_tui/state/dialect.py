"""The few statements that differ between SQLite and PostgreSQL (ADR-0056 D5). Everything else is portable Core."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Final

from sqlalchemy import Column, Table, func, select
from sqlalchemy.dialects import sqlite

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.driver import DriverConnection

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

CHECKPOINT_MODES: Final = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")


def insert_into(connection: AsyncConnection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that knows ``on_conflict_do_nothing`` and ``on_conflict_do_update``, which both databases spell alike."""
    if connection.dialect.name == "postgresql":
        from sqlalchemy.dialects import postgresql  # a start on a file does not pay for the other dialect

        return postgresql.insert(table)
    return sqlite.insert(table)


async def advisory_lock(connection: AsyncConnection, key: str) -> None:
    """Hold off others that use the same key until the transaction ends; the keys are those of the peer.

    PostgreSQL only: on SQLite the transaction already excludes every other writer.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))


async def read_in_place(
    connection: AsyncConnection, column: Column[str], key: str, start: int | None, length: int
) -> tuple[int, bytes] | None:
    """SQLite only: see :meth:`studio_tui.state.driver.DriverConnection.read_in_place`. No statement can do it.

    What is stored counts as empty where it is no text.
    """
    driver = (await connection.get_raw_connection()).driver_connection
    assert isinstance(driver, DriverConnection)
    try:
        return await driver.read_in_place(column.table.name, column.name, key, start, length)
    except sqlite3.OperationalError as error:
        if "cannot open value of type" in str(error):
            return 0, b""
        raise


TYPE_SEQUENCE_BEHIND: Final = (
    "SELECT CASE WHEN has_sequence_privilege(place, 'UPDATE') "
    "THEN coalesce(pg_sequence_last_value(place), 0) < (SELECT max(type_id) FROM message_types) ELSE false END "
    "FROM to_regclass(pg_get_serial_sequence('message_types', 'type_id')) AS place WHERE place IS NOT NULL"
)
"""PostgreSQL: whether the next new class of messages would be given an id that is taken, and we may put that right (see
:func:`repair_type_sequence`)."""


async def repair_type_sequence(connection: AsyncConnection) -> None:
    """Let ids of new message classes go on after the fixed ones. The peer writes those with their ids and leaves the sequence
    at its beginning, so that its first new classes fail (lionagi 0.36 on PostgreSQL). SQLite counts by itself."""
    if connection.dialect.name == "postgresql" and (await connection.exec_driver_sql(TYPE_SEQUENCE_BEHIND)).scalar():
        sequence = "pg_get_serial_sequence('message_types', 'type_id')"
        await connection.exec_driver_sql(f"SELECT setval({sequence}, (SELECT max(type_id) FROM message_types))")
