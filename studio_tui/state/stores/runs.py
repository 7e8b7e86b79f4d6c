"""Reads runs (implements ``RunReadPort``)."""

from __future__ import annotations

from collections.abc import Sequence

from studio_tui.application.ports import RunFilter, RunSlice
from studio_tui.domain.runs import BranchRecord, RunRecord, TransitionRecord
from studio_tui.domain.schedules import FiringRecord
from studio_tui.state.queries import run_facts
from studio_tui.state.queries.runs import newer, page, run_values, shape_of
from studio_tui.state.rows import branch_record, firing_record, run_record, transition_record
from studio_tui.state.stores.reads import ReadStore, in_parts


class RunStore(ReadStore):
    """Implements ``RunReadPort``. A list costs one statement, whatever it is narrowed by."""

    async def list_runs(self, where: RunFilter, *, after: tuple[float, str] | None, backwards: bool, limit: int) -> RunSlice:
        """A keyset page; one row more than ``limit`` is asked for to know whether more follow."""
        shape = shape_of(where, after, backwards=backwards)
        rows = await self._rows(page(shape), run_values(where, after, limit + 1))
        runs = tuple(map(run_record, rows[:limit]))
        return RunSlice(runs[::-1] if backwards else runs, more=len(rows) > limit)

    async def get_runs(self, run_ids: Sequence[str]) -> tuple[RunRecord, ...]:
        """The runs of these ids with all that a run's own screen needs, in no order."""
        found: list[RunRecord] = []
        for ids in in_parts(run_ids):
            found += map(run_record, await self._rows(run_facts.RUNS_BY_ID, {"ids": ids}))
        return tuple(found)

    async def find_run_ids(self, prefix: str, *, limit: int) -> tuple[str, ...]:
        """Ids that begin with ``prefix``, those of engine children included: whoever names one wants to see it."""
        return tuple(row[0] for row in await self._rows(run_facts.IDS_BY_PREFIX, {"prefix": prefix, "limit": limit}))

    async def count_newer(self, where: RunFilter, than: tuple[float, str], *, limit: int) -> int:
        """How many runs stand before this key, counted up to ``limit``."""
        return int(await self._only_value(newer(shape_of(where, than)), run_values(where, than, limit)) or 0)

    async def approximate_count(self) -> int:
        """How many rows the table has; hidden children are among them."""
        return int(await self._only_value(run_facts.ALL_COUNTED, {}) or 0)

    async def branches(self, run_id: str) -> tuple[BranchRecord, ...]:
        """The branches of a run in the order of their creation."""
        return tuple(map(branch_record, await self._rows(run_facts.BRANCHES, {"run_id": run_id})))

    async def transitions(self, entity_type: str, entity_id: str, *, limit: int) -> tuple[TransitionRecord, ...]:
        """The newest ``limit`` entries of one entity's status history, oldest first."""
        values = {"entity_type": entity_type, "entity_id": entity_id, "limit": limit}
        return tuple(map(transition_record, await self._rows(run_facts.TRANSITIONS, values)))[::-1]

    async def runs_of_invocation(self, invocation_id: str, *, limit: int) -> tuple[RunRecord, ...]:
        """The runs that one invocation started, oldest first."""
        values = {"invocation_id": invocation_id, "limit": limit}
        return tuple(map(run_record, await self._rows(run_facts.RUNS_OF_INVOCATION, values)))

    async def firing_of_invocation(self, invocation_id: str) -> tuple[FiringRecord, str | None] | None:
        """The firing that made this invocation, and the name of its schedule."""
        row = await self._first_row(run_facts.FIRING_OF_INVOCATION, {"invocation_id": invocation_id})
        return None if row is None else (firing_record(row[:-1]), row[-1])

    async def invocation_skill(self, invocation_id: str) -> str | None:
        """The ``skill`` text of an invocation."""
        skill = await self._only_value(run_facts.SKILL_OF_INVOCATION, {"invocation_id": invocation_id})
        return None if skill is None else str(skill)
