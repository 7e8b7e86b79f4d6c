"""``studio-tui schedules delete``: says what would vanish, and asks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from studio_tui.application.text import clean
from studio_tui.cli.session import as_operator, json_option, perform, print_document

if TYPE_CHECKING:
    from studio_tui.application.models.schedules import Deletion
    from studio_tui.application.studio import Studio


@click.command("delete")
@click.argument("schedule", metavar="SCHEDULE")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--although-running", is_flag=True, help="Also while a firing runs; its process runs on by itself.")
@json_option
@click.pass_obj
@as_operator
def delete(flags: dict[str, object], /, schedule: str, yes: bool, although_running: bool, as_json: bool) -> None:
    """Delete a schedule and the record of all its firings. Turning it off keeps both."""
    if not yes:
        _ask(perform(flags, lambda studio: _deletion(studio, schedule)), as_json=as_json)
    gone = perform(flags, lambda studio: _delete(studio, schedule, although_running))
    if as_json:
        print_document(gone)
    else:
        print(clean(f"{gone.name} is deleted; {_words(gone)}"))


def _ask(deletion: Deletion, *, as_json: bool) -> None:
    """Say what would vanish and ask; where nobody can answer, refuse."""
    from studio_tui.application.errors import FieldFailure, ValidationFailure

    words = clean(f"{deletion.name} ({deletion.schedule_id}): {_words(deletion)}")
    if as_json or not sys.stdin.isatty():
        raise ValidationFailure(FieldFailure((), "missing", f"nothing was deleted; say --yes to delete {words}"))
    print(words)
    if deletion.obstacle:
        print(clean(f"it cannot be deleted: {deletion.obstacle}"))
    print("turning it off instead keeps all of that (schedules disable)")
    click.confirm("delete it?", abort=True)


def _words(deletion: Deletion) -> str:
    number = deletion.firings
    many = "1 recorded firing vanishes with it" if number == 1 else f"{number} recorded firings vanish with it"
    vanishing = many if number else "no firing is on record"
    running = f"; running now: {', '.join(deletion.running)}" if deletion.running else ""
    return vanishing + running


async def _deletion(studio: Studio, text: str) -> Deletion:
    return await studio.schedules.deletion(await studio.schedules.resolve_schedule(text))


async def _delete(studio: Studio, text: str, although_running: bool) -> Deletion:
    from studio_tui.application.models.schedules import DeleteSchedule

    found = await studio.schedules.resolve_schedule(text)
    return await studio.schedules.delete_schedule(DeleteSchedule(schedule_id=found, although_running=although_running))
