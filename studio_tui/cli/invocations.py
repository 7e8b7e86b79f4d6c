"""``studio-tui invocations``: what started runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean_block
from studio_tui.cli.layout import Column, print_facts
from studio_tui.cli.lists import page_options, show_page
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.words import ago, moment

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.invocations import InvocationSummary
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


async def _invocations(studio: Studio, query: dict[str, Any]) -> Page[InvocationSummary]:
    from studio_tui.application.models.invocations import InvocationQuery

    return await studio.invocations.list_invocations(made(InvocationQuery, **query))
