"""The history of file definitions, and workflow rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio_tui.state.db import StateDB
from studio_tui.state.stores.definitions import DefinitionStore
from tests.builders import NOW, a_version, a_workflow, run_sql


@pytest.fixture
def history(db: StateDB) -> DefinitionStore:
    return DefinitionStore(db)


async def test_the_newest_version_of_each_with_its_content(db: StateDB, history: DefinitionStore) -> None:
    for number in (1, 2, 10, 9):
        await a_version(db, "agent", "helper", number, message=f"m{number}", created_at=NOW + number)
    await a_version(db, "playbook", "helper", 1, content="name: helper")
    latest = await history.latest_versions()
    assert set(latest) == {("agent", "helper"), ("playbook", "helper")}
    newest = latest["agent", "helper"]
    assert (newest.version, newest.content, newest.message, newest.created_at) == (10, "version 10 of helper", "m10", NOW + 10)
    assert newest.content_length == len("version 10 of helper")


async def test_versions_newest_first_without_content(db: StateDB, history: DefinitionStore) -> None:
    for number in range(1, 6):
        await a_version(db, "skill", "notes", number, content="é" * number)
    await a_version(db, "skill", "other", 7)
    found = await history.versions("skill", "notes", limit=3)
    assert [(version.version, version.content, version.content_length) for version in found] == [
        (5, None, 5),
        (4, None, 4),
        (3, None, 3),
    ]
    assert await history.versions("agent", "notes", limit=3) == ()


async def test_one_version_with_its_content(db: StateDB, history: DefinitionStore) -> None:
    version_id = await a_version(db, "agent", "helper", 2, content="")
    found = await history.version("agent", "helper", 2)
    assert found is not None
    assert (found.version_id, found.kind, found.name, found.content, found.content_length) == (
        version_id,
        "agent",
        "helper",
        "",
        0,
    )
    assert await history.version("agent", "helper", 3) is None


async def test_workflows_by_name_and_their_specs_only_one_at_a_time(db: StateDB, history: DefinitionStore) -> None:
    await a_workflow(db, "b", description="second")
    await a_workflow(db, "a", spec_json={"version": 1, "nodes": [{"id": "x"}]})
    found = await history.list_workflows()
    assert [(workflow.name, workflow.description, workflow.spec) for workflow in found] == [
        ("a", None, None),
        ("b", "second", None),
    ]
    one = await history.get_workflow("a")
    assert one is not None
    assert (one.spec, one.error, one.updated_at) == ({"version": 1, "nodes": [{"id": "x"}]}, None, NOW)
    assert await history.get_workflow("none") is None


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_a_spec_that_is_no_json_is_said(db: StateDB, history: DefinitionStore) -> None:
    await a_workflow(db, "a")
    await run_sql(db, "UPDATE workflow_defs SET spec_json = '{oops', created_at = 'once'")
    one = await history.get_workflow("a")
    assert one is not None
    assert (one.spec, one.error, one.created_at) == (None, "the stored spec is not JSON", None)
    assert [workflow.name for workflow in await history.list_workflows()] == ["a"]


@pytest.mark.sqlite_only("PostgreSQL stores no such value")
async def test_odd_values_hide_no_version(db: StateDB, history: DefinitionStore) -> None:
    await a_version(db, "agent", "a", 1)
    await run_sql(db, "UPDATE definitions SET version = 'one', content = x'ff', created_at = 'once'")
    (found,) = await history.versions("agent", "a", limit=5)
    assert (found.version, found.created_at) == (0, None)
    assert (await history.latest_versions())["agent", "a"].content == "\ufffd"


async def test_while_there_is_no_store_there_is_no_history(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    history = DefinitionStore(db)
    assert await history.latest_versions() == {}
    assert await history.versions("agent", "x", limit=5) == ()
    assert await history.version("agent", "x", 1) is None
    assert await history.list_workflows() == ()
    assert await history.get_workflow("x") is None
