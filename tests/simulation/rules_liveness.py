"""Under a host that nobody disturbs nothing waits without a reason."""

from __future__ import annotations

from collections.abc import Iterator

from studio_tui.domain.cadence import CadenceError, next_fire
from studio_tui.domain.schedules import ScheduleRecord
from tests.simulation.rules import Breach, Facts, Rule
from tests.simulation.watching import EXECUTED, Firing

_IN_TIME = 15.0
"""Seconds after an instant within which a host has seen it, lags of the store and of what else is due included."""


def too_late(console: str, schedule: ScheduleRecord, late: float, facts: Facts) -> Iterator[Breach]:
    """``late``: a host that nobody disturbs looks when something is due, not a while after."""
    at, notice = facts.clock(), facts.pace.notice
    disturbed = at - facts.calm_since <= notice or facts.edited_within(schedule.schedule_id, at, notice)
    held = facts.machine.clock.now() - facts.held_until <= notice
    if late > _IN_TIME and not disturbed and not held and schedule.schedule_id not in facts.broken:
        yield Breach("late", f"{console} sees that {schedule.name} is due {late:.1f} s after its instant")


class Liveness(Rule):
    """``stuck``, ``unarmed`` and ``ghost``: nothing due waits without a gate, nothing lacks its instant, nothing dead runs."""

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
            if not schedule.enabled or schedule.schedule_id in facts.broken:
                continue
            if due is None and _has_future(schedule, now, facts):
                yield ("unarmed", schedule.schedule_id), f"{schedule.name} has no next instant"
            if due is None or due > now:
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


def _has_future(schedule: ScheduleRecord, now: float, facts: Facts) -> bool:
    try:
        return next_fire(schedule, now, facts.zone) is not None
    except CadenceError:
        return False


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
