"""From verdicts and recorded rows to the answer of a "why"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pydantic_core import to_jsonable_python

from studio_tui.application.cadence_views import clock_text
from studio_tui.application.firing_views import firing_view
from studio_tui.application.models.why import Why, WhyGate
from studio_tui.domain.chains import chain_words
from studio_tui.domain.gates import MISSED_GRACE, Verdict
from studio_tui.domain.reasons import reason_words
from studio_tui.domain.runs import TransitionRecord
from studio_tui.domain.schedules import FiringRecord, ScheduleRecord, Zone
from studio_tui.domain.why import WAITS, first_refusal

_SAME: Final = 1.0
"""Seconds by which a recorded instant may differ from the one asked about and still be the same."""


def coming(schedule: ScheduleRecord, verdicts: tuple[Verdict, ...], *, at: float | None, zone: Zone) -> Why:
    """The answer about a firing to come."""
    instant = at if at is not None else schedule.next_fire_at
    refusal = first_refusal(verdicts)
    local = clock_text(instant, zone)
    if refusal is None and schedule.trigger_type == "github_poll":
        answer = next(verdict.words for verdict in verdicts if verdict.gate == "due")
    elif refusal is None:
        answer = f"will fire at {local}, as things stand now"
    else:
        waits = refusal.gate in WAITS or (refusal.gate == "overlap" and schedule.trigger_type == "github_poll")
        answer = f"{'will wait' if waits else 'will not fire'}: {refusal.words}"
    return Why(
        schedule_id=schedule.schedule_id,
        name=schedule.name,
        about="coming",
        at=instant,
        local=local,
        fires=refusal is None,
        answer=answer,
        gates=tuple(map(_gate, verdicts)),
        chain=chain_of(schedule),
    )


def past(
    schedule: ScheduleRecord,
    at: float,
    rows: Sequence[FiringRecord | None],
    stood: TransitionRecord | None,
    *,
    now: float,
    zone: Zone,
) -> Why:
    """The answer about an instant that has passed, from what was recorded; ``rows`` are the last one up to it and the next."""
    found = next((row for row in reversed(rows) if row is not None and _is_of(row, at)), None)
    if found is not None:
        return recorded(schedule, found, stood, at=at, now=now, zone=zone)
    around = [words for side, row in zip(("before", "after"), rows, strict=True) if (words := _neighbour(side, row, zone))]
    return _answered(schedule, at, None, "nothing is recorded at that time", (_stood(stood), *around), zone)


def recorded(
    schedule: ScheduleRecord, row: FiringRecord, stood: TransitionRecord | None, *, at: float | None, now: float, zone: Zone
) -> Why:
    """The answer about a row: what was recorded of it, and how the schedule stood then."""
    view = firing_view(row, now=now, tail=None)
    said = view.reason or row.status
    fired = row.status != "skipped" and not (row.status == "failed" and row.dispatched_at is None)
    answer = f"{'fired' if fired else 'did not fire'}: {said}"
    instant = row.fired_at if at is None else at
    records = (f"recorded reason: {row.reason_code or 'none'}", _stood(stood))
    why = _answered(schedule, instant, fired, answer, records, zone)
    return why.model_copy(update={"firing": view})


def chain_of(schedule: ScheduleRecord) -> tuple[str, ...]:
    """What follows a firing, in words."""
    return chain_words({"on_success": schedule.on_success, "on_fail": schedule.on_fail})


def _answered(
    schedule: ScheduleRecord, at: float | None, fires: bool | None, answer: str, records: Sequence[str], zone: Zone
) -> Why:
    return Why(
        schedule_id=schedule.schedule_id,
        name=schedule.name,
        about="past",
        at=at,
        local=clock_text(at, zone),
        fires=fires,
        answer=answer,
        records=tuple(records),
        chain=chain_of(schedule),
    )


def _is_of(row: FiringRecord, at: float) -> bool:
    """Whether a row answers for an instant: it was planned for it, missed it, or began within the grace after it."""
    context = row.trigger_context
    named = [context.get("missed_fire_at"), context.get("next_fire_at") if context.get("scheduled") else None]
    if any(isinstance(value, int | float) and abs(value - at) <= _SAME for value in named):
        return True
    return row.fired_at is not None and -_SAME <= row.fired_at - at <= MISSED_GRACE


def _neighbour(side: str, row: FiringRecord | None, zone: Zone) -> str | None:
    if row is None or row.fired_at is None:
        return None
    reason = reason_words(row.reason_code, row.reason_summary, row.status)
    said = f"{row.status}, {reason}" if reason else row.status
    return f"the {'last row before' if side == 'before' else 'first row after'}: {clock_text(row.fired_at, zone)}, {said}"


def _stood(line: TransitionRecord | None) -> str:
    """Whether the schedule was on, by the last line of its own history up to then."""
    if line is None:
        return "whether it was on then is not recorded"
    by = f" by {line.actor}" if line.actor else ""
    why = reason_words(line.reason_code, line.reason_summary, line.status)
    return f"it was {'on' if line.status == 'enabled' else 'off'} then ({why}{by})"


def _gate(verdict: Verdict) -> WhyGate:
    evidence: dict[str, Any] = to_jsonable_python(dict(verdict.evidence))
    return WhyGate(
        gate=verdict.gate, passed=verdict.allowed, words=verdict.words, reason_code=verdict.reason_code, evidence=evidence
    )
