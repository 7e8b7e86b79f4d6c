"""``studio-tui invocations``, ``engine-runs`` and ``teams``: what started runs, what engines did, who works together."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean, clean_block
from studio_tui.cli.layout import Column, print_facts
from studio_tui.cli.lists import page_options, show_page
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import ago, moment

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.invocations import (
        EngineDefinition,
        EngineRunSummary,
        InvocationSummary,
        Team,
        TeamMessage,
    )
    from studio_tui.application.studio import Studio

_INVOCATIONS: Final = (
    Column("INVOCATION"),
    Column("IS"),
    Column("SKILL", gives=2),
    Column("RUNS", right=True),
    Column("PROJECT", gives=3),
    Column("AGE", right=True),
    Column("WHY", gives=1),
)
_ENGINE_RUNS: Final = (Column("ENGINE RUN"), Column("IS"), Column("KIND"), Column("AGE", right=True), Column("RUN", gives=1))
_ENGINES: Final = (Column("ENGINE"), Column("KIND"), Column("MODEL", gives=2), Column("DESCRIPTION", gives=1))
_TEAMS: Final = (Column("TEAM"), Column("NAME", gives=2), Column("IS"), Column("MEMBERS", gives=1), Column("AGE", right=True))
_MESSAGES: Final = (Column("AT"), Column("FROM"), Column("TO", gives=2), Column("SAYS", gives=1))


@click.group()
def invocations() -> None:
    """List and read what started runs."""


@invocations.command("list")
@click.option("--skill", metavar="TEXT", help="Exactly this skill.")
@click.option("--plugin", metavar="TEXT", help="Exactly this plugin.")
@click.option("--status", metavar="STATUS", help="A status; running asks how the runs do.")
@page_options
@click.pass_obj
def list_invocations(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List invocations, the newest change first."""
    page = perform(flags, lambda studio: _invocations(studio, query))
    now = time.time()
    show_page(page, _INVOCATIONS, lambda one: _invocation(one, now), empty="no invocations", as_json=as_json)


def _invocation(one: InvocationSummary, now: float) -> tuple[str, ...]:
    counts = (str(one.session_count), one.project or "-", ago(one.updated_at, now))
    return (one.invocation_id, one.status, one.skill, *counts, one.reason_summary or "")


@invocations.command("show")
@click.argument("invocation_id", metavar="INVOCATION")
@json_option
@click.pass_obj
def show_invocation(flags: dict[str, object], /, invocation_id: str, as_json: bool) -> None:
    """Show one invocation with what it was given."""
    found = perform(flags, lambda studio: studio.invocations.get_invocation(invocation_id))
    if as_json:
        print_document(found)
        return
    runs = ", ".join(f"{number} {status}" for status, number in sorted(found.runs_by_status.items()))
    facts = [("invocation", found.invocation_id), ("is", found.status), ("skill", found.skill), ("plugin", found.plugin)]
    times = [("started", moment(found.started_at)), ("ended", moment(found.ended_at))]
    print_facts([*facts, *times, ("runs", runs), ("firing", found.firing_id), ("why", found.reason_summary)])
    if found.prompt:
        print("\n" + clean_block(found.prompt).rstrip())


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


@click.group()
def teams() -> None:
    """List and read teams as the store knows them."""


@teams.command("list")
@page_options
@click.pass_obj
def list_teams(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List teams, the newest change first."""
    page = perform(flags, lambda studio: _teams(studio, query))
    now = time.time()
    show_page(page, _TEAMS, lambda one: _team(one, now), empty="no teams", as_json=as_json)


def _team(one: Team, now: float) -> tuple[str, ...]:
    return (one.team_id, one.name, one.status, ", ".join(one.members), ago(one.updated_at, now))


@teams.command("show")
@click.argument("team_id", metavar="TEAM")
@json_option
@click.pass_obj
def show_team(flags: dict[str, object], /, team_id: str, as_json: bool) -> None:
    """Show one team."""
    found = perform(flags, lambda studio: studio.teams.get_team(team_id))
    if as_json:
        print_document(found)
    else:
        facts = [("team", found.team_id), ("name", found.name), ("is", found.status), ("members", ", ".join(found.members))]
        print_facts([*facts, ("changed", moment(found.updated_at))])


@teams.command("messages")
@click.argument("team_id", metavar="TEAM")
@page_options
@click.pass_obj
def team_messages(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List a team's messages, the newest first."""
    page = perform(flags, lambda studio: _messages(studio, query))
    show_page(page, _MESSAGES, _message, empty="no messages", as_json=as_json)


def _message(one: TeamMessage) -> tuple[str, ...]:
    return (moment(one.created_at), one.sender, one.recipient, clean(one.summary or one.content))


async def _invocations(studio: Studio, query: dict[str, Any]) -> Page[InvocationSummary]:
    from studio_tui.application.models.invocations import InvocationQuery

    return await studio.invocations.list_invocations(made(InvocationQuery, **query))


async def _engine_runs(studio: Studio, query: dict[str, Any]) -> Page[EngineRunSummary]:
    from studio_tui.application.models.invocations import EngineRunQuery

    return await studio.engines.list_engine_runs(made(EngineRunQuery, **query))


async def _engines(studio: Studio, query: dict[str, Any]) -> Page[EngineDefinition]:
    from studio_tui.application.models.invocations import EngineDefinitionQuery

    return await studio.engines.list_engine_definitions(made(EngineDefinitionQuery, **query))


async def _teams(studio: Studio, query: dict[str, Any]) -> Page[Team]:
    from studio_tui.application.models.invocations import TeamQuery

    return await studio.teams.list_teams(made(TeamQuery, **query))


async def _messages(studio: Studio, query: dict[str, Any]) -> Page[TeamMessage]:
    from studio_tui.application.models.invocations import TeamMessageQuery

    return await studio.teams.list_messages(made(TeamMessageQuery, **query))
