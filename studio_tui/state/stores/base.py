"""What every store of one aggregate is built on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sqlalchemy import Executable, RowMapping

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB


@asynccontextmanager
async def reading(db: StateDB) -> AsyncIterator[AsyncConnection | None]:
    """A connection to read with, or ``None`` while there is no store: what is not there is empty, not an error."""
    if db.missing:
        yield None
        return
    async with db.read() as connection:
        yield connection


async def fetch(connection: AsyncConnection | None, statement: Executable) -> list[RowMapping]:
    """All rows of a query; none while there is no store."""
    if connection is None:
        return []
    return list((await connection.execute(statement)).mappings())


async def fetch_first(connection: AsyncConnection | None, statement: Executable) -> RowMapping | None:
    """The first row of a query, or ``None``."""
    if connection is None:
        return None
    return (await connection.execute(statement)).mappings().first()


async def fetch_value(connection: AsyncConnection | None, statement: Executable) -> Any:
    """The first column of the first row, or ``None``."""
    if connection is None:
        return None
    return (await connection.execute(statement)).scalar()


class StoreBase:
    """Holds the database; subclasses hold the questions and changes of one aggregate and never call each other."""

    def __init__(self, db: StateDB) -> None:
        self._db = db

    async def _all(self, statement: Executable) -> list[RowMapping]:
        async with reading(self._db) as connection:
            return await fetch(connection, statement)

    async def _first(self, statement: Executable) -> RowMapping | None:
        async with reading(self._db) as connection:
            return await fetch_first(connection, statement)

    async def _value(self, statement: Executable) -> Any:
        async with reading(self._db) as connection:
            return await fetch_value(connection, statement)
