"""``studio-tui teams``: who works together, and what they said."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column, print_facts
from studio_tui.cli.lists import page_options, show_page
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import ago, moment

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.invocations import Team, TeamMessage
    from studio_tui.application.studio import Studio

_TEAMS: Final = (Column("TEAM"), Column("NAME", gives=2), Column("IS"), Column("MEMBERS", gives=1), Column("AGE", right=True))
_MESSAGES: Final = (Column("AT"), Column("FROM"), Column("TO", gives=2), Column("SAYS", gives=1))


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


async def _teams(studio: Studio, query: dict[str, Any]) -> Page[Team]:
    from studio_tui.application.models.invocations import TeamQuery

    return await studio.teams.list_teams(made(TeamQuery, **query))


async def _messages(studio: Studio, query: dict[str, Any]) -> Page[TeamMessage]:
    from studio_tui.application.models.invocations import TeamMessageQuery

    return await studio.teams.list_messages(made(TeamMessageQuery, **query))
