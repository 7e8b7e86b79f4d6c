"""``studio-tui engine-runs``: what engines did, and how they are defined."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.cli.layout import Column, print_facts
from studio_tui.cli.lists import page_options, show_page
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import ago, moment

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.invocations import EngineDefinition, EngineRunSummary
    from studio_tui.application.studio import Studio

_ENGINE_RUNS: Final = (Column("ENGINE RUN"), Column("IS"), Column("KIND"), Column("AGE", right=True), Column("RUN", gives=1))
_ENGINES: Final = (Column("ENGINE"), Column("KIND"), Column("MODEL", gives=2), Column("DESCRIPTION", gives=1))


@click.group("engine-runs")
def engine_runs() -> None:
    """List and read runs of engines, and the definitions of engines."""


@engine_runs.command("list")
@click.option("--kind", metavar="KIND", help="research, review, coding, hypothesis or planning.")
@click.option("--status", metavar="STATUS", help="running, completed, failed or cancelled.")
@click.option("--run", "run_id", metavar="RUN", help="Those of one run or of its parent.")
@page_options
@click.pass_obj
def list_engine_runs(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List runs of engines, the newest start first."""
    page = perform(flags, lambda studio: _engine_runs(studio, query))
    now = time.time()
    show_page(page, _ENGINE_RUNS, lambda one: _engine_run(one, now), empty="no engine runs", as_json=as_json)


def _engine_run(one: EngineRunSummary, now: float) -> tuple[str, ...]:
    return (one.run_id, one.status, one.kind, ago(one.started_at, now), one.shown_session_id or "-")


@engine_runs.command("show")
@click.argument("run_id", metavar="ENGINE_RUN")
@json_option
@click.pass_obj
def show_engine_run(flags: dict[str, object], /, run_id: str, as_json: bool) -> None:
    """Show one run of an engine with what it was given."""
    found = perform(flags, lambda studio: studio.engines.get_engine_run(run_id))
    if as_json:
        print_document(found)
        return
    facts = [("engine run", found.run_id), ("is", found.status), ("kind", found.kind), ("run", found.shown_session_id)]
    times = [("started", moment(found.started_at)), ("ended", moment(found.ended_at)), ("error", found.error)]
    print_facts([*facts, *times, *((name, str(value)) for name, value in (found.spec or {}).items())])


@engine_runs.command("definitions")
@click.option("--kind", metavar="KIND", help="One kind only.")
@page_options
@click.pass_obj
def list_engines(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List definitions of engines, the newest change first."""
    page = perform(flags, lambda studio: _engines(studio, query))
    show_page(page, _ENGINES, _engine, empty="no engines", as_json=as_json)


def _engine(one: EngineDefinition) -> tuple[str, ...]:
    return (one.name, one.kind, one.model or "-", one.description or "")


@engine_runs.command("definition")
@click.argument("name")
@json_option
@click.pass_obj
def show_engine(flags: dict[str, object], /, name: str, as_json: bool) -> None:
    """Show one definition of an engine by its id or name."""
    found = perform(flags, lambda studio: studio.engines.get_engine_definition(name))
    if as_json:
        print_document(found)
        return
    limits = f"depth {found.max_depth or '-'}, agents {found.max_agents or '-'}"
    facts = [("engine", found.name), ("kind", found.kind), ("model", found.model), ("limits", limits)]
    print_facts([*facts, ("description", found.description), *((k, str(v)) for k, v in (found.options or {}).items())])


async def _engine_runs(studio: Studio, query: dict[str, Any]) -> Page[EngineRunSummary]:
    from studio_tui.application.models.invocations import EngineRunQuery

    return await studio.engines.list_engine_runs(made(EngineRunQuery, **query))


async def _engines(studio: Studio, query: dict[str, Any]) -> Page[EngineDefinition]:
    from studio_tui.application.models.invocations import EngineDefinitionQuery

    return await studio.engines.list_engine_definitions(made(EngineDefinitionQuery, **query))
