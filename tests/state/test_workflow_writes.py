"""Workflow definitions: changed only by somebody who has seen them as they are."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.ports.definition_writes import WorkflowDraft
from studio_tui.domain.definitions import WorkflowRecord
from studio_tui.state.db import StateDB
from studio_tui.state.schema import workflow_defs
from studio_tui.state.stores.workflow_writes import WorkflowWriteStore
from tests.builders import NOW, a_workflow, run_sql
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import not_refused

SPEC = {"version": 1, "nodes": [{"id": "ä", "kind": "input", "pos": {"x": 0, "y": 1.5}}], "edges": []}


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW)


@pytest.fixture
def workflows(db: StateDB, clock: SteeredClock) -> WorkflowWriteStore:
    return WorkflowWriteStore(db, clock)


async def rows(db: StateDB) -> list[dict[str, Any]]:
    return await db.fetch_all(workflow_defs.select().order_by(workflow_defs.c.name))


def version_of(workflow: WorkflowRecord) -> float:
    assert workflow.updated_at is not None
    return workflow.updated_at


async def test_a_definition(db: StateDB, workflows: WorkflowWriteStore) -> None:
    made = await workflows.create_workflow(WorkflowDraft("  triage ", "Sorts.", SPEC))
    assert await rows(db) == [
        {
            "id": made.workflow_id,
            "name": "triage",
            "description": "Sorts.",
            "spec_json": SPEC,
            "created_at": NOW,
            "updated_at": NOW,
        }
    ]
    assert len(made.workflow_id) == 12
    with pytest.raises(Conflict, match="the name triage is taken"):
        await workflows.create_workflow(WorkflowDraft("triage"))
    empty = await workflows.create_workflow(WorkflowDraft("empty"))
    assert (empty.spec, empty.description, empty.error) == (None, None, None)


async def test_only_what_is_named_changes(db: StateDB, workflows: WorkflowWriteStore, clock: SteeredClock) -> None:
    made = await workflows.create_workflow(WorkflowDraft("triage", "Sorts.", SPEC))
    clock.advance(5)
    same = await workflows.update_workflow(made.workflow_id, {}, expected_updated_at=NOW)
    assert same == made
    changed = await workflows.update_workflow(made.workflow_id, {"description": None}, expected_updated_at=NOW)
    assert (changed.name, changed.description, changed.spec, changed.updated_at) == ("triage", None, SPEC, NOW + 5)
    renamed = await workflows.update_workflow(
        made.workflow_id, {"name": " sort ", "spec": None}, expected_updated_at=version_of(changed)
    )
    assert (renamed.name, renamed.spec, renamed.created_at) == ("sort", None, NOW)


async def test_invariant_16_a_change_compares_the_exact_moment(
    db: StateDB, workflows: WorkflowWriteStore, clock: SteeredClock
) -> None:
    """The double itself, neither rounded nor written anew; and after every change it is another one."""
    clock.at = NOW + 0.123_456_789
    made = await workflows.create_workflow(WorkflowDraft("triage"))
    exact = version_of(made)
    for near in (round(exact, 3), math.nextafter(exact, 0), math.nextafter(exact, math.inf), NOW):
        assert near != exact
        with pytest.raises(Conflict):
            await workflows.update_workflow(made.workflow_id, {"name": "x"}, expected_updated_at=near)
    seen = exact
    for number in range(3):
        changed = await workflows.update_workflow(made.workflow_id, {"name": f"n{number}"}, expected_updated_at=seen)
        assert version_of(changed) > seen
        seen = version_of(changed)
    clock.at = NOW - 3600
    back = await workflows.update_workflow(made.workflow_id, {"name": "back"}, expected_updated_at=seen)
    assert version_of(back) > seen


async def test_of_many_changes_to_what_all_have_seen_one_is_made(db: StateDB, workflows: WorkflowWriteStore) -> None:
    made = await workflows.create_workflow(WorkflowDraft("triage"))
    changes = (workflows.update_workflow(made.workflow_id, {"name": f"n{n}"}, expected_updated_at=NOW) for n in range(5))
    outcomes = await asyncio.gather(*changes, return_exceptions=True)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 4
    with pytest.raises(Conflict):
        await workflows.delete_workflow(made.workflow_id, expected_updated_at=NOW)
    assert len(await rows(db)) == 1


async def test_a_taken_name_changes_nothing(db: StateDB, workflows: WorkflowWriteStore) -> None:
    await workflows.create_workflow(WorkflowDraft("a"))
    made = await workflows.create_workflow(WorkflowDraft("b", "x"))
    with pytest.raises(Conflict, match="the name a is taken"):
        await workflows.update_workflow(made.workflow_id, {"name": "a", "description": "y"}, expected_updated_at=NOW)
    assert [(row["name"], row["description"], row["updated_at"]) for row in await rows(db)] == [("a", None, NOW), ("b", "x", NOW)]


async def test_deleting(db: StateDB, workflows: WorkflowWriteStore) -> None:
    made = await workflows.create_workflow(WorkflowDraft("a"))
    await workflows.delete_workflow(made.workflow_id, expected_updated_at=NOW)
    assert await rows(db) == []
    calls = (
        workflows.delete_workflow(made.workflow_id, expected_updated_at=NOW),
        workflows.update_workflow(made.workflow_id, {"name": "b"}, expected_updated_at=NOW),
    )
    assert await not_refused(NotFound, calls) == []


async def test_what_is_no_definition(db: StateDB, workflows: WorkflowWriteStore) -> None:
    wrong: list[dict[str, Any]] = [
        {"name": " "},
        {"name": "x" * 121},
        {"name": None},
        {"name": "\ud800"},
        {"description": 3},
        {"description": "\ud800"},
        {"spec": [1]},
        {"spec": {"n": float("nan")}},
        {"version": 2},
    ]
    made = await workflows.create_workflow(WorkflowDraft("a"))
    calls = (workflows.update_workflow(made.workflow_id, changes, expected_updated_at=NOW) for changes in wrong)
    assert await not_refused(ValidationFailure, calls) == []
    drafts = (WorkflowDraft(" "), WorkflowDraft("x" * 121), WorkflowDraft("b", spec={"n": {1}}))
    assert await not_refused(ValidationFailure, map(workflows.create_workflow, drafts)) == []
    assert [(row["name"], row["updated_at"]) for row in await rows(db)] == [("a", NOW)]


@pytest.mark.sqlite_only("a server's json columns hold JSON")
async def test_a_broken_spec_can_be_replaced(db: StateDB, workflows: WorkflowWriteStore) -> None:
    workflow_id = await a_workflow(db, "a")
    await run_sql(db, "UPDATE workflow_defs SET spec_json = '{broken'")
    same = await workflows.update_workflow(workflow_id, {}, expected_updated_at=NOW)
    assert (same.spec, same.error) == (None, "the stored spec is not JSON")
    mended = await workflows.update_workflow(workflow_id, {"spec": SPEC}, expected_updated_at=NOW)
    assert (mended.spec, mended.error) == (SPEC, None)
