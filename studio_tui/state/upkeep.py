"""Upkeep of the store (implements ``MaintenancePort``)."""

from __future__ import annotations

from contextlib import suppress

from studio_tui.state.db import StateDB
from studio_tui.state.stores.base import reading


class Upkeep:
    """Acts on the store as a whole, outside of transactions."""

    def __init__(self, db: StateDB) -> None:
        self._db = db

    async def checkpoint(self, mode: str) -> tuple[int, int, int] | None:
        """Move the log into the file: (busy, pages in the log, pages moved); ``None`` on a server."""
        return await self._db.checkpoint(mode)

    async def vacuum(self) -> None:
        """Rewrite the store without the room of deleted rows."""
        await self._db.vacuum()

    async def integrity(self, *, limit: int) -> tuple[str, ...] | None:
        """What SQLite says of pages, indexes and references; a store that is not there is sound."""
        if self._db.dialect != "sqlite":
            return None
        async with reading(self._db) as connection:
            if connection is None:
                return ()
            pages = (await connection.exec_driver_sql(f"PRAGMA integrity_check({int(limit)})")).all()
            broken = (await connection.exec_driver_sql("PRAGMA foreign_key_check")).mappings().fetchmany(limit)
        found = [str(finding) for (finding,) in pages if finding != "ok"]
        found += [f"row {row['rowid']} of {row['table']} refers to no row of {row['parent']}" for row in broken]
        return tuple(found[:limit])

    def size_bytes(self) -> int | None:
        """The size of the file and its log."""
        path = self._db.path
        if path is None:
            return None
        total = 0
        for name in (path, path.with_name(f"{path.name}-wal")):
            with suppress(OSError):
                total += name.stat().st_size
        return total
