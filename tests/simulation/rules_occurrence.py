"""Each due instant is answered for once: launched, skipped or failed, as its schedule's policy says, and never twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from studio_tui.domain.cadence import CadenceError, next_fire
from studio_tui.domain.gates import MISSED_GRACE
from studio_tui.domain.schedules import ScheduleRecord
from tests.simulation.machine import Process
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.rules_cadence import SLACK
from tests.simulation.watching import EXECUTED, Firing, Observer, Step

Origin = tuple[object, ...]
_AGAIN = re.compile(r"fired again as ([0-9a-f]{12})")


class Occurrences(Rule):
    """``launched-once``, ``lost``, ``unclaimed`` and ``refired``."""

    def __init__(self) -> None:
        self._origins: dict[str, Origin] = {}
        self._launches: Counter[Origin] = Counter()
        self._answered: dict[Origin, str] = {}

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        moved = {new.schedule_id: old for old, new in step.moved}
        for firing in step.made:
            if firing.status in EXECUTED:
                self._origins[firing.id] = self._origin(firing, step, moved.get(firing.schedule_id), facts)
        if step.by_person:
            return
        for old, _ in step.moved:
            at = old.next_fire_at
            if at is None:
                continue
            origin: Origin = ("due", old.schedule_id, facts.epoch(old.schedule_id), at)
            if origin in self._answered:
                yield Breach("launched-once", f"{old.name} answers for {at!r} again: {self._answered[origin]}, now {step.act}")
            answer = _answer(old, at, step, facts)
            if answer is None:
                yield Breach("lost", f"{old.name} passed over {at!r} by {step.act} without a row")
            self._answered[origin] = answer or "nothing"

    def launched(self, process: Process, facts: Facts) -> Iterator[Breach]:
        row = facts.book.firings.get(process.run_id)
        if row is None or row.status != "running":
            yield Breach("unclaimed", f"process {process.identity.pid} of {process.run_id} was started without a running row")
            return
        origin = self._origins[process.run_id]
        self._launches[origin] += 1
        if self._launches[origin] > 1:
            yield Breach("launched-once", f"{process.run_id}: {origin} was launched before")

    def at_end(self, observer: Observer, facts: Facts) -> Iterator[Breach]:
        for firing in facts.book.firings.values():
            found = _AGAIN.search(firing.status_reason_summary or "")
            if found and found[1] not in facts.book.firings:
                yield Breach("lost", f"{firing.id} says it was fired again as {found[1]}, which does not exist")

    def _origin(self, firing: Firing, step: Step, moved: ScheduleRecord | None, facts: Facts) -> Origin:
        """What a row answers for: an instant of a schedule, an order, a chain step, or what an earlier row answered for."""
        if firing.chain_depth:
            return ("chain", firing.chain_parent_id)
        if moved is not None:
            return ("due", firing.schedule_id, facts.epoch(firing.schedule_id), moved.next_fire_at)
        for _, row in step.firings:
            if row.buried and row.trigger_context == firing.trigger_context and row.schedule_id == firing.schedule_id:
                return self._origins[row.id]
        return ("by hand", firing.id)


class Missed(Rule):
    """``missed-policy`` and ``false-missed``: what passed unseen is settled by its policy, and nothing else is called missed."""

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        for old, _ in () if step.by_person else step.moved:
            at = old.next_fire_at
            for firing in step.made:
                if at is None or firing.schedule_id != old.schedule_id or firing.chain_depth:
                    continue
                yield from self._judge(old, at, firing, step, facts)

    def _judge(self, old: ScheduleRecord, at: float, firing: Firing, step: Step, facts: Facts) -> Iterator[Breach]:
        where = f"{old.name}, {step.now - at:.0f} s late ({old.missed_fire_policy}), {firing.id} by {step.act}"
        if firing.status_reason_code == "schedule.skipped.missed_fire":
            if step.now - at <= MISSED_GRACE:
                yield Breach("false-missed", f"{where}: within the grace")
            if old.missed_fire_policy == "run_once" and not facts.passed_over:
                yield Breach("missed-policy", f"{where}: its policy is to run once")
            return
        late = step.now - at > MISSED_GRACE + SLACK
        if not late or old.missed_fire_policy != "skip":
            return
        seen = facts.seen.get((step.act.who, old.schedule_id, at))
        if seen is not None and seen[1] != facts.epoch(old.schedule_id):
            return  # the policy was another one when it was seen
        if seen is None or seen[0] > MISSED_GRACE + SLACK:
            first = "never before" if seen is None else f"first when it was {seen[0]:.0f} s late"
            yield Breach("missed-policy", f"{where}: {firing.status}, although it was missed (this host saw it {first})")


def _answer(old: ScheduleRecord, at: float, step: Step, facts: Facts) -> str | None:
    """What answers for an instant that was moved on from, or ``None`` when nothing does."""
    for firing in step.made:
        if firing.schedule_id == old.schedule_id and not firing.chain_depth and not firing.manual:
            return f"{firing.id} {firing.status}"
    if at > step.now:
        return None if _is_instant(old, at, facts) else "not an instant of its cadence any more"
    fired = next((row for row in facts.book.of(old.schedule_id) if _counts(row, at)), None)
    return None if fired is None else f"{fired.id}, fired since"


def _is_instant(old: ScheduleRecord, at: float, facts: Facts) -> bool:
    try:
        return next_fire(old, at - 0.5, facts.zone) == at
    except CadenceError:
        return False


def _counts(row: Firing, at: float) -> bool:
    return row.chain_depth == 0 and row.status in EXECUTED and row.fired_at >= at
