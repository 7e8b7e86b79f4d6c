"""Looking at schedules and their firings (ADR-0078 D2)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from studio_tui.application.cadence_views import cadence_view, trigger_failure
from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.firing_views import firing_view
from studio_tui.application.guard import guarded
from studio_tui.application.models.common import Page
from studio_tui.application.models.schedules import (
    Cadence,
    CadenceQuery,
    Firing,
    FiringQuery,
    ScheduleDetail,
    ScheduleQuery,
    ScheduleSummary,
)
from studio_tui.application.paging import cut, encode_cursor, name_key, time_key
from studio_tui.application.pauses import in_slices
from studio_tui.application.ports import OutputTail
from studio_tui.application.schedule_base import ScheduleBase
from studio_tui.application.schedule_values import trigger_draft
from studio_tui.application.schedule_views import STRIP, Evidence, detail, summarize
from studio_tui.application.short_ids import SHOWN, only_one, typed_prefix
from studio_tui.application.wellformed import require_wellformed
from studio_tui.domain.cadence import CadenceError
from studio_tui.domain.schedules import FiringRecord

_NAMES: Final = "schedules"
_FIRINGS: Final = "firings"
_LIST_TAIL: Final = 2_048
"""Bytes of each stream that a list of firings shows."""

_WHOLE_TAIL: Final = 65_536
"""Bytes of each stream that one firing shows."""


@guarded
class ScheduleReading(ScheduleBase):
    """Schedules and their firings as screens and commands see them."""

    async def list_schedules(self, query: ScheduleQuery) -> Page[ScheduleSummary]:
        """A page of schedules by name. Raises :class:`ValidationFailure` for a cursor that is none of ours."""
        after = name_key(_NAMES, query.cursor)
        require_wellformed(text=query.text)
        text = (query.text or "").strip() or None
        found = await self._reads.list_schedules(enabled=query.enabled, text=text, after=after, limit=query.limit + 1)
        shown, more = cut(found, query.limit)
        evidence = await self._evidence([schedule.schedule_id for schedule in shown])
        now = self._clock.now()
        items = await in_slices(
            shown, lambda schedule: summarize(schedule, evidence[schedule.schedule_id], now=now, default=self._zone)
        )
        cursor = encode_cursor(_NAMES, (shown[-1].name, shown[-1].schedule_id)) if more else None
        return Page(items=tuple(items), limit=query.limit, has_next=more, next_cursor=cursor)

    async def get_schedule(self, schedule_id: str) -> ScheduleDetail:
        """One schedule with what it runs, where, and when next. Raises :class:`NotFound`."""
        schedule = await self._record(schedule_id)
        evidence = await self._evidence([schedule_id])
        executed = await self._reads.executed_counts([schedule_id])
        preview = await self._launch.preview(schedule)
        return detail(
            schedule,
            evidence[schedule_id],
            preview,
            executed=executed.get(schedule_id, 0),
            now=self._clock.now(),
            default=self._zone,
        )

    async def resolve_schedule(self, name_or_prefix: str) -> str:
        """The id of the schedule of this name or id, or of the one that begins so, taken literally.

        Raises :class:`NotFound`, and :class:`Conflict` with the candidates when several fit.
        """
        text = typed_prefix("schedule", name_or_prefix)
        found = await self._reads.find_schedules(text, limit=SHOWN + 1)
        exact = [schedule for schedule in found if text in (schedule.schedule_id, schedule.name)]
        fitting = exact or list(found)
        labels = [f"{schedule.name} ({schedule.schedule_id})" for schedule in fitting]
        return only_one("schedule", text, [schedule.schedule_id for schedule in fitting], labels)

    async def list_firings(self, query: FiringQuery) -> Page[Firing]:
        """A page of a schedule's firings, newest first, each with the end of its output."""
        before = time_key(_FIRINGS, query.cursor)
        found = await self._reads.firings(query.schedule_id, before=before, limit=query.limit + 1)
        shown, more = cut(found, query.limit)
        tails = await self._tails(shown, _LIST_TAIL)
        now = self._clock.now()
        items = tuple(firing_view(firing, now=now, tail=tails[firing.run_id]) for firing in shown)
        last = shown[-1] if more else None
        cursor = encode_cursor(_FIRINGS, (last.fired_at or 0.0, last.run_id)) if last else None
        return Page(items=items, limit=query.limit, has_next=more, next_cursor=cursor)

    async def get_firing(self, firing_id: str) -> Firing:
        """One firing with more of its output. Raises :class:`NotFound`."""
        firing = await self._reads.get_firing(firing_id)
        if firing is None:
            raise NotFound("firing", firing_id)
        tails = await self._tails((firing,), _WHOLE_TAIL)
        return firing_view(firing, now=self._clock.now(), tail=tails[firing_id])

    def cadence(self, query: CadenceQuery) -> Cadence:
        """The coming fires of a trigger that is not saved yet. Raises :class:`ValidationFailure` for one that cannot be used."""
        now = self._clock.now()
        schedule = trigger_draft(query.trigger, default=self._zone, now=now if query.since is None else query.since)
        after = query.after if query.after is not None else now
        try:
            return cadence_view(schedule, after=after, count=query.count, now=now, default=self._zone)
        except CadenceError as error:
            raise ValidationFailure(trigger_failure(error)) from None

    # --- parts --------------------------------------------------------------------------------------------------------

    async def _evidence(self, schedule_ids: Sequence[str]) -> Mapping[str, Evidence]:
        if not schedule_ids:
            return {}
        recent = await self._reads.recent_firings(schedule_ids, each=STRIP)
        running = await self._reads.running_counts(schedule_ids)
        return {
            identifier: Evidence(recent.get(identifier, ()), running.get(identifier, 0), self._host.poll_trouble(identifier))
            for identifier in schedule_ids
        }

    async def _tails(self, firings: Sequence[FiringRecord], limit: int) -> Mapping[str, OutputTail | None]:
        """The ends of what firings wrote, read in a thread; those that never began to run wrote nothing."""
        if not firings:
            return {}
        return await asyncio.to_thread(
            lambda: {
                firing.run_id: None if firing.status == "skipped" else self._logs.tail(firing.run_id, limit=limit)
                for firing in firings
            }
        )
