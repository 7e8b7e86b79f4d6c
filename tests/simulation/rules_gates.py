"""Caps, budgets, rates, overlap and slots: counted from the rows, at the commit that makes one more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from studio_tui.application.ports import Occurrence, Refusal
from studio_tui.domain.schedules import ScheduleRecord
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import EXECUTED, Firing, Step

_Number = TypeVar("_Number", int, float)


class Gates(Rule):
    """``slots``, ``overlap``, ``max-runs``, ``rate`` and ``budget``."""

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        for firing in step.made:
            if firing.status == "running":
                yield from self._room(firing, facts)
            if firing.chain_depth == 0 and firing.status in EXECUTED:
                yield from _limits(firing, _schedule(step, firing, facts), step, facts)

    def _room(self, firing: Firing, facts: Facts) -> Iterator[Breach]:
        running = facts.book.running
        if facts.slots and len(running) > facts.slots:
            yield Breach("slots", f"{firing.id} makes {len(running)} firings at once, allowed are {facts.slots}")


def _limits(firing: Firing, schedule: ScheduleRecord, step: Step, facts: Facts) -> Iterator[Breach]:
    rows = [
        row for row in facts.book.of(firing.schedule_id) if row.chain_depth == 0 and row.status in EXECUTED and not row.buried
    ]
    others = [row.id for row in facts.book.running.values() if row.schedule_id == firing.schedule_id and row.id != firing.id]
    where = f"{firing.id} of {schedule.name}"
    if firing.status == "running" and schedule.overlap_policy == "skip" and others:
        yield Breach("overlap", f"{where} runs beside {', '.join(others)}")
    if schedule.max_runs is not None and len(rows) > schedule.max_runs:
        yield Breach("max-runs", f"{where} is number {len(rows)}, allowed are {schedule.max_runs}")
    if schedule.rate_limit:
        since = firing.fired_at - schedule.rate_limit["window_sec"]  # type: ignore[operator]
        fired = sum(row.fired_at >= since for row in rows)
        if fired > schedule.rate_limit["max_fires"]:  # type: ignore[operator]
            yield Breach("rate", f"{where} is number {fired} in {schedule.rate_limit}")
    usd, tokens = facts.spent(firing.schedule_id, step.at)
    if schedule.budget_usd is not None and usd >= schedule.budget_usd:
        yield Breach("budget", f"{where} fires with ${usd} of ${schedule.budget_usd} spent")
    if schedule.budget_tokens is not None and tokens >= schedule.budget_tokens:
        yield Breach("budget", f"{where} fires with {tokens} of {schedule.budget_tokens} tokens used")


def _schedule(step: Step, firing: Firing, facts: Facts) -> ScheduleRecord:
    """The schedule by the wider of two policies: as the host had read it, and as it is stored by now."""
    stored = facts.book.schedules[firing.schedule_id]
    subject = step.act.subject[0] if step.act.subject else None
    if not isinstance(subject, Occurrence | Refusal):
        return stored
    seen = subject.schedule
    return replace(
        stored,
        overlap_policy="allow" if "allow" in (seen.overlap_policy, stored.overlap_policy) else "skip",
        max_runs=_wider(seen.max_runs, stored.max_runs),
        budget_usd=_wider(seen.budget_usd, stored.budget_usd),
        budget_tokens=_wider(seen.budget_tokens, stored.budget_tokens),
        rate_limit=stored.rate_limit if seen.rate_limit == stored.rate_limit else None,
    )


def _wider(one: _Number | None, other: _Number | None) -> _Number | None:
    return None if one is None or other is None else max(one, other)
