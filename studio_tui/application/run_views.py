"""From what the store knows of a run to what a screen shows of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from studio_tui.application.models.common import StatusChange
from studio_tui.application.models.runs import BranchSummary, RunSummary
from studio_tui.application.moments import Times, elapsed
from studio_tui.domain.health import run_health, run_state
from studio_tui.domain.reasons import reason_words
from studio_tui.domain.runs import (
    BranchRecord,
    RunRecord,
    TransitionRecord,
    display_name,
    effective_kind,
    effective_status,
    reported_cost,
    shown_model,
)

_TIMES: Final = ("created_at", "updated_at", "started_at", "ended_at", "last_message_at")


@dataclass(frozen=True, slots=True)
class ReadableRun:
    """A run whose times can be calculated with, and everything about it that could not be read."""

    run: RunRecord
    problems: tuple[str, ...]


def readable(run: RunRecord) -> ReadableRun:
    """The run with impossible times unknown, and its problems named."""
    times = Times()
    clean: dict[str, Any] = {name: times.read(name, getattr(run, name)) for name in _TIMES}
    defects = tuple(f"{column} cannot be read" for column in run.defects)
    return ReadableRun(replace(run, **clean) if times.problems else run, (*defects, *times.problems))


def summary_fields(run: RunRecord, *, now: float, alive: bool | None) -> dict[str, object]:
    """The fields of :class:`RunSummary` for one run; ``alive`` says whether its process was found (``None``: unknown)."""
    entry = readable(run)
    run = entry.run
    health = run_health(run, now, alive)
    return {
        "run_id": run.run_id,
        "name": display_name(run),
        "state": run_state(run, health),
        "status": effective_status(run.status),
        "effective_health": health,
        "playbook_name": run.playbook_name,
        "agent_name": run.agent_name,
        "invocation_kind": effective_kind(run.kind),
        "invocation_id": run.invocation_id,
        "project": run.project,
        "model": shown_model(run.model),
        "provider": run.provider,
        "started_at": run.started_at,
        "ended_at": run.ended_at,
        "ended_at_is_approximate": run.ended_at_is_approximate and run.ended_at is not None,
        "updated_at": run.updated_at,
        "last_message_at": run.last_message_at,
        "duration": duration(run, now),
        "current_phase": run.current_phase,
        "status_reason_code": run.reason_code,
        "status_reason_summary": run.reason_summary,
        "reason": reason_words(run.reason_code, run.reason_summary, run.status),
        "total_cost_usd": reported_cost(run),
        "input_tokens": run.input_tokens,
        "output_tokens": run.output_tokens,
        "problems": entry.problems,
    }


def summarize(run: RunRecord, *, now: float, alive: bool | None) -> RunSummary:
    """One run as a list shows it."""
    return RunSummary.model_validate(summary_fields(run, now=now, alive=alive))


def duration(run: RunRecord, now: float) -> float | None:
    """Seconds that a run took, or has taken so far; ``None`` when its end was not recorded."""
    if effective_status(run.status) == "running":
        return elapsed(run.started_at, now)
    measured = elapsed(run.started_at, run.ended_at)
    if measured is None and run.duration_ms is not None and run.duration_ms >= 0:
        return run.duration_ms / 1000
    return measured


def branch_summary(branch: BranchRecord) -> BranchSummary:
    """One branch by the name that tells it apart: its own, its agent's, else the end of its id."""
    times = Times()
    return BranchSummary(
        branch_id=branch.branch_id,
        name=branch.name or branch.agent_name or branch.branch_id[-12:],
        model=shown_model(branch.model),
        provider=branch.provider,
        status=branch.status,
        started_at=times.read("started_at", branch.started_at),
        ended_at=times.read("ended_at", branch.ended_at),
    )


def status_change(transition: TransitionRecord) -> StatusChange:
    """One entry of a status history."""
    return StatusChange(
        at=Times().read("created_at", transition.created_at),
        previous_status=transition.previous_status,
        status=transition.status,
        reason_code=transition.reason_code,
        reason_summary=transition.reason_summary or None,
        source=transition.source,
        actor=transition.actor,
    )
