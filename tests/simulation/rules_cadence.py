"""Where the next instant goes: forward, along the one cadence, and by due firings alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from studio_tui.application.ports import Occurrence, Refusal
from studio_tui.domain.cadence import CadenceError, next_fire
from studio_tui.domain.schedules import ScheduleRecord
from tests.simulation.oracle import next_daily, next_even
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import EXECUTED, Step

SLACK = 30.0
"""Seconds that may pass between the reading of the clock for an evaluation and its commit, lags included."""


class Cadence(Rule):
    """``forward``, ``cadence``, ``phase`` and ``daylight``: each step of ``next_fire_at`` that no person took."""

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        if step.by_person:
            return
        for old, new in step.moved:
            at, following = old.next_fire_at, new.next_fire_at
            where = f"{old.name} ({old.cron_expr or old.interval_sec or 'at'}) {at!r} -> {following!r} by {step.act}"
            if at is not None and following is not None and following <= at:
                yield Breach("forward", f"{where}: not forward")
            if new.schedule_id in facts.broken:
                yield Breach("cadence", f"{where}: it is broken and was moved")
                continue
            if old.interval_sec is not None and old.trigger_type == "interval" and at is not None and following is not None:
                periods = (following - at) / old.interval_sec
                if abs(periods - round(periods)) > 1e-5:
                    yield Breach("phase", f"{where}: {periods} periods on")
            # Without an instant of its own it counts from its last fire, as far as the host had heard of that.
            unheard = [replace(old, last_fired_at=None)] if at is None else []
            faults = [_off_cadence(seen, following, *_looked(step, facts), facts) for seen in (old, *unheard)]
            fault = faults[0] if all(faults) else None
            if fault is not None:
                yield Breach("cadence", f"{where}: {fault}")
            expected = _oracle(old, _looked(step, facts), facts)
            if expected is not None and following not in expected:
                yield Breach("daylight", f"{where}: a look at the wall clock gives {expected}")


class Bystanders(Rule):
    """``manual-still`` and ``chain-still``: what is fired by hand or by a chain leaves the next instant alone.

    ``last-fired``: the schedule says when it was fired last.
    """

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        moved = {new.schedule_id for _, new in step.moved}
        for firing in step.made:
            last = facts.book.schedules[firing.schedule_id].last_fired_at
            if firing.chain_depth == 0 and firing.status in EXECUTED and last != firing.fired_at:
                yield Breach("last-fired", f"{firing.id} was fired at {firing.fired_at!r}, its schedule says {last!r}")
            if firing.schedule_id in moved and firing.manual:
                yield Breach("manual-still", f"firing {firing.id} by hand moved the next instant")
            if firing.schedule_id in moved and firing.chain_depth:
                yield Breach("chain-still", f"chain step {firing.id} moved the next instant")


def _looked(step: Step, facts: Facts) -> tuple[float, float]:
    """Between which two instants the product must have read the clock for this commit."""
    subject = step.act.subject[0] if step.act.subject else None
    if isinstance(subject, Occurrence):
        return subject.fired_at, subject.fired_at
    if isinstance(subject, Refusal):
        return subject.at, subject.at
    return step.now - SLACK - (step.at - step.act.at) - facts.held_up(step.act.who, step.at), step.now


def _off_cadence(old: ScheduleRecord, following: float | None, first: float, last: float, facts: Facts) -> str | None:
    """Why ``following`` is not what the cadence gives for a look between two instants, or ``None``."""
    if old.trigger_type == "at":
        return None if following is None else "a one-shot has no second instant"
    try:
        earliest, latest = (next_fire(old, after, facts.zone) for after in (first, last))
        if following is None:
            return None if latest is None else f"the cadence goes on with {latest!r}"
        if earliest is None or following < earliest or (latest is not None and following > latest):
            return f"expected {earliest!r} to {latest!r}"
        known = old.trigger_type != "cron" or next_fire(old, following - 0.5, facts.zone) == following
        return None if known else "not an instant of the cadence"
    except CadenceError as broken:
        return f"broken: {broken}"


def _oracle(old: ScheduleRecord, looks: tuple[float, float], facts: Facts) -> set[float] | None:
    """What the wall clock itself says of two shapes that can be worked out without the product."""
    if old.trigger_type != "cron" or old.cron_expr is None:
        return None
    fields = old.cron_expr.split()
    zone = old.resolved_timezone or facts.zone.name
    if len(fields) == 5 and fields[2:] == ["*", "*", "*"] and fields[0].isdigit() and fields[1].isdigit():
        return {next_daily(zone, int(fields[1]), int(fields[0]), after) for after in looks}
    if fields[0] in ("*/5", "*/15", "*/30") and fields[1:] == ["*", "*", "*", "*"]:
        every = int(fields[0][2:]) * 60
        return {next_even(every, after) for after in looks}
    return None
