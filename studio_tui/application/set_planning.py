"""What applying a set does to each schedule: compared with what is stored, and ready to be written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

from studio_tui.application.models.schedule_sets import SetEntry
from studio_tui.application.ports.schedule_sets import DeclaredRow, RowChange
from studio_tui.application.ports.schedules import NewSchedule
from studio_tui.application.schedule_declared import digest
from studio_tui.application.set_adoption import obstacle
from studio_tui.application.set_differences import SILENT_COLUMNS, TRIGGER_COLUMNS, Difference, differences
from studio_tui.application.set_resolving import ResolvedMember, declaration_columns
from studio_tui.domain.cadence import first_fire
from studio_tui.domain.schedules import ScheduleRecord, Zone


@dataclass(frozen=True, slots=True)
class Step:
    """What becomes of one schedule, and what has to be written for it."""

    entry: SetEntry
    create: NewSchedule | None = None
    change: RowChange | None = None


class Planner:
    """Compares the members of one set with the store as it was read."""

    def __init__(self, owner_key: str, rows: Sequence[DeclaredRow], *, adopt: bool, zone: Zone, now: float) -> None:
        self._owner_key, self._adopt, self._zone, self._now = owner_key, adopt, zone, now
        self._rows = {row.schedule.name: row for row in rows}

    def steps(self, members: Sequence[ResolvedMember]) -> tuple[Step, ...]:
        """A step for each member, and one for each schedule of the set that is no member any more."""
        steps = list(_each_once([self._step(member) for member in members]))
        named = {member.name for member in members}
        for name, row in self._rows.items():
            if row.schedule.owner_key == self._owner_key and name not in named:
                steps.append(_omitted(row.schedule))
        return tuple(steps)

    def _step(self, member: ResolvedMember) -> Step:
        row = self._rows.get(member.name)
        if row is None and self._adopt:
            row = self._rows.get(member.key)
            if row is not None and row.schedule.owner_key is not None:
                row = None
        if row is None:
            return self._create(member)
        if row.schedule.owner_key == self._owner_key:
            return self._update(row, member)
        if self._adopt:
            return self._take(row.schedule, member)
        owner = row.schedule.owner_key
        whose = f"belongs to the set {owner}" if owner else "was not made by a set; --adopt takes it if it does the same already"
        return _refused(row.schedule, member, f"{row.schedule.name} {whose}")

    def _create(self, member: ResolvedMember) -> Step:
        record = replace(member.record, created_at=self._now, updated_at=self._now)
        following = self._first(record) if record.trigger_type != "at" else record.next_fire_at
        schedule_id = uuid4().hex[:12]
        values = {
            "id": schedule_id,
            "name": member.name,
            "managed_by": "declaration",
            "owner_key": self._owner_key,
            **declaration_columns(member),
            "next_fire_at": following,
        }
        entry = _entry("create", member, following=following)
        return Step(entry, create=NewSchedule(values))

    def _update(self, row: DeclaredRow, member: ResolvedMember) -> Step:
        stored = row.schedule
        found = differences(row, member, self._now)
        if not found:
            return Step(_entry("unchanged", member, stored, following=stored.next_fire_at))
        values = self._values(stored, member, found)
        following = values.get("next_fire_at", stored.next_fire_at)
        return Step(
            _entry("update", member, stored, following=following, found=found), change=RowChange(stored.schedule_id, values)
        )

    def _take(self, stored: ScheduleRecord, member: ResolvedMember) -> Step:
        reason = obstacle(stored, member, self._zone)
        if reason is not None:
            return _refused(stored, member, reason)
        values = {**self._values(stored, member, ()), **SILENT_COLUMNS, "name": member.name}
        values |= {"managed_by": "declaration", "owner_key": self._owner_key}
        entry = _entry("adopt", member, stored, following=stored.next_fire_at)
        was = stored.name if stored.name != member.name else None
        return Step(entry.model_copy(update={"adopted_from": was}), change=RowChange(stored.schedule_id, values))

    def _values(self, stored: ScheduleRecord, member: ResolvedMember, found: Sequence[Difference]) -> dict[str, Any]:
        """The columns of a change. The next instant is among them only where the change moves it."""
        changed = {difference.column for difference in found}
        values = declaration_columns(member)
        values.pop("next_fire_at", None)
        values |= {column: empty for column, empty in SILENT_COLUMNS.items() if column in changed}
        declared = replace(member.record, created_at=stored.created_at, last_fired_at=stored.last_fired_at)
        if "next_fire_at" in changed or (TRIGGER_COLUMNS.keys() & changed):
            values["next_fire_at"] = self._moved(declared)
        elif "enabled" in changed and declared.enabled and declared.trigger_type in ("cron", "interval"):
            values["next_fire_at"] = self._first(replace(declared, next_fire_at=stored.next_fire_at))
        return values

    def _moved(self, declared: ScheduleRecord) -> float | None:
        """The next instant of another trigger. One that has passed is not written: it would fire after the time it named."""
        if declared.trigger_type == "at":
            at = declared.next_fire_at
            return at if at is not None and at > self._now else None
        return self._first(declared)

    def _first(self, schedule: ScheduleRecord) -> float | None:
        return first_fire(schedule, self._now, self._zone) if schedule.enabled else None


def plan_id_of(owner_key: str, steps: Sequence[Step], digests: Mapping[str, str]) -> str:
    """Another one for another effect; a firing in between, which only moves the next instant, leaves it as it is."""
    telling = ("action", "name", "enabled", "changes", "reason", "adopted_from")
    entries = [step.entry.model_dump(mode="json", include=set(telling)) for step in steps]
    return digest([owner_key, dict(digests), entries])[:16]


def _entry(
    action: Literal["create", "adopt", "update", "unchanged"],
    member: ResolvedMember,
    stored: ScheduleRecord | None = None,
    *,
    following: float | None,
    found: Sequence[Difference] = (),
) -> SetEntry:
    enabled = member.record.enabled
    return SetEntry(
        action=action,
        name=member.name,
        schedule_id=stored.schedule_id if stored is not None else None,
        enabled=enabled,
        next_fire_at=following if enabled else None,
        changes=tuple(difference.shown() for difference in found),
        warnings=member.remarks,
    )


def _refused(stored: ScheduleRecord, member: ResolvedMember, reason: str) -> Step:
    return Step(
        SetEntry(action="refused", name=member.name, schedule_id=stored.schedule_id, enabled=stored.enabled, reason=reason)
    )


def _omitted(stored: ScheduleRecord) -> Step:
    """A schedule that its set names no more is turned off, never deleted (lionagi 0.36)."""
    known = {"name": stored.name, "schedule_id": stored.schedule_id, "enabled": False}
    if not stored.enabled:
        return Step(SetEntry(action="unchanged", reason="not in the set any more, and off", **known))
    entry = SetEntry(action="disable", reason="not in the set any more", **known)
    return Step(entry, change=RowChange(stored.schedule_id, {"enabled": 0}, "omitted"))


def _each_once(steps: Sequence[Step]) -> Iterator[Step]:
    """No schedule can be two members: by its full name and by its bare one it might be found twice."""
    ids = Counter(step.entry.schedule_id for step in steps)
    for step in steps:
        entry = step.entry
        if entry.schedule_id is not None and ids[entry.schedule_id] > 1:
            reason = "two members of the set mean one schedule; name one of them otherwise"
            yield Step(entry.model_copy(update={"action": "refused", "reason": reason, "changes": ()}))
        else:
            yield step
