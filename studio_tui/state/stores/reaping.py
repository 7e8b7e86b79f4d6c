"""What is open and has been quiet for long (implements ``ReapingPort``)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from studio_tui.application.ports.reaping import OpenInvocation, OpenPlay, OpenShow
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord
from studio_tui.state.queries import reaping as queries
from studio_tui.state.rows import firing_record, run_record
from studio_tui.state.stores.reads import ReadStore, in_parts


class ReapingStore(ReadStore):
    """A few rows of each kind at a time; the runs that they refer to come with them."""

    async def open_runs(self, quiet_since: float) -> tuple[RunRecord, ...]:
        """Runs that are running or have no status."""
        return tuple(map(run_record, await self._rows(queries.OPEN_RUNS, {"quiet_since": quiet_since})))

    async def open_invocations(self, quiet_since: float) -> tuple[OpenInvocation, ...]:
        """Running invocations."""
        rows = await self._rows(queries.OPEN_INVOCATIONS, {"quiet_since": quiet_since})
        runs: defaultdict[str, list[RunRecord]] = defaultdict(list)
        for part in in_parts([str(row[0]) for row in rows]):
            for run in map(run_record, await self._rows(queries.RUNS_OF_INVOCATIONS, {"ids": part})):
                runs[run.invocation_id or ""].append(run)
        return tuple(
            OpenInvocation(
                invocation_id=str(row[0]),
                action_kind=row[2] or _kind(row[1]),
                started_at=row[3],
                updated_at=row[4],
                ended_at=row[5],
                firing_id=row[6],
                runs=tuple(runs[str(row[0])]),
            )
            for row in rows
        )

    async def open_plays(self, quiet_since: float) -> tuple[OpenPlay, ...]:
        """Plays that are running, run, prepared or being redone."""
        rows = await self._rows(queries.OPEN_PLAYS, {"quiet_since": quiet_since})
        runs = await self._runs(row[4] for row in rows)
        return tuple(OpenPlay(str(row[0]), str(row[1]), row[2], row[3], row[4], runs.get(row[4] or "")) for row in rows)

    async def open_shows(self, quiet_since: float) -> tuple[OpenShow, ...]:
        """Shows that are active or imported."""
        rows = await self._rows(queries.OPEN_SHOWS, {"quiet_since": quiet_since})
        linked: defaultdict[str, list[str]] = defaultdict(list)
        for part in in_parts([str(row[0]) for row in rows]):
            for show_id, run_id in await self._rows(queries.PLAYS_OF_SHOWS, {"ids": part}):
                linked[str(show_id)].append(str(run_id))
        runs = await self._runs(run_id for ids in linked.values() for run_id in ids)
        return tuple(
            OpenShow(
                *(str(row[0]), str(row[1]), str(row[2]), row[3], row[4]),
                tuple(runs[run_id] for run_id in linked[str(row[0])] if run_id in runs),
            )
            for row in rows
        )

    async def open_firings(self, quiet_since: float) -> tuple[FiringRecord, ...]:
        """Running firings of schedules."""
        return tuple(map(firing_record, await self._rows(queries.OPEN_FIRINGS, {"quiet_since": quiet_since})))

    async def _runs(self, ids: Iterable[str | None]) -> dict[str, RunRecord]:
        found: dict[str, RunRecord] = {}
        for part in in_parts([run_id for run_id in ids if run_id is not None]):
            found |= {run.run_id: run for run in map(run_record, await self._rows(queries.RUNS_BY_ID, {"ids": part}))}
        return found


def _kind(metadata: object) -> str | None:
    """The kind of action that an invocation without a firing was made for: a launch writes it down (lionagi 0.36)."""
    kind = metadata.get("action_kind") if isinstance(metadata, Mapping) else None
    return kind if isinstance(kind, str) else None
