"""Declared sets of schedules: checked, compared with the store, applied whole or not at all, and written back as files."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.application.guard import guarded
from studio_tui.application.journal import Journal
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedule_sets import (
    ApplySet,
    ExportedDocument,
    ExportedSchedule,
    ExportSets,
    PlanSet,
    SetEntry,
    SetExport,
    SetPlan,
    ValidMember,
    ValidSet,
)
from studio_tui.application.models.set_document import SetDocument
from studio_tui.application.ports import ActProvenance, Clock, SchedulerHostPort, SidecarPort
from studio_tui.application.ports.schedule_sets import DeclaredRow, ScheduleSetPort, SetFilesPort, SetWrite
from studio_tui.application.set_exporting import Draft, Exporter, drafts_of
from studio_tui.application.set_planning import Planner, Step, plan_id_of
from studio_tui.application.set_resolving import ResolvedMember, Resolver
from studio_tui.application.set_shape import read_document
from studio_tui.application.set_text import yaml_text
from studio_tui.domain.cadence import describe, first_fire
from studio_tui.domain.schedules import Zone

_ATTEMPTS: Final = 3
"""How often a set is planned anew when somebody changes a schedule of it meanwhile; a host does so at every firing."""


@dataclass(frozen=True, slots=True)
class _Declared:
    document: SetDocument
    members: tuple[ResolvedMember, ...]

    def names(self, *, adopt: bool) -> tuple[str, ...]:
        """The names to look for: full ones, and bare ones where schedules may be adopted."""
        return tuple(member.name for member in self.members) + (tuple(m.key for m in self.members) if adopt else ())


@dataclass(frozen=True, slots=True)
class _Plan:
    steps: tuple[Step, ...]
    rows: tuple[DeclaredRow, ...]
    names: tuple[str, ...]
    owner_key: str
    plan_id: str

    def view(self, *, applied: bool) -> SetPlan:
        entries = tuple(_applied(step) if applied else step.entry for step in self.steps)
        return SetPlan(owner_key=self.owner_key, plan_id=self.plan_id, applied=applied, entries=entries)


@guarded
class ScheduleSetService:
    """Sets of schedules that a file declares."""

    def __init__(
        self,
        *,
        sets: ScheduleSetPort,
        files: SetFilesPort,
        host: SchedulerHostPort,
        sidecar: SidecarPort,
        launch: LaunchFacts,
        zone: Zone,
        by: ActProvenance,
        clock: Clock,
    ) -> None:
        """``zone`` is where cron expressions without a zone of their own are read; ``by`` is who acts, and from where."""
        self._sets, self._files, self._host, self._launch = sets, files, host, launch
        self._journal = Journal(sidecar, clock)
        self._zone, self._by, self._clock = zone, by, clock

    async def validate_set(self, file: str) -> ValidSet:
        """Check a file against every rule, without looking at what is stored.

        Raises :class:`NotFound`, and :class:`ValidationFailure` with every fault, its line and what is allowed.
        """
        declared, now = await self._declared(file), self._clock.now()
        members = tuple(self._valid(member, now) for member in declared.members)
        return ValidSet(owner_key=declared.document.owner_key, members=members)

    async def plan_set(self, command: PlanSet) -> SetPlan:
        """What applying a file would do, schedule by schedule; nothing is written. Raises as :meth:`validate_set`."""
        return (await self._plan(await self._declared(command.file), adopt=command.adopt)).view(applied=False)

    async def apply_set(self, command: ApplySet) -> SetPlan:
        """Make the store say what a file says, in one transaction; what was done.

        Raises as :meth:`validate_set`, and :class:`Conflict`, with nothing written, when a schedule is not the set's to change,
        when the plan is not the expected one, or when others keep changing the set's schedules.
        """
        declared = await self._declared(command.file)
        for attempt in range(1, _ATTEMPTS + 1):
            plan = await self._plan(declared, adopt=command.adopt)
            _require_clear(plan, command.expected_plan)
            try:
                await self._write(plan)
            except Conflict:
                if attempt == _ATTEMPTS:
                    raise
            else:
                break
        return plan.view(applied=True)

    async def export_sets(self, query: ExportSets) -> SetExport:
        """Spell stored schedules as sets, with what became of each; written into files if one is named.

        Raises :class:`NotFound` for a set that owns nothing, :class:`Conflict` for a file that is there already, and
        :class:`StateUnavailable` when it cannot be written.
        """
        rows = await self._sets.declared_rows(managed=not query.plain)
        if query.owner_key is not None:
            rows = tuple(row for row in rows if row.schedule.owner_key == query.owner_key)
            if not rows:
                raise NotFound("schedule set", query.owner_key)
        return await asyncio.to_thread(self._export, rows, query, self._clock.now())

    # --- parts --------------------------------------------------------------------------------------------------------

    async def _declared(self, path: str) -> _Declared:
        now = self._clock.now()

        def read() -> _Declared:
            file = self._files.read_set(path)
            document = read_document(file)
            resolver = Resolver(self._files, self._launch, self._zone, now)
            return _Declared(document, resolver.members(document, file))

        return await asyncio.to_thread(read)

    def _valid(self, member: ResolvedMember, now: float) -> ValidMember:
        return ValidMember(
            key=member.key,
            name=member.name,
            enabled=member.record.enabled,
            trigger=describe(member.record),
            next_fire_at=first_fire(member.record, now, self._zone) if member.record.enabled else None,
            digest=member.digest,
            resolved=dict(member.resolved),
            warnings=member.remarks,
        )

    async def _plan(self, declared: _Declared, *, adopt: bool) -> _Plan:
        owner_key, names = declared.document.owner_key, declared.names(adopt=adopt)
        rows = await self._sets.rows_of_set(owner_key, names)
        planner = Planner(owner_key, rows, adopt=adopt, zone=self._zone, now=self._clock.now())
        steps = planner.steps(declared.members)
        digests = {member.name: member.digest for member in declared.members}
        return _Plan(steps, rows, names, owner_key, plan_id_of(owner_key, steps, digests))

    async def _write(self, plan: _Plan) -> None:
        creates = [step.create for step in plan.steps if step.create is not None]
        changes = [step.change for step in plan.steps if step.change is not None]
        if not creates and not changes:
            return
        seen = {row.schedule.schedule_id: row.schedule.updated_at for row in plan.rows}
        write = SetWrite(plan.owner_key, plan.names, seen, creates, changes)
        await self._sets.write_set(write, now=self._clock.now(), by=self._by)
        self._host.wake()
        counts = {"created": len(creates), "changed": len(changes)}
        await self._journal.note("schedule_set.apply", plan.owner_key, "done", counts)

    def _export(self, rows: tuple[DeclaredRow, ...], query: ExportSets, now: float) -> SetExport:
        target = self._files.resolve(query.file, ".") if query.file is not None else None
        directory = str(PurePath(target).parent) if target is not None else self._files.resolve(".", ".")
        flows = f"{PurePath(target).stem}.flows" if target is not None else None
        exporter = Exporter(self._files, self._launch, self._zone, now, directory=directory, flows=flows)
        drafts: list[Draft] = []
        told: list[ExportedSchedule] = []
        for draft, members in drafts_of(rows, "legacy-export" if query.plain else "export").values():
            told += (exporter.add(row, draft, strict=query.plain) for row in members)
            if draft.members:
                drafts.append(draft)
        paths = _paths(target, drafts)
        texts = [yaml_text(draft.data()) for draft in drafts]
        if target is not None:
            flow_texts = {path: text for draft in drafts for path, text in draft.flows.items()}
            written = {path: text for path, text in zip(paths, texts, strict=True) if path is not None}
            self._files.write({**flow_texts, **written}, overwrite=query.overwrite)
        documents = (
            ExportedDocument(owner_key=draft.document().owner_key, text=text, file=path)
            for draft, text, path in zip(drafts, texts, paths, strict=True)
        )
        return SetExport(documents=tuple(documents), schedules=tuple(sorted(told, key=lambda one: one.name)))


def _applied(step: Step) -> SetEntry:
    """What became of a schedule; only now a new one has its id."""
    made = step.create.values["id"] if step.create is not None else step.entry.schedule_id
    return step.entry.model_copy(update={"schedule_id": made})


def _require_clear(plan: _Plan, expected: str | None) -> None:
    """Raise :class:`Conflict` for a plan that may not be carried out."""
    refused = [step.entry for step in plan.steps if step.entry.action == "refused"]
    if refused:
        said = "; ".join(f"{entry.name}: {entry.reason}" for entry in refused)
        raise Conflict("schedule set", expected=None, actual=None, message=f"{said}; nothing was written")
    if expected is not None and expected != plan.plan_id:
        message = "the file or its schedules are not what you looked at; nothing was written: plan it again"
        raise Conflict("schedule set", expected=expected, actual=plan.plan_id, message=message)


def _paths(target: str | None, drafts: list[Draft]) -> list[str | None]:
    """Where each document goes: one into the file itself, several into files beside each other, named by set."""
    if target is None or len(drafts) < 2:
        return [target] * len(drafts)
    place = PurePath(target)
    found: list[str | None] = []
    for draft in drafts:
        token = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{draft.project}.{draft.name}")
        numbers = ("", *(f"-{number}" for number in range(2, len(drafts) + 1)))
        candidates = (str(place.with_name(f"{place.stem}.{token}{number}{place.suffix}")) for number in numbers)
        found.append(next(path for path in candidates if path not in found))
    return found
