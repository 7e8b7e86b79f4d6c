"""``studio-tui workflows``: graphs that are rows of the store."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean, clean_block
from studio_tui.cli.layout import Column, print_facts
from studio_tui.cli.lists import show_items
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import ago, moment

if TYPE_CHECKING:
    from studio_tui.application.models.workflows import WorkflowDefinition, WorkflowSummary
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (Column("WORKFLOW"), Column("NAME", gives=2), Column("AGE", right=True), Column("DESCRIPTION", gives=1))
_spec = click.option("--file", "source", type=click.File("rb"), help="The graph, as JSON.")
_description = click.option("--description", metavar="TEXT", help="What it is.")


@click.group()
def workflows() -> None:
    """List, read and change workflows."""


@workflows.command("list")
@json_option
@click.pass_obj
def list_workflows(flags: dict[str, object], /, as_json: bool) -> None:
    """List workflows by name."""
    found = perform(flags, lambda studio: studio.workflows.list_workflows())
    now = time.time()
    show_items(found, _COLUMNS, lambda one: _row(one, now), empty="no workflows", as_json=as_json)


def _row(one: WorkflowSummary, now: float) -> tuple[str, ...]:
    return (one.id, one.name, ago(one.updated_at, now), one.description or "")


@workflows.command("show")
@click.argument("workflow", metavar="NAME")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, workflow: str, as_json: bool) -> None:
    """Show one workflow by its name or id: what it is, what breaks a rule, its graph."""
    _print(perform(flags, lambda studio: studio.workflows.get_workflow(workflow)), as_json=as_json)


@workflows.command("create")
@click.argument("name")
@_description
@_spec
@json_option
@click.pass_obj
def create(flags: dict[str, object], /, name: str, description: str | None, source: Any, as_json: bool) -> None:
    """Make a workflow."""
    fields = {"name": name, "description": description, "spec": _graph(source)}
    _print(perform(flags, lambda studio: _create(studio, fields)), as_json=as_json)


@workflows.command("update")
@click.argument("workflow", metavar="NAME")
@click.option("--name", metavar="TEXT", help="Another name.")
@_description
@_spec
@json_option
@click.pass_obj
def update(flags: dict[str, object], /, workflow: str, source: Any, as_json: bool, **texts: str | None) -> None:
    """Change a workflow. What is not named stays."""
    given: dict[str, Any] = {key: value for key, value in texts.items() if value is not None}
    if source is not None:
        given["spec"] = _graph(source)
    _print(perform(flags, lambda studio: _update(studio, workflow, given)), as_json=as_json)


@workflows.command("delete")
@click.argument("workflow", metavar="NAME")
@click.pass_obj
def delete(flags: dict[str, object], /, workflow: str) -> None:
    """Delete a workflow. It has no versions: it is gone."""
    perform(flags, lambda studio: _delete(studio, workflow))
    print(clean(f"{workflow} is deleted"))


def _graph(source: Any) -> object:
    if source is None:
        return None
    try:
        return json.load(source)
    except (ValueError, RecursionError):
        raise click.UsageError("the file is not JSON") from None


def _print(one: WorkflowDefinition, *, as_json: bool) -> None:
    if as_json:
        print_document(one)
        return
    print_facts(
        [
            ("workflow", one.id),
            ("name", one.name),
            ("description", one.description),
            ("changed", moment(one.updated_at)),
            ("faults", "; ".join(one.faults)),
        ]
    )
    if one.spec is not None:
        print("\n" + clean_block(json.dumps(one.spec, indent=2, ensure_ascii=False)))


async def _create(studio: Studio, fields: dict[str, Any]) -> WorkflowDefinition:
    from studio_tui.application.models.workflows import CreateWorkflow

    return await studio.workflows.create_workflow(made(CreateWorkflow, **fields))


async def _update(studio: Studio, workflow: str, given: dict[str, Any]) -> WorkflowDefinition:
    from studio_tui.application.models.workflows import PatchWorkflow

    found = await studio.workflows.get_workflow(workflow)
    command = made(PatchWorkflow, workflow_id=found.id, expected_updated_at=found.updated_at, **given)
    return await studio.workflows.update_workflow(command)


async def _delete(studio: Studio, workflow: str) -> None:
    from studio_tui.application.models.workflows import DeleteWorkflow

    found = await studio.workflows.get_workflow(workflow)
    command = made(DeleteWorkflow, workflow_id=found.id, expected_updated_at=found.updated_at)
    await studio.workflows.delete_workflow(command)
