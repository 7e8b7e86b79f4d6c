"""From the document of a set to the schedules that it declares on this host, all of them or every fault (lionagi 0.36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from studio_tui.application.errors import FieldFailure
from studio_tui.application.launching import LaunchFacts
from studio_tui.application.models.set_document import Member, SetDocument
from studio_tui.application.ports.schedule_sets import SetFile, SetFilesPort
from studio_tui.application.schedule_declared import SPEC_VERSION, digest
from studio_tui.application.schedule_rules import plain_failures
from studio_tui.application.schedule_values import action_columns
from studio_tui.application.set_shape import failure, line_of
from studio_tui.application.set_targets import Place, ResolvedTarget, resolve_target, target_failures
from studio_tui.application.set_triggers import ResolvedTrigger, calendar_failures, resolve_trigger, trigger_remarks
from studio_tui.application.wellformed import is_wellformed
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.scheduler.contract import NAME_LIMIT

_BLANK: Final[Mapping[str, Any]] = MappingProxyType(
    dict.fromkeys(("cron_expr", "interval_sec", "github_repo", "github_filter", "resolved_timezone"))
)
"""Columns of triggers, empty: a member that changes its kind leaves nothing behind."""
_LISTS: Final = ("action_command_args", "notify_on")
_LIMITS: Final = {
    "max_runs": ("policies", "maxRuns"),
    "budget_tokens": ("policies", "budget", "tokens"),
    "rate_limit": ("policies", "rateLimit"),
    "description": ("description",),
}


@dataclass(frozen=True, slots=True)
class ResolvedMember:
    """One member as it will stand. ``columns`` are those that a declaration writes; ``record`` is the schedule they make.

    ``next_fire_at`` is among them for a one-shot only: that of any other follows from when it is written.
    """

    key: str
    name: str
    authored: Mapping[str, Any]
    resolved: Mapping[str, Any]
    digest: str
    columns: Mapping[str, Any]
    record: ScheduleRecord
    remarks: tuple[str, ...]
    profile_model: str | None


class Resolver:
    """Resolves the members of one file. It reads files: use it in a thread."""

    def __init__(self, files: SetFilesPort, facts: LaunchFacts, zone: Zone, now: float) -> None:
        self._files, self._facts, self._zone, self._now = files, facts, zone, now

    def members(self, document: SetDocument, file: SetFile) -> tuple[ResolvedMember, ...]:
        """Every member. Raises :class:`ValidationFailure` with all faults of all members, each with its line."""
        root = self._files.project_root(file.directory)
        found: list[ResolvedMember] = []
        faults = list(_metadata_failures(document))
        for key, member in document.schedules.items():
            resolved = self.member(key, member, document, directory=file.directory, root=root)
            if isinstance(resolved, ResolvedMember):
                found.append(resolved)
            else:
                faults += (FieldFailure(("schedules", key, *fault.path), fault.code, fault.message) for fault in resolved)
        if faults:
            raise failure([replace(fault, line=line_of(fault.path, file.lines)) for fault in faults])
        return tuple(found)

    def member(
        self, key: str, member: Member, document: SetDocument, *, directory: str, root: str
    ) -> ResolvedMember | tuple[FieldFailure, ...]:
        """One member, or everything that is wrong with it."""
        faults = [*_name_failures(document.name_of(key)), *_plain_failures(member)]
        written = member.execution.cwd
        if document.is_global and not written:
            message = "is required: members of a global set belong to no project that could say where they run"
            return (*faults, FieldFailure(("execution", "cwd"), "missing", message))
        place = Place(directory, root, self._files.resolve(written, directory) if written else root)
        project = _project(member, document)
        trigger, target = resolve_trigger(member.trigger), resolve_target(member.target, place, project, self._files)
        if isinstance(trigger, FieldFailure):
            faults.append(trigger)
        if isinstance(target, FieldFailure):
            faults.append(target)
        else:
            faults += target_failures(target, self._facts)
        if isinstance(trigger, FieldFailure) or isinstance(target, FieldFailure):
            return tuple(faults)
        made = self._made(key, member, document, trigger, target)
        faults += calendar_failures(member.trigger, made.record, self._now, self._zone)
        return tuple(faults) or replace(made, remarks=trigger_remarks(made.record, self._now, self._zone))

    def _made(
        self, key: str, member: Member, document: SetDocument, trigger: ResolvedTrigger, target: ResolvedTarget
    ) -> ResolvedMember:
        action = target.action
        resolved = {
            "trigger": dict(trigger.resolved),
            "target": dict(target.resolved),
            "execution": {"cwd": action.cwd, "project": action.project},
            "policies": member.policies.model_dump(mode="json"),
            "notify": member.notify.model_dump(mode="json") if member.notify else None,
            "enabled": member.enabled,
        }
        columns = {**_BLANK, **trigger.columns, **_action_columns(target), **_policy_columns(member)}
        name = document.name_of(key)
        return ResolvedMember(
            key=key,
            name=name,
            authored=_authored(member),
            resolved=resolved,
            digest=digest(resolved),
            columns=MappingProxyType(columns),
            record=declared_record(name, document.owner_key, columns, target),
            remarks=(),
            profile_model=target.profile_model,
        )


def declaration_columns(member: ResolvedMember) -> dict[str, Any]:
    """Every column that a declaration writes, its spelling and its digest among them."""
    spelling = {"spec_version": SPEC_VERSION, "authored_spec": member.authored, "resolved_target": member.resolved}
    return {**member.columns, **spelling, "resolved_digest": member.digest}


def declared_record(name: str, owner_key: str, columns: Mapping[str, Any], target: ResolvedTarget) -> ScheduleRecord:
    """The schedule that these columns make, for the rules that look at records."""
    values: dict[str, Any] = {
        column: tuple(value or ()) if column in (*_LISTS, "notify_on") else value for column, value in columns.items()
    }
    values |= {"enabled": bool(values["enabled"]), "action_playbook_args": dict(target.action.playbook_args)}
    return ScheduleRecord(schedule_id="", name=name, managed_by="declaration", owner_key=owner_key, **values)


def _action_columns(target: ResolvedTarget) -> dict[str, Any]:
    """A declaration says nothing of chains and extra arguments, and so it does not write them either."""
    columns = action_columns(target.action)
    for silent in ("action_extra_args", "on_success", "on_fail"):
        del columns[silent]
    return columns


def _policy_columns(member: Member) -> dict[str, Any]:
    policies, notify = member.policies, member.notify
    budget = policies.budget
    return {
        "enabled": int(member.enabled),
        "missed_fire_policy": policies.missed_fire,
        "overlap_policy": policies.overlap,
        "max_runs": 1 if member.trigger.at is not None else policies.max_runs,
        "budget_usd": budget.usd if budget else None,
        "budget_tokens": budget.tokens if budget else None,
        "rate_limit": policies.rate_limit.model_dump() if policies.rate_limit else None,
        "description": member.description,
        "notify_on": list(notify.on) if notify else None,
        "notify_command": notify.command if notify else None,
    }


def _authored(member: Member) -> dict[str, Any]:
    """A member as it was written; only of ``execution`` it is kept what was left out, since a project of null means none."""
    return {**member.model_dump(mode="json"), "execution": member.execution.model_dump(mode="json", exclude_unset=True)}


def _project(member: Member, document: SetDocument) -> str | None:
    execution = member.execution
    if execution.project or (execution.project is None and "project" in execution.model_fields_set):
        return execution.project
    return None if document.is_global else document.metadata.project


def _metadata_failures(document: SetDocument) -> Iterator[FieldFailure]:
    for field in ("name", "project"):
        text = getattr(document.metadata, field)
        if not text.strip() or not text.isprintable() or not is_wellformed(text):
            yield FieldFailure(("metadata", field), "unusable", "give a name of characters that can be shown")


def _name_failures(name: str) -> Iterator[FieldFailure]:
    if len(name) > NAME_LIMIT:
        yield FieldFailure((), "too_long", f"its name has {len(name)} characters; at most {NAME_LIMIT} are allowed")
    if not name.rpartition("/")[2].strip() or not name.isprintable() or not is_wellformed(name):
        yield FieldFailure((), "unusable", "give it a name of characters that can be shown")


def _plain_failures(member: Member) -> Iterator[FieldFailure]:
    budget = member.policies.budget
    values = {
        "description": member.description,
        "max_runs": member.policies.max_runs,
        "budget_tokens": budget.tokens if budget else None,
        "rate_limit": member.policies.rate_limit,
    }
    for fault in plain_failures(values):
        yield FieldFailure((*_LIMITS[str(fault.path[0])], *fault.path[1:]), fault.code, fault.message)
    if member.trigger.at is not None and member.policies.max_runs not in (None, 1):
        message = "a schedule that fires once has exactly one run; leave it out"
        yield FieldFailure(("policies", "maxRuns"), "one_shot", message)
    if member.notify is not None and not is_wellformed(member.notify.command):
        yield FieldFailure(("notify", "command"), "not_text", "holds bytes that are no text")
