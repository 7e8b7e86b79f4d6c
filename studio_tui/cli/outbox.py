"""``studio-tui outbox``: messages that are to be delivered, and those that could not be."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean, clean_block
from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.lists import page_options, show_items, show_page
from studio_tui.cli.session import json_option, made, perform, print_document
from studio_tui.cli.values import seconds
from studio_tui.cli.words import ago, due, moment

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.outbox import Dispatch, MessageTransport, PurgeReport
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (
    Column("MESSAGE"),
    Column("IS"),
    Column("KIND", gives=3),
    Column("TO", gives=2),
    Column("TRY", right=True),
    Column("NEXT", right=True),
    Column("AGE", right=True),
    Column("WHY", gives=1),
)
_WAITING: Final = ("pending", "delivering")
_COUNTS: Final = (Column("STATUS"), Column("MESSAGES", right=True))
_message = click.argument("dispatch_id", metavar="MESSAGE")


@click.group()
def outbox() -> None:
    """List, retry, acknowledge and purge messages of the outbox."""


@outbox.command("list")
@click.option("--status", multiple=True, metavar="STATUS", help="A status, such as dead_letter; may be repeated.")
@page_options
@click.pass_obj
def list_dispatches(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List messages, the newest first."""
    page, transport = perform(flags, lambda studio: _page(studio, query))
    now = time.time()
    show_page(page, _COLUMNS, lambda one: _row(one, now), empty="no messages", as_json=as_json)
    if not as_json and transport.problem is not None and any(one.status in _WAITING for one in page.items):
        print(clean(f"they wait and none is attempted: {transport.problem}"))


def _row(one: Dispatch, now: float) -> tuple[str, ...]:
    ends = one.status in ("delivered", "acked", "dead_letter", "expired")
    when = ("" if ends else due(one.next_attempt_at, now), ago(one.created_at, now))
    attempts = f"{one.attempt}/{one.max_attempts}"
    return (one.dispatch_id, one.status, one.kind, one.deliver_to, attempts, *when, one.last_error or "")


@outbox.command("show")
@_message
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, dispatch_id: str, as_json: bool) -> None:
    """Show one message with what is delivered."""
    found = perform(flags, lambda studio: studio.outbox.get_dispatch(dispatch_id))
    if as_json:
        print_document(found)
        return
    _facts(found)
    if found.payload is not None:
        print("\n" + clean_block(json.dumps(found.payload, indent=2, ensure_ascii=False)))


@outbox.command("counts")
@json_option
@click.pass_obj
def counts(flags: dict[str, object], /, as_json: bool) -> None:
    """Count messages by status."""
    found = perform(flags, lambda studio: studio.outbox.counts())
    show_items(found, _COUNTS, lambda one: (one.status, str(one.count)), empty="no messages", as_json=as_json)


@outbox.command("ack")
@_message
@click.argument("token")
@json_option
@click.pass_obj
def acknowledge(flags: dict[str, object], /, dispatch_id: str, token: str, as_json: bool) -> None:
    """Say that the consumer has a message, with the token that came with it."""
    _print(perform(flags, lambda studio: _acknowledge(studio, dispatch_id, token)), as_json=as_json)


@outbox.command("retry")
@_message
@json_option
@click.pass_obj
def retry(flags: dict[str, object], /, dispatch_id: str, as_json: bool) -> None:
    """Try a dead letter or an expired message again."""
    _print(perform(flags, lambda studio: _retry(studio, dispatch_id)), as_json=as_json)


@outbox.command("delete")
@_message
@click.pass_obj
def delete(flags: dict[str, object], /, dispatch_id: str) -> None:
    """Delete one message, whatever its status."""
    perform(flags, lambda studio: _delete(studio, dispatch_id))
    print(clean(f"{dispatch_id} is deleted"))


@outbox.command("purge")
@click.option("--status", metavar="STATUS", help="Messages of this status; ended ones when left out.")
@click.option("--older-than", "age", callback=seconds, metavar="TIME", help="Only those that last changed so long ago.")
@click.option("--yes", is_flag=True, help="Delete them; without it they are only counted.")
@json_option
@click.pass_obj
def purge(flags: dict[str, object], /, status: str | None, age: int | None, yes: bool, as_json: bool) -> None:
    """Delete messages of a status or an age, or count what that would delete."""
    before = None if age is None else time.time() - age
    report = perform(flags, lambda studio: _purge(studio, {"status": status, "before": before, "dry_run": not yes}))
    if as_json:
        print_document(report)
        return
    print_table(_COUNTS, ((one.status, str(one.count)) for one in report.counts), empty="no messages")
    print(f"{report.total} would be deleted; --yes deletes them" if report.dry_run else f"{report.total} are deleted")


def _print(one: Dispatch, *, as_json: bool) -> None:
    if as_json:
        print_document(one)
    else:
        _facts(one)


def _facts(one: Dispatch) -> None:
    print_facts(
        [
            ("message", one.dispatch_id),
            ("is", one.status),
            ("kind", one.kind),
            ("to", one.deliver_to),
            ("attempts", f"{one.attempt} of {one.max_attempts}"),
            ("next", moment(one.next_attempt_at)),
            ("run", one.session_id),
            ("error", one.last_error),
        ]
    )


async def _page(studio: Studio, query: dict[str, Any]) -> tuple[Page[Dispatch], MessageTransport]:
    from studio_tui.application.models.outbox import DispatchQuery

    return await studio.outbox.list_dispatches(made(DispatchQuery, **query)), await studio.outbox.transport()


async def _acknowledge(studio: Studio, dispatch_id: str, token: str) -> Dispatch:
    from studio_tui.application.models.outbox import AcknowledgeDispatch

    return await studio.outbox.acknowledge(made(AcknowledgeDispatch, dispatch_id=dispatch_id, token=token))


async def _retry(studio: Studio, dispatch_id: str) -> Dispatch:
    from studio_tui.application.models.outbox import RetryDispatch

    return await studio.outbox.retry(made(RetryDispatch, dispatch_id=dispatch_id))


async def _delete(studio: Studio, dispatch_id: str) -> None:
    from studio_tui.application.models.outbox import PurgeDispatch

    await studio.outbox.purge(made(PurgeDispatch, dispatch_id=dispatch_id))


async def _purge(studio: Studio, command: dict[str, Any]) -> PurgeReport:
    from studio_tui.application.models.outbox import PurgeDispatches

    return await studio.outbox.purge_older(made(PurgeDispatches, **command))
