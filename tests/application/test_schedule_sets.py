"""Sets of schedules: planned, applied whole or not at all, and safe when somebody else is at work on the same."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from studio_tui.application.errors import Conflict, NotFound
from studio_tui.application.models.schedule_sets import ApplySet, PlanSet
from studio_tui.application.models.schedules import PatchSchedule, SchedulePatch
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.application.sets import CLOCK, HEAD, TICK, Sets, actions, entry
from tests.builders import a_schedule, run_sql

HOUR = 3_600.0


@pytest.fixture
def sets(home: OpenHome, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sets:
    monkeypatch.setenv("LIONAGI_SCHEDULER_COMMAND_ALLOWLIST", "date,echo")
    folder = tmp_path / "sets"
    folder.mkdir()
    return Sets(home, folder)


async def test_a_plan_says_what_would_be_and_writes_nothing(sets: Sets) -> None:
    plan = await sets.plan(HEAD + CLOCK + TICK)
    assert (plan.owner_key, plan.applied) == ("atlas/nightly", False)
    assert actions(plan) == {"atlas/clock": "create", "atlas/tick": "create"}
    assert entry(plan, "atlas/clock").next_fire_at == sets.home.clock.now() + 900
    assert await sets.rows() == []


async def test_what_is_applied_is_stored_with_its_next_instant(sets: Sets) -> None:
    plan = await sets.apply(HEAD + CLOCK)
    assert (plan.applied, actions(plan)) == (True, {"atlas/clock": "create"})
    row = await sets.row("atlas/clock")
    assert plan.entries[0].schedule_id == row["id"]
    assert row["next_fire_at"] == sets.home.clock.now() + 900
    assert (row["managed_by"], row["owner_key"], row["action_cwd"]) == ("declaration", "atlas/nightly", str(sets.folder))
    assert actions(await sets.apply(HEAD + CLOCK)) == {"atlas/clock": "unchanged"}
    assert await sets.row("atlas/clock") == row


async def test_a_changed_trigger_counts_from_now_and_other_changes_leave_the_instant(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK + TICK)
    before = await sets.row("atlas/clock")
    sets.home.clock.at += 60
    plan = await sets.apply(HEAD + CLOCK.replace("date", "echo") + TICK.replace("0 9", "30 4"))
    assert [change.field for change in entry(plan, "atlas/clock").changes] == ["target.executable"]
    assert (await sets.row("atlas/clock"))["next_fire_at"] == before["next_fire_at"]
    assert (await sets.row("atlas/tick"))["next_fire_at"] == 1_773_289_800.0  # 2026-03-12 04:30 UTC
    plan = await sets.apply(HEAD + CLOCK.replace("date", "echo").replace("15m", "1h") + TICK.replace("0 9", "30 4"))
    (change,) = entry(plan, "atlas/clock").changes
    assert (change.field, change.stored, change.declared) == ("trigger.every", "900s", "3600s")
    assert (await sets.row("atlas/clock"))["next_fire_at"] == before["created_at"] + HOUR
    assert len(await sets.history()) == 2, "what stays on or off adds no line"


async def test_off_and_on_again_by_the_document(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK)
    await sets.apply(HEAD + CLOCK + "    enabled: false\n")
    assert (await sets.row("atlas/clock"))["enabled"] == 0
    sets.home.clock.at += 10 * HOUR + 1
    plan = await sets.apply(HEAD + CLOCK)
    following = (await sets.row("atlas/clock"))["next_fire_at"]
    assert sets.home.clock.now() < following <= sets.home.clock.now() + 900
    assert entry(plan, "atlas/clock").next_fire_at == following
    assert await sets.history() == [
        ("enabled", "schedule_definition.created.observed"),
        ("disabled", "schedule_definition.disabled.declared"),
        ("enabled", "schedule_definition.enabled.observed"),
    ]


async def test_a_member_that_is_left_out_is_turned_off_once(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK + TICK)
    plan = await sets.apply(HEAD + CLOCK)
    assert (actions(plan)["atlas/tick"], entry(plan, "atlas/tick").reason) == ("disable", "not in the set any more")
    row = await sets.row("atlas/tick")
    assert row["enabled"] == 0
    assert actions(await sets.apply(HEAD + CLOCK))["atlas/tick"] == "unchanged"
    assert await sets.row("atlas/tick") == row
    assert (await sets.history())[-1] == ("disabled", "schedule_definition.disabled.omitted")


async def test_what_was_changed_by_hand_is_what_the_document_says_again(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK)
    row = await sets.row("atlas/clock")
    step = {"kind": "play", "playbook": "repair"}
    changes = SchedulePatch.model_validate({"max_runs": 3, "action": {"kind": "command", "on_fail": step}})
    patch = PatchSchedule(schedule_id=row["id"], expected_updated_at=row["updated_at"], changes=changes)
    await sets.home.studio.schedules.patch_schedule(patch)
    plan = await sets.apply(HEAD + CLOCK)
    assert {change.field for change in entry(plan, "atlas/clock").changes} == {"policies.maxRuns", "on_fail"}
    after = await sets.row("atlas/clock")
    assert {**after, "updated_at": 0} == {**row, "updated_at": 0}


async def test_a_one_shot_that_has_passed_is_not_fired_again(sets: Sets) -> None:
    at = HEAD + "  once: {trigger: {at: '2026-03-12T03:20:00Z'}, target: {kind: command, executable: date}}\n"
    await sets.apply(at)
    assert (await sets.row("atlas/once"))["max_runs"] == 1
    sets.home.clock.at += HOUR
    await run_sql(sets.home.db, "UPDATE schedules SET next_fire_at = NULL, last_fired_at = :at", at=sets.home.clock.at)
    assert actions(await sets.apply(at)) == {"atlas/once": "unchanged"}
    earlier = at.replace("03:20", "03:30")
    assert (await sets.apply(earlier)).entries[0].warnings == ("its instant has passed",)
    assert (await sets.row("atlas/once"))["next_fire_at"] is None
    await sets.apply(at.replace("03:20", "05:00"))
    assert (await sets.row("atlas/once"))["next_fire_at"] == 1_773_291_600.0


async def test_a_cron_that_becomes_a_past_one_shot_does_not_keep_the_old_instant(sets: Sets) -> None:
    await sets.apply(HEAD + TICK)
    await sets.apply(HEAD + "  tick: {trigger: {at: '2020-01-01T00:00:00Z'}, target: {kind: command, executable: date}}\n")
    assert (await sets.row("atlas/tick"))["next_fire_at"] is None


# --- whose schedules -------------------------------------------------------------------------------------------------


@covers("schedule_sets.apply_set", "stale")
async def test_a_schedule_of_another_set_or_of_nobody_is_not_touched(sets: Sets) -> None:
    await a_schedule(sets.home.db, name="atlas/clock", owner_key="atlas/other", managed_by="declaration")
    await a_schedule(sets.home.db, name="atlas/tick")
    before = await sets.rows()
    plan = await sets.plan(HEAD + CLOCK + TICK + CLOCK.replace("clock", "new"))
    assert actions(plan) == {"atlas/clock": "refused", "atlas/tick": "refused", "atlas/new": "create"}
    with pytest.raises(Conflict, match=r"belongs to the set atlas/other.*--adopt.*nothing was written"):
        await sets.apply(HEAD + CLOCK + TICK + CLOCK.replace("clock", "new"))
    assert await sets.rows() == before


async def test_a_schedule_of_nobody_that_does_the_same_is_adopted_as_it_is(sets: Sets) -> None:
    columns = {"interval_sec": 900, "action_command": "date", "action_cwd": str(sets.folder), "next_fire_at": 7.0}
    await a_schedule(sets.home.db, name="clock", poll_interval_sec=5, notify_command="unused", **columns)
    (before,) = await sets.rows()
    assert actions(await sets.plan(HEAD + CLOCK)) == {"atlas/clock": "create"}
    plan = await sets.apply(HEAD + CLOCK, adopt=True)
    assert (entry(plan, "atlas/clock").action, entry(plan, "atlas/clock").adopted_from) == ("adopt", "clock")
    (after,) = await sets.rows()
    assert (after["id"], after["next_fire_at"], after["name"]) == (before["id"], 7.0, "atlas/clock")
    assert (after["owner_key"], after["managed_by"], after["poll_interval_sec"]) == ("atlas/nightly", "declaration", None)
    assert actions(await sets.apply(HEAD + CLOCK)) == {"atlas/clock": "unchanged"}


OTHERWISE = {
    "another interval": ({"interval_sec": 901}, "trigger.every: stored 901s, declared 900s"),
    "off": ({"enabled": 0}, "enabled"),
    "another directory": ({"action_cwd": "/"}, "execution.cwd"),
    "a chain": ({"on_fail": {"action_command": "echo"}}, "on_fail, which no set can say"),
    "a limit": ({"max_runs": 5}, "policies.maxRuns"),
    "another owner": ({"owner_key": "x/y"}, "x/y"),
    "a cron without a zone": ({"trigger_type": "cron", "cron_expr": "0 9 * * *"}, "names no zone"),
}


@pytest.mark.parametrize("what", OTHERWISE)
async def test_a_schedule_that_does_something_else_is_not_adopted(what: str, sets: Sets) -> None:
    columns, said = OTHERWISE[what]
    same = {"interval_sec": 900, "action_command": "date", "action_cwd": str(sets.folder)}
    await a_schedule(sets.home.db, name="atlas/clock", **{**same, **columns})
    before = await sets.rows()
    plan = await sets.plan(HEAD + CLOCK, adopt=True)
    assert actions(plan) == {"atlas/clock": "refused"}
    assert said in (entry(plan, "atlas/clock").reason or "")
    assert await sets.rows() == before


async def test_one_schedule_cannot_be_two_members(sets: Sets) -> None:
    columns = {"interval_sec": 900, "action_command": "date", "action_cwd": str(sets.folder)}
    await a_schedule(sets.home.db, name="atlas/clock", **columns)
    both = HEAD + CLOCK + CLOCK.replace("clock", "atlas/clock")
    assert set(actions(await sets.plan(both, adopt=True)).values()) == {"refused"}


# --- two at once -----------------------------------------------------------------------------------------------------


async def test_two_consoles_that_apply_one_set_at_once_leave_it_applied_once(sets: Sets, tmp_path: Path) -> None:
    second = OpenHome(tmp_path / "home")
    await second.open()
    file = sets.file(HEAD + CLOCK + TICK)
    try:
        plans = await asyncio.gather(
            *(service.apply_set(ApplySet(file=file)) for service in (sets.service, second.studio.schedule_sets) * 3)
        )
    finally:
        await second.close()
    assert sum(action == "create" for plan in plans for action in actions(plan).values()) == 2
    assert [row["name"] for row in await sets.rows()] == ["atlas/clock", "atlas/tick"]
    assert len(await sets.history()) == 2


@covers("schedule_sets.apply_set", "stale")
async def test_only_the_plan_that_was_looked_at_is_carried_out(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK)
    seen = await sets.plan(HEAD + CLOCK.replace("15m", "1h"))
    await run_sql(sets.home.db, "UPDATE schedules SET next_fire_at = next_fire_at + 900, updated_at = updated_at + 1")
    same = await sets.plan(HEAD + CLOCK.replace("15m", "1h"))
    assert same.plan_id == seen.plan_id, "a firing in between changes nothing of what the set does"
    await run_sql(sets.home.db, "UPDATE schedules SET max_runs = 4, updated_at = updated_at + 1")
    before = await sets.rows()
    with pytest.raises(Conflict, match="not what you looked at"):
        await sets.apply(HEAD + CLOCK.replace("15m", "1h"), expected_plan=seen.plan_id)
    with pytest.raises(Conflict, match="not what you looked at"):
        await sets.apply(HEAD + CLOCK.replace("15m", "2h"), expected_plan=seen.plan_id)
    assert await sets.rows() == before


async def test_a_change_of_every_schedule_makes_a_later_version(sets: Sets) -> None:
    await sets.apply(HEAD + CLOCK)
    first = (await sets.row("atlas/clock"))["updated_at"]
    await sets.apply(HEAD + CLOCK + "    description: x\n")
    assert (await sets.row("atlas/clock"))["updated_at"] == math.nextafter(first, math.inf), "the clock stood still"


async def test_a_file_that_is_not_there(sets: Sets) -> None:
    with pytest.raises(NotFound, match="no file"):
        await sets.service.plan_set(PlanSet(file=str(sets.folder / "none.yaml")))
