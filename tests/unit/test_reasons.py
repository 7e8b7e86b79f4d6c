from __future__ import annotations

import pytest

from studio_tui.domain.reasons import reason_words


@pytest.mark.parametrize(
    ("code", "summary", "words"),
    [
        (None, None, ""),
        ("", "  ", ""),
        ("run.completed.ok", None, ""),
        ("run.failed.exit_nonzero", None, "bad exit code"),
        ("run.failed.exit_nonzero", "exit code 3", "exit code 3"),
        ("run.failed.provider_retryable", "rate limit\nretry after 5 s", "rate limit retry after 5 s"),
        ("session.phantom.process_dead", "phantom_reaped", "process gone, reaped"),
        ("session.phantom.process_dead", None, "process gone"),
        ("run.cancelled.manual_kill", None, "stopped by hand"),
        ("run.timed_out.deadline", None, "limit reached"),
        ("run.timed_out.deadline", "some_new_token", "some new token"),
        ("run.failed.not_known_yet", None, "run.failed.not_known_yet"),
    ],
)
def test_a_reason_in_words(code: str | None, summary: str | None, words: str) -> None:
    assert reason_words(code, summary) == words


def test_a_summary_that_repeats_the_state_says_nothing() -> None:
    assert reason_words("run.failed.exit_nonzero", "failed", "failed") == "bad exit code"
    assert reason_words("run.completed.ok", "completed", "completed") == ""
