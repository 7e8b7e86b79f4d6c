"""How a firing ended: the table of lionagi 0.36, and the exit code that nothing hides."""

from __future__ import annotations

import pytest

from studio_tui.application.ports import OutputTail
from studio_tui.domain.runs import RunRecord
from studio_tui.scheduler.outcome import all_ended, error_text, judge, outcome

LOST = None


@pytest.mark.parametrize(
    ("exit_code", "statuses", "status", "firing_status", "reason_code"),
    [
        (0, [], "completed", "completed", "run.completed.ok"),
        (3, [], "failed", "failed", "run.failed.exit_nonzero"),
        (-9, [], "failed", "failed", "run.failed.exit_nonzero"),
        (0, ["completed"], "completed", "completed", "run.completed.ok"),
        (0, [None], "completed", "completed", "run.completed.ok"),
        (0, ["completed", "completed_empty"], "completed_empty", "failed", "run.completed_empty.no_evidence"),
        (1, ["completed_empty"], "completed_empty", "failed", "run.completed_empty.no_evidence"),
        (0, ["running"], "completed_empty", "failed", "run.completed_empty.no_evidence"),
        (0, ["completed", "running"], "completed_empty", "failed", "run.completed_empty.no_evidence"),
        (5, ["running"], "failed", "failed", "run.failed.exit_nonzero"),
        (0, ["completed", "failed"], "failed", "failed", "run.failed.exception"),
        (0, ["failed", "timed_out"], "timed_out", "timed_out", "run.timed_out.deadline"),
        (124, ["timed_out"], "timed_out", "timed_out", "run.timed_out.deadline"),
        (0, ["cancelled", "aborted"], "aborted", "cancelled", "run.aborted.user"),
        (143, ["cancelled", "completed"], "cancelled", "cancelled", "run.cancelled.system"),
        (LOST, [], "failed", "failed", "run.failed.exception"),
        (LOST, ["completed"], "completed", "completed", "run.completed.ok"),
        (LOST, ["running"], "failed", "failed", "run.failed.exception"),
        # The one change against the peer, which calls this completed:
        (3, ["completed"], "failed", "failed", "run.failed.exit_nonzero"),
        (3, ["completed", "completed"], "failed", "failed", "run.failed.exit_nonzero"),
    ],
)
def test_judge(exit_code: int | None, statuses: list[str | None], status: str, firing_status: str, reason_code: str) -> None:
    verdict = judge(exit_code, [RunRecord(f"r{number}", status=word) for number, word in enumerate(statuses)])
    assert (verdict.status, verdict.firing_status, verdict.reason_code) == (status, firing_status, reason_code)
    assert verdict.reason


def test_an_interrupted_run_says_so() -> None:
    verdict = judge(130, [RunRecord("r", status="aborted", reason_code="run.cancelled.sigint")])
    assert verdict.reason_code == "run.cancelled.sigint"


def test_an_exit_code_that_a_run_contradicts_is_kept() -> None:
    runs = [RunRecord("r", status="completed")]
    ended = outcome("f", "i", judge(3, runs), ended_at=1.0, exit_code=3, error_detail="boom", runs=runs)
    assert (ended.status, ended.invocation_status, ended.exit_code, ended.error_detail) == ("failed", "failed", 3, "boom")
    assert (ended.child_ids, ended.child_statuses) == (("r",), ("completed",))


def test_a_completed_firing_keeps_no_error() -> None:
    assert outcome("f", "i", judge(0, []), ended_at=1.0, exit_code=0, error_detail="x").error_detail is None


@pytest.mark.parametrize(
    ("statuses", "ended"), [([], False), (["running"], False), (["completed", "running"], False), ([None, "failed"], True)]
)
def test_all_ended(statuses: list[str | None], ended: bool) -> None:
    assert all_ended([RunRecord("r", status=status) for status in statuses]) is ended


@pytest.mark.parametrize(
    ("out", "err", "text"),
    [
        ("out\n", "err\n", "err\n\n[stdout]\nout\n"),  # as in a row that a real daemon wrote
        ("", "err\n", "err\n"),
        (" \n", "err\n", "err\n"),
        ("out", "", "[stdout]\nout"),
        ("", "", None),
    ],
)
def test_error_text(out: str, err: str, text: str | None) -> None:
    assert error_text(OutputTail(out, err, len(out), len(err))) == text


def test_no_output_is_no_text() -> None:
    assert error_text(None) is None
