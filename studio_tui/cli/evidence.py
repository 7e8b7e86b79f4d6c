"""``studio-tui evidence``: what a run tells and is told while it goes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column, print_table
from studio_tui.cli.lists import page_options, show_items
from studio_tui.cli.session import as_operator, json_option, made, perform, print_document
from studio_tui.cli.words import moment

if TYPE_CHECKING:
    from studio_tui.application.models.evidence import Control, ControlStanding, EvidencePage, Signal
    from studio_tui.application.studio import Studio

_SIGNALS: Final = (Column("NO", right=True), Column("AT"), Column("SIGNAL"), Column("OF", gives=2), Column("SAYS", gives=1))
_CONTROLS: Final = (Column("AT"), Column("CONTROL"), Column("IS"), Column("TEXT", gives=1), Column("WHY", gives=2))
_ARTIFACTS: Final = (Column("ARTIFACT"), Column("KIND"), Column("NAME", gives=2), Column("FILE", gives=1))
_run = click.argument("run_id", metavar="RUN")


@click.group()
def evidence() -> None:
    """See what runs tell, and say something to a running one."""


@evidence.command("list")
@_run
@click.argument("pane", type=click.Choice(("signals", "controls", "artifacts")))
@page_options
@click.pass_obj
def list_evidence(flags: dict[str, object], /, run_id: str, as_json: bool, **request: Any) -> None:
    """List one pane of a run: signals and controls newest first, artifacts oldest first."""
    page = perform(flags, lambda studio: _page(studio, run_id, request))
    if as_json:
        print_document(page)
        return
    columns: dict[str, tuple[tuple[Column, ...], Any]] = {
        "signals": (_SIGNALS, _signal),
        "controls": (_CONTROLS, _control),
        "artifacts": (_ARTIFACTS, lambda one: (one.id, one.kind, one.name, one.display_path or "-")),
    }
    titles, row = columns[page.pane]
    print_table(titles, map(row, page.items), empty=f"no {page.pane}")
    if page.next_cursor is not None:
        print(f"more follow: --cursor {page.next_cursor}")


@evidence.command("follow")
@_run
@click.option("--after", type=click.IntRange(0), default=0, show_default=True, metavar="NO", help="The last number that you saw.")
@click.option("--limit", type=click.IntRange(1, 1000), default=200, show_default=True)
@json_option
@click.pass_obj
def follow(flags: dict[str, object], /, run_id: str, as_json: bool, **query: int) -> None:
    """Print the signals of a run behind a number, in order."""
    found = perform(flags, lambda studio: _follow(studio, run_id, query))
    show_items(found, _SIGNALS, _signal, empty="no signals", as_json=as_json)


def _signal(one: Signal) -> tuple[str, ...]:
    return (str(one.seq), moment(one.at), one.kind, one.op_id or "-", json.dumps(one.payload, ensure_ascii=False))


@evidence.command("standing")
@_run
@json_option
@click.pass_obj
def standing(flags: dict[str, object], /, run_id: str, as_json: bool) -> None:
    """Say what a run has not taken up yet, and whether it stands at a pause."""
    found = perform(flags, lambda studio: _standing(studio, run_id))
    if as_json:
        print_document(found)
        return
    print_table(_CONTROLS, map(_control, found.pending), empty="nothing waits")
    if found.pause_held:
        print("it stands at a pause, or is about to")


def _control(one: Control) -> tuple[str, ...]:
    return (moment(one.created_at), one.verb, one.state, one.text or "", one.detail or "")


@evidence.command("send")
@_run
@click.argument("verb", type=click.Choice(("pause", "resume", "message")))
@click.argument("text", required=False)
@json_option
@click.pass_obj
def send(flags: dict[str, object], /, run_id: str, verb: str, text: str | None, as_json: bool) -> None:
    """Say something to a running run; TEXT goes with message. Not from inside an agent."""
    sent = _send(flags, run_id, {"verb": verb, "text": text})
    if as_json:
        print_document(sent)
    else:
        print(clean(f"{sent.verb} is {sent.state} as {sent.control_id}"))


async def _page(studio: Studio, prefix: str, request: dict[str, Any]) -> EvidencePage:
    from studio_tui.application.models.evidence import EvidenceRequest

    run_id = await studio.runs.resolve_run_id(prefix)
    return await studio.evidence.list_evidence(made(EvidenceRequest, run_id=run_id, **request))


async def _follow(studio: Studio, prefix: str, query: dict[str, int]) -> tuple[Signal, ...]:
    from studio_tui.application.models.evidence import SignalQuery

    run_id = await studio.runs.resolve_run_id(prefix)
    return await studio.evidence.follow_signals(made(SignalQuery, run_id=run_id, **query))


async def _standing(studio: Studio, prefix: str) -> ControlStanding:
    return await studio.evidence.control_standing(await studio.runs.resolve_run_id(prefix))


@as_operator
def _send(flags: dict[str, object], prefix: str, words: dict[str, Any]) -> Control:
    async def work(studio: Studio) -> Control:
        from studio_tui.application.models.evidence import SendControl

        run_id = await studio.runs.resolve_run_id(prefix)
        return await studio.evidence.send_control(made(SendControl, run_id=run_id, **words))

    return perform(flags, work)
