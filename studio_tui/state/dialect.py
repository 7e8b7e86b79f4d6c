"""The few statements that differ between SQLite and PostgreSQL (ADR-0056 D5). Everything else is portable Core."""

from __future__ import annotations

from typing import Final

from sqlalchemy import Table, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

CHECKPOINT_MODES: Final = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")


def insert_into(connection: AsyncConnection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """An INSERT that knows ``on_conflict_do_nothing`` and ``on_conflict_do_update``, which both databases spell alike."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


async def advisory_lock(connection: AsyncConnection, key: str) -> None:
    """Hold off others that use the same key until the transaction ends; the keys are those of the peer.

    PostgreSQL only: on SQLite the transaction already excludes every other writer.
    """
    if connection.dialect.name == "postgresql":
        await connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(key, 0))))


def change_counter(connection: AsyncConnection) -> str:
    """A cheap question whose answer changes when somebody commits a change.

    On PostgreSQL it is the sum of changed rows in the server's statistics, which follow within a second; reading adds nothing.
    """
    if connection.dialect.name == "postgresql":
        return "SELECT coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint FROM pg_stat_user_tables"
    return "PRAGMA data_version"
