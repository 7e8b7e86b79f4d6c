"""``studio-tui state``: checkpoint, vacuum, check, events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from studio_tui.application.text import clean
from studio_tui.cli.layout import Column
from studio_tui.cli.lists import page_options, show_page
from studio_tui.cli.session import as_operator, json_option, made, perform, print_document
from studio_tui.cli.words import moment, size, span

if TYPE_CHECKING:
    from studio_tui.application.models.common import Page
    from studio_tui.application.models.maintenance import AdminEvent, CheckpointReport, VacuumReport
    from studio_tui.application.studio import Studio

_EVENTS: Final = (Column("EVENT"), Column("AT"), Column("ACT"), Column("BY"), Column("ON", gives=2), Column("DETAILS", gives=1))
_MODES: Final = ("PASSIVE", "FULL", "RESTART", "TRUNCATE")


@click.command("checkpoint")
@click.option("--mode", type=click.Choice(_MODES, case_sensitive=False), default="PASSIVE", show_default=True)
@json_option
@click.pass_obj
def checkpoint(flags: dict[str, object], /, mode: str, as_json: bool) -> None:
    """Move the log of the store into its file."""
    report = _checkpoint(flags, mode)
    if as_json:
        print_document(report)
    elif report.log_pages is None:
        print("a store on a server looks after its log itself")
    else:
        print(f"{report.moved_pages} of {report.log_pages} pages moved" + (", others kept the rest busy" if report.busy else ""))


@click.command("vacuum")
@json_option
@click.pass_obj
def vacuum(flags: dict[str, object], /, as_json: bool) -> None:
    """Rewrite the store without the room of deleted rows. Refused while another process hosts the scheduler."""
    report = _vacuum(flags)
    if as_json:
        print_document(report)
    else:
        print(f"done in {span(report.duration)}: {size(report.bytes_before)} before, {size(report.bytes_after)} after")


@click.command("check")
@json_option
@click.pass_context
def check(context: click.Context, /, as_json: bool) -> None:
    """Check pages, indexes and references of the whole store; ends with 1 when something is broken. Changes nothing."""
    report = perform(context.obj, lambda studio: studio.maintenance.check_integrity())
    if as_json:
        print_document(report)
    elif report.sound is None:
        print("a store on a server looks after that itself")
    else:
        for finding in report.findings:
            print(clean(finding))
        print("sound" if report.sound else "broken" + ("" if report.complete else "; there is more than this"))
    context.exit(int(report.sound is False))


@click.command("events")
@click.option("--action", metavar="ACT", help="One act only, such as checkpoint or transition.")
@click.option("--target", "target_id", metavar="ID", help="What was done to one record.")
@page_options
@click.pass_obj
def events(flags: dict[str, object], /, as_json: bool, **query: Any) -> None:
    """List what administrators, and programs in their name, did to the store."""
    page = perform(flags, lambda studio: _events(studio, query))
    show_page(page, _EVENTS, _event, empty="nothing was done", as_json=as_json)


@click.command("event")
@click.argument("event_id", metavar="EVENT")
@json_option
@click.pass_obj
def event(flags: dict[str, object], /, event_id: str, as_json: bool) -> None:
    """Show one act."""
    found = perform(flags, lambda studio: studio.maintenance.get_event(event_id))
    if as_json:
        print_document(found)
    else:
        print(clean("  ".join(_event(found))))


def _event(one: AdminEvent) -> tuple[str, ...]:
    details = json.dumps(one.details, ensure_ascii=False)
    return (one.event_id, moment(one.created_at), one.action, one.actor, one.target_id or "-", details)


@as_operator
def _checkpoint(flags: dict[str, object], mode: str) -> CheckpointReport:
    from studio_tui.application.models.maintenance import CheckpointStore

    return perform(flags, lambda studio: studio.maintenance.checkpoint(made(CheckpointStore, mode=mode)))


@as_operator
def _vacuum(flags: dict[str, object]) -> VacuumReport:
    return perform(flags, lambda studio: studio.maintenance.vacuum(), about_host=True)


async def _events(studio: Studio, query: dict[str, Any]) -> Page[AdminEvent]:
    from studio_tui.application.models.maintenance import AdminEventQuery

    return await studio.maintenance.list_events(made(AdminEventQuery, **query))


COMMANDS: Final = (checkpoint, vacuum, check, events, event)
