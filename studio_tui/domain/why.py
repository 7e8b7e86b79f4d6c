"""Why a schedule will fire or will not: every gate in the order in which it is asked, with the evidence that it rests on.

The verdicts are those of :mod:`studio_tui.domain.gates`, which the scheduler itself asks. Counts are as they stand when they were
read: for a coming instant the answer is a prediction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from studio_tui.domain import gates, thresholds
from studio_tui.domain.cadence import CadenceError, next_fire
from studio_tui.domain.durations import format_duration
from studio_tui.domain.gates import Verdict
from studio_tui.domain.polls import polled
from studio_tui.domain.schedules import ScheduleRecord, Zone
from studio_tui.domain.stored_rules import stored_faults
from studio_tui.domain.thresholds import Reading
from studio_tui.domain.triggers import instant_of

FIRES: Final = frozenset({"hosting", "standby"})
"""States of the host in which somebody looks for due schedules."""

WAITS: Final = frozenset({"rate", "slots", "held"})
"""Gates that a due firing waits at; any other lets the instant pass, turns the schedule off, or never lets it come up."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What the gates look at: the host and what it says of itself, counts of the store, what a launch would refuse, and what a
    threshold's metric says (``None`` where there is no threshold, or none that can be read); ``poll_trouble`` is what the host
    says of the last poll, where it went wrong."""

    host: str
    host_words: str
    held_words: str = ""
    held_until: float | None = None
    running: tuple[str, ...] = ()
    executed: int = 0
    fired: int = 0
    usd: float = 0.0
    tokens: int = 0
    unreported: int = 0
    running_of_all: int = 0
    slots: int = 0
    refusal: str | None = None
    reading: Reading | None = None
    poll_trouble: str | None = None


def checklist(
    schedule: ScheduleRecord, situation: Situation, *, at: float | None, now: float, default: Zone
) -> tuple[Verdict, ...]:
    """Every gate for the firing at ``at`` (epoch seconds), or for the next one when that is ``None``."""
    definition = _definition(schedule, default)
    return (
        _hosted(situation),
        _held(situation, instant_of(schedule.next_fire_at) if at is None else at, now),
        _enabled(schedule),
        definition,
        *((_due(schedule, situation, at, now, default),) if definition.allowed else ()),
        _threshold(schedule, situation.reading, now),
        *_counted(schedule, situation),
        _launch(situation),
    )


def first_refusal(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """The gate that decides: the first one that lets nothing through."""
    return next((verdict for verdict in verdicts if not verdict.allowed), None)


def _hosted(situation: Situation) -> Verdict:
    evidence = {"state": situation.host}
    return Verdict("hosted", situation.host in FIRES | {"held"}, situation.host_words, None, evidence)


def _held(situation: Situation, at: float | None, now: float) -> Verdict:
    until = situation.held_until
    evidence = {"held_until": until}
    if until is not None and until > now:
        ends = f"firing is held for {_span(until - now)} more"
        return Verdict("held", at is not None and at >= until, ends, None, evidence)
    if situation.host == "held":
        return Verdict("held", False, f"firing is held: {situation.held_words}", None, evidence)
    return Verdict("held", True, "firing is not held", None, evidence)


def _enabled(schedule: ScheduleRecord) -> Verdict:
    return Verdict("enabled", schedule.enabled, "it is on" if schedule.enabled else "it is off")


def _definition(schedule: ScheduleRecord, default: Zone) -> Verdict:
    faults = [str(fault) for fault in stored_faults(schedule)]
    try:
        next_fire(schedule, 0.0, default)
    except CadenceError as error:
        faults.append(f"{error.field}: {error}")
    if faults:
        return Verdict("definition", False, f"it is broken: {'; '.join(faults)}", None, {"faults": faults})
    return Verdict("definition", True, "it can be read and computed")


def _due(schedule: ScheduleRecord, situation: Situation, at: float | None, now: float, default: Zone) -> Verdict:
    if schedule.trigger_type == "github_poll":
        return polled(schedule, now, situation.poll_trouble)
    following = instant_of(schedule.next_fire_at)
    evidence: dict[str, object] = {"next_fire_at": following}
    if following is None:
        return Verdict("due", False, "nothing is left to fire: no instant is stored", None, evidence)
    if at is not None and not same_second(at, following):
        planned = next_fire(schedule, at - 1.0, default) if schedule.trigger_type != "at" else None
        if planned is None or not same_second(planned, at) or at < following:
            return Verdict("due", False, "it is not due at that time", None, {**evidence, "planned_after": planned})
        return Verdict("due", True, "it is due at that time", None, evidence)
    if not gates.missed(following, now):
        return Verdict("due", True, "due now" if following <= now else f"due in {_span(following - now)}", None, evidence)
    policy = schedule.missed_fire_policy
    words = f"it was due {_span(now - following)} ago and was missed (missed-fire policy: {policy.replace('_', ' ')})"
    return Verdict("due", policy == "run_once", words, "schedule.skipped.missed_fire", {**evidence, "policy": policy})


def same_second(one: float, other: float) -> bool:
    """Whether two instants are one to somebody who names instants by the second."""
    return abs(one - other) < 1.0


def _threshold(schedule: ScheduleRecord, reading: Reading | None, now: float) -> Verdict:
    if schedule.threshold_config is None:
        return Verdict("threshold", True, "no threshold")
    if reading is None:
        return Verdict("threshold", False, "its threshold cannot be read")
    return thresholds.verdict(schedule, reading, now)


def _counted(schedule: ScheduleRecord, situation: Situation) -> Iterator[Verdict]:
    overlap = gates.overlap(schedule, len(situation.running))
    listed = f": {', '.join(situation.running)}" if situation.running else ""
    yield replace(overlap, words=overlap.words + listed, evidence={**overlap.evidence, "running_ids": situation.running})
    yield gates.budget(schedule, usd=situation.usd, tokens=situation.tokens, unreported=situation.unreported)
    yield gates.rate(schedule, situation.fired)
    yield gates.max_runs(schedule, situation.executed)
    yield gates.slots(situation.slots, situation.running_of_all)


def _launch(situation: Situation) -> Verdict:
    refusal = situation.refusal
    return Verdict("launch", refusal is None, refusal or "it can be launched here")


def _span(seconds: float) -> str:
    return format_duration(max(1, round(seconds)))
