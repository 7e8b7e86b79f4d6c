"""One PostgreSQL database, two programs: what we make the real lionagi opens and reads, and the other way round."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports import RunFilter
from studio_tui.state.store import Store
from studio_tui.state.stores.messages import MessageStore
from studio_tui.state.stores.runs import RunStore
from studio_tui.state.stores.schedule_writes import ScheduleWriteStore
from studio_tui.state.stores.schedules import ScheduleReadStore
from tests.interop.fired_store import NOW, fill, new_schedule
from tests.interop.fired_store import OPERATOR as BY
from tests.interop.peer_call import ask_peer
from tests.postgres import EMPTY, OPERATOR, Server

pytestmark = pytest.mark.interop

CATALOGUE = (
    "SELECT table_name, column_name, ordinal_position, data_type, column_default, is_nullable FROM information_schema.columns"
    " WHERE table_schema = 'public' ORDER BY 1, 3",
    "SELECT CAST(conrelid::regclass AS text), conname, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2",
    "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S' ORDER BY 1",
)
SEEDS = (
    "SELECT key, CASE WHEN key <> 'created_at' THEN value END FROM schema_meta ORDER BY 1",
    "SELECT * FROM message_types ORDER BY 1",
)

MAKE = """
async with StateDB(url=ARGUMENTS["url"]) as db:
    return await db.schema_version()
"""
WRITE = """
import time
async with StateDB(url=ARGUMENTS["url"]) as db:
    await db.create_progression("prog", [])
    await db.create_session({"id": "s1", "name": "from the peer", "progression_id": "prog", "status": "running",
        "invocation_kind": "agent", "agent_name": "reviewer", "created_at": time.time(), "updated_at": time.time(),
        "node_metadata": {"pid": 7}})
    await db.create_progression("branch", [])
    await db.create_branch({"id": "b1", "session_id": "s1", "progression_id": "branch", "created_at": time.time()})
    for number in range(3):
        await db.insert_message({"id": f"m{number}", "created_at": time.time(), "role": "assistant",
            "content": {"assistant_response": f"answer {number}"},
            "node_metadata": {"lion_class": "lionagi.protocols.messages.assistant_response.AssistantResponse"}})
        await db.append_to_progression("branch", f"m{number}")
        await db.append_to_progression("prog", f"m{number}")
    await db.update_status("session", "s1", new_status="failed", reason_code="run.failed.exception", reason_summary="boom")
    await db.create_schedule({"id": "c" * 12, "name": "theirs", "trigger_type": "interval", "interval_sec": 60,
        "action_kind": "command", "action_command": "echo", "action_command_args": ["hällo"]})
    return True
"""
READ = """
async with StateDB(url=ARGUMENTS["url"]) as db:
    return {
        "version": await db.schema_version(),
        "schedules": await db.list_schedules(),
        "one": await db.get_schedule("a" * 12),
        "runs": await db.list_schedule_runs("a" * 12),
        "history": await db.get_schedule_history("b" * 12),
        "invocation": await db.get_invocation("0" * 11 + "f"),
        "undispatched": await db.list_undispatched_schedule_runs(),
    }
"""
BOTH_WRITE = """
import asyncio, sys
from lionagi.state.db import StateDB
async def main():
    async with StateDB(url=sys.argv[1]) as db:
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(40):
            await db.create_schedule({"id": f"peer{number:08}", "name": f"peer-{number}", "trigger_type": "interval",
                "interval_sec": 60, "action_kind": "command", "action_command": "true"})
            await db.update_schedule(f"peer{number:08}", enabled=0)
asyncio.run(main())
"""


@pytest.fixture
def empty(postgres: Server) -> Iterator[tuple[str, str]]:
    """An empty database: its name and address."""
    name = postgres.database(EMPTY)
    yield name, postgres.url(name)
    postgres.drop(name)


def _catalogue(postgres: Server, name: str, *more: str) -> list[tuple[str, ...]]:
    return postgres.run(name, *CATALOGUE, *more)


def _everything(postgres: Server, name: str) -> list[tuple[str, ...]]:
    """Schema and rows."""
    tables = postgres.run(name, "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    return _catalogue(postgres, name, *(f"SELECT '{table}', t::text FROM {table} AS t ORDER BY 2" for (table,) in tables))


async def _made(url: str, home: Path) -> None:
    store = Store(url, home=home)
    await fill(store)


def test_a_new_store_of_ours_equals_one_of_the_peer(postgres: Server, tmp_path: Path) -> None:
    ours, theirs = postgres.database(EMPTY), postgres.database(EMPTY)
    try:
        assert ask_peer(tmp_path, MAKE, url=postgres.url(theirs)) == "4"
        asyncio.run(_create(postgres.url(ours), tmp_path))
        assert _catalogue(postgres, ours, *SEEDS) == _catalogue(postgres, theirs, *SEEDS)
    finally:
        postgres.drop(ours)
        postgres.drop(theirs)


async def _create(url: str, home: Path) -> None:
    store = Store(url, home=home)
    await store.open()
    await store.create()
    await store.close()


def test_the_peer_opens_ours_for_writing_and_changes_nothing(postgres: Server, empty: tuple[str, str], tmp_path: Path) -> None:
    name, url = empty
    asyncio.run(_made(url, tmp_path))
    before = _everything(postgres, name)
    read = ask_peer(tmp_path, READ, url=url)
    assert _everything(postgres, name) == before
    assert read["version"] == "4"
    assert sorted(row["name"] for row in read["schedules"]) == ["echo", "other"]
    one = read["one"]
    assert (one["action_command_args"], one["action_extra_args"], one["on_fail"]) == (["hällo"], [], None)
    assert [row["status"] for row in read["runs"]] == ["skipped", "failed", "completed"]
    assert read["runs"][2]["action_args"] == ["echo", "hällo"]
    assert [line["status"] for line in read["history"]["events"]] == ["disabled", "enabled"]
    assert read["invocation"]["node_metadata"] == {"action_kind": "command"}
    assert read["undispatched"] == []


def test_what_the_peer_made_and_wrote_opens_here(postgres: Server, empty: tuple[str, str], tmp_path: Path) -> None:
    name, url = empty
    assert ask_peer(tmp_path, WRITE, url=url)
    before = _everything(postgres, name)

    async def look() -> dict[str, Any]:
        store = Store(url, home=tmp_path)
        await store.open()
        assert store.condition().mode == "ready", store.condition()
        runs, messages = RunStore(store.db), MessageStore(store.db)
        page = await runs.list_runs(RunFilter(), after=None, backwards=False, limit=10)
        (branch,) = await runs.branches("s1")
        window = await messages.tail(branch.progression_id, limit=2)
        older = await messages.before(branch.progression_id, window.start, limit=5)
        found = {
            "runs": [(run.run_id, run.name, run.status, run.reason_summary, run.defects) for run in page.runs],
            "texts": [message.content for message in (*older.messages, *window.messages)],
            "classes": {message.lion_class.rpartition(".")[2] for message in window.messages},
            "history": [line.status for line in await runs.transitions("session", "s1", limit=5)],
            "schedules": await ScheduleReadStore(store.db).find_schedules("theirs", limit=5),
        }
        await store.close()
        return found

    found = asyncio.run(look())
    assert found["runs"] == [("s1", "from the peer", "failed", "boom", ())]
    assert found["texts"] == [{"assistant_response": f"answer {number}"} for number in range(3)]
    assert found["classes"] == {"AssistantResponse"}
    assert found["history"] == ["running", "failed"]
    assert [schedule.action_command_args for schedule in found["schedules"]] == [("hällo",)]
    assert _everything(postgres, name) == before


def test_both_write_at_once_and_lose_nothing(postgres: Server, empty: tuple[str, str], tmp_path: Path) -> None:
    name, url = empty
    asyncio.run(_made(url, tmp_path))
    command = [sys.executable, "-c", BOTH_WRITE, url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as peer:
        assert peer.stdout is not None
        assert peer.stdout.readline() == "ready\n"
        assert peer.stdin is not None
        peer.stdin.write("go\n")
        peer.stdin.flush()
        asyncio.run(_write_schedules(url, tmp_path, 40))
        assert peer.wait(60) == 0
    assert postgres.run(name, "SELECT count(*) FROM schedules") == [("82",)]
    lines = "SELECT count(*) FROM status_transitions WHERE entity_type = 'schedule' AND entity_id LIKE"
    assert postgres.run(name, f"{lines} 'peer%'", f"{lines} 'ours%'", user=OPERATOR) == [("80",), ("40",)]


async def _write_schedules(url: str, home: Path, count: int) -> None:
    store = Store(url, home=home)
    await store.open()
    writes = ScheduleWriteStore(store.db)
    for number in range(count):
        await writes.create_schedule(new_schedule(f"ours{number:08}", f"ours-{number}"), now=NOW, by=BY)
    await store.close()
