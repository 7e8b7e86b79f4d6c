"""Builds whose gates let too much through, or too little."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from studio_tui.domain import gates
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler.admission import Admission
from tests.simulation.mutant import Mutant
from tests.simulation.simple import lasting
from tests.simulation.stages import alone


def _without(patch: pytest.MonkeyPatch, gate: str, **limits: Any) -> None:
    """A gate that lets everything through, and a claim that does not count for it either."""
    original = Admission.limits

    async def always(*_arguments: object) -> gates.Verdict:
        return gates.Verdict(gate, True, "not asked", evidence={"limit": 0, "running": 0})

    patch.setattr(Admission, gate, always)
    patch.setattr(Admission, "limits", lambda self, schedule, now: replace(original(self, schedule, now), **limits))


def overlap_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_overlap", alone=False)


def slots_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "slot", slots=0)


def rate_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_rate", max_fires=None)


def max_runs_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_max_runs", max_runs=None)

    async def none(*_arguments: object) -> None:
        return None

    patch.setattr(Admission, "max_runs_reached", none)


def budget_gate_removed(patch: pytest.MonkeyPatch) -> None:
    _without(patch, "_budget", budget_usd=None, budget_tokens=None)


def claim_without_limits(patch: pytest.MonkeyPatch) -> None:
    """As it was first: the gates are asked, then the row is inserted, and another console may fire in between."""
    patch.setattr(Admission, "limits", lambda self, schedule, now: None)


def one_run_more(patch: pytest.MonkeyPatch) -> None:
    """``<=`` for ``<``, wherever it is counted."""
    _with_cap(patch, 1)


def turned_off_early(patch: pytest.MonkeyPatch) -> None:
    """The check after a firing counts the next one too."""
    original = Admission.max_runs_reached

    async def reached(self: Admission, schedule: ScheduleRecord) -> gates.Verdict | None:
        cap = schedule.max_runs
        return await original(self, schedule if cap is None or cap < 2 else replace(schedule, max_runs=cap - 1))

    patch.setattr(Admission, "max_runs_reached", reached)


def _with_cap(patch: pytest.MonkeyPatch, more: int) -> None:
    gate, limits = gates.max_runs, Admission.limits

    def wider(schedule: ScheduleRecord) -> ScheduleRecord:
        return schedule if schedule.max_runs is None else replace(schedule, max_runs=schedule.max_runs + more)

    patch.setattr(gates, "max_runs", lambda schedule, executed: gate(wider(schedule), executed))
    patch.setattr(Admission, "limits", lambda self, schedule, now: limits(self, wider(schedule), now))


def overlap_never_allowed(patch: pytest.MonkeyPatch) -> None:
    """The policy is not looked at."""
    gate, asked, limits = gates.overlap, Admission._overlap, Admission.limits

    def strict(schedule: ScheduleRecord) -> ScheduleRecord:
        return replace(schedule, overlap_policy="skip")

    async def overlap(self: Admission, schedule: ScheduleRecord, now: float, own_rows: int) -> gates.Verdict:
        return await asked(self, strict(schedule), now, own_rows)

    patch.setattr(gates, "overlap", lambda schedule, running: gate(strict(schedule), running))
    patch.setattr(Admission, "_overlap", overlap)
    patch.setattr(Admission, "limits", lambda self, schedule, now: limits(self, strict(schedule), now))


def one_slot_less(patch: pytest.MonkeyPatch) -> None:
    """``>`` for ``>=``."""
    original = Admission.__init__

    def init(self: Admission, *arguments: Any, slots: int, **more: Any) -> None:
        original(self, *arguments, slots=slots - 1 if slots > 1 else slots, **more)

    patch.setattr(Admission, "__init__", init)


_SHORT, _COSTLY = lasting(1.0, 2.0), lasting(1.0, 2.0, recording=1.0)

MUTANTS = (
    Mutant("overlap gate removed", overlap_removed, {"overlap"}),
    Mutant("slots gate removed", slots_gate_removed, {"slots"}),
    Mutant("rate gate removed", rate_gate_removed, {"rate"}),
    Mutant("run limit removed", max_runs_gate_removed, {"max-runs"}, alone(_SHORT, max_runs=2)),
    Mutant("budget gate removed", budget_gate_removed, {"budget"}, alone(_COSTLY, budget_tokens=500)),
    Mutant(
        "gates not asked again by the claim", claim_without_limits, {"slots", "overlap", "max-runs", "rate", "budget"}, first=506
    ),
    Mutant("one run more than the limit", one_run_more, {"max-runs"}, alone(_SHORT, max_runs=2)),
    Mutant("turned off one run early", turned_off_early, {"switched-off"}, alone(_SHORT, max_runs=3)),
    Mutant("overlap skipped where it is allowed", overlap_never_allowed, {"false-skip"}),
    Mutant("a slot less than there are", one_slot_less, {"false-skip"}),
)
