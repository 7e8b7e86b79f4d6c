"""``studio-tui schedules fire``: one firing now, watched to its end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import click

from studio_tui.application.text import clean, clean_block
from studio_tui.cli.session import as_operator, json_option, perform, print_document
from studio_tui.cli.trouble import warn
from studio_tui.cli.words import span

if TYPE_CHECKING:
    from studio_tui.application.models.schedules import Firing
    from studio_tui.application.studio import Studio

_LOOK_EVERY: Final = 0.1
_OPEN: Final = frozenset({"queued", "waiting_dependency", "running", "retry_wait"})


@click.command("fire")
@click.argument("schedule", metavar="SCHEDULE")
@json_option
@click.pass_context
def fire(context: click.Context, /, schedule: str, as_json: bool) -> None:
    """Run a schedule's action once, now, and wait for its end. Limits still apply. Ends with 0 when it succeeded, else 1."""
    firing = _fire(context.obj, schedule)
    if as_json:
        print_document(firing)
    else:
        took = f" after {span(firing.duration)}" if firing.duration is not None else ""
        code = f", exit code {firing.exit_code}" if firing.exit_code is not None else ""
        print(clean(f"{firing.state.value} {firing.firing_id}{took}{code}" + (f": {firing.reason}" if firing.reason else "")))
        if firing.output_tail:
            print(clean_block(firing.output_tail).rstrip("\n"))
    context.exit(int(firing.status != "completed"))


@as_operator
def _fire(flags: dict[str, object], schedule: str) -> Firing:
    return perform(flags, lambda studio: _watched(studio, schedule))


async def _watched(studio: Studio, text: str) -> Firing:
    from studio_tui.application.models.schedules import FireNow

    found = await studio.schedules.resolve_schedule(text)
    started = await studio.schedules.fire_now(FireNow(schedule_id=found))
    warn(f"fired {started.name} as {started.firing_id}")
    while True:
        firing = await studio.schedules.get_firing(started.firing_id)
        if firing.status not in _OPEN:
            return firing
        await asyncio.sleep(_LOOK_EVERY)
