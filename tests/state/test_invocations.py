"""Invocations: pages by their last change, with how their runs do, looked up for the page alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.ports.invocations import InvocationFilter
from studio_tui.domain.invocations import InvocationRecord
from studio_tui.state.db import StateDB
from studio_tui.state.stores.invocations import InvocationStore
from tests.builders import NOW, a_firing, a_run, a_schedule, an_invocation, run_sql
from tests.state.ledger_rows import all_pages

EVERYTHING = InvocationFilter()


@pytest.fixture
def started(db: StateDB) -> InvocationStore:
    return InvocationStore(db)


async def listed(started: InvocationStore, where: InvocationFilter = EVERYTHING, limit: int = 200) -> list[str]:
    return [record.invocation_id for record in await started.list_invocations(where, before=None, limit=limit)]


async def test_an_invocation_with_all_of_it(db: StateDB, started: InvocationStore) -> None:
    firing_of = await a_schedule(db)
    await an_invocation(
        db,
        id="i1",
        skill="scheduled:nightly",
        plugin="cron",
        prompt="Do it.",
        status="failed",
        ended_at=NOW + 9,
        session_count=2,
        node_metadata={"action_kind": "agent"},
        status_reason_code="run.failed.exit_nonzero",
        status_reason_summary="exit 3",
    )
    await a_firing(db, firing_of, id="f1", invocation_id="i1", exit_code=3, error_detail="x" * 900, action_kind="agent")
    await a_firing(db, firing_of, id="f0", invocation_id="i1", exit_code=0, created_at=NOW - 9)
    await a_run(db, id="r1", invocation_id="i1", project="web", project_source="manual", updated_at=NOW + 5, last_message_at=NOW)
    await a_run(db, id="r2", invocation_id="i1", project="api", status="running", updated_at=NOW + 4, last_message_at=NOW + 3)
    await a_run(db, id="r3", invocation_id="i1", status=None, updated_at=NOW, started_at=NOW)
    found = await started.get_invocation("i1")
    assert found is not None
    assert (found.skill, found.plugin, found.prompt, found.status) == ("scheduled:nightly", "cron", "Do it.", "failed")
    assert (found.reason_code, found.reason_summary, found.session_count) == ("run.failed.exit_nonzero", "exit 3", 2)
    assert (found.project, found.project_source, found.last_activity_at) == ("web", "manual", NOW + 3)
    assert (found.firing_id, found.firing_exit_code, found.firing_error, found.action_kind) == ("f1", 3, "x" * 900, "agent")
    assert found.children == {"completed": 1, "running": 1, None: 1}
    assert [run.run_id for run in found.running] == ["r2"]
    assert found.metadata == {"action_kind": "agent"}
    (short,) = await started.list_invocations(EVERYTHING, before=None, limit=5)
    assert (short.prompt, short.metadata, short.firing_error) == (None, None, "x" * 500)
    assert (short.children, short.running, short.project) == (found.children, found.running, "web")
    assert await started.get_invocation("none") is None


async def test_one_that_started_nothing(db: StateDB, started: InvocationStore) -> None:
    await an_invocation(db, id="i1")
    (found,) = await started.list_invocations(EVERYTHING, before=None, limit=5)
    assert (found.children, found.running, found.project, found.last_activity_at, found.firing_id) == ({}, (), None, None, None)


async def test_hidden_runs_are_counted_too(db: StateDB, started: InvocationStore) -> None:
    """They are what the invocation started, whether or not a list shows them."""
    await an_invocation(db, id="i1")
    await a_run(db, invocation_id="i1", status="running", node_metadata={"engine_parent_run_id": "x"})
    (found,) = await started.list_invocations(EVERYTHING, before=None, limit=5)
    assert (found.children, len(found.running)) == ({"running": 1}, 1)


async def test_pages_and_conditions(db: StateDB, started: InvocationStore) -> None:
    for number in range(9):
        await an_invocation(
            db,
            id=f"i{number}",
            skill="a" if number % 2 else "b",
            plugin="p" if number % 3 else None,
            status="running" if number < 2 else "completed",
            updated_at=NOW + number // 2,
        )
    order = [f"i{number}" for number in range(8, -1, -1)]

    async def page(key: Any) -> tuple[InvocationRecord, ...]:
        return await started.list_invocations(EVERYTHING, before=key, limit=2)

    found = await all_pages(page, lambda record: (record.updated_at or 0.0, record.invocation_id), limit=2)
    assert [record.invocation_id for record in found] == order
    assert await listed(started, InvocationFilter(skill="a")) == ["i7", "i5", "i3", "i1"]
    assert await listed(started, InvocationFilter(plugin="p", skill="b")) == ["i8", "i4", "i2"]
    assert await listed(started, InvocationFilter(status="running")) == ["i1", "i0"]
    assert await listed(started, InvocationFilter(status="completed", skill="a"), limit=2) == ["i7", "i5"]
    assert await listed(started, InvocationFilter(status="lost")) == []


async def test_a_page_goes_on_behind_its_key_though_the_row_moved_up(db: StateDB, started: InvocationStore) -> None:
    for number in range(5):
        await an_invocation(db, id=f"i{number}", updated_at=NOW + number)
    *_, last = await started.list_invocations(EVERYTHING, before=None, limit=2)
    await run_sql(db, "UPDATE invocations SET updated_at = :at WHERE id = 'i3'", at=NOW + 99)
    assert last.updated_at is not None
    more = await started.list_invocations(EVERYTHING, before=(last.updated_at, last.invocation_id), limit=9)
    assert [record.invocation_id for record in more] == ["i2", "i1", "i0"]


@pytest.mark.sqlite_only("a server's columns hold what they are for")
async def test_rows_that_hold_anything_are_read(db: StateDB, started: InvocationStore) -> None:
    await an_invocation(db, id="i1")
    await an_invocation(db, id="i2")
    await a_run(db, invocation_id="i1", status="running")
    await run_sql(db, "UPDATE sessions SET node_metadata = '{broken', updated_at = 'x'")
    await run_sql(db, "UPDATE invocations SET node_metadata = '{broken', updated_at = 'x', session_count = 'many'")
    whole = await started.get_invocation("i1")
    assert whole is not None
    assert whole.defects == ("updated_at", "session_count", "last_activity_at", "node_metadata")
    assert whole.children == {"running": 1}

    async def page(key: Any) -> tuple[InvocationRecord, ...]:
        return await started.list_invocations(EVERYTHING, before=key, limit=1)

    found = await all_pages(page, lambda record: (record.updated_at or 0.0, record.invocation_id), limit=1)
    assert [record.invocation_id for record in found] == ["i2", "i1"]


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    assert await InvocationStore(db).list_invocations(EVERYTHING, before=None, limit=5) == ()
    assert await InvocationStore(db).get_invocation("x") is None
