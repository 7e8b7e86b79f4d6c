"""Rules that we share with lionagi 0.36, compared with the real package row by row."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Any

import pytest

from studio_tui.domain.health import run_health, schedule_health
from studio_tui.domain.reasons import REASON_WORDS
from studio_tui.domain.runs import RunRecord
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.scheduler import contract
from studio_tui.scheduler.launch import LaunchRefused, build_argv, unfilled
from tests.unit.records import NOW, UTC, a_firing, a_run, a_schedule

pytestmark = pytest.mark.interop

LI = ("/opt/lionagi/bin/li",)
EVENT = {"github_events": [{"pr_title": "--bypass", "pr_number": 7}], "manual": True, "fired_at": NOW}


def action(kind: str, **values: Any) -> ScheduleRecord:
    """A schedule of this action; the values are named without their ``action_``."""
    return a_schedule(action_kind=kind, **{f"action_{name}": value for name, value in {"command": None, **values}.items()})


ACTIONS = [
    action("agent", prompt="hi"),
    action("agent", prompt="- {{pr_title}} {{pr_number}} {{nothing}}", model="m", agent="a", project="p", extra_args=("x",)),
    action("agent", prompt="hi", extra_args=("x",)),
    action("agent", prompt="hi", model="--bypass"),
    action("agent", prompt="--"),
    action("agent", prompt="hi", agent="a b"),
    action("flow", prompt="hi", model="m", project="p"),
    action("flow", prompt="hi", extra_args=("--cwd", "/")),
    action("flow", prompt="hi"),
    action("fanout", prompt="hi", model="m"),
    action("play", playbook="demo", prompt="go", playbook_args={"top_k": 5, "dry": True, "wet": False, "share": -0.5}),
    action("play", playbook="demo", prompt="{{pr_title}}"),
    action("play", playbook="demo", playbook_args={"bypass": True}),
    action("play", playbook="demo", playbook_args={"topic": "-x"}),
    action("play", playbook="demo", playbook_args={"topic": ["x"]}),
    action("play", playbook="list"),
    action("command", command="echo", command_args=("{{pr_number}}", "--repo", "")),
    action("command", command="echo", command_args=("{{pr_title}}",)),
    action("command", command="echo", command_args=("{{nothing}}",)),
    action("command", command="make"),
    action("command", command="/bin/echo"),
    action("command", command="echo", extra_args=("x",)),
]


def described(schedule: ScheduleRecord) -> str:
    return f"{schedule.action_kind} {schedule.action_playbook or schedule.action_command or schedule.action_prompt}"


@pytest.mark.parametrize("schedule", ACTIONS, ids=described)
def test_argv_and_refusals_are_those_of_the_peer(schedule: ScheduleRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    from lionagi.studio.scheduler import subprocess as peer

    monkeypatch.setenv(contract.COMMAND_ALLOWLIST_VARIABLE, "echo, sh")
    row = asdict(schedule)
    row["action_extra_args"], row["action_command_args"] = list(schedule.action_extra_args), list(schedule.action_command_args)
    allowed = contract.allowlist(os.environ[contract.COMMAND_ALLOWLIST_VARIABLE])
    try:
        expected, _ = peer.build_argv(row, EVENT, executable_prefix=list(LI))
    except ValueError:
        with pytest.raises(LaunchRefused):
            build_argv(schedule, EVENT, li=LI, allowed=lambda: allowed)
    else:
        assert list(build_argv(schedule, EVENT, li=LI, allowed=lambda: allowed)) == expected
    assert list(unfilled(schedule, EVENT)) == peer.unfilled_template_vars(row, EVENT)


def test_the_reserved_options_and_limits_are_those_of_the_peer() -> None:
    from lionagi._spec_limits import MAX_SPEC_PROMPT_CHARS
    from lionagi.studio.scheduler import subprocess as peer

    assert {f"--{name}" for name in contract.RESERVED_FLOW_OPTIONS} == peer._reserved_flow_flags()
    assert contract.PLAY_VERBS == peer._PLAY_SUBCOMMANDS
    assert contract.PROMPT_LIMIT == MAX_SPEC_PROMPT_CHARS


def test_every_reason_code_of_the_peer_has_words() -> None:
    from lionagi.state import reasons as peer

    codes = {value for name in dir(peer) if name.isupper() and isinstance(value := getattr(peer, name), str) and "." in value}
    assert codes
    assert codes <= set(REASON_WORDS)


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("quiet", [0.0, 4_000.0, 7 * 3_600.0, 13 * 3_600.0])
@pytest.mark.parametrize("kind", ["agent", "play", "flow", "fanout", "show-play", "engine", None])
@pytest.mark.parametrize("artifacts", [None, "/srv/demo/artifacts"])
def test_health_of_a_run_is_that_of_the_peer_when_its_process_is_known(
    alive: bool, quiet: float, kind: str | None, artifacts: str | None
) -> None:
    """Where the process is not known the peer calls a run without traces orphaned; we do not take that for death."""
    from lionagi.state.health import classify_session_health

    run: RunRecord = a_run(kind=kind, artifacts_path=artifacts, has_messages=False)
    row = {
        "status": run.status,
        "invocation_kind": kind,
        "updated_at": run.updated_at,
        "started_at": run.started_at,
        "message_count": 0,
    }
    expected = classify_session_health(
        row, process_alive=alive, has_artifacts=bool(artifacts), has_stale_locks=False, now=NOW + quiet
    )
    assert run_health(run, NOW + quiet, alive) == str(getattr(expected, "value", expected))


@pytest.mark.parametrize("statuses", [(), ("skipped",), ("completed",), ("failed",), ("timed_out", "completed")])
@pytest.mark.parametrize("age", [0.0, 100.0, 361.0])
@pytest.mark.parametrize("enabled", [True, False])
def test_health_of_a_schedule_is_that_of_the_peer(statuses: tuple[str, ...], age: float, enabled: bool) -> None:
    """Compared where the peer's rule stands: no stored instant, nothing running."""
    from lionagi.studio.services.schedules import compute_schedule_health

    schedule = a_schedule(enabled=enabled, next_fire_at=None)
    firings = [a_firing(status, fired_at=NOW - age) for status in statuses]
    ran = [firing for firing in firings if firing.status != "skipped"]
    evidence = {
        "last_recorded_run_at": firings[0].fired_at if firings else None,
        "last_executed_run_at": ran[0].fired_at if ran else None,
        "last_executed_status": ran[0].status if ran else None,
    }
    expected = compute_schedule_health(asdict(schedule), evidence, now=NOW)["health_state"]
    assert schedule_health(schedule, firings, NOW, UTC)[0] == expected
