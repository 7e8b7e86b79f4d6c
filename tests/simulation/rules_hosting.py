"""Who hosts: one console, always, whenever one may; and none beside a daemon of the peer."""

from __future__ import annotations

from collections.abc import Iterator

from tests.simulation.machine import Process
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import Step

_LOOKS = 10.0
"""Seconds in which a host has looked for a daemon of the peer, and ended what it was evaluating."""


class Hosting(Rule):
    """``two-hosts``, ``no-host``, ``beside-peer``, ``false-rival`` and ``held``."""

    def inspect(self, now: float, at: float, facts: Facts) -> Iterator[Breach]:
        calm = at - facts.calm_since
        if len(facts.hosting) > 1 and calm > 3 * facts.pace.take_over + 60.0:
            yield Breach("two-hosts", f"{' and '.join(facts.hosting)} for {calm:.0f} s")
        if not facts.hosting and facts.willing and calm > facts.pace.quiet + 3 * facts.pace.take_over + 60.0:
            yield Breach("no-host", f"{' and '.join(facts.willing)} stood by for {calm:.0f} s")

        for name, words in facts.rivals.items():
            yield Breach("false-rival", f"{name} says: {words}; but nobody fires here except these consoles")

    def launched(self, process: Process, facts: Facts) -> Iterator[Breach]:
        if facts.held_since is None or facts.machine.clock.now() >= facts.held_until:
            return
        since = process.began - max(facts.held_since, facts.calm_since)
        if since > facts.pace.take_over + _LOOKS:
            yield Breach("held", f"{process.run_id} is launched {since:.0f} s after somebody held all firing")

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        if facts.peer_since is None or step.by_person:
            return
        together = step.at - max(facts.peer_since, facts.calm_since)
        claimed = {old.schedule_id for old, _ in step.moved}
        for firing in step.made:
            if firing.schedule_id in claimed and together > 2 * facts.pace.take_over + _LOOKS:
                yield Breach("beside-peer", f"{firing.id}, {together:.0f} s after a daemon of the peer was started")
