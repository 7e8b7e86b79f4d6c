"""PATCH: what is left out stays, what is said is so afterwards, and an explicit null is something that is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from studio_tui.application.models.projects import CreateProject, ProjectPatch, UpdateProject
from studio_tui.application.models.schedules import PatchSchedule, SchedulePatch
from studio_tui.application.models.workflows import CreateWorkflow, PatchWorkflow
from tests.application.home import OpenHome
from tests.application.records import Schedules, a_schedule
from tests.builders import run_sql

_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12).map(str.strip).filter(bool)
_SLOW_HOME = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

_PROJECT = st.fixed_dictionaries({}, optional=dict.fromkeys(("description", "github", "path"), st.none() | _TEXT))


@_SLOW_HOME
@given(changes=_PROJECT)
async def test_a_project(home: OpenHome, changes: dict[str, Any]) -> None:
    await run_sql(home.db, "DELETE FROM projects")
    await home.studio.projects.create_project(CreateProject(name="web", description="d", github="g", path="p"))
    patch = ProjectPatch.model_validate_json(ProjectPatch(**changes).model_dump_json(exclude_unset=True))
    await home.studio.projects.update_project(UpdateProject(name="web", changes=patch))
    stored = await home.studio.projects.get_project("web")
    assert (stored.description, stored.github, stored.path) == tuple(
        changes.get(name, before) for name, before in (("description", "d"), ("github", "g"), ("path", "p"))
    )


_SPEC: dict[str, Any] = {"version": 1, "nodes": [], "edges": []}
_WORKFLOW = st.fixed_dictionaries(
    {},
    optional={
        "name": _TEXT,
        "description": st.none() | _TEXT,
        "spec": st.none() | st.just({**_SPEC, "inputs": ["topic"]}),
    },
)


@_SLOW_HOME
@given(changes=_WORKFLOW)
async def test_a_workflow(home: OpenHome, changes: dict[str, Any]) -> None:
    await run_sql(home.db, "DELETE FROM workflow_defs")
    made = await home.studio.workflows.create_workflow(CreateWorkflow(name="walk", description="d", spec=_SPEC))
    sent = PatchWorkflow(workflow_id=made.id, expected_updated_at=made.updated_at or 0.0, **changes)
    stored = await home.studio.workflows.update_workflow(
        PatchWorkflow.model_validate_json(sent.model_dump_json(exclude_unset=True))
    )
    before = {"name": "walk", "description": "d", "spec": _SPEC}
    assert {name: getattr(stored, name) for name in before} == before | changes
    assert (stored.updated_at == made.updated_at) == (not changes)


_SCHEDULE = st.fixed_dictionaries(
    {},
    optional={
        "description": st.none() | _TEXT,
        "missed_fire_policy": st.sampled_from(["skip", "run_once"]),
        "overlap_policy": st.sampled_from(["skip", "allow"]),
        "max_runs": st.none() | st.integers(1, 10_000),
        "budget_usd": st.none() | st.floats(0.01, 1e6),
        "budget_tokens": st.none() | st.integers(1, 10**9),
    },
)


@settings(max_examples=60, deadline=None)
@given(changes=_SCHEDULE)
async def test_a_schedule(changes: dict[str, Any]) -> None:
    world = Schedules()
    before = replace(
        a_schedule(),
        description="d",
        action_command="echo",
        action_cwd="/srv",
        max_runs=7,
        budget_usd=2.0,
        budget_tokens=500,
        missed_fire_policy="run_once",
        overlap_policy="allow",
    )
    world.port.add(before)
    sent = PatchSchedule(
        schedule_id=before.schedule_id, expected_updated_at=before.updated_at or 0.0, changes=SchedulePatch(**changes)
    )
    await world.service.patch_schedule(PatchSchedule.model_validate_json(sent.model_dump_json(exclude_unset=True)))
    after = world.port.schedules[before.schedule_id]
    for name in ("description", "missed_fire_policy", "overlap_policy", "max_runs", "budget_usd", "budget_tokens"):
        assert getattr(after, name) == changes.get(name, getattr(before, name)), name
    assert (after.name, after.action_command, after.interval_sec) == (before.name, before.action_command, before.interval_sec)
