"""Schedules and firings as they are read: order, lookups, strips of outcomes, pages of history."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.domain.schedules import FiringRecord, ScheduleRecord
from studio_tui.state.db import StateDB
from studio_tui.state.stores.schedules import ScheduleReadStore
from tests.builders import NOW, a_firing, a_run, a_schedule, an_invocation, firings_of, run_sql


@pytest.fixture
def reads(db: StateDB) -> ScheduleReadStore:
    return ScheduleReadStore(db)


def names(found: tuple[ScheduleRecord, ...]) -> list[str]:
    return [schedule.name for schedule in found]


async def test_schedules_come_by_name_in_pages(db: StateDB, reads: ScheduleReadStore) -> None:
    for name in ("beta", "Alpha", "gamma", "alpha", "alpha [x]"):
        await a_schedule(db, name=name)
    ordered = ["Alpha", "alpha", "alpha [x]", "beta", "gamma"]
    found: list[str] = []
    after: tuple[str, str] | None = None
    while page := await reads.list_schedules(enabled=None, text=None, after=after, limit=2):
        found += names(page)
        after = (page[-1].name, page[-1].schedule_id)
    assert found == ordered


async def test_schedules_by_whether_they_are_on_and_by_literal_text(db: StateDB, reads: ScheduleReadStore) -> None:
    await a_schedule(db, name="nightly 100%", enabled=1)
    await a_schedule(db, name="nightly 100", enabled=0)
    on = await reads.list_schedules(enabled=True, text=None, after=None, limit=9)
    off = await reads.list_schedules(enabled=False, text="NIGHTLY", after=None, limit=9)
    literal = await reads.list_schedules(enabled=None, text="0%", after=None, limit=9)
    assert (names(on), names(off), names(literal)) == (["nightly 100%"], ["nightly 100"], ["nightly 100%"])


async def test_a_schedule_is_found_by_name_by_id_or_by_what_begins_one(db: StateDB, reads: ScheduleReadStore) -> None:
    await a_schedule(db, id="aaaa11112222", name="nightly")
    await a_schedule(db, id="aaaa33334444", name="nightly-two")
    await a_schedule(db, id="bbbb33334444", name="aaaa33334444")
    await a_schedule(db, id="cccc", name="100%")
    assert names(await reads.find_schedules("nightly", limit=9)) == ["nightly"]
    assert names(await reads.find_schedules("aaaa11112222", limit=9)) == ["nightly"]
    assert names(await reads.find_schedules("night", limit=9)) == ["nightly", "nightly-two"]
    assert names(await reads.find_schedules("night", limit=1)) == ["nightly"]
    assert names(await reads.find_schedules("aaaa", limit=9)) == ["aaaa33334444", "nightly", "nightly-two"]
    assert set(names(await reads.find_schedules("aaaa33334444", limit=9))) == {"nightly-two", "aaaa33334444"}
    assert names(await reads.find_schedules("100%", limit=9)) == ["100%"]
    assert names(await reads.find_schedules("1__%", limit=9)) == []
    assert names(await reads.find_schedules("NIGHT", limit=9)) == []


async def test_a_schedule_is_read_whole(db: StateDB, reads: ScheduleReadStore) -> None:
    target = {"target": {"kind": "playbook", "name": "audit", "args": {"depth": 2}}}
    schedule_id = await a_schedule(
        db,
        trigger_type="cron",
        cron_expr="0 3 * * *",
        interval_sec=None,
        action_kind="play",
        action_playbook="audit",
        action_extra_args=["--effort", "high"],
        on_fail={"kind": "agent", "prompt": "look"},
        on_success=None,
        notify_on=["failed"],
        rate_limit={"max_fires": 3, "window_sec": 60},
        resolved_target=target,
        next_fire_at=NOW + 60,
        budget_usd=1.5,
    )
    found = await reads.get_schedule(schedule_id)
    assert found is not None
    assert (found.enabled, found.cron_expr, found.interval_sec) == (True, "0 3 * * *", None)
    assert (found.action_extra_args, found.action_playbook_args) == (("--effort", "high"), {"depth": 2})
    assert (found.on_fail, found.on_success) == ({"kind": "agent", "prompt": "look"}, None)
    assert (found.notify_on, found.rate_limit) == (("failed",), {"max_fires": 3, "window_sec": 60})
    assert (found.next_fire_at, found.updated_at, found.defects) == (NOW + 60, NOW, ())
    assert await reads.get_schedule("none") is None


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
@pytest.mark.parametrize(
    ("column", "stored", "defect"),
    [
        ("interval_sec", "soon", "interval_sec"),
        ("next_fire_at", float("inf"), "next_fire_at"),
        ("action_command_args", "{not json", "action_command_args"),
        ("action_command_args", '["a", 1]', "action_command_args"),
        ("on_fail", "[]", "on_fail"),
        ("resolved_target", "{", "resolved_target"),
        ("updated_at", "yesterday", "updated_at"),
    ],
)
async def test_a_broken_schedule_is_listed_and_says_what_is_broken(
    db: StateDB, reads: ScheduleReadStore, column: str, stored: object, defect: str
) -> None:
    await a_schedule(db, id="bad", name="a")
    await a_schedule(db, id="good", name="b")
    await run_sql(db, f"UPDATE schedules SET {column} = :stored WHERE id = 'bad'", stored=stored)
    bad, good = await reads.list_schedules(enabled=None, text=None, after=None, limit=9)
    assert (bad.defects, good.defects) == ((defect,), ())


# --- firings ----------------------------------------------------------------------------------------------------------


async def test_each_schedule_has_its_newest_firings(db: StateDB, reads: ScheduleReadStore) -> None:
    many, few, none = [await a_schedule(db) for _ in range(3)]
    ids = await firings_of(db, many, [NOW + number for number in range(9)], error_detail="long", status="failed")
    await a_firing(db, many, fired_at=NOW + 99, chain_depth=1)
    only = await a_firing(db, few)
    recent = await reads.recent_firings([many, few, none], each=4)
    assert [firing.run_id for firing in recent[many]] == ids[:4:-1]
    assert [firing.run_id for firing in recent[few]] == [only]
    assert none not in recent
    first = recent[many][0]
    assert (first.status, first.fired_at, first.reason_code) == ("failed", NOW + 8, None)
    assert await reads.recent_firings([], each=4) == {}


async def test_firings_of_one_instant_come_by_id(db: StateDB, reads: ScheduleReadStore) -> None:
    schedule = await a_schedule(db)
    ids = await firings_of(db, schedule, [NOW] * 6)
    recent = await reads.recent_firings([schedule], each=3)
    assert [firing.run_id for firing in recent[schedule]] == sorted(ids, reverse=True)[:3]


async def _pages(reads: ScheduleReadStore, schedule: str, limit: int) -> list[FiringRecord]:
    found: list[FiringRecord] = []
    before: tuple[float, str] | None = None
    while page := await reads.firings(schedule, before=before, limit=limit):
        found += page
        before = (page[-1].fired_at or 0.0, page[-1].run_id)
        assert len(found) < 100
    return found


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
@pytest.mark.parametrize("limit", [1, 2, 5])
async def test_history_in_pages_whatever_the_times_are(db: StateDB, reads: ScheduleReadStore, limit: int) -> None:
    schedule = await a_schedule(db)
    await firings_of(db, schedule, [NOW, NOW, NOW + 1, NOW * 1000, -5.0, float("inf"), NOW + 1], trigger_context={})
    odd = await a_firing(db, schedule)
    await run_sql(db, "UPDATE schedule_runs SET fired_at = 'soon' WHERE id = :id", id=odd)
    stored = await db.fetch_all("SELECT id FROM schedule_runs ORDER BY fired_at DESC, id DESC")
    found = await _pages(reads, schedule, limit)
    assert [firing.run_id for firing in found] == [row["id"] for row in stored]
    assert [firing.fired_at is None for firing in found] == [True, True, True, False, False, False, False, True]


async def test_a_firing_carries_its_runs_and_what_it_ran(db: StateDB, reads: ScheduleReadStore) -> None:
    schedule, invocation = await a_schedule(db), await an_invocation(db)
    first = await a_run(db, invocation_id=invocation, created_at=NOW + 1)
    second = await a_run(db, invocation_id=invocation, created_at=NOW + 2)
    await a_run(db, invocation_id=invocation, node_metadata={"engine_parent_run_id": first})
    await a_run(db, invocation_id=await an_invocation(db))
    firing_id = await a_firing(db, schedule, invocation_id=invocation, action_args=["li", "agent"], error_detail="boom")
    plain = await a_firing(db, schedule, fired_at=NOW - 1)
    found = await reads.get_firing(firing_id)
    assert found is not None
    assert (found.session_ids, found.argv, found.error_detail) == ((first, second), ("li", "agent"), "boom")
    assert found.trigger_context == {"scheduled": True, "fired_at": NOW}
    assert found.updated_at == NOW + 1
    listed = await reads.firings(schedule, before=None, limit=9)
    assert [(firing.run_id, firing.session_ids) for firing in listed] == [(firing_id, (first, second)), (plain, ())]
    assert await reads.get_firing("none") is None


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_a_firing_with_broken_documents_is_listed(db: StateDB, reads: ScheduleReadStore) -> None:
    schedule = await a_schedule(db)
    await a_firing(db, schedule, id="bad")
    await run_sql(db, "UPDATE schedule_runs SET trigger_context = 'not json', action_args = '{bad', exit_code = 'x'")
    (firing,) = await reads.firings(schedule, before=None, limit=9)
    assert (firing.run_id, firing.trigger_context, firing.argv, firing.exit_code) == ("bad", {}, (), None)


async def test_counts_of_executed_and_of_running_firings(db: StateDB, reads: ScheduleReadStore) -> None:
    one, two, three = [await a_schedule(db) for _ in range(3)]
    for status in ("completed", "failed", "timed_out", "cancelled", "running", "skipped", "queued"):
        await a_firing(db, one, status=status)
    await a_firing(db, one, status="completed", chain_depth=1)
    await a_firing(db, one, status="running", chain_depth=1)
    await a_firing(db, two, status="skipped")
    assert await reads.executed_counts([one, two, three]) == {one: 5}
    assert await reads.running_counts([one, two, three]) == {one: 2}
    assert await reads.executed_counts([]) == {}


async def test_while_there_is_no_store_there_are_no_schedules(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    reads = ScheduleReadStore(db)
    assert await reads.list_schedules(enabled=None, text=None, after=None, limit=9) == ()
    assert await reads.find_schedules("x", limit=9) == ()
    assert await reads.get_schedule("x") is None
    assert await reads.recent_firings(["x"], each=3) == {}
    assert await reads.firings("x", before=None, limit=9) == ()
    assert await reads.get_firing("x") is None
    assert await reads.running_counts(["x"]) == {}


async def test_every_schedule_of_the_peer_is_read_without_a_defect(peer_home: Path) -> None:
    db = StateDB(peer_home / "state.db")
    await db.open()
    try:
        reads = ScheduleReadStore(db)
        found = await reads.list_schedules(enabled=None, text=None, after=None, limit=100)
        stored = await db.fetch_all("SELECT name FROM schedules ORDER BY name")
        recent = await reads.recent_firings([schedule.schedule_id for schedule in found], each=50)
        rows = await db.fetch_all("SELECT id FROM schedule_runs WHERE schedule_id IS NOT NULL AND chain_depth = 0")
    finally:
        await db.close()
    assert names(found) == [row["name"] for row in stored]
    assert not [schedule for schedule in found if schedule.defects]
    assert {firing.run_id for firings in recent.values() for firing in firings} == {row["id"] for row in rows}
