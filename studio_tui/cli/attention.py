"""``studio-tui attention``: what was decided about things that need attention."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column
from studio_tui.cli.lists import page_options, show_items, show_page
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.values import seconds
from studio_tui.cli.words import ago, due, moment

if TYPE_CHECKING:
    from studio_tui.application.models.attention import AttentionChange, AttentionDisposition, AttentionStanding
    from studio_tui.application.models.common import Page
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (
    Column("ITEM", gives=2),
    Column("IS"),
    Column("BY"),
    Column("AGE", right=True),
    Column("ENDS", right=True),
    Column("NOTE", gives=1),
)
_HISTORY: Final = (
    Column("NO", right=True),
    Column("AT"),
    Column("ITEM", gives=2),
    Column("FROM"),
    Column("TO"),
    Column("BY"),
    Column("NOTE", gives=1),
)
_STATES: Final = ("acknowledged", "resolved", "expected", "snoozed")


@click.group()
def attention() -> None:
    """Decide about runs, invocations, schedules and plays that need attention."""


@attention.command("list")
@page_options
@click.pass_obj
def list_dispositions(flags: dict[str, object], /, as_json: bool, **page: Any) -> None:
    """List the decisions that hold now."""
    found = perform(flags, lambda studio: _list(studio, page))
    now = time.time()
    show_page(found, _COLUMNS, lambda one: _row(one, now), empty="nothing is decided", as_json=as_json)


def _row(one: AttentionDisposition, now: float) -> tuple[str, ...]:
    return (one.item_id, one.state, one.actor, ago(one.updated_at, now), due(one.expires_at, now), one.note or "")


@attention.command("history")
@click.option("--item", "item_id", metavar="ITEM", help="One item only.")
@page_options
@click.pass_obj
def history(flags: dict[str, object], /, item_id: str | None, as_json: bool, **page: Any) -> None:
    """List what was decided, the newest first."""
    found = perform(flags, lambda studio: _history(studio, {"item_id": item_id, **page}))
    show_page(found, _HISTORY, _change, empty="nothing was ever decided", as_json=as_json)


def _change(line: AttentionChange) -> tuple[str, ...]:
    states = (line.prior_state or "-", line.new_state)
    return (str(line.sequence), moment(line.created_at), line.item_id, *states, line.actor, line.note or "")


@attention.command("decide")
@click.argument("item_id", metavar="ITEM")
@click.argument("state", type=click.Choice(_STATES))
@click.option("--status", "source_status", required=True, metavar="STATUS", help="The status that you saw.")
@click.option("--note", metavar="TEXT", help="Why; expected needs one.")
@click.option("--for", "lasts", callback=seconds, metavar="TIME", help="Until when: 30m, 4h, 1d; expected and snoozed need it.")
@click.option("--revision", "expected_revision", type=click.IntRange(0), metavar="N", help="The revision that you saw.")
@json_option
@click.pass_obj
def decide(flags: dict[str, object], /, lasts: int | None, as_json: bool, **decision: Any) -> None:
    """Decide about ITEM: run:ID, inv:ID, sched:ID or play:TOPIC:NAME."""
    expires_at = None if lasts is None else time.time() + lasts
    stored = perform(flags, lambda studio: _decide(studio, {"expires_at": expires_at, **decision}))
    if as_json:
        print_document(stored)
    else:
        print(clean(f"{stored.item_id} is {stored.state}" + ("" if stored.clears else ", and stays in the queue")))


@attention.command("reopen")
@click.argument("item_id", metavar="ITEM")
@json_option
@click.pass_obj
def reopen(flags: dict[str, object], /, item_id: str, as_json: bool) -> None:
    """Take a decision back."""
    standing = perform(flags, lambda studio: _reopen(studio, item_id))
    if as_json:
        print_document(standing)
    else:
        print(clean(f"{standing.item_id} is open (revision {standing.revision})"))


@attention.command("show")
@click.argument("item_ids", nargs=-1, required=True, metavar="ITEM...")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, item_ids: tuple[str, ...], as_json: bool) -> None:
    """Say how items stand, with the revision that a decision may have to name."""
    found = perform(flags, lambda studio: studio.attention.standing(item_ids))
    columns = (Column("ITEM"), Column("IS"), Column("REVISION", right=True))
    show_items(found, columns, _standing, empty="", as_json=as_json)


def _standing(one: AttentionStanding) -> tuple[str, ...]:
    return (one.item_id, one.disposition.state if one.disposition else "open", str(one.revision))


async def _list(studio: Studio, page: dict[str, Any]) -> Page[AttentionDisposition]:
    from studio_tui.application.models.common import PageQuery

    return await studio.attention.list_dispositions(made(PageQuery, **page))


async def _history(studio: Studio, query: dict[str, Any]) -> Page[AttentionChange]:
    from studio_tui.application.models.attention import AttentionHistoryQuery

    return await studio.attention.history(made(AttentionHistoryQuery, **query))


async def _decide(studio: Studio, decision: dict[str, Any]) -> AttentionDisposition:
    from studio_tui.application.models.attention import DecideAttention

    return await studio.attention.decide(made(DecideAttention, **decision))


async def _reopen(studio: Studio, item_id: str) -> AttentionStanding:
    from studio_tui.application.models.attention import ReopenAttention

    return await studio.attention.reopen(made(ReopenAttention, item_id=item_id))
