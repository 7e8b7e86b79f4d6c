"""Stored schedules as documents of sets. Each is resolved again before it is written: what comes back must be what is stored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from studio_tui.application.errors import FieldFailure
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.schedule_sets import ExportedSchedule
from studio_tui.application.models.set_document import Member, SetDocument
from studio_tui.application.ports.schedule_sets import AgentProfile, DeclaredRow, SetFilesPort, TextFault
from studio_tui.application.schedule_declared import SPEC_VERSION
from studio_tui.application.set_acting import as_it_acts
from studio_tui.application.set_differences import column_differences
from studio_tui.application.set_members import Unspeakable, spellings
from studio_tui.application.set_resolving import ResolvedMember, Resolver
from studio_tui.domain.schedules import ScheduleRecord, Zone


@dataclass(slots=True)
class Draft:
    """One document that is being made: whose it is, its members by key, and the texts of flows by absolute path."""

    project: str
    name: str
    is_global: bool = False
    members: dict[str, Member] = field(default_factory=dict)
    flows: dict[str, str] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """The document as plain values: what is as if it were not written is left out, but for a project of null."""
        return {**self._head(), "schedules": {key: _member_data(member) for key, member in self.members.items()}}

    def document(self) -> SetDocument:
        """The document without its members."""
        return SetDocument.model_validate({**self._head(), "schedules": {}})

    def _head(self) -> dict[str, Any]:
        scope = {"scope": "global"} if self.is_global else {}
        metadata = {"name": self.name, "project": self.project, **scope}
        return {"apiVersion": SPEC_VERSION, "kind": "ScheduleSet", "metadata": metadata}


class Exporter:
    """Makes members of rows. ``directory`` is where the document will lie; ``flows`` is the folder of flow texts below it.

    It reads files: use it in a thread.
    """

    def __init__(self, files: SetFilesPort, facts: LaunchFacts, zone: Zone, now: float, *, directory: str, flows: str | None):
        self._files, self._facts, self._zone, self._now = files, facts, zone, now
        self._directory, self._flows = directory, flows

    def add(self, row: DeclaredRow, draft: Draft, *, strict: bool) -> ExportedSchedule:
        """Add a schedule to a document, if it can be said there. ``strict`` leaves out what could not be applied here either."""
        schedule = row.schedule
        flow_file = self._flow_file(schedule)
        try:
            member, resolved = self._sound(row, draft, flow_file)
        except Unspeakable as error:
            return ExportedSchedule(name=schedule.name, exported=False, reason=str(error))
        key = _free_key(schedule.name, draft)
        refusal = self._refusal(member, draft, schedule)
        if refusal and strict:
            return ExportedSchedule(name=schedule.name, exported=False, reason=f"would be refused here: {refusal}")
        draft.members[key] = member
        if member.target.kind == "flow" and member.target.file == flow_file:
            draft.flows[self._files.resolve(flow_file, self._directory)] = schedule.action_flow_yaml or ""
        notes = [*_notes(row, member, resolved, draft.document().name_of(key))]
        if refusal:
            notes.append(f"would be refused here: {refusal}")
        return ExportedSchedule(name=schedule.name, exported=True, notes=tuple(notes))

    def _sound(self, row: DeclaredRow, draft: Draft, flow_file: str) -> tuple[Member, ResolvedMember]:
        """The first spelling that comes to exactly what is stored. Raises :class:`Unspeakable`."""
        schedule = row.schedule
        why = "it cannot be said as a member"
        for member in spellings(row, flow_file):
            if self._flows is None and member.target.kind == "flow" and member.target.file == flow_file:
                raise Unspeakable("its flow needs a file beside the document; name a file to export to")
            found = self._resolve(member, draft, schedule)
            if not isinstance(found, ResolvedMember):
                why = "; ".join(map(str, found))
                continue
            acting = (as_it_acts(one, self._zone, found.profile_model) for one in (schedule, found.record))
            differing = [difference.column for difference in column_differences(*acting)]
            if not differing:
                return member, found
            why = f"as a member it would differ in {', '.join(differing)}"
        raise Unspeakable(why)

    def _resolve(self, member: Member, draft: Draft, schedule: ScheduleRecord) -> ResolvedMember | tuple[FieldFailure, ...]:
        """What a member comes to, wherever the command, the directory or the profile that it names may be."""

        def anywhere(_path: str) -> bool:
            return True

        facts = replace(self._facts, allowed_commands=lambda: (schedule.action_command or "",), is_directory=anywhere)
        return self._found(member, draft, schedule, facts, with_profile=True)

    def _refusal(self, member: Member, draft: Draft, schedule: ScheduleRecord) -> str | None:
        """Why the member could not be applied on this host, or ``None``."""
        found = self._found(member, draft, schedule, self._facts, with_profile=False)
        return None if isinstance(found, ResolvedMember) else "; ".join(map(str, found))

    def _found(
        self, member: Member, draft: Draft, schedule: ScheduleRecord, facts: LaunchFacts, *, with_profile: bool
    ) -> ResolvedMember | tuple[FieldFailure, ...]:
        flow = self._files.resolve(self._flow_file(schedule), self._directory)
        files = _Elsewhere(self._files, schedule, flow, with_profile=with_profile)
        root = self._files.project_root(self._directory)
        resolver = Resolver(files, facts, self._zone, self._now)
        return resolver.member(schedule.name, member, draft.document(), directory=self._directory, root=root)

    def _flow_file(self, schedule: ScheduleRecord) -> str:
        safe = re.sub(r"[^A-Za-z0-9_.-]", "_", schedule.name)
        return f"{self._flows or 'flows'}/{safe}.flow.yaml"


class _Elsewhere:
    """Files as they will be once the document is written: with the flow's text; and, if so wanted, with the agent's profile."""

    def __init__(self, files: SetFilesPort, schedule: ScheduleRecord, flow: str, *, with_profile: bool) -> None:
        self._files, self._schedule, self._flow, self._with_profile = files, schedule, flow, with_profile
        self.read_set, self.resolve, self.project_root, self.write = (
            files.read_set,
            files.resolve,
            files.project_root,
            files.write,
        )

    def text_of(self, path: str) -> str | TextFault:
        return (self._schedule.action_flow_yaml or "") if path == self._flow else self._files.text_of(path)

    def profile(self, name: str, directory: str) -> AgentProfile | TextFault:
        found = self._files.profile(name, directory)
        missing = isinstance(found, TextFault) or not found.model
        return AgentProfile(model=self._schedule.action_model) if missing and self._with_profile else found


def drafts_of(rows: Sequence[DeclaredRow], base: str) -> Mapping[tuple[str, str], tuple[Draft, tuple[DeclaredRow, ...]]]:
    """The documents that schedules go into: those of a set into that set, others by the project that their names begin with."""
    groups: dict[tuple[str, str], list[DeclaredRow]] = {}
    for row in rows:
        schedule = row.schedule
        key = ("set", schedule.owner_key) if schedule.owner_key else ("project", _project_of(schedule, base))
        groups.setdefault(key, []).append(row)
    loose = sum(kind == "project" for kind, _ in groups)
    found = {}
    for (kind, owner), members in sorted(groups.items()):
        draft = _draft_of_set(owner, members) if kind == "set" else Draft(owner, base if loose < 2 else f"{base}-{owner}")
        found[kind, owner] = (draft, tuple(members))
    return found


def _draft_of_set(owner_key: str, rows: Iterable[DeclaredRow]) -> Draft:
    """The project and the name in ``project/name``, either of which may hold a slash: the names of the schedules tell."""
    names = [row.schedule.name for row in rows]
    parts = owner_key.split("/")
    cuts = [("/".join(parts[:cut]), "/".join(parts[cut:])) for cut in range(1, len(parts))] or [(owner_key, "export")]
    for project, name in cuts:
        if all(schedule.startswith(f"{project}/") for schedule in names):
            return Draft(project, name)
    return Draft(*cuts[0], is_global=all(schedule.startswith("global/") for schedule in names))


def _project_of(schedule: ScheduleRecord, base: str) -> str:
    project = schedule.action_project
    if project and schedule.name.startswith(f"{project}/"):
        return project
    return schedule.name.partition("/")[0] if "/" in schedule.name else project or base


def _free_key(name: str, draft: Draft) -> str:
    prefix = "global/" if draft.is_global else f"{draft.project}/"
    key = name.removeprefix(prefix)
    return name if key in draft.members else key


def _notes(row: DeclaredRow, member: Member, resolved: ResolvedMember, name: str) -> Iterable[str]:
    if name != row.schedule.name:
        yield f"applied, it is called {name}; --adopt takes this one over"
    if row.authored is not None and row.digest != resolved.digest and row.schedule.owner_key is not None:
        yield "spelt otherwise than it was declared"
    if member.execution.cwd and PurePath(member.execution.cwd).is_absolute():
        yield f"it runs in {member.execution.cwd}, which is a directory of this host"
    if member.target.kind == "flow":
        yield f"its flow is in {member.target.file}; move both together"


def _member_data(member: Member) -> dict[str, Any]:
    data: dict[str, Any] = {"enabled": member.enabled, **member.model_dump(mode="json", exclude_defaults=True)}
    execution = member.execution
    if "project" in execution.model_fields_set and execution.project is None:
        data["execution"] = {**data.get("execution", {}), "project": None}
    order = ("description", "enabled", "trigger", "target", "execution", "policies", "notify")
    return {name: data[name] for name in order if name in data}
