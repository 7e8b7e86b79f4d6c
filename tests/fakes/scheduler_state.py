"""An in-memory twin of ``SchedulerStateService``, with the same compare-and-swap as the store."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace

from studio_tui.application.ports import CursorMove, Limits, Occurrence, Outcome, Refusal, Spend
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.domain.statuses import EXECUTED
from studio_tui.domain.thresholds import Reading

_TIMED = ("cron", "interval", "at")


def _behind(schedule: ScheduleRecord, move: CursorMove) -> ScheduleRecord:
    """The bookmark goes on, and with it what was noted of an event that was refused."""
    return replace(schedule, github_cursor=move.behind, predispatch_refusal_event=None, predispatch_refusal_count=0)


def _stamps(schedule: ScheduleRecord, alerted_at: float | None) -> dict[str, float | None]:
    """What a threshold schedule notes."""
    if schedule.threshold_config is None:
        return {}
    return {"last_evaluated_at": schedule.last_evaluated_at, "last_alert_at": alerted_at}


@dataclass
class MemorySchedulerState:
    """Implements ``SchedulerStateService``.

    ``trouble[name]`` is a list of exceptions that the next calls of a method raise, first come first; each call gives way to
    other tasks once, as a real one does. ``ends`` keeps every outcome that was written, ``disabled`` every turning off.
    """

    schedules: dict[str, ScheduleRecord] = field(default_factory=dict)
    firings: dict[str, FiringRecord] = field(default_factory=dict)
    invocations: dict[str, str] = field(default_factory=dict)
    runs: dict[str, list[RunRecord]] = field(default_factory=lambda: defaultdict(list))
    spend: dict[str, Spend] = field(default_factory=dict)
    metrics: dict[str, Reading] = field(default_factory=dict)
    projects: dict[str, str] = field(default_factory=dict)
    created: dict[str, float] = field(default_factory=dict)
    ends: list[Outcome] = field(default_factory=list)
    disabled: list[tuple[str, str, str]] = field(default_factory=list)
    trouble: dict[str, list[BaseException]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)

    def add(self, *schedules: ScheduleRecord) -> None:
        self.schedules.update({schedule.schedule_id: schedule for schedule in schedules})

    def rows(self, status: str | None = None) -> list[FiringRecord]:
        """Firings in the order in which they were made."""
        return [row for row in self.firings.values() if status in (None, row.status)]

    async def next_due_at(self) -> float | None:
        await self._ask("next_due_at")
        enabled = [schedule for schedule in self.schedules.values() if schedule.enabled]
        return min((at for schedule in enabled if (at := schedule.next_fire_at) is not None), default=None)

    async def list_due(self, now: float, *, limit: int) -> tuple[ScheduleRecord, ...]:
        await self._ask("list_due")
        due = [(at, s.schedule_id, s) for s in self._timed() if (at := s.next_fire_at) is not None and at <= now]
        return tuple(schedule for *_, schedule in sorted(due, key=lambda item: item[:2])[:limit])

    async def list_unarmed(self) -> tuple[ScheduleRecord, ...]:
        await self._ask("list_unarmed")
        return tuple(s for s in self._timed() if s.next_fire_at is None and s.trigger_type != "at")

    async def list_armed_cron(self) -> tuple[ScheduleRecord, ...]:
        await self._ask("list_armed_cron")
        return tuple(schedule for schedule in self._timed() if schedule.trigger_type == "cron")

    async def get_schedule(self, schedule_id: str) -> ScheduleRecord | None:
        await self._ask("get_schedule")
        return self.schedules.get(schedule_id)

    async def list_fired_since(self, schedule_id: str, since: float, *, limit: int) -> tuple[FiringRecord, ...]:
        await self._ask("list_fired_since")
        found = [row for row in self.rows() if self._executed(row, schedule_id) and (row.fired_at or 0.0) >= since]
        return tuple(sorted(found, key=lambda row: row.fired_at or 0.0, reverse=True)[:limit])

    async def get_firing(self, run_id: str) -> FiringRecord | None:
        await self._ask("get_firing")
        return self.firings.get(run_id)

    async def arm(
        self, schedule: ScheduleRecord, next_fire_at: float | None, *, zone: str | None, zone_source: str | None
    ) -> bool:
        await self._ask("arm")
        stored = self.schedules.get(schedule.schedule_id)
        if stored is None or not stored.enabled or stored.next_fire_at != schedule.next_fire_at:
            return False
        stamped = {} if zone is None else {"effective_timezone": zone, "effective_timezone_source": zone_source}
        self.add(replace(stored, next_fire_at=next_fire_at, **stamped))
        return True

    async def claim(
        self, occurrence: Occurrence, *, now: float, limits: Limits | None = None, instead_of: Outcome | None = None
    ) -> bool:
        await self._ask("claim")
        stored = self.schedules.get(occurrence.schedule.schedule_id)
        if stored is None or (instead_of is not None and not self._never_launched(instead_of.run_id)):
            return False
        if limits is not None and not self._has_room(stored.schedule_id, limits, instead_of):
            return False
        if occurrence.claimed is not None:
            if not stored.enabled or stored.next_fire_at != occurrence.claimed:
                return False
            stored = replace(stored, next_fire_at=occurrence.next_fire_at)
        if occurrence.cursor is not None:
            if not stored.enabled or stored.github_cursor != occurrence.cursor.seen:
                return False
            stored = _behind(stored, occurrence.cursor)
        if instead_of is not None:
            self._end(instead_of)
        if not occurrence.chain_depth:
            stamps = _stamps(occurrence.schedule, occurrence.fired_at)
            self.add(replace(stored, last_fired_at=occurrence.fired_at, **stamps))
        self._begin(occurrence, now)
        return True

    def _has_room(self, schedule_id: str, limits: Limits, instead_of: Outcome | None) -> bool:
        others = [row for row in self.firings.values() if instead_of is None or row.run_id != instead_of.run_id]
        executed = [row for row in others if self._executed(row, schedule_id)]
        running = [row for row in others if row.status == "running"]
        fired = sum((row.fired_at or 0) >= limits.since for row in executed)
        spend = self.spend.get(schedule_id, Spend(0.0, 0, 0))
        return not (
            (limits.alone and any(row.schedule_id == schedule_id for row in running))
            or (limits.max_runs is not None and len(executed) >= limits.max_runs)
            or (limits.max_fires is not None and fired >= limits.max_fires)
            or (limits.slots and len(running) >= limits.slots)
            or (limits.budget_usd is not None and spend.usd >= limits.budget_usd)
            or (limits.budget_tokens is not None and spend.tokens >= limits.budget_tokens)
        )

    def _begin(self, occurrence: Occurrence, now: float) -> None:
        self.invocations[occurrence.invocation_id] = "running"
        self._insert(occurrence.run_id, occurrence.schedule.schedule_id, "running", occurrence.fired_at, now)
        self.firings[occurrence.run_id] = replace(
            self.firings[occurrence.run_id],
            invocation_id=occurrence.invocation_id,
            action_kind=occurrence.schedule.action_kind,
            chain_parent_id=occurrence.chain_parent_id,
            chain_depth=occurrence.chain_depth,
            reason_code=occurrence.reason_code,
            argv=occurrence.argv,
            trigger_context=dict(occurrence.trigger_context),
        )

    async def refuse(self, refusal: Refusal, *, now: float) -> bool:
        await self._ask("refuse")
        stored = self.schedules.get(refusal.schedule.schedule_id)
        if stored is None or (refusal.claimed is not None and stored.next_fire_at != refusal.claimed):
            return False
        if refusal.event is not None:
            event = refusal.event
            if not stored.enabled or stored.github_cursor != event.cursor.seen:
                return False
            counted = {"predispatch_refusal_event": event.cursor.behind, "predispatch_refusal_count": event.count}
            stored = _behind(stored, event.cursor) if event.passed else replace(stored, **counted)  # type: ignore[arg-type]
            self.add(replace(stored, last_fired_at=refusal.at))
        elif refusal.advance:
            if not stored.enabled:
                return False
            stamps = _stamps(refusal.schedule, refusal.at if refusal.status == "failed" else stored.last_alert_at)
            self.add(replace(stored, next_fire_at=refusal.next_fire_at, **stamps))
        self._insert(refusal.run_id, stored.schedule_id, refusal.status, refusal.at, now)
        self.firings[refusal.run_id] = replace(
            self.firings[refusal.run_id],
            reason_code=refusal.reason_code,
            reason_summary=refusal.reason,
            error_detail=refusal.reason if refusal.status == "failed" else None,
            trigger_context=dict(refusal.trigger_context),
        )
        return True

    async def metric(self, name: str, *, since: float, now: float) -> Reading:
        await self._ask("metric")
        return self.metrics.get(name, Reading(0.0))

    async def pass_quietly(self, schedule: ScheduleRecord, next_fire_at: float | None, *, now: float) -> bool:
        await self._ask("pass_quietly")
        stored = self.schedules.get(schedule.schedule_id)
        if stored is None or not stored.enabled or stored.next_fire_at != schedule.next_fire_at:
            return False
        self.add(replace(stored, next_fire_at=next_fire_at, last_evaluated_at=now))
        return True

    async def list_polls(self, until: float, *, limit: int) -> tuple[ScheduleRecord, ...]:
        await self._ask("list_polls")
        polls = [s for s in self.schedules.values() if s.enabled and s.trigger_type == "github_poll"]
        due = [s for s in polls if s.next_fire_at is None or s.next_fire_at <= until]
        return tuple(sorted(due, key=lambda s: (s.next_fire_at or 0.0, s.schedule_id))[:limit])

    async def note_poll(self, schedule: ScheduleRecord, status: str, *, next_poll_at: float, now: float) -> bool:
        await self._ask("note_poll")
        stored = self.schedules.get(schedule.schedule_id)
        if stored is None or not stored.enabled or stored.next_fire_at != schedule.next_fire_at:
            return False
        if status == "ok":
            stored = replace(stored, last_healthy_poll_at=now, poller_consecutive_401=0)
        elif status == "auth_error":
            stored = replace(stored, poller_consecutive_401=stored.poller_consecutive_401 + 1)
        self.add(replace(stored, next_fire_at=next_poll_at))
        return True

    async def move_cursor(self, schedule_id: str, move: CursorMove, *, now: float) -> bool:
        await self._ask("move_cursor")
        stored = self.schedules.get(schedule_id)
        if stored is None or not stored.enabled or stored.github_cursor != move.seen:
            return False
        self.add(_behind(stored, move))
        return True

    async def mark_dispatched(self, run_id: str, at: float) -> None:
        await self._ask("mark_dispatched")
        row = self.firings[run_id]
        if row.dispatched_at is None:
            self.firings[run_id] = replace(row, dispatched_at=at)

    async def finish(self, outcome: Outcome, *, now: float, step: Occurrence | None = None) -> bool:
        await self._ask("finish")
        ended = self._end(outcome)
        if ended and step is not None:
            self._begin(step, now)
        return ended

    def _never_launched(self, run_id: str) -> bool:
        row = self.firings.get(run_id)
        return row is not None and row.status == "running" and row.dispatched_at is None

    def _end(self, outcome: Outcome) -> bool:
        if outcome.invocation_id is not None and self.invocations.get(outcome.invocation_id) == "running":
            self.invocations[outcome.invocation_id] = outcome.invocation_status
        row = self.firings.get(outcome.run_id)
        if row is None or row.status != "running":
            return False
        self.ends.append(outcome)
        self.firings[outcome.run_id] = replace(
            row,
            status=outcome.status,
            ended_at=outcome.ended_at,
            exit_code=outcome.exit_code,
            error_detail=outcome.error_detail,
            reason_code=outcome.reason_code,
            reason_summary=outcome.reason,
        )
        return True

    async def disable(self, schedule_id: str, *, reason_code: str, reason: str, now: float) -> bool:
        await self._ask("disable")
        stored = self.schedules.get(schedule_id)
        if stored is None or not stored.enabled:
            return False
        self.add(replace(stored, enabled=False))
        self.disabled.append((schedule_id, reason_code, reason))
        return True

    async def count_running(self, schedule_id: str | None) -> int:
        await self._ask("count_running")
        return sum(row.status == "running" and schedule_id in (None, row.schedule_id) for row in self.firings.values())

    async def count_schedule_runs(self, schedule_id: str) -> int:
        await self._ask("count_schedule_runs")
        return sum(self._executed(row, schedule_id) for row in self.firings.values())

    async def count_fired_since(self, schedule_id: str, since: float) -> int:
        await self._ask("count_fired_since")
        return sum(self._executed(row, schedule_id) and (row.fired_at or 0) >= since for row in self.firings.values())

    async def sum_schedule_spend(self, schedule_id: str) -> Spend:
        await self._ask("sum_schedule_spend")
        return self.spend.get(schedule_id, Spend(0.0, 0, 0))

    async def list_sessions_for_invocation(self, invocation_id: str) -> tuple[RunRecord, ...]:
        await self._ask("list_sessions_for_invocation")
        return tuple(self.runs[invocation_id])

    async def list_undispatched(self, *, older_than: float) -> tuple[FiringRecord, ...]:
        await self._ask("list_undispatched")
        return tuple(row for row in self.rows("running") if row.dispatched_at is None and self.created[row.run_id] < older_than)

    async def list_dispatched(self) -> tuple[FiringRecord, ...]:
        await self._ask("list_dispatched")
        return tuple(row for row in self.rows("running") if row.dispatched_at is not None)

    async def project_path(self, project: str) -> str | None:
        await self._ask("project_path")
        return self.projects.get(project)

    async def _ask(self, name: str) -> None:
        self.asked[name] += 1
        await asyncio.sleep(0)
        if self.trouble.get(name):
            raise self.trouble[name].pop(0)

    def _timed(self) -> list[ScheduleRecord]:
        return [schedule for schedule in self.schedules.values() if schedule.enabled and schedule.trigger_type in _TIMED]

    def _executed(self, row: FiringRecord, schedule_id: str) -> bool:
        return row.schedule_id == schedule_id and row.chain_depth == 0 and row.status in EXECUTED

    def _insert(self, run_id: str, schedule_id: str, status: str, fired_at: float, now: float) -> None:
        kind = self.schedules[schedule_id].action_kind
        self.firings[run_id] = FiringRecord(run_id, schedule_id, None, status, kind, fired_at)
        self.created[run_id] = now
