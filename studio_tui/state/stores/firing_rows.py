"""The rows of a firing, column by column as a lionagi 0.36 daemon writes them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from studio_tui.application.ports import Occurrence, Outcome, Refusal
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.lifecycle import CREATED, NEXT_MOMENT, creation, reason_columns, transition

FIRED: Final = "Schedule run fired because the trigger was due."
FIRED_BY_HAND: Final = "Schedule run fired by hand."

_NO_LAUNCH: Final[Mapping[str, object]] = MappingProxyType({"action_args": [], "chain_depth": 0})


def invocation_row(occurrence: Occurrence, now: float) -> dict[str, Any]:
    """The invocation: it must exist before the child, whose run refers to it."""
    schedule = occurrence.schedule
    return {
        "id": occurrence.invocation_id,
        "skill": f"scheduled:{schedule.name}",
        "plugin": schedule.trigger_type,
        "prompt": occurrence.prompt,
        "started_at": occurrence.fired_at,
        "status": "running",
        "session_count": 0,
        "created_at": now,
        "updated_at": now,
        "node_metadata": {"action_kind": schedule.action_kind},
        **reason_columns(CREATED["invocation", "running"], "", ()),
    }


def occurrence_row(occurrence: Occurrence, now: float) -> dict[str, Any]:
    """The running firing, as it stands after its two lines of history."""
    return {
        "id": occurrence.run_id,
        "schedule_id": occurrence.schedule.schedule_id,
        "invocation_id": occurrence.invocation_id,
        "trigger_context": dict(occurrence.trigger_context),
        "action_kind": occurrence.schedule.action_kind,
        "action_args": list(occurrence.argv),
        "status": "running",
        "chain_parent_id": occurrence.chain_parent_id,
        "chain_depth": occurrence.chain_depth,
        "fired_at": occurrence.fired_at,
        "created_at": now,
        "updated_at": now + NEXT_MOMENT,
        **reason_columns(occurrence.reason_code, _fired(occurrence), _of_schedule(occurrence.schedule)),
    }


def occurrence_lines(occurrence: Occurrence, now: float) -> tuple[dict[str, Any], ...]:
    """The invocation began; the firing was made; the firing was fired, and why."""
    schedule_id = occurrence.schedule.schedule_id
    run_id = occurrence.run_id
    metadata = {"trigger_context": dict(occurrence.trigger_context), "chain_depth": occurrence.chain_depth}
    evidence = _of_schedule(occurrence.schedule)
    return (
        creation("invocation", occurrence.invocation_id, "running", actor="create_invocation", now=now),
        creation("schedule_run", run_id, "running", actor="create_schedule_run_and_advance", now=now),
        transition(
            "schedule_run",
            run_id,
            "running",
            "running",
            occurrence.reason_code,
            _fired(occurrence),
            evidence,
            "system",
            schedule_id,
            now + NEXT_MOMENT,
            metadata,
        ),
    )


def refusal_row(refusal: Refusal, now: float) -> dict[str, Any]:
    """A skip has no end and no output; a launch that was refused has both: its message."""
    failed = refusal.status == "failed"
    return {
        "id": refusal.run_id,
        "schedule_id": refusal.schedule.schedule_id,
        "trigger_context": dict(refusal.trigger_context),
        "action_kind": refusal.schedule.action_kind,
        **_NO_LAUNCH,
        "status": refusal.status,
        "fired_at": refusal.at,
        "ended_at": refusal.at if failed else None,
        "error_detail": refusal.reason if failed else None,
        "created_at": now,
        "updated_at": now + NEXT_MOMENT,
        **reason_columns(refusal.reason_code, refusal.reason, _of_schedule(refusal.schedule)),
    }


def refusal_lines(refusal: Refusal, now: float) -> tuple[dict[str, Any], ...]:
    """The row was made with the general reason of its status; then it got its real one."""
    schedule_id = refusal.schedule.schedule_id
    actor = "create_schedule_run" if refusal.status == "skipped" else "create_schedule_run_and_advance"
    return (
        creation("schedule_run", refusal.run_id, refusal.status, actor=actor, now=now),
        transition(
            "schedule_run",
            refusal.run_id,
            refusal.status,
            refusal.status,
            refusal.reason_code,
            refusal.reason,
            _of_schedule(refusal.schedule),
            "system",
            schedule_id,
            now + NEXT_MOMENT,
            _cause(refusal),
        ),
    )


def firing_end(outcome: Outcome) -> dict[str, Any]:
    """How the firing's own row ends, for ``write_status``."""
    return {
        "reason_code": outcome.reason_code,
        "summary": outcome.reason,
        "evidence": [{"kind": "invocation", "id": outcome.invocation_id}] if outcome.invocation_id else [],
        "source": outcome.source,
        "actor": outcome.actor or outcome.run_id,
        "extra": {"exit_code": outcome.exit_code, "ended_at": outcome.ended_at, "error_detail": outcome.error_detail},
        "metadata": {**_exit_code(outcome), "invocation_status": outcome.invocation_status},
    }


def invocation_end(outcome: Outcome) -> dict[str, Any]:
    """How its invocation ends, for ``write_status``. Evidence names the runs and never the invocation itself, which would take
    it out of the peer's latency figures."""
    ours = outcome.source == "executor"
    return {
        "reason_code": outcome.invocation_reason_code,
        "summary": outcome.reason,
        "evidence": [{"kind": "session", "id": run_id} for run_id in outcome.child_ids],
        "source": outcome.source,
        "actor": outcome.invocation_id if ours else outcome.actor,
        "extra": {"ended_at": outcome.ended_at},
        "metadata": {"child_statuses": list(outcome.child_statuses), **_exit_code(outcome)},
    }


def _exit_code(outcome: Outcome) -> dict[str, object]:
    return {} if outcome.exit_code is None else {"exit_code": outcome.exit_code}


def _of_schedule(schedule: ScheduleRecord) -> list[dict[str, str]]:
    return [{"kind": "schedule", "id": schedule.schedule_id}]


def _fired(occurrence: Occurrence) -> str:
    return FIRED_BY_HAND if occurrence.trigger_context.get("manual") is True else FIRED


def _cause(refusal: Refusal) -> dict[str, object]:
    """The figures that the peer keeps with a skip."""
    if refusal.reason_code == "schedule.skipped.overlap":
        return {"overlap_policy": refusal.schedule.overlap_policy}
    if refusal.reason_code == "schedule.skipped.missed_fire":
        due = refusal.trigger_context.get("missed_fire_at")
        return {"missed_fire_policy": refusal.schedule.missed_fire_policy, "missed_fire_at": due}
    return {}
