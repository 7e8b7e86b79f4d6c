"""Firings from their launch to their end: stamped at once, followed, ended in time, chained as promised, nothing left over."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.contract import MAX_CHAIN_DEPTH
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import EXECUTED, TERMINAL, Firing, Observer, Step

STAMPED_WITHIN = 10.0
"""Seconds within which a process that lives is recorded as launched, lags of the store included."""


class Launches(Rule):
    """``stamped`` and ``deadline``."""

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        for old, new in step.firings:
            if new.status not in TERMINAL or new.status == "skipped":
                continue
            process = facts.machine.of(new.id)
            if new.exit_code is not None and new.dispatched_at is None:
                yield Breach("stamped", f"{new.id} ended with code {new.exit_code} and was never recorded as launched")
            if old is not None and new.buried and process is not None and process.alive:
                yield Breach("stamped", f"{new.id} is called never launched while process {process.identity.pid} runs")
            stopped = (new.status_reason_summary or "").startswith("stopped at its deadline")
            if stopped and process is not None and facts.clock_set < process.began:
                ran = (step.at if process.ended is None else process.ended) - process.began
                if ran < facts.deadline - 1.0:
                    yield Breach("deadline", f"{new.id} timed out after {ran:.0f} s of {facts.deadline:.0f}")

    def inspect(self, now: float, at: float, facts: Facts) -> Iterator[Breach]:
        for firing in facts.book.running.values():
            process = facts.machine.of(firing.id)
            if process is None or not process.alive or firing.dispatched_at is not None:
                continue
            followed = process.supervisor in facts.machine.consoles
            since = max(process.began, facts.calm_since, facts.undisturbed(firing.id))
            if at - since > (STAMPED_WITHIN if followed else facts.pace.notice) and (followed or facts.hosts):
                yield Breach("stamped", f"{firing.id} has run for {at - process.began:.0f} s and is not recorded as launched")


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
            self._children[parent.id] += 1
            if self._children[parent.id] > 1:
                yield Breach("chain", f"{parent.id} is followed by a second step, {firing.id}")
            if firing.chain_depth != parent.chain_depth + 1 or firing.chain_depth > MAX_CHAIN_DEPTH:
                yield Breach("chain", f"{firing.id} has depth {firing.chain_depth} after {parent.chain_depth}")
            if parent.status not in ("completed", "failed", "cancelled", "timed_out"):
                yield Breach("chain", f"{firing.id} follows {parent.id}, which is {parent.status}")
            promised = {"chain_from": parent.id, "parent_exit_code": parent.exit_code, "parent_status": parent.status}
            wanted = {**parent.context, **promised}
            if dict(firing.context) != wanted:
                yield Breach("chain", f"{firing.id} has the context {json.dumps(firing.context)}, wanted {json.dumps(wanted)}")

    def _expect(self, step: Step, facts: Facts) -> None:
        for _, firing in step.firings:
            schedule = facts.book.schedules.get(firing.schedule_id)
            invocation = facts.book.invocations.get(firing.invocation_id or "")
            if schedule is None or invocation is None or firing.chain_depth or firing.status not in TERMINAL or firing.buried:
                continue
            code = firing.status_reason_code
            if firing.exit_code is None and "exit code unknown" not in (firing.status_reason_summary or ""):
                continue  # it never ran, or was stopped: no chain follows from that
            step_config = schedule.on_success if firing.status == "completed" else schedule.on_fail
            if step_config:
                self._expected[firing.id] = f"although it is {firing.status} ({code}), written by {step.act}"


class Liveness(Rule):
    """``stuck`` and ``ghost``: under a host that nobody disturbs, nothing due waits without a gate, nothing dead runs."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, object], float] = {}

    def inspect(self, now: float, at: float, facts: Facts) -> Iterator[Breach]:
        suspects = dict(self._stuck(now, facts)) | dict(self._ghosts(now, facts))
        calm = facts.calm_since if facts.hosts else at
        self._since = {key: max(self._since.get(key, at), calm, facts.undisturbed(str(key[1]))) for key in suspects}
        for key, since in self._since.items():
            if at - since > facts.pace.notice:
                yield Breach(key[0], f"for {at - since:.0f} s: {suspects[key]}")

    def _stuck(self, now: float, facts: Facts) -> Iterator[tuple[tuple[str, object], str]]:
        for schedule in facts.book.schedules.values():
            due = schedule.next_fire_at
            if due is None or due > now or not schedule.enabled or schedule.schedule_id in facts.broken:
                continue
            if not _held_up(schedule, now, facts):
                yield ("stuck", (schedule.schedule_id, due)), f"{schedule.name} is due since {now - due:.0f} s"

    def _ghosts(self, now: float, facts: Facts) -> Iterator[tuple[tuple[str, object], str]]:
        for firing in facts.book.running.values():
            process = facts.machine.of(firing.id)
            if process is not None and process.alive:
                continue
            schedule = facts.book.schedules[firing.schedule_id]
            if firing.dispatched_at is None and _held_up(schedule, now, facts, apart_from=firing):
                continue
            yield ("ghost", firing.id), f"{firing} has no process"


def _held_up(schedule: ScheduleRecord, now: float, facts: Facts, apart_from: Firing | None = None) -> bool:
    """Whether slots, rate or overlap keep it waiting."""
    running = [row for row in facts.book.running.values() if row is not apart_from]
    if facts.slots and len(running) >= facts.slots:
        return True
    if (
        apart_from is not None
        and schedule.overlap_policy == "skip"
        and any(row.schedule_id == schedule.schedule_id for row in running)
    ):
        return True
    if not schedule.rate_limit:
        return False
    since = now - schedule.rate_limit["window_sec"]  # type: ignore[operator]
    rows = (row for row in facts.book.of(schedule.schedule_id) if row is not apart_from)
    fired = sum(row.chain_depth == 0 and row.status in EXECUTED and row.fired_at >= since for row in rows)
    return bool(fired >= schedule.rate_limit["max_fires"])  # type: ignore[operator]


class Rest(Rule):
    """``left-open``: once everything has come to rest, no row says that something runs."""

    def at_end(self, observer: Observer, facts: Facts) -> Iterator[Breach]:
        for firing in facts.book.running.values():
            yield Breach("left-open", f"{firing} still runs")
        for firing in facts.book.firings.values():
            invocation = facts.book.invocations.get(firing.invocation_id or "")
            if invocation is not None and invocation.status == "running":
                yield Breach("left-open", f"the invocation of {firing.id} still runs")
