"""How a firing ended, decided from the leader's exit code and from the runs that it started (lionagi 0.36, with one change).

The change: a leader that ended with another code than 0 has failed, even when every run it started says ``completed``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from studio_tui.application.ports import Outcome, OutputTail
from studio_tui.domain.runs import RunRecord, effective_status
from studio_tui.domain.statuses import SESSION

TAIL_BYTES: Final = 2048
"""How much of the end of each stream ``error_detail`` keeps."""

_FIRING_STATUS: Final = MappingProxyType(
    {
        "completed": "completed",
        "completed_empty": "failed",
        "failed": "failed",
        "timed_out": "timed_out",
        "cancelled": "cancelled",
        "aborted": "cancelled",
    }
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The status of an invocation, its registered reason code, and the reason in words."""

    status: str
    reason_code: str
    reason: str

    @property
    def firing_status(self) -> str:
        """What it makes of the row in ``schedule_runs``."""
        return _FIRING_STATUS[self.status]


def judge(exit_code: int | None, runs: Sequence[RunRecord]) -> Verdict:
    """How a firing ended whose leader is gone; ``exit_code`` is ``None`` when nobody was there to learn it."""
    verdict = _by_runs(runs) or _by_exit_code(exit_code, any_run=bool(runs))
    if exit_code not in (None, 0) and verdict.status == "completed":
        return Verdict("failed", "run.failed.exit_nonzero", f"{_ended(exit_code)}, although every run of it says completed")
    return verdict


def all_ended(runs: Sequence[RunRecord]) -> bool:
    """Whether there are runs and each has a terminal status."""
    return bool(runs) and all(effective_status(run.status) in SESSION.terminal for run in runs)


def outcome(
    run_id: str,
    invocation_id: str | None,
    verdict: Verdict,
    *,
    ended_at: float,
    exit_code: int | None = None,
    error_detail: str | None = None,
    runs: Sequence[RunRecord] = (),
) -> Outcome:
    """The terminal rows of a verdict. ``error_detail`` is kept only when the firing did not complete."""
    failed = verdict.firing_status != "completed"
    return Outcome(
        run_id=run_id,
        invocation_id=invocation_id,
        status=verdict.firing_status,
        invocation_status=verdict.status,
        reason_code=verdict.reason_code if failed else "run.completed.ok",
        invocation_reason_code=verdict.reason_code,
        reason=verdict.reason,
        ended_at=ended_at,
        exit_code=exit_code,
        error_detail=error_detail if failed else None,
        actor=run_id,
        child_statuses=tuple(effective_status(run.status) for run in runs),
        child_ids=tuple(run.run_id for run in runs),
    )


def by_recovery(ended: Outcome) -> Outcome:
    """The same outcome, found by a host that did not launch the firing."""
    return replace(ended, source="system", actor="scheduler_startup_reconciliation")


def failure(reason: str, code: str = "run.failed.exception") -> Verdict:
    """A firing that failed without a process of its own to ask."""
    return Verdict("failed", code, reason)


def timed_out(deadline: float) -> Verdict:
    """A firing that was stopped at its deadline (seconds)."""
    return Verdict("timed_out", "run.timed_out.deadline", f"stopped at its deadline of {deadline:g} s")


def shut_down() -> Verdict:
    """A firing that was stopped because its host was told to end what it runs."""
    return Verdict("cancelled", "run.cancelled.system", "stopped when its scheduler was shut down")


def error_text(tail: OutputTail | None) -> str | None:
    """The end of the output in the form that lionagi keeps: stderr, then stdout under a heading."""
    if tail is None:
        return None
    if not tail.stdout.strip():
        return tail.stderr or None
    labelled = f"[stdout]\n{tail.stdout}"
    return f"{tail.stderr}\n{labelled}" if tail.stderr.strip() else labelled


def _by_runs(runs: Sequence[RunRecord]) -> Verdict | None:
    """What the runs alone prove, worst first; ``None`` when one still runs or there is none."""
    statuses = [effective_status(run.status) for run in runs]
    if "timed_out" in statuses:
        return Verdict("timed_out", "run.timed_out.deadline", "a run of it timed out")
    if "failed" in statuses:
        return Verdict("failed", "run.failed.exception", "a run of it failed")
    if "aborted" in statuses:
        interrupted = any(run.status == "aborted" and run.reason_code == "run.cancelled.sigint" for run in runs)
        code = "run.cancelled.sigint" if interrupted else "run.aborted.user"
        return Verdict("aborted", code, "a run of it was interrupted" if interrupted else "a run of it was aborted")
    if "cancelled" in statuses:
        return Verdict("cancelled", "run.cancelled.system", "a run of it was cancelled")
    if not statuses or set(statuses) - {"completed", "completed_empty"}:
        return None
    if "completed_empty" in statuses:
        return Verdict("completed_empty", "run.completed_empty.no_evidence", "a run of it left no evidence of work")
    return Verdict("completed", "run.completed.ok", "every run of it completed")


def _by_exit_code(exit_code: int | None, *, any_run: bool) -> Verdict:
    if exit_code is None:
        return failure("the process is gone and its exit code unknown")
    if exit_code != 0:
        return Verdict("failed", "run.failed.exit_nonzero", _ended(exit_code))
    if any_run:
        return Verdict(
            "completed_empty",
            "run.completed_empty.no_evidence",
            "the process ended with code 0 while a run of it had not reached its end",
        )
    return Verdict("completed", "run.completed.ok", "the process ended with code 0")


def _ended(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        return f"the process was ended by signal {-exit_code}"
    return f"the process ended with code {exit_code}"
