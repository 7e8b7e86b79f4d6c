"""``studio-tui approvals``: what waits for a word, the word, and the ledger of all words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column, print_facts
from studio_tui.cli.lists import page_options, show_items, show_page
from studio_tui.cli.session import as_operator, json_option, made, perform, print_document
from studio_tui.cli.words import moment, span

if TYPE_CHECKING:
    from studio_tui.application.models.approvals import Approval, LedgerLine
    from studio_tui.application.models.common import Page
    from studio_tui.application.studio import Studio

_COLUMNS: Final = (Column("APPROVAL"), Column("IS"), Column("LEFT", right=True), Column("ACTION", gives=1), Column("ASKED"))
_LEDGER: Final = (
    Column("NO", right=True),
    Column("AT"),
    Column("EVENT"),
    Column("APPROVAL"),
    Column("ACTION", gives=2),
    Column("WHY", gives=1),
)
_REASONS: Final = ("security", "policy", "mistake", "other")


@click.group()
def approvals() -> None:
    """See what waits for approval, decide it, and check the ledger."""


@approvals.command("list")
@json_option
@click.pass_obj
def list_waiting(flags: dict[str, object], /, as_json: bool) -> None:
    """List what waits, the one that expires first first."""
    found = perform(flags, lambda studio: studio.approvals.list_waiting())
    show_items(found, _COLUMNS, _row, empty="nothing waits", as_json=as_json)


def _row(one: Approval) -> tuple[str, ...]:
    return (one.approval_id, one.status, span(one.remaining), one.action_kind, moment(one.proposed_at))


@approvals.command("show")
@click.argument("approval_id", metavar="APPROVAL")
@json_option
@click.pass_obj
def show(flags: dict[str, object], /, approval_id: str, as_json: bool) -> None:
    """Show one approval. What was asked for is kept as a hash only."""
    _print(perform(flags, lambda studio: studio.approvals.get_approval(approval_id)), as_json=as_json)


@approvals.command("grant")
@click.argument("approval_id", metavar="APPROVAL")
@json_option
@click.pass_obj
def grant(flags: dict[str, object], /, approval_id: str, as_json: bool) -> None:
    """Allow one, for one matching act. Not from inside an agent."""
    _print(_grant(flags, approval_id), as_json=as_json)


@approvals.command("deny")
@click.argument("approval_id", metavar="APPROVAL")
@click.option("--class", "reason_class", type=click.Choice(_REASONS), help="What kind of reason it is.")
@click.option("--reason", metavar="TEXT", help="The reason; a class goes with it.")
@json_option
@click.pass_obj
def deny(flags: dict[str, object], /, as_json: bool, **words: Any) -> None:
    """Refuse one. Not from inside an agent."""
    _print(_deny(flags, words), as_json=as_json)


@approvals.command("ledger")
@click.option("--approval", "approval_id", metavar="APPROVAL", help="One approval only.")
@click.option("--decisions", "decisions_only", is_flag=True, help="Only lines that ended an approval.")
@page_options
@click.pass_obj
def ledger(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List the lines of the ledger, the newest first."""
    found = perform(flags, lambda studio: _ledger(studio, query))
    show_page(found, _LEDGER, _line, empty="the ledger is empty", as_json=as_json)


def _line(line: LedgerLine) -> tuple[str, ...]:
    why = ": ".join(filter(None, (line.justification_class, line.justification_reason)))
    return (str(line.sequence), moment(line.created_at), line.event_type, line.approval_id, line.action_kind, why)


@approvals.command("verify")
@json_option
@click.pass_context
def verify(context: click.Context, /, as_json: bool) -> None:
    """Check every line of the ledger; ends with 1 when it does not hold."""
    report = perform(context.obj, lambda studio: studio.approvals.verify())
    if as_json:
        print_document(report)
    else:
        print(clean(f"{report.entries} lines, {'all in order' if report.valid else report.first_break or 'broken'}"))
    context.exit(int(not report.valid))


def _print(one: Approval, *, as_json: bool) -> None:
    if as_json:
        print_document(one)
        return
    print_facts(
        [
            ("approval", one.approval_id),
            ("is", one.status),
            ("action", one.action_kind),
            ("hash", one.params_hash),
            ("run", one.session_id),
            ("asked", moment(one.proposed_at)),
            ("granted", moment(one.granted_at)),
            ("used", moment(one.consumed_at)),
            ("left", span(one.remaining)),
        ]
    )


@as_operator
def _grant(flags: dict[str, object], approval_id: str) -> Approval:
    from studio_tui.application.models.approvals import GrantApproval

    return perform(flags, lambda studio: studio.approvals.grant(made(GrantApproval, approval_id=approval_id)))


@as_operator
def _deny(flags: dict[str, object], words: dict[str, Any]) -> Approval:
    from studio_tui.application.models.approvals import DenyApproval

    return perform(flags, lambda studio: studio.approvals.deny(made(DenyApproval, **words)))


async def _ledger(studio: Studio, query: dict[str, Any]) -> Page[LedgerLine]:
    from studio_tui.application.models.approvals import LedgerQuery

    return await studio.approvals.ledger(made(LedgerQuery, **query))
