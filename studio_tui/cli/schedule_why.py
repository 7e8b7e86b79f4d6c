"""``studio-tui schedules why`` and ``next``: why a schedule fires or does not, and when it will."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from studio_tui.application.text import clean
from studio_tui.application.zone_words import zone_origin
from studio_tui.cli.layout import Column, print_facts, print_table
from studio_tui.cli.session import json_option, perform, print_document
from studio_tui.cli.trouble import warn
from studio_tui.cli.values import when
from studio_tui.cli.words import due, moment

if TYPE_CHECKING:
    from studio_tui.application.models.schedules import Cadence, Fire
    from studio_tui.application.models.why import Why
    from studio_tui.application.studio import Studio

_GATES: Final = (Column(""), Column("GATE"), Column("WHY", gives=1, wraps=True))


@click.command("why")
@click.argument("schedule", metavar="SCHEDULE")
@click.option("--at", metavar="TIME", callback=when, help="At this instant; one that has passed is answered from records.")
@click.option("--firing", metavar="ID", help="This recorded firing or skip (see history).")
@json_option
@click.pass_obj
def why(flags: dict[str, object], /, schedule: str, at: float | None, firing: str | None, as_json: bool) -> None:
    """Say why the next firing of a schedule comes about or does not: every gate in its order, with what it rests on."""
    if at is not None and firing is not None:
        raise click.UsageError("--at and --firing exclude each other", click.get_current_context())
    found = perform(flags, lambda studio: _why(studio, schedule, at, firing), about_host=True)
    if as_json:
        print_document(found)
        return
    print(clean(f"{found.name}: {found.answer}"))
    print_facts([("at", found.local), *((("recorded" if not place else ""), text) for place, text in enumerate(found.records))])
    if found.gates:
        print()
        rows = (("ok" if gate.passed else "fail", gate.gate.replace("_", " "), gate.words) for gate in found.gates)
        print_table(_GATES, rows, empty="")
    for step in found.chain:
        print(clean(f"then {step}"))


async def _why(studio: Studio, text: str, at: float | None, firing: str | None) -> Why:
    from studio_tui.application.models.why import WhyQuery

    found = await studio.schedules.resolve_schedule(text)
    return await studio.schedules.why(WhyQuery(schedule_id=found, at=at, firing_id=firing))


@click.command("next")
@click.argument("schedule", metavar="SCHEDULE")
@click.option("-n", "--count", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many fires.")
@click.option("--after", metavar="TIME", callback=when, help="Those after this instant instead of after now.")
@json_option
@click.pass_obj
def following(flags: dict[str, object], /, schedule: str, count: int, after: float | None, as_json: bool) -> None:
    """List the coming fires of a schedule: on its own clock, on this machine's, and in UTC."""
    found = perform(flags, lambda studio: _next(studio, schedule, count, after))
    if as_json:
        print_document(found)
        return
    zone = f" in {found.zone} ({zone_origin(found.zone_source)})" if found.zone else ""
    print(clean(f"{found.words}{zone}"))
    now = time.time()
    columns = (Column(_title(found)), Column("HERE"), Column("UTC"), Column("IN", right=True), Column("NOTE", gives=1))
    print_table(columns, (_row(fire, now) for fire in found.fires), empty=_nothing(found))
    for sentence in found.warnings:
        warn(sentence)


def _nothing(cadence: Cadence) -> str:
    return "each new event fires when GitHub is asked" if cadence.words.startswith("github ") else "nothing more will fire"


def _title(cadence: Cadence) -> str:
    return (cadence.zone or "THE HOST'S ZONE").upper()


def _row(fire: Fire, now: float) -> tuple[str, ...]:
    utc = datetime.fromtimestamp(fire.at, UTC).strftime("%Y-%m-%d %H:%M:%S")
    return (fire.local, moment(fire.at), utc, due(fire.at, now), fire.note or "")


async def _next(studio: Studio, text: str, count: int, after: float | None) -> Cadence:
    from studio_tui.application.models.why import NextQuery

    found = await studio.schedules.resolve_schedule(text)
    return await studio.schedules.next_fires(NextQuery(schedule_id=found, count=count, after=after))
