"""Reads schedules and firings (implements ``ScheduleReadPort``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import Select

from studio_tui.domain.outcomes import FiringOutcome
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.state.queries import schedules as queries
from studio_tui.state.queries.text_search import text_count, text_values
from studio_tui.state.rows import firing_outcome, firing_record, schedule_record
from studio_tui.state.stores.reads import in_parts
from studio_tui.state.stores.schedule_facts import ScheduleFactReads

_RUNS_OF_FIRINGS: Final = 2000
"""The most run ids that one page of firings carries."""


class ScheduleReadStore(ScheduleFactReads):
    """Implements ``ScheduleReadPort``."""

    async def list_schedules(
        self, *, enabled: bool | None, text: str | None, after: tuple[str, str] | None, limit: int
    ) -> tuple[ScheduleRecord, ...]:
        """Schedules by ``(name, id)`` ascending, after this key."""
        values: dict[str, object] = {"limit": limit, **text_values("text", text)}
        if enabled is not None:
            values["enabled"] = int(enabled)
        if after is not None:
            values |= {"key_name": after[0], "key_id": after[1]}
        statement = _page(enabled is not None, text_count(text), after is not None)
        return tuple(map(schedule_record, await self._rows(statement, values)))

    async def get_schedule(self, schedule_id: str) -> ScheduleRecord | None:
        """One schedule by id."""
        row = await self._first_row(queries.SCHEDULE_BY_ID, {"schedule_id": schedule_id})
        return None if row is None else schedule_record(row)

    async def find_schedules(self, name_or_prefix: str, *, limit: int) -> tuple[ScheduleRecord, ...]:
        """The schedule of exactly this name or id, else those that begin so.

        When one schedule is named like another's id, both: which was meant is not for us to say.
        """
        values = {"name": name_or_prefix, "limit": limit}
        rows = await self._rows(queries.EXACT_SCHEDULES, values) or await self._rows(queries.SCHEDULES_BY_PREFIX, values)
        return tuple(map(schedule_record, rows))

    async def recent_firings(self, schedule_ids: Sequence[str], *, each: int) -> Mapping[str, tuple[FiringOutcome, ...]]:
        """The outcomes of the newest ``each`` depth-0 rows of each schedule, newest first."""
        found: dict[str, list[FiringOutcome]] = {}
        for ids in in_parts(schedule_ids):
            for schedule_id, *row in await self._rows(queries.RECENT_OUTCOMES[self._db.dialect], {"ids": ids, "each": each}):
                found.setdefault(schedule_id, []).append(firing_outcome(row))
        return {schedule_id: tuple(outcomes) for schedule_id, outcomes in found.items()}

    async def firings(self, schedule_id: str, *, before: tuple[float, str] | None, limit: int) -> tuple[FiringRecord, ...]:
        """Firings by ``(fired_at, id)`` descending with their sessions' ids."""
        values: dict[str, object] = {"schedule_id": schedule_id, "limit": limit}
        if before is not None:
            values |= {"key_time": before[0], "key_id": before[1]}
        rows = await self._rows(queries.FIRINGS if before is None else queries.FIRINGS_BEFORE, values)
        return await self._with_runs(tuple(map(firing_record, rows)))

    async def get_firing(self, firing_id: str) -> FiringRecord | None:
        """One firing by id, with its sessions' ids."""
        row = await self._first_row(queries.FIRING_BY_ID, {"firing_id": firing_id})
        return None if row is None else (await self._with_runs((firing_record(row),)))[0]

    async def executed_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        """Executed depth-0 firings over each schedule's life; a schedule without any is left out."""
        return await self._counts(queries.EXECUTED_COUNTS, schedule_ids)

    async def running_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        """Firings of each schedule that run now, from the index of running rows."""
        return await self._counts(queries.RUNNING_COUNTS, schedule_ids)

    async def _counts(self, statement: Select[Any], schedule_ids: Sequence[str]) -> Mapping[str, int]:
        counts: dict[str, int] = {}
        for ids in in_parts(schedule_ids):
            counts |= {str(schedule_id): int(count) for schedule_id, count in await self._rows(statement, {"ids": ids})}
        return counts

    async def _with_runs(self, firings: tuple[FiringRecord, ...]) -> tuple[FiringRecord, ...]:
        """The firings with the ids of the runs that their invocations started, oldest first."""
        runs: dict[str, list[str]] = {}
        for ids in in_parts([firing.invocation_id for firing in firings if firing.invocation_id]):
            values = {"ids": ids, "limit": _RUNS_OF_FIRINGS}
            for invocation_id, run_id in await self._rows(queries.RUNS_OF_INVOCATIONS, values):
                runs.setdefault(invocation_id, []).append(run_id)
        return tuple(
            replace(firing, session_ids=tuple(runs[firing.invocation_id])) if firing.invocation_id in runs else firing
            for firing in firings
        )


@lru_cache(maxsize=64)
def _page(enabled: bool, texts: int, after: bool) -> Select[Any]:
    return queries.schedule_page(enabled=enabled, texts=texts, after=after)
