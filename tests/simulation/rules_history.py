"""Every change of a status has its line of history, every line its change; what has ended stays so and explains itself."""

from __future__ import annotations

from collections.abc import Iterator

from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.domain.statuses import VOCABULARIES
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import TERMINAL, Firing, Invocation, Line, Observer, Step


class History(Rule):
    """``history`` and ``ended-once``."""

    def __init__(self) -> None:
        self._statuses: dict[tuple[str, str], str] = {}

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        lines: dict[tuple[str, str], list[Line]] = {}
        for line in step.lines:
            lines.setdefault((line.entity_type, line.entity_id), []).append(line)
        for kind, rows in (("schedule_run", step.firings), ("invocation", step.invocations)):
            for old, new in rows:
                yield from self._row(kind, old, new, lines.get((kind, new.id), []))
        for before, after in step.schedules:
            yield from self._switch(
                before is not None and before.enabled, after.enabled, lines.get(("schedule", after.schedule_id))
            )
        for key, found in lines.items():
            yield from self._follow(key, found)

    def at_end(self, observer: Observer, facts: Facts) -> Iterator[Breach]:
        stored = observer.all_firings()
        for run_id, firing in facts.book.firings.items():
            if stored.get(run_id) != firing:
                yield Breach("ended-once", f"{run_id} was changed after its end: {firing} -> {stored.get(run_id)}")
        history = observer.history()
        for run_id, firing in stored.items():
            lines = history.get(("schedule_run", run_id), [])
            if not lines or lines[-1][1:] != (firing.status, firing.status_reason_code):
                yield Breach("history", f"{run_id} is {firing.status}, its history says {lines}")

    def _row(self, kind: str, old: Firing | Invocation | None, new: Firing | Invocation, lines: list[Line]) -> Iterator[Breach]:
        changed = old is None or (old.status, old.status_reason_code) != (new.status, new.status_reason_code)
        if changed and not lines:
            yield Breach("history", f"{kind} {new.id} became {new.status} without a line")
        if old is None and lines and lines[0].previous_status is not None:
            yield Breach("history", f"{kind} {new.id} begins with {lines[0]}")
        if lines and (lines[-1].status, lines[-1].reason_code) != (new.status, new.status_reason_code):
            yield Breach("history", f"{kind} {new.id} is {new.status} ({new.status_reason_code}), its last line is {lines[-1]}")
        if old is not None and old.status in TERMINAL:
            yield Breach("ended-once", f"{kind} {new.id} had ended as {old.status} and was changed: {new}")

    def _switch(self, before: bool, after: bool, lines: list[Line] | None) -> Iterator[Breach]:
        if before != after and not lines:
            yield Breach("history", f"a schedule was turned {'on' if after else 'off'} without a line")

    def _follow(self, key: tuple[str, str], lines: list[Line]) -> Iterator[Breach]:
        kind, entity = key
        vocabulary = VOCABULARIES[kind]
        made = key not in self._statuses
        for line in lines:
            # What runs record of themselves has no history here; what others write about them has.
            known = self._statuses.get(key, line.previous_status if kind == "session" else None)
            if known != line.previous_status:
                yield Breach("history", f"{kind} {entity} was {known}, the line says {line}")
            if known in vocabulary.terminal and not made:
                yield Breach("ended-once", f"{kind} {entity} had ended as {known}, then {line}")
            if known is not None and not vocabulary.allows(known, line.status):
                yield Breach("history", f"{kind} {entity} may not go from {known} to {line.status}")
            if line.reason_code not in REASON_WORDS:
                yield Breach("explained", f"{kind} {entity}: unknown reason {line.reason_code}")
            self._statuses[key] = line.status


class Explained(Rule):
    """``explained``: each firing that has ended says when, why, and what was left of it."""

    def see(self, step: Step, facts: Facts) -> Iterator[Breach]:
        for _, firing in step.firings:
            if firing.status in TERMINAL:
                missing = ", ".join((*_missing(firing), *_why(firing)))
                if missing:
                    yield Breach("explained", f"{firing.id} is {firing.status} and lacks {missing}: {firing}")
        for _, invocation in step.invocations:
            if invocation.status != "running" and invocation.ended_at is None:
                yield Breach("explained", f"invocation {invocation.id} is {invocation.status} without an end")


_CAUSES = (
    *("scheduled", "missed_recovery", "manual", "skipped_overlap", "skipped_missed_fire", "deferred_capacity"),
    *("budget_exhausted", "chain_from"),
)


def _why(firing: Firing) -> Iterator[str]:
    """Each row says what made it: one thing, or a chain step what made the first one too."""
    causes = [cause for cause in _CAUSES if firing.context.get(cause)]
    if not causes or (len(causes) > 1 and not firing.chain_depth):
        yield f"its one cause (it names {causes})"


def _missing(firing: Firing) -> Iterator[str]:
    if firing.status_reason_code not in REASON_WORDS:
        yield "a known reason"
    if not (firing.status_reason_summary or "").strip():
        yield "a reason in words"
    if firing.status == "skipped":
        return
    if firing.ended_at is None:
        yield "its end"
    if firing.status != "completed" and firing.exit_code != 0 and not (firing.error_detail or "").strip():
        yield "an error_detail"
    unknown = "exit code unknown" in (firing.status_reason_summary or "")
    if firing.status == "completed" and firing.exit_code is None and not unknown:
        yield "an exit code"
