"""Schedules: looking at them, making them, turning them on and off, firing one by hand (ADR-0078 D2, D4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import uuid4

from studio_tui.application.cadence_views import cadence_view, trigger_failure
from studio_tui.application.errors import FieldFailure, NotFound, StateUnavailable, ValidationFailure
from studio_tui.application.firing_views import firing_view
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.common import Page
from studio_tui.application.models.schedules import (
    Cadence,
    CadenceQuery,
    CreateSchedule,
    FireNow,
    FireResult,
    Firing,
    FiringQuery,
    ScheduleDetail,
    ScheduleQuery,
    ScheduleResult,
    ScheduleSummary,
    SetScheduleEnabled,
)
from studio_tui.application.paging import cut, encode_cursor, name_key, time_key
from studio_tui.application.pauses import in_slices
from studio_tui.application.ports import (
    ActProvenance,
    Clock,
    NewSchedule,
    OutputTail,
    RunLogPort,
    ScheduleReadPort,
    SchedulerHostPort,
    ScheduleWritePort,
    SidecarPort,
)
from studio_tui.application.schedule_rules import failures
from studio_tui.application.schedule_switch import Switch, plan_switch
from studio_tui.application.schedule_values import draft, new_values, trigger_draft
from studio_tui.application.schedule_views import STRIP, Evidence, detail, summarize
from studio_tui.application.short_ids import SHOWN, only_one, typed_prefix
from studio_tui.application.wellformed import require_wellformed
from studio_tui.domain.cadence import CadenceError, first_fire, warnings
from studio_tui.domain.gates import unsupported
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord, Zone

_NAMES: Final = "schedules"
_FIRINGS: Final = "firings"
_LIST_TAIL: Final = 2_048
"""Bytes of each stream that a list of firings shows."""

_WHOLE_TAIL: Final = 65_536
"""Bytes of each stream that one firing shows."""


@guarded
class ScheduleService:
    """Schedules and their firings as screens and commands see them."""

    def __init__(
        self,
        *,
        reads: ScheduleReadPort,
        writes: ScheduleWritePort,
        host: SchedulerHostPort,
        logs: RunLogPort,
        sidecar: SidecarPort,
        launch: LaunchFacts,
        zone: Zone,
        by: ActProvenance,
        clock: Clock,
    ) -> None:
        """``zone`` is where cron expressions without a zone of their own are read; ``by`` is who acts, and from where."""
        self._reads = reads
        self._writes = writes
        self._host = host
        self._logs = logs
        self._journal = Journal(sidecar, clock)
        self._launch = launch
        self._zone = zone
        self._by = by
        self._clock = clock

    # --- looking ------------------------------------------------------------------------------------------------------

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
        schedule = trigger_draft(query.trigger, default=self._zone, now=now)
        after = query.after if query.after is not None else now
        try:
            return cadence_view(schedule, after=after, count=query.count, now=now, default=self._zone)
        except CadenceError as error:
            raise ValidationFailure(trigger_failure(error)) from None

    # --- acting -------------------------------------------------------------------------------------------------------

    async def create_schedule(self, command: CreateSchedule) -> ScheduleResult:
        """Make a schedule. Raises :class:`ValidationFailure` with every broken rule, and :class:`Conflict` for a taken name."""
        now = self._clock.now()
        schedule_id = uuid4().hex[:12]
        faults = failures(command, self._launch, now=now)
        schedule = draft(command, schedule_id=schedule_id, default=self._zone, now=now)
        try:
            first = first_fire(schedule, now, self._zone)
            notes = warnings(schedule, now, self._zone)
        except CadenceError as error:
            faulty = trigger_failure(error)
            known = any(fault.path == faulty.path for fault in faults)
            raise ValidationFailure(*faults, *(() if known else (faulty,))) from None
        if first is None and not faults and schedule.trigger_type in ("cron", "interval"):
            faults = (FieldFailure(("trigger",), "finished", "has no fire to come"),)
        if faults:
            raise ValidationFailure(*faults)
        values = new_values(
            command,
            schedule_id=schedule_id,
            next_fire_at=first if command.enabled else None,
            default=self._zone,
            by_command_line=self._by.origin == "cli",
            now=now,
        )
        stored = await self._writes.create_schedule(NewSchedule(values), now=now, by=self._by)
        self._host.wake()
        await self._journal.note("schedule.create", stored.schedule_id, "done", {"name": stored.name})
        return _result(stored, (*notes, *await self._doubts(schedule)))

    async def set_enabled(self, command: SetScheduleEnabled) -> ScheduleResult:
        """Turn a schedule on or off; its next instant is counted forward from now, so nothing fires at once.

        Raises :class:`NotFound`, :class:`ValidationFailure` for a schedule that is broken, and :class:`Conflict` when it has
        nothing left to fire, is not what the caller saw, or is off already and a reason was given.
        """
        now = self._clock.now()
        schedule = await self._record(command.schedule_id)
        executed = await self._reads.executed_counts([schedule.schedule_id])
        switch = plan_switch(schedule, command, executed=executed.get(schedule.schedule_id, 0), now=now, default=self._zone)
        if switch is None:
            return _result(schedule)
        stored = await self._switch(schedule, command, switch, now)
        self._host.wake()
        await self._journal.note("schedule.enable" if command.enabled else "schedule.disable", stored.schedule_id, "done")
        return _result(stored)

    async def fire_now(self, command: FireNow) -> FireResult:
        """Start one firing by hand, whatever the trigger says. Raises the closed errors when a gate refuses it."""
        schedule = await self._record(command.schedule_id)
        firing_id = await self._host.fire_now(schedule)
        await self._journal.note("schedule.fire", schedule.schedule_id, "done", {"firing": firing_id})
        return FireResult(firing_id=firing_id, schedule_id=schedule.schedule_id, name=schedule.name)

    # --- parts --------------------------------------------------------------------------------------------------------

    async def _record(self, schedule_id: str) -> ScheduleRecord:
        schedule = await self._reads.get_schedule(schedule_id)
        if schedule is None:
            raise NotFound("schedule", schedule_id)
        return schedule

    async def _evidence(self, schedule_ids: Sequence[str]) -> Mapping[str, Evidence]:
        if not schedule_ids:
            return {}
        recent = await self._reads.recent_firings(schedule_ids, each=STRIP)
        running = await self._reads.running_counts(schedule_ids)
        return {identifier: Evidence(recent.get(identifier, ()), running.get(identifier, 0)) for identifier in schedule_ids}

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

    async def _switch(self, schedule: ScheduleRecord, command: SetScheduleEnabled, switch: Switch, now: float) -> ScheduleRecord:
        return await self._writes.set_enabled(
            schedule.schedule_id,
            enabled=command.enabled,
            next_fire_at=switch.next_fire_at,
            expected_updated_at=command.expected_updated_at,
            reason_code=switch.reason_code,
            reason=switch.reason,
            now=now,
            by=self._by,
        )

    async def _doubts(self, schedule: ScheduleRecord) -> tuple[str, ...]:
        """Why this host would not launch what was just stored, if so."""
        never = unsupported(schedule)
        if never is not None:
            return (never,)
        refusal = (await self._launch.preview(schedule)).refusal
        return () if refusal is None else (f"would be refused now: {refusal}",)


def _result(schedule: ScheduleRecord, notes: Sequence[str] = ()) -> ScheduleResult:
    if schedule.updated_at is None:
        raise StateUnavailable(f"the version of {schedule.name} cannot be read", retryable=False)
    return ScheduleResult(
        schedule_id=schedule.schedule_id,
        name=schedule.name,
        enabled=schedule.enabled,
        updated_at=schedule.updated_at,
        next_fire_at=schedule.next_fire_at,
        warnings=tuple(notes),
    )
