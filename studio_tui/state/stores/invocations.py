"""Reads invocations and how their runs do (implements ``InvocationReadPort``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from studio_tui.application.ports.invocations import InvocationFilter
from studio_tui.domain.invocations import InvocationRecord
from studio_tui.domain.runs import RunRecord
from studio_tui.state.queries import invocations as queries
from studio_tui.state.queries.invocations import invocation_record
from studio_tui.state.queries.keysets import Key, key_values
from studio_tui.state.rows import run_record
from studio_tui.state.stores.reads import ReadStore, in_parts

_RUNNING_RUNS: Final = 1000
"""The most running runs that come with one page."""


class InvocationStore(ReadStore):
    """Implements ``InvocationReadPort``: three statements a page, however many runs there are."""

    async def list_invocations(self, where: InvocationFilter, *, before: Key | None, limit: int) -> tuple[InvocationRecord, ...]:
        """Invocations, newest change first, with how their runs do."""
        running = where.status == "running"
        given = {"skill": where.skill, "plugin": where.plugin, "status": None if running else where.status}
        values = key_values(before, limit=limit, **{name: value for name, value in given.items() if value is not None})
        statement = queries.invocation_page(
            skill=where.skill is not None,
            plugin=where.plugin is not None,
            status=where.status is not None,
            running=running,
            before=before is not None,
        )
        return await self._with_runs(tuple(map(invocation_record, await self._rows(statement, values))))

    async def get_invocation(self, invocation_id: str) -> InvocationRecord | None:
        """One invocation with all of it."""
        row = await self._first_row(queries.INVOCATION_BY_ID, {"invocation_id": invocation_id})
        return None if row is None else (await self._with_runs((invocation_record(row),)))[0]

    async def _with_runs(self, found: Sequence[InvocationRecord]) -> tuple[InvocationRecord, ...]:
        children: dict[str, dict[str | None, int]] = {}
        running: dict[str, list[RunRecord]] = {}
        for ids in in_parts([invocation.invocation_id for invocation in found]):
            for invocation_id, status, count in await self._rows(queries.CHILD_COUNTS, {"ids": ids}):
                children.setdefault(invocation_id, {})[status] = int(count)
        for ids in in_parts([invocation_id for invocation_id, counts in children.items() if "running" in counts]):
            for row in await self._rows(queries.RUNNING_CHILDREN, {"ids": ids, "limit": _RUNNING_RUNS}):
                run = run_record(row)
                running.setdefault(run.invocation_id or "", []).append(run)
        return tuple(
            replace(
                invocation,
                children=children.get(invocation.invocation_id, {}),
                running=tuple(running.get(invocation.invocation_id, ())),
            )
            for invocation in found
        )
