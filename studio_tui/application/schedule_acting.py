"""Making, changing, switching, firing and deleting schedules (ADR-0078 D2, D4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from studio_tui.application.cadence_views import trigger_failure
from studio_tui.application.errors import Conflict, FieldFailure, StateUnavailable, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.models.schedules import (
    CreateSchedule,
    DeleteSchedule,
    Deletion,
    FireNow,
    FireResult,
    PatchSchedule,
    ScheduleAction,
    ScheduleResult,
    SetScheduleEnabled,
)
from studio_tui.application.ports import NewSchedule
from studio_tui.application.schedule_base import ScheduleBase
from studio_tui.application.schedule_conflicts import stale
from studio_tui.application.schedule_deletion import deletion_view, refuse_deletion
from studio_tui.application.schedule_merging import Roots
from studio_tui.application.schedule_patching import Patch, plan_patch
from studio_tui.application.schedule_rules import failures
from studio_tui.application.schedule_switch import plan_switch
from studio_tui.application.schedule_values import draft, new_values
from studio_tui.domain.cadence import CadenceError, first_fire, warnings
from studio_tui.domain.chains import chain_remarks
from studio_tui.domain.gates import max_runs, unsupported
from studio_tui.domain.schedules import ScheduleRecord

_TRIGGER_COLUMNS = frozenset({"trigger_type", "cron_expr", "interval_sec", "resolved_timezone", "next_fire_at"})


@guarded
class ScheduleActing(ScheduleBase):
    """Changes of schedules. Each is judged whole before anything is stored."""

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
        command = await self._rooted(command)
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
        rooted = replace(schedule, action_cwd=command.action.cwd)
        return _result(stored, notes=(*notes, *_chain_remarks(schedule), *await self._doubts(rooted)))

    async def patch_schedule(self, command: PatchSchedule) -> ScheduleResult:
        """Change what was sent and nothing else; the next instant is counted anew when the trigger changes, from now.

        Raises :class:`NotFound`, :class:`ValidationFailure` with every broken rule of stored and sent values together, and
        :class:`Conflict` for a taken name, or with both sides when the schedule is not what the caller saw.
        """
        now = self._clock.now()
        schedule = await self._record(command.schedule_id)
        if schedule.updated_at != command.expected_updated_at:
            raise stale(schedule, command)
        changes = command.changes
        roots = await self._roots(schedule, changes.action)
        patch = plan_patch(schedule, changes, self._launch, roots, now=now, default=self._zone)
        if not patch.changed:
            return _result(schedule)
        stored = await self._write_patch(command, patch, now)
        self._host.wake()
        await self._journal.note("schedule.update", stored.schedule_id, "done", {"changed": list(patch.changed)})
        return _result(stored, changed=patch.changed, notes=await self._patch_notes(stored, patch, now))

    async def set_enabled(self, command: SetScheduleEnabled) -> ScheduleResult:
        """Turn a schedule on or off; its next instant is counted forward from now, so nothing fires at once.

        Raises :class:`NotFound`, :class:`ValidationFailure` for a schedule that is broken or could not be launched here, and
        :class:`Conflict` when it has nothing left to fire, is not what the caller saw, or is off already and a reason was given.
        """
        now = self._clock.now()
        schedule = await self._record(command.schedule_id)
        executed = (await self._reads.executed_counts([schedule.schedule_id])).get(schedule.schedule_id, 0)
        switch = plan_switch(schedule, command, self._launch, executed=executed, now=now, default=self._zone)
        if switch is None:
            return _result(schedule)
        stored = await self._writes.set_enabled(
            schedule.schedule_id,
            enabled=command.enabled,
            next_fire_at=switch.next_fire_at,
            expected_updated_at=command.expected_updated_at,
            reason_code=switch.reason_code,
            reason=switch.reason,
            now=now,
            by=self._by,
        )
        self._host.wake()
        await self._journal.note("schedule.enable" if command.enabled else "schedule.disable", stored.schedule_id, "done")
        return _result(stored, notes=await self._doubts(stored) if command.enabled else ())

    async def deletion(self, schedule_id: str) -> Deletion:
        """What would vanish with a schedule, and what of it runs now. Raises :class:`NotFound`."""
        schedule = await self._record(schedule_id)
        return deletion_view(schedule, await self._reads.vanishing(schedule_id))

    async def delete_schedule(self, command: DeleteSchedule) -> Deletion:
        """Delete a schedule with all of its firings; what runs of it runs on. What vanished with it.

        Raises :class:`NotFound`, and :class:`Conflict` while a firing runs (unless the command says so), while messages of the
        outbox refer to a firing, and when the schedule is not what the caller saw.
        """
        schedule = await self._record(command.schedule_id)
        refuse_deletion(schedule, await self._reads.vanishing(command.schedule_id), command)
        gone = await self._writes.delete_schedule(
            command.schedule_id,
            expected_updated_at=command.expected_updated_at,
            although_running=command.although_running,
            now=self._clock.now(),
            by=self._by,
        )
        self._host.wake()
        await self._journal.note(
            "schedule.delete", schedule.schedule_id, "done", {"name": schedule.name, "firings": gone.firings}
        )
        return deletion_view(schedule, gone)

    async def fire_now(self, command: FireNow) -> FireResult:
        """Start one firing by hand, whatever the trigger says. Raises the closed errors when a gate refuses it."""
        schedule = await self._record(command.schedule_id)
        firing_id = await self._host.fire_now(schedule)
        await self._journal.note("schedule.fire", schedule.schedule_id, "done", {"firing": firing_id})
        return FireResult(firing_id=firing_id, schedule_id=schedule.schedule_id, name=schedule.name)

    # --- parts --------------------------------------------------------------------------------------------------------

    async def _rooted(self, command: CreateSchedule) -> CreateSchedule:
        """The command with its project's directory where it names none: later moves of the project do not move the schedule."""
        action = command.action
        if action.cwd is not None or not action.project:
            return command
        root = await self._root(action.project)
        return command.model_copy(update={"action": action.model_copy(update={"cwd": root})})

    async def _roots(self, schedule: ScheduleRecord, sent: ScheduleAction | None) -> Roots:
        if sent is None or "project" not in sent.model_fields_set or sent.project == schedule.action_project:
            return {}
        return {name: await self._root(name) for name in (schedule.action_project, sent.project) if name}

    async def _root(self, project: str) -> str | None:
        """The registered directory of a project, if a firing could run there."""
        asked = ScheduleRecord("", "", True, "at", "command", action_project=project)
        return (await self._launch.preview(asked)).working_directory

    async def _write_patch(self, command: PatchSchedule, patch: Patch, now: float) -> ScheduleRecord:
        try:
            return await self._writes.patch_schedule(
                command.schedule_id, patch.values, expected_updated_at=command.expected_updated_at, now=now
            )
        except Conflict as conflict:
            if conflict.expected is None:
                raise
            raise stale(await self._record(command.schedule_id), command) from None

    async def _patch_notes(self, stored: ScheduleRecord, patch: Patch, now: float) -> tuple[str, ...]:
        """What an author should know after a change."""
        notes: list[str] = []
        if _TRIGGER_COLUMNS & set(patch.changed):
            notes += warnings(stored, now, self._zone)
        if {"on_success", "on_fail"} & set(patch.changed):
            notes += _chain_remarks(stored)
        executed = (await self._reads.executed_counts([stored.schedule_id])).get(stored.schedule_id, 0)
        if stored.enabled and not (verdict := max_runs(stored, executed)).allowed:
            notes.append(f"{verdict.words}: it is turned off when it is next due")
        if stored.managed_by == "declaration":
            notes.append(
                f"the declaration {stored.owner_key or 'of this schedule'} owns it: applying that again undoes this change"
            )
        return (*notes, *await self._doubts(stored))

    async def _doubts(self, schedule: ScheduleRecord) -> tuple[str, ...]:
        """Why this host would not launch what was just stored, if so."""
        never = unsupported(schedule)
        if never is not None:
            return (never,)
        refusal = (await self._launch.preview(schedule)).refusal
        return () if refusal is None else (f"would be refused now: {refusal}",)


def _chain_remarks(schedule: ScheduleRecord) -> tuple[str, ...]:
    return chain_remarks({"on_success": schedule.on_success, "on_fail": schedule.on_fail})


def _result(schedule: ScheduleRecord, *, changed: Sequence[str] = (), notes: Sequence[str] = ()) -> ScheduleResult:
    if schedule.updated_at is None:
        raise StateUnavailable(f"the version of {schedule.name} cannot be read", retryable=False)
    return ScheduleResult(
        schedule_id=schedule.schedule_id,
        name=schedule.name,
        enabled=schedule.enabled,
        updated_at=schedule.updated_at,
        next_fire_at=schedule.next_fire_at,
        changed=tuple(changed),
        warnings=tuple(notes),
    )
