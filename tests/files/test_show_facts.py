from __future__ import annotations

import math

import pytest

from studio_tui.files.show_facts import ShowHead, block_reason, epoch, number, play_reason, show_head, show_status, text


def test_the_head_of_a_show() -> None:
    assert show_head(
        "# atlas\n\n- Repo: demo/atlas\n- Integration branch: show/atlas (from main)\n- Base for final merge: main\n\n"
        "## Goal\n\nShip it.\nSoon.\n\n## Plays\n\n- parser\n"
    ) == ShowHead(goal="Ship it.\nSoon.", repo="demo/atlas", base_branch="main", integration_branch="show/atlas")


def test_the_short_spellings() -> None:
    assert show_head("- Integration: show/x\n- Base: dev\n") == ShowHead(base_branch="dev", integration_branch="show/x")


def test_a_head_that_says_nothing() -> None:
    assert show_head("") == ShowHead()
    assert show_head("## Goal\n\n## Plays\n- Repo:\n- Integration: (none)\n") == ShowHead()


def test_a_goal_is_cut_at_500_characters_and_ends_at_the_next_heading() -> None:
    assert show_head("## Goal\n" + "x" * 900).goal == "x" * 500
    assert show_head("## Goal\none\n### Deeper\ntwo\n## Next\nthree").goal == "one\n### Deeper\ntwo"
    assert show_head("### Goal\nno\n").goal is None


@pytest.mark.parametrize(
    ("statuses", "aborted", "passed", "status"),
    [
        (["merged"], True, True, "aborted"),
        (["running"], False, True, "completed"),
        (["merged", "escalated"], False, False, "active"),
        (["merged", "merged"], False, False, "completed"),
        (["merged", None], False, False, "active"),
        ([], False, False, "active"),
    ],
)
def test_the_status_of_a_show(statuses: list[str | None], aborted: bool, passed: bool, status: str) -> None:
    assert show_status(statuses, aborted=aborted, passed=passed) == status


@pytest.mark.parametrize(
    ("status", "meta", "gate_passed", "reason"),
    [
        ("blocked", {"block_reason": "dep_failed"}, None, "play.blocked.dep_failed"),
        ("blocked", {"blocked_reason": "invalid_deps"}, None, "play.blocked.invalid_deps"),
        ("blocked", {"block_reason": "weather"}, None, None),
        ("gate_failed", {}, False, "play.gate_failed.verdict"),
        ("gate_failed", {}, None, None),
        ("escalated", {"attempt": 2}, None, "play.escalated.gate_twice"),
        ("escalated", {"attempt": 1}, None, None),
        ("merged", {}, None, "play.merged.ok"),
        ("running", {}, None, None),
    ],
)
def test_the_reason_of_a_play(status: str, meta: dict[str, object], gate_passed: bool | None, reason: str | None) -> None:
    assert play_reason(status, meta, gate_passed=gate_passed) == reason


def test_block_reasons_are_kept_in_the_runners_word() -> None:
    assert block_reason({"block_reason": "weather"}) == "weather"
    assert block_reason({}) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("2026-11-28T01:48:20Z", 1_795_830_500.0),
        ("2026-11-28T01:48:20", 1_795_830_500.0),
        ("2026-11-28 02:48:20+01:00", 1_795_830_500.0),
        (1_795_830_500, 1_795_830_500.0),
        (1_795_830_500.25, 1_795_830_500.25),
        ("1795830500", 1_795_830_500.0),
        (None, None),
        (True, None),
        ("yesterday", None),
        ("", None),
        (math.nan, None),
        ("inf", None),
        (10**400, None),
        ("9999-12-31T23:59:59-23:59", None),
        ([], None),
    ],
)
def test_times(value: object, seconds: float | None) -> None:
    assert epoch(value) == seconds


def test_numbers_and_text_are_nothing_else() -> None:
    assert [number(value) for value in (2, True, 2.0, "2", None, 2**63)] == [2, None, None, None, None, None]
    assert [text(value) for value in ("x", "", 3, None, "\ud800!")] == ["x", None, None, None, "?!"]
    assert len(text("x" * 100_000) or "") == 16 * 1024
