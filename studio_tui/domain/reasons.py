"""Why something is as it is, in the words of a list row."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

REASON_WORDS: Final = MappingProxyType(
    {
        "run.started.ok": "",
        "run.completed.ok": "",
        "run.completed_empty.no_evidence": "left no evidence",
        "run.completed.finalize_error": "done, but wrapping up failed",
        "run.completed.gate_rejected": "gate said no",
        "run.completed.spawn_refused": "done, one part was refused",
        "run.failed.exit_nonzero": "bad exit code",
        "run.failed.exception": "error",
        "run.failed.provider_retryable": "provider error, may pass",
        "run.failed.provider_nonretryable": "provider refused",
        "run.failed.missing_artifact": "required artifact missing",
        "run.failed.artifact_write": "could not write artifact",
        "run.failed.escalated": "escalated",
        "run.failed.missing_cwd": "directory missing",
        "run.failed.cwd_inherit_refused": "no usable directory",
        "run.failed.lease_attempts_exhausted": "worker lost too often",
        "run.failed.never_dispatched": "never launched",
        "run.timed_out.deadline": "limit reached",
        "run.aborted.user": "aborted by hand",
        "run.cancelled.sigint": "interrupted",
        "run.cancelled.sigterm": "terminated",
        "run.cancelled.system": "host shut down",
        "run.cancelled.orchestrator": "cancelled by its flow",
        "run.cancelled.manual_kill": "stopped by hand",
        "run.cancelled.force_kill": "killed by hand",
        "run.cancelled.stale_auto": "stale, cleaned up",
        "run.paused.operator": "paused by hand",
        "run.queued.lease_expired": "worker lost, queued again",
        "run.skipped.waiter_cap_exceeded": "too many waiting",
        "run.skipped.duration_exceeds_lease": "longer than its lease",
        "session.stale.no_heartbeat": "no sign of life",
        "session.orphaned.no_process": "process gone",
        "session.zombie.stale_locks": "process gone, locks left",
        "session.phantom.process_dead": "process gone",
        "session.phantom.missing_artifacts": "process and files gone",
        "session.reopened.by_resume": "resumed",
        "play.pending.created": "",
        "play.pending.waiting_on_deps": "waits for other plays",
        "play.pending.ready": "ready",
        "play.blocked.invalid_deps": "dependencies invalid",
        "play.blocked.dep_failed": "a dependency failed",
        "play.gate_failed.verdict": "gate said no",
        "play.escalated.gate_twice": "gate said no twice",
        "play.merged.ok": "",
        "show.active.created": "",
        "show.blocked.no_ready_plays": "no play is ready",
        "show.completed.final_gate": "final gate passed",
        "show.completed.all_plays_merged": "all plays merged",
        "show.aborted.operator": "aborted by hand",
        "schedule.queued.created": "queued",
        "schedule.fired.due": "",
        "schedule.skipped.precondition": "precondition not met",
        "schedule.skipped.overlap": "previous one still ran",
        "schedule.skipped.missed_fire": "missed",
        "schedule.deferred.capacity": "no free slot",
        "schedule.budget.exhausted": "budget used up",
        "schedule_definition.created.observed": "created",
        "schedule_definition.enabled.observed": "turned on",
        "schedule_definition.deleted.observed": "deleted",
        "schedule_definition.disabled.unspecified": "turned off",
        "schedule_definition.disabled.max_runs": "run limit reached",
        "schedule_definition.disabled.budget_exhausted": "budget used up",
        "schedule_definition.disabled.declared": "turned off by its declaration",
        "schedule_definition.disabled.omitted": "no longer declared",
        "schedule_definition.disabled.manual": "turned off by hand",
        "team.archived.operator": "archived by hand",
        "legacy.imported": "imported",
        "dispatch.pending.enqueued": "queued",
        "dispatch.delivering.attempt": "being delivered",
        "dispatch.delivered.transport_ok": "delivered",
        "dispatch.pending.retry_backoff": "will be tried again",
        "dispatch.dead_letter.max_attempts": "gave up after retries",
        "dispatch.dead_letter.ack_timeout": "never acknowledged",
        "dispatch.expired.deadline": "expired",
        "dispatch.acked.consumer": "acknowledged",
    }
)
"""Every reason code of lionagi 0.36 in words; empty where the state word already says it all."""

_TOKEN_WORDS: Final = MappingProxyType(
    {
        "phantom_reaped": "process gone, reaped",
        "mirror_idle_reaped": "mirror went quiet",
        "process_exited_without_status": "process gone, no status left",
        "invocation_deadline_exceeded": "limit reached",
        "zero_session_invocation_timeout": "started no run in time",
    }
)
_TOKEN: Final = re.compile(r"[a-z]+(?:_[a-z]+)+\Z")


def reason_words(code: str | None, summary: str | None, status: str | None = None) -> str:
    """A short reason for a row: the summary where it says something, else what the code means, else the code itself.

    A summary that only repeats the ``status`` says nothing. Machine words (``phantom_reaped``) are put in plain ones.
    One line; empty when there is no reason.
    """
    said = " ".join((summary or "").split())
    if said == status:
        said = ""
    if _TOKEN.match(said):
        return _TOKEN_WORDS.get(said, said.replace("_", " "))
    if said:
        return said
    return REASON_WORDS.get(code, code) if code else ""
