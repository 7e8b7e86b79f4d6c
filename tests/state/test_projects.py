"""Projects: whose they are, how many runs they have, and how runs come into them (ADR-0077 D4)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from studio_tui.application.errors import Conflict, NotFound, PermissionDenied, ValidationFailure
from studio_tui.application.ports.projects import ProjectChanges
from studio_tui.domain.projects import ProjectRecord
from studio_tui.state.db import StateDB
from studio_tui.state.schema import projects, sessions
from studio_tui.state.stores.projects import ProjectStore
from tests.builders import NOW, a_run, run_sql, runs_at
from tests.fakes.clock import SteeredClock
from tests.state.ledger_rows import a_project, not_refused


@pytest.fixture
def clock() -> SteeredClock:
    return SteeredClock(at=NOW + 100)


@pytest.fixture
def known(db: StateDB, clock: SteeredClock) -> ProjectStore:
    return ProjectStore(db, clock)


async def row(db: StateDB, name: str) -> dict[str, Any] | None:
    return await db.fetch_one(projects.select().where(projects.c.name == name))


async def got(known: ProjectStore, name: str) -> ProjectRecord:
    found = await known.get_project(name)
    assert found is not None
    return found


async def test_a_project_of_our_own(db: StateDB, known: ProjectStore) -> None:
    made = await known.create_project("  web ", github="o/web", description="The site", path="/srv/web")
    assert await row(db, "web") == {
        "name": "web",
        "source": "studio",
        "path": "/srv/web",
        "github": "o/web",
        "description": "The site",
        "created_at": NOW + 100,
        "updated_at": NOW + 100,
        "last_seen_at": NOW + 100,
    }
    assert (made.is_editable, made.is_deletable) == (True, True)
    with pytest.raises(Conflict, match="the name web is taken"):
        await known.create_project("web")
    wrong = (known.create_project("  "), known.create_project("a\ud800"), known.create_project("x", path="\0"))
    assert await not_refused(ValidationFailure, wrong) == []


async def test_seeing_a_project_replaces_what_is_given_and_clears_nothing(
    db: StateDB, known: ProjectStore, clock: SteeredClock
) -> None:
    made = await known.register_project("web", "cwd_dir", path="/a")
    assert (made.source, made.path, made.created_at) == ("cwd_dir", "/a", NOW + 100)
    clock.advance(5)
    again = await known.register_project("web", "git_remote", github="o/web")
    assert (again.source, again.path, again.github) == ("cwd_dir", "/a", "o/web")
    assert (again.created_at, again.updated_at, again.last_seen_at) == (NOW + 100, NOW + 105, NOW + 105)
    declared = await known.register_project("web", "config_toml", path="/b")
    assert (declared.source, declared.path, declared.github) == ("config_toml", "/b", "o/web")
    assert (await known.register_project("web", "explicit")).source == "config_toml"
    assert (await known.register_project("web", "global_override")).source == "global_override"


async def test_projects_with_their_runs(db: StateDB, known: ProjectStore) -> None:
    await a_project(db, "old", last_seen_at=NOW - 50)
    await a_project(db, "never seen", last_seen_at=None, updated_at=NOW + 9)
    await a_project(db, "busy", source="git_remote", last_seen_at=NOW)
    for status, project in (("running", "busy"), ("completed", "busy"), (None, "busy"), ("failed", "old"), ("failed", None)):
        await a_run(db, status=status, project=project)
    await a_run(db, status="running", project="gone")
    await a_run(db, status="running", project="busy", node_metadata={"engine_parent_run_id": "x"})
    found = await known.list_projects()
    assert [(project.name, project.run_count, project.running_count) for project in found.projects] == [
        ("never seen", 0, 0),
        ("busy", 4, 2),
        ("old", 1, 0),
    ]
    assert found.unassigned == 1
    one = await got(known, "busy")
    assert one == found.projects[1]
    assert (one.is_editable, one.is_deletable) == (False, False)
    assert await known.get_project("none") is None


async def test_counts_follow_every_change(db: StateDB, known: ProjectStore, home: Path) -> None:
    """They are kept while nothing was committed, and no longer; also when another process did it."""
    await a_project(db, "web")
    assert (await known.list_projects()).unassigned == 0
    await a_run(db, id="r1")
    assert (await known.list_projects()).unassigned == 1
    async with StateDB(url=db.url) as other:
        await other.execute(sessions.update().values(project="web"))
    found = await known.list_projects()
    assert (found.unassigned, found.projects[0].run_count) == (0, 1)


@pytest.mark.sqlite_only("the server's counter of commits follows too late to be relied on")
async def test_runs_are_counted_again_only_when_something_was_committed(
    db: StateDB, known: ProjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from studio_tui.state.stores import project_counts

    counted = []
    real = project_counts._count

    async def count(connection: Any) -> Any:
        counted.append(1)
        return await real(connection)

    monkeypatch.setattr(project_counts, "_count", count)
    for _ in range(3):
        await known.list_projects()
    assert len(counted) == 1
    await a_run(db)
    await known.list_projects()
    assert len(counted) == 2


async def test_what_a_project_is_made_of(db: StateDB, known: ProjectStore) -> None:
    await a_project(db, "web")
    for agent, playbook in (("b", "x"), ("a", "x"), ("c", None), ("c", None), (None, "y")):
        await a_run(db, project="web", agent_name=agent, playbook_name=playbook)
    await a_run(db, project="api", agent_name="z")
    use = await known.project_use("web")
    assert use.agents == (("c", 2), ("a", 1), ("b", 1))
    assert use.playbooks == (("x", 2), ("y", 1))
    for number in range(25):
        await a_run(db, project="big", agent_name=f"agent {number}")
    assert len((await known.project_use("big")).agents) == 20


async def test_changing_a_project(db: StateDB, known: ProjectStore, clock: SteeredClock) -> None:
    await a_project(db, "web", description="old", github="o/web")
    before = await row(db, "web")
    assert await known.update_project("web", ProjectChanges({})) == await got(known, "web")
    assert await row(db, "web") == before
    changed = await known.update_project("web", ProjectChanges({"description": "new", "github": None}, {"description": "old"}))
    assert (changed.description, changed.github, changed.updated_at, changed.last_seen_at) == ("new", None, NOW + 100, NOW)
    again = await known.update_project("web", ProjectChanges({"path": "/srv"}))
    assert again.updated_at is not None
    assert again.updated_at > NOW + 100
    with pytest.raises(Conflict, match="the description of the project was changed") as raised:
        await known.update_project("web", ProjectChanges({"description": "mine"}, {"description": "old"}))
    assert (raised.value.expected, raised.value.actual) == ("old", "new")
    with pytest.raises(ValidationFailure, match="name: is not to be changed"):
        await known.update_project("web", ProjectChanges({"name": "x"}))
    with pytest.raises(NotFound):
        await known.update_project("none", ProjectChanges({"path": "x"}))


@pytest.mark.parametrize(
    ("source", "editable", "deletable"),
    [("studio", True, True), ("global_override", True, False), ("config_toml", False, False), ("cwd_dir", False, False)],
)
async def test_whose_a_project_is(db: StateDB, known: ProjectStore, source: str, editable: bool, deletable: bool) -> None:
    await a_project(db, "web", source=source)
    await a_run(db, id="r1", project="web")
    if editable:
        assert (await known.update_project("web", ProjectChanges({"path": "x"}))).path == "x"
    else:
        with pytest.raises(PermissionDenied, match=source):
            await known.update_project("web", ProjectChanges({"path": "x"}))
    if deletable:
        await known.delete_project("web")
        with pytest.raises(NotFound):
            await known.delete_project("web")
    else:
        with pytest.raises(PermissionDenied, match="only projects made in the studio"):
            await known.delete_project("web")
    assert (await row(db, "web") is None) is deletable
    assert await db.fetch_one(sessions.select().where(sessions.c.project == "web")) is not None


async def test_invariant_26_putting_runs_into_a_project_moves_none_of_their_times(db: StateDB, known: ProjectStore) -> None:
    await a_run(db, id="r1", status="running", last_message_at=NOW - 7, project="old", project_source="cwd_dir")
    await a_run(db, id="r2", node_metadata={"pid": 1})
    before = {run["id"]: run for run in await db.fetch_all(sessions.select())}
    assert await known.assign_runs("web", ["r1", "r2", "r1", "gone"]) == 2
    after = {run["id"]: run for run in await db.fetch_all(sessions.select())}
    assert after == {name: {**run, "project": "web", "project_source": "manual"} for name, run in before.items()}
    made = await got(known, "web")
    assert (made.source, made.run_count, made.last_seen_at) == ("studio", 2, NOW + 100)


async def test_a_known_project_keeps_its_source_when_runs_come_into_it(
    db: StateDB, known: ProjectStore, clock: SteeredClock
) -> None:
    await a_project(db, "web", source="config_toml", path="/srv")
    await a_run(db, id="r1")
    assert await known.assign_runs("web", []) == 0
    assert (await got(known, "web")).last_seen_at == NOW
    assert await known.assign_runs("web", ["r1"]) == 1
    found = await got(known, "web")
    assert (found.source, found.path, found.last_seen_at, found.updated_at) == ("config_toml", "/srv", NOW + 100, NOW + 100)
    with pytest.raises(ValidationFailure):
        await known.assign_runs(" ", ["r1"])


async def test_all_that_are_in_no_project(db: StateDB, known: ProjectStore) -> None:
    for number in range(3):
        await a_run(db, id=f"r{number}", project=None if number else "api")
    assert await known.assign_unassigned("web") == 2
    assert await known.assign_unassigned("web") == 0
    found = await known.list_projects()
    assert ([(project.name, project.run_count) for project in found.projects], found.unassigned) == ([("web", 2)], 0)


async def test_many_runs_at_once(db: StateDB, known: ProjectStore) -> None:
    ids = [f"r{number}" for number in range(2500)]
    await runs_at(db, dict.fromkeys(ids, NOW))
    assert await known.assign_runs("web", ids) == 2500


async def test_one_of_two_makers_wins(db: StateDB, known: ProjectStore) -> None:
    outcomes = await asyncio.gather(*(known.create_project("web", path=f"/{n}") for n in range(4)), return_exceptions=True)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 3


@pytest.mark.sqlite_only("a server's columns hold what they are for")
async def test_rows_that_hold_anything_are_read(db: StateDB, known: ProjectStore) -> None:
    await a_project(db, "web")
    await run_sql(db, "UPDATE projects SET last_seen_at = 'x', created_at = -5, path = x'ff'")
    (found,) = (await known.list_projects()).projects
    assert (found.name, found.defects) == ("web", ("path", "created_at", "last_seen_at"))


async def test_while_there_is_no_store_there_is_nothing(tmp_path: Path) -> None:
    db = StateDB(tmp_path / "state.db")
    db.missing = True
    known = ProjectStore(db, SteeredClock())
    found = await known.list_projects()
    assert (found.projects, found.unassigned) == ((), 0)
    assert await known.get_project("x") is None
    assert await known.project_use("x") == (await known.project_use("y"))
