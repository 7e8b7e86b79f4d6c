"""Tags, labels and projects: the exact rules of who may change what (ADR-0077 D4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.models.projects import AssignRuns, CreateProject, DeleteProject, ProjectPatch, UpdateProject
from studio_tui.application.models.tags import LabelRun, TagRun, UntagRun
from studio_tui.state.stores.projects import ProjectStore
from tests.application.covering import covers
from tests.application.home import OpenHome
from tests.builders import a_run, run_sql


async def sql(home: OpenHome, text: str) -> list[dict[str, Any]]:
    return await home.db.fetch_all(text)


class TestTags:
    async def test_tags_are_cleaned_counted_and_taken_off(self, home: OpenHome) -> None:
        tags = home.studio.tags
        await a_run(home.db, id="r1")
        assert (await tags.add_tag(TagRun(run_id="r1", tag=" hot "))).tags == ("hot",)
        assert (await tags.add_tag(TagRun(run_id="r1", tag="cold"))).tags == ("cold", "hot")
        assert [(count.tag, count.runs) for count in await tags.list_tags()] == [("cold", 1), ("hot", 1)]
        assert (await tags.remove_tag(UntagRun(run_id="r1", tag="hot"))).tags == ("cold",)
        assert [entry.tags for entry in await tags.tags_of(("r1", "gone"))] == [("cold",), ()]

    @pytest.mark.parametrize("tag", [" ", "a\0b"])
    async def test_a_tag_that_says_nothing_is_refused(self, home: OpenHome, tag: str) -> None:
        await a_run(home.db, id="r1")
        with pytest.raises(ValidationFailure):
            await home.studio.tags.add_tag(TagRun(run_id="r1", tag=tag))

    @covers("tags.set_label", "stale")
    async def test_a_label_is_changed_by_who_saw_it(self, home: OpenHome) -> None:
        tags = home.studio.tags
        await a_run(home.db, id="r1", user_label=None)
        assert (await tags.set_label(LabelRun(run_id="r1", label=" mine ", expected_label=None))).label == "mine"
        with pytest.raises(Conflict) as caught:
            await tags.set_label(LabelRun(run_id="r1", label="theirs", expected_label=None))
        assert (caught.value.expected, caught.value.actual) == (None, "mine")
        assert (await tags.set_label(LabelRun(run_id="r1", label=None, expected_label="mine"))).label is None

    @covers("tags.add_tag", "missing")
    @covers("tags.set_label", "missing")
    async def test_a_run_that_was_deleted_a_moment_ago_takes_neither(self, home: OpenHome) -> None:
        await a_run(home.db, id="r1")
        await run_sql(home.db, "DELETE FROM sessions")
        for act in (
            home.studio.tags.add_tag(TagRun(run_id="r1", tag="hot")),
            home.studio.tags.set_label(LabelRun(run_id="r1", label="x", expected_label=None)),
        ):
            with pytest.raises(NotFound):
                await act
        assert await sql(home, "SELECT * FROM run_tags") == []


class TestProjects:
    async def test_lists_count_runs_and_those_of_no_project(self, home: OpenHome) -> None:
        await home.studio.projects.create_project(CreateProject(name=" web ", description="the site"))
        await a_run(home.db, id="r1", project="web", status="running")
        await a_run(home.db, id="r2", project=None)
        found = await home.studio.projects.list_projects()
        assert [(p.name, p.source, p.run_count, p.running_count) for p in found.projects] == [("web", "studio", 1, 1)]
        assert found.unassigned_count == 1
        detail = await home.studio.projects.get_project("web")
        assert [(use.name, use.runs) for use in detail.agents] == [("reviewer", 1)]

    async def test_where_there_is_no_store_the_list_is_empty(self, tmp_path: Path) -> None:
        nowhere = OpenHome(tmp_path / "none")
        await nowhere.open()
        found = await nowhere.studio.projects.list_projects()
        await nowhere.close()
        assert found.model_dump() == {"projects": (), "unassigned_count": 0}

    @covers("projects.create_project", "stale")
    async def test_a_name_is_taken_once_and_is_never_blank(self, home: OpenHome) -> None:
        await home.studio.projects.create_project(CreateProject(name="web"))
        with pytest.raises(Conflict) as caught:
            await home.studio.projects.create_project(CreateProject(name="web"))
        assert "taken" in str(caught.value)
        with pytest.raises(ValidationFailure):
            await home.studio.projects.create_project(CreateProject(name="  "))

    async def test_only_projects_of_the_studio_and_of_the_override_are_edited_and_only_those_of_the_studio_deleted(
        self, home: OpenHome
    ) -> None:
        projects, store = home.studio.projects, ProjectStore(home.db, home.clock)
        for source, editable, deletable in (
            ("studio", True, True),
            ("global_override", True, False),
            ("config_toml", False, False),
            ("git_remote", False, False),
        ):
            await store.register_project(source, source)
            shown = await projects.get_project(source)
            assert (shown.editable, shown.deletable) == (editable, deletable)
            change = UpdateProject(name=source, changes=ProjectPatch(description="d"))
            if editable:
                assert (await projects.update_project(change)).description == "d"
            else:
                with pytest.raises(PermissionDenied):
                    await projects.update_project(change)
            if not deletable:
                with pytest.raises(PermissionDenied):
                    await projects.delete_project(DeleteProject(name=source))

    @covers("projects.update_project", "stale")
    async def test_what_is_left_out_stays_and_null_clears(self, home: OpenHome) -> None:
        projects = home.studio.projects
        await projects.create_project(CreateProject(name="web", description="d", github="o/r", path="/w"))
        cleared = await projects.update_project(
            UpdateProject(name="web", changes=ProjectPatch(github=None), expected=ProjectPatch(github="o/r", description="d"))
        )
        assert (cleared.description, cleared.github, cleared.path) == ("d", None, "/w")
        late = UpdateProject(name="web", changes=ProjectPatch(github="x/y"), expected=ProjectPatch(github="o/r"))
        with pytest.raises(Conflict) as caught:
            await projects.update_project(late)
        assert (caught.value.expected, caught.value.actual) == ("o/r", None)
        before = await projects.get_project("web")
        home.clock.at += 10
        await projects.update_project(UpdateProject(name="web", changes=ProjectPatch()))
        assert await projects.get_project("web") == before

    async def test_assigning_marks_runs_as_put_there_by_hand_and_makes_the_project(self, home: OpenHome) -> None:
        projects = home.studio.projects
        await a_run(home.db, id="r1", project="old", updated_at=5.0)
        await a_run(home.db, id="r2", project=None, updated_at=6.0)
        assert (await projects.assign_runs(AssignRuns(name="new"))).assigned == 0
        assert (await projects.list_projects()).projects == ()
        assert (await projects.assign_runs(AssignRuns(name="new", run_ids=("r1", "gone")))).assigned == 1
        assert (await projects.assign_runs(AssignRuns(name="new", unassigned=True))).assigned == 1
        rows = await sql(home, "SELECT project, project_source, updated_at FROM sessions ORDER BY id")
        assert [tuple(row.values()) for row in rows] == [("new", "manual", 5.0), ("new", "manual", 6.0)]
        assert (await projects.get_project("new")).source == "studio"

    @covers("projects.delete_project", "missing")
    async def test_runs_of_a_deleted_project_keep_its_name(self, home: OpenHome) -> None:
        projects = home.studio.projects
        await projects.assign_runs(AssignRuns(name="web", run_ids=(await a_run(home.db),)))
        await projects.delete_project(DeleteProject(name="web"))
        assert [row["project"] for row in await sql(home, "SELECT project FROM sessions")] == ["web"]
        with pytest.raises(NotFound):
            await projects.delete_project(DeleteProject(name="web"))
