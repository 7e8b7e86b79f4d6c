"""How many runs each project has: counted in an index, and kept until somebody commits something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studio_tui.state.async_core import AsyncConnection
from studio_tui.state.db import StateDB
from studio_tui.state.queries import projects as queries
from studio_tui.state.stores.base import reading


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Runs by the name of their project, and runs of no project."""

    by_project: Mapping[str, int]
    unassigned: int


class ProjectCounts:
    """Counting walks an index of all runs (8 ms of 100,000). The counter of commits says whether that is needed again.

    The server's counter follows its commits by up to a second, so there every question is counted anew.
    """

    def __init__(self, db: StateDB) -> None:
        self._db = db
        self._kept: tuple[int, RunCounts] | None = None

    async def get(self) -> RunCounts:
        """The counts as they are now."""
        if self._db.missing:
            return RunCounts({}, 0)
        version = await self._db.data_version() if self._db.dialect == "sqlite" else None
        if version is not None and self._kept is not None and self._kept[0] == version:
            return self._kept[1]
        async with reading(self._db) as connection:
            counts = RunCounts({}, 0) if connection is None else await _count(connection)
        if version is not None:
            self._kept = version, counts
        return counts


async def _count(connection: AsyncConnection) -> RunCounts:
    rows = (await connection.execute(queries.RUN_COUNTS)).all()
    by_project = {str(name): int(count) for name, count in rows if name is not None}
    total = sum(int(count) for name, count in rows if name is None)
    return RunCounts(by_project, total - sum(by_project.values()))
