"""Workflows: the rules of their graphs, and changes that carry what was seen (ADR-0077 D3)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, ValidationFailure
from studio_tui.application.models.workflows import CreateWorkflow, DeleteWorkflow, PatchWorkflow, WorkflowDefinition
from studio_tui.domain.workflows import spec_faults
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.builders import run_sql

SPEC: dict[str, Any] = {
    "version": 1,
    "nodes": [
        {"id": "in", "kind": "input", "pos": {"x": 0, "y": 0.5}, "config": {}},
        {"id": "ask", "kind": "chat", "pos": {"x": 1, "y": 0}, "config": {"prompt": "hi", "model": "claude_code/haiku"}},
    ],
    "edges": [{"id": "e1", "from": "in", "to": "ask", "condition": "x > 1"}],
    "inputs": ["topic"],
    "outputs": [],
}


async def make(home: OpenHome, name: str = "walk", spec: dict[str, Any] | None = None) -> WorkflowDefinition:
    return await home.studio.workflows.create_workflow(CreateWorkflow(name=name, description="d", spec=spec or SPEC))


async def test_a_workflow_is_made_and_found_by_name_and_by_id(home: OpenHome) -> None:
    made = await make(home, "  walk  ")
    assert (made.name, made.spec, made.faults) == ("walk", SPEC, ())
    workflows = home.studio.workflows
    assert await workflows.get_workflow("walk") == await workflows.get_workflow(made.id) == made
    assert [(one.id, one.name) for one in await workflows.list_workflows()] == [(made.id, "walk")]


@covers("workflows.update_workflow", "stale")
async def test_what_is_left_out_stays_null_clears_and_a_stale_version_changes_nothing(home: OpenHome) -> None:
    workflows, made = home.studio.workflows, await make(home)
    home.clock.at += 5
    seen = made.updated_at
    assert seen is not None
    changed = await workflows.update_workflow(
        PatchWorkflow(workflow_id=made.id, expected_updated_at=seen, name="run", description=None)
    )
    assert (changed.name, changed.description, changed.spec) == ("run", None, SPEC)
    with pytest.raises(Conflict) as caught:
        await workflows.update_workflow(PatchWorkflow(workflow_id=made.id, expected_updated_at=seen, name="crawl"))
    assert (caught.value.expected, caught.value.actual) == (repr(seen), repr(changed.updated_at))
    assert changed.updated_at is not None
    same = await workflows.update_workflow(PatchWorkflow(workflow_id=made.id, expected_updated_at=changed.updated_at))
    assert same == changed
    nameless = PatchWorkflow(workflow_id=made.id, expected_updated_at=changed.updated_at, name=None)
    with pytest.raises(ValidationFailure):
        await workflows.update_workflow(nameless)


@covers("workflows.create_workflow", "stale")
async def test_a_name_is_taken_once(home: OpenHome) -> None:
    await make(home)
    with pytest.raises(Conflict, match="taken"):
        await make(home)


@covers("workflows.delete_workflow", "stale")
@covers("workflows.delete_workflow", "missing")
async def test_what_is_deleted_is_what_was_seen(home: OpenHome) -> None:
    workflows, made = home.studio.workflows, await make(home)
    with pytest.raises(Conflict):
        await workflows.delete_workflow(DeleteWorkflow(workflow_id=made.id, expected_updated_at=1.0))
    right = DeleteWorkflow(workflow_id=made.id, expected_updated_at=made.updated_at or 0.0)
    await workflows.delete_workflow(right)
    with pytest.raises(NotFound):
        await workflows.delete_workflow(right)


async def test_an_old_row_with_a_removed_node_opens_and_says_so(home: OpenHome) -> None:
    made = await make(home)
    await run_sql(
        home.db,
        "UPDATE workflow_defs SET spec_json = :spec",
        spec='{"version": 1, "nodes": [{"id": "g", "kind": "gate", "pos": {"x": 0, "y": 0}}], "edges": []}',
    )
    shown = await home.studio.workflows.get_workflow(made.id)
    assert shown.faults == ("nodes.0.kind: gate nodes were removed; put the condition on an edge instead",)
    for text, fault in (("{torn", "the stored spec is not JSON"), ("[1]", "the stored graph is no object")):
        await run_sql(home.db, "UPDATE workflow_defs SET spec_json = :spec", spec=text)
        shown = await home.studio.workflows.get_workflow(made.id)
        assert (shown.spec, shown.faults) == (None, (fault,))


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """The sound graph with one value set (``...`` takes it away)."""
    spec = copy.deepcopy(SPEC)
    place: Any = spec
    for step in path[:-1]:
        place = place[step]
    if value is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return spec


NODE = SPEC["nodes"][0]


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        (("version",), 2, ("version",)),
        (("version",), True, ("version",)),
        (("base_dir",), "/x", ("base_dir",)),
        (("nodes",), {}, ("nodes",)),
        (("edges",), ..., ("edges",)),
        (("nodes", 0), "x", ("nodes", 0)),
        (("nodes", 0, "id"), " ", ("nodes", 0, "id")),
        (("nodes", 0, "kind"), "teleport", ("nodes", 0, "kind")),
        (("nodes", 0, "kind"), "gate", ("nodes", 0, "kind")),
        (("nodes", 0, "pos", "x"), "left", ("nodes", 0, "pos")),
        (("nodes", 0, "pos"), ..., ("nodes", 0, "pos")),
        (("nodes", 1, "id"), "in", ("nodes", 1, "id")),
        (("nodes", 1, "config", "prompt"), None, ("nodes", 1, "config", "prompt")),
        (("nodes", 1, "config", "model"), "haiku", ("nodes", 1, "config", "model")),
        (("edges", 0), None, ("edges", 0)),
        (("edges", 0, "to"), "nowhere", ("edges", 0, "to")),
        (("edges", 0, "from"), ["in"], ("edges", 0, "from")),
        (("edges", 0, "condition"), "", ("edges", 0, "condition")),
        (("edges",), SPEC["edges"] * 2, ("edges", 1, "id")),
        (("inputs",), [1], ("inputs",)),
        (("outputs",), "all", ("outputs",)),
        (("nodes",), [{**NODE, "id": f"n{n}"} for n in range(201)], ("nodes",)),
        (("edges",), [{"id": f"e{n}", "from": "in", "to": "ask"} for n in range(401)], ("edges",)),
    ],
)
async def test_a_broken_rule_is_named_where_it_is_broken_and_nothing_is_stored(
    home: OpenHome, path: tuple[str | int, ...], value: Any, fault: tuple[str | int, ...]
) -> None:
    spec = changed(path, value)
    with pytest.raises(ValidationFailure) as caught:
        await make(home, spec=spec)
    assert ("spec", *fault) in [failure.path for failure in caught.value.field_errors]
    assert await home.studio.workflows.list_workflows() == ()


async def test_a_graph_without_a_bottom_is_refused(home: OpenHome) -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"x": deep}
    with pytest.raises(ValidationFailure, match="cannot be written as JSON"):
        await make(home, spec={**SPEC, "more": deep})


def test_the_largest_graph_that_is_allowed_is_sound() -> None:
    spec = changed(("nodes",), [{**NODE, "id": f"n{n}"} for n in range(200)])
    spec["edges"] = [{"id": f"e{n}", "from": f"n{n % 200}", "to": "n0"} for n in range(400)]
    assert spec_faults(spec) == ()
