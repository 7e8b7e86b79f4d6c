"""A store that we made and fired in is the peer's own: it opens there for writing, unchanged, and its rows read as its rows."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from studio_tui.state.store import Store
from studio_tui.state.stores.scheduling import SchedulingStore
from tests.fakes.base import HeldClock
from tests.interop.fired_store import NOW, fill
from tests.interop.peer_call import ask_peer, run_li

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def fired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a store that we made and fired in."""
    home = tmp_path_factory.mktemp("fired") / "home"
    asyncio.run(fill(Store(None, home=home)))
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
