"""Chains: what follows a firing, and what does not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from studio_tui.domain.chains import MAX_CHAIN_DEPTH
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import TERMINAL, Firing, Observer, Step


class Chains(Rule):
    """``chain``: at most ten steps, each after the end of the one before, once, with the context that the facts promise.

    ``chain-lost``: none is left out, but by a console that was told to end.
    """

    def __init__(self) -> None:
        self._children: Counter[str] = Counter()
        self._expected: dict[str, str] = {}

    def at_end(self, observer: Observer, facts: Facts) -> Iterator[Breach]:
        for run_id, words in self._expected.items():
            if run_id not in self._children:
                yield Breach("chain-lost", f"{run_id} has no next step, {words}")

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        if step.act.name == "finish" and step.act.who not in facts.stopping:
            self._expect(step, facts)
        for firing in step.made:
            if firing.chain_depth == 0:
                continue
            parent = facts.book.firings.get(firing.chain_parent_id or "")
            if parent is None:
                yield Breach("chain", f"{firing.id} follows {firing.chain_parent_id}, which does not exist")
                continue
            again = any(row.buried and row.chain_parent_id == parent.id for _, row in step.firings)
            self._children[parent.id] += not again
            if self._children[parent.id] > 1:
                yield Breach("chain", f"{parent.id} is followed by a second step, {firing.id}")
            if firing.chain_depth != parent.chain_depth + 1 or firing.chain_depth > MAX_CHAIN_DEPTH:
                yield Breach("chain", f"{firing.id} has depth {firing.chain_depth} after {parent.chain_depth}")
            if not _chains(parent) or not _wanted(parent, facts):
                yield Breach("chain", f"{firing.id} follows {parent.id}, after which nothing was to come: {parent}")
            promised = {"chain_from": parent.id, "parent_exit_code": parent.exit_code, "parent_status": parent.status}
            wanted = {**parent.context, **promised}
            if dict(firing.context) != wanted:
                yield Breach("chain", f"{firing.id} has the context {json.dumps(firing.context)}, wanted {json.dumps(wanted)}")

    def _expect(self, step: Step, facts: Facts) -> None:
        for _, firing in step.firings:
            if firing.chain_depth == 0 and _chains(firing) and _wanted(firing, facts):
                self._expected[firing.id] = f"although it is {firing.status}, written by {step.act}"


def _chains(firing: Firing) -> bool:
    """Whether something may follow: not from what still runs, was stopped, or never ran."""
    known = firing.exit_code is not None or "exit code unknown" in (firing.status_reason_summary or "")
    return firing.status in TERMINAL and not firing.buried and known


def _wanted(firing: Firing, facts: Facts) -> bool:
    """Whether the schedule has a step for such an end. What a later step inherits is its own affair."""
    schedule = facts.book.schedules[firing.schedule_id]
    return firing.chain_depth > 0 or bool(schedule.on_success if firing.status == "completed" else schedule.on_fail)
