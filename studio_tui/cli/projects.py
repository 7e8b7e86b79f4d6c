"""``studio-tui projects``: projects, and which runs are in them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import ago, moment

if TYPE_CHECKING:
    from studio_tui.application.models.projects import AssignResult, Project
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (
    Column("PROJECT"),
    Column("RUNS", right=True),
    Column("RUNNING", right=True),
    Column("FROM"),
    Column("SEEN", right=True),
    Column("DESCRIPTION", gives=1),
)


@click.group()
def projects() -> None:
    """List, make and change projects; put runs into them."""


@projects.command("list")
@json_option
@click.pass_obj
def list_projects(flags: dict[str, object], /, as_json: bool) -> None:
    """List projects, the one that was seen last first."""
    found = perform(flags, lambda studio: studio.projects.list_projects())
    if as_json:
        print_document(found)
        return
    now = time.time()
    print_table(_COLUMNS, (_row(project, now) for project in found.projects), empty="no projects")
    if found.unassigned_count:
        print(f"runs of no project: {found.unassigned_count}")


def _row(project: Project, now: float) -> tuple[str, ...]:
    counts = (str(project.run_count), str(project.running_count or "-"))
    return (project.name, *counts, project.source, ago(project.last_seen_at, now), project.description or "")


@projects.command("show")
@click.argument("name")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, name: str, as_json: bool) -> None:
    """Show one project with the agents and playbooks of its runs."""
    found = perform(flags, lambda studio: studio.projects.get_project(name))
    if as_json:
        print_document(found)
        return
    used = {"agents": found.agents, "playbooks": found.playbooks}
    print_facts([*_facts(found), *((word, ", ".join(f"{use.name} {use.runs}" for use in uses)) for word, uses in used.items())])


def _facts(project: Project) -> list[tuple[str, str | None]]:
    return [
        ("project", project.name),
        ("from", project.source),
        ("description", project.description),
        ("github", project.github),
        ("path", project.path),
        ("runs", f"{project.run_count}, {project.running_count} running"),
        ("seen", moment(project.last_seen_at)),
        (
            "may be",
            "changed and deleted" if project.deletable else "changed" if project.editable else "changed where it comes from",
        ),
    ]


def _values(command: Any) -> Any:
    for name, text in (("path", "Its folder."), ("github", "Its repository."), ("description", "What it is.")):
        command = click.option(f"--{name}", metavar="TEXT", help=text)(command)
    return command


@projects.command("create")
@click.argument("name")
@_values
@json_option
@click.pass_obj
def create(flags: dict[str, object], /, name: str, as_json: bool, **values: str | None) -> None:
    """Make a project."""
    _print(perform(flags, lambda studio: _create(studio, name, values)), as_json=as_json)


@projects.command("update")
@click.argument("name")
@_values
@click.option("--clear", multiple=True, type=click.Choice(("description", "github", "path")), help="Empty a value.")
@json_option
@click.pass_obj
def update(flags: dict[str, object], /, name: str, clear: tuple[str, ...], as_json: bool, **values: str | None) -> None:
    """Change a project that was made here or by an override. What is not named stays."""
    given = {key: value for key, value in values.items() if value is not None} | dict.fromkeys(clear)
    _print(perform(flags, lambda studio: _update(studio, name, given)), as_json=as_json)


@projects.command("assign")
@click.argument("name")
@click.argument("run_ids", nargs=-1, metavar="[RUN]...")
@click.option("--unassigned", is_flag=True, help="Every run that is in no project.")
@json_option
@click.pass_obj
def assign(flags: dict[str, object], /, name: str, run_ids: tuple[str, ...], unassigned: bool, as_json: bool) -> None:
    """Put runs into a project, which is made when it is new."""
    result = perform(flags, lambda studio: _assign(studio, name, run_ids, unassigned))
    if as_json:
        print_document(result)
    else:
        print(clean(f"{result.assigned} put into {result.name}"))


@projects.command("delete")
@click.argument("name")
@click.pass_obj
def delete(flags: dict[str, object], /, name: str) -> None:
    """Delete a project that was made here; its runs keep its name."""
    perform(flags, lambda studio: _delete(studio, name))
    print(clean(f"{name} is deleted"))


def _print(project: Project, *, as_json: bool) -> None:
    if as_json:
        print_document(project)
    else:
        print_facts(_facts(project))


async def _create(studio: Studio, name: str, values: dict[str, str | None]) -> Project:
    from studio_tui.application.models.projects import CreateProject

    return await studio.projects.create_project(made(CreateProject, name=name, **values))


async def _update(studio: Studio, name: str, given: dict[str, str | None]) -> Project:
    from studio_tui.application.models.projects import ProjectPatch, UpdateProject

    return await studio.projects.update_project(made(UpdateProject, name=name, changes=made(ProjectPatch, **given)))


async def _assign(studio: Studio, name: str, prefixes: tuple[str, ...], unassigned: bool) -> AssignResult:
    from studio_tui.application.models.projects import AssignRuns

    run_ids = [await studio.runs.resolve_run_id(prefix) for prefix in prefixes]
    return await studio.projects.assign_runs(made(AssignRuns, name=name, run_ids=tuple(run_ids), unassigned=unassigned))


async def _delete(studio: Studio, name: str) -> None:
    from studio_tui.application.models.projects import DeleteProject

    await studio.projects.delete_project(made(DeleteProject, name=name))
