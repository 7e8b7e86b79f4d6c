"""A store that we made and fired in is the peer's own: it opens there for writing, unchanged, and its rows read as its rows."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports import ActProvenance, NewSchedule, Occurrence, Outcome, Refusal
from studio_tui.domain.schedules import ScheduleRecord
from studio_tui.state.store import Store
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.fakes.base import HeldClock
from tests.interop.peer_call import ask_peer, run_li

pytestmark = pytest.mark.interop

NOW = 1_796_000_000.25
OPERATOR = ActProvenance("cli", "op", "/srv/work")


async def _fill(home: Path) -> None:
    """A store with two schedules, one firing that completed, one that failed, a skip, and one turned off."""
    store = Store(None, home=home)
    await store.open()
    await store.create()
    writes, scheduling = ScheduleWriteStore(store.db), SchedulingStore(store.db, HeldClock(NOW))
    schedule = await writes.create_schedule(_new("a" * 12, "echo"), now=NOW, by=OPERATOR)
    await writes.create_schedule(_new("b" * 12, "other"), now=NOW, by=OPERATOR)
    for number, (code, status) in enumerate(((0, "completed"), (3, "failed"))):
        schedule = await _fire(scheduling, schedule, f"{number}" * 12, code, status)
    refusal = Refusal(
        run_id="c" * 12,
        schedule=schedule,
        status="skipped",
        reason_code="schedule.skipped.overlap",
        reason="still running",
        trigger_context={"skipped_overlap": True, "fired_at": NOW},
        at=NOW + 125,
        claimed=schedule.next_fire_at,
        next_fire_at=NOW + 3600,
    )
    assert await scheduling.refuse(refusal, now=NOW + 125)
    await writes.set_enabled(
        "b" * 12,
        enabled=False,
        next_fire_at=None,
        expected_updated_at=NOW,
        reason_code="schedule_definition.disabled.manual",
        reason="too noisy",
        now=NOW + 6,
        by=OPERATOR,
    )
    await store.close()


def _new(schedule_id: str, name: str) -> NewSchedule:
    return NewSchedule(
        {
            "id": schedule_id,
            "name": name,
            "trigger_type": "interval",
            "interval_sec": 60,
            "action_kind": "command",
            "action_command": "echo",
            "action_command_args": ["hällo"],
            "next_fire_at": NOW,
            "managed_by": "cli",
        }
    )


async def _fire(
    scheduling: SchedulingStore, schedule: ScheduleRecord, run_id: str, exit_code: int, status: str
) -> ScheduleRecord:
    due = schedule.next_fire_at
    assert due is not None
    occurrence = Occurrence(
        run_id=run_id,
        invocation_id=f"{run_id[:11]}f",
        schedule=schedule,
        argv=("echo", "hällo"),
        prompt=None,
        trigger_context={"scheduled": True, "fired_at": due, "next_fire_at": due},
        fired_at=due,
        claimed=due,
        next_fire_at=due + 60,
    )
    assert await scheduling.claim(occurrence, now=due)
    await scheduling.mark_dispatched(run_id, due + 0.01)
    code = "run.completed.ok" if status == "completed" else "run.failed.exit_nonzero"
    outcome = Outcome(
        run_id=run_id,
        invocation_id=occurrence.invocation_id,
        status=status,
        invocation_status=status,
        reason_code=code,
        invocation_reason_code=code,
        reason="ended",
        ended_at=due + 1,
        exit_code=exit_code,
        error_detail="out" if exit_code else None,
    )
    assert await scheduling.finish(outcome, now=due + 1)
    after = await scheduling.get_schedule(schedule.schedule_id)
    assert after is not None
    return after


@pytest.fixture(scope="module")
def fired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a store that we made and fired in."""
    home = tmp_path_factory.mktemp("fired") / "home"
    asyncio.run(_fill(home))
    return home


def _everything(path: Path) -> dict[str, Any]:
    """Schema and rows of a store."""
    with closing(sqlite3.connect(path)) as connection:
        schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()
        tables = [row[1] for row in schema if row[0] == "table"]
        found: dict[str, Any] = {
            table: connection.execute(f'SELECT * FROM "{table}" ORDER BY 1, 2').fetchall() for table in tables
        }
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    return {**found, "schema": schema}


def test_the_peer_opens_it_for_writing_and_changes_nothing(fired: Path) -> None:
    path = fired / "state.db"
    before = _everything(path)
    read = ask_peer(
        fired,
        """
async with StateDB(ARGUMENTS["path"]) as db:
    return {
        "version": await db.schema_version(),
        "schedules": await db.list_schedules(),
        "one": await db.get_schedule("a" * 12),
        "named": (await db.get_schedule_by_name("echo"))["id"],
        "runs": await db.list_schedule_runs("a" * 12),
        "history": await db.get_schedule_history("b" * 12),
        "invocation": await db.get_invocation("0" * 11 + "f"),
        "undispatched": await db.list_undispatched_schedule_runs(),
    }
""",
        path=str(path),
    )
    assert _everything(path) == before
    assert sorted(name for name in os.listdir(fired) if name.startswith("state.db")) == ["state.db"]
    assert read["version"] == "4"
    assert sorted(row["name"] for row in read["schedules"]) == ["echo", "other"]
    assert read["named"] == "a" * 12
    one = read["one"]
    assert (one["action_command_args"], one["action_extra_args"], one["on_fail"]) == (["hällo"], [], None)
    assert [row["status"] for row in read["runs"]] == ["skipped", "failed", "completed"]
    assert read["runs"][2]["action_args"] == ["echo", "hällo"]
    assert read["runs"][1]["exit_code"] == 3
    assert [line["status"] for line in read["history"]["events"]] == ["disabled", "enabled"]
    assert read["history"]["events"][0]["metadata"]["provenance"]["actor_status"] == "available"
    assert read["invocation"]["node_metadata"] == {"action_kind": "command"}
    assert read["undispatched"] == []


def test_the_peer_goes_on_with_our_schedules(fired: Path) -> None:
    """The peer changes our row under its own rules, and its history follows on ours."""
    answer = ask_peer(
        fired,
        """
async with StateDB(ARGUMENTS["path"]) as db:
    await db.update_schedule("b" * 12, enabled=1)
    return (await db.get_schedule("b" * 12))["enabled"]
""",
        path=str(fired / "state.db"),
    )
    assert answer in (1, True)
    with closing(sqlite3.connect(fired / "state.db")) as connection:
        rows = connection.execute(
            "SELECT previous_status, status FROM status_transitions WHERE entity_id = ? ORDER BY rowid", ("b" * 12,)
        ).fetchall()
    assert rows == [(None, "enabled"), ("enabled", "disabled"), ("disabled", "enabled")]


def test_the_commands_of_the_peer_work_on_it(fired: Path) -> None:
    listed = run_li(fired, "state", "ls")
    assert listed.returncode == 0, listed.stderr
    assert "no sessions" in listed.stdout
    exported = run_li(fired, "schedule", "export")
    assert exported.returncode in (0, 2), exported.stderr
    assert "Traceback" not in exported.stderr
    checked = run_li(fired, "state", "doctor")
    assert checked.returncode == 0, checked.stderr


def test_a_home_of_the_peer_opens_here_ready_and_untouched(peer_home: Path) -> None:
    path = peer_home / "state.db"
    before = path.read_bytes()

    async def look() -> None:
        store = Store(None, home=peer_home)
        await store.open()
        assert store.condition().mode == "ready", store.condition()
        assert store.condition().version == "4"
        assert await store.db.fetch_all("SELECT count(*) AS n FROM sessions") == [{"n": 70}]
        scheduling = SchedulingStore(store.db, HeldClock(NOW))
        assert await scheduling.list_due(NOW + 10**9, limit=100)
        await store.close()

    asyncio.run(look())
    assert path.read_bytes() == before
    assert not (peer_home / "state.db-wal").exists()
