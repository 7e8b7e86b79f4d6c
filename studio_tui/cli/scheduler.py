"""``studio-tui scheduler``: host the scheduler without a screen, and say who hosts it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from studio_tui.cli.layout import print_facts
from studio_tui.cli.session import as_operator, json_option, perform, print_document
from studio_tui.cli.words import moment, span

if TYPE_CHECKING:
    from studio_tui.application.models.host import HostStatus
    from studio_tui.application.studio import Studio


@click.group()
def scheduler() -> None:
    """Host the scheduler without a screen; say who hosts it."""


@scheduler.command("run")
@click.option("--for", "duration", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Stop after this long.")
@click.pass_obj
def run(flags: dict[str, object], /, duration: float | None) -> None:
    """Fire schedules until TERM, INT or HUP, and say line by line what happens. For systemd and the like.

    While another process hosts this store, it stands by and takes over when that one ends.
    """
    _host(flags, duration)


@as_operator
def _host(flags: dict[str, object], duration: float | None) -> None:
    from studio_tui.headless import host_until_told

    host_until_told({"scheduler": True, **flags}, duration)


@scheduler.command("status")
@json_option
@click.pass_obj
def status(flags: dict[str, object], /, as_json: bool) -> None:
    """Say who hosts the scheduler of this store."""

    found = perform(flags, _ask, about_host=True)
    if as_json:
        print_document(found)
        return
    print_facts(
        [
            ("state", found.state),
            ("host", found.holder or ("nobody" if found.state != "hosting" else "this process")),
            ("why", found.reason),
            ("last pass", span(found.pass_age)),
            ("next due", moment(found.next_due_at)),
            ("running", str(found.running)),
            ("slots", str(found.slots) if found.slots else "no limit"),
            ("missed", str(len(found.missed)) if found.missed else None),
            ("held until", moment(found.held_until) or None),
        ]
    )


@scheduler.command("hold")
@click.argument("duration", required=False)
@click.option("--release", is_flag=True, help="Hold no longer.")
@json_option
@click.pass_obj
@as_operator
def hold(flags: dict[str, object], /, duration: str | None, release: bool, as_json: bool) -> None:
    """Fire nothing for DURATION (30m, 6h, 1h30m), whichever console hosts, and say what will come due meanwhile.

    What passed when the hold ends is settled by each schedule's missed-fire policy. It survives a restart of the host.
    """
    if release == (duration is not None):
        raise click.UsageError("give a DURATION, or --release")
    found = perform(flags, lambda studio: studio.host.release() if duration is None else studio.host.hold_for(duration))
    if as_json:
        print_document(found)
        return
    if found.until is None:
        click.echo("firing is held no longer")
        return
    click.echo(f"nothing fires until {moment(found.until)}")
    for one in found.due:
        click.echo(
            f"  {moment(one.due_at)}  {one.name}: {'will run once after it' if one.policy == 'run_once' else 'will be skipped'}"
        )
    if not found.due:
        click.echo("  nothing is due until then")
    if found.more:
        click.echo(f"  and {found.more} more")


async def _ask(studio: Studio) -> HostStatus:
    return studio.host.status()
