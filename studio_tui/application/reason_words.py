"""Reason codes in words (the codes of lionagi 0.36, state/reasons)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

WORDS: Final = MappingProxyType(
    {
        "run.started.ok": "began",
        "run.completed.ok": "ended well",
        "run.completed_empty.no_evidence": "ended without a commit or artifact to show for it",
        "run.completed.finalize_error": "the result stands, wrapping up failed",
        "run.completed.gate_rejected": "a gate said no, the rest was skipped",
        "run.completed.spawn_refused": "no capacity for a further agent",
        "run.failed.exit_nonzero": "the process exited with an error",
        "run.failed.exception": "an exception ended it",
        "run.failed.provider_retryable": "the provider failed; trying again may help",
        "run.failed.provider_nonretryable": "the provider refused",
        "run.failed.missing_artifact": "a required artifact is missing",
        "run.failed.artifact_write": "an artifact could not be written",
        "run.failed.escalated": "escalated: undeclared output",
        "run.failed.missing_cwd": "its working directory was missing",
        "run.failed.cwd_inherit_refused": "no safe working directory",
        "run.failed.lease_attempts_exhausted": "its worker was lost too often",
        "run.failed.never_dispatched": "recorded but never launched",
        "run.timed_out.deadline": "ran into its deadline",
        "run.aborted.user": "aborted by a person",
        "run.cancelled.sigint": "interrupted (SIGINT)",
        "run.cancelled.sigterm": "stopped (SIGTERM)",
        "run.cancelled.system": "cancelled by the system",
        "run.cancelled.orchestrator": "cancelled by its orchestrator",
        "run.cancelled.manual_kill": "stopped by a person",
        "run.cancelled.force_kill": "killed by a person",
        "run.cancelled.stale_auto": "cancelled: no sign of life",
        "run.paused.operator": "paused by a person",
        "run.queued.lease_expired": "its worker was lost; queued again",
        "run.skipped.waiter_cap_exceeded": "too many were waiting",
        "run.skipped.duration_exceeds_lease": "longer than a worker may hold it",
        "session.stale.no_heartbeat": "no sign of life",
        "session.orphaned.no_process": "no process behind it",
        "session.zombie.stale_locks": "ended, but its locks remain",
        "session.phantom.process_dead": "its process died",
        "session.phantom.missing_artifacts": "its artifacts are gone",
        "session.reopened.by_resume": "resumed",
        "play.pending.created": "not started",
        "play.pending.waiting_on_deps": "waits for other plays",
        "play.pending.ready": "ready to start",
        "play.blocked.invalid_deps": "depends on plays that do not exist",
        "play.blocked.dep_failed": "a play it depends on failed",
        "play.gate_failed.verdict": "the gate said no",
        "play.escalated.gate_twice": "the gate said no twice",
        "play.merged.ok": "merged",
        "show.active.created": "began",
        "show.blocked.no_ready_plays": "no play can start",
        "show.completed.final_gate": "passed the final gate",
        "show.completed.all_plays_merged": "all plays merged",
        "show.aborted.operator": "aborted by a person",
        "schedule.queued.created": "queued",
        "schedule.fired.due": "fired when due",
        "schedule.skipped.precondition": "skipped: not possible then",
        "schedule.skipped.overlap": "skipped: the firing before was still running",
        "schedule.skipped.missed_fire": "skipped: nobody hosted the scheduler then",
        "schedule.deferred.capacity": "put off: no free slot",
        "schedule.budget.exhausted": "skipped: the budget is used up",
        "schedule_definition.created.observed": "created",
        "schedule_definition.enabled.observed": "turned on",
        "schedule_definition.deleted.observed": "deleted",
        "schedule_definition.disabled.unspecified": "turned off",
        "schedule_definition.disabled.max_runs": "turned off: all its runs are used",
        "schedule_definition.disabled.budget_exhausted": "turned off: its budget is used up",
        "schedule_definition.disabled.declared": "turned off by its declaration",
        "schedule_definition.disabled.omitted": "turned off: no longer declared",
        "schedule_definition.disabled.manual": "turned off by a person",
        "team.archived.operator": "archived by a person",
        "legacy.imported": "imported",
    }
)

_SILENT: Final = frozenset({"run.started.ok", "run.completed.ok", "schedule.fired.due", "play.merged.ok"})
"""Codes that say only that all is as it should be; a list needs no words for them."""


def in_words(code: str | None) -> str:
    """What a reason code means; an unknown code stands for itself, none is empty."""
    return "" if code is None else WORDS.get(code, code)


def reason_text(status: str | None, code: str | None, summary: str | None) -> str:
    """Why a record is what it is, in one line: what its writer noted, else the meaning of its code.

    A note that only repeats the status says nothing.
    """
    noted = " ".join((summary or "").split())
    if noted and noted != status:
        return noted
    return "" if code in _SILENT else in_words(code)
