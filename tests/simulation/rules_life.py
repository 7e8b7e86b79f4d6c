"""Firings from their launch to their end: stamped at once, followed, ended in time and by themselves, nothing left over."""

from __future__ import annotations

from collections.abc import Iterator

from studio_tui.application.ports.lifecycle import StatusChange
from studio_tui.domain.identity import ProcessIdentity
from tests.simulation.machine import Process
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import TERMINAL, Observer, Step

STAMPED_WITHIN = 10.0
"""Seconds within which a process that lives is recorded as launched, lags of the store included."""


class Launches(Rule):
    """``stamped``, ``ended-alive``, ``deadline`` and ``stopped``."""

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        for _, new in step.firings:
            if new.status not in TERMINAL or new.status == "skipped":
                continue
            process = facts.machine.of(new.id)
            if new.exit_code is not None and new.dispatched_at is None:
                yield Breach("stamped", f"{new.id} ended with code {new.exit_code} and was never recorded as launched")
            if process is not None and process.alive:
                yield Breach("ended-alive", f"{new.id} is called {new.status} while process {process.identity.pid} runs")

    def signalled(self, process: Process, by: ProcessIdentity, facts: Facts) -> Iterator[Breach]:
        ran = facts.clock() - process.began
        if by not in facts.terminating and ran < facts.deadline - 1.0 and facts.clock_set < process.began:
            yield Breach("stopped", f"{process.run_id} is stopped after {ran:.0f} s of {facts.deadline:.0f}, and nobody said so")

    def inspect(self, now: float, at: float, facts: Facts) -> Iterator[Breach]:
        for firing in facts.book.running.values():
            process = facts.machine.of(firing.id)
            if process is None or not process.alive:
                continue
            followed = process.supervisor in facts.machine.consoles
            if not followed and not facts.hosts:
                continue
            since = at - max(process.began, facts.calm_since, facts.undisturbed(firing.id))
            if firing.dispatched_at is None and since > (STAMPED_WITHIN if followed else facts.pace.notice):
                yield Breach("stamped", f"{firing.id} has run for {at - process.began:.0f} s and is not recorded as launched")
            if since > facts.deadline + facts.pace.notice:
                yield Breach("deadline", f"{firing.id} has run for {at - process.began:.0f} s of {facts.deadline:.0f}")


class Reaped(Rule):
    """``reaped``: what the reapers end is dead."""

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        change = step.act.subject[0] if step.act.name == "change" else None
        if not isinstance(change, StatusChange) or not step.lines:
            return
        for process in facts.machine.processes.values():
            if process.alive and change.entity_id in (process.invocation_id, process.run_id, *process.recorded):
                yield Breach("reaped", f"{change.entity} {change.entity_id} of {process.run_id}, which runs: {change.summary}")


class Rest(Rule):
    """``left-open``: once everything has come to rest, no row says that something runs."""

    def at_end(self, observer: Observer, facts: Facts) -> Iterator[Breach]:
        for firing in facts.book.running.values():
            yield Breach("left-open", f"{firing} still runs")
        for firing in facts.book.firings.values():
            invocation = facts.book.invocations.get(firing.invocation_id or "")
            if invocation is not None and invocation.status == "running":
                yield Breach("left-open", f"the invocation of {firing.id} still runs")
        quiet = facts.machine.clock.now() - facts.pace.silence - facts.pace.reap - facts.pace.notice
        for run_id in observer.open_runs(quiet):
            yield Breach("left-open", f"run {run_id} still runs")
