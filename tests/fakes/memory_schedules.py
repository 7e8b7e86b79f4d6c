"""Schedules and firings in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.application.ports import ActProvenance, GateFacts, NewSchedule, Spend, Vanishing
from studio_tui.domain.runs import TransitionRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.domain.statuses import EXECUTED
from studio_tui.domain.thresholds import Reading
from tests.fakes.base import Port


@dataclass
class MemorySchedules(Port):
    """Schedules and firings, to read and to write; ``changes`` holds what was written and by whom."""

    schedules: dict[str, ScheduleRecord] = field(default_factory=dict)
    firing_rows: list[FiringRecord] = field(default_factory=list)
    created: list[Mapping[str, object]] = field(default_factory=list)
    changes: list[dict[str, Any]] = field(default_factory=list)
    spend: Spend = field(default_factory=lambda: Spend(0.0, 0, 0))
    reading: Reading = field(default_factory=lambda: Reading(0.0))
    obstacle: str | None = None
    history: list[TransitionRecord] = field(default_factory=list)

    def add(self, *schedules: ScheduleRecord) -> None:
        self.schedules |= {schedule.schedule_id: schedule for schedule in schedules}

    def _of(self, schedule_id: str) -> list[FiringRecord]:
        rows = [row for row in self.firing_rows if row.schedule_id == schedule_id]
        return sorted(rows, key=lambda row: (row.fired_at or 0.0, row.run_id), reverse=True)

    async def list_schedules(
        self, *, enabled: bool | None, text: str | None, after: tuple[str, str] | None, limit: int
    ) -> tuple[ScheduleRecord, ...]:
        self._ask("list_schedules")
        rows = sorted(self.schedules.values(), key=lambda row: (row.name, row.schedule_id))
        rows = [row for row in rows if enabled is None or row.enabled == enabled]
        rows = [row for row in rows if text is None or text.lower() in row.name.lower()]
        return tuple(row for row in rows if after is None or (row.name, row.schedule_id) > after)[:limit]

    async def get_schedule(self, schedule_id: str) -> ScheduleRecord | None:
        self._ask("get_schedule")
        return self.schedules.get(schedule_id)

    async def find_schedules(self, name_or_prefix: str, *, limit: int) -> tuple[ScheduleRecord, ...]:
        self._ask("find_schedules")
        rows = sorted(self.schedules.values(), key=lambda row: row.name)
        exact = [row for row in rows if name_or_prefix in (row.name, row.schedule_id)]
        begun = [row for row in rows if row.name.startswith(name_or_prefix) or row.schedule_id.startswith(name_or_prefix)]
        return tuple((exact or begun)[:limit])

    async def recent_firings(self, schedule_ids: Sequence[str], *, each: int) -> Mapping[str, tuple[FiringRecord, ...]]:
        self._ask("recent_firings")
        return {name: tuple(row for row in self._of(name) if row.chain_depth == 0)[:each] for name in schedule_ids}

    async def firings(self, schedule_id: str, *, before: tuple[float, str] | None, limit: int) -> tuple[FiringRecord, ...]:
        self._ask("firings")
        rows = [row for row in self._of(schedule_id) if before is None or ((row.fired_at or 0.0), row.run_id) < before]
        return tuple(rows[:limit])

    async def get_firing(self, firing_id: str) -> FiringRecord | None:
        self._ask("get_firing")
        return next((row for row in self.firing_rows if row.run_id == firing_id), None)

    async def executed_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        self._ask("executed_counts")
        return {
            name: count
            for name in schedule_ids
            if (count := sum(row.status in EXECUTED and row.chain_depth == 0 for row in self._of(name)))
        }

    async def running_counts(self, schedule_ids: Sequence[str]) -> Mapping[str, int]:
        self._ask("running_counts")
        return {name: count for name in schedule_ids if (count := sum(row.status == "running" for row in self._of(name)))}

    async def create_schedule(self, new: NewSchedule, *, now: float, by: ActProvenance) -> ScheduleRecord:
        self._ask("create_schedule")
        values = dict(new.values)
        if any(row.name == values["name"] for row in self.schedules.values()):
            raise Conflict("schedule", expected="a free name", actual=str(values["name"]), message="that name is taken")
        self.created.append(values)
        self.changes.append({"by": by, "now": now})
        record = _stored(values)
        self.add(record)
        return record

    async def set_enabled(
        self,
        schedule_id: str,
        *,
        enabled: bool,
        next_fire_at: float | None,
        expected_updated_at: float | None,
        reason_code: str,
        reason: str | None,
        now: float,
        by: ActProvenance,
    ) -> ScheduleRecord:
        self._ask("set_enabled")
        row = self.schedules.get(schedule_id)
        if row is None:
            raise NotFound("schedule", schedule_id)
        if expected_updated_at is not None and expected_updated_at != row.updated_at:
            raise Conflict("schedule", expected=repr(expected_updated_at), actual=repr(row.updated_at))
        self.changes.append({"enabled": enabled, "reason_code": reason_code, "reason": reason, "now": now, "by": by})
        self.add(replace(row, enabled=enabled, next_fire_at=next_fire_at, updated_at=now))
        return self.schedules[schedule_id]

    async def patch_schedule(
        self, schedule_id: str, values: Mapping[str, object], *, expected_updated_at: float, now: float
    ) -> ScheduleRecord:
        self._ask("patch_schedule")
        row = self.schedules[schedule_id]
        if expected_updated_at != row.updated_at:
            raise Conflict("schedule", expected=repr(expected_updated_at), actual=repr(row.updated_at))
        if any(other.name == values.get("name") for other in self.schedules.values()):
            raise Conflict("schedule", expected=None, actual=str(values["name"]), message=f"the name {values['name']} is taken")
        self.changes.append({"values": dict(values), "now": now})
        known: dict[str, Any] = {name: value for name, value in values.items() if name in ScheduleRecord.__dataclass_fields__}
        for listed in {"action_extra_args", "action_command_args"} & set(known):
            known[listed] = tuple(known[listed])
        self.add(replace(row, **known, updated_at=now))
        return self.schedules[schedule_id]

    async def delete_schedule(
        self, schedule_id: str, *, expected_updated_at: float | None, although_running: bool, now: float, by: ActProvenance
    ) -> Vanishing:
        self._ask("delete_schedule")
        gone = await self.vanishing(schedule_id)
        del self.schedules[schedule_id]
        self.firing_rows = [row for row in self.firing_rows if row.schedule_id != schedule_id]
        self.changes.append({"deleted": schedule_id, "now": now, "by": by})
        return gone

    async def vanishing(self, schedule_id: str) -> Vanishing:
        self._ask("vanishing")
        rows = self._of(schedule_id)
        return Vanishing(len(rows), tuple(row.run_id for row in rows if row.status == "running"), self.obstacle)

    async def gate_facts(self, schedule_id: str, *, since: float) -> GateFacts:
        self._ask("gate_facts")
        rows = [row for row in self._of(schedule_id) if row.status in EXECUTED and row.chain_depth == 0]
        return GateFacts(
            running=tuple(row.run_id for row in self._of(schedule_id) if row.status == "running"),
            executed=len(rows),
            fired=sum((row.fired_at or 0.0) >= since for row in rows),
            spend=self.spend,
            running_of_all=sum(row.status == "running" for row in self.firing_rows),
        )

    async def metric(self, name: str, *, since: float, now: float) -> Reading:
        self._ask("metric")
        return self.reading

    async def firings_around(self, schedule_id: str, at: float) -> tuple[FiringRecord | None, FiringRecord | None]:
        self._ask("firings_around")
        rows = [row for row in self._of(schedule_id) if row.chain_depth == 0]
        before = next((row for row in rows if (row.fired_at or 0.0) <= at), None)
        return before, next((row for row in reversed(rows) if (row.fired_at or 0.0) > at), None)

    async def definition_history(self, schedule_id: str, *, before: float) -> TransitionRecord | None:
        self._ask("definition_history")
        lines = [line for line in self.history if line.entity_id == schedule_id and (line.created_at or 0.0) <= before]
        return max(lines, key=lambda line: line.created_at or 0.0, default=None)


def _stored(values: Mapping[str, Any]) -> ScheduleRecord:
    """What reading the inserted row gives back."""
    known = {name for name in ScheduleRecord.__dataclass_fields__ if name in values}
    fields: dict[str, Any] = {name: values[name] for name in known if values[name] is not None}
    for listed in ("action_extra_args", "action_command_args"):
        fields[listed] = tuple(fields.get(listed, ()))
    fields["enabled"] = bool(values["enabled"])
    return ScheduleRecord(schedule_id=str(values["id"]), **fields)
