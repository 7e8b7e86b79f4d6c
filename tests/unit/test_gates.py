from __future__ import annotations

import math
from typing import Any

import pytest

from studio_tui.domain import gates
from tests.unit.records import NOW, a_schedule


@pytest.mark.parametrize(("late", "is_missed"), [(-5, False), (0, False), (30, False), (30.1, True), (86_400, True)])
def test_an_instant_is_missed_after_the_grace(late: float, is_missed: bool) -> None:
    assert gates.missed(NOW, NOW + late) is is_missed


@pytest.mark.parametrize(
    ("policy", "running", "allowed", "words"),
    [
        ("skip", 0, True, "no firing of it runs"),
        ("skip", 1, False, "still running: 1 firing of it (overlap: skip)"),
        ("skip", 3, False, "still running: 3 firings of it (overlap: skip)"),
        ("allow", 2, True, "2 firings of it running; overlap is allowed"),
        ("odd", 1, False, "still running: 1 firing of it (overlap: skip)"),
    ],
)
def test_overlap(policy: str, running: int, allowed: bool, words: str) -> None:
    verdict = gates.overlap(a_schedule(overlap_policy=policy), running)
    assert (verdict.allowed, verdict.words) == (allowed, words)
    assert verdict.evidence == {"running": running, "policy": policy}
    assert verdict.reason_code == (None if allowed else "schedule.skipped.overlap")


@pytest.mark.parametrize(
    ("cap", "executed", "allowed", "words"),
    [
        (None, 10**6, True, "no run cap"),
        (2, 1, True, "1 of 2 runs used"),
        (2, 2, False, "limit reached: 2 of 2 runs used"),
        (1, 5, False, "limit reached: 5 of 1 run used"),
    ],
)
def test_max_runs(cap: int | None, executed: int, allowed: bool, words: str) -> None:
    verdict = gates.max_runs(a_schedule(max_runs=cap), executed)
    assert (verdict.allowed, verdict.words) == (allowed, words)
    assert verdict.reason_code == (None if allowed else "schedule_definition.disabled.max_runs")


@pytest.mark.parametrize(
    ("limits", "spend", "allowed", "words"),
    [
        ({}, {"usd": 99.0, "tokens": 99}, True, "no budget"),
        ({"budget_usd": 6.0}, {"usd": 4.1, "tokens": 0}, True, "$4.10 of $6.00 spent"),
        ({"budget_usd": 6.0}, {"usd": 6.0, "tokens": 0}, False, "budget used up: $6.00 of $6.00 spent"),
        ({"budget_tokens": 100}, {"usd": 9.0, "tokens": 99}, True, "99 of 100 tokens used"),
        ({"budget_tokens": 100}, {"usd": 0.0, "tokens": 101}, False, "budget used up: 101 of 100 tokens used"),
        (
            {"budget_usd": 6.0, "budget_tokens": 100},
            {"usd": 7.0, "tokens": 1, "unreported": 2},
            False,
            "budget used up: $7.00 of $6.00 spent, 1 of 100 tokens used, 2 runs reported no cost",
        ),
        ({"budget_usd": 6.0}, {"usd": 1.0, "tokens": 0, "unreported": 1}, True, "$1.00 of $6.00 spent, 1 run reported no cost"),
    ],
)
def test_budget(limits: dict[str, Any], spend: dict[str, Any], allowed: bool, words: str) -> None:
    verdict = gates.budget(a_schedule(**limits), **spend)
    assert (verdict.allowed, verdict.words) == (allowed, words)
    assert verdict.reason_code == (None if allowed else "schedule.budget.exhausted")


@pytest.mark.parametrize(("fired", "allowed"), [(0, True), (2, True), (3, False), (9, False)])
def test_rate(fired: int, allowed: bool) -> None:
    limited = a_schedule(rate_limit={"max_fires": 3, "window_sec": 3600})
    verdict = gates.rate(limited, fired)
    assert verdict.allowed is allowed
    assert verdict.reason_code is None  # it waits: nothing is recorded
    assert f"{fired} of 3 in 3600 s" in verdict.words
    assert gates.rate_window(limited) == (3, 3600)
    assert gates.rate(a_schedule(), fired).allowed


@pytest.mark.parametrize(
    ("limit", "running", "allowed", "words"),
    [
        (4, 3, True, "3 of 4 slots taken"),
        (4, 4, False, "no free slot: 4 of 4 slots taken; waits"),
        (0, 99, True, "no limit on firings at once"),
    ],
)
def test_slots(limit: int, running: int, allowed: bool, words: str) -> None:
    verdict = gates.slots(limit, running)
    assert (verdict.allowed, verdict.words) == (allowed, words)
    assert verdict.reason_code == (None if allowed else "schedule.deferred.capacity")


POLL: dict[str, Any] = {"trigger_type": "github_poll", "github_repo": "acme/web", "interval_sec": None}
THRESHOLD: dict[str, Any] = {"metric": "failed_sessions", "op": "gt", "value": 3, "window_minutes": 60}


@pytest.mark.parametrize(
    ("values", "part"),
    [
        ({"trigger_type": "github_poll"}, "github_repo: None is no repository; write it as owner/name"),
        ({**POLL, "github_cursor": "2026-07-20"}, "github_cursor: '2026-07-20' is no bookmark; allowed: 2026-07-20T15:21:57Z"),
        ({**POLL, "github_cursor": "2026-02-30T00:00:00Z"}, "github_cursor: '2026-02-30T00:00:00Z' names a day or a time that"),
        ({**POLL, "github_filter": {"evnt": 1}}, "github_filter.evnt: is not a filter; allowed: state, base, draft, event"),
        ({"threshold_config": {}}, "threshold_config: must hold exactly metric, op, value, window_minutes"),
        ({"threshold_config": {**THRESHOLD, "metric": "luck"}}, "threshold_config.metric: 'luck' is not known; allowed: failed_"),
        ({"threshold_config": {**THRESHOLD, "op": "lt"}}, "threshold_config.op: 'lt' is not known; allowed: gt, gte"),
        ({"threshold_config": {**THRESHOLD, "value": True}}, "threshold_config.value: must be a number"),
        ({"threshold_config": {**THRESHOLD, "window_minutes": 0}}, "threshold_config.window_minutes: must be a whole number"),
        ({"defects": ("rate_limit", "on_fail")}, "rate_limit: cannot be read; on_fail: cannot be read"),
        ({"on_fail": {"promt": "x"}}, "on_fail.promt: is not part of a chain"),
        ({"on_success": {"on_fail": "again"}}, "on_success.on_fail: must be an object"),
        ({"on_fail": {"kind": "engine"}}, "on_fail.kind: is not an action; allowed: agent"),
        ({"on_fail": {"prompt": 3}}, "on_fail.prompt: must be text"),
        ({"trigger_type": "lunar"}, "unknown trigger 'lunar'; known: cron, interval, at, github_poll"),
        ({"action_kind": "engine"}, "unknown action 'engine'"),
        ({"overlap_policy": "queue"}, "unknown overlap policy 'queue'; known: skip, allow"),
        ({"missed_fire_policy": "all"}, "unknown missed-fire policy 'all'"),
        ({"action_command": None}, "the command action has no command"),
        ({"action_command": "  "}, "the command action has no command"),
        ({"action_kind": "agent"}, "the agent action has no prompt"),
        ({"action_kind": "flow", "action_prompt": " "}, "the flow action has no prompt"),
        ({"action_kind": "fanout"}, "the fanout action has no prompt"),
        ({"action_kind": "play", "action_prompt": "go"}, "the play action has no playbook"),
        ({"action_kind": "flow_yaml"}, "the flow_yaml action has no flow"),
        ({"rate_limit": {"max_fires": 0, "window_sec": 60}}, "rate_limit"),
        ({"rate_limit": {"max_fires": True, "window_sec": 60}}, "rate_limit"),
        ({"rate_limit": {"max_fires": 1}}, "rate_limit"),
        ({"rate_limit": {"max_fires": 1, "window_sec": 60, "burst": 2}}, "rate_limit"),
        ({"max_runs": 0}, "max_runs"),
        ({"budget_usd": math.nan}, "budget_usd"),
        ({"budget_usd": -1.0}, "budget_usd"),
        ({"budget_tokens": 0}, "budget_tokens"),
    ],
)
def test_why_this_version_never_fires_a_schedule(values: dict[str, Any], part: str) -> None:
    assert part in (gates.unsupported(a_schedule(**values)) or "")


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"action_kind": "agent", "action_prompt": "hi"},
        {"action_kind": "flow", "action_prompt": "hi"},
        {"action_kind": "play", "action_playbook": "demo"},
        {"action_kind": "flow_yaml", "action_flow_yaml": "steps: []"},
        {"rate_limit": {"max_fires": 1, "window_sec": 60}, "max_runs": 1, "budget_usd": 0.5, "budget_tokens": 1},
        {"on_fail": {"action_command": "false", "max_runs": 3, "on_fail": None}},  # a step may name any column
        {"threshold_config": THRESHOLD},
        POLL,
        {**POLL, "github_cursor": "2026-07-20T15:21:57Z#0000000042", "github_filter": {"event": "pr_merged"}},
        {"interval_sec": None},  # what is wrong with a trigger is said by the cadence
        {"enabled": False},
    ],
)
def test_what_this_version_fires(values: dict[str, Any]) -> None:
    assert gates.unsupported(a_schedule(**values)) is None
