"""Reading runs: lists, details, transcripts (ADR-0078 D2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from studio_tui.application.artifact_views import artifact_status, missing_required
from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.liveness import living
from studio_tui.application.messages import Transcripts
from studio_tui.application.models.common import Page
from studio_tui.application.models.runs import (
    MessagePage,
    MessageQuery,
    Provenance,
    RunDetail,
    RunQuery,
    RunSummary,
)
from studio_tui.application.paging import encode_cursor, time_key
from studio_tui.application.ports import Clock, MessageReadPort, ProcessPort, RunFilter, RunReadPort
from studio_tui.application.run_views import branch_summary, status_change, summarize, summary_fields
from studio_tui.application.short_ids import SHOWN, distinct, only_one, typed_prefix
from studio_tui.application.wellformed import mended, require_wellformed
from studio_tui.domain.runs import RunRecord

_ORDER: Final = "runs"
_HISTORY: Final = 200
_SIBLINGS: Final = 50
_NEWER: Final = 1000
_PASSED_AT_ONCE: Final = 500


@guarded
class RunService:
    """Runs as screens and commands see them. Lists cost one statement, whatever their length."""

    def __init__(self, *, runs: RunReadPort, messages: MessageReadPort, processes: ProcessPort, clock: Clock) -> None:
        self._runs = runs
        self._transcripts = Transcripts(runs, messages)
        self._processes = processes
        self._clock = clock

    async def list_runs(self, query: RunQuery) -> Page[RunSummary]:
        """A page of runs, newest activity first.

        Raises :class:`ValidationFailure` for a cursor that is none of ours, and for an offset beside a cursor.
        """
        after = await self._behind(query) if query.offset else time_key(_ORDER, query.cursor)
        if query.offset and after is None:
            return Page(items=(), limit=query.limit, has_next=False, offset=query.offset)
        found = await self._runs.list_runs(run_filter(query), after=after, backwards=query.backwards, limit=query.limit)
        items = await self._summaries(found.runs)
        edge = found.runs[0 if query.backwards else -1] if found.runs and found.more else None
        cursor = encode_cursor(_ORDER, (_stood_at(edge), edge.run_id)) if edge else None
        return Page(items=items, limit=query.limit, has_next=found.more, next_cursor=cursor, offset=query.offset)

    def cursor_at(self, updated_at: float | None, run_id: str) -> str:
        """The cursor that stands at a run as it was listed: pages on either side of it are asked for with it."""
        return encode_cursor(_ORDER, (updated_at if updated_at is not None else 0.0, run_id))

    async def refresh_runs(self, ids: Sequence[str]) -> tuple[RunSummary, ...]:
        """The runs of these ids as they are now, in the order asked for; those that are gone are left out."""
        if not ids:
            return ()
        summaries = await self._summaries(await self._runs.get_runs(ids))
        by_id = {summary.run_id: summary for summary in summaries}
        return tuple(by_id[run_id] for run_id in dict.fromkeys(ids) if run_id in by_id)

    async def count_newer(self, query: RunQuery, than: RunSummary) -> int:
        """How many runs of the query stand before one that is shown; counted up to 1000."""
        key = (than.updated_at if than.updated_at is not None else 0.0, than.run_id)
        return await self._runs.count_newer(run_filter(query), key, limit=_NEWER)

    async def approximate_count(self) -> int:
        """About how many runs there are."""
        return await self._runs.approximate_count()

    async def get_run(self, run_id: str) -> RunDetail:
        """One run with its branches, history and origin. Raises :class:`NotFound`."""
        run = await self._record(run_id)
        alive = await living((run,), self._processes)
        pid = run.metadata.get("pid")
        return RunDetail.model_validate(
            {
                **summary_fields(run, now=self._clock.now(), alive=alive.get(run_id)),
                "effort": run.effort,
                "num_turns": run.num_turns,
                "artifacts_path": run.artifacts_path,
                "artifact_status": artifact_status(run),
                "missing_required": missing_required(run),
                "branches": tuple(map(branch_summary, await self._runs.branches(run_id))),
                "history": tuple(map(status_change, await self._runs.transitions("session", run_id, limit=_HISTORY))),
                "provenance": await self._provenance(run),
                "siblings": await self._siblings(run),
                "pid": pid if isinstance(pid, int) and not isinstance(pid, bool) else None,
                "pid_host": _noted(run, "pid_host"),
            }
        )

    async def resolve_run_id(self, prefix: str) -> str:
        """The id of the one run that ``prefix``, taken literally, begins.

        Raises :class:`NotFound`, and :class:`Conflict` with the candidates when several runs begin so.
        """
        text = typed_prefix("run", prefix)
        found = await self._runs.find_run_ids(text, limit=SHOWN + 1)
        if text in found:
            return text
        return only_one("run", text, found, distinct(found))

    async def list_messages(self, query: MessageQuery) -> MessagePage:
        """A window of a run's transcript. Raises :class:`NotFound` for an unknown run or branch."""
        return await self._transcripts.window(await self._record(query.run_id), query)

    async def _record(self, run_id: str) -> RunRecord:
        found = await self._runs.get_runs((run_id,))
        if not found:
            raise NotFound("run", run_id)
        return found[0]

    async def _behind(self, query: RunQuery) -> tuple[float, str] | None:
        """The key of the last of the runs that an offset passes over; ``None`` when there are fewer."""
        if query.cursor is not None or query.backwards:
            raise ValidationFailure.of("offset", "invalid", "does not go with a cursor, which says already where to begin")
        left, key = query.offset, None
        while left:
            wanted = min(left, _PASSED_AT_ONCE)
            found = (await self._runs.list_runs(run_filter(query), after=key, backwards=False, limit=wanted)).runs
            if len(found) < wanted:
                return None
            left, key = left - wanted, (_stood_at(found[-1]), found[-1].run_id)
        return key

    async def _summaries(self, runs: Sequence[RunRecord]) -> tuple[RunSummary, ...]:
        alive = await living(runs, self._processes)
        now = self._clock.now()
        return tuple(summarize(run, now=now, alive=alive.get(run.run_id)) for run in runs)

    async def _provenance(self, run: RunRecord) -> Provenance:
        resumed_from = _noted(run, "resumed_from")
        if run.invocation_id is None:
            return Provenance(resumed_from=resumed_from)
        skill = await self._runs.invocation_skill(run.invocation_id)
        firing, schedule_name = await self._runs.firing_of_invocation(run.invocation_id) or (None, None)
        return Provenance(
            invocation_id=run.invocation_id,
            invocation_skill=skill,
            schedule_id=firing.schedule_id if firing else None,
            schedule_name=schedule_name,
            firing_id=firing.run_id if firing else None,
            resumed_from=resumed_from,
        )

    async def _siblings(self, run: RunRecord) -> tuple[str, ...]:
        if run.invocation_id is None:
            return ()
        found = await self._runs.runs_of_invocation(run.invocation_id, limit=_SIBLINGS)
        return tuple(other.run_id for other in found if other.run_id != run.run_id)


def _noted(run: RunRecord, key: str) -> str | None:
    """A text in a run's metadata."""
    value = run.metadata.get(key)
    return mended(value) if isinstance(value, str) else None


def run_filter(query: RunQuery) -> RunFilter:
    """The stored values that a query means. Raises :class:`ValidationFailure` for a condition that is no text.

    A missing status reads as completed and a missing kind as agent; ``show`` is spelt ``show-play`` in newer rows
    (lionagi 0.36, list filters).
    """
    require_wellformed(text=query.text, project=query.project, playbook=query.playbook, tags="".join(query.tags))
    status: set[str | None] = set(query.status)
    if "completed" in status:
        status.add(None)
    kinds: set[str | None] = set() if query.kind is None else {query.kind}
    if query.kind == "agent":
        kinds.add(None)
    if query.kind in ("show", "show-play"):
        kinds = {"show", "show-play"}
    text = (query.text or "").strip()
    return RunFilter(
        status=frozenset(status),
        kinds=frozenset(kinds),
        project=query.project,
        project_is_null=query.project_is_null,
        tags=query.tags,
        playbook=query.playbook,
        text=text or None,
    )


def _stood_at(run: RunRecord) -> float:
    return run.updated_at if run.updated_at is not None else 0.0
