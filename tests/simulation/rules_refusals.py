"""What is refused or turned off had its reason: a gate that was shut, a limit that was reached."""

from __future__ import annotations

from collections.abc import Iterator

from studio_tui.domain.schedules import ScheduleRecord
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.rules_cadence import SLACK
from tests.simulation.watching import EXECUTED, Firing, Step

_MAX_RUNS = "schedule_definition.disabled.max_runs"
_BUDGET = "schedule_definition.disabled.budget_exhausted"


class Refusals(Rule):
    """``false-skip`` and ``switched-off``. What a person has just edited is judged by neither version."""

    def __init__(self) -> None:
        self._ended: dict[str, float] = {}

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        for _, firing in step.firings:
            if firing.status not in ("running", "skipped"):
                self._ended[firing.schedule_id] = step.at
        for firing in step.made:
            if not facts.edited_within(firing.schedule_id, step.at, SLACK + facts.held_up(step.act.who, step.at)):
                yield from self._skipped(firing, step, facts)
        codes = {line.entity_id: line.reason_code for line in step.lines if line.entity_type == "schedule"}
        for old, new in step.schedules:
            code = codes.get(new.schedule_id)
            if old is not None and old.enabled and not new.enabled and code is not None and not step.by_person:
                yield from _turned_off(old, code, step, facts)

    def _skipped(self, firing: Firing, step: Step, facts: Facts) -> Iterator[Breach]:
        slack = SLACK + facts.held_up(step.act.who, step.at)
        schedule = facts.book.schedules[firing.schedule_id]
        ended = {schedule_id for schedule_id, at in self._ended.items() if step.at - at <= slack}
        running = {row.schedule_id for row in facts.book.running.values()}
        if firing.status_reason_code == "schedule.skipped.overlap":
            if schedule.overlap_policy != "skip" or schedule.schedule_id not in running | ended:
                yield Breach("false-skip", f"{firing.id} of {schedule.name} is called an overlap, nothing of it runs")
        elif firing.status_reason_code == "schedule.deferred.capacity" and not (ended or _full(facts)):
            yield Breach("false-skip", f"{firing.id} waits for a slot, {len(running)} of {facts.slots} are taken")


def _full(facts: Facts) -> bool:
    return 0 < facts.slots <= len(facts.book.running)


def _turned_off(old: ScheduleRecord, code: str, step: Step, facts: Facts) -> Iterator[Breach]:
    if facts.edited_within(old.schedule_id, step.at, SLACK + facts.held_up(step.act.who, step.at)):
        return
    rows = sum(row.chain_depth == 0 and row.status in EXECUTED for row in facts.book.of(old.schedule_id))
    usd, tokens = facts.spent(old.schedule_id, step.at)
    reached = {
        _MAX_RUNS: old.max_runs is not None and rows >= old.max_runs,
        _BUDGET: (old.budget_usd is not None and usd >= old.budget_usd)
        or (old.budget_tokens is not None and tokens >= old.budget_tokens),
    }
    if not reached.get(code, False):
        figures = f"{rows} of {old.max_runs} runs, ${usd} of {old.budget_usd}, {tokens} of {old.budget_tokens} tokens"
        yield Breach("switched-off", f"{old.name} for {code} by {step.act}, with {figures}")
