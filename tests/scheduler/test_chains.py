"""What follows a firing."""

from __future__ import annotations

from typing import Any

import pytest

from studio_tui.application.ports import Outcome
from studio_tui.scheduler.chains import ChainBroken, laid_over, next_step
from tests.scheduler.conftest import Bench, a_schedule

STOP = {"on_success": None, "on_fail": None}
BRANCHED = a_schedule(on_success={"model": "yes"}, on_fail={"model": "no"})


@pytest.mark.parametrize(
    ("status", "model"),
    [("completed", "yes"), *((word, "no") for word in ("failed", "completed_empty", "timed_out", "cancelled", "aborted"))],
)
def test_success_means_exactly_completed(status: str, model: str) -> None:
    assert next_step(BRANCHED, status, 0) == {"model": model}


def test_a_chain_ends_at_the_limit_or_without_a_step() -> None:
    assert next_step(BRANCHED, "completed", 9) is not None
    assert next_step(BRANCHED, "completed", 10) is None
    assert next_step(a_schedule(), "failed", 0) is None
    assert next_step(a_schedule(on_fail={}), "failed", 0) is None


def test_the_merge_is_shallow_and_knows_short_keys() -> None:
    parent = a_schedule(action_model="m", action_prompt="p", on_fail={"model": "x"})
    step = {"action_kind": "play", "kind": "agent", "prompt": "q", "action_command_args": ["a"], "on_success": None}
    child = laid_over(parent, step)
    assert (child.action_kind, child.action_model, child.action_prompt) == ("agent", "m", "q")
    assert child.action_command_args == ("a",)
    assert child.on_fail == {"model": "x"}, "inherited, unless the step sets it"
    assert laid_over(parent, {"on_fail": None}).on_fail is None


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"modle": "x"}, "'modle' is no key of a chain step"),
        ({"kind": None}, "action_kind of a chain step must be a text"),
        ({"prompt": 3}, "action_prompt of a chain step must be a text or null"),
        ({"action_command_args": "x"}, "must be a list of texts"),
        ({"on_fail": "x"}, "must be an object or null"),
    ],
)
def test_a_step_that_means_nothing_is_refused(step: dict[str, object], words: str) -> None:
    with pytest.raises(ChainBroken, match=words):
        laid_over(a_schedule(), step)


async def test_a_failed_firing_is_followed_by_its_step(bench: Bench) -> None:
    step = {"action_command": "sh", "action_command_args": ["{{parent_exit_code}}", "{{parent_status}}"], **STOP}
    bench.state.add(a_schedule(on_fail=step, max_runs=5))
    bench.processes.at_once = 3
    assert await bench.due() == "fired"
    await bench.engine.supervisor.idle()
    parent, child = bench.state.rows()
    assert (child.chain_parent_id, child.chain_depth, child.argv) == (parent.run_id, 1, ("sh", "3", "failed"))
    assert child.trigger_context == {
        **parent.trigger_context,
        "chain_from": parent.run_id,
        "parent_exit_code": 3,
        "parent_status": "failed",
    }
    assert child.status == "failed"
    stored = bench.state.schedules["tick"]
    assert stored.next_fire_at == parent.trigger_context["next_fire_at"] + 60, "a step moves no cadence"
    assert stored.enabled, "and uses no run"


async def test_a_step_that_inherits_itself_ends_at_the_limit(bench: Bench) -> None:
    bench.state.add(a_schedule(on_fail={"action_command": "sh"}))
    bench.processes.at_once = 1
    await bench.due()
    await bench.engine.supervisor.idle()
    assert [row.chain_depth for row in bench.state.rows()] == list(range(11))


async def test_a_chain_that_cannot_be_read_fires_nothing_at_all(bench: Bench) -> None:
    bench.state.add(a_schedule(on_success={"nonsense": 1, **STOP}))
    assert await bench.due() == "broken"
    assert bench.state.rows() == []


@pytest.mark.parametrize("step", [{"action_command": "reboot"}, {"action_cwd": "/no/such/place"}])
async def test_a_step_that_cannot_be_launched_is_a_failed_row(bench: Bench, step: dict[str, object]) -> None:
    bench.state.add(a_schedule(on_success={**step, **STOP}))
    bench.processes.at_once = 0
    await bench.due()
    await bench.engine.supervisor.idle()
    parent, child = bench.state.rows()
    assert (parent.status, child.status, child.chain_depth) == ("completed", "failed", 1)
    assert child.error_detail
    assert len(bench.processes.launched) == 1


async def test_a_chain_counts_as_one_running_firing_between_its_steps(bench: Bench) -> None:
    bench.state.add(a_schedule(on_success={"action_command": "sh", **STOP}))
    finish, words = bench.state.finish, []

    async def between(outcome: Outcome, **named: Any) -> bool:
        ended = await finish(outcome, **named)
        if named["step"] is not None:  # the first step has ended, the second is in the store with the same commit
            assert await bench.state.count_running("tick") == 1
            bench.clock.advance(60)
            words.append(await bench.due())
        return ended

    bench.state.finish = between  # type: ignore[method-assign]
    bench.processes.at_once = 0
    await bench.due()
    await bench.engine.supervisor.idle()
    assert words == ["skipped"]
    assert bench.engine.supervisor.busy(None) == 0


async def test_no_step_follows_a_firing_that_was_stopped(bench: Bench) -> None:
    bench.state.add(a_schedule(on_fail={"action_command": "sh", **STOP}))
    bench.assemble(deadline=lambda kind: 0.01)
    await bench.due()
    await bench.engine.supervisor.idle()
    assert [row.status for row in bench.state.rows()] == ["timed_out"]
