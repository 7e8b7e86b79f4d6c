"""Why a schedule fires or does not, and when it will: one derivation for screens and commands."""

from __future__ import annotations

from typing import Any

from studio_tui.application.cadence_views import cadence_view, trigger_failure
from studio_tui.application.errors import NotFound, ValidationFailure
from studio_tui.application.guard import guarded
from studio_tui.application.hosting import holder_words
from studio_tui.application.models.schedules import Cadence
from studio_tui.application.models.why import NextQuery, Why, WhyQuery
from studio_tui.application.schedule_base import ScheduleBase
from studio_tui.application.why_views import coming, past, recorded
from studio_tui.domain.cadence import CadenceError, zone_of
from studio_tui.domain.gates import rate_window, unsupported
from studio_tui.domain.runs import TransitionRecord
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.stored_rules import stored_faults
from studio_tui.domain.thresholds import Reading, window_start
from studio_tui.domain.why import Situation, checklist, same_second


@guarded
class ScheduleExplaining(ScheduleBase):
    """Answers from the gates that the scheduler asks, and from what it recorded."""

    async def why(self, query: WhyQuery) -> Why:
        """Why the next firing, the one at an instant, or a recorded one comes about or does not. Raises :class:`NotFound`."""
        schedule = await self._record(query.schedule_id)
        now, zone = self._clock.now(), self._clock_zone(schedule)
        if query.firing_id is not None:
            row = await self._reads.get_firing(query.firing_id)
            if row is None or row.schedule_id != schedule.schedule_id:
                raise NotFound("firing", query.firing_id)
            return recorded(schedule, row, await self._stood(schedule, row.fired_at), at=None, now=now, zone=zone)
        if query.at is not None and query.at < now and not _is_next(schedule, query.at):
            rows = await self._reads.firings_around(schedule.schedule_id, query.at)
            return past(schedule, query.at, rows, await self._stood(schedule, query.at), now=now, zone=zone)
        situation = await self._situation(schedule, query.at or now)
        verdicts = checklist(schedule, situation, at=query.at, now=now, default=self._zone)
        return coming(schedule, verdicts, at=query.at, zone=zone)

    async def next_fires(self, query: NextQuery) -> Cadence:
        """The coming fires, by the function that the scheduler uses. Raises :class:`ValidationFailure` for a broken trigger."""
        schedule = await self._record(query.schedule_id)
        now = self._clock.now()
        after = query.after if query.after is not None else now
        try:
            cadence = cadence_view(schedule, after=after, count=query.count, now=now, default=self._zone)
        except CadenceError as error:
            raise ValidationFailure(trigger_failure(error)) from None
        notes = [] if schedule.enabled else ["it is off: these are the instants at which it would fire if it were on"]
        if (never := unsupported(schedule)) is not None:
            notes.append(f"this program does not fire it: {never}")
        return cadence.model_copy(update={"warnings": (*notes, *cadence.warnings)})

    async def _situation(self, schedule: ScheduleRecord, at: float) -> Situation:
        _, seconds = rate_window(schedule) or (0, 0)
        facts = await self._reads.gate_facts(schedule.schedule_id, since=at - seconds)
        host = self._host
        return Situation(
            host=host.state,
            host_words=_host_words(host.state, holder_words(host.holder), host.reason),
            held_words=host.reason or "by the operator",
            held_until=host.held_until,
            running=facts.running,
            executed=facts.executed,
            fired=facts.fired,
            usd=facts.spend.usd,
            tokens=facts.spend.tokens,
            unreported=facts.spend.unreported,
            running_of_all=facts.running_of_all,
            slots=host.slots,
            refusal=(await self._launch.preview(schedule)).refusal,
            reading=await self._reading(schedule, at),
            poll_trouble=host.poll_trouble(schedule.schedule_id),
        )

    async def _reading(self, schedule: ScheduleRecord, at: float) -> Reading | None:
        """What the metric of a threshold says now; ``None`` without a threshold that can be read."""
        config: dict[str, Any] = dict(schedule.threshold_config or {})
        if not config or any(fault.field.startswith("threshold_config") for fault in stored_faults(schedule)):
            return None
        return await self._reads.metric(config["metric"], since=window_start(config, at), now=at)

    async def _stood(self, schedule: ScheduleRecord, at: float | None) -> TransitionRecord | None:
        """What turned the schedule on or off last, up to an instant."""
        return None if at is None else await self._reads.definition_history(schedule.schedule_id, before=at)

    def _clock_zone(self, schedule: ScheduleRecord) -> Zone:
        return zone_of(schedule, self._zone)


def _is_next(schedule: ScheduleRecord, at: float) -> bool:
    """Whether an instant is the one that the schedule waits for, which may be overdue."""
    return schedule.next_fire_at is not None and same_second(at, schedule.next_fire_at)


def _host_words(state: str, holder: str | None, reason: str | None) -> str:
    match state:
        case "hosting":
            return "this process fires the schedules of this store"
        case "held":
            return f"{holder} hosts" if holder else "this process hosts"
        case "standby":
            return f"{holder} fires the schedules" if holder else reason or "another process fires the schedules"
        case "stalled":
            return f"the scheduler stalled: {reason or 'it is started again by itself'}"
        case "undecided":
            return "nobody has said yet whether this home may be hosted here"
    return reason or "no process hosts the schedules of this store"
