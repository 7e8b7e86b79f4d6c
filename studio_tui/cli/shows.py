"""``studio-tui shows``: list, show."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from studio_tui.application.text import clean, clean_block
from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.session import json_option, perform, print_document, print_items
from studio_tui.cli.words import ago, moment, span

if TYPE_CHECKING:
    from studio_tui.application.models.shows import PlayView, ShowDetail, ShowSummary

_COLUMNS: Final = (
    Column("STATE"),
    Column("SHOW", gives=3),
    Column("MERGED", right=True),
    Column("GATED", right=True),
    Column("NOW", gives=2),
    Column("AGE", right=True),
    Column("KNOWN TO"),
    Column("GOAL", gives=1),
)
_PLAYS: Final = (
    Column("STATE"),
    Column("PLAY", gives=3),
    Column("TRY", right=True),
    Column("TOOK", right=True),
    Column("GATE", gives=2),
    Column("KNOWN TO"),
    Column("WHY", gives=1),
)


@click.group()
def shows() -> None:
    """List and read shows and their plays."""


@shows.command("list")
@json_option
@click.pass_obj
def list_shows(flags: dict[str, object], /, as_json: bool) -> None:
    """List shows, those of the store and those on disk."""
    found = perform(flags, lambda studio: studio.shows.list_shows())
    if as_json:
        print_items(found)
        return
    now = time.time()
    print_table(_COLUMNS, (_row(show, now) for show in found), empty="no shows")


def _row(show: ShowSummary, now: float) -> tuple[str, ...]:
    return (
        show.state.value,
        show.topic,
        f"{show.plays_merged}/{show.plays_total}",
        str(show.gated) if show.gated else "-",
        show.active_play or "-",
        ago(show.updated_at, now),
        show.source,
        show.problem or show.goal or "",
    )


@shows.command("show")
@click.argument("topic")
@click.option("--documents", is_flag=True, help="Print the texts of its files too.")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, topic: str, documents: bool, as_json: bool) -> None:
    """Show one show with its plays, by its topic."""
    found = perform(flags, lambda studio: studio.shows.get_show(topic))
    if as_json:
        print_document(found)
        return
    print_facts(_facts(found))
    print()
    print_table(_PLAYS, (_play(play) for play in found.plays), empty="no plays")
    for name, text in found.documents.items() if documents else ():
        print(f"\n-- {clean(name)}\n{clean_block(text).rstrip()}")


def _facts(show: ShowDetail) -> list[tuple[str, str | None]]:
    return [
        ("show", show.topic),
        ("state", f"{show.state.value} {show.status or ''}".rstrip()),
        ("goal", show.goal),
        ("merged", f"{show.plays_merged} of {show.plays_total}"),
        ("gated", str(show.gated) if show.gated else None),
        ("repo", show.repo),
        ("base", show.base_branch),
        ("branch", show.integration_branch),
        ("directory", show.show_dir),
        ("known to", show.source),
        ("created", moment(show.created_at)),
        ("problem", show.problem),
    ]


def _play(play: PlayView) -> tuple[str, ...]:
    why = play.live_error or "; ".join(play.differences) or play.reason or play.gate_feedback or ""
    return (
        play.state.value,
        play.name,
        str(play.attempt) if play.attempt is not None else "-",
        span(play.duration),
        play.gate or "-",
        play.source,
        why,
    )
